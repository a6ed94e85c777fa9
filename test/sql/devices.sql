-- emogi_devices and the settings, for any devices.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS emogi;
DROP ROLE IF EXISTS regress_emogi_nobody;
RESET client_min_messages;
CREATE SCHEMA test_devices;
SET search_path = test_devices, public;

SELECT attname, format_type(atttypid, atttypmod) FROM pg_attribute WHERE attrelid = 'emogi_devices'::regclass AND attnum BETWEEN 1 AND 10 ORDER BY attnum;

-- One row for the CPU: its memory is the arena, empty while nothing runs.
DO $$ BEGIN PERFORM emogi_evict(); END $$;
SELECT device, engine, state, units > 0 AS units, memory_bytes = pg_size_bytes(current_setting('emogi.max_memory')) AS budget, used_bytes
  FROM emogi_devices WHERE engine = 'cpu';

-- One row for each GPU, or one with the reason why there is none.
SELECT count(*) FILTER (WHERE state = 'absent') + least(1, count(*) FILTER (WHERE device >= 0)) AS kinds,
       count(*) FILTER (WHERE state = 'absent' AND (device IS NOT NULL OR coalesce(reason, '') = '')) AS unexplained,
       count(*) FILTER (WHERE device >= 0 AND (name IS NULL OR units IS NULL OR memory_bytes IS NULL)) AS unnamed,
       count(*) FILTER (WHERE device IS NOT NULL) - count(DISTINCT device) AS repeated,
       count(*) FILTER (WHERE engine <> 'cuda') AS others
  FROM emogi_devices WHERE device IS DISTINCT FROM -1;

-- All roles can read the view.
CREATE ROLE regress_emogi_nobody;
SET ROLE regress_emogi_nobody;
SELECT count(*) FROM emogi_devices WHERE device = -1;
RESET ROLE;
DROP ROLE regress_emogi_nobody;

-- The arena is in use while a call runs: here its query leads to 3 if that is the case at the last
-- row; afterwards it is empty.
SELECT * FROM emogi_bfs('SELECT 1, CASE WHEN i < 200000 THEN 2 ELSE (SELECT 2 + sign(used_bytes)::int FROM emogi_devices WHERE device = -1 AND i > 0) END
  FROM generate_series(1, 200000) i', 1);
DO $$ BEGIN
  PERFORM emogi_evict();
  FOR i IN 1 .. 200 LOOP
    EXIT WHEN 0 = (SELECT used_bytes FROM emogi_devices WHERE device = -1);
    PERFORM pg_sleep(0.01);
  END LOOP;
END $$;
SELECT used_bytes FROM emogi_devices WHERE device = -1;

-- Settings.
SELECT name, vartype, enumvals, CASE WHEN name = 'emogi.cpu_threads' THEN context IN ('sighup', 'postmaster') ELSE context = 'postmaster' END AS server,
       context = 'user' AS "user"
  FROM pg_settings WHERE name IN ('emogi.engine', 'emogi.placement', 'emogi.papers_mapping', 'emogi.papers_prefetch', 'emogi.papers_asynchronous', 'emogi.build_workers', 'emogi.cpu_threads',
   'emogi.max_memory', 'emogi.device_memory')
 ORDER BY name COLLATE "C";
SELECT boot_val FROM pg_settings WHERE name IN ('emogi.engine', 'emogi.placement', 'emogi.build_workers') ORDER BY name COLLATE "C";

-- Every setting that a user can choose gives the same answer.
CREATE TABLE edges AS SELECT i AS src, (i * 7) % 1000 AS dst FROM generate_series(0, 999) i;
SET emogi.engine = 'cpu';
SELECT count(*), sum(level), sum(vertex * level) FROM emogi_bfs('edges', 1);
SET emogi.engine = 'auto';
SELECT count(*), sum(level), sum(vertex * level) FROM emogi_bfs('edges', 1);
SET emogi.placement = 'host';
SELECT count(*), sum(level), sum(vertex * level) FROM emogi_bfs('edges', 1);
SET emogi.placement = 'device';
SELECT count(*), sum(level), sum(vertex * level) FROM emogi_bfs('edges', 1);
SET emogi.placement = 'auto';
SELECT count(*), sum(level), sum(vertex * level) FROM emogi_bfs('edges', 1);
