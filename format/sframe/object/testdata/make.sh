#!/bin/sh
# make.sh NAME TRIPLET ASFLAG [CFLAG...]: compiles rel.c to NAME.o, with SFrame
# and without what is of no use here, and writes what that toolchain's readelf
# says of its SFrame section to NAME.readelf.
set -eu
name=$1 t=$2 as=$3; shift 3
$t-gcc -O2 -fPIC -ffunction-sections -fasynchronous-unwind-tables "$@" -Wa,"$as" -c rel.c -o "$name.o"
$t-objcopy -R .comment -R .note.GNU-stack -R .note.gnu.property --strip-debug "$name.o"
$t-readelf --sframe "$name.o" >"$name.readelf"
