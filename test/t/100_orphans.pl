# The postmaster is killed, and then a process that holds a lock of emogi, so that the lock is never
# released: the engine exits nevertheless, and so do the sessions that need the lock of a trial's
# control block (trial.c) to attach or to exit. Then the server starts again.

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

my $seconds = 20;    # an orphan exits within 5 s, on a busy machine later
my @conf = ('emogi.notice_trial = off', 'fsync = off');
my @started;    # processes that would survive a failed test
END { local $?; kill 'KILL', grep { (readlink("/proc/$_/cwd") // '') =~ /100_orphans/ } @started }

my $devices = 'SELECT count(*) > 0 FROM emogi_devices';

# Has a process ended? A zombie has ended, too.
sub has_ended { return status_of($_[0], 'State') =~ /^Z?$/ }

# Wait until processes have ended, and kill the others, to free the server's memory.
sub all_end
{
	my ($name, @pids) = @_;
	my $start = time;

	ok(wait_until($seconds, sub { !grep { !has_ended($_) } @pids }), $name) or kill 'KILL', @pids;
	note sprintf 'after %.1f s', time - $start;
	wait_until(5, sub { !grep { !has_ended($_) } @pids });
}

# Get a session, and its pid.
sub session_with_pid
{
	my ($node) = @_;
	my $session = session($node);
	my $pid = $session->ask('SELECT pg_backend_pid()');

	push @started, $pid;
	return ($session, $pid);
}

# Stop processes, and run a command in a session. Returns true if the session then waits for one of
# them. `wait` is a query that detects this.
sub hold_lock
{
	my ($node, $pids, $session, $session_pid, $command, $wait) = @_;

	kill 'STOP', @$pids;
	wait_until(5, sub { !grep { status_of($_, 'State') ne 'T' } @$pids });
	$session->tell($command);
	return 0 if wait_until(0.1, sub { $session->is_done });
	$wait =~ s/PID/$session_pid/;
	return wait_until(1, sub { $session->is_done || $node->safe_psql('postgres', $wait) eq '1' }) && !$session->is_done;
}

# Kill the postmaster, and then processes.
sub kill_all
{
	my ($node, @pids) = @_;
	my $postmaster = postmaster_pid($node);

	$node->kill9;
	kill 'KILL', @pids;
	wait_until(10, sub { status_of($postmaster, 'State') eq '' });    # otherwise the next server would treat it as running
}

# Check that the server starts and answers calls.
sub starts_again
{
	my ($node) = @_;

	ok($node->start(fail_ok => 1), '... and the server starts again');
	answers_small($node, '... and answers');
}

my $call = q{SELECT count(*) FROM emogi_cc('small')};
# The lock has a name only in processes that use emogi.
my $waits_for_lock = q{SELECT count(*) FROM pg_stat_activity WHERE pid = PID AND wait_event_type = 'LWLock'};
# The lock of the control block is polled, which does not count as a lock wait; a session stopped
# with another lock is of no use.
my $tries_lock = q{SELECT count(*) FROM pg_stat_activity WHERE pid = PID AND state = 'active' AND wait_event_type = 'Extension'
	AND query_start < clock_timestamp() - interval '0.5 s'};

# ---- a lock of the shared state

# Kill the postmaster and a session that holds the lock of the slots, which the engine needs to
# exit.
sub test_shared_lock
{
	my ($node, $name) = @_;
	my ($victim, $victim_pid) = session_with_pid($node);
	my ($probe, $probe_pid) = session_with_pid($node);
	my ($caught, $tries) = (0, 0);

	$_->ask($call) foreach $victim, $probe;
	my $engine = worker_pid($node);
	$victim->tell(q{DO 'BEGIN LOOP PERFORM count(*) FROM emogi_progress; END LOOP; END'});
	while (!$caught && ++$tries <= 300)
	{
		sleep 0.01 + rand 0.02;
		$caught = hold_lock($node, [$victim_pid], $probe, $probe_pid, $call, $waits_for_lock);
		next if $caught;
		kill 'CONT', $victim_pid;
		$probe->answer;
	}
	ok($caught, "$name: a session is stopped with a lock") or return;
	note "the $tries. try";
	kill_all($node, $victim_pid);
	all_end('... the engine does not survive the postmaster and the holder of the lock', $engine);
	kill 'KILL', $probe_pid;    # like any lock wait of PostgreSQL
	all_end('... with all', $probe_pid);
	starts_again($node);
}

my $preloading = emogi_node('preloading', @conf, "emogi.max_memory = '256MB'");
test_shared_lock($preloading, 'preloaded');
$preloading->stop;
if (server_version() < 17)
{
	done_testing();
	exit;
}

$EmogiTest::preloads = 0;
my $node = emogi_node('trial', @conf, "emogi.max_memory = '256MB'");
answers_small($node, 'a trial');
test_shared_lock($node, 'a trial');

# ---- the lock of the control block, held by an attaching session

{
	my ($idle, $idle_pid) = session_with_pid($node);
	my ($caught, $tries, $probe, $probe_pid, @victims) = (0, 0);

	$idle->ask($devices);
	my $engine = worker_pid($node);
	while (!$caught && ++$tries <= 200)
	{
		@victims = map { [ session_with_pid($node) ] } 1 .. 6;
		($probe, $probe_pid) = session_with_pid($node);
		$_->ask(q{LOAD 'emogi'; SELECT 'emogi_devices'::regclass}) foreach $probe, map { $_->[0] } @victims;
		$_->[0]->tell($devices) foreach @victims;
		my $end = time + rand 0.002;
		1 while time < $end;
		$caught = hold_lock($node, [ map { $_->[1] } @victims ], $probe, $probe_pid, $devices, $tries_lock);
		last if $caught;
		kill 'CONT', map { $_->[1] } @victims;
		$_->quit foreach $probe, map { $_->[0] } @victims;
	}
	ok($caught, 'a session is stopped while it attaches');
	note "the $tries. try";
	kill_all($node, map { $_->[1] } @victims);
	all_end('... the engine, an attached session, and an attaching session exit', $engine, $idle_pid, $probe_pid);
	starts_again($node);
}

# ---- the lock of the control block, held by the engine that creates the shared state

$node->adjust_conf('postgresql.conf', 'emogi.max_memory', "'700GB'");    # so that this takes long: the shared state has 100 MB
$node->restart;
{
	my ($waiter, $waiter_pid) = session_with_pid($node);
	my $engine = 0;

	$waiter->ask(q{LOAD 'emogi'});
	$waiter->tell($devices);
	wait_until(10, sub { $engine = worker_pid($node) });
	my $has_file = wait_until(10, sub { grep { (readlink // '') =~ /memfd:emogi/ } glob "/proc/$engine/fd/*" });
	kill 'STOP', $engine;
	wait_until(5, sub { status_of($engine, 'State') eq 'T' });
	ok($has_file && slurp_file("/proc/$engine/maps") !~ /memfd:emogi/, 'the engine is stopped while it creates the shared state');
	kill_all($node, $engine);
	all_end('... the first call of the server ends', $waiter_pid);
	$node->adjust_conf('postgresql.conf', 'emogi.max_memory', "'256MB'");
	starts_again($node);
}

$node->stop;
done_testing();
