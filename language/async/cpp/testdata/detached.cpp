// detached COUNT: coroutines that free themselves at their end, of frames of three sizes, in the main
// thread and in one of its own. The handle of each stays where it was first noted. A line says how
// many wait.
#include <coroutine>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <unistd.h>
#include <vector>

struct detached {
    struct promise_type {
        detached get_return_object() { return {}; }
        std::suspend_never initial_suspend() noexcept { return {}; }
        std::suspend_never final_suspend() noexcept { return {}; }
        void return_void() {}
        void unhandled_exception() { std::abort(); }
    };
};

struct handles {
    std::vector<std::coroutine_handle<>> list;
    int left = 0; // coroutines that have not come to their end
};

struct suspends {
    handles &to;
    bool await_ready() { return false; }
    void await_suspend(std::coroutine_handle<> h) { to.list.push_back(h); }
    void await_resume() {}
};

template <int Size> detached serve(handles &h) {
    h.left++;
    volatile char room[Size];
    room[0] = 1;
    co_await suspends{h};
    room[1] = room[0];
    co_await suspends{h};
    h.left -= room[1];
}

// Of count coroutines of each size, every fourth goes on once, and every second to its end.
template <int Size> void run(handles &h, int count) {
    size_t first = h.list.size();
    for (int i = 0; i < count; i++)
        serve<Size>(h);
    for (int i = 0; i < count; i++)
        if (i % 4 == 1)
            h.list[first + i].resume();
    for (int i = 0; i < count; i += 2) {
        auto of = h.list[first + i];
        of.resume();
        of.resume();
    }
}

static handles first, second; // of each thread

static void all(handles &h, int count) {
    h.list.reserve(9 * count);
    run<40>(h, count);
    run<500>(h, count);
    run<3000>(h, count);
}

int main(int argc, char **argv) {
    setvbuf(stdout, nullptr, _IONBF, 0);
    int count = atoi(argv[1]);
    all(first, count);
    std::thread other([&] {
        all(second, count);
        std::printf("ready\n%d\n", first.left + second.left);
        for (;;)
            pause();
    });
    other.join();
}
