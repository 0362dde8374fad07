#!/bin/sh
# debian.sh DIR SUITE[/DEPENDENCIES] PACKAGE...: unpacks packages of Debian, for $DEBIAN_ARCH or this
# machine's architecture, into DIR, without installing them, and lists them and their
# versions in DIR/packages. SUITE is a suite's name, or "here" for the one that this
# machine has (which may be another distribution's). With DEPENDENCIES, the packages that these need are unpacked too, those
# that have names beginning so. Needs apt, dpkg-deb and the network, not root. Says why
# where they cannot be had; does nothing if DIR is there.
set -eu
dir=$1
suite=${2%%/*}
dependencies=${2#"$suite"}
shift 2
if [ -e "$dir" ]; then exit 0; fi
for t in apt-get dpkg dpkg-deb; do
	command -v $t >/dev/null || { echo "debian.sh: no $t"; exit 1; }
done
arch=${DEBIAN_ARCH:-$(dpkg --print-architecture)}
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
mkdir -p "$tmp/lists/partial" "$tmp/archives/partial"
: >"$tmp/status"
if [ "$suite" = here ]; then
	suite=$(. /etc/os-release && if [ "$ID" = debian ]; then echo "$VERSION_CODENAME"; fi)
fi
# Debian's keys are where apt looks on Debian; other systems package them elsewhere.
keys=/usr/share/keyrings/debian-archive-keyring.gpg
signed=
if [ -e "$keys" ]; then signed="[signed-by=$keys] "; fi
echo "deb ${signed}http://deb.debian.org/debian $suite main" >"$tmp/sources.list"
apt() {
	timeout 300 apt-get -q \
		-o Dir::Etc::sourcelist="$tmp/sources.list" -o Dir::Etc::sourceparts=/dev/null \
		-o Dir::State::lists="$tmp/lists" -o Dir::Cache::archives="$tmp/archives" \
		-o Dir::State::status="$tmp/status" -o Dir::State::extended_states="$tmp/extended" \
		-o Dir::Cache::pkgcache= -o Dir::Cache::srcpkgcache= -o APT::Sandbox::User=root \
		-o Acquire::Languages=none -o Acquire::IndexTargets::deb::DEP-11::DefaultEnabled=false \
		-o Acquire::Check-Valid-Until=false -o Acquire::Retries=1 -o Acquire::http::Timeout=20 \
		-o APT::Install-Recommends=false -o APT::Update::Post-Invoke::= \
		-o APT::Architecture="$arch" -o APT::Architectures="$arch" "$@"
}
# needed lists the packages that are to be had.
needed() {
	if [ -z "$dependencies" ]; then
		for p; do echo "$p"; done
	else
		apt -s install "$@" | sed -n "s/^Inst \(${dependencies#/}[^ ]*\) .*/\1/p"
	fi
}
# fetch puts the packages' files into $tmp. What is not Debian has its own packages, of
# which apt knows already if it knows any.
fetch() {
	if [ -z "$suite" ]; then
		(cd "$tmp" && timeout 300 apt-get -q -o APT::Sandbox::User=root download "$@")
	else
		apt update && list=$(needed "$@") && [ -n "$list" ] && (cd "$tmp" && apt download $list)
	fi
}
fetch "$@" >"$tmp/log" 2>&1 || {
	tail -n 20 "$tmp/log"
	echo "debian.sh: cannot get $*"
	exit 1
}
mkdir "$tmp/root"
for deb in "$tmp"/*.deb; do
	dpkg-deb -x "$deb" "$tmp/root"
	dpkg-deb -W --showformat '${Package} ${Version}\n' "$deb" >>"$tmp/root/packages"
done
mkdir -p "$(dirname "$dir")"
rm -rf "$dir.part"
cp -r "$tmp/root" "$dir.part"
mv "$dir.part" "$dir"
