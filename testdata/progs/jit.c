/* jit: code that no file has.
 *
 * Proves: what is read of a process's memory to unwind such code goes into a
 * snapshot.
 *   main > (machine code in anonymous memory) > callback > block
 * The code keeps a frame pointer, as JIT compilers do for profilers.
 *
 * Build: gcc -g -O2 -Wa,--gsframe jit.c
 */
#include "ready.h"
#include <string.h>
#include <sys/mman.h>

static NOINLINE long callback(void) {
    long n = 1;
    ready();
    block();
    KEEP(n);
    return n;
}

int main(void) {
    static const unsigned char code[] = {
        0x55,             /* push %rbp */
        0x48, 0x89, 0xe5, /* mov %rsp, %rbp */
        0x48, 0x83, 0xec, 0x20, /* sub $32, %rsp */
        0xff, 0xd7,       /* call *%rdi */
        0xc9,             /* leave */
        0xc3,             /* ret */
    };
    long (*made)(long (*)(void));
    char *page = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    arm();
    if (page == MAP_FAILED)
        return 1;
    memcpy(page + 256, code, sizeof code);
    if (mprotect(page, 4096, PROT_READ | PROT_EXEC) != 0)
        return 1;
    made = (long (*)(long (*)(void)))(page + 256);
    return (int)made(callback);
}
