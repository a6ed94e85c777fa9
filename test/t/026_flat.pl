# Four thousand valid, invalid, canceled and partly read calls from several sessions: memory, files
# and threads do not grow.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use EmogiTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = crash_node('main', "emogi.max_memory = '256MB'", "emogi.cpu_threads = 2");
my $clients = 4;
my $per_round = 12;
my $warm = 45;                  # rounds: 2,160 calls, after which malloc's memory for the worker's threads no longer grows
my $threads = 2;                # of a query
my $all = 90;                   # rounds: 4,320 calls
make_checked($node, 'tree', 3000);
$node->safe_psql('postgres', q{
	CREATE TABLE mid AS SELECT hashint8(i) & 65535 AS src, hashint8(-i) & 65535 AS dst, 1.5::float8 AS weight FROM generate_series(1, 100000) i;
	CREATE TABLE bad AS SELECT i AS src, i + 1 AS dst, nullif(i, 400)::float8 AS weight FROM generate_series(1, 500) i;
	ANALYZE});
$node->safe_psql('postgres', "CREATE TABLE own$_ AS SELECT i AS src, i + 1 AS dst FROM generate_series(1, 300) i") foreach 1 .. $clients;

# Run one round of calls of a session.
sub round_of
{
	my ($me, $round) = @_;
	my $ms = 2 + ($me * 7 + $round * 13) % 25;

	return qq{
		SELECT 'right' WHERE verdict('tree');
		SELECT 'right' FROM emogi_bfs('SELECT i, i + 1 FROM generate_series(1, 500) i', 1) HAVING count(*) = 501;
		SELECT * FROM emogi_bfs('nowhere', 1);
		SELECT count(*) FROM emogi_sssp('bad', 1);
		SELECT count(*) FROM emogi_bfs('SELECT src / (dst - 400), dst FROM bad', 1);
		SELECT emogi_evict('mid') IS NULL WHERE $round % 3 = 0;
		SET statement_timeout = $ms;
		SELECT 'done' FROM emogi_sssp('mid', 1) HAVING count(*) >= 0;
		SELECT 'done' FROM emogi_pagerank('mid', max_iterations => 1000, tolerance => 0) HAVING count(*) >= 0;
		RESET statement_timeout; RESET statement_timeout;
		BEGIN; DECLARE c CURSOR FOR SELECT vertex FROM emogi_bfs('tree', 1); FETCH 1 FROM c; CLOSE c; COMMIT;
		SELECT vertex FROM emogi_sssp('mid', (SELECT min(src) FROM mid), direction => 'both') LIMIT 1;
		INSERT INTO own$me VALUES (301, 302), (302, -$round);
		SELECT 'right' FROM emogi_bfs('own$me', 1) HAVING count(*) = 303;
		DELETE FROM own$me WHERE src > 300;
		SELECT 'right' FROM emogi_bfs('own$me', 1, direction => 'both') HAVING count(*) = 301;
		SELECT 'right' FROM emogi_shortest_path('tree', 1, 3000) HAVING count(*) = 12};
}

# Count the open files of a process.
sub files_of
{
	my ($pid) = @_;

	return scalar(() = glob "/proc/$pid/fd/*");
}

my $postmaster = postmaster_pid($node);
my @sessions = map { session($node) } 1 .. $clients;
my @pids = map { $_->ask('SELECT pg_backend_pid()') } @sessions;
my $worker = worker_pid($node);
my ($right, $canceled, %states) = (0, 0);

# Let all sessions run some rounds.
sub do_rounds
{
	my ($from, $to) = @_;

	foreach my $round ($from .. $to)
	{
		$sessions[ $_ - 1 ]->tell(round_of($_, $round)) foreach 1 .. $clients;
		foreach my $session (@sessions)
		{
			my $out = $session->answer;
			$right += () = $out =~ /^right$/mg;
			$states{$_}++ foreach $out =~ /(?:ERROR|FATAL|WARNING|NOTICE):\s+(\w{5}):/g;
		}
	}
}

# Get all values that must not grow, with the permitted growth.
sub measure
{
	my %is;

	$is{"anonymous memory of backend $_, kB"} = [ status_of($pids[ $_ - 1 ], 'RssAnon'), 0.03, 300 ] foreach 1 .. $clients;
	$is{"files of backend $_"} = [ files_of($pids[ $_ - 1 ]), 0, 8 ] foreach 1 .. $clients;
	# the arenas of its threads fill at different rates
	$is{'anonymous memory of the worker, kB'} = [ status_of($worker, 'RssAnon'), 0.2, 1000 ];
	# one exists while it sleeps
	$is{'files of the worker'} = [ files_of($worker), 0, 1 ];
	# a compute thread that starts its first work late opens an engine with its own pool
	$is{'threads of the worker'} = [ status_of($worker, 'Threads'), 0, $clients * ($threads - 1) ];
	$is{'mappings of the worker'} = [ scalar(() = slurp_file("/proc/$worker/maps") =~ /\n/g), 0.1, 10 ];
	$is{'files of the postmaster'} = [ files_of($postmaster), 0, 0 ];
	$is{'memory of the postmaster, kB'} = [ status_of($postmaster, 'RssAnon'), 0.03, 100 ];
	# old versions of a graph may stay besides the current one
	$is{'bytes of the arena'} = [ $node->safe_psql('postgres', 'SELECT used_bytes FROM emogi_devices WHERE device = -1'), 0.5, 32 << 20 ];
	return %is;
}

do_rounds(1, $warm);
my %before = measure();
do_rounds($warm + 1, $all);
my %after = measure();
is(worker_pid($node), $worker, 'one worker served ' . $all * $clients * $per_round . ' calls');
foreach my $what (sort keys %before)
{
	my ($old, $part, $more) = @{ $before{$what} };
	cmp_ok($after{$what}[0], '<=', $old * (1 + $part) + $more, "$what: $old after half of them, $after{$what}[0] at the end");
}
is($right, 5 * $all * $clients, 'every valid call is correct');
is(delete $states{'42P01'}, $all * $clients, 'bad calls: unknown relation');
is(delete $states{'22004'}, $all * $clients, 'bad calls: a weight is NULL');
is(delete $states{'22012'}, $all * $clients, 'bad calls: division by zero');
cmp_ok($canceled = delete $states{'57014'} // 0, '>', 0, "canceled calls: $canceled");
is(join(' ', %states), '', 'no other errors');
cmp_ok($node->safe_psql('postgres', 'SELECT count(*) FROM emogi_runs'), '<=', 256, 'emogi_runs does not grow');
is($node->safe_psql('postgres', 'SELECT count(*) FROM emogi_progress'), '0', 'emogi_progress is empty');
nothing_left($node, 'sessions still open');
$_->quit foreach @sessions;
nothing_left($node, 'at the end');
$node->stop;
no_crash($node);

done_testing();
