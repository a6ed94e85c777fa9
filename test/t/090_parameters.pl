# Queries whose values change from call to call, on a table that is written: the number of graphs
# and their bytes stay bounded, repeated values are hit, and all graphs are correct. Also with old
# snapshots, a long-running writer, many values in turn, and on a standby.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use EmogiTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $primary = PostgreSQL::Test::Cluster->new('primary');
$primary->init(allows_streaming => 1);
$primary->append_conf('postgresql.conf', join "\n", "shared_preload_libraries = 'emogi'", 'autovacuum = off', "emogi.max_memory = '512MB'", 'fsync = off',
	'max_prepared_transactions = 2');
$primary->start;
$primary->safe_psql('postgres', q{
	CREATE EXTENSION emogi;
	CREATE TABLE edges AS SELECT i / 2 AS src, i AS dst, i AS at FROM generate_series(1, 2000) i;
	CREATE INDEX ON edges (at);
	CREATE TABLE other AS SELECT 1 AS src, 2 AS dst;
	-- calls with each of some values, in turn, with a write before each if requested; raises wrong answers
	CREATE PROCEDURE ask(first int, last int, writes boolean, query text DEFAULT 'SELECT DISTINCT src, dst FROM edges WHERE at > $1') LANGUAGE plpgsql AS $$
	DECLARE
		checked record;
	BEGIN
		FOR i IN first .. last LOOP
			IF writes THEN
				INSERT INTO edges VALUES (i, 1, i);
				COMMIT;
			END IF;
			SELECT * INTO checked FROM emogi_check(emogi_query(query, i));
			IF NOT checked.ok THEN
				RAISE '%: %', i, checked.differs;
			END IF;
			COMMIT;
		END LOOP;
	END $$;
	-- builds graphs of other queries until those of edges are evicted; other processes may hold a snapshot for a moment
	CREATE PROCEDURE build_others(round text) LANGUAGE plpgsql AS $$
	BEGIN
		FOR i IN 1 .. 600 LOOP
			PERFORM count(*) FROM emogi_bfs(format('SELECT src, dst AS %I FROM other', round || i), 1);
			COMMIT;
			EXIT WHEN NOT EXISTS (SELECT FROM emogi_graphs WHERE source LIKE '%edges%');
			PERFORM pg_sleep(0.05);
		END LOOP;
	END $$;
	CREATE VIEW counted AS SELECT graphs, hits, builds, private_builds AS private, drops, evictions, bytes FROM emogi_cache;
	CREATE VIEW of_edges AS SELECT count(*) FROM emogi_graphs WHERE source LIKE '%edges%' AND state = 'ready'});

sub value
{
	my ($what, $node) = @_;

	return ($node // $primary)->safe_psql('postgres', "SELECT $what FROM counted");
}

sub of_edges
{
	return $primary->safe_psql('postgres', 'SELECT * FROM of_edges');
}

sub anew
{
	$primary->safe_psql('postgres', 'SELECT emogi_evict(); SELECT emogi_reset()');
}

# A new value for each call, and a change before each.
$primary->safe_psql('postgres', 'CALL ask(1, 300, true)');
cmp_ok(value('graphs'), '<=', 4, 'after 300 calls with a value each, on a table that is written, there are few graphs');
cmp_ok(value('bytes'), '<', 1 << 20, '... of less than 1 MB');
is(value(q{builds || ' ' || hits || ' ' || private}), '300 0 0', '... each call has built one');

# The same with an unwritten table: the last few stay until others are requested.
anew();
$primary->safe_psql('postgres', 'CALL ask(3001, 3300, false)');
is(value('graphs'), '4', 'after 300 calls with a value each, on an unwritten table, the last four graphs are cached');
$primary->safe_psql('postgres', 'CALL ask(3298, 3300, false)');
is(value(q{builds || ' ' || hits}), '300 3', '... and are hit');
$primary->safe_psql('postgres', 'CALL ask(3301, 3310, false)');
is(value('graphs'), '7', '... and are then kept like any other');
$primary->safe_psql('postgres', 'CALL ask(3001, 3020, false)') foreach 1 .. 2;
is(value(q{builds || ' ' || hits}), '330 23', 'values requested a second time later are kept from then on');

# The same without the rule of the second call: each graph is cached, and evicted after the table
# has changed.
anew();
$primary->safe_psql('postgres', q{SET emogi.fault = 'query_second_lookup=0'; CALL ask(301, 600, true)});
is(value('builds'), '300', 'each of 300 graphs is shared');
cmp_ok(value('graphs'), '<=', 4, '... but not for longer than a call can use it');
cmp_ok(value('drops'), '>=', 296, '... which emogi_cache counts');
is(value('evictions'), '0', '... and not as evictions for memory');

# Negative control.
anew();
$primary->safe_psql('postgres', q{SET emogi.fault = 'query_second_lookup=0, query_drop=0'; CALL ask(601, 700, true)});
is(value('graphs'), '100', 'without the rule of dropping them they accumulate');
$primary->safe_psql('postgres', q{INSERT INTO edges VALUES (1, 1, 1); CALL build_others('a')});
is(of_edges(), '0', '... until calls drop them, many at once');

# Repeated values: later calls hit, also with nearly as many values as graphs that can be cached.
anew();
$primary->safe_psql('postgres', 'CALL ask(1001, 1900, false)') foreach 1 .. 3;
is(value('builds'), '1796', '900 values in turn: the first calls build, and the second ones, but for the last four of them');
is(value('hits'), '904', '... which hit, as all third ones do');
$primary->safe_psql('postgres', 'INSERT INTO edges VALUES (1, 1, 1)');
$primary->safe_psql('postgres', 'CALL ask(1001, 1010, false)');
is(value('builds'), '1806', 'graphs of earlier values are shared at once after the table has changed');
$primary->safe_psql('postgres', 'CALL ask(1001, 1010, false)');
is(value('hits'), '914', '... and hit');
$primary->safe_psql('postgres', q{INSERT INTO edges VALUES (1, 1, 1); CALL build_others('b')});
is(of_edges(), '0', 'the others are evicted when calls build graphs of another table');

# When all entries are in use, those of values requested once are evicted. The table of requested
# queries is set-associative: names in an overfull set displace each other.
anew();
$primary->safe_psql('postgres', 'CALL ask(10001, 11030, false)') foreach 1 .. 2;
my $asked_twice = q{SELECT count(*) FROM emogi_graphs WHERE source ~ '''1[01][0-9]{3}'''};
my $full = $primary->safe_psql('postgres', $asked_twice);
$primary->safe_psql('postgres', 'CALL ask(20001, 20010, false)');
cmp_ok(value('graphs'), '>=', 1010, 'about the maximum number of graphs is cached');
cmp_ok(value('evictions'), '>', 0, '... and some were evicted');
cmp_ok($full - $primary->safe_psql('postgres', $asked_twice), '<=', 2,
	'... for ten values requested once, hardly one of those that were requested twice');
# latest first: in the order of the first calls each miss would evict the next one
$primary->safe_psql('postgres', join('; ', 'SELECT emogi_reset()', map { "CALL ask($_, $_, false)" } reverse 10001 .. 11030));
cmp_ok(value('hits'), '>=', 1000, '... few of those whose values were requested twice');

# One query with a constant text, the usual case: cached at its first call, and the planner knows
# its size after its graph was dropped.
anew();
my $query = q{'SELECT DISTINCT src, dst FROM edges WHERE at > 5 AND dst > 0'};
my $plan = "EXPLAIN SELECT vertex, level FROM emogi_bfs($query, 7)";
$primary->safe_psql('postgres', "CALL ask(5, 5, false, 'SELECT DISTINCT src, dst FROM edges WHERE at > \$1 AND dst > 0')") foreach 1 .. 2;
is(value(q{builds || ' ' || hits || ' ' || private}), '1 1 0', 'a query of a new kind is cached at its first call');
my $before = $primary->safe_psql('postgres', $plan);
$primary->safe_psql('postgres', q{INSERT INTO edges VALUES (1, 1, 1)});
$primary->safe_psql('postgres', q{CALL build_others('c')});
is(of_edges(), '0', '... and is evicted when its table has changed');
my $after = $primary->safe_psql('postgres', $plan);
$_ =~ s/^ *Graph: .*\n//m foreach $before, $after;
is($after, $before, '... and has the same plan without a graph');
$primary->safe_psql('postgres', "CALL ask(5, 5, false, 'SELECT DISTINCT src, dst FROM edges WHERE at > \$1 AND dst > 0')");
is(value(q{builds - (SELECT count(*) FROM emogi_graphs WHERE source LIKE '%other%')}), '2', '... and is cached by the next call');

# A remaining snapshot: its graph stays and is found, and is dropped if it is unused for long.
anew();
$primary->safe_psql('postgres', q{SET emogi.fault = 'query_second_lookup=0'; CALL ask(50, 50, false)});
my $old = session($primary);
$old->ask('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1');
my $check = q{SELECT ok, cache FROM emogi_check(emogi_query('SELECT DISTINCT src, dst FROM edges WHERE at > $1', 50))};
$primary->safe_psql('postgres', q{SET emogi.fault = 'query_second_lookup=0'; CALL ask(1, 40, true); CALL ask(50, 50, true)});
is($old->ask($check), 't|hit', 'an old snapshot finds its graph');
is($primary->safe_psql('postgres', $check), 't|hit', '... and a new one another');
cmp_ok(of_edges(), '>=', 40, 'graphs that an old snapshot may use are cached');
$primary->safe_psql('postgres', q{SET emogi.fault = 'idle=0'; INSERT INTO edges VALUES (1, 1, 1)});
$primary->safe_psql('postgres', q{SET emogi.fault = 'idle=0'; CALL build_others('d')});
is(of_edges(), '0', '... until they are unused for long');
is($old->ask('SELECT ok FROM ' . ($check =~ s/.*FROM (?=emogi_check)//r)), 't', '... and the old snapshot is answered correctly without them');
$old->ask('COMMIT');

# An unwritten table: its graphs stay, however long they are unused.
anew();
$primary->safe_psql('postgres', q{SET emogi.fault = 'query_second_lookup=0'; CALL ask(1, 10, false)});
my $unchanged = of_edges();
$primary->safe_psql('postgres', q{SET emogi.fault = 'query_second_lookup=0, idle=0'; DO $$ BEGIN FOR i IN 1 .. 40 LOOP
	PERFORM count(*) FROM emogi_bfs(format('SELECT src, dst AS %I FROM other', 'unchanged' || i), 1); END LOOP; END $$});
is(of_edges(), $unchanged, 'graphs of an unwritten table stay, however long they are unused');

# A long-running writer that never reads: transaction ids no longer show which snapshots exist.
anew();
my $writer = session($primary);
$writer->ask('BEGIN; INSERT INTO other VALUES (7, 8)');
$primary->safe_psql('postgres', q{SET emogi.fault = 'query_second_lookup=0, idle=0'; CALL ask(1, 200, true)});
cmp_ok(of_edges(), '<=', 3, 'with a writer in progress graphs are evicted when unused for long');
$writer->ask('COMMIT');

# Pinned graphs stay.
anew();
my $reader = session($primary);
$reader->ask('BEGIN; DECLARE c CURSOR FOR SELECT vertex FROM emogi_sssp(' . q{'SELECT DISTINCT src, dst FROM edges WHERE at > 90 AND dst > 1', 50)} . '; FETCH c');
my $rest = $primary->safe_psql('postgres', q{SELECT count(*) - 1 FROM emogi_sssp('SELECT DISTINCT src, dst FROM edges WHERE at > 90 AND dst > 1', 50)});
$primary->safe_psql('postgres', q{SET emogi.fault = 'query_second_lookup=0, idle=0'; CALL ask(1, 50, true)});
is($reader->ask('MOVE FORWARD ALL IN c'), '', 'a cursor continues after its graph can no longer be found');
$reader->ask('COMMIT');

# A standby: its graphs serve equal snapshots.
$primary->backup('copy');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($primary, 'copy', has_streaming => 1);
$standby->start;
my $far = session($standby);
$far->ask(q{SET emogi.fault = 'query_second_lookup=0'});
foreach my $i (1 .. 40)
{
	$primary->safe_psql('postgres', "INSERT INTO edges VALUES ($i, 3, $i)");
	$primary->wait_for_catchup('standby', 'replay', $primary->lsn('insert'));
	my $said = $far->ask("SELECT ok FROM emogi_check(emogi_query('SELECT DISTINCT src, dst FROM edges WHERE at > \$1', $i))");
	is($said, 't', "call $i on the standby is correct") if $said ne 't';
}
cmp_ok(value('builds', $standby), '>=', 40, 'on a standby 40 graphs are shared');
cmp_ok(value('graphs', $standby), '<=', 4, '... but not for longer than a call can use them');
is($far->ask(q{SELECT cache FROM emogi_check(emogi_query('SELECT DISTINCT src, dst FROM edges WHERE at > $1', 40))}), 'hit', '... and the last one is hit');
$far->quit;

done_testing();
