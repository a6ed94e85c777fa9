# Graphs of foreign tables of postgres_fdw equal those of the same rows in local tables: for any
# remote relation, in any place of a partitioned table or inheritance tree, for any local and remote
# column types, over any number of connections; also while all remote rows change.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use EmogiTest;
use Servers;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(sleep time);

my $far1 = far_node('far1');
my $far2 = far_node('far2');
my $hub = hub_node('hub', 'max_parallel_workers_per_gather = 2');

sub sql { return $hub->safe_psql('postgres', join("\n", @_)); }
sub far1 { return $far1->safe_psql('postgres', join("\n", @_)); }
sub far2 { return $far2->safe_psql('postgres', join("\n", @_)); }

is(reads_servers(), 1, 'the setting emogi.server_connections exists');
is(sql(q{SELECT concat_ws(' ', setting, min_val, max_val, context, vartype) FROM pg_settings WHERE name = 'emogi.server_connections'}), '4 0 64 user integer', 'its default and its bounds');
is(sql(q{SELECT format_type(atttypid, atttypmod) FROM pg_attribute WHERE attrelid = 'emogi_runs'::regclass AND attname = 'network_bytes'}), 'bigint', 'the column emogi_runs.network_bytes exists');

sql(server_of('far1', $far1), server_of('far2', $far2, fetch_size => 10000));

# ------------------------------------------------------------------------------------------------- kinds of remote relations

far1('CREATE TABLE plain AS ' . edges(3000, 1) . ';', 'INSERT INTO plain VALUES (NULL, 1, 1), (2, NULL, 1), (NULL, NULL, NULL), (9000000000, -7, 3);',
	'CREATE TABLE empty (LIKE plain);',
	'CREATE TABLE emptied AS TABLE plain;', 'DELETE FROM emptied;',
	'CREATE TABLE holes AS ' . edges(40000, 2) . ';', 'DELETE FROM holes WHERE src < 120;', 'VACUUM holes;',
	'CREATE VIEW viewed AS SELECT src, dst, weight FROM plain WHERE src % 3 = 0 UNION ALL SELECT 1, 2, 3;',
	'CREATE MATERIALIZED VIEW matted AS SELECT * FROM plain WHERE dst % 2 = 0;',
	'CREATE TABLE split (src bigint, dst bigint, weight float8) PARTITION BY HASH (src);',
	(map { "CREATE TABLE split$_ PARTITION OF split FOR VALUES WITH (MODULUS 3, REMAINDER $_);" } 0 .. 2), 'INSERT INTO split SELECT * FROM plain WHERE src IS NOT NULL;',
	# a parent of one page whose child has many
	'CREATE TABLE parent (src bigint, dst bigint, weight float8);', 'INSERT INTO parent VALUES (1, 2, 3);',
	'CREATE TABLE child (more int) INHERITS (parent);', 'INSERT INTO child SELECT src, dst, weight, 7 FROM (' . edges(20000, 3) . ') e;',
	'CREATE UNLOGGED TABLE unlogged AS ' . edges(500, 4) . ';',
	'CREATE TABLE dropped (gone int, src bigint, also text, dst bigint, weight float8);', "INSERT INTO dropped SELECT 1, src, repeat('x', 50), dst, weight FROM plain;",
	'ALTER TABLE dropped DROP gone, DROP also;', 'ALTER TABLE dropped ADD later int DEFAULT 5;',
	'CREATE TABLE made (src bigint, dst bigint GENERATED ALWAYS AS (src * 2 % 31) STORED, weight float8);', 'INSERT INTO made (src, weight) SELECT src, weight FROM plain;',
	'CREATE EXTENSION postgres_fdw;', server_of('behind', $far2), q{CREATE FOREIGN TABLE chained (src bigint, dst bigint, weight float8) SERVER behind OPTIONS (table_name 'beyond');},
	'CREATE FUNCTION rows() RETURNS SETOF plain LANGUAGE sql STABLE AS $f$ SELECT * FROM public.plain $f$;', 'CREATE VIEW function AS SELECT * FROM rows();',
	'CREATE TABLE wide (pad text, src bigint, dst bigint, weight float8);', "INSERT INTO wide SELECT repeat(md5(src::text), 200), src, dst, weight FROM plain LIMIT 1000;",
	'CREATE TABLE big AS ' . edges(400000, 5));
far2('CREATE TABLE beyond AS ' . edges(1000, 6));

sub foreign_table
{
	my ($name, %how) = @_;

	return sprintf 'CREATE FOREIGN TABLE %s (%s) SERVER %s OPTIONS (%s);', $name, $how{columns} // 'src bigint, dst bigint, weight float8', $how{server} // 'far1', $how{options} // "table_name '$name'";
}

my @relations = qw(plain empty emptied holes viewed matted split split1 parent child unlogged dropped made chained function wide big);
sql(map { foreign_table($_) } @relations);
same($hub, "far relation: $_", $_, "SELECT src, dst, weight FROM $_", connections => $_ eq 'big' ? [ 0, 1, 2, 4, 64 ] : [ 0, 1, 4 ],
	direct => !/^(?:empty|emptied)$/) for grep { !/^empt/ } @relations;
# there are no rows by any method; the byte count of a table without rows is undefined
is(sql(map { connections($_) . "SELECT fingerprint('empty'), fingerprint('emptied');" } 0, 1, 4), join("\n", ('no edges|no edges') x 3), 'remote tables that are empty, and without pages') if reads_servers();
is(sql("SELECT fingerprint('empty'), fingerprint('emptied')"), 'no edges|no edges', '... by default');
is(sql("SELECT sum(degree) FROM emogi_degree('big')"), '400000', 'a count of edges');
is(sql("SELECT sum(degree) FROM emogi_degree('parent')"), '20001', 'a count with the rows of a child of the remote table');
is(sql("SELECT sum(degree) FROM emogi_degree('plain')"), '3001', 'a count without rows that have a NULL endpoint');
same($hub, 'named columns', 'plain(dst, src)', 'SELECT dst AS src, src AS dst FROM plain');
same($hub, 'named columns, with a weight', 'plain(src, dst, src)', 'SELECT src, dst, src AS weight FROM plain');
same($hub, 'a query', 'SELECT src, dst, weight FROM plain WHERE src > 5', 'SELECT src, dst, weight FROM plain WHERE src > 5', direct => 0);
sql('CREATE VIEW seen AS SELECT * FROM plain');
same($hub, 'a view', 'seen', 'SELECT src, dst, weight FROM plain', direct => 0);
is(sql("SELECT count(*) FROM emogi_cc(emogi_with_vertices('plain', 'SELECT 77777::bigint'))"), sql('SELECT count(*) FROM (SELECT src FROM plain WHERE dst IS NOT NULL UNION SELECT dst FROM plain WHERE src IS NOT NULL UNION SELECT 77777) v WHERE src IS NOT NULL'), 'with vertices that have no edges');
is(sql("SELECT string_agg(vertex || ':' || degree, ',' ORDER BY vertex) FROM emogi_degree('plain'::regclass, 'in', columns => 'dst, src')"),
	sql("SELECT string_agg(src || ':' || n, ',' ORDER BY src) FROM (SELECT v AS src, count(p.src) FILTER (WHERE p.dst IS NOT NULL) AS n FROM (SELECT src FROM plain WHERE dst IS NOT NULL UNION SELECT dst FROM plain WHERE src IS NOT NULL) s(v) LEFT JOIN plain p ON p.src = v WHERE v IS NOT NULL GROUP BY v) d"), 'a regclass with columns');

# This cluster as its own server, a foreign data wrapper of another name, and a different one.
sql(server_of('loop', $hub), 'CREATE TABLE local AS ' . edges(1000, 9), ';' . foreign_table('looped', server => 'loop', options => "table_name 'local'"), 'CREATE FOREIGN DATA WRAPPER like_it HANDLER postgres_fdw_handler VALIDATOR postgres_fdw_validator;',
	server_of('liked', $far1) =~ s/postgres_fdw/like_it/r, foreign_table('liked', server => 'liked', options => "table_name 'plain'"));
same($hub, 'the same cluster', 'looped', 'SELECT * FROM local');
is((answer_of($hub, connections($_) . "SELECT fingerprint('liked')"))[0], (answer_of($hub, "SELECT fingerprint('plain')"))[0], "a wrapper of another name, $_ connections") for reads_servers() ? (0, 4) : 4;
if (sql(q{SELECT count(*) FROM pg_available_extensions WHERE name = 'file_fdw'}))
{
	my $file = PostgreSQL::Test::Utils::tempdir_short() . '/edges';
	sql("COPY local TO '$file'", ';CREATE EXTENSION file_fdw; CREATE SERVER files FOREIGN DATA WRAPPER file_fdw;', foreign_table('filed', server => 'files', options => "filename '$file'"),
		'CREATE TABLE wrappers (src bigint, dst bigint, weight float8) PARTITION BY LIST (src);', "CREATE FOREIGN TABLE wrapped1 PARTITION OF wrappers FOR VALUES IN (1) SERVER files OPTIONS (filename '$file');", "CREATE FOREIGN TABLE wrapped2 PARTITION OF wrappers FOR VALUES IN (2) SERVER far1 OPTIONS (table_name 'plain');");
	same($hub, 'another foreign data wrapper', 'filed', 'SELECT * FROM local', direct => 0);
	sql(connections($_), "SELECT fingerprint('wrappers')") eq sql("CREATE TEMP TABLE t AS SELECT * FROM wrappers; SELECT fingerprint('t')") ? pass("partitions of two wrappers, $_ connections") : fail("partitions of two wrappers, $_ connections") for reads_servers() ? (0, 4) : 4;
}

# ------------------------------------------------------------------------------------------------- local and remote names and columns

far1('CREATE SCHEMA "Odd ""schema";', q{CREATE TABLE "Odd ""schema"."T a'b""c\\d" ("S r,c" bigint, "d""s't" bigint, "SELECT" float8, "ctid2" int);},
	q{INSERT INTO "Odd ""schema"."T a'b""c\\d" SELECT src, dst, weight FROM plain WHERE src IS NOT NULL;}, 'CREATE SCHEMA other;', 'CREATE TABLE other.plain AS ' . edges(777, 7),
	';CREATE TABLE count (src bigint, dst bigint);', 'INSERT INTO count VALUES (5, 6), (6, 7);');
sql('CREATE SCHEMA other;',
	q{CREATE FOREIGN TABLE odd (w float8 OPTIONS (column_name 'SELECT'), nowhere int, dst bigint OPTIONS (column_name 'd"s''t'), gone int, src bigint OPTIONS (column_name 'S r,c'), weight float8 OPTIONS (column_name 'SELECT'))
		SERVER far1 OPTIONS (schema_name 'Odd "schema', table_name 'T a''b"c\\d');}, 'ALTER FOREIGN TABLE odd DROP gone;',
	q{CREATE FOREIGN TABLE other.plain (src bigint, dst bigint, weight float8) SERVER far1;},    # no schema_name: that of the foreign table
	q{CREATE FOREIGN TABLE elsewhere (dst bigint, weight float8, src bigint) SERVER far1 OPTIONS (schema_name 'other', table_name 'plain');},
	q{CREATE FOREIGN TABLE swapped (src bigint OPTIONS (column_name 'dst'), dst bigint OPTIONS (column_name 'src')) SERVER far1 OPTIONS (table_name 'plain');},
	q{CREATE FOREIGN TABLE "Odd, here" ("a (b)" bigint OPTIONS (column_name 'src'), "c""d" bigint OPTIONS (column_name 'dst')) SERVER far1 OPTIONS (table_name 'plain');},
	q{CREATE FOREIGN TABLE count (src bigint, dst bigint) SERVER far1;},
	q{CREATE FOREIGN TABLE generated (src bigint, dst bigint GENERATED ALWAYS AS (src + 1) STORED, weight float8 DEFAULT 9) SERVER far1 OPTIONS (table_name 'plain');});
same($hub, 'names that need quotes, columns in another order, and missing columns', 'odd', 'SELECT src, dst, weight FROM odd');
same($hub, '... one column for two', 'odd(src, dst, w)', 'SELECT src, dst, w AS weight FROM odd');
same($hub, 'the schema of the foreign table', 'other.plain', 'SELECT * FROM other.plain');
same($hub, 'a named schema', 'elsewhere', 'SELECT src, dst, weight FROM other.plain');
same($hub, 'two columns with swapped names', 'swapped', 'SELECT dst AS src, src AS dst FROM plain');
same($hub, 'local names that need quotes', '"Odd, here"("a (b)", "c""d")', 'SELECT src, dst FROM plain');
same($hub, 'a name that is not a keyword but a function', 'count', 'SELECT * FROM count');
same($hub, 'a locally generated column', 'generated', 'SELECT src, dst, weight FROM generated');

# ------------------------------------------------------------------------------------------------- types

# Create a remote table with keys of a type, of which the expression computes number k, and weights
# of another.
sub typed
{
	my ($type, $key, %how) = @_;
	my $weight = $how{weight} // 'float8';
	my $here = $how{here} // $type;

	for my $where ($far1, $hub)
	{
		$where->safe_psql('postgres', 'DROP TABLE IF EXISTS typed;') if $where == $far1;
		$where->safe_psql('postgres', 'DROP FOREIGN TABLE IF EXISTS typed;') if $where == $hub;
		$where->safe_psql('postgres', $how{first}) if $how{first};
	}
	my ($s, $d) = map { my $k = $key; $k =~ s/\bk\b/$_/g; $k } 'src', 'dst';
	far1("CREATE TABLE typed (src $type, dst $type, weight $weight);", "INSERT INTO typed SELECT $s, $d, (i % 100)::$weight FROM (SELECT src, dst, row_number() OVER () AS i FROM (" . edges(1500, 8) . ') e) n;',
		'INSERT INTO typed VALUES (NULL, NULL, 1);');
	my $weight_here = $how{weight_here} // $weight;
	sql("CREATE FOREIGN TABLE typed (src $here, dst $here, weight $weight_here) SERVER far1;");
}

my $icu = sql(q{SELECT count(*) FROM pg_collation WHERE collname = 'und-x-icu'}) && far1(q{SELECT count(*) FROM pg_collation WHERE collname = 'und-x-icu'});
my @types = ([ 'smallint', '(k - 60)::int2' ], [ 'integer', '(k * 30000000 - 2000000000)::int4' ], [ 'bigint', 'k * 70000000000000000 - 4000000000000000000' ], [ 'uuid', 'md5(k::text)::uuid' ],
	[ 'text COLLATE "C"', "'key ' || k || repeat('ä', (k % 40)::int)" ], [ 'text', "md5(k::text)" ], [ 'varchar(20)', "'v' || k" ], [ 'char(9)', "'c' || k" ], [ 'numeric', 'k / 7.0 - 3' ],
	[ 'date', "date '2000-01-01' + k::int * 100" ], [ 'timestamptz', "timestamptz '2020-05-05 12:00+02' + k * interval '1 hour'" ], [ 'timestamp', "timestamp '2020-05-05 12:00' + k * interval '1 hour'" ],
	[ 'interval', "k * interval '1 day 2 hours'" ], [ 'bytea', "decode(md5(k::text), 'hex')" ], [ 'float8', 'k / 3.0::float8' ], [ 'inet', "inet '10.0.0.0' + k" ], [ 'int[]', 'ARRAY[k, 7]::int[]' ],
	[ 'colour', "(ARRAY['red', 'green', 'blue'])[1 + k % 3]::colour", first => q{DROP TYPE IF EXISTS colour; CREATE TYPE colour AS ENUM ('red', 'green', 'blue')} ],
	[ 'small', 'k::small', first => q{DROP DOMAIN IF EXISTS small; CREATE DOMAIN small AS int CHECK (VALUE < 1000)} ],
	[ 'pair', "ROW(k, 'a' || k)::pair", first => q{DROP TYPE IF EXISTS pair; CREATE TYPE pair AS (a bigint, b text)} ]);
push @types, [ 'text COLLATE "und-x-icu"', "chr(65 + (k % 50)::int) || k" ] if $icu;
for my $type (@types)
{
	my ($name, $key, @how) = @$type;
	typed($name, $key, @how);
	same($hub, "keys of type $name", 'typed', 'SELECT * FROM typed', connections => [ 0, 4 ], direct => undef // ($name !~ /^(?:colour|pair|small)$/ ? 1 : maybe()));
}

# Whether the remote table is read directly is undefined for types created on both sides, with
# different OIDs.
sub maybe
{
	return 1 unless reads_servers();
	return sql(connections(4), "SELECT count(*) FROM emogi_degree_text('typed');", 'SELECT from_network()') =~ /t$/ ? 1 : 0;
}

for my $weight ('smallint', 'integer', 'bigint', 'real', 'float8', 'numeric', 'numeric(10, 3)')
{
	typed('bigint', 'k', weight => $weight);
	same($hub, "weights of type $weight", 'typed', 'SELECT * FROM typed', connections => [ 0, 4 ]);
}

# Another remote type: an error, or the correct edges.
my @unlike = ([ 'integer', 'bigint', 'k' ], [ 'smallint', 'bigint', '(k - 60)::int2' ], [ 'bigint', 'integer', 'k' ], [ 'bigint', 'integer', 'k * 70000000000000000' ], [ 'bigint', 'smallint', 'k * 1000' ],
	[ 'text', 'bigint', 'k::text' ], [ 'text', 'bigint', "'12345678'::text" ], [ 'text', 'bigint', "'no number ' || k" ], [ 'bigint', 'text', 'k' ], [ 'bigint', 'text COLLATE "C"', 'k * 256 + 65' ],
	[ 'numeric', 'bigint', 'k * 1.0' ], [ 'numeric', 'bigint', 'k / 3.0' ], [ 'float8', 'bigint', 'k' ], [ 'bigint', 'float8', 'k' ], [ 'bigint', 'numeric', 'k' ], [ 'bigint', 'timestamptz', 'k' ], [ 'timestamptz', 'bigint', "now() + k * interval '1 s'" ],
	[ 'float8', 'timestamptz', 'k' ], [ 'timestamptz', 'timestamp', "timestamptz '2020-01-01 01:00+05' + k * interval '1 hour'" ], [ 'timestamp', 'timestamptz', "timestamp '2020-01-01 01:00' + k * interval '1 hour'" ],
	[ 'timestamptz', 'date', "timestamptz '2020-01-01 01:00+05' + k * interval '1 hour'" ], [ 'date', 'timestamp', "date '2020-01-01' + k::int" ], [ 'date', 'integer', "date '2020-01-01' + k::int" ], [ 'text', 'varchar(3)', "'abcdef' || k" ],
	[ 'text', 'varchar(30)', "'abcdef' || k" ], [ 'text', 'char(4)', "'a' || k" ], [ 'char(8)', 'text', "'a' || k" ], [ 'char(8)', 'varchar', "'a' || k" ], [ 'numeric', 'numeric(6, 1)', 'k / 7.0' ], [ 'uuid', 'text', 'md5(k::text)::uuid' ],
	[ 'text', 'uuid', 'md5(k::text)' ], [ 'bytea', 'text', "decode(md5(k::text), 'hex')" ], [ 'text', 'bytea', "'x' || k" ], [ 'text', 'name', "'n' || k" ], [ 'name', 'text', "('n' || k)::name" ], [ 'oid', 'bigint', 'k::int::oid' ], [ 'oid', 'integer', '(k * 30000000)::oid' ],
	[ 'integer', 'oid', 'k::int - 5' ], [ 'boolean', 'text', 'k % 2 = 0' ], [ 'jsonb', 'text', 'to_jsonb(k)' ], [ 'interval', 'text', "k * interval '1 day 3 hours'" ], [ 'inet', 'text', "inet '10.0.0.0' + k" ], [ 'timestamp(6)', 'timestamp(0)', "timestamp '2020-01-01 01:00:00.7' + k * interval '1 hour'" ],
	[ 'bit(8)', 'varbit', 'k::int::bit(8)' ], [ 'int[]', 'bigint[]', 'ARRAY[k]::int[]' ], [ 'int[]', 'text', 'ARRAY[k]::int[]' ], [ '"char"', 'text', 'chr(33 + (k % 90)::int)::"char"' ], [ 'money', 'text', 'k::int::money' ], [ 'float4', 'float8', '(k / 3.0)::float4' ], [ 'float8', 'float4', 'k / 3.0' ], [ 'float8', 'text', 'k / 3.0' ],
	[ 'bigint', 'bigint', 'k', weight => 'text', weight_here => 'float8' ], [ 'bigint', 'bigint', 'k', weight => 'bigint', weight_here => 'float8' ], [ 'bigint', 'bigint', 'k', weight => 'float8', weight_here => 'bigint' ],
	[ 'bigint', 'bigint', 'k', weight => 'float8', weight_here => 'integer' ], [ 'bigint', 'bigint', 'k', weight => 'numeric', weight_here => 'float4' ], [ 'bigint', 'bigint', 'k', weight => 'float4', weight_here => 'numeric' ], [ 'bigint', 'bigint', 'k', weight => 'integer', weight_here => 'real' ]);
my @errors;
push @unlike, ([ 'integer', 'small', 'k' ], [ 'integer', 'small', 'k * 100' ], [ 'small', 'bigint', 'k' ], [ 'text', 'colour', "'purple' || k" ], [ 'text', 'colour', "'green'" ], [ 'colour', 'text', "'red'::colour" ], [ 'pair', 'text', "ROW(k, 'a')::pair" ],
	[ 'numeric', 'integer', 'k * 3000000000.0' ], [ 'text', 'date', "'2020-02-' || 1 + k % 28" ], [ 'text', 'date', "'01.02.2020'" ], [ 'text', 'timestamptz', "'2020-02-02 12:00'" ], [ 'text', 'interval', "k || ' days'" ], [ 'text', 'numeric', "'NaN'" ], [ 'date', 'text', "date '2020-01-01' + k::int" ]);
for my $case (@unlike)
{
	my ($far_type, $here, $key, @how) = @$case;
	typed($far_type, $key, here => $here, @how);
	my $name = "$here over $far_type" . (@how ? ", weights $how[3] over $how[1]" : '') . " ($key)";
	my ($right, $err) = answer_of($hub, "CREATE TEMP TABLE oracle AS SELECT * FROM typed; SELECT fingerprint('oracle')");
	my ($got, $message) = answer_of($hub, connections(4) . "SELECT fingerprint('typed')");
	push @errors, "$name: $got" if $got ne $right && $got =~ /^\w{5}$/;
	ok($got eq $right || $got =~ /^\w{5}$/, "other types: $name, " . ($got =~ /^\w{5}$/ ? "error $got" : 'right')) or diag "right: $right\ngot: $got";
}
note "types that postgres_fdw can read and that are errors here: @errors" if @errors;
note "$_" for @errors;

# ------------------------------------------------------------------------------------------------- encodings

$far1->safe_psql('postgres', q{CREATE DATABASE latin ENCODING 'LATIN1' TEMPLATE template0 LOCALE 'C'});
$far1->safe_psql('latin', q{SET client_encoding = 'UTF8'; CREATE TABLE words (src text, dst text); INSERT INTO words SELECT 'ä' || i % 7, 'ø' || i % 5 FROM generate_series(1, 50) i; INSERT INTO words VALUES ('ä1', 'ä2')});
sql(server_of('latin', $far1, dbname => 'latin'), foreign_table('words', columns => 'src text, dst text', server => 'latin'));
same($hub, 'another remote encoding', 'words', q{SELECT 'ä' || i % 7 AS src, 'ø' || i % 5 AS dst FROM generate_series(1, 50) i UNION ALL SELECT 'ä1', 'ä2'}, before => q{SET client_encoding = 'UTF8';});

same($hub, 'another remote encoding, and another client encoding', 'words', 'SELECT * FROM words', before => q{SET client_encoding = 'LATIN1';});
typed('text', "'ä' || k");
same($hub, 'another client encoding', 'typed', 'SELECT * FROM typed', before => q{SET client_encoding = 'LATIN1';});
$far1->safe_psql('postgres', q{CREATE DATABASE ascii ENCODING 'SQL_ASCII' TEMPLATE template0 LOCALE 'C'});
$far1->safe_psql('ascii', q{SET client_encoding = 'SQL_ASCII'; CREATE TABLE bytes (src text, dst text); INSERT INTO bytes VALUES ('a', E'\\xe4'), ('a', 'b')});
sql(server_of('ascii', $far1, dbname => 'ascii'), foreign_table('bytes', columns => 'src text, dst text', server => 'ascii'));
is((answer_of($hub, connections($_) . "SELECT fingerprint('bytes')"))[0], '22021', "bytes that are not valid local text, $_ connections") for reads_servers() ? (0, 1, 4) : 4;

# Keys of the maximum length, and longer ones.
far1('CREATE TABLE longs AS SELECT repeat(md5(i::text), 1000 * i) AS src, repeat(md5((i + 1)::text), 1000 * (i + 1)) AS dst FROM generate_series(1, 30) i;', "CREATE TABLE too_long AS SELECT repeat('x', 1048577) AS src, 'y' AS dst");
sql(foreign_table($_, columns => 'src text COLLATE "C", dst text COLLATE "C"')) for 'longs', 'too_long';
same($hub, 'long keys', 'longs', 'SELECT * FROM longs');
is((answer_of($hub, connections($_) . "SELECT count(*) FROM emogi_cc_text('too_long')"))[0], '54000', "a key that is too long, $_ connections") for reads_servers() ? (0, 4) : 4;

# Settings of either side that change the text of values.
typed('timestamptz', "timestamptz '2020-05-05 12:00+02' + k * interval '7 hours'", here => 'timestamp');
$far1->safe_psql('postgres', q{ALTER DATABASE postgres SET datestyle = 'SQL, DMY'; ALTER DATABASE postgres SET timezone = 'Asia/Tokyo'; ALTER DATABASE postgres SET extra_float_digits = -10;
	ALTER DATABASE postgres SET intervalstyle = 'sql_standard'; ALTER DATABASE postgres SET bytea_output = 'escape'; ALTER DATABASE postgres SET search_path = other});
same($hub, 'remote settings', 'typed', 'SELECT * FROM typed', connections => [ 0, 4 ], direct => maybe(), before => q{SET timezone = 'America/New_York'; SET datestyle = 'German'; SET extra_float_digits = -15; SET intervalstyle = 'iso_8601';});
same($hub, 'a remote search path', 'plain', 'SELECT * FROM plain');
$far1->safe_psql('postgres', 'ALTER DATABASE postgres RESET ALL');

# ------------------------------------------------------------------------------------------------- keys of several columns, edge ids

far1('CREATE TABLE trip (city text, line int, to_city text, to_line int, minutes int);', q{INSERT INTO trip SELECT 'c' || src % 9, dst % 3, 'c' || dst % 9, src % 3, 1 + src % 50 FROM plain WHERE src + dst IS NOT NULL AND src < 1000;},
	q{INSERT INTO trip VALUES (NULL, 1, 'c1', 1, 1), ('c1', 1, 'c2', NULL, 1);}, 'CREATE TABLE street (id int, source int, target int, cost float8, reverse_cost float8);',
	'INSERT INTO street SELECT row_number() OVER (), src, dst, 1 + weight + row_number() OVER () / 65536.0, CASE WHEN src % 3 = 0 THEN -1 ELSE 2 + weight END FROM plain WHERE src BETWEEN 0 AND 200 AND dst BETWEEN 0 AND 200');
sql(foreign_table('trip', columns => 'city text, line int, to_city text, to_line int, minutes int'), foreign_table('street', columns => 'id int, source int, target int, cost float8, reverse_cost float8'),
	'CREATE TABLE street_here AS TABLE street;', 'CREATE TABLE trip_here AS TABLE trip;');
sub both_ways
{
	my ($name, $call, $foreign, $local) = @_;
	my $right = sql(sprintf "SELECT * FROM $call ORDER BY 1, 2", $local);

	isnt($right, '', "$name: something to compare");
	is(sql(connections($_), sprintf "SELECT * FROM $call ORDER BY 1, 2", $foreign), $right, "$name, $_ connections") for reads_servers() ? (0, 1, 4) : 4;
}
both_ways('keys of two columns', "emogi_sssp('%s', '(c1,1)')", 'trip((city, line), (to_city, to_line), minutes)', 'trip_here((city, line), (to_city, to_line), minutes)');
both_ways('keys of two columns, degrees', "emogi_degree_text('%s')", 'trip((city, line), (to_city, to_line))', 'trip_here((city, line), (to_city, to_line))');
both_ways('costs of both directions', "emogi_sssp('%s', 1)", 'street', 'street_here');
both_ways('costs of both directions, named', "emogi_sssp('%s', 1)", 'street(source, target, cost, reverse_cost)', 'street_here(source, target, cost, reverse_cost)');
both_ways('edge ids', "emogi_shortest_path('%s', 1, 99)", 'street', 'street_here');
both_ways('edge ids, named', "emogi_shortest_path('%s', 3, 7)", 'street(source, target, cost, reverse_cost, id)', 'street_here(source, target, cost, reverse_cost, id)');

# Invalid weights: the same error by every method.
far1('CREATE TABLE heavy (src bigint, dst bigint, weight float8);', 'INSERT INTO heavy VALUES (1, 2, 1), (2, 3, NULL);', 'CREATE TABLE strange (src bigint, dst bigint, weight numeric);', "INSERT INTO strange VALUES (1, 2, 1), (2, 3, 'NaN');",
	'CREATE TABLE negative (src bigint, dst bigint, weight numeric);', "INSERT INTO negative VALUES (1, 2, 1), (2, 3, -0.5);", 'CREATE TABLE infinite (src bigint, dst bigint, weight float8);', "INSERT INTO infinite VALUES (1, 2, 1), (2, 3, 'Infinity');");
for my $table ('heavy', 'strange', 'negative', 'infinite')
{
	sql(foreign_table($table), "CREATE TABLE ${table}_here AS TABLE $table");
	my ($right) = answer_of($hub, "SELECT string_agg(vertex || ':' || distance, ' ' ORDER BY vertex) FROM emogi_sssp('${table}_here', 1)");
	is((answer_of($hub, connections($_) . "SELECT string_agg(vertex || ':' || distance, ' ' ORDER BY vertex) FROM emogi_sssp('$table', 1)"))[0], $right, "weights: $table, $_ connections: $right") for reads_servers() ? (0, 4) : 4;
}

# ------------------------------------------------------------------------------------------------- partitions and inheritance

far1(map { "CREATE TABLE p$_ AS " . edges(100 + 50 * $_, 20 + $_) . ';' } 0 .. 19);
far2(map { "CREATE TABLE p$_ AS " . edges(100 + 50 * $_, 40 + $_) . ';' } 0 .. 19);
sql('CREATE TABLE mixed (src bigint, dst bigint, weight float8) PARTITION BY LIST (src);',    # the rows of a remote table are not checked against the bounds
	(map { "CREATE FOREIGN TABLE mixed_a$_ PARTITION OF mixed FOR VALUES IN (" . (1000 + $_) . ") SERVER far1 OPTIONS (table_name 'p$_');" } 0 .. 3),
	(map { "CREATE FOREIGN TABLE mixed_b$_ PARTITION OF mixed FOR VALUES IN (" . (2000 + $_) . ") SERVER far2 OPTIONS (table_name 'p$_');" } 0 .. 3),
	'CREATE TABLE mixed_here PARTITION OF mixed FOR VALUES IN (1, 2, 3);', 'INSERT INTO mixed SELECT 1 + i % 3, i % 50, i FROM generate_series(1, 500) i;',
	'CREATE TABLE mixed_sub PARTITION OF mixed DEFAULT PARTITION BY RANGE (dst);', "CREATE FOREIGN TABLE mixed_sub_far PARTITION OF mixed_sub FOR VALUES FROM (0) TO (100) SERVER far2 OPTIONS (table_name 'p9');",
	'CREATE TABLE mixed_sub_here PARTITION OF mixed_sub DEFAULT;', 'INSERT INTO mixed VALUES (55, 1000, 1), (56, 2000, 2);',
	# a partition with columns in another order, after a dropped one
	q{CREATE FOREIGN TABLE mixed_other (gone int, weight float8, dst bigint, src bigint) SERVER far1 OPTIONS (table_name 'p10');}, 'ALTER FOREIGN TABLE mixed_other DROP gone;', 'ALTER TABLE mixed ATTACH PARTITION mixed_other FOR VALUES IN (3000);',
	'CREATE TABLE all_far (src bigint, dst bigint, weight float8) PARTITION BY LIST (src);',
	map { my $p = $_; map { "CREATE FOREIGN TABLE all_far_${_}_$p PARTITION OF all_far FOR VALUES IN (" . ($_ * 1000 + $p) . ") SERVER far$_ OPTIONS (table_name 'p$p');" } 1, 2 } 0 .. 19);
same($hub, 'a partitioned table, foreign and local partitions', 'mixed', 'SELECT * FROM mixed');
is(sql("SELECT sum(degree) FROM emogi_degree('mixed')"), sql('SELECT count(*) FROM mixed'), '... a count');
same($hub, '... with columns that are named', 'mixed(dst, src, weight)', 'SELECT dst AS src, src AS dst, weight FROM mixed');
same($hub, 'forty foreign partitions of two servers', 'all_far', 'SELECT * FROM all_far', connections => [ 0, 1, 2, 4, 64 ]);
same($hub, 'a foreign partition by itself', 'mixed_other', 'SELECT src, dst, weight FROM mixed_other');
same($hub, 'a partitioned partition', 'mixed_sub', 'SELECT * FROM mixed_sub');
same($hub, 'a local partition', 'mixed_here', 'SELECT * FROM mixed_here', direct => 0);
sql('ALTER TABLE mixed DETACH PARTITION mixed_b2');
same($hub, 'after a partition has been detached', 'mixed', 'SELECT * FROM mixed');
sql('CREATE TABLE kin (src bigint, dst bigint, weight float8);', 'INSERT INTO kin VALUES (1, 2, 3), (2, NULL, 4);', 'CREATE TABLE kin_here (more int) INHERITS (kin);', 'INSERT INTO kin_here VALUES (2, 3, 4, 5);',
	"CREATE FOREIGN TABLE kin_far1 (extra text) INHERITS (kin) SERVER far1 OPTIONS (table_name 'p3');", "CREATE FOREIGN TABLE kin_far2 () INHERITS (kin_here) SERVER far2 OPTIONS (table_name 'p4');");
same($hub, 'an inheritance tree', 'kin', 'SELECT * FROM kin');
same($hub, 'a foreign table in it', 'kin_far1', 'SELECT src, dst, weight FROM kin_far1');
sql("CREATE FOREIGN TABLE root_far (src bigint, dst bigint, weight float8) SERVER far1 OPTIONS (table_name 'p5');", 'CREATE TABLE root_child () INHERITS (root_far);', 'INSERT INTO root_child VALUES (7, 8, 9);');
same($hub, 'a foreign table with a child', 'root_far', 'SELECT * FROM root_far');
same($hub, 'a query over partitions', 'SELECT src, dst FROM mixed WHERE src < 64', 'SELECT src, dst FROM mixed WHERE src < 64', direct => 0);

# Rows of partitions read twice or never would appear in a count of one partition each.
is(sql("SELECT sum(degree) FROM emogi_degree('all_far')"), 2 * 20 * 100 + 2 * 50 * 190, 'a count of all rows of forty');

# ------------------------------------------------------------------------------------------------- kinds of calls

far1('CREATE TABLE ring AS SELECT i AS src, i % 300 + 1 AS dst FROM generate_series(1, 300) i');
sql(foreign_table('ring', columns => 'src bigint, dst bigint'), 'CREATE TABLE ring_here AS TABLE ring');
for my $n (reads_servers() ? (0, 1, 4) : 4)
{
	my $set = connections($n);
	is(sql($set, "SELECT count(*), sum(level) FROM generate_series(1, 12) g, LATERAL emogi_bfs('ring', g * 20, 3)"), '48|72', "LATERAL calls, $n connections");
	is(sql($set, "SELECT sum(c) FROM generate_series(1, 5) g, LATERAL (SELECT count(*) + 0 * g AS c FROM emogi_bfs('ring', g) OFFSET 0) c"), '1500', "sub-queries for each row, $n connections");
	is(sql($set, 'PREPARE call(text, bigint) AS SELECT count(*), max(level) FROM emogi_bfs($1, $2);', 'SET plan_cache_mode = force_generic_plan;', (map { "EXECUTE call('ring', $_);" } 1 .. 3), "EXECUTE call('plain', 3)") =~ s/\n\d+\|\d+\z//r,
		join("\n", ('300|299') x 3), "a prepared statement, $n connections");
	is(sql($set, 'SET max_parallel_workers_per_gather = 4; SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0;', "SELECT count(*), sum(vertex) FROM emogi_bfs('ring', 1) b JOIN ring_here r ON r.src = b.vertex"), '300|45150',
		"with parallel workers, $n connections");
	is(sql($set, 'SET debug_parallel_query = on;', "SELECT count(*) FROM emogi_bfs('ring', 1)"), '300', "forced parallel mode, $n connections") if sql('SHOW server_version_num') >= 160000;
	is(sql($set, 'SET force_parallel_mode = on;', "SELECT count(*) FROM emogi_bfs('ring', 1)"), '300', "forced parallel mode, $n connections") if sql('SHOW server_version_num') < 160000;
	is(sql($set, 'BEGIN;', "DECLARE c CURSOR FOR SELECT level FROM emogi_bfs('ring', 1) ORDER BY level;", "DECLARE d CURSOR FOR SELECT level FROM emogi_bfs('ring', 100) ORDER BY level;", 'FETCH 2 FROM c;', 'FETCH 1 FROM d;', 'FETCH 1 FROM c;', 'CLOSE d;', 'FETCH 1 FROM c;', 'COMMIT'),
		"0\n1\n0\n2\n3", "cursors, $n connections");
	is(sql($set, "SELECT (SELECT count(*) FROM emogi_bfs('ring', 1)), (SELECT count(*) FROM emogi_cc('ring')), (SELECT count(*) FROM ring)"), '300|300|300', "several calls in a statement, $n connections");
	is(sql($set, "SELECT count(*) FROM emogi_bfs('ring', 1) LIMIT 1; SELECT vertex FROM emogi_bfs('ring', 1) LIMIT 1"), "300\n1", "few rows, $n connections");
}

# Options that change between calls of one session, also of a prepared statement.
far2('CREATE TABLE ring AS SELECT i AS src, i + 1 AS dst FROM generate_series(1, 10) i');
far1('CREATE TABLE line AS SELECT i AS src, i + 1 AS dst FROM generate_series(1, 5) i');
my $session = session($hub);
$session->ask("PREPARE call AS SELECT count(*) FROM emogi_bfs('ring', 1)");
is($session->ask('EXECUTE call'), '300', 'a prepared statement');
is($session->ask("ALTER FOREIGN TABLE ring OPTIONS (SET table_name 'line')"), '', '... when the remote table changes');
is($session->ask('EXECUTE call'), '6', '... which is visible');
$session->ask("ALTER FOREIGN TABLE ring OPTIONS (SET table_name 'ring')");
$session->ask(sprintf "ALTER SERVER far1 OPTIONS (SET host '%s', SET port '%s')", $far2->host, $far2->port);
is($session->ask('EXECUTE call'), '11', '... after the server has moved');
$session->ask(sprintf "ALTER SERVER far1 OPTIONS (SET host '%s', SET port '%s')", $far1->host, $far1->port);
is($session->ask('EXECUTE call'), '300', '... and back');
$session->quit;

# ------------------------------------------------------------------------------------------------- concurrent changes

# The number of edges is constant: each transaction deletes some and inserts as many, in another
# place of the table or in another table, until the row of stop exists.
my $n = 60000;
far1("CREATE TABLE churned (id int, src bigint, dst bigint) WITH (fillfactor = 70);", "INSERT INTO churned SELECT i, hashint4(i) & 1023, hashint4(-i) & 1023 FROM generate_series(1, $n) i;", 'CREATE INDEX ON churned (id);',
	'CREATE TABLE churned2 (LIKE churned);', 'CREATE INDEX ON churned2 (id);', 'CREATE TABLE stop ();', <<~"END");
	CREATE PROCEDURE churn(part int) LANGUAGE plpgsql AS \$\$
	DECLARE
	  x int; way int;
	BEGIN
	  SET synchronous_commit = off;
	  SET enable_seqscan = off;
	  WHILE NOT EXISTS (SELECT FROM stop) LOOP
	    -- edges of this session alone, so that sessions do not wait for each other; many, and all in one direction
	    x := 1 + part * $n / 2 + (random() * ($n / 2 - 50))::int;
	    way := (random() * 3)::int % 3;
	    IF way = 0 THEN
	      WITH gone AS (DELETE FROM churned WHERE id BETWEEN x AND x + 49 RETURNING *) INSERT INTO churned2 SELECT id, (dst + 5) % 1024, src FROM gone;
	    ELSIF way = 1 THEN
	      WITH gone AS (DELETE FROM churned2 WHERE id BETWEEN x AND x + 49 RETURNING *) INSERT INTO churned SELECT id, dst, (src * 7 + 1) % 1024 FROM gone;
	    ELSE
	      WITH gone AS (DELETE FROM churned WHERE id BETWEEN x AND x + 49 RETURNING *) INSERT INTO churned SELECT id, (dst + 1) % 1024, src FROM gone;
	    END IF;
	    UPDATE churned SET dst = (dst + 1) % 1024 WHERE id = x + 25;
	    COMMIT;
	  END LOOP;
	END \$\$;
	END
sql(foreign_table('churned', columns => 'src bigint, dst bigint'), foreign_table('churned2', columns => 'src bigint, dst bigint'),
	'CREATE TABLE churn (src bigint, dst bigint) PARTITION BY LIST (src);', map { "CREATE FOREIGN TABLE churn$_ PARTITION OF churn FOR VALUES IN (" . -$_ . ") SERVER far1 OPTIONS (table_name 'churned" . ($_ == 1 ? '' : 2) . "');" } 1, 2);
my @writers = map { session($far1) } 0, 1;
$writers[$_]->tell("CALL churn($_)") for 0, 1;
my $vacuum = session($far1);
my %read;
my $noticed = 0;
my $reader = session($hub);
my $ranges = session($far1);
my $end = time + 9;
my $rounds = 0;
while (time < $end || $rounds < 6)
{
	$vacuum->tell('VACUUM churned; VACUUM churned2') if $vacuum->is_done && $rounds % 3 == 2;
	for my $c (reads_servers() ? (1, 2, 4, 8) : 4)
	{
		$reader->ask(connections($c)) if reads_servers();
		$read{$c}{ $reader->ask("SELECT sum(degree) FROM emogi_degree('churn')") }++;
	}
	# control: tables, and parts of one, each read under a separate snapshot
	my $sum = 0;
	$sum += $ranges->ask("SELECT count(*) FROM $_") for "churned WHERE ctid < '(150,0)'", "churned WHERE ctid >= '(150,0)'", 'churned2';
	$noticed++ if $sum != $n;
	$rounds++;
}
far1('ALTER TABLE stop ADD x int;', 'INSERT INTO stop VALUES (1)');
for my $writer (@writers)
{
	is($writer->answer, '', 'a writer has finished');
	$writer->quit;
}
$_->quit for $vacuum, $reader, $ranges;
is(join(' ', sort keys %{ $read{$_} }), $n, "each of $rounds counts during inserts and deletes, with $_ connections, is correct") for sort keys %read;
cmp_ok($noticed, '>', 0, "separately read tables and parts are not: $noticed of $rounds");
same($hub, 'after all that', 'churn', 'SELECT * FROM churn');

# ------------------------------------------------------------------------------------------------- servers with emogi, which pack their pages

far1('CREATE SCHEMA "Odd "" name"; CREATE EXTENSION emogi SCHEMA "Odd "" name"');
far2('CREATE EXTENSION emogi');
same($hub, "packed: $_", $_, "SELECT src, dst, weight FROM $_", connections => $_ eq 'big' ? [ 0, 1, 2, 4, 64 ] : [ 0, 1, 4 ]) for grep { !/^empt/ } @relations;
same($hub, 'packed: partitions', 'all_far', 'SELECT * FROM all_far');
same($hub, 'packed: partitions, some of which are local', 'mixed_here', 'SELECT * FROM mixed_here', direct => 0);
same($hub, 'packed: without changes', 'churn', 'SELECT * FROM churn');
far1('CREATE TABLE bigger AS ' . edges(1200000, 8));
sql(foreign_table('bigger'));
is(join(' ', sort map { sql(connections($_), "SELECT md5(string_agg(concat_ws(' ', vertex, degree), ',' ORDER BY vertex)) FROM emogi_degree('bigger')") } 1, 4), join(' ', (far1("SELECT md5(string_agg(concat_ws(' ', v, n), ',' ORDER BY v)) FROM (SELECT src AS v, count(*) AS n FROM bigger GROUP BY src) d")) x 2),
	'packed: by several connections');
{
	my $from = -s $far1->logfile;
	sql(connections(2), "SELECT count(*) FROM emogi_degree('big')");
	my ($log) = slurp_file($far1->logfile, $from);
	like($log, qr/emogi_pages\(\d+::/, 'packs are requested') if reads_servers();
	# a function that would match plain literals better
	far1(q{CREATE FUNCTION "Odd "" name".emogi_pages(regclass, text[], int, int) RETURNS SETOF bytea LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'not the extension''s'; END $$});
	same($hub, 'another function with the name of the packing function, for other types', 'big', 'SELECT src, dst, weight FROM big', connections => [ 1 ]);
	# a function of that name that does not belong to the extension would run as the role of the
	# mapping
	far1('DROP EXTENSION emogi CASCADE', q{; CREATE FUNCTION public.emogi_pages(regclass, text[], bigint, bigint) RETURNS SETOF bytea LANGUAGE sql AS $$ SELECT ''::bytea $$});
	$from = -s $far1->logfile;
	same($hub, 'a function with the name of the packing function', 'big', 'SELECT src, dst, weight FROM big');
	unlike(slurp_file($far1->logfile, $from), qr/emogi_pages\(/, '... is not called');
}
far2('DROP EXTENSION emogi');

# ------------------------------------------------------------------------------------------------- reporting

for my $c (1, 2, 4)
{
	last unless reads_servers();
	my $from = -s $far1->logfile;
	sql(connections($c), "SELECT count(*) FROM emogi_degree('big')");
	my ($sessions, $copies) = copies($far1, $from);
	ok($sessions <= $c && $sessions >= ($c > 1 ? 2 : 1) && $copies >= $c, "a table of many pages, over $c connections: read by $sessions, in $copies parts");
}
my $explained = sql(connections(2), "EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) SELECT * FROM emogi_degree('all_far')") if reads_servers();
$explained //= sql("EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) SELECT * FROM emogi_degree('all_far')");
like($explained, qr/\bserver/i, 'EXPLAIN ANALYZE tells of servers');
like($explained, qr/\bconnections?\b/i, '... of connections');
like($explained, qr/\branges?\b/i, '... of ranges');
like($explained, qr/network|bytes|kB\b/i, '... of bytes');
for my $format ('JSON', 'YAML', 'XML')
{
	like(sql("EXPLAIN (ANALYZE, COSTS OFF, FORMAT $format) SELECT * FROM emogi_degree('all_far')"), qr/connections/i, "... as $format");
}
is(sql("SELECT count(*) FROM (SELECT '[]'::json) j") , '1', 'json contains it');
like(sql(q{CREATE FUNCTION explained(q text) RETURNS json LANGUAGE plpgsql AS $$ DECLARE j json; BEGIN EXECUTE 'EXPLAIN (ANALYZE, FORMAT JSON) ' || q INTO j; RETURN j; END $$;}, q{SELECT json_array_length(explained($$SELECT * FROM emogi_degree('all_far')$$))}), qr/^1$/, '... which is valid JSON');
unlike(sql("EXPLAIN (ANALYZE, COSTS OFF) SELECT * FROM emogi_degree('mixed_here')"), qr/\bservers?\b|network/i, '... and not for local tables');

SKIP:
{
	skip 'without byte counts', 3 unless sql(q{SELECT count(*) FROM pg_attribute WHERE attrelid = 'emogi_runs'::regclass AND attname = 'network_bytes'});
	my $bytes = "SELECT network_bytes FROM emogi_runs WHERE pid = pg_backend_pid() ORDER BY id DESC LIMIT 1";
	my $big = sql(connections(4), "SELECT count(*) FROM emogi_bfs('big', 1)", ";$bytes") =~ s/.*\n//r;
	cmp_ok($big, '>=', 400000 * 16, 'bytes of 400,000 edges: at least those of their endpoints');
	cmp_ok($big, '<=', 400000 * 40, '... and not many more than a row of COPY takes');
	is(sql("SELECT count(*) FROM emogi_cc('ring_here')", ";$bytes") =~ s/.*\n//r, '0', 'none for a local table');
}

# Rows are counted as they arrive.
far1(q{CREATE VIEW slow AS SELECT i::bigint AS src, i::bigint + 1 AS dst FROM generate_series(1, 500000) i WHERE i % 5000 <> 0 OR pg_sleep(0.02) IS NOT NULL});
sql(foreign_table('slow', columns => 'src bigint, dst bigint', options => "table_name 'slow', fetch_size '10000'"));
my ($out, $err) = ('', '');
my $slow = start_psql($hub, \$out, \$err, "SELECT count(*) FROM emogi_bfs('slow', 1)");
my (%done, $phase);
wait_until(20, sub {
	my ($d, $p) = split /\|/, sql("SELECT done, phase FROM emogi_progress WHERE source = 'slow'");
	$done{$d}++, $phase = $p if defined $d && $d > 0 && ($p // '') eq 'scan';
	$slow->pump_nb;
	return keys %done >= 3 || !$slow->pumpable;
});
cmp_ok(scalar(keys %done), '>=', 3, 'emogi_progress counts rows as they arrive');
$slow->finish;
is($out . $err, "500001\n", '... and all of them arrive');

# Memory of values converted on the way to the graph is freed while reading: a session's memory does
# not grow with the rows, whose weights are all 0.
far1(q{CREATE TABLE many (src float8, dst float8, weight numeric, a bigint, b bigint); INSERT INTO many SELECT i % 1000, i % 777, 0, i % 1000, i % 777 FROM generate_series(1, 500000) i});
sql(foreign_table('many', columns => 'src float8, dst float8, weight numeric, a bigint, b bigint'));
my $reader = session($hub);
my $pid = $reader->ask('SELECT pg_backend_pid()');
sub peak
{
	my %kb = slurp_file("/proc/$pid/status") =~ /^(VmHWM|RssFile|RssShmem):\s+(\d+)/mg;

	append_to_file("/proc/$pid/clear_refs", '5');
	return $kb{VmHWM} - $kb{RssFile} - $kb{RssShmem};
}
if (reads_servers())
{
	foreach my $case ([ "emogi_bfs('many(a, b)', 1)", 'keys that are integers' ], [ "emogi_bfs('many(src, dst)', 1)", 'keys passed by value' ],
		[ "emogi_sssp('many(a, b, weight)', 1)", 'weights of numeric' ])
	{
		$reader->ask('SELECT count(*) FROM ' . ($case->[0] =~ s/many/plain/r)) if $case->[1] =~ /integers/;
		my $before = peak();
		$reader->ask("SELECT count(*) FROM $case->[0]");
		my $more = peak() - $before;
		cmp_ok($more, '<', 12 << 10, "memory of a session, 500,000 rows: $case->[1]");
	}
}
$reader->quit;

all_gone('at the end');
$_->stop for $hub, $far1, $far2;
no_crash($_) for $hub, $far1, $far2;

done_testing();
