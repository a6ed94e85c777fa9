-- A plan node that is rescanned keeps its indexes open, and repeats its search until something that
-- affects the graph changes. Answers are those of a new call for each row (emogi.enable_scan =
-- off).
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS emogi;
DROP ROLE IF EXISTS regress_emogi_keeper;
RESET client_min_messages;
CREATE ROLE regress_emogi_keeper;
CREATE SCHEMA test_kept_indexes;
GRANT USAGE, CREATE ON SCHEMA test_kept_indexes TO PUBLIC;
SET search_path = test_kept_indexes, public;
SET emogi.engine = 'auto';
SET emogi.index_search_min_size = 0;
SET emogi.incremental_min_size = '1GB';
SET emogi.enable_batch = off;
SET TimeZone = 'UTC';
\pset format unaligned
\pset tuples_only on
\pset null (null)

-- The answer of a query with index searches, or how it differs from that of separate calls.
CREATE FUNCTION answer(query text) RETURNS text LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  kept text;
  separate text;
BEGIN
  PERFORM emogi_evict();
  EXECUTE query INTO kept;
  PERFORM emogi_evict();
  PERFORM set_config('emogi.enable_scan', 'off', true);
  EXECUTE query INTO separate;
  PERFORM set_config('emogi.enable_scan', 'on', true);
  RETURN CASE WHEN kept IS DISTINCT FROM separate THEN format('WRONG: %s, separately %s', kept, separate) ELSE kept END;
END $$;
-- Whether the searches of a query use indexes, and how often they have run.
CREATE FUNCTION runs(query text) RETURNS SETOF text LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  line text;
BEGIN
  PERFORM emogi_evict();
  FOR line IN EXECUTE 'EXPLAIN (ANALYZE, COSTS off, TIMING off, SUMMARY off) ' || query LOOP
    IF line ~ '(Runs|Graph):' THEN
      RETURN NEXT trim(line);
    END IF;
  END LOOP;
END $$;

-- Keys: text, char(n) with blanks, a domain, a deterministic and a nondeterministic collation, toasted ones, NULL.
CREATE DOMAIN name_of AS text;
CREATE TABLE keys (src text, dst text, padded_src char(12), padded_dst char(12), named_src name_of, named_dst name_of, exact_src text COLLATE "C", exact_dst text COLLATE "C",
  at timestamp);
INSERT INTO keys SELECT s, d, s, d, s, d, s, d, timestamp '2026-01-01' + n * interval '1 minute'
  FROM (SELECT n, 'k' || n / 3 AS s, 'k' || n * 7 % 60 AS d FROM generate_series(1, 120) n) e;
INSERT INTO keys (src, dst, at) VALUES ('k5', NULL, '2026-02-01'), (NULL, 'k5', '2026-02-01'), (NULL, NULL, '2026-02-01'), ('', 'k1', '2026-02-01'), ('k2', '', '2026-02-01'), ('alone', 'alone', '2026-02-01');
INSERT INTO keys (src, dst, at) SELECT 'k7', (SELECT string_agg(md5((m * k)::text), '') FROM generate_series(1, 80) m), '2026-02-01' FROM generate_series(1, 3) k;
INSERT INTO keys (src, dst, at) SELECT dst, 'k9', '2026-02-02' FROM keys WHERE length(dst) > 1000;
CREATE INDEX ON keys (src);
CREATE INDEX ON keys (dst);
CREATE INDEX ON keys (padded_src);
CREATE INDEX ON keys (padded_dst);
CREATE INDEX ON keys (named_src);
CREATE INDEX ON keys (named_dst);
CREATE INDEX ON keys (exact_src);
CREATE INDEX ON keys (exact_dst);
ANALYZE keys;
CREATE FUNCTION searches(graph text, rest text) RETURNS text LANGUAGE sql AS $$
  SELECT answer(format('SELECT string_agg(concat_ws('':'', s, n, sum, names), '' '' ORDER BY i) FROM (SELECT i, ''k'' || i AS s FROM generate_series(0, 8) i UNION ALL VALUES (9, NULL), (10, ''''), (11, ''alone''), (12, ''none'')) k,
    LATERAL (SELECT count(*) AS n, sum(level) AS sum, md5(string_agg(vertex::text, '','' ORDER BY vertex::text COLLATE "C")) AS names FROM emogi_bfs(%L, s, %s)) b', graph, rest)) $$;
SELECT 'keys', searches('keys(src, dst)', 'max_depth => 2');
SELECT 'keys, window', searches('keys(src, dst) WHERE at > ''2026-01-01 01:00''', 'direction => ''both''');
SELECT 'char(n)', searches('keys(padded_src, padded_dst)', 'max_depth => 2, direction => ''in''');
SELECT 'domain', searches('keys(named_src, named_dst)', 'max_depth => 2, direction => ''both''');
SELECT '"C"', searches('keys(exact_src, exact_dst)', 'max_depth => 1');
SELECT runs($$ SELECT count(*) FROM generate_series(1, 9) i, LATERAL (SELECT count(*) FROM emogi_bfs('keys(src, dst)', 'k' || i, max_depth => 2)) b $$);
SELECT runs($$ SELECT count(*) FROM generate_series(1, 9) i, LATERAL (SELECT count(*) FROM emogi_bfs('keys(src, dst) where at > ''2026-01-01 01:00''', 'k' || i)) b $$);
SELECT 'long keys', answer($$ SELECT sum(n) FROM (SELECT dst AS s FROM keys WHERE length(dst) > 1000 UNION ALL VALUES ('k7'), ('k9')) k,
  LATERAL (SELECT count(*) AS n FROM emogi_bfs('keys(src, dst)', s, max_depth => 3, direction => 'both')) b $$);
-- Other nodes: rows, a subquery, an outer join, counts of paths.
SELECT answer($$ SELECT string_agg(i || ':' || coalesce(vertex, '-'), ' ' ORDER BY i, vertex COLLATE "C") FROM generate_series(1, 6) i LEFT JOIN LATERAL emogi_bfs('keys(src, dst)', 'k' || i * 9, max_depth => 1) ON true $$);
SELECT answer($$ SELECT string_agg((SELECT string_agg(vertex, '+') FROM (SELECT vertex FROM emogi_bfs('keys(src, dst)', 'k' || i, max_depth => 1) ORDER BY level, vertex COLLATE "C" LIMIT 3) f), ' ' ORDER BY i) FROM generate_series(1, 6) i $$);
SELECT answer($$ SELECT sum(n) FROM generate_series(1, 6) i, LATERAL (SELECT sum(paths) AS n FROM emogi_ssnsp('keys(src, dst)', 'k' || i, max_depth => 3)) b $$);
SELECT answer($$ SELECT sum(n) FROM generate_series(1, 6) i, LATERAL (SELECT count(*) AS n FROM emogi_bfs('keys(src, dst)', 'k' || i) WHERE vertex = 'k' || i % 3 AND level <= 2) b $$);

-- Arguments that change from row to row: the graph, its condition, the direction, the depth, arrays.
CREATE TABLE others AS SELECT src, 'o' || dst AS dst, at FROM keys WHERE src < 'k2';
CREATE INDEX ON others (src);
CREATE INDEX ON others (dst);
ANALYZE others;
SELECT answer($$ SELECT string_agg(n::text, ' ' ORDER BY i) FROM generate_series(1, 12) i,
  LATERAL (SELECT count(*) AS n FROM emogi_bfs((ARRAY['keys(src, dst)', 'others(src, dst)'])[1 + i / 2 % 2], 'k1', max_depth => 2)) b $$);
SELECT answer($$ SELECT string_agg(n::text, ' ' ORDER BY i) FROM generate_series(1, 12) i,
  LATERAL (SELECT count(*) AS n FROM emogi_bfs(format('keys(src, dst) WHERE at < %L', timestamp '2026-01-01' + i / 2 * interval '20 minutes'), 'k' || i % 3, direction => 'both')) b $$);
SELECT answer($$ SELECT string_agg(n::text, ' ' ORDER BY i) FROM generate_series(1, 12) i,
  LATERAL (SELECT count(*) AS n FROM emogi_bfs('keys(src, dst)', 'k1', max_depth => 3, edge_filter => (ARRAY['at < ''2026-01-01 00:04''', 'at < ''2026-01-01 00:30''', NULL])[1 + i / 2 % 3])) b $$);
SELECT answer($$ SELECT string_agg(n::text, ' ' ORDER BY i) FROM generate_series(1, 12) i,
  LATERAL (SELECT count(*) AS n FROM emogi_bfs('keys(src, dst)', 'k1', max_depth => i / 3, direction => (ARRAY['out', 'in', 'both'])[1 + i % 3])) b $$);
SELECT answer($$ SELECT string_agg(n::text, ' ' ORDER BY i) FROM generate_series(1, 6) i,
  LATERAL (SELECT count(*) AS n FROM emogi_bfs('keys(src, dst)', ARRAY['k' || i, 'k' || i / 2], max_depth => 1)) b $$);
-- a volatile one is computed for each row
CREATE FUNCTION tick() RETURNS int LANGUAGE plpgsql VOLATILE AS $$ BEGIN PERFORM set_config('test.tick', (current_setting('test.tick')::int + 1)::text, true); RETURN current_setting('test.tick')::int % 4; END $$;
BEGIN;
SET LOCAL test.tick = -1;
SELECT string_agg(n::text, ' ' ORDER BY i) FROM generate_series(1, 8) i, LATERAL (SELECT count(*) AS n FROM emogi_bfs('keys(src, dst)', CASE WHEN i > 0 THEN 'k1' END, max_depth => tick())) b;
ROLLBACK;

-- Changes within the same statement, between two searches. act(row, at, command) executes a command
-- before a row's search.
CREATE FUNCTION act(i int, at int, command text) RETURNS text LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  IF i = at THEN
    EXECUTE command;
  END IF;
  RETURN 'k' || i % 4;
END $$;
CREATE FUNCTION amid(command text, graph text = 'keys(src, dst)', rest text = 'max_depth => 2') RETURNS text LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  result text;
BEGIN
  PERFORM emogi_evict();
  EXECUTE format('SELECT string_agg(n::text, '' '' ORDER BY i) FROM (SELECT i, act(i, 5, %L) AS s FROM generate_series(1, 8) i OFFSET 0) k, LATERAL (SELECT count(*) AS n FROM emogi_bfs(%L, s, %s)) b', command, graph, rest) INTO result;
  RETURN result;
END $$;
SELECT 'nothing', amid('');
-- the statement does not see it
BEGIN;
SELECT 'inserted', amid($$ INSERT INTO keys (src, dst) SELECT 'k' || i % 4, 'new' || i FROM generate_series(1, 40) i $$);
SELECT 'after that', amid('');
ROLLBACK;
BEGIN;
SELECT 'deleted', amid('DELETE FROM keys');
SELECT 'after that', amid('');
ROLLBACK;
-- the name refers to another table
BEGIN;
SELECT 'search path', amid($$ SET search_path = pg_temp, test_kept_indexes, public $$, 'others(src, dst)');
SET search_path = test_kept_indexes, public;
CREATE SCHEMA test_kept_other;
CREATE TABLE test_kept_other.others AS TABLE keys;
SELECT 'search path', amid($$ SET LOCAL search_path = test_kept_other, test_kept_indexes, public $$, 'others(src, dst)');
ROLLBACK;
BEGIN;
SELECT 'temporary table', amid($$ CREATE TEMP TABLE others AS SELECT 'k1'::text AS src, 't'::text AS dst $$, 'others(src, dst)');
ROLLBACK;
-- a literal has another value
BEGIN;
CREATE TABLE zoned AS SELECT src, dst, at AT TIME ZONE 'UTC' AS at FROM keys;
CREATE INDEX ON zoned (src);
ANALYZE zoned;
SELECT 'time zone', amid($$ SET LOCAL TimeZone = 'Etc/GMT-1' $$, $$zoned(src, dst) WHERE at > '2026-01-01 01:00'$$);
ROLLBACK;
-- privileges
GRANT SELECT ON keys TO regress_emogi_keeper;
SET ROLE regress_emogi_keeper;
SELECT 'granted', amid('');
RESET ROLE;
BEGIN;
SELECT amid('SET LOCAL ROLE regress_emogi_keeper', 'others(src, dst)');
ROLLBACK;
CREATE FUNCTION revoke_it() RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path = test_kept_indexes AS $$ BEGIN REVOKE SELECT ON keys FROM regress_emogi_keeper; END $$;
SET ROLE regress_emogi_keeper;
SELECT amid('SELECT revoke_it()');
RESET ROLE;
-- row security
CREATE TABLE policed AS TABLE keys;
CREATE INDEX ON policed (src);
ANALYZE policed;
ALTER TABLE policed ENABLE ROW LEVEL SECURITY;
CREATE POLICY visible ON policed USING (dst < 'k5');
GRANT SELECT ON policed TO regress_emogi_keeper;
CREATE FUNCTION tighten() RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path = test_kept_indexes AS $$ BEGIN ALTER POLICY visible ON policed USING (dst < 'k2'); END $$;
SET ROLE regress_emogi_keeper;
SELECT 'policy', amid('', 'policed(src, dst)');
BEGIN;
SELECT 'policy', amid('SELECT tighten()', 'policed(src, dst)');
ROLLBACK;
RESET ROLE;
SELECT 'owner', amid('', 'policed(src, dst)');
BEGIN;
SELECT 'owner, then not', amid('SET LOCAL ROLE regress_emogi_keeper', 'policed(src, dst)');
ROLLBACK;
-- objects in use
BEGIN;
SELECT amid('DROP INDEX keys_src_idx');
ROLLBACK;
BEGIN;
SELECT amid('TRUNCATE keys');
ROLLBACK;
BEGIN;
SELECT 'index', amid('CREATE INDEX keys_more ON keys (src)');
ROLLBACK;
-- settings of searches
BEGIN;
SELECT 'no index search', amid('SET LOCAL emogi.enable_index_search = off');
SELECT cache, count(*) FROM (SELECT cache FROM emogi_runs WHERE pid = pg_backend_pid() ORDER BY id DESC LIMIT 8) r GROUP BY 1 ORDER BY 1;
ROLLBACK;

-- A cursor in which subtransactions begin and end.
BEGIN;
SELECT count(*) >= 0 FROM emogi_evict();
DECLARE c CURSOR FOR SELECT i, n FROM generate_series(1, 8) i, LATERAL (SELECT count(*) AS n FROM emogi_bfs('keys(src, dst)', 'k' || i % 4, max_depth => 2)) b;
FETCH 1 FROM c;
SAVEPOINT a;
FETCH 2 FROM c;
ROLLBACK TO a;
FETCH 2 FROM c;
SAVEPOINT b;
INSERT INTO keys (src, dst) VALUES ('k1', 'unseen');
FETCH 1 FROM c;
RELEASE b;
FETCH ALL FROM c;
CLOSE c;
ROLLBACK;
-- A cursor in which an index is created and dropped.
BEGIN;
SELECT count(*) >= 0 FROM emogi_evict();
CREATE TABLE passing AS SELECT i AS src, i + 1 AS dst FROM generate_series(1, 20000) i;
CREATE INDEX ON passing (dst);
ANALYZE passing;
DECLARE c CURSOR FOR SELECT i, n FROM generate_series(1, 8) i, LATERAL (SELECT count(*) AS n FROM emogi_bfs('passing', i, max_depth => 2)) b;
SAVEPOINT a;
CREATE INDEX passing_src ON passing (src);
FETCH 2 FROM c;
SELECT cache FROM emogi_runs WHERE pid = pg_backend_pid() ORDER BY id DESC LIMIT 1;
ROLLBACK TO a;
FETCH 2 FROM c;
ROLLBACK;
-- An error during the scan leaves nothing behind.
DO $$
BEGIN
  PERFORM sum(n) FROM generate_series(1, 6) i, LATERAL (SELECT count(*) / (5 - i) AS n FROM emogi_bfs('keys(src, dst)', 'k' || i, max_depth => 2)) b;
EXCEPTION WHEN division_by_zero THEN
  RAISE NOTICE 'caught: %', SQLERRM;
END $$;
SELECT answer($$ SELECT sum(n) FROM generate_series(1, 6) i, LATERAL (SELECT count(*) AS n FROM emogi_bfs('keys(src, dst)', 'k' || i, max_depth => 2)) b $$);
-- SERIALIZABLE and REPEATABLE READ
BEGIN ISOLATION LEVEL SERIALIZABLE;
SELECT answer($$ SELECT sum(n) FROM generate_series(1, 6) i, LATERAL (SELECT count(*) AS n FROM emogi_bfs('keys(src, dst)', 'k' || i, max_depth => 2)) b $$);
COMMIT;

-- The cost of repeated searches is added up until a graph is built, in one statement and over many.
CREATE FUNCTION caches(query text) RETURNS text LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  first bigint;
BEGIN
  PERFORM emogi_evict();
  SELECT coalesce(max(id), 0) INTO first FROM emogi_runs;
  EXECUTE query;
  RETURN (SELECT string_agg(DISTINCT cache::text, ' ') FROM emogi_runs WHERE id > first AND pid = pg_backend_pid());
END $$;
CREATE TABLE large AS SELECT i / 4 AS src, i * 7 % 50000 AS dst FROM generate_series(1, 200000) i;
CREATE INDEX ON large (src);
CREATE INDEX ON large (dst);
VACUUM ANALYZE large;
SELECT 'few', caches($$ SELECT sum(n) FROM generate_series(1, 50) i, LATERAL (SELECT count(*) AS n FROM emogi_bfs('large(src, dst)', i, max_depth => 1)) b $$);
SELECT 'many', caches($$ SELECT sum(n) FROM generate_series(1, 5000) i, LATERAL (SELECT count(*) AS n FROM emogi_bfs('large(src, dst)', i, max_depth => 1)) b $$);
SELECT 'many statements', caches($$ DO $d$ BEGIN FOR k IN 1 .. 100 LOOP
  PERFORM sum(n) FROM generate_series(1, 50) i, LATERAL (SELECT count(*) AS n FROM emogi_bfs('large(src, dst)', i, max_depth => 1)) b; END LOOP; END $d$ $$) ~ 'built|hit';
-- A search that exceeds its limit causes a build.
SELECT 'beyond the limit', answer($$ SELECT string_agg(n::text, ' ' ORDER BY i) FROM generate_series(1, 8) i,
  LATERAL (SELECT count(*) AS n FROM emogi_bfs('large(src, dst)', CASE WHEN i % 4 = 0 THEN 1 ELSE -i END::bigint, max_depth => 12)) b $$);

-- An empty set of sources ends a call that had started with the kept indexes.
SET emogi.index_search_min_size = 0;
SELECT emogi_evict() IS NOT NULL AS evicted, max(id) AS last FROM emogi_runs \gset sets_
SELECT 'empty sets', string_agg(s || '=' || n, ' ' ORDER BY i) FROM (VALUES (1, '1'), (2, '2'), (3, '{}'), (4, '{}'), (5, '3')) v(i, s),
  LATERAL (SELECT count(vertex) AS n FROM emogi_bfs('large(src, dst)', s, max_depth => 1)) b;
SELECT DISTINCT status FROM emogi_runs WHERE id > :sets_last AND pid = pg_backend_pid();
-- The memory that a node keeps for its graph argument does not grow with other spellings.
CREATE FUNCTION kept_bytes() RETURNS bigint LANGUAGE sql VOLATILE AS
  $$ SELECT sum(total_bytes) FROM pg_backend_memory_contexts WHERE name IN ('emogi kept indexes', 'emogi repeated search') $$;
SELECT 'spellings', min(bytes) FILTER (WHERE i > 50) > 0 AND max(bytes) FILTER (WHERE i > 50) < 65536, sum(n) > 0 FROM (SELECT i, n, kept_bytes() AS bytes
  FROM generate_series(1, 400) i, LATERAL (SELECT count(*) AS n FROM emogi_bfs('SELECT src, dst FROM large -- ' || repeat('x', 1000) || i, 7, max_depth => 1)) b OFFSET 0) s;

DROP SCHEMA test_kept_indexes CASCADE;
DROP ROLE regress_emogi_keeper;
