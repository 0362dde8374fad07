/* main > interrupted > (SIGUSR1 on an alternate stack) handler, blocked. It
 * prints where the interrupted function's "local" is, which holds "MAGIC". With an argument the
 * handler takes a siginfo: without, the kernel of s390x writes no ucontext. */
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
    struct sigaction sa = {.sa_handler = handler, .sa_flags = SA_ONSTACK | (arg ? SA_SIGINFO : 0)};
    sigaction(SIGUSR1, &sa, 0);
    interrupted();
    return arg;
}

int main(int argc, char **argv) {
    arm();
    start_thread(run, argv[1]);
    for (;;)
        pause();
}
