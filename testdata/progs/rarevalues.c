// Values that compilers seldom describe: a half-precision argument whose caller alone tells it; an argument and local variables of a
// decimal type, for which strict DWARF 2 has no encoding; vectors of small integers, which are no characters; a NaN whose first digits are
// zeros.
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

typedef signed char signed_vector __attribute__((vector_size(16)));
typedef unsigned char unsigned_vector __attribute__((vector_size(8)));

NOINLINE static int vectors(int n)
{
	signed_vector letters = {'a', -1, n}, two[2] = {{'b'}, {'c', n}};
	struct { const unsigned_vector all; char text[8]; } both = {{'d', 200, n}, "text"};
	union { unsigned long bits; double d; } signalling = {0x7ff0000000000012}, negative = {0xfff4000000000000 + n};
	int result = 0;
	__asm__ volatile("" : : "m"(letters), "m"(two), "m"(both), "m"(signalling), "m"(negative));
	result += decimals(n, 4, sum + 5);
	return result;
}

int main(void)
{
	arm();
	return vectors(zero + 3) + 1;
}
