-- Seeded random graphs of many shapes, under several kinds of keys and weights, for comparisons with an oracle.
-- The test file sets search_path to its own schema first.

-- The i-th pseudo-random number in 0 .. n - 1 of a seed.
CREATE FUNCTION pick(i bigint, seed bigint, n bigint) RETURNS bigint LANGUAGE sql IMMUTABLE AS
  'SELECT (hashint8extended(i, seed) & 9223372036854775807) % n';

-- A query for the endpoints of each shape.
CREATE TABLE shapes (shape text, edges text);
INSERT INTO shapes VALUES
  ('one edge',    'SELECT 3, 4'),
  ('one loop',    'SELECT 3, 3'),
  ('chain',       'SELECT i, i + 1 FROM generate_series(0, 60) i'),
  ('ring',        'SELECT i, (i + 1) % 47 FROM generate_series(0, 46) i'),
  ('star out',    'SELECT 0, i FROM generate_series(1, 300) i'),
  ('star in',     'SELECT i, 0 FROM generate_series(1, 300) i'),
  ('binary tree', 'SELECT (i - 1) / 2, i FROM generate_series(1, 250) i'),
  ('grid',        'SELECT i, i + 1 FROM generate_series(0, 143) i WHERE i % 12 < 11 UNION ALL SELECT i, i + 12 FROM generate_series(0, 131) i'),
  ('complete',    'SELECT i, j FROM generate_series(0, 20) i, generate_series(0, 20) j WHERE i <> j'),
  ('bipartite',   'SELECT pick(i, 1, 100), 100 + pick(i, 2, 30) FROM generate_series(1, 300) i'),
  ('sparse',      'SELECT pick(i, 3, 300), pick(i, 4, 300) FROM generate_series(1, 250) i'),
  ('random',      'SELECT pick(i, 7, 200), pick(i, 8, 200) FROM generate_series(1, 800) i'),
  ('many times',  'SELECT pick(i % 50, 11, 30), pick(i % 50, 12, 30) FROM generate_series(1, 500) i'),
  ('hubs',        'SELECT pick(i, 13, 1 + pick(i, 14, 300)), pick(i, 15, 1 + pick(i, 16, 1 + pick(i, 17, 300))) FROM generate_series(1, 800) i'),
  ('loops',       'SELECT pick(i, 18, 80), CASE WHEN i % 3 = 0 THEN pick(i, 18, 80) ELSE pick(i, 19, 80) END FROM generate_series(1, 240) i'),
  ('null ends',   'SELECT nullif(pick(i, 20, 100), i % 100), nullif(pick(i, 21, 100) + (i % 5), 7) FROM generate_series(1, 300) i'),
  ('islands',     'SELECT 12 * (i / 12) + pick(i, 22, 12), 12 * (i / 12) + pick(i, 23, 12) FROM generate_series(0, 359) i'),
  ('lists 31 33', 'SELECT i, 20 + pick(j, i, 90) FROM generate_series(0, 14) i, generate_series(1, 31 + i % 3) j'
                  ' UNION ALL SELECT 20 + i, i FROM generate_series(0, 14) i');

-- Keys: small, negative, beyond 32 bits, and hashed to 64 bits.
CREATE TABLE keys (kind text, type text, key text);
INSERT INTO keys VALUES
  ('int2',   'smallint', '%1$s'),
  ('int4',   'int',      '%1$s - 150'),
  ('int8',   'bigint',   '(%1$s - 150) * 9007199254740993'),
  ('hashed', 'bigint',   'CASE %1$s WHEN 0 THEN -9223372036854775808 WHEN 1 THEN 9223372036854775807 ELSE hashint8extended(%1$s, 99) END');

-- Weights of edge i: with zeros, of every storage type, with sums that round, and with impassable edges.
CREATE TABLE weights (kind text, weight text);
INSERT INTO weights VALUES
  ('zeros',      'pick(i, 51, 4)::smallint'),
  ('bytes',      '(1 + pick(i, 52, 72))::int'),
  ('large',      '(1 + pick(i, 53, 1000000000000))::bigint'),
  ('real',       '(pick(i, 54, 1000) / 1000.0)::real'),
  ('double',     'pick(i, 55, 9007199254740992) / 9007199254740992.0::float8 * 10 ^ (pick(i, 56, 7) - 3)'),
  ('numeric',    '(pick(i, 57, 100000) / 1000.0)::numeric(9, 3)'),
  ('impassable', 'CASE WHEN pick(i, 58, 4) = 0 THEN ''Infinity'' ELSE 0.1::float8 * pick(i, 59, 50) END');

-- Create the table e(src, dst, weight) of a shape with kinds of keys and weights.
CREATE FUNCTION make_graph(shapes, keys, weights) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format('CREATE TABLE e AS SELECT (%1$s)::%3$s AS src, (%2$s)::%3$s AS dst, %5$s AS weight'
                 ' FROM (SELECT a, b, row_number() OVER (ORDER BY a, b) AS i FROM (%4$s) g(a, b)) n ORDER BY hashint8extended(i, 60)',
                 format($2.key, 'a::bigint'), format($2.key, 'b::bigint'), $2.type, $1.edges, $3.weight);
END $$;
-- Every shape with some kinds, so that all pairs of shape and weight and all pairs of key and weight occur over the numbers of a round.
CREATE FUNCTION combinations(turn int) RETURNS TABLE (s shapes, k keys, w weights) LANGUAGE sql AS $$
  SELECT s, k, w FROM (SELECT s, row_number() OVER (ORDER BY shape COLLATE "C") AS i FROM shapes s) x,
                      (SELECT w, row_number() OVER (ORDER BY kind COLLATE "C") AS j FROM weights w) y,
                      (SELECT k, row_number() OVER (ORDER BY kind COLLATE "C") AS l FROM keys k) z
   WHERE (i + j + turn) % 3 = 0 AND (i + j + turn) / 3 % 4 + 1 = l ORDER BY i, j $$;

-- Some vertices of e, in a random order.
CREATE FUNCTION some_vertices(n int) RETURNS bigint[] LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN ARRAY(SELECT v FROM (SELECT src::bigint FROM e UNION SELECT dst FROM e) s(v) WHERE v IS NOT NULL ORDER BY hashint8extended(v, 5), v LIMIT n);
END $$;

-- The arcs of e in a direction. In both directions a loop is still one arc.
CREATE TEMP TABLE arc (a bigint, b bigint, w float8);
CREATE FUNCTION take_arcs(direction text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  TRUNCATE arc;
  INSERT INTO arc
    SELECT src, dst, weight FROM e WHERE src IS NOT NULL AND dst IS NOT NULL AND direction IN ('out', 'both')
    UNION ALL
    SELECT dst, src, weight FROM e WHERE src IS NOT NULL AND dst IS NOT NULL AND (direction = 'in' OR direction = 'both' AND src <> dst);
END $$;
