# Without shared_preload_libraries (trial.c): the stress test of CacheStress.pm with writers that
# never load emogi, so that no callback of emogi sees their commits, VACUUMs, and DDL. Every answer
# must be that of the call's snapshot. Negative control: if the rings of recent writers are trusted
# as on a server that preloads emogi, an answer must be wrong. EMOGI_STRESS_SECONDS sets a longer
# duration.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use CacheStress;
use EmogiTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

$EmogiTest::preloads = 0;
plan(skip_all => 'emogi must be preloaded before PostgreSQL 17') if server_version() < 17;

my $seconds = $ENV{EMOGI_STRESS_SECONDS} // 40;
my $node = stress_node('emogi.notice_trial = off');
my ($checks) = stress($seconds);
my $writes = writes_done();

cmp_ok($checks, '>=', $seconds * 20, "enough checks: $checks");
cmp_ok($writes, '>', 0, "while $writes transactions wrote");
is($node->safe_psql('postgres', 'SELECT preloaded FROM emogi_stat_info'), 'f', '... without preloading');
is($node->safe_psql('postgres', 'SELECT hits + merges + overlays > builds FROM emogi_cache'), 't', 'more calls used a cached graph than built one');

# trusting the rings of recent writers
goes_wrong(30, 'trial_rule=0', 'with the rings of recent writers');
# trusting pages whose LSN has changed
goes_wrong(30, 'tracker_page_lsn=0', 'without the LSN of pages');
$node->stop;
no_crash($node);

done_testing();
