# pg_stat_statements with emogi: it counts statements that call emogi, and their rows, in either
# order of the libraries; emogi_stat_graphs agrees. Statements that emogi runs for a call are
# nested, and are shown if all levels are tracked. auto_explain shows plans as usual. Calls of emogi
# get query ids, too.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use EmogiTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

plan skip_all => 'pg_stat_statements is not installed' unless -e PostgreSQL::Test::Cluster->new('look')->config_data('--pkglibdir') . '/pg_stat_statements.so';
foreach my $order ('emogi, pg_stat_statements, auto_explain', 'pg_stat_statements, auto_explain, emogi')
{
	my $node = emogi_node($order =~ /^emogi/ ? 'first' : 'last', "shared_preload_libraries = '$order'", "emogi.max_memory = '128MB'",
		'pg_stat_statements.track = all', 'track_functions = all', 'auto_explain.log_min_duration = 0', 'auto_explain.log_analyze = on');
	my $ask = sub { $node->safe_psql('postgres', $_[0]) };

	$ask->(q{CREATE EXTENSION pg_stat_statements;
		CREATE TABLE tree AS SELECT i / 2 AS src, i AS dst FROM generate_series(2, 1000) i;
		SELECT pg_stat_statements_reset(), emogi_stat_reset()});
	# one statement with three constants; a second, prepared; a query as the graph; one that fails
	$ask->("SELECT vertex, level FROM emogi_bfs('tree', $_)") for 1, 2, 3;
	$ask->(q{PREPARE q(bigint) AS SELECT count(*) FROM emogi_bfs('tree', $1); EXECUTE q(1); EXECUTE q(2); EXECUTE q(1000)});
	$ask->("SELECT count(*) FROM emogi_cc('SELECT src, dst FROM tree WHERE dst < $_')") for 10, 20;
	$node->psql('postgres', q{SELECT count(*) FROM emogi_bfs('tree', 1, direction => 'sideways')});
	is($ask->(q{SELECT query, calls, rows FROM pg_stat_statements WHERE toplevel AND query ~ 'FROM emogi_(bfs|cc)' ORDER BY query COLLATE "C"}),
		join("\n", 'PREPARE q(bigint) AS SELECT count(*) FROM emogi_bfs($2, $1)|3|3', 'SELECT count(*) FROM emogi_cc($1)|2|2', 'SELECT vertex, level FROM emogi_bfs($1, $2)|3|1999'),
		"$order: statements and their rows") unless $node->pg_version >= 16;
	is($ask->(q{SELECT sum(calls), sum(rows) FROM pg_stat_statements WHERE toplevel AND query ~ 'FROM emogi_(bfs|cc)'}), '8|2004', "$order: ... in total");
	is($ask->(q{SELECT source, function, calls, errors FROM emogi_stat_graphs ORDER BY source COLLATE "C"}), "SELECT src, dst FROM tree WHERE dst < ?|emogi_cc|2|0\ntree|emogi_bfs|6|0",
		'... emogi_stat_graphs agrees');
	is($ask->(q{SELECT sum(rows) FROM emogi_stat_graphs}), $ask->(q{SELECT sum(rows) FROM emogi_runs}), '... and so does emogi_runs');
	like($ask->(q{SELECT string_agg(query, '; ') FROM pg_stat_statements WHERE NOT toplevel}), qr/src, dst FROM tree|_emogi_sink/, '... statements run by a call are nested');
	is($ask->(q{SELECT count(*) > 0 FROM pg_stat_user_functions WHERE funcname = 'emogi_bfs' AND calls > 0}), 't', '... and calls of functions are counted');
	like(slurp_file($node->logfile), qr/Custom Scan \(EmogiScan\)/, '... and auto_explain shows the scan');

	# many concurrent sessions
	$ask->('SELECT pg_stat_statements_reset(), emogi_stat_reset()');
	my $script = $node->basedir . '/script';
	append_to_file($script, "\\set v random(1, 1000)\nSELECT count(*) FROM emogi_bfs('tree', :v);\n");
	$node->command_ok([ 'pgbench', '-n', '-M', 'prepared', '-c', '4', '-j', '2', '-t', '200', '-f', $script, 'postgres' ], '... 4 sessions, 200 calls each');
	is($ask->(q{SELECT sum(calls) FROM pg_stat_statements WHERE query ~ 'FROM emogi_bfs'}), '800', '... all are counted');
	is($ask->(q{SELECT sum(calls) FROM emogi_stat_graphs WHERE source = 'tree'}), '800', '... and here');
	region_is_empty($node, '... nothing is left');
	no_crash($node);
	$node->stop;
}
done_testing();
