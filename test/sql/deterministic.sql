-- The same call on the same data returns the same bytes: every row, every digit.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS emogi;
RESET client_min_messages;
CREATE SCHEMA test_deterministic;
SET search_path = test_deterministic, public;
SET extra_float_digits = 3;
\pset format unaligned
\pset tuples_only on

-- A random graph with parallel edges of different weights, loops, hubs, a few components, and
-- weights with rounded sums.
CREATE FUNCTION pick(i bigint, seed bigint, n bigint) RETURNS bigint LANGUAGE sql IMMUTABLE AS
  'SELECT (hashint8extended(i, seed) & 9223372036854775807) % n';
CREATE TABLE edges AS
  SELECT pick(i, 1, 1 + pick(i, 2, 4000)) AS src, pick(i, 3, 4000) AS dst, 0.0001::float8 * (1 + pick(i, 4, 99)) AS weight FROM generate_series(1, 24000) i
  UNION ALL SELECT 5000 + i % 3, 5000 + i % 7, 0.1::float8 / (1 + i % 13) FROM generate_series(1, 200) i;
CREATE TABLE starts AS SELECT i AS vertex, pick(i, 5, 1000) / 999.0::float8 AS value FROM generate_series(0, 3999, 7) i;
CREATE TABLE calls (name text, exact bool, call text);
INSERT INTO calls VALUES
  ('bfs', true, 'emogi_bfs(%L, ARRAY[1, 17, 5001])'), ('bfs both', true, 'emogi_bfs(%L, 1, direction => ''both'')'),
  ('sssp', true, 'emogi_sssp(%L, 1)'), ('sssp in', true, 'emogi_sssp(%L, 1, direction => ''in'')'), ('sssp both', true, 'emogi_sssp(%L, ARRAY[1, 5002], 0.01, ''both'')'),
  ('sswp', true, 'emogi_sswp(%L, 1)'), ('sswp both', true, 'emogi_sswp(%L, ARRAY[1, 5002], ''both'')'),
  ('ssnsp', true, 'emogi_ssnsp(%L, 1)'), ('ssnsp both', true, 'emogi_ssnsp(%L, ARRAY[1, 5002], direction => ''both'')'),
  ('cc', true, 'emogi_cc(%L)'), ('louvain', true, 'emogi_louvain(%L)'), ('leiden', true, 'emogi_leiden(%L, seed => 3)'),
  ('pagerank', false, 'emogi_pagerank(%L)'), ('pagerank 20', false, 'emogi_pagerank(%L, 0.9, 20, 0)'),
  ('heat', false, 'emogi_heat(%L, ''TABLE starts'', 50, 1e-9)'), ('heat out', false, 'emogi_heat(%L, ''TABLE starts'', 50, 1e-9, ''out'')'),
  ('circuit', false, 'emogi_circuit(%L, ''TABLE starts'', 100)'), ('circuit out', false, 'emogi_circuit(%L, ''TABLE starts'', 100, 0, ''out'')'),
  ('neural', false, 'emogi_neural(%L, ''TABLE starts'', 30)'), ('neural both', false, 'emogi_neural(%L, ''TABLE starts'', 30, 0, ''both'')'),
  ('shortest path', true, 'emogi_shortest_path(%L, 1, 3999)');
CREATE TABLE sums (round text, name text, exact bool, rows bigint, sum text);
CREATE PROCEDURE note(round text, graph text) LANGUAGE plpgsql AS $$
DECLARE
  c calls;
BEGIN
  FOR c IN SELECT * FROM calls LOOP
    EXECUTE format('INSERT INTO sums SELECT $1, $2, $3, count(*), md5(string_agg(x::text, '' '')) FROM %s x', format(c.call, graph)) USING round, c.name, c.exact;
    COMMIT;
  END LOOP;
END $$;
CALL note('1', 'edges');
CALL note('2', 'edges');
SELECT name, count(*), count(DISTINCT sum), count(DISTINCT rows), min(rows) > 1 AS rows FROM sums GROUP BY name ORDER BY name COLLATE "C";

-- In another session, with other plans, and with or without parallel workers: still the same bytes.
\c -
SET search_path = test_deterministic, public;
SET extra_float_digits = 3;
CALL note('3', 'edges');
SET emogi.build_workers = 2;
SET min_parallel_table_scan_size = 0;
CALL note('4', 'edges');
RESET emogi.build_workers;
RESET min_parallel_table_scan_size;
SELECT count(*), count(*) FILTER (WHERE sums <> 1) AS changed FROM (SELECT count(DISTINCT sum) AS sums FROM sums GROUP BY name) s;

-- The exact algorithms do not depend on the order of the rows, nor on how they are read.
CREATE TABLE turned AS SELECT dst, src, weight, 'x' AS note FROM edges ORDER BY weight DESC, dst, src;
CALL note('5', 'turned');
CALL note('6', 'SELECT src, dst, weight FROM turned');
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
CALL note('7', 'SELECT src, dst, weight FROM edges');
CALL note('8', 'SELECT src, dst, weight FROM edges');
SELECT count(*), count(*) FILTER (WHERE sums <> 1) AS changed FROM (SELECT count(DISTINCT sum) AS sums FROM sums WHERE exact GROUP BY name) s;
-- The others do not depend on which worker read which rows.
SELECT count(*), count(*) FILTER (WHERE sums <> 1) AS changed FROM (SELECT count(DISTINCT sum) AS sums FROM sums WHERE round IN ('7', '8') GROUP BY name) s;
-- With another order of rows they may differ in their last digits only.
SELECT count(*) AS rows, count(*) FILTER (WHERE (abs(a.rank - b.rank) <= 1e-12 * a.rank) IS NOT TRUE) AS wrong
  FROM emogi_pagerank('edges', tolerance => 0) a FULL JOIN emogi_pagerank('turned', tolerance => 0) b USING (vertex);
SELECT count(*) AS rows, count(*) FILTER (WHERE (abs(a.value - b.value) <= 1e-12) IS NOT TRUE) AS wrong
  FROM emogi_heat('edges', 'TABLE starts', 50, 0) a FULL JOIN emogi_heat('turned', 'TABLE starts', 50, 0) b USING (vertex);

-- A change of one row changes dependent results, and its reversal restores the bytes.
BEGIN;
UPDATE edges SET weight = weight + 0.5 WHERE ctid = (SELECT e.ctid FROM edges e WHERE src = 1 AND dst <> 1 ORDER BY dst, weight LIMIT 1);
SELECT (SELECT md5(string_agg(x::text, ' ')) FROM emogi_heat('edges', 'TABLE starts', 50, 1e-9) x) <> sum AS changed FROM sums WHERE round = '1' AND name = 'heat';
ROLLBACK;
SELECT (SELECT md5(string_agg(x::text, ' ')) FROM emogi_heat('edges', 'TABLE starts', 50, 1e-9) x) = sum AS the_same FROM sums WHERE round = '1' AND name = 'heat';
