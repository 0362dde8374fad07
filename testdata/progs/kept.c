/* kept: code that keeps what it needs in a register that a call need not preserve.
 *
 * Proves: a function that never writes such a register leaves it to its caller.
 *   main > kept_by > kept_sp > kept_leaf
 * kept_sp has its caller's stack pointer in r9 across its calls, as libx264 has it in rcx
 * (a system call changes that); no function of these has a table, and kept_sp has no symbol. kept_leaf calls another
 * function before it waits.
 *
 * Usage: kept [1|2]: 1 waits in kept_sp, before its first call; 2 in kept_leaf, when
 * kept_leaf has called a function that changes r9, and r9 has been put back: nobody can
 * prove that, and the stack ends early.
 *
 * Build: gcc -O2 kept.c
 */
#include "ready.h"

extern long (*volatile kept_sp)(long where);

#define WAIT(name) /* read(0, rsp-8, 1) until it fails */ \
        name ": push %rdi\n" \
        "  xor %edi, %edi\n" \
        "  lea -8(%rsp), %rsi\n" \
        "  mov $1, %edx\n" \
        "  xor %eax, %eax\n" \
        "  syscall\n" \
        "  pop %rdi\n" \
        "  test %rax, %rax\n" \
        "  jg " name "b\n"

__asm__(".text\n"
        ".type kept_other, @function\n"
        "kept_other:\n"
        "  add $1, %eax\n"
        "  jz 1f\n"
        "  mov %eax, %r8d\n"
        "1: ret\n"
        ".size kept_other, . - kept_other\n"

        ".type kept_leaf, @function\n"
        "kept_leaf:\n"
        "  sub $24, %rsp\n"
        "  call kept_other\n"
        WAIT("3")
        "  call kept_other\n"
        "  add $24, %rsp\n"
        "  ret\n"
        ".size kept_leaf, . - kept_leaf\n"

        ".type kept_changer, @function\n"
        "kept_changer:\n"
        "  mov %r9, %r10\n"
        "  xor %r9d, %r9d\n"
        WAIT("3")
        "  mov %r10, %r9\n"
        "  ret\n"
        ".size kept_changer, . - kept_changer\n"

        ".Lkept_sp:\n"
        "  mov %rsp, %r9\n"
        "  and $-32, %rsp\n"
        "  sub $0x60, %rsp\n"
        "  cmp $1, %rdi\n"
        "  jb 5f\n"
        "  ja 4f\n"
        WAIT("3")
        "5: call kept_leaf\n"
        "  sub $0x40, %rsp\n"
        "  call kept_leaf\n"
        "  mov %r9, %rsp\n"
        "  ret\n"
        "4: call kept_changer\n"
        "  mov %r9, %rsp\n"
        "  ret\n"
        ".data\n"
        ".globl kept_sp\n"
        "kept_sp: .quad .Lkept_sp\n"
        ".text\n");

static NOINLINE long kept_by(long where) {
    long n = kept_sp(where);
    KEEP(n);
    return n;
}

int main(int argc, char **argv) {
    long n;

    arm();
    ready();
    n = kept_by(argc > 1 ? argv[1][0] - '0' : 0);
    KEEP(n);
    return 0;
}
