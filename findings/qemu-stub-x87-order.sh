#!/bin/sh
# qemu's stub of x86 tells the x87's registers as the processor has them, before release 10: a function's long
# double is its st7.
#
# GDB's st0 is the top of the x87's stack, as it is in instructions. So gdb says that the function has returned 0,
# with "print three()" and with "finish". On 32-bit x86 it does so for float and double, too. qemu 10.0 and 11.1 are
# right.
#
# Seen with qemu-user 1:7.2+dfsg-7+deb12u18 and gdb 13.1 of Debian 12: "$1 = 0".
set -eu
dir=$(mktemp -d)
trap 'kill $stub 2>/dev/null || true; rm -rf "$dir"' EXIT
stub=
cd "$dir"
qemu-x86_64 --version | grep -q 'version 7\.' || { echo "qemu-x86_64 is not of release 7: Debian 12 has it"; exit 1; }
cat >three.c <<'C'
__attribute__((noipa)) long double three(void) { return 3; }
int main(void) { return three() != 3; }
C
gcc -g -static -o three three.c
qemu-x86_64 -g "$dir/socket" ./three &
stub=$!
until [ -e "$dir/socket" ]; do sleep 0.1; done
seen=$(gdb -nx -batch -iex 'set debuginfod enabled off' -ex "target remote $dir/socket" -ex 'break main' -ex continue -ex 'print three()' three | grep '^\$1')
echo "$seen"
[ "$seen" = '$1 = 0' ]
