/* threads: many threads, each blocked some calls deep.
 *
 * Proves: every thread is found and has its own right stack.
 *
 *   threads [COUNT [DEPTH]]      default 200 threads, 10 calls deep
 *
 * Each thread: start_thread > thread_main > level (DEPTH times) > wait_forever
 * > pthread_cond_wait; the main thread: main > block. Threads are named
 * "worker-N".
 *
 * Build: gcc -g -O2 -Wa,--gsframe threads.c -pthread
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>

#include "ready.h"

static pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;
static pthread_cond_t arrived = PTHREAD_COND_INITIALIZER;
static long waiting, depth = 10;

NOINLINE long wait_forever(long n) {
    pthread_mutex_lock(&mu);
    waiting++;
    pthread_cond_signal(&arrived);
    long more = 1; /* for ever, but the compiler shall not know */
    KEEP(more);
    while (more)
        pthread_cond_wait(&never, &mu);
    return n;
}

NOINLINE long level(long n) {
    volatile char local[24];
    local[0] = (char)n;
    long r = n <= 1 ? wait_forever(n) : level(n - 1);
    KEEP(r);
    return r + local[0];
}

static void *thread_main(void *arg) {
    char name[16];
    snprintf(name, sizeof name, "worker-%ld", (long)arg);
    pthread_setname_np(pthread_self(), name);
    long r = level(depth);
    KEEP(r);
    return (void *)r;
}

int main(int argc, char **argv) {
    arm();
    long count = argc > 1 ? number(argv[1]) : 200;
    if (argc > 2)
        depth = number(argv[2]);
    pthread_attr_t attr;
    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, 256 * 1024);
    for (long i = 0; i < count; i++) {
        pthread_t t;
        if (pthread_create(&t, &attr, thread_main, (void *)i))
            return 3;
    }
    pthread_mutex_lock(&mu);
    while (waiting < count)
        pthread_cond_wait(&arrived, &mu);
    pthread_mutex_unlock(&mu);
    /* The lock was free, so the last thread is inside pthread_cond_wait; give
     * it the moment to reach futex(2). */
    usleep(20000);
    ready();
    block();
}
