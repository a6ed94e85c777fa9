# When emogi.max_memory is short, the least recently used graphs are evicted, those in use stay, and
# a graph that cannot fit reports it; under any pressure an answer is correct or an error 53200.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use EmogiTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(sleep);

my $budget = 64 << 20;
my $node = crash_node('main', "emogi.max_memory = '64MB'", "shared_buffers = '256MB'");

# Trees with the root 1. big1 .. big4: a graph of a third of the limit, nearly all of it during the
# build; mid1 .. mid5: some MB; huge: never fits.
$node->safe_psql('postgres', q{
	CREATE FUNCTION whole(graph text) RETURNS text LANGUAGE sql STABLE AS
	$$ SELECT concat_ws(' ', count(*), sum(level), sum(vertex % 1009 * level)) FROM emogi_bfs(graph, 1) $$;
	CREATE TABLE answer (graph text, answer text)});
sub make_tables
{
	my ($name, $n, $edges) = @_;

	foreach my $i (1 .. $n)
	{
		$node->safe_psql('postgres', qq{
			CREATE TABLE $name$i AS SELECT 1 + (hashint8(j * 7 + $i)::bigint & 2147483647) % (j - 1) AS src, j AS dst FROM generate_series(2, $edges + 1) j;
			ANALYZE $name$i});
	}
}
make_tables('big', 4, 1_000_000);
make_tables('mid', 5, 200_000);
make_tables('huge', 1, 1_500_000);

# The reference: answers from a server with enough memory.
$node->safe_psql('postgres', qq{ALTER SYSTEM SET emogi.max_memory = '1GB'});
$node->restart;
foreach my $graph ((map { "big$_" } 1 .. 4), (map { "mid$_" } 1 .. 5), 'huge1')
{
	$node->safe_psql('postgres', "INSERT INTO answer SELECT '$graph', whole('$graph')");
}
my $sizes = $node->safe_psql('postgres', q{SELECT string_agg(source || ': ' || bytes, ', ' ORDER BY source) FROM emogi_graphs});
note $sizes;
$node->safe_psql('postgres', 'ALTER SYSTEM RESET emogi.max_memory');
$node->restart;

# Call on a table; returns 'hit', 'built' or 'private' if correct, otherwise what is wrong.
sub call
{
	my ($graph) = @_;
	my ($out, $cache) = served($node, "SELECT whole('$graph') = (SELECT answer FROM answer WHERE graph = '$graph')");

	return $out eq 't' ? $cache : $out;
}

# The cached graphs, in order of last use.
sub cached
{
	return $node->safe_psql('postgres', q{SELECT string_agg(source, ' ' ORDER BY last_used) FROM emogi_graphs WHERE state = 'ready'});
}

sub counter
{
	my ($what) = @_;

	return $node->safe_psql('postgres', "SELECT $what FROM emogi_cache");
}

foreach my $i (1 .. 2)
{
	is($node->safe_psql('postgres', "SELECT fits FROM emogi_estimate('big$i')"), 't', "big$i fits alone");
	is(call("big$i"), 'built', '... and is built');
	is(call("big$i"), 'hit', '... and hit');
	like(cached(), qr/\bbig$i$/, '... and cached');
}
unlike(cached(), qr/big1/, 'two large tables do not fit together: the first was evicted');
cmp_ok(counter('evictions'), '>=', 1, '... which is counted');
is(call('big1'), 'built', '... and is built again');
cmp_ok(counter('bytes'), '<=', $budget, 'cached graphs are within the limit');
is(counter('allowed_bytes'), $budget, '... which emogi_cache shows');

# Least recently used first.
$node->safe_psql('postgres', 'SELECT emogi_evict(); SELECT emogi_reset()');
is(counter('evictions'), '0', 'emogi_reset() begins anew');
is(call("mid$_"), 'built', "mid$_ is built") foreach 1 .. 5;
is(call("mid$_"), 'hit', "mid$_ is hit") foreach 2, 1, 4, 5, 3;
my $order = cached();
is($order, 'mid2 mid1 mid4 mid5 mid3', 'last_used is the order of use');
is(call('big1'), 'built', 'a large one needs memory');
my $rest = cached();
note "of $order there remained $rest";
ok(($rest eq 'big1' || "$order big1" =~ /(?:^| )\Q$rest\E$/), '... the least recently used ones went') or diag $rest;
cmp_ok(counter('evictions'), '==', 6 - scalar(() = $rest =~ /\w+/g), '... as many as are counted');
is(call($_), 'hit', "$_ stays a hit") foreach grep { /mid/ } split / /, $rest;

# For a snapshot older than the eviction, with a writer of another table in progress, the graph is
# rebuilt once.
my ($writer, $old) = (session($node), session($node));
$writer->ask(q{CREATE TABLE other (a int); BEGIN; INSERT INTO other VALUES (1)});
is($old->ask(q{BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM other}), '0', 'an old snapshot');
$writer->ask('COMMIT');
$writer->quit;
is(call('big1'), 'hit', 'a graph to be evicted');
call("big$_") foreach 2, 3;
unlike(cached(), qr/big1/, '... for memory');
foreach my $how (qw(built hit))
{
	is($old->ask(q{SELECT whole('big1') = (SELECT answer FROM answer WHERE graph = 'big1')}), 't', '... and is used under the old snapshot');
	is($node->safe_psql('postgres', 'SELECT cache FROM emogi_runs ORDER BY id DESC LIMIT 1'), $how, "... $how");
}
$old->ask('COMMIT');
$old->quit;

# A graph that cannot fit at all reports its own required memory.
$node->safe_psql('postgres', 'SELECT emogi_evict()');
is(call('mid1'), 'built', 'before a table that cannot fit');
foreach my $graph ('huge1', 'SELECT src, dst FROM huge1')
{
	my ($state, $message) = sqlstate($node, "SELECT whole('$graph')");
	is($state, '53200', "too large: $graph");
	like($message, qr/emogi\.max_memory/, '... it names the setting');
	like($message, qr/\b$budget\b|\b64 ?MB\b/, '... and the limit');
	like($message, qr/\b\d{8,}\b.*\b\d{8,}\b/s, '... and the required memory');
}
is($node->safe_psql('postgres', q{SELECT fits, peak_bytes > allowed_bytes, allowed_bytes FROM emogi_estimate('huge1')}), "f|t|$budget", '... emogi_estimate predicted it');
like(call('mid1'), qr/^(?:hit|built)$/, '... other calls are right');
nothing_left($node, 'after errors');

# Graphs in use, by a call or a cursor, are not evicted.
is(call('big1'), 'built', 'a graph to hold');
my ($out, $err) = ('', '');
my ($psql, $pid) = hold_at($node, \$out, \$err, 'found=4000000', q{SELECT whole('big1') = (SELECT answer FROM answer WHERE graph = 'big1')});
is($node->safe_psql('postgres', q{SELECT pins FROM emogi_graphs WHERE source = 'big1'}), '1', 'a call holds it');
like(call('big2'), qr/^(?:built|private)$|53200|emogi\.max_memory/, '... another is right, or an error 53200');
is($node->safe_psql('postgres', q{SELECT pins FROM emogi_graphs WHERE source = 'big1'}), '1', '... it is still cached');
my $freed = $node->safe_psql('postgres', q{SELECT emogi_evict('big1')});
is($freed, '0', '... emogi_evict() gives nothing back yet');
is(call('mid1'), 'built', '... a small one fits beside it');
is($node->safe_psql('postgres', q{SELECT count(*) FROM emogi_graphs WHERE source = 'big1' AND state = 'ready'}), '0', '... it is no longer available to others');
$psql->finish;
is("$out$err", "t\n", '... the call that held it is right');
ok(wait_until(3, sub { $node->safe_psql('postgres', q{SELECT count(*) FROM emogi_graphs WHERE source = 'big1'}) eq '0' }), '... and is evicted afterwards');
is(call('big2'), 'built', '... and a large one fits');
my $session = session($node);
is($session->ask(q{BEGIN; DECLARE c CURSOR FOR SELECT vertex FROM emogi_bfs('mid1', 1); FETCH 1 FROM c}) =~ /^\d+$/ ? 1 : 0, 1, 'a cursor');
call("big$_") foreach 1 .. 3;
my $rows = 1 + (() = $session->ask('FETCH ALL FROM c; COMMIT') =~ /^\d+$/mg);
is($rows, $node->safe_psql('postgres', q{SELECT split_part(answer, ' ', 1) FROM answer WHERE graph = 'mid1'}), '... has all its rows despite evictions');
$session->quit;
nothing_left($node, 'after graphs in use');

# Memory is needed while others wait for a build: waiters and builder get the same result.
($out, $err) = ('', '');
($psql, $pid) = hold_at($node, \$out, \$err, 'registered=1500000', q{SELECT whole('big1') = (SELECT answer FROM answer WHERE graph = 'big1')});
my @waiters = map { session($node) } 1 .. 3;
$_->tell(q{SELECT whole('big1') = (SELECT answer FROM answer WHERE graph = 'big1')}) foreach @waiters;
sleep 0.3;
like(call('mid2'), qr/built|hit/, 'a small table during a build with waiters');
my $beside = call('big2');
like($beside, qr/built|hit|private|53200|emogi\.max_memory/, 'a large one, too, or an error 53200');
$psql->finish;
my @answers = ($out . $err, map { $_->answer } @waiters);
like($_, qr/^t$|53200/m, 'builder and waiters are correct, or get an error about memory') foreach @answers;
$_->quit foreach @waiters;
is(scalar(grep { !/^t$/m && !/53200/ } @answers), 0, '... all of them');
nothing_left($node, 'after waiting');

# Many sessions with different tables under constant pressure.
$node->safe_psql('postgres', 'SELECT emogi_reset()');
my @psql;
foreach my $me (0 .. 5)
{
	my ($out, $err) = ('', '');
	my @graphs = map { my $round = $_; ('big' . (1 + ($me + $round) % 4), 'mid' . (1 + ($me * 2 + $round) % 5), 'mid' . (1 + ($me + 3 * $round) % 5), $round % 5 ? 'mid1' : 'SELECT src, dst FROM mid2') } 1 .. 6;
	push @psql, [ start_psql($node, \$out, \$err, map {
		my $name = /FROM (\w+)/ ? $1 : $_;
		"SELECT whole('$_') = (SELECT answer FROM answer WHERE graph = '$name')" } @graphs), \$out, \$err, scalar @graphs ];
}
my ($right, $short, $other, $calls) = (0, 0, '', 0);
foreach (@psql)
{
	my ($psql, $out, $err, $n) = @$_;
	$psql->finish;
	$calls += $n;
	$right += () = $$out =~ /^t$/mg;
	$short += () = $$err =~ /^ERROR:  53200$/mg;
	$other .= join("\n", grep { $_ ne 't' && $_ ne 'ERROR:  53200' } split /\n/, $$out . $$err);
}
is($right + $short, $calls, "sessions under pressure: $right right answers, $short errors 53200");
is($other, '', '... and nothing else');
cmp_ok($right, '>', $calls / 4, '... many right');
cmp_ok(counter('evictions'), '>', 0, '... and there were evictions: ' . counter('evictions'));
cmp_ok(counter('bytes'), '<=', $budget, '... within the budget');
like(call("big$_"), qr/^(?:hit|built)$/, "big$_ afterwards") foreach 1 .. 4;
like(call("mid$_"), qr/^(?:hit|built)$/, "mid$_ afterwards") foreach 1 .. 5;

# emogi_runs reports that a graph was evicted until the next one exists, except for a graph evicted
# manually.
sub why_built { return $node->safe_psql('postgres', q{SELECT why_built FROM emogi_runs WHERE cache = 'built' ORDER BY id DESC LIMIT 1}) }
call('big1');
call("big$_") foreach 2 .. 4;
is(call('big1'), 'built', 'a table whose graph was evicted');
is(why_built(), 'its graph was evicted to make room', '... why it was built');
$node->safe_psql('postgres', "SELECT emogi_evict('big1')");
is(call('big1'), 'built', '... again after emogi_evict');
is(why_built(), 'no graph of it was cached', '... why it was built then');
nothing_left($node, 'at the end');
is(counter('graphs'), '0', '... no graphs');
is(counter('bytes'), '0', '... of no bytes');
$node->stop;
no_crash($node);

done_testing();
