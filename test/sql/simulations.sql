-- Answers of emogi_heat, emogi_circuit and emogi_neural. Values are sums: rounded, or compared
-- within a tolerance.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS emogi;
RESET client_min_messages;
CREATE SCHEMA test_simulations;
SET search_path = test_simulations, public;

-- The interface.
SELECT * FROM emogi_heat('SELECT 1, 2', 'SELECT 1, 1') \gdesc
SELECT proname, proargnames[1:pronargs] AS names, proargtypes::regtype[] AS types, pg_get_expr(proargdefaults, 'pg_proc'::regclass) AS defaults,
       provolatile, proparallel, prosecdef, proleakproof, proretset
  FROM pg_proc WHERE proname IN ('emogi_heat', 'emogi_circuit', 'emogi_neural') ORDER BY proname, proargtypes;

-- Rows are in ascending vertex order, so one line shows an answer.
\pset format unaligned
\pset tuples_only on
\pset null (null)
CREATE FUNCTION heat(graph text, start text, max_iterations int DEFAULT 1000, tolerance float8 DEFAULT 1e-6, direction text DEFAULT 'both') RETURNS text LANGUAGE sql AS
  $$ SELECT string_agg(vertex || ':' || trim_scale(round(value::numeric, 9)), ' ') FROM emogi_heat($1, $2, $3, $4, $5) $$;
CREATE FUNCTION circuit(graph text, start text, max_iterations int DEFAULT 1000, tolerance float8 DEFAULT 1e-6, direction text DEFAULT 'both') RETURNS text LANGUAGE sql AS
  $$ SELECT string_agg(vertex || ':' || trim_scale(round(value::numeric, 9)), ' ') FROM emogi_circuit($1, $2, $3, $4, $5) $$;
CREATE FUNCTION neural(graph text, start text, max_iterations int DEFAULT 1000, tolerance float8 DEFAULT 1e-6, direction text DEFAULT 'out') RETURNS text LANGUAGE sql AS
  $$ SELECT string_agg(vertex || ':' || trim_scale(round(value::numeric, 9)), ' ') FROM emogi_neural($1, $2, $3, $4, $5) $$;

--
-- Heat. A bar of four pieces, hot at one end: in each step a quarter of the difference flows over
-- each edge.
--
CREATE TABLE bar (src int, dst int, weight float8);
INSERT INTO bar VALUES (1, 2, 0.25), (2, 3, 0.25), (3, 4, 0.25);
SELECT * FROM emogi_heat('bar', 'SELECT 1, 100', 1, 0);
SELECT heat('bar', 'SELECT 1, 100', 2, 0);
SELECT heat('bar', 'SELECT 1, 100', 3, 0);
SELECT heat('bar', 'VALUES (1, 100), (4, -100)', 2, 0);
SELECT heat('bar', 'SELECT 1, 100', 100000, 1e-13);
-- All start at zero, and uniform values do not change.
SELECT heat('bar', 'SELECT 1, 1 WHERE false');
SELECT heat('bar', 'SELECT i, 7.5 FROM generate_series(1, 4) i');
-- Direction: heat flows from src to dst only, the other way, or both ways.
SELECT heat('bar', 'SELECT 2, 100', 1, 0, 'out');
SELECT heat('bar', 'SELECT 2, 100', 2, 0, 'out');
SELECT heat('bar', 'SELECT 2, 100', 1, 0, 'in');
SELECT heat('bar', 'SELECT 2, 100', 1, 0, 'BOTH');
-- Iteration ends after a change below the tolerance: the largest changes are 25, 12.5, 7.8125,
-- without any rounding.
SELECT heat('bar', 'SELECT 1, 100', 1000, 25);
SELECT heat('bar', 'SELECT 1, 100', 1000, 24.9);
SELECT heat('bar', 'SELECT 1, 100', 1000, 12.5);
SELECT heat('bar', 'SELECT 1, 100', 1000, 12.4);
SELECT heat('bar', 'SELECT 1, 100', 1000, 'Infinity');
-- The defaults, by name and by NULL.
SELECT count(*), count(*) FILTER (WHERE (a.value = b.value AND a.value = c.value) IS NOT TRUE)
  FROM emogi_heat('bar', 'SELECT 1, 100') a JOIN emogi_heat('bar', 'SELECT 1, 100', 1000, 1e-6, 'both') b USING (vertex)
  JOIN emogi_heat(start => 'SELECT 1, 100', graph => 'bar', max_iterations => NULL, tolerance => NULL, direction => NULL) c USING (vertex);
-- Parallel edges add up, a loop has no effect, rows with a NULL endpoint are not edges, weights may
-- be negative or zero, without weights all are 1.
SELECT heat('VALUES (1, 2, 0.125), (1, 2, 0.125), (2, 2, 0.5), (NULL, 2, 0.5), (3, NULL, 1)', 'SELECT 1, 100', 1, 0);
SELECT heat('VALUES (1, 2, -0.25), (2, 3, 0)', 'VALUES (1, 100), (3, 5)', 1, 0);
SELECT heat('bar(src, dst)', 'SELECT 1, 100', 1, 0, 'out');
SELECT heat('SELECT 1, 2', 'SELECT 1, 100', 2, 0);
-- No edges.
SELECT count(*) FROM emogi_heat('SELECT 1, 2, 0.5 WHERE false', 'SELECT 1, 100');

--
-- The start query: any numeric type for the value, integers for the vertex; vertices that are not
-- in the graph are ignored.
--
SELECT heat('bar', 'SELECT 1::smallint, 100::smallint', 1, 0);
SELECT heat('bar', 'SELECT 1::bigint, 100::bigint', 1, 0);
SELECT heat('bar', 'SELECT 1, 100::real', 1, 0);
SELECT heat('bar', 'SELECT 1, 100::float8', 1, 0);
SELECT heat('bar', 'SELECT 1, 100.00', 1, 0);
SELECT heat('bar', 'VALUES (99, 5), (1, 100), (-1, 7), (9223372036854775807, 1)', 1, 0);
SELECT heat('bar', 'SELECT 99, 5', 1, 0);
SELECT heat('bar', 'SELECT 1, 100, ''more'', NULL', 1, 0);
-- A row with a NULL is ignored.
SELECT heat('bar', 'VALUES (1, 100), (2, NULL), (NULL, 5), (NULL, NULL)', 1, 0);
CREATE TABLE starts (vertex int, value numeric, other text);
INSERT INTO starts VALUES (1, 100, 'x'), (3, 0.5, 'y');
SELECT heat('bar', 'TABLE starts', 1, 0);
SELECT heat('bar', 'SELECT vertex, value FROM starts WHERE other = ''y'' ORDER BY value DESC LIMIT 5', 1, 0);
SELECT heat('bar', 'WITH s AS (SELECT max(src) AS v FROM bar) SELECT v, 100 FROM s', 1, 0);
SELECT heat('bar', 'SELECT vertex, distance FROM emogi_sssp(''bar'', 1)', 1, 0);

--
-- Circuit. Conductances between two poles: 1 at 12 volts, 4 at 0.
--
CREATE TABLE wires (src int, dst int, weight float8);
INSERT INTO wires VALUES (1, 2, 1), (2, 3, 1), (3, 4, 1);
SELECT * FROM emogi_circuit('wires', 'VALUES (1, 12), (4, 0)', 1, 0);
SELECT circuit('wires', 'VALUES (1, 12), (4, 0)', 2, 0);
SELECT circuit('wires', 'VALUES (1, 12), (4, 0)', 3, 0);
SELECT circuit('wires', 'VALUES (1, 12), (4, 0)', 1000, 1e-13);
-- Resistors of 1, 2 and 3 ohm in series, and two of 1 and 3 ohm in parallel before one of 1.
SELECT circuit('VALUES (1, 2, 1.0), (2, 3, 1 / 2.0), (3, 4, 1 / 3.0::float8)', 'VALUES (1, 12), (4, 0)', 1000, 1e-13);
SELECT circuit('VALUES (1, 2, 1.0), (1, 2, 1 / 3.0::float8), (2, 3, 1.0)', 'VALUES (1, 7), (3, 0)', 1000, 1e-13);
-- Wheatstone's bridge, balanced and unbalanced: with 5 unit resistors except one of conductance 3
-- the middle differs.
SELECT circuit('VALUES (1, 2, 1), (1, 3, 2), (2, 4, 2), (3, 4, 4), (2, 3, 5)', 'VALUES (1, 9), (4, 0)', 1000, 1e-13);
SELECT circuit('VALUES (1, 2, 1), (1, 3, 3), (2, 4, 1), (3, 4, 1), (2, 3, 1)', 'VALUES (1, 13), (4, 0)', 1000, 1e-13);
-- Direction: a vertex takes the mean over its incoming edges, its outgoing edges, or both. Without
-- any it is at 0.
SELECT circuit('wires', 'VALUES (1, 12), (4, 0)', 1000, 0, 'out');
SELECT circuit('wires', 'VALUES (1, 12), (4, 0)', 1000, 0, 'in');
SELECT circuit('wires', 'SELECT 2, 12', 1000, 0, 'out');
SELECT circuit('wires', 'SELECT 2, 12', 1, 0, NULL);
-- One pole: all reach its voltage. No pole: zero. Every vertex a pole: nothing changes.
SELECT circuit('wires', 'SELECT 2, 12', 100000, 1e-13);
SELECT circuit('wires', 'SELECT 2, 12 WHERE false');
SELECT circuit('wires', 'VALUES (1, 12), (2, -3), (3, 7.25), (4, 0)');
-- The largest change of the first iteration is 6, of the second 2.
SELECT circuit('VALUES (1, 2, 1), (2, 3, 1), (3, 4, 2)', 'SELECT 1, 12', 1000, 6);
SELECT circuit('VALUES (1, 2, 1), (2, 3, 1), (3, 4, 2)', 'SELECT 1, 12', 1000, 5.9);
-- An edge of weight 0 conducts nothing; without weights all conduct 1; parallel edges add up; other
-- parts of the graph stay at 0.
SELECT circuit('VALUES (1, 2, 1), (2, 3, 0), (3, 4, 1)', 'VALUES (1, 12), (4, 5)', 1000, 0, 'out');
SELECT circuit('VALUES (1, 2, 0)', 'SELECT 1, 12');
SELECT circuit('wires(src, dst)', 'VALUES (1, 12), (4, 0)', 2, 0);
SELECT circuit('VALUES (1, 3), (1, 3), (2, 3), (5, 6)', 'VALUES (1, 12), (2, 0)', 5, 0, 'out');
SELECT circuit('wires', 'VALUES (1, 12), (2, NULL), (4, 0)', 1, 0);
-- A loop is one edge, in both directions too: 2 takes the mean of 12 and its own 0, then of 12 and 6.
SELECT circuit('VALUES (1, 2, 1), (2, 2, 1)', 'SELECT 1, 12', 1, 0, 'out');
SELECT circuit('VALUES (1, 2, 1), (2, 2, 1)', 'SELECT 1, 12', 1, 0);
SELECT circuit('VALUES (1, 2, 1), (2, 2, 1)', 'SELECT 1, 12', 2, 0);
SELECT circuit('VALUES (1, 2, 1), (2, 2, 1)', 'SELECT 1, 12', 1000, 1e-13);
SELECT count(*) FROM emogi_circuit('SELECT 1, 2, 0.5 WHERE false', 'SELECT 1, 100');

--
-- Neural. 1 excites 2 and 3, 3 inhibits 2; 1 has no incoming edge and keeps its value.
--
CREATE TABLE synapses (src int, dst int, weight float8);
INSERT INTO synapses VALUES (1, 2, 0.5), (1, 3, 1), (3, 2, -0.75);
SELECT vertex, round(value::numeric, 9) FROM emogi_neural('synapses', 'SELECT 1, 1', 1, 0);
SELECT round(tanh(0.5)::numeric, 9), round(tanh(1)::numeric, 9), round(tanh(0.5 - 0.75 * tanh(1))::numeric, 9);
SELECT neural('synapses', 'SELECT 1, 1', 2, 0);
SELECT neural('synapses', 'SELECT 1, 1');
SELECT neural('synapses', 'VALUES (1, 2), (2, 0.25), (3, 1)', 1, 0);
SELECT round(tanh(2 * 0.5 - 0.75)::numeric, 9), round(tanh(2)::numeric, 9);
-- Direction: activity runs from src to dst by default.
SELECT neural('synapses', 'SELECT 2, 1', 5, 0);
SELECT neural('synapses', 'SELECT 2, 1', 1, 0, 'in');
SELECT neural('synapses', 'SELECT 2, 1', 1, 0, 'both');
SELECT neural('synapses', 'SELECT 2, 1', 1, 0, NULL);
-- A neuron that excites itself keeps a memory: x = tanh(2 x), above or below zero.
SELECT neural('SELECT 1, 1, 2', 'SELECT 1, 0.1', 10000, 1e-13);
SELECT neural('SELECT 1, 1, 2', 'SELECT 1, -0.1', 10000, 1e-13);
SELECT neural('SELECT 1, 1, 2', 'SELECT 1, 0', 10000, 1e-13);
SELECT abs(value - tanh(2 * value)) < 1e-12 FROM emogi_neural('SELECT 1, 1, 2', 'SELECT 1, 0.1', 10000, 1e-13);
-- Updates are simultaneous: two neurons that copy each other alternate and never converge.
SELECT neural('VALUES (1, 2, 1000), (2, 1, 1000)', 'VALUES (1, 1), (2, -1)', 1, 0);
SELECT neural('VALUES (1, 2, 1000), (2, 1, 1000)', 'VALUES (1, 1), (2, -1)', 2, 0);
SELECT neural('VALUES (1, 2, 1000), (2, 1, 1000)', 'VALUES (1, 1), (2, -1)', 1001, 0);
SELECT neural('VALUES (1, 2, 1000), (2, 1, 1000)', 'VALUES (1, 1), (2, -1)', 1000, 2);
SELECT neural('VALUES (1, 2, 1000), (2, 1, 1000)', 'VALUES (1, 1), (2, -1)', 1000, 1.99);
-- Parallel edges add up; without weights all are 1; a start value beyond 1 is used unchanged.
SELECT neural('VALUES (1, 2, 0.25), (1, 2, 0.25), (1, NULL, 9), (NULL, 2, 9)', 'SELECT 1, 1', 1, 0);
SELECT neural('synapses(src, dst)', 'SELECT 1, 1', 1, 0);
SELECT neural('synapses', 'SELECT 1, 3', 1, 0);
SELECT count(*) FROM emogi_neural('SELECT 1, 2, 0.5 WHERE false', 'SELECT 1, 100');

-- Infinite values cannot occur with finite weights and start values, but intermediate sums can
-- exceed float8: tanh accepts them.
SELECT neural('VALUES (1, 3, 1e308), (2, 3, 1e308)', 'VALUES (1, 10), (2, 10)', 1, 0);

-- In a join, a LATERAL join, a prepared statement and a view; keys of every size and sign.
CREATE TABLE rooms (id int, name text);
INSERT INTO rooms VALUES (1, 'hall'), (3, 'attic'), (9, 'shed');
SELECT name, value FROM rooms LEFT JOIN emogi_heat('bar', 'SELECT 1, 64', 2, 0) ON vertex = id ORDER BY name;
SELECT n, vertex, value FROM generate_series(1, 2) n, LATERAL emogi_heat('bar', format('SELECT %s, 64', n), n, 0) WHERE value > 0 ORDER BY n, vertex;
PREPARE heated(text, int) AS SELECT string_agg(vertex || ':' || value, ' ') FROM emogi_heat('bar', $1, $2, 0);
EXECUTE heated('SELECT 4, 64', 1);
EXECUTE heated('VALUES (1, 64), (4, 64)', 2);
CREATE VIEW warmth AS SELECT * FROM emogi_heat('bar', 'SELECT vertex, value FROM starts', 1, 0);
SELECT string_agg(vertex || ':' || value, ' ') FROM warmth;
UPDATE starts SET value = value + 28;
SELECT string_agg(vertex || ':' || value, ' ') FROM warmth;
UPDATE bar SET weight = 0.5 WHERE src = 1;
SELECT string_agg(vertex || ':' || value, ' ') FROM warmth;
SELECT heat('VALUES (-9223372036854775808, 9223372036854775807, 0.5), (9223372036854775807, 4294967296, 0.25)',
            'VALUES (9223372036854775807, 64), (-9223372036854775808, 0)', 1, 0);

-- The oracle: dense iteration over arrays, by definition.
\set ECHO none
\i test/data/shapes.sql
\set ECHO all
CREATE FUNCTION oracle(kind text, max_iterations int, tolerance float8, OUT vertex bigint, OUT value float8) RETURNS SETOF record LANGUAGE plpgsql AS $$
DECLARE
  vertices bigint[] := ARRAY(SELECT a FROM arc UNION SELECT b FROM arc ORDER BY 1);
  n int := cardinality(vertices);
  froms int[];
  tos int[];
  weights float8[];
  given float8[] := ARRAY(SELECT s.value FROM unnest(vertices) WITH ORDINALITY u(v, i) LEFT JOIN starts s ON s.vertex = v ORDER BY i);
  old float8[];
  new float8[];
  total float8[] := array_fill(0::float8, ARRAY[n]);
  entered bool[] := array_fill(false, ARRAY[n]);
  sums float8[];
  change float8;
BEGIN
  SELECT array_agg(p), array_agg(q), array_agg(w) INTO froms, tos, weights
    FROM arc JOIN unnest(vertices) WITH ORDINALITY u(a, p) USING (a) JOIN unnest(vertices) WITH ORDINALITY v(b, q) USING (b);
  FOR e IN 1 .. cardinality(froms) LOOP
    total[tos[e]] := total[tos[e]] + weights[e];
    entered[tos[e]] := true;
  END LOOP;
  old := ARRAY(SELECT coalesce(g, 0) FROM unnest(given) WITH ORDINALITY u(g, i) ORDER BY i);
  FOR i IN 1 .. max_iterations LOOP
    sums := array_fill(0::float8, ARRAY[n]);
    FOR e IN 1 .. cardinality(froms) LOOP
      sums[tos[e]] := sums[tos[e]] + weights[e] * (old[froms[e]] - CASE kind WHEN 'heat' THEN old[tos[e]] ELSE 0 END);
    END LOOP;
    new := old;
    change := 0;
    FOR v IN 1 .. n LOOP
      new[v] := CASE WHEN kind = 'heat' THEN old[v] + sums[v]
                     WHEN kind = 'circuit' AND given[v] IS NOT NULL THEN old[v]
                     WHEN kind = 'circuit' THEN CASE WHEN total[v] > 0 THEN sums[v] / total[v] ELSE 0 END
                     WHEN entered[v] THEN tanh(sums[v]) ELSE old[v] END;
      change := greatest(change, abs(new[v] - old[v]));
    END LOOP;
    old := new;
    EXIT WHEN change < tolerance;
  END LOOP;
  RETURN QUERY SELECT * FROM unnest(vertices, old);
END $$;

-- Weights for which heat is stable, some negative; some vertices start with values between -1 and
-- 1.
INSERT INTO weights VALUES
  ('gentle', '(pick(i, 61, 1000) / 700000.0)::float8'),
  ('quarters', '(pick(i, 62, 3) / 256.0)::real'),
  ('plus minus', '(pick(i, 63, 1000) - 500) / 10000.0');
DROP TABLE starts;
CREATE TABLE starts (vertex bigint, value float8);
CREATE TABLE results (kind text, shape text, key text, calls int, rows bigint, wrong bigint);
CREATE FUNCTION compare(kind text, way text, max_iterations int, tolerance float8, OUT rows bigint, OUT wrong bigint) LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format('SELECT count(t.vertex), count(*) FILTER (WHERE (abs(a.value - t.value) <= 1e-9 * greatest(1, abs(t.value))) IS NOT TRUE)'
                 ' FROM emogi_%s(''e'', ''SELECT * FROM starts'', $2, $3, $4) a FULL JOIN oracle($1, $2, $3) t USING (vertex)', kind)
    INTO rows, wrong USING kind, max_iterations, tolerance, way;
END $$;
CREATE PROCEDURE compare_all() LANGUAGE plpgsql AS $$
DECLARE
  c record;
  way text;
  kind text;
BEGIN
  FOR c IN SELECT s, k, w FROM combinations(2) WHERE (w).kind IN ('gentle', 'plus minus', 'quarters') LOOP
    PERFORM make_graph(c.s, c.k, c.w);
    TRUNCATE starts;
    INSERT INTO starts SELECT v, pick(v, 64, 2001) / 1000.0 - 1 FROM unnest(some_vertices(300)) v WHERE pick(v, 65, 3) = 0;
    COMMIT;
    FOREACH way IN ARRAY ARRAY['out', 'in', 'both'] LOOP
      PERFORM take_arcs(way);
      FOREACH kind IN ARRAY ARRAY['heat', 'circuit', 'neural'] LOOP
        CONTINUE WHEN kind = 'circuit' AND (c.w).kind = 'plus minus';
        INSERT INTO results SELECT kind, (c.s).shape, (c.k).kind, 2, a.rows + b.rows, a.wrong + b.wrong
          FROM compare(kind, way, 5, 0) a, compare(kind, way, 40, 1e-4) b;
      END LOOP;
    END LOOP;
    DROP TABLE e;
  END LOOP;
END $$;
\pset tuples_only off
\pset format aligned
CALL compare_all();
SELECT kind, sum(calls) AS calls, sum(rows) AS rows, sum(wrong) AS wrong FROM results GROUP BY kind ORDER BY kind COLLATE "C";
SELECT key, sum(calls) AS calls, sum(rows) AS rows, sum(wrong) AS wrong FROM results GROUP BY key ORDER BY key COLLATE "C";
SELECT shape, sum(calls) AS calls, sum(rows) AS rows, sum(wrong) AS wrong FROM results GROUP BY shape ORDER BY shape COLLATE "C";
SELECT * FROM results WHERE wrong > 0 ORDER BY kind, shape, key;

-- Larger ones. Heat that flows in both directions is conserved; uniform heat does not change.
CREATE TABLE e AS SELECT i AS src, pick(i, 41, i) AS dst, 0.01::float8 AS weight FROM generate_series(1, 3000) i;
SELECT count(*) AS rows, abs(sum(value) - 3001) < 1e-6 AS kept, bool_and(value > 0) AS positive FROM emogi_heat('e', 'SELECT 7, 3001', 300, 0);
-- Kirchhoff's law holds in every vertex except the poles: 5 at 100 volts and 200 at 0.
CREATE TEMP TABLE volts AS SELECT * FROM emogi_circuit('SELECT i, pick(i, 42, i) FROM generate_series(1, 300) i UNION ALL SELECT i, i % 50 FROM generate_series(51, 300) i',
                                                       'VALUES (5, 100), (200, 0)', 100000, 1e-11);
SELECT count(*) AS rows, bool_and(value BETWEEN 0 AND 100) AS within, count(*) FILTER (WHERE vertex NOT IN (5, 200) AND abs(value - mean) > 1e-8) AS wrong
  FROM volts JOIN (SELECT b, avg(value) AS mean
                     FROM (SELECT i, pick(i, 42, i) FROM generate_series(1, 300) i UNION ALL SELECT i, i % 50 FROM generate_series(51, 300) i) f(x, y),
                          LATERAL (VALUES (x, y), (y, x)) g(a, b) JOIN volts ON vertex = a GROUP BY b) m ON b = vertex;
-- Values out of range are an error.
\set VERBOSITY sqlstate
SELECT * FROM emogi_heat('SELECT a, b, 1 FROM (VALUES (1, 2), (1, 3), (1, 4)) v(a, b)', 'SELECT 1, 1', 100000);
-- The query of start values is checked before the graph is read, also for an empty graph.
SELECT * FROM emogi_heat('SELECT 1, 2 WHERE false', 'SELECT 1');
