-- A cost for each direction: which edges exist, and which costs are errors, is the same for all
-- readers of rows. A numeric beyond the range of float8 is an error even if it is negative, and so
-- is NULL; other negative costs, including -Infinity, mean that there is no edge.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS emogi;
RESET client_min_messages;
CREATE SCHEMA test_direction_costs;
SET search_path = test_direction_costs, public;
\pset format unaligned
\pset tuples_only on

-- The result of a query: text, or the error with DETAIL and HINT.
CREATE FUNCTION outcome(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  result text;
  detail text;
  hint text;
BEGIN
  EXECUTE query INTO result;
  RETURN result;
EXCEPTION WHEN OTHERS THEN
  GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT;
  RETURN concat_ws(' | ', SQLSTATE, SQLERRM, detail, hint);
END $$;
-- The distances from vertex 1 of a graph.
CREATE FUNCTION distances(graph text, source text DEFAULT '1') RETURNS text LANGUAGE sql AS $$
  SELECT outcome(format($q$SELECT string_agg(vertex::text || ':' || distance, ' ' ORDER BY vertex::text) FROM emogi_sssp(%L, %s)$q$, graph, source)) $$;

-- A row with costs of these types among valid ones, as each reader finds it. Prints their results,
-- and if they differ, which ones.
CREATE PROCEDURE compare(cost_type text, reverse_type text, bad text) LANGUAGE plpgsql AS $$
DECLARE
  reader text;
  found text;
  outcomes jsonb := '{}';
  outcome text;
BEGIN
  EXECUTE format('CREATE TABLE e (source bigint, target bigint, cost %s, reverse_cost %s)', cost_type, reverse_type);
  INSERT INTO e SELECT i, i + 1, 1, 1 FROM generate_series(1, 4) i;
  EXECUTE format('CREATE TABLE named (source text, target text, cost %s, reverse_cost %s)', cost_type, reverse_type);
  EXECUTE format('CREATE TABLE other (a bigint, b bigint, c %s, d %s, name text)', cost_type, reverse_type);
  EXECUTE format('CREATE TABLE parts (source bigint, target bigint, cost %s, reverse_cost %s) PARTITION BY LIST (source)', cost_type, reverse_type);
  CREATE TABLE parts_2 PARTITION OF parts FOR VALUES IN (2);
  CREATE TABLE parts_rest PARTITION OF parts DEFAULT;
  CREATE VIEW seen AS SELECT a AS source, b AS target, c AS cost, d AS reverse_cost FROM other;
  CREATE INDEX ON e (source);
  CREATE INDEX ON e (target);
  PERFORM distances('e');		-- cached: the row changes it
  EXECUTE format('INSERT INTO e VALUES (2, 7, %s)', bad);
  INSERT INTO named SELECT source, target, cost, reverse_cost FROM e;
  INSERT INTO other SELECT * FROM e;
  INSERT INTO parts SELECT * FROM e;
  FOREACH reader IN ARRAY ARRAY['own changes', 'e', 'again', 'named', 'parts', 'seen', 'seen again', 'query', 'query again', 'condition', 'rows', 'volatile', 'vertices'] LOOP
    FOREACH found IN ARRAY ARRAY['on', 'off'] LOOP
      PERFORM set_config('emogi.enable_cache', found, true);
      outcome := CASE reader
          WHEN 'own changes' THEN distances('e')
          WHEN 'named' THEN distances('named', $q$'1'$q$)
          WHEN 'parts' THEN distances('parts')
          WHEN 'seen' THEN distances('seen') WHEN 'seen again' THEN distances('seen')
          WHEN 'query' THEN distances('SELECT source, target, cost, reverse_cost FROM e')
          WHEN 'query again' THEN distances('SELECT source, target, cost, reverse_cost FROM e')
          WHEN 'condition' THEN distances('other(a, b, c, d, name) WHERE a > 0')
          WHEN 'rows' THEN regexp_replace(distances('SELECT ROW(0, source) AS src, ROW(0, target) AS dst, cost, reverse_cost FROM e', $q$'(0,1)'$q$), '\(0,(\d+)\)', '\1', 'g')
          WHEN 'volatile' THEN distances('SELECT source, target, cost, reverse_cost FROM e WHERE random() < 2')
          WHEN 'vertices' THEN distances(emogi_with_vertices('e', 'SELECT 1'))
          ELSE distances('e') END;
      outcomes := jsonb_set(outcomes, ARRAY[outcome], coalesce(outcomes -> outcome, '""') || to_jsonb(reader || ' ' || found));
    END LOOP;
  END LOOP;
  PERFORM set_config('emogi.enable_cache', 'on', true);
  FOR outcome, found IN SELECT key, value::text FROM jsonb_each(outcomes) LOOP
    RAISE INFO '%, % (%): %', cost_type, reverse_type, bad, CASE WHEN outcomes - outcome = '{}' THEN outcome ELSE outcome || ' ' || found END;
  END LOOP;
  DROP VIEW seen;
  DROP TABLE e, named, other, parts;
END $$;
CALL compare('numeric', 'numeric', '1, -1e400');
CALL compare('numeric', 'numeric', '-1e400, 1');
CALL compare('numeric', 'numeric', '1, -1e-400');
CALL compare('numeric', 'numeric', '1, 1e400');
CALL compare('numeric', 'numeric', $$1, '-Infinity'$$);
CALL compare('numeric', 'numeric', '-1e308, -1e-307');
CALL compare('numeric', 'numeric', $$1, 'NaN'$$);
CALL compare('numeric', 'numeric', '1, NULL');
CALL compare('numeric', 'numeric', 'NULL, 1');
CALL compare('float8', 'float8', '1, NULL');
CALL compare('float8', 'float8', 'NULL, -1');
CALL compare('float8', 'float8', $$'-Infinity', 2$$);
CALL compare('float8', 'numeric', '1, -1e400');
CALL compare('numeric', 'real', '-1e-400, 1');
CALL compare('numeric', 'bigint', '0.1, 9007199254740993');
CALL compare('bigint', 'numeric', '-1, 0.1');
CALL compare('numeric', 'int', '1, NULL');
CALL compare('real', 'bigint', 'NULL, 1');
-- Rows committed after the graph was cached.
CREATE TABLE later AS SELECT i AS source, i + 1 AS target, 1::numeric AS cost, 1::numeric AS reverse_cost FROM generate_series(1, 4) i;
SELECT distances('later'), distances('later WHERE source > 0'), distances('later WHERE source > 0');
INSERT INTO later VALUES (2, 7, 1, -1e400);
SELECT distances('later');
SELECT distances('later WHERE source > 0');
UPDATE later SET reverse_cost = NULL WHERE target = 7;
SELECT distances('later');
SELECT distances('later WHERE source > 0');
UPDATE later SET reverse_cost = -1 WHERE target = 7;
SELECT distances('later'), distances('later WHERE source > 0');
-- Tables with other column names, read from their pages for a query: errors have the names of the
-- query.
CREATE TABLE renamed AS SELECT source AS a, target AS b, cost AS c, reverse_cost AS d, 1 AS e FROM later;
CREATE VIEW renamed_roads AS SELECT a AS source, b AS target, c AS cost, d AS reverse_cost FROM renamed;
SELECT distances('renamed_roads'), distances('renamed_roads');
INSERT INTO renamed VALUES (3, 8, 1, NULL, 1);
SELECT distances('renamed_roads');
SELECT distances('renamed(a, b, c, d, e)');
DROP VIEW renamed_roads;
-- A row with a NULL endpoint is not an edge, whatever its cost.
CREATE TABLE ends (source bigint, target bigint, cost numeric, reverse_cost numeric);
INSERT INTO ends VALUES (1, 2, 1, 1), (NULL, 2, 1e400, NULL), (2, NULL, NULL, -1e400);
SELECT distances('ends'), distances('SELECT source, target, cost, reverse_cost FROM ends WHERE random() < 2'),
       distances('SELECT source, target, cost AS weight FROM ends WHERE random() < 2');

-- The functions that read queries check their arguments.
SELECT _emogi_no_cost(1, 'x'::text, true, 'cost', 'reverse');
SELECT _emogi_no_cost(ROW(1, 2), ROW(3, 4), false, 'cost', 'reverse');
SELECT _emogi_no_cost(ROW(1, NULL), ROW(3, 4), false, 'cost', 'reverse') IS NULL, _emogi_no_cost(NULL::int, 1, true, 'cost', 'reverse') IS NULL;
SELECT _emogi_no_cost(1, 2, true, NULL, 'reverse');
SELECT _emogi_weight(1.5, 1, 2), _emogi_weight(1e400, NULL::int, 2) IS NULL;

-- An index search replaces a build that would read such a cost only if no row can have one.
SET emogi.index_search_min_size = 0;
SET emogi.enable_incremental = off;
CREATE TABLE roads AS SELECT i AS source, i + 1 AS target, 1::numeric AS cost, 1::numeric AS reverse_cost FROM generate_series(1, 5000) i;
INSERT INTO roads VALUES (4000, 7000, 1, -1e400);
CREATE INDEX ON roads (source);
CREATE INDEX ON roads (target);
VACUUM ANALYZE roads;
SELECT outcome('SELECT count(*) FROM emogi_bfs(''roads'', 1, 2)');
SELECT outcome('SELECT count(*) FROM emogi_bfs(''roads WHERE source > 0'', 1, 2)');
UPDATE roads SET reverse_cost = NULL WHERE target = 7000;
SELECT outcome('SELECT count(*) FROM emogi_bfs(''roads'', 1, 2)');
SELECT outcome('SELECT count(*) FROM emogi_bfs(''roads WHERE source > 0'', 1, 2)');
DELETE FROM roads WHERE target = 7000;
VACUUM roads;
SELECT outcome('SELECT count(*) FROM emogi_bfs(''roads WHERE source > 0'', 1, 2)');
SET client_min_messages = warning;
DROP SCHEMA test_direction_costs CASCADE;
