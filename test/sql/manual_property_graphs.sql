-- The examples of docs/property-graphs.md, in order. Written by tools/manual, which also compares the outputs: tools/manual --check.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS emogi;
RESET client_min_messages;
CREATE SCHEMA test_manual_property_graphs;
SET search_path = test_manual_property_graphs, public;
SET emogi.engine = auto;
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

SELECT vertex, level FROM emogi_bfs('follows(src, dst) WHERE since > 2019', 1) ORDER BY vertex;

SELECT c.name AS who, f.since, d.name AS whom
  FROM emogi_bfs('follows(src, dst)', 1) r JOIN person c ON c.id = r.vertex JOIN follows f ON f.src = c.id JOIN person d ON d.id = f.dst
 WHERE r.level >= 2;

CREATE TABLE knows (a bigint REFERENCES person, b bigint REFERENCES person);
INSERT INTO knows VALUES (5, 6);
CREATE VIEW social_edges AS SELECT src, dst FROM follows UNION ALL SELECT a, b FROM knows;
SELECT count(*) FROM emogi_bfs('social_edges', 1);

CREATE TABLE guest (id bigint PRIMARY KEY, name text);
CREATE TABLE hotel (id bigint PRIMARY KEY, name text);
CREATE TABLE stay (guest_id bigint REFERENCES guest, hotel_id bigint REFERENCES hotel, nights int);
INSERT INTO guest VALUES (1, 'Ada'), (2, 'Blaise'), (3, 'Carl');
INSERT INTO hotel VALUES (1, 'Astor'), (2, 'Bristol'), (3, 'Central'), (4, 'Dovre');
INSERT INTO stay VALUES (1, 1, 2), (1, 2, 1), (2, 2, 3), (2, 3, 2), (3, 3, 1), (3, 4, 4);
CREATE VIEW booked AS SELECT 'guest:' || guest_id AS src, 'hotel:' || hotel_id AS dst FROM stay;
SELECT h.name, level
  FROM emogi_bfs('booked', 'guest:1', max_depth => 5, direction => 'both') r JOIN hotel h ON r.vertex = 'hotel:' || h.id
 ORDER BY level, name;

CREATE TABLE device (id int PRIMARY KEY, name text);
CREATE TABLE port (id int PRIMARY KEY, device_id int REFERENCES device);
CREATE TABLE cable (id int PRIMARY KEY, port_a int REFERENCES port, port_b int REFERENCES port, gbit int);
INSERT INTO device VALUES (1, 'core-1'), (2, 'core-2'), (3, 'edge-1'), (4, 'edge-2'), (5, 'db'), (6, 'web');
INSERT INTO port SELECT id * 10 + n, id FROM device, generate_series(1, 3) n;
INSERT INTO cable VALUES (1, 11, 21, 100), (2, 12, 31, 40), (3, 22, 32, 40), (4, 13, 41, 40), (5, 33, 51, 10), (6, 42, 61, 10);
CREATE VIEW connected AS
  SELECT c.id, a.device_id AS src, b.device_id AS dst FROM cable c JOIN port a ON a.id = port_a JOIN port b ON b.id = port_b;
SELECT string_agg(name, ', ' ORDER BY name) AS critical
  FROM emogi_articulation_points('connected') p JOIN device d ON d.id = p.vertex;

SELECT seq, name, edge AS cable
  FROM emogi_shortest_path('connected', 5, 6, direction => 'both') p JOIN device d ON d.id = p.vertex ORDER BY seq;

CREATE TABLE entity (id int PRIMARY KEY, name text);
CREATE TABLE fact (src int REFERENCES entity, kind text, dst int REFERENCES entity);
INSERT INTO entity VALUES (1, 'lithium'), (2, 'alkali metal'), (3, 'metal'), (4, 'battery'), (5, 'sodium'), (6, 'salt');
INSERT INTO fact VALUES (1, 'is_a', 2), (2, 'is_a', 3), (5, 'is_a', 2), (4, 'contains', 1), (6, 'contains', 5);
SELECT name, level
  FROM emogi_bfs('fact(src, dst) WHERE kind = ''is_a''', 3, direction => 'in') r JOIN entity e ON e.id = r.vertex
 WHERE level > 0 ORDER BY level, name;

SELECT string_agg(name, ' - ' ORDER BY seq) AS connection
  FROM emogi_shortest_path('fact(src, dst)', 4, 6, direction => 'both') p JOIN entity e ON e.id = p.vertex;
