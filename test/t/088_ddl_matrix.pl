# Every DDL statement form of PostgreSQL with cached graphs: after each one, committed by another
# session, open in the same transaction, or rolled back, calls return the same as with
# emogi.enable_cache = off and as plain SQL. A new command of a new version makes the test fail
# until it has a row.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use DdlMatrix;
use EmogiTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $fingerprint = q{SELECT count(*) || ' ' || md5(string_agg(vertex || component, ' ' ORDER BY vertex, component)) FROM emogi_cc_text('e')};

# Fixtures of the rows: name => [setup, graph argument, ...]. A setup runs in schema m, which calls
# search after schema "first", if it exists. Graphs are called with emogi_cc_text, or are complete
# calls beginning with SELECT emogi_.
my %fixture = (
	none => [''],

	# integers, with a view, a whole-row Var, an index and conditions
	edges => [q{CREATE TABLE e (src bigint, dst bigint, k int, t text, weight float8);
		INSERT INTO e VALUES (1, 2, 1, 'one', 1), (2, 3, 2, 'The cat', 2), (10, 11, 1, 'two', 3), (11, 12, NULL, NULL, 4);
		CREATE INDEX e_src ON e (src); CREATE VIEW v AS SELECT src, dst FROM e WHERE k IS NOT NULL},
		'e', 'e(src, dst)', 'v', 'SELECT src, dst FROM e WHERE e IS NOT NULL', 'SELECT src, dst FROM v WHERE src < 5', 'SELECT * FROM e',
		q{SELECT string_agg(vertex || ':' || distance, ' ') FROM emogi_sssp('e', 1)}],

	# composite values together with the keys
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
	multirange_keys => [q{CREATE TYPE c AS (a int, b int); CREATE TYPE cr AS RANGE (subtype = c, multirange_type_name = cm); CREATE TABLE e (src cm, dst cm);
		INSERT INTO e VALUES ('{["(1,1)","(1,9)"]}', '{["(2,1)","(2,9)"]}'), ('{["(2,1)","(2,9)"]}', '{["(3,1)","(3,9)"]}')}, 'e', 'SELECT src, dst FROM e'],
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

	row_type_casts => [q{CREATE TABLE r (a int, b int); CREATE TABLE e (src int, dst int); INSERT INTO e VALUES (1, 12), (12, 3), (10, 11)},
		'SELECT (ROW(src, dst)::r)::text AS src, (ROW(dst, src)::r)::text AS dst FROM e', 'SELECT src, dst FROM e WHERE ROW(src, dst)::r < ROW(1, 5)::r', 'SELECT ROW(src, src)::r AS src, ROW(dst, dst)::r AS dst FROM e'],

	# tables of several pages, whose graphs are tracked
	live_keys => [q{CREATE TYPE c AS (a int, b int); CREATE TABLE e (src c, dst c); INSERT INTO e SELECT ROW(g / 2, g % 5)::c, ROW(g, g % 3)::c FROM generate_series(1, 500) g},
		$fingerprint, q{SELECT string_agg(vertex || ':' || level, ' ') FROM emogi_bfs('e', '(3,1)'::text, max_depth => 2)}],
	live_enum => [q{CREATE TYPE en AS ENUM ('a', 'b', 'c', 'd'); CREATE TABLE e (src en, dst en); INSERT INTO e SELECT CASE WHEN g % 2 = 0 THEN 'a' ELSE 'c' END::en, CASE WHEN g % 2 = 0 THEN 'b' ELSE 'd' END::en FROM generate_series(1, 2000) g}, 'e', $fingerprint],

	enum => [q{CREATE TYPE en AS ENUM ('a', 'b', 'c', 'd'); CREATE TABLE e (src en, dst en); INSERT INTO e VALUES ('a', 'b'), ('d', 'c'); CREATE VIEW v AS SELECT src, dst FROM e WHERE src < 'c'},
		'e', 'v', 'SELECT src, dst FROM e', q{SELECT src, dst FROM e WHERE src = 'a'}, q{SELECT 1 AS src, 2 AS dst FROM e WHERE src::text = 'a'}, q{SELECT src, dst FROM e WHERE src <> 'z'},
		q{SELECT string_agg(vertex || ':' || level, ' ') FROM emogi_bfs('e', 'a'::text)}],
	domain => [q{CREATE DOMAIN d AS int CONSTRAINT positive CHECK (VALUE > 0); CREATE TABLE e (src d, dst d); INSERT INTO e VALUES (1, 2), (2, 3), (10, 11); CREATE TABLE p (src int, dst int); INSERT INTO p VALUES (5, 6), (6, 50);
		CREATE VIEW v AS SELECT src::d AS src, dst::d AS dst FROM p; CREATE FUNCTION f(d) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT $1 + 1'},
		'e', 'v', 'SELECT src, dst FROM e', 'SELECT src::d AS src, dst::d AS dst FROM p', 'SELECT f(src) AS src, f(dst) AS dst FROM p'],
	uuid => [q{CREATE TABLE e (src uuid, dst uuid); INSERT INTO e VALUES ('00000000-0000-0000-0000-000000000001', '00000000-0000-0000-0000-000000000002'), ('00000000-0000-0000-0000-000000000002', '00000000-0000-0000-0000-000000000003')}, 'e', 'SELECT src, dst FROM e'],
	text => [q{CREATE TABLE e (src text, dst text, n int); INSERT INTO e VALUES ('a', 'B', 1), ('c', 'D', 2), ('D', 'e', 2)}, 'e', 'SELECT src, dst FROM e WHERE n > 1', 'SELECT src COLLATE "C" AS src, dst COLLATE "C" AS dst FROM e'],
	collation => [q{CREATE COLLATION co (LOCALE = 'C'); CREATE TABLE p (src text, dst text); INSERT INTO p VALUES ('a', 'B'), ('c', 'D'); CREATE TABLE e (src text COLLATE co, dst text COLLATE co); INSERT INTO e TABLE p;
		CREATE VIEW v AS SELECT src COLLATE co AS src, dst COLLATE co AS dst FROM p}, 'e', 'v', 'SELECT src, dst FROM e', 'SELECT src COLLATE co AS src, dst COLLATE co AS dst FROM p', q{SELECT src, dst FROM p WHERE src COLLATE co < 'b'}],
	base => [q{CREATE TYPE b; CREATE FUNCTION b_in(cstring) RETURNS b LANGUAGE internal IMMUTABLE STRICT AS 'int4in'; CREATE FUNCTION b_out(b) RETURNS cstring LANGUAGE internal IMMUTABLE STRICT AS 'int4out';
		CREATE TYPE b (INPUT = b_in, OUTPUT = b_out, LIKE = int4); CREATE FUNCTION b_cmp(b, b) RETURNS int LANGUAGE internal IMMUTABLE STRICT AS 'btint4cmp';} .
		join('', map { "CREATE FUNCTION b_$_->[0](b, b) RETURNS bool LANGUAGE internal IMMUTABLE STRICT AS 'int4$_->[0]'; CREATE OPERATOR $_->[1] (LEFTARG = b, RIGHTARG = b, FUNCTION = b_$_->[0]);" } ['lt', '<'], ['le', '<='], ['eq', '='], ['ge', '>='], ['gt', '>']) .
		q{CREATE OPERATOR FAMILY bf USING btree; CREATE OPERATOR CLASS bc DEFAULT FOR TYPE b USING btree FAMILY bf AS OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >, FUNCTION 1 b_cmp(b, b);
		CREATE TABLE e (src b, dst b); INSERT INTO e VALUES ('1', '2'), ('2', '3'), ('10', '11')}, 'e', 'SELECT src, dst FROM e', 'SELECT DISTINCT src, dst FROM e', 'SELECT 1 AS src, 2 AS dst FROM e WHERE src < dst'],

	# functions in SQL, internal and in plpgsql, nested, in views, in FROM; an aggregate, an operator, casts
	functions => [q{CREATE TABLE e (src bigint, dst bigint, k bigint); INSERT INTO e VALUES (1, 2, 5), (2, 3, NULL), (10, 11, 7); CREATE SCHEMA other; CREATE TABLE other.e AS SELECT 77::bigint AS src, 78::bigint AS dst, 79::bigint AS k;
		GRANT USAGE ON SCHEMA other TO PUBLIC; GRANT SELECT ON e, other.e TO ddl_bob;
		CREATE FUNCTION f(bigint) RETURNS bigint LANGUAGE sql IMMUTABLE AS 'SELECT coalesce($1, 3) + 100'; CREATE FUNCTION g(bigint) RETURNS bigint LANGUAGE sql IMMUTABLE AS 'SELECT f($1) + 1';
		CREATE FUNCTION h(bigint) RETURNS bigint LANGUAGE internal IMMUTABLE STRICT AS 'int8abs'; CREATE FUNCTION p(bigint) RETURNS bigint LANGUAGE plpgsql IMMUTABLE AS 'BEGIN RETURN coalesce($1, 3) + 200; END';
		CREATE FUNCTION rows_of(bigint) RETURNS TABLE (src bigint, dst bigint) LANGUAGE sql STABLE AS 'SELECT src, dst FROM e WHERE src < $1 OR src > 70'; CREATE FUNCTION w() RETURNS text LANGUAGE sql STABLE AS 'SELECT current_user::text';
		CREATE FUNCTION fl(float8) RETURNS text LANGUAGE sql IMMUTABLE AS 'SELECT $1::text';
		CREATE VIEW v AS SELECT f(src) AS src, f(dst) AS dst FROM e},
		'v', 'SELECT f(src) AS src, f(dst) AS dst FROM e', 'SELECT f(k) AS src, dst FROM e', 'SELECT src, dst FROM e WHERE f(k) > 104', 'SELECT g(src) AS src, g(k) AS dst FROM e', 'SELECT h(src) AS src, h(k) AS dst FROM e',
		'SELECT p(src) AS src, p(k) AS dst FROM e', 'SELECT * FROM rows_of(5)', 'SELECT w() AS src, src::text AS dst FROM e', 'SELECT fl(src / 3::float8) AS src, fl(dst) AS dst FROM e', 'SELECT src, 9::bigint AS dst FROM e WHERE h(-5) = 5'],
	aggregate => [q{CREATE TABLE e (src bigint, dst bigint); INSERT INTO e VALUES (1, 2), (1, 3), (10, 11); CREATE AGGREGATE agg(bigint) (SFUNC = int8larger, STYPE = bigint); CREATE VIEW v AS SELECT src, agg(dst) AS dst FROM e GROUP BY src},
		'v', 'SELECT src, agg(dst) AS dst FROM e GROUP BY src', 'SELECT src, agg(dst) OVER (ORDER BY dst) AS dst FROM e'],
	operator => [q{CREATE TABLE e (src bigint, dst bigint); INSERT INTO e VALUES (1, 2), (2, 3), (10, 11); CREATE SCHEMA other; CREATE FUNCTION later(bigint, bigint) RETURNS bigint LANGUAGE sql IMMUTABLE AS 'SELECT $1 + $2'; CREATE OPERATOR %% (LEFTARG = bigint, RIGHTARG = bigint, FUNCTION = int8larger);
		CREATE OPERATOR !% (LEFTARG = bigint, RIGHTARG = bigint, FUNCTION = later);
		CREATE VIEW v AS SELECT src, src %% dst AS dst FROM e}, 'v', 'SELECT src, src %% dst AS dst FROM e', 'SELECT src, src !% dst AS dst FROM e', 'SELECT src, dst FROM e WHERE src %% 5::bigint > 5', 'SELECT src, src %% 7 AS dst FROM e'],
	casts => [q{CREATE TYPE c AS (a int, b int); CREATE TABLE e (src bigint, dst bigint, c c); INSERT INTO e VALUES (1, 2, '(1,2)'), (2, 3, '(1,3)'), (10, 11, '(4,4)'); CREATE FUNCTION to_a(c) RETURNS bigint LANGUAGE sql IMMUTABLE AS 'SELECT ($1).a::bigint';
		CREATE FUNCTION to_b(c) RETURNS bigint LANGUAGE sql IMMUTABLE AS 'SELECT ($1).b::bigint + 100'; CREATE FUNCTION to_t(c) RETURNS text LANGUAGE sql IMMUTABLE AS 'SELECT format(''%s/%s'', ($1).a, ($1).b)'; CREATE CAST (c AS bigint) WITH FUNCTION to_a(c)},
		'SELECT src, c::bigint AS dst FROM e', 'SELECT c::text AS src, src::text AS dst FROM e', 'SELECT src, dst FROM e WHERE src = c', 'SELECT src, abs(c) AS dst FROM e'],
	search => [q{CREATE TEXT SEARCH DICTIONARY sd (TEMPLATE = pg_catalog.simple); CREATE TEXT SEARCH CONFIGURATION cfg (COPY = pg_catalog.simple); ALTER TEXT SEARCH CONFIGURATION cfg ALTER MAPPING FOR asciiword WITH sd;
		CREATE TABLE e (src bigint, dst bigint, t text); INSERT INTO e VALUES (1, 2, 'the cats'), (2, 3, 'cat'), (10, 11, 'The')}, map { "SELECT src, dst FROM e WHERE $_" }
		q{to_tsvector('cfg', t) @@ 'the'::tsquery}, q{to_tsvector('m.cfg'::regconfig, t) @@ to_tsquery('cfg', 'cat')}, q{ts_lexize('sd', t) = '{the}'}, q{to_tsvector(t) @@ to_tsquery('cats')}, q{t @@ 'the'}],

	# relations of other kinds
	partitions => [q{CREATE TABLE e (src bigint, dst bigint) PARTITION BY RANGE (src); CREATE TABLE e1 PARTITION OF e FOR VALUES FROM (0) TO (5); CREATE TABLE e2 PARTITION OF e FOR VALUES FROM (5) TO (20); CREATE TABLE e3 (src bigint, dst bigint);
		INSERT INTO e VALUES (1, 2), (2, 3), (10, 11); INSERT INTO e3 VALUES (30, 31); CREATE VIEW v AS SELECT src, dst FROM e}, 'e', 'v', 'SELECT src, dst FROM e WHERE src > 1', 'SELECT src, dst FROM ONLY e', 'e2'],
	inheritance => [q{CREATE TABLE e (src bigint, dst bigint); CREATE TABLE kid () INHERITS (e); CREATE TABLE apart (src bigint, dst bigint); INSERT INTO e VALUES (1, 2); INSERT INTO kid VALUES (2, 3); INSERT INTO apart VALUES (30, 31); CREATE VIEW v AS SELECT src, dst FROM e},
		'e', 'v', 'SELECT src, dst FROM e', 'SELECT src, dst FROM ONLY e', 'SELECT tableoid::bigint AS src, dst FROM e WHERE src > 20'],
	materialized => [q{CREATE TABLE p (src bigint, dst bigint); INSERT INTO p VALUES (1, 2), (2, 3); CREATE MATERIALIZED VIEW e AS SELECT * FROM p; CREATE UNIQUE INDEX e_i ON e (src); INSERT INTO p VALUES (30, 31); CREATE VIEW v AS SELECT src, dst FROM e}, 'e', 'v', 'SELECT src, dst FROM e WHERE src > 1'],
	sequence => [q{CREATE SEQUENCE s; CREATE TABLE e (src bigint, dst bigint); INSERT INTO e VALUES (1, 2), (2, 3)}, 'SELECT last_value AS src, 50::bigint AS dst FROM s', 'SELECT src, dst FROM e, s WHERE last_value < 5', 'e'],
	foreign => [q{CREATE TABLE p (src bigint, dst bigint); INSERT INTO p VALUES (1, 2), (2, 3); CREATE TABLE p2 (src bigint, dst bigint, x int); INSERT INTO p2 VALUES (30, 31, 1); CREATE SCHEMA other; CREATE TABLE other.e AS SELECT 60::bigint AS src, 61::bigint AS dst;
		CREATE EXTENSION postgres_fdw SCHEMA m; CREATE SERVER ddl_loop FOREIGN DATA WRAPPER postgres_fdw OPTIONS (HOSTPORT, dbname 'postgres'); CREATE USER MAPPING FOR postgres SERVER ddl_loop;
		CREATE FOREIGN TABLE e (src bigint, dst bigint) SERVER ddl_loop OPTIONS (schema_name 'm', table_name 'p'); CREATE TABLE x (src bigint, dst bigint, r e); INSERT INTO x VALUES (1, 2, '(1,2)'); CREATE VIEW v AS SELECT src, dst FROM e},
		'e', 'v', 'SELECT src, dst FROM e WHERE src > 1', 'SELECT src, dst FROM x WHERE r IS NOT NULL'],
	shadow => [q{CREATE TABLE e (src bigint, dst bigint); INSERT INTO e VALUES (1, 2), (2, 3); CREATE SCHEMA other; CREATE TABLE other.e AS SELECT 60::bigint AS src, 61::bigint AS dst; GRANT USAGE ON SCHEMA other TO PUBLIC}, 'e', 'e(src, dst)', 'SELECT src, dst FROM e', 'SELECT src, dst FROM m.e'],

	# rights: ddl_alice calls; ddl_bob owns a view of a table of ddl_carol
	rights => [q{CREATE TABLE e (src bigint, dst bigint, k int); INSERT INTO e VALUES (1, 2, 1), (2, 3, 1), (10, 11, 2); ALTER TABLE e OWNER TO ddl_carol; CREATE VIEW v AS SELECT src, dst FROM e; ALTER VIEW v OWNER TO ddl_bob; CREATE FUNCTION f(bigint) RETURNS bigint LANGUAGE sql IMMUTABLE AS 'SELECT $1 + 100';
		GRANT SELECT ON e TO ddl_bob; GRANT SELECT ON v TO ddl_alice; GRANT SELECT ON e TO ddl_group; GRANT SELECT (src, dst) ON e TO ddl_alice}, 'e', 'e(src, dst)', 'v', 'SELECT src, dst FROM e', 'SELECT src, dst FROM e WHERE k = 1', 'SELECT f(src) AS src, f(dst) AS dst FROM e', 'SELECT count(*) AS src, 5::bigint AS dst FROM e'],
	policies => [q{CREATE TABLE e (src bigint, dst bigint, who text); INSERT INTO e VALUES (1, 2, 'ddl_alice'), (2, 3, 'ddl_alice'), (10, 11, 'ddl_bob'); ALTER TABLE e OWNER TO ddl_carol; GRANT SELECT ON e TO ddl_alice, ddl_bob; CREATE VIEW v AS SELECT src, dst FROM e; ALTER VIEW v OWNER TO ddl_bob; GRANT SELECT ON v TO ddl_alice;
		CREATE POLICY own ON e USING (who = current_user); CREATE POLICY group_sees ON e TO ddl_group USING (true); ALTER TABLE e ENABLE ROW LEVEL SECURITY}, 'e', 'v', 'SELECT src, dst FROM e', 'SELECT src, dst FROM e WHERE src > 1'],
);

# [statement form, effect, fixture, DDL, undo, options]. Effects: rows (of a graph), keys (their
# text, order or equality), rights (of the caller), "harmless: reason", or excepted: the manual
# requires emogi_evict(). Options: graphs => [...] replaces the fixture's; setup => additional
# setup; clean => objects to drop; as => role of the calls; own => 1: run in the sessions of the
# calls; tx => 0: not in a transaction; min, max => major version; if => condition on the server;
# error => SQLSTATE of the DDL; sql => 0: no comparison with plain SQL; old => 0: no snapshot older
# than the DDL, for which PostgreSQL itself detects it late; wait => query whose answer changes when
# the DDL has taken effect; session => commands at the start of a session of calls.
my $no_use = 'harmless: no query depends on it';
my $space = PostgreSQL::Test::Utils::tempdir();
my %alice = (as => 'ddl_alice');
my %alone = (tx => 0);

my @types = (
	(map { ["ALTER TYPE ADD ATTRIBUTE, $_", $_ =~ /keys/ ? 'keys' : 'rows', $_, 'ALTER TYPE c ADD ATTRIBUTE z int', 'ALTER TYPE c DROP ATTRIBUTE z'] }
		qw(composite composite_keys nested_keys array_keys range_keys multirange_keys domain_composite_keys live_keys)),
	['ALTER TYPE ADD ATTRIBUTE, composite_groups', 'harmless: old values get NULL', 'composite_groups', 'ALTER TYPE c ADD ATTRIBUTE z int', 'ALTER TYPE c DROP ATTRIBUTE z'],
	['ALTER TYPE ADD ATTRIBUTE, composite_casts', 'rows', 'composite_casts', 'ALTER TYPE c ADD ATTRIBUTE z int', 'ALTER TYPE c DROP ATTRIBUTE z'],
	(map { ["ALTER TYPE DROP ATTRIBUTE, $_", $_ =~ /keys/ ? 'keys' : 'rows', $_, 'ALTER TYPE c DROP ATTRIBUTE b', 'ALTER TYPE c ADD ATTRIBUTE b int'] }
		qw(composite composite_groups composite_keys nested_keys array_keys range_keys multirange_keys domain_composite_keys live_keys)),
	['ALTER TYPE DROP ATTRIBUTE, the first', 'rows', 'composite', 'ALTER TYPE c DROP ATTRIBUTE IF EXISTS a', undef],
	['ALTER TYPE DROP and ADD ATTRIBUTE at once', 'rows', 'composite', 'ALTER TYPE c DROP ATTRIBUTE b, ADD ATTRIBUTE b int', undef],
	['ALTER TYPE ADD and DROP ATTRIBUTE at once, of keys', 'keys', 'composite_keys', 'ALTER TYPE c DROP ATTRIBUTE b, ADD ATTRIBUTE b text', undef],
	['ALTER TYPE ADD ATTRIBUTE, of the outer type', 'keys', 'nested_keys', 'ALTER TYPE n ADD ATTRIBUTE y int', 'ALTER TYPE n DROP ATTRIBUTE y'],
	['ALTER TYPE ADD ATTRIBUTE CASCADE', 'rows', 'typed', 'ALTER TYPE c ADD ATTRIBUTE z int CASCADE', 'ALTER TYPE c DROP ATTRIBUTE z CASCADE'],
	['ALTER TYPE DROP ATTRIBUTE CASCADE', 'rows', 'typed', 'ALTER TYPE c DROP ATTRIBUTE k CASCADE', 'ALTER TYPE c ADD ATTRIBUTE k int CASCADE'],
	['ALTER TYPE ALTER ATTRIBUTE TYPE', 'rows', 'composite_casts', 'ALTER TYPE c ALTER ATTRIBUTE b TYPE text', 'ALTER TYPE c ALTER ATTRIBUTE b TYPE int'],
	['ALTER TYPE ALTER ATTRIBUTE TYPE CASCADE', 'rows', 'typed', 'ALTER TYPE c ALTER ATTRIBUTE src TYPE float8 CASCADE', 'ALTER TYPE c ALTER ATTRIBUTE src TYPE bigint CASCADE', { sql => 0 }],
	['ALTER TYPE RENAME ATTRIBUTE', 'rows', 'composite', 'ALTER TYPE c RENAME ATTRIBUTE b TO y', 'ALTER TYPE c RENAME ATTRIBUTE y TO b'],
	['ALTER TYPE ADD ATTRIBUTE, and INSERT', 'keys', 'live_keys', q{ALTER TYPE c ADD ATTRIBUTE z int; INSERT INTO e VALUES ('(1,1,1)', '(3,1,1)'), ('(3,1,1)', '(4,4,4)')}, undef],
	['ALTER TYPE DROP ATTRIBUTE, and INSERT', 'keys', 'live_keys', q{ALTER TYPE c DROP ATTRIBUTE b; INSERT INTO e VALUES ('(1)', '(70000)'), ('(80000)', '(70000)')}, undef],
	['ALTER TYPE DROP and ADD ATTRIBUTE, and INSERT', 'keys', 'live_keys', q{ALTER TYPE c DROP ATTRIBUTE b, ADD ATTRIBUTE b int; INSERT INTO e VALUES ('(1,1)', '(70000,1)'), ('(80000,1)', '(70000,1)')}, undef],
	['ALTER TYPE RENAME VALUE, and DELETE', 'keys', 'live_enum', q{ALTER TYPE en RENAME VALUE 'a' TO 'zz'; DELETE FROM e WHERE ctid < '(5,0)'}, undef],
	['ALTER TYPE ADD VALUE, and UPDATE', 'rows', 'live_enum', q{ALTER TYPE en ADD VALUE 'z' AFTER 'a'; COMMIT; UPDATE e SET src = 'z' WHERE src = 'c'}, undef, {%alone}],
	['ALTER TYPE RENAME ATTRIBUTE, of keys', 'rows', 'composite_keys', 'ALTER TYPE c RENAME ATTRIBUTE a TO y', 'ALTER TYPE c RENAME ATTRIBUTE y TO a'],
	['ALTER TYPE RENAME ATTRIBUTE CASCADE', 'rows', 'typed', 'ALTER TYPE c RENAME ATTRIBUTE dst TO target CASCADE', 'ALTER TYPE c RENAME ATTRIBUTE target TO dst CASCADE'],
	['ALTER TYPE ADD VALUE', 'rows', 'enum', q{ALTER TYPE en ADD VALUE 'z'}, undef],
	['ALTER TYPE ADD VALUE BEFORE', 'harmless: the order of the others stays', 'enum', q{ALTER TYPE en ADD VALUE 'bb' BEFORE 'c'}, undef],
	['ALTER TYPE ADD VALUE AFTER', 'harmless: the order of the others stays', 'enum', q{ALTER TYPE en ADD VALUE IF NOT EXISTS '0' AFTER 'a'}, undef],
	['ALTER TYPE RENAME VALUE', 'keys', 'enum', q{ALTER TYPE en RENAME VALUE 'a' TO 'zz'}, q{ALTER TYPE en RENAME VALUE 'zz' TO 'a'}],
	['ALTER TYPE RENAME VALUE, to and fro', 'keys', 'enum', q{ALTER TYPE en RENAME VALUE 'a' TO 'x'; ALTER TYPE en RENAME VALUE 'd' TO 'a'; ALTER TYPE en RENAME VALUE 'x' TO 'd'}, undef],
	['ALTER TYPE RENAME TO', 'rows', 'composite_casts', 'ALTER TYPE c RENAME TO c2', 'ALTER TYPE c2 RENAME TO c'],
	['ALTER TYPE OWNER TO', $no_use, 'composite', 'ALTER TYPE c OWNER TO ddl_bob', 'ALTER TYPE c OWNER TO postgres'],
	['ALTER TYPE SET SCHEMA', 'rows', 'composite_casts', 'ALTER TYPE c SET SCHEMA other', 'ALTER TYPE other.c SET SCHEMA m', { setup => 'CREATE SCHEMA other' }],
	['ALTER TYPE SET', 'harmless: functions of base types are trusted', 'base', 'ALTER TYPE b SET (TYPMOD_IN = numerictypmodin)', undef],
	['CREATE TYPE', 'rows', 'shadow', 'CREATE TYPE c AS (a int)', 'DROP TYPE c', { graphs => ['SELECT (ROW(src)::c)::text AS src, dst::text AS dst FROM e'] }],
	['CREATE TYPE, in front', 'rows', 'composite_casts', 'CREATE TYPE first.c AS (a int, b int, z text)', 'DROP TYPE first.c', { setup => 'CREATE SCHEMA first' }],
	['CREATE TYPE AS ENUM, in front', 'keys', 'enum', q{CREATE TYPE first.en AS ENUM ('d', 'c', 'b', 'a')}, 'DROP TYPE first.en', { setup => 'CREATE SCHEMA first', graphs => ['SELECT src::text::en AS src, dst::text::en AS dst FROM e', q{SELECT src::text AS src, 'x' AS dst FROM e WHERE 'a'::en < 'b'::en}] }],
	['CREATE TYPE AS RANGE', 'harmless: a type of its own', 'edges', 'CREATE TYPE ra AS RANGE (subtype = bigint)', 'DROP TYPE ra'],
	['CREATE TYPE, of a base type', 'harmless: a type of its own', 'edges', 'CREATE TYPE shell', 'DROP TYPE shell'],
	['DROP TYPE', 'rows', 'composite_casts', 'DROP TYPE c', 'CREATE TYPE c AS (a int, b int)'],
	['DROP TYPE, and CREATE TYPE', 'rows', 'composite_casts', 'DROP TYPE c; CREATE TYPE c AS (b text, a text)', 'DROP TYPE c; CREATE TYPE c AS (a int, b int)'],
	['DROP TYPE CASCADE', 'rows', 'composite', 'DROP TYPE c CASCADE', undef],

	['ALTER TABLE ADD COLUMN, of a row type', 'rows', 'row_type', 'ALTER TABLE r ADD COLUMN z int', 'ALTER TABLE r DROP COLUMN z'],
	['ALTER TABLE DROP COLUMN, of a row type', 'rows', 'row_type', 'ALTER TABLE r DROP COLUMN b', 'ALTER TABLE r ADD COLUMN b int'],
	['ALTER TABLE RENAME COLUMN, of a row type', 'rows', 'row_type', 'ALTER TABLE r RENAME COLUMN a TO y', 'ALTER TABLE r RENAME COLUMN y TO a'],
	['ALTER TABLE ADD COLUMN, of a row type of keys', 'keys', 'row_type_keys', 'ALTER TABLE r ADD COLUMN z int', 'ALTER TABLE r DROP COLUMN z'],
	['ALTER TABLE DROP COLUMN, of a row type of keys', 'keys', 'row_type_keys', 'ALTER TABLE r DROP COLUMN b', undef],
	['ALTER TABLE ADD COLUMN, of a row type within a type', 'rows', 'nested_row_type', 'ALTER TABLE r ADD COLUMN z int', 'ALTER TABLE r DROP COLUMN z'],
	['ALTER TABLE DROP COLUMN, of a row type within a type', 'rows', 'nested_row_type', 'ALTER TABLE r DROP COLUMN b', undef],
	['ALTER TABLE ADD COLUMN, of a row type in casts', 'rows', 'row_type_casts', 'ALTER TABLE r ADD COLUMN z int', 'ALTER TABLE r DROP COLUMN z'],
	['ALTER TABLE ALTER COLUMN TYPE, of a row type in casts', 'rows', 'row_type_casts', 'ALTER TABLE r ALTER COLUMN b TYPE text', 'ALTER TABLE r ALTER COLUMN b TYPE int USING b::int'],
	['ALTER TABLE RENAME COLUMN, of a row type in casts', 'harmless: a cast is positional', 'row_type_casts', 'ALTER TABLE r RENAME COLUMN a TO y', 'ALTER TABLE r RENAME COLUMN y TO a'],
	['ALTER TABLE INHERIT, of a row type', 'harmless: no column changes', 'row_type', 'ALTER TABLE r INHERIT pa', 'ALTER TABLE r NO INHERIT pa', { setup => 'CREATE TABLE pa (a int)' }],
	['ALTER TABLE ADD COLUMN, of a parent of a row type', 'rows', 'row_type', 'ALTER TABLE pa ADD COLUMN z int', 'ALTER TABLE pa DROP COLUMN z', { setup => 'CREATE TABLE pa (a int); ALTER TABLE r INHERIT pa' }],
	['CREATE OR REPLACE VIEW, of a row type', 'rows', 'view_row_type', 'CREATE OR REPLACE VIEW r AS SELECT 1 AS a, 2 AS b, 3 AS z', undef],
	['ALTER VIEW RENAME COLUMN, of a row type', 'rows', 'view_row_type', 'ALTER VIEW r RENAME COLUMN a TO y', 'ALTER VIEW r RENAME COLUMN y TO a'],

	['ALTER DOMAIN ADD', 'rows', 'domain', 'ALTER DOMAIN d ADD CONSTRAINT small CHECK (VALUE < 20) NOT VALID', 'ALTER DOMAIN d DROP CONSTRAINT small', { sql => 0 }],
	['ALTER DOMAIN VALIDATE CONSTRAINT', 'harmless: it is already in effect', 'domain', 'ALTER DOMAIN d VALIDATE CONSTRAINT small', undef, { setup => 'ALTER DOMAIN d ADD CONSTRAINT small CHECK (VALUE < 200) NOT VALID' }],
	['ALTER DOMAIN DROP CONSTRAINT', 'rows', 'domain', 'ALTER DOMAIN d DROP CONSTRAINT small', undef, { setup => 'ALTER DOMAIN d ADD CONSTRAINT small CHECK (VALUE < 20) NOT VALID' }],
	['ALTER DOMAIN RENAME CONSTRAINT', $no_use, 'domain', 'ALTER DOMAIN d RENAME CONSTRAINT positive TO p', undef],
	['ALTER DOMAIN SET NOT NULL', 'rows', 'domain', 'ALTER DOMAIN d SET NOT NULL', 'ALTER DOMAIN d DROP NOT NULL', { graphs => ['SELECT coalesce(NULLIF(src, 5)::d, 1) AS src, dst FROM p'] }],
	['ALTER DOMAIN DROP NOT NULL', 'harmless: no value changes', 'domain', 'ALTER DOMAIN d DROP NOT NULL', undef, { setup => 'ALTER DOMAIN d SET NOT NULL' }],
	['ALTER DOMAIN SET DEFAULT', 'harmless: of rows to come', 'domain', 'ALTER DOMAIN d SET DEFAULT 5', 'ALTER DOMAIN d DROP DEFAULT'],
	['ALTER DOMAIN OWNER TO', $no_use, 'domain', 'ALTER DOMAIN d OWNER TO ddl_bob', undef],
	['ALTER DOMAIN RENAME TO', 'rows', 'domain', 'ALTER DOMAIN d RENAME TO d2', 'ALTER DOMAIN d2 RENAME TO d'],
	['ALTER DOMAIN SET SCHEMA', 'rows', 'domain', 'ALTER DOMAIN d SET SCHEMA other', 'ALTER DOMAIN other.d SET SCHEMA m', { setup => 'CREATE SCHEMA other' }],
	['CREATE DOMAIN', 'rows', 'domain', 'CREATE DOMAIN first.d AS int CHECK (VALUE < 0)', 'DROP DOMAIN first.d', { setup => 'CREATE SCHEMA first' }],
	['DROP DOMAIN', 'rows', 'domain', 'DROP DOMAIN d CASCADE', undef],

	['ALTER COLLATION REFRESH VERSION', 'harmless: it records a version', 'collation', 'ALTER COLLATION und REFRESH VERSION', undef, { setup => q{CREATE COLLATION und (provider = icu, locale = 'und')}, if => q{EXISTS (SELECT FROM pg_collation WHERE collname LIKE '%-x-icu')} }],
	['ALTER COLLATION RENAME TO', 'rows', 'collation', 'ALTER COLLATION co RENAME TO co2', 'ALTER COLLATION co2 RENAME TO co'],
	['ALTER COLLATION OWNER TO', $no_use, 'collation', 'ALTER COLLATION co OWNER TO ddl_bob', undef],
	['ALTER COLLATION SET SCHEMA', 'rows', 'collation', 'ALTER COLLATION co SET SCHEMA other', 'ALTER COLLATION other.co SET SCHEMA m', { setup => 'CREATE SCHEMA other' }],
	['CREATE COLLATION', 'keys', 'collation', q{CREATE COLLATION first.co (provider = icu, locale = 'und')}, 'DROP COLLATION first.co', { setup => 'CREATE SCHEMA first', if => q{EXISTS (SELECT FROM pg_collation WHERE collname LIKE '%-x-icu')} }],
	['DROP COLLATION', 'rows', 'collation', 'DROP COLLATION co CASCADE', undef],
	['DROP COLLATION, and CREATE COLLATION', 'keys', 'collation', q{DROP COLLATION co; CREATE COLLATION co (provider = icu, locale = 'und')}, q{DROP COLLATION co; CREATE COLLATION co (LOCALE = 'C')},
		{ setup => 'DROP VIEW v; DROP TABLE e', graphs => ['SELECT src COLLATE co AS src, dst COLLATE co AS dst FROM p', q{SELECT src, dst FROM p WHERE src COLLATE co < 'b'}], if => q{EXISTS (SELECT FROM pg_collation WHERE collname LIKE '%-x-icu')} }],
);

my @functions = (
	(map { my ($what, $undo, $can) = @$_; ["ALTER FUNCTION $what", $can, 'functions', "ALTER FUNCTION f(bigint) $what", $undo && "ALTER FUNCTION f(bigint) $undo"] }
		['STRICT', 'CALLED ON NULL INPUT', 'rows'], ['RETURNS NULL ON NULL INPUT', 'CALLED ON NULL INPUT', 'rows'], ['STABLE', 'IMMUTABLE', 'harmless: only whether it is shared'], ['VOLATILE', 'IMMUTABLE', 'harmless: only whether it is shared'],
		['COST 10000', 'COST 1', 'harmless: a hint'], ['PARALLEL SAFE', 'PARALLEL UNSAFE', 'harmless: a hint'], ['LEAKPROOF', 'NOT LEAKPROOF', 'harmless: a hint'],
		['SECURITY DEFINER', 'SECURITY INVOKER', 'harmless: it reads nothing'], ['SET work_mem = 1000', 'RESET work_mem', 'harmless: no value depends on it'], ['OWNER TO ddl_bob', 'OWNER TO postgres', 'harmless: it is not SECURITY DEFINER']),
	['ALTER FUNCTION CALLED ON NULL INPUT', 'rows', 'functions', 'ALTER FUNCTION f(bigint) CALLED ON NULL INPUT', 'ALTER FUNCTION f(bigint) STRICT', { setup => 'ALTER FUNCTION f(bigint) STRICT' }],
	['ALTER FUNCTION STRICT, of an internal one', 'harmless: it was', 'functions', 'ALTER FUNCTION h(bigint) STRICT', undef],
	['ALTER FUNCTION ROWS', 'harmless: a hint', 'functions', 'ALTER FUNCTION rows_of(bigint) ROWS 5', undef],
	['ALTER FUNCTION SUPPORT', 'harmless: a hint', 'functions', 'ALTER FUNCTION rows_of(bigint) SUPPORT generate_series_int8_support', undef, { tx => 0, graphs => ['SELECT f(src) AS src, f(dst) AS dst FROM e'] }],
	['ALTER FUNCTION SET', 'rows', 'functions', 'ALTER FUNCTION rows_of(bigint) SET search_path = other', 'ALTER FUNCTION rows_of(bigint) RESET ALL'],
	['ALTER FUNCTION SET, of what functions in C read', 'rows', 'functions', 'ALTER FUNCTION fl(float8) SET extra_float_digits = -10', 'ALTER FUNCTION fl(float8) RESET extra_float_digits'],
	['ALTER FUNCTION SECURITY DEFINER', 'rows', 'functions', 'ALTER FUNCTION w() SECURITY DEFINER', 'ALTER FUNCTION w() SECURITY INVOKER', { as => 'ddl_bob' }],
	['ALTER FUNCTION OWNER TO, of SECURITY DEFINER', 'rows', 'functions', 'ALTER FUNCTION w() OWNER TO ddl_bob', 'ALTER FUNCTION w() OWNER TO postgres', { setup => 'ALTER FUNCTION w() SECURITY DEFINER' }],
	['ALTER FUNCTION DEPENDS ON EXTENSION', $no_use, 'functions', 'ALTER FUNCTION f(bigint) DEPENDS ON EXTENSION emogi', 'ALTER FUNCTION f(bigint) NO DEPENDS ON EXTENSION emogi'],
	['ALTER FUNCTION RENAME TO', 'rows', 'functions', 'ALTER FUNCTION f(bigint) RENAME TO f2', 'ALTER FUNCTION f2(bigint) RENAME TO f'],
	['ALTER FUNCTION SET SCHEMA', 'rows', 'functions', 'ALTER FUNCTION f(bigint) SET SCHEMA other', 'ALTER FUNCTION other.f(bigint) SET SCHEMA m'],
	['ALTER ROUTINE', 'rows', 'functions', 'ALTER ROUTINE f(bigint) STRICT', 'ALTER ROUTINE f(bigint) CALLED ON NULL INPUT'],
	['CREATE OR REPLACE FUNCTION, in SQL', 'rows', 'functions', q{CREATE OR REPLACE FUNCTION f(bigint) RETURNS bigint LANGUAGE sql IMMUTABLE AS 'SELECT coalesce($1, 4) + 1000'}, q{CREATE OR REPLACE FUNCTION f(bigint) RETURNS bigint LANGUAGE sql IMMUTABLE AS 'SELECT coalesce($1, 3) + 100'}],
	['CREATE OR REPLACE FUNCTION, with a body', 'rows', 'functions', 'CREATE OR REPLACE FUNCTION f(bigint) RETURNS bigint LANGUAGE sql IMMUTABLE RETURN $1 + 1000', q{CREATE OR REPLACE FUNCTION f(bigint) RETURNS bigint LANGUAGE sql IMMUTABLE AS 'SELECT coalesce($1, 3) + 100'}],
	['CREATE OR REPLACE FUNCTION, internal', 'rows', 'functions', q{CREATE OR REPLACE FUNCTION h(bigint) RETURNS bigint LANGUAGE internal IMMUTABLE STRICT AS 'int8um'}, q{CREATE OR REPLACE FUNCTION h(bigint) RETURNS bigint LANGUAGE internal IMMUTABLE STRICT AS 'int8abs'}],
	['CREATE OR REPLACE FUNCTION, plpgsql', 'rows', 'functions', q{CREATE OR REPLACE FUNCTION p(bigint) RETURNS bigint LANGUAGE plpgsql IMMUTABLE AS 'BEGIN RETURN $1; END'}, undef],
	['CREATE OR REPLACE FUNCTION, in FROM', 'rows', 'functions', q{CREATE OR REPLACE FUNCTION rows_of(bigint) RETURNS TABLE (src bigint, dst bigint) LANGUAGE sql STABLE AS 'SELECT dst, src + 50 FROM e'}, undef],
	['CREATE FUNCTION, in front', 'rows', 'functions', q{CREATE FUNCTION first.f(bigint) RETURNS bigint LANGUAGE sql IMMUTABLE AS 'SELECT 5::bigint'}, 'DROP FUNCTION first.f(bigint)', { setup => 'CREATE SCHEMA first' }],
	['CREATE FUNCTION, of types that fit better', 'rows', 'functions', q{CREATE FUNCTION rows_of(int) RETURNS TABLE (src bigint, dst bigint) LANGUAGE sql STABLE AS 'SELECT 5::bigint, 6::bigint'}, 'DROP FUNCTION rows_of(int)'],
	['DROP FUNCTION', 'rows', 'functions', 'DROP FUNCTION h(bigint)', q{CREATE FUNCTION h(bigint) RETURNS bigint LANGUAGE internal IMMUTABLE STRICT AS 'int8abs'}],
	['DROP FUNCTION, and CREATE FUNCTION', 'rows', 'functions', q{DROP FUNCTION h(bigint); CREATE FUNCTION h(bigint) RETURNS bigint LANGUAGE sql IMMUTABLE AS 'SELECT $1 + 7'}, undef],
	['DROP ROUTINE', 'rows', 'functions', 'DROP ROUTINE h(bigint)', undef],
	['CREATE OR REPLACE FUNCTION, of a default', 'rows', 'functions', q{CREATE OR REPLACE FUNCTION df(a bigint, b bigint DEFAULT 20) RETURNS bigint LANGUAGE sql IMMUTABLE AS 'SELECT $1 + $2'}, q{CREATE OR REPLACE FUNCTION df(a bigint, b bigint DEFAULT 10) RETURNS bigint LANGUAGE sql IMMUTABLE AS 'SELECT $1 + $2'},
		{ setup => q{CREATE FUNCTION df(a bigint, b bigint DEFAULT 10) RETURNS bigint LANGUAGE sql IMMUTABLE AS 'SELECT $1 + $2'}, graphs => ['SELECT df(src) AS src, df(dst) AS dst FROM e'] }],
	['CREATE OR REPLACE FUNCTION, STABLE and folded', 'rows', 'functions', q{CREATE OR REPLACE FUNCTION lim() RETURNS bigint LANGUAGE plpgsql STABLE AS 'BEGIN RETURN 2; END'}, undef,
		{ setup => q{CREATE FUNCTION lim() RETURNS bigint LANGUAGE plpgsql STABLE AS 'BEGIN RETURN 5; END'}, graphs => ['SELECT src, dst FROM e WHERE src < lim()'] }],
	['CREATE PROCEDURE', 'harmless: no query calls it', 'edges', q{CREATE PROCEDURE pr() LANGUAGE sql AS ''}, 'DROP PROCEDURE pr()'],
	['ALTER PROCEDURE', 'harmless: no query calls it', 'edges', 'ALTER PROCEDURE pr() SECURITY DEFINER', undef, { setup => q{CREATE PROCEDURE pr() LANGUAGE sql AS ''} }],
	['DROP PROCEDURE', 'harmless: no query calls it', 'edges', 'DROP PROCEDURE pr()', undef, { setup => q{CREATE PROCEDURE pr() LANGUAGE sql AS ''} }],
	['CREATE AGGREGATE', 'rows', 'aggregate', 'CREATE AGGREGATE first.agg(bigint) (SFUNC = int8smaller, STYPE = bigint)', 'DROP AGGREGATE first.agg(bigint)', { setup => 'CREATE SCHEMA first' }],
	['CREATE OR REPLACE AGGREGATE', 'rows', 'aggregate', 'CREATE OR REPLACE AGGREGATE agg(bigint) (SFUNC = int8smaller, STYPE = bigint)', 'CREATE OR REPLACE AGGREGATE agg(bigint) (SFUNC = int8larger, STYPE = bigint)'],
	['CREATE OR REPLACE AGGREGATE, INITCOND', 'rows', 'aggregate', q{CREATE OR REPLACE AGGREGATE agg(bigint) (SFUNC = int8larger, STYPE = bigint, INITCOND = '50')}, undef],
	['CREATE OR REPLACE FUNCTION, of an aggregate', 'rows', 'aggregate', q{CREATE OR REPLACE FUNCTION step(bigint, bigint) RETURNS bigint LANGUAGE sql IMMUTABLE AS 'SELECT 9::bigint'}, undef,
		{ setup => q{CREATE FUNCTION step(bigint, bigint) RETURNS bigint LANGUAGE sql IMMUTABLE AS 'SELECT coalesce($1, 0) + $2'; CREATE AGGREGATE agg2(bigint) (SFUNC = step, STYPE = bigint)}, graphs => ['SELECT src, agg2(dst) AS dst FROM e GROUP BY src'] }],
	['ALTER AGGREGATE RENAME TO', 'rows', 'aggregate', 'ALTER AGGREGATE agg(bigint) RENAME TO agg2', 'ALTER AGGREGATE agg2(bigint) RENAME TO agg'],
	['ALTER AGGREGATE SET SCHEMA', 'rows', 'aggregate', 'ALTER AGGREGATE agg(bigint) SET SCHEMA other', 'ALTER AGGREGATE other.agg(bigint) SET SCHEMA m', { setup => 'CREATE SCHEMA other' }],
	['ALTER AGGREGATE OWNER TO', $no_use, 'aggregate', 'ALTER AGGREGATE agg(bigint) OWNER TO ddl_bob', undef],
	['DROP AGGREGATE', 'rows', 'aggregate', 'DROP AGGREGATE agg(bigint) CASCADE', undef],
	['CREATE OPERATOR', 'rows', 'operator', 'CREATE OPERATOR first.%% (LEFTARG = bigint, RIGHTARG = bigint, FUNCTION = int8smaller)', 'DROP OPERATOR first.%% (bigint, bigint)', { setup => 'CREATE SCHEMA first' }],
	['CREATE OPERATOR, of types that fit better', 'rows', 'operator', 'CREATE OPERATOR %% (LEFTARG = bigint, RIGHTARG = int, FUNCTION = int84mul)', 'DROP OPERATOR %% (bigint, int)'],
	['CREATE OPERATOR, = of a composite type', 'rows', 'composite', 'CREATE OPERATOR = (LEFTARG = c, RIGHTARG = c, FUNCTION = c_eq)', 'DROP OPERATOR = (c, c)', { setup => q{CREATE FUNCTION c_eq(c, c) RETURNS bool LANGUAGE sql IMMUTABLE AS 'SELECT ($1).a <> ($2).a'} }],
	['ALTER OPERATOR SET', 'harmless: hints', 'operator', 'ALTER OPERATOR <%> (bigint, bigint) SET (RESTRICT = eqsel, JOIN = eqjoinsel)', 'ALTER OPERATOR <%> (bigint, bigint) SET (RESTRICT = NONE, JOIN = NONE)', { setup => 'CREATE OPERATOR <%> (LEFTARG = bigint, RIGHTARG = bigint, FUNCTION = int8lt)', graphs => ['SELECT src, dst FROM e WHERE src <%> dst'] }],
	['ALTER OPERATOR OWNER TO', $no_use, 'operator', 'ALTER OPERATOR %% (bigint, bigint) OWNER TO ddl_bob', undef],
	['ALTER OPERATOR SET SCHEMA', 'rows', 'operator', 'ALTER OPERATOR %% (bigint, bigint) SET SCHEMA other', 'ALTER OPERATOR other.%% (bigint, bigint) SET SCHEMA m'],
	['CREATE OR REPLACE FUNCTION, of an operator', 'rows', 'operator', q{CREATE OR REPLACE FUNCTION later(bigint, bigint) RETURNS bigint LANGUAGE sql IMMUTABLE AS 'SELECT $1 - $2'}, undef],
	['DROP OPERATOR', 'rows', 'operator', 'DROP OPERATOR %% (bigint, bigint) CASCADE', undef],
	['DROP OPERATOR, and CREATE OPERATOR', 'rows', 'operator', 'DROP OPERATOR !% (bigint, bigint); CREATE OPERATOR !% (LEFTARG = bigint, RIGHTARG = bigint, FUNCTION = int8mul)', undef],
	['CREATE OPERATOR CLASS, the default of a composite type', 'rows', 'composite_groups', 'CREATE OPERATOR CLASS cc DEFAULT FOR TYPE c USING btree AS OPERATOR 1 <~, OPERATOR 2 <=~, OPERATOR 3 =~, OPERATOR 4 >=~, OPERATOR 5 >~, FUNCTION 1 c_cmp(c, c)', 'DROP OPERATOR FAMILY cc USING btree CASCADE',
		{ sql => 0, setup => q{CREATE FUNCTION c_cmp(c, c) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT btint4cmp(($1).a, ($2).a)';} . join('', map { "CREATE FUNCTION c_$_->[0](c, c) RETURNS bool LANGUAGE sql IMMUTABLE AS 'SELECT (\$1).a $_->[1] (\$2).a'; CREATE OPERATOR $_->[1]~ (LEFTARG = c, RIGHTARG = c, FUNCTION = c_$_->[0]);" } ['lt', '<'], ['le', '<='], ['eq', '='], ['ge', '>='], ['gt', '>']) }],
	['CREATE OPERATOR CLASS, the default of keys', 'keys', 'composite_keys', 'CREATE OPERATOR CLASS cc DEFAULT FOR TYPE c USING btree AS OPERATOR 1 <~, OPERATOR 2 <=~, OPERATOR 3 =~, OPERATOR 4 >=~, OPERATOR 5 >~, FUNCTION 1 c_cmp(c, c)', 'DROP OPERATOR FAMILY cc USING btree CASCADE',
		{ sql => 0, setup => q{CREATE FUNCTION c_cmp(c, c) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT btint4cmp(($1).a, ($2).a)';} . join('', map { "CREATE FUNCTION c_$_->[0](c, c) RETURNS bool LANGUAGE sql IMMUTABLE AS 'SELECT (\$1).a $_->[1] (\$2).a'; CREATE OPERATOR $_->[1]~ (LEFTARG = c, RIGHTARG = c, FUNCTION = c_$_->[0]);" } ['lt', '<'], ['le', '<='], ['eq', '='], ['ge', '>='], ['gt', '>']) }],
	['ALTER OPERATOR CLASS RENAME TO', $no_use, 'base', 'ALTER OPERATOR CLASS bc USING btree RENAME TO bc2', undef],
	['ALTER OPERATOR CLASS OWNER TO', $no_use, 'base', 'ALTER OPERATOR CLASS bc USING btree OWNER TO ddl_bob', undef],
	['ALTER OPERATOR CLASS SET SCHEMA', $no_use, 'base', 'ALTER OPERATOR CLASS bc USING btree SET SCHEMA other', undef, { setup => 'CREATE SCHEMA other' }],
	['DROP OPERATOR CLASS', 'keys', 'base', 'DROP OPERATOR CLASS bc USING btree', undef],
	['DROP OPERATOR CLASS, and CREATE OPERATOR CLASS', 'keys', 'base', 'DROP OPERATOR CLASS bc USING btree; CREATE OPERATOR CLASS bc DEFAULT FOR TYPE b USING btree FAMILY bf AS OPERATOR 1 >, OPERATOR 2 >=, OPERATOR 3 =, OPERATOR 4 <=, OPERATOR 5 <, FUNCTION 1 b_rev(b, b)', undef,
		{ setup => q{CREATE FUNCTION b_rev(b, b) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT -b_cmp($1, $2)'} }],
	['CREATE OR REPLACE FUNCTION, of an operator class', 'excepted: emogi_evict() is asked for', 'base', q{CREATE OR REPLACE FUNCTION b_cmp(b, b) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT btint4cmp($2::text::int, $1::text::int)'; SELECT emogi_evict()}, undef, { tx => 0, sql => 0 }],
	['CREATE OPERATOR FAMILY', $no_use, 'base', 'CREATE OPERATOR FAMILY bf2 USING btree', 'DROP OPERATOR FAMILY bf2 USING btree'],
	['ALTER OPERATOR FAMILY ADD', 'harmless: keys use the class', 'base', 'ALTER OPERATOR FAMILY bf USING btree ADD OPERATOR 3 = (int, int)', 'ALTER OPERATOR FAMILY bf USING btree DROP OPERATOR 3 (int, int)'],
	['ALTER OPERATOR FAMILY DROP', 'harmless: keys use the class', 'base', 'ALTER OPERATOR FAMILY bf USING btree DROP OPERATOR 3 (int, int)', undef, { setup => 'ALTER OPERATOR FAMILY bf USING btree ADD OPERATOR 3 = (int, int)' }],
	['ALTER OPERATOR FAMILY RENAME TO', $no_use, 'base', 'ALTER OPERATOR FAMILY bf USING btree RENAME TO bf2', undef],
	['ALTER OPERATOR FAMILY OWNER TO', $no_use, 'base', 'ALTER OPERATOR FAMILY bf USING btree OWNER TO ddl_bob', undef],
	['ALTER OPERATOR FAMILY SET SCHEMA', $no_use, 'base', 'ALTER OPERATOR FAMILY bf USING btree SET SCHEMA other', undef, { setup => 'CREATE SCHEMA other' }],
	['DROP OPERATOR FAMILY', 'keys', 'base', 'DROP OPERATOR FAMILY bf USING btree CASCADE', undef],
	['CREATE CAST', 'rows', 'casts', 'CREATE CAST (c AS text) WITH FUNCTION to_t(c)', 'DROP CAST (c AS text)'],
	['CREATE CAST AS IMPLICIT', 'rows', 'casts', 'CREATE CAST (c AS bigint) WITH FUNCTION to_b(c) AS IMPLICIT', 'DROP CAST (c AS bigint)', { setup => 'DROP CAST (c AS bigint)' }],
	['CREATE CAST WITH INOUT', 'rows', 'casts', 'CREATE CAST (c AS bigint) WITH INOUT', 'DROP CAST (c AS bigint)', { setup => 'DROP CAST (c AS bigint); DELETE FROM e', graphs => ['SELECT src, c::bigint AS dst FROM e'] }],
	['DROP CAST', 'rows', 'casts', 'DROP CAST (c AS bigint)', 'CREATE CAST (c AS bigint) WITH FUNCTION to_a(c)'],
	['DROP CAST, and CREATE CAST', 'rows', 'casts', 'DROP CAST (c AS bigint); CREATE CAST (c AS bigint) WITH FUNCTION to_b(c)', 'DROP CAST (c AS bigint); CREATE CAST (c AS bigint) WITH FUNCTION to_a(c)'],
	['CREATE CONVERSION', 'harmless: its function is in C, and converts', 'text', q{CREATE DEFAULT CONVERSION conv FOR 'LATIN1' TO 'UTF8' FROM iso8859_1_to_utf8}, 'DROP CONVERSION conv', { graphs => [q{SELECT convert_from(src::bytea, 'LATIN1') COLLATE "C" AS src, dst COLLATE "C" AS dst FROM e}] }],
	['ALTER CONVERSION', $no_use, 'text', 'ALTER CONVERSION conv RENAME TO conv2', undef, { setup => q{CREATE CONVERSION conv FOR 'LATIN1' TO 'UTF8' FROM iso8859_1_to_utf8} }],
	['DROP CONVERSION', $no_use, 'text', 'DROP CONVERSION conv', undef, { setup => q{CREATE CONVERSION conv FOR 'LATIN1' TO 'UTF8' FROM iso8859_1_to_utf8} }],
	['CREATE TRANSFORM', 'harmless: functions in SQL use none', 'functions', 'CREATE TRANSFORM FOR int LANGUAGE sql (FROM SQL WITH FUNCTION prsd_lextype(internal), TO SQL WITH FUNCTION int4recv(internal))', 'DROP TRANSFORM FOR int LANGUAGE sql'],
	['DROP TRANSFORM', 'harmless: functions in SQL use none', 'functions', 'DROP TRANSFORM IF EXISTS FOR int LANGUAGE sql', undef],
	['CREATE LANGUAGE', $no_use, 'functions', 'CREATE LANGUAGE ddl_language HANDLER plpgsql_call_handler', 'DROP LANGUAGE ddl_language'],
	['ALTER LANGUAGE', $no_use, 'functions', 'ALTER LANGUAGE plpgsql OWNER TO ddl_bob', 'ALTER LANGUAGE plpgsql OWNER TO postgres'],
	['DROP LANGUAGE', 'rows', 'functions', 'DROP LANGUAGE ddl_language CASCADE', undef, { setup => q{CREATE LANGUAGE ddl_language HANDLER plpgsql_call_handler; CREATE FUNCTION l(bigint) RETURNS bigint LANGUAGE ddl_language IMMUTABLE AS 'BEGIN RETURN $1 + 5; END'}, graphs => ['SELECT l(src) AS src, l(dst) AS dst FROM e'] }],

	['ALTER TEXT SEARCH CONFIGURATION ALTER MAPPING', 'rows', 'search', 'ALTER TEXT SEARCH CONFIGURATION cfg ALTER MAPPING FOR asciiword WITH english_stem', 'ALTER TEXT SEARCH CONFIGURATION cfg ALTER MAPPING FOR asciiword WITH sd'],
	['ALTER TEXT SEARCH CONFIGURATION ALTER MAPPING REPLACE', 'rows', 'search', 'ALTER TEXT SEARCH CONFIGURATION cfg ALTER MAPPING REPLACE sd WITH english_stem', 'ALTER TEXT SEARCH CONFIGURATION cfg ALTER MAPPING REPLACE english_stem WITH sd'],
	['ALTER TEXT SEARCH CONFIGURATION DROP MAPPING', 'rows', 'search', 'ALTER TEXT SEARCH CONFIGURATION cfg DROP MAPPING FOR asciiword', 'ALTER TEXT SEARCH CONFIGURATION cfg ADD MAPPING FOR asciiword WITH sd'],
	['ALTER TEXT SEARCH CONFIGURATION RENAME TO', 'rows', 'search', 'ALTER TEXT SEARCH CONFIGURATION cfg RENAME TO cfg2', 'ALTER TEXT SEARCH CONFIGURATION cfg2 RENAME TO cfg'],
	['ALTER TEXT SEARCH CONFIGURATION OWNER TO', $no_use, 'search', 'ALTER TEXT SEARCH CONFIGURATION cfg OWNER TO ddl_bob', undef],
	['ALTER TEXT SEARCH CONFIGURATION SET SCHEMA', 'rows', 'search', 'ALTER TEXT SEARCH CONFIGURATION cfg SET SCHEMA other', 'ALTER TEXT SEARCH CONFIGURATION other.cfg SET SCHEMA m', { setup => 'CREATE SCHEMA other' }],
	['CREATE TEXT SEARCH CONFIGURATION', 'rows', 'search', 'CREATE TEXT SEARCH CONFIGURATION first.cfg (COPY = pg_catalog.english)', 'DROP TEXT SEARCH CONFIGURATION first.cfg', { setup => 'CREATE SCHEMA first' }],
	['DROP TEXT SEARCH CONFIGURATION', 'rows', 'search', 'DROP TEXT SEARCH CONFIGURATION cfg', undef],
	['ALTER TEXT SEARCH DICTIONARY', 'rows', 'search', 'ALTER TEXT SEARCH DICTIONARY sd (STOPWORDS = english)', 'ALTER TEXT SEARCH DICTIONARY sd (STOPWORDS)'],
	['ALTER TEXT SEARCH DICTIONARY RENAME TO', 'rows', 'search', 'ALTER TEXT SEARCH DICTIONARY sd RENAME TO sd2', 'ALTER TEXT SEARCH DICTIONARY sd2 RENAME TO sd'],
	['CREATE TEXT SEARCH DICTIONARY', 'rows', 'search', 'CREATE TEXT SEARCH DICTIONARY first.sd (TEMPLATE = pg_catalog.simple, STOPWORDS = english)', 'DROP TEXT SEARCH DICTIONARY first.sd', { setup => 'CREATE SCHEMA first' }],
	['DROP TEXT SEARCH DICTIONARY', 'rows', 'search', 'DROP TEXT SEARCH DICTIONARY sd CASCADE', undef],
	['CREATE TEXT SEARCH PARSER', $no_use, 'search', 'CREATE TEXT SEARCH PARSER pa (START = prsd_start, GETTOKEN = prsd_nexttoken, END = prsd_end, LEXTYPES = prsd_lextype)', 'DROP TEXT SEARCH PARSER pa'],
	['ALTER TEXT SEARCH PARSER', $no_use, 'search', 'ALTER TEXT SEARCH PARSER pa RENAME TO pa2', undef, { setup => 'CREATE TEXT SEARCH PARSER pa (START = prsd_start, GETTOKEN = prsd_nexttoken, END = prsd_end, LEXTYPES = prsd_lextype)' }],
	['DROP TEXT SEARCH PARSER', $no_use, 'search', 'DROP TEXT SEARCH PARSER IF EXISTS pa', undef],
	['CREATE TEXT SEARCH TEMPLATE', $no_use, 'search', 'CREATE TEXT SEARCH TEMPLATE tt (INIT = dsimple_init, LEXIZE = dsimple_lexize)', 'DROP TEXT SEARCH TEMPLATE tt'],
	['ALTER TEXT SEARCH TEMPLATE', $no_use, 'search', 'ALTER TEXT SEARCH TEMPLATE tt RENAME TO tt2', undef, { setup => 'CREATE TEXT SEARCH TEMPLATE tt (INIT = dsimple_init, LEXIZE = dsimple_lexize)' }],
	['DROP TEXT SEARCH TEMPLATE', $no_use, 'search', 'DROP TEXT SEARCH TEMPLATE IF EXISTS tt', undef],

	['CREATE EXTENSION', 'rows', 'text', 'CREATE EXTENSION citext SCHEMA m', 'DROP EXTENSION citext', { sql => 0, graphs => ['SELECT src::citext AS src, dst::citext AS dst FROM e', q{SELECT src, dst FROM e WHERE src::citext = 'A'}], if => q{EXISTS (SELECT FROM pg_available_extensions WHERE name = 'citext')} }],
	['ALTER EXTENSION UPDATE', 'harmless: new functions', 'text', 'ALTER EXTENSION citext UPDATE', undef, { sql => 0, setup => q{CREATE EXTENSION citext SCHEMA m VERSION '1.4'}, graphs => ['SELECT src::citext AS src, dst::citext AS dst FROM e', q{SELECT src, dst FROM e WHERE src::citext = 'A'}], if => q{EXISTS (SELECT FROM pg_available_extensions WHERE name = 'citext')} }],
	['ALTER EXTENSION SET SCHEMA', 'rows', 'text', 'ALTER EXTENSION citext SET SCHEMA other', 'ALTER EXTENSION citext SET SCHEMA m', { sql => 0, setup => q{CREATE SCHEMA other; CREATE EXTENSION citext SCHEMA m}, graphs => ['SELECT src::citext AS src, dst::citext AS dst FROM e', q{SELECT src, dst FROM e WHERE src::citext = 'A'}], if => q{EXISTS (SELECT FROM pg_available_extensions WHERE name = 'citext')} }],
	['ALTER EXTENSION ADD', $no_use, 'functions', 'ALTER EXTENSION citext ADD FUNCTION f(bigint)', 'ALTER EXTENSION citext DROP FUNCTION f(bigint)', { setup => q{CREATE EXTENSION citext SCHEMA m}, if => q{EXISTS (SELECT FROM pg_available_extensions WHERE name = 'citext')} }],
	['DROP EXTENSION', 'rows', 'text', 'DROP EXTENSION citext', undef, { sql => 0, setup => 'CREATE EXTENSION citext SCHEMA m', graphs => ['SELECT src::citext AS src, dst::citext AS dst FROM e'], if => q{EXISTS (SELECT FROM pg_available_extensions WHERE name = 'citext')} }],
);

# ALTER TABLE e ...: [sub-form, undo, effect, options]
my @alter_table = (
	['ADD COLUMN vertex bigint DEFAULT 77', 'DROP COLUMN vertex', 'rows'], ['ADD COLUMN cost int', 'DROP COLUMN cost', 'rows'], ['ADD COLUMN IF NOT EXISTS x int', 'DROP COLUMN x', 'rows'], ['DROP COLUMN dst CASCADE', undef, 'rows'], ['DROP COLUMN weight', undef, 'rows'], ['DROP COLUMN k CASCADE', undef, 'rows'],
	['ALTER COLUMN dst TYPE bigint USING dst + 5', undef, 'rows', { setup => 'DROP VIEW v', graphs => ['e', 'SELECT src, dst FROM e'] }], ['ALTER COLUMN weight TYPE int USING 7', undef, 'rows'], ['ALTER COLUMN t TYPE varchar(10)', undef, 'harmless: no value changes'],
	['RENAME COLUMN dst TO target', 'RENAME COLUMN target TO dst', 'rows'], ['RENAME COLUMN weight TO w', 'RENAME COLUMN w TO weight', 'rows'], ['RENAME TO e2', undef, 'rows'], ['RENAME CONSTRAINT con TO con2', undef, $no_use, { setup => 'ALTER TABLE e ADD CONSTRAINT con CHECK (src > 0)' }], ['SET SCHEMA other', undef, 'rows', { setup => 'CREATE SCHEMA other' }],
	['ALTER COLUMN k SET DEFAULT 5', 'ALTER COLUMN k DROP DEFAULT', 'harmless: of rows to come'], ['ALTER COLUMN src SET NOT NULL', 'ALTER COLUMN src DROP NOT NULL', 'harmless: no row changes'], ['ALTER COLUMN src DROP NOT NULL', undef, 'harmless: no row changes', { setup => 'ALTER TABLE e ALTER COLUMN src SET NOT NULL' }],
	['ALTER COLUMN g DROP EXPRESSION', undef, 'harmless: values stay', { setup => 'ALTER TABLE e ADD COLUMN g bigint GENERATED ALWAYS AS (src + 5) STORED', graphs => ['e(src, g)'] }], ['ALTER COLUMN g SET EXPRESSION AS (src + 9)', 'ALTER COLUMN g SET EXPRESSION AS (src + 5)', 'rows', { min => 17, setup => 'ALTER TABLE e ADD COLUMN g bigint GENERATED ALWAYS AS (src + 5) STORED', graphs => ['e(src, g)', 'SELECT src, g AS dst FROM e'] }],
	['ALTER COLUMN g SET EXPRESSION AS (src + 9), virtual', 'ALTER COLUMN g SET EXPRESSION AS (src + 5)', 'rows', { min => 18, setup => 'ALTER TABLE e ADD COLUMN g bigint GENERATED ALWAYS AS (src + 5) VIRTUAL', graphs => ['e(src, g)', 'SELECT src, g AS dst FROM e', 'SELECT src, dst FROM e WHERE g > 10'] }],
	['ALTER COLUMN src ADD GENERATED ALWAYS AS IDENTITY', 'ALTER COLUMN src DROP IDENTITY', 'harmless: of rows to come', { setup => 'ALTER TABLE e ALTER COLUMN src SET NOT NULL' }], ['ALTER COLUMN src SET GENERATED BY DEFAULT', 'ALTER COLUMN src DROP IDENTITY IF EXISTS', 'harmless: of rows to come', { setup => 'ALTER TABLE e ALTER COLUMN src SET NOT NULL, ALTER COLUMN src ADD GENERATED ALWAYS AS IDENTITY' }],
	['ALTER COLUMN src SET STATISTICS 10', undef, $no_use], ['ALTER COLUMN src SET (n_distinct = 5)', 'ALTER COLUMN src RESET (n_distinct)', $no_use], ['ALTER COLUMN t SET STORAGE EXTERNAL', undef, $no_use], ['ALTER COLUMN t SET COMPRESSION pglz', undef, $no_use],
	['ADD CONSTRAINT con CHECK (src > 0) NOT VALID', 'DROP CONSTRAINT con', 'harmless: no row changes'], ['ADD CONSTRAINT con PRIMARY KEY (src)', 'DROP CONSTRAINT con CASCADE', 'harmless: no row changes'], ['ADD CONSTRAINT con UNIQUE USING INDEX u', undef, 'harmless: no row changes', { setup => 'CREATE UNIQUE INDEX u ON e (dst)' }],
	['VALIDATE CONSTRAINT con', undef, 'harmless: no row changes', { setup => 'ALTER TABLE e ADD CONSTRAINT con CHECK (src > 0) NOT VALID' }], ['ALTER CONSTRAINT con DEFERRABLE', undef, 'harmless: no row changes', { setup => 'CREATE TABLE p (i bigint PRIMARY KEY); INSERT INTO p SELECT src FROM e; ALTER TABLE e ADD CONSTRAINT con FOREIGN KEY (src) REFERENCES p' }], ['DROP CONSTRAINT con', undef, 'rows', { setup => 'ALTER TABLE e ADD CONSTRAINT con PRIMARY KEY (src)', graphs => ['e', 'SELECT src, dst FROM e GROUP BY src'] }],
	['DISABLE TRIGGER ALL', 'ENABLE TRIGGER ALL', 'harmless: of rows to come'], ['ENABLE REPLICA TRIGGER tr', 'ENABLE ALWAYS TRIGGER tr', 'harmless: of rows to come', { setup => 'CREATE TRIGGER tr BEFORE UPDATE ON e FOR EACH ROW EXECUTE FUNCTION suppress_redundant_updates_trigger()' }], ['DISABLE RULE ru', 'ENABLE RULE ru', 'harmless: of writes', { setup => 'CREATE RULE ru AS ON DELETE TO e DO INSTEAD NOTHING' }], ['ENABLE REPLICA RULE ru', 'ENABLE ALWAYS RULE ru', 'harmless: of writes', { setup => 'CREATE RULE ru AS ON DELETE TO e DO INSTEAD NOTHING' }],
	['ENABLE ROW LEVEL SECURITY', 'DISABLE ROW LEVEL SECURITY', 'harmless: a superuser sees all'], ['FORCE ROW LEVEL SECURITY', 'NO FORCE ROW LEVEL SECURITY', 'harmless: a superuser sees all'],
	['CLUSTER ON e_src', 'SET WITHOUT CLUSTER', $no_use], ['SET WITHOUT OIDS', undef, $no_use], ['SET LOGGED', undef, 'harmless: rows stay', { setup => 'ALTER TABLE e SET UNLOGGED' }], ['SET UNLOGGED', 'SET LOGGED', 'harmless: rows stay'], ['SET TABLESPACE ddl_space', 'SET TABLESPACE pg_default', 'harmless: rows stay'], ['SET ACCESS METHOD ddl_heap', 'SET ACCESS METHOD heap', 'harmless: rows stay', { min => 15, setup => 'CREATE ACCESS METHOD ddl_heap TYPE TABLE HANDLER heap_tableam_handler', clean => 'DROP ACCESS METHOD ddl_heap' }],
	['SET (fillfactor = 50)', 'RESET (fillfactor)', $no_use], ['REPLICA IDENTITY FULL', 'REPLICA IDENTITY DEFAULT', $no_use], ['OWNER TO ddl_bob', undef, 'harmless: to a superuser'], ['OF c', 'NOT OF', 'harmless: the columns stay', { setup => 'CREATE TYPE c AS (src bigint, dst bigint, k int, t text, weight float8)' }],
);

my @relations = (
	(map { my ($what, $undo, $can, $more) = @$_; ["ALTER TABLE $what", $can, 'edges', 'ALTER TABLE e ' . $what =~ s/, virtual//r, $undo && "ALTER TABLE e $undo", $more] } @alter_table),
	['ALTER TABLE, all columns of a name', 'rows', 'edges', 'ALTER TABLE e DROP COLUMN weight, ADD COLUMN weight int DEFAULT 9', undef],
	['ALTER TABLE SET TABLESPACE, of all', 'harmless: rows stay', 'edges', 'ALTER TABLE ALL IN TABLESPACE ddl_space SET TABLESPACE pg_default', undef, { %alone, setup => 'ALTER TABLE e SET TABLESPACE ddl_space' }],
	['ALTER TABLE INHERIT', 'rows', 'inheritance', 'ALTER TABLE apart INHERIT e', 'ALTER TABLE apart NO INHERIT e'],
	['ALTER TABLE NO INHERIT', 'rows', 'inheritance', 'ALTER TABLE kid NO INHERIT e', 'ALTER TABLE kid INHERIT e'],
	['ALTER TABLE ATTACH PARTITION', 'rows', 'partitions', 'ALTER TABLE e ATTACH PARTITION e3 FOR VALUES FROM (20) TO (50)', 'ALTER TABLE e DETACH PARTITION e3'],
	['ALTER TABLE DETACH PARTITION', 'rows', 'partitions', 'ALTER TABLE e DETACH PARTITION e2', 'ALTER TABLE e ATTACH PARTITION e2 FOR VALUES FROM (5) TO (20)'],
	['ALTER TABLE DETACH PARTITION CONCURRENTLY', 'rows', 'partitions', 'ALTER TABLE e DETACH PARTITION e2 CONCURRENTLY', 'ALTER TABLE e ATTACH PARTITION e2 FOR VALUES FROM (5) TO (20)', {%alone}],
	['ALTER TABLE DETACH, and ATTACH', 'rows', 'partitions', 'ALTER TABLE e DETACH PARTITION e2; ALTER TABLE e ATTACH PARTITION e3 FOR VALUES FROM (20) TO (50)', undef],
	['ALTER TABLE RENAME COLUMN, of a partitioned table', 'rows', 'partitions', 'ALTER TABLE e RENAME COLUMN dst TO target2', 'ALTER TABLE e RENAME COLUMN target2 TO dst'],
	['CREATE TABLE', 'rows', 'shadow', 'CREATE TABLE first.e (src bigint, dst bigint)', 'DROP TABLE first.e', { setup => 'CREATE SCHEMA first' }],
	['CREATE TABLE INHERITS', 'harmless: it is empty', 'inheritance', 'CREATE TABLE kid2 () INHERITS (e)', 'DROP TABLE kid2'],
	['CREATE TABLE INHERITS, and INSERT', 'rows', 'inheritance', 'CREATE TABLE kid2 () INHERITS (e); INSERT INTO kid2 VALUES (50, 51)', 'DROP TABLE kid2'],
	['CREATE TABLE PARTITION OF', 'rows', 'partitions', 'CREATE TABLE e4 PARTITION OF e FOR VALUES FROM (50) TO (60); INSERT INTO e VALUES (50, 51)', 'DROP TABLE e4'],
	['CREATE TEMP TABLE', 'rows', 'shadow', 'CREATE TEMP TABLE e AS SELECT 5::bigint AS src, 6::bigint AS dst', 'DROP TABLE pg_temp.e', { own => 1, tx => 0 }],
	['CREATE TABLE AS', 'rows', 'shadow', 'CREATE TABLE first.e AS SELECT 5::bigint AS src, 6::bigint AS dst', 'DROP TABLE first.e', { setup => 'CREATE SCHEMA first' }],
	['SELECT INTO', 'rows', 'shadow', 'SELECT 5::bigint AS src, 6::bigint AS dst INTO first.e', 'DROP TABLE first.e', { setup => 'CREATE SCHEMA first' }],
	['DROP TABLE', 'rows', 'edges', 'DROP TABLE e CASCADE', undef],
	['DROP TABLE, and CREATE TABLE', 'rows', 'edges', 'DROP TABLE e CASCADE; CREATE TABLE e (dst bigint, src bigint); INSERT INTO e VALUES (7, 8)', undef],
	['DROP TABLE, of a partition', 'rows', 'partitions', 'DROP TABLE e2', undef],
	['DROP TABLE, of a child', 'rows', 'inheritance', 'DROP TABLE kid', undef],
	['TRUNCATE', 'rows', 'edges', 'TRUNCATE e', undef],
	['TRUNCATE, of a partition', 'rows', 'partitions', 'TRUNCATE e2', undef],
	['TRUNCATE RESTART IDENTITY', 'rows', 'edges', 'TRUNCATE e RESTART IDENTITY; INSERT INTO e VALUES (4, 5)', undef],
	['CLUSTER', 'harmless: rows stay', 'edges', 'CLUSTER e USING e_src', undef],
	['VACUUM', 'harmless: rows stay', 'edges', 'VACUUM e', undef, {%alone}],
	['REPACK', 'harmless: rows stay', 'edges', 'REPACK e USING INDEX e_src', undef, { min => 19 }],
	['VACUUM FULL', 'harmless: rows stay', 'edges', 'VACUUM (FULL, ANALYZE) e', undef, {%alone}],
	['ANALYZE', 'harmless: statistics', 'edges', 'ANALYZE e', undef],
	['REINDEX', 'harmless: rows stay', 'edges', 'REINDEX TABLE e', undef],
	['REINDEX CONCURRENTLY', 'harmless: rows stay', 'edges', 'REINDEX INDEX CONCURRENTLY e_src', undef, {%alone}],
	['CREATE INDEX', 'harmless: rows stay', 'edges', 'CREATE INDEX e_dst ON e (dst)', 'DROP INDEX e_dst'],
	['CREATE INDEX CONCURRENTLY', 'harmless: rows stay', 'edges', 'CREATE INDEX CONCURRENTLY e_dst ON e (dst)', 'DROP INDEX CONCURRENTLY e_dst', {%alone}],
	['CREATE UNIQUE INDEX', 'harmless: rows stay', 'edges', 'CREATE UNIQUE INDEX e_u ON e (src, dst) WHERE k > 0', 'DROP INDEX e_u'],
	['ALTER INDEX', $no_use, 'edges', 'ALTER INDEX e_src RENAME TO e_src2', 'ALTER INDEX e_src2 RENAME TO e_src'],
	['ALTER INDEX SET', $no_use, 'edges', 'ALTER INDEX e_src SET (fillfactor = 50); ALTER INDEX e_src SET TABLESPACE ddl_space', undef],
	['ALTER INDEX ATTACH PARTITION', $no_use, 'partitions', 'ALTER INDEX ei ATTACH PARTITION e1i', undef, { setup => 'CREATE INDEX ei ON ONLY e (src); CREATE INDEX e1i ON e1 (src)' }],
	['DROP INDEX', 'harmless: rows stay', 'edges', 'DROP INDEX e_src', 'CREATE INDEX e_src ON e (src)'],
	['CREATE STATISTICS', 'harmless: statistics', 'edges', 'CREATE STATISTICS st ON src, dst FROM e', 'DROP STATISTICS st'],
	['ALTER STATISTICS', 'harmless: statistics', 'edges', 'ALTER STATISTICS st SET STATISTICS 5', undef, { setup => 'CREATE STATISTICS st ON src, dst FROM e' }],
	['DROP STATISTICS', 'harmless: statistics', 'edges', 'DROP STATISTICS st', undef, { setup => 'CREATE STATISTICS st ON src, dst FROM e' }],
	['CREATE TRIGGER', 'harmless: of rows to come', 'edges', 'CREATE TRIGGER tr BEFORE UPDATE ON e FOR EACH ROW EXECUTE FUNCTION suppress_redundant_updates_trigger()', 'DROP TRIGGER tr ON e'],
	['ALTER TRIGGER', 'harmless: of rows to come', 'edges', 'ALTER TRIGGER tr ON e RENAME TO tr2', undef, { setup => 'CREATE TRIGGER tr BEFORE UPDATE ON e FOR EACH ROW EXECUTE FUNCTION suppress_redundant_updates_trigger()' }],
	['DROP TRIGGER', 'harmless: of rows to come', 'edges', 'DROP TRIGGER tr ON e', undef, { setup => 'CREATE TRIGGER tr BEFORE UPDATE ON e FOR EACH ROW EXECUTE FUNCTION suppress_redundant_updates_trigger()' }],
	['CREATE RULE', 'harmless: of writes', 'edges', 'CREATE RULE ru AS ON DELETE TO e DO INSTEAD NOTHING', 'DROP RULE ru ON e'],
	['CREATE RULE, that makes a view', 'rows', 'shadow', 'CREATE RULE "_RETURN" AS ON SELECT TO q DO INSTEAD SELECT src, dst FROM e', undef, { max => 15, setup => 'CREATE TABLE q (src bigint, dst bigint)', graphs => ['q', 'SELECT src, dst FROM q'] }],
	['CREATE OR REPLACE RULE, of a view', 'rows', 'edges', 'CREATE OR REPLACE RULE "_RETURN" AS ON SELECT TO v DO INSTEAD SELECT dst AS src, src + 50 AS dst FROM e', 'CREATE OR REPLACE RULE "_RETURN" AS ON SELECT TO v DO INSTEAD SELECT src, dst FROM e WHERE k IS NOT NULL'],
	['ALTER RULE', 'harmless: of writes', 'edges', 'ALTER RULE ru ON e RENAME TO ru2', undef, { setup => 'CREATE RULE ru AS ON DELETE TO e DO INSTEAD NOTHING' }],
	['DROP RULE', 'harmless: of writes', 'edges', 'DROP RULE ru ON e', undef, { setup => 'CREATE RULE ru AS ON DELETE TO e DO INSTEAD NOTHING' }],
	['CREATE SEQUENCE', $no_use, 'sequence', 'CREATE SEQUENCE s2', 'DROP SEQUENCE s2'],
	['ALTER SEQUENCE RESTART', 'rows', 'sequence', 'ALTER SEQUENCE s RESTART 30', 'ALTER SEQUENCE s RESTART 1'],
	['ALTER SEQUENCE', 'harmless: of values to come', 'sequence', 'ALTER SEQUENCE s INCREMENT 5 CYCLE', undef],
	['DROP SEQUENCE', 'rows', 'sequence', 'DROP SEQUENCE s', 'CREATE SEQUENCE s'],
	['CREATE VIEW', 'rows', 'shadow', 'CREATE VIEW first.e AS SELECT 5::bigint AS src, 6::bigint AS dst', 'DROP VIEW first.e', { setup => 'CREATE SCHEMA first' }],
	['CREATE OR REPLACE VIEW', 'rows', 'edges', 'CREATE OR REPLACE VIEW v AS SELECT dst AS src, src + 50 AS dst FROM e', 'CREATE OR REPLACE VIEW v AS SELECT src, dst FROM e WHERE k IS NOT NULL'],
	['CREATE OR REPLACE VIEW, beneath a view', 'rows', 'edges', 'CREATE OR REPLACE VIEW v AS SELECT dst AS src, src + 50 AS dst FROM e', 'CREATE OR REPLACE VIEW v AS SELECT src, dst FROM e WHERE k IS NOT NULL', { setup => 'CREATE VIEW vv AS SELECT src, dst FROM v', graphs => ['vv', 'SELECT dst AS src, src AS dst FROM vv'] }],
	['CREATE OR REPLACE VIEW, one more column', 'rows', 'edges', 'CREATE OR REPLACE VIEW v AS SELECT src, dst, NULL::int AS n FROM e WHERE k IS NOT NULL', undef, { graphs => ['v', 'SELECT src, dst FROM v WHERE v IS NOT NULL'] }],
	['ALTER VIEW ALTER COLUMN', 'harmless: of rows to come', 'edges', 'ALTER VIEW v ALTER COLUMN src SET DEFAULT 5', 'ALTER VIEW v ALTER COLUMN src DROP DEFAULT'],
	['ALTER VIEW OWNER TO', 'rights', 'rights', 'ALTER VIEW v OWNER TO ddl_alice', 'ALTER VIEW v OWNER TO ddl_bob', { as => 'ddl_bob', setup => 'GRANT SELECT ON v TO ddl_bob; REVOKE SELECT ON e FROM ddl_alice; REVOKE SELECT (src, dst) ON e FROM ddl_alice' }],
	['ALTER VIEW RENAME COLUMN', 'rows', 'edges', 'ALTER VIEW v RENAME COLUMN dst TO d', 'ALTER VIEW v RENAME COLUMN d TO dst', { graphs => ['SELECT src, dst FROM v'] }],
	['ALTER VIEW RENAME COLUMN, to and fro', 'rows', 'edges', 'ALTER VIEW v RENAME COLUMN dst TO x; ALTER VIEW v RENAME COLUMN a TO dst', undef, { setup => 'DROP VIEW v; CREATE VIEW v AS SELECT src, dst, src + 5 AS a FROM e', graphs => ['v', 'SELECT src, dst FROM v'] }],
	['ALTER VIEW RENAME TO', 'rows', 'edges', 'ALTER VIEW v RENAME TO v2', 'ALTER VIEW v2 RENAME TO v'],
	['ALTER VIEW SET SCHEMA', 'rows', 'edges', 'ALTER VIEW v SET SCHEMA other', 'ALTER VIEW other.v SET SCHEMA m', { setup => 'CREATE SCHEMA other' }],
	['ALTER VIEW SET', 'harmless: a barrier', 'edges', 'ALTER VIEW v SET (security_barrier)', 'ALTER VIEW v RESET (security_barrier)'],
	['ALTER VIEW SET (security_invoker)', 'rights', 'rights', 'ALTER VIEW v SET (security_invoker)', 'ALTER VIEW v RESET (security_invoker)', { %alice, min => 15, setup => 'REVOKE SELECT (src, dst) ON e FROM ddl_alice' }],
	['DROP VIEW', 'rows', 'edges', 'DROP VIEW v', 'CREATE VIEW v AS SELECT src, dst FROM e WHERE k IS NOT NULL'],
	['DROP VIEW, and CREATE TABLE', 'rows', 'edges', 'DROP VIEW v; CREATE TABLE v AS SELECT 5::bigint AS src, 6::bigint AS dst', undef],
	['REFRESH MATERIALIZED VIEW', 'rows', 'materialized', 'REFRESH MATERIALIZED VIEW e', undef],
	['REFRESH MATERIALIZED VIEW CONCURRENTLY', 'rows', 'materialized', 'REFRESH MATERIALIZED VIEW CONCURRENTLY e', undef],
	['REFRESH MATERIALIZED VIEW WITH NO DATA', 'rows', 'materialized', 'REFRESH MATERIALIZED VIEW e WITH NO DATA', 'REFRESH MATERIALIZED VIEW e'],
	['CREATE MATERIALIZED VIEW', 'rows', 'shadow', 'CREATE MATERIALIZED VIEW first.e AS SELECT 5::bigint AS src, 6::bigint AS dst', 'DROP MATERIALIZED VIEW first.e', { setup => 'CREATE SCHEMA first' }],
	['ALTER MATERIALIZED VIEW', 'rows', 'materialized', 'ALTER MATERIALIZED VIEW e RENAME COLUMN dst TO d', 'ALTER MATERIALIZED VIEW e RENAME COLUMN d TO dst', { graphs => ['v', 'SELECT src, dst FROM e'] }],
	['ALTER MATERIALIZED VIEW SET', $no_use, 'materialized', 'ALTER MATERIALIZED VIEW e SET (fillfactor = 50); ALTER MATERIALIZED VIEW e CLUSTER ON e_i; ALTER MATERIALIZED VIEW e SET TABLESPACE ddl_space', undef],
	['ALTER MATERIALIZED VIEW RENAME TO', 'rows', 'materialized', 'ALTER MATERIALIZED VIEW e RENAME TO e2', 'ALTER MATERIALIZED VIEW e2 RENAME TO e'],
	['DROP MATERIALIZED VIEW', 'rows', 'materialized', 'DROP MATERIALIZED VIEW e CASCADE', undef],
	['CREATE SCHEMA', 'rows', 'shadow', 'CREATE SCHEMA first CREATE TABLE e (src bigint, dst bigint)', 'DROP SCHEMA first CASCADE'],
	['ALTER SCHEMA RENAME TO', 'rows', 'shadow', 'ALTER SCHEMA other RENAME TO first', 'ALTER SCHEMA first RENAME TO other'],
	['ALTER SCHEMA OWNER TO', 'rights', 'shadow', 'ALTER SCHEMA m OWNER TO ddl_alice', 'ALTER SCHEMA m OWNER TO postgres', { as => 'ddl_alice', setup => 'GRANT SELECT ON e TO ddl_alice; REVOKE ALL ON SCHEMA m FROM PUBLIC' }],
	['DROP SCHEMA', 'rows', 'shadow', 'DROP SCHEMA first CASCADE', undef, { setup => 'ALTER SCHEMA other RENAME TO first' }],
	['ALTER TABLE SET SCHEMA, in front', 'rows', 'shadow', 'ALTER TABLE other.e SET SCHEMA first', undef, { setup => 'CREATE SCHEMA first' }],
	['ALTER TABLE RENAME TO, two swapped', 'rows', 'shadow', 'ALTER TABLE e RENAME TO x; ALTER TABLE e2 RENAME TO e', undef, { setup => 'CREATE TABLE e2 AS SELECT 5::bigint AS src, 6::bigint AS dst' }],
);

my %fdw = (if => q{EXISTS (SELECT FROM pg_available_extensions WHERE name = 'postgres_fdw')});
my @servers = (
	['ALTER SERVER', 'rows', 'foreign', q{ALTER SERVER ddl_loop OPTIONS (SET dbname 'template1')}, q{ALTER SERVER ddl_loop OPTIONS (SET dbname 'postgres')}, {%fdw}],
	['ALTER SERVER, of what counts not', $no_use, 'foreign', q{ALTER SERVER ddl_loop OPTIONS (fetch_size '5'); ALTER SERVER ddl_loop VERSION '2'; ALTER SERVER ddl_loop OWNER TO ddl_bob}, 'ALTER SERVER ddl_loop OWNER TO postgres', { %fdw, setup => 'GRANT USAGE ON FOREIGN DATA WRAPPER postgres_fdw TO ddl_bob' }],
	['CREATE SERVER', $no_use, 'foreign', 'CREATE SERVER ddl_other FOREIGN DATA WRAPPER postgres_fdw', 'DROP SERVER ddl_other', {%fdw}],
	['DROP SERVER', 'rows', 'foreign', 'DROP SERVER ddl_loop CASCADE', undef, {%fdw}],
	['CREATE USER MAPPING', 'rows', 'foreign', 'CREATE USER MAPPING FOR PUBLIC SERVER ddl_loop', 'DROP USER MAPPING FOR PUBLIC SERVER ddl_loop', { %fdw, setup => 'DROP USER MAPPING FOR postgres SERVER ddl_loop' }],
	['ALTER USER MAPPING', 'rows', 'foreign', q{ALTER USER MAPPING FOR postgres SERVER ddl_loop OPTIONS (ADD user 'ddl_nobody')}, q{ALTER USER MAPPING FOR postgres SERVER ddl_loop OPTIONS (DROP user)}, {%fdw}],
	['DROP USER MAPPING', 'rows', 'foreign', 'DROP USER MAPPING FOR postgres SERVER ddl_loop', 'CREATE USER MAPPING FOR postgres SERVER ddl_loop', {%fdw}],
	['ALTER FOREIGN TABLE OPTIONS', 'rows', 'foreign', q{ALTER FOREIGN TABLE e OPTIONS (SET table_name 'p2')}, q{ALTER FOREIGN TABLE e OPTIONS (SET table_name 'p')}, {%fdw}],
	['ALTER FOREIGN TABLE ALTER COLUMN OPTIONS', 'rows', 'foreign', q{ALTER FOREIGN TABLE e ALTER COLUMN dst OPTIONS (column_name 'src')}, q{ALTER FOREIGN TABLE e ALTER COLUMN dst OPTIONS (DROP column_name)}, {%fdw}],
	['ALTER FOREIGN TABLE ADD COLUMN, of a row type', 'rows', 'foreign', 'ALTER FOREIGN TABLE e ADD COLUMN z int', 'ALTER FOREIGN TABLE e DROP COLUMN z', {%fdw}],
	['ALTER FOREIGN TABLE RENAME COLUMN', 'rows', 'foreign', 'ALTER FOREIGN TABLE e RENAME COLUMN dst TO d', 'ALTER FOREIGN TABLE e RENAME COLUMN d TO dst', { %fdw, graphs => ['v', 'SELECT src, dst FROM e'] }],
	['CREATE FOREIGN TABLE', 'rows', 'foreign', q{CREATE FOREIGN TABLE first.e (src bigint, dst bigint) SERVER ddl_loop OPTIONS (schema_name 'm', table_name 'p2')}, 'DROP FOREIGN TABLE first.e', { %fdw, setup => 'CREATE SCHEMA first' }],
	['DROP FOREIGN TABLE', 'rows', 'foreign', 'DROP FOREIGN TABLE e CASCADE', undef, {%fdw}],
	['IMPORT FOREIGN SCHEMA', 'rows', 'foreign', 'IMPORT FOREIGN SCHEMA other LIMIT TO (e) FROM SERVER ddl_loop INTO first', 'DROP FOREIGN TABLE first.e', { %fdw, setup => 'CREATE SCHEMA first' }],
	['CREATE FOREIGN DATA WRAPPER', $no_use, 'foreign', 'CREATE FOREIGN DATA WRAPPER ddl_wrapper', 'DROP FOREIGN DATA WRAPPER ddl_wrapper', {%fdw}],
	['ALTER FOREIGN DATA WRAPPER', 'rows', 'foreign', 'ALTER FOREIGN DATA WRAPPER postgres_fdw NO HANDLER', 'ALTER FOREIGN DATA WRAPPER postgres_fdw HANDLER postgres_fdw_handler', {%fdw}],
	['DROP FOREIGN DATA WRAPPER', $no_use, 'edges', 'DROP FOREIGN DATA WRAPPER ddl_wrapper', undef, { setup => 'CREATE FOREIGN DATA WRAPPER ddl_wrapper' }],
);

my @rights = (
	['GRANT SELECT', 'rights', 'rights', 'GRANT SELECT ON e TO ddl_alice', 'REVOKE SELECT ON e FROM ddl_alice; GRANT SELECT (src, dst) ON e TO ddl_alice', {%alice}],
	['GRANT SELECT, of a column', 'rights', 'rights', 'GRANT SELECT (k) ON e TO ddl_alice', 'REVOKE SELECT (k) ON e FROM ddl_alice', {%alice}],
	['GRANT SELECT, of all tables', 'rights', 'rights', 'GRANT SELECT ON ALL TABLES IN SCHEMA m TO PUBLIC', 'REVOKE SELECT ON ALL TABLES IN SCHEMA m FROM PUBLIC', {%alice}],
	['GRANT, of a role', 'rights', 'rights', 'GRANT ddl_group TO ddl_alice', 'REVOKE ddl_group FROM ddl_alice', {%alice}],
	['GRANT, of pg_read_all_data', 'rights', 'rights', 'GRANT pg_read_all_data TO ddl_alice', 'REVOKE pg_read_all_data FROM ddl_alice', {%alice}],
	['REVOKE SELECT', 'rights', 'rights', 'REVOKE SELECT (dst) ON e FROM ddl_alice', 'GRANT SELECT (dst) ON e TO ddl_alice', {%alice}],
	['REVOKE SELECT, from the owner of a view', 'rights', 'rights', 'REVOKE SELECT ON e FROM ddl_bob', 'GRANT SELECT ON e TO ddl_bob', {%alice}],
	['REVOKE USAGE, of a schema', 'rights', 'rights', 'REVOKE USAGE ON SCHEMA m FROM PUBLIC', 'GRANT USAGE ON SCHEMA m TO PUBLIC', {%alice}],
	['REVOKE EXECUTE', 'rights', 'rights', 'REVOKE EXECUTE ON FUNCTION f(bigint) FROM PUBLIC', 'GRANT EXECUTE ON FUNCTION f(bigint) TO PUBLIC', {%alice}],
	['REVOKE EXECUTE, of an aggregate', 'rights', 'rights', 'REVOKE EXECUTE ON FUNCTION ag(bigint) FROM PUBLIC', 'GRANT EXECUTE ON FUNCTION ag(bigint) TO PUBLIC', { %alice, setup => 'CREATE AGGREGATE ag(bigint) (SFUNC = int8larger, STYPE = bigint)', graphs => ['SELECT src, ag(dst) AS dst FROM e GROUP BY src'] }],
	['REVOKE EXECUTE, of an operator', 'rights', 'rights', 'REVOKE EXECUTE ON FUNCTION f2(bigint, bigint) FROM PUBLIC', 'GRANT EXECUTE ON FUNCTION f2(bigint, bigint) TO PUBLIC', { %alice, setup => q{CREATE FUNCTION f2(bigint, bigint) RETURNS bigint LANGUAGE internal IMMUTABLE STRICT AS 'int8pl'; CREATE OPERATOR +% (LEFTARG = bigint, RIGHTARG = bigint, FUNCTION = f2)}, graphs => ['SELECT src, src +% dst AS dst FROM e'] }],
	['REVOKE EXECUTE, of emogi itself', 'rights', 'rights', 'REVOKE EXECUTE ON FUNCTION emogi_cc_text(text, text, "any") FROM PUBLIC', 'GRANT EXECUTE ON FUNCTION emogi_cc_text(text, text, "any") TO PUBLIC', { %alice, sql => 0, old => 0 }],
	['REVOKE USAGE, of a type', 'harmless: it concerns creators of objects', 'composite', 'REVOKE USAGE ON TYPE c FROM PUBLIC', 'GRANT USAGE ON TYPE c TO PUBLIC', { %alice, setup => 'GRANT SELECT ON e, v TO ddl_alice' }],
	['REVOKE, of a role', 'rights', 'rights', 'REVOKE ddl_group FROM ddl_alice', undef, { %alice, setup => 'GRANT ddl_group TO ddl_alice', clean => 'REVOKE ddl_group FROM ddl_alice' }],
	['ALTER DEFAULT PRIVILEGES', 'harmless: of objects to come', 'rights', 'ALTER DEFAULT PRIVILEGES IN SCHEMA m GRANT SELECT ON TABLES TO ddl_alice', undef, {%alice}],
	['ALTER TABLE OWNER TO', 'rights', 'rights', 'ALTER TABLE e OWNER TO ddl_alice', 'ALTER TABLE e OWNER TO ddl_carol', {%alice}],
	['REASSIGN OWNED', 'rights', 'rights', 'REASSIGN OWNED BY ddl_carol TO ddl_alice', undef, {%alice}],
	['REASSIGN OWNED, of the owner of a view', 'rights', 'rights', 'REASSIGN OWNED BY ddl_bob TO ddl_carol', undef, { %alice, setup => 'REVOKE SELECT ON e FROM ddl_bob' }],
	['DROP OWNED', 'rights', 'rights', 'DROP OWNED BY ddl_alice', undef, {%alice}],
	['CREATE ROLE', $no_use, 'rights', 'CREATE ROLE ddl_new', 'DROP ROLE ddl_new', {%alice}],
	['CREATE ROLE IN ROLE', 'rights', 'rights', 'CREATE ROLE ddl_new ROLE ddl_alice; GRANT SELECT ON e TO ddl_new', 'DROP OWNED BY ddl_new; DROP ROLE ddl_new', {%alice}],
	['DROP ROLE', 'rights', 'rights', 'DROP OWNED BY ddl_new; DROP ROLE ddl_new', undef, { %alice, setup => 'CREATE ROLE ddl_new ROLE ddl_alice; GRANT SELECT ON e TO ddl_new', clean => 'DROP ROLE IF EXISTS ddl_new' }],
	['ALTER ROLE SUPERUSER', 'rights', 'policies', 'ALTER ROLE ddl_alice SUPERUSER', 'ALTER ROLE ddl_alice NOSUPERUSER', { %alice, clean => 'ALTER ROLE ddl_alice NOSUPERUSER' }],
	['ALTER ROLE NOSUPERUSER', 'rights', 'policies', 'ALTER ROLE ddl_alice NOSUPERUSER', undef, { %alice, setup => 'ALTER ROLE ddl_alice SUPERUSER', clean => 'ALTER ROLE ddl_alice NOSUPERUSER' }],
	['ALTER ROLE BYPASSRLS', 'rights', 'policies', 'ALTER ROLE ddl_alice BYPASSRLS', 'ALTER ROLE ddl_alice NOBYPASSRLS', { %alice, clean => 'ALTER ROLE ddl_alice NOBYPASSRLS' }],
	['ALTER ROLE BYPASSRLS, of the owner of a view', 'rights', 'policies', 'ALTER ROLE ddl_bob BYPASSRLS', 'ALTER ROLE ddl_bob NOBYPASSRLS', { %alice, clean => 'ALTER ROLE ddl_bob NOBYPASSRLS' }],
	['ALTER ROLE NOINHERIT', 'rights', 'rights', 'ALTER ROLE ddl_alice NOINHERIT', 'ALTER ROLE ddl_alice INHERIT', { %alice, max => 15, setup => 'GRANT ddl_group TO ddl_alice', clean => 'ALTER ROLE ddl_alice INHERIT; REVOKE ddl_group FROM ddl_alice' }],
	['ALTER ROLE NOINHERIT, of grants to come', 'harmless: of grants to come', 'rights', 'ALTER ROLE ddl_alice NOINHERIT', 'ALTER ROLE ddl_alice INHERIT', { %alice, min => 16, setup => 'GRANT ddl_group TO ddl_alice', clean => 'ALTER ROLE ddl_alice INHERIT; REVOKE ddl_group FROM ddl_alice' }],
	['GRANT WITH INHERIT FALSE', 'rights', 'rights', 'GRANT ddl_group TO ddl_alice WITH INHERIT FALSE', 'GRANT ddl_group TO ddl_alice WITH INHERIT TRUE', { %alice, min => 16, setup => 'GRANT ddl_group TO ddl_alice', clean => 'REVOKE ddl_group FROM ddl_alice' }],
	['ALTER ROLE RENAME TO', 'rights', 'policies', 'ALTER ROLE ddl_alice RENAME TO ddl_alicia', 'ALTER ROLE ddl_alicia RENAME TO ddl_alice', { %alice, tx => 0, clean => q{DO $$ BEGIN IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'ddl_alicia') THEN ALTER ROLE ddl_alicia RENAME TO ddl_alice; END IF; END $$} }],
	['ALTER ROLE PASSWORD', $no_use, 'rights', q{ALTER ROLE ddl_alice PASSWORD 'x' CONNECTION LIMIT 5}, undef, {%alice}],
	['ALTER USER', 'rights', 'policies', 'ALTER USER ddl_alice BYPASSRLS', 'ALTER USER ddl_alice NOBYPASSRLS', { %alice, clean => 'ALTER ROLE ddl_alice NOBYPASSRLS' }],
	['CREATE USER', $no_use, 'rights', 'CREATE USER ddl_new', 'DROP USER ddl_new', {%alice}],
	['DROP USER', $no_use, 'rights', 'DROP USER ddl_new', undef, { %alice, setup => 'CREATE ROLE ddl_new', clean => 'DROP ROLE IF EXISTS ddl_new' }],
	['CREATE GROUP', $no_use, 'rights', 'CREATE GROUP ddl_new', 'DROP GROUP ddl_new', {%alice}],
	['ALTER GROUP', 'rights', 'rights', 'ALTER GROUP ddl_group ADD USER ddl_alice', 'ALTER GROUP ddl_group DROP USER ddl_alice', {%alice}],
	['DROP GROUP', $no_use, 'rights', 'DROP GROUP ddl_new', undef, { %alice, setup => 'CREATE ROLE ddl_new', clean => 'DROP ROLE IF EXISTS ddl_new' }],
	['GRANT, of a role that a policy names', 'rights', 'policies', 'GRANT ddl_group TO ddl_alice', 'REVOKE ddl_group FROM ddl_alice', {%alice}],
	['CREATE POLICY', 'rights', 'policies', 'CREATE POLICY more ON e USING (src > 5)', 'DROP POLICY more ON e', {%alice}],
	['CREATE POLICY AS RESTRICTIVE', 'rights', 'policies', 'CREATE POLICY less ON e AS RESTRICTIVE USING (src < 2)', 'DROP POLICY less ON e', {%alice}],
	['CREATE POLICY FOR UPDATE', 'harmless: of writes', 'policies', 'CREATE POLICY more ON e FOR UPDATE USING (true)', 'DROP POLICY more ON e', {%alice}],
	['ALTER POLICY USING', 'rights', 'policies', 'ALTER POLICY own ON e USING (src > 1)', 'ALTER POLICY own ON e USING (who = current_user)', {%alice}],
	['ALTER POLICY TO', 'rights', 'policies', 'ALTER POLICY group_sees ON e TO PUBLIC', 'ALTER POLICY group_sees ON e TO ddl_group', {%alice}],
	['ALTER POLICY RENAME TO', $no_use, 'policies', 'ALTER POLICY own ON e RENAME TO own2', 'ALTER POLICY own2 ON e RENAME TO own', {%alice}],
	['DROP POLICY', 'rights', 'policies', 'DROP POLICY own ON e', 'CREATE POLICY own ON e USING (who = current_user)', {%alice}],
	['CREATE OR REPLACE FUNCTION, of a policy', 'rights', 'policies', q{CREATE OR REPLACE FUNCTION may(text) RETURNS bool LANGUAGE sql STABLE AS 'SELECT true'}, undef, { %alice, setup => q{CREATE FUNCTION may(text) RETURNS bool LANGUAGE sql STABLE AS 'SELECT $1 = current_user'; ALTER POLICY own ON e USING (may(who))} }],
	['INSERT, of a table that a policy reads', 'rights', 'policies', q{INSERT INTO seen VALUES ('ddl_bob')}, q{DELETE FROM seen WHERE who = 'ddl_bob'}, { %alice, setup => q{CREATE TABLE seen (who text); INSERT INTO seen VALUES ('ddl_alice'); GRANT SELECT ON seen TO PUBLIC; ALTER POLICY own ON e USING (who IN (SELECT who FROM seen))} }],
	['ALTER TABLE DISABLE ROW LEVEL SECURITY', 'rights', 'policies', 'ALTER TABLE e DISABLE ROW LEVEL SECURITY', 'ALTER TABLE e ENABLE ROW LEVEL SECURITY', {%alice}],
	['ALTER TABLE FORCE ROW LEVEL SECURITY', 'rights', 'policies', 'ALTER TABLE e FORCE ROW LEVEL SECURITY', 'ALTER TABLE e NO FORCE ROW LEVEL SECURITY', { as => 'ddl_carol' }],
	['ALTER TABLE NO FORCE ROW LEVEL SECURITY', 'rights', 'policies', 'ALTER TABLE e NO FORCE ROW LEVEL SECURITY', undef, { as => 'ddl_carol', setup => 'ALTER TABLE e FORCE ROW LEVEL SECURITY' }],
	['SET ROLE', 'rights', 'policies', 'SET ROLE ddl_bob', undef, { %alice, own => 1, keep_role => 1, tx => 0 }],
	['SET SESSION AUTHORIZATION', 'rights', 'policies', 'SET SESSION AUTHORIZATION ddl_bob', undef, { own => 1, keep_role => 1, tx => 0 }],
	['SECURITY LABEL', $no_use, 'edges', q{SECURITY LABEL ON TABLE e IS 'x'}, undef, { error => '22023' }],
);

my $dated = q{SELECT src::text AS src, (timestamptz '2026-01-01 12:00Z' + src * interval '1 hour')::text AS dst FROM e};
my $floats = q{SELECT (src / 3::float8)::text AS src, dst::text AS dst FROM e};
my $unqualified = 'SELECT src, dst FROM e';
my @settings = (
	['SET, of the search path', 'rows', 'shadow', 'SET search_path = other, m, public', "SET search_path = first, m, public", { own => 1 }],
	['SET, of TimeZone', 'rows', 'edges', q{SET TimeZone = 'Asia/Tokyo'}, 'RESET TimeZone', { own => 1, graphs => [$dated] }],
	['SET, of DateStyle', 'rows', 'edges', q{SET DateStyle = 'SQL, DMY'}, 'RESET DateStyle', { own => 1, graphs => [$dated] }],
	['SET, of extra_float_digits', 'rows', 'edges', 'SET extra_float_digits = -10', 'RESET extra_float_digits', { own => 1, graphs => [$floats] }],
	['SET, of a setting of an application', 'rows', 'edges', q{SET app.tenant = '2'}, q{SET app.tenant = '1'}, { own => 1, session => q{SET app.tenant = '1'}, graphs => [q{SELECT src, dst FROM e WHERE k = current_setting('app.tenant')::int}] }],
	['SET, of row_security', 'rights', 'policies', 'SET row_security = off', 'RESET row_security', { %alice, own => 1 }],
	['SET, of default_text_search_config', 'rows', 'search', q{SET default_text_search_config = 'simple'}, 'RESET default_text_search_config', { own => 1 }],
	['SET, of the planner', 'harmless: the rows are the same', 'edges', 'SET enable_seqscan = off', 'RESET enable_seqscan', { own => 1 }],
	['RESET', 'rows', 'edges', 'RESET extra_float_digits', undef, { own => 1, session => 'SET extra_float_digits = -10', graphs => [$floats] }],
	['DISCARD', 'rows', 'edges', "DISCARD ALL; SET search_path = first, m, public; SET client_min_messages = warning", undef, { own => 1, tx => 0, session => 'SET extra_float_digits = -10', graphs => [$floats] }],
	['SET TRANSACTION', 'harmless: it has its own graphs', 'edges', 'SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL SERIALIZABLE', 'SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL READ COMMITTED', { own => 1, tx => 0 }],
	['LOAD', $no_use, 'edges', q{LOAD 'plpgsql'}, undef, { own => 1, tx => 0 }],
	['ALTER SYSTEM', 'rows', 'edges', 'ALTER SYSTEM SET extra_float_digits = -10; SELECT pg_reload_conf()', 'ALTER SYSTEM RESET extra_float_digits; SELECT pg_reload_conf()', { %alone, wait => 'SHOW extra_float_digits', graphs => [$floats] }],
	['ALTER DATABASE SET', 'rows', 'edges', 'ALTER DATABASE postgres SET extra_float_digits = -10', 'ALTER DATABASE postgres RESET extra_float_digits', { graphs => [$floats] }],
	['ALTER DATABASE SET, of the search path', 'rows', 'shadow', 'ALTER DATABASE postgres SET search_path = other, m, public', 'ALTER DATABASE postgres RESET search_path', { path => '' }],
	['ALTER ROLE SET', 'rows', 'edges', q{ALTER ROLE postgres SET TimeZone = 'Asia/Tokyo'}, 'ALTER ROLE postgres RESET TimeZone', { graphs => [$dated] }],
	['ALTER ROLE IN DATABASE SET', 'rows', 'edges', 'ALTER ROLE postgres IN DATABASE postgres SET extra_float_digits = -10', 'ALTER ROLE postgres IN DATABASE postgres RESET extra_float_digits', { graphs => [$floats] }],
	['ALTER USER SET', 'rows', 'edges', 'ALTER USER postgres SET extra_float_digits = -10', 'ALTER USER postgres RESET extra_float_digits', { graphs => [$floats] }],
);

my @others = (
	(map { ["COMMENT ON $_", 'harmless: a comment', 'edges', "COMMENT ON $_ IS 'x'", undef] } 'TABLE e', 'COLUMN e.src', 'VIEW v', 'INDEX e_src', 'SCHEMA m'),
	['COMMENT ON FUNCTION', 'harmless: a comment', 'functions', q{COMMENT ON FUNCTION f(bigint) IS 'x'}, undef],
	['COMMENT ON TYPE', 'harmless: a comment', 'composite', q{COMMENT ON TYPE c IS 'x'}, undef],
	['CREATE ACCESS METHOD', $no_use, 'edges', 'CREATE ACCESS METHOD ddl_heap TYPE TABLE HANDLER heap_tableam_handler', 'DROP ACCESS METHOD ddl_heap'],
	['DROP ACCESS METHOD', $no_use, 'edges', 'DROP ACCESS METHOD ddl_heap', undef, { setup => 'CREATE ACCESS METHOD ddl_heap TYPE TABLE HANDLER heap_tableam_handler', clean => 'DROP ACCESS METHOD IF EXISTS ddl_heap' }],
	['CREATE EVENT TRIGGER', $no_use, 'edges', 'CREATE EVENT TRIGGER ddl_trigger ON ddl_command_end EXECUTE FUNCTION ev()', 'DROP EVENT TRIGGER ddl_trigger', { setup => q{CREATE FUNCTION ev() RETURNS event_trigger LANGUAGE plpgsql AS 'BEGIN END'} }],
	['ALTER EVENT TRIGGER', $no_use, 'edges', 'ALTER EVENT TRIGGER ddl_trigger DISABLE', 'DROP EVENT TRIGGER ddl_trigger', { setup => q{CREATE FUNCTION ev() RETURNS event_trigger LANGUAGE plpgsql AS 'BEGIN END'; CREATE EVENT TRIGGER ddl_trigger ON ddl_command_end EXECUTE FUNCTION ev()} }],
	['DROP EVENT TRIGGER', $no_use, 'edges', 'DROP EVENT TRIGGER ddl_trigger', undef, { setup => q{CREATE FUNCTION ev() RETURNS event_trigger LANGUAGE plpgsql AS 'BEGIN END'; CREATE EVENT TRIGGER ddl_trigger ON ddl_command_end EXECUTE FUNCTION ev()} }],
	['CREATE PUBLICATION', $no_use, 'edges', 'CREATE PUBLICATION ddl_publication FOR TABLE e', 'DROP PUBLICATION ddl_publication'],
	['ALTER PUBLICATION', $no_use, 'edges', 'ALTER PUBLICATION ddl_publication ADD TABLE e', 'DROP PUBLICATION ddl_publication', { setup => 'CREATE PUBLICATION ddl_publication' }],
	['DROP PUBLICATION', $no_use, 'edges', 'DROP PUBLICATION ddl_publication', undef, { setup => 'CREATE PUBLICATION ddl_publication FOR TABLE e' }],
	['CREATE SUBSCRIPTION', $no_use, 'edges', q{CREATE SUBSCRIPTION ddl_subscription CONNECTION '' PUBLICATION p WITH (connect = false, slot_name = NONE)}, 'DROP SUBSCRIPTION ddl_subscription'],
	['ALTER SUBSCRIPTION', $no_use, 'edges', q{ALTER SUBSCRIPTION ddl_subscription SET (synchronous_commit = off)}, 'DROP SUBSCRIPTION ddl_subscription', { setup => q{CREATE SUBSCRIPTION ddl_subscription CONNECTION '' PUBLICATION p WITH (connect = false, slot_name = NONE)} }],
	['DROP SUBSCRIPTION', $no_use, 'edges', 'DROP SUBSCRIPTION ddl_subscription', undef, { setup => q{CREATE SUBSCRIPTION ddl_subscription CONNECTION '' PUBLICATION p WITH (connect = false, slot_name = NONE)} }],
	['CREATE DATABASE', $no_use, 'edges', 'CREATE DATABASE ddl_database', undef, {%alone}],
	['ALTER DATABASE', $no_use, 'edges', 'ALTER DATABASE ddl_database CONNECTION LIMIT 5; ALTER DATABASE ddl_database RENAME TO ddl_database2', 'ALTER DATABASE ddl_database2 RENAME TO ddl_database', {%alone}],
	['ALTER DATABASE REFRESH COLLATION VERSION', $no_use, 'edges', 'ALTER DATABASE postgres REFRESH COLLATION VERSION', undef, { min => 15 }],
	['DROP DATABASE', $no_use, 'edges', 'DROP DATABASE ddl_database', undef, {%alone}],
	['CREATE TABLESPACE', $no_use, 'edges', "CREATE TABLESPACE ddl_space2 LOCATION '$space'", undef, {%alone}],
	['ALTER TABLESPACE', $no_use, 'edges', 'ALTER TABLESPACE ddl_space2 SET (seq_page_cost = 2); ALTER TABLESPACE ddl_space2 RENAME TO ddl_space3', 'ALTER TABLESPACE ddl_space3 RENAME TO ddl_space2'],
	['DROP TABLESPACE', $no_use, 'edges', 'DROP TABLESPACE ddl_space2', undef, {%alone}],
	['ALTER LARGE OBJECT', 'harmless: large objects are no rows', 'edges', 'ALTER LARGE OBJECT 424242 OWNER TO ddl_bob', undef, { setup => 'SELECT lo_create(424242)', clean => 'SELECT lo_unlink(424242)' }],
);

# Commands that are not DDL: they change rows, which other tests cover, or nothing.
my @no_ddl = ('ABORT', 'BEGIN', 'CALL', 'CHECKPOINT', 'CLOSE', 'COMMIT', 'COMMIT PREPARED', 'COPY', 'DEALLOCATE', 'DECLARE', 'DELETE', 'DO', 'END', 'EXECUTE', 'EXPLAIN', 'FETCH', 'INSERT', 'LISTEN', 'LOCK', 'MERGE', 'MOVE',
	'NOTIFY', 'PREPARE', 'PREPARE TRANSACTION', 'RELEASE SAVEPOINT', 'ROLLBACK', 'ROLLBACK PREPARED', 'ROLLBACK TO SAVEPOINT', 'SAVEPOINT', 'SELECT', 'SET CONSTRAINTS', 'SHOW', 'START TRANSACTION', 'TABLE', 'UNLISTEN', 'UPDATE', 'VALUES', 'WAIT', 'WITH');

my $node = matrix_node();
my $spare = PostgreSQL::Test::Utils::tempdir();
$node->safe_psql('postgres', "CREATE TABLESPACE ddl_space LOCATION '$spare'");
my @rows = (@types, @functions, @relations, @servers, @rights, @settings, @others);
my $only = $ENV{DDL_ROWS};    # a pattern selecting the rows to run, for development
run_matrix(\%fixture, [ grep { !$only || $_->[0] =~ /$only/ } @rows ]);

# Commands of this version without a row.
my @forms = map { $_->[0] } @rows;
foreach my $command (commands_of_psql())
{
	ok(scalar(grep { $_ eq $command } @no_ddl) + scalar(grep { /^\Q$command\E\b/ } @forms), "$command has a row, or is not DDL");
}
no_crash($node);
done_testing();
