int two(int);
volatile int sink;
static inline int square(int n) { sink = n; return n * n; }
static inline int sum(int n) {
    int s = 0;
    while (n > 0)
        s += square(n--);
    return s;
}
__attribute__((noinline)) int one(int n) { return sum(n) + two(n) + sink; }
__attribute__((cold, noinline)) int rare(int n) { return square(n) - 1; }
void _start(void) {
    sink = one(sink) > 5 ? rare(sink) : 0;
    for (;;)
        ;
}
