-- Flow functions read the columns capacity and reverse_capacity by name, as pgRouting's do; other
-- functions do not.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS emogi;
RESET client_min_messages;
CREATE SCHEMA test_capacities;
SET search_path = test_capacities, public;
SET emogi.engine = auto;
\pset format unaligned
\pset tuples_only on
\pset null (null)

CREATE TABLE pipes (id int, source int, target int, capacity int, reverse_capacity int);
INSERT INTO pipes VALUES (1, 1, 2, 10, 3), (2, 3, 2, 1, 8), (3, 3, 4, 9, 2), (4, 5, 1, -1, 7);
CREATE FUNCTION flows(graph text) RETURNS text LANGUAGE sql AS $$
  SELECT concat_ws(' ', emogi_max_flow(graph, 1, 4), (SELECT string_agg(concat_ws(':', src, dst, edge, flow, residual), ' ' ORDER BY src, dst) FROM emogi_max_flow_edges(graph, 1, 4)),
    (SELECT string_agg(concat_ws(':', src, dst, edge, capacity), ' ' ORDER BY src, dst) FROM emogi_min_cut(graph, 1, 4)), emogi_max_flow(graph, 4, 5)) $$;

-- The same columns in all forms of a graph: by name, in a list of four and of five, with a
-- condition, as regclass, in a query.
SELECT flows('pipes');
SELECT flows('pipes(source, target, capacity, reverse_capacity)');
SELECT flows('pipes(source, target, capacity, reverse_capacity, id)');
SELECT flows('pipes WHERE id > 0');
SELECT flows('SELECT * FROM pipes');
SELECT flows('SELECT id, source, target, capacity, reverse_capacity FROM pipes');
SELECT flows('SELECT id, source, target, capacity, reverse_capacity FROM pipes ORDER BY random()');
SELECT flows('SELECT 1 + id AS id, source AS src, target AS dst, capacity::numeric(9, 2), reverse_capacity FROM pipes');
SELECT emogi_max_flow('pipes'::regclass, 1, 4), emogi_max_flow('pipes'::regclass, 1, 4, columns => 'source, target, capacity, reverse_capacity');
SELECT emogi_max_flow('pipes((source, source), (target, target), capacity, reverse_capacity)', '(1,1)', '(4,4)');
SELECT flows('SELECT id, source, target, capacity FROM pipes WHERE capacity >= 0');
PREPARE flow AS SELECT emogi_max_flow('pipes', $1, 4);
EXECUTE flow(1);
UPDATE pipes SET capacity = 2 WHERE id = 1;
EXECUTE flow(1);
BEGIN;
UPDATE pipes SET capacity = 4 WHERE id = 1;
EXECUTE flow(1);
ROLLBACK;
EXECUTE flow(1);
UPDATE pipes SET capacity = 10 WHERE id = 1;
SELECT flows('pipes'), flows('SELECT * FROM pipes') = flows('pipes');
EXPLAIN (COSTS OFF) SELECT * FROM emogi_max_flow_edges('pipes', 1, 4);

-- Other functions read no capacities: the same rows are edges from source to target.
SELECT string_agg(vertex::text, ' ' ORDER BY vertex) FROM emogi_bfs('pipes', 1);
SELECT string_agg(vertex::text, ' ' ORDER BY vertex) FROM emogi_bfs('SELECT id, source, target, capacity, reverse_capacity FROM pipes', 1);
SELECT flows('SELECT id, source, target, capacity, reverse_capacity FROM pipes');
SELECT vertex, distance FROM emogi_sssp('pipes', 5) ORDER BY vertex;
SELECT vertex, distance FROM emogi_sssp('pipes(source, target, capacity, reverse_capacity)', 1) ORDER BY vertex;

-- Capacities take precedence over weights and costs, which are used as capacities if there is none.
CREATE TABLE edges AS SELECT id, source, target, 1.0 AS cost, 1.0 AS reverse_cost, capacity, reverse_capacity FROM pipes;
SELECT flows('edges') = flows('pipes'), flows('SELECT * FROM edges') = flows('pipes');
SELECT emogi_max_flow('SELECT source, target, cost, reverse_cost FROM edges', 1, 4);
SELECT vertex, distance FROM emogi_sssp('edges', 1) ORDER BY vertex;
ALTER TABLE edges ADD weight int DEFAULT 1;
SELECT flows('edges') = flows('pipes'), flows('SELECT * FROM edges') = flows('pipes');
SELECT * FROM emogi_sssp('edges', 1);
ALTER TABLE edges DROP capacity;
SELECT emogi_max_flow('edges', 1, 4);
SELECT emogi_max_flow('SELECT source, target, reverse_capacity FROM edges', 1, 4);
ALTER TABLE edges DROP reverse_capacity, DROP weight;
SELECT emogi_max_flow('edges', 1, 4);
CREATE TABLE bare (source int, target int, size int);
INSERT INTO bare VALUES (1, 2, 5);
SELECT emogi_max_flow('bare', 1, 2);
SELECT emogi_max_flow('SELECT * FROM bare', 1, 2);

-- Errors name the existing columns.
INSERT INTO pipes VALUES (9, 7, 8, NULL, 1);
SELECT emogi_max_flow('pipes', 1, 4);
SELECT emogi_max_flow('SELECT * FROM pipes ORDER BY random()', 1, 4);
SELECT emogi_max_flow('pipes WHERE id > 8', 1, 4);
DELETE FROM pipes WHERE id = 9;
ALTER TABLE pipes ALTER capacity TYPE text;
SELECT emogi_max_flow('pipes', 1, 4);
SELECT emogi_max_flow('SELECT * FROM pipes', 1, 4);
SELECT emogi_max_flow('SELECT 1, 2, ''Infinity''::float8', 1, 2);

-- emogi_with_vertices passes both: flows read capacities, other functions weights or costs.
CREATE TABLE both_of AS SELECT * FROM (VALUES (1, 1, 2, 3.0, 10, -1), (2, 2, 4, 3.0, 10, 4), (3, 5, 4, 1.0, 2, 6)) e(id, source, target, cost, capacity, reverse_capacity);
CREATE FUNCTION same(graph text) RETURNS text LANGUAGE sql AS $$
  SELECT concat_ws(' ', a.flow, a.flow = b.flow AND a.edges IS NOT DISTINCT FROM b.edges, (SELECT string_agg(vertex || ':' || distance, ' ' ORDER BY vertex) FROM emogi_sssp(with_vertices, 1)))
    FROM emogi_with_vertices(graph, 'VALUES (9)') AS with_vertices,
         LATERAL (SELECT emogi_max_flow(graph, 1, 5) AS flow, (SELECT string_agg(concat_ws(':', src, dst, flow), ' ' ORDER BY src, dst) FROM emogi_max_flow_edges(graph, 1, 5)) AS edges) a,
         LATERAL (SELECT emogi_max_flow(with_vertices, 1, 5) AS flow, (SELECT string_agg(concat_ws(':', src, dst, flow), ' ' ORDER BY src, dst) FROM emogi_max_flow_edges(with_vertices, 1, 5)) AS edges) b $$;
SELECT emogi_with_vertices('both_of', 'VALUES (9)'), same('both_of');
SELECT same('both_of WHERE id > 0'), same('SELECT * FROM both_of'), same('SELECT id, source, target, cost, capacity FROM both_of');
SELECT same('both_of(source, target, cost)'), same('both_of(source, target, capacity, reverse_capacity)');
SELECT same(emogi_with_vertices('both_of', 'VALUES (8)'));
ALTER TABLE both_of ADD reverse_cost numeric DEFAULT 5;
SELECT emogi_with_vertices('both_of', 'VALUES (9)'), same('both_of');
SELECT same('both_of WHERE id > 0'), same('SELECT * FROM both_of'), same(emogi_with_vertices('both_of', 'VALUES (8)'));
UPDATE both_of SET reverse_cost = -1, cost = CASE id WHEN 2 THEN -1 ELSE cost END;
SELECT same('both_of');
ALTER TABLE both_of DROP cost, DROP reverse_cost;
SELECT emogi_max_flow(emogi_with_vertices('both_of', 'VALUES (9)'), 1, 5);
SELECT vertex, distance FROM emogi_sssp(emogi_with_vertices('both_of', 'VALUES (9)'), 1) ORDER BY vertex;
ALTER TABLE both_of ALTER capacity TYPE text;
SELECT emogi_max_flow(emogi_with_vertices('both_of', 'VALUES (9)'), 1, 5);
SELECT count(*) FROM emogi_bfs(emogi_with_vertices('both_of', 'VALUES (9)'), 1);
ALTER TABLE both_of DROP capacity;
SELECT emogi_max_flow(emogi_with_vertices('both_of', 'VALUES (9)'), 1, 5);
SELECT count(*) FROM emogi_bfs(emogi_with_vertices('both_of', 'VALUES (9)'), 1);

-- emogi_check compares a graph built by a flow function with its capacities, not with costs.
CREATE TABLE checked (src int, dst int, cost float8, capacity float8);
INSERT INTO checked SELECT i, i % 2000 + 1, 3, 10 FROM generate_series(1, 2000) i;
CREATE FUNCTION checks(graph text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  text text;
BEGIN
  PERFORM emogi_evict();
  PERFORM emogi_max_flow(graph, 1, 4), emogi_max_flow(graph, 1, 4);
  SELECT concat_ws(' ', ok, edges, differs) INTO text FROM emogi_check(graph);
  RETURN text || (SELECT ' ' || count(*) FROM emogi_graphs);
END $$;
SELECT checks('SELECT src, dst, cost, capacity FROM checked');
SELECT checks('SELECT src, dst, capacity, src AS more FROM checked');
SELECT checks('SELECT src, dst, weight, capacity FROM (SELECT src, dst, cost AS weight, capacity FROM checked OFFSET 0) q');
SELECT checks('checked'), checks('checked WHERE src > 7');

-- Weights of emogi_prewarm and emogi_estimate are capacities if there are no others; a list names
-- them in addition to a cost.
CREATE TABLE canals AS SELECT i AS source, i + 1 AS target, 1::float8 AS capacity, 2::float8 AS reverse_capacity FROM generate_series(1, 20000) i;
ANALYZE canals;
CREATE FUNCTION warmed(graph text, flow text DEFAULT NULL) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  text text;
BEGIN
  PERFORM emogi_evict();
  SELECT concat_ws(' ', cache, edges) INTO text FROM emogi_prewarm(graph, weights => true, backward => true);
  PERFORM emogi_max_flow(coalesce(flow, graph), 1, 3);
  RETURN (SELECT concat_ws(' ', text, function, cache) FROM emogi_runs WHERE pid = pg_backend_pid() ORDER BY id DESC LIMIT 1);
END $$;
SELECT warmed('canals'), warmed('SELECT source, target, capacity, reverse_capacity FROM canals'), warmed('canals(source, target, capacity, reverse_capacity)', 'canals');
SELECT ok, edges FROM emogi_check('canals', weights => true, backward => true);
SELECT round(edges, -4) FROM emogi_estimate('canals', weights => true);
ALTER TABLE canals ADD cost float8 DEFAULT 3;
SELECT warmed('canals'), warmed('canals(source, target, capacity, reverse_capacity)', 'canals');
SELECT emogi_evict() IS NOT NULL;
-- reverse_cost without cost together with a capacity is an error, unless there is a
-- reverse_capacity.
CREATE TABLE mixed (source int, target int, capacity int, reverse_cost int);
INSERT INTO mixed VALUES (2, 1, 1, 8);
SELECT emogi_max_flow('mixed', 1, 2);
SELECT emogi_max_flow('SELECT * FROM mixed', 1, 2);
SELECT emogi_max_flow('mixed(source, target, capacity, reverse_cost)', 1, 2), emogi_max_flow('SELECT source, target, capacity, reverse_cost AS reverse_capacity FROM (SELECT * FROM mixed) AS q', 1, 2),
  emogi_max_flow('SELECT source, target, capacity FROM mixed', 2, 1), emogi_max_flow('SELECT *, 3 AS reverse_capacity FROM mixed', 1, 2), emogi_max_flow('SELECT *, 3 AS cost FROM mixed', 1, 2);

-- Errors and notices of flow functions refer to capacities.
SELECT emogi_max_flow('VALUES (1, 2, -10)', 1, 2);
SELECT emogi_max_flow('VALUES (1, 2, ''NaN''::float8)', 1, 2);
SELECT emogi_max_flow('VALUES (''a'', ''b'', -10)', 'a', 'b');
SELECT emogi_max_flow('VALUES (1, 2, NULL::int)', 1, 2);
SELECT emogi_max_flow('VALUES (''a'', ''b'', NULL::int)', 'a', 'b');
CREATE TABLE gauged (source int, target int, size int, length int);
SELECT emogi_max_flow('gauged', 1, 2);
SELECT emogi_max_flow('SELECT * FROM gauged', 1, 2);
SELECT * FROM emogi_sssp('gauged', 1);
