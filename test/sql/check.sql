-- emogi_check: the graph that a call would use is rebuilt from its source and compared.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS emogi;
DROP ROLE IF EXISTS regress_emogi_alice;
RESET client_min_messages;
SET emogi.incremental_min_size = '1GB';	-- tracked graphs are checked by live
CREATE ROLE regress_emogi_alice;
CREATE SCHEMA test_check;
SET search_path = test_check, public;
\pset format unaligned
\pset null (null)
SELECT emogi_evict() IS NOT NULL AS evicted;

SELECT pg_get_function_arguments(oid), pg_get_function_result(oid), provolatile, proparallel, proisstrict, proretset
  FROM pg_proc WHERE proname = 'emogi_check' ORDER BY proargtypes;

CREATE TABLE edges (src int, dst int, weight float8);
INSERT INTO edges SELECT g % 300, (g * 7919) % 500, g % 50 FROM generate_series(1, 2000) g;
INSERT INTO edges VALUES (NULL, 1, 1), (1, NULL, 1), (7, 7, 0), (7, 7, 0), (-9000000, 7, 3);

-- It finds the graph as a call does, and builds one if a call does.
SELECT * FROM emogi_check('edges');
\pset tuples_only on
SELECT * FROM emogi_check('edges');
SELECT count(*) FROM emogi_bfs('edges', 7);
SELECT function, cache FROM emogi_runs WHERE pid = pg_backend_pid() ORDER BY id DESC LIMIT 1;
SELECT emogi_check('edges');
SELECT function, source, status, cache, engine, vertices, edges, reached, rows FROM emogi_runs WHERE pid = pg_backend_pid() ORDER BY id DESC LIMIT 1;

-- All cached graphs: whatever is requested, a graph is compared completely, as seen from the
-- requested direction.
SELECT * FROM emogi_check('edges', 'in');
SELECT * FROM emogi_check('edges', backward => true);
SELECT * FROM emogi_check('edges', 'in');
SELECT * FROM emogi_check('edges', weights => true);
SELECT * FROM emogi_check('edges', 'in', weights => true, backward => true);
SELECT * FROM emogi_check('edges', 'out', true, true);
SELECT * FROM emogi_check('edges', 'both');
SELECT * FROM emogi_check('edges', 'both', true);
SELECT * FROM emogi_check('edges', 'both', backward => true);
SELECT * FROM emogi_check('edges'::regclass, 'OUT', columns => 'dst, src');
SELECT * FROM emogi_check('edges(dst, src, weight)', NULL, NULL, NULL);
SELECT * FROM emogi_check('edges', weights => true, columns => 'dst, src, weight');
SELECT source, g.columns, g.direction, g.backward, ok, differs, cache
  FROM emogi_graphs g, LATERAL emogi_check(relation::regclass, direction, weights => true, backward => g.backward, columns => g.columns)
  WHERE source = 'edges' ORDER BY 2, 3;

-- Weights that one function rejects another accepts: graphs are checked with whatever weights they
-- have.
CREATE TABLE odd (src int, dst int, weight float8);
INSERT INTO odd VALUES (1, 2, -1.5), (2, 3, 'Infinity'), (3, 1, 2), (1, 2, '-Infinity'), (1, 2, -0.0), (1, 2, 0);
SELECT * FROM emogi_check('odd', weights => true);
SELECT * FROM emogi_check('odd', 'in', weights => true);
SELECT count(*) FROM emogi_bfs('odd', 1);
\set VERBOSITY sqlstate
SELECT count(*) FROM emogi_sssp('odd', 1);
DELETE FROM odd WHERE weight IN ('Infinity', '-Infinity');
SELECT count(*) FROM emogi_neural('odd', 'VALUES (1, 1)', 1);
SELECT cache FROM emogi_runs WHERE pid = pg_backend_pid() ORDER BY id DESC LIMIT 1;
SELECT * FROM emogi_check('odd', 'out');
SELECT * FROM emogi_check('odd', 'in');
SELECT count(*) FROM emogi_sssp('odd', 1);
INSERT INTO odd VALUES (5, 6, 'NaN');
SELECT * FROM emogi_check('odd');
SELECT * FROM emogi_check('odd', weights => true);
UPDATE odd SET weight = NULL WHERE src = 5;
SELECT * FROM emogi_check('odd', weights => true);
SELECT * FROM emogi_check('odd');

-- An empty table, one partition or many, tables with inheritance.
CREATE TABLE nothing (src int, dst int, weight int);
SELECT * FROM emogi_check('nothing');
SELECT * FROM emogi_check('nothing', 'both', true, true);
INSERT INTO nothing VALUES (NULL, 1), (1, NULL);
SELECT * FROM emogi_check('nothing');
SELECT * FROM emogi_check('nothing');
CREATE TABLE parts (part int, src int, dst int, weight numeric) PARTITION BY LIST (part);
CREATE TABLE part1 PARTITION OF parts FOR VALUES IN (1);
CREATE TABLE part2 (weight numeric, dst int, gone text, src int, part int);
ALTER TABLE part2 DROP COLUMN gone;
ALTER TABLE parts ATTACH PARTITION part2 FOR VALUES IN (2);
CREATE TABLE part3 PARTITION OF parts FOR VALUES IN (3);
INSERT INTO parts SELECT 1 + g % 2, g, g / 2, g / 4.0 FROM generate_series(1, 100) g;
SELECT * FROM emogi_check('parts', weights => true);
SELECT * FROM emogi_check('parts');
INSERT INTO parts VALUES (3, 1, 2, 3);
SELECT * FROM emogi_check('parts', weights => true);
ALTER TABLE parts DETACH PARTITION part2;
SELECT * FROM emogi_check('parts');
SELECT * FROM emogi_check('part2', weights => true);

-- Graphs that are not cached are built twice.
CREATE VIEW seen AS SELECT src, dst, weight FROM edges;
SELECT * FROM emogi_check('seen', weights => true);
SELECT * FROM emogi_check('SELECT src, dst FROM edges UNION ALL SELECT NULL, 5', 'in', backward => true);
CREATE TEMP TABLE mine AS SELECT * FROM edges;
SELECT * FROM emogi_check('mine');
SET emogi.enable_cache = off;
SELECT * FROM emogi_check('edges', weights => true);
RESET emogi.enable_cache;
BEGIN;
INSERT INTO edges VALUES (1, 12345, 1);
SELECT * FROM emogi_check('edges');
SAVEPOINT a;
DELETE FROM edges WHERE src = 7;
SELECT * FROM emogi_check('edges', 'both', true);
ROLLBACK TO a;
SELECT * FROM emogi_check('edges', 'in', true);
ROLLBACK;
SELECT * FROM emogi_check('edges');
BEGIN ISOLATION LEVEL SERIALIZABLE;
SELECT * FROM emogi_check('edges');
COMMIT;

-- A query may return other rows each time. That is reported, and is not corruption.
CREATE SEQUENCE numbers;
SELECT * FROM emogi_check($$SELECT nextval('numbers'), 1$$);
SELECT * FROM emogi_check($$SELECT 7, 8 FROM generate_series(1, nextval('numbers'))$$);
SELECT * FROM emogi_check($$SELECT 7, 8, nextval('numbers')$$, weights => true);
SELECT * FROM emogi_check($$SELECT 7, 8, -nextval('numbers') * 1e10$$, 'in', true);
SELECT * FROM emogi_check($$SELECT NULL, 1 FROM generate_series(1, nextval('numbers')) UNION ALL SELECT 1, 2$$);

-- Privileges as for any call. Weights of a column that the caller cannot read are not compared.
GRANT USAGE ON SCHEMA test_check TO regress_emogi_alice;
GRANT SELECT (src, dst) ON edges TO regress_emogi_alice;
SELECT emogi_evict('edges') > 0;
SELECT * FROM emogi_check('edges', 'both', weights => true);
SET ROLE regress_emogi_alice;
SELECT * FROM emogi_check('edges', 'both');
SELECT * FROM emogi_check('edges', 'both', weights => true);
SELECT * FROM emogi_check('odd');
SELECT * FROM emogi_check('SELECT src, dst FROM odd');
RESET ROLE;
GRANT SELECT (weight) ON edges TO regress_emogi_alice;
SET ROLE regress_emogi_alice;
SELECT * FROM emogi_check('edges', 'both');
RESET ROLE;
DROP VIEW seen;
ALTER TABLE edges DROP COLUMN weight;
SELECT * FROM emogi_check('edges', 'both');
SET ROLE regress_emogi_alice;
SELECT * FROM emogi_check('edges', 'both');
RESET ROLE;
CREATE POLICY even ON edges USING (src % 2 = 0);
ALTER TABLE edges ENABLE ROW LEVEL SECURITY;
SET ROLE regress_emogi_alice;
SELECT * FROM emogi_check('edges', 'both');
RESET ROLE;

-- Errors.
\set VERBOSITY default
SELECT emogi_check(NULL);
SELECT emogi_check('edges', 'up');
SELECT emogi_check('nowhere');
SELECT emogi_check('edges', weights => true, columns => 'src, dst, lost');
SELECT emogi_check('SELECT 1');

-- No memory is left.
SELECT pins FROM emogi_graphs WHERE pins > 0;
SET client_min_messages = warning;
DROP SCHEMA test_check CASCADE;
DROP ROLE regress_emogi_alice;
