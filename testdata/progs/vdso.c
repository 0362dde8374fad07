/* vdso: asks for the time without end.
 *
 * Proves: frames in the kernel's vDSO, whose code and tables are in no file.
 *   main > asks_time > [clock_gettime in libc >] [vdso]
 * A stop finds it there most of the time.
 *
 * Build: gcc -g -O2 -Wa,--gsframe vdso.c
 */
#include "ready.h"
#include <time.h>

NOINLINE static long asks_time(long rounds) {
    struct timespec now = {0, 0};
    long sum = 0;
    for (long i = 0; i < rounds; i++) {
        clock_gettime(CLOCK_MONOTONIC, &now);
        sum += now.tv_nsec;
    }
    return sum;
}

int main(void) {
    arm();
    ready();
    long sum = 0;
    for (;;) {
        KEEP(sum);
        sum += asks_time(1000000);
    }
}
