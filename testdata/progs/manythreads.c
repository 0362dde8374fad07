/* manythreads COUNT: so many threads, one after the other. Each fiftieth computes for four milliseconds of its processor time, the others for next to no time. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static volatile unsigned long sink;

static long spent(void)
{
	struct timespec t;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec * 1000000000L + t.tv_nsec;
}

static __attribute__((noipa)) void moment(long ns)
{
	do
		for (int i = 0; i < 20000; i++)
			sink += i;
	while (spent() < ns);
}

static void *run(void *arg)
{
	moment((long)arg % 50 ? 0 : 4000000);
	return arg;
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 10000;
	for (int i = 0; i < n; i++) {
		pthread_t t;
		if (pthread_create(&t, NULL, run, (void *)(long)i) || pthread_join(t, NULL))
			return 1;
	}
	return 0;
}
