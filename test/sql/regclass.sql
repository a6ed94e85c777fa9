-- The graph as a regclass: its stored form, and its equivalence to the name.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS emogi;
RESET client_min_messages;
CREATE SCHEMA test_regclass;
SET search_path = test_regclass, public;
\pset format unaligned
\pset tuples_only on
\pset null (null)
SET emogi.engine = cpu;

CREATE TABLE edges (src int, dst int, "Von" int, "zu, Ort" int, km float8);
INSERT INTO edges VALUES (1, 2, 5, 6, 7), (2, 3, 6, 7, 0.5);

-- It is streamed, explained and cached like the name: one graph serves both.
EXPLAIN (COSTS OFF) SELECT vertex FROM emogi_bfs('edges'::regclass, 1) WHERE level <= 1;
SELECT vertex, level FROM emogi_bfs('edges'::regclass, 1) WHERE level <= 1;
EXPLAIN (COSTS OFF) SELECT vertex FROM emogi_bfs('edges'::regclass, 1) WHERE level <= 1;
EXPLAIN (COSTS OFF) SELECT vertex FROM emogi_bfs('edges', 1);
EXPLAIN (COSTS OFF) SELECT vertex FROM emogi_sssp('edges'::regclass, 5, columns => '"Von", "zu, Ort", km');
EXPLAIN (COSTS OFF) SELECT vertex FROM emogi_bfs(0::regclass, 1);
SELECT count(*) FROM emogi_bfs('edges', 1);
SELECT source, columns, hits FROM emogi_graphs WHERE relation = 'edges'::regclass ORDER BY columns;
SELECT vertex, distance FROM emogi_sssp('edges'::regclass, 5, columns => '"Von", "zu, Ort", km');
SELECT vertex, distance FROM emogi_sssp('edges("Von", "zu, Ort", km)', 5);
SELECT source, columns, hits FROM emogi_graphs WHERE relation = 'edges'::regclass ORDER BY columns;
-- emogi_runs shows the same name, as text.
SELECT source FROM emogi_runs WHERE pid = pg_backend_pid() ORDER BY id DESC LIMIT 3;
SELECT string_agg(vertex::text, ' ') FROM emogi_bfs((SELECT source FROM emogi_runs WHERE source LIKE '%Ort%' AND source LIKE 'test_regclass%' ORDER BY id DESC LIMIT 1), 5);
-- The planner knows its size.
CREATE FUNCTION planned_rows(query text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE plan json; BEGIN EXECUTE 'EXPLAIN (FORMAT JSON) ' || query INTO plan; RETURN plan->0->'Plan'->'Plan Rows'; END $$;
SELECT planned_rows($$ SELECT * FROM emogi_bfs('edges', 1) $$) = planned_rows($$ SELECT * FROM emogi_bfs('edges'::regclass, 1) $$), planned_rows($$ SELECT * FROM emogi_cc('edges'::regclass) $$);
-- Also if the executor reads the rows, and from a parameter.
CREATE VIEW seen AS SELECT dst AS src, src AS dst FROM edges;
SELECT string_agg(vertex::text, ' ') FROM emogi_bfs('seen'::regclass, 3);
SELECT string_agg(vertex::text, ' ') FROM emogi_bfs('seen'::regclass, 3, columns => 'dst, src');
PREPARE q(regclass, text) AS SELECT string_agg(vertex::text, ' ') FROM emogi_cc($1, $2);
EXECUTE q('edges', NULL);
EXECUTE q('edges', '"Von", "zu, Ort"');
EXECUTE q('seen', NULL);
SET plan_cache_mode = force_generic_plan;
EXECUTE q('edges', '"Von", "zu, Ort"');
RESET plan_cache_mode;
SELECT relname, (SELECT string_agg(vertex::text, ' ') FROM emogi_cc(oid)) FROM pg_class WHERE oid IN ('edges'::regclass, 'seen'::regclass) ORDER BY relname;

-- The stored form is a dependency: a rename is followed, a drop rejected.
CREATE VIEW ranks AS SELECT vertex FROM emogi_pagerank('edges'::regclass);
CREATE VIEW others AS SELECT vertex FROM emogi_cc('edges', columns => '"Von", "zu, Ort"');
CREATE MATERIALIZED VIEW reached AS SELECT vertex FROM emogi_bfs('edges'::regclass, 1);
CREATE FUNCTION hops() RETURNS SETOF text STABLE BEGIN ATOMIC SELECT vertex FROM emogi_bfs('edges'::regclass, '2'); END;
CREATE VIEW by_name AS SELECT vertex FROM emogi_cc('edges');
ALTER TABLE edges RENAME TO ways;
CREATE SCHEMA test_regclass_2;
ALTER TABLE ways SET SCHEMA test_regclass_2;
\set VERBOSITY terse
DROP TABLE test_regclass_2.ways;
SELECT string_agg(vertex::text, ' ') FROM ranks;
SELECT string_agg(vertex::text, ' ') FROM others;
SELECT string_agg(vertex::text, ' ') FROM hops() AS vertex;
INSERT INTO test_regclass_2.ways VALUES (3, 4);
REFRESH MATERIALIZED VIEW reached;
SELECT string_agg(vertex::text, ' ') FROM reached;
SELECT * FROM by_name;
SELECT pg_get_viewdef('ranks') LIKE '%(''test_regclass_2.ways''::regclass)%';
-- It does not depend on the search path, which is empty in pg_restore.
SET search_path = '';
SELECT string_agg(vertex::text, ' ') FROM test_regclass.ranks;
SELECT string_agg(vertex::text, ' ') FROM test_regclass.hops() AS vertex;
REFRESH MATERIALIZED VIEW test_regclass.reached;
SELECT source FROM public.emogi_runs WHERE pid = pg_backend_pid() ORDER BY id DESC LIMIT 1;
SET search_path = test_regclass, public;
DROP TABLE test_regclass_2.ways CASCADE;
SELECT count(*) FROM pg_class WHERE relname IN ('ranks', 'others', 'reached') AND relnamespace = 'test_regclass'::regnamespace;

-- A temporary table, a partitioned one.
CREATE TEMP TABLE temporary AS SELECT 1 AS src, 2 AS dst;
SELECT string_agg(vertex::text, ' ') FROM emogi_cc('temporary'::regclass);
CREATE TABLE parts (src int, dst int) PARTITION BY RANGE (src);
CREATE TABLE parts_1 PARTITION OF parts FOR VALUES FROM (0) TO (10);
INSERT INTO parts VALUES (1, 2);
SELECT string_agg(vertex::text, ' ') FROM emogi_cc('parts'::regclass);
SELECT emogi_evict('parts'::regclass) > 0, (SELECT count(*) FROM emogi_graphs WHERE relation = 'parts'::regclass);

-- Errors: NULL, a dropped relation, a wrong kind, wrong columns, no privilege.
CREATE FUNCTION message(command text, OUT state text, OUT message text, OUT hint text) LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE command;
EXCEPTION WHEN OTHERS THEN
  GET STACKED DIAGNOSTICS state = RETURNED_SQLSTATE, message = MESSAGE_TEXT, hint = PG_EXCEPTION_HINT;
END $$;
SELECT m.* FROM unnest(ARRAY['emogi_bfs(NULL::regclass, 1)', 'emogi_bfs(0::regclass, 1)', 'emogi_bfs(4294967295::regclass, 1)', 'emogi_bfs(''parts_src_idx''::regclass, 1)',
  'emogi_bfs(''missing''::regclass, 1)', 'emogi_estimate(0::regclass)', 'emogi_cc(0::regclass, ''a, b'')', 'emogi_shortest_path(0::regclass, 1, 2)', 'emogi_bfs(0::regclass, NULL)']) AS call,
  message('SELECT * FROM ' || call) m;
CREATE INDEX parts_src_idx ON parts (src, dst);
SELECT m.* FROM message($$ SELECT * FROM emogi_bfs('parts_src_idx'::regclass, 1) $$) m;
SELECT columns, m.state, m.message, m.hint FROM unnest(ARRAY['', 'src', 'src, dst, src, dst, src, dst', 'src dst', 'src; dst', '(src, dst)', 'src, nowhere', 'src, "DST"', 'src, dst) --', NULL]) AS columns,
  message(format('SELECT * FROM emogi_cc(''parts''::regclass, %L)', columns)) m;
SELECT m.* FROM message($$ SELECT emogi_evict(0::regclass) $$) m;
CREATE ROLE regress_emogi_regclass;
GRANT USAGE ON SCHEMA test_regclass TO regress_emogi_regclass;
SELECT count(*) FROM emogi_cc('parts'::regclass);
SET ROLE regress_emogi_regclass;
SELECT m.state, m.message FROM message($$ SELECT * FROM emogi_cc('parts'::regclass) $$) m;
SELECT m.state, m.message FROM message($$ SELECT emogi_evict('parts'::regclass) $$) m;
EXPLAIN (COSTS OFF) SELECT * FROM emogi_cc('parts'::regclass);
RESET ROLE;
DROP OWNED BY regress_emogi_regclass;
DROP ROLE regress_emogi_regclass;
-- A table dropped between two executions of a plan.
CREATE TABLE gone AS SELECT 1 AS src, 2 AS dst;
PREPARE once AS SELECT count(*) FROM emogi_cc(($1)::regclass);
SELECT 'gone'::regclass::oid AS oid \gset
EXECUTE once(:oid);
DROP TABLE gone;
\set VERBOSITY sqlstate
EXECUTE once(:oid);
