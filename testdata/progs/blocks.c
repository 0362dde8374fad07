// Inlined calls with blocks. Compilers describe some blocks of the inlined function's code, and leave out others; gdb shows variables of
// the latter as optimized out, and of those whose block it cannot tell from another one.
#include "ready.h"

#define ALWAYS static inline __attribute__((always_inline))
#define USED(x) __asm__ volatile("" : : "m"(x))

static int sink;

ALWAYS int deepest(void)
{
	int deep = 3;
	USED(deep);
	ready();
	block();
	return deep + 1;
}

ALWAYS int called(void)
{
	int outer = 4;
	USED(outer);
	{
		int inner = 196;
		long long more = 146;
		USED(more);
		sink += deepest();
		(void)inner;
	}
	sink += deepest();
	return 1;
}

ALWAYS int lost(void)
{
	int outer = 5;
	USED(outer);
	{
		int inner = 197;
		USED(inner);
		sink += called();
	}
	{
		int unused = 5;
		(void)unused;
	}
	return 2;
}

ALWAYS int plain(int parameter)
{
	int outer = 6;
	USED(outer);
	{
		int inner = 198;
		USED(inner);
		sink += lost();
	}
	{
		int second = 5;
		USED(second);
	}
	USED(parameter);
	return 3;
}

int main(void)
{
	arm();
	sink += plain(7);
	return sink;
}
