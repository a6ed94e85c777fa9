# A table's file is replaced by one whose pages are all-visible from the start (COPY FREEZE), so
# that neither the visibility map nor, with wal_level = minimal, its LSN distinguish the new file
# from the old one; only the file number does (L1).

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use EmogiTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $right = q{SELECT ok FROM emogi_check('edges', 'out', true)};
my $last = q{SELECT cache FROM emogi_runs WHERE pid = pg_backend_pid() ORDER BY id DESC LIMIT 1};

# Write a file for COPY: 20,000 edges, whose targets start after an offset.
sub write_edges
{
	my ($path, $offset) = @_;

	append_to_file($path, join('', map { sprintf "%d\t%d\t1\n", $_ % 200, $offset + $_ } 1 .. 20000));
}

# Replace the file of a tracked, all-visible table by several methods.
sub test_level
{
	my ($level, @conf) = @_;
	my $node = emogi_node($level, "emogi.max_memory = '256MB'", 'emogi.incremental_min_size = 0', "wal_level = $level", @conf);
	my $dir = $node->basedir;
	my $offset = 200;
	my $fill = sub {
		my ($before) = @_;

		$offset += 50000;
		write_edges("$dir/$offset", $offset);
		$node->safe_psql('postgres', "BEGIN; $before; COPY edges FROM '$dir/$offset' (FREEZE); COMMIT");
	};

	$fill->('CREATE TABLE edges (src int, dst int, weight int)');
	is($node->safe_psql('postgres', $right), 't', "$level: a frozen table");
	foreach my $before ('TRUNCATE edges', 'TRUNCATE edges', 'DROP TABLE edges; CREATE TABLE edges (src int, dst int, weight int)')
	{
		$fill->($before);
		is($node->safe_psql('postgres', $right), 't', "... after $before, and COPY FREEZE");
		is($node->safe_psql('postgres', q{SELECT min(vertex) FROM emogi_bfs('edges', 1) WHERE level = 1}), $offset + 1, '... for a call, too');
		$node->safe_psql('postgres', 'UPDATE edges SET weight = 2 WHERE dst % 1000 = 0');
		is($node->safe_psql('postgres', "$right; $last"), "t\nmerged", '... and changes are tracked');
		$node->safe_psql('postgres', 'VACUUM (FREEZE) edges');
		is($node->safe_psql('postgres', $right), 't', '... and after VACUUM');
	}
	foreach my $command ('VACUUM FULL edges', 'ALTER TABLE edges SET UNLOGGED', 'ALTER TABLE edges SET LOGGED', ('REPACK edges') x (server_version() >= 19))
	{
		$node->safe_psql('postgres', $command);
		is($node->safe_psql('postgres', $right), 't', "... after $command");
	}
	$node->stop;
	no_crash($node);
}

test_level('minimal', 'max_wal_senders = 0', 'wal_skip_threshold = 0');
test_level('replica');
done_testing();
