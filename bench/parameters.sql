-- Memory and time of calls with a new value of emogi_query each, on a table that is written before
-- each call; and of calls that repeat a value.
--
--   psql -X -f bench/parameters.sql
--   psql -X -v calls=300 -v edges=20000 -f bench/parameters.sql
--
-- Creates and drops the schema parameters_bench, and evicts all graphs.
\set ON_ERROR_STOP on
\pset footer off
\if :{?calls} \else \set calls 3000 \endif
\if :{?edges} \else \set edges 100000 \endif
SET client_min_messages = warning;
DROP SCHEMA IF EXISTS parameters_bench CASCADE;
CREATE SCHEMA parameters_bench;
SET search_path = parameters_bench, public;
CREATE TABLE payment (src bigint, dst bigint, at int);
SELECT setseed(0.5) \g /dev/null
INSERT INTO payment SELECT (random() * :edges / 4)::int, (random() * :edges / 4)::int, n FROM generate_series(1, :edges) AS n;
CREATE INDEX ON payment (at);
VACUUM ANALYZE payment;
SELECT emogi_evict() >= 0 AS evicted \g /dev/null

-- `repeats` calls with each of `calls` values; a row is written before the first call of each value
CREATE PROCEDURE ask(calls int, repeats int, edges int, step int) LANGUAGE plpgsql AS $$
BEGIN
	FOR i IN 1 .. calls LOOP
		FOR j IN 1 .. repeats LOOP
			IF j = 1 THEN
				INSERT INTO payment VALUES (i, i + j, edges);
				COMMIT;
			END IF;
			PERFORM count(*) FROM emogi_bfs(emogi_query('SELECT src, dst FROM payment WHERE at > $1', edges * 2 / 3 + step * i), i, max_depth => 2);
			COMMIT;
		END LOOP;
	END LOOP;
END $$;

CREATE TEMP TABLE figures (case_no int, what text, calls int, started timestamptz, ended timestamptz, graphs int, bytes bigint, hits bigint, builds bigint, private_builds bigint);

SELECT emogi_reset() \g /dev/null
SELECT clock_timestamp() AS started \gset
CALL ask(:calls, 1, :edges, 1);
INSERT INTO figures SELECT 1, 'a new value a call, written before each', :calls, :'started', clock_timestamp(), graphs, bytes, hits, builds, private_builds FROM emogi_cache;
SELECT emogi_evict() >= 0 AS evicted \g /dev/null
SELECT emogi_reset() \g /dev/null
SELECT clock_timestamp() AS started \gset
CALL ask(:calls / 10, 10, :edges, -1);
INSERT INTO figures SELECT 2, 'each value ten times, written before the first', :calls, :'started', clock_timestamp(), graphs, bytes, hits, builds, private_builds FROM emogi_cache;
SELECT emogi_evict() >= 0 AS evicted \g /dev/null
SELECT emogi_reset() \g /dev/null
SELECT clock_timestamp() AS started \gset
CALL ask(1, :calls, :edges, 0);
INSERT INTO figures SELECT 3, 'one value', :calls, :'started', clock_timestamp(), graphs, bytes, hits, builds, private_builds FROM emogi_cache;

SELECT what, calls, round((extract(epoch FROM ended - started) * 1000 / calls)::numeric, 3) AS ms_a_call, graphs, pg_size_pretty(bytes) AS bytes, hits, builds, private_builds
FROM figures ORDER BY case_no;
DROP SCHEMA parameters_bench CASCADE;
SELECT emogi_evict() >= 0 AS evicted \g /dev/null
