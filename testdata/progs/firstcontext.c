/* firstcontext: what the kernel's own walk along frame pointers meets: a context whose function nobody has called. Its return address is the first instruction of
   libc's function that goes on with the next context. Half of the processor time is spent there, half below main. */
#include <time.h>
#include <ucontext.h>

static volatile unsigned long sink;
static ucontext_t first, second;
static char stack[65536];

__attribute__((noipa)) void spin(void)
{
	struct timespec begun, t;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begun);
	do {
		for (int i = 0; i < 100000; i++)
			sink += i;
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	} while ((t.tv_sec - begun.tv_sec) * 1000000000L + t.tv_nsec - begun.tv_nsec < 150000000);
}

__attribute__((noipa)) void inside(void)
{
	spin();
	sink++;
}

__attribute__((noipa)) void outside(void)
{
	spin();
	sink++;
}

int main(void)
{
	getcontext(&second);
	second.uc_stack.ss_sp = stack;
	second.uc_stack.ss_size = sizeof stack;
	second.uc_link = &first;
	makecontext(&second, inside, 0);
	swapcontext(&first, &second);
	outside();
	return 0;
}
