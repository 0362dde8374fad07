/* For each line that it reads, it makes a page of code, and a page of other memory: by turns in memory
   that is new, and in memory that it had reserved. */
#include "target.h"
#include <sys/mman.h>

enum { PAGE = 4096, PAGES = 4096 };

static char *reserve(int pages) { return mmap(0, (size_t)pages * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); }

int main(void) {
    char *reserved = reserve(PAGES);
    arm();
    puts("ready");
    fflush(stdout);
    for (int i = 1; 3 * i < PAGES && getchar() == '\n'; i++) {
        char *p = i % 2 ? reserve(3) : reserved + 3 * i * PAGE, *other = p + 2 * PAGE;
        if (p == MAP_FAILED || mprotect(p, PAGE, PROT_READ | PROT_EXEC) || mprotect(other, PAGE, PROT_READ | PROT_WRITE))
            return 1;
        printf("%p %p\n", (void *)p, (void *)other);
        fflush(stdout);
    }
}
