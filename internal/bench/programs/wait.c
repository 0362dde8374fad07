/* wait THREADS DEPTH [TICKS]: so many threads, the first one included, each of which
   waits at the bottom of so deep a stack.  Writes a line when all do.

   With TICKS, the first thread ticks at its bottom (ticker.h), and there is one
   thread more.  */
#define _GNU_SOURCE
#include "deep.h"
#include "ticker.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

static atomic_int waiting;
static int threads, depth;

static long
wait_here (void *first)
{
  waiting++;
  if (first)
    {
      struct tick *ticks = *(struct tick **) first;
      while (waiting < threads)
	usleep (1000);
      puts ("ready");
      fflush (stdout);
      if (ticks)
	ticker_run (ticks + TICK_DEEP);
    }
  for (;;)
    pause ();
  return 0;
}

static void *
run (void *arg)
{
  deep_call (depth, wait_here, NULL);
  return arg;
}

/* The first thread's stack is as large as the limit was when the program began.  */
static void
limit_stack (size_t size, char **argv)
{
  struct rlimit limit;
  if (getrlimit (RLIMIT_STACK, &limit) || limit.rlim_cur >= size)
    return;
  limit.rlim_cur = size;
  if (setrlimit (RLIMIT_STACK, &limit) == 0)
    execv ("/proc/self/exe", argv);
  perror ("stack limit");
  exit (1);
}

int
main (int argc, char **argv)
{
  struct tick *ticks = NULL;
  pthread_attr_t attr;
  pthread_t thread;
  size_t size;

  if (argc < 3)
    {
      fprintf (stderr, "usage: wait THREADS DEPTH [TICKS]\n");
      return 2;
    }
  threads = atoi (argv[1]);
  depth = atoi (argv[2]);
  size = ((size_t) depth * DEEP_FRAME + (32 << 10)) & ~4095ul;
  limit_stack (size + (1 << 20), argv);
  prctl (PR_SET_PTRACER, PR_SET_PTRACER_ANY);	/* also where only a parent may attach */
  pthread_attr_init (&attr);
  pthread_attr_setstacksize (&attr, size);
  if (argc > 3)
    ticks = ticker_start (argv[3]);
  for (int i = 1; i < threads; i++)
    if (pthread_create (&thread, &attr, run, NULL))
      {
	perror ("pthread_create");
	return 1;
      }
  return deep_call (depth, wait_here, &ticks);
}
