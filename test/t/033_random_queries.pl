# Random queries over emogi's functions, views and tables of all kinds have one answer: whatever of emogi takes part (scan, batch, cache),
# whatever plan is chosen, whoever fetches the rows. The reference is PostgreSQL's FunctionScan with fresh graphs and the planner as it is.
# Internal errors, crashes, and errors on one side only count as well. EMOGI_QUERIES and EMOGI_SEED set number and seed (test/random_queries
# does so), EMOGI_FINDINGS names a file for what is found.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use EmogiTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use RandomQueries;
use Test::More;
use Time::HiRes qw(sleep time);

my $queries = $ENV{EMOGI_QUERIES} // 300;
my $seed = $ENV{EMOGI_SEED} // 33;
my $most_findings = 20;    # are reduced and printed; more are counted only
my $node = crash_node('main', 'max_worker_processes = 12', "statement_timeout = '1s'", 'client_min_messages = warning',
	'log_min_messages = fatal', 'log_min_error_statement = panic', 'max_parallel_workers = 4', "emogi.max_memory = '512MB'");

srand($seed);
$node->safe_psql('postgres', join(';', random_tables()));
my @planner = split /\n/, $node->safe_psql('postgres', q{SELECT name || ' ' || CASE boot_val WHEN 'on' THEN 'off' ELSE 'on' END FROM pg_settings
	WHERE name LIKE 'enable\_%' AND vartype = 'bool' ORDER BY name});
my $forced = $node->safe_psql('postgres', q{SELECT name FROM pg_settings WHERE name IN ('force_parallel_mode', 'debug_parallel_query')});

# ------------------------------------------------------------------------------------------------------------- ways

my @reference = ('emogi.enable_scan = off', 'emogi.enable_batch = off', 'emogi.enable_near = off', 'emogi.enable_index_walk = off', 'emogi.cache = off');
my @parallel = ('parallel_setup_cost = 0', 'parallel_tuple_cost = 0', 'min_parallel_table_scan_size = 0', 'min_parallel_index_scan_size = 0');

# Make some settings under which a query must answer the same.
sub random_settings
{
	my @settings = map { "emogi.$_ = off" } grep { maybe(0.2) } qw(enable_scan enable_batch enable_lookup enable_near enable_index_walk cache);

	push @settings, 'emogi.index_walk_min_size = 0' if maybe(0.7);

	push @settings, @parallel, 'max_parallel_workers_per_gather = ' . any(1 .. 3), 'parallel_leader_participation = ' . any('on', 'off') if maybe(0.4);
	push @settings, "$forced = " . any('on', 'on', 'regress') if maybe(0.1);
	if (maybe(0.6))
	{
		my $share = any(0.1, 0.3, 0.5);
		push @settings, map { s/ / = /r } grep { maybe($share) } @planner;
	}
	push @settings, any('join_collapse_limit = 1', 'from_collapse_limit = 1', 'geqo_threshold = 2', "work_mem = '64kB'", 'cursor_tuple_fraction = 1', 'random_page_cost = 0.1',
		'cpu_tuple_cost = 5', 'jit = off', 'enable_hashjoin = off', 'constraint_exclusion = on', 'hash_mem_multiplier = 1') if maybe(0.4);
	return @settings;
}

# Ways to have a query answered: each gets it with its constants marked and returns commands, the last of which prints the answer; what is
# printed before "answer" is thrown away, and "part" divides what must come together to the same.
my %ways = (
	plain => sub { with_literals($_[0]) . ';' },
	explain => sub { '\o /dev/null' . "\nEXPLAIN (" . join(', ', any('VERBOSE', 'VERBOSE off'), any('COSTS off', 'COSTS on'), any('ANALYZE', 'ANALYZE off', 'ANALYZE off'), 'FORMAT ' . any(qw(text json yaml xml))) . ') '
		  . with_literals($_[0]) . ";\n\\o\n" . with_literals($_[0]) . ';' },
	prepared => sub {
		my ($sql, $types, $values) = with_parameters($_[0]);
		my $run = 'EXECUTE p' . (@$values ? '(' . join(', ', @$values) . ')' : '') . ';';
		return 'SET LOCAL plan_cache_mode = ' . any('auto', 'force_generic_plan', 'force_generic_plan', 'force_custom_plan') . ";\nPREPARE p" . (@$types ? '(' . join(', ', @$types) . ')' : '') . " AS $sql;\n"
		  . ("\\o /dev/null\n$run\n\\o\n" x any(0, 0, 1)) . "$run\nDEALLOCATE p;";
	},
	scroll => sub { 'DECLARE c SCROLL CURSOR FOR ' . with_literals($_[0]) . ";\nSELECT '<part>';\nFETCH 3 FROM c;\nSELECT '<part>';\nFETCH BACKWARD 2 FROM c;\n\\o /dev/null\nFETCH RELATIVE 4 FROM c;\nFETCH BACKWARD ALL FROM c;\n\\o\nSELECT '<answer>';\nFETCH ALL FROM c;\nCLOSE c;" },
	pieces => sub { 'DECLARE c ' . any('', 'NO SCROLL ') . 'CURSOR FOR ' . with_literals($_[0]) . ";\nFETCH 1 FROM c;\nFETCH 4 FROM c;\nFETCH ALL FROM c;\nFETCH 1 FROM c;\nCLOSE c;" },
	hold => sub { 'DECLARE c SCROLL CURSOR WITH HOLD FOR ' . with_literals($_[0]) . ";\n\\o /dev/null\nFETCH 2 FROM c;\n\\o\nCOMMIT;\nBEGIN;\nMOVE ABSOLUTE 0 FROM c;\nFETCH ALL FROM c;\nCLOSE c;" },
	table => sub { 'CREATE TEMP TABLE answer AS ' . with_literals($_[0]) . ";\nTABLE answer;" },
	insert => sub { 'CREATE TEMP TABLE answer AS ' . with_literals($_[0]) . " LIMIT 0;\nINSERT INTO answer " . with_literals($_[0]) . ";\nTABLE answer;" },
	function => sub { 'SELECT * FROM lines_of($query$SELECT format($f$' . join('|', ('%s') x $_[1]) . '$f$, ' . join(', ', map { "CASE WHEN c$_ IS NULL THEN '(null)' ELSE format('%s', c$_) END" } 1 .. $_[1]) . ') FROM (' . with_literals($_[0]) . ') q$query$);' });

# Make a random way for a query: { name, settings, text }.
sub random_way
{
	my ($query) = @_;
	my @names = grep { !($query->{sql} =~ / FOR (?:UPDATE|SHARE|NO KEY|KEY)/ && /scroll|hold|insert|function/) && !(/hold/ && $query->{before}) && !(/insert/ && $query->{sql} =~ /LIMIT|OFFSET/) } sort keys %ways;
	my $name = maybe(0.3) ? 'plain' : any(@names);

	return { name => $name, settings => [ random_settings() ], text => $ways{$name}->($query->{sql}, $query->{ncolumns}), evict => maybe(0.3) };
}

my $session;

# Put commands together for one way.
sub commands
{
	my ($way, $before) = @_;

	return join("\n", 'BEGIN;', ($way->{evict} ? 'DO $$ BEGIN PERFORM emogi_evict(); END $$;' : ()), (map { "SET LOCAL $_;" } @{ $way->{settings} }), $before ? "$before;" : (),
		$way->{text}, '\o', 'ROLLBACK;', 'DEALLOCATE ALL;');
}

# Read what a way has printed: { error, message, rows, problem }.
sub answer_of
{
	my ($said) = @_;

	return { error => $1, message => $2 } if $said =~ /^(?:psql:[^\n]*?)?(?:ERROR|FATAL|PANIC):\s+(\w{5}): ([^\n]*)/m;
	my @parts = split /^<(?:part|answer)>\n?/m, $said, -1;
	my @rows = split /\n/, $parts[-1] // '';
	if (@parts > 2)
	{
		my @first = split /\n/, $parts[1];
		my @back = split /\n/, $parts[2];
		# where a cursor on three rows or fewer has gone past the last of them, going back begins with it
		my @expected = @rows >= 3 ? reverse(@rows[ 0 .. 1 ]) : @rows == 2 ? reverse(@rows) : @rows;
		return { rows => \@rows, problem => 'FETCH 3 and FETCH ALL differ' } if "@first" ne "@rows[0 .. ($#rows < 2 ? $#rows : 2)]";
		return { rows => \@rows, problem => "FETCH BACKWARD 2 gets '@back'" } if "@back" ne "@expected";
	}
	return { rows => \@rows };
}

# Have ways answer a query (what divides their answers is selected, for psql keeps back what it echoes until after an error); the answers, or undef for those that the server did not survive.
sub ask
{
	my ($before, @ways) = @_;
	my @answers;
	my $n = 0;

	if (!defined $session)
	{
		$session = session($node);
		$session->ask("\\pset null (null)\nSELECT");    # else the semicolon would belong to it
	}
	my $said = eval { $session->ask(join("\n", map { "SELECT '<way " . $n++ . ">';\n" . commands($_, $before) } @ways)) };
	if (!defined $said)
	{
		diag "no answer: $@" if $ENV{EMOGI_VERBOSE};
		my ($lost) = $@ =~ /a session has ended: (.*)/s;
		$said = $lost // "ERROR:  57014: no answer: $@";
		eval { $session->quit };
		undef $session;
		wait_until(60, sub { my ($rc, $out) = $node->psql('postgres', 'SELECT 1'); ($rc // 1) == 0 && $out eq '1' });
	}
	my @parts = split /^<way \d+>\n?/m, $said, -1;
	shift @parts;
	foreach my $part (@parts) { push @answers, answer_of($part) }
	$answers[-1] = { error => 'crash', message => 'the server has closed the connection' } if !defined $session && @answers;
	return @answers;
}

# --------------------------------------------------------------------------------------------------------- compare

# Tell how an answer differs from the reference: '' if it does not.
sub difference
{
	my ($reference, $answer, $ordered) = @_;

	return "$answer->{error}: $answer->{message}" if ($answer->{error} // '') =~ /^(?:crash|XX)/;
	return '' if grep { defined $_->{error} && $_->{error} =~ /^(?:57014|53\d{3}|54\d{3})$/ } $reference, $answer;
	return '' if defined $reference->{error} && defined $answer->{error};
	return "an error on one side only: $_->{error}: $_->{message}" foreach grep { defined $_->{error} } $reference, $answer;
	return "a cursor's rows: $answer->{problem}" if $answer->{problem};
	my ($one, $other) = map { join("\n", $ordered ? @{ $_->{rows} } : sort @{ $_->{rows} }) } $reference, $answer;
	return $one eq $other ? '' : sprintf("rows differ: %d and not %d; first: %s and not %s", scalar @{ $answer->{rows} }, scalar @{ $reference->{rows} }, first_differing($one, $other));
}

# Get the first lines in which two texts differ, the second's first.
sub first_differing
{
	my ($one, $other) = @_;
	my @one = split /\n/, $one;
	my @other = split /\n/, $other;

	shift @one, shift @other while @one && @other && $one[0] eq $other[0];
	return ($other[0] // '(none)', $one[0] // '(none)');
}

# Cut a query into words, strings, numbers and signs.
sub tokens { return $_[0] =~ /\G\s*(\x01.*?\x02|'(?:[^']|'')*'|[\w.]+|::|<=|>=|<>|=>|.)/sg }

# Count a word.
sub count_of { my ($word, @tokens) = @_; return scalar grep { $_ eq $word } @tokens }

# Does this query, answered that way, still go wrong in the same manner?
sub still_wrong
{
	my ($query, $way, $verdict, $tokens) = @_;
	my %shorter = (%$query, sql => join(' ', @$tokens));
	my ($reference, $answer) = ask($query->{before}, { settings => \@reference, text => with_literals($shorter{sql}) . ';' },
		{ %$way, text => $ways{ $way->{name} }->($shorter{sql}, $shorter{ncolumns}) });

	return 0 if !$reference || !$answer || defined $reference->{error} && $verdict !~ /one side/;
	my $new = difference($reference, $answer, $shorter{ordered});
	return $new ne '' && substr($new, 0, 40) =~ s/\d+.*//sr eq substr($verdict, 0, 40) =~ s/\d+.*//sr && ($verdict !~ /one side/ || $new eq $verdict);
}

# Make a query that goes wrong shorter, by leaving out what it goes wrong without.
sub reduced
{
	my ($query, $way, $verdict) = @_;
	my @tokens = tokens($query->{sql});
	my $end = time() + 60;
	my $kept = join(' ', @tokens);

	return ($query->{sql}, $way) if $way->{name} eq 'function' || !still_wrong($query, $way, $verdict, \@tokens);
	foreach my $setting (@{ $way->{settings} })
	{
		my %fewer = (%$way, settings => [ grep { $_ ne $setting } @{ $way->{settings} } ]);
		$way = \%fewer if still_wrong($query, \%fewer, $verdict, \@tokens);
	}
	if ($way->{name} ne 'plain')
	{
		my %plain = (%$way, name => 'plain');
		$way = \%plain if still_wrong($query, \%plain, $verdict, \@tokens);
	}
	for (my $size = int(@tokens / 2); $size >= 1 && time() < $end; $size = $size > 12 ? int($size / 1.5) : $size - 1)
	{
		for (my $at = 0; $at + $size <= @tokens && time() < $end; $at++)
		{
			my @piece = @tokens[ $at .. $at + $size - 1 ];
			my $open = 0;
			my $balanced = 1;
			foreach (@piece) { $open += $_ eq '('; $open -= $_ eq ')'; $balanced = 0 if $open < 0 }
			next if $open || !$balanced;
			my @rest = @tokens[ 0 .. $at - 1, $at + $size .. $#tokens ];
			# what is cut off must stay determined by an order
			next if count_of('ORDER', @piece) > count_of('LIMIT', @piece) + count_of('OFFSET', @piece) + count_of('OVER', @piece) + count_of('ON', @piece) && $verdict !~ /^(?:XX|crash)/;
			next unless still_wrong($query, $way, $verdict, \@rest);
			@tokens = @rest;
			$at--;
		}
	}
	return (join(' ', @tokens), $way);
}

# ------------------------------------------------------------------------------------------------------------- run

my (%count, %seen, @findings);
$count{$_} = 0 foreach qw(queries answers rows errors timeouts explained scans batches parallel differences internal);
$node->safe_psql('postgres', q{CREATE FUNCTION lines_of(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
	DECLARE line text;
	BEGIN
		FOR line IN EXECUTE query LOOP RETURN NEXT line; END LOOP;
	END $$});

my $begun = time();
for my $i (1 .. $queries)
{
	srand($seed * 1000003 + $i);
	my $query = random_query();
	my @ways = ({ name => 'plain', settings => [], text => with_literals($query->{sql}) . ';' }, map { random_way($query) } 1 .. 3);
	my ($reference) = ask($query->{before}, { settings => \@reference, text => with_literals($query->{sql}) . ';' });

	$count{queries}++;
	next unless $reference;
	my @answers = ($reference->{error} // '') eq '57014' ? () : ask($query->{before}, @ways);
	$count{errors}++ if defined $reference->{error} && $reference->{error} ne '57014';
	diag "$reference->{error}: $reference->{message}: " . with_literals($query->{sql}) if $ENV{EMOGI_VERBOSE} && defined $reference->{error};
	$count{timeouts}++ if ($reference->{error} // '') eq '57014';
	$count{rows}++ if @{ $reference->{rows} // [] };
	foreach my $n (0 .. $#answers)
	{
		my $verdict = difference($reference, $answers[$n], $query->{ordered});
		$count{answers}++;
		next if $verdict eq '';
		my $internal = $verdict =~ /^(?:crash|XX)/;
		my $class = $verdict =~ s/\d+/N/gr;
		$class = 'rows differ' if $class =~ /^rows differ/;
		$count{ $internal ? 'internal' : 'differences' }++;
		next if $seen{$class}++ >= ($internal ? 1 : 8) || @findings >= $most_findings;
		my ($sql, $way) = reduced($query, $ways[$n], $verdict);
		my $finding = sprintf("seed %d, query %d, %s%s\n%s\n    %s;\n    as: %s\n", $seed, $i, $ways[$n]{name}, $query->{before} ? " after $query->{before}" : '', $verdict, with_literals($sql),
			join('; ', $way->{name}, @{ $way->{settings} }));
		push @findings, $finding;
		diag $finding;
		append_to_file($ENV{EMOGI_FINDINGS}, "$finding    in full: " . with_literals($query->{sql}) . "\n\n") if $ENV{EMOGI_FINDINGS};
	}
	if ($i % 5 == 0 && !defined $reference->{error} && $session)
	{
		my $plan = $session->ask('BEGIN; ' . ($i % 2 ? join('; ', map { "SET LOCAL $_" } @parallel) . ';' : '') . 'EXPLAIN ' . with_literals($query->{sql}) . '; ROLLBACK');
		$count{explained}++;
		$count{scans}++ if $plan =~ /EmogiScan/;
		$count{batches}++ if $plan =~ /EmogiBatch/;
		$count{parallel}++ if $plan =~ /Parallel Custom Scan/;
	}
	diag sprintf("%d queries, %.0f s: %s", $i, time() - $begun, join(', ', map { "$_ $count{$_}" } sort keys %count)) if $i % 1000 == 0;
}
my $parts = join(', ', map { "$_ $count{$_}" } sort keys %count);

is($count{internal}, 0, "$queries random queries, seed $seed: no internal error, no crash");
is($count{differences}, 0, '... and the same answers in all ways');
cmp_ok($count{rows}, '>', 0.3 * $queries, "... with rows: $parts");
cmp_ok($count{errors}, '<', 0.05 * $queries, "... few of them errors: $parts");
cmp_ok($count{timeouts}, '<', 0.3 * $queries, "... and not many too slow: $parts");
cmp_ok($count{scans}, '>', 0.6 * $count{explained}, "... streamed: $parts");
diag "$count{queries} queries, $count{differences} differences, $count{internal} internal errors";
$session->quit if $session;
no_crash($node);
$node->stop;

done_testing();
