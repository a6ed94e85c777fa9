# Killed workers, killed backends and shutdowns during a call: the next call is correct and the
# arena is empty.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use EmogiTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(sleep time);

my $node = emogi_node('main', "emogi.max_memory = '2GB'", 'restart_after_crash = on');
$node->safe_psql('postgres', q{
	CREATE TABLE big AS
	SELECT (hashint8(i)::bigint & 1048575) * 1000003 AS src, (hashint8(-i)::bigint & 1048575) * 1000003 AS dst
	FROM generate_series(1, 5000000) i;
	CREATE VIEW victim AS SELECT pid FROM pg_stat_activity
	WHERE application_name = 'victim' AND backend_type = 'client backend' AND query LIKE '%emogi_bfs%';
	CHECKPOINT});
my $call = q{SELECT count(*), sum(level), sum(vertex % 1009 * level) FROM emogi_bfs('big', (hashint8(1)::bigint & 1048575) * 1000003)};
my $start = time;
my $answer = $node->safe_psql('postgres', $call);
my $whole = time - $start;
like($answer, qr/^1\d{6}\|/, sprintf('an answer without interruption in %.2f s', $whole));

# Start the call in a separate session and return after a fraction of its time, with the harness and
# the backend's pid.
sub start_call
{
	my ($part, $out, $err, @then) = @_;
	my $psql = start_psql($node, $out, $err, "SET application_name = 'victim'", $call, @then);
	my $pid = '';

	wait_until(10, sub { ($pid = $node->safe_psql('postgres', 'SELECT pid FROM victim')) ne '' });
	sleep $part * $whole;
	return ($psql, $pid);
}

# The worker is terminated while a call waits for it.
foreach my $part (0.05, 0.3, 0.55, 0.8)
{
	my ($out, $err) = ('', '');
	my ($psql) = start_call($part, \$out, \$err);
	my $worker = worker_pid($node);

	ok($worker, 'there is a worker');
	kill 'TERM', $worker;
	$psql->finish;
	chomp $out;
	ok($err =~ /^ERROR:  58000$/m || $out eq $answer, "SIGTERM to the worker after $part of a call: " . ($err ? 'an error 58000' : 'a right answer'))
	  or diag "$out$err";
	answers_small($node, '... the next call is right');
	isnt(worker_pid($node), $worker, '... from a new worker');
	region_is_empty($node, '... and the arena is empty');
}

# Several times in a row, without a call.
foreach (1 .. 3)
{
	my $worker = worker_pid($node);
	kill 'TERM', $worker;
	ok(wait_until(10, sub { my $pid = worker_pid($node); $pid && $pid != $worker }), 'a terminated worker is restarted');
}
answers_small($node, '... and answers');

# A backend is killed during the build. If the call has already finished, its session sleeps, so that
# there is a crash.
foreach my $part (0.1, 0.5, 0.9)
{
	my ($out, $err) = ('', '');
	my ($psql, $pid) = start_call($part, \$out, \$err, 'SELECT pg_sleep(60)');

	kill 'KILL', $pid;
	eval { $psql->finish };
	wait_for_restart($node, "SIGKILL to a backend after $part of a call");
	answers_small($node, '... the next call is right');
	region_is_empty($node, '... and the arena is empty');
}

# The worker is killed.
foreach my $part (0.3, 0.8)
{
	my ($out, $err) = ('', '');
	my ($psql) = start_call($part, \$out, \$err);

	kill 'KILL', worker_pid($node);
	eval { $psql->finish };
	wait_for_restart($node, "SIGKILL to the worker after $part of a call");
	answers_small($node, '... the next call is right');
	region_is_empty($node, '... and the arena is empty');
}
is($node->safe_psql('postgres', $call), $answer, 'the complete answer is unchanged');

# The server is stopped during a call: smart waits for the call, fast and immediate do not.
foreach my $mode ('smart', 'fast', 'immediate')
{
	my ($out, $err) = ('', '');
	my ($psql) = start_call(0.5, \$out, \$err);

	$start = time;
	$node->stop($mode);
	cmp_ok(time - $start, '<', $mode eq 'smart' ? 20 + 3 * $whole : 10, sprintf('%s stop during a call takes %.2f s', $mode, time - $start));
	eval { $psql->finish };
	chomp $out;
	is($out, $answer, '... after its correct answer') if $mode eq 'smart';
	$node->start;
	answers_small($node, '... and after the start a call is right');
	region_is_empty($node, '... and the arena is empty');
}
is($node->safe_psql('postgres', $call), $answer, 'the complete answer is unchanged');
$node->stop;
no_crash($node);

done_testing();
