# A transaction that alternates writes and calls: the data kept about its changes must equal, byte
# for byte, the result of the server's own scan under each call's snapshot, and searches with it
# must return the engine's answer on a graph built with the changes. Statements, savepoints, cursors
# with older snapshots and another session writing to the same pages occur at random;
# EMOGI_OWN_TRANSACTIONS sets their number, EMOGI_OWN_SEED the seed. Negative control: with a rule
# disabled an answer must be wrong.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use EmogiTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $transactions = $ENV{EMOGI_OWN_TRANSACTIONS} // 40;
my $seed = $ENV{EMOGI_OWN_SEED} // 1;
my $node = emogi_node('own', "emogi.incremental_min_size = 0\nemogi.max_memory = '256MB'\nautovacuum = off");

# The searches, each with its reference under the same snapshot: by the engine, or on a graph built
# with the changes.
$node->safe_psql('postgres', q{
CREATE TABLE own (src int, dst int, weight int, note int) WITH (fillfactor = 90);
INSERT INTO own SELECT 1 + i * 7919 % 600, 1 + i * 104729 % 600, 1 + i % 3, 0 FROM generate_series(1, 1500) i;
CREATE TABLE named (src text, dst text);
INSERT INTO named SELECT 'k' || src, 'k' || dst FROM own;
CREATE FUNCTION answers(v int, w int, OUT what text, OUT answer text) RETURNS SETOF record LANGUAGE sql VOLATILE AS $$
SELECT 'path', array_agg(t::text ORDER BY ordinality)::text FROM emogi_shortest_path('own', v, w) WITH ORDINALITY t
UNION ALL SELECT 'bfs', array_agg(t::text ORDER BY ordinality)::text FROM emogi_bfs('own', v, max_depth => 3) WITH ORDINALITY t
UNION ALL SELECT 'cycles', array_agg(t::text ORDER BY ordinality)::text FROM emogi_cycles('own', v, 5) WITH ORDINALITY t
UNION ALL SELECT 'cycles both', array_agg(t::text ORDER BY ordinality)::text FROM emogi_cycles('own', v, 4, direction => 'both') WITH ORDINALITY t
UNION ALL SELECT 'simple paths', array_agg(t::text ORDER BY ordinality)::text FROM emogi_simple_paths('own', v, ARRAY[w, v + 2], 6, 12) WITH ORDINALITY t
UNION ALL SELECT 'roll-up', array_agg(t::text ORDER BY ordinality)::text FROM emogi_rollup('own(src, dst, weight) WHERE src < dst', v) WITH ORDINALITY t
UNION ALL SELECT 'where used', array_agg(t::text ORDER BY ordinality)::text FROM emogi_rollup('own(src, dst, weight) WHERE src < dst', w, 3, 'in') WITH ORDINALITY t
UNION ALL SELECT 'k paths', array_agg(t::text ORDER BY ordinality)::text FROM emogi_k_shortest_paths('own', v, w, 5) WITH ORDINALITY t
UNION ALL SELECT 'k paths in', array_agg(t::text ORDER BY ordinality)::text FROM emogi_k_shortest_paths('own', v, w, 3, 'in') WITH ORDINALITY t
UNION ALL SELECT 'reachable', array_agg(t::text ORDER BY ordinality)::text
FROM emogi_reachable('own', format('SELECT %s + i %% 3, %s - i FROM generate_series(0, 9) i', v, w)) WITH ORDINALITY t
UNION ALL SELECT 'pairs', array_agg(t::text ORDER BY ordinality)::text
FROM emogi_shortest_paths('own', format('SELECT %s + i %% 3, %s - i FROM generate_series(0, 5) i', v, w)) WITH ORDINALITY t
UNION ALL SELECT 'sets', array_agg(t::text ORDER BY ordinality)::text FROM emogi_shortest_paths('own', ARRAY[v, v + 1], ARRAY[w, w - 1]) WITH ORDINALITY t
UNION ALL SELECT 'matrix', array_agg(t::text ORDER BY ordinality)::text FROM emogi_distance_matrix('own', ARRAY[v, v + 1], ARRAY[w, w - 1]) WITH ORDINALITY t
UNION ALL SELECT 'similar', array_agg(t::text ORDER BY ordinality)::text
FROM (SELECT s::text AS t, row_number() OVER () AS ordinality FROM emogi_similarity('own') s WHERE vertex1 = v) t
UNION ALL SELECT 'text path', array_agg(t::text ORDER BY ordinality)::text FROM emogi_shortest_path('named', 'k' || v, 'k' || w) WITH ORDINALITY t
UNION ALL SELECT 'text cycles', array_agg(t::text ORDER BY ordinality)::text FROM emogi_cycles('named', 'k' || v, 5) WITH ORDINALITY t
UNION ALL SELECT 'text reachable', array_agg(t::text ORDER BY ordinality)::text
FROM emogi_reachable_text('named', format('SELECT ''k'' || %s + i %% 3, ''k'' || %s - i FROM generate_series(0, 9) i', v, w)) WITH ORDINALITY t
$$;
CREATE FUNCTION wrong(v int, w int) RETURNS text LANGUAGE plpgsql VOLATILE AS $$
DECLARE
	near text[];
	far text[];
	wrong text;
BEGIN
	PERFORM set_config('emogi.enable_local_search', 'on', true);
	near := ARRAY(SELECT what || ' ' || coalesce(answer, '') FROM answers(v, w));
	PERFORM set_config('emogi.enable_local_search', 'off', true);
	far := ARRAY(SELECT what || ' ' || coalesce(answer, '') FROM answers(v, w));
	PERFORM set_config('emogi.enable_local_search', 'on', true);
	SELECT string_agg(n || ' <> ' || f, '; ') INTO wrong FROM unnest(near, far) u(n, f) WHERE n IS DISTINCT FROM f;
	RETURN coalesce(wrong, 'right');
END $$;
CREATE FUNCTION checked(direction text, weighted boolean) RETURNS text LANGUAGE sql VOLATILE AS $$
SELECT CASE WHEN bool_and(ok) THEN 'right' ELSE string_agg(differs, '; ') END
FROM (SELECT * FROM emogi_check('own', direction, weighted, true, true) UNION ALL SELECT * FROM emogi_check('named', direction, false, true, true)) c
$$;
});

my %count;

# Get a statement that changes rows of a session, whose sources are even or odd; keys occasionally
# grow.
sub change
{
	my ($odd) = @_;
	my $key = sub { return 2 * draw(10 + 300) + $odd };
	my $new = sub { return draw(4) == 0 ? 700 + draw(400) - 100 * draw(2) : draw(600) };
	my $kind = draw(7);
	my ($a, $b, $c) = ($key->(), $new->(), 1 + draw(3));

	$count{changes}++;
	return "INSERT INTO own VALUES ($a, $b, $c, 0); INSERT INTO named VALUES ('k$a', 'k$b')" if $kind < 3;
	return "INSERT INTO own SELECT $a + 2 * i, $b + i, 1 + i % 3, 0 FROM generate_series(1, @{[1 + draw(40)]}) i" if $kind == 3;
	return "DELETE FROM own WHERE src = $a; DELETE FROM named WHERE src = 'k$a'" if $kind == 4;
	return "UPDATE own SET weight = $c WHERE src = $a" if $kind == 5;
	return "UPDATE own SET note = note + 1 WHERE src IN ($a, @{[$key->()]})";
}

# Run the checks in a session; counts wrong answers.
sub asks
{
	my ($session, $wrong, $what) = @_;
	my ($v, $w) = (2 * draw(300), 3 + draw(590));
	my $said = draw(2) == 0 ? $session->ask("SELECT checked('" . (qw(out in both))[ draw(3) ] . "', " . (qw(true false))[ draw(2) ] . ')') :
	  $session->ask("SELECT wrong($v, $w)");

	$count{looks}++;
	push @$wrong, "$what: $said" if $said !~ /^right$/m;
}

# Run two sessions through a transaction of the first one.
sub transact
{
	my ($one, $two, $wrong, $number) = @_;
	my $what = "seed $seed, transaction $number";
	my $cursors = 0;
	my $open = 0;
	my @savepoints;

	$one->ask('BEGIN ISOLATION LEVEL ' . (draw(3) == 0 ? 'REPEATABLE READ' : 'READ COMMITTED'));
	for my $step (1 .. 6 + draw(14))
	{
		my $kind = draw(12);

		$two->ask('VACUUM own') if !$open && draw(12) == 0;
		$one->ask(change(0)) if $kind < 5;
		asks($one, $wrong, $what) if $kind < 7;
		if ($kind == 7)
		{
			push @savepoints, "s$step";
			$one->ask("SAVEPOINT s$step; " . change(0));
			asks($one, $wrong, $what);
		}
		elsif ($kind == 8 && @savepoints)
		{
			my $name = pop @savepoints;
			$one->ask((draw(3) == 0 ? 'RELEASE ' : 'ROLLBACK TO ') . $name);
			asks($one, $wrong, $what);
		}
		elsif ($kind == 9 && $cursors == 0)
		{
			$cursors = 1;
			$one->ask("DECLARE c CURSOR FOR SELECT CASE WHEN ok THEN 'right' ELSE differs END " .
				  "FROM generate_series(1, 100) i, emogi_check('own', 'out', i % 2 = 0, true, true)");
		}
		elsif ($kind == 10 && $cursors > 0)
		{
			my $said = $one->ask('FETCH c');
			$count{fetched}++;
			push @$wrong, "$what, cursor: $said" if $said !~ /^right$/m;
			$cursors = $open = 0 if $said =~ /ERROR/;
			asks($one, $wrong, $what);
		}
		elsif ($kind == 11)
		{
			# the other session writes to the same pages, and ends now or later
			$two->ask('BEGIN') if !$open;
			$two->ask(change(1));
			asks($one, $wrong, $what);
			$open = draw(2);
			$two->ask(draw(3) == 0 ? 'ROLLBACK' : 'COMMIT') if !$open;
			# its own call refreshes the change tracker
			$two->ask("SELECT count(*) FROM emogi_bfs('own', 1)") if !$open && draw(2) == 0;
			asks($one, $wrong, $what);
		}
		# a rolled-back savepoint closes cursors opened after it
		$cursors = 0 if $kind == 8;
		$one->ask('CLOSE ALL') if $kind == 8;
	}
	$two->ask('COMMIT') if $open;
	asks($one, $wrong, $what);
	$one->ask(draw(2) == 0 ? 'ROLLBACK' : 'COMMIT');
	$node->safe_psql('postgres', 'VACUUM own') if draw(6) == 0;
}

# Run sessions through transactions, until the first wrong answer if requested; returns the errors.
sub run_transactions
{
	my ($settings, $most, $until_wrong) = @_;
	my ($one, $two) = (session($node), session($node));
	my @wrong;

	%count = (changes => 0, looks => 0, fetched => 0);
	$one->ask($settings);
	for my $number (1 .. $most)
	{
		transact($one, $two, \@wrong, $number);
		$count{transactions}++;
		last if $until_wrong && @wrong;
	}
	$count{kept} = $one->ask(q{SELECT count(*) FROM emogi_runs WHERE cache = 'overlay' AND changes > 0 AND pages_rescanned < 3 AND pages_skipped_by_lsn > 0});
	$one->quit;
	$two->quit;
	return @wrong;
}

srand $seed;
my @wrong = run_transactions('SELECT 1', $transactions, 0);
is(scalar @wrong, 0, 'all answers are correct') or diag @wrong[ 0 .. ($#wrong < 5 ? $#wrong : 5) ];
cmp_ok($count{looks}, '>', 6 * $transactions, 'enough calls');
cmp_ok($count{fetched}, '>', $transactions / 10, '... by older snapshots, too');
cmp_ok($count{kept}, '>', 10, '... that have used the kept data');
note join(', ', map { "$count{$_} $_" } sort keys %count);

foreach my $rule (qw(tracker_own_rollback tracker_own_command tracker_own_others))
{
	srand $seed;
	@wrong = run_transactions("SET emogi.fault = '$rule=0'", 300, 1);
	cmp_ok(scalar @wrong, '>', 0, "negative control: $rule is detected after $count{transactions} transactions");
}
region_is_empty($node, 'the arena is empty');
$node->stop;
no_crash($node);
done_testing();
