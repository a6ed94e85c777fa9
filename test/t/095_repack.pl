# REPACK (CONCURRENTLY) moves a table to another file during writes, whose changes it replays there
# in its own transaction: cached and live graphs return the same as a SELECT throughout, and
# afterwards. Older snapshots see the new file as empty, as in PostgreSQL, and their graphs are used
# by no others.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use EmogiTest;
use IPC::Run;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $rounds = $ENV{EMOGI_REPACK_ROUNDS} || 6;
my $last = q{SELECT cache FROM emogi_runs WHERE pid = pg_backend_pid() ORDER BY id DESC LIMIT 1};
my $node = emogi_node('main', "emogi.max_memory = '256MB'", 'emogi.incremental_min_size = 0', 'wal_level = replica', 'max_wal_senders = 4', 'max_replication_slots = 4');

plan(skip_all => 'REPACK came with PostgreSQL 19') if $node->safe_psql('postgres', q{SELECT current_setting('server_version_num')::int}) < 190000;

$node->safe_psql('postgres', q{CREATE TABLE edges (id int PRIMARY KEY, src int, dst int, weight int DEFAULT 1);
	INSERT INTO edges SELECT i, i % 200, i FROM generate_series(1, 20000) i});

# The edges on which a statement's SELECT and its call disagree: all lead from a vertex below 200.
my $differ = q{WITH found AS (SELECT vertex::int, paths::bigint FROM emogi_ssnsp('edges', 7) WHERE level = 1),
	wanted AS (SELECT dst, count(*) FROM edges WHERE src = 7 AND dst <> 7 GROUP BY dst)
	SELECT count(*) FROM ((TABLE found EXCEPT TABLE wanted) UNION ALL (TABLE wanted EXCEPT TABLE found)) d};
my $right = q{SELECT ok FROM emogi_check('edges', 'out', true)};

is($node->safe_psql('postgres', $differ), '0', 'a graph');
is($node->safe_psql('postgres', $right), 't', '... that is right');
$node->safe_psql('postgres', 'REPACK (CONCURRENTLY) edges');
is($node->safe_psql('postgres', "$differ; $right"), "0\nt", 'correct after REPACK (CONCURRENTLY)');
$node->safe_psql('postgres', 'UPDATE edges SET dst = dst + 1 WHERE id % 1000 = 7');
is($node->safe_psql('postgres', "$right; $last"), "t\nmerged", '... and tracked in the new file');
$node->safe_psql('postgres', 'DELETE FROM edges WHERE id % 3 = 0; REPACK edges');
is($node->safe_psql('postgres', $right), 't', '... and after REPACK');

# ---------------------------------------------------------------------------------------- older snapshots
foreach my $evicted (0, 1)
{
	my $old = $node->background_psql('postgres');
	my $expected = $node->safe_psql('postgres', 'SELECT count(DISTINCT dst) FROM edges WHERE src = 7');

	$old->query_safe('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM pg_am');
	is($node->safe_psql('postgres', $differ), '0', 'a graph whose rows an older snapshot would see in the old file');    # C8
	$node->safe_psql('postgres', 'REPACK (CONCURRENTLY) edges');
	$node->safe_psql('postgres', 'SELECT emogi_evict()') if $evicted;
	is($old->query_safe($differ), '0', 'an older snapshot: a call sees what a SELECT sees' . ($evicted ? ', without a graph' : ''));
	is($old->query_safe($differ), '0', '... again');
	is($node->safe_psql('postgres', q{SELECT count(*) FROM emogi_bfs('edges', 7) WHERE level = 1}), $expected, '... others see the rows');
	is($node->safe_psql('postgres', $right), 't', '... and their graph is right');
	$node->safe_psql('postgres', 'UPDATE edges SET weight = weight + 1, dst = dst + 1 WHERE id % 500 = 1');
	is($old->query_safe($differ), '0', '... a change: the older snapshot still agrees');
	is($node->safe_psql('postgres', $right), 't', '... and others');
	$old->query_safe('COMMIT');
	is($old->query_safe($differ), '0', '... its next statement, too');
	$old->quit;
}

# ------------------------------------------------------------------- statements concurrent with REPACK (S3, S4, S10)
my $level = q{SELECT count(*) FROM emogi_bfs($1, 7) WHERE level = 1};
my $wait = 'SELECT pg_advisory_lock(7), pg_advisory_unlock(7)';

sub locks_waited_for
{
	my ($mode, $count) = @_;

	return wait_until(60, sub { $node->safe_psql('postgres', "SELECT count(*) FROM pg_locks WHERE NOT granted AND mode = '$mode' AND relation = 'edges'::regclass") >= $count });
}

foreach my $graph ('edges', 'edges(src, dst) WHERE weight > 0', 'SELECT src, dst FROM edges')
{
	my ($holder, $repacker, @callers) = map { session($node) } 1 .. 5;
	my $expected = $node->safe_psql('postgres', 'SELECT count(DISTINCT dst) FROM edges WHERE src = 7 AND dst <> 7');

	# the plan is made once, without the graph's name: each execution takes a snapshot before a lock
	$_->ask("SET plan_cache_mode = force_generic_plan; PREPARE waits(text) AS $level;
		PREPARE late(text) AS WITH done AS MATERIALIZED ($wait) SELECT ($level) FROM done;
		PREPARE second(text) AS WITH first AS MATERIALIZED (SELECT count(*) AS n FROM emogi_bfs('small', 1)), done AS MATERIALIZED (SELECT n, pg_advisory_lock(7), pg_advisory_unlock(7) FROM first)
			SELECT ($level), n FROM done")
	  foreach @callers;
	is($_->ask("EXECUTE waits('$graph')"), $expected, "$graph: a call") foreach @callers;

	$holder->ask('BEGIN; LOCK TABLE edges IN ACCESS SHARE MODE');
	$repacker->tell('REPACK (CONCURRENTLY) edges');
	ok(locks_waited_for('AccessExclusiveLock', 1), '... REPACK waits for the end of a reader');
	$_->tell("EXECUTE waits('$graph')") foreach @callers;
	ok(locks_waited_for('AccessShareLock', 3), '... and calls wait for REPACK');
	$holder->ask('COMMIT');
	is($repacker->answer, '', '... REPACK is done');
	is($_->answer, $expected, '... a call that waited sees the new file') foreach @callers;

	$holder->ask('SELECT pg_advisory_lock(7)');
	$callers[0]->tell("EXECUTE late('$graph')");
	$callers[1]->tell("EXECUTE second('$graph')");
	ok(wait_until(60, sub { $node->safe_psql('postgres', q{SELECT count(*) FROM pg_locks WHERE NOT granted AND locktype = 'advisory'}) == 2 }), '... statements that have not reached the table');
	is($repacker->ask('REPACK (CONCURRENTLY) edges'), '', '... which is repacked');
	$holder->ask('SELECT pg_advisory_unlock(7)');
	is($callers[0]->answer, $expected, '... the first call of a statement sees the new file');
	like($callers[1]->answer, qr/ERROR:  40001/, '... after another call it cannot, and reports it');
	is($callers[1]->ask("EXECUTE second('$graph')"), "$expected|4", '... once');
	is($node->safe_psql('postgres', $right), 't', '... and the graph is right');
	$_->quit foreach $holder, $repacker, @callers;
}

# ------------------------------------------------------------------------------- a partition of a graph (L1, C9)
$node->safe_psql('postgres', q{CREATE TABLE parts (id int, src int, dst int, PRIMARY KEY (id)) PARTITION BY RANGE (id);
	CREATE TABLE parts_low PARTITION OF parts FOR VALUES FROM (MINVALUE) TO (5000);
	CREATE TABLE parts_high PARTITION OF parts FOR VALUES FROM (5000) TO (MAXVALUE);
	INSERT INTO parts SELECT i, i % 200, i FROM generate_series(1, 20000) i});
my $parts_right = q{SELECT ok FROM emogi_check('parts', 'out', true)};
my $rescanned = q{SELECT cache || ' ' || (pages_rescanned <= pg_relation_size('parts_low') / 8192 + 1) FROM emogi_runs WHERE pid = pg_backend_pid() ORDER BY id DESC LIMIT 1};

is($node->safe_psql('postgres', $parts_right), 't', 'a partitioned table');
$node->safe_psql('postgres', 'UPDATE parts SET dst = dst + 1 WHERE id = 7');
is($node->safe_psql('postgres', $parts_right), 't', '... that is tracked');
$node->safe_psql('postgres', 'REPACK (CONCURRENTLY) parts_low; UPDATE parts SET dst = dst + 1 WHERE id = 8');
is($node->safe_psql('postgres', "$parts_right; $rescanned"), "t\nmerged true", '... after REPACK of one partition, only its pages are read');

# ---------------------------------------------------------------------------------------- with a writer
my $dir = $node->basedir;
append_to_file("$dir/write.sql", q{\set k random(1, 1000000)
\set v random(0, 199)
INSERT INTO edges VALUES (100000 + :k, :v, :k % 30000) ON CONFLICT (id) DO UPDATE SET dst = edges.dst + 1;
UPDATE edges SET dst = dst + 1 WHERE id = :k % 20000;
DELETE FROM edges WHERE id = (:k * 7) % 20000;
UPDATE parts SET dst = dst + 1 WHERE id = :k % 20000;
});
append_to_file("$dir/repack.sql", "REPACK (CONCURRENTLY) edges;\nSELECT pg_sleep(0.3);\nREPACK (CONCURRENTLY) edges USING INDEX edges_pkey;\nSELECT pg_sleep(0.3);\nREPACK (CONCURRENTLY) parts_low;\n" x $rounds);
my ($out, $err) = ('', '');
my @env = ('-h', $node->host, '-p', $node->port);
my $writer = IPC::Run::start([ 'pgbench', @env, '-n', '-c', '2', '-t', 100000, '-R', 300, '-f', "$dir/write.sql", 'postgres' ], '>', \$out, '2>', \$err);
my ($repack_out, $repack_err) = ('', '');
my $repack = IPC::Run::start([ 'psql', '-X', '-v', 'ON_ERROR_STOP=1', @env, '-d', 'postgres', '-f', "$dir/repack.sql" ], '>', \$repack_out, '2>', \$repack_err);
my ($asked, $wrong, $caches) = (0, 0, '');

# a snapshot taken before the lock may be older than the file that is then read
while ($repack->pump_nb, $repack->pumpable)
{
	my @answers = split /\n/, $node->safe_psql('postgres', "$differ; $last; BEGIN ISOLATION LEVEL REPEATABLE READ; LOCK TABLE edges IN ACCESS SHARE MODE; SELECT least(count(*), 1) FROM edges; $differ; $differ; COMMIT; $right; $parts_right");

	$caches .= " $answers[1]";
	$asked++;
	next if join(' ', @answers[ 0, 2 .. 6 ]) eq '0 1 0 0 t t';
	$wrong++;
	diag("answers: @answers");
}
$repack->finish;
is($repack_err, '', "REPACK (CONCURRENTLY) $rounds times during writes");
cmp_ok($asked, '>', 0, "... $asked checks meanwhile");
is($wrong, 0, '... all answers were correct');
note("caches:$caches");
is($node->safe_psql('postgres', $right), 't', '... and then');
$writer->kill_kill;
is($node->safe_psql('postgres', "$right; $parts_right"), "t\nt", '... and after the writer');
is($node->safe_psql('postgres', $differ), '0', '... for a call, too');

region_is_empty($node, '... the arena is empty');
$node->stop;
no_crash($node);
done_testing();
