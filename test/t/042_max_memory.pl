# emogi.max_memory beyond available memory: the server logs a warning at startup, and emogi_estimate
# respects what is available.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use EmogiTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = emogi_node('main', "emogi.max_memory = '64MB'");
my $warning = qr/WARNING:  emogi\.max_memory exceeds the memory available to the server\n.*DETAIL:  emogi\.max_memory is (\d+)MB; the machine, or the control group, has (\d+)MB\./;

unlike(slurp_file($node->logfile), $warning, 'with a small emogi.max_memory no warning');
is($node->safe_psql('postgres', q{SELECT allowed_bytes FROM emogi_estimate('small')}), 64 << 20, '... and emogi_estimate allows it');
my $default = $node->safe_psql('postgres', q{SELECT boot_val::bigint FROM pg_settings WHERE name = 'emogi.max_memory'});
$node->stop;

# Address space for four times as much must be available.
$node->adjust_conf('postgresql.conf', 'emogi.max_memory', "'2TB'");
SKIP:
{
	skip 'not enough address space for this limit', 5 unless $node->start(fail_ok => 1);
	my ($asked, $there) = slurp_file($node->logfile) =~ $warning;
	is($asked, 2 << 20, 'with a huge one a warning names it');
	my ($total) = slurp_file('/proc/meminfo') =~ /^MemTotal:\s+(\d+) kB/m;
	cmp_ok($there // 0, '<=', $total / 1024, '... and the available memory');
	is(int($there / 2), $default, '... of which the default is half');
	is($node->safe_psql('postgres', q{SELECT allowed_bytes >> 20 FROM emogi_estimate('small')}), $there, 'emogi_estimate allows the available memory');
	is($node->safe_psql('postgres', q{SELECT fits FROM emogi_estimate('SELECT i, i FROM generate_series(1, 1000000) i, generate_series(1, 1000000) k')}), 'f', '... and no more');
	answers_small($node, 'calls are answered');
	$node->stop;
}
no_crash($node);

done_testing();
