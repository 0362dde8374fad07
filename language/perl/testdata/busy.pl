# Keeps all kinds of subs busy for ever. The first argument is the path of the native extension.
use strict;
use warnings;
no warnings 'recursion';
use DynaLoader ();

BEGIN {
    my $library = DynaLoader::dl_load_file($ARGV[0], 0) or die DynaLoader::dl_error();
    my $boot = DynaLoader::dl_find_symbol($library, "boot_oracle") or die;
    DynaLoader::dl_install_xsub("oracle::boot", $boot)->("oracle");
}

my $dir = $ARGV[1];

sub work { my $n = 0; $n += $_ * 3 % 7 for 1 .. 30; return "$n:" . join(",", map { sprintf "%03d", $_ } 1 .. 5) }

sub recurse {
    my ($depth) = @_;
    return work() if $depth == 0;
    return recurse($depth - 1) . "x";
}

sub closures {
    my $count = 0;
    my $add = sub { $count += length work(); $count };
    my $twice = sub { my $f = shift; $f->() + $f->() };
    $twice->($add);
    my sub lexical { return $_[0] ? lexical_end($_[0]) : 0 }
    lexical(3);
}
sub lexical_end { work() }

sub raises { my $n = shift; work(); die { n => $n } if $n == 0; raises($n - 1) }
sub handles {
    eval { raises(4); 1 } or work();
    eval { eval { raises(1) }; work(); raises(2) };
    local $@;
    local $SIG{__DIE__} = sub { work() };
    eval { raises(0) };
    local $SIG{__WARN__} = sub { work() };
    warn "something";
}

sub texts {
    eval q{work(); sub generated { work() } generated(); recurse(2)};
    eval q{BEGIN { main::work() } use constant PI => main::work(); package Other; sub new { bless {}, shift } 1;} or die;
    eval q{
        die work();
    };
    eval "work(";
}

sub files {
    my $name = "Loaded" . int(rand 3);
    delete $INC{"$name.pm"};
    no warnings 'redefine';
    require "$name.pm";
    $name->begin(sub { work() });
    do "./$name.pm";
}

sub by_number { work(); $a <=> $b }
sub sorts {
    my @list = map { int rand 100 } 1 .. 6;
    @list = sort by_number @list;
    @list = sort { work() cmp work() || $a <=> $b } @list;
    my $by = sub { recurse(2); $b <=> $a };
    @list = sort $by @list;
    @list = sort { $a <=> $b or 0 } @list, 1 .. 50;
    @list = sort { sorts_within($a, $b) } @list[0 .. 3];
}
sub sorts_within { my @in = sort { work(); $a cmp $b } qw(b a c); return $_[0] <=> $_[1] }

package Tied {
    sub TIESCALAR { my $class = shift; bless [@_], $class }
    sub FETCH { main::work(); $_[0][0] }
    sub STORE { $_[0][0] = $_[1]; eval { main::raises(1) }; main::work() }
    sub TIEHASH { bless {}, shift }
    sub FIRSTKEY { my $n = keys %{$_[0]}; main::work(); each %{$_[0]} }
    sub NEXTKEY { main::recurse(1); each %{$_[0]} }
    sub DESTROY { main::work() }
}
package TiedHash { our @ISA = "Tied"; sub FETCH { main::work(); $_[0]{$_[1]} } sub STORE { $_[0]{$_[1]} = $_[2] } }
sub ties {
    tie my $x, "Tied", 3;
    $x = $x + 1;
    tie my %h, "TiedHash";
    $h{$_} = work() for qw(a b);
    my @list = map { $h{$_} } keys %h;
    untie $x;
}

package Number {
    use overload '+' => \&add, '""' => sub { main::work(); "number" }, '<=>' => sub { eval { main::raises(1) }; 0 }, 'bool' => sub { 1 };
    sub new { my ($class, $n) = @_; bless { n => $n }, $class }
    sub add { main::work(); Number->new($_[0]{n} + (ref $_[1] ? $_[1]{n} : $_[1])) }
    sub DESTROY { local ($@, $!); main::work() }
}
sub overloads {
    my $sum = Number->new(1) + Number->new(2) + 3;
    my $text = "is $sum" . sprintf "%s", $sum;
    my @list = sort { $a <=> $b } map { Number->new($_) } 1 .. 3;
}

package Auto {
    our $AUTOLOAD;
    sub AUTOLOAD { my $name = $AUTOLOAD; main::work(); return if $name =~ /DESTROY/; no strict 'refs'; goto &main::recurse if $name =~ /tail/; main::work() }
    sub new { bless {}, shift }
}
sub automatic { my $o = Auto->new; $o->anything(1); Auto::tail(3); $o->can("new")->("Auto") }

sub tail { my $n = shift; work(); @_ = ($n - 1); goto &tail if $n > 0; work() }
sub patterns {
    my $text = "abc" x 10;
    my $n = 0;
    $text =~ /(?:b(?{ $n++; work() })c|a)+/;
    (my $copy = $text) =~ s/(b)/work() . recurse(1)/ge;
    $text =~ /^(a|b|c|(??{ work() }))*$/;
}

our ($first, $second) = (1, 2);
format STDERR =
@<<<< @<<<<
work(), $second
.
sub formats { local *OUT; open my $out, '>', \my $buffer; no strict 'refs'; my $old = select $out; $~ = "STDERR"; write $out; select $old; }

use List::Util qw(first reduce sum0);
sub lists {
    my $found = first { work(); $_ > 2 } 1 .. 4;
    my $all = reduce { work(); $a + $b } 1 .. 5;
    my @odd = grep { work() && $_ % 2 } map { recurse(1); $_ } 1 .. 4;
    List::Util::any { eval { raises(1) }; 0 } 1 .. 3;
}

sub natives {
    oracle::call(sub { work(); recurse(shift) }, 2);
    oracle::attempt(sub { raises(2) });
    oracle::call(\&oracle::call, sub { oracle::attempt(\&natives_inner) });
    eval { oracle::call(sub { die "out" }) };
    tie my $native, "Native", 1;
    my $n = "$native";
}
package Native { our @ISA = "oracle"; sub TIESCALAR { bless sub { main::work() }, shift } }
sub natives_inner { eval { oracle::call(\&work) }; work() }

sub conditions {
    my $n = shift;
    if (length work() < 0) { return 1 }
    elsif ($n == 1
        && work()) { return recurse(
            1
        ) }
    elsif (work() eq "x" or
        recurse(1)) {
        work() unless
            recurse(2) =~ /y/;
    }
    else { work() }
    for (my $i = 0; $i < 2;
        $i += length work()) { work() }
    my %h = (
        a => work(),
        b => [ work(),
            recurse(1) ],
    );
}

sub wanted { return wantarray ? (work(), work()) : work() }
sub signals { local $SIG{USR1} = sub { work(); recurse(1) }; kill USR1 => $$; work(); 1 }
sub names { no strict 'refs'; no warnings 'redefine'; my $n = int rand 3; *{"main::made$n"} = sub { work() }; "main"->can("made$n")->(); &{"made$n"}(); undef *{"main::made$n"}; local *aliased = \&work; aliased(1) }

my $newer = eval q{
    use feature qw(try defer); no warnings;
    sub { try { raises(1) } catch ($e) { work() } { defer { work() } recurse(1) } try { return wanted() } catch ($e) { } }
} || sub { work() };

my @all = (sub { recurse(int rand 20) }, \&closures, \&handles, \&texts, \&files, \&sorts, \&ties, \&overloads, \&automatic, sub { tail(3) }, \&patterns, \&formats, \&lists, \&natives, sub { conditions(int rand 3) }, sub { my @l = wanted(); wanted() }, \&signals, \&names, $newer);

unshift @INC, $dir;
for my $n (0 .. 2) {
    open my $file, '>', "$dir/Loaded$n.pm" or die;
    print $file "package Loaded$n;\nuse strict;\nBEGIN { main::work() }\nmain::recurse(2);\nsub begin {\n    my (\$class, \$code) = \@_;\n    return \$code->(\n        1);\n}\nINIT { }\nmain::work();\n1;\n";
}
$| = 1;
open my $null, '>', '/dev/null' or die;
print "ready\n";
open STDERR, '>', '/dev/null';
$all[rand @all]->(rand 3) while 1;
