-- Graphs of queries and views are shared: which queries are, that each change below is visible, and
-- why others are private.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS emogi;
DROP SCHEMA IF EXISTS test_queries CASCADE;
RESET client_min_messages;
CREATE SCHEMA test_queries;
SET search_path = test_queries, public;
SET TimeZone = 'UTC';
\pset format unaligned
\pset tuples_only on
SELECT emogi_evict() IS NOT NULL;

CREATE TABLE e (id bigserial PRIMARY KEY, src bigint, dst bigint, w float8, t timestamptz, d date, txt text, n numeric, b bytea);
INSERT INTO e (src, dst, w, t, d, txt, n, b)
	SELECT g, g % 7, g / 3.0, timestamptz '2026-01-01 23:30+00' + g * interval '1 hour', '2026-01-01', 'x' || g, g, '\x01' FROM generate_series(1, 60) g;
CREATE TABLE v (id bigint PRIMARY KEY, tenant int, name text);
INSERT INTO v SELECT g, g % 3, 'v' || g FROM generate_series(0, 60) g;
CREATE TABLE p (src bigint, dst bigint, k int) PARTITION BY RANGE (k);
CREATE TABLE p1 PARTITION OF p FOR VALUES FROM (0) TO (10);
CREATE TABLE p2 PARTITION OF p FOR VALUES FROM (10) TO (20);
INSERT INTO p SELECT g, g + 1, g FROM generate_series(0, 19) g;
CREATE TABLE par (src bigint, dst bigint);
CREATE TABLE chi () INHERITS (par);
INSERT INTO chi VALUES (1, 2);
INSERT INTO par VALUES (3, 4);
CREATE VIEW ve AS SELECT src, dst, w FROM e WHERE src > 10;
CREATE VIEW vv AS SELECT ve.src, v.tenant::bigint AS dst FROM ve JOIN v ON v.id = ve.src;
CREATE MATERIALIZED VIEW m AS SELECT src, dst FROM e;
CREATE UNLOGGED TABLE ul AS SELECT src, dst FROM e;
CREATE SEQUENCE sq;
CREATE TYPE mood AS ENUM ('a', 'b');
CREATE TABLE em (src bigint, dst bigint, m mood);
INSERT INTO em VALUES (1, 2, 'a'), (3, 4, 'b');
CREATE DOMAIN dom AS bigint CHECK (value > 0);
CREATE TABLE od (src dom, dst dom);
INSERT INTO od VALUES (1, 2);
CREATE FUNCTION reads(bigint) RETURNS bigint LANGUAGE sql STABLE AS $$SELECT count(*) FROM test_queries.v WHERE id <= $1$$;
CREATE FUNCTION atomic_(bigint) RETURNS bigint LANGUAGE sql STABLE BEGIN ATOMIC SELECT count(*) FROM test_queries.v WHERE id <= $1; END;
CREATE FUNCTION pure(bigint, k bigint DEFAULT 1) RETURNS bigint LANGUAGE sql IMMUTABLE AS $$SELECT $1 + k$$;
CREATE FUNCTION purevol(bigint) RETURNS bigint LANGUAGE sql AS $$SELECT $1 + 5$$;
CREATE FUNCTION neigh(bigint) RETURNS TABLE (dst bigint) LANGUAGE sql STABLE ROWS 3 AS $$SELECT id FROM test_queries.v WHERE id BETWEEN $1 AND $1 + 2$$;
CREATE FUNCTION volreads(bigint) RETURNS bigint LANGUAGE sql AS $$SELECT count(*) FROM test_queries.v WHERE id <= $1$$;
CREATE FUNCTION plimm(bigint) RETURNS bigint LANGUAGE plpgsql IMMUTABLE AS $$BEGIN RETURN (SELECT count(*) FROM test_queries.v WHERE id <= $1); END$$;
CREATE FUNCTION immreads(bigint) RETURNS bigint LANGUAGE sql IMMUTABLE AS $$SELECT max(tenant) FROM test_queries.v WHERE id <= $1$$;
CREATE FUNCTION secdef(bigint) RETURNS bigint LANGUAGE sql STABLE SECURITY DEFINER AS $$SELECT count(*) FROM test_queries.v WHERE id <= $1$$;
CREATE FUNCTION withset(bigint) RETURNS bigint LANGUAGE sql STABLE SET search_path = 'test_queries' AS $$SELECT count(*) FROM v WHERE id <= $1$$;
CREATE FUNCTION anyarg(anyelement) RETURNS anyelement LANGUAGE sql IMMUTABLE AS $$SELECT $1$$;
CREATE FUNCTION twice(bigint) RETURNS bigint LANGUAGE sql STABLE AS $$SELECT $1 + 1; SELECT $1 + 2$$;
CREATE FUNCTION frnd(bigint, float8 DEFAULT random()) RETURNS bigint LANGUAGE internal IMMUTABLE AS 'int8abs';
SET check_function_bodies = off;
CREATE FUNCTION deep(bigint) RETURNS bigint LANGUAGE sql STABLE AS $$SELECT test_queries.deep1($1)$$;
\set ECHO none
SELECT format('CREATE FUNCTION deep%s(bigint) RETURNS bigint LANGUAGE sql STABLE AS $f$SELECT %s($1)$f$', n, CASE WHEN n < 9 THEN 'test_queries.deep' || n + 1 ELSE 'abs' END)
  FROM generate_series(1, 9) n
\gexec
\set ECHO all
RESET check_function_bodies;
CREATE FOREIGN DATA WRAPPER test_queries_fdw;
CREATE SERVER test_queries_server FOREIGN DATA WRAPPER test_queries_fdw;
CREATE FOREIGN TABLE ft (src bigint, dst bigint) SERVER test_queries_server;
CREATE TEMP TABLE tt (src bigint, dst bigint);

\i test/data/how.sql

-- ---- shared forms; their base tables, and a value of the call
CREATE TABLE forms (id serial, form text, leaves text[], query text, of_call bool DEFAULT false);
INSERT INTO forms (form, leaves, query) VALUES
	('table', '{e}', 'SELECT src, dst FROM e'),
	('name of a view', '{e}', 've'),
	('name of a view of views', '{e,v}', 'vv'),
	('view', '{e}', 'SELECT src, dst FROM ve AS x'),
	('weights', '{e}', 'SELECT src, dst, w AS weight FROM ve'),
	('CTE', '{e}', 'WITH x AS (SELECT src, dst FROM e) SELECT * FROM x'),
	('materialized CTE', '{e}', 'WITH x AS MATERIALIZED (SELECT src, dst FROM e WHERE src > 3) SELECT a.src, b.dst FROM x a JOIN x b ON a.src = b.src'),
	('recursive', '{e,v}', 'WITH RECURSIVE r (s, d) AS (SELECT src, dst FROM e WHERE src = 8 UNION SELECT r.d, v.id FROM r JOIN v ON v.id = r.d - 1) SELECT * FROM r'),
	('sublink', '{e,v}', 'SELECT src, coalesce((SELECT tenant::bigint FROM v WHERE id = e.src), 0) FROM e'),
	('EXISTS', '{e,v}', 'SELECT src, dst FROM e WHERE EXISTS (SELECT FROM v WHERE v.id = e.src AND tenant = 1)'),
	('IN', '{e,v}', 'SELECT src, dst FROM e WHERE src IN (SELECT id FROM v WHERE tenant = 2)'),
	('<> ALL', '{e,v}', 'SELECT src, dst FROM e WHERE src <> ALL (SELECT id FROM v WHERE tenant = 2)'),
	('UNION', '{e,v}', 'SELECT src, dst FROM e UNION SELECT id, tenant FROM v'),
	('UNION ALL', '{e,v}', 'SELECT src, dst FROM e UNION ALL SELECT id, tenant FROM v'),
	('EXCEPT', '{e,v}', 'SELECT src, dst FROM e EXCEPT SELECT id, tenant FROM v'),
	('INTERSECT ALL', '{e,v}', 'SELECT id, tenant::bigint FROM v INTERSECT ALL SELECT src, dst FROM e'),
	('VALUES', '{}', 'VALUES (1::bigint, 2::bigint), (3, 4)'),
	('generate_series', '{}', 'SELECT g::bigint, g::bigint FROM generate_series(1, 9) g'),
	('unnest', '{}', 'SELECT u::bigint, 1::bigint FROM unnest(ARRAY[1, 2, 3]) u'),
	('LATERAL', '{e,v}', 'SELECT e.src, x.id FROM e, LATERAL (SELECT id FROM v WHERE v.id < e.src ORDER BY id DESC LIMIT 2) x'),
	('aggregate', '{e}', 'SELECT dst, count(*) FROM e GROUP BY dst'),
	('FILTER, HAVING', '{e}', 'SELECT dst, (sum(src) FILTER (WHERE src > 5))::bigint FROM e GROUP BY dst HAVING count(*) > 1'),
	('window', '{e}', 'SELECT src, row_number() OVER (PARTITION BY dst ORDER BY src) FROM e'),
	('window with RANGE', '{e}', 'SELECT src, (sum(dst) OVER (ORDER BY src RANGE BETWEEN 2 PRECEDING AND 1 FOLLOWING))::bigint FROM e'),
	('GROUPING SETS', '{e}', 'SELECT coalesce(src, 0), count(*) FROM e GROUP BY GROUPING SETS ((src), ())'),
	('DISTINCT ON', '{e}', 'SELECT DISTINCT ON (dst) src, dst FROM e ORDER BY dst, src, id'),
	('ORDER BY, LIMIT', '{e}', 'SELECT src, dst FROM e ORDER BY src, id LIMIT 5 OFFSET 2'),
	('partitions', '{p1,p2}', 'SELECT src, dst FROM p'),
	('pruned partitions', '{p1,p2}', 'SELECT src, dst FROM p WHERE k = 3'),
	('inheritance', '{par,chi}', 'SELECT src, dst FROM par'),
	('ONLY', '{par}', 'SELECT src, dst FROM ONLY par'),
	('materialized view', '{m}', 'SELECT src, dst FROM m'),
	('unlogged', '{ul}', 'SELECT src, dst FROM ul'),
	('function in SQL that reads', '{e,v}', 'SELECT src, reads(src) FROM e'),
	('function in SQL, stored parsed', '{e,v}', 'SELECT src, atomic_(src) FROM e'),
	('function in SQL, inlined', '{e}', 'SELECT pure(src), dst FROM e'),
	('function in SQL without label that reads nothing', '{e}', 'SELECT purevol(src), dst FROM e'),
	('function in SQL that returns rows', '{e,v}', 'SELECT src, x.dst FROM e, neigh(e.src) x'),
	('IMMUTABLE function in SQL that reads', '{e,v}', 'SELECT src, immreads(5) FROM e WHERE dst < immreads(4)'),
	('array', '{e}', 'SELECT src, dst FROM e WHERE src = ANY (ARRAY[1, 2, 3])'),
	('CASE, GREATEST, COALESCE, NULLIF', '{e}', 'SELECT greatest(src, dst), coalesce(nullif(dst, 3), 9) FROM e WHERE CASE WHEN src > 5 THEN true ELSE dst = 1 END'),
	('comparison of rows', '{e}', 'SELECT src, dst FROM e WHERE (src, dst) < (20, 3)'),
	('regular expression', '{e}', 'SELECT src, dst FROM e WHERE txt ~ ''1$'' AND lower(txt) LIKE ''x%'''),
	('numeric', '{e}', 'SELECT n::bigint, dst FROM e WHERE n > 3.5'),
	('ctid', '{e}', 'SELECT src, dst FROM e WHERE ctid < ''(0,10)'''),
	('tableoid', '{p1,p2}', 'SELECT src, dst FROM p WHERE tableoid <> 0'),
	('enum', '{em}', 'SELECT src, dst FROM em WHERE m > ''a'''),
	('domain', '{od}', 'SELECT src, dst FROM od'),
	('jsonb', '{}', 'SELECT (''{"a": 1}''::jsonb->>''a'')::bigint, 2::bigint'),
	('full join', '{e,v}', 'SELECT coalesce(a.src, 0), coalesce(b.id, 0) FROM e a FULL JOIN v b ON a.src = b.id + 5'),
	('whole row', '{e}', 'SELECT src, (x).dst FROM e x'),
	('cast by time zone', '{e}', 'SELECT src, dst FROM e WHERE t::date = date ''2026-01-02'''),
	('date_trunc', '{e}', 'SELECT src, dst FROM e WHERE date_trunc(''day'', t) >= ''2026-01-02'''),
	('age', '{e}', 'SELECT src, extract(hour FROM age(t, ''2026-01-01''))::bigint FROM e'),
	('regclass', '{e}', 'SELECT src, dst FROM e WHERE ''test_queries.e''::regclass::oid > 0');
INSERT INTO forms (of_call, form, leaves, query) VALUES
	(true, 'current_date', '{e}', 'SELECT src, dst FROM e WHERE d <= current_date'),
	(true, 'now() long ago', '{e}', 'SELECT src, dst FROM e WHERE t > date_trunc(''century'', now()) - interval ''100 years'''),
	(true, 'current_user', '{e}', 'SELECT src, dst FROM e WHERE current_user IS NOT NULL'),
	(true, 'current_setting', '{e}', 'SELECT src, dst FROM e WHERE dst = coalesce(nullif(current_setting(''app.none'', true), ''''), ''1'')::bigint');
CREATE TABLE changes (leaf text, change text);
INSERT INTO changes VALUES
	('e', 'INSERT INTO e (src, dst, w, t, d, txt, n) SELECT 61 + count(*), 1, 0.5, ''2026-01-02 11:00+00'', ''2026-01-01'', ''x1'', 4 FROM e'),
	('v', 'UPDATE v SET tenant = (tenant + 1) % 3 WHERE id IN (1, 8, 12, 14, 15)'),
	('p1', 'INSERT INTO p1 VALUES (3, 3, 3)'), ('p2', 'INSERT INTO p2 VALUES (13, 3, 13)'),
	('par', 'INSERT INTO par VALUES (5, 6)'), ('chi', 'INSERT INTO chi VALUES (7, 8)'),
	('m', 'REFRESH MATERIALIZED VIEW m'), ('ul', 'DELETE FROM ul WHERE ctid IN (SELECT ctid FROM ul LIMIT 1)'),
	('em', 'INSERT INTO em VALUES (5, 6, ''b'')'), ('od', 'INSERT INTO od VALUES (5, 6)');
-- A key with a value of the call is shared when it is requested for the second time.
CREATE TABLE tried (form text, step text, expected text, how text);
\set ECHO none
SELECT statement FROM forms, LATERAL (VALUES (0), (1), (2)) step (n),
	LATERAL (SELECT format('INSERT INTO tried SELECT %L, ''%s'', %L, how(%L)', form, n, (ARRAY['private%', 'built', 'hit'])[n + 1], query)) made (statement)
 WHERE n > 0 OR of_call ORDER BY id, n
\gexec
SELECT statement FROM forms, unnest(leaves) WITH ORDINALITY AS below (leaf, place), LATERAL (SELECT change FROM changes WHERE changes.leaf = below.leaf) found,
	LATERAL (VALUES (1, change), (2, format('INSERT INTO tried SELECT %L, %L, ''built'', how(%L)', form, leaf || ' changed', query))) made (part, statement)
 ORDER BY id, place, part
\gexec
\set ECHO all
SELECT count(DISTINCT form) || ' forms, ' || count(*) FILTER (WHERE step LIKE '%changed') || ' changes' FROM tried;
-- Filtered tables built twice are tracked.
SELECT * FROM tried WHERE how NOT LIKE expected;

-- ---- private queries, and the reason; each is still answered correctly
CREATE TABLE refused (id serial, query text, answered bool DEFAULT true);
INSERT INTO refused (query) VALUES
	('SELECT src, dst FROM e WHERE random() < 2'), ('SELECT src, nextval(''sq'') - lastval() FROM e'), ('SELECT src, dst FROM e TABLESAMPLE system (100)'),
	('SELECT last_value, 1 FROM sq'), ('SELECT 2200::bigint, 1 FROM pg_class WHERE relname = ''e'''),
	('SELECT ordinal_position, 1 FROM information_schema.columns WHERE table_schema = ''test_queries'''), ('SELECT src, dst FROM tt'),
	('SELECT src, dst FROM e WHERE xmax = 0'), ('SELECT src, dst FROM e WHERE xmin::text <> '''''), ('SELECT plimm(src), dst FROM e'), ('SELECT secdef(src), dst FROM e'),
	('SELECT withset(src), dst FROM e'), ('SELECT volreads(src), dst FROM e'), ('SELECT anyarg(src), dst FROM e'), ('SELECT twice(src), dst FROM e'),
	('SELECT frnd(src), dst FROM e'), ('SELECT deep(src), dst FROM e'),
	('SELECT src, dst FROM e WHERE to_tsvector(''english'', txt) @@ to_tsquery(''english'', ''x1'')'), ('SELECT src::dom, dst FROM e WHERE src > 0'),
	('SELECT src, dst FROM em WHERE m::text = ''a'''), ('SELECT src, dst FROM e WHERE (txt || now())::text <> '''''),
	('SELECT src, dst FROM e WHERE clock_timestamp() > t - interval ''1000 years'''), ('SELECT src, length(format(''%s'', txt)) FROM e'),
	('SELECT src, dst FROM e WHERE replace(''today'', txt, '''')::date > ''2000-01-01'''), ('SELECT src, dst FROM e WHERE pg_relation_size(tableoid) > 0'),
	('SELECT src, dst FROM e WHERE false AND dst = current_setting(''app.missing'')::int'), ('SELECT b.vertex, b.level FROM emogi_bfs(''e'', 1) b'),
	('SELECT src, dst FROM (SELECT src, dst, row_number() OVER (ORDER BY random()) FROM e) x');
\set ECHO none
SELECT format('SELECT %L, how(%L)', query, query) FROM refused ORDER BY id
\gexec
\set ECHO all
-- Queries that raise an error still raise it.
\set VERBOSITY terse
SELECT how('SELECT src, dst FROM e FOR UPDATE');
SELECT how('SELECT src, dst FROM (SELECT * FROM e FOR SHARE) x');
SELECT how('WITH x AS (DELETE FROM e WHERE false RETURNING src, dst) SELECT * FROM x');
SELECT how('SELECT src, dst FROM ft');
SELECT how('SELECT 1, 2; SELECT 3, 4');
SELECT how('SELECT src, dst FROM e WHERE dst = current_setting(''app.missing'')::int');
SELECT how('SELECT src FROM e');
SELECT how('SELECT src, txt FROM e');
SELECT how('SELECT src, dst FROM nowhere');
\set VERBOSITY default

-- EXPLAIN shows it, before and after execution; where a call would raise an error, it shows
-- nothing.
SET emogi.engine = auto;
EXPLAIN (COSTS OFF) SELECT * FROM emogi_bfs('ve', 20);
EXPLAIN (COSTS OFF) SELECT * FROM emogi_bfs('SELECT src, dst FROM e', 20);
EXPLAIN (COSTS OFF) SELECT * FROM emogi_bfs('SELECT src, dst FROM e WHERE src > 11', 20);
EXPLAIN (COSTS OFF) SELECT * FROM emogi_bfs('SELECT src, dst FROM e WHERE random() < 2', 20);
EXPLAIN (COSTS OFF) SELECT * FROM emogi_bfs('SELECT src, dst FROM nowhere', 20);
CREATE FUNCTION explained(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	line text;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) ' || query LOOP
		IF line ~ 'Graph|Cache' THEN
			RETURN NEXT line;
		END IF;
	END LOOP;
END$$;
SELECT explained($$SELECT * FROM emogi_bfs('SELECT src, dst FROM e WHERE random() < 2', 20)$$);
SELECT explained($$SELECT * FROM emogi_bfs('ve', 20)$$);
SELECT explained($$SELECT * FROM emogi_bfs('ve', 20)$$);

-- Reasons of the transaction.
BEGIN;
UPDATE v SET tenant = 9 WHERE id = 3;
SELECT how('vv');
SELECT how('SELECT src, dst FROM e');
ROLLBACK;
BEGIN ISOLATION LEVEL SERIALIZABLE;
SELECT how('vv');
COMMIT;
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT how('vv');
COMMIT;
SET emogi.enable_cache = off;
SELECT how('vv');
RESET emogi.enable_cache;

-- A value of the call that differs each time never uses cache memory.
SELECT how('SELECT src, dst FROM e WHERE t < now()') LIKE 'private: it has a value of the time that differs%' FROM generate_series(1, 1);
SELECT how('SELECT src, dst FROM e WHERE t < now()') LIKE 'private: it has a value of the time that differs%' FROM generate_series(1, 1);
SELECT count(*) FROM emogi_graphs WHERE source LIKE '%now()%' AND source NOT LIKE '%century%';

-- All directions and functions; a graph of a query can be a base graph, and serves calls without
-- weights.
SELECT emogi_evict() IS NOT NULL;
SELECT cache FROM emogi_check('SELECT src, dst, w AS weight FROM e', weights => true);
SELECT cache FROM emogi_check('SELECT src, dst, w AS weight FROM e');
SELECT ok, cache FROM emogi_check('SELECT src, dst, w AS weight FROM e', 'in', true);
SELECT ok, cache FROM emogi_check('SELECT src, dst, w AS weight FROM e', 'both', true, true);
SELECT count(*), sum(level) FROM emogi_bfs('SELECT src, dst FROM e', 20, direction => 'both');
SELECT count(*), sum(level) FROM emogi_bfs('e', 20, direction => 'both');
SELECT count(*), sum(component) FROM emogi_cc('vv');
SELECT count(*), sum(component) FROM emogi_cc('vv');
SELECT function, source, cache FROM emogi_runs WHERE pid = pg_backend_pid() ORDER BY id DESC LIMIT 4;

-- Rows with a NULL endpoint are skipped and counted.
CREATE VIEW holes AS SELECT nullif(src, 20) AS src, nullif(dst, 3) AS dst FROM e;
SELECT how('holes');
SELECT how('holes');
SELECT source, relation = 'holes'::regclass, columns, skipped_rows, hits FROM emogi_graphs WHERE source LIKE '%holes%';

-- emogi_evict: by query, by view name, by base table, all.
SELECT emogi_evict('SELECT src, dst FROM test_queries.holes') >= 0;
SELECT count(*) FROM emogi_graphs WHERE source LIKE '%holes%';
SELECT how('holes');
SELECT emogi_evict('holes') >= 0;
SELECT count(*) FROM emogi_graphs WHERE source LIKE '%holes%';
SELECT how('holes');
SELECT emogi_evict('v') >= 0;
SELECT count(*) FROM emogi_graphs WHERE source LIKE '%holes%';
SELECT emogi_evict('e') >= 0;
SELECT count(*) FROM emogi_graphs WHERE source LIKE '%holes%';
SELECT how('holes');
SELECT emogi_evict() >= 0;
SELECT count(*) FROM emogi_graphs WHERE source LIKE '%SELECT%' AND database = current_database();
SELECT emogi_evict('SELECT src, dst FROM e WHERE random() < 2');

-- Negative controls: with a rule disabled, answers are wrong.
SET emogi.fault = 'query_base_tables=0';
SELECT how('vv');
UPDATE v SET tenant = tenant + 1 WHERE id = 30;
SELECT how('vv');
RESET emogi.fault;
SELECT how('vv');
SET emogi.fault = 'query_children=0';
SELECT how('SELECT DISTINCT src, dst FROM par');
SET emogi.fault = 'query_children=0,query_publish=0';
SELECT how('SELECT DISTINCT src, dst FROM par');
INSERT INTO chi VALUES (50, 51);
SELECT how('SELECT DISTINCT src, dst FROM par');
RESET emogi.fault;
SET emogi.fault = 'query_own=0';
BEGIN;
SELECT how('vv');
UPDATE v SET tenant = 17 WHERE id = 31;
SELECT how('vv');
ROLLBACK;
RESET emogi.fault;
SET emogi.fault = 'query_defaults=0';
SELECT how('SELECT frnd(src), dst FROM e');
RESET emogi.fault;
SET emogi.fault = 'query_second_lookup=0';
SELECT how('SELECT src, dst FROM e WHERE t < now()');
RESET emogi.fault;

SET client_min_messages = warning;
DROP FOREIGN DATA WRAPPER test_queries_fdw CASCADE;
DROP SCHEMA test_queries CASCADE;
