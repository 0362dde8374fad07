/* columns: functions whose tables have a rule of its own for the PC.
 *
 * Each scenario ends in stop_here(NAME), outward of it stand:
 *   saved      apart < call_apart: the return address and the caller's x30 are saved
 *              apart from each other
 *   register   kept < call_kept: the return address is in x19, the caller's x30 a number
 *   column     called < call_called: as apart, and the PC is the return column
 *
 * arm64.
 */
#include "guest.h"

/* A function that leaves its caller a number in x30. */
#define RETURNS(name, cfi, save, back)                                                             \
    extern long name(const char *scenario);                                                        \
    __asm__(".text\n.globl " #name "\n.type " #name ", %function\n" #name ":\n"                    \
            "\t.cfi_startproc\n" cfi                                                               \
            "\tsub sp, sp, #32\n\t.cfi_def_cfa_offset 32\n" save                                   \
            "\tbl stop_here\n" back                                                                \
            "\t.cfi_endproc\n.size " #name ", . - " #name "\n");                                   \
    NOINLINE long call_##name(const char *scenario) {                                              \
        long r = name(scenario);                                                                   \
        KEEP(r);                                                                                   \
        __asm__ volatile("" ::: "x30");                                                            \
        return r + 1;                                                                              \
    }

#define SAVE "\tstr x30, [sp, #16]\n\t.cfi_offset 32, -16\n\tmov x9, #0x1234\n\tstr x9, [sp, #24]\n\t.cfi_offset 30, -8\n"
#define BACK "\tldr x9, [sp, #16]\n\tldr x30, [sp, #24]\n\tadd sp, sp, #32\n\tret x9\n"

/* At its beginning the return address is x30, and the caller's x30 0x1234. */
RETURNS(apart, "\t.cfi_escape 0x16, 30, 3, 0x0a, 0x34, 0x12\n\t.cfi_escape 0x16, 32, 2, 0x8e, 0\n", SAVE, BACK)
RETURNS(kept, "",
        "\tstr x19, [sp, #8]\n\t.cfi_offset 19, -24\n\tmov x19, x30\n\t.cfi_register 32, 19\n"
        "\t.cfi_escape 0x16, 30, 3, 0x0a, 0x78, 0x56\n",
        "\tmov x9, x19\n\tldr x19, [sp, #8]\n\tmov x30, #0x5678\n\tadd sp, sp, #32\n\tret x9\n")
RETURNS(called, "\t.cfi_return_column 32\n", SAVE, BACK)

int main(void) {
    long n = call_apart("saved") + call_kept("register") + call_called("column");
    KEEP(n);
    return 0;
}
