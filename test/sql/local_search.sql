-- Small searches run in the backend, on an older graph with an overlay if the table has changed;
-- larger ones in the engine. Answers are the same.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS emogi;
RESET client_min_messages;
CREATE SCHEMA test_local_search;
SET search_path = test_local_search, public;
SET emogi.engine = 'auto';
SET emogi.incremental_min_size = 0;
\pset format unaligned
\pset tuples_only on

-- A long chain with a hub at 5000 that leads to 70,000 others: vertices beyond the hub are not
-- local.
CREATE TABLE edges (src bigint, dst bigint, weight float8);
INSERT INTO edges SELECT i, i + 1, 1 + i % 3 FROM generate_series(1, 20000) i;
INSERT INTO edges VALUES (-1000, -1001, 1);
INSERT INTO edges SELECT 5000, 100000 + i, 2 FROM generate_series(1, 70000) i;

CREATE FUNCTION last() RETURNS text LANGUAGE sql VOLATILE AS
  $$ SELECT format('%s by %s', cache, CASE engine WHEN 'backend' THEN engine ELSE 'the engine' END) FROM emogi_runs WHERE pid = pg_backend_pid() ORDER BY id DESC LIMIT 1 $$;
SELECT count(*) FROM emogi_bfs('edges', 1, max_depth => 3);
SELECT last();
SELECT count(*) FROM emogi_bfs('edges', 1, max_depth => 3);
SELECT last();
SELECT count(*), max(level) FROM emogi_bfs('edges', 4990);
SELECT last();
SELECT string_agg(vertex || ':' || distance, ' ') FROM emogi_sssp('edges', 10, max_distance => 6);
SELECT last();
SELECT string_agg(vertex || ':' || distance, ' ') FROM emogi_shortest_path('edges', 10, 14);
SELECT last();
SELECT * FROM emogi_bfs('edges', 4990) WHERE vertex IN (4991, 4995);
SELECT last();
SET emogi.enable_local_search = off;
SELECT count(*) FROM emogi_bfs('edges', 1, max_depth => 3);
SELECT last();
SET emogi.enable_local_search = on;
SET emogi.enable_scan = off;
SELECT count(*) FROM emogi_bfs('edges', 1, max_depth => 3);
SELECT last();
SET emogi.enable_scan = on;

-- Changes of the table: new vertices before, between and after others; a deleted one; a weight;
-- parallel edges.
INSERT INTO edges VALUES (1, -5, 1), (-5, 999999, 1), (999999, 3, 1), (2, 3, 1);
UPDATE edges SET weight = 0.25 WHERE src = 2 AND weight = 3;
DELETE FROM edges WHERE src = 20000;
SELECT string_agg(vertex || ':' || level, ' ' ORDER BY vertex) FROM emogi_bfs('edges', 1, max_depth => 3);
SELECT last();
SELECT string_agg(vertex || ':' || level, ' ') FROM emogi_bfs('edges', 19999);
SELECT last();
SELECT count(*) FROM emogi_bfs('edges', 20001);
SELECT last();
SELECT string_agg(vertex || ':' || distance, ' ') FROM emogi_shortest_path('edges', 1, 4);
SELECT last();
SELECT string_agg(vertex || ':' || level, ' ') FROM emogi_bfs('edges', 3, max_depth => 2, direction => 'in');
SELECT last();
SELECT string_agg(vertex || ':' || level, ' ') FROM emogi_bfs('edges', 999999, max_depth => 1, direction => 'both');
-- 0.25 does not fit into an integer type: distances are computed on a new graph.
SELECT string_agg(vertex || ':' || distance, ' ') FROM emogi_sssp('edges', 1, max_distance => 2);
SELECT last();
INSERT INTO edges VALUES (1, 2, 0.5);
SELECT string_agg(vertex || ':' || distance, ' ') FROM emogi_sssp('edges', 1, max_distance => 2);
SELECT last();
-- A larger search refreshes the graph.
SELECT count(*) FROM emogi_bfs('edges', 1);
SELECT last();
SELECT count(*) FROM emogi_bfs('edges', 1, max_depth => 3);
SELECT last();

-- Own changes, and their rollback.
BEGIN;
DELETE FROM edges WHERE src = 1;
SELECT string_agg(vertex || ':' || level, ' ') FROM emogi_bfs('edges', 1, max_depth => 3);
SELECT last();
INSERT INTO edges VALUES (1, 77, 1);
SELECT string_agg(vertex || ':' || level, ' ') FROM emogi_bfs('edges', 1, max_depth => 1);
SELECT last();
SELECT ok, cache FROM emogi_check('edges', with_overlay => true);
SELECT ok, cache FROM emogi_check('edges', 'both', weights => true, with_overlay => true);
ROLLBACK;
SELECT string_agg(vertex || ':' || level, ' ') FROM emogi_bfs('edges', 1, max_depth => 1);
SELECT last();

-- Whether a vertex that has lost its last outgoing edge still exists is known only with lists of
-- the other direction, or a new graph.
INSERT INTO edges VALUES (500001, 500002, 1), (500003, 500002, 1);
SELECT count(*) FROM emogi_bfs('edges', 500001);
SELECT count(*) FROM emogi_cc('edges');
DELETE FROM edges WHERE src = 500001;
SET emogi.notice_missing_source = on;
SELECT count(*) FROM emogi_bfs('edges', 500001);
SELECT last();
INSERT INTO edges VALUES (600000, 600001, 1);
SELECT count(*) FROM emogi_bfs('edges', 600000);
SELECT last();
SELECT count(*) FROM emogi_bfs('edges', 600002);
SELECT count(*) FROM emogi_shortest_path('edges', 600000, 600002);
SELECT last();
RESET emogi.notice_missing_source;

-- Too many changes, and all of them: no overlay.
INSERT INTO edges SELECT 700000 + i, 700001 + i, 1 FROM generate_series(1, 1100) i;
SELECT count(*) FROM emogi_bfs('edges', 700001, max_depth => 2);
SELECT last();
BEGIN;
DELETE FROM edges;
SELECT count(*) FROM emogi_bfs('edges', 1);
ROLLBACK;

-- Calls that repeatedly find the same changes eventually refresh the graph.
INSERT INTO edges VALUES (1, 2, 1);
DO $$
DECLARE
  seen text[];
BEGIN
  FOR i IN 1 .. 30 LOOP
    PERFORM count(*) FROM emogi_bfs('edges', 1, max_depth => 2);
    seen := seen || last();
  END LOOP;
  ASSERT seen[1] = 'overlay by backend', seen[1];
  ASSERT seen[30] = 'hit by backend', seen[30];
  ASSERT array_position(seen, 'merged by backend') BETWEEN 10 AND 25, seen;
END $$;

-- A table called only by sessions that have just changed it: the part visible to others is cached
-- for all, in each requested direction.
CREATE TABLE tried AS SELECT i AS src, i * 7 % 20000 AS dst FROM generate_series(1, 20000) i;
BEGIN;
INSERT INTO tried VALUES (1, -1), (-1, -2);
DELETE FROM tried WHERE src = 7;
SELECT string_agg(vertex || ':' || level, ' ') FROM emogi_bfs('tried', 1, max_depth => 3);
SELECT last();
SELECT string_agg(vertex || ':' || level, ' ') FROM emogi_bfs('tried', -2, direction => 'in');
SELECT last();
SELECT string_agg(vertex || ':' || distance, ' ') FROM emogi_shortest_path('tried', 1, -2);
SELECT last();
UPDATE tried SET dst = -3 WHERE src = -1;
SELECT string_agg(vertex || ':' || distance, ' ') FROM emogi_shortest_path('tried', 1, -3);
SELECT last();
SELECT ok, cache FROM emogi_check('tried', 'both', backward => true);
SELECT ok, cache FROM emogi_check('tried', 'out');
ROLLBACK;
SELECT string_agg(vertex || ':' || level, ' ') FROM emogi_bfs('tried', 1, max_depth => 3);
SELECT last();
SELECT ok FROM emogi_check('tried', 'out', backward => true);
SELECT ok FROM emogi_check('tried', 'in');
BEGIN;
INSERT INTO tried VALUES (2, -1);
SELECT count(*) FROM emogi_bfs('tried', 1);
COMMIT;
SELECT ok FROM emogi_check('tried');
SELECT count(*) FROM emogi_bfs('tried', -1, direction => 'in');

-- Too many own changes to track: a build for the call after one for others. Rows with a NULL
-- endpoint are counted once.
CREATE TABLE halved AS SELECT i AS src, i * 7 % 200000 AS dst FROM generate_series(1, 200000) i;
INSERT INTO halved VALUES (NULL, 1), (1, NULL);
BEGIN;
DELETE FROM halved WHERE src > 60000;
SELECT ok, cache, edges FROM emogi_check('halved');
ROLLBACK;
SELECT ok, cache, edges FROM emogi_check('halved');

-- A limit on the level limits the cost as max_depth does: no parallel workers.
EXPLAIN (COSTS OFF) SELECT * FROM emogi_bfs('edges', 1) WHERE level <= 1;

-- In all cases, answers are those of the server's own search.
CREATE TABLE net (src int, dst int);
INSERT INTO net SELECT (hashint4(i) & 1023), (hashint4(i + 7777) & 1023) FROM generate_series(1, 3000) i;
CREATE FUNCTION hops(source int, depth int) RETURNS text LANGUAGE sql STABLE AS $$
  WITH RECURSIVE r(vertex, level) AS (
    SELECT source, 0 WHERE EXISTS (SELECT FROM net WHERE source IN (src, dst))
    UNION SELECT dst, level + 1 FROM r JOIN net ON src = vertex WHERE level < depth)
  SELECT string_agg(vertex || ':' || level, ' ' ORDER BY vertex) FROM (SELECT vertex, min(level) AS level FROM r GROUP BY vertex) x $$;
DO $$
DECLARE
  wrong int := 0;
  overlay int := 0;
  answer text;
BEGIN
  PERFORM setseed(0.5);
  PERFORM count(*) FROM emogi_bfs('net', 1);
  FOR i IN 1 .. 300 LOOP
    CASE i % 3
      WHEN 0 THEN INSERT INTO net SELECT (random() * 1100)::int - 40, (random() * 1100)::int - 40 FROM generate_series(1, 3);
      WHEN 1 THEN DELETE FROM net WHERE ctid IN (SELECT ctid FROM net ORDER BY random() LIMIT 4);
      ELSE UPDATE net SET dst = (random() * 1023)::int WHERE src = (random() * 1023)::int;
    END CASE;
    FOR k IN 1 .. 5 LOOP
      answer := hops(i * k % 1000, 3);
      wrong := wrong + (answer IS DISTINCT FROM (SELECT string_agg(vertex || ':' || level, ' ') FROM emogi_bfs('net', i * k % 1000, max_depth => 3)))::int;
      overlay := overlay + (last() LIKE 'overlay%')::int;
    END LOOP;
  END LOOP;
  ASSERT wrong = 0, wrong;
  ASSERT overlay > 900, overlay;
END $$;
SELECT emogi_evict() > 0;
SET client_min_messages = warning;
DROP SCHEMA test_local_search CASCADE;
