-- Answers of emogi_pagerank. Ranks are sums, so they are printed rounded or compared within a
-- relative 1e-9.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS emogi;
RESET client_min_messages;
CREATE SCHEMA test_pagerank;
SET search_path = test_pagerank, public;

-- The interface.
SELECT * FROM emogi_pagerank('SELECT 1, 2') \gdesc
SELECT proargnames[1:pronargs] AS names, proargtypes::regtype[] AS types, pg_get_expr(proargdefaults, 'pg_proc'::regclass) AS defaults,
       provolatile, proparallel, prosecdef, proleakproof, proretset
  FROM pg_proc WHERE proname = 'emogi_pagerank' ORDER BY proargtypes;

-- Rows are in ascending vertex order, so one line shows an answer.
\pset format unaligned
\pset tuples_only on
\pset null (null)
-- One edge: 2 has no outgoing edge, so its rank is distributed to both. The fixed point is 0.5 /
-- 1.425 for 1.
CREATE TABLE pair (src int, dst int);
INSERT INTO pair VALUES (1, 2);
SELECT vertex, round(rank::numeric, 9) FROM emogi_pagerank('pair', tolerance => 1e-15, max_iterations => 1000);
SELECT round(0.5 / 1.425, 9), round(1 - 0.5 / 1.425, 9);
-- From 1/2 each, one iteration manually: 0.075 + 0.85 * 0.25 = 0.2875 for 1, the next 0.075 + 0.85
-- * 0.35625 = 0.3778125.
SELECT string_agg(vertex || ':' || round(rank::numeric, 9), ' ') FROM emogi_pagerank('pair', 0.85, 1, 0);
SELECT string_agg(vertex || ':' || round(rank::numeric, 9), ' ') FROM emogi_pagerank('pair', 0.85, 2, 0);
-- The first change is 0.425, the second 0.180625: iteration ends after the first change below the
-- tolerance.
SELECT string_agg(vertex || ':' || round(rank::numeric, 9), ' ') FROM emogi_pagerank('pair', 0.85, 100, 0.43);
SELECT string_agg(vertex || ':' || round(rank::numeric, 9), ' ') FROM emogi_pagerank('pair', 0.85, 100, 0.42);
SELECT string_agg(vertex || ':' || round(rank::numeric, 9), ' ') FROM emogi_pagerank('pair', 0.85, 100, 0.19);
SELECT string_agg(vertex || ':' || round(rank::numeric, 9), ' ') FROM emogi_pagerank('pair', 0.85, 100, 'Infinity');
SELECT string_agg(vertex || ':' || round(rank::numeric, 9), ' ') FROM emogi_pagerank('pair', 0.85, 1, 1e-30);
-- A change equal to the tolerance is not below it: with damping 0.5 the changes are 0.25, 0.0625,
-- ..., without rounding.
SELECT string_agg(vertex || ':' || rank, ' ') FROM emogi_pagerank('pair', 0.5, 100, 0.25);
SELECT string_agg(vertex || ':' || rank, ' ') FROM emogi_pagerank('pair', 0.5, 100, 0.2500001);

-- The defaults, by name and by NULL.
SELECT string_agg(vertex || ':' || round(rank::numeric, 5), ' ') FROM emogi_pagerank('pair');
SELECT string_agg(vertex || ':' || round(rank::numeric, 5), ' ') FROM emogi_pagerank('pair', NULL, NULL, NULL);
SELECT count(*) AS wrong FROM emogi_pagerank('pair') a JOIN emogi_pagerank('pair', 0.85, 100, 1e-6) b USING (vertex) WHERE a.rank IS DISTINCT FROM b.rank;
SELECT count(*) AS wrong
  FROM emogi_pagerank('pair') a JOIN emogi_pagerank(tolerance => NULL, max_iterations => NULL, graph => 'pair', damping => NULL) b USING (vertex)
 WHERE a.rank IS DISTINCT FROM b.rank;

-- Damping at both ends of its range.
SELECT string_agg(vertex || ':' || round(rank::numeric, 9), ' ') FROM emogi_pagerank('VALUES (1, 2), (1, 3), (3, 2)', 0);
SELECT string_agg(vertex || ':' || round(rank::numeric, 9), ' ') FROM emogi_pagerank('VALUES (1, 2), (2, 3), (3, 1), (3, 2)', 1, 1000, 1e-14);
SELECT string_agg(vertex || ':' || rank, ' ') FROM emogi_pagerank('VALUES (1, 2), (2, 1), (3, 4), (4, 3)', 1);
SELECT string_agg(vertex || ':' || rank, ' ') FROM emogi_pagerank('VALUES (1, 2), (2, 3), (3, 4), (4, 1)', '-0', 7, 0);

-- No edges; one loop; parallel edges, which count separately; rows with a NULL endpoint, which are
-- not edges; weights, which are ignored.
SELECT count(*) FROM emogi_pagerank('SELECT 1, 2 WHERE false');
SELECT vertex, round(rank::numeric, 9) FROM emogi_pagerank('SELECT 7, 7');
SELECT string_agg(vertex || ':' || round(rank::numeric, 9), ' ') FROM emogi_pagerank('VALUES (1, 2), (1, 2), (1, 3)', 0.6, 1, 0);
SELECT string_agg(vertex || ':' || round(rank::numeric, 9), ' ') FROM emogi_pagerank('VALUES (1, 2), (1, 3)', 0.6, 1, 0);
SELECT string_agg(vertex || ':' || round(rank::numeric, 9), ' ') FROM emogi_pagerank('VALUES (1, 2), (1, 3), (1, NULL), (NULL, 3), (9, NULL)', 0.6, 1, 0);
SELECT string_agg(vertex || ':' || round(rank::numeric, 9), ' ') FROM emogi_pagerank('VALUES (1, 2, NULL), (1, 3, -5), (1, 3, ''NaN''::float8)', 0.6, 1, 0);
SELECT string_agg(vertex || ':' || round(rank::numeric, 9), ' ') FROM emogi_pagerank('VALUES (1, 1), (1, 2), (2, 1)', 0.5, 1, 0);

-- Graphs with known ranks: cycles and complete graphs are uniform; the center of a star has (1 +
-- 0.85 k) / (1 + k) / 1.85 if every edge exists in both directions.
SELECT count(*), count(*) FILTER (WHERE abs(rank - 1 / 100.0) > 1e-11) FROM emogi_pagerank('SELECT i, (i + 1) % 100 FROM generate_series(0, 99) i');
SELECT count(*), count(*) FILTER (WHERE abs(rank - 1 / 33.0) > 1e-11)
  FROM emogi_pagerank('SELECT i, j FROM generate_series(0, 32) i, generate_series(0, 32) j WHERE i <> j');
SELECT vertex, round(rank::numeric, 9), round((1 + 0.85 * 50) / 51 / 1.85, 9) AS known
  FROM emogi_pagerank('SELECT 0, i FROM generate_series(1, 50) i UNION ALL SELECT i, 0 FROM generate_series(1, 50) i', 0.85, 1000, 1e-15) WHERE vertex = 0;
SELECT count(*), count(DISTINCT round(rank::numeric, 9)), round(sum(rank)::numeric, 9)
  FROM emogi_pagerank('SELECT i, 0 FROM generate_series(1, 3000) i', 0.85, 1000, 1e-15);

-- The example of eleven pages in many textbooks: B 38.4 %, C 34.3 %, E 8.1 %, D and F 3.9 %, A 3.3
-- %, the others 1.6 %.
CREATE TABLE pages (source text, target text);
INSERT INTO pages VALUES ('B', 'C'), ('C', 'B'), ('D', 'A'), ('D', 'B'), ('E', 'B'), ('E', 'D'), ('E', 'F'), ('F', 'B'), ('F', 'E'),
  ('G', 'B'), ('G', 'E'), ('H', 'B'), ('H', 'E'), ('I', 'B'), ('I', 'E'), ('J', 'E'), ('K', 'E');
SELECT string_agg(chr(vertex::int) || ':' || round(100 * rank::numeric, 1), ' ') FROM emogi_pagerank('SELECT ascii(source), ascii(target) FROM pages');

-- In a join, a LATERAL join, a prepared statement and a view; keys of every size and sign.
SELECT dst, round(rank::numeric, 9) FROM pair JOIN emogi_pagerank('pair', 0.5, 50, 1e-16) ON vertex = dst;
SELECT d, vertex, round(rank::numeric, 9) FROM generate_series(0, 1, 0.5) d, LATERAL emogi_pagerank('VALUES (1, 2), (2, 1), (2, 2)', d, 1, 0) ORDER BY d, vertex;
PREPARE ranks(float8, int) AS SELECT string_agg(vertex || ':' || round(rank::numeric, 9), ' ') FROM emogi_pagerank('pair', $1, $2, 0);
EXECUTE ranks(0.85, 1);
EXECUTE ranks(0.5, 2);
CREATE VIEW top AS SELECT vertex FROM emogi_pagerank('pair') ORDER BY rank DESC, vertex LIMIT 1;
TABLE top;
INSERT INTO pair VALUES (2, 3), (3, 1), (4, 1), (5, 1);
TABLE top;
SELECT vertex, round(rank::numeric, 9)
  FROM emogi_pagerank('VALUES (-9223372036854775808, 9223372036854775807), (9223372036854775807, 0), (0, 4294967296), (4294967296, -9223372036854775808)');

-- The oracle: dense iteration over arrays.
\set ECHO none
\i test/data/shapes.sql
\set ECHO all
CREATE FUNCTION oracle(damping float8, max_iterations int, tolerance float8, OUT vertex bigint, OUT rank float8) RETURNS SETOF record LANGUAGE plpgsql AS $$
DECLARE
  vertices bigint[] := ARRAY(SELECT a FROM arc UNION SELECT b FROM arc ORDER BY 1);
  n int := cardinality(vertices);
  froms int[];
  tos int[];
  degree int[] := array_fill(0, ARRAY[n]);
  old float8[] := array_fill(1 / n::float8, ARRAY[n]);
  new float8[];
  dangling float8;
  change float8;
BEGIN
  SELECT array_agg(p), array_agg(q) INTO froms, tos FROM arc JOIN unnest(vertices) WITH ORDINALITY u(a, p) USING (a) JOIN unnest(vertices) WITH ORDINALITY v(b, q) USING (b);
  FOR e IN 1 .. cardinality(froms) LOOP degree[froms[e]] := degree[froms[e]] + 1; END LOOP;
  FOR i IN 1 .. max_iterations LOOP
    dangling := 0;
    FOR v IN 1 .. n LOOP IF degree[v] = 0 THEN dangling := dangling + old[v]; END IF; END LOOP;
    new := array_fill((1 - damping) / n + damping * dangling / n, ARRAY[n]);
    FOR e IN 1 .. cardinality(froms) LOOP new[tos[e]] := new[tos[e]] + damping * old[froms[e]] / degree[froms[e]]; END LOOP;
    change := 0;
    FOR v IN 1 .. n LOOP change := change + abs(new[v] - old[v]); END LOOP;
    old := new;
    EXIT WHEN change < tolerance;
  END LOOP;
  RETURN QUERY SELECT * FROM unnest(vertices, old);
END $$;
CREATE TABLE results (shape text, key text, calls int, rows bigint, wrong bigint);
CREATE PROCEDURE compare_all() LANGUAGE plpgsql AS $$
DECLARE
  c record;
BEGIN
  FOR c IN SELECT * FROM combinations(1) WHERE (w).kind IN ('bytes', 'double', 'impassable') LOOP
    PERFORM make_graph(c.s, c.k, c.w);
    COMMIT;
    PERFORM take_arcs('out');
    INSERT INTO results
      SELECT (c.s).shape, (c.k).kind, count(DISTINCT p), count(t.vertex), count(*) FILTER (WHERE (abs(a.rank - t.rank) <= 1e-9 * t.rank) IS NOT TRUE)
        FROM (VALUES (1, 0.85, 100, 1e-6), (2, 0.85, 7, 0), (3, 0.5, 100, 1e-3), (4, 1, 3, 0)) p(p, damping, most, tolerance),
             LATERAL (SELECT * FROM emogi_pagerank('e', damping, most, tolerance)) a FULL JOIN LATERAL oracle(damping, most, tolerance) t USING (vertex);
    DROP TABLE e;
  END LOOP;
END $$;
\pset tuples_only off
\pset format aligned
CALL compare_all();
SELECT key, sum(calls) AS calls, sum(rows) AS rows, sum(wrong) AS wrong FROM results GROUP BY key ORDER BY key COLLATE "C";
SELECT shape, sum(calls) AS calls, sum(rows) AS rows, sum(wrong) AS wrong FROM results GROUP BY shape ORDER BY shape COLLATE "C";
SELECT * FROM results WHERE wrong > 0 ORDER BY shape, key;

-- A larger one: the ranks sum to 1 and are a fixed point within the tolerance.
CREATE TABLE e AS SELECT pick(i, 41, 6000) AS src, pick(i, 42, 5000) AS dst FROM generate_series(1, 20000) i;
CREATE TEMP TABLE answer AS SELECT * FROM emogi_pagerank('e', 0.85, 500, 1e-13);
SELECT count(*) AS rows, abs(sum(rank) - 1) < 1e-12 AS sums_to_one, min(rank) > 0 AS positive FROM answer;
WITH degree AS (SELECT src, count(*) AS degree FROM e GROUP BY src),
     spread AS (SELECT sum(rank) FILTER (WHERE degree IS NULL) AS dangling, count(*) AS n FROM answer LEFT JOIN degree ON src = vertex),
     inflow AS (SELECT dst, sum(rank / degree) AS inflow FROM e JOIN degree USING (src) JOIN answer ON vertex = src GROUP BY dst)
SELECT count(*) AS rows, count(*) FILTER (WHERE abs(rank - (0.15 / n + 0.85 * (coalesce(inflow, 0) + dangling / n))) > 1e-13) AS wrong
  FROM answer LEFT JOIN inflow ON dst = vertex, spread;
