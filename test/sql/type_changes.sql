-- Types of keys and of expressions: those rejected because only one session knows them, and a
-- rebuild after ALTER TYPE, which locks no table of the graph. t/088_ddl_matrix.pl tests all other
-- DDL statements.
SET client_min_messages = warning;
CREATE SCHEMA type_changes;
SET search_path = type_changes, public;
CREATE EXTENSION IF NOT EXISTS emogi;
SET emogi.engine = cpu;
SET emogi.incremental_min_size = 0;
\set VERBOSITY default
CREATE VIEW last_call AS SELECT cache FROM emogi_runs WHERE pid = pg_backend_pid() ORDER BY id DESC LIMIT 1;

-- ---- anonymous rows inside other types
SELECT * FROM emogi_cc_text('SELECT ARRAY[ROW(x, x + 1)] AS src, ARRAY[ROW(x + 1, x + 2)] AS dst FROM generate_series(1, 3) AS x');
SELECT * FROM emogi_cc_text('SELECT ROW(x, ARRAY[ROW(x)]) AS src, ROW(x + 1, ARRAY[ROW(x)]) AS dst FROM generate_series(1, 3) AS x');
SELECT * FROM emogi_cc_text('SELECT ROW(x, ROW(x)) AS src, ROW(x + 1, ROW(x)) AS dst FROM generate_series(1, 3) AS x');
SELECT * FROM emogi_cc_text('SELECT histogram_bounds AS src, histogram_bounds AS dst FROM pg_stats');
EXPLAIN SELECT * FROM emogi_cc_text('SELECT ARRAY[ROW(x, x + 1)] AS src, ARRAY[ROW(x + 1, x + 2)] AS dst FROM generate_series(1, 3) AS x');
SELECT * FROM emogi_bfs('SELECT ARRAY[ROW(1)] AS src, ARRAY[ROW(2)] AS dst', '{"(1)"}'::text);
-- as arrays of a named type they are keys, and so is an anonymous row of plain columns
CREATE TYPE pair AS (a integer, b integer);
SELECT * FROM emogi_cc_text('SELECT ARRAY[ROW(x, 0)::pair] AS src, ARRAY[ROW(x + 1, 0)::pair] AS dst FROM generate_series(1, 2) AS x') ORDER BY 1;
SELECT * FROM emogi_cc_text('SELECT ROW(x, 0) AS src, ROW(x + 1, 0) AS dst FROM generate_series(1, 2) AS x') ORDER BY 1;

-- ---- keys of composite types within others
CREATE TYPE nested AS (p pair);
CREATE TABLE other (a integer, b integer);
CREATE DOMAIN pair_domain AS pair;
CREATE TYPE pair_range AS RANGE (subtype = pair);
CREATE TABLE t (id bigint, s1 nested, d1 nested, s2 pair[], d2 pair[], s3 pair_range, d3 pair_range, s4 nested[], d4 nested[], c pair, d pair_domain, o other, src bigint, dst bigint);
INSERT INTO t SELECT i, ROW(ROW(1, i)::pair)::nested, ROW(ROW(2, i)::pair)::nested, ARRAY[ROW(1, i)::pair], ARRAY[ROW(2, i)::pair],
    pair_range(ROW(1, i)::pair, ROW(2, i)::pair), pair_range(ROW(2, i)::pair, ROW(3, i)::pair),
    ARRAY[ROW(ROW(1, i)::pair)::nested], ARRAY[ROW(ROW(2, i)::pair)::nested], ROW(1, i)::pair, ROW(1, 1)::pair, ROW(i, i)::other, i, i + 1
  FROM generate_series(1, 4) AS i;
CREATE FUNCTION answers() RETURNS TABLE (graph text, vertices text, cache text) LANGUAGE plpgsql AS $$
BEGIN
  FOREACH graph IN ARRAY ARRAY['t(s1, d1)', 't(s2, d2)', 't(s3, d3)', 't(s4, d4)', 'SELECT s1 AS src, d1 AS dst FROM t'] LOOP
    vertices := (SELECT string_agg(vertex, ' ' ORDER BY vertex) FROM emogi_cc_text(graph));
    cache := (SELECT l.cache FROM last_call l);
    RETURN NEXT;
  END LOOP;
  FOREACH graph IN ARRAY ARRAY['c IS NOT NULL', 'c = d', 'o IS NOT NULL', 'c >= d', 'c = ANY (s2)', 's2 && ARRAY[d::pair]'] LOOP
    vertices := (SELECT count(*) FROM emogi_cc('SELECT src, dst FROM t WHERE ' || graph));
    cache := (SELECT l.cache FROM last_call l);
    RETURN NEXT;
  END LOOP;
  graph := 'DISTINCT ON (c)';
  vertices := (SELECT count(*) FROM emogi_cc('SELECT DISTINCT ON (c) src, dst FROM t'));
  cache := (SELECT l.cache FROM last_call l);
  RETURN NEXT;
END $$;
SELECT * FROM answers();
SELECT graph, cache FROM answers();
ALTER TYPE pair DROP ATTRIBUTE b;
SELECT * FROM answers();
SELECT graph, cache FROM answers();
ALTER TYPE pair ADD ATTRIBUTE b integer;
ALTER TABLE other ADD COLUMN c integer;
SELECT * FROM answers();
ALTER TYPE pair RENAME ATTRIBUTE a TO first;
SELECT graph, cache FROM answers() WHERE graph ~ 't\(' ;

-- ---- negative control: without the rule a graph is stale
SET emogi.fault = 'query_types=0';
UPDATE t SET o = ROW(1, NULL, NULL)::other WHERE id = 1;
SELECT count(*) FROM emogi_cc('SELECT src, dst FROM t WHERE o IS NOT NULL');
ALTER TABLE other DROP COLUMN b, DROP COLUMN c;
SELECT count(*) FROM emogi_cc('SELECT src, dst FROM t WHERE o IS NOT NULL');
RESET emogi.fault;
SELECT count(*) FROM emogi_cc('SELECT src, dst FROM t WHERE o IS NOT NULL');

-- ---- types that refer to others along many paths: each is described once
CREATE TYPE deep0 AS (a integer);
DO $$
BEGIN
  FOR i IN 1 .. 12 LOOP
    EXECUTE format('CREATE TYPE deep%s AS (a deep%s, b deep%2$s[], c deep%2$s)', i, i - 1);
  END LOOP;
END $$;
SET statement_timeout = '10s';
CREATE TABLE deep (src deep12, dst deep12);
SELECT count(*) FROM emogi_cc_text('deep');
SELECT count(*) FROM emogi_cc('SELECT 1 AS src, 2 AS dst FROM deep WHERE src IS NULL');
RESET statement_timeout;
DROP SCHEMA type_changes CASCADE;
