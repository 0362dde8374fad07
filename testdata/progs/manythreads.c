/* manythreads COUNT: so many threads, one after the other. Each fiftieth computes for some milliseconds, the others for next to no time. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static volatile unsigned long sink;

static __attribute__((noipa)) void moment(int rounds)
{
	for (int i = 0; i < rounds; i++)
		sink += i;
}

static void *run(void *arg)
{
	moment((long)arg % 50 ? 500 : 3000000);
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
