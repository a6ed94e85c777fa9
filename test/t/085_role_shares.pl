# A role without privileges uses as much as it can of shared resources: engine threads, memory and
# entries of the cache, entries of tracked tables. Calls of others are answered, their graphs stay,
# the server does not crash, and everything is released.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use EmogiTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = crash_node('main', "emogi.max_memory = '96MB'", 'emogi.engine = cpu', 'emogi.cpu_threads = 2');
my $worker = worker_pid($node);
$node->safe_psql('postgres', q{
	CREATE ROLE mallory LOGIN;
	CREATE ROLE app LOGIN;
	CREATE SCHEMA own AUTHORIZATION mallory;
	CREATE TABLE tree AS SELECT i / 2 AS src, i AS dst FROM generate_series(2, 100001) i;
	ALTER TABLE tree OWNER TO app;
	CREATE TABLE little AS SELECT 1 AS src, 2 AS dst;
	ALTER TABLE little OWNER TO app;
	SET ROLE mallory;
	CREATE TABLE own.star AS SELECT i AS src, 0 AS dst FROM generate_series(1, 200000) i;
	DO $$ BEGIN EXECUTE 'CREATE TABLE own.wide AS SELECT '
		|| (SELECT string_agg(format('i + %s AS c%s', k, k), ', ') FROM generate_series(0, 399) k) || ' FROM generate_series(1, 5) i'; END $$});

my $app = session($node);
$app->ask(q{SET ROLE app; SET statement_timeout = '60s'});

# The call of another role, and the source of its graph.
sub app_calls
{
	return join ' ', split /\n/, $app->ask(q{SELECT count(*) FROM emogi_bfs('tree', 1);
		SELECT cache FROM emogi_runs WHERE pid = pg_backend_pid() ORDER BY id DESC LIMIT 1});
}

# Get the number of calls of a role that the engine runs.
sub running
{
	return $node->safe_psql('postgres', q{SELECT count(*) FROM emogi_progress WHERE username = 'mallory' AND state = 'running' AND phase = 'run'});
}

# Start the same call in a number of sessions of the role, and wait until some run and all others
# are queued.
sub attack_engine
{
	my ($n, $runs, $sql, $name) = @_;
	my @sessions = map { session($node) } 1 .. $n;

	foreach my $session (@sessions)
	{
		$session->ask('SET ROLE mallory');
		$session->tell($sql);
	}
	my $shown;
	ok(wait_until(60, sub {
			$shown = $node->safe_psql('postgres', q{SELECT string_agg(s, ' ' ORDER BY s) FROM (SELECT count(*) || ' ' || state AS s FROM emogi_progress WHERE username = 'mallory' GROUP BY state) x});
			return $shown eq ($n - $runs) . " queued $runs running";
		}), "$name: $runs of $n run, the others are queued") or diag $shown;
	return @sessions;
}

# Cancel the role's calls, and check that the sessions end.
sub end_attack
{
	my ($name, @sessions) = @_;

	$node->safe_psql('postgres', q{SELECT pg_cancel_backend(pid) FROM emogi_progress WHERE username = 'mallory'});
	like($_->answer, qr/57014/, "$name: is canceled") foreach @sessions;
	$_->quit foreach @sessions;
	ok(wait_until(10, sub { $node->safe_psql('postgres', 'SELECT count(*) FROM emogi_progress') eq '0' }), "$name: nothing is left in progress");
}

is(app_calls(), '100001 built', 'another role alone');

# Engine threads. Similarity considers all pairs of neighbours of a vertex: on a star that takes
# hours, although the number of edges suggests a short run.
my @sessions = attack_engine(8, 4, q{SELECT count(*) FROM emogi_similarity('own.star', top_k => 1)}, 'runs estimated to be short');
is($app->ask(q{SELECT count(*) FROM emogi_bfs('SELECT src, dst + 0 FROM tree', 1)}), '100001', '... and a graph of another role is built and searched');
is($app->ask(q{SELECT count(*) FROM emogi_pagerank('tree', max_iterations => 100000)}), '100001', '... and a run estimated to be long is run');
end_attack('runs estimated to be short', @sessions);
@sessions = attack_engine(4, 2, q{SELECT count(*) FROM emogi_pagerank('own.star', max_iterations => 100000000, tolerance => 0)}, 'long runs');
is($app->ask(q{SELECT count(*) FROM emogi_pagerank('tree', max_iterations => 100001)}), '100001', '... and a long run of another role is answered');
end_attack('long runs', @sessions);
is(app_calls(), '100001 hit', 'its graph is still cached');

# Memory of the cache: more graphs than fit, none of them in use.
my $mallory = session($node);
$mallory->ask('SET ROLE mallory');
is($mallory->ask(q{DO $$ BEGIN FOR k IN 1 .. 40 LOOP PERFORM count(*) FROM emogi_cc(format('SELECT i / 2, i + %s FROM generate_series(2, 400000) i', k)); END LOOP; END $$}),
	'', 'forty graphs of a role');
cmp_ok($node->safe_psql('postgres', q{SELECT count(*) FROM emogi_graphs WHERE source LIKE '%400000%'}), '<=', 5, '... of which few stay, because their constants differ');
is(app_calls(), '100001 hit', '... and that of another role stays');
is($mallory->ask(q{DO $$ BEGIN FOR k IN 1 .. 120 LOOP PERFORM count(*) FROM emogi_cc(format('SELECT i / 2 AS a%s, i AS b FROM generate_series(2, 50000) i', k)); END LOOP; END $$}),
	'', 'small graphs of queries that differ in more than constants');
cmp_ok($node->safe_psql('postgres', q{SELECT count(*) FROM emogi_graphs WHERE source LIKE '% 50000)%'}), '>', 5, '... of which more stay');
is(app_calls(), '100001 hit', '... but do not evict that of another role');
cmp_ok($node->safe_psql('postgres', q{SELECT sum(bytes + key_bytes) FROM emogi_graphs WHERE source LIKE '%400000%'}), '<=', 72 << 20, '... which uses at most three quarters of the memory');

# ... and with a lower limit of the role.
my $limited = session($node);
$limited->ask(q{SET emogi.role_memory = '40MB'; SET ROLE mallory});
is($limited->ask(q{DO $$ BEGIN FOR k IN 1 .. 10 LOOP PERFORM count(*) FROM emogi_cc(format('SELECT i / 2 AS a%s, i AS b FROM generate_series(2, 200000) i', k)); END LOOP; END $$}),
	'', 'graphs of a role with a lower emogi.role_memory');
is(app_calls(), '100001 hit', '... do not evict that of another');
$limited->quit;

# Graph entries: 1024 with this little memory.
is($mallory->ask(q{DO $$ BEGIN FOR k IN 1 .. 1300 LOOP PERFORM count(*) FROM emogi_cc(format('SELECT i AS a%s, i + 1 AS b FROM generate_series(1, 2) i', k)); END LOOP; END $$}),
	'', 'more graphs than entries');
is(app_calls(), '100001 hit', '... do not evict that of another role');
is($mallory->ask(q{DO $$ BEGIN FOR k IN 1 .. 399 LOOP PERFORM count(*) FROM emogi_sssp(format('own.wide(c0, c1, c%s)', k), 1); END LOOP; END $$}),
	'', 'graphs of one table with different weights');
cmp_ok($node->safe_psql('postgres', q{SELECT count(*) FROM emogi_graphs WHERE source = 'own.wide'}), '<=', 257, '... of which 257 are kept: lookups search them');

# Entries of tracked tables: 1024. Small ones are evicted first, so another role has a small one,
# too.
$app->ask(q{SELECT emogi_evict('tree'); SET emogi.incremental_min_size = 0});
is(app_calls(), '100001 built', 'the graph of the other role is rebuilt with its change tracker');
is($app->ask(q{SELECT count(*) FROM emogi_bfs('little', 1)}), '2', '... and that of a small table');
is($mallory->ask(q{SET emogi.incremental_min_size = 0; DO $$ BEGIN FOR i IN 0 .. 35 LOOP FOR j IN 0 .. 35 LOOP
		IF i <> j THEN PERFORM count(*) FROM emogi_bfs(format('own.wide(c%s, c%s)', i, j), 1); END IF; END LOOP; END LOOP; END $$}), '', 'more tracked tables than entries');
is(app_calls(), '100001 hit', '... leave the graph of another role');
$app->ask(q{INSERT INTO tree VALUES (1, 200000)});
like(app_calls(), qr/^100002 (?:merged|overlay)$/, '... which still tracks its table');
like(join(' ', split /\n/, $app->ask(q{INSERT INTO little VALUES (2, 3); SELECT count(*) FROM emogi_bfs('little', 1);
	SELECT cache FROM emogi_runs WHERE pid = pg_backend_pid() ORDER BY id DESC LIMIT 1})), qr/^3 (?:merged|overlay)$/, '... and a small one');
$node->safe_psql('postgres', q{CREATE TABLE late AS SELECT i / 2 AS src, i AS dst FROM generate_series(2, 100001) i; ALTER TABLE late OWNER TO app});
my $late = join ' ', split /\n/, $app->ask(q{SELECT count(*) FROM emogi_bfs('late', 1); INSERT INTO late VALUES (1, 200000); SELECT count(*) FROM emogi_bfs('late', 1);
	SELECT cache FROM emogi_runs WHERE pid = pg_backend_pid() ORDER BY id DESC LIMIT 1});
like($late, qr/^100001 100002 (?:merged|overlay)$/, '... and so does a later one');

# ... of which one in use is not the least recently used, even without changes that would use its
# tracker.
is($mallory->ask(q{CREATE TABLE own.used AS SELECT i AS src, i + 1 AS dst FROM generate_series(1, 1000) i; SELECT count(*) FROM emogi_bfs('own.used', 1)}), '1001', 'a graph of that role');
is($mallory->ask(q{DO $$ BEGIN FOR i IN 0 .. 35 LOOP FOR j IN 0 .. 35 LOOP
		IF i <> j THEN PERFORM count(*) FROM emogi_bfs(format('own.wide(c%s, c%s)', j + 40, i + 40), 1); PERFORM count(*) FROM emogi_bfs('own.used', 1); END IF; END LOOP; END LOOP; END $$}),
	'', '... that is used with more tables than entries');
$mallory->ask(q{INSERT INTO own.used VALUES (1001, 1002)});
like(join(' ', split /\n/, $mallory->ask(q{SELECT count(*) FROM emogi_bfs('own.used', 1); SELECT cache FROM emogi_runs WHERE pid = pg_backend_pid() ORDER BY id DESC LIMIT 1})),
	qr/^1002 (?:merged|overlay)$/, '... still tracks its table');

$_->quit foreach $mallory, $app;
is(worker_pid($node), $worker, 'the engine worker is the same');
is($node->safe_psql('postgres', q{SELECT count(*) FROM emogi_graphs WHERE pins > 0}), '0', 'no memory is in use');
nothing_left($node, 'at the end');
is($node->safe_psql('postgres', 'DROP SCHEMA own CASCADE; SELECT tracker_bytes FROM emogi_cache'), '0', '... and nothing of dropped tables');
$node->stop;
no_crash($node);

# Places for what follows tables, again: with more memory there are more places for graphs, so that all that follows a table has one.
my $large = crash_node('large', "emogi.max_memory = '2GB'", 'emogi.engine = cpu', 'emogi.incremental_min_size = 0');
$large->safe_psql('postgres', q{
	CREATE ROLE mallory LOGIN;
	CREATE ROLE app LOGIN;
	CREATE SCHEMA own AUTHORIZATION mallory;
	CREATE TABLE little AS SELECT 1 AS src, 2 AS dst;
	ALTER TABLE little OWNER TO app;
	SET ROLE app;
	SELECT count(*) FROM emogi_bfs('little', 1);
	RESET ROLE;
	SET ROLE mallory});
foreach my $some (0 .. 10)
{
	$large->safe_psql('postgres', "SET ROLE mallory; DO \$\$ BEGIN FOR i IN ${some}01 .. ${some}99 LOOP
		EXECUTE format('CREATE TABLE own.t%s AS SELECT 1 AS src, 2 AS dst', i); COMMIT;
		PERFORM count(*) FROM emogi_bfs('own.t' || i, 1); COMMIT; END LOOP; END \$\$");
}
is($large->safe_psql('postgres', q{SELECT count(*) FILTER (WHERE tracker_bytes > 0) <= 1024 AND count(*) > 1024 FROM emogi_graphs}), 't', 'a role has graphs of more tables than there are places to follow');
is($large->safe_psql('postgres', q{SELECT tracker_bytes > 0 FROM emogi_graphs WHERE source LIKE '%little'}), 't', '... and the table of another role, which was read before all of them, is followed');
$large->stop;
no_crash($large);

done_testing();
