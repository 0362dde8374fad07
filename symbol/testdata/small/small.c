static inline __attribute__((always_inline)) int twice(int x) { __asm__ volatile("" : "+r"(x)); return 2 * x; }
__attribute__((cold, noinline)) static int rare(int x) { __asm__ volatile(""); return x - 1; }
int half(int x) { return x < 0 ? rare(x) : twice(x) / 2; }
int _start(void) { return twice(half(3)) + 1; }
