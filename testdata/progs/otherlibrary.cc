// A library of C++ whose classes have the names of the usual ones, and not their members: some lack, some lead back to
// where they are, some say more than there is.
#include "ready.h"
#include <sys/mman.h>
#include <unistd.h>

namespace std {
template <typename... T> struct variant { int other = 5; };
template <typename T> struct optional { struct { T _M_value = 6; } _M_payload; };
template <> struct variant<int> { int _M_index = 8; };
template <> struct optional<char> { struct { bool _M_engaged; optional &_M_payload; } _M_payload = {true, *this}; };
template <typename T> struct stack { int size = 7; stack &c; stack() : c(*this) {} };
template <typename T> struct vector { T *_M_start = 0; };
template <typename K, typename V> struct pair { K first; V second; };
struct Node { long colour; Node *_M_parent, *_M_left, *_M_right; pair<const int, int> element; };
template <typename K, typename E> struct _Rb_tree {
    struct { struct { long colour; Node *_M_parent, *_M_left, *_M_right; } _M_header; unsigned long _M_node_count; } _M_impl;
};
template <typename K, typename V> struct map { _Rb_tree<K, pair<const K, V>> _M_t; };
template <typename C> struct char_traits { char nothing; };
template <typename C> struct basic_string {
    typedef C value_type;
    struct { C *_M_p; } _M_dataplus;
    unsigned long _M_string_length;
    char _M_local_buf[16];
};
namespace __1 {
template <typename... T> struct variant { int other = 5; };
template <typename T> struct optional { T __val_ = 6; };
template <typename T> struct stack { int size = 7; stack &c; stack() : c(*this) {} };
template <typename T> struct vector { T *begin = 0; };
}
}

NOINLINE void lacking() {
    std::variant<int, char> variant;
    std::variant<int> stateless;
    std::optional<int> optional;
    std::optional<char> itself;
    std::stack<int> stack;
    std::vector<int> vector;
    std::__1::variant<int, char> variant1;
    std::__1::optional<int> optional1;
    std::__1::stack<int> stack1;
    std::__1::vector<int> vector1;
    ready();
    block();
}

NOINLINE void excessive() {
    static std::Node left = {0, &left, &left, &left, {1, 2}}, up = {0, &up, 0, 0, {3, 4}};
    std::map<int, int> down = {{{{0, 0, &left, &left}, 1ul << 60}}}, above = {{{{0, 0, &up, &up}, 1ul << 60}}};
    long page = sysconf(_SC_PAGESIZE);
    char *end = (char *)mmap(0, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) + page;
    munmap(end, page);
    std::basic_string<char> text = {{end - 3}, 1ul << 30, ""};
    end[-3] = 'a', end[-2] = 'b', end[-1] = 'c';
    lacking();
}

int main() {
    arm();
    excessive();
}
