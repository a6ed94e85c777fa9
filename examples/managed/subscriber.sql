-- On the server with emogi: a table of the published shape, with the columns that are edges and the key. `amount` may be
-- NULL here, as a publication with a column list leaves it out.
DROP SUBSCRIPTION IF EXISTS edges;
DROP TABLE IF EXISTS payment;
CREATE TABLE payment (
    id bigint NOT NULL,
    payer bigint NOT NULL,
    receiver bigint NOT NULL,
    amount numeric(12, 2),
    PRIMARY KEY (payer, id)
);
CREATE INDEX ON payment (receiver);
