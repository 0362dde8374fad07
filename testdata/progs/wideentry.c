/* Arguments in vector registers, which callers tell as numbers of 16 bytes. */
#include "ready.h"

NOINLINE static int leaf(__float128 quad, double twice, float single, _Decimal64 decimal)
{
    ready();
    block();
    return 1;
}

NOINLINE static int pass(__float128 given)
{
    int n = leaf(-2.25Q, 2.5, 1.5f, 8.5dd);
    KEEP(n);
    return n;
}

int main(void)
{
    arm();
    int n = pass(7.5Q);
    KEEP(n);
    return n;
}
