/* run OUT COMMAND ARGS...: runs the command with its output in the file OUT, and
   writes what it took: nanoseconds of wall time, microseconds of CPU time, KiB of
   memory at its peak, and the status that it exited with.

   Linux counts the memory of the process that starts a program, up to the exec, as
   the program's.  So a small program has to start it.  */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { NOT_FOUND = 127 };

static int64_t
now (void)
{
  struct timespec t;
  clock_gettime (CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1000000000ll + t.tv_nsec;
}

int
main (int argc, char **argv)
{
  struct rusage usage;
  int status, out, null;
  int64_t start;
  pid_t pid;

  if (argc < 3)
    return 2;
  out = open (argv[1], O_WRONLY | O_CREAT | O_TRUNC, 0666);
  null = open ("/dev/null", O_RDONLY);
  if (out < 0 || null < 0)
    {
      perror (argv[1]);
      return 1;
    }
  start = now ();
  pid = fork ();
  if (pid == 0)
    {
      prctl (PR_SET_PDEATHSIG, SIGKILL);
      dup2 (null, 0);
      dup2 (out, 1);
      dup2 (out, 2);
      execvp (argv[2], argv + 2);
      _exit (NOT_FOUND);
    }
  if (pid < 0 || wait4 (pid, &status, 0, &usage) != pid)
    {
      perror (argv[2]);
      return 1;
    }
  printf ("%lld %lld %ld %d\n", (long long) (now () - start),
	  (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000ll
	  + usage.ru_utime.tv_usec + usage.ru_stime.tv_usec,
	  usage.ru_maxrss, WIFEXITED (status) ? WEXITSTATUS (status) : 128 + WTERMSIG (status));
  return 0;
}
