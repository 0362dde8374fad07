#!/bin/sh
# Delve does not end a stack whose frame pointer leads to itself: it repeats one frame to the limit of bt.
#
# Delve follows frame pointers where code has no call frame information. A thread's rbp is any number in C code that is
# built without frame pointers. If it leads to a word that has its own address, as the thread control block of glibc
# does (tcbhead_t.tcb: a core of a failed assertion in C ends so), each "caller" is the same frame with the same CFA. gdb
# ends a stack where a frame does not lie further out ("previous frame identical to this frame").
#
# Seen with dlv 1.27.2, go1.26.0: "one frame 97 times of 101".
set -eu
dir=$(mktemp -d)
trap 'chmod -R u+w "$dir"; rm -rf "$dir"' EXIT
cd "$dir"

cat >go.mod <<'GO'
module loop

go 1.26.0
toolchain go1.26.0
GO
cat >main.go <<'GO'
package main

/*
#cgo CFLAGS: -O2 -g0 -fomit-frame-pointer -fno-asynchronous-unwind-tables
static void *self[2];
__attribute__((noinline)) static void stop(void) { __asm__ volatile("int3"); }
__attribute__((noinline)) static void die(void) {
	self[0] = self;
	self[1] = (void *)stop;
	__asm__ volatile("mov %0, %%rbp" : : "r"(self) : "memory");
	stop();
	__builtin_trap();
}
*/
import "C"

func main() { C.die() }
GO
export GOTOOLCHAIN=go1.26.0 GOMODCACHE="$dir/mod" GOCACHE="$dir/cache" GOFLAGS=-mod=mod GOPATH="$dir/go"
CGO_ENABLED=1 go build -o loop .
CGO_ENABLED=0 go install github.com/go-delve/delve/cmd/dlv@v1.27.2
printf 'continue\nbt 100\nexit\n' >commands
HOME=$dir "$dir/go/bin/dlv" exec ./loop --allow-non-terminal-interactive=true --init commands </dev/null >out 2>&1 || true
grep -oE '^ *[0-9]+  0x[0-9a-f]{16} ' out | awk '{n++; times[$2]++} END {for (pc in times) if (times[pc] > most) most = times[pc]; print "one frame " most + 0 " times of " n + 0}' >count
cat count
read -r _ _ most _ _ all <count
[ "$all" -ge 100 ] && [ "$most" -ge 90 ]
