/* threads: COUNT threads, each blocked some calls deep, and the main one.
 *
 *   each thread   start of libc's > thread_main > level (N times) > wait_forever
 *                 > pthread_cond_wait
 *   main          main > all_waiting > stop_here("threads")
 *
 * Needs the C library.
 */
#include <pthread.h>

#include "guest.h"

#ifndef COUNT
#define COUNT 6
#endif

static pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;
static pthread_cond_t arrived = PTHREAD_COND_INITIALIZER;
static long waiting;

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
    CLOBBER_SOME();
    long r = n <= 1 ? wait_forever(n) : level(n - 1);
    KEEP(r);
    return r + local[0];
}

static void *thread_main(void *arg) {
    long r = level((long)arg);
    KEEP(r);
    return (void *)r;
}

NOINLINE long all_waiting(long n) {
    pthread_mutex_lock(&mu);
    while (waiting < COUNT)
        pthread_cond_wait(&arrived, &mu);
    pthread_mutex_unlock(&mu);
    usleep(50000); /* the last one has reached futex(2) */
    stop_here("threads");
    return n;
}

int main(void) {
    pthread_attr_t attr;
    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, 256 * 1024);
    for (long i = 0; i < COUNT; i++) {
        pthread_t t;
        if (pthread_create(&t, &attr, thread_main, (void *)(i + 2)))
            return 3;
    }
    long r = all_waiting(1);
    KEEP(r);
    _exit(0);
}
