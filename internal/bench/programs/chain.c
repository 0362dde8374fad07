/* chain MODULE...: loads shared libraries made of module.c and calls through all of
   them. Waits in the last call, after it has written a line.  */
#include "chain.h"
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

static int
wait_here (const struct call *rest)
{
  puts ("ready");
  fflush (stdout);
  for (;;)
    pause ();
  return rest != NULL;
}

int
main (int argc, char **argv)
{
  prctl (PR_SET_PTRACER, PR_SET_PTRACER_ANY);	/* also where only a parent may attach */
  struct call *calls = calloc (argc, sizeof *calls);
  for (int i = 1; i < argc; i++)
    {
      void *module = dlopen (argv[i], RTLD_NOW);
      if (!module || !(calls[i - 1].step = dlsym (module, "step")))
	{
	  fprintf (stderr, "%s\n", dlerror ());
	  return 1;
	}
    }
  calls[argc - 1].step = wait_here;
  return calls->step (calls + 1);
}
