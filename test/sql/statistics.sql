-- emogi_stat_graphs: sums over calls, by database, role, source and function.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS emogi;
DROP ROLE IF EXISTS regress_emogi_stat_ann, regress_emogi_stat_bob, regress_emogi_stat_lead, regress_emogi_stat_moni;
RESET client_min_messages;
CREATE SCHEMA test_statistics;
SET search_path = test_statistics, public;
CREATE TABLE follows (src bigint, dst bigint);
INSERT INTO follows VALUES (1, 2), (1, 3), (2, 4), (3, 4), (4, 5), (6, 1);
CREATE VIEW low AS SELECT src, dst FROM follows WHERE src < 4;
SELECT emogi_stat_reset();
SELECT entries, max_entries = current_setting('emogi.stat_max')::int AS max_entries, dealloc, stats_reset <= now() AS is_past FROM emogi_stat_info;

-- Built, hit, hit by another function, rebuilt. Errors are counted.
SELECT count(*) FROM emogi_bfs('follows', 1);
SELECT count(*) FROM emogi_bfs('follows', 1);
SELECT count(*) FROM emogi_cc('follows');
INSERT INTO follows VALUES (5, 6);
SELECT count(*) FROM emogi_bfs('follows', 1);
SELECT count(*) FROM emogi_bfs('SELECT 1 / 0, 2', 1);
SELECT source, function, calls, errors, hits, incremental_calls, builds, private_builds, index_searches, rows FROM emogi_stat_graphs ORDER BY source COLLATE "C", function;
SELECT total_ms > 0 AS took_time FROM emogi_stat_graphs WHERE errors = 1;
SELECT relation = 'follows'::regclass AS is_relation, query_id IS NULL AS no_query, username = current_user AS mine, database = current_database() AS here,
	min_ms > 0 AND min_ms <= mean_ms AND mean_ms <= max_ms AND max_ms <= total_ms AS in_order, build_ms > 0 AND build_ms <= total_ms AS has_build,
	stats_reset <= last_call AS since FROM emogi_stat_graphs WHERE source = 'follows' AND function = 'emogi_bfs';

-- The sums are those of emogi_runs.
SELECT emogi_reset(), emogi_stat_reset();
SELECT count(*) FROM emogi_bfs('follows', 1), generate_series(1, 3);
SELECT count(*) FROM emogi_bfs('follows(src, dst)', 2);
SELECT count(*) FROM emogi_degree('low');
SELECT r.n = s.calls AS calls, r.rows = s.rows AS rows, r.edges = s.edges_traversed AS edges, abs(r.total - s.total_ms) < 1e-6 AS total,
	r.shortest = s.min_ms AS shortest, r.longest = s.max_ms AS longest, abs(r.build - s.build_ms) < 1e-6 AS build
FROM (SELECT count(*) AS n, sum(rows) AS rows, sum(edges_traversed) AS edges, sum(total_ms) AS total, min(total_ms) AS shortest, max(total_ms) AS longest,
		sum(refresh_ms + scan_ms + keys_ms + csr_ms + merge_ms) AS build FROM emogi_runs WHERE function = 'emogi_bfs') r,
	(SELECT * FROM emogi_stat_graphs WHERE function = 'emogi_bfs') s;
SELECT source, relation::regclass AS relation FROM emogi_stat_graphs WHERE function = 'emogi_degree';

-- They are not reset by emogi_reset(), nor with a graph's eviction.
SELECT emogi_evict('follows') > 0 AS evicted;
SELECT emogi_reset();
SELECT calls FROM emogi_stat_graphs WHERE source = 'follows';

-- A query is identified by its text without constants, comments and blanks.
SELECT emogi_stat_reset();
SELECT count(*) FROM emogi_bfs('SELECT src, dst FROM follows WHERE src < 10', 1);
SELECT count(*) FROM emogi_bfs('SELECT src,  dst /* 1 /* 2 */ 3 */ FROM follows -- all
	WHERE src < 1.5e+3;', 1);
SELECT count(*) FROM emogi_bfs('SELECT src, dst FROM follows WHERE src::text <> ''it''''s''', 1);
SELECT count(*) FROM emogi_bfs('SELECT src, dst FROM follows WHERE src::text <> ''a''', 1);
SELECT count(*) FROM emogi_bfs('SELECT src AS "a 1 ""x", dst AS b2 FROM follows WHERE src::text <> E''\'' OR 1'' AND src::text <> $x$ 1 $x$', 1);
SELECT source, calls FROM emogi_stat_graphs ORDER BY source COLLATE "C";
SELECT count(DISTINCT query_id), count(*), min(relation), max(relation) FROM emogi_stat_graphs;
SELECT count(*) FROM emogi_bfs('SELECT src, dst FROM follows WHERE ' || repeat('src <> dst AND ', 30) || 'true', 1);
SELECT octet_length(source) FROM emogi_stat_graphs WHERE source LIKE '%<> dst%';
SELECT count(*) FROM emogi_bfs('SELECT 1 AS src, 2 AS dst, ''' || repeat('x', 400) || ''' AS weight', 1);
SELECT source FROM emogi_stat_graphs WHERE source LIKE '%weight%';

-- A dropped table has no name; the next one of its name is another.
SELECT emogi_stat_reset();
CREATE TABLE passing (src bigint, dst bigint);
SELECT count(*) FROM emogi_bfs('passing', 1);
DROP TABLE passing;
CREATE TABLE passing (src bigint, dst bigint);
SELECT count(*) FROM emogi_bfs('passing', 1);
SELECT source, function, calls FROM emogi_stat_graphs ORDER BY source COLLATE "C";

-- A role sees its own calls, and those of roles whose privileges it has; pg_read_all_stats sees
-- all. Resetting requires the same privileges as pg_stat_reset().
CREATE ROLE regress_emogi_stat_ann;
CREATE ROLE regress_emogi_stat_bob;
CREATE ROLE regress_emogi_stat_lead IN ROLE regress_emogi_stat_ann;
CREATE ROLE regress_emogi_stat_moni IN ROLE pg_monitor;
GRANT USAGE ON SCHEMA test_statistics TO PUBLIC;
GRANT SELECT ON follows TO PUBLIC;
SELECT emogi_stat_reset();
SET ROLE regress_emogi_stat_ann;
SELECT count(*) FROM emogi_bfs('follows', 1);
SET ROLE regress_emogi_stat_bob;
SELECT count(*) FROM emogi_bfs('SELECT 1, 2', 1);
SELECT username, source, calls FROM emogi_stat_graphs ORDER BY username;
SELECT emogi_stat_reset();
SET ROLE regress_emogi_stat_lead;
SELECT username, source, calls FROM emogi_stat_graphs ORDER BY username;
SET ROLE regress_emogi_stat_moni;
SELECT username, source, calls FROM emogi_stat_graphs ORDER BY username;
SELECT entries, dealloc FROM emogi_stat_info;
RESET ROLE;
GRANT EXECUTE ON FUNCTION emogi_stat_reset() TO regress_emogi_stat_moni;
SET ROLE regress_emogi_stat_moni;
SELECT emogi_stat_reset();
SELECT count(*) FROM emogi_stat_graphs;
RESET ROLE;
SELECT has_function_privilege('regress_emogi_stat_bob', 'pg_stat_reset()', 'EXECUTE') AS pg, has_function_privilege('regress_emogi_stat_bob', 'emogi_stat_reset()', 'EXECUTE') AS emogi;
REVOKE EXECUTE ON FUNCTION emogi_stat_reset() FROM regress_emogi_stat_moni;

SET client_min_messages = warning;
DROP SCHEMA test_statistics CASCADE;
DROP ROLE regress_emogi_stat_ann, regress_emogi_stat_bob, regress_emogi_stat_lead, regress_emogi_stat_moni;
