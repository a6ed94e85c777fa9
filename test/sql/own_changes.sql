-- What the own transaction has changed is kept between its calls: a trigger that asks about the rows before, savepoints, cursors, and calls within calls.
SET emogi.incremental_min_size = 0;
SET emogi.engine = auto;
SET emogi.papers_mapping = auto;
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS emogi;
CREATE TABLE staff (boss int, person int);
INSERT INTO staff SELECT i / 6, i FROM generate_series(1, 20000) i;
VACUUM staff;
SELECT count(*) FROM emogi_shortest_path('staff(boss, person)', 1, 20000);
-- a trigger that refuses cycles, in a statement of more rows than a patch that is made anew may have
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
-- rows of the same statement close a cycle
SAVEPOINT s;
INSERT INTO staff VALUES (101500, 200001), (200001, 200002), (200002, 101500);
ROLLBACK TO s;
-- what was rolled back is gone
SELECT count(*) FROM emogi_bfs('staff(boss, person)', 101500);
INSERT INTO staff VALUES (101500, 200001), (200001, 200002);
SELECT vertex, level FROM emogi_bfs('staff(boss, person)', 101500);
SELECT ok, differs, cache FROM emogi_check('staff(boss, person)', 'out', false, true, true);
UPDATE staff SET person = 200003 WHERE boss = 200001;
SELECT vertex, level FROM emogi_bfs('staff(boss, person)', 101500);
SELECT ok, differs, cache FROM emogi_check('staff(boss, person)', 'in', false, true, true);
-- cursors see what there was when they were opened, however many there are
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
-- a call whose pairs are found by a function that writes and asks itself
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
-- it does not see what that function writes
SELECT * FROM emogi_reachable('staff(boss, person)', 'SELECT 300005, 400100 + i + 0 * next_pair(100 + i) FROM generate_series(1, 5) i');
-- vertices that came in another order than that of their keys
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
-- more searches read an older graph with its changes
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
