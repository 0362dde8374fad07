/* mapfile: code in a file that is no ELF file, as virtual machines map it.
 *
 * Proves: such a file is nothing to warn about.
 *   main > (machine code in the file) > callback > block
 * The code keeps a frame pointer. Usage: mapfile PATH keeps the file, mapfile PATH -
 * deletes it once it is mapped, and mapfile - maps the second page of one that has
 * no name.
 *
 * Build: gcc -g -O2 -Wa,--gsframe mapfile.c
 */
#define _GNU_SOURCE
#include "ready.h"
#include <fcntl.h>
#include <sys/mman.h>

static NOINLINE long callback(void) {
    long n = 1;
    ready();
    block();
    KEEP(n);
    return n;
}

int main(int argc, char **argv) {
    static const unsigned char code[] = {
        0x4d, 0x5a, 0x90, 0x00, /* pop %r10; nop; ... as a PE file begins */
        0x55,                   /* push %rbp */
        0x48, 0x89, 0xe5,       /* mov %rsp, %rbp */
        0x48, 0x83, 0xec, 0x20, /* sub $32, %rsp */
        0xff, 0xd7,             /* call *%rdi */
        0xc9,                   /* leave */
        0xc3,                   /* ret */
    };
    long (*made)(long (*)(void));
    char *page;
    off_t at = 0;
    int fd;

    arm();
    if (argc < 2)
        return 1;
    if (argv[1][0] == '-') {
        fd = memfd_create("code", 0);
        at = 4096;
    } else
        fd = open(argv[1], O_RDWR | O_CREAT | O_TRUNC, 0600);
    if (fd < 0 || pwrite(fd, code, sizeof code, at) != sizeof code || ftruncate(fd, at + 4096) != 0)
        return 1;
    page = mmap(0, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, at);
    close(fd);
    if (page == MAP_FAILED || argc > 2 && unlink(argv[1]) != 0)
        return 1;
    made = (long (*)(long (*)(void)))(page + 4);
    return made(callback) == 0;
}
