-- Calls with a condition whose value differs in each call, compared with recursive CTEs over the
-- same indexes: cycles, paths, trees, degrees, searches in LATERAL, searches without a depth, a
-- small table, components, similarities, triangles, weighted windows, pairs, and paths with an
-- index on one endpoint column.
--
--   psql -X -v edges=1000000 -v vertices=100000 -v turns=60 -f bench/neighborhoods.sql
--
-- Requires a database with emogi preloaded. Creates and drops the tables emogi_bench_recent and
-- emogi_bench_small. Both methods run in turn, alternating the order, in `turns` rounds after 3
-- uncounted rounds. Prints medians in ms of the whole statements, including planning. All answers
-- are compared. Each call has a different timestamp in its condition, so the graph of an earlier
-- call cannot be used.
\set ON_ERROR_STOP on
\if :{?edges} \else \set edges 1000000 \endif
\if :{?vertices} \else \set vertices 100000 \endif
\if :{?turns} \else \set turns 60 \endif
\pset footer off
SET client_min_messages = warning;
SET jit = off;
DROP TABLE IF EXISTS emogi_bench_recent, emogi_bench_small, emogi_bench_by_src, emogi_bench_by_dst;
SELECT set_config('emogi_bench.turns', :'turns', false) AS turns, set_config('emogi_bench.vertices', :'vertices', false) AS vertices \gset ignored_
CREATE TABLE emogi_bench_recent (src int, dst int, at timestamptz, kind text, km float8 NOT NULL CHECK (km BETWEEN 0 AND 1000));
INSERT INTO emogi_bench_recent
SELECT community * :vertices / 50 + (hashint8extended(g, 1) & 9223372036854775807) % (:vertices / 50),
	   community * :vertices / 50 + (hashint8extended(g, 2) & 9223372036854775807) % (:vertices / 50),
	   now() - (hashint8extended(g, 7) & 65535) % 30 * interval '1 day', (ARRAY['x', 'x', 'owns', 'pays', 'likes'])[1 + (hashint8extended(g, 3) & 1023) % 5], (hashint8extended(g, 5) & 1023) / 256.0
FROM generate_series(1, :edges::bigint) g, LATERAL (SELECT (hashint8extended(g, 4) & 65535) % 50) t(community);
CREATE INDEX ON emogi_bench_recent (src);
CREATE INDEX ON emogi_bench_recent (dst);
CREATE TABLE emogi_bench_by_src AS SELECT * FROM emogi_bench_recent;
CREATE INDEX ON emogi_bench_by_src (src);
CREATE TABLE emogi_bench_by_dst AS SELECT * FROM emogi_bench_recent;
CREATE INDEX ON emogi_bench_by_dst (dst);
CREATE TABLE emogi_bench_small AS SELECT * FROM emogi_bench_recent LIMIT 20000;
CREATE INDEX ON emogi_bench_small (src);
CREATE INDEX ON emogi_bench_small (dst);
VACUUM (ANALYZE) emogi_bench_recent, emogi_bench_small, emogi_bench_by_src, emogi_bench_by_dst;
CREATE TEMP TABLE timing (what text, way text, turn int, answer text, ms float8);
-- $1: timestamp, $2: vertex, $3: another vertex, two edges away.
CREATE TEMP TABLE cases (place int, what text, emogi text, cte text);
INSERT INTO cases VALUES
(1, 'bfs, depth 4', 'SELECT count(*) FROM emogi_bfs({e}, $2, max_depth => 4)',
	'WITH RECURSIVE b(v, level) AS (SELECT $2, 0 UNION SELECT e.dst, level + 1 FROM b JOIN emogi_bench_recent e ON e.src = v AND at > $1 WHERE level < 4) SELECT count(DISTINCT v) FROM b'),
(2, 'bfs_tree, depth 4', 'SELECT count(predecessor) + 1 FROM emogi_bfs_tree({e}, $2, max_depth => 4)',
	'WITH RECURSIVE b(v, level, p) AS (SELECT $2, 0, NULL::int UNION SELECT e.dst, level + 1, v FROM b JOIN emogi_bench_recent e ON e.src = v AND at > $1 WHERE level < 4)
	 SELECT count(p) + 1 FROM (SELECT DISTINCT ON (v) v, p FROM b ORDER BY v, level, p) q'),
(3, 'cycles, at most 4 edges', 'SELECT count(DISTINCT cycle_id) FROM emogi_cycles({e}, $2, 4)',
	'WITH RECURSIVE b(v, path) AS (SELECT dst, ARRAY[$2, dst] FROM emogi_bench_recent WHERE src = $2 AND at > $1
	   UNION SELECT e.dst, path || e.dst FROM b JOIN emogi_bench_recent e ON e.src = v AND at > $1 WHERE v <> $2 AND cardinality(path) < 5 AND (e.dst = $2 OR e.dst <> ALL (path)))
	 SELECT count(*) FROM b WHERE v = $2'),
(4, 'shortest path', 'SELECT CASE WHEN count(*) BETWEEN 1 AND 9 THEN count(*) - 1 ELSE -1 END FROM emogi_shortest_path({e}, $2, $2 + 1)',
	'WITH RECURSIVE b(v, level) AS (SELECT $2, 0 UNION SELECT e.dst, level + 1 FROM b JOIN emogi_bench_recent e ON e.src = v AND at > $1 WHERE level < 8) SELECT coalesce(min(level), -1) FROM b WHERE v = $2 + 1'),
(5, 'bfs in LATERAL, 10 rows, depth 2', 'SELECT count(*) FROM generate_series($2, $2 + 9) s, LATERAL emogi_bfs({e}, s, max_depth => 2)',
	'SELECT count(*) FROM generate_series($2, $2 + 9) s, LATERAL (WITH RECURSIVE b(v, level) AS (SELECT s, 0 UNION SELECT e.dst, level + 1 FROM b JOIN emogi_bench_recent e ON e.src = v AND at > $1 WHERE level < 2)
	 SELECT DISTINCT v FROM b) q'),
(6, 'degree of a vertex', 'SELECT degree FROM emogi_degree({e}) WHERE vertex = $2', 'SELECT count(*) FROM emogi_bench_recent WHERE src = $2 AND at > $1'),
(7, 'bfs without depth, kind = pays', 'SELECT count(*) FROM emogi_bfs({k}, $2)',
	'WITH RECURSIVE b(v) AS (SELECT $2 UNION SELECT e.dst FROM b JOIN emogi_bench_recent e ON e.src = v AND at > $1 + interval ''4 days'' AND kind = ''pays'') SELECT count(*) FROM b'),
(8, 'bfs, depth 3, table of 20,000 edges', 'SELECT count(*) FROM emogi_bfs({s}, $2, max_depth => 3)',
	'WITH RECURSIVE b(v, level) AS (SELECT $2, 0 UNION SELECT e.dst, level + 1 FROM b JOIN emogi_bench_small e ON e.src = v AND at > $1 WHERE level < 3) SELECT count(DISTINCT v) FROM b'),
(9, 'cc, component of a vertex', 'SELECT component FROM emogi_cc({k}) WHERE vertex = $2',
	'WITH RECURSIVE b(v) AS (SELECT $2 UNION SELECT n.v FROM b, LATERAL (SELECT dst FROM emogi_bench_recent WHERE src = b.v AND at > $1 + interval ''4 days'' AND kind = ''pays''
	   UNION ALL SELECT src FROM emogi_bench_recent WHERE dst = b.v AND at > $1 + interval ''4 days'' AND kind = ''pays'') n(v)) SELECT min(v) FROM b'),
(10, 'bfs, both ways, without depth', 'SELECT count(*) FROM emogi_bfs({k}, $2, direction => ''both'')',
	'WITH RECURSIVE b(v) AS (SELECT $2 UNION SELECT n.v FROM b, LATERAL (SELECT dst FROM emogi_bench_recent WHERE src = b.v AND at > $1 + interval ''4 days'' AND kind = ''pays''
	   UNION ALL SELECT src FROM emogi_bench_recent WHERE dst = b.v AND at > $1 + interval ''4 days'' AND kind = ''pays'') n(v)) SELECT count(*) FROM b'),
(11, 'similarity to a vertex', 'SELECT round(coalesce(sum(similarity), 0)::numeric, 6) FROM emogi_similarity({e}) WHERE vertex1 = $2',
	'WITH n AS MATERIALIZED (SELECT DISTINCT dst FROM emogi_bench_recent WHERE src = $2 AND at > $1),
	   c AS MATERIALIZED (SELECT e.src, count(DISTINCT e.dst) AS shared FROM n JOIN emogi_bench_recent e USING (dst) WHERE at > $1 AND e.src <> $2 GROUP BY e.src)
	 SELECT round(coalesce(sum(similarity), 0)::numeric, 6) FROM (SELECT shared::float8 / ((SELECT count(*) FROM n) + size - shared) AS similarity
	   FROM c, LATERAL (SELECT count(DISTINCT dst) AS size FROM emogi_bench_recent e WHERE e.src = c.src AND at > $1) t ORDER BY 1 DESC LIMIT 10) q'),
(12, 'triangles of a vertex', 'SELECT triangles FROM emogi_triangles({e}) WHERE vertex = $2',
	'WITH n AS MATERIALIZED (SELECT dst AS v FROM emogi_bench_recent WHERE src = $2 AND dst <> $2 AND at > $1 UNION SELECT src FROM emogi_bench_recent WHERE dst = $2 AND src <> $2 AND at > $1)
	 SELECT count(DISTINCT (least(a.v, b.v), greatest(a.v, b.v))) FROM n a JOIN emogi_bench_recent e ON e.src = a.v AND at > $1 JOIN n b ON b.v = e.dst AND a.v <> b.v'),
(13, 'sssp, distance 3', 'SELECT count(*) FROM emogi_sssp({w}, $2, max_distance => 3)',
	'WITH RECURSIVE b(v, d) AS (SELECT $2, 0::float8 UNION SELECT e.dst, d + km FROM b JOIN emogi_bench_recent e ON e.src = v AND at > $1 WHERE d + km <= 3) SELECT count(DISTINCT v) FROM b'),
(14, 'shortest path by weight, two edges away', 'SELECT round(max(distance)::numeric, 6) FROM emogi_shortest_path({w}, $2, $3)',
	'WITH RECURSIVE b(v, d) AS (SELECT $2, 0::float8 UNION SELECT e.dst, d + km FROM b JOIN emogi_bench_recent e ON e.src = v AND at > $1 WHERE d + km <= 6) SELECT round(min(d)::numeric, 6) FROM b WHERE v = $3'),
(15, 'reachable, 3 pairs', $$SELECT count(*) FROM emogi_reachable({e}, format('VALUES (%1$s, %2$s), (%1$s, %1$s), (%2$s, %2$s)', $2, $3)) WHERE reachable$$,
	'SELECT count(*) FROM (VALUES ($2, $3), ($2, $2), ($3, $3)) p(s, t) WHERE EXISTS (WITH RECURSIVE b(v, level) AS (SELECT s, 0 UNION SELECT e.dst, level + 1 FROM b JOIN emogi_bench_recent e ON e.src = v AND at > $1 WHERE level < 2)
	   SELECT FROM b WHERE v = t)'),
(16, 'shortest_paths, 2 pairs', 'SELECT count(*) FROM emogi_shortest_paths({e}, ARRAY[$2]::bigint[], ARRAY[$2, $3]::bigint[])',
	'SELECT 1 + (WITH RECURSIVE b(v, level) AS (SELECT $2, 0 UNION SELECT e.dst, level + 1 FROM b JOIN emogi_bench_recent e ON e.src = v AND at > $1 WHERE level < 2) SELECT min(level) + 1 FROM b WHERE v = $3)'),
(17, 'distance_matrix, 2 targets', 'SELECT sum(distance) FROM emogi_distance_matrix({e}, ARRAY[$2]::bigint[], ARRAY[$2, $3]::bigint[])',
	'WITH RECURSIVE b(v, level) AS (SELECT $2, 0 UNION SELECT e.dst, level + 1 FROM b JOIN emogi_bench_recent e ON e.src = v AND at > $1 WHERE level < 2) SELECT min(level)::float8 FROM b WHERE v = $3'),
(18, 'shortest path, index of src alone', 'SELECT count(*) - 1 FROM emogi_shortest_path({a}, $2, $3)',
	'WITH RECURSIVE b(v, level) AS (SELECT $2, 0 UNION SELECT e.dst, level + 1 FROM b JOIN emogi_bench_by_src e ON e.src = v AND at > $1 WHERE level < 2) SELECT min(level) FROM b WHERE v = $3'),
(19, 'shortest path, index of dst alone', 'SELECT count(*) - 1 FROM emogi_shortest_path({b}, $2, $3)',
	'WITH RECURSIVE b(v, level) AS (SELECT $3, 0 UNION SELECT e.src, level + 1 FROM b JOIN emogi_bench_by_dst e ON e.dst = v AND at > $1 WHERE level < 2) SELECT min(level) FROM b WHERE v = $2');
UPDATE cases SET emogi = replace(replace(replace(replace(replace(replace(emogi, '{e}', $$format('SELECT src, dst FROM emogi_bench_recent WHERE at > %L', $1)$$),
	'{k}', $$format('SELECT src, dst FROM emogi_bench_recent WHERE at > %L AND kind = ''pays''', $1 + interval '4 days')$$),
	'{w}', $$format('SELECT src, dst, km FROM emogi_bench_recent WHERE at > %L', $1)$$),
	'{a}', $$format('SELECT src, dst FROM emogi_bench_by_src WHERE at > %L', $1)$$),
	'{b}', $$format('SELECT src, dst FROM emogi_bench_by_dst WHERE at > %L', $1)$$),
	'{s}', $$format('SELECT src, dst FROM emogi_bench_small WHERE at > %L', $1)$$);

DO $$
DECLARE
	turns int := current_setting('emogi_bench.turns');
	c record;
	began timestamptz;
	answer text;
	moment timestamptz;
	vertex int;
	near int;
	is_ours bool;
BEGIN
	FOR c IN SELECT * FROM cases ORDER BY place LOOP
		FOR turn IN -2 .. turns LOOP
			moment := date_trunc('day', now()) - interval '7 days' - (turn + 5) * interval '1.001 seconds' - c.place * interval '1 hour';
			vertex := (SELECT src FROM emogi_bench_small WHERE at > moment + interval '4 days' AND kind = 'pays' AND src + 9 < current_setting('emogi_bench.vertices')::int
				ORDER BY src OFFSET 7 * (turn + 3) LIMIT 1);
			near := coalesce((SELECT f.dst FROM emogi_bench_recent e JOIN emogi_bench_recent f ON f.src = e.dst WHERE e.src = vertex AND e.at > moment AND f.at > moment AND f.dst <> vertex
				AND NOT EXISTS (SELECT FROM emogi_bench_recent g WHERE g.src = vertex AND g.dst = f.dst) ORDER BY f.km LIMIT 1), vertex);
			FOR way IN 0 .. 1 LOOP
				is_ours := (way + turn) % 2 = 0;
				began := clock_timestamp();
				EXECUTE CASE WHEN is_ours THEN c.emogi ELSE c.cte END INTO answer USING moment, vertex, near;
				INSERT INTO timing VALUES (c.what, CASE WHEN is_ours THEN 'emogi' ELSE 'cte' END, turn, answer, extract(epoch FROM clock_timestamp() - began) * 1000);
			END LOOP;
		END LOOP;
	END LOOP;
END $$;

SELECT what, round(ours::numeric, 3) AS emogi_ms, round(theirs::numeric, 3) AS cte_ms, round((ours / theirs)::numeric, 2) AS ratio, answer
FROM (SELECT what, percentile_cont(0.5) WITHIN GROUP (ORDER BY ms) FILTER (WHERE way = 'emogi') AS ours, percentile_cont(0.5) WITHIN GROUP (ORDER BY ms) FILTER (WHERE way = 'cte') AS theirs,
	round(avg(answer::numeric), 1) AS answer FROM timing WHERE turn > 0 GROUP BY what) q JOIN cases USING (what) ORDER BY place;
SELECT count(*) AS different, string_agg(DISTINCT a.what, ', ') AS what FROM timing a JOIN timing b USING (what, turn) WHERE a.way = 'emogi' AND b.way = 'cte' AND a.answer IS DISTINCT FROM b.answer
	AND a.what NOT LIKE '%LATERAL%';
DROP TABLE emogi_bench_recent, emogi_bench_small, emogi_bench_by_src, emogi_bench_by_dst, timing, cases;
