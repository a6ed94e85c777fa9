-- Graph arguments resolved earlier by a session: the next call detects whatever changes their
-- meaning.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS emogi;
CREATE SCHEMA test_known;
CREATE SCHEMA test_known_front;
SET search_path = test_known, public;
SET emogi.engine = auto;
\pset format unaligned
\pset tuples_only on
CREATE FUNCTION reached(graph text, source bigint DEFAULT 1) RETURNS text LANGUAGE sql AS
  $$ SELECT string_agg(vertex::text, ' ' ORDER BY vertex) FROM emogi_bfs(graph, source) $$;
CREATE FUNCTION far(graph text) RETURNS text LANGUAGE sql AS
  $$ SELECT string_agg(vertex || ':' || distance, ' ' ORDER BY vertex) FROM emogi_sssp(graph, 1) $$;
CREATE TABLE known (src int, dst int, other int);
INSERT INTO known VALUES (1, 2, 7), (2, 3, 8);
CREATE TABLE spare (src int, dst int);
INSERT INTO spare VALUES (1, 4), (4, 5);

-- columns: other numbers, names, types, weights
SELECT reached('known'), reached('known'), reached('known(src, other)'), far('known');
ALTER TABLE known RENAME dst TO was_dst;
ALTER TABLE known RENAME other TO dst;
SELECT reached('known'), reached('known(src, was_dst)');
SELECT reached('known(src, other)');
ALTER TABLE known ADD weight float8 DEFAULT 0.5;
SELECT reached('known'), far('known'), far('known');
ALTER TABLE known DROP weight;
SELECT far('known');
ALTER TABLE known DROP dst;
SELECT reached('known');
ALTER TABLE known RENAME was_dst TO dst;
ALTER TABLE known ALTER dst TYPE bigint, ALTER src TYPE bigint;
SELECT reached('known');
ALTER TABLE known ALTER dst TYPE text, ALTER src TYPE text;
SELECT reached('known', 1);
SELECT string_agg(vertex, ' ' ORDER BY vertex) FROM emogi_bfs('known', '1');
ALTER TABLE known ALTER dst TYPE int USING dst::int, ALTER src TYPE int USING src::int;
SELECT reached('known');

-- names: swapped tables, schemas first in search_path, renamed schemas
ALTER TABLE known RENAME TO gone;
SELECT reached('known');
ALTER TABLE spare RENAME TO known;
SELECT reached('known'), reached('known');
ALTER TABLE known RENAME TO spare;
ALTER TABLE gone RENAME TO known;
SELECT reached('known');
SET search_path = test_known_front, test_known, public;
SELECT reached('known');
CREATE TABLE test_known_front.known (src int, dst int);
INSERT INTO test_known_front.known VALUES (1, 9);
SELECT reached('known'), reached('known');
SET search_path = test_known, public;
SELECT reached('known');
SET search_path = test_known_front, test_known, public;
SELECT reached('known');
ALTER SCHEMA test_known_front RENAME TO test_known_behind;
SELECT reached('known');
ALTER SCHEMA test_known_behind RENAME TO test_known_front;
SELECT reached('known');
DROP TABLE test_known_front.known;
SELECT reached('known');
CREATE TEMPORARY TABLE known (src int, dst int);
INSERT INTO pg_temp.known VALUES (1, 10);
SELECT reached('known');
DROP TABLE pg_temp.known;
SELECT reached('known');

-- in a transaction, and after its rollback
BEGIN;
SELECT reached('known');
SAVEPOINT s;
ALTER TABLE known RENAME TO gone;
ALTER TABLE spare RENAME TO known;
SELECT reached('known'), reached('known');
ROLLBACK TO s;
SELECT reached('known');
-- a cursor opened earlier sees the state of its own command
DECLARE c CURSOR FOR SELECT reached('known') FROM generate_series(1, 2);
DECLARE d CURSOR FOR SELECT (SELECT count(*) FROM emogi_bfs('known', i)) FROM generate_series(1, 2) i;
CREATE TABLE new AS SELECT 1 AS src, i AS dst FROM generate_series(11, 20) i;
ALTER TABLE known RENAME TO gone;
ALTER TABLE new RENAME TO known;
SELECT reached('known');
FETCH c;
FETCH d;
ROLLBACK;
SELECT reached('known');

-- privileges: of the role, on its schemas, of roles that it is a member of
CREATE ROLE emogi_known_reader;
CREATE ROLE emogi_known_group;
GRANT USAGE ON SCHEMA test_known TO emogi_known_reader;
GRANT SELECT ON known TO emogi_known_reader;
CREATE TABLE test_known_front.known (src int, dst int);
INSERT INTO test_known_front.known VALUES (1, 9);
SELECT reached('known');
SET ROLE emogi_known_reader;
SELECT reached('known'), reached('known');
RESET ROLE;
SELECT reached('known');
GRANT USAGE ON SCHEMA test_known_front TO emogi_known_group;
GRANT SELECT ON test_known_front.known TO emogi_known_group;
SET ROLE emogi_known_reader;
SELECT reached('known');
RESET ROLE;
GRANT emogi_known_group TO emogi_known_reader;
-- until then the server itself uses the old path
SET search_path = test_known_front, test_known, public;
SET ROLE emogi_known_reader;
SELECT reached('known');
RESET ROLE;
REVOKE USAGE ON SCHEMA test_known_front FROM emogi_known_group;
DROP TABLE test_known_front.known;
SET ROLE emogi_known_reader;
SELECT reached('known');
RESET ROLE;
REVOKE SELECT ON known FROM emogi_known_reader;
SET ROLE emogi_known_reader;
SELECT reached('known');
RESET ROLE;
GRANT SELECT (src, dst) ON known TO emogi_known_reader;
SET ROLE emogi_known_reader;
SELECT reached('known');
RESET ROLE;
ALTER TABLE known ENABLE ROW LEVEL SECURITY;
SET ROLE emogi_known_reader;
SELECT reached('known');
RESET ROLE;
CREATE POLICY p ON known USING (src = 1);
SET ROLE emogi_known_reader;
SELECT reached('known');
RESET ROLE;
ALTER TABLE known DISABLE ROW LEVEL SECURITY;

-- relations given by OID; inheritance
SELECT count(*) FROM emogi_bfs('known'::regclass, 1), emogi_bfs('known'::regclass, 1, columns => 'dst, src') b;
ALTER TABLE known RENAME src TO a;
SELECT count(*) FROM emogi_bfs('known'::regclass, 1);
SELECT count(*) FROM emogi_bfs('known'::regclass, 1, columns => 'a, dst');
ALTER TABLE known RENAME a TO src;
CREATE TABLE child () INHERITS (known);
INSERT INTO child VALUES (1, 21);
SELECT reached('known'), reached('known');
ALTER TABLE child NO INHERIT known;
SELECT reached('known'), reached('known');

-- changes since a graph was built, one by one, in both directions
CREATE TABLE log (src int, dst int);
INSERT INTO log SELECT i, i + 1 FROM generate_series(1, 5000) i;
CREATE FUNCTION cte(source int, back bool, depth int) RETURNS text LANGUAGE sql AS $$
WITH RECURSIVE found(v, level) AS (
	SELECT source, 0
	UNION SELECT CASE WHEN back THEN src ELSE dst END, level + 1 FROM found JOIN log ON CASE WHEN back THEN dst ELSE src END = v WHERE level < depth)
SELECT string_agg(DISTINCT v::text, ' ' ORDER BY v::text) FROM found $$;
CREATE FUNCTION near(source int, back bool, depth int) RETURNS text LANGUAGE sql AS $$
SELECT string_agg(vertex::text, ' ' ORDER BY vertex::text) FROM emogi_bfs('log', source, depth, direction => CASE WHEN back THEN 'in' ELSE 'out' END) $$;
CREATE PROCEDURE compare(steps int) LANGUAGE plpgsql AS $$
DECLARE
	differ int := 0;
BEGIN
	FOR i IN 1 .. steps LOOP
		CASE i % 5
			WHEN 0 THEN DELETE FROM log WHERE src = i * 3;
			WHEN 1 THEN UPDATE log SET dst = 9000 - i WHERE src = i * 7;
			WHEN 2 THEN INSERT INTO log VALUES (8000 - i, i), (i, 8000 - i), (i, 8000 - i);
			ELSE INSERT INTO log VALUES (i, i * 11);
		END CASE;
		COMMIT;
		differ := differ + (SELECT count(*) FROM (VALUES (i), (i * 7), (8000 - i), (i * 3)) s(v), (VALUES (true), (false)) b(back)
							WHERE EXISTS (SELECT FROM log WHERE v IN (src, dst)) AND near(v, back, 3) IS DISTINCT FROM cte(v, back, 3));
		COMMIT;
	END LOOP;
	RAISE WARNING '% differ', differ;
END $$;
CALL compare(120);
SELECT cache, count(*) > 200 FROM emogi_runs WHERE pid = pg_backend_pid() AND source = 'log' GROUP BY 1 HAVING count(*) > 20;
SELECT ok, differs, cache FROM emogi_check('log', 'out', false, true, true);

SET client_min_messages = error;
DROP SCHEMA test_known, test_known_front CASCADE;
DROP OWNED BY emogi_known_reader, emogi_known_group;
DROP ROLE emogi_known_reader, emogi_known_group;
