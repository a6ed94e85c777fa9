-- The examples of docs/tutorials/supply-chain.md, in order. Written by tools/manual, which also compares the outputs: tools/manual --check.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS emogi;
RESET client_min_messages;
CREATE SCHEMA test_manual_tutorials_supply_chain;
SET search_path = test_manual_tutorials_supply_chain, public;
SET emogi.engine = auto;
\pset footer off

CREATE TABLE part (id int PRIMARY KEY, name text NOT NULL, days int NOT NULL);
INSERT INTO part VALUES (1, 'e-bike', 2), (2, 'city bike', 2), (10, 'frame', 3), (11, 'drive', 4), (12, 'wheel', 1), (13, 'battery', 5),
    (20, 'tube', 10), (21, 'motor', 30), (22, 'controller', 45), (23, 'rim', 14), (24, 'spoke', 7), (25, 'cell', 60), (26, 'screw', 5);
CREATE TABLE contains (parent int NOT NULL, child int NOT NULL, quantity int NOT NULL, PRIMARY KEY (parent, child));
INSERT INTO contains VALUES (1, 10, 1), (1, 11, 1), (1, 12, 2), (1, 13, 1), (2, 10, 1), (2, 12, 2), (10, 20, 4), (10, 26, 12),
    (11, 21, 1), (11, 22, 1), (11, 26, 8), (12, 23, 1), (12, 24, 32), (13, 25, 40), (13, 22, 1), (13, 26, 6);
CREATE TABLE supplies (supplier text NOT NULL, part int NOT NULL, PRIMARY KEY (supplier, part));
INSERT INTO supplies VALUES ('Adler', 20), ('Adler', 23), ('Brandt', 23), ('Brandt', 24), ('Chen', 22), ('Chen', 25), ('Dahl', 21),
    ('Dahl', 26), ('Evers', 26), ('Evers', 20), ('Fuchs', 25);

SELECT level, string_agg(name, ', ' ORDER BY name) AS parts
FROM emogi_bfs('contains(parent, child)', 1) JOIN part ON id = vertex GROUP BY level ORDER BY level;

SELECT name, level FROM emogi_bfs('contains(parent, child)', 22, direction => 'in') JOIN part ON id = vertex WHERE level > 0 ORDER BY level, name;

SELECT path_id, string_agg(name, ' > ' ORDER BY seq) AS path
FROM emogi_all_shortest_paths('contains(parent, child)', 1, 22) JOIN part ON id = vertex GROUP BY path_id ORDER BY path_id;

CREATE VIEW schedule AS
    SELECT c.child AS src, c.parent AS dst, p.days AS weight FROM contains AS c JOIN part AS p ON p.id = c.child;
SELECT name, distance AS starts, distance + days AS finished
FROM emogi_longest_path('schedule') JOIN part ON id = vertex WHERE vertex < 20 ORDER BY distance, name;

BEGIN;
DELETE FROM contains WHERE parent = 13;
UPDATE part SET days = 20 WHERE id = 13;
SELECT name, distance + days AS finished FROM emogi_longest_path('schedule') JOIN part ON id = vertex WHERE vertex = 1;

ROLLBACK;

SELECT s.supplier, string_agg(DISTINCT p.name, ', ' ORDER BY p.name) AS products
FROM (SELECT supplier, array_agg(part) AS parts FROM supplies AS s
      WHERE NOT EXISTS (SELECT FROM supplies AS o WHERE o.part = s.part AND o.supplier <> s.supplier) GROUP BY supplier) AS s
CROSS JOIN LATERAL emogi_bfs('contains(parent, child)', s.parts, direction => 'in') AS b
JOIN part AS p ON p.id = b.vertex WHERE p.id < 10 GROUP BY s.supplier ORDER BY s.supplier;
