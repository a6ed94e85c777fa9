-- Lists without a row per vertex: emogi_similarity compared with plain SQL, and emogi_random_walk
-- compared with the edges.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS emogi;
RESET client_min_messages;
CREATE SCHEMA test_lists;
SET search_path = test_lists, public;
SET jit = off;	-- compiling the plain queries takes longer than they do
\pset format unaligned
\pset tuples_only on
\pset null (null)

-- The interface.
SELECT proname, proargnames[1:pronargs] AS names, proargtypes::regtype[] AS types, pg_get_expr(proargdefaults, 'pg_proc'::regclass) AS defaults, pg_get_function_result(oid),
       provolatile, proparallel, proretset
  FROM pg_proc WHERE proname ~ '^emogi_(similarity|random_walk)' ORDER BY proname, proargtypes;

CREATE TABLE edges (src bigint, dst bigint, weight float8);

-- ---- similarities ----

-- All of them, by definition.
CREATE FUNCTION plain_similarity(measure text, direction text) RETURNS TABLE (v bigint, w bigint, s float8) LANGUAGE sql AS $$
  WITH n AS (SELECT src AS v, dst AS n FROM edges WHERE direction <> 'in' AND src + dst IS NOT NULL UNION SELECT dst, src FROM edges WHERE direction <> 'out' AND src + dst IS NOT NULL),
    d AS (SELECT v, count(*)::float8 AS d FROM n GROUP BY v),
    c AS (SELECT a.v, b.v AS w, count(*)::float8 AS c FROM n a JOIN n b USING (n) GROUP BY a.v, b.v)
  SELECT c.v, c.w, CASE measure WHEN 'jaccard' THEN c / (x.d + y.d - c) WHEN 'overlap' THEN c / least(x.d, y.d) ELSE c / sqrt(x.d * y.d) END
    FROM c JOIN d x ON x.v = c.v JOIN d y ON y.v = c.w $$;

-- Rows in which the best of each vertex differ from those of plain SQL, or are in another order.
CREATE FUNCTION apart(measure text, k int, least_s float8, direction text) RETURNS bigint LANGUAGE sql AS $$
  WITH e AS (SELECT v, w, s, row_number() OVER (PARTITION BY v ORDER BY s DESC, w) AS r FROM plain_similarity(measure, direction) WHERE v <> w AND s >= least_s),
    p AS (SELECT row_number() OVER (ORDER BY v, r) AS i, v, w, s FROM e WHERE r <= k),
    g AS (SELECT ordinality AS i, vertex1, vertex2, similarity FROM emogi_similarity('edges', measure, k, least_s, NULL, direction) WITH ORDINALITY)
  SELECT count(*) FROM p FULL JOIN g USING (i) WHERE (v, w, s) IS DISTINCT FROM (vertex1, vertex2, similarity) $$;

-- The same for all pairs of vertices, given in some order.
CREATE FUNCTION pairs_apart(m text, least_s float8, d text) RETURNS bigint LANGUAGE sql AS $$
  WITH q AS (SELECT DISTINCT a.vertex AS v, b.vertex AS w FROM emogi_degree('edges', 'both') a, emogi_degree('edges', 'both') b),
    p AS (SELECT q.v, q.w, coalesce(s, 0) AS s FROM q LEFT JOIN plain_similarity(m, d) x ON x.v = q.v AND x.w = q.w),
    g AS (SELECT * FROM emogi_similarity('edges', m, cutoff => least_s, direction => d,
            pairs => 'SELECT a.vertex, b.vertex FROM emogi_degree(''edges'') a, emogi_degree(''edges'') b ORDER BY (a.vertex * 7 + b.vertex * 3) % 11'))
  SELECT count(*) FROM (SELECT * FROM p WHERE s >= least_s) p FULL JOIN g ON vertex1 = v AND vertex2 = w WHERE s IS DISTINCT FROM similarity $$;

-- Random graphs of up to 30 vertices and 100 edges, with loops, duplicates and NULL endpoints.
CREATE PROCEDURE compare(seeds int) LANGUAGE plpgsql AS $$
DECLARE
  n bigint;
  m text;
  d text;
  k int;
  s float8;
BEGIN
  FOR i IN 1..seeds LOOP
    PERFORM setseed(i / 1000.0);
    TRUNCATE edges;
    n := 1 + (random() * 29)::int;
    INSERT INTO edges SELECT nullif((random() * n)::int, 17), nullif((random() * random() * n)::int, 18), (random() * 8)::int / 4.0 FROM generate_series(1, (random() * 100)::int);
    COMMIT;	-- its graphs are shared
    FOR m, d, k, s IN SELECT x.m, y.d, 1 + (random() * 5)::int, (random() * 3)::int / 6.0 FROM unnest(ARRAY['jaccard', 'overlap', 'cosine']) AS x(m), unnest(ARRAY['out', 'in', 'both']) AS y(d) LOOP
      IF apart(m, k, s, d) > 0 OR pairs_apart(m, s, d) > 0 THEN
        RAISE 'graph %, %, %, %, %: % and % rows differ', i, m, d, k, s, apart(m, k, s, d), pairs_apart(m, s, d);
      END IF;
    END LOOP;
  END LOOP;
END $$;
CALL compare(15);
TRUNCATE edges;
SELECT count(*) FROM emogi_similarity('edges');
INSERT INTO edges VALUES (1, 10), (1, 11), (1, 12), (2, 11), (2, 12), (2, 13), (3, 12), (4, 20), (1, 11);
SELECT * FROM emogi_similarity('edges');
SELECT * FROM emogi_similarity('edges', 'overlap', 1);
SELECT count(*) FROM emogi_similarity('edges', 'overlap', 2147483647);
SELECT * FROM emogi_similarity('edges', 'cosine', cutoff => 0.6);
SELECT * FROM emogi_similarity('edges', direction => 'in', top_k => 1);
SELECT * FROM emogi_similarity('edges', pairs => 'VALUES (1, 2), (2, 1), (1, 1), (4, 1), (10, 11), (NULL, 1), (1, NULL), (99, 1), (1, 99), (1, 2)');
SELECT * FROM emogi_similarity('edges', pairs => 'SELECT 1 AS a, 2 AS b, ''more columns are passed over''', cutoff => 0.5);
SELECT * FROM emogi_similarity('edges', pairs => 'SELECT 1, 2', cutoff => 0.6);
SELECT count(*) FROM emogi_similarity('edges', pairs => 'SELECT 1, 2 WHERE false');
SELECT * FROM emogi_similarity('edges', NULL, NULL, NULL, NULL, NULL) LIMIT 2;
SELECT vertex2, max(similarity) FROM emogi_similarity('edges') WHERE vertex1 = 1 GROUP BY 1 ORDER BY 2 DESC LIMIT 1;

-- Other keys.
CREATE TABLE words (src text, dst text);
INSERT INTO words VALUES ('ann', 'tea'), ('ann', 'jam'), ('bob', 'tea'), ('bob', 'jam'), ('cid', 'jam'), ('cid', 'rum');
SELECT * FROM emogi_similarity_text('words', top_k => 1);
SELECT * FROM emogi_similarity_text('words'::regclass, pairs => $$SELECT 'ann', 'cid' UNION ALL SELECT 'ann', 'zoe'$$, columns => 'src, dst');
CREATE TABLE ids AS SELECT md5(src)::uuid AS src, md5(dst)::uuid AS dst FROM words;
SELECT count(*), round(sum(similarity)::numeric, 6) FROM emogi_similarity_uuid('ids');
SELECT * FROM emogi_similarity('words');
SELECT * FROM emogi_similarity('edges', pairs => $$SELECT 'a', 'b'$$);

-- Errors.
SELECT * FROM emogi_similarity(NULL::text);
SELECT * FROM emogi_similarity('edges', 'hamming');
SELECT * FROM emogi_similarity('edges', top_k => 0);
SELECT * FROM emogi_similarity('edges', cutoff => 1.5);
SELECT * FROM emogi_similarity('edges', cutoff => 'NaN');
SELECT * FROM emogi_similarity('edges', pairs => 'SELECT 1');
SELECT * FROM emogi_similarity('edges', pairs => 'SELECT 1, 2; SELECT 3, 4');
SELECT * FROM emogi_similarity('edges', pairs => 'DELETE FROM edges');
SELECT * FROM emogi_similarity('edges', pairs => 'SELECT 1, 2 / (src - src) FROM edges');
SELECT count(*) FROM edges;

-- ---- random walks ----

-- Errors in walks: a step that is not an edge with a weight, an end at a vertex with outgoing
-- edges, a source without a walk, a gap.
CREATE FUNCTION faults(call text, direction text, weighted boolean) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  f bigint[];
BEGIN
  EXECUTE format('CREATE TEMP TABLE r AS SELECT * FROM %s', call);
  CREATE TEMP TABLE l AS SELECT src AS v, dst AS w FROM edges WHERE direction <> 'in' AND src + dst IS NOT NULL AND (NOT weighted OR weight > 0)
    UNION SELECT dst, src FROM edges WHERE direction <> 'out' AND src + dst IS NOT NULL AND (NOT weighted OR weight > 0);
  f[1] := (SELECT count(*) FROM r JOIN r n ON n.walk = r.walk AND n.step = r.step + 1 WHERE NOT EXISTS (SELECT FROM l WHERE v = r.vertex AND w = n.vertex));
  f[2] := (SELECT count(*) FROM (SELECT DISTINCT ON (walk) * FROM r ORDER BY walk, step DESC) x WHERE step < 7 AND EXISTS (SELECT FROM l WHERE v = x.vertex));
  f[3] := (SELECT count(*) FROM (SELECT walk FROM r GROUP BY walk HAVING min(step) <> 0 OR max(step) + 1 <> count(*)) x);
  DROP TABLE r, l;
  RETURN array_to_string(f, ' ');
END $$;

CREATE PROCEDURE walk_all(seeds int) LANGUAGE plpgsql AS $$
DECLARE
  n bigint;
  call text;
  d text;
  w boolean;
BEGIN
  FOR i IN 1..seeds LOOP
    PERFORM setseed(i / 1000.0);
    TRUNCATE edges;
    n := 1 + (random() * 29)::int;
    INSERT INTO edges SELECT nullif((random() * n)::int, 17), nullif((random() * random() * n)::int, 18), (random() * 3)::int / 4.0 FROM generate_series(1, (random() * 100)::int);
    COMMIT;
    FOR d, w IN SELECT y.d, x.w FROM (VALUES (true), (false)) AS x(w), unnest(ARRAY['out', 'in', 'both']) AS y(d) LOOP
      call := format('emogi_random_walk(''edges'', (SELECT array_agg(vertex) FROM emogi_degree(''edges'')), 7, 3, %s, %s, %s, %L, %L)', 0.1 + 3 * random(), 0.1 + 3 * random(), i, d, w);
      IF faults(call, d, w) <> '0 0 0' THEN
        RAISE '% on graph %: %', call, i, faults(call, d, w);
      END IF;
    END LOOP;
  END LOOP;
END $$;
CALL walk_all(12);

-- Walks are equal in each call, with or without other sources; another seed gives others.
TRUNCATE edges;
INSERT INTO edges SELECT i, (i * 7 + j * j) % 100, 1 + j FROM generate_series(0, 99) i, generate_series(1, 5) j;
CREATE FUNCTION walks(call text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  r text;
BEGIN
  EXECUTE format('SELECT string_agg(walk, E''\n'' ORDER BY walk) FROM (SELECT string_agg(vertex::text, '' '' ORDER BY step) AS walk FROM %s GROUP BY walk) x', call) INTO r;
  RETURN r;
END $$;
SELECT walks($$emogi_random_walk('edges', 42, 10, 3, seed => 5)$$);
SELECT walks($$emogi_random_walk('edges', ARRAY[42, 42]::bigint[], 10, 3, seed => 5)$$) = walks($$emogi_random_walk('edges', 42, 10, 3, seed => 5)$$);
SELECT position(walks($$emogi_random_walk('edges', 42, 10, 1, seed => 5)$$) IN walks($$emogi_random_walk('edges', ARRAY[7, 42, 1]::bigint[], 10, 2, seed => 5)$$)) > 0;
SELECT walks($$emogi_random_walk('edges', 42, 10, 3, seed => 5)$$) = walks($$emogi_random_walk('edges', 42, 10, 3, seed => 6)$$);
SELECT walks($$emogi_random_walk('edges', 42, 10, 3, 0.1, 10, 5)$$), walks($$emogi_random_walk('edges', 42, 10, 3, seed => 5, weights => true)$$);
SELECT walk, array_agg(vertex ORDER BY step) FROM emogi_random_walk('edges', ARRAY[9, 3, 1000, 3, NULL]::bigint[], 0, 2) GROUP BY walk ORDER BY walk;
SELECT count(*), min(step), max(step), count(DISTINCT walk) FROM emogi_random_walk('edges', 42);
SELECT count(*) FROM emogi_random_walk('edges', 1000);
SELECT count(*) FROM emogi_random_walk('edges', NULL::bigint);
SELECT count(*) FROM emogi_random_walk('edges', '{}'::bigint[]);
SELECT count(*) FROM emogi_random_walk('edges'::regclass, 42, 5, 4, columns => 'src, dst');

-- A heavy edge is nearly always taken; an edge of weight 0 never.
TRUNCATE edges;
INSERT INTO edges VALUES (1, 2, 1), (1, 3, 999), (1, 4, 0), (2, 1, 1), (3, 1, 1);
SELECT vertex, count(*) BETWEEN 9900 AND 10000 FROM emogi_random_walk('edges', 1, 1, 10000, weights => true) WHERE step = 1 GROUP BY vertex HAVING count(*) > 100;
SELECT count(*) FROM emogi_random_walk('edges', 1, 1, 10000, weights => true) WHERE vertex = 4;
SELECT vertex, count(*) BETWEEN 3100 AND 3600 FROM emogi_random_walk('edges', 1, 1, 10000) WHERE step = 1 GROUP BY vertex ORDER BY 1;
INSERT INTO edges VALUES (2, 5, 1e308), (2, 6, 1e308), (2, 7, 1e308);
SELECT vertex, count(*) BETWEEN 3100 AND 3600 FROM emogi_random_walk('edges', 2, 1, 10000, weights => true) WHERE step = 1 GROUP BY vertex ORDER BY 1;

-- Walks return with a small p, and rarely with a large one.
TRUNCATE edges;
INSERT INTO edges VALUES (1, 2), (2, 1), (2, 3), (2, 4), (1, 3);
SELECT vertex, count(*) > 9000 FROM emogi_random_walk('edges', 1, 2, 20000, p => 0.001) WHERE step = 2 GROUP BY vertex HAVING count(*) > 100;
SELECT vertex, count(*) > 3000 FROM emogi_random_walk('edges', 1, 2, 20000, p => 1000, q => 1) WHERE step = 2 GROUP BY vertex HAVING count(*) > 100 ORDER BY 1;
SELECT vertex, count(*) > 3000 FROM emogi_random_walk('edges', 1, 2, 20000, p => 1000, q => 1000) WHERE step = 2 GROUP BY vertex HAVING count(*) > 100 ORDER BY 1;

-- Other keys.
SELECT walk, array_agg(vertex ORDER BY step) FROM emogi_random_walk('words', 'ann', 5, 3) GROUP BY walk ORDER BY walk;
SELECT count(*) FROM emogi_random_walk('words', ARRAY['ann', 'cid', 'zoe'], 5, 3, direction => 'both');
SELECT count(*) FROM emogi_random_walk('ids', md5('ann')::uuid, 5, 3);
SELECT * FROM emogi_random_walk('words', 1);

-- Errors.
SELECT * FROM emogi_random_walk('edges', 1, -1);
SELECT * FROM emogi_random_walk('edges', 1, walks => 0);
SELECT * FROM emogi_random_walk('edges', 1, p => 0);
SELECT * FROM emogi_random_walk('edges', 1, q => 'Infinity');
SELECT * FROM emogi_random_walk('edges', 1, q => 'NaN');
SELECT * FROM emogi_random_walk('edges', 1, direction => 'up');
SELECT * FROM emogi_random_walk('edges', 1, 2000000000, 2000000000);
\set VERBOSITY terse
SELECT * FROM emogi_random_walk('edges', 1, 2147483646, 1000000);
\set VERBOSITY default
INSERT INTO edges VALUES (1, 2, -1);
SELECT * FROM emogi_random_walk('edges', 1, weights => true);
SELECT count(*) FROM emogi_random_walk('edges', 1, 3);

-- Estimates.
SET emogi.engine = cpu;
EXPLAIN SELECT * FROM emogi_random_walk('edges', 1, 9, 5);
EXPLAIN SELECT * FROM emogi_random_walk('edges', '{1,2,3}'::bigint[], 9, 5);
RESET emogi.engine;
SELECT function, nodes, rows, engine FROM (SELECT function, vertices AS nodes, rows, engine, started FROM emogi_runs WHERE pid = pg_backend_pid() AND function ~ 'random_walk' ORDER BY started DESC LIMIT 1) x;

SET client_min_messages = warning;
DROP SCHEMA test_lists CASCADE;
