-- emogi_bfs compared with an oracle in SQL, on seeded random graphs of many shapes.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS emogi;
RESET client_min_messages;
CREATE SCHEMA test_bfs_random;
SET search_path = test_bfs_random, public;

-- The i-th pseudo-random number in 0 .. n - 1 of a seed.
CREATE FUNCTION pick(i bigint, seed bigint, n bigint) RETURNS bigint LANGUAGE sql IMMUTABLE AS
  'SELECT (hashint8extended(i, seed) & 9223372036854775807) % n';

-- The oracle: arcs of the table e(src, dst) in a direction, then levels from some sources, one join
-- per level.
CREATE TEMP TABLE arc (a bigint, b bigint);
CREATE TEMP TABLE reached (vertex bigint PRIMARY KEY, level int);
CREATE FUNCTION take_arcs(direction text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  TRUNCATE arc;
  INSERT INTO arc
    SELECT src, dst FROM e WHERE src IS NOT NULL AND dst IS NOT NULL AND direction IN ('out', 'both')
    UNION ALL
    SELECT dst, src FROM e WHERE src IS NOT NULL AND dst IS NOT NULL AND direction IN ('in', 'both');
END $$;
CREATE FUNCTION oracle(sources bigint[]) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  depth int := 0;
BEGIN
  TRUNCATE reached;
  INSERT INTO reached SELECT DISTINCT s, 0 FROM unnest(sources) s WHERE s IN (SELECT a FROM arc UNION ALL SELECT b FROM arc);
  WHILE FOUND LOOP
    depth := depth + 1;
    INSERT INTO reached SELECT DISTINCT b, depth FROM arc JOIN reached ON a = vertex AND level = depth - 1
      ON CONFLICT DO NOTHING;
  END LOOP;
END $$;

-- Count the rows in which emogi_bfs and the oracle differ, in both directions of the difference,
-- over directions, sources and depths.
CREATE FUNCTION compare(OUT calls int, OUT rows bigint, OUT wrong bigint) LANGUAGE plpgsql AS $$
DECLARE
  ends bigint[] := ARRAY(SELECT v FROM (SELECT src FROM e UNION SELECT dst FROM e) s(v) WHERE v IS NOT NULL ORDER BY hashint8extended(v, 5), v LIMIT 12);
  sources bigint[];
  way text;
  depth int;
  n bigint;
  r bigint;
BEGIN
  calls := 0; rows := 0; wrong := 0;
  FOREACH way IN ARRAY ARRAY['out', 'in', 'both'] LOOP
    PERFORM take_arcs(way);
    FOR sources IN SELECT ends[1:1] UNION ALL SELECT ends[3:7] UNION ALL SELECT ends || NULL || 4711 || ends LOOP
      PERFORM oracle(sources);
      FOREACH depth IN ARRAY ARRAY[NULL, 1, 4] LOOP
        WITH answer AS MATERIALIZED (SELECT * FROM emogi_bfs('e', sources, depth, way)),
             truth AS MATERIALIZED (SELECT * FROM reached WHERE level <= coalesce(depth, level)),
             extra AS (SELECT * FROM answer EXCEPT ALL SELECT * FROM truth),
             missing AS (SELECT * FROM truth EXCEPT ALL SELECT * FROM answer)
        SELECT (SELECT count(*) FROM extra) + (SELECT count(*) FROM missing), (SELECT count(*) FROM truth) INTO n, r;
        calls := calls + 1; rows := rows + r; wrong := wrong + n;
      END LOOP;
    END LOOP;
  END LOOP;
END $$;

-- Shapes: a query for the edges of each, over up to some hundreds of vertices.
CREATE TABLE shapes (shape text, edges text);
INSERT INTO shapes VALUES
  ('one edge',    'SELECT 3, 4'),
  ('one loop',    'SELECT 3, 3'),
  ('chain',       'SELECT i, i + 1 FROM generate_series(0, 150) i'),
  ('ring',        'SELECT i, (i + 1) % 97 FROM generate_series(0, 96) i'),
  ('star out',    'SELECT 0, i FROM generate_series(1, 700) i'),
  ('star in',     'SELECT i, 0 FROM generate_series(1, 700) i'),
  ('double star', 'SELECT i % 2, i FROM generate_series(2, 700) i UNION ALL SELECT i, (i + 1) % 2 FROM generate_series(2, 700) i'),
  ('binary tree', 'SELECT (i - 1) / 2, i FROM generate_series(1, 1000) i'),
  ('grid',        'SELECT i, i + 1 FROM generate_series(0, 899) i WHERE i % 30 < 29 UNION ALL SELECT i, i + 30 FROM generate_series(0, 869) i'),
  ('complete',    'SELECT i, j FROM generate_series(0, 40) i, generate_series(0, 40) j WHERE i <> j'),
  ('bipartite',   'SELECT pick(i, 1, 200), 200 + pick(i, 2, 50) FROM generate_series(1, 600) i'),
  ('sparse',      'SELECT pick(i, 3, 1000), pick(i, 4, 1000) FROM generate_series(1, 900) i'),
  ('critical',    'SELECT pick(i, 5, 1000), pick(i, 6, 1000) FROM generate_series(1, 1300) i'),
  ('random',      'SELECT pick(i, 7, 1000), pick(i, 8, 1000) FROM generate_series(1, 5000) i'),
  ('dense',       'SELECT pick(i, 9, 100), pick(i, 10, 100) FROM generate_series(1, 5000) i'),
  ('many times',  'SELECT pick(i % 50, 11, 30), pick(i % 50, 12, 30) FROM generate_series(1, 1000) i'),
  ('hubs',        'SELECT pick(i, 13, 1 + pick(i, 14, 900)), pick(i, 15, 1 + pick(i, 16, 1 + pick(i, 17, 900))) FROM generate_series(1, 4000) i'),
  ('loops',       'SELECT pick(i, 18, 100), CASE WHEN i % 3 = 0 THEN pick(i, 18, 100) ELSE pick(i, 19, 100) END FROM generate_series(1, 300) i'),
  ('null ends',   'SELECT nullif(pick(i, 20, 100), i % 100), nullif(pick(i, 21, 100) + (i % 5), 7) FROM generate_series(1, 400) i'),
  ('islands',     'SELECT 20 * (i / 20) + pick(i, 22, 20), 20 * (i / 20) + pick(i, 23, 20) FROM generate_series(0, 1199) i'),
  ('lists 31 33', 'SELECT i, 100 + pick(j, i, 300) FROM generate_series(0, 99) i, generate_series(1, 31 + i % 3) j'
                  ' UNION ALL SELECT 100 + i, i FROM generate_series(0, 99) i');

-- The same shapes with all kinds of keys: small, negative, beyond 32 bits, and hashed to 64 bits.
CREATE TABLE keys (kind text, type text, key text);
INSERT INTO keys VALUES
  ('int2',      'smallint', '%s'),
  ('int4',      'int',      '%s - 500'),
  ('int8',      'bigint',   '%s + 4294966800'),
  ('apart',     'bigint',   '(%s - 450) * 9007199254740993'),
  ('hashed',    'bigint',   'CASE %1$s WHEN 0 THEN -9223372036854775808 WHEN 1 THEN 9223372036854775807 ELSE hashint8extended(%1$s, 99) END');

CREATE TABLE results (kind text, shape text, calls int, rows bigint, wrong bigint);
CREATE PROCEDURE compare_all() LANGUAGE plpgsql AS $$
DECLARE
  s shapes;
  k keys;
BEGIN
  FOR k IN SELECT * FROM keys LOOP
    FOR s IN SELECT * FROM shapes LOOP
      EXECUTE format('CREATE TABLE e AS SELECT (%1$s)::%3$s AS src, (%2$s)::%3$s AS dst FROM (%4$s) g(a, b)',
                     format(k.key, 'a::bigint'), format(k.key, 'b::bigint'), k.type, s.edges);
      COMMIT;
      INSERT INTO results SELECT k.kind, s.shape, c.* FROM compare() c;
      DROP TABLE e;
    END LOOP;
  END LOOP;
END $$;

CALL compare_all();
SELECT kind, sum(calls) AS calls, sum(rows) AS rows, sum(wrong) AS wrong FROM results GROUP BY kind ORDER BY kind COLLATE "C";
SELECT shape, sum(calls) AS calls, sum(rows) AS rows, sum(wrong) AS wrong FROM results GROUP BY shape ORDER BY shape COLLATE "C";
SELECT * FROM results WHERE wrong > 0;

-- The oracle itself compared with a recursive CTE with a limit on the level.
CREATE TEMP TABLE e AS SELECT pick(i, 31, 200) AS src, pick(i, 32, 200) AS dst FROM generate_series(1, 300) i;
SELECT take_arcs('out'), oracle(ARRAY[0, 1, 2]);
WITH RECURSIVE walk(vertex, level) AS (
  SELECT v, 0 FROM generate_series(0::bigint, 2) v
  UNION
  SELECT dst, level + 1 FROM walk JOIN e ON src = vertex WHERE level < 40
), truth AS (SELECT vertex, min(level) AS level FROM walk GROUP BY vertex)
SELECT (SELECT count(*) FROM truth) AS rows, (SELECT max(level) FROM truth) AS levels,
       (SELECT count(*) FROM (TABLE truth EXCEPT TABLE reached) x) + (SELECT count(*) FROM (TABLE reached EXCEPT TABLE truth) x) AS wrong_oracle,
       (SELECT count(*) FROM (TABLE truth EXCEPT SELECT * FROM emogi_bfs('e', ARRAY[0, 1, 2])) x)
         + (SELECT count(*) FROM (SELECT * FROM emogi_bfs('e', ARRAY[0, 1, 2]) EXCEPT TABLE truth) x) AS wrong;
DROP TABLE e;

-- A larger graph.
CREATE TEMP TABLE e AS
  SELECT hashint8extended(pick(i, 41, 50000), 1) AS src, hashint8extended(pick(i, 42, 50000), 1) AS dst FROM generate_series(1, 200000) i;
SELECT take_arcs('both'), oracle(ARRAY[hashint8extended(1, 1)]);
SELECT count(*) AS rows, max(level) AS levels FROM reached;
SELECT count(*) AS wrong FROM (TABLE reached EXCEPT SELECT * FROM emogi_bfs('e', hashint8extended(1, 1), direction => 'both')) x;
SELECT count(*) AS wrong FROM (SELECT * FROM emogi_bfs('e', hashint8extended(1, 1), direction => 'both') EXCEPT TABLE reached) x;
SELECT take_arcs('in'), oracle(ARRAY[hashint8extended(1, 1), hashint8extended(2, 1)]);
SELECT count(*) AS rows, max(level) AS levels FROM reached;
SELECT count(*) AS wrong FROM (TABLE reached EXCEPT SELECT * FROM emogi_bfs('e', ARRAY[hashint8extended(1, 1), hashint8extended(2, 1)], direction => 'in')) x;
SELECT count(*) AS wrong FROM (SELECT * FROM emogi_bfs('e', ARRAY[hashint8extended(1, 1), hashint8extended(2, 1)], direction => 'in') EXCEPT TABLE reached) x;
