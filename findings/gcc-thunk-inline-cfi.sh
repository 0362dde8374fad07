#!/bin/sh
# gcc -mindirect-branch=thunk-inline (and -mfunction-return=thunk-inline) writes a table that is wrong from the
# first thunk on: at the thunk's label the CFA becomes rsp+16, whatever the function's frame is, for the word that
# the thunk's own call pushes; and nothing takes that back behind the thunk, where the function makes its call. So
# each caller that stands behind such a call has a wrong CFA.
#
# Debuggers that read the table show wrong callers without a sign. The kernel, for which the option was made, has
# its own table (ORC), so nobody sees it. gcc 16.2 writes the same.
#
# Seen with gcc 12.2.0-14+deb12u1 of Debian 12, where the frame is 64 bytes at the call: "64 16 call 8".
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
apt-get download -q cpp-12=12.2.0-14+deb12u1 libgmp10=2:6.2.1+dfsg1-1.1 libisl23=0.25-1.1 libmpc3=1.3.1-1 libmpfr6=4.2.0-1 \
	libzstd1=1.5.4+dfsg2-5 >/dev/null 2>&1 || { echo "the packages cannot be fetched: Debian 12 has them"; exit 1; }
for deb in *.deb; do dpkg -x "$deb" root; done
export LD_LIBRARY_PATH="$dir/root/usr/lib/x86_64-linux-gnu"

echo 'int f(int (*g)(int *)) { int a[10]; return g(a) + a[1]; }' >f.c
root/usr/lib/gcc/x86_64-linux-gnu/12/cc1 -quiet -O2 -mindirect-branch=thunk-inline f.c -o f.s
# The CFA's offsets, and the call that the function makes: of the thunk's first label, from behind it.
seen=$(awk '/\.cfi_def_cfa_offset/ { print $2 } /jmp\t\.LIND/ && !begun { begun = 1 } /^\.LIND1:/ { behind = 1 }
	behind && /call/ { print "call" }' f.s | xargs)
echo "$seen"
[ "$seen" = "64 16 call 8" ]
