-- On the server with emogi: the partitions of the managed server, as foreign partitions. `folder` is its host, `user` a role there.
CREATE EXTENSION IF NOT EXISTS postgres_fdw;
DROP SERVER IF EXISTS managed CASCADE;
DROP TABLE IF EXISTS payment;
CREATE SERVER managed FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host :'folder', dbname 'postgres');
CREATE USER MAPPING FOR CURRENT_USER SERVER managed OPTIONS (user :'user');
CREATE TABLE payment (id bigint, payer bigint, receiver bigint, amount numeric(12, 2)) PARTITION BY HASH (payer);
CREATE FOREIGN TABLE payment_1 PARTITION OF payment FOR VALUES WITH (MODULUS 2, REMAINDER 0) SERVER managed;
CREATE FOREIGN TABLE payment_2 PARTITION OF payment FOR VALUES WITH (MODULUS 2, REMAINDER 1) SERVER managed;
CREATE FOREIGN TABLE payment_rank (account bigint, score float8) SERVER managed OPTIONS (batch_size '1000');
