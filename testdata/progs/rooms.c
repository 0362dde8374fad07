/* rooms: a thread that sleeps in one place until it is sent to the next.
 *
 * Proves: a thread that has run since a profiler saw it last is seen where it is now, and one that
 * has not is left alone.
 *
 *   rooms
 *
 * The thread reads in first(). For each byte it says a line, and goes on to second(), and from
 * there to first() again.
 *
 * Build: gcc -O1 -g rooms.c
 */
#include "ready.h"

static NOINLINE int wait(void) {
    char c;
    int end = read(0, &c, 1) <= 0;
    if (!end && write(1, "moved\n", 6) != 6)
        _exit(3);
    KEEP(end);
    return end;
}

static NOINLINE int first(void) {
    int end = wait();
    KEEP(end);
    return end;
}

static NOINLINE int second(void) {
    int end = wait();
    KEEP(end);
    return end;
}

int main(void) {
    arm();
    ready();
    while (!first() && !second())
        ;
    return 0;
}
