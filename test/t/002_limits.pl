# Exhausted resources: memory of the arena, worker processes, parallel workers.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use EmogiTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(time);

# An arena too small for the graph.
my $node = emogi_node('main', "emogi.max_memory = '16MB'", 'emogi.cpu_threads = 64');	# independent of the number of CPUs
$node->safe_psql('postgres', q{
	CREATE UNLOGGED TABLE big AS SELECT hashint8(i) & 1048575 AS src, hashint8(-i) & 1048575 AS dst FROM generate_series(1, 2000000) i;
	CREATE TABLE parts (src int, dst int) PARTITION BY HASH (src);
	CREATE UNLOGGED TABLE part1 PARTITION OF parts FOR VALUES WITH (MODULUS 2, REMAINDER 0);
	CREATE UNLOGGED TABLE part2 PARTITION OF parts FOR VALUES WITH (MODULUS 2, REMAINDER 1);
	INSERT INTO parts TABLE big;
	CREATE TABLE ring AS SELECT i AS src, i % 1000 + 1 AS dst FROM generate_series(1, 1000) i});
answers_small($node, 'a small graph fits');
foreach my $graph ('big', 'parts', 'SELECT src, dst FROM big', 'SELECT i, i + 1 FROM generate_series(1, 2000000) i')
{
	my ($state, $message) = sqlstate($node, "SELECT count(*) FROM emogi_bfs('$graph', 1)");
	is($state, '53200', "too large: $graph");
	like($message, qr/emogi\.max_memory/, '... names the setting');
	like($message, qr/16777216|\b16 ?MB/, '... and the limit');
	like($message, qr/\d{7,}.*16777216|16777216.*\d{7,}/, '... and the required memory');
	region_is_empty($node, '... and frees all memory');
}
is($node->safe_psql('postgres', q{SELECT count(*), sum(level) FROM emogi_bfs('ring', 1)}), '1000|499500', 'the next call is right');
is($node->safe_psql('postgres', qq{
	CREATE FUNCTION fail(n int) RETURNS int LANGUAGE plpgsql AS \$\$
	DECLARE caught int := 0;
	BEGIN
		FOR i IN 1 .. n LOOP
			BEGIN
				PERFORM emogi_bfs('SELECT i, i + 1 FROM generate_series(1, 2000000) i', 1);
			EXCEPTION WHEN out_of_memory THEN caught := caught + 1;
			END;
		END LOOP;
		RETURN caught;
	END \$\$;
	SELECT fail(20)}), '20', 'repeated errors in one transaction');
answers_small($node, '... and then a correct answer');

# Graphs of sizes around the limit: a correct answer or an error.
is($node->safe_psql('postgres', q{
	CREATE FUNCTION attempt(n int, direction text) RETURNS text LANGUAGE plpgsql AS $$
	BEGIN
		RETURN (SELECT CASE WHEN count(*) = n + 1 AND max(level) = length(ltrim(n::bit(32)::text, '0')) THEN 'right' ELSE 'wrong' END
			FROM emogi_bfs(format(CASE direction WHEN 'in' THEN 'SELECT i, i / 2' ELSE 'SELECT i / 2, i' END || ' FROM generate_series(1, %s) i', n), 0, direction => direction));
	EXCEPTION WHEN out_of_memory THEN RETURN '53200';
	END $$;
	SELECT string_agg(DISTINCT attempt(n, direction), ' ') FROM generate_series(20000, 400000, 20000) n, unnest(ARRAY['out', 'in', 'both']) direction}),
	'53200 right', 'sizes around the limit');
region_is_empty($node, '... and an empty arena');
my $used = $node->safe_psql('postgres', q{SELECT memory_bytes FROM emogi_devices WHERE device = -1});
is($used, '16777216', 'emogi_devices shows the limit');
$node->stop;
no_crash($node);

# An arena far larger than physical memory: memory is allocated on demand.
$node->adjust_conf('postgresql.conf', 'emogi.max_memory', "'1TB'");
is($node->start(fail_ok => 1), 1, 'emogi.max_memory = 1TB is accepted');
answers_small($node, '... and answers');
is($node->safe_psql('postgres', q{SELECT count(*) > 900000 FROM emogi_bfs('big', (SELECT src FROM big LIMIT 1), direction => 'both')}), 't', 'the same graph fits into a larger arena');
region_is_empty($node, '... and the arena is empty again');

# No slot for a shared result: one process can read its rows without one, parallel workers cannot.
$node->safe_psql('postgres', 'CREATE TABLE wide AS SELECT 1 AS src, i AS dst FROM generate_series(2, 22500) i');
my $holder = session($node);
$holder->ask(q{BEGIN; DO $$ DECLARE c refcursor; r record; BEGIN FOR i IN 1 .. 4096 LOOP
	c := 'c' || i; OPEN c FOR SELECT * FROM emogi_bfs('wide', 1); FETCH c INTO r; END LOOP; END $$});
is($node->safe_psql('postgres', q{SELECT count(*) FROM emogi_bfs('wide', 1)}), '22500', 'with 4096 open cursors, one process reads its rows');
is((sqlstate($node, q{BEGIN; DECLARE c CURSOR FOR SELECT * FROM emogi_bfs('wide', 1); FETCH 1 FROM c}))[0], '53000', '... but a cursor is not left open');
answers_small($node, '4096 open cursors');
my $together = q{SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0; SET emogi.enable_aggregates = off; SELECT count(*) FROM emogi_cc('ring')};
my ($refused, $why) = sqlstate($node, $together);
is($refused, '53000', '... parallel workers are refused');
like($why, qr/4096.*HINT: .*max_parallel_workers_per_gather/s, '... with a hint');
is($node->safe_psql('postgres', "SET max_parallel_workers_per_gather = 0; $together"), '1000', '... that works');
$holder->ask('ROLLBACK');
is($node->safe_psql('postgres', $together), '1000', '... until the cursors are closed');
region_is_empty($node, '... and the arena is empty again');
$holder->quit;

# No parallel workers, and no worker processes except the engine's.
$node->append_conf('postgresql.conf', 'max_parallel_workers = 0');
$node->restart;
answers_small($node, 'max_parallel_workers = 0');
is($node->safe_psql('postgres', q{SELECT count(*) > 900000 FROM emogi_bfs('big', (SELECT src FROM big LIMIT 1), direction => 'both')}), 't', '... also a large graph');

# No worker process for the engine: an error that explains it, without delay.
$node->append_conf('postgresql.conf', 'max_worker_processes = 0');
$node->restart;
is(worker_pid($node), 0, 'max_worker_processes = 0: no worker');
my $start = time;
my ($state, $message) = sqlstate($node, q{SELECT * FROM emogi_bfs('small', 1)});
is($state, '58000', '... a call reports it');
cmp_ok(time - $start, '<', 16, '... within 16 s');
$start = time;
is((sqlstate($node, q{SET statement_timeout = '500ms'; SELECT * FROM emogi_bfs('small', 1)}))[0] =~ /57014|58000/, 1, '... and can be canceled');
cmp_ok(time - $start, '<', 5, '... at once, not after 15 s');
region_is_empty($node, '... and the arena is empty');
$node->stop;
no_crash($node);

done_testing();
