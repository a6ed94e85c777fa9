-- Quantities rolled up through acyclic graphs.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS emogi;
RESET client_min_messages;
SET emogi.engine = auto;
SET extra_float_digits = 0;
CREATE SCHEMA rollup;
SET search_path = rollup, public;

-- A bill of materials: a part in several assemblies, and twice in one.
CREATE TABLE bom (part text, component text, quantity numeric, PRIMARY KEY (part, component));
INSERT INTO bom VALUES ('bicycle', 'wheel', 2), ('bicycle', 'frame', 1), ('wheel', 'spoke', 32), ('wheel', 'rim', 1), ('wheel', 'hub', 1), ('hub', 'screw', 4),
  ('frame', 'screw', 6), ('bicycle', 'screw', 2), ('spoke', 'nipple', 1), ('rim', 'tape', 2.125), ('trailer', 'wheel', 2);
CREATE FUNCTION bom() RETURNS text LANGUAGE sql IMMUTABLE RETURN 'bom(part, component, quantity)';
SELECT * FROM emogi_rollup(bom(), 'bicycle');
SELECT * FROM emogi_rollup(bom(), 'screw', direction => 'in');
SELECT * FROM emogi_rollup('bom(part, component)', 'bicycle');
SELECT * FROM emogi_rollup(bom(), ARRAY['trailer', 'wheel', 'wheel']);
SELECT * FROM emogi_rollup(bom(), 'bicycle', 0);
SELECT * FROM emogi_rollup(bom(), 'bicycle', 1);
SELECT * FROM emogi_rollup(bom(), 'bicycle', max_depth => 2);
SELECT * FROM emogi_rollup(bom(), 'bicycle', max_depth => 3) EXCEPT SELECT * FROM emogi_rollup(bom(), 'bicycle');
SELECT * FROM emogi_rollup(bom(), 'bicycle') WHERE vertex = 'screw';
SELECT count(*), max(level), sum(quantity) FROM emogi_rollup(bom(), 'bicycle');
-- conditions on the level, which is that of the longest path, do not bound the search
SELECT * FROM emogi_rollup(bom(), 'bicycle') WHERE level <= 1;
SELECT * FROM emogi_rollup(bom(), 'bicycle') WHERE level < 2 AND vertex = 'screw';
SELECT vertex FROM emogi_rollup(bom(), 'bicycle') WHERE level = 1;
SELECT count(*), sum(quantity) FROM emogi_rollup(bom(), 'bicycle') WHERE level IN (1, 2);
SELECT level, count(*) FROM emogi_rollup(bom(), 'bicycle') WHERE level BETWEEN 0 AND 2 GROUP BY level ORDER BY level;
SELECT part, component, r.quantity * b.quantity AS total FROM emogi_rollup(bom(), 'bicycle') r JOIN bom b ON part = vertex ORDER BY 1, 2;
SELECT * FROM emogi_rollup(bom(), 'bicycle', edge_filter => 'component <> $1', params => 'screw'::text);
SELECT * FROM emogi_rollup('bom'::regclass, 'hub', columns => 'part, component, quantity');
SELECT * FROM emogi_rollup(bom(), 'nothing');
SELECT * FROM emogi_rollup(bom(), NULL::text);
SELECT * FROM emogi_rollup(bom(), 'bicycle', -1);
SELECT * FROM emogi_rollup(bom(), 'bicycle', direction => 'both');
EXPLAIN (COSTS OFF) SELECT * FROM emogi_rollup(bom(), 'bicycle');
SELECT * FROM emogi_bom_explosion(bom(), 'bicycle');

-- A cycle is an error if the sources reach it with the edges that are used; its vertices are named in order.
INSERT INTO bom VALUES ('nipple', 'paint', 0.5), ('paint', 'wheel', 0.5);
SELECT * FROM emogi_rollup(bom(), 'bicycle');
SELECT * FROM emogi_rollup(bom(), 'spoke');
SELECT * FROM emogi_rollup(bom(), 'frame');
SELECT * FROM emogi_rollup(bom(), 'bicycle', 4);
SELECT * FROM emogi_rollup(bom(), 'bicycle', 5);
SELECT * FROM emogi_rollup(bom(), 'screw', direction => 'in');
INSERT INTO bom VALUES ('screw', 'screw', 1);
SELECT * FROM emogi_rollup(bom(), 'frame');

-- Indirect shares of a company, which may be negative in other uses; their last owners.
CREATE TABLE shares (owner int, company int, share float8);
INSERT INTO shares VALUES (1, 2, 0.5), (1, 3, 0.25), (2, 4, 0.5), (3, 4, 0.5), (9, 4, 0.25), (2, 4, 0.125);
SELECT * FROM emogi_rollup('shares(owner, company, share)', 4, direction => 'in');
SELECT * FROM emogi_rollup('shares(owner, company, share)', 4, direction => 'in') r WHERE NOT EXISTS (SELECT FROM shares WHERE company = r.vertex);
SELECT a.vertex, a.quantity AS total, coalesce(d.quantity, 0) AS direct, a.quantity - coalesce(d.quantity, 0) AS indirect
FROM emogi_rollup('shares(owner, company, share)', 4, direction => 'in') a LEFT JOIN emogi_rollup('shares(owner, company, share)', 4, 1, 'in') d USING (vertex) WHERE a.vertex <> 4;
SELECT * FROM emogi_rollup('SELECT owner, company, -share FROM shares', 1);
SELECT * FROM emogi_rollup('SELECT owner, company, ''Infinity''::float8 FROM shares', 1);

-- Exact: whole numbers up to 2^53; a value out of range is an error, of an unwanted row too.
CREATE TABLE doubling AS SELECT i AS src, i + 1 AS dst, 2 AS weight FROM generate_series(1, 1100) i;
SELECT vertex, quantity::bigint FROM emogi_rollup('doubling', 1, 53) WHERE vertex = 54;
SELECT vertex, level, quantity FROM emogi_rollup('doubling', 1, 1023) WHERE vertex IN (1, 2, 1024);
SELECT vertex FROM emogi_rollup('doubling', 1) WHERE vertex = 3;
SELECT count(*) FROM emogi_rollup('SELECT src, dst, 0.5::float8 FROM doubling', 1) WHERE quantity > 0;

-- Random graphs: against a recursive query, on the engine, on the edges that are reached, and through an index.
CREATE TABLE net (src int, dst int, weight float8 NOT NULL);
CREATE FUNCTION by_definition(v int[], most int, OUT vertex int, OUT level int, OUT quantity float8) RETURNS SETOF record LANGUAGE sql AS $$
  WITH RECURSIVE p(vertex, length, product) AS (SELECT s, 0, 1::float8 FROM (SELECT DISTINCT s FROM unnest(v) s WHERE EXISTS (SELECT FROM net WHERE s IN (src, dst))) q
    UNION ALL SELECT dst, length + 1, product * weight FROM p JOIN net ON src = p.vertex WHERE length < coalesce(most, 100))
  SELECT p.vertex, max(length), sum(product) FROM p GROUP BY 1 ORDER BY 1 $$;
CREATE FUNCTION differs(v int[], most int) RETURNS int LANGUAGE sql VOLATILE AS $$
  SELECT count(*)::int FROM by_definition(v, most) a FULL JOIN emogi_rollup('net', v::bigint[], most) b ON a.vertex = b.vertex
  WHERE a.level IS DISTINCT FROM b.level OR a.quantity IS DISTINCT FROM b.quantity $$;
DO $$
DECLARE
  wrong int := 0;
  n int := 0;
  v int[];
BEGIN
  PERFORM setseed(0.5);
  FOR i IN 1 .. 60 LOOP
    TRUNCATE net;
    INSERT INTO net SELECT least(a, b), greatest(a, b), w FROM (SELECT (random() * 12)::int a, (random() * 12)::int b, (random() * 8)::int w FROM generate_series(1, 1 + i % 25)) e WHERE a <> b;
    FOR round IN 1 .. 3 LOOP
      v := ARRAY[(random() * 12)::int, (random() * 4)::int];
      PERFORM set_config('emogi.enable_local_search', (ARRAY['on', 'off'])[1 + n % 2], true);
      wrong := wrong + differs(v, NULL::int) + differs(v, (random() * 5)::int);
      INSERT INTO net VALUES (0, 12, 3), (20 + round, 40 + round, 1);
      wrong := wrong + differs(v, 4) + differs(ARRAY[20, 21], NULL::int);
      n := n + 4;
    END LOOP;
  END LOOP;
  RAISE NOTICE '% of % differ', wrong, n;
END $$;
CREATE TABLE tree (src int, dst int, weight float8 NOT NULL CHECK (weight >= 0 AND weight < 'Infinity'));
INSERT INTO tree SELECT i, 2 * i + j, 2 + j FROM generate_series(1, 40000) i, generate_series(0, 1) j;
CREATE INDEX ON tree (src);
CREATE INDEX ON tree (dst);
ANALYZE tree;
SET emogi.index_search_min_size = 0;
SELECT * FROM emogi_rollup('tree WHERE weight > 1', 10007);
SELECT engine, cache FROM emogi_runs WHERE pid = pg_backend_pid() ORDER BY id DESC LIMIT 1;
SELECT * FROM emogi_rollup('tree', 10007, 1);
SELECT engine, cache FROM emogi_runs WHERE pid = pg_backend_pid() ORDER BY id DESC LIMIT 1;
SELECT * FROM emogi_rollup('tree WHERE weight > 1', 33, direction => 'in');
INSERT INTO tree VALUES (40028, 40028, 3);
SELECT * FROM emogi_rollup('tree WHERE weight > 1', 10007);
DELETE FROM tree WHERE src = dst;
RESET emogi.index_search_min_size;

-- From the root, by the engine; an older graph with an overlay.
SELECT count(*), sum(level), sum(quantity) FROM emogi_rollup('tree', 1);
SELECT engine, reason FROM emogi_runs WHERE pid = pg_backend_pid() ORDER BY id DESC LIMIT 1;
INSERT INTO tree VALUES (40028, 100000, 5), (40031, 100000, 7);
SELECT * FROM emogi_rollup('tree', 10007);
SELECT engine, cache FROM emogi_runs WHERE pid = pg_backend_pid() ORDER BY id DESC LIMIT 1;
BEGIN;
INSERT INTO tree VALUES (100000, 20014, 1);
SELECT * FROM emogi_rollup('tree', 10007);
ROLLBACK;

RESET search_path;
SET client_min_messages = warning;
DROP SCHEMA rollup CASCADE;
