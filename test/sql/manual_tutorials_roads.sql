-- The examples of docs/tutorials/roads.md, in order. Written by tools/manual, which also compares the outputs: tools/manual --check.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS emogi;
RESET client_min_messages;
CREATE SCHEMA test_manual_tutorials_roads;
SET search_path = test_manual_tutorials_roads, public;
SET emogi.engine = auto;
SELECT count(*) = 0 AS is_missing FROM pg_available_extensions WHERE name = 'postgis' \gset
\if :is_missing
\quit
\endif
SET client_min_messages = warning;
CREATE EXTENSION postgis;
RESET client_min_messages;
\pset footer off

CREATE TABLE junction (id int PRIMARY KEY, geom geometry(Point, 25832) NOT NULL);
INSERT INTO junction SELECT 10 * y + x, ST_SetSRID(ST_MakePoint(500000 + 100 * x, 5600000 + 100 * y), 25832)
FROM generate_series(0, 9) AS x, generate_series(0, 9) AS y;
CREATE TABLE street (id int GENERATED ALWAYS AS IDENTITY, source int, target int, cost float8, reverse_cost float8, geom geometry(LineString, 25832));
INSERT INTO street (source, target, geom)
SELECT a.id, b.id, ST_MakeLine(a.geom, b.geom)
FROM junction AS a JOIN junction AS b ON (b.id = a.id + 1 AND a.id % 10 < 9) OR b.id = a.id + 10
WHERE a.id / 10 <> 4 OR b.id = a.id + 1 OR a.id % 10 IN (2, 7)
ORDER BY a.id, b.id;
UPDATE street SET cost = ST_Length(geom) / 5, reverse_cost = CASE WHEN target < 10 THEN -1 ELSE ST_Length(geom) / 5 END;
CREATE INDEX ON street (source);
CREATE INDEX ON street (target);
CREATE INDEX ON junction USING gist (geom);

CREATE FUNCTION nearest(x float8, y float8) RETURNS int STABLE
BEGIN ATOMIC
    SELECT id FROM junction ORDER BY geom <-> ST_SetSRID(ST_MakePoint(500000 + x, 5600000 + y), 25832) LIMIT 1;
END;
SELECT max(distance) AS seconds, count(edge) AS streets, round(ST_Length(ST_LineMerge(ST_Collect(geom)))) AS meters
FROM emogi_shortest_path('street', nearest(10, 310), nearest(20, 590)) LEFT JOIN street ON id = edge;

SELECT path_id, max(distance) AS seconds, array_agg(vertex ORDER BY seq) AS junctions
FROM emogi_k_shortest_paths('street', 30, 51, 3) GROUP BY path_id ORDER BY path_id;

SELECT seconds, count(*) AS junctions, round(ST_Area(ST_ConvexHull(ST_Collect(geom))) / 10000) AS hectares
FROM emogi_shortest_path_tree('street', 44, max_distance => 180) JOIN junction ON id = vertex
JOIN unnest(ARRAY[60, 120, 180]) AS seconds ON distance <= seconds
GROUP BY seconds ORDER BY seconds;

SELECT t.source AS station, count(*) AS junctions, max(distance) AS farthest,
       count(*) FILTER (WHERE t.source <> n.id) AS nearer_as_the_crow_flies
FROM emogi_shortest_path_tree('street', ARRAY[0, 99]) AS t JOIN junction AS j ON j.id = t.vertex
CROSS JOIN LATERAL (SELECT s.id FROM junction AS s WHERE s.id IN (0, 99) ORDER BY s.geom <-> j.geom, s.id LIMIT 1) AS n
GROUP BY t.source ORDER BY t.source;

BEGIN;
UPDATE street SET cost = -1, reverse_cost = -1 WHERE source = 42 AND target = 52;
SELECT max(distance) AS seconds FROM emogi_shortest_path('street', 30, 51);

SELECT * FROM emogi_bridges('SELECT source, target FROM street WHERE cost >= 0 OR reverse_cost >= 0');

ROLLBACK;

SET client_min_messages = warning;
DROP EXTENSION postgis CASCADE;
