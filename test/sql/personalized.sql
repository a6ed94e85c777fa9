-- Answers of emogi_pagerank with teleport vertices, with edge weights, or in another direction.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS emogi;
RESET client_min_messages;
CREATE SCHEMA test_personalized;
SET search_path = test_personalized, public;
SET jit = off;	-- compiling the plain queries takes longer than they do
\pset format unaligned
\pset tuples_only on
\pset null (null)

-- Ranks by plain SQL: some iterations from 1/n each. leaps: (vertex, value) with values of at least
-- 0; without rows, teleports are uniform.
CREATE TABLE edges (src bigint, dst bigint, weight float8);
CREATE TABLE leaps (vertex bigint, value float8);
CREATE FUNCTION plain_ranks(damping float8, iterations int, way text, weighted boolean) RETURNS TABLE (vertex bigint, rank float8) LANGUAGE plpgsql AS $$
DECLARE
  dangling float8;
BEGIN
  DROP TABLE IF EXISTS lists, ranks;
  CREATE TEMP TABLE lists AS
    SELECT src AS a, dst AS b, CASE WHEN weighted THEN weight ELSE 1 END AS w FROM edges WHERE way <> 'in' AND src + dst IS NOT NULL
    UNION ALL SELECT dst, src, CASE WHEN weighted THEN weight ELSE 1 END FROM edges WHERE way <> 'out' AND src + dst IS NOT NULL AND NOT (way = 'both' AND src = dst);
  CREATE TEMP TABLE ranks AS
    SELECT v, 1.0::float8 / count(*) OVER () AS r, coalesce((SELECT sum(w) FROM lists WHERE a = v), 0) AS strength,
           CASE WHEN EXISTS (SELECT FROM leaps) THEN coalesce((SELECT value FROM leaps l WHERE l.vertex = v), 0) / (SELECT sum(value) FROM leaps l
             WHERE l.vertex IN (SELECT a FROM lists UNION SELECT b FROM lists)) ELSE 1.0::float8 / count(*) OVER () END AS p
      FROM (SELECT src AS v FROM edges WHERE src + dst IS NOT NULL UNION SELECT dst FROM edges WHERE src + dst IS NOT NULL) x;
  FOR i IN 1 .. iterations LOOP
    SELECT coalesce(sum(r), 0) INTO dangling FROM ranks WHERE strength = 0;
    UPDATE ranks t SET r = (1 - damping) * t.p + damping * (dangling * t.p + coalesce((SELECT sum(s.r * w / s.strength) FROM lists JOIN ranks s ON s.v = a
      WHERE b = t.v AND s.strength > 0), 0));
  END LOOP;
  RETURN QUERY SELECT v, r FROM ranks;
END $$;

-- Count the vertices whose answers differ by more than 1e-9 of the maximum.
CREATE FUNCTION apart(ours text, damping float8, iterations int, way text, weighted boolean) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  n bigint;
BEGIN
  EXECUTE format('SELECT count(*) FROM %s a FULL JOIN plain_ranks(%L, %L, %L, %L) b USING (vertex) WHERE abs(a.rank - b.rank) <= 1e-11 IS NOT TRUE', ours, damping, iterations, way, weighted) INTO n;
  RETURN n;
END $$;

-- Manually: teleports always lead to 1, so after one iteration from 1/2 each, 2 has the rank passed
-- on by 1, and 1 the rest.
SELECT string_agg(vertex || ':' || rank, ' ') FROM emogi_pagerank('VALUES (1, 2)', 0.5, 1, 0, start => 'VALUES (1, 10)');
-- 1 has edges of weights 3 and 1.
SELECT string_agg(vertex || ':' || rank, ' ') FROM emogi_pagerank('VALUES (1, 2, 3.0), (1, 3, 1.0), (2, 1, 1.0), (3, 1, 1.0)', 1, 1, 0, weights => true);
-- In reverse direction, and in both.
SELECT string_agg(vertex || ':' || rank, ' ') FROM emogi_pagerank('VALUES (1, 2), (3, 2)', 1, 1, 0, direction => 'in');
SELECT string_agg(vertex || ':' || round(rank::numeric, 9), ' ') FROM emogi_pagerank('VALUES (1, 2), (3, 2)', 1, 1, 0, direction => 'both');
-- All weights of a vertex are 0: it distributes its rank like one without edges. An edge without a
-- weight is an error, and so is a missing column.
SELECT string_agg(vertex || ':' || round(rank::numeric, 9), ' ') FROM emogi_pagerank('VALUES (1, 2, 0.0), (2, 1, 1.0)', 0.5, 1, 0, weights => true);
-- Only the proportions of start values matter, and vertices that are not in the graph are ignored.
SELECT count(*) AS wrong FROM emogi_pagerank('VALUES (1, 2), (2, 3), (3, 1), (1, 3)', start => 'VALUES (1, 1), (2, 3)') a
  JOIN emogi_pagerank('VALUES (1, 2), (2, 3), (3, 1), (1, 3)', start => 'VALUES (1, 4), (2, 12), (99, 5)') b USING (vertex) WHERE a.rank <> b.rank;
-- Equal proportions equal no personalization, except for the last digits.
SELECT count(*) AS wrong FROM emogi_pagerank('VALUES (1, 2), (2, 3), (3, 1), (1, 3)', start => 'VALUES (1, 1), (2, 1), (3, 1)') a
  JOIN emogi_pagerank('VALUES (1, 2), (2, 3), (3, 1), (1, 3)', start => NULL, direction => NULL, weights => NULL) b USING (vertex) WHERE abs(a.rank - b.rank) > 1e-15;

-- Random graphs, with parallel edges, loops, NULL endpoints, and weights of 0.
SET client_min_messages = warning;
DO $$
DECLARE
  wrong bigint := 0;
  asked int := 0;
BEGIN
  PERFORM setseed(0.125);
  FOR g IN 1 .. 12 LOOP
    TRUNCATE edges, leaps;
    INSERT INTO edges SELECT CASE WHEN random() > 0.03 THEN (random() * 3 * g)::int END, (random() * 3 * g)::int, (random() * 4)::int / (CASE WHEN g % 2 = 0 THEN 1 ELSE 3.7 END)
      FROM generate_series(1, 1 + 7 * g);
    wrong := wrong + apart('emogi_pagerank(''edges'', 0.7, 9, 0)', 0.7, 9, 'out', false)
      + apart('emogi_pagerank(''edges'', 0.7, 9, 0, weights => true)', 0.7, 9, 'out', true)
      + apart('emogi_pagerank(''edges'', 0.7, 9, 0, direction => ''both'', weights => true)', 0.7, 9, 'both', true);
    INSERT INTO leaps SELECT v, (random() * 3)::int FROM (SELECT dst AS v FROM edges WHERE src IS NOT NULL UNION SELECT 1000) x;
    UPDATE leaps SET value = 1 WHERE vertex = (SELECT min(vertex) FROM leaps);
    wrong := wrong + apart('emogi_pagerank(''edges'', 0.9, 5, 0, start => ''TABLE leaps'', weights => true, direction => ''in'')', 0.9, 5, 'in', true)
      + apart('emogi_pagerank(''edges'', 0.5, 7, 0, start => ''TABLE leaps'', direction => ''both'')', 0.5, 7, 'both', false)
      + apart('emogi_pagerank(''edges'', 0.5, 7, 0, start => ''TABLE leaps'', direction => ''both'', weights => true)', 0.5, 7, 'both', true);
    asked := asked + 6;
  END LOOP;
  RAISE WARNING '% answers, % ranks differ', asked, wrong;
END $$;

-- Texts and uuids; a condition on the vertex; the first rows.
CREATE TABLE names (src text, dst text, weight float8);
INSERT INTO names VALUES ('a', 'b', 1), ('b', 'c', 2), ('c', 'a', 1), ('c', 'd', 3);
SELECT vertex, round(rank::numeric, 6) FROM emogi_pagerank_text('names', start => 'VALUES (''b'', 1)', weights => true);
SELECT vertex, round(rank::numeric, 6) FROM emogi_pagerank_text('names', start => 'VALUES (''b'', 1)') WHERE vertex = 'd';
SELECT vertex FROM emogi_pagerank_text('names'::regclass, start => 'VALUES (''b'', 1)', weights => true) ORDER BY rank DESC, vertex LIMIT 2;

-- A start query sees the rows of its statement's snapshot, and needs privileges.
BEGIN;
INSERT INTO leaps VALUES (-1, 5);
INSERT INTO edges VALUES (-1, -2, 1);
SELECT round(rank::numeric, 6) FROM emogi_pagerank('edges', 0, start => 'SELECT vertex, value FROM leaps WHERE vertex < 0') WHERE vertex = -1;
ROLLBACK;

-- Errors.
\set VERBOSITY default
\set SHOW_CONTEXT never
SELECT * FROM emogi_pagerank('VALUES (1, 2)', start => 'VALUES (1, -0.5)');
SELECT * FROM emogi_pagerank('VALUES (1, 2)', start => 'VALUES (1, 0)');
SELECT * FROM emogi_pagerank('VALUES (1, 2)', start => 'VALUES (7, 1)');
SELECT * FROM emogi_pagerank('VALUES (1, 2)', start => 'VALUES (1, 1e308), (2, 1e308)');
SELECT * FROM emogi_pagerank('VALUES (1, 2)', start => 'VALUES (1, ''NaN''::float8)');
SELECT * FROM emogi_pagerank('VALUES (1, 2)', start => 'VALUES (1, 1), (1, 2)');
SELECT * FROM emogi_pagerank('VALUES (1, 2)', start => 'VALUES (1)');
SELECT * FROM emogi_pagerank('VALUES (1, 2)', direction => 'up');
SELECT * FROM emogi_pagerank('VALUES (1, 2, -1.0)', weights => true);
SELECT * FROM emogi_pagerank('VALUES (1, 2, ''Infinity''::float8)', weights => true);
SELECT * FROM emogi_pagerank('VALUES (1, 2, 1e300)', weights => true);
SELECT vertex, round(rank::numeric, 12) FROM emogi_pagerank('VALUES (1, 2)', weights => true);
-- A query in an argument that drops the table of the graph.
CREATE TABLE fleeting AS SELECT 1 AS src, 2 AS dst;
CREATE FUNCTION drop_table() RETURNS float8 LANGUAGE plpgsql AS 'BEGIN DROP TABLE fleeting; RETURN 1; END';
SELECT * FROM emogi_pagerank('fleeting', start => 'SELECT 1, drop_table()');
SELECT count(*) FROM fleeting;
SET client_min_messages = warning;
DROP SCHEMA test_personalized CASCADE;
