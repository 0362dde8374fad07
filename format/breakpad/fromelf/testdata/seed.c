static inline int twice(int x) { return x + x; }
int plain(int x) { return x + 1; }
void _start(void) { __asm__ volatile("" : : "r"(twice(plain(3)))); }
