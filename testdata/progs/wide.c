/* wide: integers of 16 bytes that are nowhere: the compiler describes how they are computed.
 *
 * Proves: such numbers are computed as C does.
 *
 *   wide FILE      writes "NAME VALUE" to FILE, the value as a signed or unsigned decimal number
 *
 * Build: gcc -g -O2 wide.c
 */
#include <stdio.h>
#include <stdlib.h>

#include "ready.h"

static FILE *out;

NOINLINE void say(const char *name, unsigned __int128 n, int sign) {
    char text[48], *p = text + sizeof text;
    int negative = sign && (__int128)n < 0;
    *--p = 0;
    if (negative)
        n = -n;
    do
        *--p = '0' + (int)(n % 10);
    while (n /= 10);
    if (negative)
        *--p = '-';
    fprintf(out, "%s %s\n", name, p);
}

NOINLINE void stay(long n) {
    KEEP(n);
    if (out)
        fclose(out);
    out = 0;
    ready();
    block();
    KEEP(n);
}

/* The same computations, of which nothing is left but their description, and their results from the processor. */
#define EACH(X) \
    X(product, __int128, (__int128)a *b, 1) \
    X(shifted, __int128, product << 3, 1) \
    X(right, __int128, product >> 70, 1) \
    X(logical, unsigned __int128, (unsigned __int128)product >> 70, 0) \
    X(sum, unsigned __int128, (unsigned __int128)u + u + 5, 0) \
    X(minus, __int128, -(__int128)a, 1) \
    X(inverted, unsigned __int128, ~((unsigned __int128)u << 7), 0) \
    X(mixed, __int128, (product ^ ((__int128)u << 60)) | 1, 1) \
    X(both, __int128, product & ((__int128)u << 60), 1) \
    X(difference, __int128, product - ((__int128)u << 50), 1) \
    X(less, int, product < shifted, 1) \
    X(narrowed, long, (long)(product >> 3), 1) \
    X(real, long, (long)((double)sum / 30), 1)

#define COMPUTE(name, type, what, sign) type name __attribute__((unused)) = what;
#define SAY(name, type, what, sign) say(#name, name, sign);

NOINLINE long tell(long a, long b, unsigned long u) {
    EACH(COMPUTE)
    EACH(SAY)
    return a ^ b;
}

NOINLINE long nowhere(long a, long b, unsigned long u) {
    EACH(COMPUTE)
    stay(a ^ b);
    return a + b + (long)u;
}

int main(int argc, char **argv) {
    arm();
    if (argc < 2 || !(out = fopen(argv[1], "w")))
        return 1;
    long a = argc * 0x123456789abcdefL, b = argc * -0x3edcba987654321L;
    unsigned long u = ~0UL - (unsigned long)argc;
    KEEP(a);
    long r = tell(a, b, u);
    KEEP(r);
    r = nowhere(a, b, u);
    KEEP(r);
    return (int)r;
}
