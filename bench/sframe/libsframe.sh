#!/bin/sh
# libsframe.sh DIR: gets libsframe 2.47 or later, the peer that sections of V3 are
# compared with, out of Debian's packages for this machine's architecture into DIR:
# its headers, libsframe.so.3, which programs use, and libsframe.a. Needs apt,
# dpkg-deb and the network, not root. Says why where it cannot be had; does nothing
# if DIR has it.
set -eu
dir=$1
if [ -e "$dir/libsframe.a" ]; then exit 0; fi
for t in apt-get dpkg-deb; do
	command -v $t >/dev/null || { echo "libsframe.sh: no $t"; exit 1; }
done
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
mkdir -p "$tmp/lists/partial" "$tmp/archives/partial"
# Debian's keys are where apt looks on Debian; other systems package them elsewhere.
keys=/usr/share/keyrings/debian-archive-keyring.gpg
signed=
if [ -e "$keys" ]; then signed="[signed-by=$keys] "; fi
echo "deb ${signed}http://deb.debian.org/debian forky main" >"$tmp/sources.list"
apt() {
	timeout 120 apt-get -q \
		-o Dir::Etc::sourcelist="$tmp/sources.list" -o Dir::Etc::sourceparts=/dev/null \
		-o Dir::State::lists="$tmp/lists" -o Dir::Cache::archives="$tmp/archives" \
		-o Dir::Cache::pkgcache= -o Dir::Cache::srcpkgcache= -o APT::Sandbox::User=root \
		-o Acquire::Languages=none -o Acquire::IndexTargets::deb::DEP-11::DefaultEnabled=false \
		-o Acquire::Check-Valid-Until=false -o Acquire::Retries=1 -o Acquire::http::Timeout=20 \
		-o APT::Update::Post-Invoke::= -o APT::Architecture=amd64 "$@"
}
apt update >"$tmp/log" 2>&1 && (cd "$tmp" && apt download libsframe-dev libsframe3) >>"$tmp/log" 2>&1 ||
	{ cat "$tmp/log"; echo "libsframe.sh: cannot get libsframe-dev and libsframe3"; exit 1; }
for deb in "$tmp"/libsframe*.deb; do dpkg-deb -x "$deb" "$tmp/root"; done
mkdir -p "$dir"
# The header wants libiberty's ansidecl.h for this alone.
cat >"$dir/ansidecl.h" <<'EOF'
#define ATTRIBUTE_PACKED __attribute__ ((packed))
#define ATTRIBUTE_UNUSED __attribute__ ((unused))
EOF
cp "$tmp"/root/usr/include/sframe.h "$tmp"/root/usr/include/sframe-api.h "$dir"
cp "$tmp"/root/usr/lib/*/libsframe.so.3 "$dir"
cp "$tmp"/root/usr/lib/*/libsframe.a "$dir/libsframe.a.part"
mv "$dir/libsframe.a.part" "$dir/libsframe.a"
