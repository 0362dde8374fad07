#include "statics.h"

thread_local int Counted::perThread = 5;
int Counted::shared = 6;
int Counted::list[] = {1, 2, 3};
template <> short Of<short>::last = 9;

namespace {
struct Hidden {
	int own = 1;
	static int shared;
	static thread_local int perThread;
};
int Hidden::shared = 21;
thread_local int Hidden::perThread = 22;
}

int main(int argc, char **)
{
	arm();
	Counted counted;
	Hidden hidden;
	__asm__ volatile("" : : "m"(hidden));
	hidden.shared += argc;
	hidden.perThread += argc;
	counted.list[argc]++;
	return hold(counted, argc) + counted.get(argc);
}
