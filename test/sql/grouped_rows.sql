-- Rows grouped by component, for window functions, arrays and joins: without a sort, with the same
-- results as with one.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS emogi;
RESET client_min_messages;
CREATE SCHEMA test_grouped_rows;
SET search_path = test_grouped_rows, public;
SET emogi.engine = cpu;
SET max_parallel_workers_per_gather = 0;
SET enable_hashagg = off;
\pset format unaligned
\pset tuples_only on

-- Random edges, most of them in small components; the same with text of two collations, and with
-- uuid.
CREATE TABLE e AS SELECT ((a - 2000) * 3)::bigint AS src, ((a + (hashint8extended(g, 2) & 3) - 2000) * 3)::bigint AS dst
  FROM generate_series(1, 2500) g, LATERAL (SELECT (hashint8extended(g, 1) & 9223372036854775807) % 4000) r(a);
INSERT INTO e SELECT dst, src FROM e WHERE dst % 2 = 0;
CREATE TABLE c AS SELECT ('v' || src) COLLATE "C" AS src, ('v' || dst) COLLATE "C" AS dst FROM e;
CREATE TABLE t AS SELECT 'v' || src AS src, 'v' || dst AS dst FROM e;
CREATE TABLE u AS SELECT md5(src::text)::uuid AS src, md5(dst::text)::uuid AS dst FROM e;

-- Does a statement sort, and is its answer equal to the one without such scans?
CREATE FUNCTION ways(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  line text;
  sorts text := 'no sort';
  answers text[];
BEGIN
  FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || statement LOOP
    IF line ~ '(^|-> ) *Sort$' THEN sorts := 'sort'; END IF;
  END LOOP;
  FOREACH line IN ARRAY ARRAY['on', 'off'] LOOP
    PERFORM set_config('emogi.enable_topk', line, true);
    EXECUTE format('SELECT count(*) || '' '' || md5(string_agg(q::text, E''\n'' ORDER BY q::text)) FROM (%s) q', statement) INTO line;
    answers := answers || line;
  END LOOP;
  PERFORM set_config('emogi.enable_topk', 'on', true);
  RETURN sorts || CASE WHEN answers[1] = answers[2] THEN ', same, ' || (split_part(answers[1], ' ', 1)::int > 0) ELSE ', different: ' || answers::text END;
END $$;

SELECT count(*) > 1024 FROM emogi_cc('e') UNION ALL SELECT count(*) > 1024 FROM emogi_cc_text('c') UNION ALL SELECT count(*) > 1024 FROM emogi_cc_text('t') UNION ALL SELECT count(*) > 1024 FROM emogi_cc_uuid('u');
SELECT f, n, ways(replace(s, '@', f))
FROM unnest(ARRAY['emogi_cc(''e'')', 'emogi_cc_text(''c'')', 'emogi_cc_text(''t'')', 'emogi_cc_uuid(''u'')', 'emogi_scc(''e'')']) AS f, (VALUES
  (1, 'SELECT vertex, component, count(*) OVER (PARTITION BY component) FROM @'),
  (2, 'SELECT component, array_agg(vertex ORDER BY vertex) FROM @ GROUP BY component'),
  (3, 'SELECT vertex, row_number() OVER (PARTITION BY component ORDER BY vertex) FROM @'),
  (4, 'SELECT vertex, first_value(vertex) OVER (PARTITION BY component ORDER BY vertex DESC) FROM @'),
  (5, 'SELECT component, string_agg(vertex::text, '','' ORDER BY vertex) FROM @ WHERE vertex <> component GROUP BY component'),
  (6, 'SELECT DISTINCT ON (component) component, vertex FROM @ WHERE vertex > component ORDER BY component, vertex'),
  (7, 'SELECT x, (SELECT sum(n) FROM (SELECT vertex, count(*) OVER (PARTITION BY component) AS n FROM @ WHERE length(vertex::text) > x) y) FROM generate_series(1, 4) x'),
  (8, 'SELECT * FROM (SELECT component, array_agg(vertex ORDER BY vertex) AS a FROM @ GROUP BY component) y WHERE cardinality(a) > 3')) q (n, s)
ORDER BY f, n;

-- In the requested order.
SELECT count(*) FROM (SELECT component < lag(component) OVER () OR (component = lag(component) OVER () AND vertex <= lag(vertex) OVER ()) AS wrong
  FROM (SELECT * FROM emogi_cc('e') ORDER BY component, vertex OFFSET 0) o) w WHERE wrong;
EXPLAIN (COSTS OFF) SELECT vertex, component, count(*) OVER (PARTITION BY component) FROM emogi_cc('e');
-- Changed edges, an overlay, own changes.
INSERT INTO e VALUES (0, 90000), (90003, 90006);
SELECT ways('SELECT vertex, component, count(*) OVER (PARTITION BY component) FROM emogi_cc(''e'')');
BEGIN;
INSERT INTO e VALUES (0, 90003);
SELECT ways('SELECT component, array_agg(vertex ORDER BY vertex) FROM emogi_cc(''e'') GROUP BY component');
ROLLBACK;

SET client_min_messages = warning;
DROP SCHEMA test_grouped_rows CASCADE;
