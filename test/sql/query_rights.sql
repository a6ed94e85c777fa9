-- Privileges on all relations and functions of a query are checked on each call, cached or not; row
-- security is part of the key.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS emogi;
DROP SCHEMA IF EXISTS test_qrights CASCADE;
DROP ROLE IF EXISTS regress_emogi_q1, regress_emogi_q2, regress_emogi_q3, regress_emogi_qo, regress_emogi_qg;
RESET client_min_messages;
CREATE ROLE regress_emogi_q1;
CREATE ROLE regress_emogi_q2;
CREATE ROLE regress_emogi_q3;
CREATE ROLE regress_emogi_qo;
CREATE ROLE regress_emogi_qg;
CREATE SCHEMA test_qrights;
GRANT USAGE ON SCHEMA test_qrights TO PUBLIC;
SET search_path = test_qrights, public;
\pset format unaligned
\pset tuples_only on
\set VERBOSITY terse
SELECT emogi_evict() IS NOT NULL;
\i test/data/how.sql
CREATE TABLE e (src bigint, dst bigint, w float8);
INSERT INTO e SELECT g, g % 7, g FROM generate_series(1, 60) g;
CREATE TABLE v (id bigint PRIMARY KEY, tenant int);
INSERT INTO v SELECT g, g % 3 FROM generate_series(0, 60) g;
CREATE VIEW ve AS SELECT src, dst FROM e WHERE src > 10;
CREATE FUNCTION reads(bigint) RETURNS bigint LANGUAGE sql STABLE AS $$SELECT count(*) FROM test_qrights.v WHERE id <= $1$$;
\set join 'SELECT e.src, v.tenant FROM test_qrights.e JOIN test_qrights.v ON v.id = e.src'

-- Tables.
SELECT how('SELECT src, dst FROM e');
SELECT how(:'join');
SELECT how('ve');
SET ROLE regress_emogi_q1;
SELECT how('SELECT src, dst FROM e');
SELECT how(:'join');
SELECT * FROM emogi_bfs(:'join', 1);
SET emogi.engine = auto;
EXPLAIN (COSTS OFF) SELECT * FROM emogi_bfs('ve', 1);
RESET ROLE;
GRANT SELECT ON e TO regress_emogi_q1;
SET ROLE regress_emogi_q1;
SELECT how('SELECT src, dst FROM e');
SELECT how(:'join');
RESET ROLE;
GRANT SELECT ON v TO regress_emogi_q1;
SET ROLE regress_emogi_q1;
SELECT how(:'join');
RESET ROLE;
REVOKE SELECT ON v FROM regress_emogi_q1;
SET ROLE regress_emogi_q1;
SELECT how(:'join');
RESET ROLE;
REVOKE SELECT ON e FROM regress_emogi_q1;
-- Negative control: without the rule he gets the rows.
SET emogi.fault = 'query_privileges=0';
SET ROLE regress_emogi_q1;
SELECT count(*) > 0 FROM emogi_bfs(:'join', 1);
RESET ROLE;
RESET emogi.fault;

-- A view uses its owner's privileges; columns; roles; schemas.
GRANT SELECT ON ve TO regress_emogi_q1;
SET ROLE regress_emogi_q1;
SELECT how('ve');
SELECT how('SELECT src, dst FROM e WHERE src > 10');
SET ROLE regress_emogi_q2;
SELECT how('ve');
RESET ROLE;
GRANT SELECT (src, dst) ON e TO regress_emogi_q2;
SELECT how('SELECT src, dst FROM e WHERE w > 0');
SET ROLE regress_emogi_q2;
SELECT how('SELECT src, dst FROM e');
SELECT how('SELECT src, dst FROM e WHERE w > 0');
RESET ROLE;
REVOKE SELECT (src, dst) ON e FROM regress_emogi_q2;
GRANT SELECT ON e TO regress_emogi_qg;
GRANT regress_emogi_qg TO regress_emogi_q2;
SET ROLE regress_emogi_q2;
SELECT how('SELECT src, dst FROM e');
RESET ROLE;
REVOKE regress_emogi_qg FROM regress_emogi_q2;
SET ROLE regress_emogi_q2;
SELECT how('SELECT src, dst FROM e');
RESET ROLE;
GRANT SELECT ON e, v TO regress_emogi_q2;
REVOKE USAGE ON SCHEMA test_qrights FROM PUBLIC;
SET ROLE regress_emogi_q2;
SELECT * FROM emogi_bfs(:'join', 1);
RESET ROLE;
GRANT USAGE ON SCHEMA test_qrights TO PUBLIC;
SET ROLE regress_emogi_q2;
SELECT how(:'join');
RESET ROLE;

-- Functions.
CREATE FUNCTION cabs(bigint) RETURNS bigint LANGUAGE internal IMMUTABLE AS $$int8abs$$;
SELECT how('SELECT cabs(src), dst FROM e');
SET ROLE regress_emogi_q2;
SELECT how('SELECT cabs(src), dst FROM e');
RESET ROLE;
REVOKE EXECUTE ON FUNCTION cabs FROM PUBLIC;
SELECT how('SELECT cabs(src), dst FROM e') NOT LIKE 'WRONG%';
SET ROLE regress_emogi_q2;
SELECT how('SELECT cabs(src), dst FROM e');
RESET ROLE;
CREATE VIEW inv AS SELECT src, reads(src) AS dst FROM e;
GRANT SELECT ON inv TO regress_emogi_q1;
SELECT how('inv');
SET ROLE regress_emogi_q1;
SELECT how('inv');
RESET ROLE;
-- A function of a view without the privilege is not executed, not even to compute its value.
CREATE FUNCTION tells() RETURNS int LANGUAGE plpgsql STABLE AS $$BEGIN RAISE NOTICE 'run as %', CASE WHEN current_user LIKE 'regress%' THEN current_user ELSE 'its owner' END; RETURN 3; END$$;
CREATE VIEW secret AS SELECT src, dst FROM e WHERE dst > tells();
SET ROLE regress_emogi_q1;
SELECT * FROM emogi_bfs('secret', 1);
RESET ROLE;
SELECT count(*) >= 0 FROM emogi_check('secret');

-- Row security.
CREATE TABLE r (src bigint, dst bigint, who name, ten int);
INSERT INTO r SELECT g, g, (ARRAY['regress_emogi_q1', 'regress_emogi_q2', 'regress_emogi_q3'])[1 + g % 3], g % 2 FROM generate_series(1, 60) g;
GRANT SELECT ON r TO regress_emogi_q1, regress_emogi_q2, regress_emogi_q3;
ALTER TABLE r ENABLE ROW LEVEL SECURITY;
CREATE POLICY p1 ON r USING (who = current_user);
CREATE FUNCTION rows_of(graph text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	found text := how(graph);
	first text;
BEGIN
	SELECT count(*) || ' from ' || min(vertex) INTO first FROM emogi_cc(graph);
	RETURN split_part(found, ':', 1) || ', ' || first;
END$$;
SELECT rows_of('SELECT src, dst FROM r');
SET ROLE regress_emogi_q1;
SELECT rows_of('SELECT src, dst FROM r');
SELECT rows_of('r');
SELECT rows_of('r');
SET ROLE regress_emogi_q2;
SELECT rows_of('r');
SELECT rows_of('r');
SELECT rows_of('r');
RESET ROLE;
DROP POLICY p1 ON r;
CREATE POLICY p2 ON r USING (ten = current_setting('app.ten', true)::int);
SET app.ten = 1;
SET ROLE regress_emogi_q1;
SELECT rows_of('r');
SELECT rows_of('r');
SET ROLE regress_emogi_q2;
SELECT rows_of('r');
SET app.ten = 0;
SELECT rows_of('r');
SELECT rows_of('r');
SET ROLE regress_emogi_q3;
SELECT rows_of('r');
SET row_security = off;
SELECT rows_of('r');
SELECT rows_of('SELECT src, dst FROM r');
RESET row_security;
RESET ROLE;
ALTER POLICY p2 ON r USING (ten = 0);
SET ROLE regress_emogi_q1;
SELECT rows_of('r');
SET ROLE regress_emogi_q2;
SELECT rows_of('r');
RESET ROLE;
ALTER ROLE regress_emogi_q3 BYPASSRLS;
SET ROLE regress_emogi_q3;
SELECT rows_of('SELECT src, dst FROM r');
RESET ROLE;
CREATE TABLE allow (src bigint);
INSERT INTO allow VALUES (5);
GRANT SELECT ON allow TO regress_emogi_q1, regress_emogi_q2;
ALTER POLICY p2 ON r USING (src IN (SELECT src FROM test_qrights.allow));
SET ROLE regress_emogi_q1;
SELECT rows_of('r');
RESET ROLE;
INSERT INTO allow VALUES (6), (7);
SET ROLE regress_emogi_q1;
SELECT rows_of('r');
SET ROLE regress_emogi_q2;
SELECT rows_of('r');
RESET ROLE;
ALTER TABLE r OWNER TO regress_emogi_qo;
GRANT SELECT ON allow TO regress_emogi_qo;
SET ROLE regress_emogi_qo;
SELECT rows_of('SELECT src, dst FROM test_qrights.r');
RESET ROLE;
ALTER TABLE r FORCE ROW LEVEL SECURITY;
SET ROLE regress_emogi_qo;
SELECT rows_of('SELECT src, dst FROM test_qrights.r');
RESET ROLE;
CREATE VIEW rv AS SELECT src, dst FROM r;
ALTER VIEW rv OWNER TO regress_emogi_qo;
GRANT SELECT ON rv TO regress_emogi_q1, regress_emogi_q2;
SET ROLE regress_emogi_q1;
SELECT rows_of('rv');
SET ROLE regress_emogi_q2;
SELECT rows_of('rv');
RESET ROLE;
CREATE VIEW sb WITH (security_barrier) AS SELECT src, dst FROM e WHERE src > 3;
GRANT SELECT ON sb TO regress_emogi_q1;
SET ROLE regress_emogi_q1;
SELECT rows_of('sb');
RESET ROLE;

-- The text of a query is shown to the role that built its graph, to its members, and to pg_read_all_stats.
SELECT emogi_evict() IS NOT NULL;
SET ROLE regress_emogi_q2;
SELECT how('SELECT src, dst FROM e WHERE src <> 4711');
SELECT source, hits FROM emogi_graphs;
SET ROLE regress_emogi_q1;
SELECT count(*) FROM emogi_graphs;
SELECT emogi_evict() = 0;
RESET ROLE;
SELECT source, hits FROM emogi_graphs;
GRANT regress_emogi_q2 TO regress_emogi_q3;
SET ROLE regress_emogi_q3;
SELECT count(*) FROM emogi_graphs;
RESET ROLE;
GRANT pg_read_all_stats TO regress_emogi_q1;
SET ROLE regress_emogi_q1;
SELECT count(*) FROM emogi_graphs;
SELECT emogi_evict('SELECT src, dst FROM test_qrights.ve') = 0;
SELECT emogi_evict('ve');
SELECT count(*) FROM emogi_graphs;
RESET ROLE;
SET ROLE regress_emogi_q3;
SELECT emogi_evict() > 0;
RESET ROLE;
SELECT count(*) FROM emogi_graphs;

SET client_min_messages = warning;
DROP SCHEMA test_qrights CASCADE;
DROP ROLE regress_emogi_q1, regress_emogi_q2, regress_emogi_q3, regress_emogi_qo, regress_emogi_qg;
