/* tailcall: functions that end in a jump to another one.
 *
 * Proves: a function that left by a tail call has no frame, and the caller's
 * return address still says where it goes on. Physical frames:
 *   main > entry > third > leaf > block
 * first and second jumped: entry calls first, first jumps to second, second
 * jumps to third. (With -g, they have frames of type tailcall, as in gdb.)
 *
 * Build: gcc -g -O2 -Wa,--gsframe tailcall.c
 */
#include "ready.h"

NOINLINE long leaf(long n) {
    ready();
    block();
    KEEP(n);
    return n;
}

NOINLINE long third(long n) {
    CLOBBER("rbx");
    long r = leaf(n);
    KEEP(r);
    return r + 3;
}

NOINLINE long second(long n) {
    CLOBBER("r12", "r13");
    KEEP(n);
    return third(n + 2);
}

NOINLINE long first(long n) {
    KEEP(n);
    return second(n + 1);
}

NOINLINE long entry(long n) {
    long r = first(n);
    KEEP(r);
    return r + 1;
}

int main(int argc, char **argv) {
    (void)argv;
    arm();
    return (int)entry(argc);
}
