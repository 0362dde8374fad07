/* A thread that goes to sleep for 50 microseconds, again and again, and notes in a
   file that others read too how long it was away for at most.  */
#include <stdatomic.h>
#include <stdint.h>

struct tick
{
  _Atomic uint64_t longest;	/* nanoseconds; whoever reads it may set it to 0 */
  _Atomic uint64_t count;
};

/* The file: the tick of the program's deep thread, and that of a thread with
   nothing else to do.  */
enum { TICK_DEEP, TICK_IDLE, TICKS };

/* Maps the file, which must exist, and starts the idle thread.  Ends the process
   if it cannot.  */
struct tick *ticker_start (const char *file);

/* Ticks for ever.  */
void ticker_run (struct tick *tick);
