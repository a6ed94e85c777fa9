# Calls with edge_filter on a table whose graph is cached are answered by property columns of that graph, and answer as without them and as on a view
# without a cache: random conditions, keys, directions and weights, alone and beside a writer; also after DDL, and with little memory. EMOGI_QUERIES
# sets the number of comparisons, EMOGI_SEED the seed.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use EmogiTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $comparisons = $ENV{EMOGI_QUERIES} // 6000;
my $seed = $ENV{EMOGI_SEED} // 105;
my $node = emogi_node('main', 'emogi.incremental_min_size = 0', "emogi.max_memory = '256MB'", 'fsync = off', 'synchronous_commit = off',
	'emogi.enable_index_search = off', 'emogi.enable_property_columns = on', 'max_locks_per_transaction = 256', 'max_prepared_transactions = 5');

srand($seed);

sub any { return $_[ draw(scalar @_) ] }
sub quoted { return q{'} . ($_[0] =~ s/'/''/gr) . q{'} }

$node->safe_psql('postgres', q{
	CREATE TYPE mood AS ENUM ('calm', 'busy', 'angry');
	CREATE TABLE e (id int, src int, dst int, weight float8, kind text, amount float8, n numeric(8, 2), day date, at timestamptz, ok boolean, m mood, u uuid,
		small smallint, big bigint);
	CREATE FUNCTION row_of(i int) RETURNS e LANGUAGE sql AS $$
		SELECT i, i % 37, (i * 11 + i / 13) % 41, i % 3, (ARRAY['sms', 'call', 'mail', NULL])[i % 4 + 1], (ARRAY[i % 17, NULL, 'NaN', 'Infinity', -0.0, i / 7.0])[i % 6 + 1],
			CASE WHEN i % 8 > 0 THEN i % 29 / 4.0 END, date '2026-01-01' + i % 60, timestamptz '2026-01-01 00:00+00' + i * interval '7 hours', (ARRAY[true, false, NULL])[i % 3 + 1],
			(ARRAY['calm', 'busy', 'angry', NULL]::mood[])[i % 4 + 1], CASE WHEN i % 9 > 0 THEN md5((i % 12)::text)::uuid END, i % 100, i::bigint * 1000000007 $$;
	INSERT INTO e SELECT (row_of(i)).* FROM generate_series(1, 300) i;
	-- parallel edges with other properties, NULL ends, a loop
	INSERT INTO e SELECT 1000 + i, i % 5, i % 3, i % 2, 'k' || i % 4, i, i, NULL, NULL, i % 2 = 0, 'busy', NULL, i, i FROM generate_series(1, 60) i;
	INSERT INTO e (id, src, dst, weight) VALUES (2001, NULL, 1, 1), (2002, 1, NULL, 1), (2003, 1, 1, 0);
	CREATE INDEX ON e (id);
	ANALYZE e;
	CREATE TABLE words (id int, src text, dst varchar, kind text COLLATE "C", amount real, weight float8, n numeric, small int, ok boolean, m mood, day date, at timestamptz, u uuid, big bigint);
	INSERT INTO words SELECT id, 'v' || src, 'v' || dst, kind, amount, weight, n, small, ok, m, day, at, u, big FROM e;
	CREATE TABLE parts (LIKE e) PARTITION BY HASH (id);
	CREATE TABLE parts_0 (gone int, LIKE e);
	ALTER TABLE parts_0 DROP COLUMN gone;
	ALTER TABLE parts ATTACH PARTITION parts_0 FOR VALUES WITH (MODULUS 2, REMAINDER 0);
	CREATE TABLE parts_1 PARTITION OF parts FOR VALUES WITH (MODULUS 2, REMAINDER 1);
	INSERT INTO parts SELECT * FROM e;
	CREATE TABLE masked (calls bigint);
	-- what a call answers, its SQLSTATE after an error
	CREATE FUNCTION answer(call text, columns boolean, cached boolean) RETURNS text LANGUAGE plpgsql AS $$
	DECLARE found text;
	BEGIN
		PERFORM set_config('emogi.enable_cache', cached::text, true), set_config('emogi.enable_property_columns', columns::text, true);
		EXECUTE 'SELECT count(*) || '' '' || coalesce(md5(string_agg(r, E''\n'' ORDER BY r)), '''') FROM (SELECT t::text AS r FROM ' || call || ' AS t) s' INTO found;
		RETURN found;
	EXCEPTION WHEN OTHERS THEN
		RETURN SQLSTATE || ' ' || SQLERRM;
	END $$;
	CREATE FUNCTION hits(name text) RETURNS numeric LANGUAGE sql AS $$ SELECT coalesce(sum(hits), 0) FROM emogi_graphs WHERE source = name $$;
	-- all in one snapshot, after a call without a filter, if this is not empty; NULL if they are equal
	CREATE FUNCTION compare(name text, before text, filtered text, on_view text) RETURNS text LANGUAGE plpgsql AS $$
	DECLARE one text; other text; third text; hits_before numeric;
	BEGIN
		IF before <> '' THEN PERFORM answer(before, true, true); END IF;
		hits_before := hits(name);
		one := answer(filtered, true, true);
		IF hits(name) > hits_before THEN RAISE NOTICE 'masked'; END IF;
		other := answer(on_view, false, false);
		third := answer(filtered, false, true);
		RETURN CASE WHEN one IS DISTINCT FROM other OR third IS DISTINCT FROM other THEN format('%s and %s not %s: %s after %s', one, third, other, filtered, before) END;
	END $$});

sub value_of
{
	my ($column) = @_;

	return $column eq 'kind' ? any("'sms'", "'call'", "'k1'", "'zz'", "''")
	  : $column eq 'amount' ? any(0, 3, 7.5, "'NaN'", "'Infinity'", '5::float4')
	  : $column eq 'day' ? any("date '2026-01-20'", "'2026-02-03'")
	  : $column eq 'at' ? any("timestamptz '2026-01-20 00:00+01'", "'2026-02-03 12:00+00'")
	  : $column eq 'm' ? any("'busy'", "'calm'")
	  : $column eq 'u' ? any("md5('3')::uuid", "md5('11')::uuid")
	  : $column eq 'big' ? any('100000000700', 30)
	  : any(draw(30), draw(9) . '.5', draw(200));
}

sub condition
{
	my ($depth) = @_;
	my $column = any(qw(kind amount n day at m u small big id weight));

	if ($depth > 0 && draw(3) > 0)
	{
		my @parts = map { condition($depth - 1) } 1 .. 2;
		return any("($parts[0] AND $parts[1])", "($parts[0] OR $parts[1])", "(NOT $parts[0] OR $parts[1])", "(($parts[0]) IS NOT TRUE AND $parts[1])", "(($parts[0]) IS UNKNOWN OR $parts[1])");
	}
	return any(
		"$column " . any('=', '<>', '<', '<=', '>', '>=', 'IS DISTINCT FROM') . ' ' . value_of($column),
		"$column BETWEEN " . value_of($column) . ' AND ' . value_of($column),
		"$column " . any('IN', 'NOT IN') . ' (' . join(', ', map { value_of($column) } 1 .. 1 + draw(3)) . ')',
		"$column IS " . any('NULL', 'NOT NULL'),
		'kind ' . any('LIKE', 'NOT LIKE') . any(" 's%'", " '%a%'", " '_1'"),
		any('ok', 'NOT ok', 'ok IS NOT FALSE', 'small < big', 'id % 3 = 1', 'amount >= small', 'length(kind) = 4'));
}

# a table, the form of the graph argument, and how a vertex is written
my @tables = ([ 'e', 'e(src, dst)', sub { $_[0] } ], [ 'words', 'words(src, dst)', sub { "'v$_[0]'" } ], [ 'parts', 'parts(src, dst)', sub { $_[0] } ], [ 'e', 'e(dst, src)', sub { $_[0] } ]);

# Write the texts of a comparison.
sub texts
{
	my ($name, $form, $vertex) = @{ any(@tables) };
	my $filter = condition(draw(3));
	my $source = $vertex->(draw(42));
	my $direction = any('', '', ", direction => 'in'", ", direction => 'both'");
	my $depth = any('', '', ', max_depth => 1', ', max_depth => 3');
	my $call = any("emogi_bfs(G, $source$depth$direction F)", "emogi_bfs(G, ARRAY[$source, " . $vertex->(draw(50)) . "]$depth$direction F)",
		"(SELECT count(*), sum(level), max(level) FROM emogi_bfs(G, $source$depth$direction F))", "(SELECT * FROM emogi_bfs(G, $source$depth$direction F) WHERE vertex = " . $vertex->(draw(42)) . ')',
		"(SELECT level, count(*) FROM emogi_bfs(G, $source$direction F) GROUP BY level)");
	my $unfiltered = any('', "emogi_bfs('$form', $source$direction)", "emogi_bfs('$form', $source$direction)", $form =~ /^e.src/ ? "emogi_sssp('e(src, dst, weight)', $source$direction)" : "emogi_cc('$form')");
	my $filtered = $call =~ s/G/'$form'/r =~ s/F\b/, edge_filter => @{[ quoted($filter) ]}/r;
	my ($columns) = $form =~ /\((.*)\)/;
	my $on_view = $call =~ s/G/@{[ quoted("SELECT * FROM $name WHERE $filter") ]}/r =~ s/ F\b//r;
	$on_view = $call =~ s/G/@{[ quoted("SELECT $columns FROM $name WHERE $filter") ]}/r =~ s/ F\b//r;
	$on_view =~ s/SELECT dst, src/SELECT dst AS src, src AS dst/;
	return ($name, $unfiltered, $filtered, $on_view);
}

my ($compared, $masked) = (0, 0);
sub compare_some
{
	my ($count) = @_;
	my @differ;

	while ($count > 0)
	{
		my $n = $count < 100 ? $count : 100;
		my ($rc, $out, $err) = $node->psql('postgres', "SET extra_float_digits = 0; SET statement_timeout = '60s';\n" .
			join("\n", map { 'BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT compare(' . join(', ', map { quoted($_) } texts()) . '); COMMIT;' } 1 .. $n));
		push @differ, "psql: $err" if $rc != 0;
		$masked += () = $err =~ /masked/g;
		push @differ, grep { $_ ne '' } split /\n/, $out;
		$count -= $n;
		$compared += $n;
	}
	return @differ;
}

my @differ = compare_some(int($comparisons * 0.7));
is(scalar @differ, 0, "$compared random calls with a filter are as on a view") or diag join("\n", @differ[ 0 .. ($#differ < 9 ? $#differ : 9) ]);
cmp_ok($masked, '>', $compared / 5, "... $masked of them by property columns");
like($node->safe_psql('postgres', 'SELECT string_agg(property_columns, \' \') FROM emogi_graphs WHERE property_bytes > 0'), qr/kind/, 'emogi_graphs shows the columns');

# Beside a writer that changes properties, edges and files.
$node->safe_psql('postgres', 'CREATE PROCEDURE write_all(seconds float8) LANGUAGE plpgsql AS $$ DECLARE until timestamptz := clock_timestamp() + seconds * interval \'1 second\'; i int := 3000; BEGIN
	WHILE clock_timestamp() < until LOOP
		i := i + 1;
		IF i % 5 = 0 THEN INSERT INTO e SELECT (row_of(i)).*; ELSIF i % 5 < 4 THEN UPDATE e SET kind = CASE WHEN kind = \'sms\' THEN \'call\' ELSE \'sms\' END, amount = i % 11 WHERE id % 40 = i % 40; ELSE DELETE FROM e WHERE id = i - 200; END IF;
		COMMIT;
		PERFORM pg_sleep(random() * 0.2);
	END LOOP;
END $$');
@tables = ($tables[0], $tables[3]);
my ($before, $masked_before, @beside) = ($compared, $masked);
my $writer = session($node);
foreach my $round (1 .. 3)
{
	$writer->tell('CALL write_all(10)');
	push @beside, compare_some(int($comparisons * 0.1));
	$writer->answer;
	$node->safe_psql('postgres', 'VACUUM FULL e') if $round == 2;
}
is(scalar @beside, 0, ($compared - $before) . ' of them beside a writer') or diag join("\n", @beside[ 0 .. ($#beside < 9 ? $#beside : 9) ]);
cmp_ok($masked - $masked_before, '>', 5, '... ' . ($masked - $masked_before) . ' of these by property columns');

# Errors and cancels in the middle of a load leave nothing behind.
$node->safe_psql('postgres', 'CREATE TABLE wide AS SELECT i % 1000 AS src, i * 7 % 1000 AS dst, i % 50 AS a, md5(i::text) AS b, i AS c FROM generate_series(1, 200000) i; ANALYZE wide');
my $bfs = "SELECT count(*) FROM emogi_bfs('wide(src, dst)', 1";
$node->safe_psql('postgres', "$bfs)");
foreach my $timeout (1, 5, 20, 40, 80)
{
	my ($rc, $out, $err) = $node->psql('postgres', "SET statement_timeout = $timeout; $bfs, edge_filter => 'a < 25 AND b > ''7''')");
	note "$timeout ms: $rc $err";
}
$node->safe_psql('postgres', "$bfs, edge_filter => 'a < 2$_')") foreach 6 .. 9;
my $loaded = $node->safe_psql('postgres', "$bfs, edge_filter => 'a < 25')");
is($node->safe_psql('postgres', "SELECT property_columns FROM emogi_graphs WHERE source = 'wide'"), 'a', 'a load of a column after canceled loads');
my $expected = $node->safe_psql('postgres', "SET emogi.enable_property_columns = off; $bfs, edge_filter => 'a < 25')");
is($loaded, $expected, '... answers');
$node->safe_psql('postgres', "$bfs, edge_filter => 'c < 9999$_')") foreach 1 .. 4;
like($node->safe_psql('postgres', "EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) $bfs, edge_filter => 'c < 100000')"), qr/Filter Evaluated: on .*Property Columns: 2/s, 'EXPLAIN shows the columns, now two');
# all 200,000 values of b are stored; many more would not be
is($node->safe_psql('postgres', "$bfs, edge_filter => 'b > ''8''')"), $node->safe_psql('postgres', "SET emogi.enable_property_columns = off; $bfs, edge_filter => 'b > ''8''')"), 'a column of many different texts');

# An application that always filters, with other values in each call: no graph is cached, and few calls build one of their condition.
my $explain = 'EXPLAIN (ANALYZE, COSTS OFF)';
$node->safe_psql('postgres', "SELECT emogi_evict('wide')");
my @plans = map { $node->safe_psql('postgres', "$explain $bfs, edge_filter => 'a < 2$_ AND c < 19000$_')") } 1 .. 8;
is(scalar(grep { /Filter Evaluated/ } @plans[ 3 .. 7 ]), 5, 'the fourth call and later ones with other values have a mask');
is(scalar(grep { /Columns Time/ } @plans), 1, '... by one load');
is($node->safe_psql('postgres', "$bfs, edge_filter => 'a < 25')"), $expected, '... and answer');

# The table is written before each call: loads become rare. Once it is not written any more, calls have masks.
my $loads = 0;
foreach my $round (1 .. 24)
{
	$node->safe_psql('postgres', "UPDATE wide SET a = a WHERE c = $round");
	$loads++ if $node->safe_psql('postgres', "$explain $bfs, edge_filter => 'a < 30 AND c < 1900$round')") =~ /Columns Time/;
}
cmp_ok($loads, '<=', 12, "$loads loads in 24 calls on a table that is written before each");
like($node->safe_psql('postgres', join(';', map { "$explain $bfs, edge_filter => 'a < 3$_ AND c < 1800$_')" } 1 .. 40)), qr/Filter Evaluated/, 'masks, once it is not written');

# Without memory for columns, calls answer as they do without them.
sub of_poor
{
	my ($columns, $bound) = @_;
	my ($rc, $out) = $node->psql('postgres', "SET emogi.enable_property_columns = $columns; SET ROLE poor; $bfs, edge_filter => 'a < 25 AND b < ''$bound''')");

	return $rc == 0 ? $out : 'error';
}
$node->safe_psql('postgres', "SELECT emogi_evict('wide'); CREATE ROLE poor LOGIN; GRANT SELECT ON wide TO poor");
my ($succeeded, @worse) = (0);
foreach my $mb (6, 8, 10, 14, 20, 30)
{
	$node->append_conf('postgresql.conf', "emogi.role_memory = '${mb}MB'");
	$node->reload;
	foreach my $bound (1 .. 6)
	{
		my ($without, $with) = (of_poor('off', "$bound$mb"), of_poor('on', "$bound$mb"));

		$succeeded += $without ne 'error';
		push @worse, "$bound with $mb MB: $with, not $without" if $without ne 'error' && $with ne $without;
	}
}
is(scalar @worse, 0, "$succeeded calls of a role with little memory") or diag join("\n", @worse);
cmp_ok($succeeded, '>', 5, '... of which some succeed');
$node->append_conf('postgresql.conf', 'emogi.role_memory = -1');
$node->reload;

# Columns are not loaded under a snapshot for which another call could not tell whether they are still
# the values of the table: a writer that prepared before changes of the table were recorded.
$node->safe_psql('postgres', q{CREATE TABLE prepared AS SELECT i AS src, i + 1 AS dst, 'a' AS kind FROM generate_series(1, 5000) i; ANALYZE prepared});
$node->safe_psql('postgres', q{BEGIN; UPDATE prepared SET kind = 'b' WHERE src = 100; PREPARE TRANSACTION 'writer'});
my $prepared = q{SELECT count(*) FROM emogi_bfs('prepared(src, dst)', 1};
is($node->safe_psql('postgres', "$prepared, edge_filter => 'kind = ''a''')"), 5001, 'a condition before a prepared transaction ends');
$node->safe_psql('postgres', join('; ', map { "$prepared, edge_filter => 'kind < ''x$_''')" } 1 .. 6));
$node->safe_psql('postgres', q{COMMIT PREPARED 'writer'});
is($node->safe_psql('postgres', "$prepared)"), 5001, '... all edges after it');
is($node->safe_psql('postgres', "$prepared, edge_filter => 'kind <= ''a''')"), 100, '... and the condition');

# The weights that tell parallel edges apart may have been dropped.
$node->safe_psql('postgres', q{CREATE TABLE dropped AS SELECT i AS src, i + 1 AS dst, i % 7 AS w, CASE WHEN i = 100 THEN 'b' ELSE 'a' END AS kind FROM generate_series(1, 5000) i; ANALYZE dropped});
sub ask { my ($session, $sql) = @_; $session->tell($sql); return $session->answer }
my ($reader, $changer) = (session($node), session($node));
my $without = q{SELECT count(*) FROM emogi_bfs('dropped(src, dst)', 1};
$node->safe_psql('postgres', q{SELECT count(*) FROM emogi_sssp('dropped(src, dst, w)', 1)});
ask($reader, 'BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1');
ask($changer, 'ALTER TABLE dropped DROP COLUMN w');
is(ask($reader, "$without)"), 5001, 'a graph with dropped weights');
is(ask($reader, "$without, edge_filter => 'kind = ''$_''')"), $_ eq 'a' ? 100 : 0, "... and a condition, $_") foreach 'a', 'x1', 'x2', 'x3';
ask($reader, 'COMMIT');
$_->quit foreach $reader, $changer;

# Of sessions that load at once, one does, and the others do without.
my @sessions = map { session($node) } 1 .. 4;
$node->safe_psql('postgres', "SELECT emogi_evict('wide'); $bfs)");
$_->tell('SELECT ' . join(', ', map { "($bfs, edge_filter => 'c IN (2, 4) OR c < 15000$_'))" } 10 .. 29)) foreach @sessions[ 0, 1 ];
$_->tell('SELECT ' . join(', ', map { "($bfs, edge_filter => 'a = 1 OR c < 15000$_'))" } 10 .. 29)) foreach @sessions[ 2, 3 ];
my @answers = map { $_->answer } @sessions;
is($answers[2], $answers[3], 'loads at once');
is($node->safe_psql('postgres', "SELECT count(property_columns) FROM emogi_graphs WHERE source = 'wide'"), 1, '... of which one stored its columns');
$_->quit foreach @sessions, $writer;

# Little memory: columns go before graphs.
my $kept = $node->safe_psql('postgres', "SELECT count(*) FROM emogi_graphs WHERE property_bytes > 0");
cmp_ok($kept, '>', 0, 'graphs with columns');
$node->safe_psql('postgres', "CREATE TABLE big_$_ AS SELECT (random() * 1e6)::int AS src, (random() * 1e6)::int AS dst FROM generate_series(1, 1500000); SELECT count(*) FROM emogi_bfs('big_$_(src, dst)', 1)") foreach 1 .. 4;
note $node->safe_psql('postgres', 'SELECT source, bytes, property_bytes FROM emogi_graphs');
is($node->safe_psql('postgres', "$bfs, edge_filter => 'a < 25')"), $expected, 'the answer after eviction');

note "$compared compared, $masked masked";
no_crash($node);
$node->stop;

done_testing();
