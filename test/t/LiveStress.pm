# A table and a partitioned table that are concurrently changed in every way, maintained, vacuumed,
# and checked: every check (emogi_check) compares a whole graph with the result of the server's own
# scan under the same snapshot.
package LiveStress;

use strict;
use warnings;

use Exporter 'import';
use EmogiTest;
use IPC::Run;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(sleep time);

our @EXPORT = qw(stress_node stress);

# ---------------------------------------------------------------------------------------------------------------- the tables

# Keys are inserted and deleted in the middle, at the end, and below all others; some endpoints are
# NULL. Most weights fit into a byte. %1: rows.
my $tables = q{
	CREATE EXTENSION emogi;
	CREATE SEQUENCE fresh START 1000000;
	CREATE FUNCTION vertex() RETURNS int LANGUAGE sql AS $$ SELECT CASE (random() * 60)::int
		WHEN 0 THEN NULL WHEN 1 THEN nextval('fresh')::int WHEN 2 THEN (random() * 15000)::int WHEN 3 THEN -(random() * 100)::int ELSE (random() * 1500)::int * 10 END $$;
	CREATE FUNCTION weight() RETURNS float8 LANGUAGE sql AS $$ SELECT CASE (random() * 8000)::int
		WHEN 0 THEN 0.5 WHEN 1 THEN 0.1 WHEN 2 THEN -1 WHEN 3 THEN 60000 WHEN 4 THEN 1e6 WHEN 5 THEN 'Infinity' ELSE (random() * 200)::int END $$;
	CREATE FUNCTION components(graph text) RETURNS text LANGUAGE sql STABLE AS $$ SELECT md5(string_agg(vertex || ':' || component, ' ')) FROM emogi_cc(graph) $$;
	CREATE FUNCTION components_anew(graph text) RETURNS text LANGUAGE sql STABLE SET emogi.enable_local_search = off SET emogi.enable_cache = off
		AS $$ SELECT md5(string_agg(vertex || ':' || component, ' ')) FROM emogi_cc(graph) $$;
	CREATE FUNCTION check_components(graph text) RETURNS bool LANGUAGE plpgsql STABLE AS $$
		BEGIN
			IF components(graph) IS DISTINCT FROM components_anew(graph) THEN
				RAISE WARNING 'the graph %, by its components, differs from its table', graph;
			END IF;
			RETURN true;
		END $$;
	CREATE TABLE other (a int);
	INSERT INTO other VALUES (0);
	CREATE TABLE edges (src int, dst int, weight float8 NOT NULL, k bigserial PRIMARY KEY, pad text,
		tsrc text COLLATE "C" GENERATED ALWAYS AS (substr(md5(src::text), 1, 12)) STORED, tdst text COLLATE "C" GENERATED ALWAYS AS (substr(md5(dst::text), 1, 12)) STORED)
		WITH (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 20);
	CREATE INDEX edges_dst ON edges (dst);
	CREATE FUNCTION is_narrow(text) RETURNS bool LANGUAGE sql IMMUTABLE AS $$ SELECT coalesce(octet_length($1), 50) BETWEEN 5 AND 50 $$;
	CREATE VIEW narrow WITH (security_barrier) AS SELECT src, dst, weight FROM (SELECT * FROM edges WHERE weight < 1000) light WHERE is_narrow(pad);
	CREATE TABLE parts (part int DEFAULT 1 + floor(random() * 2), weight float8 NOT NULL, pad text, src int, dst bigint, k bigserial) PARTITION BY LIST (part);
	CREATE TABLE part1 PARTITION OF parts FOR VALUES IN (1) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 20);
	CREATE TABLE part2 PARTITION OF parts FOR VALUES IN (2) PARTITION BY HASH (k);
	CREATE TABLE part2a PARTITION OF part2 FOR VALUES WITH (MODULUS 2, REMAINDER 0);
	CREATE TABLE part2b PARTITION OF part2 FOR VALUES WITH (MODULUS 2, REMAINDER 1);
	CREATE TABLE part3 (k bigint DEFAULT nextval('parts_k_seq') NOT NULL, dst bigint, src int, gone text, weight float8 NOT NULL, pad text, part int DEFAULT 3);
	ALTER TABLE part3 DROP COLUMN gone;
	ALTER TABLE parts ATTACH PARTITION part3 FOR VALUES IN (3);
	CREATE INDEX parts_k ON parts (k);
	INSERT INTO edges (src, dst, weight, pad) SELECT vertex(), vertex(), (random() * 200)::int, repeat('x', (random() * 60)::int) FROM generate_series(1, @ROWS@);
	INSERT INTO parts (src, dst, weight, pad) SELECT vertex(), vertex(), (random() * 200)::int, repeat('x', (random() * 60)::int) FROM generate_series(1, @ROWS@ / 2);
	COPY (SELECT src, dst, weight, pad FROM edges) TO '@DIR@/edges.all';
	COPY (SELECT src, dst, weight, pad FROM edges LIMIT 100) TO '@DIR@/edges.some';
	COPY (SELECT part, src, dst, weight, pad FROM part1) TO '@DIR@/part1.all';
	COPY (SELECT src, dst, weight, pad FROM parts LIMIT 100) TO '@DIR@/parts.some'};

# ---------------------------------------------------------------------------------------------------------------- the roles

# Writes to one table or the other: @T@. A number is the script's share within its role.
my %writes = (
	insert => [ 30, q{
		\set r random(1, 100)
		\set m random(1, 30)
		BEGIN;
		INSERT INTO @T@ (src, dst, weight, pad) SELECT vertex(), vertex(), weight(), repeat('i', g * 3) FROM generate_series(1, :m) g;
		\if :r > 98
		\sleep 300 ms
		\elif :r > 70
		\sleep :m ms
		\endif
		\if :r < 20
		ROLLBACK;
		\else
		COMMIT;
		\endif} ],
	# HOT if there is space, except for dst of edges, which has an index; pad is not part of a
	# graph.
	update => [ 40, q{
		\set r random(1, 100)
		\set m random(1, 20)
		BEGIN;
		\if :r < 30
		UPDATE @T@ SET src = vertex() WHERE k IN (SELECT k FROM @T@ TABLESAMPLE system(2) LIMIT :m FOR UPDATE SKIP LOCKED);
		\elif :r < 60
		UPDATE @T@ SET dst = vertex() WHERE k IN (SELECT k FROM @T@ TABLESAMPLE system(2) LIMIT :m FOR UPDATE SKIP LOCKED);
		\elif :r < 80
		UPDATE @T@ SET weight = weight(), src = src + 1 WHERE k IN (SELECT k FROM @T@ TABLESAMPLE system(2) LIMIT :m FOR UPDATE SKIP LOCKED);
		\else
		UPDATE @T@ SET pad = repeat('u', :m * 4) WHERE k IN (SELECT k FROM @T@ TABLESAMPLE system(2) LIMIT :m FOR NO KEY UPDATE SKIP LOCKED);
		\endif
		\if :r % 7 = 0
		\sleep :m ms
		\endif
		\if :r % 6 = 0
		ROLLBACK;
		\else
		COMMIT;
		\endif} ],
	delete => [ 22, q{
		\set r random(1, 100)
		BEGIN;
		DELETE FROM @T@ WHERE k IN (SELECT k FROM @T@ TABLESAMPLE system(2) LIMIT 15 FOR UPDATE SKIP LOCKED);
		\if :r > 88
		ROLLBACK;
		\else
		COMMIT;
		\endif} ],
	lock => [ 20, q{
		\set r random(1, 4)
		\set s random(1, 12)
		BEGIN;
		SAVEPOINT a;
		\if :r = 1
		SELECT count(*) FROM (SELECT 1 FROM @T@ TABLESAMPLE system(2) LIMIT 20 FOR UPDATE SKIP LOCKED) x;
		\elif :r = 2
		SELECT count(*) FROM (SELECT 1 FROM @T@ TABLESAMPLE system(4) LIMIT 20 FOR SHARE SKIP LOCKED) x;
		\else
		SELECT count(*) FROM (SELECT 1 FROM @T@ TABLESAMPLE system(4) LIMIT 20 FOR KEY SHARE SKIP LOCKED) x;
		\endif
		\sleep :s ms
		SAVEPOINT b;
		UPDATE @T@ SET src = src + 10 WHERE k IN (SELECT k FROM @T@ TABLESAMPLE system(2) LIMIT 3 FOR NO KEY UPDATE SKIP LOCKED);
		\if :r = 1
		ROLLBACK TO b;
		\endif
		COMMIT;} ],
	# More subtransactions than a snapshot can store.
	subtransactions => [ 3, q{
		\set r random(1, 100)
		BEGIN;
		DO $$ BEGIN
			FOR i IN 1 .. 80 LOOP
				BEGIN
					INSERT INTO @T@ (src, dst, weight, pad) VALUES (vertex(), i, i, 's');
					IF i % 3 = 0 THEN RAISE EXCEPTION 'x'; END IF;
				EXCEPTION WHEN OTHERS THEN NULL;
				END;
			END LOOP;
		END $$;
		SAVEPOINT a;
		DELETE FROM @T@ WHERE k IN (SELECT k FROM @T@ TABLESAMPLE system(2) LIMIT 60 FOR UPDATE SKIP LOCKED);
		\if :r < 50
		ROLLBACK TO a;
		\endif
		\sleep 8 ms
		\if :r < 25
		ROLLBACK;
		\else
		COMMIT;
		\endif} ],
	prepare => [ 12, q{
		\set r random(1, 100)
		\set s random(1, 30)
		BEGIN;
		UPDATE @T@ SET src = src + 7 WHERE k IN (SELECT k FROM @T@ TABLESAMPLE system(2) LIMIT 5 FOR UPDATE SKIP LOCKED);
		INSERT INTO @T@ (src, dst, weight, pad) VALUES (vertex(), :s, :r, 'p');
		PREPARE TRANSACTION '@T@ :client_id';
		\sleep :s ms
		\if :r < 25
		ROLLBACK PREPARED '@T@ :client_id';
		\else
		COMMIT PREPARED '@T@ :client_id';
		\endif} ],
	copy => [ 2, q{
		\set r random(1, 100)
		BEGIN;
		COPY @T@ (src, dst, weight, pad) FROM '@DIR@/@T@.some';
		\if :r < 40
		ROLLBACK;
		\else
		COMMIT;
		\endif} ],
	# Restore the number of rows, and weights of a type that fits into a byte.
	balance => [ 6, q{
		\set r random(1, 100)
		DELETE FROM @T@ WHERE k IN (SELECT k FROM @T@ ORDER BY k LIMIT greatest(0, (SELECT count(*) FROM @T@) - @ROWS@) FOR UPDATE SKIP LOCKED);
		INSERT INTO @T@ (src, dst, weight, pad) SELECT vertex(), vertex(), :r, 'b' FROM generate_series(1, @ROWS@ * 3 / 4 - (SELECT count(*) FROM @T@));
		\if :r < 30
		DELETE FROM @T@ WHERE k IN (SELECT k FROM @T@ WHERE weight NOT IN (SELECT * FROM generate_series(0, 200)) FOR UPDATE SKIP LOCKED);
		\endif} ]);

# Writes for only one of the tables.
my %edges_writes = (
	tail => [ 5, q{
		\set r random(1, 100)
		BEGIN;
		DELETE FROM edges WHERE ctid >= format('(%s,0)', greatest(0, pg_relation_size('edges') / current_setting('block_size')::int - 3))::tid AND k IN (SELECT k FROM edges FOR UPDATE SKIP LOCKED);
		\if :r > 88
		ROLLBACK;
		\else
		COMMIT;
		\endif} ],
	conflict => [ 20, q{
		\set k random(1, 9000)
		\set r random(1, 100)
		INSERT INTO edges (src, dst, weight, k, pad) VALUES (vertex(), :r, 1, 1000000000 + :k % 50, 'c') ON CONFLICT (k) DO UPDATE SET src = edges.src + 1;
		INSERT INTO edges (src, dst, weight, k, pad) VALUES (vertex(), :r, 1, 1000000000 + :k % 70, 'c') ON CONFLICT DO NOTHING;} ]);
# part3 is not always attached.
my %parts_writes = (
	move => [ 20, q{
		\set m random(1, 10)
		\set r random(1, 100)
		\if :r < 60
		UPDATE parts SET part = 3 - part WHERE part < 3 AND k IN (SELECT k FROM parts TABLESAMPLE system(2) LIMIT :m FOR UPDATE SKIP LOCKED);
		\elif :r < 80
		WITH gone AS (DELETE FROM parts WHERE k IN (SELECT k FROM parts TABLESAMPLE system(2) LIMIT :m FOR UPDATE SKIP LOCKED) RETURNING *)
		INSERT INTO part3 (src, dst, weight, pad) SELECT src, dst, weight, pad FROM gone;
		\else
		WITH gone AS (DELETE FROM part3 WHERE ctid = ANY (ARRAY(SELECT ctid FROM part3 LIMIT :m FOR UPDATE SKIP LOCKED)) RETURNING *)
		INSERT INTO parts (src, dst, weight, pad) SELECT src, dst, weight, pad FROM gone;
		\endif} ]);

# Conditions, each with its own graph and change tracker: their columns are also written separately,
# sometimes with NULL.
my %filtered = (
	edges => [ q{SELECT src, dst, weight FROM edges WHERE pad LIKE '%u%'}, q{SELECT dst AS src, src AS dst, weight FROM edges WHERE length(pad) > 40 AND k % 3 < 2}, q{SELECT * FROM narrow},
		q{SELECT src, dst, weight FROM edges WHERE pad LIKE '%i%'} ],
	parts => [ q{SELECT src, dst, weight FROM parts WHERE part > 1 OR pad < 'p'}, q{SELECT src, dst, weight FROM parts WHERE tableoid <> 'part1'::regclass AND right(pad, 1) = 'i'} ]);

# A check: any direction, with or without weights, both directions or one; a third of them as seen
# by a small search; sometimes with other columns, some of which have keys that are not integers.
my $look = q{
	\set d random(1, 3)
	\set w random(0, 1)
	\set b random(0, 3)
	\set n random(0, 2)
	\set c random(1, 20)};
my %check = map { my $t = $_; ($t => join("\n", '\if :c = 1', "SELECT ok FROM emogi_check('$t'::regclass, (ARRAY['out', 'in', 'both'])[:d], :w = 1, :b = 0, :n = 0, 'dst, src, weight');",
		$t eq 'edges' ? ('\elif :c < 6', "SELECT ok FROM emogi_check('edges(tsrc, tdst, weight)', (ARRAY['out', 'in', 'both'])[:d], :w = 1, :b = 0, :n = 0);") : (),
		(map { my $n = $_; ('\elif :c = ' . (7 + $n), "SELECT ok FROM emogi_check(\$q\$$filtered{$t}[$n]\$q\$, (ARRAY['out', 'in', 'both'])[:d], :w = 1, :b = 0, :n = 0);") } 0 .. $#{ $filtered{$t} }),
		'\else', "SELECT ok FROM emogi_check('$t', (ARRAY['out', 'in', 'both'])[:d], :w = 1, :b = 0, :n = 0);", '\endif')) } qw(edges parts);

my %readers = (
	committed => [ 60, "$look\n$check{edges}" ],
	parts => [ 20, "$look\n$check{parts}" ],
	components => [ 10, q{
		\set s random(1, 20)
		BEGIN ISOLATION LEVEL REPEATABLE READ;
		SELECT check_components('edges');
		\sleep :s ms
		SELECT check_components('edges');
		COMMIT;
		SELECT check_components('edges');
		SELECT check_components('edges');} ],
	repeatable => [ 8, qq{$look
		\\set s1 random(1, 30)
		\\set s2 random(1, 60)
		BEGIN ISOLATION LEVEL REPEATABLE READ;
		SELECT 1 FROM other LIMIT 1;
		\\sleep :s1 ms
		$check{edges}
		\\sleep :s2 ms
		$check{edges}$look
		$check{edges}
		$check{parts}
		COMMIT;} ],
	held => [ 4, qq{$look
		\\set s random(1, 20)
		BEGIN;
		$check{edges}
		\\sleep :s ms$look
		$check{edges}
		$check{parts}
		COMMIT;} ]);

# With own changes, visible only to the own transaction.
my %own = (
	own => [ 3, qq{$look
		\\set r random(1, 100)
		\\set s random(1, 10)
		BEGIN;
		$check{edges}
		SELECT check_components('edges');
		INSERT INTO edges (src, dst, weight, pad) VALUES (vertex(), :r, 1, 'o');
		SELECT check_components('edges');
		$check{edges}
		SAVEPOINT a;
		DELETE FROM edges WHERE k IN (SELECT k FROM edges TABLESAMPLE system(2) LIMIT 4 FOR UPDATE SKIP LOCKED);$look
		$check{edges}
		\\sleep :s ms
		ROLLBACK TO a;
		$check{edges}
		\\if :r < 50
		ROLLBACK;
		\\else
		COMMIT;
		\\endif
		$check{edges}} ],
	# A subtransaction is rolled back before anything else is written.
	undone => [ 1, qq{$look
		\\set r random(1, 100)
		BEGIN;
		SAVEPOINT a;
		UPDATE parts SET src = vertex() WHERE k IN (SELECT k FROM parts TABLESAMPLE system(4) LIMIT 4 FOR UPDATE SKIP LOCKED);
		UPDATE edges SET src = vertex() WHERE k IN (SELECT k FROM edges TABLESAMPLE system(4) LIMIT 4 FOR UPDATE SKIP LOCKED);
		ROLLBACK TO a;
		$check{parts}
		$check{edges}
		\\if :r < 50
		INSERT INTO other VALUES (1);
		\\endif
		COMMIT;$look
		$check{parts}} ],
	# ... under a snapshot older than all of it
	late => [ 1, qq{$look
		\\set s random(1, 40)
		BEGIN ISOLATION LEVEL REPEATABLE READ;
		SELECT 1 FROM other LIMIT 1;
		\\sleep :s ms
		INSERT INTO edges (src, dst, weight, pad) VALUES (vertex(), 1, 1, 'l');
		$check{edges}
		SAVEPOINT a;
		INSERT INTO parts (src, dst, weight, pad) VALUES (vertex(), 1, 1, 'l');$look
		$check{parts}
		ROLLBACK TO a;
		$check{parts}
		ROLLBACK;} ]);

my %maintenance = (
	vacuum => [ 30, q{
		\set r random(1, 100)
		\sleep 60 ms
		\if :r < 45
		VACUUM edges;
		\elif :r < 65
		VACUUM (FREEZE) edges;
		\elif :r < 75
		VACUUM (DISABLE_PAGE_SKIPPING) edges;
		\elif :r < 85
		VACUUM parts;
		\elif :r < 92
		CHECKPOINT;
		\elif :r < 94
		VACUUM FULL edges;
		\elif :r < 96
		CLUSTER edges USING edges_pkey;
		\elif :r < 98
		CREATE INDEX IF NOT EXISTS edges_src ON edges (src);
		\else
		DROP INDEX IF EXISTS edges_src;
		\endif} ],
	freeze => [ 1, q{
		\set r random(1, 100)
		BEGIN;
		\if :r < 60
		LOCK TABLE edges IN ACCESS EXCLUSIVE MODE;
		TRUNCATE edges;
		COPY edges (src, dst, weight, pad) FROM '@DIR@/edges.all' WITH (FREEZE);
		INSERT INTO edges (src, dst, weight, pad) VALUES (:r, 1, 1, 'f');
		\else
		TRUNCATE part1;
		COPY part1 (part, src, dst, weight, pad) FROM '@DIR@/part1.all' WITH (FREEZE);
		\endif
		\if :r % 3 = 0
		ROLLBACK;
		\else
		COMMIT;
		\endif} ],
	partitions => [ 2, q{
		\set r random(1, 100)
		\set s random(1, 20)
		BEGIN;
		ALTER TABLE parts DETACH PARTITION part3;
		UPDATE part3 SET dst = vertex() WHERE ctid = ANY (ARRAY(SELECT ctid FROM part3 LIMIT 5));
		\if :r < 50
		COMMIT;
		\sleep :s ms
		UPDATE part3 SET src = vertex() WHERE ctid = ANY (ARRAY(SELECT ctid FROM part3 LIMIT 5));
		BEGIN;
		\endif
		ALTER TABLE parts ATTACH PARTITION part3 FOR VALUES IN (3);
		\if :r >= 50 and :r < 70
		ROLLBACK;
		\else
		COMMIT;
		\endif} ],
	evict => [ 1, q{SELECT emogi_evict('edges'), emogi_evict('parts');} ]);

# Scripts of writes on a table.
sub on
{
	my ($table, %scripts) = @_;
	return map { my ($share, $text) = @{ $scripts{$_} }; ("${table}_$_" => [ $share, $text =~ s/\@T\@/$table/gr ]) } keys %scripts;
}

# Clients of each role, with the shares of its scripts.
my %roles = (
	readers => { clients => 4, reads => 1, options => [ '-M', 'prepared' ], scripts => \%readers },
	own => { clients => 1, reads => 1, scripts => \%own },
	writers => { clients => 3, sleep => [ 1, 12 ], settings => 'synchronous_commit=off', scripts => { on('edges', %writes), on('edges', %edges_writes) } },
	partition_writers => { clients => 2, sleep => [ 1, 30 ], scripts => { on('parts', %writes), on('parts', %parts_writes) } },
	maintainer => { clients => 1, settings => 'maintenance_work_mem=1MB', scripts => \%maintenance },
	# if requested: forces the tables to be forgotten continuously, so that they are registered
	# again during writes
	evictor => { clients => 1, asked => 1, sleep => [ 1, 60 ], scripts => { evict => $maintenance{evict} } });

# ---------------------------------------------------------------------------------------------------------------- running

# Get a cluster for the test, with the tables. Variants: checksums; replica (otherwise wal_level is
# minimal); small (small shared_buffers, so that pages are evicted); thread: one engine thread,
# which is faster for graphs of this size; standby: all checks run on a standby; trial: emogi is not
# preloaded, so that writers never load it. Settings: lines of postgresql.conf.
sub stress_node
{
	my ($name, $variants, $rows, @settings) = @_;
	my %variant = map { ($_ => 1) } @$variants;
	my $node = PostgreSQL::Test::Cluster->new($name);
	my $has_checksums = `initdb --help` =~ /--no-data-checksums/;

	$node->init(extra => [ $variant{checksums} ? '--data-checksums' : $has_checksums ? '--no-data-checksums' : () ], allows_streaming => $variant{replica} || $variant{standby});
	$node->append_conf('postgresql.conf', join("\n", $variant{trial} ? 'emogi.notice_trial = off' : "shared_preload_libraries = 'emogi'", 'autovacuum = on', 'autovacuum_naptime = 1', 'autovacuum_vacuum_cost_delay = 1',
		'max_prepared_transactions = 20', 'max_connections = 60', "emogi.max_memory = '512MB'", 'deadlock_timeout = 100ms', 'log_checkpoints = off', 'log_statement = none',
		'log_min_messages = warning', 'log_min_error_statement = warning', 'log_autovacuum_min_duration = -1', "shared_buffers = '" . ($variant{small} ? '1MB' : '64MB') . "'", $variant{thread} ? 'emogi.cpu_threads = 1' : (), @settings) . "\n");
	$node->start;
	$node->safe_psql('postgres', in_place($node, $tables, $rows));
	$node->{emogi_standby} = standby_of($node) if $variant{standby};
	return $node;
}

# Get a standby of a cluster, whose readers delay replay only briefly.
sub standby_of
{
	my ($node) = @_;
	my $standby = PostgreSQL::Test::Cluster->new($node->name . '_standby');

	$node->backup('copy');
	$standby->init_from_backup($node, 'copy', has_streaming => 1);
	$standby->append_conf('postgresql.conf', "max_standby_streaming_delay = 500ms\nhot_standby_feedback = on\n");
	$standby->start;
	$node->wait_for_catchup($standby, 'replay', $node->lsn('write'));
	return $standby;
}

# The node that runs checks.
sub checked { return $_[0]->{emogi_standby} // $_[0] }

# Fill in paths and the number of rows.
sub in_place
{
	my ($node, $text, $rows) = @_;
	my $dir = $node->basedir;

	return $text =~ s/\@DIR\@/$dir/gr =~ s/\@ROWS\@/$rows/gr;
}

# Start the pgbench of a role.
sub start_role
{
	my ($node, $name, $seconds, $rows, $faults, $clients) = @_;
	my $role = $roles{$name};
	my $out = '';
	my @files;

	foreach my $script (sort keys %{ $role->{scripts} })
	{
		my ($share, $text) = @{ $role->{scripts}{$script} };
		my $file = $node->basedir . "/$name.$script.sql";
		$text .= sprintf "\n\\set pause random(%d, %d)\n\\sleep :pause ms", @{ $role->{sleep} } if $role->{sleep};
		open(my $to, '>', $file) or die "$file: $!";
		print $to in_place($node, $text, $rows) =~ s/^\s+//mgr, "\n";
		close $to;
		push @files, '-f', "$file\@$share";
	}
	my @faults = grep { $_ ne '' } ($role->{reads} ? () : 'pre_commit=2000,committed=2000,random=1'), $faults;
	local $ENV{PGOPTIONS} = join ' ', '-c client_min_messages=error', "-c application_name=$name", @faults ? '-c emogi.fault=' . join(',', @faults) : (), $role->{settings} ? "-c $role->{settings}" : ();
	my @tries = `pgbench --help` =~ /--max-tries/ ? ('--max-tries=20') : ();
	my $at = $role->{reads} ? checked($node) : $node;
	return { out => \$out, run => IPC::Run::start([ 'pgbench', '-n', '-c', $clients // $role->{clients}, '-T', $seconds, @tries, @{ $role->{options} // [] }, @files, $at->connstr('postgres') ],
		'<', \'', '>&', \$out) };
}

# Start a session that vacuums continuously and slowly; each VACUUM is canceled after a while.
# Occasionally it terminates the other such session, and autovacuum.
sub start_canceled
{
	my ($node, $seconds) = @_;
	my $out = '';
	my $in = "SET client_min_messages = error;\n";

	foreach (1 .. $seconds * 12)
	{
		$in .= sprintf "SET vacuum_cost_delay = 2; SET vacuum_cost_limit = %d; SET statement_timeout = %d;\nVACUUM %s;\nSET statement_timeout = 0;\n", 5 + rand 60, 5 + rand 120, rand() < 0.8 ? 'edges' : 'parts';
		$in .= "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE query LIKE 'autovacuum: VACUUM%' OR application_name = 'ended';\n" if rand() < 0.2;
		$in .= "SELECT pg_sleep(0.05);\n";
	}
	return { out => \$out, run => IPC::Run::start([ 'psql', '-XAtq', '-d', $node->connstr('postgres') ], '<', \$in, '>&', \$out) };
}
sub start_ended
{
	my ($node) = @_;
	my $out = '';
	my $in = "SET application_name = 'ended'; SET client_min_messages = error; SET vacuum_cost_delay = 1; SET vacuum_cost_limit = 20;\n" . "VACUUM edges;\nSELECT pg_sleep(0.1);\n" x 100;

	return { out => \$out, run => IPC::Run::start([ 'psql', '-XAtq', '-d', $node->connstr('postgres') ], '<', \$in, '>&', \$out) };
}

# The number of calls so far.
sub calls { return $_[0]->safe_psql('postgres', 'SELECT coalesce(max(id), 0) FROM emogi_runs') }

# The contents of the server's log since a position: failed checks with all their details,
# unexpected errors, and the numbers of canceled commands and terminated sessions.
my $canceled = 'canceling statement due to statement timeout|canceling autovacuum task';
my $ended = 'terminating (?:connection|autovacuum process) due to administrator command';
my $conflict = 'canceling statement due to conflict with recovery|terminating connection due to conflict with recovery|could not serialize access due to conflict';
my $left = 'terminating background worker "parallel worker" due to administrator command|could not map dynamic shared memory segment';	# by a leader that has exited
my $moved = 'tuple to be locked was already moved to another partition due to concurrent update';
# a query is rebuilt from its text, which finds a new partition
my $attached = 'could not read relation "parts" under the snapshot of the statement|could not compare the graph of ".* parts .*" with its table';
# TABLESAMPLE reads the flag of an all-visible page without a lock, and a new row exists before the
# flag is cleared (heapam_scan_sample_next_tuple)
my $sampled = 'attempted to lock invisible tuple';
# A timeout that expires while finish_xact_command ends it: disable_timeout forgets that it was one. Nothing here cancels a VACUUM otherwise.
my $forgotten = 'canceling statement due to user request';
my $expected = "$canceled|$ended|$left|$conflict|$moved|$attached|$sampled|deadlock detected|connection to client lost";

sub log_since
{
	my ($node, $place) = @_;
	my (@wrong, @errors);
	my $stopped = 0;

	open(my $log, '<', $node->logfile) or die $node->logfile . ": $!";
	seek $log, $place, 0;
	while (my $line = <$log>)
	{
		if ($line =~ /WARNING:  the .*graph.* differs from its table/) { push @wrong, $line }
		elsif ($line =~ /(?:DETAIL|STATEMENT):  / && @wrong && $wrong[-1] =~ /WARNING/ && $wrong[-1] !~ /STATEMENT/) { $wrong[-1] .= $line }
		elsif ($line =~ /(?:ERROR|FATAL|PANIC):  / && $line !~ /$expected/) { push @errors, $line }
		elsif ($line =~ /STATEMENT:  VACUUM (?:edges|parts)/ && @errors && $errors[-1] =~ /$forgotten/) { pop @errors }
		$stopped++ if $line =~ /(?:ERROR|FATAL):  (?:$canceled|$ended)/;
	}
	close $log;
	return (\@wrong, \@errors, $stopped);
}

# End everything that still runs, and prepared transactions.
sub end_all
{
	my ($node, @running) = @_;

	$_->{run}->kill_kill(grace => 2) foreach @running;
	$node->safe_psql('postgres', q{SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'});
	wait_until(20, sub { $node->safe_psql('postgres', q{SELECT count(*) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'}) eq '0' });
	$node->safe_psql('postgres', "ROLLBACK PREPARED '$_'") foreach split /\n/, $node->safe_psql('postgres', 'SELECT gid FROM pg_prepared_xacts');
}

# The number of transactions of pgbench.
sub transactions
{
	my $sum = 0;
	foreach (@_) { $sum += $1 if /transactions actually processed: (\d+)/ }
	return $sum;
}

# Run everything for some seconds. Named arguments: seconds; rows; readers, if not as in %roles;
# faults, emogi.fault for all sessions; evictor: whether there is one; until_wrong: end at the first
# failed check. Returns seconds, checks, wrong and errors (texts), stopped (VACUUMs), late (roles
# that did not end), said (by role), writes (transactions), cache (its counters).
sub stress
{
	my ($node, %how) = @_;
	my $checked = checked($node);
	my ($start, $told, $place, $calls) = (time, time, -s $checked->logfile, calls($checked));
	my $vacuumed = -s $node->logfile;
	my @roles = grep { ($checked == $node || $_ ne 'own') && (!$roles{$_}{asked} || $how{$_}) } keys %roles;
	my %running = map { ($_ => start_role($node, $_, $how{seconds}, $how{rows}, $how{faults} // '', $_ eq 'readers' ? $how{readers} : undef)) } @roles;
	my %vacuums = (canceled => start_canceled($node, $how{seconds}), ended => start_ended($node));
	my ($wrong, $errors, $stopped) = ([], [], 0);

	while (time - $start < $how{seconds} + 60)
	{
		foreach (values %running, values %vacuums) { $_->{run}->pump_nb if $_->{run}->pumpable }
		last unless grep { $_->{run}->pumpable } values %running;
		if (!$vacuums{ended}{run}->pumpable)
		{
			eval { $vacuums{ended}{run}->finish };
			$vacuums{ended} = start_ended($node);
		}
		if ($how{until_wrong} || time - $told >= 30)
		{
			($wrong) = log_since($checked, $place);
			last if $how{until_wrong} && @$wrong;
		}
		if (time - $told >= 30)
		{
			note sprintf '%.0f s: %d checks, %d wrong', time - $start, calls($checked) - $calls, scalar @$wrong;
			$told = time;
		}
		sleep 0.2;
	}
	my $seconds = time - $start;
	my @late = grep { $running{$_}{run}->pumpable } sort keys %running;
	end_all($node, values %vacuums, map { $running{$_} } @late);
	foreach (keys %running)
	{
		my $name = $_;
		$running{$name}{run}->finish unless grep { $_ eq $name } @late;
	}
	($wrong, $errors) = log_since($checked, $place);
	$stopped = (log_since($node, $vacuumed))[2];
	return { seconds => $seconds, checks => calls($checked) - $calls, wrong => $wrong, errors => $errors, stopped => $stopped, late => \@late,
		said => { map { ($_ => ${ $running{$_}{out} }) } keys %running },
		writes => transactions(map { $roles{$_}{reads} ? () : ${ $running{$_}{out} } } keys %running),
		cache => $checked->safe_psql('postgres', q{SELECT string_agg(key || ' ' || value, ', ') FROM emogi_cache c, LATERAL json_each_text(row_to_json(c)) WHERE key !~ 'bytes|graphs|tables|reset'}) };
}

1;
