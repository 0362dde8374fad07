// Values that compilers seldom describe: a half-precision argument whose caller alone tells it; an argument and local variables of a
// decimal type, for which strict DWARF 2 has no encoding.
#include "ready.h"

typedef _Float16 half;
typedef _Decimal128 decimal;

static int zero;
decimal sum;

NOINLINE static int told(int n, half gone, half passed)
{
	sum += 1;
	ready();
	block();
	return n + (passed > 0);
}

NOINLINE static int decimals(int n, decimal lost, decimal there)
{
	struct { decimal in; int n; } both = {1.5dl, n};
	__asm__ volatile("" : : "m"(both), "m"(there));
	return told(n, 1, 2) + both.n;
}

int main(void)
{
	arm();
	return decimals(zero + 3, 4, sum + 5) + 1;
}
