# Without shared_preload_libraries, from PostgreSQL 17 on (trial.c): the first call starts the
# engine, and others attach. Crashes, several databases, races and exhausted background workers;
# writes of sessions that never call emogi are visible. 098_trial_stress.pl tests the latter at
# length.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use EmogiTest;
use IPC::Run;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(sleep time);

$EmogiTest::preloads = 0;
plan(skip_all => 'emogi must be preloaded before PostgreSQL 17') if server_version() < 17;

my $node = emogi_node('main', "emogi.max_memory = '256MB'", 'restart_after_crash = on', 'max_prepared_transactions = 5', 'fsync = off',
	'emogi.incremental_min_size = 0');
my $quiet = 'SET client_min_messages = warning;';

sub ask { return $node->safe_psql($_[1] // 'postgres', $_[0]) }
sub engines { return ask(q{SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'emogi engine'}) }
sub engine { return ask(q{SELECT coalesce(max(pid), 0) FROM pg_stat_activity WHERE backend_type = 'emogi engine'}) }

# ---- the first call

is(engines(), '0', 'CREATE EXTENSION starts no engine');
my $start = time;
my ($rc, $out, $err) = $node->psql('postgres', q{SELECT string_agg(vertex || ':' || level, ' ') FROM emogi_bfs('small', 1); SELECT count(*) FROM emogi_bfs('small', 1)});
note sprintf 'the first call of the server took %.0f ms, with psql', 1000 * (time - $start);
is($out, "1:0 2:1 3:2 4:1\n4", 'the first call answers');
is(scalar(() = $err =~ /NOTICE:  emogi is not in shared_preload_libraries/g), 1, '... with one notice per session');
like($err, qr/HINT:.*shared_preload_libraries/, '... that explains how to preload it');
is(engines(), '1', '... and has started the engine');
(undef, undef, $err) = $node->psql('postgres', q{SELECT count(*) FROM emogi_bfs('small', 1)});
like($err, qr/NOTICE/, 'the next session gets it, too');
(undef, undef, $err) = $node->psql('postgres', q{SET emogi.notice_trial = off; SELECT count(*) FROM emogi_bfs('small', 1)});
is($err, '', '... unless emogi.notice_trial is off');
foreach my $call (q{emogi_cycles('small', 1)}, q{emogi_reachable('small', 'VALUES (1, 2)')}, q{emogi_k_shortest_paths('small', 1, 3, 2)},
	q{emogi_all_shortest_paths('small', 1, 3)}, q{emogi_triangle_count('small')})
{
	($rc) = $node->psql('postgres', "LOAD 'emogi'; EXPLAIN (VERBOSE) SELECT * FROM $call");
	is($rc, 0, "EXPLAIN of $call as the first that a session does with emogi");
}
is(ask('SELECT preloaded FROM emogi_stat_info'), 'f', 'emogi_stat_info shows that it was not preloaded');
like((sqlstate($node, q{SELECT count(*) FROM emogi_devices; SET emogi.max_memory = '1GB'}))[0], qr/55P02/, 'a session cannot change the size of the arena');
$node->adjust_conf('postgresql.conf', 'emogi.max_memory', "'128MB'");
$node->reload;
is(ask(q{SELECT count(*) FROM emogi_devices WHERE memory_bytes = 268435456}), '1', '... and the configuration does not before a restart');
$node->adjust_conf('postgresql.conf', 'emogi.max_memory', "'256MB'");
$node->reload;
$node->append_conf('postgresql.conf', 'emogi.notice_trial = off');
$node->reload;

# ---- writes of other sessions, which never load emogi

make_checked($node, 'edges', 3000);
my $reader = session($node);
my $writer = session($node);
sub right { my ($name) = @_; is($reader->ask(q{SELECT verdict('edges')}), 't', $name) }

right('a graph');
is($reader->ask(q{SELECT verdict('edges'); SELECT cache FROM emogi_runs WHERE pid = pg_backend_pid() ORDER BY id DESC LIMIT 1}), "t\nhit", '... that is found again');
my $served = session($node);
is($served->ask(q{SELECT verdict('edges'); SELECT cache FROM emogi_runs WHERE pid = pg_backend_pid() ORDER BY id DESC LIMIT 1}), "t\nhit", '... by other sessions');
foreach my $change (
	'INSERT INTO edges VALUES (3, 9001)',
	'DELETE FROM edges WHERE dst = 9001',
	'UPDATE edges SET src = 1 WHERE dst = 77',
	'BEGIN; INSERT INTO edges VALUES (1, 9002); SAVEPOINT a; INSERT INTO edges VALUES (1, 9003); ROLLBACK TO a; COMMIT',
	q{BEGIN; INSERT INTO edges VALUES (1, 9004); PREPARE TRANSACTION 'trial'},
	q{COMMIT PREPARED 'trial'},
	q{BEGIN; INSERT INTO edges VALUES (1, 9005); PREPARE TRANSACTION 'trial'},
	q{ROLLBACK PREPARED 'trial'},
	'VACUUM edges',
	'DELETE FROM edges WHERE dst = 9004',
	'VACUUM edges',
	'DELETE FROM edges WHERE dst = 2900; VACUUM edges',
	'UPDATE edges SET src = 3 WHERE dst = 2901; VACUUM edges; VACUUM edges',
	'VACUUM (FREEZE) edges',
	'VACUUM FULL edges',
	'ALTER TABLE edges ADD COLUMN pad text',
	'ALTER TABLE edges ALTER dst TYPE bigint',
	'CREATE INDEX edges_src ON edges (src)',
	'CLUSTER edges USING edges_src',
	'BEGIN; TRUNCATE edges; INSERT INTO edges SELECT i / 2, i FROM generate_series(2, 500) i; COMMIT',
	'BEGIN; DROP TABLE edges; CREATE TABLE edges AS SELECT i / 2 AS src, i AS dst FROM generate_series(2, 700) i; COMMIT',
	'ALTER TABLE edges RENAME TO old_edges; CREATE TABLE edges AS SELECT i / 2 AS src, i AS dst FROM generate_series(2, 800) i',
	'DROP TABLE old_edges',
	'ALTER TABLE edges SET UNLOGGED',
	'INSERT INTO edges VALUES (1, 9006)',
	'ALTER TABLE edges SET LOGGED',
	'INSERT INTO edges VALUES (1, 9007)')
{
	$writer->ask($change);
	right("after $change");
	right('... twice');
}
$writer->ask('BEGIN; INSERT INTO edges VALUES (1, 9010)');
right('with an open transaction');
$writer->ask('COMMIT');
right('... after its commit');
is($reader->ask('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT verdict(\'edges\')') , 't', 'in a transaction with one snapshot');
$writer->ask('INSERT INTO edges VALUES (1, 9011)');
is($reader->ask(q{SELECT verdict('edges')}), 't', '... after a commit that it does not see');
is($served->ask(q{SELECT verdict('edges')}), 't', '... and one that does');
$reader->ask('COMMIT');
is($node->safe_psql('postgres', q{SELECT count(*) FROM pg_stat_activity WHERE query LIKE 'INSERT%' AND state = 'idle'}), '1', 'the writer is one session');
unlike(slurp_file('/proc/' . $writer->ask('SELECT pg_backend_pid()') . '/maps'), qr/emogi/, '... that has not loaded emogi');

# ---- parallel scans and plans; prewarming

ask(q{CREATE TABLE big AS SELECT i / 2 AS src, i AS dst FROM generate_series(2, 300000) i; ALTER TABLE big SET (parallel_workers = 2); ANALYZE big});
is(ask(qq{SET min_parallel_table_scan_size = 0; SET emogi.build_workers = 2; SELECT count(*) FROM emogi_bfs('big', 1)}), '300000', 'parallel workers scan a table');
is(ask(qq{SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0; SET debug_parallel_query = on;
	SELECT count(*) FROM emogi_bfs('big', 1) b JOIN big ON big.dst = b.vertex}), '299999', '... and read a result');
is(ask(q{SELECT vertices FROM emogi_prewarm('big')}), '300000', 'emogi_prewarm');

# ---- several databases

ask('CREATE DATABASE second');
ask('CREATE EXTENSION emogi; CREATE TABLE small AS SELECT 1 AS src, 9 AS dst', 'second');
is(ask(q{SELECT string_agg(vertex || ':' || level, ' ') FROM emogi_bfs('small', 1)}, 'second'), '1:0 9:1', 'a second database');
answers_small($node, 'the first database');
is(engines(), '1', '... with one engine');
ask('DROP DATABASE second');

# ---- the engine exits

my $pid = engine();
kill 'TERM', $pid;
ok(wait_until(20, sub { my $new = engine(); $new != 0 && $new != $pid }), 'the engine is restarted');
is($reader->ask(q{SELECT verdict('edges')}), 't', '... and answers a session that was attached');
answers_small($node, '... and a new one');
$reader->quit;
$served->quit;
$writer->quit;
wait_until(10, sub { ask(q{SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'}) eq '1' });
$pid = engine();
kill 'TERM', $pid;
ok(wait_until(20, sub { my $new = engine(); $new != 0 && $new != $pid }), 'the engine is restarted, without a session attached');
is_right($node, 'edges', '... and answers');
is(engines(), '1', '... alone');

# ---- the server crashes

foreach my $round (1 .. 2)
{
	sqlstate($node, q{SET emogi.enable_local_search = off; SET emogi.fault = 'worker_crash=run'; SELECT count(*) FROM emogi_bfs('big', 1)});
	wait_for_restart($node, "the engine was killed, $round");
	is_right($node, 'edges', '... and answers');
	ok(wait_until(10, sub { engines() eq '1' }), '... with one engine');
}
my $victim = session($node);
$victim->ask(q{SELECT verdict('edges')});
kill 'KILL', $victim->ask('SELECT pg_backend_pid()');
wait_for_restart($node, 'a backend was killed');
is_right($node, 'edges', '... and answers');
ok(wait_until(10, sub { engines() eq '1' }), '... with one engine');

# ---- the extension is dropped and re-created

ask('DROP EXTENSION emogi CASCADE');
is((sqlstate($node, q{SELECT * FROM emogi_bfs('small', 1)}))[0], '42883', 'dropped');
ask('CREATE EXTENSION emogi');
answers_small($node, 'created again');

# ---- many concurrent first calls, also while the engine of a crashed server is restarted

foreach my $round (1 .. 3)
{
	my @racers;

	$node->restart;
	foreach my $i (0 .. 7)
	{
		my ($said, $error) = ('', '');
		push @racers, { out => \$said, err => \$error };
		$racers[$i]{run} = start_psql($node, \$said, \$error, q{SELECT string_agg(vertex || ':' || level, ' ') FROM emogi_bfs('small', 1)});
	}
	$_->{run}->finish foreach @racers;
	is(join(',', map { ${ $_->{out} } . ${ $_->{err} } } @racers), join(',', ("1:0 2:1 3:2 4:1\n") x 8), "eight concurrent first calls, $round");
	is(engines(), '1', '... with one engine');
}

# ---- no free background worker

$node->append_conf('postgresql.conf', 'max_worker_processes = 0');
$node->restart;
my $refused = session($node);
foreach my $call ('the first call', 'the next one')
{
	my $said = $refused->ask(q{SELECT * FROM emogi_bfs('small', 1)});
	like($said, qr/ERROR:  53000: emogi could not start its engine: no background worker is free/, "$call without a background worker");
	like($said, qr/HINT:.*max_worker_processes/, '... names the setting');
}
is($refused->ask('SELECT 1'), '1', '... and the session continues');
$refused->quit;
$node->adjust_conf('postgresql.conf', 'max_worker_processes', '8');
$node->restart;
answers_small($node, 'with background workers again');

# ---- the library is replaced meanwhile

my ($libdir) = `pg_config --pkglibdir` =~ /(.*)/;
SKIP:
{
	skip('the folder of libraries cannot be written', 3) unless -w $libdir;
	my $old = session($node);

	$old->ask(q{SELECT count(*) FROM emogi_bfs('small', 1)});
	system("cp '$libdir/emogi.so' '$libdir/emogi.so.new' && mv '$libdir/emogi.so.new' '$libdir/emogi.so'") == 0 or die 'cp';
	my ($state, $message) = sqlstate($node, q{SELECT * FROM emogi_bfs('small', 1)});
	is($state, '55000', 'a library replaced since the first call');
	like($message, qr/HINT:  Restart the server/, '... with a hint');
	is($old->ask(q{SELECT count(*) FROM emogi_bfs('small', 1)}), '4', '... and older sessions continue');
	$old->quit;
}

# ---- a standby

$node->append_conf('postgresql.conf', "wal_level = replica\nmax_wal_senders = 5");
$node->restart;
$node->backup('copy');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($node, 'copy', has_streaming => 1);
$standby->start;
is($standby->safe_psql('postgres', q{SELECT verdict('edges')}), 't', 'the first call on a standby') if $node->safe_psql('postgres', q{SELECT count(*) FROM pg_proc WHERE proname = 'verdict'}) eq '1';
answers_small($standby, '... and on another table');
ask('INSERT INTO small VALUES (4, 5)');
$node->wait_for_catchup($standby, 'replay');
is($standby->safe_psql('postgres', q{SELECT count(*) FROM emogi_bfs('small', 1)}), '5', '... after a change');
$standby->promote;
$standby->safe_psql('postgres', 'INSERT INTO small VALUES (5, 6)');
is($standby->safe_psql('postgres', q{SELECT count(*) FROM emogi_bfs('small', 1)}), '6', '... after its promotion');
$standby->stop;
no_crash($standby);
$node->stop;
unlike(slurp_file($node->logfile), qr/PANIC|TRAP:|terminated by signal (?:4|6|7|8|11)\b/, 'no process crashed by itself');

done_testing();
