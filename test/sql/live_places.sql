-- Many small tables that are followed do not have a large one built anew.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS emogi;
RESET client_min_messages;
CREATE SCHEMA test_live_places;
SET search_path = test_live_places, public;
SHOW emogi.live_min_size;
\pset format unaligned
\pset tuples_only on
CREATE TABLE large AS SELECT i / 2 AS src, i AS dst FROM generate_series(2, 200000) AS i;
CREATE FUNCTION last_cache() RETURNS text LANGUAGE sql AS $$
  SELECT CASE WHEN cache IN ('spliced', 'patched') THEN 'followed' ELSE cache END FROM emogi_runs WHERE pid = pg_backend_pid() ORDER BY id DESC LIMIT 1 $$;
SELECT count(*) FROM emogi_bfs('large', 1);
SELECT last_cache();
-- 1,260 pairs of columns are as many graphs that are followed.
DO $$ BEGIN EXECUTE 'CREATE TABLE wide AS SELECT ' || (SELECT string_agg(format('g + %s AS c%s', i, i), ', ') FROM generate_series(0, 35) AS i) || ' FROM generate_series(1, 3) AS g'; END $$;
DO $$ BEGIN FOR i IN 0 .. 35 LOOP FOR j IN 0 .. 35 LOOP
  IF i <> j THEN PERFORM count(*) FROM emogi_bfs(format('wide(c%s, c%s)', i, j), 1); END IF; END LOOP; END LOOP; END $$;
INSERT INTO large VALUES (1, 300000);
SELECT count(*) FROM emogi_bfs('large', 1);
SELECT last_cache();
-- Of the small ones the last are followed.
INSERT INTO wide (c35, c34) VALUES (36, 99);
SELECT count(*) FROM emogi_bfs('wide(c35, c34)', 36);
SELECT last_cache();
SET client_min_messages = warning;
DROP SCHEMA test_live_places CASCADE;
