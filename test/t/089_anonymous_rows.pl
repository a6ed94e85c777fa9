# Keys that contain anonymous records are errors in every form and session: the type modifier of
# such a type is assigned per session, so another session would interpret the bytes of one type as
# another. ROW(a, b) of ordinary columns is a valid key.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use EmogiTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = crash_node('main', "emogi.max_memory = '128MB'");
my %session;

sub open_sessions { $session{$_} = session($node) foreach 'one', 'two' }

# Give the sessions different anonymous types: the second has created another one first.
sub open_differing
{
	open_sessions();
	$session{two}->ask('SELECT ARRAY[ROW(1::int8)]; SELECT ROW(1::text, ROW(2::float8)), ARRAY[ROW(1, 2, 3)]');
}

# Run a query in a session; a crash counts as an answer, and both sessions are reopened.
sub ask
{
	my ($who, $sql) = @_;
	my $answer = eval { $session{$who}->ask($sql) };

	return $answer if defined $answer && $answer !~ /server closed the connection|connection to server was lost|57P0[123]/;
	wait_for_restart($node, $sql);
	open_differing();
	return 'crash';
}

# Return whether an answer is an intended error: its SQLSTATE is not that of an internal one.
sub is_refused
{
	my ($who, $sql, $name) = @_;
	my $answer = ask($who, $sql);

	ok($answer =~ /ERROR:\s+(?!XX)\w{5}:/ && $answer !~ /ERROR:\s+XX|ERROR:\s+42883: +function emogi_|syntax error|is not unique/, "$name, session $who: an error") or diag "$sql\n$answer";
}

my $of = 'FROM generate_series(1, 3) AS x';
$node->safe_psql('postgres', q{
	CREATE TABLE e (a int, b int, c int, d int, t text);
	INSERT INTO e VALUES (1, 1, 1, 2, 'x'), (1, 2, 2, 2, 'y'), (5, 1, 5, 3, 'z');
	CREATE TYPE named AS (a int, b int);
	CREATE VIEW lines AS SELECT a, b, c, d, t FROM e WHERE a > 0;
	CREATE VIEW plain AS SELECT ROW(a, b)::named AS src, ROW(c, d)::named AS dst FROM e;
	CREATE FUNCTION pairs() RETURNS SETOF record LANGUAGE sql STABLE AS 'SELECT ARRAY[ROW(a, b)], ARRAY[ROW(c, d)] FROM e'});

# Anonymous records, as queries of two columns.
my %held = (
	'an array of rows' => "SELECT ARRAY[ROW(x, x + 1)] AS src, ARRAY[ROW(x + 1, x + 2)] AS dst $of",
	'an array of rows of a table' => 'SELECT ARRAY[ROW(a, b)] AS src, ARRAY[ROW(c, d)] AS dst FROM e',
	'an empty array of rows' => "SELECT ARRAY[ROW(x, x)] AS src, '{}'::record[] AS dst $of",
	'an array of two dimensions' => "SELECT ARRAY[ARRAY[ROW(x)], ARRAY[ROW(x)]] AS src, ARRAY[ARRAY[ROW(x + 1)], ARRAY[ROW(x)]] AS dst $of",
	'a row with an array of rows' => "SELECT ROW(x, ARRAY[ROW(x, x + 1)]) AS src, ROW(x + 1, ARRAY[ROW(x + 1, x + 2)]) AS dst $of",
	'a row within a row' => "SELECT ROW(x, ROW(x, x + 1)) AS src, ROW(x + 1, ROW(x + 1, x + 2)) AS dst $of",
	'a row within a row within a row' => "SELECT ROW(x, ROW(ROW(x), 1)) AS src, ROW(x + 1, ROW(ROW(x + 1), 1)) AS dst $of",
	'a row within a row, of text' => "SELECT ROW(x::text, ROW(x::text)) AS src, ROW((x + 1)::text, ROW((x + 1)::text)) AS dst $of",
	'array_agg of rows' => 'SELECT array_agg(ROW(a, b)) AS src, array_agg(ROW(c, d)) AS dst FROM e GROUP BY t',
	'array_append' => "SELECT array_append(NULL::record[], ROW(x, x)) AS src, array_append(NULL::record[], ROW(x + 1, x + 1)) AS dst $of",
	'a subquery that returns an array' => "SELECT ARRAY(SELECT ROW(x, y) FROM generate_series(1, 2) y) AS src, ARRAY(SELECT ROW(x + 1, y) FROM generate_series(1, 2) y) AS dst $of",
	'COALESCE' => "SELECT COALESCE(ARRAY[ROW(x)], ARRAY[ROW(0)]) AS src, COALESCE(NULL, ARRAY[ROW(x + 1)]) AS dst $of",
	'COALESCE of rows within rows' => "SELECT COALESCE(ROW(x, ROW(x)), ROW(0, ROW(0))) AS src, COALESCE(ROW(x + 1, ROW(x)), ROW(0, ROW(0))) AS dst $of",
	'CASE' => "SELECT CASE WHEN x > 1 THEN ARRAY[ROW(x)] ELSE ARRAY[ROW(x, x)] END AS src, ARRAY[ROW(x)] AS dst $of",
	'UNION ALL' => "SELECT ARRAY[ROW(x)] AS src, ARRAY[ROW(x + 1)] AS dst $of UNION ALL SELECT ARRAY[ROW(x, x)], ARRAY[ROW(x, x + 1)] $of",
	'UNION ALL of rows within rows' => "SELECT ROW(x, ROW(x)) AS src, ROW(x + 1, ROW(x)) AS dst $of UNION ALL SELECT ROW(1, ROW(x)), ROW(2, ROW(x)) $of",
	'a CTE' => "WITH q AS (SELECT ARRAY[ROW(x)] AS src, ARRAY[ROW(x + 1)] AS dst $of) SELECT src, dst FROM q",
	'a materialized CTE' => "WITH q AS MATERIALIZED (SELECT ROW(x, ROW(x)) AS src, ROW(x + 1, ROW(x)) AS dst $of) SELECT src, dst FROM q",
	'a recursive CTE' => 'WITH RECURSIVE q(n, src, dst) AS (SELECT 1, ARRAY[ROW(1)], ARRAY[ROW(2)] UNION ALL SELECT n + 1, ARRAY[ROW(n)], ARRAY[ROW(n + 1)] FROM q WHERE n < 3) SELECT src, dst FROM q',
	'a sub-query' => "SELECT src, dst FROM (SELECT ARRAY[ROW(x)] AS src, ARRAY[ROW(x + 1)] AS dst $of OFFSET 0) AS q",
	'VALUES' => 'SELECT * FROM (VALUES (ARRAY[ROW(1)], ARRAY[ROW(2)]), (ARRAY[ROW(2)], ARRAY[ROW(3)])) AS q(src, dst)',
	'arrays of rows of a view' => 'SELECT ARRAY[ROW(a, b)] AS src, ARRAY[ROW(c, d)] AS dst FROM lines',
	'arrays of whole rows' => 'SELECT ARRAY[ROW(e, 1)] AS src, ARRAY[ROW(e, 2)] AS dst FROM e',
	'rows within rows of a view' => 'SELECT ROW(a, ROW(b)) AS src, ROW(c, ROW(d)) AS dst FROM lines',
	'a function' => 'SELECT src, dst FROM pairs() AS q(src record[], dst record[])',
	'a row of a function' => 'SELECT ROW(1, src) AS src, ROW(2, dst) AS dst FROM pairs() AS q(src record[], dst record[])',
	'a weight beside' => "SELECT ARRAY[ROW(x)] AS src, ARRAY[ROW(x + 1)] AS dst, x AS weight $of",
	'a named type and an anonymous one' => "SELECT ROW(ROW(x, 1)::named, ARRAY[ROW(x)]) AS src, ROW(ROW(x, 2)::named, ARRAY[ROW(x)]) AS dst $of",
);

# Each of them, in both orders of the sessions, cold and warm.
foreach my $order ([ 'one', 'two' ], [ 'two', 'one' ])
{
	open_differing();
	foreach my $name (sort keys %held)
	{
		is_refused($_, "SELECT * FROM emogi_cc_text(\$q\$$held{$name}\$q\$)", $name) foreach @$order, @$order;
	}
}

# Every kind of graph argument, for three of them.
my $n = 0;
foreach my $graph ($held{'an array of rows'}, $held{'a row with an array of rows'}, $held{'rows within rows of a view'})
{
	my $quoted = "\$q\$$graph\$q\$";
	my %calls = (
		emogi_bfs => "SELECT * FROM emogi_bfs($quoted, '{\"(1,1)\"}'::text)",
		'emogi_bfs, unknown' => "SELECT * FROM emogi_bfs($quoted, '(1,\"(1)\")')",
		emogi_cc_text => "SELECT count(*) FROM emogi_cc_text($quoted)",
		emogi_sssp => "SELECT * FROM emogi_sssp($quoted, '{\"(1,1)\"}'::text)",
		emogi_shortest_path => "SELECT * FROM emogi_shortest_path($quoted, '{\"(1,1)\"}'::text, '{\"(2,3)\"}'::text)",
		emogi_pagerank_text => "SELECT * FROM emogi_pagerank_text($quoted)",
		'in the select list' => "SELECT (emogi_cc_text($quoted)).vertex",
		'joined' => "SELECT * FROM (VALUES ($quoted)) AS g(graph), emogi_cc_text(graph)",
		emogi_check => "SELECT * FROM emogi_check($quoted)",
		emogi_prewarm => "SELECT * FROM emogi_prewarm($quoted)",
		emogi_estimate => "SELECT * FROM emogi_estimate($quoted)",
		'EXPLAIN ANALYZE' => "EXPLAIN (ANALYZE, COSTS OFF) SELECT * FROM emogi_cc_text($quoted)",
		'emogi.enable_cache = off' => "SET emogi.enable_cache = off; SELECT * FROM emogi_cc_text($quoted)",
		'a prepared statement' => "PREPARE p$n AS SELECT * FROM emogi_cc_text($quoted); EXECUTE p$n; EXECUTE p$n",
		'a prepared statement with a parameter' => "PREPARE q$n(text) AS SELECT * FROM emogi_cc_text(\$1); EXECUTE q$n($quoted); EXECUTE q$n($quoted)",
	);
	$n++;
	foreach my $name (sort keys %calls)
	{
		is_refused($_, $calls{$name}, "$name of " . substr($graph, 0, 30)) foreach 'one', 'two', 'one';
		ask($_, 'RESET emogi.enable_cache; DEALLOCATE ALL') foreach 'one', 'two';
	}
	# EXPLAIN does not execute: an error or a plan, and no crash
	foreach my $who ('one', 'two')
	{
		my $plan = ask($who, "EXPLAIN (COSTS OFF) SELECT * FROM emogi_cc_text($quoted)");
		ok($plan ne 'crash' && $plan !~ /ERROR:\s+XX/, "EXPLAIN, session $who: no crash of " . substr($graph, 0, 30)) or diag $plan;
	}
}

# Start values, pairs and sources with such records, of graphs without and with them.
foreach my $who ('one', 'two', 'one')
{
	foreach my $graph ('e((a, b), (c, d))', 'plain', $held{'an array of rows of a table'}, $held{'rows within rows of a view'})
	{
		my $called = substr($graph, 0, 30);

		foreach my $held ('ARRAY[ROW(a, b)]', 'ROW(a, ROW(b))', 'ROW(a, ARRAY[ROW(b)])')
		{
			is_refused($who, "SELECT * FROM emogi_${_}_text(\$q\$$graph\$q\$, start => \$q\$SELECT $held, 1.0 FROM e\$q\$)", "start values $held of $_, of $called") foreach 'heat', 'circuit', 'neural', 'pagerank';
			is_refused($who, "SELECT * FROM emogi_similarity_text(\$q\$$graph\$q\$, pairs => \$q\$SELECT $held, $held FROM e\$q\$)", "pairs of $held, of $called");
			is_refused($who, "SELECT * FROM emogi_cc_text(emogi_with_vertices(\$q\$$graph\$q\$, \$q\$SELECT $held FROM e\$q\$))", "vertices $held, of $called");
		}
	}
}

# Rows of ordinary columns, of named types and of their arrays are valid keys, in both sessions, hit
# or built.
my @fine = (
	[ 'rows of a query' => 'SELECT ROW(a, b) AS src, ROW(c, d) AS dst FROM e', '(1,1) (1,2) (2,2) (5,1) (5,3)' ],
	[ 'columns in parentheses' => 'e((a, b), (c, d))', '(1,1) (1,2) (2,2) (5,1) (5,3)' ],
	[ 'a view of rows' => 'plain', '(1,1) (1,2) (2,2) (5,1) (5,3)' ],
	[ 'rows, UNION' => 'SELECT ROW(a, b) AS src, ROW(c, d) AS dst FROM e UNION ALL SELECT ROW(7, 7), ROW(8, 8)', '(1,1) (1,2) (2,2) (5,1) (5,3) (7,7) (8,8)' ],
	[ 'rows of a CTE' => 'WITH q AS (SELECT ROW(a, b) AS src, ROW(c, d) AS dst FROM e) SELECT src, dst FROM q', '(1,1) (1,2) (2,2) (5,1) (5,3)' ],
	[ 'rows with text' => 'SELECT ROW(t, a) AS src, ROW(t, c + 10) AS dst FROM e', '(x,1) (x,11) (y,1) (y,12) (z,15) (z,5)' ],
	[ 'named types' => 'SELECT ROW(a, b)::named AS src, ROW(c, d)::named AS dst FROM e', '(1,1) (1,2) (2,2) (5,1) (5,3)' ],
	[ 'arrays of named types' => 'SELECT ARRAY[ROW(a, b)::named] AS src, ARRAY[ROW(c, d)::named] AS dst FROM e', '{"(1,1)"} {"(1,2)"} {"(2,2)"} {"(5,1)"} {"(5,3)"}' ],
	[ 'rows with a named type' => 'SELECT ROW(ROW(a, b)::named, 1) AS src, ROW(ROW(c, d)::named, 1) AS dst FROM e', '("(1,1)",1) ("(1,2)",1) ("(2,2)",1) ("(5,1)",1) ("(5,3)",1)' ],
	[ 'rows with an array of integers' => 'SELECT ROW(ARRAY[a], b) AS src, ROW(ARRAY[c], d) AS dst FROM e', '({1},1) ({1},2) ({2},2) ({5},1) ({5},3)' ],
);
foreach my $case (@fine)
{
	my ($name, $graph, $vertices) = @$case;

	foreach my $who ('one', 'two', 'two', 'one')
	{
		is(ask($who, "SELECT string_agg(vertex, ' ' ORDER BY vertex COLLATE \"C\") FROM emogi_cc_text(\$q\$$graph\$q\$)"), $vertices, "$name, session $who: keys");
	}
}
is(ask($_, q{SELECT vertex, distance FROM emogi_sssp('e((a, b), (c, d))', '(1,1)'::text)}), "(1,1)|0\n(1,2)|1\n(2,2)|2", "a source that is a row, session $_") foreach 'one', 'two';

$session{$_}->quit foreach 'one', 'two';
no_crash($node);
done_testing();
