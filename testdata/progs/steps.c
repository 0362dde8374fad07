/* steps: functions to stop in at every instruction.
 *
 * Proves: the caller is right at each instruction of prologue, body and
 * epilogue. Every function to step through is called step_..., is called by
 * drive (from main), and does not block. The step_asm_... are in assembly
 * with CFI written by hand and have shapes that compilers seldom make. The
 * nocfi_... have no CFI at all, and gdb can be wrong about them; what is sure
 * is the return address on top of the stack at the first instruction, which
 * is the caller until the function returns.
 *
 * Build: gcc -g -O2 -Wa,--gsframe steps.c
 *        also -O0, -fno-omit-frame-pointer, -fstack-clash-protection,
 *        -fcf-protection, -mavx2
 */
#include <alloca.h>
#include <string.h>

#include "ready.h"

volatile long sink;

NOINLINE long step_leaf(long n) { return n * 3 + 1; }

NOINLINE long step_calls(long n) {
    long r = step_leaf(n);
    KEEP(r);
    return r + n;
}

NOINLINE long step_all_saved(long n) {
    CLOBBER("rbx", "r12", "r13", "r14", "r15");
    long r = step_leaf(n);
    KEEP(r);
    return r + n;
}

NOINLINE long step_some_saved(long n) {
    long a = n + 1, b = n * 2;
    KEEP(a);
    KEEP(b);
    long r = step_leaf(n);
    KEEP(r);
    return r + a + b;
}

NOINLINE long step_red_zone(long n) {
    volatile long local[8] = {n, n + 1};
    return local[0] + local[1];
}

NOINLINE long step_locals(long n) {
    volatile long local[40] = {n, n + 1};
    long r = step_leaf(local[1]);
    KEEP(r);
    return local[0] + r;
}

/* The early return leaves before the prologue of the rest (shrink wrapping). */
NOINLINE long step_early_return(long n) {
    if (n < 3)
        return n;
    CLOBBER("rbx", "r12");
    long r = step_leaf(n);
    KEEP(r);
    if (r > 1000000)
        return step_leaf(r) + 1;
    return r + n;
}

NOINLINE long step_tail_call(long n) {
    CLOBBER("rbx", "r15");
    KEEP(n);
    return step_some_saved(n);
}

NOINLINE long step_large_frame(long n) {
    volatile char local[100000];
    local[0] = (char)n;
    local[99999] = (char)n;
    long r = step_leaf(n);
    KEEP(r);
    return r + local[0] + local[99999];
}

NOINLINE long step_alloca(long n) {
    char *p = (char *)alloca((size_t)n * 16 + 8);
    p[0] = (char)n;
    KEEP(p);
    long r = step_leaf(n);
    KEEP(r);
    return r + p[0];
}

NOINLINE long step_realigned(long n) {
    volatile long local[8] __attribute__((aligned(64))) = {n};
    long r = step_leaf(n);
    KEEP(r);
    return r + local[0];
}

/* gcc leaves the rule for rbp in force after the epilogue has popped it, in
 * .eh_frame and so in SFrame V3: at the last instructions the caller's rbp
 * comes out wrong, and with it the CFA of a caller that is found by rbp. gdb
 * says the same; frame 0 and frame 1's PC are right. */
NOINLINE long step_drap(long n, long a, long b, long c, long d, long e, long on_stack) {
    volatile long local[8] __attribute__((aligned(64))) = {n, a, b, c, d, e};
    char *p = (char *)alloca((size_t)n * 16 + 8);
    p[0] = (char)n;
    KEEP(p);
    CLOBBER("rbx", "r12");
    long r = step_leaf(n);
    KEEP(r);
    return r + local[1] + on_stack + p[0];
}

NOINLINE long step_pushed_args(long n) {
    long r = step_drap(n, 1, 2, 3, 4, 5, n);
    KEEP(r);
    return r;
}

NOINLINE long step_recursion(long n) {
    CLOBBER("r14");
    long r = n <= 0 ? 1 : step_recursion(n - 1);
    KEEP(r);
    return r + n;
}

NOINLINE long step_switch(long n) {
    CLOBBER("rbx");
    switch (n & 7) {
    case 0: return step_leaf(n) + 5;
    case 1: return step_leaf(n) - 1;
    case 2: return step_leaf(n) * 3;
    case 3: return step_calls(n);
    case 4: return step_leaf(n) ^ 7;
    case 5: return 9;
    default: return step_leaf(n) | 1;
    }
}

#define FUNCTION(name) ".text\n.p2align 4\n.globl " #name "\n.type " #name ", @function\n" #name ":\n"
#define END(name) ".size " #name ", . - " #name "\n"

/* leave as epilogue, and a second, earlier epilogue in the middle. */
__asm__(FUNCTION(step_asm_leave)
        "\t.cfi_startproc\n"
        "\tpush %rbp\n"
        "\t.cfi_def_cfa_offset 16\n"
        "\t.cfi_offset %rbp, -16\n"
        "\tmov %rsp, %rbp\n"
        "\t.cfi_def_cfa_register %rbp\n"
        "\tsub $64, %rsp\n"
        "\ttest $1, %dil\n"
        "\tjnz 1f\n"
        "\t.cfi_remember_state\n"
        "\tleave\n"
        "\t.cfi_def_cfa %rsp, 8\n"
        "\tret\n"
        "1:\n"
        "\t.cfi_restore_state\n"
        "\tmov %rdi, -8(%rbp)\n"
        "\tmov -8(%rbp), %rax\n"
        "\tleave\n"
        "\t.cfi_def_cfa %rsp, 8\n"
        "\tret\n"
        "\t.cfi_endproc\n" END(step_asm_leave));

/* enter as prologue. */
__asm__(FUNCTION(step_asm_enter)
        "\t.cfi_startproc\n"
        "\tenter $32, $0\n"
        "\t.cfi_def_cfa %rbp, 16\n"
        "\t.cfi_offset %rbp, -16\n"
        "\tmov %rdi, -8(%rbp)\n"
        "\tmov -8(%rbp), %rax\n"
        "\tleave\n"
        "\t.cfi_def_cfa %rsp, 8\n"
        "\tret\n"
        "\t.cfi_endproc\n" END(step_asm_enter));

/* Pushes in the body, as before a call with arguments on the stack. */
__asm__(FUNCTION(step_asm_pushes)
        "\t.cfi_startproc\n"
        "\tpush %rbx\n"
        "\t.cfi_def_cfa_offset 16\n"
        "\t.cfi_offset %rbx, -16\n"
        "\tpush %rdi\n"
        "\t.cfi_adjust_cfa_offset 8\n"
        "\tpushq $5\n"
        "\t.cfi_adjust_cfa_offset 8\n"
        "\tmov $77, %ebx\n"
        "\tlea (%rdi,%rbx), %rax\n"
        "\tadd $16, %rsp\n"
        "\t.cfi_adjust_cfa_offset -16\n"
        "\tpop %rbx\n"
        "\t.cfi_adjust_cfa_offset -8\n"
        "\t.cfi_restore %rbx\n"
        "\tret\n"
        "\t.cfi_endproc\n" END(step_asm_pushes));

/* Registers saved by mov, not by push. */
__asm__(FUNCTION(step_asm_moves)
        "\t.cfi_startproc\n"
        "\tsub $56, %rsp\n"
        "\t.cfi_def_cfa_offset 64\n"
        "\tmov %rbx, 8(%rsp)\n"
        "\t.cfi_offset %rbx, -56\n"
        "\tmov %rbp, 16(%rsp)\n"
        "\t.cfi_offset %rbp, -48\n"
        "\tmov $1, %ebx\n"
        "\txor %ebp, %ebp\n"
        "\tlea (%rdi,%rbx), %rax\n"
        "\tmov 16(%rsp), %rbp\n"
        "\t.cfi_restore %rbp\n"
        "\tmov 8(%rsp), %rbx\n"
        "\t.cfi_restore %rbx\n"
        "\tadd $56, %rsp\n"
        "\t.cfi_def_cfa_offset 8\n"
        "\tret\n"
        "\t.cfi_endproc\n" END(step_asm_moves));

/* The return address kept in a register for a while: the stack no longer
 * holds it where it was. SFrame V1 and V2 cannot say that, and their
 * assemblers (binutils 2.40, 2.44) write an FDE that does not, without a
 * warning: there DWARF alone is right. */
__asm__(FUNCTION(step_asm_return_register)
        "\t.cfi_startproc\n"
        "\tsub $56, %rsp\n"
        "\t.cfi_def_cfa_offset 64\n"
        "\tmov 56(%rsp), %r11\n"
        "\t.cfi_register %rip, %r11\n"
        "\tmovq $0, 56(%rsp)\n"
        "\tlea 1(%rdi), %rax\n"
        "\tmov %r11, 56(%rsp)\n"
        "\t.cfi_offset %rip, -8\n"
        "\tadd $56, %rsp\n"
        "\t.cfi_def_cfa_offset 8\n"
        "\tret\n"
        "\t.cfi_endproc\n" END(step_asm_return_register));

/* The CFA in a register that is neither the stack nor the frame pointer:
 * SFrame V3 and DWARF only, V1 and V2 have no FDE for it. */
__asm__(FUNCTION(step_asm_cfa_register)
        "\t.cfi_startproc\n"
        "\tlea 8(%rsp), %r10\n"
        "\t.cfi_def_cfa %r10, 0\n"
        "\tand $-64, %rsp\n"
        "\tsub $64, %rsp\n"
        "\tmov %rdi, (%rsp)\n"
        "\tmov (%rsp), %rax\n"
        "\tlea -8(%r10), %rsp\n"
        "\t.cfi_def_cfa %rsp, 8\n"
        "\tret\n"
        "\t.cfi_endproc\n" END(step_asm_cfa_register));

/* ret that takes its arguments with it. */
__asm__(FUNCTION(asm_pops_arguments)
        "\t.cfi_startproc\n"
        "\tmov 8(%rsp), %rax\n"
        "\tret $16\n"
        "\t.cfi_endproc\n" END(asm_pops_arguments)
        FUNCTION(step_asm_callee_pops)
        "\t.cfi_startproc\n"
        "\tsub $8, %rsp\n"
        "\t.cfi_adjust_cfa_offset 8\n"
        "\tpush %rdi\n"
        "\t.cfi_adjust_cfa_offset 8\n"
        "\tpush %rdi\n"
        "\t.cfi_adjust_cfa_offset 8\n"
        "\tcall asm_pops_arguments\n"
        "\t.cfi_adjust_cfa_offset -16\n"
        "\tadd $8, %rsp\n"
        "\t.cfi_adjust_cfa_offset -8\n"
        "\tret\n"
        "\t.cfi_endproc\n" END(step_asm_callee_pops));

/* No CFI from here on. */
__asm__(FUNCTION(nocfi_frame_pointer)
        "\tendbr64\n"
        "\tpush %rbp\n"
        "\tmov %rsp, %rbp\n"
        "\tpush %r12\n"
        "\tpush %rbx\n"
        "\tsub $32, %rsp\n"
        "\tmov %rdi, %rbx\n"
        "\tlea 1(%rbx), %rax\n"
        "\tadd $32, %rsp\n"
        "\tpop %rbx\n"
        "\tpop %r12\n"
        "\tpop %rbp\n"
        "\tret\n" END(nocfi_frame_pointer));

__asm__(FUNCTION(nocfi_leave)
        "\tpush %rbp\n"
        "\tmov %rsp, %rbp\n"
        "\tsub $0x100, %rsp\n"
        "\tmov %rdi, -16(%rbp)\n"
        "\ttest %rdi, %rdi\n"
        "\tje 1f\n"
        "\tmov -16(%rbp), %rax\n"
        "\tleave\n"
        "\tret\n"
        "1:\txor %eax, %eax\n"
        "\tleave\n"
        "\tret\n" END(nocfi_leave));

__asm__(FUNCTION(nocfi_stack_pointer)
        "\tpush %r15\n"
        "\tpush %r14\n"
        "\tpush %rbp\n"
        "\tpush %rbx\n"
        "\tsub $24, %rsp\n"
        "\tmov $3, %ebp\n"
        "\tlea (%rdi,%rbp), %rax\n"
        "\tadd $24, %rsp\n"
        "\tpop %rbx\n"
        "\tpop %rbp\n"
        "\tpop %r14\n"
        "\tpop %r15\n"
        "\tret\n" END(nocfi_stack_pointer));

__asm__(FUNCTION(nocfi_leaf)
        "\tlea 1(%rdi), %rax\n"
        "\timul %rax, %rax\n"
        "\tret\n" END(nocfi_leaf));

extern long step_asm_leave(long), step_asm_enter(long), step_asm_pushes(long), step_asm_moves(long),
    step_asm_return_register(long), step_asm_cfa_register(long), step_asm_callee_pops(long);
extern long nocfi_frame_pointer(long), nocfi_leave(long), nocfi_stack_pointer(long), nocfi_leaf(long);

NOINLINE long drive(long n) {
    static long (*const functions[])(long) = {
        step_leaf, step_calls, step_all_saved, step_some_saved, step_red_zone, step_locals,
        step_early_return, step_tail_call, step_large_frame, step_alloca, step_realigned,
        step_pushed_args, step_recursion, step_switch,
        step_asm_leave, step_asm_enter, step_asm_pushes, step_asm_moves,
        step_asm_return_register, step_asm_cfa_register, step_asm_callee_pops,
        nocfi_frame_pointer, nocfi_leave, nocfi_stack_pointer, nocfi_leaf,
    };
    long r = 0;
    for (unsigned i = 0; i < sizeof functions / sizeof functions[0]; i++)
        r += functions[i](n + 4);
    r += step_early_return(1);
    for (long i = 0; i < 8; i++)
        r += step_switch(i);
    r += step_asm_leave(2) + nocfi_leave(0);
    return r;
}

int main(int argc, char **argv) {
    (void)argv;
    arm();
    sink = drive(argc);
    return 0;
}
