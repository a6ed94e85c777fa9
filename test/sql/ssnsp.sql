-- Answers of emogi_ssnsp: the number of shortest paths by hops, verified manually and compared with
-- an oracle.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS emogi;
RESET client_min_messages;
CREATE SCHEMA test_ssnsp;
SET search_path = test_ssnsp, public;

-- The interface.
SELECT * FROM emogi_ssnsp('SELECT 1, 2', 1) \gdesc
SELECT proargnames[1:pronargs] AS names, proargtypes::regtype[] AS types, pg_get_expr(proargdefaults, 'pg_proc'::regclass) AS defaults,
       provolatile, proparallel, prosecdef, proleakproof, proretset
  FROM pg_proc WHERE proname = 'emogi_ssnsp' ORDER BY proargtypes;

-- Rows are in ascending vertex order, so one line shows an answer: vertex:level:paths.
\pset format unaligned
\pset tuples_only on
\pset null (null)
-- Two paths from 1 to 4, of which the longer one does not count for 3; 6 and 7 are separate.
-- Weights are ignored.
CREATE TABLE ways (src int, dst int, weight float8);
INSERT INTO ways VALUES (1, 2, 9), (1, 3, NULL), (2, 3, 1), (2, 4, -1), (3, 4, 'NaN'), (4, 5, 0), (6, 7, 1), (5, 1, 1);
SELECT * FROM emogi_ssnsp('ways', 1);
SELECT string_agg(concat_ws(':', vertex, level, paths), ' ') FROM emogi_ssnsp('ways', 4);
SELECT string_agg(concat_ws(':', vertex, level, paths), ' ') FROM emogi_ssnsp('ways', 7);
SELECT count(*) FROM emogi_ssnsp('ways', 99);

-- Direction.
SELECT string_agg(concat_ws(':', vertex, level, paths), ' ') FROM emogi_ssnsp('ways', 1, direction => 'out');
SELECT string_agg(concat_ws(':', vertex, level, paths), ' ') FROM emogi_ssnsp('ways', 4, direction => 'in');
SELECT string_agg(concat_ws(':', vertex, level, paths), ' ') FROM emogi_ssnsp('ways', 4, direction => 'both');
SELECT string_agg(concat_ws(':', vertex, level, paths), ' ') FROM emogi_ssnsp('ways', 1, direction => NULL);

-- Several sources: the paths from all nearest ones.
SELECT string_agg(concat_ws(':', vertex, level, paths), ' ') FROM emogi_ssnsp('ways', ARRAY[2, 3]);
SELECT string_agg(concat_ws(':', vertex, level, paths), ' ') FROM emogi_ssnsp('ways', ARRAY[1, 2]);
SELECT string_agg(concat_ws(':', vertex, level, paths), ' ') FROM emogi_ssnsp('ways', ARRAY[NULL, 6, 5, 6, NULL, 99, 5]);
SELECT string_agg(concat_ws(':', vertex, level, paths), ' ') FROM emogi_ssnsp('ways', ARRAY[1, 2, 3, 4, 5, 6, 7]);
-- No source, no rows.
SELECT count(*) FROM emogi_ssnsp('ways', NULL::bigint);
SELECT count(*) FROM emogi_ssnsp('ways', NULL::bigint[]);
SELECT count(*) FROM emogi_ssnsp('ways', '{}'::bigint[]);
SELECT count(*) FROM emogi_ssnsp('ways', ARRAY[NULL, NULL]::bigint[]);

-- No edges; loops, which are in no shortest path; parallel edges, which count separately; rows with
-- a NULL endpoint, which are not edges.
CREATE TABLE none (src int, dst int);
SELECT count(*) FROM emogi_ssnsp('none', 1);
CREATE TABLE loops (src int, dst int);
INSERT INTO loops VALUES (7, 7), (7, 7), (7, 8), (8, 8), (8, 9);
SELECT string_agg(concat_ws(':', vertex, level, paths), ' ') FROM emogi_ssnsp('loops', 7);
SELECT string_agg(concat_ws(':', vertex, level, paths), ' ') FROM emogi_ssnsp('loops', 8, direction => 'both');
CREATE TABLE multi (src int, dst int);
INSERT INTO multi VALUES (1, 2), (1, 2), (1, 2), (2, 1), (2, 3), (2, 3), (1, 4), (4, 3), (3, 2), (NULL, 3), (1, NULL), (9, NULL);
SELECT string_agg(concat_ws(':', vertex, level, paths), ' ') FROM emogi_ssnsp('multi', 1);
SELECT string_agg(concat_ws(':', vertex, level, paths), ' ') FROM emogi_ssnsp('multi', 1, direction => 'both');
SELECT string_agg(concat_ws(':', vertex, level, paths), ' ') FROM emogi_ssnsp('multi', 3, direction => 'in');
SELECT count(*) FROM emogi_ssnsp('multi', 9);

-- Powers of two, three and ten by chains of multiple edges: exact to 2^53, then the nearest float8,
-- without wraparound.
CREATE TABLE doubles AS SELECT i AS src, i + 1 AS dst FROM generate_series(0, 69) i, generate_series(1, 2);
SELECT vertex, level, paths::bigint FROM emogi_ssnsp('doubles', 0) WHERE vertex IN (0, 1, 31, 32, 33, 52, 53, 54, 62);
SELECT level, paths, paths = 1180591620717411303424 FROM emogi_ssnsp('doubles', 0) WHERE vertex = 70;
SELECT count(*) FILTER (WHERE paths <> 2.0::float8 ^ vertex), count(*) FROM emogi_ssnsp('doubles', 0);
SELECT count(*) FILTER (WHERE paths <> 2.0::float8 ^ (70 - vertex)), count(*) FROM emogi_ssnsp('doubles', 70, direction => 'in');
CREATE TABLE triples AS SELECT i AS src, i + 1 AS dst FROM generate_series(0, 32) i, generate_series(1, 3);
SELECT vertex, paths::bigint FROM emogi_ssnsp('triples', 0) WHERE vertex IN (20, 21, 32, 33);
CREATE TABLE tens AS SELECT i AS src, i + 1 AS dst FROM generate_series(0, 14) i, generate_series(1, 10);
SELECT paths::bigint FROM emogi_ssnsp('tens', 0) WHERE vertex = 15;
-- The largest odd number that is exact: 2^52 + 2^51 + ... + 1 = 2^53 - 1, by exits of equal length
-- from a chain of doublings.
CREATE TABLE triangle AS
  SELECT i AS src, i + 1 AS dst FROM generate_series(0, 51) i, generate_series(1, 2)
  UNION ALL SELECT 100 * (i + 1) + j, 100 * (i + 1) + j + 1 FROM generate_series(0, 52) i, generate_series(i + 1, 54) j
  UNION ALL SELECT i, 100 * (i + 1) + i + 1 FROM generate_series(0, 52) i
  UNION ALL SELECT 100 * (i + 1) + 55, 9999 FROM generate_series(0, 52) i;
SELECT level, paths::bigint FROM emogi_ssnsp('triangle', 0) WHERE vertex = 9999;
-- After more than a thousand doublings the number is beyond float8.
CREATE TABLE endless AS SELECT i AS src, i + 1 AS dst FROM generate_series(0, 1099) i, generate_series(1, 2);
SELECT vertex, level, paths FROM emogi_ssnsp('endless', 0) WHERE vertex IN (1022, 1023, 1024, 1100);

-- Binomial coefficients on a grid; a star; a chain; all combinations of lists of 31, 32 and 33
-- edges.
CREATE TABLE grid AS
  SELECT x * 100 + y AS src, (x + 1) * 100 + y AS dst FROM generate_series(0, 19) x, generate_series(0, 20) y
  UNION ALL SELECT x * 100 + y, x * 100 + y + 1 FROM generate_series(0, 20) x, generate_series(0, 19) y;
SELECT vertex, level, paths FROM emogi_ssnsp('grid', 0) WHERE vertex IN (0, 1, 100, 101, 505, 1010, 1020, 2020);
SELECT vertex, level, paths FROM emogi_ssnsp('grid', 1010, direction => 'both') WHERE vertex IN (0, 20, 2000, 2020, 1010, 1009);
SELECT sum(paths) FROM emogi_ssnsp('grid', 0) WHERE level = 20;
CREATE TABLE star AS SELECT 0 AS src, i AS dst FROM generate_series(1, 1000) i UNION ALL SELECT i, -1 FROM generate_series(1, 1000) i;
SELECT level, count(*), min(paths), max(paths) FROM emogi_ssnsp('star', 0) GROUP BY level ORDER BY level;
SELECT level, count(*), min(paths), max(paths) FROM emogi_ssnsp('star', 7, direction => 'both') GROUP BY level ORDER BY level;
CREATE TABLE chain AS SELECT i AS src, i + 1 AS dst FROM generate_series(1, 2000) i;
SELECT count(*), max(level), max(paths) FROM emogi_ssnsp('chain', 1);
CREATE TABLE layers AS
  SELECT l * 100 + i AS src, (l + 1) * 100 + j AS dst
    FROM unnest(ARRAY[1, 31, 32, 33, 64, 65], ARRAY[31, 32, 33, 64, 65, 1]) WITH ORDINALITY s(m, n, l), generate_series(1, m) i, generate_series(1, n) j;
SELECT level, count(*), min(paths), max(paths) FROM emogi_ssnsp('layers', 101) GROUP BY level ORDER BY level;

-- Keys of every size and sign; a LATERAL join; a prepared statement; a view.
CREATE TABLE wide (src bigint, dst bigint);
INSERT INTO wide VALUES (-9223372036854775808, 9223372036854775807), (-9223372036854775808, 4294967296), (4294967296, -1), (9223372036854775807, -1);
SELECT * FROM emogi_ssnsp('wide', -9223372036854775808);
SELECT s, vertex, level, paths FROM generate_series(1, 2) s, LATERAL emogi_ssnsp('ways', s) WHERE paths > 1 ORDER BY s, vertex;
PREPARE number(bigint, bigint) AS SELECT level, paths FROM emogi_ssnsp('ways', $1) WHERE vertex = $2;
EXECUTE number(1, 5);
EXECUTE number(NULL, 5);
CREATE VIEW from_one AS SELECT * FROM emogi_ssnsp('ways', 1) WHERE level <= 2;
SELECT string_agg(concat_ws(':', vertex, level, paths), ' ') FROM from_one;
INSERT INTO ways VALUES (2, 4, 1);
SELECT string_agg(concat_ws(':', vertex, level, paths), ' ') FROM from_one;

-- The oracle: one join per level that adds up the paths.
\set ECHO none
\i test/data/shapes.sql
\set ECHO all
CREATE TEMP TABLE reached (vertex bigint PRIMARY KEY, level int, paths numeric);
CREATE FUNCTION oracle(sources bigint[]) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  depth int := 0;
BEGIN
  TRUNCATE reached;
  INSERT INTO reached SELECT DISTINCT s, 0, 1 FROM unnest(sources) s WHERE s IN (SELECT a FROM arc UNION ALL SELECT b FROM arc);
  WHILE FOUND LOOP
    depth := depth + 1;
    INSERT INTO reached SELECT b, depth, sum(paths) FROM arc JOIN reached ON a = vertex AND level = depth - 1 GROUP BY b
      ON CONFLICT DO NOTHING;
  END LOOP;
END $$;

-- Count the rows in which emogi_ssnsp and the oracle differ, in both directions of the difference,
-- over directions and sources.
CREATE FUNCTION compare(OUT calls int, OUT rows bigint, OUT most numeric, OUT wrong bigint) LANGUAGE plpgsql AS $$
DECLARE
  ends bigint[] := some_vertices(12);
  sources bigint[];
  way text;
  n bigint;
  r bigint;
  p numeric;
BEGIN
  calls := 0; rows := 0; wrong := 0; most := 0;
  FOREACH way IN ARRAY ARRAY['out', 'in', 'both'] LOOP
    PERFORM take_arcs(way);
    FOR sources IN SELECT ends[1:1] UNION ALL SELECT ends[3:5] || NULL || 4711 || ends[3:4] LOOP
      PERFORM oracle(sources);
      WITH answer AS MATERIALIZED (SELECT * FROM emogi_ssnsp('e', sources, direction => way)),
           truth AS MATERIALIZED (SELECT vertex, level, paths::float8 FROM reached),
           extra AS (SELECT * FROM answer EXCEPT ALL SELECT * FROM truth),
           missing AS (SELECT * FROM truth EXCEPT ALL SELECT * FROM answer)
      SELECT (SELECT count(*) FROM extra) + (SELECT count(*) FROM missing), (SELECT count(*) FROM truth), (SELECT max(paths) FROM truth) INTO n, r, p;
      calls := calls + 1; rows := rows + r; wrong := wrong + n; most := greatest(most, p);
    END LOOP;
  END LOOP;
END $$;
CREATE TABLE results (shape text, key text, calls int, rows bigint, most numeric, wrong bigint);
CREATE PROCEDURE compare_all() LANGUAGE plpgsql AS $$
DECLARE
  c record;
BEGIN
  FOR c IN SELECT * FROM combinations(2) WHERE (w).kind IN ('bytes', 'double', 'impassable') LOOP
    PERFORM make_graph(c.s, c.k, c.w);
    COMMIT;
    INSERT INTO results SELECT (c.s).shape, (c.k).kind, r.* FROM compare() r;
    DROP TABLE e;
  END LOOP;
END $$;
\pset tuples_only off
\pset format aligned
CALL compare_all();
SELECT key, sum(calls) AS calls, sum(rows) AS rows, sum(wrong) AS wrong FROM results GROUP BY key ORDER BY key COLLATE "C";
SELECT shape, sum(calls) AS calls, sum(rows) AS rows, max(most) AS most, sum(wrong) AS wrong FROM results GROUP BY shape ORDER BY shape COLLATE "C";
SELECT * FROM results WHERE wrong > 0 ORDER BY shape, key;

-- A larger one: the levels are those of emogi_bfs, and each number is the sum over the arcs from the level before.
CREATE TABLE e AS SELECT pick(i, 41, 5000) AS src, pick(i, 42, 5000) AS dst FROM generate_series(1, 30000) i;
CREATE TEMP TABLE answer AS SELECT * FROM emogi_ssnsp('e', 1, direction => 'both');
SELECT count(*) AS rows, max(level) AS levels, count(*) FILTER (WHERE level = 0 AND paths = 1) AS sources FROM answer;
SELECT count(*) AS wrong FROM (SELECT * FROM emogi_bfs('e', 1, direction => 'both') EXCEPT SELECT vertex, level FROM answer) x;
WITH sums AS (SELECT b, sum(u.paths) AS paths FROM (SELECT src, dst FROM e UNION ALL SELECT dst, src FROM e) x(a, b)
                JOIN answer u ON a = u.vertex JOIN answer v ON b = v.vertex AND u.level = v.level - 1 GROUP BY b)
SELECT count(*) AS wrong FROM answer v LEFT JOIN sums ON b = vertex WHERE level > 0 AND v.paths IS DISTINCT FROM sums.paths;
-- With a maximum depth: the same rows up to that level, as an argument or as a condition, by every
-- execution method, also for a changed graph.
CREATE TABLE deep AS SELECT i % 400 AS src, (i * 7 + i / 400) % 400 AS dst FROM generate_series(1, 1600) i;
ANALYZE deep;
CREATE VIEW whole AS SELECT s, w, a.* FROM generate_series(0, 399, 57) s, unnest('{out,in,both}'::text[]) w, LATERAL emogi_ssnsp('deep', s, direction => w) a;
CREATE FUNCTION wrong(OUT nrows bigint, OUT nwrong bigint) LANGUAGE plpgsql AS $$
DECLARE
  call record;
  n bigint;
  different bigint;
BEGIN
  nrows := 0;
  nwrong := 0;
  FOR call IN SELECT s, w, depth, format(form, s, depth, w) AS form, compares
                FROM generate_series(0, 399, 57) s, unnest('{out,in,both}'::text[]) w, generate_series(0, 4) depth,
                     (VALUES ('emogi_ssnsp(''deep'', %1$s, %2$s, %3$L)', '<='), ('emogi_ssnsp(''deep'', %1$s, direction => %3$L) WHERE level <= %2$s', '<='),
                             ('emogi_ssnsp(''deep'', %1$s, 9, %3$L) WHERE level < %2$s + 1', '<='), ('emogi_ssnsp(''deep'', %1$s, direction => %3$L) WHERE level = %2$s', '=')) f (form, compares) LOOP
    EXECUTE format('WITH answer AS (SELECT * FROM %s), truth AS (SELECT vertex, level, paths FROM truth WHERE s = %s AND w = %L AND level %s %s)
      SELECT (SELECT count(*) FROM answer), (SELECT count(*) FROM (TABLE answer EXCEPT ALL TABLE truth) a) + (SELECT count(*) FROM (TABLE truth EXCEPT ALL TABLE answer) b)',
      call.form, call.s, call.w, call.compares, call.depth) INTO n, different;
    nrows := nrows + n;
    nwrong := nwrong + different;
  END LOOP;
END $$;
SET emogi.enable_local_search = off;
CREATE TEMP TABLE truth AS TABLE whole;
SELECT * FROM wrong();
RESET emogi.enable_local_search;
SET emogi.engine = auto;
SELECT * FROM wrong();
SELECT DISTINCT engine FROM (SELECT engine FROM emogi_runs WHERE pid = pg_backend_pid() AND function = 'emogi_ssnsp' ORDER BY id DESC LIMIT 100) r;
INSERT INTO deep SELECT i, i * 3 % 450 FROM generate_series(0, 399, 3) i;
DELETE FROM deep WHERE src % 10 = 4;
SET emogi.enable_cache = off;
TRUNCATE truth;
INSERT INTO truth TABLE whole;
RESET emogi.enable_cache;
SELECT * FROM wrong();
SET emogi.enable_scan = off;
SELECT * FROM wrong();
RESET emogi.enable_scan;
SELECT count(*) FROM emogi_ssnsp('deep', 1, -1);
SET emogi.engine = cpu;
EXPLAIN (COSTS OFF) SELECT vertex, paths FROM emogi_ssnsp('deep', 1) WHERE level = 2 ORDER BY paths DESC LIMIT 3;
RESET emogi.engine;

