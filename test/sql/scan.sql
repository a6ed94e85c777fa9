-- EmogiScan, which streams the rows of emogi's functions in FROM: the same answers as with
-- PostgreSQL's FunctionScan, in all places where a function is allowed.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS emogi;
DROP ROLE IF EXISTS regress_emogi_scan;
RESET client_min_messages;
CREATE ROLE regress_emogi_scan;
CREATE SCHEMA test_scan;
GRANT USAGE ON SCHEMA test_scan TO PUBLIC;
SET search_path = test_scan, public;
-- rows are tested here
SET emogi.enable_aggregates = off;
SET emogi.enable_topk = off;
SET emogi.enable_join_lookup = off;
\pset format unaligned
\pset tuples_only on
\pset null (null)

--
-- Comparison functions. rows_of(): the rows of a query as text, in their order, or its error.
-- same(): whether they are the same with the scan and without it ("ordered": in the same order),
-- how many there are, and whether the plan had a scan.
--
SHOW emogi.enable_scan;
CREATE FUNCTION rows_of(query text) RETURNS text[] LANGUAGE plpgsql AS $$
DECLARE
  answer text[] := '{}';
  line record;
BEGIN
  FOR line IN EXECUTE query LOOP
    answer := answer || line::text;
  END LOOP;
  RETURN answer;
EXCEPTION WHEN OTHERS THEN
  RETURN ARRAY[format('error %s: %s', SQLSTATE, SQLERRM)];
END $$;
CREATE FUNCTION sorted(lines text[]) RETURNS text[] LANGUAGE sql AS $$ SELECT array(SELECT unnest(lines) ORDER BY 1) $$;
CREATE FUNCTION scans(query text) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
  found int := 0;
  line text;
BEGIN
  FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
    found := found + (line ~ 'Custom Scan \(Emogi(Scan|Batch)\)')::int;
  END LOOP;
  RETURN found;
EXCEPTION WHEN OTHERS THEN
  RETURN NULL;
END $$;
CREATE FUNCTION same(query text, ordered bool DEFAULT false) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  plan text;
  streamed text[];
  collected text[];
BEGIN
  PERFORM set_config('emogi.enable_scan', 'off', true);
  IF scans(query) > 0 THEN
    RETURN 'a scan though it is off';
  END IF;
  collected := rows_of(query);
  PERFORM set_config('emogi.enable_scan', 'on', true);
  plan := CASE WHEN scans(query) > 0 THEN 'streamed' WHEN scans(query) = 0 THEN 'collected' ELSE 'without a plan' END;
  streamed := rows_of(query);
  IF streamed IS DISTINCT FROM collected AND (ordered OR sorted(streamed) IS DISTINCT FROM sorted(collected)) THEN
    RETURN format('%s DIFFERS: %s, not %s', plan, left(streamed::text, 500), left(collected::text, 500));
  END IF;
  RETURN format('%s, %s', plan, CASE WHEN streamed[1] LIKE 'error %' THEN streamed[1] ELSE cardinality(streamed) || ' rows' END);
END $$;
-- every_way(): the same with all kinds of joins, sorts, groups and parallel plans; all must equal
-- the result of same().
CREATE FUNCTION every_way(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  first text := same(query);
  ways text;
  way text;
  answer text;
BEGIN
  FOREACH ways IN ARRAY ARRAY['enable_hashjoin enable_mergejoin', 'enable_hashjoin enable_nestloop', 'enable_mergejoin enable_nestloop',
      'enable_hashjoin enable_mergejoin enable_material enable_memoize', 'enable_hashagg', 'enable_sort', 'parallel'] LOOP
    FOREACH way IN ARRAY string_to_array(ways, ' ') LOOP
      IF way = 'parallel' THEN
        PERFORM set_config('min_parallel_table_scan_size', '0', true), set_config('parallel_setup_cost', '0', true), set_config('parallel_tuple_cost', '0', true),
          set_config(CASE WHEN current_setting('server_version_num')::int >= 160000 THEN 'debug_parallel_query' ELSE 'force_parallel_mode' END, 'on', true);
      ELSE
        PERFORM set_config(way, 'off', true);
      END IF;
    END LOOP;
    answer := same(query);
    FOREACH way IN ARRAY string_to_array(ways, ' ') LOOP
      IF way = 'parallel' THEN
        PERFORM set_config('min_parallel_table_scan_size', '8MB', true), set_config('parallel_setup_cost', '1000', true), set_config('parallel_tuple_cost', '0.1', true),
          set_config(CASE WHEN current_setting('server_version_num')::int >= 160000 THEN 'debug_parallel_query' ELSE 'force_parallel_mode' END, 'off', true);
      ELSE
        PERFORM set_config(way, 'on', true);
      END IF;
    END LOOP;
    IF answer <> first THEN
      RETURN format('%s; without %s: %s', first, ways, answer);
    END IF;
  END LOOP;
  RETURN first;
END $$;
-- changed(): the effects and results of a command, the same by both methods; everything is rolled
-- back.
CREATE FUNCTION changed(command text, relation regclass) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  setting text;
  plan text;
  answers text[] := '{}';
  answer text;
BEGIN
  FOREACH setting IN ARRAY ARRAY['off', 'on'] LOOP
    PERFORM set_config('emogi.enable_scan', setting, true);
    plan := CASE WHEN scans(command) > 0 THEN 'streamed' ELSE 'collected' END;
    BEGIN
      IF command ~ 'RETURNING [^)]*$' OR command ~ 'SELECT \* FROM w ' THEN
        answer := sorted(rows_of(command))::text;
      ELSE
        EXECUTE command;
        answer := '';
      END IF;
      EXECUTE format('SELECT %L || count(*) || '' rows left: '' || coalesce(string_agg(t::text, '' '' ORDER BY t::text), '''') FROM %s t', answer, relation) INTO answer;
      RAISE SQLSTATE 'UNDO0';
    EXCEPTION WHEN SQLSTATE 'UNDO0' THEN
      answers := answers || answer;
    END;
  END LOOP;
  RETURN plan || ', ' || CASE WHEN answers[1] = answers[2] THEN answers[1] ELSE 'DIFFERS: ' || answers[2] || ', not ' || answers[1] END;
END $$;
-- plan(): the plan, without parts that depend on the cache and the engine.
CREATE FUNCTION plan(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
  line text;
BEGIN
  FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
    IF line !~ '^ *(Graph|Engine|Disabled):' THEN
      RETURN NEXT replace(line, 'Plan expr_', 'Plan ');
    END IF;
  END LOOP;
END $$;

--
-- Graphs of every shape, and a table for joins.
--
CREATE TABLE dense (src int, dst int, weight float8);
INSERT INTO dense VALUES (1, 2, 1), (1, 3, 0.5), (2, 4, 2), (3, 4, 4), (4, 5, 0), (5, 1, 1), (5, 6, 3), (1, 2, 7), (6, 6, 1), (7, 8, 1), (NULL, 3, 1), (3, NULL, 1), (8, 7, 2), (2, 1, 1);
CREATE TABLE chain AS SELECT i AS src, i + 1 AS dst, 1 AS weight FROM generate_series(1, 500) i;
CREATE TABLE huge (src bigint, dst bigint, weight float8);
INSERT INTO huge VALUES (-9223372036854775808, 9223372036854775807, 1), (9223372036854775807, 0, 0), (0, -1, 0.25), (-1, 4294967296, 1e300), (4294967296, -4294967297, 1e300), (0, 3, 'Infinity'), (3, 7, 1);
CREATE TABLE short (src smallint, dst smallint, cost real);
INSERT INTO short VALUES (-32768, 32767, 1), (32767, 0, 2), (0, -1, 0.5), (-1, -32768, 0);
CREATE TABLE nothing (src int, dst int, weight float8);
CREATE VIEW dense_view AS SELECT dst AS src, src AS dst, weight FROM dense;
CREATE TABLE parts (src int, dst int, weight float8) PARTITION BY LIST (src);
CREATE TABLE part1 PARTITION OF parts FOR VALUES IN (1, 2, 3);
CREATE TABLE part2 PARTITION OF parts DEFAULT;
INSERT INTO parts TABLE dense;
CREATE TABLE probe (v bigint, i int, s smallint, k int, d float8, a bigint[]);
INSERT INTO probe VALUES (1, 1, 1, 0, 0, '{1,2}'), (2, 2, 2, 1, 'NaN', '{}'), (3, 3, 3, 2, 2.5, '{3,NULL,3}'), (3, 3, 3, 2, 2.5, '{7}'),
  (4, NULL, 4, NULL, 'Infinity', '{1,2,3,4}'), (NULL, 5, NULL, 3, NULL, NULL), (-1, -1, -1, 2, '-Infinity', '{-1,0}'),
  (9223372036854775807, 7, 32767, 1, '-0', '{9223372036854775807}'), (-9223372036854775808, 8, -32768, 3, 1, '{NULL}'), (0, 0, 0, 0, 3, '{5}');
ANALYZE;

CREATE TABLE graphs (graph text, source text);
INSERT INTO graphs VALUES ('dense', '1'), ('dense', '7'), ('dense', 'ARRAY[3, 7, NULL, 99]'), ('dense', '99'), ('dense', 'NULL::bigint'), ('chain', '480'), ('huge', '-9223372036854775808'), ('short', '0'),
  ('nothing', '1'), ('dense_view', '4'), ('parts', '1'), ('dense(dst, src)', '4'), ('SELECT src, dst, weight FROM dense WHERE src < 5', '1'), ('VALUES (1, 2, 0), (2, 3, 1)', '2');
CREATE TABLE calls (call text, c text, brief bool);
INSERT INTO calls SELECT format(call, graph, source), c, (graph, source) IN (('dense', '1'), ('huge', '-9223372036854775808'), ('nothing', '1'))
  FROM graphs, (VALUES ('emogi_bfs(%L, %s)', 'level'), ('emogi_bfs(%L, %s, 2, ''both'')', 'level'), ('emogi_sssp(%L, %s)', 'distance'),
    ('emogi_sssp(%L, %s, 1.5, direction => ''in'')', 'distance'), ('emogi_sswp(%L, %s)', 'width'), ('emogi_ssnsp(%L, %s, direction => ''both'')', 'paths')) f(call, c);
INSERT INTO calls SELECT format(call, graph), c, graph IN ('dense', 'huge', 'nothing')
  FROM (SELECT DISTINCT graph FROM graphs) g, (VALUES ('emogi_cc(%L)', 'component'), ('emogi_pagerank(%L, max_iterations => 3)', 'rank'), ('emogi_heat(%L, ''VALUES (1, 0.5), (4, -1)'', 2)', 'value'),
    ('emogi_circuit(%L, ''VALUES (1, 0.5), (4, -1)'', 2)', 'value'), ('emogi_neural(%L, ''VALUES (1, 0.5), (4, -1)'', 2)', 'value')) f(call, c)
  WHERE c <> 'value' OR graph NOT IN ('huge', 'nothing');
SELECT count(*) FROM calls;

--
-- Every function on every graph, in every kind of query: the number of calls, the number of calls
-- with rows, and the errors.
--
-- Some kinds of queries with all calls, the others with the short ones.
CREATE TABLE kinds (id int, kind text, ordered bool);
INSERT INTO kinds VALUES
  (1, 'SELECT * FROM %s', true), (2, 'SELECT vertex FROM %s', true), (3, 'SELECT %2$s FROM %1$s', true), (4, 'SELECT %2$s, vertex FROM %1$s', true),
  (5, 'SELECT vertex %% 3, %2$s + 1, vertex FROM %1$s', true), (6, 'SELECT count(*) FROM %s', true), (7, 'SELECT 1 FROM %s', true), (8, 'SELECT FROM %s', true),
  (9, 'SELECT * FROM %s LIMIT 2', true), (10, 'SELECT * FROM %s LIMIT 2 OFFSET 1', true), (11, 'SELECT * FROM %s OFFSET 3', true), (12, 'SELECT * FROM %s LIMIT 0', true),
  (13, 'SELECT * FROM %s ORDER BY vertex', true), (14, 'SELECT * FROM %s ORDER BY vertex DESC LIMIT 3', true), (15, 'SELECT * FROM %s ORDER BY %s, vertex LIMIT 3', true),
  (16, 'SELECT %2$s, count(*), min(vertex) FROM %1$s GROUP BY 1', false), (17, 'SELECT vertex, max(%2$s) FROM %1$s GROUP BY 1', false), (18, 'SELECT DISTINCT %2$s FROM %1$s', false),
  (19, 'SELECT DISTINCT ON (vertex) * FROM %s ORDER BY vertex', true), (20, 'SELECT vertex, sum(%2$s) OVER (ORDER BY vertex), lag(vertex) OVER (ORDER BY vertex) FROM %1$s', true),
  (21, 'SELECT * FROM %1$s f JOIN %1$s g USING (vertex)', false), (22, 'SELECT p.v, f.* FROM probe p LEFT JOIN %s f ON f.vertex = p.v', false), (23, 'SELECT p.v, f.* FROM %s f LEFT JOIN probe p ON f.vertex = p.i', false),
  (24, 'SELECT p.v, f.* FROM probe p FULL JOIN %s f ON f.vertex = p.v', false), (25, 'SELECT v FROM probe WHERE v IN (SELECT vertex FROM %s)', false), (26, 'SELECT v FROM probe WHERE NOT EXISTS (SELECT FROM %s WHERE vertex = v)', false),
  (27, 'SELECT v, (SELECT %2$s FROM %1$s WHERE vertex = v) FROM probe', false), (28, 'SELECT * FROM %1$s UNION ALL SELECT * FROM %1$s', true), (29, 'SELECT * FROM %1$s WHERE vertex IN (1, 4, 0, 4, NULL, 7)', true),
  (30, 'SELECT * FROM %1$s WHERE vertex = 4', true), (31, 'WITH w AS MATERIALIZED (SELECT * FROM %1$s) SELECT a.*, b.vertex FROM w a, w b WHERE a.vertex = b.vertex / 2', false),
  (32, 'SELECT * FROM %1$s WHERE %2$s <= 1', true), (33, 'SELECT * FROM %1$s WHERE 2 > %2$s AND vertex > 0', true), (34, 'SELECT f FROM %s f', true), (35, 'SELECT * FROM %s WITH ORDINALITY', true);
SELECT kind, count(*), count(*) FILTER (WHERE verdict !~ ', 0 rows$') AS filled, string_agg(DISTINCT split_part(verdict, ',', 1), ' ') AS plans,
       string_agg(call || ': ' || verdict, E'\n') FILTER (WHERE verdict !~ '^(streamed|collected), \d+ rows$') AS wrong
  FROM (SELECT id, kind, call, same(format(kind, call, c), ordered) AS verdict FROM kinds, calls WHERE id IN (1, 9, 22, 29, 32) OR brief OFFSET 0) v GROUP BY id, kind ORDER BY id;

-- Comparison with the table: levels by a recursive query, and conditions pushed down on them.
CREATE TABLE levels AS
  WITH RECURSIVE walk AS (SELECT 1 AS vertex, 0 AS level UNION SELECT dst, level + 1 FROM walk JOIN dense ON src = vertex WHERE dst IS NOT NULL AND level < 8)
  SELECT vertex, min(level) AS level FROM walk GROUP BY vertex;
SELECT string_agg(vertex || ':' || level, ' ' ORDER BY vertex) FROM levels;
SELECT string_agg(vertex || ':' || level, ' ') FROM emogi_bfs('dense', 1);
CREATE FUNCTION oracle(condition text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  verdict text;
BEGIN
  EXECUTE format('SELECT count(*) || CASE WHEN count(*) FILTER (WHERE l.vertex IS DISTINCT FROM f.vertex) = 0 THEN '' right'' ELSE '' WRONG'' END
    FROM (SELECT * FROM levels WHERE %s) l FULL JOIN (SELECT * FROM emogi_bfs(''dense'', 1) WHERE %s) f USING (vertex, level)', condition, condition) INTO verdict;
  RETURN verdict;
END $$;
SELECT c, oracle(c) FROM unnest(ARRAY['level <= 2', 'level < 2', 'level = 2', 'level >= 2', 'level <= 0', 'level < 0', 'level = -1', 'level <> 1', 'vertex = 4', 'vertex = 4 AND level = 2', 'vertex = 4 AND level < 2',
  'vertex IN (1, 4, 7, 4)', 'vertex IN (4, 5) AND level <= 2', 'level BETWEEN 1 AND 2', 'level <= 2 AND level > 3', 'level <= NULL', 'vertex = NULL', 'vertex BETWEEN 2 AND 4 AND level < 2', 'NOT vertex = 4',
  'vertex = 4 OR level = 1', 'level = vertex - 1']) WITH ORDINALITY c(c, n) ORDER BY n;

--
-- Joins, subqueries and LATERAL, by every method.
--
SELECT every_way($$ SELECT * FROM emogi_bfs('dense', 1) f JOIN emogi_sssp('dense', 1) g USING (vertex) $$);
SELECT every_way($$ SELECT * FROM emogi_bfs('dense', 1) f JOIN emogi_bfs('dense', 5) g USING (vertex, level) $$);
SELECT every_way($$ SELECT * FROM emogi_bfs('dense', 1) f JOIN emogi_sssp('dense', 4) g ON f.vertex = g.vertex AND f.level < g.distance $$);
SELECT every_way($$ SELECT * FROM emogi_bfs('dense', 4) f LEFT JOIN emogi_bfs('dense(dst, src)', 3) g ON f.vertex = g.vertex AND g.level <= 2 $$);
SELECT every_way($$ SELECT f.level, g.level FROM emogi_bfs('dense', 4) f LEFT JOIN emogi_bfs('dense', 7) g USING (vertex) $$);
SELECT every_way($$ SELECT * FROM emogi_bfs('dense', 7) f RIGHT JOIN emogi_cc('dense') g USING (vertex) WHERE g.component = 1 $$);
SELECT every_way($$ SELECT * FROM emogi_bfs('dense', 7) f FULL JOIN emogi_bfs('dense', 1) g USING (vertex) $$);
SELECT every_way($$ SELECT vertex, f.level, g.level FROM emogi_bfs('dense', 7) f FULL JOIN emogi_bfs('dense', 1) g USING (vertex) WHERE g.level IS NULL $$);
SELECT every_way($$ SELECT * FROM probe p JOIN emogi_bfs('dense', 1) f ON f.vertex = p.v $$);
SELECT every_way($$ SELECT * FROM probe p JOIN emogi_bfs('dense', 1) f ON f.vertex = p.i AND f.level = p.k $$);
SELECT every_way($$ SELECT * FROM probe p JOIN emogi_bfs('huge', 0) f ON p.s = f.vertex $$);
SELECT every_way($$ SELECT * FROM probe p LEFT JOIN emogi_bfs('huge', -9223372036854775808) f ON f.vertex = p.v WHERE f.vertex IS NULL OR f.level < 3 $$);
SELECT every_way($$ SELECT * FROM probe p JOIN emogi_bfs('dense', 1) f ON f.vertex = p.v::numeric $$);
SELECT every_way($$ SELECT * FROM probe p JOIN emogi_bfs('dense', 1) f ON f.vertex = p.d $$);
SELECT every_way($$ SELECT * FROM probe p JOIN emogi_bfs('dense', 1) f ON f.vertex = ANY (p.a) $$);
SELECT every_way($$ SELECT * FROM probe p LEFT JOIN emogi_bfs('dense', 1) f ON f.vertex = ANY (p.a) AND f.level <= p.k $$);
SELECT every_way($$ SELECT * FROM probe p JOIN emogi_bfs('dense', 1) f ON f.vertex IN (p.v, p.i, 4) $$);
SELECT every_way($$ SELECT * FROM probe p JOIN emogi_sssp('dense', 1) f ON f.distance <= p.d $$);
SELECT every_way($$ SELECT * FROM probe p JOIN emogi_sssp('dense', 1) f ON p.d > f.distance AND f.vertex = p.v $$);
SELECT every_way($$ SELECT * FROM probe p, emogi_bfs('dense', 1) f WHERE f.vertex < p.v AND f.level <> p.k $$);
SELECT every_way($$ SELECT d.*, f.level, g.level FROM dense d JOIN emogi_bfs('dense', 1) f ON f.vertex = d.src LEFT JOIN emogi_bfs('dense', 5) g ON g.vertex = d.dst WHERE g.level > f.level $$);
SELECT every_way($$ SELECT count(*), sum(f.level) FROM chain c JOIN emogi_bfs('chain', 1) f ON f.vertex = c.dst JOIN emogi_bfs('chain', 501, direction => 'in') g ON g.vertex = c.src AND g.level < 100 $$);
SELECT every_way($$ SELECT v FROM probe WHERE v IN (SELECT vertex FROM emogi_bfs('dense', 1) WHERE level <= 2) $$);
SELECT every_way($$ SELECT i FROM probe WHERE i NOT IN (SELECT vertex FROM emogi_bfs('dense', 1) WHERE level <= 2) $$);
SELECT every_way($$ SELECT v FROM probe WHERE EXISTS (SELECT FROM emogi_bfs('dense', 1) WHERE vertex = v AND level < k) $$);
SELECT every_way($$ SELECT v FROM probe WHERE NOT EXISTS (SELECT FROM emogi_bfs('dense', 1) WHERE vertex = v AND level <= k) $$);
SELECT every_way($$ SELECT v, (SELECT level FROM emogi_bfs('dense', 1) WHERE vertex = v) FROM probe $$);
SELECT every_way($$ SELECT v, (SELECT count(*) FROM emogi_bfs('dense', 1) WHERE level <= k) FROM probe $$);
SELECT every_way($$ SELECT v, (SELECT max(vertex) FROM emogi_bfs('dense', v) WHERE level <= k) FROM probe $$);
SELECT every_way($$ SELECT v, ARRAY(SELECT vertex FROM emogi_bfs('dense', v, max_depth => k) f ORDER BY vertex DESC) FROM probe $$);
SELECT every_way($$ SELECT vertex FROM emogi_bfs('dense', 1) f WHERE EXISTS (SELECT FROM emogi_bfs('dense', f.vertex) g WHERE g.vertex = 6 AND g.level > f.level) $$);
SELECT every_way($$ SELECT p.v, f.* FROM probe p, emogi_bfs('dense', p.v) f $$);
SELECT every_way($$ SELECT p.v, f.* FROM probe p, emogi_bfs('dense', p.a) f WHERE f.vertex = p.v AND f.level <= p.k $$);
SELECT every_way($$ SELECT p.v, f.* FROM probe p LEFT JOIN LATERAL emogi_sssp('dense', p.v, p.k, 'both') f ON true $$);
SELECT every_way($$ SELECT p.v, f.* FROM probe p LEFT JOIN LATERAL emogi_sssp('dense', p.v, p.k, 'both') f ON f.vertex = p.i $$);
SELECT every_way($$ SELECT p.v, s.* FROM probe p, LATERAL (SELECT count(*), min(level), max(vertex) FROM emogi_bfs('dense', p.v) WHERE level <= p.k) s $$);
SELECT every_way($$ SELECT p.v, s.* FROM probe p LEFT JOIN LATERAL (SELECT vertex, level FROM emogi_bfs('dense', p.v) ORDER BY vertex LIMIT 2) s ON true $$);
SELECT every_way($$ SELECT p.v, f.vertex, g.* FROM probe p, emogi_bfs('dense', p.v) f, emogi_bfs('dense', f.vertex, max_depth => p.k) g WHERE f.level = 1 $$);
SELECT every_way($$ SELECT p.v, s.* FROM probe p, LATERAL (SELECT f.vertex, t.n FROM emogi_bfs('dense', p.v) f, LATERAL (SELECT count(*) AS n FROM emogi_bfs('dense', f.vertex) g WHERE g.vertex <> p.v) t) s $$);
SELECT every_way($$ SELECT g, f.vertex FROM unnest(ARRAY['dense', 'chain', 'parts']) g, emogi_bfs(g, 495) f $$);
SELECT every_way($$ SELECT * FROM unnest(ARRAY['in', 'out', 'both']) d, emogi_bfs('dense', 4, direction => d) $$);
SELECT every_way($$ SELECT vertex, g.n FROM emogi_bfs('dense', 1) JOIN (SELECT vertex, count(*) AS n FROM emogi_cc('dense') GROUP BY vertex) g USING (vertex) $$);
SELECT every_way($$ SELECT s.x, t.y FROM (SELECT vertex AS x FROM emogi_bfs('dense', 1) UNION ALL SELECT vertex FROM emogi_bfs('dense', 7)) s JOIN (SELECT vertex AS y FROM emogi_cc('dense') OFFSET 0) t ON x = y WHERE x IN (3, 4, 7, 8) $$);
SELECT every_way($$ SELECT x, count(*) FROM (SELECT vertex AS x FROM emogi_bfs('dense', 1) UNION ALL SELECT v FROM probe) s WHERE x = 3 GROUP BY x $$);
SELECT every_way($$ SELECT vertex FROM emogi_bfs('dense', 1) EXCEPT SELECT vertex FROM emogi_bfs('dense', 4) WHERE level <= 1 $$);
SELECT every_way($$ WITH w AS MATERIALIZED (SELECT * FROM emogi_bfs('dense', 1)) SELECT * FROM w a, w b WHERE a.vertex = b.level $$);
SELECT every_way($$ WITH w AS NOT MATERIALIZED (SELECT * FROM emogi_bfs('dense', 1)) SELECT * FROM w a, w b WHERE a.vertex = b.level AND a.level <= 2 $$);
SELECT every_way($$ WITH RECURSIVE r AS (SELECT 1 AS n, 1::bigint AS v UNION ALL SELECT n + 1, f.vertex FROM r, emogi_bfs('dense', r.v) f WHERE f.level = 1 AND n < 5) SELECT * FROM r $$);
SELECT every_way($$ WITH RECURSIVE r AS (SELECT 1::bigint AS v UNION SELECT f.vertex FROM r JOIN emogi_cc('dense') f ON f.component = r.v) SELECT * FROM r $$);
SELECT every_way($$ SELECT level, count(*), array_agg(vertex ORDER BY vertex) FROM emogi_bfs('dense', 1) GROUP BY GROUPING SETS ((level), ()) $$);
SELECT every_way($$ SELECT CASE WHEN v = 3 THEN (SELECT count(*) FROM emogi_bfs('dense', v)) END FROM probe $$);
-- With a defined order.
SELECT same($$ SELECT * FROM emogi_bfs('dense', 1) f JOIN emogi_bfs('dense', 3) g USING (vertex) ORDER BY vertex $$, true);
SELECT same($$ SELECT * FROM emogi_bfs('dense', 1) f JOIN emogi_bfs('dense', 3) g USING (vertex) ORDER BY vertex DESC LIMIT 2 $$, true);
SELECT same($$ SELECT vertex FROM emogi_bfs('dense', 1) UNION ALL SELECT vertex FROM emogi_bfs('dense', 7) ORDER BY vertex $$, true);
SELECT same($$ SELECT * FROM probe p, LATERAL (SELECT * FROM emogi_bfs('dense', p.v) LIMIT 3) f ORDER BY p.v, vertex $$, true);
SELECT same($$ SELECT sum(vertex) OVER (ORDER BY vertex DESC ROWS 2 PRECEDING) FROM emogi_bfs('dense', 1) ORDER BY vertex $$, true);
SELECT same($$ SELECT vertex FROM emogi_bfs('dense', 1) ORDER BY vertex DESC NULLS LAST, level $$, true);
SELECT same($$ SELECT vertex FROM emogi_bfs('dense', 1) ORDER BY vertex OFFSET 2 ROWS FETCH FIRST 2 ROWS WITH TIES $$, true);
SELECT same($$ SELECT * FROM emogi_bfs('huge', -9223372036854775808) ORDER BY vertex $$, true);
SELECT same($$ SELECT vertex FROM emogi_bfs('dense', 1) WHERE vertex = ANY ('{5,3,1,3,NULL,99}') ORDER BY vertex $$, true);
SELECT same($$ SELECT vertex FROM emogi_bfs('VALUES (0, 1), (1, 2)', 0) WHERE vertex = ANY ('{NULL,1}') ORDER BY vertex $$, true);
SELECT same($$ SELECT vertex FROM emogi_bfs('dense', 1) WHERE vertex = 4 ORDER BY vertex, level $$, true);
-- Aliases, other names, functions and views that are inlined.
CREATE FUNCTION reached(source bigint) RETURNS TABLE (vertex bigint, hops int) LANGUAGE sql STABLE AS $$ SELECT f.vertex, f.level FROM emogi_bfs('test_scan.dense', source) f $$;
CREATE VIEW near AS SELECT f.a AS vertex, f.b FROM emogi_bfs('test_scan.dense', 1) AS f(a, b) WHERE b <= 3;
SELECT every_way($$ SELECT a, level FROM public.emogi_bfs(source => 1, graph => 'dense') AS f(a) WHERE a > 2 $$);
SELECT every_way($$ SELECT b, a FROM ROWS FROM (emogi_bfs('dense', 1)) AS f(a, b) WHERE a IN (3, 4) $$);
SELECT every_way($$ SELECT * FROM reached(1) WHERE vertex = 4 AND hops <= 2 $$);
SELECT every_way($$ SELECT p.v, r.* FROM probe p, reached(p.v) r WHERE hops <= p.k $$);
SELECT every_way($$ SELECT * FROM near WHERE vertex < 4 AND b < 3 $$);
SELECT every_way($$ SELECT n FROM near n JOIN emogi_cc('dense') c USING (vertex) $$);
SELECT every_way($$ SELECT * FROM near n JOIN probe p ON n.vertex = p.v $$);
SELECT same($$ SELECT tableoid FROM emogi_bfs('dense', 1) $$);
SELECT same($$ SELECT emogi_bfs('dense', 1) $$), same($$ SELECT (emogi_bfs('dense', 1)).* $$), same($$ SELECT v, (emogi_bfs('dense', v)).vertex FROM probe $$);

--
-- Calls that use the FunctionScan: whole rows, ordinality, several functions, subqueries with outer
-- values as arguments.
--
SELECT every_way($$ SELECT g FROM emogi_bfs('dense', 1) g $$);
SELECT every_way($$ SELECT count(g), count(DISTINCT g) FROM emogi_bfs('dense', 1) g $$);
SELECT every_way($$ SELECT vertex FROM emogi_bfs('dense', 1) g WHERE g IS NOT NULL AND g <> ROW(1::bigint, 0) $$);
SELECT every_way($$ SELECT vertex FROM emogi_bfs('dense', 1) g WHERE (g.*) < (4::bigint, 9) $$);
SELECT every_way($$ SELECT g.vertex, to_jsonb(h) FROM emogi_bfs('dense', 1) g JOIN emogi_bfs('dense', 4) h ON g = h OR g.vertex = h.vertex $$);
SELECT every_way($$ SELECT p.v, s.* FROM probe p LEFT JOIN LATERAL (SELECT g FROM emogi_bfs('dense', p.v) g WHERE g.vertex = p.v) s ON true $$);
SELECT every_way($$ SELECT p.v, (SELECT g FROM emogi_bfs('dense', p.v) g WHERE g.vertex = p.v) FROM probe p $$);
SELECT every_way($$ SELECT (SELECT g.vertex) FROM emogi_bfs('dense', 1) g WHERE (SELECT g) IS NOT NULL $$);
SELECT every_way($$ SELECT * FROM emogi_bfs('dense', 1) WITH ORDINALITY AS f(v, l, n) WHERE v = 4 OR n = 1 $$);
SELECT every_way($$ SELECT * FROM ROWS FROM (emogi_bfs('dense', 1), emogi_bfs('dense', 7)) AS f(a, b, c, d) WHERE c = 8 OR a = 1 $$);
SELECT every_way($$ SELECT * FROM ROWS FROM (emogi_bfs('dense', 1), generate_series(1, 9)) AS f(a, b, n) $$);
SELECT every_way($$ SELECT p.v, f.* FROM probe p, emogi_bfs('dense', (SELECT q.v FROM probe q WHERE q.v = p.v LIMIT 1)) f $$);
SELECT every_way($$ SELECT p.v, f.* FROM probe p, emogi_bfs('dense', ARRAY(SELECT q.v FROM probe q WHERE q.v < p.v)) f WHERE f.vertex = p.i $$);
SELECT every_way($$ SELECT * FROM emogi_shortest_path('dense', 1, 6) WHERE vertex = 4 $$);
SELECT every_way($$ SELECT v, k FROM probe p, emogi_bfs('dense', 1) f WHERE f.vertex = p.v FOR UPDATE OF p $$);
SELECT every_way($$ SELECT v, k FROM probe p WHERE v IN (SELECT vertex FROM emogi_bfs('dense', 1)) FOR SHARE $$);
SELECT every_way($$ SELECT v, k FROM probe p, (SELECT vertex FROM emogi_bfs('dense', 1) LIMIT 3) f WHERE f.vertex = p.v FOR UPDATE $$);
SELECT every_way($$ SELECT v, (SELECT level FROM emogi_bfs('dense', 1) WHERE vertex = v) FROM probe p FOR UPDATE $$);
-- Uncorrelated subqueries are executed once.
SELECT every_way($$ SELECT * FROM emogi_bfs('dense', (SELECT min(v) FROM probe WHERE v > 1)) $$);
SELECT every_way($$ SELECT * FROM emogi_bfs('dense', ARRAY(SELECT v FROM probe)) WHERE level <= (SELECT max(k) - 2 FROM probe) $$);
SELECT every_way($$ SELECT * FROM emogi_bfs((SELECT 'den' || 'se'), 1) WHERE vertex = ANY (ARRAY(SELECT v FROM probe)) $$);
SELECT every_way($$ SELECT p.v, (SELECT count(*) FROM emogi_bfs('dense', (SELECT min(v) FROM probe WHERE v > 1)) f WHERE f.vertex < p.v) FROM probe p $$);

--
-- Conditions, all types and shapes: the column vertex, then level, then distance.
--
CREATE FUNCTION conditions(call text, conditions text[]) RETURNS TABLE (condition text, verdict text) LANGUAGE sql AS
  $$ SELECT c, same(format('SELECT * FROM %s WHERE %s', call, c), c !~ '= ANY \(SELECT') FROM unnest(conditions) WITH ORDINALITY u(c, n) ORDER BY n $$;
SELECT * FROM conditions($$emogi_bfs('dense', 1)$$, ARRAY['vertex = 4', '4 = vertex', 'vertex = 4::smallint', '4::smallint = vertex', 'vertex = 4::bigint', 'vertex = 4::numeric', 'vertex = 4.5', 'vertex = 4::real', 'vertex = 4::float8',
  'vertex = NULL', 'vertex = NULL::int', 'vertex = -1', 'vertex = 99', 'vertex = 9223372036854775807', 'vertex = 9223372036854775808', 'vertex = ''4''', 'vertex = 4 AND vertex = 4', 'vertex = 4 AND vertex = (SELECT 5)', 'vertex = 4 AND vertex = NULL',
  'vertex = 4 AND vertex IN (3, 4)', 'vertex = 4 AND vertex IN (3, 5)', 'vertex IN (3, 4) AND vertex IN (4, 5)', 'vertex IN (1, 5, 3, 5, 1)', 'vertex IN (NULL)', 'vertex IN (4, NULL)', 'vertex IN (4::smallint, 5::bigint, 99999999999)', 'vertex IN (4, 4.5)',
  'vertex = ANY (''{}'')', 'vertex = ANY (''{4,NULL,4,1,-1}'')', 'vertex = ANY (NULL)', 'vertex = ANY (NULL::bigint[])', 'vertex = ANY (''{4,5}''::int[])', 'vertex = ANY (''{4,5}''::smallint[])', 'vertex = ANY (''{4,5}''::numeric[])', 'vertex = ANY (''[7:9]={6,5,4}''::bigint[])',
  'vertex = ANY (''{{4,5},{6,NULL}}''::bigint[])', 'vertex = ANY (ARRAY[4, NULL, 5]::bigint[])', 'vertex = ALL (''{4,4}'')', 'vertex = ALL (''{}'')', 'vertex <> ALL (''{4,5}'')', 'vertex <> ALL (''{4,NULL}'')', 'vertex NOT IN (4, 5)', 'vertex <> ANY (''{4}'')', 'vertex > ANY (''{4,5}'')',
  'vertex <> 4', 'vertex < 4', '4 <= vertex', 'vertex BETWEEN 2 AND 4', 'vertex BETWEEN 4 AND 2', 'vertex IS NULL', 'vertex IS NOT NULL', 'vertex IS DISTINCT FROM 4', 'vertex IS NOT DISTINCT FROM 4', '(vertex = 4) IS NOT TRUE', 'NOT vertex = 4', 'vertex = 4 OR vertex = 5', 'vertex = 4 OR level = 0',
  'vertex = level + 2', 'vertex = vertex', 'vertex + 0 = 4', 'vertex::int = 4', '(vertex, level) = (4, 2)', '(vertex, level) IN ((4, 2), (5, 1))', '(vertex, level) < (4, 2)', 'vertex = (SELECT max(i) - 4 FROM probe)', 'vertex = ANY (SELECT a[1] FROM probe)', 'vertex = 4 AND false', 'vertex = 4 AND NULL',
  'vertex = ANY (ARRAY(SELECT generate_series(3, 100000)))', 'vertex = 4 AND random() < 2', 'vertex = (4 + random() * 0)::int', 'CASE WHEN vertex = 4 THEN true END', 'coalesce(vertex, 0) = 4']);
SELECT * FROM conditions($$emogi_bfs('huge', -9223372036854775808, 4)$$, ARRAY['vertex = -9223372036854775808', 'vertex = 9223372036854775807', 'vertex IN (9223372036854775807, -9223372036854775808, 0, 1)', 'vertex = 4294967296', 'vertex = 0::smallint', 'vertex = -1 AND level <= 3', 'vertex = -1 AND level < 3']);
SELECT * FROM conditions($$emogi_bfs('dense', 1)$$, ARRAY['level <= 2', '2 >= level', 'level < 2', '2 > level', 'level = 2', '2 = level', 'level <= 2::smallint', 'level <= 2::bigint', 'level < 2::bigint', '2::bigint = level', 'level <= 2.5', 'level < 2.0', 'level = 2::float8', 'level <= NULL', 'level < NULL::bigint', 'level = NULL',
  'level <= 0', 'level < 0', 'level = 0', 'level <= -1', 'level < -1', 'level = -1', 'level < -2147483648', 'level <= -2147483648', 'level <= 2147483647', 'level < 2147483647', 'level = 2147483647', 'level <= 2147483648', 'level < 2147483648', 'level = 2147483648', 'level <= -2147483649', 'level < -9223372036854775808', 'level <= 9223372036854775807',
  'level < 9223372036854775807', 'level <= 32768::bigint', 'level = 32767::smallint', 'level < (-32768)::smallint', 'level >= 2', 'level > 2', '2 < level', 'level <> 2', 'level BETWEEN 1 AND 2', 'level BETWEEN 2 AND 1', 'level <= 3 AND level > 1', 'level <= 2 AND level > 3', 'level = 2 AND level = (SELECT 3)', 'level = 2 AND level <= 1', 'level < 3 AND level <= 3 AND level = 2',
  'level <= 3 AND level < NULL', 'level IN (1, 3)', 'level = ANY (''{1,NULL,3}'')', 'level IS NULL', 'NOT level > 2', 'level <= 1 OR level >= 4', 'level + 0 <= 2', 'level <= vertex', 'level <= vertex - 2', 'vertex = 4 AND level = 2', 'vertex = 4 AND level <= 1', 'vertex IN (3, 4, 5) AND level < 3 AND level > 1', 'level <= (SELECT min(k) + 1 FROM probe)', 'level <= (1 + random() * 0)::int']);
SELECT * FROM conditions($$emogi_bfs('dense', 1, 2)$$, ARRAY['level <= 1', 'level <= 3', 'level = 2', 'level = 3', 'level < 0', 'level <= NULL']);
SELECT * FROM conditions($$emogi_bfs('dense', ARRAY[1, 7]::bigint[], NULL, 'in')$$, ARRAY['level <= 1', 'level = 0', 'vertex IN (8, 7, 5) AND level < 2']);
SELECT * FROM conditions($$emogi_ssnsp('dense', 1)$$, ARRAY['level <= 2', 'level = 2', 'paths = 3', 'paths < 2 AND vertex = 3', 'vertex = 4 AND level = 2 AND paths > 1']);
SELECT * FROM conditions($$emogi_sssp('dense', 1)$$, ARRAY['distance <= 3', '3 >= distance', 'distance < 3', '3 > distance', 'distance = 3', '3::float8 = distance', 'distance <= 3::real', 'distance < 0.5::real', 'distance = 0.5::numeric', 'distance <= 3::bigint', 'distance <= 2.9999999999999996', 'distance < 3.0000000000000004',
  'distance <= 0', 'distance < 0', 'distance = 0', 'distance <= ''-0''', 'distance < ''-0''', 'distance = ''-0''', 'distance < 5e-324', 'distance <= -1', 'distance < ''NaN''', 'distance <= ''NaN''', 'distance = ''NaN''', 'distance > ''NaN''', '''NaN'' >= distance', 'distance <= ''Infinity''', 'distance < ''Infinity''', 'distance = ''Infinity''', 'distance <= ''-Infinity''',
  'distance < ''-Infinity''', 'distance <= ''NaN''::real', 'distance < ''Infinity''::real', 'distance <= NULL', 'distance = NULL::float8', 'distance <= 1e308', 'distance BETWEEN 0.5 AND 3', 'distance <= 3 AND distance > 4', 'distance <= 3 AND distance < ''NaN''', 'distance = 3 AND distance <= 1', 'distance >= 1', 'distance <> 1', 'distance IN (1, 3)', 'NOT distance > 1',
  'distance <= 1 OR vertex = 6', 'vertex = 4 AND distance <= 3', 'vertex IN (4, 5) AND distance < 3', 'distance <= vertex', 'distance <= (SELECT 0.5::float8)', 'distance <= 1 + random() * 0']);
SELECT * FROM conditions($$emogi_sssp('dense', 1, 1)$$, ARRAY['distance <= 3', 'distance < 1', 'distance = 1', 'distance <= ''NaN''', 'distance <= NULL']);
SELECT * FROM conditions($$emogi_sssp('dense', 1, 'Infinity')$$, ARRAY['distance <= 1', 'distance < ''Infinity''', 'distance = ''Infinity''']);
SELECT * FROM conditions($$emogi_sssp('huge', -1)$$, ARRAY['distance <= 1e300', 'distance < 1e300', 'distance = 2e300', 'distance < ''Infinity''', 'distance <= ''NaN''']);
SELECT * FROM conditions($$emogi_sswp('dense', 1)$$, ARRAY['width <= 1', 'width = ''Infinity''', 'width < ''NaN'' AND vertex = 4', 'vertex = 4']);
SELECT * FROM conditions($$emogi_cc('dense')$$, ARRAY['component = 7', 'vertex = component', 'vertex = 8 AND component <= 7', 'component IN (1, 2)', 'vertex IN (8, 5)']);
SELECT * FROM conditions($$emogi_pagerank('dense')$$, ARRAY['rank > 0.1', 'vertex = 4', 'vertex IN (1, 99) AND rank < 1', 'rank = ''NaN''']);
SELECT * FROM conditions($$emogi_neural('dense', 'SELECT 1, 1', 3)$$, ARRAY['value > 0', 'vertex = 4', 'vertex IN (1, 99)']);
-- With values of the outer row of all kinds.
SELECT c, every_way(format('SELECT p.v, p.k, f.* FROM probe p JOIN emogi_bfs(''dense'', 1) f ON %s', c)) FROM unnest(ARRAY['level <= p.k', 'level < p.k', 'p.k = level', 'level <= p.s', 'level <= p.v', 'level < p.d', 'level <= p.k AND level < p.i', 'level = p.k AND vertex = p.v', 'vertex = p.v AND vertex = p.i',
  'vertex = ANY (ARRAY[p.v, p.i, p.k])', 'vertex IN (p.v, NULL, p.s)', 'level BETWEEN p.k AND p.s', 'vertex = p.v OR level = p.k', 'vertex = p.v + 1 - 1 AND p.v < 100']) WITH ORDINALITY u(c, n) ORDER BY n;
SELECT c, every_way(format('SELECT p.v, p.d, f.* FROM probe p JOIN emogi_sssp(''dense'', 1) f ON %s', c)) FROM unnest(ARRAY['distance <= p.d', 'distance < p.d', 'p.d = distance', 'distance <= p.k', 'distance < p.s::real', 'distance <= p.d AND vertex = p.v', 'distance = p.d AND vertex = ANY (p.a)']) WITH ORDINALITY u(c, n) ORDER BY n;

--
-- Plans.
--
SELECT plan($$ SELECT * FROM emogi_bfs('dense', 1) $$);
SELECT plan($$ SELECT * FROM emogi_bfs('dense', 1) ORDER BY vertex LIMIT 3 $$);
SELECT plan($$ SELECT * FROM emogi_bfs('dense', 1) ORDER BY vertex DESC $$);
SELECT plan($$ SELECT * FROM emogi_bfs('dense', 1) WHERE vertex = 4 $$);
SELECT plan($$ SELECT * FROM emogi_bfs('dense', 1) WHERE vertex IN (4, 5) AND level <= 2 AND level % 2 = 0 $$);
SELECT plan($$ SELECT * FROM emogi_sssp('dense', 1) WHERE distance < 2 AND distance > 1 $$);
SELECT plan($$ SELECT * FROM emogi_ssnsp('dense', 1) WHERE paths > 1 AND vertex = 4 $$);
SELECT plan($$ SELECT * FROM emogi_pagerank('dense') WHERE rank > 0.1 $$);
SELECT plan($$ SELECT * FROM emogi_bfs('dense', 1) WHERE vertex = 4 AND random() < 2 $$);
SELECT plan($$ SELECT g FROM emogi_bfs('dense', 1) g $$);
SELECT plan($$ SELECT * FROM emogi_bfs('dense', 1) WITH ORDINALITY $$);
SELECT plan($$ SELECT * FROM ROWS FROM (emogi_bfs('dense', 1), emogi_bfs('dense', 2)) $$);
SELECT plan($$ SELECT v FROM probe p, emogi_bfs('dense', 1) f WHERE f.vertex < p.v FOR UPDATE OF p $$) LIKE '%EmogiScan%' AS scan GROUP BY 1;
SET emogi.enable_scan = off;
SELECT plan($$ SELECT * FROM emogi_bfs('dense', 1) WHERE vertex = 4 $$);
RESET emogi.enable_scan;
-- No Sort below a merge join or a GROUP BY; a nested loop looks vertices up.
SET enable_hashjoin = off;
SET enable_nestloop = off;
SELECT plan($$ SELECT * FROM emogi_bfs('dense', 1) f JOIN emogi_sssp('dense', 1) g USING (vertex) $$);
SELECT plan($$ SELECT * FROM emogi_bfs('dense', 1) f FULL JOIN emogi_cc('dense') g USING (vertex) ORDER BY 1 $$);
RESET enable_nestloop;
SET enable_mergejoin = off;
SELECT plan($$ SELECT f.level FROM probe p JOIN emogi_bfs('dense', 1) f ON f.vertex = p.v $$);
SET emogi.enable_batch = off;
SELECT plan($$ SELECT f.level FROM probe p JOIN emogi_bfs('dense', p.i) f ON f.vertex = p.v AND f.level <= p.k $$);
RESET emogi.enable_batch;
RESET enable_hashjoin;
RESET enable_mergejoin;
SET enable_hashagg = off;
SELECT plan($$ SELECT vertex, count(*) FROM emogi_bfs('dense', 1) GROUP BY vertex $$);
RESET enable_hashagg;
SELECT plan($$ SELECT v, (SELECT level FROM emogi_bfs('dense', 1) WHERE vertex = v) FROM probe $$);

--
-- Arguments: volatile ones are evaluated as often as by the FunctionScan, even though the rows are
-- streamed.
--
CREATE SEQUENCE taken;
CREATE FUNCTION next_source() RETURNS bigint LANGUAGE sql VOLATILE AS $$ SELECT nextval('test_scan.taken') * 0 + 1 $$;
CREATE FUNCTION times_taken(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  setting text;
  counts text[] := '{}';
BEGIN
  FOREACH setting IN ARRAY ARRAY['off', 'on'] LOOP
    PERFORM set_config('emogi.enable_scan', setting, true), setval('test_scan.taken', 1, false);
    counts := counts || (cardinality(rows_of(query)) || ' rows, taken ' || (SELECT last_value - 1 + is_called::int FROM test_scan.taken));
  END LOOP;
  RETURN scans(query) || ' scans: ' || CASE WHEN counts[1] = counts[2] THEN counts[1] ELSE counts::text END;
END $$;
SELECT times_taken(q) FROM unnest(ARRAY[
  $$ SELECT * FROM emogi_bfs('dense', next_source()) $$,
  $$ SELECT * FROM emogi_bfs('dense', next_source()) LIMIT 1 $$,
  $$ SELECT * FROM emogi_bfs('dense', next_source()) LIMIT 0 $$,
  $$ SELECT * FROM emogi_bfs('dense', next_source()) WHERE vertex = 4 $$,
  $$ SELECT * FROM emogi_bfs('dense', next_source()) WHERE vertex IN (4, 5) AND level <= 2 $$,
  $$ SELECT * FROM probe p, emogi_bfs('dense', next_source()) f WHERE f.vertex < p.v $$,
  $$ SELECT * FROM probe p, emogi_bfs('dense', next_source()) f WHERE f.vertex = p.v $$,
  $$ SELECT * FROM (SELECT DISTINCT k FROM probe) p, emogi_bfs('dense', next_source() + p.k) f $$,
  $$ SELECT * FROM (SELECT k, min(v) AS v FROM probe GROUP BY k) p, emogi_bfs('dense', next_source() + p.k) f WHERE f.vertex = p.v $$,
  $$ SELECT v, (SELECT level FROM emogi_bfs('dense', next_source()) f WHERE f.vertex = p.v) FROM probe p $$,
  $$ SELECT v, (SELECT count(*) FROM emogi_bfs('dense', next_source()) f WHERE f.level <= p.k) FROM probe p $$,
  $$ SELECT v, (SELECT count(*) FROM emogi_bfs('dense', next_source()) f) FROM probe p $$,
  $$ SELECT v FROM probe WHERE EXISTS (SELECT FROM emogi_bfs('dense', next_source()) f WHERE f.vertex = v) $$,
  $$ SELECT v FROM probe LEFT JOIN emogi_bfs('dense', next_source()) f ON f.vertex = v $$,
  $$ SELECT a.vertex FROM emogi_bfs('dense', next_source()) a, emogi_bfs('dense', next_source()) b WHERE a.vertex = b.vertex $$,
  $$ SELECT * FROM probe p, LATERAL (SELECT count(*) FROM emogi_bfs('dense', next_source()) f WHERE f.vertex <> p.v OFFSET 0) s $$,
  $$ SELECT * FROM emogi_bfs('dense', (SELECT next_source())) f, emogi_bfs('dense', (SELECT next_source())) g WHERE f.vertex = g.vertex $$]) WITH ORDINALITY u(q, n) ORDER BY n;
SET enable_hashjoin = off;
SET enable_mergejoin = off;
SET enable_material = off;
SELECT times_taken($$ SELECT * FROM probe p, emogi_bfs('dense', next_source()) f WHERE f.vertex = p.v $$);
SELECT times_taken($$ SELECT * FROM probe p, emogi_bfs('dense', next_source()) f WHERE f.vertex < p.v $$);
SELECT times_taken($$ SELECT * FROM probe p LEFT JOIN emogi_bfs('dense', next_source()) f ON f.vertex = p.v AND f.level <= p.k $$);
RESET enable_hashjoin;
RESET enable_mergejoin;
RESET enable_material;
-- Random arguments with a fixed seed.
SELECT setseed(0.5) IS NOT NULL, string_agg(vertex || ':' || level, ' ') FROM emogi_bfs('dense', (random() * 0 + 4)::int);
-- The number of rows is not compared before 15, which has other random numbers.
SELECT regexp_replace(same($$ SELECT * FROM (SELECT setseed(0.25) OFFSET 0) s, emogi_bfs('chain', 500 - (random() * 9)::int) $$, true), '\d+ rows$', 'rows');

--
-- Commands that change tables.
--
CREATE TABLE target (v bigint PRIMARY KEY, k int);
INSERT INTO target VALUES (1, 10), (3, 30), (4, 40), (9, 90);
SELECT changed($$ INSERT INTO target SELECT vertex, level FROM emogi_bfs('dense', 1) WHERE vertex NOT IN (SELECT v FROM target) $$, 'target');
SELECT changed($$ INSERT INTO target SELECT * FROM emogi_bfs('dense', 1) ON CONFLICT (v) DO UPDATE SET k = target.k + excluded.k RETURNING * $$, 'target');
SELECT changed($$ INSERT INTO dense SELECT f.vertex, 100 + f.vertex FROM emogi_bfs('dense', 1) f $$, 'dense');
SELECT changed($$ CREATE TABLE copied AS SELECT * FROM emogi_bfs('dense', 1) WHERE level <= 2 $$, 'target');
SELECT changed($$ UPDATE target SET k = f.level FROM emogi_bfs('dense', 1) f WHERE f.vertex = v $$, 'target');
SELECT changed($$ UPDATE target SET k = f.level FROM emogi_bfs('dense', 1) f WHERE f.vertex = v AND f.level <= 1 RETURNING v, f.* $$, 'target');
SELECT changed($$ UPDATE target SET k = f.level FROM emogi_bfs('dense', 1) f WHERE f.vertex = v RETURNING f $$, 'target');
SELECT changed($$ UPDATE target SET k = (SELECT level FROM emogi_bfs('dense', 1) WHERE vertex = v) $$, 'target');
SELECT changed($$ UPDATE target SET k = 0 WHERE v IN (SELECT vertex FROM emogi_bfs('dense', 1) WHERE level <= 1) $$, 'target');
SELECT changed($$ UPDATE target SET k = n FROM (SELECT count(*) AS n FROM emogi_bfs('dense', 1)) s RETURNING * $$, 'target');
SELECT changed($$ UPDATE target SET (k) = (SELECT count(*) FROM emogi_bfs('dense', target.v) g) $$, 'target');
SELECT changed($$ DELETE FROM target USING emogi_bfs('dense', 1) f WHERE f.vertex = v AND level >= 1 $$, 'target');
SELECT changed($$ DELETE FROM target USING probe p, emogi_bfs('dense', p.v) f WHERE f.vertex = target.v AND p.k = 0 RETURNING target.*, f.level $$, 'target');
SELECT changed($$ DELETE FROM target WHERE NOT EXISTS (SELECT FROM emogi_bfs('dense', 1) WHERE vertex = v) $$, 'target');
SELECT changed($$ WITH w AS (DELETE FROM target RETURNING v) INSERT INTO probe (v) SELECT f.vertex FROM w, emogi_bfs('dense', w.v) f $$, 'probe');
SELECT changed($$ WITH w AS (INSERT INTO target SELECT vertex + 100, level FROM emogi_bfs('dense', 1) RETURNING *) SELECT * FROM w JOIN emogi_bfs('dense', 1) f ON f.vertex = w.v - 100 $$, 'target');
SELECT changed($$ WITH w AS (SELECT * FROM emogi_bfs('dense', 1)) UPDATE target SET k = w.level FROM w WHERE w.vertex = v RETURNING target.* $$, 'target');
-- MERGE, if supported.
SELECT CASE WHEN current_setting('server_version_num')::int >= 150000 THEN changed($$ MERGE INTO target USING emogi_bfs('dense', 1) f ON f.vertex = v WHEN MATCHED AND f.level > 1 THEN DELETE WHEN MATCHED THEN UPDATE SET k = f.level WHEN NOT MATCHED THEN INSERT VALUES (f.vertex, -1) $$, 'target')
  ELSE 'collected, 6 rows left: (1,0) (2,-1) (3,1) (5,-1) (6,-1) (9,90)' END;
SELECT CASE WHEN current_setting('server_version_num')::int >= 150000 THEN changed($$ MERGE INTO target USING (SELECT * FROM emogi_bfs('dense', 1) LIMIT 2) f ON f.vertex = v WHEN MATCHED THEN UPDATE SET k = f.level WHEN NOT MATCHED THEN INSERT VALUES (f.vertex, -1) $$, 'target')
  ELSE 'streamed, 5 rows left: (1,0) (2,-1) (3,30) (4,40) (9,90)' END;
-- A command sees earlier changes of its transaction, but not its own.
BEGIN;
INSERT INTO dense VALUES (6, 60, 1);
SELECT same($$ SELECT * FROM emogi_bfs('dense', 1) WHERE vertex >= 6 $$, true);
INSERT INTO dense SELECT vertex, vertex * 10, level FROM emogi_bfs('dense', 1) WHERE level >= 4;
SELECT string_agg(vertex || ':' || level, ' ') FROM emogi_bfs('dense', 6);
SAVEPOINT s;
DELETE FROM dense WHERE dst = 4;
SELECT string_agg(vertex || ':' || level, ' ') FROM emogi_bfs('dense', 1) WHERE vertex < 9;
ROLLBACK TO s;
SELECT string_agg(vertex || ':' || level, ' ') FROM emogi_bfs('dense', 1) WHERE vertex < 9;
ROLLBACK;

--
-- Functions in PL/pgSQL: loops left early, or by an error, nested loops.
--
CREATE FUNCTION walk(stop int, fail int) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  r record;
  q record;
  seen text := '';
BEGIN
  FOR r IN SELECT * FROM emogi_bfs('dense', 1) WHERE level <= stop LOOP
    EXIT WHEN r.vertex > 5;
    seen := seen || r.vertex || '(';
    BEGIN
      FOR q IN SELECT vertex, 1 / (vertex - fail) FROM emogi_bfs('dense', r.vertex) WHERE vertex <> r.vertex LOOP
        seen := seen || q.vertex || ' ';
        CONTINUE WHEN q.vertex < 4;
        EXIT;
      END LOOP;
    EXCEPTION WHEN division_by_zero THEN
      seen := seen || '!';
    END;
    seen := seen || ')';
  END LOOP;
  RETURN seen || ' calls in progress: ' || (SELECT count(*) FROM emogi_progress WHERE pid = pg_backend_pid());
END $$;
SELECT walk(9, 0), walk(2, 3), walk(9, 4);
DISCARD PLANS;
SET emogi.enable_scan = off;
SELECT walk(9, 0), walk(2, 3), walk(9, 4);
RESET emogi.enable_scan;

-- A procedure that ends transactions while reading the rows.
CREATE TABLE log (v bigint);
CREATE PROCEDURE ending(keep bool) LANGUAGE plpgsql AS $$
DECLARE
  r record;
BEGIN
  FOR r IN SELECT vertex FROM emogi_bfs('dense', 1) WHERE level <= 2 LOOP
    INSERT INTO log VALUES (r.vertex);
    IF keep THEN
      COMMIT;
    ELSE
      ROLLBACK;
      INSERT INTO log VALUES (-r.vertex);
    END IF;
  END LOOP;
END $$;
CALL ending(true);
CALL ending(false);
SELECT string_agg(v::text, ' ' ORDER BY v) FROM log;
COPY (SELECT * FROM emogi_bfs('dense', 1) WHERE level <= 1) TO STDOUT;
CREATE MATERIALIZED VIEW kept_rows AS SELECT * FROM emogi_bfs('test_scan.dense', 1) WHERE vertex < 4;
REFRESH MATERIALIZED VIEW kept_rows;
SELECT string_agg(vertex || ':' || level, ' ' ORDER BY vertex) FROM kept_rows;

--
-- Prepared statements: generic and custom plans, values of every kind.
--
CREATE FUNCTION prepared(mode text, types text, query text, VARIADIC args text[]) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
  arg text;
  plan text;
  answers text[];
  first text[];
  setting text;
BEGIN
  PERFORM set_config('plan_cache_mode', mode, true);
  FOREACH setting IN ARRAY ARRAY['off', 'on'] LOOP
    PERFORM set_config('emogi.enable_scan', setting, true);
    EXECUTE format('PREPARE p(%s) AS %s', types, query);
    answers := '{}';
    FOREACH arg IN ARRAY args LOOP
      answers := answers || (rows_of(format('EXECUTE p(%s)', arg))::text);
    END LOOP;
    plan := CASE WHEN scans(format('EXECUTE p(%s)', args[1])) > 0 THEN 'streamed: ' ELSE 'collected: ' END;
    first := coalesce(first, answers);
    DEALLOCATE p;
  END LOOP;
  PERFORM set_config('plan_cache_mode', 'auto', true);
  FOR i IN 1 .. cardinality(args) LOOP
    RETURN NEXT plan || args[i] || ': ' || CASE WHEN first[i] = answers[i] THEN first[i] ELSE 'DIFFERS: ' || answers[i] || ', not ' || first[i] END;
  END LOOP;
END $$;
SELECT prepared(mode, 'text, bigint', 'SELECT * FROM emogi_bfs($1, $2) LIMIT 3', $$'dense', 1$$, $$'chain', 499$$, $$'dense', NULL$$, $$NULL, 1$$, $$'nowhere', 1$$, $$'dense', 7$$) FROM unnest(ARRAY['force_generic_plan', 'force_custom_plan']) mode;
SELECT prepared(mode, 'bigint', $$SELECT * FROM emogi_bfs('dense', 1) WHERE vertex = $1$$, '4', '1', 'NULL', '99', '-1', '9223372036854775807') FROM unnest(ARRAY['force_generic_plan', 'force_custom_plan']) mode;
SELECT prepared(mode, 'bigint[], int', $$SELECT * FROM emogi_bfs('dense', 1) WHERE vertex = ANY ($1) AND level < $2$$, $$'{4,1,4}', 9$$, $$'{4,1,NULL}', 2$$, $$'{}', 9$$, $$NULL, 9$$, $$'{4,5}', NULL$$, $$'{6,5}', -1$$) FROM unnest(ARRAY['force_generic_plan', 'force_custom_plan']) mode;
SELECT prepared(mode, 'bigint', $$SELECT * FROM emogi_bfs('dense', 1) WHERE level <= $1$$, '1', '0', '-1', 'NULL', '2147483648', '-9223372036854775808') FROM unnest(ARRAY['force_generic_plan', 'force_custom_plan']) mode;
SELECT prepared(mode, 'float8, float8', $$SELECT * FROM emogi_sssp('dense', 1, $1) WHERE distance < $2$$, '3, 3', 'NULL, 3', '3, NULL', $$'Infinity', 'NaN'$$, $$'-0', 1$$, '-1, 1', $$'NaN', 1$$) FROM unnest(ARRAY['force_generic_plan', 'force_custom_plan']) mode;
SELECT prepared(mode, 'int, int', $$SELECT vertex FROM emogi_bfs('dense', 1, $1) WHERE $2 >= level ORDER BY vertex DESC LIMIT 2$$, '3, 1', '1, 3', 'NULL, 1', '1, NULL', '0, 0') FROM unnest(ARRAY['force_generic_plan', 'force_custom_plan']) mode;
SELECT prepared('force_generic_plan', 'int', 'SELECT p.v, f.* FROM probe p JOIN emogi_bfs(''dense'', p.v) f ON f.vertex = p.i AND f.level <= $1 LIMIT $1', '1', '0', '5', 'NULL');
SET plan_cache_mode = force_generic_plan;
PREPARE look(bigint, bigint[], int) AS SELECT * FROM emogi_bfs('dense', $1) WHERE vertex = ANY ($2) AND level <= $3;
SELECT plan($$ EXECUTE look(1, '{4}', 2) $$);
EXECUTE look(1, '{5,4,4}', 2);
-- Dropped and re-created, and changed.
BEGIN;
ALTER TABLE dense RENAME TO old;
CREATE TABLE dense AS SELECT 1 AS src, 4 AS dst;
EXECUTE look(1, '{5,4,4}', 2);
ROLLBACK;
EXECUTE look(1, '{5,4,4}', 2);
DEALLOCATE look;
RESET plan_cache_mode;

--
-- Cursors.
--
CREATE FUNCTION fetched(query text, VARIADIC steps text[]) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  setting text;
  answers text[] := '{}';
  answer text;
  step text;
  c refcursor;
  r record;
BEGIN
  FOREACH setting IN ARRAY ARRAY['off', 'on'] LOOP
    PERFORM set_config('emogi.enable_scan', setting, true);
    answer := '';
    c := 'moving';
    OPEN c SCROLL FOR EXECUTE query;
    FOREACH step IN ARRAY steps LOOP
      answer := answer || step || ':';
      FOR r IN EXECUTE format('FETCH %s FROM moving', step) LOOP
        answer := answer || ' ' || r.vertex;
      END LOOP;
      answer := answer || '; ';
    END LOOP;
    CLOSE c;
    answers := answers || answer;
  END LOOP;
  RETURN CASE WHEN answers[1] = answers[2] THEN answers[1] ELSE 'DIFFERS: ' || answers[2] || ', not ' || answers[1] END;
END $$;
SELECT fetched(q, 'NEXT', 'FORWARD 3', 'BACKWARD 2', 'PRIOR', 'PRIOR', 'NEXT', 'LAST', 'NEXT', 'PRIOR', 'ABSOLUTE 2', 'RELATIVE 2', 'RELATIVE -3', 'ABSOLUTE -1', 'ABSOLUTE -2', 'FIRST', 'RELATIVE 0', 'FORWARD ALL', 'BACKWARD ALL', 'FORWARD 0', 'ABSOLUTE 99', 'ABSOLUTE 0', 'ALL')
  FROM unnest(ARRAY[$$ SELECT * FROM emogi_bfs('dense', 1) $$, $$ SELECT vertex FROM emogi_bfs('dense', 1) WHERE vertex IN (5, 1, 3, 3) $$, $$ SELECT vertex FROM emogi_bfs('dense', 1) WHERE vertex = 4 $$,
    $$ SELECT * FROM emogi_bfs('dense', 1) ORDER BY vertex DESC $$, $$ SELECT vertex FROM emogi_bfs('dense', 1) JOIN probe ON v = vertex ORDER BY vertex $$, $$ SELECT * FROM emogi_bfs('dense', 99) $$]) q;
BEGIN;
DECLARE c SCROLL CURSOR FOR SELECT * FROM emogi_bfs('dense', 1);
FETCH 2 FROM c;
FETCH ABSOLUTE 5 FROM c;
MOVE BACKWARD 2 FROM c;
FETCH NEXT FROM c;
FETCH BACKWARD ALL FROM c;
COMMIT;
BEGIN;
DECLARE c NO SCROLL CURSOR FOR SELECT * FROM emogi_bfs('dense', 1);
FETCH 2 FROM c;
\set VERBOSITY sqlstate
FETCH PRIOR FROM c;
ROLLBACK;
-- A cursor shows the state at its declaration, whether or not its run has started by then.
BEGIN;
DECLARE before CURSOR FOR SELECT vertex FROM emogi_bfs('dense', 5) WHERE vertex > 4;
DECLARE begun CURSOR FOR SELECT vertex FROM emogi_bfs('dense', 5) WHERE vertex > 4;
DECLARE query CURSOR FOR SELECT vertex FROM emogi_bfs('SELECT src, dst FROM dense', 5) WHERE vertex > 4;
FETCH 1 FROM begun;
INSERT INTO dense VALUES (6, 50), (5, 51);
DECLARE after CURSOR FOR SELECT vertex FROM emogi_bfs('dense', 5) WHERE vertex > 4;
DELETE FROM dense WHERE dst = 50;
FETCH ALL FROM before;
FETCH ALL FROM begun;
FETCH ALL FROM query;
FETCH ALL FROM after;
ROLLBACK;
-- Across savepoints: a run started in a rolled-back one continues; a cursor declared in it is
-- closed.
BEGIN;
DECLARE early CURSOR FOR SELECT vertex FROM emogi_bfs('dense', 1);
DECLARE late CURSOR FOR SELECT vertex FROM emogi_bfs('dense', 1);
DECLARE untouched CURSOR FOR SELECT vertex FROM emogi_bfs('SELECT src, dst FROM dense', 1);
FETCH 2 FROM early;
SAVEPOINT s;
FETCH 1 FROM early;
FETCH 1 FROM late;
FETCH 1 FROM untouched;
DECLARE inner_one CURSOR FOR SELECT vertex FROM emogi_bfs('dense', 1);
FETCH 1 FROM inner_one;
SELECT count(*) FROM emogi_progress WHERE pid = pg_backend_pid();
ROLLBACK TO s;
SELECT count(*) FROM emogi_progress WHERE pid = pg_backend_pid();
FETCH 2 FROM early;
FETCH ALL FROM late;
FETCH ALL FROM untouched;
SELECT 1 / 0;
ROLLBACK TO s;
FETCH ALL FROM early;
SAVEPOINT t;
FETCH ALL FROM inner_one;
ROLLBACK TO t;
SAVEPOINT u;
DECLARE kept CURSOR FOR SELECT vertex FROM emogi_bfs('dense', 1);
FETCH 1 FROM kept;
RELEASE u;
FETCH ALL FROM kept;
CLOSE early;
CLOSE late;
COMMIT;
SELECT count(*) FROM emogi_progress WHERE pid = pg_backend_pid();
-- WHERE CURRENT OF a row of another source is not a row of the table.
BEGIN;
DECLARE c CURSOR FOR SELECT v FROM target UNION ALL SELECT vertex FROM emogi_bfs('dense', 1);
FETCH 1 FROM c;
DELETE FROM target WHERE CURRENT OF c RETURNING v;
MOVE 4 FROM c;
DELETE FROM target WHERE CURRENT OF c RETURNING v;
ROLLBACK;
-- WITH HOLD: the remaining rows are read at the end of the transaction.
BEGIN;
DECLARE c SCROLL CURSOR WITH HOLD FOR SELECT * FROM emogi_bfs('dense', 1) WHERE level >= 1;
DECLARE d CURSOR WITH HOLD FOR SELECT * FROM emogi_bfs('dense', 7);
FETCH 1 FROM c;
COMMIT;
SELECT count(*) FROM emogi_progress WHERE pid = pg_backend_pid();
TRUNCATE dense;
FETCH 2 FROM c;
FETCH BACKWARD 2 FROM c;
FETCH ALL FROM d;
CLOSE ALL;
INSERT INTO dense TABLE parts;
-- The own transaction cannot drop, truncate or rewrite a table while a cursor may read it again;
-- afterwards it can.
BEGIN;
DECLARE c CURSOR FOR SELECT vertex FROM emogi_bfs('dense', 1);
DECLARE d CURSOR FOR SELECT x, b.vertex FROM generate_series(1, 7) x, LATERAL emogi_bfs('dense', x, 1) b;
DECLARE e CURSOR FOR SELECT x, b.vertex FROM generate_series(1, 7) x, LATERAL emogi_bfs('dense', 1, x) b;
FETCH 2 FROM c;
DROP VIEW dense_view;
SAVEPOINT s;
DROP TABLE dense;
ROLLBACK TO s;
TRUNCATE dense;
ROLLBACK TO s;
FETCH ALL FROM c;
CLOSE c;
FETCH 1 FROM d;
TRUNCATE dense;
ROLLBACK TO s;
FETCH 1 FROM e;
CLOSE d;
ALTER TABLE dense ALTER src TYPE bigint;
ROLLBACK TO s;
CLOSE e;
DROP TABLE dense;
CREATE TABLE dense AS SELECT 1 AS src, 100 AS dst;
ROLLBACK;
SELECT string_agg(vertex || ':' || level, ' ') FROM emogi_bfs('dense', 1);
-- Many concurrent cursors.
BEGIN;
DO $$
BEGIN
  FOR i IN 1 .. 200 LOOP
    EXECUTE format('DECLARE c%s CURSOR FOR SELECT vertex FROM emogi_bfs(''dense'', 1)', i);
    EXECUTE format('MOVE 1 FROM c%s', i);
  END LOOP;
END $$;
FETCH 1 FROM c1;
FETCH 1 FROM c77;
SELECT string_agg(vertex || ':' || level, ' ') FROM emogi_bfs('dense', 1);
FETCH ALL FROM c100;
COMMIT;
SELECT count(*) FROM emogi_progress WHERE pid = pg_backend_pid();

--
-- More than 128 calls in one query, in sequence and concurrently.
--
SELECT same((SELECT string_agg(format('SELECT count(*) FROM emogi_bfs(''chain'', %s)', n), ' UNION ALL ') FROM generate_series(1, 150) n), true);
SELECT same((SELECT string_agg(format('SELECT vertex FROM emogi_bfs(''chain'', %s)', n), ' UNION ALL ') FROM generate_series(400, 549) n), true);
SELECT same((SELECT string_agg(format('(SELECT vertex FROM emogi_bfs(''chain'', %s) LIMIT 2)', n), ' UNION ALL ') FROM generate_series(400, 549) n), true);
SELECT same((SELECT string_agg(format('SELECT vertex FROM emogi_bfs(''chain'', %s)', n), ' UNION ALL ') || ' ORDER BY vertex' FROM generate_series(400, 549) n), true);
SELECT same((SELECT string_agg(format('SELECT vertex FROM emogi_bfs(''chain'', %s)', n), ' UNION ALL ') || ' ORDER BY vertex LIMIT 5' FROM generate_series(400, 549) n), true);
SET enable_sort = off;
SELECT same((SELECT string_agg(format('SELECT vertex FROM emogi_bfs(''chain'', %s)', n), ' UNION ALL ') || ' ORDER BY vertex LIMIT 5' FROM generate_series(300, 449) n), true);
RESET enable_sort;
SELECT same((SELECT 'SELECT ' || string_agg(format('(SELECT level FROM emogi_bfs(''chain'', %s) WHERE vertex = v)', n), ', ') || ' FROM generate_series(480, 490) v' FROM generate_series(300, 449) n));
SELECT count(*) FROM emogi_progress WHERE pid = pg_backend_pid();

--
-- Privileges. EXECUTE on the function is checked when the FunctionScan checks it, SELECT on the
-- table when it is read.
--
CREATE FUNCTION as_other(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  answer text;
BEGIN
  SET LOCAL ROLE regress_emogi_scan;
  answer := same(query, true);
  RESET ROLE;
  RETURN answer;
END $$;
GRANT ALL ON ALL FUNCTIONS IN SCHEMA test_scan TO PUBLIC;
GRANT SELECT ON probe TO PUBLIC;
SELECT as_other($$ SELECT * FROM emogi_bfs('dense', 1) $$), as_other($$ SELECT * FROM emogi_bfs('dense', 1) WHERE vertex = 4 LIMIT 1 $$), as_other($$ SELECT * FROM emogi_bfs('dense', 1) LIMIT 0 $$),
  as_other($$ SELECT * FROM emogi_bfs('SELECT src, dst FROM dense', 1) WHERE level <= 1 $$), as_other($$ SELECT * FROM emogi_bfs('dense', NULL::bigint) $$);
GRANT SELECT (src, dst) ON dense TO regress_emogi_scan;
SELECT as_other($$ SELECT * FROM emogi_bfs('dense', 1) $$), as_other($$ SELECT * FROM emogi_sssp('dense', 1) $$), as_other($$ SELECT * FROM emogi_sssp('dense', 1) WHERE vertex IN (1, 2) $$);
BEGIN;
REVOKE EXECUTE ON FUNCTION emogi_bfs(text, bigint, int, text, text, "any") FROM PUBLIC;
SELECT as_other($$ SELECT * FROM emogi_bfs('dense', 1) $$), as_other($$ SELECT * FROM emogi_bfs('dense', 1) WHERE vertex = 4 $$), as_other($$ SELECT * FROM emogi_bfs('dense', 1) LIMIT 0 $$), as_other($$ SELECT * FROM emogi_bfs('dense', 1) WHERE false $$),
  as_other($$ SELECT * FROM emogi_bfs('dense', ARRAY[1]) $$), as_other($$ SELECT * FROM probe p LEFT JOIN emogi_bfs('dense', p.v) f ON f.vertex = p.i $$);
-- The owner of a view is irrelevant, except for a SECURITY DEFINER function.
CREATE VIEW owned AS SELECT * FROM emogi_bfs('test_scan.dense', 1) WHERE level <= 1;
CREATE FUNCTION defined() RETURNS SETOF bigint LANGUAGE sql STABLE SECURITY DEFINER AS $$ SELECT vertex FROM emogi_bfs('test_scan.dense', 1) WHERE level <= 1 $$;
GRANT SELECT ON owned TO PUBLIC;
SELECT as_other($$ SELECT * FROM owned $$), as_other($$ SELECT * FROM defined() $$);
-- A plan created by another role.
PREPARE kept AS SELECT vertex FROM emogi_bfs('test_scan.dense', 1) WHERE level <= 1;
EXECUTE kept;
SET ROLE regress_emogi_scan;
EXECUTE kept;
ROLLBACK;
EXECUTE kept;
DEALLOCATE kept;
-- Settings of ALTER FUNCTION apply to the scan as to any call: the scan sets them, or the
-- FunctionScan is used.
BEGIN;
GRANT SELECT ON chain TO regress_emogi_scan;
ALTER FUNCTION emogi_bfs(text, bigint, int, text, text, "any") STRICT;
SELECT every_way($$ SELECT * FROM emogi_bfs('chain', 490) $$) ~ ', 0 rows', every_way($$ SELECT * FROM emogi_bfs('chain', 490, 3, edge_filter => 'true', params => ROW()) WHERE level <= 2 $$) ~ ', 3 rows';
ALTER FUNCTION emogi_bfs(text, bigint, int, text, text, "any") CALLED ON NULL INPUT SET search_path = pg_catalog;
SELECT every_way($$ SELECT * FROM emogi_bfs('chain', 490) $$) ~ 'relation "chain" does not exist', every_way($$ SELECT * FROM emogi_bfs('test_scan.chain', 490) WHERE vertex = 491 $$) ~ ', 1 rows';
ALTER FUNCTION emogi_bfs(text, bigint, int, text, text, "any") RESET ALL SECURITY DEFINER;
SELECT as_other($$ SELECT * FROM emogi_bfs('huge', 3) $$) ~ ', 2 rows';
ALTER FUNCTION emogi_bfs(text, bigint, int, text, text, "any") SECURITY INVOKER;
ALTER FUNCTION emogi_bfs(text, bigint, int, text, text, "any") RENAME TO another;
SELECT every_way($$ SELECT * FROM another('chain', 490) WHERE level <= 2 $$);
ROLLBACK;
-- A function of that name that does not belong to emogi.
CREATE FUNCTION test_scan.emogi_bfs(graph text, source text, OUT vertex bigint, OUT level int) RETURNS SETOF record LANGUAGE sql AS $$ SELECT * FROM (VALUES (9::bigint, 9), (4, 4), (9, 1)) v $$;
SELECT same($$ SELECT * FROM emogi_bfs('dense', '1'::text) WHERE level <= 5 ORDER BY vertex $$, true), same($$ SELECT * FROM emogi_bfs('dense', '1'::text) WHERE vertex = 9 $$, true);
DROP FUNCTION test_scan.emogi_bfs(text, text);
-- Row security: each role gets the graph of its own rows.
CREATE TABLE shared (src int, dst int, owner name);
INSERT INTO shared VALUES (1, 2, 'regress_emogi_scan'), (2, 3, 'regress_emogi_scan'), (1, 4, 'other'), (4, 5, 'other');
GRANT SELECT ON shared TO PUBLIC;
ALTER TABLE shared ENABLE ROW LEVEL SECURITY;
CREATE POLICY own ON shared USING (owner = current_user);
-- A policy that calls emogi.
CREATE TABLE guarded AS SELECT generate_series(1, 9) AS v;
GRANT SELECT ON guarded TO PUBLIC;
ALTER TABLE guarded ENABLE ROW LEVEL SECURITY;
CREATE POLICY near ON guarded USING (v IN (SELECT vertex FROM emogi_bfs('test_scan.dense', 1) WHERE level <= 1));
SELECT as_other($$ SELECT * FROM guarded ORDER BY v $$), same($$ SELECT * FROM guarded $$);
SELECT as_other($$ SELECT * FROM emogi_bfs('shared', 1) WHERE vertex IN (1, 2, 3, 4, 5) $$), same($$ SELECT * FROM emogi_bfs('shared', 1) WHERE vertex IN (1, 2, 3, 4, 5) $$);
PREPARE kept(bigint) AS SELECT vertex FROM emogi_bfs('test_scan.shared', 1) WHERE vertex = $1;
SET plan_cache_mode = force_generic_plan;
EXECUTE kept(4);
SET ROLE regress_emogi_scan;
EXECUTE kept(4);
EXECUTE kept(3);
RESET ROLE;
RESET plan_cache_mode;
DEALLOCATE kept;
-- A function that reports all its arguments does not see rows hidden by a view, and vice versa.
CREATE TABLE seen (v bigint);
CREATE FUNCTION leak(v bigint) RETURNS bool LANGUAGE plpgsql COST 0.0000001 AS $$ BEGIN INSERT INTO test_scan.seen VALUES (v); RETURN true; END $$;
CREATE VIEW hiding WITH (security_barrier) AS SELECT vertex, level FROM emogi_bfs('test_scan.dense', 1) WHERE vertex % 2 = 1 AND level + 1 < 4;
CREATE VIEW hiding_one WITH (security_barrier) AS SELECT f.vertex, level FROM emogi_bfs('test_scan.dense', 1) f WHERE vertex IN (3, 4) AND level <= 1;
CREATE VIEW hiding_join WITH (security_barrier) AS SELECT f.vertex, p.k FROM probe p JOIN emogi_bfs('test_scan.dense', 1) f ON f.vertex = p.v WHERE p.k = 2;
CREATE FUNCTION leaked(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  shown text[] := test_scan.rows_of(query);
BEGIN
  shown := ARRAY[shown::text, (SELECT 'seen: ' || coalesce(string_agg(v::text, ' ' ORDER BY v), 'none') FROM test_scan.seen)];
  DELETE FROM test_scan.seen;
  RETURN array_to_string(shown, ', ');
END $$;
SELECT leaked($$ SELECT * FROM hiding WHERE leak(vertex) ORDER BY vertex $$);
SELECT leaked($$ SELECT * FROM hiding WHERE leak(vertex) AND vertex = 3 $$);
SELECT leaked($$ SELECT * FROM hiding WHERE leak(vertex) AND vertex = 4 $$);
SELECT leaked($$ SELECT * FROM hiding WHERE vertex IN (3, 4, 5) AND leak(vertex) AND level <= 1 $$);
SELECT leaked($$ SELECT * FROM hiding_one WHERE leak(vertex) $$);
SELECT leaked($$ SELECT * FROM hiding_join WHERE leak(vertex) ORDER BY vertex $$);
SELECT leaked($$ SELECT vertex FROM (SELECT * FROM emogi_bfs('test_scan.dense', 1) WHERE level <= 2) s WHERE leak(vertex) AND vertex = 4 $$);
SELECT * FROM hiding WHERE vertex = 3 AND level <= 1 / (vertex - 4);
SELECT plan($$ SELECT * FROM hiding WHERE leak(vertex) AND vertex = 3 AND level <= 2 $$);

--
-- Errors: the same SQLSTATE and message, whichever part of the result is used.
--
CREATE TABLE negative AS SELECT 1 AS src, 2 AS dst, -1.0 AS weight;
CREATE TABLE wrong AS SELECT 1 AS src, 2 AS dst, NULL::float8 AS weight;
SELECT f, string_agg(DISTINCT same(format(q, f), true), E'\n') FROM unnest(ARRAY[$$emogi_bfs('nowhere', 1)$$, $$emogi_bfs('dense(src, nowhere)', 1)$$, $$emogi_bfs('probe', 1)$$, $$emogi_bfs('dense', 1, -1)$$, $$emogi_bfs('dense', 1, direction => 'up')$$, $$emogi_bfs(NULL, 1)$$, $$emogi_bfs('', 1)$$, $$emogi_bfs('SELECT 1', 1)$$,
    $$emogi_bfs('SELECT 1, 1 / 0', 1)$$, $$emogi_bfs('SELECT src, dst FROM dense WHERE 1 / (src - 4) > 9', 1)$$, $$emogi_bfs('dense', '{{1,2},{3,4}}'::bigint[])$$, $$emogi_bfs('dense', 1 / 0)$$, $$emogi_sssp('dense', 1, -1)$$, $$emogi_sssp('dense', 1, 'NaN')$$, $$emogi_sssp('negative', 1)$$, $$emogi_sssp('wrong', 1)$$,
    $$emogi_sswp('negative', 2)$$, $$emogi_pagerank('dense', 2)$$, $$emogi_pagerank('dense', max_iterations => -1)$$, $$emogi_heat('dense', 'SELECT 1')$$, $$emogi_heat('dense', 'SELECT 1, 1', -1)$$, $$emogi_neural('dense', 'VALUES (1, 1), (1, 2)')$$,
    $$emogi_neural('VALUES (1, 2, 1e308), (3, 2, 1e308)', 'VALUES (1, 1e308), (3, 1e308)', 3)$$, $$emogi_heat('VALUES (1, 2, 1e308)', 'SELECT 1, 1e308', 3)$$, $$emogi_circuit('negative', 'SELECT 1, 1')$$]) WITH ORDINALITY f(f, n),
  unnest(ARRAY['SELECT * FROM %s', 'SELECT * FROM %s LIMIT 1', 'SELECT vertex FROM %s', 'SELECT count(*) FROM %s', 'SELECT * FROM %s WHERE vertex = 1', 'SELECT * FROM %s WHERE vertex IN (2, 5, 9)', 'SELECT v, (SELECT count(*) FROM %s WHERE vertex = v) FROM probe']) q
  GROUP BY f, n ORDER BY n;
-- An invalid limit is not an error: it is ignored, but the argument is still checked.
SELECT same($$ SELECT * FROM emogi_bfs('dense', 1, -1) WHERE level <= 2 $$), same($$ SELECT * FROM emogi_bfs('nowhere', 1) WHERE level < 0 $$), same($$ SELECT * FROM emogi_bfs('nowhere', 1) WHERE vertex = ANY ('{}') $$),
  same($$ SELECT * FROM emogi_sssp('negative', 1) WHERE distance < 0 $$), same($$ SELECT * FROM emogi_sssp('negative', 1) WHERE distance <= 'NaN' $$), same($$ SELECT * FROM emogi_bfs('nowhere', 1) WHERE vertex = 4 AND vertex = (SELECT 5) $$),
  same($$ SELECT * FROM emogi_bfs('nowhere', 1) WHERE false $$), same($$ SELECT * FROM emogi_bfs('nowhere', 1) WHERE level <= (SELECT NULL::int) $$), same($$ SELECT * FROM emogi_bfs('dense', 1, -1) WHERE vertex = (SELECT NULL::int) $$), same($$ SELECT * FROM emogi_bfs('nowhere', 1) LIMIT 0 $$);
-- Contradictory constants: 17 and later detect them during planning, and have no scan then.
SELECT split_part(same($$ SELECT * FROM emogi_bfs('dense', 1) WHERE vertex = 4 AND vertex = 5 $$), ', ', 2), split_part(same($$ SELECT * FROM emogi_bfs('dense', 1) WHERE level = 2 AND level = 3 $$), ', ', 2),
  split_part(same($$ SELECT * FROM emogi_bfs('nowhere', 1) WHERE vertex = 4 AND vertex = 5 $$), ', ', 2);
-- Errors of the query itself while reading the rows.
SELECT same($$ SELECT 1 / (vertex - 4) FROM emogi_bfs('dense', 1) $$), same($$ SELECT vertex FROM emogi_bfs('dense', 1) WHERE 1 / (level - 2) < 9 $$), same($$ SELECT 1 / (vertex - 4) FROM emogi_bfs('dense', 1) LIMIT 3 $$),
  same($$ SELECT vertex FROM emogi_bfs('dense', 1) WHERE vertex = 1 / (SELECT 0) $$), same($$ SELECT (SELECT vertex FROM emogi_bfs('dense', 1)) $$);
SELECT count(*) FROM emogi_progress WHERE pid = pg_backend_pid();

-- EXPLAIN does not execute it, so there is no error yet.
SELECT plan($$ SELECT * FROM emogi_bfs('nowhere', 1) $$);
SELECT plan($$ SELECT * FROM emogi_bfs('dense', 1, -1) LIMIT 0 $$);
SELECT plan($$ SELECT * FROM emogi_heat('dense', 'SELECT') WHERE vertex = 1 $$);

--
-- emogi_runs: a row per run; stopping early is not a failure, and a limit shortens the run.
--
CREATE FUNCTION runs_of(query text, setting text DEFAULT 'on') RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  last bigint := (SELECT coalesce(max(id), 0) FROM emogi_runs);
BEGIN
  PERFORM set_config('emogi.enable_scan', setting, true), rows_of(query), set_config('emogi.enable_scan', 'on', true);
  RETURN (SELECT string_agg(format('%s %s %s', n, function, status), ', ' ORDER BY function, status)
    FROM (SELECT function, status, count(*) AS n FROM emogi_runs WHERE id > last AND pid = pg_backend_pid() GROUP BY 1, 2) r);
END $$;
SELECT runs_of($$ SELECT * FROM emogi_bfs('dense', 1) $$), runs_of($$ SELECT * FROM emogi_bfs('dense', 1) LIMIT 1 $$), runs_of($$ SELECT * FROM emogi_bfs('dense', 1) LIMIT 0 $$), runs_of($$ SELECT * FROM emogi_bfs('dense', 1) WHERE vertex = 99 $$),
  runs_of($$ SELECT 1 / (vertex - 4) FROM emogi_bfs('dense', 1) $$), runs_of($$ SELECT * FROM emogi_bfs('dense', 1, -1) $$), runs_of($$ SELECT * FROM emogi_bfs('dense', NULL::bigint) $$);
SET emogi.enable_batch = off;
SELECT runs_of($$ SELECT * FROM emogi_bfs('dense', 1) JOIN emogi_cc('dense') USING (vertex) $$), runs_of($$ SELECT v, (SELECT level FROM emogi_bfs('dense', 1) WHERE vertex = v) FROM probe $$),
  runs_of($$ SELECT v FROM probe, emogi_bfs('dense', 1) WHERE vertex < v $$), runs_of($$ SELECT * FROM (VALUES (1), (4), (5)) p(v), emogi_bfs('dense', v) f $$);
RESET emogi.enable_batch;
-- An outer value that occurs only in a condition does not cause another run.
SELECT runs_of(q, 'off'), runs_of(q, 'on') FROM unnest(ARRAY[$$ SELECT v, (SELECT count(*) FROM emogi_bfs('dense', 1) WHERE vertex <> v) FROM probe $$,
  $$ SELECT v, (SELECT count(*) FROM emogi_bfs('dense', 1) WHERE level > k) FROM probe $$, $$ SELECT v, s.n FROM probe, LATERAL (SELECT count(*) AS n FROM emogi_bfs('dense', 1) WHERE vertex < v OFFSET 0) s $$,
  $$ SELECT v, (SELECT count(*) FROM emogi_bfs('dense', 1) WHERE vertex = ANY (a)) FROM probe $$, $$ SELECT * FROM probe LEFT JOIN emogi_bfs('dense', 1) ON vertex = v AND level <= k $$,
  $$ SELECT v, s.n FROM probe p, LATERAL (SELECT count(*) AS n FROM emogi_bfs('dense', 1) f JOIN probe q ON q.k = f.level WHERE q.v <> p.v OFFSET 0) s $$]) WITH ORDINALITY q(q, n) ORDER BY n;
SET enable_hashjoin = off;
SET enable_mergejoin = off;
SET enable_material = off;
SELECT runs_of($$ SELECT * FROM probe LEFT JOIN emogi_bfs('dense', 1) ON vertex = v AND level <= k $$), runs_of($$ SELECT * FROM probe LEFT JOIN emogi_bfs('dense', 1) ON vertex = v $$), runs_of($$ SELECT * FROM probe LEFT JOIN emogi_bfs('dense', 1) ON vertex < v $$);
RESET enable_hashjoin;
RESET enable_mergejoin;
RESET enable_material;
BEGIN;
DECLARE c CURSOR FOR SELECT vertex FROM emogi_bfs('dense', 1);
DECLARE d CURSOR FOR SELECT vertex FROM emogi_bfs('dense', 1);
DECLARE e CURSOR FOR SELECT vertex FROM emogi_bfs('dense', 1);
FETCH 2 FROM c;
FETCH 1 FROM d;
SELECT max(id) AS last FROM emogi_runs \gset
CLOSE c;
CLOSE e;
SELECT function, status, rows FROM emogi_runs WHERE id > :last AND pid = pg_backend_pid() ORDER BY id;
COMMIT;
SELECT function, status, rows FROM emogi_runs WHERE id > :last AND pid = pg_backend_pid() ORDER BY id;
-- The limit stops the traversal.
CREATE FUNCTION traversed(query text) RETURNS bigint LANGUAGE plpgsql AS $$
BEGIN
  IF cardinality(rows_of(query)) > 0 THEN
    RETURN (SELECT edges_traversed FROM emogi_runs WHERE pid = pg_backend_pid() ORDER BY id DESC LIMIT 1);
  END IF;
END $$;
SELECT f, traversed('SELECT count(*) FROM ' || f) < traversed('SELECT count(*) FROM ' || split_part(f, ' WHERE', 1)) / 2 AS shorter
  FROM unnest(ARRAY[$$emogi_bfs('chain', 1) WHERE level <= 2$$, $$emogi_bfs('chain', 1) WHERE level < 2$$, $$emogi_bfs('chain', 1) WHERE 2::bigint = level$$, $$emogi_bfs('chain', 1) WHERE level <= (SELECT 2)$$, $$emogi_bfs('chain', 1) WHERE level BETWEEN 1 AND 2$$,
    $$emogi_bfs('chain', 1, 400) WHERE level <= 2$$, $$emogi_sssp('chain', 1) WHERE distance <= 2$$, $$emogi_sssp('chain', 1) WHERE distance < 2::real$$, $$emogi_sssp('chain', 1) WHERE distance = 2$$, $$emogi_bfs('chain', 1) WHERE level > 2$$, $$emogi_sssp('chain', 1) WHERE distance <= 'NaN'$$]) WITH ORDINALITY f(f, n) ORDER BY n;

-- Many cursors with small results: none is rejected. With large results one is eventually rejected,
-- for lack of memory or of slots, and nothing is leaked.
CREATE FUNCTION open_cursors(graph text, n int) RETURNS TABLE (many bool, refused text) LANGUAGE plpgsql AS $$
DECLARE
  c refcursor;
  r record;
BEGIN
  many := false;
  FOR i IN 1 .. n LOOP
    c := 'cursor ' || graph || i;
    OPEN c FOR SELECT * FROM emogi_bfs(graph, 1);
    FETCH c INTO r;
    many := i > 100;
  END LOOP;
  RETURN NEXT;
EXCEPTION WHEN insufficient_resources OR out_of_memory THEN
  refused := 'refused';
  RETURN NEXT;
END $$;
CREATE TABLE wide AS SELECT 1 AS src, i AS dst FROM generate_series(2, 40000) i;
SELECT * FROM open_cursors('dense', 5000);
SELECT * FROM open_cursors('wide', 5000);
SELECT count(*) > 0 AS works FROM emogi_bfs('dense', 1);
SELECT count(*) AS calls FROM emogi_progress WHERE pid = pg_backend_pid() AND function = 'emogi_bfs';

SET client_min_messages = warning;
DROP SCHEMA test_scan CASCADE;
DROP ROLE regress_emogi_scan;
