// A program whose functions call themselves, are left by longjmp(3), and are interrupted by signals. Its argument
// says how many rounds it makes; then its standard input has a byte for each.
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline, noclone))

struct pair { long a, b; };
struct large { long x[9]; };

volatile long rounds, handled, sink, result;
static jmp_buf out;

NOINLINE long leaf(long n) { sink += n; return n * 3; }
// Each call has a frame of its own, with one return address.
NOINLINE long deep(long n) { volatile long here = n; return n == 0 ? leaf(here) : deep(n - 1) + here; }
NOINLINE double mean(double a, double b) { sink++; return (a + b) / 2; }
NOINLINE struct pair both(long n) { sink++; return (struct pair){n, -n}; }
NOINLINE struct large many(long n) { struct large l; for (int i = 0; i < 9; i++) l.x[i] = n + i; sink++; return l; }
NOINLINE signed char small(long n) { sink++; return (signed char)n; }
NOINLINE void jumper(long n) { volatile long here = n; if (n) jumper(n - 1); else longjmp(out, 7); sink += here; }
// The frame of leaver is left; that of catcher stays.
NOINLINE long leaver(long n) { volatile long here = n; jumper(n); return here; }
NOINLINE long catcher(long n) { volatile long here = n; if (setjmp(out) == 0) return leaver(here) + 1; return -here; }
static void handler(int sig) { handled += deep(2); }
NOINLINE long raises(long n) { raise(SIGUSR1); return n + 1; }
NOINLINE long calls_all(long n) {
	long r = deep(n);
	r += (long)mean(n, 3);
	r += both(n).b;
	r += many(n).x[8];
	r += small(-n);
	r += catcher(3);
	r += raises(n);
	return r;
}

int main(int argc, char **argv) {
	int n = argc > 1 ? atoi(argv[1]) : 6; // rounds before it reads
	signal(SIGUSR1, handler);
	printf("ready\n");
	fflush(stdout);
	char c = 5;
	while (n-- > 0 || read(0, &c, 1) > 0) {
		result = calls_all(c);
		rounds++;
		printf("round %ld %ld\n", rounds, result);
		fflush(stdout);
	}
	return 0;
}
