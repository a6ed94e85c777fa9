-- Tables large enough for parallel workers: the same answer with any number of workers.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS emogi;
RESET client_min_messages;
CREATE SCHEMA test_parallel;
SET search_path = test_parallel, public;

-- The tree in which i has the children 2i and 2i + 1: the level of a vertex is the position of its highest bit.
CREATE UNLOGGED TABLE tree AS
  SELECT repeat('x', i % 5) AS note, i / 2 AS src, nullif(i % 100, 7) AS x, i AS dst FROM generate_series(2, 1200000) i;
ALTER TABLE tree DROP x;
INSERT INTO tree SELECT NULL, NULL, i FROM generate_series(1, 1000) i;
DELETE FROM tree WHERE dst > 1190000;
ANALYZE tree;
CREATE FUNCTION check_tree(graph text, direction text DEFAULT 'out', OUT rows bigint, OUT levels int, OUT wrong bigint) LANGUAGE sql STABLE AS
  $$ SELECT count(*), max(level), count(*) FILTER (WHERE vertex >> level <> 1) FROM emogi_bfs(graph, 1, direction => direction) $$;
SELECT * FROM check_tree('tree');
SELECT * FROM check_tree('tree', 'both');
SELECT string_agg(vertex || ':' || level, ' ') FROM emogi_bfs('tree', 1190000, direction => 'in');

-- No workers requested, one, many, none available.
SET emogi.build_workers = 0;
SELECT * FROM check_tree('tree');
SET emogi.build_workers = 1;
SELECT * FROM check_tree('tree');
SET emogi.build_workers = 4;
SELECT * FROM check_tree('tree');
SET max_parallel_workers = 0;
SELECT * FROM check_tree('tree');
RESET max_parallel_workers;
SET emogi.build_workers = -1;
SET max_parallel_workers_per_gather = 0;
SELECT * FROM check_tree('tree');
SET max_parallel_workers_per_gather = 2;

-- A query as the source, planned with and without workers.
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SELECT * FROM check_tree('SELECT src, dst FROM tree');
SELECT * FROM check_tree('SELECT src, dst FROM tree WHERE dst % 2 = 0 OR dst > 500000');
SET max_parallel_workers = 0;
SELECT * FROM check_tree('SELECT src, dst FROM tree');
RESET max_parallel_workers;
SET emogi.build_workers = 2;

-- Every worker sees own changes: also of subtransactions, and rows written and changed again by the
-- same transaction.
BEGIN;
DELETE FROM tree WHERE dst BETWEEN 4 AND 7;
SELECT * FROM check_tree('tree');
INSERT INTO tree SELECT NULL, 1, i FROM generate_series(4, 6) i;
DECLARE c CURSOR FOR SELECT level, count(*) FROM emogi_bfs('tree', 1, 3) GROUP BY level ORDER BY level;
SAVEPOINT a;
UPDATE tree SET src = dst / 2 WHERE dst BETWEEN 4 AND 6;
SELECT * FROM check_tree('tree');
SELECT * FROM check_tree('SELECT src, dst FROM tree');
SAVEPOINT b;
DELETE FROM tree WHERE dst = 4;
SELECT * FROM check_tree('tree');
ROLLBACK TO b;
SELECT * FROM check_tree('tree');
RELEASE a;
FETCH ALL FROM c;
ROLLBACK;
SELECT * FROM check_tree('tree');
BEGIN ISOLATION LEVEL SERIALIZABLE;
DELETE FROM tree WHERE dst = 2;
SELECT * FROM check_tree('tree');
ROLLBACK;
DO $$ BEGIN
  DELETE FROM tree WHERE dst = 3;
  RAISE INFO '%', check_tree('tree');
  RAISE EXCEPTION USING ERRCODE = 'EM003', MESSAGE = 'undo';
EXCEPTION WHEN SQLSTATE 'EM003' THEN
  RAISE INFO '%', check_tree('tree');
END $$;

-- Temporary tables, which workers cannot read, and tables known only to this transaction.
BEGIN;
CREATE TEMP TABLE own AS SELECT src::bigint, dst::bigint FROM tree;
SELECT * FROM check_tree('own');
SELECT * FROM check_tree('SELECT src, dst FROM own');
ALTER TABLE own ALTER dst TYPE int;
CREATE TABLE kept AS TABLE own;
SELECT * FROM check_tree('kept');
SELECT * FROM check_tree('SELECT src, dst FROM kept');
ROLLBACK;

-- A call in a query that itself runs in parallel workers.
SELECT set_config(name, 'on', false) FROM pg_settings WHERE name IN ('force_parallel_mode', 'debug_parallel_query');
SELECT count(*), sum(level) FROM tree JOIN emogi_bfs('tree', 1, 10) ON dst = vertex;
SELECT count(*) FROM tree t WHERE dst < 100 AND EXISTS (SELECT FROM emogi_bfs('tree', 1, 3) b WHERE b.vertex = t.dst);
SELECT * FROM check_tree('tree');
SELECT set_config(name, 'off', false) FROM pg_settings WHERE name IN ('force_parallel_mode', 'debug_parallel_query');

-- Partitions with other column orders.
CREATE TABLE leaves (src int, dst int) PARTITION BY HASH (dst);
CREATE UNLOGGED TABLE leaf0 PARTITION OF leaves FOR VALUES WITH (MODULUS 3, REMAINDER 0);
CREATE UNLOGGED TABLE leaf1 (dst int, note text, src int);
ALTER TABLE leaf1 DROP note;
ALTER TABLE leaves ATTACH PARTITION leaf1 FOR VALUES WITH (MODULUS 3, REMAINDER 1);
CREATE UNLOGGED TABLE leaf2 PARTITION OF leaves FOR VALUES WITH (MODULUS 3, REMAINDER 2);
INSERT INTO leaves SELECT src, dst FROM tree;
SET emogi.build_workers = 2;
SELECT * FROM check_tree('leaves');
SET emogi.build_workers = 0;
SELECT * FROM check_tree('leaves');
