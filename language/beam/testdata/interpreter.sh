#!/bin/sh
# interpreter.sh DIR [FLAGS]: builds the interpreter of the machine's release of Erlang, which
# Debian's packages lack where the compiler works, from the sources of the package erlang, and puts
# a folder with it, and what else the machine has, into DIR/interpreter. It needs a C compiler, perl
# and apt's sources (deb-src), and some fifteen minutes of processor time. FLAGS are the compiler's:
# "-O2 -g" if there are none. What DIR has stays.
set -eu
dir=$(mkdir -p "$1" && cd "$1" && pwd)
flags=${2:--O2 -g}
root=$(dirname "$(dirname "$(readlink -f "$(command -v erl)")")")
[ ! -e "$dir/interpreter" ] || exit 0
part=$dir.part
trap 'rm -rf "$part"' EXIT
rm -rf "$part"
mkdir -p "$part/sources" "$part/interpreter"
cd "$part/sources"
if [ -n "${SOURCES-}" ]; then # a tree that is there
	ERL_TOP=$SOURCES
else
	apt-get source -q "erlang=$(dpkg-query -W -f '${source:Version}' erlang-base)" >/dev/null
	ERL_TOP=$(echo "$part"/sources/*/)
fi
export ERL_TOP
cd "$ERL_TOP"
[ -e "$(echo bin/*/beam.smp)" ] || {
	./configure --disable-jit --without-javac --without-wx --without-odbc --without-ssl --without-termcap CFLAGS="$flags" >configure.log 2>&1
	make emulator >make.log 2>&1 || [ -e "$(echo bin/*/beam.smp)" ] # what comes behind the emulator may fail
}
cd "$part/interpreter"
erts=$(basename "$root"/erts-*)
mkdir -p bin "$erts/bin"
for f in "$root"/lib "$root"/releases; do ln -s "$f" .; done
for f in "$root"/bin/*.boot; do ln -s "$f" bin; done
for f in "$root/$erts"/bin/*; do ln -s "$f" "$erts/bin"; done
rm "$erts/bin/beam.smp"
strip --strip-debug -o "$erts/bin/beam.smp" "$ERL_TOP"/bin/*/beam.smp
cat >bin/erl <<EOF
#!/bin/sh
export EMU=beam ROOTDIR=$dir/interpreter BINDIR=$dir/interpreter/$erts/bin PROGNAME=erl
exec "\$BINDIR/erlexec" "\$@"
EOF
chmod +x bin/erl
mv "$part/interpreter" "$dir/interpreter"
