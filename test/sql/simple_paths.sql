-- Paths without a repeated vertex.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS emogi;
RESET client_min_messages;
SET emogi.engine = auto;
SET extra_float_digits = 0;
CREATE SCHEMA simple_paths;
SET search_path = simple_paths, public;

CREATE TABLE links (id int, src int, dst int, weight float8);
INSERT INTO links VALUES (1, 1, 2, 1), (2, 2, 3, 1), (3, 1, 3, 5), (4, 3, 4, 1), (5, 2, 4, 4), (6, 4, 1, 1), (7, 2, 4, 7), (8, 3, 3, 1), (9, 4, 5, 'Infinity'), (10, 3, 2, 1);
SELECT * FROM emogi_simple_paths('links', 1, 4);
CREATE FUNCTION paths(graph text, source bigint, targets bigint[], VARIADIC bounds text[] DEFAULT '{}', OUT path_id int, OUT vertices text, OUT distance float8) RETURNS SETOF record LANGUAGE plpgsql AS $$
BEGIN
  RETURN QUERY EXECUTE format('SELECT path_id, string_agg(vertex::text, '' '' ORDER BY seq), max(distance) FROM emogi_simple_paths(%L, %s, %L::bigint[] %s) GROUP BY 1 ORDER BY 1',
    graph, source, targets, concat(VARIADIC bounds));
END $$;
SELECT * FROM paths('links', 1, '{4}', ', max_depth => 2');
SELECT * FROM paths('links', 1, '{4}', ', max_cost => 5');
SELECT * FROM paths('links', 1, '{3,4,4,99}');
SELECT * FROM paths('links', 1, '{1}');
SELECT * FROM paths('links', 1, '{1,2}');
SELECT * FROM paths('links', 4, '{2}', ', direction => ''in''');
SELECT * FROM paths('links', 4, '{2}', ', direction => ''both''');
SELECT * FROM paths('links', 1, '{5}');
SELECT * FROM paths('links', 1, '{4}', ', max_paths => 2');
SELECT * FROM paths('links', 1, '{4}', ', max_paths => 5');
SELECT * FROM paths('links', 1, '{4}', ', edge_filter => ''id <> 5''');
SELECT * FROM emogi_simple_paths('links', '1', '{3}') LIMIT 3;
SELECT * FROM emogi_simple_paths('links(src, dst)'::text, 1, 3, 1);
SELECT * FROM emogi_simple_paths('links'::regclass, 1, 3, 1, columns => 'src, dst, weight, id');
SELECT * FROM emogi_simple_paths('SELECT ''a'' AS src, ''b'' AS dst UNION ALL SELECT ''b'', ''c''', 'a', ARRAY['c']);
SELECT * FROM emogi_simple_paths('links', 77, 4);
SELECT * FROM emogi_simple_paths('links', 1, NULL::bigint);
SELECT * FROM emogi_simple_paths('links', '{1,2}', '4');
SELECT * FROM emogi_simple_paths('links', 1, 4, 0);
SELECT * FROM emogi_simple_paths('links', 1, 4, max_cost => -1);
SELECT * FROM emogi_simple_paths('links', 1, 4, max_cost => 'NaN');
SELECT * FROM emogi_simple_paths('links', 1, 4, max_paths => 0);
SELECT * FROM emogi_simple_paths('links', 1, 4, direction => 'up');
SELECT * FROM emogi_all_simple_paths('links', 1, 4);
SELECT * FROM emogi_allpaths('links', 1, 4);
EXPLAIN (COSTS OFF) SELECT * FROM emogi_simple_paths('links', 1, 4, 3);

-- All paths, by a recursive query, with and without an older graph and an index.
CREATE TABLE net (src int, dst int, weight int NOT NULL);
CREATE FUNCTION by_definition(s int, t int[], most int, max_cost float8, direction text, OUT path int[], OUT distance float8) RETURNS SETOF record LANGUAGE sql AS $$
  WITH RECURSIVE e AS MATERIALIZED (SELECT a, b, min(w) AS w FROM (SELECT src AS a, dst AS b, weight AS w FROM net WHERE direction <> 'in'
      UNION ALL SELECT dst, src, weight FROM net WHERE direction <> 'out') x GROUP BY 1, 2),
  p(v, path, distance) AS (SELECT s, ARRAY[s], 0::float8 UNION ALL
    SELECT b, path || b, distance + w FROM p JOIN e ON a = v WHERE b <> ALL (path) AND cardinality(path) <= coalesce(most, 100))
  SELECT path, distance FROM p WHERE v = ANY (t) AND distance <= max_cost AND EXISTS (SELECT FROM net WHERE v IN (src, dst)) ORDER BY cardinality(path), path $$;
CREATE FUNCTION differ(graph text, s int, t int[], most int, max_cost float8, direction text) RETURNS boolean LANGUAGE sql VOLATILE AS $$
  SELECT (SELECT array_agg(path::text || distance ORDER BY cardinality(path), path) FROM by_definition(s, t, most, max_cost, direction)) IS DISTINCT FROM
    (SELECT array_agg(p ORDER BY path_id) FROM (SELECT path_id, array_agg(vertex::int ORDER BY seq)::text || max(distance) AS p
      FROM emogi_simple_paths(graph, s, t::bigint[], most, max_cost, 1000000, direction) GROUP BY 1) x) $$;
CREATE FUNCTION check_all(nrounds int, filtered boolean) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  wrong int := 0;
  n int := 0;
BEGIN
  PERFORM setseed(0.25);
  FOR i IN 1 .. nrounds LOOP
    DELETE FROM net;
    INSERT INTO net SELECT (random() * 8)::int, (random() * 8)::int, (random() * 9)::int FROM generate_series(1, 1 + i % 20);
    FOR round IN 1 .. 4 LOOP
      wrong := wrong + differ(CASE WHEN filtered THEN format('net WHERE weight < %s', 1000 + n) ELSE 'net' END, (random() * 8)::int, (ARRAY[(random() * 8)::int, (random() * 8)::int])[1:1 + round % 2], nullif(round, 2), CASE WHEN round > 2 THEN 9 ELSE 'Infinity'::float8 END,
        (ARRAY['out', 'in', 'both'])[1 + i % 3])::int;
      INSERT INTO net VALUES ((random() * 8)::int, 10 + round, 2), (10 + round, (random() * 8)::int, 0);
      n := n + 1;
    END LOOP;
  END LOOP;
  RETURN format('%s of %s differ', wrong, n);
END $$;
SELECT check_all(60, false);
CREATE INDEX ON net (src);
CREATE INDEX ON net (dst);
ALTER TABLE net ADD CHECK (weight >= 0);
SET emogi.index_search_min_size = 0;
SELECT check_all(30, true);
SELECT count(*) > 100 AS through_indexes FROM emogi_runs WHERE pid = pg_backend_pid() AND function = 'emogi_simple_paths' AND cache = 'index';
RESET emogi.index_search_min_size;

-- Text that looks like an array, and arrays of sources.
CREATE TABLE words AS SELECT 'a' AS src, 'b' AS dst UNION ALL SELECT 'b', 'c';
SELECT * FROM emogi_simple_paths('words', 'a', '{b,c}');
SELECT * FROM emogi_simple_paths('words', '{a}', 'c');
SELECT * FROM emogi_simple_paths('words', 'a', '{x,y}');
SELECT * FROM emogi_simple_paths('words', 'a', '{x,y}'::text[]);
SELECT * FROM emogi_simple_paths('grid', ARRAY[1, 3], 4);

-- Vertices that reach the target through the source alone are not entered.
CREATE TABLE clique AS SELECT i AS src, j AS dst, 1 AS weight FROM generate_series(1, 30) i, generate_series(1, 30) j WHERE i <> j
  UNION ALL VALUES (0, 1, 1), (0, 99, 1), (1, 0, 1);
SELECT * FROM emogi_simple_paths('clique', 0, 99);
SELECT * FROM emogi_simple_paths('clique', 0, 99, max_cost => 1000);

-- A search is canceled.
CREATE TABLE grid AS SELECT i AS src, j AS dst FROM generate_series(0, 30) i, generate_series(0, 30) j WHERE i <> j;
SELECT count(*) FROM emogi_simple_paths('grid', 0, 30, 3);
SET statement_timeout = '500ms';
SELECT count(*) FROM emogi_simple_paths('grid', 0, 30, max_cost => 30, max_paths => 2000000000);
RESET statement_timeout;

RESET search_path;
SET client_min_messages = warning;
DROP SCHEMA simple_paths CASCADE;
