# A call on 20 million edges can be canceled at any time and leaves no resources behind.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use EmogiTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(sleep time);

my $node = emogi_node('main', "emogi.max_memory = '4GB'", 'fsync = off', "max_wal_size = '4GB'", "shared_buffers = '512MB'");

# Endpoints are hashed, and so sparse that keys must be sorted.
$node->safe_psql('postgres', q{
	CREATE UNLOGGED TABLE big AS
	SELECT (hashint8(i)::bigint & 4194303) * 1000003 AS src, (hashint8(-i)::bigint & 4194303) * 1000003 AS dst
	FROM generate_series(1, 20000000) i;
	CREATE VIEW now AS SELECT extract(epoch FROM clock_timestamp()) AS s;
	CREATE VIEW victim AS SELECT pid, query FROM pg_stat_activity WHERE application_name = 'victim' AND backend_type = 'client backend'});
my $clock = 'SELECT s FROM now';
my $call = q{SELECT count(*), sum(level), sum(vertex % 1009 * level) FROM emogi_bfs('big', (hashint8(1)::bigint & 4194303) * 1000003)};
my $query = q{SELECT count(*), sum(level), sum(vertex % 1009 * level) FROM emogi_bfs('SELECT src, dst FROM big', (hashint8(1)::bigint & 4194303) * 1000003)};

my $start = time;
my $answer = $node->safe_psql('postgres', $call);
my $whole = time - $start;
like($answer, qr/^4\d{6}\|/, sprintf('an answer without interruption in %.2f s', $whole));
region_is_empty($node, 'the arena is empty after it');

# Check that a call that was stopped after some seconds returned immediately, or had already
# finished.
sub check_stopped
{
	my ($late, $out, $err, $name) = @_;

	if ($err =~ /57014/)
	{
		# normally milliseconds; a missed wakeup takes 5 s
		cmp_ok($late, '<', 3, sprintf('%s: back after %.3f s', $name, $late));
	}
	else
	{
		is("$out$err", $answer, "$name: it had finished before");
	}
	region_is_empty($node, '... and the arena is empty');
	answers_small($node, '... and the next call is right');
}

foreach my $way ($call, $query)
{
	my $kind = $way eq $call ? 'table' : 'query';

	# pg_cancel_backend; for the query mostly near the end of its scan, a quarter of the time.
	my @delays = $kind eq 'table' ? (50, 150, 300, 600, 1000, 1400, 1700, 2000)
	  : map { int($_ * $whole * 1000) } (0.05, 0.15, 0.18, 0.21, 0.24, 0.27, 0.30, 0.33, 0.36, 0.6);
	foreach my $ms (@delays)
	{
		my ($out, $err) = ('', '');
		my $psql = start_psql($node, \$out, \$err, "SET application_name = 'victim'", $way, $clock);

		wait_until(10, sub { $node->safe_psql('postgres', q{SELECT count(*) FROM victim WHERE query LIKE '%emogi_bfs%'}) eq '1' });
		my $canceled = $node->safe_psql('postgres',
			sprintf(q{SELECT pg_sleep(%g); SELECT s FROM now; SELECT pg_cancel_backend((SELECT pid FROM victim))}, $ms / 1000));
		$psql->finish;
		my ($back) = $out =~ /([0-9.]+)\s*\z/;
		$out =~ s/\n[0-9.]+\n\z//;
		check_stopped($back - ($canceled =~ /([0-9.]+)/ ? $1 : $back), $out, $err, "$kind, pg_cancel_backend after $ms ms");
	}

	# statement_timeout, at several fractions of the total time.
	foreach my $part (0.03, 0.1, 0.2, 0.35, 0.5, 0.65, 0.8, 0.93)
	{
		next if $kind eq 'query' && $part =~ /5$/;
		my $ms = int($part * $whole * 1000) + 1;
		my ($out, $err) = ('', '');
		start_psql($node, \$out, \$err, "SET statement_timeout = $ms", $clock, $way, $clock)->finish;
		my @lines = split /\n/, $out;
		check_stopped($lines[-1] - $lines[0] - $ms / 1000, @lines == 3 ? $lines[1] : '', $err, "$kind, statement_timeout after $ms ms");
	}
}

# A disconnected client and a terminated session.
foreach my $ms (100, 700)
{
	my ($out, $err) = ('', '');
	my $psql = start_psql($node, \$out, \$err, "SET application_name = 'victim'", $call);
	wait_until(10, sub { $node->safe_psql('postgres', q{SELECT count(*) FROM victim WHERE query LIKE '%emogi_bfs%'}) eq '1' });
	sleep $ms / 1000;
	$node->safe_psql('postgres', q{SELECT pg_terminate_backend((SELECT pid FROM victim))});
	my $sent = time;
	ok(wait_until(2, sub { $node->safe_psql('postgres', q{SELECT count(*) FROM victim}) eq '0' }),
		sprintf('pg_terminate_backend after %d ms: gone after %.3f s', $ms, time - $sent));
	eval { $psql->finish };
	region_is_empty($node, '... and the arena is empty');
	answers_small($node, '... and the next call is right');
}

is($node->safe_psql('postgres', $call), $answer, 'the complete answer is unchanged');
is($node->safe_psql('postgres', $query), $answer, 'and from the query too');
region_is_empty($node, 'the arena is empty at the end');
$node->stop;
no_crash($node);

done_testing();
