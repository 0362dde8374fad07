/* Threads that start threads and end, all the time: about "LIVE" at once. */
#include "target.h"

static void *once(void *arg) {
    volatile long x = (long)arg;
    for (int i = 0; i < 2000; i++)
        x += i;
    pthread_attr_t a;
    pthread_attr_init(&a);
    pthread_attr_setdetachstate(&a, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&a, 64 << 10);
    pthread_t t;
    while (pthread_create(&t, &a, once, arg))
        usleep(100);
    return 0;
}

int main(int argc, char **argv) {
    arm();
    for (long i = 0; i < atoi(argv[1]); i++) {
        pthread_t t;
        if (pthread_create(&t, 0, once, (void *)i))
            return 4;
        pthread_detach(t);
    }
    SAY("ready\n");
    block();
}
