/* tramp: a trampoline that a run-time system has made, which jumps on.
 *
 * Proves: code of which nothing is known, and which jumps away with the stack as on entry.
 *   main > tramp_by > (code in anonymous memory)
 * The code stands in memory that is no file's: mov %rdi,%rax; mov 0x20(%rax),%rdi;
 * jmp *0x10(%rax), as mono makes it. The second mov reads a page that cannot be
 * read, and the fault's handler waits on a stack of its own.
 *
 * Build: gcc -O2 tramp.c
 */
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include "ready.h"

static const unsigned char code[] = {0x48, 0x89, 0xf8, 0x48, 0x8b, 0x78, 0x20, 0xff, 0x60, 0x10};

static char alternate[65536];

static void faulted(int sig) {
    (void)sig;
    ready();
    block();
}

NOINLINE long tramp_by(long (*volatile f)(void *), void *arg) {
    long n = f(arg);
    KEEP(n);
    return n;
}

int main(int argc, char **argv) {
    stack_t stack = {.ss_sp = alternate, .ss_size = sizeof alternate};
    struct sigaction act = {.sa_handler = faulted, .sa_flags = SA_ONSTACK};
    char *made = mmap(0, 65536, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    void *none = mmap(0, 65536, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    long n;

    (void)argc, (void)argv;
    arm();
    sigaltstack(&stack, 0);
    sigaction(SIGSEGV, &act, 0);
    memcpy(made + 4096, code, sizeof code);
    n = tramp_by((long (*)(void *))(made + 4096), none);
    KEEP(n);
    return 0;
}
