/* heapcfa: functions on stacks of their own, whose callers are found by memory that is on no
 * stack.
 *
 * Proves: what a walk reads beside the stack is of the moment of the stack.
 *
 *   main > left_top > left_under > on_stack > left, then
 *   main > right_top > on_stack > right, in turn, for ever: a stack has one of the two
 *
 * on_stack keeps the stack pointer of its caller in a struct on the heap, and its CFA is an
 * expression that reads it there. left and right run long enough for a look at the rest.
 *
 * Build: gcc -g -O2 -fomit-frame-pointer heapcfa.c (amd64)
 */
#include <stdlib.h>

#include "ready.h"

struct kept {
    void *sp;
};

/* on_stack calls f with the stack pointer at top, its own kept in k. DW_CFA_def_cfa_expression
 * (0x0f) of 5 bytes: DW_OP_breg3 0, DW_OP_deref, DW_OP_plus_uconst 16: [rbx] + 16. */
void on_stack(struct kept *k, void *top, void (*f)(void));
__asm__(".text\n"
        ".globl on_stack\n"
        ".type on_stack, @function\n"
        "on_stack:\n"
        ".cfi_startproc\n"
        "push %rbx\n"
        ".cfi_def_cfa_offset 16\n"
        ".cfi_offset %rbx, -16\n"
        "mov %rdi, %rbx\n"
        "mov %rsp, (%rbx)\n"
        ".cfi_remember_state\n"
        ".cfi_escape 0x0f, 5, 0x73, 0, 0x06, 0x23, 16\n"
        "mov %rsi, %rsp\n"
        "call *%rdx\n"
        "mov (%rbx), %rsp\n"
        ".cfi_restore_state\n"
        "pop %rbx\n"
        ".cfi_def_cfa_offset 8\n"
        "ret\n"
        ".cfi_endproc\n"
        ".size on_stack, .-on_stack\n");

static volatile unsigned long turns;
static struct kept *kept;
static char *top;

NOINLINE void left(void) {
    for (int i = 0; i < 3000; i++)
        turns++;
}

NOINLINE void right(void) {
    for (int i = 0; i < 3000; i++)
        turns--;
}

NOINLINE void left_under(void) {
    on_stack(kept, top, left);
    KEEP(top);
}

NOINLINE void left_top(void) {
    left_under();
    KEEP(top);
}

NOINLINE void right_top(void) {
    on_stack(kept, top, right);
    KEEP(top);
}

int main(void) {
    arm();
    kept = malloc(sizeof *kept);
    top = (char *)malloc(65536) + 65536;
    ready();
    for (;;) {
        left_top();
        right_top();
    }
}
