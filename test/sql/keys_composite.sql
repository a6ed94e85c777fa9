-- Keys of several columns: rows of a query, lists of columns in parentheses, composite types.
-- Results equal those of the same graph with vertices numbered manually.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS emogi;
DROP SCHEMA IF EXISTS test_composite CASCADE;
RESET client_min_messages;
CREATE SCHEMA test_composite;
SET search_path = test_composite, public;
SELECT emogi_evict() IS NOT NULL;
\i test/data/how.sql

CREATE TABLE edges (id int, tenant int, id_from text COLLATE "C", id_to text COLLATE "C", km float8);
INSERT INTO edges VALUES
    (1, 7, 'alice', 'bob', 1), (2, 7, 'bob', 'carol', 2), (3, 7, 'alice', 'carol', 5), (4, 7, 'carol', '', 1),
    (5, 8, 'alice', 'bob', 9), (6, 8, 'bob', 'a "b", \c', 1), (7, 8, 'a "b", \c', '(x)', 1), (8, 8, '(x)', ' y ', 1),
    (9, -1, 'alice', 'alice', 1), (10, NULL, 'alice', 'bob', 1), (11, 7, NULL, 'bob', 1), (12, 7, 'dora', NULL, 1);

-- Every form of the graph argument.
SELECT * FROM emogi_bfs('edges((tenant, id_from), (tenant, id_to))', '(7,alice)');
SELECT * FROM emogi_sssp(' edges ( ( "tenant" , id_from ) , (Tenant, "id_to") , KM ) ', '(7,alice)');
SELECT * FROM emogi_sssp('test_composite.edges((tenant, id_from), (tenant, id_to), km)', '( 8 ,alice)');
SELECT * FROM emogi_bfs('edges', '(7,alice)', columns => '(tenant, id_from), (tenant, id_to)');
SELECT * FROM emogi_sssp('edges'::regclass, '(7,alice)', columns => '(tenant, id_from), (tenant, id_to), km');
SELECT * FROM emogi_sssp('SELECT ROW(tenant, id_from), (tenant, id_to), km FROM edges', '(7,alice)');
SELECT * FROM emogi_bfs('SELECT id, ROW(tenant, id_from) AS src, ROW(tenant, id_to) AS dst, km AS weight FROM edges', '(7,alice)', max_depth => 1);
SELECT * FROM emogi_bfs('edges((tenant, id_from), (tenant, id_to))', '(7,carol)', direction => 'in');
SELECT * FROM emogi_bfs('edges((tenant, id_from), (tenant, id_to))', ARRAY['(7,bob)', '(8,alice)', '(9,none)', NULL], direction => 'both');
SELECT * FROM emogi_shortest_path('edges((tenant, id_from), (tenant, id_to), km)', '(7,alice)', '(7,"")');
SELECT * FROM emogi_cc_text('edges((tenant, id_from), (tenant, id_to))');
SELECT vertex, round(value::numeric, 6) AS value FROM emogi_heat_text('edges((tenant, id_from), (tenant, id_to))', $$SELECT (8, 'alice'::text), 1 UNION ALL SELECT (NULL::int, 'bob'), 5$$, max_iterations => 1);
-- Arguments are parsed by the input function of rows.
SELECT * FROM emogi_bfs('edges((tenant, id_from), (tenant, id_to))', E'  (+8,"a ""b"", \\\\c") ');
SELECT * FROM emogi_bfs('edges((tenant, id_from), (tenant, id_to))', '(8,\(x\))');
SELECT * FROM emogi_bfs('edges((tenant, id_from), (tenant, id_to))', '(8," y ")', direction => 'in', max_depth => 1);
SELECT * FROM emogi_bfs('edges((tenant, id_from), (tenant, id_to))', '(7,)');
SELECT * FROM emogi_bfs('edges((tenant, id_from), (tenant, id_to))', '(7,ALICE)');
SELECT count(*) FROM emogi_bfs('edges((tenant, id_from), (tenant, id_to))', '(7,' || repeat('x', 2000000) || ')');
-- Conditions on vertex compare text.
SELECT * FROM emogi_bfs('edges((tenant, id_from), (tenant, id_to))', '(7,alice)') WHERE vertex = '(7,bob)';
SELECT * FROM emogi_bfs('edges((tenant, id_from), (tenant, id_to))', '(7,alice)') WHERE vertex = '( 7,bob)';
SELECT * FROM emogi_cc_text('edges((tenant, id_from), (tenant, id_to))') WHERE vertex = ANY (ARRAY['(8,(x))', '(8,"(x)")', '(-1,alice)']);
SELECT e.id, b.level FROM edges e, LATERAL emogi_bfs('edges((tenant, id_from), (tenant, id_to))', ROW(e.tenant, e.id_from)::text) b WHERE b.vertex = ROW(e.tenant, e.id_to)::text ORDER BY e.id;

-- Rows with a NULL in an endpoint are skipped.
SELECT edges, vertices FROM emogi_runs WHERE pid = pg_backend_pid() ORDER BY id DESC LIMIT 1;

-- Anonymous rows are found through subqueries, joins, WITH, VALUES, UNION, CASE.
SELECT count(*) FROM emogi_bfs('SELECT * FROM (SELECT (tenant, id_from) AS a, (tenant, id_to) AS b FROM edges) AS s', '(7,alice)');
SELECT count(*) FROM emogi_bfs('WITH w AS MATERIALIZED (SELECT (tenant, id_from) AS a, (tenant, id_to) AS b FROM edges) SELECT x.a, y.b FROM w AS x JOIN w AS y ON x.b = y.a', '(7,alice)');
SELECT count(*) FROM emogi_bfs('SELECT (tenant, id_from), (tenant, id_to) FROM edges UNION SELECT (1, ''a'' COLLATE "C"), (1, ''b'' COLLATE "C")', '(1,a)');
SELECT count(*) FROM emogi_bfs('VALUES (ROW(1, ''a''::text), ROW(2, ''b''::text)), (ROW(2, ''b''::text), NULL), (ROW(2, ''b''::text), ROW(3, ''c''::text))', '(1,a)');
SELECT count(*) FROM emogi_bfs('SELECT CASE WHEN tenant > 0 THEN (tenant, id_from) END, coalesce((tenant, id_to), (1, ''x'')) FROM edges GROUP BY 1, 2', '(7,alice)');
SELECT count(*) FROM emogi_bfs('WITH RECURSIVE r (a, b, n) AS (SELECT (1, 1), (1, 2), 1 UNION ALL SELECT b, (1, n + 2), n + 1 FROM r WHERE n < 5) SELECT a, b FROM r', '(1,1)');
SELECT count(*) FROM emogi_bfs('SELECT (SELECT (tenant, id_from)), (tenant, id_to) FROM edges', '(7,alice)');
SELECT count(*) FROM emogi_bfs('SELECT e, e FROM (SELECT tenant, id_from FROM edges) AS e', '(7,alice)');
SELECT vertex FROM emogi_cc_text('SELECT (1, ''a''), (1, ''b'') UNION ALL SELECT (1::smallint, ''b''::varchar), (2, NULL)');
SELECT count(*) FROM emogi_bfs('SELECT (tenant, id_from), (tenant, id_to) FROM edges UNION ALL SELECT (1, 2), (1, 3)', '(7,alice)');
SELECT count(*) FROM emogi_bfs('SELECT CASE WHEN id < 3 THEN (tenant, id_from) ELSE (id_from, tenant) END, (tenant, id_to) FROM edges', '(7,alice)');
CREATE FUNCTION pair(a int, b text) RETURNS record LANGUAGE plpgsql IMMUTABLE AS 'BEGIN RETURN (a, b); END';
SELECT count(*) FROM emogi_bfs('SELECT pair(tenant, id_from), pair(tenant, id_to) FROM edges', '(7,alice)');

-- Composite types, of tables and of views.
CREATE TYPE vertex AS (gone int, tenant bigint, name text);
ALTER TYPE vertex DROP ATTRIBUTE gone;
CREATE VIEW named AS SELECT (tenant, id_from)::vertex AS src, (tenant, id_to)::vertex AS dst, km AS weight FROM edges;
CREATE TABLE stored AS SELECT * FROM named;
SELECT * FROM emogi_sssp('named', '(7,alice)');
SELECT how('named');
SELECT * FROM emogi_sssp('stored', '(7,alice)');
SELECT * FROM emogi_sssp('SELECT src, dst, weight FROM stored', '(7,alice)');
SELECT * FROM emogi_bfs('SELECT src, ROW(8::smallint, ''x''::varchar) FROM stored', '(7,alice)');
INSERT INTO stored VALUES ((7, 'bob'), (7, 'eve'), 1), ((7, NULL), (7, 'eve'), 1);
SELECT * FROM emogi_sssp('stored', '(7,alice)');
SELECT ok FROM emogi_check('stored');

-- A column of the type that was dropped and added again is NULL in stored values.
ALTER TYPE vertex DROP ATTRIBUTE name, ADD ATTRIBUTE name text;
SELECT * FROM emogi_sssp('stored', '(7,alice)');
SELECT * FROM emogi_sssp('SELECT src, dst, weight FROM stored', '(7,alice)');
UPDATE stored SET src.name = 'ann', dst.name = 'ben';
SELECT * FROM emogi_sssp('stored', '(7,ann)');

-- Privileges are those on the columns; row security applies.
CREATE ROLE regress_composite;
GRANT USAGE ON SCHEMA test_composite TO regress_composite;
GRANT SELECT (tenant, id_from) ON edges TO regress_composite;
\set SHOW_CONTEXT never
SET ROLE regress_composite;
SELECT * FROM emogi_bfs('edges((tenant, id_from), (tenant, id_to))', '(7,alice)');
RESET ROLE;
GRANT SELECT ON edges TO regress_composite;
ALTER TABLE edges ENABLE ROW LEVEL SECURITY;
CREATE POLICY eight ON edges TO regress_composite USING (tenant = 8);
SET ROLE regress_composite;
SELECT count(*) FROM emogi_cc_text('edges((tenant, id_from), (tenant, id_to))');
RESET ROLE;
ALTER TABLE edges DISABLE ROW LEVEL SECURITY;
SET emogi.engine = auto;
EXPLAIN (COSTS off) SELECT * FROM emogi_bfs('edges((tenant, id_from), (tenant, id_to))', '(7,alice)') WHERE vertex = '(7,bob)';
SELECT edges > 0 FROM emogi_estimate('edges((tenant, id_from), (tenant, id_to), km)', true);

-- A graph of several columns is cached like a query's; the next call sees a change.
SELECT how('edges((tenant, id_from), (tenant, id_to))');
SELECT how('edges((tenant, id_from), (tenant, id_to))');
SELECT how('edges((tenant, id_to), (tenant, id_from))');
INSERT INTO edges VALUES (20, 7, '', 'zoe', 1);
SELECT how('edges((tenant, id_from), (tenant, id_to))');
SELECT * FROM emogi_bfs('edges((tenant, id_from), (tenant, id_to))', '(7,alice)') WHERE level > 2;
SELECT how('edges((tenant, id_from), (tenant, id_to))');
SELECT emogi_evict('edges((tenant, id_from), (tenant, id_to))') > 0;
SELECT how('edges((tenant, id_from), (tenant, id_to))');

-- Order of rows: that of rows in SQL. Classes: bytes, exact, compared.
CREATE TABLE mixed AS SELECT g AS id, (g % 5 - 2)::smallint AS a, chr(97 + g * 7 % 26) || repeat('z', g % 3) AS b, (g % 11 / 2.0)::numeric AS c, decode(lpad(to_hex(g % 4), 2, '0'), 'hex') || '\x00'::bytea AS d,
    ((g + 1) % 5 - 2)::smallint AS a2, chr(97 + (g + 3) * 7 % 26) || repeat('z', g % 2) AS b2, ((g + 1) % 11 / 2.00)::numeric AS c2, decode(lpad(to_hex(g % 3), 2, '0'), 'hex') || '\x00'::bytea AS d2
    FROM generate_series(1, 200) g;
CREATE TYPE of_bytes AS (d bytea, a smallint);
CREATE TYPE of_exact AS (b text, a smallint);
CREATE TYPE of_numeric AS (c numeric, a smallint);
CREATE TYPE of_four AS (c numeric, b text COLLATE "C", d bytea, a smallint);
SELECT count(*), bool_and(before < vertex) FROM (SELECT vertex::of_bytes, lag(vertex::of_bytes) OVER (ORDER BY n) AS before FROM emogi_cc_text('mixed((d, a), (d2, a2))') WITH ORDINALITY AS c (vertex, component, n)) r;
SELECT count(*), bool_and(before < vertex) FROM (SELECT vertex::of_exact, lag(vertex::of_exact) OVER (ORDER BY n) AS before FROM emogi_cc_text('mixed((b, a), (b2, a2))') WITH ORDINALITY AS c (vertex, component, n)) r;
SELECT count(*), bool_and(before < vertex) FROM (SELECT vertex::of_numeric, lag(vertex::of_numeric) OVER (ORDER BY n) AS before FROM emogi_cc_text('mixed((c, a), (c2, a2))') WITH ORDINALITY AS c (vertex, component, n)) r;
SELECT count(*), bool_and(before < vertex) FROM (SELECT vertex::of_four, lag(vertex::of_four) OVER (ORDER BY n) AS before FROM emogi_cc_text('mixed((c, b, d, a), (c2, b2, d2, a2))') WITH ORDINALITY AS c (vertex, component, n)) r;
SELECT count(*) FROM (SELECT c, a FROM mixed UNION SELECT c2, a2 FROM mixed) u;
SELECT count(*) FROM (SELECT c, b, d, a FROM mixed UNION SELECT c2, b2, d2, a2 FROM mixed) u;
-- Equal keys with two representations are one vertex: the shortest is returned.
SELECT * FROM emogi_bfs('SELECT (1, 1.50), (1, 2.0) UNION ALL SELECT (1, 2.000), (1, 3.0)', '(1,1.5000)');
SELECT * FROM emogi_bfs('SELECT (a, 1), (b, 1) FROM (VALUES (''x  ''::char(3), ''y''::char(3)), (''y  '', ''z'')) AS v (a, b)', '(x,1)');

-- In parallel.
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET max_parallel_workers_per_gather = 2;
CREATE TABLE many AS SELECT g % 3 AS t, g::text AS a, (g + 1)::text AS b FROM generate_series(1, 20000) g;
CREATE FUNCTION plan_of(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
    line text;
BEGIN
    FOR line IN EXECUTE 'EXPLAIN (COSTS off) ' || query LOOP
        IF line ~ 'Partial|Gather|Parallel' THEN RETURN NEXT regexp_replace(line, '^[ >-]*', ''); END IF;
    END LOOP;
END$$;
SELECT plan_of('SELECT _emogi_sink_rows(1, (t, a), (t, b)) FROM many');
SELECT count(*), count(DISTINCT component) FROM emogi_cc_text('many((t, a), (t, b))');
SELECT count(*), count(DISTINCT component) FROM emogi_cc_text('SELECT (t, a), (t, b) FROM many WHERE t < 5 UNION ALL SELECT (t::bigint::int, a), (t, a) FROM many');
SET emogi.enable_cache = off;
SELECT count(*), count(DISTINCT component) FROM emogi_cc_text('many((t, a), (t, b))');
SELECT count(*), count(DISTINCT component) FROM emogi_cc_text('SELECT (t, a), (t, b) FROM many WHERE random() < 2');
RESET emogi.enable_cache;
RESET parallel_setup_cost;
RESET parallel_tuple_cost;
RESET min_parallel_table_scan_size;
RESET max_parallel_workers_per_gather;

-- Errors.
CREATE FUNCTION fails(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    state text;
    message text;
    detail text;
    hint text;
BEGIN
    EXECUTE query;
    RETURN 'no error';
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS state = RETURNED_SQLSTATE, message = MESSAGE_TEXT, detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT;
    RETURN concat_ws(E'\n', state || ': ' || message, nullif(detail, ''), nullif(hint, ''));
END$$;
\pset format unaligned
\pset tuples_only on
SELECT fails(format('SELECT * FROM emogi_bfs(%L, %s)', graph, source)) FROM (VALUES
    (1, 'edges((tenant, id_from), (tenant, id_to))', '7'),
    (2, 'edges((tenant, id_from), (tenant, id_to))', 'ARRAY[7]'),
    (3, 'edges((tenant, id_from), (tenant, id_to))', '''00000000-0000-0000-0000-000000000000''::uuid'),
    (4, 'edges((tenant, id_from), (tenant, id_to))', '''7,alice'''),
    (5, 'edges((tenant, id_from), (tenant, id_to))', '''(7,alice'''),
    (6, 'edges((tenant, id_from), (tenant, id_to))', '''(7)'''),
    (7, 'edges((tenant, id_from), (tenant, id_to))', '''(7,alice,1)'''),
    (8, 'edges((tenant, id_from), (tenant, id_to))', '''(x,alice)'''),
    (9, 'edges((tenant, id_from), (tenant, id_to))', '''{"(7,alice)"}'''),
    (10, 'edges((tenant, id_from), (tenant, id_to))', '''(99999999999999999999,alice)'''),
    (11, 'edges((tenant, id_from), (id_to, tenant))', '''(7,alice)'''),
    (12, 'edges((tenant, id_from), (km, id_to))', '''(7,alice)'''),
    (13, 'edges((tenant, id_from), id_to)', '''(7,alice)'''),
    (14, 'edges((tenant, id_from, id, km, tenant), (tenant, id_to, id, km, tenant))', '''(7,alice)'''),
    (15, 'edges((tenant, nothing), (tenant, id_to))', '''(7,alice)'''),
    (16, 'edges((tenant, id_from), (tenant, id_to), (km, km))', '''(7,alice)'''),
    (17, 'edges((tenant, id_from), (tenant, id_to), id_to)', '''(7,alice)'''),
    (18, 'edges((tenant, id_from), (tenant, id_to)', '''(7,alice)'''),
    (19, 'edges((tenant, ), (tenant, id_to))', '''(7,alice)'''),
    (20, 'edges((), ())', '''(7,alice)'''),
    (31, 'edges((tenant), (id))', '''(7)'''),
    (21, 'edges((tenant, id_from), ((tenant, id_to)))', '''(7,alice)'''),
    (22, 'nowhere((tenant, id_from), (tenant, id_to))', '''(7,alice)'''),
    (23, 'SELECT (1, 2), (1, ''x''::text)', '''(1,2)'''),
    (24, 'SELECT (1, 2), (1, 2, 3)', '''(1,2)'''),
    (25, 'SELECT (1, 2, 3, 4, 5), (1, 2, 3, 4, 6)', '''(1,2,3,4,5)'''),
    (26, 'SELECT (1, 2), 3', '''(1,2)'''),
    (27, 'SELECT (1, ''a'' COLLATE "C"), (1, ''b'' COLLATE "POSIX")', '''(1,a)'''),
    (28, 'SELECT (1, point(1, 2)), (1, point(1, 2))', '''(1,a)'''),
    (29, 'SELECT (1, (1, 2)), (1, (1, 2))', '''(1,a)'''),
    (30, 'SELECT (tenant, id_from), (tenant, id_to), -km AS weight FROM edges WHERE id < 3', '''(7,alice)''')
    ) AS t (n, graph, source) ORDER BY n;
SELECT fails($$SELECT * FROM emogi_sssp('SELECT (tenant, id_from), (tenant, id_to), -km FROM edges WHERE id = 1', '(7,alice)')$$);
SELECT fails($$SELECT * FROM emogi_sssp('SELECT (tenant, id_from), (tenant, id_to), NULL::int FROM edges WHERE id = 1', '(7,alice)')$$);
SELECT fails($$SELECT * FROM emogi_bfs('SELECT (1, repeat(''x'', 2000000)), (1, ''y''::text)', '(1,x)')$$);
SELECT fails($$SELECT * FROM emogi_heat_text('edges((tenant, id_from), (tenant, id_to))', 'SELECT (7, 8), 1')$$);
SELECT fails($$SELECT * FROM emogi_heat_text('edges((tenant, id_from), (tenant, id_to))', 'SELECT 7, 1')$$);
SELECT fails($$SELECT * FROM emogi_heat_text('edges((tenant, id_from), (tenant, id_to))', 'SELECT (7, ''bob''::text), 1 UNION ALL SELECT (7, ''bob''::text), 2')$$);
SELECT fails($$SELECT * FROM emogi_cc('edges((tenant, id_from), (tenant, id_to))')$$);
SELECT fails($$SELECT * FROM emogi_bfs('edges', '(7,alice)', columns => '(tenant, id_from), (tenant')$$);
SELECT fails($$SELECT _emogi_sink_rows(1, (1, 2), (1, 2))$$);
\pset format aligned
\pset tuples_only off

-- Random graphs, by columns, by rows and of a type, compared with the same graphs numbered
-- manually.
CREATE FUNCTION differ(a text, b text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    n bigint;
BEGIN
    EXECUTE format('SELECT count(*) FROM ((SELECT * FROM (%1$s) a EXCEPT ALL SELECT * FROM (%2$s) b) UNION ALL (SELECT * FROM (%2$s) b EXCEPT ALL SELECT * FROM (%1$s) a)) d', a, b) INTO n;
    RETURN n;
END$$;
CREATE PROCEDURE compare(rounds int) LANGUAGE plpgsql AS $$
DECLARE
    shapes text[] := ARRAY['a, b', 'b, a', 'c, b', 'a, d', 'd, c, a', 'a, b, c, d', 'e, b', 'f, a', 'e, f, b'];
    asked int := 0;
    wrong int := 0;
    shape text;
    direction text;
    form text;
    graph text;
    source text;
    label text;
    n int;
BEGIN
    FOR round IN 1 .. rounds LOOP
        shape := shapes[1 + round % array_length(shapes, 1)];
        direction := (ARRAY['out', 'in', 'both'])[1 + round % 3];
        n := 2 + (random() * 40)::int;
        TRUNCATE numbered, names, keyed;
        INSERT INTO numbered SELECT (random() * (n - 1))::int, (random() * (n - 1))::int, (random() * 9 + 1)::int FROM generate_series(1, (random() * 3 * n)::int + 1);
        INSERT INTO names SELECT k, k % 5 - 2, (ARRAY['', ' ', 'a', '"', '\', ',', '(', ')', 'a"', 'B'])[1 + k % 10] || k,
            k / 3.0, decode(lpad(to_hex(k % 16), 2, '0'), 'hex') || '\x0000'::bytea || int4send(k), chr(97 + k % 7) || k, timestamptz '2000-01-01 00:00+00' + k * interval '1 hour'
            FROM generate_series(0, n - 1) k;
        INSERT INTO keyed SELECT x.a, x.b, x.c, x.d, x.e, x.f, y.a, y.b, y.c, y.d, y.e, y.f, weight FROM numbered JOIN names x ON x.k = src JOIN names y ON y.k = dst;
        INSERT INTO keyed SELECT CASE WHEN k % 2 = 0 THEN a END, CASE WHEN k % 2 = 1 THEN b END FROM names WHERE shape ~ 'a' AND shape ~ 'b' LIMIT 2;
        form := 'ROW(' || shape || ')';
        FOR i IN 1 .. 2 LOOP
            graph := CASE i WHEN 1 THEN format('keyed((%s), (%s), weight)', shape, regexp_replace(shape, '(\w)', '\12', 'g'))
                ELSE format('SELECT ROW(%s), ROW(%s), weight FROM keyed', shape, regexp_replace(shape, '(\w)', '\12', 'g')) END;
            EXECUTE format('SELECT %s::text FROM names WHERE k = 1', form) INTO source;
            FOREACH label IN ARRAY ARRAY['bfs level', 'sssp distance', 'ssnsp paths'] LOOP
                asked := asked + 1;
                wrong := wrong + (differ(format('SELECT k, %1$s FROM emogi_%2$s(%3$L, %4$L, direction => %5$L) JOIN names ON %6$s::text = vertex', split_part(label, ' ', 2), split_part(label, ' ', 1), graph, source, direction, form),
                    format('SELECT vertex, %1$s FROM emogi_%2$s(''numbered'', 1, direction => %3$L)', split_part(label, ' ', 2), split_part(label, ' ', 1), direction)) > 0)::int;
            END LOOP;
            asked := asked + 1;
            wrong := wrong + (differ(format('SELECT min(k), count(*) FROM emogi_cc_text(%L) JOIN names ON %s::text = vertex GROUP BY component', graph, form),
                'SELECT min(vertex), count(*) FROM emogi_cc(''numbered'') GROUP BY component') > 0)::int;
            EXECUTE format('SELECT count(*) FROM (SELECT %2$s AS r, lag(%2$s) OVER (ORDER BY n) AS before FROM emogi_cc_text(%1$L) WITH ORDINALITY AS c (vertex, component, n) JOIN names ON %2$s::text = vertex) s WHERE before >= r', graph, form) INTO n;
            wrong := wrong + (n > 0)::int;
        END LOOP;
    END LOOP;
    RAISE NOTICE '% wrong of %', wrong, asked;
END$$;
CREATE TABLE numbered (src int, dst int, weight int);
CREATE TABLE names (k int, a int, b text COLLATE "C", c numeric, d bytea, e text, f timestamptz);
CREATE TABLE keyed (a int, b text COLLATE "C", c numeric, d bytea, e text, f timestamptz, a2 int, b2 text COLLATE "C", c2 numeric, d2 bytea, e2 text, f2 timestamptz, weight int);
CALL compare(150);
SET client_min_messages = warning;
DROP SCHEMA test_composite CASCADE;
DROP ROLE regress_composite;
