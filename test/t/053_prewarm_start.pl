# The graphs of emogi.prewarm are cached soon after the server's start, also on a standby and after
# a crash. Entries that cannot be loaded are reported in the log. Other sessions do not wait for the
# loading worker.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use EmogiTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(time);

my $node = PostgreSQL::Test::Cluster->new('primary');
$node->init(allows_streaming => 1);
$node->append_conf('postgresql.conf', join "\n", "shared_preload_libraries = 'emogi'", 'emogi.incremental_min_size = 1MB', 'autovacuum = off', "emogi.max_memory = '512MB'",
	'restart_after_crash = on', 'fsync = off', 'max_worker_processes = 12', 'max_prepared_transactions = 4');
$node->start;
$node->safe_psql('postgres', q{CREATE DATABASE shop});
$node->safe_psql('postgres', q{CREATE DATABASE "Other Shop"});
$node->safe_psql('postgres', q{CREATE DATABASE bare});
$node->safe_psql('postgres', q{CREATE DATABASE closed ALLOW_CONNECTIONS false});
$node->safe_psql('postgres', q{CREATE ROLE owner; CREATE ROLE stranger; CREATE EXTENSION emogi});
$node->safe_psql($_, q{CREATE EXTENSION emogi}) foreach 'shop', 'Other Shop';
make_checked($node, 'follows', 200_000, 'shop');
$node->safe_psql('shop', q{
	CREATE SCHEMA geo;
	CREATE TABLE geo.roads (from_node int, to_node bigint, km float8);
	INSERT INTO geo.roads SELECT i, i + 1, i % 7 FROM generate_series(1, 1000) i;
	CREATE VIEW looked AS SELECT src, dst FROM follows WHERE dst <= 500;
	ALTER VIEW looked OWNER TO owner;
	CREATE TABLE nameless (a int, b int);
	CREATE SCHEMA hidden;
	CREATE TABLE hidden.away (src int, dst int);
	INSERT INTO hidden.away VALUES (1, 2);
	ALTER TABLE hidden.away OWNER TO owner;
	ALTER TABLE follows OWNER TO owner;
	CREATE FUNCTION grab() RETURNS int LANGUAGE plpgsql AS $$ BEGIN EXECUTE 'ALTER ROLE stranger SUPERUSER'; RETURN 1; END $$;
	-- The owner's function calls another without its schema, which the database's search path would
	-- resolve to a stranger's.
	CREATE SCHEMA shadow AUTHORIZATION stranger;
	CREATE FUNCTION bound(int) RETURNS int LANGUAGE sql STABLE AS 'SELECT $1';
	CREATE FUNCTION most(int) RETURNS int LANGUAGE sql STABLE AS 'SELECT bound($1)';
	CREATE FUNCTION shadow.bound(int) RETURNS int LANGUAGE plpgsql STABLE AS $$ BEGIN RAISE LOG 'a stranger acts as %', current_user; RETURN 300; END $$;
	CREATE VIEW led AS SELECT src, dst FROM public.follows WHERE dst <= public.most(400);
	CREATE FUNCTION most_of_public(int) RETURNS int LANGUAGE sql STABLE AS 'SELECT public.bound($1)';
	CREATE VIEW straight AS SELECT src, dst FROM public.follows WHERE dst <= public.most_of_public(600);
	ALTER VIEW led OWNER TO owner;
	ALTER VIEW straight OWNER TO owner;
	ALTER DATABASE shop SET search_path = shadow, public;
	CREATE VIEW trap AS SELECT grab() AS src, 2 AS dst;
	ALTER VIEW trap OWNER TO stranger;
	ALTER DATABASE shop SET default_transaction_isolation = serializable;
	ALTER DATABASE shop SET emogi.enable_cache = off});
$node->safe_psql('Other Shop', q{
	CREATE TABLE "Edges, (all)" (src int, dst int);
	INSERT INTO "Edges, (all)" VALUES (1, 2)});

# The log since the last call.
my $read = 0;
sub news
{
	my $text = substr(slurp_file($node->logfile), $read);

	$read += length $text;
	return $text;
}

# Wait until the worker has processed its list; returns the log since the start.
sub wait_loaded
{
	my $text = '';

	wait_until(60, sub {
		$text .= news();
		return $text =~ /emogi\.prewarm/ && $node->safe_psql('postgres', q{SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'emogi prewarm'}) eq '0';
	});
	return $text . news();
}

# Set the list and restart.
sub restart_with
{
	my ($list) = @_;

	$node->safe_psql('postgres', "ALTER SYSTEM SET emogi.prewarm = '$list'");
	news();
	$node->restart;
	return wait_loaded();
}

sub graphs
{
	return $node->safe_psql('postgres', q{SELECT string_agg(concat_ws(' ', database, edges, state), ', ' ORDER BY database COLLATE "C", edges)
		FROM emogi_graphs});
}

# Rejected values.
foreach my $wrong ('follows', 'shop:', 'shop: ', ': follows', 'shop: follows,', 'shop: follows(a)', 'shop: follows(a, b, c, d)', 'shop: a.b.c', 'shop: SELECT 1, 2',
	'shop: "follows', 'shop follows', 'shop: roads(a, b', '1shop: follows', 'shop: follows shop: follows', ', shop: follows')
{
	my ($state, $message) = sqlstate($node, "ALTER SYSTEM SET emogi.prewarm = '$wrong'");
	is($state, '22023', "'$wrong' is rejected");
	like($message, qr/DETAIL:.*is not an entry of the form database: table/, '... and named');
}
is((sqlstate($node, "SET emogi.prewarm = 'shop: follows'"))[0], '55P02', 'cannot be set in sessions');

# The list.
my $log = restart_with(q{shop: follows, nodb: x, shop: geo.roads ( from_node, to_node , km ), "Other Shop": "Edges, (all)", bare: x, shop: missing, shop: looked, shop: trap, closed: x, shop: hidden.away, shop: led, shop: straight, shop: nameless, SHOP: GEO.roads(to_node, FROM_node)});
is(graphs(), 'Other Shop 1 ready, shop 499 ready, shop 599 ready, shop 1000 ready, shop 1000 ready, shop 200000 ready', 'the graphs are cached');
is($node->safe_psql('postgres', q{SELECT count(*), count(DISTINCT username) FROM emogi_runs WHERE function = 'emogi_prewarm' AND status = 'ok' AND cache = 'built'}), '6|2', 'emogi_runs shows the calls, as their owners');
foreach my $case ([ 'x', 'nodb', 'there is no such database' ], [ 'x', 'closed', 'the database does not accept connections' ], [ 'x', 'bare', 'extension emogi does not exist' ],
	[ 'led', 'shop', 'the graph of "led" cannot be cached' ], [ 'missing', 'shop', 'relation "missing" does not exist' ], [ 'trap', 'shop', 'the graph of "trap" cannot be cached' ],
	[ 'hidden.away', 'shop', 'permission denied for schema hidden' ], [ 'nameless', 'shop', 'relation "nameless" has neither columns src and dst' ])
{
	my ($entry, $database, $why) = @$case;
	like($log, qr/WARNING:  emogi\.prewarm: the graph of "\Q$entry\E" of database "$database" is not loaded: \Q$why\E/, "the log names $entry of $database: $why");
}
unlike($log, qr/a stranger acts as/, 'the search path does not lead to the function of a stranger');
is($node->safe_psql('postgres', q{SELECT rolsuper FROM pg_roles WHERE rolname = 'stranger'}), 'f', 'no role has become superuser');
my @calm = ('SET default_transaction_isolation = "read committed"', 'SET emogi.enable_cache = on');
my ($answer, $cache) = served($node, join(';', @calm, q{SELECT count(*) FROM emogi_bfs('follows', 1)}), 'shop');
is("$answer $cache", '200001 hit', 'the first call is a hit');
($answer, $cache) = served($node, join(';', @calm, q{SELECT count(*) FROM emogi_sssp('geo.roads(from_node, to_node, km)', 1)}), 'shop');
is("$answer $cache", '1001 hit', '... with weights, where three columns are named');

# An invalid line in the file does not prevent the start.
$node->safe_psql('postgres', q{ALTER SYSTEM RESET emogi.prewarm});
$node->append_conf('postgresql.conf', q{emogi.prewarm = 'shop follows'});
news();
$node->restart;
like(news(), qr/invalid value for parameter "emogi.prewarm": "shop follows"/, 'an invalid list in the file: reported');
is($node->safe_psql('postgres', q{SELECT count(*) FROM emogi_graphs}), '0', '... and the server has started');
$node->append_conf('postgresql.conf', q{emogi.prewarm = ''});
$node->safe_psql('postgres', q{ALTER DATABASE shop RESET ALL});

# A small table that is being written across the restart is loaded when the writer has ended.
$node->safe_psql('shop', q{BEGIN; INSERT INTO geo.roads VALUES (2000, 2001, 1); PREPARE TRANSACTION 'writer'});
my ($state, $message) = sqlstate($node, q{SELECT emogi_prewarm('geo.roads(from_node, to_node)')}, 'shop');
like("$state $message", qr/^55000 .*cannot be cached.*DETAIL:.*Transactions in progress.*HINT:.*when they have ended/s, 'a table with a writer in progress cannot be cached');
$node->safe_psql('postgres', q{ALTER SYSTEM SET emogi.prewarm = 'shop: geo.roads(from_node, to_node)'});
news();
$node->restart;
ok(wait_until(20, sub { $node->safe_psql('postgres', q{SELECT count(*) >= 2 FROM emogi_runs WHERE function = 'emogi_prewarm' AND status = 'failed'}) eq 't' }), '... after the start it is retried');
$node->safe_psql('shop', q{COMMIT PREPARED 'writer'});
like(wait_loaded(), qr/LOG:  emogi\.prewarm: the graph of "geo.roads\(from_node, to_node\)" of database "shop" is loaded/, '... until that has ended');
is(graphs(), 'shop 1001 ready', '... with all rows');

# Kill: a crash discards the arena, and the next worker fills it again.
restart_with('shop: follows');
my $engine = worker_pid($node);
kill 9, $engine;
like(wait_loaded(), qr/reinitializing.*the graph of "follows" of database "shop" is loaded/s, 'after a crash the graphs are loaded again');
is(graphs(), 'shop 200000 ready', '... and there');
kill 15, worker_pid($node);
ok(wait_until(10, sub { $node->safe_psql('postgres', q{SELECT pid <> } . $engine . q{ FROM emogi_devices WHERE device = -1 AND state = 'ready'}) eq 't' }), 'another engine worker');
unlike(news(), qr/emogi\.prewarm/, '... does not load them again');

# Other sessions that need exclusive access to the database do not wait long: the worker sleeps
# three seconds in each of four builds, and DROP DATABASE gives up after five.
sub held
{
	$node->safe_psql('postgres', q{ALTER DATABASE shop SET emogi.fault = 'registered=3000000'});
	$node->safe_psql('postgres', q{ALTER SYSTEM SET emogi.prewarm =
		'shop: follows, shop: follows(dst, src), shop: geo.roads(from_node, to_node), shop: geo.roads(to_node, from_node), "Other Shop": "Edges, (all)"'});
	news();
	$node->restart;
	return wait_until(20, sub { $node->safe_psql('postgres', q{SELECT count(*) FROM emogi_graphs WHERE database = 'shop' AND state = 'building'}) eq '1' });
}
ok(held(), 'a worker that is held');
my ($pid) = $node->safe_psql('postgres', q{SELECT pid FROM pg_stat_activity WHERE datname = 'shop' AND backend_type = 'emogi prewarm'});
$node->safe_psql('postgres', "SELECT pg_terminate_backend($pid)");
like(wait_loaded(), qr/"follows" of database "shop" is not loaded: the process that loads.*"Edges, \(all\)"" of database "Other Shop" is loaded/s,
	'it exits when requested, and the other database is processed');
ok(held(), 'a worker that is held');
my $start = time();
$node->stop('fast');
cmp_ok(time() - $start, '<', 5, '... does not delay the shutdown');
$node->start;
wait_until(20, sub { $node->safe_psql('postgres', q{SELECT count(*) FROM emogi_graphs WHERE state = 'building'}) eq '1' });
$node->safe_psql('postgres', q{ALTER DATABASE shop RESET ALL});
is((sqlstate($node, 'ALTER DATABASE shop RENAME TO store'))[0], '', 'ALTER DATABASE does not wait for long');
like(wait_loaded(), qr/"follows" of database "shop" is not loaded: there is no such database/, '... whose database was renamed');
$node->safe_psql('postgres', 'ALTER DATABASE store RENAME TO shop');
ok(held(), 'a worker that is held');
is((sqlstate($node, 'DROP DATABASE shop'))[0], '', 'DROP DATABASE does not wait for long');
like(wait_loaded(), qr/there is no such database.*"Edges, \(all\)"" of database "Other Shop" is loaded/s, '... and the others are processed');
is(graphs(), 'Other Shop 1 ready', '... nothing is left of it');

# A standby.
$node->backup('copy');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($node, 'copy', has_streaming => 1);
$standby->start;
ok(wait_until(30, sub { $standby->safe_psql('postgres', q{SELECT string_agg(concat_ws(' ', database, edges, state), ', ') FROM emogi_graphs}) eq 'Other Shop 1 ready' }),
	'a standby loads them, too');
$standby->stop;

$node->stop;
no_crash($node);

done_testing();
