# The n-th allocation fails, for n = 1, 2, 3, ... until there are no more: each time a clean error
# 53200, no resources are left behind, and the next call is correct.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use EmogiTest;
use IPC::Run;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = crash_node('main', "emogi.max_memory = '256MB'", 'emogi.cpu_threads = 2', 'emogi.enable_local_search = off');	# each thread allocates
my $step = 12;      # number of n per psql
my $most = 240;     # upper bound of the allocations of a call

# ends: keys that must be sorted, with a dictionary; parts and tree: the same in partitions and by
# inheritance.
$node->safe_psql('postgres', q{
	CREATE TABLE dense AS SELECT i / 2 AS src, i AS dst, (i % 7)::float8 AS weight FROM generate_series(2, 3001) i;
	CREATE TABLE sparse AS SELECT src * 1000000007 AS src, dst * 1000000007 AS dst, weight + 0.1 AS weight FROM (SELECT src::bigint, dst::bigint, weight FROM dense) d;
	CREATE TABLE parts (src bigint, dst bigint, weight float8) PARTITION BY HASH (src);
	CREATE TABLE part1 PARTITION OF parts FOR VALUES WITH (MODULUS 3, REMAINDER 0);
	CREATE TABLE part2 PARTITION OF parts FOR VALUES WITH (MODULUS 3, REMAINDER 1);
	CREATE TABLE part3 PARTITION OF parts FOR VALUES WITH (MODULUS 3, REMAINDER 2);
	INSERT INTO parts TABLE sparse;
	CREATE FUNCTION is_empty() RETURNS bool LANGUAGE plpgsql AS $$
	BEGIN
		FOR i IN 1 .. 200 LOOP
			IF (SELECT used_bytes = 0 FROM emogi_devices WHERE device = -1) THEN
				RETURN true;
			END IF;
			PERFORM pg_sleep(0.01);
		END LOOP;
		RETURN false;
	END $$});

my %calls = (
	bfs => q{SELECT 'answer', count(*), sum(level) FROM emogi_bfs('GRAPH', 1000000007)},
	sssp => q{SELECT 'answer', count(*), sum(distance) FROM emogi_sssp('GRAPH', 1000000007)},
	ssnsp => q{SELECT 'answer', count(*), sum(paths) FROM emogi_ssnsp('GRAPH', 1000000007, direction => 'both')},
	sswp => q{SELECT 'answer', count(*), count(width) FROM emogi_sswp('GRAPH', ARRAY[1000000007])},
	cc => q{SELECT 'answer', count(*), sum(component) FROM emogi_cc('GRAPH')},
	pagerank => q{SELECT 'answer', count(*), round(sum(rank)::numeric, 6) FROM emogi_pagerank('GRAPH')},
	heat => q{SELECT 'answer', count(*), count(value) FROM emogi_heat('GRAPH', 'SELECT 1000000007, 1.0', max_iterations => 5)},
	neural => q{SELECT 'answer', count(*), count(value) FROM emogi_neural('GRAPH', 'SELECT 1000000007, 1.0', max_iterations => 5)},
	path => q{SELECT 'answer', count(*), max(seq) FROM emogi_shortest_path('GRAPH', 1000000007, 3000000021)});

# Try n = 1, 2, 3, ... on a new, or a cached, table. Three successive calls without an error mean
# that there are no more allocations.
sub check_faults
{
	my ($fault, $function, $graph, $warm) = @_;
	my $name = "$fault, $function('$graph')" . ($warm ? ", $warm" : '');
	my $call = $calls{$function} =~ s/GRAPH/$graph/r;
	my $right = $node->safe_psql('postgres', $call);
	my ($failed, $n, $good) = (0, 1, 0);
	my @problems;

	$warm = $warm ? $calls{bfs} =~ s/GRAPH/$graph/r : 'SELECT';
	while ($good < 3 && $n < $most)
	{
		my $sql = "SET client_min_messages = warning;\n";
		foreach my $i ($n .. $n + $step - 1)
		{
			$sql .= "SELECT emogi_evict() IS NULL; $warm;\n\\echo round $i\nSET emogi.fault = '$fault=$i';\n$call;\nSET emogi.fault = '';\n"
			  . "SELECT 'graphs', count(*) FROM emogi_graphs WHERE pins > 0 OR state <> 'ready';\n$call;\nSELECT emogi_evict() IS NULL;\nSELECT 'empty', is_empty();\n";
		}
		my $out = '';
		IPC::Run::run([ 'psql', '-XAtq', '-v', 'VERBOSITY=sqlstate', '-d', $node->connstr('postgres') ], '<', \$sql, '>&', \$out);
		foreach my $round (split /^round /m, $out =~ s/\A.*?^(?=round )//msr)
		{
			next if $round eq '';
			$round =~ s/\A(\d+)\n// or next;
			my $i = $1;
			my $tail = "graphs|0\n$right\nf\nempty|t\n";
			$round =~ s/^(?:psql:\S+ )?(ERROR)/$1/mg;
			$round .= "\n" unless $round =~ /\n\z/;
			# followed by the next round's preparation
			if ($round =~ /\AERROR:  53200\n\Q$tail\E/) { $failed++; $good = 0 }
			elsif ($round =~ /\A\Q$right\E\n\Q$tail\E/) { $good++ }
			else { push @problems, "n = $i: $round" }
			last if $good >= 3 || @problems > 3;
		}
		last if @problems;
		$n += $step;
	}
	ok(!@problems && $failed > 0 && $good >= 3, "$name: $failed calls failed cleanly") or diag "right is $right, failed $failed, last $n", join("\n", '', @problems);
}

answers_small($node, 'the answer without faults');
my $worker = worker_pid($node);
foreach my $fault ('allocation', 'engine_allocation')
{
	check_faults($fault, $_, 'sparse') foreach 'bfs', 'sssp', 'ssnsp', 'sswp', 'cc', 'pagerank', 'heat', 'neural', 'path';
	check_faults($fault, $_, 'SELECT src, dst, weight FROM sparse') foreach 'bfs', 'sssp', 'heat';
	check_faults($fault, 'sssp', 'SELECT src * 1000000007::bigint, dst * 1000000007::bigint FROM dense');
	check_faults($fault, $_, 'parts') foreach 'bfs', 'sssp', 'pagerank';
	check_faults($fault, $_, 'sparse', 'cached') foreach 'bfs', 'sssp', 'ssnsp', 'cc', 'path';
	check_faults($fault, 'ssnsp', 'parts', 'cached');
}

# In subtransactions of one transaction, while another graph stays cached.
$node->safe_psql('postgres', 'CREATE TABLE kept AS TABLE sparse');
my $kept = $calls{bfs} =~ s/GRAPH/kept/r;
is((served($node, $kept))[1], 'built', 'another graph is cached');
foreach my $fault ('allocation', 'engine_allocation')
{
	is($node->safe_psql('postgres', qq{
		DO \$\$
		DECLARE
			failed int := 0;
			good int := 0;
		BEGIN
			FOR n IN 1 .. 200 LOOP
				PERFORM emogi_evict('sparse');
				PERFORM set_config('emogi.fault', '$fault=' || n, false);
				BEGIN
					PERFORM count(*) FROM emogi_sssp('sparse', 1000000007);
					good := good + 1;
				EXCEPTION WHEN out_of_memory THEN
					failed := failed + 1;
				END;
				PERFORM set_config('emogi.fault', '', false);
				IF (SELECT count(*) FROM emogi_bfs('sparse', 1000000007)) <> 3001 THEN
					RAISE 'wrong after n = %', n;
				END IF;
				EXIT WHEN good = 3;
			END LOOP;
			IF failed = 0 OR good < 3 THEN
				RAISE 'failed %, good %', failed, good;
			END IF;
		END \$\$;
		SELECT 'done'}), 'done', "$fault, in subtransactions");
}
is((served($node, $kept))[1], 'hit', '... the other graph is cached still');

# With another session whose calls do not fail.
my $other = session($node);
my $failing = session($node);
$failing->ask(q{SET emogi.fault = 'allocation=1'});
foreach my $round (1 .. 20)
{
	$failing->tell(q{SET emogi.fault = 'allocation=} . ($round % 7 + 1) . qq{'; SELECT emogi_evict('sparse') IS NULL; } . $calls{sssp} =~ s/GRAPH/sparse/r);
	$other->tell($calls{bfs} =~ s/GRAPH/sparse/r);
	like($other->answer, qr/^answer\|3001\|\d+$/, 'a call concurrent with a failing one is correct');
	$failing->answer;
}
$_->quit foreach $other, $failing;
nothing_left($node, 'at the end');
answers_small($node, 'and a small answer');
is(worker_pid($node), $worker, 'one worker served it all');
$node->stop;
no_crash($node);
unlike(slurp_file($node->logfile), qr/WARNING:/, 'no warnings');

done_testing();
