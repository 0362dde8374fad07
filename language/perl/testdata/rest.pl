# Comes to rest in a sub in C, below subs of many kinds. The first argument is the path of the native
# extension, whose handler has told the stack before. From then on nothing changes.
use strict;
use warnings;
use DynaLoader ();

BEGIN {
    my $library = DynaLoader::dl_load_file($ARGV[0], 0) or die DynaLoader::dl_error();
    my $boot = DynaLoader::dl_find_symbol($library, "boot_oracle") or die;
    DynaLoader::dl_install_xsub("oracle::boot", $boot)->("oracle");
}

package Tied { sub TIESCALAR { bless {} } sub FETCH { main::inner(3) } }
package Sum { use overload '+' => sub { tie my $x, "Tied"; my $y = "$x" }; sub new { bless {} } }

sub inner { my $n = shift; return inner($n - 1) if $n; oracle::ask(); oracle::rest(); }
sub sorted { my @list = sort { Sum->new + 1 } 2, 1 }
my $closure = sub { eval { oracle::call(sub { eval q{

    sorted()} }) } };
$| = 1;
if ($ARGV[1]) {
    require threads;
    my $thread = threads->create(sub { $closure->() });
    $thread->join;
}
else {
    $closure->(1);
}
