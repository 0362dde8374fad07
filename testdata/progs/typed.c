/* Floating-point variables that optimizing compilers keep in vector registers or in the x87's, or compute from what is
   there: DW_OP_regval_type, DW_OP_convert, DW_OP_const_type and arithmetic of types. The program spins at the label stop, or goes on if
   ONCE is defined. */
#include <stdio.h>

volatile double vd;
volatile float vf;
volatile long double vl;

#ifdef ONCE
#define SPIN "nop"
#elif defined __x86_64__ || defined __i386__
#define SPIN "1: jmp 1b"
#elif defined __aarch64__ || defined __arm__
#define SPIN "1: b 1b"
#else
#define SPIN "1: j 1b"
#endif
#if defined __x86_64__ || defined __i386__ && defined __SSE2_MATH__
#define IN "x"
#elif defined __aarch64__ || defined __arm__
#define IN "w"
#else
#define IN "f"
#endif

__attribute__((noinline)) double compute(double a, float b, long double c)
{
	long truncated = (long)a;
	int less = a < b, rounded = (int)b;
	unsigned long bits = (unsigned long)a;
	double same = b, sum = a + same, product = a * a - b, negated = -a, narrowed = (double)c, quotient = a / b;
	float narrow = (float)a, square = b * b;
	long double wide = a, twice = (long double)b * 2, wideSum = c + a, wideProduct = c * c, wideNegated = -c, third = c / 3;
	asm volatile("" ::IN(a), IN(b));
#ifdef __s390x__
	asm volatile("lghi %%r2, 0" ::: "r2"); /* tests of guests take it for the address of a text */
#endif
	asm volatile(".globl stop\nstop: " SPIN);
	vd = a;
	vl = b;
	vf = b;
	return a * b;
}

int main(int argc, char **argv)
{
	puts("ready");
	fflush(stdout);
	return compute(argc * 3.5, argc * 2.25f, argc * 1.125L) < 0;
}
