-- Keys that are not integers, and are inserted after the dictionary of a graph was created: the
-- first load of a table under a trigger that rejects cycles, and many new keys between two old
-- ones. Answers are those of a recursive CTE, and no call rebuilds a graph unless no code is left.
SET emogi.incremental_min_size = 0;
SET emogi.engine = auto;
SET emogi.papers_mapping = auto;
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS emogi;
CREATE TYPE part AS (tenant int, name text);
-- of ICU, if the server has it
DO $$ BEGIN
	CREATE COLLATION key_german (provider = icu, locale = 'de');
EXCEPTION WHEN feature_not_supported THEN
	CREATE COLLATION key_german (locale = 'C');
END $$;
DO $$ BEGIN
	EXECUTE 'CREATE TYPE size AS ENUM (' || (SELECT string_agg(quote_literal('v' || i), ', ' ORDER BY i % 10, i) FROM generate_series(1, 700) i) || ')';
END $$;
-- the key of a number
CREATE FUNCTION key_of(kind text, n int) RETURNS text LANGUAGE sql IMMUTABLE AS $$
	SELECT CASE kind WHEN 'uuid' THEN md5(n::text)::uuid::text
		WHEN 'part' THEN format('(%s,%s)', n % 7 - 3, CASE WHEN n % 5 > 0 THEN 'x' || n ELSE format('"y ä%s"', n) END)
		WHEN 'size' THEN 'v' || n + 1
		WHEN 'numeric' THEN (n / 7.0)::text
		WHEN 'long' THEN repeat(md5(n::text), 200)
		WHEN 'german' THEN (ARRAY['a', 'Z', 'ä', 'Ö', 'o', 'ß', 'ss', 'e', 'É'])[1 + n % 9] || n
		ELSE substr(md5(n::text), 1, 1 + n % 12) || n END $$;
-- the sources of the graphs of this session's calls since the last time
CREATE TEMP TABLE seen (id bigint);
INSERT INTO seen SELECT coalesce(max(id), 0) FROM emogi_runs;
CREATE FUNCTION graphs_since() RETURNS TABLE (cache text, many bool) LANGUAGE sql AS $$
	WITH moved AS (INSERT INTO seen SELECT max(id) FROM emogi_runs)
	SELECT cache, count(*) > 50 FROM emogi_runs WHERE pid = pg_backend_pid() AND id > (SELECT max(id) FROM seen) GROUP BY 1 ORDER BY 1
$$;

-- ---- the first load

-- load `last` rows of a graph without cycles, and rows that would form one, one by one under the
-- trigger, in one transaction with savepoints; returns how many decisions differ from those of the
-- CTE, the number of rejected rows, and the result of emogi_check
CREATE FUNCTION key_load(kind text, type text, last int, OUT wrong int, OUT refused int, OUT ok bool) LANGUAGE plpgsql AS $$
DECLARE
	src text;
	dst text;
	cycle bool;
BEGIN
	wrong := 0;
	refused := 0;
	EXECUTE format('CREATE TABLE loaded (src %1$s, dst %1$s)', type);
	CREATE INDEX ON loaded (src);
	EXECUTE format($f$CREATE FUNCTION refuse_loaded() RETURNS trigger LANGUAGE plpgsql AS $b$
	BEGIN
		IF EXISTS (SELECT FROM emogi_shortest_path('loaded', new.dst::text, new.src::text)) THEN
			RAISE EXCEPTION 'a cycle';
		END IF;
		RETURN new;
	END $b$ $f$);
	CREATE TRIGGER refuse_loaded BEFORE INSERT ON loaded FOR EACH ROW EXECUTE FUNCTION refuse_loaded();
	FOR i IN 1 .. last LOOP
		src := key_of(kind, CASE WHEN i % 10 = 0 THEN i - 1 ELSE i / (2 + i * 7919 % 3) END);
		dst := key_of(kind, CASE WHEN i % 10 > 0 THEN i WHEN i % 20 = 0 THEN i / 3 ELSE (i - 1) / (2 + (i - 1) * 7919 % 3) END);
		EXECUTE format('SELECT EXISTS (WITH RECURSIVE r(v) AS (SELECT $1::%1$s UNION SELECT l.dst FROM r JOIN loaded l ON l.src = r.v)
			SELECT FROM r WHERE v = $2::%1$s)', type) INTO cycle USING dst, src;
		BEGIN
			EXECUTE format('INSERT INTO loaded VALUES ($1::%1$s, $2::%1$s)', type) USING src, dst;
			wrong := wrong + cycle::int;
		EXCEPTION WHEN raise_exception THEN
			wrong := wrong + (NOT cycle)::int;
			refused := refused + 1;
		END;
	END LOOP;
	SELECT bool_and(c.ok) INTO ok FROM unnest(ARRAY['out', 'in', 'both']) d, emogi_check('loaded', d, false, true, true) c;
	DROP TABLE loaded;
	DROP FUNCTION refuse_loaded;
END $$;
SELECT * FROM key_load('text', 'text COLLATE "C"', 300);
SELECT * FROM key_load('uuid', 'uuid', 300);
SELECT * FROM key_load('german', 'text COLLATE key_german', 300);
SELECT * FROM key_load('part', 'part', 300);
SELECT * FROM key_load('size', 'size', 300);
-- compared keys have no change tracker
SELECT * FROM key_load('numeric', 'numeric', 100);
SELECT count(*) > 0 FROM graphs_since();

-- The table was committed before, as usual. Each row searches its graph; there are more keys than
-- the first dictionary can hold.
CREATE TABLE first_keys (src uuid, dst uuid);
CREATE FUNCTION refuse_first_key() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	IF EXISTS (SELECT FROM emogi_bfs('first_keys', new.dst) WHERE vertex = new.src) THEN
		RAISE EXCEPTION 'a cycle: % is below %', new.src, new.dst;
	END IF;
	RETURN new;
END $$;
CREATE TRIGGER refuse_first_key BEFORE INSERT ON first_keys FOR EACH ROW EXECUTE FUNCTION refuse_first_key();
SELECT count(*) FROM graphs_since();
BEGIN;
INSERT INTO first_keys SELECT key_of('uuid', i / 6)::uuid, key_of('uuid', i)::uuid FROM generate_series(1, 1000) i;
SELECT cache FROM graphs_since() WHERE many;
SAVEPOINT s;
INSERT INTO first_keys VALUES (key_of('uuid', 1000)::uuid, key_of('uuid', 0)::uuid);
ROLLBACK TO s;
INSERT INTO first_keys SELECT key_of('uuid', i / 6)::uuid, key_of('uuid', i)::uuid FROM generate_series(1001, 1500) i;
SELECT cache FROM graphs_since() WHERE many;
SELECT count(*), max(level) FROM emogi_bfs('first_keys', key_of('uuid', 0)::uuid);
SELECT seq, vertex = key_of('uuid', (ARRAY[0, 1, 6, 41, 249, 1499])[seq])::uuid AS same FROM emogi_shortest_path('first_keys', key_of('uuid', 0)::uuid, key_of('uuid', 1499)::uuid) ORDER BY 1;
SELECT ok, differs FROM emogi_check('first_keys', 'out', false, true, true);
SELECT ok, differs FROM emogi_check('first_keys', 'both', false, true, true);
-- the order of all keys
SELECT count(*), bool_and(before IS NULL OR before < vertex) FROM (SELECT vertex, lag(vertex) OVER () AS before FROM emogi_cc_uuid('first_keys')) v;
DECLARE older CURSOR FOR SELECT count(*) FROM emogi_bfs('first_keys', key_of('uuid', 0)::uuid);
DELETE FROM first_keys WHERE dst = key_of('uuid', 1)::uuid;
FETCH older;
SELECT count(*) FROM emogi_bfs('first_keys', key_of('uuid', 0)::uuid);
SELECT ok, differs FROM emogi_check('first_keys', 'in', false, true, true);
ROLLBACK;
SELECT count(*) FROM emogi_bfs('first_keys', key_of('uuid', 0)::uuid);
-- keys of rolled-back transactions use space until a dictionary without them is created
SELECT count(*) >= 0 FROM graphs_since();
DO $$ BEGIN
	FOR round IN 1 .. 6 LOOP
		BEGIN
			INSERT INTO first_keys SELECT key_of('uuid', round * 1000 + i / 3)::uuid, key_of('uuid', round * 1000 + i)::uuid FROM generate_series(1, 300) i;
			IF 301 <> (SELECT count(*) FROM emogi_bfs('first_keys', key_of('uuid', round * 1000)::uuid)) THEN
				RAISE 'wrong';
			END IF;
			RAISE division_by_zero;
		EXCEPTION WHEN division_by_zero THEN
			NULL;
		END;
	END LOOP;
END $$;
SELECT cache FROM graphs_since() WHERE many;
-- committed rows on the graph without vertices
INSERT INTO first_keys SELECT key_of('uuid', i)::uuid, key_of('uuid', i + 1)::uuid FROM generate_series(1, 3) i;
SELECT count(*), max(level) FROM emogi_bfs('first_keys', key_of('uuid', 1)::uuid);
SELECT ok, differs FROM emogi_check('first_keys', 'out', false, true, true);
DROP TABLE first_keys;
DROP FUNCTION refuse_first_key;
-- keys much longer than expected
CREATE TABLE first_long (src text, dst text);
SELECT count(*) FROM emogi_bfs('first_long', 'x');
BEGIN;
INSERT INTO first_long SELECT key_of('long', i / 2), key_of('long', i) FROM generate_series(1, 30) i;
SELECT count(*), max(level), min(length(vertex)) FROM emogi_bfs('first_long', key_of('long', 0));
INSERT INTO first_long SELECT key_of('long', i / 2), key_of('long', i) FROM generate_series(31, 60) i;
SELECT count(*), max(level), min(length(vertex)) FROM emogi_bfs('first_long', key_of('long', 0));
SELECT ok, differs FROM emogi_check('first_long', 'both', false, true, true);
COMMIT;
SELECT count(*), max(level) FROM emogi_bfs('first_long', key_of('long', 0));
SELECT ok, differs FROM emogi_check('first_long', 'both', false, true, true);
DROP TABLE first_long;

-- ---- new keys between two old ones

CREATE TABLE gaps (src text COLLATE "C", dst text COLLATE "C", weight int);
INSERT INTO gaps SELECT 'k' || lpad((g / 3)::text, 5, '0'), 'k' || lpad(g::text, 5, '0'), 1 + g % 5 FROM generate_series(1, 20000) g;
-- search from the vertices that the rows lead to; returns the number of wrong answers
CREATE FUNCTION wrong_gaps(source text) RETURNS bigint LANGUAGE sql AS $$
	SELECT count(*) FROM (
		(SELECT vertex, level FROM emogi_bfs('gaps', source, max_depth => 3))
		EXCEPT ALL
		(WITH RECURSIVE r(v, level) AS (SELECT source COLLATE "C", 0 UNION SELECT dst, level + 1 FROM r JOIN gaps ON src = v WHERE level < 3)
		SELECT v, min(level) FROM r GROUP BY v)) d $$;
-- insert new keys in rounds of 100, one pattern after the other, in one gap
CREATE FUNCTION add_gaps(pattern text, rounds int) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
	wrong bigint := 0;
BEGIN
	FOR round IN 1 .. rounds LOOP
		INSERT INTO gaps SELECT 'k00005', 'k00005' || CASE pattern
			WHEN 'ascending' THEN 'a' || lpad(n::text, 7, '0')
			WHEN 'descending' THEN 'b' || lpad((1000000 - n)::text, 7, '0')
			WHEN 'both' THEN 'c' || lpad((CASE n % 2 WHEN 0 THEN n ELSE 1000000 - n END)::text, 7, '0')
			WHEN 'runs' THEN 'd' || lpad((n % 10)::text, 2, '0') || lpad(n::text, 7, '0')
			ELSE 'e' || md5(n::text) END, 1 FROM generate_series(100 * round, 100 * round + 99) n;
		wrong := wrong + wrong_gaps('k00005');
	END LOOP;
	RETURN wrong;
END $$;
SELECT count(*) FROM emogi_bfs('gaps', 'k00005');
SELECT builds AS before FROM emogi_cache \gset
SELECT p, add_gaps(p, 4) FROM unnest(ARRAY['ascending', 'descending', 'both', 'runs', 'random']) p;
SELECT builds - :before AS builds FROM emogi_cache;
SELECT ok, differs FROM emogi_check('gaps', 'both', true, true, true);
SELECT count(*), bool_and(before IS NULL OR before < vertex COLLATE "C") FROM
	(SELECT vertex, lag(vertex) OVER () AS before FROM emogi_cc_text('gaps')) v;
SELECT count(*) FROM emogi_sssp('gaps', 'k00005');
DELETE FROM gaps WHERE dst > 'k00005a' AND dst < 'k00005b';
SELECT wrong_gaps('k00005');
-- each key is adjacent to the last one, on either side: no code is left after at most 40; in a
-- transaction that is rolled back, then committed
CREATE FUNCTION add_path(first int, last int) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
	path text := 'k00007p';
	wrong bigint := 0;
BEGIN
	FOR i IN 1 .. last LOOP
		path := path || CASE WHEN substr(md5('side'), 1 + i % 32, 1) < '8' THEN '0' ELSE '2' END;
		IF i >= first THEN
			INSERT INTO gaps VALUES ('k00007', path || '1', 1);
			wrong := wrong + wrong_gaps('k00007');
		END IF;
	END LOOP;
	RETURN wrong;
END $$;
BEGIN;
SELECT add_path(1, 60);
SELECT ok, differs FROM emogi_check('gaps', 'out', false, true, true);
ROLLBACK;
SELECT wrong_gaps('k00007');
DO $$ BEGIN
	FOR i IN 1 .. 60 LOOP
		PERFORM add_path(i, i);
		COMMIT;
	END LOOP;
END $$;
SELECT wrong_gaps('k00007'), builds - :before > 0 AS built FROM emogi_cache;
SELECT ok, differs FROM emogi_check('gaps', 'both', true, true, true);
-- the order of the old dictionary sorts the keys of the new one, by a collation; keys that did not
-- fit are merged
CREATE TABLE gaps_german (src text COLLATE key_german, dst text COLLATE key_german);
INSERT INTO gaps_german SELECT key_of('german', i / 3), key_of('german', i) FROM generate_series(1, 500) i;
INSERT INTO gaps_german VALUES ('Ö7', 'Ö7');
SELECT count(*) FROM emogi_bfs('gaps_german', key_of('german', 1));
SELECT builds AS before FROM emogi_cache \gset
-- each round in its own transaction, then all rounds in one, whose graphs are private from some
-- round on
CREATE PROCEDURE add_german(path text, commits bool) LANGUAGE plpgsql AS $$
DECLARE
	n bigint;
	before bigint := (SELECT count(*) FROM emogi_bfs('gaps_german', 'Ö7', max_depth => 1));
BEGIN
	FOR i IN 1 .. 60 LOOP
		path := path || CASE WHEN substr(md5('side'), 1 + i % 32, 1) < '8' THEN '0' ELSE '2' END;
		INSERT INTO gaps_german SELECT 'Ö7', path || '1' || (ARRAY['z', 'b', 'Ä', 'ä', ''])[j] FROM generate_series(1, 5) j;
		IF commits THEN
			COMMIT;
		END IF;
		SELECT count(*) INTO n FROM emogi_bfs('gaps_german', 'Ö7', max_depth => 1);
		IF n <> before + 5 * i THEN
			RAISE EXCEPTION '% vertices after % rounds', n, i;
		END IF;
		IF commits THEN
			COMMIT;
		END IF;
	END LOOP;
END $$;
CALL add_german('Ö7', true);
SELECT builds - :before > 0 AS built FROM emogi_cache;
SELECT ok, differs FROM emogi_check('gaps_german', 'both', false, true, true);
SELECT count(*), bool_and(before IS NULL OR before < vertex COLLATE key_german) FROM
	(SELECT vertex, lag(vertex) OVER () AS before FROM emogi_cc_text('gaps_german')) v;
SELECT private_builds AS before FROM emogi_cache \gset
CALL add_german('ö3', false);
SELECT private_builds - :before > 0 AS private FROM emogi_cache;
SELECT ok, differs FROM emogi_check('gaps_german', 'both', false, true, true);
SELECT count(*), bool_and(before IS NULL OR before < vertex COLLATE key_german) FROM
	(SELECT vertex, lag(vertex) OVER () AS before FROM emogi_cc_text('gaps_german')) v;
DROP TABLE gaps_german;
DROP TABLE gaps;
DROP PROCEDURE add_german;
DROP FUNCTION key_load, key_of, graphs_since, wrong_gaps, add_gaps, add_path;
DROP TYPE part, size;
DROP COLLATION key_german;
