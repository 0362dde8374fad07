/* jumped: code that was not called, in another function's frame.
 *
 * Proves: a word at the stack pointer is no return address because the code has
 * left the stack pointer alone; the function that has jumped there has one.
 *   main > jumped_by > jumped_run, which jumps to jumped_code
 * jumped_run has room on the stack for jumped_code, as GHC's StgRun has for
 * what GHC has compiled; jumped_code has no tables, and returns by a jump, too.
 *
 * Usage: jumped [zero]: with an argument the word at the stack pointer is 0.
 *
 * Build: gcc -O2 jumped.c
 */
#include "ready.h"

long jumped_run(long word);

__asm__(".text\n"
        ".globl jumped_run\n"
        ".type jumped_run, @function\n"
        "jumped_run:\n"
        "  .cfi_startproc\n"
        "  push %rbx\n"
        "  .cfi_adjust_cfa_offset 8\n"
        "  .cfi_offset rbx, -16\n"
        "  sub $16384, %rsp\n"
        "  .cfi_adjust_cfa_offset 16384\n"
        "  mov %rdi, (%rsp)\n"
        "  lea 1f(%rip), %rbx\n"
        "  lea jumped_code(%rip), %rax\n"
        "  jmp *%rax\n"
        "1: add $16384, %rsp\n"
        "  .cfi_adjust_cfa_offset -16384\n"
        "  pop %rbx\n"
        "  .cfi_adjust_cfa_offset -8\n"
        "  ret\n"
        "  .cfi_endproc\n"
        ".size jumped_run, . - jumped_run\n"
        ".globl jumped_code\n"
        ".type jumped_code, @function\n"
        "jumped_code:\n"
        "  xor %edi, %edi\n" /* read(0, rsp+8, 1) */
        "  lea 8(%rsp), %rsi\n"
        "  mov $1, %edx\n"
        "  xor %eax, %eax\n"
        "  syscall\n"
        "  test %rax, %rax\n"
        "  jg jumped_code\n"
        "  jmp *%rbx\n"
        ".size jumped_code, . - jumped_code\n");

static NOINLINE long jumped_by(long word) {
    long n = jumped_run(word);
    KEEP(n);
    return n;
}

int main(int argc, char **argv) {
    long n;

    (void)argv;
    arm();
    ready();
    n = jumped_by(argc > 1 ? 0 : 0x123456789);
    KEEP(n);
    return 0;
}
