-- The examples of docs/cache-and-memory.md, in order. Written by tools/manual, which also compares the outputs: tools/manual --check.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS emogi;
RESET client_min_messages;
CREATE SCHEMA test_manual_cache_and_memory;
SET search_path = test_manual_cache_and_memory, public;
SET emogi.engine = auto;
\pset footer off

CREATE TABLE follows (src bigint, dst bigint);
INSERT INTO follows VALUES (1, 2), (1, 3), (2, 4), (3, 4), (4, 5), (6, 1);
SELECT count(*) FROM emogi_bfs('follows', 1);

SELECT count(DISTINCT component) FROM emogi_cc('follows');

INSERT INTO follows VALUES (5, 6);
SELECT count(*) FROM emogi_bfs('follows', 1);

SELECT function, cache, rows FROM (SELECT * FROM emogi_runs ORDER BY id DESC LIMIT 3) AS last ORDER BY id;

CREATE TABLE transfer (src int, dst int, tenant int, at timestamptz DEFAULT now());
CREATE INDEX ON transfer (src);
CREATE INDEX ON transfer (tenant, dst);
SET emogi.index_search_min_size = 0;
EXPLAIN (COSTS OFF) SELECT * FROM emogi_bfs('transfer WHERE at > now() - interval ''7 days''', 42, max_depth => 4);

EXPLAIN (COSTS OFF) SELECT * FROM emogi_bfs('transfer WHERE tenant = 7', 42, max_depth => 4, direction => 'in');

EXPLAIN (COSTS OFF) SELECT * FROM emogi_bfs_tree('transfer WHERE at > now() - interval ''7 days''', 42, max_depth => 4);

ALTER TABLE transfer ADD COLUMN fee float8 NOT NULL DEFAULT 0 CHECK (fee BETWEEN 0 AND 1e9);
EXPLAIN (COSTS OFF) SELECT * FROM emogi_sssp('transfer(src, dst, fee) WHERE at > now() - interval ''7 days''', 42, max_distance => 10);

SELECT cache, vertices, edges FROM emogi_prewarm('follows', direction => 'both');

SELECT cache, kept FROM emogi_prewarm('follows', keep => true);

INSERT INTO follows VALUES (2, 5);
SELECT cache, edges, kept FROM emogi_prewarm('follows');

SELECT source, direction, edges, kept FROM emogi_graphs WHERE source = 'follows' AND kept;
