-- Answers of emogi_distance_matrix: the distances of emogi_sssp, from each source separately to
-- each target.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS emogi;
RESET client_min_messages;
CREATE SCHEMA test_distance_matrix;
SET search_path = test_distance_matrix, public;

-- The interface.
SELECT * FROM emogi_distance_matrix('SELECT 1, 2', ARRAY[1], ARRAY[2]) \gdesc
SELECT * FROM emogi_distance_matrix('SELECT ''a'', ''b''', ARRAY['a'], ARRAY['b']) \gdesc
SELECT proargnames[1:pronargs] AS names, proargtypes::regtype[] AS types, pg_get_expr(proargdefaults, 'pg_proc'::regclass) AS defaults,
       provolatile, proparallel, prosecdef, proleakproof, proretset
  FROM pg_proc WHERE proname = 'emogi_distance_matrix' ORDER BY proargtypes;

\pset format unaligned
\pset tuples_only on
\pset null (null)
CREATE TABLE roads (src int, dst int, weight float8);
INSERT INTO roads VALUES (3, 4, 0.25), (1, 4, 10), (1, 2, 1), (2, 3, 1.5), (5, 1, 2), (6, 7, 3), (4, 1, 0.5);

-- Rows ascend, each pair once; unreachable pairs, NULLs, and non-vertices have no rows.
SELECT * FROM emogi_distance_matrix('roads', ARRAY[5, 1, 6, 1, NULL, 99], ARRAY[4, 7, 1, 4, NULL, 98]);
SELECT * FROM emogi_distance_matrix('roads', '{1,5}'::bigint[], '{4,1}'::bigint[], 'in');
SELECT * FROM emogi_distance_matrix('roads', ARRAY[1], ARRAY[1, 5, 7], direction => 'both');
SELECT * FROM emogi_distance_matrix('roads(src, dst)', ARRAY[1, 5], ARRAY[3, 4]);
SELECT * FROM emogi_distance_matrix('roads'::regclass, ARRAY[1, 5], ARRAY[3, 4], columns => 'dst, src');
SELECT count(*) FROM emogi_distance_matrix('roads', NULL::bigint[], ARRAY[1]);
SELECT count(*) FROM emogi_distance_matrix('roads', ARRAY[1], NULL);
SELECT count(*) FROM emogi_distance_matrix('roads', '{}'::bigint[], ARRAY[1]);
SELECT count(*) FROM emogi_distance_matrix('roads', ARRAY[1], '{}'::bigint[]);
SELECT count(*) FROM emogi_distance_matrix('roads', ARRAY[98], ARRAY[99]);
SELECT count(*) FROM emogi_distance_matrix('SELECT 1, 2 WHERE false', ARRAY[1], ARRAY[2]);
SELECT * FROM emogi_distance_matrix('VALUES (1, 2, ''Infinity''::float8), (1, 3, 1)', ARRAY[1], ARRAY[2, 3]);

-- Vertices of other types.
CREATE TABLE places AS SELECT 'p' || src AS a, 'p' || dst AS b, weight AS w FROM roads;
SELECT * FROM emogi_distance_matrix('places(a, b, w)', ARRAY['p5', 'p1'], ARRAY['p4', 'p7', 'nowhere']);
CREATE TABLE ids AS SELECT lpad(src::text, 32, '0')::uuid AS a, lpad(dst::text, 32, '0')::uuid AS b FROM roads;
SELECT * FROM emogi_distance_matrix('ids(a, b)', ARRAY[lpad('5', 32, '0')::uuid], ARRAY[lpad('3', 32, '0')::uuid]);

-- Errors.
\set VERBOSITY terse
SELECT * FROM emogi_distance_matrix('roads', ARRAY[1], ARRAY[2], 'across');
SELECT * FROM emogi_distance_matrix(NULL::text, ARRAY[1], ARRAY[2]);
SELECT * FROM emogi_distance_matrix('VALUES (1, 2, -1)', ARRAY[1], ARRAY[2]);
\set VERBOSITY default
SELECT * FROM emogi_distance_matrix('places(a, b, w)', ARRAY[1], ARRAY[2]);
SET emogi.notice_missing_source = on;
SELECT count(*) FROM emogi_distance_matrix('roads', ARRAY[1, 77], ARRAY[2]);
SELECT count(*) FROM emogi_distance_matrix('roads', ARRAY[1], ARRAY[2, 78]);
RESET emogi.notice_missing_source;

-- Rows are streamed, conditions avoid computing some, and aggregates and joins see the same.
CREATE FUNCTION plan(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
  line text;
BEGIN
  FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
    IF line !~ 'Engine|Graph:' THEN RETURN NEXT line; END IF;
  END LOOP;
END $$;
SELECT plan($$SELECT * FROM emogi_distance_matrix('roads', ARRAY[1, 5], ARRAY[3, 4]) WHERE source = 5 AND distance < 4 ORDER BY source, target$$);
SELECT * FROM emogi_distance_matrix('roads', ARRAY[1, 5], ARRAY[3, 4]) WHERE source = 5 AND distance < 4.6 ORDER BY source, target;
SELECT * FROM emogi_distance_matrix('roads', ARRAY[1, 5], ARRAY[3, 4]) WHERE target = 4;
SELECT * FROM emogi_distance_matrix('roads', ARRAY[1, 5], ARRAY[3, 4]) WHERE source = ANY (ARRAY[1, 2]) AND target >= 4;
SELECT source, min(distance), max(distance), count(*) FROM emogi_distance_matrix('roads', ARRAY[1, 5, 6], ARRAY[3, 4, 7]) GROUP BY source ORDER BY source;
SELECT target, distance FROM emogi_distance_matrix('roads', ARRAY[1], ARRAY[2, 3, 4]) ORDER BY distance DESC LIMIT 2;
SELECT r.src, d.target, d.distance FROM (VALUES (1), (5)) r (src), LATERAL emogi_distance_matrix('roads', ARRAY[r.src], ARRAY[r.src, 4]) d ORDER BY 1, 2;
BEGIN;
DECLARE c SCROLL CURSOR FOR SELECT * FROM emogi_distance_matrix('roads', ARRAY[1, 5], ARRAY[3, 4]);
FETCH 3 FROM c;
FETCH BACKWARD 2 FROM c;
COMMIT;

-- Random road networks: with one-way edges, edges of weight 0, and duplicates. With weights,
-- without, and with integers; all directions; with more sources than one batch holds.
CREATE TABLE net (src int, dst int, length float8, metres int);
SELECT setseed(0.25) IS NULL;
INSERT INTO net SELECT v, v + CASE WHEN random() < 0.5 THEN 1 ELSE 40 END, CASE WHEN random() < 0.1 THEN 0 ELSE random() END, (random() * 90)::int FROM generate_series(0, 1199) v;
INSERT INTO net SELECT dst, src, length * 2, metres FROM net WHERE random() < 0.7;
INSERT INTO net SELECT src, dst, length / 2, metres FROM net WHERE random() < 0.1;
CREATE TABLE ends AS SELECT is_source, (random() * 1230)::int::bigint AS v FROM generate_series(1, 75), (VALUES (true), (false)) b (is_source);
CREATE FUNCTION differ(graph text, direction text) RETURNS TABLE (many bool, differences bigint) LANGUAGE sql AS $$
  WITH m AS MATERIALIZED (SELECT * FROM emogi_distance_matrix(graph, (SELECT array_agg(v ORDER BY -v) FROM ends WHERE is_source), (SELECT array_agg(v) FROM ends WHERE NOT is_source), direction)),
    e AS MATERIALIZED (SELECT s.v AS source, d.vertex AS target, d.distance
      FROM (SELECT DISTINCT v FROM ends WHERE is_source) s, LATERAL emogi_sssp(graph, s.v, NULL, direction) d WHERE d.vertex IN (SELECT v FROM ends WHERE NOT is_source))
  SELECT count(*) > 100, count(*) FILTER (WHERE m.distance IS DISTINCT FROM e.distance) FROM m FULL JOIN e USING (source, target) $$;
SELECT graph, direction, many, differences
  FROM unnest(ARRAY['net(src, dst, length)', 'net(src, dst, metres)', 'net(src, dst)']) AS graph, unnest(ARRAY['out', 'in', 'both']) AS direction,
  LATERAL differ(graph, direction);

-- Pairs are searched bidirectionally as long as that is cheaper, other rows by a batch: bitwise
-- equal wherever the batch begins.
CREATE FUNCTION after(edges text, graph text, sources bigint[], targets bigint[], direction text, OUT answer text, OUT engine text) LANGUAGE plpgsql AS $$
BEGIN
  PERFORM set_config('emogi.fault', CASE WHEN edges <> '' THEN 'pair_edges=' || edges ELSE '' END, false);
  SELECT string_agg(r::text, ' ') INTO answer FROM emogi_distance_matrix(graph, sources, targets, direction) r;
  PERFORM set_config('emogi.fault', '', false);
  SELECT r.engine INTO engine FROM emogi_runs r ORDER BY id DESC LIMIT 1;
END $$;
SET emogi.engine = cpu;
SET emogi.enable_contraction = off;
SELECT graph, count(*), count(DISTINCT b.engine), count(*) FILTER (WHERE a.answer <> b.answer) AS wrong, bool_or(length(a.answer) > 100) AS long
  FROM unnest(ARRAY['net(src, dst, length)', 'net(src, dst, metres)', 'net(src, dst)']) AS graph, unnest(ARRAY['out', 'in', 'both']) AS direction, generate_series(0, 20000, 331) edges,
    LATERAL (SELECT (array_agg(v) FILTER (WHERE is_source))[:11] AS s, (array_agg(v) FILTER (WHERE NOT is_source))[:11] AS t FROM ends) e,
    LATERAL after('0', graph, s || ARRAY[NULL, 7, 99999], t || ARRAY[NULL, 7, 99999], direction) a, LATERAL after(edges::text, graph, s || ARRAY[NULL, 7, 99999], t || ARRAY[NULL, 7, 99999], direction) b
  GROUP BY graph ORDER BY graph;
SELECT graph, count(*), count(DISTINCT b.engine) > 1 AS engines, count(*) FILTER (WHERE a.answer IS DISTINCT FROM b.answer) AS wrong, count(a.answer) > 12 AS found
  FROM unnest(ARRAY['net(src, dst, length)', 'net(src, dst, metres)', 'net(src, dst)']) AS graph, unnest(ARRAY['out', 'in', 'both']) AS direction, unnest(ARRAY['100', '1000', '5000', '1000000']) edges, generate_series(0, 1) turned,
    LATERAL (SELECT (array_agg(v) FILTER (WHERE is_source))[:11] AS s, (array_agg(v) FILTER (WHERE NOT is_source))[:1] AS t FROM ends) e,
    LATERAL after('0', graph, CASE turned WHEN 0 THEN s ELSE t END, CASE turned WHEN 0 THEN t ELSE s END, direction) a,
    LATERAL after(edges, graph, CASE turned WHEN 0 THEN s ELSE t END, CASE turned WHEN 0 THEN t ELSE s END, direction) b GROUP BY 1 ORDER BY 1;
SELECT engine FROM after('', 'net(src, dst, length)', ARRAY[1], ARRAY[2], 'both');
SELECT a.answer = b.answer AS same, a.engine, b.engine FROM after('0', 'net', ARRAY[1, 900], ARRAY[2, 1199], 'both') a, after('1000000', 'net', ARRAY[1, 900], ARRAY[2, 1199], 'both') b;
RESET emogi.engine;
RESET emogi.enable_contraction;

SET client_min_messages = warning;
DROP SCHEMA test_distance_matrix CASCADE;
