#!/bin/sh
# qemu's stub of x86 tells the x87's registers as the processor has them, before release 10: a function's long
# double is its st7.
#
# GDB's st0 is the top of the x87's stack, as it is in instructions. So gdb says that the function has returned 0,
# with "print three()" and with "finish". On 32-bit x86 it does so for float and double, too. qemu 10.0 and 11.1 are
# right.
#
# Seen with qemu-user-static 1:7.2+dfsg-7+deb12u18+b3 and gdb-minimal 13.1-3 of Debian 12: "$1 = 0".
set -eu
dir=$(mktemp -d)
stub=
trap 'kill $stub 2>/dev/null || true; rm -rf "$dir"' EXIT
cd "$dir"
apt-get download -q qemu-user-static=1:7.2+dfsg-7+deb12u18+b3 gdb-minimal=13.1-3 libbabeltrace1=1.5.11-1+b2 libdebuginfod1=0.188-2.1 \
	libipt2=2.0.5-1 libreadline8=8.2-1.3 libxxhash0=0.8.1-1 libexpat1=2.5.0-1+deb12u5 libmpfr6=4.2.0-1 >/dev/null 2>&1 ||
	{ echo "the packages cannot be fetched: Debian 12 has them"; exit 1; }
for deb in *.deb; do dpkg -x "$deb" root; done
export LD_LIBRARY_PATH="$dir/root/usr/lib/x86_64-linux-gnu:$dir/root/lib/x86_64-linux-gnu"

cat >three.c <<'C'
__attribute__((noipa)) long double three(void) { return 3; }
int main(void) { return three() != 3; }
C
gcc -g -static -o three three.c
root/usr/bin/qemu-x86_64-static -g "$dir/socket" ./three &
stub=$!
until [ -e "$dir/socket" ]; do sleep 0.1; done
seen=$(root/usr/bin/gdb -nx -batch -iex 'set debuginfod enabled off' -ex "target remote $dir/socket" -ex 'break main' -ex continue \
	-ex 'print three()' three | grep '^\$1')
echo "$seen"
[ "$seen" = '$1 = 0' ]
