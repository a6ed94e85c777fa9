-- Components of text keys in queries of entity resolution: the records of a cluster with their rows
-- in other tables, clusters referenced by other tables, sizes, survivors. Text is compared with
-- bigint keys and, for queries of one cluster, with a recursive query over indexes.
--
--   psql -X -v groups=100000 -f bench/text_joins.sql
--
-- Requires a database with the extension. Creates and drops the schema emogi_bench_joins: `groups`
-- groups of 2 to 10 records, by default 330,000 pairs of 430,000 records, a table with a row for
-- each record, and one that references every seventh group. The graphs and their components are
-- cached first. The methods run in turn, 7 times each after one uncounted round. Prints medians in
-- ms of the whole statements.
\set ON_ERROR_STOP on
\if :{?groups} \else \set groups 100000 \endif
\pset footer off
SET client_min_messages = warning;
SET jit = off;
SET work_mem = '64MB';
DROP SCHEMA IF EXISTS emogi_bench_joins CASCADE;
CREATE SCHEMA emogi_bench_joins;
SET search_path = emogi_bench_joins, public;
CREATE TABLE matches AS
SELECT g * 10::bigint AS a, g * 10::bigint + i AS b
FROM generate_series(1, :groups) g, generate_series(1, 1 + least(8, ((hashint8extended(g, 1) & 1023) ^ 2 / 149797.0)::int)) i;
CREATE FUNCTION name_of(key bigint, prefix text) RETURNS text LANGUAGE sql IMMUTABLE AS $$ SELECT prefix || ':' || lpad(key::text, 9, '0') $$;
CREATE TABLE matches_text AS SELECT name_of(a, 'crm') AS a, name_of(b, (ARRAY['crm', 'erp', 'old', 'web'])[1 + b % 4]) AS b FROM matches;
CREATE TABLE records AS SELECT v AS key, (hashint8extended(v, 2) & 1023)::int AS amount, 'name ' || v AS name FROM (SELECT a FROM matches UNION SELECT b FROM matches) s (v);
CREATE TABLE records_text AS
SELECT v AS key, (hashint8extended(substr(v, 5)::bigint, 2) & 1023)::int AS amount, 'name ' || v AS name FROM (SELECT a FROM matches_text UNION SELECT b FROM matches_text) s (v);
CREATE TABLE chosen AS SELECT g * 70::bigint AS key, g AS n FROM generate_series(1, :groups / 7) g;
CREATE TABLE chosen_text AS SELECT name_of(key, 'crm') AS key, n FROM chosen;
CREATE INDEX ON matches (a);
CREATE INDEX ON matches (b);
CREATE INDEX ON matches_text (a);
CREATE INDEX ON matches_text (b);
ALTER TABLE records ADD PRIMARY KEY (key);
ALTER TABLE records_text ADD PRIMARY KEY (key);
ALTER TABLE chosen ADD PRIMARY KEY (key);
ALTER TABLE chosen_text ADD PRIMARY KEY (key);
VACUUM (FREEZE, ANALYZE) matches, matches_text, records, records_text, chosen, chosen_text;
CREATE TEMP TABLE timing (asked text, way text, ms float8);

CREATE FUNCTION pg_temp.take(asked text, way text, statement text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
	began timestamptz := clock_timestamp();
	answer record;
BEGIN
	FOR answer IN EXECUTE statement LOOP
	END LOOP;
	INSERT INTO timing VALUES (asked, way, extract(epoch FROM clock_timestamp() - began) * 1000);
END $$;

-- @g: the call; @t, @c: the tables of records and of chosen groups; @k, @l, @m: keys; @n: a number;
-- @r, @s: the recursive query from @k, and from all three.
CREATE FUNCTION pg_temp.fill(template text, way text, n int) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	recursive text := 'WITH RECURSIVE r (v) AS (SELECT unnest(ARRAY[%s]) UNION SELECT x.o FROM r, LATERAL (SELECT b FROM matches_text WHERE a = v UNION ALL SELECT a FROM matches_text WHERE b = v) x (o)) SELECT v FROM r';
	keys bigint[] := ARRAY[n * 10, n * 10 + 70, n * 10 + 770];
	suffix text := CASE way WHEN 'bigint' THEN '' ELSE '_text' END;
BEGIN
	template := replace(replace(template, '@r', format(recursive, '@k')), '@s', format(recursive, '@k, @l, @m'));
	template := replace(replace(template, '@t', 'records' || suffix), '@c', 'chosen' || suffix);
	template := replace(template, '@g', CASE way WHEN 'bigint' THEN 'emogi_cc(''matches(a, b)'')' ELSE 'emogi_cc_text(''matches_text(a, b)'')' END);
	FOR i IN 1 .. 3 LOOP
		template := replace(template, (ARRAY['@k', '@l', '@m'])[i], CASE way WHEN 'bigint' THEN keys[i]::text ELSE quote_literal(name_of(keys[i], 'crm')) || '::text' END);
	END LOOP;
	RETURN replace(template, '@n', n::text);
END $$;

CREATE TEMP TABLE shapes (number int, asked text, statement text, recursive text);
INSERT INTO shapes VALUES
	(1, 'a record''s cluster, with its rows', 'SELECT count(*), max(x.name) FROM @g c JOIN @t x ON x.key = c.vertex WHERE c.component = (SELECT component FROM @g WHERE vertex = @k)', 'SELECT count(*), max(x.name) FROM (@r) r JOIN @t x ON x.key = r.v'),
	(2, 'the same by a self join', 'SELECT count(*), max(x.name) FROM @g s JOIN @g c ON c.component = s.component JOIN @t x ON x.key = c.vertex WHERE s.vertex = @k', 'SELECT count(*), max(x.name) FROM (@r) r JOIN @t x ON x.key = r.v'),
	(3, 'clusters of three records, IN', 'SELECT count(*), max(vertex) FROM @g WHERE component IN (SELECT component FROM @g WHERE vertex IN (@k, @l, @m))', 'SELECT count(*), max(v) FROM (@s) r'),
	(4, 'the same, ANY (ARRAY (...))', 'SELECT count(*), max(vertex) FROM @g WHERE component = ANY (ARRAY (SELECT component FROM @g WHERE vertex IN (@k, @l, @m)))', 'SELECT count(*), max(v) FROM (@s) r'),
	(5, 'are two records one?', 'SELECT (SELECT component FROM @g WHERE vertex = @k) = (SELECT component FROM @g WHERE vertex = @l)', 'SELECT EXISTS (SELECT FROM (@r) r WHERE v = @l)'),
	(6, 'sizes of three records'' clusters, LATERAL', 'SELECT sum(s.n) FROM (SELECT key FROM @t WHERE key IN (@k, @l, @m)) x, LATERAL (SELECT count(*) AS n FROM @g WHERE component = (SELECT component FROM @g WHERE vertex = x.key)) s', 'SELECT count(*) FROM (@s) r'),
	(7, 'duplicates of a record, with rows of both', 'SELECT count(*), max(y.name) FROM @t x JOIN @g s ON s.vertex = x.key JOIN @g c ON c.component = s.component JOIN @t y ON y.key = c.vertex WHERE x.key = @k AND y.key <> x.key', 'SELECT count(*), max(x.name) FROM (@r) r JOIN @t x ON x.key = r.v WHERE r.v <> @k'),
	(8, 'ten clusters that a table names', 'SELECT count(*), max(vertex) FROM @g WHERE component IN (SELECT key FROM @c WHERE n BETWEEN @n AND @n + 9)', NULL),
	(9, 'the same by LEFT JOIN', 'SELECT count(*), count(c.vertex) FROM @c o LEFT JOIN @g c ON c.component = o.key WHERE o.n BETWEEN @n AND @n + 9', NULL),
	(10, 'all clusters that a table names', 'SELECT count(*), sum(o.n) FROM @g c JOIN @c o ON o.key = c.component', NULL),
	(11, 'the largest, HAVING and LIMIT, with a row', 'SELECT g.component, g.n, x.name FROM (SELECT component, count(*) AS n FROM @g GROUP BY component HAVING count(*) > 5 ORDER BY count(*) DESC LIMIT 10) g JOIN @t x ON x.key = g.component', NULL),
	(12, 'the members of the three largest', 'WITH big AS (SELECT component FROM @g GROUP BY component ORDER BY count(*) DESC LIMIT 3) SELECT count(*), max(vertex) FROM big JOIN @g c USING (component)', NULL),
	(13, 'how many clusters of each size', 'SELECT n, count(*) FROM (SELECT component, count(*) AS n FROM @g GROUP BY component) s GROUP BY n', NULL),
	(14, 'clusters of a thousandth of the records', 'SELECT count(*), count(DISTINCT c.component) FROM @t x JOIN @g c ON c.vertex = x.key WHERE x.amount = 7', NULL),
	(15, '... that have other members', 'SELECT count(*) FROM @t x JOIN @g c ON c.vertex = x.key WHERE x.amount = 7 AND EXISTS (SELECT FROM @g d WHERE d.component = c.component AND d.vertex <> c.vertex)', NULL),
	(16, 'records that are not the first of theirs', 'SELECT count(*), max(vertex) FROM @g WHERE vertex <> component', NULL),
	(17, 'sums of all clusters', 'SELECT c.component, sum(x.amount) FROM @g c JOIN @t x ON x.key = c.vertex GROUP BY c.component ORDER BY sum(x.amount) DESC LIMIT 10', NULL),
	(18, 'sizes beside each record, a window', 'SELECT count(*) FROM (SELECT vertex, count(*) OVER (PARTITION BY component) AS n FROM @g) s WHERE n > 5', NULL),
	(19, 'all names, for comparison', 'SELECT count(*) FROM (SELECT vertex, component FROM @g OFFSET 0) s WHERE vertex IS NOT NULL AND component IS NOT NULL', NULL);

SELECT count(*) FROM emogi_cc_text('matches_text(a, b)') \g /dev/null
SELECT count(*) FROM emogi_cc('matches(a, b)') \g /dev/null
SELECT format('SELECT pg_temp.take(%L, %L, %L)', CASE n WHEN 0 THEN 'warm up' ELSE lpad(number::text, 2) || ' ' || asked END, way, pg_temp.fill(s.statement, way, 5 + n * 5))
FROM generate_series(0, 7) n, shapes, (VALUES ('text'), ('bigint'), ('recursive')) w (way), LATERAL (SELECT CASE way WHEN 'recursive' THEN shapes.recursive ELSE shapes.statement END) s (statement)
WHERE s.statement IS NOT NULL ORDER BY n, number, way \gexec

SELECT asked, text, bigint, recursive, round(text / bigint, 2) AS "text / bigint", round(text / recursive, 2) AS "text / recursive"
FROM (SELECT asked, max(ms) FILTER (WHERE way = 'text') AS text, max(ms) FILTER (WHERE way = 'bigint') AS bigint, max(ms) FILTER (WHERE way = 'recursive') AS recursive
	FROM (SELECT asked, way, round(percentile_cont(0.5) WITHIN GROUP (ORDER BY ms)::numeric, 2) AS ms FROM timing WHERE asked <> 'warm up' GROUP BY asked, way) m GROUP BY asked) w
ORDER BY asked;
DROP SCHEMA emogi_bench_joins CASCADE;
