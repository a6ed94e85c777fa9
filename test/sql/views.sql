-- The views of the cache, of runs and of calls in progress: their contents and visibility.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS emogi;
DROP ROLE IF EXISTS regress_emogi_owner, regress_emogi_alice, regress_emogi_dora, regress_emogi_eve, regress_emogi_moni;
RESET client_min_messages;
SET emogi.incremental_min_size = '1GB';
CREATE ROLE regress_emogi_owner;
CREATE ROLE regress_emogi_alice;
CREATE ROLE regress_emogi_dora IN ROLE regress_emogi_alice;
CREATE ROLE regress_emogi_eve NOINHERIT IN ROLE regress_emogi_alice;
CREATE ROLE regress_emogi_moni IN ROLE pg_monitor;
CREATE SCHEMA test_views AUTHORIZATION regress_emogi_owner;
SET search_path = test_views, public;
SET emogi.enable_cache = on;
\pset format unaligned
\pset tuples_only on
\pset null (null)

-- Columns and types; every object has a comment.
SELECT attrelid::regclass, string_agg(attname || ' ' || format_type(atttypid, atttypmod), ', ' ORDER BY attnum) FROM pg_attribute
 WHERE attrelid IN ('emogi_graphs'::regclass, 'emogi_cache'::regclass, 'emogi_runs'::regclass, 'emogi_progress'::regclass,
   'emogi_stat_graphs'::regclass, 'emogi_stat_info'::regclass)
 GROUP BY attrelid ORDER BY attrelid::regclass::text;
SELECT attrelid::regclass, attname FROM pg_attribute JOIN pg_depend d ON d.classid = 'pg_class'::regclass AND d.objid = attrelid AND d.deptype = 'e'
 WHERE d.refobjid = (SELECT oid FROM pg_extension WHERE extname = 'emogi') AND attnum > 0
   AND (col_description(attrelid, attnum) IS NULL OR obj_description(attrelid, 'pg_class') IS NULL) ORDER BY 1, 2;
SELECT oid::regprocedure FROM pg_proc WHERE proname IN ('emogi_evict', 'emogi_estimate', 'emogi_check', 'emogi_reset', 'emogi_graphs', 'emogi_cache', 'emogi_runs',
   'emogi_progress', 'emogi_devices', 'emogi_stat_graphs', 'emogi_stat_info', 'emogi_stat_reset') AND obj_description(oid, 'pg_proc') IS NULL ORDER BY 1;

-- All roles can read and evict, but not reset.
SET ROLE regress_emogi_alice;
SELECT count(*) FROM emogi_graphs;
SELECT count(*) FROM emogi_cache;
SELECT count(*) FROM emogi_runs;
SELECT count(*) FROM emogi_progress;
SELECT emogi_evict();
SELECT emogi_reset();
RESET ROLE;
GRANT EXECUTE ON FUNCTION emogi_reset() TO regress_emogi_alice;
SET ROLE regress_emogi_alice;
SELECT emogi_reset();
RESET ROLE;
REVOKE EXECUTE ON FUNCTION emogi_reset() FROM regress_emogi_alice;

-- The argument of emogi_evict: an own table.
SET ROLE regress_emogi_owner;
CREATE TABLE edges (src int, dst int, weight float8);
INSERT INTO edges VALUES (1, 2, 1), (2, 3, 1), (1, 4, 1), (4, 5, 1), (NULL, 1, 1);
CREATE TABLE "Odd names" ("from" int, "To where" int);
INSERT INTO "Odd names" VALUES (1, 2);
CREATE VIEW edge_view AS SELECT src, dst FROM edges;
GRANT USAGE ON SCHEMA test_views TO PUBLIC;
SELECT emogi_evict('edges'), emogi_evict('edges(dst, src)'), emogi_evict('edge_view'), emogi_evict('"Odd names"("from", "To where")');
SET ROLE regress_emogi_alice;
SELECT emogi_evict('edges');
SELECT emogi_evict('edge_view');
SELECT emogi_evict('SELECT src, dst FROM edges');
SELECT emogi_evict('missing');
SELECT emogi_evict('');
RESET ROLE;

-- Counters and runs are reset.
SELECT emogi_evict() >= 0;
SELECT emogi_reset();
SELECT graphs, allowed_bytes = pg_size_bytes(current_setting('emogi.max_memory')) AS budget, hits, builds, private_builds, waits, evictions,
       reset_at BETWEEN now() - interval '1 min' AND now() + interval '1 min' AS reset FROM emogi_cache;
SELECT count(*) FROM emogi_runs;

-- Built, hit, private; failed.
SET ROLE regress_emogi_owner;
SELECT count(*) FROM emogi_bfs('edges', 1);
SELECT count(*) FROM emogi_bfs('edges', 2);
SELECT count(*) FROM emogi_bfs('SELECT src, dst FROM edges', 1);
SET emogi.enable_cache = off;
SELECT count(*) FROM emogi_bfs('edges', 1);
SET emogi.enable_cache = on;
SELECT count(*) FROM emogi_sssp('edges', 1);
SELECT hits, builds, private_builds, waits FROM emogi_cache;
\set VERBOSITY sqlstate
SELECT count(*) FROM emogi_bfs('SELECT 1, 1 / (src - 1) FROM edges', 1);
\set VERBOSITY default
SELECT function, source, status, username, database = current_database() AS here, rows FROM emogi_runs WHERE pid = pg_backend_pid() ORDER BY id;
SELECT function, cache, engine IN ('backend', 'cpu', 'cuda') AS engine, vertices, edges, reached, levels > 0 AS levels FROM emogi_runs
 WHERE pid = pg_backend_pid() AND status = 'ok' ORDER BY id;
SELECT count(*) FILTER (WHERE total_ms <= 0 OR started NOT BETWEEN now() - interval '5 min' AND now() + interval '1 min') AS untimed,
       count(*) FILTER (WHERE least(wait_ms, scan_ms, keys_ms, csr_ms, transfer_ms, run_ms, rows_ms) < 0
                           OR greatest(wait_ms, scan_ms, keys_ms, csr_ms, transfer_ms, run_ms, rows_ms) > total_ms) AS impossible,
       count(*) FILTER (WHERE cache = 'hit' AND greatest(scan_ms, keys_ms, csr_ms) > 0) AS hits_that_build,
       count(*) FILTER (WHERE cache <> 'hit' AND (scan_ms = 0 OR keys_ms = 0 OR csr_ms = 0) AND status = 'ok') AS builds_for_nothing,
       count(*) FILTER (WHERE status = 'ok' AND run_ms > 0 AND abs(edges_per_second - edges_traversed * 1000 / run_ms) > 1) AS miscounted,
       count(*) FILTER (WHERE placement NOT IN ('host', 'hybrid', 'device', 'peer', 'managed', 'staged') OR (placement IS NULL) <> (mapping IS NULL)
                           OR engine <> 'cuda' AND (placement IS NOT NULL OR link_bytes <> 0)) AS misplaced
  FROM emogi_runs WHERE pid = pg_backend_pid();
SELECT count(DISTINCT id) = count(*) AS numbered, bool_and(id > 0) AS positive FROM emogi_runs;

-- A call in progress sees itself: its graph has an edge for each correct row of emogi_progress.
SELECT * FROM emogi_bfs('SELECT 1, 2 FROM emogi_progress WHERE pid = pg_backend_pid() AND username = current_user AND database = current_database()
  AND function = ''emogi_bfs'' AND source LIKE ''SELECT 1, 2 FROM%'' AND state = ''idle'' AND phase = ''scan''
  AND started BETWEEN clock_timestamp() - interval ''1 min'' AND clock_timestamp()', 1);
SELECT count(*) FROM emogi_progress WHERE pid = pg_backend_pid();
RESET ROLE;

-- Calls in progress and runs are visible to roles with the privileges of their role, and to
-- monitors.
CREATE FUNCTION seen(name) RETURNS int LANGUAGE plpgsql SET search_path = test_views, public AS $$
  DECLARE n int;
  BEGIN
    EXECUTE format('SET LOCAL ROLE %I', $1);
    SELECT count(*) INTO n FROM emogi_runs WHERE username = 'regress_emogi_alice';
    RESET ROLE;
    RETURN n;
  END $$;
SET ROLE regress_emogi_alice;
SELECT count(*) FROM emogi_bfs('SELECT 1, 2', 1);
RESET ROLE;
SELECT role, seen(role::name) FROM unnest(ARRAY['regress_emogi_owner', 'regress_emogi_alice', 'regress_emogi_dora', 'regress_emogi_eve', 'regress_emogi_moni']) role;
SELECT seen(session_user);
DO $$ DECLARE
  name text;
BEGIN
  FOREACH name IN ARRAY ARRAY['owner', 'alice', 'dora', 'eve', 'moni'] LOOP
    EXECUTE format('CREATE FUNCTION progress_%s() RETURNS int LANGUAGE sql SECURITY DEFINER SET search_path = test_views, public AS
      $f$ SELECT count(*)::int FROM emogi_progress WHERE username = ''regress_emogi_alice'' $f$', name);
    EXECUTE format('ALTER FUNCTION progress_%s() OWNER TO regress_emogi_%s', name, name);
  END LOOP;
END $$;
SET ROLE regress_emogi_alice;
SELECT vertex FROM emogi_bfs('VALUES (1, 10 + progress_owner()), (1, 20 + progress_alice()), (1, 30 + progress_dora()), (1, 40 + progress_eve()),
  (1, 50 + progress_moni())', 1) ORDER BY vertex;
RESET ROLE;

-- Cached graphs. One with weights has replaced that without; another has other columns.
SELECT count(*) FROM emogi_bfs('edges(dst, src)', 5);
SELECT source, database = current_database() AS here, relation = source::regclass AS relation, columns, direction, backward, state, vertices, edges, skipped_rows,
       bytes > 0 AS bytes, pins, hits, built_at <= last_used AS used, build_ms > 0 AS timed
  FROM emogi_graphs WHERE relation <> 0 ORDER BY source, columns, direction, backward;
SELECT graphs, bytes = (SELECT sum(bytes) FROM emogi_graphs) AS bytes FROM emogi_cache;
SELECT sum(bytes) <= (SELECT used_bytes FROM emogi_devices WHERE device = -1) AS in_the_region FROM emogi_graphs;
SET ROLE regress_emogi_owner;
SELECT count(*) FROM emogi_bfs('"Odd names"("from", "To where")', 1);
SET search_path = public;
SELECT source, columns FROM emogi_graphs WHERE source LIKE '%Odd%';
SET search_path = test_views, public;
SELECT source, columns FROM emogi_graphs WHERE source LIKE '%Odd%';
SELECT emogi_evict('"Odd names"("from", "To where")') > 0;
SELECT DISTINCT source FROM emogi_graphs WHERE state = 'ready' ORDER BY 1;

-- Roles with SELECT on the columns of a graph can see it.
CREATE FUNCTION graphs_as_owner() RETURNS SETOF text LANGUAGE sql SECURITY DEFINER SET search_path = test_views, public AS
  $$ SELECT DISTINCT source || ' (' || columns || ')' FROM emogi_graphs WHERE state = 'ready' AND columns IS NOT NULL ORDER BY 1 $$;
CREATE VIEW graphs AS SELECT DISTINCT source || ' (' || columns || ')' AS graph FROM emogi_graphs WHERE state = 'ready' AND columns IS NOT NULL;
GRANT SELECT ON graphs TO PUBLIC;
RESET ROLE;
SET ROLE regress_emogi_alice;
SELECT * FROM graphs ORDER BY 1;
SELECT graphs_as_owner();
SET ROLE regress_emogi_moni;
SELECT * FROM graphs ORDER BY 1;
RESET ROLE;
GRANT SELECT (src, dst) ON edges TO regress_emogi_alice;
SET ROLE regress_emogi_alice;
SELECT * FROM graphs ORDER BY 1;
SET ROLE regress_emogi_dora;
SELECT * FROM graphs ORDER BY 1;
SET ROLE regress_emogi_eve;
SELECT * FROM graphs ORDER BY 1;
RESET ROLE;
GRANT SELECT (weight) ON edges TO regress_emogi_alice;
SET ROLE regress_emogi_alice;
SELECT * FROM graphs ORDER BY 1;
RESET ROLE;
REVOKE USAGE ON SCHEMA test_views FROM PUBLIC;
SET ROLE regress_emogi_alice;
SELECT count(*) FROM emogi_graphs;
RESET ROLE;
GRANT USAGE ON SCHEMA test_views TO PUBLIC;
REVOKE SELECT (src, dst, weight) ON edges FROM regress_emogi_alice;
GRANT SELECT ON edges TO regress_emogi_alice;
SET ROLE regress_emogi_alice;
SELECT * FROM graphs ORDER BY 1;
RESET ROLE;

-- With row security no role sees a graph of all rows.
ALTER TABLE edges ENABLE ROW LEVEL SECURITY;
CREATE POLICY p ON edges USING (src = 1);
SET ROLE regress_emogi_alice;
SELECT count(*) FROM emogi_bfs('edges', 1);
SELECT count(*) FROM emogi_graphs;
SELECT cache FROM emogi_runs WHERE pid = pg_backend_pid() AND username = current_user ORDER BY id DESC LIMIT 1;
SET row_security = off;
SELECT count(*) FROM emogi_graphs;
RESET row_security;
RESET ROLE;
ALTER TABLE edges DISABLE ROW LEVEL SECURITY;

-- A dropped table: its graphs have no owner, but monitors see the remaining ones; no error
-- meanwhile.
SET ROLE regress_emogi_owner;
CREATE TABLE passing (src int, dst int);
INSERT INTO passing VALUES (1, 2);
SELECT count(*) FROM emogi_bfs('passing', 1);
SELECT source FROM emogi_graphs WHERE source = 'passing';
DROP TABLE passing;
SELECT source FROM emogi_graphs WHERE source = 'passing';
SELECT count(*) FROM emogi_graphs WHERE source IS NULL OR (columns IS NULL AND relation <> 0);
RESET ROLE;
SELECT count(*) FROM emogi_graphs WHERE source = 'passing';

-- emogi_evict() evicts the caller's own graphs, for a superuser all; then the arena is empty.
SET ROLE regress_emogi_alice;
SELECT emogi_evict() > 0;
SET ROLE regress_emogi_owner;
SELECT count(*) FROM emogi_bfs('edges', 1);
SELECT emogi_evict() > 0;
SELECT count(*) FROM emogi_graphs WHERE state = 'ready';
SELECT emogi_evict();
RESET ROLE;
SELECT emogi_evict() >= 0;
DO $$ BEGIN
  FOR i IN 1 .. 200 LOOP
    EXIT WHEN 0 = (SELECT used_bytes FROM emogi_devices WHERE device = -1);
    PERFORM pg_sleep(0.01);
  END LOOP;
END $$;
SELECT used_bytes FROM emogi_devices WHERE device = -1;
SELECT graphs, bytes FROM emogi_cache;

-- By default the latest 256 runs are kept; numbers continue after a reset.
SELECT sum(rows) FROM generate_series(1, 300) i, LATERAL (SELECT count(*) AS rows FROM emogi_bfs('SELECT 1, 2', i)) r;
SELECT count(*), max(id) - min(id) FROM emogi_runs;
SELECT max(id) AS last FROM emogi_runs \gset
SELECT emogi_reset();
SELECT count(*) FROM emogi_bfs('SELECT 1, 2', 1);
SELECT id - :last FROM emogi_runs;

SET client_min_messages = warning;
DROP SCHEMA test_views CASCADE;
DROP ROLE regress_emogi_owner, regress_emogi_alice, regress_emogi_dora, regress_emogi_eve, regress_emogi_moni;
