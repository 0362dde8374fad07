#!/bin/sh
# Go's debug/elf does not know PN_XNUM: of a file with 70,000 program headers it gives 65,535, without an error.
#
# A file with 65,535 program headers or more has e_phnum 0xffff (PN_XNUM), and the true number in sh_info of section 0
# (System V ABI, ELF header; Linux writes core files of processes with so many mappings in this way). readelf of
# binutils 2.40 has them all.
#
# Seen with go1.26.0: "debug/elf: 65535 program headers", "readelf: 70000 program headers".
set -eu
dir=$(mktemp -d)
trap 'chmod -R u+w "$dir"; rm -rf "$dir"' EXIT
cd "$dir"

python3 - <<'PY'
import struct
n = 70000
header = b"\x7fELF\x02\x01\x01" + bytes(9) + struct.pack(
    "<HHIQQQIHHHHHH", 4, 62, 1, 0, 64, 64 + 56 * n, 0, 64, 56, 0xFFFF, 64, 1, 0)
segments = b"".join(struct.pack("<IIQQQQQQ", 1, 4, 0, 0x10000 + 0x1000 * i, 0, 0, 0x1000, 0x1000) for i in range(n))
section0 = struct.pack("<IIQQQQIIQQ", 0, 0, 0, 0, 0, 0, 0, n, 0, 0)
open("core", "wb").write(header + segments + section0)
PY

cat >go.mod <<'GO'
module pnxnum

go 1.26.0
toolchain go1.26.0
GO
cat >main.go <<'GO'
package main

import (
	"debug/elf"
	"fmt"
	"os"
)

func main() {
	f, err := elf.Open("core")
	if err != nil {
		fmt.Println("debug/elf:", err)
		os.Exit(1)
	}
	fmt.Println("debug/elf:", len(f.Progs), "program headers")
}
GO
export GOTOOLCHAIN=go1.26.0 GOMODCACHE="$dir/mod" GOCACHE="$dir/cache" GOFLAGS=-mod=mod GOPATH="$dir/go"
ours=$(go run .)
apt-get download -q binutils-x86-64-linux-gnu=2.40-2 binutils-common=2.40-2 libbinutils=2.40-2 libctf-nobfd0=2.40-2 \
	libctf0=2.40-2 >/dev/null 2>&1 || { echo "binutils 2.40-2 cannot be fetched: Debian 12 has it"; exit 1; }
for deb in *.deb; do dpkg -x "$deb" root; done
theirs=$(LD_LIBRARY_PATH="$dir/root/usr/lib/x86_64-linux-gnu" root/usr/bin/x86_64-linux-gnu-readelf -lW core 2>/dev/null | grep -c '^  LOAD')
echo "$ours"
echo "readelf: $theirs program headers"
[ "$ours" = "debug/elf: 65535 program headers" ] && [ "$theirs" = 70000 ]
