#!/bin/sh
# build.sh GOROOT NAME: the fixture NAME.xz and what is known of it, NAME.txt, by a Go release
# in a folder that can be written to: the runtime goes into a shared library, so that the
# program and its table stay small.
set -e
export GOENV=off GO111MODULE=off GOTOOLCHAIN=local GOROOT="$1"
"$GOROOT/bin/go" install -buildmode=shared runtime sync/atomic runtime/cgo
"$GOROOT/bin/go" build -trimpath -linkshared -o "$2" main.go
"./$2" 2>"$2.all"
# One line for each run of addresses with the same function, file and line is enough.
awk '$1 == "stack" { print; next } { key = $3 " " $4; if (key != last) print; last = key }' "$2.all" >"$2.txt"
"$GOROOT/bin/go" build -trimpath -linkshared -gcflags=-S -o /dev/null main.go 2>&1 | sed -n 's/^\(""\|main\)\(\.[^ ]*\) STEXT.* size=\([0-9]*\) .* locals=0x\([0-9a-f]*\).*/frame main\2 \3 \4/p' >>"$2.txt"
strip -g "$2"
xz -9e "$2"
rm "$2.all"
