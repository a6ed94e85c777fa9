# The server crashes at each step of the cache's protocol. Afterwards answers are correct, graphs
# are cached again, and changes made or prepared before have the correct visibility.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use EmogiTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = crash_node('main', 'emogi.incremental_min_size = 1MB', "emogi.max_memory = '256MB'", 'emogi.enable_local_search = off');	# use the worker
make_checked($node, 'tree', 3000);
make_checked($node, 'other', 500);
$node->safe_psql('postgres', 'CHECKPOINT');
my $call = q{SELECT verdict('tree')};
my $unlogged = q{SELECT count(*) FROM emogi_bfs('scratch', 1)};
my $count = q{SELECT count(*) FROM emogi_bfs('tree', 1)};
my $held = 30_000_000;

# Check that the cluster restarts, answers correctly, and caches.
sub check_after_crash
{
	my ($name) = @_;

	wait_for_restart($node, $name);
	is(join('|', served($node, $call)), 't|built', "$name: the next call is right, and builds");
	is(join('|', served($node, $call)), 't|hit', "$name: the one after that is right, and hits");
	is_right($node, 'other', "$name: so is another table");
	nothing_left($node, $name);
	is(join('|', served($node, $call)), 't|built', "$name: evicted, it builds again");
}

# Kill a backend held at a step, while others wait for it, hit and write.
sub check_kill_at
{
	my ($point, $cached, @commands) = @_;
	my ($out, $err) = ('', '');
	my @others;

	$node->safe_psql('postgres', 'SELECT emogi_evict()');
	$node->safe_psql('postgres', $call) if $cached;
	my ($psql, $pid) = hold_at($node, \$out, \$err, "$point=$held", @commands);
	ok($pid, "$point: a backend is held there") or diag "$out$err";
	foreach my $command ($call, q{SELECT verdict('other')}, q{INSERT INTO other VALUES (1, 1)})
	{
		my ($out, $err) = ('', '');
		push @others, [ start_psql($node, \$out, \$err, $command), \$out, \$err, $command ];
	}
	wait_until(0.3, sub { $_->[0]->pump_nb foreach @others; 0 });
	kill 'KILL', $pid if $pid;
	foreach my $other ([ $psql, \$out, \$err, 'the killed' ], @others)
	{
		my ($psql, $out, $err, $command) = @$other;
		eval { $psql->finish };
		ok($$err eq '' ? $$out =~ /^t?\s*$/ : connection_lost($$err), "$point: correct or disconnected: $command")
		  or diag "$$out$$err";
	}
}

foreach my $point ('registered', 'built', 'published', 'found')
{
	check_kill_at($point, $point eq 'found', $call);
	check_after_crash("killed when $point");
}

# A writer: its change is visible if and only if it had committed.
my $before = $node->safe_psql('postgres', $count);
check_kill_at('pre_commit', 1, 'INSERT INTO tree VALUES (1, 10001)');
check_after_crash('killed before the commit');
is($node->safe_psql('postgres', $count), $before, 'killed before the commit: invisible');
check_kill_at('committed', 1, 'INSERT INTO tree VALUES (1, 10002)');
check_after_crash('killed after the commit');
is($node->safe_psql('postgres', $count), $before + 1, 'killed after the commit: visible');

# The engine worker is killed at each step of a request.
foreach my $point ('keys', 'csr', 'expand', 'run', 'done')
{
	my ($out, $err) = ('', '');
	my $direction = $point eq 'expand' ? 'both' : 'out';

	$node->safe_psql('postgres', 'SELECT emogi_evict()');
	$node->safe_psql('postgres', $call) if $point eq 'expand';
	my $psql = start_psql($node, \$out, \$err, "SET emogi.fault = 'worker_crash=$point'",
		"SELECT count(*) FROM emogi_bfs('tree', 1, direction => '$direction')");
	eval { $psql->finish };
	ok(connection_lost($err), "worker_crash=$point: the call ends with the connection") or diag "$out$err";
	check_after_crash("worker_crash=$point");
}
my ($out, $err) = ('', '');
eval { start_psql($node, \$out, \$err, "SET emogi.fault = 'worker_crash=run'", $count)->finish };
ok(connection_lost($err), 'worker_crash=run in a call that hits') or diag "$out$err";
check_after_crash('worker_crash=run in a call that hits');

# Transactions prepared before a crash end while graphs are cached after it.
foreach my $end ('ROLLBACK', 'COMMIT')
{
	my $old = $node->safe_psql('postgres', $count);
	$before = $old;
	$node->safe_psql('postgres', qq{
		BEGIN; INSERT INTO tree VALUES (1, 20001), (20001, 20002); PREPARE TRANSACTION 'insert';
		BEGIN; DELETE FROM tree WHERE dst = 3001; PREPARE TRANSACTION 'delete'});
	my ($out, $err) = ('', '');
	my ($psql, $pid) = hold_at($node, \$out, \$err, "found=$held", $call);
	kill 'KILL', $pid if $pid;
	eval { $psql->finish };
	wait_for_restart($node, "prepared, then $end");
	is($node->safe_psql('postgres', $call), 't', '... a call does not see prepared changes');
	# Potential writers from before registration are waited for; until then no graph is shared.
	like(join('|', served($node, $count)), qr/^$old\|(?:hit|private)$/, '... nor does the next');
	my $session = session($node);
	is($session->ask("BEGIN ISOLATION LEVEL REPEATABLE READ; $count"), $old, '... nor one in an open transaction');
	$node->safe_psql('postgres', "$end PREPARED 'insert'");
	$before += 2 if $end eq 'COMMIT';
	is($node->safe_psql('postgres', $count), $before, "... after $end of the first, its visibility is correct");
	is($node->safe_psql('postgres', $call), 't', '... and once more');
	$node->safe_psql('postgres', "$end PREPARED 'delete'");
	$before -= 1 if $end eq 'COMMIT';
	is($node->safe_psql('postgres', $count), $before, "... after $end of the second, too");
	is($session->ask("$count; COMMIT; $count"), "$old\n$before", '... and the open transaction sees it only after its end');
	$session->quit;
	is(join('|', served($node, $count)), "$before|hit", '... and cached again');
}

# A write after the crash, by a transaction that is running for the cached graph.
$node->safe_psql('postgres', q{BEGIN; INSERT INTO tree VALUES (1, 30001); PREPARE TRANSACTION 'late'});
is($node->safe_psql('postgres', $call), 't', 'a prepared transaction with a cached graph');
$node->stop('immediate');
$node->start;
like(join('|', served($node, $call)), qr/^t\|(?:built|private)$/, '... after an immediate stop');
like(join('|', served($node, $call)), qr/^t\|(?:hit|private)$/, '... once more');
$node->safe_psql('postgres', q{COMMIT PREPARED 'late'});
is($node->safe_psql('postgres', $count), $before + 1, '... visible after the commit');
is(join('|', served($node, $call)), 't|hit', '... and cached again');

# An unlogged table is empty after a crash, for emogi too; a graph from before it is not used.
$node->safe_psql('postgres', 'CREATE UNLOGGED TABLE scratch AS TABLE other');
isnt($node->safe_psql('postgres', $unlogged), '0', 'an unlogged table');
$node->stop('immediate');
$node->start;
is($node->safe_psql('postgres', $unlogged), '0', '... is empty after a crash');
is($node->safe_psql('postgres', "INSERT INTO scratch VALUES (1, 2); $unlogged"), '2', '... and written again');
is($node->safe_psql('postgres', $unlogged), '2', '... cached');
nothing_left($node, 'at the end');
$node->stop;
no_crash($node);

done_testing();
