# Tables are renamed, truncated, rewritten, dropped and re-created, partitions attached and
# detached, views and schemas swapped, while calls read them at all isolation levels. Each call
# returns what a SELECT in its statement sees, or, if the statement reads the table by calls only,
# one committed state, the same for all calls. Negative control: with the rule of snapshot.c
# disabled a wrong answer must occur. EMOGI_SWAP_CHECKS sets the number of checks.

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

my $wanted = $ENV{EMOGI_SWAP_CHECKS} || 2000;
my $control = 30;    # maximum seconds for the negative control
my $patience = 60 + $wanted / 20;
my $node = emogi_node('main', 'max_connections = 60', "emogi.max_memory = '512MB'", 'deadlock_timeout = 200ms',
	'log_min_error_statement = panic', 'log_min_messages = fatal');

# All edges lead from 0. A committed state of a table is a generation g: its edges end in 1000 g + 1
# .. 1000 g + 40. Writers of a table hold its advisory lock, so that generations follow each other.
$node->safe_psql('postgres', q{
	CREATE SEQUENCE gens;
	CREATE SEQUENCE names;
	CREATE TABLE other (a int);
	INSERT INTO other VALUES (0);
	CREATE TABLE edges (src int, dst bigint);
	INSERT INTO edges SELECT 0, g FROM generate_series(1, 40) g;
	CREATE TABLE parts (src int, dst bigint) PARTITION BY HASH (dst);
	CREATE TABLE part0 PARTITION OF parts FOR VALUES WITH (MODULUS 2, REMAINDER 0);
	CREATE TABLE part1 PARTITION OF parts FOR VALUES WITH (MODULUS 2, REMAINDER 1);
	INSERT INTO parts SELECT 0, g FROM generate_series(1, 40) g;
	CREATE TABLE slot0 (src int, dst bigint);
	CREATE TABLE slot1 (src int, dst bigint);
	INSERT INTO slot0 SELECT 0, g FROM generate_series(1, 40) g;
	CREATE VIEW cur AS SELECT src, dst FROM slot0;
	CREATE SCHEMA app;
	CREATE TABLE app.links (src int, dst bigint);
	INSERT INTO app.links SELECT 0, g FROM generate_series(1, 40) g;
	CREATE TABLE twin0 (src int, dst bigint);
	CREATE TABLE twin1 (src int, dst bigint);
	INSERT INTO twin0 SELECT 0, g FROM generate_series(1, 40) g;
	INSERT INTO twin1 SELECT 0, g FROM generate_series(1, 40) g;
	CREATE TABLE live (src int, dst bigint, p int) PARTITION BY LIST (p);
	CREATE TABLE live_truth (answer bigint[]);
	INSERT INTO live_truth VALUES (ARRAY[0, NULL, NULL]);

	-- The answer of a call on a table, and whether it is a generation.
	CREATE FUNCTION ends(graph text, direction text DEFAULT 'out') RETURNS bigint[] LANGUAGE sql STABLE AS
		$$ SELECT ARRAY[count(*), min(vertex), max(vertex)] FROM emogi_bfs(graph, 0, direction => direction) WHERE level = 1 $$;
	CREATE FUNCTION is_generation(a bigint[]) RETURNS bool LANGUAGE sql IMMUTABLE AS
		$$ SELECT a[1] = 40 AND a[2] % 1000 = 1 AND a[3] = a[2] + 39 $$;
	CREATE FUNCTION fill(relation text, g bigint) RETURNS void LANGUAGE plpgsql AS
		$$ BEGIN EXECUTE format('INSERT INTO %s SELECT 0, 1000 * $1 + i FROM generate_series(1, 40) i', relation) USING g; END $$;

	-- Run a query with several answers, which must be equal; errors that SELECT can also raise are counted.
	CREATE FUNCTION chk(what text, query text, generation bool) RETURNS void LANGUAGE plpgsql AS $$
	DECLARE answers text[];
	BEGIN
		EXECUTE query INTO answers;
		FOR i IN 1 .. array_length(answers, 1) LOOP
			IF answers[i] IS DISTINCT FROM answers[1] OR (generation AND is_generation(answers[i]::bigint[]) IS NOT TRUE) THEN
				RAISE WARNING 'WRONG %: %', what, answers;
				RETURN;
			END IF;
		END LOOP;
	EXCEPTION WHEN serialization_failure OR deadlock_detected OR undefined_table OR invalid_schema_name OR lock_not_available THEN
		RAISE WARNING 'COUNT %', SQLSTATE;
	END $$;

	-- Advance to the next generation of edges, by one of several methods.
	CREATE FUNCTION change_edges(way int) RETURNS void LANGUAGE plpgsql AS $$
	DECLARE g bigint := nextval('gens');
	BEGIN
		PERFORM pg_advisory_xact_lock(1);
		IF way = 0 THEN
			CREATE TABLE edges_new (src int, dst bigint);
			PERFORM fill('edges_new', g);
			ALTER TABLE edges RENAME TO edges_old;
			ALTER TABLE edges_new RENAME TO edges;
			DROP TABLE edges_old;
		ELSIF way = 1 THEN
			TRUNCATE edges;
			PERFORM fill('edges', g);
		ELSIF way = 2 THEN
			EXECUTE format('ALTER TABLE edges ALTER dst TYPE bigint USING 1000 * %s + dst %% 1000', g);
		ELSIF way = 3 THEN
			DROP TABLE edges;
			CREATE TABLE edges (src int, dst bigint);
			PERFORM fill('edges', g);
		ELSIF way = 4 THEN
			ALTER TABLE edges RENAME dst TO dst_old;
			ALTER TABLE edges ADD dst bigint;
			EXECUTE format('UPDATE edges SET dst = 1000 * %s + dst_old %% 1000', g);
			ALTER TABLE edges DROP dst_old;
		ELSIF way = 5 THEN
			EXECUTE 'DELETE FROM edges';
			PERFORM fill('edges', g);
		ELSE
			EXECUTE format('UPDATE edges SET dst = 1000 * %s + dst %% 1000', g);
		END IF;
	EXCEPTION WHEN deadlock_detected OR lock_not_available THEN RAISE WARNING 'COUNT %', SQLSTATE;
	END $$;
	CREATE FUNCTION change_parts(way int) RETURNS void LANGUAGE plpgsql AS $$
	DECLARE
		g bigint := nextval('gens');
		n bigint := nextval('names');
		old text[];
	BEGIN
		PERFORM pg_advisory_xact_lock(2);
		old := ARRAY(SELECT inhrelid::regclass::text FROM pg_inherits WHERE inhparent = 'parts'::regclass ORDER BY 1);
		IF way = 0 THEN
			-- partitions are exchanged
			EXECUTE format('CREATE TABLE new0_%s (src int, dst bigint); CREATE TABLE new1_%s (src int, dst bigint)', n, n);
			EXECUTE format('CREATE TEMP TABLE part_edges ON COMMIT DROP AS SELECT 0 AS src, (1000 * %s + i)::bigint AS dst FROM generate_series(1, 40) i', g);
			EXECUTE format('INSERT INTO new0_%s SELECT src, dst FROM part_edges WHERE satisfies_hash_partition(%L::regclass, 2, 0, dst)', n, 'parts');
			EXECUTE format('INSERT INTO new1_%s SELECT src, dst FROM part_edges WHERE satisfies_hash_partition(%L::regclass, 2, 1, dst)', n, 'parts');
			EXECUTE format('ALTER TABLE parts DETACH PARTITION %s', old[1]);
			EXECUTE format('ALTER TABLE parts DETACH PARTITION %s', old[2]);
			EXECUTE format('ALTER TABLE parts ATTACH PARTITION new0_%s FOR VALUES WITH (MODULUS 2, REMAINDER 0)', n);
			EXECUTE format('ALTER TABLE parts ATTACH PARTITION new1_%s FOR VALUES WITH (MODULUS 2, REMAINDER 1)', n);
			EXECUTE format('DROP TABLE %s, %s', old[1], old[2]);
			DROP TABLE part_edges;
		ELSIF way = 1 THEN
			-- old partitions are detached and stay as tables; the parent is filled
			EXECUTE format('ALTER TABLE parts DETACH PARTITION %s', old[1]);
			EXECUTE format('ALTER TABLE parts DETACH PARTITION %s', old[2]);
			EXECUTE format('CREATE TABLE new0_%s PARTITION OF parts FOR VALUES WITH (MODULUS 2, REMAINDER 0)', n);
			EXECUTE format('CREATE TABLE new1_%s PARTITION OF parts FOR VALUES WITH (MODULUS 2, REMAINDER 1)', n);
			PERFORM fill('parts', g);
		ELSIF way = 2 THEN
			TRUNCATE parts;
			PERFORM fill('parts', g);
		ELSE
			EXECUTE 'DELETE FROM parts';
			PERFORM fill('parts', g);
		END IF;
	EXCEPTION WHEN deadlock_detected OR lock_not_available THEN RAISE WARNING 'COUNT %', SQLSTATE;
	END $$;
	-- Advance both tables to the same generation, in one transaction.
	CREATE FUNCTION change_twins(way int) RETURNS void LANGUAGE plpgsql AS $$
	DECLARE
		g bigint := nextval('gens');
		one text := 'twin' || way % 2;
		other text := 'twin' || 1 - way % 2;
	BEGIN
		PERFORM pg_advisory_xact_lock(4);
		IF way / 2 = 0 THEN
			EXECUTE format('TRUNCATE %s', one);
			PERFORM fill(one, g);
		ELSIF way / 2 = 1 THEN
			CREATE TABLE twin_new (src int, dst bigint);
			PERFORM fill('twin_new', g);
			EXECUTE format('ALTER TABLE %s RENAME TO twin_old', one);
			EXECUTE format('ALTER TABLE twin_new RENAME TO %s', one);
			DROP TABLE twin_old;
		ELSE
			EXECUTE format('UPDATE %s SET dst = 1000 * %s + dst %% 1000', one, g);
		END IF;
		EXECUTE format('UPDATE %s SET dst = 1000 * %s + dst %% 1000', other, g);
	EXCEPTION WHEN deadlock_detected OR lock_not_available THEN RAISE WARNING 'COUNT %', SQLSTATE;
	END $$;
	CREATE FUNCTION change_others(way int) RETURNS void LANGUAGE plpgsql AS $$
	DECLARE
		g bigint := nextval('gens');
		n bigint := nextval('names');
		slot int;
		old text;
	BEGIN
		PERFORM pg_advisory_xact_lock(3);
		IF way = 0 THEN
			slot := CASE WHEN pg_get_viewdef('cur'::regclass) LIKE '%slot0%' THEN 1 ELSE 0 END;
			EXECUTE format('TRUNCATE slot%s', slot);
			PERFORM fill('slot' || slot, g);
			EXECUTE format('CREATE OR REPLACE VIEW cur AS SELECT src, dst FROM slot%s', slot);
		ELSIF way = 1 THEN
			CREATE SCHEMA app_new;
			CREATE TABLE app_new.links (src int, dst bigint);
			PERFORM fill('app_new.links', g);
			ALTER SCHEMA app RENAME TO app_old;
			ALTER SCHEMA app_new RENAME TO app;
			DROP SCHEMA app_old CASCADE;
		ELSIF way = 2 THEN
			EXECUTE format('CREATE TABLE live_%s (src int, dst bigint, p int)', n);
			EXECUTE format('INSERT INTO live_%s SELECT 0, 1000 * %s + i, %s FROM generate_series(1, 40) i', n, g, n);
			EXECUTE format('ALTER TABLE live ATTACH PARTITION live_%s FOR VALUES IN (%s)', n, n);
		ELSE
			old := (SELECT inhrelid::regclass FROM pg_inherits WHERE inhparent = 'live'::regclass ORDER BY inhrelid LIMIT 1);
			IF old IS NOT NULL THEN
				EXECUTE format('ALTER TABLE live DETACH PARTITION %s', old);
				EXECUTE format('DROP TABLE %s', old);
			END IF;
		END IF;
		IF way >= 2 THEN
			UPDATE live_truth SET answer = (SELECT ARRAY[count(*), min(dst), max(dst)] FROM live);
		END IF;
	EXCEPTION WHEN deadlock_detected OR lock_not_available THEN RAISE WARNING 'COUNT %', SQLSTATE;
	END $$});

# Checks. By calls only: one generation. With a SELECT: the same as it sees.
my $alone = q{$$SELECT ARRAY[ends('%1$s')::text, ends('SELECT src, dst FROM %1$s')::text, ends('%1$s', 'both')::text]$$};
my $late = q{$$SELECT ARRAY[ends('SELECT src, dst FROM %1$s')::text, ends('%1$s')::text, ends('%1$s(src, dst)')::text] FROM (SELECT pg_sleep(random() / 50) OFFSET 0) l$$};
my $beside = q{$$SELECT ARRAY[(SELECT ARRAY[count(dst), min(dst), max(dst)] FROM %1$s)::text, ends('%1$s')::text, ends('SELECT src, dst FROM %1$s')::text] FROM (SELECT pg_sleep(random() / 50) OFFSET 0) l$$};

my $twins = q{$$SELECT ARRAY[ends('%1$s0')::text, ends('%1$s1')::text, ends('SELECT src, dst FROM %1$s0')::text]$$};
my $late_twins = q{$$SELECT ARRAY[ends('SELECT src, dst FROM %1$s1')::text, ends('%1$s0')::text, ends('%1$s1', 'both')::text] FROM (SELECT pg_sleep(random() / 50) OFFSET 0) l$$};

sub check { my ($name, $query, $relation, $generation) = @_; return "SELECT chk('$name $relation', " . sprintf($query, $relation) . ", $generation);\n" }

my $all_beside = join('', map { check('beside', $beside, $_, 'false') } qw(edges parts cur edges));
my %reader = (
	alone => { clients => 2, checks => 1, script => check('alone', $alone, 'edges', 'true') },
	late => { clients => 2, checks => 1, script => check('late', $late, 'edges', 'true') },
	beside => { clients => 1, checks => 1, script => check('beside', $beside, 'edges', 'true') },
	parts => { clients => 1, checks => 2, script => check('alone', $alone, 'parts', 'true') . check('late', $late, 'parts', 'true') },
	parts_beside => { clients => 1, checks => 1, script => check('beside', $beside, 'parts', 'true') },
	views => { clients => 1, checks => 2, script => check('alone', $alone, 'cur', 'true') . check('beside', $beside, 'cur', 'true') },
	schemas => { clients => 1, checks => 2, script => check('alone', $alone, 'app.links', 'true') . check('late', $late, 'app.links', 'true') },
	twins => { clients => 2, checks => 2, script => check('twins', $twins, 'twin', 'true') . check('late twins', $late_twins, 'twin', 'true') },
	# A plan may be older than the snapshot with respect to ATTACH; live_truth contains what the
	# snapshot sees.
	live => { clients => 1, checks => 1, script => q{SELECT chk('live', $$SELECT ARRAY[(SELECT answer FROM live_truth)::text, ends('live')::text, ends('live', 'both')::text] FROM (SELECT pg_sleep(random() / 50) OFFSET 0) l WHERE (SELECT count(*) FROM live) >= 0$$, false);} },
	transaction => { clients => 1, checks => 3, script => 'BEGIN;' . check('alone', $alone, 'edges', 'true') . check('alone', $alone, 'cur', 'true') . check('late', $late, 'edges', 'true') . 'COMMIT;' },
	repeatable => { clients => 1, checks => 4, script => "\\set s random(1, 20000)\nBEGIN ISOLATION LEVEL REPEATABLE READ;\nSELECT 1 FROM other;\n\\sleep :s us\n${all_beside}COMMIT;" },
	serializable => { clients => 1, checks => 4, script => "\\set s random(1, 20000)\nBEGIN ISOLATION LEVEL SERIALIZABLE;\nSELECT 1 FROM other;\n\\sleep :s us\n${all_beside}COMMIT;" });
my %writer = (
	edges => { clients => 1, script => "\\set w random(0, 6)\n\\set s random(1, 60)\nSELECT change_edges(:w);\n\\sleep :s ms" },
	parts => { clients => 1, script => "\\set w random(0, 3)\n\\set s random(1, 80)\nSELECT change_parts(:w);\n\\sleep :s ms" },
	others => { clients => 1, script => "\\set w random(0, 3)\n\\set s random(1, 60)\nSELECT change_others(:w);\n\\sleep :s ms" },
	twins => { clients => 1, script => "\\set w random(0, 5)\n\\set s random(1, 40)\nSELECT change_twins(:w);\n\\sleep :s ms" },
	rewrite => { clients => 1, script => "\\set s random(100, 500)\nVACUUM FULL parts, slot0;\n\\sleep :s ms\nVACUUM FULL slot1;\n\\sleep :s ms" },
	evict => { clients => 1, script => "\\set s random(20, 200)\nSELECT emogi_evict();\n\\sleep :s ms" });

# Start pgbench for some roles.
sub start_all
{
	my ($roles, $options, @arguments) = @_;
	my $kind = $roles == \%reader ? 'read' : 'write';
	my %running;

	foreach my $name (sort keys %$roles)
	{
		my $file = $node->basedir . "/${kind}_$name.sql";
		my $out = '';
		open(my $script, '>', $file) or die "$file: $!";
		print $script $roles->{$name}{script}, "\n";
		close $script;
		local $ENV{PGOPTIONS} = $options;
		$running{$name} = { out => \$out };
		$running{$name}{run} = IPC::Run::start([ 'pgbench', '-n', '-c', $roles->{$name}{clients}, @arguments, '-f', $file, $node->connstr('postgres') ],
			'<', \'', '>&', \$out);
	}
	return %running;
}

# The output of all so far, and whether any is still running.
sub said
{
	$_->{run}->pump_nb foreach grep { $_->{run}->pumpable } @_;
	return join '', map { ${ $_->{out} } } @_;
}
sub any_running { return scalar grep { $_->{run}->pumpable } @_ }

# Kill all of them.
sub end_all
{
	$_->{run}->kill_kill(grace => 1) foreach @_;
	$node->safe_psql('postgres', q{SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'});
	wait_until(20, sub { $node->safe_psql('postgres', q{SELECT count(*) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'}) eq '0' });
}

my $calm = '-c client_min_messages=warning -c lock_timeout=3s';

# Regular run: no wrong answers.
my $each = 0;
$each += $_->{clients} * $_->{checks} foreach values %reader;
my $transactions = int($wanted / $each) + 1;
my %writers = start_all(\%writer, "-c client_min_messages=warning", '-T', 36000);
my %readers = start_all(\%reader, $calm, '-t', $transactions);
my $start = time;
while (any_running(values %readers) && time - $start < $patience)
{
	last if said(values %readers) =~ /WRONG/;
	said(values %writers);
	sleep 0.1;
}
my $said = said(values %readers);
my $written = said(values %writers);
ok(any_running(values %writers) == keys %writer, 'all writers are still running') or diag $written;
my $complete = !any_running(values %readers);
end_all(values %writers, values %readers);
my ($checks, %counts) = (0);
$counts{$1}++ while $said =~ /COUNT (\w{5})/g;
foreach my $name (sort keys %readers)
{
	my ($done) = ${ $readers{$name}{out} } =~ /transactions actually processed: (\d+)/;
	$checks += ($done // 0) * $reader{$name}{checks};
	note "$name: ", $done // 'not done', " of ", $transactions * $reader{$name}{clients};
}
my $wrong = () = $said =~ /WRONG/g;
my $gens = $node->safe_psql('postgres', q{SELECT last_value FROM gens});
note sprintf '%d checks in %.0f s, %d generations; wrong: %d; errors: %s', $checks, time - $start, $gens, $wrong,
	join(', ', map { "$_ $counts{$_}" } sort keys %counts) || 'none';
is($wrong, 0, "no wrong answer in $checks checks") or diag grep { /WRONG/ } split /^/, $said;
my @errors = $said =~ /^(.*(?:ERROR|FATAL|aborted|snapshot reference leak|snapshots seem to remain).*)$/mg;
is(scalar @errors, 0, 'no other error') or diag join "\n", @errors[ 0 .. ($#errors < 9 ? $#errors : 9) ];
ok($complete, 'the readers have finished') or diag $said;
cmp_ok($checks, '>=', $wanted, "$checks checks");
my $failed = 0;
$failed += $_ foreach values %counts;
cmp_ok($failed, '<', $checks / 4, "$failed of them failed");
cmp_ok($gens, '>', $wanted / 50, "during $gens generations");
region_is_empty($node, 'the arena is empty');

# Negative control: without the rule.
%writers = start_all(\%writer, '-c client_min_messages=warning', '-T', 36000);
%readers = start_all(\%reader, "$calm -c emogi.fault=snapshot_rule=0", '-T', $control);
$start = time;
while (any_running(values %readers))
{
	last if said(values %readers) =~ /WRONG/;
	said(values %writers);
	sleep 0.1;
}
my $took = time - $start;
like(said(values %readers), qr/WRONG/, sprintf 'negative control: a wrong answer after %.1f s without the rule', $took);
end_all(values %writers, values %readers);
unlike(slurp_file($node->logfile), qr/snapshot reference leak|snapshots seem to remain/, 'no snapshot is left registered');
region_is_empty($node, '... and the arena is empty');
$node->stop;
no_crash($node);

done_testing();
