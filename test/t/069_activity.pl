# pg_stat_activity shows the engine worker, and what it has in hand. It is in nobody's way: it is connected to no database, DROP DATABASE beside
# a run does not wait, and who cancels it instead of a session cancels nothing. Who ends it has it come again.

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
ok(wait_until(10, sub { ask($shown) eq 'idle|emogi engine|t|waits for calls' }), 'the worker, with nothing to do') or diag ask($shown);
is(ask("SELECT pid = (SELECT pid FROM emogi_devices WHERE device = -1) $worker"), 't', '... is that of emogi_devices');
is(ask("SELECT wait_event_type $worker"), 'Extension', '... and waits');
answers_small($node, 'a call');

my ($out, $err) = ('', '');
my $psql = start_psql($node, \$out, \$err, "SELECT count(*) FROM $endless");
my $running = q{SELECT pid FROM emogi_progress WHERE state = 'running'};
ok(wait_until(10, sub { ask($running) ne '' }), 'a run goes on');
my $pid = ask($running);
ok(wait_until(10, sub { ask("SELECT state, query $worker") eq "active|emogi_pagerank for process $pid: run" }), '... and the worker says so')
  or diag ask("SELECT state, query $worker");
my ($out2, $err2) = ('', '');
my $second = start_psql($node, \$out2, \$err2, "SELECT count(*) FROM $endless");
ok(wait_until(10, sub { ask("SELECT count(*) FROM emogi_progress WHERE state = 'running'") eq '2' }), 'two runs go on');
ok(wait_until(10, sub { ask("SELECT query $worker") =~ /^emogi_pagerank for process \d+: run; emogi_pagerank for process \d+: run$/ }),
  '... and the worker names both')
  or diag ask("SELECT query $worker");
is(ask(q{CREATE ROLE one; SET ROLE one; SELECT query FROM pg_stat_activity WHERE pid = (SELECT pid FROM emogi_devices WHERE device = -1)}), '<insufficient privilege>', '... but not to everybody');

# in nobody's way
my $start = time;
ask('CREATE DATABASE passing');
ask('DROP DATABASE passing');
cmp_ok(time - $start, '<', 20, 'a database comes and goes beside them');
ask("SELECT pg_cancel_backend(pid) $worker");
sleep 1;
is(ask("SELECT count(*) FROM emogi_progress WHERE state = 'running'"), '2', 'who cancels the worker cancels nothing');
ask("SELECT pg_cancel_backend(pid) FROM emogi_progress");
$_->finish for $psql, $second;
is($err . $err2, "ERROR:  57014\nERROR:  57014\n", '... but who cancels the sessions');
ok(wait_until(10, sub { ask("SELECT state $worker") eq 'idle' }), '... and then the worker has nothing to do');

my $before = worker_pid($node);
ask("SELECT pg_terminate_backend(pid) $worker");
ok(wait_until(20, sub { my $next = worker_pid($node); $next && $next != $before }), 'a worker that is ended comes again');
answers_small($node, '... and answers');

# sinval messages are never read by it: others do not wait for that
ask(q{DO $$ BEGIN FOR i IN 1 .. 3000 LOOP EXECUTE 'CREATE TEMP TABLE t' || i || '(i int)'; EXECUTE 'DROP TABLE t' || i; END LOOP; END $$});
answers_small($node, 'a call after many changes of the catalogs');
is(ask("SELECT count(*) $worker"), '1', '... with the same worker');

region_is_empty($node, 'nothing is left in shared memory');
no_crash($node);
done_testing();
