/* recurse: one very deep stack.
 *
 * Proves: a deep stack is whole, in order and in time linear in its depth.
 *
 *   recurse [DEPTH [busy]]      default 20000; busy: leaf runs on
 *
 * main > even/odd (in turn, DEPTH frames in all) > leaf > block. even and odd
 * have different frame sizes.
 *
 * Build: gcc -g -O2 -Wa,--gsframe recurse.c
 */
#include "ready.h"

long odd(long n);

static int busy;

NOINLINE long leaf(long n) {
    ready();
    while (busy)
        KEEP(n);
    block();
    KEEP(n);
    return n;
}

NOINLINE long even(long n) {
    volatile long local[3] = {n};
    long r = n <= 1 ? leaf(n) : odd(n - 1);
    KEEP(r);
    return r + local[0];
}

NOINLINE long odd(long n) {
    volatile long local[11] = {n};
    CLOBBER("r13");
    long r = n <= 1 ? leaf(n) : even(n - 1);
    KEEP(r);
    return r + local[0];
}

int main(int argc, char **argv) {
    arm();
    busy = argc > 2;
    return (int)even(argc > 1 ? number(argv[1]) : 20000);
}
