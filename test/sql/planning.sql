-- emogi_bfs in all places of a query where a function is allowed: joins, LATERAL, subqueries,
-- cursors, prepared plans, parallel plans.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS emogi;
RESET client_min_messages;
CREATE SCHEMA test_planning;
SET search_path = test_planning, public;
\pset format unaligned
\pset tuples_only on
\pset null (null)

-- A cycle 1 .. 6 with the chord 1 -> 4, and names.
CREATE TABLE edges (src int, dst int);
INSERT INTO edges VALUES (1, 2), (2, 3), (3, 4), (4, 5), (5, 6), (6, 1), (1, 4);
CREATE TABLE names (id bigint PRIMARY KEY, name text);
INSERT INTO names SELECT i, chr(96 + i) FROM generate_series(1, 8) i;
ANALYZE names;

-- Joins, filters, orders, limits, aggregates.
SELECT name, level FROM emogi_bfs('edges', 1) JOIN names ON id = vertex ORDER BY level, name;
SELECT name, level FROM names LEFT JOIN emogi_bfs('edges', 2, 2) ON id = vertex ORDER BY name;
SELECT name FROM names WHERE id NOT IN (SELECT vertex FROM emogi_bfs('edges', 1)) ORDER BY name;
SELECT vertex FROM emogi_bfs('edges', 1) WHERE level = 2;
SELECT level FROM emogi_bfs('edges', 1) WHERE vertex = 6;
SELECT vertex, level FROM emogi_bfs('edges', 1) WHERE vertex = ANY (ARRAY[9, 5, 3]);
SELECT vertex, level FROM emogi_bfs('edges', 1) WHERE vertex > 2 AND level <= 1;
SELECT vertex FROM emogi_bfs('edges', 1) ORDER BY level DESC, vertex DESC LIMIT 3;
SELECT * FROM emogi_bfs('edges', 1) LIMIT 2;
SELECT * FROM emogi_bfs('edges', 1) OFFSET 4;
SELECT * FROM emogi_bfs('edges', 1) LIMIT 0;
SELECT level, count(*) FROM emogi_bfs('edges', 1) GROUP BY level HAVING count(*) > 1 ORDER BY level;
SELECT vertex, rank() OVER (ORDER BY level) FROM emogi_bfs('edges', 1) ORDER BY vertex;
SELECT DISTINCT level FROM emogi_bfs('edges', 1) ORDER BY level;
SELECT * FROM emogi_bfs('edges', 1, 1) UNION ALL SELECT * FROM emogi_bfs('edges', 4, 1) ORDER BY 1, 2;
SELECT * FROM emogi_bfs('edges', 1) EXCEPT SELECT * FROM emogi_bfs('edges', 1, 2) ORDER BY 1;
SELECT b FROM emogi_bfs('edges', 4, 1) b;
SELECT (b).level, to_json(b) FROM emogi_bfs('edges', 4, 1) b;
SELECT b.v, b.l FROM emogi_bfs('edges', 4, 1) b(v, l);
SELECT count(*) FROM emogi_bfs('edges', 1) a, emogi_bfs('edges', 2) b;
SELECT a.vertex, a.level, b.level FROM emogi_bfs('edges', 1) a JOIN emogi_bfs('edges', 1, direction => 'in') b USING (vertex) ORDER BY 1;
SELECT a.vertex FROM emogi_bfs('edges', 1) a FULL JOIN emogi_bfs('edges', 7) b USING (vertex) WHERE b.vertex IS NULL ORDER BY 1;
SELECT vertex FROM emogi_bfs('edges', 1, 1) FOR UPDATE;

-- One call per row of another table.
SELECT id, (SELECT count(*) FROM emogi_bfs('edges', id, 2)) FROM names ORDER BY id;
SELECT n.id, b.* FROM names n, emogi_bfs('edges', n.id, 1) b WHERE n.id IN (1, 6, 7) ORDER BY 1, 2;
SELECT n.id, b.vertex FROM names n LEFT JOIN LATERAL emogi_bfs('edges', n.id, 1) b ON b.level = 1 WHERE n.id > 4 ORDER BY 1, 2;
SELECT n.id, b.n FROM names n, LATERAL (SELECT count(*) AS n FROM emogi_bfs('edges', ARRAY[n.id, n.id + 3], n.id::int - 1)) b ORDER BY 1;
SELECT d, string_agg(vertex || ':' || level, ' ') FROM unnest(ARRAY['out', 'in', 'both', NULL]) WITH ORDINALITY w(d, i), emogi_bfs('edges', 2, 2, d) GROUP BY i, d ORDER BY i;
SELECT a.vertex, count(b.vertex) FROM emogi_bfs('edges', 1, 2) a, LATERAL emogi_bfs('edges', a.vertex, 1) b GROUP BY 1 ORDER BY 1;
SELECT name FROM names n WHERE EXISTS (SELECT FROM emogi_bfs('edges', 3, 2) b WHERE b.vertex = n.id) ORDER BY 1;
SELECT name FROM names n WHERE EXISTS (SELECT FROM emogi_bfs('edges', n.id, 1) b WHERE b.vertex = 4) ORDER BY 1;
SELECT name FROM names n WHERE NOT EXISTS (SELECT FROM emogi_bfs('edges', n.id)) ORDER BY 1;
SELECT name FROM names n WHERE id = ANY (ARRAY(SELECT vertex FROM emogi_bfs('edges', 5, 1))) ORDER BY 1;
SELECT id, (SELECT max(level) FROM emogi_bfs('edges', CASE WHEN id < 3 THEN id END)) FROM names WHERE id < 5 ORDER BY id;

-- Other places of set-returning functions.
SELECT * FROM emogi_bfs('edges', 5) WITH ORDINALITY;
SELECT * FROM ROWS FROM (emogi_bfs('edges', 5, 2), generate_series(10, 13), emogi_bfs('edges', 1, 1)) WITH ORDINALITY;
SELECT emogi_bfs('edges', 5, 2);
SELECT (emogi_bfs('edges', 5, 2)).*;
SELECT emogi_bfs('edges', 5, 2), generate_series(1, 4);
SELECT id, emogi_bfs('edges', id, 1) FROM names WHERE id IN (1, 7, 6) ORDER BY id, 2;
SELECT emogi_bfs('edges', 1) LIMIT 1;
SELECT id, (emogi_bfs('edges', id)).level FROM names ORDER BY id LIMIT 2;

-- Tables, views, materialized views and COPY of results.
CREATE TABLE reach AS SELECT * FROM emogi_bfs('edges', 1);
INSERT INTO reach SELECT -vertex, level FROM emogi_bfs('edges', 2, 1);
TABLE reach ORDER BY 1;
CREATE VIEW reach_view AS SELECT b.vertex, b.level, n.name FROM emogi_bfs('edges', 1) b JOIN names n ON n.id = b.vertex;
SELECT * FROM reach_view WHERE level < 2 ORDER BY 1;
CREATE MATERIALIZED VIEW reach_mat AS SELECT * FROM emogi_bfs('test_planning.edges', 6);
INSERT INTO edges VALUES (6, 8);
REFRESH MATERIALIZED VIEW reach_mat;
SELECT * FROM reach_mat WHERE level < 2 ORDER BY 1;
COPY (SELECT * FROM emogi_bfs('edges', 6, 1)) TO STDOUT;
WITH a AS MATERIALIZED (SELECT * FROM emogi_bfs('edges', 6, 1)) SELECT count(*) FROM a x, a y;
WITH RECURSIVE far(vertex, n) AS (SELECT 6::bigint, 0 UNION SELECT b.vertex, n + 1 FROM far, emogi_bfs('edges', far.vertex, 1) b WHERE n < 2)
  SELECT vertex, min(n) FROM far GROUP BY 1 ORDER BY 1;
DELETE FROM edges WHERE dst = 8;

-- Cursors, forward and backward.
BEGIN;
DECLARE c SCROLL CURSOR FOR SELECT * FROM emogi_bfs('edges', 1);
FETCH 2 FROM c;
FETCH LAST FROM c;
FETCH BACKWARD 2 FROM c;
MOVE ABSOLUTE 2 IN c;
FETCH NEXT FROM c;
FETCH FIRST FROM c;
COMMIT;
DO $$
DECLARE
  c CURSOR (s bigint) FOR SELECT * FROM emogi_bfs('edges', s, 2);
  r record;
BEGIN
  FOR r IN c(3) LOOP
    RAISE INFO '%', r;
  END LOOP;
  OPEN c(5);
  FETCH c INTO r;
  RAISE INFO '%', r;
END $$;

-- Prepared plans, custom and generic.
PREPARE p(text, bigint, int, text) AS SELECT string_agg(vertex || ':' || level, ' ') FROM emogi_bfs($1, $2, $3, $4);
SET plan_cache_mode = force_generic_plan;
EXECUTE p('edges', 1, NULL, 'out');
EXECUTE p('edges', 1, 2, 'in');
EXECUTE p('edges(dst, src)', 1, 2, 'out');
EXECUTE p('VALUES (1, 2)', 1, NULL, NULL);
EXECUTE p('edges', NULL, NULL, NULL);
ALTER TABLE edges ADD COLUMN x text DEFAULT 'x';
EXECUTE p('edges', 1, NULL, 'out');
ALTER TABLE edges DROP COLUMN src;
ALTER TABLE edges ADD COLUMN src bigint;
UPDATE edges SET src = dst - 1;
EXECUTE p('edges', 1, NULL, 'out');
SET plan_cache_mode = force_custom_plan;
EXECUTE p('edges', 1, NULL, 'both');
RESET plan_cache_mode;
CREATE FUNCTION many(n int) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  sum bigint := 0;
BEGIN
  FOR i IN 1 .. n LOOP
    sum := sum + (SELECT count(*) FROM emogi_bfs('edges', i % 6 + 1, i % 3));
  END LOOP;
  RETURN sum;
END $$;
SELECT many(60);

-- Plans with parallelism around the call, JIT, hash and merge joins.
TRUNCATE edges;
ALTER TABLE edges DROP COLUMN x;
INSERT INTO edges (src, dst) SELECT i, i + 1 FROM generate_series(1, 3000) i;
ANALYZE edges;
CREATE FUNCTION tell() RETURNS text LANGUAGE sql STABLE AS $$
  SELECT format('%s %s %s', count(*), sum(level), (SELECT count(*) FROM edges e WHERE EXISTS (SELECT FROM emogi_bfs('edges', 2990) b WHERE b.vertex = e.src)))
    FROM edges e JOIN emogi_bfs('edges', 1, 2000) b ON b.vertex = e.src $$;
SELECT tell();
SET min_parallel_table_scan_size = 0;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SELECT count(*), sum(level) FROM edges e JOIN emogi_bfs('edges', 1, 2000) b ON b.vertex = e.src;
SELECT count(*) FROM edges e WHERE src IN (SELECT vertex FROM emogi_bfs('edges', 2990));
SELECT count(*) FROM edges e WHERE EXISTS (SELECT FROM emogi_bfs('SELECT src, dst FROM edges WHERE src % 2 = 0', 10) b WHERE b.vertex = e.src);
SELECT count(*) FROM emogi_bfs('SELECT a.src, max(b.dst) FROM edges a JOIN edges b ON a.dst = b.src GROUP BY a.src', 1);
SELECT set_config(name, 'on', false) FROM pg_settings WHERE name IN ('force_parallel_mode', 'debug_parallel_query');
SELECT tell();
SELECT count(*) FROM emogi_bfs('edges', 1);
SELECT count(*) FROM emogi_bfs('SELECT src, dst FROM edges', 1);
SELECT e.src, (SELECT count(*) FROM emogi_bfs('edges', e.src, 3)) FROM edges e WHERE src > 2996 ORDER BY 1;
SET max_parallel_workers = 0;
SELECT tell();
SELECT count(*) FROM emogi_bfs('SELECT src, dst FROM edges', 1);
RESET max_parallel_workers;
SELECT set_config(name, 'off', false) FROM pg_settings WHERE name IN ('force_parallel_mode', 'debug_parallel_query');
SET jit_above_cost = 0;
SELECT tell();
RESET jit_above_cost;
SET enable_hashjoin = off;
SELECT tell();
SET enable_mergejoin = off;
SET enable_material = off;
SELECT count(*) FROM names n JOIN emogi_bfs('edges', 2) b ON b.vertex = n.id;
SET work_mem = '64kB';
SELECT count(*), min(vertex), max(vertex), sum(level) FROM emogi_bfs('edges', 1);
SET cursor_tuple_fraction = 0.01;
SELECT many(30);

-- The planner's estimates: rows of the cached graph, otherwise by statistics; one row per vertex.
CREATE FUNCTION expected_rows(query text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  plan json;
BEGIN
  EXECUTE 'EXPLAIN (FORMAT json) ' || query INTO plan;
  RETURN plan -> 0 -> 'Plan' ->> 'Plan Rows';
END $$;
CREATE TABLE ring (src int, dst int);
INSERT INTO ring SELECT i, i % 5000 + 1 FROM generate_series(1, 5000) i;
ANALYZE ring;
SELECT expected_rows($$ SELECT * FROM emogi_cc('ring') $$);
SELECT count(*) FROM emogi_cc('ring');
SELECT expected_rows('SELECT * FROM ' || f) FROM unnest(ARRAY[$$emogi_cc('ring')$$, $$emogi_bfs('ring', 1)$$, $$emogi_bfs('ring', 1, 3)$$, $$emogi_bfs('ring', 1) WHERE level <= 7$$,
  $$emogi_bfs('ring', 1) WHERE vertex = 9$$, $$emogi_bfs('ring', 1) WHERE vertex IN (1, 2, 3)$$, $$emogi_sssp('ring', 1) a JOIN emogi_cc('ring') b USING (vertex)$$,
  $$ring JOIN emogi_pagerank('ring') ON vertex = src$$]) f;
SET emogi.enable_scan = off;
SELECT expected_rows($$ SELECT * FROM emogi_bfs('ring', 1) $$), expected_rows($$ SELECT * FROM emogi_bfs('ring', 1) WHERE vertex = 9 $$);
RESET emogi.enable_scan;
SELECT expected_rows($$ SELECT * FROM emogi_bfs('nowhere', 1) $$), expected_rows($$ SELECT * FROM emogi_bfs('SELECT * FROM ring', 1) $$);

-- A path has few steps; for a query and a view the estimates are those of their own plans; errors
-- of a text that cannot be planned are left to the call.
CREATE VIEW odd AS SELECT src, dst FROM ring WHERE src > 4000;
CREATE VIEW endless AS SELECT 1::bigint AS src, 2 AS dst;
CREATE OR REPLACE VIEW endless AS SELECT vertex AS src, level AS dst FROM emogi_bfs('endless', 1);
SELECT expected_rows('SELECT * FROM ' || f) FROM unnest(ARRAY[$$emogi_shortest_path('ring', 1, 2)$$, $$emogi_bfs('SELECT src, dst FROM ring WHERE src > 4000', 1)$$,
  $$emogi_bfs('odd', 1)$$, $$emogi_bfs('SELECT src, count(*) FROM ring GROUP BY src', 1)$$, $$emogi_cc('SELECT src, dst FROM nowhere')$$, $$emogi_cc('SELECT src,')$$,
  $$emogi_cc('DELETE FROM ring')$$, $$emogi_cc('SELECT 1')$$]) f;
SELECT expected_rows($$SELECT * FROM emogi_bfs('endless', 1)$$) > 0;
CREATE TABLE places (id int PRIMARY KEY, name text);
INSERT INTO places SELECT i, 'p' || i FROM generate_series(1, 20000) i;
ANALYZE places;
SET emogi.engine = cpu;
EXPLAIN (COSTS OFF) SELECT p.name FROM emogi_shortest_path('ring', 1, 3) s JOIN places p ON p.id = s.vertex;
RESET emogi.engine;

-- A run for each row is never estimated so cheap that the planner prefers thousands of runs to one.
SELECT count(*) FROM ring r WHERE EXISTS (SELECT FROM emogi_cc('edges') c WHERE c.vertex = r.src);
CREATE FUNCTION expected_cost(query text) RETURNS float8 LANGUAGE plpgsql AS $$
DECLARE
  plan json;
BEGIN
  EXECUTE 'EXPLAIN (FORMAT json) ' || query INTO plan;
  RETURN plan -> 0 -> 'Plan' ->> 'Total Cost';
END $$;
CREATE TABLE tiny (src int, dst int);
INSERT INTO tiny VALUES (1, 2);
ANALYZE tiny;
SELECT expected_cost('SELECT * FROM ' || f) >= 10 FROM unnest(ARRAY[$$emogi_bfs('tiny', 1)$$, $$emogi_shortest_path('tiny', 1, 2)$$, $$emogi_cc('tiny')$$, $$emogi_pagerank('SELECT 1, 2')$$]) f;

-- Planning time does not grow with statistics, even absurd ones.
BEGIN;
SET LOCAL statement_timeout = '5s';
UPDATE pg_class SET reltuples = 1e9 WHERE oid = 'ring'::regclass;
SELECT expected_rows($$SELECT * FROM emogi_bfs('ring(dst, src)', 1, 2000000000)$$) > 1000;
UPDATE pg_class SET reltuples = 1e30 WHERE oid = 'ring'::regclass;
SELECT expected_rows($$SELECT * FROM emogi_bfs('ring(dst, src)', 1, 2000000000)$$) > 1000;
ROLLBACK;

-- Two hops reach many vertices if there are hubs, although the mean degree is low.
CREATE TABLE hubs (src int, dst int);
INSERT INTO hubs SELECT i, 1 FROM generate_series(2, 2000) i UNION ALL SELECT 1, i FROM generate_series(2, 2000) i;
ANALYZE hubs;
SELECT expected_rows($$SELECT * FROM emogi_bfs('hubs', 5, 1)$$) < 10, expected_rows($$SELECT * FROM emogi_bfs('hubs', 5, 2)$$) > 500, count(*) FROM emogi_bfs('hubs', 5, 2);
-- The session caches estimates from statistics only until these change.
TRUNCATE hubs;
INSERT INTO hubs SELECT i, i + 1 FROM generate_series(1, 4000) i;
SELECT expected_rows($$SELECT * FROM emogi_bfs('hubs', 5, 2)$$) > 100;
ANALYZE hubs;
SELECT expected_rows($$SELECT * FROM emogi_bfs('hubs', 5, 2)$$) > 100;
SELECT count(*) FROM emogi_bfs('hubs', 5, 2);

-- The result size of a search with constant arguments is measured during planning if its graph is
-- cached: small components and distances do not follow from mean degrees. Small results are
-- therefore joined by an index, without parallel workers.
CREATE TABLE pairs AS SELECT i AS src, i + 1 AS dst, 1.5::float8 AS weight FROM generate_series(1, 60000, 2) i;
INSERT INTO pairs SELECT i, i + 1, 1.5 FROM generate_series(100001, 160000) i;
CREATE TABLE people AS SELECT i AS id FROM generate_series(1, 200000) i;
CREATE UNIQUE INDEX ON people (id);
ANALYZE pairs, people;
CREATE VIEW tries AS SELECT * FROM (VALUES ($$emogi_bfs('pairs', 7)$$), ($$emogi_bfs('pairs', 159998)$$), ($$emogi_bfs('pairs', 8, direction => 'in')$$), ($$emogi_bfs('pairs', 7::text::bigint)$$),
  ($$emogi_sssp('pairs', 100001, 30)$$), ($$emogi_sssp('pairs', 100001) WHERE distance <= 30$$)) t (call);
SELECT expected_rows('SELECT * FROM ' || call) > 1000 AS whole, call FROM tries;
SELECT count(*) FROM (VALUES ('in'), ('both'), ('out')) d (direction), emogi_prewarm('pairs', direction => d.direction, weights => true);
SELECT expected_rows('SELECT * FROM ' || call), call FROM tries;
SELECT expected_rows($$SELECT * FROM emogi_bfs('pairs', 100001)$$) > 10000 AS whole, expected_rows($$SELECT * FROM emogi_sssp('pairs', 100001)$$) > 10000 AS whole,
       expected_rows($$SELECT * FROM emogi_bfs('pairs', 3000000000)$$) > 10000 AS unknown;
RESET parallel_setup_cost;
RESET parallel_tuple_cost;
SET emogi.engine = cpu;
EXPLAIN (COSTS OFF) SELECT count(*) FROM emogi_bfs('pairs', 7) b JOIN people p ON p.id = b.vertex;
RESET emogi.engine;
SET emogi.enable_local_search = off;
SELECT expected_rows($$SELECT * FROM emogi_bfs('pairs', 7)$$) > 10000 AS not_tried;
RESET emogi.enable_local_search;
INSERT INTO pairs SELECT 8, i, 1 FROM generate_series(200001, 200500) i;
SELECT expected_rows($$SELECT * FROM emogi_bfs('pairs', 7)$$) AS of_before;
SELECT count(*) FROM emogi_bfs('pairs', 7);
SELECT expected_rows($$SELECT * FROM emogi_bfs('pairs', 7)$$) AS of_now;

-- A role that cannot read the table learns nothing about it.
CREATE ROLE regress_emogi_stranger;
GRANT USAGE ON SCHEMA test_planning TO regress_emogi_stranger;
GRANT SELECT ON tries TO regress_emogi_stranger;
SET ROLE regress_emogi_stranger;
SELECT DISTINCT expected_rows('SELECT * FROM ' || call) AS by_default FROM tries WHERE call !~ 'WHERE';
RESET ROLE;
DROP OWNED BY regress_emogi_stranger;
DROP ROLE regress_emogi_stranger;

-- A plan looks up the size of a graph once, and the next plan of the same statement does so again.
-- Conditions on vertices avoid a build for degrees.
CREATE TABLE counted (src bigint, dst bigint);
INSERT INTO counted SELECT i / 4, i * 7919 % 50000 FROM generate_series(1, 200000) i;
CREATE INDEX ON counted (src);
VACUUM ANALYZE counted;
CREATE FUNCTION costs(query text, OUT built float8, OUT cached float8, OUT evicted float8) LANGUAGE plpgsql AS $$
BEGIN
  PERFORM emogi_evict();
  built := expected_cost(query);
  PERFORM emogi_prewarm('counted');
  cached := expected_cost(query);
  PERFORM emogi_evict();
  evicted := expected_cost(query);
END $$;
SELECT built > 2 * cached AS costs_build, built = evicted AS again FROM costs('SELECT * FROM emogi_pagerank(''counted'') a JOIN emogi_pagerank(''counted'') b USING (vertex)');
-- a plan created while another runs looks it up again
SELECT built > 2 * cached AS costs_build FROM (SELECT FROM emogi_pagerank('counted') LIMIT 1) p, costs('SELECT * FROM emogi_pagerank(''counted'')');
SELECT built < 2 * cached AS spares_build, built = evicted AS again FROM costs('SELECT * FROM emogi_degree(''counted'') WHERE vertex = 7');
SET emogi.enable_index_search = off;
SELECT built < 2 * cached AS spares_build FROM costs('SELECT * FROM emogi_degree(''counted'') WHERE vertex = 7');
RESET emogi.enable_index_search;
DROP TABLE counted;
