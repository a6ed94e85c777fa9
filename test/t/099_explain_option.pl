# EXPLAIN (EMOGI), from PostgreSQL 18 on: prints the lines that otherwise require VERBOSE, in every
# format, and no other lines of VERBOSE. From 19 on, auto_explain accepts the option, too.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use EmogiTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = emogi_node('main');
my $version = $node->safe_psql('postgres', q{SELECT current_setting('server_version_num')::int / 10000});
my $call = q{SELECT vertex FROM emogi_bfs('edges', 1)};

$node->safe_psql('postgres', q{CREATE TABLE edges (src int, dst int); INSERT INTO edges SELECT i, i + 1 FROM generate_series(1, 40) i});

sub plan_of
{
	my ($options, $query) = @_;
	my ($rc, $out, $err) = $node->psql('postgres', "EXPLAIN ($options) " . ($query || $call));

	return $out . $err;
}

if ($version < 18)
{
	like(plan_of('EMOGI'), qr/unrecognized EXPLAIN option "emogi"/, 'PostgreSQL 18 has options of extensions');
	$node->safe_psql('postgres', $call);
	like(plan_of('VERBOSE'), qr/Answered By: /, '... in earlier versions VERBOSE prints the lines');
	$node->stop;
	done_testing();
	exit;
}

# Lines of a plan with a label of emogi; VERBOSE also adds lines for all nodes.
sub own_lines { return join "\n", grep { /^\s+(Function Call|Graph|Cache|Index Search|Answered By|Engine|Pushed Down)/ } split /\n/, $_[0] }

foreach my $query ($call, "$call WHERE vertex = 7", q{SELECT * FROM emogi_shortest_path('edges', 1, 9)}, q{SELECT count(*) FROM emogi_cc('edges')})
{
	$node->safe_psql('postgres', $query);    # its graph is then cached, and its size known
	my ($plain, $emogi, $verbose) = map { plan_of("$_ COSTS OFF", $query) } ('', 'EMOGI,', 'VERBOSE,');

	like($emogi, qr/^\s+Answered By: /m, "EXPLAIN (EMOGI) $query");
	is(own_lines($emogi), own_lines($verbose), '... prints what VERBOSE prints of emogi');
	unlike($emogi, qr/^\s+Output: /m, '... and no other line of it');
	unlike($plain, qr/Answered By/, '... and no line without it');
	is(join("\n", grep { !/Answered By/ } split /\n/, $emogi), $plain, '... which is the only difference');
}

like(plan_of("EMOGI $_, COSTS OFF"), qr/Answered By/, "EMOGI $_") foreach ('', 'on', 'true', '1');
unlike(plan_of("EMOGI $_, COSTS OFF"), qr/Answered By/, "EMOGI $_") foreach ('off', 'false', '0');
like(plan_of('EMOGI, FORMAT json'), qr/"Answered By": "/, 'JSON');
like(plan_of('EMOGI, FORMAT xml'), qr/<Answered-By>/, 'XML');
like(plan_of('EMOGI, FORMAT yaml'), qr/Answered By: "/, 'YAML');
like(plan_of('EMOGI, VERBOSE'), qr/Answered By: .*/, 'with VERBOSE');
is(() = plan_of('EMOGI, VERBOSE') =~ /Answered By/g, 1, '... once');
like(plan_of('EMOGI nonsense'), qr/emogi requires a Boolean value/, 'a value that is not Boolean');
like(plan_of('EMOGI, ANALYZE, TIMING OFF'), qr/Edges Traversed: 40/, 'with ANALYZE');
like(plan_of('EMOGI', 'SELECT 1'), qr/^Result /, 'a plan without a call of emogi');

# the option of one EXPLAIN does not affect the next one in the session
my ($rc, $out) = $node->psql('postgres', "EXPLAIN (EMOGI, COSTS OFF) $call; EXPLAIN (COSTS OFF) $call; PREPARE p AS $call; EXPLAIN (EMOGI, COSTS OFF) EXECUTE p");
is(() = $out =~ /Answered By/g, 2, 'three plans in a session, two with the option');

SKIP:
{
	skip 'auto_explain takes options of extensions from PostgreSQL 19 on', 3 if $version < 19;
	skip 'auto_explain is not installed', 3 if ($node->psql('postgres', q{LOAD 'auto_explain'}))[0] != 0;
	my $printed = -s $node->logfile;

	is($node->safe_psql('postgres', "LOAD 'auto_explain'; SET auto_explain.log_min_duration = 0; SET auto_explain.log_extension_options = 'emogi'; SELECT count(*) FROM ($call) c"),
		'41', 'auto_explain accepts the option');
	like(slurp_file($node->logfile, $printed), qr/Custom Scan \(Emogi.*\n.*Function Call: emogi_bfs/, '... and prints the plan');
	($rc, $out, my $err) = $node->psql('postgres', "LOAD 'auto_explain'; SET auto_explain.log_extension_options = 'emogi nonsense'");
	like($err, qr/invalid|Boolean/, '... and rejects a value that is not Boolean');
}

$node->stop;
no_crash($node);

# Without preloading, a session knows the option after it has loaded the library: by its first call,
# by LOAD, or by session_preload_libraries, which needs no restart.
$EmogiTest::preloads = 0;
$node = emogi_node('trial', 'emogi.notice_trial = off');
$node->safe_psql('postgres', q{CREATE TABLE edges (src int, dst int); INSERT INTO edges SELECT i, i + 1 FROM generate_series(1, 40) i});
like(plan_of('EMOGI'), qr/unrecognized EXPLAIN option "emogi"/, 'in a trial, a session does not know the option');
foreach my $load ($call, "LOAD 'emogi'", 'SELECT preloaded FROM emogi_stat_info')
{
	($rc, $out) = $node->psql('postgres', "$load; EXPLAIN (EMOGI, COSTS OFF) $call");
	like($out, qr/Answered By/, "... but has after $load");
}
$node->safe_psql('postgres', q{ALTER DATABASE postgres SET session_preload_libraries = 'emogi'});
like(plan_of('EMOGI, COSTS OFF'), qr/Answered By/, '... and from the start with session_preload_libraries');
is($node->safe_psql('postgres', 'SELECT preloaded FROM emogi_stat_info'), 'f', '... which is still a trial');
answers_small($node, '... that answers');

$node->stop;
no_crash($node);
done_testing();
