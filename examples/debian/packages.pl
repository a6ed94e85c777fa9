#!/usr/bin/perl
# Turn the output of `apt-cache dumpavail` into two files for COPY:
#
#   apt-cache dumpavail | perl packages.pl FOLDER
#
#   FOLDER/package.tsv      id  name  version  section  installed_kb  virtual
#   FOLDER/dependency.tsv   src  dst  kind
#
# An edge leads from the package that asks to the package that is asked for; versions and :arch qualifiers are left
# out, and an alternative a | b gives an edge to each. A name that is asked for but is no package itself is a virtual
# package; an edge of kind Provides leads from it to each package that stands in for it. Ids follow the order of the
# names. Needs nothing beyond perl-base.
use strict;
use warnings;

my @KINDS = ('Depends', 'Pre-Depends', 'Recommends');

my $folder = shift @ARGV or die "usage: $0 FOLDER < dumpavail\n";
my (%package, %edge, %provides);

# Names in a list like "a (>= 1) | b:any, c [amd64]".
sub names
{
	my ($list) = @_;
	return map { /^\s*([^\s:(\[]+)/ ? $1 : () } split /[,|]/, $list;
}

# The fields of one paragraph; a line that starts with a blank continues the one before.
sub fields
{
	my ($paragraph) = @_;
	$paragraph =~ s/\n[ \t]+/ /g;
	return map { /^([A-Za-z0-9-]+):\s*(.*)$/ ? ($1, $2) : () } split /\n/, $paragraph;
}

$/ = '';
while (my $paragraph = <STDIN>)
{
	my %field = fields($paragraph);
	my $name = $field{Package};
	next unless defined $name;

	# Several versions or architectures of one package: the first is the row, all give edges.
	$package{$name} //= [ map { $_ // '' } @field{ 'Version', 'Section', 'Installed-Size' } ];
	for my $kind (@KINDS)
	{
		$edge{"$name\t$_\t$kind"} = 1 for names($field{$kind} // '');
	}
	$provides{$_}{$name} = 1 for names($field{Provides} // '');
}
die "no package in the input\n" unless %package;

# What is asked for and is no package is virtual.
my %virtual;
for (keys %edge)
{
	my (undef, $asked) = split /\t/;
	$virtual{$asked} = 1 unless $package{$asked};
}
for my $asked (keys %virtual)
{
	$edge{"$asked\t$_\tProvides"} = 1 for keys %{ $provides{$asked} // {} };
}

my %id;
my $next = 1;
open my $packages, '>', "$folder/package.tsv" or die "$folder/package.tsv: $!\n";
for my $name (sort(keys %package, keys %virtual))
{
	my ($version, $section, $kb) = @{ $package{$name} // [ '', '', '' ] };
	$kb = '\N' if $kb !~ /^\d+$/;
	$id{$name} = $next++;
	print $packages join("\t", $id{$name}, $name, $version, $section, $kb, $virtual{$name} ? 't' : 'f'), "\n";
}
close $packages or die "$folder/package.tsv: $!\n";

open my $dependencies, '>', "$folder/dependency.tsv" or die "$folder/dependency.tsv: $!\n";
for (sort keys %edge)
{
	my ($src, $dst, $kind) = split /\t/;
	print $dependencies "$id{$src}\t$id{$dst}\t$kind\n";
}
close $dependencies or die "$folder/dependency.tsv: $!\n";
