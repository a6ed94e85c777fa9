-- Ask the two questions of breaks.sql and pulls.sql of emogi and of a recursive CTE, in turn, and compare the answers
-- row by row. Fails if one row differs.
\set ON_ERROR_STOP on
\pset footer off
SET client_min_messages = warning;
SET max_parallel_workers_per_gather = 2;
SET work_mem = '64MB';    -- enough that the CTE never writes to disk
SET jit = off;            -- compiling would cost the CTE more than it gains

-- The levels of all packages on the way from one package. A cycle would feed the CTE for ever, so it is given a bound
-- one level deeper than emogi went: a package that emogi missed would show up there.
CREATE FUNCTION pg_temp.recursive_cte(package text, follow text, yield text, deepest int) RETURNS text
LANGUAGE sql AS $$
    SELECT format('WITH RECURSIVE reached(vertex, level) AS (
                       SELECT id, 0 FROM package WHERE name = %L
                       UNION
                       SELECT d.%I, r.level + 1 FROM reached r JOIN requirement d ON d.%I = r.vertex WHERE r.level < %s)
                   SELECT vertex, min(level) AS level FROM reached GROUP BY vertex',
                  package, yield, follow, deepest + 1)
$$;

CREATE FUNCTION pg_temp.bfs(package text, direction text) RETURNS text
LANGUAGE sql AS $$
    SELECT format('SELECT vertex, level FROM emogi_bfs(''requirement'', (SELECT id FROM package WHERE name = %L), direction => %L)',
                  package, direction)
$$;

-- Milliseconds that a query takes to put its answer into a new temporary table.
CREATE FUNCTION pg_temp.answer_into(answer text, query text) RETURNS float8
LANGUAGE plpgsql AS $$
DECLARE
    start timestamptz;
BEGIN
    EXECUTE format('DROP TABLE IF EXISTS %I', answer);
    start := clock_timestamp();
    EXECUTE format('CREATE TEMP TABLE %I AS %s', answer, query);
    RETURN extract(epoch FROM clock_timestamp() - start) * 1000;
END
$$;

CREATE FUNCTION pg_temp.race(package text, direction text, runs int,
                             OUT packages bigint, OUT levels int, OUT emogi_ms float8, OUT cte_ms float8, OUT same boolean)
LANGUAGE plpgsql AS $$
DECLARE
    bfs  text := pg_temp.bfs(package, direction);
    cte  text;
    ms_emogi float8[];
    ms_cte   float8[];
BEGIN
    PERFORM pg_temp.answer_into('by_emogi', bfs);
    SELECT count(*), max(level) INTO packages, levels FROM by_emogi;
    IF direction = 'in' THEN
        cte := pg_temp.recursive_cte(package, 'dst', 'src', levels);
    ELSE
        cte := pg_temp.recursive_cte(package, 'src', 'dst', levels);
    END IF;
    FOR run IN 1 .. runs LOOP
        ms_emogi := ms_emogi || pg_temp.answer_into('by_emogi', bfs);
        ms_cte := ms_cte || pg_temp.answer_into('by_cte', cte);
    END LOOP;
    SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY ms) INTO emogi_ms FROM unnest(ms_emogi) AS ms;
    SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY ms) INTO cte_ms FROM unnest(ms_cte) AS ms;
    same := NOT EXISTS ((TABLE by_emogi EXCEPT ALL TABLE by_cte) UNION ALL (TABLE by_cte EXCEPT ALL TABLE by_emogi))
            AND packages > 1;
END
$$;

CREATE TEMP TABLE comparison AS
    SELECT question, race.*
    FROM (VALUES (1, 'breaks without libc6', 'libc6', 'in'), (2, 'pulled in by postgresql-15', 'postgresql-15', 'out'))
             AS asked(nr, question, package, direction),
         pg_temp.race(package, direction, :runs)
    ORDER BY nr;

SELECT question, packages, levels, round(emogi_ms::numeric, 1) AS "emogi ms", round(cte_ms::numeric, 1) AS "CTE ms",
       round((cte_ms / emogi_ms)::numeric, 2) AS "CTE / emogi",
       CASE WHEN same THEN 'same answer' ELSE 'DIFFERENT ANSWER' END AS answer
FROM comparison;

DO $$
BEGIN
    IF NOT (SELECT bool_and(same) AND count(*) = 2 FROM comparison) THEN
        RAISE EXCEPTION 'emogi and the recursive CTE gave different answers';
    END IF;
END
$$;
