/* returns: calls, jumps and returns by code that compilers put in the place of a call, a jump and a ret
 * instruction, for single stepping.
 *
 * Proves: a return address that was popped into a register, one that was pushed by a call that never comes
 * back and then replaced, and the frames around them. Waits for a byte, then makes the calls, and ends.
 *
 * NO_LABELS leaves out the jumps to computed labels: where these are thunks in the function, code that has no tables
 * is not followed over them.
 *
 * Build: clang -O2 -mlvi-hardening, -mretpoline; gcc -O2 -mindirect-branch=thunk -mfunction-return=thunk, or thunk-inline;
 *        clang -O2 -fno-builtin -fuse-ld=lld -Wl,-z,retpolineplt; each also without tables and symbols
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ready.h"

typedef int (*function)(int);

NOINLINE int leaf(int x) {
    volatile int y = x;
    return y + 1;
}

NOINLINE int wide(int x) {
    volatile char b[300];
    b[x] = 1;
    return b[x];
}

volatile function called = leaf, jumped = wide;

NOINLINE int saves(int x) {
    int r = called(x);
    CLOBBER("rbx", "r12", "r13");
    return r + 3;
}

NOINLINE int holds(int x) {
    volatile char b[200];
    b[x] = called(x);
    return b[x] + jumped(x) + abs(x);
}

NOINLINE int jumps(int x) { return jumped(x + 1); }

NOINLINE int grows(int x) {
    volatile char *b = __builtin_alloca(x * 16 + 16);
    b[0] = called(x);
    return b[0];
}

NOINLINE int library(int x) {
    int r = abs(x) + (int)strtol("12", 0, 10) + getppid() + abs(x + 1) + getppid();
    __asm__ volatile("");
    return r;
}

NOINLINE int aligned(int x) {
    volatile char b[64] __attribute__((aligned(64)));
    b[x] = called(x);
    return b[x] + called(x);
}

#ifdef NO_LABELS
#define chooses called
#else
NOINLINE int chooses(int x) {
    static void *const labels[] = {&&one, &&two, &&three};
    volatile char b[200];
    b[x] = called(x) + 1;
    goto *labels[x];
one:
    return b[x];
two:
    x = called(x) - 1;
    b[x] = 2;
    goto *labels[x + 1 & 2];
three:
    return b[1] + called(x);
}
#endif

NOINLINE int all(int x) {
    int r = saves(x) + holds(x) + jumps(x) + grows(x) + library(x) + aligned(x) + chooses(x);
    __asm__ volatile("");
    return r + 1;
}

int main(void) {
    char c;
    arm();
    ready();
    volatile int one = read(0, &c, 1);
    return all(one) == 0;
}
