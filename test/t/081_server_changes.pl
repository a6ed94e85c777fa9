# Changes of a remote table while it is read: between reading its page count and its pages, a child
# is attached, or its schema is swapped with another.

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

plan skip_all => 'this version of emogi does not read foreign tables' unless reads_servers();

# Stars: the search from 1 finds one vertex per row, and 1 itself. Rows of ints arrive in groups,
# those of text one by one. Children have more pages than their parents, and all pages have rows.
my %types = (grouped => 'bigint', single => 'text');

sub fresh
{
	$far->safe_psql('postgres', 'DROP SCHEMA IF EXISTS now, "then" CASCADE; CREATE SCHEMA now; CREATE SCHEMA "then";' . join('', map { qq{
		CREATE TABLE now.$_ AS SELECT 1::$types{$_} AS src, (i + 1)::$types{$_} AS dst FROM generate_series(1, 10) i;
		CREATE TABLE now.child_of_$_ AS SELECT 1::$types{$_} AS src, (i + 1000)::$types{$_} AS dst FROM generate_series(1, 10000) i;
		CREATE TABLE "then".$_ (src $types{$_}, dst $types{$_});
	} } sort keys %types));
}

# Get the answer of a call during which a remote command is run.
sub answer_beside
{
	my ($table, $n, $change) = @_;
	my ($out, $err) = ('', '');

	fresh();
	my ($call, $pid) = hold_at($hub, \$out, \$err, 'remote_measured=3000000', "SET emogi.server_connections = $n", "SELECT count(*) FROM emogi_bfs('$table', 1::$types{$table})");
	ok($pid, "$table, $n connections: a call has read the page count");
	$far->safe_psql('postgres', $change);
	$call->finish;
	return join('', $out, $err =~ /ERROR:\s+(\w+)/);
}

fresh();
$hub->safe_psql('postgres', server_of('far', $far) . join('', map { "CREATE FOREIGN TABLE $_ (src $types{$_}, dst $types{$_}) SERVER far OPTIONS (schema_name 'now');" } sort keys %types));

for my $n (1, 2)
{
	is(answer_beside('grouped', $n, 'ALTER TABLE now.child_of_grouped INHERIT now.grouped'), "11\n", "a child is attached, $n connections: it is invisible to the snapshot");
	like(answer_beside('single', $n, 'ALTER TABLE now.child_of_single INHERIT now.single'), qr/^(?:11\n|40001)$/, "a child is attached to a table read row by row, $n connections");
	is(answer_beside('grouped', $n, 'ALTER SCHEMA now RENAME TO past; ALTER SCHEMA "then" RENAME TO now; ALTER SCHEMA past RENAME TO "then"'), '40001',
		"the name refers to an empty table, $n connections: no answer");
	is(answer_beside('grouped', $n, 'ALTER TABLE now.child_of_grouped ADD x int; INSERT INTO now.grouped VALUES (1, 99)'), "11\n", "rows are inserted later, $n connections");
}

all_gone('at the end');
$_->stop for $hub, $far;
no_crash($hub);

done_testing();
