-- The examples of docs/functions.md, in order. Written by tools/manual, which also compares the outputs: tools/manual --check.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS emogi;
RESET client_min_messages;
CREATE SCHEMA test_manual_functions;
SET search_path = test_manual_functions, public;
\pset footer off

CREATE TABLE friends (src text, dst text);
INSERT INTO friends VALUES ('alice', 'bob'), ('bob', 'carol'), ('dave', 'erin');
SELECT * FROM emogi_bfs('friends', ARRAY['bob', 'dave']);

SELECT * FROM emogi_cc_text('friends') WHERE vertex = 'carol';

CREATE TABLE follows (src bigint, dst bigint);
INSERT INTO follows VALUES (1, 2), (1, 3), (2, 4), (3, 4), (4, 5), (6, 1);
SELECT * FROM emogi_bfs('follows', 1, max_depth => 2);

SELECT level, count(*) FROM emogi_bfs('follows', ARRAY[2, 3], direction => 'both') GROUP BY level ORDER BY level;

SELECT * FROM emogi_bfs_tree('follows', ARRAY[1, 3]);

SELECT predecessor, count(*) FROM emogi_bfs_tree('follows', 1) WHERE predecessor IS NOT NULL GROUP BY predecessor ORDER BY predecessor;

CREATE TABLE link (source int, target int, cost float8, mbit int);
INSERT INTO link VALUES (1, 2, 10, 100), (1, 3, 5, 1000), (3, 2, 3, 200), (2, 4, 2, 100), (3, 4, 9, 1000),
                        (4, 5, 4, 400), (7, 8, 1, 10);
SELECT * FROM emogi_sssp('link', 1);

SELECT * FROM emogi_sssp('link', 5, max_distance => 9, direction => 'both');

SELECT * FROM emogi_shortest_path_tree('link', 1);

SELECT vertex, source, distance, predecessor FROM emogi_shortest_path_tree('link', ARRAY[1, 5], max_distance => 9, direction => 'both');

WITH RECURSIVE tree AS MATERIALIZED (SELECT * FROM emogi_shortest_path_tree('link', 1)),
    way AS (SELECT * FROM tree WHERE vertex = 5 UNION ALL SELECT t.* FROM way JOIN tree t ON t.vertex = way.predecessor)
SELECT vertex, distance FROM way ORDER BY distance;

SELECT * FROM emogi_shortest_path('link', 1, 5);

SELECT * FROM emogi_distance_matrix('link', ARRAY[1, 3], ARRAY[1, 4, 5]);

SELECT * FROM emogi_shortest_paths('link', ARRAY[1, 2], ARRAY[5]);

SELECT source, target, max(distance) AS distance FROM emogi_shortest_paths('link', 'VALUES (1, 4), (2, 5), (5, 1)') GROUP BY source, target ORDER BY source;

SELECT * FROM emogi_k_shortest_paths('link', 1, 4, 2);

SELECT path_id, array_agg(vertex ORDER BY seq) AS path FROM emogi_all_shortest_paths('link(source, target)', 1, 5) GROUP BY path_id ORDER BY path_id;

SELECT cycle_id, array_agg(vertex ORDER BY seq) AS cycle, max(distance) AS distance FROM emogi_cycles('link', 3, direction => 'both') GROUP BY cycle_id ORDER BY cycle_id;

SELECT * FROM emogi_reachable('link', 'VALUES (1, 5), (5, 1), (1, 8), (7, 8)') ORDER BY source, target;

SELECT * FROM emogi_sswp('link(source, target, mbit)', 1);

SELECT * FROM emogi_ssnsp('link', 1);

SELECT vertex, paths AS in_common FROM emogi_ssnsp('link', 1, max_depth => 2) WHERE level = 2 ORDER BY paths DESC LIMIT 3;

SELECT component, count(*) AS vertices FROM emogi_cc('link') GROUP BY component ORDER BY component;

CREATE TABLE cites (src bigint, dst bigint);
INSERT INTO cites VALUES (1, 2), (2, 3), (3, 1), (3, 4), (4, 5), (5, 4), (5, 6);
SELECT component, array_agg(vertex) AS vertices FROM emogi_scc('cites') GROUP BY component ORDER BY component;

CREATE TABLE met (src bigint, dst bigint);
INSERT INTO met VALUES (1, 2), (2, 3), (3, 1), (3, 4), (4, 1), (4, 5), (2, 1);
SELECT vertex, triangles FROM emogi_triangles('met');

SELECT sum(triangles) / 3 AS triangles FROM emogi_triangles('met');

SELECT emogi_triangle_count('SELECT * FROM (VALUES (1, 2), (2, 3), (3, 1), (3, 4), (4, 1)) AS edges (src, dst)');

SELECT vertex, round(coefficient::numeric, 3) AS coefficient FROM emogi_lcc('met');

SELECT vertex FROM emogi_core('met') WHERE core >= 2;

SELECT vertex, label FROM emogi_cdlp('met');

SELECT * FROM emogi_louvain('met') WHERE parent IS NULL ORDER BY vertex;

SELECT vertex, community FROM emogi_leiden('met') WHERE parent IS NULL ORDER BY vertex;

CREATE TABLE relationships (source text, target text, weight float8);
INSERT INTO relationships
SELECT team || i, team || j, 3 FROM unnest(ARRAY['ann', 'bob', 'cai', 'dov', 'eve', 'fay']) AS team, generate_series(1, 3) AS i, generate_series(i + 1, 3) AS j
UNION ALL
SELECT a || i, b || i, 2 FROM (VALUES ('ann', 'bob'), ('bob', 'cai'), ('cai', 'ann'), ('dov', 'eve'), ('eve', 'fay'), ('fay', 'dov')) AS pair(a, b), generate_series(1, 3) AS i
UNION ALL
VALUES ('cai3', 'dov1', 1);
SELECT level, community, parent, array_agg(vertex ORDER BY vertex) AS entities
FROM emogi_leiden_text('relationships', max_cluster_size => 4)
GROUP BY level, community, parent ORDER BY level DESC, community;

INSERT INTO relationships VALUES ('gus', 'hal', 5);
WITH h AS (SELECT max(level) OVER () - level AS level, community, parent, vertex
           FROM emogi_leiden_text('relationships', max_cluster_size => 4)),
     c AS (SELECT level, community, parent, count(*) AS entities FROM h GROUP BY level, community, parent)
SELECT c.* FROM c LEFT JOIN c AS p ON p.level = c.level - 1 AND p.community = c.parent
WHERE p.entities IS DISTINCT FROM c.entities ORDER BY level, community;

SELECT round(emogi_modularity('met', 'SELECT vertex, community FROM emogi_leiden(''met'') WHERE parent IS NULL')::numeric, 4) AS leiden,
       round(emogi_modularity('met', 'SELECT vertex, label FROM emogi_cdlp(''met'')')::numeric, 4) AS cdlp;

SELECT vertex, degree, strength FROM emogi_degree('met', 'both');

CREATE TABLE needed (src bigint, dst bigint, weight float8);
INSERT INTO needed VALUES (1, 3, 2), (2, 3, 1), (3, 5, 4), (1, 4, 9), (4, 5, 1);
SELECT vertex, level, position FROM emogi_topological_order('needed') ORDER BY position;

INSERT INTO needed VALUES (5, 3, 1);
SELECT vertex FROM emogi_topological_order('needed') ORDER BY position;

DELETE FROM needed WHERE src = 5;
SELECT * FROM emogi_longest_path('needed');

CREATE TABLE cables (src bigint, dst bigint, weight float8);
INSERT INTO cables VALUES (1, 2, 4), (2, 3, 8), (3, 1, 5), (3, 4, 2), (4, 5, 3), (5, 6, 6), (6, 4, 6), (7, 8, 1), (8, 7, 9);
SELECT * FROM emogi_spanning_forest('cables');

SELECT * FROM emogi_bridges('cables');

SELECT * FROM emogi_articulation_points('cables');

SELECT * FROM emogi_biconnected('cables');

WITH members AS MATERIALIZED (SELECT component, vertex FROM emogi_biconnected('cables'))
SELECT src, dst, component FROM cables JOIN members s ON s.vertex = src
  JOIN members d USING (component) WHERE d.vertex = dst AND src <> dst ORDER BY component, src, dst;

SELECT vertex, reached, farness, round(closeness::numeric, 3) AS closeness, harmonic
FROM emogi_closeness('met', direction => 'both');

SELECT vertex, centrality FROM emogi_betweenness('met', normalized => false, direction => 'both');

CREATE TABLE bought (customer bigint, product bigint);
INSERT INTO bought VALUES (1, 100), (1, 101), (1, 102), (2, 101), (2, 102), (2, 103), (3, 102), (4, 200);
SELECT * FROM emogi_similarity('bought(customer, product)', top_k => 1);

SELECT * FROM emogi_similarity('bought(customer, product)', 'overlap', pairs => 'VALUES (1, 2), (1, 3), (1, 4)');

SELECT vertex2, similarity
FROM emogi_similarity('bought(customer, product)', pairs => 'SELECT DISTINCT a.customer, b.customer
                      FROM bought a JOIN bought b USING (product) WHERE a.customer = 1 AND b.customer <> 1')
ORDER BY similarity DESC, vertex2 LIMIT 10;

CREATE TABLE corridors (src bigint, dst bigint, weight float8);
INSERT INTO corridors VALUES (1, 2, 1), (2, 3, 1), (3, 1, 1), (3, 4, 9), (4, 5, 1);
SELECT walk, array_agg(vertex ORDER BY step) AS path FROM emogi_random_walk('corridors', 1, 6, 3, seed => 7) GROUP BY walk ORDER BY walk;

SELECT vertex, round(rank::numeric, 4) AS rank FROM emogi_pagerank('follows') ORDER BY rank DESC, vertex;

SELECT vertex, round(rank::numeric, 4) AS rank
  FROM emogi_pagerank('link', damping => 0.5, start => 'VALUES (1, 0.9), (4, 0.1)', direction => 'both', weights => true)
 ORDER BY rank DESC, vertex LIMIT 3;

SELECT vertex, round(centrality::numeric, 3) AS centrality FROM emogi_eigenvector('met', direction => 'both') ORDER BY vertex;

CREATE TABLE quotes (src int, dst int);
INSERT INTO quotes VALUES (1, 5), (1, 6), (1, 7), (2, 5), (2, 6), (3, 6), (4, 7), (5, 6);
SELECT vertex, centrality FROM emogi_katz('quotes', 0.5, normalized => false) ORDER BY centrality DESC, vertex LIMIT 3;

SELECT * FROM emogi_katz('met', 0.5, direction => 'both');

SELECT vertex, round(hub::numeric, 3) AS hub, round(authority::numeric, 3) AS authority FROM emogi_hits('quotes') ORDER BY vertex;

CREATE TABLE door (src int, dst int, weight float8);
INSERT INTO door VALUES (1, 2, 0.2), (2, 3, 0.1), (3, 4, 0.2);
SELECT steps, array_agg(round(value::numeric, 1) ORDER BY vertex) AS degrees
FROM unnest(ARRAY[1, 10, 100]) AS steps,
     emogi_heat('door', 'VALUES (1, 100)', max_iterations => steps, tolerance => 0)
GROUP BY steps ORDER BY steps;

CREATE TABLE resistor (a int, b int, ohm float8);
INSERT INTO resistor VALUES (1, 2, 1), (1, 3, 2), (2, 3, 2), (2, 4, 2), (3, 4, 1);
CREATE VIEW voltage AS
    SELECT * FROM emogi_circuit('SELECT a, b, 1 / ohm FROM resistor', 'VALUES (1, 9), (4, 0)');
SELECT vertex, round(value::numeric, 3) AS volts FROM voltage;

SELECT a, b, round(((v.value - w.value) / ohm)::numeric, 3) AS amperes
FROM resistor JOIN voltage v ON v.vertex = a JOIN voltage w ON w.vertex = b
ORDER BY a, b;

CREATE TABLE pattern (neuron int, sign int);
INSERT INTO pattern VALUES (1, 1), (2, -1), (3, 1), (4, 1), (5, -1);
CREATE TABLE synapse AS
    SELECT a.neuron AS src, b.neuron AS dst, 0.5 * a.sign * b.sign AS weight
    FROM pattern a JOIN pattern b ON a.neuron <> b.neuron;
SELECT vertex AS neuron, round(value::numeric, 2) AS activation
FROM emogi_neural('synapse', 'VALUES (1, 1), (2, -1), (3, -1)');

ANALYZE link;
SELECT edges, vertices, pg_size_pretty(graph_bytes) AS graph, fits FROM emogi_estimate('link', weights => true);

SELECT ok, cache, vertices, edges FROM emogi_check('link');

SELECT g.columns, g.direction, g.backward, c.ok, c.differs
FROM emogi_graphs AS g, LATERAL emogi_check(g.relation::regclass, g.direction, true, g.backward, columns => g.columns) AS c
WHERE g.database = current_database() AND g.source = 'link' ORDER BY 1, 2, 3;

SELECT length(emogi_pages('link', '{source,target}', 0, 1)) > 0 AS packed;

SELECT emogi_stamp('link', '{source,target}') = emogi_stamp('link', '{source,target}') AS unchanged;

SELECT cache, vertices, edges, kept FROM emogi_prewarm('link', weights => true, keep => true);

SELECT kept FROM emogi_prewarm('link', weights => true, keep => false);
