/* sve: frames whose size depends on the length of the scalable vectors.
 *
 * Each scenario ends in stop_here(NAME); outward of it stand, up to main:
 *   vectors    holds_one < holds_three < plain < outer: vectors on the stack
 *   interrupt  on_fault < [sigtramp] < faults < run_faults: so in the middle of one
 *   recorded   other_length < twice: other_length says where VG of its caller is saved,
 *              and that it is another one, as code says that begins streaming mode
 *
 * arm64, with -march=armv8-a+sve.
 */
#include <arm_sve.h>

#include "guest.h"

static char page[65536] __attribute__((aligned(65536)));
static float data[256];
volatile long counter;

NOINLINE long holds_one(svfloat32_t *v) {
    svfloat32_t own = svadd_x(svptrue_b32(), *v, 1.0f);
    svfloat32_t *p = &own;
    KEEP(p);
    CLOBBER_SOME();
    stop_here("vectors");
    return (long)svaddv(svptrue_b32(), own);
}

NOINLINE long holds_three(long n, svbool_t which) {
    svfloat32_t a = svld1(svptrue_b32(), data), b = svdup_f32((float)n), c = svadd_x(which, a, b);
    svfloat32_t *p = &a, *q = &b;
    KEEP(p);
    KEEP(q);
    CLOBBER_SAVED();
    long r = holds_one(&c);
    KEEP(r);
    return r + (long)svaddv(which, c) + (long)svaddv(which, *p) + (long)svaddv(which, *q);
}

NOINLINE long plain(long n) {
    volatile long local[5] = {n};
    long r = holds_three(n, svwhilelt_b32(0, (int)n));
    KEEP(r);
    return r + local[0];
}

/* Saves all of the vectors that a call preserves. */
NOINLINE svfloat32_t outer(svfloat32_t v) {
    CLOBBER_FP();
    counter += plain(counter);
    return svadd_x(svptrue_b32(), v, v);
}

static NOINLINE void on_fault(int sig) {
    stop_here("interrupt");
    mprotect(page, sizeof page, PROT_READ | PROT_WRITE);
    counter += sig;
}

NOINLINE long faults(volatile long *p) {
    svint64_t v = svdup_s64(counter);
    svint64_t *q = &v;
    KEEP(q);
    long r = *p;
    KEEP(r);
    KEEP(q);
    return r + (long)svaddv(svptrue_b64(), *q);
}

NOINLINE long run_faults(long n) {
    mprotect(page, sizeof page, PROT_NONE);
    long r = faults((volatile long *)page);
    KEEP(r);
    return r + n;
}

/* twice has room for two granules where other_length, which it calls with a length of
 * its own, has one; each has its CFA by VG. */
extern long twice(const char *scenario);
__asm__(".text\n.globl other_length\n.type other_length, %function\n"
        "other_length:\n\t.cfi_startproc\n"
        "\tsub sp, sp, #32\n\t.cfi_def_cfa_offset 32\n"
        "\tcntd x9\n\tlsl x9, x9, #1\n"
        "\tstp x30, x9, [sp, #16]\n\t.cfi_offset 30, -16\n\t.cfi_offset 46, -8\n"
        "\tbl stop_here\n"
        "\tldr x30, [sp, #16]\n\tadd sp, sp, #32\n\tret\n"
        "\t.cfi_endproc\n.size other_length, . - other_length\n"
        ".globl twice\n.type twice, %function\n"
        "twice:\n\t.cfi_startproc\n"
        "\tstr x30, [sp, #-16]!\n\t.cfi_def_cfa_offset 16\n\t.cfi_offset 30, -16\n"
        "\taddvl sp, sp, #-2\n"
        /* CFA: sp + 16 + 8 * VG, where VG is twice the processor's. */
        "\t.cfi_escape 0x0f, 9, 0x8f, 16, 0x92, 46, 0, 0x38, 0x1e, 0x22, 0x96\n"
        /* x30 is saved at CFA - 16. */
        "\tbl other_length\n"
        "\taddvl sp, sp, #2\n\t.cfi_def_cfa 31, 16\n"
        "\tldr x30, [sp], #16\n\tret\n"
        "\t.cfi_endproc\n.size twice, . - twice\n");

int main(void) {
    counter = 3;
    counter += (long)svaddv(svptrue_b32(), outer(svdup_f32(1.0f)));
    on(SIGSEGV, on_fault, 0);
    counter += run_faults(counter);
    counter += twice("recorded") & 1;
    return 0;
}
