/* Times a function that walks a stack, and answers commands.  */

/* Returns how many frames there are.  */
typedef int walk (void);

/* Walks for some milliseconds and writes the nanoseconds of one frame.  The clock is
   read once in 2,000 frames at least.  */
void unwind_time (walk *w);
