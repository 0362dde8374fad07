/* napper: a thread that sleeps for short times at the bottom of deep stacks, of which the
 * inner 12 KB are always the same.
 *
 * Proves: that a thread is blocked where it was does not tell that it has not been elsewhere.
 *
 *   main > left_top > wide (30 times) > left_mid > wide (4 times) > nap, then
 *   main > right_top > wide (30 times) > right_mid > wide (4 times) > nap, in turn, for ever
 *
 * Build: gcc -g -O2 -fomit-frame-pointer -Wa,--gsframe napper.c
 */
#include <time.h>

#include "ready.h"

static volatile unsigned long turns;
typedef void fn(void);

static NOINLINE void nap(void) {
    static const struct timespec t = {0, 20000};
    nanosleep(&t, 0);
    turns++;
}

/* n frames of 3 KB, and f. */
static NOINLINE long wide(long n, fn *f) {
    volatile char room[3000];
    long r = n;
    room[0] = 0;
    if (n > 1)
        r = wide(n - 1, f);
    else
        f();
    KEEP(r);
    return r + room[0];
}

#define TWIN(name)                                                    \
    static NOINLINE void name##_mid(void) {                           \
        long r = wide(4, nap);                                        \
        KEEP(r);                                                      \
    }                                                                 \
    static NOINLINE void name##_top(void) {                           \
        long r = wide(30, name##_mid);                                \
        KEEP(r);                                                      \
    }
TWIN(left)
TWIN(right)

int main(void) {
    arm();
    ready();
    for (;;) {
        left_top();
        right_top();
    }
}
