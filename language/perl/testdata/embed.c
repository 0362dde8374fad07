/* A program that has two interpreters of perl within. One runs the script of the first argument on
   the first thread, with the other arguments; one recurses on another thread, and works there for
   ever. */
#include <EXTERN.h>
#include <perl.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

EXTERN_C void boot_DynaLoader(pTHX_ CV *cv);

static void modules(pTHX) { newXS("DynaLoader::boot_DynaLoader", boot_DynaLoader, __FILE__); }

static void run(PerlInterpreter *my_perl, int argc, char **argv) {
	PERL_SET_CONTEXT(my_perl);
	perl_construct(my_perl);
	if (perl_parse(my_perl, modules, argc, argv, NULL))
		exit(2);
	perl_run(my_perl);
}

static int begun[2];

static void *other(void *unused) {
	static char from[20];
	static char *args[] = {"second", "-e",
		"sub Second::deep { my $n = shift; return 1 + Second::deep($n - 1) if $n; open my $to, '>&=', $ARGV[0]; syswrite $to, 'x'; 1 while 1 } Second::deep(5)",
		from, NULL};
	snprintf(from, sizeof from, "%d", begun[1]);
	run(perl_alloc(), 4, args);
	return NULL;
}

int main(int argc, char **argv, char **env) {
	PerlInterpreter *first;
	pthread_t t;
	sigset_t all, none;
	char c;
	PERL_SYS_INIT3(&argc, &argv, &env);
	first = perl_alloc(); /* signals are for the interpreter that is made first */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &none);
	if (pipe(begun) || pthread_create(&t, NULL, other, NULL) || read(begun[0], &c, 1) != 1)
		return 1;
	pthread_sigmask(SIG_SETMASK, &none, NULL);
	run(first, argc, argv);
	return 0;
}
