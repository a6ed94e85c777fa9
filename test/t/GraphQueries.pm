# Random queries that return edges, as graph arguments: nested up to 40 levels in all forms of
# subqueries, with keys of many types. Their columns are a and b, the endpoints, and w, the weight.
#
# The result of a query is determined: nothing is volatile, and LIMIT is used only if all columns
# are ordered by. The server copies the expression of a computed column to each of its uses: if a
# form uses a column twice, OFFSET 0 or MATERIALIZED prevents the copies from doubling at each
# level. LIMIT keeps the number of rows small.
package GraphQueries;

use strict;
use warnings;

use Exporter 'import';
use RandomQueries qw(any maybe);

our @EXPORT = qw(graph_tables random_graph);

# Types of keys: values as SQL, and an expression with the type's own cast.
my %types = (
	int => { values => [ map { "$_" } 1 .. 6 ], cast => 'int' },
	bigint => { values => [ 1, 2, 3, '-4', '9223372036854775807' ], cast => 'bigint' },
	text => { values => [ map { "'$_'" } 'a', 'b', 'c d', 'e"f', '', 'NULL' ], cast => 'text' },
	uuid => { values => [ map { "'00000000-0000-0000-0000-00000000000$_'" } 1 .. 5 ], cast => 'uuid' },
	date => { values => [ map { "'2024-01-0$_'" } 1 .. 5 ], cast => 'date' },
	numeric => { values => [ 1, 2, '3.5', '-4', '1e30' ], cast => 'numeric' },
	domain => { values => [ 1 .. 5 ], cast => 'few' },
	enum => { values => [ map { "'$_'" } qw(red green blue) ], cast => 'color' },
	range => { values => [ map { "'[$_,9)'" } 1 .. 4 ], cast => 'int4range' },
	array => { values => [ map { "'{$_,2}'" } 1 .. 4 ], cast => 'int[]' },
	pair => { values => [ map { "ROW($_, 'x')" } 1 .. 5 ], cast => 'pair' },
	nested => { values => [ map { "ROW($_, ROW($_, 'y')::pair)" } 1 .. 4 ], cast => 'nested' },
	pairs => { values => [ map { "ARRAY[ROW($_, 'x')::pair]" } 1 .. 4 ], cast => 'pair[]' });

# Keys that are anonymous rows have no cast.
my %rows = (
	row => [ map { "ROW($_, 2)" } 1 .. 5 ],
	row_of_text => [ map { "ROW($_, 'x'::text)" } 1 .. 5 ],
	row_of_one => [ map { "ROW($_)" } 1 .. 4 ],
	row_of_literals => [ map { "ROW('k$_', 1)" } 1 .. 4 ],
	row_of_rows => [ map { "ROW($_, ROW(1, 2))" } 1 .. 3 ],
	wide_row => [ map { 'ROW(' . join(', ', ($_) x 9) . ')' } 1 .. 3 ]);

# Write a key of a type.
sub key
{
	my ($type) = @_;

	return any(@{ $rows{$type} }) if $rows{$type};
	return any(@{ $types{$type}{values} }) . "::$types{$type}{cast}";
}

# Get the commands that create the objects read by the queries.
sub graph_tables
{
	my @sql = ("CREATE TYPE color AS ENUM ('red', 'green', 'blue')", 'CREATE DOMAIN few AS int CHECK (VALUE < 100)', 'CREATE TYPE pair AS (a int, b text)', 'CREATE TYPE nested AS (a int, p pair)');

	foreach my $type (sort keys %types)
	{
		push @sql, "CREATE TABLE e_$type (a $types{$type}{cast}, b $types{$type}{cast}, w float8)",
		  "INSERT INTO e_$type VALUES " . join(', ', map { '(' . key($type) . ', ' . key($type) . ', ' . any(0, 1, 2, 0.5) . ')' } 1 .. 8),
		  "CREATE VIEW v_$type AS SELECT a, b, w FROM e_$type UNION SELECT b, a, w FROM e_$type",
		  "CREATE FUNCTION f_$type() RETURNS SETOF e_$type LANGUAGE sql STABLE AS 'SELECT a, b, w FROM v_$type'",
		  "CREATE FUNCTION g_$type(x $types{$type}{cast}) RETURNS $types{$type}{cast} LANGUAGE sql STABLE AS 'SELECT a FROM e_$type WHERE a = x ORDER BY a LIMIT 1'",
		  "CREATE FUNCTION p_$type(x $types{$type}{cast}) RETURNS $types{$type}{cast} LANGUAGE plpgsql IMMUTABLE AS 'BEGIN RETURN x; END'";
	}
	return @sql;
}

# Write a query without a nested one.
sub base
{
	my ($type) = @_;
	my $named = $types{$type} && maybe(0.7);

	return any("SELECT a, b, w FROM e_$type", "SELECT a, b, w FROM v_$type", "SELECT a, b, w FROM f_$type()", "SELECT b AS a, a AS b, w FROM ONLY e_$type", "TABLE e_$type", maybe(0.1) ? "SELECT a, b, w FROM e_$type FOR UPDATE" : "TABLE v_$type",
		"SELECT * FROM e_$type TABLESAMPLE BERNOULLI (100)", "SELECT a, b, w FROM ROWS FROM (f_$type()) WITH ORDINALITY AS t(a, b, w, n)") if $named;
	return 'SELECT ' . key($type) . ' AS a, ' . key($type) . ' AS b, ' . any(1, '0.5', 'NULL') . '::float8 AS w' if maybe(0.4);
	return 'SELECT a, b, w FROM (VALUES ' . join(', ', map { '(' . key($type) . ', ' . key($type) . ', 1::float8)' } 1 .. 1 + rand(4)) . ') AS v(a, b, w)';
}

# Forms of a query around another (%q), which they reference once, or (in the second list) whose
# columns they use more than once. %n is a unique number, %b another query, %k a key, %o what
# prevents copies by the server, %m the same for WITH.
my @once = (
	'SELECT a, b, w FROM (%q) AS s%n', 'SELECT s%n.* FROM (%q) AS s%n(a, b, w)', 'WITH c%n AS %m (%q) SELECT a, b, w FROM c%n', 'WITH c%n(b, a, w) AS (%q) SELECT a, b, w FROM c%n', 'SELECT b AS a, a AS b, w FROM (%q) AS s%n %o',
	'(%q) UNION (%b)', '(%q) UNION ALL (%b)', '(%q) INTERSECT (%q)', '(%q) INTERSECT ALL (%b)', '(%q) EXCEPT (%b)', '(%q) EXCEPT ALL (%b)', '(%b) UNION ((%q) EXCEPT (%b))',
	'SELECT a, b, w FROM (%q) AS s%n GROUP BY a, b, w', 'SELECT a, b, sum(w) AS w FROM (%q) AS s%n GROUP BY a, b', 'SELECT a, b, max(w) AS w FROM (%q) AS s%n GROUP BY GROUPING SETS ((a, b), (a))',
	'SELECT a, b, max(w) AS w FROM (%q) AS s%n GROUP BY ROLLUP (a, b)', 'SELECT a, b, count(*)::float8 AS w FROM (%q) AS s%n GROUP BY CUBE (a, b) HAVING count(*) > 0', 'SELECT DISTINCT a, b, w FROM (%q) AS s%n',
	'SELECT DISTINCT ON (a) a, b, w FROM (%q) AS s%n ORDER BY a, b, w', '(%q) ORDER BY 1, 2, 3 LIMIT 5', 'SELECT a, b, w FROM (%q) AS s%n ORDER BY a, b, w OFFSET 1 LIMIT 20',
	'SELECT a, b, row_number() OVER (PARTITION BY a ORDER BY b, w)::float8 AS w FROM (%q) AS s%n', 'SELECT a, first_value(b) OVER (PARTITION BY a ORDER BY b) AS b, w FROM (%q) AS s%n', 'SELECT a, lag(b) OVER (ORDER BY a, b, w) AS b, w FROM (%q) AS s%n',
	'SELECT (SELECT a) AS a, (SELECT b) AS b, w FROM (%q) AS s%n %o', 'SELECT NULLIF(a, %k) AS a, b, w FROM (%q) AS s%n %o', 'SELECT GREATEST(a, %k) AS a, LEAST(b, %k) AS b, w FROM (%q) AS s%n %o',
	'SELECT CASE WHEN w > 0 THEN a ELSE %k END AS a, b, w FROM (%q) AS s%n %o', 'SELECT COALESCE(a, %k) AS a, COALESCE(%k, b) AS b, w FROM (%q) AS s%n %o', 'SELECT a, b, w FROM (%q) AS s%n WHERE EXISTS (SELECT FROM (%b) AS t WHERE t.a = s%n.a)',
	'SELECT a, b, w FROM (%q) AS s%n WHERE a IN (SELECT b FROM (%b) AS t)', 'SELECT a, b, w FROM (%q) AS s%n WHERE now() > %t', 'SELECT a, b, w FROM (%q) AS s%n WHERE a IS NOT NULL AND b <> %k',
	'SELECT l%n.a, l%n.b, l%n.w FROM (%q) AS s%n, LATERAL (SELECT s%n.a, s%n.b, s%n.w %o) AS l%n', 'SELECT s%n.a, s%n.b, s%n.w FROM (%q) AS s%n LEFT JOIN (%b) AS t ON s%n.a = t.b', 'SELECT a, s%n.b, s%n.w FROM (%q) AS s%n JOIN (%b) AS t USING (a)',
	'SELECT a, b, s%n.w FROM (%q) AS s%n FULL JOIN (%b) AS t USING (a, b)', 'SELECT a, b, w FROM (%q) AS s%n NATURAL JOIN (%b) AS t', 'SELECT j.a, j.b, j.w FROM ((%q) AS s%n CROSS JOIN (SELECT 1) AS t(z)) AS j(a, b, w)',
	'SELECT j.a, s%n.b, s%n.w FROM (%q) AS s%n JOIN (%b) AS t USING (a) AS j', 'SELECT a, x AS b, w FROM (%q) AS s%n, LATERAL unnest(ARRAY[b]) AS x', 'SELECT x.a, x.b, x.w FROM (SELECT array_agg(s%n ORDER BY s%n) AS rows FROM (%q) AS s%n(a, b, w)) AS t, unnest(rows) AS x(a %c, b %c, w float8)',
	'SELECT a[1] AS a, b[1] AS b, w FROM (SELECT ARRAY[a] AS a, ARRAY[b] AS b, w FROM (%q) AS s%n %o) AS t%n', 'SELECT (r).a, (r).b, (r).w FROM (SELECT t%n AS r FROM (%q) AS t%n %o) AS s%n', 'SELECT g_%y(a) AS a, b, w FROM (%q) AS s%n %o', 'SELECT p_%y(a) AS a, b, w FROM (%q) AS s%n %o',
	'SELECT a, b, w FROM (%q) AS s%n FOR UPDATE', 'WITH RECURSIVE r%n(a, b, w, n) AS (SELECT a, b, w, 1 FROM (%q) AS s%n UNION SELECT b, a, w, n + 1 FROM r%n WHERE n < 3) SELECT a, b, w FROM r%n',
	'WITH RECURSIVE r%n(a, b, w) AS ((%q) UNION SELECT b, a, w FROM r%n) SELECT a, b, w FROM r%n', 'SELECT a, b, w FROM (SELECT a, b, w, 1 AS z FROM (%q) AS s%n) AS t%n WHERE z = 1', '(%q) UNION ALL SELECT NULL, NULL, NULL');
my @twice = (
	'SELECT COALESCE(a, b) AS a, COALESCE(b, a) AS b, w FROM (%q OFFSET 0) AS s%n', 'SELECT COALESCE(a, a) AS a, b, w FROM (%q OFFSET 0) AS s%n', 'SELECT CASE WHEN w > 1 THEN a ELSE a END AS a, CASE WHEN w IS NULL THEN b ELSE a END AS b, w FROM (%q OFFSET 0) AS s%n',
	'WITH c%n AS MATERIALIZED (%q) SELECT a, b, w FROM c%n UNION SELECT b, a, w FROM c%n', 'WITH c%n AS MATERIALIZED (%q) (SELECT a, b, w FROM c%n UNION ALL SELECT a, b, w FROM c%n) ORDER BY 1, 2, 3 LIMIT 20',
	'WITH c%n AS MATERIALIZED (%q) SELECT a, b, x.w FROM c%n AS x JOIN c%n AS y USING (a, b) ORDER BY 1, 2, 3 LIMIT 20', 'WITH c%n AS MATERIALIZED (%q) SELECT * FROM c%n NATURAL JOIN c%n AS d ORDER BY 1, 2, 3 LIMIT 20',
	'SELECT v%n.a, v%n.b, v%n.w FROM (%q OFFSET 0) AS s%n, LATERAL (VALUES (s%n.a, s%n.b, s%n.w), (s%n.b, s%n.a, s%n.w)) AS v%n(a, b, w) ORDER BY 1, 2, 3 LIMIT 20', 'SELECT a, b, w FROM (%q OFFSET 0) AS s%n, LATERAL (SELECT COALESCE(s%n.a, s%n.a) OFFSET 0) AS l%n(a%n)',
	'WITH c%n AS MATERIALIZED (%q) SELECT (SELECT a FROM c%n ORDER BY a, b, w LIMIT 1) AS a, (SELECT b FROM c%n ORDER BY b LIMIT 1) AS b, w FROM c%n', 'WITH c%n AS MATERIALIZED (%q) SELECT * FROM c%n INTERSECT SELECT * FROM c%n',
	'WITH RECURSIVE c%n AS MATERIALIZED (%q), r%n(a, b, w) AS (SELECT a, b, w FROM c%n UNION SELECT r%n.a, c%n.b, c%n.w FROM r%n JOIN c%n ON r%n.b = c%n.a) SELECT a, b, w FROM r%n ORDER BY 1, 2, 3 LIMIT 20');

# The same around a call of emogi: with integer keys, whose vertices are bigint.
my @calls = (
	'SELECT s%n.a, vertex::int AS b, s%n.w FROM (%q) AS s%n JOIN emogi_bfs($inner$SELECT a AS src, b AS dst FROM e_int$inner$, 1) ON vertex = s%n.a', 'SELECT vertex::int AS a, level AS b, 1::float8 AS w FROM emogi_bfs($q%n$SELECT a AS src, b AS dst FROM (%q) AS s%n$q%n$, 1)',
	'SELECT vertex::int AS a, component::int AS b, 1::float8 AS w FROM emogi_cc($q%n$%q$q%n$)', 'SELECT a, b, w FROM (%q) AS s%n WHERE EXISTS (SELECT FROM emogi_bfs($inner$SELECT a AS src, b AS dst FROM e_int$inner$, 2) WHERE vertex = b)');

# Wrap a query once.
sub wrapped
{
	my ($query, $type, $n, $only) = @_;
	my $form = $only // (maybe(0.35) ? any(@twice) : any(@once));
	# arrays and function arguments need a known type; locked rows are rejected in most places
	$form = any(@once) while !defined $only && ($rows{$type} && $form =~ /unnest|ARRAY|_%y|%c/ || $form =~ /FOR UPDATE/ && maybe(0.9));
	$form = any(@calls) if !defined $only && $type eq 'int' && maybe(0.2);
	my $now = any('', '', 'MATERIALIZED', 'MATERIALIZED');
	my %parts = (
		q => $query, n => $n, m => $now, o => any('', 'OFFSET 0', 'OFFSET 0'), y => $types{$type} ? $type : 'int', t => any("'2000-01-01'", "CURRENT_DATE - interval '1 day'", 'now() - (now() - now()) - interval $$1 s$$'), c => $types{$type} ? $types{$type}{cast} : 'record');

	$parts{q} = "SELECT * FROM ($query) AS q$n" if $query =~ /FOR UPDATE|LIMIT|OFFSET|^\(|UNION|INTERSECT|EXCEPT/;
	$form =~ s/%([qnmoytcbk])/$1 eq 'b' ? base($type) : $1 eq 'k' ? key($type) : $parts{$1}/ge;
	return $form;
}

# Create a random graph argument: { text, type, depth, direct: the query of its endpoints, sources:
# keys as SQL text }.
sub random_graph
{
	my $type = any(maybe(0.4) ? sort keys %rows : sort keys %types, 'int', maybe(0.5) ? ('row', 'row_of_text') x 4 : ());
	my $depth = maybe(0.2) ? 20 + int(rand(21)) : int(rand(8));
	my $same = $depth >= 20 && maybe(0.5) ? any(@twice) : undef;
	my $query = base($type);
	my $text;

	foreach my $n (1 .. $depth)
	{
		my $next = wrapped($query, $type, $n, $same);
		# two copies of a query at each level would be too many at the last
		$query = length($next) > 60000 ? $query : $next;
	}
	my $columns = any('a AS src, b AS dst', 'a AS src, b AS dst, w AS weight', 'a AS source, b AS target, w AS cost', "'x' AS label, a AS src, b AS dst");
	my $graph = maybe(0.2) ? $query : "SELECT $columns FROM ($query) AS g";
	return { is_named => $graph ne $query, text => $graph, type => $type, depth => $depth, source => any(@{ $rows{$type} // $types{$type}{values} }), ends => "SELECT a, b FROM ($query) AS g(a, b, w)", key => key($type) };
}

1;
