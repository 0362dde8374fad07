// Dies of what its first argument says. With a second argument, what C++ does at the end is a handler that hangs.
#include <stdexcept>
#include <system_error>
#include <filesystem>
#include <iostream>
#include <future>
#include <thread>
#include <optional>
#include <variant>
#include <any>
#include <functional>
#include <new>
#include <string>
#include <cassert>
#include <cstring>
#include <cxxabi.h>
#include <unistd.h>
extern "C" void __cxa_deleted_virtual();
struct Own : std::runtime_error { int code; Own(const std::string &s, int c) : runtime_error(s), code(c) {} };
struct Over : std::exception { std::string m = "over"; const char *what() const noexcept override { return m.c_str(); } };
struct Constant : std::exception { const char *what() const noexcept override { return "constant message"; } };
struct Pointing : std::exception { int code = 3; const char *text; Pointing(const char *t) : text(t) {} const char *what() const noexcept override { return text; } };
struct Array : std::exception { char text[40] = "the text of an array"; const char *what() const noexcept override { return text; } };
struct Delegating : std::runtime_error { Delegating() : runtime_error("delegated") {} const char *what() const noexcept override { return runtime_error::what(); } };
struct Nested : std::exception { Over inner; const char *what() const noexcept override { return inner.what(); } };
struct Choosing : std::exception { const char *text = "chosen"; const char *what() const noexcept override { return text ? text : "nothing"; } };
struct Counting : std::exception { mutable long n = 0; const char *what() const noexcept override { n += 3; return "counted"; } };
struct Lazy : std::exception { mutable std::string text; const char *what() const noexcept override { text = "made by what"; return text.c_str(); } };
struct Mixin { virtual ~Mixin() {} long a = 1; };
struct Multi : Mixin, std::logic_error { Multi() : logic_error("multi") {} };
struct Aside : Mixin, std::exception { const char *text = "an exception aside"; const char *what() const noexcept override { return text; } };
struct Virt : virtual std::runtime_error { Virt() : runtime_error("virt") {} };
struct Plain { int x = 3; };
namespace { struct Hidden : std::out_of_range { Hidden() : out_of_range("hidden") {} }; }
struct Base { Base() { call(); } void call() { f(); } virtual void f() = 0; }; struct Derived : Base { void f() override {} };
__attribute__((noinline)) void dies(const char *w)
{
    std::string s = w;
    if (s == "runtime")
        throw std::runtime_error("a runtime error\nof two lines");
    if (s == "own")
        throw Own("own message", 7);
    if (s == "over")
        throw Over();
    if (s == "constant")
        throw Constant();
    if (s == "pointing")
        throw Pointing("the text that a pointer leads to");
    if (s == "array")
        throw Array();
    if (s == "delegating")
        throw Delegating();
    if (s == "inner")
        throw Nested();
    if (s == "aside")
        throw Aside();
    if (s == "choosing")
        throw Choosing();
    if (s == "counting")
        throw Counting();
    if (s == "lazy")
        throw Lazy();
    if (s == "multi")
        throw Multi();
    if (s == "virt")
        throw Virt();
    if (s == "plain")
        throw Plain();
    if (s == "hidden")
        throw Hidden();
    if (s == "int")
        throw 42;
    if (s == "chars")
        throw "some chars";
    if (s == "string")
        throw std::string("a string that is long enough to be on the heap");
    if (s == "short")
        throw std::string("short");
    if (s == "bad_alloc")
        throw std::bad_alloc();
    if (s == "system")
        throw std::system_error(ENOENT, std::generic_category(), "opening");
    if (s == "fs")
        (void)std::filesystem::file_size("/nonexistent/file");
    if (s == "ios")
        { std::cin.exceptions(std::ios::failbit); std::cin.setstate(std::ios::failbit); }
    if (s == "future")
        { std::promise<int> p; p.set_value(1); p.set_value(2); }
    if (s == "at")
        std::string().at(5);
    if (s == "optional")
        { std::optional<int> o; o.value(); }
    if (s == "variant")
        { std::variant<int, long> v; std::get<long>(v); }
    if (s == "any")
        { std::any a; std::any_cast<int>(a); }
    if (s == "function")
        { std::function<void()> f; f(); }
    if (s == "exception")
        throw std::exception();
    if (s == "rethrown")
        { try { throw std::runtime_error("rethrown"); } catch (...) { throw; } }
    if (s == "nested")
        { try { throw std::runtime_error("inner"); } catch (...) { throw std::logic_error("outer"); } }
    if (s == "withnested")
        { try { throw std::runtime_error("inner"); } catch (...) { std::throw_with_nested(std::logic_error("outer")); } }
    if (s == "pointer")
        { std::exception_ptr p; try { throw std::runtime_error("by pointer"); } catch (...) { p = std::current_exception(); } std::rethrow_exception(p); }
    if (s == "noexcept")
        { []() noexcept { throw std::runtime_error("in noexcept"); }(); }
    if (s == "thread")
        { std::thread([] { throw std::runtime_error("in a thread"); }).join(); }
    if (s == "joinable")
        { std::thread t([] { pause(); }); }
    if (s == "terminate")
        std::terminate();
    if (s == "terminatein")
        { try { throw std::runtime_error("being handled"); } catch (...) { std::terminate(); } }
    if (s == "rethrow")
        throw;
    if (s == "terminateafter")
        { try { throw std::runtime_error("handled"); } catch (...) {} std::terminate(); }
    if (s == "unwinding")
        { struct D { ~D() { std::terminate(); } }; try { D d; throw std::runtime_error("unwinding"); } catch (...) {} }
    if (s == "deleted")
        __cxa_deleted_virtual();
    if (s == "pure")
        { Derived d; }
    if (s == "stale")
        { try { throw std::runtime_error("stale"); } catch (std::exception &e) { std::cerr << ""; } throw Plain(); }
}
int main(int argc, char **argv)
{
    if (argc > 2 && !strcmp(argv[2], "assert"))
        std::set_terminate([] { assert(!"the handler's own"); });
    else if (argc > 2)
        std::set_terminate([] {
            write(1, "ready\n", 6);
            for (;;)
                pause();
        });
    dies(argv[1]);
}
