/* demo: the target program of "make demo".
 *
 * Threads, once it has printed "ready":
 *   demo       waits for jobs:    main > serve > {next_job, inlined} > poll
 *   walker     recursion:         walk_tree (10 times) > visit > nanosleep
 *   ticker     a signal handler on an alternate stack, again and again:
 *              compute > <signal handler called> > on_tick > nanosleep
 *   framed     a function with a frame pointer calls one without:
 *              with_frame_pointer > without_frame_pointer > nanosleep
 *   queue-0/1  wait on a condition: take > pthread_cond_wait
 *
 * It ends with its parent, and after ten minutes in any case. README.md has
 * the command that builds it.
 */
#define _GNU_SOURCE
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

#define NOINLINE __attribute__((noinline, noclone))
#define INLINE static inline __attribute__((always_inline))
/* Keeps a call from becoming a tail call, and a value from being known. */
#define KEEP(x) __asm__ volatile("" : "+r"(x))
/* For ever, but the compiler does not know, and keeps what follows. */
#define FOREVER(statement)                                                                         \
    for (int more = 1; more;) {                                                                    \
        statement;                                                                                 \
        KEEP(more);                                                                                \
    }

enum { THREADS = 5 };

static pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t jobs = PTHREAD_COND_INITIALIZER;
static int arrived; /* threads that are where they shall be */
static timer_t tick;
volatile long work;

static void arrive(void) { __atomic_add_fetch(&arrived, 1, __ATOMIC_SEQ_CST); }

static void nap(long milliseconds) {
    struct timespec t = {milliseconds / 1000, milliseconds % 1000 * 1000000};
    nanosleep(&t, 0);
}

NOINLINE long visit(long leaf) {
    arrive();
    FOREVER(nap(60000));
    return leaf;
}

NOINLINE long walk_tree(long depth) {
    volatile long node[4] = {depth};
    long sum = depth == 1 ? visit(depth) : walk_tree(depth - 1);
    KEEP(sum);
    return sum + node[0];
}

static void *walker(void *arg) {
    long sum = walk_tree(10);
    KEEP(sum);
    return arg;
}

static void next_tick(void) {
    struct itimerspec in_2ms = {{0, 0}, {0, 2000000}};
    timer_settime(tick, 0, &in_2ms, 0);
}

static NOINLINE void on_tick(int sig) {
    static int first = 1;
    if (first)
        arrive();
    first = 0;
    nap(3000);
    work += sig;
    next_tick();
}

NOINLINE long compute(long n) {
    volatile long sum[3] = {n};
    for (;;) {
        sum[1] += sum[0];
        if (sum[1] < 0)
            return sum[1];
    }
}

static void *ticker(void *arg) {
    static char stack[64 * 1024] __attribute__((aligned(16)));
    stack_t alternate = {.ss_sp = stack, .ss_size = sizeof stack};
    sigaltstack(&alternate, 0);
    struct sigevent to_me;
    memset(&to_me, 0, sizeof to_me);
    to_me.sigev_notify = SIGEV_THREAD_ID;
    to_me.sigev_signo = SIGUSR1;
    to_me.sigev_notify_thread_id = gettid();
    if (timer_create(CLOCK_MONOTONIC, &to_me, &tick))
        _exit(3);
    next_tick();
    work += compute(1);
    return arg;
}

NOINLINE long without_frame_pointer(long n) {
    volatile long local[9] = {n};
    arrive();
    FOREVER(nap(60000));
    return local[1];
}

__attribute__((optimize("no-omit-frame-pointer"))) NOINLINE long with_frame_pointer(long n) {
    long r = without_frame_pointer(n + 1);
    KEEP(r);
    return r + n;
}

static void *framed(void *arg) {
    long r = with_frame_pointer(1);
    KEEP(r);
    return arg;
}

NOINLINE long take(long n) {
    pthread_mutex_lock(&mu);
    arrive();
    FOREVER(pthread_cond_wait(&jobs, &mu));
    return n;
}

static void *queue(void *arg) {
    long r = take(1);
    KEEP(r);
    return arg;
}

INLINE long next_job(struct pollfd *fd) {
    long n = poll(fd, 1, -1);
    KEEP(n);
    return n;
}

NOINLINE long serve(long n) {
    struct pollfd never = {-1, 0, 0};
    FOREVER(work += next_job(&never) + n);
    return n;
}

int main(void) {
    static const struct {
        const char *name;
        void *(*run)(void *);
    } threads[THREADS] = {
        {"walker", walker}, {"ticker", ticker}, {"framed", framed}, {"queue-0", queue}, {"queue-1", queue},
    };
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    prctl(PR_SET_PTRACER, -1L); /* where only a parent may attach: so may sfwalk */
    alarm(600);
    struct sigaction sa;
    memset(&sa, 0, sizeof sa);
    sa.sa_handler = on_tick;
    sa.sa_flags = SA_ONSTACK | SA_RESTART;
    sigaction(SIGUSR1, &sa, 0);
    pthread_setname_np(pthread_self(), "demo");
    for (int i = 0; i < THREADS; i++) {
        pthread_t t;
        if (pthread_create(&t, 0, threads[i].run, 0))
            return 3;
        pthread_setname_np(t, threads[i].name);
    }
    while (__atomic_load_n(&arrived, __ATOMIC_SEQ_CST) < THREADS)
        nap(1);
    nap(20); /* the last one has reached the kernel */
    if (write(1, "ready\n", 6) != 6)
        return 4;
    return (int)serve(1);
}
