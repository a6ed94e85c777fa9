-- The examples of docs/errors-and-troubleshooting.md, in order. Written by tools/manual, which also compares the outputs: tools/manual --check.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS emogi;
RESET client_min_messages;
CREATE SCHEMA test_manual_errors_and_troubleshooting;
SET search_path = test_manual_errors_and_troubleshooting, public;
SET emogi.engine = auto;
\pset footer off

CREATE TABLE roads (from_node int, to_node int, km float8);
SELECT * FROM emogi_bfs('roads', 1);

INSERT INTO roads VALUES (1, 2, 7);
SET emogi.notice_missing_source = on;
SELECT count(*) FROM emogi_bfs('roads(from_node, to_node)', 3);
