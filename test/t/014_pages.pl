# Scans of all-visible pages: a standby ignores the PD_ALL_VISIBLE bit, and pages may change while
# they are read.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use EmogiTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(time);

# Set the bit PD_ALL_VISIBLE (0x0004) of pd_flags, at byte 10, in the first page of a table of a
# stopped server.
sub mark_all_visible
{
	my ($node, $path) = @_;
	my $bytes;

	open(my $file, '+<:raw', $node->data_dir . "/$path") or die "$path: $!";
	seek($file, 10, 0) && read($file, $bytes, 2) == 2 or die "$path: $!";
	seek($file, 10, 0) && print $file pack('S', unpack('S', $bytes) | 4);
	close($file) or die "$path: $!";
}

my $primary = PostgreSQL::Test::Cluster->new('primary');
$primary->init(allows_streaming => 1);
$primary->append_conf('postgresql.conf', join "\n", "shared_preload_libraries = 'emogi'", 'autovacuum = off', 'max_prepared_transactions = 5',
	'log_min_error_statement = panic');
$primary->start;

SKIP:
{
	skip 'pages with checksums cannot be changed by hand', 1 if $primary->safe_psql('postgres', 'SHOW data_checksums') eq 'on';

	$primary->safe_psql('postgres', q{
		CREATE EXTENSION emogi;
		CREATE TABLE edges (src int, dst int);
		INSERT INTO edges VALUES (1, 2), (2, 3);
		BEGIN; INSERT INTO edges VALUES (3, 4); PREPARE TRANSACTION 'pending'});
	$primary->backup('copy');
	my $standby = PostgreSQL::Test::Cluster->new('standby');
	$standby->init_from_backup($primary, 'copy', has_streaming => 1);
	$standby->start;
	$primary->safe_psql('postgres', 'CHECKPOINT');
	$primary->wait_for_catchup($standby, 'replay', $primary->lsn('insert'));
	$standby->safe_psql('postgres', 'CHECKPOINT');    # a restart must not replay changes of the table
	my $path = $standby->safe_psql('postgres', q{SELECT pg_relation_filepath('edges')});
	$standby->stop;
	mark_all_visible($standby, $path);
	$standby->start;

	my $look = q{SELECT string_agg(vertex || ':' || level, ' ') FROM emogi_bfs('edges', 1)};
	my $count = 'SELECT count(*) FROM edges';
	is($standby->safe_psql('postgres', $count), '2', 'a page marked as seen by all, on a standby: a SELECT');
	is($standby->safe_psql('postgres', $look), '1:0 2:1 3:2', '... does not show uncommitted rows, nor does a call');
	$standby->promote;
	is($standby->safe_psql('postgres', $count), '3', '... the bit is set: a primary trusts it');
	is($standby->safe_psql('postgres', "SET emogi.enable_cache = off; $look"), '1:0 2:1 3:2 4:3', '... in a call too');
	$standby->stop('immediate');
	no_crash($standby);
}
$primary->stop;

# Edges 0 -> dst with distinct dst, in a table of many pages. Writers move every edge back and
# forth, by HOT updates and by updates that move to other pages, and delete and insert, each in one
# statement, because any may end in a deadlock; one session vacuums. Every snapshot sees 3000 edges,
# and a call returns those of a SELECT.
my $node = emogi_node('main', 'max_connections = 30', 'log_min_error_statement = panic', "emogi.max_memory = '1GB'");
$node->safe_psql('postgres', q{
	CREATE TABLE edges (id int PRIMARY KEY, src int, dst int, note text) WITH (fillfactor = 70);
	INSERT INTO edges SELECT i, 0, i, repeat('x', 100) FROM generate_series(1, 3000) i;
	CREATE FUNCTION check_edges() RETURNS bigint LANGUAGE plpgsql AS $$
	DECLARE r record;
	BEGIN
		SELECT * INTO r FROM (SELECT count(*) AS gn, sum(vertex) AS gs FROM emogi_bfs('edges', 0) WHERE level = 1) g, (SELECT count(*) AS tn, sum(dst) AS ts FROM edges) t;
		IF r.gn <> 3000 OR r.tn <> 3000 OR r.gs <> r.ts THEN RAISE EXCEPTION 'wrong: %', r; END IF;
		RETURN r.gs;
	END $$;
	VACUUM edges});
my $seconds = 6;
my $end = time() + $seconds;
my %writes = (
	hot => 'UPDATE edges SET dst = dst + 10000 WHERE id % 50 = (random() * 50)::int AND dst < 1000000',
	move => q{UPDATE edges SET id = id % 100000 + 100000 * (random() * 100)::int, dst = dst + 10000, note = repeat('y', 200) WHERE id % 97 = (random() * 97)::int AND dst < 1000000},
	replace => 'WITH gone AS (DELETE FROM edges WHERE id % 89 = (random() * 89)::int RETURNING *) INSERT INTO edges SELECT id % 100000 + 100000 * (100 + (random() * 100)::int), src, dst, note FROM gone',
	abort => 'BEGIN; WITH gone AS (DELETE FROM edges WHERE id % 7 = 1) INSERT INTO edges SELECT -i, 0, -i FROM generate_series(1, 200) i; ROLLBACK');
my %sessions = map { ($_ => session($node)) } (keys %writes, 'vacuum', 'one', 'two', 'serializable');
$sessions{$_}->ask('SET emogi.enable_cache = off') foreach ('one', 'two', 'serializable');
$sessions{serializable}->ask(q{SET default_transaction_isolation = 'serializable'});
my %said = map { ($_ => '') } keys %sessions;
my (%calls, %sums);
my %asks = (%writes, vacuum => 'VACUUM edges', (map { ($_ => 'SELECT check_edges()') } ('one', 'serializable')),
	two => 'BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT check_edges(); SELECT check_edges(); COMMIT');
$sessions{$_}->tell($asks{$_}) foreach (keys %sessions);
while (%sessions)
{
	foreach my $name (keys %sessions)
	{
		next unless $sessions{$name}->is_done;
		my $answer = $sessions{$name}->answer;

		$calls{$name}++;
		$said{$name} .= $answer if $answer =~ /wrong|ERROR:  (?!40)/;
		$sums{$name}{$answer} = 1;
		if ($name eq 'two' && $answer =~ /^(\d+)\n(\d+)$/)
		{
			$said{two} .= "two sums in one snapshot: $answer" if $1 ne $2;
		}
		if (time() < $end) { $sessions{$name}->tell($asks{$name}) }
		else { delete($sessions{$name})->quit }
	}
}
foreach my $name ('one', 'two', 'serializable')
{
	is($said{$name}, '', "pages that change meanwhile: $name");
	cmp_ok($calls{$name}, '>', 20, '... was checked often');
	cmp_ok(scalar keys %{ $sums{$name} }, '>', 5, '... and observed changes');
}
is(join('', map { $said{$_} } (keys %writes, 'vacuum')), '', '... the writers had only serialization errors');
cmp_ok($calls{vacuum}, '>', 5, '... nor did the vacuum');
is($node->safe_psql('postgres', 'VACUUM edges; SET emogi.enable_cache = off; SELECT check_edges() > 0'), 't', '... and in the end');
no_crash($node);
$node->stop;

done_testing();
