/* A program that needs no library: it computes ten calls deep, for ever. */
static volatile unsigned long sink;

static __attribute__((noipa)) unsigned long work(unsigned long x)
{
	for (int i = 0; i < 1000000; i++) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
	}
	return x;
}

static __attribute__((noipa)) unsigned long deeper(int depth)
{
	volatile char room[64];
	room[depth] = 1;
	if (depth > 0)
		return deeper(depth - 1) + room[depth];
	return work(88172645463325252UL) + room[depth];
}

__attribute__((noreturn)) void _start(void)
{
	for (;;)
		sink += deeper(10);
}
