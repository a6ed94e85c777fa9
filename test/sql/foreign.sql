-- Foreign tables: alone, as partitions and as inheritance children, through file_fdw and
-- postgres_fdw.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS emogi;
RESET client_min_messages;
SELECT count(*) < 2 AS missing FROM pg_available_extensions WHERE name IN ('file_fdw', 'postgres_fdw') \gset
\if :missing
\echo 'file_fdw or postgres_fdw is not installed'
\quit
\endif
CREATE SCHEMA test_foreign;
SET search_path = test_foreign, public;
\pset format unaligned
\pset tuples_only on
\pset null (null)

-- Files.
CREATE EXTENSION file_fdw;
CREATE SERVER files FOREIGN DATA WRAPPER file_fdw;
CREATE FOREIGN TABLE f1 (note text, src smallint, dst bigint)
  SERVER files OPTIONS (program 'printf "a,1,2\nb,2,3\nc,3,4\nd,1,5\ne,,1\n"', format 'csv', null '');
SELECT string_agg(vertex || ':' || level, ' ') FROM emogi_bfs('f1', 1);
SELECT string_agg(vertex || ':' || level, ' ') FROM emogi_bfs('f1(dst, src)', 4);
SELECT string_agg(vertex || ':' || level, ' ') FROM emogi_bfs('SELECT src, dst FROM f1 WHERE dst < 5', 1);

-- A partition and a child that are files.
CREATE TABLE p (src int, dst int) PARTITION BY RANGE (src);
CREATE TABLE p1 PARTITION OF p FOR VALUES FROM (1) TO (2);
INSERT INTO p VALUES (1, 2);
CREATE FOREIGN TABLE p2 (dst int, src int) SERVER files OPTIONS (program 'printf "3,2\n1,2\n"', format 'csv');
ALTER TABLE p ATTACH PARTITION p2 FOR VALUES FROM (2) TO (3);
SELECT string_agg(vertex || ':' || level, ' ') FROM emogi_bfs('p', 1);
SELECT string_agg(vertex || ':' || level, ' ') FROM emogi_bfs('p2', 1);
SELECT string_agg(vertex || ':' || level, ' ') FROM emogi_bfs('p', 3, direction => 'in');
CREATE TABLE i0 (src int, dst int);
INSERT INTO i0 VALUES (1, 2);
CREATE FOREIGN TABLE i1 (dst int, x text, src int) SERVER files OPTIONS (program 'printf "3,x,2\n"', format 'csv');
ALTER FOREIGN TABLE i1 INHERIT i0;
SELECT string_agg(vertex || ':' || level, ' ') FROM emogi_bfs('i0', 1);

-- Errors of the wrapper are passed through.
\set VERBOSITY sqlstate
CREATE FOREIGN TABLE bad_number (src int, dst int) SERVER files OPTIONS (program 'printf "1,2\n2,x\n"', format 'csv');
SELECT * FROM emogi_bfs('bad_number', 1);
CREATE FOREIGN TABLE bad_program (src int, dst int) SERVER files OPTIONS (program 'exit 3', format 'csv');
SELECT * FROM emogi_bfs('bad_program', 1);
SELECT string_agg(vertex || ':' || level, ' ') FROM emogi_bfs('f1', 1);

-- Another database, here the same one.
CREATE EXTENSION postgres_fdw;
DO $$ BEGIN
  EXECUTE format('CREATE SERVER loopback FOREIGN DATA WRAPPER postgres_fdw OPTIONS (dbname %L, host %L, port %L)', current_database(),
                 coalesce(nullif(split_part(current_setting('unix_socket_directories'), ',', 1), ''), 'localhost'), current_setting('port'));
END $$;
CREATE FOREIGN TABLE r1 (dst int, src int) SERVER loopback OPTIONS (schema_name 'test_foreign', table_name 'remote');
SELECT * FROM emogi_bfs('r1', 1);
CREATE USER MAPPING FOR CURRENT_USER SERVER loopback;
SELECT * FROM emogi_bfs('r1', 1);
CREATE TABLE remote AS SELECT i AS src, i + 1 AS dst FROM generate_series(1, 1000) i;
SELECT count(*), max(level) FROM emogi_bfs('r1', 1);
SELECT count(*), max(level) FROM emogi_bfs('SELECT src, dst FROM r1 WHERE src < 500', 1);
SELECT count(*), max(level) FROM emogi_bfs('SELECT a.src, b.dst FROM r1 a JOIN r1 b ON a.dst = b.src', 1);
