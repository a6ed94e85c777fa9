-- Rows of one vertex: from the edges around the vertex, with a cached graph and after a change of
-- its table; from the engine's run over the whole graph; and without a cached graph, from edges
-- found by index. Compared with a recursive or plain query over the same indexes. Random edges,
-- dense communities, and small components.
--
--   psql -X -v edges=1000000 -v vertices=400000 -v turns=9 -f bench/vertex_rows.sql
--
-- Requires a database with emogi preloaded. Creates and drops the tables emogi_bench_vertex_*. The
-- methods run in turn, with one vertex per turn. Prints medians in ms of whole statements,
-- including planning. All answers of a turn are compared.
\set ON_ERROR_STOP on
\if :{?edges} \else \set edges 1000000 \endif
\if :{?vertices} \else \set vertices 400000 \endif
\if :{?turns} \else \set turns 9 \endif
\pset footer off
SET client_min_messages = warning;
SET jit = off;
SET max_parallel_workers_per_gather = 0;
SET emogi.engine = cpu;
SELECT set_config('emogi_bench.turns', :'turns', false) AS turns, set_config('emogi_bench.vertices', :'vertices', false) AS vertices \gset ignored_
DROP TABLE IF EXISTS emogi_bench_vertex_random, emogi_bench_vertex_communities, emogi_bench_vertex_small;
CREATE TABLE emogi_bench_vertex_random AS
SELECT (hashint8extended(g, 1) & 9223372036854775807) % :vertices AS src, (hashint8extended(g, 2) & 9223372036854775807) % :vertices AS dst FROM generate_series(1, :edges::bigint) g;
-- communities of 50 vertices with 25 edges each; one in 64 edges leads elsewhere
CREATE TABLE emogi_bench_vertex_communities AS
SELECT v AS src, CASE WHEN (hashint8extended(g, 3) & 63) = 0 THEN w % (:edges / 25) ELSE v / 50 * 50 + w % 50 END AS dst
FROM generate_series(1, :edges::bigint) g, LATERAL (VALUES ((hashint8extended(g, 1) & 9223372036854775807) % (:edges / 25), hashint8extended(g, 2) & 9223372036854775807)) t(v, w);
-- components of 20 vertices
CREATE TABLE emogi_bench_vertex_small AS
SELECT v AS src, v / 20 * 20 + w % 20 AS dst
FROM generate_series(1, :edges::bigint) g, LATERAL (VALUES ((hashint8extended(g, 1) & 9223372036854775807) % :vertices, hashint8extended(g, 2) & 9223372036854775807)) t(v, w);
SELECT format('CREATE INDEX ON emogi_bench_vertex_%s (%s)', t, c) FROM unnest(ARRAY['random', 'communities', 'small']) t, unnest(ARRAY['src', 'dst']) c \gexec
VACUUM (ANALYZE) emogi_bench_vertex_random, emogi_bench_vertex_communities, emogi_bench_vertex_small;

CREATE TEMP TABLE timing (edges text, what text, way text, turn int, answer text, ms float8);
CREATE TEMP TABLE cases (place int, what text, emogi text, sql text);
INSERT INTO cases VALUES
(1, 'triangles', 'SELECT triangles FROM emogi_triangles({t}) WHERE vertex = $1',
	'WITH n AS MATERIALIZED (SELECT dst AS v FROM {r} WHERE src = $1 AND dst <> $1 UNION SELECT src FROM {r} WHERE dst = $1 AND src <> $1)
	 SELECT count(DISTINCT (least(a.v, b.v), greatest(a.v, b.v))) FROM n a JOIN {r} e ON e.src = a.v JOIN n b ON b.v = e.dst AND a.v <> b.v'),
(2, 'lcc', 'SELECT round(coefficient::numeric, 9) FROM emogi_lcc({t}) WHERE vertex = $1',
	'WITH n AS MATERIALIZED (SELECT dst AS v FROM {r} WHERE src = $1 AND dst <> $1 UNION SELECT src FROM {r} WHERE dst = $1 AND src <> $1)
	 SELECT round(coalesce(2 * count(DISTINCT (least(a.v, b.v), greatest(a.v, b.v))) / nullif((SELECT count(*) * (count(*) - 1) FROM n), 0)::numeric, 0), 9)
	 FROM n a JOIN {r} e ON e.src = a.v JOIN n b ON b.v = e.dst AND a.v <> b.v'),
(3, 'articulation_points', 'SELECT components FROM emogi_articulation_points({t}) WHERE vertex = $1', NULL),
(4, 'scc', 'SELECT component FROM emogi_scc({t}) WHERE vertex = $1',
	'WITH RECURSIVE a(v) AS (SELECT $1::bigint UNION SELECT dst FROM a JOIN {r} ON src = v), b(v) AS (SELECT $1::bigint UNION SELECT src FROM b JOIN {r} ON dst = v) SELECT min(v) FROM a JOIN b USING (v)'),
(5, 'core', 'SELECT core FROM emogi_core({t}) WHERE vertex = $1', NULL);

-- Run a statement for a vertex; record its answer and time.
CREATE FUNCTION pg_temp.take(edges text, what text, way text, turn int, statement text, v bigint) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
	began timestamptz := clock_timestamp();
	answer text;
BEGIN
	EXECUTE replace(statement, '$1', v::text) INTO answer;
	IF turn > 0 THEN
		INSERT INTO timing VALUES (edges, what, way, turn, answer, extract(epoch FROM clock_timestamp() - began) * 1000);
	END IF;
END $$;
-- Skip the recursive query for a component of nearly the whole graph.
CREATE PROCEDURE pg_temp.measure(edges text) LANGUAGE plpgsql AS $$
DECLARE
	relation text := 'emogi_bench_vertex_' || edges;
	way text;
	c cases;
	statement text;
	v bigint;
	nvertices bigint;
BEGIN
	EXECUTE format('SELECT max(src) FROM %I', relation) INTO nvertices;
	FOR c IN SELECT * FROM cases ORDER BY place LOOP
		statement := replace(c.emogi, '{t}', quote_literal(relation));
		EXECUTE format('SELECT count(*) FROM (%s) q', split_part(statement, ' WHERE vertex', 1));
		FOR turn IN 0 .. current_setting('emogi_bench.turns')::int LOOP
			v := (hashint8extended(turn, 5) & 9223372036854775807) % nvertices;
			FOREACH way IN ARRAY ARRAY['warm', 'changed'] LOOP
				FOREACH c.emogi IN ARRAY ARRAY['off', 'on'] LOOP
					IF way = 'changed' THEN
						EXECUTE format('INSERT INTO %I VALUES (%s, %s)', relation, v, (v + 17) % nvertices);
						COMMIT;
					END IF;
					PERFORM set_config('emogi.enable_local_search', c.emogi, false);
					PERFORM pg_temp.take(edges, c.what, way || ' ' || c.emogi, turn, statement, v);
				END LOOP;
			END LOOP;
			IF c.place <= 2 OR edges = 'small' THEN
				SET emogi.enable_cache = off;
				PERFORM pg_temp.take(edges, c.what, 'no graph', turn, statement, v);
				RESET emogi.enable_cache;
				IF c.sql IS NOT NULL THEN
					PERFORM pg_temp.take(edges, c.what, 'sql', turn, replace(c.sql, '{r}', relation), v);
				END IF;
			END IF;
		END LOOP;
	END LOOP;
END $$;
CALL pg_temp.measure('random');
CALL pg_temp.measure('communities');
CALL pg_temp.measure('small');
SELECT edges, what,
	round(max(ms) FILTER (WHERE way = 'warm off')::numeric, 3) AS "warm, engine", round(max(ms) FILTER (WHERE way = 'warm on')::numeric, 3) AS "warm",
	round(max(ms) FILTER (WHERE way = 'changed off')::numeric, 3) AS "changed, engine", round(max(ms) FILTER (WHERE way = 'changed on')::numeric, 3) AS "changed",
	round(max(ms) FILTER (WHERE way = 'no graph')::numeric, 3) AS "no graph", round(max(ms) FILTER (WHERE way = 'sql')::numeric, 3) AS "sql"
FROM (SELECT edges, what, way, percentile_cont(0.5) WITHIN GROUP (ORDER BY ms) AS ms FROM timing GROUP BY 1, 2, 3) q JOIN cases USING (what)
GROUP BY edges, what, place ORDER BY array_position(ARRAY['random', 'communities', 'small'], edges), place;
SELECT count(*) AS "answers that differ" FROM (SELECT FROM timing GROUP BY edges, what, turn, way LIKE 'warm%' HAVING count(DISTINCT coalesce(answer, 'none')) > 1 AND bool_and(way LIKE 'warm%')
	UNION ALL SELECT FROM timing WHERE way NOT LIKE 'warm%' GROUP BY edges, what, turn HAVING count(DISTINCT coalesce(answer, 'none')) > 1) q;
DROP TABLE emogi_bench_vertex_random, emogi_bench_vertex_communities, emogi_bench_vertex_small;
