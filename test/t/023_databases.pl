# Cached graphs when databases, schemas, tables and the extension are created, renamed and dropped:
# each graph is used for its own table only, and is evicted with it.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use EmogiTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = crash_node('main', 'emogi.incremental_min_size = 1MB', "emogi.max_memory = '256MB'");
my $used = 'SELECT used_bytes FROM emogi_devices WHERE device = -1';
make_checked($node, 'tree', 3000);
my $call = q{SELECT verdict('tree')};
my $count = q{SELECT count(*) FROM emogi_bfs('tree', 1)};

# Check that the arena becomes as empty as before, without emogi_evict().
sub is_freed
{
	my ($before, $name) = @_;
	my $now;

	ok(wait_until(5, sub { $now = $node->safe_psql('postgres', $used); $now <= $before }), "$name: the memory is free")
	  or diag "$now bytes are in use, $before before";
}

# A background session that keeps the engine worker busy for database postgres.
my ($busyout, $busyerr) = ('', '');
my $busy = start_psql($node, \$busyout, \$busyerr, "SET application_name = 'busy'",
	q{SELECT count(*) FROM emogi_pagerank('tree', max_iterations => 1000000000, tolerance => 0)});
ok(wait_until(10, sub { $node->safe_psql('postgres', q{SELECT count(*) FROM pg_stat_activity WHERE application_name = 'busy' AND state = 'active'}) eq '1' }),
	'the engine is busy for a database');

# Two databases with tables of the same names, then with tables of the same OID and file.
$node->safe_psql('postgres', 'CREATE DATABASE one');
$node->safe_psql('one', 'CREATE EXTENSION emogi');
make_checked($node, 'tree', 100, 'one');
make_checked($node, 'own', 200, 'one');
is($node->safe_psql('postgres', $count), '3001', 'one database answers for its table');
is(join('|', served($node, $count, 'one')), '101|built', 'another for its own of the same name');
is(join('|', served($node, $count, 'one')), '101|hit', '... cached');
is(join('|', served($node, $count)), '3001|hit', '... the first again');
foreach my $strategy ($node->pg_version < 15 ? 'file_copy' : ('wal_log', 'file_copy'))
{
	is($node->safe_psql('one', $count), '101', "before CREATE DATABASE by $strategy");
	$node->safe_psql('postgres', 'CREATE DATABASE two TEMPLATE one' . ($node->pg_version < 15 ? '' : " STRATEGY $strategy"));
	is($node->safe_psql('one', q{SELECT 'tree'::regclass::oid}), $node->safe_psql('two', q{SELECT 'tree'::regclass::oid}), "a copy of a database by $strategy has tables of the same oid");
	$node->safe_psql('two', 'INSERT INTO tree VALUES (1, 1001), (1, 1002)');
	is(join('|', served($node, $count, 'two')), '103|built', '... the copy sees its own rows');
	is(join('|', served($node, $count, 'two')), '103|hit', '... cached');
	is(join('|', served($node, $count, 'one')), '101|hit', '... which the template does not see, cached');
	$node->safe_psql('one', 'INSERT INTO tree VALUES (1, 1003)');
	is($node->safe_psql('one', $count), '102', '... nor vice versa');
	is($node->safe_psql('two', $count), '103', '... round');
	is(join('|', served($node, q{SELECT verdict('own')}, 'two')), 't|built', '... a graph of another database is not served');
	is($node->safe_psql('two', q{SELECT string_agg(DISTINCT database, ' ') FROM emogi_graphs WHERE source IS NOT NULL}), 'two', '... sources are shown for the own database');
	$node->safe_psql('one', 'DELETE FROM tree WHERE dst = 1003');
	my $before = $node->safe_psql('one', 'SELECT emogi_evict()') && $node->safe_psql('postgres', $used);
	$node->safe_psql('one', $count);
	$node->safe_psql('postgres', 'DROP DATABASE two');
	is($node->safe_psql('postgres', q{SELECT count(*) FROM emogi_graphs WHERE database IS NULL OR database = 'two'}), '0', "DROP DATABASE: no graph of it is left ($strategy)");
	is(join('|', served($node, $count, 'one')), '101|hit', '... others are');
	$node->safe_psql('one', 'SELECT emogi_evict()');
}

# Renames of a database, and of objects in it.
is(join('|', served($node, $count, 'one')), '101|built', 'before a rename');
$node->safe_psql('postgres', 'ALTER DATABASE one RENAME TO uno');
is(join('|', served($node, $count, 'uno')), '101|hit', 'a renamed database');
$node->safe_psql('uno', 'ALTER TABLE tree RENAME TO baum; CREATE SCHEMA s; ALTER TABLE baum SET SCHEMA s');
is($node->safe_psql('uno', q{SELECT count(*) FROM emogi_bfs('s.baum', 1)}), '101', 'a renamed table');
is((sqlstate($node, $count, 'uno'))[0], '42P01', '... not by its old name');
$node->safe_psql('uno', 'CREATE TABLE tree AS SELECT 1 AS src, 2 AS dst');
is($node->safe_psql('uno', $count), '2', '... and another one under that name');
is($node->safe_psql('postgres', "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'busy' AND state = 'active'"), '1', 'the engine is still busy');

# DROP DATABASE WITH (FORCE) while a session of it builds.
my ($out, $err) = ('', '');
my $psql = IPC::Run::start([ 'psql', '-XAtq', '-v', 'VERBOSITY=sqlstate', '-d', $node->connstr('uno'), '-c', "SET application_name = 'inside'", '-c', "SET emogi.fault = 'built=3000000'",
	'-c', q{SELECT verdict('own')} ], '<', \'', '>', \$out, '2>', \$err, IPC::Run::timeout(60));
ok(wait_until(10, sub { $psql->pump_nb; $node->safe_psql('postgres', q{SELECT count(*) FROM pg_stat_activity WHERE application_name = 'inside' AND state = 'active' AND query LIKE '%verdict%'}) eq '1' }), 'a session builds');
$node->safe_psql('postgres', 'DROP DATABASE uno WITH (FORCE)');
eval { $psql->finish };
like($err, qr/57P01/, 'DROP DATABASE WITH (FORCE) while it builds: it is told');
is($node->safe_psql('postgres', q{SELECT string_agg(concat_ws(' ', relation, state, pins, bytes), ', ') FROM emogi_graphs WHERE database IS NULL OR database IN ('uno', 'one')}), '', '... no graph of it is left');
is($node->safe_psql('postgres', q{SELECT count(pg_cancel_backend(pid)) FROM pg_stat_activity WHERE application_name = 'busy'}), '1', 'the engine can stop');
$busy->finish;
is($busyerr, "ERROR:  57014\n", '... and its session had no other error');
nothing_left($node, 'after DROP DATABASE');

# Dropped objects free their memory at the commit, not before.
my $base = $node->safe_psql('postgres', $used);
$node->safe_psql('postgres', 'CREATE ROLE goner; GRANT CREATE ON SCHEMA public TO goner; CREATE SCHEMA s');
foreach my $drop (
	[ 't', 'TABLE', 'DROP TABLE t' ],
	[ 's.t', 'TABLE', 'DROP SCHEMA s CASCADE; CREATE SCHEMA s' ],
	[ 't', 'MATERIALIZED VIEW', 'DROP MATERIALIZED VIEW t' ],
	[ 't', 'UNLOGGED TABLE', 'ALTER TABLE t OWNER TO goner; DROP OWNED BY goner CASCADE; GRANT CREATE ON SCHEMA public TO goner' ],
	[ 't', 'TABLE', 'TRUNCATE t; DROP TABLE t' ],
	[ 't', 'TABLE', 'BEGIN; SAVEPOINT a; DROP TABLE t; ROLLBACK TO a; DROP TABLE t; COMMIT' ])
{
	my ($name, $kind, $sql) = @$drop;
	$node->safe_psql('postgres', "CREATE $kind $name AS SELECT i / 2 AS src, i AS dst FROM generate_series(2, 300001) i");
	my $sum = "SELECT count(*) FROM emogi_bfs('$name', 1)";
	is(join('|', served($node, $sum)), '300001|built', "before $sql");
	cmp_ok($node->safe_psql('postgres', $used), '>', $base, '... memory is in use');
	if ($kind eq 'TABLE' && $sql !~ /BEGIN/)
	{
		$node->safe_psql('postgres', "BEGIN; $sql; ROLLBACK");
		is($node->safe_psql('postgres', $sum), '300001', '... rolled back: right');
	}
	$node->safe_psql('postgres', $sql);
	is_freed($base, $sql);
	is((sqlstate($node, $sum))[0], '42P01', '... and the table is not registered');
	is($node->safe_psql('postgres', q{SELECT string_agg(concat_ws(' ', source, database, state, pins, bytes), ', ') FROM emogi_graphs WHERE database = 'postgres'}), '', '... nor is a graph');
}
$node->safe_psql('postgres', q{
	CREATE TABLE parts (src int, dst int) PARTITION BY HASH (src);
	CREATE TABLE part1 PARTITION OF parts FOR VALUES WITH (MODULUS 2, REMAINDER 0);
	CREATE TABLE part2 PARTITION OF parts FOR VALUES WITH (MODULUS 2, REMAINDER 1);
	INSERT INTO parts SELECT i / 2, i FROM generate_series(2, 3001) i});
is_right($node, 'parts', 'a partitioned table');
is(join('|', served($node, q{SELECT verdict('parts')})), 't|hit', '... cached');
my $half = $node->safe_psql('postgres', q{ALTER TABLE parts DETACH PARTITION part2; SELECT count(*) FROM emogi_bfs('parts', ARRAY(SELECT DISTINCT src FROM parts))});
is($half, $node->safe_psql('postgres', q{SELECT count(*) FROM (SELECT src FROM parts UNION SELECT dst FROM parts) v}), '... without one partition');
$node->safe_psql('postgres', q{ALTER TABLE parts ATTACH PARTITION part2 FOR VALUES WITH (MODULUS 2, REMAINDER 1)});
is_right($node, 'parts', '... with it again');
$node->safe_psql('postgres', 'DROP TABLE parts');
is_freed($base, 'DROP TABLE of a partitioned table');

# The extension is dropped and re-created; its graphs stay.
is(join('|', served($node, $call)), 't|built', 'before DROP EXTENSION');
$node->safe_psql('postgres', 'DROP EXTENSION emogi');
is((sqlstate($node, $count))[0], '42883', 'DROP EXTENSION');
is((sqlstate($node, 'SELECT * FROM emogi_graphs'))[0], '42P01', '... the views are gone');
$node->safe_psql('postgres', 'INSERT INTO tree VALUES (1, 5001)');
$node->safe_psql('postgres', 'CREATE EXTENSION emogi');
is(join('|', served($node, $count)), '3002|built', '... re-created, intermediate writes are visible');
$node->safe_psql('postgres', 'DROP EXTENSION emogi; CREATE EXTENSION emogi');
is(join('|', served($node, $count)), '3002|hit', '... dropped and re-created, a hit');
is($node->safe_psql('postgres', q{SELECT source, state, hits > 0 FROM emogi_graphs WHERE source = 'tree'}), 'tree|ready|t', '... and emogi_graphs shows it');
is($node->safe_psql('postgres', q{SELECT count(*) FROM emogi_cache}), '1', '... and emogi_cache is back');

# A session that stays connected meanwhile.
my $session = session($node);
is($session->ask($count), '3002', 'a session that stays connected');
$session->ask('PREPARE p AS SELECT count(*) FROM emogi_bfs($1, 1)');
is($session->ask(q{EXECUTE p('tree')}), '3002', '... with a prepared statement');
$node->safe_psql('postgres', 'DROP EXTENSION emogi');
like($session->ask(q{EXECUTE p('tree')}), qr/^ERROR:  42883/, '... without the extension');
$node->safe_psql('postgres', 'CREATE EXTENSION emogi');
is($session->ask("$count; DEALLOCATE p"), '3002', '... with it again');

# CREATE EXTENSION and DROP EXTENSION that are rolled back.
$node->safe_psql('postgres', 'DROP EXTENSION emogi');
is($node->safe_psql('postgres', "BEGIN; CREATE EXTENSION emogi; $count; ROLLBACK"), '3002', 'CREATE EXTENSION in a transaction');
is((sqlstate($node, $count))[0], '42883', '... rolled back');
$node->safe_psql('postgres', 'CREATE EXTENSION emogi');
is($node->safe_psql('postgres', "BEGIN; DROP EXTENSION emogi; ROLLBACK; $count"), '3002', 'DROP EXTENSION rolled back');
is(join('|', served($node, $count)), '3002|hit', '... a hit');

# The extension is not relocatable and reports so. A dump with dependent objects can be restored.
is((sqlstate($node, 'CREATE SCHEMA elsewhere; ALTER EXTENSION emogi SET SCHEMA elsewhere'))[0], '0A000', 'ALTER EXTENSION SET SCHEMA is refused');
is(join('|', served($node, $count)), '3002|hit', '... and changes nothing');
$node->safe_psql('postgres', q{
	CREATE VIEW reach AS SELECT * FROM emogi_bfs('public.tree', 1);
	CREATE VIEW mine AS SELECT g.source, r.cache FROM emogi_graphs g JOIN emogi_runs r USING (source);
	CREATE MATERIALIZED VIEW ranks AS SELECT * FROM emogi_pagerank('public.tree');
	CREATE ROLE reader; GRANT EXECUTE ON FUNCTION emogi_reset() TO reader; REVOKE SELECT ON emogi_runs FROM PUBLIC});
my $dump = $node->basedir . '/dump.sql';
$node->command_ok([ 'pg_dump', '-f', $dump, '-d', $node->connstr('postgres') ], 'pg_dump');
$node->safe_psql('postgres', 'CREATE DATABASE restored TEMPLATE template0');
$node->command_ok([ 'psql', '-Xq', '-v', 'ON_ERROR_STOP=1', '-f', $dump, '-d', $node->connstr('restored') ], '... and its restore');
is($node->safe_psql('restored', 'SELECT count(*) FROM reach'), '3002', '... the restored objects work');
is($node->safe_psql('restored', 'SELECT count(*) FROM ranks'), $node->safe_psql('postgres', 'SELECT count(*) FROM ranks'), '... a materialized view too');
is($node->safe_psql('restored', q{SELECT has_function_privilege('reader', 'emogi_reset()', 'EXECUTE'), has_table_privilege('reader', 'emogi_runs', 'SELECT'), has_table_privilege('reader', 'emogi_graphs', 'SELECT')}),
	't|f|t', '... changed privileges are preserved');
is($node->safe_psql('restored', 'TABLE mine LIMIT 0'), '', '... a view on the views exists');
is((sqlstate($node, 'DROP EXTENSION emogi'))[0], '2BP01', 'DROP EXTENSION minds what depends on it');
$node->safe_psql('postgres', 'DROP EXTENSION emogi CASCADE; CREATE EXTENSION emogi; DROP DATABASE restored');
is(join('|', served($node, $count)), '3002|hit', '... and with CASCADE, re-created, the graph is a hit');
is($session->ask($count), '3002', '... in the open session, too');
$session->quit;
nothing_left($node, 'at the end');
$node->stop;
no_crash($node);
unlike(slurp_file($node->logfile), qr/WARNING:/, 'no warnings');

done_testing();
