/* A thread counts, in a word on its stack and in one on the heap, which are never further
 * apart than one. It prints their addresses. "counts THREADS" has so many threads more, which
 * count as well; "counts THREADS BYTES" has the first thread count so deep on its stack. */
#include "target.h"

static volatile long *heap;
static long depth;

static void *count(void *arg) {
    volatile long local = 0;
    volatile long *word = arg ? arg : malloc(sizeof *word);
    *word = 0;
    if (arg)
        SAY("%p\n%p\n", (void *)&local, arg);
    for (;;) {
        local++;
        ++*word;
    }
}

static void *deep(void *arg) {
    volatile char room[depth];
    room[0] = 0;
    return (char *)count(arg) + room[0];
}

int main(int argc, char **argv) {
    arm();
    heap = malloc(sizeof *heap);
    SAY("ready\n");
    for (int i = argc > 1 ? atoi(argv[1]) : 0; i > 0; i--)
        start_thread(count, 0);
    depth = argc > 2 ? atol(argv[2]) : 1;
    start_thread(deep, (void *)heap);
    block();
}
