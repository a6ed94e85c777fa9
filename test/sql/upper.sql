-- Aggregates and the first rows of one call, computed in the engine's result: which queries are,
-- and that the answers are the same.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS emogi;
RESET client_min_messages;
CREATE SCHEMA test_upper;
SET search_path = test_upper, public;
SET emogi.engine = cpu;
SET max_parallel_workers_per_gather = 0;
\pset format unaligned
\pset tuples_only on
\pset null (null)

-- A random graph of a thousand vertices, chains, loops, a star; negative keys and keys beyond 2^32;
-- and the same with uuid and text.
CREATE TABLE e AS
  SELECT (g * 7919 % 1000)::bigint AS src, (g * 104729 % 997)::bigint AS dst, (1 + g % 13) / 4.0::float8 AS weight FROM generate_series(1, 3000) g
  UNION ALL SELECT -g, -g - 1, 1 FROM generate_series(1, 60) g
  UNION ALL SELECT 4294967296 * g, 4294967296 * g, 0.5 FROM generate_series(1, 20) g
  UNION ALL SELECT 5000, 5000 + g, g FROM generate_series(1, 200) g;
CREATE TABLE u AS SELECT md5(src::text)::uuid AS src, md5(dst::text)::uuid AS dst, weight FROM e;
CREATE TABLE t AS SELECT 'v' || src AS src, 'v' || dst AS dst, weight FROM e;
CREATE TABLE none (src bigint, dst bigint);

-- Run a query with and without the nodes: is the answer the same, row by row, and which node was
-- used?
CREATE FUNCTION ways(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  line text;
  node text := 'rows';
  answers text[];
BEGIN
  PERFORM set_config('extra_float_digits', '3', true);
  FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
    IF line ~ 'EmogiAggregate' THEN node := 'aggregated'; END IF;
    IF line ~ 'Rows Picked' THEN node := 'picked'; END IF;
  END LOOP;
  FOR way IN 1 .. 3 LOOP
    PERFORM set_config('emogi.enable_aggregates', CASE way WHEN 1 THEN 'on' ELSE 'off' END, true), set_config('emogi.enable_topk', CASE way WHEN 1 THEN 'on' ELSE 'off' END, true);
    PERFORM set_config('emogi.enable_scan', CASE way WHEN 3 THEN 'off' ELSE 'on' END, true);
    EXECUTE 'SELECT array_append($1, coalesce(string_agg(q::text, '';'' ORDER BY q::text), ''no rows'')) FROM (' || query || ') q' INTO answers USING answers;
  END LOOP;
  PERFORM set_config('emogi.enable_aggregates', 'on', true), set_config('emogi.enable_topk', 'on', true), set_config('emogi.enable_scan', 'on', true);
  IF answers[1] <> answers[2] OR answers[1] <> answers[3] THEN
    RETURN 'DIFFERS: ' || left(answers[1], 200) || ' / ' || left(answers[2], 200) || ' / ' || left(answers[3], 200);
  END IF;
  RETURN node;
END $$;

-- All functions, with and without groups and conditions.
SELECT q, ways(q) FROM unnest(ARRAY[
  'SELECT count(*) FROM emogi_bfs(''e'', 1)',
  'SELECT count(*), count(level), count(vertex), count(DISTINCT vertex), min(level), max(level), sum(level), avg(level) FROM emogi_bfs(''e'', 1)',
  'SELECT min(vertex), max(vertex), sum(vertex), avg(vertex) FROM emogi_bfs(''e'', 1)',
  'SELECT level, count(*) FROM emogi_bfs(''e'', 1) GROUP BY level',
  'SELECT level, count(*) FROM emogi_bfs(''e'', -1) GROUP BY level HAVING count(*) = 1 AND level > 50',
  'SELECT level, min(vertex), max(vertex), sum(vertex), avg(level) FROM emogi_bfs(''e'', 1) GROUP BY level ORDER BY level DESC',
  'SELECT count(*) + 1, max(level) - min(level) FROM emogi_bfs(''e'', 1) WHERE level BETWEEN 2 AND 5',
  'SELECT sum(distance), avg(distance), min(distance), max(distance) FROM emogi_sssp(''e'', 1)',
  'SELECT sum(distance) FROM emogi_sssp(''e'', 1) WHERE distance > 1.5 AND distance <= 4',
  'SELECT max(width), min(width), count(*), sum(width) FROM emogi_sswp(''e'', 1)',
  'SELECT level, sum(paths), max(paths) FROM emogi_ssnsp(''e'', 1) GROUP BY level',
  'SELECT level, count(*) FROM emogi_ssnsp(''e'', 1) WHERE paths > 3 AND paths < 10 GROUP BY 1',
  'SELECT component, count(*) FROM emogi_cc(''e'') GROUP BY component',
  'SELECT component, count(*) FROM emogi_cc(''e'') GROUP BY 1 ORDER BY 2 DESC LIMIT 3',
  'SELECT DISTINCT component FROM emogi_cc(''e'')',
  'SELECT count(*), min(component), max(component), sum(component) FROM emogi_cc(''e'')',
  'SELECT component, min(vertex), max(vertex) FROM emogi_cc(''e'') WHERE component < 0 OR component = 5000 GROUP BY 1',
  'SELECT component, min(vertex), max(vertex) FROM emogi_cc(''e'') WHERE component < 4294967296 AND component >= -61 GROUP BY 1',
  'SELECT count(DISTINCT component) FROM emogi_cc(''e'')',
  'SELECT count(DISTINCT component) + 1, count(*), count(vertex) FROM emogi_cc(''e'') WHERE component > 0',
  'SELECT count(DISTINCT level) FROM emogi_bfs(''e'', 1) WHERE level > 100',
  'SELECT count(DISTINCT level), count(DISTINCT level) * 2 FROM emogi_bfs(''e'', 1) HAVING count(DISTINCT level) > 1',
  'SELECT count(DISTINCT level), max(level) FROM emogi_bfs(''e'', 1)',
  'SELECT count(DISTINCT level), count(DISTINCT vertex) FROM emogi_bfs(''e'', 1)',
  'SELECT level, count(DISTINCT level) FROM emogi_bfs(''e'', 1) GROUP BY level',
  'SELECT count(DISTINCT paths) FROM emogi_ssnsp(''e'', 1)',
  'SELECT count(DISTINCT level) FROM emogi_ssnsp(''e'', 1)',
  'SELECT count(DISTINCT core), count(*) FROM emogi_core(''e'') WHERE core <> 0',
  'SELECT level, count(*) FROM emogi_bfs(''e'', 1) WHERE level <> 0 GROUP BY level',
  'SELECT count(*) FROM emogi_bfs(''e'', 1) WHERE 0 <> level',
  'SELECT count(*) FROM emogi_bfs(''e'', 1) WHERE level <> 1',
  'SELECT level, count(*) FROM emogi_bfs(''e'', 1) WHERE level IN (1, 2, 3) GROUP BY level',
  'SELECT level, count(*) FROM emogi_bfs(''e'', 1) WHERE level IN (3, 2, 2, 1, 3) GROUP BY level',
  'SELECT level, count(*) FROM emogi_bfs(''e'', 1) WHERE level IN (1, 3) GROUP BY level',
  'SELECT level, count(*) FROM emogi_bfs(''e'', 1) WHERE level IN (1, NULL) GROUP BY level',
  'SELECT level, count(*) FROM emogi_bfs(''e'', 1) WHERE level NOT IN (1, 2) GROUP BY level',
  'SELECT level, count(*) FROM emogi_bfs(''e'', 1) WHERE level IN (-1, 0, 1) GROUP BY level',
  'SELECT level, count(*) FROM emogi_bfs(''e'', 1) WHERE level IN (0::bigint, 1, 2147483648) GROUP BY level',
  'SELECT core, count(*) FROM emogi_core(''e'') WHERE core IN (1, 2) GROUP BY core',
  'SELECT degree FROM emogi_degree(''e'') WHERE degree IN (5, 6, 7) AND degree <> 0 ORDER BY degree DESC, vertex LIMIT 4',
  'SELECT sum(rank), avg(rank), min(rank), max(rank), count(*) FROM emogi_pagerank(''e'')',
  'SELECT count(*) FROM emogi_pagerank(''e'') WHERE rank > 0.001',
  'SELECT sum(value), min(value) FROM emogi_heat(''e'', ''SELECT vertex, vertex % 7 FROM emogi_cc(''''e'''')'', max_iterations => 2)']) q;

-- Other keys.
SELECT q, ways(q) FROM unnest(ARRAY[
  'SELECT component, count(*) FROM emogi_cc_uuid(''u'') GROUP BY component',
  'SELECT count(*) FROM emogi_cc_uuid(''u'') WHERE component = md5(''5000'')::uuid',
  'SELECT count(*) FROM emogi_cc_uuid(''u'') WHERE component > md5(''5000'')::uuid',
  'SELECT vertex, component FROM emogi_cc_uuid(''u'') ORDER BY component DESC, vertex LIMIT 5',
  'SELECT component, count(*) FROM emogi_cc_text(''t'') GROUP BY component',
  'SELECT count(*) FROM emogi_cc_text(''t'')',
  'SELECT max(level), count(DISTINCT vertex) FROM emogi_bfs(''t'', ''v1'')',
  'SELECT min(vertex) FROM emogi_bfs(''t'', ''v1'')',
  'SELECT vertex, level FROM emogi_bfs(''t'', ''v1'') ORDER BY level DESC LIMIT 0',
  'SELECT level FROM emogi_bfs(''t'', ''v1'') ORDER BY level DESC LIMIT 7',
  'SELECT vertex, level FROM emogi_bfs(''t'', ''v1'') ORDER BY level DESC, vertex LIMIT 7']) q;

-- As many groups as allocated, one fewer and one more: components of two and of many vertices,
-- levels of many vertices.
CREATE TABLE pairs (src bigint, dst bigint);
CREATE TABLE layers (src bigint, dst bigint);
DO $$
DECLARE
  n int;
  query text;
BEGIN
  FOREACH n IN ARRAY ARRAY[31, 32, 33, 62, 63, 64, 65, 127, 128, 129, 255, 256, 257, 1025, 4095, 4096, 4097, 20000] LOOP
    TRUNCATE pairs, layers;
    INSERT INTO pairs SELECT i * 37, i * 37 + 1 FROM generate_series(1, n) i UNION ALL SELECT 0, -i FROM generate_series(1, n % 3000) i
      UNION ALL SELECT i * 37, i * 37 + 2 FROM generate_series(1, n, 5) i;
    INSERT INTO layers SELECT l * 1000 + k, (l + 1) * 1000 + k FROM generate_series(0, n - 1) l, generate_series(0, greatest(20000 / n, 1)) k WHERE n < 5000
      UNION ALL SELECT -1, k FROM generate_series(0, greatest(20000 / n, 1)) k;
    FOREACH query IN ARRAY ARRAY['SELECT component, count(*) FROM emogi_cc(''pairs'') GROUP BY component',
      'SELECT component, count(*), min(vertex), sum(vertex) FROM emogi_cc(''pairs'') GROUP BY component',
      'SELECT component, count(vertex) FROM emogi_cc(''pairs'') WHERE component > 100 GROUP BY component', 'SELECT DISTINCT component FROM emogi_cc(''pairs'')',
      'SELECT level, count(*) FROM emogi_bfs(''layers'', -1) GROUP BY level', 'SELECT level, count(*), max(vertex) FROM emogi_bfs(''layers'', -1) GROUP BY level',
      'SELECT level, count(*) FROM emogi_bfs(''layers'', -1) WHERE level % 2 = 1 OR level > 5 GROUP BY level',
      'SELECT level, count(*) FROM emogi_ssnsp(''layers'', -1) WHERE paths > 0 AND level > 3 GROUP BY level'] LOOP
      IF ways(query) LIKE 'DIFFERS%' THEN
        RAISE WARNING '% groups: %: %', n, query, ways(query);
      END IF;
    END LOOP;
  END LOOP;
END $$;

-- Special cases: an empty graph, a missing source, no source, single vertices, contradictory
-- limits.
SELECT q, ways(q) FROM unnest(ARRAY[
  'SELECT count(*), max(level) FROM emogi_bfs(''none'', 1)',
  'SELECT level, count(*) FROM emogi_bfs(''none'', 1) GROUP BY level',
  'SELECT DISTINCT component FROM emogi_cc(''none'')',
  'SELECT component FROM emogi_cc(''none'') ORDER BY component DESC LIMIT 1',
  'SELECT count(*), sum(level) FROM emogi_bfs(''e'', 77777)',
  'SELECT count(*), sum(level) FROM emogi_bfs(''e'', NULL::bigint)',
  'SELECT level, count(*) FROM emogi_bfs(''e'', NULL::bigint) GROUP BY 1',
  'SELECT count(*), max(level) FROM emogi_bfs(''e'', 1) WHERE vertex = 7',
  'SELECT level, count(*) FROM emogi_bfs(''e'', 1) WHERE vertex IN (7, 8, 9, 7, 123456) GROUP BY level',
  'SELECT count(*), max(level) FROM emogi_bfs(''e'', 1) WHERE level > 3 AND level < 2',
  'SELECT count(*) FROM emogi_bfs(''e'', 1) WHERE level >= NULL',
  'SELECT count(*) FROM emogi_bfs(''e'', 1) WHERE level > 2147483647',
  'SELECT count(*) FROM emogi_bfs(''e'', 1) WHERE level < 9223372036854775807 AND level > (-9223372036854775808)::bigint',
  'SELECT count(*) FROM emogi_bfs(''e'', 1) WHERE 2::smallint < level',
  'SELECT count(*) FROM emogi_cc(''e'') WHERE component > 9223372036854775806',
  'SELECT count(*) FROM emogi_cc(''e'') WHERE component <= 9223372036854775807 AND component <> 1',
  'SELECT count(*) FROM emogi_sssp(''e'', 1) WHERE distance >= ''NaN''',
  'SELECT count(*) FROM emogi_sssp(''e'', 1) WHERE distance < ''NaN'' AND distance > ''-Infinity''',
  'SELECT count(*) FROM emogi_sssp(''e'', 1) WHERE distance > ''Infinity''',
  'SELECT count(*) FROM emogi_sswp(''e'', 1) WHERE width = ''Infinity''',
  'SELECT count(*) FROM emogi_sssp(''e'', 1) WHERE distance > 1::real']) q;

-- Queries left to PostgreSQL.
SELECT q, ways(q) FROM unnest(ARRAY[
  'SELECT count(*) FILTER (WHERE level > 2) FROM emogi_bfs(''e'', 1)',
  'SELECT count(DISTINCT level) FROM emogi_bfs(''e'', 1)',
  'SELECT array_agg(level ORDER BY level) FROM emogi_bfs(''e'', 1) WHERE level < 2',
  'SELECT sum(level * 2) FROM emogi_bfs(''e'', 1)',
  'SELECT level + 1, count(*) FROM emogi_bfs(''e'', 1) GROUP BY 1',
  'SELECT level, vertex % 2, count(*) FROM emogi_bfs(''e'', 1) GROUP BY 1, 2',
  'SELECT distance, count(*) FROM emogi_sssp(''e'', 1) GROUP BY 1',
  'SELECT vertex, count(*) FROM emogi_cc(''e'') GROUP BY 1',
  'SELECT level, count(*) FROM emogi_bfs(''e'', 1) GROUP BY GROUPING SETS (level, ())',
  'SELECT count(*) FROM emogi_bfs(''e'', 1) WHERE level % 2 = 0',
  'SELECT count(*) FROM emogi_bfs(''e'', 1) b JOIN e ON e.src = b.vertex',
  'SELECT DISTINCT level, vertex / 100 FROM emogi_bfs(''e'', 1)',
  'SELECT DISTINCT ON (level) level, vertex FROM emogi_bfs(''e'', 1) ORDER BY level, vertex',
  'SELECT stddev(level), var_pop(level), bool_and(level > 0) FROM emogi_bfs(''e'', 1)',
  'SELECT generate_series(1, 2), count(*) FROM emogi_bfs(''e'', 1)',
  'SELECT level, count(*), sum(count(*)) OVER (ORDER BY level) FROM emogi_bfs(''e'', 1) GROUP BY level']) q;

-- The first rows in an order.
SELECT q, ways(q) FROM unnest(ARRAY[
  'SELECT vertex, rank FROM emogi_pagerank(''e'') ORDER BY rank DESC, vertex LIMIT 20',
  'SELECT vertex, rank FROM emogi_pagerank(''e'') ORDER BY rank, vertex DESC LIMIT 20 OFFSET 30',
  'SELECT rank FROM emogi_pagerank(''e'') ORDER BY rank DESC FETCH FIRST 5 ROWS ONLY',
  'SELECT vertex FROM emogi_pagerank(''e'') ORDER BY rank DESC, vertex LIMIT 5',
  'SELECT vertex, level FROM emogi_bfs(''e'', 1) ORDER BY vertex DESC LIMIT 5',
  'SELECT vertex, level FROM emogi_bfs(''e'', 1) WHERE level < 3 ORDER BY level DESC, vertex DESC LIMIT 5',
  'SELECT * FROM emogi_ssnsp(''e'', 1) ORDER BY level DESC, paths DESC, vertex LIMIT 12',
  'SELECT * FROM emogi_ssnsp(''e'', 1) ORDER BY paths, level DESC, vertex DESC LIMIT 12',
  'SELECT * FROM emogi_cc(''e'') ORDER BY component DESC, vertex LIMIT 9',
  'SELECT level FROM emogi_bfs(''e'', 1) ORDER BY level DESC LIMIT 100000',
  'SELECT vertex + 1, level FROM emogi_bfs(''e'', 1) WHERE vertex IN (1, 2, 3, 4, 5, 6) ORDER BY level DESC, vertex LIMIT 4',
  'SELECT vertex, level FROM emogi_bfs(''e'', 1) ORDER BY level DESC, vertex LIMIT 1 OFFSET 100000',
  'SELECT level, vertex FROM emogi_bfs(''e'', 1) ORDER BY level DESC NULLS LAST, vertex LIMIT 3',
  'SELECT level FROM emogi_bfs(''e'', 1) ORDER BY level DESC FETCH FIRST 3 ROWS WITH TIES',
  'SELECT level FROM emogi_bfs(''e'', 1) ORDER BY level + 0 DESC LIMIT 3',
  'SELECT level FROM emogi_bfs(''e'', 1) ORDER BY level DESC LIMIT (SELECT 3)',
  'SELECT level FROM emogi_bfs(''e'', 1) ORDER BY level DESC LIMIT 100001',
  'SELECT DISTINCT level FROM emogi_bfs(''e'', 1) ORDER BY level DESC LIMIT 3']) q;
-- The smallest vertices come first among equals.
SELECT vertex FROM emogi_bfs('e', 5000) ORDER BY level DESC LIMIT 4;

-- As text, different keys of other types may be equal: such vertices are counted row by row.
CREATE TABLE f (src float8, dst float8);
INSERT INTO f VALUES (0.1::float8, 0.1::float8 + 1.4e-17), (0.1::float8 + 1.4e-17, 0.1::float8 + 2.8e-17);
CREATE TABLE x AS SELECT src::text AS src, dst::text AS dst FROM f;
SELECT q, ways(q) FROM unnest(ARRAY['SELECT count(DISTINCT vertex), count(*) FROM emogi_cc_text(''f'')', 'SELECT count(DISTINCT vertex), count(*) FROM emogi_cc_text(''x'')',
  'SELECT count(DISTINCT vertex) FROM emogi_cc_text(''u'')', 'SELECT count(DISTINCT vertex) FROM emogi_cc_text(''e'')',
  'SELECT count(DISTINCT vertex) FROM emogi_cc_text(''SELECT src, dst FROM f'')', 'SELECT count(DISTINCT vertex) FROM emogi_cc_uuid(''u'')']) q;
SET extra_float_digits = 0;
SELECT count(DISTINCT vertex), count(*) FROM emogi_cc_text('f');
SELECT count(DISTINCT vertex) FROM emogi_cc_text('SELECT src, dst FROM f');
-- A plan for text is invalidated with its type.
SET plan_cache_mode = force_generic_plan;
PREPARE d AS SELECT count(DISTINCT vertex) FROM emogi_cc_text('x');
EXECUTE d;
ALTER TABLE x ALTER src TYPE float8 USING src::float8, ALTER dst TYPE float8 USING dst::float8;
TRUNCATE x;
INSERT INTO x SELECT * FROM f;
EXECUTE d;
DEALLOCATE d;
RESET plan_cache_mode;
RESET extra_float_digits;

-- A LIMIT or OFFSET that may change between executions is left to PostgreSQL: the planner has only
-- an estimate of it.
SET my.n = 2;
SET my.o = 0;
SELECT q, ways(q) FROM unnest(ARRAY[
  'SELECT level FROM emogi_bfs(''e'', 1) ORDER BY level DESC, vertex LIMIT current_setting(''my.n'')::int',
  'SELECT level FROM emogi_bfs(''e'', 1) ORDER BY level DESC, vertex LIMIT 3 OFFSET current_setting(''my.o'')::int',
  'SELECT level FROM emogi_bfs(''e'', 1) ORDER BY level DESC, vertex FETCH FIRST (current_setting(''my.n'')::int) ROWS WITH TIES',
  'SELECT level FROM emogi_bfs(''e'', 1) ORDER BY level DESC, vertex LIMIT NULL OFFSET 3',
  'SELECT level FROM emogi_bfs(''e'', 1) ORDER BY level DESC, vertex LIMIT ALL',
  'SELECT level FROM emogi_bfs(''e'', 1) ORDER BY level DESC, vertex LIMIT 2 OFFSET NULL',
  'SELECT level FROM emogi_bfs(''e'', 1) ORDER BY level DESC, vertex LIMIT length(''four'') OFFSET abs(-2)']) q;
PREPARE l AS SELECT vertex, level FROM emogi_bfs('e', 5000) ORDER BY level, vertex LIMIT current_setting('my.n')::int OFFSET current_setting('my.o')::int;
PREPARE lo AS SELECT vertex, level FROM emogi_bfs('e', 5000) ORDER BY level, vertex LIMIT 2 OFFSET current_setting('my.o')::int;
PREPARE lp(int, int) AS SELECT vertex, level FROM emogi_bfs('e', 5000) ORDER BY level, vertex LIMIT $1 OFFSET $2;
CREATE FUNCTION first_few() RETURNS SETOF bigint LANGUAGE sql AS
  $$ SELECT vertex FROM emogi_bfs('e', 5000) ORDER BY level, vertex LIMIT current_setting('my.n')::int OFFSET current_setting('my.o')::int $$;
CREATE FUNCTION first_few_plpgsql() RETURNS SETOF bigint LANGUAGE plpgsql AS $$
BEGIN
  RETURN QUERY SELECT vertex FROM emogi_bfs('e', 5000) ORDER BY level, vertex LIMIT current_setting('my.n')::int OFFSET current_setting('my.o')::int;
END $$;
EXECUTE l;
EXECUTE lo;
EXECUTE lp(2, 0);
SELECT * FROM first_few();
SELECT * FROM first_few_plpgsql();
SET my.n = 4;
SET my.o = 3;
EXECUTE l;
EXECUTE lo;
EXECUTE lp(3, 1);
SELECT * FROM first_few();
SELECT * FROM first_few_plpgsql();
SET plan_cache_mode = force_generic_plan;
EXECUTE lp(1, 2);
EXECUTE lp(NULL, 199);
RESET plan_cache_mode;
DEALLOCATE l;
DEALLOCATE lo;
DEALLOCATE lp;
BEGIN;
DECLARE c CURSOR FOR SELECT vertex FROM emogi_bfs('e', 5000) ORDER BY level, vertex LIMIT current_setting('my.n')::int;
SET my.n = 5;
FETCH ALL FROM c;
COMMIT;

-- Context: subqueries, joins, sources and limits that depend on outer rows, cursors, prepared
-- statements.
SELECT s, (SELECT count(*) FROM emogi_bfs('e', s)), (SELECT max(level) FROM emogi_bfs('e', s) WHERE level < s % 5) FROM unnest(ARRAY[1, 1, 2, NULL, 77777, 5000]::bigint[]) s;
SELECT s, b.vertex, b.level FROM unnest(ARRAY[1, 2, 5000]::bigint[]) s, LATERAL (SELECT * FROM emogi_bfs('e', s) ORDER BY level DESC, vertex LIMIT 2) b;
SELECT sum(n) FROM (SELECT level, count(*) AS n FROM emogi_bfs('e', 1) GROUP BY level) x JOIN generate_series(0, 100) l ON l = x.level;
PREPARE p(bigint, int, int) AS SELECT level, count(*) FROM emogi_bfs('e', $1) WHERE level >= $2 AND level <= $3 GROUP BY level ORDER BY level;
SET plan_cache_mode = force_generic_plan;
EXECUTE p(5000, 0, 9);
EXECUTE p(5000, 1, 9);
EXECUTE p(5000, NULL, 9);
EXECUTE p(-1, 3, 5);
RESET plan_cache_mode;
BEGIN;
DECLARE c SCROLL CURSOR FOR SELECT level, count(*) FROM emogi_bfs('e', -1, 3) GROUP BY level;
FETCH 2 FROM c;
MOVE BACKWARD ALL FROM c;
FETCH ALL FROM c;
CLOSE c;
DECLARE c SCROLL CURSOR FOR SELECT vertex FROM emogi_bfs('e', -1, 6) ORDER BY vertex DESC LIMIT 4;
FETCH 3 FROM c;
FETCH BACKWARD 2 FROM c;
FETCH ALL FROM c;
COMMIT;

-- Privileges, sums out of range, and plans.
CREATE ROLE regress_upper;
GRANT USAGE ON SCHEMA test_upper TO regress_upper;
SET ROLE regress_upper;
\set VERBOSITY sqlstate
SELECT count(*) FROM emogi_bfs('e', 1);
RESET ROLE;
GRANT SELECT ON e TO regress_upper;
REVOKE EXECUTE ON FUNCTION max(int) FROM PUBLIC;
SET ROLE regress_upper;
SELECT count(*) > 0 FROM emogi_bfs('e', 1);
SELECT max(level) FROM emogi_bfs('e', 1);
RESET ROLE;
GRANT EXECUTE ON FUNCTION max(int) TO PUBLIC;
CREATE TABLE far AS SELECT g AS src, g + 1 AS dst, 1e308 AS weight FROM generate_series(1, 1) g UNION ALL SELECT 5, 6, 1.5e308 UNION ALL SELECT 5, 7, 1.5e308;
SELECT max(distance) FROM emogi_sssp('far', 5);
SELECT sum(distance) FROM emogi_sssp('far', 5);
-- PostgreSQL's own avg also sums the squares, which overflow.
SELECT avg(distance) FROM emogi_sssp('far', 1);
SET emogi.enable_aggregates = off;
SELECT avg(distance) FROM emogi_sssp('far', 1);
RESET emogi.enable_aggregates;
\set VERBOSITY default
DROP OWNED BY regress_upper;
DROP ROLE regress_upper;
EXPLAIN (COSTS OFF) SELECT level, count(*), max(vertex) FROM emogi_bfs('e', 1) WHERE level BETWEEN 2 AND 4 GROUP BY level HAVING count(*) > 1 ORDER BY level;
CREATE TABLE chain AS SELECT g AS src, g + 1 AS dst FROM generate_series(1, 3000) g;
ANALYZE chain;
SET emogi.enable_cache = off;
EXPLAIN (COSTS OFF) SELECT level, count(*), sum(level) FROM emogi_bfs('chain', 2, max_depth => 5) WHERE level <> 0 GROUP BY level HAVING count(*) > 2 ORDER BY 3, 1;
RESET emogi.enable_cache;
EXPLAIN (COSTS OFF) SELECT DISTINCT component FROM emogi_cc('e') WHERE component >= 0;
EXPLAIN (COSTS OFF) SELECT vertex, paths FROM emogi_ssnsp('e', 1) WHERE level = 3 ORDER BY paths DESC, vertex DESC LIMIT 3 OFFSET 1;
SELECT count(*) FROM emogi_bfs('e', 5000);
SELECT function, rows FROM emogi_runs WHERE pid = pg_backend_pid() ORDER BY id DESC LIMIT 1;
SET client_min_messages = warning;
DROP SCHEMA test_upper CASCADE;
