// Functions whose names gdb makes of debug information, because they have no linkage name (gcc gives none to what is local to a file),
// or of a linkage name: pointers to them are in an array of main. gdb leaves a name that it cannot parse as it is, with its parameters.
#include "ready.h"
#include <functional>
#include <vector>
#include <string>
namespace {
struct Hidden { int m(int &&r) const { return r; } int n() { return 1; } static int s(Hidden &&, const Hidden *) { return 2; }  template <class T> static int t(T) { return 3; } };
int alone() { return 1; }
int moved(int &&x) { return x; }
int vec(std::vector<unsigned long> &&x, const std::string &) { return 1; }
int cplx(_Complex double) { return 1; }
int wide(__int128 *) { return 1; }
int fp(int (*)(char const *), long double) { return 1; }
int fr(int (&)(char const *), int (&)[3], int (&&)[4], const char *const *) { return 1; }
int mp(int (Hidden::*)(int &&) const, int Hidden::*) { return 1; }
int dots(const char *, ...) { return 1; }
template <class T> int of(T t) { return sizeof(t); }
template <class T, int N = 3> int none() { return sizeof(T); }
template <class... T> int many(T... t) { return sizeof...(t); }
enum class Colour { red };
template <Colour C> int coloured() { return 1; }
struct Op { int operator()(int) { return 1; } int operator<(int) { return 1; } operator bool() { return true; } int operator[](int) { return 1; } int operator<=>(const Op &) const { return 1; } int ref() & { return 1; } int rref() && {return 2;} int vol() volatile { return 1; } int cv(int) const volatile { return 1;}};
}
namespace out { inline namespace in { static int within(unsigned long long) { return 1; }
static int none() { return 1; } } }
static int nul(std::nullptr_t) { return 1; }
static int bools(bool, wchar_t, char16_t, signed char, unsigned char, short unsigned) { return 1; }
static int integer(_Complex int, const char *) { return 1; }
static int twice(__int128 *, const char *) { return 1; }
static int huge(unsigned __int128, const char *) { return 1; }
int take(std::function<int(int)> f) {
    struct Local { int method(int) { return 1; } int none() const { return 1; } static int st(unsigned long) { return 1; } };
    auto lambda = [&](int x) { return x + 1; };
    auto nothing = [] { return 3; };
    auto generic = [](auto x) { return x; };
    void *a[64] = {}; int n = 0;
#define P(x) do { auto v = (x); a[n++] = *(void **)&v; } while (0)
    P(&alone); P(&moved); P(&vec); P(&cplx); P(&wide); P(&fp); P(&fr); P(&mp); P(&dots);
    P(&of<unsigned long>); P(&of<std::string>); P(&of<Hidden *>); P((&none<int>)); P((&many<>)); P(&coloured<Colour::red>);
    P(&Hidden::m); P(&Hidden::n); P(&Hidden::s); P(&Hidden::t<long double>);
    P(&Op::operator()); P(&Op::operator<); P(&Op::operator bool); P(&Op::operator[]); P(&Op::operator<=>); P(&Op::ref); P(&Op::rref); P(&Op::vol); P(&Op::cv);
    P(&out::in::within); P(&out::in::none); P(&nul); P(&bools); P(&integer); P(&twice); P(&huge);
    P(&Local::method); P(&Local::none); P(&Local::st);
    P(&decltype(lambda)::operator()); P(&decltype(nothing)::operator()); P(&decltype(generic)::operator()<int>);
    P(&of<decltype(lambda)>); P(&of<int(*)(int)>);  P(&of<std::function<int(int)>>); P(&of<Local>); P((int (*)())nothing);
    a[n++] = (char *)alarm + 7; // has two names at one address
    KEEP(*a);
    ready();
    block();
    return n + f(0);
}
int main() { arm(); return take([](int x) { return x; }); }
