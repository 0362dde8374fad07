/* The main thread ends; another one lives on. */
#include "target.h"

static void *alone(void *arg) {
    usleep(20000);
    SAY("ready\n");
    block();
    return arg;
}

int main(void) {
    arm();
    start_thread(alone, 0);
    pthread_exit(0);
}
