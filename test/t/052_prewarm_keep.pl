# A kept graph is never evicted, whatever the pressure; others are, and its change tracker and
# labels may be. Kept graphs use at most half of the memory; a graph that does not fit into the rest
# reports it.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use EmogiTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = emogi_node('main', "emogi.max_memory = '64MB'", "shared_buffers = '128MB'");

# Trees with the root 1. mid1 .. mid6: a graph of about 8 MB; big1, big2: one of about 20 MB.
foreach my $table ((map { [ "mid$_", 400_000 ] } 1 .. 6), (map { [ "big$_", 1_000_000 ] } 1 .. 2))
{
	make_checked($node, @$table);
	$node->safe_psql('postgres', "ANALYZE $table->[0]");
}

# The sources of cached graphs, with kept ones marked, in the order of their names.
sub cached
{
	return $node->safe_psql('postgres', q{SELECT string_agg(DISTINCT source || CASE WHEN kept THEN '*' ELSE '' END, ' ') FROM emogi_graphs WHERE state = 'ready'});
}

sub prewarm
{
	my ($graph, $more) = @_;

	return $node->safe_psql('postgres', "SELECT kept FROM emogi_prewarm('$graph'" . ($more ? ", $more" : '') . ')');
}

# Pressure: calls in sequence, so that everything that can be evicted is evicted.
sub press
{
	is_right($node, $_, "$_ is right") foreach qw(big1 mid2 mid3 mid4 mid5 mid6 big2);
}

is(prewarm('mid1'), 'f', 'not kept');
press();
unlike(cached(), qr/mid1/, '... and evicted');
is(prewarm('mid1', 'keep => true'), 't', 'kept');
press();
like(cached(), qr/mid1\*/, '... and still cached');
my ($answer, $cache) = served($node, "SELECT count(*) FROM emogi_bfs('mid1', 1)");
is("$answer $cache", '400001 hit', '... for calls to find');
is(prewarm('mid1', 'keep => false'), 'f', 'let go');
press();
unlike(cached(), qr/mid1/, '... and evicted');

# Its labels and change tracker are not protected.
is(prewarm('mid1', 'keep => true'), 't', 'kept again');
$node->safe_psql('postgres', q{SELECT count(*) FROM emogi_cc('mid1')});
press();
is($node->safe_psql('postgres', q{SELECT tracker_bytes, kept FROM emogi_graphs WHERE source = 'mid1'}), '0|t', 'its change tracker is evicted, the graph is not');

# The version after a change.
$node->safe_psql('postgres', 'INSERT INTO mid1 VALUES (400001, 400002)');
is($node->safe_psql('postgres', q{SELECT count(*) FROM emogi_bfs('mid1', 1)}), '400002', 'a change is visible');
press();
like(cached(), qr/mid1\*/, '... and the new version is still cached');
is($node->safe_psql('postgres', q{SELECT count(*) FROM emogi_graphs WHERE kept}), '1', '... as the only one that is kept');

# Half of the budget.
my $n = 1;
$n++ while $n < 6 && (sqlstate($node, "SELECT emogi_prewarm('mid" . ($n + 1) . "', keep => true)"))[0] eq '';
my ($state, $message) = sqlstate($node, "SELECT emogi_prewarm('mid" . ($n + 1) . "', keep => true)");
is($state, '53400', "after $n graphs no more can be kept");
like($message, qr/DETAIL:.* \d+ graphs of \d+ tables would be kept, \d+ bytes.*33554432 bytes.*HINT:.*keep => false.*64MB now/s, '... with figures and a hint');
cmp_ok($node->safe_psql('postgres', 'SELECT sum(bytes) FROM emogi_graphs WHERE kept'), '<=', 32 << 20, '... which is half of the budget');
is($node->safe_psql('postgres', q{SELECT kept FROM emogi_prewarm('mid} . ($n + 1) . q{')}), 'f', '... that graph is cached nevertheless, or built again');

# A graph that does not fit reports that others are kept.
($state, $message) = sqlstate($node, q{SELECT count(*) FROM emogi_bfs('big1', 1)});
is($state, '53200', 'a graph that would fit alone does not');
like($message, qr/DETAIL:.*Kept graphs use \d+ bytes\..*HINT:.*emogi_prewarm\(\.\.\., keep => false\)/s, '... because others are kept');
$node->safe_psql('postgres', 'SELECT emogi_evict()');
($state, $message) = sqlstate($node, q{SELECT count(*) FROM emogi_bfs('big1', 1)});
is($state, '', 'emogi_evict() has ended that');

# A version that has grown beyond half of the memory is no longer kept, and the log reports it.
$node->safe_psql('postgres', 'SELECT emogi_evict()');
is(prewarm("mid$_", 'keep => true'), 't', "mid$_ is kept") foreach 1 .. $n;
$node->safe_psql('postgres', 'INSERT INTO mid1 SELECT 1, i FROM generate_series(500000, 700000) i');
is(prewarm('mid1'), 'f', 'a version beyond the half is not kept');
is($node->safe_psql('postgres', q{SELECT count(*) FROM emogi_graphs WHERE kept AND source <> 'mid1'}), $n - 1, '... the others are');
like(slurp_file($node->logfile), qr/LOG:.*the graph of relation \d+ of database \d+ is no longer kept in the cache/, '... and the log reports it');
region_is_empty($node, 'an empty arena at the end');
$node->stop;
no_crash($node);

done_testing();
