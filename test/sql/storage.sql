-- All ways in which PostgreSQL can store the same edges: 1 -> 2 -> 3 -> 4 and 1 -> 5, so each
-- answer is 1:0 2:1 3:2 4:3 5:1.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS emogi;
RESET client_min_messages;
CREATE SCHEMA test_storage;
SET search_path = test_storage, public;
\pset format unaligned
\pset tuples_only on
\pset null (null)

CREATE FUNCTION answer(graph text, source bigint DEFAULT 1, direction text DEFAULT 'out') RETURNS text LANGUAGE sql STABLE AS
  $$ SELECT string_agg(vertex || ':' || level, ' ') FROM emogi_bfs(graph, source, direction => direction) $$;
CREATE TABLE edge AS SELECT * FROM (VALUES (1, 2), (2, 3), (3, 4), (1, 5)) v(src, dst);
SELECT answer('edge');

-- Key types and domains over them.
CREATE DOMAIN node AS int CHECK (VALUE > 0);
CREATE DOMAIN station AS node NOT NULL;
CREATE DOMAIN stop AS bigint;
CREATE TABLE k22 AS SELECT src::smallint, dst::smallint FROM edge;
CREATE TABLE k24 AS SELECT src::smallint, dst::int FROM edge;
CREATE TABLE k28 AS SELECT src::smallint, dst::bigint FROM edge;
CREATE TABLE k42 AS SELECT src::int, dst::smallint FROM edge;
CREATE TABLE k48 AS SELECT src::int, dst::bigint FROM edge;
CREATE TABLE k82 AS SELECT src::bigint, dst::smallint FROM edge;
CREATE TABLE k84 AS SELECT src::bigint, dst::int FROM edge;
CREATE TABLE k88 AS SELECT src::bigint, dst::bigint FROM edge;
CREATE TABLE kdd AS SELECT src::station, dst::node FROM edge;
CREATE TABLE kds AS SELECT src::stop, dst::smallint FROM edge;
SELECT k, answer(k) FROM unnest(ARRAY['k22', 'k24', 'k28', 'k42', 'k48', 'k82', 'k84', 'k88', 'kdd', 'kds']) k;
SELECT answer('SELECT src, dst FROM kdd');

-- Columns of other types before, between and after the keys, with every alignment; keys in reverse
-- order.
CREATE TABLE a1 AS SELECT true AS b, dst::smallint, 'x'::"char" AS c, src::bigint FROM edge;
CREATE TABLE a2 AS SELECT 'n'::name AS n, src::int, 1.5::float8 AS f, dst::int FROM edge;
CREATE TABLE a3 AS SELECT gen_random_uuid() AS u, 'x'::"char" AS c, src::bigint, '1h'::interval AS i, dst::smallint FROM edge;
CREATE TABLE a4 AS SELECT src::bigint, now() AS t, NULL::text AS z, dst::bigint FROM edge;
CREATE TABLE a5 AS SELECT dst, src, repeat('behind', 100) AS t FROM edge;
CREATE TABLE a6 AS SELECT 1::smallint AS s, src::smallint, 1::smallint AS s2, dst::bigint FROM edge;
CREATE TABLE a7 AS SELECT point(1, 2) AS p, '(0,0,1,1)'::box AS b, '08:00:2b:01:02:03'::macaddr AS m, src::int, '08:00:2b:01:02:03'::macaddr AS m2, dst::int FROM edge;
SELECT k, answer(k) FROM unnest(ARRAY['a1', 'a2', 'a3', 'a4', 'a5', 'a6', 'a7']) k;

-- Keys after columns of variable length: empty, short, long, compressed, out of line; arrays,
-- numerics, composites.
CREATE TABLE v1 AS SELECT repeat('x', dst - 2) AS t, src, dst FROM edge;
CREATE TABLE v2 AS SELECT repeat('x', (i * 7) % 150) AS t, src::bigint, repeat('y', i % 9) AS u, dst::smallint FROM edge, generate_series(0, 300) i;
CREATE TABLE v3 AS SELECT repeat('x', 3000 * src) AS t, 1::numeric AS n, src::bigint, ARRAY[src, NULL, dst] AS a, dst::int FROM edge;
CREATE TABLE v4 (t text, src bigint, u bytea, dst int);
ALTER TABLE v4 ALTER t SET STORAGE EXTERNAL;
INSERT INTO v4 SELECT repeat('outside', 5000), src, decode(repeat('0badcafe', 3000), 'hex'), dst FROM edge;
CREATE TABLE v5 AS SELECT ROW(src, 'x')::text AS r, '{"a": 1}'::jsonb AS j, 'a b'::tsvector AS v, int4range(src, dst + 9) AS g, src, '1.2.3.4'::inet AS i, dst::bigint FROM edge;
CREATE TABLE v6 AS SELECT 'abc'::char(5) AS c, 'de'::varchar(9) AS d, B'101' AS e, src::smallint, 'f'::varchar AS f, dst::bigint FROM edge;
SELECT k, answer(k) FROM unnest(ARRAY['v1', 'v2', 'v3', 'v4', 'v5', 'v6']) k;

-- NULLs before, between and after the keys, in some rows and in all; more columns than one byte of
-- the bitmap.
CREATE TABLE n1 AS SELECT NULL::int AS z, src, dst FROM edge;
CREATE TABLE n2 AS SELECT nullif(src, 1) AS z, src::bigint, nullif(dst, 3)::bigint AS y, dst::bigint FROM edge;
CREATE TABLE n3 AS SELECT CASE WHEN dst % 2 = 0 THEN repeat('x', dst) END AS t, src, NULL::bigint AS z, NULL::text AS u, dst::bigint, NULL::int AS w FROM edge;
CREATE TABLE n4 AS SELECT NULL::int AS c1, 2 AS c2, NULL::text AS c3, 4::bigint AS c4, NULL::int AS c5, 6::smallint AS c6, NULL::float8 AS c7, 'x' AS c8,
  NULL::int AS c9, src::bigint, 11 AS c11, NULL::bool AS c12, NULL::bool AS c13, 14 AS c14, NULL::int AS c15, NULL::int AS c16, 17 AS c17, dst FROM edge;
CREATE TABLE n5 AS TABLE edge;
INSERT INTO n5 VALUES (1, NULL), (NULL, 9), (NULL, NULL), (4, NULL), (NULL, 1);
CREATE TABLE n6 AS SELECT NULL::int AS z, src, dst FROM n5;
CREATE TABLE n7 AS SELECT repeat('x', dst) AS t, src, dst FROM n5;
CREATE TABLE n8 AS SELECT src, repeat('x', dst) AS t, dst FROM n5;
SELECT k, answer(k) FROM unnest(ARRAY['n1', 'n2', 'n3', 'n4', 'n5', 'n6', 'n7', 'n8']) k;
DO $$ BEGIN
  EXECUTE (SELECT format('CREATE TABLE wide AS SELECT %s, src, dst FROM edge', string_agg(format('CASE WHEN src = %s THEN %s END AS c%s', i % 4, i, i), ', ')) FROM generate_series(1, 400) i);
END $$;
SELECT answer('wide');

-- Dropped columns before, between and after the keys.
CREATE TABLE d1 (gone int, src int, dst int);
INSERT INTO d1 SELECT 7, * FROM edge ORDER BY dst LIMIT 2;
ALTER TABLE d1 DROP gone;
INSERT INTO d1 SELECT * FROM edge ORDER BY dst OFFSET 2;
CREATE TABLE d2 (t text, src bigint, u text, v bigint, dst smallint, w text);
INSERT INTO d2 SELECT repeat('x', 10 * dst), src, 'u', 9, dst, 'w' FROM edge ORDER BY dst LIMIT 2;
ALTER TABLE d2 DROP t, DROP u, DROP v, DROP w;
INSERT INTO d2 SELECT * FROM edge ORDER BY dst OFFSET 2;
CREATE TABLE d3 (src text, dst text, x int);
INSERT INTO d3 VALUES ('1', '5', 1);
ALTER TABLE d3 DROP src, DROP dst, ADD src int, ADD dst int;
INSERT INTO d3 (src, dst) TABLE edge;
SELECT k, answer(k) FROM unnest(ARRAY['d1', 'd2', 'd3']) k;
SELECT answer('d2', 4, 'in'), answer('d2', 4, 'both');

-- Columns added later: older rows have the default, or NULL, without stored bytes.
CREATE TABLE l1 (src int);
INSERT INTO l1 VALUES (1), (2), (3);
ALTER TABLE l1 ADD dst int DEFAULT 9;
SELECT answer('l1'), answer('l1', 9, 'in');
INSERT INTO l1 VALUES (9, 1), (3, NULL);
SELECT answer('l1', 2), answer('l1', 9, 'in');
ALTER TABLE l1 ALTER dst SET DEFAULT 8;
INSERT INTO l1 (src) VALUES (1);
SELECT answer('l1', 2);
CREATE TABLE l2 (t text);
INSERT INTO l2 VALUES ('a'), (NULL);
ALTER TABLE l2 ADD src bigint DEFAULT 5000000000, ADD dst smallint DEFAULT -7;
INSERT INTO l2 VALUES ('b', -7, 3), (NULL, 3, 4);
SELECT answer('l2', 5000000000);
CREATE TABLE l3 (t text);
INSERT INTO l3 VALUES ('a'), (NULL);
ALTER TABLE l3 ADD src int, ADD u text DEFAULT 'later', ADD dst int;
SELECT answer('l3', 5);
INSERT INTO l3 SELECT 'b', src, 'c', dst FROM edge;
SELECT answer('l3');
CREATE TABLE l4 (x int);
INSERT INTO l4 VALUES (1), (NULL);
ALTER TABLE l4 ADD t text DEFAULT 'added', ADD src int DEFAULT 1, ADD z int, ADD dst int NOT NULL DEFAULT 2;
INSERT INTO l4 SELECT NULL, 'x', src, NULL, dst FROM edge;
UPDATE l4 SET x = 2 WHERE x = 1;
SELECT answer('l4');

-- Generated, identity and default columns; a typed table.
CREATE TABLE g1 (x int, src int GENERATED ALWAYS AS (x) STORED, y int, dst bigint GENERATED ALWAYS AS (y + 0) STORED);
INSERT INTO g1 (x, y) TABLE edge;
CREATE TABLE g2 (src int, dst int GENERATED ALWAYS AS IDENTITY (START 2));
INSERT INTO g2 VALUES (1), (2), (3), (1);
CREATE TYPE pair AS (src int, dst int);
CREATE TABLE g3 OF pair (PRIMARY KEY (src, dst));
INSERT INTO g3 TABLE edge;
SELECT k, answer(k) FROM unnest(ARRAY['g1', 'g2', 'g3']) k;

-- Updated, deleted, aborted, vacuumed and rewritten rows.
CREATE TABLE u1 (src int, dst int, note text) WITH (fillfactor = 50);
INSERT INTO u1 SELECT src + 100, dst + 100, 'x' FROM edge, generate_series(1, 1000);
UPDATE u1 SET src = src - 100, dst = dst - 100;
UPDATE u1 SET note = 'hot';
DELETE FROM u1 WHERE ctid NOT IN (SELECT max(ctid) FROM u1 GROUP BY src, dst);
BEGIN;
INSERT INTO u1 VALUES (1, 9), (5, 10);
ROLLBACK;
SELECT answer('u1');
VACUUM u1;
SELECT answer('u1');
INSERT INTO u1 SELECT src, dst FROM edge;
SELECT answer('u1');
VACUUM FREEZE u1;
SELECT answer('u1');
VACUUM FULL u1;
SELECT answer('u1');
CREATE INDEX u1_src ON u1 (src DESC);
CLUSTER u1 USING u1_src;
SELECT answer('u1');
TRUNCATE u1;
SELECT answer('u1');
INSERT INTO u1 TABLE edge;
ALTER TABLE u1 ALTER src TYPE bigint, ALTER dst TYPE smallint;
SELECT answer('u1');
ALTER TABLE u1 SET UNLOGGED;
SELECT answer('u1');

-- Unlogged and temporary tables, materialized views, views.
CREATE UNLOGGED TABLE t1 AS TABLE edge;
CREATE TEMP TABLE t2 AS TABLE edge;
CREATE MATERIALIZED VIEW t3 AS TABLE edge;
CREATE VIEW t4 AS TABLE edge;
CREATE VIEW t5 AS SELECT dst AS target, src AS source FROM t4 WHERE src > 0;
CREATE RECURSIVE VIEW t6 (src, dst) AS VALUES (1, 2) UNION SELECT CASE dst WHEN 4 THEN 1 ELSE dst END, dst + 1 FROM t6 WHERE dst < 5;
CREATE TEMP VIEW t7 AS SELECT src::bigint, dst::smallint FROM t2;
SELECT k, answer(k) FROM unnest(ARRAY['t1', 't2', 't3', 't4', 't5', 't6', 't7']) k;
SELECT answer('t5(target, source)', 4);
UPDATE edge SET dst = 6 WHERE dst = 5;
SELECT answer('t3'), answer('t4');
REFRESH MATERIALIZED VIEW t3;
SELECT answer('t3');
UPDATE edge SET dst = 5 WHERE dst = 6;

-- Partitions: three kinds, two levels, other column orders, dropped columns, a default, one empty,
-- one detached.
CREATE TABLE p (src int, dst int, note text) PARTITION BY RANGE (src);
SELECT answer('p');
CREATE TABLE p1 (note text, dst int, gone text, src int NOT NULL);
INSERT INTO p1 VALUES ('before', 2, 'x', 1);
ALTER TABLE p1 DROP gone;
ALTER TABLE p ATTACH PARTITION p1 FOR VALUES FROM (1) TO (2);
CREATE TABLE p2 PARTITION OF p FOR VALUES FROM (2) TO (4) PARTITION BY LIST (src);
CREATE TABLE p22 PARTITION OF p2 FOR VALUES IN (2);
CREATE TABLE p23 (dst int, src int, note text) PARTITION BY HASH (dst);
ALTER TABLE p2 ATTACH PARTITION p23 FOR VALUES IN (3);
CREATE TABLE p230 PARTITION OF p23 FOR VALUES WITH (MODULUS 2, REMAINDER 0);
CREATE UNLOGGED TABLE p231 (note text, src int, dst int);
ALTER TABLE p23 ATTACH PARTITION p231 FOR VALUES WITH (MODULUS 2, REMAINDER 1);
CREATE TABLE p4 PARTITION OF p FOR VALUES FROM (4) TO (5);
CREATE TABLE p_default PARTITION OF p DEFAULT;
INSERT INTO p (src, dst) SELECT * FROM edge WHERE NOT (src = 1 AND dst = 2);
SELECT tableoid::regclass, src, dst FROM p ORDER BY 1, 2, 3;
SELECT answer('p'), answer('p', 4, 'in');
SELECT answer('p1'), answer('p2', 2), answer('p23', 3);
INSERT INTO p VALUES (NULL, 1), (7, 8), (NULL, NULL), (8, 9);
SELECT answer('p', 7), answer('p_default', 7);
ALTER TABLE p DETACH PARTITION p1;
SELECT answer('p', 2);
UPDATE p SET src = 4 WHERE src = 2;
SELECT answer('p', 4);

-- Inheritance: children are included, as in SELECT, whatever their column order.
CREATE TABLE i0 (src int, dst int);
CREATE TABLE i1 (extra text, more int) INHERITS (i0);
CREATE TABLE i2 (dst int, t text, src int);
ALTER TABLE i2 INHERIT i0;
SET client_min_messages = warning;
CREATE TABLE i3 (y int) INHERITS (i1, i2);
RESET client_min_messages;
INSERT INTO i0 VALUES (1, 2), (1, 5);
INSERT INTO i1 VALUES (2, 3, 'x');
INSERT INTO i3 (src, dst) VALUES (3, 4);
SELECT answer('i0'), answer('i1', 2), answer('i2', 3);
SELECT answer('SELECT src, dst FROM ONLY i0'), answer('TABLE ONLY i0');
INSERT INTO i2 VALUES (1, 'back', 9);
SELECT answer('i0', 9);
