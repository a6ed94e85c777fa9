# What the TAP tests share: clusters that preload emogi, errors by SQLSTATE, and a look at the worker and the Region.
package EmogiTest;

use strict;
use warnings;

use Exporter 'import';
use IPC::Run;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(sleep time);

our @EXPORT = qw(emogi_node sqlstate wait_until worker_pid region_is_empty answers_small no_crash start_psql);

# Get a running cluster that preloads emogi, with the given lines of configuration and the extension in database postgres.
sub emogi_node
{
	my ($name, @conf) = @_;
	my $node = PostgreSQL::Test::Cluster->new($name);

	$node->init;
	$node->append_conf('postgresql.conf',
		join("\n", "shared_preload_libraries = 'emogi'", 'autovacuum = off', 'log_statement = none', @conf));
	$node->start;
	$node->safe_psql('postgres', q{
		CREATE EXTENSION emogi;
		CREATE TABLE small (src int, dst int);
		INSERT INTO small VALUES (1, 2), (2, 3), (1, 4)});
	return $node;
}

# Get the SQLSTATE that a command ends with ('' if none) and the whole message.
sub sqlstate
{
	my ($node, $sql, $db) = @_;
	my ($rc, $out, $err) = $node->psql($db // 'postgres', $sql, extra_params => [ '-v', 'VERBOSITY=verbose' ]);

	return ($err =~ /(?:ERROR|FATAL):\s+(\w{5}):/ ? $1 : '', $err);
}

# Wait until a piece of code returns true, some seconds at most.
sub wait_until
{
	my ($seconds, $code) = @_;
	my $end = time() + $seconds;

	while (time() < $end)
	{
		# psql that cannot connect ends before it has read its input, a broken pipe that IPC::Run dies of
		return 1 if eval { $code->() };
		sleep 0.02;
	}
	return 0;
}

# Get the process id of the engine worker, 0 if there is none.
sub worker_pid
{
	my ($node) = @_;
	my ($postmaster) = split /\n/, slurp_file($node->data_dir . '/postmaster.pid');

	foreach my $dir (glob '/proc/[0-9]*')
	{
		my ($stat, $title) = map { my $file; open($file, '<', "$dir/$_") ? do { local $/; <$file> // '' } : '' } qw(stat cmdline);
		return $1 if $title =~ /emogi engine/ && $stat =~ /^(\d+) \(.*\) \w $postmaster /;
	}
	return 0;
}

# Check that the Region holds nothing but cached graphs within 2 seconds, and is empty when these are evicted.
sub region_is_empty
{
	my ($node, $name) = @_;
	my $used;
	my $look = sub {
		$used = $node->safe_psql('postgres',
			'SELECT used_bytes - bytes FROM emogi_devices, emogi_cache WHERE device = -1');
		return $used eq '0';
	};
	my $clean = wait_until(2, $look);

	$node->safe_psql('postgres', 'SELECT emogi_evict()');
	ok($clean && wait_until(2, $look), $name) or diag "used_bytes without cached graphs is $used";
}

# Check that a call on a graph of three edges answers right.
sub answers_small
{
	my ($node, $name, $db) = @_;
	my ($rc, $out, $err) = $node->psql($db // 'postgres', q{SELECT string_agg(vertex || ':' || level, ' ') FROM emogi_bfs('small', 1)});

	is($out . $err, '1:0 2:1 3:2 4:1', $name);
}

# Check that no process of the cluster crashed by itself.
sub no_crash
{
	my ($node) = @_;

	unlike(slurp_file($node->logfile), qr/terminated by signal (?:4|6|7|8|11)\b|PANIC|TRAP:/, 'no process crashed');
}

# Start psql on some commands, without waiting; returns what IPC::Run calls a harness. Errors come as "ERROR:  SQLSTATE".
sub start_psql
{
	my ($node, $out, $err, @commands) = @_;

	return IPC::Run::start([ 'psql', '-XAtq', '-v', 'VERBOSITY=sqlstate', '-d', $node->connstr('postgres'), map { ('-c', $_) } @commands ],
		'<', \'', '>', $out, '2>', $err, IPC::Run::timeout(120));
}

1;
