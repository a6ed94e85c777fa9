-- emogi_k_shortest_paths of a graph that would be private collects the edges of its paths through
-- indexes. Answers are those of the whole graph and of recursive queries.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS emogi;
RESET client_min_messages;
CREATE SCHEMA test_k_paths_by_index;
SET search_path = test_k_paths_by_index, public;
SET emogi.engine = 'auto';
SET emogi.enable_incremental = off;
\pset format unaligned
\pset tuples_only on
SELECT emogi_evict() IS NOT NULL;
SELECT setseed(0.25);

-- The source of the last call's graph.
CREATE FUNCTION last_cache() RETURNS text LANGUAGE sql VOLATILE AS
  $$ SELECT cache FROM public.emogi_runs WHERE pid = pg_backend_pid() ORDER BY id DESC LIMIT 1 $$;
-- The paths of a call, one per line: the distance, and the vertices.
CREATE FUNCTION paths(graph text, source text, target text, k int, direction text) RETURNS text LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  rows text;
BEGIN
  EXECUTE format('SELECT string_agg(path, '' '' ORDER BY path_id) FROM (SELECT path_id, max(distance) || '':'' || string_agg(vertex::text, ''-'' ORDER BY seq) AS path
                  FROM emogi_k_shortest_paths(%L, %L::%s, %L, %s, %L) GROUP BY path_id) p', graph, source,
                 CASE WHEN graph LIKE 'named%' THEN 'text' ELSE 'bigint' END, target, k, direction) INTO rows;
  RETURN coalesce(rows, 'none');
END $$;
-- How often the paths equal those of the whole graph, and how often they are found by index.
-- VARYING is a time that no call has had before.
CREATE SEQUENCE asked;
CREATE FUNCTION compare(edges text, pairs text, ks int[], directions text[], OUT nright int, OUT nwrong int, OUT nindex int, OUT nbuilt int) LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  source text;
  target text;
  k int;
  direction text;
  collected text;
  built text;
  graph text;
BEGIN
  nright := 0; nwrong := 0; nindex := 0; nbuilt := 0;
  FOR source, target IN EXECUTE pairs LOOP
    FOREACH k IN ARRAY ks LOOP
      FOREACH direction IN ARRAY directions LOOP
        graph := replace(edges, 'VARYING', format('now() - interval ''%s seconds''', 10000 + nextval('asked')));
        collected := paths(graph, source, target, k, direction);
        IF last_cache() = 'index' THEN nindex := nindex + 1; ELSE nbuilt := nbuilt + 1; END IF;
        PERFORM set_config('emogi.enable_index_search', 'off', true);
        built := paths(graph, source, target, k, direction);
        PERFORM set_config('emogi.enable_index_search', 'on', true);
        IF collected = built THEN nright := nright + 1; ELSE nwrong := nwrong + 1; END IF;
      END LOOP;
    END LOOP;
  END LOOP;
END $$;

-- A small graph with parallel edges, loops, ties, and edges of length 0, compared with all its
-- simple paths.
CREATE TABLE small (src int, dst int, km int NOT NULL CHECK (km >= 0));
INSERT INTO small SELECT random() * 10, random() * 10, random() * 4 FROM generate_series(1, 24);
INSERT INTO small SELECT src, dst, km + 1 FROM small WHERE src < 4;
INSERT INTO small VALUES (1, 1, 0), (2, 1, 0), (1, 2, 0), (2, 3, 0), (NULL, 1, 0), (1, NULL, 0), (20, 21, 1), (21, 20, 1), (21, 22, 1), (30, 31, 5), (30, 31, 3);
CREATE INDEX ON small (src);
CREATE INDEX ON small (dst);
CREATE INDEX ON small (src, dst);
ANALYZE small;
CREATE TABLE simple_paths AS
  WITH RECURSIVE lightest AS (SELECT src, dst, min(km) AS km FROM small WHERE src <> dst GROUP BY src, dst),
    vertex AS (SELECT src AS v FROM small WHERE src IS NOT NULL AND dst IS NOT NULL UNION SELECT dst FROM small WHERE src IS NOT NULL AND dst IS NOT NULL),
    path AS (SELECT v AS source, v AS target, ARRAY[v] AS vertices, 0::float8 AS km FROM vertex
             UNION ALL SELECT source, dst, vertices || dst, path.km + lightest.km FROM path JOIN lightest ON src = target WHERE dst <> ALL (vertices))
  SELECT * FROM path;
CREATE FUNCTION expected(s int, t int, k int, weighted bool) RETURNS text LANGUAGE sql STABLE AS $$
  SELECT coalesce(string_agg(d || ':' || array_to_string(vertices, '-'), ' ' ORDER BY d, vertices), 'none') FROM
    (SELECT CASE WHEN weighted THEN km ELSE cardinality(vertices) - 1 END AS d, vertices FROM simple_paths WHERE source = s AND target = t ORDER BY 1, 2 LIMIT k) p $$;
BEGIN;
INSERT INTO small VALUES (40, 41, 1);
INSERT INTO simple_paths VALUES (40, 41, '{40,41}', 1), (40, 40, '{40}', 0), (41, 41, '{41}', 0);
CREATE TEMP TABLE small_answers AS
  SELECT s, t, k, weighted, paths('small(src, dst' || CASE WHEN weighted THEN ', km)' ELSE ')' END, s::text, t::text, k, 'out') AS found, last_cache() AS cache
  FROM generate_series(0, 41) s, generate_series(0, 41) t, unnest('{1, 2, 5, 400}'::int[]) k, (VALUES (false), (true)) w(weighted)
  WHERE s IN (SELECT source FROM simple_paths) AND t IN (SELECT source FROM simple_paths);
SELECT found = expected(s, t, k, weighted) AS is_right, cache, count(*) > 1000 AS many FROM small_answers GROUP BY 1, 2 ORDER BY 1, 2;
SELECT s, t, k, weighted, found, expected(s, t, k, weighted) FROM small_answers WHERE found <> expected(s, t, k, weighted) ORDER BY 1, 2, 3, 4 LIMIT 5;
-- all directions, compared with the whole graph
SELECT nright > 1000, nwrong, nindex > 1000, nbuilt FROM compare('small(src, dst)', 'SELECT DISTINCT a.source, b.source FROM simple_paths a, simple_paths b', '{1, 3, 30}', '{in, both}');
SELECT nright > 1000, nwrong, nindex > 1000, nbuilt FROM compare('small(src, dst, km)', 'SELECT DISTINCT a.source, b.source FROM simple_paths a, simple_paths b', '{1, 3, 30}', '{in, both}');
ROLLBACK;

-- A grid with weights whose sums are rounded, and a second path that is much longer.
CREATE TABLE grid (src int, dst int, km float8 NOT NULL CHECK (km >= 0 AND km < 'Infinity'));
INSERT INTO grid SELECT 100 * x + y, 100 * (x + dx) + y + dy, (1 + (random() * 8)::int) * 0.1
  FROM generate_series(0, 14) x, generate_series(0, 14) y, (VALUES (0, 1), (1, 0), (0, -1), (-1, 0)) d(dx, dy)
  WHERE x + dx BETWEEN 0 AND 14 AND y + dy BETWEEN 0 AND 14;
INSERT INTO grid VALUES (0, 9000, 0.1), (9000, 0, 0.1), (9000, 9001, 0.1), (9001, 9000, 0.1), (9001, 9002, 1e-300), (9002, 1414, 1e300), (9002, 9003, 1e308), (9003, 9004, 1e308);
CREATE INDEX grid_src ON grid (src);
CREATE INDEX grid_dst ON grid USING hash (dst);
ANALYZE grid;
BEGIN;
SET LOCAL work_mem = '64MB';
INSERT INTO grid VALUES (8000, 8001, 1);
SELECT nright > 100, nwrong, nindex > 60, nbuilt < 40 FROM compare('grid(src, dst, km)', 'VALUES (0, 1), (1, 0), (0, 303), (704, 710), (9000, 100), (0, 0), (8000, 8001), (8001, 8000), (8000, 1)', '{1, 2, 5, 40}', '{out, in, both}');
SELECT nright > 100, nwrong, nindex > 60, nbuilt < 40 FROM compare('grid(src, dst)', 'VALUES (0, 1), (1, 0), (0, 303), (704, 710), (9000, 100), (0, 0), (8000, 8001), (8001, 8000), (8000, 1)', '{1, 2, 5, 40}', '{out, in, both}');
-- the only paths are much longer, or too long
SELECT nwrong FROM compare('grid(src, dst, km)', 'VALUES (9001, 1414), (9000, 1414)', '{1, 2}', '{out}');
SELECT paths('grid(src, dst, km)', '9002', '9003', 3, 'out'), last_cache(), paths('grid(src, dst, km)', '9002', '9004', 3, 'out'), last_cache();
-- a path through the whole network exceeds the cost limit
SELECT nwrong, nindex, nbuilt FROM compare('grid(src, dst, km)', 'VALUES (0, 1414)', '{3}', '{out}');
-- with an index on only one endpoint, the search from the other end works without; direction 'both'
-- needs both indexes
DROP INDEX grid_dst;
SELECT nright > 10, nwrong, nindex > 8, nbuilt < 4 FROM compare('grid(src, dst, km)', 'VALUES (0, 1), (704, 706), (8000, 8001)', '{1, 2, 5, 7}', '{out}');
SELECT nright, nwrong, nindex, nbuilt FROM compare('grid(src, dst)', 'VALUES (0, 1), (704, 706), (8001, 8000)', '{1, 2, 5, 7}', '{in}');
SELECT nright, nwrong, nindex, nbuilt FROM compare('grid(src, dst)', 'VALUES (0, 1)', '{2}', '{both}');
-- it is unknown whether a vertex without an edge in its direction is in the graph
SELECT nright, nwrong, nindex, nbuilt FROM compare('grid(src, dst)', 'VALUES (8001, 8000)', '{2}', '{out}');
ROLLBACK;

-- Keys of text, and a condition whose value no call has had before.
CREATE TABLE named (a text, b text, at timestamptz DEFAULT now());
INSERT INTO named SELECT 'v' || src, 'v' || dst FROM small WHERE src IS NOT NULL AND dst IS NOT NULL;
INSERT INTO named SELECT 'v' || src, 'v' || dst, now() - interval '1 year' FROM small a, (VALUES (1), (2)) f(i) WHERE src IS NOT NULL AND dst IS NOT NULL;
INSERT INTO named VALUES ('v3', 'v9', now() - interval '1 year'), ('', 'v1', now()), ('v1', '', now());
CREATE INDEX ON named (a);
CREATE INDEX ON named (b);
ANALYZE named;
BEGIN;
INSERT INTO named VALUES ('x', 'y');
SELECT nright > 300, nwrong, nindex > 300, nbuilt FROM compare('named(a, b)', 'SELECT DISTINCT x.a, y.b FROM named x, named y', '{1, 4}', '{out, both}');
ROLLBACK;
SELECT nright > 300, nwrong, nindex > 300, nbuilt FROM compare('named(a, b) WHERE at > VARYING', 'SELECT DISTINCT x.a, y.b FROM named x, named y', '{1, 4}', '{out, both}');
SET client_min_messages = error;
DROP SCHEMA test_k_paths_by_index CASCADE;
