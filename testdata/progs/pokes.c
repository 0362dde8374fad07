// A program that writes again and again to a page that may not be written. Its signal handler allows it. Its argument
// says how many threads there are.
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

volatile long rounds[64], steps;
static __thread volatile char *volatile page;

static void on_segv(int sig) { mprotect((void *)page, 4096, PROT_READ | PROT_WRITE); }

__attribute__((noinline, noclone)) static void poke(volatile char *p) {
	__asm__ volatile(".globl poked\npoked: movb $1, (%0)" : : "r"(p) : "memory");
}

static void *worker(void *arg) {
	page = mmap(0, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	for (;;) {
		mprotect((void *)page, 4096, PROT_NONE);
		poke(page);
		rounds[(long)arg]++, steps++;
	}
}

int main(int argc, char **argv) {
	struct sigaction a = {.sa_handler = on_segv};
	sigaction(SIGSEGV, &a, 0);
	for (long i = 1; i < atol(argv[1]); i++) {
		pthread_t t;
		pthread_create(&t, 0, worker, (void *)i);
	}
	printf("ready\n");
	fflush(stdout);
	worker(0);
}
