-- Answers of emogi_sswp: the width of the widest path, verified manually and compared with an
-- oracle.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS emogi;
RESET client_min_messages;
CREATE SCHEMA test_sswp;
SET search_path = test_sswp, public;

-- The interface.
SELECT * FROM emogi_sswp('SELECT 1, 2', 1) \gdesc
SELECT proargnames[1:pronargs] AS names, proargtypes::regtype[] AS types, pg_get_expr(proargdefaults, 'pg_proc'::regclass) AS defaults,
       provolatile, proparallel, prosecdef, proleakproof, proretset
  FROM pg_proc WHERE proname = 'emogi_sswp' ORDER BY proargtypes;

-- Rows are in ascending vertex order, so one line shows an answer.
\pset format unaligned
\pset tuples_only on
\pset null (null)
-- The path 1 -> 2 -> 3 -> 4 is wider than 1 -> 4; 5 leads in; 6 and 7 are separate.
CREATE TABLE pipes (src int, dst int, weight float8);
INSERT INTO pipes VALUES (3, 4, 7.5), (1, 4, 2), (1, 2, 10), (2, 3, 9), (5, 1, 0.5), (6, 7, 3), (4, 1, 8);
SELECT * FROM emogi_sswp('pipes', 1);
SELECT string_agg(vertex || ':' || width, ' ') FROM emogi_sswp('pipes', 5);
SELECT string_agg(vertex || ':' || width, ' ') FROM emogi_sswp('pipes', 7);
SELECT string_agg(vertex || ':' || width, ' ') FROM emogi_sswp('pipes', 3);
SELECT count(*) FROM emogi_sswp('pipes', 99);

-- Direction.
SELECT string_agg(vertex || ':' || width, ' ') FROM emogi_sswp('pipes', 1, 'out');
SELECT string_agg(vertex || ':' || width, ' ') FROM emogi_sswp('pipes', 1, 'in');
SELECT string_agg(vertex || ':' || width, ' ') FROM emogi_sswp('pipes', 1, 'both');
SELECT string_agg(vertex || ':' || width, ' ') FROM emogi_sswp('pipes', 7, 'Both');
SELECT string_agg(vertex || ':' || width, ' ') FROM emogi_sswp(direction => NULL, source => 7, graph => 'pipes');

-- Several sources: the widest path from any; NULLs and duplicates are allowed.
SELECT string_agg(vertex || ':' || width, ' ') FROM emogi_sswp('pipes', ARRAY[1, 3]);
SELECT string_agg(vertex || ':' || width, ' ') FROM emogi_sswp('pipes', ARRAY[NULL, 6, 5, 6, NULL, 99, 5]);
SELECT string_agg(vertex || ':' || width, ' ') FROM emogi_sswp('pipes', ARRAY[1, 2, 3, 4, 5, 6, 7]);
SELECT count(*) FROM emogi_sswp('pipes', ARRAY[98, 99]);
-- No source, no rows.
SELECT count(*) FROM emogi_sswp('pipes', NULL::bigint);
SELECT count(*) FROM emogi_sswp('pipes', NULL::bigint[]);
SELECT count(*) FROM emogi_sswp('pipes', '{}'::bigint[]);
SELECT count(*) FROM emogi_sswp('pipes', ARRAY[NULL, NULL]::bigint[]);

-- No edges; loops; parallel edges, of which the widest counts; rows with a NULL endpoint, which are
-- not edges; no weights, so that all widths are 1.
CREATE TABLE none (src int, dst int, weight int);
SELECT count(*) FROM emogi_sswp('none', 1);
CREATE TABLE loops (src int, dst int, weight int);
INSERT INTO loops VALUES (7, 7, 0), (8, 8, 5);
SELECT string_agg(vertex || ':' || width, ' ') FROM emogi_sswp('loops', ARRAY[7, 8]);
CREATE TABLE multi (src int, dst int, weight int);
INSERT INTO multi VALUES (1, 2, 3), (1, 2, 5), (1, 2, 4), (2, 2, 100), (2, 1, 1), (2, 3, 4), (2, 3, 4), (NULL, 3, 9), (1, NULL, 9), (9, NULL, 9);
SELECT string_agg(vertex || ':' || width, ' ') FROM emogi_sswp('multi', 1);
SELECT string_agg(vertex || ':' || width, ' ') FROM emogi_sswp('multi', 3, 'both');
SELECT count(*) FROM emogi_sswp('multi', 9);
SELECT string_agg(vertex || ':' || width, ' ') FROM emogi_sswp('multi(src, dst)', 1);

-- A path of width zero is a path, one over an infinite weight is not.
CREATE TABLE zeros (src int, dst int, weight float8);
INSERT INTO zeros VALUES (1, 2, 0), (2, 3, 5), (3, 1, 5), (1, 4, '-0'), (4, 5, 5);
SELECT string_agg(vertex || ':' || abs(width), ' ') FROM emogi_sswp('zeros', 1);
SELECT string_agg(vertex || ':' || abs(width), ' ') FROM emogi_sswp('zeros', 2);
CREATE TABLE walls (src int, dst int, weight float8);
INSERT INTO walls VALUES (1, 2, 'Infinity'), (1, 3, 1), (3, 4, 'Infinity'), (3, 2, 2), (5, 1, 'Infinity'), (3, 6, 1.7976931348623157e308), (6, 7, 5e-324);
SELECT string_agg(vertex || ':' || width, ' ') FROM emogi_sswp('walls', 1);
SELECT string_agg(vertex || ':' || width, ' ') FROM emogi_sswp('walls', 3);
SELECT string_agg(vertex || ':' || width, ' ') FROM emogi_sswp('walls', 1, 'both');
SELECT string_agg(vertex || ':' || width, ' ') FROM emogi_sswp('walls', 5);

-- A star, a chain and lists around 32 edges, with known widths.
CREATE TABLE star AS SELECT 0 AS src, i AS dst, i AS weight FROM generate_series(1, 1000) i;
SELECT count(*), count(*) FILTER (WHERE width <> vertex) FROM emogi_sswp('star', 0) WHERE vertex > 0;
SELECT count(*), count(*) FILTER (WHERE width <> (CASE vertex WHEN 0 THEN 400 WHEN 400 THEN 'Infinity'::float8 ELSE least(400, vertex) END))
  FROM emogi_sswp('star', 400, 'both');
CREATE TABLE chain AS SELECT i AS src, i + 1 AS dst, 5000 - i AS weight FROM generate_series(1, 2000) i;
SELECT count(*), min(width), count(*) FILTER (WHERE width <> 5001 - vertex) FROM emogi_sswp('chain', 1) WHERE vertex > 1;
SELECT count(*), min(width), max(width) FROM emogi_sswp('chain', 2001, 'in') WHERE vertex < 2001;
CREATE TABLE degrees AS
  SELECT d AS src, d * 1000 + i AS dst, i AS weight
    FROM unnest(ARRAY[1, 31, 32, 33, 63, 64, 65, 127, 128, 129, 255, 256, 257]) d, generate_series(1, d) i
  UNION ALL SELECT 0, d, d / 2 FROM unnest(ARRAY[1, 31, 32, 33, 63, 64, 65, 127, 128, 129, 255, 256, 257]) d;
SELECT count(*), sum(width), count(*) FILTER (WHERE width <> least(vertex / 1000 / 2, vertex % 1000)) FROM emogi_sswp('degrees', 0) WHERE vertex > 999;

-- Keys of every size and sign; a LATERAL join; a prepared statement; a view.
CREATE TABLE wide (src bigint, dst bigint, weight numeric);
INSERT INTO wide VALUES
  (-9223372036854775808, 9223372036854775807, 4), (9223372036854775807, 0, 0.5), (0, -1, 0.75), (-1, 4294967296, 0.25), (4294967296, -4294967297, 4);
SELECT * FROM emogi_sswp('wide', -9223372036854775808);
SELECT s, vertex, width FROM generate_series(1, 3) s, LATERAL emogi_sswp('pipes', s, 'in') WHERE width < 'Infinity' ORDER BY s, vertex;
PREPARE widest(bigint[]) AS SELECT string_agg(vertex || ':' || width, ' ') FROM emogi_sswp('pipes', $1);
EXECUTE widest('{5, 7}');
EXECUTE widest(NULL);
CREATE VIEW from_one AS SELECT * FROM emogi_sswp('pipes', 1) WHERE width < 9;
SELECT string_agg(vertex || ':' || width, ' ') FROM from_one;
DELETE FROM pipes WHERE src = 3;
SELECT string_agg(vertex || ':' || width, ' ') FROM from_one;

-- The oracle: the Bellman-Ford method with the minimum weight instead of the sum.
\set ECHO none
\i test/data/shapes.sql
\set ECHO all
CREATE TEMP TABLE reached (vertex bigint PRIMARY KEY, value float8, round int);
CREATE FUNCTION oracle(sources bigint[]) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  turn int := 0;
BEGIN
  TRUNCATE reached;
  INSERT INTO reached SELECT DISTINCT s, 'Infinity'::float8, 0 FROM unnest(sources) s WHERE s IN (SELECT a FROM arc UNION ALL SELECT b FROM arc);
  WHILE FOUND LOOP
    turn := turn + 1;
    INSERT INTO reached SELECT b, max(least(value, w)), turn FROM arc JOIN reached ON a = vertex AND round = turn - 1 WHERE w < 'Infinity' GROUP BY b
      ON CONFLICT (vertex) DO UPDATE SET value = excluded.value, round = turn WHERE excluded.value > reached.value;
  END LOOP;
END $$;

-- Count the rows in which emogi_sswp and the oracle differ, in both directions of the difference,
-- over directions and sources.
CREATE FUNCTION compare(OUT calls int, OUT rows bigint, OUT wrong bigint) LANGUAGE plpgsql AS $$
DECLARE
  ends bigint[] := some_vertices(12);
  sources bigint[];
  way text;
  n bigint;
  r bigint;
BEGIN
  calls := 0; rows := 0; wrong := 0;
  FOREACH way IN ARRAY ARRAY['out', 'in', 'both'] LOOP
    PERFORM take_arcs(way);
    FOR sources IN SELECT ends[1:1] UNION ALL SELECT ends[3:5] || NULL || 4711 || ends[3:4] LOOP
      PERFORM oracle(sources);
      WITH answer AS MATERIALIZED (SELECT * FROM emogi_sswp('e', sources, way)),
           truth AS MATERIALIZED (SELECT vertex, value FROM reached),
           extra AS (SELECT * FROM answer EXCEPT ALL SELECT * FROM truth),
           missing AS (SELECT * FROM truth EXCEPT ALL SELECT * FROM answer)
      SELECT (SELECT count(*) FROM extra) + (SELECT count(*) FROM missing), (SELECT count(*) FROM truth) INTO n, r;
      calls := calls + 1; rows := rows + r; wrong := wrong + n;
    END LOOP;
  END LOOP;
END $$;
CREATE TABLE results (shape text, key text, weight text, calls int, rows bigint, wrong bigint);
CREATE PROCEDURE compare_all() LANGUAGE plpgsql AS $$
DECLARE
  c record;
BEGIN
  FOR c IN SELECT * FROM combinations(1) LOOP
    PERFORM make_graph(c.s, c.k, c.w);
    COMMIT;
    INSERT INTO results SELECT (c.s).shape, (c.k).kind, (c.w).kind, r.* FROM compare() r;
    DROP TABLE e;
  END LOOP;
END $$;
\pset tuples_only off
\pset format aligned
CALL compare_all();
SELECT key, sum(calls) AS calls, sum(rows) AS rows, sum(wrong) AS wrong FROM results GROUP BY key ORDER BY key COLLATE "C";
SELECT weight, sum(calls) AS calls, sum(rows) AS rows, sum(wrong) AS wrong FROM results GROUP BY weight ORDER BY weight COLLATE "C";
SELECT shape, sum(calls) AS calls, sum(rows) AS rows, sum(wrong) AS wrong FROM results GROUP BY shape ORDER BY shape COLLATE "C";
SELECT * FROM results WHERE wrong > 0 ORDER BY shape, key, weight;

-- The widest paths of an undirected graph are in its maximum spanning trees: with the edges at
-- least as wide as the path, both endpoints are in one component, and with only the wider ones they
-- are not.
CREATE TABLE e AS SELECT pick(i, 41, 500) AS src, pick(i, 42, 500) AS dst, pick(i, 43, 1000) AS weight FROM generate_series(1, 1500) i;
CREATE TEMP TABLE answer AS SELECT * FROM emogi_sswp('e', 1, 'both') WHERE vertex <> 1;
SELECT count(*) AS rows, count(DISTINCT width) AS widths FROM answer;
SELECT count(*) AS wrong FROM (SELECT DISTINCT width FROM answer) w,
  LATERAL (SELECT array_agg(vertex ORDER BY vertex) FROM emogi_bfs(format('SELECT src, dst FROM e WHERE weight >= %s', width), 1, direction => 'both') WHERE vertex <> 1) b(vertices),
  LATERAL (SELECT array_agg(vertex ORDER BY vertex) FROM answer a WHERE a.width >= w.width) c(vertices)
 WHERE b.vertices IS DISTINCT FROM c.vertices;
