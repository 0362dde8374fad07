// A program that dies by an instruction that only the kernel may execute, with numbers in all of ymm0 to ymm15: word k of register i
// is 0x100 * i + k + 1.
// argv: none.
#define SET(i) do { long v[4] = {0x100 * i + 1, 0x100 * i + 2, 0x100 * i + 3, 0x100 * i + 4}; \
	asm volatile("vmovdqu %0, %%ymm" #i :: "m"(v)); } while (0)

int main(void) {
	SET(0); SET(1); SET(2); SET(3); SET(4); SET(5); SET(6); SET(7);
	SET(8); SET(9); SET(10); SET(11); SET(12); SET(13); SET(14); SET(15);
	asm volatile("hlt");
}
