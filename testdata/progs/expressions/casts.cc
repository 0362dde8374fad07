// A program of C++ with casts, names that other scopes lend, and members of several bases.
#include <cstdio>
#include <map>
#include <string>
#include <unistd.h>
#include <vector>

namespace company {
namespace product {
namespace detail {
int depth = 12;
struct Part { int weight; static int made; };
int Part::made = 40;
enum class Grade : short { low = -1, mid, high = 7 };
template <typename K, typename V> struct Table { K key; V value; struct Slot { V at; }; static int tables; };
template <typename K, typename V> int Table<K, V>::tables = 2;
template struct Table<int, Part>;
template struct Table<std::string, std::vector<int>>;
}
using detail::Part;
using detail::depth;
inline namespace v2 { int version = 2; struct Tag { int t; }; }
}
int revenue = 500;
}
namespace alias = company::product::detail;
namespace lent { int borrowed = 31; struct Loan { int sum; }; namespace deep { int deeper = 32; } using namespace deep; }
namespace { int secret = 99; struct Hidden { int h; static int seen; }; int Hidden::seen = 98; namespace within { int kept = 97; } }
using namespace lent;
using company::revenue;
static const int fixed = 17;
constexpr double ratio = 0.75;

struct Root { virtual ~Root() {} int root = 1; int both = 2; };
struct Left : Root { int left = 3; int same = 4; };
struct Right : Root { int right = 5; int same = 6; };
struct Bottom : Left, Right { int bottom = 7; int *where = &bottom; };
struct VBase { virtual ~VBase() {} int vbase = 8; };
struct VLeft : virtual VBase { int vleft = 9; };
struct VRight : virtual VBase { int vright = 10; };
struct Diamond : VLeft, VRight { int diamond = 11; };
struct Plain { int x, y; double d; char name[8]; int grid[2][3]; unsigned bits : 3; signed flags : 5; };
struct Outer {
	struct Middle { struct Innermost { int v; enum { unnamed = 61 }; } in; } mid;
	enum Level { one = 1, two };
	Level level;
	static constexpr int limit = 70;
	static Plain shared;
	int value = 71;
	int plus(int n) const;
	static int twice(int n) { return 2 * n; }
	int operator[](int i) const { return i; }
};
Plain Outer::shared = {1, 2, 2.5, "shared", {{1, 2, 3}, {4, 5, 6}}, 5, -3};

int over(int n) { return n; }
int over(double d) { return int(d); }
int over(const char *s, int n) { return s[n]; }
template <typename T> T generic(T x) { return x; }
template int generic<int>(int);
template char generic<char>(char);

__attribute__((noinline)) static int stop(int n)
{
	static int stops = 0;
	stops += n;
	puts("ready");
	fflush(stdout);
	char c;
	while (read(0, &c, 1) > 0)
		;
	return stops;
}

int Outer::plus(int n) const
{
	using namespace company::product;
	namespace short_name = company::product::detail;
	using company::product::detail::Grade;
	int value = n + 1;
	Grade grade = Grade::high;
	detail::Table<int, Part> table = {3, {44}};
	detail::Table<std::string, std::vector<int>> texts = {"key", {1, 2}};
	detail::Table<int, Part>::Slot slot = {{45}};
	Tag tag = {6};
	Hidden hidden = {55};
	return stop(value) + table.key + int(grade) + slot.at.weight + tag.t + hidden.h + version + texts.value[0] + short_name::depth;
}

int main(int argc, char **argv)
{
	Bottom bottom;
	Left *left = &bottom;
	Right *right = &bottom;
	Root *root = right;
	Diamond diamond;
	VBase *vbase = &diamond;
	VLeft *vleft = &diamond;
	VRight &vright = diamond;
	Plain plain = {-3, 1000, 3.75, "plain", {{1, 2, 3}, {4, 5, 6}}, 5, -7};
	Plain *pp = &plain;
	const Plain *cpp = &plain;
	void *vp = &plain;
	int Plain::*pm = &Plain::y;
	double Plain::*pd = &Plain::d;
	int Bottom::*bm = &Bottom::right;
	int (Outer::*pf)(int) const = &Outer::plus;
	int (*fp)(double) = over;
	int ints[6] = {10, 20, 30, 40, 50, 60};
	int *ip = ints + 2;
	int &ri = ints[1];
	unsigned char byte = 200;
	signed char negative = -56;
	unsigned int big = 4000000000u;
	long long wide = -5000000000ll;
	float f = 1.5f;
	double d = -2.25;
	long double ld = 3.125L;
	bool yes = true;
	char32_t c32 = U'ä';
	wchar_t wc = L'w';
	char16_t c16[] = u"sixteen";
	char text[] = "hello";
	const char *str = "world";
	Outer outer = {{{60}}, Outer::two};
	const volatile int cv = 9;
	int **ipp = &ip;
	lent::Loan loan = {77};
	decltype(nullptr) np = nullptr;
	int (*arr)[6] = &ints;
	return outer.plus(3) + left->left + root->root + vbase->vbase + vleft->vleft + vright.vright + pp->x + cpp->y + plain.*pm + (plain.*pd > 0)
	    + bottom.*bm + (outer.*pf)(1) + fp(1) + *ip + ri + byte + negative + int(big + wide + f + d + ld) + yes + c32 + wc + c16[0] + text[0]
	    + str[0] + cv + **ipp + argc + loan.sum + (np == vp) + (*arr)[0] + argv[0][0];
}
