# Tables are registered while writers continue: commits and calls do not wait for a call that
# queries the lock manager about its tables, the next call sees writers that start meanwhile, and a
# call canceled or terminated there leaves no reference to the tables.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use EmogiTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = crash_node('main', 'emogi.engine = cpu', 'emogi.enable_incremental = off', 'emogi.enable_local_search = off', 'autovacuum = off');
$node->safe_psql('postgres', q{
	CREATE TABLE other AS SELECT i AS src, i + 1 AS dst FROM generate_series(1, 10) i;
	CREATE TABLE parts (src int, dst int) PARTITION BY LIST (src);
	CREATE TABLE part1 PARTITION OF parts FOR VALUES IN (1);
	CREATE TABLE part2 PARTITION OF parts FOR VALUES IN (2);
	CREATE TABLE part3 PARTITION OF parts FOR VALUES IN (3);
	INSERT INTO parts VALUES (1, 2), (2, 3), (3, 4);
	SELECT count(*) FROM emogi_bfs('other', 1)});

sub tables { return $node->safe_psql('postgres', 'SELECT tables FROM emogi_cache') }

# Is the session in a registration?
sub is_registering
{
	my ($pid) = @_;
	return $node->safe_psql('postgres', "SELECT count(*) FROM pg_stat_activity WHERE pid = $pid AND state = 'active' AND wait_event = 'PgSleep'") eq '1';
}

my $call = q{SELECT count(*) FROM emogi_bfs('parts', 1)};
my $before = tables();

# A transaction that is running when the tables are registered, and has not changed them.
my $running = session($node);
$running->ask('BEGIN; SELECT pg_current_xact_id()');

foreach my $how (qw(cancel terminate))
{
	my $session = session($node);
	my $pid = $session->ask('SELECT pg_backend_pid()');

	$session->ask(q{SET emogi.fault = 'registering=3000000'});
	$session->tell($call);
	ok(wait_until(20, sub { is_registering($pid) }), "$how: a call registers its tables");
	is(tables(), $before + 3, '... which are tracked');
	is($node->safe_psql('postgres', q{INSERT INTO other VALUES (11, 12), (12, 13); SELECT count(*) FROM emogi_bfs('other', 1)}) > 11 ? 'done' : 'wrong', 'done', '... a transaction commits, and another call is answered');
	ok(is_registering($pid), '... meanwhile');
	$node->safe_psql('postgres', "SELECT pg_${how}_backend($pid)");
	like(eval { $session->answer } // 'the session is gone', $how eq 'cancel' ? qr/57014/ : qr/57P01|gone/, "$how: the call ends");
	eval { $session->quit };
	ok(wait_until(20, sub { $node->safe_psql('postgres', "SELECT count(*) FROM pg_stat_activity WHERE pid = $pid") eq '0' }), '... and its session');
	$node->safe_psql('postgres', 'BEGIN; CREATE TABLE copy AS TABLE parts; DROP TABLE parts; CREATE TABLE parts (src int, dst int) PARTITION BY LIST (src);
		CREATE TABLE part1 PARTITION OF parts FOR VALUES IN (1); CREATE TABLE part2 PARTITION OF parts FOR VALUES IN (2); CREATE TABLE part3 PARTITION OF parts FOR VALUES IN (3);
		INSERT INTO parts TABLE copy; DROP TABLE copy; COMMIT');
	is(tables(), $before, '... and no table that was dropped is tracked');
}

# Writers that start while a call registers: before the lock manager was queried, and after.
my $session = session($node);
my $pid = $session->ask('SELECT pg_backend_pid()');
my $writer = session($node);
$writer->ask('BEGIN; INSERT INTO parts VALUES (3, 5)');
$session->ask(q{SET emogi.fault = 'registering=2000000'});
$session->tell($call);
ok(wait_until(20, sub { is_registering($pid) }), 'a call registers its tables during a write');
$writer->ask('COMMIT');
$node->safe_psql('postgres', 'INSERT INTO parts VALUES (2, 6)');
is($session->answer, '4', '... and does not see later commits');
$session->ask('RESET emogi.fault');
foreach my $i (1 .. 3)
{
	is($session->ask($call), '6', "the next calls see it: $i");
}
is($session->ask('SELECT cache FROM emogi_runs WHERE pid = pg_backend_pid() ORDER BY id DESC LIMIT 1'), 'hit', '... and the graph is cached');
$running->ask('INSERT INTO parts VALUES (1, 7)');
is($session->ask($call), '6', 'uncommitted changes of the other are invisible');
$running->ask('COMMIT');
is($session->ask($call), '7', '... and visible after the commit');
$_->quit foreach $session, $writer, $running;
$node->safe_psql('postgres', 'DROP TABLE parts');
is(tables(), $before, 'a dropped table that was registered with others is no longer tracked');

nothing_left($node, 'at the end');
$node->stop;
no_crash($node);
done_testing();
