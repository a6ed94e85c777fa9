-- Functions for many pairs of vertices, with few pairs, compared with emogi_shortest_path in a
-- LATERAL join.
--
--   psql -X -v edges=1000000 -v vertices=200000 [-v pairs=off] [-v turns=5] -f bench/pairs.sql
--
-- pairs=off: only pairs with a common source or target. Requires a database with the extension, and
-- a superuser, because emogi.fault makes the batch answer all pairs. Creates and drops the table
-- emogi_bench_edges, random edges with weights 1 .. 10. Graphs are cached first. The three methods
-- run in turn, `turns` times each. Prints medians in ms of the whole statements.
\set ON_ERROR_STOP on
\if :{?edges} \else \set edges 1000000 \endif
\if :{?vertices} \else \set vertices 200000 \endif
\if :{?pairs} \else \set pairs on \endif
\if :{?turns} \else \set turns 5 \endif
\pset footer off
SET client_min_messages = warning;
SET jit = off;
SET emogi.enable_contraction = off;
DROP TABLE IF EXISTS emogi_bench_edges;
CREATE UNLOGGED TABLE emogi_bench_edges (src int, dst int, weight float8);
INSERT INTO emogi_bench_edges
SELECT (hashint8extended(g, 1) & 9223372036854775807) % :vertices, (hashint8extended(g, 2) & 9223372036854775807) % :vertices,
	   1 + 9 * ((hashint8extended(g, 3) & 4294967295) / 4294967296.0)
FROM generate_series(1, :edges::bigint) g;
VACUUM (FREEZE, ANALYZE) emogi_bench_edges;
CREATE TEMP TABLE timing (way text, asked text, n int, ms float8);

CREATE FUNCTION pg_temp.take(way text, asked text, n int, statement text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
	began timestamptz;
BEGIN
	PERFORM set_config('emogi.fault', CASE way WHEN 'batch' THEN 'pair_edges=0' ELSE '' END, false);
	began := clock_timestamp();
	EXECUTE statement;
	INSERT INTO timing VALUES (way, asked, n, extract(epoch FROM clock_timestamp() - began) * 1000);
END $$;

CREATE FUNCTION pg_temp.take_all(turns int, with_pairs bool) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
	plain text := 'emogi_bench_edges(src, dst)';
	weighted text := 'emogi_bench_edges';
	way text;
	graph text;
	what text;
	statement text;
	size int;
	few int;
BEGIN
	FOREACH graph IN ARRAY ARRAY[plain, weighted] LOOP
		PERFORM count(*) FROM emogi_shortest_path(graph, 0, 1);
	END LOOP;
	FOR turn IN 1 .. turns LOOP
		FOREACH size IN ARRAY ARRAY[1, 2, 5, 10, 20, 50, 100, 500] LOOP
			few := ceil(sqrt(size));
			FOREACH what IN ARRAY ARRAY['reachable', 'shortest_paths, pairs', 'distance_matrix', 'shortest_paths, one source', 'shortest_paths, one target', 'reachable, one source', 'distance_matrix, one source'] LOOP
				CONTINUE WHEN what IN ('reachable', 'shortest_paths, pairs', 'distance_matrix') AND NOT (with_pairs AND size IN (1, 10, 50, 100));
				CONTINUE WHEN what = 'shortest_paths, one target' AND size > 50;
				FOREACH way IN ARRAY ARRAY['function', 'batch', 'LATERAL'] LOOP
					statement := CASE
						WHEN what = 'reachable' AND way = 'LATERAL' THEN
							format('SELECT count(*) FROM generate_series(1, %s) i WHERE EXISTS (SELECT FROM emogi_shortest_path(%L, i, i + 7))', size, plain)
						WHEN what = 'reachable' THEN
							format('SELECT count(*) FROM emogi_reachable(%L, ''SELECT i, i + 7 FROM generate_series(1, %s) i'') WHERE reachable', plain, size)
						WHEN what = 'shortest_paths, pairs' AND way = 'LATERAL' THEN
							format('SELECT count(*) FROM generate_series(1, %s) i, emogi_shortest_path(%L, i, i + 7)', size, weighted)
						WHEN what = 'shortest_paths, pairs' THEN
							format('SELECT count(*) FROM emogi_shortest_paths(%L, ''SELECT i, i + 7 FROM generate_series(1, %s) i'')', weighted, size)
						WHEN what = 'shortest_paths, one source' AND way = 'LATERAL' THEN
							format('SELECT count(*) FROM generate_series(1, %s) i, emogi_shortest_path(%L, 5, i + 7)', size, weighted)
						WHEN what = 'shortest_paths, one source' THEN
							format('SELECT count(*) FROM emogi_shortest_paths(%L, ''SELECT 5, i + 7 FROM generate_series(1, %s) i'')', weighted, size)
						WHEN what = 'shortest_paths, one target' AND way = 'LATERAL' THEN
							format('SELECT count(*) FROM generate_series(1, %s) i, emogi_shortest_path(%L, i + 7, 5)', size, weighted)
						WHEN what = 'shortest_paths, one target' THEN
							format('SELECT count(*) FROM emogi_shortest_paths(%L, ''SELECT i + 7, 5 FROM generate_series(1, %s) i'')', weighted, size)
						WHEN what = 'reachable, one source' AND way = 'LATERAL' THEN
							format('SELECT count(*) FROM generate_series(1, %s) i WHERE EXISTS (SELECT FROM emogi_shortest_path(%L, 5, i + 7))', size, plain)
						WHEN what = 'reachable, one source' THEN
							format('SELECT count(*) FROM emogi_reachable(%L, ''SELECT 5, i + 7 FROM generate_series(1, %s) i'') WHERE reachable', plain, size)
						WHEN what = 'distance_matrix, one source' AND way = 'LATERAL' THEN
							format('SELECT max(distance) FROM generate_series(1, %s) i, emogi_shortest_path(%L, 5, i + 7)', size, weighted)
						WHEN what = 'distance_matrix, one source' THEN
							format('SELECT max(distance) FROM emogi_distance_matrix(%L, ARRAY[5], ARRAY(SELECT generate_series(8, 7 + %s)))', weighted, size)
						WHEN way = 'LATERAL' THEN
							format('SELECT max(distance) FROM generate_series(1, %s) i, generate_series(1, %s) j, emogi_shortest_path(%L, i, j + 1000)', few, few, weighted)
						ELSE
							format('SELECT max(distance) FROM emogi_distance_matrix(%L, ARRAY(SELECT generate_series(1, %s)), ARRAY(SELECT generate_series(1001, 1000 + %s)))', weighted, few, few)
					END;
					PERFORM pg_temp.take(way, what, CASE what WHEN 'distance_matrix' THEN few * few ELSE size END, statement);
				END LOOP;
			END LOOP;
		END LOOP;
	END LOOP;
END $$;
SELECT pg_temp.take_all(:turns, :'pairs');

SELECT asked, n AS pairs, round(percentile_cont(0.5) WITHIN GROUP (ORDER BY ms) FILTER (WHERE way = 'function')::numeric, 2) AS "function",
	   round(percentile_cont(0.5) WITHIN GROUP (ORDER BY ms) FILTER (WHERE way = 'batch')::numeric, 2) AS "batch alone",
	   round(percentile_cont(0.5) WITHIN GROUP (ORDER BY ms) FILTER (WHERE way = 'LATERAL')::numeric, 2) AS "LATERAL"
FROM timing GROUP BY asked, n ORDER BY asked, n;
DROP TABLE emogi_bench_edges;
