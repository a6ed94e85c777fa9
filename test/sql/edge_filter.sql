-- A condition on edges in the call: edge_filter and params. A call is one on SELECT FROM the graph WHERE the condition.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS emogi;
DROP ROLE IF EXISTS regress_emogi_filter;
RESET client_min_messages;
CREATE SCHEMA test_edge_filter;
SET search_path = test_edge_filter, public;
SET emogi.engine = cpu;
CREATE TABLE calls (src int, dst int, kind text, amount float8, day date, weight float8, note text COLLATE "C");
INSERT INTO calls SELECT i % 40, (i * 7 + i / 11) % 40, (ARRAY['sms', 'call', NULL])[i % 3 + 1], i % 17, date '2026-01-01' + i % 30, i % 5,
	chr(97 + i % 26) FROM generate_series(1, 400) i;
ANALYZE calls;

-- what(): the vertices that a call reaches from 1, and the sum of their levels
CREATE FUNCTION what(graph text, edge_filter text DEFAULT NULL, params record DEFAULT NULL) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	RETURN (SELECT concat_ws(' ', count(*), sum(level), sum(vertex * level * level)) FROM emogi_bfs(graph, 1, edge_filter => what.edge_filter, params => what.params));
END $$;

-- ---- forms of the graph argument: each line must be the same as the first ----
CREATE TABLE "Odd Calls" AS SELECT src AS "From", dst AS "to x", kind, amount, weight FROM calls;
CREATE VIEW v AS SELECT src, dst, kind, amount FROM calls;
CREATE MATERIALIZED VIEW mv AS SELECT src, dst, kind, amount FROM calls;
CREATE TABLE parts (src int, dst int, kind text, amount float8) PARTITION BY LIST (kind);
CREATE TABLE parts_sms PARTITION OF parts FOR VALUES IN ('sms');
CREATE TABLE parts_other PARTITION OF parts DEFAULT;
INSERT INTO parts SELECT src, dst, kind, amount FROM calls;
CREATE TEMP TABLE own AS SELECT * FROM calls;
SELECT form, what(graph, 'kind = $1 AND amount > $2', ROW('sms', 3)) = what('SELECT src, dst FROM calls WHERE kind = ''sms'' AND amount > 3') AS same
FROM (VALUES ('table', 'calls'), ('qualified', 'test_edge_filter.calls'), ('columns', 'calls(src, dst)'), ('weight named', 'calls(src, dst, amount)'),
	('quoted', '"Odd Calls"("From", "to x")'), ('view', 'v'), ('materialized view', 'mv'), ('partitioned', 'parts'), ('temporary', 'own'),
	('query', 'SELECT src, dst, kind, amount FROM calls'), ('query with a semicolon', 'SELECT src, dst, kind, amount FROM calls; '),
	('query with a comment', 'SELECT src, dst, kind, amount FROM calls -- all'), ('WITH', 'WITH c AS (SELECT * FROM calls) SELECT * FROM c'),
	('TABLE', 'TABLE calls'), ('parentheses', '(SELECT src, dst, kind, amount FROM calls)'), ('UNION', 'SELECT src, dst, kind, amount FROM calls UNION ALL SELECT 1, 1, ''sms'', 1'),
	('limit inside', 'SELECT * FROM calls ORDER BY src LIMIT 1000')) AS forms(form, graph);
SELECT what('calls', 'kind = $1 AND amount > $2', ROW('sms', 3));
-- A condition of the graph argument holds as well, and cannot let the filter out.
SELECT what('calls WHERE amount > 3', 'kind = $1', ROW('sms')) = what('calls WHERE amount > 3 AND kind = ''sms''') AS both;
SELECT what('calls WHERE amount > 3 OR kind = ''call'' -- mine', 'kind = $1 -- yours', ROW('sms')) = what('calls WHERE amount > 3 AND kind = ''sms''') AS both;
SELECT what('calls(src, dst) WHERE amount > 12 OR true', 'kind = $1', ROW('sms')) = what('calls WHERE kind = ''sms''') AS both;
SELECT what('calls WHERE amount > 3) OR (true', 'kind = ''sms''');
SELECT what('calls WHERE (amount > 3) OR (amount < 2)', 'kind = ''sms''') = what('calls WHERE (amount > 3 OR amount < 2) AND kind = ''sms''') AS both;
SELECT what('SELECT src, dst, kind FROM calls) AS q UNION (SELECT src, dst, kind FROM calls', 'kind = ''sms''');
-- The same filter of another relation, and of another value, is another graph.
CREATE TABLE few AS SELECT 1 AS src, 2 AS dst, 5.0 AS amount;
SELECT what('few', 'amount > 3'), what('few', 'amount > 7'), what('calls', 'amount > 14') = what('calls WHERE amount > 14') AS same, what('few', 'amount > 4');
-- Parameters of emogi_query and of the filter are separate.
SELECT what(emogi_query('calls WHERE amount > $1', 3), 'kind = $1', ROW('sms')) = what('calls WHERE amount > 3 AND kind = ''sms''') AS separate;
SELECT what(emogi_query('SELECT src, dst, kind FROM calls WHERE amount > $1', 3), 'kind = $1', ROW('sms')) = what('calls WHERE amount > 3 AND kind = ''sms''') AS separate;
-- A relation by its OID, with columns
SELECT count(*) = (SELECT count(*) FROM emogi_cc('calls WHERE kind = ''sms''')) AS same FROM emogi_cc('calls'::regclass, edge_filter => 'kind = $1', params => 'sms'::text);
SELECT count(*) = (SELECT count(*) FROM emogi_cc('calls(dst, src) WHERE kind = ''sms''')) AS same FROM emogi_cc('calls', columns => 'dst, src', edge_filter => 'kind = $1', params => 'sms'::text);
SELECT count(*) FROM emogi_cc('calls', 'src, dst');
SELECT count(*) FROM emogi_cc('calls'::regclass, 'src, dst');
-- Several columns, weights, reverse weights, names of edges, directions
CREATE TABLE trip (city text, line int, to_city text, to_line int, minutes int, back int, id int, open boolean);
INSERT INTO trip SELECT 'c' || i % 7, i % 3, 'c' || (i * 5) % 7, i % 2, i % 11, CASE WHEN i % 4 = 0 THEN -1 ELSE i % 6 END, i, i % 5 > 0 FROM generate_series(1, 90) i;
SELECT count(*), sum(distance) FROM emogi_sssp('trip((city, line), (to_city, to_line), minutes)', '(c1,1)', edge_filter => 'open');
SELECT count(*), sum(distance) FROM emogi_sssp('trip((city, line), (to_city, to_line), minutes) WHERE open', '(c1,1)');
SELECT count(*), sum(distance) FROM emogi_sssp('trip((city, line), (to_city, to_line), minutes, back) WHERE line < 2', '(c1,1)', edge_filter => 'open', direction => 'in');
SELECT count(*), sum(distance) FROM emogi_sssp('trip((city, line), (to_city, to_line), minutes, back) WHERE line < 2 AND open', '(c1,1)', direction => 'in');
SELECT seq, vertex, edge, cost FROM emogi_shortest_path('trip(city, to_city, minutes, back, id)', 'c1', 'c6', edge_filter => 'open AND id > $1', params => 20)
EXCEPT SELECT seq, vertex, edge, cost FROM emogi_shortest_path('trip(city, to_city, minutes, back, id) WHERE open AND id > 20', 'c1', 'c6');
SELECT count(*), sum(distance) FROM emogi_sssp('SELECT ROW(city, line) AS src, ROW(to_city, to_line) AS dst, minutes AS cost, back AS reverse_cost, open FROM trip', '(c1,1)', edge_filter => 'open');
SELECT count(*), sum(distance) FROM emogi_sssp('SELECT ROW(city, line) AS src, ROW(to_city, to_line) AS dst, minutes AS cost, back AS reverse_cost FROM trip WHERE open', '(c1,1)');
SELECT direction, (SELECT count(*) || ' ' || sum(level) FROM emogi_bfs('calls', 1, direction => direction, edge_filter => 'day > $1', params => date '2026-01-20'))
	= (SELECT count(*) || ' ' || sum(level) FROM emogi_bfs('calls WHERE day > ''2026-01-20''', 1, direction => direction)) AS same FROM unnest('{out,in,both}'::text[]) direction;
-- The third column of a query is a weight if it was written; a column vertex of a `*` is ambiguous
SELECT count(*), sum(distance) FROM emogi_sssp('SELECT src, dst, amount FROM calls', 1, edge_filter => 'amount > 2');
SELECT count(*), sum(distance) FROM emogi_sssp('SELECT src, dst, amount FROM calls WHERE amount > 2', 1);
CREATE TABLE with_vertex (src int, dst int, vertex int);
SELECT count(*) FROM emogi_cc('SELECT * FROM with_vertex', edge_filter => 'src > 0');
-- Vertices of emogi_with_vertices have no edge: a condition that is not true for NULL leaves them out
CREATE TABLE person (id int);
INSERT INTO person VALUES (1), (100);
SELECT count(*) FROM emogi_cc(emogi_with_vertices('calls', 'person'), edge_filter => 'src < 3 OR src IS NULL');
SELECT count(*) FROM emogi_cc(emogi_with_vertices('calls', 'person'), edge_filter => 'src < 3');

-- ---- values ----
SELECT value, what('calls', f, p) = what('SELECT src, dst FROM calls WHERE ' || w) AS same FROM (VALUES
	('text', 'kind = $1', ROW('sms'::text), 'kind = ''sms'''), ('unknown', 'amount > $1', ROW('3'), 'amount > 3'), ('NULL', 'kind = $1', ROW(NULL::text), 'kind = NULL'),
	('array', 'kind = ANY ($1)', ROW(ARRAY['sms', 'x']), 'kind = ''sms'''), ('date', 'day >= $1', ROW(date '2026-01-10'), 'day >= ''2026-01-10'''),
	('twice', '$1 < amount AND amount < $1 + $2', ROW(2, 5), 'amount > 2 AND amount < 7'), ('numeric', 'amount > $1', ROW(2.5), 'amount > 2.5'),
	('quotes', 'kind = $1 OR note = $2', ROW(''' OR true --', 'a'), 'note = ''a'''), ('backslash', 'kind = $1 OR note = $2', ROW('\'' OR true', 'a'), 'note = ''a'''),
	('in a comment', 'amount > $1 /* $2 */ -- $3', ROW(3), 'amount > 3'), ('in a string', 'note <> ''$2'' AND amount > $1', ROW(3), 'amount > 3'),
	('order', 'note < $1', ROW('d'), 'note < ''d'''), ('no value', 'amount > 3', ROW(), 'amount > 3')) AS cases(value, f, p, w);
SELECT count(*) FROM emogi_bfs('calls', 1, edge_filter => 'amount > $1', params => 10);
SELECT count(*) FROM emogi_bfs('calls', 1, edge_filter => 'kind = $1', params => 'sms');
SELECT count(*) FROM emogi_bfs('calls', 1, edge_filter => 'kind = ANY ($1)', params => ARRAY['sms', 'call']);
SELECT count(*) FROM emogi_bfs('calls', 1, edge_filter => 'amount > $1', params => NULL::int);
SELECT count(*) FROM emogi_bfs('calls', 1, edge_filter => NULL, params => NULL);
SELECT count(*) FROM emogi_bfs('calls', 1, edge_filter => NULL, params => NULL::int);
PREPARE calls_of(text, float8) AS SELECT count(*) FROM emogi_bfs('calls', 1, edge_filter => 'kind = $1 AND amount > $2', params => ROW($1, $2));
EXECUTE calls_of('sms', 10);
EXECUTE calls_of('call', 2);
SET plan_cache_mode = force_generic_plan;
EXECUTE calls_of('sms', 10);
EXPLAIN (COSTS OFF) EXECUTE calls_of('sms', 10);
RESET plan_cache_mode;
SELECT kind, (SELECT count(*) FROM emogi_bfs('calls', 1, edge_filter => 'kind = $1', params => k.kind)) FROM (VALUES ('sms'), ('call'), (NULL)) AS k(kind);
SELECT kind, count(*) FROM (VALUES ('sms'), ('call')) AS k(kind)
	, LATERAL emogi_bfs('calls', 1, edge_filter => 'kind = ' || quote_literal(k.kind)) GROUP BY 1 ORDER BY 1;

-- In a view
CREATE VIEW stored AS SELECT vertex FROM emogi_bfs('few', 1, edge_filter => 'amount > $1', params => ROW('4'));
SELECT * FROM stored ORDER BY vertex;
SELECT pg_get_viewdef('stored') LIKE '%params => ROW(''4''%' AS stored;

-- Functions that return a number, and stored results
SELECT emogi_triangle_count('calls', edge_filter => 'amount > 3') = emogi_triangle_count('calls WHERE amount > 3') AS same;
SELECT emogi_max_flow('calls', 1, 5, edge_filter => 'amount > 3') = emogi_max_flow('calls WHERE amount > 3', 1, 5) AS same;
SELECT edges = (SELECT edges FROM emogi_estimate('calls WHERE amount > 3')) AS same FROM emogi_estimate('calls', edge_filter => 'amount > 3');
SELECT ok, edges = (SELECT count(*) FROM calls WHERE amount > 3) AS same FROM emogi_check('calls', edge_filter => 'amount > 3');
SELECT cache, edges = (SELECT count(*) FROM calls WHERE amount > 15) AS same FROM emogi_prewarm('calls', edge_filter => 'amount > $1', params => 15);
SELECT count(*) > 0 AS reached FROM emogi_bfs('calls', 1, edge_filter => 'amount > $1', params => 15);
SELECT source, cache FROM emogi_runs WHERE pid = pg_backend_pid() ORDER BY id DESC LIMIT 2;
SELECT source FROM emogi_graphs WHERE source LIKE '%test_edge_filter.calls%15%';

-- ---- EXPLAIN ----
EXPLAIN (COSTS OFF) SELECT * FROM emogi_bfs('calls', 1);
EXPLAIN (COSTS OFF) SELECT * FROM emogi_bfs('calls', 1, edge_filter => 'kind = $1 AND amount > $2', params => ROW('sms', 10));
EXPLAIN (COSTS OFF) SELECT * FROM emogi_cc('calls'::regclass, edge_filter => 'amount > 3 AND kind IS NULL');
EXPLAIN (COSTS OFF) SELECT * FROM emogi_topological_order('SELECT 1 AS src, 2 AS dst, 3 AS x', edge_filter => 'x = 3');

-- ---- values that change make no pile of graphs, and no new analyses ----
CREATE TABLE many AS SELECT i % 1000 AS src, (i * 7) % 1000 AS dst, i AS at FROM generate_series(1, 5000) i;
SELECT emogi_evict() >= 0 AS evicted;
DO $$ BEGIN
	FOR i IN 1 .. 200 LOOP
		PERFORM count(*) FROM emogi_cc('many', edge_filter => 'at > $1', params => i);
	END LOOP;
END $$;
SELECT count(*) <= 5 AS few FROM emogi_graphs WHERE source LIKE '%test_edge_filter.many%';
-- A few hops are searched over an index.
CREATE INDEX ON many (src, at);
ANALYZE many;
SET emogi.index_search_min_size = 0;
EXPLAIN (COSTS OFF) SELECT * FROM emogi_bfs('many', 1, 1, edge_filter => 'at > $1', params => 4000);
SELECT count(*) FROM emogi_bfs('many', 1, 1, edge_filter => 'at > $1', params => 4000);
SELECT cache FROM emogi_runs WHERE pid = pg_backend_pid() ORDER BY id DESC LIMIT 1;
SELECT at, (SELECT count(*) FROM emogi_bfs('many', 1, 1, edge_filter => 'at > $1', params => at)) FROM (VALUES (4100), (100), (2100), (100)) AS v(at);
RESET emogi.index_search_min_size;

-- ---- changes are seen, by a change tracker too ----
SET emogi.incremental_min_size = 0;
SELECT what('calls', 'amount > $1', ROW(100)), what('SELECT src, dst, amount FROM calls', 'amount > $1', ROW(100));
INSERT INTO calls VALUES (1, 1000, 'new', 200), (1000, 2000, 'new', NULL);
SELECT what('calls', 'amount > $1', ROW(100)), what('SELECT src, dst, amount FROM calls', 'amount > $1', ROW(100));
UPDATE calls SET amount = 300 WHERE src = 1000;
SELECT what('calls', 'amount > $1', ROW(100)), what('SELECT src, dst, amount FROM calls', 'amount > $1', ROW(100));
SELECT cache FROM emogi_runs WHERE pid = pg_backend_pid() ORDER BY id DESC LIMIT 2;
DELETE FROM calls WHERE src = 1000;
SELECT what('calls', 'amount > $1', ROW(100)), what('SELECT src, dst, amount FROM calls', 'amount > $1', ROW(100));
BEGIN;
INSERT INTO calls VALUES (1000, 3000, 'own', 200);
SELECT what('calls', 'amount > $1', ROW(100));
ROLLBACK;
RESET emogi.incremental_min_size;

-- ---- rights, row security ----
CREATE ROLE regress_emogi_filter;
GRANT USAGE ON SCHEMA test_edge_filter TO regress_emogi_filter;
GRANT SELECT (src, dst, kind) ON calls TO regress_emogi_filter;
SET ROLE regress_emogi_filter;
SELECT count(*) FROM emogi_bfs('calls(src, dst)', 1, edge_filter => 'kind = ''sms''');
SELECT count(*) FROM emogi_bfs('calls(src, dst)', 1, edge_filter => 'amount > 3');
RESET ROLE;
CREATE FUNCTION secret(float8) RETURNS boolean LANGUAGE sql IMMUTABLE BEGIN ATOMIC SELECT $1 > 3; END;
REVOKE ALL ON FUNCTION secret FROM PUBLIC;
GRANT SELECT ON calls TO regress_emogi_filter;
SET ROLE regress_emogi_filter;
SELECT count(*) FROM emogi_bfs('calls', 1, edge_filter => 'amount > 3');
SELECT count(*) FROM emogi_bfs('calls', 1, edge_filter => 'secret(amount)');
RESET ROLE;
-- No function runs before the rights on the table are known.
CREATE FUNCTION tells() RETURNS boolean LANGUAGE plpgsql STABLE AS $$ BEGIN RAISE NOTICE 'told'; RETURN true; END $$;
SET ROLE regress_emogi_filter;
SELECT count(*) FROM emogi_bfs('many', 1, edge_filter => 'tells()');
RESET ROLE;
CREATE TABLE tenants (src int, dst int, tenant text, amount int);
INSERT INTO tenants VALUES (1, 2, 'a', 1), (1, 3, 'b', 5), (3, 4, 'b', 5), (2, 5, 'regress_emogi_filter', 7), (1, 2, 'regress_emogi_filter', 9);
ALTER TABLE tenants ENABLE ROW LEVEL SECURITY;
CREATE POLICY p ON tenants USING (tenant = current_user);
GRANT SELECT ON tenants TO regress_emogi_filter;
-- A leaky function of the condition runs after the policy.
CREATE FUNCTION leaks(int) RETURNS boolean LANGUAGE plpgsql IMMUTABLE COST 0.0001 AS $$ BEGIN IF $1 = 5 THEN RAISE 'leaked'; END IF; RETURN true; END $$;
CREATE FUNCTION divides(int) RETURNS boolean LANGUAGE sql IMMUTABLE COST 0.0001 BEGIN ATOMIC SELECT 10 / ($1 - 5) <> 0; END;
SET ROLE regress_emogi_filter;
SELECT vertex, level FROM emogi_bfs('tenants', 1, edge_filter => 'divides(amount)') ORDER BY vertex;
SELECT vertex, level FROM emogi_bfs('tenants', 1, edge_filter => 'true OR tenant = ''b''') ORDER BY vertex;
RESET ROLE;
SELECT count(*) FROM emogi_bfs('tenants', 1, edge_filter => 'divides(amount)');

-- ---- errors: code, message, position, hint ----
CREATE FUNCTION reads_table(int) RETURNS boolean LANGUAGE sql STABLE BEGIN ATOMIC SELECT EXISTS (SELECT FROM person WHERE id = $1); END;
-- errors(): what is wrong with a filter
CREATE FUNCTION errors(filter text, params record DEFAULT NULL, graph text DEFAULT 'calls') RETURNS text LANGUAGE plpgsql AS $$
DECLARE state text; message text; detail text; hint text;
BEGIN
	PERFORM count(*) FROM emogi_bfs(graph, 1, edge_filter => filter, params => params);
	RETURN 'no error';
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS state = RETURNED_SQLSTATE, message = MESSAGE_TEXT, detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT;
	RETURN concat_ws(E'\n  ', state || ' ' || message, 'DETAIL: ' || NULLIF(detail, ''), 'HINT: ' || NULLIF(hint, ''));
END $$;
\pset format unaligned
\pset tuples_only on
SELECT errors('');
SELECT errors('  ');
SELECT errors(';');
SELECT errors('amount > 3;');
SELECT errors('amount > 3; SELECT 1');
SELECT errors('amount > 3) OR (true');
SELECT errors('amount > 3 UNION SELECT 1');
SELECT errors('amount > 3 ORDER BY 1');
SELECT errors('amount > 3 LIMIT 1');
SELECT errors('amount > 3 FROM calls');
SELECT errors('amount > 3 WHERE true');
SELECT errors('amount > 3 AS x');
SELECT errors('amount > 3, true');
SELECT errors('DISTINCT amount > 3');
SELECT errors('ALL amount > 3');
SELECT errors('*');
SELECT errors('amount > 3 /* ');
SELECT errors('amount > ''3');
SELECT errors('WHERE amount > 3');
SELECT errors('SELECT true');
SELECT errors('src, dst');
SELECT errors('both');
SELECT errors('src > 3', NULL, 'WITH x AS (SELECT 1) INSERT INTO person SELECT * FROM x RETURNING id AS src, id AS dst');
SELECT errors('amoun > 3');
SELECT errors('x.amount > 3');
SELECT errors('amount > 3 AND amoun > $1', ROW(1));
SELECT errors('amount + kind > 3');
SELECT errors('no_function(amount)');
SELECT errors('amount');
SELECT errors('amount > $1', ROW('many'));
SELECT errors('random() < 0.5');
SELECT errors('amount > random()');
SELECT errors('kind = to_tsvector(note)::text');
SELECT errors('reads_table(src)');
SELECT errors('leaks(src)');
SELECT errors('EXISTS (SELECT FROM calls)');
-- An analysis of a condition of the graph argument does not serve a filter.
SELECT count(*) > 0 AS found FROM emogi_cc('calls WHERE src IN (SELECT id FROM person)');
SELECT count(*) > 0 AS found FROM emogi_cc('calls WHERE src IN (SELECT id FROM person)');
SELECT count(*) > 0 AS found FROM emogi_cc('calls', edge_filter => 'src IN (SELECT id FROM person)');
SELECT errors('amount IN (SELECT 1)');
SELECT errors('amount > (SELECT 1)');
SELECT errors('sum(amount) > 1');
SELECT errors('rank() OVER () > 1');
SELECT errors('generate_series(1, 2) > 1');
SELECT errors('WHERE amount > 3');
SELECT errors('calls IS NOT NULL');
SELECT errors('ctid = ''(0,1)''');
SELECT errors('xmin = ''1''');
SELECT errors('tableoid = ''calls''::regclass');
SELECT errors('q IS NOT NULL', NULL, 'SELECT src, dst FROM calls');
SELECT errors('amount > 3', NULL, 'SELECT src, dst FROM calls');
SELECT errors('q.src > 3', NULL, 'SELECT src, dst FROM calls');
SELECT errors('calls.src > 3', NULL, 'calls');
SELECT errors('src > 3', NULL, 'SELECT src, dst FROM nowhere');
SELECT errors('src > 3', NULL, 'SELECT src, dst FROM calls; SELECT 1');
SELECT errors('src > 3', NULL, 'nowhere');
SELECT errors('current_date > $1 AND day < current_date', ROW('2020-01-01'));
SELECT errors('amount > $1');
SELECT errors('amount > $2', ROW(1));
SELECT errors('amount > $1', ROW(1, 2));
SELECT errors('amount > 3', ROW(1));
SELECT errors(NULL, ROW(1));
SELECT errors('amount > $1', ROW(ROW(1, 2)));
SELECT errors('amount > $0', ROW(1));
\pset format aligned
\pset tuples_only off
-- A value of type char(n) has no blanks at its end.
SELECT (SELECT count(*) FROM emogi_bfs('calls', 1, edge_filter => 'kind = $1', params => 'sms'::char(9))) AS padded,
	(SELECT count(*) FROM emogi_bfs('calls', 1, edge_filter => 'kind = $1', params => 'sms')) AS plain;
-- Positions are those in the text as given.
SELECT count(*) FROM emogi_bfs('calls', 1, edge_filter => 'kind = $1 AND amoun > 3', params => 'a value that is longer than the parameter');
SELECT count(*) FROM emogi_bfs('calls', 1, edge_filter => 'kind = $1 AND AND', params => 'a value that is longer than the parameter');
SELECT count(*) FROM emogi_bfs('calls', 1, edge_filter => 'kind = ''ä'' AND amount > $1', params => 'many');

SET client_min_messages = warning;
DROP SCHEMA test_edge_filter CASCADE;
DROP ROLE regress_emogi_filter;
