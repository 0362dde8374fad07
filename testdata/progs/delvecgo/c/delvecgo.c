/* The C half of delvecgo. It is compiled apart from cgo, so that a test decides what the
 * debuggers get to see of it: without frame pointers and without .eh_frame, SFrame is all
 * that tells how to unwind it. */
#include "delvecgo.h"

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline, noclone))
/* Keeps a call from becoming a tail call, and a value from being known. */
#define KEEP(x) __asm__ volatile("" : "+r"(x))
/* Makes the compiler save these registers in the prologue, and use them itself. */
#define CLOBBER(...) __asm__ volatile("" ::: __VA_ARGS__)

extern long goCallback(long n);
extern long goFromThread(long n);

static NOINLINE long c_blocks_inner(long n) {
    volatile long room[40];
    room[n & 31] = n;
    CLOBBER("rbx", "rbp", "r12");
    for (;;)
        pause();
    return room[n & 31];
}

static NOINLINE long c_blocks_middle(long n) {
    volatile long room[7];
    room[n & 3] = n;
    CLOBBER("rbp", "r13");
    n = c_blocks_inner(n + 1) + room[n & 3];
    KEEP(n);
    return n;
}

long c_blocks(long n) {
    CLOBBER("rbx", "r14", "r15");
    n = c_blocks_middle(n + 1);
    KEEP(n);
    return n + 1;
}

static NOINLINE long c_calls_go_inner(long n) {
    volatile long room[20];
    room[n & 15] = n;
    CLOBBER("rbx", "rbp");
    n = goCallback(n + 1) + room[n & 15];
    KEEP(n);
    return n;
}

long c_calls_go(long n) {
    CLOBBER("rbp", "r12");
    n = c_calls_go_inner(n + 1);
    KEEP(n);
    return n + 1;
}

static NOINLINE void handler_inner(int sig) {
    volatile long room[11];
    room[sig & 7] = sig;
    CLOBBER("rbx", "rbp");
    for (;;)
        pause();
}

static void handler(int sig) {
    CLOBBER("rbp", "r12");
    handler_inner(sig);
    KEEP(sig);
}

static NOINLINE long c_signalled_inner(long n) {
    volatile long room[5];
    room[n & 3] = n;
    CLOBBER("rbx", "rbp");
    pthread_kill(pthread_self(), SIGUSR1);
    return room[n & 3];
}

long c_is_signalled(long n) {
    struct sigaction act = {0};
    act.sa_handler = handler;
    act.sa_flags = SA_ONSTACK;
    sigaction(SIGUSR1, &act, 0);
    CLOBBER("rbp", "r13");
    n = c_signalled_inner(n + 1);
    KEEP(n);
    return n + 1;
}

static NOINLINE long thread_middle(long n) {
    volatile long room[9];
    room[n & 7] = n;
    CLOBBER("rbx", "rbp");
    n = goFromThread(n + 1) + room[n & 7];
    KEEP(n);
    return n;
}

static void *thread_begins(void *arg) {
    long n = (long)arg;
    CLOBBER("rbp", "r12");
    n = thread_middle(n + 1);
    KEEP(n);
    return (void *)n;
}

void c_starts_thread(long n) {
    pthread_t id;
    if (pthread_create(&id, 0, thread_begins, (void *)n) == 0)
        pthread_detach(id);
}
