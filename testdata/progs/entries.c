/* entries: an interpreter's functions, which are jumped to.
 *
 * Proves: in code that no file has, a return address need not follow a call
 * where the frame record leads to another good one.
 *   main > (interp x 4, in anonymous memory) > callback > block
 * Each interp pushes the address of interp_entry and jumps to the next, as
 * HotSpot's interpreter does; what follows interp_entry goes on through a table,
 * so that it does not tell the way back.
 *
 * Build: gcc -O2 entries.c
 */
#include "ready.h"
#include <string.h>
#include <sys/mman.h>

extern char interp_begin[], interp_end[];

__asm__(".text\n"
        ".globl interp_begin, interp_called, interp_entry, interp_end\n"
        "interp_begin:\n"
        "  push %rbp\n"
        "  mov %rsp, %rbp\n"
        "  push %rbx\n"
        "  push %r12\n"
        "  sub $32, %rsp\n"
        "  test %rdi, %rdi\n"
        "  jz 1f\n"
        "  dec %rdi\n"
        "  lea interp_entry(%rip), %rax\n"
        "  push %rax\n"
        "  jmp interp_begin\n"
        "1: call *%rsi\n"
        "interp_called:\n"
        "  movzbl (%r12), %eax\n"
        "  jmp *(%rbx,%rax,8)\n"
        "  ud2\n"
        "interp_entry:\n"
        "  movzbl 1(%r12), %eax\n"
        "  jmp *(%rbx,%rax,8)\n"
        "interp_end:\n");

static NOINLINE long callback(void) {
    long n = 1;
    ready();
    block();
    KEEP(n);
    return n;
}

int main(void) {
    char *page = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    arm();
    if (page == MAP_FAILED)
        return 1;
    memcpy(page + 256, interp_begin, interp_end - interp_begin);
    if (mprotect(page, 4096, PROT_READ | PROT_EXEC) != 0)
        return 1;
    return (int)((long (*)(long, long (*)(void)))(page + 256))(3, callback);
}
