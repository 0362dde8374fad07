/* ready.h: how every test target starts, announces itself and ends.
 *
 * A target calls arm() first. It prints "ready\n" (ready()) once it is in the
 * state that the test wants to look at, and then stays there. It ends when its
 * standard input is closed (block(), or a thread of watch_stdin()), and after
 * 20 minutes in any case, so that none outlives a dead test.
 *
 * Everything is static and libc alone, so a target is one .c or .cc file.
 */
#ifndef SFWALK_READY_H
#define SFWALK_READY_H

#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#ifndef PR_SET_PTRACER
#define PR_SET_PTRACER 0x59616d61
#endif

#define NOINLINE __attribute__((noinline, noclone))

/* Keeps a call from becoming a tail call, and a value from being known. */
#define KEEP(x) __asm__ volatile("" : "+r"(x))
/* Makes the compiler save these registers in the prologue. */
#ifdef __i386__ /* has other registers, and three that a callee saves */
#define CLOBBER(...) __asm__ volatile("" ::: "ebx", "esi", "edi")
#elif defined __aarch64__
#define CLOBBER(...) __asm__ volatile("" ::: "x19", "x21", "x22")
#else
#define CLOBBER(...) __asm__ volatile("" ::: __VA_ARGS__)
#endif

/* Any debugger may attach, also where yama allows a parent only: gdb is a
 * sibling of the target, both are children of the test. */
static inline void arm(void) {
    prctl(PR_SET_PTRACER, -1L, 0, 0, 0);
    alarm(20 * 60);
}

static inline void ready(void) {
    if (write(1, "ready\n", 6) != 6)
        _exit(3);
}

/* Blocks in read(2) until standard input ends, then ends the process. As far
 * as the compiler knows it can return: else it would leave out all that
 * follows a call, in every caller. */
static NOINLINE __attribute__((unused)) void block(void) {
    char c;
    int end = 1;
    while (read(0, &c, 1) > 0)
        ;
    KEEP(end);
    if (end)
        _exit(0);
}

/* A decimal number; not strtol, whose newer symbol versions tie a binary to
 * a newer libc. */
static inline long number(const char *s) {
    long n = 0;
    while (*s >= '0' && *s <= '9')
        n = n * 10 + (*s++ - '0');
    return n;
}

#endif
