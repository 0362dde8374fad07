// What libstdc++ has in its containers besides what containers.cc has: elements of other types, limits, references, iterators that
// lead nowhere, orders and hashes of the user's own.
#include "ready.h"
#include <any>
#include <atomic>
#include <bitset>
#include <compare>
#include <deque>
#include <forward_list>
#include <filesystem>
#include <functional>
#include <future>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <queue>
#include <regex>
#include <set>
#include <span>
#include <sstream>
#include <stack>
#include <string>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <variant>
#include <vector>
template <typename T> NOINLINE void keep(T &x) { __asm__ volatile("" : : "r"(__builtin_addressof(x)) : "memory"); }
struct Empty {};
struct alignas(32) Wide { char c = 'w'; };
struct Big { int n; char room[600]; Big(int n = 0) : n(n), room{} {} bool operator<(const Big &o) const { return n < o.n; } };
struct Desc { bool operator()(int a, int b) const { return a > b; } };
struct State { int k = 3; bool operator()(int a, int b) const { return a > b; } };
struct Hash { size_t operator()(const std::string &s) const noexcept { return s.size(); } };
struct SlowHash { size_t operator()(int s) const { return s; } };
struct Deleter { int tag = 4; void operator()(int *p) const { delete p; } };
struct MoveOnly { std::unique_ptr<int> p; MoveOnly(int n) : p(new int(n)) {} MoveOnly(MoveOnly &&) = default; };
struct Deep { std::vector<Deep> in; };
struct Refs { std::string &s; const std::vector<int> &v; std::pair<int,int> &p; Empty &e; int &i; };
enum Plain { zero, one, two };
namespace ns { template <typename T, int N> struct Box { T t; std::array<T, N> a; }; struct Inner { std::string name; }; }
typedef std::map<std::string, std::map<int, std::set<char>>> Maps;

NOINLINE int second(std::string *&pointer_reference, std::string &&moved, std::vector<int> &&moved_vector, std::pair<int, std::string> pair, std::pair<int,int> &pair_reference,
                    std::optional<std::string> maybe, std::optional<std::vector<int>> maybe_vector, std::variant<int, std::map<int,int>> variant,
                    std::shared_ptr<int> shared, std::vector<int>::iterator it, std::map<int,Empty>::iterator map_it, std::atomic<int> &atomic, std::tuple<> unit,
                    std::tuple<int,int> tuple, std::bitset<8> bits, std::vector<bool> flags, std::filesystem::path path, std::error_code code, Refs refs, std::initializer_list<int> init,
                    std::unique_ptr<int> unique, std::any any, std::vector<int> none) {
    std::vector<int> v200(200, 1), v199(199), v201(201);
    for (int i = 0; i < 201; i++) { if (i < 200) v200[i] = i; if (i < 199) v199[i] = i; v201[i] = i; }
    std::string s199(199, 'a'), s200(200, 'b'), s201(201, 'c'), trailing("zero\0", 5), zeros("\0\0\0", 3), one_zero("\0", 1);
    std::vector<Empty> empties(3);
    std::vector<Wide> wides(2);
    std::list<Wide> wide_list(2);
    std::map<char, Wide> wide_map = {{'a', {}}, {'b', {}}};
    std::unordered_map<char, Wide> wide_hash = {{'a', {}}};
    std::forward_list<Wide> wide_forward(2);
    std::deque<Big> bigs(5);
    std::deque<char> chars(1000, 'q');
    std::map<int, int, Desc> descending = {{1, 2}, {3, 4}};
    std::map<int, int, State> stateful = {{1, 2}, {3, 4}};
    std::map<Big, MoveOnly> by_big;
    by_big.emplace(1, 5);
    std::set<std::pair<int, std::string>> pairs = {{1, "x"}, {2, "y"}};
    std::map<std::pair<int,int>, std::tuple<int, std::string>> complicated = {{{1, 2}, {3, "z"}}};
    std::unordered_map<std::string, std::vector<std::string>, Hash> custom_hash = {{"k", {"v1", "v2"}}};
    std::unordered_map<std::string, int> cached = {{"a", 1}};
    std::unordered_set<int, SlowHash> slow = {5};
    std::unordered_set<long double> longs = {1.5L};
    std::vector<std::map<int, std::string>> vector_of_maps = {{{1, "a"}}, {}};
    std::map<std::vector<int>, std::vector<int>> vector_keys = {{{1, 2}, {3}}};
    Maps maps = {{"k", {{1, {'a', 'b'}}}}};
    std::unique_ptr<int, Deleter> deleter(new int(3));
    std::unique_ptr<int, void (*)(int *)> function_deleter(new int(3), [](int *p) { delete p; });
    std::unique_ptr<std::vector<int>> unique_vector(new std::vector<int>{1, 2});
    std::vector<std::unique_ptr<int>> pointers;
    pointers.emplace_back(new int(1)); pointers.emplace_back(nullptr);
    std::vector<std::shared_ptr<int>> shareds = {std::make_shared<int>(3), nullptr};
    std::vector<MoveOnly> move_only;
    move_only.emplace_back(3);
    std::vector<Plain> plains = {zero, two};
    std::optional<std::pair<int, int>> maybe_pair = std::make_pair(1, 2);
    std::optional<std::map<int, int>> maybe_map = std::map<int, int>{{1, 2}};
    std::optional<std::tuple<int, char>> maybe_tuple = std::make_tuple(1, 'c');
    std::optional<std::optional<int>> maybe_maybe = std::optional<int>(3);
    std::optional<std::unique_ptr<int>> maybe_unique = std::make_unique<int>(3);
    std::optional<const char *> maybe_text = "text";
    std::optional<bool> maybe_bool = false;
    std::optional<std::unordered_map<int, std::string>> maybe_hash;
    std::optional<std::deque<std::list<std::string>>> maybe_deque;
    std::optional<std::map<int, int, Desc>> maybe_desc;
    std::optional<ns::Inner> maybe_inner = ns::Inner{"in"};
    std::variant<std::monostate, std::vector<int>, std::pair<int, int>, std::unique_ptr<Big>, const char *, int *> mono, vec = std::vector<int>{1, 2}, prs = std::pair<int, int>(1, 2), uni = std::unique_ptr<Big>(), txt = "t";
    std::any any_vector = std::vector<int>{1}, any_pair = std::make_pair(1, 2), any_map = std::map<int, int>{{1, 2}}, any_text = (const char *)"c", any_double = 2.5, any_inner = ns::Inner{"x"};
    std::tuple<Empty, int, std::string> with_empty;
    std::tuple<std::vector<int>, std::map<int, int>> containers({1}, {{2, 3}});
    int number = 7; std::string local = "local"; std::vector<int> local_vector = {1};
    std::tuple<int &, std::string &> ties(number, local);
    std::pair<int &, std::string &> pair_ties(number, local);
    std::string &string_reference = local; const std::string &const_reference = local; std::string &&rvalue = std::move(local);
    std::vector<int> &vector_reference = local_vector; std::vector<int> &&vector_rvalue = std::move(local_vector);
    std::string *pointer = &local; std::string **pp = &pointer;
    std::string nested[2][2] = {{"a", "b"}, {"c", "d"}};
    std::vector<int> arrays[3] = {{1}, {2, 3}, {}};
    std::stack<int, std::vector<int>> vector_stack; vector_stack.push(4);
    std::stack<int, std::list<int>> list_stack; list_stack.push(4);
    std::priority_queue<int, std::vector<int>, std::greater<int>> small;
    std::queue<int> empty_queue;
    std::span<int> dynamic(v199.data(), 3); std::span<int, 2> fixed(v199.data(), 2);
    std::strong_ordering strong = 1 <=> 2, equal = 1 <=> 1; std::partial_ordering partial = 1.0 <=> (0.0/0.0), partial_less = 1.0 <=> 2.0; std::weak_ordering weak = std::weak_ordering::equivalent;
    std::map<int, std::string> m = {{1, "one"}, {2, "two"}};
    auto m_it = m.begin(); auto m_cit = m.cbegin(); std::map<int, std::string>::iterator none_it;
    std::vector<std::string> vs = {"a", "b"}; auto vs_it = vs.begin(); std::vector<std::string>::iterator vs_none;
    std::list<int> li = {1}; std::list<int>::const_iterator li_it = li.begin(); std::list<int>::iterator li_end = li.end(), li_none;
    std::forward_list<int> fl = {1}; auto fl_it = fl.begin(); std::forward_list<int>::iterator fl_none;
    std::deque<std::string> ds = {"d"}; auto ds_it = ds.begin(); std::deque<std::string>::iterator ds_none;
    std::string::iterator s_it = s199.begin();
    std::vector<bool>::iterator b_none; std::vector<bool> bits130(130, true); bits130[129] = false; std::vector<bool>::const_iterator b_it = bits130.begin() + 65;
    auto handle = m.extract(1); std::unordered_map<int, int> um = {{1, 2}}; auto uhandle = um.extract(1); std::set<int> hs = {1}; auto shandle = hs.extract(1); std::map<int,std::string>::node_type no_handle;
    std::atomic<double> adouble = 2.5; std::atomic<char> achar = 'x'; std::atomic<Plain> aplain = one;
#ifdef __GLIBCXX__
    std::atomic<std::shared_ptr<int>> ashared = std::make_shared<int>(5);
#endif
    std::atomic_flag aflag; std::atomic<long> along = -5; std::atomic<const char *> atext = "text";
    std::bitset<0> bits0; std::bitset<64> bits64(~0ull); std::bitset<65> bits65; bits65.set(64);
    std::array<std::string, 0> array0; std::array<std::vector<int>, 1> array1 = {{{1}}};
    std::filesystem::path empty_path, dir = "/a/b/", dots = "../x", netname = "//host/share";
    std::vector<std::filesystem::path> paths = {"/a", "b"};
    std::error_code ec = std::make_error_code(std::errc::permission_denied), io = std::make_error_code(std::io_errc::stream), fut = std::make_error_code(std::future_errc::no_state); std::error_condition cond = std::make_error_condition(std::errc::io_error), cond0;
    Deep deep; { Deep *at = &deep; for (int i = 0; i < 25; i++) { at->in.resize(1); at = &at->in[0]; } }
    ns::Box<std::string, 2> box = {"t", {"x", "y"}};
    ns::Box<unsigned long, 3> numbers = {1, {2, 3, 4}};
    std::weak_ptr<int> gone; { auto x = std::make_shared<int>(1); gone = x; }
    std::shared_ptr<int[]> shared_array(new int[3]); std::shared_ptr<const ns::Box<const char *, 1>> complicated_shared;
    std::shared_ptr<void> shared_void = shared; std::unique_ptr<const char> cchar; std::unique_ptr<int *[]> uarray; std::unique_ptr<void (*)(int)> ufunction;
    std::wstring_view wsv = L"wide"; std::u8string u8 = u8"utf8 \u20ac";
    std::vector<std::u16string> u16s = {u"a", u"b"};
    std::vector<char> cv(20, 'c'); std::vector<unsigned char> ucv = {1, 2};
    std::set<const char *> texts = {"t"};
    std::map<void *, int> by_pointer = {{&number, 1}};
    std::vector<void (*)()> functions = {(void (*)())&second};
    std::vector<std::vector<std::vector<int>>> vvv = {{{1}, {}}, {}};
    std::function<int(const std::string &, std::vector<int> *)> fn;
    std::vector<std::string *> string_pointers = {&local};
    std::vector<std::tuple<int, std::string>> tuples = {{1, "a"}};
    std::vector<double> repeated(30, 1.5);
    std::string repeats[12];
    std::stringstream stream; stream << "text";
    ready();
    block();
    keep(v200), keep(v199), keep(v201), keep(s199), keep(ties), keep(deep), keep(stream), keep(fn);
    return 1;
}
int main() {
    arm();
    std::string s = "pointed", m = "moved"; std::string *p = &s;
    std::vector<int> v = {1, 2};
    std::pair<int,int> pr(1, 2); Empty e; int i = 5;
    std::map<int, Empty> me = {{1, {}}};
    std::atomic<int> at = 5;
    Refs refs{s, v, pr, e, i};
    return second(p, std::move(m), std::move(v), {1, "pair"}, pr, "maybe", std::vector<int>{1}, std::map<int,int>{{1, 2}}, std::make_shared<int>(3), v.begin(), me.begin(), at, {}, {1, 2}, {3}, {true}, "/p/q", std::make_error_code(std::errc::io_error), refs, {1, 2}, std::make_unique<int>(1), std::any(std::vector<int>{1}), {});
}
