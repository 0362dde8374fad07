/* libraries: a stack that goes through many libraries.
 *
 * Proves: what hundreds of small files cost together is bounded.
 *
 *   libraries LIBRARY…
 *
 * Each LIBRARY is hop.c, or a copy of it; each calls the next, and the last one calls block.
 *
 * Build: gcc -O1 libraries.c -ldl
 */
#include <dlfcn.h>
#include <stdlib.h>
#include "ready.h"

typedef long (*hop)(void *);

static NOINLINE long last(void *list) {
    ready();
    block();
    KEEP(list);
    return 0;
}

int main(int argc, char **argv) {
    arm();
    hop *list = calloc(argc + 1, sizeof *list);
    for (int i = 1; i < argc; i++) {
        void *library = dlopen(argv[i], RTLD_NOW);
        if (!library || !(list[i - 1] = (hop)dlsym(library, "hop_on")))
            return 3;
    }
    list[argc - 1] = last;
    return (int)list[0](list + 1);
}
