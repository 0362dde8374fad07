package stacks_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/commandtest"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// assertWords holds the words in a program's core against the first line that the program has
// written.
func assertWords(t *testing.T, program []string, way string, args ...string) (core, said string) {
	t.Helper()
	core, said = coreAndWords(t, program[0], append(program[1:], way)...)
	said, _, _ = strings.Cut(said, "\n")
	hasWords(t, said, "the arguments of __assert_fail", "sfwalk core", append([]string{"core", core}, args...)...)
	return core, said
}

// TestLastWordsOfMusl: musl keeps no message of assert. The code that has called it tells the
// message.
func TestLastWordsOfMusl(t *testing.T) {
	for _, flags := range [][]string{{"-O2"}, {"-O0", "-g"}, {"-O1", "-static"}} {
		program := gdbtest.Compile(t, gdbtest.Testdata(t, "progs", "lastwords.c"), append([]string{gdbtest.Tool(t, "musl-gcc"), "-w"}, flags...)...)
		core, said := assertWords(t, []string{program}, "assert")
		dump := filepath.Join(t.TempDir(), "dump")
		if _, errs, err := commandtest.Run("core", core, "--save", dump, "--format", "minidump"); err != nil {
			t.Fatal(err, errs)
		}
		hasWords(t, said, "the arguments of __assert_fail", "sfwalk minidump", "minidump", dump)
		p := gdbtest.Start(t, program, "assert", "hang")
		hasWords(t, said, "the arguments of __assert_fail", "sfwalk attach", "attach", fmt.Sprint(p.PID))
	}
}

// assertWays are the assertions of lastwordsassert.c.
var assertWays = []string{"first", "second", "third", "main"}

// TestLastWordsOfAssert: the call of one of several assertions is read, at all levels of
// optimization.
func TestLastWordsOfAssert(t *testing.T) {
	for _, level := range []string{"-O0", "-O1", "-O2"} {
		program := gdbtest.Build(t, "lastwordsassert.c", "-w", level)
		for _, way := range assertWays {
			t.Run(level+" "+way, func(t *testing.T) { assertWords(t, []string{program}, way) })
		}
	}
}

// TestLastWordsOfSharedCall: -Os has several assertions share one call. The code does not tell
// which one failed, and nothing is said, but where an assertion is alone.
func TestLastWordsOfSharedCall(t *testing.T) {
	program := gdbtest.Build(t, "lastwordsassert.c", "-w", "-Os")
	found := 0
	for _, way := range assertWays {
		core, said := coreAndWords(t, program, way)
		said, _, _ = strings.Cut(said, "\n")
		switch got := wordsIn(t, "sfwalk core", "core", core); {
		case len(got) == 1 && got[0].Text == said:
			found++
		case len(got) > 0:
			t.Errorf("%s: %+v, want %q or nothing", way, got, said)
		}
	}
	if found == 0 {
		t.Error("no assertion is found")
	}
}

// TestLastWordsOfCxxAssert: libstdc++ keeps no message of its assertions, either.
func TestLastWordsOfCxxAssert(t *testing.T) {
	for _, flags := range [][]string{{"-O0"}, {"-O2"}, {"-O1", "-static"}} {
		program := gdbtest.Build(t, "lastwordsassert.cc", append(flags, "-w", "-std=c++17", "-D_GLIBCXX_ASSERTIONS")...)
		for _, way := range []string{"subscript", "back", "optional", "array"} {
			core, said := coreAndWords(t, program, way)
			hasWords(t, said, "the arguments of std::__glibcxx_assert_fail", "sfwalk core", "core", core)
		}
	}
}

// TestLastWordsOfAssertGuests is TestLastWordsOfAssert on other processors.
func TestLastWordsOfAssertGuests(t *testing.T) {
	for _, tt := range []struct{ qemu, compiler string }{
		{"qemu-aarch64", "aarch64-linux-gnu-gcc"}, {"qemu-s390x", "s390x-linux-gnu-gcc"},
	} {
		for _, level := range []string{"-O0", "-O2"} {
			program := gdbtest.Compile(t, gdbtest.Testdata(t, "progs", "lastwordsassert.c"), gdbtest.Tool(t, tt.compiler), "-w", "-static", "-DGLIBC", level)
			for _, way := range assertWays {
				t.Run(fmt.Sprint(tt.qemu, level, way), func(t *testing.T) {
					assertWords(t, []string{gdbtest.Tool(t, tt.qemu), "-s", "65536", program}, way, "--exe", program)
				})
			}
		}
	}
}
