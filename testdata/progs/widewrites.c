/* Two threads, "pipe" and "socket", that write more to descriptors 30 and 31 than there is room for,
 * and nobody reads it. A debugger that stops them has the call return how much was written. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include "ready.h"

static volatile long tids[2];
static char page[4 << 20];

static void *writes(void *number) {
    long n = (long)number;
    pthread_setname_np(pthread_self(), n ? "socket" : "pipe");
    tids[n] = syscall(SYS_gettid);
    for (;;) {
#ifdef __i386__ /* send is socketcall there, whose arguments are in memory */
        long done = write(30 + n, page, sizeof page);
#else
        long done = n ? send(31, page, sizeof page, 0) : write(30, page, sizeof page);
#endif
        KEEP(done);
    }
    return NULL;
}

/* whether a thread sleeps: /proc/PID/stat has its state behind its name */
static int sleeps(long tid) {
    char path[64], line[256] = "";
    snprintf(path, sizeof path, "/proc/self/task/%ld/stat", tid);
    FILE *f = fopen(path, "r");
    if (!f || !fgets(line, sizeof line, f))
        exit(3);
    fclose(f);
    char *end = strrchr(line, ')');
    return end && end[2] == 'S';
}

int main(void) {
    arm();
    int fds[2][2];
    if (pipe(fds[0]) || socketpair(AF_UNIX, SOCK_STREAM, 0, fds[1]))
        return 3;
    for (long n = 0; n < 2; n++) {
        pthread_t t;
        int there = 0;
        if (dup2(fds[n][1], 30 + n) < 0 || pthread_create(&t, NULL, writes, (void *)n))
            return 3;
        while (!there || !tids[n] || !sleeps(tids[n])) {
            if (ioctl(fds[n][0], FIONREAD, &there))
                return 3;
            usleep(1000);
        }
    }
    ready();
    block();
    return 0;
}
