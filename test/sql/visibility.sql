-- An answer is that of the caller's own snapshot: one session's view of its own changes.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS emogi;
RESET client_min_messages;
CREATE SCHEMA test_visibility;
SET search_path = test_visibility, public;
\pset format unaligned
\pset tuples_only on
\pset null (null)

CREATE TABLE edges (src int, dst int);
INSERT INTO edges VALUES (1, 2);
PREPARE look AS SELECT string_agg(vertex || ':' || level, ' ') FROM emogi_bfs('edges', 1);
PREPARE look_query AS SELECT string_agg(vertex || ':' || level, ' ') FROM emogi_bfs('SELECT src, dst FROM edges', 1);

-- Each statement sees earlier changes, committed or not.
BEGIN;
INSERT INTO edges VALUES (2, 3);
EXECUTE look;
EXECUTE look_query;
UPDATE edges SET dst = 4 WHERE dst = 3;
EXECUTE look;
DELETE FROM edges WHERE src = 1;
EXECUTE look;
ROLLBACK;
EXECUTE look;
EXECUTE look_query;

-- Savepoints.
BEGIN;
INSERT INTO edges VALUES (2, 3);
SAVEPOINT a;
INSERT INTO edges VALUES (3, 4);
SAVEPOINT b;
DELETE FROM edges WHERE src = 2;
EXECUTE look;
ROLLBACK TO b;
EXECUTE look;
RELEASE b;
EXECUTE look;
ROLLBACK TO a;
EXECUTE look;
COMMIT;
EXECUTE look;

-- An error inside a savepoint.
BEGIN;
INSERT INTO edges VALUES (3, 4);
SAVEPOINT a;
INSERT INTO edges VALUES (4, 5);
\set VERBOSITY sqlstate
SELECT * FROM emogi_bfs('edges', 1, -1);
\set VERBOSITY default
ROLLBACK TO a;
EXECUTE look;
ROLLBACK;
EXECUTE look;

-- TRUNCATE, COPY, and a table created, filled, rewritten and dropped in one transaction.
BEGIN;
TRUNCATE edges;
EXECUTE look;
COPY edges FROM STDIN;
1	7
7	8
\N	9
\.
EXECUTE look;
ROLLBACK;
EXECUTE look;
BEGIN;
CREATE TABLE fresh (src int, dst int);
SELECT count(*) FROM emogi_bfs('fresh', 1);
INSERT INTO fresh VALUES (1, 2);
ALTER TABLE fresh ALTER dst TYPE bigint;
INSERT INTO fresh VALUES (2, 5000000000);
SELECT string_agg(vertex || ':' || level, ' ') FROM emogi_bfs('fresh', 1);
DROP TABLE fresh;
CREATE TABLE fresh AS SELECT 1 AS source, 9 AS target;
SELECT string_agg(vertex || ':' || level, ' ') FROM emogi_bfs('fresh', 1);
ROLLBACK;

-- The same under the other isolation levels.
BEGIN ISOLATION LEVEL REPEATABLE READ;
INSERT INTO edges VALUES (3, 6);
EXECUTE look;
ROLLBACK;
BEGIN ISOLATION LEVEL SERIALIZABLE;
INSERT INTO edges VALUES (3, 7);
EXECUTE look;
EXECUTE look_query;
ROLLBACK;
BEGIN ISOLATION LEVEL SERIALIZABLE READ ONLY DEFERRABLE;
EXECUTE look;
COMMIT;
BEGIN READ ONLY;
EXECUTE look;
EXECUTE look_query;
COMMIT;

-- A statement does not see its own changes.
BEGIN;
WITH added AS (INSERT INTO edges VALUES (3, 4) RETURNING src)
  SELECT (SELECT count(*) FROM added), string_agg(vertex || ':' || level, ' ') FROM emogi_bfs('edges', 1);
EXECUTE look;
INSERT INTO edges SELECT vertex, vertex + 10 FROM emogi_bfs('edges', 1);
EXECUTE look;
DELETE FROM edges e WHERE EXISTS (SELECT FROM emogi_bfs('edges', 1, 1) b WHERE b.vertex = e.dst);
SELECT * FROM edges ORDER BY src, dst;
UPDATE edges SET src = 1 WHERE src IN (SELECT vertex FROM emogi_bfs('edges', 3));
EXECUTE look;
ROLLBACK;

-- Functions: a VOLATILE one sees its own changes, a STABLE one what its calling query sees.
CREATE FUNCTION look_stable() RETURNS text STABLE LANGUAGE plpgsql AS
  $$ BEGIN RETURN (SELECT string_agg(vertex || ':' || level, ' ') FROM emogi_bfs('edges', 1)); END $$;
CREATE FUNCTION look_volatile() RETURNS text VOLATILE LANGUAGE plpgsql AS
  $$ BEGIN RETURN (SELECT string_agg(vertex || ':' || level, ' ') FROM emogi_bfs('edges', 1)); END $$;
CREATE FUNCTION look_sql() RETURNS text VOLATILE LANGUAGE sql AS
  $$ SELECT string_agg(vertex || ':' || level, ' ') FROM emogi_bfs('edges', 1) $$;
CREATE FUNCTION add_and_look(i int, j int) RETURNS text VOLATILE LANGUAGE plpgsql AS $$
DECLARE
  before text := look_volatile();
BEGIN
  INSERT INTO edges VALUES (i, j);
  RETURN format('%s, then %s, stable %s, sql %s', before, look_volatile(), look_stable(), look_sql());
END $$;
BEGIN;
SELECT add_and_look(3, 4);
SELECT look_stable(), look_volatile(), look_sql();
SELECT add_and_look(i, i + 1), look_stable() FROM generate_series(4, 5) i;
ROLLBACK;
CREATE FUNCTION add(i int, j int) RETURNS int VOLATILE LANGUAGE sql AS $$ INSERT INTO edges VALUES (i, j) RETURNING 1 $$;
BEGIN;
SELECT a, look_stable() AS stable, look_volatile() AS volatile FROM (SELECT add(3, 4) AS a OFFSET 0) s;
ROLLBACK;

-- A procedure that commits between calls.
CREATE PROCEDURE grow() LANGUAGE plpgsql AS $$
BEGIN
  FOR i IN 3 .. 5 LOOP
    INSERT INTO edges VALUES (i, i + 1);
    IF i = 4 THEN ROLLBACK; ELSE COMMIT; END IF;
    RAISE INFO '%', look_volatile();
  END LOOP;
  DELETE FROM edges WHERE src > 2;
END $$;
CALL grow();
EXECUTE look;

-- Triggers: a row's own change is visible after it, not before.
CREATE FUNCTION tell() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE INFO '% %: %', TG_WHEN, TG_LEVEL, look_volatile(); RETURN NEW; END $$;
CREATE TRIGGER b BEFORE INSERT ON edges FOR EACH ROW EXECUTE FUNCTION tell();
CREATE TRIGGER a AFTER INSERT ON edges FOR EACH ROW EXECUTE FUNCTION tell();
CREATE TRIGGER s AFTER INSERT ON edges FOR EACH STATEMENT EXECUTE FUNCTION tell();
BEGIN;
INSERT INTO edges VALUES (3, 4), (4, 5);
ROLLBACK;
DROP TRIGGER b ON edges;
DROP TRIGGER a ON edges;
DROP TRIGGER s ON edges;

-- Cursors keep the snapshot with which they were declared.
BEGIN;
DECLARE c CURSOR FOR SELECT * FROM emogi_bfs('edges', 1);
DECLARE q CURSOR FOR SELECT * FROM emogi_bfs('SELECT src, dst FROM edges', 1);
INSERT INTO edges VALUES (3, 4);
DECLARE h CURSOR WITH HOLD FOR SELECT * FROM emogi_bfs('edges', 1);
FETCH 1 FROM c;
UPDATE edges SET dst = 9 WHERE src = 2;
FETCH ALL FROM c;
FETCH ALL FROM q;
EXECUTE look;
COMMIT;
FETCH ALL FROM h;
CLOSE h;
UPDATE edges SET dst = 3 WHERE src = 2;
DELETE FROM edges WHERE src = 3;
EXECUTE look;

-- A loop over a result while the table changes.
DO $$
DECLARE
  r record;
BEGIN
  FOR r IN SELECT * FROM emogi_bfs('edges', 1) LOOP
    INSERT INTO edges VALUES (r.vertex + 2, r.vertex + 3);
    RAISE INFO '%:% of %', r.vertex, r.level, look_volatile();
  END LOOP;
  RAISE EXCEPTION USING ERRCODE = 'EM002', MESSAGE = 'undo';
EXCEPTION WHEN SQLSTATE 'EM002' THEN
  RAISE INFO '%', look_volatile();
END $$;

-- Tables are locked as by SELECT, to the end of the transaction; not after an error.
CREATE TABLE parts (src int, dst int) PARTITION BY RANGE (src);
CREATE TABLE part1 PARTITION OF parts FOR VALUES FROM (0) TO (9);
CREATE VIEW locks AS SELECT relation::regclass::text, mode FROM pg_locks WHERE pid = pg_backend_pid() AND locktype = 'relation'
  AND relation IN ('edges'::regclass, 'parts'::regclass, 'part1'::regclass);
BEGIN;
EXECUTE look;
SELECT count(*) FROM emogi_bfs('parts', 1);
SELECT * FROM locks ORDER BY relation;
COMMIT;
SELECT * FROM locks ORDER BY relation;
DO $$ BEGIN
  PERFORM emogi_bfs('edges', 1, -1);
EXCEPTION WHEN invalid_parameter_value THEN
  RAISE INFO '% locks', (SELECT count(*) FROM locks);
END $$;

-- Hundreds of errors in one transaction, in the query, in the arguments and in nested calls, and
-- then a correct answer.
DO $$
DECLARE
  caught int := 0;
  calls text[] := ARRAY[
    $q$ SELECT emogi_bfs('SELECT src, dst / (src - 2) FROM edges', 1) $q$,
    $q$ SELECT emogi_bfs('SELECT i, 1 / (i - 3000) FROM generate_series(1, 4000) i', 1) $q$,
    $q$ SELECT emogi_bfs('edges', 1, -1) $q$,
    $q$ SELECT emogi_bfs('nowhere', 1) $q$,
    $q$ SELECT 1 / level FROM emogi_bfs('edges', 1) $q$,
    $q$ SELECT emogi_bfs('SELECT vertex, 1 / level FROM emogi_bfs(''edges'', 1)', 1) $q$];
BEGIN
  FOR i IN 1 .. 600 LOOP
    BEGIN
      INSERT INTO edges VALUES (3, 4);
      EXECUTE calls[1 + i % 6];
    EXCEPTION WHEN OTHERS THEN
      caught := caught + 1;
    END;
  END LOOP;
  RAISE INFO '% errors, then %', caught, look_volatile();
END $$;
EXECUTE look;

-- The arena is empty (the worker may need a moment to clean up the last failed call).
DO $$ BEGIN
  PERFORM emogi_evict();
  FOR i IN 1 .. 200 LOOP
    EXIT WHEN 0 = (SELECT used_bytes FROM emogi_devices WHERE device = -1);
    PERFORM pg_sleep(0.01);
  END LOOP;
END $$;
SELECT used_bytes FROM emogi_devices WHERE device = -1;
