// Static members that another unit of the program defines: of a thread, of an array without a length, of a template. Linkers know not all of
// them, and compilers name some where they are defined alone.
#include "../ready.h"

struct Counted {
	unsigned long own = 1;
	static thread_local int perThread;
	static int shared;
	static int list[];
	static const int whole = 77;
	static inline int inlined = 12;
	static inline thread_local long inlinedPerThread = 13;
	enum Kind { first, second } kind = second;
	NOINLINE int get(unsigned short n) const { return n + shared; }
};

template <typename T> struct Of {
	enum Kind { first, second } kind = second;
	static T last;
	T own{};
};

int hold(Counted &counted, int n);
