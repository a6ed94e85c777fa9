-- The examples of docs/functions/paths.md, in order. Written by tools/manual, which also compares the outputs: tools/manual --check.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS emogi;
RESET client_min_messages;
CREATE SCHEMA test_manual_functions_paths;
SET search_path = test_manual_functions_paths, public;
SET emogi.engine = auto;
\pset footer off

CREATE TABLE link (source int, target int, cost float8, mbit int);
INSERT INTO link VALUES (1, 2, 10, 100), (1, 3, 5, 1000), (3, 2, 3, 200), (2, 4, 2, 100), (3, 4, 9, 1000),
                        (4, 5, 4, 400), (7, 8, 1, 10);

SELECT * FROM emogi_shortest_path('link', 1, 5);

SELECT * FROM emogi_shortest_paths('link', ARRAY[1, 2], ARRAY[5]);

SELECT source, target, max(distance) AS distance FROM emogi_shortest_paths('link', 'VALUES (1, 4), (2, 5), (5, 1)')
GROUP BY source, target ORDER BY source;

SELECT * FROM emogi_k_shortest_paths('link', 1, 4, 2);

SELECT path_id, array_agg(vertex ORDER BY seq) AS path FROM emogi_all_shortest_paths('link(source, target)', 1, 5)
GROUP BY path_id ORDER BY path_id;

SELECT cycle_id, array_agg(vertex ORDER BY seq) AS cycle, max(distance) AS distance
FROM emogi_cycles('link', 3, direction => 'both') GROUP BY cycle_id ORDER BY cycle_id;

SELECT path_id, array_agg(vertex ORDER BY seq) AS path, max(distance) AS distance
FROM emogi_simple_paths('link', 1, 4) GROUP BY path_id ORDER BY path_id;

SELECT * FROM emogi_distance_matrix('link', ARRAY[1, 3], ARRAY[1, 4, 5]);

SELECT * FROM emogi_reachable('link', 'VALUES (1, 5), (5, 1), (1, 8), (7, 8)') ORDER BY source, target;
