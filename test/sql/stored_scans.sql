-- Scans of functions that materialize all their rows: EXPLAIN shows their graph, and the rows are
-- those of a FunctionScan.
CREATE TABLE ring (src bigint NOT NULL, dst bigint NOT NULL, weight int NOT NULL CHECK (weight >= 0));
INSERT INTO ring SELECT i, i % 20000 + 1, 1 FROM generate_series(1, 20000) i;
INSERT INTO ring SELECT i, i - 2, 2 FROM generate_series(3, 20000, 5) i;
CREATE INDEX ON ring (src);
CREATE INDEX ON ring (dst);
VACUUM ANALYZE ring;
SET emogi.index_search_min_size = 0;
SET emogi.engine = auto;

CREATE FUNCTION plan(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
    line text;
BEGIN
    FOR line IN EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF, BUFFERS OFF) ' || query LOOP
        CONTINUE WHEN line ~ '(Engine|Edges Traversed|Levels|Link)';
        RETURN NEXT regexp_replace(line, 'rows=(\d+)(\.\d+)?', 'rows=\1');
    END LOOP;
END
$$;

-- before execution: an index search, a build, a cached graph, a private one
EXPLAIN (COSTS OFF) SELECT * FROM emogi_cycles('ring', 3, 4);
EXPLAIN (COSTS OFF) SELECT * FROM emogi_reachable('ring', 'VALUES (3, 4), (5, 9)');
EXPLAIN (COSTS OFF) SELECT * FROM emogi_k_shortest_paths('ring', 3, 6, 2);
EXPLAIN (COSTS OFF) SELECT * FROM emogi_all_shortest_paths('ring', 3, 6);
EXPLAIN (COSTS OFF) SELECT * FROM emogi_shortest_paths('ring', ARRAY[3], ARRAY[6, 8]);
EXPLAIN (COSTS OFF) SELECT * FROM emogi_shortest_paths('ring', 'VALUES (3, 6)', direction => 'both');
EXPLAIN (COSTS OFF) SELECT * FROM emogi_triangle_count('ring'::regclass) n WHERE n > 3;
EXPLAIN (COSTS OFF) SELECT * FROM emogi_modularity('ring', 'SELECT src, src % 7 FROM ring');
EXPLAIN (COSTS OFF)
    SELECT * FROM emogi_cycles('SELECT src, dst FROM ring WHERE random() < 2', 3, 4);
EXPLAIN (COSTS OFF) SELECT * FROM emogi_cycles('no_such_table', 3, 4);
-- an argument that is not constant, but does not affect the graph; a direction that is not constant
EXPLAIN (COSTS OFF) SELECT * FROM generate_series(1, 3) v, LATERAL emogi_cycles('ring', v, 4);
PREPARE with_direction AS SELECT * FROM emogi_cycles('ring', 3, 4, 10, $1);
SET plan_cache_mode = force_generic_plan;
EXPLAIN (COSTS OFF) EXECUTE with_direction('out');
RESET plan_cache_mode;

-- with ANALYZE: by index, built, cached
SELECT * FROM plan($$SELECT * FROM emogi_cycles('ring', 3, 4)$$);
SELECT * FROM plan($$SELECT * FROM emogi_reachable('ring', 'VALUES (3, 4), (5, 9)')$$);
SET emogi.enable_index_search = off;
EXPLAIN (COSTS OFF) SELECT * FROM emogi_cycles('ring', 3, 4);
SELECT * FROM plan($$SELECT * FROM emogi_cycles('ring', 3, 4)$$);
EXPLAIN (COSTS OFF) SELECT * FROM emogi_cycles('ring', 3, 4);
SELECT * FROM plan($$SELECT * FROM emogi_cycles('ring', 3, 4)$$);
SELECT * FROM plan($$SELECT * FROM emogi_reachable('ring', 'VALUES (3, 4), (5, 9)') WHERE target = 9$$);
SELECT * FROM plan($$SELECT * FROM emogi_k_shortest_paths('ring', 3, 6, 2)$$);
SELECT * FROM plan($$SELECT * FROM emogi_shortest_paths('ring', ARRAY[3], ARRAY[6, 8])$$);
SELECT * FROM plan($$SELECT * FROM emogi_triangle_count('ring')$$);
SELECT * FROM plan($$SELECT * FROM emogi_triangle_count('ring')$$);
SELECT * FROM plan($$SELECT * FROM emogi_cycles('SELECT src, dst FROM ring WHERE random() < 2', 3, 4)$$);
-- the record is that of the call, not of a call in its arguments; none without a source
SELECT * FROM plan($$SELECT * FROM emogi_cycles('ring', emogi_triangle_count('ring'), 4)$$);
SELECT * FROM plan($$SELECT * FROM emogi_cycles('ring', nullif(emogi_triangle_count('ring'), 4000), 4)$$);
SELECT * FROM plan($$SELECT * FROM emogi_cycles('ring', NULL::bigint, 4)$$);
-- executed once for each source, and again only if the source changes
SELECT * FROM plan($$SELECT * FROM generate_series(1, 3) v, LATERAL emogi_cycles('ring', v, 4)$$);
SET enable_material = off;
SET enable_hashjoin = off;
SELECT * FROM plan($$SELECT * FROM generate_series(1, 3) v LEFT JOIN emogi_cycles('ring', 3, 4) c ON c.seq <> v$$);
RESET enable_material;
RESET enable_hashjoin;

-- the same rows as a FunctionScan, with conditions, some columns, a subselect, a rescan
CREATE FUNCTION both_ways(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    results text[];
    result text;
BEGIN
    FOR enabled IN 0..1 LOOP
        PERFORM set_config('emogi.enable_scan', enabled::text, true);
        EXECUTE format('SELECT string_agg(r::text, '' '') FROM (%s) r', query) INTO result;
        results[enabled] := coalesce(result, 'none');
    END LOOP;
    RETURN CASE WHEN results[0] = results[1] THEN results[0] ELSE format('%s / %s', results[0], results[1]) END;
END
$$;
SELECT both_ways($$SELECT * FROM emogi_cycles('ring', 3, 4)$$);
SELECT both_ways($$SELECT distance, seq FROM emogi_cycles('ring', 3, 4) WHERE vertex > 1 ORDER BY seq DESC$$);
SELECT both_ways($$SELECT v, n FROM generate_series(1, 6) v,
    LATERAL (SELECT count(*) n FROM emogi_cycles('ring', v, 4)) c$$);
SELECT both_ways($$SELECT v, (SELECT sum(cost) FROM emogi_cycles('ring', v, 4)) FROM generate_series(2, 4) v$$);
SELECT both_ways($$SELECT * FROM emogi_reachable('ring', 'VALUES (3, 4), (5, 9)') WHERE reachable$$);
SELECT both_ways($$SELECT count(*) FROM emogi_shortest_paths('ring', ARRAY[3], ARRAY[6, 8]) a,
    emogi_all_shortest_paths('ring', 3, 6) b$$);
SELECT both_ways($$SELECT * FROM emogi_triangle_count('ring') n$$);
SELECT both_ways($$SELECT n + 1 FROM emogi_triangle_count('ring') n WHERE n < 3$$);
SELECT both_ways($$SELECT c FROM emogi_cycles('ring', 3, 4) c$$);
SELECT both_ways($$SELECT * FROM emogi_cycles('ring', 3, 4) WITH ORDINALITY$$);
-- a cursor, backward too
BEGIN;
DECLARE steps SCROLL CURSOR FOR SELECT cycle_id, seq, vertex FROM emogi_cycles('ring', 3, 4);
FETCH 2 FROM steps;
FETCH BACKWARD 1 FROM steps;
FETCH 3 FROM steps;
COMMIT;
-- as of a FunctionScan, without SCROLL
BEGIN;
DECLARE steps CURSOR FOR SELECT cycle_id, seq, vertex FROM emogi_cycles('ring', 3, 4);
FETCH 2 FROM steps;
FETCH BACKWARD 1 FROM steps;
FETCH 3 FROM steps;
MOVE BACKWARD ALL FROM steps;
FETCH 1 FROM steps;
COMMIT;

-- the privilege to execute is that of a FunctionScan
CREATE ROLE emogi_no_cycles;
GRANT SELECT ON ring TO emogi_no_cycles;
BEGIN;
REVOKE EXECUTE ON ALL FUNCTIONS IN SCHEMA public FROM PUBLIC;
SET LOCAL ROLE emogi_no_cycles;
SELECT * FROM emogi_cycles('ring', 3, 4);
ROLLBACK;

RESET emogi.enable_index_search;
RESET emogi.index_search_min_size;
DROP FUNCTION plan, both_ways;
DROP TABLE ring;
DROP ROLE emogi_no_cycles;
