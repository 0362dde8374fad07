// Functions that gdb 13 calls rightly on all three processors. On arm64 it aborts if an array is in a
// structure of floating-point numbers alone.
#define CASE(n, result, a, b, c, d) \
	result case_##n(a a0, b a1, c a2, d a3) { PUT(a0); PUT(a1); PUT(a2); PUT(a3); result r; RESULT(r); return r; } \
	void proto_##n(a a0, b a1, c a2, d a3) { }

struct ints { int a, b; };
struct longs { long a, b; };
struct chars { char a[3]; };
struct large { long a[5]; };
struct floats { float a, b; };
struct one { float a; };
struct doubles { double a, b; };
struct mixed { long a; double b; };
struct swapped { double a; long b; };
struct four { double a, b, c, d; };
typedef unsigned char uchar;
typedef long double quad;
typedef void *pointer;

CASE(0, int, int, long, short, uchar)
CASE(1, double, float, double, int, double)
CASE(2, struct ints, struct ints, int, struct longs, long)
CASE(3, struct longs, struct longs, struct longs, struct longs, struct longs)
CASE(4, struct chars, struct chars, pointer, struct chars, short)
CASE(5, struct large, struct large, int, struct large, struct ints)
CASE(6, struct floats, struct doubles, struct doubles, struct doubles, struct doubles)
CASE(7, struct one, struct one, struct one, float, struct one)
CASE(8, struct doubles, struct doubles, double, struct doubles, struct four)
CASE(9, struct mixed, struct mixed, struct swapped, int, struct mixed)
CASE(10, struct swapped, struct swapped, struct mixed, struct swapped, double)
CASE(11, struct four, struct four, struct four, struct four, long)
CASE(12, quad, quad, int, quad, double)
CASE(13, float, struct large, struct four, struct large, float)
CASE(14, pointer, pointer, pointer, short, struct large)
CASE(15, long, struct longs, struct ints, struct longs, struct ints)
