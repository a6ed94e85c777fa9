# Concurrent writers, readers, builders and evictions (CacheStress.pm): every answer must be that of
# the call's snapshot. Negative control: with the registration rule disabled, a stale answer must
# occur. EMOGI_STRESS_SECONDS sets a longer duration (as test/cache_stress does).

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
my $control = 30;    # maximum seconds for the negative control
my $node = stress_node();

# Regular run: no stale answers.
my ($checks, $hits) = stress($seconds);
my $writes = writes_done();
cmp_ok($checks, '>=', $seconds * 500, "enough checks: $checks");
cmp_ok($hits, '>', 0.8 * $checks, sprintf('more than 80 %% of them are hits: %.1f %%', 100 * $hits / ($checks || 1)));
cmp_ok($writes, '>', 0, "while $writes transactions wrote");

# Too little memory: graphs evict others, and calls that find no memory fail; still no stale
# answers.
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
cmp_ok($evictions, '>', 0, "$evictions graphs were evicted for others");
$node->adjust_conf('postgresql.conf', 'emogi.max_memory', "'1GB'");
$node->restart;

# Negative control: without the registration rule.
goes_wrong($control, 'registration_rule=0', 'without the registration rule');
$node->stop;
no_crash($node);

done_testing();
