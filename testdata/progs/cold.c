/* cold: functions of which the compiler puts a part elsewhere.
 *
 * Proves: in the cold part the frame is as the function has left it where it jumped
 * there, also where no table says so.
 *   main > enters > part_... > (the cold part) > stays > block
 * The argument is the number of the function. With another argument behind it, the cold
 * part traps (ud2 or its like), and stays is the handler of that signal.
 *
 * Build: gcc -O2 cold.c, without tables: -fno-asynchronous-unwind-tables
 */
#ifdef ALONE
#define NOINLINE __attribute__((noinline, noclone))
#define KEEP(x) __asm__ volatile("" : "+r"(x))
#else
#include "ready.h"
#endif

#define COLD __attribute__((cold, noinline))

volatile long sink;
long trap;

COLD void stays(int n) {
#ifndef ALONE
    ready();
    block();
#endif
    sink = n;
}

COLD void fails(long n) {
    if (n)
        stays((int)n);
    KEEP(n);
}

NOINLINE long leaf(long n) { return n + sink; }

/* A few registers are saved, and control comes back. */
NOINLINE long part_back(long n, long *p) {
    long a = leaf(n), b = leaf(a), c = leaf(b);
    if (__builtin_expect(n > 5, 0)) {
        fails(trap ? 0 : n);
        if (trap)
            __builtin_trap();
        *p = a + leaf(b);
        fails(c - c);
    }
    return a * b + c + leaf(*p);
}

/* A large frame. */
NOINLINE long part_large(long n, long *p) {
    volatile long local[700];
    local[n] = leaf(n);
    if (__builtin_expect(local[n] > 5, 0)) {
        fails(trap ? 0 : n);
        if (trap)
            __builtin_trap();
        *p += local[1];
    }
    return local[n] + leaf(*p);
}

/* A frame whose size is not known before. */
NOINLINE long part_dynamic(long n, long *p) {
    volatile char local[n * 16];
    local[n] = (char)leaf(n);
    long r = leaf(local[n]);
    if (__builtin_expect(n > 5, 0)) {
        fails(trap ? 0 : n);
        if (trap)
            __builtin_trap();
        *p += leaf(local[1]);
    }
    return local[n] + leaf(r);
}

/* It does not come back; and it has a loop of its own. */
NOINLINE long part_ends(long n, long *p) {
    long a = leaf(n), b = leaf(a + 1);
    if (__builtin_expect(n > 5, 0)) {
        for (long i = 0; i < 2; i++)
            fails(i && !trap ? n : 0);
        __builtin_trap();
    }
    return a + b + leaf(*p);
}

long (*const parts[])(long, long *) = {part_back, part_large, part_dynamic, part_ends};

NOINLINE long enters(long i) {
    long p = 0;
    long r = parts[i](9, &p);
    KEEP(r);
    return r + p;
}

#ifndef ALONE
int main(int argc, char **argv) {
    arm();
    signal(SIGILL, stays);
    signal(SIGTRAP, stays);
    trap = argc > 2;
    return (int)enters(number(argv[1]));
}
#endif
