/* uretprobe: functions whose return address the kernel may replace (a probe of the return, uretprobe).
 *
 * Proves: the way on from a return address that is the kernel's.
 *   waits > probed > once | twice | indirect > main, by the argument; spin: as once, but waits runs;
 *   deep: waits > probed > probed > probed > once.
 *   With "runs" as another argument, waits runs; with "dies", it dies.
 *
 * Build: gcc -g -O2 uretprobe.c
 */
#include <alloca.h>
#include <string.h>

#include "ready.h"

static volatile int depth;
static volatile int dies;
static volatile long spins;

NOINLINE void waits(void) {
    ready();
    if (dies)
        __builtin_trap();
    while (spins)
        spins++;
    block();
    __asm__ volatile("");
}

NOINLINE void probed(int x) {
    volatile char *b = alloca(x * 100);
    memset((void *)b, x, 100);
    if (depth-- > 0)
        probed(x);
    else
        waits();
    CLOBBER("rbx", "r12", "r13");
}

void (*volatile pointer)(int) = probed;

NOINLINE void once(int x) {
    volatile char b[400];
    memset((void *)b, x, 400);
    probed(x);
    CLOBBER("rbx", "r15");
}

NOINLINE void twice(int x) {
    volatile char b[300];
    memset((void *)b, x, 300);
    if (__builtin_expect(x > 100, 1))
        probed(x + 1);
    CLOBBER("rbx", "r12");
    probed(x);
    CLOBBER("rbx", "r12");
}

NOINLINE void indirect(int x) {
    volatile char b[500];
    memset((void *)b, x, 500);
    pointer(x);
    CLOBBER("rbx", "r14");
}

int main(int argc, char **argv) {
    arm();
    spins = argc > 2 && argv[2][0] == 'r';
    dies = argc > 2 && argv[2][0] == 'd';
    switch (argc > 1 ? argv[1][0] : 0) {
    case 'd':
        depth = 2;
    case 's':
        spins |= depth == 0;
    case 'o':
        once(argc);
        break;
    case 't':
        twice(argc);
        break;
    case 'i':
        indirect(argc);
    }
    __asm__ volatile("");
    return 0;
}
