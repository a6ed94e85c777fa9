-- Answers of emogi_sssp: the minimum sum of weights, verified manually and compared with an oracle.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS emogi;
RESET client_min_messages;
CREATE SCHEMA test_sssp;
SET search_path = test_sssp, public;

-- The interface.
SELECT * FROM emogi_sssp('SELECT 1, 2', 1) \gdesc
SELECT proargnames[1:pronargs] AS names, proargtypes::regtype[] AS types, pg_get_expr(proargdefaults, 'pg_proc'::regclass) AS defaults,
       provolatile, proparallel, prosecdef, proleakproof, proretset
  FROM pg_proc WHERE proname = 'emogi_sssp' ORDER BY proargtypes;

-- Rows are in ascending vertex order, so one line shows an answer.
\pset format unaligned
\pset tuples_only on
\pset null (null)
-- The longer path 1 -> 2 -> 3 -> 4 is cheaper than 1 -> 4; 5 leads in; 6 and 7 are separate.
CREATE TABLE roads (src int, dst int, weight float8);
INSERT INTO roads VALUES (3, 4, 0.25), (1, 4, 10), (1, 2, 1), (2, 3, 1.5), (5, 1, 2), (6, 7, 3), (4, 1, 0.5);
SELECT * FROM emogi_sssp('roads', 1);
SELECT string_agg(vertex || ':' || distance, ' ') FROM emogi_sssp('roads', 5);
SELECT string_agg(vertex || ':' || distance, ' ') FROM emogi_sssp('roads', 7);
SELECT string_agg(vertex || ':' || distance, ' ') FROM emogi_sssp('roads', 3);
SELECT count(*) FROM emogi_sssp('roads', 99);

-- Direction.
SELECT string_agg(vertex || ':' || distance, ' ') FROM emogi_sssp('roads', 1, direction => 'out');
SELECT string_agg(vertex || ':' || distance, ' ') FROM emogi_sssp('roads', 1, direction => 'in');
SELECT string_agg(vertex || ':' || distance, ' ') FROM emogi_sssp('roads', 1, direction => 'both');
SELECT string_agg(vertex || ':' || distance, ' ') FROM emogi_sssp('roads', 7, direction => 'IN');
SELECT string_agg(vertex || ':' || distance, ' ') FROM emogi_sssp('roads', 7, direction => NULL);

-- The maximum distance, inclusive.
SELECT string_agg(vertex || ':' || distance, ' ') FROM emogi_sssp('roads', 1, 0);
SELECT string_agg(vertex || ':' || distance, ' ') FROM emogi_sssp('roads', 1, '-0');
SELECT string_agg(vertex || ':' || distance, ' ') FROM emogi_sssp('roads', 1, 2.4999999999999996);
SELECT string_agg(vertex || ':' || distance, ' ') FROM emogi_sssp('roads', 1, 2.5);
SELECT string_agg(vertex || ':' || distance, ' ') FROM emogi_sssp('roads', 1, 2.6, 'both');
SELECT string_agg(vertex || ':' || distance, ' ') FROM emogi_sssp('roads', 1, 1e300);
SELECT string_agg(vertex || ':' || distance, ' ') FROM emogi_sssp('roads', 1, 'Infinity');
SELECT string_agg(vertex || ':' || distance, ' ') FROM emogi_sssp('roads', 1, NULL);
SELECT string_agg(vertex || ':' || distance, ' ') FROM emogi_sssp(source => 5, graph => 'roads', direction => 'out', max_distance => 3);
SELECT count(*) FROM emogi_sssp('roads', 99, 0);

-- Several sources: the nearest counts; NULLs and duplicates are allowed.
SELECT string_agg(vertex || ':' || distance, ' ') FROM emogi_sssp('roads', ARRAY[1, 3]);
SELECT string_agg(vertex || ':' || distance, ' ') FROM emogi_sssp('roads', ARRAY[NULL, 6, 5, 6, NULL, 99, 5]);
SELECT string_agg(vertex || ':' || distance, ' ') FROM emogi_sssp('roads', ARRAY[2, 7], 1.5, 'both');
SELECT string_agg(vertex || ':' || distance, ' ') FROM emogi_sssp('roads', '[7:8]={5,6}'::bigint[]);
SELECT string_agg(vertex || ':' || distance, ' ') FROM emogi_sssp('roads', ARRAY[1, 2, 3, 4, 5, 6, 7]);
SELECT count(*) FROM emogi_sssp('roads', ARRAY[98, 99]);
-- No source, no rows.
SELECT count(*) FROM emogi_sssp('roads', NULL::bigint);
SELECT count(*) FROM emogi_sssp('roads', NULL::bigint[]);
SELECT count(*) FROM emogi_sssp('roads', '{}'::bigint[]);
SELECT count(*) FROM emogi_sssp('roads', ARRAY[NULL, NULL]::bigint[]);

-- No edges; only loops; parallel edges, of which the cheapest counts; rows with a NULL endpoint,
-- which are not edges.
CREATE TABLE none (src int, dst int, weight int);
SELECT count(*) FROM emogi_sssp('none', 1);
SELECT count(*) FROM emogi_sssp('none', ARRAY[0, 1]::bigint[], 3, 'both');
CREATE TABLE loops (src int, dst int, weight int);
INSERT INTO loops VALUES (7, 7, 0), (8, 8, 5);
SELECT string_agg(vertex || ':' || distance, ' ') FROM emogi_sssp('loops', ARRAY[7, 8]);
CREATE TABLE multi (src int, dst int, weight int);
INSERT INTO multi VALUES (1, 2, 5), (1, 2, 3), (1, 2, 4), (2, 2, 1), (2, 1, 1), (2, 3, 7), (2, 3, 7), (NULL, 3, 1), (1, NULL, 1), (9, NULL, 0);
SELECT string_agg(vertex || ':' || distance, ' ') FROM emogi_sssp('multi', 1);
SELECT string_agg(vertex || ':' || distance, ' ') FROM emogi_sssp('multi', 1, direction => 'both');
SELECT count(*) FROM emogi_sssp('multi', 9);

-- Edges of weight 0, including a cycle of them, and minus zero, which equals zero.
CREATE TABLE zeros (src int, dst int, weight float8);
INSERT INTO zeros VALUES (1, 2, 0), (2, 3, 0), (3, 1, 0), (3, 4, '-0'), (4, 5, 1), (5, 4, 0), (5, 6, '-0'), (6, 5, 0);
SELECT string_agg(vertex || ':' || distance, ' ') FROM emogi_sssp('zeros', 2);
SELECT string_agg(vertex || ':' || distance, ' ') FROM emogi_sssp('zeros', 2, 0);
SELECT string_agg(vertex || ':' || distance, ' ') FROM emogi_sssp('zeros', 6, direction => 'both');
SELECT string_agg(vertex || ':' || distance, ' ') FROM emogi_sssp('SELECT 1, 2, ''-0''::float8', 1);

-- An edge of infinite weight is impassable, but its endpoints are vertices.
CREATE TABLE walls (src int, dst int, weight float8);
INSERT INTO walls VALUES (1, 2, 'Infinity'), (1, 3, 1), (3, 4, 'Infinity'), (3, 2, 2), (5, 1, 'Infinity');
SELECT string_agg(vertex || ':' || distance, ' ') FROM emogi_sssp('walls', 1);
SELECT string_agg(vertex || ':' || distance, ' ') FROM emogi_sssp('walls', 1, 'Infinity', 'both');
SELECT string_agg(vertex || ':' || distance, ' ') FROM emogi_sssp('walls', 5);
SELECT string_agg(vertex || ':' || distance, ' ') FROM emogi_sssp('walls', ARRAY[4, 5]);

-- A vertex with a sum beyond the largest float8 is not reached; with one below it is.
CREATE TABLE far (src int, dst int, weight float8);
INSERT INTO far VALUES (1, 2, 1e308), (2, 3, 1e308), (1, 4, 1.7976931348623157e308), (4, 5, 1e291), (4, 6, 1e292), (3, 7, 0), (2, 8, 5e307);
SELECT string_agg(vertex || ':' || distance, ' ') FROM emogi_sssp('far', 1);
SELECT string_agg(vertex || ':' || distance, ' ') FROM emogi_sssp('far', 1, 'Infinity');
SELECT string_agg(vertex || ':' || distance, ' ') FROM emogi_sssp('far', 3);

-- Sums are float8 sums along the path, starting at the source: the cheaper order of the same
-- weights wins.
CREATE TABLE tenths AS SELECT i AS src, i + 1 AS dst, 0.1::float8 AS weight FROM generate_series(0, 9) i;
SELECT string_agg(vertex || ':' || distance, ' ') FROM emogi_sssp('tenths', 0);
SELECT * FROM emogi_sssp('VALUES (1, 2, 9007199254740992.0::float8), (2, 3, 1), (3, 9, 1), (1, 4, 1), (4, 5, 1), (5, 9, 9007199254740992)', 1);
SELECT * FROM emogi_sssp('VALUES (1, 2, 5e-324::float8), (2, 3, 5e-324), (3, 4, 1)', 1);
-- Edges of very different lengths, in sequence.
CREATE TABLE extremes AS SELECT i AS src, i + 1 AS dst, (CASE i % 3 WHEN 0 THEN 1e150 WHEN 1 THEN 1e-150 ELSE i END)::float8 AS weight FROM generate_series(1, 3000) i;
SELECT count(*), count(*) FILTER (WHERE distance <> along)
  FROM emogi_sssp('extremes', 1) LEFT JOIN (SELECT dst, sum(weight) OVER (ORDER BY src) FROM extremes) s(dst, along) ON dst = vertex;

-- A star, a chain, a grid; lists of 31, 32, 33 and more edges; with known sums.
CREATE TABLE star AS SELECT 0 AS src, i AS dst, i % 300 AS weight FROM generate_series(1, 1000) i;
SELECT count(*), count(*) FILTER (WHERE distance <> vertex % 300) FROM emogi_sssp('star', 0);
SELECT count(*), count(*) FILTER (WHERE distance <> (CASE vertex WHEN 0 THEN 299 WHEN 899 THEN 0 ELSE 299 + vertex % 300 END))
  FROM emogi_sssp('star', 899, direction => 'both');
SELECT count(*) FROM emogi_sssp('star', 0, 149);
CREATE TABLE chain AS SELECT i AS src, i + 1 AS dst, i::bigint * i AS weight FROM generate_series(1, 2000) i;
SELECT count(*), max(distance), count(*) FILTER (WHERE distance <> (vertex - 1) * vertex * (2 * vertex - 1) / 6) FROM emogi_sssp('chain', 1);
SELECT count(*), max(distance) FROM emogi_sssp('chain', 2001, direction => 'in');
SELECT count(*), max(vertex), max(distance) FROM emogi_sssp('chain', 1, 1000000);
CREATE TABLE grid AS
  SELECT x * 100 + y AS src, (x + 1) * 100 + y AS dst, 2 AS weight FROM generate_series(0, 48) x, generate_series(0, 49) y
  UNION ALL SELECT x * 100 + y, x * 100 + y + 1, 3 FROM generate_series(0, 49) x, generate_series(0, 48) y;
SELECT count(*), max(distance), count(*) FILTER (WHERE distance <> 2 * (vertex / 100) + 3 * (vertex % 100)) FROM emogi_sssp('grid', 0);
SELECT count(*), max(distance), count(*) FILTER (WHERE distance <> 2 * abs(vertex / 100 - 20) + 3 * abs(vertex % 100 - 30))
  FROM emogi_sssp('grid', 2030, direction => 'both');
CREATE TABLE degrees AS
  SELECT d AS src, d * 1000 + i AS dst, i AS weight
    FROM unnest(ARRAY[1, 31, 32, 33, 63, 64, 65, 127, 128, 129, 255, 256, 257]) d, generate_series(1, d) i
  UNION ALL SELECT 0, d, 2 * d FROM unnest(ARRAY[1, 31, 32, 33, 63, 64, 65, 127, 128, 129, 255, 256, 257]) d;
SELECT count(*), sum(distance), count(*) FILTER (WHERE distance <> 2 * (vertex / 1000) + vertex % 1000) FROM emogi_sssp('degrees', 0) WHERE vertex > 999;

-- Keys of every size and sign.
CREATE TABLE wide (src bigint, dst bigint, weight numeric);
INSERT INTO wide VALUES
  (-9223372036854775808, 9223372036854775807, 1), (9223372036854775807, 0, 0.5), (0, -1, 0.25), (-1, 4294967296, 2), (4294967296, -4294967297, 4);
SELECT * FROM emogi_sssp('wide', -9223372036854775808);

-- In a join, a LATERAL join, a prepared statement, a view, a function and a cursor.
CREATE TABLE towns (id int, name text, home int);
INSERT INTO towns VALUES (1, 'one', 3), (2, 'two', 5), (3, 'three', 99), (4, 'four', NULL);
SELECT name, distance FROM emogi_sssp('roads', 1) JOIN towns ON vertex = id ORDER BY name;
SELECT name, distance FROM towns LEFT JOIN emogi_sssp('roads', 2, 2) ON vertex = id ORDER BY name;
SELECT id, (SELECT string_agg(vertex || ':' || distance, ' ') FROM emogi_sssp('roads', home)) FROM towns ORDER BY id;
SELECT t.id, s.vertex, s.distance FROM towns t, LATERAL emogi_sssp('roads', t.id, t.id) s WHERE s.distance > 0 ORDER BY t.id, s.vertex;
PREPARE near(bigint, float8) AS SELECT string_agg(vertex || ':' || distance, ' ') FROM emogi_sssp('roads', $1, $2);
EXECUTE near(1, 1);
EXECUTE near(5, NULL);
SET plan_cache_mode = force_generic_plan;
EXECUTE near(5, 3);
INSERT INTO roads VALUES (1, 8, 0.125);
EXECUTE near(1, 1);
EXECUTE near(NULL, 1);
RESET plan_cache_mode;
CREATE VIEW from_one AS SELECT * FROM emogi_sssp('roads', 1);
SELECT string_agg(vertex || ':' || distance, ' ') FROM from_one WHERE distance BETWEEN 0.1 AND 2.5;
UPDATE roads SET weight = 0.75 WHERE dst = 2;
SELECT string_agg(vertex || ':' || distance, ' ') FROM from_one;
SELECT vertex, distance FROM emogi_sssp('roads', 1) WHERE vertex = 3;
SELECT vertex, distance FROM emogi_sssp('roads', 1) WHERE vertex = ANY (ARRAY[3, 8, 100]) ORDER BY distance;
SELECT vertex, distance FROM emogi_sssp('roads', 1) ORDER BY distance DESC, vertex LIMIT 2;
SELECT r.*, ordinality FROM emogi_sssp('roads', 2) WITH ORDINALITY r;
SELECT (emogi_sssp('roads', 6)).*;
BEGIN;
DECLARE c CURSOR FOR SELECT * FROM emogi_sssp('roads', 1);
DELETE FROM roads;
FETCH 2 FROM c;
SELECT count(*) FROM emogi_sssp('roads', 1);
FETCH ALL FROM c;
ROLLBACK;
SELECT string_agg(vertex || ':' || distance, ' ') FROM emogi_sssp('roads', 1);

-- The oracle: the Bellman-Ford method, one join per round.
\set ECHO none
\i test/data/shapes.sql
\set ECHO all
CREATE TEMP TABLE reached (vertex bigint PRIMARY KEY, value float8, round int);
CREATE FUNCTION oracle(sources bigint[]) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  turn int := 0;
BEGIN
  TRUNCATE reached;
  INSERT INTO reached SELECT DISTINCT s, 0::float8, 0 FROM unnest(sources) s WHERE s IN (SELECT a FROM arc UNION ALL SELECT b FROM arc);
  WHILE FOUND LOOP
    turn := turn + 1;
    INSERT INTO reached SELECT b, min(value + w), turn FROM arc JOIN reached ON a = vertex AND round = turn - 1 WHERE w < 'Infinity' GROUP BY b
      ON CONFLICT (vertex) DO UPDATE SET value = excluded.value, round = turn WHERE excluded.value < reached.value;
  END LOOP;
END $$;

-- Count the rows in which emogi_sssp and the oracle differ, in both directions of the difference,
-- over directions, sources and maximum distances.
CREATE FUNCTION compare(OUT calls int, OUT rows bigint, OUT wrong bigint) LANGUAGE plpgsql AS $$
DECLARE
  ends bigint[] := some_vertices(12);
  sources bigint[];
  way text;
  most float8;
  n bigint;
  r bigint;
BEGIN
  calls := 0; rows := 0; wrong := 0;
  FOREACH way IN ARRAY ARRAY['out', 'in', 'both'] LOOP
    PERFORM take_arcs(way);
    FOR sources IN SELECT ends[1:1] UNION ALL SELECT ends[3:7] || NULL || 4711 || ends[3:4] LOOP
      PERFORM oracle(sources);
      FOR most IN SELECT NULL UNION ALL SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY value) FROM reached LOOP
        WITH answer AS MATERIALIZED (SELECT * FROM emogi_sssp('e', sources, most, way)),
             truth AS MATERIALIZED (SELECT vertex, value FROM reached WHERE value <= coalesce(most, value)),
             extra AS (SELECT * FROM answer EXCEPT ALL SELECT * FROM truth),
             missing AS (SELECT * FROM truth EXCEPT ALL SELECT * FROM answer)
        SELECT (SELECT count(*) FROM extra) + (SELECT count(*) FROM missing), (SELECT count(*) FROM truth) INTO n, r;
        calls := calls + 1; rows := rows + r; wrong := wrong + n;
      END LOOP;
    END LOOP;
  END LOOP;
END $$;
CREATE TABLE results (shape text, key text, weight text, calls int, rows bigint, wrong bigint);
CREATE PROCEDURE compare_all() LANGUAGE plpgsql AS $$
DECLARE
  c record;
BEGIN
  FOR c IN SELECT * FROM combinations(0) LOOP
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

-- A larger one, checked by definition: no arc shortens a distance, and a tight arc leads to every
-- vertex except the source.
CREATE TABLE e AS SELECT pick(i, 41, 5000) AS src, pick(i, 42, 5000) AS dst, 0.001::float8 * pick(i, 43, 1000) AS weight FROM generate_series(1, 30000) i;
CREATE TEMP TABLE answer AS SELECT * FROM emogi_sssp('e', 1);
SELECT count(*) AS rows, count(*) FILTER (WHERE distance = 0) AS at_zero FROM answer;
SELECT count(*) AS shortened FROM answer a JOIN e ON src = a.vertex LEFT JOIN answer b ON dst = b.vertex
 WHERE b.distance IS NULL OR a.distance + weight < b.distance;
SELECT count(*) AS unexplained FROM answer b
 WHERE vertex <> 1 AND NOT EXISTS (SELECT FROM e JOIN answer a ON src = a.vertex WHERE dst = b.vertex AND a.distance + weight = b.distance);
SELECT count(*) AS wrong FROM (SELECT * FROM emogi_sssp('e', 1, 2) EXCEPT SELECT * FROM answer WHERE distance <= 2) x;
