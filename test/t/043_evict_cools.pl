# Free memory kept for the next call is returned to the system when the table's owner evicts a graph
# manually.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use EmogiTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = emogi_node('main', "emogi.max_memory = '512MB'");
$node->safe_psql('postgres', q{
	CREATE ROLE owner;
	GRANT CREATE ON SCHEMA public TO owner;
	SET ROLE owner;
	CREATE TABLE edges AS SELECT i / 2 AS src, i AS dst FROM generate_series(2, 300000) i});

# The bytes of the arena allocated by the system: those of the file behind it, which the postmaster
# has open.
sub taken
{
	my $pid = postmaster_pid($node);
	my ($file) = grep { (readlink($_) // '') =~ m{^/memfd:emogi} } glob "/proc/$pid/fd/*";

	return $file ? (stat $file)[12] * 512 : -1;
}

is(taken(), 0, 'nothing is allocated at the start');
foreach my $argument (q{'edges'}, '')
{
	is($node->safe_psql('postgres', q{SELECT count(*) FROM emogi_bfs('edges', 1)}), '300000', 'a call');
	cmp_ok(taken(), '>', 4 << 20, '... takes memory');
	cmp_ok($node->safe_psql('postgres', "SET ROLE owner; SELECT emogi_evict($argument)"), '>', 0, "emogi_evict($argument) by the owner of the table");
	is(taken(), 0, '... returns all of it');
}
$node->stop;
no_crash($node);

done_testing();
