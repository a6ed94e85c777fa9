-- Joins with a call's rows on `vertex`: lookups in the result of one run give the same answers as
-- PostgreSQL's own joins.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS emogi;
DROP ROLE IF EXISTS regress_emogi_member;
RESET client_min_messages;
CREATE SCHEMA test_member;
SET search_path = test_member, public;
SET emogi.engine = cpu;
SET max_parallel_workers_per_gather = 0;
SET jit = off;
\pset format unaligned
\pset tuples_only on
\pset null (null)

-- A random graph, a chain of negative keys, a star, keys beyond 2^32; the same with uuid and text;
-- outer rows with duplicates, NULLs and non-vertices.
CREATE TABLE e AS
  SELECT (g * 7919 % 200)::bigint AS src, (g * 104729 % 197)::bigint AS dst, (1 + g % 13) / 4.0::float8 AS weight FROM generate_series(1, 300) g
  UNION ALL SELECT -g, -g - 1, 1 FROM generate_series(1, 30) g
  UNION ALL SELECT 1, -1, 1
  UNION ALL SELECT 4294967296 * g, 4294967296 * (g + 1), 0.5 FROM generate_series(1, 20) g
  UNION ALL SELECT 1, 4294967296, 2;
CREATE TABLE u AS SELECT md5(src::text)::uuid AS src, md5(dst::text)::uuid AS dst FROM e;
CREATE TABLE s AS SELECT 'v' || src AS src, 'v' || dst AS dst FROM e;
CREATE TABLE c AS SELECT src::varchar(20) COLLATE "C" AS src, dst::varchar(20) COLLATE "C" AS dst FROM s;
CREATE TABLE none (src bigint, dst bigint);
CREATE TABLE o AS
  SELECT i AS id, CASE WHEN i % 11 = 0 THEN NULL WHEN i % 7 = 0 THEN -(i % 35)::bigint WHEN i % 9 = 0 THEN 4294967296 * (i % 30) ELSE (i * 31) % 260 END AS x,
         (i % 230)::int AS n, (i % 210)::smallint AS m, i % 5 AS k FROM generate_series(1, 400) i;
ALTER TABLE o ADD u uuid, ADD t text;
UPDATE o SET u = md5(x::text)::uuid, t = 'v' || x;
CREATE TABLE empty (x bigint);
ANALYZE;

-- ways(): does a join use lookups if possible, and are its rows the same with other joins, and with
-- PostgreSQL's function scan? An error counts as an answer.
CREATE FUNCTION ways(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  settings text[] := '{"on on", "off on", "off off"}';
  joins text[] := '{}';
  answers text[] := '{}';
  answer text;
  line text;
BEGIN
  PERFORM set_config('extra_float_digits', '3', true), set_config('enable_hashjoin', 'off', true), set_config('enable_mergejoin', 'off', true), set_config('enable_nestloop', 'off', true);
  FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
    IF line ~ '^ *Join: ' THEN joins := joins || substring(line FROM 'Join: (.*)'); END IF;
  END LOOP;
  FOR way IN 1 .. 3 LOOP
    PERFORM set_config('emogi.enable_join_lookup', split_part(settings[way], ' ', 1), true), set_config('emogi.enable_scan', split_part(settings[way], ' ', 2), true);
    BEGIN
      EXECUTE 'SELECT count(*) || '' rows '' || coalesce(md5(string_agg(q::text, '';'' ORDER BY q::text)), '''') FROM (' || query || ') q' INTO answer;
    EXCEPTION WHEN OTHERS THEN answer := SQLSTATE || ' ' || SQLERRM;
    END;
    answers := answers || answer;
    PERFORM set_config('enable_hashjoin', 'on', true), set_config('enable_mergejoin', 'on', true), set_config('enable_nestloop', 'on', true);
  END LOOP;
  PERFORM set_config('emogi.enable_join_lookup', 'on', true), set_config('emogi.enable_scan', 'on', true);
  IF answers[1] <> answers[2] OR answers[1] <> answers[3] THEN
    RETURN 'DIFFERS: ' || array_to_string(answers, ' / ');
  END IF;
  RETURN coalesce(nullif(array_to_string(joins, ', '), ''), 'no lookup') || ': ' || regexp_replace(answers[1], ' rows .*', ' rows');
END $$;

-- Kinds of joins.
SELECT q, ways(q) FROM unnest(ARRAY[
  'SELECT * FROM o WHERE EXISTS (SELECT FROM emogi_bfs(''e'', 1, max_depth => 3) b WHERE b.vertex = o.x)',
  'SELECT * FROM o WHERE NOT EXISTS (SELECT FROM emogi_bfs(''e'', 1, max_depth => 3) b WHERE b.vertex = o.x)',
  'SELECT id FROM o WHERE x IN (SELECT vertex FROM emogi_bfs(''e'', 1) WHERE level <= 2)',
  'SELECT id FROM o WHERE x NOT IN (SELECT vertex FROM emogi_bfs(''e'', 1) WHERE level <= 2)',
  'SELECT id FROM o WHERE x = ANY (SELECT vertex FROM emogi_bfs(''e'', 1))',
  'SELECT count(*) FROM o JOIN emogi_bfs(''e'', 1, 2) b ON b.vertex = o.x',
  'SELECT o.id, b.* FROM o JOIN emogi_bfs(''e'', 1) b ON b.vertex = o.x',
  'SELECT o.id, b.level FROM o, emogi_bfs(''e'', 1) b WHERE o.x = b.vertex AND b.level BETWEEN 1 AND 3',
  'SELECT o.id, b.level FROM o LEFT JOIN emogi_bfs(''e'', 1) b ON b.vertex = o.x',
  'SELECT o.id, b.vertex, b.level FROM o LEFT JOIN emogi_bfs(''e'', 1) b ON b.vertex = o.x AND b.level < 3',
  'SELECT o.id, b.vertex, b.level FROM emogi_bfs(''e'', 1) b RIGHT JOIN o ON b.vertex = o.x',
  'SELECT o.id FROM o LEFT JOIN emogi_bfs(''e'', 1) b ON b.vertex = o.x WHERE b.vertex IS NULL',
  'SELECT o.id, b.level, b.vertex FROM o LEFT JOIN emogi_bfs(''e'', 1) b ON b.vertex = o.x WHERE b.vertex IS NULL',
  'SELECT o.id, b.level FROM o LEFT JOIN emogi_bfs(''e'', 1) b ON b.vertex = o.x WHERE b.level IS NULL OR b.level > 3',
  'SELECT o.id, b.level FROM o FULL JOIN emogi_bfs(''e'', 1) b ON b.vertex = o.x',
  'SELECT b.vertex FROM emogi_bfs(''e'', 1) b WHERE EXISTS (SELECT FROM o WHERE o.x = b.vertex)',
  'SELECT b.vertex FROM emogi_bfs(''e'', 1) b WHERE NOT EXISTS (SELECT FROM o WHERE o.x = b.vertex)',
  'SELECT o.id FROM o NATURAL JOIN (SELECT vertex AS x FROM emogi_bfs(''e'', 1)) b']) q;

-- Other comparisons: columns of both sides, subqueries, volatile functions, several lookups.
SELECT q, ways(q) FROM unnest(ARRAY[
  'SELECT o.id FROM o WHERE EXISTS (SELECT FROM emogi_bfs(''e'', 1) b WHERE b.vertex = o.x AND b.level < o.k)',
  'SELECT o.id FROM o WHERE NOT EXISTS (SELECT FROM emogi_bfs(''e'', 1) b WHERE b.vertex = o.x AND b.level < o.k)',
  'SELECT o.id FROM o WHERE NOT EXISTS (SELECT FROM emogi_bfs(''e'', 1) b WHERE b.vertex = o.x AND b.level % 2 = 0)',
  'SELECT o.id FROM o WHERE EXISTS (SELECT FROM emogi_bfs(''e'', 1) b WHERE b.vertex = o.x AND b.level % 2 = 0 AND b.level >= 2)',
  'SELECT o.id, b.level FROM o LEFT JOIN emogi_bfs(''e'', 1) b ON b.vertex = o.x AND b.level = o.k',
  'SELECT o.id, b.level FROM o LEFT JOIN emogi_bfs(''e'', 1) b ON b.vertex = o.x AND o.k = 2',
  'SELECT o.id, b.level FROM o LEFT JOIN emogi_bfs(''e'', 1) b ON b.vertex = o.x AND b.level > (SELECT min(k) FROM o)',
  'SELECT o.id, b.level FROM o JOIN emogi_bfs(''e'', 1) b ON b.vertex = o.x AND b.level <= (SELECT max(k) FROM o WHERE id < 3)',
  'SELECT o.id, b.level FROM o JOIN emogi_bfs(''e'', 1) b ON b.vertex = o.x + 1',
  'SELECT o.id, b.level FROM o JOIN emogi_bfs(''e'', 1) b ON b.vertex = o.x AND b.vertex = o.n',
  'SELECT o.id, b.level FROM o JOIN emogi_bfs(''e'', 1) b ON b.vertex = o.x AND b.vertex IN (1, 2, 3, 64)',
  'SELECT o.id, b.level FROM o JOIN emogi_bfs(''e'', 1) b ON b.vertex = o.x AND b.vertex > 10',
  'SELECT o.id, b.level FROM o JOIN emogi_bfs(''e'', 1) b ON b.vertex = o.x WHERE o.x = 5',
  'SELECT o.id, b.level FROM o JOIN emogi_bfs(''e'', 1) b ON b.vertex = o.x WHERE current_setting(''jit'') = ''off''',
  'SELECT o.id, b.level FROM o JOIN emogi_bfs(''e'', 1) b ON b.vertex = o.x WHERE current_setting(''jit'') = ''none''',
  'SELECT o.id, b.level FROM o LEFT JOIN emogi_bfs(''e'', 1) b ON b.vertex = o.x AND current_setting(''jit'') = ''none''',
  'SELECT o.id FROM o WHERE EXISTS (SELECT FROM emogi_bfs(''e'', 1, 2) b WHERE b.vertex = o.x) AND NOT EXISTS (SELECT FROM emogi_bfs(''e'', 1, 1) b WHERE b.vertex = o.x)',
  'SELECT o.id, a.level, b.level FROM o LEFT JOIN emogi_bfs(''e'', 1) a ON a.vertex = o.x LEFT JOIN emogi_bfs(''e'', 2) b ON b.vertex = o.n AND b.level > a.level',
  'SELECT o.id, b.level FROM emogi_bfs(''e'', 1) a JOIN emogi_bfs(''e'', 2) b ON a.vertex = b.vertex JOIN o ON o.x = a.vertex',
  'SELECT o.id, p.id, b.level FROM o JOIN o p ON o.n = p.id LEFT JOIN emogi_bfs(''e'', 1) b ON b.vertex = p.x AND b.level > o.k',
  'SELECT o.id, p.id, b.level FROM o LEFT JOIN (o p LEFT JOIN emogi_bfs(''e'', 1) b ON b.vertex = p.x) ON o.n = p.id AND o.k = 1',
  'SELECT o.id, p.id, b.level FROM o LEFT JOIN o p ON o.n = p.id LEFT JOIN emogi_bfs(''e'', 1) b ON b.vertex = p.x',
  'SELECT o.id, p.id, b.level FROM o LEFT JOIN o p ON o.n = p.id LEFT JOIN emogi_bfs(''e'', 1) b ON b.vertex = p.x AND p.k = b.level',
  'SELECT o.id, p.id, b.level FROM o FULL JOIN (SELECT * FROM o WHERE k = 1) p ON o.n = p.id LEFT JOIN emogi_bfs(''e'', 1) b ON b.vertex = coalesce(o.x, p.x)',
  'SELECT o.id, b.l FROM o LEFT JOIN (SELECT vertex, coalesce(level, -1) AS l FROM emogi_bfs(''e'', 1)) b ON b.vertex = o.x',
  'SELECT o.id, b.l FROM o LEFT JOIN (SELECT vertex, 7 AS l FROM emogi_bfs(''e'', 1)) b ON b.vertex = o.x',
  'SELECT o.id, b.l FROM o LEFT JOIN (SELECT vertex, 7 AS l FROM emogi_bfs(''e'', 1)) b ON b.vertex = o.x WHERE b.vertex IS NULL',
  'SELECT o.id, b.l FROM o LEFT JOIN (SELECT vertex, level IS NOT NULL AS l FROM emogi_bfs(''e'', 1) WHERE level > 1) b ON b.vertex = o.x AND b.l',
  'SELECT o.id, q.l FROM o LEFT JOIN (SELECT p.id, b.level + p.k AS l FROM o p JOIN emogi_bfs(''e'', 1) b ON b.vertex = p.x) q ON q.id = o.n',
  'SELECT o, b.level FROM o LEFT JOIN emogi_bfs(''e'', 1) b ON b.vertex = o.x',
  'SELECT o.id, b FROM o LEFT JOIN emogi_bfs(''e'', 1) b ON b.vertex = o.x',
  'SELECT o.ctid, o.tableoid::regclass, b.level FROM o JOIN emogi_bfs(''e'', 1) b ON b.vertex = o.x']) q;

-- Functions and columns.
SELECT q, ways(q) FROM unnest(ARRAY[
  'SELECT o.id, b.distance FROM o JOIN emogi_sssp(''e'', 1) b ON b.vertex = o.x WHERE b.distance <= 4',
  'SELECT o.id, b.distance FROM o JOIN emogi_sssp(''e'', 1) b ON b.vertex = o.x AND b.distance > 2.5',
  'SELECT o.id, b.width FROM o LEFT JOIN emogi_sswp(''e'', 1) b ON b.vertex = o.x',
  'SELECT o.id, b.paths FROM o LEFT JOIN emogi_ssnsp(''e'', 1) b ON b.vertex = o.x AND b.paths > 1',
  'SELECT o.id, b.component FROM o JOIN emogi_cc(''e'') b ON b.vertex = o.x WHERE b.component = 0',
  'SELECT o.id, b.component FROM o JOIN emogi_cc(''e'') b ON b.component = o.x',
  'SELECT o.id FROM o WHERE NOT EXISTS (SELECT FROM emogi_cc(''e'') b WHERE b.vertex = o.x)',
  'SELECT o.id, b.rank FROM o JOIN emogi_pagerank(''e'') b ON b.vertex = o.x WHERE b.rank > 0.001',
  'SELECT o.id, b.value FROM o LEFT JOIN emogi_heat(''e'', ''SELECT vertex, vertex % 7 FROM emogi_cc(''''e'''')'', max_iterations => 2) b ON b.vertex = o.x',
  'SELECT o.id, p.* FROM o JOIN emogi_shortest_path(''e'', 1, 64) p ON p.vertex = o.x']) q;

-- Keys of other types, and comparisons with values of other types.
SELECT q, ways(q) FROM unnest(ARRAY[
  'SELECT id FROM o WHERE EXISTS (SELECT FROM emogi_bfs(''e'', 1) b WHERE b.vertex = o.n)',
  'SELECT id FROM o WHERE NOT EXISTS (SELECT FROM emogi_bfs(''e'', 1) b WHERE b.vertex = o.m)',
  'SELECT id FROM o WHERE m IN (SELECT vertex FROM emogi_bfs(''e'', 1))',
  'SELECT id FROM o WHERE x::numeric IN (SELECT vertex FROM emogi_bfs(''e'', 1))',
  'SELECT id FROM o WHERE x::text IN (SELECT vertex::text FROM emogi_bfs(''e'', 1))',
  'SELECT id, b.* FROM o LEFT JOIN emogi_bfs(''u'', md5(''1'')::uuid) b ON b.vertex = o.u',
  'SELECT id FROM o WHERE u IN (SELECT vertex FROM emogi_bfs(''u'', md5(''1'')::uuid) WHERE level BETWEEN 2 AND 4)',
  'SELECT id FROM o WHERE NOT EXISTS (SELECT FROM emogi_bfs(''u'', md5(''1'')::uuid) b WHERE b.vertex = o.u)',
  'SELECT id, b.component FROM o JOIN emogi_cc_uuid(''u'') b ON b.vertex = o.u',
  'SELECT id, b.* FROM o LEFT JOIN emogi_bfs(''s'', ''v1'') b ON b.vertex = o.t',
  'SELECT id FROM o WHERE t IN (SELECT vertex FROM emogi_bfs(''s'', ''v1'') WHERE level BETWEEN 2 AND 4)',
  'SELECT id FROM o WHERE NOT EXISTS (SELECT FROM emogi_bfs(''s'', ''v1'') b WHERE b.vertex = o.t)',
  'SELECT id FROM o WHERE NOT EXISTS (SELECT FROM emogi_bfs(''c'', ''v1'') b WHERE b.vertex = o.t)',
  'SELECT id FROM o WHERE NOT EXISTS (SELECT FROM emogi_bfs(''s'', ''v1'') b WHERE b.vertex = o.t COLLATE "C")',
  'SELECT id, b.vertex FROM o LEFT JOIN emogi_bfs(''e'', ''1'') b ON b.vertex = o.x::text',
  'SELECT id FROM o WHERE EXISTS (SELECT FROM emogi_bfs(''u'', md5(''1'')::uuid::text) b WHERE b.vertex = o.u::text)',
  'SELECT id FROM o WHERE EXISTS (SELECT FROM emogi_bfs(''SELECT src, dst FROM s'', ''v1'') b WHERE b.vertex = o.t)']) q;

-- Keys that are equal but have different text, if the server has such collations: matches are
-- compared again.
DO $$
DECLARE
  query text;
BEGIN
  CREATE COLLATION caseless (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
  CREATE TABLE d AS SELECT CASE WHEN src % 2 = 0 THEN 'V' ELSE 'v' END || src::text COLLATE caseless AS src, 'v' || dst::text COLLATE caseless AS dst FROM e;
  ANALYZE d;
  FOREACH query IN ARRAY ARRAY['LEFT JOIN emogi_bfs(''d'', ''v1'') b ON b.vertex = o.t', 'LEFT JOIN emogi_bfs(''d'', ''v1'') b ON b.vertex = upper(o.t)',
    'JOIN emogi_bfs(''d'', ''v1'') b ON b.vertex = o.t', 'LEFT JOIN emogi_bfs(''s'', ''v1'') b ON b.vertex = o.t COLLATE caseless'] LOOP
    IF ways('SELECT o.id, b.vertex FROM o ' || query) LIKE 'DIFFERS%' OR ways('SELECT o.id FROM o ' || query || ' WHERE b.vertex IS NULL') LIKE 'DIFFERS%' THEN
      RAISE WARNING '%', query;
    END IF;
  END LOOP;
  IF ways('SELECT o.id, b.vertex FROM o LEFT JOIN emogi_bfs(''d'', ''v1'') b ON b.vertex = o.t') NOT LIKE 'left: %' THEN
    RAISE WARNING 'no lookup';
  END IF;
EXCEPTION WHEN feature_not_supported THEN NULL;
END $$;

-- No rows to look up, or none that look up; missing objects.
SELECT q, ways(q) FROM unnest(ARRAY[
  'SELECT id FROM o WHERE EXISTS (SELECT FROM emogi_bfs(''none'', 1) b WHERE b.vertex = o.x)',
  'SELECT id FROM o WHERE NOT EXISTS (SELECT FROM emogi_bfs(''none'', 1) b WHERE b.vertex = o.x)',
  'SELECT id, b.level FROM o LEFT JOIN emogi_bfs(''none'', 1) b ON b.vertex = o.x',
  'SELECT id, b.level FROM o LEFT JOIN emogi_bfs(''e'', 999999) b ON b.vertex = o.x',
  'SELECT id FROM o WHERE NOT EXISTS (SELECT FROM emogi_bfs(''e'', NULL::bigint) b WHERE b.vertex = o.x)',
  'SELECT id FROM o WHERE EXISTS (SELECT FROM emogi_bfs(''e'', 1) b WHERE b.vertex = o.x AND b.level <= -1)',
  'SELECT id FROM o WHERE NOT EXISTS (SELECT FROM emogi_bfs(''e'', 1) b WHERE b.vertex = o.x AND b.level <= NULL)',
  'SELECT id FROM o WHERE NOT EXISTS (SELECT FROM emogi_bfs(''e'', 1) b WHERE b.vertex = o.x AND b.level < (SELECT NULL::int))',
  'SELECT x FROM empty WHERE EXISTS (SELECT FROM emogi_bfs(''e'', 1) b WHERE b.vertex = empty.x)',
  'SELECT x FROM empty WHERE NOT EXISTS (SELECT FROM emogi_bfs(''e'', 1) b WHERE b.vertex = empty.x)',
  'SELECT id FROM o WHERE EXISTS (SELECT FROM emogi_bfs(''no such table'', 1) b WHERE b.vertex = o.x)',
  'SELECT id FROM o WHERE EXISTS (SELECT FROM emogi_bfs(''e'', 1, -3) b WHERE b.vertex = o.x)',
  'SELECT id FROM o WHERE EXISTS (SELECT FROM emogi_bfs(''u'', 1) b WHERE b.vertex = o.x)']) q;

-- Parameters from outside: a run for each value, or one for all.
SELECT q, ways(q) FROM unnest(ARRAY[
  'SELECT s, (SELECT count(*) FROM o JOIN emogi_bfs(''e'', s) b ON b.vertex = o.x) FROM generate_series(1, 9) s',
  'SELECT s, (SELECT count(*) FROM o JOIN emogi_bfs(''e'', 1) b ON b.vertex = o.x WHERE o.k = s) FROM generate_series(1, 9) s',
  'SELECT s, (SELECT count(*) FROM o JOIN emogi_bfs(''e'', 1, s) b ON b.vertex = o.x + s) FROM generate_series(1, 9) s',
  'SELECT s, (SELECT count(*) FROM o WHERE NOT EXISTS (SELECT FROM emogi_bfs(''e'', 1) b WHERE b.vertex = o.x AND b.level > s)) FROM generate_series(1, 9) s',
  'SELECT s, EXISTS (SELECT FROM emogi_bfs(''e'', 1) b JOIN o ON o.x = b.vertex WHERE o.id = s) FROM generate_series(1, 9) s',
  'SELECT s, q.* FROM generate_series(1, 4) s, LATERAL (SELECT o.id, b.level FROM o JOIN emogi_bfs(''e'', s) b ON b.vertex = o.x OFFSET 0) q',
  'SELECT s, q.* FROM generate_series(1, 4) s LEFT JOIN LATERAL (SELECT o.id, b.level FROM o LEFT JOIN emogi_bfs(''e'', 1, s) b ON b.vertex = o.x WHERE o.k = s) q ON true',
  'SELECT o.id, b.level FROM o JOIN LATERAL emogi_bfs(''e'', o.k) b ON b.vertex = o.x',
  'WITH b AS (SELECT * FROM emogi_bfs(''e'', 1)) SELECT id FROM o WHERE EXISTS (SELECT FROM b WHERE b.vertex = o.x)',
  'WITH b AS MATERIALIZED (SELECT * FROM emogi_bfs(''e'', 1)) SELECT id FROM o WHERE EXISTS (SELECT FROM b WHERE b.vertex = o.x)',
  'WITH q AS MATERIALIZED (SELECT o.* FROM o WHERE EXISTS (SELECT FROM emogi_bfs(''e'', 1) b WHERE b.vertex = o.x)) SELECT q.id, p.id FROM q JOIN q p ON q.n = p.id',
  'WITH RECURSIVE r AS (SELECT 1::bigint AS x UNION SELECT o.n FROM r JOIN o ON o.id = r.x JOIN emogi_bfs(''e'', 1) b ON b.vertex = o.n) SELECT * FROM r',
  'SELECT o.k, count(*), count(b.vertex) FROM o LEFT JOIN emogi_bfs(''e'', 1) b ON b.vertex = o.x GROUP BY o.k HAVING count(b.vertex) > 3',
  'SELECT * FROM (SELECT id FROM o WHERE EXISTS (SELECT FROM emogi_bfs(''e'', 1) b WHERE b.vertex = o.x) ORDER BY id LIMIT 5 OFFSET 2) q',
  'SELECT id FROM o WHERE EXISTS (SELECT FROM emogi_bfs(''e'', 1) b WHERE b.vertex = o.x LIMIT 1)',
  'SELECT id FROM o WHERE x IN (SELECT vertex FROM emogi_bfs(''e'', 1) UNION ALL SELECT vertex FROM emogi_bfs(''e'', -3))',
  'SELECT v.x FROM (VALUES (1::bigint), (64), (NULL), (-9), (1)) v (x) WHERE EXISTS (SELECT FROM emogi_bfs(''e'', 1) b WHERE b.vertex = v.x)']) q;

-- Plans.
\pset tuples_only off
EXPLAIN (COSTS OFF) SELECT * FROM o WHERE EXISTS (SELECT FROM emogi_bfs('e', 1, 3) b WHERE b.vertex = o.x);
EXPLAIN (COSTS OFF) SELECT id FROM o WHERE x IN (SELECT vertex FROM emogi_bfs('e', 1) WHERE level <= 2);
EXPLAIN (COSTS OFF) SELECT id FROM o WHERE NOT EXISTS (SELECT FROM emogi_bfs('e', 1) b WHERE b.vertex = o.x AND b.level % 2 = o.k);
EXPLAIN (COSTS OFF, VERBOSE) SELECT o.id, b.level FROM o JOIN emogi_bfs('e', 1) b ON b.vertex = o.n WHERE b.level > 1;
SET enable_hashjoin = off;
SET enable_mergejoin = off;
EXPLAIN (COSTS OFF, VERBOSE) SELECT o.id, b.level FROM o LEFT JOIN emogi_bfs('s', 'v1') b ON b.vertex = o.t;
RESET enable_hashjoin;
RESET enable_mergejoin;
-- statistics: one run, and none without outer rows
CREATE FUNCTION analyzed(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
  line text;
BEGIN
  FOR line IN EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF, BUFFERS OFF) ' || query LOOP
    RETURN NEXT regexp_replace(line, '[.]00', '');
  END LOOP;
END $$;
SELECT analyzed('SELECT id FROM o WHERE x IN (SELECT vertex FROM emogi_bfs(''e'', 1) WHERE level <= 2)');
SELECT analyzed('SELECT id FROM o WHERE EXISTS (SELECT FROM emogi_bfs(''e'', 1) b WHERE b.vertex = o.x AND level % 2 = k)');
SELECT analyzed('SELECT x FROM empty WHERE x IN (SELECT vertex FROM emogi_bfs(''e'', 1))');
SET emogi.enable_join_lookup = off;
EXPLAIN (COSTS OFF) SELECT * FROM o WHERE EXISTS (SELECT FROM emogi_bfs('e', 1, 3) b WHERE b.vertex = o.x);
RESET emogi.enable_join_lookup;
\pset tuples_only on

-- The order of the outer rows is preserved.
CREATE INDEX o_id ON o (id);
SET enable_seqscan = off;
SET enable_sort = off;
SELECT id FROM o WHERE EXISTS (SELECT FROM emogi_bfs('e', 1) b WHERE b.vertex = o.x) ORDER BY id LIMIT 3;
EXPLAIN (COSTS OFF) SELECT id FROM o WHERE EXISTS (SELECT FROM emogi_bfs('e', 1) b WHERE b.vertex = o.x) ORDER BY id LIMIT 3;
RESET enable_seqscan;
RESET enable_sort;
DROP INDEX o_id;

-- Prepared statements, with custom and generic plans.
PREPARE reached(bigint, int) AS SELECT count(*), sum(o.id) FROM o WHERE EXISTS (SELECT FROM emogi_bfs('e', $1, $2) b WHERE b.vertex = o.x);
PREPARE named(text, text) AS SELECT count(*), sum(o.id) FROM o JOIN emogi_bfs($1, $2) b ON b.vertex = o.t;
SET plan_cache_mode = force_custom_plan;
EXECUTE reached(1, 2);
EXECUTE reached(NULL, NULL);
EXECUTE named('s', 'v1');
SET plan_cache_mode = force_generic_plan;
EXECUTE reached(1, 2);
EXECUTE reached(-3, 5);
EXECUTE reached(NULL, NULL);
EXECUTE named('s', 'v1');
EXECUTE named('u', md5('1'));
-- a plan whose text key changes its type is rebuilt
PREPARE texts AS SELECT count(*), sum(o.id) FROM o JOIN emogi_bfs('k', 'v1') b ON b.vertex = o.t;
CREATE TABLE k AS SELECT * FROM s;
EXECUTE texts;
ALTER TABLE k ALTER src TYPE text COLLATE "C", ALTER dst TYPE text COLLATE "C";
EXECUTE texts;
DROP TABLE k;
CREATE TABLE k AS SELECT src::char(9) AS src, dst::char(9) AS dst FROM s;
EXECUTE texts;
RESET plan_cache_mode;

-- Cursors, back and forth; a table written meanwhile.
BEGIN;
DECLARE forward CURSOR FOR SELECT id FROM o WHERE EXISTS (SELECT FROM emogi_bfs('e', 1) b WHERE b.vertex = o.x) ORDER BY id;
DECLARE back SCROLL CURSOR FOR SELECT id, b.level FROM o JOIN emogi_bfs('e', 1) b ON b.vertex = o.x WHERE o.id < 30;
DECLARE held CURSOR WITH HOLD FOR SELECT id FROM o WHERE NOT EXISTS (SELECT FROM emogi_bfs('e', 1) b WHERE b.vertex = o.x) AND id < 60;
FETCH 2 FROM forward;
FETCH 3 FROM back;
FETCH BACKWARD 2 FROM back;
FETCH FIRST FROM back;
FETCH LAST FROM back;
FETCH RELATIVE 1 FROM back;
FETCH PRIOR FROM back;
DELETE FROM e WHERE src = 1;
SELECT count(*) FROM o WHERE EXISTS (SELECT FROM emogi_bfs('e', 1) b WHERE b.vertex = o.x);
MOVE ALL FROM forward;
FETCH 1 FROM forward;
TRUNCATE e;
CLOSE forward;
CLOSE back;
ROLLBACK;
BEGIN;
DECLARE held CURSOR WITH HOLD FOR SELECT id FROM o WHERE NOT EXISTS (SELECT FROM emogi_bfs('e', 1) b WHERE b.vertex = o.x) AND id < 60;
COMMIT;
FETCH 2 FROM held;
CLOSE held;

-- Views, also with a security barrier; a hidden row causes no notice.
CREATE VIEW near AS SELECT o.id, o.x, b.level FROM o JOIN emogi_bfs('e', 1) b ON b.vertex = o.x;
CREATE VIEW guarded WITH (security_barrier) AS SELECT * FROM o WHERE EXISTS (SELECT FROM emogi_bfs('e', 1, 2) b WHERE b.vertex = o.x);
CREATE FUNCTION tell(bigint) RETURNS bool LANGUAGE plpgsql COST 0.0001 AS $$ BEGIN RAISE NOTICE 'told of %', $1; RETURN true; END $$;
SELECT q, ways(q) FROM unnest(ARRAY[
  'SELECT * FROM near WHERE level < 3',
  'SELECT * FROM o WHERE EXISTS (SELECT FROM near WHERE near.id = o.n)',
  'SELECT g.id, b.level FROM guarded g JOIN emogi_bfs(''e'', 2) b ON b.vertex = g.n']) q;
SELECT id FROM guarded WHERE id < 7 AND tell(x);

-- Without the privilege to execute the function there is an error, with or without outer rows.
CREATE ROLE regress_emogi_member;
GRANT USAGE ON SCHEMA test_member TO regress_emogi_member;
GRANT SELECT ON ALL TABLES IN SCHEMA test_member TO regress_emogi_member;
REVOKE SELECT ON none FROM regress_emogi_member;
SET ROLE regress_emogi_member;
SELECT count(*) FROM o WHERE EXISTS (SELECT FROM emogi_bfs('e', 1) b WHERE b.vertex = o.x);
SELECT count(*) FROM o WHERE EXISTS (SELECT FROM emogi_bfs('none', 1) b WHERE b.vertex = o.x);
RESET ROLE;
BEGIN;
REVOKE EXECUTE ON FUNCTION emogi_bfs(text, bigint, int, text, text, "any") FROM PUBLIC;
SET LOCAL ROLE regress_emogi_member;
SELECT count(*) FROM empty WHERE EXISTS (SELECT FROM emogi_bfs('e', 1) b WHERE b.vertex = empty.x);
ROLLBACK;

-- Writing statements are left to PostgreSQL, and correct; INSERT reads like SELECT.
CREATE TABLE w AS SELECT * FROM o;
CREATE TABLE copied AS SELECT id FROM o WHERE EXISTS (SELECT FROM emogi_bfs('e', 1) b WHERE b.vertex = o.x);
INSERT INTO copied SELECT -id FROM o WHERE NOT EXISTS (SELECT FROM emogi_bfs('e', 1) b WHERE b.vertex = o.x);
SELECT count(*), count(*) FILTER (WHERE id > 0), sum(id) FROM copied;
UPDATE w SET k = -1 WHERE EXISTS (SELECT FROM emogi_bfs('e', 1) b WHERE b.vertex = w.x);
SELECT count(*), sum(id) FROM w WHERE k = -1;
UPDATE w SET k = b.level FROM emogi_bfs('e', 1) b WHERE b.vertex = w.x;
SELECT sum(k) FROM w;
DELETE FROM w WHERE NOT EXISTS (SELECT FROM emogi_bfs('e', 1) b WHERE b.vertex = w.x);
SELECT count(*), sum(id) FROM w;
DELETE FROM w USING emogi_bfs('e', 1, 2) b WHERE b.vertex = w.x;
SELECT count(*), sum(id) FROM w;
SELECT count(*), sum(id) FROM (SELECT id FROM o WHERE EXISTS (SELECT FROM emogi_bfs('e', 1) b WHERE b.vertex = o.x) FOR UPDATE) q;
-- the edges themselves: each statement sees the rows that existed at its start
BEGIN;
INSERT INTO e (src, dst) SELECT x, -1000 - id FROM o WHERE EXISTS (SELECT FROM emogi_bfs('e', 1) b WHERE b.vertex = o.x);
DELETE FROM e WHERE dst < -1000 AND EXISTS (SELECT FROM emogi_bfs('e', 1, 4) b WHERE b.vertex = e.src);
SELECT count(*) FROM e;
ROLLBACK;

-- Many outer rows: a key map, dense and sparse, again after another run.
CREATE TABLE many AS SELECT (g * 48271::bigint) % 6000 - 500 AS x, g FROM generate_series(1, 20000) g;
CREATE TABLE dense AS SELECT g AS src, (g * 7) % 4000 AS dst FROM generate_series(0, 3999) g;
CREATE TABLE sparse AS SELECT src * 1234567891011 - 4611686018427387904 AS src, dst * 1234567891011 - 4611686018427387904 AS dst FROM dense;
CREATE TABLE ends AS SELECT src, dst FROM dense UNION ALL VALUES (1, (-9223372036854775808)::bigint), (1, 9223372036854775807);
ANALYZE;
SELECT q, ways(q) FROM unnest(ARRAY[
  'SELECT g FROM many WHERE EXISTS (SELECT FROM emogi_bfs(''dense'', 1) b WHERE b.vertex = many.x)',
  'SELECT g, b.level FROM many LEFT JOIN emogi_bfs(''dense'', 1) b ON b.vertex = many.x AND b.level > 1',
  'SELECT g, b.vertex FROM many JOIN emogi_cc(''dense'') b ON b.vertex = many.x WHERE b.component < 20',
  'SELECT g, b.* FROM many JOIN emogi_bfs(''sparse'', 1234567891011 - 4611686018427387904) b ON b.vertex = many.x * 1234567891011 - 4611686018427387904',
  'SELECT g FROM many WHERE NOT EXISTS (SELECT FROM emogi_bfs(''sparse'', 1234567891011 - 4611686018427387904) b WHERE b.vertex = many.x * 1234567891011 - 4611686018427387904)',
  'SELECT g, b.* FROM (SELECT g, CASE g % 3 WHEN 0 THEN x WHEN 1 THEN (-9223372036854775808) ELSE 9223372036854775807 END AS x FROM many) m JOIN emogi_bfs(''ends'', 1) b ON b.vertex = m.x',
  'SELECT s, (SELECT sum(b.level) FROM many JOIN emogi_bfs(''dense'', s) b ON b.vertex = many.x) FROM generate_series(0, 5) s',
  'SELECT s, (SELECT count(*) FROM many WHERE EXISTS (SELECT FROM emogi_bfs(CASE s % 2 WHEN 0 THEN ''dense'' ELSE ''ends'' END, 1, s) b WHERE b.vertex = many.x)) FROM generate_series(1, 5) s']) q;
SET work_mem = '64kB';
SELECT ways('SELECT g, b.level FROM many JOIN emogi_bfs(''ends'', 1) b ON b.vertex = many.x');
RESET work_mem;

-- Random tables, graphs and joins.
DO $$
DECLARE
  joins text[] := ARRAY[
    'SELECT r.* FROM r WHERE EXISTS (SELECT FROM %s b WHERE b.vertex = r.%s AND %s)',
    'SELECT r.* FROM r WHERE NOT EXISTS (SELECT FROM %s b WHERE b.vertex = r.%s AND %s)',
    'SELECT r.id, b.* FROM r JOIN %s b ON b.vertex = r.%s AND %s',
    'SELECT r.id, b.* FROM r LEFT JOIN %s b ON b.vertex = r.%s AND %s',
    'SELECT r.id, p.id, b.* FROM r LEFT JOIN r p ON p.id = r.y LEFT JOIN %s b ON b.vertex = p.%s AND %s',
    'SELECT r.id, p.id, b.level FROM r p LEFT JOIN (r JOIN %s b ON b.vertex = r.%s AND %s) ON p.id = r.y AND b.level > p.k',
    'SELECT r.id, p.id FROM r JOIN r p ON p.id = r.y AND NOT EXISTS (SELECT FROM %s b WHERE b.vertex = p.%s AND %s)'];
  conditions text[] := '{true, b.level <= 2, b.level > 1, b.level < r.k, b.level % 2 = 1, r.k > 1, b.level + r.k = 4, b.vertex < 20}';
  verdict text;
  query text;
BEGIN
  SET LOCAL client_min_messages = warning;
  PERFORM setseed(0.25);
  FOR round IN 1 .. 100 LOOP
    DROP TABLE IF EXISTS g, r;
    CREATE TABLE g AS SELECT floor(random() * (10 + round * 2))::bigint - 5 AS src, floor(random() * (10 + round * 2))::bigint - 5 AS dst FROM generate_series(1, (random() * 200)::int);
    CREATE TABLE r AS SELECT i AS id, nullif(floor(random() * (14 + round * 2))::bigint - 7, 3) AS x, nullif(floor(random() * 60)::int, 2) AS y, (random() * 4)::smallint AS k
      FROM generate_series(1, (random() * 300)::int) i;
    IF random() < 0.7 THEN
      ANALYZE g, r;
    END IF;
    query := format(joins[1 + floor(random() * 7)::int], format('emogi_bfs(''g'', %s, %s)', floor(random() * 10), CASE WHEN random() < 0.5 THEN 'NULL' ELSE floor(random() * 4)::text END),
                    CASE WHEN random() < 0.5 THEN 'x' WHEN random() < 0.5 THEN 'y' ELSE 'k' END, conditions[1 + floor(random() * 8)::int]);
    verdict := ways(query);
    IF verdict LIKE 'DIFFERS%' OR verdict LIKE 'no lookup%' THEN
      RAISE WARNING '%: %', query, verdict;
    END IF;
  END LOOP;
END $$;
SET client_min_messages = warning;
DROP SCHEMA test_member CASCADE;
DROP ROLE regress_emogi_member;
