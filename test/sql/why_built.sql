-- Reasons why calls build their graphs instead of finding or refreshing them: emogi_runs.why_built,
-- and EXPLAIN.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS emogi;
DROP SCHEMA IF EXISTS test_why_built CASCADE;
RESET client_min_messages;
CREATE SCHEMA test_why_built;
SET search_path = test_why_built, public;
SET emogi.enable_cache = on;
\pset format unaligned
\pset tuples_only on
\pset null (null)

-- The last call: the source of its graph, and why it was built.
CREATE VIEW last_call AS SELECT cache, why_built FROM emogi_runs WHERE pid = pg_backend_pid() ORDER BY id DESC LIMIT 1;
-- Call for all vertices, and show the last call.
CREATE FUNCTION call(graph text, direction text DEFAULT 'both') RETURNS SETOF last_call LANGUAGE plpgsql AS $$
BEGIN
	PERFORM count(*) FROM emogi_degree(graph, direction => call.direction);
	RETURN QUERY SELECT * FROM last_call;
END $$;

CREATE FUNCTION call_text(graph text) RETURNS SETOF last_call LANGUAGE plpgsql AS $$
BEGIN
	PERFORM count(*) FROM emogi_degree_text(graph);
	RETURN QUERY SELECT * FROM last_call;
END $$;

-- Nothing is cached; the second call finds the graph, and has no reason.
CREATE TABLE edges (src int, dst int, weight float8);
INSERT INTO edges SELECT i, i % 100, 1 FROM generate_series(1, 1000) i;
SELECT * FROM call('edges');
SELECT * FROM call('edges');
SELECT emogi_evict('edges') >= 0;
SELECT * FROM call('edges');

-- A refreshed graph has no reason, nor has a private one.
INSERT INTO edges VALUES (1, 2, 1);
SELECT * FROM call('edges');
SET emogi.enable_cache = off;
SELECT * FROM call('edges');
SET emogi.enable_cache = on;

-- Another direction, other columns, weights.
SELECT * FROM call('edges', 'out');
SELECT * FROM call('edges(dst, src)');
SELECT count(*) FROM emogi_sssp('edges(dst, src, weight)', 1, max_distance => 100000);
SELECT * FROM last_call;

-- Not refreshed: too many changes, or pages; or rewritten, with as many pages.
CREATE TABLE large (src int, dst int);
INSERT INTO large SELECT i, i % 100 FROM generate_series(1, 100000) i;
SELECT * FROM call('large');
UPDATE large SET dst = dst + 1;
SELECT * FROM call('large');
INSERT INTO large SELECT i, i % 100 FROM generate_series(1, 100000) i;
SELECT * FROM call('large');
VACUUM FULL large;
SELECT * FROM call('large');
TRUNCATE large;
SELECT * FROM call('large');
CREATE TABLE many (src int, dst int);
INSERT INTO many SELECT i, i % 100 FROM generate_series(1, 170000) i;
SELECT * FROM call('many');
DELETE FROM many WHERE src > 70000;
SELECT * FROM call('many');

-- Not refreshed: a new key too wide for the change tracker.
CREATE TABLE wide (src bigint, dst bigint);
INSERT INTO wide VALUES (1, 2), (2, 3);
SELECT * FROM call('wide');
INSERT INTO wide VALUES (3, 4000000000000000000);
SELECT * FROM call('wide');

-- Not refreshed: the change tracker has been refreshed for graphs of another direction, with too many changes for its log.
CREATE TABLE logged (src int, dst int);
INSERT INTO logged SELECT i, i % 100 FROM generate_series(1, 10000) i;
SELECT * FROM call('logged');
SELECT * FROM call('logged', 'out');
DELETE FROM logged WHERE src <= 2000;
SELECT * FROM call('logged');
DELETE FROM logged WHERE src <= 4000;
SELECT * FROM call('logged');
SELECT * FROM call('logged', 'out');

-- Not refreshed: the dictionary is full.
CREATE TABLE names (src text, dst text);
INSERT INTO names VALUES ('a', 'b');
SELECT * FROM call_text('names');
INSERT INTO names SELECT 'a', 'a' || i FROM generate_series(1, 5000) i;
SELECT * FROM call_text('names');

-- Not tracked: unlogged, equal keys with different bytes, small, queries, and by a setting.
CREATE UNLOGGED TABLE unlogged AS SELECT src, dst FROM edges;
SELECT * FROM call('unlogged');
INSERT INTO unlogged VALUES (1, 3);
SELECT * FROM call('unlogged');
CREATE TABLE numbers (src numeric, dst numeric);
INSERT INTO numbers VALUES (1, 2), (2.0, 3);
SELECT * FROM call_text('numbers');
INSERT INTO numbers VALUES (3, 4);
SELECT * FROM call_text('numbers');
SELECT * FROM call('SELECT DISTINCT src, dst FROM edges');
INSERT INTO edges VALUES (1, 3, 1);
SELECT * FROM call('SELECT DISTINCT src, dst FROM edges');
CREATE TABLE small (src int, dst int);
INSERT INTO small VALUES (1, 2);
SET emogi.incremental_min_size = '1MB';
SELECT * FROM call('small');
INSERT INTO small VALUES (2, 3);
SELECT * FROM call('small');
RESET emogi.incremental_min_size;
INSERT INTO small VALUES (3, 4);
SELECT * FROM call('small');
SET emogi.enable_incremental = off;
INSERT INTO small VALUES (4, 5);
SELECT * FROM call('small');
RESET emogi.enable_incremental;

-- Conditions: there is a change tracker from the second build on, unless an index makes a build
-- cheaper.
SELECT * FROM call('edges WHERE src > 10');
INSERT INTO edges VALUES (11, 3, 1);
SELECT * FROM call('edges WHERE src > 10');
INSERT INTO edges VALUES (11, 4, 1);
SELECT * FROM call('edges WHERE src > 10');
CREATE INDEX ON many (src);
ANALYZE many;
SELECT * FROM call('many WHERE src = 5');
INSERT INTO many VALUES (5, 77);
SELECT * FROM call('many WHERE src = 5');
INSERT INTO many VALUES (5, 78);
SELECT * FROM call('many WHERE src = 5');

-- Partitions: one that is no longer empty.
CREATE UNLOGGED TABLE part1 (src int, dst int);
CREATE UNLOGGED TABLE part2 (src int, dst int);
CREATE TABLE parts (src int, dst int) PARTITION BY LIST (src);
ALTER TABLE parts ATTACH PARTITION part1 FOR VALUES IN (1);
ALTER TABLE parts ATTACH PARTITION part2 FOR VALUES IN (2);
INSERT INTO parts VALUES (1, 2);
SELECT * FROM call('parts');
INSERT INTO parts VALUES (2, 3);
SELECT * FROM call('parts');

-- EXPLAIN VERBOSE shows the same words.
SELECT emogi_evict('unlogged') >= 0;
CREATE FUNCTION explained(options text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE line text;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (ANALYZE, COSTS off, TIMING off, ' || options || ') SELECT count(*) FROM emogi_degree(''unlogged'')' LOOP
		IF line ~ 'Graph:|Cache:' THEN
			RETURN NEXT trim(line);
		END IF;
	END LOOP;
END $$;
SELECT * FROM explained('VERBOSE');
SELECT * FROM explained('VERBOSE');
SELECT emogi_evict('unlogged') >= 0;
SELECT * FROM explained('VERBOSE off');

-- All reasons together: a reason if and only if the graph was built.
SELECT count(*) FROM emogi_runs WHERE (cache IS NOT DISTINCT FROM 'built') <> (why_built IS NOT NULL);
SET client_min_messages = warning;
DROP SCHEMA test_why_built CASCADE;
