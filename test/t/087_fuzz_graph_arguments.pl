# Random nested queries as graph arguments finish within the statement timeout and a memory limit,
# with rows or with an error that is not internal. Rows are the same with all features of emogi, in
# a new session, through a view, prepared, and in plain SQL. The server runs with a limited address
# space. EMOGI_QUERIES, or EMOGI_SECONDS, and EMOGI_SEED set number, time and seed (as
# test/fuzz_graph_arguments does), EMOGI_FINDINGS names a file for findings.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use EmogiTest;
use GraphQueries;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use RandomQueries qw(any maybe);
use Test::More;
use Time::HiRes qw(time);

my $queries = $ENV{EMOGI_QUERIES} // ($ENV{EMOGI_SECONDS} ? 1_000_000 : 300);
my $end = time() + ($ENV{EMOGI_SECONDS} // 1_000_000);
my $seed = $ENV{EMOGI_SEED} // 81;
my $most_seconds = 2;
my $most_bytes = 500e6;
my $node = crash_node('main', "emogi.max_memory = '256MB'", "statement_timeout = '1s'", 'client_min_messages = error', 'log_min_messages = fatal', 'log_min_error_statement = panic', 'jit = off', "temp_file_limit = '200MB'");

srand($seed);
$node->safe_psql('postgres', join(';', graph_tables()));

# Unbounded memory use must end in an error before it exhausts the machine.
system('prlimit', '--pid=' . postmaster_pid($node), '--as=4000000000') == 0 or plan skip_all => 'prlimit is not installed';

# ------------------------------------------------------------------------------------------------------------- ask

my (%sessions, %pids, $findings);
my %count = map { ($_ => 0) } qw(queries rows errors timeouts compared excused internal slow large different crashes);

# Get a named session with its own settings.
sub session_of
{
	my ($name, @settings) = @_;

	return $sessions{$name} if $sessions{$name};
	$sessions{$name} = session($node);
	$sessions{$name}->ask("SET client_min_messages = error; SET plan_cache_mode = force_generic_plan; " . join('; ', map { "SET $_" } @settings));
	($pids{$name}) = $sessions{$name}->ask('SELECT pg_backend_pid()') =~ /(\d+)/;
	return $sessions{$name};
}

# Close a session.
sub close_session
{
	my ($name) = @_;
	my $session = delete $sessions{$name};

	eval { $session->quit } if $session;
}

# Get the peak private memory of a process since the last call, in bytes.
sub peak_of
{
	my ($pid) = @_;
	my $status = eval { slurp_file("/proc/$pid/status") } // '';
	my %kb = map { ($_ => $status =~ /^$_:\s+(\d+)/m ? $1 : 0) } qw(VmHWM RssFile RssShmem);

	append_to_file("/proc/$pid/clear_refs", '5') if $status;
	return 1024 * ($kb{VmHWM} - $kb{RssFile} - $kb{RssShmem});
}

# Run a command in a session; returns { rows or error, message, seconds, bytes }.
sub answer_of
{
	my ($name, $sql, @settings) = @_;
	my $session = session_of($name, @settings);
	my ($begun, $said);

	peak_of($pids{$name});
	$begun = time();
	$said = eval { $session->ask($sql) };
	my %answer = (seconds => time() - $begun, bytes => peak_of($pids{$name}));
	if (!defined $said)
	{
		%answer = (%answer, error => 'crash', message => $@);
		delete $sessions{$_} foreach keys %sessions;
		wait_until(60, sub { my ($rc, $out) = $node->psql('postgres', 'SELECT 1'); ($rc // 1) == 0 && $out eq '1' });
	}
	elsif ($said =~ /^(?:psql:\S+ )?(?:ERROR|FATAL|PANIC):\s+(\w{5}): ([^\n]*)/m) { @answer{qw(error message)} = ($1, $2) }
	else { $answer{rows} = $said }
	return \%answer;
}

# Record a finding.
sub found
{
	my ($kind, $graph, $sql, $what) = @_;
	my $text = sprintf("seed %d, query %d: %s: %s\n    %s\n", $seed, $count{queries}, $kind, $what, $sql);

	$count{$kind}++;
	return if ++$findings > 20;
	diag substr($text, 0, 3000);
	append_to_file($ENV{EMOGI_FINDINGS}, "$text\n") if $ENV{EMOGI_FINDINGS};
}

# Does the server itself need much time or memory for the plan or the rows of a query?
sub takes_long_itself
{
	my ($graph) = @_;

	foreach my $sql ("EXPLAIN $graph->{text}", "SELECT count(*) FROM ($graph->{text}) AS q")
	{
		my $answer = answer_of('plain', $sql);
		return 1 if $answer->{seconds} > $most_seconds / 2 || $answer->{bytes} > $most_bytes / 4 || ($answer->{error} // '') =~ /^(?:57|53|54|crash)/;
	}
	return 0;
}

# Run one call, and check that it ends properly.
sub ask
{
	my ($graph, $name, $sql, @settings) = @_;
	my $answer = answer_of($name, $sql, @settings);
	my $error = $answer->{error} // '';
	my $wrong = $answer->{seconds} > $most_seconds ? 'slow' : $answer->{bytes} > $most_bytes || $error eq '53200' ? 'large' : '';

	$count{ defined $answer->{rows} ? 'rows' : $error eq '57014' ? 'timeouts' : 'errors' }++;
	diag "$error $answer->{message}: $graph->{text}" if $ENV{EMOGI_VERBOSE} && $error ne '';
	if ($error =~ /^XX/ && (answer_of('plain', "EXPLAIN $graph->{text}")->{error} // '') eq $error) { $count{excused}++ }
	elsif ($error =~ /^XX/) { found('internal', $graph, $sql, "$error: $answer->{message}") }
	elsif ($error eq 'crash') { found('crashes', $graph, $sql, $answer->{message}) }
	elsif ($wrong ne '' && takes_long_itself($graph)) { $count{excused}++ }
	elsif ($wrong ne '')
	{
		# on a busy machine a call may be slow once
		my $again = answer_of($name, $sql, @settings);
		$answer = $again if $wrong eq 'slow' && $again->{seconds} <= $most_seconds;
		found($wrong, $graph, $sql, sprintf('%.1f s, %.0f MB', $answer->{seconds}, $answer->{bytes} / 1e6)) if $answer != $again || $wrong eq 'large';
	}
	return $answer;
}

# ---------------------------------------------------------------------------------------------------------- queries

my @limits = (57, 53, 54);

# Write a call of a random function: the selected columns are determined.
sub random_call
{
	my ($graph, $argument, $source) = @_;
	my $direction = any('out', 'in', 'both');

	return any(
		"SELECT vertex, level FROM emogi_bfs($argument, ${source}::text, 3, '$direction')", "SELECT vertex, level FROM emogi_bfs($argument, ARRAY[${source}]::text[])", "SELECT vertex, distance FROM emogi_sssp($argument, ${source}::text)",
		"SELECT vertex, level FROM emogi_bfs_tree($argument, ${source}::text)", "SELECT vertex FROM emogi_pagerank_text($argument)", "SELECT vertex, component FROM emogi_cc_text($argument)",
		"SELECT count(*), max(level) FROM emogi_bfs($argument, ${source}::text)", "SELECT vertex FROM emogi_bfs($argument, ${source}::text) WHERE level <= 2", "SELECT count(*) FROM emogi_shortest_path($argument, ${source}::text, ${source}::text)");
}

# Write a SELECT whose rows can be compared.
sub sorted { return "SELECT string_agg(r::text, ' ' ORDER BY r::text COLLATE \"C\") FROM ($_[0]) AS r" }

# Compare the results of two methods.
sub compare
{
	my ($graph, $name, $sql, $one, $other) = @_;
	my @errors = map { $_->{error} // '' } $one, $other;

	return if grep { my $error = $_; $error eq 'crash' || grep { $error =~ /^$_/ } @limits } @errors;
	$count{compared}++ if $errors[0] eq '' && $errors[1] eq '';
	my ($left, $right) = map { $_->{rows} // "$_->{error}: $_->{message}" } $one, $other;
	found('different', $graph, $sql, "$name: '" . substr($right, 0, 300) . "' and not '" . substr($left, 0, 300) . "'") if $errors[0] ne $errors[1] || $errors[0] eq '' && $left ne $right;
}

my @plain = map { "emogi.$_ = off" } qw(enable_cache enable_scan enable_batch enable_local_search enable_index_search);

# Run a call on a view of the graph, and compare the answer, if the query allows a view.
sub ask_as_view
{
	my ($graph, $call, $reference) = @_;

	return if defined answer_of('all', "CREATE VIEW fuzzed AS $graph->{text}")->{error};
	ask($graph, 'all', "EXPLAIN $call");
	compare($graph, 'as a view', $call, $reference, ask($graph, 'all', sorted($call))) foreach 1, 2;
	answer_of('all', 'DROP VIEW fuzzed');
}

# Run a call by all methods, and compare the answers.
sub ask_in_all_ways
{
	my ($graph) = @_;
	my $text = "\$graph\$$graph->{text}\$graph\$";
	my $source = "\$source\$$graph->{source}\$source\$";
	my $call = random_call($graph, $text, $source);
	my $reference = ask($graph, 'plain', sorted($call), @plain);
	my $way = sub { my ($name, $session, $sql, @settings) = @_; compare($graph, $name, $sql, $reference, ask($graph, $session, $sql, @settings)) };

	$way->('with all of emogi', 'all', sorted($call)) foreach 1, 2;
	ask($graph, 'all', 'EXPLAIN (' . any('VERBOSE', 'COSTS off', 'ANALYZE', 'FORMAT json') . ") $call");
	$way->('prepared', 'all', 'PREPARE p(text) AS ' . sorted($call =~ s/\Q$text\E/\$1/r) . "; EXECUTE p($text); DEALLOCATE p") if maybe(0.3);
	if (maybe(0.1)) { close_session('fresh'); $way->('in a fresh session', 'fresh', sorted($call)) }
	ask_as_view($graph, $call =~ s/\Q$text\E/'fuzzed'/r, $reference) if $graph->{is_named} && maybe(0.3);
}

# Compare the levels of a search with those of a recursive query. Keys are compared as text.
sub compare_with_sql
{
	my ($graph) = @_;
	my $sql = "SELECT vertex, level FROM emogi_bfs(\$graph\$$graph->{text}\$graph\$, \$source\$$graph->{source}\$source\$::text, 4)";
	my $answer = ask($graph, 'all', sorted($sql));
	return if defined $answer->{error};
	my $direct = answer_of('plain', sorted("WITH RECURSIVE e AS MATERIALIZED (SELECT a::text AS s, b::text AS d FROM ($graph->{ends}) AS q WHERE a IS NOT NULL AND b IS NOT NULL),
		r(v, l) AS (SELECT DISTINCT k, 0 FROM e, LATERAL (VALUES (s), (d)) AS u(k) WHERE k = \$source\$$graph->{source}\$source\$ UNION SELECT d, l + 1 FROM e JOIN r ON s = v WHERE l < 4)
		SELECT v AS vertex, min(l) AS level FROM r GROUP BY v"), @plain);
	return if defined $direct->{error};
	compare($graph, 'than by SQL', $sql, $direct, $answer);
}

# ------------------------------------------------------------------------------------------------------------- run

my $begun = time();
while ($count{queries} < $queries && time() < $end)
{
	$count{queries}++;
	srand($seed * 1000003 + $count{queries});
	my $graph = random_graph();
	my $source = answer_of('plain', "SELECT ($graph->{key})::text", @plain);
	$graph->{source} = $source->{rows} // '1';
	ask_in_all_ways($graph);
	compare_with_sql($graph);
	diag sprintf('%d queries, %.0f s: %s', $count{queries}, time() - $begun, join(', ', map { "$_ $count{$_}" } sort keys %count)) if $count{queries} % 500 == 0;
}
close_session($_) foreach keys %sessions;
my $counts = join(', ', map { "$_ $count{$_}" } sort keys %count);

is($count{crashes}, 0, "seed $seed: no session has ended ($counts)");
is($count{internal}, 0, '... no internal error');
is($count{slow}, 0, "... all ended within $most_seconds s");
is($count{large}, 0, '... and within the memory limit');
is($count{different}, 0, '... and answers were equal');
cmp_ok($count{compared}, '>', 0.5 * $count{queries}, '... of which there were some');
answers_small($node, 'the server continues');
region_is_empty($node, 'nothing is left in memory');
no_crash($node);
$node->stop;

done_testing();
