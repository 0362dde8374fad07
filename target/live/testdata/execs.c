/* A process with threads that executes itself anew all the time, from its main
 * thread and from others: "execs N" goes on N times. */
#include "target.h"

static char count[16];
static char *args[] = {"execs", count, "more", 0};

static void *spin(void *arg) {
    for (volatile long i = 0;; i++)
        ;
    return arg;
}

static void *again(void *arg) {
    usleep(1500);
    execv("/proc/self/exe", args);
    _exit(5);
}

int main(int argc, char **argv) {
    long n = atoi(argv[1]);
    arm();
    if (argc == 2) /* the first of them */
        SAY("ready\n");
    if (n == 0)
        block();
    snprintf(count, sizeof count, "%ld", n - 1);
    pthread_t t;
    for (int i = 0; i < 6; i++)
        while (pthread_create(&t, 0, i == 1 ? spin : again, 0))
            ; /* another one is in execve(2) */
    if (n & 1)
        again(0);
    pause();
}
