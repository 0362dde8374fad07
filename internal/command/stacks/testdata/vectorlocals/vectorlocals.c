/* vectorlocals: it dies with vectors of three sizes, and AVX-512's masks, in registers. It needs no C library. For amd64 and 32-bit x86, with AVX-512. */
typedef int v4 __attribute__((vector_size(16)));
typedef int v8 __attribute__((vector_size(32)));
typedef int v16 __attribute__((vector_size(64)));

__attribute__((noipa)) static void dies(void)
{
	register v4 x __asm__("xmm3") = {31, 32, 33, 34};
	register v8 y __asm__("ymm5") = {51, 52, 53, 54, 55, 56, 57, 58};
	register v16 z __asm__("zmm7") = {71, 72, 73, 74, 75, 76, 77, 78, 79, 710, 711, 712, 713, 714, 715, 716};
	register unsigned short k __asm__("k3") = 12345;
#ifdef __x86_64__
	register v16 u __asm__("zmm21") = {211, 212, 213, 214, 215, 216, 217, 218, 219, 2110, 2111, 2112, 2113, 2114, 2115, 2116};
	register unsigned long long l __asm__("k5") = 1234567890123456789;
	__asm__ volatile("" :: "v"(u), "k"(l));
#endif
	__asm__ volatile("hlt" :: "v"(x), "v"(y), "v"(z), "k"(k));
}

void _start(void)
{
	dies();
}
