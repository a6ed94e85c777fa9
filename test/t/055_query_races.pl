# Changes between computing the key of a query and building its graph: functions, partitions,
# tables. The call is correct, and so is what it publishes; without the rule of publication it is
# not. Others wait for a build; a canceled one leaves nothing behind.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use EmogiTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(sleep);

my $node = emogi_node('main');
$node->safe_psql('postgres', q{
	CREATE TABLE e (src int, dst int);
	INSERT INTO e SELECT g, g + 1 FROM generate_series(1, 20) g;
	CREATE TABLE p (src int, dst int, k int) PARTITION BY RANGE (k);
	CREATE TABLE p1 PARTITION OF p FOR VALUES FROM (0) TO (10);
	INSERT INTO p VALUES (1, 2, 1), (2, 3, 2);
	CREATE TABLE p2 (src int, dst int, k int);
	INSERT INTO p2 VALUES (30, 31, 10);
	CREATE FUNCTION counts() RETURNS TABLE (src int, dst int) LANGUAGE sql STABLE AS $$ SELECT max(src), count(*)::int FROM p $$;
	CREATE FUNCTION moved(int) RETURNS int LANGUAGE sql IMMUTABLE AS $$ SELECT max($1 + 1) FROM (VALUES (1)) z $$;
	CREATE VIEW swapped AS SELECT src, dst FROM e WHERE src < 5});

my $check = sub { my ($query) = @_; return "SELECT ok, cache FROM emogi_check('$query')" };

# Run a change while another session sleeps between key and build, then undo it. Returns the answers
# of that call and of the next one.
sub race
{
	my ($query, $during, $after, $rule, $path, $level) = @_;
	my $slow = session($node);
	my @said;

	$node->safe_psql('postgres', 'SELECT emogi_evict()');
	$slow->ask("SET emogi.fault = 'registered=1500000$rule'");
	$slow->ask("SET search_path = $path") if defined $path;
	$slow->ask("SET default_transaction_isolation = '$level'") if defined $level;
	$slow->tell($check->($query));
	ok(wait_until(10, sub { $node->safe_psql('postgres', "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep'") eq '1' }), 'a call is between key and build');
	$node->safe_psql('postgres', $during);
	push @said, $slow->answer;
	$slow->quit;
	$node->safe_psql('postgres', $after);
	return (@said, $node->safe_psql('postgres', $check->($query)));
}

my $new = 'CREATE OR REPLACE FUNCTION moved(int) RETURNS int LANGUAGE sql IMMUTABLE AS $$ SELECT max($1 + 1000) FROM (VALUES (1)) z $$';
my $old = 'CREATE OR REPLACE FUNCTION moved(int) RETURNS int LANGUAGE sql IMMUTABLE AS $$ SELECT max($1 + 1) FROM (VALUES (1)) z $$';
my @function = ('SELECT moved(src), dst FROM e', $new, $old);
$node->safe_psql('postgres', $old);
is((race(@function, ''))[1], 't|built', 'a function is replaced between key and build, and back: nothing is published');
is((race(@function, ',query_publish=0'))[1], 'f|hit', '... without the rule the next call is wrong');

is((race('SELECT moved(src), dst FROM e', "$new; $old", 'SELECT 1', ''))[1], 't|built', 'a function is replaced, and back before the build has ended: nothing is published');
$node->safe_psql('postgres', 'CREATE FUNCTION atomic(int) RETURNS int LANGUAGE sql IMMUTABLE RETURN (SELECT max($1 + 1) FROM (VALUES (1)) z)');
is((race('SELECT moved(src), dst FROM e', 'CREATE TEMP TABLE t (a int); CREATE TABLE u (a int); DROP TABLE u', 'SELECT 1', ''))[1], 't|hit', 'other tables are created meanwhile: the graph is published');
is((race('SELECT atomic(src), dst FROM e', 'CREATE FUNCTION other() RETURNS int LANGUAGE sql AS $$ SELECT 1 $$', 'DROP FUNCTION other()', ''))[1], 't|hit', '... and with another function, if names in the body were resolved at its creation');
is((race('SELECT moved(src), dst FROM e', 'DO $$ BEGIN FOR i IN 1 .. 400 LOOP CREATE TEMP TABLE t (a int, b text); DROP TABLE t; END LOOP; END $$', 'SELECT 1', ''))[1], 't|built', '... but not if the invalidations are unknown: a name in the body may have resolved differently');
is((race('SELECT atomic(src), dst FROM e', 'DO $$ BEGIN FOR i IN 1 .. 400 LOOP CREATE TEMP TABLE t (a int, b text); DROP TABLE t; END LOOP; END $$', 'SELECT 1', ''))[1], 't|hit', '... which does not apply to names in a body stored as a parse tree');

# A body stored as text is analyzed again when the tree runs, under the caller's search path.
$node->safe_psql('postgres', q{
	CREATE SCHEMA front;
	CREATE TABLE looked (k int, v int);
	INSERT INTO looked SELECT g, g + 1 FROM generate_series(1, 20) g;
	CREATE TABLE front.other (k int, v int);
	INSERT INTO front.other SELECT g, 7777 FROM generate_series(1, 20) g;
	CREATE FUNCTION latest(int) RETURNS int LANGUAGE sql STABLE AS $$ SELECT max(v) FROM looked WHERE k = $1 $$});
my @shadow = ('SELECT src, latest(dst) AS dst FROM e', 'ALTER TABLE front.other RENAME TO looked', 'ALTER TABLE front.looked RENAME TO other');
is((race(@shadow, '', 'front, public'))[1], 't|built', 'a table hides the one named by a body: nothing is published');
is((race(@shadow, ',query_publish=0', 'front, public'))[1], 'f|hit', '... without the rule others get its rows');
is((race($shadow[0], "$shadow[1]; $shadow[2]", 'SELECT 1', '', 'front, public'))[1], 't|built', '... nor if it is dropped before the build ends');
is((race($shadow[0], 'CREATE TABLE front.beside (a int)', 'DROP TABLE front.beside', '', 'front, public'))[1], 't|hit', 'a table that the body does not name is created meanwhile: the graph is published');
is((race($shadow[0], 'CREATE FUNCTION front.max(numeric) RETURNS numeric LANGUAGE sql AS $$ SELECT $1 $$', 'DROP FUNCTION front.max(numeric)', '', 'front, public'))[1], 't|built', 'a function hides others: nothing is published');
{
	my $slow = session($node);
	$node->safe_psql('postgres', 'SELECT emogi_evict()');
	$slow->ask("SET emogi.fault = 'registered=1500000'");
	$slow->tell('SELECT count(*) FROM emogi_bfs($$SELECT moved(src), dst FROM e$$, 5)');
	ok(wait_until(10, sub { $node->safe_psql('postgres', "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep'") eq '1' }), 'a call is between key and build');
	$node->safe_psql('postgres', 'ALTER FUNCTION moved(int) RENAME TO gone');
	is($slow->answer, '1', 'a function is dropped before the end of the build: the call is answered');
	$slow->quit;
	is($node->safe_psql('postgres', 'SELECT count(*) FROM emogi_graphs'), '0', '... and nothing is published');
	$node->safe_psql('postgres', 'ALTER FUNCTION gone(int) RENAME TO moved');
}

my @partition = ('SELECT DISTINCT src, dst FROM p', 'ALTER TABLE p ATTACH PARTITION p2 FOR VALUES FROM (10) TO (20)', 'ALTER TABLE p DETACH PARTITION p2');
is((race(@partition, ''))[1], 't|built', 'a partition is attached between key and build, and detached: nothing is published');
is((race(@partition, '', undef, 'repeatable read'))[1], 't|built', '... in a transaction with one snapshot');
is((race(@partition, ',query_publish=0', undef, 'repeatable read'))[1], 'f|hit', '... without the rule the next call is wrong');
is((race('SELECT src, dst FROM counts()', @partition[ 1, 2 ], ''))[1], 't|built', '... that a function in SQL reads');
is((race('SELECT src, dst FROM counts()', @partition[ 1, 2 ], ',query_publish=0', undef, 'repeatable read'))[1], 'f|hit', '... without the rule the next call is wrong');

# A partition is attached in the transaction that deletes the replaced rows: the answer is one
# committed state, or the statement must be retried.
sub race_partition
{
	my ($level) = @_;
	my $slow = session($node);
	my $count = q{SELECT count(*) FROM emogi_cc('SELECT DISTINCT src, dst FROM p')};
	my @said;

	$node->safe_psql('postgres', 'SELECT emogi_evict()');
	$slow->ask("BEGIN ISOLATION LEVEL $level");
	$slow->ask('SELECT count(*) FROM e');
	$slow->ask(q{SET emogi.fault = 'registered=1500000'});
	$slow->tell($count);
	ok(wait_until(10, sub { $node->safe_psql('postgres', "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep'") eq '1' }), 'a call is between key and build');
	$node->safe_psql('postgres', 'BEGIN; DELETE FROM p1 WHERE src = 1; ALTER TABLE p ATTACH PARTITION p2 FOR VALUES FROM (10) TO (20); COMMIT');
	push @said, $slow->answer, $node->safe_psql('postgres', $count);
	$slow->quit;
	$node->safe_psql('postgres', 'ALTER TABLE p DETACH PARTITION p2; INSERT INTO p VALUES (1, 2, 1)');
	return @said;
}
{
	my ($first, $next) = race_partition('READ COMMITTED');
	like($first, qr/40001/, 'a partition is attached between key and build that the snapshot does not see: the statement must be retried');
	is($next, '4', '... and the next is correct');
	# As in a SELECT of such a transaction, which finds partitions by the newest catalogs, and rows
	# by its snapshot.
	is((race_partition('REPEATABLE READ'))[0], '5', '... in a transaction with one snapshot it is read');
}

# A function in a condition is replaced while a refresh is between key and pages, and back. Toasted
# values make the evaluation process invalidations, and many pages make it start several times.
$node->safe_psql('postgres', q{
	CREATE TABLE n (src int, dst int, note text, pad text, touched int DEFAULT 0) WITH (fillfactor = 45, autovacuum_enabled = off);
	ALTER TABLE n ALTER note SET STORAGE EXTERNAL, ALTER pad SET STORAGE PLAIN;
	INSERT INTO n SELECT g, g + 1, repeat('n', 2500 + g % 2), repeat('p', 1000) FROM generate_series(1, 1000) g});
my $odd = 'CREATE OR REPLACE FUNCTION is_odd(text) RETURNS bool LANGUAGE sql IMMUTABLE AS $$ SELECT max(length($1)) % 2 = 1 FROM (VALUES (1)) z $$';
my $even = $odd =~ s/= 1 FROM/= 0 FROM/r;

sub race_refresh
{
	my ($rule) = @_;
	my $query = 'SELECT src, dst FROM n WHERE is_odd(note)';
	my $slow = session($node);
	my @said;

	$node->safe_psql('postgres', $odd);
	$node->safe_psql('postgres', 'SELECT emogi_evict()');
	foreach (1 .. 2)
	{
		$node->safe_psql('postgres', $check->($query));
		$node->safe_psql('postgres', 'UPDATE n SET touched = touched + 1');
	}
	push @said, $node->safe_psql('postgres', $check->($query));
	$node->safe_psql('postgres', 'UPDATE n SET touched = touched + 1');
	$slow->ask("SET emogi.fault = 'refresh_pages=1500000$rule'");
	$slow->tell($check->($query));
	ok(wait_until(10, sub { $node->safe_psql('postgres', "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep'") eq '1' }), 'a refresh is between key and pages');
	$node->safe_psql('postgres', $even);
	push @said, $slow->answer;
	$slow->quit;
	$node->safe_psql('postgres', $odd);
	return join(' ', @said, $node->safe_psql('postgres', $check->($query)));
}

like(race_refresh(''), qr/^t\|hit \w\|private t\|(hit|merged)$/, 'a function of a condition is replaced between key and refresh, and back: the tracker is unchanged');
like(race_refresh(',query_publish=0'), qr/ f\|\w+$/, '... without the rule the next call is wrong');

$node->safe_psql('postgres', $odd);
is(join(' ', race('SELECT src, dst FROM n WHERE is_odd(note)', $even, $odd, '')), 't|private t|built', '... between key and the build that creates the tracker: neither is cached');

# Rows written by others meanwhile are in no graph of the old snapshot.
is(join(' ', race('SELECT src, dst FROM e WHERE src > 0', 'INSERT INTO e VALUES (50, 51)', 'SELECT 1', '')), 't|built t|built', 'a row is written between key and build');

# Others wait for the build, and use it.
{
	my ($slow, $other) = (session($node), session($node));
	$node->safe_psql('postgres', 'SELECT emogi_evict()');
	$slow->ask("SET emogi.fault = 'registered=1000000'");
	$slow->tell($check->('SELECT src, dst FROM e WHERE src > 1'));
	wait_until(10, sub { $node->safe_psql('postgres', "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep'") eq '1' });
	$other->tell('SELECT count(*) FROM emogi_bfs($$SELECT src, dst FROM e WHERE src > 1$$, 2)');
	ok(wait_until(10, sub { $node->safe_psql('postgres', "SELECT waits_for FROM emogi_progress WHERE waits_for IS NOT NULL") eq 'build' }), 'a call waits for the build of another');
	is($slow->answer, 't|built', 'the one builds');
	is($other->answer, '20', 'the other answers');
	is($node->safe_psql('postgres', "SELECT cache FROM emogi_runs WHERE function = 'emogi_bfs' ORDER BY id DESC LIMIT 1"), 'hit', '... with its graph');
	$_->quit foreach $slow, $other;
}

# A canceled build leaves nothing behind.
{
	my $slow = session($node);
	$node->safe_psql('postgres', 'SELECT emogi_evict()');
	$slow->ask("SET emogi.fault = 'built=1000000'; SET statement_timeout = 300");
	like($slow->ask($check->('SELECT src, dst FROM e WHERE src > 2 AND pg_sleep(0) IS NOT NULL')), qr/57014|t\|private/, 'a call that is not shared');
	like($slow->ask('SELECT count(*) FROM emogi_bfs($$SELECT a.src, b.dst FROM e a, e b, generate_series(1, 1000000) g WHERE g > 0$$, 2)'), qr/57014/, 'a call is canceled');
	$slow->quit;
	is($node->safe_psql('postgres', 'SELECT count(*) FROM emogi_graphs'), '0', '... and nothing is left of it');
	is($node->safe_psql('postgres', $check->('SELECT src, dst FROM e WHERE src > 2')), 't|built', 'the next builds');
}

# Tables swapped by renaming before the call: one committed state.
{
	my $slow = session($node);
	# unknown to the planner, which would lock the table before the sleep
	$slow->ask(q{SET app.graph = 'SELECT src, dst FROM e'});
	$slow->tell(q{SELECT (SELECT count(*) FROM emogi_bfs(current_setting('app.graph'), 1)) FROM pg_sleep(1)});
	wait_until(10, sub { $node->safe_psql('postgres', "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep'") eq '1' });
	$node->safe_psql('postgres', 'BEGIN; CREATE TABLE e2 (src int, dst int); INSERT INTO e2 VALUES (1, 2), (1, 3), (1, 4); ALTER TABLE e RENAME TO e_old; ALTER TABLE e2 RENAME TO e; COMMIT');
	is($slow->answer, '4', 'tables swapped after the snapshot: all of the new one');
	$slow->ask(q{SET app.graph = 'swapped'});
	$slow->tell(q{SELECT (SELECT count(*) FROM emogi_bfs(current_setting('app.graph'), 1)) FROM pg_sleep(1)});
	wait_until(10, sub { $node->safe_psql('postgres', "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep'") eq '1' });
	$node->safe_psql('postgres', 'CREATE OR REPLACE VIEW swapped AS SELECT src, dst FROM e');
	is($slow->answer, '4', 'a view replaced after the snapshot: all of the new one');
	$slow->quit;
}
region_is_empty($node, 'the arena is empty');
$node->stop;
no_crash($node);

done_testing();
