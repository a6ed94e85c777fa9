# Graphs track their tables on a primary and on a hot standby alike; after a promotion they are
# rebuilt once and tracked again.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use EmogiTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $primary = PostgreSQL::Test::Cluster->new('primary');
$primary->init(allows_streaming => 1);
$primary->append_conf('postgresql.conf', join "\n", "shared_preload_libraries = 'emogi'", 'autovacuum = off', "emogi.max_memory = '256MB'", 'emogi.incremental_min_size = 0',
	'log_statement = none', 'hot_standby_feedback = on');
$primary->start;
$primary->safe_psql('postgres', q{
	CREATE EXTENSION emogi;
	CREATE TABLE edges (src int, dst int, weight float8 DEFAULT 1);
	INSERT INTO edges SELECT i / 2, i, i % 100 FROM generate_series(1, 20000) i});
$primary->backup('backup');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($primary, 'backup', has_streaming => 1);
$standby->start;
my $here = session($primary);
my $there = session($standby);

# Is the graph correct in a session, and how was it obtained?
sub checked
{
	my ($session) = @_;
	my $found = $session->ask(q{SELECT ok, cache, differs FROM emogi_check('edges', 'out', true)});

	return $found;
}

# Change something on the primary, and wait until the standby has replayed it.
sub change
{
	my ($sql) = @_;

	$primary->safe_psql('postgres', $sql);
	$primary->wait_for_catchup($standby, 'replay', $primary->lsn('insert'));
}

$primary->wait_for_catchup($standby, 'replay', $primary->lsn('insert'));
like(checked($there), qr/^t\|built\|$/, 'on a standby a graph is built');
is($standby->safe_psql('postgres', 'SELECT tracker_bytes > 0 FROM emogi_cache'), 't', '... with the change tracker');
like(checked($there), qr/^t\|hit\|$/, '... and found');
like(checked($here), qr/^t\|built\|$/, 'on the primary too');
foreach my $change ('INSERT INTO edges VALUES (1, 7), (30000, 5)', 'DELETE FROM edges WHERE src < 50', 'UPDATE edges SET weight = 1000 WHERE src = 77', 'VACUUM edges', 'INSERT INTO edges VALUES (-1, NULL), (-2, 3)', 'VACUUM FULL edges',
	'TRUNCATE edges', 'INSERT INTO edges SELECT i / 2, i, i % 100 FROM generate_series(1, 20000) i')
{
	change($change);
	like(checked($here), qr/^t\|(?:merged|built|hit)\|$/, "$change: right on the primary");
	like(checked($there), qr/^t\|(?:merged|built|hit)\|$/, '... and on the standby');
}
$there->ask('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1');
change('DELETE FROM edges WHERE src % 3 = 0');
like(checked($there), qr/^t\|(?:merged|built|hit|private)\|$/, 'an older snapshot on the standby');
$there->ask('COMMIT');
like(checked($there), qr/^t\|(?:merged|built|hit|private)\|$/, '... and a new one');
is($standby->safe_psql('postgres', 'SELECT merges > 0 FROM emogi_cache'), 't', 'graphs were tracked there');

# An older session with an open transaction.
my $open = session($standby);
$open->ask('BEGIN ISOLATION LEVEL REPEATABLE READ');
like(checked($open), qr/^t\|/, 'a transaction is open when the standby is promoted');
$primary->stop('immediate');
$standby->promote;
$standby->poll_query_until('postgres', 'SELECT NOT pg_is_in_recovery()') or die 'no promotion';
like(checked($open), qr/^t\|/, 'promoted: the open transaction gets a correct answer');
like(checked($there), qr/^t\|/, '... and a new one');
$standby->safe_psql('postgres', 'INSERT INTO edges VALUES (1, 7), (NULL, 4)');
like(checked($open), qr/^t\|/, '... a change: the open one');
like(checked($there), qr/^t\|(?:built|private|merged)\|$/, '... a new one');
is($standby->safe_psql('postgres', q{SELECT count(*) > 0 FROM emogi_runs WHERE why_built = 'not refreshed: the server was promoted'}), 't',
	'... whose graph was built for that reason');
$open->ask('COMMIT');
foreach my $change ('INSERT INTO edges VALUES (2, 7)', 'DELETE FROM edges WHERE src < 500', 'UPDATE edges SET dst = 3 WHERE src = 777')
{
	$standby->safe_psql('postgres', $change);
	checked($there) if $change =~ /INSERT/;
	$standby->safe_psql('postgres', 'INSERT INTO edges VALUES (3, 8)');
	like(checked($there), qr/^t\|merged\|$/, "... and then it is tracked: $change");
	like(checked($open), qr/^t\|hit\|$/, '... for all');
}
is($standby->safe_psql('postgres', 'SELECT tracker_bytes > 0 FROM emogi_cache'), 't', '... with the change tracker');
$_->quit foreach $here, $there, $open;
region_is_empty($standby, '... and the arena is empty');
$standby->stop;
no_crash($_) foreach $primary, $standby;

done_testing();
