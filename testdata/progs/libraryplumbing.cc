// Threads that wait in functions which C++'s library has called: by threads, functions, algorithms,
// containers. Between the program's own frames lie many of the library's.
#include <algorithm>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <unistd.h>
#include <unordered_map>
#include <variant>
#include <vector>

#include "ready.h"

__attribute__((noinline)) void hang() {
	for (;;)
		pause();
}

struct Key {
	int n;
	bool operator<(const Key &o) const {
		if (n == o.n)
			hang();
		return n < o.n;
	}
};

struct Hashed {
	int n;
	bool operator==(const Hashed &o) const { return n == o.n; }
};

template <> struct std::hash<Hashed> { // the program's own, by a name of the library's
	size_t operator()(const Hashed &) const {
		hang();
		return 0;
	}
};

struct Visitor {
	void operator()(int) { hang(); }
	void operator()(const std::string &) { hang(); }
};

int main() {
	arm();
	std::vector<std::thread> threads;
	threads.emplace_back([] { hang(); });
	std::function<void(std::string, int)> call = [](std::string, int) { hang(); };
	threads.emplace_back([call] { call("x", 3); });
	threads.emplace_back([] { std::async(std::launch::async, [](int n) { hang(); return n; }, 3).get(); });
	threads.emplace_back([] {
		std::vector<int> list{3, 1, 2};
		std::sort(list.begin(), list.end(), [](int a, int b) { hang(); return a < b; });
	});
	threads.emplace_back([] {
		std::map<Key, std::string> map;
		map[{1}] = "a";
		map[{1}] = "b";
	});
	threads.emplace_back([] {
		std::unordered_map<Hashed, int> map;
		map[{1}] = 2;
	});
	threads.emplace_back([] {
		std::variant<int, std::string> v = std::string("x");
		std::visit(Visitor{}, v);
	});
	threads.emplace_back([] {
		static std::once_flag once;
		std::call_once(once, [] { hang(); });
	});
	threads.emplace_back([] { std::shared_ptr<int>(new int, [](int *) { hang(); }); });
	threads.emplace_back([] {
		std::vector<int> list{1, 2, 3};
		std::for_each(list.begin(), list.end(), [](int) { hang(); });
	});
	ready();
	block();
}
