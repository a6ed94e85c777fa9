# Before PostgreSQL 17, without shared_preload_libraries, every function raises an error with a
# hint. When preloaded, emogi works together with other libraries, and dumps can be restored.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use EmogiTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

# Not preloaded.
my $node = PostgreSQL::Test::Cluster->new('main');
$node->init;
$node->append_conf('postgresql.conf', "max_prepared_transactions = 5\nautovacuum = off");
$node->start;
my ($rc, $out, $err) = $node->psql('postgres', 'CREATE EXTENSION emogi');
is("$rc$err", '0', 'the extension can be created without the library being preloaded');
if (server_version() < 17)    # later: 097_trial.pl
{
	foreach my $call (
		q{SELECT emogi_version()},
		q{SELECT * FROM emogi_bfs('VALUES (1, 2)', 1)},
		q{SELECT * FROM emogi_bfs('VALUES (1, 2)', ARRAY[1])},
		q{SELECT * FROM emogi_bfs('nowhere', NULL::bigint)},
		q{SELECT * FROM emogi_devices})
	{
		my ($state, $message) = sqlstate($node, $call);
		is($state, '55000', "not preloaded: $call");
		like($message, qr/HINT:.*shared_preload_libraries/, '... with a hint');
	}
	is((sqlstate($node, q{LOAD 'emogi'; SELECT * FROM emogi_bfs('VALUES (1, 2)', 1)}))[0], '55000', 'LOAD is not enough');
	$node->append_conf('postgresql.conf', "session_preload_libraries = 'emogi'");
	$node->reload;
	is((sqlstate($node, q{SELECT * FROM emogi_bfs('VALUES (1, 2)', 1)}))[0], '55000', 'session_preload_libraries is not enough');
	$node->adjust_conf('postgresql.conf', 'session_preload_libraries', "''");
}

# Preloaded, before and after other libraries.
foreach my $libraries ('emogi', 'emogi, pg_stat_statements, auto_explain', 'auto_explain, pg_stat_statements, emogi')
{
	$node->append_conf('postgresql.conf', "shared_preload_libraries = '$libraries'");
	$node->append_conf('postgresql.conf', "auto_explain.log_min_duration = 0\nauto_explain.log_nested_statements = on\nauto_explain.log_analyze = on");
	$node->restart;
	$node->safe_psql('postgres', q{
		CREATE EXTENSION IF NOT EXISTS pg_stat_statements;
		CREATE TABLE IF NOT EXISTS small (src int, dst int);
		TRUNCATE small;
		INSERT INTO small VALUES (1, 2), (2, 3), (1, 4)});
	answers_small($node, "preloaded: $libraries");
	is($node->safe_psql('postgres', q{SELECT count(*) FROM emogi_bfs('SELECT src, dst FROM small', 1)}), '4', '... and a query');
	ok(worker_pid($node), '... and a worker');
}
is($node->safe_psql('postgres', q{SELECT count(*) > 0 FROM pg_stat_statements WHERE query LIKE '%emogi_bfs%'}), 't', 'pg_stat_statements counts the calls');

# Dropped and re-created in another schema, and in two databases.
$node->safe_psql('postgres', 'DROP EXTENSION emogi');
is((sqlstate($node, q{SELECT * FROM emogi_bfs('small', 1)}))[0], '42883', 'dropped');
$node->safe_psql('postgres', 'CREATE SCHEMA graph; CREATE EXTENSION emogi SCHEMA graph');
is($node->safe_psql('postgres', q{SELECT count(*) FROM graph.emogi_bfs('small', 1)}), '4', 'in another schema that is not in search_path');
is($node->safe_psql('postgres', q{SELECT count(*) FROM graph.emogi_bfs('SELECT src, dst FROM small', 1)}), '4', '... and a query');
is($node->safe_psql('postgres', q{SELECT count(*) FROM graph.emogi_devices WHERE device = -1}), '1', '... and the devices');
$node->safe_psql('postgres', 'DROP EXTENSION emogi; CREATE EXTENSION emogi');
answers_small($node, 'created again');
$node->safe_psql('postgres', 'CREATE DATABASE second');
$node->safe_psql('second', 'CREATE EXTENSION emogi; CREATE TABLE small AS SELECT 1 AS src, 9 AS dst');
is($node->safe_psql('second', q{SELECT string_agg(vertex || ':' || level, ' ') FROM emogi_bfs('small', 1)}), '1:0 9:1', 'a second database');
answers_small($node, 'the first database');

# PostgreSQL suggests casts for a function that it does not find. Its messages differ between
# versions; the hint does not.
my (undef, undef, $unknown) = $node->psql('postgres', q{SELECT * FROM emogi_bfs('small', 1, depth => 2)});
like($unknown, qr/HINT:  emogi_bfs has no parameter depth. Perhaps you meant max_depth. Its parameters are: graph, source, max_depth, direction./, 'a hint for a parameter that no function has');
unlike($unknown, qr/casts/, '... instead of the hint about casts');
my @unlisted;
foreach my $name (split /\n/, $node->safe_psql('postgres', q{SELECT DISTINCT proname FROM pg_proc WHERE proname LIKE 'emogi\_%'}))
{
	(undef, undef, $unknown) = $node->psql('postgres', "SELECT $name(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14)");
	push @unlisted, $name if $unknown !~ /HINT:  .*\b$name\b/;
}
is("@unlisted", '', '... for every function');
# The list of parameters is that of the catalog.
my @others;
foreach my $line (split /\n/, $node->safe_psql('postgres', q{SELECT proname || ' ' || string_agg(DISTINCT name, ' ') FROM pg_proc, unnest(proargnames[1:pronargs]) AS name
	WHERE proname LIKE 'emogi\_%' AND proargnames[1] = 'graph' AND proname !~ '_(text|uuid)$' AND name NOT IN ('graph', 'columns') GROUP BY proname}))
{
	my ($name, @wanted) = split / /, $line;
	(undef, undef, $unknown) = $node->psql('postgres', "SELECT $name(of_no_function => 1)");
	my @listed = $unknown =~ /Its parameters are: (.*)\./ ? grep { $_ ne 'graph' } split /, /, $1 : ();
	push @others, $name if "@{[ sort @listed ]}" ne "@{[ sort @wanted ]}";
}
is("@others", '', '... with its parameters');
my %likely = (emogi_dijkstra => 'emogi_shortest_path', emogi_components => 'emogi_cc', emogi_Jaccard => 'emogi_similarity',
	emogi_pagerenk => 'emogi_pagerank');
foreach my $name (sort keys %likely)
{
	(undef, undef, $unknown) = $node->psql('postgres', "SELECT * FROM $name('small', 1)");
	my $folded = lc $name;
	like($unknown, qr/HINT:  There is no function $folded\. Perhaps you meant $likely{$name}\. \\df emogi_\* lists/, $name);
}
(undef, undef, $unknown) = $node->psql('postgres', q{SELECT emogi_help()});
like($unknown, qr/HINT:  There is no function emogi_help\. \\df emogi_\* lists the functions, and docs\/functions\.md/, 'an unrelated parameter name');
(undef, undef, $unknown) = $node->psql('postgres', q{SELECT lower(1, 2)});
unlike($unknown, qr/\\df/, '... and no hint for other functions');

# Dump and restore.
$node->safe_psql('postgres', q{
	CREATE VIEW reach AS SELECT * FROM emogi_bfs('public.small', 1);
	CREATE MATERIALIZED VIEW kept AS SELECT * FROM emogi_bfs('public.small', 1);
	CREATE FUNCTION far(s bigint) RETURNS int LANGUAGE sql AS $$ SELECT max(level) FROM emogi_bfs('public.small', s) $$});
my $dump = $node->basedir . '/dump.sql';
$node->command_ok([ 'pg_dump', '-f', $dump, '-d', $node->connstr('postgres') ], 'dump');
unlike(slurp_file($dump), qr/FUNCTION public\.emogi_|VIEW public\.emogi_/, 'the dump contains no member of the extension');
$node->safe_psql('postgres', 'CREATE DATABASE restored TEMPLATE template0');
$node->command_ok([ 'psql', '-Xq', '-v', 'ON_ERROR_STOP=1', '-f', $dump, '-d', $node->connstr('restored') ], 'restore');
is($node->safe_psql('restored', 'SELECT sum(level), count(*), (SELECT count(*) FROM kept), far(1) FROM reach'), '4|4|4|2', 'the restored view works');

# A database with sessions that used emogi can be dropped immediately, because the worker is not
# connected to a database.
$node->safe_psql('postgres', 'DROP DATABASE second; DROP DATABASE restored');
answers_small($node, 'after DROP DATABASE');
$node->stop;
no_crash($node);
unlike(slurp_file($node->logfile), qr/WARNING/, 'no warnings');

done_testing();
