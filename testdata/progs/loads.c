/* loads A.so B.so [SECONDS]: loads one library after the other, has it compute for BUSY ns, and
   unloads it: the second mostly lies where the first was. Both are this file, with the name of
   their function as LIBRARY. They look at the clock after each TURNS steps. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#ifdef LIBRARY

#ifndef BUSY
#define BUSY 20000000
#endif
#ifndef TURNS
#define TURNS 20000
#endif

static long spent(void)
{
	struct timespec t;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec * 1000000000L + t.tv_nsec;
}

__attribute__((noipa)) static unsigned long LIBRARY(void)
{
	unsigned long x = 88172645463325252UL;
	for (long end = spent() + BUSY; spent() < end;)
		for (int i = 0; i < TURNS; i++) {
			x ^= x << 13;
			x ^= x >> 7;
			x ^= x << 17;
		}
	return x;
}

#ifdef PADDING /* one library's function is elsewhere than the other's */
__attribute__((noipa)) unsigned long padding(unsigned long x)
{
	for (int i = 0; i < 100; i++)
		x = x * x + i;
	return x;
}
#endif

unsigned long compute(void)
{
	return LIBRARY() + 1;
}

#else

static volatile unsigned long sink;

int main(int argc, char **argv)
{
	if (argc < 3)
		return 2;
	time_t end = time(NULL) + (argc > 3 ? atol(argv[3]) : 60);
	puts("ready");
	fflush(stdout);
	for (int i = 0; time(NULL) < end; i++) {
		void *lib = dlopen(argv[1 + i % 2], RTLD_NOW);
		if (lib == NULL)
			return 3;
		unsigned long (*compute)(void) = (unsigned long (*)(void))dlsym(lib, "compute");
		if (compute == NULL)
			return 4;
		sink += compute();
		dlclose(lib);
	}
	return 0;
}

#endif
