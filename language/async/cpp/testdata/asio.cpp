// Coroutines of asio's: they wait for a socket, a listener and a timer. A comment at the end of a line
// says who waits there.

#include <asio.hpp>
#include <chrono>
#include <cstdio>
#include <utility>
#include <vector>

using asio::awaitable, asio::use_awaitable, asio::ip::tcp;

awaitable<int> reads(tcp::socket &s) {
	char b[16];
	co_return int(co_await s.async_read_some(asio::buffer(b), use_awaitable)); // reads
}

awaitable<void> serves(tcp::socket s) {
	int n = 0;
	for (;;)
		n += co_await reads(s); // serves
}

awaitable<void> accepts(tcp::acceptor &a) {
	for (;;) {
		auto s = co_await a.async_accept(use_awaitable); // accepts
		co_spawn(a.get_executor(), serves(std::move(s)), asio::detached);
	}
}

awaitable<void> sleeps(int n) {
	asio::steady_timer t(co_await asio::this_coro::executor, std::chrono::hours(n));
	co_await t.async_wait(use_awaitable); // sleeps
}

awaitable<void> between(int n) {
	co_await sleeps(n); // between
}

int main() {
	asio::io_context c;
	tcp::acceptor a(c, {asio::ip::address_v4::loopback(), 0});
	co_spawn(c, accepts(a), asio::detached);
	for (int i = 1; i < 4; i++)
		co_spawn(c, between(i), asio::detached);
	std::vector<tcp::socket> clients;
	for (int i = 0; i < 3; i++) {
		clients.emplace_back(c);
		clients.back().connect(a.local_endpoint());
	}
	puts("ready");
	fflush(stdout);
	c.run();
}
