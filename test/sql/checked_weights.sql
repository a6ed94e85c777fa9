-- Weights without constraints: an index search replaces a build after the pages have shown that a
-- build would accept all weights. Two costs: a row is an edge in each direction whose cost is not
-- negative. Answers and errors are those of a graph of all edges, and of recursive queries.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS emogi;
RESET client_min_messages;
CREATE SCHEMA test_checked_weights;
SET search_path = test_checked_weights, public;
SET emogi.engine = 'auto';
SET emogi.incremental_min_size = '1GB';
SET emogi.index_search_min_size = 0;
\pset format unaligned
\pset tuples_only on
\pset null (null)
SELECT emogi_evict() IS NOT NULL;
CREATE SEQUENCE asked;
-- All rows of a query, in order, or its error.
CREATE FUNCTION rows_of(query text) RETURNS text LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  rows text;
BEGIN
  EXECUTE format('SELECT string_agg(q::text, '' '' ORDER BY q::text) FROM (%s) q', query) INTO rows;
  RETURN coalesce(rows, 'none');
EXCEPTION WHEN invalid_parameter_value OR null_value_not_allowed THEN
  RETURN sqlerrm;
END $$;
-- A query over a function of a graph, %L, with a condition that no call has had before: 'right by'
-- the source of the graph, or what is wrong.
CREATE FUNCTION answer(query text, edges text, condition text DEFAULT 'true') RETURNS text LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  graph text := format('%s WHERE %s AND id <> %s', edges, condition, -nextval('asked'));
  rows text;
  cache text;
  built text;
BEGIN
  rows := rows_of(format(query, graph));
  SELECT CASE WHEN status = 'ok' THEN r.cache ELSE status END INTO cache FROM public.emogi_runs r WHERE pid = pg_backend_pid() ORDER BY r.id DESC LIMIT 1;
  PERFORM set_config('emogi.enable_index_search', 'off', true);
  built := rows_of(format(query, graph));
  PERFORM set_config('emogi.enable_index_search', 'on', true);
  RETURN CASE WHEN rows = built THEN 'right' ELSE format('WRONG: %s: %s, built: %s', format(query, graph), rows, built) END || ' by ' || coalesce(cache, 'none');
END $$;
CREATE FUNCTION near(edges text, condition text DEFAULT 'true') RETURNS text LANGUAGE sql VOLATILE AS
  $$ SELECT answer('SELECT * FROM emogi_sssp(%L, 1, max_distance => 1)', edges, condition) $$;

-- A check costs less than a build of many rows; with few rows, calls build until builds have cost
-- as much.
CREATE TABLE e (src int, dst bigint, km float8, fee numeric, hops int, id int);
SELECT setseed(0.25);
INSERT INTO e SELECT random() * 400, random() * 400, 0.4 + random(), 0.4 + random()::numeric(10, 4), 1 + (random() * 3)::int, i FROM generate_series(1, 1200) i;
CREATE INDEX ON e (src);
CREATE INDEX ON e (dst);
ANALYZE e;
SELECT near('e(src, dst, km)'), near('e(src, dst, fee)'), near('e(src, dst, hops)', 'id < 80'), near('e(src, dst, hops)', 'id < 80'), near('e(src, dst, hops)', 'id < 80'), near('e(src, dst, hops)', 'id < 80');
-- EXPLAIN.
CREATE FUNCTION plan(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
  line text;
BEGIN
  FOR line IN EXECUTE 'EXPLAIN (COSTS off) ' || query LOOP
    IF line ~ 'Graph:|Index Search:' THEN RETURN NEXT btrim(line); END IF;
  END LOOP;
END $$;
SELECT plan('SELECT * FROM emogi_sssp(''e(src, dst, km) WHERE id <> -1'', 1, max_distance => 1)');
ALTER TABLE e ADD toll float8 DEFAULT 0.5;
SELECT plan('SELECT * FROM emogi_sssp(''e(src, dst, toll) WHERE id <> -1'', 1, max_distance => 1)');
SELECT near('e(src, dst, toll)');
SELECT plan('SELECT * FROM emogi_sssp(''e(src, dst, toll) WHERE id <> -2'', 1, max_distance => 1)');

-- Writes between calls, including own changes.
INSERT INTO e VALUES (1, 1000, 0.1, 0.1, 1, 5000);
SELECT near('e(src, dst, km)');
BEGIN;
UPDATE e SET km = km - 0.1 WHERE id % 3 = 0;
DELETE FROM e WHERE id % 7 = 0;
SELECT near('e(src, dst, km)');
COMMIT;
VACUUM e;
SELECT near('e(src, dst, km)');
INSERT INTO e SELECT random() * 400, random() * 400, 0.4 + random(), 0.5, 1, 10000 + i FROM generate_series(1, 2000) i;
SELECT near('e(src, dst, km)');

-- A weight that a build rejects is an error, however distant its edge; one excluded by the
-- condition is not.
BEGIN;
INSERT INTO e VALUES (900, 901, -1, 1, 1, 6000);
SELECT near('e(src, dst, km)'), near('e(src, dst, km)', 'id < 6000');
ROLLBACK;
-- Rolled-back rows are still on their page.
SELECT near('e(src, dst, km)'), near('e(src, dst, km)'), near('e(src, dst, km)');
VACUUM e;
-- A failed check is repeated when builds have cost twice as much.
SELECT string_agg(substr(near('e(src, dst, km)'), 10), ' ') FROM generate_series(1, 9);
INSERT INTO e VALUES (902, 903, 'NaN', 1, 1, 6001);
SELECT near('e(src, dst, km)'), near('e(src, dst, km)', 'id <> 6001');
DELETE FROM e WHERE id = 6001;
INSERT INTO e VALUES (902, 903, 1, 'NaN', NULL, 6002);
SELECT near('e(src, dst, fee)'), near('e(src, dst, hops)'), near('e(src, dst, fee)', 'id <> 6002'), near('e(src, dst, hops)', 'id <> 6002');
DELETE FROM e WHERE id = 6002;
VACUUM e;
INSERT INTO e VALUES (902, 903, 1, 1e-400, 1, 6003);
SELECT string_agg(substr(near('e(src, dst, fee)', 'id <> 6003'), 10), ' ') FROM generate_series(1, 9);

-- A table with another file, and another type.
CREATE TABLE f AS SELECT * FROM e WHERE id < 1000;
CREATE INDEX ON f (src);
CREATE INDEX ON f (dst);
ANALYZE f;
SELECT near('f(src, dst, km)');
TRUNCATE f;
INSERT INTO f SELECT * FROM e WHERE id < 1000;
SELECT near('f(src, dst, km)');
BEGIN;
TRUNCATE f;
INSERT INTO f VALUES (1, 2, -1, 1, 1, 1), (1, 3, 1, 1, 1, 2);
SELECT near('f(src, dst, km)'), near('f(src, dst, km)', 'id = 2');
ROLLBACK;
SELECT near('f(src, dst, km)');
ALTER TABLE f ALTER km TYPE int USING -1;
SELECT near('f(src, dst, km)'), near('f(src, dst, km)', 'id < 0');
-- All-visible pages of the other file, without a VACUUM.
CREATE TABLE frozen AS SELECT * FROM e WHERE id < 1000;
CREATE INDEX ON frozen (src);
CREATE INDEX ON frozen (dst);
VACUUM ANALYZE frozen;
SELECT near('frozen(src, dst, km)');
BEGIN;
TRUNCATE frozen;
COPY frozen (src, dst, km, fee, hops, id) FROM STDIN (FREEZE);
1	2	-1	1	1	1
1	3	1	1	1	2
\.
COMMIT;
SELECT near('frozen(src, dst, km)'), near('frozen(src, dst, km)', 'id = 2');
-- Without WAL, pages cannot be used as proof.
CREATE UNLOGGED TABLE u AS SELECT * FROM e WHERE id < 1000;
CREATE INDEX ON u (src);
SELECT near('u(src, dst, km)'), near('u(src, dst, km)'), near('u(src, dst, km)', 'km >= 0 AND km <= 10');

-- Partitions with different column positions.
CREATE TABLE p (src int, dst bigint, km float8, id int) PARTITION BY RANGE (id);
CREATE TABLE p1 PARTITION OF p FOR VALUES FROM (0) TO (500);
CREATE TABLE p2 (gone int, id int, km float8, dst bigint, src int);
ALTER TABLE p2 DROP gone;
ALTER TABLE p ATTACH PARTITION p2 FOR VALUES FROM (500) TO (10000);
CREATE INDEX ON p (src);
CREATE INDEX ON p (dst);
INSERT INTO p SELECT src, dst, km, id FROM e WHERE id < 1000;
ANALYZE p;
SELECT near('p(src, dst, km)');
INSERT INTO p VALUES (5000, 5001, -1, 700);
SELECT near('p(src, dst, km)'), near('p(src, dst, km)', 'id < 500');

-- Degrees with strengths: factors are finite, as pages or constraints prove.
CREATE FUNCTION degree(edges text, condition text DEFAULT 'true') RETURNS text LANGUAGE sql VOLATILE AS
  $$ SELECT answer('SELECT * FROM emogi_degree(%L) WHERE vertex = 1', edges, condition) $$;
SELECT degree('e(src, dst, km)'), degree('e(src, dst, km)'), degree('e(src, dst)');
CREATE TABLE d (src int, dst int, km float8, id int);
INSERT INTO d SELECT 1 + i % 40, i % 39, i % 7, i FROM generate_series(1, 1000) i;
CREATE INDEX ON d (src);
CREATE INDEX ON d (dst);
ANALYZE d;
SELECT degree('d(src, dst, km)'), degree('d(src, dst, km)');
INSERT INTO d VALUES (3, 4, 'Infinity', 5000);
SELECT degree('d(src, dst, km)'), near('d(src, dst, km)'), degree('d(src, dst, km)', 'id < 5000'), degree('d(src, dst, km)', $q$km BETWEEN 0 AND 'Infinity'$q$),
  degree('d(src, dst, km)', 'km BETWEEN 0 AND 10');
DELETE FROM d WHERE id = 5000;
VACUUM d;
ALTER TABLE d ALTER km SET NOT NULL, ADD CHECK (km >= 0 AND km < 'Infinity');
SELECT degree('d(src, dst, km)'), near('d(src, dst, km)');
ALTER TABLE d ADD back float8 DEFAULT 1;
ALTER TABLE d RENAME back TO reverse_cost;
SELECT degree('d(src, dst, km, reverse_cost)'), degree('d(src, dst, km, reverse_cost)');
INSERT INTO d VALUES (5, 6, 1, 6000, 'Infinity'), (5, 6, 1, 6001, '-Infinity');
SELECT degree('d(src, dst, km, reverse_cost)'), degree('d(src, dst, km, reverse_cost)', 'id <> 6000');

-- Two costs: random graphs, compared with graphs of all edges.
CREATE TABLE r (a int, b int, cost float8, reverse_cost float8, kind int, id int);
INSERT INTO r SELECT nullif((random() * 60)::int, 7), (random() * 60)::int, (ARRAY[-1, 0, 0.5, 1, 2, 'Infinity'])[1 + (random() * 5)::int], (ARRAY[-2, -1, 0, 1, 1, 3])[1 + (random() * 5)::int], random() * 3, i
  FROM generate_series(1, 220) i;
INSERT INTO r VALUES (1, 1, 1, 1, 1, 1000), (2, 2, -1, 1, 1, 1001), (70, 71, -1, -1, 1, 1002), (1, 2, 1, 1, 1, 1003), (1, 2, 1, 1, 1, 1004);
CREATE INDEX ON r (a);
CREATE INDEX ON r (b);
ANALYZE r;
CREATE FUNCTION all_of(s int, d text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
  g text := 'r(a, b, cost, reverse_cost, id)';
  c text := (ARRAY['kind <> 1', 'kind < 3', 'kind = 2', 'true'])[1 + s % 4];
BEGIN
  RETURN NEXT answer(format('SELECT * FROM emogi_sssp(%%L, %s, direction => %L, max_distance => 3)', s, d), g, c);
  RETURN NEXT answer(format('SELECT count(*), max(distance) FROM emogi_shortest_path(%%L, %s, %s, direction => %L)', s, (s * 17) % 60, d), g, c);
  RETURN NEXT answer(format('SELECT * FROM emogi_bfs(%%L, %s, direction => %L, max_depth => %s)', s, d, s % 4), g, c);
  RETURN NEXT answer(format('SELECT * FROM emogi_ssnsp(%%L, %s, direction => %L, max_depth => 3)', s, d), g, c);
  RETURN NEXT answer(format('SELECT * FROM emogi_cycles(%%L, %s, 3, direction => %L)', s, d), g, c);
  RETURN NEXT answer(format('SELECT * FROM emogi_cc(%%L) WHERE vertex = %s', s), g, c || ' AND id < 40');
  RETURN NEXT answer(format('SELECT * FROM emogi_scc(%%L) WHERE vertex = %s', s), g, c || ' AND id < 60');
  RETURN NEXT answer(format('SELECT * FROM emogi_triangles(%%L) WHERE vertex = %s', s), g, c);
END $$;
SELECT min(a) ~ '^right', count(*) FILTER (WHERE a !~ '^right'), count(*) FILTER (WHERE a ~ 'by index') > 300 FROM generate_series(0, 19) s, unnest(ARRAY['out', 'in', 'both']) d, all_of(s, d) a;
SELECT a FROM generate_series(0, 19) s, unnest(ARRAY['out', 'in', 'both']) d, all_of(s, d) a WHERE a !~ '^right' LIMIT 3;
-- ... and with a recursive query.
WITH RECURSIVE arc AS (SELECT a, b, cost AS w FROM r WHERE cost >= 0 AND kind <> 1 UNION ALL SELECT b, a, reverse_cost FROM r WHERE reverse_cost >= 0 AND kind <> 1),
  walk(v, d) AS (SELECT 5, 0 UNION SELECT b, d + 1 FROM walk JOIN arc ON a = v WHERE d < 4 AND a IS NOT NULL AND b IS NOT NULL)
SELECT count(*) FROM (SELECT v, min(d) FROM walk GROUP BY v) w(v, d) FULL JOIN emogi_bfs('r(a, b, cost, reverse_cost) WHERE kind <> 1 AND id <> -5000', 5, max_depth => 4) ON vertex = v WHERE level IS DISTINCT FROM d;
-- NULL is an error also for calls that use no weights.
INSERT INTO r VALUES (80, 81, 1, NULL, 2, 2000);
SELECT answer('SELECT * FROM emogi_bfs(%L, 5, max_depth => 1)', 'r(a, b, cost, reverse_cost)'), answer('SELECT * FROM emogi_bfs(%L, 5, max_depth => 1)', 'r(a, b, cost, reverse_cost)', 'id <> 2000');
-- Constraints prove it, too.
CREATE UNLOGGED TABLE s AS SELECT * FROM r WHERE id <> 2000;
CREATE INDEX ON s (a);
ALTER TABLE s ALTER cost SET NOT NULL, ADD CHECK (cost <> 'NaN'), ALTER reverse_cost SET NOT NULL;
SELECT near('s(a, b, cost, reverse_cost)'), near('s(a, b, cost, reverse_cost)', 'reverse_cost < 10');
CREATE INDEX ON s (b);
SELECT near('s(a, b, cost, reverse_cost)'), near('s(a, b, cost, reverse_cost)', 'reverse_cost < 10');

-- Repeated searches with new values in one statement are counted by their cost: none of them
-- builds.
SELECT count(*) FROM emogi_cc('e(src, dst) WHERE id = 0') WHERE vertex = 1;
SELECT count(*) >= 0 FROM emogi_bfs('e(src, dst) WHERE id < 77', 1, max_depth => 3)
  WHERE vertex IN (SELECT vertex FROM emogi_cc('e(src, dst) WHERE id < 77') WHERE component = (SELECT component FROM emogi_cc('e(src, dst) WHERE id < 77') WHERE vertex = 1));
SELECT function, cache FROM (SELECT * FROM emogi_runs WHERE pid = pg_backend_pid() ORDER BY id DESC LIMIT 4) r WHERE function ~ 'emogi_(cc|bfs)' ORDER BY id;

-- Costs add up: when searches with a value have cost as much as a build, the next call builds, for
-- all later ones.
CREATE FUNCTION until_built(graph text, OUT searches int, OUT wrong int) LANGUAGE plpgsql AS $$
DECLARE
  n bigint;
  first bigint;
BEGIN
  searches := 0;
  wrong := 0;
  FOR i IN 1 .. 3000 LOOP
    SELECT count(*) INTO n FROM emogi_bfs(graph, 1, max_depth => 4);
    first := coalesce(first, n);
    wrong := wrong + (n <> first)::int;
    EXIT WHEN (SELECT cache FROM emogi_runs WHERE pid = pg_backend_pid() ORDER BY id DESC LIMIT 1) <> 'index';
    searches := i;
  END LOOP;
END $$;
SELECT searches BETWEEN 10 AND 2000, wrong FROM until_built('e(src, dst) WHERE id < 990');
SELECT searches, wrong FROM until_built('e(src, dst) WHERE id < 990');
SELECT searches BETWEEN 10 AND 2000, wrong FROM until_built(emogi_query('SELECT src, dst FROM e WHERE id < $1', 980));
SELECT searches, wrong FROM until_built(emogi_query('SELECT src, dst FROM e WHERE id < $1', 980));

SET client_min_messages = warning;
DROP SCHEMA test_checked_weights CASCADE;
