/* nextstack: other memory begins where a thread's stack ends.
 *
 * Proves: memory next to a stack is read as any other.
 *
 * A thread computes. Its stack is the first part of one mapping; the number 16 KiB behind it is 77.
 *
 * Build: gcc -O1 -g nextstack.c -pthread
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sys/mman.h>

#include "ready.h"

#define SIZE (256 << 10)
#define BEHIND (16 << 10)

long *next_number;
char next_room[4 << 20] = {1}; /* in the file, for the module to be as large as an interpreter */

static NOINLINE void *spins(void *unused) {
    (void)unused;
    pthread_setname_np(pthread_self(), "spins");
    ready();
    for (long n = 0;; n++)
        KEEP(n);
}

int main(void) {
    char *memory = mmap(0, 2 * SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    pthread_attr_t attr;
    pthread_t thread;
    arm();
    next_number = (long *)(memory + SIZE + BEHIND);
    *next_number = 77;
    pthread_attr_init(&attr);
    pthread_attr_setstack(&attr, memory, SIZE);
    pthread_create(&thread, &attr, spins, NULL);
    pthread_join(thread, NULL);
}
