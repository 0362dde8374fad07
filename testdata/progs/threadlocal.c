// Threads with variables of their own: of the program, of a library that it is linked with, and of one that it loads. Beside each
// variable, where_NAME is its address, as the thread itself has taken it.
//
// LIBRARY builds the first library, LOADED the second; with ALONE there are none, with SINGLE there is one thread. Without an
// argument, the program prints "ready" when its threads are where they stay, and waits for the end of its standard input. With an
// argument, it aborts.
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#define KEEP(x) __asm__ volatile("" : : "r"(&(x)) : "memory")
typedef void step(int);
typedef void enter(step *, int);

#ifdef LIBRARY
__thread int of_first[3] = {1, 2, 3};

void in_library(step *then, int n)
{
	static __thread long number = 2000;
	static __thread char zeros[200] __attribute__((aligned(64)));
	long *where_number = &number;
	char *where_zeros = zeros;
	int *where_of_first = of_first;

	number += n + of_first[0];
	zeros[3] = 'l';
	KEEP(where_number);
	KEEP(where_zeros);
	KEEP(where_of_first);
	then(n);
	number++;
}

#elif defined LOADED
__thread int of_second = 7;

void in_loaded(step *then, int n)
{
	static __thread long long number = 3000;
	static __thread short zeros[50];
	long long *where_number = &number;
	short *where_zeros = zeros;
	int *where_of_second = &of_second;

	number += n + of_second;
	zeros[3] = 77;
	KEEP(where_number);
	KEEP(where_zeros);
	KEEP(where_of_second);
	then(n);
	number++;
}

void idle_in_loaded(step *then, int n)
{
	static __thread int never = 5;

	then(n);
	if (n == 99)
		KEEP(never);
}

#else
#ifdef SINGLE
#define THREADS 1
#else
#define THREADS 3
#endif

static pthread_barrier_t there;
static int dies, arrived;

__attribute__((noinline)) static void stop(int n)
{
	char c;

	pthread_barrier_wait(&there);
	if (n == 0) {
		if (dies) {
			// An emulator dumps registers of threads that run as they were at some earlier time: they must not run.
			while (__atomic_load_n(&arrived, __ATOMIC_SEQ_CST) < THREADS - 1)
				usleep(1000);
			usleep(200000);
			abort();
		}
		if (write(1, "ready\n", 6) != 6)
			exit(3);
		while (read(0, &c, 1) > 0)
			;
		exit(0);
	}
	__atomic_add_fetch(&arrived, 1, __ATOMIC_SEQ_CST);
	for (;;)
		pause();
}

static enter *loaded, *idle;

#ifndef ALONE
void in_library(step *then, int n);

static void of_loaded(int n)
{
	(n == 0 ? idle : loaded)(stop, n);
	KEEP(n);
}

static void of_library(int n)
{
	in_library(of_loaded, n);
	KEEP(n);
}
#else
static void of_library(int n)
{
	stop(n);
	KEEP(n);
}
#endif

__thread char of_program = 'b';
__thread int number = 1000;
__thread struct { int a[5]; } zeros __attribute__((aligned(ALIGNED)));

static void *run(void *arg)
{
	static __thread short own = 12;
	int n = *(int *)arg;
	int *where_number = &number;
	void *where_zeros = &zeros;
	short *where_own = &own;
	char *where_of_program = &of_program;

	of_program += n;
	number += n;
	zeros.a[2] = 6;
	own += n;
	KEEP(where_number);
	KEEP(where_zeros);
	KEEP(where_own);
	KEEP(where_of_program);
	of_library(n);
	return where_own;
}

int main(int argc, char **argv)
{
	static int numbers[] = {0, 1, 2};
	pthread_t t;

	alarm(20 * 60);
	dies = argc > 1;
#ifndef ALONE
	void *l = dlopen("libloaded.so", RTLD_NOW);
	if (!l || !(loaded = (enter *)dlsym(l, "in_loaded")) || !(idle = (enter *)dlsym(l, "idle_in_loaded")))
		return 4;
#endif
	pthread_barrier_init(&there, 0, THREADS);
	for (int i = 1; i < THREADS; i++)
		if (pthread_create(&t, 0, run, &numbers[i]))
			return 5;
	run(&numbers[0]);
	return 0;
}
#endif
