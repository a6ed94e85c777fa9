# How a refresh decides that a page is unchanged: bits of the visibility map, including stale ones;
# LSNs, also of pages that were never logged; hint bits with and without checksums; VACUUMs that end
# early; transactions that do not end.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use EmogiTest;
use File::Copy;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $last = q{SELECT cache || ', looked ' || pages_rescanned || ', by map ' || pages_skipped_by_map || ', by LSN ' || pages_skipped_by_lsn || ', changes ' || changes
	FROM emogi_runs WHERE pid = pg_backend_pid() ORDER BY id DESC LIMIT 1};
my $repairs = `initdb --version` =~ /(\d+)/ && $1 >= 19;
my $has_checksums = `initdb --help` =~ /--no-data-checksums/;

# Is the graph correct, and how was it obtained?
sub checked
{
	my ($node, $table, @settings) = @_;
	my ($rc, $out, $err) = $node->psql('postgres', join(';', @settings, "SELECT CASE WHEN ok THEN 'right' ELSE 'WRONG ' || differs END FROM emogi_check('$table', 'out', true)", $last));

	return join(', ', split /\n/, $out) . $err;
}

sub look_is
{
	my ($node, $table, $expected, $name) = @_;
	my $found = checked($node, $table);

	ref $expected ? like($found, $expected, $name) : is($found, $expected, $name);
}

# A table of n rows, on half-filled pages.
sub make_table
{
	my ($node, $table, $n) = @_;

	$node->safe_psql('postgres', qq{CREATE TABLE $table (src int, dst int, weight float8 DEFAULT 1, pad text) WITH (fillfactor = 50, autovacuum_enabled = off);
		INSERT INTO $table SELECT i / 2, i, i % 100 FROM generate_series(1, $n) i});
}

sub pages { return $_[0]->safe_psql('postgres', "SELECT pg_relation_size('$_[1]') / current_setting('block_size')::int") }

# A cluster with variants: checksums, minimal.
sub cluster
{
	my ($name, %variant) = @_;
	my $node = PostgreSQL::Test::Cluster->new($name);

	$node->init(extra => [ $variant{checksums} ? '--data-checksums' : $has_checksums ? '--no-data-checksums' : () ]);
	$node->append_conf('postgresql.conf', join "\n", "shared_preload_libraries = 'emogi'", 'autovacuum = off', "emogi.max_memory = '256MB'", 'emogi.incremental_min_size = 0', 'log_statement = none',
		'max_prepared_transactions = 10', $variant{minimal} ? ('wal_level = minimal', 'max_wal_senders = 0', 'wal_skip_threshold = 0') : ());
	$node->start;
	$node->safe_psql('postgres', 'CREATE EXTENSION emogi');
	return $node;
}

foreach my $checksums (0, 1)
{
	my $with = $checksums ? 'with checksums' : 'without checksums';
	my $node = cluster($checksums ? 'checksums' : 'plain', checksums => $checksums);
	my $n;

	# -------------------------------------------------------------------------------- evidence that a page is unchanged
	make_table($node, 'edges', 20000);
	$n = pages($node, 'edges');
	look_is($node, 'edges', 'right, built, looked 0, by map 0, by LSN 0, changes 0', "$with: a build");
	look_is($node, 'edges', 'right, hit, looked 0, by map 0, by LSN 0, changes 0', '... and a hit, without a refresh');
	$node->safe_psql('postgres', 'UPDATE edges SET dst = 5 WHERE dst = 6');
	look_is($node, 'edges', sprintf('right, merged, looked 1, by map 0, by LSN %d, changes 2', $n - 1), '... one row changed: one page is rescanned');
	$node->safe_psql('postgres', 'VACUUM edges');
	$node->safe_psql('postgres', 'UPDATE edges SET dst = 6 WHERE dst = 5 AND src = 3');
	look_is($node, 'edges', qr/^right, merged, looked \d+, by map 0, by LSN \d+, changes 2$/, '... after a VACUUM the map vouches for nothing yet');
	$node->safe_psql('postgres', 'UPDATE edges SET dst = 5 WHERE dst = 6');
	look_is($node, 'edges', qr/^right, merged, looked 1, by map (?:\d{2,}, by LSN 0|0, by LSN \d{2,}), changes 2$/, '... and then for all but the changed, if its LSN proves it');
	$node->safe_psql('postgres', "UPDATE edges SET pad = 'x' WHERE dst = 15000");
	look_is($node, 'edges', qr/^right, hit, looked [12], by map \d+, by LSN \d+, changes 0$/, '... another column: a rescan, and the same graph');

	# -------------------------------------------------------------------------------- hint bits
	make_table($node, 'hints', 5000);
	look_is($node, 'hints', qr/^right, built/, "$with: hint bits");
	$node->safe_psql('postgres', 'CHECKPOINT; BEGIN; DELETE FROM hints WHERE src % 7 = 0; ROLLBACK');
	look_is($node, 'hints', qr/^right, hit, .* changes 0$/, '... a rollback changes nothing');
	$node->safe_psql('postgres', 'CHECKPOINT; SELECT count(*) FROM hints; INSERT INTO hints VALUES (1, 7)');
	look_is($node, 'hints', qr/^right, merged, .* changes 1$/, '... hints that others have set change nothing either');
	$node->safe_psql('postgres', 'CHECKPOINT; SELECT count(*) FROM hints; INSERT INTO hints VALUES (1, 8)');
	look_is($node, 'hints', qr/^right, merged, looked [1-3], .* changes 1$/, '... and when they are set few pages are rescanned');

	# -------------------------------------------------------------------------------- stale bits of the map
	make_table($node, 'damaged', 2000);
	$node->safe_psql('postgres', 'VACUUM damaged');
	my $file = $node->data_dir . '/' . $node->safe_psql('postgres', q{SELECT pg_relation_filepath('damaged')}) . '_vm';
	$node->stop;
	copy($file, "$file.kept") or die $!;
	$node->start;
	$node->safe_psql('postgres', 'UPDATE damaged SET dst = dst + 1 WHERE dst % 50 = 0');
	$node->stop;
	copy("$file.kept", $file) or die $!;
	unlink "$file.kept";
	$node->start;
	foreach my $rule ('', 'tracker_distrust=0')
	{
		my $fault = "SET emogi.fault = '$rule'";

		$node->safe_psql('postgres', q{SELECT emogi_evict()});
		like(checked($node, 'damaged', $fault), qr/^right, built/, "$with: stale bits of the map" . ($rule ? ', and believed' : ''));
		$node->safe_psql('postgres', 'UPDATE damaged SET dst = dst + 1 WHERE src = 3');
		like(checked($node, 'damaged', $fault), qr/^(?:right|WRONG)/, '... a change');
		$node->safe_psql('postgres', 'UPDATE damaged SET dst = dst + 1 WHERE src % 99 = ' . length $rule);
		my $found = checked($node, 'damaged', $fault);
		# from PostgreSQL 19 on, pruning a page repairs its bit
		if ($rule) { like($found, $repairs ? qr/^(?:WRONG|right)/ : qr/^WRONG/, '... negative control: that goes wrong') }
		else { like($found, qr/^right, merged/, '... another change is detected') }
		$node->safe_psql('postgres', 'DELETE FROM damaged WHERE src % 99 = 50');
		$found = checked($node, 'damaged', $fault);
		like($found, qr/^right, (?:merged|built)/, '... and the next') unless $rule;
	}
	$node->safe_psql('postgres', q{SELECT emogi_evict()});

	# -------------------------------------------------------------------------------- VACUUMs that are canceled
	make_table($node, 'cleaned', 30000);
	$node->safe_psql('postgres', 'VACUUM cleaned');
	look_is($node, 'cleaned', qr/^right, built/, "$with: VACUUMs that are canceled");
	foreach my $round (1 .. 4)
	{
		$node->safe_psql('postgres', "UPDATE cleaned SET dst = dst + 1 WHERE src <= 9000 AND dst % 4 = $round - 1");
		look_is($node, 'cleaned', qr/^right, (?:merged|built)/, '... a change') if $round % 2;
		$node->psql('postgres', 'SET vacuum_cost_delay = 10; SET vacuum_cost_limit = 10; SET statement_timeout = 250; VACUUM cleaned') if $round < 4;
		my $session = session($node);
		if ($round == 4)
		{
			$session->tell('SET vacuum_cost_delay = 10; SET vacuum_cost_limit = 10; VACUUM cleaned');
			wait_until(5, sub { $node->safe_psql('postgres', q{SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE state = 'active' AND query_start < clock_timestamp() - interval '200 ms' AND pid <> pg_backend_pid() AND backend_type = 'client backend'}) eq '1' });
		}
		look_is($node, 'cleaned', qr/^right, /, "... a VACUUM was stopped, $round");
		$node->safe_psql('postgres', "UPDATE cleaned SET dst = dst - 1 WHERE src <= 9000 AND src % 50 = $round");
		look_is($node, 'cleaned', qr/^right, (?:merged|built)/, '... and a change after that');
	}

	# -------------------------------------------------------------------------------- transactions that do not end
	make_table($node, 'open', 20000);
	look_is($node, 'open', qr/^right, built/, "$with: a long-running writer");
	my $writer = session($node);
	$writer->ask('BEGIN; UPDATE open SET dst = dst + 1 WHERE src < 100; DELETE FROM open WHERE src = 5000; INSERT INTO open VALUES (1, 99999)');
	foreach my $round (1 .. 3)
	{
		$node->safe_psql('postgres', "INSERT INTO open VALUES ($round, 7)");
		look_is($node, 'open', qr/^right, merged, looked (?:[3-9]|1\d), .* changes 1$/, "... its pages are rescanned each time, $round");
	}
	$writer->ask('ROLLBACK');
	look_is($node, 'open', qr/^right, hit, /, '... until it has ended without changes');
	$node->safe_psql('postgres', 'INSERT INTO open VALUES (4, 7)');
	look_is($node, 'open', qr/^right, merged, .* changes 1$/, '... then once more');
	$node->safe_psql('postgres', 'INSERT INTO open VALUES (5, 7)');
	look_is($node, 'open', qr/^right, merged, looked [1-3], .* changes 1$/, '... and then no longer');
	$writer->quit;

	$node->safe_psql('postgres', q{BEGIN; UPDATE open SET dst = dst + 1 WHERE src < 50; INSERT INTO open VALUES (NULL, 3); PREPARE TRANSACTION 'open'});
	look_is($node, 'open', qr/^right, hit, /, "$with: a prepared transaction is invisible");
	$node->restart;
	look_is($node, 'open', qr/^right, built, /, '... nor after a restart');
	$node->safe_psql('postgres', "INSERT INTO open VALUES (5, 7)");
	look_is($node, 'open', qr/^right, merged, .* changes 1$/, '... nor with a concurrent change');
	$node->safe_psql('postgres', q{COMMIT PREPARED 'open'});
	look_is($node, 'open', qr/^right, merged, .* changes \d{2,3}$/, '... until it is committed');

	# -------------------------------------------------------------------------------- the end of a table
	make_table($node, 'tail', 20000);
	$n = pages($node, 'tail');
	look_is($node, 'tail', qr/^right, built/, "$with: a table before VACUUM truncates it");
	$node->safe_psql('postgres', 'DELETE FROM tail WHERE src > 8000; VACUUM tail');
	cmp_ok(pages($node, 'tail'), '<', $n, '... VACUUM has truncated it');
	look_is($node, 'tail', qr/^right, (?:merged|built)/, '... the graph is right');
	$node->safe_psql('postgres', 'INSERT INTO tail SELECT i / 2, i FROM generate_series(16000, 20000) i');
	look_is($node, 'tail', qr/^right, (?:merged|built)/, '... and when it is extended again');
	$node->safe_psql('postgres', 'DELETE FROM tail WHERE src > 8000; VACUUM tail; INSERT INTO tail SELECT i / 3, i FROM generate_series(16000, 20000) i');
	look_is($node, 'tail', qr/^right, (?:merged|built)/, '... and after both at once');

	region_is_empty($node, "$with: the arena is empty");
	$node->stop;
	no_crash($node);
}

# ---------------------------------------------------------------------------------------- pages that were never logged
my $node = cluster('minimal', minimal => 1, checksums => 1);
$node->safe_psql('postgres', q{BEGIN;
	CREATE TABLE loaded (src int, dst int, weight float8 DEFAULT 1, pad text) WITH (autovacuum_enabled = off);
	INSERT INTO loaded SELECT i / 2, i, i % 100 FROM generate_series(1, 20000) i;
	COMMIT});
my $n = pages($node, 'loaded');
look_is($node, 'loaded', qr/^right, built/, 'wal_level = minimal: a table that was loaded by the transaction that made it');
$node->safe_psql('postgres', 'INSERT INTO loaded VALUES (1, 7)');
look_is($node, 'loaded', qr/^right, merged, looked \d+, .* changes 1$/, '... a change');
foreach my $round (1 .. 3)
{
	$node->safe_psql('postgres', "UPDATE loaded SET dst = 7 WHERE src = 100 * $round");
	look_is($node, 'loaded', qr/^right, merged, looked \d+, .* changes [34]$/, "... another, $round");
}
$node->safe_psql('postgres', 'VACUUM loaded');
look_is($node, 'loaded', qr/^right, hit/, '... a VACUUM');
foreach my $round (4 .. 6)
{
	$node->safe_psql('postgres', "UPDATE loaded SET dst = 7 WHERE src = 100 * $round");
	look_is($node, 'loaded', qr/^right, merged, .* changes [34]$/, "... another, $round");
}
$node->safe_psql('postgres', 'DELETE FROM loaded WHERE src > 3000; VACUUM loaded');
look_is($node, 'loaded', qr/^right, /, '... it is truncated by VACUUM');
$node->safe_psql('postgres', 'INSERT INTO loaded SELECT i / 2, i, i % 100 FROM generate_series(1, 20000) i');
look_is($node, 'loaded', qr/^right, /, '... and longer');
my $session = session($node);
$session->ask('BEGIN; TRUNCATE loaded; INSERT INTO loaded SELECT i, i FROM generate_series(1, 500) i');
like($session->ask(q{SELECT ok, cache FROM emogi_check('loaded', 'out', true)}), qr/^t\|private$/, '... its transaction writes without WAL: that is not tracked');
$session->ask('DELETE FROM loaded WHERE src < 100');
like($session->ask(q{SELECT ok, cache FROM emogi_check('loaded', 'out', true)}), qr/^t\|private$/, '... not when it changes');
$session->ask('SAVEPOINT a; TRUNCATE loaded; COPY loaded (src, dst) FROM stdin WITH (FREEZE);' . "\n5\t6\n6\t7\n\\.\n");
like($session->ask(q{SELECT ok, cache, edges FROM emogi_check('loaded', 'out', true)}), qr/^t\|private\|2$/, '... not when frozen rows are loaded');
$session->ask('ROLLBACK TO a');
like($session->ask(q{SELECT ok, cache FROM emogi_check('loaded', 'out', true)}), qr/^t\|private$/, '... not when that is rolled back');
$session->ask('COMMIT');
look_is($node, 'loaded', qr/^right, /, '... correct after the commit');
$node->safe_psql('postgres', 'UPDATE loaded SET dst = 7 WHERE src = 300');
look_is($node, 'loaded', qr/^right, merged, .* changes 2$/, '... and followed');
$session->ask('BEGIN; TRUNCATE loaded; COPY loaded (src, dst) FROM stdin WITH (FREEZE);' . "\n5\t6\n6\t7\n\\.\n");
$session->ask('COMMIT');
look_is($node, 'loaded', qr/^right, /, '... rows loaded frozen without WAL');
$node->safe_psql('postgres', 'INSERT INTO loaded VALUES (6, 8)');
look_is($node, 'loaded', qr/^right, merged, .* changes 1$/, '... and one more');
$session->quit;
region_is_empty($node, '... and the arena is empty');

# ---------------------------------------------------------------------------------------- enough pages for parallel workers
$node->safe_psql('postgres', q{ALTER SYSTEM SET max_parallel_workers_per_gather = 2; ALTER SYSTEM SET emogi.max_memory = '1GB'});
$node->restart;
$node->safe_psql('postgres', q{CREATE TABLE wide (src int, dst int, weight float8, pad char(1500)) WITH (fillfactor = 60, autovacuum_enabled = off);
	ALTER TABLE wide ALTER pad SET STORAGE PLAIN;
	INSERT INTO wide SELECT i / 2, i, i % 100, 'x' FROM generate_series(1, 27000) i});
cmp_ok(pages($node, 'wide'), '>', 2 * 4096, 'a table of many pages');
look_is($node, 'wide', qr/^right, built/, '... a build');
$node->safe_psql('postgres', 'UPDATE wide SET weight = weight + 1 WHERE dst % 3 = 0');
foreach my $workers (2, 0)
{
	my $found = checked($node, 'wide', "SET emogi.build_workers = $workers");
	like($found, $workers ? qr/^right, (?:merged|built), looked (?:[89]\d{3}|\d{5})/ : qr/^right, hit/, "... all have changed: they are rescanned, by at most $workers workers");
	$node->safe_psql('postgres', 'DELETE FROM wide WHERE dst % 3 = 0') if $workers == 0;
}
look_is($node, 'wide', qr/^right, (?:merged|built), looked (?:[89]\d{3}|\d{5})/, '... and once more');
my $own = session($node);
$own->ask('BEGIN; UPDATE wide SET weight = weight + 1 WHERE dst % 3 = 1');
like($own->ask(q{SELECT ok, cache FROM emogi_check('wide', 'out', true)}), qr/^t\|private$/, "... the workers see own changes");
$own->ask('ROLLBACK');
like($own->ask(q{SELECT ok, cache FROM emogi_check('wide', 'out', true)}), qr/^t\|hit$/, "... and that they were rolled back");
$node->safe_psql('postgres', q{INSERT INTO wide VALUES (1, 2, 'NaN')});
is((sqlstate($node, q{SELECT emogi_check('wide', 'out', true)}))[0], '22023', '... an error');
$node->safe_psql('postgres', q{DELETE FROM wide WHERE weight = 'NaN'; UPDATE wide SET weight = weight + 1 WHERE dst % 3 = 1});
is((sqlstate($node, q{SET emogi.fault = 'refresh_pages=300000'; SET statement_timeout = 100; SELECT emogi_check('wide', 'out', true)}))[0], '57014', '... a cancel');
look_is($node, 'wide', qr/^right, /, '... and the graph is correct');
$own->quit;
region_is_empty($node, '... and the arena is empty');
$node->stop;
no_crash($node);

done_testing();
