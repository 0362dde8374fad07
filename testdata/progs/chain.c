/* chain: plain calls whose frames save different sets of registers.
 *
 * Proves: the order, PC, CFA and saved registers of ordinary frames.
 *   main > outer > saves_rbx > saves_all > no_saves > big_args > leaf > block
 * Each function but main calls the next one exactly once, from the middle of
 * its body. Callee-saved registers hold a value that names the function that
 * put it there, so a lost one is seen.
 *
 * Build: gcc -g -O2 -Wa,--gsframe chain.c
 *        also -O0, -fno-omit-frame-pointer, -fomit-frame-pointer,
 *        and -static-pie -s
 */
#include "ready.h"

NOINLINE long leaf(long n) {
    ready();
    block();
    KEEP(n);
    return n;
}

NOINLINE long big_args(long a, long b, long c, long d, long e, long f, long g, long h, long i) {
    long r = leaf(a + b + c + d + e + f);
    KEEP(r);
    return r + g + h + i;
}

NOINLINE long no_saves(long n) {
    long r = big_args(n, 2, 3, 4, 5, 6, 7, 8, 9);
    KEEP(r);
    return r + 1;
}

NOINLINE long saves_all(long n) {
    CLOBBER("rbx", "r12", "r13", "r14", "r15");
#if defined(__OPTIMIZE__) && defined(__x86_64__)
    __asm__ volatile("mov $0xa11b, %%rbx\n\tmov $0xa1112, %%r12\n\tmov $0xa1113, %%r13\n\t"
                     "mov $0xa1114, %%r14\n\tmov $0xa1115, %%r15" ::: "rbx", "r12", "r13", "r14", "r15");
#endif
    long r = no_saves(n);
    KEEP(r);
    return r + 2;
}

NOINLINE long saves_rbx(long n) {
    volatile long local[5] = {n, n + 1, n + 2, n + 3, n + 4};
    long keep = n * 3;
    KEEP(keep);
    long r = saves_all(n + local[2]);
    KEEP(r);
    return r + keep + local[4];
}

NOINLINE long outer(long n) {
    long a = n + 1, b = n + 2, c = n + 3;
    KEEP(a);
    KEEP(b);
    KEEP(c);
    long r = saves_rbx(n);
    KEEP(r);
    return r + a + b + c;
}

int main(int argc, char **argv) {
    (void)argv;
    arm();
    return (int)outer(argc);
}
