/* textcopy: HOW: runs code of its own in other memory than the file was mapped to.
 *
 * all      its code is copied to anonymous memory, which takes the place of the code
 * memory   like all, in shared memory that has a name (memfd_create)
 * middle   all of it but the first page
 * changed  like all, and most of the copy's bytes, which are never run, are others than the file's
 * twice    leaf() and its callers run where the program has mapped its own file once more
 * none     leaves its code where it is
 *
 * Proves: code in memory that no file has, which is a file's all the same; a part of a file that is mapped once more.
 *   main > outer > middle > leaf
 *
 * Build: gcc -g -O2 textcopy.c
 */
#define _GNU_SOURCE
#include "ready.h"
#include <fcntl.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>

enum { PAGE = 4096, UNUSED = 16 * PAGE };

/* Code that is never run, so that the rest has pages of its own. */
__asm__(".text\n.balign 4096\nunused:\n.fill 65536, 1, 0x90\n");
extern char unused[] __attribute__((visibility("hidden")));

/* Waits for the end of standard input, without the procedure linkage table: it works wherever it is mapped. */
NOINLINE static long leaf(long x) {
    volatile long y = x;
    char c;
    long n;
    do
        __asm__ volatile("syscall" : "=a"(n) : "0"(SYS_read), "D"(0), "S"(&c), "d"(1) : "rcx", "r11", "memory");
    while (n > 0);
    return y + 1;
}

NOINLINE static long middle(long x) {
    volatile long z[9] = {x};
    CLOBBER("rbx", "r12");
    z[3] = leaf(z[0] + 1);
    return z[3] + 1;
}

NOINLINE static long outer(long x) {
    long r = middle(x * 2);
    KEEP(r);
    return r + 1;
}

static uintptr_t lo, hi, offset; /* of the program's code, and where it is in the file */

static int find(struct dl_phdr_info *info, size_t size, void *data) {
    (void)size, (void)data;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        if (p->p_type == PT_LOAD && p->p_flags & PF_X) {
            lo = (info->dlpi_addr + p->p_vaddr) & -PAGE;
            hi = (info->dlpi_addr + p->p_vaddr + p->p_memsz + PAGE - 1) & -PAGE;
            offset = p->p_offset & -PAGE;
        }
    }
    return 1; /* the program is the first */
}

static void fail(const char *what) {
    perror(what);
    exit(1);
}

/* Puts a copy where the code is. It lies in memory that memfd_create makes. */
static void copy_named(void) {
    size_t n = hi - lo;
    int fd = memfd_create("copy", 0);
    if (fd < 0 || write(fd, (void *)lo, n) != (ssize_t)n || mmap((void *)lo, n, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED, fd, 0) == MAP_FAILED)
        fail("memfd");
    close(fd);
}

static void copy(uintptr_t from, int change) {
    size_t n = hi - from;
    char *to = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (to == MAP_FAILED)
        fail("mmap");
    memcpy(to, (void *)from, n);
    if (change)
        memset(to + ((uintptr_t)unused - from), 0xcc, UNUSED);
    if (mprotect(to, n, PROT_READ | PROT_EXEC))
        fail("mprotect");
    if (mremap(to, n, n, MREMAP_MAYMOVE | MREMAP_FIXED, (void *)from) == MAP_FAILED)
        fail("mremap");
}

int main(int argc, char **argv) {
    const char *how = argc > 1 ? argv[1] : "all";
    long (*run)(long) = outer;
    arm();
    dl_iterate_phdr(find, NULL);
    if (!strcmp(how, "all"))
        copy(lo, 0);
    else if (!strcmp(how, "memory"))
        copy_named();
    else if (!strcmp(how, "changed"))
        copy(lo, 1);
    else if (!strcmp(how, "middle"))
        copy(lo + PAGE, 0);
    else if (!strcmp(how, "twice")) {
        int fd = open("/proc/self/exe", O_RDONLY);
        char *again = mmap(NULL, hi - lo, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, offset);
        if (again == MAP_FAILED)
            fail("mmap");
        close(fd);
        run = (long (*)(long))(again + ((uintptr_t)outer - lo));
    }
    ready();
    return run(argc) == 0;
}
