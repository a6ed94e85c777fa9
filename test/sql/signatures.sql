-- Types of sources, with each form of the graph: every combination resolves to the correct
-- function.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS emogi;
RESET client_min_messages;
CREATE SCHEMA test_signatures;
SET search_path = test_signatures, public;
\pset format unaligned
\pset tuples_only on
\pset null (null)

CREATE TABLE edges (src int, dst int, weight float8, a int, b int);
INSERT INTO edges VALUES (1, 2, 0.5, 3, 4), (2, 7, 0.25, 4, 3), (42, 5, 4, 5, 6);
CREATE TABLE v (i int, l bigint, c varchar, t text, n name, a int[], b bigint[]);
INSERT INTO v VALUES (1, 2, '1', '{1,42}', '42', '{1,2}', '{2,42}');

CREATE FUNCTION try(call text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  result text;
BEGIN
  EXECUTE format('SELECT string_agg(vertex::text, '' '' ORDER BY vertex) FROM %s', call) INTO result;
  RETURN coalesce(result, 'no rows');
EXCEPTION WHEN OTHERS THEN
  RETURN SQLSTATE || ': ' || SQLERRM;
END $$;

-- One row for each source, independent of the form of the graph and the function; differing ones
-- would be listed, too.
CREATE VIEW forms AS SELECT * FROM unnest(ARRAY['''edges''', '''edges''::text', '''edges''::varchar', '''edges''::name', '''edges''::regclass',
  '''edges''::regclass::oid', '''test_signatures.edges''', '(SELECT ''edges'')', '(SELECT ''edges''::regclass)']) WITH ORDINALITY AS f (graph, n);
CREATE VIEW sources AS SELECT * FROM unnest(ARRAY['42', '42::smallint', '42::bigint', '''42''', ''' 42 ''', 'NULL', '''{1,42}''', ''' {"1", 42, NULL}''', '''{}''',
  '''{{1,2},{42,7}}''', 'ARRAY[1, 42]', 'ARRAY[1, 42]::smallint[]', 'ARRAY[1, NULL]', 'NULL::bigint[]', '(SELECT 42)', '(SELECT ''42'')', '(SELECT NULL)', '''42''::varchar',
  '''42''::text', '''42''::name', '''42''::char(5)', '''4'' || ''2''', 'ARRAY(SELECT l FROM v)', 'ARRAY(SELECT i FROM v)', '(SELECT count(*) FROM v)',
  '(SELECT i FROM v)', '(SELECT c FROM v)', '(SELECT t FROM v)', '(SELECT n FROM v)', '(SELECT a FROM v)', '(SELECT b FROM v)']) WITH ORDINALITY AS s (source, n);
SELECT source, string_agg(DISTINCT try(format('%s(%s, %s)', function, graph, source)), ' / ') AS vertices, count(*) AS calls
  FROM sources s, forms, unnest(ARRAY['emogi_bfs', 'emogi_sssp', 'emogi_sswp', 'emogi_ssnsp']) AS function GROUP BY s.n, source ORDER BY s.n;
SELECT calls, string_agg(DISTINCT try(format(calls, graph)), ' / ')
  FROM forms, unnest(ARRAY['emogi_bfs(%s, 42, 1)', 'emogi_bfs(%s, ''42'', 1, ''out'')', 'emogi_bfs(%s, NULL, NULL, NULL)', 'emogi_bfs(graph => %s, source => ''1'')',
    'emogi_bfs(source => 1, graph => %s, max_depth => 1)', 'emogi_bfs(max_depth => NULL, direction => NULL, source => ''{1,42}'', graph => %s)', 'emogi_sssp(%s, ''1'', 0.5)', 'emogi_sssp(%s, 1, direction => ''in'')',
    'emogi_shortest_path(%s, 1, 7)', 'emogi_shortest_path(%s, ''1'', ''7'')', 'emogi_shortest_path(%s, 1, ''7'')', 'emogi_shortest_path(%s, ''1'', 7)',
    'emogi_shortest_path(%s, NULL, NULL)', 'emogi_shortest_path(%s, 1, NULL)', 'emogi_shortest_path(%s, (SELECT i FROM v), 7::smallint)',
    'emogi_shortest_path(%s, ''1''::varchar, ''7''::name)', 'emogi_shortest_path(graph => %s, target => ''7'', source => ''1'', direction => NULL)',
    'emogi_cc(%s)', 'emogi_cc(graph => %s)', 'emogi_pagerank(%s)', 'emogi_pagerank(%s, NULL, NULL, NULL)', 'emogi_heat(%s, ''VALUES (1, 1)'')', 'emogi_neural(start => ''VALUES (1, 1)'', graph => %s)',
    'emogi_circuit(%s, ''VALUES (1, 1)'', NULL, NULL, NULL)']) WITH ORDINALITY AS c (calls, n)
  GROUP BY c.n, calls ORDER BY c.n;

-- `columns` belongs to the regclass form, which a literal then uses; so does text, but not a name.
SELECT calls, try(calls) FROM unnest(ARRAY['emogi_bfs(''edges'', 3, columns => ''a, b'')', 'emogi_bfs(''edges''::text, ''3'', columns => ''a, b'')', 'emogi_bfs(''edges'', NULL, columns => NULL)',
  'emogi_bfs(''edges'', ''{5,3}'', NULL, NULL, ''a, b'')', 'emogi_sssp(''edges'', 3, columns => ''a, b, weight'')', 'emogi_shortest_path(''edges'', 3, 4, columns => ''"a", B'')', 'emogi_cc(''edges'', ''a,b'')',
  'emogi_pagerank(''edges'', columns => ''a, b'')', 'emogi_heat(''edges'', ''VALUES (3, 1)'', 2, columns => ''a, b'')']) AS calls;

-- Untyped parameters, and all types that drivers assign.
CREATE FUNCTION prepared(types text, call text, VARIADIC arguments text[]) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  result text;
BEGIN
  EXECUTE format('PREPARE q%s AS SELECT string_agg(vertex::text, '' '' ORDER BY vertex) FROM %s', types, call);
  EXECUTE format('EXECUTE q(%s)', (SELECT string_agg(quote_nullable(a), ', ') FROM unnest(arguments) a)) INTO result;
  DEALLOCATE q;
  RETURN coalesce(result, 'no rows');
EXCEPTION WHEN OTHERS THEN
  DEALLOCATE ALL;
  RETURN SQLSTATE || ': ' || SQLERRM;
END $$;
SELECT types, prepared(types, 'emogi_bfs($1, $2)', 'edges', '42') FROM unnest(ARRAY['', '(unknown, unknown)', '(text, unknown)', '(unknown, text)', '(text, text)', '(varchar, varchar)',
  '(text, int)', '(varchar, bigint)', '(unknown, smallint)', '(unknown, int)', '(unknown, bigint)', '(name, unknown)', '(regclass, unknown)', '(regclass, bigint)']) AS types;
SELECT types, prepared(types, 'emogi_bfs($1, $2)', 'edges', '{1,42}') FROM unnest(ARRAY['', '(text, text)', '(text, int[])', '(unknown, smallint[])', '(unknown, bigint[])', '(regclass, int[])']) AS types;
SELECT types, prepared(types, 'emogi_bfs($1, $2)', 'edges', NULL) FROM unnest(ARRAY['', '(text, text)', '(text, int)', '(unknown, bigint[])']) AS types;
SELECT prepared('', 'emogi_bfs($1, $2, $3, $4)', 'edges', '1', '1', 'out'), prepared('', 'emogi_bfs($1, $2::bigint)', 'edges', '42'), prepared('', 'emogi_bfs($1::regclass, $2)', 'edges', '42'),
       prepared('', 'emogi_bfs(graph => $1, source => $2, columns => $3)', 'edges', '3', 'a, b'), prepared('', 'emogi_sssp($1, $2, $3, $4)', 'edges', '1', '0.5', NULL),
       prepared('', 'emogi_shortest_path($1, $2, $3)', 'edges', '1', '7'), prepared('', 'emogi_shortest_path($1, $2, 7)', 'edges', '1'), prepared('(text, bigint, bigint)', 'emogi_shortest_path($1, $2, $3)', 'edges', '1', '7'),
       prepared('', 'emogi_cc($1)', 'edges'), prepared('', 'emogi_pagerank($1, $2, $3, $4)', 'edges', NULL, '3', '0'), prepared('', 'emogi_heat($1, $2)', 'edges', 'VALUES (1, 1)');
SELECT a.edges = b.edges, a.edges = c.edges, c.edges > 0 FROM emogi_estimate('edges') a, emogi_estimate('edges'::regclass) b, emogi_estimate('edges', columns => 'a, b') c;
SELECT a.vertices, b.vertices, c.vertices, d.vertices, e.vertices, e.has_backward FROM emogi_check('edges') a, emogi_check('edges'::regclass, 'in') b, emogi_check('edges', columns => 'a, b') c,
       emogi_check('edges'::text, weights => true) d, emogi_check('edges'::regclass, 'out', true, true, columns => 'a, b') e;

-- LATERAL with columns of any of these types; those that are not numbers are searched one by one.
SELECT (SELECT string_agg(vertex::text, ' ') FROM emogi_bfs('edges', i)), (SELECT string_agg(vertex::text, ' ') FROM emogi_bfs('edges', c)), (SELECT string_agg(vertex::text, ' ') FROM emogi_bfs('edges'::regclass, t)),
       (SELECT string_agg(vertex::text, ' ') FROM emogi_bfs('edges', n)), (SELECT string_agg(vertex::text, ' ') FROM emogi_bfs('edges'::regclass, a)), (SELECT string_agg(vertex::text, ' ') FROM emogi_bfs('edges', b)) FROM v;
SELECT string_agg(x || '>' || vertex, ' ' ORDER BY x, vertex) FROM unnest(ARRAY[1, 2, 42, 99]) x, LATERAL emogi_bfs('edges'::regclass, x) b;
SELECT string_agg(x || '>' || vertex, ' ' ORDER BY x COLLATE "C", vertex) FROM unnest(ARRAY['1', '2', '42', '99', '{1,42}', NULL]) x, LATERAL emogi_bfs('edges', x) b;
SET emogi.engine = cpu;
EXPLAIN (COSTS OFF) SELECT * FROM unnest(ARRAY[1, 2]) x, LATERAL emogi_bfs('edges'::regclass, x) b;
EXPLAIN (COSTS OFF) SELECT * FROM unnest(ARRAY['1', '2']) x, LATERAL emogi_bfs('edges', x) b;
RESET emogi.engine;

-- Text that is not a key. The message contains the value and describes a source.
CREATE FUNCTION message(command text, OUT state text, OUT message text, OUT hint text) LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE command;
EXCEPTION WHEN OTHERS THEN
  GET STACKED DIAGNOSTICS state = RETURNED_SQLSTATE, message = MESSAGE_TEXT, hint = PG_EXCEPTION_HINT;
END $$;
SELECT source, m.* FROM unnest(ARRAY['one', '', ' ', '1.5', '1 2', '1,2', '9223372036854775808', '{1,x}', '{1,9223372036854775808}', '{1', '[1]', '00000000-0000-0000-0000-000000000001']) source,
  message(format('SELECT * FROM emogi_bfs(''edges'', %L)', source)) m;
SELECT m.* FROM message($$ SELECT * FROM emogi_shortest_path('edges', '1', '{7}') $$) m;
SELECT m.* FROM message($$ SELECT * FROM emogi_shortest_path('edges', 'a', '7') $$) m;
-- An error of the graph takes precedence.
SELECT m.state FROM message($$ SELECT * FROM emogi_bfs(NULL, 'one') $$) m;

-- All forms of a function agree: with text and with regclass, for each type of vertices, for one
-- vertex and for several. Others are listed.
SELECT * FROM (SELECT proname, count(*) AS forms, count(DISTINCT (provolatile, proparallel, procost, prorows, prosupport, prosrc, proisstrict, proretset, prosecdef)) AS kinds,
       count(*) FILTER (WHERE proargtypes[0] = 'regclass'::regtype) AS regclass, count(*) FILTER (WHERE 'columns' = ANY (proargnames)) AS columns,
       count(*) FILTER (WHERE obj_description(p.oid) IS NULL) AS undescribed
  FROM pg_proc p JOIN pg_depend d ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e'
 WHERE proname LIKE 'emogi\_%' AND 'graph' = ANY (proargnames) AND prosrc <> 'emogi_refuse_array' GROUP BY proname) f
 WHERE (forms, kinds, "regclass", "columns", undescribed) NOT IN ((2, 1, 1, 1, 0), (6, 1, 3, 3, 0), (12, 1, 6, 6, 0)) ORDER BY proname;
-- Some have forms with arrays that only report the accepted type.
SELECT m.* FROM unnest(ARRAY['emogi_shortest_path(''edges'', ARRAY[1, 2], ARRAY[3]::bigint[])', 'emogi_shortest_path(''edges'', source => ARRAY[''1''], target => ARRAY[''3''], direction => ''in'')', 'emogi_shortest_paths(''edges'', ARRAY[1, 2])',
  'emogi_shortest_paths(''edges'', pairs => ARRAY[[1, 2]])', 'emogi_reachable(''edges'', pairs => ARRAY[[1, 2]])', 'emogi_reachable(''edges'', ARRAY[1, 2], ''in'')', 'emogi_distance_matrix(''edges'', ARRAY[1, 2])',
  'emogi_heat(''edges'', start => ARRAY[1])', 'emogi_circuit(''edges'', ARRAY[1.0], 5)', 'emogi_neural(''edges'', direction => ''in'', start => ARRAY[1])', 'emogi_heat(''edges'', NULL::int[])']) WITH ORDINALITY AS call(text, n), message('SELECT * FROM ' || call.text) m ORDER BY n;
SELECT proname, pg_get_function_identity_arguments(oid), provolatile, proparallel, proisstrict, obj_description(oid) FROM pg_proc WHERE prosrc = 'emogi_refuse_array' ORDER BY 1;
-- They make no call with untyped arguments, or NULL, ambiguous.
PREPARE refuse1 AS SELECT * FROM emogi_shortest_path('edges', $1, $2);
PREPARE refuse2 AS SELECT * FROM emogi_shortest_path('edges', $1, 5);
PREPARE refuse3 AS SELECT * FROM emogi_shortest_path('edges', $1, $2::bigint, $3);
PREPARE refuse4 AS SELECT * FROM emogi_shortest_paths('edges', $1);
PREPARE refuse5 AS SELECT * FROM emogi_shortest_paths('edges', ARRAY[1], $1);
PREPARE refuse6 AS SELECT * FROM emogi_reachable('edges', $1, $2);
PREPARE refuse7 AS SELECT * FROM emogi_heat('edges', $1, $2, $3, $4), emogi_circuit($1, $1), emogi_neural($1, $1);
SELECT name, parameter_types FROM pg_prepared_statements WHERE name LIKE 'refuse_' ORDER BY name;
DEALLOCATE ALL;
-- Internal functions are excluded; the version may change while the extension does not.
SELECT proname FROM pg_proc WHERE proname LIKE 'emogi\_s%' AND proname ~ 'sink|support';
SELECT provolatile FROM pg_proc WHERE proname = 'emogi_version';
SELECT emogi_evict() >= 0, emogi_evict(NULL) >= 0, emogi_evict('edges') >= 0, emogi_evict('edges'::regclass) >= 0;
