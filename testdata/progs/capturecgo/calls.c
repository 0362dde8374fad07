#include "calls.h"
#include "_cgo_export.h"
#include <pthread.h>

__attribute__((noinline)) static void c_inner(int n)
{
	volatile char here[100];
	here[n] = 1;
	goCallback(n);
	here[n]++;
}

__attribute__((noinline)) void c_outer(int n)
{
	volatile int after = 1;
	c_inner(n);
	after++;
}

static void *c_run(void *p)
{
	c_outer(0);
	return p;
}

/* A thread of C's calls Go. */
void c_thread(void)
{
	pthread_t t;
	if (pthread_create(&t, 0, c_run, 0) == 0)
		pthread_join(t, 0);
}
