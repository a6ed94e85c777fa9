-- Warm emogi_bfs on a cached graph: cost of a call beyond the traversal and its rows.
--
--   psql -X -v edges=20000000 -v vertices=1250000 -f bench/warm_bfs.sql
--
-- Requires a database with the extension. Creates and drops the table emogi_bench_edges. Eleven
-- calls after a warm-up; figures are medians. statement is the elapsed time of SELECT count(*),
-- including PostgreSQL's own counting; the others are those of emogi_runs. Target: total <= 1.3 *
-- (run + rows).
\set ON_ERROR_STOP on
\if :{?edges} \else \set edges 20000000 \endif
\if :{?vertices} \else \set vertices 1250000 \endif
\pset footer off
SET client_min_messages = warning;
DROP TABLE IF EXISTS emogi_bench_edges;
CREATE UNLOGGED TABLE emogi_bench_edges (src bigint, dst bigint);
INSERT INTO emogi_bench_edges
SELECT (hashint8extended(g, 1) & 9223372036854775807) % :vertices, (hashint8extended(g, 2) & 9223372036854775807) % :vertices
FROM generate_series(1, :edges::bigint) g;
VACUUM (FREEZE, ANALYZE) emogi_bench_edges;
CREATE TEMP TABLE timing (round int, total_ms float8, near_ms float8);
CREATE TEMP TABLE cold AS
SELECT 0::float8 AS total_ms;
DO $$
DECLARE
	t0 timestamptz; t1 timestamptz; t2 timestamptz;
BEGIN
	FOR round IN -1 .. 11 LOOP
		t0 := clock_timestamp();
		PERFORM count(*) FROM emogi_bfs('emogi_bench_edges', 42);
		t1 := clock_timestamp();
		PERFORM count(*) FROM emogi_bfs('emogi_bench_edges', 42, max_depth => 1);
		t2 := clock_timestamp();
		IF round = -1 THEN
			UPDATE cold SET total_ms = extract(epoch FROM t1 - t0) * 1000;
		ELSIF round > 0 THEN
			INSERT INTO timing VALUES (round, extract(epoch FROM t1 - t0) * 1000, extract(epoch FROM t2 - t1) * 1000);
		END IF;
	END LOOP;
END $$;
CREATE TEMP TABLE run AS
SELECT * FROM emogi_runs WHERE pid = pg_backend_pid() AND cache = 'hit' AND levels > 2 ORDER BY id DESC LIMIT 11;

SELECT min(edges) AS edges, min(vertices) AS vertices, min(reached) AS reached, min(levels) AS levels, min(engine) AS engine,
	   min(placement) AS placement, count(*) AS hits FROM run;
SELECT round(total::numeric, 1) AS total_ms, round(run::numeric, 1) AS run_ms, round(rows::numeric, 1) AS rows_ms,
	   round((total / (run + rows))::numeric, 2) AS ratio, round(statement::numeric, 1) AS statement_ms,
	   round((statement / (run + rows))::numeric, 2) AS statement_ratio, round(rate::numeric / 1e6) AS million_edges_per_second,
	   round(near::numeric, 2) AS depth_1_ms, round((SELECT total_ms FROM cold)::numeric, 1) AS cold_ms
FROM (SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY total_ms) statement, percentile_cont(0.5) WITHIN GROUP (ORDER BY near_ms) near FROM timing) t,
	 (SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY run_ms) run, percentile_cont(0.5) WITHIN GROUP (ORDER BY rows_ms) rows,
			 percentile_cont(0.5) WITHIN GROUP (ORDER BY total_ms) total, percentile_cont(0.5) WITHIN GROUP (ORDER BY edges_per_second) rate FROM run) r;
DROP TABLE emogi_bench_edges;
