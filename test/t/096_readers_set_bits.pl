# From PostgreSQL 19 on, a SELECT that prunes a page also sets its bit in the visibility map. Bits
# cleared by a writer and set again by a reader, without VACUUM, hide no change from a refresh.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use EmogiTest;
use IPC::Run;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $last = q{SELECT cache || ', by map ' || (pages_skipped_by_map > 0)::text || ', changes ' || changes FROM emogi_runs WHERE pid = pg_backend_pid() ORDER BY id DESC LIMIT 1};
my $node = emogi_node('main', "emogi.max_memory = '256MB'", 'emogi.incremental_min_size = 0', 'wal_level = replica', 'max_wal_senders = 4');
my $version = $node->safe_psql('postgres', q{SELECT current_setting('server_version_num')::int / 10000});

plan(skip_all => 'readers set no bits of the visibility map before PostgreSQL 19') if $version < 19;
plan(skip_all => 'pg_visibility or pageinspect is not installed')
	if $node->safe_psql('postgres', q{SELECT count(*) FROM pg_available_extensions WHERE name IN ('pg_visibility', 'pageinspect')}) < 2;

$node->safe_psql('postgres', q{CREATE EXTENSION pg_visibility;
	CREATE EXTENSION pageinspect;
	CREATE TABLE edges (src int, dst int) WITH (fillfactor = 50, autovacuum_enabled = off);
	INSERT INTO edges SELECT i / 2, i FROM generate_series(1, 20000) i});

# The number of pages whose bit is set, and the LSN of the map's page.
sub map_of { return split /\|/, $node->safe_psql('postgres', q{SELECT all_visible, lsn FROM pg_visibility_map_summary('edges'), page_header(get_raw_page('edges', 'vm', 0))}) }

# Is the graph correct, and how was it obtained?
sub checked
{
	my ($fault) = @_;
	my ($rc, $out, $err) = $node->psql('postgres', "SET emogi.fault = '$fault'; SELECT CASE WHEN ok THEN 'right' ELSE 'WRONG ' || differs END FROM emogi_check('edges', 'out', true); $last");

	return join(', ', split /\n/, $out) . $err;
}

sub change { $node->safe_psql('postgres', "UPDATE edges SET dst = dst + 1 WHERE $_[0]") }

# A plain scan by a read-only session.
sub read_all { $node->safe_psql('postgres', 'SET max_parallel_workers_per_gather = 0; SET enable_indexscan = off; SELECT sum(dst) FROM edges') }

change('true');
read_all();
my ($visible, $lsn) = map_of();
cmp_ok($visible, '>', 10, 'a SELECT sets bits of the visibility map');
like(checked(''), qr/^right, built/, '... a build');

# a refresh copies the map of the base graph; the next one may skip pages with it
change('src = 1');
like(checked(''), qr/^right, merged, .*changes 2$/, '... a change');
change('src = 2');
like(checked(''), qr/^right, merged, .*changes [1-4]$/, '... and another');

foreach my $round (1 .. 5)
{
	my ($before, $lsn_before) = map_of();

	change("src % 500 = $round");
	my ($between) = map_of();
	cmp_ok($between, '<', $before, "round $round: a writer clears bits");
	read_all();
	my ($after, $lsn_after) = map_of();
	cmp_ok($after, '>', $between, '... a reader sets them again');
	isnt($lsn_after, $lsn_before, '... and the LSN of the map\'s page has moved');
	like(checked(''), qr/^right, merged, .*changes [1-9]\d*$/, '... a refresh sees the change');
	like(checked(''), qr/^right, hit/, '... and then no further change');
}

# O5: the copy of the map kept by a transaction with own changes. The other transaction is older, so
# that its page becomes all-visible while the first one still runs.
sub own_changes_beside_a_reader
{
	my ($own, $other) = (session($node), session($node));
	my $check = q{SELECT CASE WHEN ok THEN 'right' ELSE 'WRONG ' || differs END FROM emogi_check('edges', 'out', true)};
	my ($before) = map_of();

	$other->ask('BEGIN; SELECT pg_current_xact_id()');
	$own->ask('BEGIN; UPDATE edges SET dst = dst + 1 WHERE src = 9000');
	my $first = $own->ask($check);
	my ($with_own) = map_of();
	$other->ask('UPDATE edges SET dst = dst + 1 WHERE src % 500 = 123; COMMIT');
	my ($between) = map_of();
	read_all();
	my ($after) = map_of();
	my $second = $own->ask($check);
	$own->ask('ROLLBACK');
	$_->quit foreach $own, $other;
	return ($first, $second, $between < $with_own && $after > $between);
}

read_all();
like(checked(''), qr/^right/, 'before own changes');
my ($first, $second, $set_again) = own_changes_beside_a_reader();
is($first, 'right', '... a call with own changes');
ok($set_again, '... another session changes pages, and a reader sets their bits');
is($second, 'right', '... a second call sees the change');
read_all();
like(checked(''), qr/^right/, '... and others');

# concurrent readers, writers and refreshes
my $dir = $node->basedir;
my @env = ('-h', $node->host, '-p', $node->port);
append_to_file("$dir/write.sql", "\\set k random(1, 9999)\nUPDATE edges SET dst = dst + 1 WHERE src = :k;\n");
append_to_file("$dir/read.sql", "SET enable_indexscan = off; SET max_parallel_workers_per_gather = 0;\nSELECT sum(dst) FROM edges;\n");
my @beside = map { my ($out, $err) = ('', ''); IPC::Run::start([ 'pgbench', @env, '-n', @$_, 'postgres' ], '>', \$out, '2>', \$err) }
  ([ '-c', 2, '-T', 600, '-R', 40, '-f', "$dir/write.sql" ], [ '-c', 1, '-T', 600, '-R', 20, '-f', "$dir/read.sql" ]);
my $end = time() + ($ENV{EMOGI_READERS_SECONDS} || 8);
my %seen;
while (time() < $end)
{
	my $answer = checked('');

	$seen{ $answer =~ /^right, (\w+), by map (\w+)/ ? "$1, by map $2" : $answer }++;
}
$_->kill_kill foreach @beside;
note(join('; ', map { "$_: $seen{$_}" } sort keys %seen));
is(join(', ', grep { !/^(?:hit|merged|built|private), by map (?:true|false)$/ } sort keys %seen), '', 'concurrent readers, writers and refreshes: all answers were correct');
ok((grep { /^merged/ } keys %seen), '... also of refreshes');
read_all();
like(checked(''), qr/^right/, '... and afterwards');

# a standby, which replays the bits
$node->backup('base');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($node, 'base', has_streaming => 1);
$standby->start;
my $standby_check = q{SELECT CASE WHEN ok THEN 'right' ELSE 'WRONG ' || differs END FROM emogi_check('edges', 'out', true)};
foreach my $round (1 .. 3)
{
	change("src % 500 = 20$round");
	my ($between) = map_of();
	$node->wait_for_catchup($standby);
	is($standby->safe_psql('postgres', $standby_check), 'right', "standby, round $round: a change");
	read_all();
	my ($after) = map_of();
	cmp_ok($after, '>', $between, '... a reader of the primary sets bits');
	change("src % 500 = 30$round");
	read_all();
	$node->wait_for_catchup($standby);
	is($standby->safe_psql('postgres', $standby_check), 'right', '... the standby sees the next change after them');
}
region_is_empty($standby, '... the arena of the standby is empty');
$standby->stop;
no_crash($standby);

# negative control: the bits alone prove nothing
change('src % 500 = 77');
read_all();
like(checked('tracker_map_lsn=0'), qr/^WRONG/, 'a refresh that trusts the bits without the LSN is wrong');
$node->safe_psql('postgres', 'SELECT emogi_evict()');
like(checked(''), qr/^right, built/, '... and a build is correct');

region_is_empty($node, '... the arena is empty');
$node->stop;
no_crash($node);
done_testing();
