// Two threads, each of which holds a lock of an object on the heap, and waits for the other's.
#include <memory>
#include <mutex>
#include <pthread.h>
#include <thread>

extern "C" {
#include "ready.h"
}

struct Pool {
    int size;
    std::mutex mutex;
};

struct Queue {
    long length;
    pthread_mutex_t locks[2];
};

struct Worker {
    const char *name;
    Pool *pool;
    Queue &queue;
    pthread_barrier_t *both;
    NOINLINE void first();
};

void Worker::first() {
    pthread_mutex_lock(&queue.locks[1]);
    pthread_barrier_wait(both);
    pool->mutex.lock();
    pool->size++;
    KEEP(name);
}

static NOINLINE void second(Worker *w) {
    w->pool->mutex.lock();
    pthread_barrier_wait(w->both);
    pthread_mutex_lock(&w->queue.locks[1]);
    w->pool->size++;
    KEEP(w);
}

int main() {
    arm();
    auto *queue = new Queue{};
    auto *both = new pthread_barrier_t;
    pthread_barrier_init(both, nullptr, 2);
    auto *worker = new Worker{"worker", new Pool{}, *queue, both};
    std::thread one([=] { worker->first(); }), two([=] { second(worker); });
    ready();
    block();
}
