# Scarce resources: shared memory, worker processes, connections, memory for graphs, address space;
# and other libraries loaded with emogi. Calls are correct or report what is missing; the server
# starts or reports why it cannot.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use EmogiTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(time);

my $node = crash_node('main', "emogi.max_memory = '512MB'");
make_checked($node, 'tree', 3000);
$node->safe_psql('postgres', q{
	CREATE UNLOGGED TABLE big AS SELECT i / 2 AS src, i AS dst FROM generate_series(2, 1500001) i;
	ANALYZE big;
	CREATE VIEW bigview AS SELECT src, dst FROM big});
my $big = q{SELECT count(*), sum(vertex) FROM emogi_bfs('big', 1)};
my $bigsum = $node->safe_psql('postgres', 'SELECT count(*), sum(v) FROM (SELECT src FROM big UNION SELECT dst FROM big) u(v)');
my $conf = $node->data_dir . '/postgresql.conf';
my $original = slurp_file($conf);

# Restart with additional lines of configuration.
sub restart_with
{
	$node->stop;
	unlink $conf;
	append_to_file($conf, join("\n", $original, @_, ''));
	$node->start;
}

# Check that all kinds of calls work, including cached ones.
sub check_all
{
	my ($name) = @_;

	is_right($node, 'tree', "$name: a table");
	is(join('|', served($node, q{SELECT verdict('tree')})), 't|hit', "$name: a cached table");
	is(join('|', served($node, $big)), "$bigsum|built", "$name: a large table");
	is(join('|', served($node, $big)), "$bigsum|hit", "$name: ... cached");
	is($node->safe_psql('postgres', q{SELECT count(*), sum(vertex) FROM emogi_bfs('big', 1, direction => 'both')}), $bigsum, "$name: ... both ways");
	is($node->safe_psql('postgres', q{SELECT count(*), sum(vertex) FROM emogi_bfs('bigview', 1)}), $bigsum, "$name: a view of it");
	nothing_left($node, $name);
}

check_all('plenty');

# /dev/shm with so few MB that PostgreSQL itself barely starts, in a private mount namespace.
my @unshare = ($> == 0 ? ('unshare', '-m') : ('unshare', '-cm', '--keep-caps'));
SKIP:
{
	skip 'a small /dev/shm cannot be mounted here', 1
	  if system(join(' ', @unshare, 'sh', '-c', q{'mount -t tmpfs -o size=1m tmpfs /dev/shm' >/dev/null 2>&1})) != 0;
	$node->stop;
	unlink $conf;
	append_to_file($conf, "$original\ndynamic_shared_memory_type = posix\nmin_parallel_table_scan_size = 0\nparallel_setup_cost = 0\nparallel_tuple_cost = 0\n");
	my $start = sub { system(@unshare, 'sh', '-c', "mount -t tmpfs -o size=$_[0]m tmpfs /dev/shm && exec pg_ctl -w -D '" . $node->data_dir
		. "' -l '" . $node->logfile . "' start >/dev/null 2>&1") == 0 };
	my $mb = 1;
	$mb++ until $mb == 8 || $start->($mb);
	cmp_ok($mb, '<', 8, "/dev/shm of $mb MB: the server starts");
	$node->_update_pid(1);
	foreach my $sql (q{SELECT count(*), sum(vertex) FROM emogi_bfs('tree', 1)}, $big, $big, q{SELECT count(*), sum(vertex) FROM emogi_bfs('bigview', 1)}, $big)
	{
		my ($state, $message) = sqlstate($node, $sql);
		like($state, qr/^(?:53100|53200)?$/, "/dev/shm of $mb MB: correct, or the error of PostgreSQL's own parallel queries: $sql");
	}
	is($node->safe_psql('postgres', 'SET max_parallel_workers_per_gather = 0; SET emogi.build_workers = 0; SELECT count(*), sum(vertex) FROM emogi_bfs(\'big\', 1)'), $bigsum, "/dev/shm of $mb MB: without workers");
	nothing_left($node, "/dev/shm of $mb MB");
	$node->stop;
	ok($start->(16), '/dev/shm of 16 MB: the server starts');
	$node->_update_pid(1);
	check_all('/dev/shm of 16 MB');
	my @psql;
	foreach my $i (0 .. 3)
	{
		my ($out, $err) = ('', '');
		push @psql, [ start_psql($node, \$out, \$err, ("SELECT verdict('tree')", q{SELECT count(*) = 1500001 FROM emogi_bfs('big', 1)}, q{SELECT count(*) = 1500001 FROM emogi_bfs('SELECT src, dst FROM big', 1)}) x 3), \$out, \$err ];
	}
	foreach (@psql)
	{
		my ($psql, $out, $err) = @$_;
		$psql->finish;
		# PostgreSQL itself may not have enough memory for its own parallel queries.
		$$err =~ s/^(?:ERROR:  53100|.*No space left on device.*)$//mg;
		is(join('', sort split(/\n/, $$out)) =~ tr/t//cdr =~ /^t+$/ ? '' : $$out, '', '/dev/shm of 16 MB: four sessions, each answer is right');
		$$err =~ s/\s//g;
		is($$err, '', '/dev/shm of 16 MB: no errors except those of PostgreSQL itself');
	}
	nothing_left($node, '/dev/shm of 16 MB');
}
restart_with('dynamic_shared_memory_type = mmap');
check_all('dynamic_shared_memory_type = mmap');

# Worker processes.
restart_with('max_parallel_workers = 0');
check_all('max_parallel_workers = 0');
restart_with('max_worker_processes = 2', 'max_logical_replication_workers = 0');
check_all('max_worker_processes = 2');
restart_with('max_worker_processes = 1', 'max_logical_replication_workers = 0');
check_all('max_worker_processes = 1, for the engine');
foreach my $lines ([ 'max_worker_processes = 0' ], [ 'max_worker_processes = 1' ])
{
	my $name = "@$lines, none for the engine";
	restart_with(@$lines);
	is(worker_pid($node), 0, $name);
	my @sessions = map { session($node) } 1 .. 3;
	my $start = time;
	$_->tell(q{SELECT count(*) FROM emogi_bfs('tree', 1)}) foreach @sessions;
	like($_->answer, qr/^ERROR:  58000/, '... a call reports it') foreach @sessions;
	cmp_ok(time - $start, '<', 20, '... soon');
	is($sessions[0]->ask('SELECT 1'), '1', '... the session continues');
	$_->quit foreach @sessions;
	is($node->safe_psql('postgres', 'SELECT count(*) FROM emogi_cache'), '1', '... the views can be read');
	is($node->safe_psql('postgres', q{INSERT INTO tree VALUES (1, 2); DELETE FROM tree WHERE ctid = (SELECT max(ctid) FROM tree); SELECT 1}), '1', '... and tables can be written');
	nothing_left($node, $name);
}

# Connections.
restart_with('max_connections = 4', 'superuser_reserved_connections = 0', 'max_wal_senders = 0');
{
	# one is left for the test itself
	my @sessions = map { session($node) } 1 .. 3;
	foreach my $round (1 .. 5)
	{
		$_->tell(q{SELECT verdict('tree')}) foreach @sessions;
		is($_->answer, 't', 'max_connections = 4: a right answer') foreach @sessions;
		$_->tell($big) foreach @sessions;
		is($_->answer, $bigsum, 'max_connections = 4: a large one') foreach @sessions;
	}
	$_->quit foreach @sessions;
	nothing_left($node, 'max_connections = 4');
}

# An arena of 16 MB: small graphs are cached; the large one reports the required memory and evicts
# no others in vain.
restart_with(q{emogi.max_memory = '16MB'}, 'emogi.cpu_threads = 64');
is($node->safe_psql('postgres', 'SELECT allowed_bytes FROM emogi_cache'), '16777216', 'emogi.max_memory = 16MB, as emogi_cache shows');
is_right($node, 'tree', '... a small table');
foreach my $graph ('big', 'bigview', 'SELECT src, dst FROM big')
{
	my ($state, $message) = sqlstate($node, "SELECT count(*) FROM emogi_bfs('$graph', 1)");
	is($state, '53200', "... too large: $graph");
	like($message, qr/emogi\.max_memory/, '... it names the setting');
	is_right($node, 'tree', '... the small one is still correct');
}
is($node->safe_psql('postgres', q{SELECT fits, allowed_bytes, peak_bytes > allowed_bytes FROM emogi_estimate('big')}), 'f|16777216|t', '... emogi_estimate predicted it');
is($node->safe_psql('postgres', q{SELECT fits FROM emogi_estimate('tree')}), 't', '... and that a small table fits');
foreach my $i (1 .. 12)
{
	$node->safe_psql('postgres', "CREATE TABLE tree$i AS SELECT src, dst FROM tree");
	is_right($node, "tree$i", "... one of twelve small tables");
}
is_right($node, "tree$_", '... again') foreach 1 .. 12;
nothing_left($node, 'emogi.max_memory = 16MB');

# Limits of address space or file size: the server starts, or reports why it cannot.
foreach my $limit ('ulimit -v 3000000', 'ulimit -f 1000000')
{
	$node->stop;
	unlink $conf;
	append_to_file($conf, "$original\nemogi.max_memory = '64GB'\n");
	my $log = $node->basedir . '/limit.log';
	unlink $log;
	my $started = system("bash", '-c', "$limit; exec pg_ctl -w -D '" . $node->data_dir . "' -l '$log' start >/dev/null 2>&1") == 0;
	if ($started)
	{
		$node->_update_pid(1);
		is_right($node, 'tree', "$limit: a call is right");
		$node->stop;
	}
	else
	{
		like(slurp_file($log), qr/FATAL:.*(?:emogi|memory)/s, "$limit: the server does not start and reports the reason");
	}
	unlike(slurp_file($log), qr/terminated by signal|PANIC/, "$limit: no crash");
}
unlink $conf;
append_to_file($conf, $original);
$node->start;
is_right($node, 'tree', 'without the limits');

# With other libraries, in any order.
foreach my $libraries ('emogi, pg_stat_statements, auto_explain', 'pg_stat_statements, auto_explain, emogi', 'auto_explain, emogi, pg_stat_statements')
{
	restart_with("shared_preload_libraries = '$libraries'", "pg_stat_statements.track = 'all'", 'auto_explain.log_min_duration = 0', 'auto_explain.log_analyze = on',
		'auto_explain.log_nested_statements = on', 'auto_explain.log_verbose = on', 'compute_query_id = on');
	check_all($libraries);
	$node->safe_psql('postgres', "INSERT INTO tree VALUES (1, 7001)");
	is_right($node, 'tree', "$libraries: a change is visible");
	$node->safe_psql('postgres', "DELETE FROM tree WHERE dst = 7001");
	is_right($node, 'tree', "$libraries: and another");
	nothing_left($node, $libraries);
}

# Not preloaded: all functions and views report it, and tables can be written.
restart_with(q{shared_preload_libraries = ''});
foreach my $sql (q{SELECT emogi_evict()}, q{SELECT emogi_evict('tree')}, q{SELECT * FROM emogi_estimate('tree')}, q{SELECT emogi_reset()}, 'TABLE emogi_graphs',
	'TABLE emogi_cache', 'TABLE emogi_runs', 'TABLE emogi_progress', 'TABLE emogi_devices', q{SELECT * FROM emogi_bfs('tree', 1)}, q{SELECT * FROM emogi_cc('tree')})
{
	my ($state, $message) = sqlstate($node, $sql);
	is($state, '55000', "not preloaded: $sql");
	like($message, qr/HINT:.*shared_preload_libraries/, '... with a hint');
}
is($node->safe_psql('postgres', q{INSERT INTO tree VALUES (1, 8001); SELECT count(*) FROM tree WHERE dst = 8001}), '1', 'not preloaded: tables can be written');
restart_with();
is_right($node, 'tree', 'preloaded again');
nothing_left($node, 'at the end');
$node->stop;
no_crash($node);

done_testing();
