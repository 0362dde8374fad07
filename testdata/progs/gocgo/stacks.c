#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "_cgo_export.h"
#include "stacks.h"

static atomic_int arrived;
static volatile int sink;

int stacks_arrived(void) { return arrived; }

// Blocks until standard input ends. The buffer keeps the compiler from making the
// call a jump.
__attribute__((noinline)) int stack_block(int n) {
    char buffer[200];
    memset(buffer, n, sizeof buffer);
    arrived++;
    while (read(0, buffer, 1) > 0)
        ;
    return buffer[n] + n;
}

__attribute__((noinline)) static int stack_inner(int n) { return stack_block(n) + sink; }

// Keeps values in all registers that C's calling convention preserves.
__attribute__((noinline)) int stack_outer(int n) {
    int a = sink + 1, b = sink + 2, c = sink + 3, d = sink + 4, e = sink + 5;
    n = stack_inner(n);
    return n + a + b * c + d * e + sink;
}

__attribute__((noinline)) int stack_calls_go(int n) {
    int a = sink + 1, b = sink + 2, c = sink + 3;
    n = goCallback(n);
    return n + a + b * c + sink;
}

__attribute__((noinline)) static int stack_thread_inner(int n) { return stack_calls_go(n) + sink; }

static void *stack_thread(void *arg) {
    sink += stack_thread_inner((int)(long)arg);
    return NULL;
}

void stacks_start_thread(int n) {
    pthread_t t;
    pthread_create(&t, NULL, stack_thread, (void *)(long)n);
    pthread_detach(t);
}

__attribute__((noinline)) static int handler_inner(int n) { return stack_block(n) - sink; }
static void handler(int sig, siginfo_t *info, void *context) { sink += handler_inner(sig % 8); }

static void handle(int sig, int flags) {
    struct sigaction a;
    memset(&a, 0, sizeof a);
    a.sa_sigaction = handler;
    a.sa_flags = SA_SIGINFO | SA_NODEFER | flags;
    sigaction(sig, &a, NULL);
}

// A signal that comes to C while it runs for Go.
__attribute__((noinline)) int stack_raises(int n) {
    int a = sink + 1;
    handle(SIGUSR1, SA_ONSTACK);
    raise(SIGUSR1);
    return sink + n * a;
}

void stacks_handle_usr2(void) { handle(SIGUSR2, SA_ONSTACK); }
