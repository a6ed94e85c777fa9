# A role without privileges opens more cursors than there are slots, and requests more memory than
# there is, in one session and in several: others are answered immediately, the memory in use stays
# small, and errors name the setting. The views show what a call waits for, and which process blocks
# it.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use EmogiTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(sleep time);

my $node = crash_node('main', "emogi.max_memory = '256MB'", 'emogi.engine = cpu');
my $share = 192 << 20;
$node->safe_psql('postgres', q{
	CREATE ROLE mallory LOGIN;
	CREATE ROLE app LOGIN;
	CREATE TABLE tree AS SELECT i / 2 AS src, i AS dst FROM generate_series(2, 10001) i;
	CREATE TABLE wide AS SELECT 1 AS src, i AS dst FROM generate_series(2, 40000) i;
	GRANT SELECT ON tree, wide TO app});
my $version = $node->safe_psql('postgres', 'SHOW server_version_num');

# Check that each call of another role is answered within a second.
sub others_are_answered
{
	my ($name) = @_;
	my $app = session($node);

	$app->ask(q{SET ROLE app; SET statement_timeout = '10s'});
	foreach my $sql (q{SELECT count(*) FROM emogi_bfs('tree', 1)}, q{SELECT count(*) FROM emogi_bfs('SELECT i, i + 1 FROM generate_series(1, 10000) i', 1)},
		q{SELECT sum(n) FROM (SELECT count(*) AS n FROM generate_series(1, 100) i, LATERAL emogi_bfs('tree', i, 0) b) x})
	{
		my $start = time;
		my $out = $app->ask($sql);
		my $took = time - $start;
		my $right = $sql =~ /LATERAL/ ? '100' : '10001';
		is($out, $right, "$name: another role's call is correct");
		cmp_ok($took, '<', 1, sprintf('%s: ... within a second (%.3f)', $name, $took));
	}
	$app->quit;
}

# The bytes of the arena that do not belong to cached graphs.
sub used
{
	return $node->safe_psql('postgres', 'SELECT used_bytes - bytes FROM emogi_devices, emogi_cache WHERE device = -1');
}

# Open cursors and fetch a row of each; an error is recorded and ends the loop.
sub open_cursors
{
	my ($session, $prefix, $n, $query) = @_;

	return $session->ask(qq{DO \$\$ DECLARE c refcursor; r record; told text; BEGIN
		FOR i IN 1 .. $n LOOP
			BEGIN
				c := '$prefix' || i; OPEN c FOR $query; FETCH c INTO r;
			EXCEPTION WHEN OTHERS THEN
				GET STACKED DIAGNOSTICS told = PG_EXCEPTION_HINT;
				RAISE WARNING 'cursor % refused: % % %', i, SQLSTATE, SQLERRM, told;
				EXIT;
			END;
		END LOOP; END \$\$});
}

my $batch = q{SELECT x, b.* FROM generate_series(1, 1000) x, LATERAL emogi_bfs('SELECT i, i + 1 FROM generate_series(1, 100) i', x) b};
my $deep = q{SELECT x, b.* FROM generate_series(1, 1000) x, LATERAL emogi_bfs('SELECT i, i + 1 FROM generate_series(1, 400) i', x) b};
my $plain = q{SELECT * FROM emogi_bfs('SELECT i, i + 1 FROM generate_series(1, 100) i', 1)};
my $large = q{SELECT * FROM emogi_bfs('SELECT i / 2, i FROM generate_series(2, 100000) i', 1)};

others_are_answered('alone');

# One session, then several; small graphs.
my @attackers;
foreach my $i (1 .. 4)
{
	my $session = session($node);
	push @attackers, $session;
	$session->ask('SET ROLE mallory; BEGIN');
	is(open_cursors($session, 'b', 128, $batch), '', "session $i: 128 cursors over batches");
	others_are_answered("session $i, batches");
	is(open_cursors($session, 'd', 20, $deep), '', "session $i: 20 cursors over searches one by one");
	is(open_cursors($session, 'p', 300, $plain), '', "session $i: 300 cursors over calls");
	others_are_answered("session $i, calls") if $i == 1 || $i == 4;
	cmp_ok(used(), '<=', 16 << 20, "session $i: little memory is in use");
}
is($node->safe_psql('postgres', q{SELECT count(*) FROM emogi_progress}), '0', 'they are not in progress');
is($attackers[0]->ask('FETCH 2 FROM b7; FETCH 1 FROM d7; FETCH 2 FROM p7'), "1|2|1\n1|3|2\n1|2|1\n2|1\n3|2", 'the cursors continue');
$_->ask('ROLLBACK') foreach @attackers;

# Larger graphs: up to the limits of the session and of the role.
foreach my $i (1 .. 4)
{
	my $session = $attackers[$i - 1];
	$session->ask('BEGIN');
	my $told = open_cursors($session, 'l', 300, $large);
	like($told, qr/refused: 53400 .*HINT|refused: 53400 .*emogi\.(?:session|role)_(?:calls|memory)/s, "session $i: large results are finally rejected: " . $told);
	others_are_answered("session $i, large results");
	cmp_ok(used(), '<=', $share, "session $i: three quarters of the memory at most");
}
my ($pid) = $attackers[0]->ask('SELECT pg_backend_pid()');
cmp_ok($node->safe_psql('postgres', "SELECT count(*) FROM emogi_progress WHERE pid = $pid"), '<=', 64, 'no session has more than emogi.session_calls');
$_->ask('ROLLBACK') foreach @attackers;
region_is_empty($node, 'nothing is left');

# Nested calls as deep as there are slots.
$node->safe_psql('postgres', q{
	CREATE FUNCTION nest(n int) RETURNS TABLE (s int, d int) LANGUAGE plpgsql AS $$
	BEGIN
		IF n > 0 THEN RETURN QUERY SELECT vertex::int, vertex::int + 1 FROM emogi_bfs(format('SELECT s, d FROM nest(%s)', n - 1), 1); END IF;
		RETURN QUERY SELECT 1, 2;
	END $$});
is($attackers[0]->ask(q{SELECT count(*) FROM nest(20)}), '22', 'twenty nested calls');
like($attackers[0]->ask(q{SELECT count(*) FROM nest(100)}), qr/53400.*64.*HINT:.*emogi\.session_calls|54001/s, 'a hundred are rejected');
others_are_answered('after nested calls');

# The settings are reserved to superusers; 0 means no limit.
like($attackers[0]->ask("SET $_ = 0"), qr/^ERROR:  42501/, "only superusers can set $_") foreach qw(emogi.session_calls emogi.role_calls emogi.role_slots emogi.session_memory emogi.role_memory);
foreach my $limit ([ 'emogi.session_calls = 3', 4, qr/cursor 4 refused: 53400 .*session.*emogi\.session_calls/ ],
	[ 'emogi.role_calls = 3', 4, qr/cursor 4 refused: 53400 .*role.*emogi\.role_calls/ ],
	[ q{emogi.session_memory = '20MB'}, 20, qr/refused: 53400 .*session.*emogi\.session_memory/ ],
	[ q{emogi.role_memory = '20MB'}, 20, qr/refused: 53400 .*role.*emogi\.role_memory/ ],
	[ 'emogi.session_calls = 0', 70, undef ])
{
	my ($setting, $n, $told) = @$limit;
	my $session = session($node);
	my ($role, $query) = $told ? ('mallory', $large) : ('app', q{SELECT * FROM emogi_bfs('wide', 1)});
	my $out = $session->ask("SET $setting; SET ROLE $role; BEGIN") . open_cursors($session, 'l', $n, $query);
	$told ? like($out, $told, $setting) : is($out, '', $setting);
	is($session->ask('FETCH 1 FROM l2'), '2|1', "$setting: the others continue");
	$session->ask('CLOSE l1');
	$session->ask('ROLLBACK');
	$session->quit;
}
# A graph with a dictionary stays pinned while more than 32 rows are read, and counts, even if a
# backend search has found the rows.
{
	$node->safe_psql('postgres', q{CREATE TABLE named AS SELECT 'v' || i AS src, 'v' || i + 1 AS dst FROM generate_series(1, 5000) i;
		GRANT SELECT ON named, tree TO mallory; SELECT emogi_prewarm('named'), emogi_prewarm('tree')});
	my $session = session($node);
	my $out = $session->ask('SET emogi.session_calls = 3; SET ROLE mallory; BEGIN') . open_cursors($session, 'n', 4, q{SELECT * FROM emogi_bfs('named', 'v1', 50)});
	like($out, qr/cursor 4 refused: 53400 .*session.*emogi\.session_calls/, 'results with a dictionary count');
	$session->ask('ROLLBACK');
	is($session->ask(q{BEGIN; DECLARE a CURSOR FOR SELECT * FROM emogi_bfs('tree', 1, 2); DECLARE b CURSOR FOR SELECT * FROM emogi_bfs('tree', 2, 2);
		FETCH 1 FROM a; FETCH 1 FROM b}), "1|0\n2|0", '... others do not');
	$session->quit;
}
is($attackers[0]->ask(q{SELECT allowed_bytes FROM emogi_estimate('SELECT 1, 2')}), $share, 'emogi_estimate shows the limit of a role');
is($node->safe_psql('postgres', q{SELECT allowed_bytes FROM emogi_estimate('tree')}), 256 << 20, '... and that superusers have none');

# What calls wait for, and which process blocks them: a slot of the role, the engine, a build.
sub shown
{
	my ($where, $expected, $name) = @_;
	my $out;
	ok(wait_until(10, sub { $out = $node->safe_psql('postgres', "SELECT p.state, waits_for, wait_event FROM emogi_progress p JOIN pg_stat_activity a USING (pid) WHERE $where"); $out =~ $expected }), $name)
	  or diag $out, $node->safe_psql('postgres', 'SELECT * FROM emogi_progress');
}
sub event { return $version >= 170000 ? $_[0] : 'Extension' }
my $forever = q{SELECT count(*) FROM emogi_pagerank('SELECT i / 2, i FROM generate_series(2, 100000) i', max_iterations => 100000000, tolerance => 0)};
my @pids = map { $_->ask('SELECT pg_backend_pid()') } @attackers;
$_->ask("RESET ROLE; SET emogi.role_slots = 1; SET ROLE mallory") foreach @attackers;
$attackers[0]->tell($forever);
shown("pid = $pids[0] AND p.state = 'running' AND phase = 'run'", qr/running/, 'the first of a role runs');
$attackers[1]->tell($forever);
shown("pid = $pids[1] AND blocked_by = '{$pids[0]}'", qr/^waiting\|slot\|${\event('EmogiSlot')}$/, 'the second waits for a slot of the role');
others_are_answered('with a role that has used all its slots');
$node->safe_psql('postgres', "SELECT pg_sleep(0.5), pg_cancel_backend($pids[0])");
like($attackers[0]->answer, qr/57014/, 'the first is canceled');
shown("pid = $pids[1] AND blocked_by IS NULL", qr/^running\|\|/, '... and the second runs');
$node->safe_psql('postgres', "SELECT pg_cancel_backend($pids[1])");
like($attackers[1]->answer, qr/57014/, '... and is canceled');
is($node->safe_psql('postgres', "SELECT status, wait_ms >= 500, wait_ms <= total_ms FROM emogi_runs WHERE pid = $pids[1] ORDER BY id DESC LIMIT 1"), 'failed|t|t', '... and has waited');

# A search of few edges needs no slot. One that needs the engine after it has found its graph waits
# for a slot without holding the graph, and looks it up again.
$node->safe_psql('postgres', q{SELECT emogi_prewarm('tree')});
my $near = q{SELECT count(*) FROM emogi_bfs('tree', 1, max_depth => 2)};
my $far = q{SELECT count(*) FROM emogi_bfs('tree', 1)};
my $pins = q{SELECT sum(pins) FROM emogi_graphs WHERE source::text LIKE 'tree%'};
$attackers[0]->tell($forever);
shown("pid = $pids[0] AND p.state = 'running' AND phase = 'run'", qr/running/, 'a role has used all its slots');
is($attackers[1]->ask($near), '7', 'a search of few edges needs none');
is($node->safe_psql('postgres', "SELECT cache, engine, reason FROM emogi_runs WHERE pid = $pids[1] ORDER BY id DESC LIMIT 1"), 'hit|backend|the search reads at most 4096 edges', '... and is recorded');
$attackers[1]->tell($far);
shown("pid = $pids[1] AND blocked_by = '{$pids[0]}'", qr/^waiting\|slot\|/, 'a larger one waits for a slot of the role');
is($node->safe_psql('postgres', $pins), '0', '... without holding the graph');
$node->safe_psql('postgres', q{SELECT emogi_evict('tree')});
$node->safe_psql('postgres', "SELECT pg_cancel_backend($pids[0])");
like($attackers[0]->answer, qr/57014/, 'the first is canceled');
is($attackers[1]->answer, '10001', 'the second is correct, although its graph was evicted meanwhile');
is($node->safe_psql('postgres', "SELECT cache <> 'hit' FROM emogi_runs WHERE pid = $pids[1] ORDER BY id DESC LIMIT 1"), 't', '... and got a new one');
is($node->safe_psql('postgres', $pins), '0', '... which it has released');
$_->ask("RESET ROLE; RESET emogi.role_slots; SET ROLE mallory") foreach @attackers;
my $third = session($node);
my $third_pid = $third->ask('SELECT pg_backend_pid()');
foreach my $i (0 .. 1)		# as many long calls as a role can run concurrently
{
	$attackers[$i]->tell($forever);
	# state "running" includes a call whose graph is being built, which may still have to queue
	shown("pid = $pids[$i] AND p.state = 'running' AND phase = 'run'", qr/running/, "run $i runs");
}
$third->ask('SET ROLE mallory');
$third->tell($forever);
shown("pid = $third_pid AND cardinality(blocked_by) = 2", qr/^queued\|engine\|${\event('EmogiEngine')}$/, 'one more is queued');
$node->safe_psql('postgres', 'SELECT pg_cancel_backend(pid) FROM emogi_progress');
$_->answer foreach @attackers[0 .. 1], $third;
$third->ask('RESET ROLE');
$third->tell(q{SELECT emogi_evict('tree') IS NULL; SET emogi.fault = 'registered=3000000'; SELECT count(*) FROM emogi_bfs('tree', 1)});
shown("pid = $third_pid", qr/^idle\|\|/, 'a session builds');
my $waiter = session($node);
my $waiter_pid = $waiter->ask('SELECT pg_backend_pid()');
$waiter->tell(q{SELECT count(*) FROM emogi_bfs('tree', 1)});
shown("pid = $waiter_pid AND blocked_by = '{$third_pid}'", qr/^waiting\|build\|${\event('EmogiBuild')}$/, 'another waits for it');
is($third->answer, "f\n10001", 'the builder is right');
is($waiter->answer, '10001', 'and so is the waiter');
is($node->safe_psql('postgres', "SELECT wait_ms > 200, wait_ms <= total_ms FROM emogi_runs WHERE pid = $waiter_pid ORDER BY id DESC LIMIT 1"), 't|t', '... and the waiting time is recorded');

# A cursor's rows do not depend on resources released between fetches, for all kinds of searches.
foreach my $query ($batch, $deep, q{SELECT x, b.* FROM generate_series(1, 300) x, LATERAL emogi_bfs('tree', x, 2) b},
	q{SELECT x, b.* FROM generate_series(1, 300) x, LATERAL emogi_bfs('tree', x, 5) b WHERE b.vertex = ANY (ARRAY[x, 2 * x, 8 * x])})
{
	my $session = session($node);
	my $whole = $session->ask(qq{SELECT count(*), sum(x * level), sum(vertex * level) FROM ($query OFFSET 0) q});
	$session->ask("CREATE TEMP TABLE got (x int, vertex bigint, level int); BEGIN; DECLARE c CURSOR FOR $query; SAVEPOINT s");
	foreach my $n (1, 7, 100, 63, 1000, 5000)
	{
		$session->ask(qq{DO \$\$ DECLARE c refcursor := 'c'; r record; BEGIN FOR n IN 1 .. $n LOOP FETCH c INTO r; EXIT WHEN NOT FOUND; INSERT INTO got VALUES (r.x, r.vertex, r.level); END LOOP; END \$\$});
		$session->ask('RELEASE s; SAVEPOINT s');
		$node->safe_psql('postgres', 'SELECT emogi_evict()') if $n == 100;
	}
	$session->ask(q{CREATE FUNCTION pg_temp.rest() RETURNS SETOF got LANGUAGE plpgsql AS $$ DECLARE c refcursor := 'c'; r record; BEGIN
		LOOP FETCH c INTO r; EXIT WHEN NOT FOUND; RETURN NEXT r; END LOOP; END $$; INSERT INTO got SELECT * FROM pg_temp.rest()});
	is($session->ask('SELECT count(*), sum(x * level), sum(vertex * level) FROM got'), $whole, "fetched in parts: $query");
	$session->ask('COMMIT');
	$session->quit;
}
$_->quit foreach @attackers, $third, $waiter;
nothing_left($node, 'at the end');
$node->stop;
no_crash($node);

done_testing();
