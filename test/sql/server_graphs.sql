-- Cached graphs of foreign tables: they are used exactly as long as the server reports no changes.
-- The server is this one. t/080_server_graphs.pl tests others, with concurrent writers and readers.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS emogi;
SELECT count(*) = 0 AS missing FROM pg_available_extensions WHERE name = 'postgres_fdw' \gset
\if :missing
\echo 'postgres_fdw is not installed'
\quit
\endif
CREATE EXTENSION IF NOT EXISTS postgres_fdw;
CREATE SCHEMA server_graphs;
CREATE SCHEMA server_graphs_far;
SET search_path = server_graphs, public;
SET emogi.engine = cpu;
\pset format unaligned
\pset tuples_only on
DO $$ BEGIN
  EXECUTE format('CREATE SERVER server_graphs_a FOREIGN DATA WRAPPER postgres_fdw OPTIONS (dbname %1$L, host %2$L, port %3$L)', current_database(),
                 coalesce(nullif(split_part(current_setting('unix_socket_directories'), ',', 1), ''), 'localhost'), current_setting('port'));
END $$;
CREATE USER MAPPING FOR CURRENT_USER SERVER server_graphs_a;
-- Vertices reached from 1, and the source of the graph.
CREATE FUNCTION reach(graph text, source text DEFAULT '1') RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  reached text;
  way text;
BEGIN
  SELECT string_agg(vertex, ' ' ORDER BY vertex COLLATE "C") INTO reached FROM emogi_bfs(graph, source);
  SELECT cache INTO way FROM emogi_runs WHERE pid = pg_backend_pid() ORDER BY id DESC LIMIT 1;
  RETURN reached || ': ' || way;
END $$;
-- Why the graph of the last call is private.
CREATE FUNCTION why_not(graph text) RETURNS text LANGUAGE sql VOLATILE AS $$
  SELECT why_private FROM emogi_runs WHERE pid = pg_backend_pid() AND source = graph ORDER BY id DESC LIMIT 1 $$;
-- Run a command there, in a committed transaction: rows changed by this transaction are read by
-- postgres_fdw, through a foreign table.
CREATE TABLE server_graphs_far.t (src bigint, dst bigint, w float8);
INSERT INTO server_graphs_far.t VALUES (1, 2, 1), (2, 3, 1);
CREATE FOREIGN TABLE t (src bigint, dst bigint, w float8) SERVER server_graphs_a OPTIONS (schema_name 'server_graphs_far');

-- ---- stamps
SELECT emogi_stamp('server_graphs_far.t', '{src,dst}') = emogi_stamp('server_graphs_far.t', '{w}') AS same, length(emogi_stamp('server_graphs_far.t', '{src}'));
SELECT emogi_stamp('server_graphs_far.t', '{src}') AS before \gset
INSERT INTO server_graphs_far.t VALUES (3, 4, 1);
SELECT emogi_stamp('server_graphs_far.t', '{src}') <> :'before' AS other;
SELECT emogi_stamp('server_graphs_far.t', '{src}') AS before \gset
BEGIN;
INSERT INTO server_graphs_far.t VALUES (4, 5, 1);
SELECT emogi_stamp('server_graphs_far.t', '{src}') IS NULL AS own_changes;
ROLLBACK;
SELECT emogi_stamp('server_graphs_far.t', '{src}') = :'before' AS same;
BEGIN ISOLATION LEVEL SERIALIZABLE;
SELECT emogi_stamp('server_graphs_far.t', '{src}') IS NULL AS serializable;
ROLLBACK;
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT emogi_stamp('server_graphs_far.t', '{src}') = :'before' AS same;
COMMIT;
-- tables without a stamp
CREATE TYPE server_graphs_far.colour AS ENUM ('red', 'blue');
CREATE DOMAIN server_graphs_far.number AS int;
CREATE TABLE server_graphs_far.odd (e server_graphs_far.colour, d server_graphs_far.number, c regclass, j json, i int);
CREATE VIEW server_graphs_far.v AS SELECT * FROM server_graphs_far.t;
CREATE MATERIALIZED VIEW server_graphs_far.m AS SELECT * FROM server_graphs_far.t;
CREATE MATERIALIZED VIEW server_graphs_far.unfilled AS SELECT * FROM server_graphs_far.t WITH NO DATA;
CREATE UNLOGGED TABLE server_graphs_far.u (src int);
CREATE TEMPORARY TABLE server_graphs_temporary (src int);
CREATE TABLE server_graphs_far.parent (src int);
CREATE TABLE server_graphs_far.child () INHERITS (server_graphs_far.parent);
CREATE TABLE server_graphs_far.parts (src int) PARTITION BY LIST (src);
CREATE TABLE server_graphs_far.secured (src int);
SELECT r, c, emogi_stamp(r, c) IS NOT NULL AS told FROM (VALUES ('server_graphs_far.odd'::regclass, '{e}'::text[]), ('server_graphs_far.odd', '{d}'), ('server_graphs_far.odd', '{c}'),
  ('server_graphs_far.odd', '{j}'), ('server_graphs_far.odd', '{i}'), ('server_graphs_far.odd', '{i,e}'), ('server_graphs_far.odd', '{nothing}'), ('server_graphs_far.odd', '{}'),
  ('server_graphs_far.odd', '{NULL}'), ('server_graphs_far.odd', '{ctid}'), ('server_graphs_far.odd', '{{i},{i}}'),
  ('server_graphs_far.v', '{src}'), ('server_graphs_far.m', '{src}'), ('server_graphs_far.unfilled', '{src}'), ('server_graphs_far.u', '{src}'), ('server_graphs_temporary', '{src}'),
  ('server_graphs_far.parent', '{src}'), ('server_graphs_far.child', '{src}'), ('server_graphs_far.parts', '{src}'), ('pg_class', '{relname}'), ('server_graphs_far.secured', '{src}')) v(r, c);
SELECT emogi_stamp(NULL, '{src}') IS NULL, emogi_stamp('server_graphs_far.t', NULL) IS NULL;
SELECT emogi_stamp(0, '{src}');
SELECT emogi_stamp(4294967295, '{src}');
CREATE ROLE regress_emogi_server_graphs;
GRANT USAGE ON SCHEMA server_graphs_far, server_graphs TO regress_emogi_server_graphs;
GRANT SELECT (src) ON server_graphs_far.t TO regress_emogi_server_graphs;
GRANT SELECT ON server_graphs_far.secured TO regress_emogi_server_graphs;
ALTER TABLE server_graphs_far.secured ENABLE ROW LEVEL SECURITY;
SET ROLE regress_emogi_server_graphs;
SELECT emogi_stamp('server_graphs_far.t', '{src}') IS NULL AS may_read_a_column, emogi_stamp('server_graphs_far.secured', '{src}') IS NULL AS row_security;
RESET ROLE;
SELECT emogi_stamp('server_graphs_far.secured', '{src}') IS NOT NULL AS sees_all;

-- ---- changes that affect a graph, and others
SELECT reach('t'), reach('t'), reach('t(dst, src)', '3'), reach('t(dst, src)', '3');
SELECT reach('t');
INSERT INTO server_graphs_far.t VALUES (4, 5, 1);
SELECT reach('t'), reach('t');
DELETE FROM server_graphs_far.t WHERE src = 4;
SELECT reach('t'), reach('t');
SELECT why_built FROM emogi_runs WHERE pid = pg_backend_pid() AND cache = 'built' ORDER BY id DESC LIMIT 1;
UPDATE server_graphs_far.t SET dst = 7 WHERE src = 3;
SELECT reach('t'), reach('t');
BEGIN; INSERT INTO server_graphs_far.t VALUES (7, 8, 1); ROLLBACK;
SELECT reach('t');
BEGIN; SAVEPOINT s; INSERT INTO server_graphs_far.t VALUES (7, 8, 1); ROLLBACK TO s; COMMIT;
SELECT split_part(reach('t'), ':', 1);
VACUUM server_graphs_far.t;
ANALYZE server_graphs_far.t;
SELECT split_part(reach('t'), ':', 1), reach('t');
VACUUM FULL server_graphs_far.t;
SELECT reach('t'), reach('t');
ALTER TABLE server_graphs_far.t ADD COLUMN late int DEFAULT 5;
SELECT reach('t'), reach('t');
TRUNCATE server_graphs_far.t;
SELECT reach('t') IS NULL;
INSERT INTO server_graphs_far.t VALUES (1, 9, 2);
SELECT reach('t'), reach('t');
-- another remote table of the name, and back again
CREATE TABLE server_graphs_far.other (LIKE server_graphs_far.t);
INSERT INTO server_graphs_far.other VALUES (1, 100);
BEGIN;
ALTER TABLE server_graphs_far.t RENAME TO kept;
ALTER TABLE server_graphs_far.other RENAME TO t;
COMMIT;
SELECT reach('t'), reach('t');
BEGIN;
ALTER TABLE server_graphs_far.t RENAME TO other;
ALTER TABLE server_graphs_far.kept RENAME TO t;
COMMIT;
SELECT split_part(reach('t'), ':', 1), reach('t');
-- another column, locally and remotely
ALTER TABLE server_graphs_far.t RENAME dst TO far_dst;
SELECT reach('t');
ALTER FOREIGN TABLE t ALTER dst OPTIONS (ADD column_name 'far_dst');
SELECT reach('t'), reach('t');
ALTER FOREIGN TABLE t ALTER dst OPTIONS (SET column_name 'late');
UPDATE server_graphs_far.t SET late = 77;
SELECT split_part(reach('t'), ':', 1), reach('t');
ALTER FOREIGN TABLE t ALTER dst OPTIONS (SET column_name 'far_dst');
SELECT split_part(reach('t'), ':', 1), reach('t');
ALTER FOREIGN TABLE t OPTIONS (ADD table_name 'other');
ALTER TABLE server_graphs_far.other RENAME dst TO far_dst;
SELECT split_part(reach('t'), ':', 1), reach('t');
ALTER FOREIGN TABLE t OPTIONS (SET table_name 't');
SELECT split_part(reach('t'), ':', 1), reach('t');

-- ---- sharing
SELECT relation::regclass, columns, vertices, edges, kept FROM emogi_graphs WHERE database = current_database() AND relation = 't'::regclass ORDER BY columns;
SELECT cache, vertices, edges, kept FROM emogi_prewarm('t', weights => true, keep => true);
SELECT cache, kept FROM emogi_prewarm('t', weights => true);
SELECT reach('t');    -- with or without weights
INSERT INTO server_graphs_far.t VALUES (9, 10, 1);
SELECT reach('t');
SELECT cache, vertices, kept FROM emogi_prewarm('t', weights => true);
SELECT emogi_evict('t') > 0 AS evicted;
SELECT reach('t'), reach('t');
SELECT cache, kept FROM emogi_prewarm('t', backward => true, keep => true);
INSERT INTO server_graphs_far.t VALUES (10, 11, 1);
SELECT cache, kept FROM emogi_prewarm('t', keep => false);    -- one of older rows, too
SELECT count(*) FROM emogi_graphs WHERE database = current_database() AND relation = 't'::regclass AND kept;
DELETE FROM server_graphs_far.t WHERE src = 10;
SELECT reach('t');
SET emogi.enable_cache = off;
SELECT reach('t'), why_not('t');
RESET emogi.enable_cache;
BEGIN ISOLATION LEVEL SERIALIZABLE;
SELECT reach('t'), why_not('t');
COMMIT;

-- ---- why it is not cached
CREATE FOREIGN TABLE of_view (src bigint, dst bigint) SERVER server_graphs_a OPTIONS (schema_name 'server_graphs_far', table_name 'v');
CREATE FOREIGN TABLE of_texts (src text, dst text) SERVER server_graphs_a OPTIONS (schema_name 'server_graphs_far', table_name 'm');
SELECT reach('of_view') IS NOT NULL, why_not('of_view');
SELECT reach('of_texts') IS NOT NULL, why_not('of_texts');
CREATE FUNCTION refused(graph text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  detail text;
BEGIN
  PERFORM emogi_prewarm(graph);
  RETURN 'not';
EXCEPTION WHEN object_not_in_prerequisite_state THEN
  GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
  RETURN detail;
END $$;
SELECT refused('of_view');
SET emogi.enable_cache = off;
SELECT refused('t');
RESET emogi.enable_cache;
DROP FOREIGN TABLE of_view, of_texts;
SET emogi.server_connections = 0;
SELECT reach('t');
SET emogi.server_connections = 1;
SELECT reach('t');
RESET emogi.server_connections;
SELECT ok, differs, cache FROM emogi_check('t');
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT reach('t');
COMMIT;
BEGIN;
INSERT INTO t VALUES (10, 11);
SELECT reach('t');
ROLLBACK;
SELECT reach('t');
-- tables whose remote privileges are those of other roles
CREATE FOREIGN TABLE odd (e text, i int) SERVER server_graphs_a OPTIONS (schema_name 'server_graphs_far');
INSERT INTO server_graphs_far.odd VALUES ('red', NULL, NULL, NULL, 1), ('blue', NULL, NULL, NULL, 2);
SELECT reach('odd(i, i)'), reach('odd(i, i)'), reach('odd(e, e)', 'red'), reach('odd(e, e)', 'red');
ALTER TYPE server_graphs_far.colour RENAME VALUE 'red' TO 'green';
SELECT reach('odd(e, e)', 'green');
-- tables whose values other sessions may interpret differently
CREATE TABLE server_graphs_far.times (t timestamp, w timestamptz, b bytea, s text, v varchar(10), i smallint, f float4);
INSERT INTO server_graphs_far.times VALUES ('2026-01-01', '2026-01-01 00:00:00+00', 'a', '01/02/2026', 'v', 1, 0.5);
CREATE FOREIGN TABLE times (t timestamptz, w timestamptz, b text, s date, v text, i bigint, f float8) SERVER server_graphs_a OPTIONS (schema_name 'server_graphs_far');
SET timezone = 'UTC';
SELECT c, reach(format('times(%1$s, %1$s)', c), v), reach(format('times(%1$s, %1$s)', c), v) FROM (VALUES ('t', '2026-01-01'), ('w', '2026-01-01'), ('b', '\x61'), ('s', '2026-01-02'), ('v', 'v'), ('i', '1'), ('f', '0.5')) x(c, v);
SET timezone = 'Asia/Tokyo';
SELECT c, reach(format('times(%1$s, %1$s)', c), v) FROM (VALUES ('t', '2026-01-01'), ('w', '2026-01-01 09:00')) x(c, v);
RESET timezone;
CREATE DOMAIN server_graphs.here AS int CHECK (value < 2000);
CREATE FOREIGN TABLE odd_here (i here, d int) SERVER server_graphs_a OPTIONS (schema_name 'server_graphs_far', table_name 'odd');
SELECT reach('odd_here(i, i)'), reach('odd_here(i, i)');

-- ---- remote and local partitions
CREATE TABLE server_graphs_far.p1 (src bigint, dst bigint);
CREATE TABLE server_graphs_far.p2 (src bigint, dst bigint);
CREATE TABLE p (src bigint, dst bigint) PARTITION BY RANGE (src);
CREATE FOREIGN TABLE p1 PARTITION OF p FOR VALUES FROM (0) TO (10) SERVER server_graphs_a OPTIONS (schema_name 'server_graphs_far');
CREATE FOREIGN TABLE p2 PARTITION OF p FOR VALUES FROM (10) TO (20) SERVER server_graphs_a OPTIONS (schema_name 'server_graphs_far');
CREATE TABLE p3 PARTITION OF p FOR VALUES FROM (20) TO (30);
SELECT count(*) FROM emogi_degree('p');
INSERT INTO server_graphs_far.p1 VALUES (1, 11);
SELECT reach('p'), reach('p');
INSERT INTO server_graphs_far.p2 VALUES (11, 21);
SELECT reach('p'), reach('p');
INSERT INTO p3 VALUES (21, 1);
SELECT reach('p'), reach('p');
DELETE FROM p3;
SELECT reach('p'), reach('p');
ALTER TABLE p DETACH PARTITION p2;
SELECT reach('p'), reach('p');
ALTER TABLE p ATTACH PARTITION p2 FOR VALUES FROM (10) TO (20);
SELECT split_part(reach('p'), ':', 1), reach('p');
BEGIN;
INSERT INTO p3 VALUES (21, 22);
SELECT reach('p');
ROLLBACK;
SELECT reach('p');
DROP FOREIGN TABLE p2;
SELECT split_part(reach('p'), ':', 1);
DROP TABLE p;
SELECT count(*) FROM emogi_graphs g WHERE database = current_database() AND NOT EXISTS (SELECT FROM pg_class c WHERE c.oid = g.relation) AND source IS NULL;

-- ---- more writers than a ring holds
DO $$ BEGIN FOR i IN 1 .. 300 LOOP INSERT INTO server_graphs_far.t VALUES (1000 + i, 0); COMMIT; END LOOP; END $$;
SELECT emogi_stamp('server_graphs_far.t', '{src}') = emogi_stamp('server_graphs_far.t', '{src}') AS same;
SELECT split_part(reach('t', '1300'), ':', 1), reach('t', '1300');

-- ---- connections that are kept open
SELECT count(*) FROM pg_stat_activity WHERE application_name = 'emogi';
SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE application_name = 'emogi';
SELECT reach('t', '1300');
ALTER SERVER server_graphs_a OPTIONS (ADD keep_connections 'off');
SELECT reach('t', '1300'), reach('t', '1300');
DO $$ BEGIN
  FOR i IN 1 .. 1000 LOOP
    PERFORM pg_stat_clear_snapshot();
    EXIT WHEN NOT EXISTS (SELECT FROM pg_stat_activity WHERE application_name = 'emogi');
    PERFORM pg_sleep(0.01);
  END LOOP;
END $$;
SELECT count(*) FROM pg_stat_activity WHERE application_name = 'emogi';
-- a mapping to another remote role takes effect immediately
ALTER SERVER server_graphs_a OPTIONS (DROP keep_connections);
SELECT reach('t', '1300');
ALTER ROLE regress_emogi_server_graphs LOGIN;
ALTER USER MAPPING FOR CURRENT_USER SERVER server_graphs_a OPTIONS (ADD user 'regress_emogi_server_graphs');
-- that role cannot read the table; if pg_hba.conf requires peer or passwords, it cannot even
-- connect
DO $$ BEGIN
  RAISE EXCEPTION 'read as the role before: %', reach('t', '1300');
EXCEPTION
  WHEN insufficient_privilege OR sqlclient_unable_to_establish_sqlconnection THEN RAISE WARNING 'refused there';
END $$;

SET client_min_messages = error;
DROP SCHEMA server_graphs CASCADE;
DROP SCHEMA server_graphs_far CASCADE;
DROP SERVER server_graphs_a CASCADE;
DROP OWNED BY regress_emogi_server_graphs;
DROP ROLE regress_emogi_server_graphs;
