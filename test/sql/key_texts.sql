-- Input and output forms of vertices: bigint, text or uuid, for graphs with keys of these and other
-- types.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS emogi;
RESET client_min_messages;
CREATE SCHEMA test_key_texts;
SET search_path = test_key_texts, public;
\pset format unaligned
\pset tuples_only on
\pset null (null)

CREATE FUNCTION u(i bigint) RETURNS uuid LANGUAGE sql IMMUTABLE AS $$ SELECT lpad(i::text, 32, '0')::uuid $$;
CREATE TABLE n (src int, dst int, weight float8);
INSERT INTO n VALUES (1, 2, 0.5), (2, 7, 0.25), (42, 5, 4), (-9, 1, 1);
CREATE TABLE t (src text COLLATE "C", dst varchar COLLATE "C", weight float8);
INSERT INTO t SELECT src, dst, weight FROM n;
CREATE TABLE uu (src uuid, dst uuid, weight float8);
INSERT INTO uu SELECT u(src + 10), u(dst + 10), weight FROM n;
CREATE TABLE d (src numeric, dst numeric);
INSERT INTO d VALUES (1.0, 2.50), (2.5, 3), (3.00, 1);
CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy');
CREATE TABLE m (src mood, dst mood);
INSERT INTO m VALUES ('happy', 'ok'), ('ok', 'sad');

CREATE FUNCTION try(call text, OUT result text) LANGUAGE plpgsql AS $$
DECLARE
  message text;
  hint text;
BEGIN
  EXECUTE format('SELECT coalesce(string_agg(vertex::text, '' ''), ''no rows'') || '' : '' || coalesce(min(pg_typeof(vertex)::text), '''') FROM (SELECT vertex FROM %s) c', call) INTO result;
EXCEPTION WHEN OTHERS THEN
  GET STACKED DIAGNOSTICS message = MESSAGE_TEXT, hint = PG_EXCEPTION_HINT;
  result := format('%s: %s (%s)', SQLSTATE, message, hint);
END $$;

-- Which form is used, and what is returned.
SELECT call, try(call) FROM unnest(ARRAY[
  $$emogi_bfs('n', 1)$$, $$emogi_bfs('n', '1')$$, $$emogi_bfs('n', '{1,42}')$$, $$emogi_bfs('n', ARRAY['1', '42'])$$, $$emogi_bfs('n', NULL)$$,
  $$emogi_bfs('t', '1')$$, $$emogi_bfs('t', NULL)$$, $$emogi_bfs('t', '{1,42}')$$, $$emogi_bfs('t', ARRAY['42', NULL, '1'])$$, $$emogi_bfs('t', '1'::varchar)$$,
  $$emogi_bfs('t', '1'::name)$$, $$emogi_bfs('t'::regclass, '1', 1)$$, $$emogi_bfs('t', '1', columns => 'dst, src')$$, $$emogi_bfs('SELECT src, dst FROM t', '1')$$,
  $$emogi_bfs('uu', u(11))$$, $$emogi_bfs('uu', ARRAY[u(11), NULL])$$, $$emogi_bfs('uu', '00000000-0000-0000-0000-000000000012')$$,
  $$emogi_bfs('uu', '{00000000000000000000000000000012}')$$, $$emogi_bfs('uu'::regclass, u(17), direction => 'in')$$, $$emogi_bfs('uu', NULL::uuid)$$,
  $$emogi_bfs('d', '1')$$, $$emogi_bfs('d', ARRAY['3.0', '1'])$$, $$emogi_bfs('m', 'ok')$$,
  $$emogi_sssp('t', '1', 0.6)$$, $$emogi_sswp('uu', u(12))$$, $$emogi_ssnsp('t', ARRAY['2'])$$, $$emogi_bfs('t', repeat('x', 2000000))$$,
  $$emogi_shortest_path('t', '-9', '7')$$, $$emogi_shortest_path('uu', u(11), u(17))$$, $$emogi_shortest_path('n', '1', '7')$$, $$emogi_shortest_path('d', '2.5', '1.00')$$,
  $$emogi_shortest_path('t', 'nobody', '7')$$, $$emogi_shortest_path('t', '1', NULL)$$,
  $$emogi_cc('n')$$, $$emogi_cc_text('n')$$, $$emogi_cc_text('t')$$, $$emogi_cc_uuid('uu')$$, $$emogi_cc_text('uu'::regclass)$$, $$emogi_cc_text('m')$$,
  $$emogi_pagerank_text('t', max_iterations => 3)$$, $$emogi_pagerank_uuid('uu'::regclass, columns => 'src, dst')$$,
  $$emogi_heat_text('t', 'SELECT ''1'', 1', 2)$$, $$emogi_neural_uuid('uu', 'SELECT test_key_texts.u(11), 1')$$, $$emogi_circuit_text('d', 'VALUES (1.0, 1), (3, 0)')$$]) call;

-- Arguments of the wrong type: the graph's type, and a correct call.
SELECT call, try(call) FROM unnest(ARRAY[
  $$emogi_bfs('t', 1)$$, $$emogi_bfs('t', ARRAY[1])$$, $$emogi_bfs('t', u(1))$$, $$emogi_bfs('t'::regclass, 1)$$, $$emogi_bfs('SELECT src, dst FROM t', 1)$$,
  $$emogi_bfs('uu', 1)$$, $$emogi_sssp('uu', ARRAY[1])$$, $$emogi_bfs('n', u(1))$$, $$emogi_bfs('n', ARRAY[u(1)])$$, $$emogi_bfs('d', 1)$$, $$emogi_bfs('m', u(1))$$,
  $$emogi_shortest_path('t', 1, 7)$$, $$emogi_shortest_path('uu', 1, 7)$$, $$emogi_shortest_path('n', u(1), u(7))$$,
  $$emogi_cc('t')$$, $$emogi_cc('uu')$$, $$emogi_cc_uuid('n')$$, $$emogi_cc_uuid('t')$$, $$emogi_pagerank('d')$$, $$emogi_heat('uu', 'SELECT u(11), 1')$$,
  $$emogi_heat_uuid('uu', 'SELECT ''1'', 1')$$, $$emogi_heat_text('t', 'VALUES (1, 1)')$$, $$emogi_heat('n', 'VALUES (''1'', 1)')$$,
  $$emogi_heat_text('t', 'VALUES (''1'', 1), (''1'', 2)')$$, $$emogi_heat_text('t', 'VALUES (''1'', ''NaN''::float8)')$$]) call;
-- Text that is not a key of the graph, by the input function of the type.
SELECT call, try(call) FROM unnest(ARRAY[
  $$emogi_bfs('n', 'one')$$, $$emogi_bfs('n', ARRAY['one'])$$, $$emogi_bfs('uu', 'one')$$, $$emogi_bfs('d', 'one')$$, $$emogi_bfs('m', 'glad')$$,
  $$emogi_bfs('SELECT src, dst FROM n', 'one')$$, $$emogi_shortest_path('uu', 'one', 'two')$$]) call;

-- Untyped parameters are text.
PREPARE untyped AS SELECT vertex, pg_typeof(vertex) FROM emogi_bfs($1, $2);
EXECUTE untyped('t', '2');
EXECUTE untyped('uu', '00000000-0000-0000-0000-000000000012');
EXECUTE untyped('n', '{2,42}');
DEALLOCATE untyped;

-- Conditions on vertex are looked up if the equality of the types is that of the keys; otherwise
-- they are checked for each row.
SET emogi.engine = cpu;
CREATE FUNCTION plan(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
  line text;
BEGIN
  FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
    IF line ~ 'Pushed Down|Filter|Sort|Scan|Batch|Join|Gather' THEN
      RETURN NEXT line;
    END IF;
  END LOOP;
END $$;
SELECT q, (SELECT string_agg(trim(plan), ' / ') FROM plan(q)) FROM unnest(ARRAY[
  $$SELECT * FROM emogi_bfs('t', '1') WHERE vertex = '7'$$, $$SELECT * FROM emogi_bfs('t', '1') WHERE vertex IN ('7', '2')$$, $$SELECT * FROM emogi_bfs('t', '1') WHERE vertex > '2'$$,
  $$SELECT * FROM emogi_bfs('uu', u(11)) WHERE vertex = u(17)$$, $$SELECT * FROM emogi_bfs('uu', u(11)) WHERE vertex = ANY (ARRAY[u(17), u(12)])$$,
  $$SELECT * FROM emogi_bfs('uu', '1') WHERE vertex = '7'$$, $$SELECT * FROM emogi_bfs('n', '1') WHERE vertex = '7'$$, $$SELECT * FROM emogi_bfs('d', '1') WHERE vertex = '7'$$,
  $$SELECT * FROM emogi_bfs('SELECT src, dst FROM d', '1') WHERE vertex = '7'$$, $$SELECT * FROM emogi_bfs('t', '1') WHERE vertex = '7' COLLATE "POSIX"$$,
  $$SELECT * FROM emogi_cc_uuid('uu') WHERE vertex = u(17)$$, $$SELECT * FROM emogi_bfs('uu', u(11)) ORDER BY vertex$$, $$SELECT * FROM emogi_bfs('uu', u(11)) ORDER BY vertex DESC$$,
  $$SELECT * FROM emogi_bfs('n', '1') ORDER BY vertex$$, $$SELECT * FROM emogi_bfs('d', '1') ORDER BY vertex$$, $$SELECT * FROM emogi_bfs('SELECT src, dst FROM t', '1') ORDER BY vertex$$]) q;
-- Text is ordered if the keys are text of the same collation; a plan that relies on it is rebuilt
-- if that no longer holds.
CREATE TEMP TABLE other (src int);
CREATE TABLE words (src text, dst text);
INSERT INTO words VALUES ('b', 'a'), ('a', 'c');
SELECT q, (SELECT string_agg(trim(plan), ' / ') FROM plan(q)) FROM unnest(ARRAY[
  $$SELECT * FROM emogi_bfs('words', 'b') ORDER BY vertex$$, $$SELECT * FROM emogi_bfs('words', 'b') ORDER BY vertex COLLATE "C" DESC$$]) q;
PREPARE in_order AS SELECT vertex FROM emogi_bfs('words', '1') ORDER BY vertex;
SET plan_cache_mode = force_generic_plan;
EXECUTE in_order;
ALTER TABLE words ALTER src TYPE numeric USING 1, ALTER dst TYPE numeric USING 10;
EXECUTE in_order;
ALTER TABLE words ALTER src TYPE text, ALTER dst TYPE text;
EXECUTE in_order;
CREATE TEMP TABLE words (src numeric, dst numeric);
INSERT INTO pg_temp.words VALUES (1, 2);
EXECUTE in_order;
DISCARD PLANS;
EXECUTE in_order;
DROP TABLE pg_temp.words;
RESET plan_cache_mode;

SELECT vertex, level FROM emogi_bfs('t', '-9') WHERE vertex = '7';
SELECT vertex, level FROM emogi_bfs('t', '-9') WHERE vertex IN ('7', NULL, '2', '2', 'x');
SELECT vertex, level FROM emogi_bfs('uu', u(11)) WHERE vertex = ANY (ARRAY[u(17), u(12), u(99), NULL]);
SELECT vertex, level FROM emogi_bfs('uu', '00000000-0000-0000-0000-000000000011') WHERE vertex IN ('00000000-0000-0000-0000-000000000017', '00000000000000000000000000000012', 'x');
SELECT vertex, level FROM emogi_bfs('n', '-9') WHERE vertex IN ('7', '-9', '+2', '02', ' 1', '-0', '99999999999999999999', '');
SELECT vertex, level FROM emogi_bfs('d', '1') WHERE vertex IN ('2.5', '2.50', '3', '3.00', 'x');
SELECT vertex, level FROM emogi_bfs('SELECT src, dst FROM d', '1') WHERE vertex IN ('2.5', '2.50', '3', '3.00', 'x');
SELECT vertex, component FROM emogi_cc_text('d') WHERE vertex = '3';
SELECT vertex, component FROM emogi_cc_uuid('uu') WHERE vertex IN (u(17), u(15));
SELECT vertex, component FROM emogi_cc_uuid('uu') WHERE vertex IN (u(17), u(15));
SELECT vertex, component FROM emogi_cc_text('t') WHERE component = '42';

-- Joins look vertices up in one run.
SET enable_hashjoin = off;
SET enable_mergejoin = off;
SELECT x, level FROM unnest(ARRAY['7', '2', 'x', NULL, '7']) x JOIN emogi_bfs('t', '-9') b ON b.vertex = x ORDER BY x;
SELECT i, level FROM unnest(ARRAY[17, 12, 99]) i JOIN emogi_bfs('uu', u(11)) b ON b.vertex = u(i) ORDER BY i;
SELECT x, level FROM unnest(ARRAY['2.5', '2.50', '3']) x JOIN emogi_bfs('SELECT src, dst FROM d', '1') b ON b.vertex = x ORDER BY x;
RESET enable_hashjoin;
RESET enable_mergejoin;

-- LATERAL: many sources in one pass, where text is one vertex.
SELECT q, (SELECT string_agg(trim(plan), ' / ') FROM plan(q)) FROM unnest(ARRAY[
  $$SELECT * FROM unnest(ARRAY['1', '2']) x, LATERAL emogi_bfs('t', x) b$$, $$SELECT * FROM unnest(ARRAY[11, 12]) x, LATERAL emogi_bfs('uu', u(x)) b$$,
  $$SELECT * FROM unnest(ARRAY['1', '2']) x, LATERAL emogi_bfs('n', x) b$$]) q;
SELECT x, string_agg(vertex || ':' || level, ' ' ORDER BY vertex COLLATE "C") FROM unnest(ARRAY['1', '42', 'x', NULL, '2', '1']) x, LATERAL emogi_bfs('t', x) b GROUP BY x ORDER BY x COLLATE "C";
SELECT x, vertex, level FROM unnest(ARRAY[11, 99, 52]) x, LATERAL emogi_bfs('uu', u(x)) b ORDER BY x, vertex;
SELECT x, vertex, level FROM unnest(ARRAY['3.0', '1']) x, LATERAL emogi_bfs('d', x, 1) b WHERE vertex <> '1' ORDER BY x, vertex;
SELECT x, vertex FROM unnest(ARRAY['1', '42']) x, LATERAL emogi_bfs('t', x) b WHERE vertex IN ('5', '7') ORDER BY x;
SELECT try($$unnest(ARRAY['1', 'one']) x, LATERAL emogi_bfs('d', x) b$$);

-- Rows of a cursor persist while others are read, and while the table changes; the same without the
-- scan.
BEGIN;
DECLARE c CURSOR FOR SELECT vertex, level FROM emogi_bfs('t', '-9');
FETCH 2 FROM c;
DECLARE k CURSOR FOR SELECT vertex, level FROM emogi_bfs('uu', u(11));
FETCH 1 FROM k;
SELECT count(*) FROM emogi_cc_text('t');
FETCH 2 FROM c;
FETCH 2 FROM k;
COMMIT;
INSERT INTO t VALUES ('7', 'new', 1), ('a', '-9', 1);
SELECT string_agg(vertex, ' ') FROM emogi_bfs('t', 'a');
DELETE FROM t WHERE dst = 'new';
SELECT string_agg(vertex, ' ') FROM emogi_bfs('t', 'a');
SET emogi.enable_scan = off;
SELECT string_agg(vertex, ' ') FROM emogi_bfs('t', 'a');
SELECT * FROM emogi_cc_uuid('uu') WHERE vertex = u(17);
SELECT * FROM emogi_shortest_path('uu', u(11), u(17));
SET emogi.enable_local_search = off;
SELECT * FROM emogi_shortest_path('t', 'a', '7');
RESET emogi.enable_scan;
SELECT vertex, level FROM emogi_bfs('t', 'a') WHERE vertex IN ('7', '1');
RESET emogi.enable_local_search;

-- Parallel workers read the rows.
CREATE TABLE big AS SELECT u(i) AS src, u(i / 2) AS dst FROM generate_series(1, 200000) i;
ANALYZE big;
SET max_parallel_workers_per_gather = 2;
SET min_parallel_table_scan_size = 0;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SELECT plan($$SELECT count(*), min(vertex::text), max(vertex::text) FROM emogi_cc_uuid('big')$$);
SELECT count(*), min(vertex::text), max(vertex::text), count(DISTINCT component) FROM emogi_cc_uuid('big');
SELECT count(*), min(vertex), max(vertex), count(DISTINCT component) FROM emogi_cc_text('big');
RESET max_parallel_workers_per_gather;
RESET min_parallel_table_scan_size;
RESET parallel_setup_cost;
RESET parallel_tuple_cost;

-- Messages about a vertex use its text form.
SET emogi.notice_missing_source = on;
SELECT count(*) FROM emogi_bfs('t', 'nobody');
SELECT count(*) FROM emogi_bfs('uu', u(99));
SELECT count(*) FROM emogi_bfs('d', '7.70');
SELECT count(*) FROM emogi_shortest_path('t', '1', 'nobody');
RESET emogi.notice_missing_source;
CREATE TABLE grows AS SELECT src, dst, 1e30 AS weight FROM t;
SELECT try($$emogi_heat_text('grows', 'SELECT ''1'', 1')$$);

RESET emogi.engine;

SET client_min_messages = warning;
DROP SCHEMA test_key_texts CASCADE;
