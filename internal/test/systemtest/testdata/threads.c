/* threads: a thread for each place where a real kernel matters.
 *
 *   sleeps     in a system call
 *   asks       in clock_gettime, most of the time in the vDSO
 *   handles    pause < on_signal < [signal frame] < asks's like, or the vDSO under it
 *   alternates pause < on_alternate < [signal frame] < computing, on an alternate stack
 *   computes   in code, under a recursion
 *   waits      on a condition
 *   naps       in short system calls
 *
 * It prints "ready". For each byte that it reads it waits until those who run have come further, and
 * prints how many system calls have failed.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline, noclone))

static volatile unsigned long sum, rounds;
static volatile int failed, ready, forever = 1;

static void is_ready(void) { __atomic_add_fetch(&ready, 1, __ATOMIC_RELAXED); }

/* until waits until so many threads have come to a place: a busy machine may let them wait long for a processor. */
static void until(int places) {
    while (__atomic_load_n(&ready, __ATOMIC_RELAXED) < places)
        usleep(1000);
}

NOINLINE static void asks(void) {
    for (;;) {
        struct timespec t;
        clock_gettime(CLOCK_MONOTONIC, &t);
        sum += t.tv_nsec;
        __atomic_add_fetch(&rounds, 1, __ATOMIC_RELAXED);
    }
}

NOINLINE static int computes(int depth) {
    if (depth > 0) {
        int n = computes(depth - 1);
        sum += n;
        return n + 1;
    }
    int x = 1;
    for (; forever; x = x * 31 + (x >> 3)) {
        sum += x;
        __atomic_add_fetch(&rounds, 1, __ATOMIC_RELAXED);
    }
    return x;
}

NOINLINE static void sleeps(long seconds) {
    struct timespec t = {seconds, 0};
    if (nanosleep(&t, 0))
        failed++;
}

NOINLINE static void naps(void) {
    for (;;) {
        struct timespec t = {0, 3000000};
        if (nanosleep(&t, 0))
            failed++;
    }
}

static void on_signal(int sig, siginfo_t *info, void *context) {
    is_ready();
    for (;;)
        sleeps(100000);
}

static void on_alternate(int sig) {
    is_ready();
    for (;;)
        pause();
}

static void *run_sleeps(void *arg) { return sleeps(100000), arg; }
static void *run_asks(void *arg) { return asks(), arg; }
static void *run_computes(void *arg) { return computes(20), arg; }
static void *run_naps(void *arg) { return naps(), arg; }

static void *run_handles(void *arg) {
    struct sigaction sa = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO};
    sigaction(SIGUSR1, &sa, 0);
    is_ready();
    asks();
    return arg;
}

static void *run_alternates(void *arg) {
    stack_t ss = {.ss_sp = malloc(1 << 16), .ss_size = 1 << 16};
    sigaltstack(&ss, 0);
    struct sigaction sa = {.sa_handler = on_alternate, .sa_flags = SA_ONSTACK};
    sigaction(SIGUSR2, &sa, 0);
    is_ready();
    computes(5);
    return arg;
}

static void *run_waits(void *arg) {
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    static pthread_cond_t never = PTHREAD_COND_INITIALIZER;
    pthread_mutex_lock(&mutex);
    for (;;)
        pthread_cond_wait(&never, &mutex);
    return arg;
}

int main(void) {
    void *(*run[])(void *) = {run_sleeps, run_asks, run_computes, run_naps, run_waits, run_handles, run_alternates};
    pthread_t threads[7];
    alarm(7200);
    for (int i = 0; i < 7; i++)
        if (pthread_create(&threads[i], 0, run[i], 0))
            return 3;
    until(2);
    usleep(300000);
    pthread_kill(threads[5], SIGUSR1);
    pthread_kill(threads[6], SIGUSR2);
    until(4);
    usleep(300000);
    printf("ready\n");
    fflush(stdout);
    char c;
    while (read(0, &c, 1) == 1) {
        unsigned long before = rounds;
        while (rounds == before)
            usleep(1000);
        printf("%d failed\n", failed);
        fflush(stdout);
    }
    return 4;
}
