#!/bin/sh
# fetch.sh DIR: gets nginx with its module for Lua out of the packages of this release of Debian or
# Ubuntu into DIR. Installed, its LuaJIT would take the place of the other one. What DIR has of
# this release stays. It fails if it cannot get it.
set -u
dir=$1
command -v apt-get >/dev/null || exit 0
cmp -s /etc/os-release "$dir/os-release" && exit 0
part=$dir.part
trap 'rm -rf "$part"' EXIT
rm -rf "$dir" "$part" && mkdir -p "$part" && cd "$part" || exit 1
jit=$(apt-cache depends libnginx-mod-http-lua | sed -n 's/.*Depends: \(libluajit.*\)/\1/p' | head -1)
libraries=$(apt-cache depends nginx libnginx-mod-http-lua | sed -n 's/.*Depends: \(lib[^ ]*\)$/\1/p' | grep -vE '^lib(c6|luajit.*|nginx.*)$' | sort -u)
apt-get download -q nginx libnginx-mod-http-lua libnginx-mod-http-ndk $jit $libraries lua-resty-core lua-resty-lrucache &&
	for package in *.deb; do
		dpkg -x "$package" . || exit 1
	done &&
	{ [ ! -d lib ] || cp -a lib/. usr/lib/; } && # where a library is, differs from release to release
	rm ./*.deb && usr/sbin/nginx -v && cp /etc/os-release . && cd .. && mv "$(basename "$part")" "$(basename "$dir")"
