-- Check the answers of ranks.sql, chain.sql, chains.sql and islands.sql by what defines them, in SQL. Fails if one is wrong.
-- Variables: desktop and target, the ends of the chain.
\set ON_ERROR_STOP on
\pset footer off
SET client_min_messages = warning;
SET work_mem = '64MB';
SET jit = off;

CREATE TEMP TABLE edge AS
    SELECT src, dst, coalesce(installed_kb, 0) AS weight FROM dependency JOIN package ON id = dst
    WHERE kind IN ('Depends', 'Pre-Depends');
CREATE INDEX ON edge (src);
CREATE INDEX ON edge (dst);
ANALYZE edge;

SELECT (SELECT id FROM package WHERE name = :'desktop') AS desktop_id,
       (SELECT id FROM package WHERE name = :'target') AS target_id,
       (SELECT id FROM package WHERE name = 'libc6') AS libc6_id
\gset

CREATE TEMP TABLE rank AS SELECT * FROM emogi_pagerank('edge');
CREATE TEMP TABLE step AS SELECT * FROM emogi_shortest_path('edge', :desktop_id, :target_id);
CREATE TEMP TABLE distance AS SELECT * FROM emogi_sssp('edge', :desktop_id);
CREATE TEMP TABLE paths AS SELECT * FROM emogi_ssnsp('edge', :desktop_id) WHERE vertex = :libc6_id;
CREATE TEMP TABLE component AS SELECT * FROM emogi_cc('edge');
ANALYZE rank, distance, component;

CREATE TEMP TABLE verdict (nr int, "check" text, found text, holds boolean);

INSERT INTO verdict
    SELECT 1, 'the ranks sum to 1', format('off by %s', abs(sum(rank) - 1)::numeric(20, 15)), abs(sum(rank) - 1) < 1e-9
    FROM rank;

-- rank = (1 - d) / n + d * (what comes in over the edges + an even share of what packages without dependencies have)
INSERT INTO verdict
    WITH degree AS (SELECT src, count(*) AS edges FROM edge GROUP BY src),
    incoming AS (SELECT dst, sum(rank / edges) AS rank FROM edge JOIN degree USING (src) JOIN rank ON vertex = src GROUP BY dst),
    whole AS (SELECT count(*) AS n, sum(rank) FILTER (WHERE edges IS NULL) AS dangling FROM rank LEFT JOIN degree ON src = vertex),
    again AS (SELECT rank.rank AS old, 0.15 / n + 0.85 * (coalesce(incoming.rank, 0) + dangling / n) AS new
              FROM whole, rank LEFT JOIN incoming ON dst = vertex)
    SELECT 2, 'one more round, in SQL, leaves the ranks alone',
           format('moves %s', sum(abs(new - old))::numeric(20, 15)), sum(abs(new - old)) < 1e-6
    FROM again;

-- Each step of the chain is a dependency, the cheapest one where there are several, and the sizes add up.
INSERT INTO verdict
    WITH hop AS (SELECT seq, distance, (SELECT min(weight) FROM edge WHERE src = before AND dst = vertex) AS weight
                 FROM (SELECT *, lag(vertex) OVER (ORDER BY seq) AS before FROM step) AS s)
    SELECT 3, 'the sizes along the chain add up to its length', format('%s KB', sum(weight)),
           coalesce(sum(weight) = max(distance) AND count(weight) = count(*) - 1, false)
    FROM hop;

-- No edge offers a package for less than emogi says, so no chain does.
INSERT INTO verdict
    SELECT 4, 'no dependency makes a chain that is cheaper', format('%s of %s', count(*) FILTER (WHERE cheaper), count(*)),
           NOT bool_or(cheaper) AND (SELECT distance FROM distance WHERE vertex = :target_id) = (SELECT max(distance) FROM step)
    FROM (SELECT u.distance + weight < coalesce(v.distance, 'Infinity') AS cheaper
          FROM distance AS u JOIN edge ON src = u.vertex LEFT JOIN distance AS v ON v.vertex = dst) AS offer;

-- Every chain of that many steps, one by one; and none with fewer.
INSERT INTO verdict
    WITH RECURSIVE walk(vertex, hops) AS (
        SELECT :desktop_id::bigint, 0
        UNION ALL
        SELECT dst, hops + 1 FROM walk JOIN edge ON src = vertex WHERE hops < (SELECT level FROM paths))
    SELECT 5, 'shortest chains to libc6, walked one by one', count(*)::text,
           coalesce(count(*) = max(paths) AND min(hops) = max(level), false)
    FROM walk, paths WHERE walk.vertex = :libc6_id;

-- Walk from the first package of each island, either way: that must find this island's packages, and no others.
INSERT INTO verdict
    WITH RECURSIVE reached(vertex, component) AS (
        SELECT DISTINCT component, component FROM component
        UNION
        SELECT other, component FROM reached
        JOIN LATERAL (SELECT dst FROM edge WHERE src = vertex UNION ALL SELECT src FROM edge WHERE dst = vertex) AS e(other) ON true)
    SELECT 6, 'the islands, walked from one package of each', format('%s islands', count(DISTINCT component)),
           count(*) = (SELECT count(*) FROM component) AND count(*) = count(c.vertex)
    FROM reached LEFT JOIN component AS c USING (vertex, component);

SELECT "check", found, CASE WHEN holds THEN 'right' ELSE 'WRONG' END AS answer FROM verdict ORDER BY nr;

DO $$
BEGIN
    IF NOT (SELECT bool_and(holds) AND count(*) = 6 FROM verdict) THEN
        RAISE EXCEPTION 'an answer of emogi is not what SQL finds';
    END IF;
END
$$;
