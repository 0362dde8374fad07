// A program of C++ with names in all kinds of scopes.
#include <cstdio>
#include <unistd.h>
#include <string>

namespace outer {
int level = 1;
static int hidden = 2;
namespace inner {
int level = 20;
enum class Color : unsigned char { red, green = 9 };
enum Plain { small = 1, large = 100 };
struct Node {
	int id;
	Node *next;
	static int count;
	static const int limit = 64;
	enum Kind { leaf = 3, branch };
	Kind kind;
	typedef long word;
	struct Inside { char c; } inside;
};
int Node::count = 5;
}
}
namespace {
int nameless = 8;
}

struct Base1 { int a = 1; virtual ~Base1() {} virtual int f() { return a; } };
struct Base2 { int b = 2; int shared = 21; virtual ~Base2() {} };
struct Derived : Base1, Base2 {
	int c = 3;
	int shared = 31;
	static int made;
	bool ok = true;
	union { int whole; short half[2]; };
	std::string name = "derived";
	int f() override;
	int work(int n, const Base2 &other, int &&temporary);
};
int Derived::made = 6;
int Derived::f() { return c; }
struct Virtual : virtual Base1 { int v = 4; };

template <typename T> struct Box {
	T value;
	static int boxes;
	T get() const;
};
template <typename T> int Box<T>::boxes = 11;
template struct Box<int>;
template struct Box<char const *>;

template <typename T> __attribute__((noinline)) T hold(T x, Box<T> *box)
{
	T copy = x;
	puts("ready");
	fflush(stdout);
	char c;
	while (read(0, &c, 1) > 0)
		;
	return box->value;
}
template <typename T> T Box<T>::get() const { return hold(value, const_cast<Box<T> *>(this)); }

namespace outer {
namespace inner {
__attribute__((noinline)) int inside(Node &node, Color color)
{
	Box<int> box = {77};
	int (Derived::*method)(int, const Base2 &, int &&) = &Derived::work;
	int Derived::*member = &Derived::c;
	(void) method;
	(void) member;
	return box.get() + node.id + int(color) + level + hidden + nameless;
}
}
}

int Derived::work(int n, const Base2 &other, int &&temporary)
{
	outer::inner::Node node = {7, nullptr, outer::inner::Node::branch, {'x'}};
	node.next = &node;
	Base2 *base = this;
	Virtual virt;
	Base1 *top = &virt;
	bool no = false;
	int &ref = c;
	whole = 0x00020001;
	return outer::inner::inside(node, outer::inner::Color::green) + n + other.b + temporary + base->b + top->a + no + ref;
}

int main()
{
	Derived d;
	Base2 plain;
	return d.work(5, plain, 9) + outer::inner::Node::count + Box<char const *>::boxes + Derived::made;
}
