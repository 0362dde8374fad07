#!/bin/sh
# make.sh NAME TRIPLET ASFLAG RA [CFLAG...]: links rows.c (at -O2 and -O0) and
# forms.s of ../../../format/sframe/testdata into the small shared object NAME.so, which has both
# .eh_frame and .sframe. ASFLAG makes as write SFrame; RA is its name of the
# return address register. ASFLAGS and LDFLAGS are taken from the environment.
set -eu
name=$1 t=$2 as=$3 ra=$4; shift 4
src=$(dirname "$0")/../../testdata
tmp=$(mktemp -d)
$t-gcc -S -O2 -fPIC -fasynchronous-unwind-tables -fno-stack-protector "$@" "$src/rows.c" -o "$tmp/o2.s"
$t-gcc -S -O0 -fPIC -fasynchronous-unwind-tables -fno-omit-frame-pointer "$@" -Dleaf=leaf0 -Dframe=frame0 \
	-Dmiddle=middle0 -Dbig=big0 -Ddynamic=dynamic0 -Drecurse=recurse0 -Dsaves=saves0 -Dends=ends0 \
	-Dvariadic=variadic0 -Daligned=aligned0 -Dlong_one=long_one0 -Dbusy_leaf=busy_leaf0 \
	-Dsigned_a=signed_a0 -Dsigned_b=signed_b0 "$src/rows.c" -o "$tmp/o0.s"
sed "s/\<RA\>/$ra/; s/%function/STT_FUNC/; s/70000/700/" "$src/forms.s" >"$tmp/forms.s"
objs=
for f in o2 o0 forms; do
	$t-as ${ASFLAGS:-} $as "$tmp/$f.s" -o "$tmp/$f.o"
	objs="$objs $tmp/$f.o"
done
$t-ld ${LDFLAGS:-} -shared -z noseparate-code -z max-page-size=4096 --build-id --eh-frame-hdr -o "$name.so" $objs
rm -r "$tmp"
