-- Scans of a table's pages: all-visible ones, and those changed since in every way. The edges of a
-- call are compared with those of a plain SELECT under the same snapshot; each call reads the table
-- again.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS emogi;
RESET client_min_messages;
CREATE SCHEMA test_pages;
SET search_path = test_pages, public;
\pset format unaligned
\pset tuples_only on
SET emogi.enable_cache = off;

-- All edges lead from 0 to other vertices, so the number of shortest paths to a vertex is the
-- number of edges to it.
CREATE FUNCTION look(t text, OUT edges bigint, OUT wrong bigint) LANGUAGE plpgsql STABLE AS $$
BEGIN
  EXECUTE format('WITH a AS MATERIALIZED (SELECT vertex, paths::bigint FROM emogi_ssnsp(%1$L, 0) WHERE level = 1),
                       b AS MATERIALIZED (SELECT dst::bigint, count(*) FROM %1$I WHERE src = 0 AND dst IS NOT NULL GROUP BY dst)
                  SELECT (SELECT coalesce(sum(count), 0) FROM b),
                         (SELECT count(*) FROM ((TABLE a EXCEPT TABLE b) UNION ALL (TABLE b EXCEPT TABLE a)) d)', t) INTO edges, wrong;
END $$;
-- Are there pages, and are they all-visible?
CREATE FUNCTION all_visible(t regclass) RETURNS bool LANGUAGE sql AS
  $$ SELECT relpages > 1 AND relallvisible = relpages FROM pg_class WHERE oid = t $$;

-- All-visible pages changed by the own transaction.
CREATE TABLE t (id int PRIMARY KEY, src int, dst int, note text) WITH (fillfactor = 50);
INSERT INTO t SELECT i, 0, i FROM generate_series(1, 2000) i;
SELECT look('t');
VACUUM t;
SELECT all_visible('t'), look('t');
BEGIN;
DELETE FROM t WHERE id % 3 = 0;
SELECT look('t');
UPDATE t SET dst = dst + 5000 WHERE id % 3 = 1;
SELECT look('t');
UPDATE t SET dst = dst + 5000 WHERE id % 6 = 1;
SELECT look('t');
SAVEPOINT a;
INSERT INTO t SELECT i, 0, i FROM generate_series(2001, 2500) i;
SELECT look('t');
ROLLBACK TO a;
SELECT look('t');
ROLLBACK;
SELECT look('t');

-- A command does not see its own writes.
BEGIN;
INSERT INTO t SELECT i, 0, i FROM generate_series(2001, 2003) i RETURNING id, look('t');
UPDATE t SET dst = dst + 5000 WHERE id IN (1, 2, 2001) RETURNING id, look('t');
DELETE FROM t WHERE id IN (1, 3, 2002) RETURNING id, look('t');
SELECT look('t');
ROLLBACK;

-- A cursor sees the state at its opening.
BEGIN;
DECLARE c CURSOR FOR SELECT look('t');
DELETE FROM t WHERE id > 1000;
FETCH c;
SELECT look('t');
ROLLBACK;

-- Rows locked by one and by two (sub)transactions are visible.
BEGIN;
SELECT count(*) FROM (SELECT FROM t WHERE id <= 300 FOR UPDATE) r;
SELECT look('t');
SAVEPOINT a;
SELECT count(*) FROM (SELECT FROM t WHERE id BETWEEN 200 AND 600 FOR KEY SHARE) r;
UPDATE t SET note = 'x' WHERE id BETWEEN 500 AND 700;
SELECT look('t');
SAVEPOINT b;
DELETE FROM t WHERE id BETWEEN 250 AND 550;
SELECT look('t');
ROLLBACK TO b;
SELECT look('t');
COMMIT;
SELECT look('t');

-- HOT chains: complete, pruned to redirections, vacuumed.
UPDATE t SET dst = dst + 5000 WHERE id % 2 = 0;
SELECT look('t');
UPDATE t SET dst = dst + 5000 WHERE id % 4 = 0;
SELECT look('t');
UPDATE t SET dst = dst + 5000, note = repeat('y', 30);
SELECT look('t');
SELECT look('t');
VACUUM t;
SELECT all_visible('t'), look('t');

-- Holes: dead line pointers, unused ones, reused ones, and rows of aborted transactions.
DELETE FROM t WHERE id % 5 = 0;
VACUUM (INDEX_CLEANUP OFF) t;
SELECT look('t');
VACUUM t;
SELECT all_visible('t'), look('t');
BEGIN;
INSERT INTO t SELECT i, 0, i FROM generate_series(3001, 3300) i;
ROLLBACK;
SELECT look('t');
INSERT INTO t SELECT i, 0, i FROM generate_series(3001, 3100) i;
SELECT look('t');
VACUUM FREEZE t;
SELECT all_visible('t'), look('t');
DELETE FROM t WHERE id > 100;
SELECT look('t');
VACUUM t;
SELECT look('t');
TRUNCATE t;
SELECT look('t');

-- Temporary tables, materialized views, partitions.
CREATE TEMP TABLE own AS SELECT 0 AS src, i AS dst FROM generate_series(1, 1000) i;
VACUUM own;
SELECT all_visible('own'), look('own');
DELETE FROM own WHERE dst > 500;
SELECT look('own');
CREATE MATERIALIZED VIEW m AS SELECT 0::bigint AS src, i::bigint AS dst FROM generate_series(1, 1000) i;
VACUUM m;
SELECT all_visible('m'), look('m');
CREATE TABLE p (src int, dst int) PARTITION BY RANGE (dst);
CREATE TABLE p1 PARTITION OF p FOR VALUES FROM (1) TO (1001);
CREATE TABLE p2 (dst int, src int);
ALTER TABLE p ATTACH PARTITION p2 FOR VALUES FROM (1001) TO (9001);
INSERT INTO p SELECT 0, i FROM generate_series(1, 2000) i;
VACUUM p;
SELECT all_visible('p1'), all_visible('p2'), look('p');
UPDATE p SET dst = dst + 300 WHERE dst % 7 = 0;
SELECT look('p');

-- Columns added and dropped, on all-visible pages.
CREATE TABLE c (gone int, src int, dst int);
INSERT INTO c SELECT i, 0, i FROM generate_series(1, 1000) i;
VACUUM c;
ALTER TABLE c DROP gone;
SELECT look('c');
INSERT INTO c SELECT 0, i FROM generate_series(1001, 1500) i;
SELECT look('c');
VACUUM c;
SELECT all_visible('c'), look('c');
ALTER TABLE c DROP dst, ADD dst int DEFAULT 7;
SELECT all_visible('c'), look('c');
INSERT INTO c SELECT 0, i FROM generate_series(1, 500) i;
UPDATE c SET dst = 8 WHERE ctid < '(2,0)';
SELECT look('c');
VACUUM c;
SELECT all_visible('c'), look('c');
ALTER TABLE c ADD src2 bigint DEFAULT 0, ADD dst2 bigint DEFAULT 9;
ALTER TABLE c DROP src, DROP dst;
ALTER TABLE c RENAME src2 TO src;
ALTER TABLE c RENAME dst2 TO dst;
SELECT all_visible('c'), look('c');

-- NULLs in any column of a row, for keys of each length, with up to 16 columns before and between the keys.
CREATE PROCEDURE make(t text, before int, amid int, src_type text, dst_type text) LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format('CREATE TABLE %I AS SELECT %s 0::%s AS src, %s nullif(i, i / 10 * 10 + 9)::%s AS dst, nullif(i %% 5, 0) AS z, nullif(i %% 7, 0)::real AS weight FROM generate_series(1, 600) i',
    t,
    (SELECT string_agg(format('CASE WHEN i %% %s <> 0 THEN i::%s END AS b%s, ', 10 + 3 * n, CASE n % 3 WHEN 0 THEN 'int' WHEN 1 THEN 'bigint' ELSE 'smallint' END, n), '') FROM generate_series(1, before) n),
    src_type,
    (SELECT string_agg(format('CASE WHEN i %% %s <> 0 THEN i::smallint END AS d%s, ', 11 + 2 * n, n), '') FROM generate_series(1, amid) n),
    dst_type);
END $$;
DO $$
DECLARE
  t text;
  types text[] := ARRAY['int', 'bigint', 'smallint'];
BEGIN
  FOR before IN 0 .. 9 LOOP
    FOR amid IN 0 .. 7 LOOP
      t := 'k' || before || amid;
      CALL make(t, before, amid, types[1 + (before + amid) % 3], types[1 + (before + amid + (amid = 3)::int) % 3]);
    END LOOP;
  END LOOP;
END $$;
SELECT count(*), min((look(relname)).edges), max((look(relname)).edges), sum((look(relname)).wrong)
FROM pg_class WHERE relnamespace = 'test_pages'::regnamespace AND relname ~ '^k\d\d$';
SELECT 'VACUUM ' || string_agg(relname, ', ' ORDER BY relname) FROM pg_class WHERE relnamespace = 'test_pages'::regnamespace AND relname ~ '^k\d\d$' \gexec
SELECT count(*), min((look(relname)).edges), max((look(relname)).edges), sum((look(relname)).wrong), sum(all_visible(oid)::int)
FROM pg_class WHERE relnamespace = 'test_pages'::regnamespace AND relname ~ '^k\d\d$';

-- Weights after such columns, of each type; the distance to a vertex is the minimum weight of an
-- edge to it.
CREATE FUNCTION wrong_weights(t text) RETURNS bigint LANGUAGE plpgsql STABLE AS $$
DECLARE
  wrong bigint;
BEGIN
  EXECUTE format('WITH a AS MATERIALIZED (SELECT vertex, distance FROM emogi_sssp(%1$L, 0) WHERE vertex <> 0),
                       b AS MATERIALIZED (SELECT dst::bigint, min(weight)::float8 FROM %1$I WHERE dst IS NOT NULL GROUP BY dst)
                  SELECT count(*) FROM ((TABLE a EXCEPT TABLE b) UNION ALL (TABLE b EXCEPT TABLE a)) d', t) INTO wrong;
  RETURN wrong;
END $$;
DO $$
DECLARE
  t text;
  weight text;
BEGIN
  FOREACH t IN ARRAY ARRAY['k00', 'k11', 'k22', 'k63', 'k97'] LOOP
    FOREACH weight IN ARRAY ARRAY['smallint', 'int', 'bigint', 'real', 'float8', 'numeric'] LOOP
      EXECUTE format('UPDATE %I SET weight = dst %% 7 + 1 WHERE weight IS NULL', t);
      EXECUTE format('ALTER TABLE %I ALTER weight TYPE %s', t, weight);
      RAISE INFO '% %: % edges, % wrong', t, weight, (look(t)).edges, wrong_weights(t);
    END LOOP;
  END LOOP;
END $$;
UPDATE k63 SET weight = NULL WHERE dst = 77;
\set VERBOSITY sqlstate
SELECT wrong_weights('k63');
\set VERBOSITY default

-- The server's statistics count a call as a sequential scan that returns the visible rows.
CREATE VIEW scans AS SELECT seq_scan, seq_tup_read FROM pg_stat_xact_user_tables WHERE relid = 'test_pages.p1'::regclass;
BEGIN;
DELETE FROM p1 WHERE dst <= 10;
CREATE TEMP TABLE scans_before AS TABLE scans;
SELECT count(*) FROM p1;
SELECT a.seq_scan - b.seq_scan, a.seq_tup_read - b.seq_tup_read FROM scans a, scans_before b;
SELECT count(*) > 0 FROM emogi_bfs('p1', 0);
SELECT a.seq_scan - b.seq_scan, a.seq_tup_read - b.seq_tup_read FROM scans a, scans_before b;
ROLLBACK;

-- The smallest key may occur only as a target, and the largest only as a source, for keys of each
-- length, with weights and without.
CREATE TABLE down2 AS SELECT (2000 + i)::smallint AS src, (2000 - i)::smallint AS dst, i AS weight FROM generate_series(1, 500) i;
CREATE TABLE down4 AS SELECT 2000 + i AS src, 2000 - i AS dst, i AS weight FROM generate_series(1, 500) i;
CREATE TABLE down8 AS SELECT (2000 + i)::bigint AS src, (2000 - i)::bigint AS dst, i AS weight FROM generate_series(1, 500) i;
SELECT t, (SELECT string_agg(vertex || ':' || level, ' ') FROM emogi_bfs(t, ARRAY[2500, 2001]::bigint[])),
       (SELECT string_agg(vertex || ':' || level, ' ') FROM emogi_bfs(t, 1500, direction => 'in')),
       (SELECT string_agg(vertex || ':' || distance, ' ') FROM emogi_sssp(t, 2500)), (SELECT count(*) FROM emogi_cc(t) WHERE component + (vertex - component) / 2 = 2000)
  FROM unnest(ARRAY['down2', 'down4', 'down8']) t;
