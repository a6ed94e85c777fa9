-- Assumptions about unnamed columns, and the notices about them.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS emogi;
RESET client_min_messages;
CREATE SCHEMA test_guesses;
SET search_path = test_guesses, public;
SET emogi.engine = auto;
\pset format unaligned
\pset tuples_only on
CREATE TABLE rk (src int, dst int, km float8);
INSERT INTO rk VALUES (1, 2, 10), (2, 3, 5);
CREATE TABLE ev (src int, dst int, tenant_id int);
INSERT INTO ev VALUES (1, 2, 77);
CREATE TABLE calls (a int, b int, minutes int);
INSERT INTO calls VALUES (1, 2, 9);
CREATE FUNCTION far(graph text) RETURNS text LANGUAGE sql AS $$ SELECT string_agg(vertex || ':' || distance, ' ' ORDER BY vertex) FROM emogi_sssp(graph, 1) $$;
-- A relation and all of its columns are the same graph.
SELECT far('rk');
SELECT far('SELECT * FROM rk');
SELECT far('TABLE rk');
SELECT far('(SELECT r.* FROM rk AS r WHERE km > 0)');
SELECT far('ev');
SELECT far('SELECT * FROM ev');
SELECT far('TABLE ev UNION ALL TABLE ev');
SELECT far('SELECT * FROM (SELECT * FROM ev) AS q');
SELECT far('WITH ev AS (SELECT * FROM ev) SELECT * FROM ev');
SELECT far('SELECT rk.* FROM rk JOIN ev USING (src, dst)');
SELECT far('SELECT (r).* FROM rk AS r');
SELECT far('SELECT * FROM rk ORDER BY random()');
SELECT far('SELECT src, dst, km, 1 AS lanes FROM rk');
-- The third column written by the caller is the weight.
SELECT far('rk(src, dst, km)'), far('rk(src, dst)'), far('SELECT src, dst, km FROM rk'), far('SELECT src, dst, 2 * km FROM rk');
SELECT far('SELECT * FROM (SELECT src, dst, km FROM rk) AS q'), far('SELECT * FROM (SELECT * FROM rk) AS q (src, dst, km)'), far('SELECT * FROM rk AS r (src, dst, km)');
SELECT far('WITH r AS (SELECT src, dst, km FROM rk) TABLE r'), far('WITH r (src, dst, km) AS (TABLE rk) SELECT * FROM r'), far('WITH a AS (SELECT src, dst, km FROM rk), b AS (TABLE a) TABLE b');
SELECT far('SELECT * FROM (VALUES (1, 2, 3)) AS v (src, dst, x)'), far('VALUES (1, 2, 3)'), far('SELECT src, dst, km FROM rk UNION ALL TABLE rk');
SELECT far('SELECT src, dst FROM rk'), far('SELECT src, dst, 3 AS weight, km FROM rk');
-- Columns of a query are either all positional or all named.
SELECT far('TABLE calls');
SELECT far('SELECT a, b, minutes FROM calls');
-- Columns of other types, or with another meaning, are not possible weights.
CREATE TABLE seen (id int, src int, dst int, at date, kind text);
INSERT INTO seen VALUES (1, 1, 2, '2020-01-01', 'x');
SELECT far('seen'), far('SELECT * FROM seen'), far('SELECT src, dst, 3 AS vertex FROM seen');
-- Functions without weights print no notice, nor does EXPLAIN; others do once per statement.
SELECT count(*) FROM emogi_bfs('rk', 1);
SELECT count(*) FROM emogi_pagerank('SELECT * FROM rk');
EXPLAIN (COSTS off) SELECT * FROM emogi_sssp('rk', 1);
EXPLAIN (COSTS off) SELECT * FROM emogi_sssp('SELECT * FROM rk', 1);
SELECT count(*) FROM generate_series(1, 3) AS i, LATERAL emogi_sssp('rk', i);
SELECT far('rk'), far('ev'), far('TABLE calls');
SELECT count(*) FROM emogi_pagerank('rk', weights => true);
SELECT (emogi_check('rk', weights => true)).ok;
-- The column order of pgRouting.
CREATE TABLE roads (id int, a int, b bigint, km float8, km_back float8);
INSERT INTO roads VALUES (7, 1, 2, 3, 4);
SELECT far('roads(id, a, b)');
SELECT far('roads(id, a, b, km)');
SELECT far('roads(id, a, b, km, km_back)');
SELECT count(*) FROM emogi_bfs('roads(id, a, b, km)', 1);
SELECT count(*) FROM emogi_bfs('roads'::regclass, 1, columns => 'id, a, b, km');
SELECT far('roads(a, b, km, id)'), far('roads(id, a)');
SELECT vertex, distance FROM emogi_sssp('roads(id, a, km)', 7);
-- Names of edges that cannot be vertices.
CREATE TABLE named (id text, src int, dst int, cost int);
INSERT INTO named VALUES ('x', 1, 2, 3), ('y', 2, 3, 3);
SELECT * FROM emogi_shortest_path('named', 1, 3);
SELECT * FROM emogi_shortest_path('SELECT * FROM named', 1, 3);
SELECT vertex FROM emogi_shortest_path('named', 1, 3);
SELECT * FROM emogi_shortest_path('named', '1', '3');
SELECT * FROM emogi_shortest_path('named(src, dst, cost, id)', 1, 3);
-- A graph with additional vertices has the same weight as alone, and the same notice.
SELECT seq, vertex, distance FROM emogi_shortest_path(emogi_with_vertices('rk', 'VALUES (9)'), 1, 3);
SELECT * FROM emogi_sssp(emogi_with_vertices('rk(src, dst, km)', 'VALUES (9)'), 1);
SELECT * FROM emogi_sssp(emogi_with_vertices('rk(src, dst)', 'VALUES (9)'), 1);
SELECT * FROM emogi_sssp(emogi_with_vertices('SELECT * FROM rk', 'VALUES (9)'), 1);
SELECT * FROM emogi_sssp(emogi_with_vertices('SELECT src, dst, km FROM rk', 'VALUES (9)'), 1);
SELECT * FROM emogi_sssp(emogi_with_vertices('SELECT * FROM (SELECT src AS a, dst AS b, km FROM rk OFFSET 0) AS q', 'VALUES (9)'), 1);
CREATE TABLE calls_of AS SELECT src AS a, dst AS b, km AS minutes FROM rk;
SELECT * FROM emogi_sssp(emogi_with_vertices('TABLE calls_of', 'VALUES (9)'), 1);
SELECT * FROM emogi_sssp(emogi_with_vertices(emogi_with_vertices('rk', 'VALUES (9)'), 'VALUES (8)'), 1);
-- Not by functions without weights, and not when it no longer applies.
SELECT * FROM emogi_bfs(emogi_with_vertices('rk', 'VALUES (9)'), 1);
SELECT emogi_with_vertices('rk', 'VALUES (9)') AS graph \gset
SELECT * FROM emogi_sssp(:'graph', 1);
ALTER TABLE rk RENAME TO rk_old;
CREATE TABLE rk AS SELECT src, dst FROM rk_old;
SELECT emogi_with_vertices('rk', 'VALUES (9)') = :'graph' AS same;
SELECT * FROM emogi_sssp(emogi_with_vertices('rk', 'VALUES (9)'), 1);
DROP TABLE rk;
ALTER TABLE rk_old RENAME TO rk;
-- The column order of pgRouting is an error there, too.
SELECT * FROM emogi_sssp(emogi_with_vertices('roads(id, a, b, km)', 'VALUES (9)'), 1);
-- An array passed as text.
CREATE TABLE people (src text, dst text);
INSERT INTO people VALUES ('alice', 'bob'), ('{odd}', 'bob');
SELECT * FROM emogi_bfs('people', '{alice,dave}');
SELECT * FROM emogi_bfs('SELECT src, dst FROM people', '{alice,dave}', 1);
SELECT count(*) FROM emogi_pagerank_text('people'), LATERAL emogi_sssp('people(src, dst)', '{alice}');
SELECT * FROM emogi_bfs('people', '{alice,dave}'::text[]);
SELECT p, vertex FROM unnest(ARRAY['alice', '{odd}', 'nobody']) AS p, LATERAL emogi_bfs('people', p, 0) ORDER BY 1;
SELECT p, vertex FROM unnest(ARRAY['alice', '{alice}']) AS p, LATERAL emogi_bfs('people', p, 0);
SET emogi.enable_batch = off;
SELECT p, vertex FROM unnest(ARRAY['alice', '{alice}']) AS p, LATERAL emogi_bfs('people', p, 0);
RESET emogi.enable_batch;
SELECT source, target, seq FROM emogi_shortest_paths('people', ARRAY['{x}'], ARRAY['bob']);
SELECT * FROM emogi_bfs('people', '{odd}');
-- Functions with a single source report that, and name the argument.
SELECT * FROM emogi_shortest_path('people', '{alice,dave}', 'bob');
SELECT * FROM emogi_shortest_path('people', 'alice', '{"bob"}');
SELECT * FROM emogi_shortest_path('people', '{dave}', 'bob');
SELECT * FROM emogi_shortest_path('people', 'alice', '{dave}');
SELECT seq, vertex FROM emogi_shortest_path('people', '{odd}', 'bob');
SELECT seq, vertex FROM emogi_shortest_path('people', 'nobody', 'bob');
SELECT path_id, seq FROM emogi_k_shortest_paths('people', '{alice,dave}', 'bob', 2);
SELECT * FROM emogi_cycles('people', '{alice,dave}');
SELECT * FROM emogi_cycles('people', '{dave}');
SELECT * FROM emogi_cycles('people', '{odd}');
SELECT * FROM emogi_cycles('people', 'nobody');
SELECT * FROM emogi_bfs('people', ARRAY['{x}']);
SELECT * FROM emogi_bfs('people', '{x');
SET emogi.notice_missing_source = on;
SELECT * FROM emogi_bfs('people', '{x');
SELECT * FROM emogi_bfs('people', ARRAY['{x}']);
SET client_min_messages = warning;
DROP SCHEMA test_guesses CASCADE;
