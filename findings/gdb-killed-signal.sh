#!/bin/sh
# While gdb shows "Program received signal SIGUSR1", the program has not got that signal yet. If gdb is killed then
# (out of memory, kill -9, a container's end), the program goes on without it: the signal is lost. So is a SIGSTOP: a
# process that was to stop runs on.
#
# The kernel would deliver the signal when the tracer's end lets the thread go, but only as long as nobody has taken
# the report of that stop by wait(2). Who looks by waitid(2) with WNOWAIT, or by PTRACE_GETSIGINFO alone, loses none.
#
# Seen with gdb 13.1-3 of Debian 12 on Linux 6.18: "gdb detached: 1 signal; gdb killed: 0 signals".
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
libraries=$(apt-cache depends --recurse --no-recommends --no-suggests --no-conflicts --no-breaks --no-replaces --no-enhances \
	gdb-minimal | grep -E '^(lib[a-z0-9.+-]*|zlib1g)$' | grep -vE '^libc6$' | sort -u)
apt-get download -q gdb-minimal=13.1-3 $libraries >/dev/null 2>&1 || { echo "the packages cannot be fetched: Debian 12 has them"; exit 1; }
for deb in *.deb; do dpkg -x "$deb" root; done

await() { # waits until a file exists
	for i in $(seq 300); do
		[ ! -e "$1" ] || return 0
		sleep 0.1
	done
	echo "there is no file \"$1\"" >&2
	exit 1
}
debug() { # stops process $1 at SIGUSR1, and lets it go two seconds later
	export LD_LIBRARY_PATH="$dir/root/lib/x86_64-linux-gnu:$dir/root/usr/lib/x86_64-linux-gnu"
	exec root/usr/bin/gdb -nx -batch -p "$1" -ex 'handle SIGUSR1 stop print pass' -ex 'shell touch attached' \
		-ex continue -ex 'shell touch stopped; sleep 2' >/dev/null 2>&1
}
signals() { # how many the program gets if gdb stops at one, and is itself sent signal $1 then; 0 is none
	rm -f got begun attached stopped
	sh -c 'trap "echo >>got" USR1; touch begun; for i in $(seq 600); do sleep 0.1; done' &
	program=$!
	await begun
	debug $program &
	gdb=$!
	await attached
	sleep 1
	kill -USR1 $program
	await stopped
	kill -"$1" $gdb
	wait $gdb 2>/dev/null || true
	sleep 2
	kill -KILL $program
	wait $program 2>/dev/null || true
	[ ! -e got ] || wc -l <got
}
detached=$(signals 0)
killed=$(signals KILL)
echo "gdb detached: $detached signal; gdb killed: ${killed:-0} signals"
[ "$detached" = 1 ] && [ -z "$killed" ]
