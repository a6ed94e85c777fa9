# Random queries of the kinds that emogi answers without producing rows, and similar ones:
# aggregates, DISTINCT and first rows of one call, conditions on its columns, sums over LATERAL
# searches, and joins of tables with a call on vertex. Queries have the format of RandomAnswers.pm,
# each with an aim: the node expected from the manual ('' if the query is left to PostgreSQL).
#
# Graphs are named SHAPE_KEYS: keys are b (bigint), i (int), u (uuid), t (text) and c (varchar with
# "C"). Vertex 5 of dense_b is md5('5')::uuid in dense_u, 'v5' in dense_t and dense_c. Outer rows
# are in o_none, o_few, o_mid and o_many. All are computed from hashes, so that a short command
# re-creates them.
package RandomAggregates;

use strict;
use warnings;

use Exporter 'import';
use RandomQueries qw(any maybe);

our @EXPORT = qw(random_graphs graphs_of random_aggregate);

my (%made, %graphs);    # the commands that create each table; properties of each graph
my $round = 0;          # counts queries of each kind, for choices made in turn

# ------------------------------------------------------------------------------------------------------------- tables

my @keys = qw(b i u t c);
my %key_type = (b => 'bigint', i => 'bigint', u => 'uuid', t => 'text', c => 'text');
my %key_of = (b => '%s', i => '%s::int', u => 'md5(%s::text)::uuid', t => q{'v' || %s}, c => q{('v' || %s)::varchar(24) COLLATE "C"});

# Create a number from 0 up to n from that of a row, g.
sub hashed
{
	my ($n) = @_;

	return '(hashint8extended(g, ' . int(rand(1000)) . ") & 1048575) % $n";
}

# Create all graphs of a round, with random sizes and shapes; returns the commands.
sub random_graphs
{
	my ($weight, $more) = (hashed(13) . ' + 1', '');
	my %n = (dense => any(6, 15, 40), chain => any(60, 64, 130, 300, 700), star => any(20, 64, 300), pairs => any(63, 64, 65, 100, 129, 300), isles => any(2000, 3000, 4097, 5000),
		wide => any(2000, 4000, 5000, 9000), layers => any(33, 64, 70, 130), loops => any(64, 100, 200, 3000), far => any(10, 40, 80));
	my $width = any(4, 20, 60);
	my $from = sub { my ($src, $dst, $n) = @_; "SELECT $src AS src, $dst AS dst, ($weight) / 7.0::float8 AS weight FROM generate_series(1, $n) g" };
	my %edges = (
		none => 'SELECT 1::bigint AS src, 2::bigint AS dst, 1::float8 AS weight WHERE false',
		one => 'SELECT 1::bigint AS src, 2::bigint AS dst, 0.3::float8 AS weight',
		dense => $from->(hashed($n{dense}), hashed($n{dense}), 5 * $n{dense}),
		chain => $from->('g::bigint', 'g::bigint + 1', $n{chain}),
		star => $from->('0::bigint', 'g::bigint', $n{star}),
		pairs => $from->('g * 10::bigint', 'g * 10::bigint + 1 + g % 2', $n{pairs}) . ' UNION ALL ' . $from->('g * 30::bigint', 'g * 30::bigint + 4', int($n{pairs} / 3)),
		isles => $from->('g * 2::bigint', 'g * 2::bigint + 1', $n{isles}) . ' UNION ALL ' . $from->('0::bigint', '-g::bigint', 50),
		wide => $from->(hashed($n{wide}), hashed($n{wide}), any(1, 2, 3) * $n{wide}),
		layers => $from->("g / $width * 100::bigint + g % $width", "(g / $width + 1) * 100::bigint + (g * 7) % $width", $n{layers} * $width) . ' UNION ALL ' . $from->('-1::bigint', 'g::bigint', $width),
		loops => $from->('g::bigint', 'g::bigint', $n{loops}),
		far => $from->('(' . hashed($n{far}) . " - $n{far} / 2) * 4294967297", '(' . hashed($n{far}) . " - $n{far} / 2) * 4294967297", 3 * $n{far}),
		odd => 'SELECT ' . hashed(50) . ' AS src, ' . hashed(50) . " AS dst, (ARRAY[0, 'Infinity', 1e300, 1e-300, 1, 0.1, 3, 0])[1 + " . hashed(8) . ']::float8 AS weight FROM generate_series(1, 150) g');
	my %sources = (none => [1], one => [ 1, 2 ], dense => [ 0 .. 5 ], chain => [ 1, 1, 2, int($n{chain} / 2), $n{chain} ], star => [ 0, 0, 0, 1, 5 ], pairs => [ 10, 20, 30, 60, 61 ], isles => [ 0, 0, 2, 9 ],
		wide => [ 0 .. 20 ], layers => [ -1, -1, 1, 2, 500 ], loops => [ 1, 2, 50 ], far => [ map { $_ * 4294967297 } -3 .. 3 ], odd => [ 0 .. 9 ]);

	%made = %graphs = ();
	foreach my $shape (sort keys %edges)
	{
		my $nulls = $shape ne 'none' && maybe(0.4) ? ' UNION ALL VALUES (NULL, 5, 1), (7, NULL, 0.5), (NULL, NULL, 1)' : '';
		my $base = "${shape}_b";

		foreach my $keys ($shape eq 'far' ? qw(b u t) : @keys)
		{
			my $name = "${shape}_$keys";
			my $other = 'CREATE TABLE ' . $name . ' AS SELECT ' . join(', ', map { sprintf("$key_of{$keys} AS $_", $_) } qw(src dst)) . ", weight FROM $base";
			$made{$name} = $keys eq 'b' ? ["CREATE TABLE $name AS $edges{$shape}$nulls"] : [ "CREATE TABLE $base AS $edges{$shape}$nulls", $other ];
			$made{$name}[-1] .= "; CREATE INDEX ON $name (src); CREATE INDEX ON $name (dst)" if maybe(0.5);
			$made{$name}[-1] .= "; ANALYZE $name" if maybe(0.7);
			$graphs{$name} = { shape => $shape, keys => $keys, sources => $sources{$shape}, large => $shape =~ /^(?:isles|wide|layers)$/ || ($n{$shape} // 0) >= 700 };
		}
	}
	make_outer_rows();
	my @bases = grep { /_b$/ } sort keys %made;
	return ((map { "DROP TABLE IF EXISTS $_" } sort keys %made), map { $made{$_}[-1] } @bases, grep { !/_b$/ } sort keys %made);
}

# Create the tables of outer rows: duplicates, NULLs, values that are not vertices, keys of all
# types.
sub make_outer_rows
{
	my $x = 'CASE WHEN g % 11 = 0 THEN NULL WHEN g % 13 = 0 THEN (' . hashed(60) . ' - 30) * 4294967297 WHEN g % 3 = 0 THEN ' . hashed(60) . ' WHEN g % 7 = 0 THEN -(' . hashed(60) . ') ELSE ' . hashed(any(300, 6000)) . ' END';
	my %rows = (none => 0, few => any(1, 5, 9), mid => any(63, 64, 65, 100, 128, 129, 180), many => any(3000, 20000));

	foreach my $name (keys %rows)
	{
		$made{"o_$name"} = [ "CREATE TABLE o_$name AS SELECT id, x, x % 100000 AS i, (x % 1000)::smallint AS sm, k, f, md5(x::text)::uuid AS u, 'v' || x AS t FROM "
			  . "(SELECT g::int AS id, $x AS x, nullif(" . hashed(7) . ', 3)::int AS k, (' . hashed(50) . ") / 9.0::float8 AS f FROM generate_series(1, $rows{$name}) g) r" . (maybe(0.7) ? "; ANALYZE o_$name" : '') ];
	}
}

# Get the commands that create the tables of a query.
sub graphs_of
{
	my ($sql) = @_;
	my %commands;

	my @names = grep { $sql =~ /\b$_\b/ } sort keys %made;
	return grep { !$commands{$_}++ } map { @{ $made{$_} } } @names;
}

# ---------------------------------------------------------------------------------------------------- constants, calls

sub constant { return "\x01$_[0]:$_[1]\x02" }

# Create the literal of a vertex from its number.
sub key_literal
{
	my ($keys, $n) = @_;

	return $n < 0 ? "($n)" : $n if $keys =~ /[bi]/;
	return $keys eq 'u' ? "md5('$n')::uuid" : "'v$n'";
}

# Create a constant vertex of a graph, or one that it may not contain.
sub a_vertex
{
	my ($graph) = @_;
	my $n = maybe(0.8) ? any(@{ $graph->{sources} }) : any(0 .. 30, 77777, -2);

	return constant($key_type{ $graph->{keys} }, maybe(0.02) ? 'NULL' : key_literal($graph->{keys}, $n));
}

# Create the graph argument of a function, with or without weights.
sub graph_argument
{
	my ($name, $weights) = @_;

	return "'SELECT src, dst, 0.01 FROM $name'" if $weights eq 'small';
	return any(("'$name'") x 8, "'$name(dst, src)'", "'$name(dst, src, weight)'", "'SELECT src, dst, weight FROM $name WHERE weight < 1'", "'$name'::regclass");
}

# Create a call: { sql, columns (name, type: v vertex, c component, l level, n number, f float),
# graph, name }. Source: the column of an outer row used as source, by keys; function: its name.
sub call
{
	my ($name, $function, $source) = @_;
	my $graph = $graphs{$name};
	my $suffix = { u => '_uuid', t => '_text', c => '_text' }->{ $graph->{keys} } // '';
	my $direction = maybe(0.6) ? '' : ', direction => ' . any("'out'", "'in'", "'both'");
	my $type = $key_type{ $graph->{keys} };
	my $argument = graph_argument($name, $function =~ /heat/ ? 'small' : '');
	my $start = maybe(0.5) ? 'VALUES (' . join('), (', map { my $n = $_; key_literal($graph->{keys}, $graph->{sources}[ $n % @{ $graph->{sources} } ]) . ', ' . ($n + 1) } 0) . ')' : "SELECT vertex, 1 FROM emogi_cc$suffix('$name')";

	my $sampled = $graph->{large} ? ', samples => ' . any(1, 3, 8) . ', seed => ' . any(0, 7) : any('', '', ', samples => 2');

	$start =~ s/'/''/g;
	$source //= maybe(0.1) ? 'ARRAY[' . join(', ', map { key_literal($graph->{keys}, any(@{ $graph->{sources} }, 3)) } 1 .. any(1 .. 3)) . "]::${type}[]" : a_vertex($graph) . ($type eq 'text' ? '' : "::$type");
	my %calls = (
		bfs => sub { ("bfs($argument, $source" . (maybe(0.3) ? ', max_depth => ' . constant('int', any(0 .. 6, 70, 'NULL')) : '') . "$direction)", 'level l') },
		sssp => sub { ("sssp($argument, $source" . (maybe(0.2) ? ', max_distance => ' . any(0, 1.5, 4, 30) : '') . "$direction)", 'distance f') },
		bfs_tree => sub { ("bfs_tree($argument, $source" . (maybe(0.3) ? ', max_depth => ' . constant('int', any(0 .. 6, 70, 'NULL')) : '') . "$direction)", 'level l', 'predecessor c', 'source c') },
		shortest_path_tree => sub { ("shortest_path_tree($argument, $source" . (maybe(0.2) ? ', max_distance => ' . any(0, 1.5, 4, 30) : '') . "$direction)", 'distance f', 'predecessor c', 'source c') },
		sswp => sub { ("sswp($argument, $source$direction)", 'width f') },
		ssnsp => sub { ("ssnsp($argument, $source$direction)", 'level l', 'paths f') },
		cc => sub { ("cc$suffix($argument)", 'component c') },
		scc => sub { ("scc$suffix($argument)", 'component c') },
		triangles => sub { ("triangles$suffix($argument)", 'triangles n') },
		lcc => sub { ("lcc$suffix($argument$direction)", 'coefficient f') },
		core => sub { ("core$suffix($argument)", 'core l') },
		cdlp => sub { ("cdlp$suffix($argument, max_iterations => " . any(1 .. 4) . "$direction)", 'label c') },
		louvain => sub { ("louvain$suffix($argument" . any('', ', max_levels => 1', ', resolution => 2') . ')', 'level l', 'community c', 'parent c') },
		leiden => sub { ("leiden$suffix($argument" . any('', ', max_cluster_size => 4', ', theta => 0') . ')', 'level l', 'community c', 'parent c') },
		# rows that are not vertices, with column names of vertices; no floats, of which a vertex
		# has several
		spanning_forest => sub { ("(SELECT src AS vertex, dst AS component FROM emogi_spanning_forest$suffix($argument" . any('', ', maximum => true') . ')) r', 'component c') },
		bridges => sub { ("(SELECT src AS vertex, dst AS component FROM emogi_bridges$suffix($argument)) r", 'component c') },
		biconnected => sub { ("(SELECT vertex, component AS paths FROM emogi_biconnected$suffix($argument)) r", 'paths n') },
		similarity => sub { ("(SELECT vertex1 AS vertex, vertex2 AS component FROM emogi_similarity$suffix($argument, top_k => " . any(1 .. 5) . "$direction)) r", 'component c') },
		random_walk => sub { ("(SELECT vertex, walk AS paths, step AS level FROM emogi_random_walk($argument, $source, " . any(0, 3, 9) . ', ' . any(1 .. 4) . "$direction)) r", 'paths n', 'level l') },
		articulation_points => sub { ("articulation_points$suffix($argument)", 'components n') },
		degree => sub { ("degree$suffix($argument$direction)", 'degree n', 'strength f') },
		closeness => sub { ("closeness$suffix($argument$sampled$direction)", 'reached n', 'farness f', 'closeness f', 'harmonic f') },
		betweenness => sub { ("betweenness$suffix($argument$sampled" . any('', ', normalized => false') . "$direction)", 'centrality f') },
		pagerank => sub { ("pagerank$suffix($argument, max_iterations => " . any(1 .. 5) . any('', '', ", start => '$start'", ', weights => true') . ')', 'rank f') },
		eigenvector => sub { ("eigenvector$suffix($argument, max_iterations => " . any(1 .. 5) . any('', '', ', weights => true') . "$direction)", 'centrality f') },
		katz => sub { ("katz$suffix($argument, alpha => 0.0005" . any('', ', normalized => false') . any('', '', ', weights => true') . "$direction)", 'centrality f') },
		hits => sub { ("hits$suffix($argument, max_iterations => " . any(1 .. 5) . any('', '', ', weights => true') . "$direction)", 'hub f', 'authority f') },
		heat => sub { ("heat$suffix($argument, '$start', max_iterations => " . any(1 .. 3) . "$direction)", 'value f') },
		circuit => sub { ("circuit$suffix($argument, '$start', max_iterations => " . any(1 .. 3) . "$direction)", 'value f') },
		neural => sub { ("neural$suffix($argument, '$start', max_iterations => " . any(1 .. 3) . "$direction)", 'value f') });
	my ($sql, @columns) = $calls{$function}->();

	return { sql => $sql =~ /^\(/ ? $sql : "emogi_$sql", name => $name, graph => $graph, function => $function, columns => [ [ 'vertex', 'v' ], map { [ split / / ] } @columns ] };
}

my @functions = (('bfs') x 4, 'bfs_tree', 'shortest_path_tree', ('sssp') x 2, ('sswp') x 2, ('ssnsp') x 2, ('cc') x 4, ('scc') x 2, ('triangles') x 2, ('lcc') x 2, ('core') x 2, ('cdlp') x 2, 'louvain', 'leiden', 'spanning_forest', 'bridges', 'biconnected', 'similarity', 'random_walk', ('degree') x 2, ('articulation_points') x 2, 'closeness', 'betweenness', ('pagerank') x 2, 'eigenvector', 'katz', 'hits', 'heat', 'circuit', 'neural');

# Choose a graph for a function.
sub a_graph
{
	my ($function, $small) = @_;
	my @names = grep { !($small && $graphs{$_}{large}) && ($graphs{$_}{shape} ne 'odd' || $function =~ /^ss[sw]p$|^bfs$|_tree$|^cc$/) } sort keys %graphs;

	@names = grep { !/^(?:none|one)_/ } @names if maybe(0.85);
	@names = grep { /_[bi]$/ } @names if maybe(0.5);
	return any(@names);
}

my $several = qr/louvain|leiden|spanning_forest|bridges|biconnected|similarity|random_walk|_tree/;    # have several rows per vertex, or NULLs

# Create any call; functions are chosen in turn. single: of a function with one row per vertex.
sub any_call
{
	my ($single) = @_;
	my $function = $functions[ $round % @functions ];

	$function = 'pagerank' if $single && $function =~ $several;

	return call(a_graph($function), $function);
}

# -------------------------------------------------------------------------------------------------------- conditions

# Create a literal for comparison with a column.
sub a_value
{
	my ($type, $call, $name) = @_;
	my $graph = $call->{graph};

	return a_vertex($graph) if $type =~ /[vc]/;
	return constant('int', any(0 .. 9, 1 .. 4, 2, 3, 60, 64, 100, -1, '2147483647', 'NULL')) if $type eq 'l';
	return constant('bigint', any(0 .. 5, 1, 2, 17, 100, -1, '9223372036854775807', 'NULL')) if $type eq 'n';
	return constant('float8', '(' . any(1 .. 13) . ' / 7.0::float8)') if $name =~ /width|distance|strength/ && maybe(0.7);    # sums of weights
	return constant('float8', any(0, 1, 1, 0.5, '(1 / 3.0::float8)')) if $name =~ /coefficient|closeness|harmonic|centrality/ && maybe(0.7);
	return constant('float8', any(0, 0.5, 1, 2.5, 7, 30, 0.1, 0.01, 0.001, 0.0003, 0.0001, -1, "'NaN'::float8", "'Infinity'::float8", 'NULL'));
}

# Can emogi compare a column with a value, by an operator, without producing rows?
sub is_compared
{
	my ($type, $keys, $op, @values) = @_;

	return 0 if grep { /NULL/ } @values;    # then PostgreSQL detects that there are no rows
	return 1 if $type =~ /[lnf]/;
	return $op eq '=' && $keys =~ /[biu]/ if $type eq 'v' || $keys eq 'u';
	return $op eq '=' if $keys =~ /[tc]/;
	return $keys =~ /[bi]/;
}

# Does the planner know the type of the keys of a call's graph?
sub knows_keys
{
	my ($call) = @_;

	return $call->{graph}{keys} =~ /[biu]/ || $call->{sql} !~ /\('SELECT/;
}

# Create a condition on one column of a call: ( condition, whether the manual has it pushed down
# into the call ).
sub condition
{
	my ($call, $alias, @columns) = @_;
	my ($name, $type) = @{ any(@columns ? @columns : (@{ $call->{columns} }, @{ $call->{columns} }[1 .. $#{ $call->{columns} }])) };
	my $keys = $call->{graph}{keys};
	my $c = "$alias$name";
	my $op = $type eq 'v' && maybe(0.6) ? '=' : ('<', '<=', '=', '>', '>=', '<', '>=', '>', '<=')[ $round % 9 ];
	my $array = $type =~ /[vc]/ ? $key_type{$keys} : { l => 'int', n => 'bigint', f => 'float8' }->{$type};
	my ($value, @list) = map { a_value($type, $call, $name) } 0 .. any(1 .. 4);
	my $compared = is_compared($type, $keys, $op, $value) && knows_keys($call);
	my $listed = $type eq 'c' && knows_keys($call) && !grep { /NULL/ } @list;

	return ("$c <> 0", 1) if $type =~ /[ln]/ && maybe(0.15);
	return ("$c IN (" . any('1, 2', '1, 2, 3', '3, 2', '0, 1') . ')', 1) if $type eq 'l' && maybe(0.15);
	return ("$c $op $value", $compared) if maybe(0.45);
	return ("$value $op $c", $compared) if maybe(0.1);
	return ("$c BETWEEN $value AND $list[0]", is_compared($type, $keys, '<', $value, $list[0])) if maybe(0.25);
	return ("$c IN (" . join(', ', @list) . ')', $listed) if maybe(0.5);
	return ("$c = ANY (ARRAY[" . join(', ', @list) . "]::${array}[])", $listed) if maybe(0.2);
	return ("$c <> $value", $type eq 'c' && knows_keys($call) && $value !~ /NULL/) if maybe(0.2);
	return (any("$c IS NULL", "$c IS NOT NULL", "$c <> $value", "NOT $c = $value", "($c $op $value OR $c = $list[0])", "($c = $value) IS NOT TRUE",
		$type =~ /[ln]/ ? ("$c % 2 = 0", "$c % 3 = 1") : (), "$c IS DISTINCT FROM $value"), 0);
}

# Create conditions on a call, joined by AND, after a given word ('' if there are none): ( text,
# whether all are pushed down ).
sub conditions
{
	my ($call, $word, $alias, @columns) = @_;
	my $pushed = 1;
	my @conditions = map { my ($condition, $is_pushed) = condition($call, $alias, @columns); $pushed &&= $is_pushed; $condition } 1 .. any(0, 0, 0, 1, 1, 1, 2, 3);

	# one list, and one value that is not a list, are supported
	$pushed = 0 if 1 < grep { / IN \(| ANY / } @conditions or 1 < grep { / <> / } @conditions;
	return (@conditions ? " $word " . join(' AND ', @conditions) : '', $pushed);
}

# -------------------------------------------------------------------------------------------------------- aggregates

# Create an aggregate over a call's column: ( expression, kind, whether the manual has emogi compute
# it ). Alone: floats are added in the order of the vertices, which the reference specifies.
sub aggregate
{
	my ($call, $alias, $alone) = @_;
	my ($name, $type) = @{ any(@{ $call->{columns} }, (@{ $call->{columns} }[1 .. $#{ $call->{columns} }]) x 2) };
	my $keys = $call->{graph}{keys};
	my $number = $type =~ /[lnf]/ || $keys =~ /[bi]/;
	my $c = "$alias$name";
	my $vertex = "${alias}vertex" . ($keys eq 'c' ? ' COLLATE "C"' : '');
	my $order = $alone && $type eq 'f' ? "\x03 ORDER BY $vertex\x04" : '';
	# PostgreSQL's avg of floats fails if the squares that it also accumulates overflow; emogi's
	# does not
	my @sums = $type eq 'f' && $call->{graph}{shape} eq 'odd' ? 'sum' : ('sum', 'sum', 'avg');
	my $sum = $type eq 'f' ? $alone ? '+' : '~' : '=';

	return ('count(*)', '=', 1) if maybe(0.3);
	return ("count($c)", '=', 1) if maybe(0.1);
	return ("count(DISTINCT ${alias}vertex)", '=', $alone) if maybe(0.07);
	if (maybe(0.08))
	{
		my ($condition) = condition($call, $alias);
		my $of = $number ? any('count', @sums, 'min', 'max') : 'count';
		return ("$of($c) FILTER (WHERE $condition)", $type eq 'f' && $of =~ /sum|avg/ ? '~' : '=', 0);
	}
	return any([ "count(*) FILTER (WHERE $c IS NOT NULL)", '=', 0 ], [ "count(DISTINCT $c)", '=', 0 ], $number && $type ne 'f' ? [ "max($c % 7)", '=', 0 ] : (), $keys eq 'u' ? () : [ "(array_agg(${alias}vertex ORDER BY $vertex))[1]", '=', 0 ])->@* if maybe(0.06);
	return ("count($c)", '=', 1) if !$number && $keys eq 'u';
	return (any('min', 'max') . "($c)", '=', $number) if !$number || maybe(0.35);
	return ("max($c) - min($c)", '=', 1) if maybe(0.1);
	return ("sum($c$order) / count(*)", $sum, 1) if maybe(0.05);
	return (any(@sums) . "($c$order)", $sum, 1);
}

# Create a list of columns c1, c2, ... from [ expression, kind ].
sub select_list
{
	my $n = 0;

	return join(', ', map { "$_->[0] AS c" . ++$n } @_);
}

# Create a query: its parts as a hash for RandomAnswers.
sub made
{
	my ($sql, $columns, %more) = @_;

	return { sql => $sql, ncolumns => scalar @$columns, same_error => 1, kinds => [ map { $_->[1] } @$columns ], ordered => 0, aim => '', before => '', %more };
}

# Get the columns of a call that rows can be grouped by; levels and components more often.
sub groupable
{
	my ($call) = @_;
	my @columns = grep { $_->[1] =~ /[lcnv]/ } @{ $call->{columns} };

	return (@columns, (grep { $_->[1] =~ /[lc]/ } @columns) x 4);
}

# Does emogi group by a column, according to the manual?
sub makes_groups
{
	my ($call, $column) = @_;

	return $column->[1] eq 'l' || $column->[1] eq 'c' && knows_keys($call);
}

# Create an aggregate query over one call, with one group.
sub sums
{
	my $call = any_call();
	my ($where, $computed) = conditions($call, 'WHERE', '');
	my @columns = map { [ aggregate($call, '', 1) ] } 1 .. any(1, 1, 2, 3, 4);
	my $having = maybe(0.1) ? ' HAVING ' . any('count(*) > ' . constant('bigint', any(0, 1, 5)), 'true', 'min(vertex) IS NULL') : '';

	$having =~ s/min/count/ if $call->{graph}{keys} eq 'u';
	$computed = 0 if grep { !$_->[2] } @columns;
	return made('SELECT ' . select_list(@columns) . " FROM $call->{sql}$where$having", \@columns, aim => $computed && $having !~ /min/ ? 'EmogiAggregate' : '');
}

# Create an aggregate query over one call with groups of one of its columns, or nothing if there is
# no such column.
sub groups
{
	my $call = any_call();
	my ($group) = any(groupable($call), [ 'vertex', 'v' ]);
	my ($where, $computed) = conditions($call, 'WHERE', '');
	my @aggregates = map { [ aggregate($call, '', 1) ] } 1 .. any(1, 1, 2, 3, 4);
	my @columns = (maybe(0.9) ? [ $group->[0], '=' ] : (), @aggregates);
	my $named = $columns[0][0] eq $group->[0];
	my $sql = 'SELECT ' . select_list(@columns) . " FROM $call->{sql}$where GROUP BY $group->[0]";
	my $ordered = $named && maybe(0.35);

	$sql .= ' HAVING ' . any('count(*) > ' . constant('bigint', any(0, 1, 2, 5)), 'count(*) = 1', 'count(vertex) > 1', "$group->[0] IS NOT NULL", 'true') if maybe(0.2);
	if ($ordered)
	{
		my @exact = grep { $columns[$_][1] eq '=' } 1 .. $#columns;
		$sql .= ' ORDER BY ' . (@exact && maybe(0.6) ? any(@exact) + 1 . any('', ' DESC') . ', 1' : '1' . any('', ' DESC')) . any('', ' LIMIT 3', ' LIMIT 10 OFFSET 2', ' LIMIT ' . constant('bigint', any(1, 5, 100)));
	}
	$computed = 0 if !makes_groups($call, $group) || $sql =~ /HAVING \w+ IS/ || grep { !$_->[2] } @aggregates;
	return made($sql, \@columns, ordered => $ordered, aim => $computed ? 'EmogiAggregate' : '', rises => $named && makes_groups($call, $group) && ($group->[1] eq 'l' || $call->{graph}{keys} =~ /[biu]/));
}

# Create a query for the distinct values of a column of one call, or for their number.
sub distinct
{
	my $call = any_call();
	my $group = any(groupable($call));
	my ($where, $computed) = conditions($call, 'WHERE', '');
	my $aim = $computed && makes_groups($call, $group) ? 'EmogiAggregate' : '';

	return made("SELECT DISTINCT $group->[0] AS c1 FROM $call->{sql}$where", [ [ '', '=' ] ], aim => $aim, rises => $aim ne '' && ($group->[1] eq 'l' || $call->{graph}{keys} =~ /[biu]/)) if maybe(0.5);
	my @columns = ([ "count(DISTINCT $group->[0])", '=' ], maybe(0.3) ? [ 'count(*)', '=' ] : (), maybe(0.1) ? [ "max($group->[0])", '=' ] : ());
	@columns = ($columns[0]) if $call->{graph}{keys} eq 'u';
	$aim = '' if $columns[-1][0] =~ /max/;
	return made('SELECT ' . select_list(@columns) . " FROM $call->{sql}$where", \@columns, aim => $aim);
}

# Nest an aggregate query, or one for first rows, in another.
sub around
{
	my ($query) = @_;
	my $first = $query->{kinds}[0] eq '=' ? 'count(c1)' : 'count(*)';
	my $sql = $query->{sql} =~ s/\x03.*?\x04//sgr;    # its sums are only counted

	return made("SELECT count(*) AS c1, $first AS c2 FROM ($sql) q", [ ([ '', '=' ]) x 2 ], aim => $query->{aim}, over => 1) if !grep { $_ eq '?' } @{ $query->{kinds} };
	return $query;
}

# Create a query with an aggregate for each outer row.
sub aggregates_by_row
{
	my $function = any('bfs', 'bfs', 'ssnsp', 'sssp', 'cc', 'core');
	my $name = a_graph($function, 1);
	my $call = call($name, $function, 'o.' . outer_key($graphs{$name}{keys}));
	my $column = $call->{columns}[1][0];
	my $outer = any('o_few', 'o_mid', 'o_none');
	my ($where) = maybe(0.3) && $call->{columns}[1][1] eq 'l' ? " WHERE $column " . any('>=', '<', '=') . ' o.k' : conditions($call, 'WHERE', '');
	my @columns = ([ 'o.id', '=' ], map { [ aggregate($call, '', 1) ] } 1 .. any(1, 2));
	my @inner = @columns[ 1 .. $#columns ];
	my $n = 0;
	my $in = join(', ', map { "$_->[0] AS a" . ++$n } @inner);

	return made('SELECT ' . select_list([ 'o.id', '=' ], [ "(SELECT $inner[0][0] FROM $call->{sql}$where)", $inner[0][1] =~ tr/+/~/r ]) . " FROM $outer o", [ [ '', '=' ], [ '', $inner[0][1] =~ tr/+/~/r ] ]) if maybe(0.5);
	return made('SELECT ' . select_list([ 'o.id', '=' ], map { [ "q.a$_", '' ] } 1 .. $n) . " FROM $outer o" . any(", LATERAL (SELECT $in FROM $call->{sql}$where) q", " LEFT JOIN LATERAL (SELECT $in FROM $call->{sql}$where) q ON true"),
		[ [ '', '=' ], map { [ '', $_->[1] =~ tr/+/~/r ] } @inner ]);
}

# Create a query for the first rows in an order, which is made unique by the vertex, or by emogi if
# it picks them.
sub first_rows
{
	my $call = any_call(1);
	my ($where, $pushed) = $call->{graph}{keys} =~ /[biu]/ && maybe(0.06) ? (' WHERE vertex = ' . a_vertex($call->{graph}), 0) : conditions($call, 'WHERE', '');
	my @names = map { $_->[0] } @{ $call->{columns} };
	my @rest = @names[ 1 .. $#names ];
	my @order = maybe(0.15) ? ('vertex') : (maybe(0.3) ? reverse(@rest) : any(@rest), maybe(0.65) ? 'vertex' : ());
	my %in_order = map { ($_ => 1) } @order;
	my @columns = map { [ $_, $in_order{vertex} || $in_order{$_} ? '=' : '?' ] } maybe(0.7) ? @names : any(@names);
	my $limit = maybe(0.9) ? any(1, 2, 3, 5, 10, 33, 100, 0, 2000, 99990, 100001) : constant('bigint', any(1, 7));
	my $offset = maybe(0.3) ? ' OFFSET ' . (maybe(0.85) ? any(1, 2, 10, 64, 5000) : constant('bigint', any(1, 3))) : '';
	my $text = $call->{graph}{keys} =~ /[tc]/ && grep { /^(?:vertex|component|label)$/ } @order;
	my $vertex = $in_order{vertex} ? '' : "\x03, vertex" . ($call->{graph}{keys} eq 'c' ? ' COLLATE "C"' : '') . "\x04";
	my $by = join(', ', map { $_ . any('', ' DESC', ' DESC', ' DESC NULLS LAST', ' NULLS FIRST') } @order) . $vertex;

	my $equal = join('|', 'vertex', @order);
	$pushed = 0 if $order[0] eq 'vertex' || $where =~ /\b(?:$equal) = | = (?:$equal)\b/;    # rows are in this order, or all equal in it
	$pushed = 0 if $limit !~ /^\d+$/ || $limit > 90000 || $limit == 0 || $offset =~ /\x01/ || $text;
	return made('SELECT ' . select_list(@columns) . " FROM $call->{sql}$where ORDER BY $by LIMIT $limit$offset", \@columns, ordered => 1, aim => $pushed ? 'Rows Picked' : '');
}

# Create a query for a call's rows with conditions.
sub filtered
{
	my $call = any_call(1);
	my ($where) = conditions($call, 'WHERE', '');
	my @columns = map { [ $_->[0], '=' ] } grep { maybe(0.8) } @{ $call->{columns} };

	@columns = ([ 'vertex', '=' ]) unless @columns;
	my $ordered = $columns[0][0] eq 'vertex' && maybe(0.4);
	return made('SELECT ' . select_list(@columns) . " FROM $call->{sql}$where" . ($ordered ? ' ORDER BY vertex' . any('', ' DESC') : ''), \@columns, ordered => $ordered);
}

# ------------------------------------------------------------------------------------------------------- outer rows

# Choose a column of outer rows with keys of a kind.
sub outer_key
{
	my ($keys) = @_;

	return any('x', 'x', 'i', 'sm') if $keys =~ /[bi]/;
	return $keys eq 'u' ? 'u' : 't';
}

# Create a query for sums over searches from outer rows.
sub lateral_sums
{
	my $others = maybe(0.15);
	my $function = $others ? any('ssnsp', 'sssp', 'sswp') : 'bfs';
	my $small = maybe(0.8);
	my $name = a_graph($function, $small);
	my $outer = $small ? any('o_mid', 'o_mid', 'o_few', 'o_none') : 'o_few';
	my $key = outer_key($graphs{$name}{keys});
	my $call = call($name, $function, "s.$key");
	my ($where, $computed) = conditions($call, 'WHERE', 'b.', maybe(0.85) ? $call->{columns}[1] : ());
	my @by = map { "s.$_" } any([$key], [$key], [ 'id' ], [ 'k' ], [ 'id', 'k' ], [], [ $key, 'k' ])->@*;
	my $left = maybe(0.2);

	$where = any($where, $where =~ s/\A(?: WHERE |\z)/ WHERE s.k < 4 AND /r) if $where ne '';
	$call->{columns} = [ grep { $_->[1] ne 'v' } @{ $call->{columns} } ] if maybe(0.9);
	if (maybe(0.05))
	{
		push @by, 'b.level';
		@by = grep { $_ ne 'b.level' || !$others } @by;
		$computed = 0;
	}
	my @aggregates = map { [ aggregate($call, 'b.', 0) ] } 1 .. any(1, 2, 3);
	$computed &&= !$left && !$others && !grep { !$_->[2] } @aggregates;
	$computed &&= $where !~ /vertex/ && !grep { $_->[0] =~ /vertex|DISTINCT|FILTER/ } @aggregates;
	my @columns = ((map { [ $_, '=' ] } @by), @aggregates);
	my $from = $left ? "$outer s LEFT JOIN LATERAL $call->{sql} b ON " . any('true', 'true', 'b.level >= 2') =~ s/b\.level/$others ? 's.k' : 'b.level'/er : any("$outer s, LATERAL $call->{sql} b", "$outer s JOIN $call->{sql} b ON true", "$outer s CROSS JOIN $call->{sql} b");
	my $sql = 'SELECT ' . select_list(@columns) . " FROM $from$where" . (@by ? ' GROUP BY ' . join(', ', @by) : '');

	$sql .= ' HAVING ' . any('count(*) > ' . constant('bigint', any(1, 2, 9)), 'count(*) < 50', 'count(*) > 0') if maybe(0.2);
	return made($sql, \@columns, taken => $computed && $outer ne 'o_none');
}

# Create a query that joins outer rows with a call on vertex, or that returns which of them it
# reaches.
sub membership
{
	my $call = any_call();
	my $outer = any('o_few', 'o_mid', 'o_mid', 'o_many', 'o_many', 'o_none');
	my $keys = $call->{graph}{keys};

	$call->{sql} =~ s/\) r$/)/;    # it gets an alias here
	my $key = 'o.' . outer_key($keys);

	$key .= ' + 1' if $keys =~ /[bi]/ && maybe(0.1);
	my ($and) = conditions($call, 'AND', 'b.', maybe(0.7) ? @{ $call->{columns} }[ 1 .. $#{ $call->{columns} } ] : ());
	my $numbers = join('|', map { $_->[1] =~ /[lnf]/ ? $_->[0] : () } @{ $call->{columns} });
	$and .= ' AND b.' . any(split /\|/, $numbers) . any(' > ', ' <= ', ' <> ') . 'o.k' if $numbers ne '' && maybe(0.35);
	my $where = maybe(0.3) ? any('o.k > 2', 'o.id % 3 = 0', 'o.id < 40', 'o.k IS NULL', 'o.x > 5') : '';
	my $also = $where ? " AND $where" : '';
	my $condition = $and =~ s/^ AND //r;
	my $semi = sub { my ($sql) = @_; over_outer("$outer o WHERE $sql$also", $outer) };
	my $joined = sub { my ($sql, $aim) = @_; over_outer($sql, $outer, $call) };
	my $query = any(
		sub { $semi->("EXISTS (SELECT FROM $call->{sql} b WHERE b.vertex = $key$and)") },
		sub { $semi->("NOT EXISTS (SELECT FROM $call->{sql} b WHERE b.vertex = $key$and)") },
		sub { $semi->("$key IN (SELECT b.vertex FROM $call->{sql} b" . ($condition ? " WHERE $condition" : '') . ')') },
		sub { $semi->("$key NOT IN (SELECT b.vertex FROM $call->{sql} b" . ($condition ? " WHERE $condition" : '') . ')') },
		sub { $joined->("$outer o JOIN $call->{sql} b ON b.vertex = $key$and" . ($where ? " WHERE $where" : '')) },
		sub { $joined->("$outer o, $call->{sql} b WHERE b.vertex = $key$and$also") },
		(sub { $joined->("$outer o LEFT JOIN $call->{sql} b ON b.vertex = $key$and" . ($where ? " WHERE $where" : '')) }) x 3,
		sub { $semi->("o.id > 0$also AND NOT EXISTS (SELECT FROM $call->{sql} b WHERE $key = b.vertex)") },
		sub { over_outer("$outer o LEFT JOIN $call->{sql} b ON b.vertex = $key WHERE b.vertex IS NULL$also", $outer) },
		sub {
			my $other = call($call->{name}, any('cc', 'core', 'degree'));
			over_outer("$outer o JOIN $call->{sql} b ON b.vertex = $key$and LEFT JOIN $other->{sql} d ON d.vertex = $key", $outer, $call);
		})->();

	return $query;
}

# Create a query for the vertices of components named by outer rows, or by vertices of the same
# call.
sub members
{
	my $function = any('cc', 'cc', 'scc');
	my $call = call(a_graph($function, maybe(0.7)), $function);
	my $other = call($call->{name}, any($function, 'cc'));
	my $key = 'o.' . outer_key($call->{graph}{keys});
	my ($and) = maybe(0.5) ? conditions($call, 'AND', 'b.') : ('');
	my $outer = any('o_few', 'o_few', 'o_mid', 'o_none');

	return any(
		(sub { over_outer("$outer o JOIN $call->{sql} b ON b.component = $key$and", $outer, $call) }) x 2,
		sub { over_outer("$outer o LEFT JOIN $call->{sql} b ON b.component = $key$and", $outer, $call) },
		sub { over_outer("$outer o WHERE EXISTS (SELECT FROM $call->{sql} b WHERE b.component = $key$and)", $outer) },
		sub { over_outer("$outer o JOIN $other->{sql} d ON d.vertex = $key JOIN $call->{sql} b ON b.component = d.component$and", $outer, $call) },
		sub { made("SELECT o.id AS c1, (SELECT count(*) FROM $call->{sql} b WHERE b.component = $key$and) AS c2 FROM $outer o", [ ([ '', '=' ]) x 2 ]) },
		sub { made('SELECT ' . select_list(map { [ "b.$_->[0]", '=' ] } @{ $call->{columns} }) . " FROM $call->{sql} b WHERE b.component = (SELECT d.component FROM $other->{sql} d WHERE d.vertex = " . a_vertex($call->{graph}) . ")$and", [ ([ '', '=' ]) x 2 ]) })->();
}

# Create a query over joined outer rows: the rows if there are few, or sums of them; call: the call
# behind alias b, if it has columns to use.
sub over_outer
{
	my ($from, $outer, $call) = @_;
	my @inner = $call ? map { [ "b.$_->[0]", '=' ] } @{ $call->{columns} } : ();

	if ($outer ne 'o_many' && maybe(0.7))
	{
		my @columns = ([ 'o.id', '=' ], maybe(0.5) ? [ 'o.k', '=' ] : (), @inner);
		return made('SELECT ' . select_list(@columns) . " FROM $from", \@columns);
	}
	my @by = maybe(0.4) ? ([ 'o.k', '=' ]) : ();
	my @columns = (@by, [ 'count(*)', '=' ], [ 'sum(o.id)', '=' ], $call ? [ (aggregate($call, 'b.', 0))[ 0, 1 ] ] : (), maybe(0.2) ? [ 'sum(o.f)', '~' ] : ());
	return made('SELECT ' . select_list(@columns) . " FROM $from" . (@by ? ' GROUP BY o.k' : ''), \@columns);
}

# -------------------------------------------------------------------------------------------------------- complete queries

# Create a failing call, under a query that would be computed without rows.
sub failing
{
	my $name = a_graph('bfs', 1);
	my $graph = $graphs{$name};
	my $suffix = { u => '_uuid', t => '_text', c => '_text' }->{ $graph->{keys} } // '';
	my $source = a_vertex($graph) . ($graph->{keys} =~ /[tc]/ ? '' : "::$key_type{ $graph->{keys} }");
	my ($call, $column) = any([ "bfs('$name', $source, max_depth => -1)", 'level' ], [ "bfs('no_such_table', $source)", 'level' ], [ "bfs('$name', $source, direction => 'sideways')", 'level' ],
		[ "bfs('$name(src, nothing)', $source)", 'level' ], [ "sssp('$name', $source, max_distance => 'NaN')", 'distance' ], [ "sssp('SELECT src, dst, -1.0 FROM $name', $source)", 'distance' ],
		[ "pagerank$suffix('$name', damping => 1.5)", 'rank' ], [ "cdlp$suffix('$name', max_iterations => -1)", 'label' ], [ "cc$suffix('SELECT 1')", 'component' ],
		[ "degree$suffix('SELECT src, dst, 1 / (weight - weight) FROM $name')", 'strength' ])->@*;

	return made(any("SELECT count(*) AS c1, count($column) AS c2 FROM emogi_$call", "SELECT $column AS c1, count(*) AS c2 FROM emogi_$call GROUP BY $column", "SELECT vertex AS c1, $column AS c2 FROM emogi_$call ORDER BY $column DESC, vertex LIMIT 3"),
		[ ([ '', '=' ]) x 2 ], fails => 1);
}

# Create a complete query of the next kind in turn. Some follow a change in the same transaction.
my %kinds = (sums => \&sums, groups => \&groups, distinct => \&distinct, first => \&first_rows, lateral => \&lateral_sums, joins => \&membership, members => \&members, row => \&aggregates_by_row, filtered => \&filtered,
	around => sub { around(any(\&sums, \&groups, \&distinct, (\&first_rows) x 3)->()) }, failing => \&failing);
my @turns = (qw(sums first groups joins around lateral sums first distinct groups), qw(sums first joins groups members failing sums first groups joins),
	qw(sums first lateral groups first row sums joins distinct around), qw(sums first groups joins members lateral sums filtered distinct lateral));

sub random_aggregate
{
	my ($turn) = @_;
	my $kind = $turns[ $turn % @turns ];
	my $tries = $kind =~ /^(?:sums|groups|distinct|first|lateral)$/ && int($turn / @turns) % 3 ? 100 : 1;
	my $query;

	$round = 11 * ($turn % @turns) + int($turn / @turns);
	# emogi can compute two of three
	for (1 .. $tries)
	{
		$query = { %{ $kinds{$kind}->() }, kind => $kind };
		$query->{aim} = '' if $query->{sql} =~ $several;
		last if $query->{aim} || $query->{taken} || $query->{sql} =~ $several;
	}
	if (maybe(0.08) && !$query->{fails} && $query->{sql} =~ /\b([a-z]+)_([biutc])\b/ && $graphs{"$1_$2"})
	{
		my ($name, @vertices) = ("$1_$2", map { key_literal($2, any(@{ $graphs{"$1_$2"}{sources} })) } 1 .. 3);
		$query->{before} = any("DELETE FROM $name WHERE src = $vertices[0]", "INSERT INTO $name VALUES ($vertices[0], $vertices[1], 0.7), ($vertices[1], $vertices[2], 0.9)",
			"INSERT INTO $name SELECT dst, src, weight FROM $name WHERE src = $vertices[0]", "UPDATE $name SET dst = $vertices[2] WHERE src = $vertices[0]", "TRUNCATE $name");
	}
	return $query;
}

1;
