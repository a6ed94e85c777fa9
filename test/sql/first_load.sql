-- The first load of a table that was empty when its graph was built, and many deletions before it:
-- calls of the loading transaction merge its changes into the graph without vertices, or into the
-- old graph.
SET emogi.incremental_min_size = 0;
SET emogi.engine = auto;
SET emogi.papers_mapping = auto;
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS emogi;
CREATE TABLE first_load (src int, dst int, w int);
CREATE FUNCTION refuse_first() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	IF EXISTS (SELECT FROM emogi_shortest_path('first_load(src, dst)', new.dst, new.src)) THEN
		RAISE EXCEPTION 'a cycle: % is below %', new.src, new.dst;
	END IF;
	RETURN new;
END $$;
CREATE TRIGGER refuse_first BEFORE INSERT ON first_load FOR EACH ROW EXECUTE FUNCTION refuse_first();
-- the sources of the graphs of this session's calls since the last time
CREATE TEMP TABLE seen (id bigint);
INSERT INTO seen SELECT coalesce(max(id), 0) FROM emogi_runs;
CREATE FUNCTION graphs_since() RETURNS TABLE (cache text, many bool) LANGUAGE sql AS $$
	SELECT cache, count(*) > 50 FROM emogi_runs WHERE pid = pg_backend_pid() AND id > (SELECT max(id) FROM seen) GROUP BY 1 ORDER BY 1
$$;
BEGIN;
INSERT INTO first_load SELECT i / 6, i, 1 + i % 7 FROM generate_series(1, 200) i;
SELECT * FROM graphs_since();
SELECT count(*), max(level), sum(vertex) FROM emogi_bfs('first_load(src, dst)', 0);
SELECT string_agg(vertex::text, ' ' ORDER BY seq) FROM emogi_shortest_path('first_load(src, dst)', 0, 199);
SELECT vertex, level FROM emogi_bfs('first_load(src, dst)', 199, direction => 'in');
-- 'both' and weights have their own graphs
SELECT count(*), max(level) FROM emogi_bfs('first_load(src, dst)', 199, direction => 'both', max_depth => 2);
SELECT vertex, distance FROM emogi_sssp('first_load(src, dst, w)', 3, max_distance => 6) ORDER BY 1;
SELECT ok, differs FROM emogi_check('first_load(src, dst)', 'out', false, true, true);
SELECT ok, differs FROM emogi_check('first_load(src, dst)', 'in', false, true, true);
SELECT ok, differs FROM emogi_check('first_load(src, dst)', 'both', false, true, true);
SELECT ok, differs FROM emogi_check('first_load(src, dst, w)', 'out', true, true, true);
SAVEPOINT s;
INSERT INTO first_load VALUES (199, 1000, 1), (1000, 1001, 1), (1001, 0, 1);
ROLLBACK TO s;
SELECT count(*) FROM emogi_bfs('first_load(src, dst)', 1000);
DELETE FROM first_load WHERE dst > 100;
SELECT count(*), max(level) FROM emogi_bfs('first_load(src, dst)', 0);
SELECT ok, differs FROM emogi_check('first_load(src, dst)', 'out', false, true, true);
DELETE FROM first_load;
SELECT count(*) FROM emogi_bfs('first_load(src, dst)', 0);
SELECT ok, differs FROM emogi_check('first_load(src, dst)', 'out', false, true, true);
ROLLBACK;
SELECT count(*) FROM emogi_bfs('first_load(src, dst)', 0);
-- committed rows added to the graph without vertices
INSERT INTO first_load VALUES (1, 2, 300), (2, 3, 2), (1, 3, 500);
SELECT vertex, level FROM emogi_bfs('first_load(src, dst)', 1, max_depth => 2);
SELECT string_agg(vertex::text, ' ' ORDER BY seq) FROM emogi_shortest_path('first_load(src, dst)', 1, 3);
SELECT ok, differs FROM emogi_check('first_load(src, dst)', 'out', false, true, true);
TRUNCATE first_load;
-- weights on a graph without vertices: of any type, and rejected ones
SELECT emogi_evict() IS NOT NULL;
SELECT * FROM emogi_sssp('first_load(src, dst, w)', 1);
BEGIN;
INSERT INTO first_load VALUES (1, 2, 3), (2, 3, 70000);
SELECT vertex, distance FROM emogi_sssp('first_load(src, dst, w)', 1, max_distance => 100000) ORDER BY 1;
SELECT cache, changes FROM emogi_runs WHERE pid = pg_backend_pid() ORDER BY id DESC LIMIT 1;
ROLLBACK;
INSERT INTO first_load VALUES (1, 2, 3), (2, 3, 70000);
SELECT vertex, distance FROM emogi_sssp('first_load(src, dst, w)', 1, max_distance => 100000) ORDER BY 1;
SELECT seq, vertex, distance FROM emogi_shortest_path('first_load(src, dst, w)', 1, 3) ORDER BY 1;
SELECT ok, differs FROM emogi_check('first_load(src, dst, w)', 'out', true, true, true);
INSERT INTO first_load VALUES (7, 8, -1);
SELECT vertex, distance FROM emogi_sssp('first_load(src, dst, w)', 1, max_distance => 100000);
TRUNCATE first_load;
-- more deletions in one transaction than an overlay accepts at once
ALTER TABLE first_load DISABLE TRIGGER refuse_first;
INSERT INTO first_load SELECT i / 6, i, 1 FROM generate_series(1, 100000) i;
ALTER TABLE first_load ENABLE TRIGGER refuse_first;
VACUUM first_load;
SELECT count(*) FROM emogi_shortest_path('first_load(src, dst)', 2, 100000);
BEGIN;
DELETE FROM first_load WHERE dst % 100000 > 20000;
INSERT INTO seen SELECT max(id) FROM emogi_runs;
INSERT INTO first_load SELECT i * 7919 % 20000, 200000 + i, 1 FROM generate_series(1, 100) i;
SELECT * FROM graphs_since();
SELECT ok, differs FROM emogi_check('first_load(src, dst)', 'out', false, true, true);
SELECT count(*) FROM emogi_bfs('first_load(src, dst)', 100000, max_depth => 1);
INSERT INTO first_load VALUES (200001, 7919 / 6);
ROLLBACK;
DROP TABLE first_load;
DROP FUNCTION refuse_first, graphs_since;
