# The argument of _emogi_sink that identifies a call's load does not appear in any plan visible to a
# role, with any planner setting.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use EmogiTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = emogi_node('main', 'autovacuum = off');

# No column and no constant of these is a bigint, so a bigint in a plan would be the load.
$node->safe_psql('postgres', q{
	CREATE TABLE edges AS SELECT i::text AS src, (i + 1)::text AS dst, i::real AS weight FROM generate_series(1, 20000) i;
	CREATE VIEW seen AS SELECT src, dst, weight FROM edges;
	CREATE FUNCTION yes() RETURNS bool LANGUAGE plpgsql PARALLEL SAFE AS 'BEGIN RETURN true; END';
	CREATE TABLE hidden AS SELECT * FROM edges WHERE weight < 100;
	ALTER TABLE hidden ENABLE ROW LEVEL SECURITY;
	CREATE POLICY p ON hidden USING (weight < 50);
	CREATE ROLE reader LOGIN;
	GRANT SELECT ON edges, seen, hidden TO reader});

my %graphs = (
	'a shared query' => 'SELECT src, dst FROM edges',
	'a private query' => 'SELECT src, dst FROM edges WHERE yes()',
	'weights' => 'SELECT src, dst, weight FROM edges WHERE yes()',
	'vertices' => 'SELECT src, dst, src AS vertex FROM edges WHERE yes()',
	'a view' => 'seen',
	'row security' => 'hidden');

for my $name (sort keys %graphs)
{
	for my $mode (qw(auto force_custom_plan force_generic_plan))
	{
		for my $workers (0, 2)
		{
			my ($rc, $out, $err) = $node->psql('postgres', qq{
				SET plan_cache_mode = $mode; SET max_parallel_workers_per_gather = $workers; SET min_parallel_table_scan_size = 0; SET parallel_setup_cost = 0; SET emogi.enable_cache = off;
				SET client_min_messages = log; SET debug_print_plan = on; SET debug_print_rewritten = on; SET debug_print_parse = on;
				SELECT count(*) > 0 FROM emogi_cc_text(\$\$$graphs{$name}\$\$)}, extra_params => [ '-U', 'reader' ]);
			is($out, 't', "$name, $mode, $workers workers: an answer");
			# plans of other queries, such as the call itself, have no aggregate of emogi
			my @plans = grep { /AGGREF/ && /:paramkind 0 :paramid 1 :paramtype 20/ } split /(?=LOG:  )/, $err =~ s/\s+/ /gr;
			cmp_ok(scalar @plans, '>=', 1, '... whose plans are shown');
			unlike("@plans", qr/:consttype 20 /, '... without a bigint');
		}
	}
}

$node->stop;
no_crash($node);

done_testing();
