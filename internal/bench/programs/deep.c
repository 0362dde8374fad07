#include "deep.h"
#include <string.h>

/* Registers are saved for what a function still needs after its call; the compiler
   must not see through the calls, nor leave the call for last.  */
#define FRAME __attribute__ ((noinline, noclone))

struct below
{
  long (*bottom) (void *);
  void *arg;
};

typedef long frame (int, struct below *);
static frame plain, one, many, large, varying, array, pair, loop;

#define NEXT(f) (depth > 1 ? f (depth - 1, b) : b->bottom (b->arg))

FRAME static long
plain (int depth, struct below *b)
{
  return NEXT (one) + 1;
}

FRAME static long
one (int depth, struct below *b)
{
  return NEXT (many) + depth;
}

FRAME static long
many (int depth, struct below *b)
{
  long u = depth * 3l, v = u ^ 5, w = v * u, x = w - u, y = x * v;
  long r = NEXT (large);
  return r + (u ^ v) + (w ^ x) * y + depth;
}

FRAME static long
large (int depth, struct below *b)
{
  volatile char bytes[200];
  bytes[depth & 127] = depth;
  return NEXT (varying) + bytes[depth & 127];
}

FRAME static long
varying (int depth, struct below *b)	/* its CFA is counted from the frame pointer */
{
  volatile char bytes[16 + depth % 3 * 16];
  bytes[depth & 15] = depth;
  return NEXT (array) + bytes[depth & 15];
}

FRAME static long
array (int depth, struct below *b)
{
  volatile long words[8];
  for (int i = 0; i < 8; i++)
    words[i] = depth + i;
  return NEXT (pair) + words[depth & 7];
}

FRAME static long
pair (int depth, struct below *b)
{
  long twice = depth * 2l;
  return NEXT (loop) * twice + depth;
}

FRAME static long
loop (int depth, struct below *b)
{
  long sum = 0;
  for (int i = 0; i <= depth >> 30; i++)
    sum += NEXT (plain) ^ i;
  return sum;
}

long
deep_call (int depth, long (*bottom) (void *), void *arg)
{
  struct below b = { bottom, arg };
  return plain (depth, &b);
}
