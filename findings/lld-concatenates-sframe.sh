#!/bin/sh
# lld 14 puts the .sframe sections of its inputs one behind the other: the output has as many headers as inputs, of
# which readelf shows the first alone, and no PT_GNU_SFRAME segment. Neither says a word.
#
# The SFrame specification has one header a section, and a linker has to merge. GNU ld 2.40 does: one header with
# both functions, and a segment. A reader that follows the first header's counts has no row for most of a program
# that lld has linked, although all the bytes are there.
#
# Seen with lld 1:14.0.6-12 and binutils 2.40-2 of Debian 12:
#   lld: 2 headers, readelf shows 1 function, 0 segments
#   ld: 1 headers, readelf shows 2 function, 1 segments
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
apt-get download -q lld-14=1:14.0.6-12 libllvm14=1:14.0.6-12 binutils-x86-64-linux-gnu=2.40-2 binutils-common=2.40-2 \
	libbinutils=2.40-2 libctf-nobfd0=2.40-2 libctf0=2.40-2 >/dev/null 2>&1 ||
	{ echo "the packages cannot be fetched: Debian 12 has them"; exit 1; }
for deb in *.deb; do dpkg -x "$deb" root; done
export LD_LIBRARY_PATH="$dir/root/usr/lib/x86_64-linux-gnu:$dir/root/usr/lib/llvm-14/lib"
bin=root/usr/bin/x86_64-linux-gnu-

for f in f g; do
	printf '\t.text\n\t.globl %s\n\t.type %s,@function\n%s:\n\t.cfi_startproc\n\tret\n\t.cfi_endproc\n\t.size %s,.-%s\n' \
		$f $f $f $f $f >$f.s
	${bin}as --gsframe $f.s -o $f.o
done
root/usr/lib/llvm-14/bin/ld.lld -shared f.o g.o -o lld.so
${bin}ld -shared f.o g.o -o ld.so

seen() {
	${bin}objcopy -O binary --only-section=.sframe $1.so section
	headers=$(od -An -v -tx1 section | tr -d ' \n' | grep -o 'e2de01' | wc -l) # the magic number and version 1
	functions=$(${bin}readelf --sframe $1.so | grep -c 'func idx')
	segments=$(${bin}readelf -lW $1.so | grep -c '^  GNU_SFRAME\|^  LOOS+474e554\|^  LOOS+0x474e554' || true)
	echo "$1: $headers headers, readelf shows $functions function, $segments segments"
}
[ "$(seen lld)" = "lld: 2 headers, readelf shows 1 function, 0 segments" ] &&
	[ "$(seen ld)" = "ld: 1 headers, readelf shows 2 function, 1 segments" ] || { seen lld; seen ld; exit 1; }
seen lld
seen ld
