-- The caller needs exactly the SELECT privilege on what is read, and row security applies.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS emogi;
DROP ROLE IF EXISTS regress_emogi_owner, regress_emogi_alice, regress_emogi_bob, regress_emogi_free;
RESET client_min_messages;
CREATE ROLE regress_emogi_owner;
CREATE ROLE regress_emogi_alice;
CREATE ROLE regress_emogi_bob;
CREATE ROLE regress_emogi_free BYPASSRLS;
CREATE SCHEMA test_rights AUTHORIZATION regress_emogi_owner;
SET search_path = test_rights, public;
\pset format unaligned
\pset tuples_only on
\pset null (null)
\set VERBOSITY sqlstate

-- answer() calls as the caller, answer_as_owner() as its owner.
CREATE FUNCTION answer(graph text, source bigint DEFAULT 1) RETURNS text LANGUAGE sql STABLE AS
  $$ SELECT string_agg(vertex || ':' || level, ' ') FROM emogi_bfs(graph, source) $$;
CREATE FUNCTION answer_as_owner(graph text) RETURNS text LANGUAGE sql STABLE SECURITY DEFINER SET search_path = test_rights, public AS
  $$ SELECT string_agg(vertex || ':' || level, ' ') FROM emogi_bfs(graph, 1) $$;
ALTER FUNCTION answer_as_owner OWNER TO regress_emogi_owner;

SET ROLE regress_emogi_owner;
CREATE TABLE edges (src int, dst int, weight float8, secret text, owner name, hidden int);
INSERT INTO edges VALUES (1, 2, 1, 's', 'regress_emogi_alice'), (2, 3, 1, 's', 'regress_emogi_alice'),
  (1, 4, 1, 's', 'regress_emogi_bob'), (4, 5, 1, 's', 'regress_emogi_bob');
CREATE VIEW edge_view AS SELECT src, dst FROM edges;
-- Before 15 views cannot be security_invoker; a SECURITY INVOKER function in a view replaces one.
DO $$ BEGIN
  IF current_setting('server_version_num')::int >= 150000 THEN
    CREATE VIEW invoker_view WITH (security_invoker) AS SELECT src, dst FROM edges;
  ELSE
    CREATE FUNCTION callers_edges() RETURNS TABLE (src int, dst int) LANGUAGE sql STABLE AS 'SELECT src, dst FROM test_rights.edges';
    CREATE VIEW invoker_view AS SELECT src, dst FROM callers_edges();
  END IF;
END $$;
SELECT answer('edges');

-- The schema: without USAGE its objects cannot be named.
RESET ROLE;
GRANT SELECT ON test_rights.edges TO regress_emogi_alice;
SET ROLE regress_emogi_alice;
SELECT * FROM emogi_bfs('test_rights.edges', 1);
SELECT * FROM emogi_bfs('SELECT src, dst FROM test_rights.edges', 1);
RESET ROLE;
REVOKE SELECT ON test_rights.edges FROM regress_emogi_alice;
-- ... nor read by OID, which requires no schema.
RESET ROLE;
SELECT 'test_rights.edges'::regclass::oid AS edges \gset
GRANT SELECT ON test_rights.edges TO regress_emogi_alice;
SET ROLE regress_emogi_alice;
SELECT count(*) FROM emogi_bfs(:edges::regclass, 1);
SELECT edges FROM emogi_estimate(:edges::regclass);
RESET ROLE;
REVOKE SELECT ON test_rights.edges FROM regress_emogi_alice;
GRANT USAGE ON SCHEMA test_rights TO PUBLIC;

-- The table: SELECT on the two columns read is required and sufficient; the default weight column
-- is not read.
SET ROLE regress_emogi_alice;
SELECT answer('edges');
SELECT answer('edges(src, dst)');
SELECT answer('SELECT src, dst FROM edges');
SELECT answer('TABLE edges');
SELECT * FROM emogi_bfs('edges', NULL::bigint);
SELECT * FROM emogi_bfs('edges', '{}'::bigint[]);
RESET ROLE;
GRANT SELECT (src) ON edges TO regress_emogi_alice;
SET ROLE regress_emogi_alice;
SELECT answer('edges');
RESET ROLE;
GRANT SELECT (dst) ON edges TO regress_emogi_alice;
SET ROLE regress_emogi_alice;
SELECT answer('edges');
SELECT answer('edges(dst, src)', 5);
SELECT answer('SELECT src, dst FROM edges');
SELECT answer('SELECT src, dst, weight FROM edges');
SELECT answer('TABLE edges');
RESET ROLE;

-- The weight: functions that read it require the privilege, also if a graph with weights is cached
-- for another role. Other functions do not.
SELECT emogi_evict('edges') IS NOT NULL;
SET ROLE regress_emogi_alice;
SELECT * FROM emogi_sssp('edges', 1);
SELECT * FROM emogi_sssp('edges(src, dst, weight)', 1);
SELECT emogi_sssp('edges', 1);
SET ROLE regress_emogi_owner;
SELECT string_agg(vertex || ':' || distance, ' ') FROM emogi_sssp('edges', 1);
SELECT columns FROM emogi_graphs WHERE source = 'edges';
SET ROLE regress_emogi_alice;
SELECT * FROM emogi_sssp('edges', 1);
SELECT * FROM emogi_sssp('edges(src, dst, weight)', 1);
SELECT emogi_sssp('edges', 1);
SELECT * FROM emogi_sswp('edges', 1);
SELECT * FROM emogi_shortest_path('edges', 1, 5);
SELECT i FROM generate_series(1, 2) i, LATERAL emogi_sssp('edges', i);
SELECT answer('edges');
SELECT string_agg(vertex || ':' || level, ' ') FROM emogi_bfs('edges(src, dst, weight)', 1);
SELECT string_agg(vertex || ':' || distance, ' ') FROM emogi_sssp('edges(src, dst)', 1);
SELECT cache FROM emogi_runs WHERE pid = pg_backend_pid() ORDER BY id DESC LIMIT 1;
RESET ROLE;
GRANT SELECT (weight) ON edges TO regress_emogi_alice;
SET ROLE regress_emogi_alice;
SELECT string_agg(vertex || ':' || distance, ' ') FROM emogi_sssp('edges', 1);
RESET ROLE;
REVOKE SELECT (weight) ON edges FROM regress_emogi_alice;
SET ROLE regress_emogi_alice;
SELECT * FROM emogi_sssp('edges', 1);
RESET ROLE;
REVOKE SELECT (src, dst) ON edges FROM regress_emogi_alice;
GRANT INSERT, UPDATE, DELETE, REFERENCES, TRIGGER, TRUNCATE ON edges TO regress_emogi_alice;
SET ROLE regress_emogi_alice;
SELECT answer('edges');
RESET ROLE;
REVOKE ALL ON edges FROM regress_emogi_alice;

-- A privilege revoked between two calls, also of a prepared statement.
GRANT SELECT ON edges TO regress_emogi_bob;
SET ROLE regress_emogi_bob;
PREPARE q AS SELECT string_agg(vertex || ':' || level, ' ') FROM emogi_bfs('edges', 1);
EXECUTE q;
EXECUTE q;
RESET ROLE;
REVOKE SELECT ON edges FROM regress_emogi_bob;
SET ROLE regress_emogi_bob;
EXECUTE q;
RESET ROLE;
EXECUTE q;
GRANT SELECT ON edges TO regress_emogi_bob;
SET ROLE regress_emogi_bob;
EXECUTE q;
SET ROLE regress_emogi_alice;
EXECUTE q;
RESET ROLE;
REVOKE SELECT ON edges FROM regress_emogi_bob;

-- A view uses its owner's privileges, a security_invoker view the caller's.
SET ROLE regress_emogi_alice;
SELECT answer('edge_view');
RESET ROLE;
GRANT SELECT ON edge_view, invoker_view TO regress_emogi_alice;
SET ROLE regress_emogi_alice;
SELECT answer('edge_view');
SELECT answer('invoker_view');
SELECT answer('SELECT src, dst FROM edge_view');
RESET ROLE;

-- A SECURITY DEFINER function uses its owner's privileges.
SET ROLE regress_emogi_alice;
SELECT answer_as_owner('edges');
SELECT answer('edges');
RESET ROLE;

-- Partitions and children are read with the privilege on the parent; if named directly, with their
-- own.
SET ROLE regress_emogi_owner;
CREATE TABLE parts (src int, dst int) PARTITION BY RANGE (src);
CREATE TABLE part1 PARTITION OF parts FOR VALUES FROM (0) TO (2);
CREATE TABLE part2 (dst int, src int);
ALTER TABLE parts ATTACH PARTITION part2 FOR VALUES FROM (2) TO (9);
INSERT INTO parts VALUES (1, 2), (2, 3);
CREATE TABLE parent (src int, dst int);
CREATE TABLE child (x int) INHERITS (parent);
INSERT INTO parent VALUES (1, 2);
INSERT INTO child VALUES (2, 3);
GRANT SELECT (src, dst) ON parts, parent TO regress_emogi_alice;
SET ROLE regress_emogi_alice;
SELECT answer('parts'), answer('parent');
SELECT answer('part1');
SELECT answer('part2', 2);
SELECT answer('child', 2);
RESET ROLE;

-- Row security: each role sees its own rows; the owner, superusers and BYPASSRLS see all.
GRANT SELECT ON edges TO regress_emogi_alice, regress_emogi_bob, regress_emogi_free;
ALTER TABLE edges ENABLE ROW LEVEL SECURITY;
SET ROLE regress_emogi_alice;
SELECT answer('edges');
RESET ROLE;
CREATE POLICY own ON edges FOR SELECT USING (owner = current_user);
SET ROLE regress_emogi_alice;
SELECT answer('edges'), answer('edges(src, dst)'), answer('SELECT src, dst FROM edges');
EXECUTE q;
SET ROLE regress_emogi_bob;
SELECT answer('edges'), answer('edges(src, dst)'), answer('SELECT src, dst FROM edges');
EXECUTE q;
SET ROLE regress_emogi_free;
SELECT answer('edges');
SET ROLE regress_emogi_owner;
SELECT answer('edges');
RESET ROLE;
SELECT answer('edges');
EXECUTE q;

-- Through the owner's view and function all rows, through a security_invoker view the caller's own.
SET ROLE regress_emogi_alice;
SELECT answer('edge_view'), answer_as_owner('edges'), answer('invoker_view');
RESET ROLE;

-- FORCE applies the policies to the owner, and to roles acting as the owner.
ALTER TABLE edges FORCE ROW LEVEL SECURITY;
SET ROLE regress_emogi_owner;
SELECT answer('edges');
SET ROLE regress_emogi_alice;
SELECT answer('edge_view'), answer_as_owner('edges'), answer('edges');
SET ROLE regress_emogi_free;
SELECT answer('edges');
RESET ROLE;
SELECT answer('edges');
ALTER TABLE edges NO FORCE ROW LEVEL SECURITY;

-- With row_security = off there is an error instead of missing rows.
SET row_security = off;
SET ROLE regress_emogi_alice;
SELECT answer('edges');
SELECT answer('SELECT src, dst FROM edges');
SET ROLE regress_emogi_free;
SELECT answer('edges');
SET ROLE regress_emogi_owner;
SELECT answer('edges');
RESET ROLE;
RESET row_security;

-- A policy that depends on a setting; a restrictive one; one on columns that the caller cannot
-- read.
CREATE POLICY low ON edges AS RESTRICTIVE FOR SELECT USING (dst < coalesce(nullif(current_setting('test.bound', true), ''), '100')::int AND secret = 's');
REVOKE SELECT ON edges FROM regress_emogi_alice;
GRANT SELECT (src, dst) ON edges TO regress_emogi_alice;
SET ROLE regress_emogi_alice;
SELECT answer('edges');
SET test.bound = '3';
SELECT answer('edges');
RESET test.bound;
SELECT answer('edges');
SELECT answer('edges(src, hidden)');
RESET ROLE;
DROP POLICY low ON edges;

-- A policy that fails to evaluate is an error.
CREATE POLICY broken ON edges FOR SELECT TO regress_emogi_bob USING (1 / (src - 1) > 0);
DROP POLICY own ON edges;
SET ROLE regress_emogi_bob;
SELECT answer('edges');
RESET ROLE;
ALTER TABLE edges DISABLE ROW LEVEL SECURITY;
SET ROLE regress_emogi_bob;
SELECT answer('edges');
RESET ROLE;

-- Policies of a partitioned table apply through it, those of a partition if it is named directly.
ALTER TABLE parts ENABLE ROW LEVEL SECURITY;
CREATE POLICY p ON parts USING (src = 1);
ALTER TABLE part2 ENABLE ROW LEVEL SECURITY;
CREATE POLICY p ON part2 USING (false);
GRANT SELECT ON parts, part1, part2 TO regress_emogi_bob;
SET ROLE regress_emogi_bob;
SELECT answer('parts'), answer('part1'), answer('part2', 2);
RESET ROLE;
ALTER TABLE parts DISABLE ROW LEVEL SECURITY;
SET ROLE regress_emogi_bob;
SELECT answer('parts'), answer('part1'), answer('part2', 2);
RESET ROLE;

-- A security barrier prevents leaks through the caller's own condition.
SET ROLE regress_emogi_owner;
CREATE VIEW barrier WITH (security_barrier) AS SELECT src, dst FROM edges WHERE owner = 'regress_emogi_alice';
GRANT SELECT ON barrier TO regress_emogi_bob;
RESET ROLE;
GRANT CREATE ON SCHEMA test_rights TO regress_emogi_bob;
SET ROLE regress_emogi_bob;
CREATE FUNCTION leak(i int) RETURNS bool LANGUAGE plpgsql COST 0.0001 AS $$ BEGIN IF i = 4 THEN RAISE EXCEPTION 'leaked %', i; END IF; RETURN true; END $$;
SELECT answer('barrier');
SELECT answer('SELECT src, dst FROM barrier WHERE leak(dst)');
RESET ROLE;

-- EXECUTE on the functions themselves may be revoked.
BEGIN;
REVOKE EXECUTE ON FUNCTION emogi_bfs(text, bigint, int, text, text, "any") FROM PUBLIC;
SET LOCAL ROLE regress_emogi_bob;
SELECT answer('edges');
ROLLBACK;
SET ROLE regress_emogi_bob;
SELECT answer('edges'), emogi_version() <> '';

-- Other functions of the extension give the caller no access: no crash, and the next answer is
-- correct.
DO $$
DECLARE
  f record;
BEGIN
  FOR f IN SELECT p.oid::regproc AS name, array_to_string(ARRAY(SELECT arg FROM unnest(p.proargtypes) t, LATERAL (VALUES
               (0, 'NULL::' || format_type(t, NULL)),
               (1, CASE format_type(t, NULL) WHEN 'internal' THEN NULL WHEN 'text' THEN '''edges''' WHEN 'bigint[]' THEN '''{1}''::bigint[]'
                   ELSE format('''1''::%s', format_type(t, NULL)) END)) v(i, arg) WHERE i = n), ', ') AS args
             FROM pg_depend d JOIN pg_proc p ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid, generate_series(0, 1) n
            WHERE d.deptype = 'e' AND d.refobjid = (SELECT oid FROM pg_extension WHERE extname = 'emogi') AND p.proname <> 'emogi_version' LOOP
    BEGIN
      EXECUTE format('SELECT %s(%s)', f.name, f.args);
    EXCEPTION WHEN OTHERS THEN
      NULL;
    END;
  END LOOP;
END $$;
SELECT answer('edges');
RESET ROLE;

-- Sessions leave nothing behind.
DEALLOCATE q;
SET client_min_messages = warning;
DROP SCHEMA test_rights CASCADE;
DROP ROLE regress_emogi_owner, regress_emogi_alice, regress_emogi_bob, regress_emogi_free;
