# Snapshots of other origin: prepared transactions, exported snapshots, a hot standby.

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
$node->append_conf('postgresql.conf', "shared_preload_libraries = 'emogi'\nmax_prepared_transactions = 5\nautovacuum = off");
$node->start;
$node->safe_psql('postgres', 'CREATE EXTENSION emogi; CREATE TABLE small (src int, dst int); INSERT INTO small VALUES (1, 2), (2, 3), (1, 4)');
my $look = q{SELECT string_agg(vertex || ':' || level, ' ') FROM emogi_bfs('small', 1)};

# A prepared transaction becomes visible to new snapshots when it is committed.
$node->safe_psql('postgres', q{BEGIN; INSERT INTO small VALUES (4, 5); PREPARE TRANSACTION 'one'});
answers_small($node, 'a prepared transaction is invisible');
my $session = $node->background_psql('postgres');
$session->query_safe('BEGIN ISOLATION LEVEL REPEATABLE READ');
is($session->query_safe($look), '1:0 2:1 3:2 4:1', '... also in an open transaction');
$node->safe_psql('postgres', q{COMMIT PREPARED 'one'});
is($node->safe_psql('postgres', $look), '1:0 2:1 3:2 4:1 5:2', '... it is visible after COMMIT PREPARED');
is($session->query_safe($look), '1:0 2:1 3:2 4:1', '... but not in the open transaction');

# An exported snapshot returns the answer of the exporting session.
my $snapshot = $session->query_safe('SELECT pg_export_snapshot()');
$node->safe_psql('postgres', 'DELETE FROM small WHERE src = 2');
is($node->safe_psql('postgres', qq{BEGIN ISOLATION LEVEL REPEATABLE READ; SET TRANSACTION SNAPSHOT '$snapshot'; $look; COMMIT}), '1:0 2:1 3:2 4:1', 'an exported snapshot');
is($node->safe_psql('postgres', $look), '1:0 2:1 4:1 5:2', '... and a new one');
$session->query_safe('COMMIT');
is($session->query_safe($look), '1:0 2:1 4:1 5:2', 'the open session, after the end of its transaction');
$session->quit;
$node->safe_psql('postgres', q{BEGIN; DELETE FROM small; PREPARE TRANSACTION 'two'});
is($node->safe_psql('postgres', $look), '1:0 2:1 4:1 5:2', 'a prepared DELETE is not seen');
$node->restart;
is($node->safe_psql('postgres', $look), '1:0 2:1 4:1 5:2', '... nor after a restart');
$node->safe_psql('postgres', q{ROLLBACK PREPARED 'two'});
is($node->safe_psql('postgres', $look), '1:0 2:1 4:1 5:2', '... nor after its end');

# A hot standby answers from what it has replayed, and continues as a primary.
$node->backup('copy');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($node, 'copy', has_streaming => 1);
$standby->start;
is($standby->safe_psql('postgres', $look), '1:0 2:1 4:1 5:2', 'a standby answers');
is($standby->safe_psql('postgres', q{SELECT count(*) FROM emogi_bfs('SELECT src, dst FROM small', 1)}), '4', '... a query too');
$node->safe_psql('postgres', 'INSERT INTO small VALUES (5, 6)');
$node->wait_for_catchup($standby, 'replay', $node->lsn('insert'));
is($standby->safe_psql('postgres', $look), '1:0 2:1 4:1 5:2 6:3', '... and follows');
$node->stop;
$standby->promote;
$standby->safe_psql('postgres', 'INSERT INTO small VALUES (6, 7)');
is($standby->safe_psql('postgres', $look), '1:0 2:1 4:1 5:2 6:3 7:4', '... and continues after promotion');
$standby->stop;
no_crash($_) foreach ($node, $standby);

done_testing();
