/* chains [ROUNDS]: what the kernel's own walk along frame pointers meets. Half of its processor time is spent below 300 calls of deep(), which are more than the
   kernel looks for; half in a signal's handler, which returns to a trampoline that nobody has called. */
#include <signal.h>
#include <stdlib.h>
#include <time.h>

static volatile unsigned long sink;

__attribute__((noipa)) void spin(void)
{
	struct timespec begun, t;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begun);
	do {
		for (int i = 0; i < 100000; i++)
			sink += i;
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	} while ((t.tv_sec - begun.tv_sec) * 1000000000L + t.tv_nsec - begun.tv_nsec < 50000000);
}

__attribute__((noipa)) void deep(int n)
{
	if (n > 1)
		deep(n - 1);
	else
		spin();
	sink++;
}

__attribute__((noipa)) void handler(int sig)
{
	spin();
	sink += sig;
}

__attribute__((noipa)) void interrupted(void)
{
	raise(SIGUSR1);
	sink++;
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 6;
	signal(SIGUSR1, handler);
	for (int i = 0; i < rounds; i++) {
		deep(300);
		interrupted();
	}
	return 0;
}
