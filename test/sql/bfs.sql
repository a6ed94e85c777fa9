-- Answers of emogi_bfs on graphs small enough to verify manually.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS emogi;
RESET client_min_messages;
CREATE SCHEMA test_bfs;
SET search_path = test_bfs, public;

-- The interface.
SELECT emogi_version() = default_version AS version FROM pg_available_extensions WHERE name = 'emogi';
SELECT * FROM emogi_bfs('SELECT 1, 2', 1) \gdesc
SELECT proargnames[1:pronargs] AS names, proargtypes::regtype[] AS types, pg_get_expr(proargdefaults, 'pg_proc'::regclass) AS defaults,
       provolatile, proparallel, prosecdef, proleakproof, proretset
  FROM pg_proc WHERE proname = 'emogi_bfs' ORDER BY proargtypes;

-- Rows are in ascending vertex order, so one line shows an answer.
\pset format unaligned
\pset tuples_only on
\pset null (null)
-- 1 -> 2 -> 3 -> 4 -> 1 is a cycle, 5 leads into it, 6 and 7 are separate.
CREATE TABLE ring (src bigint, dst bigint);
INSERT INTO ring VALUES (4, 1), (3, 4), (2, 3), (1, 2), (5, 1), (6, 7);
SELECT * FROM emogi_bfs('ring', 1);
SELECT string_agg(vertex || ':' || level, ' ') FROM emogi_bfs('ring', 3);
SELECT string_agg(vertex || ':' || level, ' ') FROM emogi_bfs('ring', 5);
SELECT string_agg(vertex || ':' || level, ' ') FROM emogi_bfs('ring', 6);
SELECT string_agg(vertex || ':' || level, ' ') FROM emogi_bfs('ring', 7);
SELECT count(*) FROM emogi_bfs('ring', 99);

-- Direction.
SELECT string_agg(vertex || ':' || level, ' ') FROM emogi_bfs('ring', 1, direction => 'out');
SELECT string_agg(vertex || ':' || level, ' ') FROM emogi_bfs('ring', 1, direction => 'in');
SELECT string_agg(vertex || ':' || level, ' ') FROM emogi_bfs('ring', 1, direction => 'both');
SELECT string_agg(vertex || ':' || level, ' ') FROM emogi_bfs('ring', 5, direction => 'in');
SELECT string_agg(vertex || ':' || level, ' ') FROM emogi_bfs('ring', 7, direction => 'IN');
SELECT string_agg(vertex || ':' || level, ' ') FROM emogi_bfs('ring', 7, direction => 'Both');
SELECT string_agg(vertex || ':' || level, ' ') FROM emogi_bfs('ring', 7, direction => 'OUT');
SELECT string_agg(vertex || ':' || level, ' ') FROM emogi_bfs('ring', 1, direction => NULL);

-- Depth.
SELECT string_agg(vertex || ':' || level, ' ') FROM emogi_bfs('ring', 5, 0);
SELECT string_agg(vertex || ':' || level, ' ') FROM emogi_bfs('ring', 5, 1);
SELECT string_agg(vertex || ':' || level, ' ') FROM emogi_bfs('ring', 5, 3);
SELECT string_agg(vertex || ':' || level, ' ') FROM emogi_bfs('ring', 5, 4);
SELECT string_agg(vertex || ':' || level, ' ') FROM emogi_bfs('ring', 5, 5);
SELECT string_agg(vertex || ':' || level, ' ') FROM emogi_bfs('ring', 5, 2147483647);
SELECT string_agg(vertex || ':' || level, ' ') FROM emogi_bfs('ring', 5, NULL);
SELECT string_agg(vertex || ':' || level, ' ') FROM emogi_bfs('ring', 1, 1, 'both');
SELECT string_agg(vertex || ':' || level, ' ') FROM emogi_bfs(source => 5, graph => 'ring', direction => 'out', max_depth => 2);
SELECT count(*) FROM emogi_bfs('ring', 99, 0);

-- Several sources: the nearest counts.
SELECT string_agg(vertex || ':' || level, ' ') FROM emogi_bfs('ring', ARRAY[1, 3]);
SELECT string_agg(vertex || ':' || level, ' ') FROM emogi_bfs('ring', ARRAY[5, 6]);
SELECT string_agg(vertex || ':' || level, ' ') FROM emogi_bfs('ring', ARRAY[3]);
SELECT string_agg(vertex || ':' || level, ' ') FROM emogi_bfs('ring', ARRAY[5, 3, 5, 3, 3]);
SELECT string_agg(vertex || ':' || level, ' ') FROM emogi_bfs('ring', ARRAY[NULL, 5, NULL]);
SELECT string_agg(vertex || ':' || level, ' ') FROM emogi_bfs('ring', ARRAY[99, 6, -1]);
SELECT string_agg(vertex || ':' || level, ' ') FROM emogi_bfs('ring', '[7:8]={5,6}'::bigint[]);
SELECT string_agg(vertex || ':' || level, ' ') FROM emogi_bfs('ring', ARRAY[1, 2, 3, 4, 5, 6, 7]::bigint[], 0);
SELECT string_agg(vertex || ':' || level, ' ') FROM emogi_bfs('ring', ARRAY[4, 6], 1, 'both');
SELECT string_agg(vertex || ':' || level, ' ')
  FROM emogi_bfs('ring', ARRAY(SELECT i % 3 + 2 FROM generate_series(1::bigint, 10000) i));
SELECT count(*) FROM emogi_bfs('ring', ARRAY[98, 99]);

-- No source, no rows.
SELECT count(*) FROM emogi_bfs('ring', NULL::bigint);
SELECT count(*) FROM emogi_bfs('ring', NULL::bigint[]);
SELECT count(*) FROM emogi_bfs('ring', '{}'::bigint[]);
SELECT count(*) FROM emogi_bfs('ring', ARRAY[NULL, NULL]::bigint[]);

-- No edges; one vertex; only self-loops.
CREATE TABLE none (src int, dst int);
SELECT count(*) FROM emogi_bfs('none', 1);
SELECT count(*) FROM emogi_bfs('none', ARRAY[0, 1]::bigint[], 3, 'both');
CREATE TABLE loops (src int, dst int);
INSERT INTO loops VALUES (7, 7);
SELECT string_agg(vertex || ':' || level, ' ') FROM emogi_bfs('loops', 7);
SELECT string_agg(vertex || ':' || level, ' ') FROM emogi_bfs('loops', 7, direction => 'both');
SELECT count(*) FROM emogi_bfs('loops', 0);
INSERT INTO loops VALUES (7, 7), (8, 8);
SELECT string_agg(vertex || ':' || level, ' ') FROM emogi_bfs('loops', ARRAY[7, 8]);

-- A row with a NULL endpoint is not an edge: 9, 10 and 11 are not vertices.
CREATE TABLE holes (src int, dst int);
INSERT INTO holes VALUES (1, 2), (1, NULL), (NULL, 1), (NULL, NULL), (9, NULL), (NULL, 10), (2, 3), (11, NULL);
SELECT string_agg(vertex || ':' || level, ' ') FROM emogi_bfs('holes', 1);
SELECT string_agg(vertex || ':' || level, ' ') FROM emogi_bfs('holes', 3, direction => 'both');
SELECT count(*) FROM emogi_bfs('holes', ARRAY[0, 9, 10, 11]::bigint[], direction => 'both');
DELETE FROM holes WHERE src IS NOT NULL AND dst IS NOT NULL;
SELECT count(*) FROM emogi_bfs('holes', 1);

-- Duplicate edges and self-loops do not change levels; both directions of an edge may be stored.
CREATE TABLE multi (src int, dst int);
INSERT INTO multi VALUES (1, 2), (1, 2), (1, 2), (2, 2), (2, 1), (2, 3), (2, 3), (1, 1), (3, 4), (1, 3);
SELECT string_agg(vertex || ':' || level, ' ') FROM emogi_bfs('multi', 1);
SELECT string_agg(vertex || ':' || level, ' ') FROM emogi_bfs('multi', 4, direction => 'in');
SELECT string_agg(vertex || ':' || level, ' ') FROM emogi_bfs('multi', 4, direction => 'both');

-- The shorter of two paths counts, whichever edge is stored first.
CREATE TABLE ways (src int, dst int);
INSERT INTO ways VALUES (1, 2), (2, 3), (3, 4), (4, 5), (1, 5), (5, 6), (1, 6), (6, 7), (4, 7);
SELECT string_agg(vertex || ':' || level, ' ') FROM emogi_bfs('ways', 1);
SELECT string_agg(vertex || ':' || level, ' ') FROM emogi_bfs('ways', 7, direction => 'in');

-- A star from its centre and from a leaf.
CREATE TABLE star AS SELECT 0 AS src, i AS dst FROM generate_series(1, 1000) i;
SELECT level, count(*), min(vertex), max(vertex) FROM emogi_bfs('star', 0) GROUP BY level ORDER BY level;
SELECT level, count(*), min(vertex), max(vertex) FROM emogi_bfs('star', 1000) GROUP BY level ORDER BY level;
SELECT level, count(*), min(vertex), max(vertex) FROM emogi_bfs('star', 1000, direction => 'both') GROUP BY level ORDER BY level;
SELECT level, count(*), min(vertex), max(vertex) FROM emogi_bfs('star', ARRAY[3, 5], direction => 'in') GROUP BY level ORDER BY level;

-- A chain: as many levels as vertices.
CREATE TABLE chain AS SELECT i AS src, i + 1 AS dst FROM generate_series(1, 2000) i;
SELECT count(*), min(vertex), max(vertex), max(level), bool_and(level = vertex - 1) FROM emogi_bfs('chain', 1);
SELECT count(*), min(vertex), max(vertex), max(level), bool_and(level = 2001 - vertex) FROM emogi_bfs('chain', 2001, direction => 'in');
SELECT count(*), min(vertex), max(vertex), max(level), bool_and(level = abs(vertex - 700)) FROM emogi_bfs('chain', 700, direction => 'both');
SELECT count(*), min(vertex), max(vertex), max(level) FROM emogi_bfs('chain', 700, 1000);

-- Lists of 0, 1, 31, 32, 33 and more edges, so that lists start at all alignments: vertex d has d
-- edges to d * 1000 + 1 .. d.
CREATE TABLE degrees AS
  SELECT d AS src, d * 1000 + i AS dst FROM unnest(ARRAY[1, 31, 32, 33, 63, 64, 65, 127, 128, 129, 255, 256, 257]) d, generate_series(1, d) i
  UNION ALL SELECT 0, unnest(ARRAY[1, 31, 32, 33, 63, 64, 65, 127, 128, 129, 255, 256, 257]);
SELECT level, count(*) FROM emogi_bfs('degrees', 0) GROUP BY level ORDER BY level;
SELECT vertex / 1000 AS list, count(*), min(vertex), max(vertex) FROM emogi_bfs('degrees', 0) WHERE level = 2 GROUP BY 1 ORDER BY 1;
SELECT s AS list, count(*), min(vertex) FILTER (WHERE level = 1), max(vertex) FILTER (WHERE level = 1)
  FROM unnest(ARRAY[1, 31, 32, 33, 64, 65, 129, 257, 257257]) s, emogi_bfs('degrees', s) GROUP BY s ORDER BY s;

-- Keys of every size and sign, adjacent and far apart.
CREATE TABLE wide (src bigint, dst bigint);
INSERT INTO wide VALUES
  (-9223372036854775808, 9223372036854775807), (9223372036854775807, 0), (0, -1), (-1, 4294967296), (4294967296, -4294967297),
  (-4294967297, 2147483648), (2147483648, -2147483649), (-2147483649, 9223372036854775806), (9223372036854775806, -9223372036854775807);
SELECT * FROM emogi_bfs('wide', -9223372036854775808);
SELECT string_agg(vertex || ':' || level, ' ') FROM emogi_bfs('wide', -9223372036854775807, 3, 'in');
SELECT string_agg(vertex || ':' || level, ' ') FROM emogi_bfs('wide', ARRAY[9223372036854775807, -9223372036854775808], 2, 'both');
SELECT count(*) FROM emogi_bfs('wide', ARRAY[1, -2, 4294967295, 4294967297, 9223372036854775805]);
CREATE TABLE extremes (src smallint, dst smallint);
INSERT INTO extremes VALUES (-32768, 32767), (32767, 0), (0, -1);
SELECT string_agg(vertex || ':' || level, ' ') FROM emogi_bfs('extremes', -32768);
CREATE TABLE extremes4 (src int, dst int);
INSERT INTO extremes4 VALUES (-2147483648, 2147483647), (2147483647, 0), (0, -1);
SELECT string_agg(vertex || ':' || level, ' ') FROM emogi_bfs('extremes4', -2147483648);
-- A source outside the range of the key type is in no edge.
SELECT count(*) FROM emogi_bfs('extremes', 32768);
SELECT count(*) FROM emogi_bfs('extremes', ARRAY[-32769, 65535, 65536]);
SELECT count(*) FROM emogi_bfs('extremes4', ARRAY[2147483648, 4294967295, 4294967296]);

-- Endpoints of different types.
CREATE TABLE mixed (src smallint, dst bigint);
INSERT INTO mixed VALUES (1, 5000000000), (1, 2), (2, 3), (-1, 1);
SELECT string_agg(vertex || ':' || level, ' ') FROM emogi_bfs('mixed', 1);
SELECT string_agg(vertex || ':' || level, ' ') FROM emogi_bfs('mixed', 5000000000, direction => 'both');
SELECT string_agg(vertex || ':' || level, ' ') FROM emogi_bfs('mixed', -1::smallint);
SELECT string_agg(vertex || ':' || level, ' ') FROM emogi_bfs('mixed', 1::int);

-- A published graph: the friendships of Zachary's karate club (J. Anthropological Research 33,
-- 1977), each stored once.
CREATE TABLE karate (source int, target int);
COPY karate FROM STDIN DELIMITER ' ';
1 2
1 3
1 4
1 5
1 6
1 7
1 8
1 9
1 11
1 12
1 13
1 14
1 18
1 20
1 22
1 32
2 3
2 4
2 8
2 14
2 18
2 20
2 22
2 31
3 4
3 8
3 9
3 10
3 14
3 28
3 29
3 33
4 8
4 13
4 14
5 7
5 11
6 7
6 11
6 17
7 17
9 31
9 33
9 34
10 34
14 34
15 33
15 34
16 33
16 34
19 33
19 34
20 34
21 33
21 34
23 33
23 34
24 26
24 28
24 30
24 33
24 34
25 26
25 28
25 32
26 32
27 30
27 34
28 34
29 32
29 34
30 33
30 34
31 33
31 34
32 33
32 34
33 34
\.
SELECT level, count(*), string_agg(vertex::text, ' ' ORDER BY vertex) FROM emogi_bfs('karate', 1, direction => 'both') GROUP BY level ORDER BY level;
SELECT level, count(*), string_agg(vertex::text, ' ' ORDER BY vertex) FROM emogi_bfs('karate', 17, direction => 'both') GROUP BY level ORDER BY level;
SELECT level, count(*), string_agg(vertex::text, ' ' ORDER BY vertex) FROM emogi_bfs('karate', ARRAY[1, 34], direction => 'both') GROUP BY level ORDER BY level;
