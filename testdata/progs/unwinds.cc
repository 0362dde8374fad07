/* unwinds: exceptions that pass frames with destructors, are caught, and are thrown once more, for single stepping.
 *
 * Proves: frames while the unwinder has replaced its return address and goes on at a handler. Waits for a byte, then
 * throws and catches, and ends.
 *
 * Build: g++ -O2 unwinds.cc
 */
#include <cstdlib>
#include <unistd.h>

#include "ready.h"

struct Cleaned {
    int n;
    NOINLINE ~Cleaned() {
        volatile char b[30];
        b[1] = n;
    }
};

NOINLINE int thrower(int n) {
    volatile char b[300];
    b[n] = n;
    if (n > 1)
        throw n;
    return b[n];
}

NOINLINE int cleans(int n) {
    Cleaned c{n};
    volatile char b[222];
    b[n] = thrower(n);
    CLOBBER("rbx", "r12", "r14");
    return b[n];
}

NOINLINE int passes(int n) {
    volatile char b[122];
    b[n] = cleans(n);
    CLOBBER("rbx", "r13");
    return b[n];
}

NOINLINE int catches(int n) {
    volatile char b[99];
    try {
        b[1] = passes(n);
    } catch (int x) {
        b[2] = x;
        b[3] = abs(x);
    }
    return b[2];
}

NOINLINE int rethrows(int n) {
    try {
        return passes(n) + 1;
    } catch (int x) {
        if (x > 3)
            throw;
        return x;
    }
}

NOINLINE int catchesAll(int n) {
    try {
        return rethrows(n) + 1;
    } catch (...) {
        return abs(n);
    }
}

NOINLINE int deeper(int n) {
    Cleaned c{n};
    volatile char b[4000];
    b[n] = n ? deeper(n - 1) : thrower(2);
    CLOBBER("rbx", "r12", "r14");
    return b[n];
}

// It throws from further in each time, so that what the unwinder left on the stack is in frames that it takes down.
NOINLINE int deep(int n) {
    volatile char b[66];
    for (int i = n; i < 4; i++)
        try {
            b[i] = deeper(i);
        } catch (int x) {
            b[i] = x;
        }
    return b[n];
}

extern "C" NOINLINE int all(int n) {
    volatile char b[66];
    b[1] = catches(n + 1);
    b[2] = catchesAll(n + 4);
    b[3] = deep(n);
    return b[1];
}

int main(void) {
    char c;
    try {
        throw 1; // the first one takes long in static programs: the unwinder sorts its tables
    } catch (int) {
    }
    arm();
    ready();
    volatile int one = read(0, &c, 1) >= 0;
    return all(one) == 0;
}
