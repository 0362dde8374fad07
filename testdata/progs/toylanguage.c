/* toylanguage: threads of an interpreter, in a language of its own.
 *
 * Proves: frames of a language stand in the place of the interpreter's, and
 * threads that wait for locks of the language and of C wait for each other.
 *
 *   toylanguage
 *
 * Each thread: thread_main > run > evaluate (of "serve" and "handle") > native
 * > evaluate (of "callback") > wait_for. run has two calls of evaluate, so that
 * stacks differ in the interpreter's frames alone. Thread "one" has the lock
 * "queue" of the language and waits for the mutex; thread "two" has the mutex
 * and waits for the lock; thread "three" waits for the lock, too.
 *
 * toy_threads has what a debugger reads: the threads, their frames, each with
 * an address in the frame of evaluate that runs it, and locks.
 *
 * Build: gcc -g toylanguage.c -pthread
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <semaphore.h>
#include <sys/syscall.h>

#include "ready.h"

struct toy_frame {
    struct toy_frame *outer;
    const char *function, *file;
    long line;
    void *entry;
};

struct toy_lock {
    const char *name;
    long owner; /* the thread's ID */
};

struct toy_thread {
    struct toy_thread *next;
    const char *name;
    long tid;
    struct toy_frame *inner;
    struct toy_lock *waits, *holds;
};

struct toy_thread *toy_threads;
char toy_room[4 << 20] = {1}; /* in the file, for the module to be as large as an interpreter */

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t list = PTHREAD_MUTEX_INITIALIZER;
static sem_t begun, changed;
static struct toy_lock queue = {"queue", 0};

static NOINLINE long wait_for(struct toy_thread *t) {
    sem_post(&begun);
    if (t->waits)
        sem_wait(&changed); /* a lock of the language: the system knows no owner */
    else
        pthread_mutex_lock(&mutex);
    return 1;
}

static NOINLINE long evaluate(struct toy_thread *t, struct toy_frame *f, int n);

static NOINLINE long native(struct toy_thread *t) {
    struct toy_frame callback = {t->inner, "callback", "/srv/toy/server.toy", 7, 0};
    long r = evaluate(t, &callback, 1);
    KEEP(r);
    return r + 1;
}

/* Runs the n frames of the language from f on, the outermost first. */
static NOINLINE long evaluate(struct toy_thread *t, struct toy_frame *f, int n) {
    volatile char entry[16] = {0};
    for (int i = 0; i < n; i++) {
        f[i].entry = (void *)entry;
        t->inner = &f[i];
    }
    long r = n == 1 ? wait_for(t) : native(t);
    KEEP(r);
    return r + entry[0];
}

static NOINLINE long run(struct toy_thread *t, int odd) {
    struct toy_frame f[2] = {
        {0, "serve", "/srv/toy/server.toy", 30, 0},
        {&f[0], "Server.handle", "/srv/toy/server.toy", 12, 0},
    };
    long r;
    if (odd) {
        r = evaluate(t, f, 2);
        KEEP(r);
    } else {
        r = evaluate(t, f, 2) + 1;
        KEEP(r);
    }
    return r;
}

static void *thread_main(void *arg) {
    struct toy_thread *t = arg;
    t->tid = syscall(SYS_gettid);
    if (t->holds)
        t->holds->owner = t->tid;
    if (t->name[1] == 'w') /* "two" */
        pthread_mutex_lock(&mutex);
    pthread_mutex_lock(&list);
    t->next = toy_threads;
    toy_threads = t;
    pthread_mutex_unlock(&list);
    return (void *)run(t, t->name[1] != 'w');
}

int main(void) {
    static struct toy_thread two = {.name = "two", .waits = &queue}, one = {.name = "one", .holds = &queue}, three = {.name = "three", .waits = &queue};
    struct toy_thread *all[] = {&two, &one, &three};
    arm();
    sem_init(&begun, 0, 0);
    sem_init(&changed, 0, 0);
    for (int i = 0; i < 3; i++) {
        pthread_t thread;
        pthread_create(&thread, 0, thread_main, all[i]);
        sem_wait(&begun); /* "two" has the mutex before "one" asks for it */
    }
    ready();
    block();
}
