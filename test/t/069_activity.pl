# pg_stat_activity shows the engine worker and its current work. The worker does not block others:
# it is connected to no database, DROP DATABASE during a run does not wait, and canceling the worker
# instead of a session has no effect. After termination it is restarted.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use EmogiTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(time);

my $node = emogi_node('main', "emogi.max_memory = '256MB'", 'emogi.engine = cpu', "emogi.prewarm = 'postgres: small'");
my $worker = q{FROM pg_stat_activity WHERE backend_type = 'emogi engine'};
my $endless = q{emogi_pagerank('small', max_iterations => 2000000000, tolerance => 0)};

sub ask
{
	return $node->safe_psql('postgres', $_[0]);
}

my $shown = "SELECT state, application_name, datname IS NULL, query $worker";
ok(wait_until(10, sub { ask($shown) eq 'idle|emogi engine|t|waits for calls' }), 'the worker is idle') or diag ask($shown);
is(ask("SELECT pid = (SELECT pid FROM emogi_devices WHERE device = -1) $worker"), 't', '... is that of emogi_devices');
is(ask("SELECT wait_event_type $worker"), 'Extension', '... and waits');
answers_small($node, 'a call');

my ($out, $err) = ('', '');
my $psql = start_psql($node, \$out, \$err, "SELECT count(*) FROM $endless");
my $running = q{SELECT pid FROM emogi_progress WHERE state = 'running'};
ok(wait_until(10, sub { ask($running) ne '' }), 'a run is in progress');
my $pid = ask($running);
ok(wait_until(10, sub { ask("SELECT state, query $worker") eq "active|emogi_pagerank for process $pid: run" }), '... and the worker shows it')
  or diag ask("SELECT state, query $worker");
my ($out2, $err2) = ('', '');
my $second = start_psql($node, \$out2, \$err2, "SELECT count(*) FROM $endless");
ok(wait_until(10, sub { ask("SELECT count(*) FROM emogi_progress WHERE state = 'running'") eq '2' }), 'two runs are in progress');
ok(wait_until(10, sub { ask("SELECT query $worker") =~ /^emogi_pagerank for process \d+: run; emogi_pagerank for process \d+: run$/ }),
  '... and the worker shows both')
  or diag ask("SELECT query $worker");
is(ask(q{CREATE ROLE one; SET ROLE one; SELECT query FROM pg_stat_activity WHERE pid = (SELECT pid FROM emogi_devices WHERE device = -1)}), '<insufficient privilege>', '... but not to everybody');

# it does not block others
my $start = time;
ask('CREATE DATABASE passing');
ask('DROP DATABASE passing');
cmp_ok(time - $start, '<', 20, 'a database is created and dropped meanwhile');
ask("SELECT pg_cancel_backend(pid) $worker");
sleep 1;
is(ask("SELECT count(*) FROM emogi_progress WHERE state = 'running'"), '2', 'canceling the worker has no effect');
ask("SELECT pg_cancel_backend(pid) FROM emogi_progress");
$_->finish for $psql, $second;
is($err . $err2, "ERROR:  57014\nERROR:  57014\n", '... but canceling the sessions does');
ok(wait_until(10, sub { ask("SELECT state $worker") eq 'idle' }), '... and then the worker is idle');

my $before = worker_pid($node);
ask("SELECT pg_terminate_backend(pid) $worker");
ok(wait_until(20, sub { my $next = worker_pid($node); $next && $next != $before }), 'a terminated worker is restarted');
answers_small($node, '... and answers');

# the worker never reads sinval messages, which must not delay others
ask(q{DO $$ BEGIN FOR i IN 1 .. 3000 LOOP EXECUTE 'CREATE TEMP TABLE t' || i || '(i int)'; EXECUTE 'DROP TABLE t' || i; END LOOP; END $$});
answers_small($node, 'a call after many changes of the catalogs');
is(ask("SELECT count(*) $worker"), '1', '... with the same worker');

region_is_empty($node, 'nothing is left in shared memory');
no_crash($node);
done_testing();
