-- Rows of a result: rows per second of this session's CPU time, streamed and collected; the cost of
-- a query that needs few of them; and the time until parallel workers have read them.
--
--   psql -X -v vertices=10000000 -v workers=2 -f bench/rows.sql
--
-- Requires a database with the extension, and a superuser, who may read /proc/self/stat. Creates
-- and drops the table emogi_bench_edges, a random graph of which nearly all vertices are reached.
-- Seven calls after a warm-up, in turn with the scan on, off, and with `workers` workers; figures
-- are medians. cpu_s is that of the session alone, without the engine and the workers. run_ms and
-- rows_ms are those of emogi_runs; statement_ms is elapsed time.
\set ON_ERROR_STOP on
\if :{?vertices} \else \set vertices 10000000 \endif
\if :{?workers} \else \set workers 2 \endif
SELECT set_config('emogi_bench.workers', :'workers', false);
\pset footer off
SET client_min_messages = warning;
SET jit = off;
DROP TABLE IF EXISTS emogi_bench_edges;
CREATE UNLOGGED TABLE emogi_bench_edges (src bigint, dst bigint);
INSERT INTO emogi_bench_edges
SELECT g, (hashint8extended(g, i) & 9223372036854775807) % :vertices
FROM generate_series(0, :vertices::bigint - 1) g, generate_series(1, 4) i;
VACUUM (FREEZE, ANALYZE) emogi_bench_edges;
CREATE TEMP TABLE timing (what int, scan text, round int, cpu_s float8, statement_ms float8, run_ms float8, rows_ms float8, rows bigint, edges bigint);
CREATE TEMP TABLE queries (what int, query text);
INSERT INTO queries VALUES
	(1, 'SELECT count(*), sum(level) FROM emogi_bfs(''emogi_bench_edges'', 42)'),
	(2, 'SELECT count(*) FROM emogi_bfs(''emogi_bench_edges'', 42)'),
	(3, 'SELECT max(vertex), max(distance) FROM emogi_sssp(''emogi_bench_edges'', 42)'),
	(4, 'SELECT count(DISTINCT component) FROM emogi_cc(''emogi_bench_edges'')'),
	(5, 'SELECT count(*) FROM (SELECT * FROM emogi_bfs(''emogi_bench_edges'', 42) LIMIT 10) few'),
	(6, 'SELECT sum(level) FROM emogi_bfs(''emogi_bench_edges'', 42) WHERE vertex = 4711'),
	(7, 'SELECT count(*) FROM emogi_bfs(''emogi_bench_edges'', 42) WHERE level <= 2');
CREATE FUNCTION pg_temp.cpu_s() RETURNS float8 LANGUAGE sql AS $$
	SELECT (a[14]::int + a[15]::int) / 100.0 FROM string_to_array(pg_read_file('/proc/self/stat'), ' ') a $$;

DO $$
DECLARE
	q record; c0 float8; c1 float8; t0 timestamptz; t1 timestamptz; setting text;
BEGIN
	FOR round IN 0 .. 7 LOOP
		FOR q IN SELECT * FROM queries ORDER BY what LOOP
			FOREACH setting IN ARRAY ARRAY['on', 'off', 'parallel'] LOOP
				PERFORM set_config('emogi.enable_scan', CASE setting WHEN 'off' THEN 'off' ELSE 'on' END, false),
					set_config('max_parallel_workers_per_gather', CASE setting WHEN 'parallel' THEN current_setting('emogi_bench.workers') ELSE '0' END, false);
				c0 := pg_temp.cpu_s();
				t0 := clock_timestamp();
				EXECUTE q.query;
				t1 := clock_timestamp();
				c1 := pg_temp.cpu_s();
				INSERT INTO timing
				SELECT q.what, setting, round, CASE WHEN setting <> 'parallel' THEN c1 - c0 END, extract(epoch FROM t1 - t0) * 1000, run_ms, rows_ms, rows, edges_traversed
				FROM emogi_runs WHERE pid = pg_backend_pid() AND round > 0 ORDER BY id DESC LIMIT 1;
			END LOOP;
		END LOOP;
	END LOOP;
END $$;
SELECT query, scan, rows, edges AS edges_traversed, round(cpu::numeric, 3) AS cpu_s,
	   round((rows / nullif(cpu, 0) / 1e6)::numeric, 1) AS mrows_per_cpu_s, round(statement::numeric, 1) AS statement_ms,
	   round(run::numeric, 1) AS run_ms, round(making::numeric, 3) AS rows_ms
FROM (SELECT what, scan, max(rows) AS rows, max(edges) AS edges,
			 percentile_cont(0.5) WITHIN GROUP (ORDER BY cpu_s) AS cpu,
			 percentile_cont(0.5) WITHIN GROUP (ORDER BY statement_ms) AS statement,
			 percentile_cont(0.5) WITHIN GROUP (ORDER BY run_ms) AS run,
			 percentile_cont(0.5) WITHIN GROUP (ORDER BY rows_ms) AS making
	  FROM timing GROUP BY what, scan) medians JOIN queries USING (what)
ORDER BY what, array_position(ARRAY['on', 'off', 'parallel'], scan);
DROP TABLE emogi_bench_edges;
