// What nap-amd64.snapshot is of: a process without a C library, in pause(2).
static long call(long n)
{
	long r;
	__asm__ volatile("syscall" : "=a"(r) : "a"(n) : "rcx", "r11", "memory");
	return r;
}

__attribute__((noinline)) static void nap(void)
{
	for (;;)
		call(34);
}

__attribute__((noinline)) static void outer(void)
{
	nap();
	__asm__ volatile("");
}

void _start(void) { outer(); }
