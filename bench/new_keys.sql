-- New keys that are not integers, compared with the recursive CTE over indexes: one row with a new
-- key before each call, for a graph of 1.2 million text keys; and the first load of a table by a
-- transaction under a trigger that rejects cycles, with integers and texts.
--
--   psql -X -f bench/new_keys.sql
\set QUIET on
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS emogi;
CREATE TABLE emogi_bench_pairs (src text COLLATE "C", dst text COLLATE "C");
INSERT INTO emogi_bench_pairs SELECT md5((i::bigint * 7919 % 1300000)::text), md5((i::bigint * 104729 % 1300000 + 1)::text) FROM generate_series(1, 1000000) i;
CREATE INDEX ON emogi_bench_pairs (src);
VACUUM ANALYZE emogi_bench_pairs;
CREATE TABLE emogi_bench_times (asked text, way text, ms float8, longest float8, builds bigint);
-- `count` times: insert a row with a new key, and query the vertices within two hops; records the
-- ms of the queries
CREATE PROCEDURE emogi_bench_new_keys(way text, pattern text, count int) LANGUAGE plpgsql AS $$
DECLARE
	source text;
	began timestamptz;
	ms float8;
	total float8 := 0;
	longest float8 := 0;
	before bigint := (SELECT builds FROM emogi_cache);
BEGIN
	FOR i IN 1 .. count LOOP
		source := md5((i::bigint * 31 % 1300000)::text);
		INSERT INTO emogi_bench_pairs VALUES (source, CASE pattern WHEN 'any place' THEN md5('new' || way || i)
			WHEN 'one gap, any order' THEN '7fffffff~' || md5(way || i) ELSE '8fffffff~' || way || to_char(i, 'FM00000000') END);
		COMMIT;
		began := clock_timestamp();
		IF way = 'emogi' THEN
			PERFORM count(*) FROM emogi_bfs('emogi_bench_pairs', source, max_depth => 2);
		ELSE
			PERFORM count(*) FROM (WITH RECURSIVE r(v, depth) AS (SELECT source COLLATE "C", 0
				UNION SELECT p.dst, depth + 1 FROM r JOIN emogi_bench_pairs p ON p.src = r.v WHERE depth < 2) SELECT DISTINCT v FROM r) d;
		END IF;
		ms := extract(epoch FROM clock_timestamp() - began) * 1000;
		total := total + ms;
		longest := greatest(longest, ms);
		COMMIT;
	END LOOP;
	INSERT INTO emogi_bench_times SELECT pattern, way, total, longest, builds - before FROM emogi_cache;
	COMMIT;
END $$;
-- With the graph; otherwise most of these queries would be answered by an index search.
SET emogi.enable_index_search = off;
SELECT count(*) > 0 FROM emogi_prewarm('emogi_bench_pairs') \g /dev/null
SELECT format('CALL emogi_bench_new_keys(%L, %L, 2000)', way, pattern)
FROM (VALUES (1, 'any place'), (2, 'one gap, any order'), (3, 'one gap, ascending')) p(n, pattern), (VALUES ('emogi'), ('CTE')) w(way) ORDER BY n, way \gexec
RESET emogi.enable_index_search;
CREATE FUNCTION emogi_bench_refuse() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	IF EXISTS (SELECT FROM emogi_shortest_path(TG_TABLE_NAME, new.dst, new.src)) THEN
		RAISE EXCEPTION 'a cycle';
	END IF;
	RETURN new;
END $$;
CREATE FUNCTION emogi_bench_refuse_cte() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	IF TG_TABLE_NAME ~ 'text' AND EXISTS (WITH RECURSIVE r(v) AS (SELECT new.dst UNION SELECT l.dst FROM r JOIN emogi_bench_text_cte l ON l.src = r.v)
		SELECT FROM r WHERE v = new.src) THEN
		RAISE EXCEPTION 'a cycle';
	END IF;
	RETURN new;
END $$;
CREATE TABLE emogi_bench_int (src int, dst int);
CREATE TABLE emogi_bench_text (src text, dst text);
CREATE TABLE emogi_bench_text_cte (src text, dst text);
CREATE INDEX ON emogi_bench_text_cte (src);
CREATE TRIGGER refuse BEFORE INSERT ON emogi_bench_int FOR EACH ROW EXECUTE FUNCTION emogi_bench_refuse();
CREATE TRIGGER refuse BEFORE INSERT ON emogi_bench_text FOR EACH ROW EXECUTE FUNCTION emogi_bench_refuse();
CREATE TRIGGER refuse BEFORE INSERT ON emogi_bench_text_cte FOR EACH ROW EXECUTE FUNCTION emogi_bench_refuse_cte();
CREATE PROCEDURE emogi_bench_load(way text, loaded regclass, key text, count int) LANGUAGE plpgsql AS $$
DECLARE
	began timestamptz := clock_timestamp();
	ms float8;
BEGIN
	EXECUTE format('INSERT INTO %s SELECT %s, %s FROM generate_series(1, %s) i', loaded, format(key, 'i / 6'), format(key, 'i'), count);
	ms := extract(epoch FROM clock_timestamp() - began) * 1000;
	ROLLBACK;
	INSERT INTO emogi_bench_times VALUES (count || ' rows, first load, ' || CASE WHEN key ~ 'md5' THEN 'text' ELSE 'integers' END, way, ms);
	COMMIT;
END $$;
SELECT format('CALL emogi_bench_load(%L, %L, %L, 3000)', way, loaded, key), 'VACUUM ' || loaded
FROM generate_series(0, 4) run, (VALUES ('emogi', 'emogi_bench_int', '%s'), ('emogi', 'emogi_bench_text', 'md5((%s)::text)'),
	('CTE', 'emogi_bench_text_cte', 'md5((%s)::text)')) l(way, loaded, key) ORDER BY run, loaded \gexec
SELECT asked, way, round((percentile_cont(0.5) WITHIN GROUP (ORDER BY ms))::numeric, 1) AS ms, round(max(longest)::numeric, 1) AS longest, max(builds) AS builds
FROM emogi_bench_times GROUP BY 1, 2 ORDER BY 1, 2;
DROP TABLE emogi_bench_pairs, emogi_bench_times, emogi_bench_int, emogi_bench_text, emogi_bench_text_cte;
DROP FUNCTION emogi_bench_refuse, emogi_bench_refuse_cte;
DROP PROCEDURE emogi_bench_new_keys, emogi_bench_load;
