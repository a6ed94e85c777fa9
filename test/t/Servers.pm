# Common code of tests of foreign tables: a cluster with emogi and clusters that it reads from, the
# comparison of graphs of foreign tables with those of the same rows in a local table, and checks of
# open remote sessions.
#
# The expected results do not depend on the read method: they also hold if postgres_fdw reads
# (emogi.server_connections = 0).
package Servers;

use strict;
use warnings;

use Exporter 'import';
use EmogiTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

our @EXPORT = qw(hub_node far_node server_of reads_servers connections edges same answer_of far_sessions all_gone copies);

my @far;
my $reads;

# Get a running cluster that preloads emogi, in UTF-8, with postgres_fdw and the functions of these
# tests. An optional hash after the name is passed to new().
sub hub_node
{
	my ($name, @conf) = @_;
	my $node = PostgreSQL::Test::Cluster->new($name, ref $conf[0] ? %{ shift @conf } : ());

	$node->init(allows_streaming => scalar(grep { /wal_level/ } @conf), extra => [ '--encoding=UTF8', '--locale=C' ]);
	# each call must read; 080_server_graphs.pl tests cached graphs
	$node->append_conf('postgresql.conf', join("\n", "shared_preload_libraries = 'emogi'", 'autovacuum = off', 'log_statement = none', 'emogi.cpu_threads = 2', 'emogi.enable_cache = off', @conf));
	$node->start;
	$node->safe_psql('postgres', <<~'END');
		CREATE EXTENSION emogi;
		CREATE EXTENSION postgres_fdw;
		-- Get a fingerprint of the edges of a graph: their number, sums at each endpoint, levels from one source.
		CREATE FUNCTION fingerprint(graph text) RETURNS text LANGUAGE plpgsql AS $$
		DECLARE outs text; ins text; levels text; start text;
		BEGIN
		  EXECUTE format('SELECT min(vertex COLLATE "C") FILTER (WHERE degree > 0), sum(degree) || '' edges '' || md5(string_agg(concat_ws('' '', vertex, degree, strength), '','' ORDER BY vertex COLLATE "C"))
		    FROM emogi_degree_text(%L)', graph) INTO start, outs;
		  IF start IS NULL THEN
		    RETURN 'no edges';
		  END IF;
		  EXECUTE format('SELECT md5(string_agg(concat_ws('' '', vertex, degree, strength), '','' ORDER BY vertex COLLATE "C")) FROM emogi_degree_text(%L, ''in'')', graph) INTO ins;
		  EXECUTE format('SELECT md5(string_agg(concat_ws('' '', vertex, level), '','' ORDER BY vertex COLLATE "C")) FROM emogi_bfs(%L, %L::text, NULL, ''out'')', graph, start) INTO levels;
		  RETURN outs || ins || levels;
		END $$;
		-- Return whether this session's last call read from servers directly; NULL if emogi_runs does not show it.
		CREATE FUNCTION from_network() RETURNS bool LANGUAGE plpgsql AS $$
		BEGIN
		  RETURN (SELECT network_bytes > 0 FROM emogi_runs WHERE pid = pg_backend_pid() ORDER BY id DESC LIMIT 1);
		EXCEPTION WHEN undefined_column THEN
		  RETURN NULL;
		END $$;
		END
	$reads = $node->safe_psql('postgres', q{SELECT count(*) FROM pg_settings WHERE name = 'emogi.server_connections'});
	return $node;
}

# Get a running cluster without emogi, whose log contains what copies() needs.
sub far_node
{
	my ($name, %how) = @_;
	my $node = PostgreSQL::Test::Cluster->new($name, %{ $how{new} // {} });

	$node->init(allows_streaming => $how{streaming} // 0, extra => [ '--encoding=UTF8', '--locale=C' ]);
	$node->append_conf('postgresql.conf', join("\n", 'autovacuum = off', 'log_statement = all', "log_line_prefix = '%m [%p] %q%a '", 'max_connections = 100', @{ $how{conf} // [] }));
	$node->start;
	push @far, $node;
	return $node;
}

# Get the SQL that creates a server for a remote cluster, and the caller's mapping.
sub server_of
{
	my ($name, $node, %options) = @_;
	my %all = (host => $node->host, port => $node->port, dbname => 'postgres', %options);

	return "CREATE SERVER $name FOREIGN DATA WRAPPER postgres_fdw OPTIONS (" . join(', ', map { "$_ '$all{$_}'" } sort keys %all) . ");
		CREATE USER MAPPING FOR CURRENT_USER SERVER $name;\n";
}

# Return whether this version of emogi reads foreign tables directly.
sub reads_servers { return $reads }

# Get the SQL that sets the number of connections per server, if the setting exists.
sub connections
{
	my ($n) = @_;

	return $reads ? "SET emogi.server_connections = $n;" : '';
}

# Get a query of edges between 128 vertices, with weights whose sums are exact.
sub edges
{
	my ($n, $salt) = @_;

	return "SELECT (hashint4(i + $salt) & 127)::bigint AS src, (hashint4(-i - $salt) & 127)::bigint AS dst, ((i + $salt) % 1000)::float8 / 8 AS weight FROM generate_series(1, $n) i";
}

# Check that a graph has the edges of a query, with each number of connections, and that it is read
# from servers directly if expected (direct => 0 if not). before => SQL that runs first, in the same
# session.
sub same
{
	my ($hub, $name, $graph, $rows, %how) = @_;
	my @n = $reads ? @{ $how{connections} // [ 0, 1, 4 ] } : 0;
	my $direct = $how{direct} // 1;
	my ($rc, $out, $err) = $hub->psql('postgres', join "\n", 'SET client_min_messages = warning;', ($how{before} // ''),
		"CREATE TEMP TABLE oracle AS $rows;", "SELECT fingerprint('oracle');", map { connections($_) . "SELECT fingerprint(\$g\$$graph\$g\$), from_network();" } @n);
	my ($oracle, @got) = split /\n/, $out;

	is(join("\n", @got, $err), join("\n", (map { ($oracle // 'no answer') . '|' . ($reads ? ($_ > 0 && $direct ? 't' : 'f') : '') } @n), ''), $name);
}

# Get the answer to a query, or the SQLSTATE of its error; with the message as a second value.
sub answer_of
{
	my ($hub, $sql) = @_;
	my ($rc, $out, $err) = $hub->psql('postgres', $sql, extra_params => [ '-v', 'VERBOSITY=verbose', '-v', 'ON_ERROR_STOP=1' ]);

	return ($err =~ /(?:ERROR|FATAL):\s+(\w{5}):/ ? $1 : $out, $err);
}

# Count the client sessions open on a remote cluster; with busy => 1 those that are not idle:
# postgres_fdw keeps one as long as its own session.
sub far_sessions
{
	my ($far, %how) = @_;
	my ($rc, $out) = $far->psql('postgres', q{SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()}
		. ($how{busy} ? q{ AND state <> 'idle'} : ''));

	return $out;
}

# Check that no session is left open on any running remote cluster; returns the seconds that it
# took.
sub all_gone
{
	my ($name, %how) = @_;
	my $start = Time::HiRes::time();
	my @left;

	ok(wait_until(10, sub { @left = grep { far_sessions($_, %how) ne '0' } grep { defined $_->{_pid} } @far; !@left }), "$name: no remote session is left")
		or diag $left[0]->safe_psql('postgres', q{SELECT pid, application_name, state, query FROM pg_stat_activity WHERE backend_type = 'client backend'});
	return Time::HiRes::time() - $start;
}

# Get the process ids of the sessions that copied rows out of a remote cluster since a position in
# its log, and the number of COPY commands.
sub copies
{
	my ($far, $from) = @_;
	my $log = slurp_file($far->logfile, $from);
	my (%pids, $n);

	while ($log =~ /\[(\d+)\] .*(?:statement|execute [^:]*): COPY\b/g)
	{
		$pids{$1}++;
		$n++;
	}
	return (scalar(keys %pids), $n // 0);
}

1;
