-- Invalid weights and arguments of the algorithms, by SQLSTATE.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS emogi;
RESET client_min_messages;
CREATE SCHEMA test_weight_errors;
SET search_path = test_weight_errors, public;
\pset format unaligned
\pset tuples_only on
\pset null (null)
\set VERBOSITY sqlstate

-- The SQLSTATE of each call, or the number of its rows.
CREATE FUNCTION outcome(command text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  n bigint;
BEGIN
  EXECUTE 'SELECT count(*) FROM ' || command INTO n;
  RETURN n;
EXCEPTION WHEN OTHERS THEN
  RETURN SQLSTATE;
END $$;
CREATE FUNCTION each(arguments text) RETURNS TABLE (algorithm text, outcome text) LANGUAGE sql AS $$
  SELECT f, outcome(format('emogi_%s(%s%s)', f, arguments, rest))
    FROM (VALUES (1, 'bfs', ', 1'), (2, 'sssp', ', 1'), (3, 'sswp', ', 1'), (4, 'ssnsp', ', 1'), (5, 'cc', ''), (6, 'pagerank', ''),
                 (7, 'heat', ', ''SELECT 1, 1'''), (8, 'circuit', ', ''SELECT 1, 1'''), (9, 'neural', ', ''SELECT 1, 1'''), (10, 'shortest_path', ', 1, 2')) v(i, f, rest)
   ORDER BY i $$;
CREATE TABLE edges (src int, dst int, weight float8, n numeric, r real, t text, b bool, i interval, m money, j jsonb, a float8[], d date);
INSERT INTO edges VALUES (1, 2, 1, 1, 1, '1', true, '1 day', 1, '1', '{1}', '2000-01-01'), (2, 3, 1, 1, 1, '1', true, '1 day', 1, '1', '{1}', '2000-01-01');
SELECT * FROM each('''edges''');

-- A weight that is NULL, NaN, negative, infinite: in a table, in a query, on an edge that no path
-- uses.
CREATE TABLE weights (kind text, weight float8);
INSERT INTO weights VALUES ('1 null', NULL), ('2 nan', 'NaN'), ('3 negative', -1), ('4 tiny', -5e-324), ('5 -inf', '-Infinity'), ('6 +inf', 'Infinity'), ('7 -0', '-0');
CREATE TABLE outcomes (source text, kind text, algorithm text, outcome text);
DO $$
DECLARE
  w weights;
BEGIN
  FOR w IN SELECT * FROM weights LOOP
    CREATE TABLE t AS SELECT src, dst, weight, weight::numeric AS n, weight::real AS r FROM edges UNION ALL SELECT 8, 9, w.weight, w.weight::numeric, nullif(w.weight, -5e-324)::real;
    INSERT INTO outcomes SELECT 'table', w.kind, e.* FROM each('''t''') e;
    INSERT INTO outcomes SELECT 'query', w.kind, e.* FROM each('''SELECT src, dst, weight FROM t''') e;
    IF w.kind <> '4 tiny' THEN
      INSERT INTO outcomes SELECT 'numeric', w.kind, e.* FROM each('''t(src, dst, n)''') e;
      INSERT INTO outcomes SELECT 'real', w.kind, e.* FROM each('''t(src, dst, r)''') e;
    END IF;
    INSERT INTO outcomes SELECT 'no weight', w.kind, e.* FROM each('''t(src, dst)''') e;
    UPDATE t SET dst = NULL WHERE src = 8;
    INSERT INTO outcomes SELECT 'null end', w.kind, e.* FROM each('''t''') e;
    INSERT INTO outcomes SELECT 'null end, query', w.kind, e.* FROM each('''SELECT src, dst, n FROM t''') e;
    DROP TABLE t;
  END LOOP;
END $$;
SELECT kind, algorithm, string_agg(source || ' ' || outcome, ', ' ORDER BY source COLLATE "C") FROM outcomes
 WHERE source NOT LIKE 'n%' OR source = 'numeric' GROUP BY kind, algorithm ORDER BY kind COLLATE "C", algorithm COLLATE "C";
-- Without weights, or if an endpoint is NULL, this has no effect.
SELECT source, string_agg(algorithm || ' ' || outcome, ', ' ORDER BY algorithm COLLATE "C", kind COLLATE "C") FILTER (WHERE kind IN ('1 null', '4 tiny')),
       count(DISTINCT (algorithm, outcome)) FROM outcomes WHERE source LIKE 'n%' AND source <> 'numeric' GROUP BY source ORDER BY source COLLATE "C";

-- Integers can be negative too.
SELECT * FROM each('''SELECT 1, 2, (-1)::smallint''') WHERE outcome <> '2';
SELECT * FROM each('''SELECT 1, 2, -1''') WHERE outcome <> '2';
SELECT * FROM each('''SELECT 1, 2, -9223372036854775808''') WHERE outcome <> '2';
SELECT * FROM each('''SELECT 1, 2, -0.001''') WHERE outcome <> '2';

-- A negative weight is an error anywhere, also on edges not reachable from the source.
SELECT count(*) FROM emogi_sssp('VALUES (1, 2, 1), (3, 4, -1)', 1);
SELECT count(*) FROM emogi_sssp('VALUES (1, 2, 1), (3, 4, -1)', 99);
SELECT count(*) FROM emogi_sswp('VALUES (1, 2, 1), (3, 4, -1)', 1);
SELECT count(*) FROM emogi_shortest_path('VALUES (1, 2, 1), (3, 4, -1)', 1, 2);
SELECT count(*) FROM emogi_circuit('VALUES (1, 2, 1), (3, 4, -1)', 'VALUES (1, 1), (2, 1), (3, 1), (4, 1)');

-- A graph cached with weights by a function that accepts them is still rejected by functions that
-- do not.
CREATE TABLE kept_negative AS SELECT * FROM (VALUES (1, 2, 1::float8), (2, 3, -1)) v(src, dst, weight);
SELECT direction, outcome(format('emogi_neural(''kept_negative'', ''SELECT 1, 1'', direction => %L)', direction)) FROM unnest(ARRAY['out', 'in', 'both']) direction;
SELECT count(*) > 0 AS cached FROM emogi_graphs WHERE source = 'kept_negative' AND columns = 'src, dst, weight';
SELECT * FROM each('''kept_negative''') WHERE algorithm <> 'heat';
SELECT direction, outcome(format('emogi_sssp(''kept_negative'', 1, direction => %L)', direction)) FROM unnest(ARRAY['out', 'in', 'both']) direction;
CREATE TABLE kept_infinite AS SELECT * FROM (VALUES (1, 2, 1::float8), (2, 3, 'Infinity')) v(src, dst, weight);
SELECT direction, outcome(format('emogi_sssp(''kept_infinite'', 1, direction => %L)', direction)) FROM unnest(ARRAY['out', 'in', 'both']) direction;
SELECT count(*) > 0 AS cached FROM emogi_graphs WHERE source = 'kept_infinite' AND columns = 'src, dst, weight';
SELECT * FROM each('''kept_infinite''');
SELECT f, direction, outcome(format('emogi_%s(''kept_infinite'', ''SELECT 1, 1'', direction => %L)', f, direction))
  FROM unnest(ARRAY['heat', 'circuit', 'neural']) WITH ORDINALITY f(f, i), unnest(ARRAY['out', 'in', 'both']) WITH ORDINALITY d(direction, j) ORDER BY i, j;

-- The HINT names the edges to exclude: its query is accepted.
CREATE FUNCTION advice(command text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  hint text;
BEGIN
  EXECUTE 'SELECT count(*) FROM ' || command;
  RETURN NULL;
EXCEPTION WHEN OTHERS THEN
  GET STACKED DIAGNOSTICS hint = PG_EXCEPTION_HINT;
  RETURN hint;
END $$;
CREATE TABLE advised (call text, kind text, hint text, outcome text);
DO $$
DECLARE
  w record;
BEGIN
  ALTER TABLE edges RENAME TO edges_aside;
  FOR w IN SELECT * FROM weights WHERE kind IN ('2 nan', '3 negative', '5 -inf', '6 +inf') LOOP
    CREATE TABLE edges AS SELECT * FROM (VALUES (1, 2, 1::float8), (2, 3, w.weight)) v(src, dst, weight);
    INSERT INTO advised SELECT call, w.kind, hint, outcome(format(call, substring(hint FROM '[$][$](.*)[$][$]')))
      FROM unnest(ARRAY['emogi_sssp(%L, 1)', 'emogi_circuit(%L, ''SELECT 1, 1'')', 'emogi_heat(%L, ''SELECT 1, 1'')']) call,
           advice(format(call, 'edges')) hint;
    DROP TABLE edges;
  END LOOP;
  CREATE TABLE edges AS SELECT 1 AS src, 2 AS dst, 1 AS weight UNION ALL SELECT 2, 3, -1;
  INSERT INTO advised SELECT call, 'integer', hint, outcome(format(call, substring(hint FROM '[$][$](.*)[$][$]')))
    FROM unnest(ARRAY['emogi_sssp(%L, 1)', 'emogi_circuit(%L, ''SELECT 1, 1'')']) call, advice(format(call, 'edges')) hint;
  DROP TABLE edges;
  ALTER TABLE edges_aside RENAME TO edges;
END $$;
SELECT * FROM advised WHERE hint LIKE 'Weights%' ORDER BY call COLLATE "C", kind COLLATE "C";

-- A weight column that is not a number.
SELECT c, string_agg(DISTINCT outcome, ' ') FROM unnest(ARRAY['t', 'b', 'i', 'm', 'j', 'a', 'd']) c, each(format('%L', format('edges(src, dst, %s)', c)))
 WHERE algorithm NOT IN ('bfs', 'ssnsp', 'cc', 'pagerank') GROUP BY c ORDER BY c;
SELECT c, string_agg(DISTINCT outcome, ' ')
  FROM unnest(ARRAY['t', 'b', 'i', 'm', 'j', 'a', 'd', '''1''', 'NULL', 'row(1)', 'now()']) c, each(format('%L', format('SELECT src, dst, %s FROM edges', c)))
 WHERE algorithm NOT IN ('bfs', 'ssnsp', 'cc', 'pagerank') GROUP BY c ORDER BY c COLLATE "C";
CREATE DOMAIN label AS text;
CREATE TABLE labels (src int, dst int, weight label);
SELECT string_agg(DISTINCT outcome, ' ') FROM each('''labels''') WHERE algorithm NOT IN ('bfs', 'ssnsp', 'cc', 'pagerank');
SELECT string_agg(DISTINCT outcome, ' ') FROM each('''edges(src, dst, nowhere)''');
SELECT string_agg(DISTINCT outcome, ' ') FROM each('''nowhere''');
SELECT string_agg(DISTINCT outcome, ' ') FROM each('NULL');

-- Maximum distance.
SELECT d, outcome(format('emogi_sssp(''edges'', 1, %s)', d))
  FROM unnest(ARRAY['-1', '''NaN''', '''-Infinity''', '-5e-324', '''-0''', '0', '1.5', '''Infinity''', 'NULL']) WITH ORDINALITY x(d, i) ORDER BY i;

-- Damping, iterations, tolerance.
SELECT d, outcome(format('emogi_pagerank(''edges'', %s)', d))
  FROM unnest(ARRAY['-0.1', '1.1', '''NaN''', '''Infinity''', '''-Infinity''', '-5e-324', '1.0000000000000002', '0', '''-0''', '1', '0.5', 'NULL']) WITH ORDINALITY x(d, i) ORDER BY i;
CREATE TABLE calls (i serial, call text);
INSERT INTO calls (call) VALUES ('pagerank(''edges'', '), ('heat(''edges'', ''SELECT 1, 1'', '), ('circuit(''edges'', ''SELECT 1, 1'', '), ('neural(''edges'', ''SELECT 1, 1'', ');
SELECT n, string_agg(outcome('emogi_' || call || 'max_iterations => ' || n || ')'), ' ' ORDER BY c.i)
  FROM unnest(ARRAY['0', '-1', '-2147483648', '1', 'NULL']) WITH ORDINALITY x(n, i), calls c GROUP BY n, x.i ORDER BY x.i;
SELECT n, string_agg(outcome('emogi_' || call || 'tolerance => ' || n || ')'), ' ' ORDER BY c.i)
  FROM unnest(ARRAY['-1', '''NaN''', '''-Infinity''', '-5e-324', '''-0''', '0', '1e300', '''Infinity''', 'NULL']) WITH ORDINALITY x(n, i), calls c GROUP BY n, x.i ORDER BY x.i;
SELECT count(*) FROM emogi_pagerank('SELECT 1, 2 WHERE false', 2);
SELECT count(*) FROM emogi_heat('SELECT 1, 2, 1 WHERE false', 'SELECT 1, 1', 0);
SELECT count(*) FROM emogi_sssp('edges', NULL::bigint, -1);

-- Direction.
SELECT d, string_agg(outcome('emogi_' || call || 'direction => ''' || d || ''')'), ' ' ORDER BY c.i)
  FROM unnest(ARRAY['up', '', 'outt', 'ou', ' out', 'in,out', 'both']) WITH ORDINALITY x(d, i),
       (VALUES (1, 'sssp(''edges'', 1, '), (2, 'sswp(''edges'', 1, '), (3, 'ssnsp(''edges'', 1, '), (4, 'heat(''edges'', ''SELECT 1, 1'', '),
               (5, 'circuit(''edges'', ''SELECT 1, 1'', '), (6, 'neural(''edges'', ''SELECT 1, 1'', '), (7, 'shortest_path(''edges'', 1, 2, ')) c(i, call)
 GROUP BY d, x.i ORDER BY x.i;

-- The start query.
CREATE TABLE starts (i serial, start text);
INSERT INTO starts (start) VALUES
  ('NULL'), ('SELECT 1'), ('SELECT 1 WHERE false'), ('SELECT'), ('SELECT ''1''::text, 1'), ('SELECT 1.0, 1'), ('SELECT 1::float8, 1'), ('SELECT 1, ''1''::text'), ('SELECT 1, true'),
  ('SELECT 1, now()'), ('SELECT 1, ''{1}''::float8[]'), ('SELECT 1, ''NaN''::float8'), ('SELECT 1, ''Infinity''::float8'), ('SELECT 1, ''-Infinity''::real'),
  ('SELECT 1, ''NaN''::numeric'), ('VALUES (1, 1), (1, 2)'), ('VALUES (1, 1), (2, 2), (1, 1)'), ('VALUES (3, 1), (1, 2), (3, 1)'), ('VALUES (1, 1), (2, 2), (3, 3)'),
  ('VALUES (1, 1.5), (99, 2)'), ('SELECT 1, 1 / 0'), ('SELECT nowhere');
SELECT start, string_agg(outcome(format('emogi_%s(''edges'', %L)', f, nullif(start, 'NULL'))), ' ' ORDER BY f COLLATE "C")
  FROM starts, unnest(ARRAY['heat', 'circuit', 'neural']) f GROUP BY i, start ORDER BY i;
SELECT start, string_agg(CASE WHEN o IN ('42601', '0A000', '25006') THEN 'refused' ELSE o END, ' ')
  FROM unnest(ARRAY['INSERT INTO edges VALUES (7, 8) RETURNING src, dst', 'DELETE FROM edges RETURNING src, dst', 'WITH x AS (DELETE FROM edges RETURNING src) SELECT src, 1 FROM x',
                    'SELECT 1, 1; DELETE FROM edges', 'SELECT 1, 1)', 'TRUNCATE edges', '']) WITH ORDINALITY s(start, i),
       unnest(ARRAY['heat', 'circuit', 'neural']) f, LATERAL outcome(format('emogi_%s(''edges'', %L)', f, start)) o GROUP BY i, start ORDER BY i;
SELECT src, dst FROM edges ORDER BY src;

-- Messages name the problem.
CREATE FUNCTION message(command text, OUT state text, OUT message text, OUT hint text) LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE command;
EXCEPTION WHEN OTHERS THEN
  GET STACKED DIAGNOSTICS state = RETURNED_SQLSTATE, message = MESSAGE_TEXT, hint = PG_EXCEPTION_HINT;
END $$;
SELECT state, message LIKE '%-2.5%' AS value FROM message($$ SELECT * FROM emogi_sssp('SELECT 1, 2, -2.5', 1) $$);
SELECT state, message ILIKE '%NaN%' AS value FROM message($$ SELECT * FROM emogi_heat('SELECT 1, 2, ''NaN''::float8', 'SELECT 1, 1') $$);
SELECT state, message ILIKE '%null%' AS value FROM message($$ SELECT * FROM emogi_sswp('SELECT 1, 2, NULL::int', 1) $$);
SELECT state, message LIKE '%1.5%' AS value FROM message($$ SELECT * FROM emogi_pagerank('edges', 1.5) $$);
SELECT state, message LIKE '%-7%' AS value FROM message($$ SELECT * FROM emogi_pagerank('edges', max_iterations => -7) $$);
SELECT state, message LIKE '%-0.25%' AS value FROM message($$ SELECT * FROM emogi_circuit('edges', 'SELECT 1, 1', tolerance => -0.25) $$);
SELECT state, message LIKE '%-0.5%' AS value FROM message($$ SELECT * FROM emogi_sssp('edges', 1, -0.5) $$);
SELECT state, message || hint ILIKE '%interval%' AS value FROM message($$ SELECT * FROM emogi_sssp('edges(src, dst, i)', 1) $$);
SELECT state, message LIKE '%4711%' AS value FROM message($$ SELECT * FROM emogi_heat('SELECT 4711, 1', 'VALUES (4711, 1), (4711, 2)') $$);

-- Calls still work after these errors.
SELECT string_agg(vertex || ':' || distance, ' ') FROM emogi_sssp('edges', 1);

-- A weight visible to others, but corrected or deleted by the own transaction, is not an error.
SET emogi.incremental_min_size = 0;
CREATE TABLE mended AS SELECT i AS id, i AS src, i + 1 AS dst, 1::float8 AS weight FROM generate_series(1, 1000) i UNION ALL SELECT 1001, 1, 5, -1 UNION ALL SELECT 1002, 1, 6, NULL;
SELECT state, message LIKE '%mended%' OR message LIKE '%weight%' AS value FROM message($$ SELECT count(*) FROM emogi_sssp('mended', 1) $$);
BEGIN;
DELETE FROM mended WHERE weight IS NULL;
UPDATE mended SET weight = 2 WHERE weight < 0;
SELECT max(distance) FROM emogi_sssp('mended', 1);
SELECT max(distance) FROM emogi_sssp('mended', 1);
ROLLBACK;
SELECT state FROM message($$ SELECT count(*) FROM emogi_sssp('mended', 1) $$);
RESET emogi.incremental_min_size;
DROP TABLE mended;

-- Numerics beyond the range of float8.
\set VERBOSITY default
CREATE TABLE huge (src int, dst int, weight numeric);
INSERT INTO huge VALUES (1, 2, 1), (2, 3, '1e400');
SELECT * FROM emogi_sssp('huge', 1);
SELECT * FROM emogi_sssp('SELECT * FROM huge', 1);
SELECT * FROM emogi_sssp('huge WHERE src > 0', 1);
CREATE DOMAIN amount AS numeric;
CREATE TABLE two_amounts AS SELECT src, dst, weight AS cost, weight::amount AS reverse_cost FROM huge WHERE src = 1;
SELECT * FROM emogi_sssp('two_amounts', 1);
SELECT * FROM emogi_sssp('two_amounts WHERE src > 0', 1);
SELECT * FROM emogi_sssp('SELECT src, dst, cost::amount AS weight FROM two_amounts', 1);
UPDATE huge SET weight = '1e-400' WHERE src = 2;
SELECT * FROM emogi_sssp('huge', 1);
INSERT INTO huge VALUES (3, 4, 0), (4, 5, '0.000'), (5, 6, 'Infinity');
UPDATE huge SET weight = '1e-300' WHERE src = 2;
SELECT * FROM emogi_sssp('huge', 2);
DROP TABLE huge;
