# When all entries for graphs are taken, a new graph takes the entry of the graph used longest ago. The change trackers of others stay: they free no entry.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use EmogiTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

# so much memory has the smallest number of entries, 1,024, and is never short here
my $node = crash_node('main', "emogi.max_memory = '512MB'", "shared_buffers = '64MB'");

$node->safe_psql('postgres', q{
	CREATE TABLE quiet (src int, dst int, k int);
	INSERT INTO quiet SELECT i, i + 1, 1 FROM generate_series(1, 20) i;
	CREATE TABLE busy (src int, dst int, k int);
	INSERT INTO busy SELECT i, i + 1, 1 FROM generate_series(1, 20) i;
	CREATE PROCEDURE ask(first int, last int) LANGUAGE plpgsql AS $$
	DECLARE
		answer bigint;
	BEGIN
		FOR round IN 1 .. 2 LOOP
			FOR i IN first .. last LOOP
				EXECUTE format('SELECT count(*) FROM emogi_cc(%L)', 'busy WHERE k > ' || -i) INTO answer;
			END LOOP;
			INSERT INTO busy VALUES (1, 2, 1);
			COMMIT;
		END LOOP;
	END $$});

# How a call on the other table finds its graph after a change of that table.
sub quiet
{
	return (served($node, q{INSERT INTO quiet VALUES (1, 3, 1); SELECT count(*) FROM emogi_bfs('quiet WHERE k = 1', 1)}))[1];
}

my @found = map { quiet() } 1 .. 3;
is($found[2], 'patched', 'the graph of the other table follows it');
$node->safe_psql('postgres', 'CALL ask(1, 1000)');
cmp_ok($node->safe_psql('postgres', 'SELECT graphs FROM emogi_cache'), '>', 1000, 'nearly all entries are taken');
is(quiet(), 'patched', '... and the other graph still follows');
$node->safe_psql('postgres', 'CALL ask(1001, 1100)');
cmp_ok($node->safe_psql('postgres', 'SELECT graphs FROM emogi_cache'), '<=', 1024, 'all entries are taken');
is(quiet(), 'patched', '... and the other graph follows all the same');
cmp_ok($node->safe_psql('postgres', q{SELECT count(*) FILTER (WHERE live_bytes > 0) FROM emogi_graphs}), '>', 500, '... as most others do');
is($node->safe_psql('postgres', q{SELECT count(*) = (SELECT count(DISTINCT v) FROM (SELECT src FROM quiet UNION ALL SELECT dst FROM quiet) n(v)) FROM emogi_cc('quiet WHERE k = 1')}), 't',
	'the answer is right');

# The room for new keys of a small graph is small, too.
$node->safe_psql('postgres', q{
	SELECT emogi_evict();
	CREATE TABLE named (src text, dst text);
	INSERT INTO named SELECT 'v' || i, 'v' || i + 1 FROM generate_series(1, 20) i});
$node->safe_psql('postgres', q{SELECT count(*) FROM emogi_bfs('named', 'v1')});
$node->safe_psql('postgres', q{INSERT INTO named VALUES ('v1', 'new'); SELECT count(*) FROM emogi_bfs('named', 'v1')});
is($node->safe_psql('postgres', q{SELECT count(*) FROM emogi_bfs('named', 'v1') WHERE vertex = 'new'}), 1, 'a new key is found');
cmp_ok($node->safe_psql('postgres', q{SELECT key_bytes FROM emogi_cache}), '<', 512 * 1024, '... and its dictionary has grown by less than half a MB');

$node->stop;
done_testing();
