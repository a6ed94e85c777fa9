-- emogi_query: values for the parameters of a graph query.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS emogi;
DROP SCHEMA IF EXISTS test_params CASCADE;
RESET client_min_messages;
CREATE SCHEMA test_params;
SET search_path = test_params, public;
\pset format unaligned
\pset tuples_only on
SELECT emogi_evict() IS NOT NULL;
SELECT pg_get_function_arguments(oid), provolatile, proparallel FROM pg_proc WHERE proname = 'emogi_query' ORDER BY pronargs, oid;
CREATE TABLE edges (src int, dst int, kind text, day date, km float8);
INSERT INTO edges VALUES (1, 2, 'road', '2026-01-01', 1), (2, 3, 'rail', '2026-01-02', 2), (2, 4, 'it''s $1 \ "x"', '2026-01-03', 3), (2, 5, NULL, '2026-01-04', 4);
CREATE FUNCTION reached(query text, VARIADIC params text[]) RETURNS text LANGUAGE sql AS
	$$ SELECT coalesce(string_agg(vertex::text, ' ' ORDER BY vertex), 'none') FROM emogi_bfs(emogi_query(query, VARIADIC params), 2) $$;

SELECT reached('SELECT src, dst FROM edges WHERE kind = $1', 'rail');
SELECT reached('SELECT src, dst FROM edges WHERE kind = $1', 'road');
SELECT reached('SELECT src, dst FROM edges WHERE kind = $1 OR day = $2 OR kind = $1', 'rail', '2026-01-04');
-- They have the type that the query determines.
SELECT reached('SELECT src, dst FROM edges WHERE day BETWEEN $1 AND $2::date', '2026-01-01', '2026-01-03');
SELECT reached('SELECT src, dst FROM edges WHERE km > $1 AND dst < $2 + 1', '1.5', '4');
SELECT reached('SELECT src, dst FROM edges WHERE dst = ANY ($1)', '{3,5}');
SELECT reached('SELECT src, dst FROM edges WHERE kind IS NOT DISTINCT FROM $1', NULL);
SELECT reached('SELECT src, dst FROM edges ORDER BY dst LIMIT $1', '3');
-- The content of a value remains part of the value.
SELECT reached('SELECT src, dst FROM edges WHERE kind = $1', 'it''s $1 \ "x"');
SELECT reached('SELECT src, dst FROM edges WHERE kind = $1', ''' OR true --');
SELECT reached('SELECT src, dst FROM edges WHERE kind = $1 OR kind = $2', '$2', 'rail');
SELECT reached('SELECT src, dst FROM edges WHERE kind = $1', E'\\'' OR true --');
SELECT current_setting('server_version_num')::int < 190000 AS has_nonstandard \gset
\if :has_nonstandard
SET standard_conforming_strings = off;
\endif
SELECT reached('SELECT src, dst FROM edges WHERE kind = $1', E'it\'s $1 \\ "x"'), reached('SELECT src, dst FROM edges WHERE kind = $1', E'\\'' OR true --');
RESET standard_conforming_strings;
-- Text that only resembles a parameter.
SELECT reached('SELECT src, dst FROM edges WHERE kind <> ''$1'' AND kind <> $$ $1 $$ AND kind <> $a$ $1 $a$ /* $1 */ AND kind = $1 -- $1', 'rail');
SELECT reached('SELECT src, dst AS "$1" FROM edges WHERE kind=$1', 'rail');
SELECT reached('SELECT src, dst FROM edges WHERE dst=$1 AND kind=$2', '3', 'rail');

-- Values of other types are cast; strings and NULL have the type that the query determines.
SELECT emogi_query('SELECT $1, $2, $3, $4, $5', 5, 'x', 7::bigint, NULL, NULL::date);
SELECT emogi_query('SELECT $1, $2, $3, $4, $5', 1, 'x'::varchar, 'y'::name, 'z'::char(1), 't'::text);
SELECT emogi_query('SELECT $1, $2, $3, $4', 1.50, true, uuid '5cd9a3ee-2e05-4bbd-9b1e-5bd7b6c8d1f4', date '2026-01-02');
SELECT emogi_query('SELECT $1, $2', ARRAY[1, NULL, 3], ARRAY['a', 'it''s']);
SELECT emogi_query('SELECT $1, $2, $3', B'101', '"'::"char", '1 day'::interval);
SELECT emogi_query('SELECT $1, $2', VARIADIC ARRAY[1, 2]), emogi_query('SELECT $1, $2', VARIADIC ARRAY['a', 'b']), emogi_query('SELECT 1, 2', VARIADIC NULL::int[]);
CREATE TYPE mood AS ENUM ('it''s', 'ok');
CREATE DOMAIN "Small" AS int CHECK (VALUE < 10);
CREATE TYPE pair AS (a int, b text);
SELECT emogi_query('SELECT $1, $2, $3, $4', 'it''s'::mood, 5::"Small", (1, 'x')::pair, ARRAY['ok'::mood]);
SELECT count(*) FROM emogi_bfs(emogi_query('SELECT src, dst FROM edges WHERE dst < $1', 4), 1);
SELECT count(*) FROM emogi_bfs(emogi_query('SELECT src, dst FROM edges WHERE dst = ANY ($1) AND day < $2 AND km >= -$3', ARRAY[2, 3, 5], date '2026-01-04', -1.0), 1);
SELECT count(*) FROM emogi_bfs(emogi_query('SELECT src, dst FROM edges WHERE dst = $1[2] OR (kind = $2 AND dst < $3)', ARRAY[2, 3], 'road', 3), 1);
SELECT count(*) FROM emogi_bfs(emogi_query('SELECT src, dst FROM edges ORDER BY dst LIMIT $1', 3), 1);
PREPARE n(int, date) AS SELECT count(*) FROM emogi_bfs(emogi_query('SELECT src, dst FROM edges WHERE dst <= $1 AND day > $2', $1, $2), 2);
EXECUTE n(4, '2026-01-01');
EXECUTE n(3, '2026-01-01');
-- An untyped parameter of a driver is text.
PREPARE untyped AS SELECT emogi_query('SELECT $1', $1), emogi_query('SELECT $1', VARIADIC ARRAY[$2]);
EXECUTE untyped('x', 'y');
-- A value has the same text with all settings, and is parsed as the same value with all.
CREATE FUNCTION mistakes(rounds int) RETURNS TABLE (type regtype, written text, read text, literal text) LANGUAGE plpgsql AS $$
DECLARE
	settings text[] := ARRAY['DateStyle=ISO, MDY', 'DateStyle=German, DMY', 'DateStyle=SQL, DMY', 'DateStyle=Postgres, YMD', 'IntervalStyle=sql_standard', 'IntervalStyle=iso_8601', 'IntervalStyle=postgres_verbose',
		'extra_float_digits=-15', 'bytea_output=escape', 'TimeZone=Asia/Kolkata', 'TimeZone=America/St_Johns', CASE WHEN current_setting('server_version_num')::int < 190000 THEN 'standard_conforming_strings=off' ELSE 'backslash_quote=off' END, 'backslash_quote=on', 'search_path=pg_catalog'];
	literals text[];
	same boolean;
	a date; b timestamptz; c interval; d float8; e bytea; f real; g tstzrange; h interval[]; i timestamp; j text; k timetz; l regclass;
BEGIN
	FOR round IN 1 .. rounds LOOP
		a := date '0004-01-01 BC' + (random() * 4000000)::int;
		b := timestamptz '0001-01-01 00:00:00+00' + random() * interval '9000 years';
		c := make_interval(months => (random() * 40 - 20)::int, days => (random() * 80 - 40)::int * (round % 3), secs => (random() * 200000 - 100000) * (round % 4));
		d := (random() - 0.5) * 10.0 ^ (random() * 600 - 300)::int;
		e := decode(md5(random()::text), 'hex');
		f := random() / 3;
		g := tstzrange(b, b + interval '1 hour');
		h := ARRAY[c, -c];
		i := b AT TIME ZONE 'UTC';
		j := substr(E'\\''"$1;-- U&\\0041 /* 表', (random() * 20)::int) || chr(1 + (random() * 50000)::int) || repeat(E'\\', round % 4) || repeat('''', round % 3);
		k := b::timetz;
		l := 'test_params.edges';
		written := settings[1 + floor(random() * cardinality(settings))];
		read := settings[1 + floor(random() * cardinality(settings))];
		PERFORM set_config(split_part(written, '=', 1), split_part(written, '=', 2), true);
		literals := ARRAY[public.emogi_query('SELECT $1', a), public.emogi_query('SELECT $1', b), public.emogi_query('SELECT $1', c), public.emogi_query('SELECT $1', d), public.emogi_query('SELECT $1', e),
			public.emogi_query('SELECT $1', f), public.emogi_query('SELECT $1', g), public.emogi_query('SELECT $1', h), public.emogi_query('SELECT $1', i), public.emogi_query('SELECT $1', j), public.emogi_query('SELECT $1', k),
			public.emogi_query('SELECT $1', l)];
		same := current_setting(split_part(written, '=', 1)) = split_part(written, '=', 2);
		PERFORM set_config(name, reset_val, true) FROM pg_settings WHERE name = split_part(written, '=', 1);
		same := same AND literals = ARRAY[public.emogi_query('SELECT $1', a), public.emogi_query('SELECT $1', b), public.emogi_query('SELECT $1', c), public.emogi_query('SELECT $1', d), public.emogi_query('SELECT $1', e),
			public.emogi_query('SELECT $1', f), public.emogi_query('SELECT $1', g), public.emogi_query('SELECT $1', h), public.emogi_query('SELECT $1', i), public.emogi_query('SELECT $1', j), public.emogi_query('SELECT $1', k),
			public.emogi_query('SELECT $1', l)];
		IF NOT same THEN
			literal := literals::text;
			RETURN NEXT;
		END IF;
		PERFORM set_config(split_part(read, '=', 1), split_part(read, '=', 2), true);
		FOR n IN 1 .. cardinality(literals) LOOP
			EXECUTE format('SELECT pg_typeof($%s), $%s = (%s) AND $%s::text = (%s)::text', n, n, literals[n], n, literals[n]) INTO type, same USING a, b, c, d, e, f, g, h, i, j, k, l;
			IF same IS NOT TRUE THEN
				literal := literals[n];
				RETURN NEXT;
			END IF;
		END LOOP;
		PERFORM set_config(name, reset_val, true) FROM pg_settings WHERE name = split_part(read, '=', 1);
	END LOOP;
END $$;
SELECT setseed(0.5) IS NULL;
SELECT * FROM mistakes(300) LIMIT 3;
SET DateStyle = 'German';
SELECT cache FROM emogi_check(emogi_query('SELECT src, dst FROM edges WHERE day = $1', date '2026-03-01'));
SET DateStyle = 'SQL, MDY';
SELECT cache FROM emogi_check(emogi_query('SELECT src, dst FROM edges WHERE day = $1', date '2026-03-01'));
RESET DateStyle;

-- A value is part of the key.
SELECT cache FROM emogi_check(emogi_query('SELECT src, dst FROM edges WHERE kind = $1', 'rail'));
SELECT cache FROM emogi_check(emogi_query('SELECT src, dst FROM edges WHERE kind = $1', 'ship'));
-- Of values used once, the last four graphs stay, whether they are parameters or part of the text;
-- of those used twice, all.
CREATE FUNCTION caches(VARIADIC kinds text[]) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  kind text; found text; all_found text := '';
BEGIN
  FOREACH kind IN ARRAY kinds LOOP
    SELECT cache INTO found FROM emogi_check(format('SELECT DISTINCT src, dst FROM edges WHERE src + dst < 9 AND kind = %L', kind));
    all_found := all_found || kind || ' ' || found || ', ';
  END LOOP;
  RETURN all_found;
END $$;
SELECT caches('rail');
SELECT caches('a', 'b', 'c', 'd', 'e');
SELECT caches('rail', 'e', 'b');
SELECT caches('f', 'g', 'h', 'i', 'e', 'b', 'rail', 'a', 'c');
SELECT caches('j', 'k', 'l', 'm', 'a', 'b', 'c', 'e', 'f', 'f', 'rail');
SELECT cache FROM emogi_check(emogi_query('SELECT DISTINCT src, dst FROM edges WHERE src + dst < 9 AND kind = $1', 'rail'));
-- A session that begins with another value finds them.
\c -
SET search_path = test_params, public;
SELECT caches('s', 'rail', 'e');
-- Views cannot have values of a call.
DO $$
BEGIN
  FOR i IN 1 .. 6 LOOP
    EXECUTE format('CREATE VIEW by_%s AS SELECT src, dst FROM edges WHERE kind = ''train %s''', i, i);
    PERFORM emogi_check('by_' || i);
  END LOOP;
END $$;
SELECT string_agg(cache, ', ') FROM generate_series(1, 6) AS i, LATERAL emogi_check('by_' || i);
DO $$ BEGIN FOR i IN 1 .. 6 LOOP EXECUTE 'DROP VIEW by_' || i; END LOOP; END $$;
-- Shared graphs stay, and so do those that other calls have requested with a constant text.
SELECT cache FROM emogi_prewarm('SELECT DISTINCT src, dst FROM edges WHERE src + dst < 9 AND kind = ''barge''');
SELECT caches('n', 'o', 'p', 'q', 'r', 'barge');
SELECT cache FROM emogi_check('SELECT src, dst FROM edges WHERE kind = ''rail''');
PREPARE p(text) AS SELECT count(*) FROM emogi_bfs(emogi_query('SELECT src, dst FROM edges WHERE kind = $1', $1), 2);
EXECUTE p('rail');
EXECUTE p('ship');
SET emogi.engine = auto;
EXPLAIN (COSTS OFF) SELECT * FROM emogi_bfs(emogi_query('SELECT src, dst FROM edges WHERE kind = $1', 'rail'), 2);

-- With any function, and with values that are not constants.
SELECT count(*) FROM emogi_sssp(emogi_query('SELECT src, dst, km AS weight FROM edges WHERE km < $1', '3'), 1);
SELECT kind, count(vertex) FROM edges LEFT JOIN LATERAL emogi_cc(emogi_query('SELECT src, dst FROM edges WHERE kind = $1', kind)) ON true GROUP BY kind ORDER BY kind COLLATE "C";
SELECT emogi_evict(emogi_query('SELECT src, dst FROM edges WHERE kind = $1', 'rail')) > 0;
SELECT emogi_query('TABLE edges');
SELECT emogi_query('SELECT src, dst FROM edges WHERE kind = U&$1', 'x');
SELECT emogi_query('SELECT $1, $2 FROM edges', 'a', NULL);

-- Errors.
SELECT reached('SELECT src, dst FROM edges WHERE kind = $2', 'rail');
SELECT reached('SELECT src, dst FROM edges WHERE kind = $1', 'rail', 'road');
SELECT reached('SELECT src, dst FROM edges', 'road');
SELECT reached('SELECT src, dst FROM edges WHERE dst = $1', 'rail');
SELECT reached('SELECT src, dst FROM edges WHERE dst = $2147483647', 'rail');
SELECT reached('SELECT src, dst FROM edges WHERE dst = $0', 'rail');
SELECT reached('SELECT src, dst FROM edges WHERE kind = ''x $1', 'rail');
SELECT count(*) FROM emogi_bfs('SELECT src, dst FROM edges WHERE kind = $1', 2);
SELECT emogi_query('edges', '1');
SELECT emogi_query(NULL, '1');
SELECT emogi_query('SELECT src, dst FROM edges WHERE kind = $1', VARIADIC NULL::text[]);
SELECT emogi_query('SELECT src, dst FROM edges WHERE src = $1', VARIADIC NULL::int[]);
SELECT emogi_query('SELECT src, dst FROM edges WHERE src = $2', 5);
SELECT emogi_query('SELECT src, dst FROM edges WHERE src = $1', 5, 'x');
SELECT emogi_query('SELECT src, dst FROM edges WHERE (src, dst) = $1', ROW(1, 2));
SELECT emogi_query('edges', 5);
SELECT emogi_query(NULL, 5);
SELECT count(*) FROM emogi_bfs(emogi_query('SELECT src, dst FROM edges WHERE kind = $1', 5), 1);
-- A text that would be too long is rejected before it is created.
SELECT emogi_query('SELECT $2' || repeat(', $1', 1100), repeat('x', 1000000), 5) IS NULL;
SELECT emogi_query('SELECT 1' || repeat(', $1', 1100), repeat('x', 1000000)) IS NULL;

SET client_min_messages = warning;
DROP SCHEMA test_params CASCADE;
