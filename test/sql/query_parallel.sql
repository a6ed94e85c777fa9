-- Parallel workers read the rows of a call on a query or view, like those of one on a table, if its
-- graph is cached and nothing in it is parallel unsafe.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS emogi;
DROP SCHEMA IF EXISTS test_query_parallel CASCADE;
RESET client_min_messages;
CREATE SCHEMA test_query_parallel;
SET search_path = test_query_parallel, public;
-- rows are tested here
SET emogi.enable_aggregates = off;
SET emogi.enable_topk = off;
SET emogi.enable_join_lookup = off;
SET emogi.engine = auto;
\pset format unaligned
\pset tuples_only on
SELECT emogi_evict() IS NOT NULL;
SET max_parallel_workers_per_gather = 2;
SET min_parallel_table_scan_size = 0;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
CREATE TABLE t AS SELECT i AS src, i % 50000 + 1 AS dst, i % 7 AS kind, 1 AS tenant FROM generate_series(1, 60000) i;
CREATE VIEW v AS SELECT src, dst FROM t WHERE kind < 6;
ANALYZE t;
CREATE FUNCTION unsafe_kind() RETURNS int LANGUAGE plpgsql STABLE AS $$ BEGIN RETURN 5; END $$;
CREATE FUNCTION safe_kind() RETURNS int LANGUAGE plpgsql STABLE PARALLEL SAFE AS $$ BEGIN RETURN 5; END $$;
CREATE FUNCTION restricted_kind() RETURNS int LANGUAGE plpgsql STABLE PARALLEL RESTRICTED AS $$ BEGIN RETURN 5; END $$;
CREATE FUNCTION even(i int) RETURNS bool LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$ SELECT i % 2 = 0 $$;
CREATE FUNCTION is_shared(query text) RETURNS bool LANGUAGE plpgsql AS $$
DECLARE
	line text;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN ' || query LOOP
		IF line ~ 'Parallel Custom Scan' THEN RETURN true; END IF;
	END LOOP;
	RETURN false;
END $$;
CREATE FUNCTION ask(call text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	answer text;
BEGIN
	EXECUTE call INTO answer;
	RETURN answer;
END $$;
CREATE TABLE asked (n int GENERATED ALWAYS AS IDENTITY, graph text, source text DEFAULT '7', call text, answer text, same bool, before bool);
INSERT INTO asked (graph) VALUES ('t'), ('v'), ('SELECT src, dst FROM t'), ('SELECT src, dst FROM v WHERE src > 3 UNION ALL SELECT 1, 2'),
	('SELECT src, dst FROM t WHERE kind < unsafe_kind()'), ('SELECT src, dst FROM t WHERE kind < safe_kind()'), ('SELECT src, dst FROM t WHERE kind < restricted_kind()'),
	('SELECT src, dst FROM t WHERE even(kind)'), ('SELECT src, dst FROM t WHERE random() < 2'), ('SELECT src, dst FROM t WHERE current_date > ''2000-01-01''');
INSERT INTO asked (graph, source) VALUES ('t((tenant, src), (tenant, dst))', '''(1,7)''');
UPDATE asked SET call = format('SELECT concat_ws('' '', count(*), sum(level)) FROM emogi_bfs(%L, %s)', graph, source);
-- Each statement is planned again: alone, then without graphs, then with them.
SET max_parallel_workers_per_gather = 0;
UPDATE asked SET answer = ask(call);
SET max_parallel_workers_per_gather = 2;
SELECT emogi_evict() IS NOT NULL;
UPDATE asked SET before = is_shared(call);
UPDATE asked SET same = answer = ask(call);
UPDATE asked SET same = same AND answer = ask(call);
UPDATE asked SET same = same AND answer = ask(call);
SELECT graph, before, is_shared(call) AS after, same FROM asked ORDER BY n;

-- It is rebuilt in parallel mode after a table has changed.
SELECT count(*) FROM emogi_bfs('v', 7);
PREPARE prepared AS SELECT count(*), min(vertex), max(level) FROM emogi_bfs('v', 7);
EXPLAIN (COSTS OFF) EXECUTE prepared;
EXECUTE prepared;
UPDATE t SET dst = 3 WHERE src = 7;
EXECUTE prepared;
BEGIN;
UPDATE t SET dst = 7 WHERE src = 7;
EXECUTE prepared;
ROLLBACK;
EXECUTE prepared;
-- A plan is invalidated with its dependencies.
CREATE VIEW w AS SELECT src, dst FROM t WHERE even(kind);
SELECT count(*) FROM emogi_bfs('w', 7);
PREPARE even AS SELECT count(*) FROM emogi_bfs('w', 7);
EXECUTE even;
EXPLAIN (COSTS OFF) EXECUTE even;
CREATE OR REPLACE FUNCTION even(i int) RETURNS bool LANGUAGE sql IMMUTABLE PARALLEL UNSAFE AS $$ SELECT i % 2 = 0 $$;
EXECUTE even;
EXPLAIN (COSTS OFF) EXECUTE even;
CREATE OR REPLACE VIEW w AS SELECT src, dst FROM t WHERE random() < 2;
EXPLAIN (COSTS OFF) EXECUTE even;
SET client_min_messages = warning;
DROP SCHEMA test_query_parallel CASCADE;
