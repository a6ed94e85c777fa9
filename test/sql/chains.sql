-- Queries each of whose parts references the previous one twice, 40 levels deep: the work must not
-- double from level to level. PostgreSQL plans and runs all of these in milliseconds; a search that
-- doubled would end with the timeout, or exhaust the machine.
SET statement_timeout = '10s';
SET jit = off;
SET client_min_messages = warning;
CREATE TYPE pair AS (a int, b int);

-- The graph of a chain of WITH queries: %s is replaced by the previous one.
CREATE FUNCTION chain(part text, depth int DEFAULT 40, result text DEFAULT 'SELECT r AS src, r AS dst') RETURNS text LANGUAGE sql AS $$
	SELECT 'WITH c0 AS (SELECT ROW(1, 2) AS r), ' || string_agg(format('c%s AS MATERIALIZED (%s)', i, replace(part, '%s', 'c' || i - 1)), ', ' ORDER BY i) ||
		' ' || result || ' FROM c' || depth
	FROM generate_series(1, depth) AS i
$$;

-- Get the plan of a call on a graph, then its rows.
CREATE FUNCTION ask(graph text, source text DEFAULT '(1,2)') RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	plan text;
	answer text;
BEGIN
	FOR plan IN EXECUTE format('EXPLAIN (COSTS off) SELECT * FROM emogi_bfs(%L, %L::text)', graph, source) LOOP
		EXIT WHEN plan LIKE '%  Graph: %';
	END LOOP;
	SELECT string_agg(vertex || ' ' || level, ', ' ORDER BY vertex) INTO answer FROM emogi_bfs(graph, source);
	RETURN trim(plan) || '; rows: ' || answer;
EXCEPTION WHEN OTHERS THEN
	RETURN SQLSTATE || ': ' || left(SQLERRM, 100);
END $$;

SELECT ask(chain('(SELECT r FROM %s UNION ALL SELECT r FROM %s) LIMIT 1'));
SELECT ask(chain('SELECT r FROM %s UNION SELECT r FROM %s'));
SELECT ask(chain('SELECT r FROM %s INTERSECT ALL SELECT r FROM %s'));
SELECT ask(chain('SELECT r FROM %s EXCEPT SELECT ROW(3, 4) FROM %s'));
SELECT ask(chain('SELECT COALESCE(r, r) AS r FROM %s'));
SELECT ask(chain('SELECT CASE WHEN (SELECT true) THEN r ELSE r END AS r FROM %s'));
SELECT ask(chain('SELECT s AS r FROM %s, LATERAL (VALUES (%s.r), (%s.r)) AS v(s) LIMIT 1'));
SELECT ask(chain('SELECT r FROM %s AS a FULL JOIN %s AS b USING (r)'));
SELECT ask(chain('SELECT r FROM %s AS a NATURAL JOIN %s AS b'));
SELECT ask(chain('SELECT j.r FROM (%s AS a(r) JOIN %s AS b(s) ON true) AS j(r)'));
SELECT ask(chain('SELECT CASE WHEN (SELECT true) THEN (SELECT r FROM %s) ELSE (SELECT r FROM %s) END AS r'));
SELECT ask(chain('SELECT r FROM (SELECT r FROM %s GROUP BY r) AS g UNION SELECT r FROM (SELECT DISTINCT r FROM %s) AS d'));
SELECT ask(chain('SELECT r FROM (WITH c0 AS (SELECT r FROM %s UNION SELECT r FROM %s) SELECT r FROM c0) AS q'));
SELECT ask(replace(chain('SELECT r FROM %s UNION SELECT r FROM %s'), 'WITH c0', 'WITH RECURSIVE c0'));
SELECT ask('SELECT r40 AS src, r40 AS dst FROM (SELECT ROW(1, 2) AS r0 OFFSET 0) AS l0' ||
	string_agg(format(', LATERAL (SELECT COALESCE(r%s, r%s) AS r%s OFFSET 0) AS l%s', i - 1, i - 1, i, i), '' ORDER BY i)) FROM generate_series(1, 40) AS i;

-- differing columns are also detected behind a chain, and a literal is treated as elsewhere
SELECT ask(chain('(SELECT r FROM %s UNION ALL SELECT r FROM %s) LIMIT 1', 40, 'SELECT r AS src, r AS dst FROM c1 UNION ALL SELECT ROW(1, true), ROW(2, true) FROM c0 UNION ALL SELECT r, r'));
SELECT ask(replace(chain('(SELECT r FROM %s UNION ALL SELECT r FROM %s) LIMIT 1'), 'ROW(1, 2)', 'ROW(1, ''x'')'), '(1,x)');

-- views of such queries
CREATE FUNCTION make_view(name text, query text) RETURNS void LANGUAGE plpgsql AS $$ BEGIN EXECUTE format('CREATE VIEW %I AS %s', name, query); END $$;
SELECT make_view('doubled', replace(chain('SELECT r FROM %s UNION SELECT r FROM %s'), 'ROW(1, 2)', 'ROW(1, 2)::pair'));
SELECT ask('doubled');
SELECT ask('SELECT ROW((src).a, (src).b), ROW((dst).a, (dst).b) FROM doubled');

-- views over views: one by one 40 levels deep, and with two references each as deep as the server
-- itself can expand them
CREATE VIEW v0 AS SELECT 1 AS src, 2 AS dst;
SELECT count(make_view('v' || i, 'SELECT * FROM v' || i - 1)) FROM generate_series(1, 40) AS i;
SELECT ask('v40', '1');
CREATE VIEW w0 AS SELECT 1 AS src, 2 AS dst;
SELECT count(make_view('w' || i, format('SELECT * FROM w%s UNION SELECT * FROM w%s', i - 1, i - 1))) FROM generate_series(1, 8) AS i;
SELECT ask('w8', '1');

-- SQL functions: each is inspected once, however often others call it
CREATE TABLE one (x int);
INSERT INTO one VALUES (1);
CREATE FUNCTION f0(int) RETURNS int LANGUAGE sql STABLE AS 'SELECT $1 FROM one';
CREATE FUNCTION make_functions(depth int) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	FOR i IN 1 .. depth LOOP
		EXECUTE format('CREATE FUNCTION f%s(int) RETURNS int LANGUAGE sql STABLE AS ''SELECT CASE WHEN x = 1 THEN $1 ELSE f%s($1) + f%s($1) END FROM one''', i, i - 1, i - 1);
	END LOOP;
END $$;
SELECT make_functions(40);
SELECT ask('SELECT f7(x) AS src, f7(x) AS dst FROM one', '1');
SELECT ask('SELECT f40(x) AS src, f40(x) AS dst FROM one', '1');
SELECT ask('SELECT f40(1) AS src, f40(1) AS dst FROM one', '1');

-- expressions, deep and wide: constant parts are evaluated once
SELECT ask('SELECT ' || repeat('(1 + ', 2000) || 'x' || repeat(')', 2000) || ' AS src, x AS dst FROM one', '1');
SELECT ask('SELECT ' || repeat('1 + ', 2000) || 'x AS src, x AS dst FROM one WHERE now() >= ' || repeat('greatest(now(), ', 500) || '''-infinity''' || repeat(')', 500), '1');
SELECT ask('SELECT x AS src, x AS dst FROM one WHERE x IN (' || string_agg(i::text, ', ') || ')', '1') FROM generate_series(1, 20000) AS i;
SELECT ask('SELECT 1 AS src, 2 AS dst' || repeat(' UNION ALL SELECT 1, 2', 500), '1');
SELECT ask('SELECT ' || repeat('(', 100000) || '1' || repeat(')', 100000) || ' AS src, 2 AS dst', '1');

-- calls with omitted arguments, nested
CREATE FUNCTION left_out(int, int DEFAULT 1, int DEFAULT 2) RETURNS int LANGUAGE internal IMMUTABLE AS 'int4abs';
SELECT ask('SELECT ' || repeat('left_out(', 1000) || 'x' || repeat(' + 1 - 1)', 1000) || ' AS src, x AS dst FROM one', '1');

-- a parameter that occurs many times in a text
SELECT count(*) FROM emogi_bfs(emogi_query('SELECT 1, 2 WHERE $1 <> ''''' || repeat(' AND $1 <> ''y''', 200), repeat('x', 10000)), 1);

DROP TABLE one CASCADE;
DROP VIEW doubled, v0, w0 CASCADE;
DROP FUNCTION left_out, chain, ask, make_view, make_functions;
DO $$ BEGIN FOR i IN 0 .. 40 LOOP EXECUTE format('DROP FUNCTION f%s', i); END LOOP; END $$;
DROP TYPE pair;
