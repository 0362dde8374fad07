// Functions of many shapes: for the comparison with dump_syms.
extern "C" int puts(const char *);
extern "C" void abort();

namespace outer {
namespace {
struct Hidden {
  int value;
  int get(int k) { return value * k; }
};
int hidden(Hidden *h) { return h->get(3); }
} // namespace

template <class T, int N> struct Ring {
  T items[N];
  int at = 0;
  Ring() {}
  explicit Ring(T first) { push(first); }
  void push(T x) { items[at++ % N] = x; }
  T sum() const {
    T s = T();
    for (int i = 0; i < N; i++) {
      T x = items[i];
      s += twice(x);
    }
    return s;
  }
  static T twice(T x) { return x + x; }
};
template <class T> struct Wider : Ring<T, 9> {
  using Ring<T, 9>::Ring;
};

template <class... A> __attribute__((noinline)) int count(A... a) { return sizeof...(a); }
} // namespace outer

struct Base {
  virtual ~Base() {}
  virtual int run(int x) { return x; }
};
struct Derived : Base {
  int run(int x) override {
    auto twice = [x](int y) { return x * y; };
    auto each = [&](auto f) { return f(2) + f(x); };
    return each(twice);
  }
};

static inline int square(int x) { return x * x; }

__attribute__((noinline)) static int squares(int n) {
  int s = 0;
  for (int i = 0; i < n; i++) {
    int t = square(i);
    if (t > 1000) {
      int u = square(t);
      s += u;
    }
    s += t;
  }
  return s;
}

// The part that is rarely run is moved away from the rest.
__attribute__((noinline)) static int rarely(int n) {
  if (__builtin_expect(n > 100000, 0)) {
    puts("never");
    abort();
  }
  return n + square(n);
}

extern "C" int plain(int x) {
  struct Local {
    int f(int y) { return y + 1; }
  } l;
  return l.f(x);
}

int operator+(Base &b, int x) { return b.run(x); }

int main(int argc, char **argv) {
  outer::Ring<long, 7> r;
  outer::Wider<int> w(argc);
  r.push(argc);
  outer::Hidden h{argc};
  Derived d;
  Base *b = &d;
  int n = *b + argc;
  try {
    if (argc > 7)
      throw argc;
  } catch (int x) {
    n += x;
  }
  return (int)r.sum() + (int)w.sum() + hidden(&h) + squares(argc) + rarely(argc) + plain(n) + outer::count(1, 'a', 2.0) + outer::count();
}
