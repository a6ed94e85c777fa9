# Random queries over emogi's functions, views and tables of all kinds have a unique answer:
# whichever features of emogi are used (scan, batch, cache), whichever plan is chosen, and however
# rows are fetched. The reference is PostgreSQL's FunctionScan with new graphs and the default
# planner settings. Internal errors, crashes, and errors on one side only also count. EMOGI_QUERIES
# and EMOGI_SEED set number and seed (as test/random_queries does), EMOGI_FINDINGS names a file for
# findings.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use EmogiTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use RandomAnswers;
use RandomQueries;
use Test::More;
use Time::HiRes qw(time);

my $queries = $ENV{EMOGI_QUERIES} // 300;
my $seed = $ENV{EMOGI_SEED} // 33;
my $node = crash_node('main', 'max_worker_processes = 12', "statement_timeout = '1s'", 'client_min_messages = warning',
	'log_min_messages = fatal', 'log_min_error_statement = panic', 'max_parallel_workers = 4', "emogi.max_memory = '512MB'");

srand($seed);
$node->safe_psql('postgres', join(';', random_tables()));
ask_of($node, 'emogi.enable_scan = off', 'emogi.enable_batch = off', 'emogi.enable_local_search = off', 'emogi.enable_index_search = off', 'emogi.enable_cache = off');

my %count;
$count{$_} = 0 foreach qw(queries answers rows errors timeouts explained scans batches parallel differences internal);
my $begun = time();
for my $i (1 .. $queries)
{
	srand($seed * 1000003 + $i);
	my $query = random_query();
	my @ways = (way_of($query, 'plain', []), map { random_way($query) } 1 .. 3);
	my ($reference) = ask($query->{before}, reference_way($query));

	$count{queries}++;
	next unless $reference;
	my @answers = ($reference->{error} // '') eq '57014' ? () : ask($query->{before}, @ways);
	$count{errors}++ if defined $reference->{error} && $reference->{error} ne '57014';
	diag "$reference->{error}: $reference->{message}: " . with_literals($query->{sql}) if $ENV{EMOGI_VERBOSE} && defined $reference->{error};
	$count{timeouts}++ if ($reference->{error} // '') eq '57014';
	$count{rows}++ if @{ $reference->{rows} // [] };
	foreach my $n (0 .. $#answers)
	{
		my $verdict = difference($query, $reference, $answers[$n]);
		$count{answers}++;
		$count{ record_finding($query, $ways[$n], $verdict, "seed $seed, query $i") }++ if $verdict ne '';
	}
	if ($i % 5 == 0 && !defined $reference->{error})
	{
		my $plan = ask_plainly('BEGIN; ' . ($i % 2 ? join('; ', map { "SET LOCAL $_" } parallel_settings()) . ';' : '') . 'EXPLAIN ' . with_literals($query->{sql}) . '; ROLLBACK');
		$count{explained}++;
		$count{scans}++ if $plan =~ /EmogiScan/;
		$count{batches}++ if $plan =~ /EmogiBatch/;
		$count{parallel}++ if $plan =~ /Parallel Custom Scan/;
	}
	diag sprintf("%d queries, %.0f s: %s", $i, time() - $begun, join(', ', map { "$_ $count{$_}" } sort keys %count)) if $i % 1000 == 0;
}
my $parts = join(', ', map { "$_ $count{$_}" } sort keys %count);

is($count{internal}, 0, "$queries random queries, seed $seed: no internal error, no crash");
is($count{differences}, 0, '... and the same answers by all methods');
cmp_ok($count{rows}, '>', 0.3 * $queries, "... with rows: $parts");
cmp_ok($count{errors}, '<', 0.05 * $queries, "... few of them errors: $parts");
cmp_ok($count{timeouts}, '<', 0.3 * $queries, "... and not many too slow: $parts");
cmp_ok($count{scans}, '>', 0.6 * $count{explained}, "... streamed: $parts");
diag "$count{queries} queries, $count{differences} differences, $count{internal} internal errors";
ask_no_more();
no_crash($node);
$node->stop;

done_testing();
