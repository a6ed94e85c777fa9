-- Functions of the whole graph without a source: strong components, triangles, clustering, cores,
-- label propagation and degrees, compared with plain SQL.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS emogi;
RESET client_min_messages;
CREATE SCHEMA test_analytics;
SET search_path = test_analytics, public;
SET jit = off;	-- compiling the plain queries takes longer than they do
\pset format unaligned
\pset tuples_only on
\pset null (null)

-- The interface.
SELECT proname, proargnames[1:pronargs] AS names, proargtypes::regtype[] AS types, pg_get_expr(proargdefaults, 'pg_proc'::regclass) AS defaults, pg_get_function_result(oid),
       provolatile, proparallel, proretset
  FROM pg_proc WHERE proname ~ '^emogi_(scc|triangles|lcc|core|cdlp|degree)' ORDER BY proname, proargtypes;

CREATE TABLE edges (src bigint, dst bigint, weight float8);

-- Strong components by transitive closure.
CREATE FUNCTION closure_scc() RETURNS TABLE (vertex bigint, component bigint) LANGUAGE sql AS $$
  WITH RECURSIVE v AS (SELECT src AS v FROM edges WHERE src + dst IS NOT NULL UNION SELECT dst FROM edges WHERE src + dst IS NOT NULL),
    r(a, b) AS (SELECT v, v FROM v UNION SELECT a, dst FROM r JOIN edges ON src = b WHERE dst IS NOT NULL)
  SELECT x.a, min(x.b) FROM r x JOIN r y ON y.a = x.b AND y.b = x.a GROUP BY x.a $$;

-- Neighbours in the simple graph: undirected, or along edges.
CREATE VIEW both_ways AS SELECT DISTINCT a, b FROM (SELECT src AS a, dst AS b FROM edges UNION ALL SELECT dst, src FROM edges) e WHERE a <> b;
CREATE VIEW one_way AS SELECT DISTINCT src AS a, dst AS b FROM edges WHERE src <> dst;
CREATE VIEW vertices AS SELECT src AS v FROM edges WHERE src + dst IS NOT NULL UNION SELECT dst FROM edges WHERE src + dst IS NOT NULL;

CREATE FUNCTION plain_triangles() RETURNS TABLE (vertex bigint, triangles bigint) LANGUAGE sql AS $$
  SELECT v, (SELECT count(*) / 2 FROM both_ways x JOIN both_ways y ON y.a = x.b JOIN both_ways z ON z.a = y.b AND z.b = x.a WHERE x.a = v) FROM vertices $$;

CREATE FUNCTION plain_lcc(directed boolean) RETURNS TABLE (vertex bigint, coefficient float8) LANGUAGE sql AS $$
  WITH n AS MATERIALIZED (SELECT a, b FROM both_ways), l AS MATERIALIZED (SELECT a, b FROM both_ways WHERE NOT directed UNION ALL SELECT a, b FROM one_way WHERE directed),
    d AS (SELECT v, (SELECT count(*) FROM n WHERE a = v) AS d FROM vertices)
  SELECT v, CASE WHEN d < 2 THEN 0 ELSE (SELECT count(*) FROM n x JOIN l ON l.a = x.b JOIN n y ON y.a = v AND y.b = l.b WHERE x.a = v)::float8 / (d * (d - 1)) END FROM d $$;

-- Cores by repeatedly removing vertices with too few neighbours, for each k.
CREATE FUNCTION plain_core() RETURNS TABLE (vertex bigint, core int) LANGUAGE plpgsql AS $$
DECLARE
  k int := 0;
BEGIN
  DROP TABLE IF EXISTS pg_temp.alive;
  CREATE TEMP TABLE alive AS SELECT v, 0 AS c FROM vertices;
  DROP TABLE IF EXISTS pg_temp.cores;
  CREATE TEMP TABLE cores AS SELECT v, 0 AS c FROM vertices;
  WHILE EXISTS (SELECT FROM alive) LOOP
    k := k + 1;
    LOOP
      DELETE FROM alive WHERE (SELECT count(*) FROM both_ways n JOIN alive o ON o.v = n.b WHERE n.a = alive.v) < k;
      EXIT WHEN NOT FOUND;
    END LOOP;
    UPDATE cores SET c = k FROM alive WHERE alive.v = cores.v;
  END LOOP;
  RETURN QUERY SELECT v, c FROM cores;
END $$;

CREATE FUNCTION plain_cdlp(iterations int, directed boolean) RETURNS TABLE (vertex bigint, label bigint) LANGUAGE plpgsql AS $$
BEGIN
  DROP TABLE IF EXISTS pg_temp.labels;
  CREATE TEMP TABLE labels AS SELECT v, v AS l FROM vertices;
  FOR i IN 1 .. iterations LOOP
    UPDATE labels SET l = best.l FROM (
      SELECT DISTINCT ON (n.a) n.a, o.l FROM (SELECT a, b FROM both_ways WHERE NOT directed UNION ALL SELECT a, b FROM one_way WHERE directed
        UNION ALL SELECT b, a FROM one_way WHERE directed) n JOIN labels o ON o.v = n.b GROUP BY n.a, o.l ORDER BY n.a, count(*) DESC, o.l) best WHERE best.a = labels.v;
  END LOOP;
  RETURN QUERY SELECT v, l FROM labels;
END $$;

CREATE FUNCTION plain_degree(way text) RETURNS TABLE (vertex bigint, degree bigint, strength float8) LANGUAGE sql AS $$
  SELECT v, count(w), coalesce(sum(w), 0) FROM vertices LEFT JOIN (SELECT src AS a, weight AS w FROM edges WHERE way <> 'in' AND src + dst IS NOT NULL
    UNION ALL SELECT dst, weight FROM edges WHERE way <> 'out' AND src + dst IS NOT NULL AND NOT (way = 'both' AND src = dst)) e ON a = v GROUP BY v $$;

-- Compare both answers, row by row; coefficients bitwise.
CREATE FUNCTION differences(ours text, plain text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  n bigint;
BEGIN
  EXECUTE format('WITH a AS MATERIALIZED (SELECT * FROM %s), b AS MATERIALIZED (SELECT * FROM %s)
    SELECT count(*) FROM ((TABLE a EXCEPT ALL TABLE b) UNION ALL (TABLE b EXCEPT ALL TABLE a)) d', ours, plain) INTO n;
  RETURN n;
END $$;

-- Random graphs of up to 14 vertices and 67 edges, with loops, duplicates, NULL endpoints and
-- multiples of 1/4 as weights, and the empty one.
CREATE PROCEDURE compare(seeds int) LANGUAGE plpgsql AS $$
DECLARE
  pairs text[] := ARRAY['emogi_scc(''edges'')', 'closure_scc()', 'emogi_triangles(''edges'')', 'plain_triangles()', 'emogi_lcc(''edges'')', 'plain_lcc(false)',
    'emogi_lcc(''edges'', ''out'')', 'plain_lcc(true)', 'emogi_lcc(''edges'', direction => ''in'')', 'plain_lcc(true)', 'emogi_core(''edges'')', 'plain_core()',
    'emogi_cdlp(''edges'', 3)', 'plain_cdlp(3, false)', 'emogi_cdlp(''edges'', 5, ''out'')', 'plain_cdlp(5, true)', 'emogi_cdlp(''edges'', direction => ''in'')', 'plain_cdlp(10, true)',
    'emogi_degree(''edges'')', 'plain_degree(''out'')', 'emogi_degree(''edges'', ''in'')', 'plain_degree(''in'')', 'emogi_degree(''edges'', ''both'')', 'plain_degree(''both'')',
    'emogi_degree(''edges'', ''both'') WHERE vertex = ANY (''{-2, 7, 1, 7, 50}'')', 'plain_degree(''both'') WHERE vertex IN (-2, 7, 1)',
    'emogi_degree(''edges'', ''in'') WHERE vertex = 4', 'plain_degree(''in'') WHERE vertex = 4'];
  different bigint[] := array_fill(0::bigint, ARRAY[array_length(pairs, 1) / 2]);
  n int;
BEGIN
  FOR seed IN 0 .. seeds LOOP
    PERFORM setseed(seed / 1000.0);
    n := 1 + seed % 14;
    TRUNCATE edges;
    INSERT INTO edges SELECT CASE WHEN random() > 0.03 THEN floor(random() * n) * 3 - 5 END, CASE WHEN random() > 0.03 THEN floor(random() * n) * 3 - 5 END, floor(random() * 20) / 4
      FROM generate_series(1, seed * 3 / 4);
    FOR i IN 1 .. array_length(different, 1) LOOP
      different[i] := different[i] + differences(pairs[2 * i - 1], pairs[2 * i]);
    END LOOP;
  END LOOP;
  FOR i IN 1 .. array_length(different, 1) LOOP
    RAISE INFO '%: % rows differ', pairs[2 * i - 1], different[i];
  END LOOP;
END $$;
SET client_min_messages = warning;
CALL compare(90);
RESET client_min_messages;

-- Keys of other types, graphs of queries, conditions, order, aggregates, estimates.
TRUNCATE edges;
INSERT INTO edges VALUES (1, 2, 1), (2, 3, 0.5), (3, 1, 2), (3, 4, 1), (4, 5, 1), (5, 4, 1), (5, 6, 1), (9, 9, 3), (NULL, 1, 1);
CREATE TABLE named AS SELECT 'v' || src AS src, 'v' || dst AS dst FROM edges;
SELECT vertex || ':' || component FROM emogi_scc_text('named');
SELECT vertex, coefficient FROM emogi_lcc_text('named', 'out') WHERE coefficient > 0;
SELECT count(*) FROM emogi_core_uuid('SELECT md5(src::text)::uuid AS src, md5(dst::text)::uuid AS dst FROM test_analytics.edges WHERE src IS NOT NULL');
SELECT * FROM emogi_degree('edges'::regclass, 'in') WHERE degree > 1 ORDER BY strength DESC, vertex LIMIT 2;
-- Degrees of given vertices are computed in the backend, also for a graph that has changed.
SET emogi.engine = auto;
SET emogi.incremental_min_size = '1GB';
SELECT * FROM emogi_degree('edges(src, dst)') WHERE vertex IN (5, 9, 77, NULL);
INSERT INTO edges VALUES (5, 9, 4), (5, 100, 4);
DELETE FROM edges WHERE src = 9;
SELECT * FROM emogi_degree('edges(src, dst)') WHERE vertex IN (5, 9, 77, 100);
SELECT * FROM emogi_degree('edges') WHERE vertex IN (5, 9, 77, 100);
SELECT * FROM emogi_degree_text('named', 'both') WHERE vertex = 'v5';
SELECT DISTINCT engine FROM (SELECT engine FROM emogi_runs WHERE pid = pg_backend_pid() ORDER BY id DESC LIMIT 4) r;
RESET emogi.incremental_min_size;
-- keys of queries for which a condition is not pushed down as a key: the rows are filtered
SELECT * FROM emogi_degree_text('SELECT src::numeric, dst::numeric FROM edges', 'both') WHERE vertex = '5';
SELECT * FROM emogi_degree_text('SELECT ROW(src, 1), ROW(dst, 1) FROM edges', 'both') WHERE vertex IN ('(5,1)', '(9,1)', '(77,1)');
DELETE FROM edges WHERE weight = 4;
INSERT INTO edges VALUES (9, 9, 3);
RESET emogi.engine;
SELECT * FROM emogi_triangles('edges') WHERE vertex IN (2, 4, 77);
SELECT emogi_triangle_count('edges'), emogi_triangle_count('edges'::regclass, 'dst, src'), (SELECT sum(triangles) / 3 = emogi_triangle_count('edges') FROM emogi_triangles('edges'));
SELECT emogi_triangle_count('SELECT 1, 2 WHERE false'), emogi_triangle_count($$VALUES ('a', 'b'), ('b', 'c'), ('c', 'a')$$);
SELECT component, count(*) FROM emogi_scc('edges') GROUP BY component HAVING count(*) > 1;
SELECT count(*), sum(triangles), max(triangles), avg(triangles) FROM emogi_triangles('edges') WHERE triangles >= 1;
SELECT max(core), min(core) FROM emogi_core('edges');
SELECT DISTINCT label FROM emogi_cdlp('edges');
SELECT count(*) FROM emogi_scc('SELECT 1 AS src, 2 AS dst WHERE false');
SELECT function, rows FROM emogi_runs ORDER BY id DESC LIMIT 1 OFFSET 2;
SET emogi.engine = cpu;
EXPLAIN (COSTS OFF) SELECT vertex FROM emogi_core('edges') WHERE core >= 2;

-- Errors.
SELECT * FROM emogi_cdlp('edges', 0);
SELECT * FROM emogi_cdlp('edges', NULL, 'sideways');
SELECT * FROM emogi_lcc('edges', 'sideways');
SELECT * FROM emogi_scc('named');
SELECT * FROM emogi_degree('SELECT 1 AS src, 2 AS dst, ''NaN''::float8 AS weight');
SELECT * FROM emogi_degree('SELECT 1 AS src, 2 AS dst, 1.7e308::float8 AS weight FROM generate_series(1, 2)');
SELECT strength FROM emogi_degree('SELECT 1 AS src, 2 AS dst, -1.7e308::float8 AS weight FROM generate_series(1, 2)', 'both') WHERE vertex = 2;
SELECT * FROM emogi_degree('SELECT 1 AS src, 2 AS dst, 1.7e308::float8 AS weight', 'both');
CREATE TABLE heavy AS SELECT 1 AS src, 2 AS dst, 1.7e308::float8 AS weight FROM generate_series(1, 2);
SELECT * FROM emogi_degree('heavy');
SELECT * FROM emogi_degree('heavy') WHERE vertex = 1;
SELECT max(strength) FROM emogi_degree('heavy');
SELECT * FROM emogi_degree('heavy(src, dst)');
SELECT * FROM emogi_triangles(NULL);
SELECT emogi_triangle_count(NULL::text);

SET client_min_messages = warning;
DROP SCHEMA test_analytics CASCADE;
