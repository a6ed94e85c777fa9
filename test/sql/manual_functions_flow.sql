-- The examples of docs/functions/flow.md, in order. Written by tools/manual, which also compares the outputs: tools/manual --check.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS emogi;
RESET client_min_messages;
CREATE SCHEMA test_manual_functions_flow;
SET search_path = test_manual_functions_flow, public;
SET emogi.engine = auto;
\pset footer off

CREATE TABLE pipes (id int, a int, b int, capacity int);
INSERT INTO pipes VALUES (1, 1, 2, 10), (2, 1, 3, 5), (3, 2, 4, 4), (4, 2, 3, 15), (5, 3, 4, 6), (6, 2, 4, 3);
SELECT emogi_max_flow('pipes(a, b, capacity)', 1, 4);

SELECT * FROM emogi_max_flow_edges('pipes(a, b, capacity, id)', 1, 4);

SELECT * FROM emogi_min_cut('pipes(a, b, capacity, id)', 1, 4);
