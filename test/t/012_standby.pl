# The cache on a hot standby: hits while nothing is replayed, correct answers after each change, and
# during a promotion.

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
$primary->append_conf('postgresql.conf', join "\n", "shared_preload_libraries = 'emogi'", 'emogi.incremental_min_size = 1MB', 'max_prepared_transactions = 10', 'autovacuum = off',
	"emogi.max_memory = '1GB'", 'log_min_error_statement = panic', 'hot_standby_feedback = on');
$primary->start;
$primary->safe_psql('postgres', q{
	CREATE EXTENSION emogi;
	CREATE TABLE pulse AS SELECT 0 AS n;
	ALTER DATABASE postgres SET search_path = w, public;
	ALTER DATABASE postgres SET client_min_messages = warning});
create_look($primary);

my $plain = q{
	CREATE TABLE edges (id int PRIMARY KEY, src int, dst int, spare int);
	INSERT INTO edges SELECT g, 0, g, 1000 + g FROM generate_series(1, 100) g;
	CREATE TABLE others (src int, dst int);
	INSERT INTO others SELECT 0, 200 + g FROM generate_series(1, 100) g};
my $root = q{
	CREATE TABLE edges (src int, dst int) PARTITION BY RANGE (dst);
	CREATE TABLE e1 PARTITION OF edges FOR VALUES FROM (0) TO (50);
	CREATE TABLE e2 PARTITION OF edges FOR VALUES FROM (50) TO (1000);
	CREATE TABLE e3 (dst int, src int);
	INSERT INTO e3 VALUES (2000, 0), (2001, 0);
	INSERT INTO edges SELECT 0, g FROM generate_series(1, 100) g};
my $matview = q{
	CREATE TABLE base (src int, dst int);
	INSERT INTO base SELECT 0, g FROM generate_series(1, 100) g;
	CREATE MATERIALIZED VIEW edges AS TABLE base};

# Recreate the tables on the primary.
my $writer = session($primary);
sub fresh
{
	my ($setup) = @_;
	my $said = $writer->ask('DROP SCHEMA IF EXISTS w CASCADE; CREATE SCHEMA w; CREATE TABLE other (a int); ' . ($setup // $plain));

	die $said if $said =~ /ERROR/;
}

fresh();
$primary->backup('copy');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($primary, 'copy', has_streaming => 1);
$standby->start;

# Wait until the standby has replayed everything. A commit flushes pending WAL.
my $pulse = session($primary);
my $watch = session($standby);
sub replay
{
	my $lsn = $pulse->ask('UPDATE public.pulse SET n = n + 1; SELECT pg_current_wal_lsn()');

	wait_until(60, sub { $watch->ask("SELECT pg_last_wal_replay_lsn() >= '$lsn'") eq 't' }) or die "nothing replayed up to $lsn";
}

# Run a command on the primary, and wait until the standby has replayed it.
sub change
{
	my ($sql) = @_;
	my $said = $writer->ask($sql);

	die "$sql: $said" if $said =~ /ERROR/;
	replay();
}

# No changes.
replay();
my $reader = session($standby);
is($reader->ask('SELECT pg_is_in_recovery()'), 't', 'a hot standby');
sees($reader, 100, 'built or hit', '... answers');
sees($reader, 100, 'hit', '... from the cache');
my $other = session($standby);
sees($other, 100, 'hit', '... in another session too');
sees($reader, 100, 'hit', '... again and again');
is($reader->ask('SELECT emogi_evict() > 0'), 't', '... and evicts');
sees($reader, 100, 'built', '... and builds again');
sees($other, 100, 'hit', '... and hits again');

# Each kind of change is replayed: the next call is correct, and then there are hits again.
foreach my $path (
	[ 'another table', 100, 'INSERT INTO other VALUES (1)' ],
	[ 'INSERT', 101, 'INSERT INTO edges VALUES (200, 0, 150)' ],
	[ 'UPDATE', 99, 'UPDATE edges SET src = 1 WHERE id = 7' ],
	[ 'DELETE', 90, 'DELETE FROM edges WHERE id <= 10' ],
	[ 'DELETE, VACUUM', 90, 'DELETE FROM edges WHERE id > 90; VACUUM edges' ],
	[ 'ROLLBACK', 100, 'BEGIN; DELETE FROM edges; ROLLBACK' ],
	[ 'savepoint rolled back', 101, 'BEGIN; SAVEPOINT a; DELETE FROM edges; ROLLBACK TO a; INSERT INTO edges VALUES (200, 0, 150); COMMIT' ],
	[ 'many subtransactions', 200, 'DO $$ BEGIN FOR i IN 1 .. 100 LOOP BEGIN INSERT INTO edges VALUES (200 + i, 0, 200 + i); EXCEPTION WHEN OTHERS THEN NULL; END; END LOOP; END $$' ],
	[ 'prepared and committed', 101, q{BEGIN; INSERT INTO edges VALUES (200, 0, 150); PREPARE TRANSACTION 'x'; COMMIT PREPARED 'x'} ],
	[ 'prepared and rolled back', 100, q{BEGIN; DELETE FROM edges; PREPARE TRANSACTION 'x'; ROLLBACK PREPARED 'x'} ],
	[ 'TRUNCATE', 0, 'TRUNCATE edges' ],
	[ 'TRUNCATE, ROLLBACK', 100, 'BEGIN; TRUNCATE edges; ROLLBACK' ],
	[ 'TRUNCATE, INSERT', 1, 'BEGIN; TRUNCATE edges; INSERT INTO edges VALUES (1, 0, 150); COMMIT' ],
	[ 'COPY FREEZE', 2, "BEGIN; TRUNCATE edges; COPY edges (id, src, dst) FROM STDIN WITH (FREEZE);\n1\t0\t150\n2\t0\t151\n\\.\nCOMMIT" ],
	[ 'VACUUM FULL', 100, 'VACUUM FULL edges' ],
	[ 'VACUUM FREEZE', 100, 'VACUUM FREEZE edges' ],
	[ 'CLUSTER', 99, 'DELETE FROM edges WHERE id = 1; CLUSTER edges USING edges_pkey' ],
	[ 'ALTER TYPE USING', 100, 'ALTER TABLE edges ALTER dst TYPE bigint USING dst * 2 + 1' ],
	[ 'ADD COLUMN', 100, 'ALTER TABLE edges ADD z int DEFAULT 7' ],
	[ 'DROP COLUMN, RENAME of another', 100, 'BEGIN; ALTER TABLE edges DROP dst; ALTER TABLE edges RENAME spare TO dst; COMMIT' ],
	[ 'RENAME: two tables swap names', 100, 'BEGIN; ALTER TABLE edges RENAME TO x; ALTER TABLE others RENAME TO edges; COMMIT' ],
	[ 'DROP and CREATE', 9, 'BEGIN; DROP TABLE edges; CREATE TABLE edges AS SELECT 0 AS src, g AS dst FROM generate_series(1, 9) g; COMMIT' ],
	[ 'CREATE INDEX, ANALYZE, GRANT', 100, 'CREATE INDEX ON edges (src); ANALYZE edges; GRANT SELECT ON edges TO PUBLIC' ],
	[ 'CHECKPOINT and a switch of WAL files', 100, 'CHECKPOINT; SELECT pg_switch_wal()' ],
	[ 'root: INSERT', 101, 'INSERT INTO edges VALUES (0, 150)', $root ],
	[ 'root: INSERT into a leaf', 101, 'INSERT INTO e2 VALUES (0, 150)', $root ],
	[ 'root: TRUNCATE of a leaf', 49, 'TRUNCATE e2', $root ],
	[ 'root: ATTACH', 102, 'ALTER TABLE edges ATTACH PARTITION e3 FOR VALUES FROM (2000) TO (3000)', $root ],
	[ 'root: DETACH', 49, 'ALTER TABLE edges DETACH PARTITION e2', $root ],
	[ 'root: DETACH CONCURRENTLY', 49, 'ALTER TABLE edges DETACH PARTITION e2 CONCURRENTLY', $root ],
	[ 'root: DROP of a leaf', 49, 'DROP TABLE e2', $root ],
	[ 'REFRESH MATERIALIZED VIEW', 101, 'INSERT INTO base VALUES (0, 150); REFRESH MATERIALIZED VIEW edges', $matview ],
	[ 'the table below a materialized view', 100, 'INSERT INTO base VALUES (0, 150)', $matview ])
{
	my ($name, $ends, $sql, $setup) = @$path;
	my @wrong;

	fresh($setup);
	replay();
	hits_again($reader, 100, "$name: a hit before");
	$other->ask('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1 FROM pg_class LIMIT 1');
	change($sql);
	sees($reader, $ends, 'anywhere', '... right after it');
	my ($verdict) = look($other);
	like($verdict, qr/^right/, '... in an older snapshot');
	hits_again($reader, $ends, '... hits');
	($verdict) = look($other);
	like($verdict, qr/^right/, '... in the older snapshot again');
	$other->ask('COMMIT');
	sees($other, $ends, 'anywhere', '... and after its end');
}

# A transaction in progress on the primary.
fresh();
replay();
sees($reader, 100, 'anywhere', 'in progress: before');
change('BEGIN; INSERT INTO edges VALUES (200, 0, 150)');
sees($reader, 100, 'anywhere', '... not seen');
hits_again($reader, 100, '... hits');
$other->ask('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1 FROM pg_class LIMIT 1');
sees($other, 100, 'anywhere', '... an older snapshot');
change('SAVEPOINT a; DELETE FROM edges WHERE id = 1');
sees($reader, 100, 'anywhere', '... still invisible');
change('COMMIT');
sees($reader, 100, 'anywhere', '... committed');    # one more, one less
sees($other, 100, 'anywhere', '... the older snapshot');
like(join(', ', look($reader)), qr/^right: 100 ends, sum 5199,/, '... with the new rows');
like(join(', ', look($other)), qr/^right: 100 ends, sum 5050,/, '... and the old ones');
$other->ask('COMMIT');
hits_again($other, 100, '... hits');

# The standby lags: changes not replayed are invisible.
is($reader->ask('SELECT pg_wal_replay_pause()'), '', 'paused');
$writer->ask('DELETE FROM edges');
sees($reader, 100, 'anywhere', '... not seen');
sees($reader, 100, 'anywhere', '... not seen');
$reader->ask('SELECT pg_wal_replay_resume()');
replay();
sees($reader, 0, 'anywhere', '... resumed');
hits_again($reader, 0, '... hits');

# A restart.
fresh();
replay();
$_->quit foreach ($reader, $other, $watch);
$standby->restart;
($reader, $other, $watch) = map { session($standby) } 1 .. 3;
sees($reader, 100, 'anywhere', 'restarted');
hits_again($reader, 100, '... hits');
change(q{CREATE UNLOGGED TABLE light (src int, dst int); INSERT INTO light VALUES (0, 1)});
is($writer->ask(q{SELECT count(*) FROM emogi_bfs('light', 0)}), '2', 'an unlogged table');
like($reader->ask(q{SELECT count(*) FROM emogi_bfs('light', 0)}), qr/^ERROR:  0A000/, '... is not there on the standby');

# Promotion with cached graphs, two prepared transactions, one in progress, and open snapshots.
change(q{BEGIN; INSERT INTO edges VALUES (200, 0, 150); PREPARE TRANSACTION 'one'});
sees($reader, 100, 'anywhere', 'prepared: invisible');
hits_again($reader, 100, '... hits');
change(q{BEGIN; DELETE FROM edges WHERE id <= 10; PREPARE TRANSACTION 'two'});
sees($reader, 100, 'anywhere', '... nor a second one');
change('BEGIN; UPDATE edges SET src = 5 WHERE id > 50');
sees($reader, 100, 'anywhere', '... nor one in progress');
hits_again($reader, 100, '... hits');
$other->ask('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1 FROM pg_class LIMIT 1');
sees($other, 100, 'anywhere', 'promotion: a snapshot from before it');
$_->quit foreach ($writer, $pulse);
$primary->stop('immediate');
$standby->promote;
sees($reader, 100, 'anywhere', '... the first call');
sees($reader, 100, 'anywhere', '... the second call');
sees($other, 100, 'anywhere', '... the older snapshot');
my $more = session($standby);
$more->ask(q{COMMIT PREPARED 'one'});
sees($reader, 101, 'anywhere', '... a transaction prepared before it is committed');
sees($other, 100, 'anywhere', '... invisible to the older snapshot');
sees($reader, 101, 'anywhere', '... again');
$more->ask('INSERT INTO edges VALUES (300, 0, 300)');
sees($reader, 102, 'anywhere', '... INSERT');
sees($reader, 102, 'anywhere', '... again');
sees($other, 100, 'anywhere', '... the older snapshot');
$more->ask(q{ROLLBACK PREPARED 'two'});
sees($reader, 102, 'anywhere', '... a transaction prepared before it is rolled back');
hits_again($reader, 102, '... without older writers there are hits again');
$other->ask('COMMIT');
sees($other, 102, 'anywhere', '... the end of the older snapshot');
hits_again($other, 102, '... hits');
is($reader->ask(q{SELECT count(*) FROM emogi_bfs('light', 0)}), '0', '... the unlogged table is empty');
$more->ask('BEGIN; DELETE FROM edges WHERE id >= 200');
sees($reader, 102, 'hit', '... a writer beside');
sees($more, 100, 'private', '... its own view');
$more->ask('COMMIT');
sees($reader, 100, 'built', '... committed');
sees($more, 100, 'hit', '... cached');
$more->ask(q{BEGIN; INSERT INTO edges VALUES (400, 0, 400); PREPARE TRANSACTION 'three'});
sees($reader, 100, 'hit', '... prepared on the new primary');
$reader->ask(q{COMMIT PREPARED 'three'});
sees($more, 101, 'built', '... and committed');

$reader->ask('SELECT emogi_evict()');
region_is_empty($standby, 'the arena is empty');
$_->quit foreach ($reader, $other, $watch, $more);
$standby->stop;
no_crash($_) foreach ($primary, $standby);

done_testing();
