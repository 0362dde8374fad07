/* twotables: functions with an entry in .eh_frame and another in .debug_frame, which
 * contradict each other.
 *
 *   main > first > outer > same > inner > wide > last > block
 *
 * outer and inner have no frame: behind the return address into them lies the one to
 * their caller. .eh_frame is right; by .debug_frame their frames belong to what they
 * have called, and the stack is
 *
 *   main > first > same > wide > last > block
 *
 * same's two entries begin alike, the one of .debug_frame for wide begins before it. One
 * more entry of .debug_frame begins at address 0, as those do of functions that the linker
 * has left out, and covers everything.
 *
 * Build: gcc -O2 -fomit-frame-pointer twotables.c
 */
#include "ready.h"

NOINLINE long last(long n) {
    ready();
    block();
    KEEP(n);
    return n;
}

extern long same(long n);
extern long wide(long n);

/* A function with a frame of 24 bytes. */
#define FRAME(name, callee)                                                                        \
    __asm__(".text\n.p2align 4\n"                                                                  \
            "before_" #name ":\n\tnop\n\tnop\n\tnop\n\tnop\n"                                      \
            ".globl " #name "\n.type " #name ", @function\n" #name ":\n"                           \
            "\t.cfi_startproc\n\tsub $24, %rsp\n\t.cfi_adjust_cfa_offset 24\n"                     \
            "\tcall " #callee "\n"                                                                 \
            "\tadd $24, %rsp\n\t.cfi_adjust_cfa_offset -24\n\tret\n"                               \
            "\t.cfi_endproc\n.Lend_" #name ":\n.size " #name ", . - " #name "\n")

/* An entry of .debug_frame: CFA=rsp+off while the function calls. */
#define ENTRY(begin, end, off)                                                                     \
    "\t.long 2f - 1f\n1:\t.long .Lcie\n\t.quad " begin "\n\t.quad " end " - " begin "\n"           \
    "\t.byte 0x0e, " off "\n\t.p2align 3, 0\n2:\n"

FRAME(same, inner);
FRAME(wide, last);

#define THROUGH(name, callee)                                                                      \
    extern long name(long n);                                                                      \
    __asm__(".text\n.globl " #name "\n.type " #name ", @function\n" #name ":\n"                    \
            "\t.cfi_startproc\n\tcall " #callee "\n\tnop\n\tret\n"                                 \
            "\t.cfi_endproc\n.size " #name ", . - " #name "\n")
THROUGH(outer, same);
THROUGH(inner, wide);

__asm__(".section .debug_frame,\"\",@progbits\n"
        ".Lcie:\n\t.long 4f - 3f\n3:\t.long 0xffffffff\n\t.byte 1, 0\n"
        "\t.uleb128 1\n\t.sleb128 -8\n\t.byte 16\n"
        "\t.byte 0x0c, 7, 8, 0x90, 1\n\t.p2align 3, 0\n4:\n"
        ENTRY("same", ".Lend_same", "40")
        ENTRY("before_wide", ".Lend_wide", "40")
        "\t.long 2f - 1f\n1:\t.long .Lcie\n\t.quad 0\n\t.quad 0x7fffffff\n\t.byte 0x0e, 72\n\t.p2align 3, 0\n2:\n"
        "\t.text\n");

NOINLINE long first(long n) {
    volatile long local[4] = {n};
    long r = outer(n);
    KEEP(r);
    return r + local[2];
}

int main(int argc, char **argv) {
    (void)argv;
    arm();
    return (int)first(argc);
}
