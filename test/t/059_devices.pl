# Several GPUs: each request is sent to a free one, losing a GPU does not affect the answers of
# others, and all of them forget a graph before its memory is freed. The GPUs run on the CPU
# (test/fake_cuda.c), so that the test works on any machine.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use EmogiTest;
use Cwd qw(abs_path);
use File::Basename qw(dirname);
use File::Path qw(make_path);
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $module = abs_path($FindBin::RealBin) . "/../fake_cuda.so";
plan skip_all => 'the module of fake GPUs, built by test/run, is missing' unless -e $module;

my $calls = 8;
my $folder = abs_path(PostgreSQL::Test::Utils::tempdir());
my $loses = "$folder/loses";

# Create a copy of the installation, as far as a server needs it. The fake module is next to
# emogi.so in a separate folder, as in an image volume (dynamic_library_path).
sub install
{
	my %at = map { my $path = `pg_config --$_`; chomp $path; ($_ => $path) } qw(bindir pkglibdir sharedir);
	my $root = dirname($at{bindir});

	$root = dirname($root) while index("$at{sharedir}/", "$root/") != 0 || index("$at{pkglibdir}/", "$root/") != 0;
	my %new = map { ($_ => $folder . substr($at{$_}, length $root)) } keys %at;
	make_path(dirname($new{bindir}), $new{pkglibdir}, dirname($new{sharedir}), "$folder/volume");
	system('cp', '-a', $at{bindir}, $new{bindir}) == 0 or die 'cp';	# not a link, because the server searches next to its real path
	symlink($at{sharedir}, $new{sharedir}) or die "symlink: $!";
	foreach my $file (grep { !/emogi_cuda\.so$/ } glob "$at{pkglibdir}/*")
	{
		symlink($file, $new{pkglibdir} . substr($file, length $at{pkglibdir})) or die "symlink: $!";
	}
	symlink("$at{pkglibdir}/emogi.so", "$folder/volume/emogi.so") && symlink($module, "$folder/volume/emogi_cuda.so") or die "symlink: $!";
	return dirname($new{bindir});
}

# Get the devices with a condition, from a column of emogi_devices, in their order.
sub devices
{
	my ($node, $condition) = @_;

	return $node->safe_psql('postgres', "SELECT string_agg(device::text, ',' ORDER BY device) FROM emogi_devices WHERE engine = 'cuda' AND $condition");
}

$ENV{EMOGI_FAKE_GPUS} = 4;
$ENV{EMOGI_FAKE_BROKEN} = 2;
$ENV{EMOGI_FAKE_MS} = 200;
$ENV{EMOGI_FAKE_LOSES} = $loses;

my $node = PostgreSQL::Test::Cluster->new('gpus', install_path => install());
$node->init;
$node->append_conf('postgresql.conf', "shared_preload_libraries = 'emogi'\nautovacuum = off\nlog_statement = none\nemogi.engine = cuda\n"
	. "dynamic_library_path = '$folder/volume:\$libdir'");
$node->start;
$node->safe_psql('postgres', 'CREATE EXTENSION emogi; CREATE TABLE edges AS SELECT i AS src, i * 7 % 1000 AS dst FROM generate_series(0, 999) i');
wait_until(30, sub { $node->safe_psql('postgres', "SELECT count(*) FROM emogi_devices WHERE state = 'starting'") == 0 }) or die 'no worker';

# ------------------------------------------------------------------------------------------------------- detection

is(devices($node, "state = 'ready'"), '0,1,3', 'GPUs that can be opened are used');
is($node->safe_psql('postgres', "SELECT device, reason FROM emogi_devices WHERE state = 'failed'"), '2|the GPU is broken', 'others are skipped, with the reason');

# ------------------------------------------------------------------------------------------------------- concurrent calls

my $rank = "SELECT md5(string_agg(vertex || ' ' || rank, ',' ORDER BY vertex)) FROM emogi_pagerank('edges')";
my $right = $node->safe_psql('postgres', "SET emogi.engine = cpu; $rank");

# Let some sessions make a call each at the same time; returns their answers.
sub all_at_once
{
	my ($sql, $count) = @_;
	my @sessions = map { $node->background_psql_of($sql) } 1 .. $count;

	return map { $_->() } @sessions;
}

# Start psql with a command; returns a function that waits for its answer.
sub PostgreSQL::Test::Cluster::background_psql_of
{
	my ($self, $sql) = @_;
	my ($out, $err) = ('', '');
	my $run = IPC::Run::start([ 'psql', '-XAtq', '-d', $self->connstr('postgres'), '-c', $sql ], '>', \$out, '2>', \$err);

	return sub { $run->finish; chomp $out; return $out . ($err =~ /(ERROR:.*)/ ? $1 : '') };
}

is_deeply([ all_at_once($rank, $calls) ], [ ($right) x $calls ], 'concurrent calls are correct');
is($node->safe_psql('postgres', "SELECT string_agg(DISTINCT device::text, ',' ORDER BY device::text) FROM emogi_runs WHERE engine = 'cuda'"), '0,1,3', 'each GPU had some of them');
cmp_ok($node->safe_psql('postgres', "SELECT max(together) FROM (SELECT (SELECT count(*) FROM emogi_runs b WHERE b.engine = 'cuda' AND a.started + (a.wait_ms + 1) * interval '1 ms' BETWEEN b.started + b.wait_ms * interval '1 ms' AND b.started + b.total_ms * interval '1 ms') AS together FROM emogi_runs a WHERE a.engine = 'cuda') c"),
	'>=', 2, 'at the same time');
is($node->safe_psql('postgres', "SET emogi.engine = cpu; SELECT count(*) FROM emogi_pagerank('edges'); SELECT device IS NULL FROM emogi_runs ORDER BY id DESC LIMIT 1"), "1000\nt", 'a run on the CPU has no device');
like($node->safe_psql('postgres', "EXPLAIN (ANALYZE, COSTS OFF) SELECT * FROM emogi_pagerank('edges')"), qr/Engine: cuda\n\s+Device: [013]\n/, 'EXPLAIN tells which');

# ------------------------------------------------------------------------------------------------------- forgetting

is(devices($node, 'used_bytes > 0'), '0,1,3', 'each GPU has cached the graph');
$node->safe_psql('postgres', "SELECT emogi_evict('edges')");
ok(wait_until(10, sub { $node->safe_psql('postgres', "SELECT sum(used_bytes) FROM emogi_devices WHERE engine = 'cuda'") eq '0' }), 'each has forgotten it when it is evicted');
is($node->safe_psql('postgres', 'SELECT count(*) FROM emogi_graphs'), '0', 'then its memory is freed');
$node->safe_psql('postgres', 'INSERT INTO edges VALUES (1000, 0)');
$right = $node->safe_psql('postgres', "SET emogi.engine = cpu; $rank");
is_deeply([ all_at_once($rank, 4) ], [ ($right) x 4 ], 'the changed graph is correct on all');

# ------------------------------------------------------------------------------------------------------- GPUs help each other

$node->safe_psql('postgres', 'SELECT emogi_evict()');
ok(wait_until(10, sub { $node->safe_psql('postgres', "SELECT sum(used_bytes) FROM emogi_devices WHERE engine = 'cuda'") eq '0' }), 'nothing is cached');
is($node->safe_psql('postgres', "SET emogi.placement = host; $rank; SELECT links FROM emogi_runs ORDER BY id DESC LIMIT 1"), "$right\n3", 'free GPUs help');
is(devices($node, 'used_bytes > 0'), '0,1,3', '... and cache the graph');
is_deeply([ all_at_once("SET emogi.placement = host; $rank", 9) ], [ ($right) x 9 ], 'none is used twice at once');
$node->safe_psql('postgres', "SELECT emogi_evict('edges')");
ok(wait_until(10, sub { $node->safe_psql('postgres', "SELECT sum(used_bytes) FROM emogi_devices WHERE engine = 'cuda'") eq '0' }), 'helpers forget, too');

# ------------------------------------------------------------------------------------------------------- many searches

my $sums = "SELECT count(*), sum(level) FROM generate_series(0, 4999) g, LATERAL emogi_bfs('edges', g % 1001, 3)";
$right = $node->safe_psql('postgres', "SET emogi.engine = cpu; SET emogi.enable_batch = off; $sums");
is($node->safe_psql('postgres', "$sums; SELECT engine, links FROM emogi_runs ORDER BY id DESC LIMIT 1"), "$right\ncuda|1", 'sums of many searches are computed by a GPU');
is($node->safe_psql('postgres', "SET emogi.placement = host; $sums; SELECT links FROM emogi_runs ORDER BY id DESC LIMIT 1"), "$right\n3", '... and by free ones');
is($node->safe_psql('postgres', "SET emogi.papers_mapping = warp; EXPLAIN (COSTS OFF) $sums") =~ /EmogiBatch/, '', "... but not with the papers' systems");
like($node->safe_psql('postgres', "SELECT count(DISTINCT vertex) FROM generate_series(0, 70) g, LATERAL emogi_bfs('edges', g, 1); SELECT engine FROM emogi_runs ORDER BY id DESC LIMIT 1"),
	qr/^\d+\ncuda$/, 'rows are computed by single searches');
unlike($node->safe_psql('postgres', "EXPLAIN (COSTS OFF) SELECT count(DISTINCT vertex) FROM generate_series(0, 70) g, LATERAL emogi_bfs('edges', g, 1)"), qr/EmogiBatch/, '... of which none is a batch');
like($node->safe_psql('postgres', "EXPLAIN (COSTS OFF) SELECT count(*), sum(level) FROM generate_series(0, 70) g, LATERAL emogi_bfs('edges', g, 0)"), qr/EmogiBatchAggregate/, 'sums of searches that reach next to nothing');
$right = $node->safe_psql('postgres', "SET emogi.engine = cpu; $rank");

# ------------------------------------------------------------------------------------------------------- a GPU is lost

append_to_file($loses, '1');
my @answers = all_at_once($rank, $calls);
is(scalar(grep { $_ eq $right || /^ERROR:/ } @answers), $calls, 'answers are correct, or errors, when a GPU is lost');
cmp_ok(scalar(grep { /fallen off the bus|GPU/ } @answers), '>=', 1, '... at least one');
unlink $loses;
ok(wait_until(30, sub { $node->safe_psql('postgres', "SELECT count(*) FROM emogi_devices WHERE state = 'ready' AND engine = 'cuda'") == 3 && $node->safe_psql('postgres', $rank) eq $right }),
	'the worker is restarted, with correct answers');
append_to_file($loses, '3');
is($node->safe_psql('postgres', "SET emogi.placement = host; $rank; SELECT links, reason FROM emogi_runs ORDER BY id DESC LIMIT 1"),
	"$right\n2|left out: GPU 3: the GPU has fallen off the bus", 'an answer is correct when a helping GPU is lost, and the run records it');
unlink $loses;
ok(wait_until(30, sub { $node->safe_psql('postgres', "SELECT count(*) FROM emogi_devices WHERE state = 'ready' AND engine = 'cuda'") == 3 && $node->safe_psql('postgres', $rank) eq $right }),
	'the worker is restarted then, too');
like(slurp_file($node->logfile), qr/restarts after a GPU error: left out: GPU 3: the GPU has fallen off the bus/, '... and reports the reason');
append_to_file($loses, '0');
is($node->safe_psql('postgres', "SET emogi.engine = auto; SELECT count(*) FROM emogi_pagerank('SELECT i, i + 1 FROM generate_series(1, 1100000) i')"), '1100001', 'auto uses the CPU when its GPU is lost');
unlink $loses;

# ------------------------------------------------------------------------------------------------------- emogi.devices

foreach (['0,3', '0,3', ''], ['3', '3', ''], ['2', '', '2'], ['1,9', '1', '9'], [' 1 , 0 ', '0,1', ''], ['all', '0,1,3', '2'])
{
	my ($setting, $ready, $failed) = @$_;

	$node->append_conf('postgresql.conf', "emogi.devices = '$setting'");
	$node->restart;
	wait_until(30, sub { $node->safe_psql('postgres', "SELECT count(*) FROM emogi_devices WHERE state = 'starting'") == 0 }) or die 'no worker';
	is(devices($node, "state = 'ready'"), $ready, "emogi.devices = '$setting': used");
	is(devices($node, "state = 'failed'"), $ready eq '' ? '' : $failed, "emogi.devices = '$setting': left out");
}
foreach my $setting ('', 'none', '-1', '16', '0,0', '1;2', '0,', '99999999999999999999')
{
	my ($rc, $out, $err) = $node->psql('postgres', "ALTER SYSTEM SET emogi.devices = '$setting'");

	like($err, qr/invalid value for parameter "emogi.devices".*\n.*distinct GPU numbers from 0 to 15/, "emogi.devices = '$setting' is refused");
}
$node->stop;
done_testing();
