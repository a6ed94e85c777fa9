# The server is stopped, and sessions are canceled, terminated or disconnected, while a graph is
# built, while others wait for that build, and while a call runs: continuing sessions get correct
# answers, others an error, and no resources are left behind.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use EmogiTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(sleep time);

my $node = crash_node('main', "emogi.max_memory = '1GB'", 'emogi.engine = cpu', 'emogi.cpu_threads = 2');	# long enough on any machine
make_checked($node, 'tree', 3000);
$node->safe_psql('postgres', q{
	CREATE TABLE big AS SELECT (hashint8(i)::bigint & 524287) * 1000003 AS src, (hashint8(-i)::bigint & 524287) * 1000003 AS dst
	FROM generate_series(1, 2000000) i;
	CREATE FUNCTION whole(graph text) RETURNS text LANGUAGE sql STABLE AS
	$$ SELECT concat_ws(' ', count(*), sum(level), sum(vertex % 1009 * level)) FROM emogi_bfs(graph, (hashint8(1)::bigint & 524287) * 1000003) $$;
	CHECKPOINT});
my $call = q{SELECT whole('big')};
my $run = q{SELECT count(*) FROM emogi_pagerank('tree', max_iterations => 100000000, tolerance => 0)};
my $answer = $node->safe_psql('postgres', $call);
my @sessions;

# Start a session with some commands; answer() and error() return the results.
sub start_session
{
	my ($name, @commands) = @_;
	my ($out, $err) = ('', '');
	my $session = { out => \$out, err => \$err, name => $name };

	$session->{psql} = start_psql($node, \$out, \$err, "SET application_name = '$name'", @commands);
	push @sessions, $session;
	return $session;
}

# Wait until the sessions of that name are in their last command.
sub wait_active
{
	my ($name, $n) = @_;

	ok(wait_until(10, sub {
		$_->{psql}->pump_nb foreach @sessions;
		$node->safe_psql('postgres', qq{SELECT count(*) FROM pg_stat_activity WHERE application_name = '$name' AND state = 'active'
			AND backend_type = 'client backend' AND query LIKE '%SELECT%' AND clock_timestamp() - query_start > '150 ms'}) eq $n }), "$n sessions are busy: $name");
}

# Wait for the end of a session; returns its output, including errors.
sub result
{
	my ($session) = @_;

	eval { $session->{psql}->finish };
	@sessions = grep { $_ != $session } @sessions;
	my $out = ${ $session->{out} } . ${ $session->{err} };
	chomp $out;
	return $out;
}

# Send a signal to the session of that name, by SQL.
sub signal_session
{
	my ($function, $name) = @_;

	is($node->safe_psql('postgres', "SELECT count($function(pid)) FROM pg_stat_activity WHERE application_name = '$name' AND backend_type = 'client backend'"), '1', "$function: $name");
}

# Check that a stopped server restarts cleanly.
sub check_start
{
	my ($name) = @_;

	$node->start;
	is_right($node, 'tree', "$name: after the start a call is right");
	is(join('|', served($node, $call)), "$answer|built", "$name: the interrupted call is right, and builds");
	is(join('|', served($node, $call)), "$answer|hit", "$name: and then hits");
	nothing_left($node, $name);
}

# Stop during a build that others wait for, and during a run. A smart stop waits for all sessions,
# so none may hang.
foreach my $mode ('fast', 'immediate', 'smart')
{
	$node->safe_psql('postgres', 'SELECT emogi_evict()');
	my $open = $mode eq 'smart' ? undef : session($node);
	$open->ask(q{BEGIN; DECLARE c CURSOR FOR SELECT * FROM emogi_bfs('tree', 1); FETCH 1 FROM c}) if $open;
	start_session('runner', $run) if $open;
	start_session('builder', q{SET emogi.fault = 'registered=2000000'}, $call);
	wait_active('builder', 1);
	start_session('waiter', $call) foreach 1 .. 2;
	wait_active('waiter', 2);
	my $start = time;
	$node->stop($mode);
	cmp_ok(time - $start, '<', 30, sprintf('%s stop during a build takes %.2f s', $mode, time - $start));
	foreach my $session (@{ [@sessions] })
	{
		my $out = result($session);
		ok($mode eq 'smart' ? $out eq $answer : connection_lost($out), "$mode stop: the $session->{name} " . ($mode eq 'smart' ? 'has its answer' : 'is told'))
		  or diag $out;
	}
	eval { $open->quit } if $open;
	check_start("$mode stop during a build");

	start_session('runner', $mode eq 'smart' ? q{SELECT count(*) FROM emogi_pagerank('big', max_iterations => 100, tolerance => 0)} : $run) foreach 1 .. 2;
	wait_active('runner', 2);
	$start = time;
	$node->stop($mode);
	cmp_ok(time - $start, '<', 40, sprintf('%s stop during a run takes %.2f s', $mode, time - $start));
	foreach my $session (@{ [@sessions] })
	{
		my $out = result($session);
		like($out, $mode eq 'smart' ? qr/^\d+$/ : qr/57P01|57P02|server closed|terminating/, "$mode stop: the $session->{name}");
	}
	check_start("$mode stop during a run");
}

# The builder is canceled or terminated while others wait: one of them builds, all others answer.
foreach my $function ('pg_cancel_backend', 'pg_terminate_backend')
{
	foreach my $point ('registered', 'built')
	{
		my $name = "$function of the builder, $point";
		$node->safe_psql('postgres', 'SELECT emogi_evict()');
		my $builder = start_session('builder', "SET emogi.fault = '$point=2000000'", $call);
		wait_active('builder', 1);
		my @waiters = map { start_session('waiter', $call) } 1 .. 3;
		wait_active('waiter', 3);
		signal_session($function, 'builder');
		like(result($builder), $function =~ /cancel/ ? qr/^ERROR:  57014$/ : qr/57P01/, "$name: it gets the error");
		is(result($_), $answer, "$name: a waiter has its answer") foreach @waiters;
		is(join('|', served($node, $call)), "$answer|hit", "$name: the graph is cached");
		nothing_left($node, $name);
	}
}

# A waiter is canceled, terminated, times out, or disconnects: the builder and other waiters are not
# affected.
foreach my $way ('pg_cancel_backend', 'pg_terminate_backend', 'statement_timeout', 'a disconnected client')
{
	my $name = "$way of a waiter";
	$node->safe_psql('postgres', 'SELECT emogi_evict(); SELECT emogi_reset()');
	my $builder = start_session('builder', q{SET emogi.fault = 'registered=3000000'}, $call);
	wait_active('builder', 1);
	my $other = start_session('other', $call);
	my $waiter = start_session('waiter', 'SET client_connection_check_interval = 100', $way eq 'statement_timeout' ? 'SET statement_timeout = 400' : 'SELECT', $call);
	if ($way eq 'statement_timeout') { }
	elsif ($way =~ /client/)
	{
		wait_active('waiter', 1);
		$waiter->{psql}->kill_kill(grace => 0);
		ok(wait_until(2, sub { $node->safe_psql('postgres', q{SELECT count(*) FROM pg_stat_activity WHERE application_name = 'waiter'}) eq '0' }), "$name: its backend is gone");
		@sessions = grep { $_ != $waiter } @sessions;
	}
	else
	{
		wait_active('waiter', 1);
		signal_session($way, 'waiter');
	}
	like(result($waiter), $way eq 'pg_terminate_backend' ? qr/57P01/ : qr/^ERROR:  57014$/, "$name: it gets the error") unless $way =~ /client/;
	is($node->safe_psql('postgres', q{SELECT count(*) FROM pg_stat_activity WHERE application_name = 'builder' AND state = 'active'}), '1', "$name: the builder continues");
	is(result($builder), $answer, "$name: the builder has its answer");
	is(result($other), $answer, "$name: so has another waiter");
	is(join('|', served($node, $call)), "$answer|hit", "$name: the graph is cached");
	cmp_ok($node->safe_psql('postgres', 'SELECT waits FROM emogi_cache'), '>=', 1, "$name: emogi_cache counts the wait");
	nothing_left($node, $name);
}

# Sessions that stop before reading all rows.
my $cursor = q{BEGIN; DECLARE c CURSOR FOR SELECT * FROM emogi_bfs('big', (hashint8(1)::bigint & 524287) * 1000003); FETCH 1 FROM c};
foreach my $way ('idle_in_transaction_session_timeout', 'pg_terminate_backend', 'pg_cancel_backend and ROLLBACK', 'a disconnected client', 'evicted meanwhile')
{
	my $session = session($node);
	like($session->ask("SET application_name = 'reader'; $cursor"), qr/^-?\d+\|\d+$/, "$way with a cursor open: a first row");
	if ($way =~ /^idle/)
	{
		$session->ask("COMMIT; SET $way = 300; $cursor");
		sleep 0.7;
		like((eval { $session->ask('FETCH 1 FROM c') } // $@), qr/25P03|terminating|session has ended|ended prematurely/, '... the session is ended');
	}
	elsif ($way =~ /^(pg_\w+)/)
	{
		signal_session($1, 'reader');
		like($session->ask('FETCH 1 FROM c; ROLLBACK; SELECT 1'), qr/1$/, '... canceled while idle: no effect') if $way =~ /cancel/;
	}
	elsif ($way =~ /client/)
	{
		$session->{run}->kill_kill(grace => 0);
	}
	else
	{
		$node->safe_psql('postgres', q{SELECT emogi_evict('big')});
		is(join('|', served($node, $call)), "$answer|built", '... built again beside it');
		is($session->ask('MOVE ALL FROM c; MOVE ABSOLUTE 2 FROM c; FETCH 1 FROM c; COMMIT; SELECT 1') =~ /1$/ ? 1 : 0, 1, '... it has its rows');
	}
	if ($way !~ /cancel|evicted/)
	{
		ok(wait_until(5, sub { $node->safe_psql('postgres', q{SELECT count(*) FROM pg_stat_activity WHERE application_name = 'reader'}) eq '0' }), '... its backend is gone');
	}
	eval { $session->quit };
	is_right($node, 'tree', '... another call is right');
	nothing_left($node, "$way with a cursor open");
}

# Cursors and savepoints: objects created in a subtransaction are dropped with it, older ones stay.
my $session = session($node);
is($session->ask(q{BEGIN; DECLARE c CURSOR FOR SELECT vertex FROM emogi_bfs('tree', 1); SAVEPOINT a; FETCH 1 FROM c; ROLLBACK TO a; FETCH 2 FROM c;
	SAVEPOINT b; DECLARE d CURSOR FOR SELECT vertex FROM emogi_bfs('tree', 1, direction => 'both'); FETCH 1 FROM d; ROLLBACK TO b; FETCH 1 FROM c}), "1\n2\n3\n1\n4", 'cursors and savepoints');
is($session->ask(q{SELECT emogi_evict('tree') IS NULL; SELECT emogi_evict() IS NULL; FETCH 1 FROM c; COMMIT; SELECT 'done'}), "f\nf\n5\ndone",
	'... emogi_evict() in the session of the cursor waits for nothing');

# Nested calls: in a graph's query, in start values, for each row of a query, and in sessions that
# need each other's tables.
make_checked($node, 'other', 2000);
foreach my $call (
	[ 3001, q{SELECT count(*) FROM emogi_heat('tree', 'SELECT vertex, 1.0 FROM emogi_bfs(''tree'', 1)', max_iterations => 3)} ],
	[ 3003, q{SELECT count(*) FROM emogi_bfs('SELECT vertex, vertex + 1 FROM emogi_bfs(''SELECT vertex, vertex + 1 FROM emogi_bfs(''''tree'''', 1)'', 1)', 1)} ],
	[ 3001, q{SELECT count(*) FROM emogi_bfs('SELECT src, dst FROM tree WHERE emogi_evict() IS NOT NULL', 1)} ],
	[ 3001, q{SELECT count(*) FROM emogi_heat('tree', 'SELECT 1, 1.0 + 0 * emogi_evict()', max_iterations => 2)} ],
	[ 100, q{SELECT count(*) FROM generate_series(1, 100) g, LATERAL (SELECT count(*) FROM emogi_bfs('tree', g)) l} ])
{
	$session->ask('SELECT emogi_evict()');
	is($session->ask("SET statement_timeout = '20s'; $call->[1]; $call->[1]"), "$call->[0]\n$call->[0]", "nested calls: $call->[1]");
}
my @others = map { session($node) } 1 .. 4;
foreach my $round (1 .. 5)
{
	$session->ask('SELECT emogi_evict()');
	foreach my $i (0 .. 3)
	{
		my ($one, $two) = $i % 2 ? ('tree', 'other') : ('other', 'tree');
		$others[$i]->tell("SET statement_timeout = '20s'; SELECT count(*) FROM emogi_heat('$one', 'SELECT vertex, 1.0 FROM emogi_bfs(''$two'', 1)', max_iterations => 2)");
	}
	is(join(' ', map { $_->answer } @others), '2001 3001 2001 3001', 'sessions that need each other\'s tables');
}
$_->quit foreach @others;
$session->quit;
nothing_left($node, 'after nested calls');

# A parallel worker of a build is terminated while others wait: only the builder gets an error.
{
	my $killed = 0;
	my $builder = start_session('builder', $call);
	my @waiters = map { start_session('waiter', $call) } 1 .. 2;
	wait_until(5, sub {
		$builder->{psql}->pump_nb;
		$killed = $node->safe_psql('postgres', q{SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE backend_type = 'parallel worker'});
		return $killed || !$builder->{psql}->pumpable });
	my @results = map { result($_) } $builder, @waiters;
	like($_, qr/^(?:\Q$answer\E|ERROR:  57P01)$/, 'parallel workers are terminated: correct, or an error') foreach @results;
	is(join('|', served($node, $call)) =~ /^\Q$answer\E\|/ ? 1 : 0, 1, '... and then a correct answer');
	nothing_left($node, 'after terminated parallel workers');
}

# Rows of a holdable cursor survive their transaction and the cached graph.
$session = session($node);
$session->ask(q{BEGIN; DECLARE h CURSOR WITH HOLD FOR SELECT vertex FROM emogi_bfs('tree', 1); COMMIT});
$node->safe_psql('postgres', q{SELECT emogi_evict(); CREATE TABLE copy AS TABLE tree; TRUNCATE tree});
is(scalar(() = $session->ask('FETCH ALL FROM h') =~ /^\d+$/mg), 3001, 'a holdable cursor');
$session->quit;
$node->safe_psql('postgres', 'INSERT INTO tree TABLE copy');
is_right($node, 'tree', 'and a correct answer');
nothing_left($node, 'at the end');
$node->stop;
no_crash($node);

done_testing();
