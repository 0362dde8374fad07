/* restorer: signal frames of which SFrame V3 says only that they are ones.
 *
 * Proves: an FDE with the signal attribute and without FREs, which is what the assembler
 * writes where CFI of a .cfi_signal_frame has no form in SFrame, here expressions. The
 * handler returns to a trampoline that is not the C library's, with other code.
 *
 *   restorer KIND
 *     KIND  nop     the trampoline's FDE begins before its first instruction, as the C
 *                   library's own does, so that PC-1 is in it
 *           bare    it begins at the first instruction
 *           other   a signal frame that the kernel has not made: dispatch calls on_signal
 *           call    no signal: ends_in_call, whose call of on_signal is the last
 *                   instruction before a trampoline of the kind bare
 *
 *   main > run > [trampoline], dispatch or ends_in_call > on_signal > block
 *
 * Build: gcc -O2 -Wa,--gsframe-3 restorer.c, with binutils 2.47
 */
#define _GNU_SOURCE
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "ready.h"

/* The kernel's struct ucontext is at rsp: CFA and registers, by DWARF number, are in it. */
__asm__(".macro in_ucontext reg, off\n"
        "\t.cfi_escape 0x10, \\reg, 3, 0x77, (\\off & 0x7f) | 0x80, \\off >> 7\n"
        ".endm\n"
        ".macro ucontext\n"
        "\t.cfi_signal_frame\n"
        "\t.cfi_escape 0x0f, 4, 0x77, 0xa0, 0x01, 0x06\n" /* CFA = *(rsp+160), the interrupted rsp */
        "\tin_ucontext 0, 144\n\tin_ucontext 1, 136\n\tin_ucontext 2, 152\n\tin_ucontext 3, 128\n"
        "\tin_ucontext 4, 112\n\tin_ucontext 5, 104\n\tin_ucontext 6, 120\n\tin_ucontext 7, 160\n"
        "\tin_ucontext 8, 40\n\tin_ucontext 9, 48\n\tin_ucontext 10, 56\n\tin_ucontext 11, 64\n"
        "\tin_ucontext 12, 72\n\tin_ucontext 13, 80\n\tin_ucontext 14, 88\n\tin_ucontext 15, 96\n"
        "\tin_ucontext 16, 168\n"
        ".endm\n"
        ".text\n"
        "\t.p2align 4\n"
        "\t.cfi_startproc\n\tucontext\n\tnop\n"
        ".globl nop_restorer\n.type nop_restorer, @function\n"
        "nop_restorer:\n"
        "\txor %eax, %eax\n\tmov $15, %al\n\tsyscall\n"
        "\t.cfi_endproc\n"
        ".size nop_restorer, . - nop_restorer\n"
        /* A function that ends right before the trampoline, but not by a call. */
        ".globl before\n.type before, @function\n"
        "before:\n\t.cfi_startproc\n\tpush %rbx\n\t.cfi_adjust_cfa_offset 8\n\tud2\n\t.cfi_endproc\n"
        ".size before, . - before\n"
        ".globl bare_restorer\n.type bare_restorer, @function\n"
        "bare_restorer:\n"
        "\t.cfi_startproc\n\tucontext\n"
        "\txor %eax, %eax\n\tmov $15, %al\n\tsyscall\n"
        "\t.cfi_endproc\n"
        ".size bare_restorer, . - bare_restorer\n"
        ".globl ends_in_call\n.type ends_in_call, @function\n"
        "ends_in_call:\n\t.cfi_startproc\n\tpush %rbx\n\t.cfi_adjust_cfa_offset 8\n\t.cfi_offset %rbx, -16\n"
        "\tcall on_signal\n\t.cfi_endproc\n"
        ".size ends_in_call, . - ends_in_call\n"
        "\t.cfi_startproc\n\tucontext\n\tud2\n\t.cfi_endproc\n"
        /* The CFA is stored at rsp+8. */
        ".globl dispatch\n.type dispatch, @function\n"
        "dispatch:\n"
        "\t.cfi_startproc\n\t.cfi_signal_frame\n"
        "\tpush %rbp\n\t.cfi_adjust_cfa_offset 8\n\t.cfi_offset %rbp, -16\n"
        "\tsub $32, %rsp\n\t.cfi_adjust_cfa_offset 32\n"
        "\tlea 48(%rsp), %rax\n\tmov %rax, 8(%rsp)\n\t.cfi_escape 0x0f, 3, 0x77, 8, 0x06\n"
        "\txor %ebp, %ebp\n"
        "\tmov $10, %edi\n\tcall on_signal\n"
        "\tadd $32, %rsp\n\t.cfi_def_cfa %rsp, 16\n"
        "\tpop %rbp\n\t.cfi_def_cfa %rsp, 8\n\t.cfi_restore %rbp\n"
        "\tret\n"
        "\t.cfi_endproc\n"
        ".size dispatch, . - dispatch\n");

extern void nop_restorer(void), bare_restorer(void);
extern long dispatch(void), ends_in_call(int);

NOINLINE __attribute__((used)) void on_signal(int sig) {
    volatile long local[4] = {sig};
    CLOBBER("rbx", "r12", "r13", "r14", "r15");
    ready();
    block();
    local[0] = 0;
}

/* SA_RESTORER is the kernel's; the C library has its own idea of sa_restorer. */
static void on(int sig, void (*handler)(int), void (*restorer)(void)) {
    struct {
        void (*handler)(int);
        unsigned long flags;
        void (*restorer)(void);
        unsigned long mask;
    } sa = {handler, 0x04000000, restorer, 0};
    syscall(SYS_rt_sigaction, sig, &sa, 0, 8);
}

NOINLINE long run(const char *kind) {
    volatile long local[7] = {1, 2, 3};
    CLOBBER("rbx", "r12", "r13");
    if (strcmp(kind, "other") == 0)
        return dispatch() + local[0];
    if (strcmp(kind, "call") == 0)
        return ends_in_call(0) + local[0];
    on(SIGUSR1, on_signal, strcmp(kind, "nop") == 0 ? nop_restorer : bare_restorer);
    __asm__ volatile("syscall" : : "a"((long)SYS_kill), "D"((long)getpid()), "S"((long)SIGUSR1) : "rcx", "r11", "memory");
    return local[1];
}

int main(int argc, char **argv) {
    arm();
    long r = run(argc > 1 ? argv[1] : "nop");
    KEEP(r);
    return 1;
}
