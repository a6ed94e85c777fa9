-- A session remembers which indexes lead from the columns of a heap. Whatever changes the choice is noticed.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS emogi;
RESET client_min_messages;
CREATE SCHEMA test_known_indexes;
SET search_path = test_known_indexes, public;
SET emogi.engine = 'auto';
SET emogi.index_search_min_size = 0;
SET emogi.incremental_min_size = '1GB';
\pset format unaligned
\pset tuples_only on

CREATE TABLE e (tenant int NOT NULL, src int, dst int, kind int);
INSERT INTO e SELECT i % 3, i % 50, i % 70, i % 5 FROM generate_series(1, 3000) i;
ANALYZE e;
-- The degree of vertex 7 by a call and by SQL, and the index that the call has used.
CREATE FUNCTION count_edges(graph text, condition text DEFAULT 'true') RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  call text := format('SELECT coalesce(max(degree), 0) FROM public.emogi_degree(%L) WHERE vertex = 7', graph);
  called bigint;
  counted bigint;
  plan json;
BEGIN
  PERFORM public.emogi_evict();
  EXECUTE call INTO called;
  EXECUTE 'EXPLAIN (ANALYZE, FORMAT JSON) ' || call INTO plan;
  EXECUTE 'SELECT count(*) FROM e WHERE src = 7 AND dst IS NOT NULL AND ' || condition INTO counted;
  RETURN format('%s by %s', CASE WHEN called = counted THEN called::text ELSE format('WRONG: %s, not %s', called, counted) END, plan -> 0 -> 'Plan' ->> 'Graph');
END $$;
CREATE FUNCTION thrice(graph text, condition text DEFAULT 'true') RETURNS SETOF text LANGUAGE sql VOLATILE AS
  $$ SELECT DISTINCT count_edges(graph, condition) FROM generate_series(1, 3) ORDER BY 1 $$;

SELECT thrice('e(src, dst)');
CREATE INDEX e_dst ON e (dst);
CREATE INDEX e_wide ON e (src, kind);
SELECT thrice('e(src, dst)');
-- a better one, which a rollback removes
BEGIN;
CREATE INDEX e_narrow ON e (src);
SELECT thrice('e(src, dst)');
ROLLBACK;
SELECT thrice('e(src, dst)');
CREATE INDEX e_narrow ON e (src);
SELECT thrice('e(src, dst)');
ALTER INDEX e_narrow RENAME TO e_src;
SELECT thrice('e(src, dst)');
REINDEX TABLE e;
SELECT thrice('e(src, dst)');
-- other columns of the same table
SELECT emogi_evict() IS NOT NULL;
SELECT max(degree) = (SELECT count(*) FROM e WHERE dst = 7 AND src IS NOT NULL) FROM emogi_degree('e(dst, src)') WHERE vertex = 7;
SELECT thrice('e(src, kind)', 'kind IS NOT NULL');
SELECT thrice('e(src, dst)');
-- Conditions lead to an index with their columns, and partial indexes to the rows of their conditions.
SELECT thrice('e(src, dst) WHERE kind < 3', 'kind < 3');
CREATE INDEX e_tenant ON e (tenant, src);
SELECT thrice('e(src, dst)');
SELECT thrice('e(src, dst) WHERE tenant = 1', 'tenant = 1');
SELECT thrice('e(src, dst)');
SELECT thrice('e(src, dst) WHERE tenant = 2', 'tenant = 2');
DROP INDEX e_tenant, e_wide;
SELECT thrice('e(src, dst) WHERE tenant = 2', 'tenant = 2');
CREATE INDEX e_partial ON e (src) WHERE kind = 4;
SELECT thrice('e(src, dst)');
SELECT thrice('e(src, dst) WHERE kind = 4', 'kind = 4');
SELECT thrice('e(src, dst) WHERE kind = 3', 'kind = 3');
DROP INDEX e_partial;
SELECT thrice('e(src, dst) WHERE kind = 4', 'kind = 4');
DROP INDEX e_src;
SELECT thrice('e(src, dst)');
CREATE INDEX e_src ON e USING hash (src);
SELECT thrice('e(src, dst)');
-- The last leaf page of an index is another one after splits, and is gone after TRUNCATE.
DROP INDEX e_src;
CREATE INDEX e_src ON e (src);
VACUUM ANALYZE e;
SELECT thrice('e(src, dst)');
INSERT INTO e SELECT 0, 100 + i, 1000 + i, 0 FROM generate_series(1, 3000) i;
INSERT INTO e SELECT 0, 7, NULL, 0 FROM generate_series(1, 40) i;
SELECT thrice('e(src, dst)');
VACUUM e;
SELECT thrice('e(src, dst)');
DELETE FROM e WHERE dst IS NULL;
VACUUM e;
SELECT thrice('e(src, dst)');
BEGIN;
TRUNCATE e;
INSERT INTO e SELECT 0, i % 300, i, 0 FROM generate_series(1, 3000) i;
SELECT thrice('e(src, dst)');
TRUNCATE e;
SELECT thrice('e(src, dst)');
INSERT INTO e VALUES (0, 7, 8, 0), (0, 7, NULL, 0);
SELECT thrice('e(src, dst)');
COMMIT;
SELECT thrice('e(src, dst)');
-- The table is another one of the same name, and one of many.
CREATE TEMP TABLE e AS SELECT 7 AS src, 1 AS dst;
SELECT thrice('e(src, dst)');
DROP TABLE pg_temp.e;
SELECT format('CREATE TABLE many%s AS SELECT %s AS src, 1 AS dst; CREATE INDEX many%s_src ON many%s (src); CREATE INDEX ON many%s (dst)', i, i, i, i, i) FROM generate_series(1, 20) i \gexec
SELECT i, (SELECT degree FROM emogi_degree(format('many%s(src, dst)', i)) WHERE vertex = i) FROM generate_series(1, 20) i, generate_series(1, 2) ORDER BY 1;

-- Each call has its own conditions.
SELECT a.*, b.* FROM emogi_degree('many7(src, dst)', 'both') a, emogi_degree('many7(src, dst)', 'both') b WHERE a.vertex = 7 AND b.vertex = 1;
SELECT (SELECT degree FROM emogi_degree('many7(src, dst)', 'both') WHERE vertex = 7 AND strength > 0), (SELECT max(degree) FROM emogi_degree('many7(src, dst)', 'both') WHERE vertex = 1 AND strength < 0);

-- Keys of a few rows are copied; those of many, and of rows that are looked up, are not.
CREATE TABLE t AS SELECT 'k' || i / 40 * 40 AS src, 'k' || i AS dst FROM generate_series(1, 200) i;
INSERT INTO t SELECT 'p' || i / 3 * 3, 'p' || i FROM generate_series(1, 30) i;
SELECT count(*) FROM emogi_cc_text('t(src, dst)');
SELECT * FROM emogi_cc_text('t(src, dst)') WHERE component = 'p3' ORDER BY component, vertex;
SELECT count(*), min(vertex), max(vertex), min(component) FROM (SELECT * FROM emogi_cc_text('t(src, dst)') WHERE component = 'k120' OFFSET 0) q;
SELECT c, (SELECT string_agg(vertex, ' ') FROM emogi_cc_text('t(src, dst)') WHERE component = c) FROM unnest('{p3,p9,none,p12,p3}'::text[]) c;
SELECT c, q.* FROM unnest('{p3,p9,none,p12}'::text[]) c LEFT JOIN LATERAL (SELECT * FROM emogi_bfs('t(src, dst)', c, direction => 'both') WHERE level = 1 AND vertex <> 'p4' OFFSET 0) q ON true ORDER BY 1, 2;
BEGIN;
DECLARE cursor_of_keys SCROLL CURSOR FOR SELECT * FROM emogi_bfs('t(src, dst)', 'p6');
FETCH 2 FROM cursor_of_keys;
SELECT emogi_evict() IS NOT NULL;
FETCH ALL FROM cursor_of_keys;
FETCH BACKWARD ALL FROM cursor_of_keys;
COMMIT;
SET client_min_messages = warning;
DROP SCHEMA test_known_indexes CASCADE;
