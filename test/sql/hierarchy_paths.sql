-- Long shortest paths: with the contraction hierarchy of a cached graph they are bitwise equal to
-- those without it, and to those of emogi_sssp; also after a change of the table.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS emogi;
RESET client_min_messages;
CREATE SCHEMA test_hierarchy_paths;
SET search_path = test_hierarchy_paths, public;
SET emogi.engine = cpu;
\pset format unaligned
\pset tuples_only on

-- A road network of 90 x 90 crossings: some streets are missing, some are one-way, some are
-- duplicates, some have weight 0; and a separate island.
CREATE TABLE roads (src int, dst int, length float8, metres int);
SELECT setseed(0.75) IS NULL;
INSERT INTO roads SELECT v, w, CASE WHEN random() < 0.02 THEN 0 ELSE random() * 9 END, (random() * 900)::int
  FROM generate_series(0, 8099) v, LATERAL (SELECT v + 1 AS w WHERE v % 90 < 89 UNION ALL SELECT v + 90 WHERE v < 8010) n WHERE random() < 0.95;
INSERT INTO roads SELECT dst, src, CASE WHEN random() < 0.5 THEN length ELSE length * 1.1 END, metres FROM roads WHERE random() < 0.9;
INSERT INTO roads SELECT src, dst, length / 3, metres * 2 FROM roads WHERE random() < 0.02;
INSERT INTO roads VALUES (9001, 9002, 1.5, 4), (9002, 9003, 1, 3), (9003, 9001, 1, 3);
CREATE TABLE ends (a bigint, b bigint);
INSERT INTO ends VALUES (0, 8099), (8099, 0), (89, 8010), (44, 8050), (0, 9001), (9001, 9003), (17, 17);
INSERT INTO ends SELECT (random() * 8099)::int, (random() * 8099)::int FROM generate_series(1, 40);

-- The number of this session's last calls that were answered with a hierarchy.
CREATE FUNCTION by_hierarchy(n int) RETURNS bigint LANGUAGE sql AS $$
  SELECT count(*) FROM (SELECT engine FROM emogi_runs WHERE pid = pg_backend_pid() AND function = 'emogi_shortest_path' ORDER BY id DESC LIMIT n) r WHERE engine = 'hierarchy' $$;
CREATE FUNCTION path(graph text, a bigint, b bigint, direction text) RETURNS text LANGUAGE sql AS $$
  SELECT string_agg(vertex || ':' || distance, ' ' ORDER BY seq) FROM emogi_shortest_path(graph, a, b, direction) $$;
CREATE FUNCTION plain_path(graph text, a bigint, b bigint, direction text) RETURNS text LANGUAGE sql SET emogi.enable_contraction = off SET emogi.enable_local_search = off AS $$
  SELECT path(graph, a, b, direction) $$;

-- Paths that differ, or whose length is not the distance; and whether most were found with the
-- hierarchy.
CREATE FUNCTION compare(graph text, direction text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  e record;
  found text;
  d float8;
  differ int := 0;
BEGIN
  FOR e IN SELECT * FROM ends LOOP
    found := path(graph, e.a, e.b, direction);
    SELECT distance INTO d FROM emogi_sssp(graph, e.a, NULL, direction) WHERE vertex = e.b;
    IF found IS DISTINCT FROM plain_path(graph, e.a, e.b, direction) OR substring(found from '[^:]*$')::float8 IS DISTINCT FROM d THEN
      differ := differ + 1;
    END IF;
  END LOOP;
  RETURN differ || ' of ' || (SELECT count(*) FROM ends) || ' differ';
END $$;

-- No hierarchy is built until enough long paths were requested.
SET emogi.contraction_min_calls = 1;
SELECT path('roads', 0, 8099, 'both') = path('roads', 0, 8099, 'both');
SELECT by_hierarchy(2), by_hierarchy(1);
SET emogi.enable_contraction = off;
SELECT path('roads', 0, 8099, 'both') IS NOT NULL;
SELECT by_hierarchy(1);
RESET emogi.enable_contraction;

SET emogi.contraction_min_calls = 0;
SELECT graph, direction, compare(graph, direction) FROM unnest(ARRAY['roads(src, dst, length)', 'roads(src, dst, metres)']) AS graph, unnest(ARRAY['out', 'in', 'both']) AS direction;
SELECT path('roads(src, dst, length)', 0, 8099, 'out') = plain_path('roads(src, dst, length)', 0, 8099, 'out');
SELECT path('roads(src, dst, length)', 0, 8099, 'out') IS NOT NULL;
SELECT by_hierarchy(1);

-- Distance matrices, too.
SET emogi.contraction_min_calls = 0;
CREATE FUNCTION distances_differ(graph text, direction text) RETURNS bigint LANGUAGE sql AS $$
  WITH m AS MATERIALIZED (SELECT * FROM emogi_distance_matrix(graph, ARRAY[0, 8099, 44, 9001], ARRAY[8099], direction)),
    e AS MATERIALIZED (SELECT s AS source, vertex AS target, distance FROM unnest(ARRAY[0, 8099, 44, 9001]::bigint[]) s, LATERAL emogi_sssp(graph, s, NULL, direction) WHERE vertex = 8099)
  SELECT count(*) FROM m FULL JOIN e USING (source, target) WHERE m.distance IS DISTINCT FROM e.distance $$;
SELECT graph, direction, distances_differ(graph, direction) FROM unnest(ARRAY['roads(src, dst, length)', 'roads(src, dst, metres)']) AS graph, unnest(ARRAY['out', 'in', 'both']) AS direction;

-- Existence of paths, too; with infinite weights a hierarchy does not contain all paths.
CREATE TABLE blocked AS SELECT src, dst, CASE WHEN (src + dst) % 7 = 0 THEN 'Infinity' ELSE length END AS weight FROM roads;
SELECT count(*) > 0 FROM emogi_shortest_path('blocked(src, dst, weight)', 0, 8099, 'out') UNION ALL SELECT count(*) > 0 FROM emogi_shortest_path('blocked(src, dst, weight)', 0, 8099, 'in');
CREATE FUNCTION reachable_differ(graph text, direction text) RETURNS text LANGUAGE sql AS $$
  WITH r AS MATERIALIZED (SELECT * FROM emogi_reachable(graph, 'SELECT a, b FROM ends', direction)),
    e AS MATERIALIZED (SELECT DISTINCT engine FROM (SELECT engine FROM emogi_runs WHERE pid = pg_backend_pid() AND function = 'emogi_reachable' AND (SELECT count(*) FROM r) > 0 ORDER BY id DESC LIMIT 1) e)
  SELECT format('%s of %s differ, %s reachable%s', count(*) FILTER (WHERE r.reachable <> EXISTS (SELECT FROM emogi_bfs(graph, r.source, NULL, direction) WHERE vertex = r.target)),
    count(*), count(*) FILTER (WHERE r.reachable), (SELECT ', by a hierarchy' FROM e WHERE engine = 'hierarchy')) FROM r $$;
SELECT graph, direction, reachable_differ(graph, direction) FROM unnest(ARRAY['roads(src, dst, length)', 'blocked(src, dst, weight)']) AS graph, unnest(ARRAY['out', 'in']) AS direction;
SET emogi.enable_contraction = off;
SELECT reachable_differ('roads(src, dst, length)', 'out');
RESET emogi.enable_contraction;

-- EXPLAIN shows it.
CREATE FUNCTION engine_of(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
  line text;
BEGIN
  FOR line IN EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) ' || query LOOP
    IF line ~ 'Engine' THEN RETURN NEXT trim(line); END IF;
  END LOOP;
END $$;
SELECT engine_of($$SELECT * FROM emogi_shortest_path('roads(src, dst, length)', 0, 8099, 'out')$$);

-- One street becomes expensive, another is new: the next path uses the changes, with an overlay, in
-- a rebuilt graph, and with a new hierarchy.
UPDATE roads SET length = length + 100 WHERE ctid IN (SELECT r.ctid FROM roads r, emogi_shortest_path('roads(src, dst, length)', 0, 8099, 'out') p WHERE r.src = p.vertex AND p.seq = 20);
SELECT compare('roads(src, dst, length)', 'out');
INSERT INTO roads VALUES (4000, 8098, 0.125, 1), (0, 3900, 0.0625, 1);
SELECT compare('roads(src, dst, length)', 'out');
SELECT path('roads(src, dst, length)', 0, 8099, 'out') = plain_path('roads(src, dst, length)', 0, 8099, 'out');

-- Graphs that are not road-like are searched as before.
CREATE TABLE web AS SELECT (random() * random() * 3000)::int AS src, (random() * 3000)::int AS dst, random() AS length FROM generate_series(1, 30000);
SELECT compare('web', 'both');

SET client_min_messages = warning;
DROP SCHEMA test_hierarchy_paths CASCADE;
