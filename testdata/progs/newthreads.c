/* Each thread makes the next one, three milliseconds later, and stays. */
#include <pthread.h>
#include <unistd.h>

#include "ready.h"

static int more = 400;

static void make(void);

static void *next(void *unused) {
    (void)unused;
    usleep(3000);
    if (more-- > 0)
        make();
    for (;;)
        pause();
}

static void make(void) {
    pthread_attr_t small;
    pthread_t thread;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 64 << 10);
    if (pthread_create(&thread, &small, next, 0))
        _exit(3);
}

int main(void) {
    arm();
    make();
    ready();
    block();
}
