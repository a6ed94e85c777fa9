-- Functions with the names, arguments and columns of pgRouting 3.4, answered by emogi from graphs that are kept. Optional: run it once in a database that has
-- emogi, and put the schema into the search_path, in front of pgRouting's:
--
--   psql -f examples/pgrouting.sql && psql -c 'SET search_path = emogi_pgr, public' ...
--
-- The first argument is the query of edges with columns id, source, target, cost and, if there is one, reverse_cost, as ever. Its graph is built once and
-- shared while the tables behind it stand still. A table is better: where edges_sql is the name of a table, or 'roads(a, b, km, km_back, id)', its graph
-- follows what is written. Which call becomes which: docs/from-pgrouting.md.
BEGIN;
CREATE SCHEMA IF NOT EXISTS emogi_pgr;
COMMENT ON SCHEMA emogi_pgr IS 'pgRouting''s functions, answered by emogi';

-- Along the edges as stored, or either way.
CREATE OR REPLACE FUNCTION emogi_pgr.direction_of(directed boolean) RETURNS text LANGUAGE sql IMMUTABLE AS
$$ SELECT CASE WHEN directed THEN 'out' ELSE 'both' END $$;

-- pgr_dijkstra and pgr_bdDijkstra: one shortest path for each pair. The last row of a path has edge -1 and cost 0.

CREATE OR REPLACE FUNCTION emogi_pgr.pgr_dijkstra(edges_sql text, start_vid bigint, end_vid bigint, directed boolean DEFAULT true)
RETURNS TABLE (seq int, path_seq int, node bigint, edge bigint, cost float8, agg_cost float8) LANGUAGE sql STABLE ROWS 100 AS $$
  SELECT p.seq, p.seq, p.vertex, COALESCE(p.edge, -1), p.cost, p.distance
  FROM emogi_shortest_path(edges_sql, start_vid, end_vid, emogi_pgr.direction_of(directed)) p
  WHERE start_vid <> end_vid ORDER BY p.seq
$$;

CREATE OR REPLACE FUNCTION emogi_pgr.pgr_dijkstra(edges_sql text, bigint, anyarray, directed boolean DEFAULT true)
RETURNS TABLE (seq int, path_seq int, end_vid bigint, node bigint, edge bigint, cost float8, agg_cost float8) LANGUAGE sql STABLE ROWS 1000 AS $$
  SELECT (row_number() OVER (ORDER BY p.target, p.seq))::int, p.seq, p.target, p.vertex, COALESCE(p.edge, -1), p.cost, p.distance
  FROM emogi_shortest_paths(edges_sql, ARRAY[$2], $3::bigint[], emogi_pgr.direction_of(directed)) p
  WHERE p.source <> p.target ORDER BY p.target, p.seq
$$;

CREATE OR REPLACE FUNCTION emogi_pgr.pgr_dijkstra(edges_sql text, anyarray, bigint, directed boolean DEFAULT true)
RETURNS TABLE (seq int, path_seq int, start_vid bigint, node bigint, edge bigint, cost float8, agg_cost float8) LANGUAGE sql STABLE ROWS 1000 AS $$
  SELECT (row_number() OVER (ORDER BY p.source, p.seq))::int, p.seq, p.source, p.vertex, COALESCE(p.edge, -1), p.cost, p.distance
  FROM emogi_shortest_paths(edges_sql, $2::bigint[], ARRAY[$3], emogi_pgr.direction_of(directed)) p
  WHERE p.source <> p.target ORDER BY p.source, p.seq
$$;

CREATE OR REPLACE FUNCTION emogi_pgr.pgr_dijkstra(edges_sql text, anyarray, anyarray, directed boolean DEFAULT true)
RETURNS TABLE (seq int, path_seq int, start_vid bigint, end_vid bigint, node bigint, edge bigint, cost float8, agg_cost float8) LANGUAGE sql STABLE ROWS 1000 AS $$
  SELECT (row_number() OVER (ORDER BY p.source, p.target, p.seq))::int, p.seq, p.source, p.target, p.vertex, COALESCE(p.edge, -1), p.cost, p.distance
  FROM emogi_shortest_paths(edges_sql, $2::bigint[], $3::bigint[], emogi_pgr.direction_of(directed)) p
  WHERE p.source <> p.target ORDER BY p.source, p.target, p.seq
$$;

CREATE OR REPLACE FUNCTION emogi_pgr.pgr_dijkstra(edges_sql text, combinations_sql text, directed boolean DEFAULT true)
RETURNS TABLE (seq int, path_seq int, start_vid bigint, end_vid bigint, node bigint, edge bigint, cost float8, agg_cost float8) LANGUAGE sql STABLE ROWS 1000 AS $$
  SELECT (row_number() OVER (ORDER BY p.source, p.target, p.seq))::int, p.seq, p.source, p.target, p.vertex, COALESCE(p.edge, -1), p.cost, p.distance
  FROM emogi_shortest_paths(edges_sql, pairs => format('SELECT source::bigint, target::bigint FROM (%s) AS pairs', rtrim(combinations_sql, E'; \n')),
    direction => emogi_pgr.direction_of(directed)) p
  WHERE p.source <> p.target ORDER BY p.source, p.target, p.seq
$$;

CREATE OR REPLACE FUNCTION emogi_pgr.pgr_bddijkstra(edges_sql text, start_vid bigint, end_vid bigint, directed boolean DEFAULT true)
RETURNS TABLE (seq int, path_seq int, node bigint, edge bigint, cost float8, agg_cost float8) LANGUAGE sql STABLE ROWS 100 AS $$
  SELECT p.seq, p.seq, p.vertex, COALESCE(p.edge, -1), p.cost, p.distance
  FROM emogi_shortest_path(edges_sql, start_vid, end_vid, emogi_pgr.direction_of(directed)) p
  WHERE start_vid <> end_vid ORDER BY p.seq
$$;

CREATE OR REPLACE FUNCTION emogi_pgr.pgr_bddijkstra(edges_sql text, bigint, anyarray, directed boolean DEFAULT true)
RETURNS TABLE (seq int, path_seq int, end_vid bigint, node bigint, edge bigint, cost float8, agg_cost float8) LANGUAGE sql STABLE ROWS 1000 AS $$
  SELECT (row_number() OVER (ORDER BY p.target, p.seq))::int, p.seq, p.target, p.vertex, COALESCE(p.edge, -1), p.cost, p.distance
  FROM emogi_shortest_paths(edges_sql, ARRAY[$2], $3::bigint[], emogi_pgr.direction_of(directed)) p
  WHERE p.source <> p.target ORDER BY p.target, p.seq
$$;

CREATE OR REPLACE FUNCTION emogi_pgr.pgr_bddijkstra(edges_sql text, anyarray, bigint, directed boolean DEFAULT true)
RETURNS TABLE (seq int, path_seq int, start_vid bigint, node bigint, edge bigint, cost float8, agg_cost float8) LANGUAGE sql STABLE ROWS 1000 AS $$
  SELECT (row_number() OVER (ORDER BY p.source, p.seq))::int, p.seq, p.source, p.vertex, COALESCE(p.edge, -1), p.cost, p.distance
  FROM emogi_shortest_paths(edges_sql, $2::bigint[], ARRAY[$3], emogi_pgr.direction_of(directed)) p
  WHERE p.source <> p.target ORDER BY p.source, p.seq
$$;

CREATE OR REPLACE FUNCTION emogi_pgr.pgr_bddijkstra(edges_sql text, anyarray, anyarray, directed boolean DEFAULT true)
RETURNS TABLE (seq int, path_seq int, start_vid bigint, end_vid bigint, node bigint, edge bigint, cost float8, agg_cost float8) LANGUAGE sql STABLE ROWS 1000 AS $$
  SELECT (row_number() OVER (ORDER BY p.source, p.target, p.seq))::int, p.seq, p.source, p.target, p.vertex, COALESCE(p.edge, -1), p.cost, p.distance
  FROM emogi_shortest_paths(edges_sql, $2::bigint[], $3::bigint[], emogi_pgr.direction_of(directed)) p
  WHERE p.source <> p.target ORDER BY p.source, p.target, p.seq
$$;

CREATE OR REPLACE FUNCTION emogi_pgr.pgr_bddijkstra(edges_sql text, combinations_sql text, directed boolean DEFAULT true)
RETURNS TABLE (seq int, path_seq int, start_vid bigint, end_vid bigint, node bigint, edge bigint, cost float8, agg_cost float8) LANGUAGE sql STABLE ROWS 1000 AS $$
  SELECT (row_number() OVER (ORDER BY p.source, p.target, p.seq))::int, p.seq, p.source, p.target, p.vertex, COALESCE(p.edge, -1), p.cost, p.distance
  FROM emogi_shortest_paths(edges_sql, pairs => format('SELECT source::bigint, target::bigint FROM (%s) AS pairs', rtrim(combinations_sql, E'; \n')),
    direction => emogi_pgr.direction_of(directed)) p
  WHERE p.source <> p.target ORDER BY p.source, p.target, p.seq
$$;

-- pgr_aStar: the same paths. Coordinates in edges_sql are not looked at, and a heuristic is not needed.

CREATE OR REPLACE FUNCTION emogi_pgr.pgr_astar(edges_sql text, start_vid bigint, end_vid bigint, directed boolean DEFAULT true, heuristic int DEFAULT 5,
  factor float8 DEFAULT 1, epsilon float8 DEFAULT 1)
RETURNS TABLE (seq int, path_seq int, node bigint, edge bigint, cost float8, agg_cost float8) LANGUAGE sql STABLE ROWS 100 AS $$
  SELECT p.seq, p.seq, p.vertex, COALESCE(p.edge, -1), p.cost, p.distance
  FROM emogi_shortest_path(edges_sql, start_vid, end_vid, emogi_pgr.direction_of(directed)) p
  WHERE start_vid <> end_vid ORDER BY p.seq
$$;

-- pgr_KSP: the K shortest paths, shortest first, that go through no vertex twice. heap_paths gives no more: the heap of the search is not a result here.

CREATE OR REPLACE FUNCTION emogi_pgr.pgr_ksp(edges_sql text, start_vid bigint, end_vid bigint, k int, directed boolean DEFAULT true, heap_paths boolean DEFAULT false)
RETURNS TABLE (seq int, path_id int, path_seq int, node bigint, edge bigint, cost float8, agg_cost float8) LANGUAGE sql STABLE ROWS 1000 AS $$
  SELECT (row_number() OVER (ORDER BY p.path_id, p.seq))::int, p.path_id, p.seq, p.vertex, COALESCE(p.edge, -1), p.cost, p.distance
  FROM emogi_k_shortest_paths(edges_sql, start_vid, end_vid, k, emogi_pgr.direction_of(directed)) p
  WHERE start_vid <> end_vid ORDER BY p.path_id, p.seq
$$;

-- pgr_drivingDistance: the tree of what is within a distance. cost is of the edge that leads to the vertex. A root has a row though no edge leads from it.

CREATE OR REPLACE FUNCTION emogi_pgr.pgr_drivingdistance(edges_sql text, start_vids anyarray, distance float8, directed boolean DEFAULT true,
  equicost boolean DEFAULT false)
RETURNS TABLE (seq int, from_v bigint, node bigint, edge bigint, cost float8, agg_cost float8) LANGUAGE sql STABLE ROWS 1000 AS $$
  WITH starts AS (SELECT u.v, min(u.n) AS n FROM unnest(start_vids::bigint[]) WITH ORDINALITY u(v, n) WHERE u.v IS NOT NULL GROUP BY u.v),
  tree AS MATERIALIZED (
    SELECT t.source, t.vertex, t.edge, t.predecessor, t.distance AS agg_cost
    FROM emogi_shortest_path_tree(edges_sql, CASE WHEN equicost THEN start_vids::bigint[] ELSE '{}' END, $3, emogi_pgr.direction_of(directed)) t
    UNION ALL
    SELECT s.v, t.vertex, t.edge, t.predecessor, t.distance
    FROM starts s, LATERAL emogi_shortest_path_tree(edges_sql, s.v, $3, emogi_pgr.direction_of(directed)) t WHERE NOT equicost),
  rows AS (
    SELECT t.source, t.vertex, COALESCE(t.edge, -1) AS edge, COALESCE(t.agg_cost - p.agg_cost, 0) AS cost, t.agg_cost
    FROM tree t LEFT JOIN tree p ON p.source = t.source AND p.vertex = t.predecessor
    UNION ALL
    SELECT s.v, s.v, -1, 0, 0 FROM starts s WHERE NOT EXISTS (SELECT FROM tree t WHERE t.source = s.v))
  SELECT (row_number() OVER (ORDER BY s.n, r.agg_cost, r.vertex))::int, r.* FROM rows r JOIN starts s ON s.v = r.source ORDER BY s.n, r.agg_cost, r.vertex
$$;

CREATE OR REPLACE FUNCTION emogi_pgr.pgr_drivingdistance(edges_sql text, start_vid bigint, distance float8, directed boolean DEFAULT true)
RETURNS TABLE (seq int, node bigint, edge bigint, cost float8, agg_cost float8) LANGUAGE sql STABLE ROWS 1000 AS $$
  SELECT d.seq, d.node, d.edge, d.cost, d.agg_cost FROM emogi_pgr.pgr_drivingdistance(edges_sql, ARRAY[start_vid], $3, directed) d ORDER BY d.seq
$$;

-- pgr_dijkstraCost and pgr_dijkstraCostMatrix: the sums alone.

CREATE OR REPLACE FUNCTION emogi_pgr.pgr_dijkstracost(edges_sql text, bigint, bigint, directed boolean DEFAULT true)
RETURNS TABLE (start_vid bigint, end_vid bigint, agg_cost float8) LANGUAGE sql STABLE ROWS 1000 AS $$
  SELECT m.source, m.target, m.distance FROM emogi_distance_matrix(edges_sql, ARRAY[$2], ARRAY[$3], emogi_pgr.direction_of(directed)) m
  WHERE m.source <> m.target ORDER BY m.source, m.target
$$;

CREATE OR REPLACE FUNCTION emogi_pgr.pgr_dijkstracost(edges_sql text, bigint, anyarray, directed boolean DEFAULT true)
RETURNS TABLE (start_vid bigint, end_vid bigint, agg_cost float8) LANGUAGE sql STABLE ROWS 1000 AS $$
  SELECT m.source, m.target, m.distance FROM emogi_distance_matrix(edges_sql, ARRAY[$2], $3::bigint[], emogi_pgr.direction_of(directed)) m
  WHERE m.source <> m.target ORDER BY m.source, m.target
$$;

CREATE OR REPLACE FUNCTION emogi_pgr.pgr_dijkstracost(edges_sql text, anyarray, bigint, directed boolean DEFAULT true)
RETURNS TABLE (start_vid bigint, end_vid bigint, agg_cost float8) LANGUAGE sql STABLE ROWS 1000 AS $$
  SELECT m.source, m.target, m.distance FROM emogi_distance_matrix(edges_sql, $2::bigint[], ARRAY[$3], emogi_pgr.direction_of(directed)) m
  WHERE m.source <> m.target ORDER BY m.source, m.target
$$;

CREATE OR REPLACE FUNCTION emogi_pgr.pgr_dijkstracost(edges_sql text, anyarray, anyarray, directed boolean DEFAULT true)
RETURNS TABLE (start_vid bigint, end_vid bigint, agg_cost float8) LANGUAGE sql STABLE ROWS 1000 AS $$
  SELECT m.source, m.target, m.distance FROM emogi_distance_matrix(edges_sql, $2::bigint[], $3::bigint[], emogi_pgr.direction_of(directed)) m
  WHERE m.source <> m.target ORDER BY m.source, m.target
$$;

CREATE OR REPLACE FUNCTION emogi_pgr.pgr_bddijkstracost(edges_sql text, bigint, bigint, directed boolean DEFAULT true)
RETURNS TABLE (start_vid bigint, end_vid bigint, agg_cost float8) LANGUAGE sql STABLE ROWS 1000 AS $$
  SELECT m.source, m.target, m.distance FROM emogi_distance_matrix(edges_sql, ARRAY[$2], ARRAY[$3], emogi_pgr.direction_of(directed)) m
  WHERE m.source <> m.target ORDER BY m.source, m.target
$$;

CREATE OR REPLACE FUNCTION emogi_pgr.pgr_bddijkstracost(edges_sql text, bigint, anyarray, directed boolean DEFAULT true)
RETURNS TABLE (start_vid bigint, end_vid bigint, agg_cost float8) LANGUAGE sql STABLE ROWS 1000 AS $$
  SELECT m.source, m.target, m.distance FROM emogi_distance_matrix(edges_sql, ARRAY[$2], $3::bigint[], emogi_pgr.direction_of(directed)) m
  WHERE m.source <> m.target ORDER BY m.source, m.target
$$;

CREATE OR REPLACE FUNCTION emogi_pgr.pgr_bddijkstracost(edges_sql text, anyarray, bigint, directed boolean DEFAULT true)
RETURNS TABLE (start_vid bigint, end_vid bigint, agg_cost float8) LANGUAGE sql STABLE ROWS 1000 AS $$
  SELECT m.source, m.target, m.distance FROM emogi_distance_matrix(edges_sql, $2::bigint[], ARRAY[$3], emogi_pgr.direction_of(directed)) m
  WHERE m.source <> m.target ORDER BY m.source, m.target
$$;

CREATE OR REPLACE FUNCTION emogi_pgr.pgr_bddijkstracost(edges_sql text, anyarray, anyarray, directed boolean DEFAULT true)
RETURNS TABLE (start_vid bigint, end_vid bigint, agg_cost float8) LANGUAGE sql STABLE ROWS 1000 AS $$
  SELECT m.source, m.target, m.distance FROM emogi_distance_matrix(edges_sql, $2::bigint[], $3::bigint[], emogi_pgr.direction_of(directed)) m
  WHERE m.source <> m.target ORDER BY m.source, m.target
$$;

CREATE OR REPLACE FUNCTION emogi_pgr.pgr_dijkstracostmatrix(edges_sql text, vids anyarray, directed boolean DEFAULT true)
RETURNS TABLE (start_vid bigint, end_vid bigint, agg_cost float8) LANGUAGE sql STABLE ROWS 1000 AS $$
  SELECT m.source, m.target, m.distance FROM emogi_distance_matrix(edges_sql, vids::bigint[], vids::bigint[], emogi_pgr.direction_of(directed)) m
  WHERE m.source <> m.target ORDER BY m.source, m.target
$$;

CREATE OR REPLACE FUNCTION emogi_pgr.pgr_bddijkstracostmatrix(edges_sql text, vids anyarray, directed boolean DEFAULT true)
RETURNS TABLE (start_vid bigint, end_vid bigint, agg_cost float8) LANGUAGE sql STABLE ROWS 1000 AS $$
  SELECT m.source, m.target, m.distance FROM emogi_distance_matrix(edges_sql, vids::bigint[], vids::bigint[], emogi_pgr.direction_of(directed)) m
  WHERE m.source <> m.target ORDER BY m.source, m.target
$$;

-- Components, bridges, cut vertices, in the numbering that pgRouting has: a component is called by its smallest vertex.

CREATE OR REPLACE FUNCTION emogi_pgr.pgr_connectedcomponents(edges_sql text)
RETURNS TABLE (seq bigint, component bigint, node bigint) LANGUAGE sql STABLE ROWS 1000 AS $$
  SELECT row_number() OVER (ORDER BY c.component, c.vertex), c.component, c.vertex FROM emogi_cc(edges_sql) c ORDER BY c.component, c.vertex
$$;

CREATE OR REPLACE FUNCTION emogi_pgr.pgr_strongcomponents(edges_sql text)
RETURNS TABLE (seq bigint, component bigint, node bigint) LANGUAGE sql STABLE ROWS 1000 AS $$
  SELECT row_number() OVER (ORDER BY c.component, c.vertex), c.component, c.vertex FROM emogi_scc(edges_sql) c ORDER BY c.component, c.vertex
$$;

CREATE OR REPLACE FUNCTION emogi_pgr.pgr_articulationpoints(edges_sql text)
RETURNS TABLE (node bigint) LANGUAGE sql STABLE ROWS 1000 AS $$
  SELECT a.vertex FROM emogi_articulation_points(edges_sql) a ORDER BY a.vertex
$$;
COMMIT;
