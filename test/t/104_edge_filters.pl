# Calls with edge_filter and params answer as the same calls on a view with this condition and without a cache: random conditions over columns of many
# types, with NULLs and values, for every function, in every form of the graph argument, alone and beside a writer. EMOGI_QUERIES sets the number of
# comparisons, EMOGI_SEED the seed.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use EmogiTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $comparisons = $ENV{EMOGI_QUERIES} // 20000;
my $seed = $ENV{EMOGI_SEED} // 104;
my $filters = 120;
my $node = emogi_node('main', 'emogi.incremental_min_size = 0', 'emogi.index_search_min_size = 0', "emogi.max_memory = '512MB'", 'fsync = off',
	'synchronous_commit = off', 'max_locks_per_transaction = 256');

srand($seed);

sub any { return $_[ draw(scalar @_) ] }

# ---- the table ----

$node->safe_psql('postgres', q{
	CREATE TYPE mood AS ENUM ('calm', 'busy', 'angry');
	CREATE TABLE e (id int, src int, dst int, weight float8, cost2 numeric, kind text, note varchar(9) COLLATE "C", amount float8, n numeric(8, 2), day date, at timestamptz,
		ok boolean, m mood, tags int[], u uuid, span interval, small smallint, big bigint, doc jsonb);
	CREATE FUNCTION row_of(i int) RETURNS e LANGUAGE sql AS $$
		SELECT i, i % 37, (i * 11 + i / 13) % 41, i % 9, (i % 7)::numeric / 4, (ARRAY['sms', 'call', 'mail', NULL])[i % 4 + 1], CASE WHEN i % 5 > 0 THEN chr(97 + i % 26) || i % 3 END,
			(ARRAY[i % 17, NULL, 'NaN', 'Infinity', -0.0, i / 7.0])[i % 6 + 1], CASE WHEN i % 8 > 0 THEN i % 29 / 4.0 END, date '2026-01-01' + i % 60, timestamptz '2026-01-01 00:00+00' + i * interval '7 hours',
			(ARRAY[true, false, NULL])[i % 3 + 1], (ARRAY['calm', 'busy', 'angry', NULL]::mood[])[i % 4 + 1], CASE WHEN i % 3 > 0 THEN ARRAY[i % 4, NULL, i % 6] END, CASE WHEN i % 9 > 0 THEN md5((i % 12)::text)::uuid END,
			i % 50 * interval '1 hour', i % 100, i::bigint * 1000000007, CASE WHEN i % 2 = 0 THEN jsonb_build_object('a', i % 5) END $$;
	INSERT INTO e SELECT (row_of(i)).* FROM generate_series(1, 260) i;
	INSERT INTO e (src, dst, weight) VALUES (NULL, 1, 1), (1, NULL, 1), (1, 1, 0), (1, 2, 3), (1, 2, 3);
	CREATE INDEX ON e (src);
	CREATE INDEX ON e (dst, kind);
	ANALYZE e;
	CREATE VIEW ve AS SELECT * FROM e;
	CREATE TABLE parts (LIKE e) PARTITION BY HASH (id);
	CREATE TABLE parts_0 PARTITION OF parts FOR VALUES WITH (MODULUS 2, REMAINDER 0);
	CREATE TABLE parts_1 PARTITION OF parts FOR VALUES WITH (MODULUS 2, REMAINDER 1);
	INSERT INTO parts SELECT * FROM e;
	CREATE FUNCTION is_even(int) RETURNS boolean LANGUAGE sql IMMUTABLE BEGIN ATOMIC SELECT $1 % 2 = 0; END;
	-- what a call answers, its SQLSTATE after an error
	CREATE FUNCTION answer(call text, cached boolean) RETURNS text LANGUAGE plpgsql AS $$
	DECLARE found text;
	BEGIN
		PERFORM set_config('emogi.enable_cache', cached::text, true), set_config('emogi.enable_index_search', cached::text, true), set_config('emogi.enable_local_search', cached::text, true);
		EXECUTE 'SELECT count(*) || '' '' || coalesce(md5(string_agg(r, E''\n'' ORDER BY r)), '''') FROM (SELECT t::text AS r FROM ' || call || ' AS t) s' INTO found;
		RETURN found;
	EXCEPTION WHEN OTHERS THEN
		RETURN SQLSTATE;
	END $$;
	-- both in one snapshot; NULL if they are equal
	CREATE FUNCTION compare(filtered text, on_view text) RETURNS text LANGUAGE plpgsql AS $$
	DECLARE one text := answer(filtered, true); other text := answer(on_view, false);
	BEGIN
		RETURN CASE WHEN one IS DISTINCT FROM other THEN format('%s not %s: %s', one, other, filtered) WHEN length(one) = 5 THEN 'error ' || one END;
	END $$});

# ---- conditions: text with parameters, their values, and the text with the values in it ----

my @numbers = qw(amount n small weight cost2 id);

sub value_of
{
	my ($column) = @_;

	return $column =~ /^(?:kind|note)$/ ? any("'sms'", "'call'", "'a1'", "'k'", "'it''s'", "'sms'::text", 'NULL::text')
	  : $column eq 'amount' ? any(0, 3, 7.5, "'NaN'::float8", "'Infinity'::float8", 'NULL::float8', '5::float4')
	  : $column eq 'day' ? any("date '2026-01-20'", "'2026-02-03'", "timestamp '2026-01-15 12:00'")
	  : $column eq 'at' ? any("timestamptz '2026-01-20 00:00+01'", "'2026-02-03 12:00+00'", "date '2026-01-15'")
	  : $column eq 'm' ? any("'busy'", "'calm'::mood", 'NULL::mood')
	  : $column eq 'u' ? any("md5('3')::uuid", "md5('11')::uuid", "'c4ca4238-a0b9-2382-0dcc-509a6f75849b'")
	  : $column eq 'span' ? any("interval '10 hours'", "'1 day'")
	  : $column eq 'big' ? any('100000000700', "'50000000350'", 3)
	  : any(draw(30), draw(9) . '.5', draw(200), "'" . draw(20) . "'", 'NULL::int', draw(50) . '::bigint');
}

# Write a value: as a literal, or as a parameter.
sub put
{
	my ($value, $values) = @_;

	return $value if draw(3) == 0;
	push @$values, $value;
	return '$' . @$values;
}

sub condition
{
	my ($depth, $values) = @_;
	my $column = any(@numbers, qw(kind note day at m u span big));
	my $number = any(@numbers);

	if ($depth > 0 && draw(3) > 0)
	{
		my @parts = map { condition($depth - 1, $values) } 1 .. 2;
		return any("($parts[0] AND $parts[1])", "($parts[0] OR $parts[1])", "(NOT $parts[0] OR $parts[1])", "(($parts[0]) IS NOT TRUE AND $parts[1])", "coalesce($parts[0], $parts[1])",
			"CASE WHEN $parts[0] THEN $parts[1] ELSE ok END", "(($parts[0]) IS UNKNOWN OR $parts[1])", "($parts[0]) = ($parts[1])");
	}
	return any(
		sub { "$column " . any('=', '<>', '<', '<=', '>', '>=', 'IS DISTINCT FROM', 'IS NOT DISTINCT FROM') . ' ' . put(value_of($column), $values) },
		sub { "$column BETWEEN " . put(value_of($column), $values) . ' AND ' . put(value_of($column), $values) },
		sub { "$column " . any('IN', 'NOT IN') . ' (' . join(', ', map { put(value_of($column), $values) } 1 .. 1 + draw(3)) . ')' },
		sub { "$column IS " . any('NULL', 'NOT NULL') },
		sub { any('kind', 'note') . any(' LIKE ', ' NOT LIKE ', ' ~ ') . put(any("'s%'", "'%a%'", "'^[a-k]'"), $values) },
		sub { any('ok', 'NOT ok', 'ok IS NOT FALSE', 'true', 'is_even(id)', '(src < dst)', 'day < current_date', 'at < now()', "doc @> '{\"a\": 3}'", 'src = weight') },
		sub { 'id % ' . put(2 + draw(5), $values) . ' = ' . put(draw(3), $values) },
		sub { "$number = ANY (" . put(any('ARRAY[1, 2, 3]', 'ARRAY[4, NULL, 7]', "'{1,5}'::int[]", 'ARRAY[]::int[]'), $values) . ')' },
		sub { put(draw(6), $values) . ' = ANY (tags)' },
		sub { "$number + " . put(draw(9), $values) . " > $numbers[draw(3)] * 2" },
		sub { 'length(kind) ' . any('<', '>') . ' ' . put(3, $values) })->();
}

# ---- calls: G stands for the graph and the arguments of the filter ----

my @calls = (
	(map { ("emogi_bfs(G, SRC$_)", "emogi_bfs_tree(G, SRC$_)") } '', ', 2', ", direction => 'in'", ", 1, 'both'"), 'emogi_bfs(G, ARRAY[1, 5, 40, 900])', 'emogi_bfs(G, SRC, 1)', 'emogi_sssp(G, SRC)', "emogi_sssp(G, SRC, 4, 'in')",
	'emogi_shortest_path_tree(G, SRC)', 'emogi_sswp(G, SRC)', 'emogi_ssnsp(G, SRC)', 'emogi_cc(G)', 'emogi_scc(G)', 'emogi_triangles(G)', '(SELECT emogi_triangle_count(G))', 'emogi_lcc(G)', 'emogi_core(G)', 'emogi_cdlp(G)',
	'emogi_louvain(G)', 'emogi_leiden(G)', "(SELECT emogi_modularity(G, 'SELECT i, i % 3 FROM generate_series(0, 50) i'))", 'emogi_degree(G)', "emogi_degree(G, 'both')", 'emogi_closeness(G)', 'emogi_betweenness(G)', 'emogi_topological_order(G)',
	'emogi_longest_path(G)', 'emogi_similarity(G)', 'emogi_distance_matrix(G, ARRAY[SRC, 2], ARRAY[3, 4, 5])', 'emogi_random_walk(G, SRC, 6, 2)', '(SELECT emogi_max_flow(G, SRC, 7))', 'emogi_max_flow_edges(G, SRC, 7)', 'emogi_min_cut(G, SRC, 7)',
	'emogi_spanning_forest(G)', 'emogi_bridges(G)', 'emogi_articulation_points(G)', 'emogi_biconnected(G)', 'emogi_pagerank(G)', 'emogi_eigenvector(G)', 'emogi_katz(G, 0.01)', 'emogi_hits(G)', "emogi_heat(G, 'VALUES (1, 1.0), (2, 0.5)')",
	"emogi_circuit(G, 'VALUES (1, 1.0), (2, 0.0)')", "emogi_neural(G, 'VALUES (1, 0.5)')", '(SELECT count(*), sum(cost) FROM emogi_shortest_path(G, SRC, 7))', '(SELECT target, max(distance) FROM emogi_shortest_paths(G, ARRAY[SRC], ARRAY[3, 4, 5]) GROUP BY 1)',
	"(SELECT source, target, max(distance) FROM emogi_shortest_paths(G, 'VALUES (1, 2), (SRC, 4)') GROUP BY 1, 2)", '(SELECT path_id, max(distance) FROM emogi_k_shortest_paths(G, SRC, 7, 4) GROUP BY 1)', 'emogi_all_shortest_paths(G, SRC, 7)',
	'(SELECT vertex, count(*) FROM emogi_cycles(G, SRC, 4, 100000) GROUP BY 1)', '(SELECT vertex, count(*) FROM emogi_simple_paths(G, SRC, ARRAY[4, 7], 4, 9, 100000) GROUP BY 1)', 'emogi_rollup(G, SRC)', 'emogi_rollup(G, SRC, 1)', "emogi_rollup(G, SRC, 2, 'in')", "emogi_reachable(G, 'VALUES (1, 2), (SRC, 4)')", '(SELECT edges, vertices FROM emogi_check(G))', '(SELECT ok FROM emogi_check(G, with_overlay => true))');

# The graph argument in one of its forms, of a table or its view.
sub forms
{
	my $bound = draw(200);

	return any(
		[ q{'%s'}, 'e' ], [ q{'public.%s'}, 'e' ], [ q{'%s(src, dst)'}, 'e' ], [ q{'%s(src, dst, cost2)'}, 'e' ], [ q{'%s(dst, src, weight)'}, 'e' ], [ qq{'%s WHERE id > $bound OR kind IS NULL'}, 'e' ],
		[ qq{'%s(src, dst, weight) WHERE id > $bound -- own'}, 'e' ], [ q{'%s'}, 've' ], [ q{'%s'}, 'parts' ], [ q{'SELECT * FROM %s'}, 'e' ], [ q{'SELECT e.*, cost2 AS capacity FROM %s AS e WHERE src < 30; '}, 'e' ],
		[ qq{emogi_query('SELECT * FROM %s WHERE id > \$1', $bound)}, 'e' ], [ qq{emogi_query('%s WHERE id > \$1', $bound)}, 'e' ], [ q{'%s'::regclass}, 'e' ], [ q{'%s'::regclass, columns => 'src, dst, weight'}, 'e' ]);
}

# Make the conditions, each a view.
my @filters;
my $refused = 0;
while (@filters < $filters)
{
	my @values;
	my $text = condition(draw(4), \@values);
	my $with_values = $text =~ s/\$(\d+)/$values[$1 - 1]/gr;
	my $n = @filters;
	my ($rc, $out, $err) = $node->psql('postgres', "CREATE VIEW fe_$n AS SELECT * FROM e WHERE $with_values; CREATE VIEW fp_$n AS SELECT * FROM parts WHERE $with_values");

	# what a view could do, PostgreSQL must refuse for the same reason
	if ($rc != 0)
	{
		my ($state, $message) = sqlstate($node, 'SELECT count(*) FROM e WHERE ' . $with_values);
		my ($ours) = sqlstate($node, "SELECT count(*) FROM emogi_cc('e', edge_filter => " . quoted($text) . params_of(@values) . ')');
		is($ours, $state, "refused: $text") if $refused++ < 50;
		$node->psql('postgres', "DROP VIEW IF EXISTS fe_$n, fp_$n");
		next;
	}
	push @filters, { text => $text, values => \@values, n => $n };
}

sub quoted { return q{'} . ($_[0] =~ s/'/''/gr) . q{'} }
sub params_of { return @_ ? ', params => ROW(' . join(', ', @_) . ')' : '' }

# Write a pair of calls.
sub pair
{
	my ($filter, @only) = @_;
	my ($graph, $table) = @{ forms() };
	my $call = any(@only ? @only : @calls);
	my $source = draw(42);
	my ($argument, @rest) = split /, (?=columns)/, $graph;
	my $arguments = join(', ', '', @rest) =~ s/^, $//r;
	my $with_filter = $arguments . ', edge_filter => ' . quoted($filter->{text}) . params_of(@{ $filter->{values} });
	my $view = ($table eq 'parts' ? 'fp_' : 'fe_') . $filter->{n};
	my @written = map {
		my ($name, $more) = @$_;
		my $written = $call =~ s/SRC/$source/gr;
		# arguments by name stand behind the others
		$written =~ s/(emogi_\w+)\(G((?:[^()]|\([^()]*\))*)\)/"$1(" . sprintf($argument, $name) . $2 . $more . ')'/e;
		$written
	} [ $table, $with_filter ], [ $view, $arguments ];
	return @written;
}

# Compare a number of calls; return what differs, and the number of errors that both raise.
my ($compared, $both_fail) = (0, 0);
sub compare_some
{
	my ($session, $count, @only) = @_;
	my @differ;

	while ($count > 0)
	{
		my @batch = map { [ pair($filters[ draw(scalar @filters) ], @only) ] } 1 .. ($count < 50 ? $count : 50);
		my $said = $session->ask(join("\n", map { "BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT compare(" . join(', ', map { quoted($_) } @$_) . '); COMMIT;' } @batch));
		$count -= @batch;
		$compared += @batch;
		foreach my $line (split /\n/, $said)
		{
			next if $line eq '' || $line =~ /^(?:BEGIN|COMMIT)$/;
			if ($line =~ /^error \w{5}$/) { $both_fail++ }
			else { push @differ, $line }
		}
	}
	return @differ;
}

my $session = session($node);
$session->ask("SET client_min_messages = error; SET extra_float_digits = -3; SET statement_timeout = '60s'");

my @differ = compare_some($session, int($comparisons * 0.8));
is(scalar @differ, 0, "$compared random calls with a filter are as on a view") or diag join("\n", @differ[ 0 .. ($#differ < 9 ? $#differ : 9) ]);
cmp_ok($both_fail, '<', $compared / 3, "... few of them errors ($both_fail)");

# Beside a writer, whose rows are rows of the same kind; orders that depend on the numbers of vertices are not compared.
my $writer = session($node);
$writer->ask('CREATE PROCEDURE write_all(seconds float8) LANGUAGE plpgsql AS $$ DECLARE until timestamptz := clock_timestamp() + seconds * interval \'1 second\'; i int := 1000; BEGIN
	WHILE clock_timestamp() < until LOOP
		i := i + 1;
		IF i % 3 = 0 THEN INSERT INTO e SELECT (row_of(i)).*; ELSIF i % 3 = 1 THEN UPDATE e SET kind = CASE WHEN kind = \'sms\' THEN \'call\' ELSE \'sms\' END, amount = i % 11 WHERE id % 40 = i % 40; ELSE DELETE FROM e WHERE id = i - 200; END IF;
		COMMIT;
		PERFORM pg_sleep(0.002);
	END LOOP;
END $$');
my @stable = grep { !/louvain|leiden|cdlp|max_flow_edges|min_cut|spanning_forest|random_walk|pagerank|eigenvector|katz|hits|heat|circuit|neural|betweenness|closeness|tree|all_shortest|similarity|modularity|biconnected|check/ } @calls;
my ($before, @beside) = ($compared);
foreach my $round (1 .. 4)
{
	$writer->tell('CALL write_all(8)');
	push @beside, compare_some($session, int($comparisons * 0.05), @stable);
	$writer->answer;
}
is(scalar @beside, 0, ($compared - $before) . ' of them beside a writer') or diag join("\n", @beside[ 0 .. ($#beside < 9 ? $#beside : 9) ]);
cmp_ok($compared, '>=', $comparisons - 50, "$compared in all, $both_fail errors in both");
like($node->safe_psql('postgres', 'SELECT string_agg(DISTINCT cache, \' \') FROM emogi_runs'), qr/hit|overlay|merged/, '... by cached graphs');
note $node->safe_psql('postgres', 'SELECT cache, count(*) FROM emogi_runs GROUP BY 1 ORDER BY 2 DESC');
$_->quit foreach $session, $writer;
no_crash($node);
$node->stop;

done_testing();
