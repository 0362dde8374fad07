/* inline: many inlined calls over few physical frames.
 *
 * Proves: inlined calls are frames of their own, in gdb's order, with the
 * call site's line in the caller.
 *   main > physical_outer > {in_1 > in_2 > in_3 > in_4} > physical_inner
 *        > {twice > once} > leaf > block
 * where {...} are inlined. Also the innermost frame of a stack can be inlined:
 * "inline spin" stays in a loop inside {spin_inner} of spin_outer.
 *
 * Build: gcc -g -O2 -Wa,--gsframe inline.c
 */
#include <string.h>

#include "ready.h"

#define INLINE static inline __attribute__((always_inline))

volatile long counter;

NOINLINE long leaf(long n) {
    ready();
    block();
    KEEP(n);
    return n;
}

INLINE long once(long n) {
    long r = leaf(n + 1);
    KEEP(r);
    return r + 1;
}

INLINE long twice(long n) {
    counter++;
    long r = once(n + 1);
    KEEP(r);
    return r + 2;
}

NOINLINE long physical_inner(long n) {
    volatile long local[5] = {n};
    long r = twice(n);
    KEEP(r);
    return r + local[0];
}

INLINE long in_4(long n) {
    counter += 4;
    long r = physical_inner(n);
    KEEP(r);
    return r + 4;
}

INLINE long in_3(long n) {
    counter += 3;
    long r = in_4(n + 3);
    KEEP(r);
    return r + 3;
}

INLINE long in_2(long n) {
    counter += 2;
    long r = in_3(n + 2);
    KEEP(r);
    return r + 2;
}

INLINE long in_1(long n) {
    counter += 1;
    long r = in_2(n + 1);
    KEEP(r);
    return r + 1;
}

NOINLINE long physical_outer(long n) {
    long keep = n * 5;
    KEEP(keep);
    long r = in_1(n);
    KEEP(r);
    return r + keep;
}

INLINE long spin_inner(long n) {
    for (;;) {
        counter += n;
        if (counter < 0)
            return counter;
    }
}

NOINLINE long spin_outer(long n) {
    volatile long local[3] = {n};
    ready();
    long r = spin_inner(n);
    KEEP(r);
    return r + local[0];
}

int main(int argc, char **argv) {
    arm();
    if (argc > 1 && !strcmp(argv[1], "spin"))
        return (int)spin_outer(argc);
    return (int)physical_outer(argc);
}
