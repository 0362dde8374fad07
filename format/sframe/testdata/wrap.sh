#!/bin/sh
# wrap.sh NAME TRIPLET ADDR: puts the section's bytes NAME.sframe, which no
# toolchain wrote, into a shared object at address ADDR, and writes to NAME.dump
# what make.sh does: the section's line of readelf -S and objdump's dump.
set -eu
name=$1 t=$2 addr=$3
tmp=$(mktemp -d)
printf '.section .bytes,"a"\n.incbin "%s"\n' "$name.sframe" | $t-as -o "$tmp/o" -
$t-ld -shared --section-start=.bytes="$addr" -o "$tmp/bytes" "$tmp/o" # ld would check an .sframe section
$t-objcopy --rename-section .bytes=.sframe "$tmp/bytes" "$tmp/so"
{
	$t-readelf -SW "$tmp/so" | grep '[.]sframe '
	$t-objdump --sframe=.sframe "$tmp/so" | sed -n '/Header/,$p' | sed 's/ *$//'
} >"$name.dump"
rm -r "$tmp"
