-- The functions of examples/pictures.sql: shapes, limits, quoting, keys of all types, and the edges
-- that plain SQL finds.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS emogi;
CREATE SCHEMA test_pictures;
SET search_path = test_pictures, public;
\set ECHO none
\i examples/pictures.sql
\i examples/pictures.sql
\set ECHO all
RESET client_min_messages;

-- Columns, with the names and types required by Grafana.
SELECT p.proname, a.name, format_type(a.type, NULL) AS type
FROM pg_proc AS p, unnest(p.proargnames, p.proallargtypes, p.proargmodes) WITH ORDINALITY AS a(name, type, mode, nth)
WHERE p.pronamespace = 'test_pictures'::regnamespace AND p.proname LIKE 'emogi_grafana_%' AND a.mode = 't' AND p.proargtypes[1] = 'bigint'::regtype
ORDER BY 1, nth;

-- Every function has a form for each type of sources.
SELECT proname, string_agg(format_type(proargtypes[1], NULL), ', ' ORDER BY format_type(proargtypes[1], NULL))
FROM pg_proc WHERE pronamespace = 'test_pictures'::regnamespace AND proname IN ('emogi_dot', 'emogi_grafana_nodes', 'emogi_grafana_edges') GROUP BY proname ORDER BY proname;

CREATE TABLE edge (src bigint, dst bigint, weight float8);
INSERT INTO edge VALUES (1, 2, 1.5), (1, 3, 0.1), (2, 4, 2), (3, 4, 1), (4, 5, 1e15), (6, 1, 3), (1, 1, 0.5), (1, 2, 1.25), (10, 1, 'Infinity'), (NULL, 1, 1), (7, 8, 1);
CREATE INDEX ON edge (src);
SELECT * FROM emogi_grafana_nodes('edge', 1);
SELECT * FROM emogi_grafana_edges('edge', 1);
\pset format unaligned
\pset tuples_only on
SELECT emogi_dot('edge', 1);
SELECT emogi_dot('edge', 1, max_vertices => 3, max_edges => 2, directed => false);
SELECT emogi_dot('edge', 99);
SELECT emogi_dot('edge', NULL::bigint);

-- Texts with a special meaning in Graphviz.
CREATE TABLE awkward (src text, dst text);
INSERT INTO awkward VALUES ('plain', 'a "quoted" one'), ('plain', 'back\slash\n'), ('plain', E'two\nlines\r\nthree'), ('plain', '&lt; <b> &'), ('plain', ''), ('plain', '{a|b}'),
    ('plain', repeat('x', 70)), ('plain', 'ends with \'), ('plain', E'not \x01\x08\x0b\x0c\x0e\x1f\ufffe\uffff in XML\t');
SELECT line FROM regexp_split_to_table(emogi_dot('awkward', 'plain'), '\n') AS line WHERE line LIKE '  n_ %label%' OR line LIKE '  n_ -> %';
\pset tuples_only off
\pset format aligned

-- Within a sum of weights; from several sources; in one direction; without weights; with an array
-- as text.
SELECT id, mainstat FROM emogi_grafana_nodes('edge', 1, max_distance => 1.5);
SELECT id, mainstat FROM emogi_grafana_nodes('edge', ARRAY[5, 6], max_depth => 1);
SELECT id, mainstat FROM emogi_grafana_nodes('edge', '{5,6}', max_depth => 1, direction => 'out');
SELECT id, source, target, mainstat FROM emogi_grafana_edges('edge(src, dst)', 4, max_depth => 1);

-- A limit: the nearest of 6 reachable vertices; with a single message.
SELECT id, subtitle, arc__drawn, arc__beyond FROM emogi_grafana_nodes('edge', 1, max_vertices => 2);
SELECT id, subtitle, round(arc__drawn::numeric, 2) AS arc__drawn FROM emogi_grafana_nodes('edge', 1, max_edges => 1);
SELECT id, subtitle FROM emogi_grafana_nodes('edge', 1, max_vertices => 7, names => 'SELECT 3, ''three'' UNION ALL SELECT 3, ''drei'' UNION ALL SELECT 1, NULL');

-- Keys of other types.
CREATE TABLE uuids AS SELECT ('00000000-0000-0000-0000-00000000000' || a)::uuid AS src, ('00000000-0000-0000-0000-00000000000' || b)::uuid AS dst FROM (VALUES (1, 2), (2, 3)) AS v(a, b);
SELECT right(source, 1) AS source, right(target, 1) AS target FROM emogi_grafana_edges('uuids', '00000000-0000-0000-0000-000000000001'::uuid);
CREATE TABLE numbers (src numeric, dst numeric, cost int);
INSERT INTO numbers VALUES (1.0, 2, 7), (2.00, 3.5, 8), (1, 3.50, 9);
SELECT * FROM emogi_grafana_edges('numbers', '1');
CREATE TABLE trip (city text, line int, to_city text, to_line int, minutes int);
INSERT INTO trip VALUES ('Bonn', 1, 'Bonn', 2, 5), ('Bonn', 2, 'Bad Ems', 1, 20);
SELECT source, target, mainstat FROM emogi_grafana_edges('trip((city, line), (to_city, to_line), minutes)', '(Bonn,1)');
CREATE TABLE street (id int, source int, target int, cost float8, reverse_cost float8);
INSERT INTO street VALUES (1, 1, 2, 5, 6), (2, 2, 3, 5, -1);
SELECT source, target, mainstat FROM emogi_grafana_edges('street', 1) ORDER BY 1, 2;
SELECT source, target, mainstat FROM emogi_grafana_edges('SELECT src, dst, 2 * weight AS weight FROM edge WHERE src = 1', 1) ORDER BY 1, 2, 3;

CREATE TABLE padded (src char(5), dst char(5), weight int);
INSERT INTO padded VALUES ('ab', 'cde', 1), ('cde', 'a', 2), ('a', 'ab', 3);
SELECT id, title, mainstat, secondarystat, arc__drawn FROM emogi_grafana_nodes('padded', 'ab', names => 'SELECT ''cde''::char(4), ''three letters''');
SELECT * FROM emogi_grafana_edges('padded', 'ab');
CREATE TABLE bits (src bit(4), dst bit(4));
INSERT INTO bits VALUES ('1010', '0001'), ('0001', '1011');
SELECT id, title, mainstat, secondarystat FROM emogi_grafana_nodes('bits', '1010', names => 'SELECT B''1011'', ''eleven''');
SELECT * FROM emogi_grafana_edges('bits', '1010');

-- Vertices without edges, of keys that are not texts; a graph with such vertices and edges.
SELECT id, secondarystat, arc__drawn, arc__beyond FROM emogi_grafana_nodes(emogi_with_vertices('edge', 'SELECT 77::bigint'), 77);
SELECT id, secondarystat FROM emogi_grafana_nodes(emogi_with_vertices('edge', 'SELECT 77::bigint'), 7);
SELECT * FROM emogi_grafana_edges(emogi_with_vertices('edge', 'SELECT 77::bigint'), 7);
SELECT * FROM emogi_grafana_edges(emogi_with_vertices('edge(src, dst)', 'SELECT 77::bigint'), 7);
SELECT * FROM emogi_grafana_edges(emogi_with_vertices('uuids', 'SELECT ''00000000-0000-0000-0000-000000000009''::uuid'), '00000000-0000-0000-0000-000000000003', max_depth => 1);
SELECT emogi_dot(emogi_with_vertices('edge', 'SELECT 77::bigint'), 77) LIKE '%label="77"%' AS drawn;

-- Queries with endings as in a file.
SELECT title FROM emogi_grafana_nodes('edge', 7, names => 'SELECT 7, ''seven'';') UNION SELECT title FROM emogi_grafana_nodes('edge', 7, names => 'SELECT 7, ''seven'' -- a comment') ORDER BY 1;
SELECT title FROM emogi_grafana_nodes('SELECT src, dst FROM edge; -- all', 7, names => E'SELECT 7, ''seven'' ; -- a comment\n -- another\n');
SELECT title FROM emogi_grafana_nodes('edge', 7, names => 'SELECT 7, ''seven; -- and''');

-- Random graphs: the drawing equals the edges that plain SQL finds within two hops.
CREATE TABLE random_edge AS SELECT (hashint4(i) & 63)::bigint AS src, (hashint4(i + 1000) & 63)::bigint AS dst, i AS weight FROM generate_series(1, 90) AS i;
CREATE VIEW reached AS
    WITH RECURSIVE either AS (SELECT src AS a, dst AS b FROM random_edge UNION SELECT dst, src FROM random_edge),
    r AS (SELECT s AS source, s AS vertex, 0 AS level FROM generate_series(0::bigint, 63) AS s WHERE s IN (SELECT a FROM either)
          UNION SELECT r.source, e.b, r.level + 1 FROM r JOIN either AS e ON e.a = r.vertex WHERE r.level < 2)
    SELECT source, vertex, min(level) AS level FROM r GROUP BY source, vertex;
SELECT count(*) > 500 AS many, count(*) FILTER (WHERE n.id IS NULL OR r.vertex IS NULL OR n.mainstat <> r.level) AS wrong
FROM (SELECT s, n.* FROM generate_series(0, 63) AS s, emogi_grafana_nodes('random_edge', s::bigint) AS n) AS n
    FULL JOIN reached AS r ON r.source = n.s AND r.vertex::text = n.id;
SELECT count(*) > 500 AS many, count(*) FILTER (WHERE n.mainstat IS NULL OR r.weight IS NULL) AS wrong
FROM (SELECT s, e.* FROM generate_series(0, 63) AS s, emogi_grafana_edges('random_edge', s::bigint) AS e) AS n
    FULL JOIN (SELECT a.source, e.* FROM random_edge AS e JOIN reached AS a ON a.vertex = e.src JOIN reached AS b ON b.vertex = e.dst AND b.source = a.source) AS r
    ON r.source = n.s AND r.weight = n.mainstat AND r.src::text = n.source AND r.dst::text = n.target;
-- The shares of a node's ring sum to 1, and are those of all edges.
SELECT bool_and(abs(arc__drawn + arc__beyond - 1) < 1e-9) AS whole, bool_and(secondarystat = (SELECT count(*) FROM random_edge WHERE id IN (src::text, dst::text))) AS degrees
FROM emogi_grafana_nodes('random_edge', 1);

\set SHOW_CONTEXT never
SELECT emogi_dot('edge', 1, max_depth => 1, max_distance => 1);
SELECT emogi_dot('edge', 1, max_vertices => 0);
SELECT emogi_dot('edge', 1, max_edges => -1);
SELECT emogi_dot('nothing', 1);
