-- emogi_bfs from many sources through LATERAL: 64 sources in one pass, compared with one call per
-- source.
--
--   psql -X -v edges=30000000 -v vertices=2000000 -v sources=1000 -f bench/lateral.sql
--
-- Requires a database with the extension. Creates and drops the tables emogi_bench_edges and
-- emogi_bench_sources. In turn: batches; one call per source, streamed; one call per source,
-- collected (emogi.enable_scan = off). Figures are medians of three after a warm-up on 64 of the
-- sources. Single calls are measured on a tenth of the sources, as the column `sources` shows;
-- per_source_ms is the result.
\set ON_ERROR_STOP on
\if :{?edges} \else \set edges 30000000 \endif
\if :{?vertices} \else \set vertices 2000000 \endif
\if :{?sources} \else \set sources 1000 \endif
\pset footer off
SET client_min_messages = warning;
SET jit = off;
DROP TABLE IF EXISTS emogi_bench_edges, emogi_bench_sources;
CREATE UNLOGGED TABLE emogi_bench_edges (src bigint, dst bigint);
INSERT INTO emogi_bench_edges
SELECT (hashint8extended(g, 1) & 9223372036854775807) % :vertices, (hashint8extended(g, 2) & 9223372036854775807) % :vertices
FROM generate_series(1, :edges::bigint) g;
CREATE TABLE emogi_bench_sources AS
SELECT g AS n, (hashint8extended(g, 3) & 9223372036854775807) % :vertices AS vertex FROM generate_series(1, :sources::bigint) g;
VACUUM (FREEZE, ANALYZE) emogi_bench_edges, emogi_bench_sources;
CREATE TEMP TABLE queries (what int, query text);
INSERT INTO queries VALUES
	(1, 'SELECT count(*), sum(b.level) FROM emogi_bench_sources s, LATERAL emogi_bfs(''emogi_bench_edges'', s.vertex) b WHERE s.n <= %s'),
	(2, 'SELECT count(*), sum(b.level) FROM emogi_bench_sources s, LATERAL emogi_bfs(''emogi_bench_edges'', s.vertex) b WHERE s.n <= %s AND b.level <= 2'),
	(3, 'SELECT count(*), sum(b.level) FROM emogi_bench_sources s, LATERAL emogi_bfs(''emogi_bench_edges'', s.vertex) b WHERE s.n <= %s AND b.vertex IN (1, 2, 3)');
CREATE TEMP TABLE timing (what int, way text, sources int, ms float8, answer text);

DO $$
DECLARE
	q record; way text; t0 timestamptz; n int; answer record;
	sources int := (SELECT count(*) FROM emogi_bench_sources);
BEGIN
	PERFORM count(*) FROM emogi_bfs('emogi_bench_edges', 0);
	SET enable_memoize = off;
	FOR round IN 0 .. 3 LOOP
		FOR q IN SELECT * FROM queries ORDER BY what LOOP
			FOREACH way IN ARRAY ARRAY['batches', 'one each, streamed', 'one each, collected'] LOOP
				n := CASE WHEN round = 0 THEN 64 WHEN way = 'batches' THEN sources ELSE sources / 10 END;
				PERFORM set_config('emogi.enable_scan', CASE WHEN way = 'one each, collected' THEN 'off' ELSE 'on' END, false);
				PERFORM set_config('emogi.enable_batch', CASE WHEN way = 'batches' THEN 'on' ELSE 'off' END, false);
				t0 := clock_timestamp();
				EXECUTE format(q.query, n) INTO answer;
				IF round > 0 THEN
					INSERT INTO timing VALUES (q.what, way, n, extract(epoch FROM clock_timestamp() - t0) * 1000, answer::text);
				END IF;
			END LOOP;
		END LOOP;
	END LOOP;
END $$;
SELECT query, way, sources, round(ms::numeric, 0) AS ms, round((ms / sources)::numeric, 2) AS per_source_ms,
	   round((ms / sources / min(ms / sources) OVER (PARTITION BY what))::numeric, 1) AS ratio, answer
FROM (SELECT what, way, sources, percentile_cont(0.5) WITHIN GROUP (ORDER BY ms) AS ms, min(answer) AS answer
	  FROM timing GROUP BY what, way, sources) medians JOIN queries USING (what)
ORDER BY what, ms / sources;
DROP TABLE emogi_bench_edges, emogi_bench_sources;
