-- The key of a query: whatever changes the answer makes another graph, and everything else shares
-- it.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS emogi;
DROP SCHEMA IF EXISTS test_keys, test_keys_1, test_keys_2 CASCADE;
RESET client_min_messages;
CREATE SCHEMA test_keys;
CREATE SCHEMA test_keys_1;
CREATE SCHEMA test_keys_2;
SET search_path = test_keys, public;
SET TimeZone = 'UTC';
\pset format unaligned
\pset tuples_only on
SELECT emogi_evict() IS NOT NULL;
\i test/data/how.sql
CREATE TABLE e (src bigint, dst bigint, w float8, t timestamptz, d date, txt text, n numeric, b bytea);
INSERT INTO e SELECT g, g % 7, g / 3.0, timestamptz '2026-01-01 23:30+00' + g * interval '1 hour', '2026-01-01', 'x' || g, g, '\x01' FROM generate_series(1, 60) g;
CREATE TABLE v (id bigint PRIMARY KEY, tenant int);
INSERT INTO v SELECT g, g % 3 FROM generate_series(0, 60) g;
CREATE TABLE par (src bigint, dst bigint);
CREATE TABLE chi () INHERITS (par);
INSERT INTO chi VALUES (1, 2);
INSERT INTO par VALUES (3, 4);
CREATE VIEW ve AS SELECT src, dst FROM e WHERE src > 10;

-- It does not contain blanks, comments, and the form of a table's name.
SELECT how('SELECT src, dst FROM e');
SELECT how(E'select  src,\n dst /* x */ from e -- y');
SELECT how('SELECT src, dst FROM test_keys.e;');
-- It contains constants, with collation, type and type modifier; and ONLY.
SELECT how('SELECT src, dst FROM e WHERE txt < ''x2''');
SELECT how('SELECT src, dst FROM e WHERE txt < ''x3''');
SELECT how('SELECT src, dst FROM e WHERE txt <> '' :location 5 ''');
SELECT how('SELECT src, dst FROM e WHERE txt <> '' :location 6 ''');
SELECT how('SELECT src, dst FROM e WHERE txt < ''x2'' COLLATE "C"');
SELECT how('SELECT src, dst FROM e WHERE txt < ''x2'' COLLATE "POSIX"');
SELECT how('SELECT src, dst FROM e WHERE n::numeric(9,1) > 1');
SELECT how('SELECT src, dst FROM e WHERE n::numeric(9,2) > 1');
SELECT how('SELECT src, dst FROM e WHERE src = 1::int');
SELECT how('SELECT src, dst FROM e WHERE src = 1::bigint');
SELECT how('SELECT src, dst FROM par');
SELECT how('SELECT src, dst FROM ONLY par');

-- Other tables found by the search path, also in the body of a function.
CREATE TABLE test_keys_1.x AS SELECT 1::bigint AS src, 2::bigint AS dst;
CREATE TABLE test_keys_2.x AS SELECT 3::bigint AS src, 4::bigint AS dst;
SET search_path = test_keys_1, public;
SELECT test_keys.how('SELECT src, dst FROM x'), array_agg(vertex ORDER BY vertex) FROM emogi_cc('SELECT src, dst FROM x');
SET search_path = test_keys_2, public;
SELECT test_keys.how('SELECT src, dst FROM x'), array_agg(vertex ORDER BY vertex) FROM emogi_cc('SELECT src, dst FROM x');
SET search_path = test_keys_1, test_keys_2, public;
SELECT test_keys.how('SELECT src, dst FROM x'), array_agg(vertex ORDER BY vertex) FROM emogi_cc('SELECT src, dst FROM x');
SET check_function_bodies = off;
CREATE FUNCTION test_keys_1.f(bigint) RETURNS bigint LANGUAGE sql IMMUTABLE AS $$SELECT $1 + 1$$;
CREATE FUNCTION test_keys_2.f(bigint) RETURNS bigint LANGUAGE sql IMMUTABLE AS $$SELECT $1 + 2$$;
CREATE FUNCTION test_keys.callsf(bigint) RETURNS bigint LANGUAGE sql IMMUTABLE AS $$SELECT max(f($1)) FROM (VALUES (1)) z$$;
RESET check_function_bodies;
SET search_path = test_keys, test_keys_1, public;
SELECT how('SELECT callsf(src), dst FROM e');
SET search_path = test_keys, test_keys_2, public;
SELECT how('SELECT callsf(src), dst FROM e');
SET search_path = test_keys, public;
-- A temporary table of the same name, for its session alone.
CREATE TEMP TABLE e (src bigint, dst bigint);
INSERT INTO e VALUES (1, 1);
SELECT how('SELECT src, dst FROM e');
DROP TABLE pg_temp.e;
SELECT how('SELECT src, dst FROM e');

-- Views, columns, tables: their current definition.
SELECT how('ve');
CREATE OR REPLACE VIEW ve AS SELECT src, dst + 1 AS dst FROM e WHERE src > 10;
SELECT how('ve');
BEGIN;
CREATE OR REPLACE VIEW ve AS SELECT src, dst + 2 AS dst FROM e WHERE src > 10;
SELECT how('ve');
ROLLBACK;
SELECT how('ve');
CREATE TABLE c (src bigint, dst int, x int);
INSERT INTO c VALUES (1, 2, 3), (4, 5, 6);
SELECT how('SELECT src, dst FROM c');
ALTER TABLE c ALTER dst TYPE bigint USING dst * 10;
SELECT how('SELECT src, dst FROM c');
ALTER TABLE c RENAME dst TO y;
ALTER TABLE c RENAME x TO dst;
SELECT how('SELECT src, dst FROM c');
ALTER TABLE c DROP COLUMN dst;
ALTER TABLE c ADD COLUMN dst bigint DEFAULT 77;
SELECT how('SELECT src, dst FROM c');
CREATE TABLE c2 AS SELECT 100::bigint AS src, 200::bigint AS dst;
ALTER TABLE c RENAME TO c_old;
ALTER TABLE c2 RENAME TO c;
SELECT how('SELECT src, dst FROM c');

-- Functions, their defaults, operators, aggregates, by definition and not by OID.
CREATE OR REPLACE FUNCTION pure(bigint, k bigint DEFAULT 1) RETURNS bigint LANGUAGE sql IMMUTABLE AS $$SELECT $1 + k$$;
SELECT how('SELECT pure(src), dst FROM e');
CREATE OR REPLACE FUNCTION pure(bigint, k bigint DEFAULT 1) RETURNS bigint LANGUAGE sql IMMUTABLE AS $$SELECT $1 + k + 100$$;
SELECT how('SELECT pure(src), dst FROM e');
CREATE OR REPLACE FUNCTION pure(bigint, k bigint DEFAULT 2) RETURNS bigint LANGUAGE sql IMMUTABLE AS $$SELECT $1 + k + 100$$;
SELECT how('SELECT pure(src), dst FROM e');
CREATE OR REPLACE FUNCTION pure(bigint, k bigint DEFAULT 1) RETURNS bigint LANGUAGE sql IMMUTABLE AS $$SELECT $1 + k$$;
SELECT how('SELECT pure(src), dst FROM e');
BEGIN;
CREATE OR REPLACE FUNCTION pure(bigint, k bigint DEFAULT 1) RETURNS bigint LANGUAGE sql IMMUTABLE AS $$SELECT $1 + k + 55$$;
SELECT how('SELECT pure(src), dst FROM e');
ROLLBACK;
SELECT how('SELECT pure(src), dst FROM e');
-- defaults between named arguments, and those that read a table
CREATE FUNCTION named(a bigint, b bigint DEFAULT txid_current(), c bigint DEFAULT 1) RETURNS bigint LANGUAGE sql STABLE AS $$SELECT a + b - b + c$$;
SELECT how('SELECT named(src, c => 2), dst FROM e');
SELECT how('SELECT named(a => src, b => 1, c => 2), dst FROM e');
SELECT how('SELECT named(src, 1), dst FROM e');
CREATE TABLE looked_up (x bigint);
INSERT INTO looked_up VALUES (1);
CREATE FUNCTION look_up() RETURNS bigint LANGUAGE sql IMMUTABLE AS $$SELECT sum(x)::bigint FROM looked_up$$;
CREATE FUNCTION by_default(a bigint, b bigint DEFAULT look_up()) RETURNS bigint LANGUAGE sql IMMUTABLE AS $$SELECT a + b$$;
SELECT how('SELECT by_default(src), dst FROM e');
SELECT how('SELECT by_default(src), dst FROM e');
INSERT INTO looked_up VALUES (100);
SELECT how('SELECT by_default(src), dst FROM e');
CREATE FUNCTION cpl(bigint, bigint) RETURNS bigint LANGUAGE internal IMMUTABLE STRICT AS $$int8pl$$;
CREATE OPERATOR ### (LEFTARG = bigint, RIGHTARG = bigint, FUNCTION = cpl);
SELECT how('SELECT src ### 1::bigint, dst FROM e');
-- as if the number had been reassigned to another function
UPDATE pg_proc SET prosrc = 'int8mi' WHERE oid = 'cpl'::regproc;
\c -
SET search_path = test_keys, public;
SET TimeZone = 'UTC';
\pset format unaligned
\pset tuples_only on
SELECT how('SELECT src ### 1::bigint, dst FROM e');
CREATE FUNCTION cpl2(bigint, bigint) RETURNS bigint LANGUAGE internal IMMUTABLE STRICT AS $$int8mul$$;
UPDATE pg_operator SET oprcode = 'cpl2'::regproc WHERE oprname = '###';
SELECT how('SELECT src ### 2::bigint, dst FROM e');
CREATE FUNCTION sf(bigint, bigint) RETURNS bigint LANGUAGE internal IMMUTABLE STRICT AS 'int8pl';
CREATE AGGREGATE myagg(bigint) (SFUNC = sf, STYPE = bigint, INITCOND = '0');
SELECT how('SELECT dst, myagg(src) FROM e GROUP BY dst');
CREATE OR REPLACE AGGREGATE myagg(bigint) (SFUNC = sf, STYPE = bigint, INITCOND = '1000');
SELECT how('SELECT dst, myagg(src) FROM e GROUP BY dst');
CREATE FUNCTION sfpl(bigint, bigint) RETURNS bigint LANGUAGE plpgsql IMMUTABLE AS 'BEGIN RETURN $1 + $2; END';
CREATE OR REPLACE AGGREGATE myagg(bigint) (SFUNC = sfpl, STYPE = bigint, INITCOND = '0');
SELECT how('SELECT dst, myagg(src) FROM e GROUP BY dst');
CREATE FUNCTION wr(bigint) RETURNS bigint LANGUAGE internal IMMUTABLE AS $$int8abs$$;
SET emogi.fault = 'query_rows=0';
SELECT how('SELECT wr(src), dst FROM e');
CREATE OR REPLACE FUNCTION wr(bigint) RETURNS bigint LANGUAGE internal IMMUTABLE AS $$int8um$$;
SELECT left(how('SELECT wr(src), dst FROM e'), 5);
RESET emogi.fault;
SELECT how('SELECT wr(src), dst FROM e');

-- Settings, if something depends on them.
SELECT how('SELECT length(coalesce(w, 0.1)::text), dst FROM e');
SET extra_float_digits = 3;
SELECT how('SELECT length(coalesce(w, 0.1)::text), dst FROM e');
SET extra_float_digits = 0;
SELECT how('SELECT length(coalesce(w, 0.1)::text), dst FROM e');
RESET extra_float_digits;
SELECT how('SELECT src, dst FROM e WHERE length(b::text) = 4');
SET bytea_output = 'escape';
SELECT how('SELECT src, dst FROM e WHERE length(b::text) = 4');
RESET bytea_output;
SELECT how('SELECT src, dst FROM e WHERE t::date = date ''2026-01-02''');
SELECT how('SELECT src, extract(day FROM age(t, ''2026-01-01 00:00+00''))::bigint FROM e');
SELECT how('SELECT length(d::text), dst FROM e');
SELECT how('SELECT src, dst FROM e WHERE src > 1');
SET TimeZone = 'Asia/Tokyo';
SELECT how('SELECT src, dst FROM e WHERE t::date = date ''2026-01-02''');
SELECT how('SELECT src, extract(day FROM age(t, ''2026-01-01 00:00+00''))::bigint FROM e');
SELECT how('SELECT src, dst FROM e WHERE src > 1');
SET TimeZone = 'UTC';
SET DateStyle = 'Postgres, MDY';
SELECT how('SELECT length(d::text), dst FROM e');
RESET DateStyle;
SELECT how('SELECT length(quote_ident(txt)), dst FROM e');
SET quote_all_identifiers = on;
SELECT how('SELECT length(quote_ident(txt)), dst FROM e');
RESET quote_all_identifiers;
SET emogi.fault = 'query_settings=0';
SELECT how('SELECT src, dst FROM e WHERE t::date = date ''2026-01-03''');
SET TimeZone = 'Asia/Tokyo';
SELECT left(how('SELECT src, dst FROM e WHERE t::date = date ''2026-01-03'''), 5);
SET TimeZone = 'UTC';
RESET emogi.fault;

-- Values of the call: a repeated value finds its graph.
CREATE FUNCTION plconst() RETURNS int LANGUAGE plpgsql STABLE AS $$BEGIN RETURN current_setting('app.t')::int; END$$;
SET app.t = 1;
SELECT how('SELECT src, dst FROM e WHERE dst = plconst()') <> 'hit' FROM generate_series(1, 1);
SELECT how('SELECT src, dst FROM e WHERE dst = plconst()');
SET app.t = 2;
SELECT left(how('SELECT src, dst FROM e WHERE dst = plconst()'), 7);
SELECT how('SELECT src, dst FROM e WHERE dst = plconst()');
SET app.t = 1;
SELECT how('SELECT src, dst FROM e WHERE dst = plconst()');
CREATE FUNCTION top() RETURNS bigint LANGUAGE plpgsql STABLE AS $$BEGIN RETURN (SELECT max(tenant) FROM test_keys.v); END$$;
SELECT left(how('SELECT src, dst FROM e WHERE dst <= top()'), 7);
SELECT how('SELECT src, dst FROM e WHERE dst <= top()');
UPDATE v SET tenant = 5 WHERE id = 0;
SELECT left(how('SELECT src, dst FROM e WHERE dst <= top()'), 7);
UPDATE v SET tenant = 0 WHERE id = 0;
SELECT how('SELECT src, dst FROM e WHERE dst <= top()');
SET emogi.fault = 'query_fold=0';
SELECT how('SELECT src, dst FROM e WHERE dst = current_setting(''app.t'')::int');
SET app.t = 3;
SELECT left(how('SELECT src, dst FROM e WHERE dst = current_setting(''app.t'')::int'), 5);
RESET emogi.fault;
SELECT how('SELECT src, dst FROM e WHERE d <= ''today''');
SELECT how('SELECT src, dst FROM e WHERE d <= ''today''');
SELECT how('SELECT src, dst FROM e WHERE t < ''now''');
SELECT how('SELECT src, dst FROM e WHERE t < ''now''');

-- Leaves that are attached and detached.
CREATE TABLE p (src bigint, dst bigint, k int) PARTITION BY RANGE (k);
CREATE TABLE p1 PARTITION OF p FOR VALUES FROM (0) TO (20);
INSERT INTO p SELECT g, g + 1, g FROM generate_series(0, 19) g;
SELECT how('SELECT src, dst FROM p');
CREATE TABLE p3 (src bigint, dst bigint, k int);
INSERT INTO p3 VALUES (20, 20, 20);
ALTER TABLE p ATTACH PARTITION p3 FOR VALUES FROM (20) TO (30);
SELECT how('SELECT src, dst FROM p');
ALTER TABLE p DETACH PARTITION p3;
SELECT how('SELECT src, dst FROM p');
INSERT INTO p3 VALUES (21, 21, 21);
ALTER TABLE p ATTACH PARTITION p3 FOR VALUES FROM (20) TO (30);
SELECT how('SELECT src, dst FROM p');
DROP TABLE p3;
SELECT how('SELECT src, dst FROM p');
CREATE TABLE chi2 () INHERITS (par);
INSERT INTO chi2 VALUES (50, 60);
SELECT how('SELECT src, dst FROM par');
ALTER TABLE chi2 NO INHERIT par;
SELECT how('SELECT src, dst FROM par');
CREATE TEMP TABLE tchi () INHERITS (par);
INSERT INTO tchi VALUES (9, 9);
SELECT how('SELECT src, dst FROM par');
DROP TABLE tchi;
SELECT how('SELECT src, dst FROM par');

-- Writers of all kinds; those that change no row do not count.
SELECT how('SELECT e.src, v.tenant FROM e JOIN v ON v.id = e.src');
VACUUM e;
ANALYZE e;
CREATE INDEX ON e (src);
SELECT count(*) FROM (SELECT FROM e FOR UPDATE) x;
SELECT how('SELECT e.src, v.tenant FROM e JOIN v ON v.id = e.src');
CREATE TABLE keep AS SELECT * FROM v;
TRUNCATE v;
SELECT how('SELECT e.src, v.tenant FROM e JOIN v ON v.id = e.src');
INSERT INTO v SELECT * FROM keep;
SELECT how('SELECT e.src, v.tenant FROM e JOIN v ON v.id = e.src');
VACUUM FULL v;
SELECT how('SELECT e.src, v.tenant FROM e JOIN v ON v.id = e.src');
BEGIN;
SAVEPOINT s;
INSERT INTO e (src, dst) VALUES (1, 1);
ROLLBACK TO s;
SELECT how('SELECT e.src, v.tenant FROM e JOIN v ON v.id = e.src') NOT LIKE 'WRONG%';
ROLLBACK;
SELECT how('SELECT e.src, v.tenant FROM e JOIN v ON v.id = e.src');
DROP VIEW ve;
DROP TABLE v;
SELECT count(*) FROM emogi_graphs WHERE source LIKE '%JOIN v%';

-- Settings that functions declared IMMUTABLE depend on, and one by which an index omits rows.
CREATE TABLE stamps (src int, ts timestamptz);
INSERT INTO stamps VALUES (0, '2026-01-01 00:00+00');
SELECT array_agg(vertex) FROM emogi_bfs('SELECT src, extract(hour FROM ts AT TIME ZONE ''IST'')::int AS dst FROM stamps', 0);
SET timezone_abbreviations = 'India';
SELECT array_agg(vertex) FROM emogi_bfs('SELECT src, extract(hour FROM ts AT TIME ZONE ''IST'')::int AS dst FROM stamps', 0);
RESET timezone_abbreviations;
CREATE TABLE doc (src int, dst int, tags int[]);
INSERT INTO doc SELECT 0, i, ARRAY[1, i] FROM generate_series(1, 3000) i;
CREATE INDEX ON doc USING gin (tags);
ANALYZE doc;
SET enable_seqscan = off;
SET gin_fuzzy_search_limit = 50;
SELECT count(*) < 3001 FROM emogi_bfs('SELECT src, dst FROM doc WHERE tags @> ARRAY[1]', 0);
RESET gin_fuzzy_search_limit;
RESET enable_seqscan;
SELECT count(*) FROM emogi_bfs('SELECT src, dst FROM doc WHERE tags @> ARRAY[1]', 0);
-- Other dependencies on the date.
CREATE TABLE times (src int, ti time);
INSERT INTO times VALUES (0, '12:00');
SELECT array_agg(vertex) FROM emogi_bfs('SELECT src, extract(timezone FROM ti::timetz)::int + 1 AS dst FROM times', 0);
SELECT cache, why_private FROM emogi_runs WHERE pid = pg_backend_pid() ORDER BY id DESC LIMIT 1;

-- Defaults of arguments are part of the tree, in any place.
CREATE FUNCTION first_default(a int DEFAULT current_setting('test.a')::int, b int DEFAULT 0) RETURNS int IMMUTABLE LANGUAGE sql AS 'SELECT $1 + $2';
CREATE FUNCTION one() RETURNS int IMMUTABLE LANGUAGE sql AS 'SELECT 1';
CREATE FUNCTION calls_default(a int, b int DEFAULT one()) RETURNS int IMMUTABLE LANGUAGE sql AS 'SELECT $1 + $2';
CREATE FUNCTION random_default(a float8 DEFAULT random()) RETURNS int STABLE LANGUAGE plpgsql AS 'BEGIN RETURN (a * 1000000)::int; END';
CREATE TABLE ten (src int, dst int);
INSERT INTO ten SELECT i, i FROM generate_series(1, 10) i;
SET test.a = 1;
SELECT max(vertex) FROM emogi_bfs('SELECT src, first_default(b => dst) AS dst FROM ten', 1);
SELECT how('SELECT src, first_default(b => dst) AS dst FROM ten');
SET test.a = 500;
SELECT max(vertex) FROM emogi_bfs('SELECT src, first_default(b => dst) AS dst FROM ten', 1);
SELECT how('SELECT src, calls_default(dst) AS dst FROM ten'), how('SELECT src, calls_default(dst) AS dst FROM ten');
CREATE OR REPLACE FUNCTION one() RETURNS int IMMUTABLE LANGUAGE sql AS 'SELECT 900';
SELECT max(vertex) FROM emogi_bfs('SELECT src, calls_default(dst) AS dst FROM ten', 1);
SELECT count(*) > 11 FROM emogi_cc('SELECT src, 1000 + random_default() AS dst FROM ten');
-- Aggregates are checked by their declarations, and the places of these.
SELECT how('SELECT src::text, json_agg(ts)::text AS dst FROM stamps GROUP BY src');
SELECT how('SELECT src::text, jsonb_object_agg(src, ts)::text AS dst FROM stamps GROUP BY src');
SELECT how('SELECT src, max(dst) AS dst FROM ten GROUP BY src');

SET client_min_messages = warning;
DROP SCHEMA test_keys, test_keys_1, test_keys_2 CASCADE;
