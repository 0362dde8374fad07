/* A call that leads through many modules, one frame in each.  */

/* The calls that are left to make; the last one does not return.  */
struct call
{
  int (*step) (const struct call *rest);
};
