/* Counts the signals that it gets, on any of four threads; a byte on standard
 * input makes it print the counts: of SIGUSR1, and of SIGRTMIN with the sum of
 * the values that came along. */
#include "target.h"

static long usr, rt, sum;

static void on_usr(int sig) { __atomic_add_fetch(&usr, 1, __ATOMIC_RELAXED); }

static void on_rt(int sig, siginfo_t *info, void *uc) {
    __atomic_add_fetch(&rt, 1, __ATOMIC_RELAXED);
    __atomic_add_fetch(&sum, info->si_value.sival_int, __ATOMIC_RELAXED);
}

static void *sleeper(void *arg) {
    for (;;)
        usleep(300);
    return arg;
}

int main(void) {
    arm();
    struct sigaction a = {.sa_handler = on_usr, .sa_flags = SA_RESTART};
    sigaction(SIGUSR1, &a, 0);
    struct sigaction b = {.sa_sigaction = on_rt, .sa_flags = SA_RESTART | SA_SIGINFO};
    sigaction(SIGRTMIN, &b, 0);
    for (int i = 0; i < 3; i++)
        start_thread(sleeper, 0);
    SAY("ready\n");
    char c;
    while (read(0, &c, 1) > 0)
        SAY("%ld %ld %ld\n", usr, rt, sum);
    _exit(0);
}
