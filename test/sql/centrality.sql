-- Closeness and betweenness compared with plain SQL and with values of networkx, with samples,
-- directions and keys of other types.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS emogi;
RESET client_min_messages;
CREATE SCHEMA test_centrality;
SET search_path = test_centrality, public;
SET jit = off;	-- compiling the plain queries takes longer than they do
\pset format unaligned
\pset tuples_only on
\pset null (null)

-- The interface.
SELECT proname, proargnames[1:pronargs] AS names, proargtypes::regtype[] AS types, pg_get_expr(proargdefaults, 'pg_proc'::regclass) AS defaults, pg_get_function_result(oid),
       provolatile, proparallel, proretset
  FROM pg_proc WHERE proname ~ '^emogi_(closeness|betweenness)' ORDER BY proname, proargtypes;

CREATE TABLE edges (src bigint, dst bigint);
CREATE VIEW vertices AS SELECT src AS v FROM edges WHERE src + dst IS NOT NULL UNION SELECT dst FROM edges WHERE src + dst IS NOT NULL;

-- The edges of the simple graph in a direction.
CREATE FUNCTION steps(way text) RETURNS TABLE (a bigint, b bigint) LANGUAGE sql AS $$
  SELECT src, dst FROM edges WHERE way <> 'in' AND src <> dst UNION SELECT dst, src FROM edges WHERE way <> 'out' AND src <> dst $$;

-- Hops from every vertex to all vertices it reaches, and the number of shortest paths to them.
CREATE FUNCTION hops(way text) RETURNS TABLE (s bigint, t bigint, d int, paths numeric) LANGUAGE plpgsql AS $$
DECLARE
  i int := 0;
BEGIN
  DROP TABLE IF EXISTS pg_temp.steps, pg_temp.found;
  CREATE TEMP TABLE steps AS SELECT * FROM steps(way);
  CREATE TEMP TABLE found AS SELECT v AS s, v AS t, 0 AS d, 1::numeric AS paths FROM vertices;
  LOOP
    INSERT INTO found SELECT f.s, b, i + 1, sum(f.paths) FROM found f JOIN pg_temp.steps x ON x.a = f.t
      WHERE f.d = i AND NOT EXISTS (SELECT FROM found g WHERE g.s = f.s AND g.t = b) GROUP BY f.s, b;
    EXIT WHEN NOT FOUND;
    i := i + 1;
  END LOOP;
  RETURN QUERY SELECT * FROM found;
END $$;

CREATE FUNCTION plain_closeness(way text) RETURNS TABLE (vertex bigint, reached bigint, farness float8, closeness numeric, harmonic numeric) LANGUAGE sql AS $$
  WITH n AS (SELECT count(*) AS n FROM vertices), h AS (SELECT s, count(*) AS r, sum(d) AS f, coalesce(sum(1.0 / nullif(d, 0)), 0) AS h FROM hops(way) GROUP BY s)
  SELECT s, r, f, CASE WHEN f > 0 THEN round((r - 1.0) / f * (r - 1) / (n - 1), 9) ELSE 0 END, round(h, 9) FROM h, n $$;
CREATE FUNCTION our_closeness(way text) RETURNS TABLE (vertex bigint, reached bigint, farness float8, closeness numeric, harmonic numeric) LANGUAGE sql AS $$
  SELECT vertex, reached, farness, round(closeness::numeric, 9), round(harmonic::numeric, 9) FROM emogi_closeness('edges', direction => way) $$;

-- A vertex on shortest paths from s to t gets the product of the path counts to and from it,
-- divided by that of all.
CREATE FUNCTION plain_betweenness(way text) RETURNS TABLE (vertex bigint, counted numeric, normalized numeric) LANGUAGE sql AS $$
  WITH n AS (SELECT count(*) AS n FROM vertices), h AS MATERIALIZED (SELECT * FROM hops(way)),
    b AS (SELECT x.t AS v, sum(x.paths * y.paths / z.paths) AS c FROM h x JOIN h y ON y.s = x.t JOIN h z ON z.s = x.s AND z.t = y.t AND z.d = x.d + y.d
          WHERE x.s <> x.t AND y.s <> y.t AND x.s <> y.t GROUP BY x.t)
  SELECT v, round(coalesce(c, 0) / CASE way WHEN 'both' THEN 2 ELSE 1 END, 9), round(coalesce(c, 0) / greatest((n - 1) * (n - 2), 1), 9) FROM vertices LEFT JOIN b USING (v), n $$;
CREATE FUNCTION our_betweenness(way text) RETURNS TABLE (vertex bigint, counted numeric, normalized numeric) LANGUAGE sql AS $$
  SELECT vertex, round(a.centrality::numeric, 9), round(b.centrality::numeric, 9) FROM emogi_betweenness('edges', normalized => false, direction => way) a
    JOIN emogi_betweenness('edges', direction => way) b USING (vertex) $$;

-- Compare both answers, row by row.
CREATE FUNCTION differences(ours text, plain text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  n bigint;
BEGIN
  EXECUTE format('WITH a AS MATERIALIZED (SELECT * FROM %s), b AS MATERIALIZED (SELECT * FROM %s)
    SELECT count(*) FROM ((TABLE a EXCEPT ALL TABLE b) UNION ALL (TABLE b EXCEPT ALL TABLE a)) d', ours, plain) INTO n;
  RETURN n;
END $$;

-- Random graphs of up to 14 vertices and 60 edges, with loops, duplicates and NULL endpoints, and
-- the empty one.
CREATE PROCEDURE compare(seeds int) LANGUAGE plpgsql AS $$
DECLARE
  names text[] := ARRAY['closeness', 'betweenness'];
  ways text[] := ARRAY['out', 'in', 'both'];
  different bigint[] := array_fill(0::bigint, ARRAY[array_length(names, 1), 3]);
  n int;
BEGIN
  FOR seed IN 0 .. seeds LOOP
    PERFORM setseed(seed / 1000.0);
    n := 1 + seed % 14;
    TRUNCATE edges;
    INSERT INTO edges SELECT CASE WHEN random() > 0.03 THEN floor(random() * n) * 3 - 5 END, CASE WHEN random() > 0.03 THEN floor(random() * n) * 3 - 5 END
      FROM generate_series(1, seed);
    FOR i IN 1 .. array_length(names, 1) LOOP
      FOR j IN 1 .. 3 LOOP
        different[i][j] := different[i][j] + differences(format('our_%s(%L)', names[i], ways[j]), format('plain_%s(%L)', names[i], ways[j]));
      END LOOP;
    END LOOP;
  END LOOP;
  FOR i IN 1 .. array_length(names, 1) LOOP
    RAISE INFO '%: % rows differ', names[i], different[i:i];
  END LOOP;
END $$;
SET client_min_messages = warning;
CALL compare(60);
RESET client_min_messages;

-- Zachary's karate club, with the values of networkx 3.6.
CREATE TABLE karate AS SELECT src, dst FROM unnest(ARRAY[0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,1,1,1,1,1,1,1,1,2,2,2,2,2,2,2,2,3,3,3,4,4,5,5,5,6,8,8,8,9,13,14,14,15,15,18,18,19,20,20,22,22,23,23,23,23,23,24,24,24,25,26,26,27,28,28,29,29,30,30,31,31,32],
  ARRAY[1,2,3,4,5,6,7,8,10,11,12,13,17,19,21,31,2,3,7,13,17,19,21,30,3,7,8,9,13,27,28,32,7,12,13,6,10,6,10,16,16,30,32,33,33,33,32,33,32,33,32,33,33,32,33,32,33,25,27,29,32,33,25,27,31,31,29,33,33,31,33,32,33,32,33,32,33,33]) AS e (src, dst);
SELECT vertex, reached, farness, round(closeness::numeric, 12), round(harmonic::numeric, 12) FROM emogi_closeness('karate', direction => 'both') WHERE vertex IN (0, 1, 11, 16, 33) ORDER BY vertex;
SELECT round(sum(closeness)::numeric, 12) = 14.500307507500, round(sum(harmonic)::numeric, 9) = 552.033333333 FROM emogi_closeness('karate', direction => 'both');
SELECT vertex, round(a.centrality::numeric, 12), round(b.centrality::numeric, 9) FROM emogi_betweenness('karate', direction => 'both') a
  JOIN emogi_betweenness('karate', normalized => false, direction => 'both') b USING (vertex) WHERE vertex IN (0, 1, 11, 16, 33) ORDER BY vertex;
SELECT round(sum(a.centrality)::numeric, 9) = 1.496212121, round(sum(b.centrality)::numeric, 9) FROM emogi_betweenness('karate', direction => 'both') a
  JOIN emogi_betweenness('karate', normalized => false, direction => 'both') b USING (vertex);

-- Samples: equal for equal seeds, different for others, exact if all vertices are sampled;
-- estimates are close.
SELECT count(*), sum(reached), min(reached) FROM emogi_closeness('karate', 10, 1, 'both');
SELECT count(*) FROM emogi_closeness('karate', 10, 1, 'both') a JOIN emogi_closeness('karate'::regclass, 10, 1, 'both') b USING (vertex, reached, farness, closeness, harmonic);
SELECT count(*) < 34 FROM emogi_closeness('karate', 10, 1, 'both') a JOIN emogi_closeness('karate', 10, 2, 'both') b USING (vertex, farness);
SELECT count(*) FROM emogi_closeness('karate', 34, 1, 'both') a JOIN emogi_closeness('karate', 1000, -5, 'both') b USING (vertex, reached, farness, closeness, harmonic)
  JOIN emogi_closeness('karate', NULL, NULL, 'both') c USING (vertex, reached, farness, closeness, harmonic);
SELECT max(abs(a.closeness / b.closeness - 1)) < 0.1 FROM (SELECT vertex, avg(closeness) AS closeness FROM generate_series(1, 200) seed, LATERAL emogi_closeness('karate', 12, seed, 'both') GROUP BY vertex) a
  JOIN emogi_closeness('karate', direction => 'both') b USING (vertex);
SELECT count(*) FROM emogi_betweenness('karate', 10, 1, direction => 'both') a JOIN emogi_betweenness('karate'::regclass, 10, 1, NULL, 'both') b USING (vertex, centrality);
SELECT count(*) < 34 FROM emogi_betweenness('karate', 10, 1, direction => 'both') a JOIN emogi_betweenness('karate', 10, 2, direction => 'both') b USING (vertex, centrality);
SELECT count(*) FROM emogi_betweenness('karate', 34, 1, true, 'both') a JOIN emogi_betweenness('karate', NULL, NULL, NULL, 'both') b USING (vertex, centrality);
SELECT max(abs(a.centrality - b.centrality)) < 0.02 FROM (SELECT vertex, avg(centrality) AS centrality FROM generate_series(1, 200) seed, LATERAL emogi_betweenness('karate', 12, seed, true, 'both') GROUP BY vertex) a
  JOIN emogi_betweenness('karate', direction => 'both') b USING (vertex);
SELECT vertex, centrality FROM emogi_betweenness('karate', 1, 9223372036854775807, true, 'both') WHERE vertex IN (25, 31) ORDER BY vertex;
SELECT vertex, reached, farness FROM emogi_closeness('karate', 1, 9223372036854775807, 'both') WHERE reached = 1 ORDER BY vertex;

-- Keys of other types, graphs of queries, conditions, order, aggregates.
TRUNCATE edges;
INSERT INTO edges VALUES (1, 2), (2, 3), (3, 1), (3, 4), (4, 5), (5, 4), (5, 6), (9, 9), (NULL, 1);
CREATE TABLE named AS SELECT 'v' || src AS src, 'v' || dst AS dst FROM edges;
SELECT vertex, reached, farness FROM emogi_closeness_text('named') ORDER BY vertex;
SELECT count(*), sum(reached) FROM emogi_closeness_uuid('SELECT md5(src::text)::uuid AS src, md5(dst::text)::uuid AS dst FROM test_centrality.edges WHERE src IS NOT NULL', direction => 'in');
SELECT vertex, closeness FROM emogi_closeness('edges'::regclass, direction => 'in', columns => 'dst, src') WHERE reached > 2 ORDER BY closeness DESC, vertex LIMIT 2;
SELECT vertex, harmonic FROM emogi_closeness('edges') WHERE vertex IN (2, 4, 77) ORDER BY vertex;
SELECT vertex, centrality FROM emogi_betweenness_text('named', normalized => false) WHERE centrality > 0 ORDER BY centrality DESC, vertex;
SELECT count(*), max(centrality) FROM emogi_betweenness_uuid('SELECT md5(src::text)::uuid AS src, md5(dst::text)::uuid AS dst FROM test_centrality.edges WHERE src IS NOT NULL', NULL, NULL, false);
SELECT vertex, centrality FROM emogi_betweenness('edges'::regclass, normalized => false, columns => 'dst, src') WHERE vertex < 4 ORDER BY vertex;
SELECT reached, count(*) FROM emogi_closeness('edges') GROUP BY reached ORDER BY reached;
SELECT count(*) FROM emogi_closeness('SELECT 1 AS src, 2 AS dst WHERE false');
SELECT function, rows FROM emogi_runs ORDER BY id DESC LIMIT 1 OFFSET 1;
SET emogi.engine = cpu;
EXPLAIN (COSTS OFF) SELECT vertex FROM emogi_closeness('edges', 10) WHERE reached >= 2;
EXPLAIN (COSTS OFF) SELECT * FROM emogi_betweenness('edges', 10, 1, false) ORDER BY centrality DESC LIMIT 3;
RESET emogi.engine;

-- The planner estimates lower costs for fewer searches.
CREATE FUNCTION cost(query text) RETURNS float8 LANGUAGE plpgsql AS $$
DECLARE
  plan json;
BEGIN
  EXECUTE 'EXPLAIN (FORMAT json) ' || query INTO plan;
  RETURN plan -> 0 -> 'Plan' ->> 'Total Cost';
END $$;
CREATE TABLE many AS SELECT i AS src, i + 1 AS dst FROM generate_series(1, 5000) i;
ANALYZE many;
-- A GPU has a higher startup cost.
SET emogi.engine = cpu;
SELECT cost('SELECT * FROM emogi_betweenness(''many'')') > 20 * cost('SELECT * FROM emogi_betweenness(''many'', 10)');
SELECT cost('SELECT * FROM emogi_closeness(''many'')') > 20 * cost('SELECT * FROM emogi_closeness(''many'', 10)');
RESET emogi.engine;

-- Errors.
SELECT * FROM emogi_closeness('edges', 0);
SELECT * FROM emogi_closeness('edges', -7, 3);
SELECT * FROM emogi_closeness('edges', 5, 0, 'sideways');
SELECT * FROM emogi_betweenness('edges', 0);
SELECT * FROM emogi_betweenness('edges', 5, 0, true, 'sideways');
SELECT * FROM emogi_closeness('named');
SELECT * FROM emogi_betweenness('named');
SELECT * FROM emogi_closeness(NULL);

SET client_min_messages = warning;
DROP SCHEMA test_centrality CASCADE;
