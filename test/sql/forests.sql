-- Answers of emogi_spanning_forest, emogi_bridges, emogi_articulation_points and emogi_biconnected,
-- compared with networkx.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS emogi;
RESET client_min_messages;
CREATE SCHEMA test_forests;
SET search_path = test_forests, public;
\pset format unaligned
\pset tuples_only on
\pset null (null)

-- The interface.
SELECT proname, proargnames[1:pronargs] AS names, proargtypes::regtype[] AS types, pg_get_expr(proargdefaults, 'pg_proc'::regclass) AS defaults, pg_get_function_result(oid),
       provolatile, proparallel, proretset
  FROM pg_proc WHERE proname ~ '^emogi_(spanning_forest|bridges|articulation_points|biconnected)' ORDER BY proname, proargtypes;

-- Results of networkx for 240 graphs of many kinds, with parallel edges and loops
-- (test/data/forests.py).
CREATE TABLE graphs (graph int, src bigint[], dst bigint[], weight float8[], minimum text, maximum text, bridges text, points text, blocks text);
\copy graphs FROM 'test/data/forests.csv' CSV HEADER
CREATE TABLE edges (src bigint, dst bigint, weight float8);

-- The answers as text, in row order.
CREATE FUNCTION forest(maximum boolean) RETURNS text LANGUAGE sql AS $$ SELECT string_agg(src || '-' || dst || ':' || weight, ' ') FROM emogi_spanning_forest('edges', maximum) $$;
CREATE FUNCTION bridges() RETURNS text LANGUAGE sql AS $$ SELECT string_agg(src || '-' || dst, ' ') FROM emogi_bridges('edges') $$;
CREATE FUNCTION points() RETURNS text LANGUAGE sql AS $$ SELECT string_agg(vertex || ':' || components, ' ') FROM emogi_articulation_points('edges') $$;
CREATE FUNCTION blocks() RETURNS text LANGUAGE sql AS $$
  SELECT string_agg(vertices, ' ' ORDER BY component) FROM (SELECT component, string_agg(vertex::text, ',') AS vertices FROM emogi_biconnected('edges') GROUP BY component) b $$;

CREATE PROCEDURE compare() LANGUAGE plpgsql AS $$
DECLARE
  names text[] := ARRAY['forest(NULL)', 'forest(true)', 'bridges()', 'points()', 'blocks()'];
  different int[] := array_fill(0, ARRAY[5]);
  found int[] := array_fill(0, ARRAY[5]);
  said text[];
  ours text;
  g record;
BEGIN
  FOR g IN SELECT * FROM graphs ORDER BY graph LOOP
    TRUNCATE edges;
    INSERT INTO edges SELECT * FROM unnest(g.src, g.dst, g.weight);
    said := ARRAY[g.minimum, g.maximum, g.bridges, g.points, g.blocks];
    FOR i IN 1 .. 5 LOOP
      EXECUTE 'SELECT ' || names[i] INTO ours;
      different[i] := different[i] + (ours IS DISTINCT FROM said[i])::int;
      found[i] := found[i] + (ours IS NOT NULL)::int;
    END LOOP;
  END LOOP;
  FOR i IN 1 .. 5 LOOP
    RAISE INFO '%: % differ, % are not empty', names[i], different[i], found[i];
  END LOOP;
END $$;
CALL compare();

-- Zachary's karate club.
CREATE TABLE karate (src bigint, dst bigint);
\copy karate FROM 'test/data/karate.csv' CSV HEADER
SELECT count(*), sum(weight) FROM emogi_spanning_forest('karate');
SELECT * FROM emogi_bridges('karate');
SELECT * FROM emogi_articulation_points('karate');
SELECT component, count(*), min(vertex), max(vertex) FROM emogi_biconnected('karate') GROUP BY component ORDER BY component;

-- Parallel edges, loops, vertices without edges, ties, columns in another order, keys of other
-- types, isolated vertices.
TRUNCATE edges;
INSERT INTO edges VALUES (1, 2, 1), (2, 1, -3), (2, 3, 2), (3, 3, -9), (3, 1, 2), (4, 5, 7), (6, 6, 1), (5, 7, 2.5), (7, 5, 2.5), (NULL, 1, 1), (9, NULL, 1);
SELECT * FROM emogi_spanning_forest('edges');
SELECT * FROM emogi_spanning_forest('edges', true);
SELECT * FROM emogi_spanning_forest('edges'::regclass, columns => 'dst, src');
SELECT * FROM emogi_bridges('edges');
SELECT * FROM emogi_articulation_points('edges'::regclass);
SELECT * FROM emogi_biconnected('edges'::regclass, 'src, dst');
CREATE TABLE named AS SELECT 'v' || src AS src, 'v' || dst AS dst, weight FROM edges;
SELECT * FROM emogi_spanning_forest_text('named', maximum => true);
SELECT * FROM emogi_bridges_text('named');
SELECT * FROM emogi_articulation_points_text('named');
SELECT * FROM emogi_biconnected_text('named');
SELECT count(*), count(DISTINCT src), max(weight) FROM emogi_spanning_forest_uuid('SELECT md5(src::text)::uuid, md5(dst::text)::uuid, weight FROM test_forests.edges WHERE src + dst > 0');
SELECT count(*), count(DISTINCT vertex), max(component) FROM emogi_biconnected_uuid('SELECT md5(src::text)::uuid, md5(dst::text)::uuid FROM test_forests.edges WHERE src + dst > 0');
CREATE TABLE vertices AS SELECT unnest(ARRAY[1, 5, 99]::bigint[]) AS id;
SELECT count(*) FROM emogi_biconnected(emogi_with_vertices('edges', 'vertices')) WHERE vertex IN (6, 99);
SELECT count(*) FROM emogi_spanning_forest(emogi_with_vertices('edges', 'vertices'));

-- An edge's component is the one that contains both its endpoints.
SELECT DISTINCT src, dst, a.component FROM edges JOIN emogi_biconnected('edges') a ON a.vertex = src JOIN emogi_biconnected('edges') b ON b.vertex = dst AND b.component = a.component
  WHERE src <> dst ORDER BY src, dst;

-- Conditions, order, aggregates, joins, plans.
SELECT * FROM emogi_spanning_forest('edges') WHERE src = 2;
SELECT * FROM emogi_spanning_forest('edges') ORDER BY weight DESC, src LIMIT 1;
SELECT count(*), min(src), max(dst) FROM emogi_spanning_forest('edges');
SELECT * FROM emogi_biconnected('edges') WHERE vertex = 2 AND component = 0;
SELECT component, count(*) FROM emogi_biconnected('edges') GROUP BY component ORDER BY component;
SELECT * FROM emogi_articulation_points('edges') WHERE vertex IN (1, 5);
SELECT count(*), sum(components), max(components) FROM emogi_articulation_points('edges');
SELECT vertex, components FROM emogi_cc('edges') LEFT JOIN emogi_articulation_points('edges') USING (vertex) ORDER BY vertex;
SELECT * FROM emogi_articulation_points('edges') ORDER BY components DESC, vertex LIMIT 1;
SET emogi.engine = cpu;
EXPLAIN (COSTS OFF) SELECT * FROM emogi_spanning_forest('edges') WHERE src = 2;
EXPLAIN (COSTS OFF) SELECT count(*) FROM emogi_bridges('edges');
EXPLAIN (COSTS OFF) SELECT * FROM emogi_biconnected('edges') WHERE vertex = 2;
EXPLAIN (COSTS OFF) SELECT * FROM emogi_articulation_points('edges') WHERE vertex = 2;
EXPLAIN (COSTS OFF) SELECT max(components) FROM emogi_articulation_points('edges');
RESET emogi.engine;

-- Large and empty graphs.
SELECT count(*), sum(weight) FROM emogi_spanning_forest('SELECT i, i + 1, i % 7 FROM generate_series(1, 50000) i');
SELECT count(*), min(src), max(dst) FROM emogi_bridges('SELECT i, i + 1 FROM generate_series(1, 50000) i');
SELECT count(*), max(component) FROM emogi_biconnected('SELECT i, i + 1 FROM generate_series(1, 50000) i UNION ALL SELECT 50001, 1');
SELECT count(*), sum(components) FROM emogi_articulation_points('SELECT 0, i FROM generate_series(1, 50000) i UNION ALL SELECT 1, 2');
SELECT count(*) FROM emogi_spanning_forest('SELECT 1 AS src, 2 AS dst WHERE false');
SELECT count(*) FROM emogi_biconnected('SELECT 1 AS src, 1 AS dst');
SELECT function, rows FROM emogi_runs ORDER BY id DESC LIMIT 1 OFFSET 3;

-- Errors.
\set VERBOSITY default
\set SHOW_CONTEXT never
SELECT * FROM emogi_spanning_forest('named');
SELECT * FROM emogi_biconnected('named');
SELECT * FROM emogi_bridges_uuid('named');
SELECT * FROM emogi_spanning_forest('SELECT 1 AS src, 2 AS dst, ''Infinity''::float8 AS weight');
SELECT * FROM emogi_spanning_forest('SELECT 1 AS src, 2 AS dst, ''NaN''::float8 AS weight');
SELECT * FROM emogi_articulation_points(NULL);

SET client_min_messages = warning;
DROP SCHEMA test_forests CASCADE;
