# A load of property columns that fails leaves nothing behind, and later calls load them: each allocation fails once, in the backend and in the engine
# worker, and the worker exits. Without memory, the call answers as it does without columns. If memory is short, the columns of a role go that it has used
# least recently.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use EmogiTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = crash_node('main', "emogi.max_memory = '256MB'", 'emogi.enable_property_columns = on', 'emogi.enable_index_search = off', 'emogi.enable_local_search = off',
	'emogi.cpu_threads = 2', 'emogi.incremental_min_size = 0');

# Graphs with weights and without; some hundred parallel edges between the same vertices are sorted in memory of their own.
my %made = (plain => q{CREATE TABLE plain AS SELECT i % 300 AS src, i * 7 % 301 AS dst, i % 50 AS n, md5((i % 300)::text) AS t FROM generate_series(1, 2000) i},
	weighted => q{CREATE TABLE weighted AS SELECT i % 3 AS src, i % 5 AS dst, i % 50 AS n, md5((i % 300)::text) AS t, (i * 7 % 11)::float8 AS weight FROM generate_series(1, 2000) i});
$node->safe_psql('postgres', $_) foreach values %made;
my %whole = (plain => q{SELECT count(*) FROM emogi_bfs('plain(src, dst)', 1)}, weighted => q{SELECT count(*) FROM emogi_sssp('weighted(src, dst, weight)', 1)});
my %filtered = map { $_ => qq{SELECT count(*), sum(level) FROM (SELECT * FROM emogi_bfs('$_(src, dst)', 1, edge_filter => 'n < 4 AND t < ''c''') OFFSET 0) r} } keys %whole;
my %expected = map { $_ => $node->safe_psql('postgres', "SET emogi.enable_property_columns = off; $filtered{$_}") } keys %whole;

# Let a call load columns of a cached graph with a fault; return its SQLSTATE, '' = it has answered right. Later calls must load and use them. The table is
# made anew, because a load that has failed makes the next ones of the same table rarer.
my $nloaded = 0;
my $nwithout = 0;
sub load_with
{
	my ($graph, $fault) = @_;
	my $others = join("\n", map { $filtered{$graph} =~ s/n < 4/n < 3.0$_/r . ' \g /dev/null' } 1 .. 6);
	my ($rc, $out, $err) = $node->psql('postgres', "SELECT emogi_evict() \\g /dev/null\nDROP TABLE $graph; $made{$graph};\n$whole{$graph} \\g /dev/null\n SET emogi.fault = '$fault';\n$filtered{$graph};\nRESET emogi.fault;
		SELECT 'then', max(property_columns) FROM emogi_graphs WHERE source = '$graph';\n$others\n$filtered{$graph};
		SELECT max(property_columns) FROM emogi_graphs WHERE source = '$graph' AND hits > 0", on_error_stop => 0, extra_params => [ '-v', 'VERBOSITY=verbose' ]);
	my ($state) = $err =~ /(?:ERROR|FATAL):\s+(\w{5}):/ ? $1 : '';
	# what fails after the load leaves the columns
	my $first = $state eq '' ? qr/\Q$expected{$graph}\E\nthen\|(?:n, t)?/ : qr/then\|(?:n, t)?/;
	my $right = qr/^$first\n\Q$expected{$graph}\E\nn, t$/;

	$nloaded += $state eq '' && $out =~ /then\|n, t/;
	$nwithout += $state eq '' && $out !~ /then\|n, t/;
	like($out, $right, "$graph, $fault: '$state', and later calls have the columns") if $out !~ $right;
	return $state;
}

foreach my $graph ('plain', 'weighted')
{
	($nloaded, $nwithout) = (0, 0);
	is(load_with($graph, 'idle=0'), '', "$graph: without a failure");
	is($nloaded, 1, '... the call loads the columns');
	foreach my $kind ('allocation', 'engine_allocation')
	{
		my %states;

		# those of the load are among the first
		$states{ load_with($graph, "$kind=$_") }++ foreach 1 .. 30;
		like(join(' ', sort keys %states), qr/^( 53200)?$/, "$graph, $kind: each allocation fails once");
		cmp_ok($nwithout, '>', 0, "... $nwithout calls go without columns, $nloaded have them");
		nothing_left($node, "$graph, $kind");
	}
	is(load_with($graph, 'worker_exit=columns'), '58000', "$graph: a worker that exits before it has filled in the columns");
	nothing_left($node, '... its exit');
}
$node->stop;
no_crash($node);

# Larger and larger graphs of a role need the memory of its columns.
my $small = emogi_node('small', "emogi.max_memory = '64MB'", 'emogi.enable_property_columns = on', 'emogi.enable_index_search = off', 'emogi.enable_local_search = off',
	'emogi.cpu_threads = 2', 'fsync = off');
$small->safe_psql('postgres', q{
	CREATE ROLE loader;
	CREATE TABLE one AS SELECT i % 10000 AS src, i * 7 % 10001 AS dst, i::bigint * 1000000 AS n FROM generate_series(1, 60000) i;
	CREATE TABLE two AS SELECT * FROM one;
	GRANT SELECT ON one, two TO loader});
my $loader = session($small);
$loader->ask(q{SET ROLE loader; SET emogi.enable_incremental = off});
$loader->ask("SELECT count(*) FROM emogi_bfs('$_(src, dst)', 1)") foreach qw(one two);
foreach my $table (qw(one two one))
{
	# some calls, until a load pays
	$loader->ask("SELECT count(*) FROM emogi_bfs('$table(src, dst)', 1, edge_filter => 'n > $_')") foreach 5 .. 9;
}
sub with_columns { return $small->safe_psql('postgres', q{SELECT coalesce(string_agg(source, ' ' ORDER BY source), '') FROM emogi_graphs WHERE property_bytes > 0}) }
is(with_columns(), 'one two', 'two graphs with columns');
for (my $edges = 100000; $edges <= 2000000 && with_columns() eq 'one two'; $edges += 50000)
{
	$loader->ask("SELECT count(*) FROM emogi_bfs('SELECT i % 1000, i % 999 FROM generate_series(1, $edges) i', 1)");
}
is(with_columns(), 'one', '... of which those go first that were used first');
$loader->quit;
nothing_left($small, 'little memory');
$small->stop;
no_crash($small);

done_testing();
