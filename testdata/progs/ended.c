// Dies of a signal, with a second thread that waits: "abort", "kill" (a SIGSEGV that it sends
// itself), "trap", "general" (an address that is none). The second thread blocks all signals, so
// that the first one gets what the process is sent.
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void *idle(void *arg) {
    pause();
    return arg;
}

int main(int argc, char **argv) {
    pthread_t other;
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    pthread_create(&other, NULL, idle, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (argc < 2)
        return 1;
    if (!strcmp(argv[1], "abort"))
        abort();
    if (!strcmp(argv[1], "kill"))
        kill(getpid(), SIGSEGV);
    if (!strcmp(argv[1], "trap"))
        __builtin_trap();
    if (!strcmp(argv[1], "general"))
        *(volatile int *)0x8000000000000000 = 1;
    *(volatile int *)16 = 1;
    return 0;
}
