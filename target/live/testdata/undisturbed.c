/* 50 threads, each of which checks that nobody disturbs it: a wrong result, an
 * EINTR without a signal, or a lost byte ends the process with exit code 9. A
 * byte on standard input makes it print how many rounds there were. */
#include "target.h"
#include <linux/futex.h>
#include <poll.h>
#include <sys/timerfd.h>

#define CHECK(x) do { if (!(x)) { dprintf(2, "%s: %s\n", #x, strerror(errno)); _exit(9); } } while (0)

static long rounds;

static void *compute(void *arg) {
    for (;;) {
        volatile double f = 1;
        volatile long sum = 0;
        for (long i = 1; i <= 20000; i++)
            sum += i, f *= 1.0000001;
        CHECK(sum == 200010000 && f > 1.002 && f < 1.003);
        struct timespec t = {0, 1000000};
        CHECK(nanosleep(&t, 0) == 0);
        __atomic_add_fetch(&rounds, 1, __ATOMIC_RELAXED);
    }
    return arg;
}

static void *sleeper(void *arg) {
    for (;;) {
        struct timespec a, b, t = {0, 500000};
        clock_gettime(CLOCK_MONOTONIC, &a);
        CHECK(nanosleep(&t, 0) == 0);
        clock_gettime(CLOCK_MONOTONIC, &b);
        CHECK((b.tv_sec - a.tv_sec) * 1000000000L + b.tv_nsec - a.tv_nsec >= 500000);
        CHECK(poll(0, 0, 1) == 0);
        __atomic_add_fetch(&rounds, 1, __ATOMIC_RELAXED);
    }
    return arg;
}

/* Two threads send each other a counter through pipes. */
struct pair { int in, out; int first; };

static void *pinger(void *arg) {
    struct pair *p = arg;
    for (unsigned n = 0;; n++) {
        unsigned got;
        struct timespec t = {0, 100000};
        if (p->first)
            CHECK(write(p->out, &n, sizeof n) == sizeof n);
        CHECK(read(p->in, &got, sizeof got) == sizeof got);
        CHECK(got == n);
        if (!p->first)
            CHECK(write(p->out, &n, sizeof n) == sizeof n);
        CHECK(nanosleep(&t, 0) == 0);
        __atomic_add_fetch(&rounds, 1, __ATOMIC_RELAXED);
    }
}

/* Waits on a futex that nobody wakes: only the timeout may end it. */
static void *futexer(void *arg) {
    static int word;
    for (;;) {
        struct timespec t = {0, 700000};
        CHECK(syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, &t, 0, 0) == -1 && errno == ETIMEDOUT);
        __atomic_add_fetch(&rounds, 1, __ATOMIC_RELAXED);
    }
    return arg;
}

static void *timer(void *arg) {
    int fd = timerfd_create(CLOCK_MONOTONIC, 0);
    struct itimerspec every = {{0, 1000000}, {0, 1000000}};
    CHECK(timerfd_settime(fd, 0, &every, 0) == 0);
    for (;;) {
        unsigned long expired;
        CHECK(read(fd, &expired, 8) == 8 && expired >= 1);
        __atomic_add_fetch(&rounds, 1, __ATOMIC_RELAXED);
    }
    return arg;
}

int main(void) {
    arm();
    for (int i = 0; i < 10; i++) {
        struct pair *a = malloc(sizeof *a), *b = malloc(sizeof *b);
        int ab[2], ba[2];
        if (pipe(ab) || pipe(ba))
            return 3;
        *a = (struct pair){ba[0], ab[1], 1};
        *b = (struct pair){ab[0], ba[1], 0};
        start_thread(pinger, a);
        start_thread(pinger, b);
        start_thread(sleeper, 0);
        start_thread(futexer, 0);
    }
    for (int i = 0; i < 5; i++) {
        start_thread(compute, 0);
        start_thread(timer, 0);
    }
    SAY("ready\n");
    char c;
    while (read(0, &c, 1) > 0) {
        SAY("%ld\n", __atomic_load_n(&rounds, __ATOMIC_RELAXED));
        alarm(LIMIT);
    }
    _exit(0);
}
