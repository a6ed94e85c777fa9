# emogi_graphs while sessions build and evict graphs of queries: a row's text is always that of its
# graph, each role sees only its own queries, and no graph is listed twice.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use EmogiTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = crash_node('main', "emogi.max_memory = '256MB'");
my @roles = qw(alice bob carol);

$node->safe_psql('postgres', 'CREATE TABLE edges AS SELECT i AS src, i + 1 AS dst FROM generate_series(1, 10) i; GRANT SELECT ON edges TO PUBLIC;' . join('', map { "CREATE ROLE $_ LOGIN;" } @roles));

# Get SQL that builds graphs of queries whose texts identify their role, all of about the same
# length.
sub build
{
	my ($role, @numbers) = @_;

	return join('', map { "SELECT count(*) FROM emogi_cc('SELECT src, dst + $_ AS dst FROM edges WHERE ''$role'' <> ''" . ('x' x 600) . "''');" } map { ($_, $_) } @numbers); # each twice, because few graphs of constants used once stay
}

# Get a session of a role. Faults require superusers, who can become any role.
sub session_of
{
	my ($role, $fault) = @_;
	my $session = session($node);

	$session->ask("SET emogi.fault = '$fault'") if $fault;
	$session->ask("SET ROLE $role");
	return $session;
}

# Find errors in the rows of emogi_graphs that a role sees.
sub wrong_rows
{
	my ($role) = @_;

	return "SELECT count(*), min(source) FROM emogi_graphs WHERE source NOT LIKE 'SELECT src, dst + % FROM edges WHERE ''$role''%'";
}

sub sleeps { return wait_until(10, sub { $node->safe_psql('postgres', "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep'") eq '1' }) }

# ------------------------------------------------------------------------------------------------- freed memory

my ($alice, $bob) = (session_of('alice'), session_of('bob'));
$alice->ask(build('alice', 1, 2));
is($alice->ask('SELECT count(*) FROM emogi_graphs'), '2', 'a role sees its graphs of queries');
my $evicts = session_of('alice', 'graph_freed=2000000');
$evicts->tell("SELECT emogi_evict(\$\$SELECT src, dst + 1 AS dst FROM edges WHERE 'alice' <> '" . ('x' x 600) . "'\$\$) > 0");
ok(sleeps(), 'the memory of a graph is freed');
$bob->ask(build('bob', 1 .. 8));
is($alice->ask(wrong_rows('alice')), '0|', 'its row does not show the new contents');
is($bob->ask(wrong_rows('bob')), '0|', 'nor do rows of others');
is($evicts->answer, 't', 'it is evicted');
$evicts->quit;

# ------------------------------------------------------------------------------------------------- a reused entry

my $looks = session_of('alice', 'graphs_copied=2000000');
$looks->tell('SELECT count(*), min(source) FROM emogi_graphs');
ok(sleeps(), 'entries have been copied');
$alice->ask('SELECT emogi_evict()');
$bob->ask(build('bob', 11 .. 18));
is($looks->answer, '0|', 'a graph evicted since has no row');
$_->quit for $looks, $alice, $bob;

# ------------------------------------------------------------------------------------------------- concurrent sessions

my %builders = map { $_ => session_of($_) } @roles;
my %readers = map { $_ => session_of($_) } @roles;
my $all = session($node);
my $nrows = 0;
my @wrong;
my $end = time + 8;
my $n = 0;

for (my $round = 0; time < $end; $round++)
{
	$builders{$_}->tell(($round % 5 == 4 ? 'SELECT emogi_evict();' : '') . build($_, map { $n++ % 2000 } 1 .. 40)) for @roles;
	$readers{$_}->tell(wrong_rows($_) . ';') for @roles;
	my ($rows, $twice, $strange) = split /\|/, $all->ask(q{SELECT count(*), count(*) - count(DISTINCT source), count(*) FILTER (WHERE source !~ '^SELECT src, dst \+ \d+ AS dst FROM edges WHERE ''(alice|bob|carol)'' <> ''x+''$') FROM emogi_graphs WHERE state = 'ready'});
	push @wrong, "$twice twice, $strange strange" if $twice || $strange;
	$nrows = $rows if $rows > $nrows;
	for my $role (@roles)
	{
		my $answer = $readers{$role}->answer;
		push @wrong, "$role: $answer" if $answer ne '0|';
		$builders{$role}->answer;
	}
}
is(join("\n", @wrong), '', 'every row is correct');
cmp_ok($nrows, '>', 128, 'there were more graphs than are copied at a time');
$_->quit for values %builders, values %readers, $all;

# Without concurrent sessions the view is complete.
$node->safe_psql('postgres', 'SELECT emogi_evict();' . build('postgres', 1 .. 500));
is($node->safe_psql('postgres', 'SELECT count(*), count(DISTINCT source) FROM emogi_graphs'), '500|500', 'all graphs are listed once');
is($node->safe_psql('postgres', 'SELECT graphs FROM emogi_cache'), '500', 'emogi_cache counts them');
$node->safe_psql('postgres', 'SELECT emogi_evict()');
is($node->safe_psql('postgres', 'SELECT count(*) FROM emogi_graphs'), '0', 'emogi_evict evicts them all');

$node->stop;
no_crash($node);

done_testing();
