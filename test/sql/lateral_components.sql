-- Unlimited LATERAL searches in a large graph: single searches if samples show small components,
-- otherwise a batch. Both return the same rows.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS emogi;
CREATE SCHEMA test_lateral_components;
SET search_path = test_lateral_components, public;
SET emogi.engine = cpu;
\pset format unaligned
\pset tuples_only on
CREATE TABLE parts (src int, dst int);
INSERT INTO parts SELECT v, v + 1 FROM generate_series(1, 400000) v WHERE v % 4 <> 0;
CREATE TABLE whole AS SELECT src, dst FROM parts UNION ALL SELECT v, v / 4 FROM generate_series(4, 400000) v;
VACUUM ANALYZE parts;
VACUUM ANALYZE whole;
SELECT count(*) FROM emogi_prewarm('parts', 'both') p, emogi_prewarm('whole', 'both') w;
CREATE FUNCTION plan(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
  line text;
BEGIN
  FOR line IN EXECUTE 'EXPLAIN (COSTS off) ' || query LOOP
    IF line ~ 'Custom Scan' THEN RETURN NEXT btrim(line); END IF;
  END LOOP;
END $$;
SELECT plan('SELECT count(*) FROM generate_series(1, 100) s, LATERAL emogi_bfs(''parts'', s, direction => ''both'')');
SELECT plan('SELECT * FROM generate_series(1, 100) s, LATERAL emogi_bfs(''parts'', s, direction => ''both'')');
SELECT plan('SELECT count(*) FROM generate_series(1, 10) s, LATERAL emogi_bfs(''whole'', s, direction => ''both'')');
-- many rows cost more than a pass
SELECT plan('SELECT count(*) FROM generate_series(1, 100000) s, LATERAL emogi_bfs(''parts'', s, direction => ''both'')');
-- a limit selects single searches
SELECT plan('SELECT count(*) FROM generate_series(1, 10) s, LATERAL emogi_bfs(''whole'', s, 2, direction => ''both'')');
CREATE FUNCTION answer(graph text, high int) RETURNS text LANGUAGE sql AS $$
  SELECT count(*) || ' ' || sum(level) || ' ' || sum(vertex - s) FROM generate_series(high - 9, high) s, LATERAL emogi_bfs(graph, s, direction => 'both') $$;
SELECT answer('parts', 10), answer('parts', 399999), answer('whole', 10);
SET emogi.enable_batch = off;
SELECT answer('parts', 10), answer('parts', 399999), answer('whole', 10);
-- estimates: also of an unknown argument
SET plan_cache_mode = force_generic_plan;
PREPARE reached(int, text) AS SELECT * FROM emogi_bfs('parts', $1, direction => 'both');
CREATE FUNCTION estimate(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  plan json;
BEGIN
  EXECUTE 'EXPLAIN (FORMAT json) ' || query INTO plan;
  RETURN plan -> 0 -> 'Plan' ->> 'Plan Rows';
END $$;
SELECT estimate('EXECUTE reached(5, NULL)');
DEALLOCATE reached;
DROP SCHEMA test_lateral_components CASCADE;
