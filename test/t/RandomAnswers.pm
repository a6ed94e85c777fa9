# Run random queries by several methods: under settings, in plans and through commands of all kinds.
# Reports how an answer differs from the reference, and reduces failing queries. Tests provide the
# queries (033_random_queries.pl, 057_random_aggregates.pl).
#
# A query is { sql (with constants marked as in RandomQueries), ncolumns, ordered, before (a command
# in the same transaction, or ''), kinds }. Text between \x03 and \x04 is for the reference alone,
# such as the order of additions. A column's kind is '=' (equal text), '+' (a sum of floats, which
# the reference adds in the order of vertices: equal text if emogi adds, otherwise as '~'), '~' (a
# sum of floats: equal up to 1e-12) or '?' (determined only if emogi picks the rows); the default is
# '='. With same_error the SQLSTATE of an error must equal the reference's, with rises the first
# column of an EmogiAggregate at the top of a plan must be ascending.
#
# A way is { name, settings, text (commands, the last of which print the answer), setup (commands
# before it), plan (what to explain, for answers with a plan), evict }.
package RandomAnswers;

use strict;
use warnings;

use EmogiTest;
use Exporter 'import';
use PostgreSQL::Test::Utils;
use RandomQueries;
use Test::More;
use Time::HiRes qw(time);

our @EXPORT = qw(ask_of ask ask_plainly reference_way way_of way_names random_way random_settings parallel_settings difference record_finding ask_no_more);

my $most_findings = 20;    # are reduced and printed; more are only counted
my ($node, $session, @reference, @planner, $forced);

# Set the server, and the settings of the reference.
sub ask_of
{
	($node, @reference) = @_;
	@planner = split /\n/, $node->safe_psql('postgres', q{SELECT name || ' ' || CASE boot_val WHEN 'on' THEN 'off' ELSE 'on' END FROM pg_settings
		WHERE name LIKE 'enable\_%' AND vartype = 'bool' ORDER BY name});
	$forced = $node->safe_psql('postgres', q{SELECT name FROM pg_settings WHERE name IN ('force_parallel_mode', 'debug_parallel_query')});
	$node->safe_psql('postgres', q{CREATE FUNCTION lines_of(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
		DECLARE line text;
		BEGIN
			FOR line IN EXECUTE query LOOP RETURN NEXT line; END LOOP;
		END $$});
}

# ------------------------------------------------------------------------------------------------------------- ways

# Get settings that make plans parallel; force: also plans that gain nothing.
sub parallel_settings
{
	my ($force) = @_;

	return ('parallel_setup_cost = 0', 'parallel_tuple_cost = 0', 'min_parallel_table_scan_size = 0', 'min_parallel_index_scan_size = 0', $force ? "$forced = $force" : ());
}

# Create some settings under which a query must return the same.
sub random_settings
{
	my @settings = map { "emogi.$_ = off" } grep { maybe(0.2) } qw(enable_scan enable_batch enable_join_lookup enable_aggregates enable_topk enable_local_search enable_index_search enable_cache);

	push @settings, 'emogi.index_search_min_size = 0' if maybe(0.7);

	push @settings, parallel_settings(), 'max_parallel_workers_per_gather = ' . any(1 .. 3), 'parallel_leader_participation = ' . any('on', 'off') if maybe(0.4);
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

# Prepare a query with parameters and execute it, possibly after earlier executions.
sub prepared
{
	my ($mode, $before, $marked) = @_;
	my ($sql, $types, $values) = with_parameters($marked);
	my $run = 'EXECUTE p' . (@$values ? '(' . join(', ', @$values) . ')' : '');

	return { setup => "SET LOCAL plan_cache_mode = $mode;\nPREPARE p" . (@$types ? '(' . join(', ', @$types) . ')' : '') . " AS $sql;\n" . ("\\o /dev/null\n$run;\n\\o\n" x $before),
		plan => $run, text => "$run;\nDEALLOCATE p;" };
}

# Methods of running a query: each receives it with its constants marked, and the number of its
# columns. Output before "answer" is ignored, and "part" separates parts that must be equal.
my %ways = (
	plain => sub { { text => with_literals($_[0]) . ';' } },
	explain => sub { { text => '\o /dev/null' . "\nEXPLAIN (" . join(', ', any('VERBOSE', 'VERBOSE off'), any('COSTS off', 'COSTS on'), any('ANALYZE', 'ANALYZE off', 'ANALYZE off'), 'FORMAT ' . any(qw(text json yaml xml))) . ') '
		  . with_literals($_[0]) . ";\n\\o\n" . with_literals($_[0]) . ';' } },
	prepared => sub { prepared(any('auto', 'force_generic_plan', 'force_generic_plan', 'force_custom_plan'), any(0, 0, 1), $_[0]) },
	generic => sub { prepared('force_generic_plan', 0, $_[0]) },
	scroll => sub { { text => 'DECLARE c SCROLL CURSOR FOR ' . with_literals($_[0]) . ";\nSELECT '<part>';\nFETCH 3 FROM c;\nSELECT '<part>';\nFETCH BACKWARD 2 FROM c;\n\\o /dev/null\nFETCH RELATIVE 4 FROM c;\nFETCH BACKWARD ALL FROM c;\n\\o\nSELECT '<answer>';\nFETCH ALL FROM c;\nCLOSE c;" } },
	pieces => sub {
		my $declare = 'DECLARE c ' . any('', 'NO SCROLL ') . 'CURSOR FOR ' . with_literals($_[0]);
		return { plan => $declare, text => "$declare;\nFETCH 1 FROM c;\nFETCH 4 FROM c;\nFETCH ALL FROM c;\nFETCH 1 FROM c;\nCLOSE c;" };
	},
	hold => sub { { text => 'DECLARE c SCROLL CURSOR WITH HOLD FOR ' . with_literals($_[0]) . ";\n\\o /dev/null\nFETCH 2 FROM c;\n\\o\nCOMMIT;\nBEGIN;\nMOVE ABSOLUTE 0 FROM c;\nFETCH ALL FROM c;\nCLOSE c;" } },
	table => sub { { text => 'CREATE TEMP TABLE answer AS ' . with_literals($_[0]) . ";\nTABLE answer;" } },
	insert => sub { { text => 'CREATE TEMP TABLE answer AS ' . with_literals($_[0]) . " LIMIT 0;\nINSERT INTO answer " . with_literals($_[0]) . ";\nTABLE answer;" } },
	function => sub { { text => 'SELECT * FROM lines_of($query$SELECT format($f$' . join('|', ('%s') x $_[1]) . '$f$, ' . join(', ', map { "CASE WHEN c$_ IS NULL THEN '(null)' ELSE format('%s', c$_) END" } 1 .. $_[1]) . ') FROM (' . with_literals($_[0]) . ') q$query$);' } });

# Create a method with this name and settings; planned: its plan is wanted, too.
sub way_of
{
	my ($query, $name, $settings, $planned) = @_;
	my $sql = $query->{sql} =~ s/\x03.*?\x04//sgr;
	my $way = $ways{$name}->($sql, $query->{ncolumns});

	$way->{plan} //= with_literals($sql);
	delete $way->{plan} unless $planned;
	return { setup => '', evict => 0, %$way, name => $name, settings => $settings, planned => $planned };
}

# Get the method of the reference.
sub reference_way
{
	my ($query) = @_;

	return { name => 'plain', settings => \@reference, setup => '', text => with_literals($query->{sql} =~ s/[\x03\x04]//gr) . ';' };
}

# Get the names of the methods that apply to a query.
sub way_names
{
	my ($query) = @_;

	return grep { !($query->{sql} =~ / FOR (?:UPDATE|SHARE|NO KEY|KEY)/ && /scroll|hold|insert|function/) && !(/hold/ && $query->{before}) && !(/insert/ && $query->{sql} =~ /LIMIT|OFFSET/) }
	  qw(explain function hold insert pieces plain prepared scroll table);
}

# Create a random method for a query.
sub random_way
{
	my ($query) = @_;
	my @names = way_names($query);
	my $name = maybe(0.3) ? 'plain' : any(@names);
	my @settings = random_settings();

	return { %{ way_of($query, $name, \@settings) }, evict => maybe(0.3) };
}

# -------------------------------------------------------------------------------------------------------------- running

# Combine the commands of one method.
sub commands
{
	my ($way, $before) = @_;

	return join("\n", 'BEGIN;', ($way->{evict} ? 'DO $$ BEGIN PERFORM emogi_evict(); END $$;' : ()), (map { "SET LOCAL $_;" } @{ $way->{settings} }), $before ? "$before;" : (),
		$way->{setup} || (), defined $way->{plan} ? "SELECT '<plan>';\nEXPLAIN (COSTS off" . ($way->{planned} =~ /ANALYZE/ ? ", $way->{planned}" : '') . ") $way->{plan};\nSELECT '<rows>';" : (), $way->{text}, '\o', 'ROLLBACK;', 'DEALLOCATE ALL;');
}

# Parse the output of a method: { error, message, rows, problem, plan }.
sub answer_of
{
	my ($said) = @_;
	my $plan = $said =~ s/^<plan>\n(.*?)^<rows>\n?//ms ? $1 : '';

	return { error => $1, message => $2, plan => $plan } if $said =~ /^(?:psql:[^\n]*?)?(?:ERROR|FATAL|PANIC):\s+(\w{5}): ([^\n]*)/m;
	my @parts = split /^<(?:part|answer)>\n?/m, $said, -1;
	my @rows = split /\n/, $parts[-1] // '';
	if (@parts > 2)
	{
		my @first = split /\n/, $parts[1];
		my @back = split /\n/, $parts[2];
		# if a cursor on three rows or fewer has moved past the last of them, moving back starts
		# with it
		my @expected = @rows >= 3 ? reverse(@rows[ 0 .. 1 ]) : @rows == 2 ? reverse(@rows) : @rows;
		return { rows => \@rows, plan => $plan, problem => 'FETCH 3 and FETCH ALL differ' } if "@first" ne "@rows[0 .. ($#rows < 2 ? $#rows : 2)]";
		return { rows => \@rows, plan => $plan, problem => "FETCH BACKWARD 2 gets '@back'" } if "@back" ne "@expected";
	}
	return { rows => \@rows, plan => $plan };
}

# Open the session if it is not open.
sub open_session
{
	return if defined $session;
	$session = session($node);
	$session->ask("\\pset null (null)\nSET client_min_messages = error");	# warnings are not rows; a semicolon would belong to \\pset
}

# Run something that is not a query; returns the output, or '' if there is no session.
sub ask_plainly { return $session ? $session->ask($_[0]) : '' }

# Run a query by several methods (separators are selected, because psql delays what it echoes until
# after an error); returns the answers, or undef for those that crashed the server.
sub ask
{
	my ($before, @ways) = @_;
	my @answers;
	my $n = 0;

	open_session();
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

# Close the session.
sub ask_no_more
{
	$session->quit if $session;
	undef $session;
}

# --------------------------------------------------------------------------------------------------------- compare

# Describe how an answer differs from the reference; '' if it does not.
sub difference
{
	my ($query, $reference, $answer) = @_;

	return "$answer->{error}: $answer->{message}" if ($answer->{error} // '') =~ /^(?:crash|XX)/;
	return '' if grep { defined $_->{error} && $_->{error} =~ /^(?:57014|53\d{3}|54\d{3})$/ } $reference, $answer;
	return '' if defined $reference->{error} && defined $answer->{error} && ($reference->{error} eq $answer->{error} || !$query->{same_error});
	return "error $answer->{error} and not $reference->{error}: $answer->{message}" if defined $reference->{error} && defined $answer->{error};
	return "an error on one side only: $_->{error}: $_->{message}" foreach grep { defined $_->{error} } $reference, $answer;
	return "a cursor's rows: $answer->{problem}" if $answer->{problem};
	return "groups are not ascending" if $query->{rises} && $answer->{plan} =~ /\A *Custom Scan \(EmogiAggregate\)/ && !rises(@{ $answer->{rows} });
	my @kinds = kinds_of($query, $answer);
	my @one = in_order($query, \@kinds, $reference);
	my @other = in_order($query, \@kinds, $answer);
	my $same = 0;

	$same++ while $same < @one && $same < @other && same_row($one[$same], $other[$same], \@kinds);
	return '' if $same == @one && $same == @other;
	return sprintf("rows differ: %d and not %d; first: %s and not %s", scalar @other, scalar @one, $other[$same] // '(none)', $one[$same] // '(none)');
}

# Are the first columns of rows, integers or uuids, ascending?
sub rises
{
	my @values = map { /\A([^|]*)/ } @_;

	return !grep { my ($one, $other) = @values[ $_ - 1, $_ ]; $one =~ /\A-?\d+\z/ ? $one >= $other : $one ge $other } 1 .. $#values;
}

# Get the kinds of a query's columns in an answer; none: all are compared as text.
sub kinds_of
{
	my ($query, $answer) = @_;
	my $plan = $answer->{plan} // '';
	my @kinds = map { $_ eq '+' && $plan =~ /\(EmogiAggregate\)/ || $_ eq '?' && $plan =~ /Rows Picked/ ? '=' : $_ eq '+' ? '~' : $_ } @{ $query->{kinds} // [] };

	return grep({ $_ ne '=' } @kinds) ? @kinds : ();
}

# Get an answer's rows as they are compared: sorted, unless the query determines their order, by the
# columns compared as text first.
sub in_order
{
	my ($query, $kinds, $answer) = @_;
	my @rows = @{ $answer->{rows} };
	my @exact = grep { $kinds->[$_] eq '=' } 0 .. $#$kinds;
	my @sums = grep { $kinds->[$_] eq '~' } 0 .. $#$kinds;

	return @rows if $query->{ordered};
	return sort @rows unless @$kinds;
	my @keyed = map { my @columns = split /\|/, $_, -1; [ $_, join('|', map { $_ // '' } @columns[@exact]), map { ($_ // '') =~ /^[-\d]/ ? $_ : 0 } @columns[@sums] ] } @rows;
	return map { $_->[0] } sort { $a->[1] cmp $b->[1] || by_sums($a, $b) } @keyed;
}

# Compare two rows by their sums, which follow two other fields.
sub by_sums
{
	my ($one, $other) = @_;

	foreach my $n (2 .. $#$one)
	{
		my $order = $one->[$n] <=> $other->[$n];
		return $order if $order;
	}
	return 0;
}

# Are two rows equal, by the kinds of their columns?
sub same_row
{
	my ($one, $other, $kinds) = @_;

	return 1 if $one eq $other;
	return 0 unless @$kinds;
	my @one = split /\|/, $one, -1;
	my @other = split /\|/, $other, -1;
	return 0 unless @one == @$kinds && @other == @$kinds;
	return !grep { !($kinds->[$_] eq '?' || $one[$_] eq $other[$_] || $kinds->[$_] eq '~' && are_close($one[$_], $other[$_])) } 0 .. $#$kinds;
}

# Are two floats equal except for their last digits?
sub are_close
{
	my ($one, $other) = @_;

	return 0 if grep { !/^-?\d/ } $one, $other;
	my ($larger) = sort { $b <=> $a } map { abs } $one, $other;
	return abs($one - $other) <= 1e-12 * $larger;
}

# ---------------------------------------------------------------------------------------------------------- reduce

# Split a query into words, strings, numbers and signs.
sub tokens { return $_[0] =~ /\G\s*(\x01.*?\x02|\x03.*?\x04|'(?:[^']|'')*'|[\w.]+|::|<=|>=|<>|=>|.)/sg }

# Count a word.
sub count_of { my ($word, @tokens) = @_; return scalar grep { $_ eq $word } @tokens }

# Does this query, run by this method, still fail in the same way?
sub still_wrong
{
	my ($query, $way, $verdict, $tokens) = @_;
	my %shorter = (%$query, sql => join(' ', @$tokens));
	my ($reference, $answer) = ask($query->{before}, reference_way(\%shorter),
		{ %{ way_of(\%shorter, $way->{name}, $way->{settings}, $way->{planned}) }, evict => $way->{evict} });

	return 0 if !$reference || !$answer || defined $reference->{error} && $verdict !~ /one side/;
	my $new = difference(\%shorter, $reference, $answer);
	return $new ne '' && substr($new, 0, 40) =~ s/\d+.*//sr eq substr($verdict, 0, 40) =~ s/\d+.*//sr && ($verdict !~ /one side/ || $new eq $verdict);
}

# Reduce a failing query by removing parts that are not needed for the failure.
sub reduced
{
	my ($query, $way, $verdict) = @_;
	my @tokens = tokens($query->{sql});
	my $end = time() + 60;

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
			# the order must still determine which rows a LIMIT cuts off
			next if count_of('ORDER', @piece) > count_of('LIMIT', @piece) + count_of('OFFSET', @piece) + count_of('OVER', @piece) + count_of('ON', @piece) && $verdict !~ /^(?:XX|crash)/;
			next if $query->{kinds} && grep { /[,\x03]/ } @piece;    # columns keep their positions and kinds
			next unless still_wrong($query, $way, $verdict, \@rest);
			@tokens = @rest;
			$at--;
		}
	}
	return (join(' ', @tokens), $way);
}

# Record a difference, unless there are many similar ones: print it, reduced as far as possible, and
# write it to the file EMOGI_FINDINGS. Returns 'internal' or 'differences'.
my (%seen, $nfindings);

sub record_finding
{
	my ($query, $way, $verdict, $title, $tables) = @_;
	my $internal = $verdict =~ /^(?:crash|XX)/;
	my $kind = $internal ? 'internal' : 'differences';
	my $class = $verdict =~ s/\d+/N/gr;

	$class = 'rows differ' if $class =~ /^rows differ/;
	return $kind if $seen{$class}++ >= ($internal ? 1 : 8) || ($nfindings // 0) >= $most_findings;
	$nfindings++;
	my ($sql, $reduced) = reduced($query, $way, $verdict);
	my $shown = with_literals($sql =~ s/\x03.*?\x04//sgr);
	my $finding = sprintf("%s, %s%s\n%s\n    %s;\n    as: %s\n", $title, $way->{name}, $query->{before} ? " after $query->{before}" : '', $verdict, $shown,
		join('; ', $reduced->{name}, @{ $reduced->{settings} })) . join('', map { "    $_;\n" } $tables ? $tables->($shown) : ());
	diag $finding;
	append_to_file($ENV{EMOGI_FINDINGS}, "$finding    in full: " . with_literals($query->{sql} =~ s/\x03.*?\x04//sgr) . "\n\n") if $ENV{EMOGI_FINDINGS};
	return $kind;
}

1;
