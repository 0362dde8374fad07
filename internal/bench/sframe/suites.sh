#!/bin/sh
# suites.sh DIR SUITE PACKAGE...: gets binutils' test suites on SFrame out of Debian's package
# binutils-source of a suite, and that release's assemblers and linkers (PACKAGE..., with the
# libraries that they need), out of Debian's packages (debian.sh): DIR/source has the
# suites, DIR/root the programs. Says why where they cannot be had. Does nothing if DIR has
# them.
set -eu
dir=$1 suite=$2
shift 2
if [ -e "$dir/source" ]; then exit 0; fi
rm -rf "$dir" "$dir.debs"
trap 'rm -rf "$dir.debs"' EXIT
sh "$(dirname "$0")/../debian.sh" "$dir.debs" "$suite" binutils-source "$@"
mkdir -p "$dir/unpacked"
tar -xf "$dir.debs"/usr/src/binutils/binutils-*.tar.* -C "$dir/unpacked" --strip-components=1 --wildcards \
	'*/gas/testsuite/gas/cfi-sframe' '*/ld/testsuite/ld-x86-64' '*/ld/testsuite/ld-aarch64' '*/ld/testsuite/ld-s390' \
	'*/ld/testsuite/ld-sframe' '*/binutils/testsuite/binutils-all' '*/libsframe/testsuite' 2>"$dir/tar" || true # not all releases have all
if ! [ -e "$dir/unpacked/gas/testsuite/gas/cfi-sframe" ]; then
	cat "$dir/tar"
	echo "suites.sh: no suites in binutils-source of $suite"
	exit 1
fi
rm -rf "$dir.debs/usr/src"
cp -r "$dir.debs" "$dir/root"
mv "$dir/unpacked" "$dir/source"
