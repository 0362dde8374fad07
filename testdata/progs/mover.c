/* mover: a thread that does not stand still while its deep stack is looked at.
 *
 * Proves: what is copied of a stack later is of the same stack, or is said not to be.
 *
 *   mover spin DEPTH     main > left (DEPTH times) > spin: loops for ever at the bottom
 *   mover swing DEPTH    main > left or right (DEPTH times), in turn, for ever: a stack
 *                        has one of the two, never both
 *   mover nap DEPTH      main > left (DEPTH times) > nap: sleeps for short times
 *
 * left and right are equal but for their addresses.
 *
 * Build: gcc -g -O2 -fomit-frame-pointer -Wa,--gsframe mover.c
 */
#include <string.h>
#include <time.h>

#include "ready.h"

static volatile unsigned long turns;
static int how; /* 0 swing, 1 spin, 2 nap */

static NOINLINE void spin(void) {
    for (;;)
        turns++;
}

static NOINLINE void nap(void) {
    struct timespec t = {0, 50000};
    for (;;) {
        nanosleep(&t, 0);
        turns++;
    }
}

#define TWIN(name)                                                    \
    NOINLINE long name(long n) {                                      \
        volatile long local[9] = {n};                                 \
        long r = n;                                                   \
        if (n > 1)                                                    \
            r = name(n - 1);                                          \
        else if (how == 1)                                            \
            spin();                                                   \
        else if (how == 2)                                            \
            nap();                                                    \
        KEEP(r);                                                      \
        return r + local[0];                                          \
    }
TWIN(left)
TWIN(right)

int main(int argc, char **argv) {
    long depth = number(argv[2]);
    arm();
    how = argc > 2 ? !strcmp(argv[1], "spin") + 2 * !strcmp(argv[1], "nap") : 0;
    ready();
    for (;;) {
        long r = left(depth);
        KEEP(r);
        r = right(depth);
        KEEP(r);
        turns++;
    }
}
