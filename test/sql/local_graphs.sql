-- Rows of a few vertices that depend on few edges are computed on a small graph of these, which the
-- backend collects from the cached graph and its overlay. They equal those of the engine, and of
-- recursive queries.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS emogi;
RESET client_min_messages;
CREATE SCHEMA test_local_graphs;
SET search_path = test_local_graphs, public;
SET emogi.engine = 'auto';
SET emogi.incremental_min_size = 0;
SET emogi.enable_index_search = off;
\pset format unaligned
\pset tuples_only on
\pset null (null)
SELECT emogi_evict() IS NOT NULL;

-- All rows of a query, whether the backend answered it, and from which graph.
CREATE FUNCTION rows_of(query text) RETURNS text LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  rows text;
BEGIN
  EXECUTE format('SELECT string_agg(q::text, '' '' ORDER BY q::text) FROM (%s) q', query) INTO rows;
  RETURN coalesce(rows, 'none');
END $$;
CREATE FUNCTION last() RETURNS text LANGUAGE sql VOLATILE AS
  $$ SELECT format('%s by %s', cache, CASE engine WHEN 'backend' THEN engine ELSE 'the engine' END) FROM public.emogi_runs WHERE pid = pg_backend_pid() ORDER BY id DESC LIMIT 1 $$;
CREATE FUNCTION reason() RETURNS text LANGUAGE sql VOLATILE AS
  $$ SELECT reason FROM public.emogi_runs WHERE pid = pg_backend_pid() ORDER BY id DESC LIMIT 1 $$;

-- Small components, including cycles, trees and cliques, and one of 300 vertices.
CREATE TABLE e (src int, dst int);
SELECT setseed(0.25);
INSERT INTO e SELECT v, v / 20 * 20 + floor(random() * 20)::int FROM (SELECT floor(random() * 400)::int AS v FROM generate_series(1, 600)) q;
INSERT INTO e SELECT 400 + floor(random() * 300)::int, 400 + floor(random() * 300)::int FROM generate_series(1, 500);
INSERT INTO e VALUES (1, 1), (2, 2), (2, 2), (900, 900), (901, 902), (902, 901), (901, 902), (903, 904), (904, 905), (905, 903), (905, 906);
CREATE TABLE t (src text COLLATE "C", dst text COLLATE "C");
INSERT INTO t SELECT 'v' || src, 'v' || dst FROM e;

-- The functions, and their queries for vertices a and b.
CREATE FUNCTION queries(suffix text DEFAULT '') RETURNS SETOF text LANGUAGE sql AS $$
  VALUES (format('SELECT * FROM emogi_triangles%s(%%1$L) WHERE vertex = %%2$L', suffix)),
    (format('SELECT * FROM emogi_triangles%s(%%1$L) WHERE vertex IN (%%2$L, %%3$L)', suffix)),
    (format('SELECT * FROM emogi_lcc%s(%%1$L) WHERE vertex IN (%%2$L, %%3$L)', suffix)),
    (format('SELECT * FROM emogi_lcc%s(%%1$L, ''out'') WHERE vertex = %%2$L', suffix)),
    (format('SELECT * FROM emogi_lcc%s(%%1$L, ''in'') WHERE vertex = %%3$L', suffix)),
    (format('SELECT * FROM emogi_core%s(%%1$L) WHERE vertex IN (%%2$L, %%3$L)', suffix)),
    (format('SELECT * FROM emogi_scc%s(%%1$L) WHERE vertex = %%2$L', suffix)),
    (format('SELECT * FROM emogi_scc%s(%%1$L) WHERE vertex IN (%%2$L, %%3$L)', suffix)),
    (format('SELECT * FROM emogi_articulation_points%s(%%1$L) WHERE vertex = %%2$L', suffix)),
    (format('SELECT * FROM emogi_articulation_points%s(%%1$L) WHERE vertex IN (%%2$L, %%3$L)', suffix)),
    (format('SELECT * FROM emogi_cc%s(%%1$L) WHERE vertex = %%2$L', suffix)),
    (format('SELECT component, count(*) FROM emogi_cc%s(%%1$L) WHERE component = %%3$L GROUP BY 1', suffix)) $$;
-- Queries of random vertices, answered with and without local searches: the first that differs, and
-- how many the backend has answered.
CREATE FUNCTION compare(graph text, vertex text, times int, suffix text DEFAULT '', OUT wrong text, OUT local int) LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  query text;
  rows text;
  asked text;
BEGIN
  wrong := '';
  local := 0;
  FOR i IN 1 .. times LOOP
    FOR query IN SELECT * FROM queries(suffix) LOOP
      asked := format(query, graph, format(vertex, floor(random() * 910)::int), format(vertex, floor(random() * 910)::int));
      rows := rows_of(asked);
      local := local + (last() LIKE '% by backend')::int;
      PERFORM set_config('emogi.enable_local_search', 'off', true);
      IF rows <> rows_of(asked) THEN
        wrong := format('%s: %s, not %s', asked, rows, rows_of(asked));
        RETURN;
      END IF;
      PERFORM set_config('emogi.enable_local_search', 'on', true);
    END LOOP;
  END LOOP;
END $$;

-- Results of each function for single vertices, and the execution method.
SELECT count(*) > 0 FROM emogi_triangles('e');
SELECT * FROM emogi_triangles('e') WHERE vertex = 904;
SELECT last(), reason();
SELECT * FROM emogi_core('e') WHERE vertex IN (904, 906) ORDER BY 1;
SELECT last(), reason();
SELECT * FROM emogi_articulation_points('e') WHERE vertex = ANY (ARRAY[903, 905, 906]) ORDER BY 1;
SELECT last(), reason();
SELECT count(*) > 0 FROM emogi_scc('e');
SELECT * FROM emogi_scc('e') WHERE vertex IN (903, 905, 906) ORDER BY 1;
SELECT last(), reason();
SELECT * FROM emogi_lcc('e') WHERE vertex IN (903, 905, 906) ORDER BY 1;
SELECT last(), reason();
SELECT * FROM emogi_triangles('e') WHERE vertex = 900;
SELECT * FROM emogi_core('e') WHERE vertex IN (900, 901) ORDER BY 1;
-- Vertices from a subquery; one that depends on the rows is searched in all rows.
SELECT * FROM emogi_triangles('e') WHERE vertex = (SELECT min(src) FROM e WHERE src > 903);
SELECT last();
SELECT * FROM emogi_core('e') WHERE vertex = ANY (ARRAY(SELECT src FROM e WHERE src >= 903)) ORDER BY 1;
SELECT last();
SELECT * FROM emogi_core('e') WHERE vertex = (SELECT src FROM e WHERE src > 5000);
SELECT v, (SELECT core FROM emogi_core('e') WHERE vertex = (SELECT v)) FROM generate_series(902, 904) v;
SELECT last();
SELECT v, core FROM generate_series(902, 904) v, LATERAL (SELECT core FROM emogi_core('e') WHERE vertex = (SELECT v) OFFSET 0) q;
PREPARE triangles_of AS SELECT * FROM emogi_triangles('e') WHERE vertex IN ($1, $2) ORDER BY 1;
SET plan_cache_mode = force_generic_plan;
EXECUTE triangles_of(904, 905);
EXECUTE triangles_of(NULL, 905);
RESET plan_cache_mode;
SELECT last();
-- Not in the graph.
SELECT * FROM emogi_triangles('e') WHERE vertex = 907;
SELECT last();
SELECT * FROM emogi_triangles('e') WHERE vertex IN (907, 904);
SELECT * FROM emogi_core('e') WHERE vertex = 5000000000;
-- EXPLAIN.
SET emogi.engine = cpu;
EXPLAIN (VERBOSE, COSTS OFF) SELECT * FROM emogi_triangles('e') WHERE vertex = 904;
EXPLAIN (VERBOSE, COSTS OFF) SELECT * FROM emogi_triangles('e') WHERE triangles > 0;
EXPLAIN (VERBOSE, COSTS OFF) SELECT * FROM emogi_core('e') WHERE vertex = 904;
SET emogi.enable_local_search = off;
EXPLAIN (VERBOSE, COSTS OFF) SELECT * FROM emogi_core('e') WHERE vertex = 904;
SELECT * FROM emogi_core('e') WHERE vertex = 904;
SELECT last();
RESET emogi.enable_local_search;
SET emogi.engine = 'auto';

-- Degrees, with weights whose sum depends on their order, in the order of the merged list.
CREATE TABLE w (src int, dst int, weight float8);
INSERT INTO w SELECT floor(random() * 30)::int, 3 * floor(random() * 30)::int, (ARRAY[0.1, 1e16, 3, -1e16, 1e-3])[1 + i % 5] FROM generate_series(1, 600) i;
SELECT count(*) > 0 FROM emogi_degree('w');
CREATE FUNCTION degrees(direction text) RETURNS bool LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  answer text := rows_of(format('SELECT * FROM emogi_degree(''w'', %L) WHERE vertex IN (3, 6, 9, 12, 13, 14, 15, 1001)', direction));
  run text := last();
BEGIN
  PERFORM set_config('emogi.enable_local_search', 'off', true);
  IF answer <> rows_of(format('SELECT * FROM emogi_degree(''w'', %L) WHERE vertex IN (3, 6, 9, 12, 13, 14, 15, 1001)', direction)) THEN
    RAISE WARNING 'not %', answer;
  END IF;
  PERFORM set_config('emogi.enable_local_search', 'on', true);
  RETURN run LIKE '% by backend';
END $$;
SELECT degrees('out'), degrees('in'), degrees('both');
INSERT INTO w SELECT floor(random() * 30)::int, 3 * floor(random() * 30)::int, (ARRAY[0.1, 1e16, 3, -1e16, 1e-3])[1 + i % 5] FROM generate_series(1, 60) i;
SELECT degrees('out'), degrees('in'), degrees('both');
DELETE FROM w WHERE src % 5 = 2;
INSERT INTO w SELECT 12 + i % 3, CASE i % 4 WHEN 0 THEN 1001 ELSE 7 * i % 80 END, (ARRAY[0.1, 1e16, 3, -1e16, 1e-3])[1 + i % 5] FROM generate_series(1, 200) i;
SELECT degrees('out'), degrees('in'), degrees('both');
BEGIN;
INSERT INTO w SELECT 12 + i % 3, CASE i % 4 WHEN 0 THEN -i ELSE 7 * i % 80 END, (ARRAY[0.1, 1e16, 3, -1e16, 1e-3])[1 + i % 5] FROM generate_series(1, 200) i;
SELECT degrees('out'), degrees('in'), degrees('both');
ROLLBACK;

-- All functions, on the graph, and after changes on the graph with an overlay.
SELECT wrong, local > 150 FROM compare('e', '%s', 20);
INSERT INTO e VALUES (901, 903), (1000, 901), (1000, 1001), (5, 5), (-3, 2);
SELECT * FROM emogi_articulation_points('e') WHERE vertex IN (901, 1000, 903) ORDER BY 1;
SELECT last();
SELECT wrong, local > 30 FROM compare('e', '%s', 4);
DELETE FROM e WHERE src IN (903, 904) OR src % 7 = 3;
SELECT * FROM emogi_triangles('e') WHERE vertex IN (903, 904, 905, 906) ORDER BY 1;
SELECT last();
SELECT wrong, local > 30 FROM compare('e', '%s', 4);
DELETE FROM e WHERE 905 IN (src, dst);
SELECT * FROM emogi_core('e') WHERE vertex IN (905, 906, 901) ORDER BY 1;
SELECT last();
-- In the transaction that makes the changes.
BEGIN;
INSERT INTO e SELECT floor(random() * 400)::int, floor(random() * 400)::int FROM generate_series(1, 40);
INSERT INTO e SELECT 910 + i % 3, 910 + (i + 1) % 3 FROM generate_series(0, 2) i;
SELECT * FROM emogi_triangles('e') WHERE vertex IN (910, 912) ORDER BY 1;
SELECT last();
SELECT wrong, local > 30 FROM compare('e', '%s', 4);
ROLLBACK;
SELECT * FROM emogi_triangles('e') WHERE vertex = 910;
SELECT wrong, local > 30 FROM compare('e', '%s', 4);
-- Keys that are not integers.
SELECT count(*) > 0 FROM emogi_triangles_text('t');
SELECT wrong, local > 80 FROM compare('t', 'v%s', 10, '_text');
INSERT INTO t VALUES ('v901', 'w'), ('w', 'v903'), ('a', 'v2'), ('v903', 'v901');
SELECT * FROM emogi_triangles_text('t') WHERE vertex IN ('w', 'v903', 'a') ORDER BY 1;
SELECT last();
SELECT wrong, local > 30 FROM compare('t', 'v%s', 4, '_text');

-- A graph of one direction has no complete components; one that was empty has those of the inserted
-- edges.
CREATE TABLE one AS SELECT i AS src, i + 1 AS dst FROM generate_series(1, 9) i WHERE i <> 5;
SELECT count(*) FROM emogi_bfs('one', 1);
SELECT * FROM emogi_cc('one') WHERE vertex = 8;
CREATE TABLE nothing (src int, dst int);
SELECT count(*) FROM emogi_scc('nothing');
INSERT INTO nothing VALUES (7, 8);
SELECT count(*) FROM emogi_scc('nothing');
DELETE FROM nothing;
SELECT count(*) FROM emogi_scc('nothing');
INSERT INTO nothing VALUES (1, 2), (2, 1), (2, 3), (0, 1), (0, 2);
SELECT * FROM emogi_scc('nothing') WHERE vertex IN (1, 2, 3) ORDER BY 1;
SELECT last();
SELECT * FROM emogi_scc('nothing') WHERE vertex = 3;
SELECT * FROM emogi_lcc('nothing', 'out') WHERE vertex IN (1, 2) ORDER BY 1;

-- Comparison with recursive queries.
CREATE VIEW both_ways AS SELECT src AS a, dst AS b FROM e WHERE src <> dst UNION SELECT dst, src FROM e WHERE src <> dst;
CREATE FUNCTION triangles_of(v int) RETURNS bigint LANGUAGE sql AS
  $$ SELECT count(*) FROM both_ways x JOIN both_ways y ON y.a = x.b JOIN both_ways z ON z.a = y.b AND z.b = v WHERE x.a = v AND x.b < y.b $$;
CREATE FUNCTION parts_of(v int) RETURNS bigint LANGUAGE sql AS $$
  WITH RECURSIVE reached(first, at) AS (
    SELECT b, b FROM both_ways WHERE a = v
    UNION
    SELECT first, b FROM reached JOIN both_ways ON a = at WHERE b <> v
  ) SELECT count(DISTINCT least) FROM (SELECT first, min(at) AS least FROM reached GROUP BY first) q $$;
CREATE FUNCTION strong_of(v int) RETURNS bigint LANGUAGE sql AS $$
  WITH RECURSIVE along(at) AS (SELECT v UNION SELECT dst FROM along JOIN e ON src = at),
    against(at) AS (SELECT v UNION SELECT src FROM against JOIN e ON dst = at)
  SELECT min(at) FROM along JOIN against USING (at) $$;
CREATE FUNCTION disagree() RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
  v int;
  x bigint;
BEGIN
  FOR v IN SELECT DISTINCT src FROM e WHERE src % 4 = 1 LOOP
    EXECUTE format('SELECT triangles FROM emogi_triangles(''e'') WHERE vertex = %s', v) INTO x;
    IF x <> triangles_of(v) THEN RETURN NEXT format('%s has %s triangles', v, x); END IF;
    EXECUTE format('SELECT component FROM emogi_scc(''e'') WHERE vertex = %s', v) INTO x;
    IF x <> strong_of(v) THEN RETURN NEXT format('%s is in %s', v, x); END IF;
    EXECUTE format('SELECT components FROM emogi_articulation_points(''e'') WHERE vertex = %s', v) INTO x;
    IF coalesce(x, 1) <> greatest(parts_of(v), 1) THEN RETURN NEXT format('%s leaves %s parts', v, x); END IF;
  END LOOP;
END $$;
SELECT * FROM disagree();
INSERT INTO e VALUES (409, 13), (21, 409), (13, 401);
SELECT * FROM disagree();

-- A component that is too large is left to the engine, but not triangles and parts of its vertices.
-- The vertices lie on a cycle with chords.
CREATE TABLE ring AS SELECT i AS src, (i + d) % 60000 AS dst FROM generate_series(0, 59999) i, (VALUES (1), (2)) v(d);
INSERT INTO ring SELECT 0, 100000 + i FROM generate_series(1, 30000) i;
INSERT INTO ring VALUES (30000, 30001), (100001, 100002);
SELECT count(*) FROM emogi_triangles('ring');
SELECT * FROM emogi_core('ring') WHERE vertex = 30000;
SELECT last();
SELECT * FROM emogi_triangles('ring') WHERE vertex IN (30000, 30007) ORDER BY 1;
SELECT last();
SELECT * FROM emogi_articulation_points('ring') WHERE vertex IN (30000, 30007);
SELECT last();
-- Its hub has many neighbors, which are looked up; they are close to each other.
SELECT * FROM emogi_triangles('ring') WHERE vertex IN (1, 59999, 100001) ORDER BY 1;
SELECT last();
SELECT * FROM emogi_triangles('ring') WHERE vertex = 0;
SELECT last();
SELECT * FROM emogi_articulation_points('ring') WHERE vertex = 0;
SELECT last();
-- A change in the overlay.
INSERT INTO ring VALUES (0, 40000), (200000, 0);
SELECT * FROM emogi_triangles('ring') WHERE vertex IN (1, 59999, 100001, 40000, 200000) ORDER BY 1;
SELECT last();
SELECT * FROM emogi_core('ring') WHERE vertex = 30000;
SELECT last();
-- A join searches vertices in all rows.
SELECT x, triangles FROM generate_series(1, 3) x, LATERAL (SELECT * FROM emogi_triangles('ring') WHERE vertex = x) q ORDER BY 1;
SELECT last();

SET client_min_messages = warning;
DROP SCHEMA test_local_graphs CASCADE;
