// Fibers of boost that switch all the time.
#include <boost/fiber/all.hpp>
#include <vector>

static volatile unsigned sink;

static void work(unsigned n) {
	for (;;) {
		for (unsigned i = 0; i < 1000 * n; i++) sink += i;
		boost::this_fiber::yield();
	}
}

int main() {
	std::vector<boost::fibers::fiber> all;
	for (unsigned n = 1; n < 6; n++) all.emplace_back(work, n);
	for (auto &f : all) f.join();
}
