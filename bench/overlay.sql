-- Searches of a graph whose table has just changed: one INSERT before each call, committed before
-- or in the call's own transaction; and a row trigger that rejects cycles. Compared with the
-- recursive CTE if there is one with the same answer.
--
--   psql -X -v edges=1000000 -v vertices=200000 -f bench/overlay.sql
--
-- Requires a database with the extension. Creates and drops tables emogi_bench_*: random payments,
-- and an org chart of 60,000 people. The methods run in turn, 15 times each (the trigger 5 times,
-- each after a VACUUM of the rows rolled back by the previous one). Prints medians in ms.
\set ON_ERROR_STOP on
\if :{?edges} \else \set edges 1000000 \endif
\if :{?vertices} \else \set vertices 200000 \endif
\pset footer off
SET client_min_messages = warning;
SET jit = off;
SET emogi.incremental_min_size = 0;
DROP TABLE IF EXISTS emogi_bench_payments, emogi_bench_chart, emogi_bench_chart_if, emogi_bench_chart_pair, emogi_bench_chart_cte, emogi_bench_times;
CREATE TABLE emogi_bench_payments (id bigint GENERATED ALWAYS AS IDENTITY, src int, dst int, amount int);
INSERT INTO emogi_bench_payments (src, dst, amount)
SELECT (hashint8extended(g, 1) & 9223372036854775807) % :vertices, (hashint8extended(g, 2) & 9223372036854775807) % :vertices,
	   1 + (hashint8extended(g, 3) & 1023)
FROM generate_series(1, :edges::bigint) g;
CREATE INDEX ON emogi_bench_payments (src);
CREATE INDEX ON emogi_bench_payments (dst);
VACUUM (ANALYZE) emogi_bench_payments;
CREATE TABLE emogi_bench_times (asked text, way text, ms float8);

CREATE FUNCTION emogi_bench_cycles(v int, most int) RETURNS bigint LANGUAGE sql AS $$
WITH RECURSIVE way(at, path) AS (
	SELECT dst, ARRAY[v, dst] FROM emogi_bench_payments WHERE src = v
	UNION ALL
	SELECT p.dst, w.path || p.dst FROM way w JOIN emogi_bench_payments p ON p.src = w.at
	WHERE w.at <> v AND cardinality(w.path) <= most AND (p.dst = v OR p.dst <> ALL (w.path)))
SELECT count(DISTINCT path) FROM way WHERE at = v
$$;

CREATE PROCEDURE emogi_bench_take(asked text, way text, statement text, own boolean) LANGUAGE plpgsql AS $$
DECLARE
	began timestamptz;
	ms float8;
BEGIN
	INSERT INTO emogi_bench_payments (src, dst, amount) VALUES (1, 2, 3);
	IF NOT own THEN
		COMMIT;
	END IF;
	began := clock_timestamp();
	EXECUTE statement;
	ms := extract(epoch FROM clock_timestamp() - began) * 1000;
	ROLLBACK;
	INSERT INTO emogi_bench_times VALUES (asked, way, ms);
	COMMIT;
END $$;

SELECT count(*) AS warm FROM emogi_cycles('emogi_bench_payments(src, dst)', 1, 3)
UNION ALL SELECT count(*) FROM emogi_k_shortest_paths('emogi_bench_payments(src, dst, amount)', 1, 100, 2) \g /dev/null
SELECT format('CALL emogi_bench_take(%L, %L, %L, %L)', asked || CASE WHEN own THEN ', own transaction' ELSE '' END, way, statement, own)
FROM generate_series(0, 15) run, (VALUES (false), (true)) o(own),
LATERAL (VALUES
	('cycles to 3', 'emogi', format('SELECT count(*) FROM emogi_cycles(''emogi_bench_payments(src, dst)'', %s, 3)', 100 + run)),
	('cycles to 3', 'CTE', format('SELECT emogi_bench_cycles(%s, 3)', 100 + run)),
	('cycles to 4', 'emogi', format('SELECT count(*) FROM emogi_cycles(''emogi_bench_payments(src, dst)'', %s, 4)', 100 + run)),
	('cycles to 4', 'CTE', format('SELECT emogi_bench_cycles(%s, 4)', 100 + run)),
	('cycles to 5', 'emogi', format('SELECT count(*) FROM emogi_cycles(''emogi_bench_payments(src, dst)'', %s, 5)', 100 + run)),
	('cycles to 5', 'CTE', format('SELECT emogi_bench_cycles(%s, 5)', 100 + run)),
	('3 shortest paths', 'emogi', format('SELECT count(*) FROM emogi_k_shortest_paths(''emogi_bench_payments(src, dst)'', %s, %s, 3)', 100 + run, 200 + run)),
	('3 shortest paths by amount', 'emogi', format('SELECT count(*) FROM emogi_k_shortest_paths(''emogi_bench_payments(src, dst, amount)'', %s, %s, 3)', 100 + run, 200 + run)),
	('reachable, 10 pairs', 'emogi', format('SELECT count(*) FROM emogi_reachable(''emogi_bench_payments(src, dst)'', ''SELECT i, i + 100 FROM generate_series(%s, %s) i'')', run, run + 9)),
	('distances 2 x 2', 'emogi', format('SELECT count(*) FROM emogi_distance_matrix(''emogi_bench_payments(src, dst)'', ARRAY[%s, 7], ARRAY[%s, 8])', run, run + 100)),
	('similarity of a vertex', 'emogi', format('SELECT count(*) FROM emogi_similarity(''emogi_bench_payments(src, dst)'') WHERE vertex1 = %s', 100 + run))
) s(asked, way, statement)
ORDER BY run, own, asked, way \gexec
SELECT asked, round((percentile_cont(0.5) WITHIN GROUP (ORDER BY ms) FILTER (WHERE way = 'emogi'))::numeric, 2) AS emogi,
	   round((percentile_cont(0.5) WITHIN GROUP (ORDER BY ms) FILTER (WHERE way = 'CTE'))::numeric, 2) AS cte
FROM emogi_bench_times GROUP BY 1 ORDER BY 1;
TRUNCATE emogi_bench_times;

-- The trigger.
CREATE TABLE emogi_bench_chart (boss int, person int);
INSERT INTO emogi_bench_chart SELECT i / 6, i FROM generate_series(1, 60000) i;
CREATE INDEX ON emogi_bench_chart (boss);
CREATE TABLE emogi_bench_chart_cte (LIKE emogi_bench_chart INCLUDING ALL);
INSERT INTO emogi_bench_chart_cte TABLE emogi_bench_chart;
CREATE TABLE emogi_bench_chart_if (LIKE emogi_bench_chart INCLUDING ALL);
INSERT INTO emogi_bench_chart_if TABLE emogi_bench_chart;
CREATE TABLE emogi_bench_chart_pair (LIKE emogi_bench_chart INCLUDING ALL);
INSERT INTO emogi_bench_chart_pair TABLE emogi_bench_chart;
VACUUM (ANALYZE) emogi_bench_chart, emogi_bench_chart_if, emogi_bench_chart_pair, emogi_bench_chart_cte;
SELECT count(*) AS warm FROM emogi_shortest_path('emogi_bench_chart(boss, person)', 1, 60000)
UNION ALL SELECT count(*) FROM emogi_shortest_path('emogi_bench_chart_if(boss, person) WHERE person > 0', 1, 60000)
UNION ALL SELECT count(*) FROM emogi_shortest_path('emogi_bench_chart_if(boss, person) WHERE person > 0', 1, 60000)
UNION ALL SELECT count(*) FROM emogi_reachable('emogi_bench_chart_pair(boss, person)', 'VALUES (1, 60000)') \g /dev/null
CREATE FUNCTION emogi_bench_refuse() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	IF EXISTS (SELECT FROM emogi_shortest_path('emogi_bench_chart(boss, person)', new.person, new.boss)) THEN
		RAISE EXCEPTION 'a cycle';
	END IF;
	RETURN new;
END $$;
CREATE FUNCTION emogi_bench_refuse_if() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	IF EXISTS (SELECT FROM emogi_shortest_path('emogi_bench_chart_if(boss, person) WHERE person > 0', new.person, new.boss)) THEN
		RAISE EXCEPTION 'a cycle';
	END IF;
	RETURN new;
END $$;
CREATE FUNCTION emogi_bench_refuse_pair() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	IF EXISTS (SELECT FROM emogi_reachable('emogi_bench_chart_pair(boss, person)', format('VALUES (%s, %s)', new.person, new.boss)) WHERE reachable) THEN
		RAISE EXCEPTION 'a cycle';
	END IF;
	RETURN new;
END $$;
CREATE FUNCTION emogi_bench_refuse_cte() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	IF EXISTS (WITH RECURSIVE below(v) AS (SELECT new.person UNION SELECT c.person FROM emogi_bench_chart_cte c JOIN below b ON c.boss = b.v)
			   SELECT FROM below WHERE v = new.boss) THEN
		RAISE EXCEPTION 'a cycle';
	END IF;
	RETURN new;
END $$;
CREATE TRIGGER refuse BEFORE INSERT ON emogi_bench_chart FOR EACH ROW EXECUTE FUNCTION emogi_bench_refuse();
CREATE TRIGGER refuse BEFORE INSERT ON emogi_bench_chart_if FOR EACH ROW EXECUTE FUNCTION emogi_bench_refuse_if();
CREATE TRIGGER refuse BEFORE INSERT ON emogi_bench_chart_pair FOR EACH ROW EXECUTE FUNCTION emogi_bench_refuse_pair();
CREATE TRIGGER refuse BEFORE INSERT ON emogi_bench_chart_cte FOR EACH ROW EXECUTE FUNCTION emogi_bench_refuse_cte();
CREATE PROCEDURE emogi_bench_insert(way text, chart regclass, count int) LANGUAGE plpgsql AS $$
DECLARE
	began timestamptz := clock_timestamp();
	ms float8;
BEGIN
	EXECUTE format('INSERT INTO %s SELECT i * 7919 %% 60000, 100000 + i FROM generate_series(1, %s) i', chart, count);
	ms := extract(epoch FROM clock_timestamp() - began) * 1000;
	ROLLBACK;
	INSERT INTO emogi_bench_times VALUES (count || ' rows', way, ms);
	COMMIT;
END $$;
SELECT format('CALL emogi_bench_insert(%L, %L, %s)', way, chart, count), format('VACUUM %s', chart)
FROM generate_series(0, 4) run, (VALUES (1000), (3000), (10000)) n(count),
	(VALUES ('emogi', 'emogi_bench_chart'), ('emogi, condition', 'emogi_bench_chart_if'), ('emogi, pair', 'emogi_bench_chart_pair'), ('CTE', 'emogi_bench_chart_cte')) w(way, chart)
ORDER BY run, count, way \gexec
-- The same after the deletion of 20,000 of the 60,000 people in the same transaction; and the first
-- load of a table that was empty when analyzed.
CREATE PROCEDURE emogi_bench_delete(way text, chart regclass, count int) LANGUAGE plpgsql AS $$
DECLARE
	began timestamptz;
	ms float8;
BEGIN
	EXECUTE format('DELETE FROM %s WHERE person > 40000', chart);
	began := clock_timestamp();
	EXECUTE format('INSERT INTO %s SELECT i * 7919 %% 40000, 100000 + i FROM generate_series(1, %s) i', chart, count);
	ms := extract(epoch FROM clock_timestamp() - began) * 1000;
	ROLLBACK;
	INSERT INTO emogi_bench_times VALUES (count || ' rows after 20000 deletions', way, ms);
	COMMIT;
END $$;
SELECT format('CALL emogi_bench_delete(%L, %L, %s)', way, chart, count), 'VACUUM emogi_bench_chart, emogi_bench_chart_cte'
FROM generate_series(0, 4) run, (VALUES (1000), (3000)) n(count), (VALUES ('emogi', 'emogi_bench_chart'), ('CTE', 'emogi_bench_chart_cte')) w(way, chart)
ORDER BY run, count, way \gexec
TRUNCATE emogi_bench_chart, emogi_bench_chart_cte;
CREATE PROCEDURE emogi_bench_load(way text, chart regclass, count int) LANGUAGE plpgsql AS $$
DECLARE
	began timestamptz := clock_timestamp();
	ms float8;
BEGIN
	EXECUTE format('INSERT INTO %s SELECT i / 6, i FROM generate_series(1, %s) i', chart, count);
	ms := extract(epoch FROM clock_timestamp() - began) * 1000;
	ROLLBACK;
	INSERT INTO emogi_bench_times VALUES (count || ' rows, first load', way, ms);
	COMMIT;
END $$;
SELECT format('CALL emogi_bench_load(%L, %L, %s)', way, chart, count), 'TRUNCATE emogi_bench_chart, emogi_bench_chart_cte'
FROM generate_series(0, 4) run, (VALUES (1000), (3000)) n(count), (VALUES ('emogi', 'emogi_bench_chart'), ('CTE', 'emogi_bench_chart_cte')) w(way, chart)
ORDER BY run, count, way \gexec
SELECT asked, round((percentile_cont(0.5) WITHIN GROUP (ORDER BY ms) FILTER (WHERE way = 'emogi'))::numeric, 1) AS emogi,
	   round((percentile_cont(0.5) WITHIN GROUP (ORDER BY ms) FILTER (WHERE way = 'CTE'))::numeric, 1) AS cte,
	   round((percentile_cont(0.5) WITHIN GROUP (ORDER BY ms) FILTER (WHERE way = 'emogi, condition'))::numeric, 1) AS condition,
	   round((percentile_cont(0.5) WITHIN GROUP (ORDER BY ms) FILTER (WHERE way = 'emogi, pair'))::numeric, 1) AS pair
FROM emogi_bench_times GROUP BY 1 ORDER BY 1;
DROP TABLE emogi_bench_payments, emogi_bench_chart, emogi_bench_chart_if, emogi_bench_chart_pair, emogi_bench_chart_cte, emogi_bench_times;
DROP FUNCTION emogi_bench_cycles, emogi_bench_refuse, emogi_bench_refuse_if, emogi_bench_refuse_pair, emogi_bench_refuse_cte;
DROP PROCEDURE emogi_bench_take, emogi_bench_insert, emogi_bench_delete, emogi_bench_load;
