#!/bin/sh
# libsframe.sh DIR: gets libsframe 2.47 or later, the peer that sections of V3 are
# compared with, out of Debian's packages (debian.sh) into DIR: its headers,
# libsframe.so.3, which programs use, and libsframe.a. Does nothing if DIR has it.
set -eu
dir=$1
if [ -e "$dir/libsframe.a" ]; then exit 0; fi
debs=$dir.debs
rm -rf "$debs"
sh "$(dirname "$0")/../debian.sh" "$debs" forky libsframe-dev libsframe3
trap 'rm -rf "$debs"' EXIT
mkdir -p "$dir"
# The header wants libiberty's ansidecl.h for this alone.
cat >"$dir/ansidecl.h" <<'END'
#define ATTRIBUTE_PACKED __attribute__ ((packed))
#define ATTRIBUTE_UNUSED __attribute__ ((unused))
END
cp "$debs"/usr/include/sframe.h "$debs"/usr/include/sframe-api.h "$dir"
cp "$debs"/usr/lib/*/libsframe.so.3 "$debs/packages" "$dir"
cp "$debs"/usr/lib/*/libsframe.a "$dir/libsframe.a.part"
mv "$dir/libsframe.a.part" "$dir/libsframe.a"
