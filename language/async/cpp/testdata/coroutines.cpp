// Coroutines that wait in many ways. Each notes its name and its line before it waits, in a file
// that is mapped: coroutines FILE WORKERS WAYS. Workers resume coroutines again and again.

#include <atomic>
#include <coroutine>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <exception>
#include <fcntl.h>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <sys/mman.h>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

// The notes.

constexpr int most_deep = 24, most_workers = 8;

struct note {
	char name[28];
	uint32_t line;
};

struct noted {
	uint32_t depth; // how many notes it has
	note notes[most_deep];
};

struct table {
	uint32_t workers, ways;
	std::atomic<uint32_t> current[most_workers]; // the way that a worker runs, from 1 on; 0 for none
	noted of[];
};

table *notes;
thread_local int worker;

void noted_at(int way, int depth, const char *name, int line) {
	noted &w = notes->of[way];
	strncpy(w.notes[depth].name, name, sizeof w.notes[depth].name - 1);
	w.notes[depth].line = line;
	w.depth = depth + 1;
}

#define AT(name) noted_at(way, depth, name, __LINE__)

// The scheduler.

struct ready {
	std::coroutine_handle<> of;
	int way;
};

std::mutex lock;
std::deque<ready> queue;
std::vector<std::coroutine_handle<>> forever;

void later(std::coroutine_handle<> h, int way) {
	std::lock_guard g(lock);
	queue.push_back({h, way});
}

// Once round all workers.
struct turn {
	int way;
	bool await_ready() noexcept { return false; }
	void await_suspend(std::coroutine_handle<> h) { later(h, way); }
	void await_resume() noexcept {}
};

// Until a worker looks into this list. Nothing else has the coroutines' handles.
struct parked {
	static parked *first;
	int way;
	parked *next = nullptr;
	std::coroutine_handle<> of;
	bool await_ready() noexcept { return false; }
	void await_suspend(std::coroutine_handle<> h) {
		std::lock_guard g(lock);
		of = h;
		next = std::exchange(first, this);
	}
	void await_resume() noexcept {}
};

parked *parked::first;

// Never comes.
struct never {
	bool await_ready() noexcept { return false; }
	bool await_suspend(std::coroutine_handle<> h) {
		std::lock_guard g(lock);
		forever.push_back(h);
		return true;
	}
	int await_resume() noexcept { return 0; }
};

// What needs no wait.
struct at_once {
	int n;
	bool await_ready() noexcept { return true; }
	void await_suspend(std::coroutine_handle<>) {}
	int await_resume() noexcept { return n; }
};

// Tasks: lazy, with symmetric transfer.

template <class P> struct final_awaiter {
	bool await_ready() noexcept { return false; }
	std::coroutine_handle<> await_suspend(std::coroutine_handle<P> h) noexcept {
		auto next = h.promise().next;
		return next ? next : std::noop_coroutine();
	}
	void await_resume() noexcept {}
};

template <class T> struct [[nodiscard]] task {
	struct promise_type {
		std::coroutine_handle<> next;
		std::exception_ptr failed;
		T value{};
		task get_return_object() { return task(std::coroutine_handle<promise_type>::from_promise(*this)); }
		std::suspend_always initial_suspend() noexcept { return {}; }
		final_awaiter<promise_type> final_suspend() noexcept { return {}; }
		void return_value(T v) { value = std::move(v); }
		void unhandled_exception() { failed = std::current_exception(); }
	};
	using handle = std::coroutine_handle<promise_type>;
	handle h;
	explicit task(handle h) : h(h) {}
	task(task &&o) noexcept : h(std::exchange(o.h, nullptr)) {}
	~task() {
		if (h)
			h.destroy();
	}
	struct awaiter {
		handle h;
		bool await_ready() noexcept { return false; }
		handle await_suspend(std::coroutine_handle<> by) noexcept {
			h.promise().next = by;
			return h;
		}
		T await_resume() {
			if (h.promise().failed)
				std::rethrow_exception(h.promise().failed);
			return std::move(h.promise().value);
		}
	};
	awaiter operator co_await() noexcept { return {h}; }
};

// Eager tasks run until they wait the first time.
struct eager {
	struct promise_type {
		std::coroutine_handle<> waiter = nullptr;
		int value = 0;
		bool done = false;
		eager get_return_object() { return eager{std::coroutine_handle<promise_type>::from_promise(*this)}; }
		std::suspend_never initial_suspend() noexcept { return {}; }
		final_awaiter<promise_type> final_suspend() noexcept {
			next = waiter;
			done = true;
			return {};
		}
		std::coroutine_handle<> next;
		void return_value(int v) { value = v; }
		void unhandled_exception() { std::terminate(); }
	};
	std::coroutine_handle<promise_type> h;
	explicit eager(std::coroutine_handle<promise_type> h) : h(h) {}
	eager(eager &&o) noexcept : h(std::exchange(o.h, nullptr)) {}
	~eager() {
		if (h)
			h.destroy();
	}
	bool await_ready() noexcept { return h.promise().done; }
	void await_suspend(std::coroutine_handle<> by) noexcept { h.promise().waiter = by; }
	int await_resume() { return h.promise().value; }
};

// What main starts, and nobody waits for.
struct detached {
	struct promise_type {
		detached get_return_object() { return {}; }
		std::suspend_never initial_suspend() noexcept { return {}; }
		std::suspend_never final_suspend() noexcept { return {}; }
		void return_void() {}
		void unhandled_exception() { std::terminate(); }
	};
};

// Generators.
template <class T> struct generator {
	struct promise_type {
		T value{};
		generator get_return_object() { return generator{std::coroutine_handle<promise_type>::from_promise(*this)}; }
		std::suspend_always initial_suspend() noexcept { return {}; }
		std::suspend_always final_suspend() noexcept { return {}; }
		std::suspend_always yield_value(T v) {
			value = std::move(v);
			return {};
		}
		void return_void() {}
		void unhandled_exception() { std::terminate(); }
	};
	std::coroutine_handle<promise_type> h;
	explicit generator(std::coroutine_handle<promise_type> h) : h(h) {}
	generator(generator &&o) noexcept : h(std::exchange(o.h, nullptr)) {}
	~generator() {
		if (h)
			h.destroy();
	}
	bool next() {
		h.resume();
		return !h.done();
	}
};

// Waits for several tasks: what counts them has the handle of who waits.
struct counter {
	int left;
	std::coroutine_handle<> waiter;
};

struct counted {
	struct promise_type {
		counter *of = nullptr;
		counted get_return_object() { return counted{std::coroutine_handle<promise_type>::from_promise(*this)}; }
		std::suspend_always initial_suspend() noexcept { return {}; }
		struct last {
			bool await_ready() noexcept { return false; }
			std::coroutine_handle<> await_suspend(std::coroutine_handle<promise_type> h) noexcept {
				counter *c = h.promise().of;
				return --c->left == 0 ? c->waiter : std::noop_coroutine();
			}
			void await_resume() noexcept {}
		};
		last final_suspend() noexcept { return {}; }
		void return_void() {}
		void unhandled_exception() { std::terminate(); }
	};
	std::coroutine_handle<promise_type> h;
	explicit counted(std::coroutine_handle<promise_type> h) : h(h) {}
	counted(counted &&o) noexcept : h(std::exchange(o.h, nullptr)) {}
	~counted() {
		if (h)
			h.destroy();
	}
};

struct all {
	counter c{};
	std::vector<counted> of;
	bool await_ready() noexcept { return false; }
	void await_suspend(std::coroutine_handle<> by) {
		c = {int(of.size()), by};
		for (auto &x : of) {
			x.h.promise().of = &c;
			x.h.resume();
		}
	}
	void await_resume() noexcept {}
};

// A mutex whose waiters are in a list.
struct mutex {
	bool held = true;
	std::deque<std::coroutine_handle<>> waiters;
	struct awaiter {
		mutex &m;
		bool await_ready() noexcept { return !m.held; }
		bool await_suspend(std::coroutine_handle<> h) {
			std::lock_guard g(lock);
			m.waiters.push_back(h);
			return true;
		}
		void await_resume() noexcept {}
	};
	awaiter operator co_await() noexcept { return {*this}; }
};

mutex held;

// The coroutines.

namespace ways {

task<int> parks(int way, int depth, int n) {
	for (int i = 0; i != n; i++) {
		AT("parks"); co_await parked{way};
		if (i % 2) {
			AT("parks"); co_await parked{way};
		}
	}
	co_return n;
}

task<int> waits(int way, int depth) {
	AT("waits"); co_return co_await never{};
}

task<int> turns(int way, int depth, int n) {
	for (int i = 0; i != n; i++) {
		AT("turns"); co_await turn{way};
		if (i % 2) {
			AT("turns"); co_await turn{way};
		}
	}
	co_return n;
}

task<int> between(int way, int depth, std::string text) {
	std::string kept = text + "!";
	AT("between"); int n = co_await waits(way, depth + 1);
	co_return n + int(kept.size() + text.size());
}

task<int> worked(int way, int depth) {
	int sum = 0;
	for (;;) {
		AT("worked"); int n = co_await turns(way, depth + 1, 3);
		sum += n;
		AT("worked"); co_await turn{way};
	}
	co_return sum;
}

task<int> deep(int way, int depth, int n) {
	if (n == 0) {
		AT("deep"); co_return co_await waits(way, depth + 1);
	}
	auto kept = std::make_unique<int>(n);
	AT("deep"); int m = co_await deep(way, depth + 1, n - 1);
	co_return m + *kept;
}

task<int> second(int way, int depth) {
	int n = co_await at_once{1};
	AT("second"); co_await turn{way};
	n += co_await at_once{2};
	AT("second"); n += co_await turns(way, depth + 1, 2);
	AT("second"); n += co_await between(way, depth + 1, std::to_string(n));
	co_return n;
}

task<int> locks(int way, int depth) {
	AT("locks"); co_await held;
	co_return 1;
}

task<std::string> throws(int way, int depth, int n) {
	AT("throws"); co_await turn{way};
	if (n % 2)
		throw n;
	co_return "none";
}

task<int> catches(int way, int depth) {
	int n = 0;
	try {
		AT("catches"); auto text = co_await throws(way, depth + 1, 2);
		n += int(text.size());
		AT("catches"); text = co_await throws(way, depth + 1, 3);
	} catch (int m) {
		n += m;
	}
	AT("catches"); n += co_await waits(way, depth + 1);
	co_return n;
}

template <class T> task<T> generic(int way, int depth, T of) {
	T copy = of;
	AT("generic"); co_await between(way, depth + 1, "generic");
	co_return copy;
}

template <class T> struct box {
	T of;
	task<int> method(int way, int depth, const T &more) {
		AT("method"); int n = co_await generic(way, depth + 1, way);
		co_return n + (of == more);
	}
	static task<int> shared(int way, int depth) {
		AT("shared"); co_return co_await waits(way, depth + 1);
	}
};

task<int> lambdas(int way, int depth) {
	auto of = [n = 7](int way, int depth) -> task<int> {
		int m = n;
		AT("operator()"); int x = co_await between(way, depth + 1, "lambda");
		co_return m + x;
	};
	AT("lambdas"); int n = co_await of(way, depth + 1);
	co_return n;
}

eager begins(int way, int depth) {
	AT("begins"); co_await turn{way};
	AT("begins"); co_return co_await waits(way, depth + 1);
}

task<int> begun(int way, int depth) {
	AT("begun"); auto of = begins(way, depth + 1); int n = co_await of;
	co_return n;
}

generator<int> numbers(int n) {
	for (int i = 0; i < n; i++)
		co_yield i;
}

task<int> consumes(int way, int depth) {
	int sum = 0;
	auto of = numbers(1 << 30);
	while (of.next()) {
		sum += of.h.promise().value;
		AT("consumes"); co_await turn{way};
	}
	co_return sum;
}

task<int> chooses(int way, int depth, int n) {
	switch (n % 3) {
	case 0:
		AT("chooses"); n += co_await waits(way, depth + 1);
		break;
	case 1: {
		std::vector<std::string> list(3, "x");
		for (auto &x : list) {
			AT("chooses"); n += co_await between(way, depth + 1, x);
		}
		break;
	}
	default:
		AT("chooses"); n = n > 2 ? co_await waits(way, depth + 1) : co_await between(way, depth + 1, "y");
	}
	co_return n;
}

counted part(int way, int depth) {
	AT("part"); co_await between(way, depth + 1, "part");
}

task<int> several(int way, int depth, std::vector<int> more) {
	all x;
	for (int w : more)
		x.of.push_back(part(w, 0));
	AT("several"); co_await x;
	co_return 1;
}

detached root(int way, task<int> of) {
	int depth = 0;
	AT("root"); co_await of;
}

} // namespace ways

void works(int n) {
	worker = n;
	for (unsigned looks = 0;;) {
		ready next;
		{
			std::lock_guard g(lock);
			parked *&first = parked::first;
			if (first && ++looks % 16 == 0) {
				next = {first->of, first->way};
				notes->current[worker] = next.way + 1;
				first = first->next;
			} else if (!queue.empty()) {
				next = queue.front();
				notes->current[worker] = next.way + 1;
				queue.pop_front();
			} else {
				continue;
			}
		}
		next.of.resume();
		notes->current[worker] = 0;
	}
}

int main(int argc, char **argv) {
	using namespace ways;
	int workers = atoi(argv[2]), n = atoi(argv[3]);
	int fd = open(argv[1], O_RDWR | O_CREAT, 0600);
	size_t size = sizeof(table) + (n + 100) * sizeof(noted);
	if (fd < 0 || ftruncate(fd, size))
		return 1;
	notes = static_cast<table *>(mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0));
	notes->workers = workers;
	box<std::string> b{"of"};
	static std::string more = "more";
	for (int w = 0; w < n;) {
		int way = w++;
		notes->current[0] = way + 1;
		switch (way % 17) {
		case 0: root(way, waits(way, 1)); break;
		case 1: root(way, between(way, 1, "text")); break;
		case 2: root(way, worked(way, 1)); break;
		case 3: root(way, deep(way, 1, way / 17 % 9)); break;
		case 4: root(way, second(way, 1)); break;
		case 5: root(way, locks(way, 1)); break;
		case 6: root(way, catches(way, 1)); break;
		case 7: root(way, generic(way, 1, 3)); break;
		case 8: root(way, b.method(way, 1, more)); break;
		case 9: root(way, box<int>::shared(way, 1)); break;
		case 10: root(way, lambdas(way, 1)); break;
		case 11: root(way, begun(way, 1)); break;
		case 12: root(way, consumes(way, 1)); break;
		case 13: root(way, chooses(way, 1, way / 17)); break;
		case 14: root(way, turns(way, 1, 1 << 30)); break;
		case 15: root(way, parks(way, 1, 1 << 30)); break;
		case 16: {
			std::vector<int> parts;
			for (int i = 0; i < 3; i++)
				parts.push_back(w++);
			root(way, several(way, 1, parts));
		}
		}
		notes->ways = w;
	}
	notes->current[0] = 0;
	for (int i = 0; i < workers; i++)
		std::thread(works, i + 1).detach();
	puts("ready");
	fflush(stdout);
	while (getchar() >= 0)
		;
	_exit(0);
}
