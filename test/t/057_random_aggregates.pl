# Random queries that emogi answers without producing rows return the same as by other methods:
# aggregates, first rows, joins on vertex and LATERAL sums over every function, with all settings of
# emogi on, with each off, in parallel, prepared and through cursors. The reference has everything
# off: rows combined by PostgreSQL's own nodes, from a private graph. Each kind of plan must also
# occur with each function, aggregate, group and condition that it supports.
#
# Sums of floats are bitwise equal if emogi adds (in the order of vertices, which the reference is
# told to use), otherwise equal up to 1e-12. Errors have the same SQLSTATE. EMOGI_QUERIES and
# EMOGI_SEED set number and seed of queries; EMOGI_FINDINGS names a file for differences,
# EMOGI_VERBOSE=1 prints each query. test/random_queries runs more queries.
use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use EmogiTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use RandomAggregates;
use RandomAnswers;
use RandomQueries;
use Test::More;
use Time::HiRes qw(time);

my $enough = 1000;    # queries needed to cover every use of every plan
my $queries = $ENV{EMOGI_QUERIES} // $enough;
my $seed = $ENV{EMOGI_SEED} // 57;
my @switches = qw(enable_aggregates enable_topk enable_join_lookup enable_batch enable_local_search enable_index_search enable_scan enable_cache enable_incremental);
my $node = crash_node('main', 'max_worker_processes = 12', "statement_timeout = '4s'", 'client_min_messages = warning', 'log_min_messages = fatal',
	'log_min_error_statement = panic', 'max_parallel_workers = 4', "emogi.max_memory = '512MB'");

srand($seed);
ask_of($node, 'max_parallel_workers_per_gather = 0', map { "emogi.$_ = off" } @switches);

# ------------------------------------------------------------------------------------------------------------- uses

my @functions = map { "emogi_$_" } qw(bfs sssp sswp ssnsp cc scc triangles lcc core cdlp degree articulation_points closeness betweenness pagerank eigenvector katz hits heat circuit neural);
my @others = map { "emogi_$_" } qw(louvain leiden spanning_forest bridges biconnected similarity random_walk bfs_tree shortest_path_tree);    # whose rows are not vertices
my @operators = ('<', '<=', '=', '>', '>=', '<> 0', 'BETWEEN');
my @conditions = (@operators, 'IN', 'vertex =', 'float', 'component', 'two conditions');
my $floats = 'distance|width|coefficient|strength|farness|closeness|harmonic|centrality|rank|hub|authority|value';
my $columns = "level|paths|reached|components|component|label|core|triangles|degree|$floats";

# Uses that must occur, in a query or in the method of running it.
my %in_query = (
	(map { ($_ => qr/\b${_}(?:_text|_uuid)?\(/) } @functions, @others), (map { ($_ => qr/\b(?:$columns) $_ /) } @operators), '<> 0' => qr/ <> 0\b/,
	IN => qr/\b(?:level|core) IN \(\d/, 'vertex =' => qr/\bvertex = /, compared => qr/\b(?:$columns) [<>]=? /, float => qr/\b(?:$floats) [<>]/, component => qr/\b(?:component|label) (?:[<>]=?|=) /, 'two conditions' => qr/ AND /,
	(map { ($_ => qr/\b$_\(/) } qw(count min max sum avg)), 'count(*)' => qr/count\(\*\)/, 'count(DISTINCT vertex)' => qr/count\(DISTINCT vertex/,
	'count(DISTINCT level)' => qr/count\(DISTINCT (?:level|core)/, 'count(DISTINCT component)' => qr/count\(DISTINCT (?:component|label)/,
	(map { ("by $_" => qr/GROUP BY $_\b/) } qw(level core component label)), HAVING => qr/ HAVING /, 'SELECT DISTINCT' => qr/SELECT DISTINCT/, 'in a subquery' => qr/FROM \(SELECT/,
	DESC => qr/ DESC/, 'by two columns' => qr/ORDER BY \w+(?: DESC)?(?: NULLS \w+)?, \w/, OFFSET => qr/ OFFSET /,
	EXISTS => qr/WHERE EXISTS/, 'NOT EXISTS' => qr/NOT EXISTS/, 'IN (SELECT)' => qr/ IN \(SELECT/, 'LEFT JOIN' => qr/LEFT JOIN/, JOIN => qr/ o JOIN /,
	bigint => qr/\b[a-z]+_b\b/, int => qr/\b[a-z]+_i\b/, uuid => qr/\b[a-z]+_u\b/, text => qr/\b[a-z]+_[tc]\b/,
	prepared => qr/\Ageneric/, cursor => qr/\Apieces/, parallel => qr/\Aparallel/, changed => qr/\A\w+ after/);

# The plans, their pattern in EXPLAIN, and the uses that each must cover.
my @any_keys = qw(bigint int uuid text);
my %plans = (
	EmogiAggregate => [ qr/\(EmogiAggregate\)/, @functions, @conditions, qw(count min max sum avg), 'count(*)', map({ "by $_" } qw(level core component label)), map({ "count(DISTINCT $_)" } qw(vertex level component)),
		'HAVING', 'SELECT DISTINCT', 'in a subquery', @any_keys, 'prepared', 'cursor', 'changed' ],
	'first rows' => [ qr/Rows Picked/, @functions, grep({ $_ ne '=' } @conditions), 'DESC', 'by two columns', 'OFFSET', 'in a subquery', @any_keys, 'prepared', 'cursor', 'changed' ],
	'members of components' => [ qr/Pushed Down: [^\n]*component = [a-z]+\./, 'emogi_cc', 'emogi_scc', @any_keys, 'cursor' ],
	'listed components' => [ qr/Pushed Down: [^\n]*(?:component|label) = ANY/, 'emogi_cc', @any_keys ],
	'all components but one' => [ qr/Pushed Down: [^\n]*(?:component|label) <> /, 'emogi_cc', 'bigint', 'text' ],
	EmogiLookup => [ qr/\(EmogiLookup\)/, @any_keys, 'prepared', 'cursor', 'changed' ],
	(map { my ($type, @forms) = @$_; ("$type EmogiLookup" => [ qr/\(EmogiLookup\)\n *Join: $type/, @forms ]) } [ 'inner', 'JOIN' ], [ 'left', 'LEFT JOIN' ], [ 'semi', 'EXISTS', 'IN (SELECT)' ], [ 'anti', 'NOT EXISTS', 'LEFT JOIN' ]),
	'left EmogiLookup with a filter' => [ qr/\(EmogiLookup\)\n *Join: left\n.*\n *Join Filter/, 'LEFT JOIN' ],
	EmogiBatchAggregate => [ qr/\(EmogiBatchAggregate\)/, qw(count min max sum avg), 'count(*)', 'HAVING', 'compared' ],
	EmogiBatch => [ qr/\(EmogiBatch\)/, 'emogi_bfs', 'parallel' ],
	'parallel EmogiScan' => [ qr/Parallel Custom Scan \(EmogiScan\)/, qw(count sum emogi_bfs emogi_cc) ],
	'rows for PostgreSQL' => [ qr/Custom Scan \(EmogiScan\)/, @others, 'count(DISTINCT vertex)', 'by level' ],
	'rows that conditions choose' => [ qr/Custom Scan \(EmogiScan\)[^\n]*\n *Function Call: emogi_(?:louvain|leiden|spanning_forest|bridges|biconnected|similarity|random_walk|bfs_tree|shortest_path_tree)[^\n]*\n *Pushed Down/, @others, 'vertex =' ],
	'index walk' => [ qr/Graph: index/, 'emogi_bfs' ],
	'search by the backend' => [ qr/Engine: backend/, 'emogi_bfs', 'count' ]);

my (%count, %used);

# Count the uses of the plans of one answer; as: how the query was run.
sub count_uses
{
	my ($query, $as, $plan) = @_;
	my $text = $as . ($query->{before} ? ' after' : '') . ": $query->{sql}" =~ s/\x01\w+:(.*?)\x02/$1/sgr =~ s/\x03.*?\x04//sgr;

	foreach my $name (keys %plans)
	{
		next unless $plan =~ $plans{$name}[0];
		$used{$name}{any}++;
		foreach my $use (grep { $text =~ $in_query{$_} } keys %in_query) { $used{$name}{$use}++ }
	}
}

# Patterns that a disabled setting must keep out of plans.
my %kept_out = (enable_aggregates => qr/\(Emogi(?:Batch)?Aggregate\)/, enable_topk => qr/Rows Picked/, enable_join_lookup => qr/\(EmogiLookup\)/, enable_batch => qr/\(EmogiBatch/, enable_index_search => qr/Graph: index/,
	enable_scan => qr/\(Emogi/);

# -------------------------------------------------------------------------------------------------------------- run

# Create the methods of running the i-th query, each [ name, method ].
sub ways_of
{
	my ($query, $i) = @_;
	my $switch = $switches[ $i % @switches ];
	my @more = maybe(0.5) ? "emogi.engine = 'cpu'" : ();
	my $walked = { %{ way_of($query, 'plain', [ 'emogi.index_search_min_size = 0', @more ], 1) }, evict => 1 };

	return ([ 'plain', way_of($query, 'plain', [], $i % 3 ? 1 : 'ANALYZE, TIMING off, SUMMARY off') ],
		[ 'switched', way_of($query, 'plain', [ "emogi.$switch = off", @more ], 1), $switch ],
		[ 'parallel', way_of($query, 'plain', [ parallel_settings(), 'max_parallel_workers_per_gather = 2', 'emogi.enable_aggregates = ' . any('on', 'off') ], 1) ],
		$i % 2 ? [ 'generic', way_of($query, 'generic', [], 1) ] : [ 'pieces', way_of($query, 'pieces', [], 1) ], $i % 3 == 1 ? [ 'walked', $walked ] : [ 'random', random_way($query) ]);
}

$count{$_} = 0 foreach qw(queries answers rows errors failing answered timeouts differences internal aims missed);
my $begun = time();
my %seconds;
for my $i (1 .. $queries)
{
	my $asked = time();

	if (($i - 1) % 100 == 0)
	{
		srand($seed * 1009 + int(($i - 1) / 100));
		$node->safe_psql('postgres', 'BEGIN;' . join(';', random_graphs()) . ';COMMIT; VACUUM ANALYZE');
	}
	srand($seed * 1000003 + $i);
	my $query = random_aggregate($i);
	my @ways = ways_of($query, $i);

	diag "$i: $query->{kind}: " . with_literals($query->{sql}) if $ENV{EMOGI_VERBOSE};
	my ($reference, @answers) = ask($query->{before}, reference_way($query), map { $_->[1] } @ways);
	$count{queries}++;
	next unless $reference;
	$count{timeouts}++ if ($reference->{error} // '') eq '57014';
	$count{ $query->{fails} ? 'failing' : 'errors' }++ if defined $reference->{error} && $reference->{error} ne '57014';
	$count{rows}++ if @{ $reference->{rows} // [] };
	$count{answered}++ if $query->{fails} && !defined $reference->{error};    # a graph without edges
	diag "$i: $reference->{error}: $reference->{message}: " . with_literals($query->{sql}) if !$query->{fails} && defined $reference->{error} && $ENV{EMOGI_VERBOSE};
	foreach my $n (0 .. $#answers)
	{
		my ($as, $way, $switch) = @{ $ways[$n] };
		my $verdict = difference($query, $reference, $answers[$n]);

		$count{answers}++;
		$verdict ||= "a plan of emogi.$switch" if $switch && $kept_out{$switch} && $answers[$n]{plan} =~ $kept_out{$switch};
		$count{ record_finding($query, $way, $verdict, "seed $seed, query $i", \&graphs_of) }++ if $verdict ne '';
		count_uses($query, $as, $answers[$n]{plan}) unless defined $answers[$n]{error};
	}
	if ($query->{aim} && @answers && !defined $answers[0]{error})
	{
		$count{aims}++;
		next if $answers[0]{plan} =~ /$query->{aim}/;
		$count{missed}++;
		$count{"missed $query->{aim}"}++;
		diag "$i: no $query->{aim}: " . with_literals($query->{sql} =~ s/\x03.*?\x04//sgr) . "\n$answers[0]{plan}" if $ENV{EMOGI_VERBOSE} || $count{missed} <= 5;
	}
	$seconds{ $query->{kind} } += time() - $asked;
}
my $took = sprintf('%.0f s', time() - $begun);
my $parts = join(', ', map { "$count{$_} $_" } sort keys %count) . ", $took, seed $seed";
is($count{differences}, 0, "the same rows with every plan: $parts");
is($count{internal}, 0, "... no internal error, no crash: $parts");
cmp_ok($count{rows}, '>', 0.6 * $count{queries}, "... most queries have rows: $parts");
cmp_ok($count{errors}, '<', 0.02 * $queries, "... few of them errors: $parts");
cmp_ok($count{failing}, '>=', $count{answered}, "... expected errors occur: $parts");
cmp_ok($count{timeouts}, '<', 0.02 * $queries + 1, "... few too slow: $parts");
cmp_ok($count{missed}, '<=', 0.03 * $count{aims}, "... emogi computes what the manual lists: $parts");
foreach my $name (sort keys %plans)
{
	my @uses = ('any', @{ $plans{$name} }[ 1 .. $#{ $plans{$name} } ]);
	my @unused = grep { !$used{$name}{$_} } @uses;

	diag "$name: " . join(', ', map { "$_ " . ($used{$name}{$_} // 0) } @uses) if $ENV{EMOGI_VERBOSE};
	SKIP:
	{
		skip "fewer than $enough queries", 1 if $queries < $enough;
		is("@unused", '', "$name is used " . ($used{$name}{any} // 0) . ' times, and for all its uses');
	}
}
diag join(', ', map { sprintf('%s %.1f s', $_, $seconds{$_}) } sort keys %seconds) if $ENV{EMOGI_VERBOSE};
diag "$count{queries} queries, $count{differences} differences, $count{internal} internal errors";
ask_no_more();
no_crash($node);
$node->stop;
done_testing();
