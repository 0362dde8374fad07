/* Maps new memory for each line that it reads: a page of code, and a page of none. */
#include "target.h"
#include <sys/mman.h>

enum { PAGE = 4096 };

int main(void) {
    arm();
    puts("ready");
    fflush(stdout);
    while (getchar() == '\n') {
        char *p = mmap(0, 3 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), *other = p + 2 * PAGE;
        if (p == MAP_FAILED || mprotect(p, PAGE, PROT_READ | PROT_EXEC) || mprotect(other, PAGE, PROT_READ | PROT_WRITE))
            return 1;
        printf("%p %p\n", (void *)p, (void *)other);
        fflush(stdout);
    }
}
