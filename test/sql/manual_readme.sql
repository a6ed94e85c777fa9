-- The examples of README.md, in order. Written by tools/manual, which also compares the outputs: tools/manual --check.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS emogi;
RESET client_min_messages;
CREATE SCHEMA test_manual_readme;
SET search_path = test_manual_readme, public;
SET emogi.engine = auto;
\pset footer off

CREATE TABLE follows (src bigint, dst bigint);
INSERT INTO follows VALUES (1, 2), (1, 3), (2, 4), (3, 4), (4, 5), (6, 1);

CREATE TABLE person (id bigint PRIMARY KEY, name text);
INSERT INTO person VALUES (1, 'Ada'), (2, 'Blaise'), (3, 'Carl'), (4, 'Dennis'), (5, 'Edsger'), (6, 'Frances');
SELECT level, string_agg(name, ', ' ORDER BY name) AS names
FROM emogi_bfs('follows', 4, max_depth => 2, direction => 'in') JOIN person ON id = vertex
GROUP BY level ORDER BY level;

CREATE TABLE roads (from_node int, to_node int, km float8, open boolean);
INSERT INTO roads VALUES (1, 2, 7, true), (2, 3, 4, true), (1, 3, 9, false);
SELECT * FROM emogi_sssp('roads(from_node, to_node, km) WHERE open', 1, direction => 'both');

INSERT INTO follows VALUES (5, 6);
SELECT count(*) FROM emogi_bfs('follows', 1);
