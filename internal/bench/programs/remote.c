/* remote PID: unwinds the first thread of a process with libunwind, by ptrace. The
   process is stopped meanwhile.

   It reads commands from standard input, a letter each, and answers on standard output
   with a line:
     s   unw_step, over and over; answers with the nanoseconds of one frame
     n   the same, without libunwind's cache
     f   answers with the number of frames.  */
#include "unwind.h"
#include <libunwind-ptrace.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

static unw_addr_space_t space;
static void *process;

static int
step (void)
{
  unw_cursor_t cursor;
  int n = 0;
  if (unw_init_remote (&cursor, space, process))
    return 0;
  do
    {
      unw_word_t ip;
      unw_get_reg (&cursor, UNW_REG_IP, &ip);
      n++;
    }
  while (unw_step (&cursor) > 0);
  return n;
}

int
main (int argc, char **argv)
{
  pid_t pid = argc > 1 ? atoi (argv[1]) : 0;
  int c, status;
  if (ptrace (PTRACE_SEIZE, pid, NULL, NULL) || ptrace (PTRACE_INTERRUPT, pid, NULL, NULL)
      || waitpid (pid, &status, __WALL) != pid)
    {
      perror ("ptrace");
      return 1;
    }
  space = unw_create_addr_space (&_UPT_accessors, 0);
  process = _UPT_create (pid);
  while ((c = getchar ()) != EOF)
    {
      unw_set_caching_policy (space, c == 'n' ? UNW_CACHE_NONE : UNW_CACHE_GLOBAL);
      switch (c)
	{
	case 's': case 'n': unwind_time (step); break;
	case 'f': printf ("%d\n", step ()); break;
	default: continue;
	}
      fflush (stdout);
    }
  ptrace (PTRACE_DETACH, pid, NULL, NULL);
  return 0;
}
