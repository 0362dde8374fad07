#define _GNU_SOURCE
#include "ticker.h"
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>

static uint64_t
now (void)
{
  struct timespec t;
  clock_gettime (CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1000000000ull + t.tv_nsec;
}

void
ticker_run (struct tick *tick)
{
  const struct timespec pause = { 0, 50000 };
  uint64_t last = now ();
  prctl (PR_SET_TIMERSLACK, 1);	/* else sleeps end up to 50 microseconds late */
  for (;;)
    {
      clock_nanosleep (CLOCK_MONOTONIC, 0, &pause, NULL);
      uint64_t t = now ();
      if (t - last > tick->longest)
	tick->longest = t - last;
      tick->count++;
      last = t;
    }
}

static void *
idle (void *ticks)
{
  ticker_run ((struct tick *) ticks + TICK_IDLE);
  return NULL;
}

struct tick *
ticker_start (const char *file)
{
  int fd = open (file, O_RDWR);
  struct tick *ticks = MAP_FAILED;
  pthread_t thread;
  if (fd >= 0)
    ticks = mmap (NULL, TICKS * sizeof *ticks, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (ticks == MAP_FAILED || pthread_create (&thread, NULL, idle, ticks))
    {
      perror (file);
      exit (1);
    }
  return ticks;
}
