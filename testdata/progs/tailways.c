/* tailways: tail calls that are certain, and such that are not.
 *
 * Each thread waits in its own way:
 *   cold      f calls parted, which jumps to last; parted has a part of its own for what is not likely
 *   ways      f calls begin, which jumps to choose; two ways lead from there to last
 *   differ    f calls either; two ways lead from there to last that share nothing
 *   pointer   f calls jumps_on, which jumps where a pointer says
 *   silent    f calls hidden, which is in no debug information, and jumps to last
 *   rounds    f calls again, which jumps to itself or, in the end, to last
 *
 * Build: gcc -g -O2 -fno-ipa-icf -pthread tailways.c
 */
#include <pthread.h>
#include <stdlib.h>

#include "ready.h"

volatile long sink;

NOINLINE long last(long n) {
    sink = n;
    block();
    KEEP(n);
    return n;
}

NOINLINE long parted(long n) {
    if (__builtin_expect(n == 12345, 0)) {
        ready();
        abort();
    }
    sink = 1;
    return last(n + 1);
}

NOINLINE long left(long n) {
    sink = 2;
    return last(n + 2);
}

NOINLINE long right(long n) {
    sink = 3;
    return last(n + 3);
}

NOINLINE long choose(long n) {
    sink = 4;
    if (n & 1)
        return left(n);
    return right(n);
}

NOINLINE long begin(long n) {
    sink = 5;
    return choose(n);
}

NOINLINE long either(long n) {
    sink = 6;
    if (n & 1)
        return left(n);
    return right(n);
}

long (*volatile to)(long);

NOINLINE long jumps_on(long n) {
    sink = 7;
    return to(n);
}

/* No compiler makes this one: it has no entry in the debug information. */
long hidden(long n);
__asm__(".text\n.globl hidden\n.type hidden, @function\nhidden:\n.cfi_startproc\njmp last\n.cfi_endproc\n.size hidden, .-hidden\n");

NOINLINE long other(long n);

NOINLINE long again(long n) {
    sink = 8;
    if (n > 0)
        return other(n - 1);
    return last(n);
}

NOINLINE long other(long n) {
    sink = 9;
    return again(n - 1);
}

#define CALLER(name, function) \
    static NOINLINE void *name(void *n) { \
        long r = function((long)n); \
        KEEP(r); \
        sink = r; \
        return NULL; \
    }
CALLER(cold, parted)
CALLER(ways, begin)
CALLER(differ, either)
CALLER(pointer, jumps_on)
CALLER(silent, hidden)
CALLER(rounds, again)

int main(void) {
    arm();
    to = last;
    pthread_t t;
    void *(*all[])(void *) = {cold, ways, differ, pointer, silent, rounds};
    for (int i = 0; i < 6; i++)
        pthread_create(&t, NULL, all[i], (void *)6L);
    ready();
    block();
    return 0;
}
