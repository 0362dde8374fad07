// Fibers of Boost.Fiber that wait in many ways: fibers FILE SCHEDULER THREADS FIBERS. Each notes its
// functions, their lines and what it waits for, in a file that is mapped, before it waits.

#include <algorithm>
#include <atomic>
#include <boost/fiber/all.hpp>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <sys/mman.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace fibers = boost::fibers;
using boost::this_fiber::sleep_for;
using std::chrono::microseconds;

// The notes.

constexpr int most_deep = 24;

struct place {
	char function[28];
	uint32_t line;
};

struct note {
	uint64_t id; // of the fiber; 0 if it has not begun, or its function has returned
	uint32_t depth;
	uint32_t unused;
	char waits[32]; // for what it may wait now
	place at[most_deep];
};

struct table {
	uint64_t size;
	note of[];
};

table *notes;

// in is a function that is called, until it returns.
struct in {
	note &n;
	place &p;
	in(note &n, const char *name) : n(n), p(n.at[n.depth]) {
		strncpy(p.function, name, sizeof p.function - 1);
		n.depth++;
	}
	~in() { n.depth--; }
};

#define IN in here(n, __func__)
#define AT(what) (strncpy(n.waits, what, sizeof n.waits - 1), here.p.line = __LINE__)
#define FUNCTION __attribute__((noinline)) static

// What fibers share.

fibers::mutex mutex;
fibers::timed_mutex timed;
fibers::recursive_mutex recursive;
fibers::mutex of_condition;
fibers::condition_variable condition;
fibers::condition_variable_any any;
fibers::buffered_channel<int> buffered{4};
fibers::unbuffered_channel<int> unbuffered;
fibers::mutex never;
std::atomic<int> busy;

thread_local std::minstd_rand *seeds;

int number(int n) {
	static std::atomic<unsigned> next{1};
	if (!seeds)
		seeds = new std::minstd_rand(next++);
	return (*seeds)() % n;
}

FUNCTION void works(note &n) {
	IN;
	AT("");
	for (int i = number(2000); i > 0; i--)
		busy++;
}

FUNCTION void locks(note &n) {
	IN;
	AT("mutex"), mutex.lock();
	works(n);
	AT(""), boost::this_fiber::yield();
	mutex.unlock();
	if (AT("timed_mutex"), timed.try_lock_for(microseconds(number(3000)))) {
		AT(""), sleep_for(microseconds(200));
		timed.unlock();
	}
	AT("recursive_mutex"), recursive.lock();
	AT(""), boost::this_fiber::yield();
	recursive.unlock();
}

FUNCTION void conditions(note &n) {
	IN;
	std::unique_lock<fibers::mutex> l(of_condition, std::defer_lock);
	AT("mutex"), l.lock();
	AT("condition_variable"), condition.wait_for(l, microseconds(number(5000)));
	AT("condition_variable_any"), any.wait_for(l, microseconds(number(5000)));
	l.unlock();
	condition.notify_one();
	any.notify_all();
}

FUNCTION void sends(note &n) {
	IN;
	AT("buffered_channel"), buffered.push(1);
	AT("unbuffered_channel"), unbuffered.push(2);
}

FUNCTION void receives(note &n) {
	IN;
	int x = 0;
	AT("buffered_channel"), buffered.pop_wait_for(x, microseconds(number(5000)));
	AT("unbuffered_channel"), unbuffered.pop_wait_for(x, microseconds(number(5000)));
	busy += x;
}

FUNCTION int deep(note &n, int left) {
	IN;
	int sum = left;
	if (left == 0) {
		AT(""), sleep_for(microseconds(number(3000)));
	} else if (left % 2) {
		AT(""), sum += deep(n, left - 1);
	} else {
		AT(""), sum -= deep(n, left - 1);
	}
	works(n);
	return sum;
}

struct thrown {};

FUNCTION void throws(note &n) {
	IN;
	works(n);
	AT(""), boost::this_fiber::yield();
	throw thrown();
}

FUNCTION void catches(note &n) {
	IN;
	try {
		AT(""), throws(n);
	} catch (thrown &) {
		AT(""), sleep_for(microseconds(100));
	}
}

FUNCTION void joins(note &n) {
	IN;
	fibers::fiber f(fibers::launch::post, [] { sleep_for(microseconds(500)); });
	AT("join"), f.join();
	fibers::future<int> x = fibers::async([] { sleep_for(microseconds(500)); return 1; });
	AT("future"), busy += x.get();
	auto b = std::make_shared<fibers::barrier>(2);
	fibers::fiber((AT(""), fibers::launch::dispatch), [b] { sleep_for(microseconds(300)), b->wait(); }).detach();
	AT("barrier"), b->wait();
}

template <typename T> struct box {
	T of;
	__attribute__((noinline)) void method(note &n) {
		IN;
		AT(""), boost::this_fiber::yield();
		auto inner = [&] {
			sleep_for(microseconds(400));
			busy++;
		};
		AT(""), inner();
	}
};

FUNCTION void sorts(note &n) {
	IN;
	std::vector<int> list{3, 1, 2};
	AT(""), std::sort(list.begin(), list.end(), [&](int a, int b) { busy++; return a < b; });
}

FUNCTION void waits_forever(note &n) {
	IN;
	AT("mutex"), never.lock();
	never.unlock();
}

uint64_t id() {
	uint64_t n = 0;
	auto id = boost::this_fiber::get_id();
	memcpy(&n, &id, sizeof n);
	return n;
}

FUNCTION void lives(note &n, int kind) {
	n.depth = 0;
	IN;
	AT("");
	std::atomic_thread_fence(std::memory_order_seq_cst);
	n.id = id();
	std::atomic_thread_fence(std::memory_order_seq_cst);
	box<std::string> b{"of"};
	for (int turn = 0; turn < 20; turn++) {
		switch (kind % 9) {
		case 0: AT(""), locks(n); break;
		case 1: AT(""), conditions(n); break;
		case 2: AT(""), sends(n); break;
		case 3: AT(""), receives(n); break;
		case 4: AT(""), deep(n, kind / 9 % 12); break;
		case 5: AT(""), catches(n); break;
		case 6: AT(""), joins(n); break;
		case 7: AT(""), b.method(n); break;
		case 8:
			if (kind % 27 == 8)
				AT(""), waits_forever(n);
			AT(""), sorts(n);
		}
		AT(""), boost::this_fiber::yield();
	}
	std::atomic_thread_fence(std::memory_order_seq_cst);
	n.id = 0;
	std::atomic_thread_fence(std::memory_order_seq_cst);
}

// Starts a fiber again whenever it has come to its end.
FUNCTION void keeps(note &n, int kind) {
	n.depth = 0;
	IN;
	AT("");
	std::atomic_thread_fence(std::memory_order_seq_cst);
	n.id = id();
	std::atomic_thread_fence(std::memory_order_seq_cst);
	for (;;) {
		auto launch = kind % 2 ? fibers::launch::post : fibers::launch::dispatch;
		fibers::fiber f((AT(""), launch), [&n, kind] { lives(*(&n + 1), kind); });
		AT("join"), f.join();
	}
}

void schedules(const std::string &name, int threads) {
	if (name == "shared")
		fibers::use_scheduling_algorithm<fibers::algo::shared_work>(true);
	else if (name == "stealing")
		fibers::use_scheduling_algorithm<fibers::algo::work_stealing>(threads, true);
}

// The place for the notes of the main fibers, of which each waits for its thread's fibers.
FUNCTION void runs(int first, int end, note &n) {
	IN;
	std::vector<fibers::fiber> list;
	for (int i = first; i < end; i++)
		list.emplace_back([i] { keeps(notes->of[2 * i], i); });
	n.id = id();
	for (auto &f : list)
		AT("join"), f.join();
}

int main(int argc, char **argv) {
	std::string scheduler = argv[2];
	int threads = atoi(argv[3]), count = atoi(argv[4]);
	int fd = open(argv[1], O_RDWR | O_CREAT, 0600);
	size_t size = sizeof(table) + (2 * count + threads) * sizeof(note);
	if (fd < 0 || ftruncate(fd, size))
		return 1;
	notes = static_cast<table *>(mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0));
	notes->size = 2 * count + threads;
	std::thread([threads, count, scheduler] {
		for (int i = 1; i < threads; i++)
			std::thread([=] {
				schedules(scheduler, threads);
				runs(count * i / threads, count * (i + 1) / threads, notes->of[2 * count + i]);
			}).detach();
		schedules(scheduler, threads);
		never.lock();
		runs(0, count / threads, notes->of[2 * count]);
	}).detach();
	puts("ready");
	fflush(stdout);
	while (getchar() >= 0)
		;
	_exit(0);
}
