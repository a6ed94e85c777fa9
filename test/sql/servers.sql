-- Foreign tables of postgres_fdw, read by emogi's own connections and by postgres_fdw: both return
-- the same, in each of these cases. t/061_servers.pl tests other servers, failures and cancels.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS emogi;
SELECT count(*) = 0 AS missing FROM pg_available_extensions WHERE name = 'postgres_fdw' \gset
\if :missing
\echo 'postgres_fdw is not installed'
\quit
\endif
CREATE EXTENSION IF NOT EXISTS postgres_fdw;
CREATE SCHEMA servers_test;
CREATE SCHEMA servers_far;
SET search_path = servers_test, public;
SET emogi.engine = cpu;
SET emogi.enable_cache = off;    -- each call must read; server_graphs.sql tests cached graphs
\pset format unaligned
\pset tuples_only on
DO $$ BEGIN
  EXECUTE format('CREATE SERVER servers_a FOREIGN DATA WRAPPER postgres_fdw OPTIONS (dbname %1$L, host %2$L, port %3$L);
    CREATE SERVER servers_b FOREIGN DATA WRAPPER postgres_fdw OPTIONS (dbname %1$L, host %2$L, port %3$L)', current_database(),
                 coalesce(nullif(split_part(current_setting('unix_socket_directories'), ',', 1), ''), 'localhost'), current_setting('port'));
END $$;
CREATE USER MAPPING FOR CURRENT_USER SERVER servers_a;
CREATE USER MAPPING FOR CURRENT_USER SERVER servers_b;

-- Were the last rows read by emogi's own connections?
CREATE FUNCTION over_network() RETURNS boolean LANGUAGE sql AS
$$ SELECT network_bytes > 0 FROM emogi_runs WHERE pid = pg_backend_pid() ORDER BY id DESC LIMIT 1 $$;
-- A description of a graph, or its error.
CREATE FUNCTION words(graph text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  result text;
BEGIN
  SELECT string_agg(vertex || '>' || component, ' ' ORDER BY vertex COLLATE "C") INTO result FROM emogi_cc_text(graph);
  RETURN result;
EXCEPTION WHEN OTHERS THEN
  RETURN SQLSTATE;
END $$;
-- The same with weights.
CREATE FUNCTION lengths(graph text, source text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  result text;
BEGIN
  SELECT string_agg(vertex || ':' || distance, ' ' ORDER BY vertex COLLATE "C") INTO result FROM emogi_sssp(graph, source);
  RETURN result;
EXCEPTION WHEN OTHERS THEN
  RETURN SQLSTATE;
END $$;

-- The graph of a remote table with these columns and rows, as a foreign table with these columns,
-- and whether it was read by emogi's own connections; also the result of postgres_fdw if it
-- differs. source: for distances; NULL: components are computed.
CREATE PROCEDURE compare(far text, rows text, here text, source text DEFAULT NULL, INOUT result text DEFAULT NULL) LANGUAGE plpgsql AS $$
DECLARE
  direct text;
  indirect text;
  way text;
BEGIN
  DROP TABLE IF EXISTS servers_far.t;
  DROP FOREIGN TABLE IF EXISTS t;
  EXECUTE format('CREATE TABLE servers_far.t (%s)', far);
  EXECUTE format('INSERT INTO servers_far.t VALUES %s', rows);
  EXECUTE format('CREATE FOREIGN TABLE t (%s) SERVER servers_a OPTIONS (schema_name ''servers_far'')', here);
  COMMIT;
  PERFORM set_config('emogi.server_connections', '0', false);
  indirect := CASE WHEN source IS NULL THEN words('t') ELSE lengths('t', source) END;
  PERFORM set_config('emogi.server_connections', '4', false);
  COMMIT;
  direct := CASE WHEN source IS NULL THEN words('t') ELSE lengths('t', source) END;
  way := CASE WHEN over_network() THEN ' (direct)' ELSE ' (postgres_fdw)' END;
  result := direct || way || CASE WHEN direct IS NOT DISTINCT FROM indirect THEN '' ELSE ', by postgres_fdw: ' || indirect END;
END $$;

-- ---- types

CALL compare('src bigint, dst bigint', '(1, 2), (3, 4), (-5, 4), (NULL, 1), (1, NULL), (NULL, NULL), (9223372036854775807, -9223372036854775808)', 'src bigint, dst bigint');
CALL compare('src int, dst int', '(1, 2), (3, 4), (-5, 4), (NULL, 1), (2147483647, -2147483648)', 'src int, dst int');
CALL compare('src smallint, dst bigint', '(1, 2), (-3, 4)', 'src smallint, dst bigint');
CALL compare('src int, dst smallint', '(1, 2), (-3, 4)', 'src bigint, dst bigint');
CALL compare('src bigint, dst bigint', '(1, 2), (-3, 4)', 'src int, dst int');
CALL compare('src bigint, dst bigint', '(1, 2), (-3, 4294967297)', 'src int, dst int');
CALL compare('src text, dst text', '(''1'', ''2''), ('' 3'', ''4'')', 'src bigint, dst bigint');
CALL compare('src text, dst text', '(''1'', ''2''), (''x'', ''4'')', 'src bigint, dst bigint');
CALL compare('src numeric, dst numeric', '(1, 2), (2.5, 4)', 'src bigint, dst bigint');
CALL compare('src float8, dst float8', '(1, 2), (3e0, 4)', 'src bigint, dst bigint');
CALL compare('src bigint, dst bigint', '(1, 2), (-3, 4)', 'src text COLLATE "C", dst text COLLATE "C"');
CALL compare('src text, dst text', E'(''a'', ''b''), ('''', ''d e''), (E''t\\tn\\nb\\\\'', ''ü''), (''\\N'', ''a''), (NULL, ''z'')', 'src text COLLATE "C", dst text COLLATE "C"');
CALL compare('src char(4), dst char(4)', '(''a'', ''b''), (''b'', ''c'')', 'src text COLLATE "C", dst text COLLATE "C"');
CALL compare('src char(4), dst char(4)', '(''a'', ''b''), (''b'', ''c'')', 'src char(4) COLLATE "C", dst char(4) COLLATE "C"');
CALL compare('src text, dst text', '(''abcd'', ''b''), (''b'', ''c'')', 'src varchar(3) COLLATE "C", dst varchar(3) COLLATE "C"');
CALL compare('src text, dst text', E'(E''a\\tb'', E''c\\nd\\\\e''), (''\\N'', ''c''), (E''\\b\\f\\r\\x0b'', '''')', 'src varchar COLLATE "C", dst varchar COLLATE "C"');
CALL compare('src name, dst name', '(''abcd'', ''b''), (''b'', ''c'')', 'src name COLLATE "C", dst name COLLATE "C"');
CALL compare('src uuid, dst uuid', '(''00000000-0000-0000-0000-00000000000f'', ''7f000000-0000-0000-0000-000000000000'')', 'src uuid, dst uuid');
CALL compare('src numeric, dst numeric', '(1.00, 2), (1, 3.5), (''NaN'', 4)', 'src numeric, dst numeric');
CALL compare('src date, dst date', '(''2026-01-31'', ''infinity''), (''-infinity'', ''2000-01-01'')', 'src date, dst date');
CALL compare('src timestamptz, dst timestamptz', '(''2026-01-31 12:00+02'', ''infinity''), (''1999-12-31 23:59:59.999999Z'', ''2000-01-01Z'')', 'src timestamptz, dst timestamptz');
CALL compare('src interval, dst interval', '(''1 month 2 days'', ''-3 hours''), (''1 year'', ''-3 hours'')', 'src interval, dst interval');
CALL compare('src inet, dst inet', '(''10.0.0.1'', ''10.0.0.0/8''), (''::1'', ''10.0.0.1'')', 'src inet, dst inet');
CALL compare('src bytea, dst bytea', '(''\x00'', ''\x''), (''\xff00'', ''\x00'')', 'src bytea, dst bytea');
CALL compare('src boolean, dst boolean', '(true, false)', 'src boolean, dst boolean');
CALL compare('src oid, dst oid', '(4294967295, 1), (1, 2147483648)', 'src oid, dst oid');
CALL compare('src float8, dst float8', '(0.1, -0), (''NaN'', ''Infinity''), (0, 1e300)', 'src float8, dst float8');
CALL compare('src int[], dst int[]', '(''{1,2}'', ''{}''), (''{NULL}'', ''{1,2}'')', 'src int[], dst int[]');
CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy');
CREATE DOMAIN positive AS bigint CHECK (VALUE > 0);
CREATE TYPE place AS (x int, y text);
CALL compare('src servers_test.mood, dst servers_test.mood', '(''sad'', ''happy''), (''ok'', ''ok'')', 'src mood, dst mood');
CALL compare('src servers_test.place, dst servers_test.place', '(''(1,a)'', ''(2,"b c")''), (''(1,)'', ''(1,a)''), (''(1,a)'', ''(3,)'')', 'src place, dst place');
CALL compare('src servers_test.positive, dst servers_test.positive', '(1, 2), (3, 4), (NULL, 4)', 'src bigint, dst bigint');
CALL compare('src bigint, dst bigint', '(1, 2), (3, 4)', 'src positive, dst positive');
CALL compare('src bigint, dst bigint', '(1, 2), (-3, 4)', 'src positive, dst positive');

-- ---- weights

CALL compare('src bigint, dst bigint, weight float8', '(1, 2, 0.1), (2, 3, ''Infinity''), (NULL, 1, NULL), (1, 4, 1e-300)', 'src bigint, dst bigint, weight float8', '1');
CALL compare('src bigint, dst bigint, weight float4', '(1, 2, 0.1), (2, 3, 1.5)', 'src bigint, dst bigint, weight float4', '1');
CALL compare('src bigint, dst bigint, weight float4', '(1, 2, 0.1), (2, 3, 1.5)', 'src bigint, dst bigint, weight float8', '1');
CALL compare('src bigint, dst bigint, weight int', '(1, 2, 7), (2, 3, 0)', 'src bigint, dst bigint, weight bigint', '1');
CALL compare('src bigint, dst bigint, weight bigint', '(1, 2, 7), (2, 3, 9007199254740993)', 'src bigint, dst bigint, weight bigint', '1');
CALL compare('src bigint, dst bigint, weight smallint', '(1, 2, 7), (2, 3, 5)', 'src bigint, dst bigint, weight numeric', '1');
CALL compare('src bigint, dst bigint, weight numeric', '(1, 2, 0.1), (2, 3, 12345678901234567890)', 'src bigint, dst bigint, weight numeric', '1');
CALL compare('src bigint, dst bigint, weight numeric', '(1, 2, 0.15), (2, 3, 1)', 'src bigint, dst bigint, weight numeric(5,1)', '1');
CALL compare('src bigint, dst bigint, weight numeric', '(1, 2, 1e-400), (2, 3, 1)', 'src bigint, dst bigint, weight numeric', '1');
CALL compare('src bigint, dst bigint, weight float8', '(1, 2, 0.1), (2, 3, NULL)', 'src bigint, dst bigint, weight float8', '1');
CALL compare('src bigint, dst bigint, weight float8', '(1, 2, 0.1), (2, 3, -1)', 'src bigint, dst bigint, weight float8', '1');
CALL compare('src bigint, dst bigint, weight float8', '(1, 2, 0.1), (2, 3, ''NaN'')', 'src bigint, dst bigint, weight float8', '1');
CALL compare('src text, dst text, weight float8', '(''a'', ''b'', 0.1), (''b'', ''c'', 2), (NULL, ''x'', NULL)', 'src text COLLATE "C", dst text COLLATE "C", weight float8', 'a');
CALL compare('src text, dst text, weight float8', '(''a'', ''b'', 0.1), (''b'', ''c'', NULL)', 'src text COLLATE "C", dst text COLLATE "C", weight float8', 'a');
CALL compare('source bigint, target bigint, cost float8, reverse_cost float8', '(1, 2, 0.1, 3), (3, 2, -1, 5), (3, 4, 2, -1), (NULL, 4, NULL, NULL)', 'source bigint, target bigint, cost float8, reverse_cost float8', '1');
CALL compare('source bigint, target bigint, cost float8, reverse_cost int', '(1, 2, 0.1, 3), (3, 2, -1, 5), (3, 4, 2, NULL)', 'source bigint, target bigint, cost float8, reverse_cost int', '1');
CALL compare('source bigint, target bigint, cost numeric, reverse_cost numeric', '(1, 2, 0.1, 3), (3, 2, -1, -1e400)', 'source bigint, target bigint, cost numeric, reverse_cost numeric', '1');
CALL compare('source bigint, target bigint, cost float8, reverse_cost numeric', '(1, 2, 0.1, 3), (3, 2, 1, -1e-400)', 'source bigint, target bigint, cost float8, reverse_cost numeric', '1');
CALL compare('source text, target text, cost float8, reverse_cost int', '(''1'', ''2'', 0.1, 3), (''3'', ''2'', -1, 5), (''3'', ''4'', 2, -3)', 'source text COLLATE "C", target text COLLATE "C", cost float8, reverse_cost int', '1');

-- ---- names, generated and dropped columns, other kinds of remote relations

CREATE TABLE servers_far."odd "" name" (g int, "a ""b" bigint, p bigint GENERATED ALWAYS AS ("a ""b" + 1) STORED, "select" int DEFAULT 1);
ALTER TABLE servers_far."odd "" name" DROP COLUMN g;
INSERT INTO servers_far."odd "" name" VALUES (1), (5);
CREATE FOREIGN TABLE odd (gone int, dst bigint OPTIONS (column_name 'p'), src bigint OPTIONS (column_name 'a "b'), w int OPTIONS (column_name 'select'))
  SERVER servers_a OPTIONS (schema_name 'servers_far', table_name 'odd " name');
ALTER FOREIGN TABLE odd DROP COLUMN gone;
SELECT words('odd'), over_network();
SELECT words('odd(dst, src)'), over_network();
SELECT lengths('odd(src, dst, w)', '1'), over_network();
SELECT words('odd(src, src)'), over_network();

CREATE TABLE servers_far.e (src bigint, dst bigint);
INSERT INTO servers_far.e SELECT i, i + 1 FROM generate_series(1, 1000) i;
CREATE TABLE servers_far.child () INHERITS (servers_far.e);
INSERT INTO servers_far.child SELECT i, i + 1 FROM generate_series(2001, 9000) i;
CREATE VIEW servers_far.v AS SELECT src, dst FROM servers_far.e WHERE src < 10;
CREATE MATERIALIZED VIEW servers_far.m AS SELECT src, dst FROM servers_far.e WHERE src < 20;
CREATE TABLE servers_far.p (src bigint, dst bigint) PARTITION BY RANGE (src);
CREATE TABLE servers_far.p1 PARTITION OF servers_far.p FOR VALUES FROM (0) TO (500);
CREATE FOREIGN TABLE servers_far.p2 PARTITION OF servers_far.p FOR VALUES FROM (500) TO (9999) SERVER servers_b OPTIONS (schema_name 'servers_far', table_name 'e2');
CREATE TABLE servers_far.e2 AS SELECT i::bigint AS src, i::bigint + 1 AS dst FROM generate_series(500, 700) i;
INSERT INTO servers_far.p SELECT i, i + 1 FROM generate_series(1, 499) i;
CREATE TABLE servers_far.empty (src bigint, dst bigint);
CREATE FUNCTION counts(graph text) RETURNS text LANGUAGE sql AS
$$ SELECT count(*) || ' ' || coalesce(sum(vertex), 0) || ' ' || count(DISTINCT component) FROM emogi_cc(graph) $$;
CREATE FOREIGN TABLE e (src bigint, dst bigint) SERVER servers_a OPTIONS (schema_name 'servers_far');
CREATE FOREIGN TABLE v (src bigint, dst bigint) SERVER servers_a OPTIONS (schema_name 'servers_far');
CREATE FOREIGN TABLE m (src bigint, dst bigint) SERVER servers_a OPTIONS (schema_name 'servers_far');
CREATE FOREIGN TABLE p (src bigint, dst bigint) SERVER servers_a OPTIONS (schema_name 'servers_far');
CREATE FOREIGN TABLE p2 (src bigint, dst bigint) SERVER servers_a OPTIONS (schema_name 'servers_far');
CREATE FOREIGN TABLE empty (src bigint, dst bigint) SERVER servers_b OPTIONS (schema_name 'servers_far');
SELECT t, counts(t), over_network() FROM unnest('{e,v,m,p,p2,empty}'::text[]) t;
SET emogi.server_connections = 0;
SELECT t, counts(t), over_network() FROM unnest('{e,v,m,p,p2,empty}'::text[]) t;
SET emogi.server_connections = 1;
SELECT t, counts(t), over_network() FROM unnest('{e,v,m,p,p2,empty}'::text[]) t;
RESET emogi.server_connections;

-- ---- many pages: ranges, connections, reporting

CREATE TABLE servers_far.large AS SELECT i::bigint AS src, (i::bigint * 7919) % 300000 AS dst, i % 10 + 0.5::float8 AS weight FROM generate_series(1, 300000) i;
DELETE FROM servers_far.large WHERE src % 3 = 0 OR src BETWEEN 100000 AND 140000;
INSERT INTO servers_far.large SELECT NULL, i, NULL FROM generate_series(1, 100) i;
CREATE FOREIGN TABLE large (src bigint, dst bigint, weight float8) SERVER servers_a OPTIONS (schema_name 'servers_far');
SELECT counts('large'), over_network();
SELECT counts('servers_far.large');
SELECT ok, cache, edges FROM emogi_check('large', weights => true);
DO $$
DECLARE
  line text;
BEGIN
  FOR line IN EXPLAIN (ANALYZE, COSTS off, TIMING off, SUMMARY off) SELECT count(*) FROM emogi_cc('large')
  LOOP
    IF line ~ 'Server|Network|Graph|Cache' THEN
      RAISE WARNING '%', regexp_replace(line, '(Bytes: )\d+', '\1N');
    END IF;
  END LOOP;
END $$;

-- row by row, in ranges: keys that are not numbers, and a table with fewer rows than its child
CREATE TABLE servers_far.tall AS SELECT i::text AS src, (i + 1)::text AS dst FROM generate_series(1, 150000) i;
CREATE TABLE servers_far.parent AS SELECT i AS src, i + 1 AS dst FROM generate_series(1, 150000) i;
CREATE TABLE servers_far.larger () INHERITS (servers_far.parent);
INSERT INTO servers_far.larger SELECT i, i + 1 FROM generate_series(200001, 450000) i;
CREATE FOREIGN TABLE tall (src text, dst text) SERVER servers_a OPTIONS (schema_name 'servers_far');
CREATE FOREIGN TABLE parent (src int, dst int) SERVER servers_a OPTIONS (schema_name 'servers_far');
SELECT ok, vertices, edges FROM emogi_check('tall');
SELECT ok, vertices, edges FROM emogi_check('parent');

-- ---- local and foreign partitions

CREATE TABLE parts (dst bigint, src bigint, part int) PARTITION BY LIST (part);
CREATE TABLE part1 PARTITION OF parts FOR VALUES IN (1);
INSERT INTO parts SELECT i + 1, i, 1 FROM generate_series(1, 50) i;
CREATE TABLE servers_far.part2 AS SELECT 2 AS part, i::bigint AS src, i::bigint + 1 AS dst FROM generate_series(51, 100) i;
CREATE TABLE servers_far.part3 AS SELECT 3 AS part, i::bigint AS src, i::bigint + 1 AS dst FROM generate_series(201, 300) i;
CREATE FOREIGN TABLE part2 (src bigint, part int, dst bigint) SERVER servers_a OPTIONS (schema_name 'servers_far');
CREATE FOREIGN TABLE part3 (part int, dst bigint, src bigint) SERVER servers_b OPTIONS (schema_name 'servers_far');
ALTER TABLE parts ATTACH PARTITION part2 FOR VALUES IN (2);
ALTER TABLE parts ATTACH PARTITION part3 FOR VALUES IN (3);
SELECT counts('parts'), over_network();
SELECT words('part2(src, dst)') = words('servers_far.part2'), over_network();
SELECT ok, cache, vertices, edges FROM emogi_check('parts');
SELECT vertex FROM emogi_shortest_path('parts', 1, 3);

-- ---- transactions: uncommitted changes through postgres_fdw are visible
SET statement_timeout = '30s';

BEGIN;
SELECT counts('parts'), over_network();
INSERT INTO part2 (part, src, dst) VALUES (2, 100, 201);
SELECT counts('parts'), over_network();
SELECT counts('part3'), over_network();
ROLLBACK;
SELECT counts('parts'), over_network();
BEGIN;
INSERT INTO parts VALUES (101, 300, 3);
SELECT counts('parts'), over_network();
COMMIT;
SELECT counts('parts'), over_network();
BEGIN;
SAVEPOINT s;
DELETE FROM part2;
SELECT counts('parts'), over_network();
ROLLBACK TO s;
SELECT counts('parts'), over_network();
COMMIT;
BEGIN;
COPY part2 (part, src, dst) FROM stdin;
2	100	9
\.
SELECT counts('parts'), over_network();
ROLLBACK;
BEGIN;
TRUNCATE part2;
SELECT counts('parts'), over_network();
ROLLBACK;
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT counts('parts'), over_network();
COMMIT;
BEGIN ISOLATION LEVEL SERIALIZABLE;
SELECT counts('parts'), over_network();
COMMIT;
-- rows written by the same statement
WITH written AS (INSERT INTO part3 (part, src, dst) VALUES (3, 1, 2) RETURNING 1) SELECT count(*), over_network() FROM written, emogi_cc('parts');
SELECT over_network();

-- ---- edge ids are read with the graph's snapshot: postgres_fdw reads both

CREATE TABLE servers_far.named (id bigint, src bigint, dst bigint);
INSERT INTO servers_far.named VALUES (7, 1, 2), (8, 2, 3);
CREATE FOREIGN TABLE named (id bigint, src bigint, dst bigint) SERVER servers_a OPTIONS (schema_name 'servers_far');
SELECT edge FROM emogi_shortest_path('named', 1, 3);
SELECT over_network();
SELECT vertex FROM emogi_shortest_path('named', 1, 3);
SELECT over_network();

-- ---- errors

CREATE FOREIGN TABLE missing_table (src bigint, dst bigint) SERVER servers_a OPTIONS (schema_name 'servers_far', table_name 'nowhere');
SELECT * FROM emogi_bfs('missing_table', 1);
CREATE FOREIGN TABLE missing_column (src bigint, dst bigint OPTIONS (column_name 'to')) SERVER servers_a OPTIONS (schema_name 'servers_far', table_name 'e');
SELECT * FROM emogi_bfs('missing_column', 1);
CREATE VIEW servers_far.broken AS SELECT src, 1 / (src - 5) AS dst FROM servers_far.e;
CREATE FOREIGN TABLE broken (src bigint, dst bigint) SERVER servers_a OPTIONS (schema_name 'servers_far');
SELECT * FROM emogi_bfs('broken', 1);
CREATE VIEW servers_far.slow AS SELECT src, dst FROM servers_far.e, pg_sleep(60);
CREATE FOREIGN TABLE slow (src bigint, dst bigint) SERVER servers_a OPTIONS (schema_name 'servers_far');
SET statement_timeout = 300;
SELECT * FROM emogi_bfs('slow', 1);
RESET statement_timeout;
CREATE TABLE servers_far.wide AS SELECT 1::bigint AS src, 3000000000 AS dst;
CREATE FOREIGN TABLE wide (src int, dst int) SERVER servers_a OPTIONS (schema_name 'servers_far');
SELECT * FROM emogi_bfs('wide', 1);
CREATE SERVER servers_nowhere FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '/nonexistent', port '1');
CREATE USER MAPPING FOR CURRENT_USER SERVER servers_nowhere;
CREATE FOREIGN TABLE nowhere (src bigint, dst bigint) SERVER servers_nowhere;
\set VERBOSITY sqlstate
SELECT * FROM emogi_bfs('nowhere', 1);
-- a query canceled here has ended on the server
DO $$ BEGIN
  FOR i IN 1 .. 100 LOOP
    EXIT WHEN NOT EXISTS (SELECT FROM pg_stat_activity WHERE application_name = 'emogi');
    PERFORM pg_sleep(0.01), pg_stat_clear_snapshot();
  END LOOP;
END $$;
SELECT count(*) FROM pg_stat_activity WHERE application_name = 'emogi';

-- ---- privileges

CREATE ROLE regress_emogi_servers;
GRANT USAGE ON SCHEMA servers_test TO regress_emogi_servers;
SET ROLE regress_emogi_servers;
SELECT count(*) FROM emogi_bfs('e', 1);
RESET ROLE;
GRANT SELECT ON e TO regress_emogi_servers;
SET ROLE regress_emogi_servers;
SELECT count(*) FROM emogi_bfs('e', 1);
RESET ROLE;
CREATE USER MAPPING FOR regress_emogi_servers SERVER servers_a;
SET ROLE regress_emogi_servers;
SELECT count(*) FROM emogi_bfs('e', 1);
RESET ROLE;
DO $$ BEGIN
  EXECUTE format('ALTER USER MAPPING FOR regress_emogi_servers SERVER servers_a OPTIONS (ADD password_required ''false'', ADD user %L)', current_user);
END $$;
SET ROLE regress_emogi_servers;
SELECT count(*) FROM emogi_bfs('e', 1);
RESET ROLE;

DROP OWNED BY regress_emogi_servers;
DROP SERVER servers_a CASCADE;
DROP SERVER servers_b CASCADE;
DROP SERVER servers_nowhere CASCADE;
DROP ROLE regress_emogi_servers;
DROP EXTENSION postgres_fdw CASCADE;
DROP SCHEMA servers_test CASCADE;
DROP SCHEMA servers_far CASCADE;
