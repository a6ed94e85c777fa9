# A cached graph never provides a row that a SELECT would not return, and the views show no
# information about objects of others.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use EmogiTest;
use IPC::Run;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = crash_node('main', "emogi.max_memory = '256MB'");
$node->safe_psql('postgres', q{
	CREATE ROLE owner LOGIN; CREATE ROLE alice LOGIN; CREATE ROLE bob LOGIN; CREATE ROLE free LOGIN BYPASSRLS;
	CREATE ROLE monitor LOGIN; GRANT pg_monitor TO monitor; CREATE ROLE reader; CREATE ROLE carol LOGIN INHERIT; GRANT reader TO carol;
	CREATE ROLE dave LOGIN NOINHERIT; GRANT reader TO dave;
	CREATE SCHEMA s AUTHORIZATION owner; GRANT USAGE ON SCHEMA s TO PUBLIC; GRANT CREATE ON SCHEMA public TO bob;
	SET ROLE owner;
	CREATE TABLE s.edges (src int, dst int, weight float8, who name);
	INSERT INTO s.edges VALUES (1, 2, 10, 'alice'), (2, 3, 10, 'alice'), (1, 4, 10, 'bob'), (4, 5, 10, 'bob')});

my $all = '1:0 2:1 3:2 4:1 5:2';
my $bfs = q{SELECT string_agg(vertex || ':' || level, ' ') FROM emogi_bfs('s.edges', 1)};
my $sssp = q{SELECT string_agg(vertex || ':' || distance, ' ') FROM emogi_sssp('s.edges', 1)};
my $hops = q{SELECT string_agg(vertex || ':' || distance, ' ') FROM emogi_sssp('s.edges(src, dst)', 1)};

# Run commands as a role; returns their output, with SQLSTATEs for errors, in one line.
sub as
{
	my ($who, $sql) = @_;
	my $out = '';

	IPC::Run::run([ 'psql', '-XAtq', '-v', 'VERBOSITY=sqlstate', '-P', 'null=-', '-d', $node->connstr('postgres') . " user=$who" ], '<', \$sql, '>&', \$out);
	$out =~ s/^(?:psql:\S+ )?(?:ERROR|FATAL):\s+(\w{5})\s*$/$1/mg;
	chomp $out;
	$out =~ s/\n/ | /g;
	return $out;
}

sub is_as
{
	my ($who, $sql, $expected, $name) = @_;

	is(as($who, $sql), $expected, "$who: $name");
}

# Run commands as a superuser. Afterwards the table's graphs, with and without weights, are cached.
sub do_and_cache
{
	my ($sql) = @_;

	$node->safe_psql('postgres', $sql) if $sql;
	$node->safe_psql('postgres', "$bfs; $sssp");
}

# How the last call of that role was answered.
sub how
{
	my ($who) = @_;

	return $node->safe_psql('postgres', "SELECT cache FROM emogi_runs WHERE username = '$who' ORDER BY id DESC LIMIT 1");
}

# SELECT on the table, on some columns, on none.
do_and_cache();
my $shown = q{SELECT string_agg(source || ' ' || columns, ', ' ORDER BY columns) FROM emogi_graphs};
is_as('owner', $bfs, $all, 'the owner');
is(how('owner'), 'hit', '... from the cache');
is($node->safe_psql('postgres', $shown) =~ /s\.edges src, dst, weight/, 1, 'a graph with weights is cached');
is_as('alice', "$bfs; $sssp; $hops", '42501 | 42501 | 42501', 'no SELECT');
is_as('alice', $shown, '-', '... emogi_graphs shows nothing');
is_as('alice', q{SELECT count(*) FROM emogi_estimate('s.edges')}, '42501', '... nor does emogi_estimate');
is_as('alice', q{SELECT emogi_evict('s.edges')}, '42501', '... nor can the cache be emptied');
foreach my $call (q{emogi_cc('s.edges')}, q{emogi_pagerank('s.edges')}, q{emogi_ssnsp('s.edges', 1)}, q{emogi_sswp('s.edges', 1)}, q{emogi_shortest_path('s.edges', 1, 5)},
	q{emogi_heat('s.edges', 'VALUES (1, 1.0)')}, q{emogi_circuit('s.edges', 'VALUES (1, 1.0)')}, q{emogi_neural('s.edges', 'VALUES (1, 1.0)')}, q{emogi_bfs('s.edges', ARRAY[1, 2])},
	q{emogi_bfs('s.edges', NULL::bigint)}, q{emogi_bfs('s.edges', 1, direction => 'both')}, q{emogi_bfs('s.edges', 1, direction => 'in')},
	q{emogi_heat('VALUES (1, 2)', 'SELECT src, weight FROM s.edges')})
{
	is_as('alice', "SELECT count(*) FROM $call", '42501', "no SELECT: $call");
}
do_and_cache('GRANT SELECT (src) ON s.edges TO alice');
is_as('alice', "$bfs; $sssp; $hops", '42501 | 42501 | 42501', 'SELECT (src)');
is_as('alice', $shown, '-', '... emogi_graphs shows nothing');
do_and_cache('GRANT SELECT (dst) ON s.edges TO alice');
is_as('alice', "$bfs; $sssp; $hops", "$all | 42501 | 1:0 2:1 3:2 4:1 5:2", 'SELECT (src, dst): no weights, not from the cache either');
is(as('alice', $shown) =~ /weight/, '', '... emogi_graphs shows no graph with weights');
is_as('alice', q{SELECT count(*) FROM emogi_estimate('s.edges'); SELECT count(*) FROM emogi_estimate('s.edges', weights => true)}, '1 | 42501', '... emogi_estimate the same');
is_as('alice', q{SELECT count(*) FROM emogi_sssp('s.edges(src, dst, weight)', 1)}, '42501', '... nor the weights by name');
is_as('alice', q{SELECT emogi_evict('s.edges')}, '42501', '... and only the owner can evict');
do_and_cache('GRANT SELECT (weight) ON s.edges TO alice');
is_as('alice', $sssp, '1:0 2:10 3:20 4:10 5:20', 'SELECT (src, dst, weight)');
is(how('alice'), 'hit', '... from the cache');
do_and_cache('REVOKE ALL ON s.edges FROM alice; REVOKE SELECT (src, dst, weight) ON s.edges FROM alice');
is_as('alice', "$bfs; $sssp", '42501 | 42501', 'all privileges revoked');

# Privileges revoked within a session, with a prepared statement, in a transaction, with a cursor;
# through roles.
do_and_cache('GRANT SELECT ON s.edges TO alice');
my $session = session($node);
$session->ask('SET SESSION AUTHORIZATION alice');
is($session->ask("PREPARE p AS $bfs; EXECUTE p"), $all, 'a session of alice, with a prepared statement');
is($session->ask('EXECUTE p'), $all, '... again');
$node->safe_psql('postgres', 'REVOKE SELECT ON s.edges FROM alice');
like($session->ask('EXECUTE p'), qr/^ERROR:  42501/, '... not after the revoke');
like($session->ask($bfs), qr/^ERROR:  42501/, '... nor unprepared');
do_and_cache('GRANT SELECT ON s.edges TO alice');
is($session->ask('EXECUTE p'), $all, '... but after a new grant');
is($session->ask("BEGIN ISOLATION LEVEL REPEATABLE READ; $bfs"), $all, '... in a transaction');
$node->safe_psql('postgres', 'REVOKE SELECT ON s.edges FROM alice');
my ($first, $select) = map { $_ =~ /42501/ ? 'refused' : 'allowed' } $session->ask("SAVEPOINT a; $bfs"), $session->ask('ROLLBACK TO a; SELECT count(*) FROM s.edges');
is($first, $select, "... in the middle of it, as a SELECT is $select");
$session->ask('ROLLBACK; RESET SESSION AUTHORIZATION');
is($session->ask('EXECUTE p'), $all, '... for roles with the privilege');
is($session->ask("SET ROLE alice; EXECUTE p") =~ /^ERROR:  42501/ ? 1 : 0, 1, '... and not for alice, by SET ROLE');
is($session->ask("RESET ROLE; SET ROLE owner; EXECUTE p"), $all, '... the owner');
like($session->ask("RESET ROLE; SET ROLE bob; $bfs"), qr/^ERROR:  42501/, '... and not for bob');
$session->quit;
do_and_cache('GRANT SELECT ON s.edges TO reader');
is_as('carol', $bfs, $all, 'by membership');
is_as('dave', "$bfs; SET ROLE reader; $bfs; RESET ROLE; $bfs", "42501 | $all | 42501", 'a member without INHERIT has to SET ROLE');
$node->safe_psql('postgres', 'REVOKE reader FROM carol');
is_as('carol', $bfs, '42501', 'no longer a member');
is_as('carol', $shown, '-', '... nor is a graph shown');

# USAGE on the schema, also if the table is given by OID.
my $oid = $node->safe_psql('postgres', q{SELECT 's.edges'::regclass::oid});
do_and_cache('GRANT SELECT ON s.edges TO alice; REVOKE USAGE ON SCHEMA s FROM PUBLIC');
is_as('alice', "$bfs; $sssp; SET search_path = s, public; " . $bfs =~ s/s\.edges/edges/r, '42501 | 42501 | 42P01', 'no USAGE on the schema');
is_as('alice', $shown, '-', '... emogi_graphs shows nothing');
foreach my $graph ($oid, "$oid(src, dst)", qq{"$oid"}, "pg_toast.$oid", "$oid ")
{
	like(as('alice', "SELECT count(*) FROM emogi_bfs('$graph', 1)"), qr/^4\w{4}$/, "alice: no USAGE, the table by its OID: $graph");
	like(as('alice', "SELECT emogi_evict('$graph')"), qr/^4\w{4}$/, '... nor emogi_evict');
	like(as('alice', "SELECT edges FROM emogi_estimate('$graph')"), qr/^4\w{4}$/, '... nor emogi_estimate');
}
do_and_cache('GRANT USAGE ON SCHEMA s TO PUBLIC');
is_as('alice', $bfs, $all, 'USAGE is granted again');

# A name refers to the caller's own table, cached or not.
is_as('bob', q{CREATE TEMP TABLE edges AS SELECT 1 AS src, 77 AS dst; SET search_path = s, public; SELECT string_agg(vertex::text, ' ') FROM emogi_bfs('edges', 1); DROP TABLE pg_temp.edges;
	SELECT count(*) FROM emogi_bfs('edges', 1)}, '1 77 | 42501', 'a temporary table first in the search path');
is_as('bob', q{CREATE TABLE public.edges AS SELECT 1 AS src, 88 AS dst; SET search_path = public, s; SELECT string_agg(vertex::text, ' ') FROM emogi_bfs('edges', 1);
	SET search_path = s, public; SELECT string_agg(vertex::text, ' ') FROM emogi_bfs('edges', 1); DROP TABLE public.edges}, '1 88 | 42501', 'a table of another schema');

# Row security enabled while the graph is cached: roles subject to it see their rows, and build no
# graph for others.
do_and_cache('GRANT SELECT ON s.edges TO bob, free');
is_as('bob', "$bfs; $bfs", "$all | $all", 'before row security');
$node->safe_psql('postgres', 'ALTER TABLE s.edges ENABLE ROW LEVEL SECURITY');
is_as('alice', "$bfs; $sssp; $hops", '- | - | -', 'no policy: no rows');
do_and_cache('CREATE POLICY own ON s.edges FOR SELECT USING (who = current_user)');
foreach my $round (1 .. 2)
{
	is_as('alice', $bfs, '1:0 2:1 3:2', "row security, round $round: the own rows");
	is(how('alice'), (undef, 'private', 'built')[$round], '... private, and shared with roles under the same conditions at the second call');
	is_as('bob', "$bfs; $sssp; $hops", '1:0 4:1 5:2 | 1:0 4:10 5:20 | 1:0 4:1 5:2', "row security, round $round: the own rows");
	is_as('free', $bfs, $all, "row security, round $round: BYPASSRLS sees all");
	is(how('free'), 'hit', '... from the cache');
	is_as('owner', $bfs, $all, "row security, round $round: the owner sees all");
	is_as('postgres', $bfs, $all, "row security, round $round: so does a superuser");
	is_as('alice', $shown, '-', '... emogi_graphs shows nothing to roles subject to it');
	is(as('owner', $shown) =~ /s\.edges/, 1, '... but to the owner');
}
is_as('alice', "SET row_security = off; $bfs", '42501', 'row_security = off is an error');
is_as('free', "SET row_security = off; $bfs", $all, 'but not for BYPASSRLS');
is_as('postgres', "SET ROLE alice; $bfs; RESET ROLE; $bfs; SET ROLE bob; $bfs", "1:0 2:1 3:2 | $all | 1:0 4:1 5:2", 'one session, SET ROLE in between');
is_as('postgres', "PREPARE p AS $bfs; EXECUTE p; SET ROLE alice; EXECUTE p; SET ROLE bob; EXECUTE p; RESET ROLE; EXECUTE p", "$all | 1:0 2:1 3:2 | 1:0 4:1 5:2 | $all", '... prepared');
do_and_cache('ALTER TABLE s.edges FORCE ROW LEVEL SECURITY');
is_as('owner', "$bfs; $sssp; $shown", '- | - | -', 'FORCE: no rows, no graph');
is_as('free', $bfs, $all, 'FORCE: BYPASSRLS');
is_as('alice', $bfs, '1:0 2:1 3:2', 'FORCE: the own rows');
do_and_cache('ALTER TABLE s.edges NO FORCE ROW LEVEL SECURITY');

# Functions and views with and without their owner's privileges.
$node->safe_psql('postgres', q{
	SET ROLE owner;
	CREATE FUNCTION s.lent() RETURNS text LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public AS
	$$ SELECT string_agg(vertex || ':' || level, ' ') FROM emogi_bfs('s.edges', 1) $$;
	CREATE FUNCTION s.plain() RETURNS text LANGUAGE sql STABLE SET search_path = public AS
	$$ SELECT string_agg(vertex || ':' || level, ' ') FROM emogi_bfs('s.edges', 1) $$;
	CREATE VIEW s.view AS SELECT src, dst FROM s.edges;
	DO $$ BEGIN
		IF current_setting('server_version_num')::int >= 150000 THEN
			CREATE VIEW s.invoker WITH (security_invoker) AS SELECT src, dst FROM s.edges;
		ELSE
			CREATE FUNCTION s.of_caller() RETURNS TABLE (src int, dst int) LANGUAGE sql STABLE AS 'SELECT src, dst FROM s.edges';
			CREATE VIEW s.invoker AS SELECT src, dst FROM s.of_caller();
		END IF;
	END $$;
	CREATE VIEW s.barrier WITH (security_barrier) AS SELECT src, dst FROM s.edges WHERE who = 'alice';
	CREATE VIEW s.rows AS SELECT * FROM emogi_bfs('s.edges', 1);
	GRANT SELECT ON s.view, s.invoker, s.barrier, s.rows TO alice, bob;
	RESET ROLE;
	REVOKE SELECT ON s.edges FROM bob;
	SET ROLE bob;
	CREATE FUNCTION public.leak(i int) RETURNS bool LANGUAGE plpgsql COST 0.0001 AS $$ BEGIN IF i = 4 OR i = 5 THEN RAISE EXCEPTION 'leaked %', i; END IF; RETURN true; END $$});
do_and_cache();
is_as('alice', "SELECT s.lent(); SELECT s.plain(); $bfs", "$all | 1:0 2:1 3:2 | 1:0 2:1 3:2", 'SECURITY DEFINER, and not, under row security');
is_as('bob', "SELECT s.lent(); SELECT s.plain(); $bfs", "$all | 42501 | 42501", 'SECURITY DEFINER, and not, without SELECT');
is_as('bob', 'SELECT count(*) FROM s.rows', '42501', 'a view on a call: with the privileges of the caller, as for every function');
is_as('bob', q{SELECT count(*) FROM emogi_bfs('s.view', 1); SELECT count(*) FROM emogi_bfs('s.invoker', 1); SELECT count(*) FROM emogi_bfs('s.barrier', 1);
	SELECT count(*) FROM emogi_bfs('SELECT src, dst FROM s.barrier WHERE leak(dst)', 1)}, '5 | 42501 | 3 | 3', 'views: of the owner, of the invoker, with a barrier');
is_as('alice', q{SELECT count(*) FROM emogi_bfs('s.view', 1); SELECT count(*) FROM emogi_bfs('s.invoker', 1)}, '5 | 3', 'views under row security');
$node->safe_psql('postgres', 'SELECT s.lent()');
is_as('alice', $bfs, '1:0 2:1 3:2', '... a call of another role leaves nothing');
do_and_cache('ALTER TABLE s.edges DISABLE ROW LEVEL SECURITY');
is_as('bob', 'SELECT s.lent(); SELECT s.plain()', "$all | 42501", 'without row security');

# Partitions: privileges are checked on the named table.
$node->safe_psql('postgres', q{
	SET ROLE owner;
	CREATE TABLE s.parts (src int, dst int) PARTITION BY RANGE (src);
	CREATE TABLE s.part1 PARTITION OF s.parts FOR VALUES FROM (0) TO (2);
	CREATE TABLE s.part2 PARTITION OF s.parts FOR VALUES FROM (2) TO (9);
	INSERT INTO s.parts VALUES (1, 2), (2, 3);
	GRANT SELECT ON s.parts TO alice; GRANT SELECT ON s.part1 TO bob});
my $parts = join('; ', map { "SELECT count(*) FROM emogi_bfs('s.$_', ARRAY[1, 2])" } 'parts', 'part1', 'part2');
is_as('postgres', $parts, '3 | 2 | 2', 'a partitioned table, two partitions');
is_as('alice', $parts, '3 | 42501 | 42501', 'SELECT on the whole, not on a partition');
is_as('bob', $parts, '42501 | 2 | 42501', 'SELECT on a partition, not on the whole');
is_as('alice', q{SELECT string_agg(source, ' ' ORDER BY source) FROM emogi_graphs WHERE source LIKE 's.part%'}, 's.parts', '... and emogi_graphs shows exactly that');
is_as('bob', q{SELECT string_agg(source, ' ' ORDER BY source) FROM emogi_graphs WHERE source LIKE 's.part%'}, 's.part1', '... or that');

# Functions reserved to owners and superusers.
is_as('bob', q{SELECT emogi_evict('s.edges'); SELECT emogi_evict('s.parts'); SELECT emogi_reset(); SET emogi.fault = 'allocation=1'; SELECT set_config('emogi.fault', 'found=1', false);
	ALTER ROLE bob SET emogi.fault = 'found=1'}, '42501 | 42501 | 42501 | 42501 | 42501 | 42501', 'emogi_evict, emogi_reset and emogi.fault are restricted');
is_as('monitor', q{SELECT emogi_evict('s.edges'); SELECT emogi_reset(); SET emogi.fault = 'allocation=1'}, '42501 | 42501 | 42501', '... nor for pg_monitor');
is_as('bob', q{SELECT emogi_evict('s.nothing')}, '42P01', 'emogi_evict of what does not exist');
is_as('bob', q{CREATE TABLE mine AS SELECT 1 AS src, 2 AS dst; SELECT count(*) FROM emogi_bfs('mine', 1); SELECT emogi_evict() > 0; SELECT count(*) FROM emogi_graphs WHERE source = 'mine'}, '2 | t | 0', 'emogi_evict() of all');
do_and_cache();
my $before = $node->safe_psql('postgres', q{SELECT count(*) FROM emogi_graphs});
is_as('bob', 'SELECT emogi_evict()', '0', '... evicts the own graphs');
is($node->safe_psql('postgres', q{SELECT count(*) FROM emogi_graphs}), $before, '... and no others');
is_as('owner', q{SELECT emogi_evict('s.edges') > 0; SELECT count(*) FROM emogi_graphs WHERE source = 's.edges'}, 't | 0', 'the owner can');
do_and_cache('GRANT EXECUTE ON FUNCTION emogi_reset() TO monitor');
is_as('monitor', 'SELECT emogi_reset() IS NOT NULL; SELECT count(*) FROM emogi_runs', 't | 0', 'emogi_reset by a role with the grant');

# The views: runs and calls in progress of other roles are shown only to pg_monitor.
as('alice', $bfs);
as('owner', $sssp);
my $users = q{SELECT string_agg(DISTINCT username, ' ' ORDER BY username) FROM emogi_runs};
is_as('alice', $users, 'alice', 'emogi_runs shows own runs');
is_as('bob', "$users; SELECT count(*) FROM emogi_runs", '- | 0', '... and no others');
is_as('owner', $users, 'owner', '... the owner of the table sees its own');
is_as('monitor', $users, 'alice owner', '... and pg_monitor sees all');
is_as('monitor', q{SELECT count(*) > 0 FROM emogi_graphs WHERE source = 's.edges'}, 't', 'emogi_graphs shows all to pg_monitor');
is_as('monitor', $bfs, '42501', '... whose members still cannot read the rows');
my ($out, $err) = ('', '');
my ($psql, $pid) = hold_at($node, \$out, \$err, 'found=3000000', 'SET ROLE owner; SET emogi.enable_local_search = off', $bfs);
is_as('bob', 'SELECT count(*) FROM emogi_progress', '0', 'emogi_progress shows nothing of others');
is_as('alice', 'SELECT count(*) FROM emogi_progress', '0', '... whatever role they have');
is_as('owner', "SELECT count(*), min(function), min(source) FROM emogi_progress WHERE pid = $pid", '1|emogi_bfs|s.edges', '... the own');
is_as('monitor', "SELECT count(*), min(function), min(source) FROM emogi_progress WHERE pid = $pid", '1|emogi_bfs|s.edges', '... and all to pg_monitor');
$psql->finish;
is("$out$err", "$all\n", '... without disturbing the call');
is_as('bob', 'SELECT count(*) FROM emogi_cache; SELECT count(*) FROM emogi_devices WHERE device = -1', '1 | 1', 'emogi_cache and emogi_devices are public');
is_as('bob', 'SELECT count(*) FROM emogi_graphs WHERE source IS NOT NULL OR relation IS NOT NULL OR bytes IS NOT NULL', as('bob', q{SELECT count(*) FROM emogi_graphs WHERE source = 's.part1'}), 'no hidden row of emogi_graphs through a condition');

# Functions that bob uses in conditions on the views are not evaluated before the privileges are
# checked.
my $spied = as('bob', q{CREATE FUNCTION public.spy(t text) RETURNS bool LANGUAGE plpgsql COST 0.0001 AS $$ BEGIN IF t = 's.edges' THEN RAISE 'spied'; END IF; RETURN true; END $$;
	SELECT count(*) FROM emogi_graphs WHERE spy(source) AND source = 's.edges'; SELECT count(*) FROM emogi_runs WHERE spy(source) AND username <> 'bob'});
is($spied, '0 | 0', 'bob: conditions on the views see no more than the views show');
nothing_left($node, 'at the end');
$node->stop;
no_crash($node);

done_testing();
