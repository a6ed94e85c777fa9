-- Queries analyzed earlier by a session: the next call detects whatever changes their meaning.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS emogi;
CREATE SCHEMA test_analyses;
CREATE SCHEMA test_analyses_front;
SET search_path = test_analyses, public;
\pset format unaligned
\pset tuples_only on
CREATE FUNCTION reached(graph text, source bigint DEFAULT 1) RETURNS text LANGUAGE sql AS
  $$ SELECT string_agg(vertex::text, ' ' ORDER BY vertex) FROM emogi_bfs(graph, source) $$;
-- in the planner and in the call, twice each
CREATE FUNCTION twice(graph text, source bigint DEFAULT 1) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  answers text[];
  answer text;
BEGIN
  FOR i IN 1 .. 2 LOOP
    EXECUTE format('SELECT string_agg(vertex::text, '' '' ORDER BY vertex) FROM emogi_bfs(%L, %s)', graph, source) INTO answer;
    answers := answers || answer;
  END LOOP;
  RETURN CASE WHEN answers[1] IS NOT DISTINCT FROM answers[2] THEN coalesce(answer, '(none)') ELSE 'differ: ' || answers::text END;
EXCEPTION WHEN OTHERS THEN
  RETURN sqlerrm;
END $$;
CREATE TABLE pay (src int, dst int, kind int, at timestamptz, day date, note text);
INSERT INTO pay VALUES (1, 2, 1, now(), current_date, 'a'), (2, 3, 1, now(), current_date, 'b'), (1, 4, 2, now(), current_date, 'a'),
  (1, 5, 1, now() - interval '9 days', current_date - 9, 'A');
CREATE TABLE spare (src int, dst int, kind int);
INSERT INTO spare VALUES (1, 8, 1);

-- columns, names, views, rows
SELECT twice('SELECT src, dst FROM pay WHERE kind = 1'), twice('pay(src, dst) WHERE kind = 2'), twice('SELECT src, dst FROM pay WHERE at > now() - interval ''7 days''');
ALTER TABLE pay RENAME kind TO was_kind;
SELECT twice('SELECT src, dst FROM pay WHERE kind = 1'), twice('pay(src, dst) WHERE kind = 2');
ALTER TABLE pay ADD kind int DEFAULT 2;
SELECT twice('SELECT src, dst FROM pay WHERE kind = 1'), twice('pay(src, dst) WHERE kind = 2');
ALTER TABLE pay DROP kind;
ALTER TABLE pay RENAME was_kind TO kind;
SELECT twice('SELECT src, dst FROM pay WHERE kind = 1'), twice('pay(src, dst) WHERE kind = 2');
ALTER TABLE pay RENAME TO gone;
ALTER TABLE spare RENAME TO pay;
SELECT twice('SELECT src, dst FROM pay WHERE kind = 1'), twice('pay(src, dst) WHERE kind = 1');
ALTER TABLE pay RENAME TO spare;
ALTER TABLE gone RENAME TO pay;
SELECT twice('SELECT src, dst FROM pay WHERE kind = 1');
-- literals of another text are not interpreted with the column's old type
CREATE TABLE typed AS SELECT 1 AS src, i AS dst, i AS kind FROM generate_series(1, 3) i;
SELECT twice('SELECT src, dst FROM typed WHERE kind = ''1'''), twice('SELECT src, dst FROM typed WHERE kind = ''2'''), twice('SELECT src, dst FROM typed WHERE kind = ''3''');
ALTER TABLE typed ALTER kind TYPE text USING 'k' || kind;
SELECT twice('SELECT src, dst FROM typed WHERE kind = ''k2''');
CREATE VIEW v AS SELECT src, dst FROM pay WHERE kind = 1;
SELECT twice('v'), twice('SELECT src, dst FROM v');
CREATE OR REPLACE VIEW v AS SELECT src, dst FROM pay WHERE kind = 2;
SELECT twice('v'), twice('SELECT src, dst FROM v');
CREATE OR REPLACE RULE "_RETURN" AS ON SELECT TO v DO INSTEAD SELECT src, dst FROM spare;
SELECT twice('v'), twice('SELECT src, dst FROM v');
INSERT INTO pay VALUES (3, 6, 1, now(), current_date, 'c');
SELECT twice('SELECT src, dst FROM pay WHERE kind = 1');
DELETE FROM pay WHERE dst = 6;
SELECT twice('SELECT src, dst FROM pay WHERE kind = 1');

-- schemas first in search_path, temporary tables, inheritance
SET search_path = test_analyses_front, test_analyses, public;
SELECT twice('SELECT src, dst FROM pay WHERE kind = 1');
CREATE TABLE test_analyses_front.pay (src int, dst int, kind int);
INSERT INTO test_analyses_front.pay VALUES (1, 9, 1);
SELECT twice('SELECT src, dst FROM pay WHERE kind = 1'), twice('pay(src, dst) WHERE kind = 1');
SET search_path = test_analyses, public;
SELECT twice('SELECT src, dst FROM pay WHERE kind = 1'), twice('pay(src, dst) WHERE kind = 1');
SET search_path = test_analyses_front, test_analyses, public;
SELECT twice('SELECT src, dst FROM pay WHERE kind = 1'), twice('pay(src, dst) WHERE kind = 1');
DROP TABLE test_analyses_front.pay;
SELECT twice('SELECT src, dst FROM pay WHERE kind = 1'), twice('pay(src, dst) WHERE kind = 1');
SET search_path = test_analyses, public;
CREATE TEMPORARY TABLE pay (src int, dst int, kind int);
INSERT INTO pg_temp.pay VALUES (1, 10, 1);
SELECT twice('SELECT src, dst FROM pay WHERE kind = 1');
DROP TABLE pg_temp.pay;
SELECT twice('SELECT src, dst FROM pay WHERE kind = 1');
-- not pay: pg_class would then show that it may have children, and no analysis of it would be
-- cached
CREATE TABLE parent AS SELECT src, dst, kind FROM pay;
SELECT twice('SELECT src, dst FROM parent WHERE kind = 1');
CREATE TABLE child () INHERITS (parent);
INSERT INTO child VALUES (1, 11, 1);
SELECT twice('SELECT src, dst FROM parent WHERE kind = 1');
ALTER TABLE child NO INHERIT parent;
SELECT twice('SELECT src, dst FROM parent WHERE kind = 1');

-- functions, operators, defaults, casts
CREATE FUNCTION wanted(int) RETURNS bool LANGUAGE sql IMMUTABLE AS 'SELECT $1 = 1';
CREATE FUNCTION chosen(int) RETURNS bool LANGUAGE sql IMMUTABLE BEGIN ATOMIC SELECT $1 = 1; END;
SELECT twice('SELECT src, dst FROM pay WHERE wanted(kind)'), twice('SELECT src, dst FROM pay WHERE chosen(kind)');
CREATE OR REPLACE FUNCTION wanted(int) RETURNS bool LANGUAGE sql IMMUTABLE AS 'SELECT $1 = 2';
CREATE OR REPLACE FUNCTION chosen(int) RETURNS bool LANGUAGE sql IMMUTABLE BEGIN ATOMIC SELECT $1 = 2; END;
SELECT twice('SELECT src, dst FROM pay WHERE wanted(kind)'), twice('SELECT src, dst FROM pay WHERE chosen(kind)');
CREATE FUNCTION test_analyses.lower(text) RETURNS text LANGUAGE sql IMMUTABLE BEGIN ATOMIC SELECT 'never'; END;
SELECT twice('SELECT src, dst FROM pay WHERE lower(note) = ''a''');
SET search_path = test_analyses, pg_catalog, public;
SELECT twice('SELECT src, dst FROM pay WHERE lower(note) = ''a''');
SET search_path = test_analyses, public;
SELECT twice('SELECT src, dst FROM pay WHERE lower(note) = ''a''');
CREATE FUNCTION never(int, int) RETURNS bool LANGUAGE sql IMMUTABLE BEGIN ATOMIC SELECT false; END;
SELECT twice('SELECT src, dst FROM pay WHERE kind OPERATOR(test_analyses.===) 1');
CREATE OPERATOR === (FUNCTION = int4eq, LEFTARG = int, RIGHTARG = int);
SELECT twice('SELECT src, dst FROM pay WHERE kind OPERATOR(test_analyses.===) 1'), twice('SELECT src, dst FROM pay WHERE kind === 1');
DROP OPERATOR === (int, int);
CREATE OPERATOR === (FUNCTION = never, LEFTARG = int, RIGHTARG = int);
SELECT twice('SELECT src, dst FROM pay WHERE kind OPERATOR(test_analyses.===) 1'), twice('SELECT src, dst FROM pay WHERE kind === 1');

-- settings that affect literals and row security
SET DateStyle = 'ISO, DMY';
CREATE TABLE days (src int, dst int, day date);
INSERT INTO days VALUES (1, 2, '2026-02-01'), (1, 3, '2026-01-02');
SELECT twice('SELECT src, dst FROM days WHERE day = ''01/02/2026''');
SET DateStyle = 'ISO, MDY';
SELECT twice('SELECT src, dst FROM days WHERE day = ''01/02/2026''');
RESET DateStyle;
CREATE TABLE moments (src int, dst int, at timestamptz);
INSERT INTO moments VALUES (1, 2, '2026-01-01 12:00+00'), (1, 3, '2026-01-01 12:00-05');
SET TimeZone = 'UTC';
SELECT twice('SELECT src, dst FROM moments WHERE at = ''2026-01-01 12:00''');
SET TimeZone = 'EST5';
SELECT twice('SELECT src, dst FROM moments WHERE at = ''2026-01-01 12:00''');
RESET TimeZone;
CREATE TABLE spans (src int, dst int, span interval);
INSERT INTO spans VALUES (1, 2, interval '-1 day -1 hour'), (1, 3, interval '-1 day +1 hour');
SET IntervalStyle = 'postgres';
SELECT twice('SELECT src, dst FROM spans WHERE span = ''-1 1:00:00''');
SET IntervalStyle = 'sql_standard';
SELECT twice('SELECT src, dst FROM spans WHERE span = ''-1 1:00:00''');
RESET IntervalStyle;
CREATE TABLE nulls (src int, dst int, kind int, texts text[]);
INSERT INTO nulls VALUES (1, 2, NULL, '{a,NULL}'), (1, 3, 1, '{a,"NULL"}');
SELECT twice('SELECT src, dst FROM nulls WHERE kind = NULL'), twice('SELECT src, dst FROM nulls WHERE texts = ''{a,NULL}''');
SET transform_null_equals = on;
SET array_nulls = off;
SELECT twice('SELECT src, dst FROM nulls WHERE kind = NULL'), twice('SELECT src, dst FROM nulls WHERE texts = ''{a,NULL}''');
RESET transform_null_equals;
RESET array_nulls;
SELECT twice('SELECT src, dst FROM nulls WHERE kind = NULL'), twice('SELECT src, dst FROM nulls WHERE texts = ''{a,NULL}''');
SELECT current_setting('server_version_num')::int < 190000 AS has_nonstandard \gset
\if :has_nonstandard
SET standard_conforming_strings = off;
SET escape_string_warning = off;
\endif
SELECT twice(CASE WHEN :'has_nonstandard'::bool THEN $$SELECT src, dst FROM pay WHERE note = '\x61'$$ ELSE $$SELECT src, dst FROM pay WHERE note = E'\x61'$$ END);
SET standard_conforming_strings = on;
SELECT twice($$SELECT src, dst FROM pay WHERE note = '\x61'$$);
\if :has_nonstandard
RESET escape_string_warning;
\endif

-- times of the transaction: as words, and as functions
CREATE TABLE times (src int, dst int, at timestamptz);
CREATE PROCEDURE times_of_transactions(graph text) LANGUAGE plpgsql AS $$
DECLARE
  answers text[];
BEGIN
  FOR i IN 1 .. 3 LOOP
    DELETE FROM times;
    INSERT INTO times VALUES (1, i + 1, now());
    COMMIT;
    INSERT INTO times VALUES (1, 99, now());
    answers := answers || twice(graph) || twice(graph);
    ROLLBACK;
  END LOOP;
  RAISE WARNING '%', answers;
END $$;
CALL times_of_transactions('SELECT src, dst FROM times WHERE at = ''now''');
CALL times_of_transactions('SELECT src, dst FROM times WHERE at = ''NoW''::timestamptz');
CALL times_of_transactions($q$SELECT src, dst FROM times WHERE at = E'n\x6fw'$q$);
CALL times_of_transactions('SELECT src, dst FROM times WHERE at = now()');
CALL times_of_transactions('SELECT src, dst FROM times WHERE at >= now() - interval ''1 microsecond''');
CALL times_of_transactions('times(src, dst) WHERE at = current_timestamp');

-- values of the call: settings, the user, stable functions over tables
CREATE FUNCTION limit_of() RETURNS int LANGUAGE sql STABLE AS 'SELECT max(kind) FROM spare';
SET app.kind = '1';
SELECT twice('SELECT src, dst FROM pay WHERE kind = current_setting(''app.kind'')::int'), twice('SELECT src, dst FROM pay WHERE kind = (SELECT limit_of())'),
  twice('SELECT src, dst FROM pay WHERE kind = limit_of()');
SET app.kind = '2';
UPDATE spare SET kind = 2;
SELECT twice('SELECT src, dst FROM pay WHERE kind = current_setting(''app.kind'')::int'), twice('SELECT src, dst FROM pay WHERE kind = (SELECT limit_of())'),
  twice('SELECT src, dst FROM pay WHERE kind = limit_of()');
SET app.kind = 'two';
SELECT twice('SELECT src, dst FROM pay WHERE kind = current_setting(''app.kind'')::int');
SET app.kind = '1';
SELECT twice('SELECT src, dst FROM pay WHERE kind = current_setting(''app.kind'')::int');
SELECT twice('SELECT src, dst FROM pay WHERE note = current_setting(''app.note'', true)');
SET app.note = 'a';
SELECT twice('SELECT src, dst FROM pay WHERE note = current_setting(''app.note'', true)');
SET app.note = 'longer than the value before, which was short';
SELECT twice('SELECT src, dst FROM pay WHERE note = current_setting(''app.note'', true)');
SET app.note = 'A';
SELECT twice('SELECT src, dst FROM pay WHERE note = current_setting(''app.note'', true)');
-- conditions that are true, false or NULL for a call
SET app.every = 'on';
SELECT twice('SELECT src, dst FROM pay WHERE kind = 1 OR current_setting(''app.every'')::bool');
SELECT twice('SELECT src, dst FROM pay WHERE kind = 1 AND current_setting(''app.every'')::bool', 1);
SET app.every = 'off';
SELECT twice('SELECT src, dst FROM pay WHERE kind = 1 OR current_setting(''app.every'')::bool');
SELECT twice('SELECT src, dst FROM pay WHERE kind = 1 AND current_setting(''app.every'')::bool', 1);
-- a value and an equal literal share a graph; values in other positions do not
SET app.kind = '2';
SELECT twice('SELECT src, dst FROM pay WHERE kind = 2'), twice('SELECT src, dst FROM pay WHERE kind = current_setting(''app.kind'')::int');
SELECT twice('SELECT src, dst FROM pay WHERE kind = 1 AND dst <> 2'), twice('SELECT src, dst FROM pay WHERE kind = 2 AND dst <> 1');
-- a function in a condition makes calls with the same query and other values
CREATE FUNCTION nested() RETURNS int LANGUAGE plpgsql STABLE AS $$
BEGIN
  IF current_setting('app.depth')::int > 0 THEN
    PERFORM set_config('app.depth', '0', true);
    PERFORM count(*) FROM emogi_bfs('SELECT src, dst FROM pay WHERE kind = nested()', 1);
    -- the same value if a change of the catalogs causes a second evaluation
    PERFORM set_config('app.depth', '1', true);
    RETURN 1;
  END IF;
  RETURN 2;
END $$;
CREATE FUNCTION nested_reached(depth int) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
  PERFORM set_config('app.depth', depth::text, true);
  RETURN reached('SELECT src, dst FROM pay WHERE kind = nested()');
END $$;
SELECT nested_reached(1), nested_reached(0), nested_reached(1), nested_reached(1), nested_reached(0), nested_reached(0);
-- a function in a call's pairs does so, before the graph of the call is read
CREATE TABLE ways (src int, dst int, note text);
INSERT INTO ways VALUES (1, 2, 'a'), (2, 3, 'a'), (1, 4, 'b');
CREATE FUNCTION target(i int) RETURNS int LANGUAGE plpgsql AS $$
BEGIN
  PERFORM set_config('app.note', 'b', false);
  PERFORM count(*) FROM emogi_bfs('ways(src, dst) WHERE note = current_setting(''app.note'')', 1);
  PERFORM set_config('app.note', 'a', false);
  RETURN i;
END $$;
SET app.note = 'a';
SELECT * FROM emogi_reachable('ways(src, dst) WHERE note = current_setting(''app.note'')', 'SELECT 1, target(i) FROM generate_series(2, 4) i') ORDER BY 2;

-- many queries, which replace each other in the cache, and long ones
SELECT count(DISTINCT answer), min(answer) FROM (SELECT twice(format('SELECT src, dst FROM pay WHERE kind = 1 AND dst <> %s', 100 + i % 11)) answer FROM generate_series(1, 44) i) q;
SELECT twice('SELECT src, dst FROM pay WHERE kind = 1' || repeat(' AND dst <> 77', 700)) = twice('SELECT src, dst FROM pay WHERE kind = 1');

-- in a transaction, and after its rollback
BEGIN;
SELECT reached('SELECT src, dst FROM pay WHERE kind = 1');
SAVEPOINT s;
ALTER TABLE pay RENAME TO gone;
ALTER TABLE spare RENAME TO pay;
SELECT reached('SELECT src, dst FROM pay WHERE kind = 2'), reached('SELECT src, dst FROM pay WHERE kind = 1');
ROLLBACK TO s;
SELECT reached('SELECT src, dst FROM pay WHERE kind = 1'), reached('SELECT src, dst FROM pay WHERE kind = 2');
-- a cursor opened earlier sees the state of its own command
DECLARE c CURSOR FOR SELECT (SELECT string_agg(vertex::text, ' ' ORDER BY vertex) FROM emogi_bfs('SELECT src, dst FROM pay WHERE kind = 1', i)) FROM generate_series(1, 2) i;
CREATE TABLE new AS SELECT 1 AS src, i AS dst, 1 AS kind FROM generate_series(21, 23) i;
ALTER TABLE pay RENAME TO gone;
ALTER TABLE new RENAME TO pay;
SELECT reached('SELECT src, dst FROM pay WHERE kind = 1');
FETCH c;
ROLLBACK;
SELECT reached('SELECT src, dst FROM pay WHERE kind = 1');
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT reached('SELECT src, dst FROM pay WHERE kind = 2');
SELECT reached('SELECT src, dst FROM pay WHERE kind = 2');
COMMIT;

-- privileges: on tables, columns, functions, views; row security and the roles it applies to
CREATE ROLE emogi_analyses_reader;
CREATE ROLE emogi_analyses_group;
GRANT USAGE ON SCHEMA test_analyses TO emogi_analyses_reader, emogi_analyses_group;
GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA test_analyses TO emogi_analyses_reader, emogi_analyses_group;
SELECT twice('SELECT src, dst FROM pay WHERE kind = 1');
SET ROLE emogi_analyses_reader;
SELECT twice('SELECT src, dst FROM pay WHERE kind = 1');
RESET ROLE;
GRANT SELECT ON pay TO emogi_analyses_reader, emogi_analyses_group;
SET ROLE emogi_analyses_reader;
SELECT twice('SELECT src, dst FROM pay WHERE kind = 1');
RESET ROLE;
REVOKE SELECT ON pay FROM emogi_analyses_reader;
GRANT SELECT (src, dst) ON pay TO emogi_analyses_reader;
SET ROLE emogi_analyses_reader;
SELECT twice('SELECT src, dst FROM pay WHERE kind = 1');
RESET ROLE;
GRANT SELECT (kind) ON pay TO emogi_analyses_reader;
SET ROLE emogi_analyses_reader;
SELECT twice('SELECT src, dst FROM pay WHERE kind = 1'), twice('SELECT src, dst FROM pay WHERE chosen(kind)');
RESET ROLE;
REVOKE EXECUTE ON FUNCTION chosen(int) FROM PUBLIC, emogi_analyses_reader;
SET ROLE emogi_analyses_reader;
SELECT twice('SELECT src, dst FROM pay WHERE chosen(kind)');
RESET ROLE;
GRANT SELECT ON pay TO emogi_analyses_reader;
ALTER TABLE pay ENABLE ROW LEVEL SECURITY;
SET ROLE emogi_analyses_reader;
SELECT twice('SELECT src, dst FROM pay WHERE kind = 1'), twice('pay(src, dst)');
RESET ROLE;
CREATE POLICY p ON pay TO emogi_analyses_reader USING (dst < current_setting('app.max')::int);
SET app.max = '3';
SET ROLE emogi_analyses_reader;
SELECT twice('SELECT src, dst FROM pay WHERE kind = 1'), twice('pay(src, dst)');
SET app.max = '6';
SELECT twice('SELECT src, dst FROM pay WHERE kind = 1'), twice('pay(src, dst)');
SET row_security = off;
SELECT twice('SELECT src, dst FROM pay WHERE kind = 1');
RESET row_security;
SELECT twice('SELECT src, dst FROM pay WHERE kind = 1');
SET ROLE emogi_analyses_group;
SELECT twice('SELECT src, dst FROM pay WHERE kind = 1');
RESET ROLE;
GRANT emogi_analyses_reader TO emogi_analyses_group;
SET ROLE emogi_analyses_group;
SELECT twice('SELECT src, dst FROM pay WHERE kind = 1');
RESET ROLE;
ALTER ROLE emogi_analyses_reader BYPASSRLS;
SET ROLE emogi_analyses_reader;
SELECT twice('SELECT src, dst FROM pay WHERE kind = 2');
RESET ROLE;
ALTER POLICY p ON pay USING (dst = 2);
ALTER ROLE emogi_analyses_reader NOBYPASSRLS;
SET ROLE emogi_analyses_reader;
SELECT twice('SELECT src, dst FROM pay WHERE kind = 1'), twice('pay(src, dst)');
RESET ROLE;
ALTER TABLE pay DISABLE ROW LEVEL SECURITY;

-- values of the call passed by reference, in several copies of a tree, which change at each call
CREATE TABLE noted (src int, dst int, note text, owner name);
INSERT INTO noted SELECT 1, i, repeat('n', i), CASE WHEN i % 2 = 0 THEN 'emogi_analyses_reader' ELSE 'other' END FROM generate_series(2, 40) i;
GRANT SELECT ON noted TO emogi_analyses_reader;
ALTER TABLE noted ENABLE ROW LEVEL SECURITY;
CREATE POLICY own ON noted USING (owner = current_user AND note = coalesce(nullif(current_setting('app.note', true), ''), 'nn'));
CREATE FUNCTION differing(graph text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
  seen int[];
  expected int[];
BEGIN
  FOR i IN 2 .. 400 LOOP
    PERFORM set_config('app.note', repeat('n', 2 + i * 7 % 39), false);
    SELECT array_agg(vertex::int ORDER BY vertex) INTO seen FROM emogi_bfs(graph, 1) WHERE level = 1;
    SELECT array_agg(dst ORDER BY dst) INTO expected FROM noted WHERE note = current_setting('app.note') AND (owner = 'emogi_analyses_reader' OR current_user <> 'emogi_analyses_reader');
    IF seen IS DISTINCT FROM expected THEN
      RETURN NEXT format('%s: %s instead of %s', i, seen, expected);
    END IF;
  END LOOP;
END $$;
GRANT EXECUTE ON FUNCTION differing TO emogi_analyses_reader;
SELECT differing('noted(src, dst) WHERE note = current_setting(''app.note'')');
SELECT differing('SELECT src, dst FROM noted WHERE note = current_setting(''app.note'')');
SELECT differing('SELECT src, dst FROM (SELECT * FROM noted WHERE note = current_setting(''app.note'')) a WHERE a.note = current_setting(''app.note'')');
SET ROLE emogi_analyses_reader;
SELECT differing('noted(src, dst)');
SELECT differing('SELECT src, dst FROM noted');
RESET ROLE;
RESET app.note;

-- own changes with a trigger that calls before each row, with a condition
CREATE TABLE chart (boss int, person int, kind int);
CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT FROM emogi_shortest_path('chart(boss, person) WHERE kind = 1', new.person, new.boss)) THEN
    RAISE EXCEPTION 'a cycle of % and %', new.boss, new.person;
  END IF;
  RETURN new;
END $$;
CREATE TRIGGER refuse BEFORE INSERT ON chart FOR EACH ROW EXECUTE FUNCTION refuse();
INSERT INTO chart SELECT i / 3, i, 1 FROM generate_series(1, 200) i;
INSERT INTO chart VALUES (200, 1, 1);
INSERT INTO chart VALUES (300, 1, 2), (200, 300, 1);
INSERT INTO chart VALUES (300, 66, 1);
ALTER TABLE chart RENAME kind TO old_kind;
ALTER TABLE chart ADD kind int DEFAULT 2;
INSERT INTO chart VALUES (200, 1, 1, 1), (1, 200, 1, 2);
INSERT INTO chart VALUES (1, 200, 1, 1);

-- An error while the fingerprint of other values is computed: the next call with these values
-- computes it.
RESET ALL;
SET search_path = test_analyses, public;
CREATE TABLE dated AS SELECT i AS src, i + 1 AS dst, i AS kind FROM generate_series(1, 2000) i;
CREATE FUNCTION of_kind(kind int) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
  PERFORM set_config('app.kind', kind::text, false);
  RETURN (SELECT count(*) FROM emogi_cc('SELECT src, dst FROM dated WHERE kind <= current_setting(''app.kind'')::int'));
EXCEPTION WHEN out_of_memory THEN
  RETURN 'failed';
END $$;
SELECT of_kind(10), of_kind(10), of_kind(20), of_kind(10);
SET emogi.fault = 'fingerprint=1';
SELECT of_kind(20);
RESET emogi.fault;
SELECT of_kind(20), of_kind(10), of_kind(20);

SET client_min_messages = error;
DROP SCHEMA test_analyses, test_analyses_front CASCADE;
DROP OWNED BY emogi_analyses_reader, emogi_analyses_group;
DROP ROLE emogi_analyses_reader, emogi_analyses_group;
