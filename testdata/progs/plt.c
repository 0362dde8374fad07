/* plt: calls through the procedure linkage table, for single stepping.
 *
 * Proves: frames in .plt, .plt.sec and .plt.got stubs, in the lazy resolver
 * of the dynamic linker and in the function it jumps to. calls_lazy calls two
 * functions of libc, each twice: the first call goes through PLT0 and the
 * resolver, the second one straight. Runs to its end, never blocks.
 *
 * Build: gcc -g -O2 -fplt -Wl,-z,lazy -Wa,--gsframe plt.c
 *        also -fcf-protection -Wl,-z,ibtplt (.plt.sec) and -Wl,-z,now
 */
#include <unistd.h>

#include "ready.h"

NOINLINE long calls_lazy(long n) {
    CLOBBER("rbx", "r12");
    long r = getppid();
    KEEP(r);
    r += getppid();
    KEEP(r);
    r += getuid();
    KEEP(r);
    r += getuid();
    KEEP(r);
    return r + n;
}

int main(int argc, char **argv) {
    (void)argv;
    arm();
    long r = calls_lazy(argc);
    KEEP(r);
    return 0;
}
