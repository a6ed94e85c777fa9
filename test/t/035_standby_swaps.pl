# Also on a hot standby, a call whose statement began before a swap was replayed returns a committed
# state, the same for all calls of the statement, or fails with 40001.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use EmogiTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init(allows_streaming => 1);
$node->append_conf('postgresql.conf', "shared_preload_libraries = 'emogi'\nautovacuum = off\nmax_standby_streaming_delay = -1");
$node->start;
$node->safe_psql('postgres', q{
	CREATE EXTENSION emogi;
	CREATE TABLE edges (src int, dst int);
	CREATE TABLE spare (src int, dst int);
	CREATE TABLE other (src int, dst int);
	CREATE TABLE parts (src int, dst int, p int) PARTITION BY LIST (p);
	CREATE TABLE part1 PARTITION OF parts FOR VALUES IN (1);
	CREATE TABLE part2 (src int, dst int, p int);
	INSERT INTO edges VALUES (1, 2);
	INSERT INTO other VALUES (1, 2);
	INSERT INTO parts VALUES (1, 2, 1);
	CREATE FUNCTION look(graph text) RETURNS text LANGUAGE sql STABLE AS
		$$ SELECT string_agg(vertex::text, ' ' ORDER BY vertex) FROM emogi_bfs(graph, 1) WHERE level > 0 $$});
$node->backup('copy');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($node, 'copy', has_streaming => 1);
$standby->start;

# Run a statement on the standby that has its snapshot and waits while the primary commits a change;
# then let it continue.
sub during
{
	my ($answers, $change) = @_;
	my ($out, $err) = ('', '');
	my $holder = session($standby);

	$holder->ask('SELECT pg_advisory_lock(7)');
	my $reader = start_psql($standby, \$out, \$err, "SELECT $answers FROM (SELECT pg_advisory_xact_lock_shared(7) OFFSET 0) AS l");
	ok(wait_until(20, sub { $standby->safe_psql('postgres', q{SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'advisory'}) eq '1' }), 'a statement waits');
	$node->safe_psql('postgres', $change);
	$node->wait_for_catchup($standby, 'replay', $node->lsn('insert'));
	$holder->ask('SELECT pg_advisory_unlock(7)');
	$reader->finish;
	$holder->quit;
	chomp($out, $err);
	return $out . $err;
}

is(during(q{look('edges'), look('SELECT src, dst FROM edges'), look('other')},
	q{BEGIN; INSERT INTO spare VALUES (1, 7); UPDATE other SET dst = 7; ALTER TABLE edges RENAME TO old_edges; ALTER TABLE spare RENAME TO edges; COMMIT}),
	'7|7|7', 'a swap by renaming');
is(during(q{look('edges'), look('other')}, q{BEGIN; TRUNCATE edges; INSERT INTO edges VALUES (1, 8); UPDATE other SET dst = 8; COMMIT}),
	'8|8', 'TRUNCATE and reload');
is(during(q{look('parts'), look('SELECT src, dst FROM parts')},
	q{BEGIN; INSERT INTO part2 VALUES (1, 7, 1); ALTER TABLE parts DETACH PARTITION part1; ALTER TABLE parts ATTACH PARTITION part2 FOR VALUES IN (1); COMMIT}),
	'7|7', 'partitions that are exchanged');
like(during(q{look('other'), look('edges')}, q{BEGIN; TRUNCATE edges; INSERT INTO edges VALUES (1, 9); UPDATE other SET dst = 9; COMMIT}),
	qr/ERROR:  40001/, 'another call was answered');
is($standby->safe_psql('postgres', q{SELECT look('other'), look('edges')}), '9|9', '... and run again');
$standby->stop;
$node->stop;
no_crash($_) foreach ($node, $standby);

done_testing();
