# Random arguments of every kind return rows or an error with a specific SQLSTATE, never an internal
# error, and the server and the session continue. An error about a value contains it in its message.
# EMOGI_CALLS and EMOGI_SEED set number and seed (as test/fuzz_arguments does), EMOGI_FINDINGS names
# a file for findings.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use EmogiTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use RandomQueries;
use Test::More;

my $calls = $ENV{EMOGI_CALLS} // 600;
my $seed = $ENV{EMOGI_SEED} // 36;
my $node = crash_node('main', "emogi.max_memory = '256MB'", "statement_timeout = '3s'", 'client_min_messages = error', 'log_min_messages = fatal', 'log_min_error_statement = panic',
	"temp_file_limit = '200MB'");

srand($seed);
$node->safe_psql('postgres', q{
	CREATE TABLE edges (src int, dst int, weight float8, label text);
	INSERT INTO edges SELECT i % 20, (i * 7) % 20, i % 5, 'x' FROM generate_series(1, 60) i;
	CREATE TABLE "Odd Table" ("from (x)" int, "to""y" bigint, "w.z" numeric);
	INSERT INTO "Odd Table" VALUES (1, 2, 3);
	CREATE TABLE "naïve…表" ("源" int, "目标" int);
	INSERT INTO "naïve…表" VALUES (1, 2);
	CREATE TABLE negative (src int, dst int, weight float8);
	INSERT INTO negative VALUES (1, 2, -1), (2, 3, 'NaN');
	CREATE TABLE strings (src text, dst text);
	CREATE VIEW failing AS SELECT src, 1 / (dst - 7) AS dst FROM edges;
	CREATE MATERIALIZED VIEW unfilled AS SELECT src, dst FROM edges WITH NO DATA;
	CREATE SEQUENCE counter;
	CREATE INDEX edges_src ON edges (src);
	CREATE TABLE parts (src int, dst int) PARTITION BY RANGE (src);
	CREATE TABLE written (a int);
	CREATE TYPE pair AS (src int, dst int);
	CREATE FUNCTION writes(int) RETURNS int LANGUAGE sql VOLATILE AS 'INSERT INTO written VALUES ($1) RETURNING a';
	CREATE FUNCTION raises(int) RETURNS int LANGUAGE plpgsql AS $$ BEGIN IF $1 > 10 THEN RAISE EXCEPTION 'raised %', $1 USING ERRCODE = 'EM001'; END IF; RETURN $1; END $$;
	CREATE FUNCTION empties(int) RETURNS int LANGUAGE plpgsql AS $$ BEGIN TRUNCATE edges; RETURN $1; END $$;
	CREATE FUNCTION drops(int) RETURNS int LANGUAGE plpgsql AS $$ BEGIN DROP TABLE IF EXISTS edges CASCADE; RETURN $1; END $$;
	CREATE FUNCTION sets(int) RETURNS int LANGUAGE plpgsql AS $$ BEGIN PERFORM set_config('emogi.enable_cache', 'off', true), set_config('search_path', 'pg_catalog', true), set_config('role', 'pg_monitor', true); RETURN $1; END $$;
	CREATE FUNCTION calls(int) RETURNS bigint LANGUAGE sql AS $$ SELECT max(vertex) FROM emogi_bfs('edges', $1) $$;
	CREATE FUNCTION evicts(int) RETURNS int LANGUAGE plpgsql AS $$ BEGIN PERFORM emogi_evict(); RETURN $1; END $$;
	CREATE FUNCTION catches(int) RETURNS int LANGUAGE plpgsql AS $$ BEGIN PERFORM emogi_bfs('nowhere', 1); RETURN 0; EXCEPTION WHEN OTHERS THEN RETURN $1; END $$;
	CREATE FUNCTION calls_itself(int) RETURNS bigint LANGUAGE plpgsql AS $$ BEGIN RETURN (SELECT count(*) FROM emogi_bfs(format('SELECT %s, calls_itself(%s)', $1, $1 + 1), 1)); END $$;
	CREATE FUNCTION pairs() RETURNS SETOF pair LANGUAGE sql AS 'SELECT src, dst FROM edges'});

# ------------------------------------------------------------------------------------------------------- arguments

# An argument: its SQL; and, if it may be invalid, the value that an error about it should name
# (undef: none).
sub good { return { sql => $_[0] } }
sub argument { return { sql => $_[0], odd => $_[1] // '' } }

sub quoted { my ($text) = @_; return "'" . $text =~ s/'/''/gr . "'" }

my @pieces = ('edges', 'src', 'dst', '(', ')', ',', '.', '"', '""', "'", ' ', "\n", "\t", '--', '/*', '*/', ';', 'select', 'SELECT ', 'with', 'values', 'table', '$1', '$$', '\\', "\x{e9}", "\x{8868}", "\x{1F600}", '*', '0', '%', '%s', 'pg_catalog',
	'public', 'NULL', '::', '[', ']', 'weight', "\x{200b}", 'x' x 70, '1', 'emogi_bfs');

# Create a query with values of any types for its parameters.
sub query_with_values
{
	my $query = any('SELECT src, dst FROM edges WHERE src < $1', 'SELECT src, dst FROM edges WHERE label = $1', 'SELECT src, dst FROM edges WHERE $1 IS NOT NULL', 'SELECT src, dst FROM edges LIMIT $1', 'SELECT src, $1 FROM edges', 'VALUES ($1, $1)',
		'SELECT src, dst FROM edges WHERE src = $1 OR $2', 'SELECT src, dst FROM edges WHERE src = ANY ($1)', 'SELECT $1[1], $1[2]', 'SELECT src, dst FROM edges WHERE label < U&$1', '$1', '');
	my $value = any('5', '7::bigint', '1.5', "'3'", 'NULL', 'NULL::int', 'true', "'{1,2}'::int[]", "ARRAY['a', '''']", 'ROW(1, 2)', 'ARRAY[ROW(1, 2)]', "date '-infinity'", "'0001-01-01 BC'::timestamptz", "'NaN'::float8", "'1e-300'::float8",
		"'-1 mon +2 days'::interval", "'\\x275c'::bytea", q{'{"a": "''\\\\"}'::jsonb}, "'edges'::regclass", "'int'::regtype", "'''\\'::text", q{'x'::"char"}, "B'101'", "point '(1,2)'", 'numrange(1, NULL)', "'<a/>'::xml", "'1'::xid", "'0/1'::pg_lsn",
		'VARIADIC ARRAY[5]', "VARIADIC ARRAY['a', 'b']", 'VARIADIC NULL::int[]', "repeat('''', 1000)", '1, true', "'a', 'b'", "current_setting('no.such', true)", '(SELECT max(src) FROM edges)', '(1, 2)::pair', 'random()');
	return 'emogi_query(' . quoted($query) . ", $value)";
}

# Create the text of a graph argument, and the value that an error should name.
sub graph
{
	my $n = int(rand(30));

	return good("'edges'") if maybe(0.25);
	return argument(query_with_values()) if maybe(0.15);
	return argument(quoted(join('', map { any(@pieces) } 1 .. 1 + rand(8)))) if $n < 6;
	return argument(any('NULL', 'NULL::text', "''", "' '", "E'\\n'", "'()'", "'\"\"'", "'.'", "'--'", "'/*'", "'/* /* */'", "'edges--'", "'edges /* x */'", "'edges;'", "'edges, edges'")) if $n < 8;
	if ($n < 12)
	{
		my $name = any('nowhere', 'no where', 'edges2', 'Edges', 'EDGES2', 'public.nowhere', 'noschema.edges', 'pg_catalog.nowhere', 'a.b.c', 'a.b.c.d', 'postgres.public.edges', 'nodb.public.edges', 'edges_src', 'counter', 'unfilled', 'failing',
			'parts', 'strings', 'negative', 'pg_class', 'pg_stat_activity', 'information_schema.tables', 'pg_toast.pg_toast_1255', '"Odd Table"', '"naïve…表"("源", "目标")', '"Odd Table"("from (x)", "to""y")',
			'"Odd Table"("from (x)","to""y","w.z")', '"Odd Table"("from (x)", nothere)', 'edges(src, nothere)', 'edges(src)', 'edges()', 'edges(src, dst, weight, label)', 'edges(src, dst, label)', 'edges(label, dst)', 'edges(src,, dst)',
			'edges(src dst)', 'edges(src, dst))', 'edges((src), dst)', 'edges(*)', 'edges(ctid, dst)', 'edges(tableoid, xmin)', 'edges (src, dst) x', 'ONLY edges', 'edges TABLESAMPLE SYSTEM (1)', 'LATERAL edges', 'edges*');
		return argument(quoted($name), $name =~ /nothere|nowhere|edges2|noschema|nodb|edges_src|counter|unfilled|strings/i ? $& : undef);
	}
	if ($n < 22)
	{
		my $query = any('SELECT 1', 'SELECT', 'SELECT 1, 2', 'SELECT 1, 2, 3, 4', 'SELECT 1, 2, 3, 4, 5, 6', 'SELECT * FROM edges', 'TABLE edges', 'VALUES (1, 2)', "VALUES ('a', 'b')", 'VALUES (1, 2), (3)', 'VALUES (1, 2, NULL)',
			'SELECT NULL, NULL', "SELECT '1', '2'", 'SELECT 1.5, 2', 'SELECT 1::oid, 2', 'SELECT ARRAY[1], 2', 'SELECT ROW(1), 2', 'SELECT src, dst FROM nowhere', 'SELECT src, nothere FROM edges', 'SELECT src, nothere(dst) FROM edges',
			'SELECT src, dst FROM edges WHERE', 'SELECT src, dst FROM edges; SELECT 1, 2', 'SELECT 1, 2; DROP TABLE edges', 'SELECT src, dst FROM edges;', 'SELECT src, dst FROM edges; ;', 'SELECT src, 1 / (dst - 7) FROM edges',
			'SELECT src, raises(dst) FROM edges', 'SELECT src, writes(dst) FROM edges', 'SELECT src, empties(dst) FROM edges', 'SELECT src, drops(dst) FROM edges', 'SELECT src, sets(dst) FROM edges', 'SELECT src, calls(dst) FROM edges',
			'SELECT src, evicts(dst) FROM edges', 'SELECT src, catches(dst) FROM edges', 'SELECT 1, calls_itself(1)', 'SELECT nextval($$counter$$), currval($$counter$$)', 'SELECT pg_sleep(10), 1', 'SELECT (pairs()).*', 'SELECT * FROM pairs()',
			'WITH w AS (INSERT INTO written VALUES (1) RETURNING a) SELECT a, a FROM w', 'WITH w AS (DELETE FROM edges RETURNING src, dst) SELECT * FROM w', 'WITH w AS (UPDATE edges SET dst = 1 RETURNING *) TABLE w',
			'WITH RECURSIVE r(a, b) AS (SELECT 1, 2 UNION ALL SELECT b, a + 3 FROM r WHERE a < 1000) SELECT a, b FROM r', 'WITH RECURSIVE r(a, b) AS (SELECT 1, 2 UNION ALL SELECT a, b FROM r) SELECT a, b FROM r',
			'WITH x AS (SELECT 1) INSERT INTO written SELECT 1', 'SELECT src, dst INTO made FROM edges', 'SELECT src, dst FROM edges FOR UPDATE', 'SELECT src, dst FROM edges WHERE src = $1', 'SELECT src, dst FROM edges WHERE src = :x',
			'(SELECT src, dst FROM edges)', '((SELECT 1, 2)) UNION ALL (SELECT 2, 3)', '/* a /* b */ */ SELECT 1, 2', "-- c\nSELECT 1, 2", 'SELECT 1, 2 -- end', 'SELECT 1, 2 /* open', "SELECT '1, 2", 'SELECT "1", 2', 'SELECT $$1, 2',
			'SELECT vertex, level FROM emogi_bfs($$edges$$, 1)', 'SELECT vertex, rank FROM emogi_pagerank($$edges$$)', 'SELECT vertex, level FROM emogi_bfs($$SELECT 1, 2$$, 1)', 'SELECT a, a + 1 FROM generate_series(1, 100000) a',
			'SELECT 9223372036854775807, -9223372036854775808', 'SELECT 9223372036854775808, 1', 'SELECT 1, 2, $$NaN$$::float8', 'SELECT 1, 2, -1.5', 'SELECT 1, 2, $$Infinity$$::numeric::float8', 'SELECT 1, 2, 1e400', 'SELECT 1, 2, $$a$$',
			'SELECT 1, 2, now()', 'SELECT pg_backend_pid(), 1', 'SELECT 1, (SELECT 2 UNION SELECT 3)', 'SELECT count(*), 1', 'SELECT DISTINCT src, dst FROM edges ORDER BY label', 'SELECT src, dst FROM edges LIMIT -1', 'SELECT src, dst FROM unfilled',
			'SELECT src, dst FROM failing', 'selectx 1, 2', 'SELECT(1),(2)', 'SELECT' . ' 1,' x any(10, 1663, 1665) . ' 2', 'table', 'values', 'with', 'select', 'EXPLAIN SELECT 1, 2', 'COPY edges TO STDOUT', 'SHOW all', 'BEGIN', 'COMMIT', 'DROP TABLE edges',
			'FETCH 1 FROM c', 'EXECUTE p', 'CALL p()', 'DO $$BEGIN END$$', 'LISTEN x', 'SELECT emogi_sink(1, 2, 3), 4', 'SELECT 1, emogi_sink(1, 2, 3)');
		return argument(quoted($query), $query =~ /nowhere|nothere|raises|selectx/ ? ($& eq 'raises' ? 'raised' : $&) : undef);
	}
	return argument("repeat(" . quoted(any('x', '"', '(', ')', '/*', 'edges.', 'a,', ' ', 'SELECT ', '((', "''", '(SELECT 1, 2) UNION ')) . ', ' . any(10, 64, 1000, 100000, 1000000) . ")") if $n < 25;
	return argument("repeat(" . quoted(any('(', '/*', 'edges(')) . ', ' . any(10, 1000, 20000) . ") || " . quoted(any('SELECT 1, 2', 'edges', ')'))) if $n < 26;
	return argument("'SELECT 1, 2 UNION ALL ' || repeat('SELECT 2, 3 UNION ALL ', " . any(10, 300, 5000) . ") || 'SELECT 3, 4'") if $n < 27;
	return argument("E'" . join('', map { sprintf('\\x%02x', 1 + rand(255)) } 1 .. 1 + rand(12)) . "'") if $n < 28;
	return argument(any("'edges'::varchar", "'edges'::name", "'edges'::regclass", "'edges'::char(20)", "(SELECT 'edges')", "current_setting('no.such', true)", "'edges' || NULL", "chr(8238) || 'edges'"));
}

sub source
{
	return good(any(1 .. 20)) if maybe(0.4);
	return argument(any('NULL', 'NULL::bigint', 'NULL::bigint[]', "'1'", "'{1,2}'", "'{}'", '0', '-1', '9223372036854775807', '(-9223372036854775808)', '1::smallint', "'{}'::bigint[]", "'{NULL}'::bigint[]", "'{1,NULL,3}'::bigint[]",
		"'{{1,2},{3,4}}'::bigint[]", "'{{{1}}}'::bigint[]", "'[5:7]={1,2,3}'::bigint[]", "'[-3:-3][2:2]={{7}}'::bigint[]", 'ARRAY(SELECT src FROM edges)::bigint[]', "array_fill(1::bigint, ARRAY[100000])", 'ARRAY(SELECT i::bigint FROM generate_series(1, 300000) i)',
		"array_fill(NULL::bigint, ARRAY[1000, 3])", 'ARRAY[1, 2]', 'ARRAY[1::smallint]', '(SELECT max(src) FROM edges)', '(SELECT 1 WHERE false)', 'true::int', "'1'::char::int")) if maybe(0.7);
	my $bad = any('9223372036854775808', '1.5', '1e30', "'NaN'::float8", "'abc'", "'1 2'", "'{1,x}'", "'{1'", "''", 'now()', 'ROW(1, 2)', "'{1.5}'::numeric[]", "ARRAY['a']", 'true', "'\\x00'::bytea", "'{\"a\":1}'::jsonb");
	return argument($bad, $bad =~ /^'(abc|1 2|\{1,x\}|\{1)'$/ ? ($1 eq '{1,x}' ? 'x' : $1) : undef);
}

sub direction
{
	return good(any("'out'", "'in'", "'both'", 'NULL', "'OUT'::text")) if maybe(0.6);
	my $text = any('up', '', ' out', 'out ', 'OUT', "in'", 'reverse', "\x{8868}", 'both,in', 'x' x 300, '%n%s%d', "o\nut");
	return argument(quoted($text), $text =~ /\A[\s]*\z|\n/ ? undef : substr($text, 0, 20));
}

sub integer
{
	return good(any(0 .. 5, 100, 2147483647, 'NULL', "'3'")) if maybe(0.6);
	my $bad = any(-1, -2147483648, 2147483648, '9999999999', '1.5', "'x'", "'NaN'::float8", '(-7)');
	return argument($bad, $bad =~ /^\(?(-\d+)/ ? $1 : undef);
}

sub float
{
	return good(any(0, 1, 0.5, '1e-300', 'NULL', "'-0'", 0.85)) if maybe(0.5);
	my $bad = any("'NaN'", "'-Infinity'", -1, "'-1e-300'", "'1e400'", "'abc'", 2, "'Infinity'", '1e300', "'NaN'::numeric");
	return argument($bad, $bad =~ /abc|1e400/ ? $& : undef);
}

sub boolean
{
	return good(any('true', 'false', 'NULL', "'yes'", "'0'")) if maybe(0.6);
	return argument(any("'abc'", '1', '0.5', "'true'::text", 'now()', "'{t}'::boolean[]"), undef);
}

sub start_values
{
	return good(any("'SELECT 1, 1.0'", "'VALUES (1, 0.5), (2, 0.25)'", "'SELECT src, 1 FROM edges WHERE src = 3'")) if maybe(0.5);
	return argument(any('NULL', "''", "'edges'", "'SELECT 1'", "'SELECT 1, NULL'", "'SELECT NULL, 1'", "'SELECT 1, 1 UNION ALL SELECT 1, 2'", "'SELECT 1, ''NaN''::float8'", "'SELECT 1, ''Infinity''::float8'", "'SELECT 99, 1'", "'SELECT ''a'', 1'", "'SELECT 1, ''a'''",
		"'SELECT 1, 1 / 0'", "'SELECT 1, 2; SELECT 3, 4'", "'SELECT src, raises(dst) FROM edges'", "'WITH w AS (INSERT INTO written VALUES (1) RETURNING a) SELECT a, a FROM w'", "'SELECT 1, calls_itself(1)'", "'DROP TABLE edges'"));
}

my %named = (max_depth => \&integer, direction => \&direction, max_distance => \&float, damping => \&float, alpha => \&float, beta => \&float, max_iterations => \&integer, tolerance => \&float, samples => \&integer, seed => \&integer,
	resolution => \&float, theta => \&float, max_levels => \&integer, max_cluster_size => \&integer,
	top_k => \&integer, cutoff => \&float, pairs => \&start_values, length => \&integer, walks => \&integer, p => \&float, q => \&float, maximum => \&boolean,
	k => \&integer, max_paths => \&integer, max_cost => \&float, max_length => \&integer, max_cycles => \&integer, normalized => \&boolean);
my %positions = (source => \&source, target => \&source, sources => \&source, targets => \&source, start => \&start_values, communities => \&start_values);

# The functions with a graph, from the function list: arguments without a default are positional,
# others named.
my (%required, %optional);
foreach (split /\n/, qx{perl "$FindBin::RealBin/../../tools/functions" --arguments})
{
	my ($function, $kind, $name, $type, $default) = split / /;
	next if $function eq 'emogi_with_vertices';
	my $given = ($required{$function} //= [ \&graph ]);
	next if $kind ne 'argument';
	push @$given, $name eq 'pairs' ? \&start_values : $positions{$name} // die "$function: no values for $name" if $default eq '-' && @$given < ($function eq 'emogi_shortest_paths' ? 3 : 99);
	push @{ $optional{$function} }, $name if $default ne '-' && $named{$name};
}
my @functions = map { [ $_, $required{$_}, @{ $optional{$_} // [] } ] } sort keys %required;
push @functions, [ 'emogi_shortest_paths', [ \&graph, \&start_values ], 'direction' ], map { [ $_, [ \&graph ] ] } qw(emogi_triangle_count emogi_evict);

# Create a call: the command, and the value that an error should name if exactly one is invalid.
sub random_call
{
	my ($name, $positions, @names) = @{ any(@functions) };
	my @given = map { $_->() } @$positions;
	my @sql = map { $_->{sql} } @given;

	foreach (@names)
	{
		next unless maybe(0.4);
		push @given, $named{$_}->();
		push @sql, "$_ => $given[-1]{sql}";
	}
	my $call = "$name(" . join(', ', @sql) . ')';
	my @odd = grep { defined } map { $_->{odd} } @given;
	my $command = any("SELECT count(*) FROM $call", "SELECT count(*) FROM $call", "SELECT * FROM $call LIMIT 2", "SELECT $call LIMIT 1", "SELECT count(*) FROM generate_series(1, 3) i, LATERAL (SELECT * FROM $call OFFSET 0) f",
		"SELECT count(*) FROM edges e LEFT JOIN $call f ON true WHERE e.src < 3", "EXPLAIN SELECT * FROM $call", "EXPLAIN (ANALYZE, VERBOSE, FORMAT json) SELECT * FROM $call", "CREATE TEMP TABLE made AS SELECT * FROM $call",
		"PREPARE p AS SELECT * FROM $call; EXECUTE p", "DECLARE c SCROLL CURSOR FOR SELECT * FROM $call; FETCH 2 FROM c; FETCH BACKWARD 1 FROM c; FETCH ALL FROM c",
		"DO \$do\$ DECLARE r record; BEGIN FOR r IN SELECT * FROM $call LOOP NULL; END LOOP; EXCEPTION WHEN division_by_zero THEN NULL; END \$do\$");

	return ($command, @odd == 1 && $odd[0] ne '' && !grep({ $_->{sql} =~ /NULL|repeat|made/ } @given) ? $odd[0] : undef);
}

# ------------------------------------------------------------------------------------------------------------- run

my %count = map { ($_ => 0) } qw(rows errors internal crashes unnamed);
my %seen;
my $session;

sub found
{
	my ($what, $command, $said) = @_;
	my $class = "$what " . substr($said, 0, 60) =~ s/\d+/N/gr;
	my $text = sprintf("seed %d: %s\n    %s\n    %s\n", $seed, $what, substr($command, 0, 600), substr($said, 0, 600));

	return if $seen{$class}++ || keys %seen > 30;
	utf8::encode($text) if utf8::is_utf8($text);
	diag $text;
	append_to_file($ENV{EMOGI_FINDINGS}, "$text\n") if $ENV{EMOGI_FINDINGS};
}

my %reasonable = map { ($_ => 1) } qw(42P01 42703 42601 22023 22003 22P02 42804 42809 3F000 0A000 55000 EM001);
for my $i (1 .. $calls)
{
	srand($seed * 1000003 + $i);
	answers_small($node, "another session is answered after $i calls") if $i % 200 == 0;
	my ($command, $odd) = random_call();
	utf8::encode($command) if utf8::is_utf8($command);
	utf8::encode($odd) if defined $odd && utf8::is_utf8($odd);
	$session //= session($node);
	my $said = eval { $session->ask("BEGIN; $command; ROLLBACK; DEALLOCATE ALL") };
	if (!defined $said)
	{
		$count{crashes}++;
		found('the session has ended', $command, $@);
		undef $session;
		wait_until(60, sub { my ($rc, $out) = $node->psql('postgres', 'SELECT 1'); ($rc // 1) == 0 && $out eq '1' });
		next;
	}
	my ($state, $message) = $said =~ /^(?:ERROR|FATAL):\s+(\w{5}): (.*)/ms;
	$count{ defined $state ? 'errors' : 'rows' }++;
	next unless defined $state;
	diag "$state: $command: " . substr($message, 0, 200) if $ENV{EMOGI_VERBOSE};
	if ($state =~ /^XX/) { $count{internal}++; found('internal error', $command, $said) }
	# If several arguments are out of range, the message is about the first that is checked.
	next if $state eq '22023' && $message =~ /^(max_depth|max_distance|max_iterations|tolerance|damping|samples|resolution|theta|max_levels|max_cluster_size|invalid direction)\b/;
	if (defined $odd && $reasonable{$state} && $command !~ /emogi_evict/ && index(lc $message, lc $odd) < 0) { $count{unnamed}++; found("the error does not name '$odd'", $command, $said) }
}
$session->quit if $session;
my $counts = join(', ', map { "$_ $count{$_}" } sort keys %count);

is($count{crashes}, 0, "$calls calls, seed $seed: no session has ended ($counts)");
is($count{internal}, 0, '... no internal error');
is($count{unnamed}, 0, '... and errors name the invalid value');
cmp_ok($count{rows}, '>', 0.1 * $calls, '... some have rows');
is($node->safe_psql('postgres', 'SELECT count(*) FROM written'), '0', '... rolled-back changes are gone');
is($node->safe_psql('postgres', 'SELECT count(*) FROM emogi_progress'), '0', 'no call is in progress');
region_is_empty($node, 'nothing is left in memory');
answers_small($node, 'the server continues');
no_crash($node);
$node->stop;

done_testing();
