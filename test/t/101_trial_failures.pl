# Without preloading (trial.c), creating or mapping the shared state fails: the call reports it
# immediately, whether the engine or the session has failed, the log contains the reason, nothing is
# left behind, and the next call tries again.
#
# The limits of address space and of file sizes are those of the system, set for the postmaster,
# whose children inherit them, or for a session.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use EmogiTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(time);

$EmogiTest::preloads = 0;
plan(skip_all => 'emogi must be preloaded before PostgreSQL 17') if server_version() < 17;
plan(skip_all => 'prlimit is not installed') if system('prlimit --version >/dev/null 2>&1') != 0;

my $megabyte = 1024 * 1024;
my $node = emogi_node('main', "emogi.max_memory = '256MB'", 'emogi.notice_trial = off', 'fsync = off');
my $call = q{SELECT count(*) FROM emogi_bfs('small', 1)};

# Set the soft limit of a process, in bytes or "unlimited".
sub limit
{
	my ($pid, $what, $bytes) = @_;

	system('prlimit', '--pid', $pid, "--$what=$bytes:") == 0 or die "prlimit --$what=$bytes:";
}

# Check that the first calls fail immediately, that the log contains the reason, and that no process
# of emogi remains.
sub engine_fails
{
	my ($reason, $name) = @_;

	foreach my $round ('', ', again')
	{
		my $from = -s $node->logfile;
		my $start = time;
		my ($state, $message) = sqlstate($node, $call);
		my $took = time - $start;

		is($state, '53000', "$name$round");
		like($message, qr/the engine of emogi could not be started\n.*The server's log has the reason/s, '... says where the reason is');
		cmp_ok($took, '<', 8, '... and does not wait for an engine that has failed');
		like(slurp_file($node->logfile, $from), qr/$reason.*\n.*DETAIL: .*\n.*HINT:  Lower emogi\.max_memory/, '... which is in the log');
		ok(wait_until(10, sub { worker_pid($node) eq '0' }), '... and no engine remains');
	}
}

# ---- the engine

my $postmaster = postmaster_pid($node);
my $address_bytes = 1024 * status_of($postmaster, 'VmSize');

limit($postmaster, 'as', $address_bytes + 512 * $megabyte);    # four times 256 MB are reserved
engine_fails('could not map the shared memory of emogi', 'too little address space');
limit($postmaster, 'as', 'unlimited');
answers_small($node, '... the next call tries again');

$node->restart;
$postmaster = postmaster_pid($node);
limit($postmaster, 'fsize', 512 * $megabyte);
engine_fails('could not create the shared memory of emogi', 'the file exceeds the size limit');
limit($postmaster, 'fsize', 'unlimited');
answers_small($node, '... the next call tries again');

# ---- a session

my $session = session($node);
my $pid = $session->ask(q{LOAD 'emogi'; SELECT pg_backend_pid()});

limit($pid, 'as', 1024 * status_of($pid, 'VmSize') + 512 * $megabyte);
foreach my $round ('', ', again')
{
	my $said = $session->ask($call);

	like($said, qr/ERROR:  53200: could not map the shared memory of emogi/, "a session has no address space$round");
	like($said, qr/HINT:  Lower emogi\.max_memory/, '... with a hint');
}
answers_small($node, '... beside others');
limit($pid, 'as', 'unlimited');
is($session->ask($call), '4', '... its next call tries again');
$session->quit;

# ---- physical memory

# The state needs 152 bytes for each megabyte of emogi.max_memory, here slightly more than the
# permitted 16th of the memory.
my ($machine_kb) = slurp_file('/proc/meminfo') =~ /^MemTotal:\s+(\d+) kB/m;
my $max_memory_mb = int(1.1 * 1024 * $machine_kb / 16 / 152);

$node->adjust_conf('postgresql.conf', 'emogi.max_memory', "'${max_memory_mb}MB'");
$node->restart;
engine_fails('could not create the shared memory of emogi', 'the shared state would exceed its share of the memory');
$node->adjust_conf('postgresql.conf', 'emogi.max_memory', "'256MB'");
$node->reload;
answers_small($node, '... with another setting the next call tries again');

$node->stop;
no_crash($node);
done_testing();
