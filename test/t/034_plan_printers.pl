# Other code that prints or walks plans: auto_explain in all its settings, at the end of the
# executor and without a snapshot; pg_stat_statements; EXPLAIN in every format.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use EmogiTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = emogi_node('main');
$node->safe_psql('postgres', q{
	CREATE TABLE edges (src int, dst int, weight int) PARTITION BY RANGE (src);
	CREATE TABLE edges_low PARTITION OF edges FOR VALUES FROM (MINVALUE) TO (20);
	CREATE TABLE edges_high PARTITION OF edges FOR VALUES FROM (20) TO (MAXVALUE);
	INSERT INTO edges SELECT i, i + 1, i FROM generate_series(1, 39) i;
	CREATE TABLE sources AS SELECT i AS id FROM generate_series(1, 100) i;
	CREATE VIEW reach AS SELECT * FROM emogi_bfs('edges', 1);
	CREATE FUNCTION total(s int) RETURNS bigint LANGUAGE plpgsql STABLE AS $$
		BEGIN RETURN (SELECT sum(level) FROM emogi_bfs('edges', s)); END $$});

my %calls = (
	q{SELECT count(*) FROM emogi_bfs('edges', 1)} => 40,
	q{SELECT count(*) FROM emogi_sssp('edges', 1) WHERE distance < 100 AND vertex = 7} => 1,
	q{SELECT count(*) FROM sources s, LATERAL emogi_bfs('edges', s.id)} => 820,
	q{SELECT count(*) FROM sources s JOIN emogi_cc('edges') c ON c.vertex = s.id} => 40,
	q{SELECT count(*) FROM reach r LEFT JOIN sources s ON s.id = r.vertex} => 40,
	q{SELECT total(38)} => 3,
	q{SELECT count(*) FROM emogi_shortest_path('edges', 1, 40)} => 40,
	q{SELECT count(*) FROM emogi_bfs('SELECT src, dst FROM edges', 1)} => 40,
	q{SELECT count(*) FROM sources WHERE id IN (SELECT vertex FROM reach)} => 40,
	q{SELECT count(*) FROM (SELECT * FROM emogi_bfs('edges', 1) LIMIT 3) x} => 3,
	q{SELECT count(*) FROM emogi_bfs('edges', 1) WHERE 1 = (SELECT 2)} => 0);

# Every call under every setting of auto_explain returns the same, and the server does not crash.
my @settings;
foreach my $analyze ('off', 'on')
{
	foreach my $format ('text', 'json', 'xml', 'yaml')
	{
		foreach my $nested ('off', 'on')
		{
			push @settings, "SET auto_explain.log_analyze = $analyze; SET auto_explain.log_format = $format;"
			  . " SET auto_explain.log_nested_statements = $nested; SET auto_explain.log_verbose = $nested;"
			  . " SET auto_explain.log_buffers = $nested; SET auto_explain.log_timing = " . ($nested eq 'on' ? 'off;' : 'on;');
		}
	}
}
my $have_auto_explain = ($node->psql('postgres', q{LOAD 'auto_explain'}))[0] == 0;
my $printed = -s $node->logfile;
SKIP:
{
	skip 'auto_explain is not installed', 1 unless $have_auto_explain;
	foreach my $setting (@settings)
	{
		foreach my $scan ('on', 'off')
		{
			foreach my $cache ('on', 'off')
			{
				my $script = "LOAD 'auto_explain'; SET auto_explain.log_min_duration = 0; $setting\n"
				  . "SET emogi.enable_scan = $scan; SET emogi.enable_cache = $cache;\n" . join(";\n", sort keys %calls) . ';';
				my ($rc, $out, $err) = $node->psql('postgres', $script);
				is("$rc $err " . join(' ', split("\n", $out)), "0  " . join(' ', map { $calls{$_} } sort keys %calls), "$setting scan $scan, cache $cache");
			}
		}
	}
	my $log = slurp_file($node->logfile, $printed);
	like($log, qr/Custom Scan \(EmogiScan\).*\n.*Function Call: emogi_bfs.*\n.*Graph: cached\n.*Vertices: 40/, 'an executed plan shows the source of its graph');
	like($log, qr/Custom Scan \(EmogiBatchAggregate\).*\n.*Function Call: emogi_bfs.*\n.*Graph: cached\n/, '... a batch too');
	like($log, qr/"Graph": "built for this call alone"/, '... in other formats');

	# A cursor printed when it is closed partly read, and when its transaction fails.
	my ($rc, $out, $err) = $node->psql('postgres', q{
		LOAD 'auto_explain'; SET auto_explain.log_min_duration = 0;
		BEGIN; DECLARE c CURSOR FOR SELECT * FROM sources s, LATERAL emogi_bfs('edges', s.id); FETCH 2 FROM c; CLOSE c;
		DECLARE d SCROLL CURSOR FOR SELECT * FROM emogi_bfs('edges', 1); FETCH 2 FROM d; FETCH BACKWARD 1 FROM d; COMMIT;
		BEGIN; DECLARE e CURSOR FOR SELECT vertex / (vertex - 3) FROM emogi_bfs('edges', 1); FETCH ALL FROM e; COMMIT;});
	like($err, qr/division by zero/, 'a cursor whose query fails');
	answers($node);
}

# EXPLAIN in every format, with and without execution, returns only the plan.
foreach my $options ('', 'VERBOSE', 'ANALYZE', 'ANALYZE, BUFFERS, VERBOSE', 'ANALYZE, TIMING OFF', 'COSTS OFF, SETTINGS', 'ANALYZE, WAL', 'GENERIC_PLAN', 'SUMMARY')
{
	next if $options eq 'GENERIC_PLAN' && $node->safe_psql('postgres', 'SHOW server_version_num') < 160000;
	foreach my $format ('text', 'json', 'xml', 'yaml')
	{
		foreach my $call (sort keys %calls)
		{
			my $list = join(', ', grep { $_ ne '' } $options, "FORMAT $format");
			my ($rc, $out, $err) = $node->psql('postgres', "EXPLAIN ($list) $call");
			ok($rc == 0 && $err eq '' && $out ne '', "EXPLAIN ($list) $call") or diag($err);
		}
	}
}
answers($node);

# The same with other libraries in the same hooks, before and after emogi.
foreach my $libraries ('pg_stat_statements, auto_explain, emogi', 'emogi, auto_explain, pg_stat_statements')
{
	last unless $have_auto_explain;
	$node->append_conf('postgresql.conf', "shared_preload_libraries = '$libraries'\nauto_explain.log_min_duration = 0\npg_stat_statements.track = all\npg_stat_statements.track_planning = on");
	$node->restart;
	$node->safe_psql('postgres', 'CREATE EXTENSION IF NOT EXISTS pg_stat_statements');
	answers($node);
	is($node->safe_psql('postgres', q{SELECT count(*) > 0 FROM pg_stat_statements WHERE query LIKE '%emogi_bfs%' AND rows > 0}), 't', "$libraries: statements are counted");
}

$node->stop;
no_crash($node);
done_testing();

# All calls return the same rows as before.
sub answers
{
	my ($node) = @_;

	is(join(' ', map { $node->safe_psql('postgres', $_) } sort keys %calls), join(' ', map { $calls{$_} } sort keys %calls), 'all calls succeed');
}
