-- Several paths of one pair: the k shortest ones, and all shortest ones; cycles through a vertex.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS emogi;
RESET client_min_messages;
CREATE SCHEMA test_k_paths;
SET search_path = test_k_paths, public;
\pset format unaligned
\pset null '(null)'

CREATE TABLE roads (id int, source int, target int, cost float8, reverse_cost float8);
INSERT INTO roads VALUES (1, 1, 2, 1, 1), (2, 2, 3, 1, 1), (3, 1, 3, 2, 2), (4, 3, 4, 1, -1), (5, 2, 4, 2, 2), (6, 1, 2, 5, 5), (7, 4, 1, 3, 3), (8, 3, 3, 0, 0), (9, 8, 9, 1, 1);
SELECT * FROM emogi_k_shortest_paths('roads', 1, 4, 10);
\pset tuples_only on
SELECT * FROM emogi_k_shortest_paths('roads', 1, 4, 2, 'in');
SELECT max(path_id) FROM emogi_k_shortest_paths('roads', 1, 4);
SELECT max(path_id) FROM emogi_k_shortest_paths('roads'::regclass, 1, 4, columns => 'source, target');
SELECT path_id, string_agg(vertex::text, ' ' ORDER BY seq), max(distance) FROM emogi_k_shortest_paths('roads', 1, 4, 100, direction => 'both') GROUP BY 1 ORDER BY 1;
SELECT * FROM emogi_k_shortest_paths('roads'::regclass, 1, 4, 2, columns => 'source, target');
SELECT * FROM emogi_all_shortest_paths('roads', 1, 4);
SELECT * FROM emogi_all_shortest_paths('roads', 1, 4, 2);
SELECT * FROM emogi_all_shortest_paths('roads'::regclass, 4, 1, 1, 'in', 'source, target, cost');
-- The source itself, missing vertices, no path, NULL.
SELECT * FROM emogi_k_shortest_paths('roads', 3, 3, 2);
SELECT * FROM emogi_all_shortest_paths('roads', 3, 3);
SELECT * FROM emogi_k_shortest_paths('roads', 1, 77, 2);
SELECT * FROM emogi_k_shortest_paths('roads', 77, 1, 2);
SELECT * FROM emogi_k_shortest_paths('roads', 1, 8, 2);
SELECT * FROM emogi_k_shortest_paths('roads', NULL, 1, 2);
SELECT * FROM emogi_k_shortest_paths('roads', 1::bigint, NULL, 2);
SELECT * FROM emogi_all_shortest_paths('roads', 1, 77);
SELECT * FROM emogi_all_shortest_paths('roads', NULL::bigint, NULL);
SELECT * FROM emogi_k_shortest_paths('SELECT 1 AS src, 2 AS dst WHERE false', 1, 2, 3);
SET emogi.notice_missing_source = on;
SELECT * FROM emogi_k_shortest_paths('roads', 1, 77, 2);
RESET emogi.notice_missing_source;
-- Other keys.
CREATE TABLE links (src text, dst text, weight int, id text);
INSERT INTO links VALUES ('a', 'b', 1, 'ab'), ('b', 'c', 1, 'bc'), ('a', 'c', 2, 'ac'), ('a', 'c', 3, 'ac2');
SELECT * FROM emogi_k_shortest_paths('links', 'a', 'c', 5);
SELECT * FROM emogi_all_shortest_paths('links', 'a', 'c');
CREATE TABLE hops AS SELECT lpad(a::text, 32, '0')::uuid AS src, lpad(b::text, 32, '0')::uuid AS dst FROM (VALUES (1, 2), (1, 3), (2, 4), (3, 4), (2, 3)) v (a, b);
SELECT path_id, seq, vertex, edge, distance FROM emogi_k_shortest_paths('hops', lpad('1', 32, '0')::uuid, lpad('4', 32, '0')::uuid, 5);
SELECT path_id, string_agg(right(vertex::text, 1), ' ' ORDER BY seq) FROM emogi_all_shortest_paths('hops'::regclass, lpad('1', 32, '0')::uuid, lpad('4', 32, '0')::uuid) GROUP BY 1 ORDER BY 1;
-- Edges of length 0 form cycles; an impassable edge is not used.
CREATE TABLE flat (a int, b int, w float8);
INSERT INTO flat VALUES (1, 2, 0), (2, 1, 0), (2, 3, 0), (3, 2, 0), (1, 3, 0), (3, 1, 0), (3, 4, 1), (2, 4, 1), (1, 4, 'infinity');
SELECT path_id, string_agg(vertex::text, ' ' ORDER BY seq), max(distance) FROM emogi_all_shortest_paths('flat(a, b, w)', 1, 4) GROUP BY 1 ORDER BY 1;
-- Errors.
SELECT * FROM emogi_k_shortest_paths('roads', 1, 4, 0);
SELECT * FROM emogi_k_shortest_paths('roads', 1, 4, NULL);
SELECT * FROM emogi_k_shortest_paths('roads', 1, 4, 2, 'up');
SELECT * FROM emogi_k_shortest_paths('links', 1, 4, 2);
SELECT * FROM emogi_all_shortest_paths('roads', 1, 4, -1);
SELECT * FROM emogi_all_shortest_paths(NULL::text, 1, 4);
SELECT * FROM emogi_k_shortest_paths('SELECT source, target, -cost AS weight FROM roads', 1, 4, 2);
SELECT * FROM emogi_all_shortest_paths('SELECT source, target, ''NaN''::float8 AS weight FROM roads', 1, 4);

-- Cycles through a vertex: a loop, back and forth, a longer one.
\pset tuples_only off
SELECT * FROM emogi_cycles('roads', 3);
\pset tuples_only on
CREATE FUNCTION around(graph text, source bigint, max_length int, max_cycles int, direction text, OUT cycle_id int, OUT vertices text, OUT distance float8) RETURNS SETOF record LANGUAGE sql AS
  $$ SELECT cycle_id, string_agg(vertex::text, ' ' ORDER BY seq), max(distance) FROM emogi_cycles(graph, source, max_length, max_cycles, direction) GROUP BY 1 ORDER BY 1 $$;
SELECT * FROM around('roads', 1, 3, 100, 'in');
SELECT * FROM around('roads', 1, 10, 100, 'both');
SELECT * FROM around('roads', 3, 2, NULL, 'both');
SELECT * FROM around('roads', 1, NULL, 3, NULL);
SELECT * FROM emogi_cycles('roads'::regclass, 8, columns => 'source, target, cost');
SELECT * FROM emogi_cycles('roads'::regclass, 8);
SELECT * FROM emogi_cycles('roads', 77);
SELECT * FROM emogi_cycles('roads', NULL::bigint);
SELECT * FROM emogi_cycles('SELECT ''a'' AS src, ''b'' AS dst UNION ALL SELECT ''b'', ''a''', 'a');
SELECT cycle_id, seq, right(vertex::text, 1), edge FROM emogi_cycles('SELECT src, dst FROM hops UNION ALL SELECT dst, src FROM hops', lpad('1', 32, '0')::uuid, 2);
SELECT vertex FROM emogi_cycles('roads', '8');
SELECT * FROM emogi_cycles('roads', '{8,9}');
SELECT * FROM emogi_cycles('roads', 1, 0);
SELECT * FROM emogi_cycles('roads', 1, 3, 0);
SELECT * FROM emogi_cycles('roads', 1, direction => 'up');
SELECT * FROM emogi_cycles('links', 1);

-- All paths of small graphs, by a recursive query, in the documented order.
CREATE TABLE net (id int, source int, target int, cost float8, reverse_cost float8);
SELECT setseed(0.3);
INSERT INTO net SELECT i, random() * 7, random() * 7, trunc(random() * 5) - 1, trunc(random() * 5) - 1 FROM generate_series(1, 26) i;
CREATE FUNCTION by_definition(s bigint, t bigint, direction text, OUT path bigint[], OUT distance float8) RETURNS SETOF record LANGUAGE sql AS $$
  WITH RECURSIVE ways AS (SELECT source AS a, target AS b, cost AS w FROM net WHERE cost >= 0 UNION ALL SELECT target, source, reverse_cost FROM net WHERE reverse_cost >= 0),
  directed AS (SELECT a, b, w FROM ways WHERE direction IN ('out', 'both') UNION ALL SELECT b, a, w FROM ways WHERE direction IN ('in', 'both')),
  step AS (SELECT a, b, min(w) AS w FROM directed GROUP BY a, b),
  walk AS (SELECT ARRAY[s] AS path, 0::float8 AS distance
    UNION ALL SELECT path || b::bigint, distance + w FROM walk JOIN step ON a = path[cardinality(path)] WHERE a <> t AND b <> ALL (path))
  SELECT path, distance FROM walk WHERE path[cardinality(path)] = t $$;
CREATE VIEW ends AS SELECT s, t, direction, most FROM generate_series(0, 7, 3) s, generate_series(1, 7, 2) t, unnest(ARRAY['out', 'in', 'both']) direction, unnest(ARRAY[1, 5, 1000]) most;
SELECT count(*), count(*) FILTER (WHERE found IS DISTINCT FROM expected) AS differ FROM ends,
  LATERAL (SELECT array_agg(p ORDER BY path_id) AS found FROM (SELECT path_id, array_agg(vertex ORDER BY seq)::text || max(distance) AS p FROM emogi_k_shortest_paths('net', s, t, most, direction) GROUP BY path_id) x) f,
  LATERAL (SELECT array_agg(p ORDER BY n) AS expected FROM (SELECT path::text || distance AS p, row_number() OVER (ORDER BY distance, path) AS n FROM by_definition(s, t, direction)) x WHERE n <= most) e;
SELECT count(*), count(*) FILTER (WHERE found IS DISTINCT FROM expected) AS differ FROM ends,
  LATERAL (SELECT array_agg(p ORDER BY path_id) AS found FROM (SELECT path_id, array_agg(vertex ORDER BY seq)::text || max(distance) AS p FROM emogi_all_shortest_paths('net', s, t, 1000, direction) GROUP BY path_id) x) f,
  LATERAL (SELECT array_agg(p ORDER BY n) AS expected FROM (SELECT path::text || distance AS p, distance, min(distance) OVER () AS least, row_number() OVER (ORDER BY distance, path) AS n FROM by_definition(s, t, direction)) x WHERE distance = least) e
  WHERE most = 1;
-- Distances are sums of costs, and ids are those of edges; the first path is as long as the shortest
-- one; after a change, too.
SELECT bool_and(distance = (SELECT coalesce(sum(p.cost), 0) FROM emogi_k_shortest_paths('net', 0, 5, 20) p WHERE p.path_id = q.path_id AND p.seq < q.seq)), count(*) > 20,
  bool_and(q.edge IS NULL AND q.cost = 0 OR EXISTS (SELECT FROM net WHERE id = q.edge AND q.cost IN (net.cost, net.reverse_cost) AND q.vertex IN (source, target))) FROM emogi_k_shortest_paths('net', 0, 5, 20) q;
UPDATE net SET cost = cost + 0.5 WHERE id % 3 = 0;
SELECT count(*) FROM ends, LATERAL (SELECT max(distance) AS d FROM emogi_k_shortest_paths('net', s, t, 1, direction)) k, LATERAL (SELECT max(distance) AS d FROM emogi_shortest_path('net', s, t, direction)) p
  WHERE k.d IS DISTINCT FROM p.d;
-- All cycles, by a recursive query.
CREATE FUNCTION cycles_by_definition(s bigint, most int, direction text, OUT path bigint[], OUT distance float8) RETURNS SETOF record LANGUAGE sql AS $$
  WITH RECURSIVE ways AS (SELECT source AS a, target AS b, cost AS w FROM net WHERE cost >= 0 UNION ALL SELECT target, source, reverse_cost FROM net WHERE reverse_cost >= 0),
  directed AS (SELECT a, b, w FROM ways WHERE direction IN ('out', 'both') UNION ALL SELECT b, a, w FROM ways WHERE direction IN ('in', 'both')),
  step AS (SELECT a, b, min(w) AS w FROM directed GROUP BY a, b),
  walk AS (SELECT ARRAY[s] AS path, 0::float8 AS distance
    UNION ALL SELECT path || b::bigint, distance + w FROM walk JOIN step ON a = path[cardinality(path)] WHERE cardinality(path) <= most AND (cardinality(path) = 1 OR a <> s) AND (b = s OR b <> ALL (path)))
  SELECT path, distance FROM walk WHERE cardinality(path) > 1 AND path[cardinality(path)] = s AND (direction <> 'both' OR cardinality(path) = 2 OR path[2] < path[cardinality(path) - 1]) $$;
SELECT count(*), count(*) FILTER (WHERE found IS DISTINCT FROM expected) AS differ, sum(cardinality(found)) > 1000 FROM generate_series(0, 7) s, unnest(ARRAY['out', 'in', 'both']) direction, unnest(ARRAY[1, 3, 6, 20]) most,
  LATERAL (SELECT array_agg(p ORDER BY cycle_id) AS found FROM (SELECT cycle_id, array_agg(vertex ORDER BY seq)::text || max(distance) AS p FROM emogi_cycles('net', s, most, 100000, direction) GROUP BY cycle_id) x) f,
  LATERAL (SELECT array_agg(p ORDER BY cardinality(path), path) AS expected FROM (SELECT path::text || distance AS p, path FROM cycles_by_definition(s, most, direction)) x) e;
-- A grid: all paths of the shortest distance, of which there are 10 over 5, and any number of these
-- and longer ones, in order.
CREATE TABLE grid AS SELECT y * 100 + x AS a, y * 100 + x + d AS b, 0.1::float8 AS w FROM generate_series(0, 12) x, generate_series(0, 12) y, unnest(ARRAY[1, 100]) d WHERE CASE d WHEN 1 THEN x < 12 ELSE y < 12 END;
SELECT max(path_id), count(*) FROM emogi_all_shortest_paths('grid(a, b)', 0, 1212);
SELECT max(path_id), count(*) FROM emogi_all_shortest_paths('grid(a, b)', 0, 505, direction => 'both');
SELECT max(path_id), count(*) FROM emogi_all_shortest_paths('grid(a, b, w)', 0, 303);
SELECT max(path_id), count(DISTINCT p), bool_and(ascending) FROM (SELECT path_id, string_agg(vertex::text, ' ' ORDER BY seq) AS p, coalesce(lag(max(distance)) OVER (ORDER BY path_id) <= max(distance), true) AS ascending
  FROM emogi_k_shortest_paths('grid(a, b, w)', 0, 1212, 1000, 'both') GROUP BY 1) x;
-- A k-shortest-paths search is canceled, and a search for cycles.
SET statement_timeout = '200ms';
SELECT count(*) FROM emogi_k_shortest_paths('grid(a, b)', 0, 1212, 2000000000, 'both');
SELECT count(*) FROM emogi_cycles('grid(a, b)', 0, 100, 2000000000, 'both');
RESET statement_timeout;
SET emogi.engine = auto;
EXPLAIN (COSTS OFF) SELECT * FROM emogi_k_shortest_paths('net', 1, 2, 3);
RESET emogi.engine;

-- Paths of equal distance are returned in the order of their vertices, whichever was examined
-- first.
CREATE TABLE ties (source int, target int, cost int);
INSERT INTO ties VALUES (0, 9, 1), (3, 8, 1), (1, 9, 2), (3, 0, 1), (8, 2, 1), (0, 2, 1), (7, 2, 1), (2, 6, 2), (3, 7, 1);
SELECT path_id, array_agg(vertex ORDER BY seq), max(distance) FROM emogi_k_shortest_paths('ties', 9, 7, 4, 'both') GROUP BY 1 ORDER BY 1;
SELECT path_id, array_agg(vertex ORDER BY seq), max(distance) FROM emogi_k_shortest_paths('ties', 9, 7, 3, 'both') GROUP BY 1 ORDER BY 1;
TRUNCATE ties;
INSERT INTO ties VALUES (0, 6, 0), (0, 9, 0), (1, 6, 0), (1, 7, 2), (9, 8, 0), (9, 2, 0), (8, 2, 2), (0, 2, 0);
SELECT path_id, array_agg(vertex ORDER BY seq), max(distance) FROM emogi_k_shortest_paths('ties', 6, 8, 9, 'both') GROUP BY 1 ORDER BY 1;

-- The second path between the endpoints of an edge is the shortest one without that edge. If it is
-- long, the bidirectional search for it reads a part of the graph.
CREATE TABLE web (src int, dst int, cost float8, hops int);
SELECT setseed(0.4) IS NULL;
INSERT INTO web SELECT a, b, CASE WHEN random() < 0.1 THEN 0 ELSE 1 + random() END, trunc(random() * 3) FROM (SELECT DISTINCT (random() * 20000)::int AS a, (random() * 20000)::int AS b FROM generate_series(1, 100000)) e WHERE a <> b;
CREATE TABLE asked AS SELECT src, dst FROM web WHERE cost > 0 ORDER BY hashint4(src), dst LIMIT 12;
SET emogi.enable_contraction = off;
SELECT columns, count(*), count(*) FILTER (WHERE k.first + k.second IS DISTINCT FROM e.distance + w.distance) AS wrong
  FROM unnest(ARRAY['src, dst', 'src, dst, cost', 'src, dst, hops']) columns, asked a,
    LATERAL (SELECT max(distance) FILTER (WHERE path_id = 1) AS first, max(distance) FILTER (WHERE path_id = 2) AS second FROM emogi_k_shortest_paths(format('web(%s)', columns), a.src, a.dst, 2)) k,
    LATERAL (SELECT max(distance) AS distance FROM emogi_shortest_path(format('web(%s)', columns), a.src, a.dst)) e,
    LATERAL (SELECT CASE WHEN (SELECT count(*) FROM emogi_shortest_path(format('web(%s)', columns), a.src, a.dst)) = 2 THEN
      (SELECT max(distance) FROM emogi_shortest_path(format('SELECT %s FROM web WHERE (src, dst) <> (%s, %s)', columns, a.src, a.dst), a.src, a.dst)) ELSE k.second END AS distance) w
  GROUP BY columns ORDER BY columns;
SELECT count(*) FROM asked a, LATERAL emogi_k_shortest_paths('web(src, dst)', a.src, a.dst, 2) WHERE path_id = 2 AND seq = 1;
SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY edges_traversed) < 25000 AS looks_at_a_part FROM (SELECT edges_traversed FROM emogi_runs WHERE function = 'emogi_k_shortest_paths' ORDER BY id DESC LIMIT 12) r;
RESET emogi.enable_contraction;

SET client_min_messages = warning;
DROP SCHEMA test_k_paths CASCADE;
