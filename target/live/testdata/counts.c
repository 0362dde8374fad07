/* A thread counts, in a word on its stack and in one on the heap, which are never further
 * apart than one. It prints their addresses. "counts THREADS" has so many threads more, which
 * count as well; "counts THREADS BYTES" has the first thread count so deep on its stack, which
 * is a mapping of its own: by glibc 2.42 and Linux 6.13 those of several threads are one, for what
 * guards them is not seen in /proc/PID/maps any more. */
#include "target.h"
#include <sys/mman.h>

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
    const long size = 4 << 20, guard = 1 << 16;
    char *room = mmap(0, size + 2 * guard, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    pthread_t t;
    pthread_attr_t attr;
    if (room == MAP_FAILED || mprotect(room + guard, size, PROT_READ | PROT_WRITE) || pthread_attr_init(&attr) ||
        pthread_attr_setstack(&attr, room + guard, size) || pthread_create(&t, &attr, deep, (void *)heap))
        _exit(4);
    block();
}
