/* Structs of GNU C whose size only the frame tells: arrays of variable length are their members. */
#include "ready.h"

NOINLINE static int hold(int n)
{
    struct { int k; int many[n]; } last;
    struct { short many[n]; int behind; struct { char text[n]; } inner; } first;
    union { int many[n]; double d; } both;
    struct { int k; int many[n]; } each[2], *to = &last;
    struct named { int k; long rows[n][2]; } named, *toNamed = &named;

    last.k = 4, first.behind = 5, named.k = 6, each[0].k = each[1].k = 7, both.d = 0;
    for (int i = 0; i < n; i++) {
        last.many[i] = i * i, first.many[i] = i, first.inner.text[i] = 'a' + i, both.many[i] = i;
        each[0].many[i] = each[1].many[i] = i + 1, named.rows[i][0] = i, named.rows[i][1] = -i;
    }
    ready();
    block();
    return last.k + first.behind + both.many[0] + each[0].k + to->many[0] + toNamed->k;
}

int main(int argc, char **argv)
{
    arm();
    return hold(argc + 2);
}
