/* stacks: one scenario after the other, each with a stack of another shape.
 *
 * Each ends in stop_here(NAME); outward of it stand, up to main:
 *   chain      leaf < big_args < saves_fp < saves_all < outer
 *   alloca     with_alloca < with_vla < variadic < dynamic
 *   bigframe   frame_1m < frame_70000 < frame_100k
 *   tailcall   third < entry     (first and second have jumped on)
 *   leaf       on_fault < [sigtramp] < leaf_pressure < run_leaf: a leaf function
 *              that needs every register (s390x gcc saves some in FPRs)
 *   first      on_fault < [sigtramp] < first_instruction < run_first
 *   locals     on_fault < [sigtramp] < leaf_locals < run_locals: a leaf with a frame
 *   alternate  on_signal < [sigtramp] < ... < run_alternate, on another stack; with
 *              SA_SIGINFO (the other signal frames of s390x are without). The same
 *              frames, run_alternate's caller and outward, are those of
 *   before     run_alternate
 *   nested     on_fault < [sigtramp] < middle < on_nested < [sigtramp] < ... < run_nested
 *   recursion  even and odd in turn, DEPTH of them
 *   noreturn   never_returns < ends_in_call: the call is the function's last
 *              instruction, its return address another function's first
 *
 * -DDEPTH=20000 for a deep stack.
 */
#include <stdarg.h>

#include "guest.h"

#ifndef DEPTH
#define DEPTH 60
#endif

static char pages[2][65536] __attribute__((aligned(65536))); /* whole pages of any size */
static char alt_stack[65536] __attribute__((aligned(16)));
volatile long counter;

NOINLINE long leaf(long n) {
    volatile long local[6] = {n};
    stop_here("chain");
    return local[0];
}

NOINLINE long big_args(long a, long b, long c, long d, long e, long f, long g, long h, long i, long j) {
    long r = leaf(a + b + c + d + e);
    KEEP(r);
    return r + f + g + h + i + j;
}

NOINLINE long saves_fp(long n) {
    CLOBBER_FP();
    long r = big_args(n, 1, 2, 3, 4, 5, 6, 7, 8, 9);
    KEEP(r);
    return r + n;
}

NOINLINE long saves_all(long n) {
    CLOBBER_SAVED();
    long r = saves_fp(n);
    KEEP(r);
    return r + 1;
}

NOINLINE long outer(long n) {
    long a = n + 1, b = n + 2;
    KEEP(a);
    KEEP(b);
    long r = saves_all(n);
    KEEP(r);
    return r + a + b;
}

NOINLINE long with_alloca(long n, char *q) {
    char *p = __builtin_alloca((unsigned long)n * 24 + 40);
    p[0] = q[0];
    KEEP(p);
    CLOBBER_SOME();
    stop_here("alloca");
    return p[0] + n;
}

NOINLINE long with_vla(long n) {
    char local[n * 100];
    local[0] = local[n] = (char)n;
    long r = with_alloca(n, local);
    KEEP(r);
    return r + local[1];
}

NOINLINE long variadic(long n, ...) {
    va_list ap;
    va_start(ap, n);
    long sum = 0;
    for (long i = 0; i < n; i++)
        sum += va_arg(ap, long);
    va_end(ap);
    CLOBBER_SOME();
    long r = with_vla(n);
    KEEP(r);
    return r + sum;
}

NOINLINE long dynamic(long n) {
    long r = variadic(n + 8, 1L, 2L, 3L, 4L, 5L, 6L, 7L, 8L, 9L);
    KEEP(r);
    return r;
}

NOINLINE long big_leaf(long n) {
    stop_here("bigframe");
    return n;
}

#define BIG(name, bytes, next)                                                                     \
    NOINLINE long name(long n) {                                                                   \
        volatile char local[bytes];                                                                \
        CLOBBER_SOME();                                                                            \
        local[0] = local[sizeof local - 1] = (char)n;                                              \
        long r = next(n + local[0]);                                                               \
        KEEP(r);                                                                                   \
        return r + local[sizeof local - 1];                                                        \
    }

BIG(frame_1m, 1 << 20, big_leaf)
BIG(frame_70000, 70000, frame_1m)
BIG(frame_100k, 100 * 1024, frame_70000)

NOINLINE long third(long n) {
    CLOBBER_SOME();
    stop_here("tailcall");
    return n + 3;
}

NOINLINE long second(long n) {
    CLOBBER_SAVED();
    KEEP(n);
    return third(n + 2);
}

NOINLINE long first(long n) {
    KEEP(n);
    return second(n + 1);
}

NOINLINE long entry(long n) {
    long r = first(n);
    KEEP(r);
    return r + 1;
}

/* Signals. A page that may not be read faults; the handler allows it. */
static const char *scenario;

static void forbid(const char *name) {
    scenario = name;
    mprotect(pages, sizeof pages, PROT_NONE);
}

static NOINLINE void on_fault(int sig) {
    stop_here(scenario);
    mprotect(pages, sizeof pages, PROT_READ | PROT_WRITE);
    counter += sig;
}

static NOINLINE void on_signal(int sig) {
    stop_here("alternate");
    counter += sig;
}

/* A leaf: more values alive at once than there are registers to spend. */
NOINLINE long leaf_pressure(volatile long *p, long n) {
    long a = n + 1, b = n + 2, c = n * 3, d = n * 5;
    long e = p[0], f = p[1], g = p[2], h = p[3], i = p[4], j = p[5];
#if defined __i386__
    __asm__ volatile("" : "+r"(a), "+r"(b), "+r"(c), "+r"(d));
    __asm__ volatile("" : "+r"(e), "+r"(f), "+r"(g), "+r"(h));
    __asm__ volatile("" : "+r"(i), "+r"(j), "+r"(p));
#elif __SIZEOF_LONG__ == 4
    __asm__ volatile("" : "+r"(a), "+r"(b), "+r"(c), "+r"(d), "+r"(e), "+r"(f));
    __asm__ volatile("" : "+r"(g), "+r"(h), "+r"(i), "+r"(j), "+r"(p));
#else
    __asm__ volatile("" : "+r"(a), "+r"(b), "+r"(c), "+r"(d), "+r"(e), "+r"(f), "+r"(g), "+r"(h), "+r"(i), "+r"(j), "+r"(p));
#endif
    return (a ^ b) + (c ^ d) + (e ^ f) + (g ^ h) + (i ^ j) + p[6];
}

NOINLINE long run_leaf(long n) {
    forbid("leaf");
    long r = leaf_pressure((volatile long *)pages[0], n);
    KEEP(r);
    return r;
}

/* Reads its argument with its very first instruction. */
extern long first_instruction(volatile long *p)
#ifdef __i386__
    __attribute__((regparm(1))) /* in eax */
#endif
    ;
__asm__(".text\n.globl first_instruction\n.type first_instruction, %function\n.p2align 4\n"
        "first_instruction:\n\t.cfi_startproc\n"
#if defined __aarch64__
        "\tldr x0, [x0]\n\tret\n"
#elif defined __arm__
        "\t.fnstart\n\tldr r0, [r0]\n\tbx lr\n\t.fnend\n"
#elif defined __i386__
        "\tmov (%eax), %eax\n\tret\n"
#else
        "\tlg %r2, 0(%r2)\n\tbr %r14\n"
#endif
        "\t.cfi_endproc\n.size first_instruction, . - first_instruction\n");

NOINLINE long run_first(long n) {
    forbid("first");
    long r = first_instruction((volatile long *)pages[0]);
    KEEP(r);
    return r + n;
}

NOINLINE long leaf_locals(volatile long *p, long n) {
    volatile long local[30] = {n};
    local[1] = p[3];
    return local[0] + local[1];
}

NOINLINE long run_locals(long n) {
    forbid("locals");
    long r = leaf_locals((volatile long *)pages[0], n);
    KEEP(r);
    return r + n;
}

NOINLINE long run_alternate(long n) {
    on(SIGUSR1, on_signal, SA_ONSTACK | SA_SIGINFO);
    stop_here("before");
    signal_self(SIGUSR1);
    return n + counter;
}

NOINLINE long middle(volatile long *p) {
    volatile long local[12] = {1, 2, 3};
    CLOBBER_SAVED();
    long r = *p;
    KEEP(r);
    return r + local[1];
}

static NOINLINE void on_nested(int sig) {
    counter += middle((volatile long *)pages[1]);
    counter += sig;
}

NOINLINE long run_nested(long n) {
    forbid("nested");
    on(SIGUSR1, on_nested, SA_ONSTACK);
    signal_self(SIGUSR1);
    return n + counter;
}

long odd(long n);

NOINLINE long deep_leaf(long n) {
    stop_here("recursion");
    return n;
}

NOINLINE long even(long n) {
    volatile long local[3] = {n};
    long r = n <= 1 ? deep_leaf(n) : odd(n - 1);
    KEEP(r);
    return r + local[0];
}

NOINLINE long odd(long n) {
    volatile long local[11] = {n};
    CLOBBER_SOME();
    long r = n <= 1 ? deep_leaf(n) : even(n - 1);
    KEEP(r);
    return r + local[0];
}

__attribute__((noreturn)) NOINLINE void never_returns(long n) {
    volatile long local[4] = {n};
    stop_here("noreturn");
#ifdef CRASH
    *(volatile long *)local[3] = 0;
#endif
    _exit((int)local[3]);
}

/* Noreturn itself, so that nothing of it follows the call. */
__attribute__((noreturn)) NOINLINE void ends_in_call(long n) {
    volatile long local[9] = {n};
    CLOBBER_SOME();
    local[1] = n + 1;
    never_returns(local[1]);
}

NOINLINE long right_after(long n) {
    volatile long local[40] = {n};
    KEEP(n);
    return local[3] + n;
}

int main(void) {
    long n = 1;
    KEEP(n);
    if (n > 100)
        return (int)right_after(n);
    n += outer(n) & 1;
    n += dynamic(1) & 1;
    n += frame_100k(n) & 1;
    n += entry(n) & 1;
    alternate(alt_stack, sizeof alt_stack);
    on(SIGSEGV, on_fault, 0);
    n += run_leaf(n) & 1;
    n += run_first(n) & 1;
    n += run_locals(n) & 1;
    n += run_alternate(n) & 1;
    n += run_nested(n) & 1;
    n += even(DEPTH) & 1;
    on(SIGSEGV, 0, 0);
    ends_in_call(n);
}
