/* bigframe: frames above 64 KiB, where offsets need more than 16 bits.
 *
 * Proves: large CFA offsets, and stacks larger than one read of memory.
 *   main > frame_100k > frame_70000 > frame_1m > leaf > block
 *
 * Build: gcc -g -O2 -Wa,--gsframe bigframe.c   (also -fstack-clash-protection)
 */
#include <string.h>

#include "ready.h"

NOINLINE long leaf(long n) {
    ready();
    block();
    KEEP(n);
    return n;
}

#define BIG(name, bytes, next)                                                                     \
    NOINLINE long name(long n) {                                                                   \
        volatile char local[bytes];                                                                \
        CLOBBER("rbx", "r14");                                                                     \
        local[0] = (char)n;                                                                        \
        local[sizeof local - 1] = (char)n;                                                         \
        long r = next(n + local[0]);                                                               \
        KEEP(r);                                                                                   \
        return r + local[sizeof local - 1];                                                        \
    }

BIG(frame_1m, 1 << 20, leaf)
BIG(frame_70000, 70000, frame_1m)
BIG(frame_100k, 100 * 1024, frame_70000)

int main(int argc, char **argv) {
    (void)argv;
    arm();
    return (int)frame_100k(argc);
}
