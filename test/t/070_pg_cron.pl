# pg_cron runs calls on a schedule, over connections and in background workers: they write correct
# results, the graph is shared afterwards, a role runs with its own privileges, and failures are
# recorded in pg_cron's table with emogi's message. Waits for the next full minute.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use EmogiTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

sub start_node
{
	my ($name, $workers) = @_;
	my $node = PostgreSQL::Test::Cluster->new($name);

	$node->init;
	$node->append_conf('postgresql.conf', join "\n", "shared_preload_libraries = 'emogi, pg_cron'", "emogi.max_memory = '128MB'", "cron.database_name = 'postgres'",
		"cron.use_background_workers = $workers", "cron.host = '" . $node->host . "'", "cron.timezone = 'UTC'", 'max_worker_processes = 20', 'autovacuum = off');
	$node->start;
	$node->safe_psql('postgres', q{
		CREATE EXTENSION emogi;
		CREATE EXTENSION pg_cron;
		CREATE TABLE edges AS SELECT i / 2 AS src, i AS dst FROM generate_series(2, 1000) i;
		CREATE TABLE closed AS TABLE edges;
		CREATE TABLE ranks (node text, vertex bigint, rank float8);
		CREATE ROLE keeper LOGIN;
		GRANT SELECT ON edges TO keeper;
		GRANT INSERT ON ranks TO keeper;
		GRANT USAGE ON SCHEMA cron TO keeper});
	foreach my $job (
		[ 'ranks', q{INSERT INTO ranks SELECT 'job', vertex, rank FROM emogi_pagerank('edges') WHERE NOT EXISTS (SELECT FROM ranks WHERE node = 'job')} ],
		# with concurrent writers, a graph may not be shared at once
		[ 'prewarm', q{DO $$ BEGIN FOR i IN 1 .. 100 LOOP
			BEGIN PERFORM emogi_prewarm('closed', direction => 'both'); RETURN; EXCEPTION WHEN object_not_in_prerequisite_state THEN PERFORM pg_sleep(0.1); END;
			END LOOP; END $$} ],
		[ 'wrong', q{SELECT emogi_bfs('nowhere', 1)} ])
	{
		$node->safe_psql('postgres', "SELECT cron.schedule('$job->[0]', '* * * * *', \$job\$$job->[1]\$job\$)");
	}
	$node->safe_psql('postgres', q{SET ROLE keeper;
		SELECT cron.schedule('of keeper', '* * * * *', $$INSERT INTO ranks SELECT 'keeper', vertex, rank FROM emogi_pagerank('edges')$$);
		SELECT cron.schedule('forbidden', '* * * * *', $$SELECT emogi_bfs('closed', 1)$$)});
	return $node;
}

plan skip_all => 'pg_cron is not installed' unless -e PostgreSQL::Test::Cluster->new('look')->config_data('--pkglibdir') . '/pg_cron.so';
my %nodes = ('over connections' => start_node('connections', 'off'), 'in background workers' => start_node('workers', 'on'));
foreach my $how (sort keys %nodes)
{
	my $node = $nodes{$how};
	my $done = sub { sleep 1; $node->safe_psql('postgres', q{SELECT count(DISTINCT jobid) FROM cron.job_run_details WHERE status IN ('succeeded', 'failed')}) eq '5' };

	ok(wait_until(100, $done), "$how: all jobs have run")
		or diag $node->safe_psql('postgres', 'SELECT jobid, status, return_message FROM cron.job_run_details');
	$node->safe_psql('postgres', 'SELECT cron.unschedule(jobid) FROM cron.job');
	is($node->safe_psql('postgres', q{SELECT count(*), count(DISTINCT vertex), abs(sum(r.rank) - 1) < 1e-9, bool_and(r.rank = p.rank)
		FROM (SELECT * FROM ranks WHERE node = 'job') r FULL JOIN emogi_pagerank('edges') p USING (vertex)}), '1000|1000|t|t', '... the written results are correct');
	is($node->safe_psql('postgres', q{SELECT count(*) >= 1000 FROM ranks WHERE node = 'keeper'}), 't', '... also of a role');
	is($node->safe_psql('postgres', q{SELECT count(*) FROM emogi_graphs WHERE source = 'closed' AND direction = 'both' AND state = 'ready'}), '1', '... a graph is shared');
	like($node->safe_psql('postgres', q{SELECT DISTINCT return_message FROM cron.job_run_details WHERE command ~ 'nowhere'}), qr/relation "nowhere" does not exist/,
		'... a wrong name is reported');
	like($node->safe_psql('postgres', q{SELECT DISTINCT return_message FROM cron.job_run_details WHERE command ~ 'emogi_bfs..closed'}), qr/permission denied for table closed/,
		'... and so is a missing privilege');
	is($node->safe_psql('postgres', q{SELECT DISTINCT username FROM emogi_stat_graphs WHERE function = 'emogi_pagerank' AND calls > 0 ORDER BY username}), "keeper\n" . $node->safe_psql('postgres', 'SELECT current_user'),
		'... each as its role');
	region_is_empty($node, '... nothing is left');
	no_crash($node);
}
done_testing();
