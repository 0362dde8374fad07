/* anyknots: objects of any type that contain objects of any type, and some that lead back to themselves.
 *
 * Proves: each is written as libstdc++'s printers for gdb write it, and the writing ends.
 *
 *   anyknots       waits in hold
 *
 * Build: g++ -std=c++17 -g anyknots.cc
 */
#include <any>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>
#include "ready.h"
struct Knot { int n = 1; std::any self; };
struct Loop { int n = 2; std::any self; };
/* An object that contains itself: only a broken one does. */
NOINLINE static int broken(int (*next)(int), int n)
{
	std::any self(std::in_place_type<std::any>, 7);
	void **pointer = (void **)&self + 1, *inner = *pointer;
	*pointer = &self;
	__asm__ volatile("" : : "m"(self) : "memory");
	n = next(n);
	*pointer = inner;
	return n;
}

NOINLINE static int hold(int n)
{
	Knot knot;
	knot.self = std::ref(knot);
	auto loop = std::make_shared<Loop>();
	loop->self = loop;
	std::any any_any(std::in_place_type<std::any>, 7);
	std::any any_opt = std::optional<std::variant<int, std::string>>("text");
	std::optional<std::any> opt_any = std::any(std::vector<std::any>{1, std::string("two"), std::any()});
	std::variant<std::monostate, std::any, std::optional<std::any>> var = std::optional<std::any>(std::map<int, std::any>{{1, 2.5}, {2, std::any()}});
	std::any pointer = &any_any;
	__asm__ volatile("" : : "m"(knot), "m"(loop), "m"(any_any), "m"(any_opt), "m"(opt_any), "m"(var), "m"(pointer) : "memory");
	ready();
	block();
	loop->self.reset();
	return n + knot.n;
}
int main() { arm(); return broken(hold, 1); }
