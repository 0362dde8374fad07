// Variables of C++ in the ways that C has not.
#include "values.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

#define KEEP(x) __asm__ volatile("" : : "r"(&(x)) : "memory")

namespace ns {

struct base {
    virtual ~base() {}
    int in_base = 11;
};

struct other {
    static int count;
    long in_other = 22;
};
int other::count = 4;

template <class T> struct holder : base, other {
    T held;
    explicit holder(T t) : held(t) {}
    __attribute__((noinline)) long waits(const base &of, other &&moved, T base::*member);
};

template <class T> long holder<T>::waits(const base &of, other &&moved, T base::*member) {
    enum class size { small = 1, big = 2 } how = size::big;
    std::string text = "standard";
    std::vector<int> numbers{4, 5, 6};
    std::map<std::string, other> named{{"first", {}}, {"second", {}}};
    std::unique_ptr<other> owner(new other);
    KEEP(of); KEEP(moved); KEEP(member); KEEP(how); KEEP(text); KEEP(numbers); KEEP(named); KEEP(owner); KEEP(*this);
    c_ends(held);
    KEEP(text);
    return (long)numbers.size() + held;
}

} // namespace ns

void cxx_waits(int n) {
    ns::holder<int> one(n);
    ns::other value;
    ns::base &same = one;
    KEEP(one); KEEP(same);
    one.waits(one, std::move(value), &ns::base::in_base);
    KEEP(n);
}
