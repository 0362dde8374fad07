/* Functions with every kind of frame that gcc makes; built by the tests, never run. */
#include <alloca.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NOINLINE __attribute__((noinline, noclone))

extern int sink(void *, ...);
extern int other(int, int, int, int, int, int, int, int, int);
extern void fail(const char *) __attribute__((noreturn));

NOINLINE int leaf(int a, int b) { return a * b + 1; }

NOINLINE int saves(int a, int b, int c) {
	int x = sink(&a, b), y = sink(&b, c), z = sink(&c, a);
	return x + y * z + sink(0, x, y, z) + a + b + c;
}

/* Arguments on the stack. */
NOINLINE int pushes(int a) { return other(a, 1, 2, 3, 4, 5, 6, 7, 8) + other(1, a, 2, 3, 4, 5, a, 7, 8) + a; }

/* An early way out, before the frame is made. */
NOINLINE int early(int *p) {
	if (!p)
		return 0;
	int n = 0;
	for (; *p; p++)
		n += sink(p, n);
	return n;
}

/* A way out in the middle, the body behind it. */
NOINLINE int middle(int a) {
	int x = sink(&a);
	if (x > 5) {
		int y = sink(&x, x);
		return y + a;
	}
	while (x < 100)
		x += sink(&x, a);
	return x - a;
}

NOINLINE int tail(int a, int b) {
	int x = sink(&a, b);
	if (x)
		return leaf(x, b);
	return saves(a, b, x);
}

NOINLINE int tails(int a) { return a > 3 ? tail(a, 2) : saves(a, a, a); }

/* Dense cases: a table of jumps. */
NOINLINE int cases(int a, char *s) {
	char buf[40];
	switch (a) {
	case 0: return sink(buf, s);
	case 1: strcpy(buf, s); break;
	case 2: sink(s); break;
	case 3: return leaf(sink(buf), 3);
	case 4: sink(buf, 4, s); /* fall through */
	case 5: sink(buf, 5, s); break;
	case 6: fail(buf);
	case 7: return 7;
	case 9: sink(0);
	}
	return sink(buf) + a;
}

NOINLINE int dies(int a, int b) {
	int x = sink(&a);
	if (x == 3)
		fail("three");
	if (b > x) {
		x += sink(&b);
		if (x == 9)
			abort();
	}
	for (int i = 0; i < b; i++)
		if ((x += sink(&i)) < 0)
			exit(x);
	return x + a;
}

NOINLINE void never(int a) {
	sink(&a);
	fail("never");
}

NOINLINE int dynamic(int n) {
	char *p = alloca(n);
	int x = sink(p, n);
	for (int i = 0; i < x; i++)
		sink(alloca(i), p);
	return sink(p) + x;
}

NOINLINE int vla(int n, int m) {
	int s = 0;
	for (int i = 0; i < n; i++) {
		int a[m + i];
		s += sink(a, i);
	}
	return s + m;
}

NOINLINE int large(int n) {
	char a[200000];
	int x = sink(a, n);
	return sink(a, x) + n;
}

NOINLINE int mid(int n) {
	char a[9000];
	return sink(a, n) + n + sink(a);
}

NOINLINE int huge(int n) {
	volatile char a[70000];
	a[n] = 1;
	return a[n / 2] + n;
}

NOINLINE int aligned(int n) {
	char a[64] __attribute__((aligned(64)));
	return sink(a, n) + n;
}

/* Realigned, with arguments on the stack: needs a pointer to them. */
NOINLINE int realigned(int a, int b, int c, int d, int e, int f, int g, int h) {
	char v[96] __attribute__((aligned(32)));
	int x = sink(v, a, h), y = sink(v, g, b), z = sink(v, c, d);
	if (x > 3)
		return e;
	return x * y + z + sink(v, e, f) + g + h;
}

NOINLINE int realignedvla(int a, int b, int c, int d, int e, int f, int g, int n) {
	char v[64] __attribute__((aligned(64)));
	char *p = alloca(n);
	int x = sink(v, p, g);
	return x + sink(p, v) + g + a;
}

NOINLINE int varargs(const char *f, ...) {
	va_list ap;
	va_start(ap, f);
	int x = vprintf(f, ap);
	va_end(ap);
	return x + sink(&x);
}

NOINLINE double floats(double a, double b, const double *p, int n) {
	double s = a;
	for (int i = 0; i < n; i++)
		s += p[i] * b + sink(&s);
	return s;
}

/* Vectors: vzeroupper before every way out, with -mavx2. */
NOINLINE void vectors(float *restrict a, const float *restrict b, int n) {
	float t[64] __attribute__((aligned(32)));
	for (int i = 0; i < 64; i++)
		t[i] = a[i] * b[i];
	sink(t);
	for (int i = 0; i < n; i++)
		a[i] = a[i] * b[i] + t[i & 63];
}

NOINLINE long recurse(long n) { return n <= 1 ? 1 : recurse(n - 1) * n + recurse(n - 2); }

NOINLINE int loops(int n) {
	int s = 0;
	for (int i = 0; i < n; i++)
		for (int j = i; j < n; j++) {
			if (sink(&s, i, j) == 4)
				goto out;
			if (s > 1000)
				return s;
		}
out:
	sink(&s);
	return s + n;
}

NOINLINE long registers(long a, long b, long c, long d, long e, long f) {
	long x = sink(&a), y = sink(&b), z = sink(&c), u = sink(&d), v = sink(&e), w = sink(&f);
	for (long i = 0; i < x; i++)
		y += z * u + v * w + sink(0, i, x, y, z, u, v, w) + a + b + c + d + e + f;
	return x + y + z + u + v + w;
}

NOINLINE int buffers(const char *s) {
	char b[256];
	snprintf(b, sizeof b, "%s", s);
	if (b[0] == 'x')
		return sink(b);
	return strlen(b);
}

int main(int argc, char **argv) { return tails(argc) + sink(argv); }
