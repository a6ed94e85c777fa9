-- Every form of the graph argument.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS emogi;
RESET client_min_messages;
CREATE SCHEMA test_sources;
SET search_path = test_sources, public;
\pset format unaligned
\pset tuples_only on
\pset null (null)

-- 1 -> 2 -> 3 and 1 -> 4; the other columns contain other edges, so that a wrong column is
-- detected.
CREATE TABLE edges (src int, dst int, weight float8, a int, b int, "Dst" int, "to, (node)" int);
INSERT INTO edges VALUES (1, 2, 0.5, 2, 1, 20, 200), (2, 3, NULL, 3, 2, 30, 300), (1, 4, 'NaN', 4, 1, 40, 400);

-- A name, with and without its schema; names are folded as in SQL; blanks are ignored.
SELECT string_agg(vertex || ':' || level, ' ') FROM emogi_bfs('edges', 1);
SELECT string_agg(vertex || ':' || level, ' ') FROM emogi_bfs('test_sources.edges', 1);
SELECT string_agg(vertex || ':' || level, ' ') FROM emogi_bfs('EDGES', 1);
SELECT string_agg(vertex || ':' || level, ' ') FROM emogi_bfs('"test_sources".Edges', 1);
SELECT string_agg(vertex || ':' || level, ' ') FROM emogi_bfs('  edges  ', 1);
SELECT string_agg(vertex || ':' || level, ' ') FROM emogi_bfs(E'\n\ttest_sources . edges\n', 1);

-- Named columns.
SELECT string_agg(vertex || ':' || level, ' ') FROM emogi_bfs('edges(src, dst)', 1);
SELECT string_agg(vertex || ':' || level, ' ') FROM emogi_bfs('edges(dst, src)', 3);
SELECT string_agg(vertex || ':' || level, ' ') FROM emogi_bfs('edges(a,b)', 3);
SELECT string_agg(vertex || ':' || level, ' ') FROM emogi_bfs('EDGES ( A , B )', 3);
SELECT string_agg(vertex || ':' || level, ' ') FROM emogi_bfs('test_sources.edges(a, b, weight)', 3);
SELECT string_agg(vertex || ':' || level, ' ') FROM emogi_bfs('edges(src, dst, b)', 1);
SELECT string_agg(vertex || ':' || level, ' ') FROM emogi_bfs('edges(src, "Dst")', 1);
SELECT string_agg(vertex || ':' || level, ' ') FROM emogi_bfs('edges(src, Dst)', 1);
SELECT string_agg(vertex || ':' || level, ' ') FROM emogi_bfs('edges(src, "to, (node)")', 1);
SELECT string_agg(vertex || ':' || level, ' ') FROM emogi_bfs(E' edges\n(\n src,\n dst\n) ', 1);

-- Default columns: src, dst before source, target; a weight or cost column of any numeric type may
-- exist.
CREATE TABLE st (source bigint, target bigint, cost numeric);
INSERT INTO st VALUES (1, 2, 1), (2, 3, 0);
SELECT string_agg(vertex || ':' || level, ' ') FROM emogi_bfs('st', 1);
CREATE TABLE both_pairs (target int, source int, dst int, src int, weight smallint, cost real);
INSERT INTO both_pairs VALUES (9, 8, 2, 1, 1, 1);
SELECT string_agg(vertex || ':' || level, ' ') FROM emogi_bfs('both_pairs', ARRAY[1, 8]);
CREATE TABLE half (src int, source int, target int);
INSERT INTO half VALUES (7, 1, 2);
SELECT string_agg(vertex || ':' || level, ' ') FROM emogi_bfs('half', 1);

-- Names that need quotes, and names that begin like a query.
CREATE SCHEMA "We. ird";
CREATE TABLE "We. ird"."a ""b"" (c), d" ("from node" int, "to""node" int, "ü" int);
INSERT INTO "We. ird"."a ""b"" (c), d" VALUES (1, 2, 3);
SELECT string_agg(vertex || ':' || level, ' ') FROM emogi_bfs('"We. ird"."a ""b"" (c), d"("from node", "to""node")', 1);
SELECT string_agg(vertex || ':' || level, ' ') FROM emogi_bfs('"We. ird" . "a ""b"" (c), d" ( "ü" , "from node" )', 3);
CREATE TABLE "select" (src int, dst int);
INSERT INTO "select" VALUES (1, 5);
CREATE TABLE "table(x)" (src int, dst int);
INSERT INTO "table(x)" VALUES (1, 6);
CREATE TABLE selection AS SELECT 1 AS src, 7 AS dst;
CREATE TABLE with_edges AS SELECT 1 AS src, 8 AS dst;
CREATE TABLE tables AS SELECT 1 AS src, 9 AS dst;
CREATE TABLE values1 AS SELECT 1 AS src, 10 AS dst;
CREATE TABLE "Edges" AS SELECT 1 AS src, 11 AS dst;
CREATE TABLE éèdges AS SELECT 1 AS src, 12 AS dst;
SELECT string_agg(vertex || ':' || level, ' ') FROM emogi_bfs('"select"', 1);
SELECT string_agg(vertex || ':' || level, ' ') FROM emogi_bfs('"table(x)"(src, dst)', 1);
SELECT string_agg(vertex || ':' || level, ' ') FROM emogi_bfs('selection', 1);
SELECT string_agg(vertex || ':' || level, ' ') FROM emogi_bfs('with_edges', 1);
SELECT string_agg(vertex || ':' || level, ' ') FROM emogi_bfs('tables(src, dst)', 1);
SELECT string_agg(vertex || ':' || level, ' ') FROM emogi_bfs('values1', 1);
SELECT string_agg(vertex || ':' || level, ' ') FROM emogi_bfs('"Edges"', 1);
SELECT string_agg(vertex || ':' || level, ' ') FROM emogi_bfs('éèdges', 1);

-- A name is resolved as in PostgreSQL: temporary tables first, then search_path.
CREATE SCHEMA other;
CREATE TABLE other.edges AS SELECT 1 AS src, 13 AS dst;
SET search_path = other, test_sources, public;
SELECT string_agg(vertex || ':' || level, ' ') FROM emogi_bfs('edges', 1);
SET search_path = test_sources, public;
CREATE TEMP TABLE edges AS SELECT 1 AS src, 14 AS dst;
SELECT string_agg(vertex || ':' || level, ' ') FROM emogi_bfs('edges', 1);
SELECT string_agg(vertex || ':' || level, ' ') FROM emogi_bfs('pg_temp.edges', 1);
SELECT string_agg(vertex || ':' || level, ' ') FROM emogi_bfs('test_sources.edges', 1);
SELECT string_agg(vertex || ':' || level, ' ') FROM emogi_bfs('TABLE edges', 1);
DROP TABLE pg_temp.edges;

-- Queries.
SELECT string_agg(vertex || ':' || level, ' ') FROM emogi_bfs('SELECT src, dst FROM edges', 1);
SELECT string_agg(vertex || ':' || level, ' ') FROM emogi_bfs('SELECT a, b FROM edges WHERE b < 2', 4);
SELECT string_agg(vertex || ':' || level, ' ') FROM emogi_bfs('select src, dst, weight from edges', 1);
SELECT string_agg(vertex || ':' || level, ' ') FROM emogi_bfs('TABLE st', 1);
SELECT string_agg(vertex || ':' || level, ' ') FROM emogi_bfs('VALUES (1, 2), (2, 3), (NULL, 3)', 1);
SELECT string_agg(vertex || ':' || level, ' ') FROM emogi_bfs('WITH x AS (SELECT 1 AS p, 2 AS q) SELECT p, q FROM x', 1);
SELECT string_agg(vertex || ':' || level, ' ')
  FROM emogi_bfs('WITH RECURSIVE r(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM r WHERE i < 5) SELECT i, i + 1 FROM r', 1);
SELECT string_agg(vertex || ':' || level, ' ') FROM emogi_bfs('(SELECT 1, 2) UNION ALL (SELECT 2, 3) ORDER BY 1 LIMIT 10', 1);
SELECT string_agg(vertex || ':' || level, ' ') FROM emogi_bfs(' ( ( SELECT 1, 2 ) )', 1);
SELECT string_agg(vertex || ':' || level, ' ') FROM emogi_bfs(E'\n\t SELECT 1, 2', 1);
SELECT string_agg(vertex || ':' || level, ' ') FROM emogi_bfs('SELECT 1, 2;', 1);
SELECT string_agg(vertex || ':' || level, ' ') FROM emogi_bfs(E'SELECT 1, 2 ; \n', 1);
SELECT string_agg(vertex || ':' || level, ' ') FROM emogi_bfs('SELECT 1, 2 -- the end', 1);
SELECT string_agg(vertex || ':' || level, ' ') FROM emogi_bfs('SELECT 1, 2; -- the end', 1);
SELECT string_agg(vertex || ':' || level, ' ') FROM emogi_bfs(E'-- a comment; with (signs) \' \n SELECT 1, 2', 1);
SELECT string_agg(vertex || ':' || level, ' ') FROM emogi_bfs('/* a /* nested */ comment */SELECT/**/1, 2', 1);
SELECT string_agg(vertex || ':' || level, ' ') FROM emogi_bfs(E'/* one */ -- two\n (/* three */ VALUES (1, 2))', 1);
SELECT string_agg(vertex || ':' || level, ' ') FROM emogi_bfs('SELECT src, length(''; -- )('') FROM edges', 1);
SELECT string_agg(vertex || ':' || level, ' ') FROM emogi_bfs('SELECT $$1$$::int, 2', 1);
SELECT string_agg(vertex || ':' || level, ' ') FROM emogi_bfs('TABLE "select"', 1);
SELECT string_agg(vertex || ':' || level, ' ') FROM emogi_bfs('SELECT(1), 2', 1);
SELECT string_agg(vertex || ':' || level, ' ') FROM emogi_bfs('VALUES(1, 2)', 1);
SELECT string_agg(vertex || ':' || level, ' ') FROM emogi_bfs('SELECT"src", dst FROM edges', 1);

-- Columns without a name or with duplicate names; keys of different types; a weight of any kind is
-- ignored here.
SELECT string_agg(vertex || ':' || level, ' ') FROM emogi_bfs('SELECT 1 AS x, 2 AS x', 1);
SELECT string_agg(vertex || ':' || level, ' ') FROM emogi_bfs('SELECT src, src FROM edges', ARRAY[1, 2]);
SELECT string_agg(vertex || ':' || level, ' ') FROM emogi_bfs('SELECT 1::smallint, 5000000000', 1);
SELECT string_agg(vertex || ':' || level, ' ') FROM emogi_bfs('SELECT NULL::int, 2 UNION ALL SELECT 2, 3', 2);
SELECT string_agg(vertex || ':' || level, ' ') FROM emogi_bfs('SELECT 1, 2, NULL::numeric', 1);
SELECT string_agg(vertex || ':' || level, ' ') FROM emogi_bfs('SELECT 1, 2, -1.5::real', 1);
SELECT count(*) FROM emogi_bfs('SELECT 1, 2 WHERE false', 1);

-- Joins, groups, windows, sets, views, functions.
CREATE VIEW hop2 AS SELECT x.src, y.dst FROM edges x JOIN edges y ON x.dst = y.src;
CREATE FUNCTION pairs(n int) RETURNS TABLE (p int, q int) LANGUAGE sql STABLE AS 'SELECT i, i * 2 FROM generate_series(1, n) i';
SELECT string_agg(vertex || ':' || level, ' ') FROM emogi_bfs('hop2', 1);
SELECT string_agg(vertex || ':' || level, ' ') FROM emogi_bfs('SELECT x.src, y.dst FROM edges x JOIN edges y ON x.dst = y.src', 1);
SELECT string_agg(vertex || ':' || level, ' ') FROM emogi_bfs('SELECT src, max(dst) FROM edges GROUP BY src', 1);
SELECT string_agg(vertex || ':' || level, ' ') FROM emogi_bfs('SELECT src, (row_number() OVER (ORDER BY dst))::int FROM edges', 1);
SELECT string_agg(vertex || ':' || level, ' ') FROM emogi_bfs('SELECT src, dst FROM edges EXCEPT SELECT 1, 4', 1);
SELECT string_agg(vertex || ':' || level, ' ') FROM emogi_bfs('SELECT DISTINCT src, 1 FROM edges', 2);
SELECT string_agg(vertex || ':' || level, ' ') FROM emogi_bfs('SELECT * FROM pairs(4)', 1);
SELECT string_agg(vertex || ':' || level, ' ') FROM emogi_bfs('SELECT p, q FROM generate_series(1, 3) n, LATERAL pairs(n)', 1);
SELECT string_agg(vertex || ':' || level, ' ') FROM emogi_bfs('SELECT src, dst FROM edges ORDER BY dst LIMIT 1 OFFSET 0', 1);
SELECT string_agg(vertex || ':' || level, ' ') FROM emogi_bfs('SELECT relnatts, relnatts + 1 FROM pg_class WHERE relname = ''st''', 3);

-- A call inside the query of another call.
SELECT string_agg(vertex || ':' || level, ' ')
  FROM emogi_bfs('SELECT vertex, vertex * 10 FROM emogi_bfs(''edges'', 1)', ARRAY[3, 4]);
SELECT string_agg(vertex || ':' || level, ' ')
  FROM emogi_bfs('SELECT e.src, e.dst FROM edges e JOIN emogi_bfs(''SELECT vertex, level FROM emogi_bfs(''''edges'''', 1)'', 2) r ON r.vertex = e.dst OR e.dst = 4', 1);

-- A long text.
SELECT count(*), max(level) FROM emogi_bfs((SELECT 'VALUES ' || string_agg(format('(%s, %s)', i, i + 1), ', ') FROM generate_series(1, 5000) i), 1);

-- The argument may come from a table, and differ between rows.
CREATE TABLE graphs (id int, graph text);
INSERT INTO graphs VALUES (1, 'edges'), (2, 'st'), (3, 'edges(b, a)'), (4, 'SELECT 1, 40 + 2'), (5, 'half(src, target)');
SELECT id, (SELECT string_agg(vertex || ':' || level, ' ') FROM emogi_bfs(graph, 1)) FROM graphs ORDER BY id;

-- No sources, or no targets: no rows and no message, whatever the graph is, because it was not
-- read.
CREATE TABLE nothing_asked AS SELECT 1::bigint AS source, 2::bigint AS target;
DO $$
DECLARE
  call text;
  empty text;
  graph text;
  said text;
  rows bigint;
BEGIN
  FOREACH said IN ARRAY ARRAY['off', 'on'] LOOP
    PERFORM set_config('emogi.notice_missing_source', said, true);
    FOREACH graph IN ARRAY ARRAY['nothing_asked', 'TABLE nothing_asked', 'SELECT source::text, target::text FROM nothing_asked', 'SELECT source, target FROM nothing_asked WHERE false'] LOOP
      FOREACH empty IN ARRAY ARRAY['''{}''', 'ARRAY[NULL]', 'NULL'] LOOP
        FOREACH call IN ARRAY ARRAY['emogi_bfs(%1$L, %2$s)', 'emogi_sssp(%1$L, %2$s)', 'emogi_sswp(%1$L, %2$s)', 'emogi_ssnsp(%1$L, %2$s)', 'emogi_bfs_tree(%1$L, %2$s)',
            'emogi_shortest_path_tree(%1$L, %2$s)', 'emogi_random_walk(%1$L, %2$s)', 'emogi_shortest_paths(%1$L, %2$s, %3$s)', 'emogi_shortest_paths(%1$L, %3$s, %2$s)',
            'emogi_shortest_paths(%1$L, %2$s, %2$s)', 'emogi_distance_matrix(%1$L, %2$s, %3$s)', 'emogi_distance_matrix(%1$L, %3$s, %2$s)'] LOOP
          EXECUTE format('SELECT count(*) FROM ' || call, graph, empty || CASE WHEN graph LIKE '%text%' THEN '::text[]' ELSE '::bigint[]' END,
            CASE WHEN graph LIKE '%text%' THEN 'ARRAY[''1'']' ELSE 'ARRAY[1]::bigint[]' END) INTO rows;
          IF rows <> 0 THEN
            RAISE WARNING '% rows: % % %', rows, call, graph, empty;
          END IF;
        END LOOP;
      END LOOP;
    END LOOP;
  END LOOP;
END $$;
