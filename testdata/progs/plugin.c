/* plugin: the library that dlopen.c loads; see there. */
#include "ready.h"

NOINLINE long plugin_inner(long (*callback)(long), long n) {
    volatile long local[20] = {n};
    CLOBBER("rbx", "r12", "r13", "r14", "r15");
    long r = callback(n + local[3]);
    KEEP(r);
    return r + local[1];
}

__attribute__((visibility("default"))) NOINLINE long plugin_entry(long (*callback)(long), long n) {
    long keep = n * 7;
    KEEP(keep);
    long r = plugin_inner(callback, n);
    KEEP(r);
    return r + keep;
}
