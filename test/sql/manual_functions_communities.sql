-- The examples of docs/functions/communities.md, in order. Written by tools/manual, which also compares the outputs: tools/manual --check.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS emogi;
RESET client_min_messages;
CREATE SCHEMA test_manual_functions_communities;
SET search_path = test_manual_functions_communities, public;
SET emogi.engine = auto;
\pset footer off

CREATE TABLE met (src bigint, dst bigint);
INSERT INTO met VALUES (1, 2), (2, 3), (3, 1), (3, 4), (4, 1), (4, 5), (2, 1);

SELECT * FROM emogi_louvain('met') WHERE parent IS NULL ORDER BY vertex;

SELECT vertex, community FROM emogi_leiden('met') WHERE parent IS NULL ORDER BY vertex;

SELECT round(emogi_modularity('met', 'SELECT vertex, community FROM emogi_leiden(''met'') WHERE parent IS NULL')::numeric, 4) AS leiden,
       round(emogi_modularity('met', 'SELECT vertex, label FROM emogi_cdlp(''met'')')::numeric, 4) AS cdlp;

SELECT vertex, label FROM emogi_cdlp('met');

SELECT vertex FROM emogi_core('met') WHERE core >= 2;

SELECT vertex, round(coefficient::numeric, 3) AS coefficient FROM emogi_lcc('met');

SELECT vertex, triangles FROM emogi_triangles('met');

SELECT emogi_triangle_count('met');
