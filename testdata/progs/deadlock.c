/* deadlock: threads that wait for each other.
 *
 * Proves: which thread waits for which lock, and who holds it.
 *
 *   deadlock KIND
 *
 * KIND is normal, recursive, errorcheck, robust, inherit or shared: two threads take two mutexes of this
 * kind in opposite order (the kernel refuses one of two that inherit priorities). write: the same with rwlocks; writer: the second
 * one to read; read: with rwlocks that are held for reading. join: each waits for the end of the other. self: a thread takes a mutex twice. held: no deadlock, main
 * holds the mutex for which two threads wait. timed: as normal, with a timeout of an hour. file: two FILEs. gone:
 * the owner has ended. healthy: both take the two in the same order, again and again. cond, sem, barrier: no owner.
 * The threads are named "one" and "two". Their locks are first_lock and second_lock.
 *
 * Build: gcc -g -O2 deadlock.c -pthread
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "ready.h"

pthread_mutex_t first_lock, second_lock;
pthread_rwlock_t first_rwlock = PTHREAD_RWLOCK_INITIALIZER, second_rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static sem_t semaphore;
static pthread_barrier_t both, never;
static pthread_t threads[2];
static FILE *files[2];
static const char *kind;

static int is(const char *name) { return !strcmp(kind, name); }

static void take(pthread_mutex_t *m) {
    if (is("timed")) {
        struct timespec end;
        clock_gettime(CLOCK_REALTIME, &end);
        end.tv_sec += 3600;
        pthread_mutex_timedlock(m, &end);
        return;
    }
    pthread_mutex_lock(m);
}

static void *run(void *arg) {
    int me = (int)(long)arg;
    pthread_mutex_t *mutexes[] = {&first_lock, &second_lock};
    pthread_rwlock_t *rwlocks[] = {&first_rwlock, &second_rwlock};
    pthread_setname_np(pthread_self(), me ? "two" : "one");
    if (is("join")) {
        pthread_barrier_wait(&both);
        pthread_join(threads[!me], NULL);
    } else if (is("held")) {
        pthread_mutex_lock(&first_lock);
    } else if (is("healthy")) {
        for (;;) {
            pthread_mutex_lock(&first_lock);
            pthread_mutex_lock(&second_lock);
            for (int i = 0; i < 100; i++)
                KEEP(i);
            pthread_mutex_unlock(&second_lock);
            pthread_mutex_unlock(&first_lock);
        }
    } else if (is("cond")) {
        pthread_mutex_lock(&first_lock);
        for (;;)
            pthread_cond_wait(&condition, &first_lock);
    } else if (is("sem")) {
        sem_wait(&semaphore);
    } else if (is("barrier")) {
        pthread_barrier_wait(&never);
    } else if (is("write")) {
        pthread_rwlock_wrlock(rwlocks[me]);
        pthread_barrier_wait(&both);
        pthread_rwlock_wrlock(rwlocks[!me]);
    } else if (is("writer")) {
        pthread_rwlock_wrlock(rwlocks[me]);
        pthread_barrier_wait(&both);
        pthread_rwlock_rdlock(rwlocks[!me]);
    } else if (is("read")) {
        pthread_rwlock_rdlock(rwlocks[me]);
        pthread_barrier_wait(&both);
        pthread_rwlock_wrlock(rwlocks[!me]);
    } else if (is("file")) {
        flockfile(files[me]);
        pthread_barrier_wait(&both);
        flockfile(files[!me]);
    } else if (is("self")) {
        pthread_mutex_lock(mutexes[me]);
        pthread_mutex_lock(mutexes[me]);
    } else if (is("gone")) {
        pthread_mutex_lock(&first_lock);
    } else {
        pthread_mutex_lock(mutexes[me]);
        pthread_barrier_wait(&both);
        take(mutexes[!me]);
    }
    int forever = 1;
    KEEP(forever);
    return (void *)(long)forever;
}

int main(int argc, char **argv) {
    arm();
    kind = argc > 1 ? argv[1] : "normal";
    pthread_mutexattr_t attr;
    pthread_mutexattr_init(&attr);
    if (is("recursive"))
        pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_RECURSIVE);
    if (is("errorcheck"))
        pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_ERRORCHECK);
    if (is("robust"))
        pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
    if (is("inherit"))
        pthread_mutexattr_setprotocol(&attr, PTHREAD_PRIO_INHERIT);
    if (is("shared"))
        pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
    if (pthread_mutex_init(&first_lock, &attr) || pthread_mutex_init(&second_lock, &attr))
        return 3;
    pthread_barrier_init(&both, NULL, 2);
    pthread_barrier_init(&never, NULL, 3);
    files[0] = fopen("/dev/null", "w");
    files[1] = fopen("/dev/null", "w");
    if (is("held"))
        pthread_mutex_lock(&first_lock);
    for (long i = 0; i < 2; i++) {
        if (pthread_create(&threads[i], NULL, run, (void *)i))
            return 3;
        if (is("gone") && i == 0) {
            pthread_t ended = threads[0];
            pthread_join(ended, NULL);
        }
    }
    ready();
    block();
}
