/* bottom: how the stacks of coroutines end.
 *
 * Proves: the end of a stack that nobody has called the first function of, and what is not one.
 *   (what is planted) > entry or ends > waits > block
 * The argument says what is planted where the first function's return address would be:
 *   ucontext, link  what libc's makecontext plants, without and with a context to go on to
 *   finish          code in the middle of a function (as boost's make_fcontext), which exits
 *   zero            zero, under a function that never returns (as ruby's fibers)
 *   jumps           zero, under one that ends in a jump, where other memory follows the stack (as D's fibers)
 *   top             the same, with a frame pointer that points to the end of the stack
 *   edge            zero, under one that would return, at the end of the stack's memory
 *   smashed         zero, under one that would return: a return address that is lost
 *   born            zero, under a function that never returns and has not begun: what goes there waits
 *   hook            code that is told of the return, and goes on to where it was to go
 *
 * Build: gcc -g -O2 bottom.c
 */
#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>
#include "ready.h"

#define SIZE 65536

extern char finish[], hook[], unborn[], jumps[];
extern _Noreturn void begin(void *sp), begin_at(void *sp), bear(void *sp);

__asm__(".text\n"
        ".p2align 4\n"
        ".type begin, @function\n"
        "begin:\n"
        "\tmov %rdi, %rsp\n"
        "\txor %ebp, %ebp\n"
        "\tret\n"
        ".size begin, . - begin\n"

        ".p2align 4\n"
        ".type begin_at, @function\n"
        "begin_at:\n"
        "\tmov %rdi, %rsp\n"
        "\tlea 16(%rdi), %rbp\n"
        "\tret\n"
        ".size begin_at, . - begin_at\n"

        ".p2align 4\n"
        ".type bear, @function\n"
        "bear:\n"
        "\tmov %rdi, %rsp\n"
        "\tmov $34, %eax\n" // pause
        "\tsyscall\n"
        "\tret\n"
        ".size bear, . - bear\n"

        // A table covers all of one function, up to where the next one begins.
        ".p2align 4\n"
        ".type before, @function\n"
        "before:\n"
        "\t.cfi_startproc\n"
        "\tsub $24, %rsp\n"
        "\t.cfi_def_cfa_offset 32\n"
        "\tjmp *%rax\n"
        "\t.cfi_endproc\n"
        ".size before, . - before\n"
        ".type unborn, @function\n"
        "unborn:\n"
        "\t.cfi_startproc\n"
        "\tsub $8, %rsp\n"
        "\t.cfi_def_cfa_offset 16\n"
        "\tcall abort@PLT\n"
        "\t.cfi_endproc\n"
        ".size unborn, . - unborn\n"

        ".p2align 4\n"
        ".type jumps, @function\n"
        "jumps:\n"
        "\t.cfi_startproc\n"
        "\tpush %rbx\n"
        "\t.cfi_def_cfa_offset 16\n"
        "\tcall waits_there\n"
        "\tpop %rbx\n"
        "\t.cfi_def_cfa_offset 8\n"
        "\tjmp abort@PLT\n"
        "\t.cfi_endproc\n"
        ".size jumps, . - jumps\n"

        ".p2align 4\n"
        ".type plants, @function\n"
        "plants:\n"
        "\tlea finish(%rip), %rax\n"
        "\tret\n"
        "finish:\n"
        "\txor %edi, %edi\n"
        "\tcall _exit@PLT\n"
        "\thlt\n"
        ".size plants, . - plants\n"

        ".p2align 4\n"
        "\tnop\n"
        ".p2align 4\n"
        ".type hook, @function\n"
        "hook:\n"
        "\t.cfi_startproc\n"
        "\tsub $24, %rsp\n"
        "\tcall getpid@PLT\n"
        "\tadd $24, %rsp\n"
        "\tjmp *%rax\n"
        "\t.cfi_endproc\n"
        ".size hook, . - hook\n");

static NOINLINE void waits(void) {
    ready();
    block();
}

__attribute__((used)) NOINLINE void waits_there(void) {
    waits();
    __asm__ volatile("");
}

static NOINLINE void entry(void) {
    long local = 1;
    waits();
    KEEP(local);
}

static NOINLINE _Noreturn void ends(void) {
    waits();
    _exit(1);
}

static int is(const char *a, const char *b) {
    while (*a && *a == *b)
        a++, b++;
    return *a == *b;
}

int main(int argc, char **argv) {
    static ucontext_t here, there;
    const char *how = argc > 1 ? argv[1] : "";
    char *stack = mmap(0, 2 * SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    void **top = (void **)(stack + SIZE);
    arm();
    if (is(how, "ucontext") || is(how, "link")) {
        getcontext(&there);
        there.uc_stack.ss_sp = stack;
        there.uc_stack.ss_size = SIZE;
        there.uc_link = is(how, "link") ? &here : 0;
        makecontext(&there, entry, 0);
        swapcontext(&here, &there);
        return 0;
    }
    top[-2] = is(how, "zero") ? (void *)ends : is(how, "born") ? unborn : is(how, "jumps") || is(how, "top") ? jumps : (void *)entry;
    top[-1] = is(how, "finish") ? finish : is(how, "hook") ? hook : 0;
    if (is(how, "edge"))
        munmap(top, SIZE);
    if (is(how, "born")) {
        ready();
        bear(top - 2);
    }
    if (is(how, "top"))
        begin_at(top - 2);
    begin(top - 2);
}
