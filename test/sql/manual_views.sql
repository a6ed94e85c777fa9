-- The examples of docs/views.md, in order. Written by tools/manual, which also compares the outputs: tools/manual --check.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS emogi;
RESET client_min_messages;
CREATE SCHEMA test_manual_views;
SET search_path = test_manual_views, public;
SET emogi.engine = auto;
\pset footer off

SELECT device, engine, state FROM emogi_devices WHERE engine = 'cpu';

CREATE TABLE follows (src bigint, dst bigint);
INSERT INTO follows VALUES (1, 2), (1, 3), (2, 4), (3, 4), (4, 5), (6, 1), (6, NULL);
SELECT count(*) FROM emogi_bfs('follows', 1);

SELECT source, columns, direction, vertices, edges, skipped_rows, state FROM emogi_graphs WHERE source = 'follows';

SELECT function, source, cache, reached, rows FROM emogi_runs ORDER BY id DESC LIMIT 1;

SELECT source, function, calls, errors, hits, builds, rows FROM emogi_stat_graphs WHERE relation = 'follows'::regclass;
