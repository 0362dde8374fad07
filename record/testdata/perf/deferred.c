/* deferred: two threads that compute, and that read and sleep in the kernel, each two to four calls deep; and one that sleeps until the end, so that it never
   comes back from the kernel. It keeps frame pointers, and needs no C library. For amd64. */
#include <asm/unistd.h>

static volatile unsigned long sink;
static volatile int ended;
static char zeroes[1 << 16], stacks[3][1 << 14];

__attribute__((noipa)) static long call(long number, long a, long b, long c)
{
	__asm__ volatile("syscall" : "+a"(number) : "D"(a), "S"(b), "d"(c) : "rcx", "r11", "memory");
	return number;
}

__attribute__((noipa)) static void nap(long seconds, long nanoseconds)
{
	long time[2] = {seconds, nanoseconds};
	call(__NR_nanosleep, (long)time, 0, 0);
	sink++;
}

__attribute__((noipa)) static void spin(void)
{
	for (int i = 0; i < 1000000; i++)
		sink += i;
}

__attribute__((noipa)) static void clear(void)
{
	long fd = call(__NR_open, (long)"/dev/zero", 0, 0);
	for (int i = 0; i < 50; i++)
		call(__NR_read, fd, (long)zeroes, sizeof zeroes);
	call(__NR_close, fd, 0, 0);
	sink++;
}

__attribute__((noipa)) static void deeper(int n)
{
	if (n > 0) {
		deeper(n - 1);
	} else {
		spin();
		clear();
		nap(0, 3000000);
	}
	sink++;
}

__attribute__((noipa)) static void work(void)
{
	for (int i = 0; i < 12; i++)
		deeper(i % 3);
	__sync_fetch_and_add(&ended, 1);
}

__attribute__((noipa)) static void wait(void)
{
	nap(1000, 0);
	sink++;
}

/* begin has a new thread call a function. */
__attribute__((noipa)) static void begin(void (*function)(void), char *stack)
{
	long result = __NR_clone;
	register void (*f)(void) __asm__("r8") = function;
	__asm__ volatile("syscall\n\t"
			 "test %%eax, %%eax\n\t"
			 "jnz 1f\n\t"
			 "xor %%ebp, %%ebp\n\t"
			 "call *%%r8\n\t"
			 "mov %3, %%eax\n\t"
			 "syscall\n"
			 "1:"
			 : "+a"(result)
			 : "D"(0x10f00L), "S"(stack), "i"(__NR_exit), "r"(f) /* CLONE_VM, _FS, _FILES, _SIGHAND, _THREAD */
			 : "rcx", "r11", "memory");
}

__attribute__((force_align_arg_pointer)) void _start(void)
{
	begin(wait, stacks[0] + sizeof stacks[0]);
	begin(work, stacks[1] + sizeof stacks[1]);
	begin(work, stacks[2] + sizeof stacks[2]);
	while (ended < 2)
		nap(0, 20000000);
	call(__NR_exit_group, 0, 0, 0);
}
