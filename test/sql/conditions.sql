-- Graphs of a table with conditions on its rows are tracked from their second build on, and each
-- equals the result of the query.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS emogi;
DROP ROLE IF EXISTS regress_emogi_tenant;
RESET client_min_messages;
CREATE ROLE regress_emogi_tenant;
CREATE SCHEMA test_conditions;
SET search_path = test_conditions, public;
SET emogi.incremental_min_size = 0;
SET emogi.enable_local_search = off;	-- otherwise small searches would not use a new graph
\pset format unaligned
\pset tuples_only on
\pset null (null)
\set VERBOSITY sqlstate
SELECT emogi_evict() IS NOT NULL;
-- look(): does the graph of a call equal, byte for byte, the result of the query under the same
-- snapshot, and what is its source?
CREATE FUNCTION look(graph text, direction text DEFAULT 'out', weights bool DEFAULT false) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  c record;
BEGIN
  SELECT * INTO c FROM public.emogi_check(graph, direction, weights);
  RETURN CASE WHEN c.ok THEN '' ELSE 'WRONG: ' || c.differs || ', ' END || c.cache || ', ' || c.edges || ' edges';
END $$;

CREATE SEQUENCE fresh START 2001;
CREATE TABLE e (src int, dst int, kind text, w float8 DEFAULT 1, n int DEFAULT 1, at timestamptz DEFAULT '2024-05-01 23:30+00') WITH (autovacuum_enabled = off);
INSERT INTO e SELECT g, g + 1, CASE g % 3 WHEN 0 THEN 'x' WHEN 1 THEN 'y' END FROM generate_series(1, 300) g;
\set x '''SELECT src, dst FROM e WHERE kind = ''''x'''''''
-- It is built twice, and then tracked: rows start or stop satisfying the condition, or never
-- satisfy it.
SELECT look(:x);
SELECT look(:x);
INSERT INTO e VALUES (1000, 1001, 'x');
SELECT look(:x);
INSERT INTO e VALUES (1000, 1002, 'x'), (1000, 1003, 'y'), (1000, 1004, NULL);
SELECT look(:x);
INSERT INTO e VALUES (1000, 1005, 'y');
SELECT look(:x);
UPDATE e SET kind = 'x' WHERE src = 4;
SELECT look(:x);
UPDATE e SET kind = NULL WHERE src IN (3, 6);
SELECT look(:x);
UPDATE e SET kind = 'y', dst = 7 WHERE src = 9;
SELECT look(:x);
DELETE FROM e WHERE src = 12;
SELECT look(:x);
UPDATE e SET n = 2 WHERE src = 15;
SELECT look(:x);
SELECT tracker_bytes > 0 FROM emogi_graphs WHERE source = 'SELECT src, dst FROM e WHERE kind = ''x''' AND pins = 0 ORDER BY built_at DESC LIMIT 1;
-- Rows with a NULL endpoint are counted if they satisfy the condition.
INSERT INTO e VALUES (NULL, 1, 'x'), (1, NULL, 'y');
SELECT look(:x);
SELECT max(skipped_rows) FROM emogi_graphs WHERE source LIKE '%kind = ''x''%';
-- Other conditions on the same columns have their own change trackers.
SELECT look('SELECT src, dst FROM e WHERE kind = ''y''');
UPDATE e SET kind = 'x' WHERE src = 7;
SELECT look('SELECT src, dst FROM e WHERE kind = ''y''');
UPDATE e SET kind = 'y' WHERE src = 7;
SELECT look('SELECT src, dst FROM e WHERE kind = ''y'''), look(:x);
SET emogi.fault = 'query_tracker=0';
SELECT look('SELECT src, dst FROM e WHERE kind <> ''x''');
SELECT look('SELECT src, dst FROM e WHERE kind <> ''x''') LIKE 'WRONG%', look('SELECT src, dst FROM e WHERE kind IS NULL');
INSERT INTO e VALUES (1, 5, 'y');
SELECT look('SELECT src, dst FROM e WHERE kind <> ''x''') LIKE 'WRONG%';
RESET emogi.fault;
SELECT emogi_evict('e') > 0;
-- In a transaction with changes of its own, and after its rollback.
SELECT look(:x), look(:x);
INSERT INTO e VALUES (1000, 1006, 'x');
SELECT look(:x);
BEGIN;
INSERT INTO e VALUES (1000, 1007, 'x'), (1000, 1008, 'y');
SELECT look(:x);
SAVEPOINT s;
DELETE FROM e WHERE kind = 'x' AND src > 200;
SELECT look(:x);
ROLLBACK TO s;
SELECT look(:x);
ROLLBACK;
SELECT look(:x);

-- A value used once gets no change tracker, nor does a graph requested for the first time.
SELECT sum(tracker_bytes) > 0 FROM emogi_graphs WHERE source LIKE '%n = 77%';
SELECT look('SELECT src, dst FROM e WHERE n = 77');
SELECT sum(tracker_bytes) > 0 FROM emogi_graphs WHERE source LIKE '%n = 77%';
SELECT look('SELECT src, dst FROM e WHERE at > now() - interval ''100 years'' AND at < now()');
SELECT look(emogi_query('SELECT src, dst FROM e WHERE kind = $1', 'x'));
INSERT INTO e VALUES (1000, 1009, 'x');
SELECT look(emogi_query('SELECT src, dst FROM e WHERE kind = $1', 'x'));
INSERT INTO e VALUES (1000, 1010, 'x');
SELECT look(emogi_query('SELECT src, dst FROM e WHERE kind = $1', 'x'));
SELECT look('SELECT src, dst FROM e WHERE at < date_trunc(''century'', now()) + interval ''1 century''');
SELECT look('SELECT src, dst FROM e WHERE at < date_trunc(''century'', now()) + interval ''1 century''');
INSERT INTO e VALUES (1000, 1011, 'x');
SELECT look('SELECT src, dst FROM e WHERE at < date_trunc(''century'', now()) + interval ''1 century''');

-- If an index finds few rows in many pages, a build costs less than maintaining a change tracker.
CREATE TABLE many (src int, dst int, tenant int, pad text) WITH (autovacuum_enabled = off);
INSERT INTO many SELECT g, g + 1, g / 20, repeat('p', 900) FROM generate_series(1, 16000) g;
CREATE INDEX ON many (tenant);
ANALYZE many;
SELECT look('many WHERE tenant = 7'), look('many WHERE tenant > 7');
INSERT INTO many VALUES (1, 2, 7), (1, 2, 8);
SELECT look('many WHERE tenant = 7'), look('many WHERE tenant > 7');
INSERT INTO many VALUES (1, 2, 7), (1, 2, 8);
SELECT look('many WHERE tenant = 7'), look('many WHERE tenant > 7');
DROP TABLE many;

-- EXPLAIN.
SELECT look(:x);
INSERT INTO e VALUES (1000, 1012, 'x');
SET emogi.engine = auto;
EXPLAIN (COSTS OFF) SELECT * FROM emogi_bfs('SELECT src, dst FROM e WHERE kind = ''x''', 1000);
RESET emogi.engine;

-- A helper: build the graph twice, change rows, and look.
CREATE PROCEDURE follow(graph text, change text, weights bool DEFAULT false, direction text DEFAULT 'out') LANGUAGE plpgsql AS $$
DECLARE
  said text := '';
BEGIN
  FOR i IN 1 .. 4 LOOP
    said := said || CASE WHEN i > 1 THEN '; ' ELSE '' END || look(graph, direction, weights);
    COMMIT;
    EXECUTE change;
    COMMIT;
  END LOOP;
  RAISE INFO '%', said;
END $$;
\set VERBOSITY terse
-- Tracked queries: combined conditions, columns in another order, views, casts, SQL functions,
-- lists, NULL, ORDER BY.
CALL follow('SELECT dst, src FROM e WHERE kind = ''x'' AND n < 5 OR at IS NULL', 'INSERT INTO e VALUES (2000, nextval(''fresh''), ''x'')');
CALL follow('SELECT dst AS src, src AS dst, kind FROM e WHERE kind IN (''x'', ''y'', NULL) ORDER BY n', 'INSERT INTO e VALUES (2000, nextval(''fresh''), ''x'')');
CALL follow('SELECT src, dst FROM e WHERE kind = ANY (''{x,a,b,c,d,e,f,g,h,i,j}'')', 'INSERT INTO e VALUES (2000, nextval(''fresh''), ''x'')');
CALL follow('SELECT src, dst FROM e', 'INSERT INTO e VALUES (2000, nextval(''fresh''), ''x'')');
CALL follow('SELECT src, dst FROM ONLY e WHERE tableoid = ''e''::regclass', 'INSERT INTO e VALUES (2000, nextval(''fresh''), ''x'')');
CALL follow('SELECT q.src, q.dst FROM (SELECT src, dst, n + 1 AS m, kind FROM e WHERE n > 0) q WHERE m < 5 AND kind > ''a''', 'INSERT INTO e VALUES (2000, nextval(''fresh''), ''x'')');
CREATE VIEW v AS SELECT src, dst, upper(kind) AS upper_kind FROM e WHERE n > 0;
CREATE FUNCTION is_x(text) RETURNS bool LANGUAGE sql IMMUTABLE AS $$ SELECT $1 = 'X' AND length($1) = (SELECT 1) $$;
CALL follow('v', 'INSERT INTO e VALUES (2000, nextval(''fresh''), ''x'')');
CALL follow('SELECT src, dst FROM v WHERE is_x(upper_kind)', 'INSERT INTO e VALUES (2000, nextval(''fresh''), ''x'')');
CALL follow('e WHERE kind = ''x''', 'INSERT INTO e VALUES (2000, nextval(''fresh''), ''x'')');
CALL follow('v WHERE upper_kind = ''X''', 'INSERT INTO e VALUES (2000, nextval(''fresh''), ''x'')');
-- Untracked queries: the result depends on other rows or on their order, or the endpoints are not
-- columns.
CREATE FUNCTION known(int) RETURNS bool LANGUAGE sql STABLE AS $$ SELECT count(*) > 0 FROM e WHERE src = $1 $$;
CALL follow('SELECT src, dst FROM e WHERE EXISTS (SELECT FROM e f WHERE f.src = e.dst)', 'INSERT INTO e VALUES (2000, nextval(''fresh''), ''x'')');
CALL follow('SELECT src, dst FROM e WHERE src < 20 AND known(dst)', 'INSERT INTO e VALUES (19, nextval(''fresh''), ''x'')');
CALL follow('SELECT DISTINCT src, dst FROM e WHERE kind = ''x''', 'INSERT INTO e VALUES (2000, nextval(''fresh''), ''x'')');
CALL follow('SELECT src, dst FROM e WHERE kind = ''x'' LIMIT 1000000', 'INSERT INTO e VALUES (2000, nextval(''fresh''), ''x'')');
CALL follow('SELECT src, dst + 1 AS dst FROM e WHERE kind = ''x''', 'INSERT INTO e VALUES (2000, nextval(''fresh''), ''x'')');
CALL follow('SELECT src, dst, NULL::int AS vertex FROM e WHERE kind = ''x''', 'INSERT INTO e VALUES (2000, nextval(''fresh''), ''x'')');
CALL follow('SELECT src, dst FROM e WHERE e IS NOT NULL', 'INSERT INTO e VALUES (2000, nextval(''fresh''), ''x'')');
CALL follow('SELECT src, dst FROM e WHERE ctid > ''(0,1)''', 'INSERT INTO e VALUES (2000, nextval(''fresh''), ''x'')');
CREATE TABLE wide (src int, dst int);
SELECT 'ALTER TABLE wide ' || string_agg('ADD c' || i || ' int DEFAULT 1', ', ') AS alter_wide FROM generate_series(1, 17) i \gset
:alter_wide;
SELECT 'SELECT src, dst FROM wide WHERE 16 <= ' || string_agg('c' || i, ' + ') AS of16 FROM generate_series(1, 16) i \gset
INSERT INTO wide VALUES (1, 2), (2, 3);
CALL follow(:'of16', 'INSERT INTO wide VALUES (3, 4)');
CALL follow(:'of16' || ' + c17', 'INSERT INTO wide VALUES (3, 4)');

-- Weights, also of the reverse edge: NULL or a negative weight matters only if the condition is
-- true.
CREATE TABLE roads (id int, a int, b int, cost float8, reverse_cost float8, open bool DEFAULT true) WITH (autovacuum_enabled = off);
INSERT INTO roads SELECT g, g, g + 1, g, CASE WHEN g % 4 = 0 THEN -1 ELSE g END, g % 5 > 0 FROM generate_series(1, 100) g;
INSERT INTO roads VALUES (101, 1, 1, NULL, NULL, false), (102, 1, 1, -1, 'NaN', false);
CALL follow('roads(a, b, cost, reverse_cost, id) WHERE open', 'INSERT INTO roads VALUES (200, 1, 50, 0.5, 2.5)', true, 'both');
CALL follow('SELECT a AS src, b AS dst, cost AS weight FROM roads WHERE open', 'INSERT INTO roads VALUES (200, 1, 50, 0.5, 2.5)', true, 'in');
CALL follow('roads(a, b, cost) WHERE open', 'UPDATE roads SET open = NOT open WHERE id = 4', true);
\set VERBOSITY sqlstate
INSERT INTO roads VALUES (201, 1, 1, NULL, 1);
SELECT count(*) FROM emogi_sssp('roads(a, b, cost) WHERE open', 1);
SELECT count(*) FROM emogi_sssp('roads(a, b, cost, reverse_cost, id) WHERE open', 1);
UPDATE roads SET open = false WHERE id = 201;
SELECT count(*) FROM emogi_sssp('roads(a, b, cost) WHERE open', 1);
SELECT look('roads(a, b, cost) WHERE open', 'out', true), look('roads(a, b, cost, reverse_cost, id) WHERE open', 'out', true);

-- Keys that are not integers; a condition on text that is stored out of line.
CREATE TABLE t (src text, dst text, note text) WITH (autovacuum_enabled = off);
ALTER TABLE t ALTER note SET STORAGE EXTERNAL;
INSERT INTO t SELECT 'k' || g, 'k' || g + 1, repeat('-', 3000) || g FROM generate_series(1, 100) g;
\set VERBOSITY terse
CALL follow('SELECT src, dst FROM t WHERE right(note, 1) = ''7'' AND length(note) > 100', 'INSERT INTO t SELECT ''k1'', ''new'' || random(), repeat(''+'', 9000) || ''7''');
CALL follow('SELECT src, dst FROM t WHERE right(note, 1) = ''7'' AND length(note) > 100', 'UPDATE t SET note = note || ''7'' WHERE src = (SELECT min(src) FROM t WHERE right(note, 1) <> ''7'')');

-- Partitions with different column positions; one that was detached and attached again with a
-- different column.
CREATE TABLE p (src int, dst int, gone int, kind text, part int) PARTITION BY LIST (part);
ALTER TABLE p DROP COLUMN gone;
CREATE TABLE p1 PARTITION OF p FOR VALUES IN (1);
CREATE TABLE p2 (part int, x int, y text, kind text, dst int, src int);
ALTER TABLE p2 DROP COLUMN x, DROP COLUMN y;
INSERT INTO p2 (src, dst, kind, part) SELECT g, g + 1, CASE g % 2 WHEN 0 THEN 'x' END, 2 FROM generate_series(1, 100) g;
ALTER TABLE p ATTACH PARTITION p2 FOR VALUES IN (2);
INSERT INTO p SELECT g, g + 2, CASE g % 2 WHEN 0 THEN 'x' END, 1 FROM generate_series(1, 100) g;
CREATE TABLE p3 PARTITION OF p FOR VALUES IN (3);
CALL follow('SELECT src, dst FROM p WHERE kind = ''x'' AND part > 0', 'INSERT INTO p SELECT 1, 3 + (random() * 90)::int, ''x'', 1 + i % 3 FROM generate_series(1, 3) i');
CALL follow('SELECT src, dst FROM p WHERE kind = ''x'' AND tableoid <> ''p1''::regclass', 'UPDATE p SET part = 3 - part WHERE part < 3 AND src IN (2, 4)');
ALTER TABLE p DETACH PARTITION p2;
SELECT look('SELECT src, dst FROM p WHERE kind = ''x'' AND part > 0');
ALTER TABLE p2 DROP COLUMN kind;
ALTER TABLE p2 ADD COLUMN kind text DEFAULT 'y';
ALTER TABLE p ATTACH PARTITION p2 FOR VALUES IN (2);
SELECT look('SELECT src, dst FROM p WHERE kind = ''x'' AND part > 0');
UPDATE p SET kind = 'x' WHERE src = 1;
SELECT look('SELECT src, dst FROM p WHERE kind = ''x'' AND part > 0');
BEGIN;
ALTER TABLE p DETACH PARTITION p2;
ALTER TABLE p2 DROP COLUMN kind;
ALTER TABLE p2 ADD COLUMN kind text DEFAULT 'x';
ALTER TABLE p ATTACH PARTITION p2 FOR VALUES IN (2);
COMMIT;
SELECT look('SELECT src, dst FROM p WHERE kind = ''x'' AND part > 0');
SET emogi.fault = 'query_columns=0';
BEGIN;
ALTER TABLE p DETACH PARTITION p2;
ALTER TABLE p2 DROP COLUMN kind;
ALTER TABLE p2 ADD COLUMN kind text DEFAULT 'y';
ALTER TABLE p ATTACH PARTITION p2 FOR VALUES IN (2);
COMMIT;
SELECT look('SELECT src, dst FROM p WHERE kind = ''x'' AND part > 0') LIKE 'WRONG%';
RESET emogi.fault;
SELECT emogi_evict() > 0;
CREATE TABLE heir (more text) INHERITS (e);
INSERT INTO heir SELECT g, g + 3, 'x', 1, 1, now(), 'm' FROM generate_series(1, 50) g;
CALL follow('SELECT src, dst FROM e WHERE kind = ''x''', 'INSERT INTO heir VALUES (3000, nextval(''fresh''), ''x'')');

-- Row security: tenants have their own graphs, and the user's condition does not see a row hidden
-- by a policy.
CREATE TABLE r (src int, dst int, tenant int, note text) WITH (autovacuum_enabled = off);
INSERT INTO r SELECT g, g + 1, g % 3, g::text FROM generate_series(1, 90) g;
INSERT INTO r VALUES (1, 2, 2, 'secret');
ALTER TABLE r ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenants ON r USING (tenant = current_setting('app.tenant')::int);
CREATE FUNCTION add_rows(tenants int) RETURNS void LANGUAGE sql SECURITY DEFINER SET search_path = test_conditions
  AS $$ INSERT INTO r SELECT 5000, 5000 + (random() * 1000)::int, i, '1' FROM generate_series(0, tenants) i $$;
CREATE VIEW safe WITH (security_barrier) AS SELECT src, dst, note FROM r WHERE tenant < 2;
GRANT USAGE ON SCHEMA test_conditions TO regress_emogi_tenant;
GRANT ALL ON r, safe TO regress_emogi_tenant;
SET app.tenant = 1;
SET ROLE regress_emogi_tenant;
CALL follow('r', 'SELECT add_rows(2)');
CALL follow('SELECT src, dst FROM r WHERE note::int > 0', 'SELECT add_rows(2)');
SET app.tenant = 0;
SELECT look('r'), look('r');
RESET ROLE;
CALL follow('SELECT src, dst FROM safe WHERE note::int > 0', 'SELECT add_rows(1)');
\set VERBOSITY sqlstate
SELECT look('SELECT src, dst FROM r WHERE note::int > 0');
-- An altered policy makes another graph immediately.
ALTER POLICY tenants ON r USING (tenant = current_setting('app.tenant')::int AND src > 10);
SET ROLE regress_emogi_tenant;
SELECT look('r');
RESET ROLE;

-- A condition that raises an error on a row: each call that reads the row raises it, and everything
-- works again after its deletion.
SELECT emogi_evict('e') > 0;
\set d '''SELECT src, dst FROM ONLY e WHERE 10 / n > 2'''
SELECT look(:d), look(:d);
INSERT INTO e VALUES (4000, 4001, 'x');
SELECT look(:d);
INSERT INTO e VALUES (4000, 4002, 'x');
SELECT look(:d);
INSERT INTO e VALUES (4000, 4003, 'x', 1, 0);
SELECT look(:d);
SELECT count(*) FROM emogi_bfs(:d, 4000);
DELETE FROM e WHERE n = 0;
SELECT look(:d);
SELECT count(*) FROM emogi_bfs(:d, 4000);
SELECT count(*) FROM emogi_bfs('SELECT src, dst FROM e WHERE 1 / 0 > src', 4000);

-- A replaced function makes another graph; and after restoring it, the previous tracker is correct,
-- whatever happened meanwhile.
CREATE FUNCTION fits(text) RETURNS bool LANGUAGE sql IMMUTABLE AS $$ SELECT coalesce($1, '') IN ('x', (SELECT 'y')) $$;
\set f '''SELECT src, dst FROM ONLY e WHERE fits(kind)'''
SELECT look(:f);
INSERT INTO e VALUES (4000, 4004, 'x');
SELECT look(:f);
INSERT INTO e VALUES (4000, 4005, 'z');
SELECT look(:f);
CREATE OR REPLACE FUNCTION fits(text) RETURNS bool LANGUAGE sql IMMUTABLE AS $$ SELECT coalesce($1, '') IN ('z', (SELECT 'z')) $$;
SELECT look(:f);
INSERT INTO e VALUES (4000, 4006, 'x'), (4000, 4007, 'z');
SELECT look(:f);
CREATE OR REPLACE FUNCTION fits(text) RETURNS bool LANGUAGE sql IMMUTABLE AS $$ SELECT coalesce($1, '') IN ('x', (SELECT 'y')) $$;
SELECT look(:f);
-- A setting read by a function.
\set z '''SELECT src, dst FROM ONLY e WHERE date_trunc(''''day'''', at) = timestamptz ''''2024-05-02 00:00'''''''
SET TimeZone = 'UTC';
SELECT look(:z);
INSERT INTO e VALUES (4000, 4008, 'x');
SELECT look(:z);
INSERT INTO e VALUES (4000, 4009, 'x', 1, 1, '2024-05-02 12:00+00');
SELECT look(:z);
SET TimeZone = 'Europe/Berlin';
SELECT look(:z) LIKE 'WRONG%', look(:z) LIKE '% 1 edges';
SET TimeZone = 'UTC';
SELECT look(:z);
RESET TimeZone;

-- Parallel workers evaluate conditions with built-in functions, in scans and in rescans of many
-- pages.
CREATE TABLE large (src int, dst int, kind int, pad text, touched int DEFAULT 0) WITH (fillfactor = 45, autovacuum_enabled = off);
INSERT INTO large SELECT g, g * 7 % 60000, g % 4, repeat('p', 300) FROM generate_series(1, 90000) g;
SELECT pg_relation_size('large') / 8192 > 2 * 4096;
SET emogi.build_workers = 2;
SELECT look('SELECT src, dst FROM large WHERE kind = 1 AND pad LIKE ''p%''');
INSERT INTO large VALUES (1, 2, 1, 'p');
SELECT look('SELECT src, dst FROM large WHERE kind = 1 AND pad LIKE ''p%''');
UPDATE large SET touched = 1;
SELECT look('SELECT src, dst FROM large WHERE kind = 1 AND pad LIKE ''p%''');
SELECT pages_rescanned > 8192 FROM emogi_runs WHERE pid = pg_backend_pid() ORDER BY id DESC LIMIT 1;
RESET emogi.build_workers;

-- A condition is one expression, which cannot close the enclosing parentheses.
SELECT * FROM emogi_bfs('e WHERE false) OR (true', 1);
SELECT * FROM emogi_bfs('e WHERE true) UNION ALL SELECT 1, 2 FROM e WHERE (true', 1);
SELECT * FROM emogi_bfs('e WHERE kind = ''x'' ORDER BY n', 1);
SELECT * FROM emogi_bfs('e WHERE kind = ''x'' AS k', 1);
SELECT * FROM emogi_bfs('e WHERE true, false', 1);
SELECT * FROM emogi_bfs('e WHERE', 1);
SELECT count(*) > 1 FROM emogi_bfs('e WHERE kind = ''x'' OR /* both */ kind = ''y'' -- and no more', 1);

SELECT emogi_evict() > 0;
SET client_min_messages = warning;
DROP SCHEMA test_conditions CASCADE;
DROP ROLE regress_emogi_tenant;
