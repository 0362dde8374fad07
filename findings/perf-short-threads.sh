#!/bin/sh
# perf record of a program whose processes (or threads) each run for less than the time between two samples finds
# nothing, however long they run together: a child inherits an event whose period begins anew. At 99 Hz, 1,500 runs of
# true(1) after each other take most of a second, and have no sample. Sampling the processors (-a) has some of each
# period.
#
# A profiler that takes each thread's own clock must say what is in no sample, or sample processors.
#
# Seen with perf 6.1.192-3 of Debian 12 on Linux 6.18: "perf stat: 679 ms; samples of true: 0, with -a 63".
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
apt-get download -q linux-perf=6.1.192-3 >/dev/null 2>&1 || { echo "the package cannot be fetched: Debian 12 has it"; exit 1; }
dpkg -x linux-perf*.deb root
perf=root/usr/bin/perf

loop='i=0; while [ $i -lt 1500 ]; do /bin/true; i=$((i + 1)); done'
samples() {
	$perf report -i "$1" --stdio -s comm -F sample,comm 2>/dev/null | awk '$2 == "true" { n = $1 } END { print n + 0 }'
}
ms=$($perf stat -x, -e cpu-clock -- sh -c "$loop" 2>&1 | awk -F, '/cpu-clock/ { print int($1) }')
$perf record -q -F 99 -e cpu-clock -o threads -- sh -c "$loop" >/dev/null 2>&1 || true
$perf record -q -a -F 99 -e cpu-clock -o processors -- sh -c "$loop" >/dev/null 2>&1 || { echo "perf may not sample here: run as root"; exit 1; }
echo "perf stat: $ms ms; samples of true: $(samples threads), with -a $(samples processors)"
[ "$ms" -gt 300 ] && [ "$(samples threads)" -lt 5 ] && [ "$(samples processors)" -gt 15 ]
