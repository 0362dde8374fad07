// main THREADS DEPTH: so many threads, each of which waits below DEPTH calls of a unit's run, and each in another unit,
// as long as there are some.  Writes a line when all wait.  Without arguments, it ends at once.
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <sys/prctl.h>
#include <thread>
#include <unistd.h>
#include <vector>

typedef double run_function (int depth, const std::function<double (int)> &last);

#define UNIT(N) namespace unit##N { run_function run; }
#include "units.h"
#undef UNIT
#define UNIT(N) unit##N::run,
static run_function *const units[] = {
#include "units.h"
};

static std::atomic<int> waiting;

static double
wait_here (int n)
{
  waiting++;
  for (;;)
    pause ();
  return n;
}

int
main (int argc, char **argv)
{
  if (argc < 3)
    return 0;
  int threads = atoi (argv[1]), depth = atoi (argv[2]);
  prctl (PR_SET_PTRACER, -1, 0, 0, 0);
  std::vector<std::thread> all;
  for (int i = 0; i < threads; i++)
    all.emplace_back ([=] { units[i % (sizeof units / sizeof *units)](depth, wait_here); });
  while (waiting < threads)
    usleep (1000);
  puts ("ready");
  fflush (stdout);
  for (;;)
    pause ();
}
