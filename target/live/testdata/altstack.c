/* main > interrupted > (SIGUSR1 on an alternate stack) handler, blocked. It
 * prints where the interrupted function's "local" is, which holds "MAGIC". */
#include "target.h"

static void handler(int sig) {
    block();
}

__attribute__((noinline)) static void interrupted(void) {
    volatile unsigned long local = 0x5ca1ab1e0ddba11;
    SAY("ready\n");
    SAY("%p\n", (void *)&local);
    raise(SIGUSR1);
    local++;
}

static void *run(void *arg) {
    stack_t ss = {.ss_sp = malloc(64 << 10), .ss_size = 64 << 10};
    sigaltstack(&ss, 0);
    /* Without SA_SIGINFO, the kernel of s390x writes no ucontext. */
    struct sigaction sa = {.sa_handler = handler, .sa_flags = SA_ONSTACK | SA_SIGINFO};
    sigaction(SIGUSR1, &sa, 0);
    interrupted();
    return arg;
}

int main(void) {
    arm();
    start_thread(run, 0);
    for (;;)
        pause();
}
