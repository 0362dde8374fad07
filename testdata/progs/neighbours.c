/* neighbours: functions that a run-time system has made share one frame. One routine sets it up and jumps to a
 * function, another one takes it down. Functions go on by a jump to each other.
 *
 * Proves: where the caller of such code is, if the function itself never goes to the way out.
 *   main > runs > (the code) > waits
 * The argument says what the neighbours do.
 *   one      they jump to the way out
 *   two      they jump to two ways out; an old return address lies where the second one leads
 *   nowhere  their way out leads to no return address
 *
 * Build: gcc -O2 -fno-optimize-sibling-calls neighbours.c
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

/* A function that goes on elsewhere, and one behind it; so far apart that each has neighbours of its own. */
#define CODE(name, neighbour) \
    ".balign 64\n" name ": call *%rbx\n mov (%rax),%r11\n push %r11\n ret\n int3\n" \
    ".balign 8\n mov %r12,8(%rbx)\n" neighbour ".balign 64, 0xcc\n .skip 8192, 0xcc\n"

__asm__(".text\n"
        ".balign 64\ncode:\n"
        "enter: sub $0x18,%rsp\n mov %rbx,(%rsp)\n mov %r12,8(%rsp)\n mov %r13,0x10(%rsp)\n"
        "mov %rsi,%rbx\n mov $1,%ebp\n jmp *%rdx\n"
        "leave: mov (%rsp),%rbx\n mov 8(%rsp),%r12\n mov 0x10(%rsp),%r13\n add $0x18,%rsp\n ret\n"
        "further: mov (%rsp),%rbx\n add $0x28,%rsp\n ret\n"
        "early: mov (%rsp),%rbx\n add $8,%rsp\n ret\n"
        CODE("one", "jmp leave\n")
        CODE("two", "jmp leave\n int3\n jmp further\n")
        CODE("nowhere", "jmp early\n")
        "code_end:\n"
        FUNCTION("old", "sub $0x18,%rsp\n.cfi_adjust_cfa_offset 0x18\n call *%rax\n"
                        ".globl in_old\nin_old: nop\n add $0x18,%rsp\n.cfi_adjust_cfa_offset -0x18\n ret\n")
        FUNCTION("runs", "sub $0x28,%rsp\n.cfi_adjust_cfa_offset 0x28\n lea in_old(%rip),%rax\n mov %rax,8(%rsp)\n"
                         "call *%rdi\n add $0x28,%rsp\n.cfi_adjust_cfa_offset -0x28\n ret\n"));

typedef void (*function)(void);

extern char code[], enter[], one[], two[], nowhere[], code_end[];
void runs(char *code, function f, char *to);

int main(int argc, char **argv) {
    static const struct {
        const char *name;
        char *code;
    } all[] = {{"one", one}, {"two", two}, {"nowhere", nowhere}};
    char *made = mmap(0, 1 << 17, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    void (*volatile by)(char *, function, char *) = runs; /* this call may be of any function */

    arm();
    memcpy(made, code, code_end - code);
    for (unsigned i = 0; argc > 1 && i < sizeof all / sizeof *all; i++)
        if (!strcmp(argv[1], all[i].name))
            by(made + (enter - code), waits, made + (all[i].code - code));
    return argc;
}
