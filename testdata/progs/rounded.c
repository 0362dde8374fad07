/* rounded: code that a run-time system has made, and that never returns. It rounds its stack pointer down, and
 * keeps nowhere what it was.
 *
 * Proves: where the caller of such code is.
 *   main > aligns > (the function that the argument names) > (the code) > waits
 *   entered  calls a function that jumps to the code
 *   called   calls the code by a register
 *   stale    as called; an old return address lies inward of the true one, in a function whose tables lead nowhere
 *   ambushed as called; the old return address is of a function whose tables lead to a call
 *   smashed  goes to the code with a return address that is none
 *   turned   as called; the code has put the stack pointer elsewhere
 *
 * Build: gcc -O2 -fno-optimize-sibling-calls rounded.c
 */
#define _GNU_SOURCE
#include <string.h>
#include <sys/mman.h>
#include "ready.h"

NOINLINE void waits(void) {
    ready();
    block();
}

#define FUNCTION(name, body) \
    ".globl " name "\n.type " name ",@function\n" name ": .cfi_startproc\n" body ".cfi_endproc\n.size " name ",.-" name "\n"

/* At the call the stack pointer is a multiple of 64: the code rounds away 40 bytes. */
#define BEGINS(name, body) \
    FUNCTION(name, "push %rbp\n.cfi_adjust_cfa_offset 8\n.cfi_rel_offset %rbp,0\n" \
                   "sub $0x30,%rsp\n.cfi_adjust_cfa_offset 0x30\n movq $0,8(%rsp)\n movq $0,-24(%rsp)\n movq $0,-40(%rsp)\n" \
                   body "ud2\n")

/* An address behind a call by a register, with a frame of so many bytes. */
#define OLD(name, frame) \
    FUNCTION(name, "sub $" frame ",%rsp\n.cfi_adjust_cfa_offset " frame "\n call *%rax\n" \
                   ".globl in_" name "\nin_" name ": nop\n add $" frame ",%rsp\n.cfi_adjust_cfa_offset -" frame "\n ret\n")

__asm__(".text\n"
        ".balign 64\ncode:\n"
        "ud2\n nop\n .balign 8\n"
        "rounds:\n"
        "sub $0x4110,%rsp\n and $-64,%rsp\n lea 0x80(%rsp),%rbx\n mov $1,%r13d\n mov %r13,%rbp\n jmp 2f\n"
        "1: mov %r13,%rbp\n"
        "2: mov %rsi,%r12\n call *%r12\n test %rax,%rax\n je 1b\n mov (%rbx),%rsp\n jmp *%rax\n"
        ".balign 64\nturns:\n"
        "sub $0x4110,%rsp\n and $-64,%rsp\n mov %rdx,%rsp\n mov $1,%ebp\n call *%rsi\n ud2\n"
        "code_end:\n"
        FUNCTION("enters", "sub $8,%rsp\n.cfi_adjust_cfa_offset 8\n mov %rdi,%rax\n add $8,%rsp\n.cfi_adjust_cfa_offset -8\n jmp *%rax\n")
        OLD("leads_nowhere", "0x18")
        OLD("leads_on", "8")
        BEGINS("entered", "call enters\n")
        BEGINS("called", "call *%rdi\n")
        BEGINS("stale", "lea in_leads_nowhere(%rip),%rax\n mov %rax,-24(%rsp)\n call *%rdi\n")
        BEGINS("ambushed", "lea in_leads_on(%rip),%rax\n mov %rax,-24(%rsp)\n call *%rdi\n")
        BEGINS("smashed", "push $0x4321\n.cfi_adjust_cfa_offset 8\n jmp *%rdi\n")
        BEGINS("turned", "call *%rdi\n")
        FUNCTION("aligns", "push %rbp\n.cfi_adjust_cfa_offset 8\n.cfi_rel_offset %rbp,0\n mov %rsp,%rbp\n.cfi_def_cfa_register %rbp\n"
                           "and $-64,%rsp\n call *%rcx\n ud2\n"));

typedef void (*function)(void);
typedef void beginning(char *code, function f, char *stack);

extern char code[], rounds[], turns[], code_end[];
beginning entered, called, stale, ambushed, smashed, turned;
void aligns(char *code, function f, char *stack, beginning *by);

int main(int argc, char **argv) {
    static const struct {
        const char *name;
        beginning *by;
        char *code;
    } all[] = {{"entered", entered, rounds}, {"called", called, rounds}, {"stale", stale, rounds},
               {"ambushed", ambushed, rounds}, {"smashed", smashed, rounds}, {"turned", turned, turns}};
    char *made = mmap(0, 65536, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    char *stack = mmap(0, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    arm();
    memcpy(made + 64, code, code_end - code);
    for (unsigned i = 0; argc > 1 && i < sizeof all / sizeof *all; i++)
        if (!strcmp(argv[1], all[i].name))
            aligns(made + 64 + (all[i].code - code), waits, stack + 65536, all[i].by);
    return argc;
}
