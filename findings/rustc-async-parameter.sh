#!/bin/sh
# The method that polls a future has two parameters, the future (Pin<&mut Self>) and the context. Of an async function
# rustc describes one of them: the second, and under the name of no one, so that the first formal parameter in the debug
# information is not the first of the machine's registers.
#
# Whoever takes "the first parameter's type" for the future's, as it is with methods written by hand and with rustc 1.95,
# gets ResumeTy of rustc 1.63, and &mut Context of Debian 13's 1.85. The type of the future is told by the table of
# methods of a dyn Future alone: a variable <... as Future>::{vtable}, whose type has the future for its containing type.
#
# Seen with rustc 1.63.0+dfsg1-2 of Debian 12: "1 parameter of waits::{async_fn#0}: ResumeTy", and with 1.85.1 of
# Debian 13 "&mut core::task::wake::Context".
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
apt-get download -q rustc=1.63.0+dfsg1-2 libstd-rust-1.63=1.63.0+dfsg1-2 libstd-rust-dev=1.63.0+dfsg1-2 libllvm14=1:14.0.6-12 \
	libz3-4=4.8.12-3.1 libedit2 libbsd0 libmd0 libffi8 libxml2 libicu72 binutils-x86-64-linux-gnu=2.40-2 libbinutils=2.40-2 libctf-nobfd0=2.40-2 >/dev/null 2>&1 ||
	{ echo "the packages cannot be fetched: Debian 12 has them"; exit 1; }
for deb in *.deb; do dpkg -x "$deb" root; done
export LD_LIBRARY_PATH="$dir/root/usr/lib/x86_64-linux-gnu"

cat >waits.rs <<'END'
pub async fn waits(n: u64) -> u64 { std::future::ready(n).await + 1 }
pub fn boxed(n: u64) -> std::pin::Pin<Box<dyn std::future::Future<Output = u64>>> { Box::pin(waits(n)) }
END
root/usr/bin/rustc --edition=2021 --crate-type=lib -g --emit=obj -o waits.o waits.rs
root/usr/bin/x86_64-linux-gnu-objdump --dwarf=info waits.o >info
# The names of all entries, then the types of the parameters right within the function.
seen=$(awk '
	function value() { sub(/^[^:]*: (\(.*\): )?/, ""); sub(/[ \t]+$/, ""); return $0 }
	/^ <[0-9a-f]+><[0-9a-f]+>/ { split($0, at, /[<>]/); depth = at[2]; id = at[4]; tag = $0 }
	NR == FNR { if (/DW_AT_name/ && !(id in name)) name[id] = value(); next }
	/^ </ && tag ~ /DW_TAG_subprogram/ { inside = name[id] == "{async_fn#0}"; level = depth + 1 }
	inside && depth == level && tag ~ /DW_TAG_formal_parameter/ && /DW_AT_type/ {
		split($0, to, /<0x|>/); n++; types = types " " name[to[3]]
	}
	END { print n " parameter of waits::{async_fn#0}:" types }' info info)
echo "$seen"
[ "$seen" = "1 parameter of waits::{async_fn#0}: ResumeTy" ]
