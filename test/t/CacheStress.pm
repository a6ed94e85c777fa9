# Concurrent writers, readers, builders and evictions, with sleeps at the critical steps of the
# protocol: every answer must be that of the call's snapshot.
package CacheStress;

use strict;
use warnings;

use Exporter 'import';
use EmogiTest;
use IPC::Run;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(sleep time);

our @EXPORT = qw(stress_node stress writes_done goes_wrong);

my $node;

# All edges start at 0 and no two end at the same vertex, so count and sum of the vertices at level
# 1 are those of dst. chk() fails if the answer differs from what its own snapshot sees in the
# table; it writes nothing.
my $tables = q{
	CREATE SEQUENCE ends;
	CREATE TABLE other (a int);
	INSERT INTO other VALUES (0);
	CREATE TABLE edges (id bigserial PRIMARY KEY, src int DEFAULT 0, dst bigint DEFAULT nextval('ends'), weight int DEFAULT 1);
	INSERT INTO edges (src) SELECT 0 FROM generate_series(1, 500);
	CREATE TABLE parts (src int DEFAULT 0, dst bigint DEFAULT nextval('ends'), part int) PARTITION BY LIST (part);
	CREATE TABLE part1 PARTITION OF parts FOR VALUES IN (1);
	CREATE TABLE part2 PARTITION OF parts FOR VALUES IN (2) PARTITION BY HASH (dst);
	CREATE TABLE part2a PARTITION OF part2 FOR VALUES WITH (MODULUS 2, REMAINDER 0);
	CREATE TABLE part2b PARTITION OF part2 FOR VALUES WITH (MODULUS 2, REMAINDER 1);
	CREATE TABLE part3 (part int, dst bigint DEFAULT nextval('ends'), src int DEFAULT 0);
	ALTER TABLE parts ATTACH PARTITION part3 FOR VALUES IN (3);
	INSERT INTO parts (part) SELECT 1 + g % 3 FROM generate_series(1, 300) g;
	CREATE FUNCTION chk() RETURNS void LANGUAGE plpgsql AS $$
	DECLARE r record;
	BEGIN
		SELECT * INTO r FROM (SELECT count(*) AS gn, sum(vertex) AS gs FROM emogi_bfs('edges', 0) WHERE level = 1) g, (SELECT count(*) AS tn, sum(dst) AS ts FROM edges) t;
		IF r.gn <> r.tn OR r.gs IS DISTINCT FROM r.ts THEN RAISE EXCEPTION 'STALE edges: %', r; END IF;
	END $$;
	CREATE FUNCTION chk_both() RETURNS void LANGUAGE plpgsql AS $$
	DECLARE r record;
	BEGIN
		SELECT * INTO r FROM (SELECT count(*) AS gn, sum(vertex) AS gs FROM emogi_bfs('edges', 0, direction => 'both') WHERE level = 1) g, (SELECT count(*) AS tn, sum(dst) AS ts FROM edges) t;
		IF r.gn <> r.tn OR r.gs IS DISTINCT FROM r.ts THEN RAISE EXCEPTION 'STALE edges, both: %', r; END IF;
	END $$;
	CREATE FUNCTION chk_weights() RETURNS void LANGUAGE plpgsql AS $$
	DECLARE r record;
	BEGIN
		SELECT * INTO r FROM (SELECT count(*) - 1 AS gn, sum(distance) AS gs FROM emogi_sssp('edges', 0)) g, (SELECT count(*) AS tn, sum(weight) AS ts FROM edges) t;
		IF r.tn > 0 AND (r.gn <> r.tn OR r.gs IS DISTINCT FROM r.ts) THEN RAISE EXCEPTION 'STALE edges, weights: %', r; END IF;
	END $$;
	CREATE FUNCTION chk_parts() RETURNS void LANGUAGE plpgsql AS $$
	DECLARE r record;
	BEGIN
		SELECT * INTO r FROM (SELECT count(*) AS gn, sum(vertex) AS gs FROM emogi_bfs('parts', 0) WHERE level = 1) g, (SELECT count(*) AS tn, sum(dst) AS ts FROM parts) t;
		IF r.gn <> r.tn OR r.gs IS DISTINCT FROM r.ts THEN RAISE EXCEPTION 'STALE parts: %', r; END IF;
	END $$};

my %role = (
	# Readers: one statement per transaction; several checks under one snapshot; with own changes;
	# other forms of the graph.
	read => { clients => 3, reader => 1, script => 'SELECT chk();' },
	prepared => { clients => 1, reader => 1, options => [ '-M', 'prepared' ], script => 'SELECT chk();' },
	parts => { clients => 1, reader => 1, script => 'SELECT chk_parts();' },
	forms => { clients => 1, reader => 1, script => q{
		SELECT chk_both();
		SELECT chk_weights();
		\sleep 2 ms} },
	repeatable => { clients => 2, reader => 1, script => q{
		\set s1 random(1, 30000)
		\set s2 random(1, 10000)
		BEGIN ISOLATION LEVEL REPEATABLE READ;
		SELECT 1 FROM other LIMIT 1;
		\sleep :s1 us
		SELECT chk();
		SELECT chk();
		\sleep :s2 us
		SELECT chk();
		SELECT chk_parts();
		COMMIT;} },
	committed => { clients => 1, reader => 1, script => q{
		\set s1 random(1, 10000)
		BEGIN;
		SELECT chk();
		\sleep :s1 us
		SELECT chk();
		SELECT chk_parts();
		COMMIT;} },
	own => { clients => 1, reader => 1, script => q{
		\set s1 random(1, 3000)
		\set r random(1, 100)
		BEGIN;
		\if :r < 50
		INSERT INTO other VALUES (:r);
		\endif
		SELECT chk();
		SAVEPOINT a;
		INSERT INTO edges DEFAULT VALUES;
		SELECT chk();
		\sleep :s1 us
		\if :r % 2 = 0
		ROLLBACK TO a;
		SELECT chk();
		\endif
		\if :r < 80
		ROLLBACK;
		\else
		COMMIT;
		SELECT chk();
		\endif
		\sleep 30 ms} },
	# Registration is repeated.
	evict => { clients => 1, reader => 1, script => q{
		\set s random(1, 60)
		\if :s % 3 = 0
		SELECT emogi_evict();
		\elif :s % 3 = 1
		SELECT emogi_evict('edges');
		\else
		SELECT emogi_evict('parts');
		\endif
		\sleep :s ms} },
	# Dead rows are vacuumed, with older snapshots open.
	vacuum => { clients => 1, reader => 1, script => q{
		\sleep 2 s
		VACUUM edges, parts, other, pg_class, pg_attribute, pg_type, pg_depend, pg_inherits, pg_index;} },
	# Writers: rows with savepoints and aborts; prepared transactions; many subtransactions; DDL;
	# partitions.
	rows => { clients => 2, script => q{
		\set r random(1, 100)
		\set s random(1, 80000)
		\sleep :s us
		BEGIN;
		INSERT INTO edges (weight) VALUES (:r);
		\if :r < 30
		SAVEPOINT a;
		DELETE FROM edges WHERE id IN (SELECT id FROM edges ORDER BY id LIMIT 2);
		ROLLBACK TO a;
		\endif
		\if :r > 60
		DELETE FROM edges WHERE id IN (SELECT id FROM edges ORDER BY id LIMIT 1);
		\endif
		\if :r > 90
		ROLLBACK;
		\else
		COMMIT;
		\endif} },
	prepare => { clients => 1, script => q{
		\set r random(1, 100)
		\set s1 random(1, 80000)
		\set s2 random(1, 20000)
		\sleep :s1 us
		BEGIN;
		UPDATE edges SET dst = nextval('ends'), weight = :r WHERE id IN (SELECT id FROM edges ORDER BY id DESC LIMIT 3);
		INSERT INTO parts (part) VALUES (1 + :r % 3);
		PREPARE TRANSACTION 'stress';
		\sleep :s2 us
		\if :r < 20
		ROLLBACK PREPARED 'stress';
		\else
		COMMIT PREPARED 'stress';
		\endif} },
	subtransactions => { clients => 1, script => q{
		\set r random(1, 100)
		\sleep 200 ms
		BEGIN;
		DO $$ BEGIN
			FOR i IN 1 .. 80 LOOP
				BEGIN
					INSERT INTO edges DEFAULT VALUES;
					IF i % 3 = 0 THEN RAISE EXCEPTION 'x'; END IF;
				EXCEPTION WHEN OTHERS THEN NULL;
				END;
			END LOOP;
			DELETE FROM edges WHERE id IN (SELECT id FROM edges ORDER BY id LIMIT (SELECT greatest(count(*) - 500, 0) FROM edges));
		END $$;
		\sleep 20 ms
		\if :r < 30
		ROLLBACK;
		\else
		COMMIT;
		\endif} },
	define => { clients => 1, script => q{
		\set r random(1, 100)
		\sleep 250 ms
		BEGIN;
		\if :r < 30
		LOCK TABLE edges IN ACCESS EXCLUSIVE MODE;
		CREATE TEMP TABLE keep ON COMMIT DROP AS SELECT * FROM edges ORDER BY id LIMIT 500;
		TRUNCATE edges;
		INSERT INTO edges SELECT * FROM keep;
		\elif :r < 50
		ALTER TABLE edges ALTER dst TYPE bigint USING -dst;
		\elif :r < 60
		TRUNCATE part1;
		INSERT INTO part1 (part) SELECT 1 FROM generate_series(1, 50);
		\else
		INSERT INTO other VALUES (:r);
		\endif
		\if :r % 4 = 0
		ROLLBACK;
		\else
		COMMIT;
		\endif} },
	partitions => { clients => 1, script => q{
		\set r random(1, 100)
		\set s random(1, 100000)
		\sleep :s us
		BEGIN;
		\if :r < 15
		ALTER TABLE parts DETACH PARTITION part3;
		UPDATE part3 SET dst = nextval('ends') WHERE ctid = ANY (ARRAY(SELECT ctid FROM part3 LIMIT 2));
		\sleep 5 ms
		ALTER TABLE parts ATTACH PARTITION part3 FOR VALUES IN (3);
		\elif :r < 50
		UPDATE parts SET part = 1 + part % 3 WHERE dst IN (SELECT dst FROM parts ORDER BY dst LIMIT 3);
		\elif :r < 80
		INSERT INTO part3 (part) VALUES (3);
		DELETE FROM part3 WHERE ctid = ANY (ARRAY(SELECT ctid FROM part3 LIMIT 1));
		\else
		UPDATE part1 SET dst = nextval('ends') WHERE ctid = ANY (ARRAY(SELECT ctid FROM part1 LIMIT 2));
		\endif
		\if :r % 7 = 0
		ROLLBACK;
		\else
		COMMIT;
		\endif} });

# Get a running cluster with the tables.
sub stress_node
{
	$node = emogi_node('main', 'max_prepared_transactions = 30', 'max_connections = 60', "emogi.max_memory = '1GB'",
		'deadlock_timeout = 200ms', 'log_min_error_statement = panic', 'log_min_messages = error', @_);
	$node->safe_psql('postgres', $tables);
	return $node;
}

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
		local $ENV{PGOPTIONS} = '-c emogi.fault=' . ($role->{reader} ? $reader_fault : $writer_fault);
		$running{$name} = { out => \$out };
		$running{$name}{run} = IPC::Run::start([ 'pgbench', '-n', '-c', $role->{clients}, '-T', $time, @{ $role->{options} // [] }, '-f', $file, $node->connstr('postgres') ],
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

# Calls and hits since the last emogi_reset().
sub counters
{
	return split /\|/, $node->safe_psql('postgres', 'SELECT hits + builds + private_builds, hits, builds, private_builds, waits, evictions FROM emogi_cache');
}

# Run all for a while, or until the first stale answer. Returns their output and the counters.
sub stress
{
	my ($time) = @_;
	my ($start, $told, $stale) = (time, time, 0);

	$node->safe_psql('postgres', 'SELECT emogi_reset()');
	%running = ();
	start_all($time, 'registered=2000,built=2000,found=200,random=1', 'pre_commit=3000,committed=3000,random=1');
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
	my $said = said();
	my ($checks, $hits, $builds, $private, $waits, $evictions) = counters();
	$stale = () = $said =~ /STALE/g;
	note "$checks checks: $hits hits, $builds built, $private private; $waits waits, $evictions evictions, $stale stale";
	is($stale, 0, "no stale answer in $checks checks") or diag grep { /STALE/ } split /^/, $said;
	my @errors = grep { !/STALE|deadlock detected/ } $said =~ /^(.*(?:ERROR|FATAL|aborted).*)$/mg;
	is(scalar @errors, 0, 'no error') or diag join "\n", @errors[ 0 .. ($#errors < 9 ? $#errors : 9) ];
	is($node->safe_psql('postgres', 'SELECT chk(), chk_both(), chk_weights(), chk_parts()'), '|||', 'correct after the end of all writes');
	region_is_empty($node, 'the arena is empty');
	return ($checks, $hits, $builds, $private, $waits, $evictions);
}

# Test that every role has run, and return the number of writing transactions.
sub writes_done
{
	my $writes = 0;

	foreach my $name (sort keys %role)
	{
		my ($done) = ${ $running{$name}{out} } =~ /transactions actually processed: (\d+)/;
		note "$name: " . ($done // 'no') . ' transactions';
		cmp_ok($done // 0, '>', 0, "$name has run");
		$writes += $done // 0 unless $role{$name}{reader};
	}
	return $writes;
}

# Test that readers with a fault get a stale answer within some seconds, and correct answers without
# it.
sub goes_wrong
{
	my ($time, $fault, $name) = @_;

	%running = ();
	start_all($time, "$fault,registered=2000,built=2000,random=1", 'pre_commit=5000,committed=5000,random=1');
	my $start = time;
	while (any_running())
	{
		last if said() =~ /STALE/;
		sleep 0.1;
	}
	my $took = time - $start;
	my $said = said();
	end_all(1);
	like($said, qr/STALE/, sprintf "negative control: a stale answer after %.1f s $name", $took);
	$node->safe_psql('postgres', 'SELECT emogi_evict()');
	is($node->safe_psql('postgres', 'SELECT chk(), chk_both(), chk_weights(), chk_parts()'), '|||', '... and correct again with it');
	region_is_empty($node, '... and the arena is empty');
}

1;
