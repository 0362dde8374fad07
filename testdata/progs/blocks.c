// Inlined calls with blocks. Compilers describe some blocks of the inlined function's code, and leave out others; gdb shows variables of
// the latter as optimized out, and of those whose block it cannot tell from another one. Blocks with as many names that gdb has them in the order
// of its table, of which some are no variables.
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

/* A function with a block of four variables, and what EXTRA declares. TYPE is the type of one of them. */
#define NAMES(function, extra, type, label, next)                         \
	static NOINLINE int function(void)                                \
	{                                                                 \
		int own = 1;                                              \
		USED(own);                                                \
		{                                                         \
			extra;                                            \
			type rc = 0;                                      \
			int pPage1 = 3, nPage = 4, nPageFile = 5;         \
			USED(rc);                                         \
			USED(pPage1);                                     \
			USED(nPage);                                      \
			USED(nPageFile);                                  \
			sink += next;                                     \
			label;                                            \
		}                                                         \
		return 4;                                                 \
	}

NAMES(with_nothing, , int, , plain(7))
NAMES(with_struct, struct of_block { int a; }, struct of_block *, , with_nothing())
NAMES(with_unnamed, struct { int a; } *other = 0; USED(other), typeof(other), , with_struct())
NAMES(with_unnamed_type, , struct { int a; } *, , with_unnamed())
NAMES(with_union, union of_block { int a; }, union of_block *, , with_unnamed_type())
NAMES(with_typedef, typedef int number, number, , with_union())
NAMES(with_enum, enum of_block { one }, enum of_block, , with_typedef())
NAMES(with_unnamed_enum, , enum { other_one }, , with_enum())
NAMES(with_incomplete, struct of_block, struct of_block *, , with_unnamed_enum())
NAMES(with_function, int getpid_of_block(int), int, , with_incomplete())
NAMES(with_extern, extern int sink_of_others, int, , with_function())
NAMES(with_label, __label__ here, int, here: USED(nPage); if (sink < 0) goto here, with_extern())
NAMES(with_label_and_struct, __label__ here; struct of_block { int a; }, struct of_block *, here: USED(nPage); if (sink < 0) goto here, with_label())

int main(void)
{
	arm();
	sink += with_label_and_struct();
	return sink;
}
