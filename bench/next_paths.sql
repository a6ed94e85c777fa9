-- emogi_k_shortest_paths between the endpoints of edges, whose next paths are much longer, compared
-- with emogi_shortest_path without these edges.
--
--   psql -X [-v edges=2000000] [-v vertices=400000] [-v pairs=50] -f bench/next_paths.sql
--
-- Requires a database with the extension. Creates and drops tables emogi_bench_*: random edges, and
-- edges of which 19 of 20 stay within a community of 100 vertices, each without weights and with
-- floats of 1 to 10; and the same without the queried edges. Graphs are cached first. Both methods
-- run in turn. Prints the ms of whole statements (medians, 90th percentiles and maxima) and the
-- edges read, from emogi_runs.
\set ON_ERROR_STOP on
\if :{?edges} \else \set edges 2000000 \endif
\if :{?vertices} \else \set vertices 400000 \endif
\if :{?pairs} \else \set pairs 50 \endif
\pset footer off
SET client_min_messages = warning;
SET jit = off;
SET emogi.enable_contraction = off;
DROP TABLE IF EXISTS emogi_bench_random, emogi_bench_communities, emogi_bench_random_less, emogi_bench_communities_less, emogi_bench_ends;
CREATE UNLOGGED TABLE emogi_bench_random AS
SELECT ((hashint8extended(g, 1) & 9223372036854775807) % :vertices)::int AS src, ((hashint8extended(g, 2) & 9223372036854775807) % :vertices)::int AS dst,
	   1 + 9 * ((hashint8extended(g, 3) & 4294967295) / 4294967296.0)::float8 AS weight
FROM generate_series(1, :edges::bigint) g;
CREATE UNLOGGED TABLE emogi_bench_communities AS
SELECT src, CASE WHEN (hashint8extended(src, 4) + dst) % 20 = 0 THEN dst ELSE least(src / 100 * 100 + dst % 100, :vertices - 1) END AS dst, weight FROM emogi_bench_random;
CREATE TABLE emogi_bench_ends AS
(SELECT 'random' AS graph, src, dst FROM emogi_bench_random WHERE src <> dst LIMIT :pairs) UNION ALL
(SELECT 'communities', src, dst FROM emogi_bench_communities WHERE src <> dst LIMIT :pairs);
CREATE UNLOGGED TABLE emogi_bench_random_less AS
SELECT * FROM emogi_bench_random WHERE (src, dst) NOT IN (SELECT src, dst FROM emogi_bench_ends WHERE graph = 'random');
CREATE UNLOGGED TABLE emogi_bench_communities_less AS
SELECT * FROM emogi_bench_communities WHERE (src, dst) NOT IN (SELECT src, dst FROM emogi_bench_ends WHERE graph = 'communities');
VACUUM (FREEZE, ANALYZE) emogi_bench_random, emogi_bench_communities, emogi_bench_random_less, emogi_bench_communities_less;
CREATE TEMP TABLE timing (graph text, way text, ms float8, entries bigint);

DO $$
DECLARE
	e record;
	s text;
	w text;
	began timestamptz;
	ms float8;
BEGIN
	FOREACH s IN ARRAY ARRAY['(src, dst)', ''] LOOP
		FOR e IN SELECT DISTINCT graph FROM emogi_bench_ends LOOP
			PERFORM count(*) FROM emogi_shortest_path('emogi_bench_' || e.graph || s, 1, 2) UNION ALL SELECT count(*) FROM emogi_shortest_path('emogi_bench_' || e.graph || '_less' || s, 1, 2);
		END LOOP;
		FOR e IN SELECT * FROM emogi_bench_ends LOOP
			FOREACH w IN ARRAY ARRAY['path without the edge', 'k = 2', 'k = 3', 'k = 10'] LOOP
				began := clock_timestamp();
				IF w LIKE 'k%' THEN
					PERFORM count(*) FROM emogi_k_shortest_paths('emogi_bench_' || e.graph || s, e.src, e.dst, substr(w, 5)::int);
				ELSE
					PERFORM count(*) FROM emogi_shortest_path('emogi_bench_' || e.graph || '_less' || s, e.src, e.dst);
				END IF;
				ms := extract(epoch FROM clock_timestamp() - began) * 1000;
				INSERT INTO timing SELECT e.graph || CASE s WHEN '' THEN ', weights' ELSE '' END, w, ms, edges_traversed FROM emogi_runs WHERE pid = pg_backend_pid() ORDER BY id DESC LIMIT 1;
			END LOOP;
		END LOOP;
	END LOOP;
END $$;
SELECT graph, way, round(percentile_cont(0.5) WITHIN GROUP (ORDER BY ms)::numeric, 2) AS median, round(percentile_cont(0.9) WITHIN GROUP (ORDER BY ms)::numeric, 2) AS p90,
	   round(max(ms)::numeric, 2) AS worst, percentile_cont(0.5) WITHIN GROUP (ORDER BY entries)::bigint AS entries, max(entries) AS worst_entries
FROM timing GROUP BY graph, way ORDER BY graph, way DESC;
DROP TABLE emogi_bench_random, emogi_bench_communities, emogi_bench_random_less, emogi_bench_communities_less, emogi_bench_ends;
