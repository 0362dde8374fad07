/* deadlock: two C++ threads that wait for each other's std::mutex.
 *
 *   deadlock
 *
 * Build: g++ -g -O2 deadlock.cc -pthread
 */
#include <barrier>
#include <mutex>
#include <thread>

#include "ready.h"

std::mutex first_lock, second_lock;
static std::barrier both(2);

static void run(std::mutex &mine, std::mutex &other) {
    std::lock_guard hold(mine);
    both.arrive_and_wait();
    std::lock_guard wait(other);
    int forever = 1;
    KEEP(forever);
}

int main() {
    arm();
    std::thread one(run, std::ref(first_lock), std::ref(second_lock)), two(run, std::ref(second_lock), std::ref(first_lock));
    ready();
    block();
}
