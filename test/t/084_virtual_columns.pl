# Virtual generated columns (PostgreSQL 18): a graph is shared only as long as their expressions,
# and the dependencies of these, are the same.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use EmogiTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = emogi_node('main');

plan skip_all => 'generated columns are stored in this version' if $node->safe_psql('postgres', 'SHOW server_version_num') < 180000;

# Edges lead from 0 to computed values.
$node->safe_psql('postgres', q{
	CREATE TABLE plain (src int, base int, dst int GENERATED ALWAYS AS (base + 1) VIRTUAL);
	INSERT INTO plain VALUES (0, 1), (0, 2);
	CREATE TABLE spans (src int, t timestamptz, dst int GENERATED ALWAYS AS (extract(day FROM age(t, '2020-01-31 00:00 UTC'::timestamptz))::int + 1) VIRTUAL);
	INSERT INTO spans VALUES (0, '2020-03-01 00:00 UTC'), (0, '2020-05-01 00:00 UTC');
	CREATE TEXT SEARCH DICTIONARY stop (TEMPLATE = simple);
	CREATE TEXT SEARCH CONFIGURATION words (PARSER = default);
	ALTER TEXT SEARCH CONFIGURATION words ADD MAPPING FOR asciiword WITH stop;
	CREATE TABLE texts (src int, t text, dst int GENERATED ALWAYS AS (length(to_tsvector('public.words', t)) + 1) VIRTUAL);
	INSERT INTO texts VALUES (0, 'a b c'), (0, 'a');
	CREATE TABLE parts (src int, base int, dst int GENERATED ALWAYS AS (base + 1) VIRTUAL) PARTITION BY LIST (base);
	CREATE TABLE part1 PARTITION OF parts FOR VALUES IN (1);
	CREATE TABLE part2 PARTITION OF parts FOR VALUES IN (2);
	INSERT INTO parts VALUES (0, 1), (0, 2);
	CREATE FUNCTION ends(graph text) RETURNS text LANGUAGE sql STABLE AS $$ SELECT string_agg(vertex::text, ' ' ORDER BY vertex) FROM emogi_bfs(graph, 0) WHERE level = 1 $$;
	CREATE VIEW seen AS SELECT src, dst FROM plain});

my $session = session($node);

# Check that a graph has the endpoints of a SELECT, and how it was obtained.
sub served_as
{
	my ($graph, $from, $cache, $name) = @_;
	my ($ends, $rows, $served) = split /\n/, $session->ask("SELECT coalesce(string_agg(vertex::text, ' ' ORDER BY vertex), '') FROM emogi_bfs('$graph', 0) WHERE level = 1;
		SELECT coalesce(string_agg(DISTINCT dst::text, ' '), '') FROM (SELECT dst FROM $from ORDER BY dst) d; SELECT cache FROM emogi_runs WHERE pid = pg_backend_pid() ORDER BY id DESC LIMIT 1");

	is($ends, join(' ', sort { $a <=> $b } split / /, $rows), "$name: right");
	is($served, $cache, "$name: $cache");
}

for my $graph ('plain', 'SELECT src, dst FROM plain', 'seen')
{
	$session->ask('ALTER TABLE plain ALTER dst SET EXPRESSION AS (base + 1)');
	served_as($graph, 'plain', 'built', "$graph, at first");
	served_as($graph, 'plain', 'hit', "$graph, again");
	$session->ask('ALTER TABLE plain ALTER dst SET EXPRESSION AS (base + 100)');
	served_as($graph, 'plain', 'built', "$graph, another expression");
	$session->ask('BEGIN; ALTER TABLE plain ALTER dst SET EXPRESSION AS (base + 200)');
	served_as($graph, 'plain', 'private', "$graph, an own change");
	$session->ask('ROLLBACK');
	served_as($graph, 'plain', 'hit', "$graph, rolled back");
}

for my $graph ('spans', 'SELECT src, dst FROM spans')
{
	$session->ask("SELECT emogi_evict('spans'); SET TimeZone = 'UTC'");
	served_as($graph, 'spans', 'built', "$graph, in one time zone");
	$session->ask("SET TimeZone = 'America/New_York'");
	served_as($graph, 'spans', 'built', "$graph, in another");
	served_as($graph, 'spans', 'hit', "$graph, in that again");
	$session->ask("SET TimeZone = 'UTC'");
	served_as($graph, 'spans', 'hit', "$graph, in the first one");
}

served_as('texts', 'texts', 'private', 'a text search configuration');
$session->ask("ALTER TEXT SEARCH CONFIGURATION words DROP MAPPING FOR asciiword");
served_as('texts', 'texts', 'private', 'an altered text search configuration');

served_as('parts', 'parts', 'built', 'partitions');
served_as('parts', 'parts', 'hit', 'partitions again');
served_as('SELECT src, dst FROM part1', 'part1', 'built', 'one partition');

# Changes that a call waits for, or that occur after the start of its statement, are visible
# completely or not at all.
$session->ask('SELECT pg_advisory_lock(7)');
my $other = session($node);
$other->tell(q{SELECT ends('plain') FROM (SELECT pg_advisory_xact_lock(7) OFFSET 0) l});
ok(wait_until(10, sub { $node->safe_psql('postgres', "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted") eq '1' }), 'a statement has begun');
$session->ask('BEGIN; UPDATE plain SET base = base + 1000; ALTER TABLE plain ALTER dst SET EXPRESSION AS (base - 900); COMMIT; SELECT pg_advisory_unlock(7)');
is($other->answer, '101 102', 'rows and expression of the same state');

like((sqlstate($node, q{CREATE FUNCTION mine(int) RETURNS int IMMUTABLE LANGUAGE sql AS 'SELECT $1'; CREATE TABLE no (a int, b int GENERATED ALWAYS AS (mine(a)) VIRTUAL)}))[1],
	qr/user-defined function/, 'PostgreSQL does not allow user-defined functions there; if it does, they are checked like others');

$_->quit for $session, $other;
$node->stop;
no_crash($node);

done_testing();
