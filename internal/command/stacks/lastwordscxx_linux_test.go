package stacks_test

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/commandtest"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// cxxWays are the ways in which lastwords.cc dies whose words are all known, and what is known
// beside what the program writes.
var cxxWays = map[string]string{
	"runtime": "", "own": "", "multi": "", "virt": "", "plain": "", "hidden": "", "bad_alloc": "", "system": "", "fs": "", "ios": "", "future": "",
	"at": "", "optional": "", "variant": "", "any": "", "function": "", "exception": "", "rethrown": "", "nested": "", "withnested": "", "pointer": "",
	"noexcept": "", "thread": "", "stale": "",
	"over": "", "constant": "", "pointing": "", "array": "", "delegating": "", "inner": "", "aside": "",
	"int": "42", "chars": `"some chars"`, "short": `"short"`, "string": `"a string that is long enough to be on the heap"`,
}

// ownWhats are the ways whose what() is the program's own.
var ownWhats = []string{"over", "constant", "pointing", "array", "delegating", "inner", "aside"}

// cxxWords holds the words in a core against what the program has written.
func cxxWords(t *testing.T, way string, program []string, args ...string) {
	t.Helper()
	core, said := coreAndWords(t, program[0], append(program[1:], way)...)
	want, _, _ := strings.Cut(said, "qemu: ")
	want = strings.TrimRight(want, "\n")
	if value := cxxWays[way]; value != "" {
		want += "\n  value:  " + value
	}
	got := wordsIn(t, "sfwalk core", append([]string{"core", core}, args...)...)
	if len(got) != 1 || got[0].Text != want || got[0].From != "the exception of libstdc++" {
		t.Errorf("%+v, want %q", got, want)
	}
}

// TestLastWordsOfCxx: the type and the message of an exception that nobody has caught are the ones
// that libstdc++ writes.
func TestLastWordsOfCxx(t *testing.T) {
	program := gdbtest.Build(t, "lastwords.cc", "-O1", "-w")
	for way := range cxxWays {
		t.Run(way, func(t *testing.T) { cxxWords(t, way, []string{program}) })
	}
	plain := gdbtest.Build(t, "lastwords.cc", "-O0", "-w")
	for _, way := range ownWhats {
		t.Run("plain "+way, func(t *testing.T) { cxxWords(t, way, []string{plain}) })
	}
	static := gdbtest.Build(t, "lastwords.cc", "-O2", "-w", "-static")
	for _, way := range append([]string{"runtime", "virt", "fs", "chars", "noexcept"}, ownWhats...) {
		t.Run("static "+way, func(t *testing.T) { cxxWords(t, way, []string{static}) })
	}
}

// TestLastWordsOfCxxInPart: where not all is certain, a part of what libstdc++ writes is there.
func TestLastWordsOfCxxInPart(t *testing.T) {
	program := gdbtest.Build(t, "lastwords.cc", "-O1", "-w")
	for way, want := range map[string]string{
		"choosing": "terminate called after throwing an instance of 'Choosing'", "counting": "terminate called after throwing an instance of 'Counting'",
		"lazy": "terminate called after throwing an instance of 'Lazy'",
		"pure": "pure virtual method called", "deleted": "deleted virtual method called",
	} {
		core, said := coreAndWords(t, program, way)
		got := wordsIn(t, "sfwalk core", "core", core)
		if len(got) != 1 || got[0].Text != want || !strings.HasPrefix(said, want) {
			t.Errorf("%s: %+v, want %q of %q", way, got, want, said)
		}
	}
}

// TestLastWordsOfTerminate: on amd64, a call of std::terminate without an exception is known. What
// the handler of std::terminate dies of is not mistaken for it.
func TestLastWordsOfTerminate(t *testing.T) {
	for _, options := range [][]string{{"-O1"}, {"-O2", "-static"}} {
		program := gdbtest.Build(t, "lastwords.cc", append(options, "-w", "-pthread")...)
		for _, way := range []string{"joinable", "terminate", "terminatein", "terminateafter", "rethrow", "unwinding"} {
			t.Run(fmt.Sprint(options, way), func(t *testing.T) {
				core, said := coreAndWords(t, program, way)
				got := wordsIn(t, "sfwalk core", "core", core)
				if len(got) == 0 && runtime.GOARCH != "amd64" {
					return
				}
				if len(got) != 1 || got[0].Text != strings.TrimSuffix(said, "\n") {
					t.Errorf("%+v, want %q", got, said)
				}
			})
		}
		core, said := coreAndWords(t, program, "terminate", "assert")
		if got := wordsIn(t, "sfwalk core", "core", core); len(got) != 1 || got[0].Text != strings.TrimSuffix(said, "\n") {
			t.Errorf("%+v, want %q", got, said)
		}
	}
}

// TestLastWordsOfCxxLive: a process that hangs in its terminate handler has not written anything.
func TestLastWordsOfCxxLive(t *testing.T) {
	program := gdbtest.Build(t, "lastwords.cc", "-O1", "-w")
	_, said := coreAndWords(t, program, "own")
	p := gdbtest.Start(t, program, "own", "hang")
	hasWords(t, said, "the exception of libstdc++", "sfwalk attach", "attach", fmt.Sprint(p.PID))
	if runtime.GOARCH == "amd64" { // nothing has asked for the list of exceptions yet
		_, said := coreAndWords(t, program, "terminate")
		p := gdbtest.Start(t, program, "terminate", "hang")
		hasWords(t, said, "the list of libstdc++'s __cxa_get_globals", "sfwalk attach", "attach", fmt.Sprint(p.PID))
	}
	saved := t.TempDir() + "/saved"
	if _, errs, err := commandtest.Run("attach", fmt.Sprint(p.PID), "--save", saved); err != nil {
		t.Fatal(err, errs)
	}
	hasWords(t, said, "the exception of libstdc++", "sfwalk open", "open", saved)
}

// TestLastWordsOfCxxGuests: exceptions in the cores of other processors.
func TestLastWordsOfCxxGuests(t *testing.T) {
	for _, tt := range []struct{ qemu, compiler string }{
		{"qemu-aarch64", "aarch64-linux-gnu-g++"}, {"qemu-s390x", "s390x-linux-gnu-g++"}, {"qemu-i386", "i686-linux-gnu-g++"},
	} {
		program := gdbtest.Compile(t, gdbtest.Testdata(t, "progs", "lastwords.cc"), gdbtest.Tool(t, tt.compiler), "-std=c++17", "-O1", "-w", "-static", "-pthread")
		for _, way := range append([]string{"runtime", "multi", "virt", "int", "nested"}, ownWhats...) {
			if slices.Contains(ownWhats, way) && strings.HasSuffix(tt.qemu, "i386") {
				continue // arguments are on the stack
			}
			t.Run(tt.qemu+" "+way, func(t *testing.T) {
				cxxWords(t, way, []string{gdbtest.Tool(t, tt.qemu), "-s", "65536", program}, "--exe", program)
			})
		}
	}
}

// TestLastWordsOfLibcxx: libc++abi writes the same with words that differ from release to release.
func TestLastWordsOfLibcxx(t *testing.T) {
	gdbtest.File(t, "/usr/include/c++/v1")
	program := gdbtest.Compile(t, gdbtest.Testdata(t, "progs", "lastwords.cc"), gdbtest.Tool(t, "clang++"), "-stdlib=libc++", "-std=c++17", "-O1", "-w", "-pthread")
	for _, way := range []string{"runtime", "own", "multi", "virt", "bad_alloc", "plain", "nested", "noexcept", "stale"} {
		core, said := coreAndWords(t, program, way)
		got := wordsIn(t, "sfwalk core", "core", core)
		if len(got) != 1 || got[0].From != "the exception of libc++abi" || !strings.HasSuffix(said, got[0].Text+"\n") {
			t.Errorf("%s: %+v of %q", way, got, said)
		}
	}
	core, said := coreAndWords(t, program, "terminate")
	if got := wordsIn(t, "sfwalk core", "core", core); len(got) > 0 {
		t.Errorf("%+v of %q", got, said)
	}
}
