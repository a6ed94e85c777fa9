# Many tables: caching depends on memory and recency of use, not on numbers and order of arrival;
# small graphs use little memory; and the writers of a table are recorded only while there is a
# graph of it.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use EmogiTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = crash_node('main', 'emogi.incremental_min_size = 1MB', "emogi.max_memory = '512MB'", 'max_locks_per_transaction = 512', 'fsync = off');

sub cache
{
	my ($what) = @_;

	return $node->safe_psql('postgres', "SELECT $what FROM emogi_cache");
}

# Tables prefix1 .. prefixN, each with a tree of a given number of edges, or the partitions of one
# with some edges each.
$node->safe_psql('postgres', q{
	CREATE PROCEDURE make_tables(prefix text, n int, edges int) LANGUAGE plpgsql AS $$ BEGIN
		FOR i IN 1 .. n LOOP
			EXECUTE format('CREATE TABLE %I AS SELECT j / 2 AS src, j AS dst FROM generate_series(2, %s) j', prefix || i, edges + 1);
			COMMIT;
		END LOOP; END $$;
	CREATE PROCEDURE make_parts(name text, n int, edges int) LANGUAGE plpgsql AS $$ BEGIN
		EXECUTE format('CREATE TABLE %I (tenant int, src int, dst int) PARTITION BY LIST (tenant)', name);
		FOR i IN 1 .. n LOOP
			EXECUTE format('CREATE TABLE %I PARTITION OF %I FOR VALUES IN (%s)', name || i, name, i);
			EXECUTE format('INSERT INTO %I SELECT %s, j / 2, j FROM generate_series(2, %s) j', name || i, i, edges + 1);
			COMMIT;
		END LOOP; END $$;
	CREATE PROCEDURE call_each(prefix text, first int, last int, vertices int) LANGUAGE plpgsql AS $$
		DECLARE found bigint;
		BEGIN
			FOR i IN first .. last LOOP
				SELECT count(*) INTO found FROM emogi_bfs(prefix || i || '(src, dst)', 1);
				IF found <> vertices THEN RAISE 'table %: % rows', i, found; END IF;
				COMMIT;
			END LOOP; END $$});

# Partitions of tenants, each called by its own name, in turn.
$node->safe_psql('postgres', q{CALL make_parts('tenant', 300, 3000); SELECT emogi_reset()});
$node->safe_psql('postgres', q{CALL call_each('tenant', 1, 300, 3001)}) foreach 1 .. 3;
is(cache('graphs, tables, hits, builds, private_builds, evictions'), '300|300|600|300|0|0', '300 partitions called three times in turn: 600 hits');
cmp_ok(cache('bytes'), '<', 64 << 20, '... in ' . cache('bytes') . ' bytes');
cmp_ok($node->safe_psql('postgres', 'SELECT used_bytes FROM emogi_devices WHERE device = -1'), '==', cache('bytes'), '... and no other memory is in use');
is($node->safe_psql('postgres', q{INSERT INTO tenant VALUES (7, 1, 9000); SELECT count(*) FROM emogi_bfs('tenant7(src, dst)', 1)}), '3002', 'a row in one of them');
is(join('|', served($node, q{SELECT count(*) FROM emogi_bfs('tenant8(src, dst)', 1)})), '3001|hit', '... does not invalidate the next');
is(join('|', served($node, q{SELECT count(*) FROM emogi_bfs('tenant(src, dst)', 1)})), '3002|built', '... and the whole is correct');
is(cache('graphs, tables'), '301|300', '... on the same tables');

# Dropping a partition evicts its graph and that of the whole, and frees its entry.
$node->safe_psql('postgres', 'DROP TABLE tenant9');
is(cache('graphs, tables'), '299|299', 'DROP of a partition: two graphs and an entry go');
ok($node->safe_psql('postgres', q{SELECT emogi_evict('tenant8')}) > 0, 'eviction by name');
is(cache('graphs, tables'), '298|298', '... stops recording the writers of the table');
$node->safe_psql('postgres', 'SELECT emogi_evict()');
is(cache('graphs, tables, bytes'), '0|0|0', '... and of all');
region_is_empty($node, '... an empty arena');

# A partitioned table with more leaves than earlier limits on entries; then all of them by their own
# names.
$node->safe_psql('postgres', q{CALL make_parts('wide', 1000, 10)});
my $wide = q{SELECT count(*) FROM emogi_bfs('wide(src, dst)', 1)};
is(join('|', served($node, $wide)), '11|built', 'a table of 1,000 leaves is cached');
is(join('|', served($node, $wide)), '11|hit', '... and found');
is(cache('graphs, tables'), '1|1000', '... with all its leaves');
$node->safe_psql('postgres', 'INSERT INTO wide1000 VALUES (1000, 1, 100)');
is(join('|', served($node, $wide)), '12|merged', '... a row in the last leaf is visible');
$node->safe_psql('postgres', 'CREATE TABLE wide1001 PARTITION OF wide FOR VALUES IN (1001); CREATE TABLE wide1002 (tenant int, src int, dst int); ALTER TABLE wide ATTACH PARTITION wide1002 FOR VALUES IN (1002)');
is(join('|', served($node, $wide)), '12|hit', '... empty partitions change nothing');
$node->safe_psql('postgres', 'INSERT INTO wide VALUES (1001, 1, 101)');
is(join('|', served($node, $wide)), '13|merged', '... until a row is in one');
is(join('|', served($node, $wide)), '13|hit', '... which is cached again');
$node->safe_psql('postgres', 'TRUNCATE wide1001');
is($node->safe_psql('postgres', $wide), '12', '... nor does one that has been emptied');
$node->safe_psql('postgres', 'SELECT emogi_evict()');
is(cache('graphs, tables, bytes'), '0|0|0', '... and all is evicted');

# A table that is written and never read again is unregistered.
is($node->safe_psql('postgres', q{SELECT count(*) FROM emogi_bfs('small', 1)}), '4', 'before a failed build');
$node->psql('postgres', q{SET emogi.fault = 'engine_allocation=1'; SELECT count(*) FROM emogi_bfs('wide1(src, dst)', 1)});
is(cache('graphs, tables'), '1|2', 'a table without a published graph stays for a while');
is(join('|', served($node, q{SELECT count(*) FROM emogi_bfs('wide1(src, dst)', 1)})), '11|built', '... and is built');
nothing_left($node, 'after few tables');
is(cache('tables'), '0', '... nor entries');
$node->stop;

# More tables than entries: the latest are cached.
$node->append_conf('postgresql.conf', "emogi.max_memory = '256MB'");
$node->start;
$node->safe_psql('postgres', q{CALL make_tables('t', 2000, 20); SELECT emogi_reset()});
$node->safe_psql('postgres', q{CALL call_each('t', 1, 2000, 21)});
is(cache('builds, private_builds'), '2000|0', '2,000 tables one after the other');
my ($graphs, $tables, $evictions) = split /\|/, cache('graphs, tables, evictions');
is($graphs + $evictions, 2000, "... $graphs are cached, $evictions were evicted");
is($tables, $graphs, '... and only the tables of those are registered');
cmp_ok($graphs, '>=', 1000, '... which is a thousand at least');
$node->safe_psql('postgres', q{SELECT emogi_reset(); CALL call_each('t', 1500, 2000, 21)});
is(cache('hits, builds'), '501|0', '... the latest are hits');
is(join('|', served($node, q{SELECT count(*) FROM emogi_bfs('t1', 1)})), '21|built', '... the first is built again');
is(join('|', served($node, q{SELECT count(*) FROM emogi_bfs('t1', 1)})), '21|hit', '... and hit');
is(join('|', served($node, $wide)), '12|built', 'a table of 1,000 leaves finds room among them');
is(join('|', served($node, $wide)), '12|hit', '... and hit');
nothing_left($node, 'at the end');
is(cache('graphs, tables, bytes'), '0|0|0', '... no entries');
$node->stop;
no_crash($node);

done_testing();
