/* mix: one process with the stacks of several other targets, a thread each.
 *
 * Proves: the same as chain, sighandler, realign, bigframe and threads, for
 * binaries that are committed because the machine's own assembler cannot make
 * them (SFrame V2 and V3; see ../bin/README.md).
 *
 *   thread "mix"       main > block
 *   thread "chain"     start_thread > thread_main > chain_outer > chain_saves
 *                      > chain_leaf > wait_forever > pause
 *   thread "altstack"  ... > spin > [sigtramp] > on_signal > wait_forever > pause
 *                      (on an alternate signal stack, from a busy loop)
 *   thread "fault"     ... > first_instruction > [sigtramp] > on_signal > ...
 *                      (fault at the first instruction, on the normal stack)
 *   thread "drap"      ... > drap_variadic > drap_alloca > wait_forever > pause
 *   thread "bigframe"  ... > frame_100k > frame_70000 > wait_forever > pause
 *   thread "recurse"   ... > recurse (100 times) > wait_forever > pause
 *   thread "inlined"   ... > inline_host > {in_1 > in_2 > in_3} > wait_forever
 *   thread "noreturn"  ... > ends_in_call > never_returns > wait_forever > ...
 *
 * Build: ../bin/README.md; on this machine
 *        gcc -g -O2 -mavx2 -Wa,--gsframe mix.c -pthread
 */
#define _GNU_SOURCE
#include <alloca.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <time.h>

#include "ready.h"

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

static int waiting;
volatile long counter;

NOINLINE long wait_forever(long n) {
    __atomic_add_fetch(&waiting, 1, __ATOMIC_SEQ_CST);
    long more = 1; /* for ever, but the compiler shall not know */
    KEEP(more);
    while (more)
        pause();
    return n;
}

NOINLINE long chain_leaf(long n) {
    volatile long local[6] = {n};
    long r = wait_forever(local[0]);
    KEEP(r);
    return r + local[1];
}

NOINLINE long chain_saves(long n) {
    CLOBBER("rbx", "r12", "r13", "r14", "r15");
    long r = chain_leaf(n);
    KEEP(r);
    return r + 1;
}

NOINLINE long chain_outer(long n) {
    long a = n + 1, b = n + 2;
    KEEP(a);
    KEEP(b);
    long r = chain_saves(n);
    KEEP(r);
    return r + a + b;
}

extern long first_instruction(long *p);
__asm__(".text\n.globl first_instruction\n.type first_instruction, @function\n.p2align 4\n"
        "first_instruction:\n\t.cfi_startproc\n\tmov (%rdi), %rax\n\tret\n\t.cfi_endproc\n"
        ".size first_instruction, . - first_instruction\n");

NOINLINE long fault(long n) {
    long r = first_instruction(0);
    KEEP(r);
    return r + n;
}

static NOINLINE void on_signal(int sig) {
    counter += sig;
    wait_forever(sig);
    counter += sig;
}

NOINLINE long spin(long n) {
    volatile long local[6] = {n};
    for (;;) {
        counter += local[0];
        if (counter < 0)
            return counter;
    }
}

NOINLINE long altstack(long n) {
    static char stack[64 * 1024] __attribute__((aligned(16)));
    stack_t ss = {.ss_sp = stack, .ss_size = sizeof stack};
    sigaltstack(&ss, 0);
    timer_t timer;
    struct sigevent ev;
    memset(&ev, 0, sizeof ev);
    ev.sigev_notify = SIGEV_THREAD_ID;
    ev.sigev_signo = SIGUSR1;
    ev.sigev_notify_thread_id = gettid();
    struct itimerspec at = {{0, 0}, {0, 5000000}};
    if (timer_create(CLOCK_MONOTONIC, &ev, &timer) || timer_settime(timer, 0, &at, 0))
        _exit(6);
    long r = spin(n);
    KEEP(r);
    return r;
}

NOINLINE long drap_alloca(long n, long a, long b, long c, long d, long e, long on_stack) {
    volatile long local[8] __attribute__((aligned(64))) = {n, a, b, c, d, e};
    char *p = (char *)alloca((size_t)n * 24 + 40);
    p[0] = (char)n;
    KEEP(p);
    CLOBBER("rbx", "r12", "r13");
    long r = wait_forever(n);
    KEEP(r);
    return r + local[2] + on_stack + p[0];
}

NOINLINE long drap_variadic(long n, ...) {
    volatile long local[8] __attribute__((aligned(64))) = {n};
    va_list ap;
    va_start(ap, n);
    for (long i = 0; i < n; i++)
        local[i & 7] += va_arg(ap, long);
    va_end(ap);
    CLOBBER("rbx", "r14", "r15");
    long r = drap_alloca(n, 1, 2, 3, 4, 5, local[1]);
    KEEP(r);
    return r + local[2];
}

NOINLINE long drap(long n) {
    long r = drap_variadic(n, 10L, 20L, 30L, 40L, 50L, 60L, 70L, 80L);
    KEEP(r);
    return r;
}

#define BIG(name, bytes, next)                                                                     \
    NOINLINE long name(long n) {                                                                   \
        volatile char local[bytes];                                                                \
        CLOBBER("rbx", "r14");                                                                     \
        local[0] = local[sizeof local - 1] = (char)n;                                              \
        long r = next(n + local[0]);                                                               \
        KEEP(r);                                                                                   \
        return r + local[sizeof local - 1];                                                        \
    }

BIG(frame_70000, 70000, wait_forever)
BIG(frame_100k, 100 * 1024, frame_70000)

NOINLINE long recurse(long n) {
    volatile long local[3] = {n};
    CLOBBER("r13");
    long r = n <= 1 ? wait_forever(n) : recurse(n - 1);
    KEEP(r);
    return r + local[0];
}

NOINLINE long recurse_100(long n) {
    long r = recurse(n + 97);
    KEEP(r);
    return r;
}

#define INLINE static inline __attribute__((always_inline))

INLINE long in_3(long n) {
    counter += 3;
    long r = wait_forever(n);
    KEEP(r);
    return r;
}

INLINE long in_2(long n) {
    counter += 2;
    long r = in_3(n + 2);
    KEEP(r);
    return r + 2;
}

INLINE long in_1(long n) {
    counter += 1;
    long r = in_2(n + 1);
    KEEP(r);
    return r + 1;
}

NOINLINE long inline_host(long n) {
    long r = in_1(n);
    KEEP(r);
    return r + n;
}

__attribute__((noreturn)) NOINLINE void never_returns(long n) {
    volatile long local[4] = {n};
    wait_forever(local[0]);
    _exit(1);
}

NOINLINE long ends_in_call(long n) {
    volatile long local[9] = {n};
    CLOBBER("rbx", "r12");
    local[1] = n + 1;
    never_returns(local[1]);
}

NOINLINE long right_after(long n) {
    volatile long local[40] = {n};
    KEEP(n);
    return local[3] + n;
}

static const struct stack {
    const char *name;
    long (*run)(long);
} stacks[] = {
    {"chain", chain_outer}, {"altstack", altstack},   {"fault", fault},         {"drap", drap},
    {"bigframe", frame_100k}, {"recurse", recurse_100}, {"inlined", inline_host}, {"noreturn", ends_in_call},
};

static void *thread_main(void *arg) {
    const struct stack *s = (const struct stack *)arg;
    prctl(PR_SET_NAME, s->name);
    long r = s->run(3);
    KEEP(r);
    return (void *)r;
}

int main(int argc, char **argv) {
    (void)argv;
    arm();
    struct sigaction sa;
    memset(&sa, 0, sizeof sa);
    sa.sa_handler = on_signal;
    sigaction(SIGSEGV, &sa, 0);
    sa.sa_flags = SA_ONSTACK;
    sigaction(SIGUSR1, &sa, 0);
    prctl(PR_SET_NAME, "mix");
    int count = sizeof stacks / sizeof stacks[0];
    for (int i = 0; i < count; i++) {
        pthread_t t;
        if (pthread_create(&t, 0, thread_main, (void *)&stacks[i]))
            return 3;
    }
    while (__atomic_load_n(&waiting, __ATOMIC_SEQ_CST) < count)
        usleep(1000);
    usleep(20000); /* the last one has reached pause(2) */
    if (argc > 100)
        return (int)right_after(argc);
    ready();
    block();
}
