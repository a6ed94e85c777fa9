-- The shared cache: which graphs are cached, which calls a cached graph can serve, and who can see
-- and evict it.
SET emogi.incremental_min_size = '1GB';	-- tracking of tables is tested by live
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS emogi;
CREATE EXTENSION file_fdw;
DROP ROLE IF EXISTS regress_emogi_owner, regress_emogi_alice, regress_emogi_bob, regress_emogi_free, regress_emogi_monitor;
RESET client_min_messages;
CREATE ROLE regress_emogi_owner;
CREATE ROLE regress_emogi_alice;
CREATE ROLE regress_emogi_bob;
CREATE ROLE regress_emogi_free BYPASSRLS;
CREATE ROLE regress_emogi_monitor IN ROLE pg_monitor;
CREATE SCHEMA test_cache AUTHORIZATION regress_emogi_owner;
GRANT USAGE, CREATE ON SCHEMA test_cache TO PUBLIC;
SET search_path = test_cache, public;
\pset format unaligned
\pset tuples_only on
\pset null (null)
\set VERBOSITY sqlstate

-- answer(): the vertices and levels, and the source of the graph; last(): the source of the last
-- call's graph.
CREATE FUNCTION last() RETURNS text LANGUAGE sql VOLATILE AS
  $$ SELECT cache FROM public.emogi_runs WHERE pid = pg_backend_pid() ORDER BY id DESC LIMIT 1 $$;
CREATE FUNCTION answer(graph text, source bigint DEFAULT 1, direction text DEFAULT 'out') RETURNS text LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  rows text;
BEGIN
  SELECT string_agg(vertex || ':' || level, ' ') INTO rows FROM public.emogi_bfs(graph, source, direction => direction);
  RETURN coalesce(rows, 'no rows') || ', ' || last();
END $$;
CREATE VIEW graphs AS
  SELECT source, columns, direction, state, vertices, edges, skipped_rows, pins, hits FROM emogi_graphs
  WHERE database = current_database() ORDER BY source, columns, direction, built_at;
GRANT SELECT ON graphs TO PUBLIC;
SELECT emogi_evict() IS NOT NULL;
SELECT emogi_reset();
CREATE VIEW counted AS SELECT graphs, hits, builds, private_builds, waits, evictions FROM emogi_cache;
SELECT * FROM counted;

-- The first call builds, the others have hits, as views and counters show.
CREATE TABLE edges (src int, dst int, weight float8);
INSERT INTO edges VALUES (1, 2, 1), (2, 3, 2), (1, 4, 0.5), (4, 5, 8), (NULL, 6, 1), (7, NULL, 1);
SELECT answer('edges');
SELECT answer('edges');
SELECT answer('edges', 4);
SELECT answer('edges(src, dst)');
SELECT answer('test_cache.edges');
SELECT * FROM graphs;
SELECT bytes > 0, build_ms >= 0, built_at <= last_used, last_used <= clock_timestamp(), relation = 'edges'::regclass FROM emogi_graphs WHERE source = 'edges';
SELECT * FROM counted;
SELECT bytes = (SELECT sum(bytes) FROM emogi_graphs), bytes <= (SELECT used_bytes FROM emogi_devices WHERE device = -1), allowed_bytes = (SELECT memory_bytes FROM emogi_devices WHERE device = -1), reset_at <= now()
  FROM emogi_cache;
SELECT function, source, status, cache, vertices, edges, reached, levels, rows FROM emogi_runs WHERE pid = pg_backend_pid() ORDER BY id DESC LIMIT 1;
-- Two calls in one statement, a prepared call, one in a subtransaction.
SELECT count(*) FROM emogi_bfs('edges', 1) a JOIN emogi_bfs('edges', 4) b USING (vertex);
PREPARE look AS SELECT count(*), last() FROM emogi_bfs('edges', 1);
EXECUTE look;
EXECUTE look;
SET plan_cache_mode = force_generic_plan;
EXECUTE look;
RESET plan_cache_mode;
DEALLOCATE look;
BEGIN;
SAVEPOINT s;
SELECT answer('edges');
ROLLBACK TO s;
SELECT answer('edges');
COMMIT;
SELECT hits FROM graphs;
SELECT * FROM counted;
-- A call with empty input, and a failing one.
SELECT count(*) FROM emogi_bfs('edges', NULL::bigint);
SELECT count(*) FROM emogi_bfs('edges', 99);
SELECT count(*) FROM emogi_bfs('edges', 1, -1);
SELECT count(*) FROM emogi_bfs('edges', 1, direction => 'up');
SELECT count(*) FROM emogi_bfs('edges', 1) LIMIT 0;
SELECT answer('edges');

-- The setting emogi.enable_cache.
SHOW emogi.enable_cache;
SET emogi.enable_cache = off;
SELECT answer('edges');
SELECT answer('edges(dst, src)', 3);
SELECT * FROM graphs;
RESET emogi.enable_cache;
SELECT answer('edges');
BEGIN;
SET LOCAL emogi.enable_cache = off;
SELECT answer('edges');
COMMIT;
SELECT answer('edges');
SET emogi.enable_cache = maybe;

-- A graph with changes of the own transaction is private until its end.
BEGIN;
SELECT answer('edges');
INSERT INTO edges VALUES (5, 9, 1);
SELECT answer('edges');
SAVEPOINT s;
DELETE FROM edges WHERE src = 1;
SELECT answer('edges', 4);
ROLLBACK TO s;
SELECT answer('edges', 4);
ROLLBACK;
SELECT answer('edges');
BEGIN;
TRUNCATE edges;
SELECT answer('edges');
ROLLBACK;
SELECT answer('edges');
BEGIN;
CREATE TABLE mine AS SELECT 1 AS src, 2 AS dst;
SELECT answer('mine');
SELECT answer('mine');
COMMIT;
SELECT answer('mine');
SELECT answer('mine');
DROP TABLE mine;
SELECT answer('edges');

-- Kinds of transactions.
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT answer('edges');
COMMIT;
BEGIN READ ONLY;
SELECT answer('edges');
COMMIT;
BEGIN ISOLATION LEVEL SERIALIZABLE;
SELECT answer('edges');
SELECT answer('edges');
COMMIT;
BEGIN ISOLATION LEVEL SERIALIZABLE READ ONLY;
SELECT answer('edges');
COMMIT;
SELECT answer('edges');

-- Sources that are never cached: temporary tables, system catalogs, foreign tables. Queries and
-- views are, see queries.sql.
CREATE TEMP TABLE light AS SELECT 1 AS src, 2 AS dst;
SELECT answer('light');
SELECT answer('light');
CREATE TEMP TABLE edges AS SELECT 1 AS src, 77 AS dst;
SELECT answer('edges');
SELECT answer('test_cache.edges');
DROP TABLE pg_temp.edges;
SELECT answer('edges');
SELECT count(*) > 1 FROM emogi_bfs('pg_attribute(attnum, attlen)', 1);
SELECT count(*) FROM emogi_bfs('pg_attribute(attnum, attlen)', 1) HAVING false;
SELECT last();
SELECT answer('SELECT src, dst FROM edges');
SELECT answer('SELECT src, dst FROM edges');
CREATE VIEW edge_view AS SELECT src, dst FROM edges;
SELECT answer('edge_view');
SELECT answer('edge_view');
CREATE SERVER cache_files FOREIGN DATA WRAPPER file_fdw;
CREATE FOREIGN TABLE far (src int, dst int) SERVER cache_files OPTIONS (program 'printf "1,2\n4,8\n"', format 'csv');
SELECT answer('far');
SELECT answer('far');
SELECT source FROM graphs;

-- Other kinds of relations that are cached: materialized views, unlogged tables, inheritance
-- children, partitions.
CREATE MATERIALIZED VIEW seen AS SELECT src, dst FROM edges;
SELECT answer('seen');
SELECT answer('seen');
INSERT INTO edges VALUES (3, 10, 1);
SELECT answer('seen');
REFRESH MATERIALIZED VIEW seen;
SELECT answer('seen');
SELECT answer('seen');
SELECT answer('edges');
SELECT answer('edges');
CREATE UNLOGGED TABLE unlogged AS SELECT 1 AS src, 2 AS dst;
SELECT answer('unlogged');
SELECT answer('unlogged');
CREATE TABLE parent (src int, dst int);
CREATE TABLE child (x int) INHERITS (parent);
INSERT INTO parent VALUES (1, 2);
INSERT INTO child VALUES (2, 3, 0);
SELECT answer('parent');
SELECT answer('parent');
SELECT answer('child', 2);
SELECT answer('child', 2);
INSERT INTO child VALUES (3, 4, 0);
SELECT answer('parent');
SELECT answer('parent');
CREATE TABLE parts (src int, dst int, weight int) PARTITION BY RANGE (src);
CREATE TABLE part1 PARTITION OF parts FOR VALUES FROM (0) TO (2);
CREATE TABLE part2 (weight int, gone text, dst int, src int);
ALTER TABLE part2 DROP gone;
ALTER TABLE parts ATTACH PARTITION part2 FOR VALUES FROM (2) TO (4);
SELECT answer('parts');
INSERT INTO parts VALUES (1, 2, 1), (2, 3, 1);
SELECT answer('parts');
SELECT answer('parts');
SELECT answer('part2', 2);
SELECT answer('part2', 2);
INSERT INTO part1 VALUES (1, 3, 1);
SELECT answer('parts');
SELECT answer('part2', 2);
-- emogi_evict() of a partition also evicts the graph of the whole table.
SELECT emogi_evict('part1') > 0 AS evicted;
SELECT answer('parts');
SELECT answer('part2', 2);
-- Other columns make another graph.
CREATE TABLE columns (src int, dst int, other int);
INSERT INTO columns VALUES (1, 2, 3);
SELECT answer('columns');
SELECT answer('columns(src, other)');
SELECT answer('columns(other, dst)', 3);
SELECT answer('columns(src, other)');
SELECT answer('columns');
DROP TABLE columns;
CREATE FOREIGN TABLE part3 PARTITION OF parts FOR VALUES FROM (4) TO (5) SERVER cache_files OPTIONS (program 'printf "4,8,1\n"', format 'csv');
INSERT INTO parts VALUES (3, 4, 1);
SELECT answer('parts');
SELECT answer('parts');
DROP FOREIGN TABLE part3;
SELECT answer('parts');
SELECT answer('parts');
-- Many leaves. An empty one changes nothing.
CREATE TABLE many (src int, dst int) PARTITION BY RANGE (src);
DO $$ BEGIN
  FOR i IN 0 .. 511 LOOP EXECUTE format('CREATE TABLE many%s PARTITION OF many FOR VALUES FROM (%s) TO (%s)', i, i, i + 1); END LOOP;
END $$;
INSERT INTO many SELECT i, i + 1 FROM generate_series(0, 511) i;
SELECT count(*), last() FROM emogi_bfs('many', 500);
SELECT answer('many', 505);
SELECT answer('many', 505);
INSERT INTO many511 VALUES (511, 600);
SELECT answer('many', 509);
SELECT answer('many', 509);
CREATE TABLE many512 PARTITION OF many FOR VALUES FROM (512) TO (513);
SELECT answer('many', 509);
INSERT INTO many VALUES (512, 513);
SELECT answer('many', 509);
SELECT answer('many', 509);
DROP TABLE many;
-- Graphs of queries may have been evicted: no snapshot sees their rows any longer.
SELECT source, columns, direction FROM graphs WHERE columns IS NOT NULL;

-- Columns and weights: a graph with weights serves calls that need none, but not vice versa.
SELECT emogi_evict() > 0;
SELECT * FROM graphs;
SELECT string_agg(vertex || ':' || distance, ' '), last() FROM emogi_sssp('edges', 1);
SELECT last();
SELECT answer('edges');
SELECT count(*) FROM emogi_sssp('edges', 1);
SELECT last();
SELECT * FROM graphs;
SELECT emogi_evict('edges') > 0;
SELECT answer('edges');
SELECT count(*) FROM emogi_sssp('edges', 1);
SELECT last();
SELECT answer('edges');
SELECT answer('edges(dst, src)', 3);
SELECT answer('edges(dst, src)', 3);
SELECT count(*) FROM emogi_sssp('edges(src, dst, src)', 1);
SELECT last();
SELECT count(*) FROM emogi_sssp('edges(src, dst, weight)', 1);
SELECT last();
SELECT columns, direction FROM graphs;

-- Directions: derived from the cached graph, without reading the table again.
SELECT emogi_evict() > 0;
CREATE TABLE wide AS SELECT i AS src, i * 7 % 20001 AS dst, i % 5 AS weight FROM generate_series(1, 20000) i;
CREATE FUNCTION rows_read(name text) RETURNS bigint LANGUAGE sql VOLATILE AS
  $$ SELECT seq_tup_read FROM pg_stat_xact_user_tables WHERE schemaname = 'test_cache' AND relname = name $$;
CREATE FUNCTION summary(graph text, direction text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  before bigint := rows_read(graph);
  rows text;
BEGIN
  SELECT concat_ws(' ', count(*), sum(level), sum(vertex * level)) INTO rows FROM public.emogi_bfs(graph, 1, direction => direction);
  RETURN format('%s, %s, rows read: %s', rows, last(), rows_read(graph) - before);
END $$;
SET emogi.enable_cache = off;
SELECT direction, summary('wide', direction) FROM unnest(ARRAY['out', 'in', 'both']) direction;
RESET emogi.enable_cache;
SELECT direction, summary('wide', direction) FROM unnest(ARRAY['out', 'in', 'both']) direction;
SELECT direction, summary('wide', direction) FROM unnest(ARRAY['out', 'in', 'both']) direction;
SELECT count(*), sum(distance), last() FROM emogi_sssp('wide', 1, direction => 'in');
SELECT last();
SELECT direction, summary('wide', direction) FROM unnest(ARRAY['in', 'both', 'out']) direction;
INSERT INTO wide VALUES (30000, 1, 1);
SELECT direction, summary('wide', direction) FROM unnest(ARRAY['both', 'in', 'out']) direction;

-- Every function returns the same with a hit and without.
CREATE TABLE kinds AS SELECT * FROM (VALUES
  ('bfs out', 'SELECT vertex, level::float8 FROM emogi_bfs($1, 1)'),
  ('bfs in', 'SELECT vertex, level FROM emogi_bfs($1, 1, direction => ''in'')'),
  ('bfs both', 'SELECT vertex, level FROM emogi_bfs($1, ARRAY[1, 50], direction => ''both'')'),
  ('sssp out', 'SELECT vertex, distance FROM emogi_sssp($1, 1)'),
  ('sssp in', 'SELECT vertex, distance FROM emogi_sssp($1, 1, direction => ''in'')'),
  ('sssp both', 'SELECT vertex, distance FROM emogi_sssp($1, 1, 20, direction => ''both'')'),
  ('sswp out', 'SELECT vertex, width FROM emogi_sswp($1, 1)'),
  ('sswp in', 'SELECT vertex, width FROM emogi_sswp($1, 1, direction => ''in'')'),
  ('ssnsp', 'SELECT vertex, paths FROM emogi_ssnsp($1, 1)'),
  ('ssnsp both', 'SELECT vertex, paths FROM emogi_ssnsp($1, 1, direction => ''both'')'),
  ('cc', 'SELECT vertex, component::float8 FROM emogi_cc($1)'),
  ('pagerank', 'SELECT vertex, rank FROM emogi_pagerank($1)'),
  ('heat', 'SELECT vertex, value FROM emogi_heat($1, ''VALUES (1, 100), (2, 0)'', max_iterations => 5)'),
  ('circuit', 'SELECT vertex, value FROM emogi_circuit($1, ''VALUES (1, 5), (2, 0)'')'),
  ('neural', 'SELECT vertex, value FROM emogi_neural($1, ''VALUES (1, 0.5)'')'),
  ('path', 'SELECT seq, distance FROM emogi_shortest_path($1, 1, 100)')) k (name, query);
CREATE FUNCTION run(query text, graph text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  rows text;
BEGIN
  EXECUTE format('SELECT concat_ws('' '', count(*), md5(string_agg(r::text, '' '' ORDER BY r))) FROM (%s) r', replace(query, '$1', quote_literal(graph))) INTO rows;
  RETURN rows;
END $$;
CREATE TABLE random AS SELECT (hashint4(i) & 255) AS src, (hashint4(-i) & 255) AS dst, 1 + (hashint4(i * 7) & 7) AS weight FROM generate_series(1, 1500) i;
CREATE TABLE without AS SELECT src, dst FROM random;
CREATE TABLE answers AS SELECT name, query, graph, NULL::text AS answer FROM kinds, unnest(ARRAY['random', 'without']) graph;
SET emogi.enable_cache = off;
UPDATE answers SET answer = run(query, graph);
RESET emogi.enable_cache;
SELECT emogi_evict() > 0;
SELECT count(*) FILTER (WHERE answer NOT LIKE '0 %') FROM answers;
-- In order, and then in reverse order so that other graphs come first; twice each.
SELECT graph, name FROM (SELECT * FROM answers ORDER BY graph, name OFFSET 0) a WHERE run(query, graph) <> answer;
SELECT graph, name FROM (SELECT * FROM answers ORDER BY graph, name OFFSET 0) a WHERE run(query, graph) <> answer;
SELECT emogi_evict() > 0;
SELECT graph, name FROM (SELECT * FROM answers ORDER BY graph, name DESC OFFSET 0) a WHERE run(query, graph) <> answer;
SELECT graph, name FROM (SELECT * FROM answers ORDER BY graph, name DESC OFFSET 0) a WHERE run(query, graph) <> answer;
DO $$
DECLARE
  r record;
BEGIN
  FOR r IN SELECT * FROM answers ORDER BY graph, name LOOP
    IF r.answer <> run(r.query, r.graph) OR last() <> 'hit' THEN RAISE INFO '% %: %', r.name, r.graph, last(); END IF;
  END LOOP;
END $$;

-- Weights that one function accepts and another rejects: the same error whether the graph is cached
-- or not.
CREATE TABLE negative (src int, dst int, weight float8);
INSERT INTO negative VALUES (1, 2, 1), (2, 3, -0.5), (1, 3, 2);
SELECT count(*) FROM emogi_sssp('negative', 1);
SELECT count(*) FROM emogi_sswp('negative', 1);
SELECT count(*) FROM emogi_neural('negative', 'VALUES (1, 1)');
SELECT last();
SELECT count(*) FROM emogi_neural('negative', 'VALUES (1, 1)');
SELECT last();
SELECT count(*) FROM emogi_sssp('negative', 1);
SELECT count(*) FROM emogi_sssp('negative', 1, direction => 'in');
SELECT count(*) FROM emogi_sswp('negative', 1);
SELECT count(*) FROM emogi_shortest_path('negative', 1, 3);
SELECT count(*) FROM emogi_heat('negative', 'VALUES (1, 1)', max_iterations => 5);
SELECT count(*) FROM emogi_circuit('negative', 'VALUES (1, 1), (2, 0)');
SELECT answer('negative');
SELECT count(*) FROM emogi_neural('negative', 'VALUES (1, 1)');
SELECT last();
UPDATE negative SET weight = 'Infinity' WHERE weight < 0;
SELECT count(*) FROM emogi_neural('negative', 'VALUES (1, 1)');
SELECT string_agg(vertex || ':' || distance, ' ') FROM emogi_sssp('negative', 1);
SELECT count(*) FROM emogi_neural('negative', 'VALUES (1, 1)');
SELECT string_agg(vertex || ':' || distance, ' ') FROM emogi_sssp('negative', 1);
SELECT last();
UPDATE negative SET weight = 'NaN' WHERE weight = 'Infinity';
SELECT answer('negative');
SELECT count(*) FROM emogi_sssp('negative', 1);
SELECT count(*) FROM emogi_neural('negative', 'VALUES (1, 1)');
UPDATE negative SET weight = NULL WHERE weight = 'NaN';
SELECT count(*) FROM emogi_sssp('negative', 1);
SELECT count(*) FROM emogi_neural('negative', 'VALUES (1, 1)');
SELECT answer('negative');
UPDATE negative SET weight = 3 WHERE weight IS NULL;
SELECT string_agg(vertex || ':' || distance, ' ') FROM emogi_sssp('negative', 1);
SELECT count(*) FROM emogi_neural('negative', 'VALUES (1, 1)');
SELECT last();
-- Negative zero is not a negative weight; weights in tables without a weight column are 1.
UPDATE negative SET weight = '-0';
SELECT string_agg(vertex || ':' || distance, ' ') FROM emogi_sssp('negative', 1);
SELECT string_agg(vertex || ':' || distance, ' ') FROM emogi_sssp('without', 1, 1);
SELECT last();

-- Privileges are checked at every call, cached or not.
SET ROLE regress_emogi_owner;
CREATE TABLE guarded (src int, dst int, owner name DEFAULT 'regress_emogi_alice', weight int DEFAULT 1);
INSERT INTO guarded VALUES (1, 2), (2, 3);
INSERT INTO guarded VALUES (1, 4, 'regress_emogi_bob');
SELECT answer('guarded');
SELECT answer('guarded');
SET ROLE regress_emogi_alice;
SELECT answer('guarded');
SELECT * FROM graphs;
SELECT count(*) FROM emogi_runs WHERE source = 'guarded';
SET ROLE regress_emogi_owner;
GRANT SELECT (src, dst) ON guarded TO regress_emogi_alice;
SET ROLE regress_emogi_alice;
SELECT answer('guarded');
SELECT count(*) FROM emogi_sssp('guarded', 1);
SELECT source, columns FROM graphs;
SELECT function, status, cache, username FROM emogi_runs WHERE source = 'guarded' ORDER BY id;
SET ROLE regress_emogi_owner;
SELECT count(*) FROM emogi_sssp('guarded', 1);
SET ROLE regress_emogi_alice;
SELECT count(*) FROM emogi_sssp('guarded', 1);
SELECT answer('guarded');
SELECT source, columns FROM graphs;
SET ROLE regress_emogi_owner;
REVOKE SELECT (src, dst) ON guarded FROM regress_emogi_alice;
SET ROLE regress_emogi_alice;
SELECT answer('guarded');
SELECT source, columns FROM graphs;
-- Seeing all graphs requires pg_monitor, which does not permit calls.
SET ROLE regress_emogi_monitor;
SELECT source, columns FROM graphs WHERE source LIKE '%guarded';
SELECT count(DISTINCT username) > 1 FROM emogi_runs WHERE source = 'guarded';
SELECT answer('guarded');
-- Evicting requires ownership.
SELECT emogi_evict('guarded');
SET ROLE regress_emogi_alice;
SELECT emogi_evict('guarded');
CREATE TABLE own AS SELECT 1 AS src, 2 AS dst;
SELECT answer('own');
SELECT emogi_evict() > 0;
SELECT answer('own');
SET ROLE regress_emogi_owner;
SELECT answer('guarded');
SELECT emogi_evict('guarded') > 0;
SELECT emogi_evict('guarded');
SELECT answer('guarded');
SET ROLE regress_emogi_alice;
SELECT emogi_reset();
SET emogi.fault = 'registration_rule=0';
SET emogi.enable_cache = off;
RESET emogi.enable_cache;
SELECT emogi_evict() > 0;
RESET ROLE;
DROP TABLE own;

-- Row security: roles subject to it have graphs of their own; see query_rights.sql.
GRANT SELECT ON guarded TO PUBLIC;
SET ROLE regress_emogi_bob;
SELECT answer('guarded');
SET ROLE regress_emogi_owner;
ALTER TABLE guarded ENABLE ROW LEVEL SECURITY;
CREATE POLICY own ON guarded USING (owner = current_user);
SELECT answer('guarded');
SELECT answer('guarded');
SET ROLE regress_emogi_alice;
SELECT answer('guarded');
SELECT answer('guarded');
SELECT source FROM graphs;
SET ROLE regress_emogi_bob;
SELECT answer('guarded');
SET ROLE regress_emogi_free;
SELECT answer('guarded');
SET ROLE regress_emogi_owner;
SELECT answer('guarded');
ALTER TABLE guarded FORCE ROW LEVEL SECURITY;
SELECT answer('guarded');
SELECT answer('guarded');
ALTER TABLE guarded NO FORCE ROW LEVEL SECURITY;
SELECT answer('guarded');
SELECT answer('guarded');
ALTER TABLE guarded DISABLE ROW LEVEL SECURITY;
SET ROLE regress_emogi_bob;
SELECT answer('guarded') ~ '^1:0 2:1 3:2 4:1, (built|hit)$';
SELECT answer('guarded');
RESET ROLE;
SET row_security = off;
SELECT answer('guarded');
RESET row_security;

-- Eviction: graphs in use stay correct; names of objects that cannot be cached.
SELECT answer('edges');
BEGIN;
DECLARE c CURSOR FOR SELECT * FROM emogi_bfs('edges', 1);
FETCH 1 FROM c;
SELECT emogi_evict('edges') >= 0;
FETCH ALL FROM c;
SELECT answer('edges');
COMMIT;
SELECT answer('edges');
SELECT vertex FROM emogi_bfs('edges', 1) WHERE emogi_evict('edges') >= 0 ORDER BY 1;
SELECT answer('edges');
SELECT emogi_evict('nowhere');
SELECT emogi_evict('edges(src, dst)') > 0;
SELECT answer('edges');
SELECT emogi_evict('edge_view');
SELECT answer('parts');
SELECT emogi_evict('parts') > 0;
SELECT answer('parts');

-- Dropped tables.
CREATE TABLE brief AS SELECT 1 AS src, 2 AS dst;
SELECT answer('brief');
SELECT answer('brief');
DROP TABLE brief;
SELECT answer('brief');
SELECT source FROM graphs WHERE source = 'brief';
CREATE TABLE brief AS SELECT 1 AS src, 3 AS dst;
SELECT answer('brief');
SELECT answer('brief');

-- Estimates.
CREATE TABLE counted_edges AS SELECT i AS src, i + 1 AS dst, 1 AS weight FROM generate_series(1, 10000) i;
ANALYZE counted_edges;
SELECT edges, vertices BETWEEN 9000 AND 21000, graph_bytes > 0, peak_bytes >= graph_bytes, allowed_bytes = (SELECT memory_bytes FROM emogi_devices WHERE device = -1), fits FROM emogi_estimate('counted_edges');
SELECT a.graph_bytes <= b.graph_bytes AND b.graph_bytes <= b.peak_bytes FROM emogi_estimate('counted_edges') a, emogi_estimate('counted_edges', weights => true) b;
SELECT a.graph_bytes <= b.graph_bytes AND b.graph_bytes <= b.peak_bytes FROM emogi_estimate('counted_edges') a, emogi_estimate('counted_edges', direction => 'both') b;
SET ROLE regress_emogi_alice;
SELECT edges FROM emogi_estimate('counted_edges');
SELECT edges FROM emogi_estimate('nowhere');
RESET ROLE;

-- The arena is empty.
SELECT emogi_evict() > 0;
SELECT emogi_evict();
SELECT count(*) FROM emogi_graphs;
SELECT graphs, bytes FROM emogi_cache;
DO $$ BEGIN
  FOR i IN 1 .. 200 LOOP
    EXIT WHEN 0 = (SELECT used_bytes FROM emogi_devices WHERE device = -1);
    PERFORM pg_sleep(0.01);
  END LOOP;
END $$;
SELECT used_bytes FROM emogi_devices WHERE device = -1;

SET client_min_messages = warning;
DROP SCHEMA test_cache CASCADE;
DROP EXTENSION file_fdw CASCADE;
DROP ROLE regress_emogi_owner, regress_emogi_alice, regress_emogi_bob, regress_emogi_free, regress_emogi_monitor;
