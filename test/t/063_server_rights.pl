# Which role can read a foreign table, and as which remote role: local privileges, the user mapping
# of the reading role, passwords, remote row security, options of servers and mappings, settings of
# the remote session. Everything as in postgres_fdw.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use EmogiTest;
use Servers;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $far = far_node('far');
my $hub = hub_node('hub');

sub sql { return $hub->safe_psql('postgres', join("\n", @_)); }
sub far { return $far->safe_psql('postgres', join("\n", @_)); }

# The number of edges identifies the remote role: 3 are fa's, 5 fb's, 7 those of app, which needs a
# password; the owner has all 15.
far(q{CREATE ROLE fa LOGIN; CREATE ROLE fb LOGIN; SET password_encryption = 'scram-sha-256'; CREATE ROLE app LOGIN PASSWORD 'a secret';
	CREATE TABLE owned (src bigint, dst bigint, weight float8, owner name);
	INSERT INTO owned SELECT i, i + 1, i, CASE WHEN i <= 3 THEN 'fa' WHEN i <= 8 THEN 'fb' ELSE 'app' END FROM generate_series(1, 15) i;
	ALTER TABLE owned ENABLE ROW LEVEL SECURITY; CREATE POLICY own ON owned USING (owner = current_user); GRANT SELECT ON owned TO PUBLIC;
	CREATE VIEW settings AS SELECT 1::bigint AS src, i::bigint AS dst FROM (VALUES (2, current_setting('search_path') = 'pg_catalog'), (3, current_setting('datestyle') LIKE 'ISO%'), (4, current_setting('intervalstyle') = 'postgres'),
		(5, current_setting('extra_float_digits') = '3'), (6, current_setting('client_encoding') = 'UTF8'), (7, current_setting('timezone') IN ('UTC', 'GMT')), (8, current_setting('transaction_isolation') IN ('repeatable read', 'serializable'))) v(i, yes) WHERE yes;
	CREATE VIEW names AS SELECT 1::bigint AS src, 2::bigint AS dst WHERE current_setting('application_name') = 'the emogi hub' UNION ALL SELECT 2, 3 WHERE current_setting('work_mem') = '5MB' UNION ALL SELECT 3, 4 WHERE current_setting('app.tenant', true) = 'seven';
	GRANT SELECT ON settings, names TO PUBLIC});
my $hba = slurp_file($far->data_dir . '/pg_hba.conf');
unlink $far->data_dir . '/pg_hba.conf';
append_to_file($far->data_dir . '/pg_hba.conf', "local all app scram-sha-256\n$hba");
$far->reload;

my $where = "host '" . $far->host . "', port '" . $far->port . "', dbname 'postgres'";
my @roles = qw(alice bob carol dave erin frank gina ivan other_super);
my $columns = '(src bigint, dst bigint, weight float8, owner name)';
sql((map { "CREATE ROLE $_;" } @roles), 'ALTER ROLE other_super SUPERUSER;', "CREATE SERVER far FOREIGN DATA WRAPPER postgres_fdw OPTIONS ($where);", "CREATE SERVER open FOREIGN DATA WRAPPER postgres_fdw OPTIONS ($where);",
	q{CREATE USER MAPPING FOR CURRENT_USER SERVER far;
	CREATE USER MAPPING FOR alice SERVER far OPTIONS (user 'fa', password_required 'false');
	CREATE USER MAPPING FOR bob SERVER far OPTIONS (user 'fb');
	CREATE USER MAPPING FOR dave SERVER far OPTIONS (user 'app', password 'a secret');
	CREATE USER MAPPING FOR erin SERVER far OPTIONS (user 'fa', password 'not requested');
	CREATE USER MAPPING FOR frank SERVER far OPTIONS (user 'app', password 'wrong');
	CREATE USER MAPPING FOR gina SERVER far OPTIONS (user 'fa', password_required 'false');
	CREATE USER MAPPING FOR ivan SERVER far OPTIONS (user 'fb', password_required 'false');
	CREATE USER MAPPING FOR other_super SERVER far OPTIONS (user 'fb');
	CREATE USER MAPPING FOR PUBLIC SERVER open OPTIONS (user 'fb', password_required 'false');
	CREATE USER MAPPING FOR alice SERVER open OPTIONS (user 'fa', password_required 'false');},
	"CREATE FOREIGN TABLE owned $columns SERVER far; CREATE FOREIGN TABLE owned_open $columns SERVER open OPTIONS (table_name 'owned', fetch_size '3', use_remote_estimate 'true', updatable 'false', batch_size '7'); CREATE FOREIGN TABLE settings (src bigint, dst bigint) SERVER far; CREATE FOREIGN TABLE names (src bigint, dst bigint) SERVER open;",
	'GRANT SELECT ON owned, owned_open, settings, names TO ' . join(', ', grep { $_ ne 'gina' } @roles) . ';',
	"CREATE TABLE root $columns PARTITION BY LIST (src); CREATE FOREIGN TABLE leaf PARTITION OF root FOR VALUES IN (-1) SERVER far OPTIONS (table_name 'owned'); GRANT SELECT ON root TO alice, dave;",
	"CREATE FOREIGN TABLE some_columns $columns SERVER far OPTIONS (table_name 'owned'); GRANT SELECT (src, dst) ON some_columns TO alice;",
	"CREATE SCHEMA closed; CREATE FOREIGN TABLE closed.owned $columns SERVER far OPTIONS (schema_name 'public'); GRANT SELECT ON closed.owned TO alice;",
	'GRANT CREATE ON SCHEMA public TO alice;', q{CREATE FUNCTION n(graph text) RETURNS bigint LANGUAGE sql AS 'SELECT coalesce(sum(degree)::bigint, 0) FROM emogi_degree(graph)';
	SET ROLE alice; CREATE FUNCTION as_alice(graph text) RETURNS bigint LANGUAGE sql SECURITY DEFINER AS 'SELECT sum(degree)::bigint FROM emogi_degree(graph)';
	CREATE VIEW of_alice AS SELECT src, dst FROM owned; CREATE VIEW barrier WITH (security_barrier) AS SELECT src, dst FROM owned WHERE src > 0;
	CREATE VIEW rank_of_alice AS SELECT * FROM emogi_degree('owned'::regclass); GRANT SELECT ON of_alice, barrier, rank_of_alice TO PUBLIC; RESET ROLE});
my $invokers = sql('SHOW server_version_num') >= 150000;
sql('SET ROLE alice; CREATE VIEW invoked WITH (security_invoker) AS SELECT src, dst FROM owned; GRANT SELECT ON invoked TO PUBLIC') if $invokers;

# Check the answer to a role with each number of connections: rows or an SQLSTATE, one of several if
# they are in parentheses.
sub asked
{
	my ($role, $call, $right, $name) = @_;

	for my $n (reads_servers() ? (0, 1, 4) : 4)
	{
		my ($got, $err) = answer_of($hub, "SET ROLE $role; " . connections($n) . $call);
		like($got, qr/^(?:$right)$/, "$name, $n connections") or diag $err;
	}
}

my $me = $hub->safe_psql('postgres', 'SELECT quote_ident(current_user)');
asked($me, "SELECT n('owned')", '15', 'a superuser');
asked('other_super', "SELECT n('owned')", '5', 'another role, whose mapping has no password');
asked('alice', "SELECT n('owned')", '3', 'a mapping for which a superuser requires no password');
asked('bob', "SELECT n('owned')", '2F003', 'a mapping without a password');
asked('carol', "SELECT n('owned')", '42704', 'no mapping');
asked('dave', "SELECT n('owned')", '7', 'a mapping with the required password');
asked('erin', "SELECT n('owned')", '2F003', 'a mapping with a password that is not required');
asked('frank', "SELECT n('owned')", '08001|28P01', 'a wrong password');
asked('gina', "SELECT n('owned')", '42501', 'no privilege on the foreign table');
asked('carol', "SELECT n('owned_open')", '5', 'the mapping of PUBLIC');
asked('alice', "SELECT n('owned_open')", '3', 'an own mapping in addition to that of PUBLIC');
asked('alice', "SELECT n('owned'), n('owned_open'), n('owned(src, dst, weight)')", '3\|3\|3', 'two servers');
asked('dave', "SELECT n('owned'), n('owned_open')", '7\|5', 'one cluster under two mappings');

# Columns and schemas.
asked('alice', "SELECT count(*) FROM emogi_bfs('some_columns', 1)", '4', 'privileges on the columns that are read');
asked('alice', "SELECT count(*) FROM emogi_bfs('some_columns(src, dst)', 1)", '4', '... and named');
asked('alice', "SELECT count(*) FROM emogi_sssp('some_columns', 1)", '42501', 'no privilege on a weight');
asked('alice', "SELECT count(*) FROM emogi_bfs('some_columns(src, dst, weight)', 1)", '42501|4', 'no privilege on a named column');
asked('alice', "SELECT n('closed.owned')", '42501', 'no privilege on the schema');
asked('bob', "SELECT count(*) FROM emogi_bfs('some_columns', 1)", '42501', 'no privilege on any column');

# Partitions: the privilege on the root suffices, and the mapping is that of the caller.
asked('alice', "SELECT n('root')", '3', 'a privilege on the root of partitions');
asked('dave', "SELECT n('root')", '7', '... of another role');
asked('alice', "SELECT n('leaf')", '42501', '... and not on the partition');
asked('bob', "SELECT n('root')", '42501', 'none on the root');
sql('ALTER TABLE root ENABLE ROW LEVEL SECURITY; CREATE POLICY few ON root USING (weight >= 2)');
asked('alice', "SELECT n('root')", '2', 'local row security on the root');
asked($me, "SELECT n('root')", '15', '... which does not apply to a superuser');
sql('ALTER TABLE root DISABLE ROW LEVEL SECURITY');
asked('alice', "SELECT n('root')", '3', '... and off');

# The reading role: views and functions.
asked('dave', "SELECT as_alice('owned'), n('owned')", '3\|7', 'SECURITY DEFINER: as its owner, and as the caller');
asked('dave', "SELECT n('owned'), as_alice('owned'), n('owned')", '7\|3\|7', '... in turn');
asked('carol', "SELECT as_alice('owned')", '3', '... which has no mapping');
asked('alice', "SELECT as_alice('owned')", '3', '... by its owner');
asked($me, "SELECT n('of_alice'), n('barrier'), n('SELECT src, dst FROM of_alice')", '3\|3\|3', 'views: as their owner');
asked('carol', "SELECT n('of_alice'), n('barrier')", '3\|3', '... by a role without a mapping');
asked('dave', "SELECT n('invoked')", '7', 'security_invoker: as the caller') if $invokers;
asked('carol', "SELECT n('invoked')", '42704', '... which has no mapping') if $invokers;
# a function in a view is called by the role that reads the view
asked('dave', 'SELECT sum(degree) FROM rank_of_alice', '7', 'a call in a view: as the caller');
asked($me, 'SELECT sum(degree) FROM rank_of_alice', '15', '... another');

# One session, one statement, several roles.
my $session = session($hub);
$session->ask('PREPARE p AS SELECT sum(degree) FROM emogi_degree(\'owned\')');
for my $round (1, 2)
{
	for my $who ([ 'alice', '3' ], [ 'dave', '7' ], [ 'bob', qr/^ERROR:\s+2F003/ ], [ 'ivan', '5' ], [ 'carol', qr/^ERROR:\s+42704/ ], [ $me, '15' ])
	{
		my $got = $session->ask("SET ROLE $who->[0]; EXECUTE p");
		ref $who->[1] ? like($got, $who->[1], "a prepared statement of $who->[0]") : is($got, $who->[1], "a prepared statement of $who->[0]");
	}
}
# Changes of mappings.
is($session->ask("ALTER USER MAPPING FOR alice SERVER far OPTIONS (SET user 'fb'); SET ROLE alice; EXECUTE p"), '5', 'a mapping that changes');
is($session->ask("RESET ROLE; ALTER USER MAPPING FOR alice SERVER far OPTIONS (SET user 'fa'); SET ROLE alice; EXECUTE p"), '3', '... and back');
like($session->ask("RESET ROLE; ALTER USER MAPPING FOR alice SERVER far OPTIONS (SET password_required 'true'); SET ROLE alice; EXECUTE p"), qr/^ERROR:\s+2F003/, 'a password required from now on');
is($session->ask("RESET ROLE; ALTER USER MAPPING FOR alice SERVER far OPTIONS (SET password_required 'false'); SET ROLE alice; EXECUTE p"), '3', '... and no longer required');
like($session->ask("RESET ROLE; DROP USER MAPPING FOR alice SERVER far; SET ROLE alice; EXECUTE p"), qr/^ERROR:\s+42704/, 'a dropped mapping');
$session->ask("RESET ROLE; CREATE USER MAPPING FOR alice SERVER far OPTIONS (user 'fa', password_required 'false')");
like($session->ask('REVOKE SELECT ON owned FROM alice; SET ROLE alice; EXECUTE p'), qr/^ERROR:\s+42501/, 'a revoked privilege');
$session->ask('RESET ROLE; GRANT SELECT ON owned TO alice');
$session->quit;

# An ordinary role can set the number of connections, within its range.
asked('alice', "SELECT n('owned')", '3', 'all roles can use the setting');
if (reads_servers())
{
	is((answer_of($hub, "SET ROLE alice; SET emogi.server_connections = $_"))[0], '22023', "emogi.server_connections = $_ is refused") for -1, 65;
	is((answer_of($hub, "SET ROLE alice; SET emogi.server_connections = 64; SELECT n('owned')"))[0], '3', 'the most');

	# The maximum is set by superusers: each connection is a remote session.
	far('CREATE TABLE spread (src bigint, dst bigint) WITH (fillfactor = 10); INSERT INTO spread SELECT i, i + 1 FROM generate_series(1, 120000) i; ANALYZE spread; GRANT SELECT ON spread TO PUBLIC');
	sql('CREATE FOREIGN TABLE spread (src bigint, dst bigint) SERVER far; GRANT SELECT ON spread TO alice');
	my $shown = q{SET ROLE alice; SET emogi.server_connections = 4; EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) SELECT * FROM emogi_degree('spread')};
	like((answer_of($hub, $shown))[0], qr/Server Connections: 4\n/, 'connections requested by a role');
	like((answer_of($hub, "SET emogi.max_server_connections = 2; $shown"))[0], qr/Server Connections: 2\n/, '... beyond its limit');
	is((answer_of($hub, "SET emogi.max_server_connections = 2; SET ROLE alice; SET emogi.server_connections = 4; SELECT n('spread')"))[0], '120000', '... read the same rows');
	is((answer_of($hub, 'SET ROLE alice; SET emogi.max_server_connections = 64'))[0], '42501', '... and a role cannot raise it');
}

# Settings of the remote session, and options.
asked($me, "SELECT string_agg(vertex::text, ' ' ORDER BY vertex) FROM emogi_bfs('settings', 1) WHERE level > 0", '2 3 4 5 6 7 8', 'settings of the remote session');
asked($me, "SET timezone = 'Asia/Tokyo'; SET datestyle = 'SQL, DMY'; SET intervalstyle = 'iso_8601'; SET extra_float_digits = -3; SET client_encoding = 'LATIN1'; SELECT string_agg(vertex::text, ' ' ORDER BY vertex) FROM emogi_bfs('settings', 1) WHERE level > 0",
	'2 3 4 5 6 7 8', '... independent of local ones');
far("ALTER ROLE $me SET timezone = 'Asia/Tokyo'; ALTER ROLE $me SET datestyle = 'SQL, DMY'; ALTER ROLE $me SET search_path = nowhere; ALTER ROLE $me SET default_transaction_isolation = 'read committed'");
asked($me, "SELECT string_agg(vertex::text, ' ' ORDER BY vertex) FROM emogi_bfs('settings', 1) WHERE level > 0", '2 3 4 5 6 7 8', '... and of the remote role');
sql(q{ALTER SERVER open OPTIONS (ADD application_name 'the emogi hub', ADD options '-c work_mem=5MB -c app.tenant=seven', ADD connect_timeout '7', ADD keepalives '1', ADD use_remote_estimate 'true', ADD fetch_size '7', ADD extensions 'postgres_fdw');
	CREATE USER MAPPING FOR CURRENT_USER SERVER open});
asked($me, "SELECT string_agg(vertex::text, ' ' ORDER BY vertex) FROM emogi_bfs('names', 1)", '1 2 3 4', 'options of the server');
asked('alice', "SELECT string_agg(vertex::text, ' ' ORDER BY vertex) FROM emogi_bfs('names', 1)", '1 2 3 4', '... of an ordinary role');
asked('alice', "SELECT n('owned_open')", '3', 'options of how postgres_fdw reads');

all_gone('at the end');
unlike(slurp_file($hub->logfile) . slurp_file($far->logfile), qr/a secret.*password=|password=.*a secret/, 'no password in a log');
$_->stop for $hub, $far;
no_crash($hub);

done_testing();
