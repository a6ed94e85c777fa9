# Foreign tables of servers with other versions of PostgreSQL are read directly and correctly.
# EMOGI_REMOTE_SERVERS lists folders of installations, separated by blanks; test/run versions sets
# it.

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

my @homes = split ' ', $ENV{EMOGI_REMOTE_SERVERS} // '';
plan skip_all => 'EMOGI_REMOTE_SERVERS is not set, as by test/run versions' unless @homes;

my $hub = hub_node('hub');
sub sql { return $hub->safe_psql('postgres', join("\n", @_)); }

for my $home (@homes)
{
	my ($version) = `$home/bin/postgres --version` =~ /([0-9]+)/;
	my $far = far_node("far$version", new => { install_path => $home }, streaming => 1);
	my $name = "PostgreSQL $version";
	my $ranges = $version >= 14;    # older ones cannot scan a range of pages

	$far->safe_psql('postgres', join "\n", 'CREATE TABLE plain AS ' . edges(3000, 1) . ';', 'INSERT INTO plain VALUES (NULL, 1, 1), (2, NULL, 1), (9000000000, -7, 3);', 'CREATE TABLE big AS ' . edges(300000, 2) . ';',
		'CREATE VIEW viewed AS SELECT * FROM plain WHERE src > 3;', 'CREATE TABLE parent (src bigint, dst bigint, weight float8);', 'INSERT INTO parent VALUES (1, 2, 3);', 'CREATE TABLE child () INHERITS (parent);', 'INSERT INTO child ' . edges(20000, 3) . ';',
		'CREATE TABLE split (src bigint, dst bigint, weight float8) PARTITION BY HASH (src);', (map { "CREATE TABLE split$_ PARTITION OF split FOR VALUES WITH (MODULUS 2, REMAINDER $_);" } 0, 1), 'INSERT INTO split ' . edges(500, 4) . ';',
		"CREATE TABLE words AS SELECT 'ä' || src AS src, 'ä' || dst AS dst, weight FROM (" . edges(1000, 5) . ') e;', 'CREATE TABLE moments AS SELECT timestamptz \'2020-01-01 12:00+02\' + src * interval \'1 hour\' AS src, timestamptz \'2020-01-01 12:00+02\' + dst * interval \'1 hour\' AS dst, weight::numeric AS weight FROM (' . edges(1000, 6) . ') e;',
		'CREATE TABLE ints AS SELECT src::int4 AS src, dst::int4 AS dst, weight::float4 AS weight FROM (' . edges(1000, 7) . ') e;', 'CREATE VIEW slow AS SELECT i::bigint AS src, i::bigint + 1 AS dst, 1::float8 AS weight FROM generate_series(1, 200000) i WHERE i % 1000 <> 0 OR pg_sleep(0.02) IS NOT NULL;',
		'CREATE VIEW wrong AS SELECT i::bigint AS src, i::bigint / (20000 - i) AS dst, 1::float8 AS weight FROM generate_series(1, 20000) i');
	sql("CREATE SCHEMA v$version; SET search_path = v$version, public;", server_of("far$version", $far), map { sprintf 'CREATE FOREIGN TABLE %s (src %s, dst %2$s, weight float8) SERVER far%s OPTIONS (schema_name \'public\');',
		$_, /words/ ? 'text' : /moments/ ? 'timestamptz' : 'bigint', $version } qw(plain big viewed parent split words moments ints slow wrong));
	same($hub, "$name: $_", "v$version.$_", "SELECT * FROM v$version.$_", connections => /big/ ? [ 0, 1, 2, 4, 64 ] : [ 0, 1, 4 ], before => q{SET client_encoding = 'UTF8';}) for qw(plain big viewed parent split words moments ints);
	is(sql("SELECT sum(degree) FROM emogi_degree('v$version.big')"), '300000', "$name: a count");
	if (reads_servers())
	{
		my $from = -s $far->logfile;
		sql(connections(4), "SELECT count(*) FROM emogi_degree('v$version.big')");
		my ($sessions, $copies) = copies($far, $from);
		ok($ranges ? $sessions >= 2 && $sessions <= 4 : $copies == 1, "$name: read by $sessions sessions, in $copies parts");
	}
	like((answer_of($hub, "SELECT count(*) FROM emogi_cc('v$version.wrong')"))[0], qr/^22012$/, "$name: a remote error");
	my $start = time;
	is((answer_of($hub, "SET statement_timeout = 600; SELECT count(*) FROM emogi_cc('v$version.slow')"))[0], '57014', "$name: statement_timeout");
	cmp_ok(time - $start, '<', 5, '... in time');
	all_gone($name);

	$far->backup('copy');
	my $standby = PostgreSQL::Test::Cluster->new("standby$version", install_path => $home);
	$standby->init_from_backup($far, 'copy', has_streaming => 1);
	$standby->start;
	sql("ALTER SERVER far$version OPTIONS (SET host '" . $standby->host . "', SET port '" . $standby->port . "')");
	same($hub, "$name: a standby", "v$version.big", "SELECT * FROM v$version.big", connections => [ 0, 4 ]);
	$standby->stop;
	$far->stop;
}

$hub->stop;
no_crash($hub);

done_testing();
