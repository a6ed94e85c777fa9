# The engine worker exits while the postmaster has signals blocked. PostgreSQL 15 and earlier then
# sleep for up to a minute without restarting it. A call that waits for the worker does not wait for
# that long.
#
# The test blocks the postmaster by its log: a full pipe, to which it must write that it has forked
# a backend.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use EmogiTest;
use Errno qw(EAGAIN);
use Fcntl;
use POSIX qw(mkfifo);
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(sleep time);

my $node = crash_node('main', 'log_min_messages = debug2', 'emogi.enable_local_search = off');
plan skip_all => 'PostgreSQL 16 and later do not block signals' if $node->pg_version >= 16;
make_checked($node, 'tree', 1000);
$node->stop;

# Start the node with a pipe as its log, which cat copies to a file.
my $log = $node->logfile;
rename $log, "$log.file" or die "could not rename $log: $!";
mkfifo($log, 0600) or die "could not make a pipe: $!";
my $cat_pid = '';
my $cat = IPC::Run::start([ 'sh', '-c', 'echo $$; exec cat "$0" >>"$1"', $log, "$log.file" ], '<', \'', '>', \$cat_pid);
$cat->pump until $cat_pid =~ s/\n//;
END { kill 'CONT', $cat_pid if $cat_pid }    # otherwise a server left by a failed test could not be stopped
$node->start;
my $postmaster = postmaster_pid($node);
my $session = session($node);
is($session->ask(q{SELECT verdict('tree')}), 't', 'an answer');
my $worker = worker_pid($node);

# Is SIGCHLD in a signal set of the postmaster: SigBlk (blocked), ShdPnd (pending)?
sub has_sigchld
{
	my ($set) = @_;

	return hex(status_of($postmaster, $set)) >> 16 & 1;
}

# Fill the pipe completely, without a reader.
kill 'STOP', $cat_pid;
ok(wait_until(10, sub { status_of($cat_pid, 'State') eq 'T' }), 'the log has no reader');
sysopen(my $pipe, $log, O_WRONLY | O_NONBLOCK) or die "could not open the pipe: $!";
foreach my $bytes (4096, 1)
{
	1 while syswrite($pipe, "\n" x $bytes);
	die "could not write into the pipe: $!" unless $!{EAGAIN};
}

my ($out, $err) = ('', '');
my $other = start_psql($node, \$out, \$err, 'SELECT pg_sleep(60)');
ok(wait_until(10, sub { has_sigchld('SigBlk') && do { sleep 0.2; has_sigchld('SigBlk') } }), 'the postmaster waits for its log');
kill 'TERM', $worker;
ok(wait_until(10, sub { status_of($worker, 'State') eq 'Z' && has_sigchld('ShdPnd') }), 'the worker exits meanwhile');
kill 'CONT', $cat_pid;
ok(wait_until(10, sub { status_of($worker, 'State') eq '' }), 'the postmaster notices it afterwards');

my $start = time;
is($session->ask(q{SELECT verdict('tree')}), 't', 'the next answer is correct');
note sprintf('it took %.2f s', time - $start);
unlike(worker_pid($node), qr/^(?:0|$worker)$/, '... from a new worker');

$session->quit;
$other->kill_kill;
$node->stop;
close $pipe;
$cat->finish;
unlink $log;
rename "$log.file", $log or die "could not rename $log.file: $!";
no_crash($node);

done_testing();
