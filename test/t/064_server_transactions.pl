# Transactions that read foreign tables: a transaction sees its own remote changes, by whichever
# method they were made and read; others do not see uncommitted changes; two reads in one REPEATABLE
# READ transaction see the same. Also a remote server that is a standby.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use EmogiTest;
use Servers;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $far = far_node('far', streaming => 1);
my $hub = hub_node('hub', 'max_prepared_transactions = 5', 'wal_level = replica', 'max_wal_senders = 5', 'hot_standby = on');

sub sql { return $hub->safe_psql('postgres', join("\n", @_)); }
sub far { return $far->safe_psql('postgres', join("\n", @_)); }

# A star: the search from 1 finds one vertex per row, and 1 itself.
far('CREATE TABLE star (src bigint, dst bigint);', 'CREATE TABLE star2 (src bigint, dst bigint);', 'CREATE TABLE base (src bigint, dst bigint);', 'CREATE VIEW of_base AS SELECT * FROM base;',
	'CREATE FUNCTION also() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO public.star2 VALUES (NEW.src, NEW.dst); RETURN NEW; END $$;');
sql(server_of('far', $far), (map { "CREATE FOREIGN TABLE $_ (src bigint, dst bigint) SERVER far;" } 'star', 'star2', 'of_base', 'base'), "CREATE FOREIGN TABLE same_star (dst bigint, src bigint) SERVER far OPTIONS (table_name 'star');",
	'CREATE VIEW seen AS SELECT * FROM star;', 'CREATE TABLE parts (src bigint, dst bigint) PARTITION BY LIST (src);', "CREATE FOREIGN TABLE part1 PARTITION OF parts FOR VALUES IN (1) SERVER far OPTIONS (table_name 'star');",
	"CREATE FOREIGN TABLE part2 PARTITION OF parts FOR VALUES IN (2) SERVER far OPTIONS (table_name 'star2');", 'CREATE TABLE part_here PARTITION OF parts DEFAULT;', 'CREATE TABLE here (x bigint);',
	q{CREATE FUNCTION add(k bigint) RETURNS void LANGUAGE plpgsql AS $$ BEGIN INSERT INTO star VALUES (1, k); END $$;
	CREATE FUNCTION add_sql(k bigint) RETURNS bigint LANGUAGE sql AS $$ INSERT INTO star VALUES (1, k) RETURNING dst $$;
	CREATE FUNCTION add_and_look(k bigint) RETURNS bigint LANGUAGE plpgsql AS $$ BEGIN INSERT INTO star VALUES (1, k); RETURN (SELECT count(*) FROM emogi_bfs('star', 1)); END $$;
	CREATE FUNCTION on_here() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO star VALUES (1, NEW.x); RETURN NEW; END $$;
	CREATE TRIGGER t AFTER INSERT ON here FOR EACH ROW EXECUTE FUNCTION on_here();
	CREATE PROCEDURE steps(OUT result text) LANGUAGE plpgsql AS $$
	DECLARE a bigint; b bigint; c bigint; d bigint;
	BEGIN
	  INSERT INTO star VALUES (1, 100);
	  SELECT count(*) INTO a FROM emogi_bfs('star', 1);
	  ROLLBACK;
	  SELECT count(*) INTO b FROM emogi_bfs('star', 1);
	  INSERT INTO star VALUES (1, 101);
	  COMMIT;
	  SELECT count(*) INTO c FROM emogi_bfs('star', 1);
	  DELETE FROM star WHERE dst = 101;
	  SELECT count(*) INTO d FROM emogi_bfs('star', 1);
	  COMMIT;
	  result := concat_ws(' ', a, b, c, d);
	END $$});

# Fill the remote table with ten rows, and empty the others.
sub fresh { far('TRUNCATE star, star2, base; INSERT INTO star SELECT 1, i + 1 FROM generate_series(1, 10) i; INSERT INTO base SELECT 1, i + 1 FROM generate_series(1, 4) i'); }

my $look = "SELECT count(*) FROM emogi_bfs('star', 1)";
my @numbers = reads_servers() ? (0, 1, 4) : 4;

# Check the answer to a session with each number of connections. begin => 0 leaves transaction
# control to the commands.
sub asked
{
	my ($name, $commands, $right, %how) = @_;

	for my $n (@numbers)
	{
		fresh();
		my $session = session($hub);
		# a read besides the session's own remote transaction could deadlock
		$session->ask("SET statement_timeout = '20s';" . connections($n));
		my $got = $session->ask(($how{begin} // 1) ? "BEGIN; $commands; ROLLBACK; $look" : "$commands; $look");
		is($got, "$right\n" . ($how{then} // 11), "$name, $n connections");
		$session->quit;
	}
}

asked('no change', $look, '11');
asked('INSERT', "INSERT INTO star VALUES (1, 100); $look", '12');
asked('INSERT by way of a foreign table that is dropped then', "CREATE FOREIGN TABLE gone (src bigint, dst bigint) SERVER far OPTIONS (table_name 'star'); INSERT INTO gone VALUES (1, 100); DROP FOREIGN TABLE gone; $look", '12');
asked('INSERT of many rows', "INSERT INTO star SELECT 1, 100 + i FROM generate_series(1, 500) i; $look", '511');
asked('INSERT after a look', "$look; INSERT INTO star VALUES (1, 100); $look", "11\n12");
asked('DELETE', "DELETE FROM star WHERE dst < 5; $look", '8');
asked('UPDATE that is sent', "UPDATE star SET src = 2 WHERE dst < 5; $look", '8');
asked('UPDATE row by row', "UPDATE star SET src = 2 WHERE dst < 5 + random() * 0; $look", '8');
asked('TRUNCATE', "INSERT INTO star2 VALUES (1, 2); TRUNCATE star; SELECT count(*) FROM emogi_cc('star')", '0');
asked('COPY', "COPY star FROM STDIN;\n1\t100\n1\t101\n\\.\n$look", '13');
asked('a prepared INSERT', "PREPARE i AS INSERT INTO star VALUES (1, \$1); EXECUTE i(100); EXECUTE i(101); $look", '13');
asked('INSERT by a function', "SELECT add(100); $look", "\n12");
asked('INSERT by a function in SQL', "SELECT add_sql(100); $look", "100\n12");
asked('INSERT in a WITH', "WITH i AS (INSERT INTO star VALUES (1, 100) RETURNING dst) SELECT dst FROM i; $look", "100\n12");
asked('INSERT by a trigger', "INSERT INTO here VALUES (100); $look", '12');
asked('INSERT through a view', "INSERT INTO seen VALUES (1, 100); $look", '12');
asked('INSERT through another foreign table', "INSERT INTO same_star VALUES (100, 1); $look", '12');
asked('INSERT through a partitioned table', "INSERT INTO parts VALUES (1, 100), (2, 1), (3, 1); $look; SELECT count(*) FROM emogi_bfs('parts', 1); SELECT sum(degree) FROM emogi_degree('parts')", "12\n12\n13");
asked('a row that moves between partitions', "INSERT INTO parts VALUES (3, 400); UPDATE parts SET src = 1 WHERE src = 3; SELECT count(*) FROM emogi_bfs('parts', 1)", '12');
asked('INSERT below a far view', "INSERT INTO base VALUES (1, 100); SELECT count(*) FROM emogi_bfs('of_base', 1)", '6');
asked('a call on another table after INSERT', "INSERT INTO star VALUES (1, 100); SELECT count(*) FROM emogi_bfs('base', 1)", '5');
asked('a call by a query', "INSERT INTO star VALUES (1, 100); SELECT count(*) FROM emogi_bfs('SELECT src, dst FROM star', 1)", '12');
asked('DELETE of what was inserted', "INSERT INTO star VALUES (1, 100), (1, 101); DELETE FROM star WHERE dst = 100; $look", '12');
asked('a rolled-back savepoint', "SAVEPOINT s; INSERT INTO star VALUES (1, 100); $look; ROLLBACK TO s; $look", "12\n11");
asked('a released savepoint', "SAVEPOINT s; INSERT INTO star VALUES (1, 100); RELEASE s; $look", '12');
asked('INSERT before a savepoint that is rolled back', "INSERT INTO star VALUES (1, 100); SAVEPOINT s; $look; ROLLBACK TO s; $look", "12\n12");
asked('a caught error', "DO \$\$ BEGIN INSERT INTO star VALUES (1, 100); BEGIN INSERT INTO star VALUES (1, 101); PERFORM 1 / 0; EXCEPTION WHEN division_by_zero THEN NULL; END; END \$\$; $look", '12');
asked('a DO block', "DO \$\$ DECLARE n bigint; BEGIN INSERT INTO star VALUES (1, 100); SELECT count(*) INTO n FROM emogi_bfs('star', 1); IF n <> 12 THEN RAISE 'n is %', n; END IF; DELETE FROM star WHERE dst = 100; END \$\$; $look", '11', begin => 0);
asked('INSERT and a call in one function', 'SELECT add_and_look(100)', '12', begin => 0, then => 12);
asked('... in a transaction', 'SELECT add_and_look(100); SELECT add_and_look(101)', "12\n13");
asked('... for each of several rows', 'SELECT add_and_look(100 + i) FROM generate_series(1, 3) i', "12\n13\n14");
asked('a procedure with COMMIT and ROLLBACK', 'CALL steps(NULL)', '12 11 12 11', begin => 0);
asked('INSERT that is committed', "BEGIN; INSERT INTO star VALUES (1, 100); $look; COMMIT; $look", "12\n12", begin => 0, then => 12);
asked('INSERT that is rolled back', "BEGIN; INSERT INTO star VALUES (1, 100); ROLLBACK; BEGIN; $look; COMMIT", '11', begin => 0);
asked('INSERT by itself', "INSERT INTO star VALUES (1, 100); $look", '12', begin => 0, then => 12);
asked('several commands in one message', "INSERT INTO star VALUES (1, 100)\\; $look", '12', begin => 0, then => 12);
asked('READ ONLY', "SET TRANSACTION READ ONLY; $look", '11');
asked('SERIALIZABLE', "SET TRANSACTION ISOLATION LEVEL SERIALIZABLE; $look; INSERT INTO star VALUES (1, 100); $look", "11\n12");
asked('SERIALIZABLE, READ ONLY, DEFERRABLE', "SET TRANSACTION ISOLATION LEVEL SERIALIZABLE, READ ONLY, DEFERRABLE; $look", '11');
asked('REPEATABLE READ', "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ; $look; INSERT INTO star VALUES (1, 100); $look", "11\n12");
asked('a cursor WITH HOLD', "BEGIN; DECLARE c CURSOR WITH HOLD FOR SELECT count(*) FROM emogi_bfs('star', 1); COMMIT; FETCH c", '11', begin => 0);
asked('a cursor across INSERT', "DECLARE c CURSOR FOR SELECT level FROM emogi_bfs('star', 1) ORDER BY level; FETCH c; INSERT INTO star VALUES (1, 100); FETCH c; $look", "0\n1\n12");
asked('a change here', "INSERT INTO part_here VALUES (5, 6); $look; SELECT sum(degree) FROM emogi_degree('parts')", "11\n11");
asked('CREATE TABLE here', "CREATE TABLE other (a int); $look", '11');
asked('EXPLAIN of INSERT', "EXPLAIN (COSTS OFF) INSERT INTO star VALUES (1, 100); $look", "Insert on star\n  ->  Result\n11");
asked('EXPLAIN ANALYZE of INSERT', "DO \$\$ DECLARE l text; BEGIN EXECUTE 'EXPLAIN ANALYZE INSERT INTO star VALUES (1, 100)' INTO l; END \$\$; $look", '12');
asked('a change with one setting, a read with another', (reads_servers() ? "SET LOCAL emogi.server_connections = 0; INSERT INTO star VALUES (1, 100); SET LOCAL emogi.server_connections = 4; " : 'INSERT INTO star VALUES (1, 100); ') . $look, '12');

# A foreign table locked by SELECT FOR UPDATE, and one that was read before.
asked('SELECT FOR UPDATE', "SELECT count(*) FROM (SELECT FROM star FOR UPDATE) s; $look", "10\n11");
asked('SELECT before', "SELECT count(*) FROM star; $look", "10\n11");

# Uncommitted changes of others, and their commit.
my $writer = session($far);
for my $n (@numbers)
{
	fresh();
	my $session = session($hub);
	$session->ask(connections($n)) if reads_servers();
	$writer->ask('BEGIN; INSERT INTO star VALUES (1, 100)');
	is($session->ask($look), '11', "uncommitted changes of another, $n connections");
	$writer->ask('COMMIT');
	is($session->ask($look), '12', "... and committed ones, $n connections");

	for my $level ('REPEATABLE READ', 'SERIALIZABLE', 'REPEATABLE READ, READ ONLY')
	{
		fresh();
		$session->ask("BEGIN ISOLATION LEVEL $level");
		is($session->ask($look), '11', "$level: the first call, $n connections");
		$writer->ask('INSERT INTO star VALUES (1, 100)');
		is($session->ask($look), '11', "$level: the second sees no more, $n connections");
		is($session->ask('SELECT count(*) FROM star'), '10', "$level: nor does a SELECT, $n connections");
		$session->ask('COMMIT');
		is($session->ask($look), '12', "$level: after it, $n connections");

		fresh();
		is($session->ask("BEGIN ISOLATION LEVEL $level; SELECT count(*) FROM star"), '10', "$level: a SELECT comes first, $n connections");
		$writer->ask('INSERT INTO star VALUES (1, 100)');
		is($session->ask($look), '11', "$level: the call sees the same as before, $n connections");
		$session->ask('COMMIT');
	}
	fresh();
	$session->ask('BEGIN');
	$session->ask($look);
	$writer->ask('INSERT INTO star VALUES (1, 100)');
	# postgres_fdw keeps its remote snapshot to the end of the transaction
	like($session->ask($look), qr/^1[12]$/, "READ COMMITTED: before or after, $n connections");
	$session->ask('COMMIT');
	is($session->ask($look), '12', "... after it, $n connections");

	# two calls of a statement, with a change between them
	fresh();
	my $both = $session->ask("SELECT (SELECT count(*) FROM emogi_bfs('star', 1)) = (SELECT count(*) FROM emogi_bfs('star', 1)), (SELECT count(*) FROM emogi_bfs('star', 1)) - (SELECT count(*) FROM star)");
	is($both, 't|1', "calls and a SELECT in one statement, $n connections");
	$session->quit;
}
$writer->quit;

# In a function without commits, in a session without a transaction block: each statement is a
# transaction, and no remote transaction is left open.
my $still = session($hub);
$still->ask($look);
ok(wait_until(5, sub { $far->safe_psql('postgres', q{SELECT count(*) FROM pg_stat_activity WHERE state LIKE 'idle in transaction%' OR (backend_type = 'client backend' AND xact_start IS NOT NULL AND pid <> pg_backend_pid())}) eq '0' }), 'no remote transaction is left open after a call');
# postgres_fdw prevents the preparation of a transaction that has used it
like($still->ask("BEGIN; $look; PREPARE TRANSACTION 'with a call'"), qr/^11(?:\nERROR:\s+0A000|$)/, 'a call in a prepared transaction');
$still->ask("ROLLBACK PREPARED 'with a call'");
$still->quit;

# ------------------------------------------------------------------------------------------------- a remote standby

fresh();
$far->backup('copy');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($far, 'copy', has_streaming => 1);
$standby->start;
far('CREATE TABLE big AS ' . edges(300000, 1));
$far->wait_for_catchup($standby);
sql(server_of('standby', $standby), q{CREATE FOREIGN TABLE there (src bigint, dst bigint, weight float8) SERVER standby OPTIONS (table_name 'big')});
same($hub, 'a server that is a standby', 'there', 'SELECT * FROM there');

# The local server is a standby, too.
$hub->backup('copy');
my $here = PostgreSQL::Test::Cluster->new('here');
$here->init_from_backup($hub, 'copy', has_streaming => 1);
$here->start;
is($here->safe_psql('postgres', connections($_) . $look), '11', "from a standby, $_ connections") for @numbers;
is($here->safe_psql('postgres', connections($_) . "BEGIN ISOLATION LEVEL REPEATABLE READ; $look; $look; COMMIT"), "11\n11", "... in a transaction, $_ connections") for @numbers;

all_gone('at the end');
$_->stop for $here, $hub, $standby, $far;
no_crash($hub);

done_testing();
