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
SELECT pg_get_function_arguments(oid), provolatile, proparallel FROM pg_proc WHERE proname = 'emogi_query';
CREATE TABLE edges (src int, dst int, kind text, day date, km float8);
INSERT INTO edges VALUES (1, 2, 'road', '2026-01-01', 1), (2, 3, 'rail', '2026-01-02', 2), (2, 4, 'it''s $1 \ "x"', '2026-01-03', 3), (2, 5, NULL, '2026-01-04', 4);
CREATE FUNCTION reached(query text, VARIADIC params text[]) RETURNS text LANGUAGE sql AS
	$$ SELECT coalesce(string_agg(vertex::text, ' ' ORDER BY vertex), 'none') FROM emogi_bfs(emogi_query(query, VARIADIC params), 2) $$;

SELECT reached('SELECT src, dst FROM edges WHERE kind = $1', 'rail');
SELECT reached('SELECT src, dst FROM edges WHERE kind = $1', 'road');
SELECT reached('SELECT src, dst FROM edges WHERE kind = $1 OR day = $2 OR kind = $1', 'rail', '2026-01-04');
-- They take the type that the query has for them.
SELECT reached('SELECT src, dst FROM edges WHERE day BETWEEN $1 AND $2::date', '2026-01-01', '2026-01-03');
SELECT reached('SELECT src, dst FROM edges WHERE km > $1 AND dst < $2 + 1', '1.5', '4');
SELECT reached('SELECT src, dst FROM edges WHERE dst = ANY ($1)', '{3,5}');
SELECT reached('SELECT src, dst FROM edges WHERE kind IS NOT DISTINCT FROM $1', NULL);
SELECT reached('SELECT src, dst FROM edges ORDER BY dst LIMIT $1', '3');
-- Whatever stands in a value stays a value.
SELECT reached('SELECT src, dst FROM edges WHERE kind = $1', 'it''s $1 \ "x"');
SELECT reached('SELECT src, dst FROM edges WHERE kind = $1', ''' OR true --');
SELECT reached('SELECT src, dst FROM edges WHERE kind = $1 OR kind = $2', '$2', 'rail');
SELECT reached('SELECT src, dst FROM edges WHERE kind = $1', E'\\'' OR true --');
SET standard_conforming_strings = off;
SELECT reached('SELECT src, dst FROM edges WHERE kind = $1', E'it\'s $1 \\ "x"'), reached('SELECT src, dst FROM edges WHERE kind = $1', E'\\'' OR true --');
RESET standard_conforming_strings;
-- What only looks like a parameter is none.
SELECT reached('SELECT src, dst FROM edges WHERE kind <> ''$1'' AND kind <> $$ $1 $$ AND kind <> $a$ $1 $a$ /* $1 */ AND kind = $1 -- $1', 'rail');
SELECT reached('SELECT src, dst AS "$1" FROM edges WHERE kind=$1', 'rail');
SELECT reached('SELECT src, dst FROM edges WHERE dst=$1 AND kind=$2', '3', 'rail');

-- A value is part of the key.
SELECT cache FROM emogi_check(emogi_query('SELECT src, dst FROM edges WHERE kind = $1', 'rail'));
SELECT cache FROM emogi_check(emogi_query('SELECT src, dst FROM edges WHERE kind = $1', 'ship'));
SELECT cache FROM emogi_check('SELECT src, dst FROM edges WHERE kind = ''rail''');
PREPARE p(text) AS SELECT count(*) FROM emogi_bfs(emogi_query('SELECT src, dst FROM edges WHERE kind = $1', $1), 2);
EXECUTE p('rail');
EXECUTE p('ship');
SET emogi.engine = auto;
EXPLAIN (COSTS OFF) SELECT * FROM emogi_bfs(emogi_query('SELECT src, dst FROM edges WHERE kind = $1', 'rail'), 2);

-- With any function, and values that are no constants.
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
SELECT emogi_query('SELECT src, dst FROM edges WHERE kind = $1', VARIADIC NULL);

SET client_min_messages = warning;
DROP SCHEMA test_params CASCADE;
