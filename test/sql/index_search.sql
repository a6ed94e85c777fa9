-- Small searches use the indexes of their table if its graph is not cached. Answers are those of
-- the build.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS emogi;
DROP ROLE IF EXISTS regress_emogi_walker;
RESET client_min_messages;
CREATE ROLE regress_emogi_walker;
CREATE SCHEMA test_index_search;
GRANT USAGE ON SCHEMA test_index_search TO PUBLIC;
SET search_path = test_index_search, public;
SET emogi.engine = 'auto';
SET emogi.index_search_min_size = 0;
SET emogi.incremental_min_size = '1GB';	-- no older graph exists that could be refreshed
\pset format unaligned
\pset tuples_only on
\pset null (null)

CREATE FUNCTION last() RETURNS text LANGUAGE sql VOLATILE AS
  $$ SELECT concat_ws(' ', status, cache, engine) FROM emogi_runs WHERE pid = pg_backend_pid() ORDER BY id DESC LIMIT 1 $$;

-- Rows of a call in their order, and the source of its graph.
CREATE FUNCTION rows_of(call text, OUT rows text[], OUT cache text) LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  EXECUTE format('SELECT array_agg(concat_ws('':'', vertex, level%s)) FROM %s', CASE WHEN call ~ 'emogi_ssnsp' THEN ', paths' END, call) INTO rows;
  cache := (SELECT r.cache FROM emogi_runs r WHERE pid = pg_backend_pid() ORDER BY id DESC LIMIT 1);
END $$;

-- The answer of a call that may use indexes, or how it differs from that of the build.
CREATE FUNCTION answer(call text) RETURNS text LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  walked record;
  built record;
BEGIN
  PERFORM emogi_evict();
  PERFORM set_config('emogi.enable_index_search', 'on', true);
  walked := rows_of(call);
  PERFORM emogi_evict();
  PERFORM set_config('emogi.enable_index_search', 'off', true);
  built := rows_of(call);
  PERFORM set_config('emogi.enable_index_search', 'on', true);
  ASSERT built.cache <> 'index';
  IF walked.rows IS DISTINCT FROM built.rows THEN
    RETURN format('WRONG: %s by %s, built %s', walked.rows, walked.cache, built.rows);
  END IF;
  RETURN format('%s by %s', array_to_string(walked.rows, ' '), replace(walked.cache, 'private', 'built'));
END $$;

-- A chain, a star, a loop, a cycle, parallel edges, NULL endpoints, keys that are negative and
-- beyond 2^32, dropped columns.
CREATE TABLE edges (gone text, src bigint, also_gone int, dst bigint, weight float8);
ALTER TABLE edges DROP COLUMN gone, DROP COLUMN also_gone;
INSERT INTO edges SELECT i, i + 1, i FROM generate_series(1, 50) i;
INSERT INTO edges SELECT 100, 100 + i, 1 FROM generate_series(1, 40) i;
INSERT INTO edges VALUES (3, 3, 1), (4, 5, 2), (4, 5, 2), (60, 61, 1), (61, 62, 1), (62, 60, 1), (7, NULL, 1), (NULL, 7, 1), (NULL, NULL, 1),
  (70, NULL, 1), (NULL, 71, 1), (-5, -6, 1), (-6, 5000000000, 1), (5000000000, -5, 1), (-9223372036854775808, 9223372036854775807, 1);
CREATE INDEX edges_src ON edges (src);
CREATE INDEX edges_dst ON edges (dst);
ANALYZE edges;

SELECT source, direction, depth, answer(format('emogi_bfs(''edges'', %s, %s, %L)', source, depth, direction))
  FROM unnest(ARRAY[1, 3, 4, 7, 51, 60, 70, 71, 100, 140, 999, -5, 5000000000, -9223372036854775808, 9223372036854775807]) WITH ORDINALITY s (source, n),
    unnest('{out,in,both}'::text[]) WITH ORDINALITY d (direction, m), generate_series(0, 2) depth
  WHERE depth < 2 OR source NOT IN (100, 140)
  ORDER BY n, m, depth;
-- Several sources, with duplicates, unknown ones and NULL.
SELECT answer('emogi_bfs(''edges'', ARRAY[4, 1, 999, 60, 1, NULL, -6], 2)');
SELECT answer('emogi_bfs(''edges'', ARRAY[4, 1, 999, 60, 1, NULL, -6], 1, ''both'')');
SELECT answer('emogi_bfs(''edges'', ARRAY[999, 998], 2)');
SELECT count(*) FROM emogi_bfs('edges', NULL::bigint, 1);
SELECT count(*) FROM emogi_bfs('edges', '{}'::bigint[], 1);
-- Counts of shortest paths: parallel edges count separately, a source once, and a target only when
-- its count is complete.
CREATE TABLE ways AS SELECT a AS src, 10 + b AS dst FROM generate_series(1, 3) a, generate_series(0, 4) b UNION ALL
  SELECT 10 + b, 20 + c FROM generate_series(0, 4) b, generate_series(0, 2) c UNION ALL SELECT 20, 20 UNION ALL SELECT 22, 30 FROM generate_series(1, 3) UNION ALL SELECT 21, 30;
CREATE INDEX ways_src ON ways (src);
CREATE INDEX ways_dst ON ways (dst);
ANALYZE ways;
SELECT answer('emogi_ssnsp(''ways'', ARRAY[1, 2, 1, 999], 3)');
SELECT answer('emogi_ssnsp(''ways'', 1, 2, ''both'')');
SELECT answer('emogi_ssnsp(''ways'', 30, 3, ''in'')');
SELECT answer('emogi_ssnsp(''ways'', 1) WHERE vertex = 30');
SELECT answer('emogi_ssnsp(''ways'', 1) WHERE level <= 2 AND paths > 1');
-- Counts beyond the exact range of doubles: the graph is built.
CREATE TABLE growth AS SELECT i AS src, i + 1 AS dst FROM generate_series(1, 18) i, generate_series(1, 8);
CREATE INDEX ON growth (src);
ANALYZE growth;
SELECT answer('emogi_ssnsp(''growth'', 1, 17)'), answer('emogi_ssnsp(''growth'', 1, 18)');
-- Vertices as text.
SELECT answer('emogi_bfs(''edges'', ''4''::text, 2)');
SELECT answer('emogi_bfs(''edges'', ''{4,60}''::text, 1)');
-- A regclass graph with its columns, and with columns in reverse order.
SELECT answer('emogi_bfs(''edges''::regclass, 4, 2, columns => ''src, dst'')');
SELECT answer('emogi_bfs(''edges(dst, src)'', 4, 2)');
-- Limits of the search: the level, a vertex, both. Without a limit the graph is built.
SELECT answer('emogi_bfs(''edges'', 1) WHERE level <= 3');
SELECT answer('emogi_bfs(''edges'', 1) WHERE level < 3');
SELECT answer('emogi_bfs(''edges'', 1, 5) WHERE level = 2');
SELECT answer('emogi_bfs(''edges'', 1, 5) WHERE level > 3');
SELECT answer('emogi_bfs(''edges'', 1) WHERE level < 0');
SELECT answer('emogi_bfs(''edges'', 1) WHERE vertex = 30');
SELECT answer('emogi_bfs(''edges'', 1) WHERE vertex IN (30, 4, 60, 4, 999)');
SELECT answer('emogi_bfs(''edges'', 1) WHERE vertex = 60');
SELECT answer('emogi_bfs(''edges'', 1, 3) WHERE vertex = 30');
SELECT answer('emogi_bfs(''edges'', 1, 3) WHERE vertex = 4 AND level > 0');
SELECT answer('emogi_bfs(''edges'', 60, direction => ''in'') WHERE vertex = 62');
SELECT answer('emogi_bfs(''edges'', 48)');
SET emogi.enable_scan = off;
SELECT answer('emogi_bfs(''edges'', 1, 3) WHERE vertex = 4');
RESET emogi.enable_scan;

-- Reporting.
SELECT emogi_evict() IS NOT NULL;
EXPLAIN (COSTS OFF) SELECT * FROM emogi_bfs('edges', 4, 2);
EXPLAIN (COSTS OFF) SELECT * FROM emogi_bfs('edges', 4, 2, 'in');
EXPLAIN (COSTS OFF) SELECT * FROM emogi_bfs('edges', 4, direction => 'both') WHERE level <= 2;
EXPLAIN (COSTS OFF) SELECT * FROM emogi_bfs('edges', 4) WHERE level <= 9223372036854775807;
EXPLAIN (COSTS OFF) SELECT * FROM emogi_bfs('edges', 4) WHERE vertex = 5;
EXPLAIN (COSTS OFF) SELECT * FROM emogi_bfs('edges', 4);
EXPLAIN (COSTS OFF) SELECT * FROM emogi_sssp('edges', 4, 2);
DO $$
DECLARE
  line text;
BEGIN
  FOR line IN EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) SELECT * FROM emogi_bfs('edges', 4, 2, 'both') LOOP
    IF line ~ 'Graph|Engine:|Levels|Vertices|Edges' THEN RAISE NOTICE '%', trim(line); END IF;
  END LOOP;
END $$;
SELECT status, cache, why_private, engine, reason, vertices, edges, reached, levels, edges_traversed, rows FROM emogi_runs
  WHERE pid = pg_backend_pid() ORDER BY id DESC LIMIT 1;
SET emogi.notice_missing_source = on;
SELECT * FROM emogi_bfs('edges', ARRAY[4, 999, 70], 0);
SELECT last();
RESET emogi.notice_missing_source;

-- A cached graph takes precedence, and a setting can disable index searches.
SELECT count(*) FROM emogi_bfs('edges', 1);
SELECT count(*) FROM emogi_bfs('edges', 1, 1);
SELECT last();
SELECT emogi_evict() IS NOT NULL;
SET emogi.enable_index_search = off;
EXPLAIN (COSTS OFF) SELECT * FROM emogi_bfs('edges', 4, 2);
SELECT count(*) FROM emogi_bfs('edges', 1, 1);
SELECT last();
RESET emogi.enable_index_search;
SELECT emogi_evict() IS NOT NULL;
SET emogi.index_search_min_size = '1MB';
SELECT count(*) FROM emogi_bfs('edges', 1, 1);
SELECT last();
SET emogi.index_search_min_size = 0;
SET emogi.enable_cache = off;
SELECT count(*) FROM emogi_bfs('edges', 1, 1);
SELECT last();
RESET emogi.enable_cache;

-- Rows inserted, deleted and rolled back by the own transaction; those of the statement itself are
-- invisible.
SELECT emogi_evict() IS NOT NULL;
BEGIN;
INSERT INTO edges VALUES (1, 777), (777, 778), (888, 1);
SELECT answer('emogi_bfs(''edges'', 1, 2)');
SAVEPOINT one;
DELETE FROM edges WHERE src = 1 AND dst = 2;
UPDATE edges SET dst = 779 WHERE dst = 778;
SELECT answer('emogi_bfs(''edges'', 1, 2)');
SELECT answer('emogi_bfs(''edges'', ARRAY[1, 888], 1, ''in'')');
ROLLBACK TO one;
SELECT answer('emogi_bfs(''edges'', 1, 2)');
ROLLBACK;
SELECT answer('emogi_bfs(''edges'', ARRAY[1, 777], 2)');
BEGIN;
WITH new AS (INSERT INTO edges VALUES (1, 777) RETURNING src) SELECT b.* FROM new, emogi_bfs('edges', 1, 1) b ORDER BY vertex;
SELECT * FROM emogi_bfs('edges', 1, 1);
ROLLBACK;

-- Prepared statements, cursors, and the rows of one call read twice.
SELECT emogi_evict() IS NOT NULL;
SET plan_cache_mode = force_generic_plan;
PREPARE near(bigint, int) AS SELECT string_agg(vertex || ':' || level, ' ') FROM emogi_bfs('edges', $1, $2);
EXECUTE near(4, 2);
EXECUTE near(60, 1);
EXECUTE near(60, NULL);
EXECUTE near(NULL, 1);
INSERT INTO edges VALUES (60, -60);
EXECUTE near(60, 1);
SELECT last();
DEALLOCATE near;
RESET plan_cache_mode;
BEGIN;
DECLARE c SCROLL CURSOR FOR SELECT * FROM emogi_bfs('edges', 4, 2);
FETCH 2 FROM c;
FETCH BACKWARD 1 FROM c;
FETCH ALL FROM c;
COMMIT;
SELECT last();
SELECT a.vertex, b.vertex FROM emogi_bfs('edges', 4, 1) a, emogi_bfs('edges', 60, 1) b ORDER BY 1, 2;
SELECT last();

-- Integer types, also different ones for the endpoints; a source out of range.
CREATE DOMAIN person AS int CHECK (VALUE <> 0);
CREATE TABLE mixed (src smallint, dst int, who person);
INSERT INTO mixed VALUES (1, 100000, 5), (1, 2, 1), (2, 1, 2), (-3, -100000, 3);
CREATE INDEX mixed_src ON mixed (src);
CREATE INDEX mixed_dst ON mixed USING hash (dst);
CREATE INDEX mixed_who ON mixed (who);
SELECT answer('emogi_bfs(''mixed'', 1, 2)');
SELECT answer('emogi_bfs(''mixed'', 100000, 2, ''both'')');
SELECT answer('emogi_bfs(''mixed'', ARRAY[65537, 100000, 4294967297, -3], 2)');
SELECT answer('emogi_bfs(''mixed(who, dst)'', 5, 1)');
EXPLAIN (COSTS OFF) SELECT * FROM emogi_bfs('mixed', 4, 2, 'both');

-- Usable indexes: with several columns, with INCLUDE; not partial ones, on expressions, of another
-- operator class, or invalid.
CREATE TABLE picky (src int, dst int, other int);
INSERT INTO picky SELECT i, i + 1, 0 FROM generate_series(1, 10) i;
INSERT INTO picky VALUES (1, 2, 0), (20, 21, 0);
CREATE FUNCTION graph_of(call text) RETURNS text LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  line text;
BEGIN
  PERFORM emogi_evict();
  FOR line IN EXECUTE format('EXPLAIN SELECT * FROM %s', call) LOOP
    IF line LIKE '%Graph: %' THEN
      RETURN substr(line, strpos(line, 'Graph: ') + 7);
    END IF;
  END LOOP;
END $$;
CREATE INDEX ON picky (src) WHERE other = 0;
CREATE INDEX ON picky ((src + 0));
CREATE INDEX ON picky (other, src);
CREATE INDEX ON picky USING brin (src);
CREATE OPERATOR CLASS alien FOR TYPE int USING btree AS
  OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >, FUNCTION 1 btint4cmp(int, int);
CREATE INDEX ON picky (src alien);
\set VERBOSITY sqlstate
CREATE UNIQUE INDEX CONCURRENTLY picky_broken ON picky (src);
\set VERBOSITY default
SELECT graph_of('emogi_bfs(''picky'', 1, 2)');
SELECT answer('emogi_bfs(''picky'', 1, 2)');
CREATE INDEX picky_wide ON picky (src DESC NULLS LAST, other, dst);
SELECT graph_of('emogi_bfs(''picky'', 1, 2)'), answer('emogi_bfs(''picky'', 1, 2)');
CREATE INDEX picky_include ON picky (src) INCLUDE (dst);
SELECT graph_of('emogi_bfs(''picky'', 1, 2)'), answer('emogi_bfs(''picky'', 1, 2)');
CREATE INDEX picky_hash ON picky USING hash (src);
SELECT graph_of('emogi_bfs(''picky'', 1, 2)'), answer('emogi_bfs(''picky'', 1, 2)');
-- Without an index on the other endpoint it is unknown whether a source without an edge is in the
-- graph.
SELECT answer('emogi_bfs(''picky'', 21, 2)');
SELECT graph_of('emogi_bfs(''picky'', 1, 2, ''in'')'), graph_of('emogi_bfs(''picky'', 1, 2, ''both'')');
CREATE INDEX picky_dst ON picky (dst);
SELECT answer('emogi_bfs(''picky'', 21, 2)'), answer('emogi_bfs(''picky'', 1, 2, ''both'')');
-- An index created in the own transaction, and a dropped one.
BEGIN;
DROP INDEX picky_dst, picky_hash, picky_include, picky_wide;
SELECT answer('emogi_bfs(''picky'', 1, 2)');
CREATE INDEX picky_own ON picky (src);
SELECT answer('emogi_bfs(''picky'', 1, 2)');
ROLLBACK;

-- Partitions with different column positions and kinds of indexes; without one of the indexes the
-- graph is built.
CREATE TABLE parts (src int, dst int, day int) PARTITION BY RANGE (day);
CREATE TABLE parts_1 PARTITION OF parts FOR VALUES FROM (1) TO (2);
CREATE TABLE parts_2 (gone int, day int, dst int, src int);
ALTER TABLE parts_2 DROP COLUMN gone;
ALTER TABLE parts ATTACH PARTITION parts_2 FOR VALUES FROM (2) TO (3);
CREATE TABLE parts_3 PARTITION OF parts FOR VALUES FROM (3) TO (4) PARTITION BY LIST (src);
CREATE TABLE parts_3_rest PARTITION OF parts_3 DEFAULT;
CREATE INDEX parts_src ON parts (src);
INSERT INTO parts VALUES (1, 2, 1), (1, 3, 2), (2, 4, 3), (3, 5, 1), (3, 5, 2), (4, 6, 3), (9, 9, 1);
SELECT answer('emogi_bfs(''parts'', 1, 2)');
SELECT graph_of('emogi_bfs(''parts'', 1, 2)');
SELECT answer('emogi_bfs(''parts'', 6, 1)');
CREATE INDEX ON parts_1 USING hash (dst);
CREATE INDEX ON parts_2 (dst, src);
SELECT answer('emogi_bfs(''parts'', 6, 2, ''in'')');
CREATE INDEX ON parts_3_rest (dst);
SELECT answer('emogi_bfs(''parts'', 6, 2, ''in'')');
SELECT answer('emogi_bfs(''parts'', 3, 1, ''both'')');
ALTER TABLE parts DETACH PARTITION parts_2;
SELECT answer('emogi_bfs(''parts'', 1, 2)');
CREATE TABLE parts_4 PARTITION OF parts FOR VALUES FROM (4) TO (5);
DROP INDEX parts_src;
SELECT answer('emogi_bfs(''parts'', 1, 2)');
-- Inheritance children.
CREATE TABLE parent (src int, dst int);
CREATE TABLE child () INHERITS (parent);
INSERT INTO parent VALUES (1, 2);
INSERT INTO child VALUES (2, 3);
CREATE INDEX ON parent (src);
SELECT answer('emogi_bfs(''parent'', 1, 2)');
CREATE INDEX ON child (src);
SELECT answer('emogi_bfs(''parent'', 1, 2)');
-- Materialized views and temporary tables are searched, and tables through views and queries;
-- catalogs are not.
CREATE MATERIALIZED VIEW matview AS SELECT src, dst FROM edges WHERE src IS NOT NULL;
CREATE INDEX ON matview (src);
SELECT answer('emogi_bfs(''matview'', 4, 2)');
CREATE TEMP TABLE scratch AS SELECT src, dst FROM edges;
CREATE INDEX ON scratch (src);
SELECT answer('emogi_bfs(''scratch'', 4, 2)');
CREATE VIEW look AS SELECT src, dst FROM edges;
SELECT answer('emogi_bfs(''look'', 4, 2)');
SELECT answer('emogi_bfs(''SELECT src, dst FROM edges'', 4, 2)');
SELECT graph_of('emogi_bfs(''pg_attribute(attnum, attlen)'', 4, 2)') LIKE 'index%';
CREATE TABLE nobody (src int, dst int);
CREATE INDEX ON nobody (src);
CREATE INDEX ON nobody (dst);
SELECT answer('emogi_bfs(''nobody'', 4, 2)');

-- Keys of other types; with types whose equal values have several representations, the graph is
-- built.
CREATE TABLE named AS SELECT src::text COLLATE "C" AS src, dst::text COLLATE "C" AS dst FROM edges;
INSERT INTO named VALUES ('4', ''), ('', repeat('long ', 500)), ('4', '{4}');
CREATE INDEX ON named (src text_pattern_ops);
SELECT answer('emogi_bfs(''named'', ''4''::text, 1)') LIKE '%by built';
CREATE INDEX ON named (src);
SELECT answer('emogi_bfs(''named'', ''4''::text, 1)');
SELECT answer('emogi_bfs(''named'', ARRAY[''60'', ''4'', ''nobody'', NULL], 1) WHERE vertex <> repeat(''long '', 500)');
CREATE INDEX ON named USING hash (dst);
SELECT answer('emogi_bfs(''named'', ''5''::text, 1, ''both'')');
SELECT answer('emogi_bfs(''named'', ''1''::text) WHERE vertex = ''9''');
SELECT answer('emogi_bfs(''named'', ''1''::text) WHERE vertex IN (''9'', ''3'', ''nobody'')');
SELECT answer('emogi_bfs(''named'', ''1''::text, 3) WHERE level <= 2 AND vertex = ''3''');
SELECT answer('emogi_bfs(''named'', ''nobody''::text, 3)');
SELECT emogi_evict() IS NOT NULL;
SELECT count(*) FROM emogi_bfs('named', '{4,5}'::text, 1);
SET emogi.notice_missing_source = on;
SELECT count(*) FROM emogi_bfs('named', 'nobody'::text, 1);
RESET emogi.notice_missing_source;
SET enable_hashjoin = off;
SET enable_mergejoin = off;
SELECT s, vertex, level FROM (VALUES ('5'), ('60'), ('4'), ('')) AS v (s) LEFT JOIN emogi_bfs('named', '4'::text, 1) ON vertex = s ORDER BY 1;
SELECT s, vertex, level FROM (VALUES (5), (60), (4)) AS v (s) LEFT JOIN emogi_bfs('edges', 4, 1) ON vertex = s ORDER BY 1;
SELECT last();
RESET enable_hashjoin;
RESET enable_mergejoin;
CREATE TABLE sorted (src text, dst varchar(9));
INSERT INTO sorted VALUES ('b', 'B'), ('b', 'a'), ('b', 'A'), ('b', 'Aa'), ('a', 'aB');
CREATE INDEX ON sorted (src);
CREATE INDEX ON sorted (dst);
SELECT answer('emogi_bfs(''sorted'', ''b''::text, 1)') LIKE '%by index';
SELECT answer('emogi_bfs(''sorted'', ''b''::text, 2, ''both'')') LIKE '%by index';
CREATE TABLE linked AS SELECT md5(src::text)::uuid AS src, md5(dst::text)::uuid AS dst FROM edges;
CREATE INDEX ON linked (src, dst);
CREATE INDEX ON linked (dst);
SELECT answer(format('emogi_bfs(''linked'', %L::uuid, 2)', md5('4')));
SELECT answer(format('emogi_bfs(''linked'', %L::uuid, 1, ''both'')', md5('4')));
SELECT answer(format('emogi_bfs(''linked'', %L::text, 1)', md5('4')));
SELECT answer(format('emogi_bfs(''linked'', %L::text) WHERE vertex = %L', md5('4'), md5('6')::uuid));
CREATE TYPE mood AS ENUM ('sad', 'ok', 'glad');
CREATE TABLE moods AS SELECT v.a::mood AS src, v.b::mood AS dst, v.d::date AS day, v.d::date + 1 AS next, v.f AS f, v.f + 1 AS g, v.n AS n, v.n + 1 AS o
  FROM (VALUES ('sad', 'ok', '2024-02-29', -0.0::float8, 1.0), ('ok', 'glad', '2024-03-01', 0.0, 1.00), ('ok', 'sad', '0001-01-01 BC', 1.0, 2.000)) AS v (a, b, d, f, n);
CREATE INDEX ON moods (src);
CREATE INDEX ON moods (day);
CREATE INDEX ON moods USING hash (f);
CREATE INDEX ON moods (n);
SELECT answer('emogi_bfs(''moods'', ''ok''::text, 1)');
SELECT answer('emogi_bfs(''moods(day, next)'', ''2024-02-29''::text, 2)');
SELECT answer('emogi_bfs(''moods(f, g)'', ''-0''::text, 1)');
SELECT answer('emogi_bfs(''moods(n, o)'', ''1.0''::text, 1)');

-- A search that exceeds its limit is abandoned, and the graph is built; a search certain to exceed
-- it is not started.
CREATE TABLE wide AS SELECT 1 AS src, i AS dst FROM generate_series(2, 3000) i UNION ALL SELECT i, i + 5000 FROM generate_series(2, 500) i;
CREATE INDEX ON wide (src);
SELECT emogi_evict() IS NOT NULL;
SELECT count(*), max(level) FROM emogi_bfs('wide', 1, 1);
SELECT last();
SELECT emogi_evict() IS NOT NULL;
SELECT count(*), max(level) FROM emogi_bfs('wide', ARRAY(SELECT i FROM generate_series(2, 400) i), 2);
SELECT last();
SELECT emogi_evict() IS NOT NULL;
SELECT count(*), max(level) FROM emogi_bfs('wide', 2, 2);
SELECT last();
ANALYZE wide;
CREATE TABLE dense AS SELECT i % 100 AS src, (i * 37) % 100 AS dst FROM generate_series(1, 5000) i;
CREATE INDEX ON dense (src);
ANALYZE dense;
SELECT graph_of('emogi_bfs(''dense'', 1, 1)'), graph_of('emogi_bfs(''dense'', 1, 9)');
-- Hubs make statistics predict large searches. A search that does not meet a hub still uses the
-- indexes.
CREATE TABLE hubs AS SELECT 1 + i % 3 AS src, 10 + (i * 37) % 20000 AS dst FROM generate_series(1, 30000) i
  UNION ALL SELECT 10 + (i * 37) % 20000, 1 + i % 3 FROM generate_series(1, 30000) i UNION ALL SELECT 90000 + i, 90001 + i FROM generate_series(1, 50) i;
CREATE INDEX ON hubs (src);
ANALYZE hubs;
SELECT graph_of('emogi_bfs(''hubs'', 90001, 3)');
SELECT * FROM emogi_bfs('hubs', 90001, 3) ORDER BY vertex;
SELECT last();
SELECT count(*) FROM emogi_bfs('hubs', 10, 3);
SELECT last();
SELECT emogi_evict('hubs') > 0;
-- Searches that have cost as much as a build cause a build.
CREATE TABLE worn AS SELECT 1 AS src, i AS dst FROM generate_series(2, 900) i;
CREATE INDEX ON worn (src);
DO $$
DECLARE
  seen text[];
BEGIN
  FOR i IN 1 .. 60 LOOP
    PERFORM count(*) FROM emogi_bfs('worn', 1, 1);
    seen := seen || last();
  END LOOP;
  ASSERT seen[1] = 'ok index backend', seen[1];
  ASSERT array_position(seen, 'ok built backend') BETWEEN 10 AND 50, seen;
  ASSERT seen[60] = 'ok hit backend', seen[60];
END $$;
-- A graph with own rows is never shared, so none is built for the accumulated cost.
BEGIN;
DROP TABLE worn;
CREATE TABLE worn AS SELECT 1 AS src, i AS dst FROM generate_series(2, 900) i;
CREATE INDEX ON worn (src);
DO $$
BEGIN
  FOR i IN 1 .. 40 LOOP
    PERFORM count(*) FROM emogi_bfs('worn', 1, 1);
    ASSERT last() = 'ok index backend', last();
  END LOOP;
END $$;
ROLLBACK;

-- Costs accumulated by others do not count there, either: the graph is built afterwards. The time
-- depends on the accumulated cost of other tables in the same entry, which a build resets, and on
-- their failed builds; so it is counted first.
CREATE TABLE due AS SELECT 1 AS src, i AS dst FROM generate_series(2, 900) i;
CREATE INDEX ON due (src);
CREATE FUNCTION walks_until_built(most int) RETURNS int LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  FOR i IN 0 .. most - 1 LOOP
    PERFORM count(*) FROM emogi_bfs('due', 1, 1);
    IF last() = 'ok built backend' THEN
      RETURN i;
    END IF;
    ASSERT last() = 'ok index backend', last();
  END LOOP;
  RETURN most;
END $$;
SELECT walks_until_built(100000) < 100000, emogi_evict('due') IS NOT NULL;
SELECT walks_until_built(100000) AS walks \gset
SELECT :walks BETWEEN 19 AND 99999, emogi_evict('due') IS NOT NULL;
SELECT walks_until_built(:walks) = :walks;
BEGIN;
INSERT INTO due VALUES (1, 1000);
SELECT count(*) FROM emogi_bfs('due', 1, 1);
SELECT last();
ROLLBACK;
SELECT count(*) FROM emogi_bfs('due', 1, 1);
SELECT last();

-- The same privileges as usual. Row security requires a query.
SELECT emogi_evict() IS NOT NULL;
SET ROLE regress_emogi_walker;
\set VERBOSITY sqlstate
SELECT * FROM emogi_bfs('edges', 4, 1);
RESET ROLE;
GRANT SELECT (src, weight) ON edges TO regress_emogi_walker;
SET ROLE regress_emogi_walker;
SELECT * FROM emogi_bfs('edges', 4, 1);
RESET ROLE;
GRANT SELECT (dst) ON edges TO regress_emogi_walker;
SET ROLE regress_emogi_walker;
SET emogi.index_search_min_size = 0;
SELECT * FROM emogi_bfs('edges', 4, 1);
SELECT last();
RESET ROLE;
ALTER TABLE edges ENABLE ROW LEVEL SECURITY;
CREATE POLICY odd ON edges USING (dst IS NULL OR dst % 2 = 1);
SET ROLE regress_emogi_walker;
SELECT * FROM emogi_bfs('edges', 4, 1);
SELECT last() LIKE '%index%';
SET row_security = off;
SELECT * FROM emogi_bfs('edges', 4, 1);
RESET row_security;
RESET ROLE;
SELECT answer('emogi_bfs(''edges'', 4, 1)');
\set VERBOSITY default

-- Transactions with private graphs see the correct rows, also under SERIALIZABLE.
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT answer('emogi_bfs(''edges'', 4, 1)');
COMMIT;
BEGIN ISOLATION LEVEL SERIALIZABLE;
SELECT answer('emogi_bfs(''edges'', 4, 1)');
COMMIT;

-- Random graphs: with and without an index on each endpoint, in all directions, with and without
-- own changes.
CREATE TABLE random_edges (src int, dst int);
CREATE FUNCTION try(n int) RETURNS int LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  nwalks int := 0;
  nvertices int := 2 + floor(random() * 30);
  direction text;
  call text;
  said text;
BEGIN
  DROP TABLE random_edges;
  CREATE TABLE random_edges (src int, dst int);
  INSERT INTO random_edges
    SELECT nullif(floor(random() * nvertices), 0), nullif(floor(random() * nvertices), 0) FROM generate_series(1, floor(random() * 60)::int);
  IF random() < 0.9 THEN CREATE INDEX ON random_edges (src); END IF;
  IF random() < 0.7 THEN CREATE INDEX ON random_edges USING hash (dst); END IF;
  IF random() < 0.5 THEN DELETE FROM random_edges WHERE src % 3 = 1; END IF;
  IF random() < 0.5 THEN UPDATE random_edges SET dst = dst + 1 WHERE src % 3 = 2; END IF;
  IF random() < 0.5 THEN ANALYZE random_edges; END IF;
  FOR i IN 1 .. n LOOP
    direction := (ARRAY['out', 'in', 'both'])[1 + floor(random() * 3)];
    call := format('emogi_%s(''random_edges'', ARRAY[%s, %s], %s, %L)', (ARRAY['bfs', 'ssnsp'])[1 + floor(random() * 2)], floor(random() * nvertices), floor(random() * nvertices),
                   (ARRAY['0', '1', '2', '3', 'NULL'])[1 + floor(random() * 5)], direction);
    IF random() < 0.3 THEN call := call || format(' WHERE vertex = %s', floor(random() * nvertices)); END IF;
    said := answer(call);
    ASSERT said NOT LIKE 'WRONG%', format('%s: %s', call, said);
    nwalks := nwalks + (said LIKE '% by index')::int;
  END LOOP;
  RETURN nwalks;
END $$;
DO $$
DECLARE
  nwalks int := 0;
BEGIN
  PERFORM setseed(0.42);
  FOR i IN 1 .. 40 LOOP
    nwalks := nwalks + try(8);
  END LOOP;
  ASSERT nwalks > 100, nwalks;
END $$;

-- A table that is written between calls and cannot be tracked: its graphs are built less and less
-- often, until one of them is reused.
CREATE UNLOGGED TABLE written AS SELECT 0 AS src, i AS dst FROM generate_series(1, 800) i;
CREATE INDEX ON written (src);
CREATE INDEX ON written (dst);
ANALYZE written;
CREATE PROCEDURE builds(calls int, writes boolean, INOUT nbuilds int) LANGUAGE plpgsql AS $$
BEGIN
  FOR i IN 1 .. calls LOOP
    IF writes THEN INSERT INTO written VALUES (1000 + i, 0); COMMIT; END IF;
    PERFORM count(*) FROM emogi_bfs('written', 0, 1);
    nbuilds := nbuilds + (SELECT (cache = 'built')::int FROM emogi_runs WHERE pid = pg_backend_pid() ORDER BY id DESC LIMIT 1);
  END LOOP;
END $$;
-- Four; a table with the same name hash may have been built before.
DO $$ DECLARE n int := 0; BEGIN CALL builds(200, true, n); ASSERT n BETWEEN 1 AND 5, n; END $$;
SELECT count(*) FROM emogi_bfs('written', 0);
CALL builds(20, false, 0);
CALL builds(200, true, 0);

-- A stale graph, or one of another direction: small searches use indexes until they have cost as
-- much as a refresh.
CREATE TABLE lagging AS SELECT i % 5000 AS src, (i * 7 + i / 5000) % 5000 AS dst, repeat('x', 400) AS filling FROM generate_series(0, 39999) i;
CREATE INDEX ON lagging (src);
CREATE INDEX ON lagging (dst);
ANALYZE lagging;
SET emogi.incremental_min_size = 0;
CREATE FUNCTION how(call text) RETURNS text LANGUAGE plpgsql VOLATILE AS $$
DECLARE n bigint; BEGIN EXECUTE 'SELECT count(*) FROM ' || call INTO n; RETURN format('%s rows, %s', n, split_part(last(), ' ', 2)); END $$;
SELECT emogi_evict() >= 0, how('emogi_bfs(''lagging'', 1)');
SELECT how('emogi_bfs(''lagging'', 1, 1)'), how('emogi_bfs(''lagging'', 1, 1, ''both'')'), how('emogi_bfs(''lagging'', 1, 1, ''in'')');
INSERT INTO lagging VALUES (1, 4999);
SELECT how('emogi_bfs(''lagging'', 1, 1)');
SELECT how('emogi_bfs(''lagging'', 1)');
BEGIN;
INSERT INTO lagging VALUES (1, 4998);
SELECT how('emogi_bfs(''lagging'', 1, 1)');
ROLLBACK;
-- Eventually it is refreshed.
INSERT INTO lagging VALUES (1, 4997);
SELECT count(*) FILTER (WHERE how LIKE '% index') BETWEEN 1 AND 399 AS some_walk, count(*) FILTER (WHERE how LIKE '11 rows, %') AS right
  FROM (SELECT how('emogi_bfs(''lagging'', 1, 1)') FROM generate_series(1, 400)) q;
SET emogi.enable_index_search = off;
SELECT how('emogi_bfs(''lagging'', 1, 1)') LIKE '11 rows, %';
RESET emogi.enable_index_search;
SET emogi.incremental_min_size = '1GB';

SET client_min_messages = warning;
DROP SCHEMA test_index_search CASCADE;
DROP ROLE regress_emogi_walker;
