/* entrycalled: an ordinary function is the entry point of its file, and calls and is called as often as others.
 *
 * LIBRARY: a library, whose entry point is borrowed(), which calls back
 * else, USES_LIBRARY: a program that uses it: main > outer > (borrowed > back) three times
 * else: a program without libc, whose entry point begin() is called once more from within:
 *   begin > between > begin > between > begin
 *
 * Proves: an entry point ends the stack only where the kernel has entered it, with an aligned SP (so no SSE). No file here has tables.
 *
 * Build: gcc -O2 -fno-asynchronous-unwind-tables -fPIC -shared -nostdlib -DLIBRARY -Wl,-e,borrowed -o libentry.so entrycalled.c
 *        gcc -O2 -DUSES_LIBRARY entrycalled.c libentry.so
 *        gcc -O2 -fno-asynchronous-unwind-tables -nostdlib -static -mno-sse -Wl,-e,begin entrycalled.c
 */
#ifdef LIBRARY
void borrowed(void (*back)(int), int n) {
    volatile char room[40];
    room[0] = (char)n;
    back(n);
    room[1] = 2;
}
#elif defined USES_LIBRARY
#include "ready.h"

void borrowed(void (*back)(int), int n);

NOINLINE static void back(int n) {
    if (n) {
        borrowed(back, n - 1);
    } else {
        ready();
        block();
    }
    KEEP(n);
}

NOINLINE static void outer(int n) {
    borrowed(back, n);
    KEEP(n);
}

int main(void) {
    arm();
    outer(2);
    return 0;
}
#else
static long call3(long number, long a, const void *b, long c) {
#ifdef __x86_64__
    long r;
    __asm__ volatile("syscall" : "=a"(r) : "0"(number), "D"(a), "S"(b), "d"(c) : "rcx", "r11", "memory");
    return r;
#else
#error "no system calls of this processor are known here"
#endif
}

enum { READ = 0, WRITE = 1, EXIT = 60 };

void begin(long n);

__attribute__((noinline, noclone)) static void between(long n) {
    volatile long room[3] = {n};
    begin(n + 1);
    room[1] = 1;
}

/* The kernel begins a program with zeros in its registers. */
__attribute__((noinline, noclone)) void begin(long n) {
    volatile char c;
    if (n < 2) {
        between(n);
        c = 1;
    } else {
        call3(WRITE, 1, "ready\n", 6);
        while (call3(READ, 0, (const void *)&c, 1) > 0)
            ;
        call3(EXIT, 0, 0, 0);
    }
}
#endif
