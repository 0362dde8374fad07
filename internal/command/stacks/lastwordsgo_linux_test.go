package stacks_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/commandtest"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// goWays are the ways in which golastwords dies.
var goWays = []string{"string", "long", "error", "wrapped", "own", "name", "number", "int", "uint8", "bool", "struct", "pointer", "map", "nil", "index",
	"dereference", "another", "again", "second", "deadlock", "unlock", "goroutine"}

// notWords are lines that Go's runtime writes beside its last words.
var notWords = regexp.MustCompile(`(?m)^(\[signal .*|runtime: .*|qemu: .*)\n`)

// goWords holds what the core of a program says against what Go's runtime has written before the
// first empty line.
func goWords(t *testing.T, program []string, way string, args ...string) {
	t.Helper()
	t.Setenv("GOTRACEBACK", "crash")
	t.Setenv("GODEBUG", "asyncpreemptoff=1") // qemu loses signals
	core, said := coreAndWords(t, program[0], append(program[1:], way)...)
	want, _, ok := strings.Cut(notWords.ReplaceAllString(said, ""), "\n\n")
	if !ok || !strings.Contains(want, ": ") {
		t.Fatalf("it has said %q", said)
	}
	got := wordsIn(t, "sfwalk core", append([]string{"core", core}, args...)...)
	if len(got) != 1 || got[0].Text != want || got[0].TID == 0 {
		t.Errorf("%+v, want %q", got, want)
	}
	if got := wordsIn(t, "", append([]string{"core", core, "--goroutines"}, args...)...); len(got) != 1 || got[0].Text != want {
		t.Errorf("--goroutines: %+v, want %q", got, want)
	}
	lines := strings.Split(want, "\n")
	for i := range lines {
		lines[i] = strings.TrimLeft(lines[i], "\t")
	}
	out, _, _ := commandtest.Run(append([]string{"core", core}, args...)...)
	if _, rest, _ := strings.Cut(out, "\n"); !strings.HasPrefix(rest, "last words: "+strings.Join(lines, "\n            ")+"   (from ") {
		t.Errorf("want %q in\n%.300s", lines, out)
	}
}

// TestLastWordsOfGo: the panics and the fatal errors of Go programs are found as the runtime prints
// them, also without symbols and debug information.
func TestLastWordsOfGo(t *testing.T) {
	for _, flags := range [][]string{nil, {"-ldflags=-s -w"}, {"-buildmode=pie", "-ldflags=-s -w"}} {
		program := gdbtest.Build(t, "golastwords", flags...)
		for i, way := range goWays {
			if flags == nil || i%4 == len(flags) {
				t.Run(fmt.Sprint(way, flags), func(t *testing.T) { goWords(t, []string{program}, way) })
			}
		}
	}
}

// TestLastWordsOfOldGo is TestLastWordsOfGo with a release whose structs are others.
func TestLastWordsOfOldGo(t *testing.T) {
	program := oldGo(t, "golastwords")
	for _, way := range []string{"string", "own", "struct", "another", "again", "second", "deadlock"} {
		t.Run(way, func(t *testing.T) { goWords(t, []string{program}, way) })
	}
}

// TestLastWordsOfGoGuests is TestLastWordsOfGo on other processors.
func TestLastWordsOfGoGuests(t *testing.T) {
	for _, goarch := range []string{"arm64", "s390x"} {
		program := gdbtest.Build(t, "golastwords", "GOARCH="+goarch)
		for _, way := range []string{"own", "number", "another", "deadlock", "goroutine"} {
			t.Run(goarch+" "+way, func(t *testing.T) {
				goWords(t, []string{gdbtest.Tool(t, emulators[goarch]), program}, way, "--exe", program)
			})
		}
	}
}

// TestLastWordsOfGoLive: a goroutine that panics, and whose deferred function hangs, has words. One
// that has recovered has none.
func TestLastWordsOfGoLive(t *testing.T) {
	program := gdbtest.Build(t, "golastwords")
	for _, way := range []string{"hang", "recovered"} {
		p := gdbtest.Start(t, program, way)
		got := wordsIn(t, "sfwalk attach", "attach", "--goroutines", fmt.Sprint(p.PID))
		if way == "recovered" && len(got) > 0 || way == "hang" && (len(got) != 1 || got[0].Text != "panic: while it hangs" || got[0].Goroutine != 1) {
			t.Errorf("%s: %+v", way, got)
		}
	}
}
