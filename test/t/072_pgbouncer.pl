# pgbouncer in transaction pooling: many clients share few server sessions, and each transaction may
# use another one. Answers are correct, clients leave nothing behind for the next one, cursors and
# settings last as long as their transaction, a cancel reaches the call, and privileges and limits
# are those of the role. EMOGI_PGBOUNCER names the program if it is not installed.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use EmogiTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(sleep);

my ($pgbouncer) = grep { defined && -x } $ENV{EMOGI_PGBOUNCER}, '/usr/sbin/pgbouncer', map { "$_/pgbouncer" } split /:/, $ENV{PATH};
plan skip_all => 'pgbouncer is not installed' unless $pgbouncer && IPC::Run::run([ $pgbouncer, '-V' ], '<', \'', '>', \my $version, '2>&1');
plan skip_all => 'pgbouncer does not run as root' if $> == 0;

my $node = emogi_node('main', "emogi.max_memory = '128MB'", 'emogi.engine = cpu', 'emogi.incremental_min_size = 0', 'max_connections = 30');
$node->safe_psql('postgres', q{
	CREATE ROLE app LOGIN;
	CREATE ROLE other LOGIN;
	CREATE TABLE tree AS SELECT i / 2 AS src, i AS dst FROM generate_series(2, 1000) i;
	CREATE TABLE own AS TABLE tree;
	CREATE TABLE growing (src int, dst int);
	GRANT SELECT ON small, tree TO app, other;
	GRANT SELECT ON own TO app;
	GRANT ALL ON growing TO app;
	ALTER ROLE other SET emogi.session_calls = 1});

# ---- the pooler, in the server's socket folder

my $port = PostgreSQL::Test::Cluster::get_free_port();
my $folder = $node->basedir . '/pgbouncer';
mkdir $folder or die "$folder: $!";
append_to_file("$folder/users.txt", join "\n", map { qq{"$_" ""} } qw(app other), '');
append_to_file("$folder/pgbouncer.ini", join "\n", '[databases]', sprintf('* = host=%s port=%d', $node->host, $node->port), '[pgbouncer]', 'pool_mode = transaction',
	'default_pool_size = 2', 'max_client_conn = 200', 'auth_type = trust', "auth_file = $folder/users.txt", 'unix_socket_dir = ' . $node->host, "listen_port = $port",
	"logfile = $folder/log", "pidfile = $folder/pid", '');
my $pooler = IPC::Run::start([ $pgbouncer, '-q', "$folder/pgbouncer.ini" ], '<', \'', '>', "$folder/out", '2>&1');
END { local $?; $pooler->kill_kill(grace => 5) if $pooler }

sub through
{
	my ($role, $database) = @_;
	return sprintf('host=%s port=%d user=%s dbname=postgres', $node->host, $port, $role);
}

# A persistent psql, connected through the pooler.
sub client
{
	my ($role) = @_;
	my $self = bless { in => '', out => '', asked => 0, timer => IPC::Run::timer(300) }, 'EmogiTest::Session';

	$self->{run} = IPC::Run::start([ 'psql', '-XAtq', '-v', 'VERBOSITY=verbose', '-d', through($role) ], '<', \$self->{in}, '>&', \$self->{out}, $self->{timer});
	return $self;
}

ok(wait_until(20, sub { my ($out, $err); IPC::Run::run([ 'psql', '-XAtqc', 'SELECT 1', through('app') ], '<', \'', '>', \$out, '2>', \$err) && $out eq "1\n" }), 'the pooler answers')
	or diag slurp_file("$folder/out");

# ---- in sequence

my @clients = map { client('app') } 1 .. 6;
is(join(' ', map { $_->ask(q{SELECT count(*) FROM emogi_bfs('tree', 1)}) } @clients), join(' ', (1000) x 6), 'six clients');
is($node->safe_psql('postgres', q{SELECT count(*) FROM pg_stat_activity WHERE usename = 'app' AND backend_type = 'client backend'}) <= 2 ? 'few' : 'many', 'few', '... of two sessions');
is($clients[0]->ask(q{SELECT cache FROM emogi_runs ORDER BY id DESC LIMIT 1}), 'hit', '... that share the graph');
$clients[0]->ask(q{INSERT INTO growing SELECT 0, i FROM generate_series(1, 10) i});
is($clients[1]->ask(q{SELECT count(*) FROM emogi_bfs('growing', 0)}), '11', 'the next client reads what one has written');
$clients[2]->ask(q{INSERT INTO growing VALUES (5, 100)});
is($clients[3]->ask(q{SELECT count(*) FROM emogi_bfs('growing', 0)}), '12', '... again');

# ---- state that ends with a transaction

$clients[0]->ask(q{BEGIN; DECLARE c CURSOR FOR SELECT vertex FROM emogi_bfs('tree', 1); SET LOCAL emogi.enable_scan = off});
is($clients[0]->ask('FETCH 2 FROM c'), "1\n2", 'a cursor in its transaction');
is($clients[1]->ask('SHOW emogi.enable_scan'), 'on', '... with its own settings');
$clients[0]->ask('ROLLBACK');
is($node->safe_psql('postgres', q{SELECT count(*) FROM emogi_progress}), '0', '... after which nothing is left of it');
is($clients[0]->ask('SHOW emogi.enable_scan'), 'on', '... nor of SET LOCAL');
like($clients[0]->ask(q{BEGIN; SELECT emogi_bfs('nowhere', 1)}), qr/^ERROR:  42P01/, 'an error in a transaction');
$clients[0]->ask('ROLLBACK');
is(join(' ', map { $_->ask(q{SELECT count(*) FROM emogi_bfs('small', 1)}) } @clients), '4 4 4 4 4 4', '... does not affect other clients');

# a transaction sees its own changes, other clients only after its end
$clients[0]->ask('BEGIN; INSERT INTO growing VALUES (100, 101)');
is($clients[0]->ask(q{SELECT count(*) FROM emogi_bfs('growing', 0)}), '13', 'a transaction sees what it has written');
is($clients[1]->ask(q{SELECT count(*) FROM emogi_bfs('growing', 0)}), '12', '... others do not');
$clients[0]->ask('COMMIT');
is($clients[1]->ask(q{SELECT count(*) FROM emogi_bfs('growing', 0)}), '13', '... until it has ended');

# ---- privileges and limits

my $other = client('other');
like($other->ask(q{SELECT count(*) FROM emogi_bfs('own', 1)}), qr/^ERROR:  42501/, 'another role cannot read the tables of app');
is($other->ask(q{SELECT count(*) FROM emogi_runs WHERE username <> 'other'}), '0', '... nor see the calls of app');
like($other->ask(q{BEGIN; DECLARE a CURSOR FOR SELECT a.vertex FROM emogi_bfs('SELECT i, i + 1 FROM generate_series(1, 100000) i', 1) a; FETCH 1 FROM a;
	DECLARE b CURSOR FOR SELECT vertex FROM emogi_bfs('SELECT i, i + 1 FROM generate_series(1, 100000) i', 1); FETCH 1 FROM b}), qr/53400/, '... and has limits of its own');
$other->ask('ROLLBACK');

# ---- a cancel reaches the session that runs the call

my ($out, $err) = ('', '');
my $endless = IPC::Run::start([ 'psql', '-XAtq', '-v', 'VERBOSITY=sqlstate', '-d', through('app'), '-c', q{SELECT count(*) FROM emogi_pagerank('small', max_iterations => 2000000000, tolerance => 0)} ],
	'<', \'', '>', \$out, '2>', \$err, IPC::Run::timeout(60));
ok(wait_until(10, sub { $node->safe_psql('postgres', q{SELECT count(*) FROM emogi_progress WHERE state = 'running'}) eq '1' }), 'a run is in progress');
$endless->signal('INT');
$endless->finish;
is($err, "Cancel request sent\nERROR:  57014\n", '... and is canceled by its client');
is($clients[4]->ask(q{SELECT count(*) FROM emogi_bfs('tree', 1)}), '1000', '... and no other call');
$_->quit foreach @clients, $other;

# ---- a server behind the pooler: transaction-local settings of a foreign read do not affect the
# next client

$node->safe_psql('postgres', sprintf(q{CREATE EXTENSION postgres_fdw; CREATE SERVER pooled FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '%s', port '%d', dbname 'postgres');
	CREATE USER MAPPING FOR app SERVER pooled OPTIONS (user 'app', password_required 'false');
	CREATE FOREIGN TABLE pooled (src int, dst int) SERVER pooled OPTIONS (table_name 'tree'); GRANT SELECT ON pooled TO app}, $node->host, $port));
my $direct = session($node);
is($direct->ask(q{SET ROLE app; SELECT count(*) FROM emogi_bfs('pooled', 1)}), '1000', 'a foreign table behind the pooler');
is($direct->ask(q{SELECT cache FROM emogi_runs ORDER BY id DESC LIMIT 1}), 'built', '... whose graph is cached');
@clients = map { client('app') } 1, 2;
$_->ask('BEGIN') foreach @clients;
foreach my $setting ([ row_security => 'on' ], [ search_path => '"$user", public' ], [ extra_float_digits => '1' ], [ jit => 'on' ])
{
	is(join(' and ', map { $_->ask("SHOW $setting->[0]") } @clients), "$setting->[1] and $setting->[1]", "... leaves $setting->[0]");
}
$_->quit foreach @clients, $direct;

# ---- concurrent clients: the database checks every answer, in transactions of random length

make_checked($node, 'checked', 500);
$node->safe_psql('postgres', 'GRANT SELECT, INSERT ON checked TO app');
append_to_file("$folder/read", q{SELECT 1 / verdict('checked')::int;} . "\n");
append_to_file("$folder/write", q{INSERT INTO checked SELECT max(dst) / 2, max(dst) + 1 FROM checked;} . "\n");
append_to_file("$folder/two", q{BEGIN; SELECT count(*) FROM emogi_cc('checked'); SELECT 1 / verdict('checked')::int; COMMIT;} . "\n");
$node->safe_psql('postgres', 'SELECT emogi_stat_reset()');
$node->command_ok([ 'pgbench', '-n', '-c', '20', '-j', '2', '-t', '30', '-f', "$folder/read\@5", '-f', "$folder/write\@1", '-f', "$folder/two\@2", '-h', $node->host, '-p', $port, '-U', 'app',
	'postgres' ], '20 clients, 600 transactions: all answers are correct');
is($node->safe_psql('postgres', q{SELECT sum(errors), sum(calls) > 500 FROM emogi_stat_graphs WHERE username = 'app'}), '0|t', '... without an error');

nothing_left($node, 'behind a pooler');
no_crash($node);
done_testing();
