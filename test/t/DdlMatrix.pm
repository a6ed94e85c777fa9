# Driver for the table of DDL statements of 088_ddl_matrix.pl.
package DdlMatrix;

use strict;
use warnings;

use EmogiTest;
use Exporter 'import';
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

our @EXPORT = qw(matrix_node run_matrix commands_of_psql);

my $path = 'SET search_path = first, m, public';
my ($node, $version, %session);
my ($ngraphs, $nhits) = (0, 0);

# Get the cluster of the matrix, with its sessions: caller, other, fresh.
sub matrix_node
{
	my (@conf) = @_;

	$node = crash_node('main', "emogi.max_memory = '256MB'", 'shared_buffers = 16MB', 'jit = off', 'statement_timeout = 30s', 'lock_timeout = 10s', 'emogi.incremental_min_size = 0', @conf);
	$version = int($node->safe_psql('postgres', 'SHOW server_version_num') / 10000);
	$node->safe_psql('postgres', q{CREATE ROLE ddl_alice; CREATE ROLE ddl_bob; CREATE ROLE ddl_carol; CREATE ROLE ddl_group; GRANT CREATE ON SCHEMA public TO ddl_bob});
	open_sessions();
	return $node;
}

sub open_sessions
{
	$session{$_} = session($node) foreach qw(caller other fresh);
}

# Run several statements in a session; returns the answers, with errors as "error SQLSTATE".
sub ask_all
{
	my ($who, @sql) = @_;
	my $out = $session{$who}->ask(join("\n", map { "\\echo == next\n" . (/^\\/ ? $_ : "$_;") } @sql));
	my (undef, @answers) = split /^== next\n?/m, "$out\n", -1;

	return map { /(?:ERROR|FATAL|PANIC):\s+(\w{5}):/ ? "error $1" : s/\n+\z//r } @answers;
}

# Get the statement that calls a graph: its vertices, and after "=>" their components.
sub call_of
{
	my ($graph) = @_;

	return $graph if $graph =~ /emogi_/;
	return qq{SELECT concat(string_agg(vertex, ' ' ORDER BY vertex COLLATE "C"), ' => ', string_agg(component, ' ' ORDER BY vertex COLLATE "C")) FROM emogi_cc_text(\$graph\$$graph\$graph\$)};
}

# Get the statement that lists the vertices of a graph in plain SQL; undef if that is not simple.
sub plain_of
{
	my ($graph) = @_;

	return undef if $graph =~ /emogi_|^SELECT \*/ || $graph =~ /\(\(/ && $graph !~ /^SELECT/;
	my $query = $graph =~ /^SELECT/ ? $graph : $graph =~ /^(\S+)\((\w+), (\w+)\)$/ ? "SELECT $2 AS src, $3 AS dst FROM $1" : "SELECT src, dst FROM $graph";
	return qq{WITH q AS MATERIALIZED ($query), ends AS (SELECT src, dst FROM q WHERE src IS NOT NULL AND dst IS NOT NULL) SELECT string_agg(v::text, ' ' ORDER BY v::text COLLATE "C") FROM (SELECT src FROM ends UNION SELECT dst FROM ends) u(v)};
}

# Compare, in one session, the answers of calls (twice) with those without the cache, and with plain
# SQL. Returns the answers without the cache; differences are added to the row. In a transaction,
# errors are caught by savepoints.
sub check
{
	my ($who, $phase, $row, $in_transaction) = @_;
	my @graphs = @{ $row->{graphs} };
	my $safely = sub { my ($sql) = @_; return $in_transaction ? "SAVEPOINT a;\n$sql;\nROLLBACK TO a" : $sql };
	my @answers = ask_all($who, map({ my $call = $safely->(call_of($_)); ($call, $call) } @graphs), 'SET emogi.enable_cache = off', map({ $safely->(call_of($_)) } @graphs),
		'SET emogi.enable_cache = on', map { $safely->($row->{sql} ? plain_of($_) // 'SELECT 1' : 'SELECT 1') } @graphs);
	my $n = @graphs;
	my @off;

	foreach my $i (0 .. $n - 1)
	{
		my ($first, $second, $off, $plain) = @answers[2 * $i, 2 * $i + 1, 2 * $n + 1 + $i, 3 * $n + 2 + $i];
		my @wrong;

		push @off, $off;
		push @wrong, "STALE: $first, without the cache $off" if $first ne $off;
		push @wrong, "STALE at the second call: $second, without the cache $off" if $first eq $off && $second ne $off;
		push @wrong, 'internal error' if "$first $second $off" =~ /error XX/;
		push @wrong, "without the cache $off, in SQL $plain" if $row->{sql} && defined plain_of($graphs[$i]) && !same($off, $plain);
		push @{ $row->{wrong} }, map { "$phase, $graphs[$i]: $_" } @wrong;
	}
	return \@off;
}

# Return whether an answer of emogi_cc_text and one of plain SQL have the same vertices, or are both
# errors.
sub same
{
	my ($off, $plain) = @_;

	return $plain =~ /^error/ if $off =~ /^error/;
	return $plain eq $off =~ s/ => .*//sr;
}

# Call every graph three times, because the cache keeps some from the second call on; counts the
# hits of the third.
sub warm
{
	my ($row) = @_;
	my @calls = map { my $call = call_of($_); "$call;\n$call;\n$call;\nSELECT 'cache: ' || cache FROM emogi_runs WHERE pid = pg_backend_pid() ORDER BY id DESC LIMIT 1" } @{ $row->{graphs} };

	foreach my $answer (ask_all('caller', @calls))
	{
		$ngraphs++;
		$nhits++ if $answer =~ /cache: hit\z/;
	}
}

# Run the DDL of a row in a session; dies unless it succeeds.
sub change
{
	my ($who, $row, $sql) = @_;
	my ($answer) = ask_all($who, "RESET ROLE;\n$sql");

	return if $answer eq ($row->{error} ? "error $row->{error}" : '') || !$row->{error} && $answer !~ /^error/;
	die "$sql: $answer\n";
}

# Run the DDL in the transaction of the calls, and roll it back. Returns the answers within the
# transaction.
sub in_transaction
{
	my ($row, $before) = @_;
	my $within = [];

	ask_all('caller', 'BEGIN');
	change('caller', $row, $row->{ddl});
	ask_all('caller', $row->{role});
	$within = check('caller', 'in the transaction of the DDL', $row, 1) if !$row->{error};
	ask_all('caller', 'ROLLBACK');
	my $off = check('caller', 'after ROLLBACK', $row);
	push @{ $row->{wrong} }, "after ROLLBACK the answers differ from those before: @$off" if "@$off" ne "@$before";
	warm($row);
	return @$within;
}

# Run the DDL in another session, or in that of the calls if it concerns sessions. Returns the
# answers after it, in an old and a fresh session.
sub by_another
{
	my ($row) = @_;
	my $old = $row->{tx} && $row->{old} && !$row->{own};

	# a snapshot without a lock on a table of the graph: calls read new catalogs and old rows
	ask_all('caller', 'BEGIN ISOLATION LEVEL REPEATABLE READ', 'SELECT count(*) FROM pg_am') if $old;
	change($row->{own} ? 'caller' : 'other', $row, $row->{ddl});
	ask_all('caller', $row->{role}) if $row->{own} && !$row->{keep_role};
	wait_until(30, sub { (ask_all('caller', $row->{wait}))[0] ne $row->{value} }) if $row->{wait};
	if ($old)
	{
		check('caller', 'under a snapshot older than the DDL', $row, 1);
		ask_all('caller', 'COMMIT');
	}
	my @after = @{ check('caller', 'after the DDL of another session', $row) };
	ask_all('fresh', '\c', 'SET client_min_messages = warning', $row->{path} // $path, $row->{role}, $row->{session} // '');
	change('fresh', $row, $row->{ddl}) if $row->{own};
	ask_all('fresh', $row->{role}) if $row->{own} && !$row->{keep_role};
	return (@after, @{ check('fresh', 'in a fresh session', $row) });
}

# Undo the DDL; then build graphs while the undo is open in another session, and commit it: the
# graphs are stale.
sub undone
{
	my ($row) = @_;

	change($row->{own} ? 'caller' : 'other', {}, $row->{undo});
	ask_all('caller', $row->{role});
	wait_until(30, sub { (ask_all('caller', $row->{wait}))[0] eq $row->{value} }) if $row->{wait};
	check('caller', 'after the DDL was undone', $row);
	return if !$row->{tx} || $row->{own} || $row->{can} eq 'harmless';
	ask_all('other', 'BEGIN');
	change('other', $row, $row->{ddl});
	ask_all('caller', 'SELECT emogi_evict()', q{SET lock_timeout = '10ms'}, map({ my $call = call_of($_); ($call, $call) } @{ $row->{graphs} }), 'RESET lock_timeout');
	ask_all('other', 'COMMIT');
	check('caller', 'after the DDL that was open when the graph was built', $row);
	change('other', {}, $row->{undo});
}

# Run one row: setup, warm calls, the DDL in the same transaction and rolled back, the DDL in
# another session, undo. Returns the errors.
sub run_row
{
	my ($row) = @_;
	my $server = sprintf(q{host '%s', port '%s'}, $node->host, $node->port);

	change('other', {}, join(";\n", 'CREATE SCHEMA m', 'GRANT USAGE ON SCHEMA m TO PUBLIC', 'SET search_path = m, public', $row->{setup} =~ s/HOSTPORT/$server/r, $path));
	ask_all('caller', $path, $row->{role}, $row->{session} // '');
	($row->{value}) = ask_all('caller', $row->{wait}) if $row->{wait};
	warm($row);
	my $before = check('caller', 'before', $row);
	my @after = (($row->{tx} ? in_transaction($row, $before) : ()), by_another($row));
	undone($row) if $row->{undo};

	my $changed = grep { $after[$_] ne $before->[ $_ % @$before ] } 0 .. $#after;
	push @{ $row->{wrong} }, 'the DDL should change a graph, but changed none: ' . join('; ', @$before) if $row->{can} ne 'harmless' && !$changed;
	push @{ $row->{wrong} }, 'the DDL should be harmless, but changed a graph: ' . join('; ', @$before, '->', @after) if $row->{can} eq 'harmless' && $changed;
}

# Drop the objects that a row has left.
sub clean_up
{
	my ($row) = @_;

	ask_all('caller', 'ROLLBACK', 'RESET SESSION AUTHORIZATION', 'RESET ROLE', 'RESET ALL', 'SET client_min_messages = warning');
	ask_all('fresh', 'ROLLBACK', '\c', 'SET client_min_messages = warning');
	ask_all('other', 'ROLLBACK', 'RESET ROLE', 'DROP SCHEMA IF EXISTS m, first, other CASCADE', $row->{clean} // '');
}

# Run all rows of the table that apply to the version, one test each.
sub run_matrix
{
	my ($fixture, $rows) = @_;

	foreach (@$rows)
	{
		my ($form, $can, $name, $ddl, $undo, $options) = @$_;
		my ($setup, @graphs) = @{ $fixture->{$name} // die "no fixture $name" };
		my $row = { form => $form, can => $can =~ s/:.*//sr, setup => $setup, graphs => \@graphs, ddl => $ddl, undo => $undo, wrong => [], tx => 1, sql => 1, old => 1, %{ $options // {} } };

		$row->{setup} = join('; ', grep { $_ } $setup, $options->{setup});
		$row->{role} = $row->{as} ? "SET ROLE $row->{as}" : 'RESET ROLE';
	  SKIP:
		{
			skip "$form: another version", 1 if $version < ($row->{min} // 0) || $version > ($row->{max} // 99);
			skip "$form: not on this server", 1 if $row->{if} && (ask_all('other', "SELECT $row->{if}"))[0] ne 't';
			push @{ $row->{wrong} }, $@ if !eval { run_row($row); 1 };
			ok(!@{ $row->{wrong} }, "$form ($row->{can})") or diag map { "  $_\n" } @{ $row->{wrong} };
			eval { clean_up($row); 1 } or do {
				diag "$form: a session has ended: $@";
				wait_until(60, sub { $node->safe_psql('postgres', 'SELECT 1') eq '1' });
				open_sessions();
				clean_up($row);
			};
		}
	}
	note "$nhits of $ngraphs graphs were hits before the DDL";
	cmp_ok($nhits, '>', $ngraphs / 2, 'most graphs were hits before the DDL');
}

# Get the commands listed by psql, which prints them in columns of equal width.
sub commands_of_psql
{
	my ($stdout) = run_command([ 'psql', '-X', '-d', $node->connstr('postgres'), '-c', '\h' ]);
	my @lines = grep { /^  [A-Z]/ } split /\n/, $stdout;

	foreach my $width (20 .. 80)
	{
		my @cells = map { my $line = substr($_, 2); map { substr($line, $_ * $width, $width) } 0 .. int((length($line) - 1) / $width) } @lines;
		return map { s/\s+\z//r } @cells if !grep { !/^[A-Z]+( [A-Z]+)*\s+\z/ && !/^[A-Z]+( [A-Z]+)*\z/ || /^.{$width}\z/ && !/ \z/ } @cells;
	}
	die "psql lists commands in an unknown format: $stdout";
}

1;
