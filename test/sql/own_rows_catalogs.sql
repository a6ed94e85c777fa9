-- Rows inserted by the own transaction since its last call are added to the kept data of that call
-- (O9) only if no catalog has changed since, and to its overlay only if no other call still
-- searches it.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS emogi;
CREATE SCHEMA test_own_rows_catalogs;
SET search_path = test_own_rows_catalogs, public;
SET emogi.incremental_min_size = 0;
SET emogi.engine = auto;
SET emogi.enable_index_search = off;
\pset format unaligned
\pset tuples_only on
CREATE TABLE chart (src int, dst int);
CREATE TABLE chart_old () INHERITS (chart);
INSERT INTO chart SELECT i / 4, i FROM generate_series(1, 2000) i;
INSERT INTO chart_old SELECT i / 4, i FROM generate_series(2001, 4000) i;
VACUUM ANALYZE chart, chart_old;
CREATE FUNCTION below(v int) RETURNS text LANGUAGE sql AS $$
  SELECT string_agg(vertex || ':' || level, ' ' ORDER BY vertex) FROM emogi_bfs('chart', v, max_depth => 3) $$;
CREATE FUNCTION below_cte(v int) RETURNS text LANGUAGE sql AS $$
  WITH RECURSIVE b(v, l) AS (SELECT v, 0 UNION SELECT dst, l + 1 FROM b JOIN chart ON src = b.v WHERE l < 3)
  SELECT string_agg(v || ':' || l, ' ' ORDER BY v) FROM (SELECT v, min(l) AS l FROM b GROUP BY 1) s $$;
-- Whether the last call has rescanned pages.
CREATE FUNCTION rescans() RETURNS bool LANGUAGE sql AS $$
  SELECT pages_rescanned > 0 FROM emogi_runs WHERE pid = pg_backend_pid() ORDER BY id DESC LIMIT 1 $$;
SELECT below(3) = below_cte(3), below(3) = below_cte(3);

-- A child is attached again in the same file, with the names of its columns swapped: its rows are
-- reverse edges from then on.
BEGIN;
INSERT INTO chart_old VALUES (3, 5001);
SELECT below(3) = below_cte(3);
INSERT INTO chart_old VALUES (3, 5002);
SELECT below(3) = below_cte(3), rescans();
INSERT INTO chart_old VALUES (5002, 5003);
SELECT below(3) = below_cte(3), rescans();
ALTER TABLE chart_old NO INHERIT chart;
ALTER TABLE chart_old RENAME src TO was_src;
ALTER TABLE chart_old RENAME dst TO src;
ALTER TABLE chart_old RENAME was_src TO dst;
ALTER TABLE chart_old INHERIT chart;
INSERT INTO chart_old (src, dst) VALUES (3, 5004), (5004, 5005);
SELECT below(3) = below_cte(3), below(5002) = below_cte(5002), below(5005) = below_cte(5005);
ROLLBACK;
SELECT below(3) = below_cte(3), below(5002);
-- Any catalog change makes the next call rescan the pages, but not the calls after it.
BEGIN;
INSERT INTO chart VALUES (3, 5001);
SELECT below(3) = below_cte(3);
INSERT INTO chart VALUES (3, 5002);
SELECT below(3) = below_cte(3), rescans();
ALTER TABLE chart ADD note text DEFAULT 'new';
INSERT INTO chart VALUES (3, 5003);
SELECT below(3) = below_cte(3), rescans();
INSERT INTO chart VALUES (3, 5004);
SELECT below(3) = below_cte(3), rescans();
ROLLBACK;

-- A call whose query of pairs writes rows and searches itself: its own search has exactly the rows
-- that it sees.
CREATE FUNCTION pairs(v int, w int) RETURNS TABLE (a int, b int) LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  is_reachable bool;
BEGIN
  INSERT INTO chart VALUES (v, w), (w, w + 1);
  SELECT r.reachable INTO is_reachable FROM emogi_reachable('chart', format('VALUES (%s, %s)', v, w + 1)) r;
  RAISE WARNING '% is reachable inside: %', w + 1, is_reachable;
  RETURN QUERY VALUES (v, w), (v, w + 1), (v, 15), (1, 5001);
END $$;
BEGIN;
INSERT INTO chart VALUES (3, 5001);
SELECT * FROM emogi_reachable('chart', 'VALUES (3, 5001)');
INSERT INTO chart VALUES (3, 5002);
SELECT * FROM emogi_reachable('chart', 'VALUES (3, 5002)');
SELECT * FROM emogi_reachable('chart', 'SELECT * FROM pairs(3, 6001)');
SELECT * FROM emogi_reachable('chart', 'VALUES (3, 6001), (3, 6002), (3, 15), (1, 5001)');
INSERT INTO chart VALUES (6002, 6003);
SELECT * FROM emogi_reachable('chart', 'VALUES (3, 6003)');
SELECT rescans();
ROLLBACK;
DROP SCHEMA test_own_rows_catalogs CASCADE;
