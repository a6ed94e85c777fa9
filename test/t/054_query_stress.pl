# Graphs of queries and views while their tables, partitions, functions and definitions change
# constantly: every answer must be that of the call's snapshot, and every graph must equal a build
# from the query's text. Negative control: without one of the rules a stale answer must occur.
# EMOGI_STRESS_SECONDS sets a longer duration (as test/query_stress does).

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use EmogiTest;
use IPC::Run;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(sleep time);

my $seconds = $ENV{EMOGI_STRESS_SECONDS} // 20;
my $readers = $ENV{EMOGI_STRESS_READERS} // 3;
my $long = defined $ENV{EMOGI_STRESS_SECONDS};
my $node = emogi_node('main', 'max_prepared_transactions = 30', 'max_connections = 60', "emogi.max_memory = '512MB'",
	'deadlock_timeout = 200ms', 'log_min_error_statement = panic', 'log_min_messages = error');

# All edges start at 0 and no two end at the same vertex, so count, sum of vertices and sum of
# distances are those of the query. The list of partitions does not belong to a snapshot: an
# advisory lock prevents changes between two reads in one statement.
$node->safe_psql('postgres', q{
	CREATE TABLE other (a int);
	INSERT INTO other VALUES (0);
	CREATE TABLE edges (id bigserial PRIMARY KEY, person int);
	CREATE TABLE person (id int PRIMARY KEY, value int, day date DEFAULT current_date);
	CREATE TABLE part (id bigserial, person int, k int) PARTITION BY RANGE (k);
	CREATE TABLE part1 PARTITION OF part FOR VALUES FROM (0) TO (10);
	CREATE TABLE part2 PARTITION OF part FOR VALUES FROM (10) TO (20);
	CREATE TABLE loose (id bigint DEFAULT nextval('part_id_seq') NOT NULL, person int, k int);
	INSERT INTO edges (person) SELECT 1 + g % 60 FROM generate_series(1, 300) g;
	INSERT INTO person SELECT g, g % 3 FROM generate_series(1, 60) g;
	INSERT INTO part (person, k) SELECT g + 1, g FROM generate_series(0, 19) g;
	INSERT INTO loose (person, k) SELECT g, 20 FROM generate_series(1, 5) g;
	CREATE FUNCTION weigh(int) RETURNS int LANGUAGE sql STABLE AS $$ SELECT coalesce(max(value), 0) FROM person WHERE id = $1 $$;
	CREATE VIEW joined AS SELECT 0 AS src, e.id AS dst, p.value AS weight FROM edges e JOIN person p ON p.id = e.person;
	CREATE VIEW counted AS SELECT 0 AS src, p.id AS dst, (SELECT count(*) FROM edges e WHERE e.person = p.id) AS weight FROM person p WHERE p.day <= current_date;
	CREATE VIEW weighed AS SELECT 0 AS src, q.id AS dst, weigh(q.person) AS weight FROM part q;
	CREATE FUNCTION chk() RETURNS void LANGUAGE plpgsql AS $$
	DECLARE
		r record;
		n int := floor(random() * 3);
	BEGIN
		IF n = 0 THEN
			SELECT * INTO r FROM (SELECT count(*) - 1 AS gn, sum(vertex)::numeric AS gs, sum(distance)::numeric AS gw FROM emogi_sssp('joined', 0)) g, (SELECT count(*) AS tn, sum(dst)::numeric AS ts, sum(weight)::numeric AS tw FROM joined) t;
		ELSIF n = 1 THEN
			SELECT * INTO r FROM (SELECT count(*) - 1 AS gn, sum(vertex)::numeric AS gs, sum(distance)::numeric AS gw FROM emogi_sssp('SELECT * FROM counted', 0)) g, (SELECT count(*) AS tn, sum(dst)::numeric AS ts, sum(weight)::numeric AS tw FROM counted) t;
		ELSE
			PERFORM pg_advisory_xact_lock_shared(1);
			LOCK TABLE person IN ACCESS SHARE MODE;	-- a function that waits for TRUNCATE would read rows that are newer than its snapshot
			SELECT * INTO r FROM (SELECT count(*) - 1 AS gn, sum(vertex)::numeric AS gs, sum(distance)::numeric AS gw FROM emogi_sssp('weighed', 0)) g, (SELECT count(*) AS tn, sum(dst)::numeric AS ts, sum(weight)::numeric AS tw FROM weighed) t;
		END IF;
		IF r.tn > 0 AND (r.gn <> r.tn OR r.gs IS DISTINCT FROM r.ts OR r.gw IS DISTINCT FROM r.tw) THEN
			RAISE EXCEPTION 'STALE %: %', n, r;
		END IF;
	END $$;
	CREATE FUNCTION chk_bytes() RETURNS void LANGUAGE plpgsql AS $$
	DECLARE
		r record;
		graph text := (ARRAY['joined', 'SELECT * FROM counted'])[1 + floor(random() * 2)];
	BEGIN
		SELECT * INTO r FROM emogi_check(graph, weights => true);
		IF NOT r.ok THEN
			RAISE EXCEPTION 'STALE %: %', graph, r;
		END IF;
	END $$});

my %role = (
	read => { clients => $readers, reader => 1, script => 'SELECT chk();' },
	bytes => { clients => 1, reader => 1, script => "SELECT chk_bytes();\n\\sleep 1 ms" },
	repeatable => { clients => 1, reader => 1, script => q{
		\set s1 random(1, 20000)
		BEGIN ISOLATION LEVEL REPEATABLE READ;
		SELECT 1 FROM other LIMIT 1;
		\sleep :s1 us
		SELECT chk();
		\sleep :s1 us
		SELECT chk();
		SELECT chk();
		COMMIT;} },
	own => { clients => 1, reader => 1, script => q{
		\set k random(1, 60)
		BEGIN;
		SELECT chk();
		UPDATE person SET value = 5 WHERE id = :k;
		SELECT chk();
		SAVEPOINT a;
		INSERT INTO edges (person) VALUES (:k);
		SELECT chk();
		ROLLBACK TO a;
		SELECT chk();
		ROLLBACK;
		\sleep 20 ms} },
	evict => { clients => 1, reader => 1, script => q{
		\set s random(1, 2000)
		SELECT emogi_evict();
		\sleep :s ms} },
	vacuum => { clients => 1, reader => 1, script => q{
		\sleep 2 s
		VACUUM edges, person, part, loose, other, pg_class, pg_attribute, pg_type, pg_depend, pg_inherits, pg_proc, pg_rewrite, pg_index;} },
	rows => { clients => 1, script => q{
		\set r random(1, 100)
		\set k random(1, 60)
		\set s random(1, 60)
		\sleep :s ms
		BEGIN;
		INSERT INTO edges (person) VALUES (:k);
		UPDATE person SET value = :r % 3 WHERE id = :k;
		DELETE FROM edges WHERE id <= (SELECT max(id) - 250 FROM edges);
		\if :r > 90
		ROLLBACK;
		\else
		COMMIT;
		\endif} },
	prepare => { clients => 1, script => q{
		\set k random(1, 60)
		\set r random(1, 100)
		\set s random(1, 10000)
		\sleep 40 ms
		BEGIN;
		UPDATE person SET value = (value + 1) % 3 WHERE id = :k;
		UPDATE part SET person = 1 + person % 60 WHERE k = :k % 20;
		PREPARE TRANSACTION 'stress';
		\sleep :s us
		\if :r < 20
		ROLLBACK PREPARED 'stress';
		\else
		COMMIT PREPARED 'stress';
		\endif} },
	define => { clients => 1, script => q{
		\set r random(1, 100)
		\sleep 80 ms
		BEGIN;
		\if :r < 15
		CREATE TEMP TABLE keep ON COMMIT DROP AS SELECT * FROM person;
		TRUNCATE person;
		INSERT INTO person SELECT * FROM keep;
		\elif :r < 30
		DO $$ BEGIN FOR i IN 1 .. 70 LOOP BEGIN UPDATE part SET person = 1 + person % 60 WHERE k = i % 20; IF i % 3 = 0 THEN RAISE EXCEPTION 'x'; END IF; EXCEPTION WHEN OTHERS THEN NULL; END; END LOOP; END $$;
		\elif :r < 45
		CREATE OR REPLACE VIEW joined AS SELECT 0 AS src, e.id AS dst, p.value + 1 AS weight FROM edges e JOIN person p ON p.id = e.person;
		\elif :r < 60
		CREATE OR REPLACE VIEW joined AS SELECT 0 AS src, e.id AS dst, p.value AS weight FROM edges e JOIN person p ON p.id = e.person;
		\else
		INSERT INTO other VALUES (1);
		\endif
		COMMIT;} },
	replace => { clients => 1, script => q{
		\set r random(1, 20)
		\sleep :r ms
		BEGIN;
		SELECT pg_advisory_xact_lock(1);
		CREATE OR REPLACE FUNCTION weigh(int) RETURNS int LANGUAGE sql STABLE AS $$ SELECT 100 + coalesce(max(value), 0) FROM person WHERE id = $1 $$;
		COMMIT;
		\sleep :r ms
		BEGIN;
		SELECT pg_advisory_xact_lock(1);
		CREATE OR REPLACE FUNCTION weigh(int) RETURNS int LANGUAGE sql STABLE AS $$ SELECT coalesce(max(value), 0) FROM person WHERE id = $1 $$;
		COMMIT;
		\sleep 150 ms} },
	partitions => { clients => 1, script => q{
		\set r random(1, 100)
		\sleep 120 ms
		\if :r < 50
		BEGIN;
		SELECT pg_advisory_xact_lock(1);
		ALTER TABLE part ATTACH PARTITION loose FOR VALUES FROM (20) TO (30);
		COMMIT;
		\sleep 10 ms
		BEGIN;
		SELECT pg_advisory_xact_lock(1);
		ALTER TABLE part DETACH PARTITION loose;
		COMMIT;
		\else
		INSERT INTO loose (person, k) VALUES (1 + :r % 60, 20);
		DELETE FROM loose WHERE ctid = (SELECT min(ctid) FROM loose);
		\endif} });

my %running;

# Start pgbench for every role, with the faults of readers and writers.
sub start_all
{
	my ($time, $reader_fault, $writer_fault) = @_;

	foreach my $name (sort keys %role)
	{
		my $role = $role{$name};
		my $file = $node->basedir . "/$name.sql";
		my $out = '';
		open(my $script, '>', $file) or die "$file: $!";
		print $script $role->{script} =~ s/^\s+//mgr, "\n";
		close $script;
		local $ENV{PGOPTIONS} = '-c client_min_messages=warning -c emogi.fault=' . ($role->{reader} ? $reader_fault : $writer_fault);
		$running{$name} = { out => \$out };
		$running{$name}{run} = IPC::Run::start([ 'pgbench', '-n', '-c', $role->{clients}, '-T', $time, '-f', $file, $node->connstr('postgres') ],
			'<', \'', '>&', \$out);
	}
}

# The output of all so far, and whether any is still running.
sub said
{
	$_->{run}->pump_nb foreach grep { $_->{run}->pumpable } values %running;
	return join '', map { ${ $_->{out} } } values %running;
}
sub any_running { return scalar grep { $_->{run}->pumpable } values %running }

# End all of them, by force if requested, and their prepared transactions.
sub end_all
{
	my ($force) = @_;

	foreach my $name (sort keys %running)
	{
		$force ? $running{$name}{run}->kill_kill(grace => 2) : $running{$name}{run}->finish;
	}
	if ($force)
	{
		$node->safe_psql('postgres', q{SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'});
		wait_until(20, sub { $node->safe_psql('postgres', q{SELECT count(*) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'}) eq '0' });
	}
	$node->safe_psql('postgres', "ROLLBACK PREPARED '$_'") foreach split /\n/, $node->safe_psql('postgres', 'SELECT gid FROM pg_prepared_xacts');
}

# Calls and the source of their graphs, since the last emogi_reset().
sub counters
{
	return split /\|/, $node->safe_psql('postgres', 'SELECT hits + builds + private_builds, hits, builds, private_builds, waits FROM emogi_cache');
}

# Run all for a while, or until the first stale answer.
sub stress
{
	my ($time, $reader_fault) = @_;
	my ($start, $told, $stale) = (time, time, 0);

	$node->safe_psql('postgres', 'SELECT emogi_evict(); SELECT emogi_reset()');
	%running = ();
	start_all($time, $reader_fault, 'pre_commit=3000,committed=3000,random=1');
	while (any_running())
	{
		$stale = () = said() =~ /STALE/g;
		if (time - $told >= 30)
		{
			my ($checks, $hits) = counters();
			note sprintf('%.0f s: %d checks, %d hits (%.1f %%), %d stale', time - $start, $checks, $hits, 100 * $hits / ($checks || 1), $stale);
			$told = time;
		}
		last if $stale || time - $start > $time + 120;
		sleep 0.2;
	}
	end_all($stale || any_running());
	$stale = () = said() =~ /STALE/g;
	return (time - $start, $stale, counters());
}

# Regular run: no stale answers.
my ($took, $stale, $checks, $hits, $builds, $private, $waits) = stress($seconds, 'registered=1000,built=1000,found=50,random=1');
my $said = said();
is($stale, 0, "no stale answer in $checks checks") or diag grep { /STALE/ } split /^/, $said;
my @errors = grep { !/STALE|deadlock detected/ } $said =~ /^(.*(?:ERROR|FATAL|aborted).*)$/mg;
is(scalar @errors, 0, 'no error') or diag join "\n", @errors[ 0 .. ($#errors < 9 ? $#errors : 9) ];
is($node->safe_psql('postgres', 'SELECT chk(), chk_bytes() FROM generate_series(1, 20)'), join("\n", ('|') x 20), 'correct after the end of all writes');
note sprintf 'query stress: %d checks (%.0f a second), %d hits, %d built, %d private, %d waits, %d stale', $checks, $checks / $took, $hits, $builds, $private, $waits, $stale;
cmp_ok($checks, '>=', $seconds * 100, "enough checks: $checks");
cmp_ok($hits, '>', 0.3 * $checks, sprintf('hits among them: %.1f %%', 100 * $hits / ($checks || 1)));
foreach my $name (sort keys %role)
{
	my ($done) = ${ $running{$name}{out} } =~ /transactions actually processed: (\d+)/;
	cmp_ok($done // 0, '>', 0, "$name has run: " . ($done // 'no') . ' transactions');
}
region_is_empty($node, 'the arena is empty');

# Negative control: without one of the rules.
foreach my $rule ($long ? () : qw(query_base_tables query_own registration_rule))
{
	my ($took, $stale, $checks) = stress(60, "$rule=0,registered=3000,built=3000,random=1");

	cmp_ok($stale, '>', 0, sprintf 'negative control: %s is detected after %.1f s, %d checks', $rule, $took, $checks);
}
$node->safe_psql('postgres', 'SELECT emogi_evict()');
is($node->safe_psql('postgres', 'SELECT chk(), chk_bytes() FROM generate_series(1, 20)'), join("\n", ('|') x 20), '... and correct again with all of them');
region_is_empty($node, '... and the arena is empty');
$node->stop;
no_crash($node);

done_testing();
