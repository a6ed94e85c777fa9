-- emogi_pages: the rows of pages, packed for emogi on another server. The packs are unpacked here
-- in SQL.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS emogi;
DROP ROLE IF EXISTS regress_emogi_server_pages;
CREATE ROLE regress_emogi_server_pages;
CREATE SCHEMA test_server_pages;
SET search_path = test_server_pages, public;
RESET client_min_messages;
\pset null (null)

-- number(): some bytes of a pack as a signed big-endian number.
CREATE FUNCTION number(pack bytea, at int, width int) RETURNS bigint LANGUAGE sql AS $$
  SELECT sum(get_byte(pack, at + i) * 256::numeric ^ (width - 1 - i) - CASE WHEN i = 0 AND get_byte(pack, at) > 127 THEN 256::numeric ^ width ELSE 0 END)::bigint
    FROM generate_series(0, width - 1) i $$;

-- unpack(): the rows of a pack, as arrays of numbers.
CREATE FUNCTION unpack(pack bytea) RETURNS SETOF bigint[] LANGUAGE plpgsql AS $$
DECLARE
  nrows int := number(pack, 0, 4);
  ncolumns int := number(pack, 4, 4);
  at int := 8;
  width int;
  bitmap int;
  all_values bigint[][] := array_fill(NULL::bigint, ARRAY[nrows, ncolumns]);
BEGIN
  FOR c IN 1 .. ncolumns LOOP
    width := number(pack, at, 4);
    bitmap := CASE WHEN number(pack, at + 4, 4) = 1 THEN at + 8 END;
    at := at + 8 + CASE WHEN bitmap IS NULL THEN 0 ELSE (nrows + 7) / 8 END;
    FOR r IN 0 .. nrows - 1 LOOP
      IF bitmap IS NULL OR get_byte(pack, bitmap + r / 8) >> (r % 8) & 1 = 1 THEN
        all_values[r + 1][c] := number(pack, at + r * width, width);
      END IF;
    END LOOP;
    at := at + nrows * width;
  END LOOP;
  IF at <> length(pack) THEN
    RAISE 'pack of % bytes ends at %', length(pack), at;
  END IF;
  FOR r IN 1 .. nrows LOOP
    RETURN NEXT (SELECT array_agg(all_values[r][c] ORDER BY c) FROM generate_series(1, ncolumns) c);
  END LOOP;
END $$;

CREATE TABLE edges (note text, src bigint, dst int, step smallint);
INSERT INTO edges VALUES ('a', 1, 2, 3), (NULL, -1, -2, -3), ('a longer note', 9223372036854775807, 2147483647, 32767),
  ('', -9223372036854775808, -2147483648, -32768), ('n', NULL, 5, NULL), ('m', 7, NULL, 8), (NULL, NULL, NULL, NULL);
SELECT u FROM emogi_pages('edges', '{src,dst,step}', 0, 1000) p, unpack(p) u;
SELECT u FROM emogi_pages('edges', '{step}', 0, 1) p, unpack(p) u;
SELECT u FROM emogi_pages('edges', '{dst,dst}', 0, 1) p, unpack(p) u;

-- columns that older rows do not have; dropped ones; bigint in 4 bytes if all values fit
ALTER TABLE edges ADD COLUMN later int DEFAULT 42, DROP COLUMN note;
DELETE FROM edges WHERE abs(src::numeric) > 100;
SELECT u FROM emogi_pages('edges', '{src,later}', 0, 1000) p, unpack(p) u;
SELECT number(p, 8, 4) AS bytes_of_src FROM emogi_pages('edges', '{src}', 0, 1000) p;

-- all pages, in ranges, equal the table; in the order of its pages; as visible to a snapshot
CREATE TABLE many AS SELECT i AS src, i * 7 % 1000 AS dst FROM generate_series(1, 30000) i;
DELETE FROM many WHERE src % 10 = 0;
UPDATE many SET dst = -dst WHERE src % 11 = 0;
SELECT count(*) > 1 AS packs FROM emogi_pages('many', '{src,dst}', 0, 1000000);
SELECT count(*), count(*) FILTER (WHERE a IS NOT DISTINCT FROM ARRAY[src, dst]::bigint[]) AS same
  FROM (SELECT u AS a FROM (SELECT emogi_pages('many', '{src,dst}', first, 7) p FROM generate_series(0, 1000, 7) first) x, unpack(p) u) y
    JOIN many ON src = a[1];
SELECT count(*) FROM emogi_pages('many', '{src}', 100000, 5);
SELECT count(*) FROM emogi_pages('many', '{src}', 0, 0);
BEGIN;
DELETE FROM many WHERE src > 10;
INSERT INTO many VALUES (77777, 1);
SELECT array_agg(u[1] ORDER BY u[1]) FROM emogi_pages('many', '{src}', 0, 1000000) p, unpack(p) u;
ROLLBACK;
-- a table being packed cannot be rewritten
CREATE INDEX many_src_index ON many (src);
DO $$
DECLARE
  r record;
BEGIN
  FOR r IN SELECT emogi_pages('many', '{src}', 0, 1000000) LOOP
    CLUSTER many USING many_src_index;
  END LOOP;
END $$;
BEGIN;
DECLARE packs CURSOR FOR SELECT length(emogi_pages('many', '{src}', 0, 1000000)) > 0 AS packed;
FETCH packs;
TRUNCATE many;
ROLLBACK;
SELECT count(*) > 1 AS packed FROM (SELECT emogi_pages('many', '{src}', 0, 1000000)) p;
SELECT count(*) FROM (VALUES (0), (20), (100000)) v(first), LATERAL emogi_pages('many', '{src}', first, 10);
-- a query that ends early leaves nothing open
SELECT length(emogi_pages('many', '{src}', 0, 1000000)) > 0 LIMIT 1;

-- floating-point numbers unchanged; domains
CREATE DOMAIN vertex AS bigint CHECK (value > 0);
CREATE TABLE floats (a vertex, w float8, v real);
INSERT INTO floats VALUES (1, 1.5, -2.5), (2, 'NaN', 'Infinity'), (3, NULL, 0);
SELECT encode(emogi_pages('floats', '{a,w,v}', 0, 10), 'hex');

-- tables that cannot be packed
SELECT emogi_pages('many', '{nothing}', 0, 1);
SELECT emogi_pages('many', '{ctid}', 0, 1);
SELECT emogi_pages('many', '{}', 0, 1);
SELECT emogi_pages('many', '{src,NULL}', 0, 1);
SELECT emogi_pages('many', '{src}', -1, 1);
SELECT emogi_pages('many', '{src}', 0, -1);
SELECT emogi_pages('many', array_fill('src'::text, '{17}'), 0, 1);
SELECT emogi_pages(NULL, '{src}', 0, 1);
SELECT emogi_pages(0, '{src}', 0, 1);
CREATE VIEW view AS SELECT * FROM many;
SELECT emogi_pages('view', '{src}', 0, 1);
CREATE TABLE parts (src bigint) PARTITION BY RANGE (src);
SELECT emogi_pages('parts', '{src}', 0, 1);
CREATE INDEX many_src ON many (src);
SELECT emogi_pages('many_src', '{src}', 0, 1);
CREATE SEQUENCE numbers;
SELECT emogi_pages('numbers', '{last_value}', 0, 1);
CREATE TABLE words (a text, b numeric);
SELECT emogi_pages('words', '{a}', 0, 1);
SELECT emogi_pages('words', '{b}', 0, 1);
CREATE MATERIALIZED VIEW kept AS SELECT 5::bigint AS src;
SELECT unpack(emogi_pages('kept', '{src}', 0, 1));
CREATE MATERIALIZED VIEW unfilled AS SELECT 5::bigint AS src WITH NO DATA;
SELECT count(*) FROM emogi_pages('unfilled', '{src}', 0, 1);

-- privileges are those of SELECT
CREATE TABLE secured (src bigint, dst bigint);
INSERT INTO secured VALUES (1, 2);
ALTER TABLE secured ENABLE ROW LEVEL SECURITY;
GRANT SELECT ON secured TO regress_emogi_server_pages;
GRANT SELECT (src) ON many TO regress_emogi_server_pages;
SET ROLE regress_emogi_server_pages;
SELECT emogi_pages('test_server_pages.many'::regclass, '{src}', 0, 1);
RESET ROLE;
GRANT USAGE ON SCHEMA test_server_pages TO regress_emogi_server_pages;
SET ROLE regress_emogi_server_pages;
SELECT count(*) FROM emogi_pages('many', '{src}', 0, 1);
SELECT emogi_pages('many', '{src,dst}', 0, 1);
SELECT emogi_pages('edges', '{src}', 0, 1);
SELECT emogi_pages('secured', '{src}', 0, 1);
RESET ROLE;
SELECT unpack(emogi_pages('secured', '{src,dst}', 0, 1));

SET client_min_messages = warning;
DROP SCHEMA test_server_pages CASCADE;
DROP ROLE regress_emogi_server_pages;
