// A program whose main thread is where its argument says, and then tells on standard output what it has
// seen. Threads count on meanwhile.
#define _GNU_SOURCE
#include <errno.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

volatile long calls, counters[64], steps, signals;
volatile int crashes;

__attribute__((noinline)) long add(long a, long b) { calls++; return a + b; }
__attribute__((noinline)) double half(double x) { calls++; return x / 2; }
__attribute__((noinline)) long crash(void) { calls++; return *(volatile int *)8; }
__attribute__((noinline)) long aborts(void) { abort(); }
__attribute__((noinline)) long sleeps(long s) { struct timespec t = {s, 0}; calls++; return nanosleep(&t, 0); }
__attribute__((noinline)) long ends(void) { pthread_exit(0); }
__attribute__((noinline)) long exits(void) { _exit(3); }
__attribute__((noinline)) void step(long i) { __atomic_add_fetch(&steps, 1, __ATOMIC_RELAXED); }
__attribute__((noinline)) long forks(void) { pid_t p = fork(); if (!p) { step(1); _exit(7); } int s; return syscall(SYS_wait4, p, &s, 0, 0) == p ? s : -1; }
__attribute__((noinline)) long vforks(void) { pid_t p = vfork(); if (!p) _exit(7); int s; return syscall(SYS_wait4, p, &s, 0, 0) == p ? s : -1; }

static int cloned(void *p) { step(1); _exit(7); }
static long clones(int flags) {
	static char stack[1 << 16];
	int s, p = clone(cloned, stack + sizeof stack, flags, 0);
	return waitpid(p, &s, __WALL) == p ? s : -1;
}
#ifdef __x86_64__
// 2 bytes are pushed and popped, too.
static void *flags(void *p) {
	for (unsigned long f, g = 0; ; steps++) {
		asm volatile("sub $128, %%rsp\n pushfq\n .globl pushed\npushed: pushfq\n popq %0\n popfq\n"
			"pushfw\n movw (%%rsp), %w1\n popfw\n add $128, %%rsp" : "=r"(f), "+r"(g) :: "cc", "memory");
		counters[0] += ((f | g) & 0x100) != 0;
	}
}
#endif

static void *count(void *p) { for (long i = (long)p; ; ) counters[i]++; }
static void *loop(void *p) { for (long i = 0; ; i++) step(i); }
static void *tally(void *p) { for (long i = (long)p; ; ) { counters[i]++; step(1); } }
static volatile int sums[1000];
static void queued(int sig, siginfo_t *s, void *p) { sums[s->si_value.sival_int]++; __atomic_fetch_add(&signals, 1, __ATOMIC_RELAXED); }
static void *sends(void *p) {
	char c;
	if (read(0, &c, 1) == 1)
		for (int i = 0; i < 1000; i++)
			while (sigqueue(getpid(), SIGRTMIN, (union sigval){i}) != 0)
				sched_yield();
	return 0;
}
static void *nothing(void *p) { return 0; }
static void *churns(void *p) { for (;;) { pthread_t t; if (!pthread_create(&t, 0, nothing, 0)) { pthread_join(t, 0); steps++; } } }
static void *blocked(void *p) { for (;;) pause(); }
static void handler(int sig) { signals++; }
static void reads(int sig) { char c; while (read(0, &c, 1) > 0) ; }
// A handler waits on an alternate stack in the heap.
static void alt(int size) {
	stack_t s = {.ss_sp = malloc(size), .ss_size = size};
	struct sigaction a = {.sa_handler = reads, .sa_flags = SA_ONSTACK};
	sigaltstack(&s, 0);
	sigaction(SIGUSR2, &a, 0);
	raise(SIGUSR2);
}

int main(int argc, char **argv) {
	const char *where = argc > 1 ? argv[1] : "read";
	int threads = argc > 2 ? atoi(argv[2]) : 0;
	struct sigaction a = {.sa_handler = handler, .sa_flags = SA_RESTART};
	sigaction(SIGUSR1, &a, 0);
	for (long i = 0; i < threads && strcmp(where, "alt"); i++) {
		pthread_t t;
		pthread_create(&t, 0, !strcmp(where, "loop") || !strcmp(where, "forks") || !strcmp(where, "vforks") ? loop : !strcmp(where, "tally") ? tally : !strcmp(where, "spin") ? count : blocked, (void *)i);
	}
	if (!strcmp(where, "signals")) {
		struct sigaction q = {.sa_sigaction = queued, .sa_flags = SA_RESTART | SA_SIGINFO};
		sigaction(SIGRTMIN, &q, 0);
		pthread_t t;
		pthread_create(&t, 0, churns, 0);
		pthread_create(&t, 0, sends, 0);
	}
	printf("ready\n");
	fflush(stdout);
	errno = 0; // malloc asks for random numbers, which a machine may lack that has just begun
	char c;
	long r = 0;
	static int word = 1;
	struct timespec t = {8, 0}; // time enough for calls on a busy machine
	struct pollfd in = {0, POLLIN, 0};
	if (!strcmp(where, "alt"))
		alt(threads);
	else if (!strcmp(where, "forks")) {
		int child = 0, shell = 0;
		r = read(0, &c, 1);
		for (int i = 0; i < 20 && r == 1; i++) {
			child = forks();
			shell = system("exit 5");
			if (!WIFEXITED(child) || WEXITSTATUS(child) != 7 || !WIFEXITED(shell) || WEXITSTATUS(shell) != 5)
				break;
		}
		printf("forked %d %d\n", child >> 8, shell >> 8);
		fflush(stdout);
	} else if (!strcmp(where, "clones")) {
		long own = 0, shared = 0;
		r = read(0, &c, 1);
		own = clones(0);
		shared = clones(CLONE_VM | SIGCHLD);
		step(1);
		printf("cloned %ld %ld\n", own, shared);
		fflush(stdout);
	} else if (!strcmp(where, "vforks")) {
		if (!vfork()) {
			syscall(SYS_read, 0, &c, 1);
			_exit(0);
		}
		r = 1;
#ifdef __x86_64__
	} else if (!strcmp(where, "flags")) {
		flags(0);
#endif
	} else if (!strcmp(where, "nanosleep"))
		r = nanosleep(&t, 0);
	else if (!strcmp(where, "poll"))
		r = poll(0, 0, 8000);
	else if (!strcmp(where, "futextimeout"))
		r = syscall(SYS_futex, &word, FUTEX_WAIT, 1, &t, 0, 0);
	else if (!strcmp(where, "pollin"))
		r = poll(&in, 1, -1);
	else if (!strcmp(where, "spinmain"))
		for (double x = 1; r += x > 0, !__atomic_load_n(&crashes, __ATOMIC_RELAXED);)
			x = x * 1.5 + 1;
	else if (!strcmp(where, "signals")) {
		while (signals < 1000)
			poll(0, 0, 1);
		for (int i = 0; i < 1000; i++)
			r += sums[i] != 1; // lost, or more than once
	} else if (!strcmp(where, "exec"))
		r = read(0, &c, 1), execl("/proc/self/exe", argv[0], "read", (char *)0);
	else if (!strcmp(where, "ends"))
		r = read(0, &c, 1), ends();
	else if (!strcmp(where, "exits"))
		r = read(0, &c, 1), exits();
	else
		r = read(0, &c, 1);
	printf("%s %ld %d calls %ld\n", where, r > 1 ? 1 : r, errno, calls);
	fflush(stdout);
	while (read(0, &c, 1) > 0)
		;
	return 0;
}
