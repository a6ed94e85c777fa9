-- The examples of docs/keys-and-queries.md, in order. Written by tools/manual, which also compares the outputs: tools/manual --check.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS emogi;
RESET client_min_messages;
CREATE SCHEMA test_manual_keys_and_queries;
SET search_path = test_manual_keys_and_queries, public;
SET emogi.engine = auto;
\pset footer off

CREATE TABLE cites (src text, dst text);
INSERT INTO cites VALUES ('10.1145/3', '10.1145/1'), ('10.1145/1', '10.1000/7'), ('10.1145/2', '10.1145/1');
SELECT * FROM emogi_bfs('cites', '10.1145/3');

SET emogi.engine = auto;
CREATE TABLE account (id int PRIMARY KEY, country text);
CREATE TABLE payment (src int, dst int, day date);
INSERT INTO account VALUES (1, 'DE'), (2, 'DE'), (3, 'FR'), (4, 'DE');
INSERT INTO payment VALUES (1, 2, '2026-01-01'), (2, 3, '2026-01-02'), (2, 4, '2026-01-02');
CREATE VIEW german AS
    SELECT p.src, p.dst FROM payment p
    JOIN account a ON a.id = p.src JOIN account b ON b.id = p.dst
    WHERE a.country = 'DE' AND b.country = 'DE';
CREATE VIEW last_calls AS
    SELECT source, cache, why_private FROM emogi_runs WHERE pid = pg_backend_pid() ORDER BY id DESC LIMIT 2;
SELECT count(*) FROM emogi_bfs('german', 1);

SELECT count(*) FROM emogi_bfs('SELECT src, dst FROM german', 1);

SELECT source, cache FROM last_calls;

UPDATE account SET country = 'DE' WHERE id = 3;
SELECT count(*) FROM emogi_bfs('german', 1);

SELECT source, cache FROM last_calls LIMIT 1;

SELECT vertex, level FROM emogi_bfs(emogi_query('SELECT src, dst FROM payment WHERE day >= $1 AND src <> $2', date '2026-01-02', 4), 2);

EXPLAIN (COSTS OFF) SELECT * FROM emogi_bfs('SELECT src, dst FROM payment WHERE random() < 0.5', 1);
