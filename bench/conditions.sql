-- Searches of a table under writes with conditions on its rows, compared with a recursive CTE with
-- indexes.
--
--   psql -X -v edges=1000000 -v vertices=100000 -f bench/conditions.sql
--
-- Requires a database with emogi preloaded, and a superuser. Creates and drops the table
-- emogi_bench_kg and the role emogi_bench_tenant. Counts the vertices reached by a BFS of depth 4.
-- Each call, including those of the CTE, follows a committed INSERT of a row that satisfies the
-- condition. Both methods run in turn, 15 times each, after 3 uncounted calls. Prints medians in ms
-- of the whole statements. All answers are compared (the CTE's has one more row). In the first
-- three cases the uncounted calls build the graph, which is then kept up to date. In the last three
-- there is no usable graph: the time range or the parameter differs in each call, and all graphs
-- are evicted before the first call.
\set ON_ERROR_STOP on
\if :{?edges} \else \set edges 1000000 \endif
\if :{?vertices} \else \set vertices 100000 \endif
\pset footer off
SET client_min_messages = warning;
SET jit = off;
DROP TABLE IF EXISTS emogi_bench_kg;
DROP ROLE IF EXISTS emogi_bench_tenant;
CREATE ROLE emogi_bench_tenant;
CREATE TABLE emogi_bench_kg (src int, dst int, kind text, tenant int, valid_from date, valid_to date, at timestamptz);
INSERT INTO emogi_bench_kg
SELECT tenant * :vertices / 50 + (hashint8extended(g, 1) & 9223372036854775807) % (:vertices / 50), tenant * :vertices / 50 + (hashint8extended(g, 2) & 9223372036854775807) % (:vertices / 50),
	   (ARRAY['x', 'x', 'owns', 'pays', 'likes'])[1 + (hashint8extended(g, 3) & 1023) % 5], tenant,
	   date '2020-01-01' + ((hashint8extended(g, 5) & 65535) % 1500)::int, date '2023-01-01' + ((hashint8extended(g, 6) & 65535) % 1500)::int,
	   now() - (hashint8extended(g, 7) & 65535) % 30 * interval '1 day'
FROM generate_series(1, :edges::bigint) g, LATERAL (SELECT (hashint8extended(g, 4) & 65535) % 50) t(tenant);
CREATE INDEX ON emogi_bench_kg (src);
CREATE INDEX ON emogi_bench_kg (dst);
CREATE INDEX ON emogi_bench_kg (kind, src);
CREATE INDEX ON emogi_bench_kg (tenant, src);
VACUUM (ANALYZE) emogi_bench_kg;
ALTER TABLE emogi_bench_kg ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenants ON emogi_bench_kg USING (tenant = current_setting('app.tenant')::int);
GRANT SELECT, INSERT ON emogi_bench_kg TO emogi_bench_tenant;
CREATE TEMP TABLE timing (what text, way text, turn int, reached bigint, ms float8);
GRANT ALL ON timing TO emogi_bench_tenant;
SET app.tenant = '7';

DO $$
DECLARE
	whats text[] := ARRAY['kind = ''x''', 'row security by tenant', 'as of a date', 'the last seven days', 'a parameter', 'a first call'];
	conditions text[] := ARRAY['kind = ''x''', 'true', 'date ''2023-06-01'' BETWEEN valid_from AND valid_to', 'at > now() - interval ''7 days''', 'at > %L', 'kind = ''owns'''];
	condition text;
	since timestamptz;
	statement text;
	reached bigint;
	began timestamptz;
	start int;
	vertices int := (SELECT max(src) + 1 FROM emogi_bench_kg);
BEGIN
	FOR i IN 1 .. 6 LOOP
		PERFORM set_config('role', CASE i WHEN 2 THEN 'emogi_bench_tenant' ELSE 'none' END, false);
		FOR turn IN -2 .. 15 LOOP
			FOR way IN 1 .. 2 LOOP
				start := 7 * vertices / 50 + 20 * i + abs(turn);
				INSERT INTO emogi_bench_kg VALUES (start, start + 5, 'x', 7, '2020-01-01', '2026-01-01', now());
				COMMIT;
				IF i = 6 THEN PERFORM emogi_evict(); END IF;
				PERFORM set_config('emogi.enable_index_search', CASE WHEN i <= 3 AND turn < 1 THEN 'off' ELSE 'on' END, false);
				since := date_trunc('day', now()) - interval '7 days' - turn * interval '1 second';
				condition := format(conditions[i], since);
				IF way = 1 THEN
					statement := format('SELECT count(*) FROM emogi_bfs(%s, %s, max_depth => 4)',
						CASE i WHEN 5 THEN format('emogi_query(''SELECT src, dst FROM emogi_bench_kg WHERE at > $1'', %L)', since)
							ELSE quote_literal('SELECT src, dst FROM emogi_bench_kg' || CASE i WHEN 2 THEN '' ELSE ' WHERE ' || condition END) END, start);
				ELSE
					statement := format('WITH RECURSIVE b(v, level) AS (SELECT %s, 0 UNION SELECT e.dst, b.level + 1 FROM b JOIN emogi_bench_kg e ON e.src = b.v AND %s WHERE b.level < 4)
						SELECT count(DISTINCT v) FROM b', start, condition);
				END IF;
				began := clock_timestamp();
				EXECUTE statement INTO reached;
				INSERT INTO timing VALUES (whats[i], CASE way WHEN 1 THEN 'emogi' ELSE 'cte' END, turn, reached,
					extract(epoch FROM clock_timestamp() - began) * 1000);
			END LOOP;
		END LOOP;
	END LOOP;
	PERFORM set_config('role', 'none', false);
END $$;
RESET emogi.enable_index_search;

SELECT what, round((percentile_cont(0.5) WITHIN GROUP (ORDER BY ms) FILTER (WHERE way = 'emogi'))::numeric, 2) AS emogi_ms,
	round((percentile_cont(0.5) WITHIN GROUP (ORDER BY ms) FILTER (WHERE way = 'cte'))::numeric, 2) AS cte_ms,
	round((percentile_cont(0.5) WITHIN GROUP (ORDER BY reached) FILTER (WHERE way = 'emogi'))::numeric) AS reached
FROM timing WHERE turn > 0 GROUP BY what ORDER BY what;
SELECT count(*) AS different FROM timing a JOIN timing b USING (what, turn) WHERE a.way = 'emogi' AND b.way = 'cte' AND b.reached - a.reached NOT IN (0, 1);
DROP TABLE emogi_bench_kg, timing;
DROP ROLE emogi_bench_tenant;
