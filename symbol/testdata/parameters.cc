// parameters: functions that gdb shows with their parameters: of lambdas, in local types, and
// without a linkage name, of parameters of every kind.
//
// Build: g++ -std=c++17 -O0 -g parameters.cc
#include <functional>
#include <string>
#include <vector>

volatile int sink;

struct S {
    int m;
    int f(int) const;
};
typedef unsigned long count;
typedef int (*variadic)(const char *, ...);

template <class L, class... A> int run(L l, A... a) {
    sink = sizeof...(a);
    return l(a...);
}

template <class L>
int many(L l, int a[3], int (&r)[4], variadic f, int (*g)(char, volatile short *), int S::*member, int (S::*method)(int) const,
         const std::vector<unsigned long> &v, count n, unsigned long long big, const char *const *list, void *p, const void *cp,
         decltype(nullptr) none, long double real, bool b, wchar_t w, char16_t c, int (*(*maker)(int))(long), const int i,
         unsigned short us, signed char sc, int &&moved, int (*array[2])(int), const volatile int *cv, ...) {
    sink = a[0];
    return l(r[0]);
}

template <class L> struct Holder {
    L l;
    Holder(L x) : l(x) { sink = 1; }
    ~Holder() { sink = 2; }
    int operator()(int) const { return sink; }
    int constant(unsigned u) const { return u + sink; }
    static int shared(long long q) { return q + sink; }
    template <class T> T convert(T *) const volatile { return T(sink); }
};

namespace {
struct A {
    int n;
};
template <class T> int hidden(const T &, std::function<void(int)>, A *a) { return sink = a->n; }
int plain(A a, std::vector<A> v) { return a.n + v.size() + sink; }
std::string tag(A &a) { return std::string(a.n, 'x'); }
struct B {
    A a;
    B(A x, const A *) : a(x) { sink = 3; }
    ~B() { sink = 4; }
    int operator+(const B &) const & { return sink; }
    int operator[](std::function<int()>) && { return sink; }
};
template <unsigned long N, typename T> int number(T (&)[N], const char *const) { return sink + N; }
} // namespace

extern "C" int from_c(std::function<int(int)> f, int x) { return f(x) + sink; }
static int print(const char *, ...) { return sink; }
static int next(int a) { return a + sink; }
static int two(char, volatile short *) { return sink; }
static int nothing() { return sink; }

int S::f(int a) const { return a + sink; }

int main(int argc, char **argv) {
    auto l = [](auto... x) { return (sink + ... + x); };
    int r[4] = {}, a[3] = {};
    std::vector<unsigned long> v;
    int (*array[2])(int) = {next, next};
    run(l);
    run(l, 1, 2.0, 'c');
    many([](int q) { return q + sink; }, a, r, print, two, &S::m, &S::f, v, 1, 2, argv, nullptr, nullptr, nullptr, 1.0L, true, L'x', u'x',
         nullptr, 3, 5, 6, 7, array, &sink);
    Holder h{[argc](int z) { return z + argc; }};
    h(3);
    h.constant(3);
    h.shared(4);
    h.convert<char>(nullptr);
    h.convert<long>(nullptr);
    A x{argc};
    hidden(l, [](int) {}, &x);
    plain(x, {});
    tag(x);
    B b(x, &x);
    b + b;
    std::move(b)[std::function<int()>(nothing)];
    number(r, "");
    from_c([](int x) { return x; }, 4);
    struct Local {
        int k;
        int go(const Local &o, std::string) { return o.k + sink; }
        struct Deep {
            static int deeper(A *) { return sink; }
        };
    } local{3};
    local.go(local, "");
    return Local::Deep::deeper(&x) == 0;
}
