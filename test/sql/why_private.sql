-- Reasons why a graph is private: shown by emogi_runs and EXPLAIN, for tables as for queries.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS emogi;
RESET client_min_messages;
CREATE SCHEMA test_why_private;
SET search_path = test_why_private, public;
SET emogi.engine = auto;
\pset format unaligned
\pset tuples_only on
\pset null (null)

CREATE TABLE e (src int, dst int, w float8, at timestamptz DEFAULT now());
INSERT INTO e SELECT i, i % 1000 + 1, 1 FROM generate_series(1, 1000) i;
CREATE INDEX ON e (src);
ANALYZE e;
CREATE FUNCTION last() RETURNS text LANGUAGE sql AS $$
  SELECT concat_ws(' | ', cache, coalesce(why_private, '(null)')) FROM emogi_runs WHERE pid = pg_backend_pid() ORDER BY id DESC LIMIT 1 $$;
CREATE FUNCTION plan(query text, options text DEFAULT 'COSTS off') RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
  line text;
BEGIN
  FOR line IN EXECUTE format('EXPLAIN (%s) %s', options, query) LOOP
    IF line ~ '(Graph|Cache|Index Search):' THEN RETURN NEXT btrim(line); END IF;
  END LOOP;
END $$;

-- A SERIALIZABLE transaction.
BEGIN ISOLATION LEVEL SERIALIZABLE;
SELECT * FROM plan('SELECT * FROM emogi_pagerank(''e'')');
SELECT count(*) FROM emogi_pagerank('e');
SELECT last();
SELECT * FROM plan('SELECT * FROM emogi_pagerank(''e'')', 'ANALYZE, COSTS off, TIMING off, SUMMARY off');
SELECT * FROM plan('SELECT * FROM emogi_bfs(''e'', 1)');
COMMIT;
SET emogi.enable_cache = off;
SELECT count(*) FROM emogi_pagerank('e');
SELECT last();
RESET emogi.enable_cache;

-- A temporary table.
CREATE TEMP TABLE t AS TABLE e;
SELECT * FROM plan('SELECT * FROM emogi_pagerank(''t'')');
SELECT count(*) FROM emogi_pagerank('t');
SELECT last();

-- Rows of the own transaction: built or merged privately.
BEGIN;
INSERT INTO e VALUES (1, 5, 1);
SELECT * FROM plan('SELECT * FROM emogi_pagerank(''e'')');
SELECT count(*) FROM emogi_pagerank('e');
SELECT last();
ROLLBACK;
SELECT count(*) FROM emogi_pagerank('e');
SELECT last();
BEGIN;
INSERT INTO e VALUES (1, 5, 1);
SELECT count(*) FROM emogi_pagerank('e');
SELECT last();
ROLLBACK;

-- A shared graph has no reason, and neither has the next call.
SELECT count(*) FROM emogi_pagerank('e');
SELECT last();

-- A value of the clock never recurs; a rounded one does.
SELECT count(*) FROM emogi_pagerank('e WHERE at <= now() + interval ''1.5 s''');
SELECT last();
SELECT * FROM plan('SELECT * FROM emogi_pagerank(''e WHERE at <= now() + interval ''''1.5 s'''''')');
SELECT count(*) FROM emogi_pagerank('e WHERE at <= current_timestamp');
SELECT last();
SELECT count(*) FROM emogi_pagerank('e WHERE at <= date_trunc(''hour'', now()) + interval ''2 h''');
SELECT last();
SELECT count(*) FROM emogi_pagerank('e WHERE at <= date_trunc(''hour'', now()) + interval ''2 h''');
SELECT last();

-- Requirements of an index search: an index, and weights that a build would accept.
SET emogi.engine = 'auto';
SET emogi.index_search_min_size = 0;
CREATE TABLE big (src int, dst int, w float8, price numeric, k int);
INSERT INTO big SELECT i, i + 1, 1, 1, 1 FROM generate_series(1, 100000) i;
ANALYZE big;
SELECT * FROM plan('SELECT * FROM emogi_sssp(''big(src, dst, w) WHERE dst > 0'', 1, max_distance => 1)');
CREATE INDEX ON big (src);
SELECT * FROM plan('SELECT * FROM emogi_sssp(''big(src, dst, w) WHERE dst > 0'', 1, max_distance => 1)');
SELECT * FROM plan('SELECT * FROM emogi_sssp(''big(src, dst, k) WHERE dst > 0'', 1, max_distance => 1)');
SELECT * FROM plan('SELECT * FROM emogi_sssp(''big(src, dst, price) WHERE dst > 0'', 1, max_distance => 1)');
SELECT * FROM plan('SELECT * FROM emogi_sssp(''big(src, dst, w)'', 1, max_distance => 1)');
ALTER TABLE big ADD CHECK (w >= 0), ALTER w SET NOT NULL;
SELECT * FROM plan('SELECT * FROM emogi_sssp(''big(src, dst, w) WHERE dst > 0'', 1, max_distance => 1)');
ALTER TABLE big ADD CHECK (w BETWEEN 0 AND 1e9), ADD CHECK (k >= 0), ALTER k SET NOT NULL;
SELECT * FROM plan('SELECT * FROM emogi_sssp(''big(src, dst, w) WHERE dst > 0'', 1, max_distance => 1)');
SELECT * FROM plan('SELECT * FROM emogi_sssp(''big(src, dst, k) WHERE dst > 0'', 1, max_distance => 1)');

-- EXPLAIN ANALYZE shows the time of looking up edge ids.
CREATE FUNCTION times(query text) RETURNS json LANGUAGE plpgsql AS $$
DECLARE
  plan json;
BEGIN
  EXECUTE 'EXPLAIN (ANALYZE, FORMAT json) ' || query INTO plan;
  RETURN plan -> 0 -> 'Plan';
END $$;
SELECT (t ->> 'Rows Time')::float8 > 0, (t ->> 'Rows Time')::float8 + (t ->> 'Run Time')::float8 <= (t ->> 'Actual Total Time')::float8
  FROM times('SELECT * FROM emogi_max_flow_edges(''big(src, dst, w, k)'', 1, 5000)') t;
SELECT t -> 'Rows Time' FROM times('SELECT * FROM emogi_bfs(''big(src, dst)'', 1)') t;
