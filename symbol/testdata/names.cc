// names: what C++ names look like: namespaces, templates, lambdas, operators,
// constructors, local classes.
//
// Build: g++ -std=c++17 -O2 -g names.cc
#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

volatile int sink;

namespace outer {
inline namespace v1 {
template <typename T> struct Box {
    T value;
    explicit Box(T v) : value(v) { sink = sink + 1; }
    virtual ~Box() { sink = sink - 1; }
    template <typename U> __attribute__((noinline)) T combine(U u, int n) const {
        T r = value;
        for (int i = 0; i < n; i++) r += T(u);
        return r;
    }
    bool operator<(const Box &o) const { return value < o.value; }
    T operator()(T a) { return a + value; }
    operator bool() const noexcept { return sink; }
};
} // namespace v1

namespace {
__attribute__((noinline)) int hidden(const std::string &s) { return int(s.size()) + sink; }
struct Local {
    __attribute__((noinline)) static int shared(int a, ...) { return a + sink; }
};
} // namespace

template <typename F> __attribute__((noinline)) int apply(F f, int n) { return f(n) + sink; }
template <int N, typename... Ts> __attribute__((noinline)) int pack(Ts... ts) { return N + sizeof...(ts) + sink; }

__attribute__((noinline)) int all(int n) {
    Box<int> b(n);
    std::unique_ptr<Box<double>> d = std::make_unique<Box<double>>(n);
    int r = apply([n](int a) { sink = a; return a * n; }, n);
    r += apply([&](auto a) { sink = a; return a + r; }, n);
    r += b.combine(2.5, n) + int(d->combine('c', n)) + b(3) + (b ? 1 : 0);
    struct Inside {
        __attribute__((noinline)) int method(int a) { return a * sink; }
    } inside;
    return r + inside.method(n) + hidden("abc") + Local::shared(n) + pack<3>(n, 'x', 2.0) + pack<4>();
}
} // namespace outer

extern "C" __attribute__((noinline)) int c_linkage(int a) { return a + sink; }

int main(int argc, char **argv) {
    std::vector<outer::Box<int>> boxes;
    std::map<std::string, int> counts;
    for (int i = 0; i < argc; i++) {
        boxes.emplace_back(i);
        counts[argv[i]]++;
    }
    std::sort(boxes.begin(), boxes.end());
    std::function<int(int)> f = [&](int a) { return a + int(counts.size()); };
    return outer::all(argc) + c_linkage(argc) + f(int(boxes.size()));
}
