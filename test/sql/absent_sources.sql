-- Paths from keys that no row has: after a call has read the new rows of its transaction, such a
-- call is answered without adding them to its overlay, and a later call adds them all. Every answer
-- is compared with a recursive CTE.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS emogi;
SET emogi.engine = auto;
SET emogi.incremental_min_size = 0;
SET emogi.notice_missing_source = off;

CREATE TABLE tree (boss text, person text);
INSERT INTO tree SELECT 'p' || i / 3, 'p' || i FROM generate_series(1, 2000) i;
CREATE INDEX ON tree (boss);

-- The length of a shortest path, or NULL if there is none.
CREATE FUNCTION ours(v text, w text) RETURNS int LANGUAGE sql VOLATILE AS
$$ SELECT max(seq) - 1 FROM emogi_shortest_path('tree(boss, person)', v, w) $$;
CREATE FUNCTION theirs(v text, w text) RETURNS int LANGUAGE sql VOLATILE AS $$
	WITH RECURSIVE below(v, hops) AS (SELECT v, 0 UNION SELECT t.person, hops + 1 FROM tree t JOIN below b ON t.boss = b.v WHERE hops < 30)
	SELECT min(hops) FROM below b WHERE b.v = w AND EXISTS (SELECT FROM tree WHERE theirs.v IN (boss, person)) $$;
CREATE PROCEDURE compare(step text, v text, w text) LANGUAGE plpgsql AS $$
DECLARE
	emogi int := ours(v, w);
	cte int := theirs(v, w);
BEGIN
	IF emogi IS DISTINCT FROM cte THEN
		RAISE WARNING '%: % to %: % edges, not %', step, v, w, emogi, cte;
	END IF;
END $$;
SELECT count(*) FROM emogi_prewarm('tree(boss, person)', 'out', false, true);
CALL compare('before', 'p1', 'p500');

-- A trigger that searches before each row: no row has the new person, but the boss may finally be
-- below it.
CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	IF ours(new.person, new.boss) IS DISTINCT FROM theirs(new.person, new.boss) THEN
		RAISE WARNING 'trigger: % to %', new.person, new.boss;
	END IF;
	IF theirs(new.person, new.boss) IS NOT NULL THEN
		RAISE EXCEPTION 'a cycle';
	END IF;
	RETURN new;
END $$;
CREATE TRIGGER refuse BEFORE INSERT ON tree FOR EACH ROW EXECUTE FUNCTION refuse();

-- Many rows with new keys; the search for one of them needs all. Then a cycle.
BEGIN;
INSERT INTO tree SELECT 'n' || i - 1, 'n' || i FROM generate_series(1, 25) i;
CALL compare('chain', 'n0', 'n25');
CALL compare('chain', 'n3', 'n24');
CALL compare('chain', 'absent', 'n24');
SAVEPOINT s;
INSERT INTO tree VALUES ('n25', 'n0');
ROLLBACK TO s;
CALL compare('rolled back', 'n0', 'n25');
INSERT INTO tree SELECT 'm' || i, 'n' || i FROM generate_series(1, 20) i;
CALL compare('two bosses', 'm7', 'n25');
ROLLBACK;
CALL compare('after', 'n0', 'n25');

-- Sources without outgoing edges: their target is not looked up, unless it is the source itself.
CREATE FUNCTION hops(v text, w text, direction text) RETURNS int LANGUAGE sql VOLATILE AS
$$ SELECT max(seq) - 1 FROM emogi_shortest_path('tree(boss, person)', v, w, direction) $$;
BEGIN;
INSERT INTO tree VALUES ('p1500', 'leaf'), ('leaf too', 'lone'), ('lone', 'lone too');
SELECT hops('leaf', 'p1', 'out') AS out, hops('leaf', 'p1', 'in') AS "in", hops('leaf', 'p1', 'both') AS both,
	hops('leaf', 'leaf', 'out') AS itself, hops('leaf', 'nobody', 'out') AS nobody, hops('nobody', 'nobody', 'out') AS nothing;
SELECT hops('leaf too', 'lone too', 'out') AS out, hops('lone too', 'leaf too', 'out') AS back, hops('lone too', 'leaf too', 'in') AS "in",
	hops('leaf too', 'leaf too', 'in') AS itself, hops('leaf too', 'p1', 'both') AS apart;
DELETE FROM tree WHERE person IN ('lone', 'lone too');
SELECT hops('lone', 'lone', 'out') AS gone, hops('leaf', 'p1', 'in') AS "in";
INSERT INTO tree VALUES ('leaf', 'below');
SELECT hops('leaf', 'below', 'out') AS on;
SET LOCAL client_min_messages = notice;
SET LOCAL emogi.notice_missing_source = on;
SELECT hops('below', 'p1', 'out');
SELECT hops('below', 'nobody', 'out');
SET LOCAL emogi.notice_missing_source = off;
SAVEPOINT s;
SELECT hops('below', '{p1,p2}', 'out');
ROLLBACK TO s;
SELECT hops('{p1,p2}', 'below', 'out');
ROLLBACK;

-- Rows, searches from keys with and without rows, savepoints and rollbacks in random order.
SELECT setseed(0.25);
DO $$
DECLARE
	key text;
	boss text;
	known text[] := ARRAY['p1', 'p2', 'p30'];
BEGIN
	FOR i IN 1 .. 600 LOOP
		BEGIN
			FOR k IN 1 .. 1 + floor(random() * 4) LOOP
				key := 'x' || floor(random() * 400);
				boss := known[1 + floor(random() * cardinality(known))];
				CASE floor(random() * 10)::int
					WHEN 0 THEN CALL compare('unknown', 'y' || i, boss);
					WHEN 1 THEN CALL compare('known', boss, key);
					WHEN 2 THEN CALL compare('any', key, boss);
					WHEN 3 THEN DELETE FROM tree WHERE person = key;
					WHEN 4 THEN UPDATE tree t SET person = key || 'u' WHERE t.person = key;
					ELSE
						INSERT INTO tree VALUES (boss, key);
						known := known || key;
				END CASE;
			END LOOP;
			IF random() < 0.3 THEN
				RAISE EXCEPTION 'rolled back';
			END IF;
		EXCEPTION
			WHEN raise_exception THEN
				CALL compare('after a rollback', known[1 + floor(random() * cardinality(known))], key);
		END;
	END LOOP;
END $$;
CALL compare('at the end', 'p1', 'x7');

-- All but the first few calls of the transaction have used the overlay of its own rows.
BEGIN;
INSERT INTO tree SELECT 'p9', 'z' || i FROM generate_series(1, 100) i;
COMMIT;
SELECT count(*) > 90 FROM (SELECT * FROM emogi_runs WHERE function = 'emogi_shortest_path' ORDER BY id DESC LIMIT 100) r WHERE cache = 'overlay';
SELECT ok FROM emogi_check('tree(boss, person)');
DROP TABLE tree;
DROP FUNCTION refuse, ours, theirs, hops;
DROP PROCEDURE compare;
