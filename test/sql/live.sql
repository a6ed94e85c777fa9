-- Graphs that track their tables: after each kind of change the call is correct, and was answered
-- by the expected method.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS emogi;
DROP ROLE IF EXISTS regress_emogi_alice;
RESET client_min_messages;
CREATE ROLE regress_emogi_alice;
CREATE SCHEMA test_live;
SET search_path = test_live, public;
SET emogi.incremental_min_size = 0;
SET emogi.enable_local_search = off;	-- otherwise small searches would not use a new graph
\pset format unaligned
\pset tuples_only on
\pset null (null)
\set VERBOSITY sqlstate
SELECT emogi_evict() IS NOT NULL;

-- look(): does the graph of a call equal the table, byte for byte; its source, with the number of
-- changes; its size.
CREATE FUNCTION look(graph text, direction text DEFAULT 'out', weights bool DEFAULT false, backward bool DEFAULT false) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  c record;
  r record;
BEGIN
  SELECT * INTO c FROM public.emogi_check(graph, direction, weights, backward);
  SELECT * INTO r FROM public.emogi_runs WHERE pid = pg_backend_pid() ORDER BY id DESC LIMIT 1;
  RETURN CASE WHEN c.ok THEN 'right, ' ELSE 'WRONG: ' || c.differs || ', ' END || r.cache || ', ' || r.changes || ' changes; ' ||
    c.vertices || ' vertices, ' || c.edges || ' edges';
END $$;
-- A graph's row in emogi_graphs, with the columns that are constant for a graph.
CREATE VIEW graphs AS SELECT source, columns, direction, backward, vertices, edges, skipped_rows, tracker_bytes > 0 AS is_live FROM emogi_graphs
  WHERE database = current_database() AND pins = 0;
CREATE TABLE kept (built_at timestamptz);
CREATE FUNCTION is_kept(graph text) RETURNS bool LANGUAGE sql AS
  $$ SELECT max(g.built_at) = (SELECT max(built_at) FROM kept) FROM emogi_graphs g WHERE g.source = graph $$;
CREATE FUNCTION keep(graph text) RETURNS void LANGUAGE sql AS
  $$ DELETE FROM kept; INSERT INTO kept SELECT max(g.built_at) FROM emogi_graphs g WHERE g.source = graph $$;

CREATE TABLE edges (src int, dst int, weight float8 DEFAULT 1, pad text) WITH (fillfactor = 60, autovacuum_enabled = off);
-- walk(): does emogi_bfs reach the same vertices as a recursive query?
CREATE FUNCTION walk(source int) RETURNS bool LANGUAGE sql AS $$
  WITH RECURSIVE r(v) AS (SELECT source::bigint UNION SELECT dst FROM edges JOIN r ON src = v WHERE dst IS NOT NULL)
  SELECT array_agg(v ORDER BY v) = (SELECT array_agg(vertex ORDER BY vertex) FROM public.emogi_bfs('edges', source)) FROM r $$;
INSERT INTO edges SELECT i / 2, i, i % 100 FROM generate_series(1, 1000) i;
SELECT look('edges');
SELECT look('edges');
SELECT * FROM graphs;

-- outlook(): the graph in EXPLAIN.
CREATE FUNCTION outlook() RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  plan json;
BEGIN
  EXECUTE 'EXPLAIN (COSTS off, FORMAT json) SELECT * FROM public.emogi_bfs(''edges'', 10)' INTO plan;
  RETURN plan -> 0 -> 'Plan' ->> 'Graph';
END $$;

-- Inserted rows: between existing vertices, with new ones at the end, in the middle, below.
INSERT INTO edges VALUES (3, 999), (3, 999);
SELECT look('edges');
SELECT look('edges');
INSERT INTO edges VALUES (1000, 1001), (1001, 1002);
SELECT look('edges');
UPDATE edges SET src = src * 10, dst = dst * 10;
SELECT look('edges');
INSERT INTO edges VALUES (15, 25), (9990, 9995);
SELECT look('edges');
INSERT INTO edges VALUES (-7, 10), (-8, -9);
SELECT look('edges');
INSERT INTO edges VALUES (-8, -8);
SELECT look('edges');
SELECT walk(10), walk(-8), walk(-7);
SELECT outlook();
INSERT INTO edges VALUES (-7, 11);
SELECT outlook();
SELECT look('edges');

-- Deleted rows: vertices disappear, then the last edge, and all are inserted again.
DELETE FROM edges WHERE src < 0;
SELECT look('edges');
DELETE FROM edges WHERE dst = 9995;
SELECT look('edges');
DELETE FROM edges WHERE dst > 5000;
SELECT look('edges');
DELETE FROM edges WHERE dst > 10;
SELECT look('edges');
DELETE FROM edges;
SELECT look('edges');
SELECT count(*) FROM emogi_bfs('edges', 10);
INSERT INTO edges VALUES (5, 6);
SELECT look('edges');
SELECT walk(5);
DELETE FROM edges;
SELECT look('edges');
INSERT INTO edges SELECT i / 2, i, i % 100 FROM generate_series(1, 1000) i;
SELECT look('edges');
SELECT walk(1), walk(0);

-- Changed endpoints: another target, another source, a new one, both.
UPDATE edges SET dst = 7 WHERE dst = 8;
SELECT look('edges');
UPDATE edges SET src = 9 WHERE dst BETWEEN 100 AND 120;
SELECT look('edges');
UPDATE edges SET src = 5000, dst = -5000 WHERE dst = 50;
SELECT look('edges');
UPDATE edges SET src = dst, dst = src WHERE src < 20;
SELECT look('edges');
SELECT walk(1), walk(9), walk(5000);

-- Changes that keep the edges keep the graph: other columns, by HOT and otherwise; weights, if none
-- are requested; rollbacks, locks, VACUUM, rows moved to another page.
SELECT keep('edges');
UPDATE edges SET pad = 'x' WHERE dst % 50 = 0;
SELECT look('edges'), is_kept('edges');
UPDATE edges SET pad = repeat('y', 200);
SELECT look('edges'), is_kept('edges');
UPDATE edges SET weight = weight + 1;
SELECT look('edges'), is_kept('edges');
BEGIN;
INSERT INTO edges VALUES (77777, 88888);
DELETE FROM edges WHERE src = 5;
ROLLBACK;
SELECT look('edges'), is_kept('edges');
BEGIN;
SELECT count(*) FROM (SELECT 1 FROM edges WHERE src = 5 FOR UPDATE) x;
COMMIT;
SELECT look('edges'), is_kept('edges');
VACUUM edges;
SELECT look('edges'), is_kept('edges');
VACUUM (FREEZE, DISABLE_PAGE_SKIPPING) edges;
SELECT look('edges'), is_kept('edges');
ANALYZE edges;
SELECT look('edges'), is_kept('edges');
CREATE INDEX edges_src ON edges (src);
SELECT look('edges'), is_kept('edges');
DROP INDEX edges_src;
WITH gone AS (DELETE FROM edges WHERE src BETWEEN 40 AND 60 RETURNING *) INSERT INTO edges SELECT * FROM gone;
SELECT look('edges'), is_kept('edges');
CHECKPOINT;
SELECT look('edges'), is_kept('edges');
-- A change and its reversal leave the edges unchanged.
DELETE FROM edges WHERE src = 100;
INSERT INTO edges VALUES (100, 200), (100, 201);
SELECT look('edges'), is_kept('edges');

-- NULL endpoints.
INSERT INTO edges VALUES (NULL, 1), (1, NULL), (NULL, NULL);
SELECT look('edges');
SELECT skipped_rows FROM graphs ORDER BY 1;
SELECT walk(1);
UPDATE edges SET dst = 4 WHERE src = 1 AND dst IS NULL;
SELECT look('edges');
UPDATE edges SET src = NULL WHERE src = 1 AND dst = 4;
SELECT look('edges');
DELETE FROM edges WHERE src IS NULL AND dst IS NULL;
SELECT look('edges');
SELECT max(skipped_rows) FROM emogi_graphs WHERE source = 'edges' AND built_at = (SELECT max(built_at) FROM emogi_graphs WHERE source = 'edges');
DELETE FROM edges WHERE src IS NULL OR dst IS NULL;
SELECT look('edges');

-- Several directions and variants are refreshed, each when it is used.
SELECT emogi_evict('edges') > 0;
SELECT look('edges', 'out');
SELECT look('edges', 'in');
SELECT look('edges', 'both');
SELECT look('edges', 'out', backward => true);
SELECT look('edges', 'out', weights => true);
SELECT look('edges', 'in', weights => true, backward => true);
INSERT INTO edges SELECT i, i + 1 FROM generate_series(2000, 2020) i;
SELECT look('edges', 'in');
INSERT INTO edges SELECT i, i FROM generate_series(2000, 2010) i;
SELECT look('edges', 'both');
SELECT look('edges', 'out', weights => true);
DELETE FROM edges WHERE src BETWEEN 2005 AND 2015;
SELECT look('edges', 'in', weights => true, backward => true);
SELECT look('edges', 'both', weights => true);
SELECT look('edges', 'both');
SELECT look('edges', 'in');
SELECT look('edges', 'out');
SELECT look('edges', 'out', backward => true);
UPDATE edges SET weight = 50 WHERE src = 2000;
SELECT look('edges', 'out', weights => true);
SELECT look('edges', 'both', weights => true);
SELECT look('edges', 'out');
SELECT emogi_evict('edges') > 0;
SELECT count(*) FROM emogi_bfs('edges(dst, src)', 7);
SELECT count(*) FROM emogi_bfs('edges', 7);
INSERT INTO edges VALUES (7, 11);
SELECT count(*) = (SELECT count(*) FROM emogi_bfs('edges', 7, direction => 'in')) FROM emogi_bfs('edges(dst, src)', 7);
SELECT ok, cache FROM emogi_check('edges', columns => 'dst, src');
SELECT ok, cache FROM emogi_check('edges', columns => 'src, src');
INSERT INTO edges VALUES (7, 12);
SELECT ok, cache FROM emogi_check('edges', columns => 'src, src');
SELECT ok, cache FROM emogi_check('edges', columns => 'dst, src', direction => 'both');
SELECT look('edges');

-- A graph so old that no log has all changes since.
SELECT look('edges', 'in');
SELECT look('edges', 'out');
DO $$ BEGIN
  FOR i IN 1 .. 30 LOOP
    INSERT INTO edges SELECT i * 1000 + k, k FROM generate_series(1, 100) k;
    COMMIT;
    IF look('edges', 'out') NOT LIKE 'right, merged%' THEN RAISE 'not right: %', look('edges', 'out'); END IF;
    COMMIT;
  END LOOP;
END $$;
SELECT look('edges', 'in');
SELECT look('edges', 'out');

-- Weights: wider, negative, infinite, and deleted again. Functions that reject them do so as in a
-- build, and work afterwards.
CREATE TABLE roads (src int, dst int, weight float8);
INSERT INTO roads SELECT i / 3, i, i % 50 FROM generate_series(1, 300) i;
SELECT sum(distance) FROM emogi_sssp('roads', 0);
SELECT look('roads', weights => true);
INSERT INTO roads VALUES (5, 6, 200);
SELECT look('roads', weights => true);
INSERT INTO roads VALUES (5, 6, 300);
SELECT look('roads', weights => true);
INSERT INTO roads VALUES (5, 6, 70000);
SELECT look('roads', weights => true);
INSERT INTO roads VALUES (5, 6, 1e10);
SELECT look('roads', weights => true);
INSERT INTO roads VALUES (5, 7, 0.5);
SELECT look('roads', weights => true);
INSERT INTO roads VALUES (5, 7, 0.1);
SELECT look('roads', weights => true);
DELETE FROM roads WHERE weight = 0.1;
SELECT look('roads', weights => true);
DELETE FROM roads WHERE weight > 1000 OR weight = 0.5;
SELECT look('roads', weights => true);
DELETE FROM roads WHERE weight > 100;
SELECT look('roads', weights => true);
INSERT INTO roads VALUES (5, 7, -1);
\set VERBOSITY default
SELECT sum(distance) FROM emogi_sssp('roads', 0);
\set VERBOSITY sqlstate
SELECT look('roads', weights => true);
SELECT count(*) FROM emogi_sssp('roads', 0);
SELECT count(*) FROM emogi_bfs('roads', 0);
UPDATE roads SET weight = 1 WHERE weight < 0;
SELECT sum(distance) FROM emogi_sssp('roads', 0);
SELECT look('roads', weights => true);
INSERT INTO roads VALUES (5, 7, 'Infinity'), (5, 8, '-Infinity');
SELECT look('roads', weights => true);
SELECT count(*) FROM emogi_sssp('roads', 0);
DELETE FROM roads WHERE weight = '-Infinity';
SELECT count(*) FROM emogi_sssp('roads', 0);
SELECT look('roads', weights => true);
DELETE FROM roads WHERE weight = 'Infinity';
SELECT look('roads', weights => true);
INSERT INTO roads VALUES (5, 7, 'NaN');
SELECT count(*) FROM emogi_sssp('roads', 0);
SELECT look('roads', weights => true);
SELECT look('roads');
UPDATE roads SET weight = NULL WHERE weight = 'NaN';
SELECT count(*) FROM emogi_sssp('roads', 0);
SELECT look('roads', weights => true);
UPDATE roads SET weight = 2, dst = NULL WHERE weight IS NULL;
SELECT look('roads', weights => true);
UPDATE roads SET weight = NULL WHERE dst IS NULL;
SELECT look('roads', weights => true);
INSERT INTO roads VALUES (1, 2, 0.0), (1, 2, -0.0);
SELECT look('roads', weights => true);
DELETE FROM roads WHERE src = 1 AND dst = 2;
SELECT look('roads', weights => true);
DELETE FROM roads;
SELECT look('roads', weights => true);
INSERT INTO roads VALUES (1, 2, 0.25);
SELECT look('roads', weights => true);
SELECT look('roads', 'both', weights => true);
-- Weights of other types.
CREATE TABLE priced (src bigint, dst smallint, weight numeric);
INSERT INTO priced SELECT i, i / 2, i FROM generate_series(1, 100) i;
SELECT look('priced', weights => true);
INSERT INTO priced VALUES (3, 4, 1.5), (3, 4, 1e20);
SELECT look('priced', weights => true);
DELETE FROM priced WHERE weight > 1e10;
SELECT look('priced', weights => true);
-- Keys too far apart for the representation of the edges.
INSERT INTO priced VALUES (30000000000, 4, 2);
SELECT look('priced', weights => true);
INSERT INTO priced VALUES (-30000000000, 4, 2), (9223372036854775807, 4, 2), (-9223372036854775808, 4, 2);
SELECT look('priced', weights => true);
INSERT INTO priced VALUES (9223372036854775807, 5, 2);
SELECT look('priced', weights => true);
DELETE FROM priced WHERE src < 0 OR src > 1000;
SELECT look('priced', weights => true);

-- Own changes are private.
SELECT look('edges');
BEGIN;
INSERT INTO edges VALUES (1, 60000);
SELECT look('edges');
SELECT walk(1);
SAVEPOINT a;
DELETE FROM edges WHERE src = 3;
SELECT look('edges');
SAVEPOINT b;
UPDATE edges SET dst = 60001 WHERE src = 4;
SELECT look('edges', 'both', true);
ROLLBACK TO b;
SELECT look('edges');
ROLLBACK TO a;
SELECT look('edges');
SELECT walk(1);
ROLLBACK;
SELECT look('edges');
BEGIN;
SAVEPOINT a;
INSERT INTO edges VALUES (1, 60000);
ROLLBACK TO a;
SELECT look('edges');
COMMIT;
SELECT look('edges');
BEGIN;
INSERT INTO edges VALUES (1, 60000);
SELECT look('edges');
COMMIT;
SELECT look('edges');
DO $$ BEGIN
  DELETE FROM edges WHERE dst = 60000;
  INSERT INTO edges VALUES (1, 60001);
  PERFORM look('edges');
  RAISE EXCEPTION 'no';
EXCEPTION WHEN raise_exception THEN NULL;
END $$;
SELECT look('edges');

-- A cursor keeps its graph while its table changes.
BEGIN;
DECLARE c CURSOR FOR SELECT vertex, level FROM emogi_bfs('edges', 500) ORDER BY level, vertex;
FETCH 1 FROM c;
DELETE FROM edges WHERE src = 500;
SELECT look('edges');
FETCH 2 FROM c;
DECLARE d CURSOR FOR SELECT vertex, level FROM emogi_bfs('edges', 500) ORDER BY level, vertex;
FETCH ALL FROM d;
INSERT INTO edges VALUES (500, 501);
FETCH ALL FROM c;
COMMIT;
SELECT look('edges');
DECLARE h CURSOR WITH HOLD FOR SELECT vertex, level FROM emogi_bfs('edges', 500) ORDER BY level, vertex LIMIT 3;
INSERT INTO edges VALUES (500, 502);
SELECT look('edges');
FETCH ALL FROM h;
CLOSE h;
BEGIN;
DECLARE c CURSOR FOR SELECT vertex FROM emogi_bfs('edges', 500);
FETCH 1 FROM c;
SAVEPOINT a;
INSERT INTO edges VALUES (500, 503);
SELECT look('edges');
ROLLBACK TO a;
SELECT look('edges');
MOVE ALL FROM c;
COMMIT;
SELECT look('edges');

-- Tables that are rewritten or truncated.
TRUNCATE edges;
SELECT look('edges');
INSERT INTO edges SELECT i / 2, i, i % 100 FROM generate_series(1, 1000) i;
SELECT look('edges');
BEGIN;
TRUNCATE edges;
SELECT look('edges');
INSERT INTO edges VALUES (1, 2);
SELECT look('edges');
ROLLBACK;
SELECT look('edges');
INSERT INTO edges VALUES (1, 3);
SELECT look('edges');
BEGIN;
TRUNCATE edges;
COPY edges (src, dst) FROM stdin WITH (FREEZE);
1	2
2	3
\.
SELECT look('edges');
TRUNCATE edges;
COPY edges (src, dst) FROM stdin WITH (FREEZE);
1	2
2	4
\.
SELECT look('edges');
ROLLBACK;
SELECT look('edges');
BEGIN;
TRUNCATE edges;
COPY edges (src, dst) FROM stdin WITH (FREEZE);
1	2
2	3
\.
COMMIT;
SELECT look('edges');
COPY edges (src, dst) FROM stdin;
3	4
3	\N
4	5
\.
SELECT look('edges');
INSERT INTO edges SELECT i / 2, i, i % 100 FROM generate_series(1, 1000) i;
SELECT look('edges');
CREATE INDEX edges_dst ON edges (dst DESC);
CLUSTER edges USING edges_dst;
SELECT look('edges');
INSERT INTO edges VALUES (1, 4);
SELECT look('edges');
VACUUM FULL edges;
SELECT look('edges');
INSERT INTO edges VALUES (1, 5);
SELECT look('edges');
DELETE FROM edges WHERE ctid > '(1,0)';
VACUUM edges;
SELECT look('edges');
INSERT INTO edges SELECT i / 2, i, i % 100 FROM generate_series(1, 1000) i;
SELECT look('edges');

-- Columns.
ALTER TABLE edges ADD COLUMN more int DEFAULT 5;
SELECT look('edges');
SELECT ok, cache FROM emogi_check('edges', columns => 'src, more');
INSERT INTO edges (src, dst, more) VALUES (2, 3, 6), (2, 3, NULL);
SELECT ok, cache FROM emogi_check('edges', columns => 'src, more');
SELECT look('edges');
ALTER TABLE edges DROP COLUMN more;
SELECT look('edges');
ALTER TABLE edges DROP COLUMN weight;
SELECT look('edges');
ALTER TABLE edges ADD COLUMN weight int NOT NULL DEFAULT 7;
SELECT look('edges', weights => true);
INSERT INTO edges VALUES (2, 3, NULL, 300);
SELECT look('edges', weights => true);
ALTER TABLE edges ALTER COLUMN src TYPE bigint;
SELECT look('edges');
INSERT INTO edges VALUES (20000000000, 3);
SELECT look('edges');
INSERT INTO edges VALUES (20000000001, 3);
SELECT look('edges');
ALTER TABLE edges RENAME COLUMN dst TO target;
SELECT ok, cache FROM emogi_check('edges(src, target)');
ALTER TABLE edges RENAME COLUMN target TO dst;
ALTER TABLE edges RENAME TO lines;
SELECT look('lines');
ALTER TABLE lines RENAME TO edges;
BEGIN;
ALTER TABLE edges ALTER COLUMN dst TYPE bigint USING dst + 1;
SELECT look('edges');
INSERT INTO edges VALUES (1, 2);
SELECT look('edges');
ROLLBACK;
SELECT look('edges');
BEGIN;
ALTER TABLE edges DROP COLUMN weight;
INSERT INTO edges VALUES (1, 2);
SELECT look('edges');
ROLLBACK;
SELECT look('edges');
BEGIN;
DROP TABLE edges;
ROLLBACK;
SELECT look('edges');

-- Partitions.
CREATE TABLE parts (part int, src int, dst int, weight float8) PARTITION BY LIST (part);
CREATE TABLE part1 PARTITION OF parts FOR VALUES IN (1);
CREATE TABLE part2 (weight float8, dst int, gone text, src int, part int);
ALTER TABLE part2 DROP COLUMN gone;
ALTER TABLE parts ATTACH PARTITION part2 FOR VALUES IN (2);
CREATE TABLE part3 PARTITION OF parts FOR VALUES IN (3) PARTITION BY RANGE (src);
CREATE TABLE part3a PARTITION OF part3 FOR VALUES FROM (MINVALUE) TO (500);
CREATE TABLE part3b PARTITION OF part3 FOR VALUES FROM (500) TO (MAXVALUE);
INSERT INTO parts SELECT 1 + i % 3, i, i / 2, i % 10 FROM generate_series(1, 1000) i;
SELECT look('parts', weights => true);
INSERT INTO parts SELECT 1 + i % 3, i, i / 3, i % 10 FROM generate_series(1000, 1010) i;
SELECT look('parts', weights => true);
UPDATE parts SET part = 2 WHERE part = 1 AND src < 50;
SELECT look('parts', weights => true);
DELETE FROM part3a WHERE src BETWEEN 100 AND 110;
SELECT look('parts', weights => true);
SELECT look('part3');
INSERT INTO part3 VALUES (3, 7, 7, 7);
SELECT look('part3');
SELECT look('part3a');
SELECT look('parts', weights => true);
ALTER TABLE parts DETACH PARTITION part2;
SELECT look('parts', weights => true);
INSERT INTO part2 (src, dst, weight, part) VALUES (1, 1, 1, 2);
SELECT look('part2');
ALTER TABLE parts ATTACH PARTITION part2 FOR VALUES IN (2);
SELECT look('parts', weights => true);
TRUNCATE part1;
SELECT look('parts', weights => true);
INSERT INTO parts VALUES (1, 2, 3, 4);
SELECT look('parts', weights => true);
CREATE TABLE part4 PARTITION OF parts FOR VALUES IN (4);
SELECT look('parts', weights => true);
INSERT INTO parts VALUES (4, 2, 3, 4), (1, 5, 6, 7);
SELECT look('parts', weights => true);
DROP TABLE part4;
SELECT look('parts', weights => true);
BEGIN;
ALTER TABLE parts DETACH PARTITION part2;
SELECT look('parts', weights => true);
SAVEPOINT a;
INSERT INTO parts VALUES (1, 2, 3, 4);
SELECT look('parts', weights => true);
ROLLBACK TO a;
SELECT look('parts', weights => true);
ROLLBACK;
SELECT look('parts', weights => true);
BEGIN;
CREATE TABLE part5 PARTITION OF parts FOR VALUES IN (5);
INSERT INTO parts VALUES (5, 2, 3, 4);
SELECT look('parts', weights => true);
COMMIT;
SELECT look('parts', weights => true);
INSERT INTO parts VALUES (5, 2, 3, 4);
SELECT look('parts', weights => true);
VACUUM FULL part1;
SELECT look('parts', weights => true);
TRUNCATE parts;
SELECT look('parts', weights => true);
INSERT INTO parts SELECT 1 + i % 3, i, i / 2, i % 10 FROM generate_series(1, 100) i;
SELECT look('parts', weights => true);
SELECT look('parts', weights => true);
-- A hundred of them.
CREATE TABLE many (src int, dst int) PARTITION BY RANGE (src);
DO $$ BEGIN
  FOR i IN 0 .. 99 LOOP EXECUTE format('CREATE TABLE many%s PARTITION OF many FOR VALUES FROM (%s) TO (%s)', i, i, i + 1); END LOOP;
END $$;
INSERT INTO many SELECT i, i + 1 FROM generate_series(0, 99) i;
SELECT look('many');
INSERT INTO many VALUES (50, 52), (70, 70);
SELECT look('many');
TRUNCATE many60;
SELECT look('many');
DROP TABLE many10, many90;
SELECT look('many');
INSERT INTO many VALUES (60, 3), (11, 3);
SELECT look('many');

-- Tables with inheritance children.
CREATE TABLE base (src int, dst int);
CREATE TABLE child (extra text) INHERITS (base);
INSERT INTO base SELECT i, i + 1 FROM generate_series(1, 100) i;
INSERT INTO child SELECT i, i + 1, 'x' FROM generate_series(100, 200) i;
SELECT look('base');
INSERT INTO child VALUES (1, 300);
SELECT look('base');
DELETE FROM base WHERE src < 10;
SELECT look('base');
SELECT look('child');
ALTER TABLE child NO INHERIT base;
SELECT look('base');
INSERT INTO child VALUES (2, 300);
ALTER TABLE child INHERIT base;
SELECT look('base');

-- Untracked: unlogged and temporary tables, small tables, and if tracking is disabled.
CREATE UNLOGGED TABLE light AS SELECT i AS src, i + 1 AS dst FROM generate_series(1, 100) i;
SELECT look('light');
INSERT INTO light VALUES (1, 1);
SELECT look('light');
SELECT tracker_bytes FROM emogi_graphs WHERE source = 'light' ORDER BY built_at DESC LIMIT 1;
ALTER TABLE light SET LOGGED;
SELECT look('light');
INSERT INTO light VALUES (1, 1);
SELECT look('light');
ALTER TABLE light SET UNLOGGED;
SELECT look('light');
INSERT INTO light VALUES (1, 1);
SELECT look('light');
CREATE TEMP TABLE mine AS SELECT i AS src, i + 1 AS dst FROM generate_series(1, 100) i;
SELECT look('mine');
INSERT INTO mine VALUES (1, 1);
SELECT look('mine');
SET emogi.incremental_min_size = '1MB';
CREATE TABLE tiny AS SELECT i AS src, i + 1 AS dst FROM generate_series(1, 100) i;
SELECT look('tiny');
INSERT INTO tiny VALUES (1, 1);
SELECT look('tiny');
SELECT DISTINCT tracker_bytes FROM emogi_graphs WHERE source = 'tiny';
SET emogi.incremental_min_size = 0;
INSERT INTO tiny VALUES (1, 1);
SELECT look('tiny');
INSERT INTO tiny VALUES (1, 1);
SELECT look('tiny');
SET emogi.enable_incremental = off;
INSERT INTO tiny VALUES (1, 2);
SELECT look('tiny');
INSERT INTO tiny VALUES (1, 3);
SELECT look('tiny');
SET emogi.enable_incremental = on;
SELECT look('tiny');
INSERT INTO tiny VALUES (1, 4);
SELECT look('tiny');
SET emogi.enable_incremental = off;
SELECT look('tiny');
DELETE FROM tiny WHERE src = 1;
SELECT look('tiny');
SET emogi.enable_incremental = on;
INSERT INTO tiny VALUES (1, 5);
SELECT look('tiny');
SET emogi.enable_cache = off;
INSERT INTO tiny VALUES (1, 6);
SELECT look('tiny');
RESET emogi.enable_cache;
SELECT look('tiny');
BEGIN ISOLATION LEVEL SERIALIZABLE;
INSERT INTO tiny VALUES (1, 7);
SELECT look('tiny');
COMMIT;
SELECT look('tiny');

-- Materialized views.
CREATE MATERIALIZED VIEW seen AS SELECT src, dst FROM tiny;
CREATE UNIQUE INDEX ON seen (src, dst);
SELECT look('seen');
REFRESH MATERIALIZED VIEW seen;
SELECT look('seen');
INSERT INTO tiny VALUES (1, 8);
REFRESH MATERIALIZED VIEW CONCURRENTLY seen;
SELECT look('seen');
REFRESH MATERIALIZED VIEW CONCURRENTLY seen;
SELECT look('seen');
REFRESH MATERIALIZED VIEW seen WITH NO DATA;
SELECT look('seen');
REFRESH MATERIALIZED VIEW seen;
SELECT look('seen');

-- Privileges are checked at every call, whichever role has refreshed the graph.
GRANT USAGE ON SCHEMA test_live TO regress_emogi_alice;
SELECT count(*) FROM emogi_bfs('tiny', 5);
INSERT INTO tiny VALUES (1, 9);
SET ROLE regress_emogi_alice;
SELECT count(*) FROM emogi_bfs('tiny', 5);
SELECT emogi_check('tiny');
RESET ROLE;
SELECT look('tiny');
GRANT SELECT (src, dst) ON tiny TO regress_emogi_alice;
INSERT INTO tiny VALUES (1, 10);
SET ROLE regress_emogi_alice;
SELECT ok, cache FROM emogi_check('tiny');
RESET ROLE;
INSERT INTO tiny VALUES (1, 11), (2, 200);
ALTER TABLE tiny ENABLE ROW LEVEL SECURITY;
CREATE POLICY odd ON tiny USING (src % 2 = 1);
SET ROLE regress_emogi_alice;
SELECT ok, cache, edges FROM emogi_check('tiny');
RESET ROLE;
SELECT look('tiny');
INSERT INTO tiny VALUES (1, 12), (2, 201);
SET ROLE regress_emogi_alice;
SELECT ok, cache, edges FROM emogi_check('tiny');
RESET ROLE;
ALTER TABLE tiny DISABLE ROW LEVEL SECURITY;
SET ROLE regress_emogi_alice;
SELECT ok, cache, edges FROM emogi_check('tiny');
RESET ROLE;
REVOKE SELECT (dst) ON tiny FROM regress_emogi_alice;
INSERT INTO tiny VALUES (1, 13);
SET ROLE regress_emogi_alice;
SELECT ok, cache, edges FROM emogi_check('tiny');
RESET ROLE;
SELECT look('tiny');

-- Evicted, dropped, drop rolled back.
SELECT emogi_evict('tiny') > 0;
SELECT count(*) FROM emogi_graphs WHERE source = 'tiny';
SELECT emogi_evict('tiny');
SELECT look('tiny');
INSERT INTO tiny VALUES (1, 14);
SELECT look('tiny');
SELECT emogi_evict('part1') > 0;
SELECT look('parts', weights => true);
INSERT INTO parts VALUES (1, 1, 1, 1);
SELECT look('parts', weights => true);
BEGIN;
DROP TABLE part2;
SELECT look('parts', weights => true);
ROLLBACK;
SELECT look('parts', weights => true);
DROP TABLE part2;
SELECT look('parts', weights => true);
BEGIN;
DROP TABLE tiny CASCADE;
CREATE TABLE tiny (src int, dst int);
INSERT INTO tiny VALUES (1, 2);
SELECT look('tiny');
ROLLBACK;
SELECT look('tiny');
DROP TABLE tiny CASCADE;
CREATE TABLE tiny (src int, dst int);
INSERT INTO tiny VALUES (1, 2);
SELECT look('tiny');
INSERT INTO tiny VALUES (2, 3);
SELECT look('tiny');

-- So many changes that a build is cheaper.
CREATE TABLE large AS SELECT i AS src, i / 2 AS dst FROM generate_series(1, 200000) i;
SELECT look('large');
DELETE FROM large WHERE src % 20 = 0;
SELECT look('large');
DELETE FROM large WHERE src % 2 = 0;
SELECT look('large');
SELECT look('large');
INSERT INTO large SELECT i, i / 3 FROM generate_series(1, 200000) i;
SELECT look('large');
INSERT INTO large VALUES (1, 2), (NULL, 3);
SELECT look('large');
TRUNCATE large;
SELECT look('large');

-- Hundreds of tables.
DO $$ BEGIN
  FOR i IN 1 .. 100 LOOP
    EXECUTE format('CREATE TABLE hundred%s AS SELECT g AS src, g + %s AS dst FROM generate_series(1, 50) g', i, i);
    COMMIT;
    IF look('hundred' || i) NOT LIKE 'right, built%' THEN RAISE 'not right: %', i; END IF;
    COMMIT;
  END LOOP;
END $$;
DO $$ BEGIN
  FOR i IN 1 .. 100 LOOP
    EXECUTE format('INSERT INTO hundred%s VALUES (1, 1000)', i);
  END LOOP;
END $$;
SELECT split_part(look('hundred' || i), ';', 1), count(*) FROM generate_series(1, 100) i GROUP BY 1 ORDER BY 1;
DO $$ BEGIN
  FOR i IN 1 .. 100 LOOP EXECUTE format('DROP TABLE hundred%s', i); END LOOP;
END $$;
SELECT count(*) FROM emogi_graphs WHERE source LIKE 'hundred%';

-- Calls in parallel, in one statement, prepared, from functions.
PREPARE p AS SELECT count(*) FROM emogi_bfs('tiny', 1);
EXECUTE p;
INSERT INTO tiny VALUES (3, 4);
EXECUTE p;
INSERT INTO tiny VALUES (4, 5);
SELECT (SELECT count(*) FROM emogi_bfs('tiny', 1)), (SELECT count(*) FROM emogi_bfs('tiny', 5, direction => 'in')),
  (SELECT count(*) FROM emogi_cc('tiny')), (SELECT count(*) FROM emogi_pagerank('tiny'));
WITH added AS (INSERT INTO tiny VALUES (5, 6) RETURNING 1) SELECT count(*), (SELECT count(*) FROM added) FROM emogi_bfs('tiny', 1);
SELECT count(*) FROM emogi_bfs('tiny', 1);
SELECT s, count(*) FROM generate_series(1, 3) s, LATERAL emogi_bfs('tiny', s) GROUP BY s ORDER BY s;
CREATE FUNCTION grow(n int) RETURNS bigint LANGUAGE plpgsql AS $$ BEGIN
  INSERT INTO tiny VALUES (n, n + 1);
  RETURN (SELECT count(*) FROM emogi_bfs('tiny', 1));
END $$;
SELECT grow(6);
SELECT grow(7);
-- the last call may have stored the row of the one before it
SELECT regexp_replace(look('tiny'), '[12] changes', 'changes');

-- A partition that was detached may be attached again with different column positions: no page has
-- changed, but the meaning of rows.
CREATE TABLE swapped (src int, dst int) PARTITION BY LIST (src);
CREATE TABLE swapped1 PARTITION OF swapped DEFAULT;
INSERT INTO swapped VALUES (1, 2), (2, 3), (3, 9);
SELECT look('swapped');
ALTER TABLE swapped DETACH PARTITION swapped1;
ALTER TABLE swapped1 RENAME src TO kept;
ALTER TABLE swapped1 RENAME dst TO src;
ALTER TABLE swapped1 RENAME kept TO dst;
ALTER TABLE swapped ATTACH PARTITION swapped1 DEFAULT;
SELECT look('swapped');
SELECT * FROM emogi_bfs('swapped', 9);
DROP TABLE swapped;
-- Changes that may be rolled back, however many, cost others nothing.
CREATE TABLE much (src int, dst int);
INSERT INTO much SELECT i, i + 1 FROM generate_series(1, 200000) i;
SELECT look('much');
BEGIN;
DELETE FROM much WHERE src % 2 = 0;
SELECT look('much');
ROLLBACK;
INSERT INTO much VALUES (1, 5);
SELECT look('much');
DROP TABLE much;
-- The counters, and no memory is left.
SELECT emogi_reset();
INSERT INTO tiny VALUES (8, 9);
SELECT look('tiny');
SELECT hits, builds, merges, private_builds, tracker_bytes > 0 FROM emogi_cache;
SELECT pins FROM emogi_graphs WHERE pins > 0;
SELECT emogi_evict() > 0;
SELECT count(*) FROM emogi_graphs WHERE database = current_database();
SELECT emogi_evict();
-- A table with keys that are not integers is truncated, called in another form, and filled again.
SET emogi.incremental_min_size = 0;
CREATE TABLE emptied (src text, dst text);
CREATE TABLE emptied_ids (src uuid, dst uuid);
INSERT INTO emptied SELECT 'a' || i, 'a' || i + 1 FROM generate_series(1, 3) i;
SELECT count(*) FROM emogi_bfs('emptied', 'a1');
DELETE FROM emptied;
SELECT count(*) FROM emogi_shortest_path('emptied', 'a1', 'a4');
INSERT INTO emptied SELECT 'a' || i, 'a' || i + 1 FROM generate_series(1, 3) i;
SELECT count(*) FROM emogi_shortest_path('emptied', 'a1', 'a4');
DELETE FROM emptied;
INSERT INTO emptied SELECT 'a' || i, 'a' || i + 1 FROM generate_series(1, 3) i;
SELECT count(*) FROM emogi_bfs('emptied', 'a1');
DELETE FROM emptied;
SELECT count(*) FROM emogi_bfs('emptied', 'a4', direction => 'in');
INSERT INTO emptied SELECT 'a' || i, 'a' || i + 1 FROM generate_series(1, 3) i;
SELECT count(*) FROM emogi_bfs('emptied', 'a4', direction => 'in');
DELETE FROM emptied;
INSERT INTO emptied SELECT 'a' || i, 'a' || i + 1 FROM generate_series(1, 3) i;
SELECT count(*) FROM emogi_bfs('emptied', 'a1');
DELETE FROM emptied;
SELECT count(*) FROM emogi_pagerank_text('emptied');
INSERT INTO emptied SELECT 'a' || i, 'a' || i + 1 FROM generate_series(1, 3) i;
SELECT count(*) FROM emogi_pagerank_text('emptied');
DELETE FROM emptied;
INSERT INTO emptied SELECT 'a' || i, 'a' || i + 1 FROM generate_series(1, 3) i;
SELECT count(*) FROM emogi_bfs('emptied', 'a1');
TRUNCATE emptied;
SELECT count(*) FROM emogi_shortest_path('emptied', 'a1', 'a4');
INSERT INTO emptied SELECT 'a' || i, 'a' || i + 1 FROM generate_series(1, 3) i;
SELECT count(*) FROM emogi_shortest_path('emptied', 'a1', 'a4');
TRUNCATE emptied;
INSERT INTO emptied SELECT 'a' || i, 'a' || i + 1 FROM generate_series(1, 3) i;
SELECT count(*) FROM emogi_bfs('emptied', 'a1');
TRUNCATE emptied;
SELECT count(*) FROM emogi_bfs('emptied', 'a4', direction => 'in');
INSERT INTO emptied SELECT 'a' || i, 'a' || i + 1 FROM generate_series(1, 3) i;
SELECT count(*) FROM emogi_bfs('emptied', 'a4', direction => 'in');
TRUNCATE emptied;
INSERT INTO emptied SELECT 'a' || i, 'a' || i + 1 FROM generate_series(1, 3) i;
SELECT count(*) FROM emogi_bfs('emptied', 'a1');
TRUNCATE emptied;
SELECT count(*) FROM emogi_pagerank_text('emptied');
INSERT INTO emptied SELECT 'a' || i, 'a' || i + 1 FROM generate_series(1, 3) i;
SELECT count(*) FROM emogi_pagerank_text('emptied');
TRUNCATE emptied;
INSERT INTO emptied_ids SELECT lpad(i::text, 32, '0')::uuid, lpad((i + 1)::text, 32, '0')::uuid FROM generate_series(1, 3) i;
SELECT count(*) FROM emogi_bfs('emptied_ids', lpad('1', 32, '0'));
DELETE FROM emptied_ids;
SELECT count(*) FROM emogi_shortest_path('emptied_ids', lpad('1', 32, '0'), lpad('4', 32, '0'));
INSERT INTO emptied_ids SELECT lpad(i::text, 32, '0')::uuid, lpad((i + 1)::text, 32, '0')::uuid FROM generate_series(1, 3) i;
SELECT count(*) FROM emogi_shortest_path('emptied_ids', lpad('1', 32, '0'), lpad('4', 32, '0'));
DELETE FROM emptied_ids;
INSERT INTO emptied_ids SELECT lpad(i::text, 32, '0')::uuid, lpad((i + 1)::text, 32, '0')::uuid FROM generate_series(1, 3) i;
SELECT count(*) FROM emogi_bfs('emptied_ids', lpad('1', 32, '0'));
DELETE FROM emptied_ids;
SELECT count(*) FROM emogi_bfs('emptied_ids', lpad('4', 32, '0'), direction => 'in');
INSERT INTO emptied_ids SELECT lpad(i::text, 32, '0')::uuid, lpad((i + 1)::text, 32, '0')::uuid FROM generate_series(1, 3) i;
SELECT count(*) FROM emogi_bfs('emptied_ids', lpad('4', 32, '0'), direction => 'in');
DELETE FROM emptied_ids;
INSERT INTO emptied_ids SELECT lpad(i::text, 32, '0')::uuid, lpad((i + 1)::text, 32, '0')::uuid FROM generate_series(1, 3) i;
SELECT count(*) FROM emogi_bfs('emptied_ids', lpad('1', 32, '0'));
DELETE FROM emptied_ids;
SELECT count(*) FROM emogi_pagerank_text('emptied_ids');
INSERT INTO emptied_ids SELECT lpad(i::text, 32, '0')::uuid, lpad((i + 1)::text, 32, '0')::uuid FROM generate_series(1, 3) i;
SELECT count(*) FROM emogi_pagerank_text('emptied_ids');
DELETE FROM emptied_ids;
INSERT INTO emptied_ids SELECT lpad(i::text, 32, '0')::uuid, lpad((i + 1)::text, 32, '0')::uuid FROM generate_series(1, 3) i;
SELECT count(*) FROM emogi_bfs('emptied_ids', lpad('1', 32, '0'));
TRUNCATE emptied_ids;
SELECT count(*) FROM emogi_shortest_path('emptied_ids', lpad('1', 32, '0'), lpad('4', 32, '0'));
INSERT INTO emptied_ids SELECT lpad(i::text, 32, '0')::uuid, lpad((i + 1)::text, 32, '0')::uuid FROM generate_series(1, 3) i;
SELECT count(*) FROM emogi_shortest_path('emptied_ids', lpad('1', 32, '0'), lpad('4', 32, '0'));
TRUNCATE emptied_ids;
INSERT INTO emptied_ids SELECT lpad(i::text, 32, '0')::uuid, lpad((i + 1)::text, 32, '0')::uuid FROM generate_series(1, 3) i;
SELECT count(*) FROM emogi_bfs('emptied_ids', lpad('1', 32, '0'));
TRUNCATE emptied_ids;
SELECT count(*) FROM emogi_bfs('emptied_ids', lpad('4', 32, '0'), direction => 'in');
INSERT INTO emptied_ids SELECT lpad(i::text, 32, '0')::uuid, lpad((i + 1)::text, 32, '0')::uuid FROM generate_series(1, 3) i;
SELECT count(*) FROM emogi_bfs('emptied_ids', lpad('4', 32, '0'), direction => 'in');
TRUNCATE emptied_ids;
INSERT INTO emptied_ids SELECT lpad(i::text, 32, '0')::uuid, lpad((i + 1)::text, 32, '0')::uuid FROM generate_series(1, 3) i;
SELECT count(*) FROM emogi_bfs('emptied_ids', lpad('1', 32, '0'));
TRUNCATE emptied_ids;
SELECT count(*) FROM emogi_pagerank_text('emptied_ids');
INSERT INTO emptied_ids SELECT lpad(i::text, 32, '0')::uuid, lpad((i + 1)::text, 32, '0')::uuid FROM generate_series(1, 3) i;
SELECT count(*) FROM emogi_pagerank_text('emptied_ids');
TRUNCATE emptied_ids;
RESET emogi.incremental_min_size;


-- Graphs of other columns are not versions of each other: none replaces another, and each tracks
-- the table.
SET emogi.incremental_min_size = 0;
CREATE TABLE pairs AS SELECT i AS a, i + 1 AS b, i + 2 AS c, i + 3 AS d, i + 4 AS e FROM generate_series(1, 5000) i;
CREATE FUNCTION ways() RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  ways text[];
BEGIN
  FOR p IN 1 .. 10 LOOP
    PERFORM count(*) FROM public.emogi_cc((ARRAY['pairs(a,b)', 'pairs(a,c)', 'pairs(a,d)', 'pairs(a,e)', 'pairs(b,c)', 'pairs(b,d)', 'pairs(b,e)', 'pairs(c,d)', 'pairs(c,e)', 'pairs(d,e)'])[p]);
    ways := ways || (SELECT cache FROM public.emogi_runs WHERE pid = pg_backend_pid() ORDER BY id DESC LIMIT 1);
  END LOOP;
  RETURN ways;
END $$;
SELECT ways();
SELECT ways();
INSERT INTO pairs VALUES (1, 3000, 2, 4000, 3);
SELECT ways();
SELECT ways();
RESET emogi.incremental_min_size;

SET client_min_messages = warning;
DROP SCHEMA test_live CASCADE;
DROP ROLE regress_emogi_alice;
