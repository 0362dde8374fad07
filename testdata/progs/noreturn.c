/* noreturn: a call that never returns is the last instruction of its function.
 *
 * Proves: a caller is looked up at PC-1. The return address into
 * ends_in_call is the first byte of right_after, whose frame has another size.
 *   main > ends_in_call > never_returns > block
 *
 * Build: gcc -g -O2 -falign-functions=1 -fno-toplevel-reorder
 *        -fno-reorder-functions -Wa,--gsframe noreturn.c
 */
#include "ready.h"

__attribute__((noreturn)) NOINLINE void never_returns(long n) {
    volatile long local[4] = {n};
    ready();
    block();
    _exit((int)local[0]);
}

/* Noreturn itself, so that nothing of it follows the call. */
__attribute__((noreturn, noinline, noclone)) void ends_in_call(long n) {
    volatile long local[9] = {n};
    CLOBBER("rbx", "r12");
    local[1] = n + 1;
    never_returns(local[1]);
}

NOINLINE long right_after(long n) {
    volatile long local[40] = {n};
    KEEP(n);
    return local[3] + n;
}

int main(int argc, char **argv) {
    (void)argv;
    arm();
    if (argc > 100)
        return (int)right_after(argc);
    ends_in_call(argc);
}
