/* ids: much that a program does, to be run one instruction at a time.
 *
 * Proves: a frame's ID stays the same from its first instruction to its return.
 * It calls functions with parts that the compiler has moved away,
 * through linkage stubs that are bound then, by tail calls, recursively, with frames that
 * grow, out of libc (sorting), and leaves several at once (longjmp).
 *
 * Build: gcc -O2 -Wl,-z,lazy ids.c
 */
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "ready.h"

static volatile int sum;
static jmp_buf back;

__attribute__((cold, noinline)) void bad(int x) { sum ^= x; }

/* In foo.cold is what happens for large x, and then control comes back. */
NOINLINE int foo(int x, int *p) {
    int r = (int)strlen((char *)p) + x;
    if (__builtin_expect(x > 5, 0)) {
        bad(x);
        sum += atoi("17");
        bad(r);
        *p = sum & 0x7f7f7f7f;
    }
    return r + *p;
}

static NOINLINE int tail(int x, int *p) { return foo(x + 1, p); }

static int compare(const void *a, const void *b) {
    int x = *(const int *)a, y = *(const int *)b;
    return foo(x, &y) & 1 ? x - y : (x > y) - (x < y);
}

NOINLINE int grows(int n) {
    char room[n * 8 + 8];
    double list[8];
    memset(room, n, sizeof room);
    for (int i = 0; i < 8; i++)
        list[i] = strtod("2.5e3", 0) / (i + 1);
    KEEP(n);
    return n == 0 ? (int)list[2] : grows(n - 1) + room[n];
}

static NOINLINE void leaves(int n) {
    if (n == 0)
        longjmp(back, 1);
    leaves(n - 1);
    KEEP(n);
}

int main(void) {
    char text[200];
    arm();
    for (int round = 0; round < 100; round++) {
        int list[] = {9, 2, 7, 1, 8, 3, 6, 4, 5, round};
        sum += foo(2, list) + tail(9, list);
        qsort(list, 10, sizeof list[0], compare);
        sum += grows(round % 5);
        snprintf(text, sizeof text, "%d %s %8.3f %p", sum, "text", sum / 3.0, (void *)text);
        char *copy = strdup(text);
        sum += (int)strtol(copy, 0, 10) + (strchr(copy, 't') != 0) + memcmp(copy, text, 20);
        free(copy);
        if (setjmp(back) == 0)
            leaves(round % 7);
    }
    printf("%d\n", sum);
    return 0;
}
