# Tables change in all ways concurrently, while calls check their tracked graphs: each graph must
# equal, byte for byte, the result of the server's own scan under the call's snapshot. The same
# applies to graphs rebuilt after each change. Negative control: with a rule disabled, a check must
# fail.
#
# test/live_stress sets environment variables: EMOGI_STRESS_SECONDS, EMOGI_STRESS_CLUSTER (variants:
# LiveStress.pm), EMOGI_STRESS_ROWS, EMOGI_STRESS_READERS, EMOGI_STRESS_SETTINGS (lines of
# postgresql.conf), EMOGI_STRESS_FAULT.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use EmogiTest;
use LiveStress;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $rows = $ENV{EMOGI_STRESS_ROWS} // 8000;
my $readers = $ENV{EMOGI_STRESS_READERS};    # sessions that check committed changes
my $fault = $ENV{EMOGI_STRESS_FAULT} // '';
my @settings = ('emogi.incremental_min_size = 0', split(/\n/, $ENV{EMOGI_STRESS_SETTINGS} // ''), $fault ne '' ? "emogi.fault = '$fault'" : ());
my @runs = defined $ENV{EMOGI_STRESS_SECONDS} ? [ $ENV{EMOGI_STRESS_SECONDS}, split /[ ,]+/, $ENV{EMOGI_STRESS_CLUSTER} // '' ] :
  ([ 20, 'thread' ], [ 20, qw(checksums replica small) ], [ 10, qw(thread off) ], [ 15, qw(thread standby) ], ([ 15, qw(thread trial) ]) x (server_version() >= 17));

# Rules whose absence must be detected: [ emogi.fault that disables it, maximum seconds until a
# check fails, variants of the cluster ]
my @controls = defined $ENV{EMOGI_STRESS_SECONDS} ? () : (
	[ 'registration_rule=0', 60 ],
	[ 'tracker_undecided=0', 30 ],
	[ 'tracker_page_lsn=0', 30 ],
	[ 'tracker_contains=0', 30 ],
	[ 'tracker_newest=0', 30 ],
	[ 'query_tracker=0', 30 ],
	[ 'query_rescans=0', 30 ],
	[ 'tracker_map_lsn=0,refresh_map=3000,refresh_pages=3000,page_rescanned=1000,random=1', 60 ],
	[ 'tracker_snapshot=0,refresh_map=3000,refresh_pages=3000,page_rescanned=1000,random=1', 60 ],
	[ 'tracker_lsn_locked=0,refresh_map=3000,refresh_pages=3000,page_rescanned=1000,random=1', 60 ],
	([ 'trial_rule=0', 60, 'trial' ]) x (server_version() >= 17),
);

# Regular run: no check fails.
sub stress_rightly
{
	my ($node, $seconds, $title) = @_;
	my $came = stress($node, seconds => $seconds, rows => $rows, readers => $readers, faults => $fault);
	my ($wrong, $errors) = ($came->{wrong}, $came->{errors});
	# through 14, pgbench does not retry after a deadlock or a serialization failure; no version
	# does after a recovery conflict
	my @lost = ('attempted to lock invisible tuple', `pgbench --help` =~ /--max-tries/ ? () : ('deadlock detected', 'could not read relation "parts" under', 'could not compare the graph of'),
		$title =~ /standby/ ? ('conflict with recovery', 'aborted while receiving the transaction status', 'perhaps the backend died') : ());
	my $lost = join('|', @lost, 'Run was aborted; the above');
	my @gone = grep { grep { /aborted|error:/ && $_ !~ /$lost/ } split /^/, $came->{said}{$_} } sort keys %{ $came->{said} };

	is(scalar @$wrong, 0, "$title: no check failed") or diag @$wrong[ 0 .. ($#$wrong < 9 ? $#$wrong : 9) ];
	is(scalar @$errors, 0, '... no error') or diag @$errors[ 0 .. ($#$errors < 9 ? $#$errors : 9) ];
	is("@gone", '', '... no client gave up') or diag map { grep { /aborted|error:/ } split /^/, $came->{said}{$_} } @gone;
	is("@{ $came->{late} }", '', '... all have ended');
	cmp_ok($came->{checks}, '>', 20 * $seconds, '... enough checks');
	cmp_ok($came->{writes}, '>', 10 * $seconds, '... and writes');
	cmp_ok($came->{stopped}, '>', 0, '... while VACUUMs were canceled');
	note sprintf 'live stress: %d checks (%.0f a second), %d wrong, %d errors; %d transactions wrote, %d VACUUMs were stopped; %s; %.0f s, %s', $came->{checks}, $came->{checks} / $came->{seconds}, scalar @$wrong, scalar @$errors,
	  $came->{writes}, $came->{stopped}, $came->{cache}, $came->{seconds}, $title;
}

foreach my $run (@runs)
{
	my ($seconds, @variants) = @$run;
	my @off = (grep { $_ eq 'off' } @variants) ? 'emogi.enable_incremental = off' : ();
	my $node = stress_node('live' . join('_', '', @variants), \@variants, $rows, @settings, @off);

	stress_rightly($node, $seconds, join(', ', @variants) || 'a plain cluster');
	foreach my $table (qw(edges parts))
	{
		is($node->safe_psql('postgres', "SELECT ok, differs FROM emogi_check('$table', 'out', true, true)"), 't|', "$table is correct after the end of all writes");
	}
	region_is_empty($node, 'the arena is empty');
	$node->stop;
	no_crash($node);
}

# Negative control: without one of the rules.
foreach my $control (@controls)
{
	my ($rule, $seconds, @variants) = @$control;
	my @live = $rule =~ /^(tracker|query)/ ? 'emogi.incremental_min_size = 0' : 'emogi.enable_incremental = off';
	my $node = stress_node('control_' . ($rule =~ s/\W.*//r), [ 'thread', @variants ], $rows, @live, "emogi.fault = '$rule'");
	my $came = stress($node, seconds => $seconds, rows => $rows, faults => $rule, evictor => $rule eq 'registration_rule=0', until_wrong => 1);

	cmp_ok(scalar @{ $came->{wrong} }, '>', 0, sprintf 'negative control: %s is detected after %.1f s, %d checks', $rule, $came->{seconds}, $came->{checks});
	$node->stop;
	no_crash($node);
}

done_testing();
