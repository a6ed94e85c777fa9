-- Messages about graphs, keys and sources that are invalid as given.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS emogi;
RESET client_min_messages;
CREATE SCHEMA test_hints;
CREATE SCHEMA "test hints";
SET search_path = test_hints, public;
\pset format unaligned
\pset tuples_only on

CREATE TABLE edges (src int, dst int);
INSERT INTO edges VALUES (1, 2), (2, 3);
CREATE TABLE "Follows" (src int, dst int);
CREATE TABLE "my friends" (src int, dst int);
CREATE TABLE "my-links" (src int, dst int);
CREATE TABLE "1st" (src int, dst int);
CREATE TABLE "test hints"."Who" (src int, dst int);
CREATE FUNCTION message(graph text, OUT state text, OUT message text, OUT hint text) LANGUAGE plpgsql AS $$
BEGIN
  PERFORM emogi_sssp(graph, 1);
  state := 'no error';
EXCEPTION WHEN OTHERS THEN
  GET STACKED DIAGNOSTICS state = RETURNED_SQLSTATE, message = MESSAGE_TEXT, hint = PG_EXCEPTION_HINT;
END $$;

-- Names: unquoted names that need quotes, misspelt ones, others.
SELECT graph, m.* FROM unnest(ARRAY['Follows', 'follows', 'Follows(src, dst)', 'test_hints.Follows', ' Follows ', 'my friends', 'my-links', 'my-links(src, dst)', 'test_hints.my-links', '1st',
  'test hints.Who', 'edge', 'EGDES', 'edges_', 'edges2024(src, dst)', 'test_hints.edge', 'nowhere.edges', 'of_hints', 'x y', 'my-link', 'Edges', '"Follows"', '"my friends"', 'test_hints."my-links"', '"test hints"."Who"']) AS graph,
  message(graph) m;
-- A schema without the privilege is not inspected.
CREATE ROLE regress_emogi_hints;
GRANT USAGE ON SCHEMA test_hints TO regress_emogi_hints;
SET emogi.engine = cpu;
SET ROLE regress_emogi_hints;
SELECT graph, m.* FROM unnest(ARRAY['test hints.Who', '"test hints".who', '"test hints"."Who"']) AS graph, message(graph) m;
EXPLAIN (COSTS OFF) SELECT vertex FROM emogi_cc('"test hints"."Who"');
EXPLAIN (COSTS OFF) SELECT vertex FROM emogi_cc('"test hints".nowhere');
RESET ROLE;
RESET emogi.engine;
-- A relation outside search_path, as while a dump is restored.
CREATE TABLE "test hints".roads_elsewhere (src int, dst int);
SELECT * FROM message('roads_elsewhere');
SET ROLE regress_emogi_hints;
SELECT * FROM message('roads_elsewhere');
RESET ROLE;
DROP OWNED BY regress_emogi_hints;
DROP ROLE regress_emogi_hints;

-- A WITH query around the call is not visible in it, nor is a parameter.
\set VERBOSITY default
WITH of_hints AS (SELECT 1 AS src, 2 AS dst) SELECT * FROM emogi_bfs('of_hints', 1);
SELECT * FROM emogi_bfs('SELECT src, dst FROM edges WHERE src > $1', 1);
SELECT * FROM emogi_heat('edges', 'SELECT $1, 2');
PREPARE p(int) AS SELECT string_agg(vertex::text, ' ') FROM emogi_bfs(format('SELECT src, dst FROM edges WHERE src > %L', $1), 2);
EXECUTE p(1);


-- Misspelt columns, including a weight.
CREATE TABLE roads (src int, dst int, length real);
SELECT * FROM emogi_sssp('roads(src, dts)', 1);
SELECT * FROM emogi_sssp('roads(src, dst, lenght)', 1);
SELECT * FROM emogi_sssp('roads(src, dst, km)', 1);
SELECT * FROM emogi_sssp('roads((src, src), (dst, dts), length)', 1);
CREATE TABLE half (src int, target int);
SELECT * FROM emogi_sssp('half', 1);
-- Names instead of a query.
SELECT * FROM emogi_heat('edges', 'edges');
SELECT * FROM emogi_similarity('edges', pairs => 'test_hints.edges(src, dst)');
SELECT * FROM emogi_modularity('edges', communities => 'edges');
-- Missing weights.
SELECT * FROM emogi_pagerank('edges', weights => true);
SELECT * FROM emogi_random_walk('SELECT src, dst FROM edges', 1, weights => true);

-- Keys that are not integers.
CREATE TABLE uuids (id serial, src uuid, dst uuid);
CREATE TABLE texts (src text, "To" text);
INSERT INTO texts VALUES ('a', 'b'), ('b', 'c');
CREATE TABLE numbers (src numeric, dst int);
SELECT * FROM emogi_bfs('uuids', 1);
SELECT * FROM emogi_bfs('texts(src, "To")', 1);
SELECT * FROM emogi_bfs('numbers', 1);
SELECT * FROM emogi_bfs('SELECT src, dst FROM uuids', 1);
SELECT * FROM emogi_bfs('SELECT src, dst FROM numbers', 1);
-- Following the hint.
CREATE TABLE vertices AS SELECT key, row_number() OVER () AS id FROM (SELECT src FROM texts UNION SELECT "To" FROM texts) AS keys (key);
SELECT string_agg(key || ':' || level, ' ' ORDER BY level)
  FROM emogi_bfs('SELECT a.id, b.id FROM texts AS e JOIN vertices AS a ON a.key = e.src JOIN vertices AS b ON b.key = e."To"', (SELECT id FROM vertices WHERE key = 'a')) JOIN vertices ON id = vertex;

-- EXPLAIN reports that the relation does not exist.
SET emogi.engine = cpu;
EXPLAIN (COSTS OFF) SELECT * FROM emogi_bfs('nowhere', 1);
EXPLAIN (COSTS OFF) SELECT * FROM emogi_bfs('nowhere.edges(src, dst)', 1);
EXPLAIN (COSTS OFF) SELECT * FROM emogi_bfs('edges', 1);
EXPLAIN (COSTS OFF) SELECT * FROM emogi_bfs('SELECT 1, 2', 1);
EXPLAIN (COSTS OFF) SELECT * FROM emogi_bfs('my friends', 1);
RESET emogi.engine;

-- A source that is not a vertex of the graph: no rows, and a notice if enabled, one per statement.
CREATE TABLE empty (src int, dst int);
SELECT * FROM emogi_bfs('edges', 7);
SET emogi.notice_missing_source = on;
SELECT * FROM emogi_bfs('edges', 7);
SELECT count(*) FROM emogi_bfs('edges', ARRAY[1, 8, 9]);
SELECT * FROM emogi_bfs('edges', '{7}') WHERE level < 5;
SELECT * FROM emogi_sssp('SELECT src, dst FROM edges', 7);
SELECT * FROM emogi_ssnsp('empty', 7);
SELECT * FROM emogi_shortest_path('edges', 7, 1);
SELECT * FROM emogi_shortest_path('edges', 1, 7);
SELECT * FROM emogi_shortest_path('empty', 1, 7);
SELECT * FROM emogi_shortest_paths('edges', ARRAY[1, 8], ARRAY[9]);
SELECT * FROM emogi_shortest_paths('edges', ARRAY[1], ARRAY[7, 9]);
SELECT * FROM emogi_shortest_paths('edges', 'VALUES (1, 7)');
SELECT * FROM emogi_shortest_paths('empty', ARRAY[1], ARRAY[7]);
SELECT emogi_bfs('edges', 7);
SELECT count(*) FROM generate_series(1, 200) i, LATERAL emogi_bfs('edges', i);
SELECT count(*) FROM generate_series(1, 200) i, LATERAL emogi_sssp('edges', i);
SELECT count(*) FROM generate_series(7, 9) i, LATERAL emogi_bfs('empty', i);
SELECT count(*) FROM (SELECT emogi_bfs('edges', i) FROM generate_series(7, 9) i) x;
-- Nothing is missing here.
SELECT count(*) FROM emogi_bfs('edges', 3);
SELECT count(*) FROM emogi_bfs('edges', NULL);
SELECT count(*) FROM emogi_bfs('edges', '{}');
SELECT count(*) FROM emogi_bfs('edges', 1) WHERE vertex = 7;
SELECT count(*) FROM emogi_cc('empty');
SELECT count(*) FROM emogi_shortest_path('edges', 7, NULL);
RESET emogi.notice_missing_source;

-- Arguments that a function does not have: the correct name, equal endpoints, a query of pairs or
-- of start values.
SELECT emogi_shortest_path('e', 1, ARRAY[4, 5]);
SELECT emogi_max_flow('e', 1, ARRAY[3]);
SELECT emogi_min_cut('e', ARRAY[3], 1);
SELECT * FROM emogi_distance_matrix('e', ARRAY[1], 5);
SELECT * FROM emogi_reachable('e', 1, 5);
SELECT * FROM emogi_pagerank('e', start => ARRAY[1, 2]);
SELECT * FROM emogi_bfs('e', 1, depth => 2);
SELECT * FROM emogi_bfs('e', sources => ARRAY[1]);
SELECT emogi_max_flow('e', 1, sink => 3);
SELECT * FROM emogi_bfs('e', 1, whatever_this_may_be => 3);
SELECT * FROM emogi_bfs('e', 1, max_depth => 2, 3, 4);
SELECT * FROM emogi_bfs('e', now());
SELECT emogi_max_flow('e', '{1,2}', 3);
SELECT emogi_min_cut('e', 1, '3a');
SELECT emogi_max_flow(1, 3, 'fl');
SELECT 'x'::bigint, emogi_max_flow('e', 1, 2);

-- Parameters of functions without a graph; a second argument that is not a vertex; names of one
-- letter.
SELECT * FROM emogi_query('SELECT $1', parms => 'x');
SELECT * FROM emogi_pages('e', pages => 3);
SELECT * FROM emogi_similarity('e', 'jaccard', 'ten'::text);
SELECT * FROM emogi_pagerank('e', k => 1);
SELECT * FROM emogi_bfs('e', 1, d => 1);
