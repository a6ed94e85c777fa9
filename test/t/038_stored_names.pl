# A database with materialized views, views and functions over emogi can be restored from pg_dump,
# whose search path is empty, and upgraded by pg_upgrade, provided that graphs are regclass or
# qualified names.
use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use EmogiTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $look = q{
	SELECT string_agg(vertex::text, ' ') FROM a.ranks;
	SELECT string_agg(vertex::text, ' ') FROM a.reached;
	SELECT string_agg(vertex::text, ' ') FROM a.named;
	SELECT string_agg(vertex::text, ' ') FROM a.queried;
	SELECT string_agg(vertex::text, ' ') FROM a.seen;
	SELECT string_agg(vertex::text, ' ') FROM a.hops(2) AS vertex;
	SELECT string_agg(vertex::text, ' ') FROM a.hops_by_name(2) AS vertex};
my $answers = "1 2 3 4\n5 6\n1 2 3 4\n1 2 3 4\n1 2 3 4\n2 3 4\n2 3 4";

# Fill a database with all kinds of objects stored over a graph.
sub fill
{
	my ($node, $db) = @_;

	$node->safe_psql($db, q{
		CREATE EXTENSION emogi;
		CREATE SCHEMA a;
		CREATE SCHEMA "Odd Names";
		SET search_path = "Odd Names", public;
		CREATE TABLE "zz Edges" (src int, dst int, "Von" int, nach int);
		INSERT INTO "zz Edges" VALUES (1, 2, 5, 6), (2, 3, NULL, 1), (3, 4, 6, NULL);
		CREATE MATERIALIZED VIEW a.ranks AS SELECT vertex FROM emogi_pagerank('"zz Edges"'::regclass);
		CREATE MATERIALIZED VIEW a.reached AS SELECT vertex FROM emogi_bfs('"zz Edges"', 5, columns => '"Von", nach');
		CREATE MATERIALIZED VIEW a.named AS SELECT vertex FROM emogi_bfs('"Odd Names"."zz Edges"', '1');
		CREATE MATERIALIZED VIEW a.queried AS SELECT vertex FROM emogi_cc('SELECT src, dst FROM "Odd Names"."zz Edges"');
		CREATE VIEW a.seen AS SELECT vertex FROM emogi_cc('"zz Edges"'::regclass);
		CREATE FUNCTION a.hops(source bigint) RETURNS SETOF bigint STABLE
			BEGIN ATOMIC SELECT vertex FROM emogi_bfs('"zz Edges"'::regclass, source); END;
		CREATE FUNCTION a.hops_by_name(source bigint) RETURNS SETOF bigint STABLE LANGUAGE sql AS
			$$ SELECT vertex FROM public.emogi_bfs('"Odd Names"."zz Edges"', source) $$});
}

my $node = emogi_node('old', q{emogi.max_memory = '128MB'});
$node->safe_psql('postgres', "CREATE DATABASE $_") foreach qw(plain restored piped);
fill($node, 'plain');
is($node->safe_psql('plain', $look), $answers, 'stored objects work');

# Negative control: a materialized view over an unqualified name cannot be restored.
$node->safe_psql('plain', q{CREATE TABLE loose (src int, dst int); CREATE MATERIALIZED VIEW unqualified AS SELECT vertex FROM emogi_cc('loose')});
my $dump = $node->basedir . '/plain.dump';
command_ok([ 'pg_dump', '--format=custom', '--file', $dump, '--dbname', $node->connstr('plain') ], 'pg_dump');
command_fails_like([ 'pg_restore', '--exit-on-error', '--dbname', $node->connstr('piped'), $dump ],
	qr/relation "loose" does not exist/, 'an unqualified name is not found by pg_restore');
$node->safe_psql('plain', 'DROP TABLE loose; DROP MATERIALIZED VIEW unqualified');

command_ok([ 'pg_dump', '--format=custom', '--file', $dump, '--dbname', $node->connstr('plain') ], 'pg_dump with qualified names');
command_ok([ 'pg_restore', '--exit-on-error', '--dbname', $node->connstr('restored'), $dump ], 'pg_restore');
is($node->safe_psql('restored', $look), $answers, 'restored objects work');

# A plain dump, restored after the table was renamed.
$node->safe_psql('plain', q{ALTER TABLE "Odd Names"."zz Edges" RENAME TO ways; DROP MATERIALIZED VIEW a.named, a.queried; DROP FUNCTION a.hops_by_name});
is($node->safe_psql('plain', q{SELECT string_agg(vertex::text, ' ') FROM a.seen; SELECT count(*) FROM a.hops(2)}), "1 2 3 4\n3", 'a rename is followed');
is((sqlstate($node, 'DROP TABLE "Odd Names".ways', 'plain'))[0], '2BP01', 'a drop is rejected');
$node->safe_psql('postgres', 'DROP DATABASE piped');
$node->safe_psql('postgres', 'CREATE DATABASE piped');
my $sql = $node->basedir . '/plain.sql';
command_ok([ 'pg_dump', '--file', $sql, '--dbname', $node->connstr('plain') ], 'pg_dump as text');
command_ok([ 'psql', '-X', '-q', '-v', 'ON_ERROR_STOP=1', '-f', $sql, $node->connstr('piped') ], 'psql restores it');
is($node->safe_psql('piped', q{SELECT string_agg(vertex::text, ' ') FROM a.ranks; SELECT string_agg(vertex::text, ' ') FROM a.reached}), "1 2 3 4\n5 6",
	'and restored objects work');

# pg_upgrade from and to the same version.
SKIP:
{
	my $bindir = $node->config_data('--bindir');
	my $new = PostgreSQL::Test::Cluster->new('new');

	skip 'pg_upgrade is not installed', 3 unless -x "$bindir/pg_upgrade";
	$new->init;
	$new->append_conf('postgresql.conf', "shared_preload_libraries = 'emogi'\nemogi.max_memory = '128MB'\nautovacuum = off");
	$node->stop;
	chdir($new->basedir) or die "chdir: $!";
	command_ok([ 'pg_upgrade', '-d', $node->data_dir, '-D', $new->data_dir, '-b', $bindir, '-B', $bindir,
			'-s', $new->host, '-p', $node->port, '-P', $new->port ], 'pg_upgrade');
	$new->start;
	is($new->safe_psql('restored', $look), $answers, 'upgraded objects work');
	is($new->safe_psql('plain', q{REFRESH MATERIALIZED VIEW a.ranks; SELECT string_agg(vertex::text, ' ') FROM a.ranks}), '1 2 3 4', 'and can be refreshed');
	$new->stop;
}

no_crash($node);
done_testing();
