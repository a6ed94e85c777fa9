-- emogi_estimate: the expected size of a graph.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS emogi;
DROP ROLE IF EXISTS regress_emogi_owner, regress_emogi_alice;
RESET client_min_messages;
CREATE ROLE regress_emogi_owner;
CREATE ROLE regress_emogi_alice;
CREATE SCHEMA test_estimate AUTHORIZATION regress_emogi_owner;
SET search_path = test_estimate, public;
\pset null (null)

SELECT proargnames, proallargtypes::regtype[] AS types, pg_get_expr(proargdefaults, 'pg_proc'::regclass) AS defaults, provolatile, proparallel, proisstrict
  FROM pg_proc WHERE proname = 'emogi_estimate' ORDER BY proargtypes;

-- near(): is the estimate of edges and vertices within 10 % of the actual numbers, and are its
-- bytes those of a graph of this size? New lists need 4 bytes per edge and 16 per vertex; the build
-- needs at least 16 bytes per edge more, 24 with weights. An extent has 2 MiB.
CREATE FUNCTION near(graph text, edges bigint, vertices bigint, weights bool DEFAULT false, direction text DEFAULT 'out') RETURNS text LANGUAGE sql AS $$
  SELECT concat_ws(', ', CASE WHEN abs(e.edges - $2) > $2 * 0.1 THEN 'edges ' || e.edges END,
                         CASE WHEN e.vertices NOT BETWEEN $3 * 0.9 AND $3 * 1.1 THEN 'vertices ' || e.vertices END,
                         CASE WHEN e.graph_bytes % (2 << 20) <> 0 OR e.graph_bytes NOT BETWEEN 4 * e.edges + 16 * e.vertices AND
                              (CASE $5 WHEN 'both' THEN 2 ELSE 1 END) * (CASE WHEN $4 THEN 12 ELSE 4 END) * e.edges + 16 * e.vertices + (4 << 20)
                              THEN 'graph_bytes ' || e.graph_bytes END,
                         CASE WHEN e.peak_bytes % (2 << 20) <> 0 OR e.peak_bytes < e.graph_bytes + (CASE WHEN $4 THEN 24 ELSE 16 END) * e.edges
                              THEN 'peak_bytes ' || e.peak_bytes END,
                         CASE WHEN e.allowed_bytes <> pg_size_bytes(current_setting('emogi.max_memory')) THEN 'allowed_bytes' END,
                         CASE WHEN e.fits <> (e.peak_bytes <= e.allowed_bytes) THEN 'fits' END)
    FROM emogi_estimate($1, $4, $5) e $$;

-- Graphs of several shapes, with statistics.
CREATE TABLE empty (src int, dst int);
CREATE TABLE chain AS SELECT i AS src, i + 1 AS dst FROM generate_series(1, 100000) i;
CREATE TABLE star AS SELECT 0 AS src, i AS dst, i::real AS weight FROM generate_series(1, 50000) i;
CREATE TABLE grid AS SELECT i::bigint AS src, i + step AS dst, i / 2.0 AS weight FROM generate_series(0, 39999) i, (VALUES (1), (200)) s(step);
CREATE TABLE sparse AS SELECT i * 1000000007::bigint AS src, -i * 1000000009::bigint AS dst FROM generate_series(1, 50000) i;
CREATE TABLE small_keys AS SELECT (i % 1000)::smallint AS src, (i % 999)::smallint AS dst FROM generate_series(1, 50000) i;
CREATE TABLE half (src int, dst int);
INSERT INTO half SELECT CASE WHEN i % 2 = 0 THEN i END, i FROM generate_series(1, 50000) i;
CREATE TABLE parts (src int, dst int) PARTITION BY RANGE (src);
CREATE TABLE part1 PARTITION OF parts FOR VALUES FROM (0) TO (10000);
CREATE TABLE part2 (dst int, src int);
ALTER TABLE parts ATTACH PARTITION part2 FOR VALUES FROM (10000) TO (100001);
INSERT INTO parts SELECT * FROM chain;
CREATE MATERIALIZED VIEW filled AS SELECT * FROM chain;
CREATE VIEW half_chain AS SELECT src, dst FROM chain WHERE src <= 50000;
SET default_statistics_target = 1000;
ANALYZE empty, chain, star, grid, sparse, small_keys, half, parts, part1, part2, filled;
SELECT graph, near(graph, edges, vertices) FROM (VALUES
  ('chain', 100000, 100001), ('chain(dst, src)', 100000, 100001), ('star', 50000, 50001), ('grid', 80000, 40200), ('sparse', 50000, 100000),
  ('small_keys', 50000, 1000), ('half', 25000, 50000), ('parts', 100000, 100001), ('part1', 9999, 10000), ('filled', 100000, 100001))
  g(graph, edges, vertices) WHERE near(graph, edges, vertices) <> '';
SELECT direction, near('grid', 80000, 40200, true, direction), near('star', 50000, 50001, true, direction), near('chain', 100000, 100001, false, direction)
  FROM unnest(ARRAY['out', 'in', 'both']) WITH ORDINALITY d(direction, n) ORDER BY n;

-- An empty table needs nothing.
SELECT edges, vertices, graph_bytes, peak_bytes, fits FROM emogi_estimate('empty(src, dst)');

-- Weights and 'both' need more; a table without weights does not.
SELECT a.graph_bytes < b.graph_bytes AS weights, a.peak_bytes < b.peak_bytes AS weights_peak, a.graph_bytes < c.graph_bytes AS both,
       a.edges = b.edges AND a.edges = c.edges AS same_rows
  FROM (VALUES ('SELECT i, i, 0.5 FROM generate_series(1, 1000000) i')) q(query), LATERAL emogi_estimate(query) a, LATERAL emogi_estimate(query, true) b,
       LATERAL emogi_estimate(query, direction => 'both') c;
SELECT a = b AS same FROM emogi_estimate('chain') a, emogi_estimate('chain', true) b;
SELECT a = b AS same FROM emogi_estimate('grid(src, dst)', true) a, emogi_estimate('grid', NULL, NULL) b;
SELECT a = b AS same FROM emogi_estimate('grid', direction => 'both') a, emogi_estimate('grid', false, 'BOTH') b;

-- Queries and views: the planner's estimate of rows; no statistics of their keys.
SELECT graph, edges BETWEEN 45000 AND 55000 AS edges, vertices = edges AS vertices, fits FROM
  (VALUES ('half_chain'), ('SELECT src, dst FROM chain WHERE src <= 50000'), ('(SELECT * FROM star)'), ('WITH c AS (SELECT * FROM half) SELECT dst, dst FROM c;'),
          ('TABLE small_keys')) g(graph), LATERAL emogi_estimate(graph) ORDER BY graph;
SELECT edges, vertices, fits FROM emogi_estimate('VALUES (1, 2), (2, 3)');
SELECT a.graph_bytes <= b.graph_bytes AS larger, a.peak_bytes < b.peak_bytes AS peak FROM emogi_estimate('TABLE grid') a, emogi_estimate('TABLE grid', true) b;

-- A graph larger than any memory does not fit; nothing is built and nothing runs.
SELECT edges > 1000000000000 AS many, graph_bytes > allowed_bytes AS large, peak_bytes > graph_bytes AS peak, fits
  FROM emogi_estimate('SELECT a.src, b.dst FROM chain a, chain b, chain c, chain d, chain e');
SELECT fits FROM emogi_estimate('SELECT 1, 1 / (SELECT 0 FROM empty)');

-- The privileges of a call, also for queries, and row security.
SET ROLE regress_emogi_owner;
CREATE TABLE secret (src int, dst int, weight int);
INSERT INTO secret SELECT i, i, i FROM generate_series(1, 1000) i;
CREATE VIEW opened AS SELECT src, dst FROM secret;
GRANT USAGE ON SCHEMA test_estimate TO regress_emogi_alice;
GRANT SELECT ON opened TO regress_emogi_alice;
SET ROLE regress_emogi_alice;
SELECT fits FROM emogi_estimate('secret');
SELECT fits FROM emogi_estimate('SELECT src, dst FROM secret WHERE weight = 7');
SELECT fits FROM emogi_estimate('opened');
RESET ROLE;
GRANT SELECT (src, dst) ON secret TO regress_emogi_alice;
SET ROLE regress_emogi_alice;
SELECT fits FROM emogi_estimate('secret');
SELECT fits FROM emogi_estimate('SELECT src, dst FROM secret');
SELECT fits FROM emogi_estimate('secret', true);
SELECT fits FROM emogi_estimate('SELECT src, dst FROM secret WHERE weight = 7');
RESET ROLE;
ALTER TABLE secret ENABLE ROW LEVEL SECURITY;
CREATE POLICY p ON secret USING (src = 1);
ANALYZE secret;
SET ROLE regress_emogi_alice;
SELECT edges, vertices FROM emogi_estimate('secret');
SET row_security = off;
SELECT fits FROM emogi_estimate('secret');
RESET row_security;
RESET ROLE;
REVOKE USAGE ON SCHEMA test_estimate FROM regress_emogi_alice;
SET ROLE regress_emogi_alice;
SELECT fits FROM emogi_estimate('test_estimate.opened');
RESET ROLE;

-- Invalid arguments.
SELECT emogi_estimate(NULL);
SELECT emogi_estimate('chain', false, 'up');
SELECT emogi_estimate('missing');
SELECT emogi_estimate('chain(src, nothing)');
SELECT emogi_estimate('SELECT 1');
SELECT emogi_estimate('SELECT 1, 2; SELECT 3, 4');
SELECT emogi_estimate('SELECT 1, ''a''::text');
SELECT emogi_estimate('SELECT 1, 2, ''a''::text', true);
SELECT fits FROM emogi_estimate('SELECT 1, 2, ''a''::text');
SELECT emogi_estimate('SELECT 1, FROM');

SET client_min_messages = warning;
DROP SCHEMA test_estimate CASCADE;
DROP ROLE regress_emogi_owner, regress_emogi_alice;
