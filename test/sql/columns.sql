-- Which columns of a query form an edge: by name, as for a relation, and by position only if this
-- is unambiguous.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS emogi;
RESET client_min_messages;
CREATE SCHEMA test_columns;
SET search_path = test_columns, public;
\pset format unaligned
\pset tuples_only on

-- Ids are not vertices here, and no length is 1, so that every wrong column is detected.
CREATE TABLE roads (id int, source int, target int, cost float8, km float8, label text);
INSERT INTO roads VALUES (101, 1, 2, 0.5, 7, 'a'), (102, 2, 3, 0.25, 9, 'b'), (103, 3, 1, 4, 8, 'c');
CREATE FUNCTION ways(graph text, source bigint DEFAULT 1) RETURNS text LANGUAGE sql AS
  $$ SELECT string_agg(vertex || ':' || distance, ' ' ORDER BY vertex) FROM emogi_sssp(graph, source) $$;
CREATE FUNCTION hops(graph text, source bigint DEFAULT 1) RETURNS text LANGUAGE sql AS
  $$ SELECT string_agg(vertex || ':' || level, ' ' ORDER BY vertex) FROM emogi_bfs(graph, source) $$;

-- A known pair in any position, and a known weight.
SELECT ways('roads') AS relation;
SELECT ways('SELECT * FROM roads'), hops('SELECT * FROM roads');
SELECT ways('SELECT id, source, target, cost FROM roads'), hops('SELECT id, source, target, cost FROM roads');
SELECT ways('TABLE roads'), ways('WITH r AS (SELECT * FROM roads) SELECT * FROM r'), ways('(SELECT * FROM roads);');
SELECT ways('SELECT label, cost, km, target, id, source FROM roads'), hops('SELECT label, cost, km, target, id, source FROM roads');
SELECT ways('SELECT id, source AS src, target AS dst, km AS weight, cost FROM roads') AS "weight or cost";
SELECT ways('SELECT cost AS weight, source AS src, target AS dst FROM roads');
SELECT ways('SELECT source, target FROM roads'), ways('SELECT id, source, target FROM roads'), ways('SELECT id, source, target, km, label FROM roads');
-- Two possible pairs of endpoints; one column of each is not a pair.
SELECT hops('SELECT source, target, source AS dst, target AS src FROM roads');
SELECT hops('SELECT source, target AS dst FROM roads'), hops('SELECT source AS src, target FROM roads');
-- Names take precedence over positions.
SELECT ways('SELECT target AS dst, source AS src, cost FROM roads'), hops('SELECT target, source FROM roads');
SELECT hops('SELECT target AS src, source AS dst FROM roads') AS turned, hops('SELECT target AS a, source AS b FROM roads') AS by_position;
-- Names follow SQL rules: folded unless quoted.
SELECT hops('SELECT id, source AS SRC, target AS Dst FROM roads');
SELECT hops('SELECT source AS "SRC", target AS "DST" FROM roads');

-- Three columns with the pair first: the third is the weight, whatever its name, except id.
SELECT ways('SELECT source, target, km FROM roads'), ways('SELECT target, source, km FROM roads'), ways('SELECT source AS src, target AS dst, km * 2 FROM roads');
SELECT ways('SELECT source, km, target FROM roads') AS unweighted;
SELECT hops('SELECT source, target, id FROM roads'), hops('SELECT source, target, label FROM roads');
\set VERBOSITY default
SELECT ways('SELECT source, target, label FROM roads');
SELECT * FROM emogi_sssp('SELECT source, target, id FROM roads', 1);
SELECT ways('SELECT source, target, id AS weight FROM roads');

-- No known pair: by position, two or three columns.
SELECT ways('SELECT source AS a, target AS b, km FROM roads'), ways('SELECT source AS a, target AS b FROM roads'), ways('VALUES (1, 2, 0.5)');
SELECT hops('SELECT source AS id, target AS friend FROM roads'), ways('SELECT source AS a, target AS id, km FROM roads');
SELECT ways('SELECT source AS x, target AS x FROM roads'), ways('SELECT source AS x, target AS x, km AS x FROM roads');
SELECT * FROM emogi_bfs('SELECT id, source AS a, target AS b FROM roads', 1);
SELECT * FROM emogi_sssp('SELECT id, source AS a, target AS b FROM roads', 1);
SELECT * FROM emogi_bfs('SELECT cost, source AS a, target AS b FROM roads', 1);
SELECT * FROM emogi_bfs('SELECT source AS a, target AS b, cost, label FROM roads', 1);
SELECT * FROM emogi_bfs('SELECT id, source AS "Von", target AS "Nach", cost, label FROM roads', 1);
SELECT * FROM emogi_bfs('SELECT label, cost, label || label AS twice, km FROM roads', 1);
SELECT hops('SELECT "Von" AS src, "Nach" AS dst FROM (SELECT id, source AS "Von", target AS "Nach", cost, label FROM roads) AS q') AS "as the hint says";

-- A duplicate name.
SELECT * FROM emogi_bfs('SELECT source, target, source FROM roads', 1);
SELECT * FROM emogi_bfs('SELECT *, 5 AS target FROM roads', 1);
SELECT * FROM emogi_sssp('SELECT source, target, cost, km AS cost FROM roads', 1);
SELECT hops('SELECT source, target, cost, km AS cost, label, label FROM roads') AS "not read";

-- reverse_cost together with a cost is that of the reverse edge.
CREATE TABLE streets AS SELECT id, source, target, cost, km AS reverse_cost FROM roads;
CREATE TABLE weighed AS SELECT source, target, cost AS weight, cost, km AS reverse_cost FROM roads;
SELECT * FROM emogi_sssp('streets', 1);
SELECT * FROM emogi_sssp('SELECT id, source, target, cost, reverse_cost FROM streets', 1);
SELECT * FROM emogi_sssp('SELECT *, cost AS REVERSE_COST FROM roads', 1);
SELECT * FROM emogi_sswp('SELECT source AS src, target AS dst, cost, reverse_cost FROM streets', 1);
SELECT * FROM emogi_bfs('streets', 1);
SELECT * FROM emogi_cc('SELECT * FROM streets');
SELECT hops('streets(source, target)'), hops('SELECT source, target FROM streets'), ways('weighed(source, target, weight)');
SELECT ways('weighed');
SELECT hops('weighed');
SELECT ways('SELECT * FROM weighed');
SELECT ways('SELECT source, target, reverse_cost FROM weighed');
SELECT hops('SELECT source, target, weight, cost FROM weighed');
ALTER TABLE weighed DROP cost;
SELECT ways('weighed');
ALTER TABLE weighed DROP reverse_cost;
SELECT ways('weighed');
SELECT * FROM emogi_sssp('SELECT source AS caller, target AS callee, id FROM streets', 1);
SELECT hops('SELECT source AS caller, target AS callee, id FROM streets');
SELECT ways('streets(source, target, cost)') AS "as the hint says",
       ways('SELECT source, target, cost FROM streets WHERE cost >= 0 UNION ALL SELECT target, source, reverse_cost FROM streets WHERE reverse_cost >= 0') AS "both ways";
SELECT ways('streets(target, source, reverse_cost)');
-- The error is raised even without a source, and by emogi_estimate.
SELECT * FROM emogi_sssp('streets', NULL);
SELECT * FROM emogi_sssp('SELECT * FROM streets', NULL);
SELECT edges FROM emogi_estimate('streets', weights => true);
SELECT edges FROM emogi_estimate('SELECT * FROM streets', weights => true);
SELECT edges FROM emogi_estimate('SELECT id, source AS a, target AS b, cost FROM roads');
SELECT edges > 0, graph_bytes < (SELECT graph_bytes FROM emogi_estimate('SELECT i AS src, i AS dst, i, i::float8 AS weight FROM generate_series(1, 400000) i', true))
  FROM emogi_estimate('SELECT i AS src, i AS dst, i, i::float8 AS w FROM generate_series(1, 400000) i', true);

-- The column names of a relation do not matter if columns are listed, also if the executor reads
-- them.
CREATE VIEW seen AS SELECT * FROM roads;
SELECT ways('seen'), ways('seen(target, source, km)', 1), ways('roads(target, source, km)', 1);
CREATE VIEW odd AS SELECT source AS dst, target AS src, cost FROM roads;
SELECT hops('odd'), hops('odd(dst, src)'), ways('odd(dst, src, cost)');

-- The text of a column list cannot leave its parentheses, and many columns are supported.
SELECT ways('SELECT 1 AS c2, 2 AS c1, 0.5 AS c9'), ways('SELECT id AS c3, source, target AS target, cost, 1 AS c1, 2 AS c2 FROM roads -- all');
SELECT ways(format('SELECT %s, source, target, cost FROM roads', (SELECT string_agg('id AS n' || i, ', ') FROM generate_series(1, 1000) i)));

