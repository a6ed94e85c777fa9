# Common code of the TAP tests: clusters that preload emogi, errors by SQLSTATE, and checks of the
# worker and the arena.
package EmogiTest;

use strict;
use warnings;

use Exporter 'import';
use IPC::Run;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(sleep time);

our @EXPORT = qw(emogi_node server_version sqlstate wait_until postmaster_pid worker_pid status_of region_is_empty answers_small no_crash start_psql session create_look look sees hits_again draw);

# Do clusters preload emogi? EMOGI_NO_PRELOAD=1 runs any test without preloading, from PostgreSQL 17
# on.
our $preloads = !$ENV{EMOGI_NO_PRELOAD};

# Get a random integer from 0 to n - 1; the sequence depends only on srand.
sub draw { return int rand $_[0] }

# Get the major version of the server.
sub server_version { return (`postgres --version` =~ /(\d+)/)[0] }

# Get a running cluster that preloads emogi, unless $preloads is 0, with additional lines of
# configuration and the extension in database postgres.
sub emogi_node
{
	my ($name, @conf) = @_;
	my $node = PostgreSQL::Test::Cluster->new($name);

	$node->init;
	$node->append_conf('postgresql.conf',
		join("\n", ("shared_preload_libraries = 'emogi'") x !!$preloads, 'autovacuum = off', 'log_statement = none', @conf));
	$node->start;
	$node->safe_psql('postgres', q{
		CREATE EXTENSION emogi;
		CREATE TABLE small (src int, dst int);
		INSERT INTO small VALUES (1, 2), (2, 3), (1, 4)});
	return $node;
}

# Get the SQLSTATE with which a command fails ('' if it succeeds), and the whole message.
sub sqlstate
{
	my ($node, $sql, $db) = @_;
	my ($rc, $out, $err) = $node->psql($db // 'postgres', $sql, extra_params => [ '-v', 'VERBOSITY=verbose' ]);

	return ($err =~ /(?:ERROR|FATAL):\s+(\w{5}):/ ? $1 : '', $err);
}

# Wait until a piece of code returns true, up to some seconds.
sub wait_until
{
	my ($seconds, $code) = @_;
	my $end = time() + $seconds;

	while (time() < $end)
	{
		# a psql that cannot connect exits before it has read its input, and IPC::Run dies of the
		# broken pipe
		return 1 if eval { $code->() };
		sleep 0.02;
	}
	return 0;
}

# Get the process id of the postmaster.
sub postmaster_pid
{
	my ($node) = @_;

	return (split /\n/, slurp_file($node->data_dir . '/postmaster.pid'))[0];
}

# Get the process id of the engine worker, 0 if there is none.
sub worker_pid
{
	my ($node) = @_;
	my $postmaster = postmaster_pid($node);

	foreach my $dir (glob '/proc/[0-9]*')
	{
		my ($stat, $title) = map { my $file; open($file, '<', "$dir/$_") ? do { local $/; <$file> // '' } : '' } qw(stat cmdline);
		return $1 if $title =~ /emogi engine/ && $stat =~ /^(\d+) \(.*\) \w $postmaster /;
	}
	return 0;
}

# Get the first word of a line of /proc/PID/status, '' if there is no such process.
sub status_of
{
	my ($pid, $line) = @_;
	my $status = eval { slurp_file("/proc/$pid/status") } // '';

	return $status =~ /^$line:\s+(\S+)/m ? $1 : '';
}

# Check that within 2 seconds the arena holds only cached graphs and change trackers, and that it is
# empty after these are evicted.
sub region_is_empty
{
	my ($node, $name) = @_;
	my $used;
	my $look = sub {
		$used = $node->safe_psql('postgres',
			'SELECT used_bytes - bytes - key_bytes - tracker_bytes FROM emogi_devices, emogi_cache WHERE device = -1');
		return $used eq '0';
	};
	my $clean = wait_until(2, $look);

	$node->safe_psql('postgres', 'SELECT emogi_evict()');
	ok($clean && wait_until(2, $look), $name) or diag "used_bytes without cached graphs and change trackers is $used";
}

# Check that a call on a graph of three edges returns the correct answer.
sub answers_small
{
	my ($node, $name, $db) = @_;
	my ($rc, $out, $err) = $node->psql($db // 'postgres', q{SELECT string_agg(vertex || ':' || level, ' ') FROM emogi_bfs('small', 1)});

	is($out . $err, '1:0 2:1 3:2 4:1', $name);
}

# Check that no process of the cluster crashed. SIGKILL does not count.
sub no_crash
{
	my ($node) = @_;

	unlike(slurp_file($node->logfile), qr/terminated by signal (?:4|6|7|8|11)\b|PANIC|TRAP:/, 'no process crashed');
}

# Start psql on some commands, without waiting; returns the IPC::Run harness. Errors are printed as
# "ERROR:  SQLSTATE".
sub start_psql
{
	my ($node, $out, $err, @commands) = @_;

	return IPC::Run::start([ 'psql', '-XAtq', '-v', 'VERBOSITY=sqlstate', '-d', $node->connstr('postgres'), map { ('-c', $_) } @commands ],
		'<', \'', '>', $out, '2>', $err, IPC::Run::timeout(120));
}

# Open a persistent psql on a database ('postgres' by default).
sub session
{
	my ($node, $db) = @_;

	return EmogiTest::Session->start($node, $db // 'postgres');
}

# Create the function look(): it compares emogi_bfs on the table edges, in which all edges start at
# 0, with the table itself, in one statement.
sub create_look
{
	my ($node, $db) = @_;

	$node->safe_psql($db // 'postgres', q{
		SET check_function_bodies = off;
		CREATE FUNCTION look() RETURNS text LANGUAGE plpgsql STABLE AS $$
		DECLARE verdict text;
		BEGIN
			EXECUTE $q$
				SELECT CASE WHEN g = t THEN 'right: ' || g ELSE 'WRONG: ' || g || ', table: ' || t END
				FROM (SELECT format('%s ends, sum %s', count(*), sum(vertex)) AS g FROM emogi_bfs('edges', 0) WHERE level = 1) a,
					(SELECT format('%s ends, sum %s', count(DISTINCT dst), sum(DISTINCT dst)) AS t FROM edges WHERE src = 0 AND dst <> 0) b
			$q$ INTO verdict;
			RETURN verdict;
		END $$});
}

# Get the result of look() in a session ("right: ..." or an error) and the source of the graph.
sub look
{
	my ($session, $check) = @_;
	$check //= 'look()';
	my ($verdict, $cache) = split /\n/, $session->ask("SELECT $check; SELECT cache FROM emogi_runs WHERE pid = pg_backend_pid() ORDER BY id DESC LIMIT 1");

	return ($verdict // 'no answer', $cache // 'no run');
}

# Test that a session's look is correct, with the expected number of endpoints, and that the graph
# has the expected source.
sub sees
{
	my ($session, $ends, $from, $name) = @_;
	my ($verdict, $cache) = look($session);

	$cache = $from if $from eq 'anywhere' || $from eq 'built or hit' && $cache =~ /^(?:built|hit)$/;
	like("$verdict, $cache", qr/^right: $ends ends, sum -?\d*, $from$/, $name);
}

# Repeat look until there is a hit, and test that one occurs: registration waits for older
# transactions. No answer may be wrong.
sub hits_again
{
	my ($session, $ends, $name) = @_;
	my ($verdict, $cache, $wrong);

	my $hit = wait_until(10, sub { ($verdict, $cache) = look($session); $wrong = $verdict unless $verdict =~ /^right: $ends ends/; $wrong || $cache eq 'hit' });
	ok($hit && !$wrong, $name) or diag $wrong // "$verdict, $cache";
}

# A persistent psql. Answers are returned as one string, with errors in their place as "ERROR:
# SQLSTATE: message".
package EmogiTest::Session;

sub start
{
	my ($class, $node, $db) = @_;
	my $self = bless { in => '', out => '', asked => 0, timer => IPC::Run::timer(300) }, $class;

	$self->{run} = IPC::Run::start([ 'psql', '-XAtq', '-v', 'VERBOSITY=verbose', '-d', $node->connstr($db) ],
		'<', \$self->{in}, '>&', \$self->{out}, $self->{timer});
	$self->ask('SET client_min_messages = warning');
	return $self;
}

# Send commands, without waiting.
sub tell
{
	my ($self, $sql) = @_;

	$self->{asked}++;
	$sql .= ';' unless $sql =~ /^\\\.\n\z/m;    # the end of COPY's data
	$self->{in} .= "$sql\n\\echo session has answered $self->{asked}\n";
	$self->{run}->pump_nb;
}

# Are the sent commands finished?
sub is_done
{
	my ($self) = @_;

	$self->{run}->pump_nb;
	return $self->{out} =~ /^session has answered $self->{asked}\n/m;
}

# Get the answer to the sent commands, as soon as they are finished.
sub answer
{
	my ($self) = @_;

	$self->{timer}->start(300);
	until ($self->is_done)
	{
		die "a session has ended: $self->{out}" unless $self->{run}->pumpable;
		die "no answer yet: $self->{out}" if $self->{timer}->is_expired;
		$self->{run}->pump;
	}
	my $out = $self->{out};
	$self->{out} = '';
	$out =~ s/^(?:session has answered \d+|LOCATION: .*)\n//mg;
	chomp $out;
	return $out;
}

sub ask
{
	my ($self, $sql) = @_;

	$self->tell($sql);
	return $self->answer;
}

sub quit
{
	my ($self) = @_;

	$self->{in} .= "\\q\n";
	return $self->{run}->finish;
}

package EmogiTest;

# Common code for tests with faults: sessions held at a step of the cache's protocol, self-checking
# answers, and how calls were answered.
push @EXPORT, qw(crash_node wait_for_restart make_checked is_right served hold_at nothing_left connection_lost);

# Get a cluster like emogi_node(), which restarts automatically after a crash.
sub crash_node
{
	my ($name, @conf) = @_;

	return emogi_node($name, 'restart_after_crash = on', 'max_prepared_transactions = 10', 'fsync = off', @conf);
}

# Wait until a cluster that has crashed since the last such wait accepts connections again.
my %crashes_seen;
sub wait_for_restart
{
	my ($node, $name) = @_;
	my $crashes;
	my $back = sub {
		# before the postmaster has noticed the crash, the cluster would still answer
		$crashes = () = slurp_file($node->logfile) =~ /all server processes terminated; reinitializing/g;
		return 0 if $crashes <= ($crashes_seen{$node->name} // 0);
		my ($rc, $out) = $node->psql('postgres', 'SELECT 1');
		return ($rc // 1) == 0 && $out eq '1';
	};

	ok(wait_until(30, $back), "$name: the cluster has restarted");
	$crashes_seen{$node->name} = $crashes;
}

# Create the function verdict(graph), which returns whether everything that emogi_bfs() reaches from
# 1 is everything in the table, and a table for which that holds: a tree of n edges with the root 1.
sub make_checked
{
	my ($node, $table, $n, $db) = @_;

	$node->safe_psql($db // 'postgres', qq{
		CREATE OR REPLACE FUNCTION verdict(graph text) RETURNS bool LANGUAGE plpgsql STABLE AS \$\$
		DECLARE
			verdict bool;
		BEGIN
			EXECUTE format('SELECT (SELECT concat_ws('' '', count(*), sum(vertex)) FROM emogi_bfs(%L, 1)) =
				(SELECT concat_ws('' '', count(*), sum(v)) FROM (SELECT src FROM %s UNION SELECT dst FROM %s) u(v))', graph, graph, graph) INTO verdict;
			RETURN verdict;
		END \$\$;
		CREATE TABLE $table AS SELECT i / 2 AS src, i AS dst FROM generate_series(2, $n + 1) i});
}

# Check that a call on a table of make_checked() returns the correct answer.
sub is_right
{
	my ($node, $table, $name, $db) = @_;
	my ($rc, $out, $err) = $node->psql($db // 'postgres', "SELECT verdict('$table')");

	is($out . $err, 't', $name);
}

# Run a query that calls emogi once, in a new session; returns the answer and how it was answered,
# 'hit', 'built' or 'private'.
sub served
{
	my ($node, $sql, $db) = @_;
	my ($rc, $out, $err) = $node->psql($db // 'postgres',
		"$sql; SELECT 'cache: ' || cache FROM emogi_runs WHERE pid = pg_backend_pid() ORDER BY id DESC LIMIT 1");
	my $cache = $out =~ s/\n?cache: (\w+)\z// ? $1 : '';

	return ($out . $err, $cache);
}

# Start a session that emogi.fault holds in its last command; returns the harness and the backend's
# pid, or 0 if it was not held.
my $nheld = 0;

sub hold_at
{
	my ($node, $out, $err, $fault, @commands) = @_;
	my $name = 'held ' . ++$nheld;
	my $psql = start_psql($node, $out, $err, "SET application_name = '$name'", "SET emogi.fault = '$fault'", @commands);
	my $pid = '';

	wait_until(10, sub {
		$psql->pump_nb;
		$pid = $node->safe_psql('postgres', qq{SELECT pid FROM pg_stat_activity WHERE application_name = '$name'
			AND backend_type = 'client backend' AND state = 'active' AND clock_timestamp() - query_start > '400 ms'});
		return $pid ne '' || !$psql->pumpable;
	});
	return ($psql, $pid || 0);
}

# Check that the arena is empty after the cached graphs of a database are evicted: no pin, no byte.
sub nothing_left
{
	my ($node, $name, $db) = @_;

	ok(wait_until(2, sub { $node->safe_psql($db // 'postgres', q{SELECT count(*) FROM emogi_graphs WHERE pins > 0 OR state <> 'ready'}) eq '0' }),
		"$name: no pins, no build");
	$node->safe_psql($db // 'postgres', 'SELECT emogi_evict()');
	region_is_empty($node, "$name: an empty arena after emogi_evict()");
}

# Return whether a message is one of a session whose server crashes or stops.
sub connection_lost
{
	my ($err) = @_;

	return $err =~ /57P0[123]|08006|server closed the connection|connection to server|no connection to the server|terminating connection|the database system is/;
}

1;
