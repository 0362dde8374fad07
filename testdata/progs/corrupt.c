/* corrupt: stacks that are broken on purpose.
 *
 * Proves: the unwinder ends with the right stop reason and never loops.
 *
 *   corrupt HOW
 *     smashed    the return address of victim is an address that is not mapped
 *     data       ... is the address of a variable (mapped, not executable)
 *     zeroed     ... and the words around it are 0
 *     cycle      the saved frame pointer of victim points to its own frame
 *     inward     ... to a frame further in
 *     unreadable ... to memory that is not mapped
 *     handmade   sp points into a page of its own, with no outer frame at all
 *
 *   main > caller > victim > leaf > block      (before the damage)
 * The last four need the frame pointer to matter: build them with
 * -fno-omit-frame-pointer and look with the fp sniffer alone.
 *
 * Build: gcc -g -O2 -fno-omit-frame-pointer -Wa,--gsframe corrupt.c
 */
#define _GNU_SOURCE
#include <string.h>
#include <sys/mman.h>

#include "ready.h"

volatile long sink;
static long variable[4];

NOINLINE long leaf(long n) {
    ready();
    block();
    KEEP(n);
    return n;
}

NOINLINE long victim(const char *how) {
    /* rbp[0] is the saved frame pointer, rbp[1] the return address. */
    volatile long *rbp = (volatile long *)__builtin_frame_address(0);
    volatile long local[4] = {1, 2, 3, 4};
    if (!strcmp(how, "smashed"))
        rbp[1] = 0x4141414141414141;
    else if (!strcmp(how, "data"))
        rbp[1] = (long)&variable[1];
    else if (!strcmp(how, "zeroed"))
        rbp[0] = rbp[1] = rbp[2] = 0;
    else if (!strcmp(how, "cycle"))
        rbp[0] = (long)rbp;
    else if (!strcmp(how, "inward"))
        rbp[0] = (long)rbp - 64;
    else if (!strcmp(how, "unreadable"))
        rbp[0] = 0x10;
    else if (!strcmp(how, "handmade")) {
        char *page = (char *)mmap(0, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        long *top = (long *)(page + 8192);
        __asm__ volatile("mov %0, %%rsp\n\txor %%ebp, %%ebp\n\tmov $1, %%edi\n\tcall leaf\n\thlt" ::"r"(top)
                         : "memory", "rdi");
    }
    long r = leaf(local[1]);
    KEEP(r);
    return r + local[2];
}

NOINLINE long caller(const char *how) {
    long r = victim(how);
    KEEP(r);
    return r + 1;
}

int main(int argc, char **argv) {
    arm();
    if (argc != 2)
        return 2;
    sink = caller(argv[1]);
    return 0;
}
