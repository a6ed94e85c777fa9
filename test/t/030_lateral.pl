# Random LATERAL joins with emogi_bfs: a batch of searches returns the same rows, in the same order,
# as single searches and as PostgreSQL's function scans, even if fewer than 64 answers fit into the
# arena. A stopped batch leaves no resources behind.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use EmogiTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(sleep time);

my $seed = $ENV{EMOGI_LATERAL_SEED} // 20261121;
my $nqueries = $ENV{EMOGI_LATERAL_QUERIES} // 300;
my $budget = 16 << 20;
my $answer_share = 8;           # src/scan_node/batch.c: ANSWER_SHARE
my $node = crash_node('main', "emogi.max_memory = '16MB'", 'emogi.cpu_threads = 2');	# each thread needs a share of it
srand($seed);
note "EMOGI_LATERAL_SEED=$seed EMOGI_LATERAL_QUERIES=$nqueries";

# Choose one of several values.
sub one_of { return $_[ int rand @_ ] }

# pick(): the i-th number of a seed, below n. answer(): rows and their fingerprint, by one of three
# methods; an error is an answer too.
$node->safe_psql('postgres', q{
	CREATE FUNCTION pick(i bigint, seed bigint, n bigint) RETURNS bigint LANGUAGE sql IMMUTABLE AS
		'SELECT (hashint8extended(i, seed) & 9223372036854775807) % n';
	CREATE FUNCTION answer(query text, batch bool, scan bool) RETURNS text LANGUAGE plpgsql AS $$
	DECLARE
		answer text;
	BEGIN
		PERFORM set_config('emogi.enable_batch', batch::text, false), set_config('emogi.enable_scan', scan::text, false);
		EXECUTE format('SELECT concat_ws('' '', count(*), md5(string_agg(q::text, '',''))) FROM (%s) q', query) INTO answer;
		RETURN answer;
	EXCEPTION WHEN OTHERS THEN RETURN SQLSTATE || ' ' || SQLERRM;
	END $$;
	CREATE FUNCTION compare(query text) RETURNS text LANGUAGE plpgsql AS $$
	DECLARE
		batch bool := false;
		line text;
		a text := answer(query, false, false);
		b text := answer(query, false, true);
		c text := answer(query, true, true);
	BEGIN
		FOR line IN EXECUTE format('EXPLAIN SELECT count(*), string_agg(q::text, '','') FROM (%s) q', query) LOOP
			batch := batch OR line LIKE '%EmogiBatch%';
		END LOOP;
		RETURN CASE WHEN a <> b THEN format('SCANS DIFFER: %s, %s', a, b) WHEN a <> c THEN format('BATCH DIFFERS: %s, %s', a, c)
			WHEN batch THEN 'batch: ' || a ELSE 'no batch: ' || a END;
	EXCEPTION WHEN OTHERS THEN RETURN 'no batch: ' || a;
	END $$});

# Create the edge table e$i and outer rows o$i, with the vertices 0 .. n - 1 mapped to keys by an
# expression.
sub make_graph
{
	my ($i, $n, $ends, $key, $nrows) = @_;
	my $key_of = sub { return sprintf $key, "($_[0])::bigint" };
	my $some = sub { return $key_of->("pick(i, $_[0] + $seed, " . int($n * 1.1 + 1) . ')') };

	$node->safe_psql('postgres', sprintf(q{CREATE TABLE e%d AS SELECT %s AS src, %s AS dst FROM (%s) g(a, b);
		CREATE TABLE o%d AS SELECT i AS id, CASE WHEN i %% 13 = 0 THEN NULL WHEN i %% 4 = 0 THEN %s ELSE %s END AS x, %s AS y, pick(i, 6, 7)::int AS k,
			CASE WHEN i %% 9 > 0 THEN ARRAY[%s, NULL, %s, %s] END AS a, 'text of ' || i AS t FROM generate_series(1, %d) i;
		ANALYZE e%d, o%d}, $i, $key_of->('a'), $key_of->('b'), $ends, $i, $key_of->('3'), $some->(1), $some->(2), $some->(3), $some->(4), $some->(5), $nrows, $i, $i));
}

my @keys = ('%s', '(%s - 150)', '(%s * 9007199254740993)', 'hashint8extended(%s, 99)');
my @shapes = (
	[ 200, 'SELECT pick(i, 11 + SEED, 200), pick(i, 12 + SEED, 200) FROM generate_series(1, 250) i' ],
	[ 60, 'SELECT pick(i, 13 + SEED, 60), pick(i, 14 + SEED, 60) FROM generate_series(1, 300) i' ],
	[ 330, 'SELECT i, i + 1 FROM generate_series(0, 328) i' ],
	[ 400, 'SELECT i / 2, i FROM generate_series(1, 399) i UNION ALL SELECT i, i FROM generate_series(1, 9) i' ],
	[ 300, 'SELECT pick(i, 15 + SEED, 1 + pick(i, 16, 300)), pick(i, 17, 1 + pick(i, 18 + SEED, 300)) FROM generate_series(1, 500) i' ],
	[ 150, 'SELECT 10 * (i / 10) + pick(i, 19 + SEED, 10), 10 * (i / 10) + pick(i, 20, 10) FROM generate_series(0, 149) i' ],
	[ 1, 'SELECT 0, 0' ],
	[ 9, 'SELECT 0, NULL::int' ]);
make_graph($_, $shapes[$_][0], $shapes[$_][1] =~ s/SEED/$seed/gr, one_of(@keys), one_of(1, 63, 64, 65, 100, 150)) foreach 0 .. $#shapes;

# Get a random condition that does not become a join of undefined order.
sub condition
{
	return one_of('b.vertex = o.y', 'b.vertex = o.x', 'b.vertex = ANY (o.a)', 'b.vertex IN (o.x, o.y)', 'b.vertex = ANY (o.a || o.x)', 'b.vertex > o.y', 'b.vertex <> o.x',
		'b.vertex = ANY (ARRAY(SELECT dst FROM eG LIMIT 20))', 'b.vertex = (SELECT max(src) FROM eG)', 'b.vertex % 3 = 0', 'b.level <= ' . int(rand 6), 'b.level < ' . int(rand 300),
		'b.level = ' . int(rand 5), 'b.level < o.k', 'b.level = o.k', 'b.level >= 2', 'o.k > 2', 'o.x > b.level', 'b.vertex IS NOT NULL', 'o.a IS NOT NULL',
		'(SELECT count(*) FROM eG WHERE src = b.vertex) > 0', 'b.level <= (SELECT max(k) FROM oG)');
}

# Get a random query on a graph; within another query, M is the outer one's row.
sub query
{
	my ($inner) = @_;
	my $outer = one_of('oG o', 'oG o', 'oG o', '(SELECT * FROM oG ORDER BY t LIMIT ' . int(rand 90) . ') o', '(SELECT * FROM oG WHERE id % 3 = 1 UNION ALL SELECT * FROM oG WHERE k < 2) o',
		'(SELECT y AS x, min(x) AS y, max(k) AS k, min(id) AS id, min(a) AS a, min(t) AS t FROM oG GROUP BY y ORDER BY y) o');
	my $source = one_of('o.x', 'o.x', 'o.x', 'o.y', 'o.x + 1', 'o.a[1]', 'coalesce(o.x, o.y)', 'CASE WHEN o.k > 1 THEN o.x END', 'nullif(o.x, o.y)');
	my $depth = one_of('NULL', 'NULL', 'NULL', 0, 1, 2, 5, 253, 254, 255, '(SELECT min(k) + 2 FROM oG)', $inner ? 'm.k' : 3);
	my $direction = one_of("'out'", "'out'", "'in'", "'both'", $inner ? "CASE WHEN m.k < 3 THEN 'in' END" : 'NULL');
	my $graph = one_of("'eG'", "'eG'", "'eG'", "'eG(dst, src)'", "'SELECT dst, src FROM eG WHERE src <> dst'");
	my @conditions = map { condition() } 1 .. int rand 4;
	push @conditions, one_of('b.vertex = m.y', 'b.vertex = ANY (m.a)', 'b.level < m.k', 'o.id <> m.id') if $inner;
	my $where = @conditions ? ' WHERE ' . join(' AND ', @conditions) : '';
	my $columns = $inner ? one_of('count(*), sum(b.level)', 'max(b.vertex - o.y), min(o.t)') : one_of('o.id, b.*', 'o.*, b.level', 'b.vertex, o.t', '1', 'o.t || b.level, b.vertex', 'o, b.vertex');

	return "SELECT $columns FROM $outer, LATERAL emogi_bfs($graph, $source, $depth, $direction) b$where" . ($inner ? '' : one_of('', '', '', ' LIMIT ' . int rand 300, ' OFFSET ' . int rand 300));
}

# Compare the three methods on a list of queries; returns how many were batches and how many had
# rows.
sub compare_all
{
	my ($name, @queries) = @_;
	my $session = session($node);
	my ($batches, $full, @problems) = (0, 0);

	$session->ask('SET jit = off; SET enable_nestloop = off');
	foreach my $query (@queries)
	{
		my $verdict = $session->ask("SELECT compare(\$q\$$query\$q\$)");
		if ($verdict =~ /^(no )?batch: (\d+|\w{5} .*)(?: \w{32})?$/)
		{
			$batches++ unless $1;
			$full++ if $2 =~ /^[1-9]\d*$/;
		}
		else
		{
			push @problems, "$verdict\n  $query";
		}
	}
	$session->quit;
	is(join("\n", @problems), '', "$name: " . @queries . " queries, $batches in batches, $full with rows");
	return ($batches, $full);
}

my @queries;
foreach (1 .. $nqueries)
{
	my $query = rand() < 0.75 ? query(0)
	  : one_of('SELECT m.id, q.* FROM oG m, LATERAL (' . query(1) . ') q WHERE m.id < 9',
		'SELECT m.id FROM oG m WHERE m.id < 9 AND EXISTS (' . (query(1) =~ s/^SELECT .*? FROM/SELECT FROM/r) . ') ORDER BY m.id',
		'SELECT o.id, a.vertex, b.* FROM oG o, LATERAL emogi_bfs(\'eG\', o.x, 2) a, LATERAL emogi_bfs(\'eG\', a.vertex, 2, \'both\') b WHERE o.id < 40 AND ' . condition());
	my $g = int rand @shapes;
	push @queries, $query =~ s/\b([eo])G\b/$1$g/gr;
}
my ($batches, $full) = compare_all('small graphs', @queries);
cmp_ok($batches, '>', 0.6 * $nqueries, 'most were batches');
cmp_ok($full, '>', 0.4 * $nqueries, 'many had rows');
nothing_left($node, 'after them');

# Graphs for which 32, 8 and 0 answers fit.
my %large = (20 => 50000, 21 => 120000, 22 => 250000);
foreach my $g (sort keys %large)
{
	my $n = $large{$g};
	my $m = int($n * 0.6);
	my $full;

	make_graph($g, $n, "SELECT pick(i, 21, $n), pick(i, 22, $n) FROM generate_series(1, $m) i", '%s', 100);
	(undef, $full) = compare_all("$n vertices", "SELECT o.id, b.* FROM o$g o, LATERAL emogi_bfs('e$g', o.x, direction => 'both') b WHERE b.level <= 9 AND b.vertex > o.y * 0.99",
		"SELECT o.id, b.* FROM o$g o, LATERAL emogi_bfs('e$g', o.x) b",
		"SELECT o.id, b.* FROM o$g o, LATERAL emogi_bfs('e$g', o.x, direction => 'both') b WHERE b.vertex = ANY (o.a)");
	is($full, 3, '... and no error');
	my $vertices = $node->safe_psql('postgres', "SELECT vertices FROM emogi_runs WHERE status = 'ok' ORDER BY id DESC LIMIT 1");
	cmp_ok($vertices * 64, '>', $budget / $answer_share, "... $vertices of them have edges, too many for 64 answers");
}

# A batch that would take minutes is stopped.
make_checked($node, 'tree', 3000);
my $long = q{SELECT count(*), sum(b.level) FROM (SELECT x + i % 100 AS x FROM generate_series(1, 10000) i, o20 OFFSET 0) o, LATERAL emogi_bfs('e20', o.x, direction => 'both') b};
like($node->safe_psql('postgres', "SET jit = off; EXPLAIN $long"), qr/EmogiBatch/, 'a long batch');

# Check that a stopped batch leaves nothing behind.
sub is_gone
{
	my ($name) = @_;

	ok(wait_until(5, sub { $node->safe_psql('postgres', q{SELECT count(*) FROM emogi_progress}) eq '0' }), "$name: no call is left");
	nothing_left($node, $name);
	answers_small($node, "$name: the next call is right");
}

foreach my $ms (1, 20, 70, 150, 400)
{
	my $start = time;
	is((sqlstate($node, "SET jit = off; SET statement_timeout = $ms; $long"))[0], '57014', "statement_timeout after $ms ms");
	cmp_ok(time - $start - $ms / 1000, '<', 3, '... comes soon');
	is_gone("statement_timeout, $ms ms");
}
foreach my $way ('cancel', 'terminate')
{
	foreach my $ms (30, 90, 300)
	{
		my ($out, $err) = ('', '');
		my $psql = start_psql($node, \$out, \$err, "SET application_name = 'victim'", 'SET jit = off', $long);
		ok(wait_until(10, sub { $node->safe_psql('postgres', q{SELECT count(*) FROM emogi_progress}) eq '1' }), "$way: the batch runs");
		$node->safe_psql('postgres', sprintf(q{SELECT pg_sleep(%g), pg_%s_backend(pid) FROM pg_stat_activity WHERE application_name = 'victim' AND backend_type = 'client backend'}, $ms / 1000, $way));
		my $start = time;
		eval { $psql->finish };
		cmp_ok(time - $start, '<', 3, "pg_${way}_backend after $ms ms returns quickly");
		like($err, $way eq 'cancel' ? qr/57014/ : qr/57P01|connection/, '... with the error');
		is_gone("pg_${way}_backend, $ms ms");
	}
}

# A session ends with a partly read batch.
foreach my $of ([ 'tree', '0', 'small' ], [ 'e20', '1', 'large' ])
{
	my ($graph, $held, $size) = @$of;
	my $half = session($node);
	like($half->ask(qq{SET jit = off; BEGIN; DECLARE c CURSOR FOR SELECT b.vertex FROM (SELECT src FROM $graph ORDER BY src LIMIT 1000) i, LATERAL emogi_bfs('$graph', i.src, direction => 'both') b; FETCH 1 FROM c}), qr/^\d+$/, "a cursor on a $size graph");
	is($node->safe_psql('postgres', 'SELECT count(*) FROM emogi_progress'), $held, $held ? '... holds a call' : '... holds nothing');
	$half->quit;
	is_gone("the session ends, a $size graph");
}

# More errors, and more cursors closed early, than there are slots.
is($node->safe_psql('postgres', q{
	SET enable_nestloop = off; SET jit = off;
	CREATE FUNCTION fail(n int) RETURNS text LANGUAGE plpgsql AS $$
	DECLARE
		caught int := 0;
		r record;
	BEGIN
		FOR turn IN 1 .. n LOOP
			BEGIN
				PERFORM 1 / b.level FROM generate_series(1, 100) i, LATERAL emogi_bfs('tree', i) b;
			EXCEPTION WHEN division_by_zero THEN caught := caught + 1;
			END;
			FOR r IN SELECT b.vertex FROM generate_series(1, 100) i, LATERAL emogi_bfs('tree', i) b LOOP EXIT; END LOOP;
		END LOOP;
		RETURN format('%s caught, %s in progress', caught, (SELECT count(*) FROM emogi_progress));
	END $$;
	SELECT fail(150)}), '150 caught, 0 in progress', 'repeated errors and early ends');
is_gone('errors and early ends');

# The n-th allocation fails.
my $call = q{SELECT count(*), sum(level) FROM generate_series(1, 100) i, LATERAL emogi_bfs('tree', i) b};
my $right = $node->safe_psql('postgres', $call);
foreach my $fault ('allocation', 'engine_allocation')
{
	my ($failed, $good, @problems) = (0, 0);
	for (my $n = 1; $n < 100 && $good < 3; $n++)
	{
		my ($rc, $out, $err) = $node->psql('postgres', "SELECT emogi_evict() IS NULL; SET jit = off; SET enable_nestloop = off; SET emogi.fault = '$fault=$n'; $call; SELECT 'progress', count(*) FROM emogi_progress",
			extra_params => [ '-v', 'VERBOSITY=sqlstate', '-v', 'ON_ERROR_STOP=0' ], on_error_stop => 0);
		if ($err =~ /53200/ && $out !~ /\Q$right\E/) { $failed++; $good = 0 }
		elsif ($out =~ /\Q$right\E/) { $good++ }
		else { push @problems, "n = $n: $out $err" }
		push @problems, "n = $n: a call is left" unless $out =~ /progress\|0/;
	}
	ok(!@problems && $failed > 0 && $good >= 3, "$fault: $failed batches failed cleanly") or diag join "\n", @problems;
	is_gone($fault);
}
$node->stop;
no_crash($node);

done_testing();
