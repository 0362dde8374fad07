#!/bin/sh
# make.sh NAME TRIPLET ASFLAG RA [CFLAG...]: links rows.c (-O2 and -O0) and
# forms.s into a shared object, and writes its .sframe section to NAME.sframe,
# the section's line of readelf -S and objdump's dump to NAME.dump, both in the
# present folder. ASFLAG makes as write SFrame; RA is its name of the return
# address register. CC, CFLAGS, ASFLAGS and LDFLAGS are taken from the environment.
set -eu
name=$1 t=$2 as=$3 ra=$4; shift 4
here=$(dirname "$0") cc=${CC:-$t-gcc}
tmp=$(mktemp -d)
$cc -S -O2 -fPIC -fasynchronous-unwind-tables -fno-stack-protector "$@" "$here/rows.c" -o "$tmp/o2.s"
$cc -S -O0 -fPIC -fasynchronous-unwind-tables -fno-omit-frame-pointer "$@" -Dleaf=leaf0 -Dframe=frame0 \
	-Dmiddle=middle0 -Dbig=big0 -Ddynamic=dynamic0 -Drecurse=recurse0 -Dsaves=saves0 -Dends=ends0 \
	-Dvariadic=variadic0 -Daligned=aligned0 -Dlong_one=long_one0 -Dbusy_leaf=busy_leaf0 \
	-Dsigned_a=signed_a0 -Dsigned_b=signed_b0 "$here/rows.c" -o "$tmp/o0.s"
sed "s/\<RA\>/$ra/; s/%function/STT_FUNC/" "$here/forms.s" >"$tmp/forms.s"
objs=
for f in o2 o0 forms; do
	$t-as ${ASFLAGS:-} $as "$tmp/$f.s" -o "$tmp/$f.o"
	objs="$objs $tmp/$f.o"
done
$t-ld ${LDFLAGS:-} -shared -z noseparate-code -o "$tmp/so" $objs
$t-objcopy -O binary -j .sframe "$tmp/so" "$name.sframe"
{
	$t-readelf -SW "$tmp/so" | grep '[.]sframe '
	$t-objdump --sframe=.sframe "$tmp/so" | sed -n '/Header/,$p' | sed 's/ *$//'
} >"$name.dump"
chmod a-x "$name.sframe"
rm -r "$tmp"
