/* realign: frames whose size or place the code computes at run time.
 *
 * Proves: CFA by frame pointer, by a saved copy (DRAP: the dynamic realign
 * argument pointer), and by DWARF expression.
 *   main > with_alloca > with_vla > forced_align > drap_variadic > drap_alloca
 *        > aligned_local > leaf > block
 * drap_variadic and drap_alloca keep their caller's stack pointer in a
 * register at first (r10) and then in memory: only a DWARF expression or
 * SFrame V3's flexible rows can say that.
 *
 * Build: gcc -g -O2 -mavx2 -Wa,--gsframe realign.c
 */
#include <alloca.h>
#include <stdarg.h>
#include <string.h>

#include "ready.h"

volatile long sink;

NOINLINE long leaf(long n) {
    ready();
    block();
    KEEP(n);
    return n;
}

NOINLINE long aligned_local(long n) {
    volatile long local[16] __attribute__((aligned(64))) = {n};
    long r = leaf(n + local[0]);
    KEEP(r);
    return r + local[3];
}

NOINLINE long drap_alloca(long n, long a, long b, long c, long d, long e, long on_stack) {
    volatile long local[8] __attribute__((aligned(64))) = {n, a, b, c, d, e};
    char *p = (char *)alloca((size_t)n * 24 + 40);
    memset(p, 1, (size_t)n * 24 + 40);
    KEEP(p);
    CLOBBER("rbx", "r12", "r13");
    long r = aligned_local(n + p[n]);
    KEEP(r);
    return r + local[2] + on_stack;
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

__attribute__((force_align_arg_pointer)) NOINLINE long forced_align(long n) {
    volatile long local[4] = {n};
    CLOBBER("rbx", "r12");
    long r = drap_variadic(n, 10L, 20L, 30L, 40L, 50L, 60L, 70L, 80L);
    KEEP(r);
    return r + local[0];
}

NOINLINE long with_vla(long n) {
    volatile long vla[n * 7 + 3];
    vla[0] = n;
    vla[n] = n;
    long r = forced_align(n + 2);
    KEEP(r);
    return r + vla[n];
}

NOINLINE long with_alloca(long n) {
    char *p = (char *)alloca((size_t)n * 100 + 17);
    memset(p, 0, (size_t)n * 100 + 17);
    KEEP(p);
    long r = with_vla(n);
    KEEP(r);
    return r + p[n];
}

int main(int argc, char **argv) {
    (void)argv;
    arm();
    sink = with_alloca(argc);
    return 0;
}
