-- Data cached or skipped by small calls: estimates of similar texts, indexes of both directions,
-- conditions without constants to fold.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS emogi;
CREATE SCHEMA test_small_calls;
SET search_path = test_small_calls, public;
SET emogi.engine = auto;
SET emogi.index_search_min_size = 0;
SET emogi.incremental_min_size = '1GB';
\pset format unaligned
\pset tuples_only on
SELECT emogi_evict() IS NOT NULL;
-- The rows of a call, the source of its graph, and the source shown by EXPLAIN.
CREATE FUNCTION cache_of(call text) RETURNS text LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  line text;
  answer text;
BEGIN
  FOR line IN EXECUTE format('EXPLAIN SELECT * FROM %s', call) LOOP
    EXIT WHEN line LIKE '%Graph: %';
  END LOOP;
  EXECUTE format('SELECT string_agg(q::text, '' '' ORDER BY q) FROM %s q', call) INTO answer;
  RETURN (SELECT concat_ws(' ', answer, 'by', cache, '-', substr(line, strpos(line, 'Graph: ') + 7)) FROM emogi_runs WHERE pid = pg_backend_pid() ORDER BY id DESC LIMIT 1);
END $$;
CREATE FUNCTION estimated(graph text) RETURNS int LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  plan json;
BEGIN
  EXECUTE format('EXPLAIN (FORMAT JSON) SELECT * FROM emogi_degree(%L)', graph) INTO plan;
  RETURN plan->0->'Plan'->>'Plan Rows';
END $$;

-- If the estimates of five similar texts agree, they serve the next eight, then one is planned
-- again. Two texts of a form are cached. Different texts are planned each.
CREATE TABLE e AS SELECT i AS src, i + 1 AS dst, i % 100 AS kind FROM generate_series(1, 10000) i;
ANALYZE e;
CREATE FUNCTION rounded(n int) RETURNS text LANGUAGE sql AS $$ SELECT CASE WHEN n < 300 THEN 'few' WHEN n > 3000 THEN 'many' ELSE 'some' END $$;
SELECT string_agg(rounded(estimated('e(src, dst) WHERE kind < ' || k)), ' ' ORDER BY k DESC) FROM generate_series(81, 1, -5) k;
SELECT string_agg(rounded(estimated('e(src, dst) WHERE kind = ' || k)), ' ' ORDER BY k) FROM generate_series(1, 20) k;
SELECT rounded(estimated('e(src, dst) WHERE kind > -1')), rounded(estimated('e(src, dst) WHERE kind > 98'));
SELECT string_agg(rounded(estimated('e(src, dst) WHERE kind >= ' || k)), ' ' ORDER BY k) FROM generate_series(1, 11) k;
SELECT string_agg(rounded(estimated('e(src, dst) WHERE kind >= ' || 99 + k)), ' ' ORDER BY k) FROM generate_series(1, 24) k;
-- A call reads the rows of its own condition.
SELECT sum(degree) FROM emogi_degree('e(src, dst) WHERE kind >= 97');

-- One index serves both endpoints if a condition sets its first column equal to a constant;
-- constants are folded before that is checked.
CREATE TABLE b (src int, dst int, kind int, flag bool);
INSERT INTO b SELECT i % 50, i % 49, i % 7, i % 2 = 0 FROM generate_series(1, 400) i;
CREATE INDEX b_both ON b (src, dst);
VACUUM ANALYZE b;
SELECT cache_of($$emogi_bfs('b(src, dst) WHERE src = 3', 3, 1)$$);
SELECT cache_of($$emogi_bfs('b(src, dst) WHERE src = 3', 4, 1, 'in')$$);
SELECT cache_of($$emogi_bfs('b(src, dst) WHERE src = 1 + 2 AND kind = 3', 3, 1, 'both')$$);
SELECT cache_of($$emogi_bfs('b(src, dst) WHERE src = 1 + 2 AND kind = 4', 7, 1, 'in')$$);
-- Both endpoints are one column.
SELECT cache_of($$emogi_bfs('b(src, src) WHERE kind = 3', 3, 1, 'both')$$);
DROP INDEX b_both;
CREATE INDEX b_flag ON b (src) WHERE flag;
CREATE INDEX b_flag_dst ON b (dst) WHERE flag;
SELECT cache_of($$emogi_bfs('b(src, dst) WHERE flag = true AND kind = 3', 2, 1)$$);
SELECT cache_of($$emogi_bfs('b(src, dst) WHERE NOT flag AND kind = 3', 3, 1)$$);
-- An index of one direction suffices for a search in it if the vertex has edges.
CREATE INDEX b_src ON b (src);
SELECT cache_of($$emogi_bfs('b(src, dst) WHERE kind = 5', 5, 1)$$);
SELECT cache_of($$emogi_bfs('b(src, dst) WHERE kind = 6', 6, 1, 'both')$$);

-- Cached row types belong to each function.
SELECT pg_typeof(vertex), count(*) FROM emogi_degree_text('b(src, dst)') WHERE vertex = '3' GROUP BY 1;
SELECT pg_typeof(vertex), count(*) FROM emogi_degree('b(src, dst)') WHERE vertex = 3 GROUP BY 1;
SELECT pg_typeof(vertex), count(*) FROM emogi_degree_text('b(src, dst)') WHERE vertex = '4' GROUP BY 1;
SELECT vertex, degree FROM emogi_degree('b(src, dst)') ORDER BY vertex LIMIT 2;
SELECT vertex, degree FROM emogi_degree_text('b(src, dst)') ORDER BY vertex LIMIT 2;

-- Aggregates over more vertices than a block has, over one vertex, over none.
CREATE TABLE c AS SELECT i AS src, i + 1 AS dst FROM generate_series(1, 9000) i;
SELECT count(*), sum(degree), max(degree) FROM emogi_degree('c(src, dst)');
SELECT degree, count(*) FROM emogi_degree('c(src, dst)') GROUP BY degree ORDER BY degree;
SELECT level / 1000 AS thousand, count(*), min(vertex), max(vertex) FROM emogi_bfs('c(src, dst)', 1) GROUP BY 1 ORDER BY 1;
SELECT count(*), sum(degree), max(degree) FROM emogi_degree('c(src, dst)') WHERE vertex = 9;
SELECT count(*), sum(degree), max(degree) FROM emogi_degree('c(src, dst)') WHERE vertex IN (5, 4097, 8999, 20000);
SELECT count(*), sum(degree), max(degree) FROM emogi_degree('c(src, dst) WHERE false');
SET client_min_messages = warning;
DROP SCHEMA test_small_calls CASCADE;
