-- The first call builds the graph of a table, later ones share it, and an UPDATE is seen at once. Fails if an answer is
-- not what the table says.
\set ON_ERROR_STOP on
\pset footer off
SET client_min_messages = warning;

-- Count the packages that need libc6, in whatever way, and take the time.
CREATE FUNCTION pg_temp.ask_emogi(OUT packages bigint, OUT ms numeric, OUT graph text)
LANGUAGE plpgsql AS $$
DECLARE
    start timestamptz := clock_timestamp();
BEGIN
    SELECT count(*) - 1 INTO packages
    FROM emogi_bfs('dependency', (SELECT id FROM package WHERE name = 'libc6'), direction => 'in');
    ms := round((extract(epoch FROM clock_timestamp() - start) * 1000)::numeric, 1);
    SELECT cache INTO graph FROM emogi_runs WHERE pid = pg_backend_pid() ORDER BY id DESC LIMIT 1;
END
$$;

CREATE TEMP TABLE asked (nr serial, step text, packages bigint, ms numeric, graph text);
SELECT id AS libc6 FROM package WHERE name = 'libc6' \gset
SELECT emogi_evict('dependency') AS evicted \gset

INSERT INTO asked (step, packages, ms, graph) SELECT 'first call', * FROM pg_temp.ask_emogi();
INSERT INTO asked (step, packages, ms, graph) SELECT 'second call', * FROM pg_temp.ask_emogi();
UPDATE dependency SET dst = -:libc6 WHERE dst = :libc6;
INSERT INTO asked (step, packages, ms, graph) SELECT 'after an UPDATE that takes libc6 away', * FROM pg_temp.ask_emogi();
INSERT INTO asked (step, packages, ms, graph) SELECT 'the same again', * FROM pg_temp.ask_emogi();
UPDATE dependency SET dst = :libc6 WHERE dst = -:libc6;

SELECT step, packages AS "need libc6", ms, graph FROM asked ORDER BY nr;

DO $$
BEGIN
    IF (SELECT array_agg(graph ORDER BY nr) FROM asked) <> '{built,hit,built,hit}' THEN
        RAISE EXCEPTION 'graphs were not shared as they should be: %', (SELECT array_agg(graph ORDER BY nr) FROM asked);
    END IF;
    IF NOT (SELECT count(DISTINCT packages) FILTER (WHERE nr <= 2) = 1 AND count(DISTINCT packages) FILTER (WHERE nr > 2) = 1
                   AND max(packages) FILTER (WHERE nr <= 2) > max(packages) FILTER (WHERE nr > 2) FROM asked) THEN
        RAISE EXCEPTION 'the answers do not follow the UPDATE';
    END IF;
END
$$;
