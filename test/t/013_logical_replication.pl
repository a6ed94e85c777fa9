# A subscriber: rows written by a logical replication worker make cached graphs stale, as those of a
# session do.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use EmogiTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $publisher = PostgreSQL::Test::Cluster->new('publisher');
$publisher->init(allows_streaming => 'logical');
$publisher->append_conf('postgresql.conf', "max_prepared_transactions = 10\nautovacuum = off\nlogical_decoding_work_mem = 64kB");
$publisher->start;
plan skip_all => 'this server has no pgoutput' if ($publisher->psql('postgres', q{SELECT pg_drop_replication_slot(slot_name) FROM pg_create_logical_replication_slot('x', 'pgoutput')}))[0] != 0;
my $subscriber = emogi_node('subscriber', 'emogi.incremental_min_size = 1MB', 'max_prepared_transactions = 10', 'wal_level = logical', 'max_wal_senders = 5', 'max_worker_processes = 16',
	'max_logical_replication_workers = 8', "wal_retrieve_retry_interval = '100ms'");
create_look($subscriber);

my $tables = q{
	CREATE TABLE edges (id int PRIMARY KEY, src int, dst int);
	CREATE TABLE late (id int PRIMARY KEY, src int, dst int);
	CREATE TABLE other (id int PRIMARY KEY)};
$publisher->safe_psql('postgres', "$tables; INSERT INTO edges SELECT g, 0, g FROM generate_series(1, 100) g; CREATE PUBLICATION pub FOR TABLE edges, other");
$subscriber->safe_psql('postgres', $tables);

my $reader = session($subscriber);
my $old = session($subscriber);
my $writer = session($publisher);
sees($reader, 0, 'built', 'before the subscription');
sees($reader, 0, 'hit', '... a hit');
my $connection = 'dbname=postgres host=' . $publisher->host . ' port=' . $publisher->port;
my $two_phase = $publisher->pg_version >= 15 ? ', two_phase = true' : '';
$subscriber->safe_psql('postgres', "CREATE SUBSCRIPTION sub CONNECTION '$connection' PUBLICATION pub WITH (streaming = on$two_phase)");
$subscriber->wait_for_subscription_sync($publisher, 'sub');
sees($reader, 100, 'anywhere', 'after the initial copy');
hits_again($reader, 100, '... hits');

# Run a command on the publisher. The subscriber's next call is correct, also under an older
# snapshot, and then there are hits again.
sub apply
{
	my ($name, $before, $after, $sql) = @_;

	hits_again($reader, $before, "$name: a hit before");
	$old->ask('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1 FROM pg_class LIMIT 1');
	my $said = $writer->ask($sql);
	die "$sql: $said" if $said =~ /ERROR/;
	$publisher->wait_for_catchup('sub');
	sees($reader, $after, 'anywhere', '... right after it');
	my ($verdict) = look($old);
	like($verdict, qr/^right/, '... in an older snapshot');
	$old->ask('COMMIT');
	hits_again($reader, $after, '... hits');
}

apply('INSERT', 100, 110, 'INSERT INTO edges SELECT g, 0, g FROM generate_series(101, 110) g');
apply('UPDATE', 110, 109, 'UPDATE edges SET src = 1 WHERE id = 5');
apply('UPDATE of the key', 109, 110, 'UPDATE edges SET src = 0, id = 500 WHERE id = 5');
apply('DELETE', 110, 100, 'DELETE FROM edges WHERE dst > 100');
apply('ROLLBACK', 100, 100, 'BEGIN; DELETE FROM edges; ROLLBACK');
apply('savepoint rolled back', 100, 101, 'BEGIN; SAVEPOINT a; DELETE FROM edges; ROLLBACK TO a; INSERT INTO edges VALUES (600, 0, 600); COMMIT');
apply('another table', 101, 101, 'INSERT INTO other VALUES (1)');
apply('a large transaction, streamed', 101, 20101, 'INSERT INTO edges SELECT g, 0, g FROM generate_series(1001, 21000) g');
apply('a large one with savepoints', 20101, 101, 'BEGIN; DELETE FROM edges WHERE id > 11000; SAVEPOINT a; DELETE FROM edges; ROLLBACK TO a; DELETE FROM edges WHERE id > 1000; COMMIT');
apply('a large one rolled back', 101, 101, 'BEGIN; INSERT INTO edges SELECT g, 0, g FROM generate_series(1001, 21000) g; ROLLBACK; INSERT INTO other VALUES (2)');
apply('TRUNCATE', 101, 0, 'TRUNCATE edges');
apply('and rows again', 0, 50, 'INSERT INTO edges SELECT g, 0, g FROM generate_series(1, 50) g');
if ($two_phase)
{
	apply('PREPARE', 50, 50, q{BEGIN; INSERT INTO edges VALUES (700, 0, 700); PREPARE TRANSACTION 'x'});
	ok(wait_until(20, sub { $subscriber->safe_psql('postgres', 'SELECT count(*) FROM pg_prepared_xacts') eq '1' }), '... is prepared on the subscriber');
	sees($reader, 50, 'hit', '... and invisible');
	apply('COMMIT PREPARED', 50, 51, q{COMMIT PREPARED 'x'});
	apply('PREPARE', 51, 51, q{BEGIN; DELETE FROM edges; PREPARE TRANSACTION 'y'});
	apply('ROLLBACK PREPARED', 51, 51, q{ROLLBACK PREPARED 'y'});
	apply('DELETE', 51, 50, 'DELETE FROM edges WHERE id = 700');
}

# Subscribe again, because tables cannot be added to a subscription with two_phase.
$subscriber->safe_psql('postgres', "DROP SUBSCRIPTION sub; TRUNCATE edges, other");
sees($reader, 0, 'built', 'unsubscribed and emptied');
$subscriber->safe_psql('postgres', "CREATE SUBSCRIPTION sub CONNECTION '$connection' PUBLICATION pub WITH (streaming = on)");
$subscriber->wait_for_subscription_sync($publisher, 'sub');
sees($reader, 50, 'anywhere', 'subscribed again');

# The subscriber's own writes, by triggers and by the initial copy of an added table.
$subscriber->safe_psql('postgres', q{
	CREATE FUNCTION add_edge() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN INSERT INTO public.edges VALUES (8000 + new.id, 0, 8000 + new.id); RETURN new; END';
	CREATE TRIGGER t AFTER INSERT ON other FOR EACH ROW EXECUTE FUNCTION add_edge();
	ALTER TABLE other ENABLE ALWAYS TRIGGER t});
apply('trigger on the subscriber', 50, 51, 'INSERT INTO other VALUES (10)');
$subscriber->safe_psql('postgres', 'INSERT INTO edges VALUES (9000, 0, 9000)');
sees($reader, 52, 'built', 'a write of the subscriber');
sees($reader, 52, 'hit', '... a hit');
is($reader->ask(q{SELECT count(*) FROM emogi_bfs('late', 0); SELECT count(*) FROM emogi_bfs('late', 0)}), "0\n0", 'a table that is not yet published');
$writer->ask('INSERT INTO late SELECT g, 0, g FROM generate_series(1, 30) g; ALTER PUBLICATION pub ADD TABLE late');
$subscriber->safe_psql('postgres', 'ALTER SUBSCRIPTION sub REFRESH PUBLICATION');
$subscriber->wait_for_subscription_sync($publisher, 'sub');
is($reader->ask(q{SELECT count(*) FROM emogi_bfs('late', 0); SELECT count(*) FROM emogi_bfs('late', 0)}), "31\n31", '... after it is published');

# A conflict stops the worker repeatedly, and none of its changes are visible. After it is resolved,
# all are.
$subscriber->safe_psql('postgres', 'INSERT INTO edges VALUES (9500, 0, 9500)');
sees($reader, 53, 'anywhere', 'conflict: before');
$writer->ask('BEGIN; INSERT INTO edges VALUES (9499, 0, 9499), (9500, 0, 9501); COMMIT');
ok(wait_until(30, sub { slurp_file($subscriber->logfile) =~ /duplicate key value|conflict=insert_exists/ }), '... the worker fails');
sees($reader, 53, 'anywhere', '... nothing is visible');
$subscriber->safe_psql('postgres', 'DELETE FROM edges WHERE id = 9500');
$publisher->wait_for_catchup('sub');
sees($reader, 54, 'anywhere', '... and everything after it is resolved');
hits_again($reader, 54, '... hits');

# The subscriber's table is partitioned.
$subscriber->safe_psql('postgres', q{
	DROP TABLE edges;
	CREATE TABLE edges (dst int, src int, id int PRIMARY KEY) PARTITION BY HASH (id);
	CREATE TABLE e1 PARTITION OF edges FOR VALUES WITH (MODULUS 2, REMAINDER 0);
	CREATE TABLE e2 PARTITION OF edges FOR VALUES WITH (MODULUS 2, REMAINDER 1);
	ALTER SUBSCRIPTION sub REFRESH PUBLICATION});
$subscriber->wait_for_subscription_sync($publisher, 'sub');
my $ends = $publisher->safe_psql('postgres', 'SELECT count(*) FROM edges');
sees($reader, $ends, 'anywhere', 'partitioned: after the initial copy');
apply('partitioned: INSERT', $ends, $ends + 10, 'INSERT INTO edges SELECT g, 0, g FROM generate_series(10001, 10010) g');
apply('partitioned: UPDATE of the key', $ends + 10, $ends + 10, 'UPDATE edges SET id = id + 1000 WHERE id > 10000');
apply('partitioned: DELETE', $ends + 10, $ends, 'DELETE FROM edges WHERE id > 10000');
apply('partitioned: TRUNCATE', $ends, 0, 'TRUNCATE edges');

$subscriber->safe_psql('postgres', 'DROP SUBSCRIPTION sub');
$reader->ask('SELECT emogi_evict()');
region_is_empty($subscriber, 'the arena is empty');
$_->quit foreach ($reader, $old, $writer);
$subscriber->stop;
$publisher->stop;
no_crash($subscriber);

done_testing();
