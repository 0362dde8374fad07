/* A thread that splits mappings and joins them again without pause: more of them than the
 * kernel lists in one piece. */
#include "target.h"
#include <sys/mman.h>

enum { PAGE = 4096, PAGES = 600 };

static void *remap(void *room) {
    for (;;) {
        for (int i = 0; i < PAGES; i += 2)
            mprotect((char *)room + i * PAGE, PAGE, PROT_READ);
        mprotect(room, PAGES * PAGE, PROT_READ | PROT_WRITE);
    }
    return 0;
}

int main(void) {
    arm();
    void *room = mmap(0, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (room == MAP_FAILED)
        return 1;
    start_thread(remap, room);
    SAY("ready\n");
    block();
}
