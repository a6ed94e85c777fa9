-- Searches of a table with conditions on its rows use its indexes if the graph is not cached.
-- Answers are those of a recursive query.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS emogi;
DROP ROLE IF EXISTS regress_emogi_walking_tenant;
RESET client_min_messages;
CREATE ROLE regress_emogi_walking_tenant;
CREATE SCHEMA test_condition_searches;
GRANT USAGE ON SCHEMA test_condition_searches TO PUBLIC;
SET search_path = test_condition_searches, public;
SET emogi.engine = 'auto';
SET emogi.index_search_min_size = 0;
SET emogi.incremental_min_size = '1GB';	-- no older graph exists that could be refreshed
\pset format unaligned
\pset tuples_only on
\pset null (null)
SELECT emogi_evict() IS NOT NULL;

CREATE FUNCTION last() RETURNS text LANGUAGE sql VOLATILE AS
  $$ SELECT concat_ws(' ', status, cache, engine) FROM public.emogi_runs WHERE pid = pg_backend_pid() ORDER BY id DESC LIMIT 1 $$;

-- Rows of a search, and the source of its graph.
CREATE FUNCTION searched(graph text, source bigint, depth int, direction text, OUT rows text, OUT cache text) LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  rows := (SELECT string_agg(vertex || ':' || level, ' ' ORDER BY vertex) FROM public.emogi_bfs(graph, source, depth, direction));
  cache := (SELECT r.cache FROM public.emogi_runs r WHERE pid = pg_backend_pid() ORDER BY id DESC LIMIT 1);
END $$;

-- Rows of the same search by a recursive query. edges: a query.
CREATE FUNCTION expected(edges text, source bigint, depth int, direction text) RETURNS text LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  rows text;
BEGIN
  EXECUTE format('WITH RECURSIVE all_edges (a, b) AS MATERIALIZED (SELECT src, dst FROM (%s) q WHERE src IS NOT NULL AND dst IS NOT NULL),
      d (a, b) AS (SELECT a, b FROM all_edges WHERE $3 <> ''in'' UNION ALL SELECT b, a FROM all_edges WHERE $3 <> ''out''),
      reached (v, level) AS (SELECT $1, 0 WHERE EXISTS (SELECT FROM all_edges WHERE $1 IN (a, b)) UNION SELECT d.b, r.level + 1 FROM reached r JOIN d ON d.a = r.v WHERE r.level < $2)
    SELECT string_agg(v || '':'' || level, '' '' ORDER BY v) FROM (SELECT v, min(level) AS level FROM reached GROUP BY v) q', edges)
    INTO rows USING source, depth, direction;
  RETURN rows;
END $$;

-- The answer of a search and the source of its graph, or how it is wrong.
CREATE FUNCTION answer(graph text, source bigint, depth int, direction text DEFAULT 'out', edges text DEFAULT NULL) RETURNS text LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  right_rows text := expected(coalesce(edges, graph), source, depth, direction);
  found record;
BEGIN
  found := searched(graph, source, depth, direction);
  RETURN CASE WHEN found.rows IS DISTINCT FROM right_rows THEN format('WRONG: %s, expected %s', found.rows, right_rows) ELSE coalesce(right_rows, 'none') END || ' by ' || found.cache;
END $$;

CREATE FUNCTION graph_of(call text) RETURNS text LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  line text;
BEGIN
  FOR line IN EXECUTE format('EXPLAIN SELECT * FROM %s', call) LOOP
    IF line LIKE '%Graph: %' THEN
      RETURN substr(line, strpos(line, 'Graph: ') + 7);
    END IF;
  END LOOP;
END $$;

CREATE TABLE e (gone int, src int, kind text, dst bigint, n int DEFAULT 1, at timestamptz, tenant int DEFAULT 0);
ALTER TABLE e DROP COLUMN gone;
SELECT setseed(0.25);
INSERT INTO e SELECT random() * 60, (ARRAY['x', 'y', 'z', NULL])[1 + (random() * 3)::int], random() * 60, random() * 4, now() - random() * interval '30 days',
    nullif((random() * 3)::int, 3)
  FROM generate_series(1, 300);
INSERT INTO e VALUES (1, 'x', NULL, 1), (NULL, 'x', 1, 1), (1, 'x', 1, 1), (200, 'x', 201, 0), (202, 'y', 203, 1), (202, 'x', 202, 1);
CREATE INDEX e_src ON e (src);
CREATE INDEX e_dst ON e (dst);
ANALYZE e;

-- The forms: a relation with a condition, queries, views, parameters, time ranges.
CREATE VIEW v AS SELECT dst AS src, src AS dst, upper(kind) AS upper_kind FROM e WHERE n < 3;
SELECT answer('SELECT src, dst FROM e WHERE kind = ''x''', 202, 2), answer('SELECT src, dst FROM e WHERE kind = ''y''', 202, 2);
SELECT answer('e WHERE kind = ''x''', 202, 2, 'both', 'SELECT src, dst FROM e WHERE kind = ''x''');
SELECT answer('v', 203, 1, 'out', 'SELECT * FROM v'), answer('v WHERE upper_kind = ''X''', 202, 1, 'both', 'SELECT * FROM v WHERE upper_kind = ''X''');
SELECT answer(emogi_query('SELECT src, dst FROM e WHERE kind = $1 AND n > $2', 'x', '0'), 202, 1, 'out', 'SELECT src, dst FROM e WHERE kind = ''x'' AND n > 0');
SELECT rows = expected('SELECT src, dst FROM e WHERE at > now() - interval ''7 days''', 5, 3, 'both'), cache
  FROM searched('SELECT src, dst FROM e WHERE at > now() - interval ''7 days''', 5, 3, 'both');
-- Reporting.
EXPLAIN (COSTS OFF) SELECT * FROM emogi_bfs('SELECT src, dst FROM e WHERE at > now() - interval ''8 days''', 5, 2, 'both');
EXPLAIN (COSTS OFF) SELECT * FROM emogi_bfs('e WHERE kind = ''x''', 5, 2);
SELECT count(*) > 0 FROM emogi_bfs('e WHERE kind = ''x''', 5, 2);
SELECT status, cache, why_private, engine, vertices, edges FROM emogi_runs WHERE pid = pg_backend_pid() ORDER BY id DESC LIMIT 1;
-- A source whose edges are all excluded by the condition is not in the graph; with a loop it is.
SET emogi.notice_missing_source = on;
SELECT * FROM emogi_bfs('e WHERE kind = ''y''', ARRAY[202, 200], 0);
SELECT * FROM emogi_bfs('e WHERE kind = ''x''', 202, 1);
RESET emogi.notice_missing_source;
-- Without an index the graph is built. A search need not be bounded. The key of a query is known
-- when it has been analyzed.
SET emogi.enable_index_search = off;
SELECT answer('SELECT src, dst FROM e WHERE kind = ''x'' AND n = 0', 200, 2);
RESET emogi.enable_index_search;
SELECT count(*) > 0 FROM emogi_bfs('SELECT src, dst FROM e WHERE kind = ''x'' AND n = 2', 5);
SELECT last();
SELECT count(*) > 0 FROM emogi_cc('SELECT src, dst FROM e WHERE kind = ''x'' AND n = 2');
SELECT answer('SELECT src, dst FROM e WHERE kind = ''x'' AND n = 2', 5, 0) LIKE '% by hit';
SELECT answer('SELECT DISTINCT src, dst FROM e WHERE kind = ''x''', 202, 2);
\set VERBOSITY sqlstate
SELECT * FROM emogi_bfs('SELECT src::text, dst::text FROM e', 5, 1);
SELECT * FROM emogi_bfs('SELECT tableoid::text::text, kind FROM e', 5, 1);
SELECT * FROM emogi_bfs('SELECT kind AS src, kind AS dst FROM e WHERE n = 1', 5, 1);
\set VERBOSITY default
SELECT count(*) FROM emogi_bfs('SELECT kind AS src, kind AS dst FROM e WHERE n = 0', 'x'::text, 1);
SELECT last();

-- Random conditions, sources, depths and directions; negative control without conditions.
CREATE FUNCTION compare(from_what text, conditions text[], times int, OUT wrong int, OUT walked int) LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  graph text;
  said text;
BEGIN
  wrong := 0;
  walked := 0;
  FOR i IN 1 .. times LOOP
    graph := format('SELECT src, dst FROM %s WHERE %s', from_what, (SELECT string_agg(c, CASE WHEN random() < 0.7 THEN ' AND ' ELSE ' OR ' END)
      FROM (SELECT c FROM unnest(conditions) c ORDER BY random() LIMIT 1 + (random() * 2)::int) q));
    said := answer(graph, (random() * 70)::int, (random() * 4)::int, (ARRAY['out', 'in', 'both'])[1 + (random() * 2)::int]);
    wrong := wrong + (said LIKE 'WRONG%')::int;
    walked := walked + (said LIKE '% by index')::int;
  END LOOP;
END $$;
\set conditions 'ARRAY[\'kind = \'\'x\'\'\', \'kind <> \'\'x\'\'\', \'\'\'y\'\' = kind\', \'kind IN (\'\'x\'\', \'\'z\'\')\', \'kind IS NULL\', \'n > 1\', \'n = 2\', \'2 <= n\', \'tenant = 1\', \'tenant IS DISTINCT FROM 2\', \'at > now() - interval \'\'10 days\'\'\', \'at < now() - random_days()\', \'src < dst\', \'dst % 3 = 1\', \'NULL\', \'tableoid = \'\'e\'\'::regclass\', \'length(kind) = 1\']'
CREATE FUNCTION random_days() RETURNS interval LANGUAGE sql STABLE AS $$ SELECT interval '5 days' $$;
SELECT wrong, walked > 200 FROM compare('e', :conditions, 250);
SET emogi.fault = 'query_index_searches=0';
SELECT wrong > 100, walked > 200 FROM compare('e', :conditions, 250);
RESET emogi.fault;
-- With indexes whose columns before the endpoint are fixed by conditions, with several kinds of
-- equality.
CREATE INDEX e_kind_src ON e (kind, src);
CREATE INDEX e_kind_n_dst ON e (kind, n DESC, dst);
CREATE INDEX e_tenant_src ON e (tenant, src, dst);
SELECT wrong, walked > 200 FROM compare('e', :conditions, 250);
SELECT graph_of('emogi_bfs(''SELECT src, dst FROM e WHERE kind = ''''w'''''', 5, 2, ''both'')');
SELECT graph_of('emogi_bfs(''SELECT src, dst FROM e WHERE 7::bigint = n AND ''''x'''' = kind'', 5, 2, ''both'')');
SELECT graph_of('emogi_bfs(''SELECT src, dst FROM e WHERE n = 7'', 5, 2, ''both'')');
SELECT graph_of('emogi_bfs(''SELECT src, dst FROM e WHERE kind = ''''x'''' OR n = 7'', 5, 2)');
SELECT graph_of('emogi_bfs(''SELECT src, dst FROM e WHERE kind = ''''x'''' COLLATE "C" AND kind > ''''a'''''', 5, 2)');
SELECT graph_of('emogi_bfs(''SELECT src, dst FROM e WHERE tenant = NULL'', 5, 2)'), graph_of('emogi_bfs(''SELECT src, dst FROM e WHERE tenant <> 9'', 5, 2)'),
  graph_of('emogi_bfs(''SELECT src, dst FROM e WHERE tenant = 9::smallint'', 5, 2)');
SELECT answer('SELECT src, dst FROM e WHERE kind = ''x'' AND n > 0', 202, 1, 'in');
DROP INDEX e_src, e_dst;
SELECT answer('SELECT src, dst FROM e WHERE kind = ''x'' AND n = 1', 202, 2), answer('SELECT src, dst FROM e WHERE kind = ''x'' AND n = 1', 202, 2, 'both'),
  answer('SELECT src, dst FROM e WHERE n = 1 AND tenant = 0', 202, 2, 'in') NOT LIKE '%by index';
CREATE INDEX e_src ON e (src);
CREATE INDEX e_dst ON e (dst);
-- A partial index can be used if the conditions imply its predicate.
DROP INDEX e_kind_src, e_kind_n_dst, e_tenant_src;
CREATE INDEX e_part_src ON e (src, at, n) WHERE n > 0 AND kind IS NOT NULL;
CREATE INDEX e_part_dst ON e (dst) WHERE tenant = 1;
SELECT graph_of('emogi_bfs(''SELECT src, dst FROM e WHERE n > 1 AND kind = ''''x'''''', 5, 2)'), graph_of('emogi_bfs(''SELECT src, dst FROM e WHERE n > 1'', 5, 2)'),
  graph_of('emogi_bfs(''SELECT src, dst FROM e WHERE n >= 0 AND kind = ''''x'''''', 5, 2)'), graph_of('emogi_bfs(''SELECT src, dst FROM e WHERE tenant = 1'', 5, 2, ''in'')');
SELECT wrong, walked > 200 FROM compare('e', :conditions, 250);

-- Partitions with different column positions.
CREATE TABLE p (src int, dst int, gone int, kind text, part int, n int DEFAULT 1, at timestamptz, tenant int) PARTITION BY LIST (part);
ALTER TABLE p DROP COLUMN gone;
CREATE TABLE p1 PARTITION OF p FOR VALUES IN (1);
CREATE TABLE p2 (tenant int, part int, x int, n int DEFAULT 1, kind text, dst int, at timestamptz, src int);
ALTER TABLE p2 DROP COLUMN x;
ALTER TABLE p ATTACH PARTITION p2 FOR VALUES IN (2);
CREATE TABLE p3 PARTITION OF p FOR VALUES IN (3);
INSERT INTO p (src, dst, kind, part, n, at, tenant) SELECT src, dst, kind, 1 + (random() * 1.4)::int, n, at, tenant FROM e;
CREATE INDEX ON p (src);
CREATE INDEX ON p (dst);
CREATE INDEX ON p (tenant, src);
CREATE INDEX ON p2 (dst, src);
SELECT wrong, walked > 200 FROM compare('p', array_replace(:conditions, 'tableoid = ''e''::regclass', 'tableoid = ''p2''::regclass') || '{part = 2,part < 2}'::text[], 250);
SELECT answer('SELECT src, dst FROM p WHERE tenant = 0 AND kind = ''x''', 202, 1), graph_of('emogi_bfs(''SELECT src, dst FROM p WHERE tenant = 0'', 202, 1)');
-- Counts of shortest paths, and targets.
CREATE FUNCTION counted(condition text, walks bool) RETURNS text LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  PERFORM set_config('emogi.enable_index_search', walks::text, true);
  RETURN (SELECT string_agg(concat_ws(':', vertex, level, paths), ' ' ORDER BY vertex) FROM public.emogi_ssnsp('SELECT src, dst FROM e WHERE ' || condition, 5, 3, 'both')) || last();
END $$;
SELECT a = b, a LIKE '%ok index backend' FROM (SELECT counted('n = 3 OR kind IS NULL', true) AS a, replace(counted('n = 3 OR kind IS NULL', false), 'built', 'index') AS b OFFSET 0) q;
SELECT vertex, level FROM emogi_bfs('SELECT src, dst FROM e WHERE kind = ''x'' AND n < 2', 200) WHERE vertex = 201;
SELECT last();

-- Text keys, and a value that is stored out of line.
CREATE TABLE t (src text, dst text, note text);
ALTER TABLE t ALTER note SET STORAGE EXTERNAL;
INSERT INTO t SELECT 'k' || g % 50, 'k' || (g * 7) % 50, repeat('-', 3000) || g FROM generate_series(1, 200) g;
CREATE INDEX ON t (src);
CREATE INDEX ON t (dst);
SELECT string_agg(vertex || ':' || level, ' ' ORDER BY vertex) FROM emogi_bfs('SELECT src, dst FROM t WHERE right(note, 1) = ''7'' AND length(note) > 100', 'k7'::text, 2);
SELECT last();
SET emogi.enable_index_search = off;
SELECT string_agg(vertex || ':' || level, ' ' ORDER BY vertex) FROM emogi_bfs('SELECT src, dst FROM t WHERE right(note, 1) = ''7'' AND length(note) > 100', 'k7'::text, 2);
RESET emogi.enable_index_search;

-- Rows inserted, deleted and rolled back by the own transaction.
BEGIN;
INSERT INTO e VALUES (300, 'x', 301), (301, 'y', 302), (301, 'x', 303);
SELECT answer('SELECT src, dst FROM e WHERE kind = ''x'' AND src >= 300', 300, 3);
SAVEPOINT one;
UPDATE e SET kind = 'x' WHERE dst = 302;
DELETE FROM e WHERE dst = 303;
SELECT answer('SELECT src, dst FROM e WHERE kind = ''x'' AND src >= 300', 300, 3);
ROLLBACK TO one;
SELECT answer('SELECT src, dst FROM e WHERE kind = ''x'' AND src >= 300', 300, 3);
ROLLBACK;
SELECT answer('SELECT src, dst FROM e WHERE kind = ''x'' AND src >= 300', 300, 3);

-- An error in a condition is raised if a row is read for which it occurs, and does not affect the
-- next call. Later conditions do not see rows excluded by earlier ones.
\set VERBOSITY terse
SELECT searched('SELECT src, dst FROM e WHERE src >= 200 AND 10 / n > 2', 200, 1, 'out');
SELECT searched('SELECT src, dst FROM e WHERE src >= 200 AND 10 / n > 2', 202, 1, 'both');
SELECT searched('SELECT src, dst FROM e WHERE n > 0 AND 10 / n > 2 AND src >= 200', 200, 1, 'both');
BEGIN;
SAVEPOINT s;
SELECT searched('SELECT src, dst FROM e WHERE src >= 200 AND 10 / n > 2', 200, 1, 'both');
ROLLBACK TO s;
SELECT searched('SELECT src, dst FROM e WHERE src >= 200 AND 10 / n > 2', 202, 1, 'both');
COMMIT;

-- Row security: each tenant searches its own edges, by the index that begins with the tenant. No
-- condition sees a row hidden by a policy.
CREATE TABLE r (src int, dst int, tenant int, note text, amount numeric DEFAULT 1);
INSERT INTO r SELECT g % 40, (g * 7 + g / 40) % 40, g % 3, g::text FROM generate_series(1, 240) g;
INSERT INTO r VALUES (1, 2, 2, 'secret');
CREATE INDEX r_src ON r (src);
CREATE INDEX r_dst ON r (dst);
CREATE INDEX r_note_src ON r (note, src);
CREATE INDEX r_amount_src ON r (amount, src);
ALTER TABLE r ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenants ON r USING (tenant = current_setting('app.tenant')::int);
GRANT SELECT ON r TO regress_emogi_walking_tenant;
GRANT SELECT ON e TO regress_emogi_walking_tenant;
SET app.tenant = 1;
SET ROLE regress_emogi_walking_tenant;
SELECT answer('r', 1, 1, 'out', 'SELECT * FROM r');
RESET ROLE;
CREATE INDEX r_tenant_src ON r (tenant, src);
CREATE INDEX r_tenant_dst ON r (tenant, dst);
SET ROLE regress_emogi_walking_tenant;
SELECT answer('r', 1, 1, 'both', 'SELECT * FROM r'), graph_of('emogi_bfs(''r'', 1, 1, ''both'')');
SELECT answer('SELECT src, dst FROM r WHERE note::int > 0', 1, 2);
SET app.tenant = 0;
SELECT answer('r', 1, 2, 'both', 'SELECT * FROM r'), answer('r', 1, 1, 'in', 'SELECT * FROM r');
SET app.tenant = 2;
SELECT answer('SELECT src, dst FROM r WHERE note::int > 0', 1, 1);
RESET ROLE;
-- Equality of text is leakproof, that of numeric is not; without row security it may be evaluated
-- first.
DROP INDEX r_tenant_src, r_tenant_dst;
SET app.tenant = 1;
SET ROLE regress_emogi_walking_tenant;
SELECT graph_of('emogi_bfs(''SELECT src, dst FROM r WHERE note = ''''1'''''', 1, 1)'), graph_of('emogi_bfs(''SELECT src, dst FROM r WHERE amount = 1'', 1, 1)');
RESET ROLE;
SELECT graph_of('emogi_bfs(''SELECT src, dst FROM r WHERE note = ''''1'''''', 1, 1)'), graph_of('emogi_bfs(''SELECT src, dst FROM r WHERE amount = 1'', 1, 1)');
-- Privileges are those of the query: for a view those of its owner.
REVOKE SELECT ON e FROM regress_emogi_walking_tenant;
GRANT SELECT ON v TO regress_emogi_walking_tenant;
SET ROLE regress_emogi_walking_tenant;
SELECT rows IS NOT NULL, cache FROM searched('v', 203, 1, 'both');
\set VERBOSITY sqlstate
SELECT searched('e WHERE n > 0', 203, 1, 'both');
RESET ROLE;

-- Searches are counted until they have cost as much as a build, except those with a value that no
-- other call has, whose graph would be private.
CREATE TABLE worn AS SELECT 1 AS src, i AS dst, 'x' AS kind FROM generate_series(2, 900) i;
CREATE INDEX ON worn (src);
ANALYZE worn;
DO $$
DECLARE
  seen text[];
BEGIN
  FOR i IN 1 .. 150 LOOP
    PERFORM count(*) FROM emogi_bfs('SELECT src, dst FROM worn WHERE kind = ''x''', 1, 1);
    seen := seen || last();
  END LOOP;
  ASSERT seen[1] = 'ok index backend', seen[1];
  ASSERT array_position(seen, 'ok built backend') BETWEEN 10 AND 120, seen;
  ASSERT seen[150] = 'ok hit backend', seen[150];
END $$;
-- A role that can read the table only through a view builds the graph as well.
CREATE VIEW worn_view AS SELECT src, dst FROM worn WHERE kind > 'a';
GRANT SELECT ON worn_view TO regress_emogi_walking_tenant;
SET ROLE regress_emogi_walking_tenant;
DO $$
DECLARE
  seen text[];
BEGIN
  FOR i IN 1 .. 150 LOOP
    PERFORM count(*) FROM emogi_bfs('worn_view', 1, 1);
    seen := seen || last();
  END LOOP;
  ASSERT seen[1] = 'ok index backend', seen[1];
  ASSERT array_position(seen, 'ok built backend') BETWEEN 10 AND 120, seen;
END $$;
RESET ROLE;
CREATE PROCEDURE windows(times int) LANGUAGE plpgsql AS $$
BEGIN
  FOR i IN 1 .. times LOOP
    PERFORM count(*) FROM emogi_bfs('SELECT src, dst FROM worn WHERE now() > ''2020-01-01'' AND dst < 5000 + extract(epoch FROM now()) AND kind = ''x''', 1, 1);
    ASSERT last() = 'ok index backend', last();
    COMMIT;
  END LOOP;
END $$;
CALL windows(40);
-- Tables of a 64th of the size are searched for it, as for any private graph.
SET emogi.index_search_min_size = '1MB';
CALL windows(3);
SELECT answer('SELECT src, dst FROM worn WHERE dst < 5', 1, 1);
SET emogi.index_search_min_size = 0;
-- The graph of a repeated value is eventually built.
DO $$
DECLARE
  seen text[];
BEGIN
  FOR i IN 1 .. 150 LOOP
    PERFORM count(*) FROM emogi_bfs('SELECT src, dst FROM worn WHERE dst < extract(epoch FROM now())', 1, 1);
    seen := seen || last();
  END LOOP;
  ASSERT array_position(seen, 'ok built backend') BETWEEN 10 AND 31, seen;
END $$;

-- A condition with a new value: statistics, which ignore it, predict that the search exceeds its
-- limit, although it may cost as much as the build. A chain costs three units per vertex, which is
-- more than a quarter of the build. Values are new if earlier calls had others.
CREATE TABLE deep (src int, dst int, at int);
INSERT INTO deep SELECT 1000000 + i, 1000001 + i, 1 FROM generate_series(0, 1599) i;
INSERT INTO deep SELECT abs(hashint4(i)) % 20000, abs(hashint4(i + 1000000)) % 20000, i % 100 FROM generate_series(1, 98400) i;
CREATE INDEX ON deep (src);
CREATE INDEX ON deep (dst);
VACUUM (ANALYZE) deep;
SELECT count(*) FROM emogi_bfs('deep WHERE at < 2 AND src <> -3', 1000000, 1);
SELECT array_agg(level ORDER BY level) = ARRAY(SELECT generate_series(0, 1500)) FROM emogi_bfs('deep WHERE at < 2 AND src <> -1', 1000000, 1500);
SELECT last();
WITH RECURSIVE reached (vertex, level) AS (
  SELECT 1000000, 0 UNION SELECT dst, level + 1 FROM reached JOIN deep ON src = vertex WHERE at < 2 AND level < 1500)
SELECT array_agg(level ORDER BY level) = ARRAY(SELECT generate_series(0, 1500)) FROM reached;
-- The planner estimates that a path from such a graph costs no more than the search; the same
-- applies to other neighborhoods.
CREATE FUNCTION planned(call text) RETURNS float8 LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  plan json;
BEGIN
  EXECUTE 'EXPLAIN (FORMAT json) SELECT * FROM ' || call INTO plan;
  RETURN plan -> 0 -> 'Plan' ->> 'Startup Cost';
END $$;
SELECT call, planned(call) < 3500 AS by_index FROM (VALUES
  ('emogi_shortest_path(''deep WHERE at >= 0 AND src <> -2'', 1, 2)'),
  ('emogi_shortest_path(''deep'', 1, 2)'),
  ('emogi_distance_matrix(''deep WHERE at >= 0 AND src <> -2'', ARRAY[1], ARRAY[2])'),
  ('emogi_bfs_tree(''deep WHERE at >= 0 AND src <> -2'', 1, 2)'),
  ('emogi_sssp(''deep WHERE at >= 0 AND src <> -2'', 1)'),
  ('emogi_sssp(''deep WHERE at >= 0 AND src <> -2'', 1) WHERE distance < 3')) c (call);

SET client_min_messages = warning;
DROP SCHEMA test_condition_searches CASCADE;
DROP ROLE regress_emogi_walking_tenant;
