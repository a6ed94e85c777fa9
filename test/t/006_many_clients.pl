# Twenty concurrent sessions with valid, invalid and canceled calls: every answer is correct, and no
# resources are left behind.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use EmogiTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = emogi_node('main', "emogi.max_memory = '1GB'", 'max_worker_processes = 12', 'max_parallel_workers = 8');
my $clients = 20;
my $rounds = 12;

# tree: i has the children 2i and 2i + 1; big: 1.5 million hashed endpoints, with the complete
# answer stored.
$node->safe_psql('postgres', q{
	CREATE TABLE tree AS SELECT i / 2 AS src, i AS dst FROM generate_series(2, 20000) i;
	CREATE UNLOGGED TABLE big AS
	SELECT (hashint8(i)::bigint & 262143) * 1000003 AS src, (hashint8(-i)::bigint & 262143) * 1000003 AS dst FROM generate_series(1, 1500000) i;
	CREATE FUNCTION summary(graph text, source bigint, direction text DEFAULT 'out') RETURNS text LANGUAGE sql STABLE AS
	$$ SELECT concat_ws(' ', count(*), sum(level), sum(vertex % 1009 * level)) FROM emogi_bfs(graph, source, direction => direction) $$;
	CREATE TABLE whole AS SELECT summary('big', (hashint8(1)::bigint & 262143) * 1000003) AS answer;
	CREATE TABLE churn (src int, dst int)});

# The commands of a session: each output line is "ok" or a description of what is wrong, each error
# a SQLSTATE.
sub commands
{
	my ($me) = @_;
	my @sql = ("SET application_name = 'client $me'");

	foreach my $round (1 .. $rounds)
	{
		my $root = 1 + ($me * 7 + $round) % 9000;
		my $own = $me * 1000 + $round;
		push @sql, qq{SELECT CASE WHEN count(*) FILTER (WHERE vertex >> level <> $root) = 0 AND count(*) > 1 THEN 'ok' ELSE 'wrong tree' END FROM emogi_bfs('tree', $root)};
		push @sql, qq{SELECT CASE WHEN count(*) = 1000 AND max(level) = 999 THEN 'ok' ELSE 'wrong chain' END FROM emogi_bfs('SELECT i, i + 1 FROM generate_series($own, $own + 998) i', $own)};
		push @sql, q{SELECT CASE WHEN summary('big', (hashint8(1)::bigint & 262143) * 1000003) = answer THEN 'ok' ELSE 'wrong big' END FROM whole} if ($me + $round) % 6 == 0;
		push @sql, q{SELECT * FROM emogi_bfs('nowhere', 1)}, q{SELECT * FROM emogi_bfs('tree', 1, -1)}, q{SELECT * FROM emogi_bfs('SELECT src, dst / (dst - 9000) FROM tree', 1)};
		# a timeout at the end of a statement can hit PostgreSQL's next one, so it is reset twice
		push @sql, 'SET statement_timeout = ' . (5 + ($me * 31 + $round * 17) % 200), q{SELECT 'done' FROM emogi_bfs('big', (hashint8(1)::bigint & 262143) * 1000003) LIMIT 1}, 'RESET statement_timeout', 'RESET statement_timeout';
		push @sql, 'BEGIN', "INSERT INTO churn VALUES ($own, -$own)",
		  qq{SELECT CASE WHEN string_agg(vertex::text, ' ') = '-$own $own' THEN 'ok' ELSE 'wrong churn' END FROM emogi_bfs('churn', $own)}, ($me % 2 ? 'COMMIT' : 'ROLLBACK');
	}
	return @sql;
}

my (@out, @err, @psql);
foreach my $me (0 .. $clients - 1)
{
	($out[$me], $err[$me]) = ('', '');
	push @psql, start_psql($node, \$out[$me], \$err[$me], commands($me));
}
$_->finish foreach @psql;

my ($right, $wrong, $canceled, %states) = (0, 0, 0);
foreach my $me (0 .. $clients - 1)
{
	$right += () = $out[$me] =~ /^ok$/mg;
	$canceled += () = $err[$me] =~ /57014/g;
	foreach my $line (split /\n/, $out[$me]) { $wrong++, diag "client $me: $line" unless $line =~ /^(?:ok|done)$/ }
	$states{$_}++ foreach $err[$me] =~ /^(?:ERROR|FATAL|WARNING|NOTICE):\s+(\w+)/mg;
}
my $big = grep { ($_->[0] + $_->[1]) % 6 == 0 } map { my $me = $_; map { [ $me, $_ ] } 1 .. $rounds } 0 .. $clients - 1;
is($right, 3 * $clients * $rounds + $big, 'every valid call of every client is correct');
is($wrong, 0, 'no other output');
is(delete $states{'42P01'}, $clients * $rounds, 'bad calls: unknown relation');
is(delete $states{'22023'}, $clients * $rounds, 'bad calls: negative max_depth');
is(delete $states{'22012'}, $clients * $rounds, 'bad calls: division by zero');
cmp_ok(delete $states{'57014'} // 0, '>', 0, "some calls were canceled: $canceled");
is(join(' ', %states), '', 'no other errors');
region_is_empty($node, 'the arena is empty at the end');
answers_small($node, 'the next call is right');
$node->stop;
no_crash($node);

done_testing();
