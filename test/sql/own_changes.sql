-- Own changes are kept between the calls of a transaction: a trigger that calls before rows are
-- inserted, savepoints, cursors, and nested calls.
SET emogi.incremental_min_size = 0;
SET emogi.engine = auto;
SET emogi.papers_mapping = auto;
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS emogi;
CREATE TABLE staff (boss int, person int);
INSERT INTO staff SELECT i / 6, i FROM generate_series(1, 20000) i;
VACUUM staff;
SELECT count(*) FROM emogi_shortest_path('staff(boss, person)', 1, 20000);
-- a trigger that rejects cycles, in a statement with more rows than a new overlay can have
CREATE FUNCTION refuse_cycle() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	IF EXISTS (SELECT FROM emogi_shortest_path('staff(boss, person)', new.person, new.boss)) THEN
		RAISE EXCEPTION 'a cycle: % would be above %', new.boss, new.person;
	END IF;
	RETURN new;
END $$;
CREATE TRIGGER refuse_cycle BEFORE INSERT ON staff FOR EACH ROW EXECUTE FUNCTION refuse_cycle();
BEGIN;
INSERT INTO staff SELECT i * 7919 % 20000, 100000 + i FROM generate_series(1, 1500) i;
SELECT cache, count(*) > 200 AS many, max(pages_rescanned) < 3 AS few_pages, max(changes) > 1024 AS many_changes
FROM emogi_runs WHERE pid = pg_backend_pid() AND function = 'emogi_shortest_path' AND changes > 0 GROUP BY 1;
-- rows of the same statement form a cycle
SAVEPOINT s;
INSERT INTO staff VALUES (101500, 200001), (200001, 200002), (200002, 101500);
ROLLBACK TO s;
-- rolled-back changes are gone
SELECT count(*) FROM emogi_bfs('staff(boss, person)', 101500);
INSERT INTO staff VALUES (101500, 200001), (200001, 200002);
SELECT vertex, level FROM emogi_bfs('staff(boss, person)', 101500);
SELECT ok, differs, cache FROM emogi_check('staff(boss, person)', 'out', false, true, true);
-- also those that a call before the rollback has read from its page, to which the rollback does not
-- write
SAVEPOINT s;
UPDATE staff SET person = 200009 WHERE boss = 200001;
SELECT vertex, level FROM emogi_bfs('staff(boss, person)', 101500);
ROLLBACK TO s;
SELECT vertex, level FROM emogi_bfs('staff(boss, person)', 101500);
UPDATE staff SET person = 200003 WHERE boss = 200001;
SELECT vertex, level FROM emogi_bfs('staff(boss, person)', 101500);
SELECT ok, differs, cache FROM emogi_check('staff(boss, person)', 'in', false, true, true);
-- cursors see the state at their opening, however many there are
DECLARE a CURSOR FOR SELECT (SELECT count(*) FROM emogi_bfs('staff(boss, person)', 101500)) FROM generate_series(1, 3);
INSERT INTO staff VALUES (200003, 200004);
DECLARE b CURSOR FOR SELECT (SELECT count(*) FROM emogi_bfs('staff(boss, person)', 101500) WHERE level + i > 0) FROM generate_series(1, 3) i;
DELETE FROM staff WHERE boss = 101500;
SELECT count(*) FROM emogi_bfs('staff(boss, person)', 101500);
FETCH a;
FETCH b;
SELECT count(*) FROM emogi_bfs('staff(boss, person)', 101500);
FETCH a;
FETCH b;
DECLARE c1 CURSOR FOR SELECT * FROM emogi_bfs('staff(boss, person)', 1, max_depth => 2);
FETCH c1;
INSERT INTO staff VALUES (1, 300001);
DECLARE c2 CURSOR FOR SELECT * FROM emogi_bfs('staff(boss, person)', 1, max_depth => 2);
FETCH c2;
INSERT INTO staff VALUES (1, 300002);
DECLARE c3 CURSOR FOR SELECT * FROM emogi_bfs('staff(boss, person)', 1, max_depth => 2);
FETCH c3;
INSERT INTO staff VALUES (1, 300003);
DECLARE c4 CURSOR FOR SELECT * FROM emogi_bfs('staff(boss, person)', 1, max_depth => 2);
FETCH c4;
INSERT INTO staff VALUES (1, 300004);
DECLARE c5 CURSOR FOR SELECT * FROM emogi_bfs('staff(boss, person)', 1, max_depth => 2);
FETCH c5;
INSERT INTO staff VALUES (1, 300005);
SELECT count(*) FROM emogi_bfs('staff(boss, person)', 1, max_depth => 1);
MOVE ALL c1;
MOVE ALL c2;
MOVE ALL c3;
MOVE ALL c4;
MOVE ALL c5;
-- a call whose pairs are computed by a function that writes and calls
CREATE FUNCTION next_pair(i int) RETURNS int LANGUAGE plpgsql VOLATILE AS $$
BEGIN
	INSERT INTO staff VALUES (300005, 400000 + i);
	BEGIN
		INSERT INTO staff VALUES (300005, 1);
	EXCEPTION WHEN raise_exception THEN
		NULL;
	END;
	RETURN (SELECT count(*) FROM emogi_bfs('staff(boss, person)', 300005));
END $$;
SELECT * FROM emogi_reachable('staff(boss, person)', 'SELECT 1, 300000 + next_pair(i) - i FROM generate_series(1, 5) i');
-- it does not see rows written by that function
SELECT * FROM emogi_reachable('staff(boss, person)', 'SELECT 300005, 400100 + i + 0 * next_pair(100 + i) FROM generate_series(1, 5) i');
-- vertices inserted in another order than that of their keys
SELECT vertex FROM emogi_bfs('staff(boss, person)', 300005);
INSERT INTO staff VALUES (399999, 399990);
SELECT vertex FROM emogi_bfs('staff(boss, person)', 399999);
INSERT INTO staff VALUES (399980, 399981), (399990, 399980);
SELECT vertex FROM emogi_bfs('staff(boss, person)', 399999);
SELECT * FROM emogi_reachable('staff(boss, person)', 'VALUES (399999, 399981), (399981, 399999), (399980, 399999), (399990, 399981), (399999, 399980)');
SELECT source, target, seq, vertex FROM emogi_shortest_paths('staff(boss, person)', 'VALUES (399999, 399981), (399990, 399981), (399999, 399980)');
SELECT * FROM emogi_distance_matrix('staff(boss, person)', ARRAY[399999, 399990], ARRAY[399981, 399990, 399980]);
SELECT count(*) FROM emogi_bfs('staff(boss, person)', 300005);
SELECT ok, differs, cache FROM emogi_check('staff(boss, person)', 'both', false, true, true);
ROLLBACK;
SELECT count(*) FROM emogi_bfs('staff(boss, person)', 101500);
SELECT ok, differs FROM emogi_check('staff(boss, person)', 'out', false, true, true);
DROP TRIGGER refuse_cycle ON staff;
-- several searches use an older graph with its overlay
INSERT INTO staff VALUES (20000, 500000), (500000, 3333);
SELECT cycle_id, seq, vertex FROM emogi_cycles('staff(boss, person)', 500000, 6) ORDER BY cycle_id, seq;
INSERT INTO staff VALUES (0, 500001);
SELECT path_id, seq, vertex FROM emogi_k_shortest_paths('staff(boss, person)', 3333, 500000, 2);
INSERT INTO staff VALUES (0, 500002);
SELECT * FROM emogi_reachable('staff(boss, person)', 'VALUES (3333, 500000), (500000, 3333), (500001, 1), (0, 500001)');
INSERT INTO staff VALUES (0, 500003);
SELECT source, target, seq, vertex FROM emogi_shortest_paths('staff(boss, person)', ARRAY[500000, 0], ARRAY[3333, 500003]);
INSERT INTO staff VALUES (0, 500004);
SELECT * FROM emogi_distance_matrix('staff(boss, person)', ARRAY[500000, 0], ARRAY[3333, 500003]);
INSERT INTO staff VALUES (20000, 500005), (20001, 500000);
SELECT * FROM emogi_similarity('staff(boss, person)') WHERE vertex1 = 20000;
INSERT INTO staff VALUES (0, 500006);
SELECT path_id, seq, vertex FROM emogi_all_shortest_paths('staff(boss, person)', 3333, 500000);
SELECT function, cache, engine FROM emogi_runs WHERE pid = pg_backend_pid() ORDER BY id DESC LIMIT 7;
DROP TABLE staff CASCADE;
DROP FUNCTION refuse_cycle;
-- a call by a cursor older than a row, and then one that sees the row on the same page
CREATE TABLE later AS SELECT i AS src, i + 1 AS dst FROM generate_series(1, 1000) i;
VACUUM later;
SELECT count(*) FROM emogi_bfs('later', 1000);
BEGIN;
INSERT INTO later VALUES (1001, 2000);
DECLARE c CURSOR FOR SELECT (SELECT count(*) FROM emogi_bfs('later', 1000));
INSERT INTO later VALUES (2000, 2001);
FETCH c;
SELECT count(*) FROM emogi_bfs('later', 1000);
ROLLBACK;
-- a call keeps the data it searches, whatever a function of its pairs adds or rolls back; in a
-- session without other overlays to reuse
\c -
SET emogi.incremental_min_size = 0;
SET emogi.engine = auto;
SET emogi.papers_mapping = auto;
SET client_min_messages = warning;
CREATE FUNCTION next_end(i int, undoes boolean) RETURNS int LANGUAGE plpgsql AS $$
BEGIN
	IF undoes THEN
		BEGIN
			INSERT INTO later VALUES (9002, i);
			PERFORM FROM emogi_reachable('later', 'VALUES (2000, 2001)');
			RAISE EXCEPTION 'undone';
		EXCEPTION WHEN raise_exception THEN
			NULL;
		END;
	END IF;
	INSERT INTO later VALUES (2001, i);
	PERFORM FROM emogi_reachable('later', 'VALUES (2000, 2001)');
	RETURN i;
END $$;
BEGIN;
INSERT INTO later VALUES (2000, 2001);
SELECT * FROM emogi_reachable('later', 'VALUES (2000, 2001)');
SELECT * FROM emogi_reachable('later', 'SELECT 2000, next_end(i, true) FROM generate_series(3001, 3003) i');
SELECT * FROM emogi_reachable('later', 'SELECT 2000, next_end(i, false) FROM generate_series(3004, 3006) i');
ROLLBACK;
DROP FUNCTION next_end;
DROP TABLE later;
-- rows of others that the transaction has corrected or deleted raise no error, neither with a
-- tracker nor when it is created
CREATE TABLE repaired (a int, b int, x int DEFAULT 1);
INSERT INTO repaired SELECT g, g + 1 FROM generate_series(1, 20000) g;
VACUUM ANALYZE repaired;
SELECT count(*) FROM emogi_pagerank('SELECT a, b FROM repaired WHERE 10 / x > 1');
INSERT INTO repaired VALUES (1, 5);
SELECT count(*) FROM emogi_pagerank('SELECT a, b FROM repaired WHERE 10 / x > 1');
INSERT INTO repaired VALUES (1, 6);
SELECT count(*) FROM emogi_pagerank('SELECT a, b FROM repaired WHERE 10 / x > 1');
INSERT INTO repaired VALUES (1, 7);
SELECT count(*) FROM emogi_pagerank('SELECT a, b FROM repaired WHERE 10 / x > 1');
SELECT cache FROM emogi_runs WHERE pid = pg_backend_pid() ORDER BY id DESC LIMIT 1;
INSERT INTO repaired VALUES (1, 30000, 0);
BEGIN;
UPDATE repaired SET x = 1 WHERE x = 0;
SELECT count(*) FROM emogi_pagerank('SELECT a, b FROM repaired WHERE 10 / x > 1');
INSERT INTO repaired VALUES (1, 30001);
SELECT count(*) FROM emogi_pagerank('SELECT a, b FROM repaired WHERE 10 / x > 1');
SELECT ok, differs FROM emogi_check('SELECT a, b FROM repaired WHERE 10 / x > 1', 'both', false, true, true);
ROLLBACK;
-- errors of own rows are not hidden
BEGIN;
UPDATE repaired SET x = 0 WHERE a = 20000;
SELECT count(*) FROM emogi_pagerank('SELECT a, b FROM repaired WHERE 10 / x > 1');
ROLLBACK;
SELECT count(*) FROM emogi_pagerank('SELECT a, b FROM repaired WHERE 10 / x > 1');
DELETE FROM repaired WHERE x = 0;
SELECT count(*) FROM emogi_pagerank('SELECT a, b FROM repaired WHERE 10 / x > 1');
DROP TABLE repaired;
CREATE TABLE spelled (src text, dst text);
INSERT INTO spelled SELECT 'k' || g, 'k' || g + 1 FROM generate_series(1, 5000) g;
INSERT INTO spelled SELECT 'k1', repeat('x', 2000000);
BEGIN;
DELETE FROM spelled WHERE length(dst) > 1000;
SELECT count(*) FROM emogi_pagerank_text('spelled');
INSERT INTO spelled VALUES ('k1', 'k9999');
SELECT count(*) FROM emogi_pagerank_text('spelled');
COMMIT;
SELECT count(*) FROM emogi_pagerank_text('spelled');
INSERT INTO spelled SELECT 'k2', repeat('x', 2000000);
BEGIN;
DELETE FROM spelled WHERE length(dst) > 1000;
SELECT count(*) FROM emogi_pagerank_text('spelled');
SELECT ok, differs FROM emogi_check('spelled', 'both', false, true, true);
ROLLBACK;
BEGIN;
INSERT INTO spelled VALUES ('k1', 'k9998');
SELECT count(*) FROM emogi_pagerank_text('spelled');
ROLLBACK;
DROP TABLE spelled;
-- an overlay reused by transactions in turn, with rollbacks, does not grow with their number
CREATE TABLE borrowed (src int, dst int);
INSERT INTO borrowed SELECT i, i + 1 FROM generate_series(1, 100000) i;
VACUUM ANALYZE borrowed;
SET emogi.enable_index_search = off;
SELECT count(*) FROM emogi_bfs('borrowed', 1, max_depth => 1);
DO $$
DECLARE
	n bigint;
BEGIN
	FOR i IN 1 .. 400 LOOP
		INSERT INTO borrowed SELECT i * 240 + j, i * 240 + j * 3 FROM generate_series(1, 240) j;
		SELECT count(*) INTO n FROM emogi_bfs('borrowed', i * 240 + 7, max_depth => 1);
		IF n <> 3 THEN RAISE EXCEPTION 'WRONG: % at %', n, i; END IF;
		ROLLBACK;
	END LOOP;
END $$;
SELECT sum(total_bytes) BETWEEN 1 AND 12000000 AS is_bounded FROM pg_backend_memory_contexts WHERE name = 'emogi overlay';
RESET emogi.enable_index_search;
DROP TABLE borrowed;
-- a page on which a cursor did not see all commands is rescanned
CREATE TABLE paged (src int, dst int);
INSERT INTO paged SELECT i, i + 1 FROM generate_series(1, 2000) i;
VACUUM paged;
SET emogi.enable_index_search = off;
SELECT count(*) FROM emogi_bfs('paged', 1);
BEGIN;
INSERT INTO paged VALUES (2001, 2002);
DECLARE before CURSOR FOR SELECT count(*) FROM emogi_bfs('paged', 1);
INSERT INTO paged VALUES (2002, 2003);
FETCH before;
SELECT count(*) FROM emogi_bfs('paged', 1);
SELECT ok, differs FROM emogi_check('paged', 'out', false, true, true);
ROLLBACK;
RESET emogi.enable_index_search;
DROP TABLE paged;
