# emogi_check reports a cached graph that differs from its table, in the row, in a warning, and in
# the server's log. The graph is made stale by disabling the registration rule, with a writer held
# between its note and its commit, long enough for a loaded machine.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use EmogiTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = emogi_node('main', "emogi.max_memory = '256MB'");
my $reader = session($node);
$reader->ask('SET client_min_messages = error');
$node->safe_psql('postgres', q{
	CREATE TABLE edges (src int, dst int, weight int);
	INSERT INTO edges SELECT i / 2, i, i % 7 FROM generate_series(2, 1000) i});

# A graph that misses a writer which will not be in the ring: it has noted itself before the table
# was tracked, for another tracked table.
sub make_stale
{
	my ($write, $check) = @_;
	my ($out, $err) = ('', '');

	$node->safe_psql('postgres', q{SELECT emogi_evict(); SELECT count(*) FROM emogi_bfs('small', 1)});
	my ($writer, $pid) = hold_at($node, \$out, \$err, 'pre_commit=3000000', "BEGIN; INSERT INTO small VALUES (1, 2); $write; COMMIT");
	isnt($pid, 0, "a writer is held: $write");
	is($reader->ask("SET emogi.fault = 'registration_rule=0'; SELECT ok, cache FROM $check"), 't|built', '... a graph without it is correct');
	$writer->finish;
	is($err, '', '... and it commits');
}

# The report of a check of a stale graph; afterwards the graph is correct again.
sub is_told
{
	my ($check, $expected, $name) = @_;
	my $log = -s $node->logfile;

	is($reader->ask("SELECT ok, differs, cache FROM $check"), "f|$expected|hit", $name);
	my $logged = substr(slurp_file($node->logfile), $log);
	like($logged, qr/WARNING:  the cached graph of "edges" differs from its table/, '... it is in the log');
	like($logged, qr/DETAIL:  \Q$expected\E\.\n.*HINT:  Evict .*emogi_evict/, '... with the difference and a hint');
	$reader->ask('SELECT emogi_evict()');
	is($reader->ask("SELECT ok, differs, cache FROM $check"), 't||built', '... and the next is correct');
}

make_stale('INSERT INTO edges VALUES (5000, 1, 1)', q{emogi_check('edges')});
is_told(q{emogi_check('edges')}, 'vertex 5000 is missing (vertices: 1000, not 1001)', 'a vertex is missing');
make_stale('DELETE FROM edges WHERE dst = 911', q{emogi_check('edges', backward => true)});
is_told(q{emogi_check('edges', 'in')}, 'vertex 911 should not be there (vertices: 1001, not 1000)', 'an extra vertex, in the other direction');
make_stale('INSERT INTO edges VALUES (400, 1, 1)', q{emogi_check('edges', 'both')});
is_told(q{emogi_check('edges', 'both')}, 'list of vertex 1: 400 is missing (entries: 3, not 4)', 'an edge is missing');
make_stale('UPDATE edges SET weight = 9 WHERE src = 400 AND weight = 1', q{emogi_check('edges', weights => true)});
is_told(q{emogi_check('edges')}, 'list of vertex 400: 1 has the weight 1, not 9 (entries: 3, not 3)', 'a weight differs, although none was requested');
make_stale('UPDATE edges SET weight = 900 WHERE src = 400', q{emogi_check('edges', weights => true)});
is_told(q{emogi_check('edges', weights => true)}, 'weights: of 1 byte, not of 2 bytes', 'weights are wider');
make_stale('INSERT INTO edges VALUES (NULL, 1, 1), (2, NULL, 1)', q{emogi_check('edges', 'in')});
is_told(q{emogi_check('edges', 'in')}, 'rows with a NULL end: 0, not 2', 'rows were skipped');
make_stale('DELETE FROM edges', q{emogi_check('edges')});
like($reader->ask(q{SELECT differs FROM emogi_check('edges')}), qr/^vertex 1 should not be there \(vertices: \d+, not 0\)$/, 'the table is empty');
$reader->ask('RESET emogi.fault');

# The warning is also sent to the caller, with its SQLSTATE.
make_stale('INSERT INTO edges VALUES (1, 2, 1)', q{emogi_check('edges')});
my ($rc, $out, $err) = $node->psql('postgres', q{SET emogi.fault = 'registration_rule=0'; SELECT ok FROM emogi_check('edges')}, extra_params => [ '-v', 'VERBOSITY=verbose' ]);
is($out, 'f', 'in another session');
like($err, qr/WARNING:  XX001: the cached graph/, '... with a warning');
$reader->ask('RESET emogi.fault');
$node->safe_psql('postgres', 'SELECT emogi_evict()');

# An older snapshot finds the graph of its time, whose weights have since been dropped from the
# table.
$node->safe_psql('postgres', q{INSERT INTO edges SELECT i / 2, i, i % 7 FROM generate_series(2, 1000) i});
my $old = session($node);
$old->ask('BEGIN ISOLATION LEVEL REPEATABLE READ');
is($old->ask(q{SELECT ok, cache, has_weights FROM emogi_check('SELECT 1, 2')}), 't|built|f', 'a snapshot is taken');
is($reader->ask(q{SELECT ok, has_weights FROM emogi_check('edges', weights => true)}), 't|t', '... a graph with weights is cached');
$node->safe_psql('postgres', 'ALTER TABLE edges DROP COLUMN weight');
is($old->ask(q{SELECT ok, cache, has_weights FROM emogi_check('edges')}), 't|hit|f', '... and is compared without them after their column was dropped');
$node->safe_psql('postgres', 'INSERT INTO edges VALUES (1, 2)');
is($old->ask(q{SELECT ok, cache FROM emogi_check('edges')}), 't|hit', '... as that snapshot sees the table');
$old->ask('COMMIT');
is($old->ask(q{SELECT ok, cache, edges FROM emogi_check('edges')}), 't|built|1001', '... and the next as it is');
$old->quit;

# A tracked graph serves several snapshots that see the same edges, but different rows with a NULL
# endpoint.
{
	my ($out, $err) = ('', '');

	$reader->ask('SET emogi.incremental_min_size = 0; SELECT emogi_evict()');
	is($reader->ask(q{SELECT ok, cache FROM emogi_check('edges', 'in')}), 't|built', 'a graph that tracks its table');
	my ($held, $pid) = hold_at($node, \$out, \$err, 'found=2000000', q{SELECT ok, differs, cache FROM emogi_check('edges', 'in')});
	isnt($pid, 0, '... another session has found it, and is held before it checks');
	is($reader->ask(q{INSERT INTO edges VALUES (NULL, 1); SELECT ok, cache FROM emogi_check('edges', 'in')}), 't|hit', '... a row that is not an edge was inserted, and the graph is correct for that, too');
	$held->finish;
	is($out . $err, "t||hit\n", '... and still for the session that found it before');
}

# A change that the snapshot cannot detect occurs between the graph of a query and the comparison:
# no difference is reported, and the statement can be retried.
$node->safe_psql('postgres', q{
	CREATE TABLE parted (src int, dst int, k int) PARTITION BY LIST (k);
	CREATE TABLE parted1 PARTITION OF parted FOR VALUES IN (1);
	INSERT INTO parted SELECT i / 2, i, 1 FROM generate_series(2, 100) i;
	CREATE TABLE parted2 AS SELECT i AS src, i + 1 AS dst, 2 AS k FROM generate_series(1000, 1010) i;
	CREATE FUNCTION is_narrow(int) RETURNS bool LANGUAGE sql IMMUTABLE AS $$ SELECT $1 < 2000 $$;
	CREATE TABLE read_first (a int);
	CREATE SCHEMA front});

sub compared
{
	my ($level, $query, $during, $faults) = @_;
	my ($out, $err) = ('', '');
	my $check = "SELECT ok, cache FROM emogi_check('$query')";

	$node->safe_psql('postgres', "SET search_path = front, public; $check") unless $faults;
	my ($held, $pid) = hold_at($node, \$out, \$err, 'found=2000000' . ($faults // ''), "SET search_path = front, public; BEGIN ISOLATION LEVEL $level; SELECT FROM read_first", $check, 'COMMIT');
	isnt($pid, 0, "a call in a $level transaction has found its graph, and is held before it checks");
	$node->safe_psql('postgres', $during);
	$held->finish;
	return ($out, $err);
}

sub is_refused
{
	my ($level, $query, $during, $name) = @_;
	my ($out, $err) = compared($level, $query, $during);

	unlike($out . $err, qr/differs|^f/m, "$name: no difference is reported");
	is($err, "ERROR:  40001\n", '... but that the check was not possible');
	is($node->safe_psql('postgres', "SET search_path = front, public; SELECT ok FROM emogi_check('$query')"), 't', '... and the next check is possible');
}

is_refused('REPEATABLE READ', 'SELECT src, dst FROM parted WHERE src >= 0', 'ALTER TABLE parted ATTACH PARTITION parted2 FOR VALUES IN (2)', 'a partition is attached');
$node->safe_psql('postgres', 'ALTER TABLE parted DETACH PARTITION parted2');
is_refused('READ COMMITTED', 'SELECT src, dst FROM parted WHERE src >= 0', 'ALTER TABLE parted ATTACH PARTITION parted2 FOR VALUES IN (2)', '... under a snapshot of the statement');
is_refused($_, 'SELECT src, dst FROM parted WHERE is_narrow(src)', 'CREATE OR REPLACE FUNCTION is_narrow(int) RETURNS bool LANGUAGE sql IMMUTABLE AS $$ SELECT $1 < ' . ($_ eq 'READ COMMITTED' ? 500 : 50) . ' $$', "a function is replaced, $_")
  foreach 'READ COMMITTED', 'REPEATABLE READ';
is_refused('REPEATABLE READ', 'SELECT src, dst FROM parted2 WHERE src > 1', 'CREATE TABLE front.parted2 AS SELECT 7 AS src, 8 AS dst', 'another table has the name');
{
	make_stale('INSERT INTO edges VALUES (6000, 1)', q{emogi_check('SELECT src, dst FROM edges WHERE src > 0')});
	my ($out, $err) = compared('REPEATABLE READ', 'SELECT src, dst FROM edges WHERE src > 0', 'CREATE TABLE front.beside (a int); CREATE FUNCTION beside() RETURNS int LANGUAGE sql AS $$ SELECT 1 $$; ALTER TABLE parted DETACH PARTITION parted2', ',registration_rule=0');
	like($out, qr/^f\|hit$/m, 'after other changes, a stale graph is reported');
	is($err, "WARNING:  XX001\n", '... in a warning');
	$reader->ask('SELECT emogi_evict()');
}

# The check can be canceled, and leaves no resources behind.
$node->safe_psql('postgres', q{CREATE TABLE large AS SELECT i AS src, i / 3 AS dst FROM generate_series(1, 1000000) i});
is((sqlstate($node, q{SET statement_timeout = 30; SELECT emogi_check('large')}))[0], '57014', 'it can be canceled');
is((sqlstate($node, q{SET emogi.fault = 'engine_allocation=1'; SELECT emogi_check('edges')}))[0], '53200', 'out of memory is an error');
$reader->quit;
nothing_left($node, 'at the end');
$node->stop;
no_crash($node);

done_testing();
