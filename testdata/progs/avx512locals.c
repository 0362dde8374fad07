// A function whose variables are in registers that AVX-512 alone has, while it waits in read(2).
// argv: none.
#include <stdio.h>

typedef double v8 __attribute__((vector_size(64)));
typedef long v4 __attribute__((vector_size(32)));
typedef float v16 __attribute__((vector_size(64)));

__attribute__((noinline)) double waits(double x) {
	register double low asm("xmm20") = x + 2.5;
	register v8 wide asm("zmm31") = {x, x + 1, x + 2, x + 3, x + 4, x + 5, x + 6, x + 7};
	register v4 half asm("ymm17") = {1, -2, 3, -4};
	register v16 upper asm("zmm3") = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
	register unsigned long mask asm("k5") = 0xabcdef0123456789;
	char b;
	long n;
	do
		asm volatile("syscall" : "=a"(n), "+v"(low), "+v"(wide), "+v"(half), "+v"(upper), "+k"(mask) : "0"(0L), "D"(0L), "S"(&b), "d"(1L) : "rcx", "r11", "memory");
	while (n > 0);
	return low + wide[7] + half[1] + upper[15] + mask;
}

int main(void) {
	puts("ready");
	fflush(stdout);
	return waits(1) > 1000;
}
