/* deadlock_member: two threads that wait for each other's locks, which are within variables.
 *
 * Proves: a lock is named by the path to it.
 *
 * Build: gcc -g -O2 deadlock_member.c -pthread
 */
#define _GNU_SOURCE
#include <pthread.h>

#include "ready.h"

struct queue {
    long count;
    pthread_mutex_t lock;
    union {
        long number;
        struct {
            int used;
            pthread_mutex_t locks[3];
        };
    };
};

static struct queue queue = {.lock = PTHREAD_MUTEX_INITIALIZER};
struct queue table[2][3];
static pthread_barrier_t both;

static NOINLINE void *one(void *arg) {
    pthread_mutex_lock(&queue.lock);
    pthread_barrier_wait(&both);
    pthread_mutex_lock(&table[1][2].locks[1]);
    return arg;
}

static NOINLINE void *two(void *arg) {
    pthread_mutex_lock(&table[1][2].locks[1]);
    pthread_barrier_wait(&both);
    pthread_mutex_lock(&queue.lock);
    return arg;
}

int main(void) {
    pthread_t t[2];
    arm();
    pthread_barrier_init(&both, 0, 2);
    pthread_create(&t[0], 0, one, 0);
    pthread_create(&t[1], 0, two, 0);
    ready();
    block();
    return 0;
}
