/* stacks: functions that change stacks, and whose tables say so.
 *
 * Proves: a row from tables that leads to another stack, further out or further in.
 *   main > runs > on_stack > runs > on_stack > … > block
 * Each character of the argument is a change of stacks: a digit is one of ten stacks
 * that lie one above the other, in one array; m is the thread's own, below what is in use
 * of it; a is a stack that is mapped alone. on_stack keeps the caller's SP in the frame
 * pointer, and after_stack in a word on the new stack, from which its table restores SP.
 * They take turns, after_stack first for an argument that begins with a dot.
 *
 * Build: gcc -g -O2 stacks.c
 */
#include <sys/mman.h>
#include "ready.h"

#define SIZE 16384

extern void on_stack(void *top, void (*function)(const char *), const char *arg);
extern void after_stack(void *top, void (*function)(const char *), const char *arg);

__asm__(".text\n"
        ".p2align 4\n"
        ".globl on_stack\n"
        ".type on_stack, @function\n"
        "on_stack:\n"
        "\t.cfi_startproc\n"
        "\tpush %rbp\n"
        "\t.cfi_def_cfa_offset 16\n"
        "\t.cfi_offset %rbp, -16\n"
        "\tmov %rsp, %rbp\n"
        "\t.cfi_def_cfa_register %rbp\n"
        "\tmov %rdi, %rsp\n"
        "\tmov %rdx, %rdi\n"
        "\tcall *%rsi\n"
        "\tmov %rbp, %rsp\n"
        "\tpop %rbp\n"
        "\t.cfi_def_cfa %rsp, 8\n"
        "\tret\n"
        "\t.cfi_endproc\n"
        ".size on_stack, . - on_stack\n"

        ".p2align 4\n"
        ".globl after_stack\n"
        ".type after_stack, @function\n"
        "after_stack:\n"
        "\t.cfi_startproc\n"
        "\tpop %rax\n"
        "\t.cfi_def_cfa_offset 0\n"
        "\t.cfi_register %rip, %rax\n"
        "\tmov %rsp, -16(%rdi)\n"
        "\tmov %rax, -8(%rdi)\n"
        "\tlea -16(%rdi), %rsp\n"
        "\t.cfi_def_cfa %rsp, 16\n"
        "\t.cfi_offset %rip, -8\n"
        "\t.cfi_offset %rsp, -16\n"
        "\tmov %rdx, %rdi\n"
        "\tcall *%rsi\n"
        "\tmov 8(%rsp), %rax\n"
        "\t.cfi_register %rip, %rax\n"
        "\tmov (%rsp), %rsp\n"
        "\t.cfi_def_cfa %rsp, 0\n"
        "\t.cfi_same_value %rsp\n"
        "\tjmp *%rax\n"
        "\t.cfi_endproc\n"
        ".size after_stack, . - after_stack\n");

static char stacks[10][SIZE] __attribute__((aligned(64)));
static char *own;
static int turn;

NOINLINE void runs(const char *arg) {
    char *top;
    if (*arg == '\0') {
        ready();
        block();
        return;
    }
    switch (*arg) {
    case 'm':
        top = own -= SIZE;
        break;
    case 'a':
        top = (char *)mmap(0, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) + SIZE;
        break;
    default:
        top = stacks[*arg - '0'] + SIZE;
    }
    if (turn++ % 2 == 0)
        on_stack(top, runs, arg + 1);
    else
        after_stack(top, runs, arg + 1);
    KEEP(arg);
}

int main(int argc, char **argv) {
    char here[64] __attribute__((aligned(64)));
    KEEP(argc);
    arm();
    own = here;
    if (argc > 1 && argv[1][0] == '.')
        turn = 1, argv[1]++;
    runs(argc > 1 ? argv[1] : "");
    return 0;
}
