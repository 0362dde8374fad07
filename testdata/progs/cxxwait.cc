// cxxwait: C++ threads blocked inside libstdc++, with inlined calls between.
//
// Proves: demangled names, inlined calls over physical frames, frames in
// libstdc++ (which has no .sframe), and templates and lambdas in names.
// Four threads: waits_on_condition (std::condition_variable::wait with a
// predicate), waits_on_future (std::future::get), sleeps (sleep_for), and
// main, which joins the first one (std::thread::join).
//
// Build: g++ -g -O2 -std=c++17 -Wa,--gsframe cxxwait.cc -pthread
#include <chrono>
#include <condition_variable>
#include <future>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "ready.h"

namespace shop {

template <typename T> class Queue {
  public:
    NOINLINE T take() {
        std::unique_lock<std::mutex> lock(mu_);
        waiting_ = true;
        cv_.wait(lock, [this] { return !items_.empty(); });
        T item = items_.back();
        items_.pop_back();
        return item;
    }
    bool waiting() {
        std::lock_guard<std::mutex> lock(mu_);
        return waiting_;
    }

  private:
    std::mutex mu_;
    std::condition_variable cv_;
    std::vector<T> items_;
    bool waiting_ = false;
};

Queue<std::string> queue;
std::promise<int> promise;

NOINLINE std::size_t waits_on_condition(int depth) {
    if (depth > 0) {
        std::size_t n = waits_on_condition(depth - 1);
        KEEP(n);
        return n + 1;
    }
    return queue.take().size();
}

NOINLINE int waits_on_future(std::future<int> &f) {
    int n = f.get();
    KEEP(n);
    return n + 1;
}

NOINLINE void sleeps() {
    for (;;)
        std::this_thread::sleep_for(std::chrono::hours(1));
}

} // namespace shop

// Ends the process at the end of standard input, whatever main waits for.
static void *watch_stdin(void *) {
    block();
    return nullptr;
}

int main() {
    arm();
    std::future<int> f = shop::promise.get_future();
    std::thread a([] { return shop::waits_on_condition(3); });
    std::thread b([&f] { shop::waits_on_future(f); });
    std::thread c(shop::sleeps);
    std::thread d([] { watch_stdin(nullptr); });
    while (!shop::queue.waiting())
        std::this_thread::yield();
    usleep(50000); // the others, and waiting() itself, have reached futex(2)
    ready();
    a.join();
    return 0;
}
