# In addition to 012, 013 and 049: a call on a hot standby canceled by replay leaves nothing behind
# and can be retried; a standby counts its own calls and keeps the counts through restart and
# promotion; a cascading standby returns correct answers. A subscriber's graphs track writes of
# replication workers, with row filters and column lists, also into a table with different
# partitions.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use EmogiTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my @conf = ("shared_preload_libraries = 'emogi'", 'autovacuum = off', "emogi.max_memory = '256MB'", 'emogi.engine = cpu', 'emogi.incremental_min_size = 0', 'log_statement = none');
my $primary = PostgreSQL::Test::Cluster->new('primary');
$primary->init(allows_streaming => 'logical');
$primary->append_conf('postgresql.conf', join "\n", @conf);
$primary->start;
$primary->safe_psql('postgres', q{
	CREATE EXTENSION emogi;
	CREATE TABLE edges (src int, dst int, weight float8 DEFAULT 1);
	INSERT INTO edges SELECT i / 2, i, i % 100 FROM generate_series(2, 20000) i;
	CREATE TABLE swept AS TABLE edges});
$primary->backup('backup');

# A node that streams from another.
sub standby_of
{
	my ($upstream, $backup_of, $name) = @_;
	my $node = PostgreSQL::Test::Cluster->new($name);

	$node->init_from_backup($backup_of, 'backup', has_streaming => 1);
	$node->append_conf('postgresql.conf', "hot_standby_feedback = off\nmax_standby_streaming_delay = '100ms'\nrestart_after_crash = on");
	if ($upstream != $backup_of)
	{
		my $info = $upstream->connstr . ' application_name=' . $node->name;
		$node->append_conf('postgresql.conf', "primary_conninfo = '$info'");
	}
	$node->start;
	return $node;
}

my $standby = standby_of($primary, $primary, 'standby');
my $cascade = standby_of($standby, $primary, 'cascade');
sub replayed { $primary->wait_for_catchup('standby', 'replay', $primary->lsn('insert')); $standby->wait_for_catchup('cascade', 'replay', $standby->lsn('replay')) }

# ---- a call canceled by replay

my $call = q{SELECT count(*) FROM emogi_bfs('SELECT src, dst FROM swept WHERE (src <> 5000 OR pg_sleep(60) IS NOT NULL)', 1)};
my ($out, $err) = ('', '');
replayed();
my $reader = start_psql($standby, \$out, \$err, $call);
ok(wait_until(20, sub { $standby->safe_psql('postgres', q{SELECT count(*) FROM emogi_progress WHERE phase = 'scan'}) eq '1' }), 'a standby reads a table');
$primary->safe_psql('postgres', 'DELETE FROM swept; VACUUM swept');
$reader->finish;
like($err, qr/^ERROR:  40001/, '... replay cancels it');
replayed();
is($standby->safe_psql('postgres', q{SELECT count(*) FROM emogi_progress}), '0', '... and nothing is left of it');
is($standby->safe_psql('postgres', q{SELECT count(*) FROM emogi_bfs('swept', 1)}), '0', '... the next call sees the replayed changes');
is($standby->safe_psql('postgres', q{SELECT sum(calls), sum(errors) FROM emogi_stat_graphs}), '2|1', '... both are counted');
region_is_empty($standby, '... and the memory is freed');

# a cursor over rows already read no longer needs the table, but its snapshot does
my $session = session($standby);
$session->ask(q{BEGIN ISOLATION LEVEL REPEATABLE READ; DECLARE c CURSOR FOR SELECT vertex FROM emogi_bfs('edges', 1) ORDER BY vertex});
is($session->ask('FETCH 2 FROM c'), "1\n2", 'a cursor on a standby');
$primary->safe_psql('postgres', 'DELETE FROM edges WHERE src > 5000');
ok(wait_until(60, sub { $primary->safe_psql('postgres', 'VACUUM edges'); (eval { $session->ask('SELECT 1') } // 'its session has ended') =~ /40001|25P02|ended/ }), '... which replay terminates');
$session = undef;
replayed();
is($standby->safe_psql('postgres', q{SELECT ok FROM emogi_check('edges', 'out', true)}), 't', '... and the next call is correct');
is($cascade->safe_psql('postgres', q{SELECT ok FROM emogi_check('edges', 'out', true)}), 't', '... on a cascading standby, too');
foreach my $change ('INSERT INTO edges VALUES (1, 30001)', 'UPDATE edges SET weight = 7 WHERE src = 100', 'DELETE FROM edges WHERE src = 3; VACUUM edges')
{
	$primary->safe_psql('postgres', $change);
	replayed();
	like($cascade->safe_psql('postgres', q{SELECT ok, cache FROM emogi_check('edges', 'out', true)}), qr/^t\|(?:merged|built)$/, "... $change");
}

# ---- statistics of a standby

$standby->safe_psql('postgres', q{SELECT emogi_bfs('edges', i) FROM generate_series(1, 10) i});
my $counted = $standby->safe_psql('postgres', 'SELECT source, function, calls, rows FROM emogi_stat_graphs ORDER BY 1, 2');
my $others = $primary->safe_psql('postgres', 'SELECT count(*) FROM emogi_stat_graphs');
is($others, '0', 'a primary does not count calls on its standby');
$standby->restart;
is($standby->safe_psql('postgres', 'SELECT source, function, calls, rows FROM emogi_stat_graphs ORDER BY 1, 2'), $counted, 'a standby keeps its counts when it restarts');
$cascade->stop;
$primary->stop;
$standby->promote;
is($standby->safe_psql('postgres', 'SELECT source, function, calls, rows FROM emogi_stat_graphs ORDER BY 1, 2'), $counted, '... and when it is promoted');
is($standby->safe_psql('postgres', q{INSERT INTO edges VALUES (1, 40001); SELECT ok FROM emogi_check('edges', 'out', true)}), 't', '... after which it is correct, with new writes');
$standby->stop;

# ---- a subscriber: graphs track writes of replication workers

$primary->start;
my $subscriber = emogi_node('subscriber', @conf, 'max_worker_processes = 16', "wal_retrieve_retry_interval = '100ms'");
my $has_filters = $primary->pg_version >= 15;
$primary->safe_psql('postgres', q{
	CREATE TABLE links (id int PRIMARY KEY, src int, dst int, weight float8, secret text DEFAULT 'x');
	INSERT INTO links SELECT i, i / 2, i, i % 10 FROM generate_series(2, 5000) i;
	CREATE TABLE parts (id int, src int, dst int, PRIMARY KEY (id)) PARTITION BY HASH (id);
	CREATE TABLE p0 PARTITION OF parts FOR VALUES WITH (MODULUS 2, REMAINDER 0);
	CREATE TABLE p1 PARTITION OF parts FOR VALUES WITH (MODULUS 2, REMAINDER 1);
	INSERT INTO parts SELECT i, i / 2, i FROM generate_series(2, 2000) i;
	} . ($has_filters ? q{CREATE PUBLICATION pub FOR TABLE links (id, src, dst, weight) WHERE (id % 10 <> 7), parts WITH (publish_via_partition_root = true)}
	: q{CREATE PUBLICATION pub FOR TABLE links, parts WITH (publish_via_partition_root = true)}));
$subscriber->safe_psql('postgres', q{
	CREATE TABLE links (weight float8, dst bigint, src bigint, id int PRIMARY KEY, secret text);
	CREATE TABLE parts (id int, dst bigint, src bigint, PRIMARY KEY (id)) PARTITION BY RANGE (id);
	CREATE TABLE low PARTITION OF parts FOR VALUES FROM (MINVALUE) TO (700);
	CREATE TABLE high PARTITION OF parts FOR VALUES FROM (700) TO (MAXVALUE);
	CREATE SUBSCRIPTION sub CONNECTION 'dbname=postgres host=} . $primary->host . ' port=' . $primary->port . q{' PUBLICATION pub});
$subscriber->wait_for_subscription_sync($primary, 'sub');
my $kept = $has_filters ? 'WHERE id % 10 <> 7' : '';

# Are both graphs correct, and equal to the publisher's rows?
sub follow
{
	my ($name, $how, $sql) = @_;

	$primary->safe_psql('postgres', $sql) if $sql;
	$primary->wait_for_catchup('sub');
	foreach ([ 'links', 'true', $kept ], [ 'parts', 'false', '' ])
	{
		my ($table, $weights, $where) = @$_;

		like($subscriber->safe_psql('postgres', "SELECT ok, cache FROM emogi_check('$table', 'out', $weights)"), qr/^t\|$how$/, "$name: $table");
		is($subscriber->safe_psql('postgres', "SELECT sum(degree) FROM emogi_degree('$table')"), $primary->safe_psql('postgres', "SELECT count(*) FROM $table $where"), '... with all edges');
	}
}
follow('the initial copy', '(?:built|merged|hit)');
follow('rows more', '(?:merged|overlay)', 'INSERT INTO links SELECT i, 1, i, 1 FROM generate_series(6001, 6100) i; INSERT INTO parts SELECT i, 1, i FROM generate_series(3001, 3100) i');
follow('rows changed', '(?:merged|overlay)', 'UPDATE links SET dst = dst + 1 WHERE id < 100; UPDATE parts SET id = id + 10000, dst = dst + 1 WHERE id BETWEEN 650 AND 750');
follow('rows less', '(?:merged|overlay)', 'DELETE FROM links WHERE id % 3 = 0; DELETE FROM parts WHERE id % 3 = 0');
follow('a row leaves and enters a filter', '(?:merged|overlay|hit)', 'UPDATE links SET id = 10007 WHERE id = 100; UPDATE links SET id = 10008 WHERE id = 1007; DELETE FROM parts WHERE id = 4') if $has_filters;
follow('vacuumed between', '(?:merged|overlay|hit|built)', 'INSERT INTO links VALUES (20001, 5, 6, 7); VACUUM links; INSERT INTO parts VALUES (20001, 5, 6)');
$subscriber->safe_psql('postgres', 'VACUUM FULL links; VACUUM parts');
follow('rewritten on the subscriber', '(?:built|merged|hit)', 'INSERT INTO links VALUES (20002, 5, 9, 7); INSERT INTO parts VALUES (20002, 5, 9)');
follow('emptied', '(?:built|merged|hit)', 'TRUNCATE links, parts; INSERT INTO links VALUES (1, 1, 2, 3); INSERT INTO parts VALUES (1, 1, 2)');
region_is_empty($subscriber, 'nothing is left in shared memory');
no_crash($_) foreach $primary, $standby, $cascade, $subscriber;
done_testing();
