-- emogi.papers_mapping, emogi.placement, emogi.papers_prefetch and emogi.papers_asynchronous: no
-- value changes an answer, with any engine.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS emogi;
RESET client_min_messages;
CREATE SCHEMA test_mappings;
SET search_path = test_mappings, public;
SET emogi.enable_scan = on;
SET emogi.enable_local_search = off;	-- use the engines

-- The settings.
SELECT name, vartype, context, boot_val FROM pg_settings WHERE name IN ('emogi.papers_mapping', 'emogi.placement', 'emogi.papers_prefetch', 'emogi.papers_asynchronous') ORDER BY name COLLATE "C";
SET emogi.papers_mapping = 'strided';
SET emogi.papers_mapping = '';
SET emogi.placement = 'moon';
SET emogi.papers_prefetch = 'some';
SET emogi.papers_asynchronous = 2;
SET emogi.papers_mapping = 'Degree_Cut';
SHOW emogi.papers_mapping;
RESET emogi.papers_mapping;

-- A random graph: lists of all lengths up to a hub's, loops, parallel edges, small components;
-- weights of one, four, and eight bytes.
CREATE FUNCTION pick(i bigint, seed bigint, n bigint) RETURNS bigint LANGUAGE sql IMMUTABLE AS
  'SELECT (hashint8extended(i, seed) & 9223372036854775807) % n';
CREATE TABLE edges AS
  SELECT src, dst, pick(i, 6, 200)::int AS small, (pick(i, 7, 1000) / 8.0)::real AS fraction, 0.0001::float8 * (1 + pick(i, 8, 19)) AS weight
    FROM (SELECT i, pick(i, 1, 1 + pick(i, 2, 500)) AS src, pick(i, 3, 500) AS dst FROM generate_series(1, 3000) i
          UNION ALL SELECT 10000 + i, 17, i FROM generate_series(0, 299) i
          UNION ALL SELECT 20000 + i, i, 23 FROM generate_series(100, 420) i
          UNION ALL SELECT 30000 + i, 5000 + i % 3, 5000 + i % 7 FROM generate_series(1, 70) i) e;
CREATE TABLE starts AS SELECT i AS vertex, pick(i, 5, 1000) / 999.0::float8 AS value FROM generate_series(0, 499, 7) i;
SELECT count(*) AS edges, max(n) AS longest, count(*) FILTER (WHERE src = dst) AS loops FROM edges JOIN (SELECT src, count(*) AS n FROM edges GROUP BY src) l USING (src);

CREATE TABLE calls (name text PRIMARY KEY, exact bool, query text);
INSERT INTO calls VALUES
  ('bfs', true, $$SELECT vertex, level::float8 AS a, 0::float8 AS b FROM emogi_bfs('edges', 1)$$),
  ('bfs bounded', true, $$SELECT vertex, level, 0 FROM emogi_bfs('edges', ARRAY[1, 17, 5001, 4711], max_depth => 2, direction => 'in')$$),
  ('bfs of some', true, $$SELECT vertex, level, 0 FROM emogi_bfs('edges', 23, direction => 'both') WHERE vertex IN (1, 2, 300, 5001)$$),
  ('bfs of many', true, $$SELECT vertex, sum(level), count(*) FROM (VALUES (1), (17), (5002)) s(v), LATERAL emogi_bfs('edges', s.v) GROUP BY vertex$$),
  ('sssp', true, $$SELECT vertex, distance, 0 FROM emogi_sssp('edges', 1)$$),
  ('sssp small', true, $$SELECT vertex, distance, 0 FROM emogi_sssp('edges(src, dst, small)', ARRAY[1, 5000], direction => 'both')$$),
  ('sssp bounded', true, $$SELECT vertex, distance, 0 FROM emogi_sssp('edges(src, dst, fraction)', 3, max_distance => 90, direction => 'in')$$),
  ('sswp', true, $$SELECT vertex, width, 0 FROM emogi_sswp('edges(src, dst, fraction)', 1)$$),
  ('sswp both', true, $$SELECT vertex, width, 0 FROM emogi_sswp('edges(src, dst, small)', ARRAY[23, 5002], 'both')$$),
  ('ssnsp', true, $$SELECT vertex, level, paths FROM emogi_ssnsp('edges', 1)$$),
  ('ssnsp both', true, $$SELECT vertex, level, paths FROM emogi_ssnsp('edges', ARRAY[17, 5002], direction => 'both')$$),
  ('cc', true, $$SELECT vertex, component, 0 FROM emogi_cc('edges')$$),
  ('pagerank', false, $$SELECT vertex, rank, 0 FROM emogi_pagerank('edges', 0.9, 30, 0)$$),
  ('heat', false, $$SELECT vertex, value, 0 FROM emogi_heat('edges', 'TABLE starts', 30, 0)$$),
  ('circuit', false, $$SELECT vertex, value, 0 FROM emogi_circuit('edges', 'TABLE starts', 30, 0)$$),
  ('neural', false, $$SELECT vertex, value, 0 FROM emogi_neural('edges', 'TABLE starts', 30, 0)$$),
  ('shortest path', true, $$SELECT vertex, seq, distance FROM emogi_shortest_path('edges', 1, 23)$$);

-- Answers of the CPU, which ignores mappings.
CREATE TABLE answers (name text, vertex bigint, a float8, b float8, PRIMARY KEY (name, vertex));
DO $$
DECLARE
  c calls;
BEGIN
  SET LOCAL emogi.engine = cpu;
  FOR c IN SELECT * FROM calls LOOP
    EXECUTE format('INSERT INTO answers SELECT %L, * FROM (%s) q', c.name, c.query);
  END LOOP;
END $$;
SELECT name, count(*) AS rows, count(DISTINCT a) > 1 AS telling FROM answers GROUP BY name ORDER BY name COLLATE "C";

-- From here on a GPU is used, if there is one and the tests were not configured otherwise.
CREATE FUNCTION has_gpu() RETURNS bool LANGUAGE sql AS $$ SELECT bool_or(engine = 'cuda' AND state = 'ready') FROM emogi_devices $$;
DO $$ BEGIN
  IF current_setting('emogi.engine') = 'auto' AND has_gpu() THEN
    PERFORM set_config('emogi.engine', 'cuda', false);
  END IF;
END $$;
CREATE FUNCTION choose(mapping text, placement text, flags text) RETURNS void LANGUAGE sql AS
  $$ SELECT set_config('emogi.papers_mapping', mapping, false), set_config('emogi.placement', placement, false),
            set_config('emogi.papers_prefetch', flags, false), set_config('emogi.papers_asynchronous', flags, false) $$;

-- Count the wrong rows of a call: for sums, those that differ by 1e-9 of the maximum.
CREATE FUNCTION wrong_rows(c calls) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  slack float8 := CASE WHEN c.exact THEN 0 ELSE (SELECT 1e-9 * max(abs(a)) FROM answers WHERE name = c.name) END;
  wrong bigint;
BEGIN
  EXECUTE format('SELECT count(*) FILTER (WHERE (x.a = y.a AND x.b = y.b OR abs(x.a - y.a) <= $2 AND x.b = y.b) IS NOT TRUE)
    FROM (%s) x(vertex, a, b) FULL JOIN (SELECT * FROM answers WHERE name = $1) y USING (vertex)', c.query) INTO wrong USING c.name, slack;
  RETURN wrong;
END $$;
-- It detects errors: a row more, a row less, another value.
SELECT wrong_rows(ROW('cc', true, $$SELECT vertex, component + (vertex = 1)::int, 0 FROM emogi_cc('edges') WHERE vertex <> 2 UNION ALL SELECT -1, 0, 0$$)::calls) AS exact,
       wrong_rows(ROW('pagerank', false, $$SELECT vertex, rank + 1e-8 * (vertex = 1)::int, 0 FROM emogi_pagerank('edges', 0.9, 30, 0) WHERE vertex <> 2$$)::calls) AS sums;

-- Expected values of emogi_runs: for a run on a GPU the requested mapping, and a placement
-- compatible with the requested one; for others neither.
CREATE FUNCTION is_told(r emogi_runs, mapping text, placement text) RETURNS bool LANGUAGE sql AS $$
  SELECT CASE WHEN r.engine = 'cpu' THEN r.mapping IS NULL AND r.placement IS NULL
              ELSE r.engine = 'cuda' AND r.mapping = $2 AND CASE WHEN $2 IN ('shards', 'windows') THEN r.placement = 'device'
                WHEN $3 IN ('device', 'managed', 'staged') THEN r.placement = $3
                ELSE r.placement IN ('host', 'device', 'hybrid', 'peer') END END
$$;
-- All calls with every mapping and every placement, except the one unsupported pair.
CREATE TABLE outcomes (mapping text, placement text, flags text, name text, wrong bigint, told bool);
CREATE PROCEDURE try(mapping text, placement text, flags text) LANGUAGE plpgsql AS $$
DECLARE
  c calls;
  last bigint;
BEGIN
  PERFORM choose(mapping, placement, flags);
  FOR c IN SELECT * FROM calls ORDER BY name COLLATE "C" LOOP
    SELECT coalesce(max(id), 0) INTO last FROM emogi_runs;
    INSERT INTO outcomes SELECT mapping, placement, flags, c.name, wrong_rows(c);
    UPDATE outcomes o SET told = (SELECT bool_and(coalesce(is_told(r, o.mapping, o.placement), false)) FROM emogi_runs r WHERE r.id > last AND r.pid = pg_backend_pid())
     WHERE o.told IS NULL;
  END LOOP;
END $$;
DO $$
DECLARE
  way record;
BEGIN
  FOR way IN SELECT mapping, placement, flags FROM pg_settings m, unnest(m.enumvals) mapping, pg_settings p, unnest(p.enumvals) placement, unnest(ARRAY['off', 'on']) flags
              WHERE m.name = 'emogi.papers_mapping' AND p.name = 'emogi.placement' AND (flags = 'off' OR placement IN ('managed', 'staged'))
                AND (mapping, placement) <> ('degree_cut', 'staged') LOOP
    CALL try(way.mapping, way.placement, way.flags);
  END LOOP;
END $$;
SELECT mapping, count(*) AS calls, count(DISTINCT (placement, flags)) AS ways, sum(wrong) AS wrong_rows, count(*) FILTER (WHERE told) AS told FROM outcomes GROUP BY mapping ORDER BY mapping COLLATE "C";
SELECT * FROM outcomes WHERE wrong <> 0 OR told IS NOT TRUE ORDER BY mapping, placement, flags, name COLLATE "C";

-- Sums: two runs give the same bits.
DO $$
DECLARE
  way record;
  sums int;
BEGIN
  FOR way IN SELECT DISTINCT o.mapping, o.placement, c.name, c.query FROM outcomes o JOIN calls c USING (name) WHERE NOT c.exact ORDER BY 1, 2, 3 LOOP
    PERFORM choose(way.mapping, way.placement, 'off');
    EXECUTE format('SELECT count(DISTINCT sum) FROM (SELECT md5(string_agg(q::text, '' '')) AS sum FROM (%1$s) q UNION ALL SELECT md5(string_agg(q::text, '' '')) FROM (%1$s) q) s',
      way.query) INTO sums;
    IF sums <> 1 THEN
      RAISE WARNING '% differs from itself: % %', way.name, way.mapping, way.placement;
    END IF;
  END LOOP;
END $$;

-- EXPLAIN ANALYZE shows the mapping if a GPU used another than auto.
CREATE FUNCTION explained(asked text, options text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  plan json;
  expected text;
BEGIN
  PERFORM choose(asked, 'device', 'off');
  EXECUTE format('EXPLAIN (%s, FORMAT JSON) SELECT * FROM emogi_bfs(''edges'', 1)', options) INTO plan;
  plan := plan -> 0 -> 'Plan';
  expected := CASE WHEN options LIKE 'ANALYZE%' AND plan ->> 'Engine' = 'cuda' AND asked <> 'auto' THEN asked END;
  RETURN CASE WHEN plan ->> 'Engine' IS NULL THEN 'no engine' WHEN plan ->> 'Mapping' IS DISTINCT FROM expected THEN plan ->> 'Mapping' ELSE 'as it should be' END;
END $$;
SELECT asked, explained(asked, 'ANALYZE, TIMING OFF'), explained(asked, 'COSTS OFF') AS without FROM unnest(ARRAY['auto', 'aligned', 'windows']) asked;

-- Degree cut of staged lists: a GPU rejects that with a hint; the CPU ignores it.
SELECT choose('degree_cut', 'staged', 'off');
CREATE FUNCTION outcome(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  message text;
  hint text;
BEGIN
  EXECUTE query;
  RETURN 'answered';
EXCEPTION WHEN invalid_parameter_value THEN
  GET STACKED DIAGNOSTICS message = MESSAGE_TEXT, hint = PG_EXCEPTION_HINT;
  RETURN CASE WHEN message <> '' AND hint = 'Choose another emogi.papers_mapping (degree_cut now) or emogi.placement (staged now).' THEN 'refused' ELSE message || ': ' || hint END;
END $$;
SELECT name FROM calls WHERE exact AND name NOT IN ('bfs of many', 'shortest path')
   AND outcome(query) <> CASE current_setting('emogi.engine') WHEN 'cuda' THEN 'refused' ELSE 'answered' END;

-- With emogi.engine = auto the CPU answers, and emogi_runs shows the reason.
SET emogi.engine = auto;
SELECT count(*), sum(level) FROM emogi_bfs('SELECT i % 1024, i FROM generate_series(1, 1048576) i', 1);
SELECT engine, mapping, placement, reason LIKE CASE WHEN has_gpu() THEN 'the GPU refused: _%' ELSE 'there is no GPU: _%' END AS why
  FROM emogi_runs WHERE pid = pg_backend_pid() ORDER BY id DESC LIMIT 1;
