-- The examples of docs/servers.md, in order. Written by tools/manual, which also compares the outputs: tools/manual --check.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS emogi;
RESET client_min_messages;
CREATE SCHEMA test_manual_servers;
SET search_path = test_manual_servers, public;
SET emogi.engine = auto;
\pset footer off

CREATE TABLE shard_1 (src bigint, dst bigint);
CREATE TABLE shard_2 (src bigint, dst bigint);
INSERT INTO shard_1 VALUES (1, 2), (2, 3);
INSERT INTO shard_2 VALUES (3, 4), (4, 5), (3, 6);

SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS postgres_fdw;
DO $$ BEGIN
  EXECUTE format('CREATE SERVER east FOREIGN DATA WRAPPER postgres_fdw OPTIONS (dbname %1$L, host %2$L, port %3$L);
                  CREATE SERVER west FOREIGN DATA WRAPPER postgres_fdw OPTIONS (dbname %1$L, host %2$L, port %3$L)', current_database(),
                 coalesce(nullif(split_part(current_setting('unix_socket_directories'), ',', 1), ''), 'localhost'), current_setting('port'));
END $$;
CREATE USER MAPPING FOR CURRENT_USER SERVER east;
CREATE USER MAPPING FOR CURRENT_USER SERVER west;
CREATE TABLE follows (src bigint, dst bigint) PARTITION BY RANGE (src);
CREATE FOREIGN TABLE follows_1 PARTITION OF follows FOR VALUES FROM (1) TO (3) SERVER east OPTIONS (table_name 'shard_1');
CREATE FOREIGN TABLE follows_2 PARTITION OF follows FOR VALUES FROM (3) TO (5) SERVER west OPTIONS (table_name 'shard_2');
SELECT * FROM emogi_bfs('follows', 1);

SELECT function, source, cache, network_bytes > 0 AS over_network FROM emogi_runs WHERE source = 'follows' ORDER BY id DESC LIMIT 1;

DROP SERVER east CASCADE;
DROP SERVER west CASCADE;
