-- The examples of docs/functions/similarity.md, in order. Written by tools/manual, which also compares the outputs: tools/manual --check.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS emogi;
RESET client_min_messages;
CREATE SCHEMA test_manual_functions_similarity;
SET search_path = test_manual_functions_similarity, public;
SET emogi.engine = auto;
\pset footer off

CREATE TABLE bought (customer bigint, product bigint);
INSERT INTO bought VALUES (1, 100), (1, 101), (1, 102), (2, 101), (2, 102), (2, 103), (3, 102), (4, 200);
SELECT * FROM emogi_similarity('bought(customer, product)', top_k => 1);

SELECT * FROM emogi_similarity('bought(customer, product)', 'overlap', pairs => 'VALUES (1, 2), (1, 3), (1, 4)');

SELECT vertex2, similarity
FROM emogi_similarity('bought(customer, product)', pairs => 'SELECT DISTINCT a.customer, b.customer
                      FROM bought a JOIN bought b USING (product) WHERE a.customer = 1 AND b.customer <> 1')
ORDER BY similarity DESC, vertex2 LIMIT 10;
