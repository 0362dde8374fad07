#!/bin/sh
# github.com/ianlancetaylor/demangle drops an underscore that a name of Rust's legacy mangling begins with.
#
# std::sys::backtrace::__rust_begin_short_backtrace becomes std::sys::backtrace::_rust_begin_short_backtrace, and alloc::__rust_no_alloc
# alloc::_rust_no_alloc. The mangling has the length of an identifier and then the identifier. An underscore between the two is of the newer
# mangling (v0, for identifiers that begin with a digit or an underscore). c++filt of binutils 2.40 keeps it.
#
# Seen with v0.0.0-20260724033716-83e58baca724: "demangle: std::sys::backtrace::_rust_begin_short_backtrace",
# "c++filt: std::sys::backtrace::__rust_begin_short_backtrace::h07ac9118f36d271c".
set -eu
dir=$(mktemp -d)
trap 'chmod -R u+w "$dir"; rm -rf "$dir"' EXIT
cd "$dir"

cat >go.mod <<'GO'
module underscore

go 1.26.0
toolchain go1.26.0

require github.com/ianlancetaylor/demangle v0.0.0-20260724033716-83e58baca724
GO
cat >main.go <<'GO'
package main

import (
	"fmt"
	"os"

	"github.com/ianlancetaylor/demangle"
)

func main() { fmt.Println("demangle:", demangle.Filter(os.Args[1])) }
GO
export GOTOOLCHAIN=go1.26.0 GOMODCACHE="$dir/mod" GOCACHE="$dir/cache" GOFLAGS=-mod=mod GOPATH="$dir/go"
name=_ZN3std3sys9backtrace28__rust_begin_short_backtrace17h07ac9118f36d271cE
ours=$(go run . $name)
apt-get download -q binutils-x86-64-linux-gnu=2.40-2 binutils-common=2.40-2 libbinutils=2.40-2 libctf-nobfd0=2.40-2 \
	libctf0=2.40-2 >/dev/null 2>&1 || { echo "binutils 2.40-2 cannot be fetched: Debian 12 has it"; exit 1; }
for deb in *.deb; do dpkg -x "$deb" root; done
theirs=$(LD_LIBRARY_PATH="$dir/root/usr/lib/x86_64-linux-gnu" root/usr/bin/x86_64-linux-gnu-c++filt $name)
echo "$ours"
echo "c++filt: $theirs"
case $ours in *::_rust_begin_short_backtrace) ;; *) exit 1 ;; esac
case $theirs in *::__rust_begin_short_backtrace::h*) ;; *) exit 1 ;; esac
