# Without a GPU, engine cuda is rejected with the reason, auto uses the CPU, and emogi_devices shows
# the reason.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use EmogiTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = emogi_node('main');

# The worker may still be detecting devices.
wait_until(20, sub { $node->safe_psql('postgres', q{SELECT count(*) FROM emogi_devices WHERE state = 'starting'}) eq '0' });
plan skip_all => 'there is a GPU'
  if $node->safe_psql('postgres', q{SELECT count(*) FROM emogi_devices WHERE device >= 0}) ne '0';

is($node->safe_psql('postgres', q{SELECT engine, state FROM emogi_devices WHERE device IS NULL}), 'cuda|absent', 'emogi_devices shows that there is no GPU');
my $reason = $node->safe_psql('postgres', 'SELECT reason FROM emogi_devices WHERE device IS NULL');
isnt($reason, '', "... and the reason: $reason");

foreach my $graph ('small', 'SELECT src, dst FROM small')
{
	my ($state, $message) = sqlstate($node, "SET emogi.engine = cuda; SELECT * FROM emogi_bfs('$graph', 1)");
	is($state, '55000', "engine = cuda is refused: $graph");
	like($message, qr/DETAIL:.*\Q$reason\E/, '... with the reason');
}
is((sqlstate($node, q{SET emogi.engine = cuda; SELECT * FROM emogi_bfs('nowhere', 1)}))[0], '42P01', 'other errors are reported first');
region_is_empty($node, 'the arena is empty after an error');

# Placements and mappings apply to GPUs only. The CPU ignores them, even those that a GPU would
# reject.
my @settings = split /\n/, $node->safe_psql('postgres',
	q{SELECT name || ' = ' || unnest(enumvals) FROM pg_settings WHERE name IN ('emogi.placement', 'emogi.papers_mapping') ORDER BY name DESC});
foreach my $setting (@settings)
{
	is($node->safe_psql('postgres', qq{SET emogi.placement = staged; SET emogi.papers_mapping = degree_cut; SET emogi.engine = auto; SET $setting; SET emogi.enable_local_search = off;
		SELECT string_agg(vertex || ':' || level, ' ') FROM emogi_bfs('small', 1)}), '1:0 2:1 3:2 4:1', "engine = auto computes on the CPU, $setting");
}
is($node->safe_psql('postgres', q{SELECT count(*), count(placement), count(mapping), bool_and(reason LIKE 'there is no GPU: %') FROM emogi_runs WHERE engine = 'cpu'}),
	scalar(@settings) . '|0|0|t', '... and emogi_runs shows no placement and no mapping, and the reason');
$node->append_conf('postgresql.conf', 'emogi.engine = cuda');
$node->restart;
is((sqlstate($node, q{SELECT * FROM emogi_bfs('small', 1)}))[0], '55000', 'engine = cuda for the server: it starts, calls are refused');
is($node->safe_psql('postgres', q{SET emogi.engine = cpu; SELECT count(*) FROM emogi_bfs('small', 1)}), '4', '... and a session can choose the CPU');
$node->stop;
no_crash($node);

done_testing();
