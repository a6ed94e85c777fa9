# In single-user mode there are no workers: a call reports it immediately, and the rest of the
# server works.
use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use EmogiTest;
use IPC::Run;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = emogi_node('main', q{emogi.max_memory = '128MB'});
my $postgres = $node->config_data('--bindir') . '/postgres';
$node->stop;

# Run commands, one per line, in single-user mode; returns the output.
sub single_user
{
	my (@commands) = @_;
	my $out = '';

	IPC::Run::run([ $postgres, '--single', '-D', $node->data_dir, 'postgres' ], '<', \join("\n", @commands, ''), '>&', \$out, IPC::Run::timeout(60))
	  or diag 'postgres --single failed';
	return $out;
}

my $out = single_user(q{SELECT * FROM emogi_bfs('small', 1)}, q{SELECT * FROM emogi_shortest_path('small'::regclass, 1, 3)}, q{SELECT count(*) AS devices FROM emogi_devices},
	q{SELECT emogi_evict()}, q{INSERT INTO small VALUES (4, 5)}, q{SELECT count(*) AS edges FROM small});
is(() = $out =~ /ERROR: .*emogi's functions cannot be called in single-user mode/g, 2, 'a call is refused');
like($out, qr/Start the server to call the functions/, 'the hint names the solution');
unlike($out, qr/max_worker_processes/, '... and no useless solution');
like($out, qr/edges = "4"/, 'the rest works');

$node->start;
is($node->safe_psql('postgres', q{SELECT string_agg(vertex || ':' || level, ' ') FROM emogi_bfs('small', 1)}), '1:0 2:1 3:2 4:1 5:2', 'and persists');
no_crash($node);
done_testing();
