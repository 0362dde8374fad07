package valuetest

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// A Program is one source file. Run without an argument, it prints "ready" when all of its frames
// are there, and waits for the end of its standard input, as testdata/progs/ready.h has it. Run
// with an argument, it aborts there.
type Program struct {
	Name   string // of the file: c7.c, cxx7.cc
	Source string
	cxx    bool
}

// C returns a program in C (gnu17).
func C(seed uint64) Program {
	g := newGenerator(seed, false)
	return Program{fmt.Sprintf("c%d.c", seed), g.program(), g.cxx}
}

// CXX returns a program in C++ (gnu++20).
func CXX(seed uint64) Program {
	g := newGenerator(seed, true)
	return Program{fmt.Sprintf("cxx%d.cc", seed), g.program(), g.cxx}
}

// A generator writes one program, from the innermost function outward.
type generator struct {
	r       *rand.Rand
	cxx     bool
	names   int
	out     strings.Builder
	bases   []variable // global objects by type, which pointers and arguments are taken from
	classes []class
	plain   bool // there must be no class in the type that is being made
	frames  int  // how many frames of the program there are so far
}

// depth is about how many frames a program has.
const depth = 12

func newGenerator(seed uint64, cxx bool) *generator {
	return &generator{r: rand.New(rand.NewPCG(seed, 21)), cxx: cxx}
}

// prelude is what every program begins with. keep is opaque to the compiler, zero is not known to
// it. The macros hide what some compilers or languages lack.
const prelude = `#include <alloca.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <wchar.h>
#include <uchar.h>
#include <sys/prctl.h>

#define NOINLINE __attribute__((noinline, noclone))
#define ALWAYS static inline __attribute__((always_inline))
#ifdef __clang__
#undef NOINLINE
#define NOINLINE __attribute__((noinline))
#endif
#define USED(x) __asm__ volatile("" : : "m"(x))
#define NUMBER(x) __asm__ volatile("" : : "rm"(x))
#define LOST(x) ((void)(x))
#if defined __cplusplus && defined __ARM_FP16_FORMAT_IEEE
typedef __fp16 half;
#elif defined __FLT16_MAX__ && (!defined __i386__ || defined __SSE2__) // GCC 14 has the type there, and refuses to convert to it
typedef _Float16 half;
#else
typedef float half;
#endif
#define LONG_BITS(n) ((n) > 8 * (int)sizeof(long) ? (n) - 16 : (n))
#if !defined __SIZEOF_INT128__
#define __int128 long long
#endif
#if !defined __SIZEOF_FLOAT128__
#define __float128 long double
#endif
#if defined __DEC64_MAX__ && !defined __cplusplus
typedef _Decimal32 decimal32;
typedef _Decimal64 decimal64;
typedef _Decimal128 decimal128;
#define DECIMAL(x, suffix) x##suffix
#else
typedef float decimal32;
typedef double decimal64;
typedef long double decimal128;
#define DECIMAL(x, suffix) x
#endif
#if defined __cplusplus
#include <utility>
#define THREAD thread_local
#else
#define THREAD _Thread_local
#include <stdbool.h>
typedef unsigned char char8_t;
#endif
typedef int vector4 __attribute__((vector_size(16)));
typedef double vector2 __attribute__((vector_size(16)));

volatile int zero;
volatile long sink;
int crashes;

NOINLINE void keep(const volatile void *p) { __asm__ volatile("" : : "r"(p) : "memory"); }
NOINLINE int plus(int x) { return x + 1; }
NOINLINE long minus(long x, char c) { return x - c; }
NOINLINE void nothing(void) { sink++; }

NOINLINE long stop(int why)
{
	char c;
	if (crashes)
		abort();
	if (write(1, "ready\n", 6) != 6)
		_exit(3);
	while (read(0, &c, 1) > 0)
		sink++;
	_exit(0);
	return why;
}

`

func (g *generator) program() string {
	g.out.WriteString(prelude)
	call := caller(func(number) string { return fmt.Sprintf("stop(%d)", g.r.IntN(100)) })
	for g.frames < depth {
		call = g.function(call)
	}
	argument := g.number("argc")
	fmt.Fprintf(&g.out, `int main(int argc, char **argv)
{
	prctl(0x59616d61, -1L, 0, 0, 0);
	alarm(120);
	crashes = argc > 1;
	sink += %s;
	return (int)sink;
}
`, call(argument))
	return g.out.String()
}

// name returns a name that the program has not yet.
func (g *generator) name(prefix string) string {
	g.names++
	return fmt.Sprintf("%s%d", prefix, g.names)
}

// one returns one of the choices.
func one[T any](g *generator, choices ...T) T { return choices[g.r.IntN(len(choices))] }

// often reports true in n of 100 cases.
func (g *generator) often(n int) bool { return g.r.IntN(100) < n }

// A number gives an integer expression, which the compiler does not know, in the scope of a call.
type number func() string

func (g *generator) number(names ...string) number {
	return func() string {
		if len(names) > 0 && g.often(70) {
			return one(g, names...)
		}
		return fmt.Sprintf("(zero + %d)", g.r.IntN(200)-50)
	}
}

// A caller makes an expression of type long that calls a function.
type caller func(number) string
