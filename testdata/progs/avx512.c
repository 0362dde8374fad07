// A program with numbers in all registers of AVX-512: word k of vector register i is 0x100 * i + k + 1, mask i is
// 0xabcd000000000000 + i.
// argv: [crash]. It waits in read(2), and says at the end whether the registers are still the same. With crash it dies instead,
// by an instruction that only the kernel may execute.
#include <stdio.h>
#include <string.h>

#ifdef __x86_64__
enum { VECTORS = 32 };
#define MORE(f) f(8) f(9) f(10) f(11) f(12) f(13) f(14) f(15) f(16) f(17) f(18) f(19) f(20) f(21) f(22) f(23) f(24) f(25) \
	f(26) f(27) f(28) f(29) f(30) f(31)
#define READ(n, to) asm volatile("syscall" : "=a"(n) : "0"(0L), "D"(0L), "S"(to), "d"(1L) : "rcx", "r11", "memory")
#else
enum { VECTORS = 8 };
#define MORE(f)
#define READ(n, to) asm volatile("int $0x80" : "=a"(n) : "0"(3L), "b"(0L), "c"(to), "d"(1L) : "memory")
#endif
#define MASKS(f) f(0) f(1) f(2) f(3) f(4) f(5) f(6) f(7)
#define EACH(f) MASKS(f) MORE(f)

static unsigned long long vectors[32][8], masks[8], seen[32][8], seenMasks[8];

#define LOAD(i) asm volatile("vmovdqu64 %0, %%zmm" #i :: "m"(vectors[i]));
#define LOADMASK(i) asm volatile("kmovq %0, %%k" #i :: "m"(masks[i]));
#define STORE(i) asm volatile("vmovdqu64 %%zmm" #i ", %0" : "=m"(seen[i]));
#define STOREMASK(i) asm volatile("kmovq %%k" #i ", %0" : "=m"(seenMasks[i]));
#define CHANGE(i) asm volatile("vpternlogd $255, %zmm" #i ", %zmm" #i ", %zmm" #i);
#define CHANGEMASK(i) asm volatile("kxnorq %k" #i ", %k" #i ", %k" #i);

int change(int x) {
	EACH(CHANGE)
	MASKS(CHANGEMASK)
	return x + 1;
}

int main(int argc, char **argv) {
	long n;
	char b;
	for (int i = 0; i < VECTORS; i++)
		for (int k = 0; k < 8; k++)
			vectors[i][k] = 0x100 * i + k + 1;
	for (int i = 0; i < 8; i++)
		masks[i] = 0xabcd000000000000 + i;
	puts("ready");
	fflush(stdout);
	EACH(LOAD)
	MASKS(LOADMASK)
	if (argc > 1)
		asm volatile("hlt");
	do
		READ(n, &b);
	while (n > 0);
	EACH(STORE)
	MASKS(STOREMASK)
	puts(memcmp(vectors, seen, sizeof seen) || memcmp(masks, seenMasks, sizeof masks) ? "changed" : "same");
	return 0;
}
