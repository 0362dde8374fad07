/* steps: functions to stop in at every instruction.
 *
 * Every function to step through is called step_... and is called by drive().
 * The step_asm_... are in assembly with CFI written by hand and have shapes
 * that compilers seldom make. The guest makes no system call but the last one.
 *
 * Build: with -DBARE alone.
 */
#include <stdarg.h>

#include "guest.h"

volatile long sink;

NOINLINE long step_leaf(long n) { return n * 3 + 1; }

NOINLINE long step_calls(long n) {
    long r = step_leaf(n);
    KEEP(r);
    return r + n;
}

NOINLINE long step_all_saved(long n) {
    CLOBBER_SAVED();
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

NOINLINE long step_fp_saved(long n) {
    CLOBBER_FP();
    CLOBBER_SOME();
    long r = step_leaf(n);
    KEEP(r);
    return r + n;
}

NOINLINE long step_leaf_locals(long n) {
    volatile long local[8] = {n, n + 1};
    return local[0] + local[1];
}

NOINLINE long step_leaf_saved(long n) {
    CLOBBER_SOME();
    return n + 7;
}

/* On s390x, gcc keeps the caller's registers in FPRs where it can. */
NOINLINE long step_leaf_pressure(long n) {
    long a = n + 1, b = n + 2, c = n * 3, d = n * 5, e = n * 7, f = n * 9, g = n * 11, h = n * 13;
#if __SIZEOF_LONG__ == 4
    __asm__ volatile("" : "+r"(a), "+r"(b), "+r"(c), "+r"(d), "+r"(e));
    __asm__ volatile("" : "+r"(f), "+r"(g), "+r"(h), "+r"(n));
#else
    __asm__ volatile("" : "+r"(a), "+r"(b), "+r"(c), "+r"(d), "+r"(e), "+r"(f), "+r"(g), "+r"(h), "+r"(n));
#endif
    return (a ^ b) + (c ^ d) + (e ^ f) + (g ^ h) + n;
}

NOINLINE long step_locals(long n) {
    volatile long local[40];
    local[0] = n;
    local[39] = n + 1;
    long r = step_leaf(local[39]);
    KEEP(r);
    return local[0] + r;
}

/* The early return leaves before the prologue of the rest (shrink wrapping). */
NOINLINE long step_early_return(long n) {
    if (n < 3)
        return n;
    CLOBBER_SOME();
    long r = step_leaf(n);
    KEEP(r);
    if (r > 1000000)
        return r;
    return r + n;
}

NOINLINE long step_tail_call(long n) {
    CLOBBER_SOME();
    long r = step_leaf(n);
    KEEP(r);
    return step_some_saved(n + r);
}

#define LARGE(name, bytes)                                                                         \
    NOINLINE long name(long n) {                                                                   \
        volatile char local[bytes];                                                                \
        CLOBBER_SOME();                                                                            \
        local[0] = (char)n;                                                                        \
        local[sizeof local - 1] = (char)n;                                                         \
        long r = step_leaf(n);                                                                     \
        KEEP(r);                                                                                   \
        return r + local[0] + local[sizeof local - 1];                                             \
    }

LARGE(step_5000, 5000)
LARGE(step_100000, 100000)
LARGE(step_1000000, 1000000)

NOINLINE long step_alloca(long n) {
    char *p = __builtin_alloca((unsigned long)n * 16 + 8);
    p[0] = (char)n;
    KEEP(p);
    CLOBBER_SOME();
    long r = step_leaf(n);
    KEEP(r);
    return r + p[0];
}

NOINLINE long step_aligned(long n) {
    volatile long local[8] __attribute__((aligned(64)));
    local[0] = n;
    long r = step_leaf(n);
    KEEP(r);
    return r + local[0];
}

NOINLINE long many_args(long a, long b, long c, long d, long e, long f, long g, long h, long i, long j) {
    return a + b + c + d + e + f + g + h + i * j;
}

NOINLINE long step_stack_args(long n) {
    long r = many_args(n, 1, 2, 3, 4, 5, 6, 7, 8, n);
    KEEP(r);
    return r + n;
}

NOINLINE long step_variadic(long n, ...) {
    va_list ap;
    va_start(ap, n);
    long r = va_arg(ap, long) + step_leaf(n);
    r += va_arg(ap, long);
    va_end(ap);
    KEEP(r);
    return r + n;
}

NOINLINE long step_recursion(long n) {
    CLOBBER_SOME();
    long r = n <= 0 ? step_leaf(n) : step_recursion(n - 1);
    KEEP(r);
    return r + 1;
}

NOINLINE long step_switch(long n) {
    switch (n) {
    case 0: return step_leaf(n) + 10;
    case 1: return n * 77;
    case 2: return step_calls(n) ^ 20;
    case 3: return n - 3;
    case 4: return step_leaf(n + 1) * 5;
    case 5: return ~n;
    default: return step_leaf(n) - 1;
    }
}

NOINLINE long step_loop(long n) {
    long r = 0;
    for (long i = 0; i < n; i++) {
        r += step_leaf(i);
        KEEP(r);
    }
    return r;
}

#if defined __thumb__
#define ARM ".arm\n"
#define THUMB ".thumb\n"
#elif !defined ARM
#define ARM ""
#define THUMB ""
#endif
#if defined __aarch64__
#define LANDING "\thint #34\n" /* bti c: these are called through pointers */
#else
#define LANDING ""
#endif
#define FUNCTION(name) ".text\n" ARM ".p2align 4\n.globl " #name "\n.type " #name ", %function\n" #name ":\n\t.cfi_startproc\n" LANDING
#define END(name) "\t.cfi_endproc\n.size " #name ", . - " #name "\n"

#if defined __aarch64__
/* The frame record at the top of the frame, other registers below. */
__asm__(FUNCTION(step_asm_record_on_top)
        "\tsub sp, sp, #64\n\t.cfi_def_cfa_offset 64\n"
        "\tstp x29, x30, [sp, #48]\n\t.cfi_offset x29, -16\n\t.cfi_offset x30, -8\n"
        "\tadd x29, sp, #48\n\t.cfi_def_cfa x29, 16\n"
        "\tstp x19, x20, [sp, #16]\n\t.cfi_offset x19, -48\n\t.cfi_offset x20, -40\n"
        "\tmov x19, x0\n"
        "\tbl step_leaf\n"
        "\tadd x0, x0, x19\n"
        "\tldp x19, x20, [sp, #16]\n\t.cfi_restore x19\n\t.cfi_restore x20\n"
        "\t.cfi_def_cfa sp, 64\n"
        "\tldp x29, x30, [sp, #48]\n\t.cfi_restore x29\n\t.cfi_restore x30\n"
        "\tadd sp, sp, #64\n\t.cfi_def_cfa_offset 0\n"
        "\tret\n" END(step_asm_record_on_top));

/* The record in the middle, pre- and post-indexed single stores, the frame
 * allocated in two steps. */
__asm__(FUNCTION(step_asm_two_steps)
        "\tstp x29, x30, [sp, #-32]!\n\t.cfi_def_cfa_offset 32\n\t.cfi_offset x29, -32\n\t.cfi_offset x30, -24\n"
        "\tmov x29, sp\n"
        "\tstr x21, [sp, #16]\n\t.cfi_offset x21, -16\n"
        "\tsub sp, sp, #1, lsl #12\n\t.cfi_def_cfa_offset 4128\n"
        "\tsub sp, sp, #80\n\t.cfi_def_cfa_offset 4208\n"
        "\tstr x0, [sp, #8]\n"
        "\tmov x21, #5\n"
        "\tbl step_leaf\n"
        "\tldr x1, [sp, #8]\n"
        "\tadd x0, x0, x1\n"
        "\tadd sp, sp, #80\n\t.cfi_def_cfa_offset 4128\n"
        "\tadd sp, sp, #1, lsl #12\n\t.cfi_def_cfa_offset 32\n"
        "\tldr x21, [sp, #16]\n\t.cfi_restore x21\n"
        "\tldp x29, x30, [sp], #32\n\t.cfi_def_cfa_offset 0\n\t.cfi_restore x29\n\t.cfi_restore x30\n"
        "\tret\n" END(step_asm_two_steps));

/* x30 alone, no frame record; the return address is loaded into x17. */
__asm__(FUNCTION(step_asm_no_record)
        "\tstr x30, [sp, #-16]!\n\t.cfi_def_cfa_offset 16\n\t.cfi_offset x30, -16\n"
        "\tbl step_leaf\n"
        "\tldr x30, [sp], #16\n\t.cfi_restore x30\n\t.cfi_def_cfa_offset 0\n"
        "\tret x30\n" END(step_asm_no_record));

/* A return address that is signed, where the processor can do it. */
__asm__(FUNCTION(step_asm_signed)
        "\thint #25\n\t.cfi_negate_ra_state\n" /* paciasp */
        "\tstp x29, x30, [sp, #-16]!\n\t.cfi_def_cfa_offset 16\n\t.cfi_offset x29, -16\n\t.cfi_offset x30, -8\n"
        "\tmov x29, sp\n"
        "\tbl step_leaf\n"
        "\tldp x29, x30, [sp], #16\n\t.cfi_restore x29\n\t.cfi_restore x30\n\t.cfi_def_cfa_offset 0\n"
        "\thint #29\n\t.cfi_negate_ra_state\n" /* autiasp */
        "\tret\n" END(step_asm_signed));

extern long step_asm_record_on_top(long), step_asm_two_steps(long), step_asm_no_record(long), step_asm_signed(long);
#define ASM_FUNCTIONS step_asm_record_on_top, step_asm_two_steps, step_asm_no_record, step_asm_signed
#elif defined __arm__
/* A frame of the old procedure call standard: fp points to the saved pc. */
__asm__(FUNCTION(step_asm_apcs)
        "\tmov ip, sp\n"
        "\tpush {r4, fp, ip, lr, pc}\n\t.cfi_def_cfa_offset 20\n\t.cfi_offset r4, -20\n\t.cfi_offset r11, -16\n\t.cfi_offset lr, -8\n"
        "\tsub fp, ip, #4\n\t.cfi_def_cfa r11, 4\n"
        "\tsub sp, sp, #36\n"
        "\tmov r4, r0\n"
        "\tbl step_leaf\n"
        "\tadd r0, r0, r4\n"
        "\tsub sp, fp, #16\n\t.cfi_def_cfa sp, 20\n"
        "\tldm sp, {r4, fp, sp, lr}\n\t.cfi_def_cfa_offset 0\n\t.cfi_restore r4\n\t.cfi_restore r11\n\t.cfi_restore lr\n"
        "\tbx lr\n" END(step_asm_apcs));

/* A return in the middle that may not be taken, and registers that are restored one by one. */
__asm__(FUNCTION(step_asm_conditional)
        "\tpush {r4, lr}\n\t.cfi_def_cfa_offset 8\n\t.cfi_offset r4, -8\n\t.cfi_offset lr, -4\n"
        "\tsubs r4, r0, #2\n"
        "\tpopeq {r4, pc}\n"
        "\tstr r5, [sp, #-8]!\n\t.cfi_def_cfa_offset 16\n\t.cfi_offset r5, -16\n"
        "\tmov r5, #3\n"
        "\tbl step_leaf\n"
        "\tldr r5, [sp], #8\n\t.cfi_restore r5\n\t.cfi_def_cfa_offset 8\n"
        "\tldr lr, [sp, #4]\n\t.cfi_restore lr\n"
        "\tldr r4, [sp], #8\n\t.cfi_restore r4\n\t.cfi_def_cfa_offset 0\n"
        "\tmov pc, lr\n" END(step_asm_conditional));

extern long step_asm_apcs(long), step_asm_conditional(long);
#define ASM_FUNCTIONS step_asm_apcs, step_asm_conditional
#elif defined __i386__
/* A frame pointer, a register saved below it, and leave. */
__asm__(FUNCTION(step_asm_leave)
        "\tpush %ebp\n\t.cfi_def_cfa_offset 8\n\t.cfi_offset %ebp, -8\n"
        "\tmov %esp, %ebp\n\t.cfi_def_cfa_register %ebp\n"
        "\tpush %ebx\n\t.cfi_offset %ebx, -12\n"
        "\tmov 8(%ebp), %ebx\n"
        "\tsub $20, %esp\n"
        "\tpush %ebx\n"
        "\tcall step_leaf\n"
        "\tadd %ebx, %eax\n"
        "\tmov -4(%ebp), %ebx\n\t.cfi_restore %ebx\n"
        "\tleave\n\t.cfi_restore %ebp\n\t.cfi_def_cfa %esp, 4\n"
        "\tret\n" END(step_asm_leave));

/* An argument is pushed and taken away by pop. */
__asm__(FUNCTION(step_asm_pushes)
        "\tpush %esi\n\t.cfi_def_cfa_offset 8\n\t.cfi_offset %esi, -8\n"
        "\tmov 8(%esp), %esi\n"
        "\tpush %esi\n\t.cfi_def_cfa_offset 12\n"
        "\tcall step_leaf\n"
        "\tpop %ecx\n\t.cfi_def_cfa_offset 8\n"
        "\tadd %esi, %eax\n"
        "\tpop %esi\n\t.cfi_restore %esi\n\t.cfi_def_cfa_offset 4\n"
        "\tret\n" END(step_asm_pushes));

extern long step_asm_leave(long), step_asm_pushes(long);
#define ASM_FUNCTIONS step_asm_leave, step_asm_pushes
#else
/* r11, r14 and r15 in floating-point registers: DWARF's 16 is f0, 17 f2, 18 f4. (By
 * their names, binutils 2.40 numbers them wrongly.) */
__asm__(FUNCTION(step_asm_fprs)
        "\tldgr %f0, %r15\n\t.cfi_register %r15, 16\n"
        "\tldgr %f2, %r14\n\t.cfi_register %r14, 17\n"
        "\tldgr %f4, %r11\n\t.cfi_register %r11, 18\n"
        "\tlay %r15, -176(%r15)\n\t.cfi_def_cfa_offset 336\n"
        "\tlgr %r11, %r15\n"
        "\tlghi %r14, 7\n"
        "\tstg %r2, 160(%r11)\n"
        "\tagr %r2, %r14\n"
        "\tlgdr %r11, %f4\n\t.cfi_restore %r11\n"
        "\tlgdr %r14, %f2\n\t.cfi_restore %r14\n"
        "\tlgdr %r15, %f0\n\t.cfi_restore %r15\n\t.cfi_def_cfa_offset 160\n"
        "\tbr %r14\n" END(step_asm_fprs));

/* A frame pointer, and the back chain kept by hand. */
__asm__(FUNCTION(step_asm_frame_pointer)
        "\tstmg %r11, %r15, 88(%r15)\n"
        "\t.cfi_offset %r11, -72\n\t.cfi_offset %r12, -64\n\t.cfi_offset %r13, -56\n\t.cfi_offset %r14, -48\n\t.cfi_offset %r15, -40\n"
        "\tlgr %r1, %r15\n"
        "\taghi %r15, -200\n\t.cfi_def_cfa_offset 360\n"
        "\tstg %r1, 0(%r15)\n"
        "\tlgr %r11, %r15\n\t.cfi_def_cfa_register %r11\n"
        "\tbrasl %r14, step_leaf\n"
        "\tlg %r4, 312(%r11)\n"
        "\tlmg %r11, %r15, 288(%r11)\n"
        "\t.cfi_restore %r11\n\t.cfi_restore %r12\n\t.cfi_restore %r13\n\t.cfi_restore %r14\n\t.cfi_restore %r15\n\t.cfi_def_cfa %r15, 160\n"
        "\tbr %r4\n" END(step_asm_frame_pointer));

/* r14 alone is saved, and restored by itself. That r15 of the caller is the CFA less
 * 160 must be said: gdb takes it for unchanged else, libgcc for the CFA. */
__asm__(FUNCTION(step_asm_r14_alone)
        "\tstg %r14, 112(%r15)\n\t.cfi_offset %r14, -48\n"
        "\tlay %r15, -160(%r15)\n\t.cfi_def_cfa_offset 320\n\t.cfi_val_offset %r15, -160\n"
        "\tbrasl %r14, step_leaf\n"
        "\tlay %r15, 160(%r15)\n\t.cfi_def_cfa_offset 160\n\t.cfi_restore %r15\n"
        "\tlg %r14, 112(%r15)\n\t.cfi_restore %r14\n"
        "\tbr %r14\n" END(step_asm_r14_alone));

extern long step_asm_fprs(long), step_asm_frame_pointer(long), step_asm_r14_alone(long);
#define ASM_FUNCTIONS step_asm_fprs, step_asm_frame_pointer, step_asm_r14_alone
#endif

NOINLINE long drive(long n) {
    static long (*const functions[])(long) = {
        step_leaf, step_calls, step_all_saved, step_some_saved, step_fp_saved, step_leaf_locals,
        step_leaf_saved, step_leaf_pressure, step_locals, step_early_return, step_tail_call,
        step_5000, step_100000, step_1000000, step_alloca, step_aligned, step_stack_args,
        step_recursion, step_loop, ASM_FUNCTIONS,
    };
    long r = 0;
    for (unsigned i = 0; i < sizeof functions / sizeof functions[0]; i++)
        r += functions[i](n + 3);
    r += step_early_return(1) + step_variadic(n, 2L, 3L);
    for (long i = 0; i < 7; i++)
        r += step_switch(i);
    return r;
}

int main(void) {
    long n = 1;
    KEEP(n);
    sink = drive(n);
    return 0;
}
