/* nullcall: a call through a NULL function pointer, caught by a handler; with
 * an argument, by nobody: the program dies of it.
 *
 * Proves: a frame whose PC is 0. Its return address is on top of the stack,
 * as at the first instruction of any function.
 *   main > calls_null > (PC 0) > [sigtramp] > on_signal > block
 *
 * Build: gcc -g -O2 -Wa,--gsframe nullcall.c
 */
#include <signal.h>
#include <string.h>

#include "ready.h"

typedef long (*function_t)(long);
volatile function_t function;

static NOINLINE void on_signal(int sig) {
    (void)sig;
    ready();
    block();
    KEEP(sig);
}

NOINLINE long calls_null(long n) {
    volatile long local[6] = {n};
    long r = function(n);
    KEEP(r);
    return r + local[1];
}

int main(int argc, char **argv) {
    (void)argv;
    arm();
    struct sigaction sa;
    memset(&sa, 0, sizeof sa);
    sa.sa_handler = on_signal;
    if (argc == 1)
        sigaction(SIGSEGV, &sa, 0);
    return (int)calls_null(argc);
}
