-- Functions for many pairs of vertices, with few distant pairs, compared with emogi_shortest_path
-- in a LATERAL join.
--
--   psql -X [-v edges=100000] [-v turns=7] [-v only=REGEXP] -f bench/far_pairs.sql
--
-- Requires a database with the extension, and a superuser. Creates and drops tables emogi_far_*: a
-- road-like grid, a path, two disconnected grids, and random edges (8 per vertex), each with about
-- `edges` edges. All calls use direction 'both', with cached graphs. The methods run in turn,
-- `turns` times each. Prints medians in ms of the whole statements, and the ratio to the best
-- alternative. emogi_bfs searches all vertices from the single source and is joined with the
-- targets. only: regular expression for function, graph, kind and number, the first columns.
\set ON_ERROR_STOP on
\if :{?edges} \else \set edges 100000 \endif
\if :{?turns} \else \set turns 7 \endif
\if :{?only} \else \set only . \endif
\pset footer off
\set QUIET on
SET client_min_messages = warning;
SET jit = off;
SET statement_timeout = 0;
SET emogi.enable_contraction = off;
SELECT round(sqrt(:edges / 3.0))::int AS width \gset
DROP TABLE IF EXISTS emogi_far_grid, emogi_far_path, emogi_far_parts, emogi_far_random;
CREATE UNLOGGED TABLE emogi_far_grid (source int, target int, weight float8);
CREATE UNLOGGED TABLE emogi_far_path (LIKE emogi_far_grid);
CREATE UNLOGGED TABLE emogi_far_parts (LIKE emogi_far_grid);
CREATE UNLOGGED TABLE emogi_far_random (LIKE emogi_far_grid);

-- Vertices are 10,000 x + y; x is the width, and the height is 1.5 times the width.
INSERT INTO emogi_far_grid
SELECT 10000 * x + y, 10000 * (x + 1 - d) + y + d, 1 + abs(hashint4(20000 * x + 2 * y + d)) % 1000 / 100.0
FROM generate_series(0, :width - 1) x, generate_series(0, :width * 3 / 2 - 1) y, generate_series(0, 1) d
WHERE x + 1 - d < :width AND y + d < :width * 3 / 2;
INSERT INTO emogi_far_path SELECT i, i + 1, 1 + i % 7 FROM generate_series(0, :edges - 1) i;
INSERT INTO emogi_far_parts SELECT source + part, target + part, weight
FROM emogi_far_grid, (VALUES (0), (1000000000)) parts (part) WHERE source % 10000 < :width * 3 / 4 AND target % 10000 < :width * 3 / 4;
INSERT INTO emogi_far_random
SELECT (hashint8extended(g, 1) & 9223372036854775807) % (:edges / 8), (hashint8extended(g, 2) & 9223372036854775807) % (:edges / 8),
	   1 + 9 * ((hashint8extended(g, 3) & 4294967295) / 4294967296.0)
FROM generate_series(1, :edges::bigint) g;
VACUUM (FREEZE, ANALYZE) emogi_far_grid, emogi_far_path, emogi_far_parts, emogi_far_random;

-- n pairs of a graph.
CREATE TEMP TABLE pairs_of (graph text, kind text, query text);
INSERT INTO pairs_of VALUES
	('grid', 'far', format('SELECT (5 + i) * 10000 + 5 AS a, (%1$s - i) * 10000 + %1$s + i AS b FROM generate_series(1, %%s) i', :width - 70)),
	('grid', 'near', 'SELECT (5 + i) * 10000 + 5 AS a, (5 + i) * 10000 + 11 AS b FROM generate_series(1, %s) i'),
	('grid', 'one source', format('SELECT 50005 AS a, 10000 * mod(i * 7919, %1$s) + mod(i * 104729, %1$s * 3 / 2) AS b FROM generate_series(1, %%s) i', :width)),
	('path', 'far', format('SELECT 1000 + i AS a, %s - 7 * i AS b FROM generate_series(1, %%s) i', :edges - 1000)),
	('path', 'one source', format('SELECT 1000 AS a, mod(i * 104729::bigint, %s) AS b FROM generate_series(1, %%s) i', :edges)),
	('parts', 'unreachable', 'SELECT (5 + i) * 10000 + 5 AS a, 1000000000 + 50000 + i AS b FROM generate_series(1, %s) i'),
	('random', 'near', 'SELECT i AS a, i + 7 AS b FROM generate_series(1, %s) i'),
	('random', 'one source', 'SELECT 5 AS a, i + 7 AS b FROM generate_series(1, %s) i');
CREATE TEMP TABLE timing (way text, function text, graph text, kind text, n int, ms float8);

CREATE FUNCTION pg_temp.statement(way text, function text, graph text, pairs text) RETURNS text LANGUAGE sql AS $$
	SELECT format(CASE
		WHEN way = 'LATERAL' AND function = 'reachable' THEN 'SELECT count(*) FROM (%2$s) p WHERE EXISTS (SELECT FROM emogi_shortest_path(%1$L, a, b, ''both''))'
		WHEN way = 'LATERAL' THEN 'SELECT count(*) FROM (%2$s) p, emogi_shortest_path(%1$L, a, b, ''both'')'
		WHEN way = 'bfs' THEN 'SELECT count(*) FROM (%2$s) p JOIN emogi_bfs(%1$L, (SELECT min(a) FROM (%2$s) q), direction => ''both'') ON vertex = b'
		WHEN function = 'reachable' THEN 'SELECT count(*) FROM emogi_reachable(%1$L, %2$L, ''both'') WHERE reachable'
		ELSE 'SELECT count(*) FROM emogi_shortest_paths(%1$L, %2$L, ''both'')' END,
		'emogi_far_' || graph || CASE function WHEN 'shortest_paths, weights' THEN '' ELSE '(source, target)' END, pairs) $$;

CREATE FUNCTION pg_temp.take_all(turns int, pattern text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
	began timestamptz;
	asked record;
	rows bigint;
	other bigint;
BEGIN
	FOR asked IN SELECT format('emogi_far_%s%s', graph, suffix) AS graph FROM (VALUES ('grid'), ('path'), ('parts'), ('random')) g (graph), (VALUES (''), ('(source, target)')) s (suffix) LOOP
		PERFORM count(*) FROM emogi_shortest_path(asked.graph, 1, 2, 'both');
	END LOOP;
	FOR turn IN 0 .. turns LOOP
		FOR asked IN
			SELECT function, graph, kind, n, format(query, n) AS pairs, way, first_value(way) OVER same = way AS first,
				   pg_temp.statement(way, function, graph, format(query, n)) AS statement
			FROM pairs_of, (VALUES ('reachable'), ('shortest_paths'), ('shortest_paths, weights')) f (function),
				 (VALUES (1), (2), (10), (50), (500)) s (n), (VALUES ('function'), ('LATERAL'), ('bfs')) w (way)
			WHERE (n <= 50 OR (kind = 'one source' AND way <> 'LATERAL'))
			AND (n > 1 OR kind <> 'one source') AND (n <> 2 OR kind = 'one source') AND (kind <> 'one source' OR n <> 10) AND (way <> 'bfs' OR (function = 'reachable' AND kind = 'one source'))
			AND (function = 'reachable' OR graph <> 'path' OR n < 10)
			AND concat_ws(' ', function, graph, kind, n) ~ pattern
			WINDOW same AS (PARTITION BY function, graph, kind, n ORDER BY way)
			ORDER BY function, graph, kind, n, way
		LOOP
			began := clock_timestamp();
			EXECUTE asked.statement INTO rows;
			IF turn > 0 THEN
				INSERT INTO timing VALUES (asked.way, asked.function, asked.graph, asked.kind, asked.n, extract(epoch FROM clock_timestamp() - began) * 1000);
			END IF;
			IF asked.first THEN
				other := rows;
			ELSIF other <> rows AND asked.function <> 'shortest_paths, weights' THEN
				RAISE EXCEPTION '% of % rows: %', rows, other, asked.statement;
			END IF;
		END LOOP;
	END LOOP;
END $$;
SELECT pg_temp.take_all(:turns, :'only') \g /dev/null

WITH medians AS (
	SELECT function, graph, kind, n, way, percentile_cont(0.5) WITHIN GROUP (ORDER BY ms) AS ms FROM timing GROUP BY function, graph, kind, n, way)
SELECT function, graph, kind, n AS pairs, round(max(ms) FILTER (WHERE way = 'function')::numeric, 2) AS "ours",
	   round(max(ms) FILTER (WHERE way = 'LATERAL')::numeric, 2) AS "LATERAL", round(max(ms) FILTER (WHERE way = 'bfs')::numeric, 2) AS "emogi_bfs",
	   round((max(ms) FILTER (WHERE way = 'function') / min(ms) FILTER (WHERE way <> 'function'))::numeric, 2) AS ratio
FROM medians GROUP BY medians.function, graph, kind, n ORDER BY medians.function, graph, kind, n;
DROP TABLE emogi_far_grid, emogi_far_path, emogi_far_parts, emogi_far_random;
