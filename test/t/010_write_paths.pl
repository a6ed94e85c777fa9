# Every known way to change a table, with a cached graph of it: the next call of another session is
# correct, and the call after that is a hit; operations that change nothing keep the hit. Each way
# is run twice, once while other sessions observe.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use EmogiTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = emogi_node('main', 'emogi.incremental_min_size = 1MB', 'max_prepared_transactions = 10', 'track_functions = none', "emogi.max_memory = '1GB'", 'wal_level = minimal', 'max_wal_senders = 0',
	'restart_after_crash = on');
my $port = $node->port;
my $host = $node->host;
my $space = $node->basedir . '/space';
mkdir $space or die "mkdir $space: $!";

$node->safe_psql('postgres', qq{CREATE TABLESPACE space LOCATION '$space'; CREATE EXTENSION IF NOT EXISTS dblink; CREATE EXTENSION IF NOT EXISTS postgres_fdw});
$node->safe_psql('postgres', q{
	ALTER DATABASE postgres SET search_path = w, public;
	ALTER DATABASE postgres SET client_min_messages = warning;
	SET check_function_bodies = off;
	CREATE FUNCTION add_edge() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN INSERT INTO edges (src, dst) VALUES (0, 150); RETURN new; END';
	CREATE FUNCTION add_edge(d bigint) RETURNS void LANGUAGE plpgsql AS 'BEGIN INSERT INTO edges (src, dst) VALUES (0, d); END';
	CREATE FUNCTION add_edge_uncounted() RETURNS void LANGUAGE plpgsql SET track_counts = off AS 'BEGIN INSERT INTO edges (src, dst) VALUES (0, 150); END';
	CREATE PROCEDURE add_and_commit(n int) LANGUAGE plpgsql AS 'BEGIN FOR i IN 1 .. n LOOP INSERT INTO edges (src, dst) VALUES (0, 150 + i); COMMIT; END LOOP; END';
	CREATE PROCEDURE add_and_alternate(n int) LANGUAGE plpgsql AS $$
	BEGIN
		FOR i IN 1 .. n LOOP
			INSERT INTO edges (src, dst) VALUES (0, 150 + i);
			IF i % 2 = 0 THEN ROLLBACK; ELSE COMMIT; END IF;
		END LOOP;
	END $$;
	CREATE PROCEDURE add_and_roll_back() LANGUAGE plpgsql AS 'BEGIN INSERT INTO edges (src, dst) VALUES (0, 150); ROLLBACK; END';
	CREATE FUNCTION volatile_writes() RETURNS int LANGUAGE plpgsql AS 'BEGIN INSERT INTO w.edges (src, dst) VALUES (0, 150); RETURN 1; END';
	CREATE FUNCTION definer_writes() RETURNS int LANGUAGE plpgsql SECURITY DEFINER AS 'BEGIN INSERT INTO w.edges (src, dst) VALUES (0, 150); RETURN 1; END';
	CREATE FUNCTION index_writes(int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS 'BEGIN PERFORM public.volatile_writes(); RETURN 1; END';
	CREATE FUNCTION event_writes() RETURNS event_trigger LANGUAGE plpgsql AS 'BEGIN PERFORM public.volatile_writes(); END';
	CREATE FUNCTION look_weights() RETURNS text LANGUAGE sql STABLE AS $$
		SELECT CASE WHEN g = t THEN 'right: ' || g ELSE 'WRONG: ' || g || ', table: ' || t END
		FROM (SELECT format('%s ends, sum %s', count(*), sum(vertex * distance)) AS g FROM emogi_sssp('edges', 0)) a,
			(SELECT format('%s ends, sum %s', count(*) + 1, sum(dst * w)) AS t
				FROM (SELECT dst, min(weight)::float8 AS w FROM edges WHERE src = 0 GROUP BY dst) m) b
	$$});

create_look($node);

my $tables = q{
	CREATE TABLE verts (id bigint PRIMARY KEY);
	INSERT INTO verts SELECT generate_series(1, 300);
	CREATE TABLE edges (id bigserial PRIMARY KEY, src bigint, dst bigint REFERENCES verts ON DELETE CASCADE ON UPDATE CASCADE);
	INSERT INTO edges (src, dst) SELECT 0, g FROM generate_series(1, 100) g};
my $plain = q{
	CREATE TABLE edges (id int, src int, dst int, spare int);
	INSERT INTO edges SELECT g, 0, g, 1000 + g FROM generate_series(1, 100) g;
	CREATE TABLE others (id int, src int, dst int, spare int);
	INSERT INTO others SELECT g, 0, 200 + g, 1 FROM generate_series(1, 100) g};

# ------------------------------------------------------------------------------------------------------ running a path

my $reader = session($node);    # READ COMMITTED, never in a transaction block
my $old = session($node);       # REPEATABLE READ, with a snapshot older than the path
my ($beside, $beside_hits) = (0, 0);
my $ways = $ENV{EMOGI_TEST_PATHS} // '';

# Would a reader have to wait?
sub is_locked
{
	return $reader->ask(q{SELECT count(*) FROM pg_locks WHERE granted AND mode = 'AccessExclusiveLock' AND locktype = 'relation'
		AND database = (SELECT oid FROM pg_database WHERE datname = current_database())}) ne '0';
}

# Run one path. Returns a list of errors.
sub go
{
	my ($watched, $expected, $sql, %opt) = @_;
	my $check = $opt{check} // 'look()';
	my @steps = ref $sql ? @$sql : split /;\s*/, $sql;
	my @wrong;
	my ($verdict, $cache, $before, $in_transaction, $failed);
	my $writer = session($node);

	$reader->ask('DROP SCHEMA IF EXISTS w CASCADE; CREATE SCHEMA w; CREATE TABLE other (a int); GRANT USAGE ON SCHEMA w TO PUBLIC');
	my $said = $reader->ask($opt{setup} // $tables);
	push @wrong, "setup: $said" if $said =~ /ERROR/;
	($before, $cache) = look($reader, $check);
	push @wrong, "first call: $before" unless $before =~ /^right/;
	($verdict, $cache) = look($reader, $check);
	push @wrong, "second call: $verdict, $cache" unless $verdict eq $before && $cache eq 'hit';
	$old->ask('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1 FROM pg_class LIMIT 1') if $watched && !$opt{no_old};

	my $commits = 0;
	$writer->ask("SET statement_timeout = '60s'");
	foreach my $step (@steps)
	{
		my $said = $writer->ask($step);
		my $error = $said =~ /^(?:ERROR|FATAL)/m;
		push @wrong, "$step: $said" if $error && !($opt{may_fail} && $step =~ $opt{may_fail});
		$in_transaction = 1 if $step =~ /^\s*(?:BEGIN|START)/;
		$failed = 1 if $error && $in_transaction;
		$failed = 0 if $step =~ /^\s*ROLLBACK/;
		$in_transaction = 0, $commits++ if $step =~ /^\s*(?:COMMIT|ROLLBACK(?! TO)|PREPARE TRANSACTION)/;
		$commits++ unless $in_transaction;
		next unless $watched;
		if (!is_locked() && !($opt{away} && $step !~ /TO edges/))
		{
			($verdict, $cache) = look($reader, $check);
			push @wrong, "another session, after $step: $verdict, $cache" unless $verdict =~ /^right/;
			$beside++, $beside_hits += $cache eq 'hit' if $in_transaction && !$commits;
		}
		if ($in_transaction && !$failed && !$opt{no_own})
		{
			($verdict, $cache) = look($writer, $check);
			push @wrong, "in the transaction, after $step: $verdict, $cache" unless $verdict =~ /^right/;
		}
	}
	if ($watched && !$opt{no_old})
	{
		foreach (1 .. 2)
		{
			($verdict, $cache) = look($old, $check);
			push @wrong, "old snapshot: $verdict, $cache" unless $verdict =~ /^right/;
		}
	}
	($verdict, $cache) = look($reader, $check);
	push @wrong, "afterwards: $verdict, $cache" unless $verdict =~ /^right/;
	push @wrong, "the path changed something: $before, then $verdict" if $expected ne 'changes' && $verdict ne $before;
	push @wrong, "the path changed nothing: $before" if $expected eq 'changes' && $verdict eq $before;
	push @wrong, "afterwards no hit: $cache" if $expected eq 'keeps' && $cache ne 'hit';
	my $answer = $verdict;
	if ($opt{then} // 1)
	{
		($verdict, $cache) = look($reader, $check);
		push @wrong, "at the end: $verdict, $cache" unless $verdict eq $answer && $cache eq 'hit';
	}
	$old->ask('COMMIT') if $watched && !$opt{no_old};
	if ($watched && ($opt{then} // 1))
	{
		($verdict, $cache) = look($reader, $check);
		push @wrong, "after the end of the old snapshot: $verdict, $cache" unless $verdict eq $answer && $cache eq 'hit';
	}
	$reader->ask($opt{cleanup}) if $opt{cleanup};
	$writer->quit;
	return @wrong;
}

# Test a path, alone and observed.
sub path
{
	my ($expected, $name, $sql, %opt) = @_;

	return if $name !~ /(?:$ways)/;
	return if $name =~ /MERGE|^SET ACCESS METHOD/ && $node->pg_version < 15;
	foreach my $watched (0, 1)
	{
		my @wrong = go($watched, $expected, $sql, %opt);
		ok(!@wrong, "$name ($expected" . ($watched ? ', watched)' : ')')) or diag join "\n", @wrong;
	}
}

# The answer changes; the answer and the hit stay; the answer stays, but the graph may be rebuilt.
sub changes { path('changes', @_) }
sub keeps { path('keeps', @_) }
sub may_rebuild { path('may rebuild', @_) }

# ----------------------------------------------------------------------------------------------------------------- rows

keeps('nothing', 'SELECT 1');
changes('INSERT', 'INSERT INTO edges (src, dst) VALUES (0, 150)');
changes('INSERT of no edge, then of one', 'INSERT INTO edges (src, dst) VALUES (0, NULL); INSERT INTO edges (src, dst) VALUES (0, 151)');
may_rebuild('INSERT of what is no edge', 'INSERT INTO edges (src, dst) VALUES (NULL, 1), (0, NULL)');
changes('UPDATE of a column without index (HOT)', 'UPDATE edges SET dst = dst + 100 WHERE id = 7');
changes('UPDATE of the primary key', 'UPDATE edges SET id = id + 100000, src = 1 WHERE id = 8');
changes('UPDATE of every row', 'UPDATE edges SET dst = dst + 100');
may_rebuild('UPDATE to the same values', 'UPDATE edges SET src = src WHERE id = 8');
may_rebuild('UPDATE of a column that is not read', 'UPDATE edges SET spare = 0 WHERE id = 7', setup => $plain);
keeps('UPDATE of no row', 'UPDATE edges SET src = 1 WHERE id = -1');
may_rebuild('UPDATE of no row and another write', 'BEGIN; UPDATE edges SET src = 1 WHERE id = -1; INSERT INTO other VALUES (1); COMMIT');
keeps('another write', 'INSERT INTO other VALUES (1)');
changes('DELETE', 'DELETE FROM edges WHERE id < 10');
changes('DELETE of every row', 'DELETE FROM edges');
changes('MERGE with UPDATE', 'MERGE INTO edges e USING (VALUES (3::bigint), (5000)) v (i) ON e.id = v.i WHEN MATCHED THEN UPDATE SET src = 999 WHEN NOT MATCHED THEN INSERT (src, dst) VALUES (1, 1)');
changes('MERGE with INSERT', 'MERGE INTO edges e USING (VALUES (5000)) v (i) ON e.id = v.i WHEN NOT MATCHED THEN INSERT (src, dst) VALUES (0, 150)');
changes('MERGE with DELETE', 'MERGE INTO edges e USING (VALUES (3)) v (i) ON e.id = v.i WHEN MATCHED THEN DELETE');
keeps('MERGE with DO NOTHING', 'MERGE INTO edges e USING (VALUES (3)) v (i) ON e.id = v.i WHEN MATCHED THEN DO NOTHING');
changes('INSERT ON CONFLICT DO UPDATE', 'INSERT INTO edges (id, src, dst) VALUES (3, 3, 3) ON CONFLICT (id) DO UPDATE SET src = 12345');
keeps('INSERT ON CONFLICT DO NOTHING', 'INSERT INTO edges (id, src, dst) VALUES (3, 3, 3) ON CONFLICT (id) DO NOTHING');
changes('INSERT ... SELECT from the answer', q{INSERT INTO edges (src, dst) SELECT 0, vertex + 100 FROM emogi_bfs('edges', 0) WHERE level = 1});
changes('DELETE by the answer', q{DELETE FROM edges e WHERE EXISTS (SELECT FROM emogi_bfs('edges', 0) b WHERE b.vertex = e.dst AND b.vertex % 2 = 0)});
changes('writable CTE', 'WITH d AS (DELETE FROM edges WHERE id = 5 RETURNING *) SELECT count(*) FROM d');
changes('data-modifying CTE with a call', q{WITH d AS (DELETE FROM edges WHERE id = 5 RETURNING *) SELECT (SELECT count(*) FROM d), count(*) FROM emogi_bfs('edges', 0)});
changes('cursor, UPDATE WHERE CURRENT OF', 'BEGIN; DECLARE c CURSOR FOR SELECT * FROM edges FOR UPDATE; FETCH 1 FROM c; UPDATE edges SET src = 777 WHERE CURRENT OF c; COMMIT');
keeps('SELECT FOR UPDATE', 'BEGIN; SELECT count(*) FROM (SELECT * FROM edges FOR UPDATE) e; COMMIT');
keeps('SELECT FOR UPDATE and another write', 'BEGIN; SELECT id FROM edges WHERE id = 4 FOR UPDATE; INSERT INTO other VALUES (1); COMMIT');
keeps('SELECT FOR KEY SHARE in a savepoint', 'BEGIN; SAVEPOINT a; SELECT id FROM edges WHERE id = 4 FOR KEY SHARE; RELEASE a; COMMIT');
changes('UNLOGGED INSERT', 'INSERT INTO edges (src, dst) VALUES (0, 150)', setup => "$tables; ALTER TABLE edges SET UNLOGGED");
changes('weights: UPDATE', 'UPDATE edges SET weight = weight + 1 WHERE id = 7', check => 'look_weights()', setup => "$plain; ALTER TABLE edges ADD weight float8 DEFAULT 2");
changes('weights: INSERT of a lighter edge', 'INSERT INTO edges VALUES (0, 0, 7, 0, 1)', check => 'look_weights()', setup => "$plain; ALTER TABLE edges ADD weight int DEFAULT 2");

# COPY
changes('COPY FROM STDIN', ["COPY edges (src, dst) FROM STDIN;\n0\t150\n0\t151\n\\.\n"]);
changes('COPY FROM STDIN FREEZE after TRUNCATE', [ 'BEGIN', 'TRUNCATE edges', "COPY edges (src, dst) FROM STDIN WITH (FREEZE);\n0\t150\n0\t151\n\\.\n", 'COMMIT' ]);
changes('COPY FREEZE into a new table of the same name',
	[ 'BEGIN', 'DROP TABLE edges', 'CREATE TABLE edges (src int, dst int)', "COPY edges FROM STDIN WITH (FREEZE);\n0\t150\n0\t151\n\\.\n", 'COMMIT' ], setup => $plain, no_own => 1);
changes('COPY FREEZE in a savepoint', [ 'BEGIN', 'SAVEPOINT a', 'TRUNCATE edges', "COPY edges (src, dst) FROM STDIN WITH (FREEZE);\n0\t150\n\\.\n", 'RELEASE a', 'COMMIT' ]);
keeps('COPY FREEZE rolled back', [ 'BEGIN', 'TRUNCATE edges', "COPY edges (src, dst) FROM STDIN WITH (FREEZE);\n0\t150\n\\.\n", 'ROLLBACK' ]);
keeps('COPY TO', q{COPY edges TO '/dev/null'});

# TRUNCATE
changes('TRUNCATE', 'TRUNCATE edges');
changes('TRUNCATE RESTART IDENTITY', 'TRUNCATE edges RESTART IDENTITY');
changes('TRUNCATE and INSERT', 'BEGIN; TRUNCATE edges; INSERT INTO edges (src, dst) VALUES (0, 150); COMMIT');
may_rebuild('TRUNCATE and the same rows again', 'BEGIN; CREATE TEMP TABLE t ON COMMIT DROP AS TABLE edges; TRUNCATE edges; INSERT INTO edges TABLE t; COMMIT');
changes('TRUNCATE twice', 'BEGIN; TRUNCATE edges; INSERT INTO edges (src, dst) VALUES (0, 150); TRUNCATE edges; INSERT INTO edges (src, dst) VALUES (0, 151); COMMIT');
keeps('TRUNCATE, ROLLBACK', 'BEGIN; TRUNCATE edges; ROLLBACK');
changes('TRUNCATE in a released savepoint', 'BEGIN; SAVEPOINT a; TRUNCATE edges; RELEASE a; COMMIT');
keeps('TRUNCATE in a savepoint rolled back', 'BEGIN; INSERT INTO other VALUES (1); SAVEPOINT a; TRUNCATE edges; ROLLBACK TO a; COMMIT');
changes('TRUNCATE rolled back, then INSERT', 'BEGIN; SAVEPOINT a; TRUNCATE edges; ROLLBACK TO a; INSERT INTO edges (src, dst) VALUES (0, 150); COMMIT');
changes('TRUNCATE of the referenced table, CASCADE', 'TRUNCATE verts CASCADE');

# Foreign keys, functions, triggers, rules.
changes('foreign key: ON DELETE CASCADE', 'DELETE FROM verts WHERE id = 3');
changes('foreign key: ON UPDATE CASCADE', 'UPDATE verts SET id = 1003 WHERE id = 3');
changes('foreign key: ON DELETE SET NULL', 'DELETE FROM verts WHERE id = 3',
	setup => "$tables; ALTER TABLE edges DROP CONSTRAINT edges_dst_fkey, ADD FOREIGN KEY (dst) REFERENCES verts ON DELETE SET NULL");
changes('foreign key: ON DELETE SET DEFAULT', 'DELETE FROM verts WHERE id = 3',
	setup => "$tables; ALTER TABLE edges ALTER dst SET DEFAULT 299, DROP CONSTRAINT edges_dst_fkey, ADD FOREIGN KEY (dst) REFERENCES verts ON DELETE SET DEFAULT");
keeps('foreign key: INSERT into the referenced table', 'INSERT INTO verts VALUES (1001)');
may_rebuild('foreign key: DELETE of what nothing refers to', 'INSERT INTO verts VALUES (1002); DELETE FROM verts WHERE id = 1002');
keeps('foreign key violated at COMMIT', 'BEGIN; INSERT INTO edges (src, dst) VALUES (0, 5000); COMMIT', may_fail => qr/COMMIT/,
	setup => "$tables; ALTER TABLE edges ALTER CONSTRAINT edges_dst_fkey DEFERRABLE INITIALLY DEFERRED");
changes('foreign key deferred: cascade at DELETE, check at COMMIT', 'BEGIN; INSERT INTO edges (src, dst) VALUES (0, 5000); INSERT INTO verts VALUES (5000); DELETE FROM verts WHERE id = 3; COMMIT',
	setup => "$tables; ALTER TABLE edges ALTER CONSTRAINT edges_dst_fkey DEFERRABLE INITIALLY DEFERRED");
changes('DO', ['DO $$ BEGIN INSERT INTO edges (src, dst) VALUES (0, 150); END $$']);
changes('function', 'SELECT add_edge(150)');
changes('function in a query that reads the result', q{SELECT add_edge(vertex + 100) FROM emogi_bfs('edges', 0) WHERE level = 1});
changes('SQL function', [q{CREATE FUNCTION w.add() RETURNS void LANGUAGE sql AS 'INSERT INTO edges (src, dst) VALUES (0, 150)'}, 'SELECT w.add()']);
changes('procedure with COMMIT', 'CALL add_and_commit(3)');
changes('procedure with COMMIT and ROLLBACK', 'CALL add_and_alternate(4)');
keeps('procedure with ROLLBACK', 'CALL add_and_roll_back()');
changes('DO with COMMIT', ['DO $$ BEGIN INSERT INTO edges (src, dst) VALUES (0, 150); COMMIT; INSERT INTO other VALUES (1); ROLLBACK; INSERT INTO edges (src, dst) VALUES (0, 151); END $$']);
keeps('DO with a caught exception', ['DO $$ BEGIN INSERT INTO other VALUES (1); BEGIN INSERT INTO edges (src, dst) VALUES (0, 150); RAISE EXCEPTION $x$x$x$; EXCEPTION WHEN OTHERS THEN NULL; END; END $$']);
changes('DO with many caught exceptions', ['DO $$ BEGIN FOR i IN 1 .. 100 LOOP BEGIN INSERT INTO edges (src, dst) VALUES (0, 150 + i); IF i % 3 = 0 THEN RAISE EXCEPTION $x$x$x$; END IF; EXCEPTION WHEN OTHERS THEN NULL; END; END LOOP; END $$']);
keeps('failing DO', ['DO $$ BEGIN INSERT INTO edges (src, dst) VALUES (0, 150); RAISE EXCEPTION $x$x$x$; END $$'], may_fail => qr/DO/);
my $on_other = 'CREATE TRIGGER t AFTER INSERT ON other FOR EACH ROW EXECUTE FUNCTION add_edge()';
changes('trigger on another table', 'INSERT INTO other VALUES (1)', setup => "$tables; $on_other");
changes('BEFORE trigger on another table', 'INSERT INTO other VALUES (1)', setup => "$tables; " . ($on_other =~ s/AFTER/BEFORE/r));
changes('statement trigger on another table', 'UPDATE other SET a = 1', setup => "$tables; CREATE TRIGGER t AFTER UPDATE ON other FOR EACH STATEMENT EXECUTE FUNCTION add_edge()");
changes('constraint trigger at COMMIT', 'BEGIN; INSERT INTO other VALUES (1); COMMIT', setup => "$tables; CREATE CONSTRAINT TRIGGER t AFTER INSERT ON other DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION add_edge()");
changes('constraint trigger at SET CONSTRAINTS', 'BEGIN; INSERT INTO other VALUES (1); SET CONSTRAINTS ALL IMMEDIATE; COMMIT', setup => "$tables; CREATE CONSTRAINT TRIGGER t AFTER INSERT ON other DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION add_edge()");
changes('INSTEAD OF trigger of a view', 'INSERT INTO v VALUES (1)', setup => "$tables; CREATE VIEW v AS TABLE other; CREATE TRIGGER t INSTEAD OF INSERT ON v FOR EACH ROW EXECUTE FUNCTION add_edge()");
changes('updatable view', 'INSERT INTO v VALUES (0, 150); UPDATE v SET dst = 151 WHERE dst = 150; DELETE FROM v WHERE dst = 3', setup => "$tables; CREATE VIEW v AS SELECT src, dst FROM edges");
changes('function of an index expression', 'CREATE INDEX ON other (index_writes(a))', setup => "$tables; INSERT INTO other VALUES (1)");
changes('function of an index expression, ANALYZE', 'ANALYZE other', setup => "$tables; INSERT INTO other VALUES (1); CREATE INDEX ON other (index_writes(a)); DELETE FROM edges WHERE dst = 150");
changes('function of a default with a table rewrite', 'ALTER TABLE other ADD z int DEFAULT volatile_writes()', setup => "$tables; INSERT INTO other VALUES (1)");
changes('function of a CHECK', 'ALTER TABLE other ADD CHECK (index_writes(a) = 1)', setup => "$tables; INSERT INTO other VALUES (1)");
changes('function of a row security policy', 'SET ROLE pg_monitor; SELECT count(*) FROM other; RESET ROLE', cleanup => 'REASSIGN OWNED BY pg_monitor TO CURRENT_USER',
	setup => "$tables; INSERT INTO other VALUES (1); ALTER TABLE other ENABLE ROW LEVEL SECURITY; CREATE POLICY p ON other USING (definer_writes() = 1); GRANT SELECT ON other TO pg_monitor");
changes('function of a view', 'SELECT * FROM v', setup => "$tables; CREATE VIEW v AS SELECT volatile_writes()");
changes('function of another materialized view', 'REFRESH MATERIALIZED VIEW v', setup => "$tables; CREATE MATERIALIZED VIEW v AS SELECT volatile_writes() WITH NO DATA");
changes('COPY of a data-modifying query', q{COPY (SELECT volatile_writes()) TO '/dev/null'});
changes('COPY of INSERT RETURNING', q{COPY (INSERT INTO edges (src, dst) VALUES (0, 150) RETURNING dst) TO '/dev/null'});
changes('EXPLAIN ANALYZE', 'EXPLAIN ANALYZE INSERT INTO edges (src, dst) VALUES (0, 150)');
keeps('EXPLAIN', 'EXPLAIN INSERT INTO edges (src, dst) VALUES (0, 150)');
changes('prepared statement', 'PREPARE p AS INSERT INTO edges (src, dst) VALUES (0, $1); EXECUTE p(150); DEALLOCATE p');
changes('event trigger', 'CREATE TABLE x (); DROP TABLE x', cleanup => 'DROP EVENT TRIGGER e', setup => "$tables; CREATE EVENT TRIGGER e ON ddl_command_end WHEN TAG IN ('CREATE TABLE') EXECUTE FUNCTION event_writes()");
changes('cursor WITH HOLD that writes at COMMIT', 'BEGIN; DECLARE c CURSOR WITH HOLD FOR SELECT volatile_writes(); COMMIT; CLOSE c');
changes('cursor read after another write', 'BEGIN; DECLARE c CURSOR FOR SELECT volatile_writes(); INSERT INTO other VALUES (1); FETCH c; COMMIT');
changes('rule on another table', 'INSERT INTO other VALUES (1)', setup => "$tables; CREATE RULE r AS ON INSERT TO other DO ALSO INSERT INTO edges (src, dst) VALUES (0, 150)");
may_rebuild('rule that redirects a write', 'INSERT INTO edges (id, src, dst) VALUES (-1, 0, 150)', setup => "$tables; CREATE RULE r AS ON INSERT TO edges DO INSTEAD INSERT INTO other VALUES (1)");

# Transactions
changes('savepoint released', 'BEGIN; SAVEPOINT a; INSERT INTO edges (src, dst) VALUES (0, 150); RELEASE a; COMMIT');
keeps('savepoint rolled back', 'BEGIN; INSERT INTO other VALUES (1); SAVEPOINT a; INSERT INTO edges (src, dst) VALUES (0, 150); ROLLBACK TO a; COMMIT');
keeps('savepoints nested, the outer rolled back', 'BEGIN; INSERT INTO other VALUES (1); SAVEPOINT a; SAVEPOINT b; INSERT INTO edges (src, dst) VALUES (0, 150); RELEASE b; ROLLBACK TO a; COMMIT');
changes('savepoints nested, the inner rolled back', 'BEGIN; SAVEPOINT a; INSERT INTO edges (src, dst) VALUES (0, 150); SAVEPOINT b; INSERT INTO edges (src, dst) VALUES (0, 151); ROLLBACK TO b; RELEASE a; COMMIT');
changes('savepoint without a write of the outer transaction', 'BEGIN; SAVEPOINT a; SAVEPOINT b; INSERT INTO edges (src, dst) VALUES (0, 150); RELEASE b; RELEASE a; COMMIT');
changes('inserted, then deleted in a rolled-back savepoint', 'BEGIN; INSERT INTO other VALUES (1); SAVEPOINT a; INSERT INTO edges (src, dst) VALUES (0, 150); SAVEPOINT b; DELETE FROM edges; ROLLBACK TO b; COMMIT');
keeps('ROLLBACK', 'BEGIN; INSERT INTO edges (src, dst) VALUES (0, 150); ROLLBACK');
keeps('COMMIT of a failed transaction', 'BEGIN; INSERT INTO edges (src, dst) VALUES (0, 150); SELECT 1 / 0; COMMIT', may_fail => qr/1 \/ 0/);
may_rebuild('INSERT and DELETE in one transaction', 'BEGIN; INSERT INTO edges (id, src, dst) VALUES (9999, 0, 150); DELETE FROM edges WHERE id = 9999; COMMIT');
changes('REPEATABLE READ', 'BEGIN ISOLATION LEVEL REPEATABLE READ; INSERT INTO edges (src, dst) VALUES (0, 150); COMMIT');
changes('SERIALIZABLE', 'BEGIN ISOLATION LEVEL SERIALIZABLE; INSERT INTO edges (src, dst) VALUES (0, 150); COMMIT');
changes('COMMIT AND CHAIN', 'BEGIN; INSERT INTO edges (src, dst) VALUES (0, 150); COMMIT AND CHAIN; INSERT INTO edges (src, dst) VALUES (0, 151); ROLLBACK');
changes('implicit transaction of several statements', ["INSERT INTO edges (src, dst) VALUES (0, 150)\\; INSERT INTO other VALUES (1)"]);
changes('asynchronous COMMIT', 'SET synchronous_commit = off; INSERT INTO edges (src, dst) VALUES (0, 150)');
changes('LOCK TABLE, INSERT', 'BEGIN; LOCK TABLE edges IN SHARE ROW EXCLUSIVE MODE; INSERT INTO edges (src, dst) VALUES (0, 150); COMMIT');
may_rebuild('LOCK TABLE IN ROW EXCLUSIVE MODE and another write', 'BEGIN; LOCK TABLE edges IN ROW EXCLUSIVE MODE; INSERT INTO other VALUES (1); COMMIT');
may_rebuild('LOCK TABLE and another write', 'BEGIN; LOCK TABLE edges; INSERT INTO other VALUES (1); COMMIT');
keeps('LOCK TABLE without a write', 'BEGIN; LOCK TABLE edges; COMMIT');
changes('prepared and committed', q{BEGIN; INSERT INTO edges (src, dst) VALUES (0, 150); PREPARE TRANSACTION 'x'; COMMIT PREPARED 'x'});
changes('prepared in a savepoint and committed', q{BEGIN; SAVEPOINT a; INSERT INTO edges (src, dst) VALUES (0, 150); RELEASE a; PREPARE TRANSACTION 'x'; COMMIT PREPARED 'x'});
keeps('prepared and rolled back', q{BEGIN; INSERT INTO edges (src, dst) VALUES (0, 150); PREPARE TRANSACTION 'x'; ROLLBACK PREPARED 'x'});
changes('two prepared, one committed', q{BEGIN; INSERT INTO edges (src, dst) VALUES (0, 150); PREPARE TRANSACTION 'x'; BEGIN; INSERT INTO edges (src, dst) VALUES (0, 151); PREPARE TRANSACTION 'y'; COMMIT PREPARED 'y'; ROLLBACK PREPARED 'x'});
changes('TRUNCATE prepared and committed', q{BEGIN; TRUNCATE edges; PREPARE TRANSACTION 'x'; COMMIT PREPARED 'x'});
keeps('TRUNCATE prepared and rolled back', q{BEGIN; TRUNCATE edges; PREPARE TRANSACTION 'x'; ROLLBACK PREPARED 'x'});
changes('track_counts off', 'SET track_counts = off; INSERT INTO edges (src, dst) VALUES (0, 150)');
changes('track_counts off around the write', 'BEGIN; SET track_counts = off; INSERT INTO edges (src, dst) VALUES (0, 150); SET track_counts = on; COMMIT');
changes('track_counts off at the end', 'BEGIN; INSERT INTO edges (src, dst) VALUES (0, 150); SET track_counts = off; COMMIT');
changes('function with SET track_counts = off', 'SELECT add_edge_uncounted()');
changes('emogi.enable_cache off', 'SET emogi.enable_cache = off; INSERT INTO edges (src, dst) VALUES (0, 150)');
changes('everything off', q{SET jit = off; SET emogi.enable_cache = off; SET track_activities = off; SET default_transaction_isolation = 'serializable'; INSERT INTO edges (src, dst) VALUES (0, 150)});
changes('READ ONLY after the write', 'BEGIN; INSERT INTO edges (src, dst) VALUES (0, 150); SET TRANSACTION READ ONLY; COMMIT');
changes('session_replication_role = replica', 'SET session_replication_role = replica; INSERT INTO edges (src, dst) VALUES (0, 150)');
changes('statistics reset after the write', 'BEGIN; INSERT INTO edges (src, dst) VALUES (0, 150); SELECT pg_stat_reset(); COMMIT');

# Through other servers, here the same one.
my $connection = "dbname=postgres host=$host port=$port";
changes('dblink', "SELECT dblink_exec('$connection', 'INSERT INTO edges (src, dst) VALUES (0, 150)')");
changes('dblink, in a transaction that is rolled back', "BEGIN; INSERT INTO other VALUES (1); SELECT dblink_exec('$connection', 'INSERT INTO edges (src, dst) VALUES (0, 150)'); ROLLBACK");
my $loop = "CREATE SERVER loop FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '$host', port '$port', dbname 'postgres');
	CREATE USER MAPPING FOR CURRENT_USER SERVER loop; CREATE FOREIGN TABLE far (src bigint, dst bigint) SERVER loop OPTIONS (schema_name 'w', table_name 'edges')";
changes('postgres_fdw', 'BEGIN; INSERT INTO far VALUES (0, 150); COMMIT', setup => "$plain; $loop", cleanup => 'DROP SERVER loop CASCADE');
keeps('postgres_fdw, rolled back', 'BEGIN; INSERT INTO far VALUES (0, 150); ROLLBACK', setup => "$plain; $loop", cleanup => 'DROP SERVER loop CASCADE');

# ------------------------------------------------------------------------------------------------- maintenance and DDL

keeps('VACUUM', 'VACUUM edges');
keeps('VACUUM FREEZE', 'VACUUM FREEZE edges');
keeps('VACUUM that shortens the file', 'VACUUM edges', setup => "$plain; INSERT INTO edges SELECT 0, 0, 1, 0 FROM generate_series(1, 10000); DELETE FROM edges WHERE id = 0");
keeps('ANALYZE', 'ANALYZE edges');
keeps('VACUUM ANALYZE of the database', 'VACUUM ANALYZE');
keeps('CHECKPOINT', 'CHECKPOINT');
may_rebuild('VACUUM FULL', 'VACUUM FULL edges');
changes('DELETE, VACUUM FULL', 'DELETE FROM edges WHERE id > 50; VACUUM FULL edges');
may_rebuild('CLUSTER', 'CLUSTER edges USING edges_pkey');
keeps('CREATE INDEX', 'CREATE INDEX ON edges (src)');
keeps('REINDEX', 'REINDEX TABLE edges');
keeps('CREATE INDEX CONCURRENTLY', 'CREATE INDEX CONCURRENTLY ON edges (src)', no_old => 1);
keeps('REINDEX CONCURRENTLY', 'REINDEX TABLE CONCURRENTLY edges', no_old => 1);
keeps('COMMENT and GRANT', q{COMMENT ON TABLE edges IS 'x'; GRANT SELECT ON edges TO PUBLIC});
keeps('GRANT', 'GRANT SELECT ON edges TO PUBLIC; GRANT INSERT (src) ON edges TO PUBLIC; REVOKE ALL ON edges FROM PUBLIC');
keeps('SET STATISTICS', 'ALTER TABLE edges ALTER src SET STATISTICS 10');
keeps('SET (fillfactor)', 'ALTER TABLE edges SET (fillfactor = 50)');
keeps('CREATE STATISTICS', 'CREATE STATISTICS s ON src, dst FROM edges');
keeps('VALIDATE CONSTRAINT', 'ALTER TABLE edges VALIDATE CONSTRAINT c', setup => "$tables; ALTER TABLE edges ADD CONSTRAINT c CHECK (src = 0) NOT VALID");
may_rebuild('ADD CONSTRAINT', 'ALTER TABLE edges ADD CHECK (src = 0)');
may_rebuild('CREATE TRIGGER, DISABLE TRIGGER', 'CREATE TRIGGER t AFTER INSERT ON edges FOR EACH ROW EXECUTE FUNCTION add_edge(); ALTER TABLE edges DISABLE TRIGGER t');
may_rebuild('CREATE PUBLICATION', 'CREATE PUBLICATION p FOR TABLE edges', cleanup => 'DROP PUBLICATION p');
may_rebuild('ADD COLUMN', 'ALTER TABLE edges ADD z int');
may_rebuild('ADD COLUMN with a default', 'ALTER TABLE edges ADD z int DEFAULT 7');
may_rebuild('ADD COLUMN that rewrites', 'ALTER TABLE edges ADD z float8 DEFAULT random()');
may_rebuild('DROP COLUMN', 'ALTER TABLE edges DROP spare', setup => $plain);
keeps('ADD COLUMN, ROLLBACK', 'BEGIN; ALTER TABLE edges ADD z float8 DEFAULT random(); ROLLBACK');
changes('DROP COLUMN and ADD COLUMN with a default, without rewrite', 'BEGIN; ALTER TABLE edges DROP dst; ALTER TABLE edges ADD dst int DEFAULT 7; COMMIT', setup => $plain, no_own => 1);
changes('DROP COLUMN and ADD COLUMN, one statement', 'ALTER TABLE edges DROP dst, ADD dst bigint', setup => $plain);
changes('DROP COLUMN, RENAME of another', 'BEGIN; ALTER TABLE edges DROP dst; ALTER TABLE edges RENAME spare TO dst; COMMIT', setup => $plain, no_own => 1);
changes('RENAME COLUMN: two columns swap names', 'BEGIN; ALTER TABLE edges RENAME dst TO x; ALTER TABLE edges RENAME spare TO dst; ALTER TABLE edges RENAME x TO spare; COMMIT', setup => $plain, no_own => 1);
changes('RENAME COLUMN: src and dst swap names', ['DO $$ BEGIN ALTER TABLE edges RENAME dst TO x; ALTER TABLE edges RENAME src TO dst; ALTER TABLE edges RENAME x TO src; END $$'],
	setup => "$plain; INSERT INTO edges VALUES (0, 150, 0, 0)");
changes('ALTER TYPE USING', 'ALTER TABLE edges ALTER dst TYPE bigint USING dst * 2 + 1', setup => $plain);
may_rebuild('ALTER TYPE int to bigint', 'ALTER TABLE edges ALTER src TYPE bigint, ALTER dst TYPE bigint', setup => $plain);
may_rebuild('ALTER TYPE bigint to smallint', 'ALTER TABLE edges DROP CONSTRAINT edges_dst_fkey, ALTER src TYPE smallint, ALTER dst TYPE smallint');
changes('ALTER TYPE to text and back', 'BEGIN; ALTER TABLE edges ALTER dst TYPE text USING (dst + 1)::text; ALTER TABLE edges ALTER dst TYPE bigint USING dst::bigint; COMMIT', setup => $plain, no_own => 1);
keeps('ALTER TYPE, ROLLBACK', 'BEGIN; ALTER TABLE edges ALTER dst TYPE bigint USING dst * 2; ROLLBACK', setup => $plain);
changes('ALTER TYPE and INSERT', 'BEGIN; ALTER TABLE edges ALTER dst TYPE bigint; INSERT INTO edges VALUES (0, 0, 150, 0); COMMIT', setup => $plain);
may_rebuild('SET UNLOGGED, SET LOGGED', 'ALTER TABLE edges SET UNLOGGED; ALTER TABLE edges SET LOGGED');
may_rebuild('SET TABLESPACE', 'ALTER TABLE edges SET TABLESPACE space');
changes('INSERT and SET TABLESPACE', 'BEGIN; INSERT INTO edges (src, dst) VALUES (0, 150); ALTER TABLE edges SET TABLESPACE space; COMMIT');
may_rebuild('SET TABLESPACE and back', 'ALTER TABLE edges SET TABLESPACE space; ALTER TABLE edges SET TABLESPACE pg_default');
may_rebuild('SET ACCESS METHOD', 'ALTER TABLE edges SET ACCESS METHOD heap');
keeps('ENABLE ROW LEVEL SECURITY, for its owner', 'ALTER TABLE other ENABLE ROW LEVEL SECURITY');
may_rebuild('ENABLE ROW LEVEL SECURITY and DISABLE', 'ALTER TABLE edges ENABLE ROW LEVEL SECURITY; ALTER TABLE edges DISABLE ROW LEVEL SECURITY');
may_rebuild('OWNER TO', 'ALTER TABLE edges OWNER TO pg_monitor', setup => $plain);
changes('RENAME, INSERT, and back', 'BEGIN; ALTER TABLE edges RENAME TO x; COMMIT; INSERT INTO x (src, dst) VALUES (0, 150); BEGIN; ALTER TABLE x RENAME TO edges; COMMIT', no_own => 1, away => 1);
may_rebuild('RENAME and back', 'BEGIN; ALTER TABLE edges RENAME TO x; ALTER TABLE x RENAME TO edges; COMMIT', no_own => 1);
changes('RENAME: two tables swap names', 'BEGIN; ALTER TABLE edges RENAME TO x; ALTER TABLE others RENAME TO edges; ALTER TABLE x RENAME TO others; COMMIT', setup => $plain, no_own => 1);
changes('RENAME: two tables swap names, one statement', ['DO $$ BEGIN ALTER TABLE edges RENAME TO x; ALTER TABLE others RENAME TO edges; ALTER TABLE x RENAME TO others; END $$'], setup => $plain);
changes('RENAME: two cached tables swap names', [q{SELECT count(*) FROM emogi_bfs('others', 0)}, 'DO $$ BEGIN ALTER TABLE edges RENAME TO x; ALTER TABLE others RENAME TO edges; ALTER TABLE x RENAME TO others; END $$'], setup => $plain);
changes('RENAME of schemas', ['DO $$ BEGIN ALTER SCHEMA w RENAME TO x; CREATE SCHEMA w; CREATE TABLE w.edges AS SELECT 0 AS src, 5 AS dst; END $$'], setup => $plain, cleanup => 'DROP SCHEMA x CASCADE');
changes('another schema becomes first in search_path', 'CREATE TABLE w.edges AS SELECT 0 AS src, 5 AS dst', setup => 'CREATE TABLE public.edges AS SELECT 0 AS src, g AS dst FROM generate_series(1, 9) g', cleanup => 'DROP TABLE public.edges');
changes('DROP and CREATE', ['DO $$ BEGIN DROP TABLE edges; CREATE TABLE edges AS SELECT 0 AS src, g AS dst FROM generate_series(1, 9) g; END $$'], setup => $plain);
changes('DROP in a savepoint rolled back, after a write', 'BEGIN; INSERT INTO edges VALUES (0, 0, 150, 0); SAVEPOINT s; DROP TABLE edges; ROLLBACK TO s; COMMIT', setup => $plain, no_own => 1);
# DROP evicts immediately, even if it is rolled back.
may_rebuild('DROP, ROLLBACK', 'BEGIN; DROP TABLE edges; ROLLBACK', setup => $plain, no_own => 1);
keeps('RENAME, ROLLBACK', 'BEGIN; ALTER TABLE edges RENAME TO x; ROLLBACK', setup => $plain, no_own => 1);
may_rebuild('DROP and CREATE, ROLLBACK', 'BEGIN; DROP TABLE edges; CREATE TABLE edges AS SELECT 0 AS src, g AS dst FROM generate_series(1, 9) g; ROLLBACK', setup => $plain, no_own => 1);
changes('CREATE TABLE LIKE, INSERT, change of names', [ 'CREATE TABLE x (LIKE edges INCLUDING ALL)', 'INSERT INTO x SELECT * FROM edges WHERE id > 7', 'DO $$ BEGIN DROP TABLE edges; ALTER TABLE x RENAME TO edges; END $$' ], setup => $plain);
changes('swap of relation files, as in pg_repack', [ 'BEGIN', 'LOCK TABLE edges, others', q{UPDATE pg_class SET relfilenode = CASE relname WHEN 'edges' THEN pg_relation_filenode('others') ELSE pg_relation_filenode('edges') END
	WHERE oid IN ('edges'::regclass, 'others'::regclass)}, 'COMMIT' ], setup => $plain);
my $exchange = q{DO $$ BEGIN LOCK TABLE edges, others; UPDATE pg_class SET relfilenode = CASE relname WHEN 'edges' THEN pg_relation_filenode('others') ELSE pg_relation_filenode('edges') END
	WHERE oid IN ('edges'::regclass, 'others'::regclass); END $$};
changes('exchange of the files, INSERT, and back', [ $exchange, 'INSERT INTO others VALUES (0, 0, 150, 0)', $exchange ], setup => $plain);
changes('parallel CREATE TABLE AS, INSERT from it', 'SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0; CREATE TABLE n AS SELECT src, dst + 100 AS dst FROM edges WHERE dst % 2 = 0; INSERT INTO edges SELECT 0, src, dst, 0 FROM n', setup => $plain);
changes('a table becomes a view', 'TRUNCATE edges; CREATE RULE "_RETURN" AS ON SELECT TO edges DO INSTEAD SELECT src, dst FROM others', then => 0,
	setup => 'CREATE TABLE others AS SELECT 0 AS src, 200 + g AS dst FROM generate_series(1, 9) g; CREATE TABLE edges AS SELECT 0 AS src, 1 AS dst') if $node->pg_version < 16;
changes('a table becomes a view of the same name', ['DO $$ BEGIN DROP TABLE edges; CREATE VIEW edges AS TABLE others; END $$'], setup => $plain, then => 0);

# Materialized views
my $matview = 'CREATE TABLE base (src int, dst int, id int); INSERT INTO base SELECT 0, g, g FROM generate_series(1, 100) g; CREATE MATERIALIZED VIEW edges AS TABLE base; CREATE UNIQUE INDEX ON edges (id)';
changes('REFRESH MATERIALIZED VIEW', 'INSERT INTO base VALUES (0, 150, 150); REFRESH MATERIALIZED VIEW edges', setup => $matview);
may_rebuild('REFRESH MATERIALIZED VIEW without a change', 'REFRESH MATERIALIZED VIEW edges', setup => $matview);
changes('REFRESH MATERIALIZED VIEW CONCURRENTLY', 'INSERT INTO base VALUES (0, 150, 150); REFRESH MATERIALIZED VIEW CONCURRENTLY edges', setup => $matview);
keeps('materialized view: the table below changes', 'INSERT INTO base VALUES (0, 150, 150)', setup => $matview);
keeps('REFRESH MATERIALIZED VIEW, ROLLBACK', 'BEGIN; INSERT INTO base VALUES (0, 150, 150); REFRESH MATERIALIZED VIEW edges; ROLLBACK', setup => $matview);

# ------------------------------------------------------------------------------------------------- partitions and inheritance

my $parts = q{
	CREATE TABLE roots (id serial, src bigint, dst bigint) PARTITION BY RANGE (dst);
	CREATE TABLE edges PARTITION OF roots FOR VALUES FROM (0) TO (100);
	CREATE TABLE e2 PARTITION OF roots FOR VALUES FROM (100) TO (1000);
	INSERT INTO roots (src, dst) SELECT 0, g * 10 FROM generate_series(1, 50) g};
changes('leaf: INSERT through the root', 'INSERT INTO roots (src, dst) VALUES (0, 55)', setup => $parts);
keeps('leaf: INSERT through the root, another leaf', 'INSERT INTO roots (src, dst) VALUES (0, 555)', setup => $parts);
changes('leaf: UPDATE moves a row in', 'UPDATE roots SET dst = 55 WHERE dst = 150', setup => $parts);
changes('leaf: UPDATE moves a row out', 'UPDATE roots SET dst = 155 WHERE dst = 50', setup => $parts);
changes('leaf: DELETE through the root', 'DELETE FROM roots WHERE dst = 50', setup => $parts);
keeps('leaf: UPDATE through the root, another leaf', 'UPDATE roots SET src = 1 WHERE dst = 150', setup => $parts);
changes('leaf: TRUNCATE of the root', 'TRUNCATE roots', setup => $parts);
may_rebuild('leaf: DETACH', 'ALTER TABLE roots DETACH PARTITION edges', setup => $parts);

# The argument is the root. e1 has its columns in another order after a dropped one; e3 has leaves
# of its own.
my $root = q{
	CREATE TABLE edges (id bigserial, src bigint, dst bigint) PARTITION BY RANGE (dst);
	CREATE TABLE e1 (gone text, dst bigint, gap int, src bigint, id bigint NOT NULL DEFAULT 0);
	ALTER TABLE e1 DROP gone, DROP gap;
	ALTER TABLE edges ATTACH PARTITION e1 FOR VALUES FROM (0) TO (100);
	CREATE TABLE e2 PARTITION OF edges FOR VALUES FROM (100) TO (200);
	CREATE TABLE e3 PARTITION OF edges FOR VALUES FROM (200) TO (300) PARTITION BY LIST (src);
	CREATE TABLE e3a PARTITION OF e3 FOR VALUES IN (0);
	CREATE TABLE e3b PARTITION OF e3 DEFAULT;
	INSERT INTO edges (src, dst) SELECT 0, g * 10 + 1 FROM generate_series(1, 28) g;
	INSERT INTO edges (src, dst) VALUES (7, 222);
	CREATE TABLE loose (id bigint NOT NULL DEFAULT 0, src bigint, dst bigint);
	INSERT INTO loose VALUES (1, 0, 301), (2, 0, 302)};
foreach my $leaf ([ 'e1', 55 ], [ 'e2', 155 ], [ 'e3a', 255 ])
{
	my ($table, $key) = @$leaf;
	my $end = $key - 4;
	changes("root: INSERT, leaf $table", "INSERT INTO edges (src, dst) VALUES (0, $key)", setup => $root);
	changes("root: INSERT into leaf $table", "INSERT INTO $table (src, dst) VALUES (0, $key)", setup => $root);
	changes("root: UPDATE, leaf $table", "UPDATE edges SET dst = dst + 1 WHERE dst = $end", setup => $root);
	changes("root: UPDATE of leaf $table", "UPDATE $table SET dst = dst + 1 WHERE dst = $end", setup => $root);
	changes("root: DELETE, leaf $table", "DELETE FROM edges WHERE dst = $end", setup => $root);
	changes("root: DELETE from leaf $table", "DELETE FROM $table WHERE dst = $end", setup => $root);
	changes("root: COPY into leaf $table", ["COPY $table (src, dst) FROM STDIN;\n0\t$key\n\\.\n"], setup => $root);
	changes("root: TRUNCATE of leaf $table", "TRUNCATE $table", setup => $root);
	keeps("root: TRUNCATE of leaf $table, ROLLBACK", "BEGIN; TRUNCATE $table; ROLLBACK", setup => $root);
	keeps("root: VACUUM of leaf $table", "VACUUM $table", setup => $root);
	may_rebuild("root: VACUUM FULL of leaf $table", "VACUUM FULL $table", setup => $root);
	may_rebuild("root: RENAME of leaf $table", "ALTER TABLE $table RENAME TO x", setup => $root);
	changes("root: DROP of leaf $table", "DROP TABLE $table", setup => $root);
	changes("root: leaf $table in a prepared transaction", "BEGIN; INSERT INTO $table (src, dst) VALUES (0, $key); PREPARE TRANSACTION 'x'; COMMIT PREPARED 'x'", setup => $root);
}
changes('root: INSERT into a partitioned partition', 'INSERT INTO e3 (src, dst) VALUES (0, 255)', setup => $root);
changes('root: COPY', ["COPY edges (src, dst) FROM STDIN;\n0\t55\n0\t155\n\\.\n"], setup => $root);
changes('root: UPDATE moves a row to another leaf', 'UPDATE edges SET dst = 255 WHERE dst = 51', setup => $root);
changes('root: UPDATE moves rows to another leaf of the same partition', 'UPDATE edges SET src = 0 WHERE src = 7', setup => $root);
changes('root: MERGE', 'MERGE INTO edges e USING (VALUES (51), (161), (299)) v (i) ON e.dst = v.i WHEN MATCHED THEN DELETE WHEN NOT MATCHED THEN INSERT (src, dst) VALUES (0, v.i)', setup => $root);
changes('root: TRUNCATE', 'TRUNCATE edges', setup => $root);
keeps('root: TRUNCATE, ROLLBACK', 'BEGIN; TRUNCATE edges; ROLLBACK', setup => $root);
changes('root: ATTACH', 'ALTER TABLE edges ATTACH PARTITION loose FOR VALUES FROM (300) TO (400)', setup => $root);
keeps('root: ATTACH, ROLLBACK', 'BEGIN; ALTER TABLE edges ATTACH PARTITION loose FOR VALUES FROM (300) TO (400); ROLLBACK', setup => $root);
changes('root: ATTACH to a partition', 'ALTER TABLE e3 DETACH PARTITION e3a; UPDATE e3a SET dst = dst + 1; ALTER TABLE e3 ATTACH PARTITION e3a FOR VALUES IN (0)', setup => $root);
changes('root: DETACH', 'ALTER TABLE edges DETACH PARTITION e1', setup => $root);
changes('root: DETACH of a partition with leaves', 'ALTER TABLE edges DETACH PARTITION e3', setup => $root);
changes('root: DETACH from a partition', 'ALTER TABLE e3 DETACH PARTITION e3a', setup => $root);
keeps('root: DETACH, ROLLBACK', 'BEGIN; ALTER TABLE edges DETACH PARTITION e1; ROLLBACK', setup => $root);
changes('root: DETACH CONCURRENTLY', 'ALTER TABLE edges DETACH PARTITION e1 CONCURRENTLY', setup => $root);
changes('root: DETACH, INSERT into what was a leaf', 'ALTER TABLE edges DETACH PARTITION e1; INSERT INTO e1 (src, dst) VALUES (0, 55)', setup => $root);
may_rebuild('root: DETACH and ATTACH', 'BEGIN; ALTER TABLE edges DETACH PARTITION e1; ALTER TABLE edges ATTACH PARTITION e1 FOR VALUES FROM (0) TO (100); COMMIT', setup => $root);
changes('root: DETACH, INSERT, ATTACH', 'ALTER TABLE edges DETACH PARTITION e1; INSERT INTO e1 (src, dst) VALUES (0, 55); ALTER TABLE edges ATTACH PARTITION e1 FOR VALUES FROM (0) TO (100)', setup => $root);
changes('root: DETACH CONCURRENTLY, INSERT, ATTACH', 'ALTER TABLE edges DETACH PARTITION e1 CONCURRENTLY; INSERT INTO e1 (src, dst) VALUES (0, 55); ALTER TABLE edges ATTACH PARTITION e1 FOR VALUES FROM (0) TO (100)', setup => $root);
changes('root: exchange of a partition', 'BEGIN; ALTER TABLE edges DETACH PARTITION e1; UPDATE loose SET dst = dst - 300; ALTER TABLE edges ATTACH PARTITION loose FOR VALUES FROM (0) TO (100); COMMIT', setup => $root);
changes('root: a new leaf', 'CREATE TABLE e4 PARTITION OF edges FOR VALUES FROM (300) TO (400); INSERT INTO edges (src, dst) VALUES (0, 333)', setup => $root);
changes('root: a new leaf of a partition', 'CREATE TABLE e3c PARTITION OF e3 FOR VALUES IN (9); INSERT INTO e3c (src, dst) VALUES (9, 244); UPDATE edges SET src = 0 WHERE src = 9', setup => $root);
may_rebuild('root: a new and empty leaf', 'CREATE TABLE e4 PARTITION OF edges FOR VALUES FROM (300) TO (400)', setup => $root);
changes('root: DEFAULT partition', 'CREATE TABLE e4 PARTITION OF edges DEFAULT; INSERT INTO edges (src, dst) VALUES (0, 999)', setup => $root);
keeps('root: VACUUM', 'VACUUM edges', setup => $root);
keeps('root: ANALYZE', 'ANALYZE edges', setup => $root);
keeps('root: CREATE INDEX', 'CREATE INDEX ON edges (src)', setup => $root);
may_rebuild('root: ADD COLUMN', 'ALTER TABLE edges ADD z int DEFAULT 7', setup => $root);
changes('root: RENAME COLUMN, src and id swap names', ['DO $$ BEGIN ALTER TABLE edges RENAME src TO x; ALTER TABLE edges RENAME id TO src; ALTER TABLE edges RENAME x TO id; END $$'], setup => $root);
changes('root: two roots swap names', ['DO $$ BEGIN CREATE TABLE x (LIKE edges) PARTITION BY RANGE (dst); CREATE TABLE x1 PARTITION OF x DEFAULT; INSERT INTO x (id, src, dst) VALUES (1, 0, 7); ALTER TABLE edges RENAME TO y; ALTER TABLE x RENAME TO edges; END $$'], setup => $root);
changes('root: two leaves are exchanged', ['DO $$ BEGIN ALTER TABLE edges DETACH PARTITION e2; ALTER TABLE e2 RENAME TO x; ALTER TABLE loose RENAME TO e2; UPDATE e2 SET dst = dst - 200; ALTER TABLE edges ATTACH PARTITION e2 FOR VALUES FROM (100) TO (200); END $$'], setup => $root);
may_rebuild('root: SET TABLESPACE of a leaf', 'ALTER TABLE e1 SET TABLESPACE space', setup => $root);
changes('root: a foreign table as a leaf', 'CREATE FOREIGN TABLE far PARTITION OF edges FOR VALUES FROM (300) TO (400) SERVER loop OPTIONS (schema_name $$w$$, table_name $$loose$$)', then => 0,
	setup => "$root; " . ($loop =~ s/; CREATE FOREIGN TABLE.*//sr), cleanup => 'DROP SERVER loop CASCADE');
my $hash = q{
	CREATE TABLE edges (src int, dst int) PARTITION BY HASH (dst);
	CREATE TABLE h0 PARTITION OF edges FOR VALUES WITH (MODULUS 2, REMAINDER 0);
	CREATE TABLE h1 PARTITION OF edges FOR VALUES WITH (MODULUS 2, REMAINDER 1);
	INSERT INTO edges SELECT 0, g FROM generate_series(1, 100) g};
changes('hash partitions: UPDATE of the key', 'UPDATE edges SET dst = dst + 1 WHERE dst % 10 = 1', setup => $hash);
changes('hash partitions: one is replaced by two', ['DO $$ BEGIN ALTER TABLE edges DETACH PARTITION h1; CREATE TABLE h1a PARTITION OF edges FOR VALUES WITH (MODULUS 4, REMAINDER 1); CREATE TABLE h1b PARTITION OF edges FOR VALUES WITH (MODULUS 4, REMAINDER 3); INSERT INTO edges TABLE h1; DELETE FROM edges WHERE dst = 50; DROP TABLE h1; END $$'], setup => $hash);

my $family = q{
	CREATE TABLE edges (src int, dst int);
	CREATE TABLE child (x int) INHERITS (edges);
	CREATE TABLE grandchild () INHERITS (child);
	CREATE TABLE foundling (dst int, src int);
	INSERT INTO edges VALUES (0, 1), (0, 2);
	INSERT INTO child VALUES (0, 11), (0, 12);
	INSERT INTO grandchild VALUES (0, 21), (0, 22);
	INSERT INTO foundling VALUES (31, 0), (32, 0)};
foreach my $table (qw(edges child grandchild))
{
	changes("inheritance: INSERT into $table", "INSERT INTO $table VALUES (0, 50)", setup => $family);
	changes("inheritance: DELETE FROM ONLY $table", "DELETE FROM ONLY $table", setup => $family);
	changes("inheritance: TRUNCATE ONLY $table", "TRUNCATE ONLY $table", setup => $family);
	may_rebuild("inheritance: VACUUM FULL $table", "VACUUM FULL $table", setup => $family);
}
changes('inheritance: UPDATE through the parent', 'UPDATE edges SET dst = dst + 5 WHERE dst = 21', setup => $family);
changes('inheritance: DELETE through the parent', 'DELETE FROM edges WHERE dst > 20', setup => $family);
changes('inheritance: TRUNCATE', 'TRUNCATE edges', setup => $family);
changes('inheritance: INHERIT', 'ALTER TABLE foundling INHERIT edges', setup => $family);
changes('inheritance: NO INHERIT', 'ALTER TABLE child NO INHERIT edges', setup => $family);
changes('inheritance: NO INHERIT of the grandchild', 'ALTER TABLE grandchild NO INHERIT child', setup => $family);
changes('inheritance: NO INHERIT, INSERT, INHERIT', 'ALTER TABLE child NO INHERIT edges; INSERT INTO child VALUES (0, 50, 0); ALTER TABLE child INHERIT edges', setup => $family);
keeps('inheritance: a temporary child', 'CREATE TEMP TABLE mine () INHERITS (edges); INSERT INTO mine VALUES (0, 50)', setup => $family);
keeps('inheritance: INHERIT, ROLLBACK', 'BEGIN; ALTER TABLE foundling INHERIT edges; ROLLBACK', setup => $family);
changes('inheritance: a new child', 'CREATE TABLE x () INHERITS (edges); INSERT INTO x VALUES (0, 50)', setup => $family);
changes('inheritance: CREATE TABLE and INSERT in one transaction', 'BEGIN; CREATE TABLE x () INHERITS (edges); INSERT INTO x VALUES (0, 50); COMMIT', setup => $family);
changes('inheritance: DROP of a child', 'DROP TABLE grandchild', setup => $family);
changes('inheritance: RENAME COLUMN through the parent', ['DO $$ BEGIN ALTER TABLE edges RENAME src TO y; ALTER TABLE edges RENAME dst TO src; ALTER TABLE edges RENAME y TO dst; END $$'], setup => "$family; INSERT INTO child VALUES (150, 0)");
changes('inheritance: a table without children gets one', 'ALTER TABLE others INHERIT edges', setup => $plain);
cmp_ok($beside_hits, '>=', 0.9 * $beside, "calls concurrent with an open transaction are hits: $beside_hits of $beside") if $ways eq '';

# -------------------------------------------------------------------------------------------------------- longer scenarios

# Recreate the tables without any call.
sub fresh
{
	my ($setup) = @_;
	my $said = $reader->ask('DROP SCHEMA IF EXISTS w CASCADE; CREATE SCHEMA w; CREATE TABLE other (a int); ' . ($setup // $plain));

	die $said if $said =~ /ERROR/;
}

if ($ways eq '')
{
	my ($a, $b) = (session($node), session($node));

	# A transaction's own changes.
	fresh();
	sees($reader, 100, 'built', 'own changes: the first call');
	$a->ask('BEGIN; INSERT INTO edges VALUES (0, 0, 150, 0)');
	sees($a, 101, 'private', '... one that has inserted');
	sees($reader, 100, 'hit', '... and another');
	$a->ask('SAVEPOINT s; DELETE FROM edges WHERE dst <= 10');
	sees($a, 91, 'private', '... deleted in a savepoint');
	$a->ask('SAVEPOINT t; UPDATE edges SET src = 1 WHERE dst <= 20');
	sees($a, 81, 'private', '... updated in a second one');
	$a->ask('ROLLBACK TO t');
	sees($a, 91, 'private', '... which is rolled back');
	$a->ask('RELEASE s; SAVEPOINT u; DELETE FROM edges');
	sees($a, 0, 'private', '... all deleted');
	$a->ask('ROLLBACK TO u; TRUNCATE edges');
	sees($a, 0, 'private', '... truncated');
	$a->ask('INSERT INTO edges VALUES (0, 0, 5, 0)');
	sees($a, 1, 'private', '... and inserted');
	$a->ask('ROLLBACK TO u');
	sees($a, 91, 'private', '... rolled back again');
	sees($reader, 100, 'hit', 'own changes: invisible to other sessions');
	$a->ask('COMMIT');
	sees($a, 91, 'built', 'own changes: after COMMIT');
	sees($reader, 91, 'hit', '... for all');
	$a->ask('BEGIN; SAVEPOINT s; INSERT INTO edges VALUES (0, 0, 151, 0); ROLLBACK TO s');
	sees($a, 91, 'anywhere', 'own changes: a savepoint rolled back');
	$a->ask('INSERT INTO other VALUES (1)');
	sees($a, 91, 'anywhere', '... and another table written');
	$a->ask('COMMIT');
	sees($reader, 91, 'hit', '... leaves the hit');

	# Own changes to a graph built in the same transaction, which has an id that is not the newest.
	foreach my $level ('READ COMMITTED', 'REPEATABLE READ')
	{
		foreach my $savepoint ('', 'SAVEPOINT s')
		{
			fresh();
			$a->ask("BEGIN ISOLATION LEVEL $level; INSERT INTO other VALUES (1); $savepoint");
			$b->ask('INSERT INTO other VALUES (2)') foreach 1 .. 3;
			sees($a, 100, 'anywhere', "$level $savepoint: a call in a transaction with an id");
			sees($a, 100, 'anywhere', '... a second one');
			$a->ask('INSERT INTO edges VALUES (0, 0, 150, 0)');
			sees($a, 101, 'private', '... which writes afterwards');
			sees($reader, 100, 'anywhere', '... invisible to others');
			$a->ask('COMMIT');
			sees($reader, 101, 'anywhere', '... until it commits');
			sees($a, 101, 'anywhere', '... for both');
			hits_again($reader, 101, '... and there are hits again');
		}
	}

	# Cursors, and functions with one statement.
	fresh();
	sees($reader, 100, 'built', 'cursor: the first call');
	$a->ask('BEGIN; DECLARE c CURSOR FOR SELECT look(); DECLARE h CURSOR WITH HOLD FOR SELECT look(); INSERT INTO edges VALUES (0, 0, 150, 0)');
	like($a->ask('FETCH c'), qr/^right: 100 ends/, '... keeps its snapshot before one\'s own change');
	like($a->ask('SELECT look()'), qr/^right: 101 ends/, '... which others see');
	$a->ask('DELETE FROM edges WHERE dst = 1; COMMIT');
	like($a->ask('FETCH h'), qr/^right: 100 ends|^right: 10\d ends/, '... WITH HOLD');
	$a->ask(q{CLOSE h; CREATE FUNCTION tell() RETURNS trigger LANGUAGE plpgsql AS $$
		DECLARE verdict text;
		BEGIN
			SELECT CASE WHEN g = t THEN 'right' ELSE 'wrong' END INTO verdict
			FROM (SELECT count(*) AS g FROM emogi_bfs('edges', 0) WHERE level = 1) a, (SELECT count(DISTINCT dst) AS t FROM edges WHERE src = 0) b;
			INSERT INTO told VALUES (verdict);
			RETURN new;
		END $$;
		CREATE TABLE told (verdict text);
		CREATE TRIGGER b BEFORE INSERT OR UPDATE ON edges FOR EACH ROW EXECUTE FUNCTION tell();
		CREATE TRIGGER a AFTER INSERT OR UPDATE ON edges FOR EACH ROW EXECUTE FUNCTION tell();
		CREATE CONSTRAINT TRIGGER d AFTER INSERT OR UPDATE ON edges DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION tell()});
	$a->ask('INSERT INTO edges VALUES (0, 0, 151, 0), (0, 0, 152, 0); UPDATE edges SET dst = 153 WHERE dst = 2');
	is($a->ask('SELECT verdict, count(*) FROM told GROUP BY 1'), 'right|9', 'calls in triggers, also at COMMIT');
	hits_again($reader, 102, '... and then hits');

	# Old snapshots keep their versions while newer ones exist.
	fresh();
	sees($reader, 100, 'built', 'versions: the first call');
	my @old = map { session($node) } 1 .. 3;
	foreach my $i (0 .. 2)
	{
		$old[$i]->ask('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1 FROM pg_class LIMIT 1');
		sees($old[$i], 100 + $i, 'hit', "versions: snapshot $i");
		$a->ask("INSERT INTO edges VALUES (0, 0, 15$i, 0)");
		sees($reader, 101 + $i, 'built', '... and a change');
	}
	foreach my $round (1 .. 3)
	{
		sees($reader, 103, 'hit', "versions, round $round: the newest");
		sees($old[$_], 100 + $_, 'built or hit', "... snapshot $_") foreach 0 .. 2;
	}
	sees($old[$_], 100 + $_, 'hit', "versions: snapshot $_ hits its own version") foreach 0 .. 2;
	sees($reader, 103, 'hit', '... and so has the newest');
	$a->ask('DELETE FROM edges WHERE dst < 50; VACUUM edges');
	sees($old[$_], 100 + $_, 'anywhere', "versions: snapshot $_ after DELETE and VACUUM") foreach 0 .. 2;
	my $exported = $old[1]->ask('SELECT pg_export_snapshot()');
	$b->ask("BEGIN ISOLATION LEVEL REPEATABLE READ; SET TRANSACTION SNAPSHOT '$exported'");
	sees($b, 101, 'anywhere', 'versions: an exported snapshot');
	$b->ask('COMMIT');
	$_->ask('COMMIT') foreach @old;
	sees($_, 54, 'anywhere', 'versions: once it has ended') foreach @old;
	hits_again($reader, 54, '... hits');
	$_->quit foreach @old;

	# A transaction older than the first call on the table writes to it afterwards.
	foreach my $end (q{COMMIT}, q{PREPARE TRANSACTION 'x'; COMMIT PREPARED 'x'})
	{
		fresh();
		$a->ask('BEGIN; INSERT INTO other VALUES (1)');
		sees($reader, 100, 'anywhere', "an older transaction: first call ($end)");
		sees($reader, 100, 'anywhere', '... second call');
		$a->ask('INSERT INTO edges VALUES (0, 0, 150, 0)');
		sees($reader, 100, 'anywhere', '... it writes');
		$b->ask('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1 FROM pg_class LIMIT 1');
		$a->ask($end);
		sees($reader, 101, 'anywhere', '... and commits');
		sees($b, 100, 'anywhere', '... an old snapshot');
		hits_again($reader, 101, '... hits');
		$b->ask('COMMIT');
	}

	# A transaction that had written before the first call on the table.
	foreach my $write ('INSERT INTO edges VALUES (0, 0, 150, 0)', 'SAVEPOINT s; INSERT INTO edges VALUES (0, 0, 150, 0); RELEASE s', 'SET track_counts = off; INSERT INTO edges VALUES (0, 0, 150, 0); SET track_counts = on')
	{
		foreach my $end ('COMMIT', q{PREPARE TRANSACTION 'x'; SELECT pg_sleep(0); COMMIT PREPARED 'x'})
		{
			fresh();
			$a->ask("BEGIN; $write");
			$a->ask($1) if $end =~ /^(PREPARE[^;]*)/;
			sees($reader, 100, 'anywhere', "an older writer ($write; $end): first call");
			sees($reader, 100, 'anywhere', '... second call');
			$b->ask('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1 FROM pg_class LIMIT 1');
			$a->ask($end =~ s/^PREPARE[^;]*;//r);
			sees($reader, 101, 'anywhere', '... it commits');
			sees($b, 100, 'anywhere', '... an old snapshot');
			sees($reader, 101, 'anywhere', '... and once more');
			hits_again($reader, 101, '... hits');
			sees($b, 100, 'anywhere', '... the old snapshot again');
			$b->ask('COMMIT');
		}
	}

	# A writer sleeps before and after its commit, which requires a tracked table: dummy.
	foreach my $fault ('pre_commit', 'committed')
	{
		foreach my $first (0, 1)
		{
			fresh("$plain; CREATE TABLE dummy (src int, dst int)");
			$reader->ask(q{SELECT count(*) FROM emogi_bfs('dummy', 0)});
			sees($reader, 100, 'built', 'known before') if $first;
			$a->ask("SET emogi.fault = '$fault=700000'; BEGIN; INSERT INTO edges VALUES (0, 0, 150, 0); INSERT INTO dummy VALUES (0, 1)");
			$a->tell('COMMIT');
			my ($calls, $wrong) = (0, '');
			until ($a->is_done)
			{
				my ($verdict, $cache) = look($reader, 'look()');
				$calls++;
				$wrong .= "$verdict, $cache\n" unless $verdict =~ /^right/;
			}
			$a->answer;
			is($wrong, '', "a writer sleeps at $fault, table " . ($first ? 'known' : 'not known') . " before: $calls calls beside it");
			cmp_ok($calls, '>', 0, '... at least one');
			sees($reader, 101, 'anywhere', '... and afterwards');
			hits_again($reader, 101, '... hits');
			$a->ask(q{SET emogi.fault = ''});
		}
	}

	# A writer is terminated while it sleeps there.
	foreach my $fault ('pre_commit', 'committed')
	{
		fresh();
		sees($reader, 100, 'built', "terminated at $fault: before");
		my $victim = session($node);
		my $pid = $victim->ask('SELECT pg_backend_pid()');
		$victim->ask("SET emogi.fault = '$fault=700000'; BEGIN; INSERT INTO edges VALUES (0, 0, 150, 0)");
		$victim->tell('COMMIT');
		sees($reader, $fault eq 'pre_commit' ? 100 : 10 . '[01]', 'anywhere', '... asleep');
		$reader->ask("SELECT pg_terminate_backend($pid, 20000)");
		eval { $victim->quit };
		my ($verdict) = look($reader);
		like($verdict, qr/^right: 10[01] ends/, '... ended');
		hits_again($reader, '10[01]', '... hits');
	}

	# A transaction fails at COMMIT, after it was recorded as a writer.
	fresh();
	sees($reader, 100, 'built', 'serialization failure: before');
	$_->ask('BEGIN ISOLATION LEVEL SERIALIZABLE; SELECT count(*) FROM edges') foreach ($a, $b);
	$a->ask('INSERT INTO edges VALUES (0, 0, 150, 0)');
	$b->ask('INSERT INTO edges VALUES (0, 0, 151, 0)');
	is($a->ask('COMMIT'), '', '... one commits');
	like($b->ask('COMMIT'), qr/^ERROR:  40001/, '... one cannot');
	sees($reader, 101, 'built', '... and its changes are invisible');
	sees($reader, 101, 'hit', '... a hit');

	# More writers than the ring holds, with old snapshots and a prepared transaction of the same
	# age.
	fresh();
	sees($reader, 100, 'built', 'thousands of writers: before');
	$a->ask(q{BEGIN; INSERT INTO edges VALUES (0, 0, 5000, 0); PREPARE TRANSACTION 'x'});
	$a->ask('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1 FROM pg_class LIMIT 1');
	sees($a, 100, 'hit', '... an old snapshot');
	foreach my $round (1 .. 3)
	{
		$b->ask('CALL add_and_alternate(1000)');
		my $ends = 100 + 500;
		sees($reader, $ends, 'anywhere', "... round $round");
		sees($a, 100, 'anywhere', '... the old snapshot');
		sees($reader, $ends, 'anywhere', '... again');
		$b->ask("CALL add_and_roll_back()") foreach 1 .. 3;
		sees($a, 100, 'anywhere', '... the old snapshot again');
	}
	$b->ask(q{COMMIT PREPARED 'x'});
	sees($reader, 601, 'anywhere', '... the prepared one committed');
	sees($a, 100, 'anywhere', '... the old snapshot');
	$a->ask('COMMIT');
	sees($a, 601, 'anywhere', '... and after it');
	hits_again($reader, 601, '... hits');
	$b->ask('CALL add_and_commit(1000)');
	sees($reader, 1101, 'anywhere', '... a thousand more');
	hits_again($reader, 1101, '... hits');

	# A temporary child is visible to its session only.
	fresh($family);
	sees($reader, 6, 'built', 'temporary child: before');
	$a->ask('CREATE TEMP TABLE mine () INHERITS (edges); INSERT INTO mine VALUES (0, 50)');
	sees($a, 7, 'private', '... its session sees it');
	sees($reader, 6, 'hit', '... others do not');
	sees($a, 7, 'private', '... its session sees it again');
	$a->ask('TRUNCATE mine');
	sees($a, 6, 'private', '... empty');
	$a->ask('DROP TABLE mine');
	sees($a, 6, 'hit', '... gone');

	# The extension is dropped and re-created.
	fresh();
	sees($reader, 100, 'built', 'DROP EXTENSION: before');
	$a->ask('DROP EXTENSION emogi; INSERT INTO edges VALUES (0, 0, 150, 0); CREATE EXTENSION emogi SCHEMA public');
	sees($reader, 101, 'built', '... and CREATE EXTENSION, a write between them');
	sees($reader, 101, 'hit', '... a hit');

	# A temporary table hides the cached one.
	fresh();
	sees($reader, 100, 'built', 'temporary table: first call');
	$a->ask('CREATE TEMP TABLE edges (src int, dst int); INSERT INTO edges VALUES (0, 5)');
	sees($a, 1, 'private', '... of the same name');
	sees($reader, 100, 'hit', '... invisible to others');
	$a->ask('DROP TABLE pg_temp.edges');
	sees($a, 100, 'hit', '... dropped');

	# A materialized view without data: the error of a SELECT, and then correct answers.
	fresh($matview);
	sees($reader, 100, 'built', 'materialized view: first call');
	$a->ask('REFRESH MATERIALIZED VIEW edges WITH NO DATA');
	like($reader->ask(q{SELECT count(*) FROM emogi_bfs('edges', 0)}), qr/^ERROR:  55000/, '... without data');
	$a->ask('DELETE FROM base WHERE id > 50; REFRESH MATERIALIZED VIEW edges');
	sees($reader, 50, 'built', '... with data again');
	sees($reader, 50, 'hit', '... and cached');

	# A column is dropped and added again.
	fresh();
	sees($reader, 100, 'built', 'column: first call');
	$a->ask('ALTER TABLE edges DROP dst');
	like($reader->ask(q{SELECT count(*) FROM emogi_bfs('edges', 0)}), qr/^ERROR:  42703/, '... dropped');
	like($reader->ask(q{SELECT count(*) FROM emogi_bfs('edges(src, dst)', 0)}), qr/^ERROR:  42703/, '... dropped, named');
	$a->ask('ALTER TABLE edges ADD dst int');
	sees($reader, 0, 'built', '... added again');
	$a->ask('UPDATE edges SET dst = 7');
	sees($reader, 1, 'built', '... and filled');
	sees($reader, 1, 'hit', '... and cached');

	# Many tables, more than can be cached: each call is correct, and later ones are cached again.
	fresh();
	$a->ask(q{DO $$ BEGIN FOR i IN 1 .. 1200 LOOP EXECUTE format('CREATE TABLE t%s AS SELECT 0 AS src, g AS dst FROM generate_series(1, %s) g', i, i % 7); IF i % 100 = 0 THEN COMMIT; END IF; END LOOP; END $$});
	foreach my $round (1 .. 2)
	{
		my $wrong = $reader->ask(q{
			CREATE OR REPLACE FUNCTION ends(name text) RETURNS bigint LANGUAGE plpgsql STABLE AS $$ BEGIN RETURN (SELECT count(*) FROM emogi_bfs(name, 0) WHERE level = 1); END $$;
			SELECT count(*) FROM generate_series(1, 1200) i WHERE ends('t' || i) <> i % 7});
		is($wrong, '0', "1200 tables, round $round");
		$a->ask('SELECT 1');
	}
	sees($reader, 100, 'anywhere', '... and another');
	hits_again($reader, 100, '... is cached');
	$a->quit;
	$b->quit;
}

# ------------------------------------------------------------------------------------------------- databases and restarts

if ($ways eq '')
{
	# Databases created from the same template: tables and files have equal numbers.
	fresh();
	sees($reader, 100, 'built', 'databases: the first');
	$_->quit foreach ($reader, $old);
	my $make = sub { my ($new, $template) = @_; my ($rc, $out, $err); wait_until(10, sub { ($rc, $out, $err) = $node->psql('template1', "CREATE DATABASE $new TEMPLATE $template; ALTER DATABASE $new SET search_path = w, public"); $rc == 0 && $err eq '' }) or die $err };
	$make->('second', 'postgres');
	my $second = session($node, 'second');
	sees($second, 100, 'anywhere', 'databases: a copy');
	sees($second, 100, 'hit', '... cached');
	$second->ask('DELETE FROM edges WHERE dst > 40');
	sees($second, 40, 'built', '... and changed');
	$reader = session($node);
	sees($reader, 100, 'hit', '... the first is not');
	$second->quit;
	wait_until(10, sub { ($node->psql('postgres', 'DROP DATABASE second'))[0] == 0 });
	$reader->quit;
	$make->('second', 'postgres');
	$second = session($node, 'second');
	sees($second, 100, 'anywhere', '... dropped and re-created');
	$second->quit;
	wait_until(10, sub { ($node->psql('postgres', 'ALTER DATABASE second RENAME TO third'))[0] == 0 });
	$second = session($node, 'third');
	sees($second, 100, 'hit', '... and renamed');
	$second->quit;

	# A crash: prepared transactions survive, unlogged tables are truncated.
	$reader = session($node);
	fresh("$plain; CREATE UNLOGGED TABLE light AS SELECT 0 AS src, g AS dst FROM generate_series(1, 9) g");
	sees($reader, 100, 'built', 'crash: before it');
	is($reader->ask(q{SELECT count(*) FROM emogi_bfs('light', 0); SELECT count(*) FROM emogi_bfs('light', 0)}), "10\n10", '... an unlogged table');
	$reader->ask(q{BEGIN; INSERT INTO edges VALUES (0, 0, 150, 0); PREPARE TRANSACTION 'one'; BEGIN; INSERT INTO edges VALUES (0, 0, 151, 0), (0, 0, 152, 0); PREPARE TRANSACTION 'two'});
	$reader->quit;
	$node->stop('immediate');
	$node->start;
	$reader = session($node);
	sees($reader, 100, 'anywhere', 'crash: with prepared transactions that are older');
	sees($reader, 100, 'anywhere', '... once more');
	is($reader->ask(q{SELECT count(*) FROM emogi_bfs('light', 0)}), '0', '... the unlogged table is empty');
	$node->safe_psql('postgres', q{ROLLBACK PREPARED 'one'});
	sees($reader, 100, 'anywhere', '... one rolled back');
	$node->safe_psql('postgres', q{COMMIT PREPARED 'two'});
	sees($reader, 102, 'anywhere', '... one committed');
	hits_again($reader, 102, '... hits');

	# The same when the server restarts automatically.
	$reader->ask(q{INSERT INTO light SELECT 0, g FROM generate_series(1, 9) g; BEGIN; INSERT INTO edges VALUES (0, 0, 160, 0); PREPARE TRANSACTION 'one'});
	is($reader->ask(q{SELECT count(*) FROM emogi_bfs('light', 0); SELECT count(*) FROM emogi_bfs('light', 0)}), "10\n10", 'killed backend: before it');
	my $victim = session($node);
	my $pid = $victim->ask('SELECT pg_backend_pid()');
	kill 'KILL', $pid;
	eval { $victim->quit };
	eval { $reader->quit };
	wait_until(30, sub { sleep 1; $node->safe_psql('postgres', 'SELECT 1') eq '1' });
	$reader = session($node);
	sees($reader, 102, 'anywhere', 'killed backend: a call');
	is($reader->ask(q{SELECT count(*) FROM emogi_bfs('light', 0)}), '0', '... the unlogged table is empty');
	$node->safe_psql('postgres', q{COMMIT PREPARED 'one'});
	sees($reader, 103, 'anywhere', '... a prepared transaction committed');
	hits_again($reader, 103, '... hits');
}

$reader->ask('SELECT emogi_evict()');
region_is_empty($node, 'the arena is empty when all is evicted');
$node->stop;
no_crash($node);

done_testing();
