-- Every error that a caller can cause, by SQLSTATE.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS emogi;
RESET client_min_messages;
CREATE SCHEMA test_errors;
SET search_path = test_errors, public;
\pset format unaligned
\pset tuples_only on
\pset null (null)
\set VERBOSITY sqlstate

CREATE TABLE edges (src int, dst int, label text, km numeric, "at" timestamp, flag bool);
INSERT INTO edges VALUES (1, 2, 'x', 1.5, now(), true), (2, 3, 'y', 2, now(), false);

-- Missing objects.
SELECT * FROM emogi_bfs('nowhere', 1);
SELECT * FROM emogi_bfs('nowhere(src, dst)', 1);
SELECT * FROM emogi_bfs('test_errors.nowhere', 1);
SELECT * FROM emogi_bfs('"Edges"', 1);
SELECT * FROM emogi_bfs('edges(src, nowhere)', 1);
SELECT * FROM emogi_bfs('edges(nowhere, dst)', 1);
SELECT * FROM emogi_bfs('edges(src, dst, nowhere)', 1);
SELECT * FROM emogi_bfs('edges("SRC", dst)', 1);
SELECT * FROM emogi_bfs('SELECT src, dst FROM nowhere', 1);
SELECT * FROM emogi_bfs('SELECT src, nowhere FROM edges', 1);
SELECT * FROM emogi_bfs('SELECT src, nowhere(dst) FROM edges', 1);
SELECT * FROM emogi_bfs('TABLE nowhere', 1);
-- A dropped column does not exist.
CREATE TABLE dropped (src int, dst int, x int);
ALTER TABLE dropped DROP src;
SELECT * FROM emogi_bfs('dropped', 1);
SELECT * FROM emogi_bfs('dropped(src, dst)', 1);
SELECT * FROM emogi_bfs('dropped("........pg.dropped.1........", dst)', 1);
DO $$
BEGIN
  PERFORM * FROM emogi_bfs('dropped', 1);
EXCEPTION WHEN undefined_column THEN
  DECLARE
    detail text;
  BEGIN
    GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
    ASSERT detail LIKE '%dst%' AND detail NOT LIKE '%pg.dropped%', detail;
  END;
END $$;

-- No matching columns: the message lists the existing ones and an example.
CREATE TABLE flights (origin int, destination int, weight_kg int);
CREATE TABLE only_src (src int, target int);
CREATE TABLE empty ();
SELECT * FROM emogi_bfs('flights', 1);
SELECT * FROM emogi_bfs('only_src', 1);
SELECT * FROM emogi_bfs('empty', 1);
CREATE FUNCTION message(command text, OUT state text, OUT message text, OUT detail text, OUT hint text) LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE command;
EXCEPTION WHEN OTHERS THEN
  GET STACKED DIAGNOSTICS state = RETURNED_SQLSTATE, message = MESSAGE_TEXT, detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT;
END $$;
SELECT state, message LIKE '%flights%' AS relation, detail || hint LIKE '%origin%destination%weight_kg%' AS columns, hint LIKE '%flights(%' AS call
  FROM message($$ SELECT * FROM emogi_bfs('flights', 1) $$);
SELECT state, message LIKE '%nowhere%' AS "column", detail || hint LIKE '%origin%destination%weight_kg%' AS columns
  FROM message($$ SELECT * FROM emogi_bfs('flights(origin, nowhere)', 1) $$);

-- Keys that are not integers; weights that are not numbers.
CREATE TABLE texts (src text, dst int);
CREATE TABLE numerics (src numeric, dst int);
CREATE TABLE floats (src int, dst float8);
CREATE TABLE oids (src oid, dst int);
CREATE TABLE arrays (src int[], dst int);
CREATE DOMAIN code AS text;
CREATE TABLE codes (src code, dst int);
SELECT * FROM emogi_bfs('texts', 1);
SELECT * FROM emogi_bfs('numerics', 1);
SELECT * FROM emogi_bfs('floats', 1);
SELECT * FROM emogi_bfs('oids', 1);
SELECT * FROM emogi_bfs('arrays', 1);
SELECT * FROM emogi_bfs('codes', 1);
SELECT * FROM emogi_bfs('edges(src, km)', 1);
SELECT * FROM emogi_bfs('edges(flag, dst)', 1);
SELECT * FROM emogi_bfs('edges(src, dst, label)', 1);
SELECT * FROM emogi_bfs('edges(src, dst, at)', 1);
SELECT * FROM emogi_bfs('edges(src, dst, flag)', 1);
SELECT * FROM emogi_bfs('SELECT label, dst FROM edges', 1);
SELECT * FROM emogi_bfs('SELECT src, km FROM edges', 1);
SELECT * FROM emogi_bfs('SELECT ''1'', ''2''', 1);
SELECT * FROM emogi_bfs('SELECT NULL, NULL', 1);
SELECT * FROM emogi_bfs('SELECT e, e FROM edges e', 1);
SELECT message LIKE '%label%' AS "column", message || detail || hint LIKE '%text%' AS type
  FROM message($$ SELECT * FROM emogi_bfs('edges(label, dst)', 1) $$);

-- Relations without rows.
CREATE INDEX edges_src ON edges (src, dst);
CREATE SEQUENCE numbers;
CREATE TYPE pair AS (src int, dst int);
CREATE TABLE parts (src int, dst int) PARTITION BY RANGE (src);
CREATE INDEX parts_src ON parts (src, dst);
SELECT * FROM emogi_bfs('edges_src', 1);
SELECT * FROM emogi_bfs('parts_src', 1);
SELECT * FROM emogi_bfs('numbers', 1);
SELECT * FROM emogi_bfs('numbers(last_value, log_cnt)', 1);
SELECT * FROM emogi_bfs('pair', 1);
CREATE MATERIALIZED VIEW unfilled AS SELECT src, dst FROM edges WITH NO DATA;
SELECT * FROM emogi_bfs('unfilled', 1);

-- Other arguments.
SELECT * FROM emogi_bfs(NULL, 1);
SELECT * FROM emogi_bfs(NULL, NULL::bigint);
SELECT * FROM emogi_bfs(NULL, ARRAY[1]);
SELECT * FROM emogi_bfs('edges', 1, -1);
SELECT * FROM emogi_bfs('edges', ARRAY[1], -2147483648);
SELECT * FROM emogi_bfs('edges', 1, direction => 'sideways');
SELECT * FROM emogi_bfs('edges', 1, direction => '');
SELECT * FROM emogi_bfs('edges', 1, direction => ' out');
SELECT * FROM emogi_bfs('edges', 1, direction => 'outward');
SELECT * FROM emogi_bfs('edges', 1, direction => 'i');
SELECT state, message LIKE '%sideways%' AS value, message || detail || hint LIKE '%out%in%both%' AS choices
  FROM message($$ SELECT * FROM emogi_bfs('edges', 1, direction => 'sideways') $$);
SELECT state, message LIKE '%-7%' AS value FROM message($$ SELECT * FROM emogi_bfs('edges', 1, -7) $$);

-- Without a source there are no rows, but the graph is checked nevertheless.
SELECT * FROM emogi_bfs('nowhere', NULL::bigint);
SELECT * FROM emogi_bfs('nowhere', NULL::bigint[]);
SELECT * FROM emogi_bfs('nowhere', '{}'::bigint[]);
SELECT * FROM emogi_bfs('flights', NULL::bigint);
SELECT * FROM emogi_bfs('texts', '{}'::bigint[]);
SELECT * FROM emogi_bfs('', NULL::bigint);
SELECT * FROM emogi_bfs('SELECT 1', NULL::bigint);
SELECT * FROM emogi_bfs('SELECT 1, nowhere', '{}'::bigint[]);
SELECT * FROM emogi_bfs('SELECT s, d FROM (VALUES (''a'', ''b'')) v(s, d)', '{}'::bigint[]);

-- Text that names nothing.
CREATE FUNCTION states(texts text[]) RETURNS TABLE (graph text, state text) LANGUAGE plpgsql AS $$
BEGIN
  FOREACH graph IN ARRAY texts LOOP
    state := 'no error';
    BEGIN
      PERFORM emogi_bfs(graph, 1);
    EXCEPTION WHEN OTHERS THEN
      state := SQLSTATE;
    END;
    RETURN NEXT;
  END LOOP;
END $$;
SELECT * FROM states(ARRAY['', ' ', E'\t\n', '.', '()', '(', ')', ';', '1', '-1', '''edges''', '$1', 'edges.', '.edges', 'edges edges', 'edges;', 'edges, edges',
  'a.b.c.d.e', '"edges', 'edges"', '""', 'edges()', 'edges(', 'edges(src', 'edges(src)', 'edges(src,)', 'edges(,dst)', 'edges(src dst)', 'edges(src, dst',
  'edges(src, dst) x', 'edges(src, dst))', 'edges((src), dst)', 'edges(src, dst, km, km, km, km)', 'edges(src, dst,)', 'edges(src, "")', 'edges(src, "dst)', 'edges(1, 2)',
  'edges(src + 1, dst)', 'edges(edges.src, edges.dst)', 'edges(src, dst); DROP TABLE edges', 'edges WHERE true', 'edges -> x', '--', '-- only a comment', '/* unended']);

-- A missing schema, as in PostgreSQL: 42P01 or 3F000.
SELECT graph, state IN ('42P01', '3F000') FROM states(ARRAY['nowhere.edges', 'nowhere.edges(src, dst)', 'pg_temp_4711.edges']);

-- Text that is not a query, or a query with too few columns.
SELECT * FROM states(ARRAY['SELECT', 'SELECT;', 'SELECT FROM edges', 'SELECT 1', 'SELECT src FROM edges', 'VALUES (1)', 'WITH', 'VALUES', 'TABLE', '(', '(SELECT 1, 2',
  'SELECT 1, 2)', 'SELECT 1, 2 FROM', 'SELECT 1, 2 FRO edges x', 'SELECT 1,, 2', 'SELECT 1, ''2', 'SELECT 1, 2 /* unended', 'WITH x AS (SELECT 1, 2)', 'SELECT 1 2']);
SELECT * FROM emogi_bfs('SELECT 1, $1', 1);

-- Errors raised by the query at run time are passed through.
SELECT * FROM emogi_bfs('SELECT src, dst / (src - 2) FROM edges', 1);
SELECT * FROM emogi_bfs('SELECT src, 2147483647 + dst FROM edges', 1);
SELECT * FROM emogi_bfs('SELECT src, label::int FROM edges', 1);
SELECT * FROM emogi_bfs('SELECT src, (SELECT dst FROM edges) FROM edges', 1);
CREATE FUNCTION refuse(i int) RETURNS int LANGUAGE plpgsql STABLE AS $$ BEGIN RAISE EXCEPTION 'refused' USING ERRCODE = 'EM001'; END $$;
SELECT * FROM emogi_bfs('SELECT src, refuse(dst) FROM edges', 1);
CREATE VIEW refusing AS SELECT src, refuse(dst) AS dst FROM edges;
SELECT * FROM emogi_bfs('refusing', 1);
SELECT * FROM emogi_bfs('SELECT vertex, level FROM emogi_bfs(''edges'', 1, -1)', 1);

-- Anything except one SELECT is rejected and changes nothing.
CREATE FUNCTION refused(texts text[]) RETURNS TABLE (graph text, answer text) LANGUAGE sql AS
  $$ SELECT graph, CASE WHEN state IN ('42601', '0A000', '25006') THEN 'refused' ELSE state END FROM states(texts) $$;
SELECT * FROM refused(ARRAY[
  'INSERT INTO edges VALUES (7, 8) RETURNING src, dst',
  'UPDATE edges SET src = 7 RETURNING src, dst',
  'DELETE FROM edges RETURNING src, dst',
  'TRUNCATE edges',
  'DROP TABLE edges',
  'CREATE TABLE made AS SELECT 1, 2',
  'EXPLAIN SELECT 1, 2',
  'EXECUTE p',
  'FETCH ALL FROM c',
  'SHOW emogi.engine',
  'COPY edges TO STDOUT',
  'DO $x$ BEGIN DELETE FROM edges; END $x$',
  'SELECT 1, 2 INTO made',
  'SELECT src, dst INTO TEMP made FROM edges',
  'WITH x AS (INSERT INTO edges VALUES (7, 8) RETURNING src, dst) SELECT src, dst FROM x',
  'WITH x AS (UPDATE edges SET src = 7 RETURNING src, dst) TABLE x',
  'WITH x AS (DELETE FROM edges RETURNING src, dst) SELECT * FROM x',
  'WITH x AS (DELETE FROM edges) SELECT 1, 2',
  'SELECT * FROM (WITH x AS (DELETE FROM edges RETURNING src, dst) SELECT * FROM x) y',
  'WITH x AS (SELECT 7, 8) INSERT INTO edges SELECT * FROM x RETURNING src, dst',
  'WITH x AS (SELECT 1) DELETE FROM edges USING x RETURNING src, dst',
  'SELECT 1, 2; SELECT 3, 4',
  'SELECT 1, 2; DELETE FROM edges',
  'SELECT 1, 2; DELETE FROM edges; --',
  'DELETE FROM edges; SELECT 1, 2',
  ';SELECT 1, 2',
  '(SELECT 1, 2); DROP TABLE edges',
  'TABLE edges; TRUNCATE edges',
  'VALUES (1, 2); DELETE FROM edges',
  'SELECT 1, 2) q; DELETE FROM edges; SELECT * FROM (SELECT 3, 4',
  'SELECT 1, 2) q, (SELECT 3, 4',
  'SELECT 1, 2) UNION ALL (SELECT 3, 4',
  E'SELECT 1, 2) q --\n',
  'SELECT 1, 2) q /*',
  'SELECT src, dst FROM edges FOR']);
SELECT src, dst FROM edges ORDER BY src;
SELECT count(*) FROM pg_class WHERE relname = 'made';

-- Settings.
SET emogi.engine = 'gpu';
SET emogi.engine = '';
SET emogi.placement = 'moon';
SET emogi.build_workers = -2;
SET emogi.build_workers = 'many';
SET emogi.max_memory = '1GB';
SET emogi.cpu_threads = 1;
SET emogi.engine = 'CPU';
RESET emogi.engine;

-- Wrong arguments of the call itself, as in PostgreSQL.
SELECT * FROM emogi_bfs('edges');
SELECT * FROM emogi_bfs('edges', 'one'::text);
SELECT * FROM emogi_bfs('edges', 1, way => 'out');

-- Calls still work after these errors.
SELECT string_agg(vertex || ':' || level, ' ') FROM emogi_bfs('edges', 1);
