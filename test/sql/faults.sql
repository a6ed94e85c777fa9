-- Fault injection: after any failure in the engines, a call returns the correct answer or a clear
-- error, and the next call is correct.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS emogi;
RESET client_min_messages;
CREATE SCHEMA test_faults;
SET search_path = test_faults, public;
SET emogi.engine = 'auto';
SET emogi.enable_local_search = off;	-- use the engines
\set VERBOSITY terse

-- The setting is a list of name=value, for superusers.
SET emogi.fault = 'nonsense=1';
SET emogi.fault = 'allocation';
SET emogi.fault = 'allocation=x';
SET emogi.fault = 'worker_exit=nowhere';
SET emogi.fault = 'allocation=0, pre_commit=0,random=1';
SET emogi.fault = '';
CREATE ROLE regress_emogi_faults;
SET ROLE regress_emogi_faults;
SET emogi.fault = 'allocation=1';
RESET ROLE;
DROP ROLE regress_emogi_faults;

-- Large enough for a GPU, if there is one: a binary tree of 2^20 leaves.
CREATE TABLE tree AS SELECT i / 2 AS src, i AS dst FROM generate_series(2, 2097151) i;
CREATE FUNCTION ask() RETURNS text LANGUAGE sql AS $$
  SELECT format('%s vertices, %s levels, sum %s', count(*), max(level), sum(vertex)) FROM emogi_bfs('tree', 1) $$;
SELECT ask();

-- A failing GPU, in the driver or for lack of memory: auto uses the CPU. On a machine without a GPU
-- these faults have no effect.
SET emogi.fault = 'device_call=1';
SELECT ask();
SET emogi.fault = 'device_call=9';
SELECT ask();
SET emogi.fault = 'device_allocation=1';
SELECT ask();
SET emogi.fault = 'device_allocation=3';
SELECT ask();
SET emogi.fault = '';
SELECT ask();

-- The first allocation in shared memory, and that of an engine, fail.
\set VERBOSITY sqlstate
SET emogi.engine = 'cpu';
SET emogi.fault = 'allocation=1';
SELECT ask();
SELECT ask();
SET emogi.fault = 'engine_allocation=1';
SELECT ask();
SET emogi.fault = '';
SELECT ask();

-- The worker exits during a call, at every kind of request; the graph in the cache stays.
SET emogi.fault = 'worker_exit=run';
SELECT ask();
SET emogi.fault = 'worker_exit=done';
SELECT ask();
SET emogi.enable_incremental = off;	-- otherwise this graph would be built from cached edges
SET emogi.fault = 'worker_exit=expand';
SELECT count(*) FROM emogi_bfs('tree', 2097151, direction => 'in');
SET emogi.fault = 'worker_exit=keys';
SELECT count(*) FROM emogi_bfs('tree', 2097151, direction => 'in');
SET emogi.fault = 'worker_exit=csr';
SELECT count(*) FROM emogi_bfs('tree', 2097151, direction => 'in');
RESET emogi.enable_incremental;
SET emogi.fault = 'worker_exit=unpack';
SELECT count(*) FROM emogi_bfs('tree', 2097151, direction => 'in');
SET emogi.fault = 'worker_exit=batch';
SELECT max(b.vertex) FROM generate_series(1, 3) s, LATERAL emogi_bfs('tree', s) b;
SET emogi.fault = 'worker_exit=run';
SELECT count(*) FROM generate_series(1, 3) s, LATERAL emogi_bfs('tree', s) b;
SET emogi.fault = 'engine_allocation=1';
SELECT count(*) FROM generate_series(1, 3) s, LATERAL emogi_bfs('tree', s) b;
SET emogi.fault = 'worker_exit=path';
SELECT count(*) FROM emogi_shortest_path('tree', 1, 2);
SET emogi.fault = '';
SELECT count(*) FROM emogi_shortest_path('tree', 1, 2);
SELECT count(*) FROM emogi_bfs('tree', 2097151, direction => 'in');
SELECT ask();
SELECT count(*) FROM emogi_graphs WHERE source LIKE '%tree' AND (state <> 'ready' OR pins > 0);

DROP SCHEMA test_faults CASCADE;
SELECT count(*) FROM emogi_graphs WHERE source LIKE '%tree' OR source IS NULL AND database = current_database();
