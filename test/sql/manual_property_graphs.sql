-- The examples of docs/property-graphs.md, in order. Written by tools/manual, which also compares the outputs: tools/manual --check.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS emogi;
RESET client_min_messages;
CREATE SCHEMA test_manual_property_graphs;
SET search_path = test_manual_property_graphs, public;
\pset footer off

CREATE TABLE person (id bigint PRIMARY KEY, name text);
CREATE TABLE follows (id bigint PRIMARY KEY, src bigint REFERENCES person, dst bigint REFERENCES person, since int);
INSERT INTO person VALUES (1, 'Ada'), (2, 'Blaise'), (3, 'Carl'), (4, 'Dennis'), (5, 'Edsger'), (6, 'Frances');
INSERT INTO follows VALUES (1, 1, 2, 2019), (2, 1, 3, 2020), (3, 2, 4, 2021), (4, 3, 4, 2022), (5, 4, 5, 2023), (6, 6, 1, 2024);
CREATE INDEX ON follows (src);

SELECT DISTINCT c.name
  FROM person a JOIN follows e ON e.src = a.id JOIN follows f ON f.src = e.dst JOIN person c ON c.id = f.dst
 WHERE a.name = 'Ada';

SELECT level, string_agg(c.name, ', ' ORDER BY c.name) AS names
  FROM emogi_bfs('follows(src, dst)', (SELECT id FROM person WHERE name = 'Ada')) r JOIN person c ON c.id = r.vertex
 GROUP BY level ORDER BY level;

SELECT seq, c.name, f.since
  FROM emogi_shortest_path('SELECT id, src, dst FROM follows', 6, 5) p JOIN person c ON c.id = p.vertex LEFT JOIN follows f ON f.id = p.edge
 ORDER BY seq;

SELECT vertex, level FROM emogi_bfs('SELECT src, dst FROM follows WHERE since > 2019', 1) ORDER BY vertex;

SELECT c.name AS who, f.since, d.name AS whom
  FROM emogi_bfs('follows(src, dst)', 1) r JOIN person c ON c.id = r.vertex JOIN follows f ON f.src = c.id JOIN person d ON d.id = f.dst
 WHERE r.level >= 2;

CREATE TABLE knows (a bigint REFERENCES person, b bigint REFERENCES person);
INSERT INTO knows VALUES (5, 6);
CREATE VIEW social_edges AS SELECT src, dst FROM follows UNION ALL SELECT a, b FROM knows;
SELECT count(*) FROM emogi_bfs('social_edges', 1);
