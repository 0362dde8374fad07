/* The functions of all processors, and what s390x has in addition. */
#include "../../testdata/frames.c"

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
