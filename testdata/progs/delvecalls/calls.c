#include <fcntl.h>
#include <time.h>
#include <unistd.h>
#include "calls.h"

extern int goDouble(int);

static volatile int waiting;

int c_is_waiting(void) { return waiting; }

void c_waits(void)
{
	waiting = 1;
	for (;;)
		pause();
}

double c_half(double x) { return x / 2; }

struct pair c_pair(double x, int n)
{
	struct pair p = { x * 3, n - 1 };
	return p;
}

/* As much stack as no goroutine has at first. */
int c_deep(int n)
{
	volatile char room[16 << 10];
	room[n] = n;
	return n == 0 ? 0 : room[n] - n + 1 + c_deep(n - 1);
}

int c_fault(volatile int *p) { return *p; }

int c_sleeps(int ms)
{
	struct timespec left = { ms / 1000, ms % 1000 * 1000000L };
	while (nanosleep(&left, &left))
		;
	return ms;
}

int c_calls_back(int n) { return goDouble(n) + 1; }

/* Says that it has begun by making a file, and does not come back. */
void c_never(const char *path)
{
	close(creat(path, 0600));
	for (;;)
		pause();
}
