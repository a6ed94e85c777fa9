-- The execution method of calls: EXPLAIN (VERBOSE) before a call shows the same as emogi_runs after
-- it, with the same reason.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS emogi;
CREATE SCHEMA test_answers;
SET search_path = test_answers, public;
SET emogi.engine = cpu;
SET emogi.enable_cache = on;
\pset format unaligned
\pset tuples_only on
\pset null '(null)'

-- A grid of 100 x 100 with long paths, and a table that can be searched by index.
CREATE TABLE grid AS
  SELECT g AS src, n AS dst, 1 + (g * 7919 + n * 31) % 997 / 100.0::float8 AS weight
  FROM generate_series(0, 9999) g, LATERAL (VALUES (g + 1, g % 100 < 99), (g - 1, g % 100 > 0), (g + 100, g < 9900), (g - 100, g >= 100)) v(n, is_edge)
  WHERE is_edge;
CREATE TABLE wide (src bigint, dst bigint);
INSERT INTO wide SELECT g / 4, (g * 7919) % 100000 FROM generate_series(1, 200000) g;
CREATE INDEX ON wide (src);
ANALYZE grid;
ANALYZE wide;

-- The line of EXPLAIN, and after execution the engine, the reason and the rows.
CREATE FUNCTION forecast(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE line text;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (VERBOSE, COSTS OFF) ' || query LOOP
		IF line ~ 'Answered By' THEN RETURN trim(line); END IF;
	END LOOP;
	RETURN 'no forecast';
END $$;
CREATE PROCEDURE compare(query text) LANGUAGE plpgsql AS $$
DECLARE said text := forecast(query); run record; answerers text[];
BEGIN
	EXECUTE query;
	SELECT r.engine, r.reason INTO run FROM emogi_runs r WHERE pid = pg_backend_pid() ORDER BY id DESC LIMIT 1;
	RAISE WARNING '%', query;
	RAISE WARNING '    %', said;
	RAISE WARNING '    engine %, reason %, %', run.engine, run.reason,
		CASE WHEN run.reason IS NULL THEN 'the last of them' WHEN strpos(said, run.reason) > 0 THEN 'as forecast' ELSE 'NOT as forecast' END;
END $$;

\set VERBOSITY terse
-- no graph yet
CALL compare($$SELECT * FROM emogi_bfs('wide', 7, 2)$$);
SET emogi.enable_index_search = off;
CALL compare($$SELECT * FROM emogi_bfs('wide', 7, 2)$$);
CALL compare($$SELECT * FROM emogi_bfs('wide', 7)$$);
SET emogi.enable_local_search = off;
CALL compare($$SELECT * FROM emogi_bfs('wide', 7, 2)$$);
RESET emogi.enable_local_search;
RESET emogi.enable_index_search;
-- degrees of given vertices, counted over indexes, and similarities of given pairs, in a graph of the edges around these
SELECT emogi_evict() > 0 AS evicted;
CREATE PROCEDURE compare_graph(query text) LANGUAGE plpgsql AS $$
DECLARE line text; said text;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
		said := coalesce(substring(line FROM 'Graph: .*'), said);
	END LOOP;
	EXECUTE query;
	RAISE WARNING '%', query;
	RAISE WARNING '    %; run: %', said, (SELECT cache FROM emogi_runs WHERE pid = pg_backend_pid() ORDER BY id DESC LIMIT 1);
END $$;
CALL compare($$SELECT * FROM emogi_degree('wide') WHERE vertex = 7$$);
CALL compare($$SELECT * FROM emogi_degree('wide') WHERE vertex = ANY ('{7, 8}')$$);
CALL compare_graph($$SELECT * FROM emogi_degree('wide') WHERE vertex = 7$$);
CALL compare_graph($$SELECT * FROM emogi_similarity('wide', pairs => 'VALUES (7, 8), (9, 10)')$$);
SET plan_cache_mode = force_generic_plan;
PREPARE pairs(text) AS SELECT * FROM emogi_similarity('wide', pairs => $1);
CALL compare_graph($$EXECUTE pairs('VALUES (7, 8), (9, 10)')$$);
DEALLOCATE pairs;
RESET plan_cache_mode;
SET emogi.enable_index_search = off;
CALL compare($$SELECT * FROM emogi_degree('wide') WHERE vertex = 7$$);
SELECT emogi_evict() > 0 AS evicted;
CALL compare_graph($$SELECT * FROM emogi_similarity('wide', pairs => 'VALUES (7, 8), (9, 10)')$$);
RESET emogi.enable_index_search;
-- components, from the second call on derived from those of the first
CALL compare($$SELECT * FROM emogi_cc('grid')$$);
CALL compare($$SELECT * FROM emogi_cc('grid')$$);
CALL compare($$SELECT * FROM emogi_cc('grid') WHERE vertex = 17$$);
SET emogi.enable_local_search = off;
CALL compare($$SELECT * FROM emogi_cc('grid')$$);
RESET emogi.enable_local_search;
-- rows of a few vertices: with few edges, and in a component that is the whole graph
CALL compare($$SELECT * FROM emogi_triangles('grid') WHERE vertex = 17$$);
CALL compare($$SELECT * FROM emogi_articulation_points('grid') WHERE vertex IN (17, 18)$$);
CALL compare($$SELECT * FROM emogi_core('grid') WHERE vertex = 17$$);
CALL compare($$SELECT * FROM emogi_triangles('grid')$$);
-- a short path, a long path, and a path by a hierarchy
CALL compare($$SELECT * FROM emogi_shortest_path('grid', 0, 2)$$);
SET emogi.enable_contraction = off;
CALL compare($$SELECT * FROM emogi_shortest_path('grid', 0, 9999)$$);
RESET emogi.enable_contraction;
SET emogi.contraction_min_calls = 0;
SELECT count(*) FROM emogi_shortest_path('grid', 0, 9999);
SELECT count(*) FROM emogi_shortest_path('grid', 1, 9998);
CALL compare($$SELECT * FROM emogi_shortest_path('grid', 2, 9997)$$);
CALL compare($$SELECT * FROM emogi_shortest_path('grid', 0, 2)$$);
RESET emogi.contraction_min_calls;
-- the whole graph
CALL compare($$SELECT * FROM emogi_pagerank('grid')$$);
CALL compare($$SELECT * FROM emogi_sssp('grid', 0)$$);
CALL compare($$SELECT * FROM emogi_sssp('grid', 0) WHERE distance < 4$$);

DROP SCHEMA test_answers CASCADE;
