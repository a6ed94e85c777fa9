-- The examples of docs/tutorials/fraud-rings.md, in order. Written by tools/manual, which also compares the outputs: tools/manual --check.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS emogi;
RESET client_min_messages;
CREATE SCHEMA test_manual_tutorials_fraud_rings;
SET search_path = test_manual_tutorials_fraud_rings, public;
SET emogi.engine = auto;
\pset footer off

CREATE TABLE account (id int PRIMARY KEY, device int NOT NULL);
CREATE TABLE payment (id int PRIMARY KEY, src int NOT NULL, dst int NOT NULL, amount numeric NOT NULL, day int NOT NULL);
INSERT INTO account SELECT i, CASE WHEN i IN (40, 41, 97) THEN 5000 ELSE i + 1000 END FROM generate_series(1, 300) AS i;
INSERT INTO payment
SELECT i, src, least(src + 1 + i * 37 % 29, 300), 10 + i * 7919 % 990, i * 31 % 90
FROM (SELECT i, i % 299 + 1 AS src FROM generate_series(1, 900) AS i) AS p;
INSERT INTO payment VALUES
    (901, 17, 58, 9600, 80), (902, 58, 171, 9500, 81), (903, 171, 17, 9400, 83),
    (904, 40, 41, 4900, 30), (905, 41, 42, 4890, 31), (906, 42, 43, 4880, 31), (907, 43, 40, 4870, 33);
CREATE INDEX ON payment (src);
CREATE INDEX ON payment (dst);

SELECT component, array_agg(vertex ORDER BY vertex) AS accounts
FROM emogi_scc('payment WHERE amount >= 4000') GROUP BY component HAVING count(*) > 1 ORDER BY component;

SELECT cycle_id, array_agg(vertex ORDER BY seq) AS accounts, array_agg(edge ORDER BY seq) AS payments, max(distance) AS total
FROM emogi_cycles('payment(src, dst, amount, id) WHERE amount >= 4000', 17, max_length => 4) GROUP BY cycle_id ORDER BY cycle_id;

SELECT c.cycle_id, count(*) AS payments, max(p.day) - min(p.day) AS days, round(min(p.amount) / max(p.amount), 3) AS kept
FROM account AS a
JOIN LATERAL emogi_cycles('payment(src, dst, amount, id) WHERE amount >= 4000', a.id, max_length => 4) AS c ON true
JOIN payment AS p ON p.id = c.edge
WHERE a.id IN (17, 40) GROUP BY a.id, c.cycle_id ORDER BY kept;

SELECT vertex AS account, round(rank::numeric, 3) AS score
FROM emogi_pagerank('payment(src, dst, amount)', start => 'VALUES (17, 1)', direction => 'both', weights => true)
ORDER BY rank DESC LIMIT 3;

SELECT array_agg(vertex ORDER BY vertex) AS accounts
FROM emogi_cc('SELECT id, -device FROM account') WHERE vertex > 0 GROUP BY component HAVING count(*) > 1;

BEGIN;
INSERT INTO payment VALUES (908, 43, 97, 4850, 40), (909, 97, 40, 4840, 41);
SELECT cycle_id, array_agg(vertex ORDER BY seq) AS accounts
FROM emogi_cycles('payment(src, dst) WHERE amount >= 4000', 97) GROUP BY cycle_id ORDER BY cycle_id;

ROLLBACK;
