-- Aggregates over searches from outer rows, computed in the batch: which queries are, and that they
-- equal aggregates over rows.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS emogi;
RESET client_min_messages;
CREATE SCHEMA test_lateral_sums;
SET search_path = test_lateral_sums, public;
SET emogi.engine = cpu;
SET max_parallel_workers_per_gather = 0;
\pset format unaligned
\pset tuples_only on
\pset null (null)

-- A random graph, a chain of 400 vertices, a loop, and a star; the same with uuid and text.
CREATE TABLE e AS
  SELECT (g * 7919 % 1000)::bigint AS src, (g * 104729 % 997)::bigint AS dst FROM generate_series(1, 3000) g
  UNION ALL SELECT -g, -g - 1 FROM generate_series(1, 400) g
  UNION ALL SELECT 7000, 7000
  UNION ALL SELECT 5000, 5000 + g FROM generate_series(1, 200) g;
CREATE TABLE u AS SELECT md5(src::text)::uuid AS src, md5(dst::text)::uuid AS dst FROM e;
CREATE TABLE t AS SELECT 'v' || src AS src, 'v' || dst AS dst FROM e;
CREATE TABLE none (src bigint, dst bigint);
ANALYZE e, u, t;

-- More outer rows than fit into one pass: including duplicates, NULLs and sources that are not in
-- the graph.
CREATE TABLE s AS
  SELECT g AS id, CASE WHEN g % 7 = 0 THEN NULL WHEN g % 11 = 0 THEN 1000000 + g ELSE g * 31 % 1000 END AS v, g % 5 AS class, 'n' || g % 3 AS name,
         point(g % 2, 0) AS place, jsonb_build_object('a', g % 4) AS doc
  FROM generate_series(1, 200) g
  UNION ALL SELECT 201, -1, 1, 'chain', point(0, 0), '{}' UNION ALL SELECT 202, 7000, 1, 'loop', point(0, 0), '{}'
  UNION ALL SELECT 203, 5000, 2, 'star', point(0, 0), '{}';
ANALYZE s;

CREATE FUNCTION ways(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  line text;
  node text := 'rows';
  answers text[];
BEGIN
  FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
    IF line ~ 'EmogiBatchAggregate' THEN node := 'sums'; END IF;
  END LOOP;
  FOR way IN 1 .. 3 LOOP
    PERFORM set_config('emogi.enable_aggregates', CASE way WHEN 1 THEN 'on' ELSE 'off' END, true);
    PERFORM set_config('emogi.enable_scan', CASE way WHEN 3 THEN 'off' ELSE 'on' END, true);
    EXECUTE 'SELECT array_append($1, coalesce(string_agg(q::text, '';'' ORDER BY q::text), ''no rows'')) FROM (' || query || ') q' INTO answers USING answers;
  END LOOP;
  PERFORM set_config('emogi.enable_aggregates', 'on', true), set_config('emogi.enable_scan', 'on', true);
  IF answers[1] <> answers[2] OR answers[1] <> answers[3] THEN
    RETURN 'DIFFERS: ' || left(answers[1], 200) || ' / ' || left(answers[2], 200) || ' / ' || left(answers[3], 200);
  END IF;
  RETURN node || ', ' || (length(answers[1]) - length(replace(answers[1], ';', '')) + 1) || ' rows';
END $$;

-- Computed in the batch.
SELECT q, ways(q) FROM unnest(ARRAY[
  'SELECT v, count(*), sum(level), avg(level), min(level), max(level) FROM s, LATERAL emogi_bfs(''e'', v) GROUP BY v',
  'SELECT count(*), count(level), count(vertex), sum(level), avg(level), min(level), max(level) FROM s, LATERAL emogi_bfs(''e'', v)',
  'SELECT id, v, count(*) - 1 AS reaches FROM s, LATERAL emogi_bfs(''e'', v) GROUP BY id, v',
  'SELECT class, sum(level)::float8 / count(*) FROM s, LATERAL emogi_bfs(''e'', v) GROUP BY class HAVING count(*) > 10 AND max(level) > 3 ORDER BY 2',
  'SELECT class % 2, name || ''!'', count(*) FROM s, LATERAL emogi_bfs(''e'', v) GROUP BY class % 2, name || ''!''',
  'SELECT class::bit(3), count(*) FROM s, LATERAL emogi_bfs(''e'', v) GROUP BY class::bit(3)',
  'SELECT doc, count(*) FROM s, LATERAL emogi_bfs(''e'', v) GROUP BY doc',
  'SELECT v, count(*) FROM s, LATERAL emogi_bfs(''e'', v) WHERE level >= 2 GROUP BY v',
  'SELECT v, count(*), min(level), max(level) FROM s, LATERAL emogi_bfs(''e'', v) WHERE level BETWEEN 1 AND 3 GROUP BY v',
  'SELECT v, sum(level) FROM s, LATERAL emogi_bfs(''e'', v) WHERE level = 2 GROUP BY v',
  'SELECT v, sum(level) FROM s, LATERAL emogi_bfs(''e'', v) WHERE level > 300 AND level < 390 GROUP BY v',
  'SELECT count(*) FROM s, LATERAL emogi_bfs(''e'', v) WHERE level > 1000',
  'SELECT count(*) FROM s, LATERAL emogi_bfs(''e'', v) WHERE level >= -5 AND level <= 9223372036854775807',
  'SELECT count(*), max(level) FROM s, LATERAL emogi_bfs(''e'', v) WHERE level > (SELECT 2)',
  'SELECT v, count(*) FROM s, LATERAL emogi_bfs(''e'', v, 2, ''both'') GROUP BY v',
  'SELECT v + 1, count(*) FROM s, LATERAL emogi_bfs(''e'', v + 1, direction => ''in'') WHERE class = 2 GROUP BY v + 1',
  'SELECT count(*), avg(level) FROM s, LATERAL emogi_bfs(''u'', md5(v::text)::uuid)',
  'SELECT name, count(*), avg(level) FROM s, LATERAL emogi_bfs(''t'', ''v'' || v) GROUP BY name',
  'SELECT s.name, o.class, count(*) FROM s JOIN s o ON o.id = s.id + 1, LATERAL emogi_bfs(''e'', o.v) GROUP BY s.name, o.class',
  'SELECT v, count(*) FROM s, LATERAL emogi_bfs(''SELECT src, dst FROM e WHERE src <> 0'', v) GROUP BY v',
  'SELECT v, rank() OVER (ORDER BY count(*) DESC, v) FROM s, LATERAL emogi_bfs(''e'', v) GROUP BY v',
  'SELECT DISTINCT count(*) FROM s, LATERAL emogi_bfs(''e'', v) GROUP BY v',
  'SELECT o.class, x.n FROM s o, LATERAL (SELECT count(*) AS n FROM s, LATERAL emogi_bfs(''e'', s.v) WHERE s.class = o.class) x WHERE o.id <= 10',
  'SELECT o.id, (SELECT max(level) FROM s, LATERAL emogi_bfs(''e'', s.v, o.class) WHERE s.class = 1) FROM s o WHERE o.id <= 6',
  'WITH w AS (SELECT v, count(*) AS n FROM s, LATERAL emogi_bfs(''e'', v) GROUP BY v) SELECT a.v, a.n, b.n FROM w a JOIN w b ON a.v = b.v + 31'
]) q;

-- So few rows that either method is good.
SELECT q, regexp_replace(ways(q), '^[a-z]+, ', '') FROM unnest(ARRAY[
  'SELECT count(*) FROM s, LATERAL emogi_bfs(''e'', v) WHERE level < 0',
  'SELECT count(*), max(level) FROM s, LATERAL emogi_bfs(''e'', v) WHERE level > NULL::int',
  'SELECT v, count(*) FROM s, LATERAL emogi_bfs(''e'', v, max_depth => 0) GROUP BY v',
  'SELECT count(*), sum(level) FROM s, LATERAL emogi_bfs(''none'', v)',
  'SELECT v, count(*) FROM s, LATERAL emogi_bfs(''none'', v) GROUP BY v'
]) q;

-- Computed from rows.
SELECT q, ways(q) FROM unnest(ARRAY[
  'SELECT v, level, count(*) FROM s, LATERAL emogi_bfs(''e'', v) GROUP BY v, level',
  'SELECT v, min(vertex), max(vertex), sum(vertex) FROM s, LATERAL emogi_bfs(''e'', v) GROUP BY v',
  'SELECT v, count(*) FILTER (WHERE level > 2) FROM s, LATERAL emogi_bfs(''e'', v) GROUP BY v',
  'SELECT class, count(DISTINCT vertex) FROM s, LATERAL emogi_bfs(''e'', v) GROUP BY class',
  'SELECT count(*), count(DISTINCT vertex) FROM s, LATERAL emogi_bfs(''e'', v) HAVING count(DISTINCT vertex) > 2',
  'SELECT v, count(DISTINCT level) FROM s, LATERAL emogi_bfs(''e'', v) GROUP BY v',
  'SELECT v, sum(level + 1) FROM s, LATERAL emogi_bfs(''e'', v) GROUP BY v',
  'SELECT v, count(*) FROM s, LATERAL emogi_bfs(''e'', v) WHERE vertex = 12 GROUP BY v',
  'SELECT v, count(*) FROM s, LATERAL emogi_bfs(''e'', v) WHERE level > class GROUP BY v',
  'SELECT v, count(*), max(class) FROM s, LATERAL emogi_bfs(''e'', v) GROUP BY v',
  'SELECT v, count(*) FROM s, LATERAL emogi_bfs(''e'', v) WHERE level % 2 = 0 GROUP BY v',
  'SELECT name, count(*) FROM s, LATERAL emogi_bfs(''e'', v) GROUP BY GROUPING SETS ((name), ())',
  'SELECT v, count(b.vertex) FROM s LEFT JOIN LATERAL emogi_bfs(''e'', v) b ON true GROUP BY v'
]) q;

-- Expressions computed for each row of the join, also by a subquery, are not computed once per
-- search.
CREATE SEQUENCE counted;
SELECT q, ways(q) FROM unnest(ARRAY[
  'SELECT count(*) > 1000, sum(n) FROM (SELECT random() AS r, count(*) AS n FROM s, LATERAL emogi_bfs(''e'', v) WHERE id <= 40 GROUP BY random()) x',
  'SELECT count(*) > 1000, sum(n) FROM (SELECT v + random() AS r, count(*) AS n FROM s, LATERAL emogi_bfs(''e'', v) WHERE id <= 40 GROUP BY v + random()) x',
  'SELECT count(*) > 1000, sum(n) FROM (SELECT nextval(''counted'') AS r, count(*) AS n FROM s, LATERAL emogi_bfs(''e'', v) WHERE id <= 40 GROUP BY 1) x',
  'SELECT count(*) > 1000, sum(n) FROM (SELECT (SELECT random() + 0 * v) AS r, count(*) AS n FROM s, LATERAL emogi_bfs(''e'', v) WHERE id <= 40 GROUP BY 1) x',
  'SELECT v, count(*) FROM s, LATERAL emogi_bfs(''e'', v) WHERE random() < 2 GROUP BY v',
  'SELECT v, count(*) FILTER (WHERE random() < 2) FROM s, LATERAL emogi_bfs(''e'', v) GROUP BY v',
  'SELECT v, count(CASE WHEN random() < 2 THEN 1 END) FROM s, LATERAL emogi_bfs(''e'', v) GROUP BY v'
]) q;

-- Expressions per group may be arbitrary.
SELECT q, ways(q) FROM unnest(ARRAY[
  'SELECT count(DISTINCT r) > 100 FROM (SELECT v, count(*) + random() AS r FROM s, LATERAL emogi_bfs(''e'', v) GROUP BY v) x',
  'SELECT v, count(*) FROM s, LATERAL emogi_bfs(''e'', v) GROUP BY v HAVING count(*) > 10 AND random() < 2',
  'SELECT (SELECT 7) + class, count(*) FROM s, LATERAL emogi_bfs(''e'', v) GROUP BY 1',
  'SELECT one, count(*) FROM (s LEFT JOIN (SELECT id AS other, 1 AS one FROM s WHERE id < 5) o ON other = id), LATERAL emogi_bfs(''e'', v) GROUP BY one'
]) q;

-- The plan, and the figures of the run.
EXPLAIN (COSTS OFF, VERBOSE) SELECT class, avg(level) FROM s, LATERAL emogi_bfs('e', v) WHERE level >= 1 GROUP BY class HAVING count(*) > 2;
SELECT v, count(*), sum(level), max(level) FROM s, LATERAL emogi_bfs('e', v) WHERE v IN (-1, 5000, 7000) GROUP BY v ORDER BY v;
SELECT function, rows FROM emogi_runs ORDER BY id DESC LIMIT 1;

-- A parameter of the query, with a generic plan.
SET plan_cache_mode = force_generic_plan;
PREPARE p(int, bigint) AS SELECT count(*), sum(level) FROM s, LATERAL emogi_bfs('e', v) WHERE level >= $1 AND s.id < $2;
EXECUTE p(2, 50);
EXECUTE p(0, 50);
EXECUTE p(NULL, 50);
EXECUTE p(2, 0);
RESET plan_cache_mode;
DEALLOCATE p;

-- A cursor that pauses between two groups, during writes; rescans.
BEGIN;
SET LOCAL enable_hashagg = off;
SET LOCAL enable_sort = off;
DECLARE c CURSOR FOR SELECT v, count(*), sum(level) FROM (SELECT * FROM s ORDER BY v OFFSET 0) s, LATERAL emogi_bfs('e', v) GROUP BY v;
FETCH 2 FROM c;
INSERT INTO e VALUES (0, 5000);
FETCH 2 FROM c;
MOVE 1000 IN c;
FETCH 1 FROM c;
CLOSE c;
ROLLBACK;

-- Privileges: on the function, the aggregate and the table.
CREATE ROLE emogi_sums_reader;
GRANT USAGE ON SCHEMA test_lateral_sums TO emogi_sums_reader;
GRANT SELECT ON s TO emogi_sums_reader;
SET ROLE emogi_sums_reader;
SELECT v, count(*) FROM s, LATERAL emogi_bfs('e', v) GROUP BY v;
RESET ROLE;
GRANT SELECT ON e TO emogi_sums_reader;
REVOKE EXECUTE ON FUNCTION avg(integer) FROM PUBLIC;
SET ROLE emogi_sums_reader;
SELECT count(*) FROM s, LATERAL emogi_bfs('e', v) WHERE id < 10;
SELECT avg(level) FROM s, LATERAL emogi_bfs('e', v) WHERE id < 10;
RESET ROLE;
GRANT EXECUTE ON FUNCTION avg(integer) TO PUBLIC;
DROP OWNED BY emogi_sums_reader;
DROP ROLE emogi_sums_reader;

-- With notices about sources that are not in the graph, and with an error in the outer rows.
SET emogi.notice_missing_source = on;
SELECT count(*) FROM (VALUES (1), (424242)) x (v), LATERAL emogi_bfs('e', v) WHERE level <= 1;
RESET emogi.notice_missing_source;
SELECT count(*) FROM (VALUES (1), (0)) x (v), LATERAL emogi_bfs('e', 1 / v);

SET client_min_messages = warning;
DROP SCHEMA test_lateral_sums CASCADE;
