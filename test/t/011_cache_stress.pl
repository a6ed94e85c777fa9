# Writers, readers, builders and evictions at once (CacheStress.pm): no call may answer anything but what its own snapshot sees. With the
# rule of registration switched off it must go wrong, or this test could not see it. EMOGI_STRESS_SECONDS makes it longer
# (test/cache_stress does so).

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use CacheStress;
use EmogiTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $seconds = $ENV{EMOGI_STRESS_SECONDS} // 40;
my $control = 30;    # seconds at most for the negative control
my $node = stress_node();

# As it should be: nothing is stale.
my ($checks, $hits) = stress($seconds);
my $writes = writes_done();
cmp_ok($checks, '>=', $seconds * 500, "enough checks: $checks");
cmp_ok($hits, '>', 0.8 * $checks, sprintf('more than 80 %% of them are hits: %.1f %%', 100 * $hits / ($checks || 1)));
cmp_ok($writes, '>', 0, "while $writes transactions wrote");

# Short of memory: graphs make room for others, and calls that find none fail; still nothing is stale.
$node->adjust_conf('postgresql.conf', 'emogi.max_memory', "'24MB'");
$node->restart;
$node->safe_psql('postgres', join ';', map { qq{
	ALTER FUNCTION $_() RENAME TO ${_}_strictly;
	CREATE FUNCTION $_() RETURNS void LANGUAGE plpgsql AS \$\$
	BEGIN
		PERFORM ${_}_strictly();
	EXCEPTION WHEN out_of_memory THEN NULL;
	END \$\$} } qw(chk chk_both chk_weights chk_parts));
my $evictions;
(undef, undef, undef, undef, undef, $evictions) = stress($seconds < 40 ? $seconds : $seconds / 4);
cmp_ok($evictions, '>', 0, "$evictions graphs made room for others");
$node->adjust_conf('postgresql.conf', 'emogi.max_memory', "'1GB'");
$node->restart;

# Without the rule of registration it goes wrong.
goes_wrong($control, 'registration_rule=0', 'without the rule of registration');
$node->stop;
no_crash($node);

done_testing();
