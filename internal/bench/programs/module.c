/* What the bench makes shared libraries of, each its own.  */
#include "chain.h"

int
step (const struct call *rest)
{
  volatile int words[4];
  words[0] = rest->step (rest + 1);
  return words[0] + 1;
}
