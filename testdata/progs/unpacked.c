/* unpacked: a program in memory of no file, with its headers and tables, as packers (UPX) leave it.
 *
 * Proves: modules that are known by an ELF header in memory. Puts copies of all its segments in their places, and blocks.
 *
 * Build: gcc -O2 -rdynamic unpacked.c
 */
#define _GNU_SOURCE
#include <elf.h>
#include <link.h>
#include <string.h>
#include <sys/mman.h>

#include "ready.h"

NOINLINE int replace(struct dl_phdr_info *info, size_t size, void *data) {
    const unsigned long page = 4095;
    (void)size, (void)data;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        unsigned long lo = (info->dlpi_addr + p->p_vaddr) & ~page;
        unsigned long length = ((info->dlpi_addr + p->p_vaddr + p->p_memsz + page) & ~page) - lo;
        if (p->p_type != PT_LOAD)
            continue;
        char *copy = mmap(0, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (copy == MAP_FAILED)
            _exit(4);
        memcpy(copy, (void *)lo, length);
        int access = (p->p_flags & PF_R ? PROT_READ : 0) | (p->p_flags & PF_W ? PROT_WRITE : 0) | (p->p_flags & PF_X ? PROT_EXEC : 0);
        if (mprotect(copy, length, access) || mremap(copy, length, length, MREMAP_MAYMOVE | MREMAP_FIXED, (void *)lo) == MAP_FAILED)
            _exit(5);
    }
    return 1; /* the program is the first of the files */
}

NOINLINE int inner(int n) {
    volatile char b[300];
    b[n] = 1;
    ready();
    block();
    return b[n];
}

NOINLINE int middle(int n) {
    volatile char b[900];
    b[2] = 3;
    return n > 1 ? middle(n - 1) + b[2] : inner(n) + b[2];
}

NOINLINE int outer(int n) {
    volatile char b[66];
    b[1] = middle(n);
    return b[1];
}

int main(int argc, char **argv) {
    (void)argv;
    arm();
    dl_iterate_phdr(replace, 0);
    return outer(argc + 1) == 77;
}
