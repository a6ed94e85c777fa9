-- The rows of a function read by parallel workers: the same rows as by one process, with any plan
-- above.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS emogi;
DROP ROLE IF EXISTS regress_emogi_parallel_rows;
RESET client_min_messages;
CREATE ROLE regress_emogi_parallel_rows;
CREATE SCHEMA test_parallel_rows;
SET search_path = test_parallel_rows, public;
-- rows are tested here
SET emogi.enable_aggregates = off;
SET emogi.enable_topk = off;
SET emogi.enable_join_lookup = off;
\pset format unaligned
\pset tuples_only on
\pset null (null)

-- A graph of five blocks of vertices, in two components, with lists of all lengths.
CREATE UNLOGGED TABLE edges AS
  SELECT i / 3 AS src, i AS dst, (1 + i % 9)::float4 AS weight FROM generate_series(1, 200000) i
  UNION ALL SELECT 0, i * 1009 % 200000, 20 FROM generate_series(1, 5000) i
  UNION ALL SELECT -i, -i - 1, 0.5 FROM generate_series(1, 100000) i;
ANALYZE edges;
CREATE TABLE names AS SELECT i AS id, 'name ' || i AS name FROM generate_series(-1000, 150000, 3) i;
ANALYZE names;

--
-- same(): the rows of a query with parallel workers compared with those without, as a multiset;
-- with and without the leader's participation.
--
CREATE FUNCTION shared(query text) RETURNS bool LANGUAGE plpgsql AS $$
DECLARE
  line text;
BEGIN
  FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
    IF line LIKE '%Parallel Custom Scan (EmogiScan)%' THEN
      RETURN true;
    END IF;
  END LOOP;
  RETURN false;
END $$;
-- plan(): the nodes of a query's plan and their conditions.
CREATE FUNCTION plan(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
  line text;
BEGIN
  FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
    IF line !~ '^ *(Function Call|Graph|Cache|Engine):' THEN
      RETURN NEXT replace(line, 'Plan expr_', 'Plan ');
    END IF;
  END LOOP;
END $$;
CREATE FUNCTION go_parallel(workers int, leader bool) RETURNS void LANGUAGE sql AS $$
  SELECT set_config('max_parallel_workers_per_gather', workers::text, true), set_config('parallel_leader_participation', leader::text, true),
    set_config('parallel_setup_cost', '0', true), set_config('parallel_tuple_cost', '0', true), set_config('min_parallel_table_scan_size', '0', true) $$;
CREATE FUNCTION same(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  workers int;
  n bigint;
  wrong bigint;
  plan text;
BEGIN
  PERFORM go_parallel(0, true);
  IF shared(query) THEN
    RETURN 'shared though there are no workers';
  END IF;
  EXECUTE 'CREATE TEMP TABLE alone ON COMMIT DROP AS ' || query;
  SELECT count(*) INTO n FROM alone;
  FOREACH workers IN ARRAY ARRAY[1, 3, -2] LOOP
    PERFORM go_parallel(abs(workers), workers > 0);
    plan := concat_ws(', ', plan, CASE WHEN shared(query) THEN 'shared' ELSE 'not shared' END);
    EXECUTE 'CREATE TEMP TABLE together ON COMMIT DROP AS ' || query;
    PERFORM go_parallel(0, true);
    SELECT count(*) INTO wrong FROM ((TABLE alone EXCEPT ALL TABLE together) UNION ALL (TABLE together EXCEPT ALL TABLE alone)) d;
    IF wrong > 0 THEN
      RETURN format('%s: %s rows DIFFER of %s', plan, wrong, n);
    END IF;
    DROP TABLE together;
  END LOOP;
  DROP TABLE alone;
  RETURN format('%s: %s rows', CASE plan WHEN 'shared, shared, shared' THEN 'shared' WHEN 'not shared, not shared, not shared' THEN 'not shared' ELSE plan END, n);
END $$;

-- Every function. Those with a query of start values run it in the leader, where it may do what
-- workers cannot: they are not parallel.
SELECT same('SELECT vertex, level FROM emogi_bfs(''edges'', 0)');
SELECT same('SELECT vertex, level FROM emogi_bfs(''edges'', ARRAY[0, -5])');
SELECT same('SELECT vertex, distance FROM emogi_sssp(''edges'', 0)');
SELECT same('SELECT vertex, bottleneck FROM emogi_sswp(''edges'', 0) AS w(vertex, bottleneck)');
SELECT same('SELECT vertex, level, paths FROM emogi_ssnsp(''edges'', 0)');
SELECT same('SELECT vertex, component FROM emogi_cc(''edges'')');
SELECT same('SELECT vertex, rank FROM emogi_pagerank(''edges'') AS p(vertex, rank)');
SELECT same('SELECT vertex, value FROM emogi_heat(''edges'', ''VALUES (0, 1.0)'', max_iterations => 3)');
SELECT same('SELECT vertex FROM emogi_bfs(''SELECT src, dst FROM edges'', 0)');

CREATE VIEW seen AS SELECT src, dst FROM edges;
CREATE MATERIALIZED VIEW kept AS SELECT src, dst FROM edges;
CREATE TABLE parts (src int, dst int) PARTITION BY HASH (src);
CREATE TABLE part1 PARTITION OF parts FOR VALUES WITH (MODULUS 2, REMAINDER 0);
CREATE TABLE part2 PARTITION OF parts FOR VALUES WITH (MODULUS 2, REMAINDER 1);
INSERT INTO parts SELECT src, dst FROM edges;
SELECT same('SELECT vertex, level FROM emogi_bfs(''seen'', 0)');
SELECT same('SELECT vertex, level FROM emogi_bfs(''kept'', 0)');
SELECT same('SELECT vertex, level FROM emogi_bfs(''parts'', 0)');
DROP VIEW seen;
DROP TABLE parts;
DROP MATERIALIZED VIEW kept;

-- Unused columns, conditions that limit the search, conditions that are checked, and one that looks
-- a vertex up.
SELECT same('SELECT count(*) FROM emogi_bfs(''edges'', 0)');
SELECT substring(same('SELECT vertex, level FROM emogi_bfs(''edges'', 0) WHERE level <= 3') FROM '[0-9]+ rows$');	-- engines are planned for differently
SELECT same('SELECT vertex, distance FROM emogi_sssp(''edges'', 0) WHERE distance < 12 AND vertex % 3 = 1');
SELECT same('SELECT level, count(*), min(vertex), sum(vertex) FROM emogi_bfs(''edges'', 0) GROUP BY level');
SELECT same('SELECT vertex + level AS sum, -vertex AS minus FROM emogi_bfs(''edges'', 0)');
SELECT same('SELECT level FROM emogi_bfs(''edges'', 0) WHERE vertex = 77');
SELECT substring(same('SELECT count(*) FROM emogi_bfs(''edges'', 0) WHERE level < 0') FROM '[0-9]+ rows$');	-- engines are planned for differently
SELECT same('SELECT count(*) FROM emogi_bfs(''edges'', 99999999)');
SELECT same('SELECT count(*) FROM emogi_bfs(''edges'', NULL::bigint)');
SELECT same('SELECT count(*) FROM emogi_bfs(''edges'', (SELECT min(id) FROM names))');

-- Joins, unions, subqueries; a function whose arguments come from other rows is not parallel.
SET enable_nestloop = off;
SET enable_mergejoin = off;
SELECT same('SELECT id, name, level FROM emogi_bfs(''edges'', 0) JOIN names ON id = vertex');
SELECT same('SELECT id, name, level FROM emogi_bfs(''edges'', 0) LEFT JOIN names ON id = vertex');
SELECT same('SELECT id, name, level FROM names LEFT JOIN emogi_bfs(''edges'', 0) ON id = vertex');
SELECT same('SELECT a.level AS a, b.level AS b, count(*) FROM emogi_bfs(''edges'', 0) a JOIN emogi_bfs(''edges'', 1) b USING (vertex) GROUP BY 1, 2');
SET enable_parallel_hash = off;
SELECT same('SELECT id, name, level FROM emogi_bfs(''edges'', 0) JOIN names ON id = vertex');
RESET enable_parallel_hash;
SET enable_hashjoin = off;
RESET enable_mergejoin;
SELECT same('SELECT id, name, level FROM emogi_bfs(''edges'', 0) JOIN names ON id = vertex');
SELECT same('SELECT a.level AS a, b.level AS b, count(*) FROM emogi_bfs(''edges'', 0) a JOIN emogi_bfs(''edges'', 1) b USING (vertex) GROUP BY 1, 2');
RESET enable_hashjoin;
RESET enable_nestloop;
SELECT same('SELECT id, name, level FROM emogi_bfs(''edges'', 0) JOIN names ON id = vertex');
SELECT same('SELECT a.vertex FROM emogi_bfs(''edges'', 0) a FULL JOIN emogi_bfs(''edges'', -1) b USING (vertex) WHERE b.vertex IS NULL');
SELECT same('SELECT vertex FROM emogi_bfs(''edges'', 0) UNION ALL SELECT vertex FROM emogi_bfs(''edges'', -1, 5) UNION ALL SELECT id FROM names');
SELECT same('SELECT vertex FROM (SELECT vertex FROM emogi_bfs(''edges'', 0) UNION ALL SELECT vertex FROM emogi_bfs(''edges'', -1)) x JOIN names ON id = vertex');
SELECT substring(same('SELECT id FROM names WHERE id NOT IN (SELECT vertex FROM emogi_bfs(''edges'', 0) WHERE level < 5)') FROM '[0-9]+ rows$');	-- engines are planned for differently
SELECT substring(same('SELECT id FROM names WHERE EXISTS (SELECT FROM emogi_bfs(''edges'', 0) WHERE vertex = id + 1)') FROM '[0-9]+ rows$');	-- servers choose one plan or another
SELECT same('WITH b AS MATERIALIZED (SELECT vertex, level FROM emogi_bfs(''edges'', 0)) SELECT x.vertex, y.level FROM b x JOIN b y USING (vertex)');
SELECT same('SELECT id, (SELECT count(*) FROM emogi_bfs(''edges'', n.id, 2)) FROM (SELECT id FROM names WHERE id BETWEEN 0 AND 50) n');
SELECT same('SELECT n.id, b.vertex FROM (SELECT id FROM names WHERE id BETWEEN 0 AND 50) n, LATERAL emogi_bfs(''edges'', n.id, 2) b');

-- Rows of each process are in the order of vertex: they are merged, not sorted.
BEGIN;
SELECT go_parallel(2, true);
SET LOCAL enable_sort = off;
SELECT plan($$ SELECT vertex FROM emogi_bfs('edges', 0) WHERE level + vertex % 10 = 9 ORDER BY vertex $$);
CREATE TEMP TABLE merged ON COMMIT DROP AS
  SELECT row_number() OVER () AS n, vertex FROM (SELECT vertex FROM emogi_bfs('edges', 0) WHERE level + vertex % 10 = 9 ORDER BY vertex OFFSET 0) o;
SELECT count(*), count(*) FILTER (WHERE next <= vertex) AS wrong FROM (SELECT vertex, lead(vertex) OVER (ORDER BY n) AS next FROM merged) m;
COMMIT;

-- A Gather that is rescanned: after its end (one run serves all), and after it was left early;
-- limits from other rows.
BEGIN;
SELECT go_parallel(2, true);
SET LOCAL enable_material = off;
SET LOCAL enable_memoize = off;
SET LOCAL enable_hashjoin = off;
SET LOCAL enable_mergejoin = off;
CREATE TEMP TABLE few AS SELECT i AS id FROM generate_series(1, 3) i;
SELECT plan($$ SELECT few.id, b.* FROM few LEFT JOIN (SELECT count(*), sum(level) FROM emogi_bfs('edges', 0) OFFSET 0) b ON few.id > 0 $$);
CREATE TEMP TABLE again AS SELECT few.id, b.* FROM few LEFT JOIN (SELECT count(*), sum(level) FROM emogi_bfs('edges', 0) OFFSET 0) b ON few.id > 0;
TABLE again ORDER BY id;
SELECT count(*) AS runs FROM emogi_runs WHERE pid = pg_backend_pid() AND started >= now();
CREATE TEMP VIEW bounded AS SELECT f.id, b.c FROM few f JOIN LATERAL (SELECT count(*) AS c FROM emogi_bfs('edges', 0) WHERE level <= f.id OFFSET 0) b ON true;
CREATE TEMP TABLE bounded_rows AS SELECT * FROM bounded;
SELECT id, c FROM bounded_rows ORDER BY id;
CREATE TEMP VIEW early AS SELECT f.id, b.vertex FROM few f JOIN LATERAL (SELECT vertex FROM (SELECT vertex FROM emogi_bfs('edges', 0) WHERE level > 2 OFFSET 0) o LIMIT 40000) b ON f.id > 0;
SELECT plan($$ SELECT * FROM early $$);
CREATE TEMP TABLE early_rows AS SELECT * FROM early;
SELECT id, count(*), count(DISTINCT vertex) FROM early_rows GROUP BY id ORDER BY id;
CREATE TEMP TABLE later_rows AS SELECT f.id, b.vertex FROM few f, LATERAL (SELECT vertex FROM emogi_bfs('edges', 0) WHERE level > 2 LIMIT f.id * 20000) b;
SELECT id, count(*), count(DISTINCT vertex) FROM later_rows GROUP BY id ORDER BY id;
SELECT count(*) FROM emogi_progress;
-- ... and with a source from other rows through a subquery; every row is read by a worker.
SELECT go_parallel(2, false);
CREATE TEMP VIEW reached AS SELECT f.id, b.* FROM few f, LATERAL (SELECT count(*), sum(vertex) FROM emogi_bfs('edges', (SELECT max(n.id) FROM few n WHERE n.id <= f.id))) b;
SELECT plan('SELECT * FROM reached');
CREATE TEMP TABLE reached_rows AS SELECT * FROM reached;
SELECT rows FROM emogi_runs WHERE pid = pg_backend_pid() ORDER BY id DESC LIMIT 3;
SELECT go_parallel(0, false);
SELECT count(*) AS wrong FROM ((TABLE reached_rows EXCEPT TABLE reached) UNION (TABLE reached EXCEPT TABLE reached_rows)) d;
TABLE reached_rows ORDER BY id;
ROLLBACK;

-- The figures of a call are recorded as usual: the number of rows, and that nothing is left of it.
BEGIN;
SELECT go_parallel(2, true);
SELECT count(*), sum(level) FROM emogi_bfs('edges', 0);
SELECT function, rows, status FROM emogi_runs WHERE pid = pg_backend_pid() ORDER BY id DESC LIMIT 1;
COMMIT;
-- ... after an error in whichever process reads that vertex.
BEGIN;
SELECT go_parallel(2, false);
\set VERBOSITY sqlstate
SELECT count(*), sum(level) FROM emogi_bfs('edges', 0) WHERE 1 / (vertex - 131080) < 2;
\set VERBOSITY default
ROLLBACK;
SELECT function, status FROM emogi_runs WHERE pid = pg_backend_pid() ORDER BY id DESC LIMIT 1;
SELECT count(*) FROM emogi_progress;
SELECT sum(pins) FROM emogi_graphs;

-- Edges of a temporary table and own changes, which workers could not see themselves.
BEGIN;
CREATE TEMP TABLE own ON COMMIT DROP AS SELECT src, dst FROM edges;
INSERT INTO own SELECT i, i + 1 FROM generate_series(1000000, 1100000) i;
ANALYZE own;
INSERT INTO own VALUES (0, 1000000);
SELECT same('SELECT vertex, level FROM emogi_bfs(''own'', 0)');
COMMIT;

-- Prepared statements, custom and generic; and cursors, which cannot be parallel.
BEGIN;
SELECT go_parallel(2, true);
PREPARE reach(bigint) AS SELECT count(*), sum(level) FROM emogi_bfs('edges', $1);
SET LOCAL plan_cache_mode = force_generic_plan;
SELECT plan($$ EXECUTE reach(0) $$);
EXECUTE reach(0);
EXECUTE reach(-5);
EXECUTE reach(NULL);
-- ... no run is started that may not be needed
PREPARE maybe(bool) AS SELECT count(*) FROM emogi_bfs('edges', 0, direction => 'sideways') WHERE $1;
EXECUTE maybe(false);
PREPARE joined(bool) AS SELECT count(*) FROM emogi_bfs('edges', 0, direction => 'sideways') JOIN names ON id = vertex WHERE $1;
EXECUTE joined(false);
DECLARE c SCROLL CURSOR FOR SELECT vertex, level FROM emogi_bfs('edges', 0);
FETCH 3 FROM c;
MOVE LAST c;
FETCH PRIOR FROM c;
COMMIT;

-- A table replaced by another kind of relation, or with a policy for this role, is read by one
-- process, also with an older plan: a policy may do what parallel workers cannot.
CREATE FUNCTION tries(i int) RETURNS int LANGUAGE plpgsql AS $$ BEGIN BEGIN RETURN i; EXCEPTION WHEN OTHERS THEN RETURN 0; END; END $$;
GRANT USAGE ON SCHEMA test_parallel_rows TO PUBLIC;
GRANT SELECT ON edges TO PUBLIC;
SET SESSION AUTHORIZATION regress_emogi_parallel_rows;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET max_parallel_workers_per_gather = 2;
SET plan_cache_mode = force_generic_plan;
PREPARE again AS SELECT count(*) FROM emogi_bfs('edges', 0);
EXECUTE again;
SELECT plan('EXECUTE again');
RESET SESSION AUTHORIZATION;
ALTER TABLE edges ENABLE ROW LEVEL SECURITY;
CREATE POLICY low ON edges USING (tries(src) < 40000);
SET SESSION AUTHORIZATION regress_emogi_parallel_rows;
EXECUTE again;
SELECT plan('EXECUTE again');
RESET SESSION AUTHORIZATION;
EXECUTE again;
SELECT plan('EXECUTE again');
RESET ALL;

\set VERBOSITY terse
SET client_min_messages = warning;
DROP ROLE regress_emogi_parallel_rows;
DROP SCHEMA test_parallel_rows CASCADE;
