/* preinit MS: is busy for so many milliseconds of processor time before main, where the dynamic linker calls what the
 * program wants to be called first. */
#include <stdlib.h>
#include <time.h>

static void busy(int argc, char **argv)
{
	long end = argc > 1 ? atol(argv[1]) * (CLOCKS_PER_SEC / 1000) : 0;
	volatile long rounds = 0;
	while (rounds % 100000 || clock() < end)
		rounds++;
}

__attribute__((section(".preinit_array"), used)) static void (*first)(int, char **) = busy;

int main(void)
{
	return 0;
}
