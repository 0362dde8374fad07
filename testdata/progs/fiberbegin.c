/* fiberbegin: how coroutines begin, for single stepping.
 *
 * Proves: code that jumps to the first function of a coroutine, with the planted address of code that ends the
 * coroutine as its return address. Waits for a byte, then begins three coroutines, each by other code, and ends.
 *
 * Build: gcc -O2 fiberbegin.c
 */
#include <unistd.h>

#include "ready.h"

static char stack[1 << 16] __attribute__((aligned(4096)));

/* Goes to code on another stack, with the first function of a coroutine and what ends it in
 * registers; comes_back goes back. */
void go(void *top, void (*code)(void), void (*first)(void), void (*end)(void));
_Noreturn void comes_back(void);
extern char pushes[], moves[], planted[], ends[];

#ifdef __x86_64__
__asm__(".text\n"
        ".p2align 4\n"
        ".type go, @function\n"
        "go:\n"
        "\tpush %rbx\n"
        "\tpush %rbp\n"
        "\tpush %r12\n"
        "\tmov %rsp, outer(%rip)\n"
        "\tmov %rdi, %rsp\n"
        "\tmov %rdx, %rbx\n"
        "\tmov %rcx, %rbp\n"
        "\tjmp *%rsi\n"
        ".size go, . - go\n"
        ".type begins, @function\n"
        "begins:\n"
        "pushes:\n"
        "\tpush %rbp\n"
        "\tjmp *%rbx\n"
        "moves:\n"
        "\tmov %rbx, %rdi\n"
        "\tpush %rbp\n"
        "\txor %ebp, %ebp\n"
        "\tnop\n"
        "\tjmp *%rbx\n"
        "planted:\n"
        "\tjmp *%rbx\n"
        "ends:\n"
        "\txor %edi, %edi\n"
        "\tcall _exit\n"
        "\thlt\n"
        ".size begins, . - begins\n"
        ".p2align 4\n"
        ".type comes_back, @function\n"
        "comes_back:\n"
        "\tmov outer(%rip), %rsp\n"
        "\tpop %r12\n"
        "\tpop %rbp\n"
        "\tpop %rbx\n"
        "\tret\n"
        ".size comes_back, . - comes_back\n"
        ".local outer\n"
        ".comm outer, 8, 8\n");
#else
__asm__(".text\n"
        ".p2align 4\n"
        ".type go, @function\n"
        "go:\n"
        "\tmov 4(%esp), %edx\n"
        "\tmov 8(%esp), %ecx\n"
        "\tpush %ebx\n"
        "\tpush %ebp\n"
        "\tmov 20(%esp), %ebx\n"
        "\tmov 24(%esp), %ebp\n"
        "\tmov %esp, outer\n"
        "\tmov %edx, %esp\n"
        "\tjmp *%ecx\n"
        ".size go, . - go\n"
        ".type begins, @function\n"
        "begins:\n"
        "pushes:\n"
        "\tpush %ebp\n"
        "\tjmp *%ebx\n"
        "moves:\n"
        "\tmov %edx, (%esp)\n"
        "\tpush %ebp\n"
        "\txor %ebp, %ebp\n"
        "\tnop\n"
        "\tjmp *%ebx\n"
        "planted:\n"
        "\tjmp *%ebx\n"
        "ends:\n"
        "\tpush $0\n"
        "\tcall _exit\n"
        "\thlt\n"
        ".size begins, . - begins\n"
        ".p2align 4\n"
        ".type comes_back, @function\n"
        "comes_back:\n"
        "\tmov outer, %esp\n"
        "\tpop %ebp\n"
        "\tpop %ebx\n"
        "\tret\n"
        ".size comes_back, . - comes_back\n"
        ".local outer\n"
        ".comm outer, 4, 4\n");
#endif

NOINLINE void first(void) {
    comes_back();
}

int main(void) {
    void **top = (void **)(stack + sizeof stack - 64);
    char c;
    arm();
    ready();
    (void)!read(0, &c, 1);
    go(top, (void (*)(void))pushes, first, (void (*)(void))ends);
    go(top, (void (*)(void))moves, first, (void (*)(void))ends);
    *--top = ends;
    go(top, (void (*)(void))planted, first, (void (*)(void))ends);
    return 0;
}
