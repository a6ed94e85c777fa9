-- _emogi_sink accepts rows only for a load run by emogi itself, in the format of that load.
\set VERBOSITY terse
CREATE TABLE sink_edges (src bigint, dst bigint, weight float8);
INSERT INTO sink_edges VALUES (1, 2, 1), (2, 3, 1);
CREATE TABLE sink_texts (src text, dst text);
INSERT INTO sink_texts VALUES ('a', 'b'), ('b', 'c');
CREATE TABLE sink_uuids (src uuid, dst uuid);
INSERT INTO sink_uuids VALUES ('00000000-0000-0000-0000-000000000001', '00000000-0000-0000-0000-000000000002');
CREATE TABLE sink_rows (a int, b int);
INSERT INTO sink_rows VALUES (1, 2), (2, 3);

-- Every form of the aggregate, with its first argument for $1.
CREATE TABLE sink_calls (n serial, call text);
INSERT INTO sink_calls (call) VALUES
  ('_emogi_sink($1, 9::bigint, 10::bigint)'),
  ('_emogi_sink($1, 9::bigint, 10::bigint, 1::float8)'),
  ('_emogi_sink($1, ''x''::text, ''y''::text)'),
  ('_emogi_sink($1, ''x''::text, ''y''::text, 1::float8)'),
  ('_emogi_sink($1, ''x''::bytea, ''y''::bytea)'),
  ('_emogi_sink($1, 9::int, 10::int)'),
  ('_emogi_sink($1, NULL::bigint, 10::bigint)'),
  ('_emogi_sink_vertices($1, 9::bigint, 10::bigint, 11::bigint)'),
  ('_emogi_sink_vertices($1, 9::bigint, 10::bigint, 11::bigint, 1::float8)'),
  ('_emogi_sink_vertices($1, ''x''::text, ''y''::text, ''z''::text)'),
  ('_emogi_sink_vertices($1, ''x''::text, ''y''::text, ''z''::text, 1::float8)'),
  ('_emogi_sink_rows($1, ROW(9, 10), ROW(10, 11))'),
  ('_emogi_sink_rows($1, ROW(''x'', 10), ROW(10, 11))'),
  ('_emogi_sink_rows($1, ROW(9, 10, 11), ROW(10, 11))'),
  ('_emogi_sink_rows($1, ROW(9, 10), ROW(10, 11), 1::float8)'),
  ('_emogi_sink_rows_vertices($1, ROW(9, 10), ROW(10, 11), ROW(12, 13))'),
  ('_emogi_sink_rows_vertices($1, ROW(9, 10), ROW(10, 11), ROW(12, 13), 1::float8)');
-- Print which forms are accepted, and the errors of the others.
CREATE FUNCTION sink_taken(load bigint) RETURNS text LANGUAGE plpgsql AS $$
DECLARE c record; taken text := ''; errors text[] := '{}'; message text;
BEGIN
  FOR c IN SELECT * FROM sink_calls ORDER BY n LOOP
    BEGIN
      EXECUTE 'SELECT ' || c.call USING load;
      taken := taken || ' ' || c.call;
    EXCEPTION WHEN OTHERS THEN
      GET STACKED DIAGNOSTICS message = MESSAGE_TEXT;
      IF NOT SQLSTATE || ' ' || message = ANY (errors) THEN
        errors := errors || (SQLSTATE || ' ' || message);
      END IF;
    END;
  END LOOP;
  RETURN concat_ws('; ', 'taken:' || taken, array_to_string(errors, '; '));
END $$;
-- The same in the query of a graph, once.
CREATE FUNCTION sink_attack(load bigint) RETURNS bool LANGUAGE plpgsql AS $$
BEGIN
  RAISE NOTICE '%', sink_taken(load);
  RETURN true;
END $$;
CREATE ROLE regress_sink;
GRANT SELECT ON sink_edges, sink_texts, sink_uuids, sink_rows, sink_calls TO regress_sink;
SET ROLE regress_sink;

-- Without a load.
SELECT sink_taken(0);
SELECT sink_taken(1);
SELECT sink_taken(NULL);
-- PostgreSQL's own errors, whose text depends on the version
DO $$
DECLARE
  query text;
BEGIN
  FOREACH query IN ARRAY ARRAY['_emogi_sink_final(NULL)', '_emogi_sink_serialize(NULL)', '_emogi_sink_combine(NULL, NULL)', '_emogi_sink_transition(NULL, 1, 2, 3)'] LOOP
    BEGIN
      EXECUTE 'SELECT ' || query;
      RAISE WARNING '% was run', query;
    EXCEPTION WHEN undefined_function OR ambiguous_function OR feature_not_supported THEN
      NULL;
    END;
  END LOOP;
END $$;
SELECT _emogi_sink(1, src, dst) OVER () FROM sink_edges;
-- With a load in progress in the same session, whose number is unknown.
SELECT count(*) FROM emogi_cc('SELECT src, dst FROM sink_edges WHERE src > 1 OR sink_attack(1)');
SELECT count(*) FROM emogi_cc('SELECT src, dst FROM sink_edges WHERE src > 1 OR sink_attack(0)');
-- The parameter of emogi's query is not visible to the user's query.
SELECT count(*) FROM emogi_cc('SELECT src, dst FROM sink_edges WHERE src < $1');
SELECT count(*) FROM emogi_cc('SELECT $1 AS src, dst FROM sink_edges');
SELECT count(*) FROM emogi_cc('SELECT _emogi_sink($1, src, dst) AS src, 1 AS dst FROM sink_edges');

-- A role that knows the number can add only rows in the format of the load. Faults require
-- superusers.
RESET ROLE;
SET emogi.fault = 'known_load=1';
SELECT sink_taken(1);
SELECT count(*) FROM emogi_cc('SELECT src, dst FROM sink_edges WHERE src > 1 OR sink_attack(1)');
SELECT count(*) FROM emogi_sssp('SELECT src, dst, weight FROM sink_edges WHERE src > 1 OR sink_attack(1)', 1);
SELECT count(*) FROM emogi_cc('SELECT src, dst, src AS vertex FROM sink_edges WHERE src > 1 OR sink_attack(1)');
SELECT count(*) FROM emogi_cc_text('SELECT src, dst FROM sink_texts WHERE src > ''a'' OR sink_attack(1)');
SELECT count(*) FROM emogi_cc_text('SELECT src, dst, src AS vertex FROM sink_texts WHERE src > ''a'' OR sink_attack(1)');
SELECT count(*) FROM emogi_cc_uuid('SELECT src, dst FROM sink_uuids WHERE sink_attack(1)');
SELECT count(*) FROM emogi_cc_text('SELECT ROW(a, b) AS src, ROW(b, a) AS dst FROM sink_rows WHERE a > 1 OR sink_attack(1)');
-- After the load has ended, the number is invalid, even if the call continues.
SELECT sink_taken(1);
SELECT DISTINCT vertex > 0, sink_taken(1) FROM emogi_bfs('SELECT src, dst FROM sink_edges WHERE src < 9', 1);
BEGIN;
DECLARE c CURSOR FOR SELECT vertex FROM emogi_bfs('SELECT src, dst FROM sink_edges WHERE src < 10', 1);
FETCH 1 FROM c;
SELECT sink_taken(1);
COMMIT;
RESET emogi.fault;

DROP FUNCTION sink_attack(bigint), sink_taken(bigint);
DROP TABLE sink_edges, sink_texts, sink_uuids, sink_rows, sink_calls;
DROP ROLE regress_sink;
