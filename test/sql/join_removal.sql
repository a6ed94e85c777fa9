-- Plans in which the planner removes joins, so that fewer columns are used than the paths were
-- built for: streamed and collected rows are the same.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS emogi;
RESET client_min_messages;
CREATE SCHEMA test_join_removal;
SET search_path = test_join_removal, public;
\pset format unaligned
\pset tuples_only on
CREATE TABLE edges (src int, dst int);
INSERT INTO edges SELECT i, (i * 7 + 3) % 40 FROM generate_series(0, 59) i;
CREATE TABLE named (id int PRIMARY KEY, name text, parent int UNIQUE);
INSERT INTO named SELECT i, 'v' || i, i + 1 FROM generate_series(0, 24) i;
CREATE TABLE sources (id int PRIMARY KEY);
INSERT INTO sources SELECT i FROM generate_series(0, 9) i;
CREATE VIEW reach AS SELECT b.vertex, b.level, n.name, p.name AS parent
  FROM emogi_bfs('edges', 1) b LEFT JOIN named n ON n.id = b.vertex LEFT JOIN named p ON p.id = n.parent;
ANALYZE;

-- Each query, streamed and collected: both counts and the sum of a hash of the rows.
CREATE FUNCTION differs(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  results text[];
  result text;
BEGIN
  FOREACH result IN ARRAY ARRAY['on', 'off'] LOOP
    PERFORM set_config('emogi.enable_scan', result, true);
    EXECUTE format('SELECT count(*) || '' rows, '' || coalesce(sum(hashtext(q::text)::bigint), 0) FROM (%s) q', query) INTO result;
    results := results || result;
  END LOOP;
  RETURN CASE WHEN results[1] = results[2] THEN split_part(results[1], ',', 1) ELSE array_to_string(results, ' <> ') END;
END $$;

SELECT count(*) FROM emogi_bfs('edges', 1) x LEFT JOIN named n ON n.id = x.vertex;
SELECT sum(level) FROM emogi_bfs('edges', 1) x LEFT JOIN named n ON n.id = x.vertex;
SELECT count(*) FROM sources s, LATERAL emogi_bfs('edges', s.id) x LEFT JOIN named n ON n.id = x.vertex;

SELECT q, differs(q) FROM unnest(ARRAY[
  $$SELECT count(*) FROM emogi_bfs('edges', 1) x LEFT JOIN named n ON n.id = x.vertex$$,
  $$SELECT count(*) FROM reach$$,
  $$SELECT level, count(*) FROM reach GROUP BY level$$,
  $$SELECT level FROM reach GROUP BY GROUPING SETS ((level), ())$$,
  $$SELECT 1 FROM reach$$,
  $$SELECT max(name) FROM reach$$,
  $$SELECT count(*) FROM reach a JOIN reach b USING (vertex)$$,
  $$SELECT count(*) FROM named n LEFT JOIN emogi_bfs('edges', 1) x ON x.vertex = n.id$$,
  $$SELECT n.id FROM named n LEFT JOIN emogi_cc('edges') x ON x.vertex = n.id$$,
  $$SELECT count(*) FROM emogi_bfs('edges', 1) x LEFT JOIN emogi_cc('edges') c ON c.vertex = x.vertex$$,
  $$SELECT count(*) FROM emogi_ssnsp('edges', 1) x LEFT JOIN named n ON n.id = x.vertex LEFT JOIN named p ON p.id = x.level$$,
  $$SELECT count(*), sum(paths) FROM emogi_ssnsp('edges', 1) x LEFT JOIN named n ON n.id = x.vertex LEFT JOIN named p ON p.id = x.level$$,
  $$SELECT DISTINCT level FROM emogi_bfs('edges', 1) x LEFT JOIN named n ON n.id = x.vertex$$,
  $$SELECT count(*) FROM (SELECT x.vertex, coalesce(n.name, 'none') AS name FROM emogi_bfs('edges', 1) x LEFT JOIN named n ON n.id = x.vertex) y$$,
  $$SELECT count(*) FROM sources s, LATERAL emogi_bfs('edges', s.id) x LEFT JOIN named n ON n.id = x.vertex$$,
  $$SELECT s.id, count(*) FROM sources s, LATERAL emogi_bfs('edges', s.id) x LEFT JOIN named n ON n.id = x.vertex GROUP BY s.id$$,
  $$SELECT sum(y.level) FROM sources s, LATERAL (SELECT x.level FROM emogi_bfs('edges', s.id) x LEFT JOIN named n ON n.id = x.vertex) y$$,
  $$SELECT 1 FROM sources s, LATERAL emogi_bfs('edges', s.id) x LEFT JOIN named n ON n.id = x.vertex WHERE x.level = 2$$,
  $$SELECT a.id FROM named a JOIN named b ON a.id = b.id JOIN emogi_bfs('edges', 1) x ON x.vertex = b.id$$,
  $$SELECT count(*) FROM sources a JOIN sources b ON a.id = b.id, LATERAL emogi_bfs('edges', b.id) x$$,
  $$SELECT count(*) FROM sources s LEFT JOIN named n ON n.id = s.id, LATERAL emogi_bfs('edges', s.id) x$$,
  $$SELECT EXISTS (SELECT FROM emogi_bfs('edges', 1) x LEFT JOIN named n ON n.id = x.vertex)$$,
  $$SELECT count(*) FROM named WHERE id IN (SELECT x.vertex FROM emogi_bfs('edges', 1) x LEFT JOIN named n ON n.id = x.level)$$,
  $$SELECT count(*) OVER (PARTITION BY x.level) FROM emogi_bfs('edges', 1) x LEFT JOIN named n ON n.id = x.vertex$$,
  $$SELECT count(*) FROM (SELECT x.vertex FROM emogi_bfs('edges', 1) x LEFT JOIN named n ON n.id = x.vertex UNION ALL SELECT x.level FROM emogi_bfs('edges', 2) x LEFT JOIN named n ON n.id = x.vertex) u$$
]) q;

-- An order by vertex that was needed only by the join: rows of parallel workers are not merged by
-- it.
CREATE TABLE chain (src int, dst int);
INSERT INTO chain SELECT i, i + 1 FROM generate_series(1, 50000) i;
ANALYZE chain;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET enable_sort = off;
SELECT q, differs(q) FROM unnest(ARRAY[
  $$SELECT level FROM emogi_ssnsp('chain', 8) e LEFT JOIN named n ON n.id = e.vertex WHERE e.level = 2 GROUP BY GROUPING SETS ((e.level))$$,
  $$SELECT level FROM emogi_ssnsp('chain', 8) e LEFT JOIN named n ON n.id = e.vertex WHERE e.level = 2 GROUP BY e.level$$,
  $$SELECT count(*) FROM (SELECT DISTINCT level FROM emogi_bfs('chain', 8) e LEFT JOIN named n ON n.id = e.vertex) x$$,
  $$SELECT vertex FROM emogi_bfs('chain', 8) e LEFT JOIN named n ON n.id = e.vertex WHERE level < 5 ORDER BY vertex$$
]) q;

SET client_min_messages = warning;
DROP SCHEMA test_join_removal CASCADE;
