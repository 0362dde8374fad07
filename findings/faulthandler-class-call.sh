#!/bin/sh
# faulthandler leaves out all callers of a function that calls a class: the stack ends with "<invalid frame>".
#
# Once a call of a class with an __init__ of Python's is specialised (CALL_ALLOC_AND_ENTER_INIT), the interpreter puts a
# frame of its own, of code that calls itself "__init__", between __init__ and its caller. faulthandler of 3.12 and
# 3.13.0 lists it, "line ???", and goes on. Later ones take it for a broken frame and stop there, so the dump of a crash
# in a constructor, or of a thread that hangs in one, has nothing of who called it. A traceback has.
#
# Seen with CPython 3.14.6 (also 3.13.15, 3.14.8, 3.15.0 of Debian): "first call: 3 frames; later: 2 frames, <invalid frame>".
set -eu
dir=$(mktemp -d)
trap 'chmod -R u+w "$dir"; rm -rf "$dir"' EXIT
cd "$dir"

# A Go module with a build of CPython of its own.
module=github.com/kluctl/go-embed-python@v0.0.0-3.14.6-20260610-1
export GOFLAGS=-mod=mod GOMODCACHE="$dir/mod"
root=$(go mod download -json $module | sed -n 's/.*"Dir": "\(.*\)".*/\1/p')/python/internal/data/linux-amd64 ||
	{ echo "the module cannot be fetched: $module"; exit 1; }
cp -R "$root" python
chmod -R u+w python
find python -name '*.gz' -exec gunzip {} +
chmod +x python/bin/python3.14

cat >dump.py <<'PY'
import faulthandler


class Job:
    def __init__(self, dump):
        if dump:
            faulthandler.dump_traceback(all_threads=False)


def start(calls):
    for i in range(calls):
        Job(i == calls - 1)


start(int(__import__("sys").argv[1]))
PY
frames() { # calls: how many frames there are when the last one is made, and what is no frame
	python/bin/python3.14 dump.py "$1" 2>&1 | awk '/ File /{n++} /<invalid/{bad = ", <invalid frame>"} END {print n " frames" bad}'
}
seen="first call: $(frames 1); later: $(frames 1000)"
echo "$seen"
[ "$seen" = "first call: 3 frames; later: 2 frames, <invalid frame>" ]
