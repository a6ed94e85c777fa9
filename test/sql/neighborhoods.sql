-- Calls whose answer depends only on edges near given vertices collect these through indexes of
-- their table, if the graph would be private. Answers are those of the whole graph and of recursive
-- queries.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS emogi;
DROP ROLE IF EXISTS regress_emogi_near_tenant;
RESET client_min_messages;
CREATE ROLE regress_emogi_near_tenant;
CREATE SCHEMA test_neighborhoods;
GRANT USAGE ON SCHEMA test_neighborhoods TO PUBLIC;
SET search_path = test_neighborhoods, public;
SET emogi.engine = 'auto';
SET emogi.incremental_min_size = '1GB';
\pset format unaligned
\pset tuples_only on
\pset null (null)
SELECT emogi_evict() IS NOT NULL;

-- The source of the last call's graph.
CREATE FUNCTION last() RETURNS text LANGUAGE sql VOLATILE AS
  $$ SELECT concat_ws(' ', status, cache, engine) FROM public.emogi_runs WHERE pid = pg_backend_pid() ORDER BY id DESC LIMIT 1 $$;
CREATE FUNCTION last_cache() RETURNS text LANGUAGE sql VOLATILE AS
  $$ SELECT cache FROM public.emogi_runs WHERE pid = pg_backend_pid() ORDER BY id DESC LIMIT 1 $$;
-- A condition with a value that no call has had before.
CREATE SEQUENCE asked;
CREATE FUNCTION varying() RETURNS text LANGUAGE sql VOLATILE AS
  $$ SELECT format('at > now() - interval ''%s seconds''', 1000000 + nextval('asked')) $$;
-- All rows of a query, in order.
CREATE FUNCTION rows_of(query text) RETURNS text LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  rows text;
BEGIN
  EXECUTE format('SELECT string_agg(q::text, '' '' ORDER BY q::text) FROM (%s) q', query) INTO rows;
  RETURN coalesce(rows, 'none');
END $$;
-- The rows of a query over a function, with %L for its graph, by index and with a graph of all
-- edges: 'right by index', or what is wrong.
CREATE FUNCTION answer(query text, edges text) RETURNS text LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  graph text := format('%s AND %s', edges, varying());
  rows text;
  cache text;
  built text;
BEGIN
  rows := rows_of(format(query, graph));
  cache := last_cache();
  PERFORM set_config('emogi.enable_index_search', 'off', true);
  built := rows_of(format(query, graph));
  PERFORM set_config('emogi.enable_index_search', 'on', true);
  RETURN CASE WHEN rows = built THEN 'right' ELSE format('WRONG: %s: %s, built: %s', format(query, graph), rows, built) END || ' by ' || coalesce(cache, 'none');
END $$;

CREATE TABLE e (gone int, src int, dst bigint, kind text, at timestamptz DEFAULT now(), tenant int DEFAULT 0, km float8 DEFAULT 1, id int GENERATED ALWAYS AS IDENTITY);
ALTER TABLE e DROP COLUMN gone;
SELECT setseed(0.5);
INSERT INTO e (src, dst, kind, at, tenant)
  SELECT random() * 80, random() * 80, (ARRAY['x', 'y', 'z', NULL])[1 + (random() * 3)::int], now() - random() * interval '20 days', nullif((random() * 3)::int, 3)
  FROM generate_series(1, 400);
INSERT INTO e (src, dst, kind) VALUES (1, NULL, 'x'), (NULL, 1, 'x'), (1, 1, 'x'), (1, 1, 'x'), (200, 201, 'w'), (201, 202, 'w'), (202, 200, 'w'), (200, 203, 'w'), (203, 202, 'w'), (204, 200, 'w');
CREATE INDEX e_src ON e (src);
CREATE INDEX e_dst ON e (dst);
ANALYZE e;

-- Results of each function, and the method.
CREATE FUNCTION w() RETURNS text LANGUAGE sql VOLATILE AS $$ SELECT 'SELECT src, dst FROM e WHERE kind = ''w'' AND ' || varying() $$;
SELECT * FROM emogi_cycles(w(), 200, 4);
SELECT last();
SELECT vertices, edges FROM emogi_runs WHERE pid = pg_backend_pid() ORDER BY id DESC LIMIT 1;
SELECT * FROM emogi_shortest_path(w(), 204, 202);
SELECT last();
SELECT vertex, level, path FROM (SELECT vertex, level, predecessor::text AS path FROM emogi_bfs_tree(w(), 200, max_depth => 2)) q ORDER BY vertex;
SELECT last();
SELECT * FROM emogi_degree(w()) WHERE vertex = 200;
SELECT last();
SELECT * FROM emogi_bfs(w(), 200) ORDER BY vertex;
SELECT last();
SELECT s, vertex, level FROM generate_series(200, 204) s, LATERAL emogi_bfs('SELECT src, dst FROM e WHERE kind = ''w'' AND at > now() - interval ''17 days''', s, max_depth => 1) ORDER BY 1, 2;
SELECT last();
SELECT * FROM emogi_all_shortest_paths(w(), 200, 202) ORDER BY 1, 2;
SELECT last();
SELECT source, target, seq, vertex FROM emogi_shortest_paths(w(), ARRAY[200, 204], ARRAY[202, 203]) ORDER BY 1, 2, 3;
SELECT last();
SELECT vertex, distance FROM emogi_sssp(w(), 200, max_distance => 1.5) ORDER BY vertex;
SELECT last();
-- With edge ids.
SELECT vertex, edge IN (SELECT id FROM e WHERE src = vertex) FROM emogi_cycles('SELECT id, src, dst FROM e WHERE kind = ''w'' AND ' || varying(), 201, 3) WHERE edge IS NOT NULL;
SELECT seq, p.vertex, e.src, e.dst FROM emogi_shortest_path((SELECT 'SELECT id, src, dst FROM e WHERE kind = ''w'' AND ' || varying()), 204, 202) p LEFT JOIN e ON id::text = edge::text ORDER BY seq;
SELECT last();
-- Weights are not collected; a search without a limit by weight reads everything.
SELECT * FROM emogi_shortest_path('SELECT src, dst, km FROM e WHERE kind = ''w'' AND ' || varying(), 204, 202);
SELECT last();
SELECT count(*) FROM emogi_cycles('SELECT src, dst, km FROM e WHERE kind = ''w'' AND ' || varying(), 200, 4);
SELECT last();
SELECT vertex, level FROM emogi_bfs('SELECT src, dst, km FROM e WHERE kind = ''w'' AND ' || varying(), 200, 1) ORDER BY 1;
SELECT last();
SELECT count(*) > 0 FROM emogi_k_shortest_paths(w(), 204, 202, 2);
SELECT last();
-- Vertices that are not in the graph, or have edges in one direction only.
SET emogi.notice_missing_source = on;
SELECT * FROM emogi_bfs_tree(w(), 999, max_depth => 2);
SELECT * FROM emogi_shortest_path(w(), 999, 200);
SELECT * FROM emogi_shortest_path(w(), 200, 999);
SELECT * FROM emogi_shortest_path(w(), 200, 204);
SELECT * FROM emogi_shortest_path(w(), 204, 204);
SELECT * FROM emogi_cycles(w(), 999);
SELECT * FROM emogi_cycles(w(), 204);
SELECT vertex, level FROM emogi_bfs_tree(w(), 204, max_depth => 3, direction => 'in');
SELECT * FROM emogi_degree(w(), direction => 'in') WHERE vertex IN (204, 999);
RESET emogi.notice_missing_source;

-- EXPLAIN.
CREATE FUNCTION graph_of(query text, options text DEFAULT 'COSTS OFF') RETURNS text LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  line text;
BEGIN
  FOR line IN EXECUTE format('EXPLAIN (%s) %s', options, query) LOOP
    IF line LIKE '%Graph: %' THEN
      RETURN substr(line, strpos(line, 'Graph: ') + 7);
    END IF;
  END LOOP;
END $$;
SELECT graph_of(format('SELECT * FROM emogi_bfs_tree(%L, 200, max_depth => 2)', w()));
SELECT graph_of(format('SELECT * FROM emogi_bfs_tree(%L, 200)', w()));
SELECT graph_of(format('SELECT * FROM emogi_bfs(%L, 200)', w()));
SELECT graph_of(format('SELECT * FROM emogi_bfs(%L, 200)', 'e WHERE kind = ''w'''));
SELECT graph_of(format('SELECT * FROM emogi_shortest_path(%L, 200, 202, ''both'')', w()));
SELECT graph_of(format('SELECT * FROM emogi_shortest_path(%L, 200, 202)', replace(w(), 'dst', 'dst, km')));
SELECT graph_of(format('SELECT * FROM emogi_degree(%L) WHERE vertex = 200', w()));
SELECT graph_of(format('SELECT * FROM emogi_degree(%L)', w()));
SELECT graph_of(format('SELECT * FROM generate_series(1, 9) s, LATERAL emogi_bfs(%L, s, max_depth => 1)', w()));
SELECT graph_of(format('SELECT * FROM emogi_bfs_tree(%L, 200, max_depth => 2)', w()), 'ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF');
SELECT cache, vertices, edges FROM emogi_runs WHERE pid = pg_backend_pid() ORDER BY id DESC LIMIT 1;

-- The functions answered by this method.
CREATE TABLE answered (query int PRIMARY KEY);
-- Every function from random vertices, in all directions, with random conditions, compared with the
-- graph of all edges.
CREATE FUNCTION compare(relation text, vertex text, times int, suffix text DEFAULT '', OUT wrong text, OUT by_index int) LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  queries text[] := ARRAY[
    'SELECT * FROM emogi_cycles(%%L, %1$s, %3$s, 100000, %4$L)',
    'SELECT * FROM emogi_shortest_path(%%L, %1$s, %2$s, %4$L)',
    'SELECT * FROM emogi_all_shortest_paths(%%L, %1$s, %2$s, 100000, %4$L)',
    'SELECT * FROM emogi_shortest_paths(%%L, ARRAY[%1$s, %2$s], ARRAY[%2$s, %1$s, %5$s], %4$L)',
    'SELECT * FROM emogi_bfs_tree(%%L, ARRAY[%1$s, %2$s], max_depth => %3$s - 1, direction => %4$L)',
    'SELECT * FROM emogi_bfs_tree(%%L, %1$s, direction => %4$L)',
    'SELECT * FROM emogi_bfs(%%L, ARRAY[%1$s, %5$s], direction => %4$L)',
    'SELECT * FROM emogi_sssp(%%L, %1$s, max_distance => %3$s - 0.5, direction => %4$L)',
    'SELECT * FROM emogi_shortest_path_tree(%%L, %1$s, max_distance => %3$s, direction => %4$L)',
    'SELECT * FROM emogi_k_shortest_paths(%%L, %1$s, %2$s, %3$s, %4$L)',
    'SELECT * FROM emogi_distance_matrix(%%L, ARRAY[%1$s, %2$s], ARRAY[%2$s, %1$s, %5$s], %4$L)',
    'SELECT * FROM emogi_degree%6$s(%%L, %4$L) WHERE vertex = %1$s',
    'SELECT s, q.* FROM unnest(ARRAY[%1$s, %2$s, %5$s, %1$s]) s, LATERAL emogi_bfs(%%L, s, max_depth => %3$s - 1, direction => %4$L) q',
    'SELECT s, count(*), max(level) FROM unnest(ARRAY[%1$s, %2$s, %5$s, %1$s]) s, LATERAL emogi_bfs(%%L, s, direction => %4$L) q WHERE level < %3$s GROUP BY s',
    'SELECT * FROM emogi_cc%6$s(%%L) WHERE vertex IN (%1$s, %2$s)',
    'SELECT * FROM emogi_cc%6$s(%%L) WHERE component = %1$s',
    'SELECT component, count(*) FROM emogi_cc%6$s(%%L) WHERE component IN (%1$s, %2$s) GROUP BY component',
    'SELECT * FROM emogi_scc%6$s(%%L) WHERE vertex IN (%1$s, %2$s)',
    'SELECT * FROM emogi_core%6$s(%%L) WHERE vertex = %1$s',
    'SELECT * FROM emogi_articulation_points%6$s(%%L) WHERE vertex IN (%1$s, %2$s)',
    'SELECT * FROM emogi_triangles%6$s(%%L) WHERE vertex = %1$s',
    'SELECT * FROM emogi_lcc%6$s(%%L, %4$L) WHERE vertex IN (%1$s, %2$s)',
    'SELECT * FROM emogi_similarity%6$s(%%L, direction => %4$L) WHERE vertex1 = %1$s',
    'SELECT * FROM emogi_similarity%6$s(%%L, ''cosine'', %3$s, 0.2, direction => %4$L) WHERE vertex1 IN (%1$s, %5$s)',
    'SELECT * FROM emogi_similarity%6$s(%%L, pairs => %7$L, direction => %4$L)',
    'SELECT * FROM emogi_reachable%6$s(%%L, %7$L, %4$L)',
    'SELECT * FROM emogi_shortest_paths%6$s(%%L, %7$L, %4$L)',
    'SELECT * FROM emogi_sssp(%%L, %1$s, direction => %4$L) WHERE vertex IN (%2$s, %5$s)',
    'SELECT * FROM emogi_bfs_tree(%%L, ARRAY[%1$s, %5$s], direction => %4$L) WHERE vertex = %2$s',
    'SELECT * FROM emogi_shortest_path_tree(%%L, ARRAY[%1$s, %5$s], direction => %4$L) WHERE vertex = %2$s'];
  conditions text[] := ARRAY['true', 'kind = ''x''', 'kind <> ''x''', 'kind IS NULL', 'tenant = 1', 'at > now() - interval ''5 days''', 'tenant IS DISTINCT FROM 2'];
  said text;
  a text;
  b text;
  c text;
BEGIN
  wrong := '';
  by_index := 0;
  FOR i IN 1 .. times LOOP
    a := format(vertex, (random() * 85)::int);
    b := format(vertex, (random() * 85)::int);
    c := format(vertex, (random() * 85)::int);
    said := answer(format(queries[1 + i % array_length(queries, 1)], a, b, 1 + (random() * 3)::int, (ARRAY['out', 'in', 'both'])[1 + (random() * 2)::int], c, suffix,
        format('VALUES (%1$s, %2$s), (%2$s, %3$s), (%1$s, %3$s), (%3$s, %3$s), (NULL, %1$s), (%1$s, %2$s)', a, b, c)),
      format(relation, conditions[1 + (random() * 6)::int]));
    by_index := by_index + (said LIKE '%by index')::int;
    IF said LIKE '%by index' THEN
      INSERT INTO answered VALUES (1 + i % array_length(queries, 1)) ON CONFLICT DO NOTHING;
    END IF;
    IF said LIKE 'WRONG%' THEN
      wrong := said;
      RETURN;
    END IF;
  END LOOP;
END $$;
SELECT answer('SELECT * FROM emogi_degree(%L, ''both'') WHERE vertex = 1', 'SELECT src, dst FROM e WHERE kind = ''x''');
-- A loop occurs once in an undirected list.
INSERT INTO e (src, dst, kind) VALUES (300, 300, 'v'), (300, 300, 'v'), (300, 301, 'v');
SELECT answer('SELECT * FROM emogi_lcc(%L, ''both'') WHERE vertex = 300', 'SELECT src, dst FROM e WHERE kind = ''v''');
SELECT cache, edges FROM emogi_runs WHERE pid = pg_backend_pid() ORDER BY id DESC LIMIT 1 OFFSET 1;
DELETE FROM e WHERE kind = 'v';
SELECT wrong, by_index > 300 FROM compare('SELECT src, dst FROM e WHERE %s', '%s::bigint', 390);
SELECT count(*) FROM answered;
-- Like the graph of the other direction, and with an index for each.
SELECT wrong, by_index > 90 FROM compare('SELECT dst, src FROM e WHERE %s', '%s::bigint', 120);
-- In a transaction that has changed the table, before and after a rollback to a savepoint.
BEGIN;
INSERT INTO e (src, dst, kind) SELECT random() * 80, random() * 80, 'x' FROM generate_series(1, 40);
DELETE FROM e WHERE src % 7 = 3;
SELECT wrong, by_index > 90 FROM compare('SELECT src, dst FROM e WHERE %s', '%s::bigint', 120);
SAVEPOINT s;
UPDATE e SET dst = dst + 1 WHERE dst % 5 = 0;
SELECT wrong, by_index > 40 FROM compare('SELECT src, dst FROM e WHERE %s', '%s::bigint', 60);
ROLLBACK TO s;
SELECT wrong, by_index > 40 FROM compare('SELECT src, dst FROM e WHERE %s', '%s::bigint', 60);
COMMIT;
DELETE FROM e WHERE src % 7 = 4;
SELECT wrong, by_index > 40 FROM compare('SELECT src, dst FROM e WHERE %s', '%s::bigint', 60);
-- With a prefix of conditions, and with partial indexes.
CREATE INDEX e_tenant_src ON e (tenant, src);
CREATE INDEX e_part_dst ON e (dst) WHERE kind = 'x';
SELECT wrong, by_index > 40 FROM compare('SELECT src, dst FROM e WHERE %s', '%s::bigint', 60);
DROP INDEX e_tenant_src, e_part_dst;
-- Without the index on one endpoint: cycles and paths are searched from one side.
DROP INDEX e_dst;
SELECT * FROM answer('SELECT * FROM emogi_cycles(%L, 1, 3)', 'SELECT src, dst FROM e WHERE true');
SELECT * FROM answer('SELECT * FROM emogi_shortest_path(%L, 1, 30)', 'SELECT src, dst FROM e WHERE true');
SELECT graph_of(format('SELECT * FROM emogi_shortest_path(%L, 200, 202)', w()));
SELECT wrong FROM compare('SELECT src, dst FROM e WHERE %s', '%s::bigint', 120);
CREATE INDEX e_dst ON e (dst);
DROP INDEX e_src;
SELECT * FROM answer('SELECT * FROM emogi_cycles(%L, 1, 3)', 'SELECT src, dst FROM e WHERE true');
SELECT * FROM answer('SELECT * FROM emogi_shortest_path(%L, 1, 30)', 'SELECT src, dst FROM e WHERE true');
SELECT * FROM answer('SELECT * FROM emogi_shortest_path(%L, 1, 30, ''both'')', 'SELECT src, dst FROM e WHERE true');
SELECT graph_of(format('SELECT * FROM emogi_shortest_path(%L, 200, 202)', w()));
SELECT wrong FROM compare('SELECT src, dst FROM e WHERE %s', '%s::bigint', 120);
CREATE INDEX e_src ON e (src);

-- Weights: a build rejects those that are not lengths, so they are collected if constraints or
-- conditions exclude such weights.
CREATE UNLOGGED TABLE weighted AS
  SELECT src, dst, kind, at, tenant, (ARRAY[0, 0.5, 1, 1, 2, 0.1, 0.2, 0.3, 1e300, '-0'])[1 + (random() * 9)::int]::float8 AS km, (random() * 3)::int AS hops, (random() * 2)::numeric(10, 2) AS fee
  FROM e, generate_series(1, 2) WHERE src IS NOT NULL AND dst IS NOT NULL;
CREATE INDEX weighted_src ON weighted (src);
CREATE INDEX weighted_dst ON weighted (dst);
ANALYZE weighted;
CREATE FUNCTION near(weight text, condition text DEFAULT 'true') RETURNS text LANGUAGE sql VOLATILE AS
  $$ SELECT answer('SELECT * FROM emogi_sssp(%L, 1, max_distance => 0.5)', format('SELECT src, dst, %s FROM weighted WHERE %s', weight, condition)) $$;
SELECT near('km'), near('hops'), near('fee');
SELECT near('km', 'km >= 0'), near('km', 'km <= 1e300'), near('km', 'km >= 0 AND km <= 1e300'), near('km', 'km > 0.1 AND km <> ''NaN'''), near('km', 'km BETWEEN -1 AND 5');
SELECT near('hops', 'hops >= 0'), near('hops', 'hops > -1'), near('fee', 'fee >= 0'), near('fee', 'fee >= 0 AND fee < 100'), near('hops::float8', 'hops >= 0');
ALTER TABLE weighted ADD CHECK (km >= 0), ADD CHECK (hops >= 0), ADD CHECK (fee BETWEEN 0 AND 100);
SELECT near('km'), near('hops'), near('fee'), near('hops', 'hops IS NOT NULL');
ALTER TABLE weighted ALTER km SET NOT NULL, ALTER hops SET NOT NULL, ALTER fee SET NOT NULL;
SELECT near('km'), near('hops'), near('fee');
-- NOT NULL can be NOT VALID from 18 on.
ALTER TABLE weighted ALTER hops DROP NOT NULL;
DO $$ BEGIN
  IF current_setting('server_version_num')::int >= 180000 THEN
    EXECUTE 'ALTER TABLE weighted ADD CONSTRAINT has_hops NOT NULL hops NOT VALID';
  END IF;
END $$;
SELECT near('hops');
ALTER TABLE weighted ALTER hops SET NOT NULL;
SELECT near('hops');
ALTER TABLE weighted ADD CONSTRAINT numbers CHECK (km <> 'NaN') NOT VALID;
SELECT near('km');
ALTER TABLE weighted VALIDATE CONSTRAINT numbers;
SELECT near('km');
SELECT graph_of(format('SELECT * FROM emogi_shortest_path(%L, 200, 202)', 'SELECT src, dst, km FROM weighted WHERE ' || varying()));
SELECT graph_of(format('SELECT * FROM emogi_sssp(%L, 200, max_distance => 2)', 'SELECT src, dst, km FROM weighted WHERE ' || varying()));
TRUNCATE answered;
SELECT wrong, by_index > 150 FROM compare('SELECT src, dst, km FROM weighted WHERE %s', '%s::bigint', 300);
SELECT count(*) FROM answered;
SELECT wrong, by_index > 60 FROM compare('SELECT src, dst, hops FROM weighted WHERE %s', '%s::bigint', 120);
SELECT wrong, by_index > 60 FROM compare('SELECT dst, src, fee FROM weighted WHERE %s', '%s::bigint', 120);
DROP INDEX weighted_dst;
SELECT wrong FROM compare('SELECT src, dst, km FROM weighted WHERE %s', '%s::bigint', 120);
-- Distances are summed from the source, so weighted paths are not searched from the target.
SELECT answer('SELECT * FROM emogi_shortest_path(%L, 1, 30)', 'SELECT src, dst, km FROM weighted WHERE true'),
  answer('SELECT * FROM emogi_shortest_path(%L, 1, 30, ''in'')', 'SELECT src, dst, km FROM weighted WHERE true'),
  answer('SELECT * FROM emogi_shortest_path(%L, 1, 30, ''in'')', 'SELECT src, dst FROM weighted WHERE true');
CREATE INDEX weighted_dst ON weighted (dst);
-- Shortest paths include those over edges of weight 0, from vertices as far away as the target.
INSERT INTO weighted (src, dst, kind, at, km, hops, fee) SELECT a, b, 'w', now(), w, w, w
  FROM (VALUES (300, 301, 1), (300, 302, 1), (302, 301, 0), (300, 303, 1), (303, 301, 0), (300, 304, 1), (304, 301, 0), (304, 303, 0)) v(a, b, w);
SELECT answer('SELECT * FROM emogi_all_shortest_paths(%L, 300, 301)', 'SELECT src, dst, km FROM weighted WHERE kind = ''w'''),
  answer('SELECT * FROM emogi_all_shortest_paths(%L, 300, 303)', 'SELECT src, dst, km FROM weighted WHERE kind = ''w''');
SELECT path_id, string_agg(vertex::text, ' ' ORDER BY seq) FROM emogi_all_shortest_paths('SELECT src, dst, km FROM weighted WHERE kind = ''w'' AND ' || varying(), 300, 301) GROUP BY 1 ORDER BY 1;
-- An infinite weight ends a path, and a row with a NULL endpoint is not an edge.
UPDATE weighted SET km = 'Infinity' WHERE km > 1;
INSERT INTO weighted (src, dst, km, hops, fee) VALUES (1, NULL, 0, 0, 0), (NULL, 1, 0, 0, 0);
SELECT near('km'), answer('SELECT * FROM emogi_shortest_path(%L, 1, 30)', 'SELECT src, dst, km FROM weighted WHERE km <> ''NaN'''),
  answer('SELECT * FROM emogi_shortest_path_tree(%L, ARRAY[1, 2])', 'SELECT src, dst, km FROM weighted WHERE kind = ''x''');

-- A query of pairs cannot replace the rows that are searched.
CREATE TABLE kept (src int, dst int);
INSERT INTO kept VALUES (1, 7), (7, 8);
CREATE INDEX ON kept (src);
CREATE INDEX ON kept (dst);
CREATE FUNCTION run(statement text) RETURNS int LANGUAGE plpgsql AS 'BEGIN EXECUTE statement; RETURN 0; END';
SELECT * FROM emogi_reachable('kept', 'SELECT 1, 8 + run(''TRUNCATE kept'')');
SELECT * FROM emogi_reachable('kept', 'SELECT 1, 8 + run(''ALTER TABLE kept ALTER src TYPE bigint'')');
SELECT * FROM emogi_shortest_paths('kept', 'SELECT 1, 8 + run(''DROP TABLE kept'')');
SELECT * FROM emogi_reachable('kept', 'SELECT 1, 8 + run(''DELETE FROM kept'')');
SELECT count(*) FROM kept;
DROP TABLE kept;

-- A query of pairs is run once, even if they need too many edges.
CREATE SEQUENCE asked_pairs;
SELECT count(*) FROM emogi_reachable(w(), 'SELECT 200, 202 FROM nextval(''asked_pairs'')');
SELECT count(*) > 5000 FROM emogi_reachable('SELECT src, dst FROM e WHERE ' || varying(), 'SELECT s, t FROM nextval(''asked_pairs''), generate_series(1, 80) s, generate_series(1, 80) t');
SELECT last_cache(), currval('asked_pairs');
SET emogi.notice_missing_source = on;
SELECT * FROM emogi_reachable(w(), 'VALUES (200, 999)');
SELECT source, target, seq, vertex FROM emogi_shortest_paths(w(), 'VALUES (999, 200), (200, 202)') ORDER BY 1, 2, 3;
SELECT * FROM emogi_cc(w()) WHERE vertex = 999;
SELECT * FROM emogi_similarity(w(), pairs => 'VALUES (200, 999), (200, 203)');
RESET emogi.notice_missing_source;

-- Keys that are not integers, in a partitioned table.
CREATE TABLE t (src text COLLATE "C", dst text COLLATE "C", kind text, at timestamptz, tenant int) PARTITION BY HASH (src);
CREATE TABLE t0 (kind text, tenant int, at timestamptz, dst text COLLATE "C", src text COLLATE "C");
CREATE TABLE t1 (LIKE t);
ALTER TABLE t ATTACH PARTITION t0 FOR VALUES WITH (MODULUS 2, REMAINDER 0);
ALTER TABLE t ATTACH PARTITION t1 FOR VALUES WITH (MODULUS 2, REMAINDER 1);
INSERT INTO t SELECT 'v' || src, 'v' || dst, kind, at, tenant FROM e WHERE src IS NOT NULL AND dst IS NOT NULL;
INSERT INTO t VALUES ('v1', NULL, 'x', now(), 1), ('', 'v1', 'x', now(), 1), ('v1', '', 'x', now(), 1);
CREATE INDEX ON t (src);
CREATE INDEX ON t (dst);
ANALYZE t;
SELECT wrong, by_index > 90 FROM compare('SELECT src, dst FROM t WHERE %s', '''v%s''::text', 120, '_text');
CREATE TABLE u AS SELECT md5(src::text)::uuid AS src, md5(dst::text)::uuid AS dst, kind, at, tenant FROM e;
CREATE INDEX ON u (src);
CREATE INDEX ON u USING hash (dst);
ANALYZE u;
SELECT wrong, by_index > 90 FROM compare('SELECT src, dst FROM u WHERE %s', 'md5(''%s'')::uuid', 120, '_uuid');

-- Row security: edges of other tenants are invisible.
ALTER TABLE e ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenants ON e USING (tenant = current_setting('app.tenant')::int);
GRANT SELECT ON ALL TABLES IN SCHEMA test_neighborhoods TO regress_emogi_near_tenant;
GRANT INSERT ON answered TO regress_emogi_near_tenant;
GRANT USAGE ON SEQUENCE asked TO regress_emogi_near_tenant;
CREATE INDEX e_tenant_src ON e (tenant, src);
CREATE INDEX e_tenant_dst ON e (tenant, dst);
SET ROLE regress_emogi_near_tenant;
SET app.tenant = '1';
SELECT wrong, by_index > 40 FROM compare('SELECT src, dst FROM e WHERE %s', '%s::bigint', 60);
SET app.tenant = '2';
SELECT wrong, by_index > 40 FROM compare('SELECT src, dst FROM e WHERE %s', '%s::bigint', 60);
RESET ROLE;
ALTER TABLE e DISABLE ROW LEVEL SECURITY;
DROP INDEX e_tenant_src, e_tenant_dst;

-- Comparison with recursive queries.
CREATE FUNCTION by_sql(what text, edges text, a bigint, b bigint, n int) RETURNS text LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  rows text;
BEGIN
  EXECUTE format('WITH RECURSIVE d(a, b) AS MATERIALIZED (SELECT src::bigint, dst::bigint FROM (%s) q WHERE src IS NOT NULL AND dst IS NOT NULL), ', edges) || CASE what
    WHEN 'cycles' THEN 'c(v, path) AS (SELECT b, ARRAY[$1, b] FROM (SELECT DISTINCT * FROM d) d WHERE a = $1 UNION ALL SELECT d.b, path || d.b FROM c JOIN (SELECT DISTINCT * FROM d) d ON d.a = c.v
        WHERE c.v <> $1 AND cardinality(path) <= $3 AND (d.b = $1 OR d.b <> ALL (path)))
      SELECT string_agg(array_to_string(path, '',''), '' '' ORDER BY array_to_string(path, '','')) FROM c WHERE v = $1'
    WHEN 'path' THEN 'r(v, level) AS (SELECT $1, 0 WHERE EXISTS (SELECT FROM d WHERE $1 IN (a, b)) UNION SELECT d.b, level + 1 FROM r JOIN d ON d.a = r.v WHERE level < 12)
      SELECT min(level)::text FROM r WHERE v = $2'
    WHEN 'tree' THEN 'r(v, level) AS (SELECT $1, 0 WHERE EXISTS (SELECT FROM d WHERE $1 IN (a, b)) UNION SELECT d.b, level + 1 FROM r JOIN d ON d.a = r.v WHERE level < $3)
      SELECT string_agg(v || '':'' || level, '' '' ORDER BY v) FROM (SELECT v, min(level) AS level FROM r GROUP BY v) q'
    WHEN 'component' THEN 'r(v) AS (SELECT $1 WHERE EXISTS (SELECT FROM d WHERE $1 IN (a, b)) UNION SELECT CASE WHEN d.a = r.v THEN d.b ELSE d.a END FROM r JOIN d ON r.v IN (d.a, d.b))
      SELECT min(v)::text FROM r'
    WHEN 'triangles' THEN 'n AS (SELECT b AS v FROM d WHERE a = $1 AND b <> $1 UNION SELECT a FROM d WHERE b = $1 AND a <> $1)
      SELECT CASE WHEN EXISTS (SELECT FROM d WHERE $1 IN (a, b)) THEN (SELECT count(*) FROM n x JOIN n y ON x.v < y.v WHERE EXISTS (SELECT FROM d WHERE (a, b) IN ((x.v, y.v), (y.v, x.v))))::text END'
    WHEN 'similarity' THEN 's AS (SELECT DISTINCT * FROM d), n AS (SELECT b FROM s WHERE a = $1)
      SELECT string_agg(a || '':'' || round(x::numeric, 9), '' '' ORDER BY x DESC, a) FROM (SELECT a, count(n.b)::float8 / (count(*) + (SELECT count(*) FROM n) - count(n.b)) AS x
        FROM s LEFT JOIN n USING (b) WHERE a <> $1 GROUP BY a HAVING count(n.b) > 0 ORDER BY x DESC, a LIMIT 10) q'
    WHEN 'reachable' THEN 'r(v) AS (SELECT $1 WHERE EXISTS (SELECT FROM d WHERE $1 IN (a, b)) UNION SELECT d.b FROM r JOIN d ON d.a = r.v)
      SELECT CASE WHEN EXISTS (SELECT FROM d WHERE $1 IN (a, b)) AND EXISTS (SELECT FROM d WHERE $2 IN (a, b)) THEN ($2 IN (SELECT v FROM r))::text END'
    ELSE 'n AS (SELECT 1) SELECT CASE WHEN EXISTS (SELECT FROM d WHERE $1 IN (a, b)) THEN (SELECT count(*) FROM d WHERE a = $1)::text END' END
    INTO rows USING a, b, n;
  RETURN rows;
END $$;
CREATE FUNCTION by_emogi(what text, edges text, x bigint, y bigint, n int) RETURNS text LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  RETURN CASE what
    WHEN 'cycles' THEN (SELECT string_agg(path, ' ' ORDER BY path) FROM (SELECT string_agg(vertex::text, ',' ORDER BY seq) AS path FROM emogi_cycles(edges, x, n, 100000) GROUP BY cycle_id) q)
    WHEN 'path' THEN (SELECT (count(*) - 1)::text FROM emogi_shortest_path(edges, x, y) HAVING count(*) > 0)
    WHEN 'tree' THEN (SELECT string_agg(vertex || ':' || level, ' ' ORDER BY vertex) FROM emogi_bfs_tree(edges, x, max_depth => n))
    WHEN 'component' THEN (SELECT component::text FROM emogi_cc(edges) WHERE vertex = x)
    WHEN 'triangles' THEN (SELECT triangles::text FROM emogi_triangles(edges) WHERE vertex = x)
    WHEN 'similarity' THEN (SELECT string_agg(vertex2 || ':' || round(similarity::numeric, 9), ' ' ORDER BY similarity DESC, vertex2) FROM emogi_similarity(edges) WHERE vertex1 = x)
    WHEN 'reachable' THEN (SELECT reachable::text FROM emogi_reachable(edges, format('VALUES (%s, %s)', x, y)))
    ELSE (SELECT degree::text FROM emogi_degree(edges) WHERE vertex = x) END;
END $$;
CREATE FUNCTION compare_sql(times int, OUT wrong text, OUT by_index int) LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  what text;
  edges text;
  a int;
  b int;
  n int;
  found text;
  right_answer text;
BEGIN
  by_index := 0;
  FOR i IN 1 .. times LOOP
    what := (ARRAY['cycles', 'path', 'tree', 'degree', 'component', 'triangles', 'similarity', 'reachable'])[1 + i % 8];
    edges := format('SELECT src, dst FROM e WHERE %s AND %s', (ARRAY['true', 'kind = ''x''', 'kind <> ''x'''])[1 + i % 3], varying());
    a := random() * 85;
    b := random() * 85;
    n := 2 + (random() * 2)::int;
    found := by_emogi(what, edges, a, b, n);
    by_index := by_index + (last_cache() = 'index')::int;
    right_answer := by_sql(what, edges, a, b, n);
    IF found IS DISTINCT FROM right_answer THEN
      wrong := format('%s %s %s %s %s: %s, SQL %s', what, edges, a, b, n, found, right_answer);
      RETURN;
    END IF;
  END LOOP;
END $$;
SELECT wrong, by_index > 160 FROM compare_sql(240);
-- Negative control: without the evaluation of conditions the answers are wrong.
SET emogi.fault = 'query_index_searches=0';
SELECT wrong IS NOT NULL FROM compare_sql(50);
RESET emogi.fault;

-- The search is abandoned if it costs as much as a build, with the same answer: a vertex of high
-- degree.
CREATE TABLE hub (src int, dst int, at timestamptz DEFAULT now());
INSERT INTO hub SELECT 1, g FROM generate_series(2, 30000) g UNION ALL SELECT g, 1 FROM generate_series(30001, 31000) g;
CREATE INDEX ON hub (src);
CREATE INDEX ON hub (dst);
ANALYZE hub;
CREATE FUNCTION hub() RETURNS text LANGUAGE sql VOLATILE AS $$ SELECT 'SELECT src, dst FROM hub WHERE ' || varying() $$;
SELECT count(*) FROM emogi_bfs_tree(hub(), 30001, max_depth => 2);
SELECT last_cache();
SELECT count(*) FROM emogi_bfs_tree(hub(), 30001, max_depth => 1);
SELECT last_cache();
SELECT count(*) FROM emogi_cycles(hub(), 30001);
SELECT last_cache();
SELECT count(*) FROM emogi_shortest_path(hub(), 30001, 7);
SELECT last_cache();
SELECT count(*) FROM emogi_bfs(hub(), 1);
SELECT last_cache();
-- All passes of a lateral join together have the limit of one build.
SELECT count(*) FROM generate_series(30001, 30400) s, LATERAL emogi_bfs('SELECT src, dst FROM hub WHERE at > now() - interval ''1234567 seconds''', s, max_depth => 1);
SELECT DISTINCT cache FROM (SELECT cache FROM emogi_runs WHERE pid = pg_backend_pid() ORDER BY id DESC LIMIT 7) q ORDER BY cache;
SELECT count(*) FROM generate_series(30001, 30020) s, LATERAL emogi_bfs('SELECT src, dst FROM hub WHERE at > now() - interval ''1234568 seconds''', s, max_depth => 2);
SELECT last_cache();
-- A cursor over a lateral join that pauses.
BEGIN;
DECLARE c CURSOR FOR SELECT s, count(*) OVER () FROM generate_series(30001, 30300) s, LATERAL emogi_bfs('SELECT src, dst FROM hub WHERE at > now() - interval ''1234569 seconds''', s, max_depth => 1) WHERE vertex <> 1;
FETCH 1 FROM c;
COMMIT;
BEGIN;
DECLARE c CURSOR FOR SELECT s, vertex FROM generate_series(30001, 30300) s, LATERAL emogi_bfs('SELECT src, dst FROM hub WHERE at > now() - interval ''1234570 seconds''', s, max_depth => 1);
FETCH 2 FROM c;
INSERT INTO hub VALUES (30200, 77);
MOVE 597 FROM c;
FETCH 2 FROM c;
COMMIT;

-- A constant condition has a graph that other calls use.
SET emogi.index_search_min_size = 0;
-- It is built when searches have cost as much, or cannot serve the call.
SELECT count(*) AS n FROM emogi_cycles('SELECT src, dst FROM e WHERE kind = ''y''', 1, 3) \gset collected_
SELECT last_cache();
SELECT count(*) AS n FROM emogi_cycles('SELECT src, dst FROM e WHERE kind = ''y''', 1, 3) \gset again_
SELECT last_cache();
SET emogi.enable_index_search = off;
SELECT count(*) AS n FROM emogi_cycles('SELECT src, dst FROM e WHERE kind = ''y''', 1, 3) \gset built_
SELECT last_cache();
SELECT count(*) AS n FROM emogi_cycles('SELECT src, dst FROM e WHERE kind = ''y''', 1, 3) \gset found_
SELECT last_cache();
SELECT :collected_n = :built_n AND :again_n = :built_n AND :found_n = :built_n;
RESET emogi.enable_index_search;
-- The same applies to a table without conditions: neighborhoods are used until they have cost as
-- much as its graph.
CREATE TABLE plain AS SELECT src, dst FROM e WHERE src IS NOT NULL AND dst IS NOT NULL;
CREATE INDEX ON plain (src);
CREATE INDEX ON plain (dst);
ANALYZE plain;
SELECT triangles AS n FROM emogi_triangles('plain') WHERE vertex = 1 \gset collected_
SELECT last_cache();
DO $$
DECLARE
  calls int := 0;
BEGIN
  LOOP
    PERFORM FROM emogi_triangles('plain') WHERE vertex = 1;
    calls := calls + 1;
    EXIT WHEN last_cache() <> 'index' OR calls = 5000;
  END LOOP;
  RAISE NOTICE '%, after several: %', last_cache(), calls > 5;
END $$;
SELECT triangles = :collected_n FROM emogi_triangles('plain') WHERE vertex = 1;
SELECT last_cache();

SET client_min_messages = warning;
DROP SCHEMA test_neighborhoods CASCADE;
DROP ROLE regress_emogi_near_tenant;
