#!/bin/sh
# clang -mlvi-hardening returns by "pop %rcx; lfence; jmp *%rcx", and its table knows nothing of the pop: behind it
# the CFA is still rsp+8 there, one word too far out, and the "return address" is whatever lies above the true one.
#
# An unwinder that believes the table at one of these two instructions skips the caller without a sign. The code alone
# tells.
#
# Seen with clang 1:14.0.6-12 of Debian 12: "pop at 0x2, 1 row: rsp+8 from 0x0 on".
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
apt-get download -q clang-14=1:14.0.6-12 libclang-cpp14=1:14.0.6-12 libllvm14=1:14.0.6-12 libclang-common-14-dev=1:14.0.6-12 \
	binutils-x86-64-linux-gnu=2.40-2 libbinutils=2.40-2 >/dev/null 2>&1 ||
	{ echo "the packages cannot be fetched: Debian 12 has them"; exit 1; }
for deb in *.deb; do dpkg -x "$deb" root; done
export LD_LIBRARY_PATH="$dir/root/usr/lib/x86_64-linux-gnu:$dir/root/usr/lib/llvm-14/lib"

echo 'int f(int x) { return x; }' >f.c
root/usr/lib/llvm-14/bin/clang -O2 -mlvi-hardening -c f.c -o f.o
objdump=root/usr/bin/x86_64-linux-gnu-objdump
pop=$($objdump -d f.o | awk '/pop +%rcx/ { sub(":", "", $1); print $1 }')
$objdump -d f.o | grep -q 'jmp.*\*%rcx'
rows=$($objdump -WF f.o | awk '/^[0-9a-f]+ rsp\+/ { print $2 " from 0x" $1 + 0 " on" }')
seen="pop at 0x$pop, $(echo "$rows" | wc -l) row: $rows"
echo "$seen"
end=$($objdump -d f.o | awk '/jmp.*\*%rcx/ { sub(":", "", $1); print $1 }')
[ -n "$pop" ] && [ $((0x$pop)) -lt $((0x$end)) ] && [ "${rows##*rsp}" = "+8 from 0x0 on" ]
