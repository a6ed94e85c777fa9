-- Cold emogi_bfs compared with a parallel count(*) of the same table: time of a first call, by
-- phase.
--
--   psql -X -v edges=20000000 -v vertices=1250000 -f bench/cold_bfs.sql
--
-- Requires a database with the extension. Creates and drops the table emogi_bench_edges. Both run
-- in turn, seven times after a warm-up, and the graph is evicted before each call. Figures are
-- medians; the ratios are the result.
\set ON_ERROR_STOP on
\if :{?edges} \else \set edges 20000000 \endif
\if :{?vertices} \else \set vertices 1250000 \endif
\if :{?workers} \else \set workers 2 \endif
\pset footer off
SET client_min_messages = warning;
SET max_parallel_workers_per_gather = :workers;
DROP TABLE IF EXISTS emogi_bench_edges;
CREATE UNLOGGED TABLE emogi_bench_edges (src bigint, dst bigint);
INSERT INTO emogi_bench_edges
SELECT (hashint8extended(g, 1) & 9223372036854775807) % :vertices, (hashint8extended(g, 2) & 9223372036854775807) % :vertices
FROM generate_series(1, :edges::bigint) g;
VACUUM (FREEZE, ANALYZE) emogi_bench_edges;
CREATE TEMP TABLE timing (round int, count_ms float8, bfs_ms float8, scan_ms float8, keys_ms float8, csr_ms float8, run_ms float8, rows_ms float8);
CREATE TEMP TABLE answer (edges bigint, reached bigint, deepest int);

-- PERFORM, because PL/pgSQL runs SELECT ... INTO without parallel workers.
DO $$
DECLARE
	t0 timestamptz; t1 timestamptz; t2 timestamptz;
BEGIN
	FOR round IN 0 .. 7 LOOP
		PERFORM emogi_evict('emogi_bench_edges');
		t0 := clock_timestamp();
		PERFORM count(*) FROM emogi_bench_edges;
		t1 := clock_timestamp();
		PERFORM count(*), max(level) FROM emogi_bfs('emogi_bench_edges', 42);
		t2 := clock_timestamp();
		IF round > 0 THEN
			INSERT INTO timing
			SELECT round, extract(epoch FROM t1 - t0) * 1000, extract(epoch FROM t2 - t1) * 1000, scan_ms, keys_ms, csr_ms, run_ms, rows_ms
			FROM emogi_runs WHERE pid = pg_backend_pid() ORDER BY id DESC LIMIT 1;
		END IF;
	END LOOP;
END $$;
INSERT INTO answer
SELECT (SELECT count(*) FROM emogi_bench_edges), count(*), max(level) FROM emogi_bfs('emogi_bench_edges', 42);

EXPLAIN (COSTS OFF) SELECT count(*) FROM emogi_bench_edges;
SELECT edges, reached, deepest, current_setting('emogi.engine') AS engine,
	   pg_size_pretty(pg_table_size('emogi_bench_edges')) AS table_size FROM answer;
\echo 'Times of count(*), of the whole cold call, and of its phases; then the same as multiples of count(*):'
SELECT phase, round(ms::numeric, 1) AS ms, round((ms / max(ms) FILTER (WHERE phase = 'count(*)') OVER ())::numeric, 2) AS ratio
FROM (SELECT phase, percentile_cont(0.5) WITHIN GROUP (ORDER BY ms) AS ms
	  FROM timing, LATERAL (VALUES ('count(*)', count_ms), ('cold call', bfs_ms), ('scan', scan_ms), ('keys', keys_ms), ('csr', csr_ms), ('run', run_ms), ('rows', rows_ms)) v (phase, ms)
	  GROUP BY phase) medians
ORDER BY array_position(ARRAY['count(*)', 'cold call', 'scan', 'keys', 'csr', 'run', 'rows'], phase);
DROP TABLE emogi_bench_edges;
