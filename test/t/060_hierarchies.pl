# Contraction hierarchies built by the engine worker in the background: when they are built, that
# answers do not change, that it is harmless if the graph is evicted or the worker killed meanwhile,
# and that a canceled call which builds one is followed by one that completes it.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use EmogiTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = emogi_node('main', 'emogi.incremental_min_size = 0');

# Create a grid of side x side crossings with random lengths in both directions.
sub grid
{
	my ($name, $side) = @_;

	$node->safe_psql('postgres', qq{
		CREATE TABLE $name AS SELECT a AS source, b AS target, 1 + 9 * random() AS cost, 1 + 9 * random() AS reverse_cost
		  FROM (SELECT y * $side + x AS a, y * $side + x + 1 AS b FROM generate_series(0, $side - 1) y, generate_series(0, $side - 2) x
		    UNION ALL SELECT y * $side + x, (y + 1) * $side + x FROM generate_series(0, $side - 2) y, generate_series(0, $side - 1) x) s});
}

# Get the state of the hierarchy of a table's graph.
sub hierarchy { return $node->safe_psql('postgres', "SELECT coalesce(max(hierarchy), '') FROM emogi_graphs WHERE source = '$_[0]'") }

# Search the given number of distant paths at a time in a graph until its hierarchy is in a state;
# returns false if that does not happen. The state "being built" is observed only if the searches
# are faster than the build.
sub ask_until
{
	my ($name, $state, $seconds, $paths) = @_;

	return wait_until($seconds, sub {
		$node->safe_psql('postgres', "SET emogi.enable_local_search = off; DO \$\$ BEGIN FOR i IN 1 .. $paths LOOP PERFORM count(*) FROM emogi_shortest_path('$name', i, 890 - i); END LOOP; END \$\$");
		hierarchy($name) eq $state;
	});
}

# Get a fingerprint of some paths.
sub paths
{
	my ($name) = @_;

	return $node->safe_psql('postgres', "SELECT md5(string_agg(p::text, ',' ORDER BY i, p.seq)) FROM generate_series(1, 40) i, LATERAL emogi_shortest_path('$name', i * 3, 899 - i * 2) p");
}

# ------------------------------------------------------------------------------------------------------- in the background

grid('small_roads', 30);
my $right = paths('small_roads');
is(hierarchy('small_roads'), '', 'none at first');
ok(ask_until('small_roads', 'ready', 60, 200), 'distant paths start a build');
is($node->safe_psql('postgres', "SELECT count(*) > 1 FROM emogi_shortest_path('small_roads', 0, 899); SELECT engine FROM emogi_runs ORDER BY id DESC LIMIT 1"), "t\nhierarchy", 'it is used');
is(paths('small_roads'), $right, 'paths are the same');
$node->safe_psql('postgres', 'UPDATE small_roads SET cost = 0.5 WHERE source = 100');
is(hierarchy('small_roads'), 'ready', 'after a change it stays with the old graph');
$right = $node->safe_psql('postgres', "SET emogi.enable_contraction = off; SET emogi.enable_local_search = off; SELECT sum(distance) FROM emogi_shortest_path('small_roads', 0, 899)");
is($node->safe_psql('postgres', "SELECT sum(distance) FROM emogi_shortest_path('small_roads', 0, 899)"), $right, 'the next path uses the change');

# ------------------------------------------------------------------------------------------------------- interruptions

grid('roads', 200);
$node->safe_psql('postgres', "SELECT count(*) FROM emogi_sssp('roads', 0)");
ok(ask_until('roads', 'making', 180, 30), 'a larger one is being built');
is($node->safe_psql('postgres', "SELECT pins FROM emogi_graphs WHERE source = 'roads'"), '0', 'the build does not pin the graph');
$node->safe_psql('postgres', "SELECT emogi_evict('roads')");
ok(wait_until(10, sub { $node->safe_psql('postgres', "SELECT count(*) FROM emogi_graphs WHERE source = 'roads'") eq '0' }), 'a graph whose hierarchy is being built can be evicted');
ok(ask_until('roads', 'making', 180, 30), 'another build starts');
my $worker = worker_pid($node);
kill 'TERM', $worker;
ok(wait_until(30, sub { my $pid = worker_pid($node); $pid != 0 && $pid != $worker }), 'the worker exits during a build, and is restarted');
is($node->safe_psql('postgres', "SELECT count(*) FROM emogi_sssp('roads', 0)"), '40000', 'calls continue');
is($node->safe_psql('postgres', "SELECT coalesce(max(pins), 0) FROM emogi_graphs WHERE source = 'roads'"), '0', 'and nothing is pinned');

# ------------------------------------------------------------------------------------------------------- by a call

my ($state) = sqlstate($node, "SET emogi.contraction_min_calls = 0; SET statement_timeout = 100; SELECT count(*) FROM emogi_distance_matrix('roads', ARRAY[1, 2, 3, 4], ARRAY[39999, 39998, 20000])");
is($state, '57014', 'a call that builds one can be canceled');
is(hierarchy('roads'), '', 'then there is none');
is($node->safe_psql('postgres', "SET emogi.contraction_min_calls = 0; SELECT count(*) FROM emogi_distance_matrix('roads', ARRAY[1, 2, 3, 4], ARRAY[39999, 39998, 20000])"), '12', 'the next one builds it');
is(hierarchy('roads'), 'ready', 'and it is kept');
no_crash($node);
$node->stop;
done_testing();
