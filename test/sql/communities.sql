-- Communities with a hierarchy: emogi_louvain and emogi_leiden, and emogi_modularity compared with
-- plain SQL.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS emogi;
RESET client_min_messages;
CREATE SCHEMA test_communities;
SET search_path = test_communities, public;
SET jit = off;	-- compiling the plain queries takes longer than they do
\pset format unaligned
\pset tuples_only on
\pset null (null)

-- The interface.
SELECT proname, proargnames[1:pronargs] AS names, proargtypes::regtype[] AS types, pg_get_expr(proargdefaults, 'pg_proc'::regclass) AS defaults, pg_get_function_result(oid),
       provolatile, proparallel, proretset
  FROM pg_proc WHERE proname ~ '^emogi_(louvain|leiden|modularity)' ORDER BY proname, proargtypes;

CREATE TABLE edges (src bigint, dst bigint, weight float8);

-- Modularity by definition; a loop counts once inside and twice for the degree, as in networkx.
CREATE FUNCTION plain_modularity(communities text, resolution float8) RETURNS float8 LANGUAGE plpgsql AS $$
DECLARE
  q float8;
BEGIN
  EXECUTE format('WITH c AS (SELECT * FROM (%s) AS c(v, c)), e AS (SELECT x.c AS a, y.c AS b, weight AS w FROM edges JOIN c x ON x.v = src JOIN c y ON y.v = dst),
    k AS (SELECT c, sum(w) AS k FROM (SELECT a AS c, w FROM e UNION ALL SELECT b, w FROM e) AS k GROUP BY c), m AS (SELECT nullif(sum(w), 0) AS m FROM e)
    SELECT (SELECT coalesce(sum(w), 0) FROM e WHERE a = b) / max(m) - %s * sum((k / (2 * m)) ^ 2) FROM k, m', communities, resolution) INTO q;
  RETURN q;
END $$;

-- The difference of emogi_modularity from that; 1 if exactly one is NULL.
CREATE FUNCTION distance(communities text, resolution float8) RETURNS float8 LANGUAGE sql AS $$
  SELECT coalesce(abs(p - q), (p IS DISTINCT FROM q)::int) FROM plain_modularity(communities, resolution) AS p, emogi_modularity('edges', communities, resolution) AS q $$;

-- Properties of a hierarchy: nested, named by the smallest vertex, complete; with Leiden also
-- connected.
CREATE FUNCTION faults(call text, connected boolean) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  f bigint[];
BEGIN
  EXECUTE format('CREATE TEMP TABLE h AS SELECT * FROM %s', call);
  f[1] := (SELECT count(*) FROM (SELECT vertex FROM h GROUP BY vertex HAVING count(*) <> (SELECT max(level) + 1 FROM h) OR count(DISTINCT level) <> count(*)) AS x);
  f[2] := (SELECT count(*) FROM h JOIN h n ON n.vertex = h.vertex AND n.level = h.level + 1 WHERE n.community <> h.parent);
  f[3] := (SELECT count(*) FROM (SELECT level, community FROM h GROUP BY level, community HAVING min(vertex) <> community OR count(DISTINCT parent) > 1) AS x);
  f[4] := (SELECT count(*) FROM h WHERE (parent IS NULL) <> (level = (SELECT max(level) FROM h)));
  f[5] := (SELECT count(*) FROM ((SELECT vertex FROM h) EXCEPT (SELECT src FROM edges WHERE src + dst IS NOT NULL UNION SELECT dst FROM edges WHERE src + dst IS NOT NULL)) AS x);
  f[6] := 0;
  IF connected THEN
    f[6] := (WITH RECURSIVE l AS (SELECT h.level, src, dst FROM edges JOIN h ON h.vertex = src JOIN h o ON o.vertex = dst AND o.level = h.level WHERE o.community = h.community AND weight > 0),
      r(level, community, v) AS (SELECT DISTINCT level, community, community FROM h
        UNION SELECT r.level, community, CASE WHEN v = src THEN dst ELSE src END FROM r JOIN l ON l.level = r.level AND v IN (src, dst))
      SELECT (SELECT count(*) FROM h) - (SELECT count(*) FROM r));
  END IF;
  DROP TABLE h;
  RETURN array_to_string(f, ' ');
END $$;

-- Random graphs of up to 20 vertices and 67 edges, with loops, duplicates, NULL endpoints and
-- multiples of 1/4 as weights.
CREATE PROCEDURE compare(seeds int) LANGUAGE plpgsql AS $$
DECLARE
  calls text[] := ARRAY['emogi_louvain(''edges'')', 'emogi_louvain(''edges'', 0.5, 1, seed => %s)', 'emogi_louvain(''edges'', 2, tolerance => 0.001)', 'emogi_leiden(''edges'', seed => %s)',
    'emogi_leiden(''edges'', 2, 0)', 'emogi_leiden(''edges'', 0.5, max_levels => 1)', 'emogi_leiden(''edges'', max_cluster_size => 3)', 'emogi_leiden(''edges'', max_cluster_size => 2, max_levels => 2)'];
  answer text;
  wrong int[] := array_fill(0, ARRAY[array_length(calls, 1)]);
  apart float8 := 0;
  worse int := 0;
  q float8;
  p float8;
  n int;
BEGIN
  FOR seed IN 0 .. seeds LOOP
    PERFORM setseed(seed / 1000.0);
    n := 1 + seed % 20;
    TRUNCATE edges;
    INSERT INTO edges SELECT CASE WHEN random() > 0.03 THEN floor(random() * n) * 3 - 5 END, CASE WHEN random() > 0.03 THEN floor(random() * n) * 3 - 5 END, floor(random() * 20) / 4
      FROM generate_series(1, seed * 3 / 4);
    FOR i IN 1 .. array_length(calls, 1) LOOP
      answer := faults(format(calls[i], seed), calls[i] ~ 'leiden');
      IF answer <> '0 0 0 0 0 0' THEN
        RAISE INFO 'seed %, %: %', seed, calls[i], answer;
        wrong[i] := wrong[i] + 1;
      END IF;
    END LOOP;
    FOREACH q IN ARRAY ARRAY[1, 0.5, 3] LOOP
      apart := greatest(apart, distance('SELECT vertex, community FROM emogi_leiden(''edges'') WHERE level = 0', q), distance('SELECT vertex, vertex % 4 FROM emogi_cc(''edges'')', q));
    END LOOP;
    p := emogi_modularity('edges', 'SELECT vertex, community FROM emogi_leiden(''edges'') WHERE parent IS NULL');
    q := emogi_modularity('edges', 'SELECT vertex, component FROM emogi_cc(''edges'')');
    worse := worse + coalesce(p < q - 1e-9, p IS DISTINCT FROM q)::int;
  END LOOP;
  RAISE INFO 'wrong %, apart by less than 1e-12: %, worse than components %', wrong, apart < 1e-12, worse;
END $$;
SET client_min_messages = warning;
CALL compare(90);
RESET client_min_messages;

-- Zachary's karate club. 0.4198 is the maximum modularity.
TRUNCATE edges;
INSERT INTO edges SELECT split_part(e, '-', 1)::int, split_part(e, '-', 2)::int, 1 FROM regexp_split_to_table('1-2 1-3 1-4 1-5 1-6 1-7 1-8 1-9 1-11 1-12 1-13 1-14 1-18 1-20 1-22 1-32 '
  '2-3 2-4 2-8 2-14 2-18 2-20 2-22 2-31 3-4 3-8 3-9 3-10 3-14 3-28 3-29 3-33 4-8 4-13 4-14 5-7 5-11 6-7 6-11 6-17 7-17 9-31 9-33 9-34 10-34 14-34 15-33 15-34 16-33 16-34 19-33 19-34 '
  '20-34 21-33 21-34 23-33 23-34 24-26 24-28 24-30 24-33 24-34 25-26 25-28 25-32 26-32 27-30 27-34 28-34 29-32 29-34 30-33 30-34 31-33 31-34 32-33 32-34 33-34', ' ') AS e;
SELECT community, count(*), min(vertex) = community FROM emogi_leiden('edges') WHERE parent IS NULL GROUP BY community ORDER BY community;
SELECT round(emogi_modularity('edges', 'SELECT vertex, community FROM emogi_leiden(''edges'') WHERE parent IS NULL')::numeric, 6);
SELECT emogi_modularity('edges', 'SELECT vertex, community FROM emogi_louvain(''edges'') WHERE parent IS NULL') > 0.38;
SELECT round(emogi_modularity('edges', 'SELECT vertex, vertex FROM emogi_cc(''edges'')')::numeric, 6), round(emogi_modularity('edges', 'SELECT vertex, 0 FROM emogi_cc(''edges'')')::numeric, 6);
SELECT count(*) > 0 FROM (SELECT * FROM emogi_leiden('edges') EXCEPT SELECT * FROM emogi_leiden('edges')) AS x;

-- One row for each vertex and level, in this order. NULL is the default. Another seed gives another
-- order, and a resolution of 0 makes each connected component one community.
SELECT count(*) FROM (SELECT row_number() OVER () AS i, row_number() OVER (ORDER BY vertex, level) AS j FROM emogi_leiden('edges', max_cluster_size => 5)) AS n WHERE i <> j;
SELECT count(*) FROM (SELECT * FROM emogi_leiden('edges', NULL, NULL, NULL, NULL, NULL) EXCEPT SELECT * FROM emogi_leiden('edges', 1, 0.01, seed => 0)) AS x;
SELECT count(*) FROM (SELECT * FROM emogi_louvain('edges', NULL, NULL, NULL, NULL) EXCEPT SELECT * FROM emogi_louvain('edges', 1, tolerance => 1e-7, seed => 0)) AS x;
SELECT count(DISTINCT answer) > 1 FROM (SELECT (SELECT string_agg(community::text, ' ' ORDER BY vertex, level) FROM emogi_louvain('edges', seed => s)) FROM generate_series(-5, 14) AS s) AS a(answer);
SELECT count(DISTINCT community) FROM emogi_leiden('edges', 0) WHERE parent IS NULL;
SELECT count(DISTINCT community) FROM emogi_louvain('edges', 1e300, 1);
SELECT vertex, level, community FROM emogi_leiden('edges', 2, max_levels => 1) WHERE vertex = 17;
SELECT count(*) FROM emogi_leiden('edges') WHERE vertex IN (35, -1);
SELECT DISTINCT function FROM emogi_runs WHERE function ~ 'louvain|leiden|modularity' AND status = 'ok' AND database = current_database() ORDER BY function;

-- At most 10 members of a community at the finest level, and the flat answer at the coarsest.
SELECT level, max(count) <= 10 AS small FROM (SELECT level, community, count(*) FROM emogi_leiden('edges', max_cluster_size => 10) GROUP BY 1, 2) AS c WHERE level = 0 GROUP BY level;
SELECT count(*) FROM (SELECT vertex, community FROM emogi_leiden('edges', max_cluster_size => 10) WHERE parent IS NULL
  EXCEPT SELECT vertex, community FROM emogi_leiden('edges') WHERE parent IS NULL) AS x;
SELECT max(level) FROM emogi_leiden('edges', max_cluster_size => 10, max_levels => 1);

-- Two triangles and a bridge, with keys of other types, with weights that change the result, and in
-- the context of other queries.
TRUNCATE edges;
INSERT INTO edges VALUES (1, 2, 1), (2, 3, 1), (3, 1, 1), (3, 4, 1), (4, 5, 1), (5, 6, 1), (6, 4, 1), (NULL, 1, 1), (8, 8, 1), (8, 8, 1);
CREATE TABLE named AS SELECT 'v' || src AS src, 'v' || dst AS dst, weight FROM edges;
CREATE TABLE ids AS SELECT lpad(src::text, 32, '0')::uuid AS src, lpad(dst::text, 32, '0')::uuid AS dst FROM edges WHERE src + dst IS NOT NULL;
SELECT * FROM emogi_leiden('edges') WHERE parent IS NULL ORDER BY vertex;
SELECT * FROM emogi_louvain_text('named') WHERE parent IS NULL ORDER BY vertex;
SELECT * FROM emogi_leiden_uuid('ids', max_levels => 1) WHERE vertex::text ~ '[36]$' ORDER BY vertex;
SELECT * FROM emogi_leiden_text('ids', max_levels => 1) WHERE vertex ~ '[36]$' ORDER BY vertex;
SELECT vertex, community FROM emogi_leiden('edges'::regclass, columns => 'dst, src', max_levels => 1) WHERE vertex > 3 ORDER BY vertex;
SELECT vertex, community FROM emogi_leiden('SELECT src, dst, CASE WHEN src + dst = 7 AND src = 3 THEN 100 ELSE weight END AS weight FROM edges', max_levels => 1) WHERE vertex IN (3, 4) ORDER BY vertex;
SELECT e.src, l.community FROM edges e JOIN emogi_louvain('edges', max_levels => 1) l ON l.vertex = e.dst WHERE e.src > 4 ORDER BY 1, 2;
SELECT round(emogi_modularity('named', 'SELECT vertex, community FROM emogi_leiden_text(''named'') WHERE parent IS NULL')::numeric, 6),
  round(emogi_modularity('ids'::regclass, 'SELECT vertex, community FROM emogi_leiden_uuid(''ids'') WHERE parent IS NULL', columns => 'src, dst')::numeric, 6);
SELECT round(emogi_modularity('edges(src, dst)', 'SELECT * FROM (VALUES (1, ''a''), (2, ''a''), (3, ''a''), (4, ''b''), (5, ''b''), (6, ''b''), (8, ''c''), (77, ''d'')) AS c')::numeric, 6);

-- The planner: rows by vertices and levels, and a filter.
CREATE TABLE line AS SELECT i AS src, i + 1 AS dst FROM generate_series(1, 999) AS i;
ANALYZE line;
CREATE FUNCTION rows_of(query text) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
  plan json;
BEGIN
  EXECUTE 'EXPLAIN (FORMAT json) ' || query INTO plan;
  RETURN plan -> 0 -> 'Plan' ->> 'Plan Rows';
END $$;
SELECT rows_of('SELECT * FROM emogi_leiden(''line'')') / n, rows_of('SELECT * FROM emogi_louvain(''line'', max_levels => 1)') / n, rows_of('SELECT * FROM emogi_leiden_text(''line''::regclass, max_levels => 2)') / n
  FROM rows_of('SELECT * FROM emogi_cc(''line'')') AS n;
SET emogi.engine = cpu;
EXPLAIN (COSTS OFF) SELECT community FROM emogi_leiden('line', 0.5) WHERE vertex = 7 AND level = 0;
EXPLAIN (COSTS OFF) SELECT level, count(*) FROM emogi_louvain('line') GROUP BY level;
RESET emogi.engine;
SELECT vertex, level, community <= vertex, parent <= community FROM emogi_leiden('line', 0.5) WHERE vertex = 7 AND level = 0;
SELECT emogi_modularity('line', 'SELECT vertex, community FROM emogi_leiden(''line'') WHERE parent IS NULL') > 0.93;

-- Without edges, without weight, and with only loops.
SELECT * FROM emogi_leiden('SELECT 1 AS src, 2 AS dst WHERE false');
SELECT emogi_modularity('SELECT 1 AS src, 2 AS dst WHERE false', 'SELECT 1, 1');
SELECT * FROM emogi_leiden('SELECT 1 AS src, 2 AS dst, 0 AS weight') ORDER BY vertex;
SELECT emogi_modularity('SELECT 1 AS src, 2 AS dst, 0 AS weight', 'VALUES (1, 1), (2, 2)');
SELECT * FROM emogi_louvain('SELECT 1 AS src, 1 AS dst');
SELECT function, rows FROM emogi_runs ORDER BY id DESC LIMIT 1;

-- Errors.
SELECT * FROM emogi_leiden('edges', -1);
SELECT * FROM emogi_louvain('edges', '-0.001');
SELECT * FROM emogi_leiden('edges', 'NaN');
SELECT * FROM emogi_louvain('edges', 'Infinity');
SELECT * FROM emogi_leiden('edges', theta => -0.5);
SELECT * FROM emogi_leiden('edges', theta => 'NaN');
SELECT * FROM emogi_leiden('edges', max_cluster_size => -1);
SELECT * FROM emogi_louvain('edges', max_levels => -3);
SELECT * FROM emogi_louvain('edges', tolerance => 'NaN');
SELECT * FROM emogi_leiden('edges', max_cluster_size => 0);
SELECT * FROM emogi_leiden('edges', max_levels => 0);
SELECT * FROM emogi_louvain('edges', tolerance => -1);
SELECT * FROM emogi_louvain('SELECT 1 AS src, 2 AS dst, -1 AS weight');
SELECT * FROM emogi_leiden('SELECT 1 AS src, 2 AS dst, -0.5 AS weight');
SELECT * FROM emogi_leiden('SELECT 1 AS src, 2 AS dst, ''NaN''::float8 AS weight');
SELECT * FROM emogi_leiden('SELECT 1 AS src, 2 AS dst, ''Infinity''::float8 AS weight');
SELECT emogi_modularity('SELECT 1 AS src, 2 AS dst, -1 AS weight', 'VALUES (1, 1), (2, 1)');
SELECT * FROM emogi_louvain('SELECT 1 AS src, 2 AS dst, 1e308 AS weight UNION ALL SELECT 1, 2, 1e308');
SELECT * FROM emogi_louvain('named');
SELECT * FROM emogi_leiden(NULL);
SELECT emogi_modularity('edges', NULL);
SELECT emogi_modularity('edges', 'SELECT 1');
SELECT emogi_modularity('edges', 'SELECT ''a'', 1');
SELECT emogi_modularity('edges', 'SELECT 1, 2; SELECT 3, 4');
SELECT emogi_modularity('edges', 'DROP TABLE edges');
SELECT emogi_modularity('edges', 'VALUES (1, 1), (2, 2)');
SELECT emogi_modularity('edges', 'VALUES (1, 1), (1, 2)');
SELECT emogi_modularity('edges', 'SELECT vertex, 1 FROM emogi_cc(''edges'')', -1);

SET client_min_messages = warning;
DROP SCHEMA test_communities CASCADE;
