/* local DEPTH: unwinds its own stack, so deep, with libunwind.

   It reads commands from standard input, a letter each, and answers on standard output
   with a line:
     s   unw_step, over and over; answers with the nanoseconds of one frame
     n   the same, without libunwind's cache
     r   the same as s, and each frame's callee-saved registers are read
     b   unw_backtrace, over and over
     f   answers with the number of frames.  */
#define UNW_LOCAL_ONLY
#include "deep.h"
#include "unwind.h"
#include <libunwind.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST = 100000 };
static void *pcs[MOST];
static volatile unw_word_t sink;

static const unw_regnum_t saved[] = {
#ifdef __x86_64__
  UNW_X86_64_RBX, UNW_X86_64_RBP, UNW_X86_64_R12, UNW_X86_64_R13, UNW_X86_64_R14, UNW_X86_64_R15
#endif
};

static inline int
step_all (int registers)
{
  unw_context_t context;
  unw_cursor_t cursor;
  int n = 0;
  unw_getcontext (&context);
  unw_init_local (&cursor, &context);
  do
    {
      unw_word_t word;
      unw_get_reg (&cursor, UNW_REG_IP, &word);
      pcs[n++] = (void *) word;
      for (size_t i = 0; registers && i < sizeof saved / sizeof *saved; i++)
	if (!unw_get_reg (&cursor, saved[i], &word))
	  sink = word;
    }
  while (n < MOST && unw_step (&cursor) > 0);
  return n;
}

static int step (void) { return step_all (0); }
static int step_registers (void) { return step_all (1); }
static int backtrace_all (void) { return unw_backtrace (pcs, MOST); }

static long
answer (void *arg)
{
  int c;
  while ((c = getchar ()) != EOF)
    {
      unw_set_caching_policy (unw_local_addr_space, c == 'n' ? UNW_CACHE_NONE : UNW_CACHE_GLOBAL);
      switch (c)
	{
	case 's': case 'n': unwind_time (step); break;
	case 'r': unwind_time (step_registers); break;
	case 'b': unwind_time (backtrace_all); break;
	case 'f': printf ("%d\n", step ()); break;
	default: continue;
	}
      fflush (stdout);
    }
  exit (arg != NULL);
}

int
main (int argc, char **argv)
{
  return argc < 2 ? 2 : deep_call (atoi (argv[1]), answer, NULL);
}
