-- Answers of emogi_reachable: for each pair of a query, whether a path leads from source to target.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS emogi;
RESET client_min_messages;
CREATE SCHEMA test_reachable;
SET search_path = test_reachable, public;

-- The interface.
SELECT * FROM emogi_reachable('SELECT 1, 2', 'SELECT 1, 2') \gdesc
SELECT * FROM emogi_reachable_text('SELECT ''a'', ''b''', 'VALUES (''a'', ''b'')') \gdesc
SELECT proname, proargnames[1:pronargs] AS names, proargtypes::regtype[] AS types, pg_get_expr(proargdefaults, 'pg_proc'::regclass) AS defaults,
       provolatile, proparallel, prosecdef, proleakproof, proretset
  FROM pg_proc WHERE proname ~ '^emogi_reachable' ORDER BY proname COLLATE "C", proargtypes;

\pset format unaligned
\pset tuples_only on
\pset null (null)
CREATE TABLE links (src int, dst int);
INSERT INTO links VALUES (1, 2), (2, 3), (3, 1), (3, 4), (6, 5), (7, 7), (NULL, 8), (4, NULL);

-- One row per distinct pair, in ascending order; pairs with NULL or a non-vertex have none. A
-- vertex reaches itself.
SELECT * FROM emogi_reachable('links', 'VALUES (2, 1), (4, 3), (1, 4), (2, 1), (5, 6), (6, 5), (7, 7), (4, 4), (NULL, 1), (1, NULL), (1, 8), (99, 1)') ORDER BY source, target;
SELECT * FROM emogi_reachable('links', 'VALUES (2, 1), (4, 3), (1, 4), (5, 6), (6, 5)', 'in') ORDER BY source, target;
SELECT * FROM emogi_reachable('links', pairs => 'VALUES (2, 1), (4, 3), (1, 4), (5, 6), (1, 6)', direction => 'both') ORDER BY source, target;
SELECT * FROM emogi_reachable('links'::regclass, 'VALUES (4, 1), (1, 4)', columns => 'dst, src') ORDER BY source, target;
SELECT count(*) FROM emogi_reachable('links', 'SELECT 1, 2 WHERE false');
SELECT count(*) FROM emogi_reachable('links', 'VALUES (NULL::int, 1), (98, 99)');
SELECT count(*) FROM emogi_reachable('SELECT 1, 2 WHERE false', 'SELECT 1, 2');

-- Vertices of other types.
CREATE TABLE places AS SELECT 'p' || src AS a, 'p' || dst AS b FROM links;
SELECT * FROM emogi_reachable_text('places(a, b)', $$VALUES ('p1', 'p4'), ('p4', 'p1'), ('p1', 'nowhere')$$) ORDER BY source, target;
CREATE TABLE ids AS SELECT lpad(src::text, 32, '0')::uuid AS a, lpad(dst::text, 32, '0')::uuid AS b FROM links;
SELECT * FROM emogi_reachable_uuid('ids(a, b)', 'SELECT a, lpad(''4'', 32, ''0'')::uuid FROM ids') ORDER BY source, target;

-- Errors.
SELECT * FROM emogi_reachable('links', NULL);
SELECT * FROM emogi_reachable('links', 'SELECT 1');
SELECT * FROM emogi_reachable('links', 'SELECT ''a'', ''b''');
SELECT * FROM emogi_reachable('links', 'DROP TABLE links');
SELECT * FROM emogi_reachable('links', 'SELECT 1, 2', 'across');
SELECT * FROM emogi_reachable(NULL::text, 'SELECT 1, 2');
SELECT * FROM emogi_reachable('places(a, b)', 'SELECT 1, 2');
SET emogi.notice_missing_source = on;
SELECT * FROM emogi_reachable('links', 'VALUES (1, 2), (1, 77)');
RESET emogi.notice_missing_source;

-- All pairs of random graphs, compared with a recursive query; with more sources than one search
-- holds, and with few. A chain has more levels than a multi-source search can represent.
CREATE TABLE net (src int, dst int);
CREATE FUNCTION wrong(sources int, direction text) RETURNS TABLE (pairs bigint, reached bigint, wrong bigint) LANGUAGE sql AS $$
  WITH RECURSIVE arc AS (SELECT src AS a, dst AS b FROM net WHERE direction <> 'in' UNION SELECT dst, src FROM net WHERE direction <> 'out'),
    vertex AS (SELECT src AS v FROM net UNION SELECT dst FROM net),
    ways (s, v) AS (SELECT v, v FROM vertex WHERE v < sources UNION SELECT s, b FROM ways JOIN arc ON a = v),
    answer AS MATERIALIZED (SELECT * FROM emogi_reachable('net', format('SELECT a.v, b.v FROM (SELECT src AS v FROM net UNION ALL SELECT dst FROM net) a, (SELECT src AS v FROM net UNION SELECT dst FROM net) b WHERE a.v < %s', sources), direction))
  SELECT (SELECT count(*) FROM answer), (SELECT count(*) FROM answer WHERE reachable),
    (SELECT count(*) FROM vertex x, vertex y WHERE x.v < sources) - (SELECT count(*) FROM answer)
      + (SELECT count(*) FROM (SELECT s, v FROM ways EXCEPT ALL SELECT source, target FROM answer WHERE reachable) x)
      + (SELECT count(*) FROM (SELECT source, target FROM answer WHERE reachable EXCEPT ALL SELECT s, v FROM ways) x) $$;
SET jit = off;
CREATE FUNCTION compare(kind text, sources int, direction text, OUT many boolean, OUT mixed boolean, OUT wrong bigint) LANGUAGE plpgsql AS $$
DECLARE
  w record;
BEGIN
  PERFORM setseed(0.5);
  TRUNCATE net;
  IF kind = 'chain' THEN
    INSERT INTO net SELECT v, v + 1 FROM generate_series(0, 400) v;
  ELSE
    INSERT INTO net SELECT (random() * 150)::int, (random() * 150)::int FROM generate_series(1, 160) v;
  END IF;
  SELECT * INTO w FROM wrong(sources, direction);
  many := w.pairs > 200;
  mixed := w.reached BETWEEN 1 AND w.pairs - 1;
  wrong := w.wrong;
END $$;
SELECT kind, sources, direction, many, mixed, wrong
  FROM unnest(ARRAY['random', 'chain']) kind, unnest(ARRAY[4, 30, 200]) sources, unnest(ARRAY['out', 'in', 'both']) direction, LATERAL compare(kind, sources, direction)
  WHERE kind = 'random' OR sources = 30 ORDER BY kind, sources, direction;

-- Many sources and few targets: searched from the targets, if the required lists exist.
CREATE TABLE arrows AS SELECT (random() * 400)::int AS src, (random() * 400)::int AS dst FROM generate_series(1, 500);
CREATE VIEW wanted AS SELECT s, t FROM generate_series(0, 400) s, generate_series(0, 40, 20) t;
CREATE TABLE straight AS SELECT direction, r.* FROM unnest(ARRAY['out', 'in', 'both']) direction, LATERAL emogi_reachable('arrows', 'SELECT s, t FROM wanted', direction) r;
SELECT count(*) >= 0 FROM emogi_shortest_path('arrows', 0, 20);
CREATE TABLE turned AS SELECT direction, r.* FROM unnest(ARRAY['out', 'in', 'both']) direction, LATERAL emogi_reachable('arrows', 'SELECT s, t FROM wanted', direction) r;
SELECT (SELECT count(*) > 1000 FROM straight) AS many, (SELECT count(*) FROM (TABLE straight EXCEPT ALL TABLE turned) d) AS lost, (SELECT count(*) FROM (TABLE turned EXCEPT ALL TABLE straight) d) AS more,
  (SELECT count(*) FROM straight JOIN emogi_bfs('arrows', 20) b ON vertex = source WHERE direction = 'in' AND target = 20 AND NOT reachable) AS wrong;

-- Pairs are searched bidirectionally as long as that is cheaper, then all others by a batch: the
-- same answers wherever the batch begins, and with edges of weight 0 or infinity. Searches of the
-- grid are too long for the backend.
CREATE TABLE grid (src int, dst int, weight float8);
SELECT setseed(0.75) IS NULL;
INSERT INTO grid SELECT v, w, CASE WHEN random() < 0.1 THEN 'Infinity' ELSE trunc(random() * 3) END FROM generate_series(0, 14399) v, LATERAL (VALUES (v + 1), (v + 120)) x (w) WHERE random() < 0.8;
INSERT INTO grid SELECT dst, src, weight FROM grid WHERE random() < 0.6;
CREATE TABLE asked AS SELECT (random() * 14399)::int AS s, (random() * 14399)::int AS t FROM generate_series(1, 12);
INSERT INTO asked VALUES (7, 7), (NULL, 7), (7, NULL), (7, -1), (8, 9), (8, 9), (8, 14000), (8, 20000);
INSERT INTO grid VALUES (20000, 20001, 1);
CREATE FUNCTION after(edges text, graph text, pairs text, direction text, OUT answer text, OUT engine text) LANGUAGE plpgsql AS $$
BEGIN
  PERFORM set_config('emogi.fault', CASE WHEN edges <> '' THEN 'pair_edges=' || edges ELSE '' END, false);
  SELECT string_agg(r::text, ' ') INTO answer FROM emogi_reachable(graph, pairs, direction) r;
  PERFORM set_config('emogi.fault', '', false);
  SELECT r.engine INTO engine FROM emogi_runs r ORDER BY id DESC LIMIT 1;
END $$;
SET emogi.engine = cpu;
SELECT edges, direction, a.answer = b.answer AS same, a.answer ~ 't\)' AND a.answer ~ 'f\)' AS mixed, a.engine, b.engine
  FROM unnest(ARRAY['1', '100', '5000', '60000', '100000000']) edges, unnest(ARRAY['out', 'in', 'both']) direction,
    LATERAL after('0', 'grid', 'SELECT s, t FROM asked', direction) a, LATERAL after(edges, 'grid', 'SELECT s, t FROM asked', direction) b ORDER BY edges::int, direction;
SELECT count(*), count(DISTINCT b.engine), count(*) FILTER (WHERE a.answer <> b.answer) AS wrong
  FROM generate_series(0, 600, 19) edges, unnest(ARRAY['out', 'in', 'both']) direction, unnest(ARRAY[3, 40]) sources,
    LATERAL after('0', 'arrows', format('SELECT s, t FROM wanted WHERE s < %s', sources), direction) a, LATERAL after(edges::text, 'arrows', format('SELECT s, t FROM wanted WHERE s < %s', sources), direction) b;
-- Pairs with one source, or one target, share its search.
SELECT pairs, count(*), count(DISTINCT b.engine) > 1 AS engines, bool_or(b.engine = 'backend') AS alone, count(*) FILTER (WHERE a.answer <> b.answer) AS wrong, bool_or(a.answer ~ 't\)' AND a.answer ~ 'f\)') AS mixed
  FROM unnest(ARRAY['50', '2000', '200000', '100000000']) edges, unnest(ARRAY['out', 'in', 'both']) direction,
    unnest(ARRAY['SELECT 7260, v FROM generate_series(0, 14399, 1100) v', 'SELECT v, 7260 FROM generate_series(0, 14399, 1100) v', 'SELECT s, t FROM generate_series(3, 14000, 7000) s, generate_series(0, 14399, 2100) t']) pairs,
    LATERAL after('0', 'grid', pairs, direction) a, LATERAL after(edges, 'grid', pairs, direction) b GROUP BY 1 ORDER BY 1;
-- The default method for few pairs, also with own changes.
SELECT engine FROM after('', 'grid', 'VALUES (1, 2)', 'out');
SELECT engine FROM after('', 'grid', 'SELECT s, (s + 1000) % 14400 FROM generate_series(0, 14399) s', 'both');
BEGIN;
DELETE FROM grid WHERE dst = 14000;
INSERT INTO grid VALUES (8, -5);
SELECT answer FROM after('', 'grid', 'VALUES (8, 14000), (8, -5)', 'out');
ROLLBACK;
SET emogi.enable_local_search = off;
SELECT engine FROM after('', 'grid', 'VALUES (1, 2)', 'out');
RESET emogi.enable_local_search;
-- Weights are ignored, also those of a cached graph.
CREATE TABLE toll (src int, dst int, weight float8);
INSERT INTO toll VALUES (1, 2, 'Infinity'), (2, 3, 1);
SELECT count(*) FROM emogi_shortest_path('toll', 1, 3);
SELECT * FROM emogi_reachable('toll', 'VALUES (1, 3), (3, 1)');
RESET emogi.engine;

-- Single searches, each of which frees its memory: a chain too deep for a multi-source search.
CREATE TABLE deep AS SELECT i AS src, i + 1 AS dst FROM generate_series(1, 100000) i;
SET client_min_messages = error;
DROP ROLE IF EXISTS regress_emogi_reachable;
RESET client_min_messages;
CREATE ROLE regress_emogi_reachable;
GRANT USAGE ON SCHEMA test_reachable TO regress_emogi_reachable;
GRANT SELECT ON deep TO regress_emogi_reachable;
SET emogi.session_memory = '32MB';
SET ROLE regress_emogi_reachable;
SELECT count(*) FROM emogi_reachable('deep', 'SELECT i, i + 1 FROM generate_series(1, 200) i') WHERE reachable;
SELECT count(DISTINCT source) FROM emogi_shortest_paths('deep', 'SELECT i, i + 20000 FROM generate_series(1, 60) i');
RESET ROLE;
-- The steps of paths and cycles are in the backend's memory, and count as well.
CREATE TABLE all_to_all AS SELECT a AS source, b AS target, 0::float8 AS cost FROM generate_series(1, 12) a, generate_series(1, 12) b WHERE a <> b;
GRANT SELECT ON all_to_all TO regress_emogi_reachable;
SET emogi.session_memory = '12MB';
SET ROLE regress_emogi_reachable;
SELECT count(*) FROM emogi_cycles('all_to_all', 1, 7, 1000000);
SELECT count(*) FROM emogi_k_shortest_paths('all_to_all', 1, 2, 1000000);
RESET ROLE;
SELECT count(*) FROM emogi_cycles('all_to_all', 1, 7, 1000000);
RESET emogi.session_memory;

SET client_min_messages = warning;
DROP SCHEMA test_reachable CASCADE;
DROP ROLE regress_emogi_reachable;
