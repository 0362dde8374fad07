/* firstended: its first thread has ended, others live on: one runs, one waits.
 *
 * Proves: the kernel shows neither memory nor files of such a process in /proc/PID, but in the folders of its threads.
 *   start_thread > runs > busy
 *   start_thread > waits > block
 *
 * Build: gcc -g -O2 -pthread firstended.c
 */
#include "ready.h"
#include <pthread.h>
#include <stdlib.h>

static volatile long turns;

NOINLINE static void busy(void) {
    for (;;)
        turns++;
}

static void *runs(void *arg) {
    busy();
    return arg;
}

static void *waits(void *arg) {
    block();
    exit(0);
    return arg;
}

/* For sfwalk call. */
NOINLINE int triple(int x) { return 3 * x; }

int main(void) {
    pthread_t t;
    arm();
    if (triple((int)turns) != 0 || pthread_create(&t, NULL, runs, NULL) || pthread_create(&t, NULL, waits, NULL))
        return 1;
    ready();
    pthread_exit(NULL);
}
