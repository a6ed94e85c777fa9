# Graphs of Citus tables equal those of the rows in their shards: on any nodes, over any number of
# connections, as any role, with correct visibility. Citus is not needed: its catalogs belong to an
# extension of the same name (test/data/citus.sql), its settings to a module (test/fake_citus.c),
# and its nodes are clusters. The answer that Citus itself would give is in the heap of the table,
# which is empty in Citus, so that both read methods can be compared.

use strict;
use warnings;

use Cwd qw(abs_path);
use FindBin;
use lib $FindBin::RealBin;
use EmogiTest;
use Servers;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $module = abs_path($FindBin::RealBin) . '/../fake_citus.so';
plan skip_all => 'the module with the settings of Citus, built by test/run, is missing' unless -e $module;

# Create a copy of the installation with the extension. Programs find their folders relative to
# their location, so they are copied; the rest are links.
sub install
{
	my $home = PostgreSQL::Test::Utils::tempdir();
	my %at;
	foreach my $part ('bindir', 'sharedir', 'pkglibdir')
	{
		chomp(my $there = `pg_config --$part`);
		$at{$part} = "$home$there";
		next if -d $at{$part};
		system('mkdir', '-p', $at{$part}) == 0 && system('cp', $part eq 'bindir' ? '-rL' : '-rs', "$there/.", $at{$part}) == 0 or die "could not copy $there\n";
	}
	append_to_file("$at{sharedir}/extension/citus.control", "default_version = '1.0'\nschema = citus\nrelocatable = false\n");
	append_to_file("$at{sharedir}/extension/citus--1.0.sql", slurp_file("$FindBin::RealBin/../data/citus.sql"));
	return $at{bindir} =~ s!/bin$!!r;
}

my @node = (undef, map { far_node("node$_") } 1, 2);
my $hub = hub_node('hub', { install_path => install() }, "shared_preload_libraries = 'emogi,$module'", "citus.node_conninfo = 'sslmode=disable connect_timeout=30'", 'log_statement = all', 'max_connections = 100');
$node[0] = $hub;

sub sql { return $hub->safe_psql('postgres', join("\n", @_)); }
sub on { my ($n, @sql) = @_; return $node[$n]->safe_psql('postgres', join("\n", @sql)); }

sql('CREATE EXTENSION citus;', map { sprintf "INSERT INTO pg_dist_node (nodeid, groupid, nodename, nodeport) VALUES (%d, %d, '%s', %d);", $_ + 11, $_, $node[$_]->host, $node[$_]->port } 0 .. 2);
# standbys, and nodes that must not be read
sql(q{INSERT INTO pg_dist_node (nodeid, groupid, nodename, nodeport, noderole, isactive) VALUES (21, 1, '/nowhere', 1, 'secondary', true), (22, 2, '/nowhere', 2, 'primary', false)});

my $shard = 102000;

# Quote a name.
sub quoted { return '"' . ($_[0] =~ s/"/""/gr) . '"'; }

# Create a Citus table from the rows of a query, with its shards on groups in turn, or each on all
# of several groups given in brackets. Options in how: schema, columns, method, and shard, which
# names a shard by its number.
sub distribute
{
	my ($name, $rows, $groups, %how) = @_;
	my $schema = quoted($how{schema} // 'public');
	my $columns = $how{columns} // 'src bigint, dst bigint, weight float8';
	my $n = @$groups;

	sql("CREATE SCHEMA IF NOT EXISTS $schema; CREATE TABLE $schema." . quoted($name) . " ($columns); INSERT INTO $schema." . quoted($name) . " $rows;");
	my $regclass = "'$schema." . quoted($name) . q{'::regclass};
	sql("INSERT INTO pg_dist_partition VALUES ($regclass, '" . ($how{method} // 'h') . "', NULL);");
	for my $i (0 .. $n - 1)
	{
		$shard++;
		sql("INSERT INTO pg_dist_shard VALUES ($regclass, $shard, 't', '0', '1');");
		for my $group (ref $groups->[$i] ? @{ $groups->[$i] } : $groups->[$i])
		{
			my $there = $schema . '.' . quoted($how{shard} ? $how{shard}->($shard) : "${name}_$shard");
			sql("INSERT INTO pg_dist_placement (shardid, shardstate, shardlength, groupid) VALUES ($shard, 1, 0, $group);");
			on($group, "CREATE SCHEMA IF NOT EXISTS $schema; CREATE TABLE $there ($columns);",
				"INSERT INTO $there SELECT * FROM ($rows) r WHERE " . ($n == 1 ? 'true' : "mod(abs(hashtext(src::text)::bigint), $n) = $i") . ';');
		}
	}
}

# Count the COPY commands sent to a node since a position in its log.
sub ncopies { my ($n, $from) = @_; return (copies($node[$n], $from))[1]; }

# ------------------------------------------------------------------------------------------------- reading

distribute('spread', edges(40000, 1), [ 1, 2, 1, 2, 0 ]);
same($hub, 'shards on two nodes and on this one', 'spread', 'SELECT * FROM spread', connections => [ 0, 1, 2, 4, 64 ]);
like(sql('SET emogi.enable_cache = on;', "SELECT count(*) > 0 FROM emogi_degree('spread');", q{SELECT cache || ' ' || why_private FROM emogi_runs WHERE pid = pg_backend_pid() ORDER BY id DESC LIMIT 1}),
	qr/^t\nprivate server "[^"]+" does not have the extension emogi, which detects changes of shard "spread_\d+"$/, 'a graph is not cached');
like(sql('SET emogi.server_connections = 1;', "EXPLAIN (ANALYZE, COSTS OFF) SELECT * FROM emogi_degree('spread')"), qr/Servers: 3\n\s*Server Connections: 3\n\s*Server Ranges: 5\n/, 'EXPLAIN tells of nodes, connections and ranges');
distribute('hollow', edges(3000, 2), [ 1, 2 ]);
sql('CREATE TABLE oracle AS TABLE hollow; TRUNCATE hollow');
is(sql("SELECT fingerprint('hollow') = fingerprint('oracle')"), 't', 'the heap is not read');
distribute('reference', edges(2000, 3), [ [ 1, 2, 0 ] ], method => 'n');
{
	my @from = map { -s $_->logfile } @node;
	same($hub, 'a reference table', 'reference', 'SELECT * FROM reference', connections => [ 1 ]);
	is(join(' ', grep { ncopies($_, $from[$_]) } 0 .. 2), '0', '... is read locally, because there is a copy');
}
distribute('twice', edges(6000, 4), [ ([ 1, 2 ]) x 4 ]);
{
	my @from = map { -s $_->logfile } @node;
	same($hub, 'shards placed on two nodes', 'twice', 'SELECT * FROM twice', connections => [ 1 ]);
	cmp_ok(ncopies($_, $from[$_]), '>=', 2, "... are read on both: $_") for 1, 2;
}
distribute('Odd "name', edges(900, 5), [ 1, 2, 0 ], schema => 'a "schema');
same($hub, 'names that must be quoted', '"a ""schema"."Odd ""name"', 'SELECT * FROM "a ""schema"."Odd ""name"');
my $long = 'n' x 58;
my $hash = sql("SELECT to_hex((hashtext('$long')::bigint + 4294967296) % 4294967296)");
distribute($long, edges(700, 6), [ 1, 2 ], shard => sub { sprintf '%s_%s_%d', substr($long, 0, 63 - 10 - length $_[0]), substr("0000000$hash", -8), $_[0] });
same($hub, 'a name too long for the shard number', $long, "SELECT * FROM $long");
distribute('texts', q{SELECT 'v' || (i % 97) AS src, CASE i % 3 WHEN 0 THEN 'ä' ELSE 'w' || i % 31 END AS dst, (i % 8)::numeric / 4 AS weight FROM generate_series(1, 3000) i}, [ 1, 2, 0 ], columns => 'src text, dst text, weight numeric');
same($hub, 'keys of text', 'texts', 'SELECT * FROM texts');
same($hub, 'named columns', 'spread(dst, src)', 'SELECT dst AS src, src AS dst FROM spread');
sql('CREATE TABLE parts (src bigint, dst bigint, weight float8) PARTITION BY RANGE (dst)', q{;INSERT INTO pg_dist_partition VALUES ('parts', 'h', NULL)});
for my $i (1, 2)
{
	distribute("part$i", "SELECT * FROM (" . edges(5000, 7) . ") e WHERE dst / 64 = $i - 1", [ 1, 2 ]);
	sql(sprintf 'ALTER TABLE parts ATTACH PARTITION part%d FOR VALUES FROM (%d) TO (%d)', $i, ($i - 1) * 64, $i * 64);
}
same($hub, 'partitions', 'parts', 'SELECT * FROM parts');
same($hub, 'a query', 'SELECT src, dst, weight FROM spread WHERE src > 5', 'SELECT src, dst, weight FROM spread WHERE src > 5', direct => 0);
sql('CREATE VIEW seen AS SELECT * FROM spread');
same($hub, 'a view', 'seen', 'SELECT * FROM spread', direct => 0);
is((answer_of($hub, "SELECT emogi_prewarm('spread')"))[0], '55000', 'it cannot be cached');
like((answer_of($hub, "SET emogi.enable_cache = on; SELECT emogi_prewarm('spread')"))[1], qr/Its graph is not shared: server "[^"]+" does not have the extension emogi, which detects changes of shard "spread_\d+"\./, '... and why');
on($_, 'CREATE EXTENSION emogi') for 1, 2;
same($hub, 'nodes with emogi', 'spread', 'SELECT * FROM spread');
distribute('growing', 'SELECT 1::bigint AS src, 2::bigint AS dst, 1::float8 AS weight', [ 1 ]);
on(1, "INSERT INTO growing_$shard VALUES (2, 3, 1)");
is(sql("SELECT count(*) FROM emogi_bfs('growing', 1)"), '3', 'a new row');
on(1, "INSERT INTO growing_$shard VALUES (3, 4, 1)");
is(sql("SELECT count(*) FROM emogi_bfs('growing', 1)"), '4', '... and the next');

# ------------------------------------------------------------------------------------------------- placements

# Count the edges, and return whether they were read from nodes.
sub counted { return "SELECT sum(degree) FROM emogi_degree('$_[0]'); SELECT from_network();"; }

my $moved = $shard;
sql("UPDATE pg_dist_placement SET shardstate = 4 WHERE shardid = $moved");
is(sql(counted('growing')), "1\nf", 'no active placement: Citus reads');
sql("UPDATE pg_dist_placement SET shardstate = 1, groupid = 7 WHERE shardid = $moved");
is(sql(counted('growing')), "1\nf", 'a group without a node');
sql("UPDATE pg_dist_placement SET groupid = 2 WHERE shardid = $moved");
like((answer_of($hub, counted('growing')))[1], qr/ERROR:  42P01: could not read shard "growing_$moved" from server "\Q${\$node[2]->host}\E:${\$node[2]->port}"/, 'a shard missing on its node');
sql("UPDATE pg_dist_placement SET groupid = 1 WHERE shardid = $moved", "; UPDATE pg_dist_shard SET shardstorage = 'v' WHERE shardid = $moved");
is(sql(counted('growing')), "1\nf", 'a shard that is not a table');
sql("UPDATE pg_dist_shard SET shardstorage = 't' WHERE shardid = $moved");
sql(q{INSERT INTO pg_dist_poolinfo VALUES (12, 'port=6432')});
is(sql(counted('growing')), "1\nf", 'a node with a pooler');
sql('DELETE FROM pg_dist_poolinfo');
is(sql("SET citus.use_secondary_nodes = 'always';", counted('growing')), "1\nf", 'standbys are to be read');
sql('UPDATE pg_dist_node SET isactive = false WHERE nodeid = 12');
is(sql(counted('growing')), "1\nf", 'an inactive node');
is(sql(counted('twice')), "6000\nt", '... whose shards another node has');
sql('UPDATE pg_dist_node SET isactive = true WHERE nodeid = 12');
is(sql(counted('growing')), "3\nt", 'and back');

# A query answered by Citus is planned with the current placements, and local shards are read under
# the statement's snapshot: a shard that has just been moved here is empty for an older one.
{
	my $caller = session($hub);
	my $beside = q{(SELECT sum(degree) FROM emogi_degree('beside'))};
	my $query = q{(SELECT sum(degree) FROM emogi_degree('SELECT src, dst FROM growing'))};
	my $during = sub
	{
		my ($change, @calls) = @_;

		$caller->tell('SELECT ' . join(', ', @calls));
		$hub->poll_query_until('postgres', q{SELECT count(*) = 1 FROM pg_stat_activity WHERE wait_event = 'PgSleep'}) or die 'nobody sleeps';
		sql($change);
		return $caller->answer;
	};
	my @calls = ($beside, q{(SELECT ''::text FROM pg_sleep(1))}, $query);

	sql('CREATE TABLE beside (src bigint, dst bigint); INSERT INTO beside VALUES (1, 2)');
	like($during->("UPDATE pg_dist_placement SET groupid = 0 WHERE shardid = $moved", @calls), qr/40001.*could not read relation "growing" under the snapshot/s, 'a shard moved here since the first call of a statement');
	is($during->("UPDATE pg_dist_placement SET groupid = 1 WHERE shardid = $moved", @calls[1, 2]), '|1', '... since its start: a newer snapshot is taken');
	is($during->("UPDATE pg_dist_placement SET groupid = groupid + 1 WHERE shardid = $moved - 1", @calls), '1||1', 'a shard of another table');
	sql("UPDATE pg_dist_placement SET groupid = groupid - 1 WHERE shardid = $moved - 1");
	# like triggers of Citus on its catalogs, CREATE STATISTICS invalidates the relation and keeps
	# its row in pg_class
	like($during->('INSERT INTO pg_dist_partition VALUES (\'beside\', \'n\', NULL); INSERT INTO pg_dist_shard VALUES (\'beside\'::regclass, 1, \'t\', \'0\', \'1\'); INSERT INTO pg_dist_placement (shardid, shardstate, shardlength, groupid) VALUES (1, 1, 0, 0); CREATE STATISTICS of_beside ON src, dst FROM beside', $query, $calls[1], q{(SELECT sum(degree) FROM emogi_degree('SELECT src, dst FROM beside'))}),
		qr/40001.*could not read relation "beside" under the snapshot/s, 'a table that has become a Citus table');
	sql('DROP STATISTICS of_beside; DELETE FROM pg_dist_placement WHERE shardid = 1; DELETE FROM pg_dist_shard WHERE shardid = 1; DELETE FROM pg_dist_partition WHERE logicalrelid = \'beside\'::regclass');
	$caller->ask('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1');
	is($caller->ask("SELECT $query"), '1', 'REPEATABLE READ');
	sql("UPDATE pg_dist_placement SET groupid = 0 WHERE shardid = $moved");
	like($caller->ask("SELECT $query"), qr/40001.*could not read Citus table "growing" under the snapshot of the transaction.*Run the transaction again/s, '... a shard moved here since');
	like($caller->ask("ROLLBACK; BEGIN ISOLATION LEVEL SERIALIZABLE; SELECT $query"), qr/^1$/, '... and the next transaction');
	$caller->ask('ROLLBACK');
	sql("UPDATE pg_dist_placement SET groupid = 1 WHERE shardid = $moved");
	$caller->quit;
}

# ------------------------------------------------------------------------------------------------- own changes

is(sql('BEGIN;', 'INSERT INTO growing VALUES (7, 8, 1);', counted('growing'), 'COMMIT'), "2\nf", 'after an INSERT in the transaction');
is(sql('BEGIN;', 'INSERT INTO reference VALUES (7, 8, 1);', counted('growing'), 'ROLLBACK'), "2\nf", '... into another Citus table');
is(sql('BEGIN;', 'SAVEPOINT s;', 'DELETE FROM growing;', counted('growing'), 'ROLLBACK TO s;', counted('growing'), 'COMMIT') =~ s/^\n//r, "f\n3\nt", 'a rolled-back savepoint');
is(sql('BEGIN;', "UPDATE pg_dist_placement SET groupid = 1 WHERE shardid = $moved;", counted('growing'), 'COMMIT'), "2\nf", 'after a change of the catalogs');
is(sql("BEGIN ISOLATION LEVEL $_;", counted('growing'), 'COMMIT'), "2\nf", lc $_) for 'REPEATABLE READ', 'SERIALIZABLE';
sql('CREATE INDEX growing_src ON growing (src)');
is(sql('BEGIN;', 'REINDEX TABLE growing;', counted('growing'), 'COMMIT'), "2\nf", 'after a REINDEX, whose locks on shards would block');
distribute('near', 'SELECT 1::bigint AS src, 2::bigint AS dst, 1::float8 AS weight', [ 0 ]);
is(sql('BEGIN;', counted('near'), "INSERT INTO near_$shard VALUES (2, 3, 1);", counted('near'), 'ROLLBACK'), "1\nt\n1\nf", 'after a change of a shard itself');
is(sql('CREATE TABLE near_0 (x int);', 'BEGIN;', 'INSERT INTO near_0 VALUES (2);', counted('near'), 'ROLLBACK'), "1\nt", '... of a table named like a shard');
is(sql('CREATE TABLE other (x int);', 'BEGIN;', 'INSERT INTO other VALUES (1);', counted('growing'), 'COMMIT'), "3\nt", 'a change of a local table');

# ------------------------------------------------------------------------------------------------- roles

distribute('owned', q{SELECT i::bigint, i::bigint + 1, 1::float8 FROM generate_series(1, 10) i}, [ 1 ]);
on(1, q{SET password_encryption = 'scram-sha-256'; CREATE ROLE alice LOGIN; CREATE ROLE app LOGIN PASSWORD 'a secret'; CREATE ROLE bob LOGIN;},
	"ALTER TABLE owned_$shard ENABLE ROW LEVEL SECURITY; CREATE POLICY own ON owned_$shard USING (src <= CASE current_user WHEN 'alice' THEN 3 ELSE 5 END); GRANT SELECT ON owned_$shard TO alice, app;");
my $hba = slurp_file($node[1]->data_dir . '/pg_hba.conf');
unlink $node[1]->data_dir . '/pg_hba.conf';
append_to_file($node[1]->data_dir . '/pg_hba.conf', "local all app scram-sha-256\n$hba");
$node[1]->reload;
sql(q{CREATE ROLE alice LOGIN; CREATE ROLE app LOGIN; CREATE ROLE bob LOGIN; CREATE ROLE carol LOGIN; CREATE ROLE nobody; GRANT SELECT ON owned TO alice, app, bob, nobody});
is((answer_of($hub, counted('owned')))[0], "10\nt", 'a superuser is one on nodes');
is((answer_of($hub, 'SET ROLE alice;' . counted('owned')))[0], "3\nt", 'a role connects as itself');
is((answer_of($hub, 'SET ROLE bob;' . counted('owned')))[0], '42501', 'a role without remote privileges');
is((answer_of($hub, 'SET ROLE carol;' . counted('owned')))[0], '42501', 'a role without local privileges');
is((answer_of($hub, 'SET ROLE app;' . counted('owned')))[0], '08001', 'an unknown password');
sql(q{INSERT INTO pg_dist_authinfo VALUES (0, 'alice', 'password=''a secret'''), (0, 'app', 'password=wrong'), (13, 'app', 'password=''of another''')});
is((answer_of($hub, 'SET ROLE app;' . counted('owned')))[0], '08001', 'a wrong one for all nodes');
sql(q{INSERT INTO pg_dist_authinfo VALUES (12, 'app', 'password=''a secret''')});
is((answer_of($hub, 'SET ROLE app;' . counted('owned')))[0], "5\nt", 'that of the node itself');
is((answer_of($hub, 'SET ROLE app; TABLE pg_dist_authinfo'))[0], '42501', '... which the role cannot read itself');
sql(q{UPDATE pg_dist_authinfo SET authinfo = 'password=''a secret'' nonsense' WHERE nodeid = 12});
my ($state, $message) = answer_of($hub, 'SET ROLE app;' . counted('owned'));
is($state, '22023', 'options that libpq rejects');
unlike($message, qr/secret/, '... are not shown');
sql(q{UPDATE pg_dist_authinfo SET authinfo = 'password=''a secret'' user=alice port=1 dbname=nowhere' WHERE nodeid = 12});
is((answer_of($hub, 'SET ROLE app;' . counted('owned')))[0], "5\nt", 'options cannot change the host or the role');
sql(q{CREATE FUNCTION as_alice() RETURNS numeric LANGUAGE sql SECURITY DEFINER AS $$ SELECT sum(degree) FROM emogi_degree('owned') $$; ALTER FUNCTION as_alice() OWNER TO alice});
is((answer_of($hub, 'SET ROLE bob; SELECT as_alice()'))[0], '3', 'a SECURITY DEFINER function');
is((answer_of($hub, 'SET ROLE nobody;' . counted('owned')))[0], "10\nf", 'a role that cannot log in: Citus reads');
sql('ALTER TABLE owned ENABLE ROW LEVEL SECURITY; CREATE POLICY few ON owned USING (src < 3)');
is((answer_of($hub, 'SET ROLE alice;' . counted('owned')))[0], "2\nf", 'local row security: Citus reads');

# Partitions: privileges on the named table do not apply to nodes of its partitions.
sql('GRANT SELECT ON parts TO alice');
is((answer_of($hub, 'SET ROLE alice; SELECT sum(degree) > 0 FROM emogi_degree(\'parts\'); SELECT from_network();'))[0], "t\nf", 'privileges on the partitioned table alone: Citus reads');

# A session opened by Citus for a part of a query does not know other changes of its transaction.
{
	local $ENV{PGAPPNAME} = 'citus_internal gpid=1';
	my $inside = sub { my ($sql) = @_; return $hub->safe_psql('postgres', $sql, connstr => $hub->connstr('postgres') . q{ application_name='citus_internal gpid=1'}) };

	is($inside->(counted('growing')), "3\nt", 'a single statement, in a session of Citus');
	is($inside->('BEGIN;' . counted('growing') . 'COMMIT'), "2\nf", 'one in a transaction: Citus reads');
	is($inside->("BEGIN; SET LOCAL application_name = 'mine';" . counted('growing') . 'COMMIT'), "2\nf", '... whatever its application_name');
}

# ------------------------------------------------------------------------------------------------- failures

like(slurp_file($node[1]->logfile), qr/SET LOCAL citus\.override_table_visibility = off/, 'shards cannot be hidden');
$node[2]->stop;
($state, $message) = answer_of($hub, counted('spread'));
is($state, '08001', 'an unreachable node');
like($message, qr/could not read shard "spread_\d+" from server "\Q${\$node[2]->host}\E:${\$node[2]->port}"/, '... is named');
is(sql('SET emogi.server_connections = 0;', counted('spread')), "40000\nf", '... and need not be read');
$node[2]->start;

# The pages of a Citus table on a remote server do not reflect its rows, so a foreign table of it is
# not read in ranges.
sql(server_of('loop', $hub), 'CREATE FOREIGN TABLE looped (src bigint, dst bigint, weight float8) SERVER loop OPTIONS (table_name \'spread\');',
	'CREATE TRIGGER truncate_trigger_1 AFTER TRUNCATE ON spread EXECUTE FUNCTION citus.citus_truncate_trigger();',
	'CREATE TABLE broad AS SELECT i AS src, i + 1 AS dst, 1::float8 AS weight FROM generate_series(1::bigint, 250000) i; CREATE FOREIGN TABLE broad_looped (src bigint, dst bigint, weight float8) SERVER loop OPTIONS (table_name \'broad\');');
like(sql('SET emogi.server_connections = 4;', "EXPLAIN (ANALYZE, COSTS OFF) SELECT * FROM emogi_degree('broad_looped')"), qr/Server Ranges: [2-9]\n/, 'a foreign table of many pages is read in ranges');
sql('CREATE TRIGGER truncate_trigger_2 AFTER TRUNCATE ON broad EXECUTE FUNCTION citus.citus_truncate_trigger()');
like(sql('SET emogi.server_connections = 4;', "EXPLAIN (ANALYZE, COSTS OFF) SELECT * FROM emogi_degree('broad_looped')"), qr/Server Connections: 1\n\s*Server Ranges: 1\n/, '... except one of a Citus table, which is read as a whole');
like(sql('SET emogi.server_connections = 4;', "EXPLAIN (ANALYZE, COSTS OFF) SELECT * FROM emogi_degree('looped')"), qr/Server Connections: 1\n\s*Server Ranges: 1\n/, 'a foreign table of a Citus table is read as a whole');
same($hub, '... and has all rows', 'looped', 'SELECT * FROM spread');

# Any role can set a setting that no library has defined.
$hub->adjust_conf('postgresql.conf', 'shared_preload_libraries', "'emogi'");
$hub->restart;
is(sql("SET citus.node_conninfo = 'host=/nowhere';", counted('growing')), "2\nf", 'undefined settings');
sql('DROP EXTENSION citus CASCADE');
is(sql('SET emogi.enable_cache = on;', counted('spread'), "SELECT cache FROM emogi_runs WHERE pid = pg_backend_pid() ORDER BY id DESC LIMIT 1"), "40000\nf\nbuilt", 'without Citus it is an ordinary table');

all_gone('at the end');
no_crash($_) for @node;
done_testing();
