-- The six algorithms of LDBC Graphalytics, by its specification and validation rules.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS emogi;
RESET client_min_messages;
CREATE SCHEMA test_graphalytics;
SET search_path = test_graphalytics, public;
\pset format unaligned
\pset tuples_only on

-- 60 graphs and the results by the formulas of the specification (test/data/graphalytics.py), or
-- those of another file (test/graphalytics).
CREATE TABLE graphs (graph text PRIMARY KEY, directed boolean, source bigint, iterations int, vertices bigint[], src bigint[], dst bigint[], weight float8[],
                     bfs text[], cdlp text[], lcc text[], pr text[], sssp text[], wcc text[]);
\set data `echo "${EMOGI_GRAPHALYTICS:-test/data/graphalytics.csv}"`
\set copy '\\copy graphs FROM ' :'data' ' CSV HEADER'
:copy
CREATE TABLE edges (src bigint, dst bigint, weight float8);
CREATE TABLE vertices (id bigint);

-- Answers of emogi; in undirected graphs each edge is stored once and used in both directions.
CREATE FUNCTION answer(algorithm text, graph text, way text, source bigint, iterations int) RETURNS TABLE (vertex bigint, value text) LANGUAGE plpgsql AS $$
BEGIN
  CASE algorithm
    WHEN 'bfs' THEN RETURN QUERY SELECT a.vertex, level::text FROM emogi_bfs(graph, source, direction => way) a;
    WHEN 'cdlp' THEN RETURN QUERY SELECT a.vertex, label::text FROM emogi_cdlp(graph, iterations, way) a;
    WHEN 'lcc' THEN RETURN QUERY SELECT a.vertex, coefficient::text FROM emogi_lcc(graph, way) a;
    WHEN 'pr' THEN RETURN QUERY SELECT a.vertex, rank::text FROM emogi_pagerank(graph, 0.85, iterations, 0, direction => way) a;
    WHEN 'sssp' THEN RETURN QUERY SELECT a.vertex, distance::text FROM emogi_sssp(graph, source, direction => way) a;
    WHEN 'wcc' THEN RETURN QUERY SELECT a.vertex, component::text FROM emogi_cc(graph) a;
  END CASE;
END $$;

-- Expected values and answers for a graph. A vertex not reached by a search has no row in emogi,
-- and the value infinity in the benchmark.
CREATE TABLE said (v bigint, x text, isolated boolean);
CREATE TABLE answered (v bigint, x text);
CREATE VIEW pairs AS SELECT v, s.x AS said, a.x AS answered FROM said s FULL JOIN answered a USING (v);

-- The rules: equal numbers, a relative error of 1e-4, equality up to component names. A vertex in
-- only one of the results counts as a difference.
CREATE FUNCTION differing(algorithm text) RETURNS bigint LANGUAGE sql AS $$
  SELECT count(*) FROM pairs p
   WHERE CASE WHEN said IS NULL OR answered IS NULL THEN true
              WHEN algorithm IN ('bfs', 'cdlp') THEN said <> answered
              WHEN algorithm = 'wcc' THEN EXISTS (SELECT FROM pairs q WHERE (p.said = q.said) <> (p.answered = q.answered))
              WHEN 'Infinity' IN (said::float8, answered::float8) THEN said::float8 <> answered::float8
              ELSE NOT abs(said::float8 - answered::float8) <= 0.0001 * said::float8 END $$;

-- Change one value, that of a vertex with an edge: slightly more, or another component.
CREATE PROCEDURE spoil(algorithm text) LANGUAGE sql AS $$
  UPDATE said SET x = CASE WHEN algorithm IN ('bfs', 'cdlp') THEN (x::numeric + 1)::text
                           WHEN algorithm = 'wcc' THEN coalesce((SELECT min(o.x) FROM said o WHERE o.x <> said.x), 'another')
                           WHEN x::float8 = 'Infinity' THEN '1'
                           ELSE (x::float8 * 1.0003 + 1e-9)::text END
   WHERE v = (SELECT max(v) FROM said WHERE NOT isolated) $$;

-- Compare all: with the edge table as the graph those vertices that have an edge, and with
-- emogi_with_vertices all.
CREATE TABLE results (graph text, directed boolean, algorithm text, part text, spoilt boolean, compared bigint, isolated bigint, unreached bigint, differ bigint);
CREATE PROCEDURE compare(spoilt boolean) LANGUAGE plpgsql AS $$
DECLARE
  g record;
  part text;
  alone bigint;
  unreached bigint;
BEGIN
  FOR g IN SELECT * FROM graphs, LATERAL (VALUES ('bfs', bfs), ('cdlp', cdlp), ('lcc', lcc), ('pr', pr), ('sssp', sssp), ('wcc', wcc)) a(algorithm, x)
            WHERE x IS NOT NULL ORDER BY graph, algorithm LOOP
    TRUNCATE edges, vertices;
    INSERT INTO edges SELECT * FROM unnest(g.src, g.dst, g.weight);
    INSERT INTO vertices SELECT * FROM unnest(g.vertices);
    FOREACH part IN ARRAY ARRAY['with an edge', 'all'] LOOP
      TRUNCATE said, answered;
      INSERT INTO said SELECT v, x, v <> ALL (g.src || g.dst) FROM unnest(g.vertices, g.x) u(v, x);
      SELECT count(*) FILTER (WHERE isolated) INTO alone FROM said;
      IF part = 'with an edge' THEN
        CONTINUE WHEN g.algorithm = 'pr' AND alone > 0;  -- ranks are shares of all vertices
        DELETE FROM said WHERE isolated;
        alone := 0;
      END IF;
      INSERT INTO answered SELECT * FROM answer(g.algorithm, CASE part WHEN 'all' THEN emogi_with_vertices('edges', 'vertices(id)') ELSE 'edges' END,
                                                CASE WHEN g.directed THEN 'out' ELSE 'both' END, g.source, g.iterations);
      unreached := 0;
      IF g.algorithm IN ('bfs', 'sssp') THEN
        INSERT INTO answered SELECT v, CASE g.algorithm WHEN 'bfs' THEN '9223372036854775807' ELSE 'Infinity' END FROM said
         WHERE v NOT IN (SELECT v FROM answered);
        GET DIAGNOSTICS unreached = ROW_COUNT;
      END IF;
      IF spoilt THEN
        CALL spoil(g.algorithm);
      END IF;
      INSERT INTO results SELECT g.graph, g.directed, g.algorithm, part, spoilt, count(*), alone, unreached, differing(g.algorithm) FROM pairs;
    END LOOP;
  END LOOP;
END $$;

CALL compare(false);
\pset tuples_only off
SELECT CASE WHEN directed THEN 'directed' ELSE 'undirected' END AS edges, algorithm, part AS vertices, count(*) AS graphs, sum(compared) AS compared,
       sum(isolated) AS isolated, sum(unreached) AS unreached, sum(differ) AS differ
  FROM results GROUP BY directed, algorithm, part ORDER BY directed DESC, algorithm, part DESC;
SELECT graph, algorithm, part, compared, differ FROM results WHERE differ > 0 ORDER BY graph, algorithm, part;

-- A wrong value is detected, for every graph and algorithm.
CALL compare(true);
SELECT algorithm, count(*) AS spoilt, count(*) FILTER (WHERE differ > 0) AS noticed FROM results WHERE spoilt GROUP BY algorithm ORDER BY algorithm;
