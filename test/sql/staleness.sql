-- emogi.max_staleness: a recently exact graph answers without checking for later changes.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS emogi;
SET emogi.incremental_min_size = '1GB';	-- graphs that track their tables get an overlay, and show it
CREATE TABLE edges (src int, dst int);
INSERT INTO edges VALUES (1, 2), (2, 3);
CREATE FUNCTION last_run(OUT cache text, OUT has_age boolean) LANGUAGE sql
AS 'SELECT cache, age_ms >= 0 FROM emogi_runs WHERE pid = pg_backend_pid() ORDER BY id DESC LIMIT 1';
SELECT count(*) FROM emogi_bfs('edges', 1);
INSERT INTO edges VALUES (3, 4);

-- within the time: the old answer, reported as stale
SET emogi.max_staleness = '1h';
SELECT count(*) FROM emogi_bfs('edges', 1);
SELECT * FROM last_run();

-- other columns, lists or weights are not stale but missing
SELECT count(*) FROM emogi_bfs('edges(dst, src)', 4);
SELECT * FROM last_run();

-- own changes are visible
BEGIN;
INSERT INTO edges VALUES (4, 5);
SELECT count(*) FROM emogi_bfs('edges', 1);
SELECT * FROM last_run();
ROLLBACK;

-- a transaction with one snapshot sees the rows of that
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT count(*) FROM emogi_bfs('edges', 1);
SELECT * FROM last_run();
COMMIT;

-- that graph is now exact for all
INSERT INTO edges VALUES (4, 5);
SELECT count(*) FROM emogi_bfs('edges', 1);
SELECT * FROM last_run();

-- beyond the time, and with 0, answers are exact
SET emogi.max_staleness = '1ms';
SELECT pg_sleep(0.01);
SELECT count(*) FROM emogi_bfs('edges', 1);
SELECT * FROM last_run();
INSERT INTO edges VALUES (5, 6);
SET emogi.max_staleness = 0;
SELECT count(*) FROM emogi_bfs('edges', 1);
SELECT * FROM last_run();

-- privileges are checked first
CREATE ROLE emogi_stale_reader;
SET emogi.max_staleness = '1h';
SET ROLE emogi_stale_reader;
SELECT count(*) FROM emogi_bfs('edges', 1);
RESET ROLE;
DROP ROLE emogi_stale_reader;
DROP TABLE edges;
DROP FUNCTION last_run;
