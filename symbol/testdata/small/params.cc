volatile int sink;
struct S {
	int m;
	int f(int) const;
};
template <class L>
int many(L l, int a[3], int (&r)[4], int (*f)(const char *, ...), int S::*member, int (S::*method)(int) const, unsigned long n,
         const char *const *list, void *p, int (*(*maker)(int))(long), bool b, int &&moved, int (*array[2])(int), const volatile int *cv, ...) {
	sink = a[0];
	return l(r[0]);
}
namespace {
struct A {
	int n;
};
template <class T, unsigned long N, bool B> int hidden(const T &, A *a) { return sink = a->n; }
template <class T> struct holder {
	T t;
	int operator()(unsigned u) const { return u + sink; }
};
}
extern "C" int _start() {
	int a[4];
	auto l = [](int x) { return x + sink; };
	struct local {
		int go(A a, unsigned long) { return sink; }
	} q;
	holder<A *> h{nullptr};
	return many(l, a, a, nullptr, nullptr, nullptr, 1, nullptr, nullptr, nullptr, true, 3, nullptr, nullptr) +
	       hidden<holder<int>, 3, true>({1}, nullptr) + hidden<void (*)(int, ...), 'c', false>(nullptr, nullptr) + q.go({1}, 2) + h(3);
}
