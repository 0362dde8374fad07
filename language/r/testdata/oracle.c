/* What R's program of a test calls, by .C. */
#include <sys/time.h>
#include <unistd.h>

/* Stops the timer of R's profiler: SIGPROF comes from the test alone. */
void o_untimed(void) {
	struct itimerval none = {{0, 0}, {0, 0}};
	setitimer(ITIMER_PROF, &none, 0);
}

/* Waits for ever. */
void o_rest(void) {
	for (;;)
		pause();
}

/* R's headers are not needed for two functions and a variable. */
extern void *Rf_lang1(void *), *Rf_eval(void *, void *), *R_GlobalEnv;

/* Calls a function of R. */
void *o_call(void *function) {
	void *result = Rf_eval(Rf_lang1(function), R_GlobalEnv);
	return result;
}
