/* samples THREADS DEPTH FILE: threads that compute at the bottom of so deep a stack, which unwinds and is called anew every few
   milliseconds. Each counts its pieces of work in a word of FILE.  Writes a line when all run.  */
#define _GNU_SOURCE
#include "deep.h"
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>

static int depth;
static uint64_t *done;

static __attribute__ ((noinline, noclone)) long
work (uint64_t *count)
{
  uint64_t x = 88172645463325252u;
  for (int i = 0; i < 20000; i++)
    {
      x ^= x << 13;
      x ^= x >> 7;
      x ^= x << 17;
    }
  ++*count;
  return x & 1;
}

static long
some (void *count)
{
  long sum = 0;
  for (int i = 0; i < 100; i++)
    sum += work (count);
  return sum;
}

static void *
run (void *count)
{
  for (int i = 0;; i++)
    deep_call (depth - i % 8, some, count);
  return NULL;
}

int
main (int argc, char **argv)
{
  if (argc < 4)
    {
      fprintf (stderr, "usage: samples THREADS DEPTH FILE\n");
      return 2;
    }
  int threads = atoi (argv[1]), fd = open (argv[3], O_RDWR);
  pthread_t thread;
  depth = atoi (argv[2]);
  done = mmap (NULL, threads * sizeof *done, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (done == MAP_FAILED)
    {
      perror (argv[3]);
      return 1;
    }
  prctl (PR_SET_PTRACER, PR_SET_PTRACER_ANY);	/* also where only a parent may attach */
  for (int i = 1; i < threads; i++)
    if (pthread_create (&thread, NULL, run, done + i))
      {
	perror ("pthread_create");
	return 1;
      }
  puts ("ready");
  fflush (stdout);
  run (done);
  return 0;
}
