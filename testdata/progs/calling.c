// A program that waits in read(2) while others have it call functions.
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int global = 42;
volatile long counts[50];

int dump_state(int level, const char *file) {
	FILE *f = fopen(file, "w");
	if (!f)
		return -1;
	fprintf(f, "level %d\n", level);
	return fclose(f);
}

int crash(int *p) { return *p; }

int nap(int seconds) { return sleep(seconds); }

// Blocks two signals. Then it returns, faults, or does not come back.
int blocks(int how) {
	sigset_t set;
	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	sigaddset(&set, SIGWINCH);
	if (sigprocmask(SIG_BLOCK, &set, 0))
		return -1;
	if (how == 1)
		return *(volatile int *)8;
	while (how == 2)
		pause();
	return how;
}

static void *count(void *p) {
	for (;;)
		++*(volatile long *)p;
}

int main(int argc, char **argv) {
	for (int i = 0; i < (argc > 1 ? atoi(argv[1]) : 0); i++) {
		pthread_t t;
		pthread_create(&t, 0, count, (void *)&counts[i]);
	}
	dup2(open("/dev/null", O_RDONLY), 9);
	puts("ready");
	fflush(stdout);
	char c;
	while (read(0, &c, 1) > 0)
		;
	return 0;
}
