-- Sums over searches from many outer rows: thousands of rows are read ahead, and the answers are
-- those of single searches.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS emogi;
RESET client_min_messages;
CREATE SCHEMA test_lateral_many;
SET search_path = test_lateral_many, public;
SET max_parallel_workers_per_gather = 0;
SET jit = off;
\pset format unaligned
\pset tuples_only on
\pset null (null)

-- A random graph of 1,000 vertices, a chain of 90, a loop, a star, and a vertex without edges.
CREATE TABLE e AS
  SELECT (g * 7919 % 1000)::bigint AS src, (g * 104729 % 997)::bigint AS dst FROM generate_series(1, 1500) g
  UNION ALL SELECT 10000 + g, 10001 + g FROM generate_series(1, 90) g
  UNION ALL SELECT 7000, 7000
  UNION ALL SELECT 5000, 5000 + g FROM generate_series(1, 200) g;
ANALYZE e;

-- Outer rows, more than are read ahead: including duplicates, NULLs and sources without edges.
CREATE TABLE s AS
  SELECT g AS id, CASE WHEN g % 97 = 0 THEN NULL WHEN g % 89 = 0 THEN 1000000 + g WHEN g % 3 = 0 THEN 5000 + g % 201 ELSE (g * 31::bigint) % 1000 END AS v,
         g % 7 AS class
  FROM generate_series(1, 4990) g
  UNION ALL SELECT 5000 + g, 10000 + g, 8 FROM generate_series(1, 91) g
  UNION ALL SELECT 5200, 7000, 9;
ANALYZE s;

-- same(): are the rows of a query the same from sums of many searches and from single searches; how
-- is it planned, and how many are there?
CREATE FUNCTION same(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  line text;
  node text := 'rows';
  answers text[];
  count bigint;
BEGIN
  FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
    IF line ~ 'EmogiBatchAggregate' THEN node := 'sums'; END IF;
  END LOOP;
  FOREACH line IN ARRAY '{on,off}'::text[] LOOP
    PERFORM set_config('emogi.enable_batch', line, true);
    EXECUTE 'SELECT array_append($1, coalesce(string_agg(q::text, '';'' ORDER BY q::text), ''no rows'')), count(*) FROM (' || query || ') q'
      INTO answers, count USING answers;
  END LOOP;
  PERFORM set_config('emogi.enable_batch', 'on', true);
  RETURN concat_ws(', ', node, count || ' rows', CASE WHEN answers[1] <> answers[2] THEN 'DIFFERS: ' || left(answers[1], 200) || ' / ' || left(answers[2], 200) END);
END $$;

SELECT q, same(q) FROM unnest(ARRAY[
  'SELECT id, v, count(*), sum(level), avg(level), min(level), max(level) FROM s, LATERAL emogi_bfs(''e'', v) GROUP BY id, v',
  'SELECT class, count(*), sum(level), min(level), max(level) FROM s, LATERAL emogi_bfs(''e'', v, direction => ''both'') GROUP BY class',
  'SELECT v, count(*), sum(level) FROM s, LATERAL emogi_bfs(''e'', v, 2, ''in'') GROUP BY v',
  'SELECT v, count(*), min(level), max(level) FROM s, LATERAL emogi_bfs(''e'', v) WHERE level BETWEEN 2 AND 5 GROUP BY v',
  'SELECT count(*), avg(level), max(level) FROM s, LATERAL emogi_bfs(''e'', v) WHERE level >= 3',
  'SELECT class, count(*) FROM s, LATERAL emogi_bfs(''e'', v) WHERE level = 1 AND id > 1000 GROUP BY class HAVING count(*) > 3',
  'SELECT s.class, count(*), sum(level) FROM s JOIN s o ON o.id = s.id + 1, LATERAL emogi_bfs(''e'', o.v, 3) GROUP BY s.class',
  'SELECT v, count(*) FROM s, LATERAL emogi_bfs(''SELECT dst, src FROM e WHERE src < 5000'', v) GROUP BY v'
]) q;

-- Wide rows: only as many are read ahead as fit into work_mem.
SET work_mem = '64kB';
SELECT count(*), sum(n), max(l) FROM (
  SELECT id, t, count(*) AS n, max(level) AS l FROM (SELECT id, v, repeat(md5(id::text), 100) AS t FROM s OFFSET 0) s, LATERAL emogi_bfs('e', v) GROUP BY id, t) q;
RESET work_mem;

-- No outer rows, one, only NULLs; again for each row of another relation; equal sources.
SELECT count(*), sum(level) FROM s, LATERAL emogi_bfs('e', v) WHERE id < 0;
SELECT v, count(*), sum(level) FROM s, LATERAL emogi_bfs('e', v) WHERE id = 2 GROUP BY v;
SELECT count(*) FROM s, LATERAL emogi_bfs('e', v) WHERE v IS NULL;
SELECT x, (SELECT sum(level) FROM s, LATERAL emogi_bfs('e', v) WHERE class = x) FROM generate_series(7, 9) x ORDER BY x;
SELECT v, count(*), sum(level) FROM (SELECT 5000 + 0 * g AS v FROM generate_series(1, 5000) g) s, LATERAL emogi_bfs('e', v) GROUP BY v;
SELECT function, status, rows, levels FROM emogi_runs ORDER BY id DESC LIMIT 1;

SET client_min_messages = warning;
DROP SCHEMA test_lateral_many CASCADE;
