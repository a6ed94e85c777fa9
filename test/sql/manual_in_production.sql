-- The examples of docs/in-production.md, in order. Written by tools/manual, which also compares the outputs: tools/manual --check.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS emogi;
RESET client_min_messages;
CREATE SCHEMA test_manual_in_production;
SET search_path = test_manual_in_production, public;
SET emogi.engine = auto;
\pset footer off

CREATE TABLE follows (src bigint, dst bigint);
INSERT INTO follows SELECT i / 2, i FROM generate_series(2, 20000) i;
ANALYZE follows;
SELECT graph_bytes < peak_bytes AS peak_is_more, fits FROM emogi_estimate('follows');

SELECT count(*) FROM emogi_bfs('follows', 1);

SELECT count(*) FROM emogi_bfs('follows', 2);

SELECT function, calls, errors, hits, incremental_calls, builds, private_builds, index_searches, rows
FROM emogi_stat_graphs WHERE relation = 'follows'::regclass ORDER BY total_ms DESC;
