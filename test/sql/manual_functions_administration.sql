-- The examples of docs/functions/administration.md, in order. Written by tools/manual, which also compares the outputs: tools/manual --check.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS emogi;
RESET client_min_messages;
CREATE SCHEMA test_manual_functions_administration;
SET search_path = test_manual_functions_administration, public;
SET emogi.engine = auto;
\pset footer off

CREATE TABLE link (source int, target int, cost float8, mbit int);
INSERT INTO link VALUES (1, 2, 10, 100), (1, 3, 5, 1000), (3, 2, 3, 200), (2, 4, 2, 100), (3, 4, 9, 1000),
                        (4, 5, 4, 400), (7, 8, 1, 10);
ANALYZE link;

SELECT edges, vertices, pg_size_pretty(graph_bytes) AS graph, fits FROM emogi_estimate('link', weights => true);

SELECT cache, vertices, edges, kept FROM emogi_prewarm('link', weights => true, keep => true);

SELECT kept FROM emogi_prewarm('link', weights => true, keep => false);

SELECT ok, cache, vertices, edges FROM emogi_check('link');

SELECT g.columns, g.direction, g.backward, c.ok, c.differs
FROM emogi_graphs AS g, LATERAL emogi_check(g.relation::regclass, g.direction, true, g.backward, columns => g.columns) AS c
WHERE g.database = current_database() AND g.source = 'link' ORDER BY 1, 2, 3;

SELECT length(emogi_pages('link', '{source,target}', 0, 1)) > 0 AS packed;

SELECT emogi_stamp('link', '{source,target}') = emogi_stamp('link', '{source,target}') AS unchanged;
