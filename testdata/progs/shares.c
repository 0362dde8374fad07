/* shares THREADS DEPTH MAX: threads that each spend half of their time in half(), three tenths in
   three_tenths() and one fifth in one_fifth(), DEPTH calls deep, by the clock of their own processor
   time. It prints a line when all threads run. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#ifdef SFRAME_ALONE
__asm__(".cfi_sections .sframe"); /* no .eh_frame */
#endif

#ifndef ROOM
#define ROOM 64 /* bytes of a frame that is not used */
#endif

static long limit;

static long spent(void)
{
	struct timespec t;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec * 1000000000L + t.tv_nsec;
}

/* Work reads the clock seldom, so that most of the time is the function's own. */
#define WORK(name, bits)                                                        \
	static __attribute__((noipa)) unsigned long name(long ns)           \
	{                                                                      \
		unsigned long x = 88172645463325252UL;                         \
		for (long end = spent() + ns; spent() < end;)                  \
			for (int i = 0; i < 20000; i++) {                      \
				x ^= x << 13;                                  \
				x ^= x >> 7;                                   \
				x ^= x << (bits);                               \
			}                                                      \
		return x;                                                      \
	}

WORK(half, 17)
WORK(three_tenths, 18)
WORK(one_fifth, 19)

static volatile unsigned long sink;

/* tenth is a tenth of one round's time, in nanoseconds. Rounds differ: of rounds of 10 ms, a sampler
   with a period of 2 ms would find the same places again and again. */
static __attribute__((noipa)) long tenth(void)
{
	static __thread unsigned long x = 88172645463325252UL;
	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	return 500000 + (long)(x % 1000000);
}

static __attribute__((noipa)) int deeper(int depth)
{
	volatile char room[ROOM];
	room[depth % ROOM] = 1;
	if (depth > 0)
		return deeper(depth - 1) + room[depth % ROOM];
	long unit = tenth();
	sink += half(5 * unit);
	sink += three_tenths(3 * unit);
	sink += one_fifth(2 * unit);
	return 0;
}

static void *run(void *depth)
{
	while (spent() < limit)
		sink += deeper((int)(long)depth);
	return NULL;
}

int main(int argc, char **argv)
{
	int threads = argc > 1 ? atoi(argv[1]) : 1;
	long depth = argc > 2 ? atol(argv[2]) : 10;
	limit = (argc > 3 ? atol(argv[3]) : 60) * 1000000000L;
	pthread_t list[threads];
	for (int i = 0; i < threads; i++)
		if (pthread_create(&list[i], NULL, run, (void *)depth))
			return 1;
	puts("ready");
	fflush(stdout);
	for (int i = 0; i < threads; i++)
		pthread_join(list[i], NULL);
	return 0;
}
