/* Functions whose call frame information is of every common shape. */

typedef double vec __attribute__((vector_size(32)));

int leaf(int a) { return a * 3; }

int (*volatile callee)(int) = leaf;

/* Callee-saved registers, and an early return before the pushes. */
int busy(int n, int *p)
{
	if (!n)
		return 0;
	int a = callee(n), b = callee(a), c = callee(b), d = callee(c), e = callee(d);
	for (int i = 0; i < n; i++) {
		p[i] += a + callee(b) * c - d;
		if (p[i] == 7)
			return callee(e);
	}
	return callee(a + b + c + d + e);
}

/* A frame of variable size needs the frame pointer. */
int variable(int n)
{
	volatile char buf[n];
	for (int i = 0; i < n; i++)
		buf[i] = callee(i);
	return callee(buf[n / 2]);
}

/* A realigned frame with variable size: the CFA needs an expression. */
int realigned(int n, ...)
{
	__builtin_va_list ap;
	__builtin_va_start(ap, n);
	volatile vec v[4] = {{0}};
	volatile char buf[n];
	for (int i = 0; i < n; i++) {
		v[i & 3] += (vec){i, n, 1, 2};
		buf[i] = callee(__builtin_va_arg(ap, int));
	}
	__builtin_va_end(ap);
	return callee(buf[0]) + (int)v[1][2];
}

/* A large frame. */
int large(int n)
{
	volatile int buf[70000];
	for (int i = 0; i < 70000; i++)
		buf[i] = callee(i + n);
	return callee(buf[n]);
}

/* Floating-point registers that a call must save. */
double floating(double a, double b, double c, int n)
{
	double x = a * b, y = b * c, z = c * a, w = a + b + c;
	for (int i = 0; i < n; i++) {
		callee(i);
		x += y * z;
		y -= w;
		z *= a;
	}
	return x + y + z + w + callee(n);
}

/* A leaf that needs more registers than a call leaves free. */
long pressed(long *p, long n)
{
	long a = p[0], b = p[1], c = p[2], d = p[3], e = p[4], f = p[5], g = p[6];
	for (long i = 0; i < n; i++) {
		a += b ^ i, b -= c & a, c ^= d + b, d |= e - c, e += f ^ d, f -= g & e, g ^= a + f;
		p[i] = a * c + e;
	}
	return a + b + c + d + e + f + g;
}

/* No way back. */
void never(int n)
{
	for (;;)
		callee(n++);
}

int main(int argc, char **argv)
{
	int p[3] = {argc, 2, 3};
	return busy(argc, p) + variable(argc) + realigned(argc, 1, 2, 3) + large(argc) + (int)floating(argc, 2, 3, argc) + (argv ? 0 : (never(argc), 0));
}
