-- Edge ids, and the weight of the reverse edge: the ids of a path's steps, and the edges of a row.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS emogi;
RESET client_min_messages;
CREATE SCHEMA test_edge_names;
SET search_path = test_edge_names, public;
\pset format unaligned
\pset tuples_only on
SET emogi.incremental_min_size = '1GB';

-- A row has an edge if cost is not negative, and a reverse edge if reverse_cost is not.
CREATE TABLE roads (id bigint, source int, target int, cost float8, reverse_cost float8);
INSERT INTO roads VALUES (10, 1, 2, 1, -1), (11, 2, 3, 2, 2), (12, 4, 3, -1, 5), (13, 3, 4, 7, 1), (14, 1, 5, -1, -1), (15, 4, 1, 3, 3),
  (16, 5, NULL, 1, 1), (17, 3, 3, 1, 1), (18, 2, 3, 2, -1), (9, 2, 3, 2.5, -1);
CREATE VIEW ways AS SELECT source AS src, target AS dst, cost AS weight, id FROM roads WHERE cost >= 0
  UNION ALL SELECT target, source, reverse_cost, id FROM roads WHERE reverse_cost >= 0;
SELECT * FROM emogi_sssp('roads', 1);
SELECT * FROM emogi_sssp('ways', 1);
SELECT graph, ARRAY(SELECT s FROM emogi_sssp(graph, 4) s) = ARRAY(SELECT s FROM emogi_sssp('ways', 4) s),
    ARRAY(SELECT s FROM emogi_bfs(graph, 4) s) = ARRAY(SELECT s FROM emogi_bfs('ways', 4) s),
    ARRAY(SELECT s FROM emogi_bfs(graph, 4, direction => 'in') s) = ARRAY(SELECT s FROM emogi_bfs('ways', 4, direction => 'in') s),
    ARRAY(SELECT s FROM emogi_degree(graph) s) = ARRAY(SELECT s FROM emogi_degree('ways') s),
    ARRAY(SELECT s FROM emogi_cc(graph) s) = ARRAY(SELECT s FROM emogi_cc('ways') s),
    ARRAY(SELECT round(rank::numeric, 12) FROM emogi_pagerank(graph) s) = ARRAY(SELECT round(rank::numeric, 12) FROM emogi_pagerank('ways') s)
  FROM unnest(ARRAY['roads', 'roads(source, target, cost, reverse_cost)', 'roads(source, target, cost, reverse_cost, id)', 'SELECT * FROM roads',
    'SELECT reverse_cost, cost, target, source FROM roads;', 'WITH r AS (SELECT * FROM roads) TABLE r', 'roads(target, source, reverse_cost, cost, id)']) graph;
-- Other names; the fourth of four is the edge id unless it is called reverse_cost.
CREATE TABLE streets AS SELECT id AS name, source AS a, target AS b, cost AS meters, reverse_cost AS back FROM roads;
SELECT ARRAY(SELECT s FROM emogi_sssp('streets(a, b, meters, back, name)', 4) s) = ARRAY(SELECT s FROM emogi_sssp('ways', 4) s);
SELECT ARRAY(SELECT s FROM emogi_sssp('streets'::regclass, 4, columns => 'a, b, meters, back, name') s) = ARRAY(SELECT s FROM emogi_sssp('ways', 4) s);
SELECT * FROM emogi_sssp('streets(a, b, meters, back)', 1);
-- Cost alone.
SELECT * FROM emogi_sssp('SELECT source, target, cost FROM roads WHERE cost >= 0', 1);
-- A view of such rows, and one of rows of keys.
CREATE VIEW some_roads AS SELECT * FROM roads WHERE id <> 15;
SELECT * FROM emogi_sssp('some_roads', 1);
SELECT * FROM emogi_bfs('some_roads', 1);
CREATE TABLE rails (id text, a int, b text, c int, d text, cost int, reverse_cost int);
INSERT INTO rails VALUES ('x', 1, 'a', 2, 'b', 4, 3), ('y', 2, 'b', 3, 'c', -1, 5), ('z', 1, 'a', 3, 'c', 9, -2);
SELECT * FROM emogi_sssp('rails((a, b), (c, d), cost, reverse_cost, id)', '(1,a)');
SELECT * FROM emogi_sssp('SELECT ROW(a, b) AS src, ROW(c, d) AS dst, cost, reverse_cost FROM rails', '(3,c)');
SELECT * FROM emogi_shortest_path('rails((a, b), (c, d), cost, reverse_cost, id)', '(3,c)', '(1,a)');
SELECT * FROM emogi_shortest_path('rails((a, b), (c, d), cost, id)', '(1,a)', '(3,c)');

-- Errors.
CREATE TABLE bad (id int, source int, target int, cost float8, reverse_cost float8);
INSERT INTO bad VALUES (1, 1, 2, 1, NULL);
SELECT * FROM emogi_sssp('bad', 1);
SELECT * FROM emogi_bfs('bad', 1);
SELECT * FROM emogi_bfs('SELECT * FROM bad', 1);
SELECT * FROM emogi_sssp('bad(source, target, reverse_cost, cost, id)', 1);
CREATE TABLE bad_text (id int, source text, target text, cost float8, "Back" float8);
INSERT INTO bad_text VALUES (1, 'a', 'b', 1, NULL);
SELECT * FROM emogi_sssp('bad_text(source, target, cost, "Back", id)', 'a');
UPDATE bad SET reverse_cost = 'NaN';
SELECT * FROM emogi_bfs('bad', 1);
SELECT * FROM emogi_bfs('roads(source, target, cost, reverse_cost, lost)', 1);
SELECT * FROM emogi_bfs('roads(source, target, cost, reverse_cost, id, id)', 1);
CREATE TABLE worse (source int, target int, cost float8, reverse_cost text);
SELECT * FROM emogi_bfs('worse', 1);
SELECT * FROM emogi_bfs('TABLE worse', 1);
SELECT * FROM emogi_sssp('roads(source, target, cost)', 1);

-- The cache, own rows, the graph's check, privileges on the column of the reverse cost.
CREATE FUNCTION same() RETURNS boolean LANGUAGE sql AS $$
  SELECT ARRAY(SELECT s FROM emogi_sssp('roads', 1) s) = ARRAY(SELECT s FROM emogi_sssp('ways', 1) s) AND
    ARRAY(SELECT s FROM emogi_bfs('roads', 1, direction => 'both') s) = ARRAY(SELECT s FROM emogi_bfs('ways', 1, direction => 'both') s) $$;
SELECT same();
UPDATE roads SET reverse_cost = 4 WHERE id = 10;
SELECT same();
BEGIN;
UPDATE roads SET cost = -cost WHERE id IN (12, 15);
INSERT INTO roads VALUES (20, 5, 6, 1, 2);
SELECT same();
ROLLBACK;
SELECT same();
DELETE FROM roads WHERE id = 11;
SELECT same();
SELECT (emogi_check('roads')).ok, (emogi_check('roads', weights => true)).ok;
SELECT columns, edges FROM emogi_graphs WHERE relation = 'roads'::regclass AND direction = 'out' ORDER BY columns;
CREATE ROLE regress_emogi_edge_names;
GRANT USAGE ON SCHEMA test_edge_names TO regress_emogi_edge_names;
GRANT SELECT (source, target, cost, id) ON roads TO regress_emogi_edge_names;
SET ROLE regress_emogi_edge_names;
SELECT count(*) FROM emogi_bfs('roads', 1);
SELECT count(*) FROM emogi_bfs('roads(source, target)', 1);
RESET ROLE;
GRANT SELECT (reverse_cost) ON roads TO regress_emogi_edge_names;
REVOKE SELECT (id) ON roads FROM regress_emogi_edge_names;
SET ROLE regress_emogi_edge_names;
SELECT count(*) FROM emogi_bfs('roads', 1);
SELECT seq, vertex, cost FROM emogi_shortest_path('roads', 1, 4);
SELECT seq, vertex, edge FROM emogi_shortest_path('roads', 1, 4);
RESET ROLE;
DROP OWNED BY regress_emogi_edge_names;
DROP ROLE regress_emogi_edge_names;

-- The ids of a path's edges: of parallel ones the cheapest, then the smallest id.
TRUNCATE roads;
INSERT INTO roads VALUES (31, 1, 2, 2, 2), (30, 1, 2, 2, 3), (29, 1, 2, 3, 1), (28, 2, 3, 1, -1), (27, 3, 4, -1, 1), (26, 4, 3, 1, 9), (25, 4, 4, 0, 0);
SELECT * FROM emogi_shortest_path('roads', 1, 3);
SELECT * FROM emogi_shortest_path('roads', 2, 1);
SELECT * FROM emogi_shortest_path('roads', 3, 1, 'in');
SELECT * FROM emogi_shortest_path('roads', 1, 4, 'both');
SELECT * FROM emogi_shortest_path('roads', 4, 4);
SELECT * FROM emogi_shortest_path('roads', 3, 1);
SELECT * FROM emogi_shortest_path('SELECT * FROM roads', 1, 3);
SELECT * FROM emogi_shortest_path('roads(source, target, cost, reverse_cost)', 1, 3);
SELECT * FROM emogi_shortest_path('SELECT source, target, 1 AS cost, id FROM roads', 1, 3);
SELECT * FROM emogi_shortest_path('SELECT source AS src, target AS dst, id FROM roads WHERE id < 30', 1, 3);
SELECT vertex, edge IS NULL AS is_last FROM emogi_shortest_path('roads', 1, 3) WHERE edge IS DISTINCT FROM 30 ORDER BY seq;
SELECT r.id, s.cost, r.reverse_cost FROM emogi_shortest_path('roads', 1, 3) s JOIN roads r ON r.id = s.edge ORDER BY s.seq;
SET emogi.engine = auto;
EXPLAIN (COSTS OFF) SELECT r.id FROM emogi_shortest_path('roads', 1, 3) s JOIN roads r ON r.id = s.edge;
RESET emogi.engine;
-- Other types: the function's return type must be able to represent the ids, if they were
-- requested.
CREATE TABLE links (src text, dst text, weight int, name uuid);
INSERT INTO links VALUES ('a', 'b', 3, '00000000-0000-0000-0000-000000000001'), ('b', 'c', 3, '00000000-0000-0000-0000-000000000002'),
  ('a', 'b', 3, '00000000-0000-0000-0000-000000000000'), ('a', 'b', 4, NULL), ('c', 'd', 1, NULL);
SELECT * FROM emogi_shortest_path('links(src, dst, weight, name)', 'a', 'd');
SELECT * FROM emogi_shortest_path('links', 'a', 'd');
CREATE TABLE hops (src uuid, dst uuid, id uuid);
INSERT INTO hops SELECT lpad(i::text, 32, '0')::uuid, lpad((i + 1)::text, 32, '0')::uuid, lpad((100 + i)::text, 32, '0')::uuid FROM generate_series(1, 3) i;
SELECT * FROM emogi_shortest_path('hops', lpad('1', 32, '0')::uuid, lpad('3', 32, '0')::uuid);
CREATE TABLE flights (source int, target int, id text);
INSERT INTO flights VALUES (1, 2, 'LH1'), (2, 3, 'LH2');
SELECT * FROM emogi_shortest_path('flights', 1, 3);
SELECT * FROM emogi_shortest_path('flights(source, target, source, id)', 1, 3);
SELECT vertex, cost FROM emogi_shortest_path('flights(source, target, source, id)', 1, 3);
CREATE TABLE prices (src numeric, dst numeric, cost numeric, id smallint);
INSERT INTO prices VALUES (1.0, 2.50, 0.1, 7), (2.5, 3, 0.2, 8);
SELECT * FROM emogi_shortest_path('prices', '1', '3.00');
-- A graph that changes with each evaluation.
SELECT vertex FROM emogi_shortest_path('SELECT source, target, random() AS cost, id FROM roads WHERE cost >= 0', 1, 3);
-- Integers given as text; other types in their text form.
CREATE TABLE numbered (id text, source smallint, target bigint, cost float8);
INSERT INTO numbered VALUES ('a', 1, 2, 1), ('b', 2, 3, 1);
SELECT * FROM emogi_shortest_path('numbered', '1', '3');
SELECT * FROM emogi_shortest_paths('numbered', ARRAY['1'], ARRAY['3']);
CREATE TABLE days (id int, source date, target date, cost float8, reverse_cost float8);
INSERT INTO days VALUES (5, '2020-01-01', '2020-01-02', 1, 1);
SELECT * FROM emogi_shortest_path('days', '2020-01-02', '2020-01-01');
SELECT * FROM emogi_shortest_path('hops', '00000000-0000-0000-0000-000000000001', '00000000-0000-0000-0000-000000000002');
-- A live graph of rows with both directions, used in each direction with weights and without, in
-- both orders.
SET emogi.incremental_min_size = 0;
CREATE TABLE lively (source int, target int, cost float8, reverse_cost float8);
INSERT INTO lively SELECT g * 7919 % 401, g * 104729 % 401, g % 10 - 1, g / 3 % 10 - 1 FROM generate_series(1, 3000) g;
CREATE FUNCTION lively(called text, direction text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE a text[]; b text[];
BEGIN
  EXECUTE format('SELECT array_agg(r::text) FROM %s(%L, 249, direction => %L) r', called, 'lively', direction) INTO a;
  EXECUTE format('SELECT array_agg(r::text) FROM %s(%L, 249, direction => %L) r', called, 'SELECT source, target, cost FROM lively WHERE cost >= 0 UNION ALL SELECT target, source, reverse_cost FROM lively WHERE reverse_cost >= 0', direction) INTO b;
  RETURN a = b;
END $$;
SELECT emogi_evict() >= 0, lively('emogi_bfs', 'out'), lively('emogi_bfs', 'in'), lively('emogi_sssp', 'both'), lively('emogi_ssnsp', 'out'), lively('emogi_sswp', 'in');
UPDATE lively SET cost = -cost WHERE source % 7 = 0;
SELECT lively('emogi_ssnsp', 'both'), lively('emogi_bfs', 'in'), lively('emogi_sssp', 'in'), lively('emogi_bfs', 'both');
SELECT emogi_evict() >= 0, lively('emogi_sssp', 'out'), lively('emogi_bfs', 'in'), lively('emogi_bfs', 'both'), lively('emogi_sssp', 'in');
SELECT (emogi_check('lively')).ok, (emogi_check('lively', direction => 'in', weights => true)).ok;
-- Graphs of both kinds exist together, and are evicted.
SELECT (SELECT count(*) FROM emogi_bfs('lively(source, target)', 249)) > 0, (SELECT count(*) FROM emogi_bfs('lively', 249)) > 0;
SELECT columns FROM emogi_graphs WHERE relation = 'lively'::regclass AND direction = 'out' ORDER BY columns;
SELECT emogi_evict('lively') > 0, (SELECT count(*) FROM emogi_graphs WHERE relation = 'lively'::regclass);
SET emogi.incremental_min_size = '1GB';
-- Partitions with different column positions; with an index, and without.
CREATE TABLE net (id int, source int, target int, cost float8, reverse_cost float8) PARTITION BY RANGE (id);
CREATE TABLE net_1 PARTITION OF net FOR VALUES FROM (0) TO (1000);
CREATE TABLE net_2 (reverse_cost float8, cost float8, gone int, target int, source int, id int);
ALTER TABLE net_2 DROP COLUMN gone;
ALTER TABLE net ATTACH PARTITION net_2 FOR VALUES FROM (1000) TO (100000);
SELECT setseed(0.4);
INSERT INTO net SELECT i, random() * 99, random() * 99, trunc(random() * 9) - 1, trunc(random() * 9) - 1 FROM generate_series(1, 2000) i;
CREATE FUNCTION wrong() RETURNS bigint LANGUAGE sql AS $$
  -- Each step must use the cheapest edge between its endpoints, with the smallest id, and the
  -- distances are its sums.
  WITH ways AS (SELECT source AS u, target AS v, cost AS w, id FROM net WHERE cost >= 0 UNION ALL SELECT target, source, reverse_cost, id FROM net WHERE reverse_cost >= 0),
  steps AS (SELECT t, seq, vertex, edge, cost, distance, lead(vertex) OVER w AS next, lead(distance) OVER w AS after
    FROM generate_series(0, 99) t, LATERAL emogi_shortest_path('net', 7, t) WINDOW w AS (PARTITION BY t ORDER BY seq))
  SELECT count(*) FROM steps WHERE
    CASE WHEN next IS NULL THEN edge IS NOT NULL OR cost <> 0 OR vertex <> t
    ELSE (SELECT (w, id) FROM ways WHERE u = vertex AND v = next ORDER BY w, id LIMIT 1) IS DISTINCT FROM (cost, edge::int) OR after <> distance + cost END $$;
SELECT wrong();
SELECT emogi_evict('net') > 0, (SELECT count(*) FROM emogi_graphs WHERE relation = 'net'::regclass);
CREATE INDEX ON net (source);
ANALYZE net;
SELECT wrong();
UPDATE net SET cost = -1 WHERE id % 3 = 0;
SELECT wrong();
SELECT count(*) FROM emogi_sssp('net', 7) FULL JOIN emogi_sssp('SELECT source, target, cost FROM net WHERE cost >= 0 UNION ALL SELECT target, source, reverse_cost FROM net WHERE reverse_cost >= 0', 7) o
  USING (vertex, distance) WHERE emogi_sssp IS NULL OR o IS NULL;

-- Operators of the caller are not used, whatever = and >= mean in the search path.
CREATE SCHEMA test_edge_names_traps;
CREATE FUNCTION test_edge_names_traps.trap(float8, int) RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN RAISE 'trapped'; END $$;
CREATE FUNCTION test_edge_names_traps.trap(varchar, text) RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN RAISE 'trapped'; END $$;
CREATE OPERATOR test_edge_names_traps.>= (LEFTARG = float8, RIGHTARG = int, FUNCTION = test_edge_names_traps.trap);
CREATE OPERATOR test_edge_names_traps.= (LEFTARG = varchar, RIGHTARG = text, FUNCTION = test_edge_names_traps.trap);
CREATE TABLE trapped (id int, source int, target int, cost float8, reverse_cost float8);
INSERT INTO trapped VALUES (1, 1, 2, 5, 6), (2, 2, 3, 5, -1), (3, 1, 3, 20, 20);
CREATE TABLE spelled AS SELECT id, source::varchar, target::varchar, cost, reverse_cost FROM trapped;
SET search_path = test_edge_names, test_edge_names_traps, public;
SELECT seq, vertex, edge, distance FROM emogi_shortest_path('SELECT * FROM trapped', 1, 3);
SELECT seq, vertex, edge, distance FROM emogi_shortest_path('trapped'::text, '1'::text, '3'::text);
SELECT seq, vertex, edge, distance FROM emogi_shortest_path('spelled'::text, '1'::text, '3'::text);
SET search_path = test_edge_names, public;
SET client_min_messages = warning;
DROP SCHEMA test_edge_names_traps CASCADE;
RESET client_min_messages;
-- Keys that are arrays; many steps without an index, with one, and with a cast that cannot use it.
CREATE TABLE lists (id int, source int[], target int[], cost float8);
INSERT INTO lists VALUES (1, '{1,2}', '{3}', 1), (2, '{3}', '[0:0]={1}', 1);
SELECT seq, vertex, edge FROM emogi_shortest_path('lists', '{1,2}', '[0:0]={1}');
CREATE TABLE line AS SELECT i AS id, i AS source, i + 1 AS target, 1 AS cost FROM generate_series(1, 3000) i;
SELECT count(*), sum(edge), max(edge) FROM emogi_shortest_path_tree('line', 1);
ANALYZE line;
CREATE INDEX ON line (source);
SELECT count(*), sum(edge), max(edge) FROM emogi_shortest_path_tree('line', 1);
SELECT count(*), sum(edge), max(edge) FROM emogi_shortest_path_tree('line', 1, 100);
SELECT count(*), sum(edge::int), max(edge::int) FROM emogi_shortest_path_tree('SELECT id, source::text AS source, target::text AS target, cost FROM line', '1'::text, 100);

-- Keys are compared, not their text, which may be ambiguous or have several representations.
CREATE TABLE floats (id text, source float8, target float8, cost float8);
INSERT INTO floats VALUES ('wrong', 0.3, 0.7, 9), ('right', 0.1::float8 + 0.2, 0.7, 1), ('on', 0.7, 1.0 / 3, 1);
SET extra_float_digits = -12;
SELECT seq, vertex, edge, distance FROM emogi_shortest_path('floats', '0.30000000000000004', '0.3333333333333333');
SELECT seq, vertex, edge, distance FROM emogi_shortest_paths('floats', '{0.30000000000000004}'::text[], '{0.3333333333333333}'::text[]);
SELECT vertex, edge FROM emogi_shortest_path_tree('floats', '0.30000000000000004'::text);
SELECT seq, vertex, edge FROM emogi_shortest_path('SELECT ROW(source, 1) AS source, ROW(target, 1) AS target, cost, id FROM floats', '(0.30000000000000004,1)', '(0.7,1)');
SELECT seq, vertex, edge FROM emogi_shortest_path('SELECT ROW(''x'', source) AS source, ROW(''x'', target) AS target, cost, id FROM floats', '(x,0.30000000000000004)', '(x,0.7)');
SELECT seq, vertex, edge FROM emogi_shortest_path('WITH f AS (SELECT ROW(source) AS source, ROW(target) AS target, cost, id FROM floats) TABLE f', '(0.30000000000000004)', '(0.7)');
RESET extra_float_digits;
SET datestyle = 'SQL, DMY';
SELECT seq, vertex, edge FROM emogi_shortest_path('days', '2/1/2020', '1/1/2020');
SET intervalstyle = sql_standard;
CREATE TABLE spans (id int, source interval, target interval);
INSERT INTO spans VALUES (1, '1 month -1 day', '26:00:00'), (2, '1 day 2 hours', '-1 month +1 day');
SELECT seq, vertex, edge FROM emogi_shortest_path('spans', '29 days', '1 day 2:00:00');
RESET datestyle;
RESET intervalstyle;
-- The first of equal ids is determined by their type, and costs are equal if they are equal as
-- float8, however vertices are given.
CREATE TABLE twins (id int, source int, target int, cost numeric);
INSERT INTO twins VALUES (13, 1, 2, 1), (5, 1, 2, 1.0), (21, 2, 3, 0.1000000000000000000001), (122, 2, 3, 0.1), (NULL, 2, 3, 0.1);
SELECT a.edge, b.edge FROM emogi_shortest_path('twins', 1, 3) a JOIN emogi_shortest_path('twins', '1', '3') b USING (seq) ORDER BY seq;
SELECT seq, edge FROM emogi_shortest_path('SELECT source, target, cost, nullif(id, 5)::float4 AS id FROM twins', '1', '3');
SELECT seq, edge FROM emogi_shortest_path('SELECT source, target, cost, json_build_array(id) AS id FROM twins WHERE id < 20', '1', '2');
SELECT seq, edge FROM emogi_shortest_path('SELECT source, target, cost, ROW(id) AS id FROM twins WHERE id < 20', '1', '2');
CREATE TABLE cased (source int, target int, cost int, id text COLLATE "C");
INSERT INTO cased VALUES (1, 2, 1, 'a'), (1, 2, 1, 'B');
SELECT seq, edge FROM emogi_shortest_path('cased', '1', '2');
-- Keys of several columns, and of types with other representations, compared with integers: for
-- each form of the graph, with an index and without, in each direction.
CREATE TYPE place AS (gone int, x int, "Y" smallint);
ALTER TYPE place DROP ATTRIBUTE gone;
CREATE TABLE plain AS SELECT i AS id, (random() * 99)::int AS source, (random() * 99)::int AS target, trunc(random() * 9) - 1 AS cost, trunc(random() * 9) - 1 AS reverse_cost
  FROM generate_series(1, 600) i;
CREATE TABLE keyed AS SELECT id, cost, reverse_cost, source / 10 AS sx, (source % 10)::smallint AS sy, (target / 10)::bigint AS tx, target % 10 AS ty,
  (source / 10)::varchar AS sv, (target / 10)::text AS tv, ROW(source / 10, source % 10)::place AS source, ROW(target / 10, target % 10)::place AS target FROM plain;
CREATE FUNCTION differ(graph text, form text) RETURNS bigint LANGUAGE sql AS $$
  SELECT count(*) FROM unnest('{out,in,both}'::text[]) direction, generate_series(1, 99, 9) t, LATERAL (SELECT * FROM emogi_shortest_path('plain', 7, t, direction)) a
    FULL JOIN LATERAL (SELECT * FROM emogi_shortest_path(graph, format(form, 0, 7), format(form, t / 10, t % 10), direction)) b
      ON a.seq = b.seq AND format(form, a.vertex / 10, a.vertex % 10) = b.vertex AND a.edge::text IS NOT DISTINCT FROM b.edge AND a.distance = b.distance
    WHERE a.seq IS NULL OR b.seq IS NULL $$;
CREATE TABLE forms (graph text, form text);
INSERT INTO forms VALUES ('keyed((sx, sy), (tx, ty), cost, reverse_cost, id)', '(%s,%s)'), ('keyed', '(%s,%s)'), ('keyed((sv, sy), (tv, ty), cost, reverse_cost, id)', '(%s,%s)'),
  ('SELECT ROW(sx, sy) AS source, ROW(tx, ty) AS target, cost, reverse_cost, id FROM keyed', '(%s,%s)'),
  ('SELECT ROW(sx, sy) AS source, ROW(tx, ty) AS target, cost, reverse_cost, id FROM keyed UNION ALL SELECT ROW(1, 1), ROW(2, 2), -1, -1, 0', '(%s,%s)'),
  ('SELECT ARRAY[sx, sy] AS source, ARRAY[tx::int, ty] AS target, cost, reverse_cost, id FROM keyed', '{%s,%s}'),
  ('SELECT ROW(ARRAY[sx], sy) AS source, ROW(ARRAY[tx::int], ty) AS target, cost, reverse_cost, id FROM keyed', '({%s},%s)'),
  ('SELECT concat(sx, ''.'', sy)::numeric AS source, concat(tx, ''.'', ty)::numeric AS target, cost, reverse_cost, id FROM keyed', '%s.%s');
SELECT graph, differ(graph, form) FROM forms ORDER BY graph COLLATE "C";
CREATE INDEX ON keyed (sx, sy);
CREATE INDEX ON keyed (sv, sy);
CREATE INDEX ON keyed (((source).x), ((source)."Y"));
INSERT INTO keyed (id, cost, reverse_cost, sx, sy, tx, ty, sv, tv, source, target) SELECT i, 9, -1, i, 1, i, 2, i, i, ROW(i, 1)::place, ROW(i, 2)::place FROM generate_series(1000, 5000) i;
ANALYZE keyed;
SELECT graph, differ(graph, form) FROM forms ORDER BY graph COLLATE "C";
-- An index on the columns of a key is used.
CREATE FUNCTION scans(used regclass) RETURNS bigint LANGUAGE sql AS $$ SELECT pg_stat_get_xact_numscans(used) $$;
BEGIN;
SELECT scans('keyed_sx_sy_idx') AS before \gset
SELECT count(edge) > 0 FROM emogi_shortest_path('keyed((sx, sy), (tx, ty), cost, reverse_cost, id)', '(0,7)', '(4,2)');
SELECT scans('keyed_sx_sy_idx') > :before OR current_setting('server_version_num')::int < 150000;
ROLLBACK;

-- Unused ids are not looked up, in any function in FROM: no privilege is needed, and no matching
-- type.
CREATE ROLE regress_emogi_edge_names;
GRANT USAGE ON SCHEMA test_edge_names TO regress_emogi_edge_names;
CREATE TABLE secret (id int, source int, target int, cost float8, reverse_cost float8, label text);
INSERT INTO secret VALUES (11, 1, 2, 1, 2, 'a'), (12, 2, 3, 1, -1, 'b'), (13, 1, 3, 5, 5, 'c');
GRANT SELECT (source, target, cost, reverse_cost) ON secret TO regress_emogi_edge_names;
SET ROLE regress_emogi_edge_names;
SELECT vertex FROM emogi_shortest_paths('secret', ARRAY[1], ARRAY[3]);
SELECT s.vertex, distance FROM emogi_shortest_paths('secret', 'SELECT 1, 3') AS s(a, b, c, vertex, e, d) ORDER BY c;
SELECT path_id, vertex, cost FROM emogi_k_shortest_paths('secret', 1, 3, 2) WHERE seq > 0;
SELECT count(*) FROM emogi_all_shortest_paths('secret', 1, 3);
SELECT vertex FROM emogi_cycles('secret', 1) ORDER BY cycle_id, seq;
SELECT vertex FROM (SELECT * FROM emogi_cycles('secret', 1) WITH ORDINALITY OFFSET 0) c WHERE cycle_id = 1 ORDER BY ordinality;
SELECT t, vertex FROM generate_series(2, 3) t, LATERAL emogi_shortest_paths('secret', ARRAY[1], ARRAY[t]) ORDER BY t, seq;
SET emogi.enable_scan = off;
SELECT vertex FROM emogi_shortest_path('secret', 1, 3);
SELECT vertex, predecessor FROM emogi_shortest_path_tree('secret', 1) ORDER BY vertex;
RESET emogi.enable_scan;
-- Ids used in any way are; and also if whole rows are used.
SELECT vertex FROM emogi_shortest_paths('secret', ARRAY[1], ARRAY[3]) WHERE edge > 0;
SELECT edge FROM emogi_cycles('secret', 1);
SELECT vertex, (SELECT edge) FROM emogi_cycles('secret', 1);
SELECT c FROM emogi_cycles('secret', 1) c;
SELECT count(*) FROM emogi_cycles('secret', 1) c JOIN generate_series(1, 20) i ON i = edge;
SELECT (emogi_shortest_path('secret', 1, 3)).vertex;
RESET ROLE;
SELECT vertex FROM emogi_shortest_paths('secret(source, target, cost, reverse_cost, label)', ARRAY[1], ARRAY[3]);
SELECT edge FROM emogi_shortest_paths('secret(source, target, cost, reverse_cost, label)', ARRAY[1], ARRAY[3]);
SELECT edge FROM emogi_shortest_paths('secret(source, target, cost, reverse_cost, label)', ARRAY['1'], ARRAY['3']);
-- A cached plan keeps its assumptions.
PREPARE vertices AS SELECT vertex FROM emogi_cycles('secret', 1);
PREPARE edges AS SELECT edge FROM emogi_cycles('secret', 1);
EXECUTE vertices;
EXECUTE edges;
EXECUTE vertices;
DROP OWNED BY regress_emogi_edge_names;
DROP ROLE regress_emogi_edge_names;

-- Costs of two types lose no precision: SQL converts bigint and real to real.
CREATE TABLE unlike (id int, source int, target int, cost bigint, reverse_cost real);
INSERT INTO unlike VALUES (1, 1, 2, 16777217, 0.3), (2, 2, 3, 123456789012345, -1);
CREATE VIEW unlike_view AS SELECT id, source, target, cost::numeric, reverse_cost FROM unlike;
SELECT vertex, edge, cost, distance FROM emogi_shortest_path('unlike', 1, 3);
SELECT vertex, edge, cost, distance FROM emogi_shortest_path('SELECT * FROM unlike', 1, 3);
SELECT vertex, edge, cost, distance FROM emogi_shortest_path('unlike_view', 1, 3);
SELECT * FROM emogi_sssp('unlike', 2);
SELECT * FROM emogi_sssp('unlike_view(source, target, cost, reverse_cost)', 2);

SET client_min_messages = warning;
DROP SCHEMA test_edge_names CASCADE;
