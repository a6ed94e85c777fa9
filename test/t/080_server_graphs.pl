# Graphs of foreign tables are cached while their servers report no changes: with remote writers and
# local readers, each reader must get one state of the remote table, not older than the commits
# before the call. Also writers that are not detected by locks at their end; standbys, restarts,
# roles, lost connections.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;

use EmogiTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use IO::Select;
use IO::Socket::UNIX;
use POSIX ();
use Servers;
use Test::More;

my $far = PostgreSQL::Test::Cluster->new('far');
$far->init(allows_streaming => 1, extra => [ '--encoding=UTF8', '--locale=C' ]);
$far->append_conf('postgresql.conf', "shared_preload_libraries = 'emogi'\nautovacuum = off\nmax_prepared_transactions = 10\nmax_connections = 50\nemogi.cpu_threads = 1");
$far->start;
my $hub = hub_node('hub', 'emogi.enable_cache = on');

$far->safe_psql('postgres', <<~'END');
	CREATE EXTENSION emogi;
	CREATE TABLE t (src bigint, dst bigint);
	CREATE TABLE version (v bigint);
	INSERT INTO t VALUES (0, 1), (1, 1000001);
	INSERT INTO version VALUES (1);
	-- The next version: 0 has an edge to it, and it has one to a vertex of its own.
	CREATE PROCEDURE bump() LANGUAGE plpgsql AS $$
	DECLARE n bigint;
	BEGIN
	  UPDATE version SET v = v + 1 RETURNING v INTO n;
	  UPDATE t SET dst = n WHERE src = 0;
	  IF n % 3 = 0 THEN
	    DELETE FROM t WHERE src > 0 AND src < n;
	  END IF;
	  INSERT INTO t VALUES (n, 1000000 + n);
	END $$;
	END
$hub->safe_psql('postgres', server_of('far', $far) . <<~'END');
	CREATE FOREIGN TABLE t (src bigint, dst bigint) SERVER far;
	CREATE FOREIGN TABLE version (v bigint) SERVER far;
	-- Read the graph between two reads of the version; returns the numbers of wrong answers, hits and calls.
	CREATE PROCEDURE watch(calls int, INOUT wrong int DEFAULT 0, INOUT hits int DEFAULT 0) LANGUAGE plpgsql AS $$
	DECLARE before bigint; after bigint; seen bigint[];
	BEGIN
	  FOR i IN 1 .. calls LOOP
	    SELECT v INTO before FROM version;
	    COMMIT;
	    SELECT array_agg(vertex ORDER BY vertex) INTO seen FROM emogi_bfs('t', 0);
	    hits := hits + (SELECT (cache = 'hit')::int FROM emogi_runs WHERE pid = pg_backend_pid() ORDER BY id DESC LIMIT 1);
	    COMMIT;
	    SELECT v INTO after FROM version;
	    COMMIT;
	    IF NOT coalesce(seen = ARRAY[0, seen[2], 1000000 + seen[2]] AND seen[2] BETWEEN before AND after, false) THEN
	      RAISE WARNING 'between % and %: %', before, after, seen;
	      wrong := wrong + 1;
	    END IF;
	    IF i % 7 = 0 THEN PERFORM pg_sleep(0.01); COMMIT; END IF;
	  END LOOP;
	END $$;
	END

# Get the source of a call's graph, and the vertices reached from 0.
sub reach
{
	my ($node, %how) = @_;
	my $graph = $how{graph} // 't';

	return $node->safe_psql($how{db} // 'postgres', ($how{before} // '') . "SELECT string_agg(vertex::text, ' ' ORDER BY vertex) FROM emogi_bfs('$graph', " . ($how{source} // 0) . ');'
		. 'SELECT cache FROM emogi_runs WHERE pid = pg_backend_pid() ORDER BY id DESC LIMIT 1');
}

# Get the version.
sub version { return $far->safe_psql('postgres', 'SELECT v FROM version') }

# Get the vertices reached by the graph of the current version.
sub expected
{
	my ($way) = @_;
	my $v = version();

	return '0 ' . $v . ' ' . (1000000 + $v) . "\n$way";
}

# ---- in sequence

is(reach($hub), expected('built'), 'built');
is(reach($hub), expected('hit'), 'another session uses it');
$far->safe_psql('postgres', 'CALL bump()');
is(reach($hub), expected('built'), 'rebuilt after a change');
is(reach($hub), expected('hit'), 'and cached again');

# A prepared transaction changes nothing until it is committed, by a session that runs nothing of
# it.
$far->safe_psql('postgres', "BEGIN; CALL bump(); PREPARE TRANSACTION 'p'");
like(reach($hub), qr/^0 2 1000002\n/, 'prepared');
like(reach($hub), qr/^0 2 1000002\n/, 'prepared, again');
$far->safe_psql('postgres', "COMMIT PREPARED 'p'");
like(reach($hub), qr/^0 3 1000003\n/, 'committed');
like(reach($hub), qr/^0 3 1000003\nhit/, 'committed, and cached');
$far->safe_psql('postgres', "BEGIN; CALL bump(); PREPARE TRANSACTION 'p'");
like(reach($hub), qr/^0 3 1000003\n/, 'prepared');
$far->safe_psql('postgres', "ROLLBACK PREPARED 'p'");
like(reach($hub), qr/^0 3 1000003\n/, 'rolled back');

# A writer that wrote before the table was registered, and commits later.
{
	$far->safe_psql('postgres', 'CREATE TABLE fresh (src bigint, dst bigint); INSERT INTO fresh VALUES (0, 1)');
	$hub->safe_psql('postgres', 'CREATE FOREIGN TABLE fresh (src bigint, dst bigint) SERVER far');
	my $writer = session($far);
	$writer->ask('BEGIN; INSERT INTO fresh VALUES (1, 2)');
	like(reach($hub, graph => 'fresh'), qr/^0 1\n/, 'written before');
	like(reach($hub, graph => 'fresh'), qr/^0 1\n/, 'written before, again');
	$writer->ask('COMMIT');
	like(reach($hub, graph => 'fresh'), qr/^0 1 2\n/, 'committed');
	like(reach($hub, graph => 'fresh'), qr/^0 1 2\n/, 'committed, again');
	like(reach($hub, graph => 'fresh'), qr/^0 1 2\nhit/, 'and cached in the end');
	$writer->ask('BEGIN; DELETE FROM fresh WHERE src = 1');
	like(reach($hub, graph => 'fresh'), qr/^0 1 2\nhit/, 'others see the same as before');
	$writer->ask('COMMIT');
	like(reach($hub, graph => 'fresh'), qr/^0 1\nbuilt/, 'gone');
	$writer->quit;
}

# ---- stamps and snapshots

{
	my $old = session($far);
	my $stamp = sub { my ($table) = @_; return "SELECT coalesce(encode(emogi_stamp('$table', '{src}'), 'hex'), 'none')" };
	my $now = sub { return $far->safe_psql('postgres', $stamp->($_[0])) };
	my $write = sub { $far->safe_psql('postgres', join('', map { "INSERT INTO stamped VALUES (0, $_);\n" } 1 .. $_[0])) };

	$far->safe_psql('postgres', 'CREATE TABLE stamped (src bigint, dst bigint)');
	# The table is not registered yet, so earlier writers are in no ring.
	$old->ask('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1');
	$write->(1);
	is($old->ask($stamp->('stamped')), 'none', 'a snapshot older than an unrecorded change');
	$old->ask('COMMIT');
	my $first = $now->('stamped');
	like($first, qr/^[0-9a-f]{64}$/, 'a snapshot newer than it');

	# A snapshot returns the same stamp as long as it lives, whatever is committed meanwhile.
	$old->ask('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1');
	$write->(1);
	my $second = $now->('stamped');
	isnt($second, $first, 'a change');
	is($old->ask($stamp->('stamped')), $first, 'a snapshot older than it');
	is($old->ask($stamp->('stamped')), $first, '... again');
	$old->ask('COMMIT');
	is($old->ask($stamp->('stamped')), $second, 'and a new one');

	# More writers than the ring holds; the last is rolled back, so that all writers in the ring
	# have changed nothing.
	my %seen = ($first => 1, $second => 1);
	for my $round (1 .. 3)
	{
		$old->ask('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1');
		my $before = $old->ask($stamp->('stamped'));
		for my $step (1 .. 128)
		{
			$write->(1);
			if ($step > 120)
			{
				$far->safe_psql('postgres', "BEGIN; INSERT INTO stamped VALUES (0, 0); PREPARE TRANSACTION 's'");
				$far->safe_psql('postgres', "ROLLBACK PREPARED 's'");
			}
			next if $step < 100;
			my $stamp_now = $now->('stamped');
			$seen{$stamp_now}++;
		}
		like($old->ask($stamp->('stamped')), qr/^($before|none)$/, 'an old snapshot returns the same stamp, or none');
		$old->ask('COMMIT');
	}
	is((grep { $_ > 1 } values %seen), 0, 'each state of the table has a distinct stamp');
	is($now->('stamped'), $now->('stamped'), 'which stays');
	$old->quit;
}

# ---- concurrent writers and readers

{
	my $file = PostgreSQL::Test::Utils::tempdir() . '/bump.sql';
	append_to_file($file, "CALL bump();\n\\sleep 3 ms\n");
	my $writers = IPC::Run::start([ 'pgbench', '-n', '-c', '2', '-j', '1', '-T', '12', '-f', $file, '-h', $far->host, '-p', $far->port, 'postgres' ], '>', '/dev/null', '2>', '/dev/null');
	my @readers = map { session($hub) } 1 .. 3;
	my ($wrong, $hits, $rounds) = (0, 0, 0);
	my $until = time + 10;

	while (time < $until)
	{
		$_->tell('CALL watch(8)') for @readers;
		for my $reader (@readers)
		{
			my ($w, $h) = split /\|/, $reader->answer;

			$wrong += $w;
			$hits += $h;
			$rounds += 8;
		}
	}
	$writers->finish;
	$_->quit for @readers;
	is($wrong, 0, "concurrent writers and readers: $rounds calls, $hits of them hits");
	cmp_ok($rounds, '>', 50, 'enough calls');
	cmp_ok(version(), '>', 100, 'enough changes');
	like(reach($hub), qr/\n(built|hit)$/, 'afterwards');
	is(reach($hub), expected('hit'), 'and kept');
}

# ---- server restarts

reach($hub);
$far->restart;
is(reach($hub), expected('built'), 'a restarted server returns a different stamp');
is(reach($hub), expected('hit'), 'and is trusted again');
{
	my $session = session($hub);
	my $ask = q{SELECT string_agg(vertex::text, ' ' ORDER BY vertex) FROM emogi_bfs('t', 0)};

	is($session->ask($ask) . "\nhit", expected('hit'), 'a session');
	$far->stop('immediate');
	$far->start;
	$far->safe_psql('postgres', 'CALL bump()');
	is($session->ask($ask) . "\nhit", expected('hit'), 'the same session after a crash of the server');
	$far->safe_psql('postgres', q{SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE application_name = 'emogi'});
	is($session->ask($ask) . "\nhit", expected('hit'), 'and after the end of its connection');
	is($far->safe_psql('postgres', q{SELECT count(*) || ' ' || max(state) FROM pg_stat_activity WHERE application_name = 'emogi'}), '1 idle', 'one connection is kept open, without a transaction');
	is($far->safe_psql('postgres', q{SELECT count(*) FROM pg_locks l JOIN pg_stat_activity a USING (pid) WHERE a.application_name = 'emogi' AND l.locktype = 'relation'}), '0', 'and without locks');
	$session->quit;
}
ok($far->poll_query_until('postgres', q{SELECT count(*) = 0 FROM pg_stat_activity WHERE application_name = 'emogi'}), 'it is closed with its session');

# ---- a standby provides no stamps

$far->backup('b');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($far, 'b', has_streaming => 1);
$standby->start;
$far->wait_for_catchup($standby);
$hub->safe_psql('postgres', server_of('standby', $standby) . 'CREATE FOREIGN TABLE ts (src bigint, dst bigint) SERVER standby OPTIONS (table_name \'t\')');
is(reach($hub, graph => 'ts'), expected('private'), 'a standby');
is(reach($hub, graph => 'ts'), expected('private'), 'a standby, again');
$far->safe_psql('postgres', 'CALL bump()');
$far->wait_for_catchup($standby);
is(reach($hub, graph => 'ts'), expected('private'), 'and replayed changes are visible');
$standby->promote;
$standby->safe_psql('postgres', 'UPDATE t SET dst = 5 WHERE src = 0; INSERT INTO t VALUES (5, 6)');
like(reach($hub, graph => 'ts'), qr/^0 5 6\n/, 'promoted');
like(reach($hub, graph => 'ts'), qr/^0 5 6\nhit/, 'promoted, and cached');
is(reach($hub), expected('built'), 'the primary is another server');
$standby->stop;

# ---- roles

$far->safe_psql('postgres', <<~'END');
	CREATE ROLE narrow LOGIN;
	CREATE ROLE wide LOGIN;
	CREATE TABLE mine (owner text, src bigint, dst bigint);
	INSERT INTO mine VALUES ('narrow', 0, 1), ('wide', 0, 2);
	GRANT SELECT ON mine, t TO narrow, wide;
	ALTER TABLE mine ENABLE ROW LEVEL SECURITY;
	CREATE POLICY p ON mine TO narrow USING (owner = 'narrow');
	CREATE POLICY q ON mine TO wide USING (true);
	END
$hub->safe_psql('postgres', <<~'END');
	CREATE ROLE narrow LOGIN;
	CREATE ROLE wide LOGIN;
	GRANT USAGE ON FOREIGN SERVER far TO narrow, wide;
	CREATE USER MAPPING FOR narrow SERVER far OPTIONS (user 'narrow', password_required 'false');
	CREATE USER MAPPING FOR wide SERVER far OPTIONS (user 'wide', password_required 'false');
	CREATE FOREIGN TABLE mine (owner text, src bigint, dst bigint) SERVER far;
	GRANT SELECT ON mine, t TO narrow, wide;
	END
for my $i (1, 2)
{
	is(reach($hub, graph => 'mine(src, dst)'), "0 1 2\n" . ($i == 1 ? 'built' : 'hit'), 'the owner has all rows');
	is(reach($hub, graph => 'mine(src, dst)', before => 'SET ROLE narrow;'), "0 1\nprivate", 'a role subject to row security has its own');
	is(reach($hub, graph => 'mine(src, dst)', before => 'SET ROLE wide;'), "0 1 2\nprivate", 'and one whose policy shows all');
	is(reach($hub, before => 'SET ROLE narrow;'), expected('hit'), 'one graph for all roles that can read all rows');
}
{
	my $session = session($hub);
	my $ask = q{SELECT string_agg(vertex::text, ' ' ORDER BY vertex) FROM emogi_bfs('mine(src, dst)', 0)};

	for my $i (1, 2)
	{
		is($session->ask("RESET ROLE; $ask"), '0 1 2', 'a session has a connection per role: the owner');
		is($session->ask("SET ROLE narrow; $ask"), '0 1', '... a role subject to row security');
	}
	$session->quit;
}
# A read of all rows whose connection is kept, and then a remote table with row security: settings
# are transaction-local.
for my $i (1, 2)
{
	my $session = session($hub);
	my $ask = sub { my ($graph) = @_; return $session->ask("SELECT string_agg(vertex::text, ' ' ORDER BY vertex) FROM emogi_bfs('$graph', 0)") };

	$hub->safe_psql('postgres', q{SELECT emogi_evict('t')});
	$session->ask('SET ROLE narrow');
	is($ask->('t') . "\nbuilt", expected('built'), 'a table whose rows are all visible');
	is($ask->('mine(src, dst)'), '0 1', '... and by the same connection one with row security');
	is($ask->('mine(src, dst)'), '0 1', '... again');
	$session->quit;
}
$far->safe_psql('postgres', 'REVOKE SELECT ON t FROM narrow');
my ($rc, $out, $err) = $hub->psql('postgres', "SET ROLE narrow; SELECT count(*) FROM emogi_bfs('t', 0)");
isnt($rc, 0, 'a role that lost its remote privilege');
like($err, qr/permission denied for table t/, 'and why');
is(reach($hub, before => 'SET ROLE wide;'), expected('hit'), 'others may');

# ---- changes between stamp and rows

{
	my $lock = session($far);
	my $call = session($hub);
	# Let a call wait for a remote lock, make a change meanwhile, and let it continue.
	my $during = sub
	{
		my ($locked, $graph, @sql) = @_;

		$lock->ask("BEGIN; LOCK TABLE $locked IN ACCESS EXCLUSIVE MODE");
		$call->tell("SELECT string_agg(vertex::text, ' ' ORDER BY vertex) FROM emogi_bfs('$graph', 0)");
		$far->poll_query_until('postgres', q{SELECT count(*) = 1 FROM pg_stat_activity WHERE application_name = 'emogi' AND wait_event_type = 'Lock'}) or die 'nobody waits';
		$far->safe_psql('postgres', $_) for @sql;
		$lock->ask('ROLLBACK');
		return $call->answer;
	};

	$far->safe_psql('postgres', <<~'SQL');
		CREATE SCHEMA s1;
		CREATE SCHEMA s2;
		CREATE TABLE s1.t (src bigint, dst bigint);
		CREATE TABLE s2.t (src bigint, dst bigint);
		INSERT INTO s1.t VALUES (0, 1), (1, 2);
		INSERT INTO s2.t VALUES (0, 777);
		CREATE ROLE seer LOGIN BYPASSRLS;
		CREATE TABLE ra (src bigint, dst bigint);
		CREATE TABLE rb (src bigint, dst bigint);
		INSERT INTO ra VALUES (0, 1), (0, 2);
		INSERT INTO rb VALUES (1, 5);
		ALTER TABLE ra ENABLE ROW LEVEL SECURITY;
		CREATE POLICY p ON ra USING (dst < 2);
		GRANT SELECT ON ra, rb TO seer;
		SQL
	$hub->safe_psql('postgres', <<~'SQL');
		CREATE FOREIGN TABLE swapped (src bigint, dst bigint) SERVER far OPTIONS (schema_name 's1', table_name 't');
		CREATE ROLE seer LOGIN;
		GRANT USAGE ON FOREIGN SERVER far TO seer;
		CREATE USER MAPPING FOR seer SERVER far OPTIONS (user 'seer', password_required 'false');
		CREATE TABLE rt (src bigint, dst bigint);
		CREATE FOREIGN TABLE ra () INHERITS (rt) SERVER far;
		CREATE FOREIGN TABLE rb () INHERITS (rt) SERVER far;
		GRANT SELECT ON rt TO seer;
		SQL
	my $swap = 'BEGIN; ALTER SCHEMA s1 RENAME TO s0; ALTER SCHEMA s2 RENAME TO s1; ALTER SCHEMA s0 RENAME TO s2; COMMIT';

	like(reach($hub, graph => 'swapped'), qr/^0 1 2\n/, 'schemas before the swap');
	$hub->safe_psql('postgres', q{SELECT emogi_evict('swapped')});
	like($during->('s1.t', 'swapped', $swap), qr/40001: could not read foreign table "swapped"/, 'a call while schemas are swapped');
	$far->safe_psql('postgres', $swap);
	like(reach($hub, graph => 'swapped'), qr/^0 1 2\n/, 'and swapped back');

	like(reach($hub, graph => 'rt', before => 'SET ROLE seer;'), qr/^0 1 2 5\n/, 'a role that sees all rows');
	$hub->safe_psql('postgres', q{SELECT emogi_evict('rt')});
	$call->ask('SET ROLE seer');
	like($during->('rb', 'rt', 'ALTER ROLE seer NOBYPASSRLS'), qr/42501: .*query would be affected by row-level security policy/s, 'temporarily does not');
	$far->safe_psql('postgres', 'ALTER ROLE seer BYPASSRLS');
	like(reach($hub, graph => 'rt', before => 'SET ROLE seer;'), qr/^0 1 2 5\n/, 'and does again');
	$call->ask('RESET ROLE');

	# A table replaced by another while a call waits.
	$far->safe_psql('postgres', 'CREATE TABLE dc (src bigint, dst bigint); INSERT INTO dc VALUES (0, 1)');
	$hub->safe_psql('postgres', 'CREATE FOREIGN TABLE dc (src bigint, dst bigint) SERVER far');
	$lock->ask('BEGIN; DROP TABLE dc; CREATE TABLE dc (src bigint, dst bigint); INSERT INTO dc VALUES (0, 9)');
	$call->tell(q{\set VERBOSITY sqlstate} . qq{\nSELECT string_agg(vertex::text, ' ' ORDER BY vertex) FROM emogi_bfs('dc', 0)});
	$far->poll_query_until('postgres', q{SELECT count(*) = 1 FROM pg_stat_activity WHERE application_name = 'emogi' AND wait_event_type = 'Lock'}) or die 'nobody waits';
	$lock->ask('COMMIT');
	like($call->answer, qr/^(0 9|0 1|.*40001.*|)$/s, 'a replaced table');
	like(reach($hub, graph => 'dc'), qr/^0 9\n/, '... and then read');

	# A connection terminated at the last moment is reopened.
	for my $i (1 .. 8)
	{
		$far->safe_psql('postgres', q{SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'emogi'});
		like($call->ask(q{SELECT string_agg(vertex::text, ' ' ORDER BY vertex) FROM emogi_bfs('dc', 0)}), qr/^0 9$/, 'a connection that was just terminated');
	}
	$_->quit for $lock, $call;
}

# ---- a server that stops reading a request larger than the network buffers

{
	my $folder = PostgreSQL::Test::Utils::tempdir_short();
	my $listener = IO::Socket::UNIX->new(Local => "$folder/.s.PGSQL.5999", Listen => 10) or die "listen: $!";
	my $forwarder = fork;

	# forwards one connection until stamps are requested
	if (!$forwarder)
	{
		$SIG{TERM} = 'DEFAULT';
		my $client = $listener->accept;
		my $server = IO::Socket::UNIX->new(Peer => $far->host . '/.s.PGSQL.' . $far->port);
		my $select = IO::Select->new($client, $server);

		FORWARD: while (1)
		{
			for my $socket ($select->can_read)
			{
				sysread $socket, my $data, 16384 or last FORWARD;
				last FORWARD if $data =~ /emogi_stamp"?\(c/;
				syswrite $socket == $client ? $server : $client, $data;
			}
		}
		sleep 600;
		POSIX::_exit(0);
	}
	$hub->safe_psql('postgres', server_of('deaf', $far, host => $folder, port => 5999) . q{
		CREATE TABLE deaf (src bigint, dst bigint) PARTITION BY LIST (src);
		DO $$ BEGIN FOR i IN 1 .. 1500 LOOP
			EXECUTE format('CREATE FOREIGN TABLE deaf%s PARTITION OF deaf FOR VALUES IN (%s) SERVER deaf OPTIONS (schema_name %L, table_name %L)', i, i, repeat('s', 63), repeat('t', 59) || i);
		END LOOP; END $$});
	my $call = session($hub);
	$call->ask(q{SET statement_timeout = '2s'});
	$call->tell(q{SELECT count(*) FROM emogi_bfs('deaf', 1)});
	ok(wait_until(60, sub { $call->is_done }), 'a server that does not read a large request: the call ends');
	kill 'KILL', $forwarder;
	waitpid $forwarder, 0;
	close $listener;
	like($call->answer, qr/^ERROR:  57014/, '... by statement_timeout');
	$hub->safe_psql('postgres', sprintf q{ALTER SERVER deaf OPTIONS (SET host '%s', SET port '%d')}, $far->host, $far->port);
	like($call->ask(q{SET statement_timeout = '60s'; SELECT count(*) FROM emogi_bfs('deaf', 1)}), qr/^ERROR:  (?:42P01|3F000)/, 'one that reads it reports that the tables do not exist');
	$call->quit;
}

# ---- errors leave no connection open

$hub->safe_psql('postgres', 'ALTER FOREIGN TABLE t OPTIONS (ADD table_name \'nothing\')');
($rc, $out, $err) = $hub->psql('postgres', "SELECT count(*) FROM emogi_bfs('t', 0)");
like($err, qr/relation "public.nothing" does not exist/, 'a missing table');
$hub->safe_psql('postgres', 'ALTER FOREIGN TABLE t OPTIONS (SET table_name \'t\')');
{
	my $lock = session($far);

	$lock->ask('BEGIN; LOCK TABLE t IN ACCESS EXCLUSIVE MODE');
	($rc, $out, $err) = $hub->psql('postgres', "SET statement_timeout = '500ms'; SELECT count(*) FROM emogi_bfs('t', 0)");
	like($err, qr/canceling statement due to statement timeout/, 'a locked remote table');
	ok($far->poll_query_until('postgres', q{SELECT count(*) = 0 FROM pg_stat_activity WHERE application_name = 'emogi'}), 'no remote session waits any longer');
	$lock->quit;
}
like(reach($hub), qr/^0 \d+ \d+\n/, 'everything works again');

done_testing();
