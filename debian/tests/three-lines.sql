\set ON_ERROR_STOP on
CREATE EXTENSION emogi;
CREATE TABLE follows AS SELECT * FROM (VALUES (1, 2), (2, 3), (1, 4)) AS edges (src, dst);
SELECT 1 / (string_agg(vertex || ':' || level, ' ' ORDER BY vertex) = '1:0 2:1 3:2 4:1')::int AS answered FROM emogi_bfs('follows', 1);
