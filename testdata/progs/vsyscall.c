/* vsyscall: calls of the functions in the kernel's vsyscall page, for single stepping.
 *
 * Proves: frames whose code cannot be read. Waits for a byte, then makes the calls, and ends.
 *
 * Build: gcc -O2 vsyscall.c
 */
#include <sys/time.h>
#include <time.h>

#include "ready.h"

typedef long (*function)(void *, void *, void *);

NOINLINE long calls(long at) {
    struct timeval now;
    CLOBBER("rbx", "r12");
    long r = ((function)at)(&now, 0, 0);
    KEEP(r);
    return r;
}

NOINLINE long all(void) {
    long r = 0;
    for (int i = 0; i < 20; i++) /* gettimeofday, time, getcpu */
        r += calls(0xffffffffff600000 + 0x400 * (i % 3));
    KEEP(r);
    return r;
}

int main(void) {
    char c;
    arm();
    ready();
    return read(0, &c, 1) + all() == 0;
}
