# emogi.huge_pages: without a pool of huge pages, "on" prevents the start and "try" uses ordinary
# pages. With a pool, graphs are stored in it, and a pool emptied by others causes an error, not a
# crash.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use EmogiTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $pool = '/sys/kernel/mm/hugepages/hugepages-2048kB';
my $page = 2 << 20;

# The bytes of huge pages that are free and not reserved.
sub free_bytes
{
	my ($free, $promised) = map { -r "$pool/$_" ? slurp_file("$pool/$_") + 0 : 0 } qw(free_hugepages resv_hugepages);

	return ($free - $promised) * $page;
}

# The page size of the file behind the arena, and its bytes.
sub pages_and_bytes
{
	my ($node) = @_;
	my $pid = postmaster_pid($node);
	my ($file) = grep { (readlink($_) // '') =~ m{^/memfd:emogi} } glob "/proc/$pid/fd/*";
	my @stat = stat $file;

	return ($stat[11], $stat[12] * 512);
}

# Start a stopped node with other settings; returns true if it runs.
sub start_with
{
	my ($node, %settings) = @_;

	$node->append_conf('postgresql.conf', "emogi.$_ = '$settings{$_}'") foreach keys %settings;
	return $node->start(fail_ok => 1);
}

sub status
{
	my ($node) = @_;

	return $node->safe_psql('postgres', 'SHOW emogi.huge_pages_status');
}

my $refusal = qr/emogi could not use huge pages: Cannot allocate memory\n.*DETAIL:  emogi\.max_memory needs (\d+) bytes of huge pages of 2 MB; \d+ bytes of them are free\./;

# The servers' own shared memory does not use the pool.
my @conf = ('huge_pages = off', "emogi.max_memory = '64MB'", 'fsync = off');
my $node = emogi_node('main', @conf);
is($node->safe_psql('postgres', q{SELECT context || ' ' || boot_val FROM pg_settings WHERE name = 'emogi.huge_pages'}), 'postmaster off', 'off by default');
is(status($node), 'off', '... and the status shows it');
unlike(slurp_file($node->logfile), qr/could not use huge pages|(?<!no )huge pages,/, '... and the log mentions none');
like(slurp_file($node->logfile), qr/is ready: .*, no huge pages, /, '... when the engine is ready');
make_checked($node, 'tree', 500_000);
is_right($node, 'tree', '... and a call is right');
my ($state) = sqlstate($node, 'SET emogi.huge_pages_status = on');
is($state, '55P02', 'the status cannot be set');
$node->stop;

# A pool that is too small: a limit beyond it, which needs four times as much address space.
my $beyond_mb = (free_bytes() >> 20) + 1024;
SKIP:
{
	skip 'the pool is too large for a limit beyond it', 8 if $beyond_mb > 1 << 18;
	my $seen = -s $node->logfile;
	ok(!start_with($node, huge_pages => 'on', max_memory => "${beyond_mb}MB"), 'on, without enough pages, does not start');
	my $log = slurp_file($node->logfile, $seen);
	like($log, qr/FATAL:  $refusal/, '... and reports the reason');
	is(($log =~ $refusal)[0], $beyond_mb << 20, '... and the required memory');
	like($log, qr/HINT:  Raise vm\.nr_hugepages by \d+, lower emogi\.max_memory \(${beyond_mb}MB now\)/, '... and a hint');
	$seen = -s $node->logfile;
	ok(start_with($node, huge_pages => 'try'), 'try, without enough pages, starts');
	like(slurp_file($node->logfile, $seen), qr/LOG:  $refusal/, '... and the log has a line about it');
	is(status($node), 'off', '... and so does the status');
	is_right($node, 'tree', '... and a call is right');
	$node->stop;
}

SKIP:
{
	skip 'no 256 MB of huge pages are free: vm.nr_hugepages', 1 if free_bytes() < 256 << 20;
	foreach my $setting (qw(try on))
	{
		ok(start_with($node, huge_pages => $setting, max_memory => '160MB'), "$setting, with enough pages, starts");
		is(status($node), 'on', '... and they are used');
		is(join(' ', pages_and_bytes($node)), "$page 0", '... and none is allocated yet');
		is_right($node, 'tree', '... and a call is right');
		cmp_ok((pages_and_bytes($node))[1], '>=', 4 << 20, '... and its graph has allocated some');
		is($node->safe_psql('postgres', q{SELECT count(*) FROM emogi_bfs('SELECT src, dst FROM tree WHERE dst < 5000', 1)}), 4999, '... and so is one on a query');
		$node->safe_psql('postgres', 'SELECT emogi_evict()');
		is((pages_and_bytes($node))[1], 0, '... and emogi_evict() gives them back');
		$node->stop if $setting eq 'try';
	}

	# A server whose shared_buffers are increased until they use nearly the whole pool.
	my $hog = PostgreSQL::Test::Cluster->new('hog');
	$hog->init;
	$hog->append_conf('postgresql.conf', 'huge_pages = on');
	my $buffers = 0;
	while (free_bytes() > 8 << 20)
	{
		$buffers += int(((free_bytes() >> 20) - ($buffers == 0 ? 32 : 5)) * 0.9);
		$hog->append_conf('postgresql.conf', "shared_buffers = '${buffers}MB'");
		$hog->stop;
		$hog->start;
		note "shared_buffers = ${buffers}MB, " . free_bytes() . ' bytes are free';
	}
	my ($error, $message) = sqlstate($node, q{SELECT count(*) FROM emogi_bfs('tree', 1)});
	is($error, '53200', 'a call without free pages is an error');
	like($message, qr/the system has too few huge pages for this graph.*DETAIL:  \d+ more bytes are needed; \d+ bytes of huge pages of 2 MB are free\./s, '... that names the missing resource');
	$hog->stop;
	is_right($node, 'tree', '... and a call is correct when pages are free again');
	nothing_left($node, 'at the end');
	$node->stop;
}
no_crash($node);

done_testing();
