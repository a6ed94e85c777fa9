-- emogi_bfs for each row of an outer relation: a batch of searches returns the answers of single
-- searches.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS emogi;
DROP ROLE IF EXISTS regress_emogi_lateral;
RESET client_min_messages;
CREATE SCHEMA test_lateral;
SET search_path = test_lateral, public;
-- The costs of the methods disabled below would start it.
SET jit = off;
\set ECHO none
\i test/data/shapes.sql
\set ECHO all
\pset format unaligned
\pset tuples_only on
\pset null (null)

-- A sparse graph, and outer rows with duplicate sources, NULLs, and sources that are not vertices.
CREATE TABLE edges AS SELECT pick(i, 1, 300)::int AS src, pick(i, 2, 300)::int AS dst FROM generate_series(1, 350) i;
CREATE TYPE pair AS (a int, b text);
CREATE TABLE o AS
  SELECT i AS id, CASE WHEN i % 17 = 0 THEN NULL WHEN i % 5 = 0 THEN 7 ELSE pick(i, 3, 330) END AS x, pick(i, 4, 300)::int AS y,
         pick(i, 5, 300)::smallint AS s, pick(i, 6, 6)::int AS k, CASE WHEN i % 11 > 0 THEN ARRAY[y.y, NULL, pick(i, 7, 300), y.y + 1, -5] END AS arr,
         nullif('row ' || i, 'row 3') AS t, i / 7.0 AS n, ROW(i, 'it')::pair AS p
    FROM generate_series(1, 140) i, LATERAL (SELECT pick(i, 8, 300) AS y) y;
CREATE TABLE none (x bigint);
ANALYZE;

-- ways(): is a query planned as a batch, how many rows has it, and are they the same, in the same
-- order if it is defined, from a batch, from single scans and from PostgreSQL's function scans? An
-- error counts as an answer.
CREATE FUNCTION ways(query text, ordered bool DEFAULT true) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  engine text := current_setting('emogi.engine');
  batch bool := false;
  batches text[] := '{on,off,off}';
  scans text[] := '{on,on,off}';
  answers text[] := '{}';
  verdict text;
  rows text[];
  n bigint;
  r record;
BEGIN
  BEGIN
    PERFORM set_config('emogi.engine', 'cpu', false);
    FOR r IN EXECUTE 'EXPLAIN ' || query LOOP
      batch := batch OR r::text LIKE '%EmogiBatch%';
    END LOOP;
  EXCEPTION WHEN OTHERS THEN NULL;
  END;
  PERFORM set_config('emogi.engine', engine, false);
  FOR way IN 1 .. 3 LOOP
    PERFORM set_config('emogi.enable_batch', batches[way], false), set_config('emogi.enable_scan', scans[way], false);
    rows := '{}';
    verdict := NULL;
    BEGIN
      FOR r IN EXECUTE query LOOP
        rows := rows || r::text;
      END LOOP;
    EXCEPTION WHEN OTHERS THEN verdict := SQLSTATE || ' ' || SQLERRM;
    END;
    IF NOT ordered THEN
      rows := ARRAY(SELECT unnest(rows) COLLATE "C" ORDER BY 1);
    END IF;
    answers := answers || coalesce(verdict, rows::text);
    verdict := coalesce(verdict, cardinality(rows) || ' rows');
  END LOOP;
  PERFORM set_config('emogi.enable_batch', 'on', false), set_config('emogi.enable_scan', 'on', false);
  RETURN concat_ws(', ', CASE WHEN batch THEN 'batch' ELSE 'no batch' END, verdict,
                   CASE WHEN answers[2] <> answers[3] THEN 'SCANS DIFFER' END, CASE WHEN answers[1] <> answers[3] THEN 'BATCH DIFFERS' END);
END $$;

-- The shape of the plan.
SET emogi.engine = cpu;
SET enable_memoize = off;
EXPLAIN (COSTS OFF) SELECT o.id, b.* FROM o, LATERAL emogi_bfs('edges', o.x) b;
EXPLAIN (COSTS OFF) SELECT o.id, o.t || b.level FROM o, LATERAL emogi_bfs('edges', o.x + 1, 3, 'both') b WHERE level <= 2 AND vertex = ANY (o.arr) AND level < o.k AND o.id > 100;
EXPLAIN (COSTS OFF) SELECT o.id FROM o, LATERAL emogi_bfs('edges', o.x) b WHERE vertex = o.y AND level = 2 AND vertex IN (1, 2, 3);
EXPLAIN (COSTS OFF) SELECT o.id, b.vertex FROM o LEFT JOIN LATERAL emogi_bfs('edges', o.x) b ON true;
EXPLAIN (COSTS OFF) SELECT o.id, b.vertex FROM o, LATERAL emogi_bfs('edges', o.x, o.k) b;
EXPLAIN (COSTS OFF) SELECT o.id, b.vertex FROM o, LATERAL emogi_bfs('edges', o.x + (10 * random())::int) b;
SET emogi.enable_batch = off;
EXPLAIN (COSTS OFF) SELECT o.id, b.* FROM o, LATERAL emogi_bfs('edges', o.x) b;
RESET emogi.enable_batch;
SET emogi.engine = cuda;
EXPLAIN (COSTS OFF) SELECT o.id, b.vertex FROM o, LATERAL emogi_bfs('SELECT 1, 2', o.x) b;
RESET emogi.engine;
RESET enable_memoize;

-- Sources: duplicates, NULL, values that are not vertices, of every type, expressions.
SELECT count(*), count(DISTINCT x), count(*) FILTER (WHERE x IS NULL), count(*) FILTER (WHERE x > 299) FROM o;
SELECT ways('SELECT o.id, b.* FROM o, LATERAL emogi_bfs(''edges'', o.x) b');
SELECT ways('SELECT b.level, o.id FROM o CROSS JOIN LATERAL emogi_bfs(''edges'', o.y) b');
SELECT ways('SELECT b.vertex, o.id FROM o, emogi_bfs(''edges'', o.s) b');
SELECT ways('SELECT 1 FROM o, emogi_bfs(''edges'', o.s) b');
SELECT ways('SELECT o.id, b.* FROM o, LATERAL emogi_bfs(''edges'', o.x + 1) b');
SELECT ways('SELECT o.id, b.* FROM o, LATERAL emogi_bfs(''edges'', coalesce(o.x, 12)) b');
SELECT ways('SELECT o.id, b.* FROM o, LATERAL emogi_bfs(''edges'', CASE WHEN o.y % 2 = 0 THEN o.s END) b');
SELECT ways('SELECT o.id, b.* FROM o, LATERAL emogi_bfs(''edges'', o.arr[3]) b');
SELECT ways('SELECT o.id, b.* FROM o, LATERAL emogi_bfs(''edges'', (o.p).a) b');
SELECT ways('SELECT o.id, b.* FROM o, LATERAL emogi_bfs(''edges'', NULL::bigint + o.x) b');
SELECT ways('SELECT o.id, b.* FROM o, LATERAL emogi_bfs(''edges'', o.x + 1000000000000) b');
SELECT ways('SELECT o.id, b.* FROM o, LATERAL emogi_bfs(''edges'', 100 / (o.id - 120)) b');
SELECT ways('SELECT o.id, b.* FROM o, LATERAL emogi_bfs(''edges'', ARRAY[o.x]) b');
SELECT ways('SELECT o.id, b.* FROM o, LATERAL emogi_bfs(''edges'', ARRAY[o.x, o.y, NULL]) b');

-- Depth and direction, constant and variable.
SELECT d, depth, ways(format('SELECT o.id, b.* FROM o, LATERAL emogi_bfs(''edges'', o.x, %s, %L) b', depth, d))
  FROM unnest(ARRAY['out', 'in', 'BOTH', NULL]) d, unnest(ARRAY['0', '1', '3', '1000000000', 'NULL', '-1']) depth;
SELECT ways('SELECT o.id, b.* FROM o, LATERAL emogi_bfs(''edges'', o.x, o.k) b');
SELECT ways('SELECT o.id, b.* FROM o, LATERAL emogi_bfs(''edges'', o.x, direction => CASE WHEN o.id > 7 THEN ''in'' END) b');
SELECT ways('SELECT o.id, b.* FROM o, LATERAL emogi_bfs(CASE WHEN o.id > 7 THEN ''edges'' ELSE ''edges(dst, src)'' END, o.x) b');
SELECT ways('SELECT o.id, b.* FROM o, LATERAL emogi_bfs(''edges'', o.x, (SELECT min(k) + 2 FROM o), lower(''IN'')) b');
SELECT ways('SELECT o.id, b.* FROM o, LATERAL emogi_bfs((SELECT ''edges''), o.x) b');
SELECT ways('SELECT o.id, b.* FROM o, LATERAL emogi_bfs(''edges'', o.x, direction => ''sideways'') b');
SELECT ways('SELECT o.id, b.* FROM o, LATERAL emogi_bfs(NULL, o.x) b');

-- The outer relation.
SELECT ways('SELECT b.* FROM none, LATERAL emogi_bfs(''edges'', none.x) b');
SELECT ways('SELECT o.id, b.* FROM o, LATERAL emogi_bfs(''edges'', o.x) b WHERE o.id = 1');
SELECT ways('SELECT o.id, b.* FROM o, LATERAL emogi_bfs(''edges'', o.x) b WHERE o.id <= ' || n) FROM unnest(ARRAY[63, 64, 65, 128, 129]) n;
SELECT ways('SELECT o.id, q.id, b.* FROM o JOIN o q ON q.y = o.s, LATERAL emogi_bfs(''edges'', o.x + q.x) b', false);
SELECT ways('SELECT o.id, q.id, b.* FROM o LEFT JOIN o q ON q.id = o.id + 50 AND q.k > 2, LATERAL emogi_bfs(''edges'', q.x) b', false);
SELECT ways('SELECT o.id, b.* FROM (SELECT * FROM o ORDER BY n DESC LIMIT 100) o, LATERAL emogi_bfs(''edges'', o.x) b');
SELECT ways('SELECT o.*, b.* FROM (SELECT x % 100 AS m, count(*) FROM o GROUP BY 1 ORDER BY 1) o, LATERAL emogi_bfs(''edges'', o.m) b');
SELECT ways('SELECT o.*, b.* FROM (SELECT DISTINCT s FROM o ORDER BY s) o, LATERAL emogi_bfs(''edges'', s) b');
SELECT ways('SELECT o.*, b.* FROM (SELECT id, lag(x) OVER (ORDER BY id) AS l FROM o ORDER BY id) o, LATERAL emogi_bfs(''edges'', l) b');
SELECT ways('SELECT v.*, b.* FROM (VALUES (1, ''a''), (NULL, ''b''), (3, ''c''), (1, ''d'')) v(x, t), LATERAL emogi_bfs(''edges'', v.x) b');
SELECT ways('WITH c AS MATERIALIZED (SELECT * FROM o WHERE k > 1) SELECT c.id, b.* FROM c, LATERAL emogi_bfs(''edges'', c.x) b');
SELECT ways('SELECT a.vertex, b.* FROM emogi_bfs(''edges'', 7) a, LATERAL emogi_bfs(''edges'', a.vertex, 2) b');
SELECT ways('SELECT a.*, b.* FROM emogi_cc(''edges'') a, LATERAL emogi_bfs(''edges'', a.component) b');
SELECT ways('SELECT i, b.* FROM generate_series(-50, 350) i, LATERAL emogi_bfs(''edges'', i) b');
SELECT ways('SELECT i, b.* FROM o, unnest(o.arr) WITH ORDINALITY u(e, i), LATERAL emogi_bfs(''edges'', e, 2) b', false);
SELECT ways('SELECT o.ctid, o.tableoid::regclass, b.* FROM o, LATERAL emogi_bfs(''edges'', o.x) b');
SELECT ways('SELECT id, b.* FROM o TABLESAMPLE bernoulli (50) REPEATABLE (1), LATERAL emogi_bfs(''edges'', x) b');
SELECT ways('SELECT o.id, b.* FROM (SELECT id, x FROM o UNION ALL SELECT id, y FROM o) o, LATERAL emogi_bfs(''edges'', x) b');
SELECT ways('SELECT b.* FROM (SELECT) o, LATERAL emogi_bfs(''edges'', 7) b');
SELECT ways('SELECT o.id, b.* FROM (o FULL JOIN (SELECT y AS z FROM o) q ON q.z = o.s), LATERAL emogi_bfs(''edges'', coalesce(o.x, q.z)) b', false);
CREATE TABLE parts (id int, x bigint) PARTITION BY RANGE (id);
CREATE TABLE part1 PARTITION OF parts FOR VALUES FROM (0) TO (100);
CREATE TABLE part2 (x bigint, extra text, id int);
ALTER TABLE part2 DROP COLUMN extra;
ALTER TABLE parts ATTACH PARTITION part2 FOR VALUES FROM (100) TO (1000);
INSERT INTO parts SELECT id, x FROM o;
ANALYZE parts;
SELECT ways('SELECT p.id, b.* FROM parts p, LATERAL emogi_bfs(''edges'', p.x) b');
SELECT ways('SELECT p.tableoid::regclass, p, b.vertex FROM parts p, LATERAL emogi_bfs(''edges'', p.x, 1) b WHERE id > 50');

-- Outer columns of every kind are passed through, and used together with those of the function.
SELECT ways('SELECT o.t, o.n, o.arr, o.p, o.x, b.* FROM o, LATERAL emogi_bfs(''edges'', o.x) b');
SELECT ways('SELECT b.level, o.t, b.vertex, o.p, o.t AS again FROM o, LATERAL emogi_bfs(''edges'', o.x) b');
SELECT ways('SELECT b.vertex, o.t, b.vertex AS again, b.level FROM o, LATERAL emogi_bfs(''edges'', o.x) b');
SELECT ways('WITH kept AS MATERIALIZED (SELECT o.t, b.vertex, o.arr, b.level FROM o, LATERAL emogi_bfs(''edges'', o.x, 2) b) SELECT * FROM kept');
SELECT ways('SELECT o.p, b.vertex, lag(b.vertex) OVER (ORDER BY o.id, b.vertex), lag(o.t) OVER (ORDER BY o.id, b.vertex) FROM o, LATERAL emogi_bfs(''edges'', o.x, 1) b');
SELECT ways('SELECT DISTINCT ON (o.id) o.id, o.t, b.vertex, b.level FROM o, LATERAL emogi_bfs(''edges'', o.x) b ORDER BY o.id, b.level DESC, b.vertex');
SELECT ways('SELECT x.* FROM o, LATERAL (SELECT b.vertex, o.t, b.level FROM emogi_bfs(''edges'', o.x) b ORDER BY b.level DESC, b.vertex LIMIT 3) x');
CREATE TEMP TABLE kept (vertex bigint, t text, level int, p pair);
INSERT INTO kept SELECT b.vertex, o.t, b.level, o.p FROM o, LATERAL emogi_bfs('edges', o.x, 2) b;
SET emogi.enable_batch = off;
SELECT count(*) FROM (TABLE kept EXCEPT ALL SELECT b.vertex, o.t, b.level, o.p FROM o, LATERAL emogi_bfs('edges', o.x, 2) b) differ;
SELECT count(*) FROM (SELECT b.vertex, o.t, b.level, o.p FROM o, LATERAL emogi_bfs('edges', o.x, 2) b EXCEPT ALL TABLE kept) differ;
RESET emogi.enable_batch;
SELECT ways('SELECT o, b.vertex FROM o, LATERAL emogi_bfs(''edges'', o.x) b');
SELECT ways('SELECT q, b.vertex FROM (SELECT id, x, t FROM o OFFSET 0) q, LATERAL emogi_bfs(''edges'', q.x) b');
SELECT ways('SELECT o.id, b FROM o, LATERAL emogi_bfs(''edges'', o.x) b');
SELECT ways('SELECT o.id, to_jsonb(b) FROM o, LATERAL emogi_bfs(''edges'', o.x, 1) b');
SELECT ways('SELECT o.x + b.vertex, o.n * b.level, o.t || b.vertex, b.level = ANY (o.arr), o.arr || b.vertex, (o.p).b FROM o, LATERAL emogi_bfs(''edges'', o.x) b');
SELECT ways('SELECT repeat(o.t, 1000), b.* FROM o, LATERAL emogi_bfs(''edges'', o.x, 1) b');
SELECT ways('SELECT o.id, b.*, (SELECT count(*) FROM edges e WHERE e.src = b.vertex AND e.dst <> o.y) FROM o, LATERAL emogi_bfs(''edges'', o.x, 2) b WHERE o.id < 80');
SELECT ways('SELECT o.id, generate_series(1, b.level) FROM o, LATERAL emogi_bfs(''edges'', o.x, 3) b');
SELECT ways('SELECT v, l, id FROM o, LATERAL emogi_bfs(''edges'', x) AS b(v, l)');

-- Conditions. (A nested loop with Memoize may seem cheaper.)
SET enable_nestloop = off;
SELECT c, ways('SELECT o.id, b.* FROM o, LATERAL emogi_bfs(''edges'', o.x) b WHERE ' || c) FROM unnest(ARRAY[
  'level <= 2', 'level < 2', 'level = 2', 'level > 2', '2 >= level', 'level < 0', 'level = -1', 'level <= 3000000000', 'level < NULL', 'level < 3::smallint',
  'level < o.k', 'level = o.k', 'level <= 4 AND level < o.k', 'level BETWEEN 1 AND 3', 'level < 2.5', 'level IN (1, 3)', 'level <= (SELECT max(k) - 2 FROM o)',
  'vertex = o.y', 'vertex = o.x', 'o.s = vertex', 'vertex = o.y + 1', 'vertex = 25', 'vertex = 1000', 'vertex = NULL', 'vertex = o.y AND vertex = o.s',
  'vertex IN (1, 25, 26, 27, 28, 290, 1000)', 'vertex IN (o.x, o.y, o.s)', 'vertex = ANY (o.arr)', 'vertex = ANY (o.arr) AND vertex = ANY (''{1,2,3}'')',
  'vertex = ANY (''{}'')', 'vertex = ANY (NULL)', 'vertex = ANY (array_append(o.arr, o.x))', 'vertex = ANY (ARRAY(SELECT dst FROM edges))', 'vertex <> ALL (o.arr)',
  'vertex > o.x', 'vertex > o.x AND level < o.k AND vertex IN (30, 60, 90, o.y, o.s, 230) AND level <= 5', 'vertex::int % 2 = o.id % 2', 'vertex IS NULL',
  'vertex = o.y OR level = 1', 'NOT vertex = o.y', 'o.k > 3', 'o.k > 3 AND vertex = o.y', 'o.id + level = 20', 'o.x = 7 AND vertex = o.x', 'false', 'o.id < 0',
  'current_setting(''emogi.enable_batch'') = ''nonsense''', 'now() > ''2000-01-01''', '(SELECT count(*) FROM none) = 0', '(SELECT count(*) FROM none) > 0',
  'vertex IN (SELECT dst FROM edges WHERE src < 50)', 'EXISTS (SELECT FROM edges WHERE src = vertex)', 'NOT EXISTS (SELECT FROM edges WHERE src = vertex AND dst > o.y)',
  'vertex = (SELECT min(dst) FROM edges WHERE src = o.x)', 'vertex > (SELECT avg(dst) FROM edges WHERE src = b.level)', 'o.x = (SELECT max(src) FROM edges WHERE dst = vertex)',
  '(o.id, vertex) IN (SELECT id, y FROM o)', 'random() >= 0', 'vertex = o.y + (0 * random())::int', 'level <= 2 + (0 * random())::int']) WITH ORDINALITY c(c, i) ORDER BY i;

RESET enable_nestloop;

-- Nodes above the batch.
SELECT ways('SELECT o.id, b.* FROM o, LATERAL emogi_bfs(''edges'', o.x) b LIMIT 1');
SELECT ways('SELECT o.id, b.* FROM o, LATERAL emogi_bfs(''edges'', o.x) b LIMIT 1000');
SELECT ways('SELECT o.id, b.* FROM o, LATERAL emogi_bfs(''edges'', o.x) b OFFSET 900 LIMIT 20');
SELECT ways('SELECT o.id, b.* FROM o, LATERAL emogi_bfs(''edges'', o.x) b LIMIT 0');
SELECT ways('SELECT o.id, b.* FROM o, LATERAL emogi_bfs(''edges'', o.x) b ORDER BY b.level DESC, o.id DESC, b.vertex LIMIT 20');
SELECT ways('SELECT o.id, count(*), sum(level), min(vertex) FROM o, LATERAL emogi_bfs(''edges'', o.x) b GROUP BY o.id ORDER BY o.id');
SELECT ways('SELECT x, count(*), array_agg(DISTINCT level) FROM o, LATERAL emogi_bfs(''edges'', o.x) b GROUP BY GROUPING SETS ((x), ()) ORDER BY x');
SELECT ways('SELECT o.id, vertex, rank() OVER (PARTITION BY o.id ORDER BY level, vertex) FROM o, LATERAL emogi_bfs(''edges'', o.x, 3) b ORDER BY 1, 2');
SELECT ways('SELECT DISTINCT level, vertex FROM o, LATERAL emogi_bfs(''edges'', o.x) b ORDER BY 1, 2');
SELECT ways('SELECT DISTINCT ON (vertex) vertex, level, o.id FROM o, LATERAL emogi_bfs(''edges'', o.x) b ORDER BY vertex, level DESC, o.id');
SELECT ways('SELECT o.id, vertex FROM o, LATERAL emogi_bfs(''edges'', o.x) b UNION ALL SELECT -o.id, vertex FROM o, LATERAL emogi_bfs(''edges'', o.y, direction => ''in'') b');
SELECT ways('SELECT o.id, vertex FROM o, LATERAL emogi_bfs(''edges'', o.x) b EXCEPT SELECT o.id, vertex FROM o, LATERAL emogi_bfs(''edges'', o.y) b', false);
SELECT ways('SELECT o.id, level, q.t FROM o, LATERAL emogi_bfs(''edges'', o.x) b JOIN o q ON q.id = b.vertex', false);
SELECT ways('SELECT o.id, level, q.t FROM o CROSS JOIN LATERAL emogi_bfs(''edges'', o.x) b LEFT JOIN o q ON q.id = b.vertex AND q.k > o.k', false);
SELECT ways('SELECT b.vertex, b.level, o.id FROM o CROSS JOIN LATERAL emogi_bfs(''edges'', o.x) b, emogi_cc(''edges'') c WHERE c.vertex = b.vertex AND c.component < o.y', false);
SELECT ways('WITH r AS MATERIALIZED (SELECT o.id, b.* FROM o, LATERAL emogi_bfs(''edges'', o.x) b) SELECT * FROM r UNION ALL SELECT * FROM r');
SELECT ways('WITH RECURSIVE r(v, i) AS (SELECT x, 0 FROM o WHERE id < 20 UNION SELECT vertex, i + 1 FROM r, LATERAL emogi_bfs(''edges'', v, 1) b WHERE i < 4) SELECT * FROM r', false);
SELECT ways('SELECT * FROM o LEFT JOIN (SELECT p.id, b.level + 1 AS l FROM o p, LATERAL emogi_bfs(''edges'', p.x, 2) b WHERE b.vertex > 50) q ON q.id = o.id + 10', false);

-- Outer joins do not use batches.
SELECT ways('SELECT o.id, b.* FROM o LEFT JOIN LATERAL emogi_bfs(''edges'', o.x) b ON true');
SELECT ways('SELECT o.id, b.* FROM o LEFT JOIN LATERAL emogi_bfs(''edges'', o.x) b ON vertex = o.y AND level <= 4');
SELECT ways('SELECT o.id, b.* FROM o LEFT JOIN LATERAL emogi_bfs(''edges'', o.x) b ON o.k > 3');

-- Several batches in one plan.
SELECT ways('SELECT o.id, a.vertex, b.* FROM o, LATERAL emogi_bfs(''edges'', o.x, 2) a, LATERAL emogi_bfs(''edges'', a.vertex, 2) b');
SELECT ways('SELECT o.id, a.vertex, b.* FROM o, LATERAL emogi_bfs(''edges'', o.x, 2) a, LATERAL emogi_bfs(''edges'', o.y, 2, ''in'') b', false);
SELECT ways('SELECT o.id, a.level, b.level FROM o, LATERAL emogi_bfs(''edges'', o.x, 9) a, LATERAL emogi_bfs(''edges'', o.y) b WHERE a.vertex = b.vertex', false);
SELECT ways('SELECT o.id, a.level, b.level FROM o, LATERAL emogi_bfs(''edges'', o.x, 3) a, LATERAL emogi_bfs(''edges'', a.vertex + o.x, 3) b WHERE b.vertex > a.vertex');

-- In subqueries, which are executed again with other parameters.
SET enable_nestloop = off;
SELECT ways('SELECT id, (SELECT count(*) FROM o, LATERAL emogi_bfs(''edges'', o.x, m.k) b WHERE o.id < 50) FROM o m WHERE m.id < 6 OR m.id = 30');
SELECT ways('SELECT id, (SELECT sum(vertex * level) FROM o, LATERAL emogi_bfs(''edges'', o.x) b WHERE level <= m.k AND vertex = ANY (m.arr)) FROM o m WHERE m.id < 8');
SELECT ways('SELECT id, ARRAY(SELECT b.vertex FROM o, LATERAL emogi_bfs(''edges'', o.x + m.id, 2) b WHERE o.id % 10 = m.k) FROM o m WHERE m.id < 12');
SELECT ways('SELECT id, (SELECT sum(level) FROM o, LATERAL emogi_bfs(''edges'', o.x, direction => CASE WHEN m.k > 2 THEN ''in'' END) b WHERE vertex = m.y) FROM o m WHERE m.id < 8');
SELECT ways('SELECT id, (SELECT b.vertex FROM o, LATERAL emogi_bfs(''edges'', o.x) b WHERE o.id >= m.id AND level = 3 LIMIT 1) FROM o m WHERE m.id < 8');
SELECT ways('SELECT id FROM o m WHERE EXISTS (SELECT FROM o, LATERAL emogi_bfs(''edges'', o.x, 2) b WHERE b.vertex = m.id AND o.k = m.k)', false);
SELECT ways('SELECT id FROM o m WHERE NOT EXISTS (SELECT FROM o, LATERAL emogi_bfs(''edges'', o.x, 2) b WHERE b.vertex = m.id)', false);
SELECT ways('SELECT id FROM o m WHERE id IN (SELECT vertex FROM o, LATERAL emogi_bfs(''edges'', o.x, 1) b WHERE o.k < 2)', false);
SELECT ways('SELECT id FROM o m WHERE id NOT IN (SELECT vertex FROM o, LATERAL emogi_bfs(''edges'', o.x, 1) b WHERE o.k < m.k) AND m.id < 8 ORDER BY id');
SELECT ways('SELECT id FROM o m WHERE id < 8 AND m.y > ALL (SELECT vertex FROM o, LATERAL emogi_bfs(''edges'', o.x, m.k) b WHERE o.id < 30 AND vertex < m.x) ORDER BY id');
SELECT ways('SELECT m.id, q.* FROM o m, LATERAL (SELECT count(*), sum(level) FROM o, LATERAL emogi_bfs(''edges'', o.x, m.k) b WHERE o.id < 100 AND b.vertex < m.y) q WHERE m.id < 8');
SELECT ways('SELECT m.id, q.* FROM o m, LATERAL (SELECT o.id, b.vertex FROM o, LATERAL emogi_bfs(''edges'', o.x) b WHERE o.id < m.id LIMIT 5) q WHERE m.id < 8');
SELECT ways('SELECT m.id, q.* FROM o m, LATERAL (SELECT p.id AS p, b.vertex FROM o p, LATERAL emogi_bfs(''edges'', p.x + m.k, 2) b WHERE p.id < 20) q WHERE m.id < 8', false);
SELECT ways('SELECT id, (SELECT count(*) FROM none, LATERAL emogi_bfs(''edges'', none.x, m.k) b) FROM o m WHERE m.id < 8');

-- Prepared statements, with generic plans.
SET plan_cache_mode = force_generic_plan;
PREPARE near(int, bigint, text) AS SELECT count(*), sum(level), sum(vertex * o.id) FROM o, LATERAL emogi_bfs('edges', o.x + $2, $1, $3) b WHERE o.id < $1 * 40;
EXECUTE near(2, 0, 'out');
EXECUTE near(4, 1, 'in');
EXECUTE near(NULL, 1, 'in');
EXECUTE near(2, NULL, NULL);
EXECUTE near(-1, 1, NULL);
EXECUTE near(1, 1, 'back');
PREPARE few(bigint[], bigint, text) AS SELECT count(*), sum(level), sum(vertex * o.id) FROM o, LATERAL emogi_bfs($3, o.x) b WHERE vertex = ANY ($1) AND level < $2;
EXECUTE few('{1,2,3,4,5,6,7,8,9,10,11,12,13}', 6, 'edges');
EXECUTE few('{}', 6, 'edges');
EXECUTE few(NULL, 6, 'edges');
EXECUTE few('{13,NULL,12}', NULL, 'edges');
EXECUTE few('{13,NULL,12}', 100, 'edges(dst, src)');
EXECUTE few('{1}', 100, 'missing');
SET emogi.enable_batch = off;
DEALLOCATE ALL;
PREPARE near(int, bigint, text) AS SELECT count(*), sum(level), sum(vertex * o.id) FROM o, LATERAL emogi_bfs('edges', o.x + $2, $1, $3) b WHERE o.id < $1 * 40;
EXECUTE near(2, 0, 'out');
EXECUTE near(4, 1, 'in');
PREPARE few(bigint[], bigint, text) AS SELECT count(*), sum(level), sum(vertex * o.id) FROM o, LATERAL emogi_bfs($3, o.x) b WHERE vertex = ANY ($1) AND level < $2;
EXECUTE few('{1,2,3,4,5,6,7,8,9,10,11,12,13}', 6, 'edges');
EXECUTE few('{13,NULL,12}', 100, 'edges(dst, src)');
DEALLOCATE ALL;
RESET emogi.enable_batch;
RESET plan_cache_mode;

-- Cursors: all rows, some, back and forth, closed early, held, concurrent, over the end of a
-- subtransaction.
CREATE VIEW joined AS SELECT o.id, b.vertex, b.level FROM o, LATERAL emogi_bfs('edges', o.x, 2) b;
SELECT count(*), sum(id), sum(vertex), sum(level) FROM joined;
BEGIN;
DECLARE a NO SCROLL CURSOR FOR SELECT * FROM joined;
DECLARE c SCROLL CURSOR FOR SELECT * FROM joined;
FETCH 2 FROM a;
FETCH 3 FROM c;
MOVE 300 IN a;
MOVE FORWARD ALL IN c;
FETCH 2 FROM a;
FETCH BACKWARD 2 FROM c;
FETCH ABSOLUTE 3 FROM c;
CLOSE c;
SAVEPOINT s;
FETCH 1 FROM a;
DECLARE d CURSOR FOR SELECT * FROM joined;
FETCH 1 FROM d;
ROLLBACK TO s;
FETCH 1 FROM a;
FETCH 1 FROM d;
ROLLBACK TO s;
MOVE FORWARD ALL IN a;
FETCH 1 FROM a;
DECLARE e CURSOR FOR SELECT * FROM joined;
SAVEPOINT t;
FETCH 1 FROM e;
RELEASE t;
FETCH 1 FROM e;
DECLARE h CURSOR WITH HOLD FOR SELECT * FROM joined ORDER BY id DESC, vertex LIMIT 5;
COMMIT;
FETCH 2 FROM h;
CLOSE h;
SELECT count(*) FROM emogi_progress;
-- Eight thousand outer rows leave no memory allocated.
SET emogi.engine = cpu;
BEGIN;
DECLARE c CURSOR FOR SELECT 1 FROM generate_series(1, 8100) i, LATERAL emogi_bfs('edges', i % 300, 1) b
  WHERE vertex = ANY (array_cat(ARRAY[i % 300], (SELECT array_agg(dst) FROM edges)));
MOVE 8000 IN c;
SELECT sum(total_bytes) < 8 << 20 FROM pg_backend_memory_contexts WHERE name IN ('ExecutorState', 'ExprContext', 'expanded array', 'emogi outer rows', 'emogi keys', 'emogi run');
COMMIT;
RESET emogi.engine;
-- A failing subtransaction does not affect the batch of an outer loop, nor does a commit.
CREATE FUNCTION walk() RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  r record;
  n int := 0;
  caught int := 0;
BEGIN
  FOR r IN SELECT * FROM joined LOOP
    n := n + 1;
    BEGIN
      PERFORM 1 / (n % 50);
      PERFORM count(*) FROM emogi_bfs('edges', r.vertex, 1) WHERE n % 10 = 0;
    EXCEPTION WHEN division_by_zero THEN caught := caught + 1;
    END;
  END LOOP;
  RETURN format('%s rows, %s errors', n, caught);
END $$;
SELECT walk();
DO $$
DECLARE
  r record;
  n int := 0;
BEGIN
  FOR r IN SELECT * FROM joined LOOP
    n := n + 1;
    IF n % 100 = 0 THEN COMMIT; END IF;
    EXIT WHEN n = 450;
  END LOOP;
END $$;

-- Statements that write the rows of a batch.
CREATE TABLE made AS SELECT * FROM joined;
INSERT INTO made SELECT o.id, vertex, level FROM o, LATERAL emogi_bfs('edges', o.x, 2) b WHERE b.level = 1 ORDER BY o.id, vertex;
SELECT count(*), sum(id), sum(vertex), sum(level) FROM made;
UPDATE made SET level = -1 WHERE (id, vertex) IN (SELECT o.id, b.vertex FROM o, LATERAL emogi_bfs('edges', o.x, 2) b WHERE b.level = 2);
UPDATE made SET level = -2 FROM o, LATERAL emogi_bfs('edges', o.x, 1) b WHERE made.id = o.id AND made.vertex = b.vertex AND b.level = 1;
DELETE FROM made USING o, LATERAL emogi_bfs('edges', o.x, 0) b WHERE made.id = o.id AND made.vertex = b.vertex;
SELECT level, count(*) FROM made GROUP BY level ORDER BY level;
SELECT count(*) FROM (SELECT o.id FROM o, LATERAL emogi_bfs('edges', o.x, 1) b FOR UPDATE OF o) x;
CREATE FUNCTION of(bigint) RETURNS TABLE (id int, n bigint) LANGUAGE sql STABLE AS
  'SELECT o.id, count(*) FROM o, LATERAL emogi_bfs(''edges'', o.x + $1) b GROUP BY o.id';
SELECT sum(n), count(*) FROM of(0), LATERAL (SELECT 1) one;
SELECT d, (SELECT sum(n) FROM of(d)) FROM generate_series(0, 2) d;

-- Levels beyond the limit of a pass: before, after and between others.
CREATE TABLE deep AS SELECT i AS src, i + 1 AS dst FROM generate_series(1, 299) i UNION ALL SELECT 1000 + i, 1000 + i + i % 9 FROM generate_series(1, 100) i;
ANALYZE deep;
SELECT ways('SELECT i, b.* FROM generate_series(1, 100) i, LATERAL emogi_bfs(''deep'', i) b');
SELECT ways('SELECT i, b.* FROM generate_series(120, 20, -1) i, LATERAL emogi_bfs(''deep'', i) b');
SELECT ways('SELECT i, b.* FROM generate_series(40, 120) i, LATERAL emogi_bfs(''deep'', i) b WHERE vertex IN (1, i, 60, 293, 294, 295, 296, 300)');
SELECT ways('SELECT i, b.* FROM generate_series(200, 300) i, LATERAL emogi_bfs(''deep'', 1 + i / 64) b WHERE vertex = i');
SELECT ways('SELECT i, b.* FROM generate_series(1, 130) i, LATERAL emogi_bfs(''deep'', i % 3 * 1000 + i % 100, direction => ''both'') b');
SELECT depth, ways(format('SELECT i, b.* FROM generate_series(1, 10) i, LATERAL emogi_bfs(''deep'', i, %s) b', depth)) FROM unnest(ARRAY[252, 253, 254, 255, 256]) depth;
SELECT depth, ways(format('SELECT i, b.* FROM generate_series(1, 10) i, LATERAL emogi_bfs(''deep'', i) b WHERE level <= %s', depth)) FROM unnest(ARRAY[253, 254, 255]) depth;
SELECT m, (SELECT max(level) FROM generate_series(1, 20) i, LATERAL emogi_bfs('deep', i + 1000 * (m % 2)) b) FROM generate_series(0, 3) m;
SELECT max(a.level), max(b.level), count(*) FROM generate_series(1000, 1010) i, LATERAL emogi_bfs('deep', i) a, LATERAL emogi_bfs('deep', a.vertex - 1000) b;

-- Graphs of every kind: keys of every size and sign, loops, parallel edges, NULL ends, no edges; queries and views.
CREATE TABLE wide (src bigint, dst bigint);
INSERT INTO wide VALUES (-9223372036854775808, 9223372036854775807), (9223372036854775807, 0), (0, -1), (-1, 4294967296), (4294967296, -4294967297), (NULL, 5), (6, NULL), (0, 0), (0, -1);
SELECT v, b.* FROM (VALUES (0), (-9223372036854775808), (NULL), (5), (9223372036854775807), (-1)) s(v), LATERAL emogi_bfs('wide', v) b WHERE level <= 2;
SELECT ways('SELECT o.id, b.* FROM o, LATERAL emogi_bfs(''wide'', (o.id % 5 - 1) * 4294967296, direction => ''both'') b');
SELECT ways('SELECT v, b.* FROM (SELECT src FROM wide UNION ALL SELECT dst FROM wide) w(v), LATERAL emogi_bfs(''wide'', v) b WHERE vertex IN (v, -9223372036854775808, 9223372036854775807, -1)');
CREATE VIEW edge_view AS SELECT dst AS source, src AS target FROM edges WHERE src <> 44;
SELECT ways('SELECT o.id, b.* FROM o, LATERAL emogi_bfs(''edge_view'', o.x) b');
SELECT ways('SELECT o.id, b.* FROM o, LATERAL emogi_bfs(''SELECT src * 2, dst * 2 FROM edges'', o.x) b');
SELECT ways('SELECT o.id, b.* FROM o, LATERAL emogi_bfs(''SELECT i, i FROM generate_series(1, 100) i'', o.x) b');
SELECT ways('SELECT o.id, b.* FROM o, LATERAL emogi_bfs(''SELECT 0, i FROM generate_series(1, 300) i'', o.x, direction => ''both'') b');
SELECT ways('SELECT o.id, b.* FROM o, LATERAL emogi_bfs(''SELECT 1, 2 WHERE false'', o.x) b');
SELECT ways('SELECT none.*, b.* FROM o, LATERAL emogi_bfs(''none(x, x)'', o.x) b, none');
CREATE TABLE empty (src int, dst int);
SELECT ways('SELECT o.id, b.* FROM o, LATERAL emogi_bfs(''empty'', o.x) b');

-- Own changes.
BEGIN;
DELETE FROM edges WHERE src > 250;
INSERT INTO edges SELECT 7, i FROM generate_series(500, 520) i;
INSERT INTO o (id, x) SELECT i, 500 FROM generate_series(500, 600) i;
SELECT ways('SELECT o.id, b.* FROM o, LATERAL emogi_bfs(''edges'', o.x) b');
SAVEPOINT s;
DELETE FROM edges;
SELECT ways('SELECT o.id, b.* FROM o, LATERAL emogi_bfs(''edges'', o.x) b');
ROLLBACK TO s;
SELECT count(*), sum(level) FROM o, LATERAL emogi_bfs('edges', o.x) b;
ROLLBACK;
SELECT count(*), sum(level) FROM o, LATERAL emogi_bfs('edges', o.x) b;

-- Errors: with and without outer rows.
SELECT ways('SELECT none.x, b.* FROM none, LATERAL emogi_bfs(''missing'', none.x) b');
SELECT ways('SELECT o.x, b.* FROM o, LATERAL emogi_bfs(''missing'', o.x) b');
SELECT ways('SELECT o.x, b.* FROM o, LATERAL emogi_bfs(''missing'', o.x) b WHERE o.id < 0');
SELECT ways('SELECT o.x, b.* FROM o, LATERAL emogi_bfs(''SELECT no FROM edges'', o.x) b');
SELECT ways('SELECT none.x, b.* FROM none, LATERAL emogi_bfs(''edges'', none.x, -1) b');
SELECT ways('SELECT none.x, b.* FROM none, LATERAL emogi_bfs(''edges'', none.x, direction => ''no'') b');
SELECT ways('SELECT o.x, b.* FROM o, LATERAL emogi_bfs(''edges'', o.x) b WHERE 1 / (vertex - 25) > -2');
SELECT ways('SELECT o.x, b.* FROM o, LATERAL emogi_bfs(''edges'', o.x) b WHERE vertex = 100 / (o.id - 100)');
SELECT ways('SELECT o.x, 1 / (id - 77) FROM o, LATERAL emogi_bfs(''edges'', o.x) b');
SELECT ways('SELECT o.x, b.* FROM (SELECT nullif(i, i) AS x FROM generate_series(1, 100) i) o, LATERAL emogi_bfs(''missing'', o.x) b');
SELECT ways('SELECT o.x, b.* FROM (SELECT nullif(i, i) AS x FROM generate_series(1, 100) i) o, LATERAL emogi_bfs(''SELECT 1 / (i - 5), i FROM generate_series(1, 9) i'', o.x) b');

-- Privileges, row security, security barriers.
CREATE ROLE regress_emogi_lateral;
GRANT USAGE ON SCHEMA test_lateral TO regress_emogi_lateral;
GRANT SELECT ON o, none TO regress_emogi_lateral;
ALTER TABLE o ENABLE ROW LEVEL SECURITY;
CREATE POLICY few ON o TO regress_emogi_lateral USING (id % 4 = 0);
CREATE FUNCTION leak(text) RETURNS bool LANGUAGE plpgsql COST 0.0000001 AS $$ BEGIN RAISE NOTICE 'leaked %', $1; RETURN true; END $$;
CREATE VIEW guarded WITH (security_barrier) AS SELECT o.id, b.vertex, b.level FROM o, LATERAL emogi_bfs('edges', o.x, 2) b WHERE o.id % 40 = 1 AND b.level = 2 AND b.vertex > o.y;
CREATE VIEW guarded_few WITH (security_barrier) AS SELECT id, x, y FROM o WHERE id IN (3, 9);
GRANT SELECT ON guarded, guarded_few TO regress_emogi_lateral;
SET ROLE regress_emogi_lateral;
SELECT count(*) FROM o, LATERAL emogi_bfs('edges', o.x) b;
SELECT count(*) FROM none, LATERAL emogi_bfs('edges', none.x) b;
RESET ROLE;
GRANT SELECT ON edges TO regress_emogi_lateral;
SET ROLE regress_emogi_lateral;
SELECT ways('SELECT o.id, b.* FROM o, LATERAL emogi_bfs(''edges'', o.x) b');
SELECT o.id, b.vertex FROM o, LATERAL emogi_bfs('edges', o.x) b WHERE o.id < 30 AND level = 1 AND leak(concat_ws(' ', o.id, b.vertex));
SELECT * FROM guarded WHERE leak(concat_ws(' ', id, vertex, level)) ORDER BY id, vertex;
SELECT g.id, b.vertex FROM guarded_few g, LATERAL emogi_bfs('edges', g.x, 1) b WHERE leak(concat_ws(' ', g.id, b.vertex)) AND vertex = g.y;
SELECT g.id, b.vertex FROM guarded_few g, LATERAL emogi_bfs('edges', g.x, 1) b WHERE leak('level ' || b.level);
RESET ROLE;
REVOKE EXECUTE ON FUNCTION emogi_bfs(text, bigint, int, text, text, "any") FROM PUBLIC;
SET ROLE regress_emogi_lateral;
SELECT count(*) FROM o, LATERAL emogi_bfs('edges', o.x) b;
SELECT count(*) FROM none, LATERAL emogi_bfs('edges', none.x) b;
RESET ROLE;
GRANT EXECUTE ON FUNCTION emogi_bfs(text, bigint, int, text, text, "any") TO PUBLIC;
ALTER TABLE o DISABLE ROW LEVEL SECURITY;
ALTER TABLE edges ENABLE ROW LEVEL SECURITY;
CREATE POLICY low ON edges TO regress_emogi_lateral USING (src < 100);
SET ROLE regress_emogi_lateral;
SELECT ways('SELECT o.id, b.* FROM o, LATERAL emogi_bfs(''edges'', o.x) b');
RESET ROLE;
ALTER TABLE edges DISABLE ROW LEVEL SECURITY;

-- A batch is one run.
SET emogi.engine = cpu;
SELECT emogi_reset();
SELECT count(*) FROM o, LATERAL emogi_bfs('edges', o.x) b;
SELECT function, source, status, engine, vertices, rows FROM emogi_runs;
SELECT emogi_reset();
SET emogi.enable_batch = off;
SELECT count(*) FROM o, LATERAL emogi_bfs('edges', o.id) b WHERE o.id <= 50;
RESET emogi.enable_batch;
SELECT count(*) FROM emogi_runs;
SELECT emogi_reset();
SELECT count(*) FROM (SELECT nullif(i, i) AS x FROM generate_series(1, 100) i) s, LATERAL emogi_bfs('edges', s.x) b;
SELECT count(*) FROM emogi_runs;
SELECT count(*) FROM o, LATERAL emogi_bfs('SELECT 7, 8', o.x) b WHERE 1 / level > 0;
SELECT function, source, status, engine, vertices, rows FROM emogi_runs;
CREATE FUNCTION explained(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
  line text;
BEGIN
  FOR line IN EXECUTE 'EXPLAIN (ANALYZE, BUFFERS OFF, COSTS OFF, TIMING OFF, SUMMARY OFF) ' || query LOOP
    RETURN NEXT regexp_replace(regexp_replace(replace(line, 'Plan expr_', 'Plan '), 'rows=(\d+)\.00', 'rows=\1'), '(Traversed|Rate|Graph): .*', '\1: ...');
  END LOOP;
END $$;
SELECT explained('SELECT o.id, vertex FROM o, LATERAL emogi_bfs(''edges'', o.x) b WHERE vertex > o.y');
SELECT explained('SELECT o.id, vertex FROM o, LATERAL emogi_bfs(''edges'', o.x) b WHERE o.id < 0');
SELECT explained('SELECT o.id, vertex FROM o, LATERAL emogi_bfs(''edges'', o.x) b LIMIT 1');
SELECT explained('SELECT m, (SELECT sum(vertex) FROM o, LATERAL emogi_bfs(''edges'', o.x, m) b) FROM generate_series(1, 3) m');
RESET emogi.engine;
DROP OWNED BY regress_emogi_lateral;
DROP ROLE regress_emogi_lateral;
