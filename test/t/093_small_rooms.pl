# The space for new keys of a small graph is a small allocation.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use EmogiTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = crash_node('main', "emogi.max_memory = '64MB'", "shared_buffers = '64MB'");

foreach my $i (1 .. 60)
{
	$node->safe_psql('postgres', qq{
		CREATE TABLE named$i (src text, dst text);
		INSERT INTO named$i SELECT 'v' || i, 'v' || i + 1 FROM generate_series(1, 20) i});
	$node->safe_psql('postgres', qq{SELECT count(*) FROM emogi_bfs('named$i', 'v1')});
	$node->safe_psql('postgres', qq{INSERT INTO named$i VALUES ('v1', 'new'); SELECT count(*) FROM emogi_bfs('named$i', 'v1')});
}
is($node->safe_psql('postgres', q{SELECT count(*) FROM emogi_bfs('named1', 'v1') WHERE vertex = 'new'}), 1, 'a new key is found');
cmp_ok($node->safe_psql('postgres', q{SELECT key_bytes / 60 FROM emogi_cache}), '<', 256 * 1024, '... and a dictionary has grown by less than 256 kB');
is($node->safe_psql('postgres', q{SELECT evictions FROM emogi_cache}), 0, '... so that memory is left after 60 graphs');
is(join(' ', map { (served($node, qq{INSERT INTO named$_ VALUES ('new', 'newer'); SELECT count(*) FROM emogi_bfs('named$_', 'v1')}))[1] } 1 .. 60),
	join(' ', ('overlay') x 60), '... and all track their tables');
is($node->safe_psql('postgres', q{SELECT emogi_evict() > 0, (SELECT key_bytes FROM emogi_cache)}), 't|0', 'evicted, they free all of it');

$node->stop;
done_testing();
