-- The examples of docs/functions/acyclic.md, in order. Written by tools/manual, which also compares the outputs: tools/manual --check.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS emogi;
RESET client_min_messages;
CREATE SCHEMA test_manual_functions_acyclic;
SET search_path = test_manual_functions_acyclic, public;
SET emogi.engine = auto;
\pset footer off

CREATE TABLE needed (src bigint, dst bigint, weight float8);
INSERT INTO needed VALUES (1, 3, 2), (2, 3, 1), (3, 5, 4), (1, 4, 9), (4, 5, 1);
SELECT vertex, level, position FROM emogi_topological_order('needed') ORDER BY position;

INSERT INTO needed VALUES (5, 3, 1);
SELECT vertex FROM emogi_topological_order('needed') ORDER BY position;

DELETE FROM needed WHERE src = 5;
SELECT * FROM emogi_longest_path('needed');

CREATE TABLE bom (part text, component text, quantity int);
INSERT INTO bom VALUES ('bicycle', 'wheel', 2), ('bicycle', 'frame', 1), ('bicycle', 'screw', 2),
  ('wheel', 'hub', 1), ('wheel', 'spoke', 32), ('hub', 'screw', 4), ('frame', 'screw', 6);
SELECT * FROM emogi_rollup('bom(part, component, quantity)', 'bicycle');

SELECT * FROM emogi_rollup('bom(part, component, quantity)', 'screw', direction => 'in');

INSERT INTO bom VALUES ('screw', 'wheel', 1);
SELECT * FROM emogi_rollup('bom(part, component, quantity)', 'bicycle');
