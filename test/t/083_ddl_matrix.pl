# Every DDL statement form of PostgreSQL beside cached graphs: after each one, committed by another session, open in the same
# transaction, or rolled back, calls answer as they do with emogi.cache = off and as plain SQL does. A command that a new version
# brings makes the test fail until it has a row.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use DdlMatrix;
use EmogiTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(sleep);

# What the rows start from: a name => [set-up, graph argument, ...]. A set-up is run in the schema m, which calls search behind the
# schema "first", if there is one. Graphs are called with emogi_cc_text, or are whole calls, from SELECT emogi_ on.
my %fixture = (
	none => [''],

	# integers, with a view, a whole-row Var, an index and conditions
	edges => [q{CREATE TABLE e (src bigint, dst bigint, k int, t text, weight float8);
		INSERT INTO e VALUES (1, 2, 1, 'one', 1), (2, 3, 2, 'The cat', 2), (10, 11, 1, 'two', 3), (11, 12, NULL, NULL, 4);
		CREATE INDEX e_src ON e (src); CREATE VIEW v AS SELECT src, dst FROM e WHERE k IS NOT NULL},
		'e', 'e(src, dst)', 'v', 'SELECT src, dst FROM e WHERE e IS NOT NULL', 'SELECT src, dst FROM v WHERE src < 5', 'SELECT * FROM e',
		q{SELECT string_agg(vertex || ':' || distance, ' ') FROM emogi_sssp('e', 1)}],

	# composite values beside the keys
	composite => [q{CREATE TYPE c AS (a int, b int); CREATE TABLE e (src bigint, dst bigint, c c, d c);
		INSERT INTO e VALUES (1, 2, '(1,2)', '(1,2)'), (2, 3, '(1,2)', '(1,3)'), (10, 11, '(1,)', '(1,)'), (11, 12, '(2,1)', NULL), (20, 21, '(,)', '(3,3)');
		CREATE VIEW v AS SELECT src, dst FROM e WHERE c IS NOT NULL},
		'v', map { "SELECT src, dst FROM e WHERE $_" } ('c IS NOT NULL', 'c IS NULL', 'c = d', 'c < d', 'c IN (SELECT d FROM e)', 'c IS DISTINCT FROM d',
			q{c::text = '(1,2)'}, '(c).a = 1', '(c).b = 2', 'c *= d', q{to_jsonb(c) ? 'b'}, 'num_nulls(VARIADIC ARRAY[(c).a, (c).b]) = 0')],
	composite_groups => [q{CREATE TYPE c AS (a int, b int); CREATE TABLE e (src bigint, dst bigint, c c);
		INSERT INTO e VALUES (1, 2, '(1,2)'), (2, 3, '(1,3)'), (10, 11, '(1,2)'), (11, 12, '(1,3)')},
		'SELECT DISTINCT ON (c) src, dst FROM e ORDER BY c, src', 'SELECT min(src) AS src, max(dst) AS dst FROM e GROUP BY c', 'SELECT count(DISTINCT c) AS src, 100::bigint AS dst FROM e',
		'SELECT src, rank() OVER (ORDER BY c) AS dst FROM e', 'SELECT a.src, b.dst FROM e a JOIN e b USING (c)', 'SELECT count(*) AS src, 0::bigint AS dst FROM (SELECT c FROM e UNION SELECT c FROM e) u',
		'SELECT src, dst FROM (SELECT src, dst, c FROM e ORDER BY c DESC, src LIMIT 2) s'],
	composite_keys => [q{CREATE TYPE c AS (a int, b int); CREATE TABLE e (src c, dst c); INSERT INTO e VALUES ('(1,1)', '(1,2)'), ('(1,2)', '(1,3)'), ('(5,1)', '(5,)'), ('(7,7)', '(7,8)');
		CREATE VIEW v AS SELECT src, dst FROM e},
		'e', 'e(src, dst)', 'v', 'SELECT src, dst FROM e', 'SELECT (src).a AS src, (dst).b AS dst FROM e', 'SELECT ROW((src).a, 1) AS src, ROW((dst).a, 2) AS dst FROM e', 'SELECT ROW(src, 1) AS src, ROW(dst, 1) AS dst FROM e',
		q{SELECT string_agg(vertex || ':' || level, ' ') FROM emogi_bfs('e', '(1,1)'::text)}],
	nested_keys => [q{CREATE TYPE c AS (a int, b int); CREATE TYPE n AS (c c, z int); CREATE TABLE e (src n, dst n);
		INSERT INTO e VALUES ('("(1,1)",1)', '("(1,2)",1)'), ('("(1,2)",1)', '("(2,2)",1)'), ('("(5,1)",2)', '("(5,3)",2)')}, 'e', 'SELECT src, dst FROM e', 'SELECT (src).c AS src, (dst).c AS dst FROM e'],
	array_keys => [q{CREATE TYPE c AS (a int, b int); CREATE TABLE e (src c[], dst c[]);
		INSERT INTO e VALUES ('{"(1,1)"}', '{"(1,2)"}'), ('{"(1,2)"}', '{"(2,2)","(2,3)"}'), ('{"(5,1)"}', '{"(5,3)"}')}, 'e', 'SELECT src, dst FROM e', 'SELECT src[1] AS src, dst[1] AS dst FROM e'],
	range_keys => [q{CREATE TYPE c AS (a int, b int); CREATE TYPE cr AS RANGE (subtype = c); CREATE TABLE e (src cr, dst cr);
		INSERT INTO e VALUES ('["(1,1)","(1,9)"]', '["(2,1)","(2,9)"]'), ('["(2,1)","(2,9)"]', '["(3,1)","(3,9)"]'), ('["(5,1)","(5,9)"]', '["(6,1)","(6,9)"]')},
		'e', 'SELECT src, dst FROM e', 'SELECT lower(src) AS src, upper(dst) AS dst FROM e', q{SELECT 1 AS src, 2 AS dst FROM e WHERE src @> '(1,2)'::c}],
	domain_composite_keys => [q{CREATE TYPE c AS (a int, b int); CREATE DOMAIN dc AS c; CREATE TABLE e (src dc, dst dc); INSERT INTO e VALUES ('(1,1)', '(1,2)'), ('(1,2)', '(1,3)'), ('(7,7)', '(7,8)')}, 'e', 'SELECT src, dst FROM e', 'SELECT src, dst FROM e WHERE src IS NOT NULL'],
	composite_casts => [q{CREATE TYPE c AS (a int, b int); CREATE TABLE e (src int, dst int); INSERT INTO e VALUES (1, 12), (12, 3), (10, 11)},
		'SELECT (ROW(src, dst)::c)::text AS src, (ROW(dst, src)::c)::text AS dst FROM e', 'SELECT src, dst FROM e WHERE ROW(src, dst)::c < ROW(1, 5)::c', 'SELECT ROW(src, src)::c AS src, ROW(dst, dst)::c AS dst FROM e'],
	typed => [q{CREATE TYPE c AS (src bigint, dst bigint, k int); CREATE TABLE e OF c; INSERT INTO e VALUES (1, 2, 1), (2, 3, NULL), (10, 11, 1)}, 'e', 'SELECT src, dst FROM e', 'SELECT src, dst FROM e WHERE e IS NOT NULL', 'SELECT * FROM e'],

	# the row type of another table, of a view, of a partitioned table
	row_type => [q{CREATE TABLE r (a int, b int); CREATE TABLE e (src bigint, dst bigint, r r, s r); INSERT INTO e VALUES (1, 2, '(1,2)', '(1,2)'), (2, 3, '(1,3)', '(1,2)'), (10, 11, '(1,)', '(1,)')},
		map { "SELECT src, dst FROM e WHERE $_" } ('r IS NOT NULL', 'r IS NULL', 'r = s', q{r::text = '(1,2)'}, '(r).a = 1', '(r).b = 2')],
	row_type_keys => [q{CREATE TABLE r (a int, b int); CREATE TABLE e (src r, dst r); INSERT INTO e VALUES ('(1,1)', '(1,2)'), ('(1,2)', '(1,3)'), ('(7,7)', '(7,8)')}, 'e', 'SELECT src, dst FROM e', 'SELECT (src).a AS src, (dst).b AS dst FROM e'],
	view_row_type => [q{CREATE VIEW r AS SELECT 1 AS a, 2 AS b; CREATE TABLE e (src bigint, dst bigint, r r); INSERT INTO e VALUES (1, 2, '(1,2)'), (2, 3, '(1,3)'), (10, 11, '(1,)')},
		map { "SELECT src, dst FROM e WHERE $_" } ('r IS NOT NULL', q{r::text = '(1,2)'}, '(r).a = 1')],
	nested_row_type => [q{CREATE TABLE r (a int, b int); CREATE TYPE n AS (r r, z int); CREATE TABLE e (src bigint, dst bigint, n n, rs r[]); INSERT INTO e VALUES (1, 2, '("(1,2)",1)', '{"(1,2)"}'), (2, 3, '("(1,3)",1)', '{"(1,3)"}')},
		map { "SELECT src, dst FROM e WHERE $_" } ('(n).r IS NOT NULL', q{n::text = '("(1,2)",1)'}, q{rs::text = '{"(1,2)"}'}, 'rs[1] IS NOT NULL')],

	enum => [q{CREATE TYPE en AS ENUM ('a', 'b', 'c', 'd'); CREATE TABLE e (src en, dst en); INSERT INTO e VALUES ('a', 'b'), ('d', 'c'); CREATE VIEW v AS SELECT src, dst FROM e WHERE src < 'c'},
		'e', 'v', 'SELECT src, dst FROM e', q{SELECT src, dst FROM e WHERE src = 'a'}, q{SELECT 1 AS src, 2 AS dst FROM e WHERE src::text = 'a'}, q{SELECT src, dst FROM e WHERE src <> 'z'},
		q{SELECT string_agg(vertex || ':' || level, ' ') FROM emogi_bfs('e', 'a'::text)}],
	domain => [q{CREATE DOMAIN d AS int CONSTRAINT positive CHECK (VALUE > 0); CREATE TABLE e (src d, dst d); INSERT INTO e VALUES (1, 2), (2, 3), (10, 11); CREATE TABLE p (src int, dst int); INSERT INTO p VALUES (5, 6), (6, 50);
		CREATE VIEW v AS SELECT src::d AS src, dst::d AS dst FROM p; CREATE FUNCTION f(d) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT $1 + 1'},
		'e', 'v', 'SELECT src, dst FROM e', 'SELECT src::d AS src, dst::d AS dst FROM p', 'SELECT f(src) AS src, f(dst) AS dst FROM p'],
	uuid => [q{CREATE TABLE e (src uuid, dst uuid); INSERT INTO e VALUES ('00000000-0000-0000-0000-000000000001', '00000000-0000-0000-0000-000000000002'), ('00000000-0000-0000-0000-000000000002', '00000000-0000-0000-0000-000000000003')}, 'e', 'SELECT src, dst FROM e'],
	text => [q{CREATE TABLE e (src text, dst text, n int); INSERT INTO e VALUES ('a', 'B', 1), ('c', 'D', 2), ('D', 'e', 2)}, 'e', 'SELECT src, dst FROM e WHERE n > 1', 'SELECT src COLLATE "C" AS src, dst COLLATE "C" AS dst FROM e'],
);

# [statement form, what it can change, fixture, DDL, undo, options]. What it can change: rows (of a graph), keys (their text, order
# or equality), rights (of the caller), or harmless: reason. Options: graphs => [...] in place of the fixture's; setup => more of it;
# as => role of the calls; own => true: in the sessions of the calls; tx => 0: not in a transaction; min, max => major version;
# if => a condition of the server; error => SQLSTATE that the DDL ends with; sql => 0: no comparison with plain SQL.
my @rows = (
	# ALTER TYPE
	['ALTER TYPE ADD ATTRIBUTE', 'rows', 'composite', 'ALTER TYPE c ADD ATTRIBUTE z int', 'ALTER TYPE c DROP ATTRIBUTE z'],
	['ALTER TYPE ADD ATTRIBUTE, of keys', 'keys', 'composite_keys', 'ALTER TYPE c ADD ATTRIBUTE z int', 'ALTER TYPE c DROP ATTRIBUTE z'],
);

matrix_node();
run_matrix(\%fixture, \@rows);
done_testing();
