#!/bin/sh
# A template's result is decltype(two(std::declval<S>(), ...)). The call of declval depends on no parameter, so g++ writes
# the whole name of declval<S> into the template's name, with a result of its own: L_ZSt7declvalI...E. T_ is S in there,
# and int outside of it. Three demanglers read the name in three ways:
#
#   libiberty (c++filt, gdb) prints no result of declval, and is right
#   LLVM takes T_ for S within declval, and also behind it: the parameter of f<int> is an S
#   ianlancetaylor/demangle (Go's pprof) takes T_ for int, also within declval
#
# So LLVM names a function that is not there. Whoever compares the readable names of two demanglers misses the function.
#
# Seen with binutils 2.40-2, LLVM 14.0.6-12, demangle v0.0.0-20260724033716-83e58baca724, and a name of g++ 12.2.0.
set -eu
dir=$(mktemp -d)
trap 'chmod -R u+w "$dir"; rm -rf "$dir"' EXIT
cd "$dir"
apt-get download -q binutils-x86-64-linux-gnu=2.40-2 libbinutils=2.40-2 binutils-common=2.40-2 libctf-nobfd0=2.40-2 libctf0=2.40-2 llvm-14=1:14.0.6-12 libllvm14=1:14.0.6-12 \
	libz3-4=4.8.12-3.1 libedit2 libbsd0 libmd0 libffi8 libxml2 libicu72 libtinfo6 >/dev/null 2>&1 ||
	{ echo "the packages cannot be fetched: Debian 12 has them"; exit 1; }
for deb in *.deb; do dpkg -x "$deb" root; done
export LD_LIBRARY_PATH="$dir/root/usr/lib/x86_64-linux-gnu:$dir/root/usr/lib/llvm-14/lib"

cat >two.cc <<'E'
#include <utility>
namespace n { struct S {}; int two(S, int); }
template <class T> auto f(T t) -> decltype(n::two(std::declval<n::S>(), std::declval<T>())) { return t; }
template int f(int);
E
g++ -std=c++20 -c two.cc
name=$(nm two.o | awk '/_Z1f/ { print $3 }')
[ "$name" = _Z1fIiEDTcl3twoclL_ZSt7declvalIN1n1SEEDTcl9__declvalIT_ELi0EEEvEEcl7declvalIS3_EEEES3_ ]

cat >go.mod <<'E'
module two

go 1.26.0
toolchain go1.26.0

require github.com/ianlancetaylor/demangle v0.0.0-20260724033716-83e58baca724
E
cat >main.go <<'E'
package main

import (
	"fmt"
	"os"

	"github.com/ianlancetaylor/demangle"
)

func main() { fmt.Println(demangle.Filter(os.Args[1])) }
E
export GOTOOLCHAIN=go1.26.0 GOMODCACHE="$dir/mod" GOCACHE="$dir/cache" GOFLAGS=-mod=mod GOPATH="$dir/go"
seen=$(
	root/usr/bin/x86_64-linux-gnu-c++filt "$name"
	root/usr/lib/llvm-14/bin/llvm-cxxfilt "$name"
	CGO_ENABLED=0 go run . "$name" 2>/dev/null
)
echo "$seen"
[ "$seen" = 'decltype (two((std::declval<n::S>)(), (declval<int>)())) f<int>(int)
decltype(two(decltype(__declval<n::S>(0)) std::declval<n::S>()(), declval<n::S>())) f<int>(n::S)
decltype (two(decltype ((__declval<int>)(0)) std::declval<n::S>()(), (declval<int>)())) f<int>(int)' ]
