/* contexts: changes of stacks by libc's ucontext, for single stepping.
 *
 * Proves: frames between the load of another stack pointer and the push of the address to go on at. Waits for a
 * byte, then goes to and fro between two stacks, has a coroutine's first function return, and ends.
 *
 * Build: gcc -O2 contexts.c
 */
#include <string.h>
#include <ucontext.h>

#include "ready.h"

static ucontext_t outer, inner;
static char stack[1 << 16] __attribute__((aligned(4096)));
static volatile int turns;

NOINLINE void there(volatile char *room) {
    room[1] = 1;
    swapcontext(&inner, &outer);
    CLOBBER("rbx", "r12");
    room[2] = 1;
}

NOINLINE void coroutine(void) {
    volatile char room[333];
    for (;;) {
        memset((void *)room, turns, sizeof room);
        there(room);
        if (turns == 3)
            setcontext(&outer);
    }
}

NOINLINE void comes_back(void) {
    volatile char room[444];
    memset((void *)room, turns, sizeof room);
}

NOINLINE int all(void) {
    volatile char room[222];
    getcontext(&inner);
    inner.uc_stack.ss_sp = stack;
    inner.uc_stack.ss_size = sizeof stack;
    makecontext(&inner, coroutine, 0);
    for (turns = 1; turns < 4; turns++) {
        memset((void *)room, turns, sizeof room);
        swapcontext(&outer, &inner);
        CLOBBER("rbx", "r13");
    }
    getcontext(&inner);
    inner.uc_link = &outer;
    makecontext(&inner, comes_back, 0);
    swapcontext(&outer, &inner);
    return room[5];
}

int main(void) {
    char c;
    arm();
    ready();
    return read(0, &c, 1) + all() == 0;
}
