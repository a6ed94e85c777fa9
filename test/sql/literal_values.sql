-- Conditions that differ in the values of literals: a session distinguishes them, and the edges are
-- those of each value. The oracle is the condition itself.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS emogi;
CREATE SCHEMA test_literals;
SET search_path = test_literals, public;
SET timezone = 'UTC';
\pset format unaligned
\pset tuples_only on
CREATE TABLE t (src int, dst int, kind int, small int2, big bigint, price numeric(10, 2), share float8, note text, code varchar(8), padded char(4), at timestamptz, local timestamp,
  day date, mark uuid, span interval, "o'dd" int, reverse_cost float8);
SELECT setseed(0.5);
INSERT INTO t SELECT random() * 20, random() * 20, i % 5, i % 7, i % 11, (i % 13) / 4.0, (i % 9) / 8.0, 'n' || i % 6, 'c' || i % 4, 'p' || i % 3, '2026-01-01'::timestamptz + i % 30 * interval '1 day',
  '2026-01-01'::timestamp + i % 30 * interval '1 day', '2026-01-01'::date + i % 30, md5((i % 4)::text)::uuid, i % 8 * interval '1 hour', i % 3, i % 4 - 1 FROM generate_series(1, 300) i;
ANALYZE t;
-- The edges of a condition, each checked by a degree, compared with the rows: 'right', or what is
-- wrong.
CREATE FUNCTION edges_of(condition text, form text DEFAULT 't(src, dst) WHERE %s') RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  found bigint;
  expected bigint;
BEGIN
  EXECUTE format('SELECT coalesce(sum(degree), 0) FROM emogi_degree(%L)', format(form, condition)) INTO found;
  EXECUTE format('SELECT count(*) FROM t WHERE %s', condition) INTO expected;
  RETURN CASE WHEN found = expected THEN 'right' ELSE format('WRONG: %s: %s, not %s', condition, found, expected) END;
EXCEPTION WHEN OTHERS THEN
  RETURN sqlerrm;
END $$;
-- The same for many values of each form, in a random order; %s: a value.
CREATE FUNCTION values_of(condition text, low int, high int, form text DEFAULT 't(src, dst) WHERE %s') RETURNS text LANGUAGE sql AS $$
  SELECT condition || ': ' || string_agg(DISTINCT edges_of(format(condition, v), form), ', ')
  FROM (SELECT low + (hashint4(i) & 1023) % (high - low + 1) AS v FROM generate_series(1, 25) i) q $$;
SELECT values_of('kind = %s', 0, 5);
SELECT values_of('kind <> %s AND small > 2', 0, 5);
SELECT values_of('small = %s', 0, 7);
SELECT values_of('big > %s', 0, 11);
SELECT values_of('big > %s00000000', 0, 30);
SELECT values_of('kind > -%s', 0, 5);
SELECT values_of('kind = - %s', 0, 5);
SELECT values_of('kind IN (%1$s, 3, %1$s)', 0, 5);
SELECT values_of('kind = ANY (ARRAY[%s, 4])', 0, 5);
SELECT values_of('kind BETWEEN SYMMETRIC %s AND 2', 0, 5);
SELECT values_of('price < %s', 0, 4);
SELECT values_of('price < %s.25', 0, 4);
SELECT values_of('price::numeric(10, %s) < 1.3', 0, 3);
SELECT values_of('share * %s < 1', 1, 8);
SELECT values_of('share < ''0.%s''', 0, 9);
SELECT values_of('note = ''n%s''', 0, 7);
SELECT values_of('note LIKE ''%%%s''', 0, 7);
SELECT values_of('code = ''c%s''', 0, 5);
SELECT values_of('code::varchar(%s) = ''c1''', 1, 3);
SELECT values_of('padded = ''p%s''', 0, 4);
SELECT values_of('at > ''2026-01-%s''', 10, 30);
SELECT values_of('local > timestamp ''2026-01-%s''', 10, 30);
SELECT values_of('day = ''2026-01-%s''::date', 10, 30);
SELECT values_of('at > ''2026-01-30''::timestamptz - interval ''%s days''', 1, 30);
SELECT values_of('span > ''%s hours''', 0, 8);
SELECT values_of('mark = md5(''%s'')::uuid', 0, 5);
-- a literal in two expressions, one of which is folded
SELECT values_of('%s BETWEEN kind AND length(left(current_user, 3))', 0, 5);
SELECT values_of('"o''dd" = %s', 0, 3);
SELECT values_of('kind = %s -- 1', 0, 5);
SELECT values_of('kind /* 2 */ = %s', 0, 5);
SELECT values_of('note = E''n\x3%s''', 0, 7);
SELECT values_of('note = $$n%s$$', 0, 7);
SELECT values_of(E'note = ''n''\n''%s''', 0, 7);
SELECT values_of('kind = 1e%s', 0, 1);
SELECT values_of('date_trunc(''day'', at) > ''2026-01-%s''', 10, 30);
SELECT values_of('kind = %s', 0, 5, 'SELECT src, dst FROM t WHERE %s');
SELECT values_of('kind = %s', 0, 5, 'WITH q AS (SELECT * FROM t WHERE %s) SELECT src, dst FROM q ORDER BY 2 LIMIT 400');
SELECT values_of('kind = %s', 0, 5, 'SELECT src, dst FROM t WHERE %s AND dst < (SELECT max(dst) + 1 FROM t WHERE kind < 77)');
-- a condition in which values alternate with time constants
SELECT values_of('(at < ''2026-01-%s'' OR at < ''now'')', 10, 30), values_of('at < ''now''', 1, 1), values_of('at < ''2026-01-%s''', 10, 30);
SELECT edges_of('at < ''now''');
INSERT INTO t (src, dst, kind, at) VALUES (1, 2, 9, now());
SELECT edges_of('at < ''now''');
DELETE FROM t WHERE kind = 9;
-- two costs: an edge in each direction whose cost is not negative
CREATE FUNCTION costs_of(value int) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  found bigint;
BEGIN
  EXECUTE format('SELECT coalesce(sum(degree), 0) FROM emogi_degree(''t(src, dst, share, reverse_cost) WHERE kind <> %s'')', value) INTO found;
  RETURN CASE WHEN found = (SELECT count(*) + count(*) FILTER (WHERE reverse_cost >= 0) FROM t WHERE kind <> value) THEN 'right' ELSE format('WRONG: %s: %s', value, found) END;
END $$;
SELECT string_agg(DISTINCT costs_of(i % 7), ', ') FROM generate_series(1, 20) i;
-- constants in a function's body are not literals of the text
CREATE FUNCTION is_kind(kind int, wanted int) RETURNS bool LANGUAGE sql IMMUTABLE AS $$ SELECT                       kind = 3 OR kind = wanted $$;
SELECT values_of('is_kind(kind, %s)', 0, 5), values_of('is_kind(kind, 3) AND kind > %s', 0, 5);
-- errors are those of the text, also for invalid values
CREATE FUNCTION error_of(condition text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  context text;
BEGIN
  EXECUTE format('SELECT count(*) FROM emogi_bfs(%L, 1)', 't(src, dst) WHERE ' || condition);
  RETURN 'none';
EXCEPTION WHEN OTHERS THEN
  GET STACKED DIAGNOSTICS context = PG_EXCEPTION_CONTEXT;
  RETURN sqlstate || ' ' || sqlerrm || ' ' || regexp_replace(split_part(context, E'\n', 1), '[0-9-]{8,}', 'D', 'g');
END $$;
SELECT error_of('day > ''2026-02-30''');
SELECT values_of('day > ''2026-01-%s''', 10, 30);
SELECT error_of('day > ''2026-02-30''');
SELECT values_of('day > ''2026-01-%s''', 10, 30);
SELECT values_of('kind = ''%s''', 0, 5), edges_of('kind = ''x''');
-- tokens that are not literals
SELECT values_of('kind = %s', 0, 5), error_of('kind = 1) OR (true'), error_of('kind = 1 OR (true'), error_of('kind = 1; SELECT 2'), edges_of('kind = 1 OR true'), edges_of('kind = ''1'' OR true');
SELECT values_of('note = ''n%s''', 0, 7), edges_of('note = ''n1'' OR true OR note = '''''), error_of('note = ''n1'' OR'), edges_of('note = ''n''''1''');
-- the parser compares expressions in ORDER BY, GROUP BY, DISTINCT and OVER with others, so that
-- their constants depend on each other
CREATE TABLE pairs AS SELECT 0 AS a, g AS b FROM generate_series(1, 60) g;
CREATE FUNCTION first_of(divisor int, known int) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  query text := format('SELECT a, b %% %s FROM pairs WHERE b < 42 AND a = 0 ORDER BY b %% %s LIMIT 5', divisor, known);
  found text;
  expected text;
BEGIN
  EXECUTE format('SELECT string_agg(vertex::text, '' '' ORDER BY vertex) FROM emogi_bfs(%L, 0) WHERE level > 0', query) INTO found;
  EXECUTE format('SELECT string_agg(DISTINCT d::text, '' '' ORDER BY d::text) FROM (%s) s(a, d) WHERE d <> 0', query) INTO expected;
  RETURN CASE WHEN found IS NOT DISTINCT FROM expected THEN 'right' ELSE format('WRONG: %s, not %s', found, expected) END;
END $$;
SELECT first_of(7, 7), first_of(8, 8), first_of(9, 9), first_of(8, 7), first_of(7, 8);
CREATE FUNCTION grouped(summand int, known int) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format('SELECT count(*) FROM emogi_bfs(''SELECT a, b + %s FROM pairs GROUP BY a, b + %s'', 0)', summand, known);
  RETURN 'none';
EXCEPTION WHEN OTHERS THEN RETURN sqlstate;
END $$;
SELECT grouped(1, 1), grouped(2, 2), grouped(3, 2), grouped(4, 1);
-- settings and other users
SELECT values_of('day > ''01-02-20%s''', 25, 27);
SET datestyle = 'ISO, DMY';
SELECT values_of('day > ''01-02-20%s''', 25, 27);
RESET datestyle;
DO $$ BEGIN	-- PostgreSQL 19 has no such strings
  SET standard_conforming_strings = off;
  SET escape_string_warning = off;
EXCEPTION WHEN OTHERS THEN NULL; END $$;
SELECT values_of('note = ''n%s''', 0, 7), edges_of('note = ''n\061''');
DO $$ BEGIN
  RESET standard_conforming_strings;
  RESET escape_string_warning;
EXCEPTION WHEN OTHERS THEN NULL; END $$;
ALTER TABLE t ENABLE ROW LEVEL SECURITY;
CREATE POLICY p ON t USING (kind < 3);
CREATE ROLE test_literals_reader;
GRANT USAGE ON SCHEMA test_literals TO test_literals_reader;
GRANT SELECT ON t TO test_literals_reader;
SELECT values_of('kind <> %s', 0, 5);
SET ROLE test_literals_reader;
SELECT values_of('kind <> %s', 0, 5);
RESET ROLE;
REVOKE SELECT ON t FROM test_literals_reader;
SET ROLE test_literals_reader;
SELECT values_of('kind <> %s', 0, 5);
RESET ROLE;
-- the same graph as that of another session's analysis: a value that this session has just parsed
SELECT values_of('kind <> %s AND big <> 5', 0, 5);
SELECT sum(degree) FROM emogi_degree('t(src, dst) WHERE kind <> 2 AND big <> 5');
SELECT sum(degree) FROM emogi_degree('t(src, dst) WHERE kind <> 2 AND big <> 5');
\c -
SET search_path = test_literals, public;
SELECT sum(degree) FROM emogi_degree('t(src, dst) WHERE kind <> 2 AND big <> 5');
SELECT cache FROM emogi_runs WHERE pid = pg_backend_pid() ORDER BY id DESC LIMIT 1;
SET client_min_messages = warning;
DROP SCHEMA test_literals CASCADE;
DROP ROLE test_literals_reader;
