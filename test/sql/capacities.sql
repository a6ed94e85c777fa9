-- Flow functions read the columns capacity and reverse_capacity by name, as pgRouting's do; other functions do not.
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

-- The same columns in all forms of a graph: by name, in a list of four and of five, with a condition, as regclass, in a query.
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

-- Others read no capacities: the same rows are edges from source to target.
SELECT string_agg(vertex::text, ' ' ORDER BY vertex) FROM emogi_bfs('pipes', 1);
SELECT string_agg(vertex::text, ' ' ORDER BY vertex) FROM emogi_bfs('SELECT id, source, target, capacity, reverse_capacity FROM pipes', 1);
SELECT flows('SELECT id, source, target, capacity, reverse_capacity FROM pipes');
SELECT vertex, distance FROM emogi_sssp('pipes', 5) ORDER BY vertex;
SELECT vertex, distance FROM emogi_sssp('pipes(source, target, capacity, reverse_capacity)', 1) ORDER BY vertex;

-- Capacities take precedence over weights and costs, which are capacities where there is none.
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

-- Errors name the columns that are there.
INSERT INTO pipes VALUES (9, 7, 8, NULL, 1);
SELECT emogi_max_flow('pipes', 1, 4);
SELECT emogi_max_flow('SELECT * FROM pipes ORDER BY random()', 1, 4);
SELECT emogi_max_flow('pipes WHERE id > 8', 1, 4);
DELETE FROM pipes WHERE id = 9;
ALTER TABLE pipes ALTER capacity TYPE text;
SELECT emogi_max_flow('pipes', 1, 4);
SELECT emogi_max_flow('SELECT * FROM pipes', 1, 4);
SELECT emogi_max_flow('SELECT 1, 2, ''Infinity''::float8', 1, 2);

-- A reverse_cost without cost beside a capacity is an error, unless there is a reverse_capacity.
CREATE TABLE mixed (source int, target int, capacity int, reverse_cost int);
INSERT INTO mixed VALUES (2, 1, 1, 8);
SELECT emogi_max_flow('mixed', 1, 2);
SELECT emogi_max_flow('SELECT * FROM mixed', 1, 2);
SELECT emogi_max_flow('mixed(source, target, capacity, reverse_cost)', 1, 2), emogi_max_flow('SELECT source, target, capacity, reverse_cost AS reverse_capacity FROM (SELECT * FROM mixed) AS q', 1, 2),
  emogi_max_flow('SELECT source, target, capacity FROM mixed', 2, 1), emogi_max_flow('SELECT *, 3 AS reverse_capacity FROM mixed', 1, 2), emogi_max_flow('SELECT *, 3 AS cost FROM mixed', 1, 2);

-- Errors and notices of flows speak of capacities.
SELECT emogi_max_flow('VALUES (1, 2, -10)', 1, 2);
SELECT emogi_max_flow('VALUES (1, 2, ''NaN''::float8)', 1, 2);
SELECT emogi_max_flow('VALUES (''a'', ''b'', -10)', 'a', 'b');
SELECT emogi_max_flow('VALUES (1, 2, NULL::int)', 1, 2);
SELECT emogi_max_flow('VALUES (''a'', ''b'', NULL::int)', 'a', 'b');
CREATE TABLE gauged (source int, target int, size int, length int);
SELECT emogi_max_flow('gauged', 1, 2);
SELECT emogi_max_flow('SELECT * FROM gauged', 1, 2);
SELECT * FROM emogi_sssp('gauged', 1);
