/* Functions that take and return values of all kinds, and pointers to functions in variables, members and arrays. */
#include "ready.h"
#include <complex.h>
#include <string.h>

struct pair { int a, b; };
struct mixed { double x; float y; };
struct big { long v[5]; char n[8]; };
union either { int i; double d; };
struct wide { long double l; int k; };
struct wides { long double a, b; };
struct letter { char c; };
struct floats { float a, b, c; };
struct operations { int (*twice)(int); struct pair (*make)(int, int); };
struct object {
	int base;
	struct operations *operations;
	int (*function)(int);
	struct pair pair;
	struct { int q; } in[3];
	int bits : 5;
};

struct pair pair = {3, 4};
struct mixed mixed = {1.5, 2.5f};
struct big big = {{1, 2, 3, 4, 5}, "hello"};
union either either = {.d = 2.5};
struct wide wide = {6.25L, 7};
struct wides wides = {97, 50};
struct letter letter = {'x'};
struct floats floats = {1, 2, 3};
int numbers[4] = {1, 2, 3, 4};
char text[] = "some text";
long double longDouble = 1.5L;
_Complex double z = 1 + 2 * I;
_Complex float zf = 3 + 4 * I;
_Complex long double zl = 5 + 6 * I;

static int twice(int x) { return 2 * x; }
static struct pair make(int a, int b) { return (struct pair){a, b}; }
struct operations operations = {twice, make};
struct object object = {10, &operations, twice, {8, 9}, {{1}, {2}, {3}}, 7}, *pointer = &object;
int (*variable)(int) = twice, (*table[2])(int) = {twice, 0};
size_t (*length)(const char *) = strlen;

int sumPair(struct pair s) { return 10 * s.a + s.b; }
double sumMixed(struct mixed s) { return s.x * 10 + s.y; }
long sumBig(struct big b) { return b.v[0] + b.v[4] * 10 + b.n[0] * 100; }
double getEither(union either u) { return u.d; }
long double product(struct wide l) { return l.l * l.k; }
struct wide more(struct wide l) { l.k++; return l; }
struct wides exchange(struct wides w) { return (struct wides){w.b, w.a}; }
char getLetter(struct letter c) { return c.c; }
float sumFloats(struct floats f) { return f.a + 10 * f.b + 100 * f.c; }
struct floats addFloats(struct floats a, struct floats b) { a.a += b.a; a.b += b.b; a.c += b.c; return a; }
struct big changed(struct big b) { b.v[1] = 77; return b; }
_Complex double conjugate(_Complex double x) { return conj(x); }
_Complex float addComplex(_Complex float a, _Complex float b) { return a + b; }
_Complex long double sameComplex(_Complex long double x) { return x; }
int many(int a, struct mixed s, struct pair t, double d, struct big b, long double l, struct wide w) { return a + s.x + t.b + d + b.v[2] + l + w.k; }
long double addLong(long double a, double b) { return a + b; }
int sumNumbers(int *a, int n) { int s = 0; while (n > 0) s += a[--n]; return s; }
int multiply(struct pair *s) { return s->a * s->b; }

int main(void)
{
	struct pair local = {21, 22};
	int (*own)(int) = table[0];
	if (multiply(&local) + own(1) == 0)
		return 1;
	arm();
	ready();
	block();
	return 0;
}
