-- Functions with the names, arguments and columns of pgRouting 3.4, answered by emogi from graphs that are kept. Optional: run it once in a database that has
-- emogi, in whichever schema that is, and put the schema into the search_path, in front of pgRouting's:
--
--   psql -f examples/pgrouting.sql && psql -c 'SET search_path = emogi_pgr, public' ...
--
-- What is not here is pgRouting's then, if that is installed. The first argument is the query of edges with columns id, source, target, cost and, if there is
-- one, reverse_cost, as ever. Its graph is built once and shared while the tables behind it stand still. A table is better: where edges_sql is the name of a
-- table, or 'roads(a, b, km, km_back, id)', its graph follows what is written. Which call becomes which, and what differs: docs/from-pgrouting.md.
--
-- pgRouting's functions are STRICT: an argument that is NULL means no rows. Those here say so in a condition on the arguments, for PostgreSQL inlines no
-- function that is STRICT or has settings: an inlined path is planned once where the statement is prepared, and with the estimates of its own graph.
BEGIN;
CREATE SCHEMA IF NOT EXISTS emogi_pgr;
GRANT USAGE ON SCHEMA emogi_pgr TO PUBLIC;	-- whoever may not look into it would have pgRouting's functions without a word
COMMENT ON SCHEMA emogi_pgr IS 'pgRouting''s functions, answered by emogi';

-- The bodies below are looked at with emogi's schema in sight. The end of this script puts its name into them.
DO $$
BEGIN
  IF NOT EXISTS (SELECT FROM pg_extension WHERE extname = 'emogi') THEN
    RAISE 'emogi is not installed in this database' USING HINT = 'CREATE EXTENSION emogi;';
  END IF;
  PERFORM set_config('search_path', (SELECT extnamespace::regnamespace::text FROM pg_extension WHERE extname = 'emogi'), true);
END $$;

-- Leave out comments between /* and */ that have none within them.
CREATE OR REPLACE FUNCTION emogi_pgr.without_comments(query text) RETURNS text LANGUAGE sql IMMUTABLE AS
$$ SELECT pg_catalog.regexp_replace(query, '/\*([^*/]|\*(?!/)|/(?!\*))*\*/', ' ', 'g') $$;

-- Is this the text of a query, whatever comments it begins with, one within the other three deep? Else it is a table.
CREATE OR REPLACE FUNCTION emogi_pgr.is_query(edges_sql text) RETURNS boolean LANGUAGE sql IMMUTABLE AS
$$ SELECT emogi_pgr.without_comments(emogi_pgr.without_comments(emogi_pgr.without_comments(edges_sql)))
  OPERATOR(pg_catalog.~*) '^(\s|\(|--[^\n]*\n)*(select|with|values|table)\M' $$;

-- The graph of a query of edges: its columns of these names and no others, whatever else it selects. Without an id the edges have none, -1; without a cost
-- they cost 1 where costs are not asked for. In it a column that q has not is that of `none`, which the text of the query itself does not see. A table is its own.
CREATE OR REPLACE FUNCTION emogi_pgr.graph_of(edges_sql text, costs boolean DEFAULT true) RETURNS text LANGUAGE sql IMMUTABLE AS
$$ SELECT CASE WHEN emogi_pgr.is_query(edges_sql) THEN
  'WITH q AS (' || pg_catalog.rtrim(edges_sql, E'; \n\t\r\f') || E'\n) SELECT e.* FROM (SELECT -1 AS id, -1 AS reverse_cost' ||
  CASE WHEN costs THEN '' ELSE ', 1 AS cost' END || ') AS none, LATERAL (SELECT id::bigint, source, target, cost, reverse_cost FROM q) AS e' ELSE edges_sql END $$;

-- Along the edges as stored, or either way.
CREATE OR REPLACE FUNCTION emogi_pgr.direction_of(directed boolean) RETURNS text LANGUAGE sql IMMUTABLE AS
$$ SELECT CASE WHEN directed THEN 'out' ELSE 'both' END $$;

-- The query of pairs that a query of combinations is.
CREATE OR REPLACE FUNCTION emogi_pgr.pairs_of(combinations_sql text) RETURNS text LANGUAGE sql IMMUTABLE AS
$$ SELECT 'SELECT source::bigint, target::bigint FROM (' || pg_catalog.rtrim(combinations_sql, E'; \n\t\r\f') || E'\n) AS pairs' $$;

-- pgr_dijkstra and pgr_bdDijkstra: one shortest path for each pair. The last row of a path has edge -1 and cost 0. pgr_aStar and pgr_bdAstar: the same paths.
-- Coordinates in edges_sql are not looked at, and a heuristic is not needed.
DO $$
DECLARE
  function record;
  form record;
BEGIN
  FOR function IN SELECT * FROM (VALUES
    ('pgr_dijkstra', '', ''),
    ('pgr_bddijkstra', '', ''),
    ('pgr_astar', ', heuristic int DEFAULT 5, factor float8 DEFAULT 1, epsilon float8 DEFAULT 1', ', heuristic, factor, epsilon'),
    ('pgr_bdastar', ', heuristic int DEFAULT 5, factor numeric DEFAULT 1, epsilon numeric DEFAULT 1', ', heuristic, factor, epsilon')) f(name, arguments, given) LOOP
    EXECUTE format('CREATE OR REPLACE FUNCTION emogi_pgr.%I(edges_sql text, start_vid bigint, end_vid bigint, directed boolean DEFAULT true%s)
RETURNS TABLE (seq int, path_seq int, node bigint, edge bigint, cost float8, agg_cost float8) LANGUAGE sql STABLE ROWS 100 AS
$body$
  SELECT p.seq, p.seq, p.vertex, COALESCE(p.edge, -1), p.cost, p.distance
  FROM emogi_shortest_path(emogi_pgr.graph_of(edges_sql), start_vid, end_vid, emogi_pgr.direction_of(directed)) p
  WHERE start_vid <> end_vid AND (edges_sql, directed%s) IS NOT NULL ORDER BY p.seq
$body$', function.name, function.arguments, function.given);
    FOR form IN SELECT * FROM (VALUES
      ('bigint, anyarray', 'end_vid bigint', 'p.target', 'ARRAY[$2], $3::bigint[]'),
      ('anyarray, bigint', 'start_vid bigint', 'p.source', '$2::bigint[], ARRAY[$3]'),
      ('anyarray, anyarray', 'start_vid bigint, end_vid bigint', 'p.source, p.target', '$2::bigint[], $3::bigint[]'),
      ('combinations_sql text', 'start_vid bigint, end_vid bigint', 'p.source, p.target', 'pairs => emogi_pgr.pairs_of($2)')) f(arguments, columns, ends, vertices) LOOP
      EXECUTE format('CREATE OR REPLACE FUNCTION emogi_pgr.%I(edges_sql text, %s, directed boolean DEFAULT true%s)
RETURNS TABLE (seq int, path_seq int, %s, node bigint, edge bigint, cost float8, agg_cost float8) LANGUAGE sql STABLE ROWS 1000 AS
$body$
  SELECT (row_number() OVER (ORDER BY %5$s, p.seq))::int, p.seq, %5$s, p.vertex, COALESCE(p.edge, -1), p.cost, p.distance
  FROM emogi_shortest_paths(emogi_pgr.graph_of(edges_sql), %s, direction => emogi_pgr.direction_of(directed)) p
  WHERE p.source <> p.target AND (edges_sql, $2, directed%s) IS NOT NULL ORDER BY %5$s, p.seq
$body$', function.name, form.arguments, function.arguments, form.columns, form.ends, form.vertices, function.given);
    END LOOP;
  END LOOP;
END $$;

-- pgr_dijkstraCost, pgr_dijkstraCostMatrix and their like: the sums alone.
DO $$
DECLARE
  function record;
  form record;
BEGIN
  FOR function IN SELECT * FROM (VALUES
    ('pgr_dijkstracost', '', ''),
    ('pgr_bddijkstracost', '', ''),
    ('pgr_astarcost', ', heuristic int DEFAULT 5, factor float8 DEFAULT 1, epsilon float8 DEFAULT 1', ', heuristic, factor, epsilon'),
    ('pgr_bdastarcost', ', heuristic int DEFAULT 5, factor numeric DEFAULT 1, epsilon numeric DEFAULT 1', ', heuristic, factor, epsilon')) f(name, arguments, given) LOOP
    FOR form IN SELECT * FROM (VALUES
      ('', 'bigint, bigint', 'ARRAY[$2], ARRAY[$3]'),
      ('', 'bigint, anyarray', 'ARRAY[$2], $3::bigint[]'),
      ('', 'anyarray, bigint', '$2::bigint[], ARRAY[$3]'),
      ('', 'anyarray, anyarray', '$2::bigint[], $3::bigint[]'),
      ('matrix', 'vids anyarray', '$2::bigint[], $2::bigint[]')) f(suffix, arguments, vertices) LOOP
      EXECUTE format('CREATE OR REPLACE FUNCTION emogi_pgr.%I(edges_sql text, %s, directed boolean DEFAULT true%s)
RETURNS TABLE (start_vid bigint, end_vid bigint, agg_cost float8) LANGUAGE sql STABLE ROWS 1000 AS
$body$
  SELECT m.source, m.target, m.distance FROM emogi_distance_matrix(emogi_pgr.graph_of(edges_sql), %s, emogi_pgr.direction_of(directed)) m
  WHERE m.source <> m.target AND (edges_sql, directed%s) IS NOT NULL ORDER BY m.source, m.target
$body$', function.name || form.suffix, form.arguments, function.arguments, form.vertices, function.given);
    END LOOP;
    EXECUTE format('CREATE OR REPLACE FUNCTION emogi_pgr.%I(edges_sql text, combinations_sql text, directed boolean DEFAULT true%s)
RETURNS TABLE (start_vid bigint, end_vid bigint, agg_cost float8) LANGUAGE sql STABLE ROWS 1000 AS
$body$
  SELECT p.source, p.target, max(p.distance)
  FROM emogi_shortest_paths(emogi_pgr.graph_of(edges_sql), pairs => emogi_pgr.pairs_of($2), direction => emogi_pgr.direction_of(directed)) p
  WHERE p.source <> p.target AND (edges_sql, $2, directed%s) IS NOT NULL GROUP BY p.source, p.target ORDER BY p.source, p.target
$body$', function.name, function.arguments, function.given);
  END LOOP;
END $$;

-- pgr_KSP: the K shortest paths, shortest first, that go through no vertex twice. heap_paths gives no more: the heap of the search is not a result here.
CREATE OR REPLACE FUNCTION emogi_pgr.pgr_ksp(edges_sql text, start_vid bigint, end_vid bigint, k int, directed boolean DEFAULT true, heap_paths boolean DEFAULT false)
RETURNS TABLE (seq int, path_id int, path_seq int, node bigint, edge bigint, cost float8, agg_cost float8) LANGUAGE sql STABLE ROWS 1000 AS $$
  SELECT (row_number() OVER (ORDER BY p.path_id, p.seq))::int, p.path_id, p.seq, p.vertex, COALESCE(p.edge, -1), p.cost, p.distance
  FROM emogi_k_shortest_paths(emogi_pgr.graph_of(edges_sql), start_vid, end_vid, greatest(k, 1), emogi_pgr.direction_of(directed)) p
  WHERE start_vid <> end_vid AND k > 0 AND (edges_sql, directed, heap_paths) IS NOT NULL ORDER BY p.path_id, p.seq
$$;

-- pgr_drivingDistance: the tree of what is within a distance. cost is of the edge that leads to the vertex. A root has a row though no edge leads from it, and
-- one that is given twice has all its rows twice, with equicost its own. It is joined with itself, which PostgreSQL takes for so much work, where a graph is
-- large and the distance small, that it compiles the query (jit) for longer than it runs. So this one is no inlined function; PL/pgSQL keeps its plan.
CREATE OR REPLACE FUNCTION emogi_pgr.pgr_drivingdistance(edges_sql text, start_vids anyarray, distance float8, directed boolean DEFAULT true,
  equicost boolean DEFAULT false)
RETURNS TABLE (seq int, from_v bigint, node bigint, edge bigint, cost float8, agg_cost float8) LANGUAGE plpgsql STABLE STRICT ROWS 1000 SET jit = off AS $$
#variable_conflict use_column
BEGIN
  IF distance >= 0 AND distance <> 'NaN' THEN
    RETURN QUERY
    WITH starts AS (SELECT u.v, u.n, row_number() OVER (PARTITION BY u.v ORDER BY u.n) AS turn FROM unnest(start_vids::bigint[]) WITH ORDINALITY u(v, n) WHERE u.v IS NOT NULL),
    tree AS MATERIALIZED (
      SELECT t.source, t.vertex, t.edge, t.predecessor, t.distance AS agg_cost
      FROM emogi_shortest_path_tree(emogi_pgr.graph_of(edges_sql), start_vids::bigint[], $3, emogi_pgr.direction_of(directed)) t WHERE equicost
      UNION ALL
      SELECT s.v, t.vertex, t.edge, t.predecessor, t.distance
      FROM starts s, LATERAL emogi_shortest_path_tree(emogi_pgr.graph_of(edges_sql), s.v, $3, emogi_pgr.direction_of(directed)) t WHERE s.turn = 1 AND NOT equicost),
    rows AS (
      SELECT t.source, t.vertex, COALESCE(t.edge, -1) AS edge, COALESCE(t.agg_cost - p.agg_cost, 0) AS cost, t.agg_cost
      FROM tree t LEFT JOIN tree p ON p.source = t.source AND p.vertex = t.predecessor
      UNION ALL
      SELECT s.v, s.v, -1, 0, 0 FROM starts s WHERE s.turn = 1 AND NOT EXISTS (SELECT FROM tree t WHERE t.source = s.v))
    SELECT (row_number() OVER (ORDER BY s.n, r.agg_cost, r.vertex))::int, r.*
    FROM rows r JOIN starts s ON s.v = r.source AND (s.turn = 1 OR NOT equicost OR r.vertex = s.v) ORDER BY s.n, r.agg_cost, r.vertex;
  END IF;
END $$;

CREATE OR REPLACE FUNCTION emogi_pgr.pgr_drivingdistance(edges_sql text, start_vid bigint, distance float8, directed boolean DEFAULT true)
RETURNS TABLE (seq int, node bigint, edge bigint, cost float8, agg_cost float8) LANGUAGE sql STABLE ROWS 1000 AS $$
  SELECT d.seq, d.node, d.edge, d.cost, d.agg_cost FROM emogi_pgr.pgr_drivingdistance(edges_sql, ARRAY[start_vid], $3, directed) d
  WHERE start_vid IS NOT NULL ORDER BY d.seq
$$;

-- Components, and cut vertices, in the numbering that pgRouting has: a component is called by its smallest vertex.

CREATE OR REPLACE FUNCTION emogi_pgr.pgr_connectedcomponents(edges_sql text)
RETURNS TABLE (seq bigint, component bigint, node bigint) LANGUAGE sql STABLE ROWS 1000 AS $$
  SELECT row_number() OVER (ORDER BY c.component, c.vertex), c.component, c.vertex FROM emogi_cc(emogi_pgr.graph_of(edges_sql, false)) c
  WHERE edges_sql IS NOT NULL ORDER BY c.component, c.vertex
$$;

CREATE OR REPLACE FUNCTION emogi_pgr.pgr_strongcomponents(edges_sql text)
RETURNS TABLE (seq bigint, component bigint, node bigint) LANGUAGE sql STABLE ROWS 1000 AS $$
  SELECT row_number() OVER (ORDER BY c.component, c.vertex), c.component, c.vertex FROM emogi_scc(emogi_pgr.graph_of(edges_sql, false)) c
  WHERE edges_sql IS NOT NULL ORDER BY c.component, c.vertex
$$;

CREATE OR REPLACE FUNCTION emogi_pgr.pgr_articulationpoints(edges_sql text)
RETURNS TABLE (node bigint) LANGUAGE sql STABLE ROWS 1000 AS $$
  SELECT a.vertex FROM emogi_articulation_points(emogi_pgr.graph_of(edges_sql, false)) a WHERE edges_sql IS NOT NULL ORDER BY a.vertex
$$;

-- An order in which all edges lead forward. Where there are several it need not be pgRouting's.
CREATE OR REPLACE FUNCTION emogi_pgr.pgr_topologicalsort(edges_sql text)
RETURNS TABLE (seq int, sorted_v bigint) LANGUAGE sql STABLE ROWS 1000 AS $$
  SELECT (o.position + 1)::int, o.vertex FROM emogi_topological_order(emogi_pgr.graph_of(edges_sql, false)) o WHERE edges_sql IS NOT NULL ORDER BY o.position
$$;

-- What answers with edges. A row is one edge here, whichever way it leads, and be it both: the query of such edges, each with its lower cost. In it the columns
-- id and reverse_cost are those of edges_sql, or where there are none the ones beside.
CREATE OR REPLACE FUNCTION emogi_pgr.edges_of(edges_sql text) RETURNS text LANGUAGE plpgsql IMMUTABLE STRICT SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  named CONSTANT text[] := regexp_match(edges_sql, '^((?:"[^"]*"|[^("])+)\(((?:"[^"]*"|[^()"])+)\)\s*$');
  columns CONSTANT text[] := ARRAY(SELECT btrim(m[1]) FROM regexp_matches(named[2], '((?:"[^"]*"|[^,"])+)', 'g') m);
  has_reverse CONSTANT boolean := cardinality(columns) = 5 OR columns[4] ~ '^"?reverse_cost"?\s*$';
BEGIN
  RETURN format('WITH q AS (%s' || E'\n) SELECT e.id, e.source, e.target, least(CASE WHEN e.cost >= 0 THEN e.cost END, CASE WHEN e.reverse_cost >= 0 THEN e.reverse_cost END) AS cost '
    'FROM (SELECT -1 AS id, -1 AS reverse_cost) AS none, LATERAL (SELECT id, source, target, cost::float8, reverse_cost::float8 FROM q) AS e '
    'WHERE e.cost >= 0 OR e.reverse_cost >= 0', CASE
      WHEN emogi_pgr.is_query(edges_sql) THEN rtrim(edges_sql, E'; \n\t\r\f')
      WHEN named IS NULL THEN 'TABLE ' || edges_sql
      ELSE format('SELECT %s AS id, %s AS source, %s AS target, %s AS cost, %s AS reverse_cost FROM %s',
        CASE WHEN cardinality(columns) = 5 THEN columns[5] WHEN has_reverse THEN '-1' ELSE coalesce(columns[4], '-1') END,
        columns[1], columns[2], coalesce(columns[3], '1'), CASE WHEN has_reverse THEN columns[4] ELSE '-1' END, named[1]) END);
END $$;

CREATE OR REPLACE FUNCTION emogi_pgr.pgr_bridges(edges_sql text) RETURNS TABLE (edge bigint) LANGUAGE plpgsql STABLE STRICT ROWS 1000 SET jit = off AS $$
DECLARE
  emogi CONSTANT text := (SELECT extnamespace::pg_catalog.regnamespace FROM pg_catalog.pg_extension WHERE extname OPERATOR(pg_catalog.=) 'emogi');
  edges CONSTANT text := emogi_pgr.edges_of(edges_sql);
BEGIN
  RETURN QUERY EXECUTE pg_catalog.format('SELECT e.id::bigint FROM %s.emogi_bridges(%L) b JOIN (%s) e ON b.src = least(e.source, e.target) AND b.dst = greatest(e.source, e.target) ORDER BY 1',
    emogi, pg_catalog.format('SELECT source, target FROM (%s) AS edges', edges), edges);
END $$;

-- A component is called by its smallest edge.
CREATE OR REPLACE FUNCTION emogi_pgr.pgr_biconnectedcomponents(edges_sql text) RETURNS TABLE (seq bigint, component bigint, edge bigint)
LANGUAGE plpgsql STABLE STRICT ROWS 1000 SET jit = off AS $$
DECLARE
  emogi CONSTANT text := (SELECT extnamespace::pg_catalog.regnamespace FROM pg_catalog.pg_extension WHERE extname OPERATOR(pg_catalog.=) 'emogi');
  edges CONSTANT text := emogi_pgr.edges_of(edges_sql);
BEGIN
  RETURN QUERY EXECUTE pg_catalog.format('WITH members AS MATERIALIZED (SELECT component, vertex FROM %s.emogi_biconnected(%L)),
    found AS (SELECT min(e.id) OVER (PARTITION BY s.component) AS component, e.id
      FROM (%s) e JOIN members s ON s.vertex = e.source JOIN members t ON t.vertex = e.target AND t.component = s.component WHERE e.source <> e.target)
    SELECT row_number() OVER (ORDER BY f.component, f.id), f.component::bigint, f.id::bigint FROM found f ORDER BY f.component, f.id',
    emogi, pg_catalog.format('SELECT source, target FROM (%s) AS edges', edges), edges);
END $$;

-- Of edges that cost the same it may take others than pgRouting.
CREATE OR REPLACE FUNCTION emogi_pgr.pgr_kruskal(edges_sql text) RETURNS TABLE (edge bigint, cost float8) LANGUAGE plpgsql STABLE STRICT ROWS 1000 SET jit = off AS $$
DECLARE
  emogi CONSTANT text := (SELECT extnamespace::pg_catalog.regnamespace FROM pg_catalog.pg_extension WHERE extname OPERATOR(pg_catalog.=) 'emogi');
  edges CONSTANT text := emogi_pgr.edges_of(edges_sql);
BEGIN
  RETURN QUERY EXECUTE pg_catalog.format('SELECT f.id, f.cost FROM (SELECT DISTINCT ON (t.src, t.dst) e.id::bigint AS id, e.cost FROM %s.emogi_spanning_forest(%L) t
      JOIN (%s) e ON t.src = least(e.source, e.target) AND t.dst = greatest(e.source, e.target) ORDER BY t.src, t.dst, e.cost, e.id) f ORDER BY f.cost, f.id',
    emogi, pg_catalog.format('SELECT source, target, cost FROM (%s) AS edges', edges), edges);
END $$;

-- From here on the functions find emogi's by the schema that it is in, whatever the search_path.
DO $$
DECLARE
  definition text;
BEGIN
  FOR definition IN SELECT pg_get_functiondef(oid) FROM pg_proc WHERE pronamespace = 'emogi_pgr'::regnamespace AND prosrc ~ '(FROM|LATERAL) emogi_' LOOP
    EXECUTE regexp_replace(definition, '(FROM|LATERAL) (emogi_)(?!pgr)', '\1 ' || (SELECT replace(extnamespace::regnamespace::text, '\', '\\') FROM pg_extension WHERE extname = 'emogi') || '.\2', 'g');
  END LOOP;
END $$;
COMMIT;
