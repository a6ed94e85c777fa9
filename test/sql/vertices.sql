-- Vertices that are in a graph even without an edge: a column `vertex` of a query, and
-- emogi_with_vertices.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS emogi;
DROP SCHEMA IF EXISTS test_vertices CASCADE;
DROP ROLE IF EXISTS regress_emogi_v;
RESET client_min_messages;
CREATE SCHEMA test_vertices;
SET search_path = test_vertices, public;
SET emogi.engine = auto;
\pset format unaligned
\pset tuples_only on
SELECT emogi_evict() IS NOT NULL;
CREATE TABLE edges (src int, dst int, weight float8);
INSERT INTO edges VALUES (1, 2, 1), (2, 3, 1), (5, 6, 2), (9, NULL, 1);
CREATE TABLE person (id bigint PRIMARY KEY, name text);
INSERT INTO person SELECT i, 'p' || i FROM generate_series(1, 8) i;
CREATE VIEW last_calls AS SELECT cache, vertices, edges, why_private FROM emogi_runs WHERE pid = pg_backend_pid() ORDER BY id DESC;

-- The text.
SELECT emogi_with_vertices('edges', 'person');
SELECT emogi_with_vertices('edges(src, dst)', 'test_vertices.person(id)');
SELECT emogi_with_vertices('SELECT 1 AS a, 2 AS b; ', 'SELECT 3; -- three');
SELECT emogi_with_vertices(emogi_with_vertices('edges(src, dst)', 'person'), 'VALUES (10)');
SELECT * FROM emogi_sssp(emogi_with_vertices('edges(src, dst)', 'person'), 1);

-- They are included in results.
SELECT * FROM emogi_cc(emogi_with_vertices('edges', 'person'));
SELECT cache, vertices, edges FROM last_calls LIMIT 1;
SELECT vertex, round(rank::numeric, 6) FROM emogi_pagerank(emogi_with_vertices('edges', 'person'));
SELECT cache, vertices, edges FROM last_calls LIMIT 1;
SELECT * FROM emogi_bfs(emogi_with_vertices('edges', 'person'), 8);
SELECT * FROM emogi_bfs(emogi_with_vertices('edges', 'person'), 8, direction => 'both');
SELECT * FROM emogi_bfs(emogi_with_vertices('edges', 'person'), ARRAY[7, 1]);
SELECT * FROM emogi_sssp(emogi_with_vertices('edges', 'person'), ARRAY[1, 4]);
SELECT * FROM emogi_sswp(emogi_with_vertices('edges', 'person'), 4);
SELECT * FROM emogi_shortest_path(emogi_with_vertices('edges', 'person'), 4, 7);
SELECT * FROM emogi_shortest_path(emogi_with_vertices('edges', 'person'), 4, 4);
SELECT * FROM emogi_ssnsp(emogi_with_vertices('edges', 'person'), 7);
SELECT ok, vertices, edges FROM emogi_check(emogi_with_vertices('edges', 'person'));
-- A missing vertex is not included.
SELECT * FROM emogi_bfs(emogi_with_vertices('edges', 'person'), 9);

-- Changes of either table are visible; the graph stays cached without them.
SELECT count(*) FROM emogi_cc(emogi_with_vertices('edges', 'person'));
SELECT cache FROM last_calls LIMIT 1;
INSERT INTO person VALUES (20);
SELECT count(*) FROM emogi_cc(emogi_with_vertices('edges', 'person'));
SELECT cache FROM last_calls LIMIT 1;
DELETE FROM person WHERE id IN (2, 4);
SELECT array_agg(vertex) FROM emogi_cc(emogi_with_vertices('edges', 'person'));
TRUNCATE edges;
SELECT array_agg(vertex) FROM emogi_cc(emogi_with_vertices('edges', 'person'));
SELECT * FROM emogi_bfs(emogi_with_vertices('edges', 'person'), 20);
SELECT sum(rank) = 1 FROM emogi_pagerank(emogi_with_vertices('edges', 'person'));
TRUNCATE person;
SELECT count(*) FROM emogi_cc(emogi_with_vertices('edges', 'person'));

-- A row may have an edge, a vertex or both; a NULL vertex is ignored.
SELECT * FROM emogi_cc('SELECT * FROM (VALUES (1, 2, 7), (NULL, NULL, 8), (3, 4, NULL), (5, NULL, NULL), (6, NULL, 9), (1, 1, 1)) AS v(src, dst, vertex)');
SELECT edges FROM last_calls LIMIT 1;
-- It has this meaning only together with src and dst, or source and target.
SELECT * FROM emogi_cc('SELECT vertex, parent FROM (VALUES (1, 2)) AS v(vertex, parent)');
-- Private graphs, too.
SELECT * FROM emogi_cc('SELECT src, dst, vertex FROM (VALUES (1, 2, 7)) AS v(src, dst, vertex) WHERE random() < 2');
SELECT cache, why_private FROM last_calls LIMIT 1;

-- Errors.
\set SHOW_CONTEXT never
SELECT emogi_with_vertices(NULL, 'person');
SELECT emogi_with_vertices('edges', NULL);
SELECT emogi_with_vertices('edges', 'nobody');
SELECT emogi_with_vertices('edges', 'person(no)');
SELECT emogi_with_vertices('edges', 'person(id');
SELECT emogi_with_vertices('edges', 'edges');
SELECT emogi_with_vertices('edges', 'SELECT 1, 2');
SELECT emogi_with_vertices('edges', 'SELECT FROM person');
SELECT emogi_with_vertices('edges', 'SELECT 1; SELECT 2');
SELECT emogi_with_vertices('edges', 'DELETE FROM edges RETURNING src');
SELECT emogi_with_vertices('edgs', 'person');
SELECT * FROM emogi_cc(emogi_with_vertices('edges', 'person(name)'));
SELECT * FROM emogi_cc('SELECT 1 AS src, 2 AS dst, 3 AS vertex, 4 AS vertex');
SELECT * FROM emogi_cc('SELECT 1 AS src, 2 AS dst, ''x''::text AS vertex');
CREATE ROLE regress_emogi_v;
GRANT USAGE ON SCHEMA test_vertices TO regress_emogi_v;
GRANT SELECT ON edges TO regress_emogi_v;
SET ROLE regress_emogi_v;
SELECT count(*) FROM emogi_cc(emogi_with_vertices('edges', 'person'));
RESET ROLE;
REVOKE ALL ON edges FROM regress_emogi_v;
REVOKE ALL ON SCHEMA test_vertices FROM regress_emogi_v;
DROP ROLE regress_emogi_v;

-- Keys of other types.
CREATE TABLE cites (src text, dst text);
INSERT INTO cites VALUES ('b', 'a'), ('c', NULL);
CREATE TABLE paper (id varchar(10));
INSERT INTO paper VALUES ('x'), ('a'), (NULL), ('y');
SELECT * FROM emogi_cc_text(emogi_with_vertices('cites', 'paper'));
SELECT * FROM emogi_bfs(emogi_with_vertices('cites', 'paper'), 'y');
SELECT * FROM emogi_bfs(emogi_with_vertices('cites', 'paper'), 'c');
CREATE TABLE links (tenant int, a uuid, b uuid, weight int);
INSERT INTO links VALUES (1, '00000000-0000-0000-0000-000000000001', '00000000-0000-0000-0000-000000000002', 3);
CREATE TABLE node (tenant int, id uuid);
INSERT INTO node VALUES (2, '00000000-0000-0000-0000-000000000001'), (1, NULL), (1, '00000000-0000-0000-0000-000000000001');
SELECT * FROM emogi_cc_text(emogi_with_vertices('links((tenant, a), (tenant, b), weight)', 'node(tenant, id)'));
SELECT * FROM emogi_sssp(emogi_with_vertices('links((tenant, a), (tenant, b), weight)', 'node(tenant, id)'), ARRAY['(2,00000000-0000-0000-0000-000000000001)', '(1,00000000-0000-0000-0000-000000000001)']);
SELECT * FROM emogi_cc_uuid(emogi_with_vertices('links(a, b)', 'SELECT gen_random_uuid() WHERE false'));
CREATE TABLE measures (src float8, dst float8, weight float8);
INSERT INTO measures VALUES (0.5, 1.5, 2);
SELECT * FROM emogi_sssp(emogi_with_vertices('measures', 'VALUES (7.25::float8)'), ARRAY['0.5', '7.25']);

-- Random graphs: components and levels are those of the graph in which each person has a self-loop;
-- isolated vertices change nothing else. Ranks are those computed by SQL.
CREATE TABLE e (src bigint, dst bigint, weight float8);
CREATE TABLE p (id bigint);
CREATE FUNCTION ranks(damping float8, n int) RETURNS TABLE (vertex bigint, rank float8) LANGUAGE plpgsql AS $$
BEGIN
	CREATE TEMP TABLE r ON COMMIT DROP AS SELECT v AS vertex, 1.0::float8 / count(*) OVER () AS rank
		FROM (SELECT src FROM e UNION SELECT dst FROM e UNION SELECT id FROM p) AS all_of(v);
	CREATE TEMP TABLE degree ON COMMIT DROP AS SELECT src, count(*) AS d FROM e GROUP BY src;
	FOR i IN 1..n LOOP
		CREATE TEMP TABLE s ON COMMIT DROP AS SELECT r.vertex,
			((1 - damping) + damping * (SELECT coalesce(sum(x.rank), 0) FROM r x WHERE NOT EXISTS (SELECT FROM degree d WHERE d.src = x.vertex))) / (SELECT count(*) FROM r)
			+ damping * coalesce((SELECT sum(x.rank / d.d) FROM e JOIN r x ON x.vertex = e.src JOIN degree d ON d.src = e.src WHERE e.dst = r.vertex), 0) AS rank FROM r;
		DROP TABLE r;
		ALTER TABLE s RENAME TO r;
	END LOOP;
	RETURN QUERY SELECT r.vertex, r.rank FROM r;
	DROP TABLE r, degree;
END $$;
CREATE FUNCTION differs(a text, b text) RETURNS bool LANGUAGE plpgsql AS $$
DECLARE
	c bigint;
BEGIN
	EXECUTE format('WITH a AS MATERIALIZED (%s), b AS MATERIALIZED (%s) SELECT count(*) FROM ((TABLE a EXCEPT ALL TABLE b) UNION ALL (TABLE b EXCEPT ALL TABLE a)) AS d', a, b) INTO c;
	RETURN c > 0;
END $$;
CREATE FUNCTION try(n int, scale bigint) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
	g text := emogi_with_vertices('e', 'p');
	h text := 'SELECT src, dst, weight FROM e UNION ALL SELECT id, id, 0 FROM p';
	nwrong int := 0;
	way text;
	s bigint;
BEGIN
	TRUNCATE e, p;
	INSERT INTO e SELECT (random() * n)::bigint * scale, (random() * n)::bigint * scale, 1 + (random() * 5)::int FROM generate_series(1, (random() * n)::int);
	INSERT INTO p SELECT (random() * 2 * n)::bigint * scale FROM generate_series(0, (random() * n)::int);
	nwrong := nwrong + differs(format('SELECT * FROM emogi_cc(%L)', g), format('SELECT * FROM emogi_cc(%L)', h))::int;
	FOREACH way IN ARRAY ARRAY['in', 'out', 'both'] LOOP
		SELECT id INTO s FROM p ORDER BY random() LIMIT 1;
		nwrong := nwrong + differs(format('SELECT * FROM emogi_bfs(%L, %s, direction => %L)', g, s, way), format('SELECT * FROM emogi_bfs(%L, %s, direction => %L)', h, s, way))::int;
		nwrong := nwrong + differs(format('SELECT * FROM emogi_sssp(%L, %s, direction => %L)', g, s, way), format('SELECT * FROM emogi_sssp(%L, %s, direction => %L)', h, s, way))::int;
		nwrong := nwrong + (SELECT count(*) FROM emogi_check(g, direction => way, backward => way = 'in') WHERE NOT ok);
	END LOOP;
	nwrong := nwrong + (SELECT count(*) FROM emogi_pagerank(g, damping => 0.85, max_iterations => 5, tolerance => 0) a FULL JOIN ranks(0.85, 5) b USING (vertex)
		WHERE (abs(a.rank - b.rank) < 1e-12) IS NOT TRUE);
	nwrong := nwrong + differs(format('SELECT count(*), count(DISTINCT component) FROM emogi_cc(%L)', g),
		format('SELECT count(*), count(DISTINCT component) FROM emogi_cc_text(%L)', emogi_with_vertices('SELECT src::text, dst::text FROM e', 'SELECT id::text FROM p')))::int;
	RETURN nwrong;
END $$;
SELECT sum(try(3 + i % 40, CASE WHEN i % 2 = 0 THEN 1 ELSE 1000000007 END)) FROM generate_series(1, 60) i;
SET client_min_messages = warning;
DROP SCHEMA test_vertices CASCADE;
