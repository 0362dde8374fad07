/* A program without a C library that waits in a function to which two tail calls have led. */
#define NOINLINE __attribute__((noinline, noclone))

volatile long sink;

NOINLINE long wait_here(long n) {
    long r;
    __asm__ volatile("syscall" : "=a"(r) : "0"(34L) : "rcx", "r11", "memory"); /* pause */
    return r + n;
}

NOINLINE long respond(long n) {
    sink += 1;
    return wait_here(n + 1);
}

NOINLINE long dispatch(long n) {
    sink += 2;
    return respond(n + 2);
}

static inline __attribute__((always_inline)) long serve(long n) {
    long r = dispatch(n);
    __asm__ volatile("" : "+r"(r));
    return r + 3;
}

NOINLINE long run(long n) { return serve(n) + sink; }

void _start(void) {
    __asm__ volatile(".cfi_undefined rip\n\tand $-16, %%rsp" : : : "memory"); /* the outermost frame */
    run(sink);
    __builtin_trap();
}
