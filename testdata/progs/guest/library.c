/* library: a shared library that calls back: with -DLIBRARY the library, else
 * the program that is linked with it.
 *
 *   plain   main > library_sort > sort_step > compare > stop_here
 *   qsort   main > qsort (libc) > ... > compare_once > stop_here
 *   raise   main > run_raise > raise (libc) > ... > [sigtramp] > on_signal
 */
#include <stdlib.h>

#include "guest.h"

long library_sort(long *values, long n, long (*compare)(long, long));

#ifdef LIBRARY
NOINLINE static long sort_step(long *values, long n, long (*compare)(long, long)) {
    CLOBBER_SAVED();
    long swapped = 0;
    for (long i = 0; i + 1 < n; i++)
        if (compare(values[i], values[i + 1]) > 0) {
            long v = values[i];
            values[i] = values[i + 1];
            values[i + 1] = v;
            swapped++;
        }
    return swapped;
}

long library_sort(long *values, long n, long (*compare)(long, long)) {
    volatile long local[9] = {n};
    while (sort_step(values, n, compare))
        ;
    return local[0];
}
#else
static long seen;

static NOINLINE long compare(long a, long b) {
    if (!seen++)
        stop_here("library");
    return a - b;
}

static NOINLINE int compare_once(const void *a, const void *b) {
    if (!seen++)
        stop_here("qsort");
    return (int)(*(const long *)a - *(const long *)b);
}

static NOINLINE void on_signal(int sig) {
    stop_here("raise");
    seen += sig;
}

NOINLINE long run_raise(long n) {
    on(SIGUSR1, on_signal, 0);
    signal_self(SIGUSR1);
    return n + seen;
}

int main(void) {
    static long values[] = {3, 1, 2, 5, 4};
    long n = library_sort(values, 5, compare);
    KEEP(n);
    seen = 0;
    qsort(values, 5, sizeof values[0], compare_once);
    n += run_raise(n);
    KEEP(n);
    return 0;
}
#endif
