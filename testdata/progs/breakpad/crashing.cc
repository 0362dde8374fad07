// Work of many kinds, for a debugger that makes it crash anywhere. The argument is the file for the minidump
// that Breakpad's client writes (client.cc).
//
// Functions whose names begin with "work_" are called several times each, from main alone or from one another.

#include <alloca.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern "C" void write_dump_to(const char *path);

#define OUTLINE __attribute__((noinline))

static volatile unsigned sink;

static inline unsigned mixed(unsigned a, unsigned b) {
  a ^= b * 2654435761u;
  return a << 7 | a >> 25;
}

static inline __attribute__((always_inline)) unsigned thrice(unsigned a) {
  for (unsigned i = 0; i < 3; i++)
    a = mixed(a, i + sink);
  return a;
}

extern "C" {

OUTLINE unsigned work_leaf(unsigned a, unsigned b) {
  return thrice(a) + thrice(b);
}

OUTLINE unsigned work_deep(unsigned depth, unsigned *out) {
  unsigned kept = work_leaf(depth, *out);
  if (depth > 0)
    *out += work_deep(depth - 1, &kept);
  return kept ^ *out;
}

OUTLINE unsigned work_tail(unsigned a) {
  return work_leaf(a + 1, a);
}

OUTLINE unsigned work_arguments(unsigned a, unsigned b, unsigned c, unsigned d, unsigned e, unsigned f, unsigned g, unsigned h) {
  return work_leaf(a + b * c, d ^ e) + work_tail(f + g) + h;
}

OUTLINE unsigned work_alloca(unsigned n) {
  unsigned *p = static_cast<unsigned *>(alloca((n % 40 + 1) * sizeof *p));
  for (unsigned i = 0; i <= n % 40; i++)
    p[i] = i ? p[i - 1] + work_leaf(i, n) : n;
  return p[n % 40];
}

OUTLINE unsigned work_big(unsigned n) {
  unsigned many[3000];
  many[n % 3000] = n;
  unsigned *last = &many[n % 3000];
  return work_deep(2, last) + *last;
}

OUTLINE unsigned work_aligned(unsigned n) {
  alignas(64) unsigned char line[128];
  memset(line, static_cast<int>(n), sizeof line);
  sink = line[n % 128];
  return work_leaf(line[5], line[n % 128]);
}

OUTLINE unsigned work_variadic(unsigned n, ...) {
  va_list list;
  va_start(list, n);
  unsigned sum = 0;
  for (unsigned i = 0; i < n; i++)
    sum = mixed(sum, va_arg(list, unsigned)) + work_leaf(sum, i);
  va_end(list);
  return sum;
}

static int work_compare(const void *a, const void *b) {
  unsigned x = *static_cast<const unsigned *>(a), y = *static_cast<const unsigned *>(b);
  sink = thrice(x);
  return x < y ? -1 : x > y;
}

OUTLINE unsigned work_sort(unsigned n) {
  unsigned list[16];
  for (unsigned i = 0; i < 16; i++)
    list[i] = mixed(n, i);
  qsort(list, 16, sizeof *list, work_compare);
  return list[n % 16];
}

OUTLINE unsigned work_print(unsigned n) {
  char text[64];
  snprintf(text, sizeof text, "%u of %s, %.3f", n, "many", n / 7.0);
  return static_cast<unsigned>(strlen(text)) + static_cast<unsigned>(strtoul(text, nullptr, 10));
}

OUTLINE unsigned work_double(double x, unsigned n) {
  while (n-- > 0)
    x = x * 0.75 + work_leaf(n, static_cast<unsigned>(x));
  return static_cast<unsigned>(x);
}

OUTLINE unsigned work_switch(unsigned n) {
  switch (n % 7) {
  case 0: return work_leaf(n, 1);
  case 1: return work_tail(n) + 1;
  case 2: sink = n; break;
  case 3: return work_double(n, 3);
  case 4: return n * n;
  case 5: return work_alloca(n) ^ 9;
  default: sink = n / 3;
  }
  if (n > 5 && sink == 0)
    return 3;
  return work_print(n);
}

} // extern "C"

struct Shape {
  virtual ~Shape() {}
  virtual unsigned area(unsigned scale) const = 0;
};

struct Square : Shape {
  unsigned side;
  explicit Square(unsigned s) : side(s) {}
  unsigned area(unsigned scale) const override { return work_leaf(side, side) * scale; }
};

struct Round : Shape {
  unsigned radius;
  explicit Round(unsigned r) : radius(r) {}
  unsigned area(unsigned scale) const override {
    if (scale == 0)
      throw radius;
    return work_sort(radius) + scale;
  }
};

extern "C" OUTLINE unsigned work_shapes(unsigned n) {
  Shape *all[] = {new Square(n), new Round(n + 1), new Square(3)};
  unsigned sum = 0;
  for (Shape *s : all) {
    sum += s->area(n + 1);
    delete s;
  }
  return sum;
}

extern "C" OUTLINE unsigned work_throw(unsigned n) {
  Round thrown(n);
  try {
    return thrown.area(0);
  } catch (unsigned caught) {
    return work_leaf(caught, n);
  }
}

int main(int argc, char **argv) {
  if (argc > 1)
    write_dump_to(argv[1]);
  for (unsigned i = 0; i < 40; i++) {
    unsigned word = i;
    sink = work_deep(i % 9, &word) + work_arguments(1, i, 3, 4, i, 6, 7, 8) + work_big(i) + work_aligned(i);
    sink = sink + work_variadic(4, i, 2u, 3u, sink) + work_switch(i) + work_shapes(i) + work_throw(i);
  }
  return 0;
}
