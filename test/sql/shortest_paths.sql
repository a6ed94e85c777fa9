-- Paths for many pairs: each is the one of emogi_shortest_path.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS emogi;
RESET client_min_messages;
CREATE SCHEMA test_paths;
SET search_path = test_paths, public;
\pset format unaligned
\pset tuples_only on
\pset null '(null)'

CREATE TABLE roads (id int, source int, target int, cost float8, reverse_cost float8);
INSERT INTO roads VALUES (1, 1, 2, 1, 1), (2, 2, 3, 1, -1), (3, 3, 4, 2, 2), (4, 1, 4, 9, 9), (5, 8, 9, 1, 1), (6, 2, 3, 1, 5);
\pset tuples_only off
SELECT * FROM emogi_shortest_paths('roads', ARRAY[1, 4], ARRAY[3, 1]);
\pset tuples_only on
SELECT * FROM emogi_shortest_paths('roads', 'SELECT source, target FROM roads WHERE id < 3');
-- Duplicates, missing vertices, no path, NULL, source = target: each pair once, or not at all.
SELECT * FROM emogi_shortest_paths('roads', ARRAY[9, 9, NULL, 77, 1], ARRAY[8, 8, NULL, 78]);
SELECT * FROM emogi_shortest_paths('roads', 'VALUES (9, 8), (9, 8), (1, 8), (NULL, 8), (8, NULL), (77, 8), (8, 77), (2, 2)');
SELECT count(*) FROM emogi_shortest_paths('roads', '{}'::bigint[], ARRAY[1]);
SELECT count(*) FROM emogi_shortest_paths('roads', ARRAY[1], NULL);
SELECT count(*) FROM emogi_shortest_paths('roads', NULL::bigint[], ARRAY[1]);
SELECT count(*) FROM emogi_shortest_paths('SELECT 1 AS src, 2 AS dst WHERE false', ARRAY[1], ARRAY[2]);
SELECT * FROM emogi_shortest_paths('roads', ARRAY[4], ARRAY[1], 'in');
SELECT * FROM emogi_shortest_paths('roads', ARRAY[4], ARRAY[1], direction => 'both');
SELECT * FROM emogi_shortest_paths('roads'::regclass, ARRAY[1], ARRAY[4], columns => 'source, target');
SELECT * FROM emogi_shortest_paths('roads'::regclass, 'VALUES (1, 4)', columns => 'source, target, cost, reverse_cost, id');
-- Other keys.
CREATE TABLE links (src text, dst text, weight int, id text);
INSERT INTO links VALUES ('a', 'b', 1, 'ab'), ('b', 'c', 1, 'bc'), ('c', 'a', 1, 'ca');
SELECT * FROM emogi_shortest_paths('links', ARRAY['a', 'c'], ARRAY['b']);
SELECT * FROM emogi_shortest_paths_text('links', 'SELECT dst, src FROM links WHERE id = ''ab''');
CREATE TABLE hops AS SELECT lpad(i::text, 32, '0')::uuid AS src, lpad((i + 1)::text, 32, '0')::uuid AS dst FROM generate_series(1, 3) i;
SELECT seq, vertex, edge FROM emogi_shortest_paths('hops', ARRAY[lpad('1', 32, '0')::uuid], ARRAY[lpad('3', 32, '0')::uuid]);
SELECT seq, vertex, edge FROM emogi_shortest_paths_uuid('hops', 'SELECT src, dst FROM hops') WHERE seq = 2;
-- Errors.
SELECT * FROM emogi_shortest_paths('roads', NULL::text);
SELECT * FROM emogi_shortest_paths('roads', 'SELECT 1');
SELECT * FROM emogi_shortest_paths('roads', 'SELECT ''a'', ''b''');
SELECT * FROM emogi_shortest_paths('roads', 'roads');
SELECT * FROM emogi_shortest_paths('links', ARRAY[1], ARRAY[2]);
SELECT * FROM emogi_shortest_paths('links', 'VALUES (1, 2)');
SELECT * FROM emogi_shortest_paths('roads', ARRAY[1], ARRAY[2], 'up');
SELECT * FROM emogi_shortest_paths('roads(source, target, cost)', ARRAY[1], ARRAY[2]) WHERE false;
UPDATE roads SET cost = -1 WHERE id = 5;
SELECT * FROM emogi_shortest_paths('roads(source, target, cost)', ARRAY[1], ARRAY[2]);

-- A graph: by arrays, by pairs, one by one, all the same; after a change, too.
CREATE TABLE net (id int, source int, target int, cost float8, reverse_cost float8);
SELECT setseed(0.3);
INSERT INTO net SELECT i, random() * 199, random() * 199, trunc(random() * 9) - 1, trunc(random() * 9) - 1 FROM generate_series(1, 700) i;
INSERT INTO net SELECT 1000 + i, 1000 + i, 1001 + i, random(), random() FROM generate_series(1, 300) i;
CREATE FUNCTION differs(graph text, direction text) RETURNS bigint LANGUAGE sql AS $$
  WITH ends AS (SELECT s, t FROM generate_series(0, 30, 3) s, generate_series(0, 199, 7) t),
  one_by_one AS (SELECT s AS source, t AS target, p.* FROM ends, LATERAL emogi_shortest_path(graph, s, t, direction) p),
  by_arrays AS (SELECT * FROM emogi_shortest_paths(graph, ARRAY(SELECT DISTINCT s FROM ends)::bigint[], ARRAY(SELECT DISTINCT t FROM ends)::bigint[], direction)),
  by_pairs AS (SELECT * FROM emogi_shortest_paths(graph, 'SELECT s, t FROM generate_series(0, 30, 3) s, generate_series(0, 199, 7) t', direction))
  SELECT (SELECT count(*) FROM ((TABLE one_by_one EXCEPT TABLE by_arrays) UNION ALL (TABLE by_arrays EXCEPT TABLE one_by_one)) a) +
    (SELECT count(*) FROM ((TABLE one_by_one EXCEPT TABLE by_pairs) UNION ALL (TABLE by_pairs EXCEPT TABLE one_by_one)) a) $$;
SELECT graph, direction, differs(graph, direction) FROM unnest(ARRAY['net', 'net(source, target)', 'SELECT * FROM net WHERE id % 5 > 0']) graph, unnest(ARRAY['out', 'in', 'both']) direction;
UPDATE net SET cost = cost + 1 WHERE id % 10 = 0;
SELECT differs('net', 'out');
SELECT count(*), count(DISTINCT (source, target)), bool_and(seq > 0) FROM emogi_shortest_paths('net', ARRAY[1001, 1100], ARRAY[1301, 1200]);
SET emogi.engine = auto;
EXPLAIN (COSTS OFF) SELECT * FROM emogi_shortest_paths('net', ARRAY[1001], ARRAY[1301]);
RESET emogi.engine;

-- Edges of weight 0: a path to one of several targets has as few edges as one to it alone, and is
-- the same.
CREATE TABLE free (source int, target int, cost int);
INSERT INTO free VALUES (27, 33, 1), (35, 1, 0), (39, 2, 0), (1, 7, 0), (28, 31, 0), (22, 28, 0), (36, 37, 0), (2, 8, 0), (35, 36, 0), (31, 37, 0), (7, 8, 1), (33, 39, 0), (27, 28, 0);
SELECT array_agg(vertex ORDER BY seq) FROM emogi_shortest_path('free', 31, 8, 'both');
SELECT array_agg(vertex ORDER BY seq) FROM emogi_shortest_paths('free', ARRAY[31], ARRAY[8, 22], 'both') WHERE target = 8;
SELECT setseed(0.25);
CREATE TABLE mostly_free AS SELECT a AS source, b AS target, (random() * 1.2)::int AS cost FROM (SELECT i AS a, i + 1 AS b FROM generate_series(0, 899) i WHERE i % 30 < 29 UNION ALL SELECT i, i + 30 FROM generate_series(0, 869) i) s WHERE random() < 0.85;
CREATE TABLE found AS SELECT source, target, array_agg(vertex ORDER BY seq) AS way FROM emogi_shortest_paths('mostly_free', ARRAY[0, 465, 899], ARRAY[29, 435, 870, 31, 600, 14], 'both') GROUP BY 1, 2;
SELECT count(*), count(*) FILTER (WHERE way <> (SELECT array_agg(vertex ORDER BY seq) FROM emogi_shortest_path('mostly_free', source, target, 'both'))) FROM found;
SET emogi.enable_local_search = off;
SELECT count(*) FILTER (WHERE way <> (SELECT array_agg(vertex ORDER BY seq) FROM emogi_shortest_path('mostly_free', source, target, 'both'))) FROM found;
RESET emogi.enable_local_search;
SELECT count(*) FILTER (WHERE cardinality(way) <> 1 + (WITH RECURSIVE way(v, edges) AS (SELECT target, 0 UNION ALL SELECT t.predecessor, way.edges + 1 FROM way JOIN emogi_shortest_path_tree('mostly_free', f.source, direction => 'both') t ON t.vertex = way.v
  WHERE t.predecessor IS NOT NULL) SELECT max(edges) FROM way)) FROM found f;

-- The pairs of a source are searched bidirectionally as long as that is cheaper, the others by one
-- search: the same wherever it begins.
CREATE FUNCTION after(edges text, graph text, pairs text, direction text, OUT answer text, OUT engine text) LANGUAGE plpgsql AS $$
BEGIN
  PERFORM set_config('emogi.fault', CASE WHEN edges <> '' THEN 'pair_edges=' || edges ELSE '' END, false);
  SELECT string_agg(r::text, ' ') INTO answer FROM emogi_shortest_paths(graph, pairs, direction) r;
  PERFORM set_config('emogi.fault', '', false);
  SELECT r.engine INTO engine FROM emogi_runs r ORDER BY id DESC LIMIT 1;
END $$;
CREATE TABLE grid (id int, source int, target int, cost float8);
SELECT setseed(0.75) IS NULL;
INSERT INTO grid SELECT row_number() OVER (), v, w, CASE WHEN random() < 0.1 THEN 'Infinity' WHEN random() < 0.3 THEN 0 ELSE random() / 3 END FROM generate_series(0, 14399) v, LATERAL (VALUES (v + 1), (v + 120)) x (w) WHERE random() < 0.8;
INSERT INTO grid SELECT id + 100000, target, source, cost FROM grid WHERE random() < 0.6;
CREATE TABLE wanted AS SELECT (random() * 4)::int * 3000 AS s, (random() * 14399)::int AS t FROM generate_series(1, 12);
INSERT INTO wanted VALUES (7, 7), (NULL, 7), (7, NULL), (7, -1), (8, 9), (8, 9), (8, 14000);
SET emogi.engine = cpu;
SET emogi.enable_contraction = off;
SELECT graph, edges, direction, a.answer = b.answer AS same, length(a.answer) > 2000 AS long, a.engine,
       CASE WHEN edges = '100000000' AND b.engine LIKE 'backend%' THEN 'backend' ELSE b.engine END AS engine -- whether all are found depends on the random weights
  FROM unnest(ARRAY['grid(source, target, cost)', 'grid(source, target)']) graph, unnest(ARRAY['1', '100', '5000', '60000', '100000000']) edges, unnest(ARRAY['out', 'in', 'both']) direction,
    LATERAL after('0', graph, 'SELECT s, t FROM wanted', direction) a, LATERAL after(edges, graph, 'SELECT s, t FROM wanted', direction) b ORDER BY graph, edges::int, direction;
SELECT count(*), count(DISTINCT b.engine), count(*) FILTER (WHERE a.answer <> b.answer) AS wrong
  FROM generate_series(0, 800, 7) edges, unnest(ARRAY['out', 'in', 'both']) direction,
    LATERAL after('0', 'net', 'SELECT s, t FROM generate_series(0, 3) s, generate_series(0, 199, 21) t', direction) a,
    LATERAL after(edges::text, 'net', 'SELECT s, t FROM generate_series(0, 3) s, generate_series(0, 199, 21) t', direction) b;
-- Pairs with one source, or one target, share its search: the same paths, long and short.
SELECT graph, pairs, count(*), count(DISTINCT b.engine) > 1 AS engines, bool_or(b.engine = 'backend') AS alone, count(*) FILTER (WHERE a.answer <> b.answer) AS wrong, bool_or(length(a.answer) > 2000) AS long
  FROM unnest(ARRAY['grid(source, target, cost)', 'grid(source, target)']) graph, unnest(ARRAY['500', '20000', '200000', '100000000']) edges, unnest(ARRAY['out', 'in', 'both']) direction,
    unnest(ARRAY['SELECT 7260, v FROM generate_series(0, 14399, 1100) v', 'SELECT v, 7260 FROM generate_series(0, 14399, 1100) v', 'SELECT 60, v FROM generate_series(50, 900, 31) v', 'SELECT v, 60 FROM generate_series(50, 900, 31) v']) pairs,
    LATERAL after('0', graph, pairs, direction) a, LATERAL after(edges, graph, pairs, direction) b GROUP BY 1, 2 ORDER BY 1, 2;
SELECT engine FROM after('', 'grid', 'SELECT source, target FROM grid LIMIT 10', 'out');
SELECT engine FROM after('', 'grid', 'SELECT 0, v FROM generate_series(0, 14399) v', 'both');
RESET emogi.engine;
RESET emogi.enable_contraction;
-- Untyped lists are resolved as a query of pairs and a direction.
SELECT * FROM emogi_shortest_paths('free', '{31}', '{8}');

-- Pairs that would not fit into memory are rejected before they are computed.
SELECT count(*) FROM (SELECT array_agg(i::bigint) AS all_vertices FROM generate_series(1, 300000) i) a,
  LATERAL emogi_shortest_paths('SELECT i, i + 1 FROM generate_series(1, 299999) i', all_vertices, all_vertices);

SET client_min_messages = warning;
DROP SCHEMA test_paths CASCADE;
