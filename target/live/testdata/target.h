/* What every target of these tests does: it announces itself by "ready\n", ends
 * with its standard input, and after twenty minutes in any case: an emulated machine is slow. */
#define LIMIT 1200
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static inline void arm(void) {
    prctl(PR_SET_PTRACER, -1L, 0, 0, 0);
    alarm(LIMIT);
}

/* Writes a line of the test's protocol. */
#define SAY(...) do { char s_[256]; int n_ = snprintf(s_, sizeof s_, __VA_ARGS__); \
    if (write(1, s_, n_) != n_) _exit(3); } while (0)

static inline void start_thread(void *(*f)(void *), void *arg) {
    pthread_t t;
    if (pthread_create(&t, 0, f, arg))
        _exit(4);
}

/* Blocks until standard input ends. */
static inline void block(void) {
    char c;
    while (read(0, &c, 1) > 0)
        ;
    _exit(0);
}
