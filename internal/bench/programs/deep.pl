# deep.pl DEPTH waits below DEPTH subs.
no warnings 'recursion';
$| = 1;
sub down {
	my $n = shift;
	return down($n - 1) + 1 if $n > 0;
	print "ready\n";
	sleep;
}
down($ARGV[0]);
