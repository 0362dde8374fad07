#include <erl_nif.h>

/* Runs for as many turns as its argument says. */
static ERL_NIF_TERM turns(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	int n;
	volatile int sum = 0;
	if (!enif_get_int(env, argv[0], &n))
		return enif_make_badarg(env);
	for (int i = 0; i < n; i++)
		sum += i;
	return enif_make_int(env, sum & 1);
}

static ErlNifFunc functions[] = {{"native", 1, turns, 0}, {"dirty", 1, turns, ERL_NIF_DIRTY_JOB_CPU_BOUND}};

ERL_NIF_INIT(running, functions, NULL, NULL, NULL, NULL)
