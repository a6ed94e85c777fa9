-- Pairs given as a list of integers are parsed without running the list as a query. Everything that
-- is not exactly such a list is run, with the same result and the same errors.
SET emogi.incremental_min_size = 0;
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS emogi;
CREATE TABLE ring (a bigint, b bigint);
INSERT INTO ring SELECT i, i % 20 + 1 FROM generate_series(1, 20) i WHERE i <> 10;
INSERT INTO ring VALUES (-5, -9223372036854775808), (-9223372036854775808, 9223372036854775807), (9223372036854775807, 1);
-- a list, and the same rows by a query that is run
CREATE FUNCTION same(list text) RETURNS TABLE (list text, reachable bool, paths bool, nrows bigint) LANGUAGE sql AS $$
	SELECT list,
		(SELECT string_agg(r::text, ' ') FROM emogi_reachable('ring(a, b)', list) r) IS NOT DISTINCT FROM
		(SELECT string_agg(r::text, ' ') FROM emogi_reachable('ring(a, b)', '/* run */ ' || list) r),
		(SELECT string_agg(r::text, ' ') FROM emogi_shortest_paths('ring(a, b)', list) r) IS NOT DISTINCT FROM
		(SELECT string_agg(r::text, ' ') FROM emogi_shortest_paths('ring(a, b)', '/* run */ ' || list) r),
		(SELECT count(*) FROM emogi_reachable('ring(a, b)', list)) $$;
SELECT s.* FROM unnest(ARRAY['VALUES (1, 8)', 'values(1,8),(8,1),(1,8)', E'  VaLuEs\t( 3 ,4 )\n, (12 , 9) ; ', 'VALUES (1, 1)', 'VALUES (-5, 1), (- 5, 007)',
	'VALUES (-9223372036854775808, 9223372036854775807)', 'VALUES (99, 1), (1, 99), (2, 3)',
	-- run
	'VALUES (1, 8) -- a comment', 'VALUES (1, 8), (NULL, 2)', 'VALUES (1, 4 + 4)', 'VALUES (1::bigint, 8)', 'VALUES (+1, 8)', 'VALUES (1, 8) ORDER BY 1', 'VALUES (1, 8) LIMIT 0',
	'(VALUES (1, 8))', 'VALUES (1, 8) UNION VALUES (2, 7)', 'SELECT 1, 8']) list, same(list) s;
-- random lists, of up to 300 pairs
SELECT count(*), bool_and(reachable), bool_and(paths) FROM generate_series(1, 20) i,
	LATERAL (SELECT 'VALUES ' || string_agg(format('(%s, %s)', (hashint8extended(k, i) & 1023) % 25, (hashint8extended(k, -i) & 1023) % 25), ', ') AS list
			 FROM generate_series(1, i * 15) k) l, same(l.list);
-- errors are those of the query
SELECT * FROM emogi_reachable('ring(a, b)', 'VALUES (1)');
SELECT * FROM emogi_reachable('ring(a, b)', 'VALUES (1, 2), (3)');
SELECT * FROM emogi_reachable('ring(a, b)', 'VALUES (1, 2) (3, 4)');
SELECT * FROM emogi_reachable('ring(a, b)', 'VALUES (1, 2),');
SELECT * FROM emogi_reachable('ring(a, b)', 'VALUES (1, 2, 3)');
SELECT * FROM emogi_reachable('ring(a, b)', 'VALUES (1, 9223372036854775808)');
SELECT * FROM emogi_reachable('ring(a, b)', 'VALUES (1, --8)');
SELECT * FROM emogi_reachable('ring(a, b)', 'VALUES (1, 2); VALUES (3, 4)');
SELECT * FROM emogi_reachable('ring(a, b)', 'VALUES');
SELECT * FROM emogi_reachable('ring(a, b)', '');
SELECT * FROM emogi_shortest_paths('ring(a, b)', 'VALUES (1, 2.5)');
-- other keys, and a graph without edges
CREATE TABLE named (a text, b text);
INSERT INTO named VALUES ('1', '2');
SELECT * FROM emogi_reachable('named(a, b)', 'VALUES (1, 2)');
SELECT * FROM emogi_reachable('named(a, b)', $$VALUES ('1', '2')$$);
TRUNCATE ring;
SELECT * FROM emogi_reachable('ring(a, b)', 'VALUES (1, 2)');
SELECT * FROM emogi_reachable('SELECT 1 AS src, 2 AS dst', 'VALUES (1, 2), (2, 1)');
DROP TABLE ring, named;
DROP FUNCTION same;
