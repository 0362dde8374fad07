/* A library that busy.lisp loads. Its handler of a signal writes what SBCL's run time says of the
   stack, wherever the thread is: a frame a line, and an empty line behind the last. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

static FILE *out;

static void handler(int signal, siginfo_t *info, void *context) {
	void (*before)(void *, int) = (void (*)(void *, int))dlsym(RTLD_DEFAULT, "backtrace_from_context");
	void (*now)(void *, int, FILE *) = (void (*)(void *, int, FILE *))dlsym(RTLD_DEFAULT, "print_backtrace_from_context");
	if (now) {
		now(context, 100000, out);
	} else { /* up to 2.2 */
		FILE *own = stdout;
		stdout = out;
		before(context, 100000);
		stdout = own;
	}
	fputs("\n", out);
	fflush(out);
	(void)signal, (void)info;
}

__attribute__((constructor)) static void begin(void) {
	struct sigaction action = {0};
	out = fopen(getenv("ORACLE"), "a");
	action.sa_sigaction = handler;
	action.sa_flags = SA_SIGINFO | SA_RESTART;
	sigfillset(&action.sa_mask);
	if (!out || sigaction(SIGRTMIN + 7, &action, NULL))
		abort();
}

/* SBCL ends without a core file at SIGABRT: its own handler must be gone. */
void die(void) {
	signal(SIGABRT, SIG_DFL);
	abort();
}
