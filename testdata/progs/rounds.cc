// rounds MS: sorts, and throws through twelve frames, for so many milliseconds of processor time.
#include <algorithm>
#include <ctime>
#include <cstdlib>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

struct guard {
	int &count;
	explicit guard(int &c) : count(c) { count++; }
	~guard() { count--; }
};

static int depth;
static volatile unsigned sum;

__attribute__((noinline)) static int deeper(int n, const std::string &what)
{
	guard g(depth);
	std::vector<int> list;
	for (int i = 0; i < 60; i++)
		list.push_back((i * 7919 + n) % 101);
	std::sort(list.begin(), list.end(), [n](int a, int b) { return (a ^ n) < (b ^ n); });
	if (n == 0)
		throw std::runtime_error(what + std::to_string(list[3]));
	return deeper(n - 1, what) + list[n];
}

__attribute__((noinline)) static void round_once(std::map<std::string, int> &seen)
{
	try {
		sum += deeper(12, "round ");
	} catch (const std::exception &e) {
		seen[e.what()]++;
	}
}

int main(int argc, char **argv)
{
	clock_t end = (argc > 1 ? atol(argv[1]) : 1000) * (CLOCKS_PER_SEC / 1000);
	std::map<std::string, int> seen;
	while (clock() < end)
		for (int i = 0; i < 100; i++)
			round_once(seen);
	return seen.empty();
}
