// Containers whose nodes have their values where alignment puts them: 32-bit x86 aligns members of 8 bytes to 4.
#include "ready.h"
#include <any>
#include <list>
#include <map>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <variant>

struct Mixed {
	char c;
	long long v;
};

std::map<char, double> tree{{'a', 2.5}, {'b', -1}};
std::list<long long> list{-1, 1LL << 40};
std::unordered_map<long long, double> table{{7, 8.5}};
std::unordered_map<char, long double> wide{{'x', 8.5L}};
std::unordered_set<double> set{9.25};
std::optional<Mixed> maybe{Mixed{'z', 3}};
std::variant<char, double, long long> either{12LL};
std::any any{Mixed{'y', 4}};

int main()
{
	arm();
	ready();
	block();
	return 0;
}
