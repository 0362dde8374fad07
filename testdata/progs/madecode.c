/* madecode: code that a run-time system has made, without tables, in memory of no file.
 *
 * Proves: which of several guesses at such code is the best.
 *   main > depth > depth > depth > depth > framed > (the code) > waits
 * framed keeps a frame pointer, depth and main keep none. The argument says which code. Some
 * leaves by a jump, so that nothing before tells of its way out.
 *   shared  a routine of several functions sets up the frame, another one takes it down
 *   stale   the innermost words of the frame are old return addresses
 *   kept    the frame pointer is framed's
 *   top     one word is pushed, and the frame pointer is used for something else
 *   deep    as top, with more words; through calls enter, which jumps to the code, instead of framed
 *   endless it never returns, and within an aligned number are bytes that would set up a frame record
 *
 * Build: gcc -O1 -no-pie madecode.c
 */
#define _GNU_SOURCE
#include <string.h>
#include <sys/mman.h>
#include "ready.h"

NOINLINE void waits(void) {
    ready();
    block();
}

NOINLINE void leaves(void) { __asm__ volatile("" ::: "memory"); }

extern char code[], shared[], stale[], kept[], top[], deep[], endless[], code_end[];
__asm__(".text\n.balign 64\ncode:\n"
        ".balign 64\nshared:\n"
        "mov $0x80,%ebx\n call 3f\n .rept 6\n push %rax\n .endr\n"
        "movabs $waits,%rcx\n mov %rcx,-0x40(%rbp)\n call *%rcx\n"
        "mov %rax,-0x30(%rbp)\n mov $1,%ebx\n jmp 4f\n"
        ".balign 64\n3: pop %r10\n push %rbp\n mov %rsp,%rbp\n push %rsi\n push %rdi\n"
        "push %r12\n push %rbx\n push %r13\n jmp *%r10\n"
        ".balign 64\n4: mov %rbp,%rsp\n pop %rbp\n pop %r8\n lea (%rsp,%rbx,8),%rsp\n push %r8\n ret\n"
        ".balign 64\nstale:\n"
        "push %rbp\n mov %rsp,%rbp\n push %rax\n push %rax\n"
        "movabs $leaves,%rcx\n call *%rcx\n sub $8,%rsp\n sub $8,%rsp\n"
        "movabs $waits,%rcx\n call *%rcx\n"
        "mov -8(%rbp),%rdx\n test %rdx,%rdx\n jns 5f\n add $8,%rsp\n ret\n"
        "5: mov %rbp,%rsp\n pop %rbp\n ret\n"
        ".balign 64\nkept:\n"
        "push %rbx\n movabs $waits,%rcx\n call *%rcx\n pop %rbx\n ret\n"
        ".balign 64\ntop:\n"
        "push %rbp\n lea 6f(%rip),%rdx\n jmp *%rdx\n ud2\n .balign 64\n"
        "6: mov $1,%ebp\n movabs $waits,%rcx\n call *%rcx\n mov (%rsp),%rbp\n jmp *%rax\n"
        ".balign 64\ndeep:\n"
        "push %rbp\n lea 7f(%rip),%rdx\n push %rdx\n push $0\n push $0\n push $0\n jmp *%rdx\n ud2\n .balign 64\n"
        "7: mov $1,%ebp\n movabs $waits,%rcx\n call *%rcx\n add $32,%rsp\n mov (%rsp),%rbp\n jmp *%rax\n"
        ".balign 64\nendless:\n"
        "sub $8,%rsp\n mov %r15,(%rsp)\n mov %rdi,%r15\n .rept 320\n nop\n .endr\n"
        "movabs $0x55a9c8b62388,%rax\n test $1,%eax\n"
        "8: movabs $waits,%rcx\n call *%rcx\n jmp 8b\n"
        ".balign 64\ncode_end:\n"
        ".globl enter\n.type enter,@function\nenter: jmp *%rdi\n.size enter,.-enter\n");

typedef void (*function)(void);
static volatile long n;

NOINLINE __attribute__((optimize("no-omit-frame-pointer"))) void framed(function f) {
    f();
    n++;
}

void enter(function f);

NOINLINE __attribute__((optimize("omit-frame-pointer"))) void through(function f) {
    enter(f);
    n++;
}

static int deeply;

NOINLINE __attribute__((optimize("omit-frame-pointer"))) long depth(int d, function f) {
    if (d > 0)
        return depth(d - 1, f) + 1;
    if (deeply)
        through(f);
    else
        framed(f);
    return n;
}

int main(int argc, char **argv) {
    static const struct {
        const char *name;
        char *code;
    } codes[] = {{"shared", shared}, {"stale", stale}, {"kept", kept}, {"top", top}, {"deep", deep}, {"endless", endless}};
    char *made = mmap(0, 65536, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    long n = 0;

    arm();
    deeply = argc > 1 && !strcmp(argv[1], "deep");
    memcpy(made + 64, code, code_end - code);
    for (unsigned i = 0; argc > 1 && i < sizeof codes / sizeof *codes; i++)
        if (!strcmp(argv[1], codes[i].name))
            n += depth(3, (function)(made + 64 + (codes[i].code - code)));
    return n;
}
