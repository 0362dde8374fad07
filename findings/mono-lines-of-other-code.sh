#!/bin/sh
# Mono --debug may tell wrong lines of a method that was compiled twice: by two threads at once, or, as here, while its
# compiler ran a class's initialiser, which called the method. The code that was there first is run; the table of its
# lines is replaced by the one of the code that was compiled last, and thrown away. The two codes differ by what was
# initialised when they were made.
#
# Seen with Mono 6.8.0.105+dfsg-3.3+deb12u1 of Debian 12, and 6.12.0.199 of Debian 13, on amd64:
#     called at line 11, Mono says 11
#     called at line 11, Mono says 13
#     called at line 12, Mono says 13
#     called at line 13, Mono says 13
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
v=6.8.0.105+dfsg-3.3+deb12u1
apt-get download -q mono-runtime-sgen=$v mono-runtime-common=$v mono-mcs=$v libmono-corlib4.5-dll=$v libmono-security4.0-cil=$v \
	libmono-system4.0-cil=$v libmono-system-core4.0-cil=$v libmono-system-xml4.0-cil=$v >/dev/null 2>&1 ||
	{ echo "the packages cannot be fetched: Debian 12 has them"; exit 1; }
for deb in *.deb; do dpkg -x "$deb" root; done
export MONO_PATH="$dir/root/usr/lib/mono/4.5" MONO_GAC_PREFIX="$dir/root/usr" MONO_CFG_DIR="$dir/root/etc"
mono=root/usr/bin/mono-sgen

cat >lines.cs <<'END'
using System.Diagnostics;
using System.Runtime.CompilerServices;
class Once { public static readonly int Value = Program.Run(1), Other = 2; }
static class Program
{
    [MethodImpl(MethodImplOptions.NoInlining)] static int Said(int line) { System.Console.WriteLine("called at line {0}, Mono says {1}", line, new StackTrace(true).GetFrame(1).GetFileLineNumber()); return 1; }
    [MethodImpl(MethodImplOptions.NoInlining)] public static int Run(int i)
    {
        switch (i) {
        case 0: return Once.Value + Once.Other + Once.Value + Once.Other + Once.Value + Once.Other;
        case 1: return Said(11);
        case 2: return Said(12);
        default: return Said(13);
        }
    }
    static void Main() { for (int i = 1; i < 4; i++) Run(i); }
}
END
$mono root/usr/lib/mono/4.5/mcs.exe -optimize+ -debug lines.cs
$mono --debug lines.exe | tee said
grep -q 'line 12, Mono says 13' said
