/* naps: sleeps 20 ms in nap(), computes for a while in work(), again and again. */
#include <stdio.h>
#include <time.h>

static volatile unsigned long sink;

static __attribute__((noipa)) void nap(void)
{
	struct timespec t = { 0, 20000000 };
	nanosleep(&t, NULL);
	sink++;
}

static __attribute__((noipa)) void work(void)
{
	for (int i = 0; i < 2000000; i++)
		sink += i;
}

int main(void)
{
	puts("ready");
	fflush(stdout);
	for (;;) {
		nap();
		work();
	}
}
