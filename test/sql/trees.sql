-- Answers of emogi_bfs_tree and emogi_shortest_path_tree: those of emogi_bfs and emogi_sssp, with
-- predecessors.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS emogi;
RESET client_min_messages;
CREATE SCHEMA test_trees;
SET search_path = test_trees, public;

-- The interface.
SELECT * FROM emogi_bfs_tree('SELECT 1, 2', 1) \gdesc
SELECT * FROM emogi_bfs_tree('SELECT ''a'', ''b''', 'a') \gdesc
SELECT * FROM emogi_shortest_path_tree('SELECT 1, 2', 1) \gdesc
SELECT * FROM emogi_shortest_path_tree('SELECT ''a'', ''b''', ARRAY['a']) \gdesc
SELECT proname, proargnames[1:pronargs] AS names, proargtypes::regtype[] AS types, pg_get_expr(proargdefaults, 'pg_proc'::regclass) AS defaults,
       provolatile, proparallel, prosecdef, proleakproof, proretset
  FROM pg_proc WHERE proname IN ('emogi_bfs_tree', 'emogi_shortest_path_tree') ORDER BY 1, proargtypes;

\pset format unaligned
\pset tuples_only on
\pset null (null)
CREATE TABLE roads (src int, dst int, weight float8);
INSERT INTO roads VALUES (3, 4, 0.25), (1, 4, 10), (1, 2, 1), (2, 3, 1.5), (5, 1, 2), (6, 7, 3), (4, 1, 0.5), (4, 4, 0), (1, 3, 2.5);

-- A source has no predecessor. Of equally short paths the one with fewer edges counts, then the one
-- with the smaller predecessor.
SELECT * FROM emogi_bfs_tree('roads', 1);
SELECT * FROM emogi_shortest_path_tree('roads', 1);
SELECT * FROM emogi_bfs_tree('roads', 4, direction => 'in');
SELECT * FROM emogi_shortest_path_tree('roads', 4, 2.75, 'both');
SELECT * FROM emogi_bfs_tree('roads', 5, 2);
SELECT * FROM emogi_bfs_tree('roads', 5, 0);
SELECT * FROM emogi_shortest_path_tree('roads(src, dst)', 5);
SELECT * FROM emogi_shortest_path_tree('roads'::regclass, 5, columns => 'dst, src');

-- With several sources each vertex belongs to the nearest, of equally near ones to the smallest; a
-- source belongs to itself.
SELECT * FROM emogi_bfs_tree('roads', ARRAY[6, 2, NULL, 1, 99, 6]);
SELECT * FROM emogi_shortest_path_tree('roads', ARRAY[6, 2, NULL, 1, 99, 6]);
SELECT * FROM emogi_bfs_tree('VALUES (1, 9), (2, 9), (9, 3), (2, 1), (1, 2)', ARRAY[2, 1]);

-- Edges of weight 0: no vertex precedes itself on any path.
SELECT * FROM emogi_shortest_path_tree('VALUES (5, 4, 0), (4, 3, 0), (3, 4, 0), (4, 5, 0), (3, 2, 0), (2, 3, 0), (5, 2, 0), (2, 1, 7), (4, 1, 7)', 5);
SELECT * FROM emogi_shortest_path_tree('VALUES (5, 4, 0), (4, 3, 0), (3, 4, 0), (4, 5, 0), (3, 2, 0)', ARRAY[3, 5]);
SELECT * FROM emogi_shortest_path_tree('VALUES (1, 2, ''Infinity''::float8), (1, 3, 1), (3, 4, 1e-300)', 1);

-- Edge ids: of parallel edges the cheapest counts, then the smallest id. A source has none, nor has
-- a graph without ids.
CREATE TABLE streets (id int PRIMARY KEY, source int, target int, cost float8, reverse_cost float8);
INSERT INTO streets VALUES (10, 1, 2, 5, 1), (11, 1, 2, 4, -1), (12, 2, 1, 9, 4), (13, 2, 3, 2, -1), (14, 4, 3, 1, 2), (15, 4, 5, -1, 3), (16, 2, 3, 2, 2), (17, 3, 3, 0, 0);
SELECT * FROM emogi_shortest_path_tree('streets', 1);
SELECT * FROM emogi_shortest_path_tree('streets', 5, direction => 'in');
SELECT * FROM emogi_shortest_path_tree('streets', 4, direction => 'both');
SELECT * FROM emogi_bfs_tree('streets', ARRAY[1, 5]);
SELECT * FROM emogi_bfs_tree('streets', 1) WHERE vertex IN (2, 4);
SELECT count(edge), min(edge), max(edge) FROM emogi_bfs_tree('streets', 1);
SELECT t.vertex, s.* FROM emogi_bfs_tree('streets', 1) t JOIN streets s ON s.id = t.edge ORDER BY vertex;
SELECT (t).* FROM (SELECT emogi_shortest_path_tree('streets', 1) t) x;
SELECT * FROM emogi_shortest_path_tree('streets(source, target, reverse_cost, cost, id)', 2);
SELECT * FROM emogi_shortest_path_tree('SELECT ''n'' || source AS source, ''n'' || target AS target, cost, id FROM streets WHERE cost >= 0', 'n1'::text);

-- No rows.
SELECT count(*) FROM emogi_bfs_tree('roads', NULL::bigint);
SELECT count(*) FROM emogi_bfs_tree('roads', '{}'::bigint[]);
SELECT count(*) FROM emogi_shortest_path_tree('roads', 98);
SELECT count(*) FROM emogi_shortest_path_tree('SELECT 1, 2 WHERE false', 1);

-- Vertices of other types.
CREATE TABLE places AS SELECT 'p' || src AS a, 'p' || dst AS b, weight AS w FROM roads;
SELECT * FROM emogi_shortest_path_tree('places(a, b, w)', ARRAY['p5', 'p6', 'nowhere']);
CREATE TABLE ids AS SELECT lpad(src::text, 32, '0')::uuid AS a, lpad(dst::text, 32, '0')::uuid AS b FROM roads;
SELECT * FROM emogi_bfs_tree('ids(a, b)', lpad('5', 32, '0')::uuid, 2);

-- Errors.
\set VERBOSITY terse
SELECT * FROM emogi_bfs_tree('roads', 1, -1);
SELECT * FROM emogi_shortest_path_tree('roads', 1, -1);
SELECT * FROM emogi_shortest_path_tree('roads', 1, 'NaN');
SELECT * FROM emogi_bfs_tree('roads', 1, direction => 'across');
SELECT * FROM emogi_bfs_tree(NULL::text, 1);
SELECT * FROM emogi_shortest_path_tree('VALUES (1, 2, -1)', 1);
SET emogi.notice_missing_source = on;
SELECT count(*) FROM emogi_bfs_tree('roads', ARRAY[1, 77]);
RESET emogi.notice_missing_source;
\set VERBOSITY default

-- Rows are streamed, conditions avoid computing some, and aggregates and joins see the same.
CREATE FUNCTION plan(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
  line text;
BEGIN
  FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
    IF line !~ 'Engine|Graph:' THEN RETURN NEXT line; END IF;
  END LOOP;
END $$;
SELECT plan($$SELECT * FROM emogi_bfs_tree('roads', ARRAY[1, 6]) WHERE vertex = 3 AND level < 4 AND predecessor IS NOT NULL$$);
SELECT plan($$SELECT * FROM emogi_shortest_path_tree('roads', ARRAY[1, 6]) WHERE source = 6 AND distance <= 3 ORDER BY vertex$$);
SELECT * FROM emogi_bfs_tree('roads', ARRAY[1, 6]) WHERE vertex = 3;
SELECT * FROM emogi_bfs_tree('roads', ARRAY[1, 6]) WHERE vertex IN (7, 3, 99) AND predecessor IS NOT NULL;
SELECT * FROM emogi_bfs_tree('roads', ARRAY[1, 6]) WHERE predecessor IS NULL;
SELECT count(*) FROM emogi_bfs_tree('roads', ARRAY[1, 6]) WHERE predecessor IS NULL AND predecessor IS NOT NULL;
SELECT * FROM emogi_bfs_tree('roads', ARRAY[1, 6]) WHERE predecessor = 1 ORDER BY vertex;
SELECT * FROM emogi_shortest_path_tree('roads', ARRAY[1, 6]) WHERE source = 6 AND distance <= 3 ORDER BY vertex;
SELECT source, count(*), count(predecessor), max(distance) FROM emogi_shortest_path_tree('roads', ARRAY[1, 6]) GROUP BY source ORDER BY source;
SELECT predecessor, count(*) FROM emogi_bfs_tree('roads', ARRAY[1, 6]) GROUP BY predecessor ORDER BY predecessor;
SELECT level, count(*), min(predecessor), max(source) FROM emogi_bfs_tree('roads', ARRAY[1, 6]) GROUP BY level ORDER BY level;
SELECT vertex, distance FROM emogi_shortest_path_tree('roads', 5) ORDER BY distance DESC LIMIT 2;
SELECT s, t.* FROM (VALUES (1), (5)) v (s), LATERAL emogi_bfs_tree('roads', s, 1) t ORDER BY s, vertex;
SELECT r.src, r.dst, t.level FROM roads r JOIN emogi_bfs_tree('roads', 5) t ON t.vertex = r.dst AND t.predecessor = r.src ORDER BY 1, 2;
BEGIN;
DECLARE c SCROLL CURSOR FOR SELECT * FROM emogi_bfs_tree('roads', 1);
FETCH 3 FROM c;
FETCH BACKWARD 2 FROM c;
COMMIT;
-- The path to a vertex, back to its source.
WITH RECURSIVE tree AS MATERIALIZED (SELECT * FROM emogi_shortest_path_tree('roads', 5)),
  way AS (SELECT * FROM tree WHERE vertex = 4 UNION ALL SELECT t.* FROM way JOIN tree t ON t.vertex = way.predecessor)
SELECT string_agg(vertex::text, ' <- ') FROM way;

SET jit = off;
-- The definition, in SQL: all paths over edges on which distances add up, without other sources
-- inside; the first of each vertex.
CREATE TABLE net (src int, dst int, weight float8);
CREATE FUNCTION wrong(tree text, search text, sources bigint[], direction text) RETURNS TABLE (vertices bigint, wrong bigint) LANGUAGE plpgsql AS $$
BEGIN
  RETURN QUERY EXECUTE format($q$
    WITH RECURSIVE answer (vertex, distance, predecessor, source) AS MATERIALIZED (
        SELECT vertex, value, predecessor, source FROM %1$s('net', $1, NULL, $2) t (vertex, value, predecessor, edge, source)),
      d (vertex, distance) AS MATERIALIZED (SELECT * FROM %2$s('net', $1, NULL, $2)),
      arc AS (SELECT src AS a, dst AS b, weight AS w FROM net WHERE $2 <> 'in' UNION ALL SELECT dst, src, weight FROM net WHERE $2 <> 'out'),
      tight AS MATERIALIZED (SELECT DISTINCT a, b FROM arc JOIN d x ON x.vertex = a JOIN d y ON y.vertex = b
        WHERE x.distance + CASE WHEN %3$L THEN 1 ELSE w END = y.distance AND NOT b = ANY ($1)),
      ways (vertex, source, edges) AS (
        SELECT vertex, vertex, 0 FROM d WHERE vertex = ANY ($1)
        UNION SELECT b, source, edges + 1 FROM ways JOIN tight ON a = vertex WHERE edges < 60),
      first AS MATERIALIZED (SELECT DISTINCT ON (vertex) * FROM ways ORDER BY vertex, source, edges),
      truth AS (SELECT f.vertex, d.distance, (SELECT min(p.vertex) FROM tight JOIN first p ON p.vertex = a
          WHERE b = f.vertex AND p.source = f.source AND p.edges + 1 = f.edges) AS predecessor, f.source FROM first f JOIN d USING (vertex))
    SELECT (SELECT count(*) FROM d), (SELECT count(*) FROM (TABLE truth EXCEPT ALL TABLE answer) x) + (SELECT count(*) FROM (TABLE answer EXCEPT ALL TABLE truth) x)
  $q$, tree, search, search = 'emogi_bfs') USING sources, direction;
END $$;
CREATE FUNCTION fill(seed int) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM setseed(seed / 100.0);
  TRUNCATE net;
  INSERT INTO net SELECT (random() * 50)::int, (random() * 50)::int, CASE seed % 3 WHEN 0 THEN (random() * 2)::int WHEN 1 THEN (random() * 9)::int ELSE random() END
    FROM generate_series(1, 20 + seed * 3);
END $$;
CREATE FUNCTION compare(tree text, search text, direction text, OUT many boolean, OUT wrong numeric) LANGUAGE plpgsql AS $$
DECLARE
  reached numeric := 0;
  w record;
BEGIN
  wrong := 0;
  FOR seed IN 1 .. 25 LOOP
    PERFORM fill(seed);
    SELECT * INTO w FROM wrong(tree, search, ARRAY(SELECT (hashint4(seed * 10 + i) & 63)::bigint FROM generate_series(1, 1 + seed % 4) i), direction);
    reached := reached + w.vertices;
    wrong := wrong + w.wrong;
  END LOOP;
  many := reached > 200;
END $$;
SELECT tree, direction, many, wrong
  FROM (VALUES ('emogi_bfs_tree', 'emogi_bfs'), ('emogi_shortest_path_tree', 'emogi_sssp')) f (tree, search), unnest(ARRAY['out', 'in', 'both']) direction,
  LATERAL compare(tree, search, direction);

-- Small trees are computed in the backend, also on changes since the graph was built.
SET emogi.engine = auto;
CREATE TABLE town AS SELECT i AS id, (2 * (i % 3000))::int AS source, (2 * ((i * 7919 + i / 3000) % 3000))::int AS target, (i % 5)::float8 AS cost, (i % 7 - 1)::float8 AS reverse_cost
  FROM generate_series(1, 9000) i;
SET emogi.incremental_min_size = 0;
CREATE FUNCTION differ(tree text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE n bigint;
BEGIN
  SET LOCAL emogi.enable_local_search = on;
  EXECUTE format('CREATE TEMP TABLE near AS SELECT * FROM %s', tree);
  SET LOCAL emogi.enable_local_search = off;
  EXECUTE format('CREATE TEMP TABLE whole AS SELECT * FROM %s', tree);
  SELECT count(*) INTO n FROM ((TABLE near EXCEPT ALL TABLE whole) UNION ALL (TABLE whole EXCEPT ALL TABLE near)) x;
  DROP TABLE near, whole;
  RETURN n;
END $$;
CREATE FUNCTION town_differs(round int) RETURNS bigint LANGUAGE sql AS $$
  SELECT sum(differ(format('emogi_%s_tree(%L, ARRAY[%s, %s, %s], %s, %L)', t.name, 'town', round * 20 % 6000, round * 34 % 6000, 2 * round + 1, t.most, d)))::bigint
    FROM (VALUES ('bfs', 3), ('shortest_path', 2)) t (name, most), unnest(ARRAY['out', 'in', 'both']) d $$;
SELECT town_differs(1) AS differ, count(*) > 10 AS some FROM emogi_shortest_path_tree('town', 20, 2);
DO $$
DECLARE differ bigint := 0;
BEGIN
  FOR i IN 1 .. 30 LOOP
    UPDATE town SET cost = i % 4, target = CASE WHEN i % 3 = 0 THEN 2 * i + 1 ELSE target END WHERE id = i * 10;
    INSERT INTO town VALUES (9000 + i, 2 * i + 1, i * 20 % 6000, 0, i % 2);
    DELETE FROM town WHERE id = i * 17;
    differ := differ + town_differs(i);
  END LOOP;
  RAISE NOTICE '% rows differ', differ;
END $$;
SELECT DISTINCT engine FROM emogi_runs WHERE pid = pg_backend_pid() AND function ~ '_tree' ORDER BY 1;
RESET emogi.engine;
RESET emogi.incremental_min_size;

SET client_min_messages = warning;
DROP SCHEMA test_trees CASCADE;
