/* requests THREADS SECONDS: so many threads that each create a thread for one request, and wait for it,
   again and again. A request takes a millisecond of its own processor time: a third in one_third(), the
   rest in two_thirds(). After SECONDS of the processors' time of the whole process, it prints how many
   requests there were. It prints a line when it begins. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double limit;
static long requests;
static volatile unsigned long sink;

static double spent(clockid_t clock)
{
	struct timespec t;
	clock_gettime(clock, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

static __attribute__((noipa)) void one_third(double end)
{
	while (spent(CLOCK_THREAD_CPUTIME_ID) < end)
		for (int i = 0; i < 2000; i++)
			sink += i;
}

static __attribute__((noipa)) void two_thirds(double end)
{
	while (spent(CLOCK_THREAD_CPUTIME_ID) < end)
		for (int i = 0; i < 2000; i++)
			sink ^= i;
}

static void *request(void *arg)
{
	double begin = spent(CLOCK_THREAD_CPUTIME_ID);
	one_third(begin + 0.001 / 3);
	two_thirds(begin + 0.001);
	return arg;
}

static void *listener(void *arg)
{
	while (spent(CLOCK_PROCESS_CPUTIME_ID) < limit) {
		pthread_t t;
		if (pthread_create(&t, NULL, request, NULL) || pthread_join(t, NULL))
			exit(1);
		__atomic_fetch_add(&requests, 1, __ATOMIC_RELAXED);
	}
	return arg;
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 1;
	pthread_t t[64];
	limit = argc > 2 ? atof(argv[2]) : 2;
	printf("ready\n");
	fflush(stdout);
	for (int i = 0; i < n && i < 64; i++)
		if (pthread_create(&t[i], NULL, listener, NULL))
			return 1;
	for (int i = 0; i < n && i < 64; i++)
		pthread_join(t[i], NULL);
	fprintf(stderr, "%ld requests\n", requests);
	return 0;
}
