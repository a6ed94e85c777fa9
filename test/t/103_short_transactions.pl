# Sessions that write and call in short transactions, as row triggers do: data kept about a
# transaction's changes after its commit, and data that its calls store for others, must give the
# answers of a recursive query in the same statement. Inserts of one row or many, other changes,
# savepoints, rollbacks, VACUUM, COPY, DDL, cursors with older snapshots and another session occur
# at random; EMOGI_SHORT_STEPS sets their number, EMOGI_SHORT_SEED the seed. Negative control: with
# a rule disabled an answer must be wrong.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use EmogiTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $steps = $ENV{EMOGI_SHORT_STEPS} // 400;
my $seed = $ENV{EMOGI_SHORT_SEED} // 1;
my $node = emogi_node('short', "emogi.incremental_min_size = 0\nemogi.max_memory = '256MB'\nautovacuum = off\nmax_prepared_transactions = 2");
my @tables = qw(numbers names parts guarded late narrow);

# guarded and late have triggers that search before and after each row; the searches of narrow read
# only some rows.
$node->safe_psql('postgres', q{
CREATE TABLE verdicts (what text);
CREATE TABLE numbers (src int, dst int, note int DEFAULT 0) WITH (fillfactor = 90);
CREATE TABLE names (src text, dst text, note int DEFAULT 0);
CREATE TABLE parts (src int, dst int, note int DEFAULT 0) PARTITION BY HASH (src);
CREATE TABLE parts0 PARTITION OF parts FOR VALUES WITH (MODULUS 2, REMAINDER 0);
CREATE TABLE parts1 PARTITION OF parts FOR VALUES WITH (MODULUS 2, REMAINDER 1);
CREATE TABLE guarded (src text, dst text, note int DEFAULT 0);
CREATE TABLE late (src int, dst int, note int DEFAULT 0);
CREATE TABLE narrow (src int, dst int, note int DEFAULT 0);
INSERT INTO numbers SELECT 1 + i * 7919 % 400, 1 + i * 104729 % 400 FROM generate_series(1, 500) i;
INSERT INTO names SELECT 'k' || src, 'k' || dst FROM numbers;
INSERT INTO parts SELECT src, dst FROM numbers;
INSERT INTO guarded SELECT 'k' || src, 'k' || dst FROM numbers;
INSERT INTO late SELECT src, dst FROM numbers;
INSERT INTO narrow SELECT src, dst, src % 2 FROM numbers;
CREATE FUNCTION reaches(edges text, graph text, key text, source text, target text) RETURNS text LANGUAGE plpgsql VOLATILE AS $f$
DECLARE
	verdict text;
BEGIN
	EXECUTE format($q$
		WITH RECURSIVE e AS MATERIALIZED (SELECT src, dst FROM %1$s t WHERE src IS NOT NULL AND dst IS NOT NULL),
			r(v) AS (SELECT %3$L::%4$s UNION SELECT e.dst FROM e JOIN r ON e.src = r.v),
			l1 AS (SELECT DISTINCT dst FROM e WHERE src = %3$L),
			l2 AS (SELECT DISTINCT e.dst FROM e JOIN l1 ON e.src = l1.dst)
		SELECT CASE WHEN a = b AND c = d THEN 'right' ELSE format('WRONG: path %%s, %%s; rows %%s, %%s', a, b, c, d) END
		FROM (SELECT EXISTS (SELECT FROM emogi_shortest_path(%2$L, %3$L::%4$s, %5$L::%4$s)) AS a,
			EXISTS (SELECT FROM e WHERE %3$L IN (src, dst)) AND EXISTS (SELECT FROM e WHERE %5$L IN (src, dst)) AND
				EXISTS (SELECT FROM r WHERE v = %5$L) AS b,
			(SELECT count(*) FROM emogi_bfs(%2$L, %3$L::%4$s, max_depth => 2)) AS c,
			(SELECT count(*) FROM (SELECT %3$L::%4$s FROM e WHERE %3$L IN (src, dst) UNION TABLE l1 UNION TABLE l2) l) AS d) q
	$q$, edges, graph, source, key, target) INTO verdict;
	RETURN verdict;
END $f$;
CREATE FUNCTION checked(name text, source int, target int) RETURNS text LANGUAGE sql VOLATILE AS $$
	SELECT CASE WHEN name IN ('names', 'guarded') THEN reaches(name, name, 'text', 'k' || source, 'k' || target)
		WHEN name = 'narrow' THEN reaches('(SELECT * FROM narrow WHERE note = 0)', 'narrow where note = 0', 'bigint', source::text, target::text)
		ELSE reaches(name, name, 'bigint', source::text, target::text) END $$;
CREATE FUNCTION watch() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
	verdict text := reaches(TG_TABLE_NAME, TG_TABLE_NAME, CASE TG_TABLE_NAME WHEN 'guarded' THEN 'text' ELSE 'bigint' END, new.dst::text, new.src::text);
BEGIN
	IF verdict <> 'right' THEN
		RAISE WARNING '% in a trigger on %', verdict, TG_TABLE_NAME;
	END IF;
	RETURN new;
END $$;
CREATE TRIGGER watch BEFORE INSERT ON guarded FOR EACH ROW EXECUTE FUNCTION watch();
CREATE TRIGGER watch AFTER INSERT ON late FOR EACH ROW EXECUTE FUNCTION watch();
});

my %count;

# Get a statement that changes rows of a table, mostly an insert of few rows. Two sessions do not
# change each other's rows.
sub change
{
	my ($table, $odd) = @_;
	my $p = $table =~ /^(?:names|guarded)$/ ? "'k' || " : '';
	my $kind = draw(20);
	my $a = 2 * draw(250) + $odd;
	my $b = draw(5) == 0 ? 500 + draw(2000) : draw(500);

	$count{changes}++;
	return "INSERT INTO $table SELECT $p$a, $p$b, draw.n FROM (SELECT @{[draw(2)]}) draw(n)" if $kind < 13;
	return "INSERT INTO $table SELECT ${p}($a + 2 * i), ${p}($b + i) FROM generate_series(1, @{[2 + draw(30)]}) i" if $kind < 16;
	return "DELETE FROM $table WHERE src = $p$a AND note >= 0" if $kind == 16;
	return "UPDATE $table SET note = 1 - note WHERE src = $p$a" if $kind == 17;
	return "COPY $table (src, dst) FROM STDIN;\n" . join("\n", map { ($p ? 'k' : '') . ($a + 2 * $_) . "\t" . ($p ? 'k' : '') . $b } 1 .. 3) . "\n\\.\n" if $kind == 18;
	return "INSERT INTO $table SELECT NULL, $p$b; INSERT INTO $table SELECT $p$a, $p$b";
}

# Run checks on a table in a session; records errors.
sub asks
{
	my ($session, $wrong, $table, $what) = @_;
	my $said = $session->ask("SELECT checked('$table', @{[draw(500)]}, @{[draw(500)]})");

	$count{looks}++;
	push @$wrong, "$what, $table: $said" if $said !~ /^right$/m;
}

# Run a command on a table in a session.
sub writes
{
	my ($session, $wrong, $table, $odd, $what) = @_;
	my $said = $session->ask(change($table, $odd));

	push @$wrong, "$what: $said" if $said =~ /WRONG|ERROR/;
}

# Run a session through a short transaction.
sub transact
{
	my ($session, $wrong, $odd, $table, $what) = @_;
	my $kind = draw(10);

	if ($kind < 3)
	{
		writes($session, $wrong, $table, $odd, $what);
		asks($session, $wrong, $table, $what) if draw(2) == 0;
		return;
	}
	$session->ask($kind == 9 ? 'BEGIN ISOLATION LEVEL REPEATABLE READ' : 'BEGIN');
	for (1 .. 1 + draw(4))
	{
		my $step = draw(12);

		writes($session, $wrong, $table, $odd, $what) if $step < 7;
		asks($session, $wrong, $table, $what);
		if ($step == 8)
		{
			$session->ask('SAVEPOINT s');
			writes($session, $wrong, $table, $odd, $what);
			asks($session, $wrong, $table, $what) if draw(2) == 0;
			$session->ask(draw(2) == 0 ? 'RELEASE s' : 'ROLLBACK TO s');
			asks($session, $wrong, $table, $what) if draw(2) == 0;
		}
		$session->ask("SET LOCAL track_counts = @{[qw(on off)[draw(2)]]}") if $step == 9 && draw(4) == 0;
	}
	writes($session, $wrong, $table, $odd, $what) if draw(3) == 0;
	$session->ask($kind == 8 ? 'ROLLBACK' : 'COMMIT');
}

# Run a command on a table that invalidates kept data, or might have to.
sub disturb
{
	my ($session, $table) = @_;
	my $leaf = $table eq 'parts' ? 'parts' . draw(2) : $table;
	my $kind = draw(8);

	$count{disturbances}++;
	return $session->ask("VACUUM $table") if $kind < 3;
	return $session->ask("DELETE FROM $table WHERE ctid > '(3,0)' AND tableoid = '$leaf'::regclass; VACUUM $table") if $kind == 3;
	return $session->ask("ALTER TABLE $table ADD extra int; ALTER TABLE $table DROP extra") if $kind == 4;
	return $session->ask("VACUUM FULL $table") if $kind == 5;
	return $session->ask('SELECT count(*) FROM emogi_evict()') if $kind == 6;
	return $session->ask("SELECT count(*) FROM emogi_bfs('$table', " . ($table =~ /^(?:names|guarded)$/ ? "'k1'" : 1) . ')');
}

# Run sessions through transactions; returns the errors.
sub run_sessions
{
	my ($most) = @_;
	my ($one, $two) = (session($node), session($node));
	my @wrong;

	%count = (changes => 0, looks => 0, disturbances => 0);
	foreach my $number (1 .. $most)
	{
		my $table = $tables[ int($number / 20) % @tables ];
		my $what = "seed $seed, step $number";

		transact($one, \@wrong, 0, $table, $what);
		if (draw(6) == 0)
		{
			# sometimes the other session's transaction outlasts the first one's
			my $lasts = draw(2);

			$two->ask('BEGIN') if $lasts;
			writes($two, \@wrong, $table, 1, $what);
			transact($one, \@wrong, 0, $table, $what) if $lasts;
			asks($two, \@wrong, $table, $what) if draw(2) == 0;
			$two->ask(draw(4) == 0 ? 'ROLLBACK' : 'COMMIT') if $lasts;
			asks($one, \@wrong, $table, $what);
		}
		disturb($two, $table) if draw(12) == 0;
		asks($two, \@wrong, $table, $what) if draw(6) == 0;
		$count{steps}++;
	}
	$count{carried} = $one->ask("SELECT count(*) FROM emogi_runs WHERE cache = 'overlay' AND changes > 0 AND refresh_ms = 0");
	$one->quit;
	$two->quit;
	return @wrong;
}

srand $seed;
my @wrong = run_sessions($steps);
is(scalar @wrong, 0, 'all answers are correct') or diag @wrong[ 0 .. ($#wrong < 5 ? $#wrong : 5) ];
cmp_ok($count{looks}, '>', $steps, 'enough calls');
cmp_ok($count{carried}, '>', 10, '... of which some needed no refresh');
note join(', ', map { "$count{$_} $_" } sort keys %count);

# An imported snapshot does not see the transaction whose changes were kept, which no call has used
# since.
my ($one, $two) = (session($node), session($node));
$one->ask("TRUNCATE numbers; INSERT INTO numbers VALUES (1, 2), (2, 3); SELECT checked('numbers', 1, 3)");

# Another session writes after a transaction whose changes were kept. Without the rule that detects
# it, its row is missed.
foreach my $fault ('', 'tracker_carried=0')
{
	$one->ask("SET emogi.fault = '$fault'; BEGIN; INSERT INTO numbers VALUES (3, 4); SELECT checked('numbers', 1, 4); COMMIT");
	$two->ask('INSERT INTO numbers VALUES (4, ' . ($fault ? 6 : 5) . ')');
	my $said = $one->ask("SELECT checked('numbers', 1, " . ($fault ? 6 : 5) . ')');
	$fault ? like($said, qr/^WRONG/, "negative control: $fault is detected") : is($said, 'right', 'a row of another session');
}
$one->ask("SET emogi.fault = ''; TRUNCATE numbers; INSERT INTO numbers VALUES (1, 2), (2, 3); SELECT checked('numbers', 1, 3)");
$two->ask('BEGIN ISOLATION LEVEL REPEATABLE READ');
my $snapshot = $two->ask('SELECT pg_export_snapshot()');
$one->ask("BEGIN; INSERT INTO numbers VALUES (3, 4); SELECT checked('numbers', 1, 4); COMMIT");
$one->ask("BEGIN ISOLATION LEVEL REPEATABLE READ; SET TRANSACTION SNAPSHOT '$snapshot'");
is($one->ask("SELECT checked('numbers', 1, 4); SELECT count(*) FROM emogi_shortest_path('numbers', 1, 4)"), "right\n0",
	'an older snapshot does not see the changes');
$one->ask('COMMIT');
$two->ask('COMMIT');
is($one->ask("SELECT checked('numbers', 1, 4); SELECT count(*) FROM emogi_shortest_path('numbers', 1, 4)"), "right\n4", '... a newer one does');

# The same if only that transaction was in progress in the imported snapshot, which otherwise equals
# that of the last call.
$one->ask("BEGIN; INSERT INTO numbers VALUES (4, 5); SELECT checked('numbers', 1, 5)");
$two->ask('BEGIN ISOLATION LEVEL REPEATABLE READ');
$snapshot = $two->ask('SELECT pg_export_snapshot()');
$one->ask('COMMIT');
$one->ask("BEGIN ISOLATION LEVEL REPEATABLE READ; SET TRANSACTION SNAPSHOT '$snapshot'");
is($one->ask("SELECT checked('numbers', 1, 5); SELECT count(*) FROM emogi_shortest_path('numbers', 1, 5)"), "right\n0",
	'a snapshot in which only the transaction is in progress does not see its changes');
$one->ask('COMMIT');
$two->ask('COMMIT');
$one->ask('DELETE FROM numbers WHERE src = 4');

# A procedure that commits between its calls.
$one->ask(q{CREATE PROCEDURE steps() LANGUAGE plpgsql AS $$ BEGIN
	FOR i IN 4 .. 40 LOOP
		INSERT INTO numbers VALUES (i, i + 1);
		IF checked('numbers', 1, i + 1) <> 'right' THEN RAISE EXCEPTION 'WRONG at %', i; END IF;
		IF i % 7 = 0 THEN ROLLBACK; INSERT INTO numbers VALUES (i, i + 1); END IF;
		COMMIT;
	END LOOP;
END $$});
is($one->ask("CALL steps(); SELECT checked('numbers', 1, 41); SELECT count(*) FROM emogi_shortest_path('numbers', 1, 41)"), "right\n41",
	'a procedure that commits');

# Others write to the table while a prepared transaction of the session is open.
$one->ask("BEGIN; INSERT INTO numbers VALUES (41, 42); SELECT checked('numbers', 1, 42); PREPARE TRANSACTION 'p'");
is($one->ask("SELECT checked('numbers', 1, 42)"), 'right', 'a prepared transaction is invisible');
$two->ask("COMMIT PREPARED 'p'");
is($one->ask("SELECT checked('numbers', 1, 42); SELECT count(*) FROM emogi_shortest_path('numbers', 1, 42)"), "right\n42", '... and visible after its commit');
$one->quit;
$two->quit;
region_is_empty($node, 'the arena is empty');
$node->stop;
no_crash($node);
done_testing();
