/* A 32-bit program without a libc. */
static int call(int n, int a, const void *b, int c) {
    int r;
    __asm__ volatile("int $0x80" : "=a"(r) : "a"(n), "b"(a), "c"(b), "d"(c) : "memory");
    return r;
}

void _start(void) {
    char c;
    call(27, 120, 0, 0);          /* alarm */
    call(4, 1, "ready\n", 6);     /* write */
    while (call(3, 0, &c, 1) > 0) /* read */
        ;
    call(1, 0, 0, 0);             /* exit */
}
