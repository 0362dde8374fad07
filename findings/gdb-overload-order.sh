#!/bin/sh
# Among C++'s overloaded functions, gdb does not always call the one that the compiler calls, and says nothing. A
# promotion (short to int) is for gdb as good as a conversion (short to long), and of two functions that fit equally
# well for it, it takes the one that this source has last. So the same call goes to one function or to the other as
# the two stand in the file, where C++ has one answer: at(int).
#
# Who compares a debugger's calls with gdb's must ask the compiler instead.
#
# Seen with gdb 13.1-3 and g++ 12.2.0-14+deb12u1 of Debian 12, "whatis" of a call with a short and with an int:
# "Int Int" where at(int) is last, "Long Int" where at(long) is.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
libraries=$(apt-cache depends --recurse --no-recommends --no-suggests --no-conflicts --no-breaks --no-replaces --no-enhances \
	gdb-minimal g++-12 | grep -E '^(lib[a-z0-9.+-]*|zlib1g)$' | grep -vE '^(libc6|libc6-dev|libc-dev.*)$' | sort -u)
apt-get download -q gdb-minimal=13.1-3 g++-12=12.2.0-14+deb12u1 $libraries >/dev/null 2>&1 ||
	{ echo "the packages cannot be fetched: Debian 12 has them"; exit 1; }
for deb in *.deb; do dpkg -x "$deb" root; done
export LD_LIBRARY_PATH="$dir/root/lib/x86_64-linux-gnu:$dir/root/usr/lib/x86_64-linux-gnu"

ask() { # which of the functions gdb would call, where they stand in this order
	printf '%s\n' 'struct Int { int i; }; struct Long { long l; };' "$@" 'short s; int i;' 'Int of_compiler = at(s);' >order.cc
	root/usr/lib/gcc/x86_64-linux-gnu/12/cc1plus -quiet -g order.cc -o order.s
	gcc -c order.s -o order.o
	root/usr/bin/gdb -nx -batch -ex 'set language c++' -ex 'whatis at(s)' -ex 'whatis at(i)' order.o | sed -n 's/^type = //p' | xargs
}
long='Long at(long) { return {}; }'
int='Int at(int) { return {}; }'
seen="$(ask "$long" "$int"), $(ask "$int" "$long")"
echo "$seen"
[ "$seen" = "Int Int, Long Int" ]
