-- The examples of docs/functions/components.md, in order. Written by tools/manual, which also compares the outputs: tools/manual --check.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS emogi;
RESET client_min_messages;
CREATE SCHEMA test_manual_functions_components;
SET search_path = test_manual_functions_components, public;
SET emogi.engine = auto;
\pset footer off

CREATE TABLE link (src int, dst int);
INSERT INTO link VALUES (1, 2), (1, 3), (3, 2), (2, 4), (3, 4), (4, 5), (7, 8);
SELECT component, count(*) AS vertices FROM emogi_cc('link') GROUP BY component ORDER BY component;

CREATE TABLE cites (src bigint, dst bigint);
INSERT INTO cites VALUES (1, 2), (2, 3), (3, 1), (3, 4), (4, 5), (5, 4), (5, 6);
SELECT component, array_agg(vertex) AS vertices FROM emogi_scc('cites') GROUP BY component ORDER BY component;

CREATE TABLE cables (src bigint, dst bigint, weight float8);
INSERT INTO cables VALUES (1, 2, 4), (2, 3, 8), (3, 1, 5), (3, 4, 2), (4, 5, 3), (5, 6, 6), (6, 4, 6), (7, 8, 1), (8, 7, 9);
SELECT component, array_agg(vertex ORDER BY vertex) AS vertices FROM emogi_biconnected('cables') GROUP BY component ORDER BY component;

WITH members AS MATERIALIZED (SELECT component, vertex FROM emogi_biconnected('cables'))
SELECT src, dst, component FROM cables JOIN members s ON s.vertex = src
  JOIN members d USING (component) WHERE d.vertex = dst AND src <> dst ORDER BY component, src, dst LIMIT 4;

SELECT * FROM emogi_bridges('cables');

SELECT * FROM emogi_articulation_points('cables');

SELECT * FROM emogi_spanning_forest('cables');
