# A failed read of foreign tables is an error that names the server, or is canceled immediately, for
# any cause: stopped servers, killed remote sessions, remote errors, local cancellation, networks
# that are cut or stall. Afterwards no remote session is left, and the next call is correct.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use EmogiTest;
use Servers;
use IO::Select;
use IO::Socket::UNIX;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(sleep time);

my $far1 = far_node('far1');
my $far2 = far_node('far2', conf => [ 'max_connections = 8', 'superuser_reserved_connections = 1', 'max_wal_senders = 0', 'restart_after_crash = on' ]);
my $hub = hub_node('hub');
my @measured;

sub sql { return $hub->safe_psql('postgres', join("\n", @_)); }
sub far1 { return $far1->safe_psql('postgres', join("\n", @_)); }
sub far2 { return $far2->safe_psql('postgres', join("\n", @_)); }

# ------------------------------------------------------------------------------------------------- a network proxy

# A process that forwards connections to the remote cluster. A file controls it: "pass"; "cut
# NUMBER" closes all connections after NUMBER bytes from the server; "stall NUMBER" forwards nothing
# after that, on old and new connections.
my $folder = PostgreSQL::Test::Utils::tempdir_short();
my $mode_file = "$folder/mode";

sub network
{
	my ($mode) = @_;

	open my $file, '>', "$mode_file.new" or die $!;
	print $file $mode;
	close $file;
	rename "$mode_file.new", $mode_file or die $!;
	sleep 0.1;    # the proxy checks every 20 ms
}

sub forward
{
	my ($there) = @_;
	my $listener = IO::Socket::UNIX->new(Local => "$folder/.s.PGSQL.5999", Listen => 100) or die "listen: $!";
	my $select = IO::Select->new($listener);
	my (%peer, %from_there);
	my ($mode, $limit, $bytes) = ('', 0, 0);

	while (1)
	{
		my ($now, $number) = split / /, slurp_file($mode_file);
		($mode, $limit, $bytes) = ($now, $number // 0, 0) if "$now " . ($number // 0) ne "$mode $limit";
		my $over = $mode ne 'pass' && $bytes >= $limit;
		if ($over && $mode eq 'cut')
		{
			$select->remove($_), close $_ for values %peer;
			%peer = %from_there = ();
		}
		for my $socket ($over && $mode eq 'stall' ? (sleep(0.02) && ()) : $select->can_read(0.02))
		{
			if ($socket == $listener)
			{
				my $client = $listener->accept or next;
				my $server = IO::Socket::UNIX->new(Peer => $there);
				if (!$server || $over) { close $client; next }
				@peer{ fileno $client, fileno $server } = ($server, $client);
				$from_there{ fileno $server } = 1;
				$select->add($client, $server);
				next;
			}
			my $peer = $peer{ fileno $socket } or next;
			my $got = sysread $socket, my $data, 16384;
			$bytes += $got if $got && $from_there{ fileno $socket };
			if (!$got || !defined syswrite $peer, $data)
			{
				delete @peer{ fileno $socket, fileno $peer };
				delete @from_there{ fileno $socket, fileno $peer };
				$select->remove($socket, $peer);
				close $_ for $socket, $peer;
			}
		}
	}
}

network('pass');
my $forwarder = fork;
if (!$forwarder)
{
	$SIG{PIPE} = 'IGNORE';
	$SIG{TERM} = 'DEFAULT';
	eval { forward($far1->host . '/.s.PGSQL.' . $far1->port) };
	print STDERR $@;
	POSIX::_exit(1);
}
END { local $?; kill 'KILL', $forwarder if $forwarder; waitpid $forwarder, 0 if $forwarder; }

# ------------------------------------------------------------------------------------------------- tables

# crawl: slow enough to be interrupted, with pages; a policy makes it slow for the role that reads
# it.
far1('CREATE TABLE plain AS ' . edges(3000, 1) . ';', 'CREATE TABLE crawl AS ' . edges(300000, 2) . ';', 'CREATE ROLE limited LOGIN;', 'GRANT SELECT ON ALL TABLES IN SCHEMA public TO limited;',
	'ALTER TABLE crawl ENABLE ROW LEVEL SECURITY;', 'CREATE POLICY slowly ON crawl USING (weight <> 3 OR pg_sleep(0.01) IS NOT NULL);',
	'CREATE VIEW slow AS SELECT i::bigint AS src, i::bigint + 1 AS dst FROM generate_series(1, 200000) i WHERE i % 1000 <> 0 OR pg_sleep(0.02) IS NOT NULL;',
	'CREATE VIEW asleep AS SELECT 1::bigint AS src, 2::bigint AS dst FROM pg_sleep(600);',
	'CREATE VIEW wrong_at_last AS SELECT i::bigint AS src, i::bigint / (200000 - i) AS dst FROM generate_series(1, 200000) i;',
	'CREATE TABLE wrong_rows AS ' . edges(200000, 3) . ';', 'INSERT INTO wrong_rows VALUES (1, 2, 1e300);',
	'CREATE TABLE overflow (src bigint, dst bigint);', 'INSERT INTO overflow SELECT i, i + 1 FROM generate_series(1, 100000) i;', 'INSERT INTO overflow VALUES (5000000000, 1);',
	'CREATE TABLE no_weight AS ' . edges(200000, 6) . ';', 'INSERT INTO no_weight VALUES (1, 2, NULL);',
	'CREATE TABLE words (src text, dst text);', "INSERT INTO words SELECT i::text, (i + 1)::text FROM generate_series(1, 50000) i;", "INSERT INTO words VALUES ('1', 'seven');",
	'CREATE TABLE locked AS TABLE plain;', 'CREATE TABLE hidden AS TABLE plain;', 'REVOKE ALL ON hidden FROM limited;', 'CREATE TABLE gone (src bigint, other bigint);');
far2('CREATE TABLE plain AS ' . edges(2000, 4) . ';', 'CREATE TABLE many AS ' . edges(300000, 5) . ';', 'CREATE ROLE few LOGIN CONNECTION LIMIT 2;', 'GRANT SELECT ON ALL TABLES IN SCHEMA public TO few;',
	'CREATE ROLE other LOGIN;', 'GRANT SELECT ON ALL TABLES IN SCHEMA public TO other;',
	'CREATE VIEW slow AS SELECT i::bigint AS src, i::bigint + 1 AS dst, 1::float8 AS weight FROM generate_series(1, 200000) i WHERE i % 1000 <> 0 OR pg_sleep(0.02) IS NOT NULL');

sub foreign
{
	my ($name, $server, $columns, $options) = @_;

	return "CREATE FOREIGN TABLE $name ($columns) SERVER $server OPTIONS ($options);";
}

my $ends = 'src bigint, dst bigint';
my $columns = "$ends, weight float8";
sql(server_of('far1', $far1, fetch_size => 5000), server_of('far2', $far2), 'CREATE SERVER limited FOREIGN DATA WRAPPER postgres_fdw OPTIONS (', "host '" . $far1->host . "', port '" . $far1->port . "', dbname 'postgres', fetch_size '5000');",
	"CREATE USER MAPPING FOR CURRENT_USER SERVER limited OPTIONS (user 'limited');", server_of('proxied', $far1, host => $folder, port => 5999, fetch_size => 5000),
	'CREATE SERVER few FOREIGN DATA WRAPPER postgres_fdw OPTIONS (', "host '" . $far2->host . "', port '" . $far2->port . "', dbname 'postgres');", "CREATE USER MAPPING FOR CURRENT_USER SERVER few OPTIONS (user 'few');",
	'CREATE SERVER nowhere FOREIGN DATA WRAPPER postgres_fdw OPTIONS (', "host '$folder', port '5998', dbname 'postgres');", 'CREATE USER MAPPING FOR CURRENT_USER SERVER nowhere;',
	server_of('no_database', $far1, dbname => 'no such'),
	foreign('plain', 'far1', $columns, "table_name 'plain'"), foreign('crawl', 'limited', $columns, "table_name 'crawl'"), (map { foreign($_, 'far1', $ends, "table_name '$_'") } 'slow', 'asleep', 'wrong_at_last', 'gone', 'nothing'),
	foreign('overflow', 'far1', 'src int, dst int', "table_name 'overflow'"), foreign('words', 'far1', $ends, "table_name 'words'"), foreign('locked', 'far1', $columns, "table_name 'locked'"), foreign('hidden', 'limited', $columns, "table_name 'hidden'"),
	foreign('no_weight', 'far1', $columns, "table_name 'no_weight'"), foreign('wrong_rows', 'far1', 'src bigint, dst bigint, weight real', "table_name 'wrong_rows'"),
	foreign('through', 'proxied', $columns, "table_name 'plain'"), foreign('through_slow', 'proxied', $ends, "table_name 'slow'"), foreign('through_crawl', 'proxied', $columns, "table_name 'crawl'"),
	foreign('many_few', 'few', $columns, "table_name 'many'"), foreign('plain2', 'far2', $columns, "table_name 'plain'"), foreign('many2', 'far2', $columns, "table_name 'many'"), foreign('no_server', 'nowhere', $columns, "table_name 'plain'"), foreign('no_db', 'no_database', $columns, "table_name 'plain'"),
	'CREATE TABLE both_sides (src bigint, dst bigint, weight float8) PARTITION BY LIST (src);', "CREATE FOREIGN TABLE both1 PARTITION OF both_sides FOR VALUES IN (1) SERVER far1 OPTIONS (table_name 'plain');",
	"CREATE FOREIGN TABLE both2 PARTITION OF both_sides FOR VALUES IN (2) SERVER far2 OPTIONS (table_name 'slow');", 'CREATE TABLE both_here PARTITION OF both_sides DEFAULT;');

my $answer = sql('CREATE TABLE plain_here AS TABLE plain;', "SELECT fingerprint('plain_here')");
my $session = session($hub);

# Check that no remote session is left, except those that postgres_fdw keeps for the next
# transaction, which are closed here.
sub closed
{
	my ($name) = @_;

	$session->ask('DO $$ BEGIN PERFORM postgres_fdw_disconnect_all(); END $$');
	return all_gone($name);
}

# Check that nothing is left open on the servers, and that the next call of the session is correct.
sub well
{
	my ($name, %how) = @_;

	my $seconds = closed($name);
	push @measured, sprintf '%s: %.2f s', $name, $seconds if $how{measured};
	is($session->ask("SELECT fingerprint('plain')"), $answer, "$name: the next call is correct");
	closed("$name, and after it");
}

# Check that a call fails with one of these SQLSTATEs, and with a message that names the server and
# the remote error.
sub fails
{
	my ($name, $call, $states, $server, $says) = @_;
	my $said = $session->ask($call);

	like($said, qr/^(?:psql.*)?ERROR:\s+(?:$states): /, "$name: an error") or diag $said;
	if (reads_servers() && $server)
	{
		like($said, qr/server "$server"/, "$name: the server is named");
		like($said, $says, "$name: the remote error is shown") if $says;
	}
	well($name);
}

well('at first');

# ------------------------------------------------------------------------------------------------- remote errors

fails('a server that is down', "SELECT count(*) FROM emogi_cc('no_server')", '08001|08006', 'nowhere', qr/No such file|connection/);
fails('a missing database', "SELECT count(*) FROM emogi_cc('no_db')", '08001|3D000', 'no_database', qr/does not exist/);
fails('a missing table', "SELECT count(*) FROM emogi_cc('nothing')", '42P01', 'far1', qr/relation "public.nothing" does not exist/);
fails('a missing column', "SELECT count(*) FROM emogi_cc('gone')", '42703', 'far1', qr/column "dst" does not exist/);
fails('no remote privilege', "SELECT count(*) FROM emogi_cc('hidden')", '42501', 'limited', qr/permission denied for table hidden/);
fails('an error at the last row', "SELECT count(*) FROM emogi_cc('wrong_at_last')", '22012', 'far1', qr/division by zero/);
fails('an error at the last row, by a batch', "SELECT count(*), sum(level) FROM generate_series(1, 9) g, LATERAL emogi_bfs('wrong_at_last', g)", '22012', 'far1', qr/division by zero/);
fails('a value that does not fit', "SELECT count(*) FROM emogi_cc('overflow')", '22003');
fails('a word that is not a number', "SELECT count(*) FROM emogi_cc('words')", '22P02');
fails('a weight that does not fit', "SELECT count(*) FROM emogi_sssp('wrong_rows', 1)", '22003');
fails('an edge without a weight, after many', "SELECT count(*) FROM emogi_sssp('no_weight', 1)", '22004|22\\w{3}');

# Memory allocation fails, at each place that allocates.
my @kinds = (0, 0);
my $two = "SELECT count(*) || ' vertices' FROM emogi_cc('two_plain')";
sql('CREATE TABLE two_plain (src bigint, dst bigint, weight float8) PARTITION BY LIST (src);', "CREATE FOREIGN TABLE two1 PARTITION OF two_plain FOR VALUES IN (1) SERVER far1 OPTIONS (table_name 'plain');",
	"CREATE FOREIGN TABLE two2 PARTITION OF two_plain FOR VALUES IN (2) SERVER far2 OPTIONS (table_name 'plain');");
for my $at (1 .. 20)
{
	$session->ask("SET emogi.fault = 'allocation=$at'");
	my $said = $session->ask($two);
	$session->ask('RESET emogi.fault');
	$kinds[ $said eq '128 vertices' ? 0 : 1 ]++;
	ok(0, "allocation $at fails") || diag $said unless $said eq '128 vertices' || $said =~ /^ERROR:\s+53200/;
}
cmp_ok($kinds[1], '>', 0, "allocations that fail: $kinds[1] errors, $kinds[0] answers");
well('allocations that fail');

sql("ALTER SERVER far1 OPTIONS (ADD options '-c statement_timeout=700')");
# with postgres_fdw each FETCH is a statement
fails("remote statement_timeout, $_", "SELECT count(*) FROM emogi_cc('$_')", '57014', 'far1', qr/statement timeout/) for 'asleep', reads_servers() ? 'slow' : ();
sql('ALTER SERVER far1 OPTIONS (DROP options)');

# Caught error: the transaction continues.
is($session->ask(q{DO $$ DECLARE n int; BEGIN
	BEGIN SELECT count(*) INTO n FROM emogi_cc('wrong_at_last'); EXCEPTION WHEN division_by_zero THEN n := -1; END;
	IF n <> -1 THEN RAISE 'no error'; END IF;
	SELECT count(*) INTO n FROM emogi_cc('plain'); IF n <> 128 THEN RAISE 'n is %', n; END IF; END $$}), '', 'a caught error');
well('a caught error');
$session->ask('BEGIN; SAVEPOINT s');
like($session->ask("SELECT count(*) FROM emogi_cc('wrong_at_last')"), qr/ERROR:\s+22012/, 'an error after a savepoint');
is($session->ask("ROLLBACK TO s; SELECT count(*) FROM emogi_cc('plain'); COMMIT"), '128', '... and the transaction continues');
well('an error after a savepoint');

# One of two servers fails while the other is read.
sql("ALTER SERVER far1 OPTIONS (SET port '5998')");
like($session->ask("SELECT count(*) FROM emogi_cc('both_sides')"), qr/ERROR:\s+(?:08001|08006)/, 'one server of two is down');
closed('one server of two is down');
sql("ALTER SERVER far1 OPTIONS (SET port '" . $far1->port . "')");
well('when it is running again');

# ------------------------------------------------------------------------------------------------- during the read

# Let the session make a call, and run code as soon as remote sessions are active; returns the
# answer of the call and the seconds since then.
sub in_the_middle
{
	my ($call, $far, $action, $sessions) = @_;

	$session->tell($call);
	my $working = wait_until(15, sub { $session->is_done || far_sessions($far, busy => 1) >= $sessions });
	sleep 0.3;
	return ('done before', 0) if !$working || $session->is_done;
	my $start = time;
	$action->();
	my $said = $session->answer;
	return ($said, time - $start);
}

my $pid = $session->ask('SELECT pg_backend_pid()');
my $others = q{SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()};
my %long = (slow => [ "SELECT count(*) FROM emogi_cc('slow')", $far1, 1 ], crawl => [ "SELECT count(*) FROM emogi_cc('crawl')", $far1, reads_servers() ? 2 : 1 ],
	asleep => [ "SELECT count(*) FROM emogi_cc('asleep')", $far1, 1 ], two => [ "SELECT count(*) FROM emogi_cc('both_sides')", $far2, 1 ]);

for my $which ('slow', 'crawl', 'asleep', 'two')
{
	my ($call, $far, $sessions) = @{ $long{$which} };
	my ($said, $seconds) = in_the_middle($call, $far, sub { sql("SELECT pg_cancel_backend($pid)") }, $sessions);
	like($said, qr/ERROR:\s+57014/, "pg_cancel_backend, $which: canceled");
	cmp_ok($seconds, '<', 5, sprintf '... after %.2f s', $seconds);
	push @measured, sprintf 'cancel, %s: %.2f s', $which, $seconds;
	well("pg_cancel_backend, $which", measured => 1);

	my $start = time;
	like($session->ask("SET statement_timeout = 600; $call; SET statement_timeout = 0"), qr/ERROR:\s+57014/, "statement_timeout, $which: canceled");
	cmp_ok(time - $start, '<', 6, '... in time');
	well("statement_timeout, $which", measured => 1);
}

for my $which ('slow', 'crawl')
{
	my ($call, $far, $sessions) = @{ $long{$which} };
	my ($said) = in_the_middle($call, $far, sub { $far->safe_psql('postgres', $others) }, $sessions);
	like($said, qr/ERROR:\s+(?:57P01|08006|08003)/, "all remote sessions are killed, $which: an error") or diag $said;
	like($said, qr/server "\w+"/, '... that names the server') if reads_servers();
	well("all killed, $which");

	# with postgres_fdw a session is idle between two FETCH
	my $one = "$others AND pid = (SELECT max(pid) FROM pg_stat_activity WHERE query ~ '^(COPY|FETCH)' AND state = 'active')";
	($said) = in_the_middle($call, $far, sub { wait_until(3, sub { $far->safe_psql('postgres', $one) ne '0' }) }, $sessions);
	like($said, qr/ERROR:\s+(?:57P01|08006|08003)/, "one remote session is killed, $which: an error") or diag $said;
	well("one killed, $which");

	($said) = in_the_middle($call, $far, sub { $far->safe_psql('postgres', q{SELECT count(pg_cancel_backend(pid)) FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid() AND state = 'active'}) }, $sessions);
	like($said, qr/ERROR:\s+57014/, "remote sessions are canceled, $which: an error") or diag $said;
	well("canceled remotely, $which");
}

# A remote lock: a call waits, and can be canceled.
my $locker = session($far1);
$locker->ask('BEGIN; LOCK TABLE locked IN ACCESS EXCLUSIVE MODE');
like($session->ask("SET statement_timeout = 500; SELECT count(*) FROM emogi_cc('locked'); SET statement_timeout = 0"), qr/ERROR:\s+57014/, 'a locked remote table: canceled');
ok(wait_until(10, sub { far_sessions($far1, busy => 1) <= 1 }), '... and no session waits for the lock any more');
$locker->ask('COMMIT');
$locker->quit;
well('a remote table that was locked');

# The caller disconnects.
for my $which ('slow', 'crawl', 'asleep')
{
	my ($call, $far, $sessions) = @{ $long{$which} };
	my $victim = session($hub);
	my $victim_pid = $victim->ask('SELECT pg_backend_pid()');
	$victim->tell($call);
	wait_until(10, sub { far_sessions($far, busy => 1) >= $sessions });
	sleep 0.2;
	sql("SELECT pg_terminate_backend($victim_pid)");
	my $start = time;
	ok(wait_until(10, sub { sql("SELECT count(*) FROM pg_stat_activity WHERE pid = $victim_pid") eq '0' }), "pg_terminate_backend, $which: gone");
	push @measured, sprintf 'pg_terminate_backend, %s: %.2f s', $which, time - $start;
	eval { $victim->{run}->finish };
	well("pg_terminate_backend, $which", measured => 1);
}

# ------------------------------------------------------------------------------------------------- too few connections

my $many = sql(connections(0) . 'CREATE TABLE many_here AS TABLE many2;', "SELECT fingerprint('many_here')");
for my $n (reads_servers() ? (1, 2, 4, 64) : 4)
{
	my ($got, $err) = answer_of($hub, connections($n) . "SELECT fingerprint('many_few')");
	ok($got eq $many || $got =~ /^(?:53300|08001|08006)$/ && $err =~ /server "few"/, "a role limited to 2 connections, with $n requested: " . ($got eq $many ? 'right' : $got)) or diag "$got\n$err";
	is($got, $many, '... correct, because these suffice') if $n <= 2;
	closed('... and');
	($got, $err) = answer_of($hub, connections($n) . "SELECT fingerprint('many2')");
	ok($got eq $many || $got =~ /^(?:53300|08001|08006)$/ && $err =~ /server "far2"/, "a server limited to 8, with $n requested: " . ($got eq $many ? 'right' : $got)) or diag "$got\n$err";
	closed('... and');
}
# Only one connection is available, including that of postgres_fdw.
far2('ALTER ROLE few CONNECTION LIMIT 1');
my ($got, $err) = answer_of($hub, "SELECT fingerprint('many_few')");
ok($got eq $many || $got =~ /^(?:53300|08001|08006)$/ && $err =~ /server "few"/, 'a role limited to one: ' . ($got eq $many ? 'right' : $got)) or diag $err;
far2('ALTER ROLE few CONNECTION LIMIT 0');
($got, $err) = answer_of($hub, "SELECT fingerprint('many_few')");
like($got, qr/^(?:53300|08001|08006)$/, 'a role limited to none');
well('a role limited to none');

# ------------------------------------------------------------------------------------------------- the network

is($session->ask("SELECT fingerprint('through')"), $answer, 'a network between');
for my $bytes (1, 30000, 500000)
{
	for my $table ('through_slow', 'through')
	{
		next if $table eq 'through' && $bytes > 30000;
		network("cut $bytes");
		my $said = $session->ask("SELECT fingerprint('$table')");
		like($said, qr/ERROR:\s+08\w\d\d/, "$table: cut after $bytes bytes: an error") or diag $said;
		network('pass');
		well("$table: cut after $bytes bytes");
		is($session->ask("SELECT fingerprint('through')"), $answer, '... and on the server, too');
	}
}

SKIP:
{
	# postgres_fdw waits for the other side of a stalled network.
	skip 'postgres_fdw waits longer', 1 unless reads_servers();
	for my $bytes (0, 100, 300000)
	{
		network("stall $bytes");
		my $start = time;
		my $said = $session->ask("SET statement_timeout = 1500; SELECT count(*) FROM emogi_cc('through_slow'); SET statement_timeout = 0");
		my $seconds = time - $start;
		like($said, qr/ERROR:\s+57014/, "a network stalled after $bytes bytes: canceled") or diag $said;
		cmp_ok($seconds, '<', 10, sprintf '... after %.2f s', $seconds);
		push @measured, sprintf 'a network stalled after %d bytes: %.2f s, 1.5 of them statement_timeout', $bytes, $seconds;
		network('pass');
		well("a network that was stalled after $bytes bytes");
	}
}

# ------------------------------------------------------------------------------------------------- a remote cluster stops

my ($said, $seconds) = in_the_middle("SELECT count(*) FROM emogi_cc('both_sides')", $far2, sub { $far2->stop('immediate') }, 1);
like($said, qr/ERROR:\s+(?:57P0[123]|08\w\d\d)/, 'a cluster stopped during the read: an error') or diag $said;
like($session->ask("SELECT count(*) FROM emogi_cc('plain2')"), qr/ERROR:\s+(?:08001|08006)/, 'it is down');
well('while it is down');
$far2->start;
is($session->ask("SELECT count(*) FROM emogi_cc('plain2')"), '128', 'it is running again');
well('when it is running again');

$session->quit;
all_gone('at the end');
note $_ for @measured;
region_is_empty($hub, 'the arena is empty at the end');
$_->stop for $hub, $far1, $far2;
no_crash($hub);

done_testing();
