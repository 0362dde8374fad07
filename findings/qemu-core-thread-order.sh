#!/bin/sh
# In a core of qemu's user mode, the first thread need not be the one that died: gdb shows another thread's stack
# under "Program terminated with signal SIGABRT".
#
# The kernel writes the registers (NT_PRSTATUS) of the thread that died first, and debuggers begin with the first.
# qemu writes its processors in the order in which they were made, so the main thread comes first, whoever died;
# pr_cursig of one thread alone is not 0, which tells. qemu 7.2 writes the thread that died first.
#
# Seen with qemu-user 1:10.0.13+ds-0+deb13u1 of Debian 13 and gdb-minimal 13.1-3 of Debian 12:
# "Program terminated with signal SIGABRT, Aborted. #0 pause".
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
mkdir lists
echo 'deb http://deb.debian.org/debian trixie main' >list
apt() {
	apt-get -o Dir::Etc::SourceList="$dir/list" -o Dir::Etc::SourceParts=- -o Dir::State::Lists="$dir/lists" -o Dir::Cache="$dir" "$@"
}
{ apt update -q && apt download -q qemu-user=1:10.0.13+ds-0+deb13u1; } >/dev/null 2>&1 ||
	{ echo "the package cannot be fetched: Debian 13 has it"; exit 1; }
apt-get download -q gdb-minimal=13.1-3 libbabeltrace1=1.5.11-1+b2 libdebuginfod1=0.188-2.1 libipt2=2.0.5-1 libreadline8=8.2-1.3 \
	libxxhash0=0.8.1-1 libexpat1=2.5.0-1+deb12u5 libmpfr6=4.2.0-1 >/dev/null 2>&1 ||
	{ echo "the packages cannot be fetched: Debian 12 has them"; exit 1; }
for deb in *.deb; do dpkg -x "$deb" root; done
export LD_LIBRARY_PATH="$dir/root/usr/lib/x86_64-linux-gnu:$dir/root/lib/x86_64-linux-gnu"

cat >second.c <<'C'
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

static void *dies(void *unused)
{
	sleep(1); /* the other thread waits by then */
	abort();
}

int main(void)
{
	pthread_t second;
	pthread_create(&second, 0, dies, 0);
	for (;;)
		pause();
}
C
gcc -static -pthread -o second second.c
(ulimit -c unlimited && root/usr/bin/qemu-x86_64 ./second) >/dev/null 2>&1 || true
seen=$(root/usr/bin/gdb -nx -batch -iex 'set debuginfod enabled off' second qemu_second_*.core 2>&1 |
	sed -n 's/ in \([a-z_]*\) ().*/ \1/; /^Program terminated/p; s/^\(#0\)  0x[0-9a-f]*/\1/p' | xargs)
echo "$seen"
[ "$seen" = "Program terminated with signal SIGABRT, Aborted. #0 pause" ]
