// Containers of libstdc++ that are broken: of other sizes than they say, with nodes that lead nowhere, not made yet.
#include "ready.h"

#include <bitset>
#include <cstring>
#include <deque>
#include <filesystem>
#include <forward_list>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <variant>
#include <vector>

template <typename T> NOINLINE void keep(T &x) { __asm__ volatile("" : : "r"(&x) : "memory"); }

// An object of another type at some bytes: words of it are set as they are wanted.
template <typename T> union Broken {
    T object;
    unsigned long words[sizeof(T) / sizeof(long)];
    Broken() { memset(words, 0, sizeof words); }
    ~Broken() {}
};

// Debug information has the types of nodes if code uses them.
NOINLINE void used() {
    std::map<int, int> map = {{1, 2}};
    std::map<int, std::string> other = {{1, "a"}};
    std::list<int> list = {1};
    std::forward_list<int> forward = {1};
    std::unordered_map<int, int> hashed = {{1, 2}};
    keep(map), keep(other), keep(list), keep(forward), keep(hashed);
}

NOINLINE void broken() {
    unsigned long nowhere = 0x10;
    static long zeros[64];
    static Broken<std::string> text, lengthy, odd, null_text, edge;
    text.words[0] = nowhere, text.words[1] = 5;
    lengthy.words[0] = (unsigned long)"text", lengthy.words[1] = 3;
    odd.words[0] = nowhere, odd.words[1] = 0xfff00000000;
    null_text.words[1] = 4;
    static Broken<std::vector<int>> vector, backward, part, huge;
    vector.words[0] = nowhere, vector.words[1] = nowhere + 12, vector.words[2] = nowhere + 16;
    backward.words[0] = (unsigned long)(zeros + 8), backward.words[1] = (unsigned long)zeros, backward.words[2] = (unsigned long)(zeros + 2);
    part.words[0] = (unsigned long)zeros, part.words[1] = (unsigned long)zeros + 6, part.words[2] = (unsigned long)zeros + 6;
    huge.words[0] = (unsigned long)zeros, huge.words[1] = 1ul << 62, huge.words[2] = ~0ul;
    static Broken<std::vector<std::string>> strings;
    strings.words[0] = (unsigned long)&text, strings.words[1] = (unsigned long)(&text + 1), strings.words[2] = strings.words[1];
    static Broken<std::vector<bool>> bits;
    bits.words[0] = nowhere, bits.words[2] = nowhere + 8, bits.words[3] = 3, bits.words[4] = nowhere + 8;
    static Broken<std::map<int, int>> map, no_links, many;
    map.words[3] = nowhere, map.words[5] = 2;
    no_links.words[3] = (unsigned long)zeros, no_links.words[5] = 1;
    many.words[3] = nowhere, many.words[5] = 300;
    static Broken<std::list<int>> list, list2;
    list.words[0] = nowhere, list.words[1] = nowhere, list.words[2] = 1;
    static unsigned long node[4] = {0x10, 0, 7};
    list2.words[0] = (unsigned long)node;
    static Broken<std::forward_list<int>> forward;
    forward.words[0] = nowhere;
    static Broken<std::unordered_map<int, int>> hashed, empty_hash;
    hashed.words[2] = nowhere, hashed.words[3] = 1;
    empty_hash.words[2] = 0, empty_hash.words[3] = 5;
    static unsigned long loop[4] = {(unsigned long)loop, (unsigned long)loop, 7};
    static Broken<std::list<int>> looped_list;
    looped_list.words[0] = looped_list.words[1] = (unsigned long)loop;
    static Broken<std::forward_list<int>> looped_forward;
    looped_forward.words[0] = (unsigned long)loop;
    static Broken<std::unordered_map<int, int>> looped_hash;
    looped_hash.words[2] = (unsigned long)loop, looped_hash.words[3] = 1ul << 40;
    static Broken<std::deque<int>> deque, deque2;
    deque.words[2] = nowhere, deque.words[6] = nowhere + 8;
    static unsigned long blocks[2] = {(unsigned long)zeros, nowhere};
    deque2.words[2] = (unsigned long)zeros, deque2.words[3] = (unsigned long)zeros, deque2.words[4] = (unsigned long)zeros + 512, deque2.words[5] = (unsigned long)blocks;
    deque2.words[6] = nowhere + 4, deque2.words[7] = nowhere, deque2.words[8] = nowhere + 512, deque2.words[9] = (unsigned long)(blocks + 1);
    static Broken<std::shared_ptr<int>> shared, expired;
    shared.words[0] = nowhere, shared.words[1] = nowhere;
    expired.words[0] = nowhere, expired.words[1] = (unsigned long)zeros;
    static Broken<std::optional<std::string>> optional;
    optional.words[0] = nowhere, optional.words[1] = 4, optional.words[4] = 1;
    static Broken<std::variant<int, std::string>> variant, no_variant;
    variant.words[0] = nowhere, variant.words[1] = 4, variant.words[4] = 1;
    no_variant.words[4] = 0xff;
    static Broken<std::vector<int>::iterator> iterator;
    iterator.words[0] = nowhere;
    static Broken<std::map<int, std::string>::iterator> in_map;
    in_map.words[0] = nowhere;
    static Broken<std::string_view> view;
    view.words[0] = 3, view.words[1] = nowhere;
    static Broken<std::vector<std::vector<int>>> nested;
    nested.words[0] = (unsigned long)&part, nested.words[1] = (unsigned long)(&part + 1), nested.words[2] = nested.words[1];
    std::string &reference = text.object;
    std::vector<int> unmade[1];
    memset((void *)unmade, 0xff, sizeof unmade);
    ready();
    block();
    keep(reference), keep(unmade);
}

int main() {
    arm();
    used();
    broken();
}
