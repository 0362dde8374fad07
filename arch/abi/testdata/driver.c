// Calls functions as standard input says, and writes to standard output what they were given and
// what they left behind. A processor's part, which comes first, has call_enter and call_returned.
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#if __SIZEOF_POINTER__ == 4
#define BASE 0x20000000
#else
#define BASE 0x200000000
#endif
typedef unsigned long long word;
struct block {
	word gpr[32];
	unsigned char vec[1024];
	unsigned char st[32];
};
struct block in, out;
unsigned char fxsave[512] __attribute__((aligned(16)));
void *saved_sp;
#ifdef __cplusplus
extern "C"
#endif
void call_enter(void *function);
unsigned char record[1 << 16], *at = record, result[1 << 16];
#define PUT(x) (__builtin_memcpy(at, &(x), sizeof(x)), at += sizeof(x))
#define RESULT(x) __builtin_memcpy(&(x), result, sizeof(x))

static void read_all(void *p, word n) { if (n && fread(p, n, 1, stdin) != 1) __builtin_trap(); }

int main(void)
{
	struct { word function, stack, stack_size, memory, memory_size, result_size; } h;
	char *base = (char *)BASE;
	if (mmap(base, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != base)
		return 1;
	while (fread(&h, sizeof h, 1, stdin) == 1) {
		word n;
		memset(base, 0xa5, 1 << 20);
		read_all(&in, sizeof in);
		read_all((void *)(unsigned long)h.stack, h.stack_size);
		read_all(result, h.result_size);
		at = record;
		call_enter((void *)(unsigned long)h.function);
		memcpy(out.st, fxsave + 32, 32);
		n = at - record;
		fwrite(&n, sizeof n, 1, stdout);
		fwrite(record, 1, n, stdout);
		fwrite(&out, sizeof out, 1, stdout);
		fwrite((void *)(unsigned long)h.memory, 1, h.memory_size, stdout);
		fflush(stdout);
	}
	return 0;
}
