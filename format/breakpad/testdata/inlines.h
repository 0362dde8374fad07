static inline __attribute__((always_inline)) int once(int n) {
	return n ^ (n >> 3);
}

static inline __attribute__((always_inline)) int twice(int n) {
	return once(n) + once(n + 1);
}
