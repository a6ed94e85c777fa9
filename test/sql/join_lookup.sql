-- Joins on vertex in which outer rows look up their vertices in the result of one run: which joins
-- do, and that the answers are the same.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS emogi;
RESET client_min_messages;
CREATE SCHEMA test_join_lookup;
SET search_path = test_join_lookup, public;
SET emogi.engine = cpu;
SET max_parallel_workers_per_gather = 0;
\pset format unaligned
\pset tuples_only on
\pset null (null)

-- A random graph with gaps between its keys, a chain, a loop, keys beyond 2^32 and below 0; the
-- same with uuid and text.
CREATE TABLE e AS
  SELECT (g * 7919 % 1000 * 3)::bigint AS src, (g * 104729 % 997 * 3)::bigint AS dst, (g % 7 / 4.0)::float8 AS weight FROM generate_series(1, 3000) g
  UNION ALL SELECT -g, -g - 1, 1 FROM generate_series(1, 60) g
  UNION ALL SELECT 4294967296 * g, 4294967296 * g, 1 FROM generate_series(1, 20) g;
CREATE TABLE u AS SELECT md5(src::text)::uuid AS src, md5(dst::text)::uuid AS dst FROM e;
CREATE TABLE t AS SELECT 'v' || src AS src, 'v' || dst AS dst FROM e;
CREATE TABLE none (src bigint, dst bigint);
ANALYZE e, u, t;

-- Outer rows: duplicates, NULLs, values that are not vertices.
CREATE TABLE o AS SELECT g AS id, CASE WHEN g % 9 = 0 THEN NULL WHEN g % 50 = 0 THEN 4294967296 * g / 50 WHEN g % 11 = 0 THEN -(g % 70) ELSE g * 31 % 3500 END AS x,
  (g % 300 * 3)::smallint AS small, g % 3000 AS i, g % 5 AS class FROM generate_series(1, 3000) g;
ALTER TABLE o ADD x_uuid uuid, ADD x_text text;
UPDATE o SET x_uuid = md5(x::text)::uuid, x_text = 'v' || x;
CREATE TABLE few AS SELECT * FROM o WHERE id <= 5;
CREATE TABLE no_rows AS SELECT * FROM o LIMIT 0;
ANALYZE o, few, no_rows;

CREATE FUNCTION ways(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  line text;
  node text := 'others';
  answers text[];
BEGIN
  FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
    IF line ~ '^ *Join: ' THEN node := trim(line); END IF;
  END LOOP;
  FOR way IN 1 .. 3 LOOP
    PERFORM set_config('emogi.enable_join_lookup', CASE way WHEN 1 THEN 'on' ELSE 'off' END, true);
    PERFORM set_config('emogi.enable_scan', CASE way WHEN 3 THEN 'off' ELSE 'on' END, true);
    EXECUTE 'SELECT array_append($1, md5(coalesce(string_agg(q::text, '';'' ORDER BY q::text), '''')) || '' '' || count(*)) FROM (' || query || ') q' INTO answers USING answers;
  END LOOP;
  PERFORM set_config('emogi.enable_join_lookup', 'on', true), set_config('emogi.enable_scan', 'on', true);
  IF answers[1] <> answers[2] OR answers[1] <> answers[3] THEN
    RETURN 'DIFFERS: ' || answers[1] || ' / ' || answers[2] || ' / ' || answers[3];
  END IF;
  RETURN node || ', ' || split_part(answers[1], ' ', 2) || ' rows';
END $$;

-- All kinds of joins, functions and keys.
SELECT q, ways(q) FROM unnest(ARRAY[
  'SELECT * FROM o WHERE EXISTS (SELECT FROM emogi_bfs(''e'', 3, 4) b WHERE b.vertex = o.x)',
  'SELECT * FROM o WHERE x IN (SELECT vertex FROM emogi_bfs(''e'', 3))',
  'SELECT * FROM o WHERE x IN (SELECT vertex FROM emogi_bfs(''e'', 3) WHERE level BETWEEN 2 AND 4)',
  'SELECT * FROM o WHERE NOT EXISTS (SELECT FROM emogi_bfs(''e'', 3) b WHERE b.vertex = o.x AND level >= 3)',
  'SELECT id, vertex, level FROM o JOIN emogi_bfs(''e'', 3) b ON b.vertex = o.x',
  'SELECT id, level FROM o JOIN emogi_bfs(''e'', 3) b ON o.x = b.vertex AND level <> class WHERE level % 3 = 1 OR id < 100',
  'SELECT id, vertex, level FROM o LEFT JOIN emogi_bfs(''e'', 3) b ON b.vertex = o.x AND class = 2',
  'SELECT id, level FROM o, emogi_bfs(''e'', 3) b WHERE b.vertex = o.x + 3',
  'SELECT id, level FROM o, emogi_bfs(''e'', 3) b WHERE b.vertex = o.small',
  'SELECT id, level FROM o, emogi_bfs(''e'', 3) b WHERE b.vertex = o.i',
  'SELECT id, level FROM o, emogi_bfs(''e'', -1) b WHERE b.vertex = o.x',
  'SELECT id, distance FROM o JOIN emogi_sssp(''e'', 3) b ON b.vertex = o.x WHERE distance <= 3',
  'SELECT id, width FROM o JOIN emogi_sswp(''e'', 3) b ON b.vertex = o.x',
  'SELECT id, paths, level FROM o JOIN emogi_ssnsp(''e'', 3) b ON b.vertex = o.x',
  'SELECT id, component FROM o JOIN emogi_cc(''e'') b ON b.vertex = o.x',
  'SELECT id, component FROM o JOIN emogi_cc(''e'') b ON b.vertex = o.x WHERE component <= -1',
  'SELECT id, rank FROM o JOIN emogi_pagerank(''e'') b ON b.vertex = o.x WHERE rank > 0.0005',
  'SELECT id, vertex FROM o JOIN emogi_bfs(''u'', md5(''3'')::uuid) b ON b.vertex = o.x_uuid',
  'SELECT * FROM o WHERE NOT EXISTS (SELECT FROM emogi_bfs(''u'', md5(''3'')::uuid) b WHERE b.vertex = o.x_uuid)',
  'SELECT id FROM o WHERE x IN (SELECT vertex FROM emogi_bfs(''none'', 3))',
  'SELECT id FROM o WHERE NOT EXISTS (SELECT FROM emogi_bfs(''e'', 424242) b WHERE b.vertex = o.x)',
  'SELECT id, level FROM o LEFT JOIN emogi_bfs(''e'', NULL::bigint) b ON b.vertex = o.x',
  'SELECT id, level FROM few JOIN emogi_bfs(''e'', 3) b ON b.vertex = few.x',
  'SELECT id, level FROM no_rows JOIN emogi_bfs(''e'', 3) b ON b.vertex = no_rows.x',
  'SELECT class, count(*), max(level) FROM o JOIN emogi_bfs(''e'', 3) b ON b.vertex = o.x GROUP BY class',
  'SELECT a.id, b.level, c.component FROM o a JOIN emogi_bfs(''e'', 3) b ON b.vertex = a.x JOIN emogi_cc(''e'') c ON c.vertex = a.x',
  'SELECT p.id, q.id FROM o p JOIN o q ON q.id = p.id + 1 WHERE EXISTS (SELECT FROM emogi_bfs(''e'', 3, 5) b WHERE b.vertex = q.x) AND p.class = 1',
  'WITH b AS MATERIALIZED (SELECT * FROM o WHERE class = 3) SELECT id, level FROM b JOIN emogi_bfs(''e'', 3) f ON f.vertex = b.x',
  'SELECT id, (SELECT count(*) FROM o i WHERE i.class = few.class AND EXISTS (SELECT FROM emogi_bfs(''e'', few.class * 3, 5) b WHERE b.vertex = i.x)) FROM few',
  'SELECT f.id, x.n FROM few f, LATERAL (SELECT count(*) AS n FROM o WHERE class = f.class AND EXISTS (SELECT FROM emogi_bfs(''e'', 3, 5) b WHERE b.vertex = o.x)) x',
  'SELECT id FROM o WHERE EXISTS (SELECT FROM emogi_bfs(''e'', 3) b WHERE b.vertex = o.x) ORDER BY id LIMIT 7 OFFSET 3',
  'SELECT id, level FROM o JOIN emogi_bfs(''SELECT src, dst FROM e WHERE weight < 1'', 3) b ON b.vertex = o.x'
]) q;

-- Few rows of the call are expected: either method is good.
SELECT q, regexp_replace(ways(q), '^.*, ', '') FROM unnest(ARRAY[
  'SELECT * FROM o WHERE NOT EXISTS (SELECT FROM emogi_bfs(''e'', 3) b WHERE b.vertex = o.x AND level % 2 = 0 AND level > class)',
  'SELECT id, vertex, level FROM o LEFT JOIN emogi_bfs(''e'', 3) b ON b.vertex = o.x AND level < 4'
]) q;

-- Outer joins are reordered: a lookup above a join that also sets its columns to NULL.
SELECT q, regexp_replace(ways(q), '^.*, ', '') FROM unnest(ARRAY[
  'SELECT p.id, b.level FROM o f LEFT JOIN emogi_bfs(''e'', 3) b ON b.vertex = f.x AND b.level % 2 = 0 RIGHT JOIN few p ON f.id = p.id',
  'SELECT p.id, b.vertex FROM o f LEFT JOIN emogi_bfs(''e'', 3) b ON b.vertex = f.x AND b.vertex IS NOT NULL FULL JOIN few p ON f.id = p.id WHERE p.id > 1'
]) q;

-- Joins without lookups: they cost more than a hash join, the clause is not suitable, or rows of
-- the call depend on the outer ones.
SELECT q, ways(q) FROM unnest(ARRAY[
  'SELECT id, vertex FROM o JOIN emogi_bfs(''t'', ''v3'') b ON b.vertex = o.x_text',
  'SELECT id, level FROM few JOIN emogi_bfs(''e'', 3) b ON b.vertex < few.x',
  'SELECT id, level FROM few JOIN emogi_bfs(''e'', few.id * 3) b ON b.vertex = few.x',
  'SELECT id, level FROM few RIGHT JOIN emogi_bfs(''e'', 3, 2) b ON b.vertex = few.x',
  'SELECT id, level FROM few FULL JOIN emogi_bfs(''e'', 3, 2) b ON b.vertex = few.x',
  'SELECT id FROM few WHERE x NOT IN (SELECT vertex FROM emogi_bfs(''e'', 3, 2))',
  'SELECT id, level FROM few LEFT JOIN emogi_bfs(''e'', 3) b ON b.vertex = few.x WHERE level IS DISTINCT FROM 3'
]) q;

-- Plans, and the single run.
EXPLAIN (COSTS OFF, VERBOSE) SELECT id FROM o WHERE EXISTS (SELECT FROM emogi_bfs('e', 3) b WHERE b.vertex = o.x + 1 AND level <= 3 AND level > class);
SELECT count(*) FROM o WHERE EXISTS (SELECT FROM emogi_bfs('e', 3) b WHERE b.vertex = o.x AND level = 2);
SELECT function, rows FROM emogi_runs ORDER BY id DESC LIMIT 1;

-- A key map is built during the lookups, or is too large to be built.
SET work_mem = '64kB';
SELECT ways('SELECT id, level FROM o JOIN emogi_bfs(''e'', 3) b ON b.vertex = o.x');
RESET work_mem;
CREATE TABLE dense AS SELECT g AS src, g % 5000 + 1 AS dst FROM generate_series(1, 5000) g;
SELECT ways('SELECT g, level FROM generate_series(-10, 6000) g JOIN emogi_bfs(''dense'', 1) b ON b.vertex = g');
SELECT ways('SELECT g FROM generate_series(-10, 6000) g WHERE NOT EXISTS (SELECT FROM emogi_bfs(''dense'', 1, 4000) b WHERE b.vertex = g AND level % 2 = 0)');

-- Generic plans, and arguments that change between scans.
SET plan_cache_mode = force_generic_plan;
PREPARE p(bigint, int) AS SELECT count(*) FROM o WHERE EXISTS (SELECT FROM emogi_bfs('e', $1) b WHERE b.vertex = o.x AND level <= $2);
EXECUTE p(3, 2);
EXECUTE p(-1, 100);
EXECUTE p(NULL, 2);
EXECUTE p(3, NULL);
RESET plan_cache_mode;
DEALLOCATE p;

-- Privileges, errors, cursors.
CREATE ROLE emogi_lookup_reader;
GRANT USAGE ON SCHEMA test_join_lookup TO emogi_lookup_reader;
GRANT SELECT ON o, no_rows TO emogi_lookup_reader;
SET ROLE emogi_lookup_reader;
SELECT count(*) FROM o WHERE EXISTS (SELECT FROM emogi_bfs('e', 3) b WHERE b.vertex = o.x);
SELECT count(*) FROM no_rows o WHERE EXISTS (SELECT FROM emogi_bfs('e', 3) b WHERE b.vertex = o.x);
RESET ROLE;
REVOKE EXECUTE ON FUNCTION emogi_bfs(text, bigint, int, text, text, "any") FROM PUBLIC;
SET ROLE emogi_lookup_reader;
SELECT count(*) FROM no_rows o WHERE EXISTS (SELECT FROM emogi_bfs('e', 3) b WHERE b.vertex = o.x);
RESET ROLE;
GRANT EXECUTE ON FUNCTION emogi_bfs(text, bigint, int, text, text, "any") TO PUBLIC;
DROP OWNED BY emogi_lookup_reader;
DROP ROLE emogi_lookup_reader;
SELECT count(*) FROM o WHERE EXISTS (SELECT FROM emogi_bfs('missing', 3) b WHERE b.vertex = o.x);
SELECT count(*) FROM o WHERE EXISTS (SELECT FROM emogi_bfs('e', 3) b WHERE b.vertex = 1 / (o.id - 17));
BEGIN;
DECLARE c SCROLL CURSOR FOR SELECT id, level FROM o JOIN emogi_bfs('e', 3) b ON b.vertex = o.x ORDER BY id;
FETCH 2 FROM c;
INSERT INTO e VALUES (3, 9);
FETCH 1 FROM c;
FETCH BACKWARD 2 FROM c;
MOVE ABSOLUTE 1 IN c;
FETCH 1 FROM c;
CLOSE c;
ROLLBACK;

-- Statements that change rows.
BEGIN;
UPDATE o SET class = -1 WHERE EXISTS (SELECT FROM emogi_bfs('e', 3, 2) b WHERE b.vertex = o.x);
SELECT count(*) FROM o WHERE class = -1;
DELETE FROM o USING emogi_bfs('e', 3, 2) b WHERE b.vertex = o.x;
SELECT count(*) FROM o WHERE class = -1;
INSERT INTO few SELECT o.* FROM o JOIN emogi_bfs('e', 3, 4) b ON b.vertex = o.x;
SELECT count(*) FROM few;
ROLLBACK;

SET client_min_messages = warning;
DROP SCHEMA test_join_lookup CASCADE;
