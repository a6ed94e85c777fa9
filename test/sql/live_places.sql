-- Many small tracked tables do not cause rebuilds of a large one.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS emogi;
RESET client_min_messages;
CREATE SCHEMA test_live_places;
SET search_path = test_live_places, public;
SHOW emogi.incremental_min_size;
\pset format unaligned
\pset tuples_only on
CREATE TABLE large AS SELECT i / 2 AS src, i AS dst FROM generate_series(2, 200000) AS i;
CREATE FUNCTION last_cache() RETURNS text LANGUAGE sql AS $$
  SELECT CASE WHEN cache IN ('merged', 'overlay') THEN 'followed' ELSE cache END FROM emogi_runs WHERE pid = pg_backend_pid() ORDER BY id DESC LIMIT 1 $$;
SELECT count(*) FROM emogi_bfs('large', 1);
SELECT last_cache();
-- 1,260 pairs of columns, 210 of each of six tables, make as many tracked graphs.
DO $$ BEGIN FOR t IN 1 .. 6 LOOP
  EXECUTE format('CREATE TABLE wide%s AS SELECT %s FROM generate_series(1, 3) AS g', t, (SELECT string_agg(format('g + %s AS c%s', i, i), ', ') FROM generate_series(0, 14) AS i));
END LOOP; END $$;
DO $$ BEGIN FOR t IN 1 .. 6 LOOP FOR i IN 0 .. 14 LOOP FOR j IN 0 .. 14 LOOP
  IF i <> j THEN PERFORM count(*) FROM emogi_bfs(format('wide%s(c%s, c%s)', t, i, j), 1); END IF; END LOOP; END LOOP; END LOOP; END $$;
INSERT INTO large VALUES (1, 300000);
SELECT count(*) FROM emogi_bfs('large', 1);
SELECT last_cache();
-- Of the small ones, the latest are tracked.
INSERT INTO wide6 (c14, c13) VALUES (15, 99);
SELECT count(*) FROM emogi_bfs('wide6(c14, c13)', 15);
SELECT last_cache();
SET client_min_messages = warning;
DROP SCHEMA test_live_places CASCADE;
