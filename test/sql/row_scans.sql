-- Scan nodes for rows that are not vertices: hierarchies, edges, blocks, pairs, walks and paths.
-- The rows are those of PostgreSQL's function scan of the plain function.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS emogi;
DROP ROLE IF EXISTS regress_emogi_rows;
RESET client_min_messages;
CREATE SCHEMA test_rows;
SET search_path = test_rows, public;
SET emogi.engine = cpu;
SET jit = off;
\pset format unaligned
\pset tuples_only on
\pset null (null)

-- Two random graphs and a chain, with negative and huge keys; the same with text, with uuid, and
-- with integers returned as text.
CREATE TABLE e AS
  SELECT (g * 7919 % 60)::bigint AS src, (g * 104729 % 59)::bigint AS dst, (1 + g % 13) / 4.0::float8 AS weight FROM generate_series(1, 90) g
  UNION ALL SELECT 1000 + g * 31 % 40, 1000 + g * 17 % 41, g % 5 FROM generate_series(1, 70) g
  UNION ALL SELECT -g, -g - 1, 1 FROM generate_series(1, 12) g
  UNION ALL SELECT 4294967296 * g, 4294967296 * (g + 1), 0.5 FROM generate_series(1, 8) g;
CREATE TABLE t AS SELECT 'v' || src AS src, 'v' || dst AS dst, weight FROM e;
CREATE TABLE u AS SELECT md5(src::text)::uuid AS src, md5(dst::text)::uuid AS dst, weight FROM e;
CREATE TABLE none (src bigint, dst bigint);
CREATE TABLE o AS SELECT i AS id, (i * 31 % 70)::bigint AS x, i % 4 AS k, i::int AS n, 'v' || (i * 31 % 70) AS t, md5((i * 31 % 70)::text)::uuid AS u FROM generate_series(1, 60) i;
INSERT INTO o VALUES (61, NULL, NULL, NULL, NULL, NULL), (62, -3, 1, -3, 'v-3', md5('-3')::uuid), (63, 8589934592, 0, 1, 'v8589934592', md5('8589934592')::uuid);
ANALYZE;

-- ways(): the conditions of the scan, whether PostgreSQL has a remaining filter, and the number of
-- rows, if they are the same, in the same order, with and without scan nodes; each also with other
-- kinds of sorts and joins. An error counts as an answer.
CREATE FUNCTION answer(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  answer text;
BEGIN
  EXECUTE 'SELECT count(*) || '' rows '' || coalesce(md5(string_agg(q::text, '';'')), '''') FROM (' || query || ') q' INTO answer;
  RETURN answer;
EXCEPTION WHEN OTHERS THEN RETURN SQLSTATE || ' ' || SQLERRM;
END $$;
CREATE FUNCTION ways(query text) RETURNS text LANGUAGE plpgsql SET enable_material = off AS $$
DECLARE
  line text;
  seen text := '';
  plain text;
  way text;
  other text;
BEGIN
  PERFORM set_config('emogi.enable_scan', 'off', true);
  plain := answer(query);
  PERFORM set_config('emogi.enable_scan', 'on', true);
  FOREACH way IN ARRAY ARRAY['jit', 'enable_hashjoin', 'enable_mergejoin', 'enable_sort', 'enable_nestloop'] LOOP
    PERFORM set_config(way, 'off', true);
    other := answer(query);
    IF other <> plain THEN
      RETURN format('DIFFERS without %s: %s, not %s', way, other, plain);
    END IF;
    PERFORM set_config(way, 'on', way <> 'jit');
  END LOOP;
  FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
    seen := seen || CASE WHEN line ~ 'Function Scan on emogi' THEN ' collected' WHEN line ~ 'EmogiScan' THEN ' scan' WHEN line ~ '^ *Filter: ' THEN ', filter'
      WHEN line ~ '^ *Pushed Down: ' THEN ', ' || regexp_replace(trim(line), '[$][0-9]+|[(]InitPlan [a-z0-9_]+[)][.]col[0-9]+', '?') ELSE '' END;
  END LOOP;
  RETURN split_part(plain, ' rows ', 1) || CASE WHEN plain ~ ' rows ' THEN ' rows:' ELSE ':' END || seen;
END $$;

-- Every function with all columns, some, none, and with a few rows.
CREATE VIEW calls AS SELECT * FROM (VALUES
  (1, 'emogi_louvain(''e'')', 'community, vertex'), (2, 'emogi_leiden(''e'', 0.5)', 'parent'), (3, 'emogi_louvain_text(''t'')', 'parent, level'), (4, 'emogi_leiden_uuid(''u'')', 'community, parent'),
  (5, 'emogi_louvain_text(''e'')', 'vertex'), (6, 'emogi_louvain(''none'')', 'level'), (7, 'emogi_spanning_forest(''e'')', 'weight, dst'), (8, 'emogi_spanning_forest_text(''t'', true)', 'dst'),
  (9, 'emogi_spanning_forest_uuid(''u'')', 'weight'), (10, 'emogi_bridges(''e'')', 'dst'), (11, 'emogi_bridges_text(''t'')', 'src'), (12, 'emogi_biconnected(''e'')', 'vertex'),
  (13, 'emogi_biconnected_uuid(''u'')', 'component'), (14, 'emogi_similarity(''e'', direction => ''both'')', 'similarity, vertex2'), (15, 'emogi_similarity_text(''t'', top_k => 3)', 'vertex2'),
  (16, 'emogi_similarity_uuid(''u'', ''cosine'', cutoff => 0.3)', 'vertex1'), (17, 'emogi_similarity(''e'', pairs => ''SELECT src, dst FROM e ORDER BY weight, src, dst'')', 'similarity, vertex1'),
  (18, 'emogi_random_walk(''e'', ARRAY[1, 2, 1000, -3]::bigint[], 9, 3)', 'vertex'), (19, 'emogi_random_walk(''t'', ''v2'', 5, 4)', 'vertex, walk'), (20, 'emogi_random_walk(''u'', md5(''7'')::uuid, 20)', 'step'),
  (21, 'emogi_shortest_path(''e'', -1, -9)', 'distance, vertex'), (22, 'emogi_shortest_path(''t'', ''v-1'', ''v-9'')', 'vertex'), (23, 'emogi_shortest_path(''u'', md5(''-2'')::uuid, md5(''-5'')::uuid)', 'seq'),
  (24, 'emogi_shortest_path(''e'', 1, -9)', 'seq'), (25, 'emogi_random_walk(''e'', NULL::bigint)', 'vertex'), (26, 'emogi_similarity(''e'', top_k => 0)', 'vertex1'), (27, 'emogi_louvain(''nothing'')', 'vertex'),
  (28, 'emogi_louvain(''t'')', 'vertex')) c(n, call, columns);
SELECT n, ways('SELECT * FROM ' || call), ways('SELECT ' || columns || ' FROM ' || call) ~ 'DIFFERS', ways('SELECT FROM ' || call) ~ 'DIFFERS', ways('SELECT count(*), count(c) FROM ' || call || ' c') ~ 'DIFFERS',
       ways('SELECT * FROM ' || call || ' LIMIT 5 OFFSET 2') ~ 'DIFFERS' FROM calls ORDER BY n;

-- Conditions: each, with each of the constants, on each supported column.
SELECT q, ways(q) FROM unnest(ARRAY[
  $$ SELECT * FROM emogi_louvain('e') WHERE vertex = 7 $$,
  $$ SELECT * FROM emogi_louvain('e') WHERE 7::smallint = vertex AND level < 2 $$,
  $$ SELECT * FROM emogi_louvain('e') WHERE vertex = 77777 $$,
  $$ SELECT * FROM emogi_louvain('e') WHERE vertex = NULL $$,
  $$ SELECT * FROM emogi_louvain('e') WHERE vertex = 7.0 $$,
  $$ SELECT * FROM emogi_louvain('e') WHERE vertex IN (7, 1003, -5, 7, 99999) $$,
  $$ SELECT * FROM emogi_louvain('e') WHERE vertex = ANY ('{7,8,NULL}'::int[]) AND vertex = 8 $$,
  $$ SELECT * FROM emogi_louvain('e') WHERE vertex = ANY (ARRAY(SELECT x FROM o)) AND level = 0 $$,
  $$ SELECT * FROM emogi_louvain('e') WHERE vertex >= 1000 AND vertex < 1010 $$,
  $$ SELECT * FROM emogi_louvain('e') WHERE vertex IN (5, 7) AND vertex > 5 $$,
  $$ SELECT * FROM emogi_louvain('e') WHERE vertex > 9223372036854775806 $$,
  $$ SELECT * FROM emogi_louvain('e') WHERE vertex <= -9223372036854775808 $$,
  $$ SELECT vertex, community FROM emogi_louvain('e') WHERE parent IS NULL $$,
  $$ SELECT vertex FROM emogi_louvain('e') WHERE parent IS NULL AND vertex = 7 $$,
  $$ SELECT * FROM emogi_louvain('e') WHERE parent IS NOT NULL $$,
  $$ SELECT * FROM emogi_louvain('e') WHERE parent IS NOT NULL AND parent IS NULL $$,
  $$ SELECT * FROM emogi_louvain('e') WHERE parent IS NULL AND level = 0 $$,
  $$ SELECT * FROM emogi_louvain('e') WHERE parent = 0 $$,
  $$ SELECT * FROM emogi_louvain('e') WHERE parent <= 1000 $$,
  $$ SELECT * FROM emogi_louvain('e') WHERE parent > -9 $$,
  $$ SELECT * FROM emogi_louvain('e') WHERE parent > -9 AND parent <> 0 $$,
  $$ SELECT * FROM emogi_louvain('e') WHERE parent IS DISTINCT FROM 0 $$,
  $$ SELECT * FROM emogi_louvain('e') WHERE level = 1 $$,
  $$ SELECT * FROM emogi_louvain('e') WHERE level IN (0, 1) AND community = 0 $$,
  $$ SELECT * FROM emogi_louvain('e') WHERE level IN (0, 7) $$,
  $$ SELECT * FROM emogi_louvain('e') WHERE level BETWEEN 1 AND 1 $$,
  $$ SELECT * FROM emogi_louvain('e') WHERE level < 0 OR level > 99 $$,
  $$ SELECT * FROM emogi_louvain('e') WHERE level <= -1 $$,
  $$ SELECT * FROM emogi_louvain('e') WHERE level <> 0 $$,
  $$ SELECT * FROM emogi_louvain('e') WHERE level > 2147483648 $$,
  $$ SELECT * FROM emogi_louvain('e') WHERE community = 0 $$,
  $$ SELECT * FROM emogi_louvain('e') WHERE community = 5 AND level = 0 AND vertex = 5 $$,
  $$ SELECT * FROM emogi_louvain('e') WHERE community = vertex $$,
  $$ SELECT * FROM emogi_louvain('e', max_levels => 1) WHERE parent IS NULL AND level = 0 $$,
  $$ SELECT * FROM emogi_louvain_text('t') WHERE vertex = 'v7' $$,
  $$ SELECT * FROM emogi_louvain_text('t') WHERE vertex IN ('v7', 'v-3', 'nobody') AND parent IS NULL $$,
  $$ SELECT * FROM emogi_louvain_text('t') WHERE community = 'v0' AND level >= 1 $$,
  $$ SELECT * FROM emogi_louvain_text('t') WHERE vertex = 'v7' COLLATE "C" $$,
  $$ SELECT * FROM emogi_louvain_text('t') WHERE vertex < 'v2' $$,
  $$ SELECT * FROM emogi_louvain_text('e') WHERE vertex = '7' $$,
  $$ SELECT * FROM emogi_louvain_text('e') WHERE vertex = '07' $$,
  $$ SELECT * FROM emogi_louvain_uuid('u') WHERE vertex = md5('7')::uuid $$,
  $$ SELECT * FROM emogi_louvain_uuid('u') WHERE community = md5('0')::uuid AND parent IS NULL $$,
  $$ SELECT * FROM emogi_louvain_uuid('u') WHERE vertex > md5('7')::uuid AND level = 0 $$,
  $$ SELECT * FROM emogi_spanning_forest('e') WHERE src = 7 $$,
  $$ SELECT * FROM emogi_spanning_forest('e') WHERE src = ANY ('{7,8,1001}') AND weight > 1 $$,
  $$ SELECT * FROM emogi_spanning_forest('e') WHERE dst = 7 $$,
  $$ SELECT src FROM emogi_spanning_forest('e') WHERE weight <= 0.5 $$,
  $$ SELECT * FROM emogi_spanning_forest('e') WHERE weight = 'NaN' OR weight IS NULL $$,
  $$ SELECT * FROM emogi_spanning_forest('e') WHERE src > 20 AND dst < 50 $$,
  $$ SELECT * FROM emogi_spanning_forest_text('t') WHERE src = 'v7' AND dst <> 'v8' $$,
  $$ SELECT * FROM emogi_bridges('e') WHERE src = -3 $$,
  $$ SELECT * FROM emogi_bridges('e') WHERE dst = -3 $$,
  $$ SELECT * FROM emogi_bridges_uuid('u') WHERE src = md5('-3')::uuid $$,
  $$ SELECT * FROM emogi_biconnected('e') WHERE vertex = -3 $$,
  $$ SELECT * FROM emogi_biconnected('e') WHERE component = 0 $$,
  $$ SELECT vertex FROM emogi_biconnected('e') WHERE component BETWEEN 2 AND 4 AND vertex IN (-3, -4, -5, 3) $$,
  $$ SELECT * FROM emogi_biconnected('e') WHERE component > 99999999999 $$,
  $$ SELECT * FROM emogi_biconnected_text('t') WHERE vertex = 'v-3' $$,
  $$ SELECT * FROM emogi_similarity('e', direction => 'both') WHERE vertex1 = 7 $$,
  $$ SELECT * FROM emogi_similarity('e', top_k => 2) WHERE vertex1 IN (7, 1003, 8, 77777) $$,
  $$ SELECT * FROM emogi_similarity('e', top_k => 2) WHERE vertex1 = 77777 $$,
  $$ SELECT * FROM emogi_similarity('e') WHERE vertex2 = 7 $$,
  $$ SELECT * FROM emogi_similarity('e') WHERE similarity >= 0.5 AND vertex1 < vertex2 $$,
  $$ SELECT * FROM emogi_similarity('e') WHERE vertex1 > 7 AND vertex1 <= 20 $$,
  $$ SELECT * FROM emogi_similarity('e', pairs => 'SELECT src, dst FROM e') WHERE vertex1 = 7 $$,
  $$ SELECT * FROM emogi_similarity('e', pairs => 'SELECT src, dst FROM e') WHERE vertex1 IN (7, 8) AND similarity > 0 $$,
  $$ SELECT * FROM emogi_similarity_text('t') WHERE vertex1 = 'v7' $$,
  $$ SELECT * FROM emogi_similarity_uuid('u') WHERE vertex1 = md5('7')::uuid AND similarity < 0.9 $$,
  $$ SELECT * FROM emogi_random_walk('e', ARRAY[1, 2, 1000, -3]::bigint[], 9, 3) WHERE walk = 4 $$,
  $$ SELECT * FROM emogi_random_walk('e', ARRAY[1, 2, 1000, -3]::bigint[], 9, 3) WHERE step = 2 $$,
  $$ SELECT * FROM emogi_random_walk('e', ARRAY[1, 2, 1000, -3]::bigint[], 9, 3) WHERE step >= 8 AND walk < 100 AND walk > 2 $$,
  $$ SELECT * FROM emogi_random_walk('e', ARRAY[1, 2, 1000, -3]::bigint[], 9, 3) WHERE vertex = 1000 $$,
  $$ SELECT * FROM emogi_random_walk('e', ARRAY[1, 2, 1000, -3]::bigint[], 9, 3) WHERE vertex IN (1, 2) AND step > 0 $$,
  $$ SELECT * FROM emogi_random_walk('t', 'v2', 5, 4) WHERE vertex = 'v2' $$,
  $$ SELECT * FROM emogi_shortest_path('e', -1, -9) WHERE seq = 2 $$,
  $$ SELECT * FROM emogi_shortest_path('e', -1, -9) WHERE vertex = -4 $$,
  $$ SELECT * FROM emogi_shortest_path('e', -1, -9) WHERE vertex IN (-4, 5) AND seq < 9 $$,
  $$ SELECT * FROM emogi_shortest_path('e', -1, -9) WHERE distance > 2 AND seq IN (1, 2, 3, 4, 5) $$]) WITH ORDINALITY AS c(q, n) ORDER BY n;

-- Orders: no sort for those in which rows are returned.
CREATE FUNCTION sorted(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  line text;
  seen text := 'as it comes';
BEGIN
  FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
    IF line ~ 'Sort' THEN seen := 'sorted'; END IF;
  END LOOP;
  RETURN seen || ', ' || ways(query);
END $$;
SELECT q, sorted(q) FROM unnest(ARRAY[
  $$ SELECT * FROM emogi_louvain('e') ORDER BY vertex, level $$,
  $$ SELECT * FROM emogi_louvain('e') WHERE vertex = 7 ORDER BY level $$,
  $$ SELECT * FROM emogi_louvain('e') WHERE level = 0 ORDER BY vertex $$,
  $$ SELECT * FROM emogi_louvain('e') ORDER BY level, vertex $$,
  $$ SELECT * FROM emogi_louvain('e') ORDER BY vertex DESC, level $$,
  $$ SELECT * FROM emogi_louvain_uuid('u') ORDER BY vertex, level $$,
  $$ SELECT * FROM emogi_louvain_text('t') ORDER BY vertex, level $$,
  $$ SELECT * FROM emogi_louvain_text('e') ORDER BY vertex, level $$,
  $$ SELECT src, dst FROM emogi_spanning_forest('e') ORDER BY src, dst $$,
  $$ SELECT src, dst FROM emogi_spanning_forest('e') ORDER BY dst, src $$,
  $$ SELECT * FROM emogi_biconnected('e') ORDER BY component, vertex $$,
  $$ SELECT vertex1, count(*) FROM emogi_similarity('e') GROUP BY vertex1 ORDER BY vertex1 $$,
  $$ SELECT vertex1, count(*) FROM emogi_similarity('e', pairs => 'SELECT src, dst FROM e') GROUP BY vertex1 ORDER BY vertex1 $$,
  $$ SELECT walk, count(*) FROM emogi_random_walk('e', ARRAY[1, 2, 1000, -3]::bigint[], 9, 3) GROUP BY walk ORDER BY walk $$,
  $$ SELECT * FROM emogi_shortest_path('e', -1, -9) ORDER BY seq $$]) WITH ORDINALITY AS c(q, n) ORDER BY n;

-- Joins that look vertices up in the rows of one run, subqueries, LATERAL, aggregates; collected
-- rows as before.
SELECT q, ways(q) FROM unnest(ARRAY[
  $$ SELECT o.id, l.* FROM o JOIN emogi_louvain('e') l ON l.vertex = o.x ORDER BY o.id, level $$,
  $$ SELECT o.id, l.* FROM o JOIN emogi_louvain('e') l ON l.vertex = o.x AND l.level = o.k ORDER BY o.id $$,
  $$ SELECT o.id, l.* FROM o LEFT JOIN emogi_louvain('e') l ON l.vertex = o.x AND l.parent IS NULL ORDER BY o.id, level $$,
  $$ SELECT o.id, l.* FROM o JOIN emogi_louvain_text('t') l ON l.vertex = o.t AND l.parent IS NULL ORDER BY o.id, level $$,
  $$ SELECT o.id, l.* FROM o JOIN emogi_louvain_uuid('u') l ON l.vertex = o.u ORDER BY o.id, level $$,
  $$ SELECT o.id, f.* FROM o JOIN emogi_spanning_forest('e') f ON f.src = o.x ORDER BY o.id, f.dst $$,
  $$ SELECT o.id, s.* FROM o JOIN emogi_similarity('e') s ON s.vertex1 = o.x AND s.similarity > 0.1 ORDER BY o.id, vertex2 $$,
  $$ SELECT o.id, b.component FROM o JOIN emogi_biconnected('e') b ON b.vertex = o.x ORDER BY o.id, component $$,
  $$ SELECT o.id, w.walk FROM o JOIN emogi_random_walk('e', 7, 5, 9) w ON w.vertex = o.x ORDER BY o.id, walk, step $$,
  $$ SELECT id FROM o WHERE EXISTS (SELECT FROM emogi_bridges('e') b WHERE b.src = o.x) ORDER BY id $$,
  $$ SELECT id FROM o WHERE x NOT IN (SELECT vertex FROM emogi_louvain('e') WHERE community = 0) ORDER BY id $$,
  $$ SELECT id, (SELECT community FROM emogi_louvain('e') WHERE vertex = x AND parent IS NULL) FROM o ORDER BY id $$,
  $$ SELECT id, (SELECT count(*) FROM emogi_louvain('e') WHERE level <= k) FROM o ORDER BY id $$,
  $$ SELECT id, p.* FROM o, LATERAL emogi_shortest_path('e', o.x, -3, 'both') p ORDER BY id, seq $$,
  $$ SELECT id, p.* FROM o, LATERAL emogi_shortest_path('e', o.x, 7, 'both') p WHERE p.seq = o.k ORDER BY id $$,
  $$ SELECT id, w.* FROM o, LATERAL emogi_random_walk('e', o.x, o.k + 1) w ORDER BY id, walk, step $$,
  $$ SELECT id, l.* FROM o, LATERAL emogi_louvain('e', 1.0 + o.k) l WHERE l.vertex = o.x AND l.level = 0 ORDER BY id $$,
  $$ SELECT id, s.n FROM o, LATERAL (SELECT count(*) AS n FROM emogi_similarity('e') WHERE vertex1 <> o.x) s ORDER BY id $$,
  $$ SELECT level, count(*), count(DISTINCT community), min(vertex), max(parent) FROM emogi_louvain('e') GROUP BY level ORDER BY level $$,
  $$ SELECT a.vertex FROM emogi_louvain('e') a JOIN emogi_leiden('e') b USING (vertex, level) WHERE a.community <> b.community ORDER BY 1 $$,
  $$ SELECT * FROM emogi_louvain('e') WHERE parent IS NULL UNION ALL SELECT * FROM emogi_leiden('e') WHERE level = 0 $$,
  $$ SELECT l FROM emogi_louvain('e') l WHERE vertex = 7 $$,
  $$ SELECT * FROM emogi_bridges('e') WITH ORDINALITY WHERE src = -3 $$,
  $$ SELECT * FROM ROWS FROM (emogi_bridges('e'), emogi_spanning_forest('e')) AS r WHERE weight > 1 $$,
  $$ SELECT emogi_bridges('e') LIMIT 3 $$]) WITH ORDINALITY AS c(q, n) ORDER BY n;

-- Independent statements: a table that is changed, an INSERT from itself.
INSERT INTO o (id, x) SELECT 1000 + vertex, community FROM emogi_louvain('e') WHERE parent IS NULL AND vertex BETWEEN 0 AND 9;
SELECT count(*) FROM o WHERE id >= 1000;
INSERT INTO e SELECT src, 5000 + dst, 1 FROM emogi_bridges('e') WHERE src = -3;
SELECT count(*), max(dst) FROM emogi_bridges('e') WHERE src = -3;

-- A cursor keeps its result while the table changes, and continues; tables it reads cannot be
-- dropped.
BEGIN;
DECLARE c CURSOR FOR SELECT vertex, level FROM emogi_louvain('e') WHERE vertex IN (7, 8) AND level = 0;
FETCH 1 FROM c;
INSERT INTO e VALUES (7, 4242, 1);
TRUNCATE e;
ROLLBACK;
BEGIN;
DECLARE c SCROLL CURSOR FOR SELECT seq, vertex FROM emogi_shortest_path('e', -1, -5);
FETCH 2 FROM c;
INSERT INTO e VALUES (-1, -5, 0);
FETCH ALL FROM c;
FETCH ABSOLUTE 2 FROM c;
ROLLBACK;

-- Prepared statements, with parameters and generic plans.
SET plan_cache_mode = force_generic_plan;
PREPARE p(bigint, int) AS SELECT * FROM emogi_louvain('e') WHERE vertex = $1 AND level <= $2 ORDER BY level;
EXPLAIN (COSTS OFF) EXECUTE p(7, 0);
EXECUTE p(7, 0);
EXECUTE p(NULL, 1);
PREPARE s(bigint[]) AS SELECT vertex1, count(*) FROM emogi_similarity('e', direction => 'both') WHERE vertex1 = ANY ($1) GROUP BY vertex1 ORDER BY vertex1;
EXECUTE s('{7,8,9}');
EXECUTE s('{}');
EXECUTE s(NULL);
PREPARE n(int) AS SELECT * FROM emogi_shortest_path('e', -1, -9) WHERE seq = $1;
EXECUTE n(2);
EXECUTE n(NULL);
RESET plan_cache_mode;

-- Only the requested rows of a large result are produced, and emogi_runs shows it. Similarities are
-- computed for the requested vertices.
SELECT count(*) FROM (SELECT * FROM emogi_louvain('e') LIMIT 3) l;
SELECT function, rows FROM emogi_runs ORDER BY id DESC LIMIT 1;
SELECT count(*) > 0 FROM emogi_similarity('e', direction => 'both') WHERE vertex1 = 7;
SELECT function, reached FROM emogi_runs ORDER BY id DESC LIMIT 1;

-- Estimates: of levels, of NULL arguments, of walks and steps, of rows per vertex, of pairs.
CREATE FUNCTION estimate(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  line text;
BEGIN
  FOR line IN EXECUTE 'EXPLAIN ' || query LOOP
    RETURN substring(line FROM 'rows=(\d+)');
  END LOOP;
END $$;
CREATE TABLE cycle AS SELECT g AS src, g % 1000 + 1 AS dst FROM generate_series(1, 1000) g;
ANALYZE cycle;
SELECT ok FROM emogi_check('cycle', 'both', backward => true);
SELECT q, estimate('SELECT * FROM emogi_' || q) FROM unnest(ARRAY['louvain(''cycle'')', 'louvain(''cycle'') WHERE parent IS NULL', 'louvain(''cycle'') WHERE parent IS NOT NULL',
  'louvain(''cycle'') WHERE level = 0', 'louvain(''cycle'') WHERE vertex = 5', 'louvain(''cycle'') WHERE vertex = 5 AND parent IS NULL', 'louvain(''cycle'', max_levels => 1) WHERE level = 0',
  'spanning_forest(''cycle'')', 'spanning_forest(''cycle'') WHERE src = 7', 'similarity(''cycle'')', 'similarity(''cycle'', top_k => 3) WHERE vertex1 = 5',
  'similarity(''cycle'', pairs => ''SELECT src, dst FROM cycle'')', 'random_walk(''cycle'', ARRAY[1, 2]::bigint[], 9, 5)', 'random_walk(''cycle'', ARRAY[1, 2]::bigint[], 9, 5) WHERE walk = 3',
  'random_walk(''cycle'', ARRAY[1, 2]::bigint[], 9, 5) WHERE step = 3', 'random_walk(''cycle'', ARRAY[1, 2]::bigint[], 9, 5) WHERE step < 5', 'shortest_path(''cycle'', 1, 5) WHERE seq = 1']) WITH ORDINALITY AS c(q, n) ORDER BY n;

-- Privileges: on the table, and on the function.
CREATE ROLE regress_emogi_rows;
GRANT USAGE ON SCHEMA test_rows TO regress_emogi_rows;
SET ROLE regress_emogi_rows;
SELECT count(*) FROM emogi_louvain('e') WHERE parent IS NULL;
SELECT count(*) FROM emogi_shortest_path('e', -1, -9);
RESET ROLE;
GRANT SELECT ON e TO regress_emogi_rows;
REVOKE EXECUTE ON FUNCTION emogi_bridges(text, text, "any") FROM PUBLIC;
SET ROLE regress_emogi_rows;
SELECT count(*) > 0 FROM emogi_louvain('e') WHERE parent IS NULL;
SELECT count(*) FROM emogi_bridges('e');
RESET ROLE;
GRANT EXECUTE ON FUNCTION emogi_bridges(text, text, "any") TO PUBLIC;

SET client_min_messages = warning;
DROP SCHEMA test_rows CASCADE;
DROP ROLE regress_emogi_rows;
