/* Functions whose frames bring out the forms of an SFrame section. */
#include <stdarg.h>
#include <stddef.h>

extern long sink(void *p, long n);
extern long source(long n);
extern void gone(void) __attribute__((noreturn));

long leaf(long a) { return a * 3 + 1; }

long frame(long a)
{
	long v[4] = {a, a + 1, a + 2, a + 3};
	return sink(v, 4) + a;
}

/* 2-byte offsets. */
long middle(long a)
{
	char v[4000];
	return sink(v, sizeof v) + a;
}

/* 4-byte offsets. */
long big(long a)
{
	char v[70000];
	return sink(v, sizeof v) + a;
}

long dynamic(long n)
{
	char *p = __builtin_alloca(n);
	return sink(p, n) + n;
}

long recurse(long n)
{
	if (n <= 0)
		return source(n);
	return recurse(n - 1) + source(n) + n;
}

long saves(long a, long b, long c, long d)
{
	long e = source(a), f = source(b), g = source(c), h = source(d);
	for (long i = 0; i < e; i++)
		f += source(g + i) * source(h + i) + a;
	return a + b + c + d + e + f + g + h;
}

/* The last instruction is a call. */
void ends(long a)
{
	source(a);
	gone();
}

long variadic(long n, ...)
{
	va_list ap;
	long sum = 0;
	va_start(ap, n);
	while (n-- > 0)
		sum += source(va_arg(ap, long));
	va_end(ap);
	return sum;
}

/* A realigned frame; with variable arguments and -mavx2 a DRAP register. */
long aligned(long n, ...)
{
	va_list ap;
	char v[64] __attribute__((aligned(64)));
	va_start(ap, n);
	v[0] = va_arg(ap, long);
	sink(v, n);
	if (n > 4) {
		char *more = __builtin_alloca(n);
		sink(more, n);
	}
	va_end(ap);
	return v[1];
}

/* FREs beyond 256 bytes of code. */
#define S1(i) s += source(s + i) ^ (s << (i & 7));
#define S8(i) S1(i) S1(i + 1) S1(i + 2) S1(i + 3) S1(i + 4) S1(i + 5) S1(i + 6) S1(i + 7)
long long_one(long s)
{
	if (s == 4)
		return 4;
	S8(0) S8(8) S8(16) S8(24) S8(32)
	if (s == 3)
		return source(3);
	S8(0) S8(8) S8(16)
	return s;
}

/* A leaf that needs a callee-saved register: on s390x it goes to an FPR. */
long busy_leaf(const long *p, long n)
{
	long a = 1, b = 2, c = 3, d = 4, e = 5, f = 6, g = 7, h = 8, i = 9;
	while (n--) {
		a += p[0] ^ b; b += p[1] ^ c; c += p[2] ^ d; d += p[3] ^ e; e += p[4] ^ f;
		f += p[5] ^ g; g += p[6] ^ h; h += p[7] ^ i; i += p[8] ^ a;
		p += a & 7;
	}
	return a + b + c + d + e + f + g + h + i;
}

#ifdef __aarch64__
__attribute__((target("branch-protection=pac-ret"))) long signed_a(long a)
{
	return source(a) + 1;
}

__attribute__((target("branch-protection=pac-ret+b-key"))) long signed_b(long a)
{
	return source(a) + 2;
}
#endif
