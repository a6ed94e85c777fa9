# The engine worker is terminated, killed and stopped while sessions call continuously, and exits at
# each step of a request: answers are correct or an error that reports it, cached graphs survive
# their worker, and short calls overtake long ones.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use EmogiTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(sleep time);

my $node = crash_node('main', 'emogi.incremental_min_size = 1MB', "emogi.max_memory = '1GB'");
my $clients = 6;
make_checked($node, 'tree', 3000);
make_checked($node, 'other', 20000);
$node->safe_psql('postgres', q{
	CREATE TABLE big AS SELECT (hashint8(i)::bigint & 262143) * 1000003 AS src, (hashint8(-i)::bigint & 262143) * 1000003 AS dst
	FROM generate_series(1, 1000000) i;
	CREATE FUNCTION whole(graph text) RETURNS text LANGUAGE sql STABLE AS
	$$ SELECT concat_ws(' ', count(*), sum(level), sum(vertex % 1009 * level)) FROM emogi_bfs(graph, (hashint8(1)::bigint & 262143) * 1000003) $$;
	CREATE TABLE answer AS SELECT whole('big');
	CHECKPOINT});

# Each client repeats its calls, in a new session after each round and each lost connection.
my $stop = $node->basedir . '/stop';
my $calls = $node->basedir . '/calls.sql';
append_to_file($calls, join("\n", map { qq{
	SELECT verdict('tree');
	SELECT count(*) = 1000 FROM emogi_bfs('SELECT i / 2, i FROM generate_series(2, 1000) i', 1);
	SELECT verdict('other');
	SELECT whole('big') = whole FROM answer;
	SELECT whole('SELECT src, dst FROM big') = whole FROM answer;
	INSERT INTO tree SELECT 1, max(dst) + 1 FROM tree;
	SELECT verdict('tree');
	SELECT bool_and(value IS NOT NULL) FROM emogi_heat('tree', 'VALUES (1, 1.0)', max_iterations => 5);
	SELECT count(*) = 1 FROM emogi_shortest_path('tree', 1, 1);} } 1 .. 5));

my (@out, @err, @psql);
sub start_clients
{
	unlink $stop;
	foreach my $me (0 .. $clients - 1)
	{
		($out[$me], $err[$me]) = ('', '');
		$psql[$me] = IPC::Run::start([ 'bash', '-c',
			'until [ -e "$0" ] || [ ! -d "${0%/*}" ]; do psql -XAtq -v VERBOSITY=sqlstate -d "$1" -f "$2" || sleep 0.05; done', $stop, $node->connstr('postgres'), $calls ],
			'<', \'', '>', \$out[$me], '2>', \$err[$me], IPC::Run::timeout(180));
	}
}

# Stop the clients and check their output.
sub check_clients
{
	my ($name, @allowed) = @_;
	my ($right, $wrong, %states) = (0, 0);

	append_to_file($stop, '');
	$_->finish foreach @psql;
	foreach my $me (0 .. $clients - 1)
	{
		my $mine = () = $out[$me] =~ /^t$/mg;
		cmp_ok($mine, '>', 0, "$name: client $me got $mine right answers");
		foreach my $line (grep { $_ ne 't' } split /\n/, $out[$me]) { $wrong++, diag "client $me: $line" }
		foreach my $line (split /\n/, $err[$me])
		{
			if ($line =~ /(?:ERROR|FATAL|PANIC):\s+(\w{5})$/) { $states{$1}++ }
			elsif ($line !~ /^\s|^psql:.*(?:connection to server|server closed|terminating|WARNING|connection was lost|no connection)|the database system is|^DETAIL|^$/)
			{
				$states{$line}++;
			}
		}
	}
	is($wrong, 0, "$name: no wrong answer");
	note "$name: $_ $states{$_} times" foreach sort keys %states;
	delete @states{@allowed};
	is(join(' ', %states), '', "$name: no other errors than @allowed");
	is_right($node, 'tree', "$name: then a correct answer");
	is_right($node, 'other', "$name: and another");
	is($node->safe_psql('postgres', q{SELECT whole('big') = whole FROM answer}), 't', "$name: and a large one");
	nothing_left($node, $name);
}

# Wait for a worker while reading the clients' output.
sub next_worker
{
	my $pid;

	ok(wait_until(20, sub { $_->pump_nb foreach @psql; $pid = worker_pid($node) }), 'there is a worker');
	return $pid;
}

# Sleep while reading the clients' output.
sub pause
{
	my ($seconds) = @_;

	wait_until($seconds, sub { $_->pump_nb foreach @psql; 0 });
}

start_clients();
pause(0.5);
foreach my $round (1 .. 7)
{
	kill 'TERM', next_worker();
	pause(0.3 + 0.13 * ($round % 4));
}
foreach my $round (1 .. 7)
{
	my $pid = next_worker();
	kill 'STOP', $pid;
	pause(0.05 + 0.11 * ($round % 4));
	kill 'CONT', $pid;
	pause(0.2);
}
check_clients('SIGTERM and SIGSTOP', '58000');

start_clients();
foreach my $round (1 .. 6)
{
	pause(0.3 + 0.17 * ($round % 3));
	wait_until(20, sub { my ($rc, $out) = $node->psql('postgres', 'SELECT 1'); ($rc // 1) == 0 });
	kill 'KILL', next_worker();
	pause(0.4);
}
wait_for_restart($node, 'SIGKILL');
pause(0.5);
check_clients('SIGKILL', '58000', '57P01', '57P02', '57P03', '08006');

# The worker exits at each step of a request: its call fails or is correct, the next is correct, and
# cached graphs are still hit.
foreach my $point ('keys', 'csr', 'expand', 'run', 'done')
{
	foreach my $graph ('other', 'SELECT src, dst FROM other')
	{
		next if $point eq 'expand' && $graph ne 'other';
		my $name = "worker_exit=$point, $graph";
		my $direction = $point eq 'expand' ? 'both' : 'out';
		is_right($node, 'tree', "$name: cached before");
		$node->safe_psql('postgres', q{SELECT emogi_evict('other')});
		is_right($node, 'other', "$name: the whole graph cached before") if $point eq 'expand';
		my $worker = worker_pid($node);
		my ($state, $message) = sqlstate($node, "SET emogi.fault = 'worker_exit=$point'; SELECT count(*) FROM emogi_bfs('$graph', 1, direction => '$direction')");
		is($state, '58000', "$name: an error") or diag $message;
		is(join('|', served($node, q{SELECT verdict('tree')})), 't|hit', "$name: a cached graph is still hit");
		is_right($node, 'other', "$name: the next call is right");
		isnt(worker_pid($node), $worker, "$name: from a new worker");
		is($node->safe_psql('postgres', q{SELECT count(*) FROM emogi_graphs WHERE pins > 0 OR state <> 'ready'}), '0', "$name: no pin, no build");
	}
}
nothing_left($node, 'worker_exit');

# Without faults, a worker continues when another session's calls fail repeatedly.
my $worker = worker_pid($node);
my ($out, $err) = ('', '');
my $psql = start_psql($node, \$out, \$err, "SET emogi.fault = 'engine_allocation=1'", map { q{SELECT count(*) FROM emogi_bfs('VALUES (1, 2)', 1)} } 1 .. 5);
is_right($node, 'tree', 'with a session whose calls fail') foreach 1 .. 5;
$psql->finish;
is(worker_pid($node), $worker, '... by the same worker');

# Short calls are answered while long ones run.
$node->safe_psql('postgres', q{SELECT verdict('tree'), count(*) FROM emogi_bfs('big', 1)});
my (@long, @longout, @longerr);
foreach my $i (0 .. 2)
{
	($longout[$i], $longerr[$i]) = ('', '');
	push @long, start_psql($node, \$longout[$i], \$longerr[$i], "SET application_name = 'long'",
		q{SELECT count(*) FROM emogi_pagerank('big', max_iterations => 1000000, tolerance => 0)});
}
my $busy = q{SELECT count(*) FROM pg_stat_activity WHERE application_name = 'long' AND state = 'active' AND query LIKE '%emogi_pagerank%'};
ok(wait_until(10, sub { $node->safe_psql('postgres', $busy) eq '3' }), 'three long calls are running');
sleep 1;
my $start = time;
is_right($node, 'tree', "a concurrent short call: $_") foreach 1 .. 10;
is($node->safe_psql('postgres', q{SELECT count(*) FROM emogi_bfs('SELECT i / 2, i FROM generate_series(2, 50000) i', 1)}), '50000', '... and one on a query');
is($node->safe_psql('postgres', q{INSERT INTO tree VALUES (1, 999999); SELECT verdict('tree')}), 't', '... and one that builds');
is($node->safe_psql('postgres', $busy), '3', sprintf('the short calls were answered in %.2f s, the long ones are still running', time - $start));
ok($node->safe_psql('postgres', q{SELECT count(*) FILTER (WHERE function LIKE '%pagerank%' AND state = 'running' AND phase = 'run') > 0 FROM emogi_progress}) eq 't', 'emogi_progress shows them');
is($node->safe_psql('postgres', q{SELECT count(pg_cancel_backend(pid)) FROM pg_stat_activity WHERE application_name = 'long'}), '3', 'canceled');
$_->finish foreach @long;
is(join('', @longout, @longerr), "ERROR:  57014\n" x 3, '... with an error');
nothing_left($node, 'fairness');
is(worker_pid($node), $worker, '... all by the same worker');
$node->stop;
no_crash($node);

done_testing();
