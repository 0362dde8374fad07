#include "unwind.h"
#include <stdio.h>
#include <time.h>

static double
now (void)
{
  struct timespec t;
  clock_gettime (CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1e9 + t.tv_nsec;
}

void
unwind_time (walk *w)
{
  int frames = w (), batch = frames > 0 ? 2000 / frames + 1 : 1;
  double start = now (), t;
  long walks = 0;
  do
    {
      for (int i = 0; i < batch; i++)
	w ();
      walks += batch;
      t = now () - start;
    }
  while (t < 5e6);
  printf ("%.3f\n", t / walks / frames);
}
