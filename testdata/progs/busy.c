/* busy: threads that never rest, and that check that nobody disturbed them.
 *
 * Proves: attaching again and again changes nothing in the target.
 *
 *   busy [COUNT]      default 50 threads
 *
 * Each thread loops: arithmetic with a known result, a short nanosleep, a
 * read of a pipe that another thread writes. A wrong result, an unexpected
 * error (EINTR from nanosleep or the pipe without a signal) or a lost byte
 * aborts the process. A byte on standard input makes it print one line,
 * "loops N\n", so that a test sees that it still goes on.
 *
 * Build: gcc -g -O2 -Wa,--gsframe busy.c -pthread
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "ready.h"

static long loops;

NOINLINE long work(long n) {
    volatile long sum = 0;
    for (long i = 1; i <= n; i++)
        sum += i;
    return sum;
}

static NOINLINE void round_of(int *fds, unsigned char sequence) {
    unsigned char got;
    if (work(1000) != 500500)
        abort();
    struct timespec t = {0, 200000};
    if (nanosleep(&t, 0))
        abort();
    if (write(fds[1], &sequence, 1) != 1 || read(fds[0], &got, 1) != 1 || got != sequence)
        abort();
    __atomic_add_fetch(&loops, 1, __ATOMIC_RELAXED);
}

static void *thread_main(void *arg) {
    int fds[2];
    if (pipe(fds))
        abort();
    for (unsigned char i = 0;; i++)
        round_of(fds, i);
    return arg;
}

int main(int argc, char **argv) {
    arm();
    long count = argc > 1 ? number(argv[1]) : 50;
    for (long i = 0; i < count; i++) {
        pthread_t t;
        if (pthread_create(&t, 0, thread_main, 0))
            return 3;
    }
    ready();
    char c;
    while (read(0, &c, 1) > 0) {
        printf("loops %ld\n", __atomic_load_n(&loops, __ATOMIC_RELAXED));
        fflush(stdout);
    }
    _exit(0);
}
