-- Graphs of queries with values of the call, on a table written between all calls: graphs of values
-- used twice are soon evicted, with their change trackers; those of repeatedly used values stay and
-- track the table.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS emogi;
RESET client_min_messages;
CREATE SCHEMA test_value_graphs;
SET search_path = test_value_graphs, public;
SET emogi.engine = 'cpu';
SET emogi.incremental_min_size = 0;
SET emogi.enable_index_search = off;
\pset format unaligned
\pset tuples_only on
\pset null (null)
SELECT emogi_evict() IS NOT NULL;
CREATE TABLE ev (src int, dst int, at int, kind int);
SELECT setseed(0.5);
INSERT INTO ev SELECT random() * 300, random() * 300, i, i % 90 FROM generate_series(1, 6000) i;
ANALYZE ev;
CREATE FUNCTION plain(condition text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  n text;
BEGIN
  EXECUTE format('SELECT count(*) || '' '' || coalesce(sum(d), 0) FROM (SELECT src, count(*) d FROM (SELECT src FROM ev WHERE %s UNION ALL SELECT dst FROM ev WHERE %s AND false) e GROUP BY 1) q', condition, condition) INTO n;
  RETURN n;
END $$;
-- Degrees of the edges with a value, from a graph, compared with counts by a query; the number of
-- differences.
CREATE FUNCTION wrong(graph text, condition text) RETURNS int LANGUAGE sql VOLATILE AS
  $$ SELECT ((SELECT count(*) || ' ' || coalesce(sum(degree), 0) FROM emogi_degree(graph) WHERE degree > 0) <> plain(condition))::int $$;
CREATE PROCEDURE use(form text, first int, last int, times int) LANGUAGE plpgsql AS $$
DECLARE
  n int := 0;
BEGIN
  FOR i IN first .. last LOOP
    FOR j IN 1 .. times LOOP
      INSERT INTO ev VALUES (1, 2, i + 1, i);
      COMMIT;
      n := n + wrong(CASE form WHEN 'value' THEN emogi_query('SELECT src, dst FROM ev WHERE at > $1', i) ELSE 'ev(src, dst) WHERE kind = ' || i END,
                     CASE form WHEN 'value' THEN 'at > ' || i ELSE 'kind = ' || i END);
      COMMIT;
    END LOOP;
  END LOOP;
  IF n > 0 THEN RAISE EXCEPTION '% answers are wrong', n; END IF;
END $$;
CREATE VIEW stored AS SELECT count(*) AS graphs FROM public.emogi_graphs WHERE source ~ 'ev WHERE';
CREATE FUNCTION last() RETURNS text LANGUAGE sql VOLATILE AS
  $$ SELECT cache FROM public.emogi_runs WHERE pid = pg_backend_pid() ORDER BY id DESC LIMIT 1 $$;

CALL use('value', 1, 60, 2);
SELECT graphs BETWEEN 1 AND 20 FROM stored;
SELECT tracker_bytes < 2000000 FROM emogi_cache;
CALL use('constant', 1, 60, 2);
SELECT graphs BETWEEN 1 AND 25 FROM stored;
-- Graphs of repeatedly used values stay, however many there are, also in turn.
CALL use('constant', 1, 30, 1);
CALL use('constant', 1, 30, 1);
CALL use('constant', 1, 30, 1);
SELECT graphs >= 30 FROM stored;
INSERT INTO ev VALUES (3, 4, 1, 7);
SELECT wrong('ev(src, dst) WHERE kind = 7', 'kind = 7'), last() IN ('merged', 'overlay');
-- A query without such values stays in any case.
SELECT wrong('SELECT src, dst FROM ev WHERE at > src', 'at > src'), wrong('SELECT src, dst FROM ev WHERE at > src', 'at > src');

SET client_min_messages = warning;
SELECT emogi_evict() IS NOT NULL;
DROP SCHEMA test_value_graphs CASCADE;
