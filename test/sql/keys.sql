-- Vertices of any type: equality, order, rejected keys, and when their graphs are rebuilt.
-- t/056_keys_random.pl tests that all functions return the same as for the same graph numbered
-- manually.
SET client_min_messages = warning;
CREATE SCHEMA keys_test;
SET search_path = keys_test, public;
SET emogi.engine = cpu;
SET emogi.incremental_min_size = 0;
CREATE VIEW last_call AS SELECT cache FROM emogi_runs WHERE pid = pg_backend_pid() ORDER BY id DESC LIMIT 1;
-- the vertices of a graph in row order, with the component of each
CREATE FUNCTION vertices(graph text) RETURNS text LANGUAGE sql AS
$$ SELECT string_agg(vertex || '>' || component, ' ') FROM emogi_cc_text(graph) $$;

-- ---- order and equality, type by type

CREATE FUNCTION of_type(type text, keys text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  result text;
BEGIN
  EXECUTE format('CREATE TABLE t (src %1$s, dst %1$s)', type);
  EXECUTE format('INSERT INTO t SELECT a[i]::%1$s, a[i + 1]::%1$s FROM (SELECT %2$L::text[]) v(a), generate_series(1, cardinality(a) - 1, 2) i', type, keys);
  result := vertices('t') || CASE WHEN vertices('SELECT src, dst FROM t') = vertices('t') THEN '' ELSE ' by query: ' || vertices('SELECT src, dst FROM t') END
    || (SELECT CASE WHEN bool_and(ok) THEN '' ELSE ' check: ' || string_agg(differs, ',') END FROM emogi_check('t'));
  DROP TABLE t;
  RETURN result;
END $$;
SELECT of_type('smallint', '{3,-2,-2,100,7,3}');
SELECT of_type('oid', '{4294967295,1,1,2147483648}');
SELECT of_type('boolean', '{f,t,t,t}');
SELECT of_type('"char"', '{b,a,a,Z}');
SELECT of_type('name', '{bb,a,a,Z}');
SELECT of_type('uuid', '{ffffffff-0000-0000-0000-000000000000,00000000-0000-0000-0000-00000000000f,00000000-0000-0000-0000-00000000000F,7f000000-0000-0000-0000-000000000000}');
SELECT of_type('text COLLATE "C"', '{b,a,a,B,"",ab,"a b",abc}');
SELECT of_type('varchar(3)', '{b,a,a,c}');
SELECT of_type('char(5)', '{"b","a","a   ","ab","a","c  "}');
SELECT of_type('bytea', '{"\\x00","\\x","\\x0000","\\x00","\\xff","\\x7f"}');
SELECT of_type('numeric', '{1.00,2,1.0,-3.5,1e3,NaN,NaN,Infinity}');
SELECT of_type('numeric(10,2)', '{1,2.5,1.00,-3.5}');
SELECT of_type('real', '{0,-0,-1.5,1e30,NaN,-Infinity}');
SELECT of_type('double precision', '{0,-0,-1.5,1e300,Infinity,NaN,NaN,-Infinity}');
SELECT of_type('date', '{2026-02-01,2025-12-31,infinity,-infinity,1970-01-01,infinity}');
SELECT of_type('time', '{23:59,00:00,00:00,12:00}');
SELECT of_type('timestamp', '{2026-02-01 10:00,1969-12-31,infinity,1969-12-31}');
SET timezone = 'UTC';
SELECT of_type('timestamptz', '{2026-02-01 10:00+00,2026-02-01 12:00+02,2026-02-01 12:00+01,1969-12-31 00:00+00}');
SELECT of_type('interval', '{24 hours,1 day,2 days,1 hour}');
SELECT of_type('money', '{-1,2,2,10}');
SELECT of_type('pg_lsn', '{0/10000000,1/10000000,1/10000000,FFFFFFFF/10000000}');
SELECT of_type('macaddr', '{08:00:2b:01:02:03,ff:00:00:00:00:00,ff:00:00:00:00:00,00:00:00:00:00:01}');
SELECT of_type('inet', '{10.0.0.1,10.0.0.1/24,10.0.0.1,9.0.0.0/8}');
SELECT of_type('jsonb', '{"{\"a\": 1.0}","{\"a\": 1.00}","[2]","{\"a\": 1}"}');
SELECT of_type('integer[]', '{"{1,2}","{1}","{1}","{0,9,9}"}');
CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy');
SELECT of_type('mood', '{ok,sad,happy,ok}');
CREATE DOMAIN code AS text COLLATE "C" CHECK (value <> '');
SELECT of_type('code', '{b,a,a,c}');
-- a user-defined type, compared by a user-defined function: by length
CREATE TYPE by_length;
CREATE FUNCTION by_length_in(cstring) RETURNS by_length LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE AS 'textin';
CREATE FUNCTION by_length_out(by_length) RETURNS cstring LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE AS 'textout';
CREATE TYPE by_length (INPUT = by_length_in, OUTPUT = by_length_out, LIKE = text);
CREATE CAST (by_length AS text) WITHOUT FUNCTION;
CREATE FUNCTION by_length_cmp(by_length, by_length) RETURNS int LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$ SELECT sign(length($1::text) - length($2::text))::int $$;
CREATE FUNCTION by_length_lt(by_length, by_length) RETURNS bool LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$ SELECT by_length_cmp($1, $2) < 0 $$;
CREATE FUNCTION by_length_eq(by_length, by_length) RETURNS bool LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$ SELECT by_length_cmp($1, $2) = 0 $$;
CREATE FUNCTION by_length_gt(by_length, by_length) RETURNS bool LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$ SELECT by_length_cmp($1, $2) > 0 $$;
CREATE OPERATOR < (LEFTARG = by_length, RIGHTARG = by_length, FUNCTION = by_length_lt);
CREATE OPERATOR = (LEFTARG = by_length, RIGHTARG = by_length, FUNCTION = by_length_eq);
CREATE OPERATOR > (LEFTARG = by_length, RIGHTARG = by_length, FUNCTION = by_length_gt);
CREATE OPERATOR CLASS by_length_ops DEFAULT FOR TYPE by_length USING btree AS OPERATOR 1 <, OPERATOR 3 =, OPERATOR 5 >, FUNCTION 1 by_length_cmp(by_length, by_length);
SELECT of_type('by_length', '{zz,a,bb,ccc,b,yy}');

-- ---- one representation is returned, and every representation finds it

CREATE TABLE numbers (src numeric, dst numeric);
INSERT INTO numbers VALUES (1.000, 2), (2.0, 3.10), (3.1, 1.00);
SELECT * FROM emogi_bfs('numbers', '1');
SELECT * FROM emogi_bfs('numbers', ARRAY['3.1000', '7']);
SELECT * FROM emogi_bfs('numbers', '1') WHERE vertex = '3.10';
SELECT * FROM emogi_bfs('numbers', '1') WHERE vertex = '3.100';

-- ---- NULL endpoints, and tables without edges

CREATE TABLE names (src text, dst text, weight float8);
SELECT count(*) FROM emogi_bfs('names', 'ann');
INSERT INTO names VALUES (NULL, 'ann', 1), ('ann', NULL, 1), (NULL, NULL, 1);
SELECT count(*) FROM emogi_bfs('names', 'ann');
INSERT INTO names VALUES ('ann', 'bob', 1), ('bob', 'carl', 2), ('dan', 'bob', 0.5);
SELECT * FROM emogi_bfs('names', 'ann', direction => 'both');
SELECT * FROM emogi_sssp('names', 'dan');
SELECT * FROM emogi_shortest_path('names', 'ann', 'carl');
SELECT skipped_rows FROM emogi_graphs WHERE source = 'names' AND columns = 'src, dst' AND direction = 'out';
SELECT * FROM emogi_bfs('names', NULL::text);
SELECT * FROM emogi_bfs('names', ''::text);

-- ---- graphs track the table, except those with compared keys

SELECT cache FROM emogi_bfs('names', 'ann'), last_call LIMIT 1;
INSERT INTO names VALUES ('bob', 'barbara', 1);
SELECT * FROM emogi_bfs('names', 'ann');
SELECT * FROM last_call;
SELECT vertices('names');
SELECT ok FROM emogi_check('names');
DELETE FROM names WHERE src = 'ann';
SELECT * FROM emogi_bfs('names', 'bob');
SELECT vertices('names');
SELECT ok FROM emogi_check('names', 'both', weights => true);
BEGIN;
INSERT INTO names VALUES ('barbara', 'zoe', 1), ('aaron', 'barbara', 1);
SELECT * FROM emogi_bfs('names', 'aaron');
ROLLBACK;
SELECT * FROM emogi_bfs('names', 'aaron');
SELECT count(*) FROM emogi_bfs('numbers', '1');
INSERT INTO numbers VALUES (3.1, 4);
SELECT * FROM emogi_bfs('numbers', '1');
SELECT * FROM last_call;

-- ---- more new keys between two old ones than fit

CREATE TABLE many (src text, dst text);
INSERT INTO many SELECT 'k' || lpad(g::text, 5, '0'), 'k' || lpad((g + 1)::text, 5, '0') FROM generate_series(1, 2000) g;
SELECT count(*) FROM emogi_bfs('many', 'k00001');
DO $$
DECLARE
  n bigint;
BEGIN
  FOR i IN 1 .. 40 LOOP
    INSERT INTO many SELECT 'k00001', 'k00001' || chr(97 + (i * 7 + j) % 26) || i || '-' || j FROM generate_series(1, 50) j;
    SELECT count(*) INTO n FROM emogi_bfs('many', 'k00001', max_depth => 1);
    IF n <> 2 + 50 * i OR NOT (SELECT ok FROM emogi_check('many')) THEN
      RAISE EXCEPTION '% vertices after % rounds', n, i;
    END IF;
  END LOOP;
END $$;
SELECT count(*), count(DISTINCT vertex), bool_and(before IS NULL OR before < vertex COLLATE "C") FROM
  (SELECT vertex, lag(vertex) OVER () AS before FROM emogi_cc_text('many(src, dst)')) v;

-- ---- long keys

CREATE TABLE long (src text, dst text);
INSERT INTO long SELECT repeat('x', length), repeat('x', length - 1) || 'y' FROM unnest(ARRAY[1, 100, 3000, 100000, 1048576]) length;
ALTER TABLE long ALTER src SET STORAGE external;
INSERT INTO long SELECT string_agg(md5(g::text), '' ORDER BY g), 'short' FROM generate_series(1, 20000) g;
INSERT INTO long SELECT dst, src FROM long;
SELECT length(vertex), md5(vertex), length(component) FROM emogi_cc_text('long');
SELECT length(vertex), level FROM emogi_bfs('long', repeat('x', 1048576));
INSERT INTO long VALUES (repeat('x', 1048577), 'a');
SELECT count(*) FROM emogi_bfs('long', 'short');
SELECT count(*) FROM emogi_bfs('SELECT src, dst FROM long', 'short');
SELECT count(*) FROM emogi_bfs('long', repeat('x', 1048578));

-- ---- the collation is part of a graph's identity

CREATE TABLE words (src text COLLATE "C", dst text COLLATE "C");
INSERT INTO words VALUES ('b', 'A'), ('B', 'a');
SELECT vertices('words');
ALTER TABLE words ALTER src TYPE text COLLATE "POSIX";
SELECT vertices('words');
ALTER TABLE words ALTER dst TYPE text COLLATE "POSIX";
SELECT vertices('words');

-- ---- errors

\set SHOW_CONTEXT never
CREATE TABLE shapes (src point, dst point, doc json);
SELECT * FROM emogi_cc_text('shapes');
\echo :LAST_ERROR_SQLSTATE
SELECT * FROM emogi_cc_text('SELECT doc, doc FROM shapes');
\echo :LAST_ERROR_SQLSTATE
SELECT * FROM emogi_cc_text('SELECT 1, ''a''::text');
\echo :LAST_ERROR_SQLSTATE
SELECT * FROM emogi_bfs('names', 42);
\echo :LAST_ERROR_SQLSTATE
SELECT * FROM emogi_bfs('names', '00000000-0000-0000-0000-000000000000'::uuid);
\echo :LAST_ERROR_SQLSTATE
SELECT * FROM emogi_bfs('numbers', 'one');
\echo :LAST_ERROR_SQLSTATE
INSERT INTO names VALUES ('erik', 'bob', NULL);
SELECT * FROM emogi_sssp('names', 'bob');
SELECT * FROM emogi_sssp('SELECT src, dst, weight FROM names', 'bob');
UPDATE names SET weight = -1 WHERE src = 'erik';
SELECT * FROM emogi_sssp('names', 'bob');
SELECT public._emogi_sink(0, 'a'::text, 'b'::text);


DROP SCHEMA keys_test CASCADE;
