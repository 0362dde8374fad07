/* Stacks as deep as they are wanted, of functions whose frames differ: in size, in
   the registers they save, in what their CFA is counted from.  */

/* Calls bottom, DEPTH functions deep, which returns if the stack shall unwind.  */
long deep_call (int depth, long (*bottom) (void *), void *arg);

/* A frame takes no more, on average.  */
enum { DEEP_FRAME = 256 };
