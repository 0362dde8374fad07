// Members and names that compilers describe in ways of their own: constants of a class that are no integers, bases that are only declared
// (clang), numbers in names as clang spells them, frames of coroutines, and variables that the linker has copied from a library.
#include "ready.h"

#include <coroutine>
#include <iostream>
#include <string>
#include <tuple>
#include <typeinfo>

struct Constants {
    static constexpr double pi = 3.25;
    static constexpr float half = 0.5f;
    static constexpr int whole = 12;
    int own = 1;
};

struct Task {
    struct promise_type {
        int value = 0;
        Task get_return_object() { return {std::coroutine_handle<promise_type>::from_promise(*this)}; }
        std::suspend_never initial_suspend() noexcept { return {}; }
        std::suspend_always final_suspend() noexcept { return {}; }
        std::suspend_always yield_value(int v) { value = v; return {}; }
        void return_void() {}
        void unhandled_exception() {}
    };
    std::coroutine_handle<promise_type> handle;
};

NOINLINE int hold(int first)
{
    Constants constants;
    std::string text = "text";
    std::tuple<int, char> two{first, 'c'};
    const void *copied[] = {&std::cout, &typeid(int), &stdout, &typeid(char *)};
    ready();
    block();
    return constants.own + (int)text.size() + std::get<0>(two) + (copied[0] != copied[1]);
}

Task holdAndYield(int from)
{
    for (int i = from;; i++) {
        int had = hold(i);
        KEEP(had);
        co_yield had;
    }
}

int main()
{
    arm();
    Task task = holdAndYield(3);
    return task.handle.done();
}
