-- The examples of docs/pictures.md, in order. Written by tools/manual, which also compares the outputs: tools/manual --check.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS emogi;
RESET client_min_messages;
CREATE SCHEMA test_manual_pictures;
SET search_path = test_manual_pictures, public;
SET emogi.engine = auto;
\set ECHO none
\i examples/pictures.sql
\set ECHO all
\pset footer off

CREATE TABLE follows (src bigint, dst bigint, weight float8);
INSERT INTO follows VALUES (1, 2, 0.5), (1, 3, 2), (2, 4, 1), (3, 4, 1), (4, 5, 3), (6, 1, 1.25);
CREATE TABLE person (id bigint PRIMARY KEY, name text);
INSERT INTO person VALUES (1, 'Ann'), (2, 'Bo "the fox"'), (3, 'Cy'), (4, 'Di'), (5, 'Ed'), (6, 'Flo');

\pset format unaligned
\pset tuples_only on
SELECT emogi_dot('follows', 1, max_depth => 1, names => 'SELECT id, name FROM person');

\pset format aligned
\pset tuples_only off

SELECT id, title, mainstat, secondarystat, round(arc__drawn::numeric, 2) AS arc__drawn, round(arc__beyond::numeric, 2) AS arc__beyond, color
FROM emogi_grafana_nodes('follows', 1, names => 'SELECT id, name FROM person', max_vertices => 4);

SELECT * FROM emogi_grafana_edges('follows', 1, max_vertices => 4);
