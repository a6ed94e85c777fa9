# pg_upgrade to a newer version of PostgreSQL: stored objects with calls work there, materialized
# views are unchanged and can be refreshed, and statistics of the old server are not used by the new
# one. From the tested server, and from the installations listed in EMOGI_OLD_SERVERS, to that of
# EMOGI_NEW_SERVER. All have emogi; test/run versions sets these variables.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use EmogiTest;
use File::Spec;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $home = $ENV{EMOGI_NEW_SERVER};
plan skip_all => 'EMOGI_NEW_SERVER is not set, as by test/run versions' unless $home;
my ($version) = `$home/bin/postgres --version` =~ /([0-9]+)/;
my @conf = ("shared_preload_libraries = 'emogi'", "emogi.max_memory = '128MB'", 'emogi.engine = cpu', 'autovacuum = off');
my @initdb = ('--encoding=UTF8', '--locale=C');

sub stored
{
	my ($on) = @_;

	return $on->safe_psql('postgres', q{
		SELECT count(*), sum(vertex), sum(distance) FROM near;
		SELECT count(*), sum(vertex), md5(string_agg(vertex || ' ' || round(rank::numeric, 12), ',' ORDER BY vertex)) FROM ranks;
		SELECT count(*), sum(h) FROM hops(2) h;
		SELECT setconfig FROM pg_db_role_setting s JOIN pg_roles r ON r.oid = setrole WHERE rolname = 'app';
		SELECT has_function_privilege('app', 'graph.emogi_stat_reset()', 'EXECUTE'), has_function_privilege('app', 'graph.emogi_reset()', 'EXECUTE');
		SELECT ok FROM graph.emogi_check('edges', 'out', true)});
}

# Upgrade a cluster of one installation, '' = the tested one, to the new server.
sub upgrade
{
	my ($from_home) = @_;
	my $name = $from_home =~ s{.*/}{}r =~ s/\W//gr;
	my $old = PostgreSQL::Test::Cluster->new("old$name", $from_home ? (install_path => $from_home) : ());

	return if int($old->pg_version =~ s/^(\d+).*/$1/r) >= $version;
	$old->init(extra => \@initdb);
	$old->append_conf('postgresql.conf', join "\n", @conf);
	$old->start;
	$old->safe_psql('postgres', q{
		CREATE SCHEMA graph;
		CREATE EXTENSION emogi SCHEMA graph;
		CREATE ROLE app LOGIN;
		ALTER ROLE app SET emogi.session_calls = 7;
		CREATE TABLE edges (src bigint, dst bigint, weight float8) PARTITION BY HASH (src);
		CREATE TABLE e0 PARTITION OF edges FOR VALUES WITH (MODULUS 2, REMAINDER 0);
		CREATE TABLE e1 PARTITION OF edges FOR VALUES WITH (MODULUS 2, REMAINDER 1);
		INSERT INTO edges SELECT i / 2, i, 1 + i % 7 FROM generate_series(2, 5000) i;
		UPDATE edges SET weight = weight + 1 WHERE src % 3 = 0;
		DELETE FROM edges WHERE src % 11 = 0;
		CREATE VIEW near AS SELECT vertex, distance FROM graph.emogi_sssp('edges'::regclass, 1, max_distance => 30);
		CREATE MATERIALIZED VIEW ranks AS SELECT vertex, rank FROM graph.emogi_pagerank('edges'::regclass);
		CREATE FUNCTION hops(bigint) RETURNS SETOF bigint STABLE BEGIN ATOMIC SELECT vertex FROM graph.emogi_bfs('edges'::regclass, $1); END;
		GRANT USAGE ON SCHEMA graph TO app;
		GRANT EXECUTE ON FUNCTION graph.emogi_stat_reset() TO app});

	SKIP:
	{
		# A server whose catalogs contain features unknown to pg_dump of an older minor version
		# cannot be upgraded by it, with or without emogi.
		my ($option) = $old->safe_psql('postgres', q{SELECT DISTINCT split_part(o, '=', 1) FROM pg_attribute, unnest(attoptions) o}) =~ /(\w+)/;
		skip "pg_upgrade of this minor version of $version does not know $option, which the old server uses", 9
			if $option && slurp_file("$home/bin/pg_dump") !~ /\Q$option\E/;

		my $before = stored($old);
		like($before, qr/\n\{emogi\.session_calls=7\}\nt\|f\nt$/, 'stored objects work');
		$old->stop;
		ok(-s $old->data_dir . '/pg_stat/emogi.stat', 'the old server leaves its statistics');

		my $new = PostgreSQL::Test::Cluster->new("new$name", install_path => $home);
		$new->init(extra => [ @initdb, $version >= 18 ? '--no-data-checksums' : () ]);
		$new->append_conf('postgresql.conf', join "\n", @conf);
		my ($from, $to) = map { File::Spec->rel2abs($_->data_dir) } $old, $new;
		my $bindir = do { local %ENV = $old->_get_env(); $old->config_data('--bindir') };
		my $here = File::Spec->rel2abs('.');
		chdir $new->basedir or die "chdir: $!";
		{
			local %ENV = $new->_get_env();

			command_ok([ 'pg_upgrade', '--no-sync', '-d', $from, '-D', $to, '-b', $bindir, '-B', "$home/bin", '-s', $new->host, '-p', $old->port,
					'-P', $new->port ], "pg_upgrade from " . $old->pg_version . " to $version");
		}
		chdir $here or die "chdir: $!";
		$new->start;
		is($new->safe_psql('postgres', 'SELECT current_setting($$server_version_num$$)::int / 10000'), $version, 'the new server');
		is($new->safe_psql('postgres', q{SELECT count(*) FROM graph.emogi_stat_graphs}), '0', '... has no statistics of the old one');
		is(stored($new), $before, '... and all stored objects work as before');
		is($new->safe_psql('postgres', q{REFRESH MATERIALIZED VIEW ranks; SELECT count(*) FROM ranks}), $new->safe_psql('postgres', 'SELECT count(*) FROM graph.emogi_cc($$edges$$)'), '... and can be refreshed');
		is($new->safe_psql('postgres', q{INSERT INTO edges VALUES (1, 77777, 1); SELECT count(*) FROM hops(1) WHERE hops = 77777}), '1', '... and tracks its tables');
		$new->stop;
		no_crash($new);
	}
}

upgrade($_) foreach '', split ' ', $ENV{EMOGI_OLD_SERVERS} // '';
done_testing();
