-- emogi_prewarm: caching a graph before the first call; keeping graphs, and the privileges for
-- that.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS emogi;
DROP ROLE IF EXISTS regress_emogi_alice, regress_emogi_bob;
RESET client_min_messages;
SET emogi.incremental_min_size = '1GB';	-- graphs that track their tables: live
CREATE ROLE regress_emogi_alice;
CREATE ROLE regress_emogi_bob;
CREATE SCHEMA test_prewarm;
GRANT ALL ON SCHEMA test_prewarm TO regress_emogi_alice, regress_emogi_bob;
SET search_path = test_prewarm, public;
\pset format unaligned
\pset null (null)
SELECT emogi_evict() IS NOT NULL AS evicted;

SELECT pg_get_function_arguments(oid), pg_get_function_result(oid), provolatile, proparallel, proisstrict, proretset
  FROM pg_proc WHERE proname = 'emogi_prewarm' ORDER BY proargtypes;

CREATE TABLE edges (src int, dst int, weight float8);
INSERT INTO edges SELECT g % 300, (g * 7919) % 500, g % 50 FROM generate_series(1, 2000) g;
INSERT INTO edges VALUES (NULL, 1, 1), (7, 7, 0);

CREATE VIEW graphs AS SELECT columns, direction, backward, edges, kept FROM emogi_graphs
  WHERE source IN ('edges', 'live', 'parts') AND state = 'ready' ORDER BY columns COLLATE "C", direction, backward, edges, kept;
CREATE VIEW last_run AS SELECT function, source, status, cache FROM emogi_runs WHERE pid = pg_backend_pid() ORDER BY id DESC LIMIT 1;

-- Every direction: out, in, both, with weights, with the transposed lists; calls find the graph
-- they need.
SELECT cache, vertices, edges, bytes > 0 AS has_bytes, kept FROM emogi_prewarm('edges');
\pset tuples_only on
SELECT * FROM last_run;
SELECT cache, vertices, edges, bytes > 0, kept FROM emogi_prewarm('edges');
SELECT cache, edges FROM emogi_prewarm('edges', NULL, NULL, NULL, NULL);
SELECT count(*) > 0 FROM emogi_bfs('edges', 7);
SELECT * FROM last_run;
SELECT cache, edges FROM emogi_prewarm('edges', 'in');
SELECT count(*) > 0 FROM emogi_bfs('edges', 7, direction => 'in');
SELECT * FROM last_run;
SELECT cache, edges FROM emogi_prewarm('edges', 'both');
SELECT count(*) > 0 FROM emogi_bfs('edges', 7, direction => 'both');
SELECT * FROM last_run;
SELECT cache, edges FROM emogi_prewarm('edges', weights => true);
SELECT count(*) > 0 FROM emogi_sssp('edges', 7);
SELECT * FROM last_run;
SELECT cache, edges FROM emogi_prewarm('edges', backward => true);
SELECT count(*) > 0 FROM emogi_ssnsp('edges', 7);
SELECT * FROM last_run;
SELECT cache, edges FROM emogi_prewarm('edges', weights => true, backward => true);
SELECT count(*) > 0 FROM emogi_shortest_path('edges', 7, 9);
SELECT * FROM last_run;
SELECT cache, edges FROM emogi_prewarm('edges(dst, src)');
SELECT cache, edges FROM emogi_prewarm('edges'::regclass, columns => 'dst, src, weight', weights => true);
SELECT * FROM last_run;
SELECT emogi_evict('edges') > 0;
CREATE TABLE parts (src int, dst int) PARTITION BY RANGE (src);
CREATE TABLE parts1 PARTITION OF parts FOR VALUES FROM (0) TO (100);
CREATE TABLE parts2 PARTITION OF parts FOR VALUES FROM (100) TO (200);
INSERT INTO parts SELECT g, g + 1 FROM generate_series(0, 150) g;
SELECT cache, edges FROM emogi_prewarm('parts');
CREATE MATERIALIZED VIEW frozen AS TABLE edges;
SELECT cache, edges FROM emogi_prewarm('frozen');
CREATE TABLE nothing (src int, dst int);
SELECT cache, vertices, edges FROM emogi_prewarm('nothing');

-- Graphs that cannot be shared are not built.
CREATE FUNCTION try(command text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  detail text;
  hint text;
BEGIN
  EXECUTE command;
  RETURN 'no error';
EXCEPTION WHEN OTHERS THEN
  GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT;
  RETURN concat_ws(E'\n  ', SQLSTATE || ' ' || SQLERRM, nullif(detail, ''), nullif(hint, ''));
END $$;
CREATE VIEW seen AS SELECT src, dst FROM edges TABLESAMPLE system (50);
CREATE TEMP TABLE passing (src int, dst int);
CREATE TABLE secured (src int, dst int);
INSERT INTO secured VALUES (1, 2);
CREATE TABLE bare (src int, dst int) PARTITION BY RANGE (src);
GRANT SELECT ON secured TO regress_emogi_alice;
ALTER TABLE secured ENABLE ROW LEVEL SECURITY;
SELECT graphs FROM emogi_cache \gset before_
SELECT private_builds FROM emogi_cache \gset before_
SELECT try($$SELECT emogi_prewarm('SELECT src, dst FROM edges WHERE random() >= 0')$$);
SELECT try($$SELECT emogi_prewarm('SELECT src, dst FROM edges WHERE random() >= 0', keep => true)$$);
SELECT try($$SELECT emogi_prewarm('seen')$$);
SELECT try($$SELECT emogi_prewarm('passing')$$);
SELECT try($$SELECT emogi_prewarm('bare')$$);
SELECT try($$SELECT emogi_prewarm('pg_attribute(attnum, attlen)')$$);
SELECT try($$SELECT emogi_prewarm('emogi_runs(pid, levels)')$$);
SET ROLE regress_emogi_alice;
SELECT cache FROM emogi_prewarm('secured');
SELECT try($$SELECT emogi_prewarm('SELECT src, dst FROM secured', keep => true)$$);
RESET ROLE;
SELECT cache, kept FROM emogi_prewarm('SELECT src, dst FROM edges WHERE src > 0', keep => true);
SELECT cache, kept FROM emogi_prewarm('SELECT src, dst FROM edges WHERE src > 0', keep => false);
SELECT cache FROM emogi_prewarm('secured');
SET emogi.enable_cache = off;
SELECT try($$SELECT emogi_prewarm('edges')$$);
RESET emogi.enable_cache;
BEGIN;
INSERT INTO edges VALUES (1, 2, 3);
SELECT try($$SELECT emogi_prewarm('edges')$$);
ROLLBACK;
BEGIN ISOLATION LEVEL SERIALIZABLE;
SELECT try($$SELECT emogi_prewarm('edges')$$);
ROLLBACK;
SELECT graphs - :before_graphs AS graphs, private_builds - :before_private_builds AS private_builds FROM emogi_cache;

-- Other errors are those of a call.
SELECT try($$SELECT emogi_prewarm(NULL::text)$$);
SELECT try($$SELECT emogi_prewarm('edges', 'up')$$);
SELECT try($$SELECT emogi_prewarm('no_such')$$);
SELECT try($$SELECT emogi_prewarm('edges(src, no_such)')$$);
SELECT try($$SELECT emogi_prewarm(0::regclass)$$);
INSERT INTO edges VALUES (1, 2, NULL);
SELECT try($$SELECT emogi_prewarm('edges', weights => true)$$);
DELETE FROM edges WHERE weight IS NULL;

-- It refreshes the graph, however stale a graph calls accept.
SELECT cache, edges FROM emogi_prewarm('nothing');
INSERT INTO nothing VALUES (1, 2);
SET emogi.max_staleness = '1h';
SELECT count(*) FROM emogi_bfs('nothing', 1);
SELECT * FROM last_run;
SELECT cache, edges FROM emogi_prewarm('nothing');
RESET emogi.max_staleness;

-- Keeping: NULL leaves the mark unchanged; the next version inherits it, and the older one loses
-- it.
SELECT emogi_evict() > 0;
SELECT cache, edges, kept FROM emogi_prewarm('edges', keep => true);
SELECT cache, edges, kept FROM emogi_prewarm('edges');
SELECT cache, edges, kept FROM emogi_prewarm('edges', keep => true);
TABLE graphs;
SELECT emogi_prewarm('edges', keep => false) IS NULL;
TABLE graphs;
SELECT kept FROM emogi_prewarm('edges', keep => true);
INSERT INTO edges VALUES (1, 2, 3);
SELECT count(*) > 0 FROM emogi_bfs('edges', 7);
TABLE graphs;
SELECT cache, kept FROM emogi_prewarm('edges');

-- A graph with other lists, or fewer columns, is not the next version: the mark stays with the
-- older one.
SELECT kept FROM emogi_prewarm('edges', 'both', weights => true, keep => true);
SELECT kept FROM emogi_prewarm('edges', keep => false);
INSERT INTO edges VALUES (2, 3, 4);
SELECT kept FROM emogi_prewarm('edges');
SELECT kept FROM emogi_prewarm('edges', 'both');
TABLE graphs;
SELECT kept FROM emogi_prewarm('edges', 'both', weights => true);
TABLE graphs;
-- A graph with more of both is.
INSERT INTO edges VALUES (2, 4, 4);
SELECT kept FROM emogi_prewarm('edges', 'in', keep => true);
INSERT INTO edges VALUES (2, 5, 4);
SELECT kept FROM emogi_prewarm('edges', 'out', weights => true, backward => true);
SELECT kept FROM emogi_prewarm('edges', 'in');
-- After a rewrite or TRUNCATE the next version is kept, too.
VACUUM FULL edges;
SELECT cache, kept FROM emogi_prewarm('edges', 'in', weights => true, backward => true);
TRUNCATE edges;
SELECT cache, edges, kept FROM emogi_prewarm('edges', 'in', weights => true, backward => true);
-- emogi_evict() and DROP remove the mark.
SELECT emogi_evict('edges') > 0;
SELECT cache, kept FROM emogi_prewarm('edges', 'in', weights => true, backward => true);
SELECT kept FROM emogi_prewarm('edges', 'in', keep => true);
DROP TABLE edges CASCADE;
TABLE graphs;

-- With and without tracking of the table.
SET emogi.incremental_min_size = 0;
CREATE TABLE live AS SELECT g / 2 AS src, g AS dst FROM generate_series(2, 20000) g;
SELECT cache, edges, kept FROM emogi_prewarm('live', keep => true);
INSERT INTO live VALUES (1, 77);
SELECT cache, edges, kept FROM emogi_prewarm('live');
DELETE FROM live WHERE dst = 77 AND src = 1;
SELECT count(*) FROM emogi_pagerank('live');
SELECT * FROM last_run;
SELECT edges, kept FROM graphs WHERE kept;
SELECT cache, edges, kept FROM emogi_prewarm('live', 'in');
UPDATE live SET dst = 78 WHERE dst = 9;
SELECT cache, edges, kept FROM emogi_prewarm('live', 'in');
SELECT edges, direction, kept FROM graphs WHERE kept;
SELECT cache, edges, kept FROM emogi_prewarm('live');
SET emogi.enable_incremental = off;
INSERT INTO live VALUES (1, -3);
SELECT cache, edges, kept FROM emogi_prewarm('live');
SELECT direction, edges FROM graphs WHERE kept;
RESET emogi.enable_incremental;
SET emogi.incremental_min_size = '1GB';

INSERT INTO parts VALUES (150, 7);
SELECT edges, kept FROM emogi_prewarm('parts', keep => true);

-- Privileges: those of a SELECT to load, ownership to keep or release.
GRANT SELECT ON live TO regress_emogi_alice;
GRANT regress_emogi_bob TO regress_emogi_alice;
SET ROLE regress_emogi_alice;
SELECT cache, edges, kept FROM emogi_prewarm('live');
SELECT try($$SELECT emogi_prewarm('live', keep => true)$$);
SELECT try($$SELECT emogi_prewarm('live', keep => false)$$);
SELECT try($$SELECT emogi_prewarm('live'::regclass, keep => false)$$);
SELECT try($$SELECT emogi_prewarm('parts')$$);
SELECT try($$SELECT emogi_prewarm('parts', keep => true)$$);
CREATE TABLE own (src int, dst int);
INSERT INTO own VALUES (1, 2);
SELECT kept FROM emogi_prewarm('own', keep => true);
RESET ROLE;
ALTER TABLE own OWNER TO regress_emogi_bob;
SET ROLE regress_emogi_alice;
SELECT kept FROM emogi_prewarm('own', keep => false);
RESET ROLE;
SELECT kept FROM emogi_prewarm('own', keep => true);

-- Rejected in a parallel worker, and as rows of a query.
SELECT n.relname, p.kept FROM pg_class n, LATERAL emogi_prewarm(n.oid::regclass) p WHERE n.relname IN ('own', 'live') ORDER BY 1;
PREPARE warm(text, boolean) AS SELECT edges, kept FROM emogi_prewarm($1, keep => $2);
EXECUTE warm('own', false);
EXECUTE warm('own', NULL);
SELECT (emogi_prewarm('own')).kept;

SET client_min_messages = warning;
DROP SCHEMA test_prewarm CASCADE;
DROP ROLE regress_emogi_alice, regress_emogi_bob;
