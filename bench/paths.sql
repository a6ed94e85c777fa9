-- emogi_shortest_path between random pairs of vertices of a large graph, compared with emogi_sssp
-- from the same sources.
--
--   psql -X -v edges=100000000 -v vertices=6250000 -f bench/paths.sql
--
-- Requires a database with the extension. Creates and drops the table emogi_bench_edges, random
-- edges with weights 1 .. 72, used with direction 'both'. The graph is cached first. 50 pairs with
-- and without weights, 5 full runs each; figures of emogi_runs in ms.
\set ON_ERROR_STOP on
\if :{?edges} \else \set edges 100000000 \endif
\if :{?vertices} \else \set vertices 6250000 \endif
\pset footer off
SET client_min_messages = warning;
SET jit = off;
DROP TABLE IF EXISTS emogi_bench_edges;
CREATE UNLOGGED TABLE emogi_bench_edges (src int, dst int, weight int);
INSERT INTO emogi_bench_edges
SELECT (hashint8extended(g, 1) & 9223372036854775807) % :vertices, (hashint8extended(g, 2) & 9223372036854775807) % :vertices,
	   1 + (hashint8extended(g, 3) & 9223372036854775807) % 72
FROM generate_series(1, :edges::bigint) g;
VACUUM (FREEZE, ANALYZE) emogi_bench_edges;
CREATE TEMP TABLE pairs AS
SELECT g AS n, (hashint8extended(g, 4) & 9223372036854775807) % :vertices AS a, (hashint8extended(g, 5) & 9223372036854775807) % :vertices AS b
FROM generate_series(1, 50) g;
CREATE TEMP TABLE timing (what text, steps bigint, edges bigint, run_ms float8, total_ms float8);

DO $$
DECLARE
	p record; graph text; steps bigint;
BEGIN
	FOREACH graph IN ARRAY ARRAY['emogi_bench_edges(src, dst)', 'emogi_bench_edges'] LOOP
		PERFORM emogi_shortest_path(graph, 0, 1, 'both');
		FOR p IN SELECT * FROM pairs ORDER BY n LOOP
			SELECT count(*) INTO steps FROM emogi_shortest_path(graph, p.a, p.b, 'both');
			INSERT INTO timing SELECT 'path, ' || graph, steps, edges_traversed, run_ms, total_ms
			FROM emogi_runs WHERE pid = pg_backend_pid() ORDER BY id DESC LIMIT 1;
		END LOOP;
		FOR p IN SELECT * FROM pairs WHERE n <= 5 ORDER BY n LOOP
			PERFORM max(distance) FROM emogi_sssp(graph, p.a, NULL, 'both');
			INSERT INTO timing SELECT 'all distances, ' || graph, NULL, edges_traversed, run_ms, total_ms
			FROM emogi_runs WHERE pid = pg_backend_pid() ORDER BY id DESC LIMIT 1;
		END LOOP;
	END LOOP;
END $$;
SELECT what, count(*) AS calls, round(avg(steps), 1) AS mean_steps, percentile_cont(0.5) WITHIN GROUP (ORDER BY edges)::bigint AS edges_looked_at,
	   round(percentile_cont(0.5) WITHIN GROUP (ORDER BY run_ms)::numeric, 2) AS run_ms, round(max(run_ms)::numeric, 2) AS worst_run_ms,
	   round(percentile_cont(0.5) WITHIN GROUP (ORDER BY total_ms)::numeric, 2) AS total_ms, round(max(total_ms)::numeric, 2) AS worst_total_ms
FROM timing GROUP BY what ORDER BY what DESC;
SELECT source, edges, pg_size_pretty(bytes) AS size, round(build_ms::numeric) AS build_ms FROM emogi_graphs WHERE source = 'emogi_bench_edges';
DROP TABLE emogi_bench_edges;
