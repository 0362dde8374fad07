// Threads that wait in system calls, each with a name. For each, a line of the file "facts" in the
// folder that is given says what it waits for, as the program itself knows it: "NAME FD ..." with
// the addresses of getsockname(2) and getpeername(2), paths, process IDs.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/select.h>
#include <sys/sendfile.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "ready.h"

#define MOST 80 // of a folder's path

static int fd_of[64];
static struct sockaddr_in tcp4;
static char folder[MOST];
static pid_t child;
static FILE *out;

static const char *name_of(struct sockaddr_storage *a) {
    static __thread char text[128];
    char addr[64];
    if (a->ss_family == AF_INET) {
        struct sockaddr_in *in = (void *)a;
        snprintf(text, sizeof text, "%s:%d", inet_ntop(AF_INET, &in->sin_addr, addr, sizeof addr), ntohs(in->sin_port));
    } else {
        struct sockaddr_in6 *in = (void *)a;
        snprintf(text, sizeof text, "[%s]:%d", inet_ntop(AF_INET6, &in->sin6_addr, addr, sizeof addr), ntohs(in->sin6_port));
    }
    return text;
}

static void say(const char *name, int fd) {
    struct sockaddr_storage a;
    socklen_t size = sizeof a;
    fprintf(out, "%s %d", name, fd);
    if (!getsockname(fd, (void *)&a, &size))
        fprintf(out, " local %s", name_of(&a));
    size = sizeof a;
    if (!getpeername(fd, (void *)&a, &size))
        fprintf(out, " peer %s", name_of(&a));
    fprintf(out, "\n");
}

static void start(const char *name, void *(*f)(void *), long arg) {
    pthread_t t;
    if (pthread_create(&t, NULL, f, (void *)arg)) {
        perror("pthread_create");
        exit(3);
    }
    pthread_setname_np(t, name);
}

static void *reads(void *fd) {
    char c[4096];
    for (;;)
        if (read((long)fd, c, sizeof c) <= 0 && errno != EINTR)
            pause();
    return NULL;
}

// has descriptors of its own: the number leads elsewhere in all other threads.
static void *reads_own(void *fd) {
    if (unshare(CLONE_FILES) || dup2(eventfd(0, 0), (long)fd) < 0)
        return NULL;
    return reads(fd);
}

static void *writes(void *fd) {
    static char page[4096];
    for (;;)
        if (write((long)fd, page, sizeof page) <= 0 && errno != EINTR)
            pause();
    return NULL;
}

static void *receives(void *fd) {
    char c[16];
    for (;;)
        recv((long)fd, c, sizeof c, 0);
    return NULL;
}

static void *accepts(void *fd) {
    for (;;)
        accept((long)fd, NULL, NULL);
    return NULL;
}

static void *watches(void *fd) {
    struct epoll_event e[4];
    for (;;)
        epoll_wait((long)fd, e, 4, -1);
    return NULL;
}

static void *watches_for_long(void *fd) {
    struct epoll_event e[4];
    for (;;)
        epoll_wait((long)fd, e, 4, 777000);
    return NULL;
}

static void *polls(void *unused) {
    for (;;) {
        struct pollfd list[3] = {{fd_of[0], POLLIN, 0}, {-1, POLLIN, 0}, {fd_of[1], POLLIN, 0}};
        poll(list, 3, 888000);
    }
    return unused;
}

static void *selects(void *unused) {
    for (;;) {
        fd_set in;
        FD_ZERO(&in);
        FD_SET(fd_of[0], &in);
        FD_SET(fd_of[1], &in);
        struct timeval t = {999, 500000};
        select(64, &in, NULL, NULL, &t);
    }
    return unused;
}

static void *sleeps(void *unused) {
    struct timespec t = {4321, 0};
    nanosleep(&t, NULL);
    return unused;
}

static void *sleeps_until(void *unused) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    t.tv_sec += 4321;
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
    return unused;
}

static void *waits(void *pid) {
    int status;
    for (;;)
        waitpid((long)pid, &status, 0);
    return NULL;
}

static void *waits_by_id(void *pid) {
    siginfo_t info;
    for (;;)
        waitid(P_PID, (long)pid, &info, WEXITED | WNOWAIT);
    return NULL;
}

static void *pauses(void *unused) {
    for (;;)
        pause();
    return unused;
}

static void *locks(void *fd) {
    for (;;)
        flock((long)fd, LOCK_EX);
    return NULL;
}

static void *locks_records(void *fd) {
    struct flock l = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    for (;;)
        fcntl((long)fd, F_SETLKW, &l);
    return NULL;
}

static void *opens(void *path) {
    for (;;)
        open(path, O_RDONLY);
    return NULL;
}

static int listener(const char *ip) {
    int on = 1, fd = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in a = {.sin_family = AF_INET};
    socklen_t size = sizeof a;
    inet_pton(AF_INET, ip, &a.sin_addr);
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (bind(fd, (void *)&a, sizeof a) || listen(fd, 8) || getsockname(fd, (void *)&tcp4, &size)) {
        perror("listen");
        exit(3);
    }
    return fd;
}

int main(int argc, char **argv) {
    int fd, p[2], q[2];
    char path[MOST + 20];
    if (argc < 2 || strlen(argv[1]) >= MOST)
        return 2;
    arm();
    snprintf(folder, sizeof folder, "%s", argv[1]);
    snprintf(path, sizeof path, "%s/facts", folder);
    if (!(out = fopen(path, "w")))
        return 3;

    // A child that holds the write end of one pipe, the read end of another, and locks.
    if (pipe(p) || pipe(q))
        return 3;
    snprintf(path, sizeof path, "%s/locked", folder);
    int told[2], alive[2];
    if (pipe(told) || pipe(alive))
        return 3;
    child = fork();
    if (!child) {
        close(p[0]);
        close(q[1]);
        fd = open(path, O_RDWR | O_CREAT, 0600);
        struct flock l = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
        flock(fd, LOCK_EX);
        snprintf(path, sizeof path, "%s/records", folder);
        fd = open(path, O_RDWR | O_CREAT, 0600);
        fcntl(fd, F_SETLK, &l);
        if (write(told[1], "x", 1) != 1)
            _exit(3);
        close(alive[1]);
        for (;;)
            if (read(alive[0], path, 1) == 0) // the parent has ended
                _exit(0);
    }
    char c;
    if (read(told[0], &c, 1) != 1)
        return 3;
    close(p[1]);
    close(q[0]);
    close(told[0]);
    close(told[1]);
    close(alive[0]);
    fprintf(out, "child %d\n", child);

    fd = open(path, O_RDWR);
    start("flock", locks, fd);
    fprintf(out, "flock %d %s\n", fd, path);
    snprintf(path, sizeof path, "%s/records", folder);
    fd = open(path, O_RDWR);
    start("fcntl", locks_records, fd);
    fprintf(out, "fcntl %d %s\n", fd, path);

    // The process that has taken this lock has ended; the open file lives on here.
    snprintf(path, sizeof path, "%s/left", folder);
    fd = open(path, O_RDWR | O_CREAT, 0600);
    pid_t taker = fork();
    if (!taker)
        _exit(flock(fd, LOCK_EX) != 0);
    int status;
    if (waitpid(taker, &status, 0) != taker || status)
        return 3;
    fd = open(path, O_RDWR);
    start("flock-left", locks, fd);
    fprintf(out, "flock-left %d %s %d\n", fd, path, taker);

    say("pipe-read", p[0]);
    start("pipe-read", reads, p[0]);
    say("pipe-write", q[1]);
    start("pipe-write", writes, q[1]);

    fd = listener("127.0.0.1");
    say("accept", fd);
    start("accept", accepts, fd);
    int client = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(client, (void *)&tcp4, sizeof tcp4))
        return 3;
    say("tcp-read", client);
    start("tcp-read", reads, client);
    say("tcp-recv", client);
    start("tcp-recv", receives, client);

    int six = socket(AF_INET6, SOCK_STREAM, 0);
    struct sockaddr_in6 a6 = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT};
    if (six >= 0 && !bind(six, (void *)&a6, sizeof a6) && !listen(six, 4)) {
        socklen_t size = sizeof a6;
        getsockname(six, (void *)&a6, &size);
        fd = socket(AF_INET6, SOCK_STREAM, 0);
        if (!connect(fd, (void *)&a6, sizeof a6)) {
            say("tcp6-read", fd);
            start("tcp6-read", reads, fd);
        }
    }

    struct sockaddr_in any = {.sin_family = AF_INET};
    fd = socket(AF_INET, SOCK_DGRAM, 0);
    if (bind(fd, (void *)&any, sizeof any))
        return 3;
    say("udp-recv", fd);
    start("udp-recv", receives, fd);

    struct sockaddr_un un = {.sun_family = AF_UNIX};
    snprintf(un.sun_path, sizeof un.sun_path, "%s/socket", folder);
    fd = socket(AF_UNIX, SOCK_STREAM, 0);
    if (bind(fd, (void *)&un, sizeof un) || listen(fd, 4))
        return 3;
    fprintf(out, "unix-accept %d %s\n", fd, un.sun_path);
    start("unix-accept", accepts, fd);
    fd = socket(AF_UNIX, SOCK_STREAM, 0);
    if (connect(fd, (void *)&un, sizeof un))
        return 3;
    fprintf(out, "unix-read %d %s\n", fd, un.sun_path);
    start("unix-read", reads, fd);

    fd_of[0] = eventfd(0, 0);
    fd_of[1] = timerfd_create(CLOCK_MONOTONIC, 0);
    struct itimerspec far = {.it_value = {7777, 0}};
    timerfd_settime(fd_of[1], 0, &far, NULL);
    fprintf(out, "eventfd %d\n", fd_of[0]);
    start("eventfd", reads, fd_of[0]);
    fprintf(out, "timerfd %d\n", fd_of[1]);
    start("timerfd", reads, fd_of[1]);
    fprintf(out, "poll %d %d\n", fd_of[0], fd_of[1]);
    start("poll", polls, 0);
    fprintf(out, "select %d %d\n", fd_of[0], fd_of[1]);
    start("select", selects, 0);

    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigaddset(&set, SIGHUP);
    fd = signalfd(-1, &set, 0);
    fprintf(out, "signalfd %d\n", fd);
    start("signalfd", reads, fd);
    fd = inotify_init();
    inotify_add_watch(fd, folder, IN_CREATE);
    fprintf(out, "inotify %d\n", fd);
    start("inotify", reads, fd);

    int ep = epoll_create1(0);
    struct epoll_event e = {.events = EPOLLIN};
    e.data.fd = fd_of[0];
    epoll_ctl(ep, EPOLL_CTL_ADD, fd_of[0], &e);
    e.data.fd = client;
    epoll_ctl(ep, EPOLL_CTL_ADD, client, &e);
    fprintf(out, "epoll %d %d %d\n", ep, fd_of[0], client);
    start("epoll", watches, ep);
    fprintf(out, "epoll-time %d\n", ep);
    start("epoll-time", watches_for_long, ep);

    // The number of what this one watches leads to a socket now.
    int reused = dup(fd_of[0]);
    ep = epoll_create1(0);
    if (epoll_ctl(ep, EPOLL_CTL_ADD, reused, &e) || dup2(client, reused) < 0)
        return 3;
    fprintf(out, "epoll-reused %d %d\n", ep, reused);
    start("epoll-reused", watches, ep);

    fprintf(out, "own-files %d\n", client);
    start("own-files", reads_own, client);
    fprintf(out, "waitpid %d\n", child);
    start("waitpid", waits, child);
    fprintf(out, "wait-any %d\n", child);
    start("wait-any", waits, -1);
    fprintf(out, "waitid %d\n", child);
    start("waitid", waits_by_id, child);
    fprintf(out, "sleep 0\n");
    start("sleep", sleeps, 0);
    fprintf(out, "sleep-until 0\n");
    start("sleep-until", sleeps_until, 0);
    fprintf(out, "pause 0\n");
    start("pause", pauses, 0);
    snprintf(path, sizeof path, "%s/fifo", folder);
    if (mkfifo(path, 0600))
        return 3;
    fprintf(out, "open 0 %s\n", path);
    start("open", opens, (long)strdup(path));
    fclose(out);
    ready();
    block();
}
