/* counting: threads that count all the time, each on its stack and in two places of the heap.
 *
 * Proves: values are of one moment.
 *
 *   counting [COUNT]      default 2 threads
 *
 * At any moment, own->first and own->last are n or one less than n, and last is no more than first. They lie on
 * pages of their own. A further thread counts in ticks, which all threads point to.
 *
 * Build: gcc -g -O1 counting.c -pthread
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>

#include "ready.h"

struct counts {
    volatile long first;
    char between[16384];
    volatile long last;
};

static volatile long *ticks;
static int counting; /* how many threads do */

NOINLINE void count(struct counts *own, volatile long *all) {
    for (volatile long n = 1;; n++) {
        own->first = n;
        own->last = n;
        if (n == 1)
            __atomic_add_fetch(&counting, 1, __ATOMIC_SEQ_CST);
        if (*all < 0)
            return;
    }
}

static void *counter(void *arg) {
    count(calloc(1, sizeof(struct counts)), ticks);
    return arg;
}

NOINLINE static void *ticker(void *arg) {
    for (;;)
        ++*ticks;
    return arg;
}

int main(int argc, char **argv) {
    arm();
    int threads = argc > 1 ? atoi(argv[1]) : 2;
    pthread_t t;
    ticks = calloc(1, 4096);
    pthread_create(&t, 0, ticker, 0);
    for (int i = 0; i < threads; i++)
        pthread_create(&t, 0, counter, 0);
    while (*ticks < 1000 || __atomic_load_n(&counting, __ATOMIC_SEQ_CST) < threads)
        usleep(1000);
    ready();
    block();
}
