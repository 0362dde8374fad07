static volatile unsigned sink;

__attribute__((noinline)) static unsigned leaf(unsigned n) {
    unsigned s = 0;
    for (unsigned i = 0; i < n; i++) {
        s = s * 33 + i;
        s ^= s >> 3;
    }
    return s;
}

static inline unsigned twice(unsigned n) {
    unsigned s = leaf(n);
    sink += s;
    return s + leaf(n + 1);
}

__attribute__((noinline)) unsigned recurse(unsigned depth, unsigned n) {
    if (depth == 0)
        return twice(n);
    unsigned r = recurse(depth - 1, n);
    sink += r;
    return r + depth;
}

int main(void) {
    for (;;)
        sink += recurse(5, 100000);
}
