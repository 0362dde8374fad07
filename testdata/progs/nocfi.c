/* nocfi: code that no table describes.
 *
 * Proves: the prologue sniffer, and the frame pointer as last resort.
 *   main > enters > with_fp > without_fp > saves > leaf > block
 * with_fp, without_fp and saves are written in assembly without any CFI;
 * their modules have tables, but these functions have no entry in them. Two
 * of them have no symbol size. In without_fp the frame pointer is not set up.
 *
 * Build: gcc -g -O2 -Wa,--gsframe nocfi.c
 */
#include "ready.h"

NOINLINE long leaf(long n) {
    ready();
    block();
    KEEP(n);
    return n;
}

extern long with_fp(long n);

__asm__(".text\n"
        ".p2align 4\n"
        ".globl with_fp\n"
        ".type with_fp, @function\n"
        "with_fp:\n"
        "\tendbr64\n"
        "\tpush %rbp\n"
        "\tmov %rsp, %rbp\n"
        "\tpush %rbx\n"
        "\tsub $40, %rsp\n"
        "\tmov %rdi, %rbx\n"
        "\tcall without_fp\n"
        "\tadd %rbx, %rax\n"
        "\tadd $40, %rsp\n"
        "\tpop %rbx\n"
        "\tpop %rbp\n"
        "\tret\n"
        ".size with_fp, . - with_fp\n"

        ".p2align 4\n"
        ".globl without_fp\n"
        ".type without_fp, @function\n"
        "without_fp:\n"
        "\tsub $88, %rsp\n"
        "\tmov %rdi, 8(%rsp)\n"
        "\tcall saves\n"
        "\tadd $88, %rsp\n"
        "\tret\n"

        ".p2align 4\n"
        ".globl saves\n"
        ".type saves, @function\n"
        "saves:\n"
        "\tpush %r15\n"
        "\tpush %r14\n"
        "\tpush %r12\n"
        "\tpush %rbp\n"
        "\tpush %rbx\n"
        "\tsub $0x90, %rsp\n"
        "\tmov $0x5150, %ebp\n"
        "\tcall leaf\n"
        "\tadd $0x90, %rsp\n"
        "\tpop %rbx\n"
        "\tpop %rbp\n"
        "\tpop %r12\n"
        "\tpop %r14\n"
        "\tpop %r15\n"
        "\tret\n");

NOINLINE long enters(long n) {
    volatile long local[4] = {n};
    CLOBBER("rbx", "r12");
    long r = with_fp(n);
    KEEP(r);
    return r + local[2];
}

int main(int argc, char **argv) {
    (void)argv;
    arm();
    return (int)enters(argc);
}
