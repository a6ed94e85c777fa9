-- Answers of emogi_topological_order and emogi_longest_path, compared with plain SQL, and graphs
-- that they reject.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS emogi;
RESET client_min_messages;
CREATE SCHEMA test_topological_order;
SET search_path = test_topological_order, public;
\pset format unaligned
\pset tuples_only on
\pset null (null)

-- The interface.
SELECT proname, proargnames[1:pronargs] AS names, proargtypes::regtype[] AS types, pg_get_expr(proargdefaults, 'pg_proc'::regclass) AS defaults, pg_get_function_result(oid),
       provolatile, proparallel, proretset
  FROM pg_proc WHERE proname ~ '^emogi_(topological_order|longest_path)' ORDER BY proname, proargtypes;

CREATE TABLE edges (src bigint, dst bigint, weight float8);

-- All paths from vertices without incoming edges, for small graphs.
CREATE FUNCTION paths() RETURNS TABLE (vertex bigint, level int, distance float8) LANGUAGE sql AS $$
  WITH RECURSIVE e AS (SELECT * FROM edges WHERE src + dst IS NOT NULL), v AS (SELECT src AS v FROM e UNION SELECT dst FROM e),
    p(v, l, d) AS (SELECT v, 0, 0::float8 FROM v WHERE v NOT IN (SELECT dst FROM e) UNION SELECT dst, l + 1, d + weight FROM p JOIN e ON src = v)
  SELECT v, max(l), max(d) FROM p GROUP BY v $$;
CREATE FUNCTION plain_order() RETURNS TABLE (vertex bigint, level int, "position" bigint) LANGUAGE sql AS $$
  SELECT vertex, level, row_number() OVER (ORDER BY level, vertex) - 1 FROM paths() $$;
CREATE FUNCTION plain_longest() RETURNS TABLE (vertex bigint, distance float8) LANGUAGE sql AS $$ SELECT vertex, distance FROM paths() $$;

-- Compare both answers, row by row.
CREATE FUNCTION differences(ours text, plain text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  n bigint;
BEGIN
  EXECUTE format('WITH a AS MATERIALIZED (SELECT * FROM %s), b AS MATERIALIZED (SELECT * FROM %s)
    SELECT count(*) FROM ((TABLE a EXCEPT ALL TABLE b) UNION ALL (TABLE b EXCEPT ALL TABLE a)) d', ours, plain) INTO n;
  RETURN n;
END $$;

-- Random graphs of up to 14 vertices, edges from the lower to the higher number of a permutation,
-- with duplicates, NULL endpoints and multiples of 1/4 from -2 to 3 as weights.
CREATE PROCEDURE compare(seeds int) LANGUAGE plpgsql AS $$
DECLARE
  pairs text[] := ARRAY['emogi_topological_order(''edges'')', 'plain_order()', 'emogi_longest_path(''edges'')', 'plain_longest()'];
  different bigint[] := array_fill(0::bigint, ARRAY[array_length(pairs, 1) / 2]);
  nvertices bigint := 0;
BEGIN
  FOR seed IN 0 .. seeds LOOP
    PERFORM setseed(seed / 1000.0);
    TRUNCATE edges;
    INSERT INTO edges SELECT CASE WHEN random() > 0.03 THEN least(a, b) * 5 % 17 - 8 END, CASE WHEN random() > 0.03 THEN greatest(a, b) * 5 % 17 - 8 END, floor(random() * 20) / 4 - 2
      FROM (SELECT floor(random() * (1 + seed % 14))::int AS a, floor(random() * (1 + seed % 14))::int AS b FROM generate_series(1, seed / 3)) x WHERE a <> b;
    FOR i IN 1 .. array_length(different, 1) LOOP
      different[i] := different[i] + differences(pairs[2 * i - 1], pairs[2 * i]);
    END LOOP;
    nvertices := nvertices + (SELECT count(*) FROM plain_order());
  END LOOP;
  FOR i IN 1 .. array_length(different, 1) LOOP
    RAISE INFO '%: % rows differ', pairs[2 * i - 1], different[i];
  END LOOP;
  RAISE INFO 'enough vertices: %', nvertices > 500;
END $$;
CALL compare(90);

-- Levels are not hops; positions follow (level, vertex); without weights a distance is a level.
TRUNCATE edges;
INSERT INTO edges VALUES (10, 3, 1), (3, 7, 2), (10, 7, 9), (7, 1, -4), (20, 1, 1), (20, 1, 0.5), (10, NULL, 100);
SELECT * FROM emogi_topological_order('edges') ORDER BY position;
SELECT * FROM emogi_longest_path('edges');
SELECT * FROM emogi_longest_path('SELECT src, dst FROM test_topological_order.edges') WHERE distance >= 1;
SELECT * FROM emogi_longest_path('edges'::regclass, 'dst, src') ORDER BY distance DESC, vertex LIMIT 2;
SELECT bool_and(a.position < b.position) FROM edges e JOIN emogi_topological_order('edges') a ON a.vertex = e.src JOIN emogi_topological_order('edges') b ON b.vertex = e.dst;

-- Keys of other types, isolated vertices, conditions, aggregates, estimates.
CREATE TABLE named AS SELECT 'v' || src AS src, 'v' || dst AS dst FROM edges WHERE dst IS NOT NULL;
SELECT vertex, level, position FROM emogi_topological_order_text('named') ORDER BY position;
SELECT count(DISTINCT vertex), max(distance) FROM emogi_longest_path_uuid('SELECT md5(src::text)::uuid, md5(dst::text)::uuid, weight FROM test_topological_order.edges WHERE dst IS NOT NULL');
CREATE TABLE vertices AS SELECT unnest(ARRAY[1, 5, 99]::bigint[]) AS id;
SELECT * FROM emogi_topological_order(emogi_with_vertices('edges', 'vertices')) WHERE level = 0;
SELECT * FROM emogi_topological_order('edges') WHERE vertex IN (1, 3, 77);
SELECT level, count(*) FROM emogi_topological_order('edges') GROUP BY level ORDER BY level;
SELECT max(level), sum(position) FROM emogi_topological_order('edges');
SELECT count(*), max(level) FROM emogi_topological_order('SELECT i, i + 1 FROM generate_series(1, 50000) i');
SELECT count(*) FROM emogi_topological_order('SELECT 1 AS src, 2 AS dst WHERE false');
SELECT function, rows FROM emogi_runs ORDER BY id DESC LIMIT 1 OFFSET 1;
SET emogi.engine = cpu;
EXPLAIN (COSTS OFF) SELECT vertex FROM emogi_topological_order('edges') WHERE level >= 2;
EXPLAIN (COSTS OFF) SELECT * FROM emogi_longest_path('edges') ORDER BY distance DESC LIMIT 2;

-- Graphs with a cycle: the error names the shortest cycle through its smallest vertex, starting
-- there.
\set VERBOSITY default
\set SHOW_CONTEXT never
CREATE TABLE cyclic (src bigint, dst bigint, weight float8);
INSERT INTO cyclic VALUES (1, 2, 1), (2, 9, 1), (9, 5, 1), (5, 6, 1), (6, 9, 1), (6, 2, 1), (9, 30, 1);
SELECT * FROM emogi_topological_order('cyclic');
SELECT count(*) FROM emogi_longest_path('cyclic'::regclass);
SELECT vertex FROM emogi_topological_order_text('SELECT ''v'' || src, ''v'' || dst FROM test_topological_order.cyclic');
SELECT vertex FROM emogi_topological_order('SELECT * FROM (VALUES (1, 2), (2, 3), (3, 3)) e (src, dst)');
SELECT vertex FROM emogi_longest_path('SELECT * FROM (VALUES (1, 2), (2, 1)) e (src, dst)');
SELECT count(*) FROM emogi_topological_order('SELECT i, i % 12 + 1 FROM generate_series(1, 12) i');
SELECT count(*) FROM emogi_topological_order_uuid('SELECT (repeat(''0'', 31) || i)::uuid, (repeat(''0'', 31) || (i + 1) % 4)::uuid FROM generate_series(0, 3) i');
SELECT vertex, component FROM emogi_scc('cyclic') s WHERE (SELECT count(*) FROM emogi_scc('cyclic') t WHERE t.component = s.component) > 1;
DO $$ BEGIN PERFORM * FROM emogi_topological_order('cyclic'); EXCEPTION WHEN invalid_parameter_value THEN RAISE INFO 'refused: %', SQLSTATE; END $$;
SELECT * FROM emogi_topological_order('cyclic') LIMIT 0;
SELECT * FROM emogi_longest_path('SELECT * FROM (VALUES (1, 2, 1e308), (2, 3, 1e308)) e (src, dst, weight)');
SELECT * FROM emogi_longest_path('SELECT 1 AS src, 2 AS dst, ''Infinity''::float8 AS weight');
SELECT * FROM emogi_topological_order('named');
SELECT * FROM emogi_topological_order(NULL);

SET client_min_messages = warning;
DROP SCHEMA test_topological_order CASCADE;
