/* shadowstack: frames of a language whose records are on the heap, and change all the time.
 *
 * Proves: what is read of the heap is of the moment of the stack.
 *
 *   shadowstack [nap]
 *
 * Each call of evaluate has a record on the heap, with its level and an address in its frame; the
 * records of a thread are a chain. The main thread waits in level 5. The other one calls evaluate
 * 1 to 12 levels deep, over and over; with "nap", it sleeps for a moment in the innermost one.
 *
 * Build: gcc -O1 -g shadowstack.c -pthread
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>

#include "ready.h"

struct record {
    struct record *outer;
    void *entry;
    long level;
};

struct shadow {
    long tid;
    struct record *inner;
};

struct shadow shadow_threads[2];
char shadow_room[4 << 20] = {1}; /* in the file, for the module to be as large as an interpreter */

static NOINLINE long spin(long n) {
    long r = 1;
    for (long i = 0; i < n; i++) {
        r = r * 3 + i;
        KEEP(r);
    }
    return r;
}

static int naps;

/* Sleeps in a function in assembler whose frame SP tells. nap keeps its caller's frame pointer on
 * the stack, as some C libraries are compiled with frame pointers. */
static NOINLINE void nap(void) {
    struct timespec t = {0, 1000000};
    long r = syscall(SYS_nanosleep, &t, NULL);
#ifdef __x86_64__
    __asm__ volatile("" ::: "rbp");
#endif
    KEEP(r);
}

static NOINLINE long evaluate(struct shadow *t, long level, long depth) {
    volatile char entry[16] = {0};
    struct record *x = malloc(sizeof *x);
    x->outer = t->inner, x->entry = (void *)entry, x->level = level;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    t->inner = x;
    long r = spin(300);
    if (level < depth)
        r += evaluate(t, level + 1, depth);
    else if (t == shadow_threads)
        block();
    else if (naps)
        nap();
    r += spin(300);
    t->inner = x->outer;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    x->level = -1;
    free(x);
    return r + entry[0];
}

static void *compute(void *arg) {
    struct shadow *t = arg;
    t->tid = syscall(SYS_gettid);
    for (long n = 0;; n++) {
        long r = evaluate(t, 1, 1 + n % 12);
        KEEP(r);
    }
    return arg;
}

int main(int argc, char **argv) {
    pthread_t thread;
    naps = argc > 1 && argv[1][0];
    arm();
    shadow_threads[0].tid = syscall(SYS_gettid);
    pthread_create(&thread, 0, compute, &shadow_threads[1]);
    ready();
    return evaluate(&shadow_threads[0], 1, 5) == 7;
}
