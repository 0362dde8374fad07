/* made: the code of objects that registers.c puts into its memory.
 *
 * Each function keeps a stack frame of a size of its own and calls the next one of
 * a list, of which it gets the rest. Nothing here refers to another function or object.
 *
 * Build: gcc -c -g -O2 -ffunction-sections made.c
 *        gcc -g -O2 -nostdlib -static -no-pie -Wl,-e,first -Wl,-Ttext-segment=0x7000000000 made.c
 */
#define NOINLINE __attribute__((noinline, noclone))

#if defined __aarch64__
#define CLOBBER_MANY() __asm__ volatile("" ::: "x19", "x20", "x21", "x25", "x26")
#define CLOBBER_SOME() __asm__ volatile("" ::: "x19", "x28")
#elif defined __s390x__
#define CLOBBER_MANY() __asm__ volatile("" ::: "r6", "r7", "r8", "r9", "r10")
#define CLOBBER_SOME() __asm__ volatile("" ::: "r6", "r10")
#else
#define CLOBBER_MANY() __asm__ volatile("" ::: "rbx", "r12", "r13", "r14", "r15")
#define CLOBBER_SOME() __asm__ volatile("" ::: "rbx", "rbp")
#endif

union step {
    long (*call)(union step *next, long n);
};

NOINLINE long first(union step *next, long n) {
    volatile long room[3] = {n};
    long r = next->call(next + 1, n + 1);
    room[1] = r;
    return room[0] + r;
}

static inline __attribute__((always_inline)) long inlined(union step *next, long n) {
    __asm__ volatile("" : "+r"(next), "+r"(n)); /* nothing of it goes before its entry */
    long r = next->call(next + 1, n * 2);
    __asm__ volatile("" : "+r"(r));
    return r + n;
}

NOINLINE long second(union step *next, long n) {
    volatile char room[200];
    CLOBBER_MANY();
    room[n & 63] = 1;
    return inlined(next, n + 1) + room[n & 63];
}

NOINLINE long third(union step *next, long n) {
    CLOBBER_SOME();
    return next->call(next + 1, n) + n;
}
