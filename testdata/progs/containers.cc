// What libstdc++ has in its containers, as locals of some functions: full, empty, nested, with one element and
// with many.
#include "ready.h"

#include <any>
#include <array>
#include <atomic>
#include <bitset>
#include <chrono>
#include <complex>
#include <deque>
#include <filesystem>
#include <forward_list>
#include <functional>
#include <initializer_list>
#include <iterator>
#include <list>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <queue>
#include <random>
#include <set>
#include <stack>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <tuple>
#include <typeinfo>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <variant>
#include <vector>
#include <mutex>

struct Point {
    int x = 1;
    double y = 2.5;
    bool operator<(const Point &other) const { return x < other.x; }
};

enum class Colour { red, green, blue };

struct Node {
    std::string name;
    std::vector<Node> children;
    std::shared_ptr<Node> next;
};

struct Base {
    virtual ~Base() = default;
    int base = 5;
};

struct Derived : Base {
    std::string text = "derived";
};

template <typename T> NOINLINE void keep(T &x) { __asm__ volatile("" : : "r"(__builtin_addressof(x)) : "memory"); }

static void wait() {
    ready();
    block();
}

NOINLINE int strings(std::string by_value, const std::string &by_reference, std::string *by_pointer, std::string_view view) {
    std::string empty, brief = "short", sso = "fifteen letters", heap = "sixteen letters!", nul("a\0b", 3), escapes = "tab\t \"quoted\" \303\244 \377";
    std::string lengthy(300, 'x');
    std::wstring wide = L"wide \u20ac";
    std::u16string utf16 = u"utf-16 \u20ac";
    std::u32string utf32 = U"utf-32 \U0001f600";
    std::string_view part = std::string_view(heap).substr(2, 5), none;
    std::wstring_view wide_part = wide;
    std::string array[2] = {"one", "two"};
    std::filesystem::path path = "/usr/lib/../bin", relative = "file.txt", root = "/";
    wait();
    keep(by_value), keep(by_reference), keep(by_pointer), keep(view), keep(empty), keep(brief), keep(sso), keep(heap), keep(nul), keep(escapes), keep(lengthy);
    keep(wide), keep(utf16), keep(utf32), keep(part), keep(none), keep(wide_part), keep(array), keep(path), keep(relative), keep(root);
    return 1;
}

NOINLINE int sequences(std::vector<int> numbers, const std::vector<std::string> &names, std::array<int, 3> three) {
    std::vector<int> empty, one = {1};
    std::vector<long> hundreds(300);
    std::iota(hundreds.begin(), hundreds.end(), 1000);
    std::vector<Point> points(2);
    std::vector<std::vector<int>> nested = {{1, 2}, {}, {3}};
    std::vector<bool> bits = {true, false, true, true}, no_bits, many_bits(130, true);
    std::vector<char> characters = {'a', 'b', 0};
    std::vector<Point *> pointers = {&points[0], nullptr};
    std::vector<Colour> colours = {Colour::red, Colour::blue};
    std::vector<double> same(20, 0.5);
    std::deque<int> deque, queue_of_one = {7};
    for (int i = 0; i < 200; i++)
        deque.push_back(i), deque.push_front(-i);
    std::list<std::string> list = {"a", "b"}, no_list;
    std::forward_list<int> forward = {1, 2, 3}, no_forward;
    std::array<std::string, 2> strings = {"x", "y"};
    std::array<int, 0> nothing = {};
    std::stack<int> stack({1, 2, 3});
    std::queue<std::string> queue({"first", "second"});
    std::priority_queue<int> priority;
    priority.push(3), priority.push(9);
    std::initializer_list<int> initial = {4, 5, 6};
    std::vector<int>::iterator iterator = numbers.begin() + 1, end = numbers.end();
    std::list<std::string>::iterator in_list = list.begin();
    std::deque<int>::const_iterator in_deque = deque.begin();
    std::vector<int>::reverse_iterator reverse = numbers.rbegin();
    std::vector<bool>::iterator bit = bits.begin() + 1;
    std::vector<bool>::reference reference = bits[2];
    strings[0] += "z";
    ::strings("value", "reference", &strings[0], "viewed text");
    keep(numbers), keep(names), keep(three), keep(empty), keep(one), keep(hundreds), keep(points), keep(nested), keep(bits), keep(no_bits), keep(many_bits), keep(characters);
    keep(pointers), keep(colours), keep(same), keep(deque), keep(queue_of_one), keep(list), keep(no_list), keep(forward), keep(no_forward), keep(strings), keep(nothing);
    keep(stack), keep(queue), keep(priority), keep(initial), keep(iterator), keep(end), keep(in_list), keep(in_deque), keep(reverse), keep(bit), keep(reference);
    return 1;
}

NOINLINE int maps(std::map<int, std::string> by_number, const std::unordered_map<std::string, int> &counts) {
    std::map<std::string, std::vector<int>> lists = {{"a", {1, 2}}, {"b", {}}};
    std::map<Point, Colour> by_point = {{Point{1, 2}, Colour::green}, {Point{3, 4}, Colour::red}};
    std::map<int, int> empty, many;
    for (int i = 0; i < 250; i++)
        many[i * 7 % 251] = i;
    std::multimap<int, char> multi = {{1, 'a'}, {1, 'b'}, {2, 'c'}};
    std::set<std::string> set = {"z", "y", "x"}, no_set;
    std::multiset<int> multiset = {3, 1, 3};
    std::unordered_map<int, Point> hashed = {{5, {}}};
    std::unordered_set<int> hash_set = {42};
    std::unordered_multimap<int, std::string> hashed_multi = {{1, "only"}};
    std::unordered_multiset<long> hashed_multiset = {7, 7};
    std::unordered_map<int, int> no_hashed;
    std::map<int, std::string>::iterator iterator = by_number.begin();
    std::set<std::string>::const_iterator in_set = set.begin();
    std::unordered_map<std::string, int>::const_iterator in_hashed = counts.begin();
    std::map<int, std::map<int, int>> deep = {{1, {{2, 3}, {4, 5}}}};
    sequences({10, 20, 30}, {"alpha", "beta"}, {7, 8, 9});
    keep(by_number), keep(counts), keep(lists), keep(by_point), keep(empty), keep(many), keep(multi), keep(set), keep(no_set), keep(multiset), keep(hashed), keep(hash_set);
    keep(hashed_multi), keep(hashed_multiset), keep(no_hashed), keep(iterator), keep(in_set), keep(in_hashed), keep(deep);
    return 1;
}

NOINLINE int wrappers(std::pair<int, std::string> pair, std::tuple<int, double, std::string> tuple, std::optional<int> maybe) {
    std::tuple<> unit;
    std::tuple<char> single = 'c';
    std::pair<std::pair<int, int>, const char *> nested = {{1, 2}, "text"};
    std::optional<std::string> text = "set", unset;
    std::optional<Point> point = Point{};
    std::variant<int, std::string, Point> number = 5, string = "in a variant", object = Point{};
    std::any any_number = 5, any_text = std::string("any"), any_point = Point{}, no_any;
    std::unique_ptr<int> unique = std::make_unique<int>(8), null;
    std::unique_ptr<Point> unique_point = std::make_unique<Point>();
    std::unique_ptr<int[]> unique_array = std::make_unique<int[]>(3);
    std::unique_ptr<Base> polymorphic = std::make_unique<Derived>();
    std::shared_ptr<std::string> shared = std::make_shared<std::string>("shared"), also = shared, no_shared;
    std::shared_ptr<Point> allocated(new Point);
    std::weak_ptr<std::string> weak = shared, expired;
    std::bitset<10> bits(0x155);
    std::bitset<200> many_bits;
    many_bits.set(3).set(130);
    std::complex<double> complex(1.5, -2);
    std::complex<float> complex_float(0, 1);
    std::chrono::seconds seconds(90);
    std::chrono::milliseconds milliseconds(1500);
    std::chrono::system_clock::time_point time(std::chrono::hours(24 * 365));
    std::atomic<int> atomic = 17;
    std::atomic<bool> flag = true;
    std::atomic<Point *> atomic_pointer = nullptr;
    int local = 3;
    std::function<int(int)> function = [local](int x) { return x + local; }, no_function;
    std::reference_wrapper<int> wrapper = local;
    std::runtime_error error("what went wrong");
    std::error_code code = std::make_error_code(std::errc::no_such_file_or_directory), no_error;
    std::byte byte{0x7f};
    std::mutex mutex;
    std::thread::id id;
    Node node = {"root", {{"leaf", {}, nullptr}, {"branch", {{"twig", {}, nullptr}}, nullptr}}, std::make_shared<Node>()};
    maps({{1, "one"}, {2, "two"}}, {{"single", 1}});
    keep(pair), keep(tuple), keep(maybe), keep(unit), keep(single), keep(nested), keep(text), keep(unset), keep(point), keep(number), keep(string), keep(object), keep(any_number);
    keep(any_text), keep(any_point), keep(no_any), keep(unique), keep(null), keep(unique_point), keep(unique_array), keep(polymorphic), keep(shared), keep(also), keep(no_shared);
    keep(allocated), keep(weak), keep(expired), keep(bits), keep(many_bits), keep(complex), keep(complex_float), keep(seconds), keep(milliseconds), keep(time), keep(atomic), keep(flag);
    keep(atomic_pointer), keep(function), keep(no_function), keep(wrapper), keep(error), keep(code), keep(no_error), keep(byte), keep(mutex), keep(id), keep(node);
    return 1;
}

// The stack below is clean then, where containers are not made yet.
NOINLINE void clean() {
    char room[1 << 16] = {};
    keep(room);
}

// Containers that are not made yet.
NOINLINE int unmade(int stage) {
    if (stage == 0) {
        wrappers({1, "pair"}, {2, 2.5, "tuple"}, 6);
        std::string later = "made later";
        std::vector<int> vector = {1, 2};
        std::map<int, int> map = {{1, 2}};
        keep(later), keep(vector), keep(map);
    }
    return stage;
}

int main() {
    arm();
    clean();
    return unmade(0);
}
