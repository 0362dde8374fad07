/* rawclone: threads of a C library whose clone has no tables, as musl's.
 *
 * Proves: the end of a thread's stack in code that pops the thread's argument, calls its function and ends the thread.
 * In another one, the call is the last instruction.
 *   waits > thread > clones, or > clones_last
 *
 * Build: gcc -O2 -static rawclone.c
 */
#define _GNU_SOURCE
#include <sched.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "ready.h"

#define FLAGS (CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM)

/* long clones(void *function, void *stack, void *argument); */
#define CLONES(name, end)                                                                                              \
    __asm__(".text\n.globl " name "\n.type " name ", @function\n" name ":\n"                                           \
            "\tmov %rdi, %r9\n"                                                                                        \
            "\tand $-16, %rsi\n\tsub $8, %rsi\n\tmov %rdx, (%rsi)\n"                                                   \
            "\tmov $0x50f00, %edi\n\txor %edx, %edx\n\txor %r10d, %r10d\n\txor %r8d, %r8d\n"                           \
            "\tmov $56, %eax\n\tsyscall\n\ttest %eax, %eax\n\tjnz 1f\n"                                                \
            "\txor %ebp, %ebp\n\tpop %rdi\n\tcall *%r9\n" end "1:\tret\n.size " name ", . - " name "\n")

CLONES("clones", "\tmov %eax, %edi\n\txor %eax, %eax\n\tmov $60, %al\n\tsyscall\n\thlt\n");
CLONES("clones_last", "\thlt\n");

long clones(void *function, void *stack, void *argument);
long clones_last(void *function, void *stack, void *argument);

static volatile int waiting;

NOINLINE void waits(void) {
    for (;;)
        syscall(SYS_pause);
}

NOINLINE void thread(void *argument) {
    __sync_fetch_and_add(&waiting, (int)(intptr_t)argument);
    waits();
    __asm__ volatile("");
}

int main(void) {
    enum { SIZE = 1 << 16 };
    arm();
    clones(thread, (char *)malloc(SIZE) + SIZE, (void *)1);
    clones_last(thread, (char *)malloc(SIZE) + SIZE, (void *)1);
    while (waiting < 2)
        usleep(100);
    ready();
    block();
}
