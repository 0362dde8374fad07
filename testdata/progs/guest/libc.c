/* libc: functions of the C library to stop in at every instruction: code that
 * many hands have written, some of it in assembly.
 *
 *   main > step_libc > qsort, snprintf, strtol, memmove, strstr, ...
 *
 * Build: s390x-linux-gnu-gcc -O2 -static libc.c, with -DFLOATS for more of the same.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "guest.h"

static int compare(const void *a, const void *b) { return (int)(*(const long *)a - *(const long *)b); }

NOINLINE long step_libc(long n) {
    long values[] = {5, n, 3, 4, 1};
    qsort(values, 5, sizeof values[0], compare);
    char text[200], other[200];
    n += snprintf(text, sizeof text, "%ld %s %-8x", values[1], "text", 77);
#ifdef FLOATS /* which takes long */
    n += snprintf(text + 100, 20, "%.3f", 1.5);
#endif
    n += strtol(text, 0, 10);
    memmove(other, text, 150);
    memset(other + 150, 0, 40);
    n += strstr(other, "ext") - other;
    n += (long)strlen(other) + strcmp(text, other);
    return n;
}

int main(void) {
    long n = 2;
    KEEP(n);
    n = step_libc(n);
    return n == 12345;
}
