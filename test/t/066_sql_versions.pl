# During an update the library and the SQL objects of a database have different versions for some
# time: calls are rejected with a HINT about the next step.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use EmogiTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

# A copy of the PostgreSQL installation that this test can change. Programs find their folders
# relative to their location, so they are copied; the rest are links.
my $home = PostgreSQL::Test::Utils::tempdir();
my %dir;
foreach my $part ('bindir', 'sharedir', 'pkglibdir')
{
	chomp(my $there = `pg_config --$part`);
	$dir{$part} = "$home$there";
	next if -d $dir{$part};
	system('mkdir', '-p', $dir{$part}) == 0 && system('cp', $part eq 'bindir' ? '-rL' : '-rs', "$there/.", $dir{$part}) == 0
	  or die "could not copy $there\n";
}
my $control = slurp_file("$dir{sharedir}/extension/emogi.control");
my ($old) = $control =~ /^default_version = '([\d.]+)'/m or die "no version\n";
my $library = slurp_file("$dir{pkglibdir}/emogi.so");
my $script = slurp_file("$dir{sharedir}/extension/emogi--$old.sql");

# A version string of the same length as this one, so that it can be replaced in the library.
my ($new, $newest) = map { my $by = $_; $old =~ s/(\d)$/($1 + $by) % 10/er } 1, 2;
die "$old has no later version of one digit\n" if $old =~ /[89]$/;

sub write_file
{
	my ($path, $text) = @_;
	unlink $path;
	open my $file, '>:raw', $path or die "$path: $!\n";
	print $file $text;
	close $file;
}

# Install the library of a version.
sub install_library
{
	my ($version) = @_;
	my $changed = $library =~ s/\Q$old\E\0/$version\0/gr;
	die "the library does not have its version\n" if $version ne $old && $changed eq $library;
	write_file("$dir{pkglibdir}/emogi.so", $changed);
}

# Install the SQL of a version, and update scripts that add a function.
sub install_sql
{
	my ($version) = @_;
	my $begin = q{CREATE FUNCTION _emogi_script(version text) RETURNS void AS 'MODULE_PATHNAME', 'emogi_script' LANGUAGE C STRICT;
SELECT _emogi_script('%s');
DROP FUNCTION _emogi_script(text);
CREATE FUNCTION added_in_%s() RETURNS int LANGUAGE sql AS 'SELECT 1';
};
	my @steps = ($old, $new, $newest);
	for my $i (1 .. 2)
	{
		write_file("$dir{sharedir}/extension/emogi--$steps[$i-1]--$steps[$i].sql", sprintf $begin, $steps[$i], $i);
	}
	write_file("$dir{sharedir}/extension/emogi--$version.sql", $script =~ s/\('\Q$old\E'\)/('$version')/r) if $version ne $old;
	write_file("$dir{sharedir}/extension/emogi.control", $control =~ s/'\Q$old\E'/'$version'/r);
}

# Check that a call is rejected, with both versions and a HINT.
sub refused
{
	my ($node, $sql, $of, $loaded, $hint, $name) = @_;
	my ($state, $message) = sqlstate($node, $sql);

	is($state, '55000', "$name: refused");
	like($message, qr/the SQL of emogi .*is of version \Q$of\E, but the server has loaded the library of version \Q$loaded\E/, '... with both versions');
	like($message, qr/HINT: .*\Q$hint\E/, '... and the next step');
}

install_sql($old);
my $node = PostgreSQL::Test::Cluster->new('main', install_path => $home . ($dir{bindir} =~ s/^\Q$home\E//r =~ s!/bin$!!r));
$node->init;
$node->append_conf('postgresql.conf', "shared_preload_libraries = 'emogi'\nautovacuum = off");
$node->start;
$node->safe_psql('postgres', q{
	CREATE EXTENSION emogi;
	CREATE TABLE small (src int, dst int);
	INSERT INTO small VALUES (1, 2), (2, 3), (1, 4);
	CREATE VIEW reach AS SELECT * FROM emogi_bfs('small', 1)});
answers_small($node, 'one version');
is($node->safe_psql('postgres', q{SELECT count(*) FROM pg_proc WHERE proname = '_emogi_script'}), '0', 'the call at the start of the script leaves nothing behind');
my $members = $node->safe_psql('postgres', q{SELECT count(*) FROM pg_depend WHERE deptype = 'e'});

# Files of a later version are installed; the server has not been restarted.
install_library($new);
install_sql($new);
answers_small($node, 'new files, old server: calls as before');
is($node->safe_psql('postgres', 'SELECT emogi_version()'), $old, '... of the old library');
my $restart = 'Restart the server to load the library that is installed.';
refused($node, 'ALTER EXTENSION emogi UPDATE', $new, $old, $restart, 'ALTER EXTENSION UPDATE before the restart');
$node->safe_psql('postgres', 'CREATE DATABASE fresh');
my ($state, $message) = sqlstate($node, 'CREATE EXTENSION emogi', 'fresh');
is($state, '55000', 'CREATE EXTENSION before the restart: refused');
like($message, qr/HINT: .*\Q$restart\E/, '... and the next step');
is($node->safe_psql('postgres', q{SELECT extversion FROM pg_extension WHERE extname = 'emogi'}), $old, 'nothing was updated');
answers_small($node, '... and calls succeed');

# The server was restarted; the database has the old SQL objects.
$node->restart;
my $update = 'Run ALTER EXTENSION emogi UPDATE in this database, as a superuser.';
foreach my $call (
	q{SELECT * FROM emogi_bfs('small', 1)},
	q{SELECT count(*) FROM emogi_bfs('small', 1)},
	q{SELECT (emogi_bfs('SELECT src, dst FROM small', 1)).vertex},
	q{SELECT * FROM reach},
	q{SELECT emogi_triangle_count('small')},
	q{SELECT * FROM emogi_shortest_path('small', 1, 3)},
	q{SELECT * FROM emogi_estimate('small')},
	q{SELECT * FROM emogi_prewarm('small')},
	q{SELECT emogi_evict()},
	q{SELECT emogi_reset()},
	q{SELECT * FROM emogi_check('small')},
	map { "SELECT * FROM emogi_$_" } qw(devices graphs cache runs progress))
{
	refused($node, $call, $old, $new, $update, $call);
}
is($node->safe_psql('postgres', 'SELECT emogi_version()'), $new, 'emogi_version returns the version of the library');
is($node->safe_psql('fresh', 'CREATE EXTENSION emogi; SELECT count(*) FROM emogi_cc($$VALUES (1, 2)$$)'), '2', 'a database without the extension gets that of the library');

# The check is not cached: a rejected session can call after the update.
is($node->safe_psql('postgres', q{
	DO $$ BEGIN PERFORM count(*) FROM emogi_bfs('small', 1); RAISE 'not refused'; EXCEPTION WHEN object_not_in_prerequisite_state THEN NULL; END $$;
	ALTER EXTENSION emogi UPDATE;
	SELECT string_agg(vertex || ':' || level, ' ' ORDER BY vertex) FROM emogi_bfs('small', 1)}), '1:0 2:1 3:2 4:1', 'ALTER EXTENSION UPDATE, in one session');
answers_small($node, '... and in others');
is($node->safe_psql('postgres', 'SELECT count(*), sum(added_in_1()) FROM reach'), '4|4', '... views stay, and the new function exists');
is($node->safe_psql('postgres', q{SELECT count(*) FROM pg_depend WHERE deptype = 'e'}), $members + 1, '... and nothing else');

# Two versions at once: the step between is not rejected for being older than the library.
install_library($newest);
install_sql($newest);
$node->restart;
refused($node, q{SELECT * FROM emogi_bfs('small', 1)}, $new, $newest, $update, 'two versions');
$node->safe_psql('fresh', "DROP EXTENSION emogi; CREATE EXTENSION emogi VERSION '$old'");
($state) = sqlstate($node, q{SELECT * FROM emogi_cc('VALUES (1, 2)')}, 'fresh');
is($state, '55000', 'an old version can be created, and its calls are rejected');
is($node->safe_psql('fresh', 'ALTER EXTENSION emogi UPDATE; SELECT count(*) FROM emogi_cc($$VALUES (1, 2)$$); SELECT added_in_1() + added_in_2()'), "2\n2", '... until both steps are done');
$node->safe_psql('postgres', 'ALTER EXTENSION emogi UPDATE');
answers_small($node, 'both steps');

# Downgrade of the library: the SQL objects are newer.
install_library($old);
$node->restart;
refused($node, q{SELECT * FROM emogi_bfs('small', 1)}, $newest, $old, "install emogi $newest and restart", 'an older library');

# Versions are compared as numbers.
install_library($new);
install_sql($new);
$node->restart;
my ($first, $last) = $new =~ /^(.*\.)(\d+)$/;
foreach my $case ([ "${first}1$last", 1 ], [ "$new.1", 1 ], [ '10.0', 1 ], [ '0.0.99', 0 ], [ $old, 0 ], [ '0', 0 ])
{
	$node->safe_psql('postgres', "UPDATE pg_extension SET extversion = '$case->[0]' WHERE extname = 'emogi'");
	refused($node, q{SELECT * FROM emogi_bfs('small', 1)}, $case->[0], $new, $case->[1] ? $restart : $update, "SQL of $case->[0]");
}
$node->safe_psql('postgres', "UPDATE pg_extension SET extversion = '$new' WHERE extname = 'emogi'");
answers_small($node, 'the same version again');
$node->stop;
no_crash($node);

done_testing();
