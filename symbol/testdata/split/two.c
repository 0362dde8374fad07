extern volatile int sink;
static inline int half(int n) { return n / 2 + sink; }
__attribute__((noinline)) int two(int n) { return half(n) * half(n + sink); }
__attribute__((noinline)) int odd(int n) { return n % 2 ? half(n) : sink; }
