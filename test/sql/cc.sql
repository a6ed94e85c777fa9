-- Answers of emogi_cc: weakly connected components, each named by its smallest vertex.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS emogi;
RESET client_min_messages;
CREATE SCHEMA test_cc;
SET search_path = test_cc, public;

-- The interface.
SELECT * FROM emogi_cc('SELECT 1, 2') \gdesc
SELECT proargnames[1:pronargs] AS names, proargtypes::regtype[] AS types, pg_get_expr(proargdefaults, 'pg_proc'::regclass) AS defaults,
       provolatile, proparallel, prosecdef, proleakproof, proretset
  FROM pg_proc WHERE proname = 'emogi_cc' ORDER BY proargtypes;

-- Rows are in ascending vertex order, so one line shows an answer.
\pset format unaligned
\pset tuples_only on
\pset null (null)
-- A cycle with a vertex that leads into it, a pair, a loop, and a zigzag that no directed path
-- connects. Weights are ignored.
CREATE TABLE parts (src int, dst int, weight float8);
INSERT INTO parts VALUES (4, 1, 1), (3, 4, NULL), (2, 3, 'NaN'), (1, 2, -1), (5, 1, 0), (7, 6, 1), (8, 8, 1), (10, 20, 1), (30, 20, 1), (30, 9, 1);
SELECT * FROM emogi_cc('parts');
SELECT component, count(*), array_agg(vertex) FROM emogi_cc('parts') GROUP BY component ORDER BY component;
SELECT string_agg(vertex || ':' || component, ' ') FROM emogi_cc('parts(dst, src)');
SELECT string_agg(vertex || ':' || component, ' ') FROM emogi_cc(graph => 'parts(src, dst)');
SELECT string_agg(vertex || ':' || component, ' ') FROM emogi_cc('SELECT src, dst FROM parts WHERE src <> 4');
SELECT string_agg(vertex || ':' || component, ' ') FROM emogi_cc('parts') WHERE component = 9;

-- No edges; one loop; one edge in either direction; duplicates; rows with a NULL endpoint, which
-- are not edges.
CREATE TABLE none (src int, dst int);
SELECT count(*) FROM emogi_cc('none');
SELECT count(*) FROM emogi_cc('SELECT 1, 2 WHERE false');
SELECT string_agg(vertex || ':' || component, ' ') FROM emogi_cc('SELECT 7, 7');
SELECT string_agg(vertex || ':' || component, ' ') FROM emogi_cc('SELECT 7, 6');
SELECT string_agg(vertex || ':' || component, ' ') FROM emogi_cc('SELECT 6, 7');
SELECT string_agg(vertex || ':' || component, ' ') FROM emogi_cc('VALUES (3, 2), (3, 2), (2, 3), (2, 2), (5, 4), (4, 5)');
SELECT string_agg(vertex || ':' || component, ' ') FROM emogi_cc('VALUES (3, 2), (3, NULL), (NULL, 2), (NULL, NULL), (9, NULL), (NULL, 1), (5, 3)');
SELECT count(*) FROM emogi_cc('VALUES (1, NULL::int), (NULL, 2)');

-- Keys of every size and sign: the smallest is the numerically smallest, regardless of the order of
-- rows.
CREATE TABLE wide (src bigint, dst bigint);
INSERT INTO wide VALUES
  (9223372036854775807, -9223372036854775808), (0, -1), (4294967296, 0), (2147483648, -2147483649), (2147483648, 4294967297),
  (9223372036854775806, -9223372036854775807), (-5, 9223372036854775806), (7, -4294967297);
SELECT * FROM emogi_cc('wide');
SELECT string_agg(vertex || ':' || component, ' ') FROM emogi_cc('SELECT (-32768)::smallint, 32767::smallint UNION ALL SELECT 1::smallint, (-1)::smallint');
SELECT string_agg(vertex || ':' || component, ' ') FROM emogi_cc('SELECT 1::smallint, 5000000000 UNION ALL SELECT 2::smallint, -5000000000');

-- Known shapes: a long chain with edges in both directions, stars, a giant component with small
-- ones, residues of a modulus.
CREATE TABLE chain AS SELECT CASE i % 2 WHEN 0 THEN i ELSE i + 1 END AS src, CASE i % 2 WHEN 0 THEN i + 1 ELSE i END AS dst FROM generate_series(1, 5000) i;
SELECT count(*), min(component), max(component) FROM emogi_cc('chain');
DELETE FROM chain WHERE least(src, dst) % 1000 = 0;
SELECT component, count(*), max(vertex) FROM emogi_cc('chain') GROUP BY component ORDER BY component;
CREATE TABLE stars AS SELECT i % 10 + 5000 AS src, i AS dst FROM generate_series(0, 4999) i;
SELECT component, count(*), max(vertex) FROM emogi_cc('stars') GROUP BY component ORDER BY component;
CREATE TABLE residues AS SELECT i AS src, i + 7 AS dst FROM generate_series(-3000, 3000) i;
SELECT component, count(*), count(*) FILTER (WHERE (vertex - component) % 7 <> 0) AS wrong FROM emogi_cc('residues') GROUP BY component ORDER BY component;
SELECT count(*), count(*) FILTER (WHERE component <> -3000) FROM emogi_cc('SELECT * FROM residues UNION ALL SELECT i, i + 1 FROM generate_series(1, 6) i');

-- In joins, a LATERAL join, a prepared statement, a view and a query for the components.
SELECT src, dst, component FROM parts JOIN emogi_cc('parts') ON vertex = src WHERE dst > 5 ORDER BY src, dst;
SELECT n, vertex, component FROM generate_series(1, 3) n, LATERAL emogi_cc(format('SELECT %s, %s', n * 10, n)) ORDER BY n, vertex;
PREPARE part(text, bigint) AS SELECT array_agg(vertex) FROM emogi_cc($1) WHERE component = $2;
EXECUTE part('parts', 6);
EXECUTE part('wide', -1);
CREATE VIEW islands AS SELECT component, count(*) AS size FROM emogi_cc('parts') GROUP BY component;
SELECT * FROM islands ORDER BY component;
INSERT INTO parts VALUES (8, 20, 1), (-1, 6, 1);
SELECT * FROM islands ORDER BY component;
BEGIN;
TRUNCATE parts;
SELECT * FROM islands ORDER BY component;
ROLLBACK;
SELECT count(*) FROM islands;

-- The oracle: each vertex takes the minimum label of itself and its neighbours until nothing
-- changes.
\set ECHO none
\i test/data/shapes.sql
\set ECHO all
CREATE TEMP TABLE named (vertex bigint PRIMARY KEY, name bigint);
CREATE FUNCTION oracle() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  TRUNCATE named;
  INSERT INTO named SELECT a, a FROM arc UNION SELECT b, b FROM arc;
  WHILE FOUND LOOP
    UPDATE named v SET name = o.name
      FROM (SELECT b, min(name) AS name FROM arc JOIN named ON vertex = a GROUP BY b) o WHERE o.b = v.vertex AND o.name < v.name;
  END LOOP;
END $$;
CREATE TABLE results (shape text, key text, rows bigint, components bigint, wrong bigint);
CREATE PROCEDURE compare_all() LANGUAGE plpgsql AS $$
DECLARE
  c record;
BEGIN
  FOR c IN SELECT * FROM combinations(0) LOOP
    PERFORM make_graph(c.s, c.k, c.w);
    COMMIT;
    PERFORM take_arcs('both'), oracle();
    INSERT INTO results
      WITH answer AS MATERIALIZED (SELECT * FROM emogi_cc('e')),
           extra AS (SELECT * FROM answer EXCEPT ALL SELECT * FROM named),
           missing AS (SELECT * FROM named EXCEPT ALL SELECT * FROM answer)
      SELECT (c.s).shape, (c.k).kind, count(*), count(DISTINCT name), (SELECT count(*) FROM extra) + (SELECT count(*) FROM missing) FROM named;
    DROP TABLE e;
  END LOOP;
END $$;
\pset tuples_only off
\pset format aligned
CALL compare_all();
SELECT key, count(*) AS calls, sum(rows) AS rows, sum(components) AS components, sum(wrong) AS wrong FROM results GROUP BY key ORDER BY key COLLATE "C";
SELECT shape, count(*) AS calls, sum(rows) AS rows, sum(components) AS components, sum(wrong) AS wrong FROM results GROUP BY shape ORDER BY shape COLLATE "C";
SELECT * FROM results WHERE wrong > 0 ORDER BY shape, key;

-- Larger ones around the size at which a giant component appears, checked by definition: both
-- endpoints of an edge have one label, a label is its smallest vertex, and all vertices are reached
-- from the labels.
CREATE TABLE e AS SELECT pick(i, 41, 20000) AS src, pick(i, 42, 20000) AS dst FROM generate_series(1, 9000) i;
CREATE FUNCTION check_components(OUT rows bigint, OUT components bigint, OUT parted bigint, OUT misnamed bigint, OUT unreached bigint) LANGUAGE sql AS $$
  WITH c AS MATERIALIZED (SELECT * FROM emogi_cc('e')),
       names AS (SELECT component, min(vertex) AS smallest FROM c GROUP BY component)
  SELECT count(*), (SELECT count(*) FROM names),
         (SELECT count(*) FROM e LEFT JOIN c a ON a.vertex = src LEFT JOIN c b ON b.vertex = dst WHERE (a.component = b.component) IS NOT TRUE),
         (SELECT count(*) FROM names WHERE component <> smallest),
         count(*) - (SELECT count(*) FROM emogi_bfs('e', ARRAY(SELECT component FROM names), direction => 'both')) FROM c $$;
SELECT * FROM check_components();
INSERT INTO e SELECT pick(i, 41, 20000), pick(i, 42, 20000) FROM generate_series(9001, 11000) i;
SELECT * FROM check_components();
INSERT INTO e SELECT pick(i, 41, 20000), pick(i, 42, 20000) FROM generate_series(11001, 60000) i;
SELECT * FROM check_components();
UPDATE e SET src = hashint8extended(src, 1), dst = hashint8extended(dst, 1);
SELECT * FROM check_components();
