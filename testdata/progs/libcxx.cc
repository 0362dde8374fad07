// Objects of libc++ whose form depends on its release, on the layout of strings, and on what they hold.
#include "ready.h"
#include <string>
#include <vector>
#if __has_include(<expected>)
#include <expected>
#endif
#include <functional>
#include <map>
#include <any>
int plain(int x) { return x + 1; }
struct Big { long a[5] = {1,2,3,4,5}; int operator()(int) const { return 0; } };
template <typename T> NOINLINE void keep(T &x) { __asm__ volatile("" : : "r"(&x) : "memory"); }
int main() {
  arm();
  std::u16string s = u"abc", e, l = u"a long string of more than 22 characters", ten = u"0123456789";
  std::u32string w = U"xyz", wl = U"longer than five";
  std::vector<std::u16string> v = {u"p", l};
#if __has_include(<expected>) && __cplusplus > 202002L
  std::expected<int, std::u16string> good = 5, bad = std::unexpected<std::u16string>(u"err");
  std::expected<void, int> none, noneBad = std::unexpected<int>(7);
#endif
  std::function<int(int)> f = plain, g = Big(), h = [&s](int x) { return (int)s.size() + x; }, em = [](int x) { return x; }, no;
  std::any big = Big(), small = 7;
  std::map<char, char> chars = {{'a', 'b'}, {'c', 'd'}};
  std::map<short, long double> wide = {{1, 2.5L}, {3, 4.5L}};
  ready(); block();
  keep(s), keep(e), keep(l), keep(w), keep(v), keep(f), keep(g), keep(h), keep(em), keep(no), keep(big), keep(small), keep(chars), keep(wide);
  return f(1) + g(2) + h(3) + em(4);
}
