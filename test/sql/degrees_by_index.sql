-- Degrees of given vertices are counted over indexes if the graph is not cached. Answers are those
-- of the build, and those of plain SQL.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS emogi;
DROP ROLE IF EXISTS regress_emogi_counter;
RESET client_min_messages;
CREATE ROLE regress_emogi_counter;
CREATE SCHEMA test_degrees_by_index;
GRANT USAGE ON SCHEMA test_degrees_by_index TO PUBLIC;
SET search_path = test_degrees_by_index, public;
SET emogi.engine = 'auto';
SET emogi.index_search_min_size = 0;
SET emogi.incremental_min_size = '1GB';
\pset format unaligned
\pset tuples_only on
\pset null (null)

CREATE FUNCTION last() RETURNS text LANGUAGE sql VOLATILE AS
  $$ SELECT concat_ws(' ', status, cache, engine) FROM public.emogi_runs WHERE pid = pg_backend_pid() ORDER BY id DESC LIMIT 1 $$;
-- All rows of a query in order, or its error; and the source of the last call's graph.
CREATE FUNCTION rows_of(query text, OUT rows text, OUT cache text) LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  EXECUTE format('SELECT coalesce(string_agg(q::text, '' ''), ''none'') FROM (%s) q', query) INTO rows;
  cache := (SELECT r.cache FROM public.emogi_runs r WHERE pid = pg_backend_pid() ORDER BY id DESC LIMIT 1);
EXCEPTION WHEN others THEN
  rows := sqlerrm;
END $$;
-- The answer of a query that may use indexes, or how it differs from that of the graph.
CREATE FUNCTION answer(query text) RETURNS text LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  counted record;
  built record;
BEGIN
  PERFORM public.emogi_evict();
  PERFORM set_config('emogi.enable_index_search', 'on', true);
  counted := rows_of(query);
  PERFORM public.emogi_evict();
  PERFORM set_config('emogi.enable_index_search', 'off', true);
  built := rows_of(query);
  PERFORM set_config('emogi.enable_index_search', 'on', true);
  ASSERT built.cache IS DISTINCT FROM 'index';
  RETURN CASE WHEN counted.rows IS DISTINCT FROM built.rows THEN format('WRONG: %s, built: %s', counted.rows, built.rows) ELSE counted.rows END
    || ' by ' || coalesce(replace(counted.cache, 'private', 'built'), 'none');
END $$;

-- A star, loops, parallel edges, NULL endpoints, keys that are negative and beyond 2^32, a dropped
-- column.
CREATE TABLE e (gone text, src bigint, dst bigint, kind int DEFAULT 0);
ALTER TABLE e DROP COLUMN gone;
INSERT INTO e SELECT 100, 100 + i FROM generate_series(1, 40) i;
INSERT INTO e VALUES (3, 3), (4, 5), (4, 5), (4, 4), (5, 4), (60, 61), (-5, -6), (-6, 5000000000), (5000000000, -5), (-9223372036854775808, 9223372036854775807);
CREATE INDEX e_src ON e (src);
CREATE INDEX e_dst ON e (dst);
ANALYZE e;
\set given '{100, 3, 4, 4, 5, 61, 60, 999, NULL, -5, 5000000000, -9223372036854775808, 9223372036854775807}'
\set query 'SELECT * FROM emogi_degree(%L, %L) WHERE vertex = ANY (%L::bigint[])'

-- Rows on pages that are not all-visible, and on all-visible ones.
SELECT direction, answer(format(:'query', 'e(src, dst)', direction, :'given')) FROM unnest('{out,in,both}'::text[]) direction;
VACUUM e;
SELECT direction, answer(format(:'query', 'e(src, dst)', direction, :'given')) FROM unnest('{out,in,both}'::text[]) direction;
SELECT answer('SELECT * FROM emogi_degree(''e(src, dst)'') WHERE vertex = 100');
SELECT answer('SELECT max(degree), sum(strength) FROM emogi_degree(''e(src, dst)'') WHERE vertex IN (4, 100)');
SELECT answer('SELECT s, d.* FROM generate_series(3, 6) s LEFT JOIN LATERAL emogi_degree(''e(src, dst)'') d ON vertex = s');
SELECT answer('SELECT count(*) FROM emogi_degree(''e(src, dst)'') WHERE vertex = 100 AND degree < 0');
SELECT answer('SELECT count(*) FROM emogi_degree(''e(src, dst)'') WHERE vertex = 100 AND vertex = NULL');
EXPLAIN (COSTS OFF) SELECT * FROM emogi_degree('e(src, dst)', 'both') WHERE vertex = 100;

-- Rows with a NULL endpoint are not edges, whether committed, own, dead or rolled back.
BEGIN;
INSERT INTO e VALUES (100, NULL), (NULL, 100), (NULL, NULL);
SELECT answer(format(:'query', 'e(src, dst)', 'out', '{100, 4}'));
SELECT answer(format(:'query', 'e(src, dst)', 'in', '{100, 4}'));
ROLLBACK;
SELECT answer(format(:'query', 'e(src, dst)', 'out', '{100, 4}'));
INSERT INTO e VALUES (100, NULL), (NULL, 100), (NULL, NULL), (70, NULL), (NULL, 71);
VACUUM e;
SELECT direction, answer(format(:'query', 'e(src, dst)', direction, '{100, 4, 70, 71}')) FROM unnest('{out,in,both}'::text[]) direction;
DELETE FROM e WHERE src IS NULL OR dst IS NULL;
SELECT direction, answer(format(:'query', 'e(src, dst)', direction, '{100, 4, 70, 71}')) FROM unnest('{out,in,both}'::text[]) direction;
VACUUM e;
SELECT direction, answer(format(:'query', 'e(src, dst)', direction, '{100, 4, 70, 71}')) FROM unnest('{out,in,both}'::text[]) direction;

-- The transaction's own changes, also on pages that were all-visible, and savepoints.
BEGIN;
DELETE FROM e WHERE dst IN (101, 102);
UPDATE e SET dst = 3 WHERE dst = 103;
SELECT answer(format(:'query', 'e(src, dst)', 'out', '{100, 3, 102, 103}'));
SAVEPOINT a;
INSERT INTO e VALUES (100, 1), (103, 1);
UPDATE e SET kind = kind + 1 WHERE src = 100;
SELECT answer(format(:'query', 'e(src, dst)', 'out', '{100, 3, 102, 103}'));
ROLLBACK TO a;
SELECT answer(format(:'query', 'e(src, dst)', 'in', '{100, 3, 102, 103}'));
ROLLBACK;
-- Indexes that get a new last page in the transaction, and lose all others.
BEGIN;
CREATE TABLE own AS SELECT i % 10 AS src, i AS dst FROM generate_series(1, 5000) i;
CREATE INDEX ON own (src);
CREATE INDEX ON own (dst);
SELECT answer(format(:'query', 'own(src, dst)', 'out', '{3, 4}'));
TRUNCATE own;
SELECT answer(format(:'query', 'own(src, dst)', 'out', '{3, 4}'));
INSERT INTO own VALUES (3, 1), (3, NULL), (1, 3);
SELECT answer(format(:'query', 'own(src, dst)', 'out', '{3, 4}'));
COMMIT;
-- The last leaf page splits between calls of a session.
CREATE TABLE grows (src int, dst int);
CREATE INDEX ON grows (src);
CREATE INDEX ON grows (dst);
INSERT INTO grows SELECT i % 7, i FROM generate_series(1, 300) i;
VACUUM ANALYZE grows;
SELECT answer(format(:'query', 'grows(src, dst)', 'out', '{3, 4}'));
INSERT INTO grows SELECT i % 7, i FROM generate_series(301, 3000) i;
INSERT INTO grows VALUES (3, NULL);
VACUUM grows;
SELECT answer(format(:'query', 'grows(src, dst)', 'out', '{3, 4}'));
DELETE FROM grows WHERE dst IS NULL OR dst > 10;
VACUUM grows;
SELECT answer(format(:'query', 'grows(src, dst)', 'out', '{3, 4}'));
INSERT INTO grows VALUES (3, NULL);
VACUUM grows;
SELECT answer(format(:'query', 'grows(src, dst)', 'out', '{3, 4}'));
DROP TABLE grows, own;

-- Indexes that sort NULLs first or in descending order, have included columns, are partial, or
-- hash; a table with an index on one endpoint.
CREATE TABLE i (src int, dst int, kind int DEFAULT 0);
INSERT INTO i SELECT i % 20, (i * 7) % 50 FROM generate_series(1, 500) i;
CREATE INDEX i_src ON i (src);
CREATE FUNCTION all_ways() RETURNS SETOF text LANGUAGE sql VOLATILE AS
  $$ SELECT answer(format('SELECT * FROM emogi_degree(%L, %L) WHERE vertex IN (3, 19, 45, 77, 1000)', 'i(src, dst)', direction)) FROM unnest('{out,in,both}'::text[]) direction $$;
VACUUM ANALYZE i;
SELECT all_ways();
CREATE INDEX i_dst ON i (dst NULLS FIRST);
SELECT all_ways();
INSERT INTO i VALUES (3, NULL), (NULL, 3);
VACUUM i;
SELECT all_ways();
DROP INDEX i_dst;
CREATE INDEX i_dst ON i (dst DESC);
SELECT all_ways();
DROP INDEX i_dst;
CREATE INDEX i_dst ON i (dst DESC NULLS LAST, src) INCLUDE (kind);
SELECT all_ways();
DROP INDEX i_dst, i_src;
CREATE INDEX i_dst ON i USING hash (dst);
CREATE INDEX i_src ON i (src);
SELECT all_ways();
DROP INDEX i_dst, i_src;
CREATE INDEX i_src ON i USING hash (src);
CREATE INDEX i_dst ON i (dst);
SELECT all_ways();
DROP INDEX i_dst;
CREATE INDEX i_dst ON i (dst) WHERE dst IS NOT NULL;
SELECT all_ways();
DROP INDEX i_src;
SELECT all_ways();
DROP TABLE i;

-- Weights are added in the order of an adjacency list, whatever the order of the rows; conditions,
-- two costs, and weights that a build rejects.
CREATE TABLE w (src int, dst int, w float8 NOT NULL CHECK (w BETWEEN 0 AND 1e300), reverse_cost float8, kind int DEFAULT 0);
SELECT setseed(0.25);
INSERT INTO w SELECT random() * 100, random() * 100, random() * 10 ^ (random() * 30 - 15), random() - 0.4 FROM generate_series(1, 3000);
CREATE INDEX ON w (src);
CREATE INDEX ON w (dst);
VACUUM ANALYZE w;
SELECT graph, direction, regexp_replace(answer(format('SELECT * FROM emogi_degree(%L, %L) WHERE vertex IN (1, 3, 7, 999)', graph, direction)), '^\(1,.* by', 'right by')
  FROM unnest(ARRAY['w(src, dst, w)', 'w(src, dst, w) WHERE dst <> 4', 'w(src, dst, w) WHERE reverse_cost > 0', 'w(src, dst, w, reverse_cost) WHERE reverse_cost <= 1 AND reverse_cost IS NOT NULL']) graph,
    unnest('{out,in,both}'::text[]) direction ORDER BY graph COLLATE "C", direction;
ALTER TABLE w DROP CONSTRAINT w_w_check, ADD CHECK (w BETWEEN 0 AND 1.5e308);
INSERT INTO w VALUES (500, 501, 1.5e308, 1), (500, 502, 1.5e308, 1);
SELECT answer('SELECT * FROM emogi_degree(''w(src, dst, w)'') WHERE vertex = 500');
SELECT answer('SELECT * FROM emogi_degree(''w(src, dst, w)'', ''in'') WHERE vertex = 501');
ALTER TABLE w DROP CONSTRAINT w_w_check;
UPDATE w SET w = -1 WHERE src = 500;
SELECT answer('SELECT * FROM emogi_degree(''w(src, dst, w)'') WHERE vertex = 500');
DROP TABLE w;

-- Text keys, uuids, partitions with other column orders, and row security.
CREATE TABLE t (src text, dst text);
INSERT INTO t SELECT 'k' || i % 30, 'k' || (i * 7) % 60 FROM generate_series(1, 400) i;
INSERT INTO t VALUES ('k1', 'k1'), ('', 'k1'), ('k1', '');
CREATE INDEX ON t (src);
CREATE INDEX ON t (dst);
VACUUM ANALYZE t;
SELECT direction, answer(format('SELECT * FROM emogi_degree_text(%L, %L) WHERE vertex IN (''k1'', ''k59'', ''k1'', '''', ''none'')', 't(src, dst)', direction))
  FROM unnest('{out,in,both}'::text[]) direction;
-- An error names a vertex whose key is not an integer.
CREATE TABLE named (src text NOT NULL, dst text NOT NULL, id uuid NOT NULL, other uuid NOT NULL, weight float8 NOT NULL CHECK (weight BETWEEN 0 AND 1.5e308));
INSERT INTO named SELECT 'a' || i, 'b' || i, md5('a' || i)::uuid, md5('b' || i)::uuid, 1 FROM generate_series(1, 2000) i;
INSERT INTO named SELECT 'c', 'd' || i, md5('c')::uuid, md5('d' || i)::uuid, 1.5e308 FROM generate_series(1, 2) i;
CREATE INDEX ON named (src);
CREATE INDEX ON named (dst);
CREATE INDEX ON named (id);
CREATE INDEX ON named (other);
VACUUM ANALYZE named;
SELECT answer('SELECT * FROM emogi_degree_text(''named(src, dst, weight)'') WHERE vertex = ''c'''), answer('SELECT * FROM emogi_degree_uuid(''named(id, other, weight)'') WHERE vertex = md5(''c'')::uuid');
DROP TABLE named;
-- The last leaf page is found without reading the entries of deleted rows.
CREATE TABLE deleted (src int, dst int);
INSERT INTO deleted SELECT i % 1000, i FROM generate_series(1, 200000) i;
CREATE INDEX ON deleted (src);
CREATE INDEX deleted_dst ON deleted (dst);
VACUUM ANALYZE deleted;
DELETE FROM deleted WHERE dst > 2000;
CREATE FUNCTION blocks(statement text) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
  plan json;
BEGIN
  EXECUTE 'EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ' || statement INTO plan;
  RETURN (plan -> 0 -> 'Plan' ->> 'Shared Hit Blocks')::int + (plan -> 0 -> 'Plan' ->> 'Shared Read Blocks')::int;
END $$;
SET enable_seqscan = off;
SET enable_bitmapscan = off;
SELECT count(*) FROM deleted WHERE dst > 2000;
SELECT count(*) FROM deleted WHERE dst > 2000;
\c -
SET search_path = test_degrees_by_index, public;
SET emogi.engine = 'auto';
SET emogi.index_search_min_size = 0;
SET emogi.incremental_min_size = '1GB';
SELECT blocks('SELECT * FROM emogi_degree(''deleted(src, dst)'') WHERE vertex = 7') < 300, last();
DROP TABLE deleted;
CREATE TABLE p (src int, dst int, kind int) PARTITION BY LIST (kind);
CREATE TABLE p0 PARTITION OF p FOR VALUES IN (0);
CREATE TABLE p1 (kind int, dst int, src int);
ALTER TABLE p ATTACH PARTITION p1 FOR VALUES IN (1);
INSERT INTO p SELECT i % 20, (i * 3) % 41, i % 2 FROM generate_series(1, 300) i;
CREATE INDEX ON p (src);
CREATE INDEX ON p (dst);
VACUUM ANALYZE p;
SELECT direction, answer(format('SELECT * FROM emogi_degree(%L, %L) WHERE vertex IN (3, 8, 40, 77)', 'p(src, dst)', direction)) FROM unnest('{out,in,both}'::text[]) direction;
INSERT INTO p VALUES (3, NULL, 1);
VACUUM p;
SELECT direction, answer(format('SELECT * FROM emogi_degree(%L, %L) WHERE vertex IN (3, 8, 40, 77)', 'p(src, dst)', direction)) FROM unnest('{out,in,both}'::text[]) direction;
ALTER TABLE e ENABLE ROW LEVEL SECURITY;
CREATE POLICY visible ON e USING (dst < 110);
GRANT SELECT ON e TO regress_emogi_counter;
SET ROLE regress_emogi_counter;
SELECT * FROM emogi_degree('e(src, dst)') WHERE vertex IN (100, 140);
SELECT last();
RESET ROLE;
REVOKE SELECT ON e FROM regress_emogi_counter;
GRANT SELECT (src) ON e TO regress_emogi_counter;
SET ROLE regress_emogi_counter;
SELECT * FROM emogi_degree('e(src, dst)') WHERE vertex = 100;
RESET ROLE;
ALTER TABLE e DISABLE ROW LEVEL SECURITY;

-- Random tables: the degrees of all vertices are those of plain SQL, during inserts and deletes.
CREATE TABLE r (src int, dst int);
CREATE INDEX ON r (src);
CREATE INDEX ON r (dst);
CREATE FUNCTION random_changes() RETURNS text LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  way text;
  wrong int := 0;
  counted int := 0;
  given int[] := (SELECT array_agg(v) FROM generate_series(0, 25) v);
BEGIN
  FOR round IN 1 .. 40 LOOP
    INSERT INTO r SELECT nullif((random() * 22)::int, 21), nullif((random() * 22)::int, CASE WHEN round % 3 = 0 THEN 22 END) FROM generate_series(1, 20);
    DELETE FROM r WHERE random() < 0.1 OR (round % 3 = 2 AND dst IS NULL);
    FOREACH way IN ARRAY '{out,in,both}'::text[] LOOP
      PERFORM public.emogi_evict();
      SELECT count(*) + wrong INTO wrong FROM
        (SELECT vertex, degree FROM emogi_degree('r(src, dst)', way) WHERE vertex = ANY (given)) a FULL JOIN
        (SELECT v AS vertex, (SELECT count(*) FROM r WHERE src IS NOT NULL AND dst IS NOT NULL AND
            ((src = v AND way <> 'in') OR (dst = v AND way <> 'out'))) AS degree
          FROM unnest(given) v WHERE EXISTS (SELECT FROM r WHERE (src = v AND dst IS NOT NULL) OR (dst = v AND src IS NOT NULL))) b USING (vertex, degree)
        WHERE a IS NULL OR b IS NULL;
      counted := counted + (last() LIKE '% index %')::int;
    END LOOP;
  END LOOP;
  RETURN format('%s wrong, %s of 120 by index', wrong, counted);
END $$;
SELECT random_changes();
VACUUM r;
SELECT random_changes();
SELECT count(*) > 0 FROM emogi_evict();

SET client_min_messages = warning;
DROP SCHEMA test_degrees_by_index CASCADE;
DROP ROLE regress_emogi_counter;
