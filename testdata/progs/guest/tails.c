/* tails: stacks with functions that left by a tail call. Each ends in stop_here(NAME); outward of it stand, up to main:
 *   chain      last < [jumps: second < first] < entry
 *   inlined    last < [jump: from inner, inlined in jumper] < entry
 *   ways       last < [jump: begin] < entry: two ways lead from begin's callee to last
 *   loop       last < [jumps: the last round of even, odd] < entry
 */
#include "guest.h"

static const char *scenario;
volatile long counter;

NOINLINE long last(long n) {
    counter = n;
    stop_here(scenario);
    return counter;
}

NOINLINE long second(long n) {
    counter += 2;
    return last(n + 2);
}

NOINLINE long first(long n) {
    counter += 1;
    return second(n + 1);
}

static inline __attribute__((always_inline)) long inner(long n) {
    counter += 3;
    return last(n + 3);
}

NOINLINE long jumper(long n) {
    counter += 4;
    return inner(n * 2);
}

NOINLINE long left(long n) {
    counter += 5;
    return last(n + 5);
}

NOINLINE long right(long n) {
    counter += 6;
    return last(n + 6);
}

NOINLINE long choose(long n) {
    counter += 7;
    if (n & 1)
        return left(n);
    return right(n);
}

NOINLINE long begin(long n) {
    counter += 8;
    return choose(n);
}

NOINLINE long odd(long n);

NOINLINE long even(long n) {
    counter += 9;
    return odd(n - 1);
}

NOINLINE long odd(long n) {
    counter += 10;
    if (n > 1)
        return even(n - 1);
    return last(n);
}

NOINLINE long entry(const char *name, int which) {
    long r;
    scenario = name;
    switch (which) {
    case 0:
        r = first(1);
        break;
    case 1:
        r = jumper(1);
        break;
    case 2:
        r = begin(2);
        break;
    default:
        r = even(8);
    }
    KEEP(r);
    return r + 1;
}

int main(void) {
    entry("chain", 0);
    entry("inlined", 1);
    entry("ways", 2);
    entry("loop", 3);
    return 0;
}
