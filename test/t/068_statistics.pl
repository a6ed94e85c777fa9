# emogi_stat_graphs with many concurrent sessions: no call is lost, however many end at the same
# time, and rows are evicted only if there are more than emogi.stat_max. It survives a restart, not
# a crash. emogi_runs keeps emogi.runs_max calls.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use EmogiTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = crash_node('main', "emogi.max_memory = '256MB'", 'emogi.engine = cpu', 'emogi.stat_max = 100', 'emogi.runs_max = 20');
my $statistics = $node->data_dir . '/pg_stat/emogi.stat';

sub ask
{
	return $node->safe_psql('postgres', $_[0]);
}

# Run pgbench scripts concurrently, each a number of times per client.
sub bench
{
	my ($clients, $times, @scripts) = @_;
	my $n = 0;
	my @files = map { my $file = $node->basedir . '/script' . ++$n; append_to_file($file, $_); $file } @scripts;

	$node->command_ok([ 'pgbench', '-n', '-D', 'i=0', '-c', $clients, '-j', 2, '-t', $times, (map { ('-f', $_) } @files), 'postgres' ], "$clients clients, $times calls each");
	unlink @files;
}

# ---- no call is lost

ask(q{
	CREATE ROLE one LOGIN;
	GRANT SELECT ON small TO one;
	CREATE TABLE other AS SELECT * FROM small;
	SELECT emogi_bfs('small', 1), emogi_bfs('other', 1);
	SELECT emogi_stat_reset()});
bench(8, 3000, q{SELECT count(*) FROM emogi_bfs('small', 1)}, q{SELECT count(*) FROM emogi_bfs('other', 2)});
is(ask(q{SELECT sum(calls), sum(rows) = sum(CASE source WHEN 'small' THEN calls * 4 ELSE calls * 2 END), sum(hits), sum(errors), count(*) FROM emogi_stat_graphs}),
	'24000|t|24000|0|2', 'all calls of all sessions are counted');

# rows are created, calls fail and the view is read, concurrently with others
ask(q{SELECT emogi_stat_reset()});
my $mix = q{\set n random(1, 40)
DO $$ BEGIN PERFORM emogi_bfs('SELECT 1, 2 WHERE ' || repeat('true AND ', :n) || '1 / 0 = 1', 1); EXCEPTION WHEN division_by_zero THEN NULL; END $$;
SELECT count(*) FROM emogi_stat_graphs;
};
bench(6, 200, $mix);
is(ask(q{SELECT sum(calls), sum(errors), count(*) BETWEEN 30 AND 40 FROM emogi_stat_graphs}), '1200|1200|t', 'so are failed calls, in new rows');

# sessions that concurrently need the same new row create one
foreach my $round (1 .. 5)
{
	ask(q{SELECT emogi_stat_reset()});
	bench(8, 80, qq{\\set i :i + 1\nSELECT count(*) FROM emogi_bfs('SELECT 1, 2 AS round${round}_:i', 1);\n});
	is(ask(q{SELECT count(*), count(DISTINCT query_id), sum(calls), max(calls) FROM emogi_stat_graphs}), '80|80|640|8', '... one row for all');
}

# ---- the least used rows are evicted

ask(q{SELECT emogi_stat_reset()});
ask(q{SELECT count(*) FROM emogi_bfs('small', 1), generate_series(1, 5); SELECT emogi_bfs('small', i) FROM generate_series(1, 5) i});
ask(q{DO $$ BEGIN FOR i IN 1 .. 300 LOOP PERFORM emogi_bfs(format('SELECT 1, 2 AS c%s', i), 1); END LOOP; END $$});
is(ask(q{SELECT entries <= 100, max_entries, dealloc > 200, entries - 1 + dealloc FROM emogi_stat_info}), 't|100|t|301', 'more rows than allowed: the least used are evicted, and counted');
is(ask(q{SELECT sum(calls) FROM emogi_stat_graphs}), '306', '... no call is lost');
is(ask(q{SELECT database, username, relation, query_id, source, function, calls = (SELECT dealloc FROM emogi_stat_info), rows = 2 * calls, min_ms <= mean_ms, mean_ms <= max_ms, stats_reset < last_call
	FROM emogi_stat_graphs WHERE username IS NULL}), 'postgres||0|||emogi_bfs|t|t|t|t|t', '... they are counted in a row of the function');
is(ask(q{SET ROLE one; SELECT count(*) FROM emogi_stat_graphs}), '0', '... which is not visible to everybody');
is(ask(q{SELECT calls FROM emogi_stat_graphs WHERE source = 'small'}), '6', '... but not those that are used');
is(ask(q{SELECT count(*) FROM emogi_stat_graphs WHERE source = 'SELECT ?, ? AS c300'}), '1', '... nor the latest');

# ---- a restart, a crash

my $rows = q{SELECT md5(string_agg(s::text, ',' ORDER BY s::text)), count(*) FROM emogi_stat_graphs s};
my $info = q{SELECT * FROM emogi_stat_info};
my ($before, $known) = (ask($rows), ask($info));
$node->restart;
is(ask($rows), $before, 'a restart keeps all of it');
is(ask($info), $known, '... and the totals');
ok(!-e $statistics, '... in a file that is removed after reading');

$node->stop;
ok(-s $statistics, 'the file of a stopped server');
$node->adjust_conf('postgresql.conf', 'emogi.stat_max', '200');
$node->start;
is(ask($rows), $before, 'a larger emogi.stat_max');
ask(q{DO $$ BEGIN FOR i IN 301 .. 390 LOOP PERFORM emogi_bfs(format('SELECT 1, 2 AS c%s', i), 1); END LOOP; END $$});
$node->stop;
$node->adjust_conf('postgresql.conf', 'emogi.stat_max', '100');
$node->start;
is(ask(q{SELECT count(*), sum(calls) FROM emogi_stat_graphs}), '100|396', 'a smaller emogi.stat_max: no call is lost');
is(ask(q{SELECT entries - 1 + dealloc FROM emogi_stat_info}), '391', '... and evicted rows are counted');
is(ask(q{SELECT calls FROM emogi_stat_graphs WHERE source = 'small'}), '6', '... and the most used rows are kept');
$node->stop;
open(my $file, '+<', $statistics) or die "$statistics: $!";
seek($file, 600, 0);
print $file 'x';
close $file;
$node->start;
is(ask(q{SELECT count(*) FROM emogi_stat_graphs}), '0', 'a damaged file is ignored');
like(slurp_file($node->logfile), qr/ignoring incomplete or incompatible statistics of emogi in file "pg_stat\/emogi\.stat"/, '... and the log reports it');

answers_small($node, 'a call');
is(ask(q{SELECT sum(calls) FROM emogi_stat_graphs}), '1', '... is counted');
kill 'KILL', $node->safe_psql('postgres', 'SELECT pid FROM emogi_devices WHERE device = -1') or die;
wait_for_restart($node, 'a crash');
is(ask(q{SELECT count(*) FROM emogi_stat_graphs}), '0', 'after a crash counting starts from zero');
answers_small($node, 'a call after the crash');
is(ask(q{SELECT sum(calls) FROM emogi_stat_graphs}), '1', '... is counted');

# ---- emogi_runs

ask(q{SELECT emogi_reset()});
ask(q{DO $$ BEGIN FOR i IN 1 .. 50 LOOP PERFORM emogi_bfs('small', i); END LOOP; END $$});
is(ask(q{SELECT count(*), max(id) - min(id) FROM emogi_runs}), '20|19', 'emogi_runs keeps as many calls as configured');
$node->adjust_conf('postgresql.conf', 'emogi.runs_max', '1000');
$node->restart;
ask(q{DO $$ BEGIN FOR i IN 1 .. 1300 LOOP PERFORM emogi_bfs('small', i); END LOOP; END $$});
is(ask(q{SELECT count(*), count(DISTINCT id), max(id) - min(id), min(id) FROM emogi_runs}), '1000|1000|999|301', '... also more than are copied at a time');

region_is_empty($node, 'nothing is left in shared memory');
done_testing();
