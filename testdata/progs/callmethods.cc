// Methods, virtual ones and those of base classes, references, overloaded functions, and functions of namespaces.
#include "ready.h"
#include <string>
#include <vector>

struct Base {
	long z = 5;
	virtual int scaled(int x) { return x + z; }
	virtual ~Base() {}
};
struct Other {
	int v = 4;
	int times(int k) { return v * k; }
	virtual int named() { return 1; }
	int kept() const { return v; }
	static int next(int x) { return x + 1; }
};
struct Derived : Base, Other {
	int named() override { return 100 + v; }
	int scaled(int x) override { return 7 * x; }
	int own() { return v + z; }
};
struct Pair {
	int a, b;
};
struct Copied {
	int v;
	Copied(int v) : v(v) {}
	Copied(const Copied &o) : v(o.v + 100) {}
};
enum class Way { in, out };

Derived derived;
Other other, *pointer = &derived;
Base plain, *base = &derived;
Pair pair{1, 2};
Copied copied(5);
std::string text = "hello";
std::vector<int> list{1, 2, 3};
int counter = 5;
short narrow = 3;
Way way = Way::in;

namespace space {
int triple(int x) { return x * 3; }
int g = 7;
int overloaded(int) { return 1; }
int overloaded(double) { return 2; }
}

int increment(int &x) { return ++x; }
int twice(const int &x) { return x * 2; }
int sum(const Pair &q) { return q.a * 10 + q.b; }
int byValue(Copied x) { return x.v; }
int length(const std::string &x) { return x.size(); }
Pair make(int a) { return Pair{a, a + 1}; }
Pair &refer() { return pair; }
bool negated(bool b) { return !b; }
Way turned(Way w) { return w == Way::in ? Way::out : Way::in; }

int main()
{
	int n = 0;
	n += derived.times(1) + pointer->named() + base->scaled(1) + derived.own() + other.kept() + Other::next(1) + list.size();
	n += increment(n) + twice(n) + sum(pair) + byValue(copied) + length(text) + make(1).a + refer().b + negated(n) + (turned(way) == Way::in);
	n += space::triple(n) + space::overloaded(1) + space::overloaded(1.5);
	arm();
	ready();
	block();
	return n == 0;
}
