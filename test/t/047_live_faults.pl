# A refresh of a tracked graph fails: by cancel, session end, kill -9 at each step, exit of the
# engine worker, or lack of memory. Afterwards graphs equal their tables and are tracked again, and
# no resources are left behind.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use EmogiTest;
use IPC::Run;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = crash_node('main', "emogi.max_memory = '256MB'", 'emogi.incremental_min_size = 0', 'emogi.cpu_threads = 2');
$node->safe_psql('postgres', q{
	CREATE TABLE edges (src int, dst int, weight float8 DEFAULT 1);
	INSERT INTO edges SELECT i / 2, i, i % 100 FROM generate_series(1, 20000) i;
	CREATE TABLE parts (src int, dst int, weight float8 DEFAULT 1) PARTITION BY HASH (src);
	CREATE TABLE part1 PARTITION OF parts FOR VALUES WITH (MODULUS 2, REMAINDER 0);
	CREATE TABLE part2 PARTITION OF parts FOR VALUES WITH (MODULUS 2, REMAINDER 1);
	INSERT INTO parts TABLE edges;
	CHECKPOINT});
my $check = q{SELECT ok FROM emogi_check('edges', 'out', true)};
my $change = 'INSERT INTO edges VALUES (1, 7), (30000, 30001); DELETE FROM edges WHERE dst = 30001 AND random() < 0.5; UPDATE edges SET dst = dst + 1 WHERE src = 77';
my $error = qr/^ERROR:  (?:57014|57P01|58000|53200)\b/;

# How a call gets its graph, and whether the graph is correct.
sub checked
{
	my ($graph) = @_;
	my ($rc, $out, $err) = $node->psql('postgres', "SELECT ok, cache, differs FROM emogi_check('$graph', 'out', true)");

	return $out . $err;
}

# Check that graphs are correct and tracked again, and that no resources are left behind.
sub all_is_well
{
	my ($name) = @_;

	like(checked('edges'), qr/^t\|\w+\|$/, "$name: the graph is right");
	$node->safe_psql('postgres', 'INSERT INTO edges VALUES (2, 7)');
	like(checked('edges'), qr/^t\|(?:merged|built)\|$/, '... after a change, too');
	$node->safe_psql('postgres', 'INSERT INTO edges VALUES (3, 7)');
	is(checked('edges'), 't|merged|', '... and follows');
	is($node->safe_psql('postgres', q{SELECT count(*) FROM emogi_graphs WHERE pins > 0 OR state <> 'ready'}), '0', '... no pins, no build');
	is($node->safe_psql('postgres', 'SELECT used_bytes - bytes - key_bytes - tracker_bytes FROM emogi_devices, emogi_cache WHERE device = -1'), '0', '... no memory is lost');
}

# ---------------------------------------------------------------------------------------- the session ends at each step

all_is_well('at the start');
foreach my $point (qw(refresh_map refresh_pages refresh_store))
{
	foreach my $how (qw(pg_cancel_backend pg_terminate_backend kill))
	{
		my ($out, $err) = ('', '');

		$node->safe_psql('postgres', "$check; $change");
		my ($psql, $pid) = hold_at($node, \$out, \$err, "$point=1500000", $check);
		ok($pid, "$how at $point: a refresh is held there") or diag "$out$err";
		next unless $pid;
		my @waiting = map { my ($o, $e) = ('', ''); [ start_psql($node, \$o, \$e, $check), \$o, \$e ] } 1 .. 2;
		wait_until(0.2, sub { $_->[0]->pump_nb foreach @waiting; 0 });
		if ($how eq 'kill') { kill 'KILL', $pid }
		else { $node->safe_psql('postgres', "SELECT $how($pid)") }
		foreach my $one ([ $psql, \$out, \$err ], @waiting)
		{
			my ($psql, $out, $err) = @$one;
			eval { $psql->finish };
			ok($$err eq '' ? $$out =~ /^t\s*$/ : $how ne 'kill' && $$err =~ $error || connection_lost($$err), '... right, or an error of that kind') or diag "$$out$$err";
		}
		wait_for_restart($node, "$how at $point") if $how eq 'kill';
		all_is_well("$how at $point");
	}
}
nothing_left($node, 'after sessions ended');

# ---------------------------------------------------------------------------------------- the worker exits

foreach my $fault (qw(worker_exit worker_crash))
{
	foreach my $point (qw(pack unpack merge))
	{
		my %prepare = (pack => 'SELECT emogi_evict()', unpack => "$check; $change", merge => "$check; $change");
		my $call = $point eq 'unpack' ? q{SELECT ok FROM emogi_check('edges', 'both', true)} : $check;

		$node->safe_psql('postgres', $prepare{$point});
		my ($rc, $out, $err) = $node->psql('postgres', "SET emogi.fault = '$fault=$point'; $call", extra_params => [ '-v', 'VERBOSITY=sqlstate' ]);
		ok($fault eq 'worker_exit' ? $err =~ /58000/ : connection_lost($err), "$fault=$point: the call fails") or diag "$out$err";
		wait_for_restart($node, "$fault=$point") if $fault eq 'worker_crash';
		ok(wait_until(10, sub { checked('small') =~ /^t/ || 1 }), '... the worker is restarted');
		ok(wait_until(10, sub { ($node->psql('postgres', $call))[1] =~ /^t/ }), '... and the same call is right');
		all_is_well("$fault=$point");
	}
}
nothing_left($node, 'after the worker exited');

# ---------------------------------------------------------------------------------------- out of memory

# Commands run before the n-th allocation of a call fails, and the call.
my %scarce = (
	'a splice' => [ "$check; $change", $check ],
	'from the edges' => [ "$check; $change; SELECT count(*) FROM emogi_graphs", q{SELECT ok FROM emogi_check('edges', 'both', true)} ],
	'a build' => [ 'SELECT emogi_evict()', $check ],
	'more pages' => [ "$check; INSERT INTO edges SELECT i, i + 1 FROM generate_series(1, 3000) i", $check ],
	'fewer pages' => [ "$check; DELETE FROM edges WHERE ctid >= '(90,0)'; VACUUM edges", $check ],
	'own changes' => [ "$check; BEGIN; $change", $check ],
	'wider weights' => [ "$check; INSERT INTO edges VALUES (1, 2, 1e10 * random())", $check ],
	'keys far apart' => [ "DELETE FROM edges WHERE dst < -1000000; $check; INSERT INTO edges VALUES (1, -2000000000), (1, 2000000000)", $check ],
	'partitions' => [ q{SELECT ok FROM emogi_check('parts', 'out', true); INSERT INTO parts SELECT i, i + 1 FROM generate_series(1, 200) i; DELETE FROM part1 WHERE src = 5}, q{SELECT ok FROM emogi_check('parts', 'out', true)} ],
	'NULL ends' => [ "$check; INSERT INTO edges VALUES (NULL, 1), (1, NULL)", $check ]);

foreach my $name (sort keys %scarce)
{
	my ($before, $call) = @{ $scarce{$name} };
	my $session = session($node);
	my $end = $before =~ /BEGIN/ ? 'ROLLBACK' : '';
	my ($failed, $good, $n) = (0, 0, 0);
	my @problems;

	while ($good < 3 && ++$n <= 80)
	{
		my $said = $session->ask($before);
		push @problems, "$n, before: $said" if $said =~ /^(?:f|ERROR.*)$/m;
		$said = $session->ask("SET emogi.fault = 'allocation=$n'; $call");
		if ($said eq 't') { $good++ }
		elsif ($said =~ /^ERROR:  53200/) { $failed++; $good = 0 }
		else { push @problems, "$n: $said" }
		$said = $session->ask("$end; RESET emogi.fault; $call");
		push @problems, "$n, afterwards: $said" if $said ne 't';
		$said = $session->ask(q{SELECT pins FROM emogi_graphs WHERE pins > 0; SELECT used_bytes - bytes - key_bytes - tracker_bytes FROM emogi_devices, emogi_cache WHERE device = -1});
		push @problems, "$n, left: $said" if $said ne '0';
		last if @problems > 5;
	}
	is(join("\n", @problems), '', "out of memory, $name: each time a clean error or none, and a correct graph afterwards");
	cmp_ok($failed, '>', 1, "... $failed allocations failed");
	cmp_ok($good, '>=', 3, '... until there were no more');
	$session->quit;
}
all_is_well('no memory');

# An engine without memory.
foreach my $n (1 .. 12)
{
	$node->safe_psql('postgres', "$check; $change");
	my ($rc, $out, $err) = $node->psql('postgres', "SET emogi.fault = 'engine_allocation=$n'; $check", extra_params => [ '-v', 'VERBOSITY=sqlstate' ]);
	like($out . $err, qr/^t$|53200/, "the engine's allocation $n fails: an error or none");
	like(checked('edges'), qr/^t\|\w+\|$/, '... and the graph is right');
}

# ---------------------------------------------------------------------------------------- crashes under load

foreach my $round (1 .. 4)
{
	my @running;
	foreach my $who (1 .. 3)
	{
		my ($out, $err) = ('', '');
		push @running, [ start_psql($node, \$out, \$err, ("INSERT INTO edges SELECT $who, i FROM generate_series(1, 20) i", "$change", "BEGIN; DELETE FROM edges WHERE src = $who; PREPARE TRANSACTION 'p$round$who'",
			"ROLLBACK PREPARED 'p$round$who'", "$check") x 60), \$out, \$err ];
	}
	wait_until(1, sub { $_->[0]->pump_nb foreach @running; 0 });
	my $pid = $node->safe_psql('postgres', q{SELECT pid FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid() LIMIT 1});
	kill 'KILL', $pid if $pid;
	foreach my $one (@running)
	{
		eval { $one->[0]->finish };
		unlike(${ $one->[1] }, qr/^f/m, "crash $round under load: no check failed");
	}
	wait_for_restart($node, "crash $round under load");
	like(checked('edges'), qr/^t\|built\|$/, '... the graph is right');
	$node->safe_psql('postgres', "COMMIT PREPARED '$_'") foreach split /\n/, $node->safe_psql('postgres', 'SELECT gid FROM pg_prepared_xacts');
	like(checked('edges'), qr/^t\|\w+\|$/, '... and after the end of prepared transactions');
}
all_is_well('crashes under load');
nothing_left($node, 'at the end');
$node->stop;
no_crash($node);

done_testing();
