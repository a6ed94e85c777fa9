-- Answers of emogi_shortest_path: one row per step, and always the same one of several shortest
-- paths.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS emogi;
RESET client_min_messages;
CREATE SCHEMA test_shortest_path;
SET search_path = test_shortest_path, public;

-- The interface.
SELECT * FROM emogi_shortest_path('SELECT 1, 2', 1, 2) \gdesc
SELECT proargnames[1:pronargs] AS names, proargtypes::regtype[] AS types, pg_get_expr(proargdefaults, 'pg_proc'::regclass) AS defaults,
       provolatile, proparallel, prosecdef, proleakproof, proretset
  FROM pg_proc WHERE proname = 'emogi_shortest_path' ORDER BY proargtypes;

-- One line shows a path: vertex:distance from the source to the target.
\pset format unaligned
\pset tuples_only on
\pset null (null)
-- The longer path 1 -> 2 -> 3 -> 4 is cheaper than 1 -> 4; 5 leads in; 6 and 7 are separate.
CREATE TABLE roads (src int, dst int, weight float8);
INSERT INTO roads VALUES (3, 4, 0.25), (1, 4, 10), (1, 2, 1), (2, 3, 1.5), (5, 1, 2), (6, 7, 3), (4, 1, 0.5);
SELECT * FROM emogi_shortest_path('roads', 1, 4);
SELECT string_agg(vertex || ':' || distance, ' ' ORDER BY seq) FROM emogi_shortest_path('roads', 5, 4);
SELECT string_agg(vertex || ':' || distance, ' ' ORDER BY seq) FROM emogi_shortest_path('roads', 3, 2);
SELECT string_agg(vertex || ':' || distance, ' ' ORDER BY seq) FROM emogi_shortest_path('roads', 6, 7);
SELECT string_agg(vertex || ':' || distance, ' ') FROM emogi_shortest_path('roads', 1, 3);

-- By hops, without weights.
SELECT string_agg(vertex || ':' || distance, ' ' ORDER BY seq) FROM emogi_shortest_path('roads(src, dst)', 1, 4);
SELECT string_agg(vertex || ':' || distance, ' ' ORDER BY seq) FROM emogi_shortest_path('SELECT src, dst FROM roads', 5, 3);

-- Direction.
SELECT string_agg(vertex || ':' || distance, ' ' ORDER BY seq) FROM emogi_shortest_path('roads', 4, 1, 'out');
SELECT string_agg(vertex || ':' || distance, ' ' ORDER BY seq) FROM emogi_shortest_path('roads', 4, 1, 'in');
SELECT string_agg(vertex || ':' || distance, ' ' ORDER BY seq) FROM emogi_shortest_path('roads', 1, 5, direction => 'in');
SELECT string_agg(vertex || ':' || distance, ' ' ORDER BY seq) FROM emogi_shortest_path('roads', 1, 3, 'both');
SELECT string_agg(vertex || ':' || distance, ' ' ORDER BY seq) FROM emogi_shortest_path('roads', 7, 6, 'Both');
SELECT string_agg(vertex || ':' || distance, ' ' ORDER BY seq) FROM emogi_shortest_path(direction => NULL, target => 4, source => 1, graph => 'roads');

-- From a vertex to itself: one row.
SELECT * FROM emogi_shortest_path('roads', 3, 3);
SELECT * FROM emogi_shortest_path('roads', 7, 7);
SELECT * FROM emogi_shortest_path('SELECT 7, 7, 5', 7, 7);

-- No path; missing vertices; NULL.
SELECT count(*) FROM emogi_shortest_path('roads', 1, 5);
SELECT count(*) FROM emogi_shortest_path('roads', 1, 6);
SELECT count(*) FROM emogi_shortest_path('roads', 7, 6);
SELECT count(*) FROM emogi_shortest_path('roads', 1, 99);
SELECT count(*) FROM emogi_shortest_path('roads', 99, 1);
SELECT count(*) FROM emogi_shortest_path('roads', 99, 99);
SELECT count(*) FROM emogi_shortest_path('roads', NULL, 1);
SELECT count(*) FROM emogi_shortest_path('roads', 1, NULL);
SELECT count(*) FROM emogi_shortest_path('roads', NULL, NULL);
SELECT count(*) FROM emogi_shortest_path('SELECT 1, 2 WHERE false', 1, 1);

-- Parallel edges, of which the cheapest counts; loops; rows with a NULL endpoint; impassable edges;
-- sums beyond float8.
SELECT string_agg(vertex || ':' || distance, ' ' ORDER BY seq)
  FROM emogi_shortest_path('VALUES (1, 2, 5), (1, 2, 3), (1, 2, 4), (2, 2, 0), (2, 3, 7), (2, 3, 7), (1, NULL, 0), (NULL, 3, 0)', 1, 3);
SELECT string_agg(vertex || ':' || distance, ' ' ORDER BY seq) FROM emogi_shortest_path('VALUES (1, 2, ''Infinity''::float8), (1, 3, 1), (3, 2, 2)', 1, 2);
SELECT count(*) FROM emogi_shortest_path('VALUES (1, 2, ''Infinity''::float8), (1, 3, 1)', 1, 2);
SELECT count(*) FROM emogi_shortest_path('VALUES (1, 2, 1e308::float8), (2, 3, 1e308)', 1, 3);
SELECT string_agg(vertex || ':' || distance, ' ' ORDER BY seq) FROM emogi_shortest_path('VALUES (1, 2, 1e308::float8), (2, 3, 1e308)', 1, 2);

-- Of several shortest paths, one with the fewest edges.
SELECT string_agg(vertex || ':' || distance, ' ' ORDER BY seq) FROM emogi_shortest_path('VALUES (1, 2, 1), (2, 3, 1), (3, 9, 1), (1, 8, 1), (8, 9, 2)', 1, 9);
SELECT string_agg(vertex || ':' || distance, ' ' ORDER BY seq) FROM emogi_shortest_path('VALUES (1, 2, 1), (2, 3, 1), (3, 9, 1), (1, 9, 3)', 1, 9);
-- Of those, the one whose second to last vertex is the smallest, then the one before that, and so
-- on.
SELECT string_agg(vertex || ':' || distance, ' ' ORDER BY seq)
  FROM emogi_shortest_path('VALUES (1, 7, 1), (7, 2, 1), (2, 9, 1), (1, 3, 1), (3, 4, 1), (4, 9, 1)', 1, 9);
SELECT string_agg(vertex || ':' || distance, ' ' ORDER BY seq)
  FROM emogi_shortest_path('VALUES (1, 6, 1), (1, 5, 1), (1, 4, 1), (4, 8, 1), (5, 7, 1), (6, 7, 1), (7, 9, 1), (8, 9, 1)', 1, 9);
SELECT string_agg(vertex || ':' || distance, ' ' ORDER BY seq)
  FROM emogi_shortest_path('VALUES (1, 6, 1), (1, -5, 1), (1, 4, 1), (4, 9, 1), (-5, 9, 1), (6, 9, 1)', 1, 9);
SELECT string_agg(vertex || ':' || distance, ' ' ORDER BY seq)
  FROM emogi_shortest_path('VALUES (1, 2, 1), (2, 9, 3), (1, 3, 2), (3, 9, 2), (1, 4, 3), (4, 9, 1)', 1, 9);
SELECT string_agg(vertex || ':' || distance, ' ' ORDER BY seq)
  FROM emogi_shortest_path('SELECT x * 10 + y, x * 10 + y + d FROM generate_series(0, 3) x, generate_series(0, 3) y, (VALUES (1), (10)) v(d) WHERE x * 10 + y + d < 34', 0, 33);
-- Edges of weight 0, including a cycle of them.
SELECT string_agg(vertex || ':' || distance, ' ' ORDER BY seq)
  FROM emogi_shortest_path('VALUES (1, 2, 0), (2, 3, 0), (3, 1, 0), (3, 4, 0), (4, 3, 0), (2, 4, 0), (4, 5, 1), (5, 4, 0)', 1, 5);
SELECT string_agg(vertex || ':' || distance, ' ' ORDER BY seq) FROM emogi_shortest_path('VALUES (1, 2, 0), (2, 3, 0), (3, 1, 0)', 2, 1, 'both');
SELECT string_agg(vertex || ':' || distance, ' ' ORDER BY seq) FROM emogi_shortest_path('VALUES (1, 1, 0), (1, 2, 0), (2, 1, 0)', 1, 1);

-- A long chain in both directions; a star; keys of every size and sign.
CREATE TABLE chain AS SELECT i AS src, i + 1 AS dst, i AS weight FROM generate_series(1, 3000) i;
SELECT count(*), min(seq), max(seq), max(distance), count(*) FILTER (WHERE seq <> vertex OR distance <> vertex * (vertex - 1) / 2)
  FROM emogi_shortest_path('chain', 1, 3001);
SELECT count(*), min(seq), max(seq), max(distance), count(*) FILTER (WHERE seq <> 3002 - vertex) FROM emogi_shortest_path('chain', 3001, 1, 'in');
SELECT count(*), max(distance), count(*) FILTER (WHERE seq <> 2001 - vertex) FROM emogi_shortest_path('chain', 2000, 1000, 'both');
SELECT string_agg(vertex || ':' || distance, ' ' ORDER BY seq) FROM emogi_shortest_path('SELECT 0, i, i FROM generate_series(1, 1000) i', 400, 999, 'both');
CREATE TABLE wide (src bigint, dst bigint, weight numeric);
INSERT INTO wide VALUES
  (-9223372036854775808, 9223372036854775807, 1), (9223372036854775807, 0, 0.5), (0, -1, 0.25), (-1, 4294967296, 2), (4294967296, -4294967297, 4),
  (-9223372036854775808, -4294967297, 7.5);
SELECT * FROM emogi_shortest_path('wide', -9223372036854775808, 4294967296);
SELECT string_agg(vertex || ':' || distance, ' ' ORDER BY seq) FROM emogi_shortest_path('wide', -9223372036854775808, -4294967297);

-- In a join, a LATERAL join, a prepared statement and a view.
CREATE TABLE towns (id int, name text);
INSERT INTO towns VALUES (1, 'one'), (2, 'two'), (3, 'three'), (4, 'four'), (5, 'five');
SELECT string_agg(name, ' > ' ORDER BY seq) FROM emogi_shortest_path('roads', 5, 4) JOIN towns ON vertex = id;
SELECT a.id, b.id, (SELECT string_agg(vertex::text, '>' ORDER BY seq) FROM emogi_shortest_path('roads', a.id, b.id)) FROM towns a, towns b WHERE a.id + b.id = 5 ORDER BY 1, 2;
SELECT id, seq, vertex FROM towns, LATERAL emogi_shortest_path('roads', 2, id) WHERE seq > 1 ORDER BY id, seq;
SELECT a.name, b.name, b.distance - a.distance AS step FROM (emogi_shortest_path('roads', 5, 4) JOIN towns ON vertex = id) a
  JOIN (emogi_shortest_path('roads', 5, 4) JOIN towns ON vertex = id) b ON b.seq = a.seq + 1 ORDER BY a.seq;
PREPARE way(bigint, bigint) AS SELECT string_agg(vertex || ':' || distance, ' ' ORDER BY seq) FROM emogi_shortest_path('roads', $1, $2);
EXECUTE way(1, 4);
EXECUTE way(4, NULL);
CREATE VIEW one_to_four AS SELECT * FROM emogi_shortest_path('roads', 1, 4);
INSERT INTO roads VALUES (2, 4, 0.25);
SELECT string_agg(vertex || ':' || distance, ' ' ORDER BY seq) FROM one_to_four;
SELECT vertex FROM one_to_four WHERE seq = 2;
SELECT seq FROM one_to_four WHERE vertex = 4;

-- The oracle: distances by the Bellman-Ford method, fewest edges over the tight arcs, then
-- backwards from the target over the smallest vertices. Weights are integers here, so that no sum
-- is rounded.
\set ECHO none
\i test/data/shapes.sql
\set ECHO all
CREATE TEMP TABLE reached (vertex bigint PRIMARY KEY, value float8, round int, hops int);
CREATE FUNCTION oracle(source bigint) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  turn int := 0;
BEGIN
  TRUNCATE reached;
  INSERT INTO reached SELECT source, 0, 0, 0;
  WHILE FOUND LOOP
    turn := turn + 1;
    INSERT INTO reached SELECT b, min(value + w), turn FROM arc JOIN reached ON a = vertex AND round = turn - 1 WHERE w < 'Infinity' GROUP BY b
      ON CONFLICT (vertex) DO UPDATE SET value = excluded.value, round = turn WHERE excluded.value < reached.value;
  END LOOP;
  turn := 0;
  LOOP
    turn := turn + 1;
    UPDATE reached v SET hops = turn FROM arc, reached u
     WHERE a = u.vertex AND b = v.vertex AND u.hops = turn - 1 AND v.hops IS NULL AND u.value + w = v.value;
    EXIT WHEN NOT FOUND;
  END LOOP;
END $$;
CREATE FUNCTION way_to(target bigint) RETURNS text LANGUAGE sql STABLE AS $$
  WITH RECURSIVE back AS (
    SELECT vertex, value, hops FROM reached WHERE vertex = target
    UNION ALL
    SELECT u.* FROM back v, LATERAL (
      SELECT u.vertex, u.value, u.hops FROM arc JOIN reached u ON a = u.vertex WHERE b = v.vertex AND u.hops = v.hops - 1 AND u.value + w = v.value
       ORDER BY u.vertex LIMIT 1) u
  ) SELECT string_agg(vertex || ':' || value, ' ' ORDER BY hops) FROM back $$;
CREATE TABLE results (shape text, key text, calls bigint, found bigint, steps bigint, wrong bigint);
CREATE PROCEDURE compare_all() LANGUAGE plpgsql AS $$
DECLARE
  c record;
  way text;
  start bigint;
BEGIN
  FOR c IN SELECT r.* FROM generate_series(0, 2) turn, combinations(turn) r WHERE (w).kind = 'zeros' OR (w).kind = 'large' AND turn = 1 LOOP
    PERFORM make_graph(c.s, c.k, c.w);
    COMMIT;
    FOREACH way IN ARRAY ARRAY['out', 'in', 'both'] LOOP
      PERFORM take_arcs(way);
      FOR start IN SELECT (some_vertices(2))[i] FROM generate_series(1, least(2, cardinality(some_vertices(2)))) i LOOP
        PERFORM oracle(start);
        INSERT INTO results
          SELECT (c.s).shape, (c.k).kind, count(*), count(truth), sum(steps), count(*) FILTER (WHERE truth IS DISTINCT FROM answer)
            FROM unnest(some_vertices(8)) target,
                 LATERAL (SELECT way_to(target)) t(truth),
                 LATERAL (SELECT string_agg(vertex || ':' || distance, ' ' ORDER BY seq), count(*) FROM emogi_shortest_path('e', start, target, way)) s(answer, steps);
      END LOOP;
    END LOOP;
    DROP TABLE e;
  END LOOP;
END $$;
\pset tuples_only off
\pset format aligned
CALL compare_all();
SELECT key, sum(calls) AS calls, sum(found) AS found, sum(steps) AS steps, sum(wrong) AS wrong FROM results GROUP BY key ORDER BY key COLLATE "C";
SELECT shape, sum(calls) AS calls, sum(found) AS found, sum(steps) AS steps, sum(wrong) AS wrong FROM results GROUP BY shape ORDER BY shape COLLATE "C";
SELECT * FROM results WHERE wrong > 0 ORDER BY shape, key;

-- A larger one, with rounded sums: the steps are edges, the distances those of emogi_sssp.
CREATE TABLE e AS SELECT pick(i, 41, 3000) AS src, pick(i, 42, 3000) AS dst, 0.001::float8 * (1 + pick(i, 43, 1000)) AS weight FROM generate_series(1, 12000) i;
WITH path AS MATERIALIZED (SELECT t.target, p.* FROM generate_series(20, 2000, 20) t(target), LATERAL emogi_shortest_path('e', 1, t.target) p),
     step AS (SELECT b.*, a.vertex AS before, a.distance AS so_far FROM path a JOIN path b ON b.target = a.target AND b.seq = a.seq + 1)
SELECT count(DISTINCT target) AS targets, count(*) FILTER (WHERE seq = 1 AND (vertex <> 1 OR distance <> 0)) AS bad_start,
       (SELECT count(*) FROM step WHERE NOT EXISTS (SELECT FROM e WHERE src = before AND dst = vertex AND so_far + weight = distance)) AS bad_steps,
       (SELECT count(*) FROM path JOIN emogi_sssp('e', 1) s USING (vertex) WHERE path.distance <> s.distance) AS bad_distances,
       (SELECT count(*) FROM emogi_sssp('e', 1) s WHERE vertex BETWEEN 20 AND 2000 AND vertex % 20 = 0
           AND NOT EXISTS (SELECT FROM path WHERE path.target = s.vertex AND path.vertex = s.vertex)) AS missing
  FROM path;

-- Random graphs of thousands of edges with many equal paths: the steps are those derived backwards
-- from the distances of emogi_sssp, over the fewest edges and then the smallest vertices; in every
-- direction, for near, distant and unreachable targets.
CREATE FUNCTION oracle_of_sssp(graph text, source bigint, way text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  turn int := 0;
BEGIN
  PERFORM take_arcs(way);
  TRUNCATE reached;
  INSERT INTO reached SELECT vertex, distance, 0, CASE WHEN vertex = source THEN 0 END FROM emogi_sssp(graph, source, direction => way);
  ANALYZE arc, reached;
  LOOP
    turn := turn + 1;
    UPDATE reached v SET hops = turn FROM arc, reached u
     WHERE a = u.vertex AND b = v.vertex AND u.hops = turn - 1 AND v.hops IS NULL AND u.value + w = v.value;
    EXIT WHEN NOT FOUND;
  END LOOP;
END $$;
DROP TABLE e;
CREATE INDEX ON arc (b);
CREATE TABLE kinds (kind text, vertices int, edges int, weight text);
INSERT INTO kinds VALUES ('equal', 1500, 5000, '1'), ('few values', 1500, 5000, 'pick(i, 63, 3) + 1'), ('zeros', 1500, 4000, 'greatest(pick(i, 64, 4) - 1, 0)'),
  ('rounding', 1500, 6000, '0.1::float8 * (1 + pick(i, 65, 5))'), ('wide', 1500, 6000, '10::float8 ^ (pick(i, 66, 12) - 6)');
CREATE TABLE ways (kind text, way text, target bigint, truth text, answer text);
DO $$
DECLARE
  k kinds;
  direction text;
BEGIN
  FOR k IN SELECT * FROM kinds LOOP
    EXECUTE format('CREATE TABLE e AS SELECT pick(i, 61, %1$s) AS src, pick(i, 62, %1$s) AS dst, %3$s AS weight FROM generate_series(1, %2$s) i', k.vertices, k.edges, k.weight);
    FOREACH direction IN ARRAY ARRAY['out', 'in', 'both'] LOOP
      PERFORM oracle_of_sssp('e', 7, direction);
      INSERT INTO ways SELECT k.kind, direction, target, way_to(target), answer
        FROM generate_series(3, 1500, 73) target,
             LATERAL (SELECT string_agg(vertex || ':' || distance, ' ' ORDER BY seq) FROM emogi_shortest_path('e', 7, target, direction)) s(answer);
    END LOOP;
    DROP TABLE e;
  END LOOP;
END $$;
SELECT kind, way, count(*) AS targets, count(truth) AS found, max(cardinality(string_to_array(truth, ' '))) AS longest, count(*) FILTER (WHERE truth IS DISTINCT FROM answer) AS wrong
  FROM ways GROUP BY kind, way ORDER BY kind COLLATE "C", way COLLATE "C";
SELECT * FROM ways WHERE truth IS DISTINCT FROM answer ORDER BY kind, way, target LIMIT 3;

-- A grid of 1.4 million list entries, from corner to corner: the search for one path gives up, and
-- the path is derived from all distances. Short paths are found by the search itself.
SET jit = off;
CREATE TABLE grid AS
  SELECT i AS src, i + 1 AS dst, (1 + pick(i, 71, 5))::smallint AS weight FROM generate_series(0, 359999) i WHERE i % 600 < 599
  UNION ALL SELECT i, i + 600, (1 + pick(i, 72, 5))::smallint FROM generate_series(0, 359399) i;
CREATE TABLE paths AS
  SELECT graph, target, p.* FROM (VALUES ('grid', 359999), ('grid', 1203), ('grid(src, dst)', 359999), ('grid(src, dst)', 1203), ('grid(src, dst)', 599)) g(graph, target),
         LATERAL emogi_shortest_path(graph, 0, target, 'both') p;
ANALYZE grid, paths;
WITH step AS (SELECT a.graph, a.target, a.vertex AS a, b.vertex AS b, b.distance - a.distance AS length
                FROM paths a JOIN paths b ON b.graph = a.graph AND b.target = a.target AND b.seq = a.seq + 1),
     far AS (SELECT graph, s.* FROM (VALUES ('grid'), ('grid(src, dst)')) g(graph), LATERAL emogi_sssp(graph, 0, direction => 'both') s)
SELECT graph, target, count(*) - 1 = max(abs(target % 600) + target / 600) AS straight, min(seq) = 1 AND max(seq) = count(*) AS numbered,
       count(*) FILTER (WHERE p.distance IS DISTINCT FROM far.distance) AS bad_distances,
       (SELECT count(*) FROM step s WHERE s.graph = p.graph AND s.target = p.target
           AND NOT EXISTS (SELECT FROM grid WHERE src = least(a, b) AND dst = greatest(a, b) AND length = CASE s.graph WHEN 'grid' THEN weight ELSE 1 END)) AS bad_steps
  FROM paths p LEFT JOIN far USING (graph, vertex) GROUP BY graph, target ORDER BY graph COLLATE "C", target;
-- By hops all paths are equal: backwards over the smallest vertices, which are those above, up to
-- the first row.
SELECT count(*), count(*) FILTER (WHERE vertex <> CASE WHEN seq <= 600 THEN seq - 1 ELSE 599 + (seq - 600) * 600 END) AS elsewhere FROM paths WHERE graph = 'grid(src, dst)' AND target = 359999;
-- Only the engine's report shows which method found it.
SET emogi.engine = cpu;
SELECT count(*) FROM emogi_shortest_path('grid', 0, 359999, 'both');
SELECT count(*) FROM emogi_shortest_path('grid', 0, 1203, 'both');
SELECT reached = vertices AS all_distances FROM emogi_runs WHERE pid = pg_backend_pid() ORDER BY id DESC LIMIT 2;
RESET emogi.engine;
