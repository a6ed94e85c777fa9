-- On the managed server: payments between accounts, in two partitions, and a publication. `edges` is how many.
DROP PUBLICATION IF EXISTS edges;
DROP TABLE IF EXISTS payment, payment_rank;
CREATE TABLE payment (
    id bigint GENERATED ALWAYS AS IDENTITY,
    payer bigint NOT NULL,
    receiver bigint NOT NULL,
    amount numeric(12, 2) NOT NULL,
    PRIMARY KEY (payer, id)
) PARTITION BY HASH (payer);
CREATE TABLE payment_1 PARTITION OF payment FOR VALUES WITH (MODULUS 2, REMAINDER 0);
CREATE TABLE payment_2 PARTITION OF payment FOR VALUES WITH (MODULUS 2, REMAINDER 1);
INSERT INTO payment (payer, receiver, amount)
SELECT 1 + abs(hashint8(2 * g)) % (:edges / 10), 1 + abs(hashint8(2 * g + 1)) % (:edges / 10), 1 + g % 1000
FROM generate_series(1, :edges) AS g;
CREATE INDEX ON payment (receiver);
CREATE TABLE payment_rank (account bigint PRIMARY KEY, score float8 NOT NULL);
ANALYZE payment;
CREATE PUBLICATION edges FOR TABLE payment WITH (publish_via_partition_root = true);
