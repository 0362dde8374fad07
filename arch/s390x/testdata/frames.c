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

/* A leaf that needs more registers than a call may change: it keeps r6 and so on
   in floating-point registers, r11, r14 and r15 last. */
NOINLINE long pressure(long *p, long n) {
	long a = p[0], b = p[1], c = p[2], d = p[3], e = p[4], f = p[5], g = p[6], h = p[7], i = p[8];
	while (n--) {
		a += b ^ n;
		b += c * a;
		c ^= d - b;
		d += e ^ c;
		e -= f + d;
		f ^= g + e;
		g += h - f;
		h ^= i + g;
		i += a ^ h;
		if (a < h)
			p[n & 7] = c;
	}
	return a ^ b ^ c ^ d ^ e ^ f ^ g ^ h ^ i;
}

/* So does one with a frame of its own. */
NOINLINE long pressed(long *p, long n) {
	volatile long t[24];
	long a = p[0], b = p[1], c = p[2], d = p[3], e = p[4], f = p[5], g = p[6], h = p[7], i = p[8], j = p[9], k = p[10], l = p[11];
	for (long x = 0; x < n; x++) {
		t[x % 24] = a;
		a += b ^ x; b += c * a; c ^= d - b; d += e ^ c; e -= f + d; f ^= g + e;
		g += h - f; h ^= i + g; i += j ^ h; j -= k + i; k ^= l + j; l += a - k;
		p[x & 7] = t[(x + 5) % 24] + p[x & 3];
	}
	return a ^ b ^ c ^ d ^ e ^ f ^ g ^ h ^ i ^ j ^ k ^ l ^ t[n % 24];
}

/* The link register, too. */
NOINLINE long linkless(long *p, long n) {
	while (n--) {
		__asm__ volatile("lgr %%r14,%0" : : "d"(n) : "r14");
		p[n] += n;
	}
	return p[0];
}

/* Above the reach of a displacement of 20 bits. */
NOINLINE int vast(int n) {
	char a[3000000];
	return sink(a, n) + n;
}

/* More floating-point registers than a call may change. */
NOINLINE double kept(double a, double b, double c, double d) {
	double x = sink(&a), y = sink(&b), z = sink(&c);
	return x * a + y * b + z * c + d + sink(&x) + x * y + z;
}

NOINLINE long double wide(long double a, long double b) {
	long double x = sink(&a) * b, y = sink(&b) + x;
	return x * y + sink(&x) * a;
}

NOINLINE void *caller(int n) { return n > 2 ? __builtin_return_address(0) : (void *)(long)sink(&n); }

NOINLINE void copies(char *p, const char *q, long n) {
	char b[300];
	memset(b, 0, sizeof b);
	memcpy(b, q, n);
	sink(b);
	memcpy(p, b, n);
}

int main(int argc, char **argv) { return tails(argc) + sink(argv); }
