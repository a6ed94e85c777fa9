-- A function incorrectly marked PARALLEL SAFE makes a call in a parallel worker, which does not see
-- the leader's changes, nor the snapshot of the statement's other calls: the call is rejected,
-- cached or not. Reading the leader's rows in a worker, and a query's rows, still works.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS emogi;
RESET client_min_messages;
CREATE SCHEMA test_in_workers;
SET search_path = test_in_workers, public;
\pset format unaligned
CREATE TABLE wrapped (src int, dst int, weight float8);
INSERT INTO wrapped SELECT 0, g, 1 FROM generate_series(1, 100) g;
CREATE TABLE one (n int);
INSERT INTO one VALUES (1);
CREATE FUNCTION unsafely(call text) RETURNS bigint LANGUAGE plpgsql STABLE PARALLEL SAFE COST 1000000 AS
$$ DECLARE n bigint; BEGIN EXECUTE 'SELECT count(*) FROM ' || call INTO n; RETURN n; END $$;
CREATE FUNCTION rightly(call text) RETURNS bigint LANGUAGE plpgsql STABLE PARALLEL RESTRICTED COST 1000000 AS
$$ DECLARE n bigint; BEGIN EXECUTE 'SELECT count(*) FROM ' || call INTO n; RETURN n; END $$;
CREATE FUNCTION sqlstate_of(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE n bigint; state text; message text; hint text;
BEGIN
	EXECUTE query INTO n;
	RETURN n;
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS state = RETURNED_SQLSTATE, message = MESSAGE_TEXT, hint = PG_EXCEPTION_HINT;
	RETURN concat_ws(' | ', state, message, hint);
END $$;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET parallel_leader_participation = off;
EXPLAIN (COSTS off) SELECT sum(unsafely(n || '')) FROM one;

SELECT call, sqlstate_of(format('SELECT sum(unsafely(%L)) FROM one', call)) FROM (VALUES
	('emogi_bfs(''wrapped'', 0)'),
	('emogi_bfs(''wrapped'', ARRAY[0, 1]::bigint[])'),
	('emogi_bfs(''SELECT src, dst FROM wrapped'', 0)'),
	('emogi_bfs(''wrapped'', NULL::bigint)'),
	('(SELECT emogi_bfs(''wrapped'', 0)) x'),
	('one, LATERAL emogi_bfs(''wrapped'', n)'),
	('emogi_sssp(''wrapped'', 0)'),
	('emogi_sswp(''wrapped'', 0)'),
	('emogi_ssnsp(''wrapped'', 0)'),
	('emogi_cc(''wrapped'')'),
	('emogi_pagerank(''wrapped'')'),
	('emogi_heat(''wrapped'', ''SELECT 0, 1'')'),
	('emogi_circuit(''wrapped'', ''SELECT 0, 1'')'),
	('emogi_neural(''wrapped'', ''SELECT 0, 1'')'),
	('emogi_shortest_path(''wrapped'', 0, 1)'),
	('emogi_estimate(''wrapped'')'),
	('emogi_check(''wrapped'')')) AS calls (call);

-- With a cached graph it would have answered, without the leader's own rows.
SELECT count(*) FROM emogi_bfs('wrapped', 0);
SELECT sqlstate_of($$ SELECT sum(unsafely('emogi_bfs(''wrapped'', 0)')) FROM one $$);
BEGIN;
INSERT INTO wrapped VALUES (0, 200), (0, 201);
SELECT sqlstate_of($$ SELECT sum(unsafely('emogi_bfs(''wrapped'', 0)')) FROM one $$);
SELECT sqlstate_of($$ SELECT sum(rightly('emogi_bfs(''wrapped'', 0)')) FROM one $$);
ROLLBACK;

-- A query of a graph, and the rows of a call, in workers.
SET emogi.enable_cache = off;
SELECT count(*) FROM emogi_bfs('SELECT src, dst FROM wrapped', 0);
RESET emogi.enable_cache;
SELECT count(*) FROM emogi_bfs('wrapped', 0) JOIN one ON vertex = n;

SET client_min_messages = warning;
DROP SCHEMA test_in_workers CASCADE;
