-- Well-known networks, with values that are published or computed by other methods.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS emogi;
RESET client_min_messages;
CREATE SCHEMA test_networks;
SET search_path = test_networks, public;
\pset format unaligned
\pset tuples_only on

--
-- The friendships of Zachary's karate club (J. Anthropological Research 33, 1977), each stored
-- once. 1 is the instructor, 34 the president.
--
CREATE TABLE karate (source int, target int);
\copy karate FROM 'test/data/karate.csv' CSV HEADER
CREATE VIEW friends AS SELECT source, target FROM karate UNION ALL SELECT target, source FROM karate;
SELECT count(*), count(DISTINCT source) FROM friends;
SELECT component, count(*) FROM emogi_cc('karate') GROUP BY component;
-- The two factions after the split: without the edges between them there are two components.
CREATE TABLE faction AS SELECT v, v = ANY ('{1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 13, 14, 17, 18, 20, 22}') AS teacher FROM generate_series(1, 34) v;
SELECT component, count(*) FROM emogi_cc('SELECT source, target FROM karate JOIN faction a ON a.v = source JOIN faction b ON b.v = target WHERE a.teacher = b.teacher')
 GROUP BY component ORDER BY component;

-- PageRank at damping 0.85.
SELECT string_agg(vertex || ':' || round(rank::numeric, 4), ' ') FROM emogi_pagerank('friends', 0.85, 1000, 1e-12);
SELECT string_agg(vertex::text, ' ' ORDER BY rank DESC) FROM (SELECT * FROM emogi_pagerank('friends') ORDER BY rank DESC LIMIT 8) x;

-- Distances: the radius is 3, the diameter 5, the mean 2.4082; and the number of vertices at each
-- distance from 1 and from 34.
SELECT min(far), max(far), round(sum(total) / (34 * 33), 4), array_agg(v ORDER BY v) FILTER (WHERE far = 3)
  FROM generate_series(1, 34) v, LATERAL (SELECT max(level) AS far, sum(level) AS total FROM emogi_bfs('karate', v, direction => 'both')) b;
SELECT level, count(*) FROM emogi_ssnsp('friends', 1) GROUP BY level ORDER BY level;
SELECT distance, count(*) FROM emogi_sssp('karate', 34, direction => 'both') GROUP BY distance ORDER BY distance;
-- The number of shortest paths from 1: two to 17, four to 34, seven to six of the others.
SELECT string_agg(concat_ws(':', vertex, level, paths), ' ') FROM emogi_ssnsp('karate', 1, direction => 'both');
SELECT string_agg(vertex::text, ' ' ORDER BY seq) FROM emogi_shortest_path('karate', 1, 34, 'both');
SELECT string_agg(vertex::text, ' ' ORDER BY seq) FROM emogi_shortest_path('karate', 17, 24, 'both');
SELECT count(*), count(DISTINCT width) FROM emogi_sswp('friends', 1);

-- As a network of resistors of one ohm between 1 (one volt) and 34: the resistance is 0.2538 ohm,
-- and the voltages distinguish the factions except for 9 (after a method of Wu and Huberman,
-- European Physical Journal B 38, 2004).
CREATE TEMP TABLE volts AS SELECT * FROM emogi_circuit('karate', 'VALUES (1, 1), (34, 0)', 10000, 1e-13);
SELECT string_agg(vertex || ':' || round(value::numeric, 4), ' ' ORDER BY vertex) FROM volts;
SELECT round(1 / sum(1 - value)::numeric, 4) AS resistance FROM friends JOIN volts ON vertex = target WHERE source = 1;
SELECT vertex, teacher FROM volts JOIN faction ON v = vertex WHERE (value > 0.5) <> teacher;

--
-- Marriages among the families of Florence about 1430 (Padgett and Ansell, 1993; the Pucci had no
-- ties). Vertices have names.
--
CREATE TABLE marriages (source text, target text);
\copy marriages FROM 'test/data/florentine.csv' CSV HEADER
CREATE TABLE family AS SELECT row_number() OVER (ORDER BY name COLLATE "C") AS id, name FROM (SELECT source FROM marriages UNION SELECT target FROM marriages) f(name);
CREATE VIEW marriage AS SELECT a.id AS source, b.id AS target FROM marriages JOIN family a ON source = a.name JOIN family b ON target = b.name;
CREATE FUNCTION id(text) RETURNS bigint LANGUAGE sql STABLE AS 'SELECT id FROM family WHERE name = $1';
SELECT count(*), (SELECT count(*) FROM family), (SELECT count(DISTINCT component) FROM emogi_cc('marriage')) FROM marriage;
SELECT name, round(rank::numeric, 4) FROM emogi_pagerank('SELECT source, target FROM marriage UNION ALL SELECT target, source FROM marriage', 0.85, 1000, 1e-12)
  JOIN family ON id = vertex ORDER BY name COLLATE "C";
SELECT min(far), max(far), string_agg(name, ' ' ORDER BY name COLLATE "C") FILTER (WHERE far = 3)
  FROM family, LATERAL (SELECT max(level) AS far FROM emogi_bfs('marriage', id, direction => 'both')) b;
SELECT string_agg(concat_ws(':', name, level, paths), ' ' ORDER BY name COLLATE "C") FROM emogi_ssnsp('marriage', id('Medici'), direction => 'both') JOIN family ON id = vertex;
SELECT string_agg(concat_ws(':', name, level, paths), ' ' ORDER BY name COLLATE "C") FROM emogi_ssnsp('marriage', id('Pazzi'), direction => 'both') JOIN family ON id = vertex;
SELECT string_agg(name, ' > ' ORDER BY seq) FROM emogi_shortest_path('marriage', id('Pazzi'), id('Peruzzi'), 'both') JOIN family ON id = vertex;
-- Without the Medici.
SELECT string_agg(name, ' ' ORDER BY name COLLATE "C") FROM emogi_cc('SELECT * FROM marriage WHERE id(''Medici'') NOT IN (source, target)') JOIN family ON id = vertex
 GROUP BY component ORDER BY count(*) DESC;

--
-- Les Misérables: characters that appear together, and the number of chapters (Knuth, The Stanford
-- GraphBase, 1993).
--
CREATE TABLE together (source text, target text, weight int);
\copy together FROM 'test/data/miserables.csv' CSV HEADER
CREATE TABLE person AS SELECT row_number() OVER (ORDER BY name COLLATE "C") AS id, name FROM (SELECT source FROM together UNION SELECT target FROM together) f(name);
CREATE TABLE meeting AS SELECT a.id AS source, b.id AS target, weight FROM together JOIN person a ON source = a.name JOIN person b ON target = b.name;
CREATE FUNCTION who(text) RETURNS bigint LANGUAGE sql STABLE AS 'SELECT id FROM person WHERE name = $1';
SELECT count(*), sum(weight), (SELECT count(*) FROM person), (SELECT count(DISTINCT component) FROM emogi_cc('meeting')) FROM meeting;
SELECT name, round(rank::numeric, 4) FROM emogi_pagerank('SELECT source, target FROM meeting UNION ALL SELECT target, source FROM meeting', 0.85, 1000, 1e-12)
  JOIN person ON id = vertex ORDER BY rank DESC LIMIT 12;
SELECT min(far), max(far) FROM person, LATERAL (SELECT max(level) AS far FROM emogi_bfs('meeting', id, direction => 'both')) b;
SELECT level, count(*) FROM emogi_bfs('meeting', who('Valjean'), direction => 'both') GROUP BY level ORDER BY level;
SELECT level, count(*), sum(paths), max(paths) FROM emogi_ssnsp('meeting', who('Napoleon'), direction => 'both') GROUP BY level ORDER BY level;
-- Sums of weights from Napoleon, who is connected only to Myriel.
SELECT name, distance FROM emogi_sssp('meeting', who('Napoleon'), direction => 'both') JOIN person ON id = vertex WHERE distance > 11 ORDER BY distance DESC, name COLLATE "C";
SELECT sum(distance) FROM emogi_sssp('meeting', who('Napoleon'), direction => 'both');
-- If more chapters mean closer: by 1 / weight.
SELECT name, round(distance::numeric, 9) FROM emogi_sssp('SELECT source, target, 1 / weight::float8 FROM meeting', who('Napoleon'), direction => 'both')
  JOIN person ON id = vertex WHERE distance > 2.4 ORDER BY distance DESC, name COLLATE "C";
-- The strength of ties to Valjean: the widest path by common chapters.
SELECT width, count(*) FROM emogi_sswp('meeting', who('Valjean'), 'both') GROUP BY width ORDER BY width;
SELECT name, width FROM emogi_sswp('meeting', who('Valjean'), 'both') JOIN person ON id = vertex WHERE width > 9 ORDER BY width DESC, name COLLATE "C";
