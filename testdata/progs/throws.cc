// A program whose threads throw exceptions through frames, and leave signal handlers on stacks of their own by
// siglongjmp(3). Its argument says how many threads there are.
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define NOINLINE extern "C" __attribute__((noinline, noclone))

extern "C" { volatile long cleaned[64], rounds[64], steps; }
static __thread sigjmp_buf out;

struct guard {
	long n;
	~guard() { cleaned[n]++; }
};

NOINLINE void thrower(long n, long depth) {
	guard g{n};
	if (depth == 0)
		throw n;
	thrower(n, depth - 1);
	cleaned[n] += 1000; // never
}
NOINLINE long leaver(long n) { guard g{n}; thrower(n, 5); return -1; }
NOINLINE long catcher(long n) {
	try {
		return leaver(n);
	} catch (long thrown) {
		return 10 * thrown;
	}
}
NOINLINE void on_alt(int sig) { siglongjmp(out, 1); }
NOINLINE long alt(long n) {
	if (sigsetjmp(out, 1) == 0)
		raise(SIGUSR2);
	return n + 1;
}
NOINLINE long round_(long n) {
	long r = catcher(n);
	r += alt(n);
	rounds[n]++, steps++;
	return r;
}
static void *worker(void *p) {
	stack_t s = {};
	s.ss_size = 1 << 16;
	s.ss_sp = malloc(s.ss_size);
	sigaltstack(&s, 0);
	for (;;)
		round_((long)p);
}

int main(int argc, char **argv) {
	struct sigaction a = {};
	a.sa_handler = on_alt;
	a.sa_flags = SA_ONSTACK;
	sigaction(SIGUSR2, &a, 0);
	for (long i = 1; i <= atol(argv[1]); i++) {
		pthread_t t;
		pthread_create(&t, 0, worker, (void *)i);
	}
	printf("ready\n");
	fflush(stdout);
	pause();
}
