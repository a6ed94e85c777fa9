-- Rows inserted by the own transaction since its last call are read from the places where they were
-- inserted. Each answer is compared with that of a recursive query, with all ways of changing rows:
-- savepoints, exceptions, updates and deletions, cursors, COPY, partitions, other sessions'
-- settings of the counters, and changes of the table itself.
SET emogi.incremental_min_size = 0;
SET emogi.engine = auto;
SET emogi.papers_mapping = auto;
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS emogi;
CREATE FUNCTION rnd(seed int, i int, n int) RETURNS int LANGUAGE sql IMMUTABLE AS $$
	SELECT ((hashint8extended(i, seed) & 9223372036854775807) % n)::int $$;
CREATE TABLE chart (note text, boss int, worker int, active bool DEFAULT true, w int DEFAULT 1);
INSERT INTO chart SELECT repeat('x', rnd(1, i, 400)), i / 4, i, rnd(2, i, 10) > 0, 1 + rnd(3, i, 5) FROM generate_series(1, 2000) i;
CREATE INDEX ON chart (boss);
VACUUM ANALYZE chart;
CREATE TABLE seen (step text, ok bool);

-- results of emogi below and above a vertex, compared with the recursive query: vertices, levels
-- and, by weight, distances
CREATE FUNCTION below(v int) RETURNS text LANGUAGE sql AS $$
	SELECT string_agg(vertex || ':' || level, ' ' ORDER BY vertex) FROM emogi_bfs('chart(boss, worker)', v, max_depth => 4) $$;
CREATE FUNCTION below_cte(v int) RETURNS text LANGUAGE sql AS $$
	WITH RECURSIVE b(v, l) AS (SELECT v, 0 WHERE EXISTS (SELECT FROM chart WHERE v IN (boss, worker) AND num_nulls(boss, worker) = 0)
		UNION SELECT worker, l + 1 FROM b JOIN chart ON boss = b.v WHERE l < 4 AND worker IS NOT NULL)
	SELECT string_agg(v || ':' || l, ' ' ORDER BY v) FROM (SELECT v, min(l) AS l FROM b GROUP BY 1) s $$;
CREATE FUNCTION below_active(v int) RETURNS text LANGUAGE sql AS $$
	SELECT string_agg(vertex || ':' || level, ' ' ORDER BY vertex) FROM emogi_bfs('chart(boss, worker) WHERE active', v, max_depth => 4) $$;
CREATE FUNCTION below_active_cte(v int) RETURNS text LANGUAGE sql AS $$
	WITH RECURSIVE b(v, l) AS (SELECT v, 0 WHERE EXISTS (SELECT FROM chart WHERE v IN (boss, worker) AND active AND num_nulls(boss, worker) = 0)
		UNION SELECT worker, l + 1 FROM b JOIN chart ON boss = b.v WHERE l < 4 AND active AND worker IS NOT NULL)
	SELECT string_agg(v || ':' || l, ' ' ORDER BY v) FROM (SELECT v, min(l) AS l FROM b GROUP BY 1) s $$;
CREATE FUNCTION far(v int) RETURNS text LANGUAGE sql AS $$
	SELECT string_agg(vertex || ':' || distance, ' ' ORDER BY vertex) FROM emogi_sssp('chart(boss, worker, w)', v, max_distance => 6) $$;
CREATE FUNCTION far_cte(v int) RETURNS text LANGUAGE sql AS $$
	WITH RECURSIVE b(v, d) AS (SELECT v, 0 WHERE EXISTS (SELECT FROM chart WHERE v IN (boss, worker) AND num_nulls(boss, worker) = 0)
		UNION SELECT worker, d + w FROM b JOIN chart ON boss = b.v WHERE d + w <= 6 AND worker IS NOT NULL)
	SELECT string_agg(v || ':' || d, ' ' ORDER BY v) FROM (SELECT v, min(d) AS d FROM b GROUP BY 1) s $$;
CREATE PROCEDURE look(step text, v int) LANGUAGE plpgsql AS $$
BEGIN
	INSERT INTO seen VALUES (step, below(v) IS NOT DISTINCT FROM below_cte(v)), (step || ', active', below_active(v) IS NOT DISTINCT FROM below_active_cte(v)),
		(step || ', weights', far(v) IS NOT DISTINCT FROM far_cte(v));
END $$;
-- the same under the snapshot of the calling command; and functions that write
CREATE FUNCTION one_snapshot(v int) RETURNS bool LANGUAGE plpgsql STABLE AS $$
BEGIN
	RETURN (SELECT string_agg(vertex || ':' || level, ' ' ORDER BY vertex) FROM emogi_bfs('chart(boss, worker)', v, max_depth => 4)) =
		(WITH RECURSIVE b(p, l) AS (SELECT $1, 0 UNION SELECT worker, l + 1 FROM b JOIN chart ON boss = b.p WHERE l < 4 AND worker IS NOT NULL)
		 SELECT string_agg(p || ':' || l, ' ' ORDER BY p) FROM (SELECT p, min(l) AS l FROM b GROUP BY 1) s);
END $$;
CREATE FUNCTION add_and_ask(v int, i int) RETURNS bool LANGUAGE plpgsql AS $$
BEGIN
	INSERT INTO chart VALUES ('', v, i, true, 1);
	RETURN below(v) = below_cte(v);
END $$;
CREATE FUNCTION delete_quietly(v int) RETURNS void LANGUAGE sql SET track_counts = off AS $$ DELETE FROM chart WHERE worker = v $$;
-- how often pages were rescanned by this session's calls of emogi_bfs since the last time
CREATE TABLE marks (id bigint);
INSERT INTO marks SELECT coalesce(max(id), 0) FROM emogi_runs;
CREATE FUNCTION rescans(OUT calls bigint, OUT rescanning bigint) LANGUAGE sql AS $$
	SELECT count(*), count(*) FILTER (WHERE pages_rescanned > 0) FROM emogi_runs
	WHERE pid = pg_backend_pid() AND function = 'emogi_bfs' AND id > (SELECT max(id) FROM marks) $$;

SELECT below(1) = below_cte(1) AS below, below_active(1) = below_active_cte(1) AS active, far(1) = far_cte(1) AS far;
SELECT below(1) = below_cte(1) AS below, below_active(1) = below_active_cte(1) AS active, far(1) = far_cte(1) AS far;
-- one row between two calls, on the same page and on new ones; then several at a time
BEGIN;
DO $$
BEGIN
	FOR i IN 1 .. 60 LOOP
		INSERT INTO chart VALUES (repeat('y', 300), rnd(4, i, 2000), 5000 + i, i % 3 > 0, i % 4);
		CALL look('one by one', rnd(4, i, 2000));
		CALL look('the row itself', 5000 + i);
	END LOOP;
END $$;
INSERT INTO marks SELECT max(id) FROM emogi_runs;
DO $$
BEGIN
	FOR i IN 61 .. 90 LOOP
		INSERT INTO chart VALUES (repeat('y', 300), 5000 + i - 1, 5000 + i, i % 3 > 0, 0);
		PERFORM below(5050);
	END LOOP;
END $$;
SELECT * FROM rescans();
DO $$
BEGIN
	FOR i IN 1 .. 12 LOOP
		INSERT INTO chart SELECT repeat('z', 100), rnd(5, i * 100 + k, 5090), 6000 + i * 100 + k, k % 2 = 0, k % 3 FROM generate_series(1, i * 8) k;
		CALL look('some at a time', rnd(5, i, 2000));
		CALL look('some at a time, the last', 6000 + i * 108);
	END LOOP;
END $$;
-- endpoints that are NULL, and a row made long by other columns
INSERT INTO chart VALUES ('', NULL, 5000, true, 1), ('', 5001, NULL, true, 1);
CALL look('NULL ends', 5001);
INSERT INTO chart VALUES (repeat('a long one', 1000), 5001, 9000, true, 1);
CALL look('a long row', 5001);
SELECT ok, differs, cache FROM emogi_check('chart(boss, worker)', 'out', false, true, true);
SELECT ok, differs FROM emogi_check('chart(boss, worker, w)', 'out', true, true, true);
-- a weight that calls reject, and its deletion
SAVEPOINT s;
INSERT INTO chart VALUES ('', 5002, 9001, true, -1);
SELECT far(5002);
ROLLBACK TO s;
CALL look('back from a refused weight', 5002);
INSERT INTO chart VALUES ('', 5002, 9001, true, NULL);
CALL look('without weights', 5003);
ROLLBACK TO s;
-- updates, HOT or not, deletions, and their reversal, between insertions
DO $$
BEGIN
	FOR i IN 1 .. 40 LOOP
		INSERT INTO chart VALUES ('', rnd(6, i, 2000), 10000 + i, true, 1);
		CALL look('before', rnd(6, i, 2000));
		CASE i % 5
			WHEN 0 THEN UPDATE chart SET boss = rnd(7, i, 2000) WHERE worker = 10000 + i;
			WHEN 1 THEN UPDATE chart SET active = NOT active WHERE worker IN (10000 + i, rnd(8, i, 2000));
			WHEN 2 THEN DELETE FROM chart WHERE worker = 10000 + i - 1;
			WHEN 3 THEN UPDATE chart SET w = w + 1 WHERE boss = rnd(6, i, 2000);
			ELSE DELETE FROM chart WHERE worker = rnd(9, i, 2000); INSERT INTO chart VALUES ('', rnd(9, i, 500), rnd(9, i, 2000), true, 2);
		END CASE;
		CALL look('after', rnd(6, i, 2000));
		CALL look('after, elsewhere', rnd(7, i, 2000));
		INSERT INTO chart VALUES ('', 10000 + i, 11000 + i, i % 2 = 0, 1);
		CALL look('once more', rnd(6, i, 2000));
	END LOOP;
END $$;
-- savepoints, and caught exceptions
SAVEPOINT a;
INSERT INTO chart VALUES ('', 3, 12000, true, 1);
CALL look('in a savepoint', 3);
SAVEPOINT b;
INSERT INTO chart VALUES ('', 12000, 12001, true, 1);
CALL look('in another', 3);
RELEASE b;
CALL look('released', 3);
INSERT INTO chart VALUES ('', 12001, 12002, true, 1);
CALL look('released, and a row', 3);
ROLLBACK TO a;
SELECT below(3) = below_cte(3) AS back;
INSERT INTO chart VALUES ('', 3, 12003, true, 1);
SELECT below(3) = below_cte(3) AS back_and_on;
DO $$
BEGIN
	FOR i IN 1 .. 20 LOOP
		BEGIN
			INSERT INTO chart VALUES ('', 3, 12100 + i, true, 1);
			PERFORM below(3);
			IF i % 2 = 0 THEN
				RAISE EXCEPTION 'no';
			END IF;
		EXCEPTION WHEN raise_exception THEN
			NULL;
		END;
		CALL look('exceptions', 3);
	END LOOP;
END $$;
-- older commands: a cursor, a function with one snapshot, and rows of the calling command
DECLARE c CURSOR FOR SELECT one_snapshot(i) FROM generate_series(4, 6) i;
INSERT INTO chart VALUES ('', 4, 12200, true, 1), ('', 5, 12201, true, 1), ('', 6, 12202, true, 1);
SELECT below(4) = below_cte(4) AS own, one_snapshot(4);
FETCH c;
INSERT INTO chart VALUES ('', 5, 12203, true, 1);
SELECT below(5) = below_cte(5) AS own, one_snapshot(5);
FETCH 2 FROM c;
SELECT below(6) = below_cte(6) AS own;
WITH added AS (INSERT INTO chart SELECT '', 7, 12300 + i, true, 1 FROM generate_series(1, 3) i RETURNING worker)
SELECT below(7) = below_cte(7) AS own, one_snapshot(7) FROM added;
SELECT below(7) = below_cte(7) AS own;
SELECT bool_and(add_and_ask(8, 12400 + i) AND add_and_ask(9, 12500 + i) AND one_snapshot(8)) FROM generate_series(1, 20) i;
-- rows abandoned by a speculative insertion, and those of COPY
CREATE UNIQUE INDEX only_once ON chart (worker) WHERE worker > 13000;
DO $$
BEGIN
	FOR i IN 1 .. 10 LOOP
		INSERT INTO chart VALUES ('', 10, 13000 + i / 2 + 1, true, 1) ON CONFLICT DO NOTHING;
		CALL look('conflicts', 10);
	END LOOP;
END $$;
COPY chart (note, boss, worker) FROM STDIN;
a	11	13100
b	13100	13101
c	13101	13102
\.
CALL look('COPY', 11);
-- the server temporarily does not count rows
INSERT INTO chart VALUES ('', 12, 13200, true, 1);
CALL look('counted', 12);
SET LOCAL track_counts = off;
DELETE FROM chart WHERE worker = 13200;
SET LOCAL track_counts = on;
CALL look('not counted', 12);
INSERT INTO chart VALUES ('', 12, 13201, true, 1);
CALL look('counted again', 12);
SELECT delete_quietly(13201);
CALL look('not counted within a function', 12);
INSERT INTO chart VALUES ('', 12, 13202, true, 1);
CALL look('and once more', 12);
-- the table itself changes
ALTER TABLE chart RENAME worker TO employee;
ALTER TABLE chart RENAME boss TO worker;
ALTER TABLE chart RENAME employee TO boss;
INSERT INTO chart VALUES ('', 14, 14000, true, 1);
CALL look('columns change their names', 14000);
ALTER TABLE chart RENAME worker TO employee;
ALTER TABLE chart RENAME boss TO worker;
ALTER TABLE chart RENAME employee TO boss;
INSERT INTO chart VALUES ('', 14, 14001, true, 1);
CALL look('and back', 14);
ALTER TABLE chart ALTER note TYPE char(10) USING left(note, 10);
CALL look('a new file', 14);
INSERT INTO chart VALUES ('', 14, 14002, true, 1);
CALL look('a new file, and a row', 14);
TRUNCATE chart;
INSERT INTO chart VALUES ('', 14, 14003, true, 1);
CALL look('emptied', 14);
SELECT step, count(*), bool_and(ok) FROM seen GROUP BY 1 ORDER BY 1;
ROLLBACK;
CALL look('rolled back', 1);
SELECT * FROM seen;
TRUNCATE seen;

-- the first call of the transaction does not see all of its rows
BEGIN;
INSERT INTO chart VALUES ('', 3, 15000, true, 1);
DECLARE d CURSOR FOR SELECT one_snapshot(3);
INSERT INTO chart VALUES ('', 3, 15001, true, 1);
FETCH d;
CALL look('a row that the last call did not see', 3);
INSERT INTO chart VALUES ('', 3, 15002, true, 1);
CALL look('and another', 3);
SELECT step, count(*), bool_and(ok) FROM seen GROUP BY 1 ORDER BY 1;
ROLLBACK;
-- rows on line pointers freed by VACUUM
DELETE FROM chart WHERE worker BETWEEN 300 AND 700;
VACUUM chart;
SELECT below(1) = below_cte(1) AS below;
BEGIN;
DO $$
BEGIN
	FOR i IN 1 .. 40 LOOP
		INSERT INTO chart VALUES ('', rnd(14, i, 250), 16000 + i, i % 2 = 0, 1);
		CALL look('freed lines', rnd(14, i, 250));
	END LOOP;
END $$;
SELECT step, count(*), bool_and(ok) FROM seen GROUP BY 1 ORDER BY 1;
ROLLBACK;
-- the columns of a child are swapped
CREATE TABLE child () INHERITS (chart);
INSERT INTO child VALUES ('', 5, 17000, true, 1);
SELECT below(5) = below_cte(5) AS below;
BEGIN;
INSERT INTO child VALUES ('', 5, 17001, true, 1);
CALL look('a child', 5);
INSERT INTO child VALUES ('', 5, 17002, true, 1);
CALL look('a child, once more', 5);
ALTER TABLE child NO INHERIT chart;
ALTER TABLE child RENAME worker TO employee;
ALTER TABLE child RENAME boss TO worker;
ALTER TABLE child RENAME employee TO boss;
ALTER TABLE child INHERIT chart;
INSERT INTO child (boss, worker) VALUES (5, 17003);
CALL look('its columns and a row', 5);
CALL look('its columns, reversed', 17001);
INSERT INTO child (boss, worker) VALUES (17001, 17004);
CALL look('and one more row', 17001);
SELECT step, count(*), bool_and(ok) FROM seen GROUP BY 1 ORDER BY 1;
ROLLBACK;
DROP TABLE child;

-- a call whose pairs are computed by a function that writes and makes the same call: it does not
-- see rows written by the function
CREATE FUNCTION reach_within(i int) RETURNS int LANGUAGE plpgsql AS $$
BEGIN
	INSERT INTO chart VALUES ('', 18000, 18000 + i, true, 1);
	PERFORM FROM emogi_reachable('chart(boss, worker)', 'VALUES (18000, 1)');
	RETURN 18000 + i;
END $$;
BEGIN;
INSERT INTO chart VALUES ('', 1, 18000, true, 1);
SELECT * FROM emogi_reachable('chart(boss, worker)', 'VALUES (1, 18000)');
SELECT * FROM emogi_reachable('chart(boss, worker)', 'SELECT 18000, reach_within(i) FROM generate_series(1, 3) i');
SELECT * FROM emogi_reachable('chart(boss, worker)', 'VALUES (18000, 18001), (1, 18003), (18003, 1)');
ROLLBACK;

-- a condition that calls itself, on a table that the transaction changes
CREATE FUNCTION asks(i int) RETURNS bool LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
	RETURN i < 20000 OR (SELECT count(*) > 0 FROM emogi_bfs('chart(boss, worker)', 1, max_depth => 1));
END $$;
CREATE FUNCTION asked(v int) RETURNS bigint LANGUAGE sql AS $$ SELECT count(*) FROM emogi_bfs('chart(boss, worker) WHERE asks(worker)', v, max_depth => 1) $$;
SELECT asked(15), asked(15), asked(15);
BEGIN;
INSERT INTO chart VALUES ('', 15, 20000, true, 1);
SELECT asked(15) - 5;
INSERT INTO chart VALUES ('', 15, 20001, true, 1);
SELECT asked(15) - 5;
INSERT INTO chart VALUES ('', 15, 20002, true, 1);
SELECT asked(15) - 5;
ROLLBACK;

-- triggers: before and after each row, deferred to the end of the transaction, on a table that was
-- empty
CREATE TABLE fresh (boss int, worker int);
CREATE FUNCTION count_below() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
	counted text;
	expected text;
BEGIN
	SELECT string_agg(vertex || ':' || level, ' ' ORDER BY vertex) INTO counted FROM emogi_bfs('fresh(boss, worker)', new.boss);
	WITH RECURSIVE b(v, l) AS (SELECT new.boss, 0 WHERE EXISTS (SELECT FROM fresh WHERE new.boss IN (boss, worker))
		UNION SELECT worker, l + 1 FROM b JOIN fresh ON boss = b.v WHERE l < 50)
	SELECT string_agg(v || ':' || l, ' ' ORDER BY v) INTO expected FROM (SELECT v, min(l) AS l FROM b GROUP BY 1) s;
	INSERT INTO seen VALUES (TG_NAME, counted IS NOT DISTINCT FROM expected);
	RETURN new;
END $$;
CREATE TRIGGER before BEFORE INSERT ON fresh FOR EACH ROW EXECUTE FUNCTION count_below();
CREATE TRIGGER after AFTER INSERT OR UPDATE ON fresh FOR EACH ROW EXECUTE FUNCTION count_below();
CREATE CONSTRAINT TRIGGER deferred AFTER INSERT ON fresh DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION count_below();
BEGIN;
INSERT INTO fresh SELECT rnd(10, i, i), i FROM generate_series(1, 60) i;
UPDATE fresh SET boss = 0 WHERE worker % 20 = 0;
INSERT INTO fresh SELECT rnd(11, i, i), i FROM generate_series(61, 80) i;
COMMIT;
COPY fresh FROM STDIN;
1	100
100	101
2	102
\.
SELECT step, count(*), bool_and(ok) FROM seen GROUP BY 1 ORDER BY 1;
TRUNCATE seen;

-- partitions, one with its columns in another order, and a second table in the same transaction
CREATE TABLE parts (boss int, worker int) PARTITION BY LIST (boss);
CREATE TABLE parts_even PARTITION OF parts FOR VALUES IN (0, 2, 4, 6, 8);
CREATE TABLE parts_odd (spare text, worker int, boss int);
ALTER TABLE parts_odd DROP spare;
ALTER TABLE parts ATTACH PARTITION parts_odd FOR VALUES IN (1, 3, 5, 7, 9);
INSERT INTO parts SELECT i % 10, i % 7 FROM generate_series(0, 50) i WHERE i % 10 < i % 7;
CREATE FUNCTION below_parts(v int) RETURNS text LANGUAGE sql AS $$
	SELECT string_agg(vertex || ':' || level, ' ' ORDER BY vertex) FROM emogi_bfs('parts(boss, worker)', v) $$;
CREATE FUNCTION below_parts_cte(v int) RETURNS text LANGUAGE sql AS $$
	WITH RECURSIVE b(v, l) AS (SELECT v, 0 WHERE EXISTS (SELECT FROM parts WHERE v IN (boss, worker))
		UNION SELECT worker, l + 1 FROM b JOIN parts ON boss = b.v WHERE l < 20)
	SELECT string_agg(v || ':' || l, ' ' ORDER BY v) FROM (SELECT v, min(l) AS l FROM b GROUP BY 1) s $$;
SELECT below_parts(0) = below_parts_cte(0) AS before;
BEGIN;
INSERT INTO parts VALUES (0, 8), (1, 9);
SELECT below_parts(0) = below_parts_cte(0) AS before;
INSERT INTO marks SELECT max(id) FROM emogi_runs;
DO $$
BEGIN
	FOR i IN 1 .. 30 LOOP
		INSERT INTO parts VALUES (rnd(12, i, 9), 100 + i);
		INSERT INTO fresh VALUES (rnd(13, i, 80), 200 + i);
		INSERT INTO seen VALUES ('parts', below_parts(rnd(12, i, 9)) IS NOT DISTINCT FROM below_parts_cte(rnd(12, i, 9)));
	END LOOP;
END $$;
SELECT rescanning < calls / 2 AS few FROM rescans();
CREATE TABLE parts_more PARTITION OF parts DEFAULT;
INSERT INTO parts VALUES (101, 300), (300, 1);
INSERT INTO seen VALUES ('another partition', below_parts(101) IS NOT DISTINCT FROM below_parts_cte(101));
UPDATE parts SET boss = 1 WHERE boss = 0;
INSERT INTO seen VALUES ('rows that move', below_parts(0) IS NOT DISTINCT FROM below_parts_cte(0)), ('to another', below_parts(1) IS NOT DISTINCT FROM below_parts_cte(1));
TRUNCATE parts_odd;
INSERT INTO seen VALUES ('one emptied', below_parts(2) IS NOT DISTINCT FROM below_parts_cte(2));
ALTER TABLE parts DETACH PARTITION parts_even;
INSERT INTO seen VALUES ('one detached', below_parts(101) IS NOT DISTINCT FROM below_parts_cte(101));
SELECT step, count(*), bool_and(ok) FROM seen GROUP BY 1 ORDER BY 1;
ROLLBACK;

-- keys of a dictionary: old and new ones, more than fit, NULL endpoints, weights, savepoints,
-- updates, and rows with a NULL as keys
TRUNCATE seen;
CREATE TYPE duo AS (n int, name text);
CREATE FUNCTION name_of(i int) RETURNS text LANGUAGE sql IMMUTABLE AS $$ SELECT left(md5(i::text), 1 + i % 7) || i $$;
CREATE FUNCTION duo_of(i int) RETURNS duo LANGUAGE sql IMMUTABLE AS $$ SELECT row(i % 5, name_of(i))::duo $$;
CREATE TABLE names (src text COLLATE "C", note text, dst text COLLATE "C", w int DEFAULT 1, a duo, b duo);
CREATE FUNCTION add_name(i int, j int) RETURNS void LANGUAGE sql AS $$
	INSERT INTO names VALUES (name_of(i), repeat('n', j % 90), name_of(j), 1 + j % 4, duo_of(i), duo_of(j)) $$;
SELECT count(add_name(i / 3, i)) FROM generate_series(1, 600) i;
CREATE FUNCTION near(v int) RETURNS text LANGUAGE sql AS $$
	SELECT string_agg(vertex || ':' || level, ' ' ORDER BY vertex COLLATE "C") FROM emogi_bfs('names(src, dst)', name_of(v), max_depth => 4) $$;
CREATE FUNCTION near_duo(v int) RETURNS text LANGUAGE sql AS $$
	SELECT string_agg((vertex::duo).name || ':' || level, ' ' ORDER BY (vertex::duo).name COLLATE "C") FROM emogi_bfs('names(a, b)', duo_of(v)::text, max_depth => 4) $$;
CREATE FUNCTION near_cte(v int) RETURNS text LANGUAGE sql AS $$
	WITH RECURSIVE r(v, l) AS (SELECT name_of(v) COLLATE "C", 0 WHERE EXISTS (SELECT FROM names WHERE name_of(v) IN (src, dst) AND num_nulls(src, dst) = 0)
		UNION SELECT dst, l + 1 FROM r JOIN names ON src = r.v WHERE l < 4 AND dst IS NOT NULL)
	SELECT string_agg(r.v || ':' || l, ' ' ORDER BY r.v COLLATE "C") FROM (SELECT r.v, min(l) AS l FROM r GROUP BY 1) r $$;
CREATE FUNCTION away(v int) RETURNS text LANGUAGE sql AS $$
	SELECT string_agg(vertex || ':' || distance, ' ' ORDER BY vertex COLLATE "C") FROM emogi_sssp('names(src, dst, w)', name_of(v), max_distance => 6) $$;
CREATE FUNCTION away_cte(v int) RETURNS text LANGUAGE sql AS $$
	WITH RECURSIVE r(v, d) AS (SELECT name_of(v) COLLATE "C", 0 WHERE EXISTS (SELECT FROM names WHERE name_of(v) IN (src, dst) AND num_nulls(src, dst) = 0)
		UNION SELECT dst, d + w FROM r JOIN names ON src = r.v WHERE d + w <= 6 AND dst IS NOT NULL)
	SELECT string_agg(r.v || ':' || d, ' ' ORDER BY r.v COLLATE "C") FROM (SELECT r.v, min(d) AS d FROM r GROUP BY 1) r $$;
CREATE PROCEDURE look_near(step text, v int) LANGUAGE plpgsql AS $$
BEGIN
	INSERT INTO seen VALUES (step, near(v) IS NOT DISTINCT FROM near_cte(v)), (step || ', weights', away(v) IS NOT DISTINCT FROM away_cte(v)),
		(step || ', rows', near_duo(v) IS NOT DISTINCT FROM near_cte(v));
END $$;
CALL look_near('before', 1);
BEGIN;
SELECT add_name(1, 601);
CALL look_near('the first', 1);
INSERT INTO marks SELECT max(id) FROM emogi_runs;
DO $$
BEGIN
	FOR i IN 602 .. 680 LOOP
		PERFORM add_name(CASE WHEN i % 4 = 0 THEN i - 1 ELSE rnd(15, i, 600) END, CASE WHEN i % 3 = 0 THEN rnd(16, i, 600) ELSE i END);
		PERFORM near(rnd(15, i, 600));
		CALL look_near('one by one', rnd(15, i, i));
	END LOOP;
END $$;
SELECT rescanning < calls / 4 AS few FROM rescans();
DO $$
BEGIN
	FOR i IN 1 .. 13 LOOP
		PERFORM add_name(rnd(17, i * 100 + k, 600), 1000 + i * 100 + k) FROM generate_series(1, 90) k;
		CALL look_near('more than there is room for', rnd(17, i * 100 + 5, 600));
		CALL look_near('more than there is room for, the last', 1000 + i * 100 + 90);
	END LOOP;
END $$;
INSERT INTO marks SELECT max(id) FROM emogi_runs;
DO $$
BEGIN
	FOR i IN 1 .. 40 LOOP
		PERFORM add_name(1000 + i, 4000 + i);
		CALL look_near('in the new dictionary', 1000 + i);
	END LOOP;
END $$;
SELECT rescanning < calls / 4 AS few FROM rescans();
INSERT INTO names VALUES (NULL, '', name_of(1), 1, NULL, duo_of(1)), (name_of(1), '', NULL, 1, duo_of(1), NULL);
CALL look_near('NULL ends', 1);
INSERT INTO names VALUES (NULL, '', 'x', 1, row(1, NULL)::duo, duo_of(1));
CALL look_near('rows with a NULL', 1);
SELECT ok, differs FROM unnest(ARRAY['names(src, dst)', 'names(a, b)']) n, emogi_check(n, 'out', false, true, true);
DO $$
BEGIN
	FOR i IN 1 .. 12 LOOP
		BEGIN
			PERFORM add_name(i, 5000 + i), add_name(5000 + i, 6000 + i);
			CALL look_near('in a savepoint', i);
			RAISE division_by_zero;
		EXCEPTION WHEN division_by_zero THEN
			CALL look_near('rolled back', i);
		END;
		PERFORM add_name(i, CASE WHEN i % 2 = 0 THEN 5000 + i ELSE 6000 + i END);
		CALL look_near('the same keys again', i);
		UPDATE names SET dst = name_of(7000 + i), b = duo_of(7000 + i) WHERE src = name_of(i + 20);
		CALL look_near('updated', i + 20);
		PERFORM add_name(7000 + i, 8000 + i);
		CALL look_near('updated, and a row', i + 20);
	END LOOP;
END $$;
SELECT ok, differs FROM unnest(ARRAY['names(src, dst)', 'names(a, b)']) n, emogi_check(n, 'both', false, true, true);
SELECT ok, differs FROM emogi_check('names(src, dst, w)', 'out', true, true, true);
SELECT step, count(*), bool_and(ok) FROM seen GROUP BY 1 ORDER BY 1;
ROLLBACK;
CALL look_near('rolled back', 1);
SELECT step, count(*), bool_and(ok) FROM seen GROUP BY 1 ORDER BY 1;
DROP TABLE names;
DROP PROCEDURE look_near;
DROP FUNCTION name_of, add_name, near, near_duo, near_cte, away, away_cte, duo_of;
DROP TYPE duo;
DROP TABLE chart, seen, marks, fresh, parts CASCADE;
DROP FUNCTION rnd, below, below_cte, below_active, below_active_cte, far, far_cte, rescans, one_snapshot, add_and_ask, reach_within, delete_quietly, asks, asked, count_below,
	below_parts, below_parts_cte;
DROP PROCEDURE look;
