// framebase.c has a local variable in each function that lives on the stack, one function that is inlined
// and one with a variable array. It sleeps in the innermost function; its frames are inner, flexible,
// inlined into outer, and main.
#include "ready.h"

volatile int sink;

__attribute__((noinline)) static int inner(volatile int *p)
{
	volatile int own[3] = {1, 2, *p};
	ready();
	block();
	return own[2];
}

__attribute__((noinline)) static int flexible(int n, volatile int *p)
{
	volatile int own[2] = {n, *p};
	volatile char room[n];
	room[n - 1] = own[0];
	sink = inner(&own[1]) + room[0];
	return sink;
}

static inline __attribute__((always_inline)) int inlined(int n)
{
	volatile int own[2] = {n, n};
	sink = flexible(n, own) + own[1];
	return sink;
}

__attribute__((noinline)) static int outer(int n)
{
	volatile int own[4] = {n, n, n, n};
	sink = inlined(own[1]) + own[0];
	return sink;
}

int main(int argc, char **argv)
{
	volatile int own[1] = {argc};
	(void)argv;
	arm();
	sink = outer(own[0] + 40) + own[0];
	return sink;
}
