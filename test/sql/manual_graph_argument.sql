-- The examples of docs/graph-argument.md, in order. Written by tools/manual, which also compares the outputs: tools/manual --check.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS emogi;
RESET client_min_messages;
CREATE SCHEMA test_manual_graph_argument;
SET search_path = test_manual_graph_argument, public;
SET emogi.engine = auto;
\pset footer off

CREATE TABLE follows (src bigint, dst bigint);
INSERT INTO follows VALUES (1, 2), (1, 3), (2, 4), (3, 4), (4, 5), (6, 1);

CREATE TABLE calls (src int, dst int, kind text, amount float8);
INSERT INTO calls VALUES (1, 2, 'sms', 12), (2, 3, 'sms', 30), (2, 4, 'call', 50), (3, 5, 'sms', 5);
SELECT * FROM emogi_bfs('calls', 1, edge_filter => 'kind = $1 AND amount > $2', params => ROW('sms', 10)) ORDER BY level;

SET emogi.enable_property_columns = on;
SELECT count(*) FROM emogi_bfs('calls(src, dst)', 1);

SELECT count(*) FROM emogi_bfs('calls(src, dst)', 1, edge_filter => 'kind = $1 AND amount > $2', params => ROW('sms', 10));

CREATE TABLE rk (src int, dst int, km float8);
INSERT INTO rk VALUES (1, 2, 10), (2, 3, 5);
SELECT * FROM emogi_sssp('rk', 1);

SELECT * FROM emogi_bfs('SELECT dst AS src, src AS dst FROM follows', 4);

CREATE TABLE street (id int, source int, target int, cost float8, reverse_cost float8);
INSERT INTO street VALUES (1, 1, 2, 5, 6), (2, 2, 3, 5, -1), (3, 1, 3, 20, 20);
SELECT * FROM emogi_sssp('street', 3);

SELECT * FROM emogi_shortest_path('street', 3, 2);

CREATE TABLE person (id bigint PRIMARY KEY, name text);
INSERT INTO person VALUES (1, 'Ann'), (2, 'Bo'), (8, 'Cy'), (9, 'Di');
SELECT * FROM emogi_cc(emogi_with_vertices('follows', 'person(id)'));

CREATE TABLE trip (city text, line int, to_city text, to_line int, minutes int);
INSERT INTO trip VALUES ('Bonn', 1, 'Bonn', 2, 5), ('Bonn', 2, 'Cologne', 1, 20), ('Cologne', 1, 'Cologne', 2, 4), ('Cologne', 2, 'Bad Ems', 1, 70);
SELECT * FROM emogi_sssp('trip((city, line), (to_city, to_line), minutes)', '(Bonn,1)');

CREATE TYPE stop AS (city text, line int);
SELECT (vertex::stop).city, (vertex::stop).line, level
FROM emogi_bfs('trip((city, line), (to_city, to_line))', ROW('Bonn', 1)::text) ORDER BY level;

CREATE MATERIALIZED VIEW follows_rank AS SELECT * FROM emogi_pagerank('follows'::regclass);
CREATE VIEW followers AS SELECT * FROM emogi_bfs('follows', 4, columns => 'dst, src');
CREATE FUNCTION within(source bigint, hops int) RETURNS SETOF bigint STABLE
BEGIN ATOMIC SELECT vertex FROM emogi_bfs('follows'::regclass, source, hops); END;
SELECT * FROM followers;
