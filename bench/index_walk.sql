-- Shallow calls on a table without a cached graph, compared with a recursive query over the same
-- index.
--
--   psql -X -v edges=20000000 -v vertices=5000000 -f bench/index_walk.sql
--
-- Requires a database with the extension. Creates and drops the table emogi_bench_edges. Both run
-- in turn, in random order, from random vertices with edges, planned each time; then again in
-- a transaction that has inserted rows. Both must find the same number of vertices. No graph is
-- built; the last column is the number of calls answered by an index search.
\set ON_ERROR_STOP on
\if :{?edges} \else \set edges 20000000 \endif
\if :{?vertices} \else \set vertices 5000000 \endif
\if :{?calls} \else \set calls 300 \endif
\pset footer off
SET client_min_messages = warning;
DROP TABLE IF EXISTS emogi_bench_edges;
CREATE UNLOGGED TABLE emogi_bench_edges (src int, dst int);
INSERT INTO emogi_bench_edges
SELECT (hashint8extended(g, 1) & 9223372036854775807) % :vertices, (hashint8extended(g, 2) & 9223372036854775807) % :vertices
FROM generate_series(1, :edges::bigint) g;
CREATE INDEX ON emogi_bench_edges (src);
VACUUM (FREEZE, ANALYZE) emogi_bench_edges;
CREATE TEMP TABLE timing (inserted bool, hops int, call_ms float8, query_ms float8, walked bool);
CREATE TEMP TABLE sources AS
  SELECT src, random() < 0.5 AS call_first FROM emogi_bench_edges WHERE src IN (SELECT (random() * :vertices)::int FROM generate_series(1, :calls)) GROUP BY src;

CREATE FUNCTION pg_temp.ms(query text, OUT ms float8, OUT count bigint) LANGUAGE plpgsql AS $$
DECLARE
  began timestamptz := clock_timestamp();
BEGIN
  EXECUTE query INTO count;
  ms := 1000 * extract(epoch FROM clock_timestamp() - began);
END $$;

CREATE FUNCTION pg_temp.measure(inserted bool) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  source record;
  queries text[];
  call record;
  query record;
BEGIN
  FOR hops IN 1 .. 2 LOOP
    FOR source IN SELECT * FROM sources LOOP
      queries := ARRAY[format('SELECT count(*) FROM emogi_bfs(''emogi_bench_edges'', %s, max_depth => %s)', source.src, hops),
        format('WITH RECURSIVE r(v, l) AS (SELECT %s, 0 UNION SELECT e.dst, l + 1 FROM r JOIN emogi_bench_edges e ON e.src = r.v WHERE l < %s) SELECT count(DISTINCT v) FROM r', source.src, hops)];
      IF source.call_first THEN call := pg_temp.ms(queries[1]); END IF;
      query := pg_temp.ms(queries[2]);
      IF NOT source.call_first THEN call := pg_temp.ms(queries[1]); END IF;
      ASSERT call.count = query.count, queries[1];
      INSERT INTO timing VALUES (inserted, hops, call.ms, query.ms, (SELECT cache = 'index' FROM emogi_runs WHERE pid = pg_backend_pid() ORDER BY id DESC LIMIT 1));
    END LOOP;
  END LOOP;
END $$;

SELECT emogi_evict() IS NOT NULL AS evicted;
SELECT pg_temp.measure(false);
BEGIN;
INSERT INTO emogi_bench_edges SELECT src, -src FROM sources LIMIT 10;
SELECT pg_temp.measure(true);
COMMIT;
SELECT inserted, hops, round(percentile_cont(0.5) WITHIN GROUP (ORDER BY call_ms)::numeric, 3) AS call_p50,
  round(percentile_cont(0.5) WITHIN GROUP (ORDER BY query_ms)::numeric, 3) AS query_p50,
  round(percentile_cont(0.95) WITHIN GROUP (ORDER BY call_ms)::numeric, 3) AS call_p95,
  round(percentile_cont(0.95) WITHIN GROUP (ORDER BY query_ms)::numeric, 3) AS query_p95,
  round((percentile_cont(0.5) WITHIN GROUP (ORDER BY call_ms) / percentile_cont(0.5) WITHIN GROUP (ORDER BY query_ms))::numeric, 2) AS p50_ratio,
  count(*) AS calls, count(*) FILTER (WHERE walked) AS walked
FROM timing GROUP BY 1, 2 ORDER BY 1, 2;
DROP TABLE emogi_bench_edges;
