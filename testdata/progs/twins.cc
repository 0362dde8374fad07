// Twins calls functions that are called as types of twinsother.cc: twin and same as a struct there,
// number as a typedef.
#include <unistd.h>

int twin(int x) { return x + 1; }
namespace box { int same(int x) { return x + 2; } }
double number(int x) { return x + 0.5; }

int useOther();

int main()
{
	alarm(60);
	write(1, "ready\n", 6);
	char c;
	read(0, &c, 1);
	return twin(1) + box::same(1) + (int)number(1) + useOther();
}
