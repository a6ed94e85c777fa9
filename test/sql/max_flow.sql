-- Maximum flow and minimum cut: a flow respects the capacities and is conserved, no path avoids the
-- cut, and both have the same value.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS emogi;
RESET client_min_messages;
CREATE SCHEMA test_max_flow;
SET search_path = test_max_flow, public;
\pset format unaligned
\pset tuples_only on
\pset null (null)

CREATE TABLE pipes (id int, src int, dst int, capacity float8, back float8);
-- The arcs of the edges in a direction: one for each direction in which a row is an edge.
CREATE FUNCTION arcs(way text, has_back boolean) RETURNS TABLE (id int, u int, v int, capacity float8) LANGUAGE sql AS $$
  WITH each AS (SELECT p.id, p.src, p.dst, p.capacity FROM pipes p WHERE NOT has_back OR p.capacity >= 0
                UNION ALL SELECT p.id, p.dst, p.src, p.back FROM pipes p WHERE has_back AND p.back >= 0)
  SELECT e.id, e.src, e.dst, e.capacity FROM each e WHERE way <> 'in'
  UNION ALL SELECT e.id, e.dst, e.src, e.capacity FROM each e WHERE way = 'in' OR (way = 'both' AND e.src <> e.dst) $$;

-- Get the errors in the answers from s to t; NULL = none.
CREATE FUNCTION wrong(s int[], t int[], way text, has_back boolean, tolerance float8) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  graph CONSTANT text := CASE WHEN has_back THEN 'pipes(src, dst, capacity, back, id)' ELSE 'pipes(src, dst, capacity, id)' END;
  total float8 := emogi_max_flow(graph, s, t, way);
  n int;
  x float8;
BEGIN
  CREATE TEMP TABLE a ON COMMIT DROP AS SELECT * FROM arcs(way, has_back);
  CREATE TEMP TABLE f ON COMMIT DROP AS SELECT * FROM emogi_max_flow_edges(graph, s, t, way);
  CREATE TEMP TABLE c ON COMMIT DROP AS SELECT * FROM emogi_min_cut(graph, s, t, way);
  SELECT count(*) INTO n FROM f LEFT JOIN a ON a.id = f.edge AND a.u = f.src AND a.v = f.dst AND a.capacity = f.flow + f.residual WHERE a.id IS NULL OR NOT f.flow > 0 OR NOT f.residual >= 0;
  IF n > 0 AND tolerance = 0 THEN RETURN n || ' edges have a flow beyond their capacity, or do not exist'; END IF;
  SELECT count(*) INTO n FROM f LEFT JOIN a ON a.id = f.edge AND a.u = f.src AND a.v = f.dst AND abs(a.capacity - f.flow - f.residual) <= tolerance WHERE a.id IS NULL OR NOT f.flow <= a.capacity;
  IF n > 0 THEN RETURN n || ' edges do not exist'; END IF;
  SELECT count(*) - count(DISTINCT (src, dst, edge)) INTO n FROM f;
  -- a row with a capacity in each direction is two edges in each direction
  IF n > 0 AND NOT (way = 'both' AND has_back) THEN RETURN n || ' edges are repeated'; END IF;
  SELECT max(abs(b)) INTO x FROM (SELECT sum(d) AS b FROM (SELECT src AS v, -flow AS d FROM f UNION ALL SELECT dst, flow FROM f) e WHERE v <> ALL (s) AND v <> ALL (t) GROUP BY v) g;
  IF x > tolerance THEN RETURN 'flow is not conserved: ' || x; END IF;
  SELECT coalesce(sum(CASE WHEN src = ANY (s) THEN flow ELSE 0 END) - sum(CASE WHEN dst = ANY (s) THEN flow ELSE 0 END), 0) INTO x FROM f;
  IF abs(x - total) > tolerance THEN RETURN format('%s leaves the sources, not %s', x, total); END IF;
  SELECT count(*) INTO n FROM f JOIN f g ON g.src = f.dst AND g.dst = f.src;
  IF n > 0 THEN RETURN 'flow in both ways'; END IF;
  SELECT count(*) INTO n FROM c LEFT JOIN a ON a.id = c.edge AND a.u = c.src AND a.v = c.dst AND a.capacity = c.capacity WHERE a.id IS NULL;
  IF n > 0 THEN RETURN n || ' edges of the cut do not exist'; END IF;
  SELECT coalesce(sum(capacity), 0) INTO x FROM c;
  IF abs(x - total) > tolerance THEN RETURN format('the cut has capacity %s, not %s', x, total); END IF;
  WITH RECURSIVE r AS (SELECT unnest(s) AS v UNION SELECT a.v FROM r JOIN a ON a.u = r.v WHERE a.capacity > 0 AND NOT EXISTS (SELECT FROM c WHERE c.edge = a.id AND c.src = a.u AND c.dst = a.v))
  SELECT count(*) INTO n FROM r WHERE v = ANY (t);
  IF n > 0 THEN RETURN 'a path avoids the cut'; END IF;
  RETURN NULL;
END $$;

-- Random graphs: few to many vertices, parallel edges and loops, integer capacities, multiples of
-- 1/8 and arbitrary ones, capacities of 0, one terminal or several.
CREATE PROCEDURE compare(kinds int[]) LANGUAGE plpgsql AS $$
DECLARE
  found text;
  nflows int := 0;
  nwrong int := 0;
  vertices int;
BEGIN
  FOR i IN 1 .. 400 LOOP
    PERFORM setseed(i / 1000.0);
    vertices := 3 + i % 23;
    TRUNCATE pipes;
    INSERT INTO pipes SELECT k, 1 + random() * vertices, 1 + random() * vertices, c, CASE WHEN random() < 0.3 THEN -1 ELSE c + k % 3 END
      FROM generate_series(1, vertices * (1 + i % 5)) k, LATERAL (SELECT CASE kinds[1 + i % 3] WHEN 0 THEN floor(random() * 10) WHEN 1 THEN floor(random() * 80) / 8 ELSE random() END + 0 * k AS c) r;
    found := wrong(CASE WHEN i % 4 = 0 THEN ARRAY[1, 2] ELSE ARRAY[1] END, CASE WHEN i % 8 < 2 THEN ARRAY[vertices, vertices + 1] ELSE ARRAY[vertices] END,
      (ARRAY['out', 'in', 'both', 'out'])[1 + i % 4], i % 7 = 3, CASE WHEN kinds[1 + i % 3] = 2 THEN 1e-9 ELSE 0 END);
    nflows := nflows + (SELECT count(*) FROM f);
    IF found IS NOT NULL THEN
      nwrong := nwrong + 1;
      RAISE INFO 'graph %: %', i, found;
    END IF;
    COMMIT;
  END LOOP;
  RAISE INFO '% are wrong; flows have many edges: %', nwrong, nflows > 2000;
END $$;
CALL compare('{0,1,2}');

-- A flow and a cut, in all forms; parallel edges have their own ids.
TRUNCATE pipes;
INSERT INTO pipes VALUES (1, 1, 2, 10, 1), (2, 1, 3, 5, 0), (3, 2, 4, 4, 2), (4, 2, 3, 15, -1), (5, 3, 4, 10, 3), (6, 2, 4, 3, -1), (7, 4, 4, 9, 9), (8, 4, 5, 0, 0);
SELECT emogi_max_flow('pipes(src, dst, capacity)', 1, 4), emogi_max_flow('pipes(src, dst, capacity)', 4, 1), emogi_max_flow('pipes(src, dst, capacity, back, id)', 4, 1);
SELECT * FROM emogi_max_flow_edges('pipes(src, dst, capacity, id)', 1, 4);
SELECT * FROM emogi_max_flow_edges('pipes(src, dst, capacity)', 4, 1, 'in');
SELECT * FROM emogi_min_cut('pipes(src, dst, capacity, id)', 1, 4);
SELECT * FROM emogi_min_cut('pipes', '1', '{3,4}');
SELECT * FROM emogi_min_cut('pipes'::regclass, 4, 1, 'both', 'src, dst, capacity, id');
SELECT emogi_max_flow('pipes(src, dst, capacity)', ARRAY[1, 2, NULL, 1], ARRAY[4]), emogi_max_flow('pipes(src, dst)', 1, 4), emogi_max_flow('pipes(src, dst, capacity)', 1, 5);
SELECT emogi_max_flow('pipes(src, dst, capacity)', NULL, 4), emogi_max_flow('pipes(src, dst, capacity)', 1, NULL), emogi_max_flow('pipes(src, dst, capacity)', '{}'::int[], '{4}'),
  emogi_max_flow('pipes(src, dst, capacity)', 1, 99), emogi_max_flow('pipes(src, dst, capacity)', 99, 1), emogi_max_flow('SELECT 1, 2 WHERE false', 1, 2);
SELECT count(*) FROM emogi_max_flow_edges('pipes(src, dst, capacity)', 1, 99);
SELECT count(*) FROM emogi_min_cut('pipes(src, dst, capacity)', NULL, 4);
SELECT edge, capacity FROM emogi_min_cut('SELECT ''e'' || id AS id, ''v'' || src AS src, ''v'' || dst AS dst, capacity AS weight FROM pipes', 'v1', 'v4') ORDER BY edge COLLATE "C";
SELECT * FROM emogi_max_flow_edges('pipes((src, src), (dst, dst), capacity, id)', '(1,1)', '(4,4)') ORDER BY edge::int;

-- Scans: conditions, sums, joins; unused ids are not looked up.
SET emogi.engine = auto;
EXPLAIN (COSTS OFF) SELECT * FROM emogi_max_flow('pipes(src, dst, capacity)', 1, 4);
EXPLAIN (COSTS OFF) SELECT src, dst, flow FROM emogi_max_flow_edges('pipes(src, dst, capacity)', 1, 4) WHERE src = 2 AND flow > 3;
RESET emogi.engine;
SELECT emogi_max_flow('VALUES (1, 2, 1e308::float8), (1, 2, 1e308), (2, 3, 1e308), (2, 3, 1e308)', 1, 3);
-- edges between sources do not increase the unit
SELECT emogi_max_flow('VALUES (1, 1, 1e25::float8), (1, 2, 1)', 1, 2), emogi_max_flow('VALUES (1, 3, 1e25::float8), (3, 2, 1), (1, 2, 1)', ARRAY[1, 3], ARRAY[2]);
SELECT src, dst, flow FROM emogi_max_flow_edges('pipes(src, dst, capacity)', 1, 4) WHERE src = 2 AND flow > 3;
SELECT count(*), sum(flow), min(residual) FROM emogi_max_flow_edges('pipes(src, dst, capacity)', 1, 4);
SELECT f.edge, p.capacity FROM emogi_max_flow_edges('pipes(src, dst, capacity, id)', 1, 4) f JOIN pipes p ON p.id = f.edge ORDER BY f.edge;
SELECT t, emogi_max_flow('pipes(src, dst, capacity)', 1, t) FROM generate_series(2, 5) t ORDER BY t;
SELECT t, c.* FROM generate_series(2, 4) t, LATERAL emogi_min_cut('pipes(src, dst, capacity, id)', 1, t) c ORDER BY t, edge;

-- Own changes, and after the end of the transaction.
BEGIN;
UPDATE pipes SET capacity = 2 WHERE id = 2;
SELECT emogi_max_flow('pipes(src, dst, capacity)', 1, 4);
ROLLBACK;
DELETE FROM pipes WHERE id = 6;
SELECT emogi_max_flow('pipes(src, dst, capacity)', 1, 4);

-- Integer capacities are exact, fractions down to a unit, and large ones do not overflow.
SELECT emogi_max_flow('SELECT * FROM (VALUES (1, 2, 9007199254740991), (2, 3, 9007199254740990), (1, 3, 1)) v(a, b, c)', 1, 3);
SELECT emogi_max_flow('SELECT * FROM (VALUES (1, 2, 0.1), (2, 3, 0.3), (1, 3, 0.2)) v(a, b, c)', 1, 3);
SELECT * FROM emogi_max_flow_edges('SELECT * FROM (VALUES (1, 2, 1e308), (2, 3, 1.5e308), (1, 3, 1.5e308), (4, 1, 1e-300)) v(a, b, c)', 1, 3);
SELECT emogi_max_flow('SELECT * FROM (VALUES (1, 2, 1e-310), (2, 3, 1e308), (2, 1, 1)) v(a, b, c)', 1, 3);
-- Huge capacities, which represent unlimited ones, do not increase the unit: at sources, at
-- targets, at both, between targets, and inside.
SELECT u, emogi_max_flow(format('VALUES (0, 1, %1$s::float8), (0, 2, %1$s), (0, 3, %1$s), (1, 9, 0.25), (2, 9, 0.1), (3, 9, 0.01)', u), 0, 9) AS sources,
    emogi_max_flow(format('VALUES (1, 9, %1$s::float8), (2, 9, %1$s), (3, 9, %1$s), (0, 1, 0.25), (0, 2, 0.1), (0, 3, 0.01)', u), 0, 9) AS targets,
    emogi_max_flow(format('VALUES (0, 1, %1$s::float8), (0, 2, %1$s), (0, 3, %1$s), (1, 4, 0.25), (2, 5, 0.1), (3, 6, 0.01), (4, 9, %1$s), (5, 9, %1$s), (6, 9, %1$s)', u), 0, 9) AS both,
    emogi_max_flow(format('VALUES (0, 1, 0.25::float8), (1, 8, 0.1), (1, 9, 0.01), (8, 9, %1$s), (9, 8, %1$s), (0, 1, %1$s)', u), '{0}', '{8,9}') AS between,
    (SELECT sum(capacity) FROM emogi_min_cut(format('VALUES (0, 1, %1$s::float8), (0, 2, %1$s), (0, 3, %1$s), (1, 9, 0.25), (2, 9, 0.1), (3, 9, 0.01)', u), 0, 9)) AS cut
  FROM unnest('{1,1e9,1e12,1e15,1e16,1e18,9223372036854775807,1e300}'::text[]) u;
SELECT emogi_max_flow('VALUES (1, 2, 9223372036854775807), (2, 3, 7), (1, 3, 1)', 1, 3);
SELECT * FROM emogi_max_flow_edges('VALUES (1, 2, 9223372036854775807), (2, 3, 7), (1, 3, 1)', 1, 3);
SELECT emogi_max_flow('VALUES (1, 2, 1e300::float8), (2, 3, 1e300)', 1, 3), emogi_max_flow('VALUES (1, 2, 1e300::float8), (3, 4, 1e300)', 1, 4);
SELECT emogi_max_flow('SELECT 1, 1 + i % 3, 0.1 FROM generate_series(1, 3000) i', 1, 3) BETWEEN 99.9999999 AND 100;

-- Long chains, wide stars and a grid; the same rows each time.
SELECT emogi_max_flow('SELECT i, i + 1, 3 + i % 5 FROM generate_series(1, 20000) i', 1, 20001), emogi_max_flow('SELECT i, i + 1, 3 FROM generate_series(1, 20000) i', 20001, 1);
SELECT count(*), min(src) FROM emogi_min_cut('SELECT i, i + 1, 3 + i % 5 FROM generate_series(1, 20000) i', 1, 20001);
SELECT emogi_max_flow('SELECT CASE WHEN i % 2 = 0 THEN 0 ELSE i END, CASE WHEN i % 2 = 0 THEN i + 1 ELSE -1 END, 1 FROM generate_series(0, 19999) i', 0, -1);
CREATE TABLE grid AS SELECT y * 100 + x AS src, y * 100 + x + d AS dst, 1 + hashint4(y * 100 + x + d * 7) & 15 AS weight, (y * 100 + x) * 2 + (d = 1)::int AS id
  FROM generate_series(0, 99) x, generate_series(0, 99) y, unnest(ARRAY[1, 100]) d WHERE (d = 1 AND x < 99) OR (d = 100 AND y < 99);
CREATE TABLE first AS SELECT * FROM emogi_max_flow_edges('grid', 0, 9999, 'both');
SELECT (SELECT sum(flow) FROM first WHERE src = 0) = emogi_max_flow('grid', 0, 9999, 'both'), (SELECT sum(capacity) FROM emogi_min_cut('grid', 0, 9999, 'both')) = emogi_max_flow('grid', 0, 9999, 'both');
SELECT count(*) FROM (SELECT * FROM emogi_max_flow_edges('grid', 0, 9999, 'both') EXCEPT ALL SELECT * FROM first) d;
SELECT count(*) FROM (SELECT * FROM first EXCEPT ALL SELECT * FROM emogi_max_flow_edges('grid', 0, 9999, 'both')) d;
SELECT max(abs(b)) FROM (SELECT sum(d) AS b FROM (SELECT src AS v, -flow AS d FROM first UNION ALL SELECT dst, flow FROM first) e WHERE v NOT IN (0, 9999) GROUP BY v) g;

-- Invalid requests.
SELECT emogi_max_flow('pipes(src, dst, capacity)', 3, 3);
SELECT * FROM emogi_min_cut('pipes(src, dst, capacity)', ARRAY[1, 2], ARRAY[4, 2]);
-- A source that is also a target is an error whether or not it is in the graph.
SELECT emogi_max_flow('pipes(src, dst, capacity)', 77, 77);
SELECT emogi_max_flow('pipes(src, dst, capacity)', ARRAY[77, 1, NULL], ARRAY[4, NULL, 77]);
SELECT emogi_max_flow('SELECT 1, 2 WHERE false', 5, 5);
SELECT emogi_min_cut('VALUES (''a'', ''b'')', 'z', 'z');
SELECT emogi_max_flow('VALUES (gen_random_uuid(), gen_random_uuid())', '00000000-0000-0000-0000-000000000001'::uuid, '00000000-0000-0000-0000-000000000001'::uuid);
SELECT emogi_max_flow('pipes(src, dst, capacity)', (SELECT array_agg(i) FROM generate_series(100000, 300000) i), (SELECT array_agg(i) FROM generate_series(300000, 500000) i));
SELECT emogi_max_flow('pipes(src, dst, capacity)', (SELECT array_agg(i) FROM generate_series(100000, 300000) i), (SELECT array_agg(i) FROM generate_series(300001, 500000) i));
SELECT emogi_max_flow('VALUES (1.0, 2), (2, 3.0)', '1', '1.0');
SELECT t, emogi_max_flow('pipes(src, dst, capacity)', 1, t) FROM generate_series(1, 2) t ORDER BY t DESC;
SELECT emogi_max_flow('SELECT 1, 2, -1', 1, 2);
SELECT emogi_max_flow('SELECT 1, 2, NULL::int', 1, 2);
SELECT emogi_max_flow('SELECT 1, 2, ''NaN''::float8', 1, 2);
SELECT * FROM emogi_max_flow_edges('SELECT 1, 2, ''Infinity''::float8', 1, 2);
SELECT emogi_max_flow('pipes(src, dst, capacity)', 1, 4, 'up');
SELECT emogi_max_flow('pipes(src, dst, capacity)', 1, 'x');
SELECT emogi_max_flow(NULL, 1, 4);

DROP SCHEMA test_max_flow CASCADE;
