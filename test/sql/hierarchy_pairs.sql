-- A few distant pairs, in graphs of long paths and of short ones: with single searches, batches, or
-- bidirectional searches, the answers are those of recursive queries and of emogi_shortest_path.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS emogi;
RESET client_min_messages;
CREATE SCHEMA test_hierarchy_pairs;
SET search_path = test_hierarchy_pairs, public;
SET jit = off;
\pset format unaligned
\pset tuples_only on
-- Two disconnected grids of 20 x 40, one with one-way streets; a path; a star of paths; random
-- edges.
CREATE TABLE grid (source int, target int, weight float8);
INSERT INTO grid SELECT part + 100 * x + y, part + 100 * (x + 1 - d) + y + d, 1 + abs(hashint4(20000 * x + 2 * y + d)) % 4 FROM generate_series(0, 19) x, generate_series(0, 39) y, generate_series(0, 1) d, (VALUES (0), (10000)) parts (part)
  WHERE x + 1 - d < 20 AND y + d < 40;
INSERT INTO grid SELECT target, source, weight / 2 FROM grid WHERE source < 10000 AND source % 7 <> 0;
CREATE TABLE path AS SELECT i AS source, i + 1 AS target, (1 + i % 3)::float8 AS weight FROM generate_series(0, 699) i WHERE i <> 600;
CREATE TABLE star AS SELECT CASE WHEN i % 50 = 0 THEN 0 ELSE i END AS source, i + 1 AS target, 1::float8 AS weight FROM generate_series(0, 799) i;
CREATE TABLE near AS SELECT abs(hashint8extended(i, 1) % 700)::int AS source, abs(hashint8extended(i, 2) % 700)::int AS target, (1 + i % 5)::float8 AS weight FROM generate_series(1, 1400) i;
-- n pairs of a graph, spread over its vertices; with one source, with one target, or with n sources
-- and a few targets.
CREATE FUNCTION pairs(graph text, kind text, n int) RETURNS text LANGUAGE sql AS $$
  SELECT format(CASE kind WHEN 'pairs' THEN 'SELECT a, b FROM (SELECT v AS a, lag(v) OVER (ORDER BY hashint4(v + 1)) AS b FROM vertex_%1$s) x ORDER BY hashint4(a) LIMIT %2$s'
    WHEN 'one source' THEN 'SELECT (SELECT min(v) FROM vertex_%1$s), v FROM (SELECT v FROM vertex_%1$s ORDER BY hashint4(v) LIMIT %2$s) x'
    WHEN 'one target' THEN 'SELECT v, (SELECT max(v) FROM vertex_%1$s) FROM (SELECT v FROM vertex_%1$s ORDER BY hashint4(v) LIMIT %2$s) x'
    ELSE 'SELECT s.v, t.v FROM (SELECT v FROM vertex_%1$s ORDER BY hashint4(v) LIMIT %2$s) s, (SELECT v FROM vertex_%1$s ORDER BY hashint4(v + 2) LIMIT 3) t' END, graph, n) $$;
DO $$ DECLARE graph text; BEGIN
  FOREACH graph IN ARRAY ARRAY['grid', 'path', 'star', 'near'] LOOP
    EXECUTE format('CREATE TABLE vertex_%1$s AS SELECT source AS v FROM %1$s UNION SELECT target FROM %1$s', graph);
  END LOOP;
END $$;

-- Whether a path exists, by a recursive query.
CREATE FUNCTION reachable_differs(graph text, kind text, n int, direction text, OUT pairs bigint, OUT differences bigint) LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format('WITH RECURSIVE asked AS (SELECT * FROM (%2$s) q (a, b)),
    ways AS (SELECT source AS s, target AS t FROM %1$s WHERE %3$L <> ''in'' UNION ALL SELECT target, source FROM %1$s WHERE %3$L <> ''out''),
    reached(a, v) AS (SELECT DISTINCT a, a FROM asked UNION SELECT a, t FROM reached JOIN ways ON s = v),
    answer AS MATERIALIZED (SELECT * FROM emogi_reachable(%4$L, %2$L, %3$L))
    SELECT count(*), count(*) FILTER (WHERE reachable IS DISTINCT FROM EXISTS (SELECT FROM reached r WHERE r.a = asked.a AND r.v = asked.b))
    FROM (SELECT DISTINCT * FROM asked WHERE b IS NOT NULL) asked FULL JOIN answer ON source = a AND target = b', graph, pairs(graph, kind, n), direction, graph || '(source, target)') INTO pairs, differences;
END $$;
SELECT graph, kind, count(*), sum(r.pairs) > 0, sum(r.differences)
  FROM unnest(ARRAY['grid', 'path', 'star', 'near']) graph, unnest(ARRAY['pairs', 'one source', 'one target', 'all']) kind, unnest(ARRAY[1, 30]) n, unnest(ARRAY['out', 'both']) direction, LATERAL reachable_differs(graph, kind, n, direction) r
  GROUP BY 1, 2 ORDER BY 1, 2;
-- More sources than a batch has, in deep and shallow graphs; the first searches end early.
SELECT graph, n, direction, differences FROM unnest(ARRAY['path', 'near']) graph, unnest(ARRAY[80, 140]) n, unnest(ARRAY['in']) direction, LATERAL reachable_differs(graph, 'all', n, direction) ORDER BY 1, 2, 3;

-- The paths that emogi_shortest_path finds, and their lengths.
CREATE FUNCTION paths_differ(graph text, pairs text, direction text, OUT steps bigint, OUT differences bigint) LANGUAGE sql AS $$
  WITH ours AS MATERIALIZED (SELECT source, target, seq, vertex, cost, distance FROM emogi_shortest_paths(graph, pairs, direction)),
    theirs AS MATERIALIZED (SELECT asked.source, asked.target, p.seq, p.vertex, p.cost, p.distance
      FROM (SELECT source, target FROM emogi_reachable(graph, pairs, direction)) asked, LATERAL emogi_shortest_path(graph, asked.source, asked.target, direction) p)
  SELECT (SELECT count(*) FROM ours), (SELECT count(*) FROM (TABLE ours EXCEPT ALL TABLE theirs) x) + (SELECT count(*) FROM (TABLE theirs EXCEPT ALL TABLE ours) x) $$;
SELECT graph, kind, weights, count(*), sum(steps) > 100, sum(differences)
  FROM unnest(ARRAY['grid', 'path', 'star', 'near']) graph, unnest(ARRAY['pairs', 'one source', 'one target', 'all']) kind, unnest(ARRAY['', '(source, target)']) weights, unnest(ARRAY[1, 9, 20]) n, unnest(ARRAY['out', 'both']) direction,
    LATERAL paths_differ(graph || weights, pairs(graph, kind, n), direction) GROUP BY 1, 2, 3 ORDER BY 1, 2, 3;

-- Distances from few sources and from more than a batch has.
CREATE FUNCTION matrix_differs(graph text, vertices text, nsources int, ntargets int, direction text, OUT cells bigint, OUT differences bigint) LANGUAGE plpgsql AS $$
DECLARE
  sources bigint[];
  targets bigint[];
BEGIN
  EXECUTE format('SELECT array_agg(v) FROM (SELECT v FROM %I ORDER BY hashint4(v) LIMIT %s) x', vertices, nsources) INTO sources;
  EXECUTE format('SELECT array_agg(v) FROM (SELECT v FROM %I ORDER BY hashint4(v + 3) LIMIT %s) x', vertices, ntargets) INTO targets;
  SELECT count(*), count(*) FILTER (WHERE m.distance IS DISTINCT FROM e.distance) INTO cells, differences
    FROM emogi_distance_matrix(graph, sources, targets, direction) m
    FULL JOIN (SELECT s AS source, d.vertex AS target, d.distance FROM unnest(sources) s, LATERAL emogi_sssp(graph, s, NULL, direction) d WHERE d.vertex = ANY (targets)) e USING (source, target);
END $$;
SELECT graph, weights, count(*), sum(cells) > 100, sum(differences)
  FROM unnest(ARRAY['grid', 'path', 'star', 'near']) graph, unnest(ARRAY['', '(source, target)']) weights, (VALUES (1, 1), (5, 2), (12, 12), (90, 3)) n (s, t), unnest(ARRAY['out', 'in', 'both']) direction,
    LATERAL matrix_differs(graph || weights, 'vertex_' || graph, s, t, direction) GROUP BY 1, 2 ORDER BY 1, 2;

-- Near targets of the first sources, which indicate that a batch is cheaper although it has too
-- many levels; and distant targets after near ones.
SET emogi.fault = 'pair_edges=0';
SELECT count(*), bool_and(reachable = (source <= 600 AND target <= 600 OR source > 600 AND target > 600)) FROM emogi_reachable('path(source, target)', 'SELECT v, v + 5 FROM generate_series(0, 690, 5) v', 'both');
SELECT count(*), bool_and(reachable = (source <= target AND (source <= 600) = (target <= 600))) FROM emogi_reachable('path(source, target)', 'SELECT v, CASE WHEN v % 3 = 0 OR v > 600 THEN v + 5 WHEN v % 3 = 1 THEN 600 ELSE 3 END FROM generate_series(0, 690, 5) v');
SELECT count(*), bool_and(distance = abs(source - target)) FROM emogi_distance_matrix('path(source, target)', ARRAY(SELECT generate_series(0, 595, 5)), ARRAY[1, 2, 6], 'both');
SELECT direction, sum(r.differences) FROM unnest(ARRAY['grid', 'path', 'star', 'near']) graph, unnest(ARRAY['pairs', 'all']) kind, unnest(ARRAY[9, 80]) n, unnest(ARRAY['out', 'both']) direction, LATERAL reachable_differs(graph, kind, n, direction) r
  GROUP BY 1 ORDER BY 1;
RESET emogi.fault;
SET client_min_messages = warning;
DROP SCHEMA test_hierarchy_pairs CASCADE;
