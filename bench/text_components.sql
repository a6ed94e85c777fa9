-- Components of text keys, as clusters of matching records: rows of one component, groups, and the
-- number of components, compared with bigint keys and with a recursive query.
--
--   psql -X -v groups=400000 -f bench/text_components.sql
--
-- Requires a database with the extension. Creates and drops the tables emogi_bench_text and
-- emogi_bench_bigint: `groups` groups of 2 to 10 records, by default 1.1 M pairs of 1.5 M records,
-- with indexes on both endpoints. The graphs and their components are cached first. The methods run
-- in turn, 7 times each. Prints medians in ms of the whole statements. Each search uses another
-- small component.
\set ON_ERROR_STOP on
\if :{?groups} \else \set groups 400000 \endif
\pset footer off
SET client_min_messages = warning;
SET jit = off;
DROP TABLE IF EXISTS emogi_bench_text, emogi_bench_bigint;
CREATE TABLE emogi_bench_bigint AS
SELECT g * 10::bigint AS a, g * 10::bigint + i AS b
FROM generate_series(1, :groups) g, generate_series(1, 1 + least(8, ((hashint8extended(g, 1) & 1023) ^ 2 / 149797.0)::int)) i;
CREATE TABLE emogi_bench_text AS
SELECT 'crm:' || lpad(a::text, 9, '0') AS a, (ARRAY['crm', 'erp', 'old', 'web'])[1 + b % 4] || ':' || lpad(b::text, 9, '0') AS b FROM emogi_bench_bigint;
CREATE INDEX ON emogi_bench_bigint (a);
CREATE INDEX ON emogi_bench_bigint (b);
CREATE INDEX ON emogi_bench_text (a);
CREATE INDEX ON emogi_bench_text (b);
VACUUM (FREEZE, ANALYZE) emogi_bench_text;
VACUUM (FREEZE, ANALYZE) emogi_bench_bigint;
CREATE TEMP TABLE timing (asked text, way text, ms float8);

CREATE FUNCTION pg_temp.take(asked text, way text, statement text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
	began timestamptz := clock_timestamp();
	answer text;
BEGIN
	EXECUTE statement INTO answer;
	INSERT INTO timing VALUES (asked, way, extract(epoch FROM clock_timestamp() - began) * 1000);
END $$;

SELECT count(*) FROM emogi_cc_text('emogi_bench_text(a, b)') \g /dev/null
SELECT count(*) FROM emogi_cc('emogi_bench_bigint(a, b)') \g /dev/null
SELECT format('SELECT pg_temp.take(%L, %L, %L)', asked, way, replace(replace(statement, '@text', quote_literal('crm:' || lpad((n * 50)::text, 9, '0'))), '@bigint', (n * 50)::text))
FROM generate_series(0, 7) n, (VALUES
	('one component', 'text', 'SELECT count(*) FROM emogi_cc_text(''emogi_bench_text(a, b)'') WHERE component = @text'),
	('one component', 'bigint', 'SELECT count(*) FROM emogi_cc(''emogi_bench_bigint(a, b)'') WHERE component = @bigint'),
	('one component', 'recursive, text', 'WITH RECURSIVE r (v) AS (SELECT @text::text UNION SELECT x.o FROM r, LATERAL (SELECT b FROM emogi_bench_text WHERE a = v UNION ALL SELECT a FROM emogi_bench_text WHERE b = v) x (o)) SELECT count(*) FROM r'),
	('that of a vertex', 'text', 'SELECT string_agg(vertex, '' '') FROM emogi_cc_text(''emogi_bench_text(a, b)'') WHERE component = (SELECT component FROM emogi_cc_text(''emogi_bench_text(a, b)'') WHERE vertex = @text)'),
	('that of a vertex', 'bigint', 'SELECT string_agg(vertex::text, '' '') FROM emogi_cc(''emogi_bench_bigint(a, b)'') WHERE component = (SELECT component FROM emogi_cc(''emogi_bench_bigint(a, b)'') WHERE vertex = @bigint)'),
	('that of a vertex, by a join', 'text', 'SELECT count(*) FROM emogi_cc_text(''emogi_bench_text(a, b)'') s JOIN emogi_cc_text(''emogi_bench_text(a, b)'') m USING (component) WHERE s.vertex = @text'),
	('that of a vertex, by a join', 'bigint', 'SELECT count(*) FROM emogi_cc(''emogi_bench_bigint(a, b)'') s JOIN emogi_cc(''emogi_bench_bigint(a, b)'') m USING (component) WHERE s.vertex = @bigint'),
	('count(DISTINCT component)', 'text', 'SELECT count(DISTINCT component) FROM emogi_cc_text(''emogi_bench_text(a, b)'')'),
	('count(DISTINCT component)', 'bigint', 'SELECT count(DISTINCT component) FROM emogi_cc(''emogi_bench_bigint(a, b)'')'),
	('the largest, by GROUP BY', 'text', 'SELECT component, count(*) FROM emogi_cc_text(''emogi_bench_text(a, b)'') GROUP BY component ORDER BY count(*) DESC LIMIT 10'),
	('the largest, by GROUP BY', 'bigint', 'SELECT component, count(*) FROM emogi_cc(''emogi_bench_bigint(a, b)'') GROUP BY component ORDER BY count(*) DESC LIMIT 10'),
	('large ones, by HAVING', 'text', 'SELECT component, count(*) FROM emogi_cc_text(''emogi_bench_text(a, b)'') GROUP BY component HAVING count(*) > 9'),
	('large ones, by HAVING', 'bigint', 'SELECT component, count(*) FROM emogi_cc(''emogi_bench_bigint(a, b)'') GROUP BY component HAVING count(*) > 9'),
	('all but one component', 'text', 'SELECT count(*) FROM emogi_cc_text(''emogi_bench_text(a, b)'') WHERE component <> @text'),
	('all but one component', 'bigint', 'SELECT count(*) FROM emogi_cc(''emogi_bench_bigint(a, b)'') WHERE component <> @bigint')) ways (asked, way, statement)
ORDER BY n \gexec

-- An edge between a new key and an existing vertex is inserted before each call.
SELECT statement FROM generate_series(1, 7) n, LATERAL (VALUES
	(format('INSERT INTO emogi_bench_text VALUES (%L, %L)', 'zzz' || n, 'crm:' || lpad((n * 70)::text, 9, '0'))),
	(format('SELECT pg_temp.take(%L, %L, %L)', 'one component, after an INSERT', 'text', format('SELECT count(*) FROM emogi_cc_text(''emogi_bench_text(a, b)'') WHERE component = %L', 'crm:' || lpad((n * 70)::text, 9, '0')))),
	(format('SELECT pg_temp.take(%L, %L, %L)', 'min(vertex) of a search from a new key', 'text', format('SELECT min(vertex) FROM emogi_bfs(''emogi_bench_text(a, b)'', %L, direction => ''both'')', 'zzz' || n))),
	(format('SELECT pg_temp.take(%L, %L, %L)', 'count(*) of a search from a new key', 'text', format('SELECT count(*) FROM emogi_bfs(''emogi_bench_text(a, b)'', %L, direction => ''both'')', 'zzz' || n)))) s (statement) \gexec

SELECT asked, max(ms) FILTER (WHERE way = 'text') AS text, max(ms) FILTER (WHERE way = 'bigint') AS bigint, max(ms) FILTER (WHERE way LIKE 'recursive%') AS recursive
FROM (SELECT asked, way, round(percentile_cont(0.5) WITHIN GROUP (ORDER BY ms)::numeric, 2) AS ms FROM timing GROUP BY asked, way) m GROUP BY asked ORDER BY asked;
DROP TABLE emogi_bench_text, emogi_bench_bigint;
