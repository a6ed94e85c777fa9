# The queries of examples/prometheus: each runs for roles with and without pg_monitor, and returns
# exactly the listed columns, with numbers for metrics and no NULLs. Counters grow with calls. If
# postgres_exporter is available, it reads them and returns the same values. EMOGI_EXPORTER and
# EMOGI_PROMTOOL name programs that are not installed.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use EmogiTest;
use HTTP::Tiny;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(sleep);

my $folder = "$FindBin::RealBin/../../examples/prometheus";
my $node = emogi_node('main', "emogi.max_memory = '128MB'", 'emogi.engine = cpu', 'max_connections = 20');
$node->safe_psql('postgres', q{
	CREATE ROLE exporter LOGIN;
	GRANT pg_monitor TO exporter;
	CREATE ROLE nobody LOGIN;
	CREATE DATABASE another;
	CREATE TABLE tree AS SELECT i / 2 AS src, i AS dst FROM generate_series(2, 1000) i});
$node->safe_psql('another', 'CREATE EXTENSION emogi; CREATE TABLE small (src int, dst int); INSERT INTO small VALUES (1, 2)');

# The file: [name of a query, its text, { column => its kind }].
my @queries;
my $yaml = slurp_file("$folder/queries.yaml");
while ($yaml =~ /^(\w+):\n  query: \|\n((?:    .*\n)+)  master: true\n  metrics:\n((?:    - .*\n)+)/mg)
{
	my ($name, $query, $metrics) = ($1, $2, $3);
	push @queries, [ $name, $query, { $metrics =~ /^    - (\w+): \{usage: (\w+), description: .+\}$/mg } ];
}
is(scalar(@queries), scalar(() = $yaml =~ /^\w+:$/mg), scalar(@queries) . ' queries');

# The rows of a query for a role, as hashes, together with the column types.
sub rows
{
	my ($query, $role) = @_;
	my $json = $node->safe_psql('postgres', "SET ROLE $role; SELECT coalesce(json_agg(q), '[]') FROM ($query) q");

	require JSON::PP;
	return @{ JSON::PP->new->decode($json) };
}

# Check each query; get the values by metric and labels.
sub gather
{
	my ($name) = @_;
	my %values;

	foreach (@queries)
	{
		my ($prefix, $query, $metrics) = @$_;
		my @wrong;
		my @columns = split /\n/, $node->safe_psql('postgres', "CREATE TEMP VIEW v AS $query; SELECT attname || ' ' || format_type(atttypid, NULL) FROM pg_attribute WHERE attrelid = 'v'::regclass AND attnum > 0");
		my %types = map { /^(\w+) (.*)/ } @columns;

		is(join(' ', sort keys %types), join(' ', sort keys %$metrics), "$name, $prefix: the listed columns");
		foreach my $column (keys %$metrics)
		{
			my $is_label = $metrics->{$column} eq 'LABEL';
			push @wrong, "$column is $types{$column}" unless ($types{$column} // '') =~ ($is_label ? qr/^(?:text|name)$/ : qr/^(?:integer|bigint|numeric|double precision)$/);
			push @wrong, "$column is a $metrics->{$column}" if !$is_label && ($metrics->{$column} eq 'COUNTER') != ($column =~ /_total$/);
		}
		foreach my $row (rows($query, 'exporter'))
		{
			my $labels = join ',', map { "$_=\"" . ($row->{$_} // 'NULL') . '"' } grep { $metrics->{$_} eq 'LABEL' } sort keys %$row;
			push @wrong, map { "$_ is NULL" } grep { !defined $row->{$_} } keys %$row;
			$values{"${prefix}_$_" . ($labels ne '' ? "{$labels}" : '')} = $row->{$_} foreach grep { $metrics->{$_} ne 'LABEL' } keys %$row;
		}
		is(join('; ', @wrong), '', '... metrics are numbers, labels text, and there is no NULL');
		my ($rc, $out, $err) = $node->psql('postgres', "SET ROLE nobody; SELECT count(*) FROM ($query) q");
		is($err, '', '... also for a role with few privileges');
	}
	return \%values;
}

my $before = gather('a server without calls');
is($before->{"emogi_engine_up{version=\"" . $node->safe_psql('postgres', 'SELECT emogi_version()') . '"}'}, 1, 'the engine is up');
is($before->{'emogi_calls_calls_total{database="postgres",function="emogi_bfs"}'}, undef, 'no calls');

$node->safe_psql('postgres', q{SELECT emogi_bfs('tree', 1), emogi_bfs('small', 1); SELECT emogi_bfs('SELECT src, dst FROM tree WHERE random() < 2', 1)});
$node->psql('postgres', q{SELECT emogi_bfs('SELECT 1 / 0, 2', 1)});
$node->safe_psql('another', q{SELECT emogi_cc('small')});
my ($out, $err) = ('', '');
my $endless = start_psql($node, \$out, \$err, q{SELECT count(*) FROM emogi_pagerank('small', max_iterations => 2000000000, tolerance => 0)});
wait_until(10, sub { $node->safe_psql('postgres', q{SELECT count(*) FROM emogi_progress WHERE state = 'running'}) eq '1' });
my $after = gather('a server with calls');
is($after->{'emogi_calls_calls_total{database="postgres",function="emogi_bfs"}'}, 4, 'four calls');
is($after->{'emogi_calls_errors_total{database="postgres",function="emogi_bfs"}'}, 1, '... of which one failed');
is($after->{'emogi_calls_private_builds_total{database="postgres",function="emogi_bfs"}'}, 1, '... and one built a private graph');
is($after->{'emogi_calls_calls_total{database="another",function="emogi_cc"}'}, 1, 'a call in another database');
is($after->{'emogi_graph_edges{database="postgres",direction="out",source="tree"}'}, 999, 'a graph');
is($after->{'emogi_progress_calls{state="running"}'}, 1, 'a run in progress');
cmp_ok($after->{'emogi_progress_oldest_seconds{state="running"}'}, '>', 0, '... with its age');
is($after->{'emogi_progress_calls{state="waiting"}'}, 0, '... and none waits');
cmp_ok($after->{'emogi_cache_builds_total'}, '>=', 3, 'builds');
cmp_ok($after->{'emogi_engine_memory_used_bytes{version="' . $node->safe_psql('postgres', 'SELECT emogi_version()') . '"}'}, '>', 0, 'memory in use');

# A program given by the environment, or installed.
sub program
{
	my ($env, @names) = @_;
	my ($found) = grep { defined && -x } $ENV{$env}, map { my $name = $_; map { "$_/$name" } split /:/, $ENV{PATH} } @names;
	return $found;
}

# The alerts use existing metrics, and promtool accepts them.
my $alerts = slurp_file("$folder/alerts.yaml");
my %known = map { my ($prefix, $metrics) = @$_[ 0, 2 ]; map { ("${prefix}_$_" => 1) } keys %$metrics } @queries;
is(join(' ', grep { !$known{$_} } map { /\b(emogi_\w+)/g } $alerts =~ /^ +expr: (.*)$/mg), '', 'alerts use existing metrics');
SKIP:
{
	my $promtool = program('EMOGI_PROMTOOL', 'promtool');
	skip 'promtool is not installed', 4 unless $promtool;
	command_like([ $promtool, 'check', 'rules', "$folder/alerts.yaml" ], qr/SUCCESS: \d+ rules found/, 'promtool accepts the alerts');
	my $cases = $node->basedir . '/alerts_test.yaml';
	append_to_file($cases, slurp_file("$FindBin::RealBin/../data/alerts_test.yaml") =~ s/\[ALERTS\]/[$folder\/alerts.yaml]/r);
	command_like([ $promtool, 'test', 'rules', $cases ], qr/SUCCESS/, '... each fires for its condition, and none otherwise');
}

SKIP:
{
	my $exporter = program('EMOGI_EXPORTER', 'postgres_exporter', 'prometheus-postgres-exporter');
	skip 'postgres_exporter is not installed', 4 unless $exporter;
	my $port = PostgreSQL::Test::Cluster::get_free_port();
	my $log = $node->basedir . '/exporter.log';
	local $ENV{DATA_SOURCE_NAME} = sprintf 'host=%s port=%d user=exporter dbname=postgres sslmode=disable', $node->host, $node->port;
	my $run = IPC::Run::start([ $exporter, "--web.listen-address=127.0.0.1:$port", "--extend.query-path=$folder/queries.yaml", '--disable-default-metrics' ], '<', \'', '>', $log, '2>&1');
	my $page;
	my $scraped = wait_until(20, sub { my $answer = HTTP::Tiny->new(timeout => 10)->get("http://127.0.0.1:$port/metrics"); $page = $answer->{content}; $answer->{success} && $page =~ /^emogi_cache_hits/m });

	ok($scraped, 'postgres_exporter reads them') or diag slurp_file($log);
	is(join("\n", $page =~ /^(pg_exporter_user_queries_load_error\S* [1-9].*)$/mg), '', '... without an error');
	my %told;
	foreach my $line (grep { !/^#/ } split /\n/, $page)
	{
		my ($metric, $labels, $value) = $line =~ /^(\w+)(?:\{(.*)\})? (\S+)$/ or next;
		my @labels = grep { !/^server=/ } ($labels // '') =~ /(\w+="[^"]*")/g;
		$told{$metric . (@labels ? '{' . join(',', @labels) . '}' : '')} = $value;
	}
	my @missing = grep { !exists $told{$_} } keys %$after;
	is(join(' ', @missing), '', '... all of them');
	is($told{'emogi_calls_calls_total{database="postgres",function="emogi_bfs"}'}, 4, '... with their values');
	$run->kill_kill(grace => 5);
}

$node->safe_psql('postgres', 'SELECT pg_cancel_backend(pid) FROM emogi_progress');
eval { $endless->finish };
region_is_empty($node, 'nothing is left');
done_testing();
