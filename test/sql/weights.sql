-- The source of weights: every form of the graph argument, every numeric type, every method of
-- reading rows.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS emogi;
DROP ROLE IF EXISTS regress_emogi_weightless;
RESET client_min_messages;
CREATE SCHEMA test_weights;
SET search_path = test_weights, public;
\pset format unaligned
\pset tuples_only on
\pset null (null)
CREATE FUNCTION sssp(graph text, source bigint DEFAULT 1) RETURNS text LANGUAGE sql STABLE AS
  $$ SELECT string_agg(vertex || ':' || distance, ' ') FROM emogi_sssp(graph, source) $$;

-- The column weight, or cost, not both; otherwise none; or the third named column; with two named
-- columns none.
CREATE TABLE w (src int, dst int, weight int, cost int, "Km" float8);
INSERT INTO w VALUES (1, 2, 10, 100, 0.5), (2, 3, 20, 200, 0.25);
SELECT sssp('w');
SELECT sssp('w(src, dst)');
SELECT sssp('w(src, dst, weight)');
SELECT sssp('w(src, dst, cost)');
SELECT sssp('w(src, dst, "Km")');
SELECT sssp('w(dst, src, "Km")', 3);
SELECT sssp('w(src, dst, dst)');
SELECT sssp('w(src, dst, src)');
SELECT sssp('test_weights.W ( src , dst , Cost )');
CREATE TABLE c (cost int, target bigint, source bigint);
INSERT INTO c VALUES (10, 2, 1), (20, 3, 2);
SELECT sssp('c');
SELECT sssp('c(source, target)');
CREATE TABLE n (src int, dst int, weights int, "Weight" int);
INSERT INTO n VALUES (1, 2, 10, 10), (2, 3, 20, 20);
SELECT sssp('n');
SELECT sssp('n(src, dst, "Weight")');
ALTER TABLE n ADD weight real;
UPDATE n SET weight = 1.5;
SELECT sssp('n');
ALTER TABLE w DROP weight;
SELECT sssp('w');
ALTER TABLE w DROP cost;
SELECT sssp('w');

-- The third column of a query, whatever its name; a query of two columns has none.
SELECT sssp('SELECT src, dst, "Km" FROM w');
SELECT sssp('SELECT src, dst FROM w');
SELECT sssp('SELECT src, dst, 7 FROM w');
SELECT sssp('SELECT src, dst, 7, ''more'', NULL FROM w');
SELECT sssp('SELECT 1 AS weight, 2 AS cost, 3 AS src');
SELECT sssp('VALUES (1, 2, 0.5), (2, 3, 0.25)');
SELECT sssp('TABLE w');
SELECT sssp('SELECT vertex, vertex + 1, distance + 1 FROM emogi_sssp(''w'', 1)');
SELECT sssp('SELECT src, dst, sum(7) FROM w GROUP BY src, dst');
SELECT sssp('SELECT src, dst, count(*) OVER () FROM w');
SELECT sssp('(SELECT src, dst, 1 FROM w) UNION ALL (SELECT 1, 3, 5) ORDER BY 1 LIMIT 10');
SELECT sssp('WITH x AS (SELECT src + 0 AS a, dst AS b, "Km" * 2 AS c FROM w) SELECT * FROM x');

-- A row with a NULL endpoint is not an edge, whatever its weight.
CREATE TABLE holes (src int, dst int, weight float8);
INSERT INTO holes VALUES (1, 2, 1), (1, NULL, NULL), (NULL, 2, 'NaN'), (NULL, NULL, -1), (2, NULL, '-Infinity'), (NULL, 1, 2), (2, 3, 1);
SELECT sssp('holes');
SELECT sssp('SELECT * FROM holes');
SELECT sssp('SELECT src, dst, weight::numeric FROM holes WHERE weight IS DISTINCT FROM ''-Infinity''');

-- Every numeric type and domains over them, through a table and through a query: the distance over
-- one edge is its weight.
CREATE DOMAIN km AS numeric(10, 2);
CREATE DOMAIN far AS km CHECK (value < 1000000);
CREATE DOMAIN small AS smallint;
CREATE FUNCTION check_type(type text, "values" text, OUT edges bigint, OUT heap bigint, OUT query bigint, OUT view bigint) LANGUAGE plpgsql AS $$
DECLARE
  wrong text := 'SELECT count(*) FROM t FULL JOIN (SELECT * FROM emogi_sssp(%L, 0) WHERE vertex > 0) a ON vertex = dst WHERE distance IS DISTINCT FROM weight::float8';
BEGIN
  EXECUTE format('CREATE TABLE t AS SELECT 0 AS src, i::int AS dst, (v)::%s AS weight FROM unnest(%L::numeric[]) WITH ORDINALITY u(v, i)', type, "values");
  CREATE VIEW v AS SELECT dst, weight, src FROM t;
  SELECT count(*) FROM t INTO edges;
  EXECUTE format(wrong, 't') INTO heap;
  EXECUTE format(wrong, 'SELECT src, dst, weight FROM t') INTO query;
  EXECUTE format(wrong, 'v') INTO view;
  DROP VIEW v;
  DROP TABLE t;
END $$;
SELECT t, c.* FROM unnest(ARRAY['smallint', 'integer', 'bigint', 'real', 'float8', 'numeric', 'numeric(20, 5)', 'km', 'far', 'small']) t,
  LATERAL check_type(t, '{0, 1, 2, 255, 256, 32767}') c;
SELECT t, c.* FROM unnest(ARRAY['integer', 'bigint', 'real', 'float8', 'numeric', 'km']) t,
  LATERAL check_type(t, '{65535, 65536, 16777215, 16777216, 16777217}') c;
SELECT t, c.* FROM unnest(ARRAY['integer', 'bigint', 'float8', 'numeric']) t, LATERAL check_type(t, '{0, 255, 65535, 2147483647}') c;
SELECT t, c.* FROM unnest(ARRAY['bigint', 'float8', 'numeric']) t,
  LATERAL check_type(t, '{4294967295, 4294967296, 9007199254740991, 9007199254740992, 9007199254740993, 9223372036854775807}') c;
SELECT t, c.* FROM unnest(ARRAY['real', 'float8', 'numeric', 'numeric(9, 3)', 'km']) t, LATERAL check_type(t, '{0.1, 0.5, 1.25, 3.14, 100.01, 0}') c;
SELECT t, c.* FROM unnest(ARRAY['real', 'float8', 'numeric']) t,
  LATERAL check_type(t, '{1e-37, 1e37, 0.333333333333333333333333333333, 123456789.123456789, 0.30000000000000004, 8388608.5, 1e20}') c;
SELECT t, c.* FROM unnest(ARRAY['float8', 'numeric']) t,
  LATERAL check_type(t, '{1e-300, 1e300, 1.7976931348623157e308, 2.2250738585072014e-308, 5e-324, 12345678901234567890123456789012345678.9}') c;
SELECT t, c.* FROM unnest(ARRAY['real', 'float8']) t, LATERAL check_type(t, '{1, 2, 3, 4, 5, 6, 7, 8}') c;
SELECT sssp('SELECT 1, 2, 0.1::real'), sssp('SELECT 1, 2, 0.1::float8'), sssp('SELECT 1, 2, 0.1::numeric'), sssp('SELECT 1, 2, 1e-40::real');
SELECT sssp('SELECT 1, 2, ''Infinity''::real'), sssp('SELECT 1, 2, ''Infinity''::float8'), sssp('SELECT 1, 2, ''Infinity''::numeric');

-- Maximum integer weights of one, two and four bytes, and one that does not fit.
CREATE TABLE bytes AS SELECT 0 AS src, i AS dst, i AS weight FROM generate_series(1, 255) i;
SELECT count(*), count(*) FILTER (WHERE distance <> vertex) FROM emogi_sssp('bytes', 0);
INSERT INTO bytes VALUES (0, 256, 256);
SELECT count(*), count(*) FILTER (WHERE distance <> vertex) FROM emogi_sssp('bytes', 0);
INSERT INTO bytes VALUES (0, 65535, 65535);
SELECT count(*), count(*) FILTER (WHERE distance <> vertex) FROM emogi_sssp('bytes', 0);
INSERT INTO bytes VALUES (0, 65536, 65536), (0, 16777217, 16777217);
SELECT count(*), count(*) FILTER (WHERE distance <> vertex) FROM emogi_sssp('bytes', 0);
SELECT count(*), count(*) FILTER (WHERE distance <> vertex)
  FROM emogi_sssp('SELECT *, 1 FROM (SELECT src, dst, weight FROM bytes UNION ALL SELECT 0::int, 2000000000, 2000000000) x', 0);
SELECT count(*), count(*) FILTER (WHERE distance <> vertex * 0.5) FROM emogi_sssp('SELECT src, dst, weight * 0.5 FROM bytes', 0);
SELECT count(*), count(*) FILTER (WHERE distance <> vertex * 4294967296.0::float8) FROM emogi_sssp('SELECT src, dst, weight * 4294967296 FROM bytes', 0);
SELECT count(*), count(*) FILTER (WHERE distance <> vertex + 0.1::float8) FROM emogi_sssp('SELECT src, dst, weight + 0.1::float8 FROM bytes', 0) WHERE vertex > 0;

-- Lists with equal neighbours and different weights, and the order of the rows.
CREATE TABLE shuffled AS SELECT i % 7 AS src, i % 5 AS dst, (i * 37) % 101 AS weight FROM generate_series(0, 400) i ORDER BY (i * 53) % 401;
CREATE TABLE turned AS SELECT * FROM shuffled ORDER BY weight DESC, src, dst;
SELECT sssp('shuffled', 0), sssp('shuffled', 0) = sssp('turned', 0) AS same;

-- A view, a materialized view, partitions with other column orders, a temporary table, rows that are toasted or wide.
CREATE VIEW double AS SELECT src, dst, "Km" * 2 AS weight FROM w;
SELECT sssp('double');
SELECT sssp('double(src, dst)');
CREATE MATERIALIZED VIEW kept AS SELECT src AS source, dst AS target, "Km" * 4 AS cost FROM w;
SELECT sssp('kept');
CREATE TABLE parts (src int, dst int, weight numeric) PARTITION BY LIST (src);
CREATE TABLE part1 (weight numeric, note text, dst int, src int);
ALTER TABLE part1 DROP note;
ALTER TABLE parts ATTACH PARTITION part1 FOR VALUES IN (1);
CREATE TABLE part2 PARTITION OF parts FOR VALUES IN (2, 3) PARTITION BY RANGE (dst);
CREATE TABLE part2a PARTITION OF part2 FOR VALUES FROM (0) TO (10);
CREATE TABLE part2b (dst int, src int, weight numeric);
ALTER TABLE part2 ATTACH PARTITION part2b FOR VALUES FROM (10) TO (20);
INSERT INTO parts VALUES (1, 2, 0.1), (2, 3, 0.2), (2, 11, 0.3), (3, 12, 0.4);
SELECT sssp('parts');
SELECT sssp('parts(src, dst)');
SELECT sssp('parts(src, dst, dst)');
SELECT sssp('part2', 2);
CREATE TEMP TABLE own (src int, dst int, weight numeric);
INSERT INTO own SELECT * FROM parts;
SELECT sssp('own');
CREATE TABLE offsets (a bool, b text, src smallint, c numeric, d bool, dst bigint, e name, weight real, f text);
INSERT INTO offsets VALUES (true, 'x', 1, 1.5, NULL, 2, NULL, 0.5, 'x'), (NULL, NULL, 2, 3.5, false, 3, 'e', 0.25, repeat('x', 10000)), (NULL, repeat('y', 5000), 3, 2, NULL, 4, NULL, 2, NULL);
SELECT sssp('offsets');
SELECT sssp('offsets(src, dst, c)', 3);
-- A column added later, with a default, to rows that do not store it.
CREATE TABLE late (src int, dst int);
INSERT INTO late VALUES (1, 2), (2, 3);
ALTER TABLE late ADD weight int DEFAULT 5;
SELECT sssp('late');
INSERT INTO late VALUES (3, 4, 6);
SELECT sssp('late');
ALTER TABLE late ALTER weight TYPE float8 USING weight / 2.0;
SELECT sssp('late');
-- A generated column; a numeric with a long fraction, one that is stored out of line.
CREATE TABLE made (src int, dst int, weight float8 GENERATED ALWAYS AS (dst * 0.5) STORED);
INSERT INTO made VALUES (1, 2), (2, 3);
SELECT sssp('made');
CREATE TABLE digits (src int, dst int, weight numeric);
ALTER TABLE digits ALTER weight SET STORAGE EXTERNAL;
INSERT INTO digits VALUES (1, 2, ('0.' || repeat('6', 900))::numeric), (2, 3, ('0.' || repeat('3', 12000))::numeric), (1, 4, ('12.' || repeat('0', 12000) || '1')::numeric);
SELECT sssp('digits');
SELECT sssp('SELECT * FROM digits');

-- Own changes are included; each call sees the weights of its snapshot.
BEGIN;
UPDATE w SET "Km" = 8 WHERE src = 1;
SELECT sssp('w(src, dst, "Km")');
SAVEPOINT s;
DELETE FROM w WHERE src = 2;
SELECT sssp('w(src, dst, "Km")');
ROLLBACK TO s;
SELECT sssp('w(src, dst, "Km")');
ROLLBACK;
SELECT sssp('w(src, dst, "Km")');

-- Functions that read no weights accept any, and need no privilege on them; others do not.
CREATE TABLE bad (src int, dst int, weight float8);
INSERT INTO bad VALUES (1, 2, NULL), (2, 3, 'NaN'), (3, 1, -1), (3, 4, '-Infinity');
SELECT count(*) FROM emogi_bfs('bad', 1);
SELECT count(*) FROM emogi_ssnsp('bad', 1);
SELECT count(*) FROM emogi_cc('bad');
SELECT count(*) FROM emogi_pagerank('bad');
SELECT count(*) FROM emogi_bfs('bad(src, dst, weight)', 1);
SELECT count(*) FROM emogi_cc('SELECT * FROM bad');
SELECT sssp('bad(src, dst)');
CREATE ROLE regress_emogi_weightless;
GRANT USAGE ON SCHEMA test_weights TO regress_emogi_weightless;
GRANT SELECT (src, dst) ON bad, holes TO regress_emogi_weightless;
SET ROLE regress_emogi_weightless;
\set VERBOSITY sqlstate
SELECT count(*) FROM emogi_bfs('bad', 1);
SELECT count(*) FROM emogi_ssnsp('bad', 1);
SELECT count(*) FROM emogi_cc('bad');
SELECT count(*) FROM emogi_pagerank('bad');
SELECT count(*) FROM emogi_sssp('bad(src, dst)', 1);
SELECT count(*) FROM emogi_sssp('holes', 1);
SELECT count(*) FROM emogi_sswp('holes', 1);
SELECT count(*) FROM emogi_heat('holes', 'SELECT 1, 1');
SELECT count(*) FROM emogi_circuit('holes', 'SELECT 1, 1');
SELECT count(*) FROM emogi_neural('holes', 'SELECT 1, 1');
SELECT count(*) FROM emogi_shortest_path('holes', 1, 2);
SELECT count(*) FROM emogi_sssp('SELECT * FROM holes', 1);
SELECT count(*) FROM emogi_heat('holes(src, dst)', 'SELECT src, weight FROM holes');
SELECT count(*) FROM emogi_heat('holes(src, dst)', 'SELECT src, 1 FROM holes WHERE dst = 3');
RESET ROLE;
GRANT SELECT (weight) ON holes TO regress_emogi_weightless;
SET ROLE regress_emogi_weightless;
SELECT count(*) FROM emogi_sssp('holes', 1);
RESET ROLE;
\set VERBOSITY default
DROP OWNED BY regress_emogi_weightless;
DROP ROLE regress_emogi_weightless;

-- Row security applies to weighted edges and to the start query as to any rows.
CREATE ROLE regress_emogi_weightless;
GRANT USAGE ON SCHEMA test_weights TO regress_emogi_weightless;
CREATE TABLE secured (src int, dst int, weight int, reader name);
INSERT INTO secured VALUES (1, 2, 5, 'regress_emogi_weightless'), (2, 3, 5, 'regress_emogi_weightless'), (1, 3, 1, 'other');
ALTER TABLE secured ENABLE ROW LEVEL SECURITY;
CREATE POLICY own ON secured USING (reader = current_user);
GRANT SELECT ON secured TO regress_emogi_weightless;
SELECT sssp('secured');
SET ROLE regress_emogi_weightless;
SELECT sssp('secured');
SELECT string_agg(vertex || ':' || value, ' ') FROM emogi_circuit('secured', 'SELECT dst, weight FROM secured WHERE weight < 3', 2, 0);
RESET ROLE;
SELECT sssp('secured');
DROP OWNED BY regress_emogi_weightless;
DROP ROLE regress_emogi_weightless;

-- Tables read by parallel workers: the tree in which i has the children 2i and 2i + 1, with the
-- difference of the endpoints as the weight. The distance of v from the root is v - 1, and the
-- widest path to it is as wide as its second highest bit.
CREATE UNLOGGED TABLE tree AS
  SELECT repeat('x', i % 5) AS note, i / 2 AS src, (i - i / 2)::numeric AS cost, i AS dst, i - i / 2 AS weight FROM generate_series(2, 1200000) i;
ANALYZE tree;
CREATE FUNCTION check_tree(graph text, OUT rows bigint, OUT farthest float8, OUT wrong bigint, OUT wrong_widths bigint) LANGUAGE sql STABLE AS $$
  SELECT count(*), max(distance), count(*) FILTER (WHERE distance <> vertex - 1),
         (SELECT count(*) FROM emogi_bfs(graph, 1, 12) LEFT JOIN emogi_sswp(graph, 1) USING (vertex)
           WHERE level > 0 AND width IS DISTINCT FROM 1 + (vertex >> (level - 1)) % 2)
    FROM emogi_sssp(graph, 1) $$;
SET emogi.build_workers = 0;
SELECT * FROM check_tree('tree(src, dst, weight)');
SET emogi.build_workers = 4;
SELECT * FROM check_tree('tree(src, dst, weight)');
SELECT * FROM check_tree('tree(src, dst, cost)');
RESET emogi.build_workers;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SELECT * FROM check_tree('SELECT src, dst, weight * 1.0::float8 FROM tree');
SELECT * FROM check_tree('SELECT src, dst, cost FROM tree WHERE dst <= 100000');
-- A weight in the last rows that a narrower type could not hold, and an invalid one.
INSERT INTO tree VALUES ('', 1, 5000000000, 1300000, 1000000000);
SELECT vertex, distance FROM emogi_sssp('tree(src, dst, weight)', 1) WHERE vertex IN (1199999, 1300000);
SELECT vertex, distance FROM emogi_sssp('tree(src, dst, cost)', 1) WHERE vertex IN (1199999, 1300000);
INSERT INTO tree VALUES ('', 1, 0.1, 1300001, NULL);
SELECT vertex, distance FROM emogi_sssp('tree(src, dst, cost)', 1) WHERE vertex IN (1199999, 1300000, 1300001);
\set VERBOSITY sqlstate
SELECT count(*) FROM emogi_sssp('tree(src, dst, weight)', 1);
SELECT count(*) FROM emogi_sssp('SELECT src, dst, weight FROM tree', 1);
UPDATE tree SET cost = 'NaN' WHERE dst = 1300001;
SELECT count(*) FROM emogi_sssp('tree(src, dst, cost)', 1);
SELECT count(*) FROM emogi_sssp('SELECT src, dst, cost FROM tree', 1);
