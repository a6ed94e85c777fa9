-- The examples of docs/functions/centrality.md, in order. Written by tools/manual, which also compares the outputs: tools/manual --check.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS emogi;
RESET client_min_messages;
CREATE SCHEMA test_manual_functions_centrality;
SET search_path = test_manual_functions_centrality, public;
SET emogi.engine = auto;
\pset footer off

CREATE TABLE follows (src bigint, dst bigint);
INSERT INTO follows VALUES (1, 2), (1, 3), (2, 4), (3, 4), (4, 5), (6, 1);
CREATE TABLE met (src bigint, dst bigint);
INSERT INTO met VALUES (1, 2), (2, 3), (3, 1), (3, 4), (4, 1), (4, 5), (2, 1);
CREATE TABLE quotes (src int, dst int);
INSERT INTO quotes VALUES (1, 5), (1, 6), (1, 7), (2, 5), (2, 6), (3, 6), (4, 7), (5, 6);

SELECT vertex, degree, strength FROM emogi_degree('met', 'both');

SELECT vertex, round(rank::numeric, 4) AS rank FROM emogi_pagerank('follows') ORDER BY rank DESC, vertex;

CREATE TABLE link (source int, target int, cost float8);
INSERT INTO link VALUES (1, 2, 10), (1, 3, 5), (3, 2, 3), (2, 4, 2), (3, 4, 9), (4, 5, 4), (7, 8, 1);
SELECT vertex, round(rank::numeric, 4) AS rank
FROM emogi_pagerank('link', damping => 0.5, start => 'VALUES (1, 0.9), (4, 0.1)', direction => 'both', weights => true)
ORDER BY rank DESC, vertex LIMIT 3;

SELECT vertex, round(centrality::numeric, 3) AS centrality FROM emogi_eigenvector('met', direction => 'both') ORDER BY vertex;

SELECT vertex, centrality FROM emogi_katz('quotes', 0.5, normalized => false) ORDER BY centrality DESC, vertex LIMIT 3;

SELECT * FROM emogi_katz('met', 0.5, direction => 'both');

SELECT vertex, round(hub::numeric, 3) AS hub, round(authority::numeric, 3) AS authority FROM emogi_hits('quotes') ORDER BY vertex;

SELECT vertex, reached, farness, round(closeness::numeric, 3) AS closeness, round(harmonic::numeric, 3) AS harmonic
FROM emogi_closeness('met', direction => 'both');

SELECT vertex, centrality FROM emogi_betweenness('met', normalized => false, direction => 'both');
