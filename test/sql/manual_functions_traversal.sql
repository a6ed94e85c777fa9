-- The examples of docs/functions/traversal.md, in order. Written by tools/manual, which also compares the outputs: tools/manual --check.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS emogi;
RESET client_min_messages;
CREATE SCHEMA test_manual_functions_traversal;
SET search_path = test_manual_functions_traversal, public;
SET emogi.engine = auto;
\pset footer off

CREATE TABLE follows (src bigint, dst bigint);
INSERT INTO follows VALUES (1, 2), (1, 3), (2, 4), (3, 4), (4, 5), (6, 1);
SELECT * FROM emogi_bfs('follows', 1, max_depth => 2);

SELECT level, count(*) FROM emogi_bfs('follows', ARRAY[2, 3], direction => 'both') GROUP BY level ORDER BY level;

SELECT * FROM emogi_bfs_tree('follows', ARRAY[1, 3]);

CREATE TABLE link (source int, target int, cost float8, mbit int);
INSERT INTO link VALUES (1, 2, 10, 100), (1, 3, 5, 1000), (3, 2, 3, 200), (2, 4, 2, 100), (3, 4, 9, 1000),
                        (4, 5, 4, 400), (7, 8, 1, 10);
SELECT * FROM emogi_sssp('link', 1);

SELECT * FROM emogi_sssp('link', 5, max_distance => 9, direction => 'both');

SELECT * FROM emogi_shortest_path_tree('link', 1);

SELECT vertex, source, distance, predecessor FROM emogi_shortest_path_tree('link', ARRAY[1, 5], max_distance => 9, direction => 'both');

SELECT * FROM emogi_sswp('link(source, target, mbit)', 1);

SELECT * FROM emogi_ssnsp('link', 1);

SELECT vertex, paths AS in_common FROM emogi_ssnsp('link', 1, max_depth => 2) WHERE level = 2 ORDER BY paths DESC LIMIT 3;

CREATE TABLE corridors (src bigint, dst bigint, weight float8);
INSERT INTO corridors VALUES (1, 2, 1), (2, 3, 1), (3, 1, 1), (3, 4, 9), (4, 5, 1);
SELECT walk, array_agg(vertex ORDER BY step) AS path FROM emogi_random_walk('corridors', 1, 6, 3, seed => 7) GROUP BY walk ORDER BY walk;
