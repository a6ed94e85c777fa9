# Components cached with their graph use no memory that calls need: they are kept only if there is
# room, and are evicted first from graphs in use, and with graphs not in use.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use EmogiTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = emogi_node('main', "emogi.max_memory = '64MB'", 'emogi.enable_incremental = off', 'emogi.cpu_threads = 1');

sub ask { return $node->safe_psql('postgres', $_[0]) }

my $last = q{SELECT cache || ' by ' || CASE engine WHEN 'backend' THEN engine ELSE 'the engine' END FROM emogi_runs WHERE pid = pg_backend_pid() ORDER BY id DESC LIMIT 1};
my $cc = q{SELECT count(*), count(DISTINCT component) FROM emogi_cc('%s')};
sub cc_is
{
	my ($table, $rows, $expected, $name) = @_;
	is(ask(sprintf("$cc; $last", $table)), "$rows\n$expected", $name);
}
sub bytes { return ask("SELECT coalesce(sum(bytes), 0) FROM emogi_graphs WHERE source = '$_[0]'") }

# ---- accounting
ask('CREATE TABLE pairs AS SELECT 2 * i AS src, 2 * i + 1 AS dst FROM generate_series(1, 150000) i');
is(ask(q{SELECT count(*) FROM emogi_bfs('pairs', 2)}), '2', 'a graph');
my $graph = bytes('pairs');
cc_is('pairs', '300000|150000', 'hit by the engine', 'components');
is(bytes('pairs') - $graph, 2 * 1024 * 1024, '... are cached with it, in whole extents');
is(ask('SELECT used_bytes - bytes - key_bytes - tracker_bytes FROM emogi_devices, emogi_cache WHERE device = -1'), '0', '... which count towards the limit');
cc_is('pairs', '300000|150000', 'hit by backend', '... and answer');
is(ask(q{SELECT string_agg(vertex::text, ' ') FROM emogi_cc('pairs') WHERE component = 600}), '600 601', 'a component by its name');
is(bytes('pairs') - $graph, 4 * 1024 * 1024, '... for which the members of all are cached, too');
is(ask(q{SELECT string_agg(vertex::text, ' ') FROM emogi_cc('pairs') WHERE component IN (700, 702, 703)}), '700 701 702 703', '... once');
is(bytes('pairs') - $graph, 4 * 1024 * 1024, '... and for all');
is(ask('SELECT used_bytes - bytes - key_bytes - tracker_bytes FROM emogi_devices, emogi_cache WHERE device = -1'), '0', '... which count towards the limit');
is(ask(q{SELECT emogi_evict('pairs')}) - $graph, 4 * 1024 * 1024, 'they are evicted with it');
is(ask('SELECT used_bytes FROM emogi_devices WHERE device = -1'), '0', '... and all memory is freed');

cc_is('small', '4|1', 'built by the engine', 'a small graph');
cc_is('small', '4|1', 'hit by backend', '... has kept its components, too');
my $small = bytes('small');
is(ask(q{SELECT count(*) FROM emogi_cc('small') WHERE component = (SELECT min(src) FROM small)}), '4', '... one by its name');
cmp_ok(bytes('small'), '>', $small, '... for which the members are kept, in small allocations');
ask(q{SELECT emogi_evict('small')});
is(ask('SELECT used_bytes FROM emogi_devices WHERE device = -1'), '0', '... and frees them');

# ---- many concurrent sessions: one set of components is kept
my @sessions = map { session($node) } 1 .. 6;
ask(q{SELECT count(*) FROM emogi_bfs('pairs', 2)});
$_->tell(join ';', (sprintf $cc, 'pairs') x 5) foreach @sessions;
is(join("\n", map { $_->answer } @sessions), join("\n", ('300000|150000') x 30), 'many at once have the same');
is(bytes('pairs') - $graph, 2 * 1024 * 1024, '... and one set is kept');
$_->quit foreach @sessions;

# ---- memory is short: a cursor holds a graph with components, and calls of growing size need their
# memory
ask(q{SELECT emogi_evict()});
ask('CREATE TABLE wide AS SELECT i * 3 AS src, i * 3 + 1 AS dst FROM generate_series(1, 600000) i');
is(ask(q{SELECT count(*) FROM emogi_bfs('wide', 3)}), '2', 'a large graph');
$graph = bytes('wide');
cc_is('wide', '1200000|600000', 'hit by the engine', '... and its components');
cmp_ok(bytes('wide'), '>', $graph, '... which are kept');
my $labels = bytes('wide');
is(ask(q{SELECT count(*) FROM emogi_cc('wide') WHERE component = 3}), '2', '... with their members');
cmp_ok(bytes('wide'), '>', $labels, '... which take memory of their own');
# Run larger and larger calls until a graph has at most this many bytes.
sub press
{
	my ($table, $most) = @_;
	my ($answered, $failed) = (0, 0);
	for (my $edges = 200000; $edges <= 2000000 && bytes($table) > $most; $edges += 25000)
	{
		my ($state) = sqlstate($node, "SELECT count(*) FROM emogi_bfs('SELECT i % 1000, i % 999 FROM generate_series(1, $edges) i', 1)");
		$answered++ if $state eq '';
		$failed++ if $state ne '' && bytes($table) > $most;
	}
	is(bytes($table), $most, 'they are evicted');
	cmp_ok($answered, '>', 1, '... for a call that is answered');
	is($failed, 0, '... and no earlier call ran out of memory');
}
my $reader = session($node);
is($reader->ask(q{BEGIN; DECLARE c CURSOR FOR SELECT * FROM emogi_cc('wide'); FETCH 1 FROM c}), '3|3', 'a cursor');
press('wide', $labels);
my ($state) = sqlstate($node, "SELECT count(*) FROM emogi_bfs('SELECT i % 1000, i % 999 FROM generate_series(1, 3000000) i', 1)");
is($state, '53200', 'a call that needs too much memory');
is(bytes('wide'), $labels, '... does not evict the components that the cursor reads');
is($reader->ask('MOVE FORWARD 1199998 FROM c; FETCH 2 FROM c; COMMIT'), '1800001|1800000', 'the cursor has all of its rows');
is($reader->ask(q{BEGIN; DECLARE c CURSOR FOR SELECT vertex FROM emogi_degree('wide'); FETCH 1 FROM c}), '3', 'a cursor that reads the graph alone');
press('wide', $graph);
is($reader->ask('MOVE FORWARD 1199998 FROM c; FETCH 2 FROM c; COMMIT'), '1800001', 'the cursor has all of its rows');
$reader->quit;
cc_is('wide', '1200000|600000', 'hit by the engine', 'they are computed again');
ask('CREATE TABLE next AS SELECT i AS src, i + 1 AS dst FROM generate_series(1, 190000) i');

# ---- none are kept without room, and nothing is evicted for them
is(ask(sprintf($cc, 'next')), '190001|1', 'components of the other');
ask(sprintf($cc, $_)) foreach qw(wide next wide next);
is(ask(sprintf($cc, 'wide')), '1200000|600000', 'by turns');
ask(q{SELECT emogi_evict()});
is(ask('SELECT used_bytes FROM emogi_devices WHERE device = -1'), '0', 'all memory is freed');
region_is_empty($node, 'the arena is empty');
$node->stop;
no_crash($node);

done_testing();
