# A whole cluster through pg_dumpall, a database through a parallel pg_restore, and a base backup.
# Stored objects are preserved: the extension, privileges on its functions, settings of roles and
# databases, and views over calls. In-memory state, graphs and counters, is not.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use EmogiTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my @conf = ("emogi.max_memory = '128MB'", 'emogi.engine = cpu');
my $node = PostgreSQL::Test::Cluster->new('old');
$node->init(allows_streaming => 1);
$node->append_conf('postgresql.conf', join "\n", "shared_preload_libraries = 'emogi'", 'autovacuum = off', @conf);
$node->start;
$node->safe_psql('postgres', q{
	CREATE ROLE app LOGIN;
	CREATE ROLE moni LOGIN IN ROLE pg_monitor;
	CREATE DATABASE shop;
	ALTER ROLE app SET emogi.role_memory = '64MB';
	ALTER ROLE app IN DATABASE shop SET emogi.enable_local_search = off;
	ALTER DATABASE shop SET emogi.session_calls = 7});
$node->safe_psql('shop', q{
	CREATE SCHEMA graph;
	CREATE EXTENSION emogi SCHEMA graph;
	CREATE TABLE edges AS SELECT i / 2 AS src, i AS dst FROM generate_series(2, 1000) i;
	CREATE TABLE words AS SELECT 'w' || src AS src, 'w' || dst AS dst FROM edges;
	CREATE VIEW short AS SELECT src, dst FROM edges WHERE dst < 100;
	CREATE VIEW reached AS SELECT vertex FROM graph.emogi_bfs('short'::regclass, 1);
	CREATE MATERIALIZED VIEW ranks AS SELECT vertex, rank FROM graph.emogi_pagerank('edges'::regclass);
	CREATE MATERIALIZED VIEW parts AS SELECT vertex, component FROM graph.emogi_cc_text('words'::regclass);
	CREATE FUNCTION near(bigint) RETURNS bigint STABLE BEGIN ATOMIC SELECT count(*) FROM graph.emogi_bfs('edges'::regclass, $1, max_depth => 2); END;
	GRANT USAGE ON SCHEMA graph TO app, moni;
	GRANT SELECT ON edges, reached, short TO app;
	GRANT EXECUTE ON FUNCTION graph.emogi_stat_reset() TO moni;
	REVOKE EXECUTE ON FUNCTION graph.emogi_bfs(text, bigint, integer, text, text, "any") FROM PUBLIC;
	GRANT EXECUTE ON FUNCTION graph.emogi_bfs(text, bigint, integer, text, text, "any") TO app;
	REVOKE SELECT ON graph.emogi_progress FROM PUBLIC});

# Stored objects, as text that must be the same everywhere.
sub stored
{
	my ($on) = @_;

	return $on->safe_psql('shop', q{
		SELECT count(*) FROM reached;
		SELECT count(*), round(sum(rank)::numeric, 9) FROM ranks;
		SELECT count(*), min(component) FROM parts;
		SELECT near(1);
		SELECT coalesce(r.rolname, '-'), coalesce(d.datname, '-'), s.setconfig FROM pg_db_role_setting s LEFT JOIN pg_roles r ON r.oid = s.setrole LEFT JOIN pg_database d ON d.oid = s.setdatabase ORDER BY 1, 2;
		SELECT has_function_privilege('moni', 'graph.emogi_stat_reset()', 'EXECUTE'), has_function_privilege('moni', 'graph.emogi_reset()', 'EXECUTE'),
			has_function_privilege('moni', 'graph.emogi_bfs(text, bigint, integer, text, text, "any")', 'EXECUTE'), has_function_privilege('app', 'graph.emogi_bfs(text, bigint, integer, text, text, "any")', 'EXECUTE'),
			has_table_privilege('app', 'graph.emogi_progress', 'SELECT'), has_table_privilege('app', 'graph.emogi_runs', 'SELECT');
		SELECT extname, extversion, nspname FROM pg_extension e JOIN pg_namespace n ON n.oid = extnamespace WHERE extname = 'emogi'});
}

# Are settings applied in sessions of the role, and privileges on its calls?
sub works_for_app
{
	my ($on, $name) = @_;
	my ($out, $err) = ('', '');

	IPC::Run::run([ 'psql', '-XAtq', '-v', 'VERBOSITY=sqlstate', '-d', $on->connstr('shop') . ' user=app', '-c', q{SELECT current_setting('emogi.role_memory'), current_setting('emogi.enable_local_search'), current_setting('emogi.session_calls')},
			'-c', q{SELECT count(*) FROM graph.emogi_bfs('edges', 1)}, '-c', q{SELECT count(*) FROM graph.emogi_cc_text('words')} ], '<', \'', '>', \$out, '2>', \$err);
	is($out . $err, "64MB|off|7\n1000\nERROR:  42501\n", $name);
}

my $before = stored($node);
like($before, qr/^99\n1000\|1\.000000000\n1000\|w1\n7\n/, 'stored objects work');
works_for_app($node, '... and for a role');
is($node->safe_psql('shop', 'SELECT sum(calls) > 0 FROM graph.emogi_stat_graphs'), 't', '... and calls are counted');

# ---- pg_dumpall into a separate cluster

my $sql = $node->basedir . '/all.sql';
my $new = PostgreSQL::Test::Cluster->new('new');
$new->init;
$new->append_conf('postgresql.conf', join "\n", "shared_preload_libraries = 'emogi'", 'autovacuum = off', @conf);
$new->start;
$node->command_ok([ 'pg_dumpall', '--no-sync', '--file', $sql ], 'pg_dumpall');
my $me = $node->safe_psql('postgres', 'SELECT current_user');
my $text = slurp_file($sql);
$text =~ s/^(?:CREATE|ALTER) ROLE \Q$me\E\b.*\n//mg;    # exists already
append_to_file("$sql.others", $text);
command_ok([ 'psql', '-X', '-q', '-v', 'ON_ERROR_STOP=1', '-f', "$sql.others", $new->connstr('postgres') ], 'psql restores it');
is(stored($new), $before, 'all objects exist');
works_for_app($new, '... for a role, too');

# ---- a cluster without preloading can use the restored objects once it preloads emogi

my $bare = PostgreSQL::Test::Cluster->new('bare');
$bare->init;
$bare->start;
command_fails_like([ 'psql', '-X', '-q', '-v', 'ON_ERROR_STOP=1', '-f', "$sql.others", $bare->connstr('postgres') ], qr/shared_preload_libraries/, 'a server without preloading reports it');
$bare->stop;

# ---- pg_dump, and pg_restore by several processes

my $dump = $node->basedir . '/shop.dump';
$node->command_ok([ 'pg_dump', '--no-sync', '--format=directory', '-j', '2', '--file', $dump, 'shop' ], 'pg_dump');
$new->safe_psql('postgres', 'DROP DATABASE shop');
command_ok([ 'pg_restore', '--exit-on-error', '--create', '-j', '3', '--dbname', $new->connstr('postgres'), $dump ], 'pg_restore by three processes');
$new->safe_psql('postgres', 'ALTER ROLE app IN DATABASE shop SET emogi.enable_local_search = off');    # settings of roles are dumped by pg_dumpall only
is(stored($new), $before, 'all objects exist');
$new->stop;

# ---- a base backup of a server that has loaded counters

$node->restart;
is($node->safe_psql('shop', 'SELECT sum(calls) > 0 FROM graph.emogi_stat_graphs'), 't', 'counters survive a restart');
$node->backup('base');
ok(!-e $node->backup_dir . '/base/pg_stat/emogi.stat', '... and are in no base backup');
my $copy = PostgreSQL::Test::Cluster->new('copy');
$copy->init_from_backup($node, 'base');
$copy->start;
is($copy->safe_psql('shop', 'SELECT count(*) FROM graph.emogi_stat_graphs'), '0', 'a server from a base backup starts counting from zero');
is($copy->safe_psql('shop', 'SELECT count(*) FROM graph.emogi_graphs'), '0', '... and has no graphs');
is(stored($copy), $before, '... but all stored objects');
works_for_app($copy, '... for a role, too');
no_crash($_) foreach $node, $new, $copy;
done_testing();
