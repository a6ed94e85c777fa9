# The engine worker logs when it is ready, and its configuration. It exits with code 0 when the
# server stops, and is otherwise restarted.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use EmogiTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = emogi_node('main', "emogi.max_memory = '256MB'", 'emogi.cpu_threads = 3', 'log_min_messages = debug1');
my $ended = qr/background worker "emogi engine" \(PID \d+\) exited with exit code (\d+)/;
my $from = 0;

# The exit codes of engine workers since the last call.
sub codes
{
	my $log = slurp_file($node->logfile);
	my $new = substr($log, $from);

	$from = length $log;
	return join(' ', $new =~ /$ended/g);
}

answers_small($node, 'a call');
my @ready = slurp_file($node->logfile) =~ /LOG:  (emogi .* is ready: .*)/g;
is(scalar(@ready), 1, 'one line when it is ready');
like($ready[0], qr/^emogi \d+\.\d+\.\d+ is ready: emogi\.engine = auto, 3 threads, emogi\.max_memory = 256MB, no huge pages, (?:GPU: \S.*|no GPU: \S.*)$/, '... with its configuration');
is(codes(), '', 'it has not exited');

my $pid = worker_pid($node);
kill 'TERM', $pid;
ok(wait_until(20, sub { my $next = worker_pid($node); $next && $next != $pid }), 'after an external signal it is restarted');
answers_small($node, '... and answers');
is(codes(), '1', '... after exit code 1');

foreach my $mode ('fast', 'smart')
{
	$node->stop($mode);
	is(codes(), '0', "$mode stop: exit code 0");
	$node->start;
	answers_small($node, '... and after the start a call is right');
}

# The same during a run, which is stopped.
my ($out, $err) = ('', '');
my $psql = start_psql($node, \$out, \$err, q{SELECT count(*) FROM emogi_pagerank('small', max_iterations => 2000000000, tolerance => 0)});
ok(wait_until(10, sub { $node->safe_psql('postgres', q{SELECT count(*) FROM emogi_progress WHERE state = 'running'}) eq '1' }), 'a run is in progress');
$node->stop('fast');
eval { $psql->finish };
is(codes(), '0', 'fast stop during a run: exit code 0');
no_crash($node);

done_testing();
