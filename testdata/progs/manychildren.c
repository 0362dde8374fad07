// Many children and many descriptors. Threads wait for the last child, also by a pidfd, for any
// child, and to read from a pipe whose other end only the first child has. Behind "ready",
// the program prints the first and the last child's ID, and the pidfd.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ready.h"

#define CHILDREN 80
#define FILES 1200

static void start(const char *name, void *(*f)(void *), long arg) {
    pthread_t t;
    if (pthread_create(&t, NULL, f, (void *)arg))
        exit(3);
    pthread_setname_np(t, name);
}

static void *waits(void *pid) {
    for (;;)
        waitpid((long)pid, NULL, 0);
    return NULL;
}

static void *waits_by_fd(void *fd) {
    siginfo_t info;
    for (;;)
        waitid(3 /* P_PIDFD */, (long)fd, &info, WEXITED | WNOWAIT);
    return NULL;
}

static void *reads(void *fd) {
    char c;
    for (;;)
        if (read((long)fd, &c, 1) < 0 && errno != EINTR)
            pause();
    return NULL;
}

int main(void) {
    int data[2], alive[2];
    pid_t first = 0, last = 0;
    arm();
    if (pipe(data) || pipe(alive))
        return 3;
    for (int i = 0; i < CHILDREN; i++) {
        last = fork();
        if (last < 0)
            return 3;
        if (!last) {
            char c;
            close(alive[1]);
            while (read(alive[0], &c, 1) != 0) // until the parent ends
                ;
            _exit(0);
        }
        if (!first) {
            first = last;
            close(data[1]);
        }
    }
    struct rlimit most;
    getrlimit(RLIMIT_NOFILE, &most);
    most.rlim_cur = most.rlim_max < FILES + 100 ? most.rlim_max : FILES + 100;
    setrlimit(RLIMIT_NOFILE, &most);
    int by = syscall(434 /* pidfd_open */, last, 0);
    for (int i = 0; i < FILES; i++)
        if (open("/dev/null", O_RDONLY) < 0)
            return 3;
    start("any", waits, -1);
    start("last", waits, last);
    start("pipe", reads, data[0]);
    if (by >= 0)
        start("pidfd", waits_by_fd, by);
    ready();
    dprintf(1, "%d %d %d\n", first, last, by);
    block();
}
