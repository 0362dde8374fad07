/* A library for programs of Scheme. Its handler of SIGUSR2 writes what the program has told last, and
   an empty line: "phase<tab>name" of the procedure that runs, and
   "frame<tab>name<tab>file<tab>line<tab>column" of the procedures that wait, the innermost first, or
   nothing if some of them may not wait. */
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int out = -1;
static char phase[100], texts[2][1 << 21];
static char *volatile text = texts[0];

static void say(const char *what) {
	size_t left = strlen(what);
	while (left > 0) {
		ssize_t n = write(out, what, left);
		if (n < 0)
			_exit(3);
		what += n;
		left -= n;
	}
}

static void tell(int sig) {
	say("phase\t");
	say(phase);
	say("\n");
	say(text);
	say("\n");
}

void oracle_init(void) {
	struct sigaction handler;
	memset(&handler, 0, sizeof handler);
	handler.sa_handler = tell;
	handler.sa_flags = SA_RESTART;
	sigaction(SIGUSR2, &handler, NULL);
	out = open(getenv("ORACLE"), O_WRONLY | O_APPEND);
}

void oracle_ready(void) {
	if (write(1, "ready\n", 6) < 0)
		_exit(3);
}

void oracle_phase(const char *name) {
	strncpy(phase, name, sizeof phase - 1);
}

void oracle_frames(const char *frames) {
	char *next = text == texts[0] ? texts[1] : texts[0];
	strncpy(next, frames, sizeof texts[0] - 1);
	text = next;
}

/* Runs in C for a while. */
int oracle_spin(int n) {
	volatile int sum = 0;
	for (int i = 0; i < n; i++)
		sum += i;
	return sum;
}

/* Calls a procedure by way of C. */
int oracle_call(int (*procedure)(void)) {
	int result = procedure();
	__asm__ volatile("" : : : "memory");
	return result + 1;
}

/* Comes to rest. */
int oracle_rest(void) {
	for (;;)
		pause();
}
