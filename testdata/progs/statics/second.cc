#include "statics.h"

int hold(Counted &counted, int n)
{
	Counted copy = counted;
	Of<short> of;
	int (Counted::*method)(unsigned short) const = &Counted::get;
	__asm__ volatile("" : : "m"(copy), "m"(of), "r"(&method) : "memory");
	copy.perThread += n;
	copy.shared += n;
	of.last += n;
	copy.inlined += n;
	copy.inlinedPerThread += n;
	ready();
	block();
	return copy.own + copy.list[n] + of.last + (copy.*method)(n);
}
