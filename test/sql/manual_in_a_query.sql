-- The examples of docs/in-a-query.md, in order. Written by tools/manual, which also compares the outputs: tools/manual --check.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS emogi;
RESET client_min_messages;
CREATE SCHEMA test_manual_in_a_query;
SET search_path = test_manual_in_a_query, public;
SET emogi.engine = auto;
\pset footer off

CREATE TABLE follows (src bigint, dst bigint);
INSERT INTO follows VALUES (1, 2), (1, 3), (2, 4), (3, 4), (4, 5), (6, 1);

SET emogi.engine = cpu;
EXPLAIN (COSTS OFF) SELECT vertex, community FROM emogi_louvain('follows') WHERE parent IS NULL;

CREATE TABLE posts (id int, author bigint);
INSERT INTO posts VALUES (1, 2), (2, 5), (3, 6), (4, NULL), (5, 4);
SELECT id FROM posts WHERE EXISTS (SELECT FROM emogi_bfs('follows', 1, 2) b WHERE b.vertex = posts.author) ORDER BY id;

SET emogi.engine = cpu;
EXPLAIN (COSTS OFF) SELECT id, level FROM posts JOIN emogi_bfs('follows', 1) b ON b.vertex = posts.author;

SELECT level, count(*) FROM emogi_bfs('follows', 1) GROUP BY level;

SELECT vertex, level FROM emogi_bfs('follows', 1) ORDER BY level DESC, vertex LIMIT 2;

EXPLAIN (COSTS OFF) SELECT vertex, level FROM emogi_bfs('follows', 1) ORDER BY level DESC, vertex LIMIT 2;

CREATE TABLE team (member bigint);
INSERT INTO team VALUES (1), (4), (6);
SELECT member, count(*) - 1 AS reaches, max(level) AS farthest
FROM team, LATERAL emogi_bfs('follows', member)
GROUP BY member ORDER BY member;

SET emogi.engine = cpu;
EXPLAIN (COSTS OFF) SELECT member, count(*) - 1 AS reaches, max(level) AS farthest
FROM team, LATERAL emogi_bfs('follows', member) GROUP BY member;

SET emogi.engine = cpu;
EXPLAIN (COSTS OFF) SELECT * FROM emogi_bfs('follows', 1) WHERE level <= 1 AND vertex IN (2, 3, 4);

EXPLAIN (ANALYZE, BUFFERS OFF, COSTS OFF, TIMING OFF, SUMMARY OFF) SELECT count(*) FROM emogi_bfs('follows', 1);

SELECT * FROM emogi_bfs('follows', '{2,6}', 1);
