# A cold call is one request: the worker continues from the rows to the graph and to the run, while
# the backend publishes the graph. Requests are counted, answers equal those of separate requests,
# and an end of the call between the build and the end of the run leaves the cache and the arena
# unchanged.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use EmogiTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(sleep time);

my $node = crash_node('main', 'emogi.incremental_min_size = 0', "emogi.max_memory = '1GB'", 'max_parallel_workers_per_gather = 0');

# A large component, and a separate chain of three vertices: a search from there runs in the
# backend.
$node->safe_psql('postgres', q{
	CREATE TABLE e AS SELECT (hashint8(i)::bigint & 2047) AS src, (hashint8(-i)::bigint & 2047) AS dst, 1 + i % 72 AS w FROM generate_series(1, 20000) i;
	INSERT INTO e VALUES (5001, 5002, 1), (5002, 5003, 2);
	CREATE TABLE t AS SELECT 'v' || src AS src, 'v' || dst AS dst, w FROM e;
	CREATE TABLE n AS SELECT src::numeric AS src, dst::numeric AS dst, w FROM e;
	CREATE TABLE c AS SELECT src / 64 AS a1, (src % 64)::text AS a2, dst / 64 AS b1, (dst % 64)::text AS b2, w FROM e;
	CREATE TABLE l AS SELECT (hashint8(i)::bigint & 262143) AS src, (hashint8(-i)::bigint & 262143) AS dst FROM generate_series(1, 1000000) i;
	CREATE FUNCTION digest(query text) RETURNS text LANGUAGE plpgsql AS $$
	DECLARE
		answer text;
	BEGIN
		EXECUTE 'SELECT count(*) || '' '' || md5(string_agg(r::text, '';'' ORDER BY r::text)) FROM (SELECT * FROM ' || query || ' OFFSET 0) r' INTO answer;
		RETURN answer;
	END $$});

# Get the answer to a call with a cold or a warm cache, and the number of its requests.
sub ask_counted
{
	my ($call, $setting, $cold) = @_;
	my ($rc, $out, $err) = $node->psql('postgres', ($cold ? 'SELECT emogi_evict() \\g /dev/null' : '') . "\n$setting\nSET client_min_messages = debug2;\nSELECT digest(\$\$$call\$\$)");
	my $nrequests = () = $err =~ /emogi request/g;
	my $other = join("\n", grep { !/DEBUG:|^CONTEXT:|^SQL|^PL/ } split(/\n/, $err));

	return ($out . ($other =~ /ERROR/ ? $other : ''), $nrequests);
}

foreach my $case (
	[ 'e', '1', '', 'e(src, dst, w)' ], [ 't', q{'v1'}, '_text', 't(src, dst, w)' ],
	[ 'n', q{'1'}, '_text', 'n(src, dst, w)' ], [ 'c((a1, a2), (b1, b2))', q{'(0,1)'}, '_text', 'c((a1, a2), (b1, b2), w)' ])
{
	my ($graph, $vertex, $type, $weighted) = @$case;

	foreach my $call (
		"emogi_bfs('$graph', $vertex)", "emogi_sssp('$weighted', $vertex)", "emogi_pagerank$type('$graph')", "emogi_cc$type('$graph')",
		"emogi_bfs('$graph', $vertex, direction => 'both')", "emogi_scc$type('$graph')", "emogi_shortest_path('$weighted', $vertex, $vertex)")
	{
		# keys that only the type's comparison finds are looked up by the backend
		my $expected = $graph eq 'n' && $call =~ /bfs|sssp/ ? 2 : 1;
		my ($cold, $nrequests) = ask_counted($call, '', 1);
		my ($warm) = ask_counted($call, '', 0);
		# with a fault that never occurs, the worker leaves the memory of the CSR to the backend
		my ($apart) = ask_counted($call, q{SET emogi.fault = 'allocation=1000000';}, 1);
		my ($private) = ask_counted($call, 'SET emogi.enable_cache = off;', 1);

		is($nrequests, $expected, "$call: requests of a cold call");
		is($warm, $cold, "$call: warm");
		is($apart, $cold, "$call: CSR in a separate request");
		is($private, $cold, "$call: a private graph");
	}
}
region_is_empty($node, 'no memory is left');

# The backend answers, and the run is canceled.
is((ask_counted(q{emogi_bfs('e', 5001)}, '', 1))[0], (ask_counted(q{emogi_bfs('e', 5001)}, q{SET emogi.enable_local_search = off;}, 1))[0],
	'a small component: by the backend, and by the chained run');
is($node->safe_psql('postgres', q{SELECT emogi_evict() \g /dev/null
	SELECT count(*) FROM (SELECT * FROM emogi_bfs('e', 5001) OFFSET 0) r \g /dev/null
	SELECT engine FROM emogi_runs WHERE pid = pg_backend_pid() ORDER BY id DESC LIMIT 1}), 'backend', '... engine');
region_is_empty($node, '... and no memory is left');
is($node->safe_psql('postgres', q{SELECT count(*) FROM emogi_bfs('l', ARRAY[]::bigint[])}), '0', 'no source');
is((ask_counted(q{emogi_bfs('l', ARRAY[-5, 1, 1, 99999999])}, '', 1))[0], (ask_counted(q{emogi_bfs('l', ARRAY[1])}, '', 1))[0], 'sources that are not in the graph');

# Many concurrent cold calls: one builds, and its run continues concurrently with the others.
my (@psql, @out, @err);
$node->safe_psql('postgres', 'SELECT emogi_evict()');
foreach my $i (0 .. 5)
{
	($out[$i], $err[$i]) = ('', '');
	push @psql, start_psql($node, \$out[$i], \$err[$i], q{SELECT digest($$emogi_bfs('l', 1)$$)}, q{SELECT digest($$emogi_pagerank('l')$$)});
}
$_->finish foreach @psql;
is(scalar(grep { $_ eq $out[0] && /^\d+ \w+\n\d+ \w+\s*\z/ } @out), 6, 'six at once') or diag "@out @err";

# A graph derived from one with a dictionary: the sources are looked up in that dictionary, not in a
# later one.
$node->safe_psql('postgres', q{CREATE TABLE u AS SELECT 'u' || src AS src, 'u' || dst AS dst FROM e});
foreach my $setting ('', 'SET emogi.enable_incremental = off;')
{
	is((ask_counted(q{emogi_bfs('t', 'v1', direction => 'in')}, $setting . q{SELECT digest($$emogi_bfs('t', 'v1')$$) \g /dev/null
		SELECT count(*) FROM emogi_cc_text('u') \g /dev/null}, 1))[0],
		(ask_counted(q{emogi_bfs('t', 'v1', direction => 'in')}, '', 1))[0], "built from the graph of the other direction: $setting");
}

# The run continues while the backend has not published its graph, which it does even if it was
# canceled.
foreach my $graph ('e', 't', 'l')
{
	my $vertex = $graph eq 't' ? q{'v1'} : 1;

	foreach my $end ('pg_cancel_backend', 'pg_terminate_backend')
	{
		foreach my $point ('built', 'published')
		{
			my ($out, $err) = ('', '');
			$node->safe_psql('postgres', 'SELECT emogi_evict()');
			my ($psql, $pid) = hold_at($node, \$out, \$err, "$point=4000000", "SELECT digest(\$\$emogi_bfs('$graph', $vertex)\$\$)");
			wait_until(30, sub { $node->safe_psql('postgres', "SELECT wait_event FROM pg_stat_activity WHERE pid = $pid") eq 'PgSleep' });
			is($node->safe_psql('postgres', q{SELECT count(*) FROM emogi_graphs WHERE state = 'ready'}), $point eq 'built' ? '0' : '1', "$graph, $end at $point");
			$node->safe_psql('postgres', "SELECT $end($pid)");
			$psql->finish;
			like($err, $end eq 'pg_cancel_backend' ? qr/57014/ : qr/57P01|terminating|server closed/, '... the call ends');
			is((served($node, "SELECT count(*) FROM (SELECT * FROM emogi_bfs('$graph', $vertex) OFFSET 0) r"))[1], 'hit', '... and the graph is cached');
			nothing_left($node, "... $end at $point");
		}
	}
}

# A graph is shared while the run chained to its build continues, and after that run is canceled.
my $long = q{SELECT digest($$emogi_pagerank('l', max_iterations => 450, tolerance => 0)$$)};
foreach my $end ('pg_cancel_backend', 'pg_terminate_backend')
{
	my ($out, $err) = ('', '');
	$node->safe_psql('postgres', 'SELECT emogi_evict()');
	my $psql = start_psql($node, \$out, \$err, q{SET application_name = 'long'}, $long);
	ok(wait_until(10, sub { $node->safe_psql('postgres', q{SELECT count(*) FROM emogi_graphs WHERE state = 'ready' AND pins > 0}) eq '1' }), "$end: published while the run continues");
	is((served($node, q{SELECT count(*) FROM (SELECT * FROM emogi_bfs('l', 1, direction => 'in') OFFSET 0) r}))[1], 'hit', '... for others');
	$node->safe_psql('postgres', qq{SELECT $end(pid) FROM pg_stat_activity WHERE application_name = 'long' AND backend_type = 'client backend'});
	$psql->finish;
	nothing_left($node, "... $end in the run");
}

# The worker exits at a step: before the CSR is complete without a graph, during the run with one.
foreach my $graph ('e', 't', 'l')
{
	my $vertex = $graph eq 't' ? q{'v1'} : 1;

	foreach my $point ('dictionary', 'pack', 'keys', 'csr', 'run', 'done')
	{
		next if $point eq 'dictionary' && $graph ne 't';
		$node->safe_psql('postgres', 'SELECT emogi_evict()');
		my ($state) = sqlstate($node, "SET emogi.fault = 'worker_exit=$point'; SELECT digest(\$\$emogi_bfs('$graph', $vertex)\$\$)");
		is($state, '58000', "worker_exit=$point, $graph: an error");
		is($node->safe_psql('postgres', q{SELECT count(*) FROM emogi_graphs WHERE state = 'ready'}), $point eq 'run' || $point eq 'done' ? '1' : '0', '... graphs in the cache');
		is((served($node, "SELECT count(*) FROM (SELECT * FROM emogi_bfs('$graph', $vertex) OFFSET 0) r"))[1], $point eq 'run' || $point eq 'done' ? 'hit' : 'built', '... the next call');
		nothing_left($node, "... worker_exit=$point");
	}
}

# Each allocation of the engine fails once.
my $whole = (ask_counted(q{emogi_bfs('t', 'v1')}, '', 1))[0];
my $nfailed = 0;
foreach my $n (1 .. 40)
{
	my ($answer) = ask_counted(q{emogi_bfs('t', 'v1')}, "SET emogi.fault = 'engine_allocation=$n';", 1);
	$nfailed++ if $answer ne $whole;
	ok($answer eq $whole || $answer =~ /out of memory|memory/i, "engine_allocation=$n") or diag $answer;
}
cmp_ok($nfailed, '>', 1, 'some of them failed');
nothing_left($node, 'engine_allocation');

# The server goes through a crash.
foreach my $point ('run', 'csr')
{
	my ($out, $err) = ('', '');
	$node->safe_psql('postgres', 'SELECT emogi_evict()');
	start_psql($node, \$out, \$err, "SET emogi.fault = 'worker_crash=$point'", q{SELECT digest($$emogi_bfs('e', 1)$$)})->finish;
	ok(connection_lost($err), "worker_crash=$point: the connection ends") or diag "$out$err";
	wait_for_restart($node, "worker_crash=$point");
	answers_small($node, '... and a call is right');
}
nothing_left($node, 'crashes');

done_testing();
