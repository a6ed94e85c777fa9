# Rows streamed by EmogiScan: random queries return the same answer as with PostgreSQL's
# FunctionScan, for all join methods and readers. A stopped stream leaves no resources behind, and
# one that waits for its client blocks only sessions that would also wait for a SELECT. EMOGI_SEED
# and EMOGI_QUERIES set the seed and the number of queries per shape.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use EmogiTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(sleep time);

my $node = emogi_node('main', "emogi.max_memory = '1GB'", 'fsync = off', 'max_connections = 60', 'max_prepared_transactions = 5');
my $seed = $ENV{EMOGI_SEED} // 29;
my $queries = $ENV{EMOGI_QUERIES} // 30;

srand($seed);
diag "seed $seed" if $ENV{EMOGI_SEED};

# ------------------------------------------------------------------------------------------------------ random graphs

# Names and endpoints of the graphs: small keys, a chain, huge keys, smallints, no edges, and enough
# edges for two parallel workers.
my %ends = (
	dense => [ 1 .. 12 ],
	chain => [ 1 .. 30 ],
	huge => [ '-9223372036854775808', '9223372036854775807', 0, -1, 4294967296, -4294967297, 3, 7 ],
	short => [ -32768, 32767, 1 .. 8 ],
	none => [],
	wide => [ 1 .. 700 ]);
my @graphs = (
	(grep { $_ ne 'wide' } sort keys %ends), 'dense_view', 'dense_parts', 'dense(dst, src)', 'huge(src, dst)',
	'SELECT src, dst, weight FROM dense WHERE src < 9', 'VALUES (1, 2, 0.5), (2, 3, 0.25), (3, 1, 8)');

sub any { return $_[ int(rand(@_)) ] }
sub maybe { return rand() < $_[0] }

# Create an edge of a graph, as a row of VALUES: some endpoints are NULL, some weights zero or
# infinite.
sub edge
{
	my ($name) = @_;
	my @ends = map { maybe(0.04) ? 'NULL' : any(@{ $ends{$name} }) } 1, 2;
	my $weight = any(0, 1, 1, 2, 3, 0.5, 0.25, 7, '1e-300', '1e300', "'Infinity'");

	return "($ends[0], $ends[1], $weight)";
}

foreach my $name (sort keys %ends)
{
	my $type = $name eq 'short' ? 'smallint' : 'bigint';
	my @edges = $name eq 'chain' ? map { "($_, $_ + 1, 1)" } 1 .. 29 : map { edge($name) } $name eq 'none' ? () : 1 .. 3 * @{ $ends{$name} };

	$node->safe_psql('postgres', "CREATE TABLE $name (src $type, dst $type, weight float8)");
	$node->safe_psql('postgres', "INSERT INTO $name VALUES " . join(', ', @edges)) if @edges;
}
# probe: a table to be joined with the answers. same() runs a query as it is and as PostgreSQL alone
# would run it, with each requested join method and with parallel workers that read all rows.
# Returns "equal", the number of rows and of scans in the plan, and whether workers read rows; or
# the difference.
$node->safe_psql('postgres', q{
	CREATE VIEW dense_view AS SELECT * FROM dense WHERE weight < 100;
	CREATE TABLE dense_parts (src bigint, dst bigint, weight float8) PARTITION BY HASH (src);
	CREATE TABLE dense_part1 PARTITION OF dense_parts FOR VALUES WITH (MODULUS 2, REMAINDER 0);
	CREATE TABLE dense_part2 PARTITION OF dense_parts FOR VALUES WITH (MODULUS 2, REMAINDER 1);
	INSERT INTO dense_parts TABLE dense;
	CREATE TABLE probe (v bigint, i int, s smallint, k int, d float8, a bigint[]);
	INSERT INTO probe VALUES (1, 1, 1, 0, 0, '{1,2}'), (2, 2, 2, 1, 'NaN', '{}'), (3, 3, 3, 2, 2.5, '{3,NULL,3}'), (3, 3, 3, 2, 2.5, '{7}'),
		(4, NULL, 4, NULL, 'Infinity', '{1,2,3,4,5,6}'), (NULL, 5, NULL, 3, NULL, NULL), (-1, -1, -1, 2, '-Infinity', '{-1,0}'),
		(9223372036854775807, 7, 32767, 1, '-0', '{9223372036854775807,-9223372036854775808}'), (-9223372036854775808, 8, -32768, 3, 1, '{NULL}'),
		(4294967296, 2147483647, 8, 5, 4, '{4294967296,0,9}'), (12, 12, 12, 7, 1e300, '{12,11,10}'), (0, 0, 0, 0, 3, '{5}');
	ANALYZE;
	CREATE TABLE differences (query text, ways text, streamed text[], collected text[]);
	CREATE FUNCTION rows_of(query text) RETURNS text[] LANGUAGE plpgsql AS $$
	DECLARE
		answer text[] := '{}';
		line record;
	BEGIN
		FOR line IN EXECUTE query LOOP
			answer := answer || line::text;
		END LOOP;
		RETURN answer;
	EXCEPTION WHEN OTHERS THEN
		RETURN ARRAY[format('error %s: %s', SQLSTATE, SQLERRM)];
	END $$;
	CREATE FUNCTION parallel_rows_of(query text) RETURNS text[] LANGUAGE plpgsql AS $$
	DECLARE
		answer text[];
	BEGIN
		EXECUTE format('CREATE TEMP TABLE answer AS SELECT q::text AS line FROM (%s) q', query);
		SELECT coalesce(array_agg(line), '{}') INTO answer FROM answer;
		DROP TABLE answer;
		RETURN answer;
	EXCEPTION WHEN OTHERS THEN
		RETURN ARRAY[format('error %s: %s', SQLSTATE, SQLERRM)];
	END $$;
	CREATE FUNCTION sorted(lines text[]) RETURNS text[] LANGUAGE sql AS $$ SELECT array(SELECT unnest(lines) ORDER BY 1) $$;
	CREATE FUNCTION same(query text, ordered bool, many_ways bool, OUT verdict text, OUT nrows int, OUT nscans int, OUT shared bool) LANGUAGE plpgsql AS $$
	DECLARE
		ways text;
		way text;
		streamed text[];
		collected text[];
		line text;
	BEGIN
		nscans := 0;
		shared := false;
		PERFORM set_config('emogi.enable_scan', 'off', true);
		collected := rows_of(query);
		nrows := cardinality(collected);
		FOREACH ways IN ARRAY CASE WHEN many_ways THEN ARRAY['', 'enable_hashjoin enable_mergejoin', 'enable_hashjoin enable_nestloop',
			'enable_mergejoin enable_nestloop', 'enable_hashjoin enable_mergejoin enable_material enable_memoize', 'enable_sort enable_hashagg'] ELSE ARRAY[''] END
		LOOP
			FOREACH way IN ARRAY string_to_array(ways, ' ') LOOP
				PERFORM set_config(way, 'off', true);
			END LOOP;
			PERFORM set_config('emogi.enable_scan', 'on', true);
			BEGIN
				FOR line IN EXECUTE 'EXPLAIN ' || query LOOP
					nscans := nscans + (line LIKE '%EmogiScan%')::int;
				END LOOP;
			EXCEPTION WHEN OTHERS THEN
				NULL;
			END;
			streamed := rows_of(query);
			FOREACH way IN ARRAY string_to_array(ways, ' ') LOOP
				PERFORM set_config(way, 'on', true);
			END LOOP;
			IF streamed IS DISTINCT FROM collected AND (ordered OR sorted(streamed) IS DISTINCT FROM sorted(collected)) THEN
				verdict := format(E'%s\nwithout %s\nstreamed:  %s\ncollected: %s', query, ways, left(streamed::text, 2000), left(collected::text, 2000));
				RETURN;
			END IF;
		END LOOP;
		PERFORM set_config('parallel_setup_cost', '0', true), set_config('parallel_tuple_cost', '0', true),
			set_config('min_parallel_table_scan_size', '0', true), set_config('parallel_leader_participation', 'off', true);
		BEGIN
			FOR line IN EXECUTE 'EXPLAIN ' || format('SELECT q::text AS line FROM (%s) q', query) LOOP
				shared := shared OR line LIKE '%Parallel Custom Scan (EmogiScan)%';
			END LOOP;
		EXCEPTION WHEN OTHERS THEN
			NULL;
		END;
		streamed := parallel_rows_of(query);
		IF sorted(streamed) IS DISTINCT FROM sorted(collected) THEN
			verdict := format(E'%s\nwith workers (%s)\nstreamed:  %s\ncollected: %s', query, shared, left(streamed::text, 2000), left(collected::text, 2000));
			RETURN;
		END IF;
		verdict := CASE WHEN collected[1] LIKE 'error%' THEN collected[1] ELSE 'equal' END;
	END $$});

# ----------------------------------------------------------------------------------------------------- random queries

# Constants for comparisons in conditions.
sub vertex { return any(1 .. 12, 1 .. 8, 0, -1, 30, 99, -32768, 32767, '(-9223372036854775808)', '9223372036854775807', 4294967296, '(-4294967297)', 'NULL') }
sub hops { return any(0 .. 6, 1 .. 3, -1, -2, 25, 2147483647, '2147483648', '(-2147483649)', '9223372036854775807', '1e30', '2.5', 'NULL') }
sub length_ { return any(0 .. 6, 1, 2, 2.5, 0.25, -1, map { "'$_'::float8" } 'NaN', 'Infinity', '-Infinity', '-0', '1e300', '1e-300', '5e-324') }

sub source
{
	my ($outer) = @_;

	return any(@$outer) if $outer && maybe(0.5);
	return any(1 .. 12, 1 .. 4, 0, -1, '(-9223372036854775808)', 32767, 'NULL::bigint') if maybe(0.7);
	return 'ARRAY[' . join(', ', map { any(1 .. 12, 3, 7, 0, -1, 'NULL') } 1 .. 1 + rand(4)) . ']::bigint[]';
}

# Create a call of a function, with its columns besides vertex; $outer: expressions of items to its
# left that it can use.
sub call
{
	my ($outer) = @_;
	my $graph = "'" . any(@graphs, 'dense', 'chain', $outer ? () : ('wide') x 5) . "'";
	my $source = source($outer);
	my $direction = maybe(0.5) ? '' : ', direction => ' . any("'out'", "'in'", "'both'", 'NULL');
	my $steps = 'max_iterations => ' . any(1, 2, 3);
	my $start = any("'SELECT 1, 1.0'", "'VALUES (1, 0.5), (2, 0.25), (3, -0.5)'", q{'SELECT v, 0.25 FROM probe WHERE v IN (1, 2)'});

	return any(
		sub { [ "emogi_bfs($graph, $source" . (maybe(0.3) ? ', max_depth => ' . any(0 .. 4, 'NULL') : '') . "$direction)", 'level' ] },
		sub { [ "emogi_bfs($graph, $source$direction)", 'level' ] },
		sub { [ "emogi_sssp($graph, $source" . (maybe(0.3) ? ', max_distance => ' . any(0, 1, 2.5, "'Infinity'", 'NULL') : '') . "$direction)", 'distance' ] },
		sub { [ "emogi_sssp($graph, $source$direction)", 'distance' ] },
		sub { [ "emogi_sswp($graph, $source$direction)", 'width' ] },
		sub { [ "emogi_ssnsp($graph, $source" . (maybe(0.4) ? ', max_depth => ' . any(0 .. 4, 'NULL') : '') . "$direction)", 'level', 'paths' ] },
		sub { [ "emogi_cc($graph)", 'component' ] },
		sub { [ "emogi_pagerank($graph, $steps)", 'rank' ] },
		sub { [ "emogi_" . any('heat', 'circuit', 'neural') . "('" . any('chain', 'VALUES (1, 2, 0.5), (2, 3, 0.25), (3, 1, 0.125)') . "', $start, $steps$direction)", 'value' ] })->();
}

# Create a condition on vertex.
sub vertex_condition
{
	my ($v, @outer) = @_;
	my ($x, $y) = (vertex(), vertex());
	my @list = map { vertex() } 1 .. 1 + rand(5);
	my $list = join(', ', @list);
	my $array = "'{" . join(',', map { any(1 .. 12, 7, 7, 'NULL') } 1 .. rand(5)) . "}'";

	return any(
		"$v = $x", "$x = $v", "$v = $x", "$v = $x", "$v IN ($list)", "$v IN ($list)", "$v = ANY (ARRAY[$list]::bigint[])", "$v NOT IN ($list)",
		"$v = ANY ($array\::bigint[])", "$v = ANY ($array\::int[])", "$v = ANY ($array\::smallint[])", "$v = ANY (NULL::bigint[])",
		"$v = ALL ($array\::bigint[])", "$v <> ALL ($array\::bigint[])", "$v = $x\::numeric", "$v = $x\::float8", "$v = " . any(1 .. 12) . '::smallint',
		any(1 .. 12) . "::int = $v", "$v < $x", "$x <= $v", "$v BETWEEN $x AND $y", "$v % 2 = 0", "$v / 2 + 1 = $x", "$v IS NULL", "$v IS NOT NULL",
		"($v = $x OR $v = $y)", "NOT $v = $x", "$v IS NOT DISTINCT FROM $x", "$v = $x AND $v = $y", "$v IN ($list) AND $v IN ($x, $y, 3, 4)",
		"$v = (SELECT max(i) FROM probe WHERE i < 9)", "$v IN (SELECT v FROM probe)", "$v = ANY (ARRAY(SELECT v FROM probe))", "$v NOT IN (SELECT i FROM probe WHERE i IS NOT NULL)",
		"EXISTS (SELECT FROM probe WHERE probe.v = $v AND probe.k <= 2)", "($v = $x) IS NOT TRUE",
		map { ("$v = $_", "$_ = $v", "$v = $_", "$v IN ($_, $x)", "$v = ANY (ARRAY[$_, $y]::bigint[])", "$v < $_", "$v = $_ / 2 + 1") } @outer);
}

# Create a condition on another column.
sub value_condition
{
	my ($c, $name, @outer) = @_;
	my $constant = sub { $name eq 'level' ? hops() : $name eq 'component' ? vertex() : length_() };
	my $op = any('<=', '<', '=', '>', '>=', '<>', '<=', '<', '=');
	my ($x, $y) = ($constant->(), $constant->());
	my $cast = any('', '', $name eq 'level' ? ('::bigint', '::numeric', '::float8') : ('::numeric', '::real', ''));

	$cast = '' if $x =~ /NaN|Inf|e|\d{10}/i;
	return any(
		"$c $op $x$cast", "$x$cast $op $c", "$c $op $x", "$c $op $x", "$c BETWEEN $x AND $y", "$c IN ($x, $y)", "$c $op $x AND $c <= $y", "($c < $x OR $c > $y)",
		"$c IS NOT NULL", "NOT $c $op $x", "$c = ANY (ARRAY[$x, $y])", "$c <= (SELECT max(k) FROM probe)", "$c / 2 <= $x", "$c $op $x AND $c > $y AND $c < $x",
		map { ("$c $op $_", "$_ $op $c", "$c <= $_", "$c BETWEEN 1 AND $_") } @outer);
}

# Create conditions on the columns of a call under an alias, possibly none.
sub conditions
{
	my ($a, $call, $outer) = @_;
	my @conditions;

	push @conditions, vertex_condition("$a.vertex", $outer ? map { "$outer.$_" } qw(v i s) : ()) if maybe(0.55);
	foreach my $column (@$call[ 1 .. $#$call ])
	{
		next unless maybe(0.45);
		push @conditions, value_condition("$a.$column", $column, $outer ? map { "$outer.$_" } $column eq 'level' ? qw(k i s) : qw(d k) : ());
	}
	push @conditions, any("$a.vertex = $a.$call->[1]", "$a.vertex > $a.$call->[1]", "$a.vertex / 4 + $a.$call->[1] / 4 > 1", "random() >= 0", 'true', 'false', 'NULL::bool', '1 = 1') if maybe(0.12);
	return @conditions;
}

sub where { return @_ ? ' WHERE ' . join(' AND ', map { "($_)" } @_) : '' }

# Create a target list over some columns: some, all, expressions, or none.
sub targets
{
	my ($call, $a, @more) = @_;
	my @columns = ((map { "$a.$_" } 'vertex', @$call[ 1 .. $#$call ]), @more);

	return any(join(', ', @columns), join(', ', @columns), join(', ', reverse @columns), any(@columns), any(@columns) . ', ' . any(@columns),
		"$columns[0] % 5 AS m, $columns[1] / 2 AS n", "'x' || $columns[0] AS x", "1 AS one");
}

# One call: columns, conditions, order, a limit.
sub plain
{
	my $call = call();
	my @conditions = conditions('f', $call);
	my $sql = 'SELECT ' . targets($call, 'f') . " FROM $call->[0] f" . where(@conditions);

	# a condition implemented by a join may change the order
	return ($sql, 0) if grep { /IN \(SELECT|EXISTS/ } @conditions;
	return ("$sql ORDER BY f.vertex DESC" . any('', ' LIMIT 3', ' LIMIT 1', ' OFFSET 2'), 1) if maybe(0.15);
	$sql .= ' ORDER BY f.vertex' if maybe(0.3);
	$sql .= any('', ' LIMIT 3', ' LIMIT 1 OFFSET 2', ' LIMIT 0', ' LIMIT NULL OFFSET 1');
	return ($sql, 1);
}

# Groups, windows, DISTINCT, set operations.
sub grouped
{
	my $call = call();
	my $c = $call->[1];
	my $from = "FROM $call->[0] f" . where(conditions('f', $call));
	my $other = call();

	return any(
		"SELECT count(*) $from", "SELECT count(*), min(f.vertex), max(f.vertex), min(f.$c), max(f.$c) $from", "SELECT f.$c, count(*), min(f.vertex) $from GROUP BY f.$c",
		"SELECT f.vertex, count(*) $from GROUP BY f.vertex", "SELECT DISTINCT f.$c $from", "SELECT DISTINCT ON (f.vertex) f.vertex, f.$c $from",
		"SELECT f.vertex, row_number() OVER (ORDER BY f.vertex), lag(f.$c) OVER (ORDER BY f.vertex) $from", "SELECT f.vertex, rank() OVER (PARTITION BY f.$c ORDER BY f.vertex DESC) $from",
		"SELECT f.vertex $from UNION ALL SELECT o.vertex FROM $other->[0] o", "SELECT f.vertex $from EXCEPT ALL SELECT o.vertex FROM $other->[0] o" . where(conditions('o', $other)),
		"SELECT f.vertex $from INTERSECT SELECT o.vertex FROM $other->[0] o", "SELECT count(*), f.$c $from GROUP BY GROUPING SETS ((f.$c), ())",
		"SELECT f.vertex $from UNION SELECT v FROM probe", "SELECT array_agg(f.vertex ORDER BY f.$c, f.vertex) $from HAVING count(*) > 1",
		"SELECT string_agg(f.vertex::text, ' ' ORDER BY f.vertex) $from", "SELECT count(DISTINCT f.$c), sum(f.vertex) FILTER (WHERE f.vertex < 9) $from",
		"SELECT * FROM (SELECT f.vertex AS x, f.$c AS y $from OFFSET 0) s WHERE x IN (1, 2, 3, 7)", "SELECT * FROM (SELECT f.vertex AS x, count(*) AS n $from GROUP BY 1) s WHERE x = 3",
		"SELECT * FROM (SELECT f.vertex AS x $from UNION ALL SELECT o.vertex FROM $other->[0] o) s WHERE x = " . vertex(),
		"WITH w AS MATERIALIZED (SELECT f.vertex AS x, f.$c AS y $from) SELECT a.x, b.y FROM w a JOIN w b ON a.x = b.x WHERE a.x < 9",
		"WITH w AS NOT MATERIALIZED (SELECT f.vertex AS x, f.$c AS y $from) SELECT a.x, b.y FROM w a JOIN w b USING (x)",
		"WITH RECURSIVE r AS (SELECT 1 AS n, 1::bigint AS v UNION ALL SELECT n + 1, f.vertex FROM r, $call->[0] f WHERE f.vertex = r.v + 1 AND n < 6) SELECT * FROM r");
}

# Joins of all kinds between calls, and with a table.
sub joined
{
	my ($call, $other) = (call(), call());
	my $kind = any('JOIN', 'JOIN', 'LEFT JOIN', 'RIGHT JOIN', 'FULL JOIN');
	my $right = any([ "$other->[0] o", 'o.vertex', "o.$other->[1]", $other ], [ 'probe o', 'o.' . any('v', 'v', 'i', 's'), 'o.d', undef ]);
	my @on = ("f.vertex = $right->[1]");

	push @on, any("f.$call->[1] <= $right->[2]", "$right->[1] <> 3", "f.vertex IN (1, 2, 3)", conditions('f', $call)) if $kind ne 'FULL JOIN' && maybe(0.4);
	@on = any("f.vertex < $right->[1]", "f.$call->[1] < $right->[2]", 'true') if $kind ne 'FULL JOIN' && maybe(0.1);
	my @where = maybe(0.4) ? conditions('f', $call) : ();
	push @where, conditions('o', $other) if $right->[3] && maybe(0.4);
	my @sides = ("$call->[0] f", $right->[0]);
	@sides = reverse @sides if maybe(0.4);
	my $sql = "FROM $sides[0] $kind $sides[1] ON " . join(' AND ', map { "($_)" } @on);
	$sql .= any(' ', ' LEFT ') . "JOIN " . (call())->[0] . " h ON h.vertex = " . any('f.vertex', $right->[1]) if maybe(0.25);
	$sql .= where(@where);
	return ("SELECT f.*, $right->[1] AS x, $right->[2] AS y $sql ORDER BY f.vertex, x, f.$call->[1], y" . any('', ' LIMIT 4'), 0) if maybe(0.2) && $sql !~ / h ON /;
	return ('SELECT ' . any(targets($call, 'f', $right->[1], $right->[2]), 'f.vertex', $right->[1], 'count(*)') . " $sql", 0);
}

# Subqueries: IN, EXISTS, scalar, and those that become semi and anti joins.
sub nested
{
	my ($call, $other) = (call(), call());
	my $correlated = where('f.vertex = p.' . any('v', 'v', 'i', 's'), maybe(0.5) ? conditions('f', $call, 'p') : ());
	my $alone = where(conditions('f', $call));

	return any(
		"SELECT p.v FROM probe p WHERE p.v IN (SELECT f.vertex FROM $call->[0] f$alone)", "SELECT p.i FROM probe p WHERE p.i NOT IN (SELECT f.vertex FROM $call->[0] f$alone)",
		"SELECT p.* FROM probe p WHERE EXISTS (SELECT FROM $call->[0] f$correlated)", "SELECT p.v, p.k FROM probe p WHERE NOT EXISTS (SELECT FROM $call->[0] f$correlated)",
		"SELECT p.v, (SELECT f.$call->[1] FROM $call->[0] f$correlated) FROM probe p", "SELECT p.v, (SELECT count(*) FROM $call->[0] f$correlated) FROM probe p",
		"SELECT p.v, (SELECT count(*) FROM $call->[0] f" . where(conditions('f', $call, 'p')) . ') FROM probe p',
		"SELECT p.v, ARRAY(SELECT f.vertex FROM $call->[0] f" . where(conditions('f', $call, 'p')) . ' ORDER BY 1) FROM probe p',
		"SELECT o.* FROM $other->[0] o WHERE o.vertex IN (SELECT f.vertex FROM $call->[0] f$alone)", "SELECT o.vertex FROM $other->[0] o WHERE NOT EXISTS (SELECT FROM $call->[0] f WHERE f.vertex = o.vertex)",
		"SELECT (SELECT max(f.vertex) FROM $call->[0] f$alone), (SELECT f.vertex FROM $call->[0] f$alone ORDER BY 1 LIMIT 1)",
		"SELECT p.v FROM probe p WHERE p.v = ANY (SELECT f.vertex FROM $call->[0] f WHERE f.vertex <= p.i)", "SELECT p.v FROM probe p WHERE (p.v, p.k) IN (SELECT f.vertex, f.$call->[1] FROM $call->[0] f$alone)");
}

# Calls and conditions with values of the outer row, over one or two levels.
sub lateral
{
	my $call = call([ qw(p.v p.i p.s p.k), 'p.v / 2 + 1', 'p.a', 'ARRAY[p.v, p.i]' ]);
	my $where = where(conditions('f', $call, 'p'));
	my $inner = call([ 'f.vertex', 'p.v', 'f.vertex / 2 + 1' ]);
	my $targets = targets($call, 'f', 'p.v', 'p.k');
	my $c = $call->[1];

	return any(
		"SELECT $targets FROM probe p, $call->[0] f$where", "SELECT $targets FROM probe p CROSS JOIN LATERAL $call->[0] f$where", "SELECT $targets FROM probe p LEFT JOIN LATERAL $call->[0] f ON true",
		"SELECT $targets FROM probe p LEFT JOIN $call->[0] f ON f.vertex = p.v", "SELECT p.v, s.* FROM probe p, LATERAL (SELECT count(*), min(f.vertex), max(f.$c) FROM $call->[0] f$where) s",
		"SELECT p.v, s.* FROM probe p LEFT JOIN LATERAL (SELECT f.vertex, f.$c FROM $call->[0] f$where LIMIT 2) s ON true", "SELECT p.v, s.* FROM probe p LEFT JOIN LATERAL (SELECT f.vertex FROM $call->[0] f$where ORDER BY f.vertex DESC LIMIT 2) s ON s.vertex > 2",
		"SELECT p.v, f.vertex, g.vertex AS w FROM probe p, $call->[0] f, $inner->[0] g" . where('p.v < 5', 'f.vertex < 9', conditions('g', $inner, 'p')),
		"SELECT p.v, s.n FROM probe p, LATERAL (SELECT f.vertex, t.n FROM $call->[0] f, LATERAL (SELECT count(*) AS n FROM $inner->[0] g WHERE g.vertex <> f.vertex) t$where) s WHERE p.v < 6",
		"SELECT p.v, f.vertex, q.i FROM probe p, $call->[0] f, probe q WHERE q.v = f.vertex AND p.k < 4");
}

# ------------------------------------------------------------------------------------------------------------ comparison

my $session = session($node);
my %shapes = (plain => \&plain, grouped => \&grouped, joined => \&joined, nested => \&nested, lateral => \&lateral);

my $shared = 0;
foreach my $shape (sort keys %shapes)
{
	my ($filled, $scanned, $failed, @problems) = (0, 0, 0);
	my $n = $queries * ($shape eq 'plain' ? 4 : 2);

	foreach my $i (1 .. $n)
	{
		my ($sql, $ordered) = $shapes{$shape}->();
		my $answer = $session->ask(sprintf(q{SELECT verdict, nrows > 0, nscans > 0, shared FROM same($query$%s$query$, %s, %s)}, $sql, $ordered ? 'true' : 'false', $shape eq 'plain' ? 'false' : 'true'));
		my ($verdict, $rows, $scans, $workers) = $answer =~ /\A(.*)\|([tf])\|([tf])\|([tf])\z/s;
		if (!defined $verdict || $verdict !~ /^(?:equal|error)/) { push @problems, $answer; next }
		$filled++ if $rows eq 't' && $verdict eq 'equal';
		$scanned++ if $scans eq 't';
		$shared++ if $workers eq 't';
		if ($verdict =~ /^error/) { $failed++; diag "$sql: $verdict" if $ENV{EMOGI_SEED} }
	}
	is(join("\n", @problems), '', "$n queries, $shape: the same answers (seed $seed)");
	cmp_ok($filled, '>', 0.2 * $n, "... with rows: $filled");
	# newer versions convert a correlated IN to a join, which EmogiLookup answers
	cmp_ok($scanned, '>', ($shape eq 'nested' ? 0.5 : 0.6) * $n, "... streamed: $scanned");
	cmp_ok($failed, '<', 0.1 * $n, "... that are errors: $failed");
}
cmp_ok($shared, '>', 0.2 * $queries, "read by workers: $shared");

# ---------------------------------------------------------------------------------------- rows changed by others

# Commands that wait for a row and find it changed use the row's new version. The scan may be below
# a node that is not re-executed for it.
my $changer = session($node);
foreach my $command (
	q{UPDATE account SET k = f.level FROM emogi_bfs('dense', 3) f WHERE f.vertex = v AND k > 0},
	q{UPDATE account SET k = (SELECT count(*) FROM emogi_bfs('chain', account.k) f WHERE f.level <= account.k)},
	q{UPDATE account SET k = (SELECT f.level FROM emogi_bfs('chain', 1) f WHERE f.vertex = account.k)},
	q{UPDATE account SET k = (SELECT f.level + 100 FROM emogi_bfs('chain', 1) f WHERE f.vertex = account.k AND f.level::text <> 'x')},
	q{UPDATE account SET k = (SELECT count(*) + 1000 FROM emogi_bfs('chain', 1) f WHERE f.level < account.k)},
	q{UPDATE account SET k = (SELECT max(p.seq) + 100 FROM emogi_shortest_path('chain', 1, account.k) p WHERE p.seq::text <> 'x')},
	q{UPDATE account SET k = 100 WHERE EXISTS (SELECT FROM emogi_bfs('chain', 20) f WHERE f.vertex = account.k)},
	q{UPDATE account SET k = 100 WHERE (SELECT f.level FROM emogi_bfs('chain', 1) f WHERE f.vertex = account.k) > 20},
	q{UPDATE account SET k = s.n + k FROM (SELECT count(*) AS n FROM emogi_bfs('chain', 25)) s WHERE k > 20},
	q{UPDATE account SET k = s.level FROM (SELECT * FROM emogi_bfs('chain', 1) LIMIT 5) s WHERE s.vertex = v},
	q{UPDATE account SET k = s.level + account.k FROM (SELECT * FROM emogi_bfs('chain', 1) OFFSET 0) s, probe p WHERE s.vertex = p.v AND p.v = account.v AND s.level <= p.k},
	q{WITH w AS MATERIALIZED (SELECT * FROM emogi_bfs('chain', 1)) UPDATE account SET k = w.level FROM w WHERE w.vertex = account.k},
	q{UPDATE account SET k = s.n FROM (SELECT vertex AS n FROM emogi_bfs('chain', 1) UNION ALL SELECT vertex FROM emogi_bfs('chain', 27)) s WHERE s.n = k + 1 OR s.n = k},
	q{DELETE FROM account USING emogi_bfs('chain', 20) f WHERE f.vertex = k},
	q{DELETE FROM account WHERE k IN (SELECT vertex FROM emogi_bfs('chain', 20))},
	q{DELETE FROM account WHERE k NOT IN (SELECT vertex FROM emogi_bfs('chain', 20))},
	q{INSERT INTO taken SELECT v, k FROM account WHERE EXISTS (SELECT FROM emogi_bfs('chain', 20) f WHERE f.vertex = k) FOR UPDATE},
	q{INSERT INTO taken SELECT a.v, f.level FROM account a, emogi_bfs('chain', 20) f WHERE f.vertex = a.k FOR UPDATE OF a},
	q{INSERT INTO taken SELECT a.v, s.level FROM account a, (SELECT * FROM emogi_bfs('chain', 20) LIMIT 9) s WHERE s.vertex = a.k FOR UPDATE OF a},
	q{INSERT INTO taken SELECT a.v, s.n FROM account a, LATERAL (SELECT count(*) AS n FROM emogi_bfs('chain', a.k) f) s FOR UPDATE OF a},
	q{INSERT INTO taken SELECT v, (SELECT f.level FROM emogi_bfs('chain', 1) f WHERE f.vertex = k) FROM account FOR SHARE})
{
	my @left;

	foreach my $setting (qw(off on))
	{
		$node->safe_psql('postgres', 'DROP TABLE IF EXISTS account, taken; CREATE TABLE account (v bigint, k bigint); CREATE TABLE taken (v bigint, k bigint);
			INSERT INTO account VALUES (1, 3), (2, 8), (3, 24), (4, 4)');
		$changer->ask("BEGIN; UPDATE account SET k = 33 - k WHERE v IN (2, 3)");
		$session->ask("SET emogi.enable_scan = $setting");
		$session->tell($command);
		wait_until(10, sub { $node->safe_psql('postgres', q{SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'}) eq '1' || $session->is_done });
		my $waited = !$session->is_done;
		$changer->ask('COMMIT');
		my $said = $session->answer;
		push @left, "waited: $waited$said " . $node->safe_psql('postgres', q{SELECT string_agg(a::text, ' ' ORDER BY a) FROM (TABLE account UNION ALL SELECT v + 1000, k FROM taken) a});
	}
	like($left[0], qr/^waited: 1 /, "waits: $command");
	is($left[1], $left[0], '... and continues as with the FunctionScan');
}
$changer->quit;
$session->ask('RESET emogi.enable_scan');

# ---------------------------------------------------------------------------------------------- stopped streams

# A star of many endpoints whose rows take time, in a query, a cursor and a loop.
$node->safe_psql('postgres', q{
	CREATE TABLE star AS SELECT 0 AS src, i AS dst FROM generate_series(1, 300000) i;
	CREATE INDEX star_dst ON star (dst);
	CREATE VIEW victim AS SELECT pid FROM pg_stat_activity WHERE application_name = 'victim' AND backend_type = 'client backend' AND state = 'active'});
my $ends = $node->safe_psql('postgres', q{SELECT count(*), sum(vertex) FROM emogi_bfs('star', 0)});
is($ends, '300001|45000150000', 'a large answer');

# Check that no call is in progress, and that the arena holds only graphs.
sub nothing_runs
{
	my ($name) = @_;

	ok(wait_until(5, sub { $node->safe_psql('postgres', 'SELECT count(*) FROM emogi_progress') eq '0' }), "$name: no call in progress")
	  or diag $node->safe_psql('postgres', 'SELECT * FROM emogi_progress');
	region_is_empty($node, "$name: the arena is empty");
}
nothing_runs('after a large answer');

is($node->safe_psql('postgres', q{SELECT count(*) FROM emogi_louvain('star') WHERE parent IS NULL}), '300001', 'rows that are not vertices');
nothing_runs('after rows that are not vertices');

my %slow = (
	levels => q{SELECT count(pg_sleep(0.001)) FROM emogi_louvain('star')},
	edges => q{SELECT count(pg_sleep(0.001)) FROM emogi_spanning_forest('star') WHERE dst > 0},
	query => q{SELECT count(pg_sleep(0.001)) FROM emogi_bfs('star', 0)},
	lookups => q{SELECT count(pg_sleep(0.001)) FROM generate_series(1, 300000) i JOIN LATERAL (SELECT * FROM emogi_bfs('star', 0) f WHERE f.vertex = i OFFSET 0) f ON true},
	nested => q{SELECT count(pg_sleep(0.001)) FROM emogi_bfs('star', 0) f, LATERAL (SELECT * FROM emogi_bfs('star', f.vertex) LIMIT 1) g},
	loop => q{DO $$ DECLARE r record; BEGIN FOR r IN SELECT * FROM emogi_bfs('star', 0) LOOP PERFORM pg_sleep(0.001); END LOOP; END $$});
foreach my $kind (sort keys %slow)
{
	my ($out, $err) = ('', '');
	start_psql($node, \$out, \$err, q{SET statement_timeout = '400ms'}, $slow{$kind})->finish;
	like($err, qr/57014/, "$kind, statement_timeout");
	nothing_runs($kind);
	foreach my $how (qw(cancel terminate))
	{
		($out, $err) = ('', '');
		my $psql = start_psql($node, \$out, \$err, q{SET application_name = 'victim'}, $slow{$kind});
		ok(wait_until(10, sub { $node->safe_psql('postgres', q{SELECT count(*) FROM emogi_progress WHERE phase = 'rows' AND pid IN (SELECT pid FROM victim)}) ne '0' }), "$kind: rows are on their way");
		$node->safe_psql('postgres', "SELECT pg_${how}_backend(pid) FROM victim");
		eval { $psql->finish };
		like($err, $how eq 'cancel' ? qr/57014/ : qr/57P01|connection/, "$kind, pg_${how}_backend");
		nothing_runs("$kind, pg_${how}_backend");
	}
}
is($session->ask(q{SET statement_timeout = '200ms'; SELECT count(pg_sleep(0.001)) FROM emogi_bfs('star', 0)}) =~ /57014/, 1, 'a session continues after a timeout');
is($session->ask(q{RESET statement_timeout; SELECT count(*), sum(vertex) FROM emogi_bfs('star', 0)}), $ends, '... with a correct answer');

# ---------------------------------------------------------------------------------------------------- open cursors

# Sessions with a partly read cursor, more than the engine serves at once: others are answered.
my @idle = map { session($node) } 1 .. 10;
foreach my $i (0 .. $#idle)
{
	$idle[$i]->ask(qq{BEGIN; DECLARE c CURSOR FOR SELECT * FROM emogi_bfs('star', 0) WHERE vertex >= $i; FETCH 2 FROM c});
}
my $start = time;
answers_small($node, 'with 10 idle cursors, another graph is traversed');
is($node->safe_psql('postgres', q{SELECT count(*), sum(vertex) FROM emogi_bfs('star', 0)}), $ends, '... and the same');
cmp_ok(time - $start, '<', 5, '... at once');
is($node->safe_psql('postgres', q{SELECT count(*) FROM emogi_progress WHERE state = 'idle' AND phase = 'rows'}), '10', 'the cursors are shown, as idle');

# A graph evicted or changed while a cursor reads it remains available to the cursor.
$node->safe_psql('postgres', q{SELECT emogi_evict('star'); INSERT INTO star VALUES (0, -5)});
is($idle[3]->ask('FETCH 2 FROM c'), "5|1\n6|1", 'a cursor goes on after emogi_evict() and INSERT');
is($idle[3]->ask('MOVE FORWARD 100000 FROM c; FETCH 1 FROM c'), '100007|1', '... far on');
is($node->safe_psql('postgres', q{SELECT min(vertex) FROM emogi_bfs('star', 0)}), '-5', '... and a new call sees the new row');
$node->safe_psql('postgres', 'DELETE FROM star WHERE dst = -5');

# DROP, TRUNCATE and similar commands wait until the end of the transaction, as for a SELECT.
foreach my $command ('DROP TABLE star', 'TRUNCATE star', 'ALTER TABLE star ADD x int', 'CLUSTER star USING star_dst', 'BEGIN; LOCK TABLE star IN ACCESS EXCLUSIVE MODE')
{
	is((sqlstate($node, "SET lock_timeout = '200ms'; $command"))[0], '55P03', "$command waits for a cursor");
}
is((sqlstate($node, q{SET lock_timeout = '200ms'; INSERT INTO star VALUES (1, 1); DELETE FROM star WHERE src = 1}))[0], '', '... INSERT and DELETE do not');
$_->ask('CLOSE c') foreach @idle;
is($node->safe_psql('postgres', 'SELECT count(*) FROM emogi_progress'), '0', 'closed cursors are no calls in progress');
is((sqlstate($node, q{SET lock_timeout = '200ms'; TRUNCATE star}))[0], '55P03', 'TRUNCATE waits for the end of the transaction');
$_->ask('COMMIT') foreach @idle;
is((sqlstate($node, q{SET lock_timeout = '200ms'; BEGIN; TRUNCATE star; ROLLBACK}))[0], '', '... and then does not');
nothing_runs('after 10 cursors');

# A cursor that is waited for finishes; then the waiter continues.
$idle[0]->ask(q{BEGIN; DECLARE c CURSOR FOR SELECT vertex FROM emogi_bfs('small', 1); FETCH 1 FROM c});
$idle[1]->tell('TRUNCATE small');
wait_until(10, sub { $node->safe_psql('postgres', q{SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'}) eq '1' });
ok(!$idle[1]->is_done, 'TRUNCATE waits');
is($idle[0]->ask('FETCH ALL FROM c; COMMIT'), "2\n3\n4", '... for a continuing cursor');
is($idle[1]->answer, '', '... and then finishes');
$idle[1]->ask('INSERT INTO small VALUES (1, 2), (2, 3), (1, 4)');

# As many cursors in one idle session as there can be calls in progress.
$idle[0]->ask(q{BEGIN; DO $$ BEGIN FOR i IN 1 .. 128 LOOP EXECUTE format('DECLARE c%s CURSOR FOR SELECT vertex FROM emogi_bfs(''small'', 1)', i);
	EXECUTE format('MOVE 1 FROM c%s', i); END LOOP; END $$});
is((sqlstate($node, q{SET statement_timeout = '10s'; SELECT * FROM emogi_bfs('small', 1)}))[0], '', 'with 128 open cursors of one idle session, others are answered');
is($idle[0]->ask('FETCH ALL FROM c128; COMMIT'), "2\n3\n4", '... and their rows are right');

# More cursors than there can be calls in progress, in a few sessions: no session is blocked.
foreach my $i (0 .. 3)
{
	is($idle[$i]->ask(q{BEGIN; DO $$ BEGIN FOR i IN 1 .. 60 LOOP EXECUTE format('DECLARE c%s CURSOR FOR SELECT vertex FROM emogi_bfs(''small'', 1)', i);
		EXECUTE format('MOVE 1 FROM c%s', i); END LOOP; END $$}), '', 'a session opens 60 cursors');
}
is($node->safe_psql('postgres', q{SELECT count(*) FROM pg_stat_activity WHERE state = 'idle in transaction'}), '4', '... and all stay open');
is((sqlstate($node, q{SET statement_timeout = '10s'; SELECT * FROM emogi_bfs('small', 1)}))[0], '', '... and block nobody');
is($idle[$_]->ask('FETCH ALL FROM c60'), "2\n3\n4", '... and their rows are right') foreach 0 .. 3;
$idle[0]->ask('COMMIT');
$idle[1]->ask('ROLLBACK');
is($idle[2]->ask(q{PREPARE TRANSACTION 'with cursors'; ROLLBACK PREPARED 'with cursors'}), '', 'a transaction with open cursors can be prepared');
$node->safe_psql('postgres', 'SELECT pg_terminate_backend(pid) FROM (SELECT DISTINCT pid FROM emogi_progress) p');
nothing_runs('after 240 cursors, closed in each way');
eval { $_->quit } foreach @idle;

# The engine worker exits while rows are being read: existing rows are returned, and requests to the
# next worker are answered.
my $worker = worker_pid($node);
$session->ask(q{BEGIN; DECLARE c CURSOR FOR SELECT vertex FROM emogi_bfs('star', 0); MOVE 1000 FROM c;
	DECLARE d CURSOR FOR SELECT f.level FROM generate_series(0, 9) i, LATERAL (SELECT * FROM emogi_bfs('small', 1) f WHERE f.vertex = i OFFSET 0) f; FETCH 1 FROM d});
kill 'TERM', $worker;
ok(wait_until(20, sub { my $next = worker_pid($node); $next && $next != $worker }), 'another worker starts');
like($session->ask('MOVE 99000 FROM c; FETCH 1 FROM c; FETCH ALL FROM d'), qr/^(?:100000\n1\n2\n1|ERROR:  58000: [^\n]*)/, '... and an open cursor continues, or reports an error');
answers_small($node, '... and the next call is right');
$session->ask('ROLLBACK');
nothing_runs('after that');

$session->quit;
$node->stop;
no_crash($node);

done_testing();
