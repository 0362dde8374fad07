/* pendulum: a thread that goes down into deep recursion and comes back, 40 to 64 frames of 3 KB
 * each, all the time.
 *
 * Proves: a stack that is copied in more than one step is of one moment.
 *
 *   main > left_top > left (40 to 64 times), then
 *   main > right_top > right (40 to 64 times), in turn, for ever: a stack has one of the two
 *
 * left and right are equal but for their addresses, and leave most of their frames as they
 * are: the same bytes may be of any of them.
 *
 * Build: gcc -g -O2 -fomit-frame-pointer -Wa,--gsframe pendulum.c
 */
#include "ready.h"

static volatile unsigned long turns;

#define TWIN(name)                                                    \
    NOINLINE long name(long n) {                                      \
        volatile char room[3000];                                     \
        long r = n;                                                   \
        room[0] = n;                                                  \
        if (n > 1)                                                    \
            r = name(n - 1);                                          \
        else                                                          \
            turns++;                                                  \
        KEEP(r);                                                      \
        return r + room[0];                                           \
    }                                                                 \
    NOINLINE long name##_top(long n) {                                \
        long r = name(n);                                             \
        KEEP(r);                                                      \
        return r + 1;                                                 \
    }
TWIN(left)
TWIN(right)

int main(void) {
    arm();
    ready();
    for (;;)
        for (long n = 40; n <= 64; n++) {
            long r = left_top(n);
            KEEP(r);
            r = right_top(n);
            KEEP(r);
        }
}
