// Virtual bases that are reached in two ways, and static members that the compiler has made constants.
#include "ready.h"

struct Root { virtual ~Root() {} int root = 1; };
struct Middle : virtual Root { int middle = 2; static inline int constant = 19; };
struct Other : virtual Root { int other = 3; };
struct Both : virtual Middle, virtual Root, Other { int both = 4; };
struct Holder { Both first; Both second; Root root; };

NOINLINE static int hold(int n)
{
	Both object;
	Holder held;
	Middle *middle = &object;
	KEEP(middle);
	__asm__ volatile("" : : "m"(object), "m"(held) : "memory");
	ready();
	block();
	return n + object.both + held.first.root;
}

int main()
{
	arm();
	return hold(1) + 1;
}
