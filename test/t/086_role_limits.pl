# What a role without privileges can set, call, keep and leave behind: its settings raise no limit,
# it cannot evict or reset data of others, and sessions, locks, the log and the statistics stay
# within their limits.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use EmogiTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(time);

my $node = crash_node('main', "emogi.max_memory = '128MB'", 'emogi.engine = cpu', 'emogi.stat_max = 100', 'emogi.runs_max = 16', 'log_error_verbosity = terse');
my $worker = worker_pid($node);
$node->safe_psql('postgres', q{
	CREATE ROLE mallory LOGIN;
	CREATE ROLE app LOGIN;
	CREATE TABLE tree AS SELECT i / 2 AS src, i AS dst FROM generate_series(2, 10001) i;
	ALTER TABLE tree OWNER TO app});
my $app = session($node);
$app->ask(q{SET ROLE app; SET statement_timeout = '30s'});

# Check that another role's call is answered.
sub app_is_answered
{
	my ($name) = @_;

	is($app->ask(q{SELECT count(*) FROM emogi_bfs('tree', 1)}), '10001', "$name: another role's call is correct");
}
app_is_answered('alone');

my $mallory = session($node);
my $pid = $mallory->ask('SET ROLE mallory; SELECT pg_backend_pid()');

# Get a line of /proc/PID/status in MB.
sub megabytes { return status_of($_[0], $_[1]) / 1024; }

# ---- settings: a new setting that a role can set must be listed here if it raises no limit

is($node->safe_psql('postgres', q{SELECT string_agg(name, ' ' ORDER BY name) FROM pg_settings WHERE name LIKE 'emogi.%' AND context = 'user'}),
	'emogi.build_workers emogi.contraction_min_calls emogi.enable_aggregates emogi.enable_batch emogi.enable_cache emogi.enable_contraction emogi.enable_incremental ' .
	'emogi.enable_index_search emogi.enable_join_lookup emogi.enable_local_search emogi.enable_property_columns emogi.enable_scan emogi.enable_topk emogi.engine emogi.incremental_min_size ' .
	'emogi.index_search_min_size emogi.max_staleness emogi.notice_missing_source emogi.notice_trial emogi.papers_asynchronous emogi.papers_mapping emogi.papers_prefetch emogi.placement emogi.server_connections',
	'the settings that a role can change');
foreach my $name (split / /, $node->safe_psql('postgres', q{SELECT string_agg(name, ' ') FROM pg_settings WHERE name LIKE 'emogi.%' AND context <> 'user'}), 'emogi.fault')
{
	like($mallory->ask("SET $name = '1'"), qr/^ERROR:  (?:42501|55P02)/, "a role cannot set $name");
	like($mallory->ask("ALTER ROLE mallory SET $name = '1'"), qr/^ERROR:  (?:42501|55P02)/, '... nor for future sessions');
}
like($mallory->ask('SHOW emogi.prewarm'), qr/^ERROR:  42501/, 'it cannot see prewarmed graphs');
is($mallory->ask('SET emogi.build_workers = 1024; SELECT count(*) FROM emogi_bfs(\'SELECT 1, 2\', 1); RESET emogi.build_workers'), '2', 'parallel workers are within max_parallel_workers');

# ---- functions

like($mallory->ask("SELECT $_()"), qr/^ERROR:  42501/, "it cannot call $_") foreach qw(emogi_reset emogi_stat_reset);
like($mallory->ask($_), qr/^ERROR:  42501/, $_)
  foreach q{SELECT emogi_evict('tree')}, q{SELECT emogi_prewarm('tree')}, q{SELECT emogi_prewarm('SELECT 1, 2', keep => true)}, q{SELECT * FROM emogi_estimate('tree')},
  q{SELECT * FROM emogi_check('tree')}, q{SELECT * FROM emogi_bfs('tree', 1)};
like($mallory->ask('SELECT emogi_evict()'), qr/^\d+$/, 'emogi_evict() evicts what is its own');
is($node->safe_psql('postgres', q{SELECT count(*) FROM emogi_graphs WHERE source = 'tree'}), '1', '... and not that of another role');

# ---- locks

is($mallory->ask(q{BEGIN; DO $$ BEGIN
		BEGIN PERFORM * FROM emogi_bfs('tree', 1); EXCEPTION WHEN insufficient_privilege THEN NULL; END;
		BEGIN PERFORM emogi_evict('tree'); EXCEPTION WHEN insufficient_privilege THEN NULL; END;
		BEGIN PERFORM emogi_prewarm('tree'); EXCEPTION WHEN insufficient_privilege THEN NULL; END;
		BEGIN PERFORM * FROM emogi_estimate('tree'); EXCEPTION WHEN insufficient_privilege THEN NULL; END;
		BEGIN PERFORM * FROM emogi_check('tree'); EXCEPTION WHEN insufficient_privilege THEN NULL; END;
	END $$; SELECT count(*) FROM pg_locks WHERE pid = pg_backend_pid() AND relation = 'tree'::regclass}), '0', 'a table without the privilege is not left locked');
is($node->safe_psql('postgres', q{SET lock_timeout = '2s'; ALTER TABLE tree ADD COLUMN more int; ALTER TABLE tree DROP COLUMN more; SELECT 'altered'}), 'altered', '... and can be altered during that transaction');
$mallory->ask('ROLLBACK');
$mallory->ask(q{CREATE TEMP TABLE mine AS SELECT i / 2 AS src, i AS dst FROM generate_series(2, 200000) i; BEGIN; DECLARE c CURSOR FOR SELECT * FROM emogi_bfs('mine', 1); FETCH 1 FROM c});
is($node->safe_psql('postgres', q{SELECT coalesce(backend_xmin::text, 'none') FROM pg_stat_activity WHERE backend_type = 'emogi engine'}), 'none', 'the engine worker does not hold back the xmin horizon');
$mallory->ask('COMMIT');
is($node->safe_psql('postgres', "SELECT coalesce(backend_xmin::text, 'none') FROM pg_stat_activity WHERE pid = $pid"), 'none', '... nor does a session whose cursor is closed');

# ---- memory of a session

$mallory->ask(q{DO $$ BEGIN FOR k IN 1 .. 50 LOOP EXECUTE format('SELECT count(*) FROM emogi_bfs(%L, 1)', format('SELECT i / 2, i + %s FROM generate_series(1, 10) i', k)); END LOOP; END $$});
my $before = megabytes($pid, 'RssAnon');
$mallory->ask(q{DO $$ BEGIN FOR k IN 1 .. 2000 LOOP EXECUTE format('SELECT count(*) FROM emogi_bfs(%L, 1)', format('SELECT i / 2, i + %s FROM generate_series(1, 10) i', k)); END LOOP; END $$});
cmp_ok(megabytes($pid, 'RssAnon') - $before, '<', 16, 'two thousand queries leave no memory in the session');
$mallory->ask(q{SELECT count(*) FROM emogi_bfs('mine', (SELECT array_agg(i::bigint) FROM generate_series(1, 2000000) i))});
cmp_ok(megabytes($pid, 'RssAnon') - $before, '<', 64, '... nor do two million sources');
my $paths = q{SELECT * FROM emogi_k_shortest_paths('SELECT i, i + 1 FROM generate_series(1, 2000) i UNION ALL SELECT i, i + 2 FROM generate_series(1, 2000) i', 1, 2000, 500)};
is($mallory->ask(qq{SET work_mem = '64kB'; BEGIN; DO \$\$ DECLARE c refcursor; r record; BEGIN FOR i IN 1 .. 20 LOOP c := 'c' || i; OPEN c FOR $paths; FETCH c INTO r; END LOOP; END \$\$}), '', 'twenty cursors over paths');
cmp_ok(megabytes($pid, 'RssAnon') - $before, '<', 128, 'twenty cursors over half a million steps each keep work_mem each');
is($mallory->ask('MOVE FORWARD ALL IN c20'), '', '... and continue');
$mallory->ask('ROLLBACK; RESET work_mem');
like($mallory->ask(qq{SET statement_timeout = '30s'; SELECT count(*) FROM emogi_k_shortest_paths('SELECT i, i + 1 FROM generate_series(1, 2000) i UNION ALL SELECT i, i + 2 FROM generate_series(1, 2000) i', 1, 2000, 1000000)}),
	qr/^ERROR:  (?:53200|54000): .*HINT:  .*emogi\./s, 'more paths than allowed per session are rejected');
app_is_answered('beside paths');

# ---- the disk

my $temp_files = sub { return $node->safe_psql('postgres', 'SELECT count(*) FROM pg_ls_tmpdir()') };
$node->safe_psql('postgres', q{ALTER ROLE mallory SET temp_file_limit = '1MB'});
my $small = session($node);
is($small->ask(q{SET temp_file_limit = '1MB'; SET SESSION AUTHORIZATION mallory; SET emogi.enable_scan = off; SET work_mem = '64kB';
		SELECT count(*) FROM emogi_bfs('SELECT i / 2, i FROM generate_series(2, 400000) i', 1)}) =~ /^ERROR:  53400/ ? 'refused' : 'not refused', 'refused', 'collected rows respect temp_file_limit');
is($temp_files->(), '0', '... and no file is left');
$small->quit;

# ---- planning

my $start = time;
my $union = join ' UNION ALL ', ('SELECT 1, 2') x 20000;
like($mallory->ask("SET statement_timeout = '2s'; SELECT count(*) FROM emogi_bfs('$union', 1)"), qr/^(?:2|ERROR:  (?:57014|54001).*)$/s, 'a query of 20,000 parts finishes');
cmp_ok(time - $start, '<', 20, '... soon');
$start = time;
my $nested = 'SELECT 1, 2';
$nested = q{SELECT vertex, vertex + 1 FROM emogi_bfs($q} . $_ . qq{\$$nested\$q} . $_ . q{$, 1)} foreach 1 .. 60;
like($mallory->ask("SELECT count(*) FROM emogi_bfs(\$q\$$nested\$q\$, 1)"), qr/^(?:\d+|ERROR:  (?:57014|54001|53400).*)$/s, 'so do calls nested in queries of calls');
cmp_ok(time - $start, '<', 20, '... soon');
$mallory->ask('RESET statement_timeout');
app_is_answered('during long planning');

# ---- the log

my $logged = sub { my @lines = split /\n/, slurp_file($node->logfile); return scalar @lines };
my $lines = $logged->();
$mallory->ask(q{SET emogi.notice_missing_source = on; SET log_min_messages = notice});
$mallory->ask(q{SET emogi.notice_missing_source = on; SELECT count(*) FROM generate_series(1, 1000) i, LATERAL emogi_bfs('SELECT 1, 2', i + 10) b; RESET emogi.notice_missing_source});
$mallory->ask(q{SELECT count(*) FROM generate_series(1, 1000) i, LATERAL emogi_bfs('mine', i) b});
cmp_ok($logged->() - $lines, '<=', 6, 'two thousand calls in two statements do not write one line each');

# ---- statistics and run log

$app->ask(q{SELECT count(*) FROM emogi_degree('tree')}) foreach 1 .. 2;
my $calls = $node->safe_psql('postgres', q{SELECT sum(calls) FROM emogi_stat_graphs});
is($mallory->ask(q{DO $$ BEGIN FOR k IN 1 .. 400 LOOP FOR n IN 1 .. 4 LOOP PERFORM count(*) FROM emogi_bfs(format('SELECT 1%s, 2', repeat(' + 1', k)), 1); END LOOP; END LOOP; END $$}), '', 'calls of four hundred queries');
is($node->safe_psql('postgres', q{SELECT entries <= max_entries FROM emogi_stat_info}), 't', '... have no more rows than allowed');
is($node->safe_psql('postgres', q{SELECT calls FROM emogi_stat_graphs WHERE username = 'app' AND function = 'emogi_degree'}), '2', '... and that of another role with fewer calls stays');
is($node->safe_psql('postgres', 'SELECT sum(calls) FROM emogi_stat_graphs') - $calls, 1600, '... and no call is lost');
is($node->safe_psql('postgres', 'SELECT count(*) FROM emogi_runs'), '16', 'the run log has the maximum number of rows');
is($mallory->ask(q{SELECT count(*) FROM emogi_runs WHERE username <> 'mallory'}), '0', '... and shows the role its own');

app_is_answered('at the end');
$_->quit foreach $mallory, $app;
is(worker_pid($node), $worker, 'the engine worker is the same');
nothing_left($node, 'at the end');
$node->stop;
no_crash($node);
cmp_ok(-s $node->data_dir . '/pg_stat/emogi.stat', '<=', 100 * 1024, 'the statistics on disk respect emogi.stat_max');

done_testing();
