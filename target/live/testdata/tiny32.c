/* A 32-bit program without a libc. */
static int call(int n, int a, const void *b, int c) {
#ifdef __s390__
    register int number __asm__("1") = n, first __asm__("2") = a, third __asm__("4") = c;
    register const void *second __asm__("3") = b;
    __asm__ volatile("svc 0" : "+d"(first) : "d"(number), "d"(second), "d"(third) : "memory");
    return first;
#else
    int r;
    __asm__ volatile("int $0x80" : "=a"(r) : "a"(n), "b"(a), "c"(b), "d"(c) : "memory");
    return r;
#endif
}

void _start(void) {
    char c;
    call(27, 120, 0, 0);          /* alarm */
    call(4, 1, "ready\n", 6);     /* write */
    while (call(3, 0, &c, 1) > 0) /* read */
        ;
    call(1, 0, 0, 0);             /* exit */
}
