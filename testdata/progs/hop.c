/* hop: a library of one function, which calls the next one of a list; see libraries.c.
 *
 * Build: gcc -g -O1 -shared -fPIC hop.c
 */
#include "ready.h"

typedef long (*hop)(void *);

long hop_on(hop *list) {
    hop next = *list;
    long r = next(list + 1);
    KEEP(r);
    return r + 1;
}
