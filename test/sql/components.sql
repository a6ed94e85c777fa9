-- Components cached with their graph: emogi_cc combines them with edges inserted since. After
-- deletions the engine runs again. The rows are the same.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS emogi;
RESET client_min_messages;
CREATE SCHEMA test_components;
SET search_path = test_components, public;
SET emogi.engine = 'auto';
SET emogi.incremental_min_size = 0;
\pset format unaligned
\pset tuples_only on

CREATE FUNCTION last() RETURNS text LANGUAGE sql VOLATILE AS
  $$ SELECT format('%s by %s', cache, CASE engine WHEN 'backend' THEN engine ELSE 'the engine' END) FROM emogi_runs WHERE pid = pg_backend_pid() ORDER BY id DESC LIMIT 1 $$;
-- All rows, and the rows found without the cache, under one snapshot.
CREATE FUNCTION components(graph text) RETURNS text LANGUAGE sql STABLE AS $$ SELECT string_agg(vertex || ':' || component, ' ') FROM emogi_cc(graph) $$;
CREATE FUNCTION anew(graph text) RETURNS text LANGUAGE sql STABLE SET emogi.enable_local_search = off SET emogi.enable_cache = off AS
  $$ SELECT string_agg(vertex || ':' || component, ' ') FROM emogi_cc(graph) $$;
CREATE FUNCTION is_right(graph text) RETURNS bool LANGUAGE sql STABLE AS $$ SELECT components(graph) IS NOT DISTINCT FROM anew(graph) $$;

-- The execution method. Keys are even; one out of ten lists is cut.
CREATE TABLE edges (src bigint, dst bigint, weight float8);
INSERT INTO edges SELECT i * 2, i * 2 + 2, 1 FROM generate_series(1, 60) i WHERE i % 10 <> 0;
INSERT INTO edges VALUES (-1000, -1002, 1), (9000, 9002, 1);
SELECT components('edges');
SELECT last();
SELECT components('edges') = anew('edges');
SELECT components('edges') IS NOT NULL;
SELECT last();
SELECT * FROM emogi_cc('edges') WHERE vertex IN (30, 4, 5, -1000, 9002, 4);
SELECT last();
SELECT * FROM emogi_cc('edges') WHERE vertex = 5;
SELECT last();
SELECT count(*) FROM emogi_cc('edges(dst, src, weight)');
SELECT last();
SET emogi.enable_local_search = off;
SELECT count(*) FROM emogi_cc('edges');
SELECT last();
SET emogi.enable_local_search = on;
SET emogi.enable_scan = off;
SELECT count(*) FROM emogi_cc('edges') WHERE vertex < 30;
SELECT last();
SET emogi.enable_scan = on;

-- Inserted edges: within a component, between two, with new vertices before, between and after
-- others; a loop; parallel ones; one with a NULL endpoint.
INSERT INTO edges VALUES (6, 10, 1);
SELECT components('edges') = anew('edges'), components('edges');
INSERT INTO edges VALUES (20, 24, 1), (60, 44, 1), (NULL, 3, 1);
SELECT components('edges');
SELECT last();
INSERT INTO edges VALUES (-999, 100, 1), (61, 63, 1), (63, 8000, 1), (101, 101, 1), (9001, 9003, 1), (9001, 9003, 1), (8000, 9000, 1);
SELECT components('edges') = anew('edges'), components('edges');
SELECT components('edges') IS NOT NULL;
SELECT last();
SELECT * FROM emogi_cc('edges') WHERE vertex IN (-1002, -999, 63, 100, 101, 102, 103, 9003) ORDER BY vertex DESC;
SELECT last();
SELECT component, count(*) FROM emogi_cc('edges') GROUP BY component ORDER BY component;
CREATE FUNCTION plan(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
  line text;
BEGIN
  FOR line IN EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) ' || query LOOP
    IF line ~ '(Graph|Vertices|Edges|Engine|Levels|Edges Traversed):' THEN
      RETURN NEXT trim(line);
    END IF;
  END LOOP;
END $$;
SELECT plan('SELECT * FROM emogi_cc(''edges'') WHERE vertex = 100');
SELECT plan('SELECT * FROM emogi_cc(''edges'')');
-- A lookup for each row of a join.
SELECT v, component FROM (VALUES (-999), (5), (61), (100)) n(v) LEFT JOIN emogi_cc('edges') ON vertex = v ORDER BY v;

-- Edges inserted and deleted since the run have no effect. Other deletions: the engine.
DELETE FROM edges WHERE src = 63 AND dst = 8000;
SELECT components('edges') = anew('edges');
SELECT components('edges') IS NOT NULL;
SELECT last();
DELETE FROM edges WHERE src IN (6, 24);
SELECT components('edges') = anew('edges');
SELECT components('edges') IS NOT NULL;
SELECT last();
INSERT INTO edges VALUES (63, 8000, 1), (70, 9100, 1);
UPDATE edges SET weight = 7;
DELETE FROM edges WHERE dst = 9100;
SELECT components('edges') = anew('edges');
SELECT components('edges') IS NOT NULL;
SELECT last();

-- Own changes, and their rollback.
BEGIN;
INSERT INTO edges VALUES (2, -5000), (22, 9000);
SELECT is_right('edges');
SELECT components('edges') IS NOT NULL;
SELECT last();
SAVEPOINT s;
DELETE FROM edges WHERE src = 2;
SELECT is_right('edges');
SELECT components('edges') IS NOT NULL;
SELECT last();
ROLLBACK TO s;
INSERT INTO edges VALUES (11, 13);
SELECT is_right('edges');
ROLLBACK;
SELECT is_right('edges');
SELECT components('edges') IS NOT NULL;
SELECT last();

-- They are counted, and evicted with their graph.
CREATE FUNCTION bytes() RETURNS bigint LANGUAGE sql AS $$ SELECT coalesce(sum(bytes), 0)::bigint FROM emogi_graphs WHERE source = 'edges' AND state = 'ready' $$;
SELECT emogi_evict('edges') > 0, bytes();
SELECT count(*) FROM emogi_bfs('edges', 2);
SELECT bytes() AS before \gset
SELECT count(*) FROM emogi_cc('edges');
SELECT last();
SELECT bytes() > :before;
SELECT sum(bytes) = (SELECT bytes FROM emogi_cache) FROM emogi_graphs;
SELECT emogi_evict('edges') > :before, bytes();
SELECT count(*) FROM emogi_cc('edges');
SELECT last();
-- Not with settings that require the engine, nor for private graphs.
SELECT emogi_evict('edges') > 0;
SET emogi.enable_local_search = off;
SELECT count(*) FROM emogi_cc('edges');
SELECT last();
SET emogi.enable_local_search = on;
SELECT count(*) FROM emogi_cc('edges');
SELECT last();
SELECT count(*) FROM emogi_cc('edges');
SELECT last();
SELECT count(*) FROM emogi_cc('SELECT * FROM edges');
SELECT last();
SELECT count(*) FROM emogi_cc('SELECT * FROM edges');
SELECT last();

-- A graph of the other direction, or of both, or with weights.
CREATE TABLE ways (src int, dst int, weight float8);
CREATE PROCEDURE go(way text) LANGUAGE plpgsql AS $$
BEGIN
  TRUNCATE ways;
  INSERT INTO ways SELECT i, i + 1, 2 FROM generate_series(1, 50) i WHERE i % 7 <> 0 UNION ALL SELECT -10, -11, 1;
  COMMIT;
  PERFORM emogi_evict('ways');
  PERFORM count(*) FROM emogi_bfs('ways', 1, direction => way);
  PERFORM components('ways');
  INSERT INTO ways VALUES (7, 8, 0.5), (-3, 49, 1), (30, 30, 1), (60, 14, 300);
  COMMIT;
  ASSERT is_right('ways'), way;
  PERFORM components('ways');
END $$;
CALL go('in');
SELECT last();
CALL go('both');
SELECT last();
CALL go('out');
SELECT last();
SELECT emogi_evict('ways') > 0;
SELECT count(*) FROM emogi_sssp('ways', 1);
SELECT components('ways') = anew('ways');
INSERT INTO ways VALUES (100, 1, 0.1), (21, 22, 9);
SELECT components('ways') = anew('ways');
DROP TABLE ways;

-- Random histories: edges are inserted, some deleted, with existing and new keys everywhere.
CREATE TABLE net (src int, dst int, weight int);
CREATE FUNCTION key() RETURNS int LANGUAGE sql VOLATILE AS
  $$ SELECT CASE WHEN random() < 0.2 THEN (random() * 4400)::int - 200 ELSE (random() * 400)::int * 10 END $$;
INSERT INTO net SELECT key(), key(), i FROM (SELECT setseed(0.25)) s, generate_series(1, 250) i;
INSERT INTO net VALUES (-1000, -1000);
SELECT components('net') = anew('net');
CREATE PROCEDURE histories(commits bool) LANGUAGE plpgsql AS $$
DECLARE
  overlay int := 0;
  merged int := 0;
  wrong int := 0;
  wanted int[];
  answer text;
BEGIN
  PERFORM setseed(0.75);
  FOR i IN 1 .. 300 LOOP
    IF i % 25 = 0 AND commits THEN
      DELETE FROM net WHERE ctid IN (SELECT ctid FROM net ORDER BY random() LIMIT 60);
    ELSIF i % 7 = 0 THEN
      UPDATE net SET weight = weight + 1 WHERE src % 3 = 0;
    ELSE
      INSERT INTO net SELECT key(), key(), i FROM generate_series(1, CASE WHEN i % 11 = 0 THEN 40 ELSE 1 END);
    END IF;
    IF commits THEN
      COMMIT;
    END IF;
    answer := components('net');
    overlay := overlay + (last() = 'overlay by backend')::int;
    merged := merged + (last() = 'merged by the engine')::int;
    wrong := wrong + (answer IS DISTINCT FROM anew('net'))::int;
    wanted := ARRAY(SELECT key() FROM generate_series(1, 5));
    wrong := wrong + ((SELECT string_agg(vertex || ':' || component, ' ') FROM emogi_cc('net') WHERE vertex = ANY (wanted)) IS DISTINCT FROM
      (SELECT string_agg(vertex || ':' || component, ' ') FROM emogi_cc('SELECT * FROM net') WHERE vertex = ANY (wanted)))::int;
  END LOOP;
  ASSERT wrong = 0, wrong;
  ASSERT overlay > 150, overlay;
  ASSERT merged > 5 OR NOT commits, merged;
END $$;
CALL histories(true);
CALL histories(false);

-- Too many changes, and all of them.
INSERT INTO net SELECT 5000 + i, 5001 + i FROM generate_series(1, 1100) i;
SELECT is_right('net');
SELECT components('net') IS NOT NULL;
SELECT last();
BEGIN;
DELETE FROM net;
SELECT count(*) FROM emogi_cc('net');
INSERT INTO net VALUES (3, 4);
SELECT components('net');
ROLLBACK;
-- Calls that repeatedly find the same changes eventually merge the graph.
SELECT is_right('net');
INSERT INTO net VALUES (1, 20000);
DO $$
DECLARE
  seen text[];
BEGIN
  FOR i IN 1 .. 30 LOOP
    PERFORM count(*) FROM emogi_cc('net');
    seen := seen || last();
  END LOOP;
  ASSERT seen[1] = 'overlay by backend', seen[1];
  ASSERT seen[30] = 'hit by backend', seen[30];
  ASSERT array_position(seen, 'merged by backend') BETWEEN 10 AND 25, seen;
END $$;

-- A merged graph for others has them, too, unless an edge was deleted, but not forever if they are
-- unused.
INSERT INTO net VALUES (2, 20002), (1, 100);
SELECT ok, cache FROM emogi_check('net');
SELECT is_right('net');
SELECT count(*) > 0 FROM emogi_cc('net');
SELECT last();
CREATE PROCEDURE splice(times int) LANGUAGE plpgsql AS $$
BEGIN
  FOR i IN 1 .. times LOOP
    INSERT INTO net SELECT 20002, 20002 + i;
    COMMIT;
    ASSERT (SELECT ok AND cache = 'merged' FROM emogi_check('net'));
  END LOOP;
END $$;
CALL splice(8);
SELECT count(*) > 0 FROM emogi_cc('net');
SELECT last();
CALL splice(8);
SELECT is_right('net');
CALL splice(9);
SELECT count(*) > 0 FROM emogi_cc('net');
SELECT last();
DELETE FROM net WHERE src = 20002 AND dst = 20003;
SELECT ok, cache FROM emogi_check('net');
SELECT count(*) > 0 FROM emogi_cc('net');
SELECT last();
SELECT is_right('net');

-- Newer graphs of other directions, without components, do not replace the graph that has them.
CREATE TABLE rings (src int, dst int);
INSERT INTO rings SELECT i / 8 * 10 + i % 8, i / 8 * 10 + (i * 3 + 1) % 8 FROM generate_series(0, 799) i;
INSERT INTO rings VALUES (-1000, -1000);
SELECT count(DISTINCT component) FROM emogi_cc('rings');
SELECT count(*) FROM emogi_bfs('rings', 1, direction => 'both');
SELECT last();
SELECT count(*) > 0 FROM emogi_cc('rings');
SELECT last();
INSERT INTO rings VALUES (7, 17);
SELECT component FROM emogi_cc('rings') WHERE vertex = 17;
SELECT last();
SELECT count(*) FROM emogi_bfs('rings', 1, direction => 'in');
SELECT last();
INSERT INTO rings VALUES (17, 27);
SELECT component FROM emogi_cc('rings') WHERE vertex = 27;
SELECT last();
INSERT INTO rings VALUES (27, 37);
SELECT ok, cache FROM emogi_check('rings', 'both');
SELECT ok, cache FROM emogi_check('rings');
SELECT count(*) > 0 FROM emogi_cc('rings');
SELECT last();
SELECT is_right('rings');
CREATE PROCEDURE grow(direction text) LANGUAGE plpgsql AS $$
DECLARE
  seen text[];
  wrong int := 0;
BEGIN
  FOR i IN 1 .. 40 LOOP
    INSERT INTO rings VALUES (i * 10 + 7, i * 20 + 7), (i * 10 + 9, -i);
    COMMIT;
    wrong := wrong + ((SELECT component FROM emogi_cc('rings') WHERE vertex = i * 10 + 7) IS DISTINCT FROM
      (SELECT component FROM emogi_cc('SELECT * FROM rings') WHERE vertex = i * 10 + 7))::int;
    PERFORM FROM emogi_cc('rings') WHERE vertex = i * 10 + 7;
    seen := seen || last();
    PERFORM FROM emogi_cc('rings') WHERE component = 1;
    seen := seen || last();
    IF i % 10 = 0 THEN
      PERFORM count(*) FROM emogi_bfs('rings', 1, direction => grow.direction);
    END IF;
  END LOOP;
  ASSERT wrong = 0, wrong;
  ASSERT 'overlay by backend' = ALL (seen), seen;
END $$;
CALL grow('both');
SELECT is_right('rings');
-- Without edges, a graph of any direction is merged and run; afterwards that one has them.
DELETE FROM rings WHERE src = 7 AND dst = 17;
SELECT is_right('rings');
SELECT count(*) > 0 FROM emogi_bfs('rings', 1, direction => 'both');
SELECT count(*) > 0 FROM emogi_bfs('rings', 1, direction => 'in');
CALL grow('in');
SELECT is_right('rings');
CREATE PROCEDURE turns() LANGUAGE plpgsql AS $$
DECLARE
  wrong int := 0;
  overlay int := 0;
BEGIN
  PERFORM setseed(0.5);
  FOR i IN 1 .. 200 LOOP
    IF i % 40 = 0 THEN
      DELETE FROM rings WHERE ctid IN (SELECT ctid FROM rings ORDER BY random() LIMIT 20);
    ELSIF i % 3 > 0 THEN
      INSERT INTO rings SELECT (random() * 1100)::int, (random() * 1100)::int;
    END IF;
    COMMIT;
    IF random() < 0.3 THEN
      PERFORM count(*) FROM emogi_bfs('rings', 1, direction => (ARRAY['out', 'in', 'both'])[1 + i % 3]);
    END IF;
    wrong := wrong + (NOT is_right('rings'))::int;
    PERFORM FROM emogi_cc('rings') WHERE vertex = i;
    overlay := overlay + (last() = 'overlay by backend')::int;
  END LOOP;
  ASSERT wrong = 0, wrong;
  ASSERT overlay > 100, overlay;
END $$;
CALL turns();

-- Many rows, read by parallel workers.
CREATE TABLE large (src int, dst int);
INSERT INTO large SELECT i, i + 1 FROM generate_series(0, 900000, 3) i UNION ALL SELECT -100, -100;
SELECT count(*) FROM emogi_cc('large');
INSERT INTO large VALUES (-7, 300000), (450001, 450000), (600002, 600000), (600002, 100000000);
CREATE FUNCTION summary() RETURNS text LANGUAGE sql STABLE AS
  $$ SELECT format('%s %s %s %s', count(*), sum(vertex), sum(component), count(*) FILTER (WHERE component > vertex)) FROM emogi_cc('large') $$;
SELECT summary();
SELECT last();
SELECT * FROM emogi_cc('large') WHERE vertex IN (-7, 300000, 300001, 450001, 600002, 100000000, 899998);
SELECT last();
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET max_parallel_workers_per_gather = 2;
SELECT count(*), sum(vertex), sum(component) FROM emogi_cc('large');
SELECT last();
SELECT count(*), sum(vertex), sum(component) FROM emogi_cc('large') WHERE vertex IN (-7, 300000, 450001, 100000000);
RESET max_parallel_workers_per_gather;
BEGIN;
DECLARE c CURSOR FOR SELECT * FROM emogi_cc('large') WHERE vertex > 299998;
FETCH 2 FROM c;
SELECT emogi_evict('large') > 0;
INSERT INTO large VALUES (300003, 300000);
FETCH 2 FROM c;
COMMIT;
SELECT summary() = (SELECT format('%s %s %s %s', count(*), sum(vertex), sum(component), count(*) FILTER (WHERE component > vertex)) FROM emogi_cc('SELECT * FROM large'));

SELECT emogi_evict() > 0;
SELECT graphs, bytes, tracker_bytes FROM emogi_cache;
SET client_min_messages = warning;
DROP SCHEMA test_components CASCADE;
