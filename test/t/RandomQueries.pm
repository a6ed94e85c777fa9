# Random queries over emogi's functions, and their tables and views. Types: i (integers), f
# (float8), b (bool), t (text).
#
# The answer of a query is determined: LIMIT is used only if all columns are ordered by, no sum can
# be rounded differently, and no expression can fail for rows that another order of evaluation would
# skip. A constant is written \x01type:literal\x02, so that a caller can replace it with a
# parameter.
package RandomQueries;

use strict;
use warnings;

use Exporter 'import';

our @EXPORT = qw(random_tables random_query with_literals with_parameters any maybe);

sub any { return $_[ int(rand(@_)) ] }
sub maybe { return rand() < $_[0] }

# Get some elements of a list, in its order; at least one.
sub some
{
	my ($share, @list) = @_;
	my @some = grep { maybe($share) } @list;

	return @some ? @some : any(@list);
}

# ------------------------------------------------------------------------------------------------------------- tables

my %ends = (
	dense => [ 1 .. 12 ],
	chain => [ 1 .. 30 ],
	huge => [ '-9223372036854775808', '9223372036854775807', 0, -1, 4294967296, -4294967297, 3, 7 ],
	short => [ -32768, 32767, 1 .. 8 ],
	none => [],
	wide => [ 1 .. 700 ]);

# Create an edge of a graph as a row of VALUES: some endpoints are NULL, some weights zero or
# infinite.
sub edge
{
	my ($name) = @_;
	my @ends = map { maybe(0.04) ? 'NULL' : any(@{ $ends{$name} }) } 1, 2;

	return "($ends[0], $ends[1], " . any(0, 1, 1, 2, 3, 0.5, 0.25, 7, '1e-300', '1e300', "'Infinity'") . ')';
}

# Relations other than calls, with their columns. Those with a key can be locked, or removed from a
# plan if none of their columns is used.
my @relations = (
	[ 's1', 'id i', 'k i', 'v f', 'name t' ], [ 's1', 'id i', 'k i', 'v f', 'name t' ], [ 's2', 'id i', 'k i', 'v f' ], [ 's3', 'id i', 'k i' ],
	[ 'p1', 'id i', 'k i' ], [ 'p2', 'id i', 'k i' ], [ 'p1', 'id i', 'k i' ], [ 'ranges', 'id i', 'k i' ],
	[ 'reached', 'vertex i', 'level i' ], [ 'named', 'vertex i', 'level i', 'name t' ], [ 'nested', 'vertex i', 'n i' ],
	[ 'barrier', 'vertex i', 'distance f' ], [ 'around_barrier', 'vertex i', 'distance f' ], [ 'grouped', 'level i', 'n i', 'least i' ],
	[ 'unioned', 'vertex i', 'x f' ], [ 'limited', 'vertex i', 'level i' ], [ 'dense', 'src i', 'dst i', 'weight f' ]);
my %lockable = map { ($_ => 1) } qw(s1 s2 s3 p1 p2 ranges);

# Get the commands that create all tables and views.
sub random_tables
{
	my @sql = map {
		my $name = $_;
		my $type = $name eq 'short' ? 'smallint' : 'bigint';
		my @edges = $name eq 'chain' ? map { "($_, $_ + 1, 1)" } 1 .. 29 : map { edge($name) } $name eq 'none' ? () : 1 .. 3 * @{ $ends{$name} };
		("CREATE TABLE $name (src $type, dst $type, weight float8)", @edges ? "INSERT INTO $name VALUES " . join(', ', @edges) : ())
	} sort keys %ends;
	my $row = sub { my ($id) = @_; "($id, " . any(0 .. 6, 'NULL') . ', ' . any(0, 1, 2, 2.5, 0.25, 'NULL', "'Infinity'", '1e300') . ", '" . any(qw(a b c)) . $id . "')" };

	return (@sql,
		'CREATE TABLE s1 (id bigint PRIMARY KEY, k int, v float8, name text)', 'INSERT INTO s1 VALUES ' . join(', ', map { $row->($_) } -2 .. 14, 4294967296),
		'CREATE TABLE s2 (id int, k int, v float8)',
		'INSERT INTO s2 VALUES ' . join(', ', map { '(' . any(1 .. 12, 'NULL') . ', ' . any(0 .. 4, 'NULL') . ', ' . any(0, 1, 2.5, 'NULL') . ')' } 1 .. 20),
		'CREATE TABLE s3 (id smallint UNIQUE, k int NOT NULL)', 'INSERT INTO s3 VALUES ' . join(', ', map { "($_, " . any(0 .. 9) . ')' } 1 .. 10, 'NULL', 'NULL'),
		(map { my $p = $_; ("CREATE TABLE $p (id bigint PRIMARY KEY, k int) PARTITION BY HASH (id)",
			map { "CREATE TABLE ${p}_$_ PARTITION OF $p FOR VALUES WITH (MODULUS 3, REMAINDER $_)" } 0 .. 2) } qw(p1 p2)),
		(map { "INSERT INTO $_ VALUES " . join(', ', map { "($_, " . any(0 .. 5, 'NULL') . ')' } some(0.7, -1 .. 20)) } qw(p1 p2)),
		'CREATE TABLE ranges (id int NOT NULL, k int) PARTITION BY RANGE (id)',
		'CREATE TABLE ranges_low PARTITION OF ranges FOR VALUES FROM (MINVALUE) TO (5)', 'CREATE TABLE ranges_high PARTITION OF ranges FOR VALUES FROM (5) TO (100)',
		'INSERT INTO ranges VALUES ' . join(', ', map { "($_, " . any(0 .. 5) . ')' } 1 .. 15, 3, 7),
		'CREATE VIEW dense_view AS SELECT * FROM dense WHERE weight < 100',
		'CREATE TABLE dense_parts (src bigint, dst bigint, weight float8) PARTITION BY HASH (src)',
		(map { "CREATE TABLE dense_part$_ PARTITION OF dense_parts FOR VALUES WITH (MODULUS 2, REMAINDER $_)" } 0, 1), 'INSERT INTO dense_parts TABLE dense',
		(map { ("CREATE INDEX ON $_ (src)", "CREATE INDEX ON $_ USING hash (dst)") } 'dense_parts', sort keys %ends),
		"CREATE VIEW reached AS SELECT * FROM emogi_bfs('dense', 1)",
		'CREATE VIEW named AS SELECT r.*, s1.name FROM reached r LEFT JOIN s1 ON s1.id = r.vertex',
		"CREATE VIEW nested AS SELECT n.vertex, count(s2.id) AS n FROM named n LEFT JOIN s2 ON s2.id = n.vertex WHERE n.level < 4 GROUP BY n.vertex",
		"CREATE VIEW barrier WITH (security_barrier) AS SELECT f.* FROM emogi_sssp('dense', 2) f JOIN s1 ON s1.id = f.vertex WHERE s1.k > 0",
		'CREATE VIEW around_barrier WITH (security_barrier) AS SELECT * FROM barrier WHERE vertex % 2 = 0',
		"CREATE VIEW grouped AS SELECT level, count(*) AS n, min(vertex) AS least FROM emogi_bfs('wide', 1) GROUP BY level",
		"CREATE VIEW unioned AS SELECT vertex, distance AS x FROM emogi_sssp('chain', 20) UNION ALL SELECT id, v FROM s1",
		"CREATE VIEW limited AS SELECT * FROM emogi_bfs('dense', 3, direction => 'both') ORDER BY vertex LIMIT 6",
		'ANALYZE');
}

# ----------------------------------------------------------------------------------------------------- constants, scopes

my $naliases;

sub fresh { return $_[0] . ++$naliases }
sub constant { return "\x01$_[0]:$_[1]\x02" }

# Get the literal of a random constant.
sub literal
{
	my ($type) = @_;

	return any(1 .. 12, 1 .. 8, 0, -1, 30, 99, '2147483647', '(-9223372036854775808)', '9223372036854775807', '4294967296', 'NULL') if $type eq 'i';
	return any(0 .. 6, 1, 2.5, 0.25, -1, map { "'$_'::float8" } qw(NaN Infinity -Infinity 1e300 1e-300)) if $type eq 'f';
	return any('true', 'false', 'NULL') if $type eq 'b';
	return "'" . any(qw(a1 b2 c3 a4 x)) . "'";
}

my %sqltype = (i => 'bigint', f => 'float8', b => 'bool', t => 'text');

# Create a constant, which may become a parameter.
sub value
{
	my ($type, $literal) = @_;

	return constant($sqltype{$type}, $literal // literal($type));
}

# Replace the constants of a query with literals. NULL has a type, as a parameter does.
sub with_literals
{
	my ($sql) = @_;

	$sql =~ s/\x01(\w+):(.*?)\x02/$2 eq 'NULL' ? "NULL::$1" : $2/sge;
	return $sql;
}

# Replace the constants of a query with parameters; returns it, their types and their values.
sub with_parameters
{
	my ($sql) = @_;
	my (@types, @values);

	$sql =~ s/\x01(\w+):(.*?)\x02/push @types, $1; push @values, $2; '$' . @types/sge;
	return ($sql, \@types, \@values);
}

# Find the columns of a type in a scope, which is a list of [ expression, type ].
sub columns { my ($type, $scope) = @_; return map { $_->[0] } grep { $_->[1] eq $type } @$scope }

# ------------------------------------------------------------------------------------------------------- expressions

# Create an expression of a type.
sub expression
{
	my ($type, $scope) = @_;
	my @own = columns($type, $scope);
	my $c = @own ? any(@own) : undef;

	return value($type) if !defined $c && $type =~ /[if]/ && maybe(0.3);
	if ($type eq 'i')
	{
		return constant('bigint', any(1 .. 9)) unless defined $c;
		return $c if maybe(0.75);
		my $d = any(@own);
		return any("$c % 7", "$c / 2", "$c & 15", "coalesce($c, " . value('i', any(0 .. 9)) . ')', "nullif($c, 3)", "least($c, $d)", "greatest($c, $d)",
			"CASE WHEN $c < $d THEN $c ELSE 5 END", "CASE WHEN $c IS NULL THEN 0 END", "($c IS NOT NULL)::int", "abs($c % 5)");
	}
	if ($type eq 'f')
	{
		my @integers = columns('i', $scope);
		return defined $c && maybe(0.8) ? $c : @integers ? any(@integers) . '::float8' : "'0.5'::float8" unless defined $c && maybe(0.3);
		return any("$c / 2", "coalesce($c, 0)", "least($c, " . value('f') . ')');
	}
	return condition($scope) if $type eq 'b';
	return $c if defined $c && maybe(0.6);
	my @any = map { $_->[0] } @$scope;
	return @any ? '(' . any(@any) . ')::text' : "'nothing'";
}

# Create a condition on the columns in scope.
sub condition
{
	my ($scope, $depth) = @_;
	my @integers = columns('i', $scope);
	my @floats = columns('f', $scope);
	my $op = any('<=', '<', '=', '>', '>=', '<>', '<=', '<', '=', '=');

	return any('true', 'true', value('b')) unless @integers;
	my ($c, $d) = (any(@integers), any(@integers));
	return sub_select($scope, $depth) if defined $depth && $depth > 0 && maybe(0.3);
	return '(' . join(any(' OR ', ' AND '), condition($scope, $depth), condition($scope, $depth)) . ')' if maybe(0.1);
	if (@floats && maybe(0.3))
	{
		my $f = any(@floats);
		return any("$f $op " . value('f'), "$f $op " . any(@floats), value('f') . " $op $f", "$f IS NULL", "$f BETWEEN 0 AND " . value('f'));
	}
	my $list = join(', ', map { value('i') } 1 .. 1 + rand(4));
	return any("$c $op " . value('i'), "$c $op " . value('i'), value('i') . " $op $c", "$c $op $d", "$c = $d", "$c IN ($list)", "$c NOT IN ($list)",
		"$c = ANY (ARRAY[$list]::bigint[])", "$c = ANY ('{1,2,3,NULL,3,7}'::int[])", "$c BETWEEN " . value('i') . ' AND ' . value('i'), "$c IS NULL", "$c IS NOT NULL",
		"$c IS NOT DISTINCT FROM $d", "$c % 2 = 0", "NOT $c = " . value('i'), "($c = 3) IS NOT TRUE", "($c = 1 OR $d = 2)", "$c <= " . any(1 .. 4), "$c = " . any(1 .. 9));
}

# Create a condition with a subquery.
sub sub_select
{
	my ($scope, $depth) = @_;
	my $from = from_tree($depth - 1, maybe(0.3) ? $scope : []);
	my $e = expression('i', $from->{scope});
	my $outer = expression('i', $scope);
	my $inside = condition($from->{scope}, $depth - 1);
	my $correlated = join(' AND ', "$e = $outer", maybe(0.4) ? $inside : ());
	my $where = maybe(0.5) ? " WHERE $inside" : '';

	return any(
		"EXISTS (SELECT FROM $from->{sql} WHERE $correlated)", "NOT EXISTS (SELECT FROM $from->{sql} WHERE $correlated)", "$outer IN (SELECT $e FROM $from->{sql}$where)",
		"$outer NOT IN (SELECT $e FROM $from->{sql}$where)", "$outer = ANY (ARRAY(SELECT $e FROM $from->{sql}$where))", "$outer <= (SELECT max($e) FROM $from->{sql}$where)",
		"$outer > ALL (SELECT $e FROM $from->{sql}$where)", "(SELECT count(*) FROM $from->{sql} WHERE $correlated) > " . any(0, 0, 1, 3),
		"($outer, 1) IN (SELECT $e, 1 FROM $from->{sql}$where)", "EXISTS (SELECT FROM $from->{sql}$where OFFSET 1)");
}

# ------------------------------------------------------------------------------------------------------- relations

my @graphs = ('dense', 'dense', 'chain', 'huge', 'short', 'none', 'dense_view', 'dense_parts', 'dense(dst, src)', 'SELECT src, dst, weight FROM dense WHERE src < 9',
	'VALUES (1, 2, 0.5), (2, 3, 0.25), (3, 1, 8)');

# Create a call, with its columns; outer: the scope to the left, which may provide its source.
sub call
{
	my ($outer) = @_;
	my @outer = columns('i', $outer);
	my $graph = "'" . any(@graphs, @outer ? () : ('wide') x 2) . "'";
	my $source = @outer && maybe(0.75) ? any(@outer) . '::bigint' : maybe(0.75) ? constant('bigint', any(1 .. 12, 1 .. 4, 0, -1, 32767, 'NULL')) . '::bigint' :
	  'ARRAY[' . join(', ', map { any(1 .. 12, 3, 7, 0, 'NULL') } 1 .. 1 + rand(4)) . ']::bigint[]';
	my $direction = maybe(0.5) ? '' : ', direction => ' . any("'out'", "'in'", "'both'");
	my $bound = sub { maybe(0.3) ? ", $_[0] => " . any(@_[ 1 .. $#_ ]) : '' };
	my $unweighted = any("'dense(dst, src)'", "'chain(src, dst)'", "'none'", "'SELECT src, dst FROM dense WHERE src < 9'");

	return any(
		sub { ("emogi_bfs($graph, $source$direction" . $bound->('max_depth', 0 .. 4, 'NULL') . ')', 'vertex i', 'level i') },
		sub { ("emogi_bfs($graph, $source$direction)", 'vertex i', 'level i') },
		sub { ("emogi_bfs('chain', $source$direction)", 'vertex i', 'level i') },
		sub { ("emogi_sssp($graph, $source$direction" . $bound->('max_distance', 0, 1, 2.5, "'Infinity'", 'NULL') . ')', 'vertex i', 'distance f') },
		sub { ("emogi_sswp($graph, $source$direction)", 'vertex i', 'width f') },
		sub { ("emogi_ssnsp($graph, $source$direction" . $bound->('max_depth', 0 .. 4, 'NULL') . ')', 'vertex i', 'level i', 'paths f') },
		sub { ("emogi_cc($graph)", 'vertex i', 'component i') },
		sub { ("emogi_closeness($graph" . $bound->('samples', 1 .. 3, 'NULL') . ')', 'vertex i', 'reached i', 'farness f', 'closeness f') },
		sub { ("emogi_leiden($unweighted" . $bound->('max_levels', 1 .. 2, 'NULL') . ')', 'vertex i', 'level i', 'community i', 'parent i') },
		sub { ("emogi_louvain($unweighted" . $bound->('resolution', 0.5, 2) . ')', 'vertex i', 'level i', 'community i', 'parent i') },
		sub { ("emogi_spanning_forest($unweighted" . $bound->('maximum', 'true') . ')', 'src i', 'dst i', 'weight f') },
		sub { ("emogi_bridges($graph)", 'src i', 'dst i') },
		sub { ("emogi_biconnected($graph)", 'component i', 'vertex i') },
		sub { ("emogi_similarity($graph" . $bound->('top_k', 1 .. 3) . $bound->('pairs', "'SELECT src, dst FROM dense ORDER BY weight, src, dst'") . "$direction)", 'vertex1 i', 'vertex2 i', 'similarity f') },
		sub { ("emogi_random_walk($graph, $source, " . any(0 .. 5) . ', ' . any(1 .. 3) . "$direction)", 'walk i', 'step i', 'vertex i') },
		sub { ("emogi_distance_matrix($graph, ARRAY[" . join(', ', map { any(1 .. 30) } 1 .. any(1 .. 4)) . ']::bigint[], ARRAY[' . join(', ', map { any(1 .. 30) } 1 .. any(1 .. 4)) . "]::bigint[]$direction)", 'source i', 'target i', 'distance f') },
		sub { ("emogi_pagerank($graph, max_iterations => " . any(1 .. 3) . ')', 'vertex i', 'rank f') },
		sub { ("emogi_katz($graph, 0.01" . $bound->('normalized', 'true', 'false') . ')', 'vertex i', 'centrality f') },
		sub { ("emogi_hits($graph, max_iterations => " . any(1 .. 3) . ')', 'vertex i', 'hub f', 'authority f') },
		sub { ("emogi_shortest_path('chain', " . (@outer ? any(@outer) : value('i', any(1 .. 30))) . '::bigint, ' . any(1 .. 30) . ')', 'seq i', 'vertex i', 'distance f') })->();
}

# Give a relation an alias: a part of FROM with its scope.
sub aliased
{
	my ($sql, @columns) = @_;
	my $alias = fresh(lc(substr($sql =~ /(\w)/ ? $1 : 'x', 0, 1)));

	return { sql => "$sql $alias", scope => [ map { my ($name, $type) = split / /; [ "$alias.$name", $type ] } @columns ], locks => [] };
}

my @ctes;    # of the query being generated, as [ name, columns ]

# Create one item of FROM.
sub item
{
	my ($depth, $outer) = @_;
	my $what = rand();

	if ($what < 0.45 || $what < 0.6 && @$outer)
	{
		my ($sql, @columns) = call($outer);
		return aliased($sql, @columns);
	}
	if ($what < 0.75 || $depth <= 0)
	{
		my ($name, @columns) = @{ any(@relations, @ctes, @ctes, @ctes) };
		my $item = aliased($name, @columns);
		$item->{locks} = [ $item->{sql} =~ /(\w+)$/ ] if $lockable{$name};
		return $item;
	}
	if ($what < 0.78)
	{
		my $item = aliased('generate_series(' . any(0, 1, 3) . ', ' . any(4, 8, 12) . ')');
		$item->{scope} = [ [ $item->{sql} =~ /(\w+)$/, 'i' ] ];
		return $item;
	}
	if ($what < 0.8)
	{
		my $alias = fresh('values');
		return { sql => "(VALUES (1, 0.5::float8), (2, NULL), (NULL, 3), (7, 1)) $alias(a, b)", scope => [ [ "$alias.a", 'i' ], [ "$alias.b", 'f' ] ], locks => [] };
	}
	my @types = ('i', map { any('i', 'i', 'f', 't') } 1 .. rand(3));
	my $alias = fresh('q');
	my $query = query($depth - 1, $outer, @types);
	return { sql => (@$outer ? 'LATERAL ' : '') . "($query->{sql}) $alias(" . join(', ', map { "c$_" } 1 .. @types) . ')',
		scope => [ map { [ "$alias.c" . ($_ + 1), $types[$_] ] } 0 .. $#types ], locks => [] };
}

# Create the condition of a join between two scopes.
sub join_condition
{
	my ($left, $right, $kind) = @_;
	my @l = columns('i', $left);
	my @r = columns('i', $right);

	return 'true' unless @l && @r;
	my $equal = any(@l) . ' = ' . any(@r);
	return join(' AND ', "$l[0] = $r[0]", maybe(0.2) ? $equal : ()) if $kind eq 'FULL JOIN' || maybe(0.5);
	return $equal . (maybe(0.3) ? ' AND ' . condition([ @$left, @$right ]) : '') if maybe(0.9);
	return any(any(@l) . ' < ' . any(@r), condition([ @$left, @$right ]), condition($right));
}

# Create joins that the planner may remove: of a call with a relation that has one row per key and
# whose columns are unused, or of a table with itself. Sometimes only the joins use the vertex.
sub removable_joins
{
	my ($outer) = @_;
	my ($call, @columns) = call($outer);
	my $item = maybe(0.75) ? aliased($call, @columns) : aliased('named', 'vertex i', 'level i');
	my ($vertex) = grep { /\.(?:vertex|src|vertex1)$/ } map { $_->[0] } @{ $item->{scope} };
	my @scope = maybe(0.6) ? grep { $_->[0] ne $vertex } @{ $item->{scope} } : @{ $item->{scope} };

	for (1 .. any(1, 1, 2, 3))
	{
		my $alias = fresh('key');
		my $unique = any('s1', 's1', 's3', 'p1', 'p2', '(SELECT DISTINCT k AS id FROM s2)', '(SELECT level AS id, count(*) AS n FROM grouped GROUP BY level)',
			"(SELECT vertex AS id FROM emogi_cc('dense'))", "(SELECT vertex AS id, count(*) AS n FROM emogi_bfs('wide', 1) GROUP BY vertex)");
		$item->{sql} .= " LEFT JOIN $unique $alias ON $alias.id = $vertex" . any('', '', " AND $alias.id > 2");
	}
	if (maybe(0.25))
	{
		my ($one, $other) = (fresh('self'), fresh('self'));
		$item->{sql} .= any(' JOIN', ' LEFT JOIN') . " (s1 $one JOIN s1 $other ON $one.id = $other.id) ON $one.id = $vertex";
		push @scope, [ any("$one.k", "$other.k"), 'i' ];
	}
	$item->{scope} = @scope ? \@scope : [ [ $vertex, 'i' ] ];
	return $item;
}

# Create a tree of joins.
sub from_tree
{
	my ($depth, $outer) = @_;
	return removable_joins($outer) if maybe(0.12);
	my $tree = item($depth, $outer);

	for (1 .. any(0, 0, 1, 1, 1, 2, 2, 3))
	{
		last if $depth < 0;
		my $kind = any('JOIN', 'JOIN', 'LEFT JOIN', 'LEFT JOIN', 'LEFT JOIN', 'RIGHT JOIN', 'FULL JOIN', ',');
		my $lateral = $kind =~ /^(?:JOIN|LEFT JOIN|,)$/ && maybe(0.35);
		my $right = $lateral ? item($depth, [ @{ $tree->{scope} }, @$outer ]) : maybe(0.15) ? from_tree($depth - 1, $outer) : item($depth, $outer);
		my $on = join_condition($tree->{scope}, $right->{scope}, $kind);
		my $nested = $right->{sql} =~ / JOIN /  && $right->{sql} !~ /\A(?:LATERAL )?\(/ ? "($right->{sql})" : $right->{sql};

		if ($kind eq ',')
		{
			$kind = 'JOIN';
			$on = 'true' if $lateral;
		}
		$tree = { sql => "$tree->{sql} $kind $nested ON $on", scope => [ @{ $tree->{scope} }, @{ $right->{scope} } ],
			locks => [ $kind =~ /RIGHT|FULL/ ? () : @{ $tree->{locks} }, $kind =~ /LEFT|FULL/ ? () : @{ $right->{locks} } ] };
	}
	return $tree;
}

# ---------------------------------------------------------------------------------------------------------- queries

# Create an aggregate of a type.
sub aggregate
{
	my ($type, $scope) = @_;
	my $filter = maybe(0.2) ? ' FILTER (WHERE ' . condition($scope) . ')' : '';
	my $i = expression('i', $scope);

	return any('count(*)', 'count(*)', "count($i)", "count(DISTINCT $i)", "min($i)", "max($i)") . $filter if $type eq 'i' && maybe(0.7);
	return any("sum($i % 10)::bigint", "cardinality(array_agg($i))", "(array_agg($i ORDER BY $i))[1]") if $type eq 'i';
	return any('min', 'max') . '(' . expression('f', $scope) . ")$filter" if $type eq 'f';
	return any('bool_and', 'bool_or') . '(' . condition($scope) . ')' if $type eq 'b';
	return "string_agg(($i)::text, ' ' ORDER BY $i)$filter" if maybe(0.5);
	return "min(($i)::text)$filter";
}

# Create a window function of a type; all: the columns that determine the order of rows.
sub window
{
	my ($scope, $all) = @_;
	my $partition = maybe(0.5) ? 'PARTITION BY ' . expression('i', $scope) =~ s/\x01\w+:(.*?)\x02/$1/sgr . ' ' : '';
	my $i = expression('i', $scope);
	my $down = any('', '', ' DESC', ' NULLS FIRST');

	return any("row_number() OVER (${partition}ORDER BY $all)", "rank() OVER (${partition}ORDER BY $i$down)", "count(*) OVER ($partition)", "max($i) OVER (${partition}ORDER BY $all)",
		"lag($i) OVER (${partition}ORDER BY $all)", "sum($i % 10) OVER (${partition}ORDER BY $i$down)::bigint", "first_value($i) OVER (${partition}ORDER BY $all)");
}

# Drop a part of a scope, so that the other relations are unused and the planner may remove them.
sub seen_part
{
	my ($scope) = @_;
	my %aliases = map { ($_->[0] =~ /^(\w+)/) => 1 } @$scope;
	my %kept = map { ($_ => 1) } maybe(0.5) ? $scope->[0][0] =~ /^(\w+)/ : some(0.5, sort keys %aliases);
	my @part = grep { my ($alias) = $_->[0] =~ /^(\w+)/; $kept{$alias} } @$scope;

	return \@part;
}

# Create a query whose columns have these types: { sql, ordered, locks }. Ordered: the order of its
# rows is determined.
sub query
{
	my ($depth, $outer, @types) = @_;
	my @names = map { "c$_" } 1 .. @types;

	if ($depth > 0 && maybe(0.12))
	{
		my ($one, $other) = map { query($depth - 1, $outer, @types)->{sql} } 1, 2;
		my $sql = "($one) " . any('UNION ALL', 'UNION ALL', 'UNION', 'INTERSECT', 'INTERSECT ALL', 'EXCEPT', 'EXCEPT ALL') . " ($other)";
		return { sql => $sql, locks => [] } if maybe(0.6);
		return { sql => "$sql ORDER BY " . join(', ', 1 .. @types) . any('', ' LIMIT 3', ' OFFSET 2'), ordered => 1, locks => [] };
	}
	my $from = from_tree($depth, maybe(0.5) ? $outer : []);
	my $scope = maybe(0.4) ? seen_part($from->{scope}) : $from->{scope};
	my @where = map { condition([ @$scope, maybe(0.3) ? @$outer : () ], $depth) } 1 .. any(0, 0, 1, 1, 2);
	my ($distinct, $rest, @targets, $plain) = ('', '');
	my $all = join(', ', map { $_->[0] } @{ $from->{scope} }) || '1';
	my $kind = rand();

	if ($kind < 0.2 && @$scope)
	{
		# positions and constants must not be interpreted as expressions to group by
		my @by = map { expression('i', [ grep { $_->[1] eq 'i' } @$scope ]) =~ s/\x01\w+:(.*?)\x02/$1/sgr } 1 .. any(1, 1, 2);
		@by = grep { /[a-z]\d/ } @by;
		@by = (any(map { $_->[0] } @$scope)) unless @by;
		my %by = map { ($_ => 1) } @by;
		@by = sort keys %by;
		my @free = @by;
		@targets = map {
			my $type = $_;
			$type eq 'i' && @free && $scope->[0] && maybe(0.6) && (grep { $_->[0] eq $free[0] && $_->[1] ne 'i' } @$scope) == 0 ? shift @free : aggregate($type, $scope)
		} @types;
		my $list = join(', ', @by);
		$rest = ' GROUP BY ' . any($list, $list, $list, "ROLLUP ($list)", "CUBE ($list)", 'GROUPING SETS ((' . join('), (', @by) . '), ())', "GROUPING SETS (($list), ($by[0]))", "GROUPING SETS ((), ($list), ROLLUP ($by[-1]))");
		$rest .= ' HAVING ' . any('count(*) > 1', aggregate('i', $scope) . ' > ' . value('i'), "$by[0] IS NOT NULL", 'count(*) < 100') if maybe(0.25);
	}
	elsif ($kind < 0.32)
	{
		@targets = map { aggregate($_, $scope) } @types;
		$rest = ' HAVING ' . any('count(*) > 0', 'true', 'false') if maybe(0.1);
	}
	elsif ($kind < 0.42 && @$scope)
	{
		@targets = map { $_ eq 'i' && maybe(0.6) ? window($scope, $all) : expression($_, $scope) } @types;
	}
	else
	{
		@targets = map { expression($_, $scope) } @types;
		if ($types[0] eq 'i' && $depth > 0 && maybe(0.1))
		{
			my $inner = from_tree($depth - 1, $scope);
			$targets[0] = '(SELECT ' . aggregate('i', $inner->{scope}) . " FROM $inner->{sql})";
		}
		$plain = $targets[0] !~ /^\(SELECT/;
		$distinct = any('DISTINCT ', '', '', '', '', '');
	}
	my $list = join(', ', map { "$targets[$_] AS $names[$_]" } 0 .. $#targets);
	my $sql = "SELECT $distinct$list FROM $from->{sql}" . (@where ? ' WHERE ' . join(' AND ', map { "($_)" } @where) : '') . $rest;
	my $order = join(', ', map { $_ . any('', '', '', ' DESC', ' NULLS FIRST') } maybe(0.5) ? @names : reverse @names);

	if ($plain && !$distinct && @$scope && maybe(0.08))
	{
		my $c = $scope->[0][0];
		$sql =~ s/\ASELECT /SELECT DISTINCT ON ($c) /;
		return { sql => "$sql ORDER BY $c" . any('', ' DESC') . ", $all", locks => [] };
	}
	my $locks = $plain && !$distinct ? $from->{locks} : [];
	# before 18 PostgreSQL treats a column that WHERE has made constant as ordered, although
	# grouping sets produce NULLs
	return { sql => $sql, locks => $locks } if $sql =~ /ROLLUP|CUBE|GROUPING SETS/ || maybe(0.6);
	return { sql => "$sql ORDER BY $order" . any('', '', ' LIMIT 1', ' LIMIT 3', ' LIMIT 5 OFFSET 2', ' OFFSET 1', ' LIMIT 0', ' LIMIT ' . value('i', any(0 .. 9))), ordered => 1, locks => [] };
}

# Create a complete query, with the commands before it: { sql, ncolumns, ordered, before (a command
# in the same transaction, or '') }.
sub random_query
{
	my @with;

	$naliases = 0;
	@ctes = ();
	for (1 .. any(0, 0, 0, 0, 1, 1, 2))
	{
		my @types = ('i', map { any('i', 'f') } 1 .. rand(2));
		my $cte = query(any(0, 0, 1), [], @types);
		my $name = "w$_";
		my $columns = join(', ', map { "c$_" } 1 .. @types);
		push @with, "$name($columns) AS " . any('', '', 'MATERIALIZED ', 'NOT MATERIALIZED ') . "($cte->{sql})";
		push @ctes, [ $name, map { "c" . ($_ + 1) . " $types[$_]" } 0 .. $#types ];
	}
	if (maybe(0.06))
	{
		my ($call) = call([]);
		push @with, "r(n, v) AS (SELECT 1, 1::bigint UNION" . any(' ALL', '') . " SELECT n + 1, f.vertex FROM r, $call f WHERE f.vertex = r.v + 1 AND n < 6)";
		push @ctes, [ 'r', 'n i', 'v i' ];
	}
	my $ncolumns = any(1, 2, 2, 3);
	my $query = query(any(0, 0, 1, 1, 2), [], map { any('i', 'i', 'i', 'f', 't', 'b') } 1 .. $ncolumns);
	my $recursive = grep { /\Ar\(/ } @with;
	my $sql = (@with ? 'WITH ' . ($recursive ? 'RECURSIVE ' : '') . join(', ', @with) . ' ' : '') . $query->{sql};

	if (@{ $query->{locks} } && !$query->{ordered} && maybe(0.3))
	{
		$sql .= ' FOR ' . any('UPDATE', 'SHARE', 'NO KEY UPDATE', 'KEY SHARE') . ' OF ' . any(@{ $query->{locks} });
	}
	my $before = maybe(0.88) ? '' : any('INSERT INTO dense VALUES (3, 11, 0.5), (11, 8, 2)', 'DELETE FROM chain WHERE src = 7', 'UPDATE dense SET dst = 5 WHERE src = 2', 'DELETE FROM s1 WHERE id = 3',
		'TRUNCATE dense');
	return { sql => $sql, ncolumns => $ncolumns, ordered => $query->{ordered}, before => $before };
}

1;
